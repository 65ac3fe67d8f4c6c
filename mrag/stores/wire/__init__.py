"""HTTP to SPARQL servers: sessions, results read while they arrive, files sent."""
