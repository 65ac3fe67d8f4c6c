"""Images: the graph's pictures to look through, to search, and to filter by what is annotated in them."""
