"""The servers that mrag knows: those with an adapter of their own, and those known by their documentation.

QLever, Stardog, AllegroGraph, Amazon Neptune and RDF4J Server are records of `ENGINES`. None of them has been
run against these records; what is said of each stands in the documentation that its record names, and the
conformance suite is ready for a server of yours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from mrag.errors import ConfigError
from mrag.stores.fuseki import FusekiStore
from mrag.stores.graphdb import GraphDBStore
from mrag.stores.http import Access, access_from_env, is_address
from mrag.stores.sparql import Dialect, Paths, SparqlStore, StatementsStore
from mrag.stores.virtuoso import VirtuosoStore

QLEVER = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
_STARDOG = "tag:stardog:api:context:"
_CHUNK = 50_000


@dataclass(frozen=True)
class EngineRecord:
    """What an engine's documentation says of it."""

    source: str
    dialect: Dialect
    example: str
    address: str = r"https?://[^/]+(/.*)?"
    query: str = ""
    update: str = ""
    graphs: str = ""
    kind: type[SparqlStore] = SparqlStore


ENGINES: Mapping[str, EngineRecord] = {
    # Queries, updates and the graph store have one address; writing takes an access token. The default
    # graph shows all graphs, and has a name of its own. Triples come as Turtle, numbers unquoted,
    # whatever is asked for; requests of more than 100 MB are refused.
    "qlever": EngineRecord(
        "QLever documentation, 'Update' (docs.qlever.dev/update); QLever issues 1173, 1762 and 2597",
        Dialect(
            name="QLever", nt="text/turtle", by_form=True, chunk=_CHUNK, empty_pattern=False,
            unnamed=f"{QLEVER}default-graph", system_graphs=(f"{QLEVER}default-graph",),
        ),
        "http://localhost:7001",
    ),
    # Without a dataset a query sees the default graph alone, or all if `query.all.graphs` is set; the
    # graph store is at the database itself. `timeout` is in milliseconds.
    "stardog": EngineRecord(
        "Stardog documentation, 'HTTP API', 'Query Management' and 'stardog query execute'; "
        "Javadoc of com.complexible.stardog.Contexts",
        Dialect(
            name="Stardog", seconds_parameter="timeout", seconds_unit=1000, empty_pattern=False,
            unnamed=f"{_STARDOG}default", union=f"{_STARDOG}named",
        ),
        "http://localhost:5820/products",
        address=r"https?://[^/]+/[^/]+",
        query="/query",
        update="/update",
    ),
    # A superset of Sesame's protocol. The default graph of a query without a dataset shows all graphs.
    "allegrograph": EngineRecord(
        "AllegroGraph documentation, 'REST/HTTP interface' and 'SPARQL reference'",
        Dialect(name="AllegroGraph", empty_pattern=False),
        "http://localhost:10035/repositories/products",
        address=r"https?://[^/]+(/catalogs/[^/]+)?/repositories/[^/]+",
        query="/sparql",
        update="/sparql",
        graphs="/statements",
        kind=StatementsStore,
    ),
    # Every triple is in a named graph, and the default graph is the union of all. A request is a
    # transaction, and there are none of several. Requests of more than 150 MB are refused. They are not
    # signed here: where IAM is asked for, a signing proxy or ready headers do that.
    "neptune": EngineRecord(
        "Amazon Neptune user guide, 'SPARQL standards compliance', 'SPARQL HTTP API', 'Using the SPARQL "
        "1.1 Graph Store HTTP Protocol' and 'Amazon Neptune Limits'",
        Dialect(name="Amazon Neptune", unnamed=None, chunk=_CHUNK, empty_pattern=False),
        "https://localhost:8182",
        address=r"https?://[^/]+",
        query="/sparql",
        update="/sparql",
        graphs="/sparql/gsp/",
    ),
    # The default graph shows all contexts; `sesame:nil` names the triples outside of them.
    "rdf4j": EngineRecord(
        "RDF4J documentation, 'The RDF4J REST API'; Javadoc of org.eclipse.rdf4j.model.vocabulary.SESAME",
        Dialect(
            name="RDF4J", seconds_parameter="timeout", empty_pattern=False,
            unnamed="http://www.openrdf.org/schema/sesame#nil",
        ),
        "http://localhost:8080/rdf4j-server/repositories/products",
        address=r"https?://[^/]+(/.*)?/repositories/[^/]+",
        update="/statements",
        graphs="/statements",
        kind=StatementsStore,
    ),
}  # fmt: skip


ADAPTERS: Mapping[str, Callable[[str, str, Access], SparqlStore]] = {
    "graphdb": GraphDBStore,
    "fuseki": FusekiStore,
    "virtuoso": VirtuosoStore,
}
SERVERS = (*ADAPTERS, *ENGINES, "sparql")
"""Kinds of URLs of stores that are servers."""


def open_server(kind: str, address: str, access: Access | None = None) -> tuple[SparqlStore, tuple[str, ...]]:
    """Open the store of a server, and return it with the graphs that the URL names.

    In its address `user:password@` before the host is taken as the login, `graph=IRI` in the query part as a
    graph to read, and for `sparql` also `update=URL` and `graphs=URL`. Other parameters, such as a token, go
    with each request and are told nowhere.
    """
    if kind not in SERVERS:
        raise ConfigError(
            f"No store is of kind {kind!r}.",
            endpoint=f"{kind}:{address}",
            hint="Use oxigraph:PATH, " + ", ".join(f"{name}:http://…" for name in SERVERS) + ".",
        )
    if not is_address(address):
        raise ConfigError(
            "A server's address begins with http:// or https://, then come its name and port.",
            endpoint=f"{kind}:{address}",
            hint=f"Write it as {kind}:http://host:port/…, with %2F for a slash in a password.",
        )
    parts, login = urlsplit(address), access_from_env(access)
    if parts.username:
        login = replace(login, user=unquote(parts.username), password=unquote(parts.password or ""))
    own = ("graph", "update", "graphs") if kind == "sparql" else ("graph",)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    graphs = tuple(value for name, value in pairs if name == "graph")
    # The login stays out of what is shown and logged.
    place = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
    rest = [(n, v) for n, v in pairs if n not in own]
    url = f"{kind}:" + urlunsplit((parts.scheme, place, parts.path.rstrip("/"), urlencode(rest), ""))
    if kind != "sparql":
        # Their services have paths of their own, so what stands behind the path goes with each request.
        login, rest = replace(login, params={**login.params, **dict(rest)}), []
    plain = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), urlencode(rest), ""))
    if kind in ADAPTERS:
        return ADAPTERS[kind](url, plain, login), graphs
    if kind == "sparql":
        given = dict(pairs)
        return SparqlStore(url, Paths(plain, given.get("update"), given.get("graphs")), login), graphs
    record = ENGINES[kind]
    if not re.fullmatch(record.address, plain):
        raise ConfigError(
            f"This is no address of {record.dialect.name}.",
            endpoint=url,
            hint=f"Such as {kind}:{record.example}.",
        )
    paths = Paths(f"{plain}{record.query}", f"{plain}{record.update}", f"{plain}{record.graphs}")
    return record.kind(url, paths, login, record.dialect), graphs
