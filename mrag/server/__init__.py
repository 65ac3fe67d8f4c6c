"""`mrag serve`: the embedded store over HTTP, as SPARQL 1.1 and RDF4J clients expect it."""
