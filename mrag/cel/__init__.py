"""Class expression learning: the concept that examples share, learnt, checked in the store and told."""
