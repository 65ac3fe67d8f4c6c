"""What notebooks show: live in a real browser and in a real kernel, and as HTML where neither is."""

import base64
import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.widgets import NotebookView
from tests.conftest import opened
from tests.server.browsing import Browser, Page, chromium

ROOT = Path(__file__).parents[2]
MODULE = base64.b64encode((ROOT / "mrag/panel.js").read_bytes()).decode()
H = "http://hostile.example/"
HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><b>bold</b></pre><script>document.title='owned'</script>"
)
MODEL = Path(__file__).with_name("model.js").read_text(encoding="utf-8").partition("\n")[2]
"""The interface of a model, as anywidget documents it."""


browser = opened(lambda _: chromium())


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_default_timeout(20_000)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda one: faults.append(one.url) if not one.url.startswith("data:") else None)
    yield opened
    opened.close()
    assert faults == []


def live(page: Page, view: NotebookView) -> None:
    """Draw a part in a browser; what is done there comes to Python."""
    page.expose_function("act", lambda asked: json.dumps(view.act(json.loads(asked))))
    page.evaluate(MODEL, [MODULE, view.value])


def test_an_answer_is_shown_and_its_triples_are_proved(page: Page, demo: KnowledgeGraph) -> None:
    live(page, demo.show(demo.ask("How many vendors are there per country?", how="plan")))
    assert page.locator("table").first.locator("tbody tr").count() == 9
    assert "Read as: the number of vendors" in page.inner_text("body")
    page.get_by_text("SPARQL", exact=True).click()
    assert page.locator("pre:visible").inner_text().startswith("SELECT ")
    why = page.get_by_role("button", name=re.compile("^Why: .* vendor"))
    before = why.count()
    why.first.click()
    page.wait_for_selector("pre[aria-label]")
    assert "asserted" in page.inner_text("pre[aria-label]") and why.count() == before - 1


def test_marks_become_a_concept_that_can_be_kept(page: Page, demo: KnowledgeGraph) -> None:
    names = [demo.prefixes["ex"] + n for n in ("Fuseki", "Neo4j", "Virtuoso", "Redis", "RDFox", "Database")]
    view = demo.learn_widget(names)
    live(page, view)
    assert page.get_by_role("button", name="More like").count() == 5, "classes cannot be marked"
    page.get_by_role("button", name="More like Apache Jena Fuseki").click()
    page.wait_for_selector("[aria-pressed='true']")
    assert view.concept is None
    page.get_by_role("button", name="Not like Redis").click()
    page.wait_for_selector("code:has-text('ex:GraphDatabase')")
    assert "1 of 1 meant, 0 of 1 not meant" in page.inner_text("body")
    assert page.locator("td:has-text('in it')").count() == 4
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Not like Redis"
    assert view.concept is not None and view.concept.hypothesis.solved
    # The same button takes the mark back.
    page.get_by_role("button", name="Not like Redis").click()
    page.wait_for_selector("code", state="detached")
    assert view.value["disliked"] == []


def test_one_walks_from_entity_to_entity(page: Page, demo: KnowledgeGraph) -> None:
    view = demo.explore("ex:GraphDB")
    live(page, view)
    page.get_by_role("button", name="Ontotext", exact=True).first.click()
    page.wait_for_selector("h3:has-text('Ontotext')")
    page.get_by_role("button", name="GraphDB", exact=True).first.click()
    page.wait_for_selector("h3:has-text('GraphDB')")
    assert [one["label"] for one in view.value["been"]] == ["GraphDB", "Ontotext", "GraphDB"]
    # What cannot be done is said, and changes nothing else.
    assert "nothing about" in view.act({"iri": "urn:x:none"})["problem"] and view.value["label"] == "GraphDB"
    page.evaluate("window.ended()")


