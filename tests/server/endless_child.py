"""A process that reads questions, and does not come to an end with some of them."""

import re
import sys
from typing import Any

from mrag.retrieval import reading_child
from mrag.retrieval.routing import compute_route as _computed


def compute(kg: Any, question: str, *more: Any) -> Any:
    """Read a question; one that says so takes for ever, in an engine that cannot be interrupted."""
    if "forever" in question:
        re.match("(a+)+b", "a" * 100)
    return _computed(kg, question, *more)


if __name__ == "__main__":
    vars(reading_child)["compute_route"] = compute
    reading_child.serve(int(sys.argv[1]), reading_child.ChildReader())
