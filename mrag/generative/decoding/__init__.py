"""Constrained decoding: clues are generated, and documents scored by them."""
