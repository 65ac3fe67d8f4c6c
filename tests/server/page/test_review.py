"""The page, Review: texts are read, triples accepted and rejected one by one, and taken out again."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import mrag
from mrag.completion.patterns import CompletedTriple
from mrag.completion.review import accept, key_of, propose, rollback
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import JournalEntry, triples_of
from tests.completion.towns import FACTS, E, iri, read
from tests.server.browsing import POLICY, SIZES, WIDE, Browser, Size, watched
from tests.server.page.pictures import wardrobe
from tests.server.serving import serving

HOSTILE = "<img src=x onerror=document.title='owned'><b>bold</b>"
MADE = "#review img:not(.thumb img), #review b, #review script"
TEXT = "Ada Hill wrote Fern. Ada Hill wrote The Long Walk. Ada Hill wrote Visby."
SETTINGS = {"update": True}


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    source = tmp_path / "towns.ttl"
    source.write_text(FACTS, "utf-8")
    with mrag.connect() as graph:
        graph.load([source])
        mrag.reason(graph)
        yield graph


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


@SIZES
def test_texts_are_read_reviewed_and_rolled_back(browser: Browser, kg: KnowledgeGraph, size: Size) -> None:
    with serving(kg, **SETTINGS) as url, watched(browser, url, size) as seen:
        page = seen.open()
        page.get_by_role("link", name="Review", exact=True).click()
        seen.wait("#review .note:has-text('Nothing has been read yet')")
        page.locator(".ask-texts > summary").click()
        page.get_by_label("Question", exact=True).and_(page.locator("#review-question")).fill(
            "What did Ada Hill write?"
        )
        page.locator("#review-words").fill(TEXT)
        seen.click("Read", "#review-run:has-text('What did Ada Hill write?')")
        assert not asks(kg, ":ada :wrote :fern")

        # Each triple with its words, in the midst of their text, and with its checks.
        fern = page.locator(".proposal", has_text="Fern").first
        assert fern.locator("mark").first.inner_text() == "Ada Hill wrote Fern."
        assert "The Long Walk" in fern.locator("blockquote").inner_text()
        visby = page.locator(".proposal.refused")
        assert "the range of wrote is book" in visby.inner_text() and not visby.locator("input").count()

        # Four clicks: what is ticked, what that changes, the change, and back.
        page.get_by_label("Accept: Ada Hill wrote The Long Walk").uncheck()
        # The name of what only this speaks of goes with it.
        assert "goes with" in page.locator(".proposal", has_text="The Long Walk label").inner_text()
        seen.click("Show what accepting 1 triple changes", "#review-changes")
        assert "1 triple would be added, and none removed" in seen.text(".foreseen")
        assert not asks(kg, ":ada :wrote :fern")
        seen.click("Accept 1 triple", "#review .note:has-text('1 triple accepted')")
        assert asks(kg, ":ada :wrote :fern") and not asks(kg, "?x rdfs:label 'The Long Walk'")
        assert (
            "left out in review"
            in page.locator(".proposal.refused", has_text="The Long Walk").first.inner_text()
        )
        seen.click("Roll back", "#review .note:has-text('1 triple taken out again')")
        assert not asks(kg, ":ada :wrote :fern") and page.locator(".run-list .state-rolled-back").count() == 1


def test_what_would_be_inferred_is_shown_before(browser: Browser, kg: KnowledgeGraph) -> None:
    run = propose(
        kg, "Where?", [read("bob", "bornIn", "ystad")], model="m", names={str(iri("ystad")): "Ystad"}
    )
    with serving(kg, **SETTINGS) as url, watched(browser, url, WIDE) as seen:
        page = seen.open(f"/#/review?run={run.iri}")
        seen.click("Show what accepting 2 triples changes", ".inferred-ones li:has-text('Ystad is a place')")
        assert "Bob Stone born in Ystad" in page.locator(".foreseen .diff").first.inner_text()
        assert not asks(kg, ":ystad ?p ?o") and kg.reasoned


def test_it_can_be_used_by_the_keyboard_alone(browser: Browser, kg: KnowledgeGraph) -> None:
    run = propose(
        kg,
        "Who knows whom?",
        [
            read("ada", "knows", "bob", 0.9),
            read("bob", "livesIn", "visby", 0.7),
            read("ada", "wrote", "fern", 0.6),
        ],
        model="m",
    )
    assert run is not None
    with serving(kg, **SETTINGS) as url, watched(browser, url, WIDE) as seen:
        page = seen.open("/#/review", ".proposals input")
        focus = "document.activeElement.id || document.activeElement.textContent"

        def tab_to(wanted: str) -> None:
            for _ in range(40):
                if str(page.evaluate(focus)).startswith(wanted):
                    return
                page.keyboard.press("Tab")
            raise AssertionError(f"{wanted} was not reached")

        # By rule: a score, and a property.
        page.locator("#review-property").focus()
        tab_to("review-score")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("80")
        assert page.locator(".proposals input:checked").count() == 1
        page.locator("#review-score").fill("50")
        page.locator("#review-property").select_option(label="lives in (1)")
        assert page.locator(".proposals input:checked").count() == 1
        page.locator("#review-property").focus()
        tab_to("Show what accepting 1 triple")
        page.keyboard.press("Enter")
        seen.until(f"({focus}) === 'review-changes'")
        tab_to("Accept 1 triple")
        page.keyboard.press("Enter")
        page.wait_for_selector("#review .note:has-text('1 triple accepted')")
        seen.until(f"({focus}) === 'review-run'")
        assert asks(kg, ":bob :livesIn :visby") and not asks(kg, ":ada :knows :bob")


@POLICY
def test_hostile_quotes_stay_text(browser: Browser, kg: KnowledgeGraph, size: Size, bare: bool) -> None:
    run = propose(
        kg, HOSTILE, [read("bob", "bornIn", "ystad", quote=HOSTILE)], model=HOSTILE,
        names={str(iri("ystad")): HOSTILE},
    )  # fmt: skip
    assert run is not None
    with serving(kg, **SETTINGS) as url, watched(browser, url, size, bypass_csp=bare) as seen:
        seen.open("/#/review", ".evidence mark:has-text('onerror')")
        assert seen.text("#review-run") == HOSTILE
        seen.click("Show what accepting 2 triples changes", ".foreseen li:has-text('onerror')")
        seen.click("Reject all", "#review .note:has-text('Rejected')")
        seen.plain(MADE)


def test_a_reader_decides_nothing_and_is_told_why(browser: Browser, kg: KnowledgeGraph) -> None:
    run = propose(kg, "Whom?", [read("ada", "knows", "bob")], model="m")
    with serving(kg) as url:
        with watched(browser, url, WIDE) as seen:
            page = seen.open("/#/review", "#review .note:has-text('mrag serve --update')")
            assert not page.locator("#review button:visible, #review input:visible").count()
        for name in ("foresee", "accept", "reject", "rollback", "read"):
            assert httpx.post(f"{url}/api/review/{name}", json={"id": run.iri}).status_code == 403
        assert not asks(kg, ":ada :knows :bob")


def test_a_part_of_a_picture_is_shown_with_its_box(browser: Browser, tmp_path: Path) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path, 3)
        image = f"{E}image_00001"
        ref = EvidenceRef(f"{image}#xywh=30,10,60,70", "a green dress", "region", "00001.png")
        odd = CompletedTriple(
            iri("annotation_00001a"), iri("hasAttribute"), iri("attribute_red"), "completed", (ref,), 0.8
        )
        assert propose(kg, "What?", [odd], model="m") is not None
        with serving(kg, media=media) as url, watched(browser, url, WIDE) as seen:
            page = seen.open("/#/review", ".evidence-picture img[src]")
            frame, box = (page.locator(one).bounding_box() for one in (".evidence-picture", ".evidence-box"))
            assert frame and box
            share = ((box["x"] - frame["x"]) / frame["width"], box["height"] / frame["height"])
            assert share == pytest.approx((30 / 120, 70 / 160), abs=0.03)


def test_what_models_wrote_of_images_is_listed(browser: Browser, tmp_path: Path) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path, 3)
        for n in (1, 2):
            said = (f"{E}image_0000{n}", "", f"{HOSTILE} {n}", "seer", "p", "{}", "2026-01-01T00:00:00Z")
            entry = JournalEntry(*said, "mrag", "00")
            own, shared = triples_of(entry)
            kg.insert([*own, *shared])
        with serving(kg, media=media) as url, watched(browser, url, WIDE) as seen:
            page = seen.open("/#/review")
            page.locator(".run-list a", has_text="2 descriptions").click()
            seen.wait(".proposals blockquote:has-text('onerror') >> nth=1")
            page.wait_for_selector(".evidence-picture img[src] >> nth=1")
            seen.plain(MADE)


def test_the_name_of_a_text_is_no_path(kg: KnowledgeGraph) -> None:
    with serving(kg, **SETTINGS) as url, httpx.Client(base_url=url, timeout=60) as client:
        hostile = client.post(
            "/api/review/read",
            json={"question": "What did Ada Hill write?", "texts": [{"name": "../../x.txt", "text": TEXT}]},
        ).json()
        run = client.get("/api/review/run", params={"id": hostile["run"]}).json()
        assert {ref["source"] for one in run["statements"] for ref in one["evidence"]} == {"_.._x.txt"}


def test_what_was_left_out_stays_out(kg: KnowledgeGraph) -> None:
    run = propose(kg, "?", [read("ada", "knows", "bob"), read("bob", "livesIn", "visby")], model="m")
    [wanted] = [key_of(s.triple) for s in run.statements if s.predicate == iri("knows")]
    assert len(accept(kg, run, only=[wanted]).entered) == 1
    rollback(kg, run)
    assert not asks(kg, ":ada :knows :bob")
    again = accept(kg, run)
    assert len(again.entered) == 1 and not asks(kg, ":bob :livesIn :visby")
    rollback(kg, run)
    assert len(accept(kg, run, only=[key_of(s.triple) for s in run.statements]).entered) == 2
