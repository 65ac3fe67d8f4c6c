"""Similarity indexes beside the store: BM25, dense vectors and their fusion."""
