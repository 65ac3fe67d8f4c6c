"""Whatever labels a graph has: nothing crashes, citations are lines of the context, JSON keeps all."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import BNode, Literal, URIRef

from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.answering import answer, cite
from mrag.generation.result import Answer, recorded
from mrag.generation.support.sentences import split
from mrag.generation.verification import verify
from mrag.language.tokens import fold, tokens
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Triple
from tests.generation.conftest import GRAPH, ask_in

TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from("GraphDB,RDF storage,It,a,not,,.,[t1],“,东京,e.g.,5,-3.0,t1,No".split(",")),
    st.text(alphabet="ab .,[]t1'’—:", max_size=12),
)
# Stores hold no lone surrogates; XML and JSON cannot carry them.
LABELS = TEXTS.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))
SCHEMA = [RDFS + name for name in ("subClassOf", "label", "comment", "domain")]
SCHEMA += [RDF + "type", OWL + "disjointWith", OWL + "sameAs"]
PREDICATES = st.sampled_from([*SCHEMA, "http://example.org/p", "http://example.org/q"])
NODES = st.integers(0, 5).map(lambda i: URIRef(f"http://example.org/n{i}"))
DATATYPES = st.sampled_from([None, XSD + "decimal", XSD + "boolean", XSD + "date", XSD + "integer"])


@st.composite
def lines(draw: st.DrawFn, number: int) -> Line:
    s = draw(st.one_of(NODES, st.just(BNode("b"))))
    p = URIRef(draw(PREDICATES))
    labels = (draw(LABELS), draw(LABELS), draw(LABELS))
    datatype = draw(DATATYPES)
    literal = Literal(labels[2], datatype=URIRef(datatype) if datatype else None, normalize=False)
    o = draw(st.one_of(NODES, st.just(literal), st.just(literal)))
    text = f"({', '.join(labels)})"
    score = draw(st.floats(allow_nan=True, allow_infinity=True))
    return Line(f"t{number}", text, Triple(s, p, o), GRAPH, draw(st.booleans()), labels, str(s), score)


@st.composite
def contexts(draw: st.DrawFn) -> Context:
    count = draw(st.integers(0, 8))
    found = tuple(draw(lines(i + 1)) for i in range(count))
    entities = tuple(dict.fromkeys(line.entity for line in found))
    return recorded(Context(found, entities))


def check(given_answer: Answer, context: Context) -> None:
    known = {line.id: line for line in context.lines}
    for citation in given_answer.citations:
        line = known[citation.line_id]
        assert (citation.triple, citation.graph, citation.text) == (line.triple, line.graph, line.text)
    cited = {c.line_id for s in given_answer.sentences for c in s.citations}
    assert cited == {c.line_id for c in given_answer.citations}
    value = json.loads(json.dumps(given_answer.to_json(), allow_nan=False))
    assert Answer.from_json(value) == given_answer
    str(given_answer)


@settings(max_examples=80, deadline=None)
@given(contexts(), TEXTS)
def test_without_a_model(context: Context, question: str) -> None:
    found = answer(question, context)
    check(found, context)
    assert found.supported
    assert found == answer(question, context)
    report = verify(found, ask_in(context))
    assert report.ok, str(report)


@settings(max_examples=80, deadline=None)
@given(contexts(), TEXTS, st.lists(TEXTS, max_size=5), st.data())
def test_citing_any_text(context: Context, question: str, parts: list[str], data: st.DataObject) -> None:
    labels = [label for line in context.lines for label in line.labels] or [""]
    mixed = [data.draw(st.sampled_from([part, *labels])) for part in parts]
    text = data.draw(st.sampled_from([" ", "\n- ", " is "])).join(mixed)
    try:
        found = cite(question, text, context)
    except ModelError:
        return  # no word in it
    check(found, context)
    report = verify(found, ask_in(context))
    assert not (report.missing or report.unknown or report.altered), str(report)
    assert set(report.flagged) == {s.text for s in found.sentences if not s.supported}
    assert not report.unsupported


@given(st.text(max_size=200))
def test_splitting_loses_no_word(text: str) -> None:
    parts = split(text)
    assert [t.key for t in tokens(" ".join(s for _, s in parts))] == [t.key for t in tokens(text)]


@given(st.text(max_size=20))
def test_folding_is_stable(word: str) -> None:
    assert fold(word.upper().lower()) == fold(word.upper().lower())
    assert isinstance(fold(word), str)
