"""Files that tell when they are damaged."""
