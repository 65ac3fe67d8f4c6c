"""The page of `mrag serve` and its JSON API."""
