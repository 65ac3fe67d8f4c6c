"""Tables to RDF: files and databases as rows, mappings and sketches of them, CSV on the Web."""
