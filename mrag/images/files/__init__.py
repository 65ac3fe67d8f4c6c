"""Picture files: found, checked and decoded within limits."""
