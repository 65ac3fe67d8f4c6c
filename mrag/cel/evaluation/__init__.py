"""Published learning problems, run by any learner."""
