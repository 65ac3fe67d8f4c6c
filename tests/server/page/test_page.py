"""The page in a real browser: a question end to end, a query, a walk, Explore, and what must never happen."""

import base64
import gzip
import json
import re
from collections import deque
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.queries import COMMON
from mrag.rdf.terms import OWL, RDF, Triple
from mrag.rdf.terms import RDFS as SCHEMA
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.conftest import slow
from tests.server.browsing import HOSTILE, NARROW, POLICY, SIZES, Browser, Route, Size, Watched, watched
from tests.server.serving import serving, talking
from tests.vectors import remembered_vectors

__all__ = ["remembered_vectors"]


QUESTION = "What database products are linked to RDF?"
PER_COUNTRY = "How many vendors are there per country?"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with mrag.demo() as kg, serving(kg) as url:
        yield url


@SIZES
def test_a_question_is_answered_end_to_end(seen: Watched) -> None:
    page = seen.open()
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Answer by").select_option("read")
    seen.click("Ask", "#answer .cite")
    assert "how=read" in page.url and not page.locator("#computed").is_visible()
    assert "GraphDB" in seen.text("#answer")
    assert "No language model was used" in seen.text("#answer-note")
    assert page.locator("#answer").get_attribute("aria-busy") == "false"

    # Every chip points to a triple, marked in words as asserted or inferred.
    chips = page.locator("#answer .cite").all_inner_texts()
    rows = page.locator("#cited tr[data-line]")
    assert sorted(set(chips)) == sorted({r.get_attribute("data-line") for r in rows.all()})
    marks = page.locator("#cited .mark .badge").all_inner_texts()
    assert {m.split()[-1] for m in marks} == {"asserted", "inferred"}
    page.locator("#answer .cite").last.click()
    assert page.locator("tr.pointed").get_attribute("data-line") == chips[-1]
    assert page.evaluate("document.activeElement.dataset.line") == chips[-1]

    # Why does an inferred one hold?
    seen.click("Why: GraphDB is a semantic product?", ".proof li li")
    proof = seen.text(".proof")
    assert "because" in proof and "has feature some semantic feature" in proof and "asserted" in proof

    # The picture of what the answer speaks of, inferred edges dashed.
    page.locator("#ask-hits").get_by_role("button", name="GraphDB", exact=True).click()
    assert page.locator("#ask-drawing .node.centre text").text_content() == "GraphDB"
    inferred, asserted = (page.locator(f"#ask-drawing .edge.{kind}") for kind in ("inferred", "asserted"))
    assert inferred.count() and asserted.count() and page.locator("#ask-drawing .edge.cited").count()
    dash = "e => getComputedStyle(e).strokeDasharray"
    assert inferred.first.evaluate(dash) != "none" and asserted.first.evaluate(dash) == "none"

    seen.click(page.locator("#context summary"), "#context tbody tr")
    assert page.locator("#context tbody tr").count() > 20


def test_what_comes_behind_a_superlative_is_shown(browser: Browser, base: str) -> None:
    with watched(browser, base, (1280, 900)) as seen:
        seen.open()
        seen.enter("Question", "What is the oldest database?", "#computed .note")
        said = seen.text("#computed .note")
        assert said == "Next: MySQL: 1995, then SQLite: 2000; Apache Cassandra: 2008"


