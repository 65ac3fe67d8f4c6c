"""OWL reasoning compiled to SPARQL rules, and proofs of what was inferred."""
