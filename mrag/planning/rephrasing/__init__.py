"""A question in other words, before it is read."""
