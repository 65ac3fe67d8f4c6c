"""Analysis of text, shared by ranking, matching and answers."""
