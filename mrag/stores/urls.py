"""From the URL of a server to its store, with login and graphs taken out of it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from mrag.errors import ConfigError
from mrag.stores.base import TripleStore
from mrag.stores.engines import ENGINES, open_engine
from mrag.stores.fuseki import FusekiStore
from mrag.stores.graphdb import GraphDBStore
from mrag.stores.http import Access, access_from_env, is_address
from mrag.stores.sparql import Paths, SparqlStore
from mrag.stores.virtuoso import VirtuosoStore


def open_server(kind: str, address: str, access: Access | None = None) -> tuple[TripleStore, tuple[str, ...]]:
    """Open the store of a server.

    Args:
        kind: `graphdb`, `fuseki`, `virtuoso`, `sparql` or a key of `mrag.stores.engines.ENGINES`.
        address: Its URL; `user:password@` before the host is taken as the login, `graph=IRI` in the query
            part as a graph to read, and for `sparql` also `update=URL` and `graphs=URL`. Other parameters,
            such as a token, go with each request and are told nowhere.
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
    if kind == "graphdb":
        return GraphDBStore(url, plain, login), graphs
    if kind == "fuseki":
        return FusekiStore(url, plain, login), graphs
    if kind == "virtuoso":
        return VirtuosoStore(url, plain, login), graphs
    if kind in ENGINES:
        return open_engine(kind, url, plain, login), graphs
    given = dict(pairs)
    return SparqlStore(url, Paths(plain, given.get("update"), given.get("graphs")), login), graphs
