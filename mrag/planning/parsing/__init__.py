"""Questions read without a language model: words, cues, roles, joins and plans."""
