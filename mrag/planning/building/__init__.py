"""Frames become plans: what names mean, which joins connect them, what is shown."""
