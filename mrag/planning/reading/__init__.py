"""The words of a question: cut, joined to items, and given their roles in a frame."""
