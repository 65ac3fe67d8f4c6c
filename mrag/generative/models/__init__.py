"""Models that generate clues, and their tokenisers."""