@SIZES
def test_a_computed_answer_shows_its_rows_and_how_it_is_read(browser: Browser, base: str, size: Size) -> None:
    with watched(browser, base, size, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.open()
        seen.enter("Question", PER_COUNTRY, "#answer table.rows")
        heads = page.locator("#answer .rows th").all_inner_texts()
        assert heads[0] == "country" and heads[-1] == "Proof" and len(heads) == 3
        cells = page.locator("#answer .rows tbody tr").first.locator("td").all_inner_texts()
        assert cells[:2] == ["Austria", "1"] and seen.text("#answer .rows caption") == "9 rows"
        assert seen.text("#computed .reading").startswith("Read as: the number of vendors")
        assert seen.text("#answer-note").startswith("Computed: ")
        # What proves a row is one click away, inferred triples marked as ever.
        page.locator("#answer .rows .cite").first.click()
        assert page.locator("tr.pointed td").first.inner_text() == cells[2].split()[0]
        assert page.locator("#cited .badge.inferred").count()
        assert page.locator("#ask-drawing .node.centre text").text_content() == "Austria"

        # The query: folded, copied, and opened where it can be run.
        summary = page.locator("#computed summary")
        assert not page.locator("#computed pre").is_visible()
        seen.press(summary, "Enter")
        query = seen.text("#computed pre")
        assert query.startswith("SELECT ")
        seen.click("Copy", "#computed [role=status]:has-text('Copied.')")
        assert page.evaluate("navigator.clipboard.readText()").strip() == query.strip()
        seen.click(page.get_by_role("link", name="Open in Query"), "#editor .CodeMirror")
        seen.click(page.locator("#run"), "#query-state:has-text('9 rows')")
        seen.back("#answer table.rows")


@SIZES
def test_a_question_is_shown_with_what_its_words_became(seen: Watched) -> None:
    page = seen.open()
    seen.enter("Question", PER_COUNTRY, "#computed .words")
    words = page.get_by_role("list", name="Word by word")
    assert words.locator("mark").all_inner_texts() == ["How many", "vendors", "per", "country"]
    assert words.get_by_role("listitem").all_inner_texts() == [
        "How many\nwith “vendors”", "vendors\ncounted: vendor", "are there", "per\nwith “country”",
        "country\ngrouped by: country", "(no words)\nassumed: based in",
    ]  # fmt: skip
    seen.click(words.get_by_role("link", name="vendor", exact=True), "#explore-entity h2")
    assert seen.text("#explore-entity h2") == "vendor"
    # Signs of two units move no mark, and parts of one word are told together.
    seen.open("/#/ask")
    seen.enter("Question", "\U0001f3ed\U0001f3ed Wie viele Produkte hat Ontotext?", "#computed .words")
    seen.wait("#computed .words mark:text-is('Produkte')")
    assert words.locator("mark").all_inner_texts() == ["Wie viele", "Produkte", "Ontotext"]


@SIZES
def test_long_tables_are_short_until_they_are_wanted_whole(seen: Watched) -> None:
    page = seen.open("/#/ask?q=List+the+graph+databases", "#answer table.rows")
    rows = page.locator("#answer .rows tbody tr")
    assert rows.count() == 10
    more = page.get_by_role("button", name=re.compile(r"Show all \d+ rows"))
    wanted = int(more.inner_text().split()[2])
    seen.press(more, "Enter")
    assert rows.count() == wanted > 10 and not more.count()


@SIZES
def test_another_reading_is_asked_for_by_a_click_and_has_an_address(seen: Watched) -> None:
    page = seen.open("/#/ask?q=How+many+vendors+are+there+per+country%3F", "#answer .cite")
    first = seen.text("#computed .reading")
    button = page.locator("#computed [data-reading]").first
    other, number = button.inner_text(), button.get_attribute("data-reading")
    seen.press(button, "Enter", f"#computed .reading:has-text({other!r})")
    assert f"reading={number}" in page.url
    assert page.locator("#computed [data-reading='1']").count() == 1
    page.go_back()
    seen.until(f"document.querySelector('#computed .reading').textContent === {first!r}")
    # A question of one's own starts with the first reading again.
    page.get_by_label("Answer by").select_option("plan")
    seen.enter("Question", "How many employees does GraphDB have?", "#answer:has-text('Not in this graph')")
    assert "how=plan" in page.url and "reading" not in page.url
    assert not page.locator("#computed").is_visible()


@SIZES
def test_a_follow_up_has_a_field_an_address_and_is_shared(browser: Browser, base: str, size: Size) -> None:
    with watched(browser, base, size) as seen:
        page = seen.open("/#/ask?q=How+many+triple+stores+are+there%3F", "#answer .cite")
        assert not page.locator("#asked-before").is_visible()
        for question, text in cases(__file__, "a_follow_up_has_a_field_an_address_and_can_be_shared"):
            seen.enter("Go on from this answer", question)
            # The answer before stays until the next one is there, and may name the same things.
            page.wait_for_selector("#answer-note:has-text('Computed: read as a follow-up')")
            page.wait_for_selector(f"#answer:has-text({text!r})")
        assert seen.text("#asked-before") == (
            "how many?, asked after How many triple stores are there? › which of them are commercial?"
        )
        address = page.url
        seen.back("#answer:has-text('AllegroGraph')")
    with watched(browser, base, size) as seen:
        # Whoever opens the link has none of the answers before.
        page = seen.open(address.removeprefix(base), "#answer:has-text('7 triple stores')")
        seen.enter("Go on from this answer", "and of Mars?", "#answer:has-text('Not in this graph')")
        # The text is there before the answer is whole, and the field after it.
        page.get_by_label("Go on from this answer").wait_for(state="visible")
        seen.enter("Question", "How many databases?", "#answer:has-text('33 databases')")
        assert "after" not in page.url and not page.locator("#asked-before").is_visible()
        page = seen.open("/#/ask?q=How+many+databases%3F&after=%5B%5B1%2C2%5D")
        seen.wait("#answer:has-text('33 databases')")


def test_all_views_together_weigh_little() -> None:
    # Licences and notes are not sent; the rest is, at most, with what compression a proxy has.
    folder = Path(str(files("mrag") / "server" / "page"))
    sent = [path for path in folder.rglob("*") if path.suffix in (".js", ".css", ".html", ".svg")]
    assert len(sent) > 30 and sum(len(gzip.compress(path.read_bytes())) for path in sent) < 600_000


def test_the_modules_of_the_first_view_are_fetched_at_once() -> None:
    folder = Path(str(files("mrag") / "server" / "page"))
    seen, todo = set[str](), ["main.js"]
    while todo:
        if (name := todo.pop()) in seen:
            continue
        seen.add(name)
        found = re.findall(r'^import [^;]* from "(\.[^"]+)";', (folder / name).read_text(), re.MULTILINE)
        todo += [
            str(((folder / name).parent / path).resolve().relative_to(folder.resolve())) for path in found
        ]
    preloaded = re.findall(r'modulepreload" href="/page/([^"]+)"', (folder / "index.html").read_text())
    assert {"main.js", *preloaded} == seen and len(preloaded) == len(seen) - 1


def test_text_appears_as_it_is_written_and_stops(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        talking(monkeypatch) as go_on,
        mrag.demo(model="none") as kg,
        serving(kg, model="openai:m") as url,
        watched(browser, url) as seen,
    ):
        page = seen.open("/#/ask?q=Who+develops+GraphDB%3F&how=read")
        # The model waits in the middle of its answer.
        page.wait_for_selector("#answer .written:text-is('GraphDB is developed by Ontotext.')")
        assert page.locator("#answer").get_attribute("aria-busy") == "true"
        seen.click(page.get_by_role("button", name="Stop").first, "#answer:has-text('Stopped.')")
        assert page.locator("#answer").get_attribute("aria-busy") == "false"
        go_on.set()
        seen.click("Ask", "#answer .cite")
        assert "Written by m" in seen.text("#answer-note")
        assert "Bulgaria" in seen.text("#answer")
        assert not page.locator("#ask-stop").is_visible()


@SIZES
def test_a_ready_query_runs_in_the_editor(seen: Watched, size: Size) -> None:
    page = seen.open("/#/query", "#editor .CodeMirror")
    seen.unfold("#catalogue")
    names = page.locator("#catalogue-list li:visible button")
    assert {name.get_attribute("data-query") for name in names.all()} == set(COMMON)
    page.get_by_label("Search all queries").fill("degree")
    assert names.count() == 1, "others are there for those who look for them"
    page.get_by_label("Search all queries").fill("instances")
    assert names.count() >= 1
    page.locator("[data-query='explore/classes']").click()
    assert "COUNT(*)" in seen.text("#editor .CodeMirror")
    seen.click("Run", "#results tbody:not([aria-hidden]) tr")
    assert re.match(r"\d+ rows in", seen.text("#query-state"))
    # A name of the results opens here.
    seen.click(page.locator("#results td a", has_text="triple store").first, "#explore-entity h2")
    assert seen.text("#explore-entity h2") == "triple store"
    seen.back("#results tbody:not([aria-hidden]) tr")
    assert page.locator("#query").is_visible()


def test_other_forms_of_queries_and_their_errors(browser: Browser, base: str) -> None:
    with watched(browser, base) as seen:
        page = seen.open("/#/query?query=ASK%20%7B%20ex%3AGraphDB%20%3Fp%20%3Fo%20%7D", "#editor .CodeMirror")
        page.locator("#editor .CodeMirror").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#query-state:has-text('Yes')")
        for text, wanted in cases(__file__, "other_forms_of_queries_and_their_errors"):
            seen.put(text)
            seen.click(page.locator("#run"), f"#query-state:has-text('{wanted}')")
    # A refusal is told in words; the browser notes its status in the console, which is no fault.
    with watched(browser, base) as seen:
        page = seen.open("/#/query", "#editor .CodeMirror")
        for text in ("SELECT nonsense", "SELECT * { SERVICE <http://other.example/> { ?s ?p ?o } }"):
            seen.put(text)
            seen.click(page.locator("#run"), "#query-problem .problem")
            assert len(seen.text("#query-problem")) > 20
            assert not page.locator("#results").is_visible()
        seen.forgive("400")


def test_prefixes_that_the_server_knows_are_no_errors(seen: Watched) -> None:
    page = seen.open("/#/query")
    seen.put("SELECT * { ?s a nowhere:Thing }")
    page.wait_for_selector(".parseErrorIcon")
    seen.put("SELECT * {\n ?s a ex:SemanticProduct ; rdfs:label ?o\n}")
    page.wait_for_selector(".parseErrorIcon", state="detached")


def test_names_are_completed_from_this_graph(seen: Watched) -> None:
    page = seen.open("/#/query", "#editor .CodeMirror")
    page.locator("#editor .CodeMirror").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT * { ?s a ex:Triple")
    page.keyboard.press("Control+Space")
    page.wait_for_selector(".CodeMirror-hints li:has-text('ex:TripleStore')")


@SIZES
def test_one_walks_from_entity_to_entity_and_back(seen: Watched) -> None:
    page = seen.open("/#/explore")
    title = page.locator("#explore-entity h2")
    page.get_by_label("Search for an entity").fill("GraphDB")
    seen.click("Search")
    page.locator("#explore-hits").get_by_role("link", name="GraphDB", exact=True).click()
    seen.wait("#explore-entity svg")
    assert title.inner_text() == "GraphDB" and page.title().startswith("GraphDB")
    page.locator("#explore-entity svg").get_by_role("link", name="Ontotext", exact=True).click()
    seen.wait("#explore-entity h2:text-is('Ontotext')")
    # By the keyboard too.
    seen.press(page.locator("#explore-entity .part-s a", has_text="GraphDB").first, "Enter")
    seen.wait("#explore-entity h2:text-is('GraphDB')")
    page.get_by_role("button", name="Show all").first.click()
    assert page.locator("#explore-entity tbody").first.locator("tr").count() > 30
    seen.back("#explore-entity h2:text-is('Ontotext')")
    seen.back("#explore-entity h2:text-is('GraphDB')")
    seen.back("#explore-hits li")
    assert page.get_by_label("Search for an entity").input_value() == "GraphDB"


def test_a_link_opens_what_it_names_and_back_keeps_the_answer(seen: Watched) -> None:
    page = seen.open("/#/ask?q=Which+vendor+develops+GraphDB%3F", "#answer .cite")
    assert page.get_by_label("Question").input_value() == "Which vendor develops GraphDB?"
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url) if r.url.endswith("/api/ask") else None)
    seen.click(page.locator("#cited a", has_text="Ontotext").first, "#explore-entity h2")
    seen.back("#answer .cite")
    assert not asked
    seen.click(page.locator("#examples a").first, "#answer:has-text('11 triple stores')")
    seen.back("#answer:has-text('Ontotext')")
    assert len(asked) == 1


