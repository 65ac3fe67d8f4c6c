"""Questions made of several: described things, ratios, alternatives, and what is denied."""
