"""From a question to incomplete triples over a graph."""
