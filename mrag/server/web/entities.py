"""Entities for the page: their triples, neighbourhood, images and and paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pyoxigraph as ox
from rdflib import Literal, URIRef
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from mrag._tables import tables
from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, Statement, read
from mrag.context.render import Line
from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, Term, Triple, curie, from_ox, to_ox, triple_to_json
from mrag.reasoning.proofs import Proof, render
from mrag.reasoning.run import proof_of
from mrag.server.web.api import MAX_IRI, MAX_LITERAL, PageView, Values, int_value, iri_value, text_value

SCAN = 400  # edges of an entity up to which it is shown whole
SHARE = 40  # maximum number of edges of one predicate of an entity with more
_WAYS: tuple[Direction, ...] = ("out", "in")
IMAGE_HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
_TABLES = tables("server/shown.toml")
_DESCRIPTIONS: list[str] = _TABLES["descriptions"]
KINDS: Mapping[str, str] = _TABLES["kinds"]
_ENDINGS = (*KINDS, ".svg", ".tif", ".tiff")
_MOST = 1_024


def status(inferred: bool) -> str:
    """Return the word for where a triple comes from."""
    return "inferred" if inferred else "asserted"


def drawing(lines: Iterable[Line], centre: str, label: str) -> dict[str, Any]:
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
        ends = {"s": str(s), "p": str(p), "o": str(o)}
        edges.append({"line": line.id, **ends, "label": line.labels[1], "status": line.status})
    return {"centre": centre, "nodes": list(nodes.values()), "edges": edges}


def neighbourhood(kg: KnowledgeGraph, iri: str, hops: int) -> dict[str, Any]:
    """Return the neighbourhood of an entity as nodes and edges, bounded as a context is."""
    settings = ContextSettings(hops=hops, schema=False, max_triples=160, token_budget=8_000, scan=SCAN)
    context = expand(kg, [(iri, 1.0)], settings)
    lines = sorted(context.lines, key=lambda line: (line.hop, -line.score, line.text))
    return drawing(lines, iri, context.names[0])


def exists(kg: KnowledgeGraph, iri: str) -> bool:
    """Return whether an entity is the subject or object of any triple."""
    return any(read(kg, iri, way, scan=1, share=1).statements for way in _WAYS)


def triples(
    kg: KnowledgeGraph, iri: str, direction: Direction, display: Display
) -> tuple[list[Statement], dict[str, Any]]:
    """Return what begins or ends at an entity, and its JSON: types first, and the predicates with more."""
    edges = read(kg, iri, direction, scan=SCAN, share=SHARE)
    ends = {
        end
        for s, p, o, _ in edges.statements
        for end in (s, p, o.value if isinstance(o, ox.NamedNode) else s)
    }
    display.prepare(sorted(ends))
    other, last = (2, "o") if direction == "out" else (0, "s")

    def order(row: dict[str, Any]) -> tuple[bool, str, str, str]:
        terms, labels = row["triple"], row["labels"]
        return terms["p"]["value"] != RDF + "type", labels[1], labels[other].casefold(), terms[last]["value"]

    rows = sorted((statement_json(kg, st, display) for st in edges.statements), key=order)
    return list(edges.statements), {"triples": rows, "more": sorted(map(display.predicate, edges.cut))}


def statement_json(kg: KnowledgeGraph, statement: Statement, display: Display) -> dict[str, Any]:
    """Return a triple with its labels and its status."""
    s, p, o, graph = statement
    return {
        **label(Triple(URIRef(s), URIRef(p), from_ox(o)), display),
        "graph": graph,
        "status": status_of(graph, inferred=kg.is_inferred(graph)),
    }


def label(triple: Triple, display: Display, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a triple with its labels; `names` has those of entities that the graph does not know."""
    names, (s, p, o) = names or {}, triple
    start, end = (names.get(str(one)) for one in (s, o))
    labels = [start or display.entity(str(s)), display.predicate(str(p))]
    return {"triple": triple_to_json(triple), "labels": [*labels, end or display.term(to_ox(o), 2_000)]}


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
        return display.name(str(term)) if isinstance(term, URIRef) else str(term)

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

    @property
    def address(self) -> str:
        """Return where the API serves it."""
        return f"/api/image?entity={quote(self.entity, safe='')}&value={quote(self.value, safe='')}"


def images_among(statements: Iterable[Statement]) -> list[Image]:
    """Find the images among triples, in order of entity and value, each once."""
    images: set[tuple[str, str]] = set()
    for s, p, o, _ in statements:
        if isinstance(o, ox.BlankNode):
            continue
        value = o.value
        if len(value) > _MOST or (isinstance(o, ox.Literal) and any(c.isspace() for c in value)):
            continue
        path = urlsplit(value).path if _scheme(value) else value
        if p in _TABLES["images"] or path.lower().endswith(_ENDINGS):
            images.add((s, value))
    kept = [Image(s, v, _scheme(v) in ("http", "https")) for s, v in sorted(images)]
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


