"""Serving a knowledge graph whose store is a server itself: GraphDB, Fuseki, Virtuoso or any other."""
