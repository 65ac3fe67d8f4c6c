"""Ontotext GraphDB: one repository is one knowledge graph, reasoned over by the server.

GraphDB tells asserted from inferred triples by pseudo-graphs, which stand for the layers here. Uploads are
transactions (RDF4J REST API; GraphDB documentation, "Explicit and implicit statements").
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from typing import Any, cast
from urllib.parse import quote

import pyoxigraph as ox
from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.errors import (
    ConfigError,
    EndpointError,
    IndexError_,
    MissingIndex,
    QueryRefused,
    QueryTimeout,
    StoreError,
    check_choice,
)
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT
from mrag.rdf.patterns import Count, Select, to_sparql, var
from mrag.rdf.terms import RDFS, Triple
from mrag.stores.base import Capabilities, Dataset, Limits, SelectResult, StoreLayers
from mrag.stores.http import NT, Access, Incomplete, NoResult, host, lines_of
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.sparql import DEFAULT, JSON_RESULTS, Caps, Dialect, Paths, StatementsStore, numbers

RULESETS = (
    "empty", "rdfs", "rdfs-optimized", "rdfsplus", "rdfsplus-optimized", "owl-horst", "owl-horst-optimized",
    "owl-max", "owl-max-optimized", "owl2-ql", "owl2-ql-optimized", "owl2-rl", "owl2-rl-optimized",
)  # fmt: skip


UNNAMED = "http://rdf4j.org/schema/rdf4j#nil"  # RDF4J's name for what is in no named graph
_LAYERS = (EXPLICIT, IMPLICIT), (EXPLICIT,)
_COPIED = 1_000_000  # Inferred triples that may be copied, to see them alone


class GraphDBStore(StatementsStore):
    """A repository of a GraphDB server.

    Args:
        url: The store's URL, for messages.
        address: URL of the repository, such as `http://localhost:7200/repositories/products`.
        access: How it is reached; `Access(token=…, token_kind="GDB")` for GraphDB's own tokens.

    Raises:
        ConfigError: If the address does not end with `/repositories/NAME`.
    """

    capabilities = Capabilities(reasoning=True, similarity=True, atomic=True)
    scratch = "urn:graph:scratch:"

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        base, mark, name = address.rpartition("/repositories/")
        if not mark or not name or "/" in name:
            hint = "Such as graphdb:http://localhost:7200/repositories/products."
            raise ConfigError("A GraphDB address ends with /repositories/NAME.", endpoint=url, hint=hint)
        super().__init__(
            url,
            Paths(address, f"{address}/statements", f"{address}/statements"),
            access,
            Dialect(
                name="GraphDB",
                seconds_parameter="timeout",
                raise_rows="Raise query-limit-results of the repository, or add a LIMIT.",
            ),
        )
        self._proven_seconds = 0.0
        self.base = base or host(address)
        self.repository = name
        self._contexts: list[str] | None = None
        self._copy: tuple[int, OxigraphStore] | None = None

    def layers(self) -> StoreLayers | None:
        """Return the server's asserted and inferred triples, also while there are none."""
        return StoreLayers((EXPLICIT,), (IMPLICIT,))

    def count(self, graph: str) -> int:
        """Count the triples of a graph or layer; the axioms of rules, which follow from nothing, are none."""
        if graph == IMPLICIT:
            text = queries.get("explore/size-of-data").text
            whole, asserted = (self.select(text, Dataset(g)).rows for g in _LAYERS)
            return int(str(whole[0][0])) - int(str(asserted[0][0]))
        if graph == EXPLICIT and not self._named():
            return self._size()  # which counts a triple in each of its graphs
        return super().count(graph)

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query, triple by triple."""
        if dataset.default == (IMPLICIT,):
            yield from self._inferred().construct(query, dataset)
        else:
            yield from super().construct(query, dataset)

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query within its limits; `extra` is put into a graph of its own while it runs."""
        if dataset.default == (IMPLICIT,):
            return self._inferred().bounded(query, dataset, limits, extra)
        return super().bounded(query, dataset, limits, extra)

    def close(self) -> None:
        """Close the connections."""
        if self._copy is not None:
            self._copy[1].close()
        super().close()

    def _inferred(self) -> OxigraphStore:
        """Return a copy of what is inferred and not asserted; `onto:implicit` has much that is both."""
        state = self._size()
        if self._copy is None or self._copy[0] != state:
            if (count := self.count(IMPLICIT)) > _COPIED:
                what = f"GraphDB cannot show inferred triples alone, and {count:,} are too many to copy."
                raise QueryRefused(what, endpoint=self.url, hint="Ask over all triples.")
            lines = BytesIO()
            self.dump(IMPLICIT, lines)
            if self._copy is not None:
                self._copy[1].close()
            self._copy = state, OxigraphStore()
            self._copy[1].insert(lines.getvalue(), IMPLICIT)
        return self._copy[1]

    def graphs(self) -> list[str]:
        """List the named graphs in order of name."""
        names = [row["contextID"] for row in self._table(f"{self.paths.query}/contexts", "contextID")]
        iris = sorted(n["value"] for n in names if n.get("type") == "uri")
        self._contexts = [name for name in iris if not name.startswith(self.scratch)]
        return self._contexts

    def _named(self) -> list[str]:
        return self.graphs() if self._contexts is None else self._contexts

    def prefixes(self) -> Mapping[str, str]:
        """Return the namespaces of the repository by prefix."""
        rows = self._table(f"{self.paths.query}/namespaces", "prefix", "namespace")
        return {row["prefix"]["value"]: row["namespace"]["value"] for row in rows}

    def remember(self, prefixes: Mapping[str, str]) -> None:
        """Add namespaces to the repository; those it has stay as they are."""
        known = self.prefixes()
        for prefix, namespace in sorted(prefixes.items()):
            if prefix and prefix not in known:
                url = f"{self.paths.query}/namespaces/{quote(prefix, safe='')}"
                plain = {"Content-Type": "text/plain"}
                data = namespace.encode()
                self.http.text(self.http.send("PUT", url, repeat=True, data=data, headers=plain))

    def _parameters(self, dataset: Dataset, seconds: float | None) -> Mapping[str, str]:
        parameters = dict(super()._parameters(dataset, seconds))
        if {EXPLICIT, UNNAMED} & {*dataset.default} and IMPLICIT not in dataset.default:
            parameters["infer"] = "false"
        return parameters

    def _seen(self, dataset: Dataset) -> Dataset:
        # Only without a dataset are all triples in sight, what follows from them, and all named graphs:
        # beside others, `onto:explicit` stands for what is in no named graph, or for nothing.
        if EXPLICIT not in dataset.default:
            return dataset
        contexts = self._named()
        if not dataset.named or set(contexts) <= {*dataset.named}:
            return Dataset((DEFAULT,))
        if IMPLICIT in dataset.default:
            what = "GraphDB shows inferred triples only beside all of its named graphs."
            raise QueryRefused(what, endpoint=self.url, hint="Leave FROM NAMED out, or onto:implicit.")
        return Dataset((UNNAMED, *contexts), dataset.named)

    def settings(self) -> dict[str, str] | None:
        """Return the repository's configuration, by local names; None where it may not be read."""
        try:
            text = self._get(f"{self.paths.query}/config", NT)
            quads = list(ox.parse(text, ox.RdfFormat.N_TRIPLES))
        except (EndpointError, SyntaxError):
            return None
        return {
            re.split("[#/]", q.predicate.value)[-1].removeprefix("graphdb."): getattr(q.object, "value", "")
            for q in quads
        }

    def _told_caps(self) -> Caps | None:
        """Read where the repository's configuration has answers end; None where it may not be read."""
        if (settings := self.settings()) is None:
            return None
        # Others that speak the protocol, such as mrag, know this graph in FROM alone.
        self.capabilities = replace(self.capabilities, apart="ruleset" in settings)
        rows, seconds = (settings.get(name, "0") for name in ("query-limit-results", "query-timeout"))
        if not (rows + seconds).isdigit():
            return None
        partial = settings.get(_THROWS) != "true" and int(seconds) > 0
        return Caps(int(rows) or None, int(seconds) if partial else None, _CONFIGURATION)

    def _check_end(self, query: str, seconds: float | None, began: float) -> None:
        """Raise if an answer took as long as the repository lets it, and is what it had until then.

        Where its configuration may not be read, a count that never ends tells: the server says nothing of it,
        or an error, when the time is over that it was given with the count.
        """
        took = time.monotonic() - began
        if took < 1:
            return  # the time is set in whole seconds
        caps = self.caps()
        if caps.told != _CONFIGURATION and took >= self._proven_seconds:
            wanted, since = math.ceil(took) + 1, time.monotonic()
            text = to_sparql(Select(((Count(), var("n")),), numbers(9)))
            try:
                with self._request(text, Dataset((DEFAULT,)), JSON_RESULTS, wanted) as response:
                    list(self._read(response, text))
                silent = True  # with or without a number
            except (StoreError, Incomplete, NoResult, UnicodeDecodeError):
                silent = False
            if silent:
                end = float(int(time.monotonic() - since))
                self._caps = caps = replace(caps, seconds=end, told=_CONFIGURATION)
            else:
                self._proven_seconds = float(wanted)
        if caps.seconds is not None and took >= caps.seconds:
            what = (
                f"The repository ends queries after {caps.seconds:.0f} s and gives what it has until then as "
            )
            what += "the answer, so that nobody can tell whether it is whole; nothing of it is used."
            hint = f"Set {_THROWS} to true or raise query-timeout in the repository, or narrow the query."
            raise QueryTimeout(what, endpoint=self.url, query=query, hint=hint)

    def _context(self, graph: str) -> Mapping[str, str]:
        if graph == EXPLICIT:
            return {}
        return {"context": "null"} if graph == UNNAMED else super()._context(graph)

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        if graph not in (EXPLICIT, IMPLICIT):
            yield from super()._graph_lines(graph)
            return
        # The statements of all contexts come once for each, and do not say which are inferred; a query does.
        text = queries.get("kg/inferred" if graph == IMPLICIT else "kg/graph").text
        response = self._query(text, Dataset((graph,)), NT, None)
        yield from self._watch(lines_of(self.http.chunks(response), NT), text)

    def server(self) -> str:
        """Return the server's name and version, and the repository's size."""
        size = self._size()
        try:
            info = json.loads(self._get(f"{self.base}/rest/info/version", "application/json"))
            version = f"GraphDB {info.get('productVersion', '')}".strip()
        except (EndpointError, ValueError, AttributeError):
            version = f"RDF4J protocol {self._get(f'{self.base}/protocol')}"
        return f"{version}, {size:,} asserted triples"

    def has_workbench(self) -> bool:
        """Return whether the server's Workbench can be reached, through which its indexes are made."""
        return GraphDBSimilarity(self).offered

    def repositories(self) -> list[str]:
        """List the server's repositories in order of name."""
        return sorted(row["id"]["value"] for row in self._table(f"{self.base}/repositories", "id"))

    def create(self, ruleset: str = "owl2-rl-optimized", *, title: str = "") -> None:
        """Make the repository on the server.

        Args:
            ruleset: One of `RULESETS`; the server reasons by it.
            title: What the workbench calls it.

        Raises:
            ConfigError: If there is no such ruleset.
            EndpointError: If the repository is there already, or the server refuses.
        """
        check_choice("ruleset", ruleset, RULESETS)
        if self.repository in self.repositories():
            what, hint = "There is such a repository already.", "Use it, or choose another name."
            raise EndpointError(what, endpoint=self.url, hint=hint)
        config = repository_config(self.repository, ruleset, title)
        try:
            sent = {"config": ("config.ttl", config, "text/turtle")}
            self.http.text(self.http.send("POST", f"{self.base}/rest/repositories", repeat=False, files=sent))
        except EndpointError as error:
            if error.status not in _CLOSED:
                raise
            # Without the Workbench, by the protocol of RDF4J.
            turtle = {"Content-Type": "text/turtle"}
            self.http.text(self.http.send("PUT", self.paths.query, repeat=False, data=config, headers=turtle))

    def _size(self) -> int:
        text = self._get(f"{self.paths.query}/size").strip()
        if not (text.isascii() and text.isdigit()):
            raise self.http.incomplete("it is no number of triples")
        return int(text)

    def _table(self, url: str, *names: str) -> list[dict[str, dict[str, str]]]:
        """Return the rows of a table, in which each of the columns has a value."""
        try:
            table = json.loads(self._get(url, "application/sparql-results+json"))
            rows = table["results"]["bindings"]
            if all(isinstance(row[name]["value"], str) for row in rows for name in names):
                return cast("list[dict[str, dict[str, str]]]", rows)
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise self.http.incomplete("it is no table of GraphDB's") from self.http.cause(error)
        raise self.http.incomplete("it is no table of GraphDB's")

    def _get(self, url: str, accept: str = "text/plain") -> str:
        return self.http.text(self.http.send("GET", url, repeat=True, headers={"Accept": accept}))


