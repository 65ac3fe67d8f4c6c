"""Numbers that two properties tell together."""