@pytest.fixture(scope="module")
def hostile() -> Iterator[str]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([Path(__file__).with_name("hostile.ttl")])
        reason(kg)
        SimilarityIndexes.of(kg).build("main", model="none")
        with serving(kg) as url:
            yield url


@POLICY
def test_hostile_text_stays_text(browser: Browser, hostile: str, size: Size, bare: bool) -> None:
    # The page must hold without its Content Security Policy too, which is a second wall.
    with watched(browser, hostile, size, bypass_csp=bare) as seen:
        page = seen.open()
        page.get_by_label("Question").fill(f"bold {HOSTILE}")
        seen.click("Ask", "#cited")
        page.wait_for_selector("#ask-drawing svg")
        assert HOSTILE in seen.text("#ask-result")
        seen.click(page.locator("#context summary"), "#ask-images a")
        # The address of an image on the web is a link, and nothing has asked for it.
        image = page.locator("#ask-images a.placeholder").first
        assert image.get_attribute("href") == "http://images.example/%3Cb%3E.jpg"
        assert image.get_attribute("target") == "_blank" and "noopener" in str(image.get_attribute("rel"))
        seen.open("/#/explore?iri=http%3A%2F%2Fhostile.example%2Fa", "#explore-entity svg")
        assert seen.text("#explore-entity h2") == " ".join(HOSTILE.split())
        seen.open("/#/explore?q=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "#explore-hits > *")
        seen.open("/#/query?query=SELECT%20*%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D", "#editor .CodeMirror")
        seen.click(page.locator("#run"), "#results tbody:not([aria-hidden]) tr")
        assert "<b>bold</b>" in seen.text("#results")
        seen.plain()
        assert not [url for url in seen.asked if url.endswith(("/x", "/page/x"))]


def test_a_token_is_asked_for_once_and_kept_in_the_tab(browser: Browser) -> None:
    with (
        mrag.demo(model="none") as kg,
        serving(kg, token="a-long-token") as url,
        watched(browser, url) as seen,
    ):
        page = seen.open("/#/ask?q=Which+vendor+develops+GraphDB%3F")
        field = page.get_by_label("This server asks for a token")
        assert "kept in this tab only" in seen.text("#token-hint")
        field.fill("not-this-one")
        seen.click("Use it", "#token-hint:has-text('did not take')")
        field.fill("a-long-token")
        seen.click("Use it", "#answer .cite")
        assert not page.locator("#token-form").is_visible()
        assert page.evaluate("sessionStorage.getItem('mrag-token')") == "a-long-token"
        assert page.evaluate("Object.keys(localStorage).length") == 0
        page.reload()
        page.wait_for_selector("#answer .cite")
        seen.open("/#/query?query=ASK%20%7B%7D", "#editor .CodeMirror")
        seen.click(page.locator("#run"), "#query-state:has-text('Yes')")
        assert "a-long-token" not in page.url
        seen.forgive("401")


def test_images_of_the_media_folder_are_shown(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    a, image = URIRef("urn:x:a"), URIRef("http://schema.org/image")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(a, image, Literal("a.png")), Triple(a, image, Literal("gone.png"))])
        with serving(kg, token="a-long-token", media=tmp_path) as url, watched(browser, url) as seen:
            page = seen.open()
            page.get_by_label("This server asks for a token").fill("a-long-token")
            seen.click("Use it")
            page.wait_for_selector("#token-form", state="hidden")
            seen.open("/#/explore?iri=urn%3Ax%3Aa")
            shown = page.locator("#explore-entity .images img")
            seen.until("document.querySelector('.images img')?.naturalWidth === 1")
            assert shown.count() == 1 and shown.get_attribute("alt")
            assert "gone.png" in seen.text("#explore-entity .images")
            seen.forgive("401")


