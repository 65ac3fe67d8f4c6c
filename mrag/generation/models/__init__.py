"""Language models: from a name to a chat model, and the ways to one."""
