"""Entities for the page: their triples, neighbourhood, history, images and paths, and the graph's classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlsplit

import pyoxigraph as ox
from rdflib import URIRef
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, Statement, read
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import RecordedChange, Status, mark, recorded, status_of
from mrag.rdf import queries
from mrag.rdf.terms import (
    RDF,
    RDFS,
    SKOLEM,
    OxTerm,
    Term,
    Triple,
    curie,
    from_ox,
    term_to_json,
    triple_to_json,
)
from mrag.reasoning.proofs import Proof
from mrag.server.web.validation import PageView, check_names, iri_value

if TYPE_CHECKING:
    from mrag.server.web.routes import Api

SCAN = 400  # edges of an entity up to which it is shown whole

SHARE = 40  # maximum number of edges of one predicate of an entity with more

_DESCRIPTIONS = (
    "http://purl.org/dc/terms/description",
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2004/02/skos/core#definition",
    RDFS + "comment",
    "http://dbpedia.org/ontology/abstract",
)


class DrawnLine(Protocol):
    """What a drawing needs of a line of context."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def triple(self) -> Triple:
        """The triple."""

    @property
    def status(self) -> Status:
        """Where it comes from."""

    @property
    def labels(self) -> tuple[str, str, str]:
        """Subject, predicate and object as shown."""


def status(inferred: bool) -> str:
    """Return the word for where a triple comes from."""
    return "inferred" if inferred else "asserted"


def drawing(lines: Iterable[DrawnLine], centre: str, label: str) -> dict[str, Any]:
    """Return lines as nodes and edges, the entity in the middle first; literals are left out."""
    nodes: dict[str, dict[str, Any]] = {centre: {"id": centre, "label": label, "kind": "centre"}}
    edges: list[dict[str, Any]] = []
    for line in lines:
        s, p, o = line.triple
        if not isinstance(o, URIRef) or str(s) == str(o):
            continue
        for end, name in ((str(s), line.labels[0]), (str(o), line.labels[2])):
            if end not in nodes:
                kind = "anonymous" if end.startswith(SKOLEM) else "entity"
                if end == str(o) and str(p) in (RDF + "type", RDFS + "subClassOf"):
                    kind = "class" if kind == "entity" else kind
                nodes[end] = {"id": end, "label": name, "kind": kind}
        edges.append(
            {
                "line": line.id,
                "s": str(s),
                "p": str(p),
                "o": str(o),
                "label": line.labels[1],
                "status": line.status,
            }
        )
    return {"centre": centre, "nodes": list(nodes.values()), "edges": edges}


def neighbourhood(kg: KnowledgeGraph, iri: str, hops: int) -> dict[str, Any]:
    """Return the neighbourhood of an entity as nodes and edges, bounded as a context is."""
    settings = ContextSettings(hops=hops, schema=False, max_triples=160, token_budget=8_000, scan=SCAN)
    context = expand(kg, [(iri, 1.0)], settings)
    lines = sorted(context.lines, key=lambda line: (line.hop, -line.score, line.text))
    return drawing(lines, iri, context.names[0])


def exists(kg: KnowledgeGraph, iri: str) -> bool:
    """Return whether an entity is the subject or object of any triple."""
    return any(read(kg, iri, way, scan=1, share=1).statements for way in ("out", "in"))


def triples(
    kg: KnowledgeGraph, iri: str, direction: Direction, display: Display
) -> tuple[list[Statement], dict[str, Any]]:
    """Read the triples that begin or end at an entity."""
    edges = read(kg, iri, direction, scan=SCAN, share=SHARE)
    display.prepare(sorted({end for st in edges.statements for end in _iris(st)}))
    rows = [statement_json(kg, st, display) for st in edges.statements]
    rows.sort(key=lambda r: _order(r, direction))
    more = sorted(display.predicate(p) for p in edges.cut)
    return list(edges.statements), {"triples": rows, "more": more}


