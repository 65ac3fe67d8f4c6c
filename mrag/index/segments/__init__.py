"""Segments of a similarity index: their rows, postings and vectors, and how commits are made of them."""
