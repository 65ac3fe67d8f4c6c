"""Triple stores behind one protocol."""