def statement_json(kg: KnowledgeGraph, statement: Statement, display: Display) -> dict[str, Any]:
    """Return a triple with its labels and its status."""
    s, p, o, graph = statement
    return {
        "triple": {"s": _term(ox.NamedNode(s)), "p": _term(ox.NamedNode(p)), "o": _term(o)},
        "labels": [display.entity(s), display.predicate(p), display.term(o, 2_000)],
        "graph": graph,
        "status": status_of(graph, inferred=kg.is_inferred(graph)),
    }


def head(kg: KnowledgeGraph, iri: str, out: Iterable[Statement], display: Display) -> dict[str, Any]:
    """Return the head of an entity's page: label, types, description."""
    types: dict[str, bool] = {}
    texts: list[tuple[int, int, str]] = []
    for _, p, o, graph in out:
        if p == RDF + "type" and isinstance(o, ox.NamedNode) and not o.value.startswith(SKOLEM):
            types[o.value] = types.get(o.value, True) and kg.is_inferred(graph)
        elif p in _DESCRIPTIONS and isinstance(o, ox.Literal):
            texts.append((kg.language_rank(o.language or ""), _DESCRIPTIONS.index(p), o.value))
    return {
        "iri": iri,
        "label": display.entity(iri),
        "curie": curie(iri, kg.prefixes).strip("<>"),
        "types": [
            {"iri": t, "label": display.entity(t), "status": status(types[t])}
            for t in sorted(types, key=lambda t: (types[t], display.entity(t), t))
        ],
        "description": min(texts)[2] if texts else None,
    }


def proof_json(proof: Proof, display: Display) -> dict[str, Any]:
    """Return a proof as a tree with labels."""

    def shown(term: Term) -> str:
        if isinstance(term, URIRef):
            return display.name(str(term))
        return str(term)

    def tree(step: Proof) -> dict[str, Any]:
        s, p, o = step.triple
        return {
            "triple": triple_to_json(step.triple),
            "labels": [shown(s), display.predicate(p), shown(o)],
            "status": status(not step.asserted),
            "rule": step.rule,
            "axiom": step.axiom,
            "premises": [tree(premise) for premise in step.premises],
        }

    return tree(proof)


def _order(row: dict[str, Any], direction: Direction) -> tuple[bool, str, str, str]:
    terms, labels = row["triple"], row["labels"]
    other = 2 if direction == "out" else 0
    last = terms["o" if direction == "out" else "s"]["value"]
    return terms["p"]["value"] != RDF + "type", labels[1], labels[other].casefold(), last


def _iris(statement: Statement) -> Iterable[str]:
    s, p, o, _ = statement
    yield s
    yield p
    if isinstance(o, ox.NamedNode):
        yield o.value


def _term(term: OxTerm) -> dict[str, str]:
    return term_to_json(from_ox(term))


_OVER = ("clear", "replace")
_ASSERTING = ("load", "insert", "update", "concept", "repair", "replace")


@dataclass(frozen=True)
class Origin:
    """What brought some triples into the graph."""

    by: str = ""
    what: str = ""  # the file, question, model or concept; may be empty
    at: str = ""  # when, as an ISO 8601 date and time; empty where that is not known
    run: str = ""  # IRI of the run in Review; may be empty
    among: tuple[Origin, ...] = ()  # what it may have been


def origins(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Origin, list[Statement]]:
    """Return what brought statements into the graph, latest first, each with its statements."""
    import pyoxigraph as ox

    changes = _since_emptied(recorded(kg.store, kg.iri, 0, kg.revision))
    written = _written(kg, statements)
    latest = {m: c for c in changes if c.change.touched for m in c.change.touched.came}
    rest = {inferred: _rest(changes, kg.revision, inferred) for inferred in (False, True)}
    found: dict[Origin, list[Statement]] = {}
    for statement in statements:
        s, p, o, graph = statement
        inferred = kg.is_inferred(graph)
        origin = written.get(statement)
        if origin is None:
            change = latest.get(mark(ox.NamedNode(s), ox.NamedNode(p), o))
            known = change is not None and (change.change.by == "reasoning") == inferred
            origin = _origin(change) if change is not None and known else rest[inferred]
        found.setdefault(origin, []).append(statement)
    return {one: found[one] for one in sorted(found, key=lambda o: (o.at, o.by, o.what, o.run), reverse=True)}


