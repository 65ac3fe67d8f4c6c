"""Writing completed triples back: checked, reviewed, accepted or rolled back."""
