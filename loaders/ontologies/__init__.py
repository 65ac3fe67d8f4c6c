"""Ontologies in notations that are not RDF, turned into triples."""
