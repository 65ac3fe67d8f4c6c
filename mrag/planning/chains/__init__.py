"""Questions over graphs whose things have no classes."""
