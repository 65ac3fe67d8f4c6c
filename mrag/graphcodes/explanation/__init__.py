"""Graph code matches explained: in words and as a drawn matrix."""
