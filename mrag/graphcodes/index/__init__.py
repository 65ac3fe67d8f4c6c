"""The index of graph codes: exact top k over segments."""
