"""The page, Images: a gallery that scrolls, facets, searches, a drawn box, marks, and hostile names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mrag
from mrag.server.settings import ServerSettings
from tests.server.browsing import NARROW, POLICIES, SIZES, WIDE, watched
from tests.server.page.pictures import E, wardrobe
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NUMBER = 1_250
MADE = "main b, main script, main img[onerror], a[href^=javascript]"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"
IMAGE = f"{E}image_00012"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of many pictures with annotations, which allows changes."""
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path_factory.mktemp("shop"), NUMBER)
        settings = ServerSettings(model="none", update=True, media=media, learn_seconds=20)
        with serving(kg, settings) as url:
            yield url


def narrow(page: Page, size: tuple[int, int]) -> None:
    """Open the facets, which are folded where there is little room."""
    if size == NARROW:
        page.locator(".facets > summary").click()


@SIZES
def test_a_task_from_the_gallery_to_a_box_and_marks(
    browser: Browser, shop: str, size: tuple[int, int]
) -> None:
    with watched(browser, shop, size) as seen:
        page = seen.open()
        seen.click(page.get_by_role("link", name="Images", exact=True), ".cell img[src]")
        assert page.locator("#images-state").inner_text() == "1,250 images."
        assert page.get_by_role("list", name="1,250 images").count() == 1

        # Only what is in sight is there, at the beginning as at the end.
        most = 12 * (size[0] // 150 + 1)
        assert 4 <= page.locator(".cell").count() <= most
        page.evaluate("(f => { f.scrollTop = f.scrollHeight })(document.querySelector('.grid-frame'))")
        page.wait_for_selector(f".cell [data-index='{NUMBER - 1}'] img[src]")
        assert page.locator(".cell").count() <= most
        assert page.locator(f".cell [data-index='{NUMBER - 1}']").inner_text() == "01249.png"

        # A facet says how many there will be, and then there are so many.
        narrow(page, size)
        coat = page.locator(f"[data-facet='category {E}category_coat']")
        counted = coat.locator("xpath=..").locator(".count").inner_text().split()[-1]
        coat.check()
        page.wait_for_selector(f"#images-state:has-text('{counted} images of 1,250.')")
        page.locator(f"[data-facet='attribute {E}attribute_red']").check()
        seen.until("location.hash.includes('attribute_red') && location.hash.includes('category_coat')")
        page.wait_for_selector(f"[data-facet='attribute {E}attribute_red']:checked")
        seen.click("Remove all filters", "#images-state:has-text('1,250 images.')")

        # One image: its boxes lie over what was drawn, each with its triples.
        seen.open(f"/#/images?iri={IMAGE}", ".stage img[src]")
        assert page.locator(".parts > li").count() == 2
        stage, box = (page.locator(one).first.bounding_box() for one in (".stage", ".part:not(.under)"))
        assert stage and box
        shares = ((box["x"] - stage["x"]) / stage["width"], (box["y"] - stage["y"]) / stage["height"])
        assert shares == pytest.approx((30 / 120, 10 / 160), abs=0.02)
        masks = page.locator(".mask")
        assert masks.count() == 2 and masks.first.is_visible()
        page.get_by_label("Masks").uncheck()
        assert not masks.first.is_visible()
        seen.click(page.locator(".parts summary").first, ".parts table :text('has bounding box')")

        # A box is drawn around the coat, and finds red coats.
        seen.click("Draw a box")
        page.locator(".stage").evaluate("stage => stage.scrollIntoView({ block: 'center' })")
        stage = page.locator(".stage").bounding_box()
        assert stage
        page.mouse.move(stage["x"] + 0.2 * stage["width"], stage["y"] + 0.04 * stage["height"])
        page.mouse.down()
        page.mouse.move(stage["x"] + 0.8 * stage["width"], stage["y"] + 0.53 * stage["height"], steps=4)
        page.mouse.up()
        assert 20 <= int(page.get_by_label("Left").input_value()) <= 28
        seen.click(page.locator(".box-form button.main"), "#images-state:has-text('found for coat with red')")
        hits = page.locator(".pictures .hits > li")
        assert hits.count() == 60 and "100 % like" in hits.first.inner_text()

        # Marks on what was found are learnt.
        for at in (0, 1):
            hits.nth(at).locator("[data-liked='true']").click()
        page.wait_for_selector(".learnt .sentence, .learnt :text('Nothing in the graph')")
        seen.back(".stage img[src]")


@SIZES
def test_it_can_be_used_by_the_keyboard_alone(browser: Browser, shop: str, size: tuple[int, int]) -> None:
    with watched(browser, shop, size) as seen:
        page = seen.open("/#/images", ".cell img[src]")
        index = "document.activeElement.dataset.index"
        page.locator(".cell a[tabindex='0']").focus()
        assert page.locator(".cell a[tabindex='0']").count() == 1
        page.keyboard.press("ArrowRight")
        assert page.evaluate(index) == "1"
        page.keyboard.press("ArrowDown")
        down = int(page.evaluate(index))
        assert down > 2
        page.keyboard.press("End")
        seen.until(f"{index} === '{NUMBER - 1}'")
        page.keyboard.press("PageUp")
        seen.until(f"Number({index}) < {NUMBER - 1}")
        page.keyboard.press("Home")
        seen.until(f"{index} === '0'")
        page.keyboard.press("Enter")
        page.wait_for_selector(".stage img[src]")
        seen.press(page.get_by_role("button", name="Find images with the like of coat, number 1"), "Enter")
        seen.wait("#images-state:has-text('found for coat with red')")
        words = page.get_by_label("Words")
        words.focus()
        page.keyboard.type("blue dress")
        page.keyboard.press("Enter")
        page.wait_for_selector("#images-state:has-text('“blue dress”')")
        assert page.locator(".pictures .hits .name").first.inner_text() == "00010.png"


def test_a_picture_of_ones_own_is_searched_by(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (pip install 'mrag[conse]')")
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path / "few", 4)
        mine = tmp_path / f"{HOSTILE.replace('/', '')}.png"
        mine.write_bytes((media / "00002.png").read_bytes())
        settings = ServerSettings(model="none", media=media, seconds=120)
        with serving(kg, settings) as url, watched(browser, url) as seen:
            page = seen.open("/#/images", ".pictures .thumb img[src]")
            page.get_by_label("By a picture of yours").set_input_files(mine)
            page.set_default_timeout(90_000)
            page.wait_for_selector("#images-state:has-text('4 images found for the picture')")
            assert page.locator(".pictures .hits .name").first.inner_text() == "00002.png"
            assert HOSTILE.replace("/", "") in page.locator(".chosen-picture").inner_text()
            seen.enter("Words", "coat", "#images-state:has-text('“coat” and the picture')")
            page.reload()
            page.wait_for_selector(".chosen-picture:has-text('not kept in the address')")
            assert page.locator("main b").count() == 0 and "owned" not in page.title()


@POLICIES
def test_hostile_names_of_images_and_labels_stay_text(
    browser: Browser, tmp_path: Path, size: tuple[int, int], bare: bool
) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path / "hostile", 70, HOSTILE)
        odd = tmp_path / "odd.ttl"
        name = json.dumps(HOSTILE)
        odd.write_text(
            f"<urn:odd> <{E}hasFileName> {name} . <urn:odd2> <{E}hasFileName> 'javascript:alert(1)' ."
        )
        kg.load([odd])
        settings = ServerSettings(model="none", media=media, learn_seconds=20)
        with serving(kg, settings) as url, watched(browser, url, size, bypass_csp=bare) as seen:
            page = seen.open("/#/images", ".cell img[src]")
            assert HOSTILE in page.locator(".cell .name").first.inner_text()
            narrow(page, size)
            assert HOSTILE in page.locator(".facet-name").first.inner_text()
            for path in ("q=coat", f"iri={IMAGE}", f"iri={IMAGE}&region=20,5,80,80", "iri=urn:odd"):
                seen.open(f"/#/images?{path}", "#images :text('onerror') >> visible=true")
            assert page.locator(MADE).count() == 0 and page.title() != "owned"


