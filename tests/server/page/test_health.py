"""The page: a banner where answers rest on old ground, hostile names in every view, and axe-core's rules."""

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.completion.review import accept, propose
from mrag.rdf.terms import Triple
from tests.cases import beside, cases
from tests.completion.towns import FACTS, read
from tests.conftest import PRODUCTS, slow
from tests.server.browsing import HOSTILE, NARROW, POLICY, SIZES, WIDE, Browser, Size, watched
from tests.server.page.conftest import SETTINGS
from tests.server.page.pictures import wardrobe
from tests.server.serving import serving

MARKUP = "<img src=x onerror=document.title='owned'><b>bold</b>"
ENDLESS = f"""
SELECT (COUNT(*) AS ?n) {{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?c != "{MARKUP}") }}"""


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
    browser: Browser, size: Size, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
            assert row.count() == 1 and MARKUP in row.inner_text()
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


SCRIPT = "javascript:document.title='owned'"
FILLED = {"SCRIPT": SCRIPT, "PICTURE": json.dumps(HOSTILE + ".png"), "NAME": json.dumps(HOSTILE)}


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with mrag.connect() as kg:
        kg.insert([Triple(URIRef(SCRIPT), RDFS.label, Literal(HOSTILE))])
        with serving(kg, **SETTINGS) as url:
            yield url


@POLICY
def test_no_view_of_results_runs_a_script(browser: Browser, served: str, size: Size, bare: bool) -> None:
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
        seen.forgive("404 (Not Found)")  # there is no such picture


ROWS = [x.split("\t") for x in Path(__file__).with_name("refused.tsv").read_text("utf-8").splitlines()[1:]]
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


AXE = Path(__file__).parents[2] / "clients" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS: dict[str, dict[str, list[str]]] = cases(__file__)
"""Views by group: what shows that each is there, and what is clicked in it before it is looked at."""
SCHEMES = pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(WIDE, "light", id="light"),
        pytest.param(NARROW, "dark", id="dark", marks=pytest.mark.slow),
    ],
)
# Yasqe is others' work: the limitations say that the editor does not support screen readers.
RUN = beside(__file__, "axe.js")


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    if not AXE.is_file():
        reason = "axe-core is not installed: npm ci --ignore-scripts --prefix tests/clients"
        pytest.fail(reason) if os.environ.get("MRAG_REQUIRE_CLIENTS") else pytest.skip(reason)
    return AXE.read_text("utf-8")


@SCHEMES
@pytest.mark.parametrize("views", [VIEWS["first"], *slow(VIEWS["more"])], ids=["first", "more"])
def test_no_view_has_a_fault(
    browser: Browser, axe: str, base: str, views: dict[str, list[str]], size: Size, scheme: str
) -> None:
    assert not faults(browser, base, axe, views, size, scheme)


@pytest.mark.slow
@SCHEMES
def test_no_view_of_images_fails(browser: Browser, axe: str, size: Size, scheme: str, tmp_path: Path) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path, 70)
        with serving(kg, update=True, media=media) as url:
            assert not faults(browser, url, axe, VIEWS["images"], size, scheme)


@pytest.mark.slow
@SCHEMES
def test_no_view_of_review_fails(browser: Browser, axe: str, size: Size, scheme: str, tmp_path: Path) -> None:
    source = tmp_path / "towns.ttl"
    source.write_text(FACTS, "utf-8")
    with mrag.connect() as kg:
        kg.load([source])
        mrag.reason(kg)
        said = [read("bob", "livesIn", "visby"), read("ada", "knows", "bob"), read("ada", "wrote", "visby")]
        assert propose(kg, "Who lives where?", said, model="m") is not None
        done = propose(kg, "Where?", [read("bob", "bornIn", "lund")], model="m")
        views = {"/#/review": [".proposals input"], f"/#/review?run={done.iri}": [".proposals mark"]}
        with serving(kg, update=True) as url:
            assert not faults(browser, url, axe, views, size, scheme)
        accept(kg, done)
        views = {f"/#/review?run={done.iri}": [".state-accepted >> nth=1"]}
        with serving(kg) as url:
            assert not faults(browser, url, axe, views, size, scheme)


def faults(
    browser: Browser, url: str, axe: str, views: dict[str, list[str]], size: Size, scheme: str
) -> list[str]:
    """Return what axe-core finds in views, each with its address."""
    found: list[str] = []
    for path, (ready, *clicks) in views.items():
        with watched(browser, url, size, color_scheme=scheme, reduced_motion="reduce") as seen:
            page = seen.open(path)
            page.wait_for_selector(ready, state="attached")
            for click in clicks:
                page.locator(click).first.click()
            page.wait_for_timeout(200 if clicks else 0)
            page.evaluate("scrollTo(0, 0)")  # what the head covers looks small to axe-core
            page.evaluate(axe)
            found += [f"{path}: {fault}" for fault in page.evaluate(RUN)]
    return found
