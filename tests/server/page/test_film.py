"""The film of the page: a computed question, its proof, marks on images, and a concept that filters."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mrag
from tests.server.browsing import Watched, watched
from tests.server.page.conftest import SETTINGS
from tests.server.page.pictures import wardrobe
from tests.server.serving import serving

if TYPE_CHECKING:
    from PIL.Image import Image
    from playwright.sync_api import Browser, Locator

SIZE = (1000, 720)
LIMIT = 3_000_000
SECONDS = 1.8
IMAGES = 96
MEANT = ("00000.png", "00012.png", "00024.png")
"""What they share is something red."""


class Film:
    """Takes pictures of a page, each with a line that says what is done."""

    def __init__(self, seen: Watched) -> None:
        self.seen, self.page = seen, seen.page
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


@pytest.mark.slow
def test_the_film_of_the_page(browser: Browser, tmp_path: Path) -> None:
    """Where MRAG_PAGE_FILM names a file it is written there: `docs/images/page.webp` is made that way."""
    path = Path(os.environ.get("MRAG_PAGE_FILM") or tmp_path / "page.webp")
    with mrag.demo(model="none") as kg:
        media = wardrobe(kg, tmp_path / "wardrobe", IMAGES)
        kg.reason()
        kg.index(model="none")
        settings = replace(SETTINGS, media=media)
        with (
            serving(kg, settings) as url,
            watched(browser, url, SIZE, reduced_motion="reduce", color_scheme="light") as seen,
        ):
            seen.open()
            film = Film(seen)
            asked_and_proved(film)
            marked_and_kept(film)
            film.save(path)
    from PIL import Image

    with Image.open(path) as made:
        assert getattr(made, "n_frames", 1) == len(film.frames) and path.stat().st_size < LIMIT


def asked_and_proved(film: Film) -> None:
    """Ask what is computed, and open the proof of a row."""
    page = film.page
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


def marked_and_kept(film: Film) -> None:
    """Mark three images, keep what they share as a class, and filter by it."""
    page = film.page
    page.get_by_role("link", name="Images", exact=True).click()
    page.wait_for_selector(".cell img[src]")
    film.take("5  Images: all that the graph has")
    page.get_by_label("Words").fill("coat")
    page.keyboard.press("Enter")
    page.wait_for_selector("#images-state:has-text('“coat”')")
    page.wait_for_selector(".pictures .hits img[src]")
    film.take("6  Search them by words, by a picture, by a box")
    for at, name in enumerate(MEANT):
        vote = page.get_by_role("button", name=f"More like {name}", exact=True).first
        vote.click()
        film.take(f"{7 + at}  Mark what you mean: {name}", vote, 1.2)
    page.wait_for_selector(".pictures .counts:has-text('3 of 3 meant')")
    film.seen.until("/^\\d+$/.test(document.querySelector('.in-graph').textContent)")
    film.take("10  The concept that they share, and all that are in it", page.locator(".learnt .sentence"), 3)
    page.get_by_label("Name of the class").fill("something red")
    page.get_by_role("button", name="Keep as class").click()
    page.wait_for_selector(".keep:has-text('It is a filter from now on')")
    film.take("11  It is kept as a class of the graph, with a name", page.locator(".keep"))
    page.get_by_role("button", name="Only something red").click()
    page.wait_for_selector("#images-state:has-text('14 images')")
    film.take("12  From now on it filters, here and everywhere", seconds=3)
