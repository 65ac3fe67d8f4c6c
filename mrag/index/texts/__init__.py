"""From what a graph states to the texts of its entities, in bounded memory."""
