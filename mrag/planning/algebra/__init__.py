"""What the modules of plans share: names and blocks, values in SPARQL, and values in Python."""
