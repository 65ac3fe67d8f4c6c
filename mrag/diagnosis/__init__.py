"""Checks of this system and of a graph."""

from mrag.diagnosis.checks import CheckResult, checked, contents, language_model, packages, query_process

__all__ = ["CheckResult", "checked", "contents", "language_model", "packages", "query_process"]
