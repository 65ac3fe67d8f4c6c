"""Runs the W3C's SPARQL 1.1 test cases against a server, over HTTP."""

import csv
import os
import tarfile
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pyoxigraph as ox
from rdflib import RDF, RDFS, BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.term import Node

MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
UT = Namespace("http://www.w3.org/2009/sparql/tests/test-update#")
HT = Namespace("http://www.w3.org/2011/http#")
CNT = Namespace("http://www.w3.org/2011/content#")
RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")
ROW = Namespace("urn:test:row:")
SHARED = Path(os.environ.get("MRAG_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
ARCHIVE = SHARED / "w3c_rdf_tests" / "rdf-tests-sparql10-11-12.tar.gz"
GENID = "urn:mrag:genid:"
NUMBERS = ("integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger")


@dataclass(frozen=True)
class Case:
    """One test of a manifest."""

    group: str
    name: str
    kind: str
    iri: URIRef
    manifest: Graph = field(repr=False, hash=False, compare=False)

    @property
    def key(self) -> str:
        """Return a short name that is unique in the suite."""
        return f"{self.group}/{str(self.iri).rpartition('#')[2]}"


class Failed(AssertionError):
    """A case did not give what it must."""


def unpack(target: Path) -> Path:
    """Unpack the suite and return the folder of SPARQL 1.1."""
    with tarfile.open(ARCHIVE) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(target, filter="data")
        else:  # before Python 3.11.4; the archive is a package's own
            archive.extractall(target)
    return next(target.rglob("sparql11"))


def cases(folder: Path, manifest: str = "manifest.ttl") -> list[Case]:
    """Return the cases of one manifest."""
    path = folder / manifest
    graph = Graph().parse(path, publicID=path.as_uri(), format="turtle")
    found = []
    for head in graph.objects(None, MF.entries):
        for entry in Collection(graph, head):
            kind = str(graph.value(entry, RDF.type)).rpartition("#")[2]
            name = str(graph.value(entry, MF.name))
            found.append(Case(folder.name, name, kind, URIRef(entry), graph))
    return found


class Suite:
    """Runs cases on a server whose default graph is apart from its named graphs."""

    def __init__(self, client: httpx.Client, repository: str = "main") -> None:
        self._client = client
        self._statements = f"/repositories/{repository}/statements"

    def run(self, case: Case) -> None:
        """Run one case; `Failed` says that it does not give what it must."""
        runners = {"Query": self._query, "CSV": self._query, "Update": self._update, "": self._protocol}
        kind = next(word for word in ("Syntax", *runners) if word in case.kind)
        (self._syntax if kind == "Syntax" else runners[kind])(case)

    def _query(self, case: Case) -> None:
        g = case.manifest
        action, expected = g.value(case.iri, MF.action), g.value(case.iri, MF.result)
        named = {str(n): _path(n) for n in g.objects(action, QT.graphData)}
        self._load([_path(d) for d in g.objects(action, QT.data)], named)
        query = URIRef(str(g.value(action, QT.query)))
        text = f"BASE <{query}>\n" + _path(query).read_text(encoding="utf-8")
        path = _path(expected)
        accept = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".srj": "application/json"}
        graph = path.suffix in (".ttl", ".rdf", ".nt") and not _is_table(path)
        media = "application/n-triples" if graph else accept.get(path.suffix, _JSON)
        reply = self._client.post(
            "/sparql", content=text.encode(), headers={"Content-Type": _QUERY, "Accept": media}
        )
        if reply.status_code != 200:
            raise Failed(f"{reply.status_code} {reply.text[:300]}")
        if graph:
            _same_graph(_graph(reply.content, "nt"), _graph(path.read_bytes(), "turtle", path.as_uri()))
        elif path.suffix == ".csv":
            _same_lines(reply.text, path.read_text(encoding="utf-8"))
        else:
            ordered = "order by" in text.lower()
            _same_table(_table(reply.content, media), _table_of(path), ordered=ordered)

    def _update(self, case: Case) -> None:
        g = case.manifest
        action, result = g.value(case.iri, MF.action), g.value(case.iri, MF.result)
        self._load(*_dataset(g, action))
        request = URIRef(str(g.value(action, UT.request)))
        text = f"BASE <{request}>\n" + _path(request).read_text(encoding="utf-8")
        reply = self._client.post("/update", content=text.encode(), headers={"Content-Type": _UPDATE})
        if reply.status_code != 204:
            raise Failed(f"{reply.status_code} {reply.text[:300]}")
        found = self._client.get(self._statements, headers={"Accept": "application/n-quads"})
        default, named = _dataset(g, result)
        expected = _quads(default, named)
        _same_dataset(ox.parse(found.content, ox.RdfFormat.N_QUADS), expected)

    def _syntax(self, case: Case) -> None:
        path = _path(case.manifest.value(case.iri, MF.action))
        updates = "Update" in case.kind
        kind = _UPDATE if updates else _QUERY
        url = "/update" if updates else "/sparql"
        text = f"BASE <{path.as_uri()}>\n".encode() + path.read_bytes()
        reply = self._client.post(url, content=text, headers={"Content-Type": kind})
        wanted = (400,) if case.kind.startswith("Negative") else (200, 204)
        if reply.status_code not in wanted:
            raise Failed(f"{reply.status_code} {reply.text[:300]}")

    def _protocol(self, case: Case) -> None:
        g = case.manifest
        self._load([], _dataset(g, case.iri)[1])
        requests = g.value(g.value(case.iri, MF.action), HT.requests)
        assert requests is not None, "The case has no requests."
        location = ""
        for request in Collection(g, requests):
            location = self._one_request(g, request, location) or location

    def _load(self, default: list[Path], named: dict[str, Path]) -> None:
        data = ox.serialize(_quads(default, named), format=ox.RdfFormat.N_QUADS) or b""
        reply = self._client.put(
            self._statements, content=data, headers={"Content-Type": "application/n-quads"}
        )
        assert reply.status_code == 204, reply.text

    def _one_request(self, g: Graph, request: Node, location: str) -> str | None:
        path = str(g.value(request, HT.absolutePath)).replace("$LOCATION$", location)
        path = path.replace(quote("$LOCATION$", safe=""), quote(location, safe=""))
        for prefix, mine in (("/sparql/", "/sparql"), ("/gsp", "/graphs")):
            if path.startswith(prefix):
                path = mine + path.removeprefix(prefix)
        headers = _headers(g, request)
        body = g.value(g.value(request, HT.body), CNT.chars)
        text = str(body or "").replace("$LOCATION$", location)
        coding = str(g.value(g.value(request, HT.body), CNT.characterEncoding) or "utf-8")
        content = text.encode(coding)
        if "host" in headers:
            del headers["host"]
        method = str(g.value(request, HT.methodName))
        reply = self._client.request(method, path, content=content or None, headers=headers)
        answer = g.value(request, HT.resp)
        statuses = [str(s).rpartition("#")[2] for s in g.objects(answer, MF.expectedStatus)]
        if statuses and not any(_status(s, reply.status_code) for s in statuses):
            raise Failed(f"{method} {path[:80]}: {reply.status_code}, not {statuses}. {reply.text[:200]}")
        _check_answer(g, answer, reply)
        return reply.headers.get("location")


_JSON = "application/sparql-results+json"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_CODES = {
    "OK": 200, "Created": 201, "Accepted": 202, "NoContent": 204, "BadRequest": 400, "NotFound": 404,
    "MethodNotAllowed": 405, "NotAcceptable": 406, "UnsupportedMediaType": 415,
}  # fmt: skip


def _status(name: str, code: int) -> bool:
    return code // 100 == int(name[10]) if name.startswith("StatusCode") else code == _CODES.get(name)


def _headers(g: Graph, request: Node) -> dict[str, str]:
    head = g.value(request, HT.headers)
    nodes = Collection(g, head) if head is not None else []
    return {str(g.value(n, HT.fieldName)).lower(): str(g.value(n, HT.fieldValue)) for n in nodes}


def _check_answer(g: Graph, answer: Node, reply: httpx.Response) -> None:
    kind = reply.headers.get("content-type", "").partition(";")[0]
    wanted = g.value(answer, MF.expectedBoolean)
    if wanted is not None and reply.json()["boolean"] is not bool(wanted.toPython()):
        raise Failed(f"{reply.text[:100]}, not {wanted}")
    form = str(g.value(answer, MF.expectedFormat) or "")
    tables = ("json", "xml", "csv", "tab-separated-values")
    if form in ("boolean", "tabular") and not kind.endswith(tables):
        raise Failed(f"{kind} is not {form}")
    if form == "RDF" and ox.RdfFormat.from_media_type(kind) is None:
        raise Failed(f"{kind} is not RDF")
    if g.value(answer, MF.expectedLocation) is not None and "location" not in reply.headers:
        raise Failed("There is no Location.")
    body = g.value(g.value(answer, HT.body), CNT.chars)
    if body is not None and reply.status_code == 200:
        base = str(reply.request.url)
        given = Graph().parse(reply.content, format=kind, publicID=base)
        expected = Graph().parse(data=str(body), format="turtle", publicID=base)
        _same_graph(_deskolemised(given), expected)


def _path(iri: Any) -> Path:
    return Path(str(iri).removeprefix("file://"))


def _dataset(g: Graph, node: Node | None) -> tuple[list[Path], dict[str, Path]]:
    named = {str(g.value(n, RDFS.label)): _path(g.value(n, UT.graph)) for n in g.objects(node, UT.graphData)}
    return [_path(d) for d in g.objects(node, UT.data)], named


def _quads(default: list[Path], named: dict[str, Path]) -> list[ox.Quad]:
    found: list[ox.Quad] = []
    for path, graph in [*((p, None) for p in default), *((p, n) for n, p in named.items())]:
        name = ox.NamedNode(graph) if graph else ox.DefaultGraph()
        format = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".rdf": ox.RdfFormat.RDF_XML}
        how = {"base_iri": path.as_uri(), "rename_blank_nodes": True, "lenient": True}
        for q in ox.parse(path=path, format=format[path.suffix], **how):  # type: ignore[arg-type]
            found.append(ox.Quad(q.subject, q.predicate, q.object, name))
    return found


