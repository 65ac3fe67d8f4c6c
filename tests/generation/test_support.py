"""What supports a sentence, as people say it; generated sentences, and whatever labels a graph has."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import BNode, Literal, URIRef

import mrag
from mrag.context.expansion import expand
from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.answering import answer, cite
from mrag.generation.prompts import NAMES_APART
from mrag.generation.result import Answer, recorded
from mrag.generation.support.citations import Citer
from mrag.generation.support.sentences import split
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Triple
from mrag.retrieval.verifying import NOTICE, StoreFacts
from tests.cases import beside, cases
from tests.conftest import graph_of, opened
from tests.generation.conftest import GRAPH, ask_in, context_of

ROWS = (
    ("Ada", "is a", "Person"), ("Ada", "gender", '"female"'), ("Ada", "born in", "Ulm"),
    ("Ada", "knows", "Max"), ("Ada", "height", '"180"'),
    ("Bell Works", "makes", "clocks"), ("Bell Works", "is a", "firm"),
)  # fmt: skip


@pytest.fixture(name="context")
def _context() -> Context:
    return context_of(*ROWS)


@pytest.mark.parametrize("said", cases(__file__, "what_something_has_is_not_the_thing"))
@pytest.mark.parametrize("written", [(), ("t1", "t2", "t3", "t4", "t5", "t6", "t7")])
def test_what_something_has_is_not_the_thing(context: Context, said: str, written: tuple[str, ...]) -> None:
    support = Citer("What is known?", context).support(said, written)
    assert not support.supported
    assert not support.lines
    assert support.rejected == written


@pytest.mark.parametrize(("said", "ids"), cases(__file__, "own_properties"))
def test_a_thing_is_spoken_of_by_its_own_properties(context: Context, said: str, ids: list[str]) -> None:
    support = Citer("What is known?", context).support(said)
    assert support.supported
    assert {line.id for line in support.lines} <= {*ids} and support.lines


def test_what_holds_is_told_from_what_is_left_over(context: Context) -> None:
    support = Citer("What is known?", context).support("Ada is female, and Ada's children live elsewhere.")
    assert not support.supported
    assert [line.id for line in support.lines] == ["t2"]
    assert support.left == ("children", "live", "elsewhere")


@pytest.mark.parametrize("said", ["Female.", "It is female.", "The gender of Ada's children is female [t2]."])
def test_an_answer_to_a_question_about_what_something_has(context: Context, said: str) -> None:
    given = cite("What is the gender of Ada's children?", said, context)
    assert not given.supported
    assert not given.citations


def test_a_chain_of_facts_supports_it() -> None:
    context = context_of(*ROWS, ("Ada", "child", "Leo"), ("Leo", "gender", '"male"'))
    given = cite("What is the gender of Ada's child?", "Male.", context)
    assert given.supported
    assert {citation.line_id for citation in given.citations} == {"t8", "t9"}


def test_an_answer_without_a_model_goes_on_to_what_is_asked_about() -> None:
    context = context_of(*ROWS, ("Ada", "child", "Leo"), ("Leo", "gender", '"male"'))
    given = answer("What is the gender of Ada's children?", context)
    assert verify(given, ask_in(context)).ok
    assert given.text == "The child of Ada is Leo [t8]. The gender of Leo is male [t9]."
    near = answer("What is the gender of Ada's children?", context_of(*ROWS))
    assert "female" not in near.text


TURTLE = Path(__file__).with_name("club.ttl")


kg = opened(lambda _: graph_of(TURTLE))


@pytest.fixture(scope="module")
def read(kg: KnowledgeGraph) -> Context:
    things = "sal eva reds ulm saxony watch radium moss".split()
    return expand(kg, [(f"http://example.org/{thing}", 1.0) for thing in things])


def verdicts(kg: KnowledgeGraph, context: Context, text: str) -> list[str]:
    return [one.verdict for one in cite("Tell me more.", text, context, graph=StoreFacts(kg)).sentences]


@pytest.mark.parametrize("text", cases(__file__, "true_sentences_pass"))
def test_true_sentences_pass(kg: KnowledgeGraph, read: Context, text: str) -> None:
    assert set(verdicts(kg, read, text)) == {"read"}


@pytest.mark.parametrize("text", cases(__file__, "false_sentences_do_not"))
def test_false_sentences_do_not(kg: KnowledgeGraph, read: Context, text: str) -> None:
    assert verdicts(kg, read, text)[-1] not in ("read", "graph", "nothing")


@pytest.mark.parametrize(("text", "verdict"), cases(__file__, "contradicted_is_told_from_unsaid"))
def test_contradicted_is_told_from_unsaid(kg: KnowledgeGraph, read: Context, text: str, verdict: str) -> None:
    assert verdicts(kg, read, text) == [verdict]


ROOT = Path(__file__).parents[2]
GRAPHS = ("demo", "clinic", "museum")


@pytest.fixture
def adversary(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("support_adversary")


def test_false_sentences_do_not_pass_and_true_ones_do(adversary: Any) -> None:
    found = list(adversary.judged_cases(GRAPHS, 100, seed=11))
    assert len(found) > 280
    wrong = [f"{one.case.kind}: {one.case.text}" for one in found if one.case.true is not one.accepted]
    false, true = adversary.shares(found)
    assert false <= adversary.FALSE_BAR and true >= adversary.TRUE_BAR, "\n".join(wrong[:40])


def test_cases_are_the_same_for_a_seed_and_of_many_kinds(adversary: Any) -> None:
    cases = adversary.cases_of("demo", 120, 3)
    assert cases == adversary.cases_of("demo", 120, 3) != adversary.cases_of("demo", 120, 4)
    every = adversary.cases_of("demo", 520, 3)
    assert len({one.kind for one in every if one.true}) >= 15
    assert len({one.kind for one in every if not one.true}) >= 25


OLD = beside(__file__, "cities.ttl")


def test_a_caution_that_is_left_out_is_not_vouched_for(tmp_path: Path) -> None:
    (tmp_path / "cities.ttl").write_text(OLD, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "cities.ttl"])
        answer = json.loads(json.dumps(mrag.ask(kg, "How many cities are there?", model="none").to_json()))
        assert answer["notice"] == NAMES_APART and mrag.verify(kg, answer).complete
        # Whoever asked before the names stood apart was not told, so this is not called false.
        silent = mrag.verify(kg, {**answer, "notice": None})
        assert [one.part for one in silent.of("not checked")] == [NOTICE]
        assert not mrag.verify(kg, {**answer, "notice": "Checked by hand."}).ok


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


@settings(max_examples=80)
@given(contexts(), TEXTS)
def test_without_a_model(context: Context, question: str) -> None:
    found = answer(question, context)
    check(found, context)
    assert found.supported
    assert found == answer(question, context)
    report = verify(found, ask_in(context))
    assert report.ok, str(report)


@settings(max_examples=80)
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
