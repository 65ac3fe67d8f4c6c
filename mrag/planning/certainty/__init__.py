"""How certain a computed answer is: a probability that was fitted to solved questions."""
