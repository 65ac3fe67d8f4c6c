"""Whether a plan says all that its question says, and nothing else, however the plan was made."""
