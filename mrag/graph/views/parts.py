"""The query of a view answered in parts by a runner, over a copy of the source.

Each part is kept on disk before it counts as done, and is taken once: what a killed worker was doing is done
again, and a job that is broken off goes on with the parts that are missing.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pyoxigraph as ox

from mrag.graph.views.branches import Anchor, ViewBranch, branches, has_blank_nodes
from mrag.jobs.runners import Runner, carried
from mrag.rdf.namespaces import SKOLEM
from mrag.storage.files import Journal, Scratch, make_folder, replace
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.workers import snapshot_prefix

logger = logging.getLogger(__name__)

Progress = Callable[[int, int | None], None]

_LEAST, _MOST, _PARTS = 5_000, 20_000, 64
"""Values of an anchor in a part, at least and at most; between, so many that there are 64 parts."""
_JOURNAL = "parts.jsonl"


class ViewWork:
    """Answers parts of a query wherever it is sent to; the copy of the source is opened there, once.

    Args:
        source: The folder of a copy, as `OxigraphStore.snapshot` makes it.
        dataset: The graphs that the query sees.
        blank: Whether the query makes blank nodes, which are to be the same each time.
        sent: The triples of each graph, packed, for where the folder is not seen.
    """

    def __init__(
        self, source: Path, dataset: Dataset, *, blank: bool, sent: Mapping[str, bytes] | None = None
    ) -> None:
        self.source, self.dataset, self.blank, self.sent = source, dataset, blank, sent
        self._opened: ox.Store | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __call__(self, task: tuple[str, str]) -> bytes:
        """Return the triples of a part as N-Triples, packed.

        Args:
            task: Name and query of the part.
        """
        name, query = task
        lines = cast(ox.QueryTriples, self.query(query)).serialize(format=ox.RdfFormat.N_TRIPLES) or b""
        return zlib.compress(named(lines, self.engine, name) if self.blank else lines, 1)

    def open(self, engine: ox.Store) -> None:
        """Take what is open in this process for the copy."""
        self._opened = engine

    def query(self, text: str) -> Any:
        """Answer a query over the copy."""
        return self.engine.query(
            text,
            default_graph=list(map(ox.NamedNode, self.dataset.default)),
            named_graphs=list(map(ox.NamedNode, self.dataset.named)),
        )

    @property
    def engine(self) -> ox.Store:
        """The copy, opened."""
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _open(self) -> ox.Store:
        if self.sent is None and not (self.source / "store.nq").exists():
            return ox.Store.read_only(str(self.source))
        store = ox.Store()
        if self.sent is None:
            path = str(self.source / "store.nq")
            store.bulk_extend(ox.parse(path=path, format=ox.RdfFormat.N_QUADS, lenient=True))
        for graph, data in (self.sent or {}).items():
            node = ox.NamedNode(graph)
            # Read and not loaded, since a load gives blank nodes other names on each machine.
            triples = ox.parse(zlib.decompress(data), ox.RdfFormat.N_TRIPLES, lenient=True)
            store.bulk_extend(ox.Quad(t.subject, t.predicate, t.object, node) for t in triples)
        return store


def named(lines: bytes, engine: ox.Store, key: str) -> bytes:
    """Return N-Triples in which the blank nodes that a query made are IRIs, the same each time.

    Args:
        lines: What the query gave.
        engine: What it was asked, whose own blank nodes stay.
        key: What the IRIs depend on, beside the order in which the nodes come.

    Example:
        >>> named(b"_:a <urn:p> _:b .\\n", ox.Store(), "k") == named(b"_:c <urn:p> _:d .\\n", ox.Store(), "k")
        True
    """
    names: dict[ox.BlankNode, ox.NamedNode | ox.BlankNode] = {}

    def name(term: Any) -> Any:
        if not isinstance(term, ox.BlankNode):
            return term
        if term not in names:
            there = any(True for at in (0, 2) for _ in islice(_about(engine, term, at), 1))
            digest = hashlib.blake2b(f"{key} {len(names)}".encode(), digest_size=16).hexdigest()
            names[term] = term if there else ox.NamedNode(SKOLEM + digest)
        return names[term]

    triples = (
        ox.Triple(name(quad.subject), quad.predicate, name(quad.object))
        for quad in ox.parse(lines, ox.RdfFormat.N_TRIPLES, lenient=True)
    )
    return ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b""


def _about(engine: ox.Store, node: ox.BlankNode, at: int) -> Iterator[ox.Quad]:
    if at:
        return engine.quads_for_pattern(None, None, node, None)
    return engine.quads_for_pattern(node, None, None, None)


@contextmanager
def answered(
    store: OxigraphStore,
    text: str,
    dataset: Dataset,
    runner: Runner,
    *,
    state: str,
    folder: Path | None = None,
    told: Progress | None = None,
) -> Iterator[Iterator[bytes]]:
    """Have a runner answer a CONSTRUCT query, and give its triples as N-Triples in pieces.

    Args:
        store: What is asked, as it is now.
        text: The query; one of our own, for it has no limits.
        dataset: The graphs that it sees.
        runner: What answers the parts.
        state: What the source and the query are, as a text: parts of another state are not taken.
        folder: Where parts are kept until all have been read; they are lost with the process if left out.
        told: Called with the parts done, and the parts in all.

    Raises:
        BlockingIOError: If another process works in that folder.
        StoreError: If a part has lost its worker too often.
    """
    key = hashlib.sha256(f"{state} {text}".encode()).hexdigest()
    parent = None if store.path is None else store.path.parent
    prefix = None if store.path is None else snapshot_prefix(store.path)
    with Scratch("snapshot", parent, prefix=prefix) as copies, _place(folder) as place:
        store.snapshot(copies / "0")
        sent = None if runner.shares_files else _packed(store, dataset)
        work = ViewWork(copies / "0", dataset, blank=has_blank_nodes(text), sent=sent)
        if store.path is None:
            work.open(store.engine)
        make_folder(place)
        with Journal(place / _JOURNAL) as journal:
            if not any(record.get("job") == key for record in journal.records):
                _emptied(journal)
            names = _done(work, text, runner, key, journal, told or (lambda done, total: None))
        yield (zlib.decompress((place / name).read_bytes()) for name in names)


def _place(folder: Path | None) -> Any:
    return Scratch("view") if folder is None else nullcontext(folder)


def _packed(store: OxigraphStore, dataset: Dataset) -> dict[str, bytes]:
    found = {}
    for graph in sorted({*dataset.default, *dataset.named}):
        packer, out = zlib.compressobj(1), BytesIO()
        sink = _Packing(packer, out)
        store.dump(graph, cast(Any, sink))
        found[graph] = out.getvalue() + packer.flush()
    return found


class _Packing:
    """A stream that packs what is written to it."""

    def __init__(self, packer: Any, out: BytesIO) -> None:
        self._packer, self._out = packer, out

    def write(self, data: bytes) -> int:
        self._out.write(self._packer.compress(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: the packer is flushed at the end."""


