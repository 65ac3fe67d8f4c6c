"""The page by axe-core: no view has a fault of WCAG 2.2 at levels A and AA, in light or in dark colours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mrag
from mrag.completion.review import accept, propose
from mrag.server.settings import ServerSettings
from tests.completion.towns import TURTLE, read
from tests.conftest import slow
from tests.server.browsing import NARROW, WIDE, watched
from tests.server.page.pictures import wardrobe
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AXE = Path(__file__).parents[2] / "clients" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = {
    "/#/ask?q=Which+vendor+develops+GraphDB%3F&how=read": "#answer .cite",
    "/#/ask?q=How+many+vendors+are+there+per+country%3F": "#computed pre",
    "/#/query": ".saved form",
    "/#/explore?iri=ex%3AGraphDB": "#explore-entity svg",
}
"""Views, and what shows that each is there."""
MORE = {
    "/#/explore": ".class-tree a",
    "/#/explore?iri=ex%3AGraphDB&view=graph": ".growing-frame canvas",
    "/#/images": "#images .note",
}
MAPPED = "/#/query?query=SELECT+*+%7B+VALUES+(%3Fp+%3Flat+%3Flong)+%7B+(%22a%22+1+2)+(%22b%22+2+3)+%7D+%7D"
DRAWN = "/#/query?query=SELECT+%3Fs+%3Fp+%3Fo+%7B+%3Fs+a+%3Fo+%3B+%3Fp+%3Fo+%7D+LIMIT+9"
OPENED = {
    MAPPED: ("#editor .CodeMirror", "#run", "#query-views button >> nth=1"),
    DRAWN: ("#editor .CodeMirror", "#run", "#query-views button:has-text('Graph')"),
}
"""What some views wait for, and what is clicked in them before they are looked at."""
MORE |= {path: ready for path, (ready, *_) in OPENED.items()}
IMAGES = {
    "/#/images": ".cell img[src]",
    "/#/images?q=red+coat": ".pictures .vote",
    "/#/images?iri=http%3A%2F%2Fexample.org%2Fimage_00001": ".stage img[src]",
}
SCHEMES = pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(WIDE, "light", id="light"),
        pytest.param(NARROW, "dark", id="dark", marks=pytest.mark.slow),
    ],
)
# Yasqe and Yasr are others' work: the limitations say that the editor does not support screen readers.
RUN = """async () => {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  // A drawing cuts long names short; the name that is read aloud is whole.
  const rules = { 'label-content-name-mismatch': { enabled: false } };
  const { violations } = await axe.run({ exclude: [['#editor'], ['#results']] }, { runOnly: tags, rules });
  return violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')}`);
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    if not AXE.is_file():
        reason = "axe-core is not installed: npm ci --ignore-scripts --prefix tests/clients"
        pytest.fail(reason) if os.environ.get("MRAG_REQUIRE_CLIENTS") else pytest.skip(reason)
    return AXE.read_text(encoding="utf-8")


@SCHEMES
@pytest.mark.parametrize("views", [VIEWS, *slow(MORE)], ids=["first", "more"])
def test_no_view_has_a_fault(
    browser: Browser, axe: str, base: str, views: dict[str, str], size: tuple[int, int], scheme: str
) -> None:
    assert not faults(browser, base, axe, views, size, scheme)


@pytest.mark.slow
@SCHEMES
def test_no_view_of_images_has_a_fault(
    browser: Browser, axe: str, size: tuple[int, int], scheme: str, tmp_path: Path
) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path, 70)
        with serving(kg, ServerSettings(model="none", update=True, media=media)) as url:
            assert not faults(browser, url, axe, IMAGES, size, scheme)


@pytest.mark.slow
@SCHEMES
def test_no_view_of_review_has_a_fault(
    browser: Browser, axe: str, size: tuple[int, int], scheme: str, tmp_path: Path
) -> None:
    source = tmp_path / "towns.ttl"
    source.write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([source])
        mrag.reason(kg)
        said = [read("bob", "livesIn", "visby"), read("ada", "knows", "bob"), read("ada", "wrote", "visby")]
        assert propose(kg, "Who lives where?", said, model="m") is not None
        done = propose(kg, "Where?", [read("bob", "bornIn", "lund")], model="m")
        assert done is not None
        views = {"/#/review": ".proposals input", f"/#/review?run={done.iri}": ".proposals mark"}
        with serving(kg, ServerSettings(model="none", update=True)) as url:
            assert not faults(browser, url, axe, views, size, scheme)
        accept(kg, done)
        views = {f"/#/review?run={done.iri}": ".state-accepted >> nth=1"}
        with serving(kg) as url:
            assert not faults(browser, url, axe, views, size, scheme)


def faults(
    browser: Browser, url: str, axe: str, views: dict[str, str], size: tuple[int, int], scheme: str
) -> list[str]:
    """Return what axe-core finds in views, each with its address."""
    found: list[str] = []
    for path, ready in views.items():
        with watched(browser, url, size, color_scheme=scheme, reduced_motion="reduce") as seen:
            page = seen.open(path)
            page.wait_for_selector(ready, state="attached")
            for click in OPENED.get(path, ())[1:]:
                page.locator(click).first.click()
            page.wait_for_timeout(200 if path in OPENED else 0)
            page.evaluate("scrollTo(0, 0)")  # what the head covers looks small to axe-core
            page.evaluate(axe)
            found += [f"{path}: {fault}" for fault in page.evaluate(RUN)]
    return found
