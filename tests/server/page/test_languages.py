"""The page in German: a whole task, the switch, and how numbers and dates are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.server.browsing import SIZES, WIDE, watched
from tests.server.page.test_learn import hostile

__all__ = ["hostile"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.slow
@SIZES
def test_a_whole_task_in_german(browser: Browser, base: str, size: tuple[int, int]) -> None:
    name = f"quelloffen {size[0]}"
    with watched(browser, base, size, locale="de-AT") as seen:
        page = seen.open()
        page.wait_for_selector("html[lang='de']")
        page.get_by_label("Frage", exact=True).fill("List the graph databases")
        page.get_by_role("button", name="Fragen", exact=True).click()
        page.wait_for_selector("#answer table.rows")
        assert re.fullmatch(r"\d+ Zeilen", page.locator("#answer caption").inner_text())
        assert page.locator("#answer-note").inner_text().startswith("Berechnet: ")
        assert page.locator("#computed .reading").inner_text().startswith("Verstanden als: ")
        assert {text.split()[-1] for text in page.locator("#cited .badge").all_inner_texts()} <= {
            "angegeben",
            "abgeleitet",
        }
        page.locator("#ask-found-hits .found a").first.click()
        page.wait_for_selector("#explore-entity h2")
        assert "Was der Graph darüber sagt" in page.locator("#explore-entity").inner_text()
        assert page.title().endswith(" · mrag") and seen.overflow() <= 0

        # From marks to a class that filters.
        seen.open("/#/explore?q=database")
        page.wait_for_selector("#explore-hits .vote")
        hits = page.locator("ol.hits")
        hits.get_by_role("button", name="Mehr wie Oracle Database", exact=True).click()
        page.wait_for_selector(".said:has-text('Noch eine Markierung')")
        hits.get_by_role("button", name="Nicht wie MySQL", exact=True).click()
        page.wait_for_selector(".learnt .sentence")
        assert "„" in page.locator(".learnt .sentence").inner_text()
        counts = page.locator(".counts").inner_text()
        assert counts.startswith("1 von 1 gemeinten, 0 von 1 nicht gemeinten; Genauigkeit")
        assert "100\xa0%" in counts
        page.get_by_role("button", name="Warum gehört Oracle Database dazu?").click()
        page.wait_for_selector(".in-concept .proof:has-text('ist etwas, das')")
        page.get_by_role("button", name="Was fehlt, damit MySQL dazugehört?").click()
        page.wait_for_selector(".in-concept:has-text('wenn angegeben wäre: MySQL')")
        page.get_by_label("Name der Klasse").fill(name)
        page.get_by_role("button", name="Als Klasse behalten").click()
        page.wait_for_selector(".keep:has-text('Die Klasse ist ab jetzt ein Filter')")
        page.get_by_role("button", name=f"Nur {name}").click()
        page.wait_for_selector(f"#explore-hits li:has-text('Is in {name}')")
        assert seen.overflow() <= 0


@SIZES
def test_the_language_is_switched_and_kept(browser: Browser, base: str, size: tuple[int, int]) -> None:
    with watched(browser, base, size) as seen:
        page = seen.open("/#/explore")
        page.wait_for_selector("#explore-start h2:has-text('Classes')")
        asked = [url for url in seen.asked if "/languages/" in url]
        assert page.locator("html").get_attribute("lang") == "en" and not asked, (
            "English needs no other words"
        )
        page.get_by_role("button", name="Deutsch").click()
        page.wait_for_selector("#explore-start h2:has-text('Klassen')")
        assert page.get_by_placeholder("Wörter, eine IRI oder präfix:name").is_visible()
        assert page.get_by_role("link", name="Zustand").count() == 1 and seen.overflow() <= 0
        page.goto(base + "/#/health")
        page.reload()
        page.wait_for_selector("#health h2:has-text('Laufende Abfragen')")
        page.get_by_role("button", name="English").click()
        page.wait_for_selector("#health h2:has-text('Running queries')")


def test_numbers_and_times_are_written_as_in_the_language(browser: Browser, base: str) -> None:
    for locale, number, share in (("de-DE", "1.234,5", "50\xa0%"), ("en-GB", "1,234.5", "50%")):
        with watched(browser, base, locale=locale, timezone_id="UTC") as seen:
            page = seen.open("/#/health")
            page.wait_for_selector("#health h2")
            said = page.evaluate(
                "import('/page/language.js').then(of => [of.number(1234.5), of.percent(.5),"
                " of.when('2026-03-31T13:05:06Z'), of.t('never translated {n}', { n: 1234.5 })])"
            )
            assert said[:2] == [number, share] and said[3] == f"never translated {number}"
            assert said[2].startswith("31") and "13:05:06" in said[2]


@pytest.mark.parametrize("bare", [False, True], ids=["as served", "without the policy"])
def test_hostile_names_are_text_in_german_too(browser: Browser, hostile: str, bare: bool) -> None:
    with watched(browser, hostile, WIDE, locale="de", bypass_csp=bare) as seen:
        page = seen.open("/#/explore?q=photo")
        page.wait_for_selector("#explore-hits .vote")
        for at in (0, 1):
            page.locator("ol.hits [data-liked='true']").nth(at).click()
        page.wait_for_selector(".learnt .sentence, .learnt .said p")
        page.locator(".in-concept .why").first.click()
        made = "[...document.querySelectorAll('main img, main b, main script, main i, svg[onload]')].length"
        assert page.evaluate(made) == 0 and "owned" not in page.title()
