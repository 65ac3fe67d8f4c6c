"""Views: knowledge graphs made from another one by query, and made anew when that one has changed.

A view is a knowledge graph of its own in the same store, with its own name, graphs and record, so that
it never meets its source, or another view, in one graph or in one reasoning run. Its triples fill a new
graph, and one transaction then puts that graph in sight. What others add to a view stays in it.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from io import BytesIO
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import IO, Any, cast

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import ConfigError, EndpointError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, read_record
from mrag.jobs.runners import Runner, carried
from mrag.loaders._records import schema_lines
from mrag.loaders.rdf import Source
from mrag.rdf import parser, queries
from mrag.rdf import patterns as pt
from mrag.rdf.namespaces import SKOLEM
from mrag.rdf.parser import AGGREGATES, Tokens, parse_query
from mrag.rdf.patterns import to_pattern, to_sparql
from mrag.rdf.terms import RDF, to_ox
from mrag.storage.files import Journal, Scratch, make_folder
from mrag.storage.files import replace as replace_file
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import Landing, OxigraphStore
from mrag.stores.process.workers import snapshot_folder

_UNREPEATABLE = frozenset(("RAND", "NOW", "UUID", "STRUUID", "BNODE"))
_OTHER = "mrag_other"


@dataclass(frozen=True)
class Anchor:
    """A variable by which the solutions of a branch are told apart."""

    name: str
    pattern: parser.TripleNode
    places: tuple[int, ...]

    @property
    def specific(self) -> bool:
        """Whether the pattern names a property, or a class, so that it matches little beside the branch."""
        typed = str(self.pattern.p) == RDF + "type"
        return isinstance(self.pattern.p, URIRef) and not (typed and isinstance(self.pattern.o, Variable))

    def counted(self) -> str:
        """Return the query for how many values there are that are IRIs."""
        count = pt.Count(pt.var(self.name), distinct=True)
        return to_sparql(pt.Select(((count, pt.var(_OTHER + "s")),), self._with(_is_iri(self.name))))

    def valued(self) -> str:
        """Return the query for these values."""
        return to_sparql(pt.Select((pt.var(self.name),), self._with(_is_iri(self.name)), distinct=True))

    def has_others(self) -> str:
        """Return the query whether there are values that are no IRIs."""
        return to_sparql(pt.Ask(self._with(pt.Negation(_is_iri(self.name)))))

    def _with(self, condition: pt.Expression) -> pt.Group:
        s, p, o = map(_type, (self.pattern.s, self.pattern.p, self.pattern.o))
        return pt.Group((pt.TriplePattern(s, p, o), pt.Filter(condition)))


@dataclass(frozen=True)
class ViewBranch:
    """A group of a CONSTRUCT query that can be answered by itself."""

    tokens: Tokens
    head: str
    first: int
    last: int
    anchors: tuple[Anchor, ...] = ()
    why: str = ""

    def text(self) -> str:
        """Return the query of the branch."""
        return self.head + self.tokens.printed(self.first, self.last)

    def over(self, anchor: Anchor, iris: Sequence[str]) -> str:
        """Return the query of the solutions in which an anchor is one of some IRIs."""
        rows = tuple((pt.iri(iri),) for iri in iris)
        return self._narrow(anchor, pt.Values((pt.var(anchor.name),), rows))

    def over_others(self, anchor: Anchor) -> str:
        """Return the query of the solutions in which an anchor is no IRI.

        No text can name a blank node, and literals may be spelt in another way than they are kept.
        """
        return self._narrow(anchor, pt.Filter(pt.Negation(_is_iri(anchor.name))))

    def _narrow(self, anchor: Anchor, condition: pt.Pattern) -> str:
        instead = {place: f"{{ {to_pattern(condition)}" for place in anchor.places}
        return self.head + self.tokens.printed(self.first, self.last, instead)


def branches(text: str) -> list[ViewBranch]:
    """Return the branches of a CONSTRUCT query, of which each solution of the query belongs to one."""
    query, reading = parse_query(text)
    tokens, where = reading.tokens, query.select.where
    declared = reading.declarations()
    short = query.form == "ConstructQuery" and tokens.tokens[where.first - 2].key == "CONSTRUCT"
    why = _whole(query)
    if why:
        end = len(tokens.tokens) - 1
        return [ViewBranch(tokens, declared, 0, end, why=why)]
    before = tokens.printed(0, where.first - (tokens.tokens[where.first - 1].key == "WHERE"))
    template = tokens.printed(where.first, where.last + 1) if short else ""
    head = f"{declared}{before}{' ' if template else ''}{template} WHERE "
    [*parts] = where.parts
    groups = parts[0].groups if len(parts) == 1 and isinstance(parts[0], parser.UnionNode) else (where,)
    found = []
    for group in groups:
        anchors = tuple(_anchors(tokens, group))
        why = "" if anchors else "no triple pattern binds the same variable in each solution"
        found.append(ViewBranch(tokens, head, group.first, group.last + 1, anchors, why))
    return found


def has_blank_nodes(text: str) -> bool:
    """Return whether a CONSTRUCT query makes blank nodes of its own."""
    query, _ = parse_query(text)
    return any(isinstance(term, BNode) for triple in query.template for term in (triple.s, triple.o))


def _whole(query: parser.QueryNode) -> str:
    """Return why a query cannot be divided, or nothing."""
    if query.form != "ConstructQuery":
        return "it is no CONSTRUCT query"
    steps = {"group by", "having", "slice"} & _steps(query.select)
    if query.graphs or query.named or query.select.values or steps:
        return "it has GROUP BY, HAVING, LIMIT, OFFSET, VALUES or FROM"
    for node in parser.walk(query):
        if isinstance(node, parser.CallNode) and node.name in _UNREPEATABLE:
            return f"{node.name} gives something else each time"
        if isinstance(node, parser.SelectNode) and "slice" in _steps(node):
            return "a sub-select of it has LIMIT or OFFSET"
    return ""


def _steps(select: parser.SelectNode) -> set[str]:
    return {name for name, _, _ in select.steps}


def _is_iri(name: str) -> pt.Call:
    return pt.Call("isIRI", (pt.var(name),))


def _type(term: Any) -> Any:
    if isinstance(term, Variable | BNode):
        return pt.var(str(term) if isinstance(term, Variable) else _OTHER)
    return to_ox(term)


def _anchors(tokens: Tokens, group: parser.GroupNode) -> Iterator[Anchor]:
    patterns = [node for node in parser.walk(group) if isinstance(node, parser.TripleNode)]
    ends = (end for node in patterns for end in (node.s, node.o) if isinstance(end, Variable))
    for name in dict.fromkeys(map(str, ends)):
        found = _Narrowing(tokens, name).of(group)
        if found is not None:
            yield found


_INDEPENDENT = (
    parser.TripleNode, parser.FilterNode, parser.ValuesNode,
    parser.GroupNode, parser.SelectNode, parser.UnionNode,
)  # fmt: skip


class _Narrowing:
    """Finds where the values of a variable can be given so that only solutions with these are left."""

    def __init__(self, tokens: Tokens, name: str) -> None:
        self._tokens = tokens
        self._name = name

    def of(self, group: parser.GroupNode) -> Anchor | None:
        """Return the anchor of a group; None unless each of its solutions binds the variable."""
        pattern: parser.TripleNode | None = None
        places: list[int] = []
        for at, part in enumerate(group.parts):
            # Values may stand before parts of which none depends on what is bound.
            first = pattern is None and all(isinstance(one, _INDEPENDENT) for one in group.parts[:at])
            if first and (binding := self._binding(part)):
                pattern = binding
                places.append(group.first)
                continue
            inner = self._inner(part, bound=pattern is not None)
            if inner is not None:
                pattern = pattern or inner.pattern
                places += inner.places
        return None if pattern is None else Anchor(self._name, pattern, tuple(places))

    def _inner(self, part: Any, *, bound: bool) -> Anchor | None:
        match part:
            case parser.GroupNode():
                return self.of(part)
            case parser.SelectNode() if self._passes(part):
                return self.of(part.where)
            case parser.OptionalNode(parser.GroupNode((parser.SelectNode() as select,))) if bound:
                # What else is optional is looked up for each solution anyway.
                return self._inner(select, bound=False)
        return None

    def _binding(self, part: Any) -> parser.TripleNode | None:
        """Return a part if it is a triple pattern that binds the variable."""
        # A path may bind what is in no triple.
        if not isinstance(part, parser.TripleNode) or isinstance(part.p, parser.Path):
            return None
        return part if Variable(self._name) in (part.s, part.o) else None

    def _passes(self, select: parser.SelectNode) -> bool:
        """Return whether fewer values inside a sub-select only mean fewer rows of it."""
        steps = {name: (first, last) for name, first, last in select.steps}
        if "slice" in steps:
            return False
        if select.projection is not None and not any(
            item.variable is None and item.expression == Variable(self._name) for item in select.projection
        ):
            return False
        if "group by" in steps:
            return self._name in self._keys(*steps["group by"])
        grouped = any(
            isinstance(node, parser.CallNode) and node.name in AGGREGATES
            for item in (*(select.projection or ()), *select.modifiers)
            for node in parser.walk(item)
        )
        return not grouped and "having" not in steps

    def _keys(self, first: int, last: int) -> Iterator[str]:
        """Yield the variables that rows are grouped by as they stand."""
        depth = 0
        for token in self._tokens.tokens[first:last]:
            depth += (token.key == "(") - (token.key == ")")
            if token.key == "var" and not depth:
                yield token.value


logger = logging.getLogger(__name__)

Progress = Callable[[int, int | None], None]

_LEAST, _MOST, _PARTS = 5_000, 20_000, 64
"""Values of an anchor in a part, at least and at most; between, so many that there are 64 parts."""
_JOURNAL = "parts.jsonl"


class ViewWork:
    """Answers parts of a query wherever it is sent to; the copy of the source is opened there, once."""

    def __init__(
        self, source: Path, dataset: Dataset, *, blank: bool, sent: Mapping[str, bytes] | None = None
    ) -> None:
        self.source, self.dataset, self.blank, self.sent = source, dataset, blank, sent
        self.opened: ox.Store | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "opened": None}

    def __call__(self, task: tuple[str, str]) -> bytes:
        """Return the triples of a part as N-Triples, packed."""
        name, query = task
        lines = cast(ox.QueryTriples, self.query(query)).serialize(format=ox.RdfFormat.N_TRIPLES) or b""
        return zlib.compress(named(lines, self.engine, name) if self.blank else lines, 1)

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
        if self.opened is None:
            self.opened = _opened_copy(self.source, self.sent)
        return self.opened


def _opened_copy(source: Path, sent: Mapping[str, bytes] | None) -> ox.Store:
    whole = source / "store.nq"
    if sent is None and not whole.exists():
        return ox.Store.read_only(str(source))
    store = ox.Store()
    if sent is None:
        store.bulk_extend(ox.parse(path=str(whole), format=ox.RdfFormat.N_QUADS, lenient=True))
    for graph, data in (sent or {}).items():
        node = ox.NamedNode(graph)
        # Read and not loaded, since a load gives blank nodes other names on each machine.
        triples = ox.parse(gzip.decompress(data), ox.RdfFormat.N_TRIPLES, lenient=True)
        store.bulk_extend(ox.Quad(t.subject, t.predicate, t.object, node) for t in triples)
    return store


def named(lines: bytes, engine: ox.Store, key: str) -> bytes:
    """Return N-Triples in which the blank nodes that a query made are IRIs, the same each time.

    The IRIs depend on `key` and the order in which the nodes come; the engine's own blank nodes stay.
    """
    names: dict[ox.BlankNode, ox.NamedNode | ox.BlankNode] = {}

    def name(term: Any) -> Any:
        if not isinstance(term, ox.BlankNode):
            return term
        if term not in names:
            about = engine.quads_for_pattern(term, None, None), engine.quads_for_pattern(None, None, term)
            there = any(next(quads, None) is not None for quads in about)
            digest = hashlib.blake2b(f"{key} {len(names)}".encode(), digest_size=16).hexdigest()
            names[term] = term if there else ox.NamedNode(SKOLEM + digest)
        return names[term]

    triples = (
        ox.Triple(name(quad.subject), quad.predicate, name(quad.object))
        for quad in ox.parse(lines, ox.RdfFormat.N_TRIPLES, lenient=True)
    )
    return ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b""


@dataclass(frozen=True)
class PartsJob:
    """How a query is answered in parts."""

    runner: Runner
    state: str
    folder: Path | None
    on_progress: Progress | None


@contextmanager
def answered(store: OxigraphStore, text: str, dataset: Dataset, job: PartsJob) -> Iterator[Iterator[bytes]]:
    """Have a runner answer a CONSTRUCT query, and give its triples as N-Triples in pieces."""
    key = hashlib.sha256(f"{job.state} {text}".encode()).hexdigest()
    made: AbstractContextManager[Path] = Scratch("view") if job.folder is None else nullcontext(job.folder)
    with snapshot_folder(store) as copies, made as place:
        store.snapshot(copies / "0")
        sent = None if job.runner.shares_files else _pack(store, dataset)
        work = ViewWork(copies / "0", dataset, blank=has_blank_nodes(text), sent=sent)
        if store.path is None:
            work.opened = store.engine
        make_folder(place)
        with Journal(place / _JOURNAL) as journal:
            if not any(record.get("job") == key for record in journal.records):
                for record in journal.records:  # the parts of another state
                    (place / str(record.get("part", "none"))).unlink(missing_ok=True)
                journal.clear()
            names = _make_parts(
                work, text, job.runner, key, journal, job.on_progress or (lambda done, total: None)
            )
        yield (zlib.decompress((place / name).read_bytes()) for name in names)


def _pack(store: OxigraphStore, dataset: Dataset) -> dict[str, bytes]:
    graphs = {}
    for graph in sorted({*dataset.default, *dataset.named}):
        out = BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as packer:
            store.dump(graph, cast(IO[bytes], packer))
        graphs[graph] = out.getvalue()
    return graphs


def _make_parts(
    work: ViewWork, text: str, runner: Runner, key: str, journal: Journal, told: Progress
) -> list[str]:
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
        replace_file(place / missing[number], data)
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
        made.append(partial(_divide, work, branch, anchor, size, others))
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


def _divide(work: ViewWork, branch: ViewBranch, anchor: Anchor, size: int, others: bool) -> Iterator[str]:
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


_BATCH = 20_000
"""Triples sent to a server at a time."""
_LARGE = 100_000
"""Triples of a source from which on views are worked out in a process of their own."""


def fill(kg: KnowledgeGraph, text: str, graph: str, parts: PartsJob | None) -> None:
    """Put what a CONSTRUCT query gives over the asserted triples into a graph that is not in sight yet."""
    if not isinstance(kg.store, OxigraphStore):
        with _copy(kg) as (local, copy), _answer(local, text, copy, parts) as lines:
            for batch in _batches(lines):
                kg.store.insert(batch, graph)
        return
    size = kg.record.triples
    with (
        _answer(kg.store, text, kg.dataset("asserted"), parts, size) as lines,
        Landing(kg.store, graph) as landing,
    ):
        for piece in lines:
            landing.write(piece)


@contextmanager
def _answer(
    store: OxigraphStore, text: str, dataset: Dataset, parts: PartsJob | None, triples: int = 0
) -> Iterator[Iterator[bytes]]:
    """Give the N-Triples of a query in pieces of whole lines."""
    if parts is not None:
        with answered(store, text, dataset, parts) as pieces:
            yield pieces
        return
    # The engine lets one thread of a process work at a time, so a long query goes to another process.
    apart = store.path is not None and triples > _LARGE
    lines = (store.workers.serialise if apart else store.serialise)(text, dataset)
    yield iter((named(lines, store.engine, text) if has_blank_nodes(text) else lines,))


@contextmanager
def _copy(kg: KnowledgeGraph) -> Iterator[tuple[OxigraphStore, Dataset]]:
    """Give a copy of a server's triples in a store of this process.

    Servers cut long answers without saying so, end long queries, and may group rows in another order.
    """
    copy = Dataset(("urn:mrag:copy",))
    with Scratch("view") as folder, OxigraphStore(folder / "store") as local:
        for number, graph in enumerate(kg.dataset("asserted").default):
            path = folder / f"{number}.nt"
            with path.open("wb") as out:
                kg.store.dump(graph, out)
            local.bulk_load([Source.of(path)], copy.default[0])
            path.unlink()
        expected = kg.count()
        if (had := local.count(copy.default[0])) != expected:
            raise EndpointError(
                f"The server gave {had:,} of {expected:,} triples, so the view would lack some.",
                endpoint=kg.store.url,
                hint="Let it answer at greater length; for Virtuoso raise ResultSetMaxRows in virtuoso.ini.",
            )
        yield local, copy


def _batches(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        lines = BytesIO(piece)
        while batch := list(islice(lines, _BATCH)):
            yield b"".join(batch)


@dataclass(frozen=True)
class View:
    """How a knowledge graph is made from another.

    Attributes:
        name: What to call it, such as `fashion/images`.
        query: A CONSTRUCT query of the catalogue, over the asserted triples of the source.
        ontology: File of `ontology/` that belongs to the view.
        summary: What it holds, in words.
    """

    name: str
    query: str
    ontology: str
    summary: str

    @property
    def short(self) -> str:
        """Return the last part of the name, by which knowledge graphs made from it are called."""
        return self.name.rpartition("/")[2]

    def digest(self) -> str:
        """Return a fingerprint of query and ontology."""
        schema = (files("mrag") / "ontology" / self.ontology).read_bytes() if self.ontology else b""
        parts = queries.get(self.query).text.encode() + b"\0" + schema
        return hashlib.blake2b(parts, digest_size=8).hexdigest()


VIEWS: Mapping[str, View] = {
    view.name: view
    for view in (
        View(
            "fashion/garments", "kg/fashion/garments", "fashionpedia-garments.ttl",
            "images with garments, each with its own attributes",
        ),
        View(
            "fashion/images", "kg/fashion/images", "fashionpedia-images.ttl",
            "images with a sentence for each annotation",
        ),
        View(
            "fashion/cel", "kg/fashion/cel", "fashionpedia-cel.ttl",
            "images linked to the categories and attributes that they show",
        ),
    )
}  # fmt: skip
"""The views that come with the package, by name; the largest first."""


def make_view(
    kg: KnowledgeGraph,
    view: View | str,
    into: str,
    *,
    runner: Runner | None = None,
    journal: Path | None = None,
    on_progress: Progress | None = None,
) -> KnowledgeGraph:
    """Make a view of a knowledge graph, or make it anew, in one step.

    Until the last transaction, and after a crash, a view made before is as it was. Nothing is inferred in
    the new one; `mrag.reasoning.run.reason` does that. The query runs in the embedded engine; of a server
    the source is fetched first.

    Args:
        kg: The source; its asserted triples are read.
        view: A view, or the name of one of `VIEWS`.
        into: Name of the knowledge graph to make, in the same store.
        runner: What answers the query in parts; in one go if left out. The triples are the same.
        journal: A folder for the parts that are done, from which a job that was broken off goes on; it is
            removed at the end.
        on_progress: Called with the parts done, and the parts in all.

    Returns:
        The view. It shares the store of `kg`, so closing one closes both.

    Raises:
        ConfigError: If there is no such view, if `into` is the source or holds triples that no view
            made, or if the server reasons over all of its graphs at once.
        EndpointError: If a server does not give its triples whole.
        BlockingIOError: If another process works with that journal.
        StoreError: If a part has lost its worker too often.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> image = "<urn:1> a <http://example.org/Image> ; <http://example.org/hasFileName> '1.jpg'"
        >>> _ = kg.update(f"INSERT DATA {{ {image} }}")
        >>> make_view(kg, "fashion/images", "images").query("ASK { <urn:1> ?p '1.jpg' }")
        True
        >>> kg.close()
    """
    view = find(view)
    target = _open(kg, into)
    before = target.record
    old = _generations(target)
    if not old and before.triples:
        raise ConfigError(
            f"The knowledge graph {into!r} holds triples that no view made.",
            endpoint=kg.store.url,
            hint="Give the view another name, or forget those triples with `KnowledgeGraph.clear`.",
        )
    target.collect()
    target.begin("view")
    try:
        revision, source = before.revision + 1, _state(view, kg)
        graph = target.new_graph()
        parts = None if runner is None else PartsJob(runner, source, journal, on_progress)
        if schema := "".join(schema_lines(view.ontology)):
            kg.store.insert(schema.encode(), graph)
        fill(kg, queries.get(view.query).text, graph, parts)
        # What others added comes first, for that is where additions go; it stays where it is.
        added = tuple(g for g in before.asserted if g not in old) or (f"{target.iri}:asserted:0",)
        target.remove_doubles([(other, graph, graph) for other in added if kg.store.count(other)])
        asserted = (*added, graph)
        after = replace(before, asserted=asserted, inferred=(), added=(), revision=revision, reasoned=-1)
        after = replace(after, triples=target.counted(asserted), pending="", profile="")
        note = queries.get("update/view-made").bind(
            kg=[target.iri], g_state_part=[(graph, Literal(source), target.iri)]
        )
        target.commit(after, note)
    except BaseException:
        target.end()
        raise
    if journal is not None:
        rmtree(journal, ignore_errors=True)
    return target


def make_views(
    kg: KnowledgeGraph,
    names: Mapping[str, str],
    after: Callable[[View, KnowledgeGraph], object] | None = None,
    *,
    also: Sequence[Callable[[], object]] = (),
    threads: int = 3,
    runner: Runner | None = None,
    journals: Path | None = None,
    on_progress: Progress | None = None,
) -> dict[str, KnowledgeGraph]:
    """Make several views at a time, those that are up to date left as they are.

    Args:
        kg: The source.
        names: Name of the knowledge graph of each view, by the name of the view; the longest work first.
        after: Called with each view that was made anew and its knowledge graph, in the thread that made it.
        also: Other work for the same threads, such as to reason over the source.
        threads: How many at a time; of a large graph the queries run in processes of their own.
        runner: What answers their queries in parts, one view after the other; see `make_view`.
        journals: Folder of their journals.
        on_progress: Called with the parts of a view that are done, and its parts in all.

    Raises:
        ConfigError: As `make_view` does.
    """

    def one(name: str, into: str) -> KnowledgeGraph:
        if not stale(kg, name, into):
            return _open(kg, into)
        journal = None if journals is None else journals / find(name).short
        made = make_view(kg, name, into, runner=runner, journal=journal, on_progress=on_progress)
        if after is not None:
            after(find(name), made)
        return made

    with ThreadPoolExecutor(threads if runner is None else 1) as pool:
        running = {into: pool.submit(one, name, into) for name, into in names.items()}
        others = [pool.submit(work) for work in also]
        try:
            made = {into: done.result() for into, done in running.items()}
            for other in others:
                other.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return made


def refresh(kg: KnowledgeGraph, view: View | str, into: str) -> KnowledgeGraph:
    """Make a view anew if its source or its definition has changed since; arguments as for `make_view`."""
    return make_view(kg, view, into) if stale(kg, view, into) else _open(kg, into)


def stale(kg: KnowledgeGraph, view: View | str, into: str) -> bool:
    """Return whether a view is missing, or older than its source or its definition."""
    target = _open(kg, into)
    return _state(find(view), kg) not in _generations(target).values()


def find(view: View | str) -> View:
    """Return the view of a name."""
    if isinstance(view, View):
        return view
    if view not in VIEWS:
        raise ConfigError(f"There is no view {view!r}.", hint=f"There are: {', '.join(VIEWS)}.")
    return VIEWS[view]


def _open(kg: KnowledgeGraph, into: str) -> KnowledgeGraph:
    """Open the knowledge graph of a view; a new one does not take what the store held before for its own."""
    if into == kg.name:
        raise ConfigError(f"A view of {into!r} needs another name.", hint="Such as main-images.")
    if kg.store.capabilities.reasoning:
        raise ConfigError(
            "This server reasons over all of its graphs at once, so views would mix with their source.",
            endpoint=kg.store.url,
            hint="Use the embedded store, or a server that mrag reasons for.",
        )
    iri = f"urn:mrag:kg:{into}"
    try:
        graphs = () if read_record(kg.store, iri).kept else (f"{iri}:asserted:0",)
    except TermError:
        graphs = ()  # no name, as opening says
    return KnowledgeGraph(kg.store, into, prefixes=kg.prefixes, languages=kg.languages, graphs=graphs)


def _state(view: View, kg: KnowledgeGraph) -> str:
    """Return what a view was made from, as one text."""
    # Reasoning counts as a change, too, but not of the asserted triples.
    record = kg.record
    by_reasoning = record.reasoned == record.revision and not kg.as_found
    return f"{kg.iri} {record.revision - by_reasoning} {view.name} {view.digest()}"


def _generations(target: KnowledgeGraph) -> dict[str, str]:
    """Return those asserted graphs of a view that its query made, with what they were made from."""
    rows = target.store.select(
        queries.get("kg/view").bind(graph=list(target.record.asserted)), Dataset((SYSTEM,), (SYSTEM,))
    )
    return {str(graph): str(state) for graph, state in rows}
