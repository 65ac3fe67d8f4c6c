"""Which lines of a context each sentence of an answer rests on."""
