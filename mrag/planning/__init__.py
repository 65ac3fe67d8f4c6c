"""Questions as query plans: read, computed by SPARQL, and proved."""
