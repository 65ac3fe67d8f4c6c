"""Enrichment: images described by a multimodal model, and the descriptions written to the graph."""
