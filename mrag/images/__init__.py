"""Images of a knowledge graph: described by models, ranked by words and by looks, shown with answers."""
