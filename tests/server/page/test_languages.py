"""The page in German: a whole task, the switch, and how numbers and dates are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.server.browsing import SIZES, WIDE, Watched, watched
from tests.server.page.test_learn import hostile

__all__ = ["hostile"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.slow
@SIZES
def test_a_whole_task_in_german(browser: Browser, base: str, size: tuple[int, int]) -> None:
    name = f"quelloffen {size[0]}"
    with watched(browser, base, size, locale="de-AT") as seen:
        page = seen.open("/", "html[lang='de']")
        page.get_by_label("Frage", exact=True).fill("List the graph databases")
        seen.click("Fragen", "#answer table.rows")
        assert re.fullmatch(r"\d+ Zeilen", seen.text("#answer caption"))
        assert seen.text("#answer-note").startswith("Berechnet: ")
        assert seen.text("#computed .reading").startswith("Verstanden als: ")
        assert {text.split()[-1] for text in page.locator("#cited .badge").all_inner_texts()} <= {
            "angegeben",
            "abgeleitet",
        }
        seen.click(page.locator("#ask-found-hits .found a").first, "#explore-entity h2")
        assert "Was der Graph darüber sagt" in seen.text("#explore-entity")
        assert page.title().endswith(" · mrag")

        # From marks to a class that filters.
        seen.open("/#/explore?q=database", "#explore-hits .vote")
        hits = page.locator("ol.hits")
        hits.get_by_role("button", name="Mehr wie Oracle Database", exact=True).click()
        seen.wait(".said:has-text('Noch eine Markierung')")
        seen.click(hits.get_by_role("button", name="Nicht wie MySQL", exact=True), ".learnt .sentence")
        assert "„" in seen.text(".learnt .sentence")
        counts = seen.text(".counts")
        assert counts.startswith("1 von 1 gemeinten, 0 von 1 nicht gemeinten; Genauigkeit")
        assert "100\xa0%" in counts
        seen.click("Warum gehört Oracle Database dazu?", ".in-concept .proof:has-text('ist etwas, das')")
        seen.click("Was fehlt, damit MySQL dazugehört?", ".in-concept:has-text('wenn angegeben wäre: MySQL')")
        page.get_by_label("Name der Klasse").fill(name)
        seen.click("Als Klasse behalten", ".keep:has-text('Die Klasse ist ab jetzt ein Filter')")
        seen.click(f"Nur {name}", f"#explore-hits li:has-text('Is in {name}')")


@SIZES
def test_the_language_is_switched_and_kept(seen: Watched, base: str) -> None:
    page = seen.open("/#/explore", "#explore-start h2:has-text('Classes')")
    asked = [url for url in seen.asked if "/languages/" in url]
    assert page.locator("html").get_attribute("lang") == "en" and not asked, "English needs no other words"
    seen.click("Deutsch", "#explore-start h2:has-text('Klassen')")
    assert page.get_by_placeholder("Wörter, eine IRI oder präfix:name").is_visible()
    assert page.get_by_role("link", name="Zustand").count() == 1
    page.goto(base + "/#/health")
    page.reload()
    page.wait_for_selector("#health h2:has-text('Laufende Abfragen')")
    seen.click("English", "#health h2:has-text('Running queries')")


def test_numbers_and_times_are_written_as_in_the_language(browser: Browser, base: str) -> None:
    for locale, number, share in (("de-DE", "1.234,5", "50\xa0%"), ("en-GB", "1,234.5", "50%")):
        with watched(browser, base, locale=locale, timezone_id="UTC") as seen:
            page = seen.open("/#/health", "#health h2")
            said = page.evaluate(
                "import('/page/language.js').then(of => [of.number(1234.5), of.percent(.5),"
                " of.when('2026-03-31T13:05:06Z'), of.t('never translated {n}', { n: 1234.5 })])"
            )
            assert said[:2] == [number, share] and said[3] == f"never translated {number}"
            assert said[2].startswith("31") and "13:05:06" in said[2]


@pytest.mark.parametrize("bare", [False, True], ids=["as served", "without the policy"])
def test_hostile_names_are_text_in_german_too(browser: Browser, hostile: str, bare: bool) -> None:
    with watched(browser, hostile, WIDE, locale="de", bypass_csp=bare) as seen:
        page = seen.open("/#/explore?q=photo", "#explore-hits .vote")
        for at in (0, 1):
            page.locator("ol.hits [data-liked='true']").nth(at).click()
        page.wait_for_selector(".learnt .sentence, .learnt .said p")
        page.locator(".in-concept .why").first.click()
        seen.plain()
