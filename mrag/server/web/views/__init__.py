"""The views of the page: what each asks the server for beside questions and entities."""
