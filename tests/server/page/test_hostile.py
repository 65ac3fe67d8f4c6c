"""The page, hostile: names stay text in every view of results, and the API refuses in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.server.browsing import HOSTILE, INLINE, POLICIES, watched
from tests.server.page.conftest import SETTINGS
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCRIPT = "javascript:document.title='owned'"
FILLED = {"SCRIPT": SCRIPT, "PICTURE": json.dumps(HOSTILE + ".png"), "NAME": json.dumps(HOSTILE)}


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with mrag.connect() as kg:
        kg.insert([Triple(URIRef(SCRIPT), RDFS.label, Literal(HOSTILE))])
        with serving(kg, **SETTINGS) as url:
            yield url


@POLICIES
def test_no_view_of_results_runs_a_script(
    browser: Browser, served: str, size: tuple[int, int], bare: bool
) -> None:
    with watched(browser, served, size, bypass_csp=bare) as seen:
        for view, (query, drawn) in cases(__file__, "VIEWS").items():
            query = re.sub("|".join(FILLED), lambda word: FILLED[word[0]], query)
            page = seen.open(f"/#/query?query={quote(query, safe='')}", "#editor .CodeMirror")
            # In two clicks from a link: run, and choose how to see it.
            page.locator("#run").click()
            page.locator("#query-views").get_by_role("button", name=view, exact=True).click()
            page.wait_for_selector(f"#query-other {drawn}", state="attached")
            for link in page.locator("#query-other .chart-link, #query-other a").all()[:2]:
                assert not str(link.get_attribute("href") or "").startswith("javascript:"), view
            assert page.locator("#query-other :is(b, script), #query-other img[src='x']").count() == 0, view
            assert "owned" not in page.title(), view
            page.goto("about:blank")
        # There is no such picture, and the results table cleans texts in a document that runs nothing.
        seen.forgive("404 (Not Found)", INLINE)


ROWS = [
    row.split("\t") for row in Path(__file__).with_name("refused.tsv").read_text("utf-8").splitlines()[1:]
]
ROWS += [
    ["/api/verify", "400", '{"citations": [' + "{}, " * 2000 + "{}]}"],
    ["/api/saved", "400", '{"name": "x", "text": "' + "A" * 60_000 + '"}'],
    [f"/api/entity?iri=urn:{'x' * 3000}", "400", ""],
    ["/api/concepts", "400", '{"name": "x", "concept": "' + " and ".join(["ex:C"] * 80) + '"}'],
    ["/api/concepts", "400", '{"name": "x", "concept": "' + "(" * 4000 + "ex:C" + ")" * 3990 + '"}'],
    ["/api/learn", "400", '{"liked": ["ex:a"], "hits": ["ex:a"' + ', "ex:a"' * 500 + "]}"],
]


@pytest.mark.parametrize(("path", "status", "body"), ROWS, ids=lambda part: part[:60])
def test_what_cannot_be_done_is_said(client: httpx.Client, path: str, status: str, body: str) -> None:
    sent = {"content": body.encode(), "headers": {"content-type": "application/json"}}
    reply = client.post(path, **sent) if body else client.get(path)  # type: ignore[arg-type]
    assert reply.status_code == int(status), reply.text
    assert len(reply.json()["error"]) > 10 and reply.headers["cache-control"] == "no-store"
