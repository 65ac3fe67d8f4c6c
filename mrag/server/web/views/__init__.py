"""Routes of single views of the page."""
