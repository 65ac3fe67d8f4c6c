"""The part of GraphDB's own REST calls that its clients use."""

from __future__ import annotations

import asyncio
import hmac
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import mrag
from mrag.server.engine import Engine
from mrag.server.forms import pairs
from mrag.server.protect import json_object
from mrag.server.rdf4j import repository
from mrag.server.sparql import accepts, one

OFFERED = "10.8.0"
"""Version of GraphDB whose calls are offered; clients compare it with what they need."""

_MOST_JSON = 1 << 20
_CONFIG = "https://www.openrdf.org/config/repository#"


async def repositories(request: Request) -> Response:
    """Handle `/rest/repositories`."""
    if request.method != "GET":
        raise HTTPException(
            403, "Repositories are made and removed with the mrag command, not over the network."
        )
    engine: Engine = request.app.state.engine
    return JSONResponse([_entry(request, engine)])


async def one_repository(request: Request) -> Response:
    """Handle `/rest/repositories/{id}`: its settings, as JSON or Turtle."""
    engine = repository(request)
    if request.method != "GET":
        raise HTTPException(403, "Repositories are changed with the mrag command, not over the network.")
    if accepts(request.headers.get("accept"), "text/turtle"):
        return Response(_config(engine), 200, None, "text/turtle")
    parameters = {
        "ruleset": _parameter("ruleset", "Ruleset", "owl2-rl" if engine.kg.record.inferred else "empty"),
        "enableFtsIndex": _parameter("enableFtsIndex", "Enable full-text search index", "false"),
        "readOnly": _parameter("readOnly", "Read-only", "false" if engine.settings.update else "true"),
        "queryTimeout": _parameter("queryTimeout", "Query timeout", str(int(engine.settings.seconds))),
    }
    entry = _entry(request, engine)
    body = {name: entry[name] for name in ("id", "title", "type", "sesameType", "location")}
    return JSONResponse({**body, "params": parameters})


async def download(request: Request) -> Response:
    """Handle `/rest/repositories/{id}/download-ttl`: the settings as a file."""
    engine = repository(request)
    name = {"Content-Disposition": f'attachment; filename="{engine.kg.name}-config.ttl"'}
    return Response(_config(engine), 200, name, "text/turtle")


async def size(request: Request) -> Response:
    """Handle `/rest/repositories/{id}/size`."""
    engine = repository(request)
    record, store = engine.kg.record, engine.kg.store
    inferred = await asyncio.to_thread(lambda: sum(store.count(g) for g in record.inferred))
    explicit = record.triples
    return JSONResponse({"inferred": inferred, "total": inferred + explicit, "explicit": explicit})


async def restart(request: Request) -> Response:
    """Handle `/rest/repositories/{id}/restart`, which has nothing to do."""
    repository(request)
    return PlainTextResponse("The repository needs no restart.", 202)


async def version(_request: Request) -> Response:
    """Handle `/rest/info/version`."""
    from mrag import __version__

    return JSONResponse(
        {"productType": "mrag", "productVersion": OFFERED, "implementation": f"mrag {__version__}"}
    )


async def security(request: Request) -> Response:
    """Handle `/rest/security`: whether a token is needed."""
    if request.method != "GET":
        raise HTTPException(403, "Access is set where the server is started, not over the network.")
    engine: Engine = request.app.state.engine
    return JSONResponse(engine.settings.token is not None)


async def free_access(_request: Request) -> Response:
    """Handle `/rest/security/free-access`."""
    return JSONResponse({"enabled": False, "authorities": [], "appSettings": {}})


async def login(request: Request) -> Response:
    """Handle `/rest/login`: the token, sent as the password, comes back as GraphDB's own kind of token.

    Older clients send the name in the address and the password in a header (`/rest/login/NAME`).
    """
    engine: Engine = request.app.state.engine
    given: dict[str, Any] = dict(request.path_params)
    given |= {"password": request.headers.get("x-graphdb-password")} if given else await _given(request)
    token = engine.settings.token
    password = given.get("password")
    if token is not None and not hmac.compare_digest(str(password).encode(), token.encode()):
        raise HTTPException(401, "The password is the server's token.")
    body = _user(engine, str(given.get("username", "")))
    return JSONResponse(body, headers={"Authorization": f"GDB {token or 'none'}"})


