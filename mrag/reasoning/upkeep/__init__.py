"""What keeps a graph and its inferences in step: deletions, contradictions, repairs, and what is the same."""
