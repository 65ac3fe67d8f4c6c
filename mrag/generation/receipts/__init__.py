"""Receipts of answers: canonical JSON with a hash over all of it, which may be signed."""
