"""What takes most of the time of a search in a large index, compiled where numba is installed."""