def _since_emptied(changes: list[RecordedChange]) -> list[RecordedChange]:
    """Return the changes from the last one on after which nothing of before was left."""
    starts = [at for at, one in enumerate(changes) if one.change.by in _OVER]
    return changes[starts[-1] :] if starts else changes


def _rest(changes: Sequence[RecordedChange], revision: int, inferred: bool) -> Origin:
    """Return where statements come from that no mark accounts for."""
    if inferred:
        # Reasoning anew makes all that is inferred anew.
        whole = [c for c in changes if c.change.by == "reasoning" and c.change.touched is None]
        return _origin(whole[-1]) if whole else Origin()
    large = [c for c in changes if c.change.by in _ASSERTING and c.change.touched is None]
    begins = changes[:1] and (changes[0].since == 0 or changes[0].change.by in _OVER)
    ends = [*(c.since for c in changes[1:]), revision]
    if not large or not begins or [c.revision for c in changes] != ends:
        return Origin()
    return _origin(large[0]) if len(large) == 1 else Origin("several", among=tuple(map(_origin, large)))


def _origin(change: RecordedChange) -> Origin:
    return Origin(change.change.by, change.change.what, change.at)


def _written(kg: KnowledgeGraph, statements: Sequence[Statement]) -> Mapping[Statement, Origin]:
    """Return the runs of completion and of enrichment that wrote statements."""
    by_status: dict[str, list[Statement]] = {}
    for one in statements:
        by_status.setdefault(status_of(one[3], inferred=kg.is_inferred(one[3])), []).append(one)
    return {
        **_completed(kg, by_status.get("completed", [])),
        **_described_change(kg, by_status.get("enriched", [])),
    }


def _completed(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Statement, Origin]:
    from rdflib import URIRef

    from mrag.completion.review import run_heads, runs_stating
    from mrag.rdf.terms import Triple, from_ox

    if not statements:
        return {}
    triples = {Triple(URIRef(s), URIRef(p), from_ox(o)): one for one in statements for s, p, o, _ in [one]}
    heads = {run.iri: run for run in run_heads(kg)}
    found: dict[Statement, Origin] = {}
    for triple, runs in runs_stating(kg, list(triples)).items():
        for iri in sorted(run for run, state in runs.items() if state == "accepted" and run in heads):
            run = heads[iri]
            found[triples[triple]] = Origin("completion", run.question, run.decided or run.started, iri)
    return found


def _described_change(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Statement, Origin]:
    subjects = sorted({s for s, *_ in statements})
    known: dict[tuple[str, str], Origin] = {}
    for query in queries.get("provenance/describing").batches("subject", subjects):
        for subject, text, model, time, activity in kg.select(query):
            known[str(subject), str(text)] = Origin("enrichment", str(model), str(time), str(activity))
    keys = {one: (one[0], str(one[2].value)) for one in statements}
    return {one: known[key] for one, key in keys.items() if key in known}


PROPERTIES = frozenset(
    {
        "http://xmlns.com/foaf/0.1/depiction",
        "http://xmlns.com/foaf/0.1/img",
        "http://xmlns.com/foaf/0.1/thumbnail",
        "http://schema.org/image",
        "https://schema.org/image",
        "http://schema.org/thumbnailUrl",
        "https://schema.org/thumbnailUrl",
        "http://dbpedia.org/ontology/thumbnail",
        "http://www.wikidata.org/prop/direct/P18",
    }
)
"""Properties whose values are images, whatever they end in."""

