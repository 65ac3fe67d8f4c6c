"""Whether a plan says all that its question says."""
