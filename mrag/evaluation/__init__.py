"""How well rankers find: questions with known answers, runs, measures, intervals, tests and reports."""
