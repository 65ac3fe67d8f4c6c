"""Models that embed pictures and words in one vector space."""