def repository_config(name: str, ruleset: str, title: str = "") -> bytes:
    """Return a repository configuration as Turtle (GraphDB documentation, "Repository configuration")."""
    from rdflib import Graph

    rep, graphdb = "http://www.openrdf.org/config/repository#", "http://www.ontotext.com/config/graphdb#"
    text = (files("mrag") / "stores" / "repository.ttl").read_text(encoding="utf-8")
    graph = Graph().parse(data=text, format="turtle")
    node = next(graph.subjects(URIRef(rep + "repositoryID")))
    sail = next(graph.subjects(URIRef(graphdb + "ruleset")))
    for subject, p, value in (
        (node, rep + "repositoryID", name),
        (node, RDFS + "label", title or name),
        (sail, graphdb + "ruleset", ruleset),
        # Else a functional property merges what a mistake gives it, and every answer has it many times.
        (sail, graphdb + "disable-sameAs", "true"),
    ):
        graph.set((subject, URIRef(p), RdfLiteral(value)))
    return graph.serialize(format="turtle").encode()


_THROWS = "throw-QueryEvaluationException-on-timeout"
_CONFIGURATION = "the repository's configuration"
SIM = "http://www.ontotext.com/graphdb/similarity/"
INSTANCE = SIM + "instance/"
_NAME = re.compile(r"[A-Za-z0-9\-_]+\Z")
_CLOSED = (401, 403, 404, 405, 410, 501)
_WORKING = ("CREATING", "BUILDING", "REBUILDING")
_ALL = Dataset((DEFAULT,))
_PATIENCE = 3600.0  # Seconds that an index may take to be built


