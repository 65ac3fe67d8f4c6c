"""What notebooks show: complete, escaped, and with no script, style or file from elsewhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from rdflib import Literal, URIRef

import mrag
from mrag import html
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
_VOID = {"br", "img"}


class Reader(HTMLParser):
    """Reads markup, and fails where an element is not closed or could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "style", "link", "iframe", "object"), tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("href", "src") or (value or "").startswith("data:"), (name, value)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(shown: object) -> str:
    """Return the text of what a notebook shows of a value, after checking its markup."""
    reader = Reader()
    reader.feed(shown._repr_html_())  # type: ignore[attr-defined]
    reader.close()
    assert not reader.open
    text = " ".join(reader.text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    return text


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.demo(model="none") as graph:
        product = URIRef(graph.prefixes["ex"] + "GraphDB")
        graph.insert([Triple(product, URIRef("urn:x:motto"), Literal(HOSTILE))])
        yield graph


def test_an_answer_its_context_and_its_hits(kg: KnowledgeGraph) -> None:
    answer = mrag.ask(kg, "Which vendor develops GraphDB?", model="none")
    text = read(answer)
    for citation in answer.citations:
        assert citation.line_id in text
    context = mrag.expand(kg, [(kg.prefixes["ex"] + "GraphDB", 1.0)])
    shown = read(context)
    assert "img src=x onerror=alert(1)" in shown and "inferred" in shown
    assert str(context) == context.text()


def test_markup_of_others_is_text() -> None:
    assert html.text("<b>") == "&lt;b&gt;"
    assert html.tag("a", html.Html("<i>x</i>"), title='"><script>') == (
        '<a title="&quot;&gt;&lt;script&gt;"><i>x</i></a>'
    )
