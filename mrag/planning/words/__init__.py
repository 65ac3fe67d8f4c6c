"""Plans, values and answers in plain English."""
