"""A real server on a free port of this machine, and clients for it."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.server import engine
from mrag.server.running import config_of, create_app, listen
from mrag.server.settings import ServerSettings
from tests.conftest import opened
from tests.servers import oxigraph_server

# A process that parses keeps nothing of what it has parsed, and takes a quarter of a second to start: the
# next server may have it.
engine.close_all = lambda: None
SETTINGS = ServerSettings(port=0, workers=2, seconds=10.0, model="none")


class Running:
    """A server in a thread of this process, so that a test can look into it."""

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg = kg
        bound = listen(settings)
        self.url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        app = create_app(kg, settings)
        self.engine: Any = app.state.engine
        self._server = uvicorn.Server(config_of(app, settings))
        self._thread = threading.Thread(target=self._run, args=([bound],))
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("The server did not start.")
            self._thread.join(0.01)
        headers = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
        self.client = httpx.Client(base_url=self.url, timeout=60, headers=headers)

    def _run(self, sockets: list[socket.socket]) -> None:
        async def serve() -> None:
            self.loop = asyncio.get_running_loop()
            await self._server.serve(sockets)

        asyncio.run(serve())

    def select(self, query: str, **params: str) -> list[dict[str, str]]:
        """Return the rows of a query, each value as its text."""
        reply = self.client.get("/sparql", params={"query": query, **params})
        assert reply.status_code == 200, reply.text
        rows = reply.json()["results"]["bindings"]
        return [{name: cell["value"] for name, cell in row.items()} for row in rows]

    def update(self, text: str) -> httpx.Response:
        """Send an update that must be carried out."""
        reply = self.client.post("/update", data={"update": text})
        assert reply.status_code == 204, reply.text
        return reply

    def close(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()


@contextmanager
def running(kg: KnowledgeGraph, **settings: Any) -> Iterator[Running]:
    """Serve a knowledge graph while the block runs."""
    server = Running(kg, replace(SETTINGS, **settings))
    try:
        yield server
    finally:
        server.close()


demo = opened(lambda _: mrag.demo(model="none"), "session")
"""The demo graph, which no test changes."""


@pytest.fixture(scope="session")
def server(demo: KnowledgeGraph) -> Iterator[Running]:
    """A server of the demo graph that answers and does not change."""
    with running(demo) as found:
        yield found


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of the demo graph, which is in a store that is a server itself."""
    with oxigraph_server(tmp_path_factory.mktemp("oxigraph"), memory=True) as url, mrag.connect(url) as kg:
        load_demo(kg)
        with running(kg) as found:
            yield found


@pytest.fixture(params=["server", "remote"])
def either(request: pytest.FixtureRequest) -> Running:
    """A server of the demo graph, which is in an embedded store or in a server's."""
    found: Running = request.getfixturevalue(request.param)
    return found


def load_demo(kg: KnowledgeGraph) -> None:
    """Load the demo graph into a store, reason and index."""
    kg.load([Path(str(files("mrag") / "ontology" / "products.ttl"))])
    kg.reason()
    SimilarityIndexes.of(kg).build("main", model="none")


@contextmanager
def changing(place: str, folder: Path) -> Iterator[Running]:
    """Serve an empty graph that clients can change, in memory, in a folder or in a server's store."""
    with ExitStack() as opened:
        url = "oxigraph:" if place == "memory" else f"oxigraph:{folder / 'store'}"
        if place == "server":
            url = opened.enter_context(oxigraph_server(folder, memory=True))
        kg = opened.enter_context(mrag.connect(url))
        yield opened.enter_context(running(kg, update=True, workers=1))


@pytest.fixture(params=["memory", "folder", "server"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """A server of an empty graph that clients can change, in an embedded store or in a server's."""
    with changing(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=["memory", "folder"])
def writable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """The same in an embedded store alone."""
    with changing(request.param, tmp_path) as found:
        yield found
