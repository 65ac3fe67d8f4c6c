"""Source formats to triples, one module each."""
