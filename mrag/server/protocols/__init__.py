"""The protocols of `mrag serve`: SPARQL 1.1, Graph Store, RDF4J, and part of GraphDB's REST API."""
