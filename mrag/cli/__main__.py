"""Run as `python -m mrag.cli`."""

from mrag.cli import main

main()