def test_a_server_that_is_gone_is_told_in_words(browser: Browser) -> None:
    with mrag.demo(model="none") as kg, watched(browser, "http://127.0.0.1") as seen:
        with serving(kg) as url:
            seen.base = url
            seen.open("/", "#examples a")
        seen.page.get_by_label("Question").fill("Who is there?")
        seen.click("Ask", "#ask-problem:has-text('does not answer')")
        seen.said.clear()


def test_errors_of_the_graph_are_told_in_words(seen: Watched) -> None:
    seen.open("/#/explore?iri=urn%3Anothing%3Ahere", "#explore-problem:has-text('says nothing')")
    seen.open("/#/explore?iri=no%20iri", "#explore-problem:has-text('Not a well-formed IRI')")
    seen.forgive("404", "400")


_NAMELESS, _CONTRAST = (
    Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in ("nameless", "contrast")
)


@pytest.mark.parametrize("scheme", ["light", *slow("dark")])
def test_text_can_be_read_and_everything_has_a_name(browser: Browser, base: str, scheme: str) -> None:
    with watched(browser, base, color_scheme=scheme) as seen:
        page = seen.open("/#/ask?q=Which+vendor+develops+GraphDB%3F", "#answer .cite")
        assert page.evaluate(_NAMELESS) == []
        assert page.locator("html").get_attribute("lang") == "en"
        # WCAG 2.2, success criterion 1.4.3: at least 4.5 to 1 for text.
        assert [row for row in page.evaluate(_CONTRAST, cases(__file__, "contrast")) if row[2] < 4.5] == []
        background = "getComputedStyle(document.body).backgroundColor"
        assert (page.evaluate(background) == "rgb(18, 23, 21)") is (scheme == "dark")
        seen.open("/#/explore?iri=ex%3AGraphDB", "#explore-entity svg")
        assert page.evaluate(_NAMELESS) == []


