"""`python -m mrag` is the command `mrag`."""

from mrag.cli import main

if __name__ == "__main__":
    main()
