"""A child process that parses what clients wrote, so that no text can hold up the server.

Parsing takes time that grows with the text and holds the interpreter, so it happens here, and the
process is killed at the deadline. Run as `python -m mrag.server.query_parser`.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any, TextIO, cast

from mrag.errors import MragError, QueryRefused
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.stores.process.query_child import HEAD, confined, frame
from mrag.terminal import Guarded

_MEMORY = 2 << 30
"""Maximum number of bytes that reading may take; an update of some 50 megabytes fits."""


def parse_request(request: dict[str, Any]) -> tuple[Any, ...]:
    """Parse a query or an update.

    Args:
        request: `do` is `query`, `operators` or `update`; the rest is what `read_gate` and `parse` take.

    Returns:
        `("query", ReadQuery, text to run, values to start from)`, `("operators", tree, text to run)`,
        `("update", operations)`, or `("refused", message, hint)`.

    Example:
        >>> parse_request({"do": "query", "text": "ASK {}", "graphs": (), "prefixes": {}, "values": {}})[0]
        'query'
        >>> parse_request({"do": "update", "text": "LOAD <http://a.example/>", "prefixes": {}})[1]
        'LOAD is not allowed: nothing is fetched from the web.'
    """
    try:
        if request["do"] == "update":
            from mrag.graph.updates import parse

            return "update", parse(
                request["text"],
                request["prefixes"],
                using=request.get("using", ()),
                using_named=request.get("using_named", ()),
                base=request.get("base"),
            )
        read = read_gate(request["text"], request["graphs"], request["prefixes"])
        if request["do"] == "operators":
            from mrag.server.parsing import operators

            return "operators", operators(read.text, request["prefixes"]), read.text
        if not request["values"]:
            return "query", read, read.text, {}
        from mrag.server.parsing import bind

        return "query", read, *bind(read, request["values"], substitutes=request.get("substitutes", True))
    except MragError as error:
        where = f" <{error.term}>" if error.term and isinstance(error, QueryRefused) else ""
        return "refused", f"{error.message.rstrip('.')}{where}.", error.hint
    except RecursionError:
        return "refused", "The text is nested too deeply.", None


def serve() -> None:
    """Answer requests until the input ends."""
    defences = confined(_MEMORY)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer

    def reply(value: object) -> None:
        frame(stdout, b"P", pickle.dumps(value))
        stdout.flush()

    first = queries.get("explore/any").text
    parse_request({"do": "query", "text": first, "graphs": (), "prefixes": {}, "values": {}})
    reply(("ready", defences))
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        reply(parse_request(pickle.loads(stdin.read(size))))  # noqa: S301 # our own parent wrote it


if __name__ == "__main__":
    # What ends this process unforeseen may quote a query.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    serve()
