"""Why an individual is an instance of a class expression, why not, and what would change that."""
