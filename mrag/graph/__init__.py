"""Knowledge graphs: a store, its layers and named graphs, and what is written to them."""
