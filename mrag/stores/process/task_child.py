"""The child's side of `limited`: does one piece of work after the other, within its memory.

Its argument is the MEMORY. Requests and answers are frames, as in `query_child`.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from importlib import import_module
from typing import Any, BinaryIO, TextIO, cast

from mrag.redaction import brief
from mrag.stores.process.query_child import HEAD, confined, frame
from mrag.terminal import Guarded


def perform(work: str, arguments: tuple[Any, ...], out: BinaryIO) -> tuple[Any, ...]:
    """Do a piece of work; what a generator yields goes out on the way, bytes and other values."""
    from mrag.errors import MragError

    module, _, name = work.partition(":")
    try:
        found = getattr(import_module(module), name)(*arguments)
        if not inspect.isgenerator(found):
            return "done", found
        while True:
            try:
                piece = next(found)
            except StopIteration as end:
                return "done", end.value
            if isinstance(piece, bytes):
                frame(out, b"D", piece)
            else:
                frame(out, b"N", pickle.dumps(piece))
            out.flush()
    except MragError as error:
        return "failed", type(error).__name__, vars(error)
    except MemoryError:
        return ("large",)
    except Exception as error:
        return "broken", brief(f"{type(error).__name__}: {error}", 300)


def serve(memory: int) -> None:
    """Answer requests until the input ends."""
    defences = confined(memory)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer

    def reply(value: object) -> None:
        frame(stdout, b"P", pickle.dumps(value))
        stdout.flush()

    reply(("ready", defences))
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        work, arguments, folder = pickle.loads(stdin.read(size))  # noqa: S301 # our own parent wrote it
        if folder is not None:
            os.chdir(folder)
        reply(perform(work, arguments, stdout))


if __name__ == "__main__":
    # What ends this process unforeseen may quote what it reads.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    serve(int(sys.argv[1]))
