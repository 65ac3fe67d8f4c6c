"""Plans by a language model: a judge of readings, statements written under a mask, and a loop over tools."""
