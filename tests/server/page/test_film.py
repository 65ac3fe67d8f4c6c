"""The film of the page: a computed question, its proof, marks, and a concept that is kept and filters."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import mrag
from tests.server.browsing import watched
from tests.server.page.conftest import SETTINGS
from tests.server.serving import serving

if TYPE_CHECKING:
    from PIL.Image import Image
    from playwright.sync_api import Browser, Locator, Page

SIZE = (1000, 720)
LIMIT = 3_000_000
SECONDS = 1.8


class Film:
    """Takes pictures of a page, each with a line that says what is done."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image] = []
        self.seconds: list[float] = []

    def take(self, words: str, seen: Locator | None = None, seconds: float = SECONDS) -> None:
        """Take a picture, with something on the page in the middle of it."""
        from PIL import Image, ImageDraw, ImageFont

        if seen is None:
            self.page.evaluate("scrollTo(0, 0)")
        else:
            seen.evaluate("e => e.scrollIntoView({block: 'center'})")
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        frame = Image.new("RGB", (shot.width, shot.height + 44), "#0f5a66")
        frame.paste(shot, (0, 44))
        ImageDraw.Draw(frame).text((20, 9), words, fill="white", font=ImageFont.load_default(22))
        self.frames.append(frame)
        self.seconds.append(seconds)

    def save(self, path: Path) -> None:
        """Write the frames as an animated WebP that runs again and again."""
        first, *others = self.frames
        durations = [round(1000 * one) for one in self.seconds]
        first.save(
            path, save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=4
        )


def test_the_film_of_the_page(browser: Browser, tmp_path: Path) -> None:
    """Where MRAG_PAGE_FILM names a file it is written there: `docs/images/page.webp` is made that way."""
    path = Path(os.environ.get("MRAG_PAGE_FILM") or tmp_path / "page.webp")
    with (
        mrag.demo(model="none") as kg,
        serving(kg, SETTINGS) as url,
        watched(browser, url, SIZE, reduced_motion="reduce", color_scheme="light") as seen,
    ):
        page = seen.open()
        film = Film(page)
        page.get_by_label("Question").fill("List the graph databases")
        film.take("1  Ask: the answer is computed where the graph allows it")
        page.keyboard.press("Enter")
        page.wait_for_selector("#answer table.rows")
        page.wait_for_selector("#ask-found .vote")
        film.take("2  Each row shows the ids of the triples that prove it")
        page.locator("#answer .rows .cite.inferred").first.click()
        pointed = page.locator("tr.pointed")
        film.take("3  An id leads to its triple, asserted or inferred", pointed)
        pointed.locator(".why").click()
        page.wait_for_selector("#cited .proof li")
        film.take("4  Why does an inferred one hold? Its proof", page.locator("#cited .proof").first, 2.6)
        votes = page.locator("#ask-found ol.hits")
        for at, (sign, name) in enumerate((("More", "Amazon Neptune"), ("More", "AllegroGraph"))):
            vote = votes.get_by_role("button", name=f"{sign} like {name}", exact=True)
            vote.click()
            vote.wait_for()
            film.take(f"{5 + at}  Mark what you mean: {name}", vote, 1.2)
        vote = votes.get_by_role("button", name="Not like Neo4j", exact=True)
        vote.click()
        page.wait_for_selector("#ask-found .counts:has-text('of 1 not meant')")
        seen.until("/^\\d+$/.test(document.querySelector('.in-graph').textContent)")
        film.take(
            "7  … and what you do not: the concept that they share", page.locator(".learnt .sentence"), 3
        )
        page.get_by_label("Name of the class").fill("my kind")
        film.take("8  Give it a name", page.locator(".keep"), 1.4)
        page.get_by_role("button", name="Keep as class").click()
        page.wait_for_selector(".keep:has-text('It is a filter from now on')")
        film.take("9  It is kept as a class of the graph, with what follows", page.locator(".keep"))
        page.get_by_role("button", name="Only my kind").click()
        page.wait_for_selector("#answer-note:has-text('only entities of one class')")
        film.take("10  From now on it filters, here and everywhere")
        found = page.locator("#ask-found")
        film.take("11  Among what is found, only its members are left", found, 3)
        assert "Neo4j" not in found.inner_text() and "Amazon Neptune" in found.inner_text()
        film.save(path)
    from PIL import Image

    with Image.open(path) as made:
        assert getattr(made, "n_frames", 1) == len(film.frames) and path.stat().st_size < LIMIT
