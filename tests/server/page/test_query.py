"""The page, Query: tabs, parameters, saved queries, views of a result, and previews of updates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.server.browsing import NARROW, SIZES, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
PUT = "text => document.querySelector('.CodeMirror').CodeMirror.setValue(text)"
BY_VENDOR = "SELECT ?product { ?product ex:developedBy $vendor } ORDER BY ?product"


def put(page: Page, text: str) -> None:
    page.wait_for_selector("#editor .CodeMirror")
    page.evaluate(PUT, text)


@SIZES
def test_a_query_is_saved_filled_in_and_run_again(browser: Browser, base: str, size: tuple[int, int]) -> None:
    name = f"products of a vendor {size[0]}"
    with watched(browser, base, size, accept_downloads=True) as seen:
        page = seen.open("/#/query")
        put(page, BY_VENDOR)
        if size == NARROW:
            page.locator("#catalogue > summary").click()
        page.get_by_label("Save this query as").fill(name)
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector(f"[data-saved='{name}']")

        # Another tab, and the query comes back from the graph with a field for its parameter.
        page.get_by_role("button", name="New tab").click()
        assert not page.locator("#query-params").is_visible()
        page.locator(f"[data-saved='{name}']").click()
        page.get_by_label("$vendor").fill("ex:Ontotext")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector("#query-state:has-text('3 rows')")
        assert seen.overflow() <= 0

        # Text is text: it closes no quotes.
        page.get_by_label("$vendor").fill('x" } } DROP ALL #')
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector("#query-state:has-text('0 rows')")
        page.get_by_label("$vendor").fill("ex:Ontotext")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector("#query-state:has-text('3 rows')")
        with page.expect_download() as given:
            page.get_by_role("button", name="CSV").click()
        assert len(Path(given.value.path()).read_text().splitlines()) == 4

        # Tabs and history last as long as the browser keeps them.
        page.reload()
        page.wait_for_selector(f".query-tab button[aria-current]:has-text('{name}')")
        if size == NARROW:
            page.locator("#catalogue > summary").click()
        page.locator(".past summary").click()
        assert page.locator(".past li").count() == 1
        page.get_by_role("button", name=f"Remove {name}").click()
        page.wait_for_selector(f"[data-saved='{name}']", state="detached")


@SIZES
def test_inferred_triples_are_left_out_and_rows_are_drawn(
    browser: Browser, base: str, size: tuple[int, int]
) -> None:
    with watched(browser, base, size) as seen:
        page = seen.open("/#/query")
        put(page, "SELECT ?class (COUNT(?x) AS ?things) { ?x a ?class } GROUP BY ?class ORDER BY ?class")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("button", name="Chart").click()
        page.wait_for_selector("#query-other .chart svg")
        both = page.locator("#query-state").inner_text()
        page.get_by_label("with inferred triples").uncheck()
        page.get_by_role("button", name="Run", exact=True).click()
        seen.until(f"!['Running …', {both!r}].includes(document.getElementById('query-state').textContent)")
        assert int(page.locator("#query-state").inner_text().split()[0]) < int(both.split()[0])
        put(
            page,
            "SELECT ?who ?photo { VALUES (?who ?photo) { (ex:GraphDB <http://web.example/%3Cb%3Ea.png>)"
            " (ex:Redis <http://web.example/b.jpg>) } }",
        )
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("button", name="Gallery").click()
        page.wait_for_selector("#query-other .images figure")
        assert page.locator("#query-other figure a.placeholder").count() == 2
        assert seen.overflow() <= 0


@SIZES
def test_a_change_is_seen_before_it_is_made(browser: Browser, base: str, size: tuple[int, int]) -> None:
    thing = f"urn:hostile:{size[0]}"
    with watched(browser, base, size) as seen, httpx.Client(base_url=base) as client:
        page = seen.open("/#/query")
        put(page, f"INSERT DATA {{ <{thing}> rdfs:label {HOSTILE.replace(chr(34), chr(39))!r} }}")
        there = {"query": f"ASK {{ <{thing}> ?p ?o }}"}
        page.get_by_role("button", name="Preview the change").click()
        page.wait_for_selector("#query-change .triples")
        assert "1 triple added, 0 triples removed" in page.locator("#query-change").inner_text()
        assert client.get("/sparql", params=there).json()["boolean"] is False
        page.get_by_role("button", name="Make this change").click()
        page.wait_for_selector("#query-change:has-text('Done')")
        assert client.get("/sparql", params=there).json()["boolean"] is True
        assert seen.overflow() <= 0 and "owned" not in page.title()
        assert page.evaluate("document.querySelectorAll('main img, main b').length") == 0


def test_where_changes_are_off_none_are_offered(browser: Browser, read_only: str) -> None:
    with watched(browser, read_only) as seen:
        page = seen.open("/#/query")
        page.wait_for_selector(".saved:has-text('mrag serve'), .saved:has-text('--update')")
        assert not page.get_by_role("button", name="Save", exact=True).count()
        put(page, "DELETE WHERE { ?s ?p ?o }")
        page.get_by_role("button", name="Preview the change").click()
        page.wait_for_selector("#query-problem:has-text('Changes are off')")
    for path, body in (
        ("/api/saved", {"name": "x", "text": "ASK {}"}),
        ("/api/saved/remove", {"name": "x"}),
        ("/api/preview", {"update": "CLEAR ALL"}),
    ):
        assert httpx.post(read_only + path, json=body).status_code == 403


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/saved", {"name": "a:b", "text": "ASK {}"}, 400),
        ("/api/saved", {"name": "<b>", "text": "ASK {}"}, 400),
        ("/api/saved", {"name": "x", "text": ""}, 400),
        ("/api/saved", {"name": "x", "text": "A" * 60_000}, 400),
        ("/api/saved", {"name": "x", "text": "ASK {}", "author": "y"}, 400),
        ("/api/preview", {"update": "LOAD <http://other.example/>"}, 400),
        ("/api/preview", {"update": "SELECT * { ?s ?p ?o }"}, 400),
    ],
)
def test_what_cannot_be_done_is_said(base: str, path: str, body: dict[str, Any], status: int) -> None:
    reply = httpx.post(base + path, json=body)
    assert reply.status_code == status and len(reply.json()["error"]["message"]) > 10


def test_a_saved_query_is_no_data_and_is_replaced_only_if_wanted(base: str) -> None:
    with httpx.Client(base_url=base) as client:
        before = client.get("/api/about").json()
        made = {"name": "mine", "text": 'ASK { ?s ?p "} #" }', "comment": HOSTILE}
        assert client.post("/api/saved", json=made).status_code == 201
        assert client.post("/api/saved", json=made).status_code == 400
        assert (
            client.post("/api/saved", json={**made, "text": "ASK {}", "replacing": True}).status_code == 201
        )
        (kept,) = client.get("/api/saved").json()["queries"]
        assert (kept["name"], kept["text"], kept["comment"]) == ("mine", "ASK {}", HOSTILE)
        after = client.get("/api/about").json()
        assert (after["triples"], after["revision"]) == (before["triples"], before["revision"])
        seen = client.get("/sparql", params={"query": "ASK { ?q <https://w3id.org/mrag#queryText> ?t }"})
        assert seen.json()["boolean"] is False
        assert client.post("/api/saved/remove", json={"name": "mine"}).json() == {"removed": True}
        assert client.post("/api/saved/remove", json={"name": "mine"}).json() == {"removed": False}
