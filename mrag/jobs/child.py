"""The child's side of `processes`: is given the work, and then does one task after the other.

Requests and answers are frames, as in `mrag.stores.process.query_child`.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from mrag.stores.process.query_child import HEAD, frame


def serve() -> None:
    """Answer requests until the input ends."""
    stdin, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the work prints is no answer
    _reply(out, "ready")
    work: Any = None
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        try:
            given = pickle.loads(stdin.read(size))  # noqa: S301 # our own parent wrote it
            if work is None:
                work = given
            else:
                _reply(out, "done", work(given))
        except Exception as error:
            try:
                pickle.loads(pickle.dumps(error))  # noqa: S301 # made on the line itself
                _reply(out, "failed", error)
            except Exception:  # an error that does not pickle
                _reply(out, "broken", type(error).__name__, str(error), vars(error).get("hint"))


def _reply(out: BinaryIO, *value: object) -> None:
    frame(out, b"P", pickle.dumps(value))
    out.flush()


if __name__ == "__main__":
    serve()