def test_the_keyboard_alone_is_enough(seen: Watched) -> None:
    page = seen.open("/#/explore", ".class-tree a")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen.open("/#/ask")
    page.get_by_label("Question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .cite")
    seen.press(page.locator("#cited .why").first, "Enter", ".proof li")
    page.keyboard.press("Enter")
    page.wait_for_selector(".proof", state="detached")


ODD = ["", "\u202eask", "x" * 20_000]

ODD += """
__proto__ constructor toString valueOf hasOwnProperty isPrototypeOf __defineGetter__ %5F%5Fproto%5F%5F ?
/ask ask/ ASK % %E0%A4%A ask#x __proto__?q= constructor?iri=x ask?__proto__=x
ask?constructor=1&toString=2 ask?%&=&&%zz=%
""".split()


def test_a_name_that_every_object_has_is_no_section(seen: Watched) -> None:
    page = seen.open("/#/__proto__")
    for name in ODD:
        page.evaluate("(name) => { location.hash = `#/${name}` }", name)
        seen.until("!document.getElementById('ask').hidden && document.title === 'Ask · mrag'")
        assert page.locator("#explore").is_hidden() and page.locator("#query").is_hidden(), name
        # What the page does next still works: nothing of the page has been changed under its feet.
        page.evaluate("location.hash = '#/explore?__proto__=x&constructor=y'")
        page.wait_for_selector("#explore-start .class-tree")
        assert page.title() == "Explore · mrag"
    assert page.evaluate("Object.keys(Object.prototype).length") == 0


