"""Runs command lines one after the other in one process, each on a pseudo-terminal of its own or on pipes.

`python -m tests.terminal.driver FILE` reads `[{"argv": [...], "tty": true}, ...]` (arguments percent-encoded,
so that they may hold any byte) and writes what each printed to N.out and N.err beside the file, as bytes (on
a terminal both are one), and its exit code to N.code.
"""

import contextlib
import json
import os
import pty
import sys
import threading
import traceback
from pathlib import Path
from urllib.parse import unquote_to_bytes

from mrag.cli import main
from mrag.stores.process.parsing import close_all
from mrag.stores.process.workers import RESERVE

ROOT = Path(__file__).parents[2]


def environment(**more: str) -> dict[str, str]:
    """Return the variables of a process that prints to a terminal with colours."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "MRAG_EMBEDDER": "none", "TERM": "xterm-256color", **more}


def collect(source: int, into: list[bytes]) -> None:
    with contextlib.suppress(OSError):  # the other end of a pseudo-terminal is closed
        while part := os.read(source, 1 << 16):
            into.append(part)
    os.close(source)


def run(argv: list[str], *, tty: bool) -> tuple[bytes, bytes, int]:
    """Run one command line; return what came out of standard output and error, and its exit code."""
    ends = [pty.openpty()] if tty else [os.pipe(), os.pipe()]
    parts: list[list[bytes]] = [[] for _ in ends]
    readers = [threading.Thread(target=collect, args=(r, p)) for (r, _), p in zip(ends, parts, strict=True)]
    for reader in readers:
        reader.start()
    kept = [os.dup(1), os.dup(2)]
    for number in (1, 2):
        os.dup2(ends[(number - 1) % len(ends)][1], number)
    for _, end in ends:
        os.close(end)
    sys.argv = ["mrag", *argv]
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        code = 99
        traceback.print_exc()  # as the interpreter would
    # As at the end of a process: children hold standard error open.
    close_all()
    RESERVE.close()
    for stream, number, old in zip((sys.stdout, sys.stderr), (1, 2), kept, strict=True):
        stream.flush()
        os.dup2(old, number)
        os.close(old)
    for reader in readers:
        reader.join()
    joined = [b"".join(p) for p in parts]
    return joined[0], b"" if tty else joined[1], code


if __name__ == "__main__":
    wanted = Path(sys.argv[1])
    for at, case in enumerate(json.loads(wanted.read_text(encoding="utf-8"))):
        os.environ["OLLAMA_HOST"] = case["host"]
        out, err, code = run([os.fsdecode(unquote_to_bytes(a)) for a in case["argv"]], tty=case["tty"])
        (wanted.parent / f"{at}.out").write_bytes(out)
        (wanted.parent / f"{at}.err").write_bytes(err)
        (wanted.parent / f"{at}.code").write_text(str(code))
