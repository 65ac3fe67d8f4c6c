"""What a question asks for beside what its nouns say: people, extremes, frequency, and what is denied."""
