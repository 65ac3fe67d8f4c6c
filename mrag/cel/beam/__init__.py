"""Combinations of conditions by beam and by branch and bound, and which of them hold for other examples."""