KINDS = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""Endings of files that are served. SVG is not among them, because it can hold scripts."""

_ENDINGS = (*KINDS, ".svg", ".tif", ".tiff")
_MOST = 1_024


@dataclass(frozen=True)
class Image:
    """An image that the graph names."""

    entity: str  # IRI of what it shows
    value: str  # the IRI or text that names it
    web: bool  # whether it lies on the web, so that only a person may fetch it

    @property
    def name(self) -> str:
        """Return the name of the file, for people."""
        path = unquote(urlsplit(self.value).path) if _scheme(self.value) else self.value
        return path.rsplit("/", 1)[-1]


def images_among(statements: Iterable[Statement]) -> list[Image]:
    """Find the images among triples, in order of entity and value, each once."""
    found: set[tuple[str, str]] = set()
    for s, p, o, _ in statements:
        if isinstance(o, ox.BlankNode):
            continue
        value = o.value
        if len(value) > _MOST or (isinstance(o, ox.Literal) and any(c.isspace() for c in value)):
            continue
        path = urlsplit(value).path if _scheme(value) else value
        if p in PROPERTIES or path.lower().endswith(_ENDINGS):
            found.add((s, value))
    kept = [Image(s, v, _scheme(v) in ("http", "https")) for s, v in sorted(found)]
    return [image for image in kept if image.web or _scheme(image.value) in ("", "file")]


def file_of(image: Image, folder: Path | None) -> Path | None:
    """Return the file of an image, None if it may not or cannot be served."""
    if folder is None or image.web:
        return None
    named = unquote(urlsplit(image.value).path) if _scheme(image.value) == "file" else image.value
    if "\0" in named or urlsplit(image.value).netloc not in ("", "localhost"):
        return None
    root = folder.resolve()
    try:
        # An absolute path stays as it is; links are followed before the folder is compared.
        file = (root / named).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    if not file.is_relative_to(root) or file.suffix.lower() not in KINDS or not file.is_file():
        return None
    return file


def address(image: Image) -> str:
    """Return where the API serves an image."""
    return f"/api/image?entity={quote(image.entity, safe='')}&value={quote(image.value, safe='')}"


def _scheme(value: str) -> str:
    try:
        return urlsplit(value).scheme.lower()
    except ValueError:
        return "invalid"


CLASSES = 500  # maximum number of classes, of properties, and of named graphs that are listed

_SHARE = 60
_READ_AT_ONCE = 1_500
_LONGEST_PATH = 6


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes `/api/schema`, `/api/expand`, `/api/path` and `/api/history`."""
    view = ExploreView(api)
    works = {"schema": view.schema, "expand": view.expand, "path": view.path, "history": view.history}
    return [Route(f"/api/{name}", api.on_thread(work), methods=["GET"]) for name, work in works.items()]


