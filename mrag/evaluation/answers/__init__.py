"""Answers held against gold ones: tables of values, compared as sets of rows."""
