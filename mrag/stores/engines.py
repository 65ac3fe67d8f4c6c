"""The servers that mrag knows: those with an adapter of their own, and those known by their documentation.

QLever, Stardog, AllegroGraph, Amazon Neptune and RDF4J Server are records of `engines.toml`. RDF4J Server is
run by the tests, like Fuseki, GraphDB's engine and Virtuoso. What is said of the others stands in the
documentation that each record names, and the conformance suite is ready for a server of yours.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from mrag.errors import ConfigError
from mrag.stores.fuseki import FusekiStore
from mrag.stores.graphdb import GraphDBStore
from mrag.stores.http import Access, access_from_env, is_address
from mrag.stores.sparql import Dialect, Paths, SparqlStore, StatementsStore
from mrag.stores.virtuoso import VirtuosoStore


@dataclass(frozen=True)
class EngineRecord:
    """What is known of an engine, mostly by its documentation."""

    source: str
    example: str
    dialect: Dialect
    address: str = r"https?://[^/]+(/.*)?"
    query: str = ""
    update: str = ""
    graphs: str = ""
    statements: bool = False


def _records() -> Mapping[str, EngineRecord]:
    known = tomllib.loads((files("mrag") / "stores" / "engines.toml").read_text(encoding="utf-8"))
    records = {}
    for kind, record in known.items():
        # None is known to list its graphs by an empty pattern.
        dialect: dict[str, Any] = {"empty_pattern": False, **record.pop("dialect")}
        dialect["system_graphs"] = tuple(dialect.get("system_graphs", ()))
        if record.pop("named_only", False):
            dialect["unnamed"] = None
        records[kind] = EngineRecord(dialect=Dialect(**dialect), **record)
    return records


ENGINES: Mapping[str, EngineRecord] = _records()
ADAPTERS: Mapping[str, Callable[[str, str, Access], SparqlStore]] = {
    "graphdb": GraphDBStore,
    "fuseki": FusekiStore,
    "virtuoso": VirtuosoStore,
}
SERVERS = (*ADAPTERS, *ENGINES, "sparql")  # Kinds of URLs of stores that are servers


def open_server(kind: str, address: str, access: Access | None = None) -> tuple[SparqlStore, tuple[str, ...]]:
    """Open the store of a server, and return it with the graphs that the URL names.

    In its address `user:password@` before the host is taken as the login, `graph=IRI` in the query part as a
    graph to read, and for `sparql` also `update=URL` and `graphs=URL`. Other parameters, such as a token, go
    with each request and are told nowhere.
    """
    if kind not in SERVERS:
        hint = "Use oxigraph:PATH, " + ", ".join(f"{name}:http://…" for name in SERVERS) + "."
        raise ConfigError(f"No store is of kind {kind!r}.", endpoint=f"{kind}:{address}", hint=hint)
    if not is_address(address):
        what = "A server's address begins with http:// or https://, then come its name and port."
        hint = f"Write it as {kind}:http://host:port/…, with %2F for a slash in a password."
        raise ConfigError(what, endpoint=f"{kind}:{address}", hint=hint)
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
        # Some answer a query for triples with a table where that may come, too.
        paths, each = Paths(plain, given.get("update"), given.get("graphs")), Dialect(by_form=True)
        return SparqlStore(url, paths, login, each), graphs
    record = ENGINES[kind]
    if not re.fullmatch(record.address, plain):
        hint = f"Such as {kind}:{record.example}."
        raise ConfigError(f"This is no address of {record.dialect.name}.", endpoint=url, hint=hint)
    paths = Paths(f"{plain}{record.query}", f"{plain}{record.update}", f"{plain}{record.graphs}")
    store = StatementsStore if record.statements else SparqlStore
    return store(url, paths, login, record.dialect), graphs
