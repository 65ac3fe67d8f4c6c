"""A reader of questions without a language model: words, frame, drafts, plan."""