def _term(term: Any) -> Node:
    """Return a term as rdflib has it; numbers by value, and names given to blank nodes as blank nodes."""
    if isinstance(term, ox.NamedNode):
        value = term.value
        return BNode(value.removeprefix(GENID)) if value.startswith(GENID) else URIRef(value)
    if isinstance(term, ox.BlankNode):
        return BNode(term.value)
    datatype = term.datatype.value
    if term.language:
        return Literal(term.value, lang=term.language.lower())
    if datatype.rpartition("#")[2] in NUMBERS:
        try:
            number = Decimal(term.value)
            written = format(number.normalize() + 0, "f") if number.is_finite() else term.value
            return Literal(written, datatype=URIRef(datatype), normalize=False)
        except InvalidOperation:
            pass
    if datatype.endswith("#boolean"):
        written = {"0": "false", "1": "true"}.get(term.value, term.value)
        return Literal(written, datatype=URIRef(datatype), normalize=False)
    plain = datatype.endswith("#string")
    return Literal(term.value) if plain else Literal(term.value, datatype=URIRef(datatype), normalize=False)


def _graph(data: bytes, format: str, base: str | None = None) -> Graph:
    forms = {"nt": ox.RdfFormat.N_TRIPLES, "turtle": ox.RdfFormat.TURTLE}
    found = Graph()
    for q in ox.parse(data, forms[format], base_iri=base, lenient=True):
        found.add((_term(q.subject), _term(q.predicate), _term(q.object)))
    return found


