"""The reader of questions: units get roles, roles make frames, frames make plans, and a model ranks them."""
