"""Follow-up questions: typed edits of the plan that was computed last."""
