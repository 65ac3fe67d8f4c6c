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
from mrag.stores.process.query_child import frame, serve
from mrag.terminal import Guarded


def perform(work: str, arguments: tuple[Any, ...], out: BinaryIO) -> tuple[Any, ...]:
    """Do a piece of work; what a generator yields goes out on the way, bytes and other values."""
    from mrag.errors import MragError

    module, _, name = work.partition(":")
    try:
        result = getattr(import_module(module), name)(*arguments)
        if not inspect.isgenerator(result):
            return "done", result
        while True:
            try:
                piece = next(result)
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


def answer(request: tuple[str, tuple[Any, ...], str | None], out: BinaryIO) -> tuple[Any, ...]:
    """Do the work of a request, in the folder that its relative paths are relative to."""
    work, arguments, folder = request
    if folder is not None:
        os.chdir(folder)
    return perform(work, arguments, out)


if __name__ == "__main__":
    # What ends this process unforeseen may quote what it reads.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    serve(int(sys.argv[1]), answer)