class Reader(HTMLParser):
    """Fails where an element could run or load something."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe") and not any(name.startswith("on") for name, _ in attrs)


@pytest.fixture(scope="module")
def hostile() -> Iterator[KnowledgeGraph]:
    """A graph of which every name is an attack."""
    with mrag.connect() as kg:
        things = [URIRef(f"{H}thing{at}") for at in range(4)]
        triples = [Triple(URIRef(H + "likes"), RDFS.label, Literal(HOSTILE))]
        for at, thing in enumerate(things):
            said = {RDF.type: URIRef(H + "Thing"), RDFS.label: Literal(f"{HOSTILE} {at}"),
                    URIRef(H + "likes"): things[at % 2], RDFS.comment: Literal(HOSTILE)}  # fmt: skip
            triples += [Triple(thing, p, o) for p, o in said.items()]
        kg.insert(triples)
        reason(kg)
        kg.index(model="none")
        yield kg


@pytest.mark.parametrize("kind", ["answer", "marks", "entity"])
def test_hostile_names_are_text(page: Page, hostile: KnowledgeGraph, kind: str) -> None:
    thing = f"{H}thing0"
    views: dict[str, NotebookView] = {
        "answer": hostile.show(hostile.ask("bold", model="none", how="read")),
        "marks": hostile.learn_widget([f"{H}thing{at}" for at in range(4)]),
        "entity": hostile.explore(thing),
    }
    view = views[kind]
    Reader().feed(view._repr_html_())
    live(page, view)
    if kind == "marks":
        for at, sign in ((0, "More"), (1, "Not")):
            page.locator(f"[aria-label^='{sign} like'][data-key$='thing{at}']").click()
            page.wait_for_timeout(200)
    if kind == "entity":
        page.locator("button[title$='thing2']").first.click()
    page.wait_for_timeout(200)
    Reader().feed(view._repr_html_())
    assert "<img" in page.inner_text("body")
    assert page.evaluate("document.querySelectorAll('img, b b, script, iframe').length") == 0
    assert page.title() != "owned"


@pytest.mark.parametrize(
    "asked",
    [{}, {"why": 3}, {"why": ["t1"]}, {"liked": "x"}, {"liked": [1, None]}, {"iri": None}, {"iri": "<x"}],
    ids=str,
)
def test_what_a_browser_sends_is_not_trusted(demo: KnowledgeGraph, asked: dict[str, Any]) -> None:
    names = [demo.prefixes["ex"] + n for n in ("Fuseki", "Redis")]
    for view in (demo.show(demo.ask("How many databases?", how="plan")), demo.explore("ex:GraphDB")):
        assert view.act(asked)["problem"]
    marks = demo.learn_widget(names)
    assert marks.act(asked)["concept"] is None
    assert marks.act({"liked": ["urn:x:a", names[0]], "disliked": [names[0]]})["problem"]


def test_without_the_extra_it_is_html(demo: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if it were not installed: Python then finds no module of this name.
    monkeypatch.setitem(sys.modules, "anywidget", None)
    for view in (demo.explore("ex:GraphDB"), demo.learn_widget(demo.search("graph database", 3))):
        assert view.widget is None
        bundle = view._repr_mimebundle_()
        assert list(bundle) == ["text/html"] and "<table" in bundle["text/html"]


@pytest.mark.slow
def test_a_kernel_shows_a_widget_with_html_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed: the extra widget")
    cells = [
        f"import sys; sys.path = {[str(ROOT), *sys.path]!r}\nimport mrag\nkg = mrag.demo(model='none')",
        "view = kg.explore('ex:GraphDB')\nview",
        # What a browser does: it sets the action of the model.
        "view.widget.asked = {'iri': kg.prefixes['ex'] + 'Ontotext'}\nprint(view.widget.value['label'])",
        "names = [kg.prefixes['ex'] + n for n in ('Fuseki', 'Neo4j', 'Redis')]\nkg.learn_widget(names)",
        "marks = _\nmarks.widget.asked = {'liked': names[:1], 'disliked': names[2:]}\nprint(marks.value)",
        "kg.show(kg.ask('How many triple stores are there?', how='plan'))",
        "kg.close()",
    ]
    import nbformat  # takes two seconds, which is too long for every worker
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [[dict(o.get("data", {})) for o in cell.outputs] for cell in notebook.cells]
    for at in (1, 3, 5):
        (data,) = shown[at]
        assert data["application/vnd.jupyter.widget-view+json"]["model_id"] and "<" in data["text/html"]
    printed = ["".join(o.get("text", "") for o in cell.outputs) for cell in notebook.cells]
    assert printed[2].strip() == "Ontotext" and "'sentence': 'Whatever is" in printed[4]
