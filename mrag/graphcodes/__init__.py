"""Graph Codes: documents and questions as typed feature graphs, compared by structure."""
