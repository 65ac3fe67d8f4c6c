"""Plans by a language model: statements written under a mask."""
