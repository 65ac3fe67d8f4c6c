"""What supports a sentence: facts about the thing itself, not about what is related; as people say it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mrag.context.expansion import expand
from mrag.context.render import Context
from mrag.generation.answering import answer, cite
from mrag.generation.support.citations import Citer
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.verifying import StoreFacts
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.generation.conftest import ask_in, context_of

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


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([TURTLE])
        yield kg


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


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Eva Dahl leads Sal Moss.", "contradicted"),  # it is the other way round, and cannot be both
        ("Reds plays for Sal Moss.", "unsaid"),  # nobody said that it cannot be both
        ("Sal Moss has 20 goals.", "contradicted"),
        ("Sal Moss died in Saxony.", "unsaid"),  # when he died is nothing against it
        ("Saxony has an area of 170 km2.", "contradicted"),
    ],
)
def test_contradicted_is_told_from_unsaid(kg: KnowledgeGraph, read: Context, text: str, verdict: str) -> None:
    assert verdicts(kg, read, text) == [verdict]
