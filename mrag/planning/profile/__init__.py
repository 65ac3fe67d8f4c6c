"""What the schema of a graph is read from, and where it is kept."""
