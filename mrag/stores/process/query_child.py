"""The child's side of a query worker: answers requests on its copy of a store until it is killed.

Its argument is the MEMORY. Requests come on standard input and answers go to standard output, each a
frame: a letter (`P` for a pickled value, `D` for a piece of a document), the length in eight bytes, and
the content. The first request opens a snapshot; once it is closed, another can be opened.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import pyoxigraph as ox

from mrag.stores.changes import Changes, Layout, Refused, carry_out
from mrag.stores.process.sandbox import confine
from mrag.terminal import Guarded

RESULTS = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}
GRAPHS = {
    "turtle": ox.RdfFormat.TURTLE,
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
    "nquads": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG,
    "n3": ox.RdfFormat.N3,
}
"""What the engine writes; `rdfjson` is written here."""

_STRING = "http://www.w3.org/2001/XMLSchema#string"


def serialize(
    statements: Iterable[Any], out: BinaryIO, name: str, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write triples or quads."""
    if name != "rdfjson":
        ox.serialize(statements, cast(Any, out), format=GRAPHS[name], prefixes=dict(prefixes or {}) or None)
        return
    subjects: dict[str, dict[str, list[dict[str, str]]]] = {}
    for statement in statements:
        about = subjects.setdefault(_name(statement.subject), {})
        about.setdefault(statement.predicate.value, []).append(_object(statement.object))
    out.write(json.dumps(subjects, ensure_ascii=False, separators=(",", ":")).encode())


def serialize_rdf(statements: Iterable[Any], name: str, prefixes: Mapping[str, str] | None = None) -> bytes:
    """Return triples or quads as a document, see `serialize`."""
    out = io.BytesIO()
    serialize(statements, out, name, prefixes)
    return out.getvalue()


def _name(term: Any) -> str:
    if isinstance(term, ox.Triple):
        raise ValueError("triple terms are not supported in RDF/JSON")
    return f"_:{term.value}" if isinstance(term, ox.BlankNode) else str(term.value)


def _object(term: Any) -> dict[str, str]:
    if not isinstance(term, ox.Literal):
        return {"value": _name(term), "type": "bnode" if isinstance(term, ox.BlankNode) else "uri"}
    fields = {"value": term.value, "type": "literal"}
    if term.language:
        return {**fields, "lang": term.language}
    return fields if term.datatype.value == _STRING else {**fields, "datatype": term.datatype.value}


HEAD = struct.Struct(">cQ")
LIFELINE = "MRAG_LIFELINE"
"""Variable with the number of a pipe's end that the parent of a process holds the other end of."""
_PIECE = 1 << 16
_SCRATCH = "urn:mrag:scratch:worker"
_LIGHT = 160 << 20
"""Bytes above which a process without a store ends, so that the system gets its memory back."""

# What stands once for each row of a result, or in JSON once for each bound cell: quotes inside of
# strings are escaped there, so it cannot occur in a value.
_MARKS = {"json": b'":{"type":"', "xml": b"<result>", "csv": b"\r\n", "tsv": b"\n"}


class _Large(Exception):
    """The result passes its caps."""


class _Output:
    """Collects what the engine writes, counts it and passes it on in pieces."""

    def __init__(self, out: BinaryIO, rows: int, size: int, mark: bytes) -> None:
        self._out, self._rows, self._size, self._mark = out, rows, size, mark
        self._parts: list[bytes] = []
        self._held = self._sent = self._marks = 0
        self._tail = b""

    def write(self, data: bytes) -> int:
        self._parts.append(data)
        self._held += len(data)
        if self._held >= _PIECE:
            self.end()
        return len(data)

    def flush(self) -> None:
        """Do nothing: pieces go out when they are large enough."""

    def end(self) -> None:
        """Pass on what is held."""
        piece = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        self._sent += len(piece)
        if self._mark:
            joined = self._tail + piece
            self._marks += joined.count(self._mark)
            self._tail = joined[-(len(self._mark) - 1) :] if len(self._mark) > 1 else b""
        if self._sent > self._size or self._marks > self._rows:
            raise _Large
        if piece:
            frame(self._out, b"D", piece)
            self._out.flush()


