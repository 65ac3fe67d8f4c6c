"""What keeps a graph and its inferences in step: deletions followed, contradictions kept apart, repairs."""