def _deskolemised(graph: Graph) -> Graph:
    return _graph(graph.serialize(format="nt").encode(), "nt")


def _same_graph(given: Graph, expected: Graph) -> None:
    if not isomorphic(given, expected):
        raise Failed(f"{len(given)} triples, {len(expected)} expected, not the same")


def _same_dataset(given: Any, expected: Any) -> None:
    def split(quads: Any) -> dict[str, Graph]:
        graphs: dict[str, Graph] = {}
        for q in quads:
            name = q.graph_name.value if isinstance(q.graph_name, ox.NamedNode) else ""
            graphs.setdefault(name, Graph()).add((_term(q.subject), _term(q.predicate), _term(q.object)))
        return graphs

    left, right = split(given), split(expected)
    if left.keys() != right.keys():
        raise Failed(f"graphs {sorted(left)}, {sorted(right)} expected")
    for name in left:
        _same_graph(left[name], right[name])


Rows = list[dict[str, Node]]


def _table(data: bytes, media: str) -> tuple[list[str], Rows] | bool:
    forms = {"text/tab-separated-values": ox.QueryResultsFormat.TSV}
    return _read(ox.parse_query_results(data, format=forms.get(media, ox.QueryResultsFormat.JSON)))


def _table_of(path: Path) -> tuple[list[str], Rows] | bool:
    kinds = ox.QueryResultsFormat
    forms = {".srx": kinds.XML, ".srj": kinds.JSON, ".tsv": kinds.TSV}
    if path.suffix in forms:
        return _read(ox.parse_query_results(path.read_bytes(), format=forms[path.suffix]))
    g = _graph(path.read_bytes(), "turtle", path.as_uri())
    head = g.value(predicate=RDF.type, object=RS.ResultSet)
    if (value := g.value(head, RS.boolean)) is not None:
        return bool(value.toPython())
    names = [str(v) for v in g.objects(head, RS.resultVariable)]
    solutions = sorted(g.objects(head, RS.solution), key=lambda s: int(str(g.value(s, RS["index"]) or 0)))
    rows = [
        {str(g.value(b, RS.variable)): g.value(b, RS.value) for b in g.objects(s, RS.binding)}
        for s in solutions
    ]
    return names, rows


