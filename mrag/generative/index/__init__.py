"""The clue index: a suffix array with the operations of an FM-index."""
