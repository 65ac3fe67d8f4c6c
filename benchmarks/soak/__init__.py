"""A server under load and misuse for a while, every answer held against what it must be.

`python -m benchmarks.serving --soak` runs it; `tests/server/test_load.py` runs a small one.
"""