def _read(found: Any) -> tuple[list[str], Rows] | bool:
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    names = [v.value for v in found.variables]
    return names, [{n: _term(row[n]) for n in names if row[n] is not None} for row in found]


def _is_table(path: Path) -> bool:
    return path.suffix == ".ttl" and "ResultSet" in path.read_text(encoding="utf-8")


def _same_table(given: Any, expected: Any, *, ordered: bool) -> None:
    if isinstance(expected, bool) or isinstance(given, bool):
        if given is not expected:
            raise Failed(f"{given}, {expected} expected")
        return
    (names, rows), (wanted_names, wanted) = given, expected
    if set(names) != set(wanted_names):
        raise Failed(f"variables {names}, {wanted_names} expected")
    if len(rows) != len(wanted) or not isomorphic(_as_graph(rows), _as_graph(wanted)):
        raise Failed(f"{len(rows)} rows, {len(wanted)} expected, not the same: {rows[:3]} {wanted[:3]}")
    if ordered and [_flat(r) for r in rows] != [_flat(r) for r in wanted]:
        raise Failed("not in the same order")


def _flat(row: dict[str, Node]) -> list[tuple[str, str]]:
    return sorted((n, "" if isinstance(t, BNode) else t.n3()) for n, t in row.items())


def _as_graph(rows: Rows) -> Graph:
    found = Graph()
    for row in rows:
        node = BNode()
        found.add((node, RDF.type, ROW["row"]))
        for name, term in row.items():
            found.add((node, ROW[name], term))
    return found


def _same_lines(given: str, expected: str) -> None:
    """Compare CSV as bags of rows; the order of the columns of `SELECT *` is the server's own."""

    def rows(text: str) -> list[list[tuple[str, str]]]:
        head, *lines = csv.reader(StringIO(text))
        named = [
            [(n, "_:" if c.startswith(("_:", GENID)) else c) for n, c in zip(head, row, strict=True)]
            for row in lines
        ]
        return sorted(sorted(row) for row in named)

    if rows(given) != rows(expected):
        raise Failed(f"{rows(given)[:4]}, {rows(expected)[:4]} expected")
