"""The page, watching the server: a banner where answers rest on old ground, running queries, and errors."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.rdf.terms import Triple
from tests.conftest import PRODUCTS
from tests.server.browsing import NARROW, SIZES, watched
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "<img src=x onerror=document.title='owned'><b>bold</b>"
ENDLESS = f"""
SELECT (COUNT(*) AS ?n) {{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?c != "{HOSTILE}") }}"""


class Asking(threading.Thread):
    """A client of the endpoint whose query does not end by itself."""

    def __init__(self, url: str, seconds: str = "60") -> None:
        super().__init__(daemon=True)
        self.url, self.seconds = url, seconds
        self.reply: Any = None
        self.start()

    def run(self) -> None:
        data = {"query": ENDLESS, "timeout": self.seconds}
        self.reply = httpx.post(f"{self.url}/sparql", data=data, timeout=90)


@SIZES
def test_what_is_missing_is_said_on_every_view_and_mended(
    browser: Browser, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MRAG_EMBEDDER", "none")
    with mrag.connect() as kg:
        kg.load([PRODUCTS])
        with serving(kg, update=True, workers=2, seconds=60) as url, watched(browser, url, size) as seen:
            page = seen.open()
            for view in ("ask", "query", "explore"):
                page.evaluate("(view) => { location.hash = `#/${view}` }", view)
                page.wait_for_selector(
                    "#banner:has-text('Nothing has been inferred'):has-text('no search index')"
                )
            seen.click(page.get_by_role("link", name="Health"), "#health .state.bad >> nth=1")
            page.wait_for_selector("#health .checks-list li:has-text('query deadline')")
            page.locator("#health").get_by_role("button", name="Bring the inference up to date").click()
            seen.wait("#health .state.good:has-text('Inferences')")
            page.locator("#banner").get_by_role("button", name="Bring the index up to date").click()
            page.wait_for_selector("#banner", state="hidden")
            page.wait_for_selector("#health .state.good:has-text('Search index main')")
            page.wait_for_selector("#health .checks-list li.good:has-text('index main')")
            assert kg.reasoned

            asking, hurried = Asking(url), Asking(url, "0.2")
            page.wait_for_selector("#health .errors li:has-text('passed its deadline')")
            row = page.locator("#health .running li")
            page.wait_for_selector("#health .running li:has-text('COUNT')")
            assert row.count() == 1 and HOSTILE in row.inner_text()
            seen.click(row.get_by_role("button", name="Stop query"), "#health :text('No query is running.')")
            asking.join(30)
            hurried.join(30)
            assert asking.reply.status_code == 400 and "stopped by hand" in asking.reply.text
            assert hurried.reply.status_code == 503
            seen.plain()


def test_a_reader_is_told_and_changes_nothing(browser: Browser) -> None:
    with mrag.demo(model="none") as kg:
        kg.insert([Triple(URIRef("urn:new"), RDFS.label, Literal("A new thing"))])
        with serving(kg) as url:
            with watched(browser, url, NARROW) as seen:
                page = seen.open("/#/explore?q=thing")
                seen.wait("#banner:has-text('mrag reason'):has-text('mrag index')")
                assert not page.locator("#banner button").count()
            for path, body in (("refresh", {"what": "index"}), ("stop", {"id": 1})):
                assert httpx.post(f"{url}/api/health/{path}", json=body).status_code == 403
            asking = Asking(url, "1")
            listed: list[Any] = []
            while not listed and asking.is_alive():
                listed = httpx.get(f"{url}/api/health").json()["queries"]
            # What others ask is not for everybody.
            assert [one["text"] for one in listed] == [""] and not listed[0]["stoppable"]
            asking.join(30)
