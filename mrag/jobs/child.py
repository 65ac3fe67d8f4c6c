"""The child's side of `processes`: is given the work, and then does one task after the other.

Requests and answers are frames, as in `mrag.stores.process.query_child`.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys

from mrag.stores.process.query_child import HEAD, frame


def serve() -> None:
    """Answer requests until the input ends."""
    # Ctrl-C is the parent's to answer: it ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stdin, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the work prints is no answer

    def reply(*value: object) -> None:
        frame(out, b"P", pickle.dumps(value))
        out.flush()

    reply("ready")
    work = None
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        try:
            given = pickle.loads(stdin.read(size))  # noqa: S301 # our own parent wrote it
            if work is None:
                (work,) = given
                continue
            reply("done", work(given))
        except Exception as error:
            _fail(reply, error)


def _fail(reply: object, error: Exception) -> None:
    assert callable(reply)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 # made on the line itself
        reply("failed", error)
    except Exception:  # an error that does not pickle
        reply("broken", type(error).__name__, str(error), vars(error).get("hint"))


if __name__ == "__main__":
    serve()
