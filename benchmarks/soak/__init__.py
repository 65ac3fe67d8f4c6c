"""A server under load and misuse, every answer held against what it must be: `benchmarks.serving --soak`."""