class _Answers:
    """The store of this process and what it answers."""

    def __init__(self, snapshot: Path, out: BinaryIO) -> None:
        self._snapshot = snapshot
        self._out = out
        self._writable: ox.Store | None = None
        self.private = False
        quads = snapshot / "store.nq"
        if quads.exists():
            self._store = self._writable = ox.Store()
            self._store.bulk_load(path=str(quads), format=ox.RdfFormat.N_QUADS, lenient=True)
        else:
            self._store = ox.Store.read_only(str(snapshot))

    def writable(self) -> ox.Store:
        """Return a copy that only this process has; of a folder it is made of links when first needed."""
        if self._writable is None:
            import tempfile

            private = Path(tempfile.mkdtemp(prefix="worker-", dir=self._snapshot.parent)) / "store"
            self.private = True
            self._store.backup(str(private))
            self._store = self._writable = ox.Store(str(private))
        return self._writable

    def answer(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Answer one request; documents go out on the way."""
        try:
            return getattr(self, request["do"])(request)  # type: ignore[no-any-return]
        except _Large:
            return ("large",)
        except Refused as error:
            return "refused", str(error)
        except (SyntaxError, ValueError, RuntimeError, OSError) as error:
            return "error", str(error.args[0] if error.args else error)

    def rows(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Answer a query with terms, taken apart."""
        with self._sight(request) as default:
            result = self._query(request, default)
            if isinstance(result, ox.QueryBoolean):
                return "ask", bool(result)
            left, max_rows = request["bytes"], request["rows"]
            rows: list[tuple[Any, ...]] = []
            names = tuple(v.value for v in result.variables) if isinstance(result, ox.QuerySolutions) else ()
            for item in result:
                row = tuple(item[n] for n in names) if isinstance(item, ox.QuerySolution) else tuple(item)
                left -= sum(len(str(t)) for t in row if t is not None)
                if len(rows) >= max_rows or left < 0:
                    raise _Large
                rows.append(tuple(map(plain, row)))
            return ("select", (names, rows)) if isinstance(result, ox.QuerySolutions) else ("construct", rows)

    def document(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Answer a query with a document in one of the formats, piece by piece."""
        name, max_rows = request["format"], request["rows"]
        with self._sight(request) as default:
            result = self._query(request, default)
            if isinstance(result, ox.QueryTriples):
                out = _Output(self._out, max_rows, request["bytes"], b"")
                serialize(_cap(result, max_rows), cast(BinaryIO, out), name, request.get("prefixes"))
            elif isinstance(result, ox.QueryBoolean) and name == "boolean":
                out = _Output(self._out, 1, request["bytes"], b"")
                out.write(b"true" if result else b"false")
            else:
                if isinstance(result, ox.QuerySolutions):
                    max_rows *= max(1, len(result.variables)) if name == "json" else 1
                    max_rows += name in ("csv", "tsv")
                out = _Output(self._out, max_rows, request["bytes"], _MARKS[name])
                result.serialize(out, format=RESULTS[name])
            out.end()
        return ("end",)

    def quads(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Answer with the statements of some graphs that match, piece by piece, without a query."""
        s, p, o = (term_of(value) for value in request["pattern"])
        names: dict[str, str | None] = request["graphs"]

        def statements() -> Any:
            for inside, outside in names.items():
                graph = ox.NamedNode(outside) if outside is not None else ox.DefaultGraph()
                for q in self._store.quads_for_pattern(s, p, o, ox.NamedNode(inside)):
                    named = request["named"]
                    yield ox.Quad(q.subject, q.predicate, q.object, graph) if named else q.triple

        out = _Output(self._out, request["rows"], request["bytes"], b"")
        capped = _cap(statements(), request["rows"])
        serialize(capped, cast(BinaryIO, out), request["format"], request.get("prefixes"))
        out.end()
        return ("end",)

    def update(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Work out an update on a private copy, and answer with what it would change."""
        changes = Changes(self.writable(), Layout(**request["layout"]), apply=True)
        carry_out(changes, request["operations"])
        return "changes", changes.outcome().pack()

    @contextmanager
    def _sight(self, request: dict[str, Any]) -> Iterator[list[ox.NamedNode]]:
        """Give the default graph of a query, with what it alone sees put into a graph of its own for it.

        That is what `extra` holds, and with `merge` all of its graphs, where they may share triples.
        """
        graphs = [ox.NamedNode(g) for g in request["default"]]
        extra, merge = request.get("extra", b""), bool(request.get("merge"))
        if not extra and not merge:
            yield graphs
            return
        store, scratch = self.writable(), ox.NamedNode(_SCRATCH)
        try:
            if merge:
                quads = (q for g in graphs for q in store.quads_for_pattern(None, None, None, g))
                store.bulk_extend(ox.Quad(q.subject, q.predicate, q.object, scratch) for q in list(quads))
            if extra:
                store.load(extra, ox.RdfFormat.N_TRIPLES, to_graph=scratch)
            yield [scratch] if merge else [*graphs, scratch]
        finally:
            store.remove_graph(scratch)

    def _query(self, request: dict[str, Any], default: list[ox.NamedNode]) -> Any:
        given = request.get("substitutions") or {}
        return self._store.query(
            request["query"],
            base_iri=request.get("base"),
            default_graph=cast(Any, default),
            named_graphs=[ox.NamedNode(g) for g in request["named"]],
            substitutions={ox.Variable(name): term_of(value) for name, value in given.items()} or None,
        )


def frame(out: BinaryIO, kind: bytes, content: bytes) -> None:
    """Write one frame."""
    out.write(HEAD.pack(kind, len(content)))
    out.write(content)


def plain(term: Any) -> tuple[str, str, str | None, str | None] | None:
    """Take a term apart; the engine's own pickles refuse odd language tags that a load let pass."""
    if term is None:
        return None
    if isinstance(term, ox.Literal):
        return "l", term.value, term.language, term.datatype.value
    if isinstance(term, ox.Triple):
        raise ValueError("triple terms are not supported")
    return "b" if isinstance(term, ox.BlankNode) else "i", term.value, None, None


def term_of(value: tuple[str, str, str | None, str | None] | None) -> Any:
    """Put a term together again."""
    if value is None:
        return None
    kind, text, language, datatype = value
    if kind != "l":
        return ox.NamedNode(text) if kind == "i" else ox.BlankNode(text)
    if language:
        return ox.Literal(text, language=language)
    return ox.Literal(text, datatype=ox.NamedNode(datatype)) if datatype else ox.Literal(text)


def _cap(items: Any, max_rows: int) -> Any:
    for count, item in enumerate(items):
        if count >= max_rows:
            raise _Large
        yield item


def _end_with_parent() -> None:
    """End this process soon after its parent, also in the middle of a query or of a regular expression.

    A query releases the interpreter while it runs, so a thread can watch. An expression does not, but Linux
    sends a signal when nobody holds the other end of a pipe. Its own signal for this would come when the
    thread that started the process ends, not the parent.
    """
    parent, lifeline = os.getppid(), os.environ.pop(LIFELINE, "")
    if lifeline and sys.platform == "linux":
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(int(lifeline), fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(int(lifeline), fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve(memory: int, answer: Callable[[Any, BinaryIO], object]) -> None:
    """Answer requests until the input ends; those for which `answer` returns None get no reply."""
    defences = confine(memory)
    _end_with_parent()
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer

    def reply(value: object) -> None:
        frame(stdout, b"P", pickle.dumps(value))
        stdout.flush()

    reply(("ready", defences))
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        request = pickle.loads(stdin.read(size))  # noqa: S301 # our own parent wrote it
        if (value := answer(request, stdout)) is not None:
            reply(value)


class _Copies:
    """The copy of a store from which this process answers; another can be opened after it was closed."""

    def __init__(self) -> None:
        self._answers: _Answers | None = None

    def __call__(self, request: dict[str, Any], out: BinaryIO) -> object:
        if request["do"] == "open":
            self._answers = _Answers(Path(request["path"]), out)
            return ("opened",)
        if request["do"] != "close":
            return None if self._answers is None else self._answers.answer(request)
        # Nothing is written in a folder that may be removed by now.
        if self._answers is None or self._answers.private:
            os._exit(0)
        self._answers = None
        if _resident() > _LIGHT:
            os._exit(0)
        return None


def _resident() -> int:
    """Return how many bytes of memory this process occupies; very many where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize


if __name__ == "__main__":
    # What ends this process unforeseen may quote a query or a label.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    serve(int(sys.argv[1]), _Copies())
