"""Learned hypotheses kept in the graph as named classes."""
