"""Several knowledge graphs on one server: each at its own address, with its own data, limits and page."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest
import uvicorn
from rdflib import RDFS, Literal, URIRef
from typer.testing import CliRunner

import mrag
from mrag.cli import app as cli
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.server.running import config_of, create_apps, listen
from mrag.server.settings import ServerSettings
from mrag.stores.oxigraph import OxigraphStore
from tests.server.browsing import SIZES, chromium, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SETTINGS = ServerSettings(port=0, model="none", workers=1, update=True)
TOKEN = "a-token-for-tests"


@contextmanager
def served(graphs: dict[str, KnowledgeGraph], settings: ServerSettings) -> Iterator[str]:
    """Serve knowledge graphs together."""
    bound = listen(settings)
    server = uvicorn.Server(config_of(create_apps(graphs, settings), settings))
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def people() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(URIRef("urn:ada"), RDFS.label, Literal("Ada"))])
        yield kg


@pytest.fixture(scope="module")
def url(people: KnowledgeGraph) -> Iterator[str]:
    with mrag.demo(model="none") as kg, served({"products": kg, "people": people}, SETTINGS) as found:
        yield found


def test_each_graph_answers_below_its_own_address(url: str) -> None:
    ada = {"query": "ASK { <urn:ada> ?p ?o }"}
    with httpx.Client(base_url=url, timeout=30) as client:
        assert client.get("/sparql", params=ada).json()["boolean"] is False
        assert client.get("/kg/people/sparql", params=ada).json()["boolean"] is True
        assert client.get("/kg/people").headers["location"] == "/kg/people/"
        assert "mrag" in client.get("/kg/people/").text
        for path in ("/", "/kg/people/"):
            about = client.get(f"{path}api/about").json()
            assert [one["path"] for one in about["graphs"]] == ["/", "/kg/people/"]
            (listed,) = client.get(f"{path}rest/repositories").json()
            assert listed["uri"] == f"{url}{path}repositories/main"
            assert client.get(f"{path}health").json() == {"status": "ok"}
        assert client.get("/kg/nobody/sparql", params=ada).status_code == 404
        # A change of one is none of the other.
        done = client.post("/kg/people/update", data={"update": "INSERT DATA { <urn:bob> <urn:p> 1 }"})
        assert done.status_code == 204
        bob = {"query": "ASK { <urn:bob> ?p ?o }"}
        assert client.get("/kg/people/sparql", params=bob).json()["boolean"] is True
        assert client.get("/sparql", params=bob).json()["boolean"] is False
        begun = client.post("/kg/people/repositories/main/transactions")
        assert begun.headers["location"].startswith(f"{url}/kg/people/repositories/main/transactions/")
        assert client.delete(begun.headers["location"]).status_code == 204


def test_a_token_guards_all_of_them_and_their_pages_are_open(people: KnowledgeGraph) -> None:
    settings = ServerSettings(port=0, model="none", workers=1, token=TOKEN)
    with (
        KnowledgeGraph(OxigraphStore()) as kg,
        served({"empty": kg, "people": people}, settings) as url,
        httpx.Client(base_url=url) as client,
    ):
        for path in ("/", "/kg/people/"):
            assert client.get(path).status_code == 200 and client.get(f"{path}health").status_code == 200
            assert client.get(f"{path}api/about").status_code == 401
            assert client.get(f"{path}sparql", params={"query": "ASK {}"}).status_code == 401
            given = {"Authorization": f"Bearer {TOKEN}"}
            assert client.get(f"{path}api/about", headers=given).status_code == 200
        other = {"Origin": "http://elsewhere.example", "Authorization": f"Bearer {TOKEN}"}
        assert client.post("/kg/people/api/ask", json={"question": "x"}, headers=other).status_code == 403


@SIZES
def test_the_page_switches_between_them(url: str, size: tuple[int, int]) -> None:
    with chromium() as browser:
        _switch(browser, url, size)


def _switch(browser: Browser, url: str, size: tuple[int, int]) -> None:
    with watched(browser, url, size) as seen:
        page = seen.open("/#/explore")
        page.wait_for_selector(".class-tree a")
        choice = page.get_by_label("Knowledge graph")
        assert choice.locator("option").all_inner_texts() == ["products", "people"]
        choice.select_option("people")
        page.wait_for_url("**/kg/people/#/explore")
        assert page.get_by_label("Knowledge graph").input_value() == "/kg/people/"
        page.get_by_label("Search for an entity").fill("urn:ada")
        page.keyboard.press("Enter")
        page.wait_for_selector("#explore-hits h3:has-text('Ada')")
        assert seen.overflow() <= 0
        page.get_by_label("Knowledge graph").select_option("products")
        page.wait_for_selector(".class-tree a:has-text('triple store'), .class-tree a:has-text('product')")
        assert "/kg/" not in page.url


def test_what_names_no_graph_is_refused(people: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="cannot name a graph"):
        create_apps({"main": people, "../x": people}, SETTINGS)
    with pytest.raises(ConfigError, match="at most 16"):
        create_apps({f"g{n}": people for n in range(17)}, SETTINGS)
    for wrong in ("people", "people=", "people=a --also people=b"):
        given = [part for one in wrong.split(" --also ") for part in ("--also", one)]
        found = CliRunner().invoke(cli, ["serve", "--store", "oxigraph:", *given])
        assert found.exit_code and "names no other store" in f"{found.exception}{found.output}"
