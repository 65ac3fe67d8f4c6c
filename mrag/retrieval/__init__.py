"""Rankers, the LangChain retriever, and `ask`."""
