"""How the words of a plan are put together."""
