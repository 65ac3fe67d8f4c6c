"""Learners of class expressions."""
