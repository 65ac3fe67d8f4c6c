"""Questions made of several: described things, contrasts, ratios, and values that things share."""