@pytest.mark.slow
@SIZES
def test_images_are_found_in_german(browser: Browser, shop: str, size: tuple[int, int]) -> None:
    with watched(browser, shop, size, locale="de-DE") as seen:
        page = seen.open("/#/images", "#images-state:has-text('1.250 Bilder.')")
        narrow(page, size)
        assert page.locator(".facets legend").first.inner_text() == "Kategorie"
        page.get_by_label("Wörter", exact=True).fill("red coat")
        seen.click("Suchen", "#images-state:has-text('Bilder gefunden für')")
        seen.open(f"/#/images?iri={IMAGE}", ".stage img[src]")
        assert "Ähnliches finden" in page.locator("#images").inner_text()


def test_where_there_are_no_images_it_is_said_what_to_do(browser: Browser, base: str) -> None:
    with watched(browser, base, NARROW) as seen:
        page = seen.open("/#/images", "#images .note:has-text('mrag import'):has-text('--media')")
        assert not page.get_by_label("Words").is_visible()


def test_without_the_folder_the_names_are_shown_and_nothing_is_asked_for(
    browser: Browser, tmp_path: Path
) -> None:
    with mrag.connect() as kg:
        wardrobe(kg, tmp_path / "away", 70)
        with serving(kg) as url, watched(browser, url, WIDE) as seen:
            page = seen.open("/#/images", ".cell .lost:has-text('00000.png')")
            assert "--media" in page.locator("#images-state").inner_text()
            assert page.get_by_label("By a picture of yours").is_disabled()
            assert not any("thumbnail" in address for address in seen.asked)
