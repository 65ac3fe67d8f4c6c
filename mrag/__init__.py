"""Ask a knowledge graph in words or pictures and see which triples made each answer right."""
