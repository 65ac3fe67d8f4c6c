"""What a question asks for beside what its nouns say: people, extremes, times, conditions, and denials."""