def _emptied(journal: Journal) -> None:
    """Forget the parts of another state."""
    for record in journal.records:
        (journal.path.parent / str(record.get("part", "none"))).unlink(missing_ok=True)
    journal.clear()


def _done(work: ViewWork, text: str, runner: Runner, key: str, journal: Journal, told: Progress) -> list[str]:
    """Return the files of all parts, each once, after those that are missing have been made."""
    place = journal.path.parent
    kept = {
        record["part"]
        for record in journal.records
        if record.get("job") == key and _is_whole(place / record["part"], record["sum"])
    }
    total, parts = _parts(work, text)
    names: list[str] = []
    missing: list[str] = []

    def tasks() -> Iterator[tuple[str, str]]:
        for number, query in parts:
            # Two branches may be the same query, and still make blank nodes of their own.
            names.append(hashlib.sha256(f"{key} {number} {query}".encode()).hexdigest()[:32])
            if names[-1] not in kept:
                missing.append(names[-1])
                yield names[-1], query

    done = len(kept)
    told(done, total)
    for number, data in carried(runner, work, tasks()):
        replace(place / missing[number], data)
        journal.add({"job": key, "part": missing[number], "sum": _sum(data)})
        done += 1
        told(done, total)
    return names


def _parts(work: ViewWork, text: str) -> tuple[int, Iterator[tuple[int, str]]]:
    """Return how many parts a query has, and their queries with the number of the branch, always the same."""
    total = 0
    made: list[Callable[[], Iterator[str]]] = []
    for branch in branches(text):
        anchor, count = _best(work, branch)
        if anchor is None or count <= _LEAST:
            logger.info("a branch is one part: %s", branch.why or f"{count} values are too few to divide")
            total += 1
            made.append(partial(iter, (branch.text(),)))
            continue
        size = min(_MOST, max(_LEAST, -(-count // _PARTS)))
        others = bool(work.query(anchor.has_others()))
        total += -(-count // size) + others
        made.append(partial(_divided, work, branch, anchor, size, others))
    return total, ((number, query) for number, one in enumerate(made) for query in one())


def _best(work: ViewWork, branch: ViewBranch) -> tuple[Anchor | None, int]:
    """Return the anchor with most values, and how many; one of a specific pattern if there is one."""
    found: tuple[Anchor | None, int] = None, 0
    specific = [anchor for anchor in branch.anchors if anchor.specific]
    for anchor in specific or branch.anchors:
        [row] = work.query(anchor.counted())
        count = int(row[0].value)
        if count > found[1]:
            found = anchor, count
    return found


def _divided(work: ViewWork, branch: ViewBranch, anchor: Anchor, size: int, others: bool) -> Iterator[str]:
    rows = work.query(anchor.valued())
    while iris := [row[0].value for row in islice(rows, size)]:
        yield branch.over(anchor, iris)
    if others:
        yield branch.over_others(anchor)


def _sum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _is_whole(file: Path, expected: str) -> bool:
    try:
        return _sum(file.read_bytes()) == expected
    except OSError:
        return False