async def user(request: Request) -> Response:
    """Handle `/rest/security/authenticated-user`: what whoever came in with the token may do."""
    return JSONResponse(_user(request.app.state.engine, "user"))


async def similarity(request: Request) -> Response:
    """Handle `/rest/similarity`: list, create, rebuild and delete similarity indexes."""
    engine: Engine = request.app.state.engine
    wanted = request.headers.get("x-graphdb-repository")
    if wanted and wanted != engine.kg.name:
        raise HTTPException(404, f"There is no repository {wanted[:100]!r}.")

    indexes = mrag.SimilarityIndexes.of(engine.kg)
    if request.method in ("GET", "HEAD"):
        found = await asyncio.to_thread(lambda: [_index(indexes.info(name)) for name in indexes.names()])
        return JSONResponse(found)
    engine.writer.writable()
    if request.method == "DELETE":
        name = one(pairs(request.scope["query_string"]), "name")
        await asyncio.to_thread(indexes.delete, name)
        return Response(status_code=200)
    given = await _given(request)
    name = str(given.get("name", ""))
    if given.get("type", "text") not in ("text", "textLiteral"):
        raise HTTPException(400, "Only text indexes can be built here.")
    await engine.writer.build_index(name, str(given.get("selectQuery") or ""), again=request.method == "PUT")
    return Response(status_code=201 if request.method == "POST" else 200)


def _index(info: Any) -> dict[str, Any]:
    return {
        "name": info.name,
        "type": "text",
        "status": "OUTDATED" if info.stale else "BUILT",
        "documents": info.documents,
        "embedder": info.embedder,
        "options": "",
        "infer": True,
        "sameAs": True,
        "selectQuery": _described(info.definition),
    }


def _described(definition: Any) -> str:
    return "" if definition is None else definition.select or ", ".join(definition.queries)


def _entry(request: Request, engine: Engine) -> dict[str, Any]:
    name = engine.kg.name
    url = f"{str(request.base_url).rstrip('/')}/repositories/{name}"
    return {
        "id": name,
        "title": f"mrag: {name}",
        "uri": url,
        "externalUrl": url,
        "local": True,
        "type": "graphdb",
        "sesameType": "graphdb:SailRepository",
        "location": "",
        "readable": True,
        "writable": engine.settings.update,
        "unsupported": False,
        "state": "RUNNING",
    }


def _user(engine: Engine, name: str) -> dict[str, Any]:
    roles = ["ROLE_USER", *([f"WRITE_REPO_{engine.kg.name}"] if engine.settings.update else [])]
    return {
        "username": name,
        "authorities": [*roles, f"READ_REPO_{engine.kg.name}"],
        "appSettings": {},
        "external": False,
    }


def _parameter(name: str, label: str, value: str) -> dict[str, str]:
    return {"name": name, "label": label, "value": value}


def _config(engine: Engine) -> bytes:
    import pyoxigraph as ox

    node, name = ox.BlankNode("repository"), engine.kg.name
    rows: list[tuple[str, Any]] = [
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", ox.NamedNode(_CONFIG + "Repository")),
        (_CONFIG + "repositoryID", ox.Literal(name)),
        ("http://www.w3.org/2000/01/rdf-schema#label", ox.Literal(f"mrag: {name}")),
    ]
    triples = [ox.Triple(node, ox.NamedNode(p), o) for p, o in rows]
    return ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes={"rep": _CONFIG}) or b""


async def _given(request: Request) -> dict[str, Any]:
    body = await request.body()
    if len(body) > _MOST_JSON:
        raise HTTPException(413, f"A description has at most {_MOST_JSON} bytes.")
    return json_object(body)