def test_variables_named_as_what_every_object_has_are_shown(seen: Watched) -> None:
    names = ["constructor", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf"]
    page = seen.open("/#/query", ".CodeMirror")
    values = " ".join(f'("{name}" UNDEF)' for name in names)
    for name in names:
        query = f"SELECT * {{ VALUES (?word ?{name}) {{ {values} }} }}"
        page.evaluate("(q) => { location.hash = `#/query?query=${encodeURIComponent(q)}` }", query)
        seen.until(f"document.querySelector('.CodeMirror').CodeMirror.getValue().includes('?{name}')")
        seen.click("Run")
        seen.until("document.getElementById('query-state').textContent.startsWith('5 rows')")
        seen.wait("#results tr[aria-rowindex='6']")
        assert "function" not in seen.text("#results")


EX = "https://w3id.org/mrag/demo/products#"


@SIZES
def test_from_the_class_tree_to_a_graph_that_grows(seen: Watched) -> None:
    page = seen.open("/#/explore")
    seen.click(page.locator(".class-tree a", has_text="knowledge graph platform"), "#explore-entity h2")
    seen.open("/#/explore?iri=ex%3AGraphDB", "#explore-entity h2:has-text('GraphDB')")
    page.get_by_role("link", name="Grow it into a graph").click()
    page.wait_for_selector(".growing-frame canvas", state="attached")
    page.locator(".growing summary").click()
    entities = page.locator(".growing-list button")
    before = entities.count()

    # By the keyboard alone: choose, grow, pin, hide.
    seen.press(page.locator(f"[data-node='{EX}Ontotext']"), "Enter")
    seen.click("Grow", ".growing [role=status]:has-text('more.')")
    assert entities.count() > before
    seen.click("Pin")
    assert page.get_by_role("button", name="Pin").get_attribute("aria-pressed") == "true"
    page.get_by_label("Path to").fill("ex:Redis")
    seen.click("Find", ".growing [role=status]:has-text('A path of')")
    assert page.locator(f"[data-node='{EX}Redis']").count() == 1
    seen.click("Hide")
    assert page.locator(f"[data-node='{EX}Ontotext']").count() == 0
    with page.expect_download() as given:
        seen.click("Save as JSON")
    saved = json.loads(Path(given.value.path()).read_text())
    assert {one["id"] for one in saved["nodes"]} >= {EX + "GraphDB", EX + "Redis"} and saved["edges"]


def test_what_is_typed_before_the_view_has_loaded_is_searched_for(seen: Watched) -> None:
    held: list[Route] = []
    seen.page.route("**/page/explore.js", lambda route: held.append(route))
    page = seen.open("/#/explore")
    seen.enter("Search for an entity", "ex:GraphDB")
    assert page.url.endswith("/#/explore") and held
    held.pop().continue_()
    page.wait_for_selector("#explore-hits h3:has-text('GraphDB')")
    assert page.get_by_label("Search for an entity").input_value() == "ex:GraphDB"


def test_files_are_added_and_hostile_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / f"{HOSTILE.replace('/', '')}.ttl"
    label = json.dumps(HOSTILE)
    file.write_text(f"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <urn:h:a> a <urn:h:C> ; rdfs:label {label} ; <urn:h:p> <urn:h:b> . <urn:h:b> rdfs:label {label} .
        <urn:h:p> rdfs:label {label} . <urn:h:C> rdfs:label {label} .""")
    with (
        KnowledgeGraph(OxigraphStore()) as kg,
        serving(kg, update=True) as url,
        watched(browser, url) as seen,
    ):
        page = seen.open("/#/explore")
        page.locator("#import-file").set_input_files(file)
        page.wait_for_selector(".import:has-text('6 triples added')")
        page.reload()
        page.wait_for_selector(".class-tree a")
        seen.open("/#/explore?iri=urn%3Ah%3Aa&view=graph")
        page.wait_for_selector(".growing-frame canvas", state="attached")
        page.get_by_label("Path to").fill("urn:h:b")
        seen.click("Find", ".growing [role=status]:has-text('A path of 1 link')")
        seen.plain()


def test_a_path_is_a_shortest_one(client: httpx.Client) -> None:
    with mrag.demo(model="none") as kg:
        links: dict[str, set[str]] = {}
        for s, p, o in kg.query("SELECT ?s ?p ?o { ?s ?p ?o FILTER(ISIRI(?o)) } ORDER BY ?s ?p ?o"):
            if not str(p).startswith((RDF, SCHEMA, OWL)):
                links.setdefault(str(s), set()).add(str(o))
                links.setdefault(str(o), set()).add(str(s))
    begin = EX + "GraphDB"
    far, queue = {begin: 0}, deque([begin])
    while queue:
        for other in links[node := queue.popleft()]:
            if other not in far:
                far[other] = far[node] + 1
                queue.append(other)
    for goal in sorted(far)[::23]:
        found = client.get("/api/path", params={"from": begin, "to": goal}).json()
        assert len(found["path"]) == far[goal], goal
        ends = {begin} | {row["triple"][part]["value"] for row in found["path"] for part in "so"}
        assert goal in ends
    assert client.get("/api/path", params={"from": begin, "to": "urn:nothing"}).status_code == 404
    assert client.get("/api/expand", params={"iri": "urn:nothing"}).status_code == 404
    assert client.get("/api/path", params={"from": begin, "to": "no iri"}).status_code == 400


def test_classes_in_a_circle_have_a_place_in_the_tree(browser: Browser) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        above, kind = URIRef(SCHEMA + "subClassOf"), URIRef(RDF + "type")
        a, b, x = (URIRef(f"urn:c:{n}") for n in "abx")
        kg.insert([Triple(a, above, b), Triple(b, above, a), Triple(x, kind, a)])
        kg.insert([Triple(a, RDFS.label, Literal("round")), Triple(b, RDFS.label, Literal("about"))])
        with serving(kg) as url, watched(browser, url, NARROW) as seen:
            page = seen.open("/#/explore", ".class-tree a:has-text('round')")
            assert page.locator(".class-tree a").count() == 2 and not page.locator(".import").count()


@SIZES
def test_an_entity_is_downloaded_as_a_file(browser: Browser, size: Size, tmp_path: Path) -> None:
    with mrag.connect() as kg:
        data = (
            f"<urn:h:a> <{RDFS.label}> {json.dumps(HOSTILE)} ; <urn:h:p> <urn:h:b> . <urn:h:c> <urn:h:p> 1 ."
        )
        (tmp_path / "a.ttl").write_text(data, "utf-8")
        kg.load([tmp_path / "a.ttl"])
        with serving(kg) as url, watched(browser, url, size, accept_downloads=True) as seen:
            page = seen.open("/#/explore?iri=urn%3Ah%3Aa")
            with page.expect_download() as given:
                seen.click("N-Triples")
            assert len(Path(given.value.path()).read_text().splitlines()) == 2
            assert page.title() == f"{HOSTILE} · mrag"
