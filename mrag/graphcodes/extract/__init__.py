"""Graph codes of texts, scene graphs, knowledge graphs and pictures."""
