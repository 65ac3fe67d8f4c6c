"""The page, learning, and in German: marks, the concept they mean, why, and a class that filters."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.server.browsing import HOSTILE, NARROW, POLICY, SIZES, WIDE, Browser, Page, Size, Watched, watched
from tests.server.page.conftest import SETTINGS
from tests.server.serving import serving

H = "http://hostile.example/"


@pytest.fixture(scope="module")
def hostile() -> Iterator[str]:
    """Photos of two kinds, every name of which is an attack."""
    with KnowledgeGraph(OxigraphStore()) as kg:
        shows, jacket, hat = (URIRef(H + x) for x in ("shows", "%3Cscript%3E", "hat"))
        triples = [
            Triple(shows, RDFS.label, Literal("<i>shows</i>")),
            Triple(jacket, RDFS.label, Literal("<script>document.title='owned'</script>")),
            Triple(hat, RDFS.label, Literal("javascript:alert(1)")),
        ]
        for at in range(8):
            photo, thing = URIRef(f"{H}photo{at}"), URIRef(f"{H}thing{at}")
            triples += [
                Triple(photo, RDF.type, URIRef(H + "Photo")),
                Triple(photo, RDFS.label, Literal(f"{HOSTILE} photo {at}")),
                Triple(photo, shows, thing),
                Triple(thing, RDF.type, hat if at % 2 else jacket),
            ]
        kg.insert(triples)
        reason(kg)
        SimilarityIndexes.of(kg).build("main", model="none")
        with serving(kg, **SETTINGS) as url:
            yield url


def marked(page: Page, name: str, *, liked: bool) -> None:
    """Mark a hit of the list."""
    sign = "More like" if liked else "Not like"
    page.locator("ol.hits").get_by_role("button", name=f"{sign} {name}", exact=True).click()


@SIZES
def test_two_marks_are_a_concept_that_is_explained_kept_and_filters(seen: Watched, size: Size) -> None:
    name = f"semantic {size[0]}"
    page = seen.open("/#/explore?q=database", "#explore-hits li")
    hits = page.locator("ol.hits > li")
    before = [hit.get_attribute("data-iri") for hit in hits.all()]
    # Classes are in the list too, and cannot be examples.
    assert page.locator("ol.hits .marks").count() < len(before)
    marked(page, "Oracle Database", liked=True)
    page.wait_for_selector(".said:has-text('One more mark')")
    marked(page, "MySQL", liked=False)
    page.wait_for_selector(".learnt .sentence")
    assert seen.text(".learnt .sentence").startswith("Whatever is ")
    assert re.match(r"1 of 1 meant, 0 of 1 not meant; precision .*100%", seen.text(".counts"))
    seen.until("/^\\d+$/.test(document.querySelector('.in-graph').textContent)")
    # A permutation of the list, what is in the concept first.
    after = [hit.get_attribute("data-iri") for hit in hits.all()]
    assert sorted(map(str, after)) == sorted(map(str, before)) and after != before
    states = page.locator("ol.hits .in-concept:visible .badge").all_inner_texts()
    assert states == sorted(states) and {"in it", "not in it"} == {*states}

    seen.click("Why is Oracle Database in?", ".in-concept .proof .badge")
    seen.click("Why is MySQL not in?", ".in-concept .proof:has-text('✗')")

    # Shorter or longer, by the keyboard.
    slider = page.locator("input.length")
    said, at = seen.text(".learnt .sentence"), slider.input_value()
    slider.press("End" if at == "0" else "Home")
    assert seen.text(".learnt .sentence") != said
    slider.press("Home" if at == "0" else "End")
    assert "symbol" in str(slider.get_attribute("aria-valuetext"))

    # What is proposed can be marked where it is proposed.
    proposed = page.locator(".next li").first
    seen.click(proposed.locator(".vote").last, ".counts:has-text('of 2 not meant')")

    page.locator(".learnt summary").click()
    assert page.locator(".learnt pre").first.inner_text().startswith(("ex:", "not ", "("))
    assert page.locator(".learnt pre").last.inner_text().startswith("SELECT DISTINCT")
    seen.enter("Name of the class", name, ".keep:has-text('It is a filter from now on')")
    assert re.search(rf"Kept as the class {name}: \d+ members?", seen.text(".keep"))
    seen.click(f"Only {name}", f"#explore-hits li:has-text('Is in {name}')")
    assert "only=urn" in page.url
    assert all(f"Is in {name}" in text for text in hits.all_inner_texts())
    assert page.locator("#explore-only").input_value().startswith("urn:mrag:concept:")
    # And so it does for questions.
    seen.open(f"/#/ask?q=database+products&only=urn%3Amrag%3Aconcept%3A{name.replace(' ', '-')}")
    seen.wait("#ask-found li")
    assert "only entities of one class" in seen.text("#answer-note")


@SIZES
def test_what_an_answer_lists_can_be_marked_by_the_keyboard(seen: Watched) -> None:
    page = seen.open(
        "/#/ask?q=List+the+graph+databases", "#ask-found summary:has-text('Mark what you meant')"
    )
    # What stands in the table already is listed for marks alone.
    assert not page.locator("#ask-found .vote").first.is_visible()
    seen.press(page.locator("#ask-found summary"), "Enter", "#ask-found .vote")
    plus = page.locator("#ask-found ol.hits .vote[data-liked='true']")
    for at in (0, 1):
        seen.press(plus.nth(at), "Space")
    page.wait_for_selector("#ask-found .learnt .sentence")
    # The focus stays on what was pressed, wherever it went.
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert "taken for what you do not mean" in seen.text(".counts")
    for _ in range(2):
        page.locator("#ask-found ol.hits .vote[aria-pressed='true']").first.press("Enter")
    page.wait_for_selector("#ask-found .learnt", state="hidden")
    assert page.locator("#ask-found .in-concept:visible").count() == 0


@POLICY
def test_hostile_names_are_learnt_as_text(browser: Browser, hostile: str, size: Size, bare: bool) -> None:
    with watched(browser, hostile, size, bypass_csp=bare) as seen:
        page = seen.open("/#/explore?q=photo", "#explore-hits .vote")
        marks = page.locator("ol.hits [data-liked='true']")
        jackets = [
            f"[data-mark='{H}photo{at}'][data-liked='{liked}']"
            for at, liked in ((0, "true"), (2, "true"), (1, "false"))
        ]
        assert marks.count() >= 8
        for one in jackets:
            page.locator(f"ol.hits {one}").click()
        page.wait_for_selector(".learnt .counts:has-text('2 of 2 meant, 0 of 1 not meant')")
        assert "<script>" in seen.text(".learnt .sentence")
        seen.click(page.locator(".in-concept .why").first, ".in-concept .proof")
        seen.click(page.locator(".in-concept .why").last, ".in-concept .proof:has-text('✗')")
        seen.enter("Name of the class", "<b>x</b>", ".keep .problem:has-text('cannot name a concept')")
        seen.plain()
        seen.forgive("400")


def test_the_ranker_is_chosen_by_name(browser: Browser, base: str) -> None:
    with watched(browser, base, NARROW) as seen:
        page = seen.open("/#/explore?q=database", "#explore-hits li")
        seen.until("document.querySelectorAll('#explore-ranker option').length > 5")
        assert page.locator("#explore-ranker option:disabled").count() >= 2
        page.locator("#explore-ranker").select_option("hybrid+mmr")
        page.wait_for_selector("#explore-hits li:has-text('variety')")
        assert "ranker=hybrid%2Bmmr" in page.url
        page = seen.open("/#/ask?q=graph+database&ranker=bm25", "#ask-found li")
        assert "a ranker was chosen" in seen.text("#answer-note")
        seen.until("document.getElementById('ask-ranker').value === 'bm25'")


def test_where_changes_are_off_a_concept_is_learnt_and_not_kept(browser: Browser, read_only: str) -> None:
    with watched(browser, read_only) as seen:
        page = seen.open("/#/explore?q=triple+store", "#explore-hits .vote")
        for at in (0, 1):
            page.locator("ol.hits [data-liked='true']").nth(at).click()
        page.wait_for_selector(".keeping:has-text('mrag serve --update')")
        assert not page.get_by_role("button", name="Remove this class").count()
        assert not page.get_by_role("button", name="Keep as class").count()


@SIZES
def test_a_kept_class_is_removed_and_offered_no_more(browser: Browser, base: str, size: Size) -> None:
    name = f"short lived {size[0]}"
    body = {"name": name, "concept": "ex:Database"}
    iri = httpx.post(f"{base}/api/concepts", json=body, timeout=60).json()["iri"]
    with watched(browser, base, size) as seen:
        page = seen.open(f"/#/explore?q=database&only={quote(iri, safe='')}")
        seen.wait(f"#explore-hits li:has-text('Is in {name}')")
        remove = page.get_by_role("button", name="Remove this class")
        remove.click()
        # It is asked about first, and the safe answer has the focus.
        group = page.locator("#explore-how [role=group]")
        assert name in str(group.get_attribute("aria-label"))
        page.keyboard.press("Enter")
        assert remove.is_visible() and not group.count()
        assert any(one["iri"] == iri for one in httpx.get(f"{base}/api/concepts").json()["concepts"])
        remove.click()
        seen.click(f"Remove {name}", f"#explore-how [role=status]:has-text('{name} is no class any more.')")
        page.wait_for_selector("#explore-hits li")
        seen.until(
            "!location.hash.includes('only=') && !document.body.textContent.includes('Is in short lived')"
        )
        for view in ("explore", "ask"):
            seen.open(f"/#/{view}")
            seen.until(f"document.querySelectorAll('#{view}-ranker option').length > 5")
            assert name not in seen.text(f"#{view}-only")
    assert all(one["iri"] != iri for one in httpx.get(f"{base}/api/concepts").json()["concepts"])


def test_a_question_among_a_class_that_is_removed_is_closed(browser: Browser, base: str) -> None:
    made = {"name": "gone soon", "concept": "ex:Database"}
    iri = httpx.post(f"{base}/api/concepts", json=made, timeout=60).json()["iri"]
    with watched(browser, base, NARROW) as seen:
        page = seen.open(f"/#/ask?q=database&only={quote(iri, safe='')}", "#ask-found li")
        seen.click("Remove this class")
        seen.click("Remove gone soon", "#ask-how [role=status]:has-text('gone soon is no class any more.')")
        seen.until("location.hash === '#/ask'")
        assert not page.locator("#ask-result").is_visible()


def test_a_class_is_kept_where_writing_is_allowed_from_here(client: httpx.Client, read_only: str) -> None:
    for path, body in (("", {"name": "x", "concept": "ex:Database"}), ("/forget", {"iri": "urn:x"})):
        assert httpx.post(f"{read_only}/api/concepts{path}", json=body).status_code == 403
    form = {"name": "x", "concept": "ex:Database"}
    assert client.post("/api/concepts", data=form).status_code == 415
    elsewhere = {"Origin": "http://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    assert client.post("/api/concepts", json=form, headers=elsewhere).status_code == 403
    assert client.post("/api/concepts", json={**form, "name": "for a while"}).status_code == 201
    kept = {one["label"]: one for one in client.get("/api/concepts").json()["concepts"]}
    assert kept["for a while"]["manchester"] == "ex:Database"
    iri = kept["for a while"]["iri"]
    assert client.post("/api/concepts/forget", json={"iri": iri}).json() == {"removed": True}
    assert client.post("/api/concepts/forget", json={"iri": iri}).json() == {"removed": False}


@pytest.mark.slow
@SIZES
def test_a_whole_task_in_german(browser: Browser, base: str, size: Size) -> None:
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
        page.locator("#ask-found summary").click()
        seen.click(page.locator("#ask-found-hits .found a").first, "#explore-entity h2")
        assert "Was der Graph darüber sagt" in seen.text("#explore-entity")
        assert page.title().endswith(" · mrag")

        # From marks to a class that filters.
        seen.open("/#/explore?q=database", "#explore-hits .vote")
        hits = page.locator("ol.hits")
        hits.get_by_role("button", name="Mehr wie Oracle Database", exact=True).click()
        seen.wait(".said:has-text('Noch eine Markierung')")
        seen.click(hits.get_by_role("button", name="Nicht wie MySQL", exact=True), ".learnt .sentence")
        counts = seen.text(".counts")
        assert counts.startswith("1 von 1 gemeinten, 0 von 1 nicht gemeinten; Genauigkeit")
        assert "100\xa0%" in counts
        seen.click("Warum gehört Oracle Database dazu?", ".in-concept .proof")
        seen.click("Warum gehört MySQL nicht dazu?", ".in-concept .proof:has-text('✗')")
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
