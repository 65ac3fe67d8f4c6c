"""`mrag eval` and `mrag benchmark`: rankings, and answers to questions."""
