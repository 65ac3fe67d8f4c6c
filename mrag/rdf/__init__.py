"""RDF and SPARQL: reading what people and models write."""
