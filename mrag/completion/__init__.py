"""Completion of a knowledge graph while a question is answered."""
