"""What answers without a language model say in each language, and how class expressions are read."""