class ExploreView(PageView):
    """Answers the requests of the view Explore beside search and entity."""

    def schema(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the classes with their counts and stated superclasses, the properties, and the graphs."""
        check_names(values)
        kept: dict[str, Any] = self.kg.cached("server/schema", self._schema)
        return kept

    def _schema(self) -> dict[str, Any]:
        from mrag.context.display import Display
        from mrag.rdf import queries
        from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
        from mrag.stores.base import Limits

        display = Display(self.kg)
        limits = Limits(min(self.api.settings.seconds, 10.0), 20_000)
        alien = (OWL, RDFS, RDF, SKOLEM)
        rows: Any = self.kg.query(queries.get("explore/classes").text, limits=limits)
        counts = {str(c): int(str(n)) for c, n in rows if not str(c).startswith(alien)}
        above: dict[str, list[str]] = {}
        for one, other in self.kg.select(queries.get("explore/subclasses").text, "asserted"):
            if not str(one).startswith(alien) and not str(other).startswith(alien):
                above.setdefault(str(one), []).append(str(other))
        names = sorted({*counts, *above, *(c for cs in above.values() for c in cs)})
        shown = sorted(names, key=lambda c: (-counts.get(c, 0), c))[:CLASSES]
        found = self.kg.profile().predicates
        properties = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:CLASSES]
        display.prepare(shown)
        return {
            "classes": [
                {
                    "iri": c,
                    "label": display.entity(c),
                    "instances": counts.get(c, 0),
                    "above": [a for a in above.get(c, []) if a in set(shown)],
                }
                for c in shown
            ],
            "properties": [{"iri": p, "label": display.predicate(p), "triples": n} for p, n in properties],
            "graphs": sorted(self.kg.record.contexts)[:CLASSES],
            "more": max(len(names), len(found), len(self.kg.record.contexts)) > CLASSES,
        }

    def expand(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the neighbourhood of an entity as nodes and edges."""
        check_names(values, "iri")
        name = str(iri_value(values, "iri", self.kg.prefixes))
        if not exists(self.kg, name):
            raise HTTPException(404, "The graph says nothing about this IRI.")
        return neighbourhood(self.kg, name, 1)

    def history(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return when the triples of an entity came into the graph, and by what, latest first."""
        from mrag.context.display import Display

        check_names(values, "iri")
        name = str(iri_value(values, "iri", self.kg.prefixes))
        display = Display(self.kg)
        parts = [triples(self.kg, name, way, display) for way in ("out", "in")]
        found = origins(self.kg, list(dict.fromkeys(statement for some, _ in parts for statement in some)))
        if not found:
            raise HTTPException(404, "The graph says nothing about this IRI.")
        events = [
            {**asdict(one), "triples": [statement_json(self.kg, st, display) for st in statements]}
            for one, statements in found.items()
        ]
        return {"events": events, "more": sorted({name for _, shown in parts for name in shown["more"]})}

    def path(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return a shortest path between two entities, links in either direction; classes are not crossed.

        The search reads at most 1,500 entities, and of a hub only some of its links.
        """
        from mrag.context.display import Display

        check_names(values, "from", "to")
        begin, end = (str(iri_value(values, part, self.kg.prefixes)) for part in ("from", "to"))
        for one in (begin, end):
            if not exists(self.kg, one):
                raise HTTPException(404, "The graph says nothing about this IRI.")
        steps, complete = self._between(begin, end)
        display = Display(self.kg)
        rows = None if steps is None else [statement_json(self.kg, step, display) for step in steps]
        return {"path": rows, "complete": complete}

    def _between(self, begin: str, end: str) -> tuple[list[Statement] | None, bool]:
        """Search from both ends in turn, the smaller side first."""
        if begin == end:
            return [], True
        came: tuple[dict[str, Statement | None], ...] = ({begin: None}, {end: None})
        edge: list[list[str]] = [[begin], [end]]
        read, complete = 0, True
        for _ in range(_LONGEST_PATH):
            side = 0 if len(edge[0]) <= len(edge[1]) else 1
            after: list[str] = []
            for node in edge[side]:
                if (read := read + 1) > _READ_AT_ONCE:
                    return None, False
                for other, statement, whole in self._links(node):
                    complete = complete and whole
                    if other in came[side]:
                        continue
                    came[side][other] = statement
                    if other in came[1 - side]:
                        return [*reversed(_back(came[0], other)), *_back(came[1], other)], complete
                    after.append(other)
            edge[side] = sorted(after)
            if not after:
                return None, complete
        return None, False

    def _links(self, node: str) -> Iterator[tuple[str, Statement, bool]]:
        import pyoxigraph as ox

        from mrag.context.neighbourhood import read
        from mrag.rdf.terms import OWL, RDF, RDFS

        for way in ("out", "in"):
            edges = read(self.kg, node, "out" if way == "out" else "in", scan=400, share=_SHARE)
            for statement in sorted(edges.statements, key=lambda s: (s[0], s[1], str(s[2]))):
                s, p, o, _ = statement
                if p.startswith((RDF, RDFS, OWL)) or not isinstance(o, ox.NamedNode):
                    continue
                yield (o.value if way == "out" else s), statement, not edges.cut


def _back(came: Mapping[str, Statement | None], node: str) -> list[Statement]:
    """Return the links from a node back to where the search began."""
    found: list[Statement] = []
    while (step := came[node]) is not None:
        found.append(step)
        s, o = step[0], str(step[2].value)
        node = s if o == node else o
    return found
