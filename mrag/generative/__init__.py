"""Generative retrieval: a language model writes clues that occur in exactly one document."""
