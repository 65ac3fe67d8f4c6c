"""What keeps similarity indexes: files beside the store, an engine, a LangChain vector store."""
