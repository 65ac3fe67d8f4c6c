"""What the rows of a plan rest on, as plans and as lines, and answers that cite it."""
