"""What notebooks show: answers, hits to mark and entities, live where the extra `widget` is installed.

Each is also plain HTML, which a notebook keeps and shows where no kernel runs.

Example:
    >>> import mrag
    >>> with mrag.demo(model="none") as kg:
    ...     "ex:GraphDB" in kg.explore("ex:GraphDB")._repr_html_()
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.widgets.answers import AnswerView, show
    from mrag.widgets.entities import EntityView, explore
    from mrag.widgets.marks import MarksView, learn_widget
    from mrag.widgets.view import NotebookView

__all__ = ["AnswerView", "EntityView", "MarksView", "NotebookView", "explore", "learn_widget", "show"]

__getattr__, __dir__ = lazy(__name__)
