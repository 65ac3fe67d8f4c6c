"""What notebooks show: answers, hits to mark and entities, live where the extra `widget` is installed.

Each is also plain HTML, which a notebook keeps and shows where no kernel runs.

Example:
    >>> import mrag
    >>> with mrag.demo(model="none") as kg:
    ...     "ex:GraphDB" in kg.explore("ex:GraphDB")._repr_html_()
    True
"""

from mrag._lazy import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "answers": "AnswerView show",
        "entities": "EntityView explore",
        "marks": "MarksView learn_widget",
        "view": "NotebookView",
    },
)
