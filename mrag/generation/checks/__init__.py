"""What is checked of an answer beside what its sentences rest on: its form, its lines, and the report."""
