"""Language models, prompts, cited answers and their verification.

Example:
    >>> from mrag.generation import resolve
    >>> resolve("none") is None
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.generation import models, result, verification  # noqa: F401 - for `mrag.generation.…`
    from mrag.generation.answering import answer, cite, stream_answer
    from mrag.generation.models import LocalServer, ModelStatus, model_name, resolve, status
    from mrag.generation.prompts import NO_MODEL_NOTICE, messages, prompt
    from mrag.generation.result import Answer, Citation, Sentence, lines_of
    from mrag.generation.verification import VerifyReport, verify

__all__ = [
    "NO_MODEL_NOTICE", "Answer", "Citation", "LocalServer", "ModelStatus", "Sentence", "VerifyReport",
    "answer", "cite", "lines_of", "messages", "model_name", "prompt", "resolve", "status",
    "stream_answer", "verify",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
