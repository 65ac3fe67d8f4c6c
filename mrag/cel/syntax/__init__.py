"""Class expressions as values, and their notations."""
