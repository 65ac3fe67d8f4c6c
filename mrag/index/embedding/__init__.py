"""Models that turn texts into vectors: in this process, on a server, and shared among processes."""
