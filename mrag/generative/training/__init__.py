"""Teaches a language model to write clues: what to learn from, how, and what comes out of it."""
