"""Language models, prompts, cited answers and their verification."""
