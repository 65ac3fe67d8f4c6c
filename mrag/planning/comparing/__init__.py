"""Questions that set things side by side, or beside others of their kind."""
