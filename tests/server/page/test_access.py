"""The page by axe-core: no view has a fault of WCAG 2.2 at levels A and AA, in light or in dark colours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mrag
from mrag.completion.review import accept, propose
from tests.cases import beside, cases
from tests.completion.towns import TURTLE, read
from tests.conftest import slow
from tests.server.browsing import NARROW, WIDE, watched
from tests.server.page.pictures import wardrobe
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
# Yasqe and Yasr are others' work: the limitations say that the editor does not support screen readers.
RUN = beside(__file__, "axe.js")


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    if not AXE.is_file():
        reason = "axe-core is not installed: npm ci --ignore-scripts --prefix tests/clients"
        pytest.fail(reason) if os.environ.get("MRAG_REQUIRE_CLIENTS") else pytest.skip(reason)
    return AXE.read_text(encoding="utf-8")


@SCHEMES
@pytest.mark.parametrize("views", [VIEWS["first"], *slow(VIEWS["more"])], ids=["first", "more"])
def test_no_view_has_a_fault(
    browser: Browser, axe: str, base: str, views: dict[str, list[str]], size: tuple[int, int], scheme: str
) -> None:
    assert not faults(browser, base, axe, views, size, scheme)


@pytest.mark.slow
@SCHEMES
def test_no_view_of_images_has_a_fault(
    browser: Browser, axe: str, size: tuple[int, int], scheme: str, tmp_path: Path
) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path, 70)
        with serving(kg, update=True, media=media) as url:
            assert not faults(browser, url, axe, VIEWS["images"], size, scheme)


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
        views = {"/#/review": [".proposals input"], f"/#/review?run={done.iri}": [".proposals mark"]}
        with serving(kg, update=True) as url:
            assert not faults(browser, url, axe, views, size, scheme)
        accept(kg, done)
        views = {f"/#/review?run={done.iri}": [".state-accepted >> nth=1"]}
        with serving(kg) as url:
            assert not faults(browser, url, axe, views, size, scheme)


def faults(
    browser: Browser, url: str, axe: str, views: dict[str, list[str]], size: tuple[int, int], scheme: str
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
