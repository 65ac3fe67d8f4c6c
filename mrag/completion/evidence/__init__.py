"""Evidence for incomplete triples in texts and images."""
