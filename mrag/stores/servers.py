"""From the URL of a server to its store, with login and graphs taken out of it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mrag.errors import ConfigError
from mrag.stores.base import TripleStore
from mrag.stores.dialect import Paths
from mrag.stores.fuseki import FusekiStore
from mrag.stores.graphdb import GraphDBStore
from mrag.stores.http import Access
from mrag.stores.sparql import SparqlStore, access_from_env
from mrag.stores.virtuoso import VirtuosoStore


def open_server(kind: str, address: str, access: Access | None = None) -> tuple[TripleStore, tuple[str, ...]]:
    """Open the store of a server.

    Args:
        kind: `graphdb`, `fuseki`, `virtuoso` or `sparql`.
        address: Its URL; `user:password@` before the host is taken as the login, `graph=IRI` in the query
            part as a graph to read, and for `sparql` also `update=URL` and `graphs=URL`.
        access: How it is reached; from the environment by default.

    Returns:
        The store and the graphs that the URL names.

    Raises:
        ConfigError: If the address is not one of HTTP.

    Example:
        >>> store, graphs = open_server("fuseki", "http://localhost:3030/products?graph=urn:g")
        >>> store.url, graphs
        ('fuseki:http://localhost:3030/products', ('urn:g',))
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "A server's address begins with http:// or https://.",
            endpoint=f"{kind}:{address}",
            hint=f"Write it as {kind}:http://host:port/…",
        )
    login = access_from_env(access)
    if parts.username:
        login = replace(login, user=parts.username, password=parts.password or "")
    own = ("graph", "update", "graphs") if kind == "sparql" else ("graph",)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    graphs = tuple(value for name, value in pairs if name == "graph")
    # The login stays out of what is shown and logged.
    place = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
    rest = urlencode([(n, v) for n, v in pairs if n not in own])
    plain = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), rest, ""))
    url = f"{kind}:{plain}"
    if kind == "graphdb":
        return GraphDBStore(url, plain, login), graphs
    if kind == "fuseki":
        return FusekiStore(url, plain, login), graphs
    if kind == "virtuoso":
        return VirtuosoStore(url, plain, login), graphs
    given = dict(pairs)
    return SparqlStore(url, Paths(plain, given.get("update"), given.get("graphs")), login), graphs
