"""Names and other words for what is in a graph, and how they are found in questions."""