def pictures_among(
    statements: Iterable[Statement], folder: Path | None, display: Display
) -> list[dict[str, Any]]:
    """Return the images among triples: a link for those on the web, an address for those served here."""
    return [
        {
            "entity": image.entity,
            "label": display.entity(image.entity),
            "name": image.name,
            "link": image.value if image.web else None,
            "src": None if file_of(image, folder) is None else image.address,
        }
        for image in images_among(statements)[:_PICTURES]
    ]


def _scheme(value: str) -> str:
    try:
        return urlsplit(value).scheme.lower()
    except ValueError:
        return "invalid"


_SHARE = 60
_READ_AT_ONCE = 1_500
_LONGEST_PATH = 6
_PICTURES = 60


class ExploreView(PageView):
    """Answers the requests of the view Explore beside search."""

    def entity(self, values: Values) -> dict[str, Any]:
        """Return an entity: its triples in both directions, images, and neighbourhood."""
        name = str(iri_value(values, "iri", self.kg.prefixes))
        hops = int_value(values, "hops", 1, 1, 2)
        display = Display(self.kg)
        out, begins = triples(self.kg, name, "out", display)
        into, ends = triples(self.kg, name, "in", display)
        if not out and not into:
            raise _nothing()
        return {
            **head(self.kg, name, out, display),
            "out": begins,
            "in": ends,
            "images": pictures_among(out, self.api.media, display),
            "neighbourhood": neighbourhood(self.kg, name, hops),
        }

    def explain(self, values: Values) -> dict[str, Any]:
        """Prove a triple down to asserted ones."""
        if ("o" in values) == ("literal" in values):
            raise ConfigError("Give the object either as o (an IRI) or as literal.")
        prefixes = self.kg.prefixes
        end = iri_value(values, "o", prefixes) if "o" in values else _literal(values, prefixes)
        subject, predicate = (iri_value(values, part, prefixes) for part in ("s", "p"))
        proof = proof_of(self.kg, Triple(subject, predicate, end))
        if proof is None:
            raise HTTPException(404, "The graph does not hold this triple.")
        display = Display(self.kg)
        return {"proof": proof_json(proof, display), "text": render(proof, display.name)}

    async def image(self, _request: Request, values: Values) -> Response:
        """Serve an image file that the graph names for an entity, from below the media folder."""

        def find() -> Path | None:
            name = str(iri_value(values, "entity", self.kg.prefixes))
            value = text_value(values, "value")
            named = images_among(read(self.kg, name, "out", scan=2_000, share=200).statements)
            return next((file_of(one, self.api.media) for one in named if one.value == value), None)

        file = await self.api.run(self.api.readers, find)
        if file is None:
            raise HTTPException(404, "The graph names no such image, or it is not in the media folder.")
        return FileResponse(file, media_type=KINDS[file.suffix.lower()], headers=IMAGE_HEADERS)

    def expand(self, values: Values) -> dict[str, Any]:
        """Return the neighbourhood of an entity as nodes and edges."""
        return neighbourhood(self.kg, self._check(values, "iri"), 1)

    def path(self, values: Values) -> dict[str, Any]:
        """Return a shortest path between two entities, links in either direction; classes are not crossed.

        The search reads at most 1,500 entities, and of a hub only some of its links.
        """
        steps, complete = self._between(self._check(values, "from"), self._check(values, "to"))
        display = Display(self.kg)
        rows = None if steps is None else [statement_json(self.kg, step, display) for step in steps]
        return {"path": rows, "complete": complete}

    def _check(self, values: Values, name: str) -> str:
        """Return the IRI of an entity of which the graph says something."""
        entity = str(iri_value(values, name, self.kg.prefixes))
        if not exists(self.kg, entity):
            raise _nothing()
        return entity

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
        for way in _WAYS:
            edges = read(self.kg, node, way, scan=SCAN, share=_SHARE)
            for statement in sorted(edges.statements, key=lambda s: (s[0], s[1], str(s[2]))):
                s, p, o, _ = statement
                if not p.startswith((RDF, RDFS, OWL)) and isinstance(o, ox.NamedNode):
                    yield (o.value if way == "out" else s), statement, not edges.cut


def _back(came: Mapping[str, Statement | None], node: str) -> list[Statement]:
    """Return the links from a node back to where the search began."""
    statements: list[Statement] = []
    while (step := came[node]) is not None:
        statements.append(step)
        s, o = step[0], str(step[2].value)
        node = s if o == node else o
    return statements


def _nothing() -> HTTPException:
    return HTTPException(404, "The graph says nothing about this IRI.")


def _literal(values: Values, prefixes: Mapping[str, str]) -> Literal:
    text, kind, language = values["literal"], values.get("datatype") or "", values.get("lang") or ""
    if len(text) > MAX_LITERAL or len(kind) > MAX_IRI or len(language) > 64:
        raise ConfigError(f"A literal has at most {MAX_LITERAL} characters here.")
    datatype = iri_value(values, "datatype", prefixes) if kind else None
    try:
        literal = Literal(text, lang=language or None, datatype=datatype, normalize=False)
    except (ValueError, TypeError) as error:
        raise TermError("Not a literal: a bad language tag, or one with a datatype.") from error
    to_ox(literal)
    return literal