@dataclass(frozen=True)
class ServerIndexInfo:
    """What the server tells of a similarity index."""

    name: str
    kind: str
    status: str
    query: str


class GraphDBSimilarity:
    """The similarity indexes of a GraphDB repository, of which those of texts can be made and searched.

    Args:
        store: The repository.
    """

    def __init__(self, store: GraphDBStore) -> None:
        self.store = store
        self._url = f"{store.base}/rest/similarity"
        self._headers = {"X-GraphDB-Repository": store.repository, "Accept": "application/json"}

    @property
    def offered(self) -> bool:
        """Return whether the server's Workbench, through which indexes are made, can be reached."""
        return self._told() is not None

    def indexes(self) -> list[ServerIndexInfo]:
        """List the indexes in order of name; none where the Workbench cannot be reached."""
        return sorted(map(_info, self._told() or ()), key=lambda info: info.name)

    def get(self, name: str) -> ServerIndexInfo:
        """Return what is known of an index."""
        indexes = {info.name: info for info in self.indexes()}
        if name not in indexes:
            there = ", ".join(indexes) or "none"
            what = f"There is no similarity index {name!r} on the server; there are: {there}."
            raise MissingIndex(what, hint="Build it with `mrag index`.")
        return indexes[name]

    def create(
        self, name: str, query: str, on_status: Callable[[str], None] | None = None
    ) -> ServerIndexInfo:
        """Make an index and wait until it is built.

        Args:
            name: Letters, digits, `-` and `_`.
            query: A SELECT of `?documentID ?documentText`, which sees inferred triples.
            on_status: Called with the status while waiting.
        """
        if not _NAME.match(name):
            raise ConfigError(f"{name!r} cannot name an index.", hint="Use letters, digits, - and _.")
        body = {
            "name": name,
            "type": "text",
            "options": "-termweight idf",
            "analyzer": "org.apache.lucene.analysis.en.EnglishAnalyzer",
            "stopList": None,
            "infer": True,
            "sameAs": True,
            "selectQuery": query,
            "searchQuery": queries.get("similarity/workbench-text").text,
            "analogicalQuery": "",
        }
        try:
            self._make("POST", body)
        except EndpointError as error:
            if error.status not in _CLOSED:
                raise
            what = "This GraphDB's Workbench (/rest), which makes the server's indexes, cannot be reached."
            hint = "Use minilm or another model."
            raise ConfigError(what, endpoint=self.store.url, hint=hint) from error
        return self._wait(name, on_status)

    def delete(self, name: str) -> None:
        """Remove an index."""
        self.get(name)
        http, named = self.store.http, {"name": name}
        http.text(http.send("DELETE", self._url, repeat=True, params=named, headers=self._headers))

    def search(self, name: str, text: str, k: int) -> list[tuple[str, float]]:
        """Return IRI and score of the documents most similar to a text, best first, ties by IRI."""
        row = (URIRef(INSTANCE + name), RdfLiteral(text), _parameters(k))
        return self._hits(queries.get("similarity/text").bind(index_term_parameters=[row]), k)

    def search_document(self, name: str, iri: str, k: int) -> list[tuple[str, float]]:
        """Return the documents most similar to that of an entity, itself left out."""
        row = (URIRef(INSTANCE + name), URIRef(iri), _parameters(k + 1))
        text = queries.get("similarity/entity").bind(index_entity_parameters=[row])
        return [hit for hit in self._hits(text, k + 1) if hit[0] != iri][:k]

    def _told(self) -> list[dict[str, Any]] | None:
        # In production a proxy often shows the repositories alone: such a path is then missing, closed, or
        # a page.
        try:
            response = self.store.http.send("GET", self._url, repeat=True, headers=self._headers)
            reply = json.loads(self.store.http.text(response) or "[]")
        except EndpointError as error:
            if error.status in _CLOSED:
                return None
            raise
        except json.JSONDecodeError:
            return None
        return reply if isinstance(reply, list) else None

    def _make(self, method: str, body: dict[str, Any]) -> None:
        headers = {**self._headers, "Content-Type": "application/json"}
        http, data = self.store.http, json.dumps(body).encode()
        http.text(http.send(method, self._url, repeat=False, data=data, headers=headers))

    def _hits(self, text: str, k: int) -> list[tuple[str, float]]:
        scores: dict[str, float] = {}
        for iri, score in self.store.select(text, _ALL):
            if isinstance(iri, URIRef):
                scores.setdefault(str(iri), float(str(score)) if score is not None else 0.0)
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:k]

    def _wait(self, name: str, on_status: Callable[[str], None] | None) -> ServerIndexInfo:
        deadline, pause = time.monotonic() + _PATIENCE, 0.1
        while True:
            info = self.get(name)
            if on_status is not None:
                on_status(info.status)
            if info.status not in _WORKING:
                break
            if time.monotonic() > deadline:
                what = f"The index {name!r} is not built after {_PATIENCE:.0f} s."
                hint = "Look at the server; it may still be at work."
                raise EndpointError(what, endpoint=self.store.url, hint=hint)
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)
        if info.status != "BUILT":
            what = f"The server could not build the index {name!r}: {info.status}."
            hint = "See the server's log; delete the index and try again."
            raise IndexError_(what, endpoint=self.store.url, hint=hint)
        return info


def _info(item: dict[str, Any]) -> ServerIndexInfo:
    return ServerIndexInfo(
        str(item.get("name", "")),
        "predication" if item.get("type") == "predication" else "text",
        str(item.get("status", "")).upper(),
        str(item.get("selectQuery", "")),
    )


def _parameters(k: int) -> RdfLiteral:
    return RdfLiteral(f"-numsearchresults {k:d}")
