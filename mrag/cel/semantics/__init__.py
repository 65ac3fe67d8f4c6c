"""What class expressions hold: by SPARQL instance queries, and over bitsets that agree with them."""
