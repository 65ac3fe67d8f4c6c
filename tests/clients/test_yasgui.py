"""YASGUI in a real browser, on a page of another origin than the server's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from tests.server.browsing import WIDE, chromium
from tests.server.conftest import running
from tests.servers import Quiet, answering

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent
TOKEN = "a-long-random-token"
QUERY = """PREFIX ex: <https://w3id.org/mrag/demo/products#>
SELECT ?product ?vendor { ?product ex:developedBy ?vendor } ORDER BY ?product LIMIT 5"""
CONSTRUCT = """PREFIX ex: <https://w3id.org/mrag/demo/products#>
CONSTRUCT { ?v ex:develops ex:GraphDB } { ex:GraphDB ex:developedBy ?v }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(packages: Path) -> Iterator[str]:
    """Another server, which has the page."""
    assert (packages / "@triply" / "yasgui").is_dir()
    quiet = type("Files", (Quiet, SimpleHTTPRequestHandler), {})
    with answering(partial(quiet, directory=HERE)) as at:
        yield f"http://{at}"


@contextmanager
def opened(browser: Browser, site: str, **wanted: str) -> Iterator[Page]:
    """Open the page, its endpoint and token given in the address."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    context.set_default_timeout(20_000)
    try:
        page = context.new_page()
        page.goto(f"{site}/yasgui.html?{urlencode(wanted)}")
        yield page
    finally:
        context.close()


def test_yasgui_shows_a_table_and_a_graph(browser: Browser, site: str, demo: KnowledgeGraph) -> None:
    with (
        running(demo, cors_origins=(site,)) as server,
        opened(browser, site, endpoint=f"{server.url}/sparql") as page,
    ):
        page.evaluate("q => ask(q).then(() => {})", QUERY)
        page.wait_for_selector(".yasr table.dataTable tbody tr")
        rows = page.locator(".yasr table.dataTable tbody tr")
        assert rows.count() == 5
        assert "product" in page.inner_text(".yasr table.dataTable thead")
        page.evaluate("q => ask(q).then(() => {})", CONSTRUCT)
        page.wait_for_function("document.querySelector('.yasr').innerText.includes('develops')")


@pytest.mark.parametrize("path", ["/sparql", "/repositories/main"])
def test_yasgui_sends_a_token_after_asking_whether_it_may(browser: Browser, site: str, path: str) -> None:
    with (
        mrag.demo(model="none") as kg,
        running(kg, cors_origins=(site,), token=TOKEN) as server,
        opened(browser, site, endpoint=server.url + path, token=TOKEN) as page,
    ):
        page.evaluate("q => ask(q).then(() => {})", QUERY)
        page.wait_for_selector(".yasr table.dataTable tbody tr")


def test_yasgui_shows_what_the_server_says_of_an_error(
    browser: Browser, site: str, demo: KnowledgeGraph
) -> None:
    with (
        running(demo, cors_origins=(site,)) as server,
        opened(browser, site, endpoint=f"{server.url}/sparql") as page,
    ):
        page.evaluate("q => { ask(q).catch(() => {}) }", "SELECT ?s { ?s nonsense }")
        page.wait_for_selector(".yasr .errorResult")
        assert "line 1" in page.inner_text(".yasr .errorResult")


def test_a_page_that_the_server_does_not_know_gets_nothing(
    browser: Browser, site: str, demo: KnowledgeGraph
) -> None:
    with running(demo) as server, opened(browser, site, endpoint=f"{server.url}/sparql") as page:
        page.evaluate("q => { ask(q).catch(() => {}) }", QUERY)
        page.wait_for_selector(".yasr .errorResult")
        assert page.locator(".yasr table.dataTable tbody tr").count() == 0
