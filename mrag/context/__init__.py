"""The bounded neighbourhood of hits, and its rendering for a prompt."""
