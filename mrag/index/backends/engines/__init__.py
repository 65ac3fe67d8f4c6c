"""Engines that keep similarity indexes, and what is the same for all of them."""
