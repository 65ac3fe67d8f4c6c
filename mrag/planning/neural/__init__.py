"""Plans by a language model: a judge of readings, and statements written under a mask."""
