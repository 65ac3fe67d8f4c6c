"""How a plan becomes SPARQL: names, values and blocks."""
