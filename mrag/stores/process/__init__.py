"""Child processes that run what others wrote, with limits, and can be killed at any time."""
