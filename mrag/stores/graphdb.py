"""Ontotext GraphDB: one repository is one knowledge graph, reasoned over by the server.

GraphDB tells asserted from inferred triples by pseudo-graphs, which stand for the layers here. Uploads are
transactions (RDF4J REST API; GraphDB documentation, "Explicit and implicit statements").
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, cast
from urllib.parse import quote

from mrag.errors import ConfigError, EndpointError
from mrag.rdf.guard import EXPLAIN, EXPLICIT, IMPLICIT
from mrag.stores.base import Capabilities, Dataset, Limits, SelectResult, StoreLayers
from mrag.stores.sparql import DEFAULT, Dialect, Paths, SparqlStore, StatementsStore
from mrag.stores.wire.http import Access, host

RULESETS = (
    "empty", "rdfs", "rdfs-optimized", "rdfsplus", "rdfsplus-optimized", "owl-horst", "owl-horst-optimized",
    "owl-max", "owl-max-optimized", "owl2-ql", "owl2-ql-optimized", "owl2-rl", "owl2-rl-optimized",
)  # fmt: skip


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

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        base, mark, name = address.rpartition("/repositories/")
        if not mark or not name or "/" in name:
            raise ConfigError(
                "A GraphDB address ends with /repositories/NAME.",
                endpoint=url,
                hint="Such as graphdb:http://localhost:7200/repositories/products.",
            )
        super().__init__(
            url,
            Paths(address, f"{address}/statements", f"{address}/statements"),
            access,
            Dialect(name="GraphDB", seconds_parameter="timeout"),
        )
        self.base = base or host(address)
        self.repository = name

    # -- layers ------------------------------------------------------------------------------------

    def layers(self) -> StoreLayers | None:
        """Return the server's asserted and inferred triples, also while there are none."""
        return StoreLayers((EXPLICIT,), (IMPLICIT,))

    def count(self, graph: str) -> int:
        """Count the triples of a graph or layer, by the server's own count where it has one."""
        if graph != EXPLICIT:
            return super().count(graph)
        return self._size()

    def graphs(self) -> list[str]:
        """List the named graphs in order of name."""
        names = [row["contextID"] for row in self._table(f"{self.paths.query}/contexts", "contextID")]
        return sorted(n["value"] for n in names if n.get("type") == "uri")

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
                response = self.http.send(
                    "PUT", url, repeat=True, data=namespace.encode(), headers={"Content-Type": "text/plain"}
                )
                self.http.text(response)

    def _parameters(self, dataset: Dataset, seconds: float | None) -> Mapping[str, str]:
        found = dict(super()._parameters(dataset, seconds))
        if set(dataset.default) == {EXPLICIT}:
            found["infer"] = "false"
        return found

    def _query(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> Any:
        if set(dataset.default) == {EXPLICIT, IMPLICIT} and not dataset.named:
            dataset = Dataset((DEFAULT,))
        return super()._query(query, dataset, accept, seconds)

    def _context(self, graph: str) -> Mapping[str, str]:
        return {} if graph == EXPLICIT else super()._context(graph)

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        # The statements of all contexts do not say which are inferred; a query does.
        found = SparqlStore._graph_lines if graph == IMPLICIT else StatementsStore._graph_lines
        yield from found(self, graph)

    def plan(self, query: str, limits: Limits) -> str | None:
        """Return how the server would go about a SELECT query, in its words (GraphDB's `onto:explain`).

        Args:
            query: A query that the read gate has let through.
            limits: Its caps; the server runs parts of a query to explain it.

        Returns:
            Its plan; None if it has none for this query.
        """
        found = self.bounded(query, Dataset((EXPLAIN,)), limits)
        if not isinstance(found, SelectResult) or found.variables != ("plan",) or not found.rows:
            return None
        return str(found.rows[0][0])

    # -- the server --------------------------------------------------------------------------------

    def server(self) -> str:
        """Return the server's name and version, and the repository's size.

        Raises:
            EndpointError: If it cannot be reached or has no such repository.
        """
        size = self._size()
        try:
            told = json.loads(self._get(f"{self.base}/rest/info/version", "application/json"))
            version = f"GraphDB {told.get('productVersion', '')}".strip()
        except (EndpointError, ValueError, AttributeError):
            version = f"RDF4J protocol {self._get(f'{self.base}/protocol')}"
        return f"{version}, {size:,} asserted triples"

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
        if ruleset not in RULESETS:
            raise ConfigError(
                f"GraphDB has no ruleset {ruleset!r}.", hint=f"There are: {', '.join(RULESETS)}."
            )
        if self.repository in self.repositories():
            raise EndpointError(
                "There is such a repository already.",
                endpoint=self.url,
                hint="Use it, or choose another name.",
            )
        config = repository_config(self.repository, ruleset, title)
        response = self.http.send(
            "POST",
            f"{self.base}/rest/repositories",
            repeat=False,
            files={"config": ("config.ttl", config, "text/turtle")},
        )
        self.http.text(response)

    def _size(self) -> int:
        text = self._get(f"{self.paths.query}/size").strip()
        if not (text.isascii() and text.isdigit()):
            raise self.http.incomplete("it is no number of triples")
        return int(text)

    def _table(self, url: str, *names: str) -> list[dict[str, dict[str, str]]]:
        """Return the rows of a table, in which each of the columns has a value."""
        try:
            found = json.loads(self._get(url, "application/sparql-results+json"))
            rows = found["results"]["bindings"]
            if all(isinstance(row[name]["value"], str) for row in rows for name in names):
                return cast("list[dict[str, dict[str, str]]]", rows)
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise self.http.incomplete("it is no table of GraphDB's") from self.http.cause(error)
        raise self.http.incomplete("it is no table of GraphDB's")

    def _get(self, url: str, accept: str = "text/plain") -> str:
        return self.http.text(self.http.send("GET", url, repeat=True, headers={"Accept": accept}))


def repository_config(name: str, ruleset: str, title: str = "") -> bytes:
    """Return the configuration of a repository as Turtle (GraphDB documentation, "Repository configuration").

    Args:
        name: The repository.
        ruleset: Its ruleset.
        title: What the workbench calls it.

    Example:
        >>> b'"owl2-rl-optimized"' in repository_config("products", "owl2-rl-optimized")
        True
    """
    from rdflib import Graph, Literal, URIRef

    rep, graphdb = "http://www.openrdf.org/config/repository#", "http://www.ontotext.com/config/graphdb#"
    graph = Graph()
    graph.parse(
        data=(files("mrag") / "stores" / "repository.ttl").read_text(encoding="utf-8"), format="turtle"
    )
    node = next(graph.subjects(URIRef(rep + "repositoryID")))
    graph.set((node, URIRef(rep + "repositoryID"), Literal(name)))
    graph.set((node, URIRef("http://www.w3.org/2000/01/rdf-schema#label"), Literal(title or name)))
    sail = next(graph.subjects(URIRef(graphdb + "ruleset")))
    graph.set((sail, URIRef(graphdb + "ruleset"), Literal(ruleset)))
    # GraphDB warns where sameAs is off under OWL, and where it is on under RDFS.
    graph.set((sail, URIRef(graphdb + "disable-sameAs"), Literal(str(not ruleset.startswith("owl")).lower())))
    return graph.serialize(format="turtle").encode()
