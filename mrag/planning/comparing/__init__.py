"""Questions that set two things side by side."""
