"""Citations are computed: whatever a model writes is held against the lines."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from rdflib import Literal, URIRef

from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.answering import answer, cite, stream_answer
from mrag.generation.prompts import NO_MODEL_NOTICE, ONLY_IDS_NOTICE, prompt
from mrag.generation.result import Answer
from mrag.generation.verbalise import PHRASES
from mrag.generation.verification import verify
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.generation.conftest import GRAPH, E, ask_in, context_of


def writing(*texts: str) -> GenericFakeChatModel:
    """A model that writes chosen texts, to feed them through the computing of citations."""
    return GenericFakeChatModel(messages=iter([AIMessage(text) for text in texts]))


def ids(given: Answer) -> list[list[str]]:
    return [[c.line_id for c in s.citations] for s in given.sentences]


def check(context: Context, question: str, text: str) -> tuple[list[list[str]], list[bool]]:
    given = cite(question, text, context)
    return ids(given), [s.supported for s in given.sentences]


# --- What is supported --------------------------------------------------------------------------


@pytest.mark.parametrize(("question", "text", "expected"), cases(__file__, "supported"))
def test_supported(products: Context, question: str, text: str, expected: list[list[str]]) -> None:
    found, supported = check(products, question, text)
    assert supported == [True]
    assert found[0][:1] == expected[0][:1] or set(found[0]) == set(expected[0])
    assert set(expected[0]) >= set(found[0])


@pytest.mark.parametrize(("question", "text", "supported", "cited"), cases(__file__, "sentences"))
def test_each_sentence_is_judged_by_itself(
    products: Context, question: str, text: str, supported: list[bool], cited: list[list[str]] | None
) -> None:
    found, judged = check(products, question, text)
    assert judged == supported
    assert cited is None or [one[: len(of)] for one, of in zip(found, cited, strict=True)] == cited


# --- Ids that a model writes --------------------------------------------------------------------


def test_right_ids_stay_and_wrong_ones_go(products: Context) -> None:
    text = "GraphDB is developed by Ontotext [t3]. It is headquartered in Sofia [t17, t99]."
    given = cite("Who develops GraphDB?", text, products)
    assert given.sentences[0].rejected_ids == ()
    assert given.sentences[0].citations[0].line_id == "t3"
    assert given.sentences[1].rejected_ids == ("t17", "t99")
    assert "t17" not in given.text and "t99" not in given.text


def test_ids_alone_do_not_make_a_claim_true(products: Context) -> None:
    given = cite("Who develops GraphDB?", "GraphDB is developed by Neo4j Inc. [t3]", products)
    assert not given.sentences[0].supported
    assert given.sentences[0].rejected_ids == ("t3",)


def test_ids_on_a_row_of_their_own_belong_to_the_sentence_before(products: Context) -> None:
    given = cite("Who develops GraphDB?", "It is Ontotext\n[t9]", products)
    assert len(given.sentences) == 1
    assert "t9" in [c.line_id for c in given.citations]


def test_ids_alone_are_put_in_words(products: Context) -> None:
    given = cite("Which triple stores are there?", "[t1], [t13], [t99]", products, model="small")
    assert given.text == "GraphDB is a triple store [t1]. Virtuoso is a triple store [t13]."
    assert given.notice == ONLY_IDS_NOTICE
    assert verify(given, ask_in(products)).ok


def test_the_text_shows_the_computed_ids(products: Context) -> None:
    given = cite("Who develops GraphDB?", "GraphDB is developed by Ontotext. [t99]", products)
    assert given.text == "GraphDB is developed by Ontotext [t3][t9]."


# --- Values -------------------------------------------------------------------------------------


def test_truth_values_and_denial_go_together() -> None:
    for so in (True, False):
        context = context_of(("Photo 1", "is static", Literal(so)))
        for text, expected in (("Photo 1 is static.", so), ("Photo 1 is not static.", not so)):
            assert check(context, "What about the photo?", text)[1] == [expected], text


def test_names_in_other_scripts() -> None:
    context = context_of(("東京", "首都", "日本"), ("Ελλάδα", "πρωτεύουσα", "Αθήνα"))
    assert check(context, "日本の首都は?", "東京です。") == ([["t1"]], [True])
    assert check(context, "Ελλάδα;", "Αθήνα.") == ([["t2"]], [True])


# --- Answers ------------------------------------------------------------------------------------


def test_with_a_model(products: Context) -> None:
    given = answer("Who develops GraphDB?", products, writing("Ontotext [t3]."))
    assert given.text == "Ontotext [t3][t9]."
    assert given.model == "GenericFakeChatModel"
    assert given.notice is None
    assert given.supported


def test_streaming_gives_the_text_and_then_the_answer(products: Context) -> None:
    text = "<think>Hm.</think>GraphDB is developed by Ontotext [t3]."
    *pieces, last = stream_answer("Who develops GraphDB?", products, writing(text))
    assert "".join(str(p) for p in pieces) == "GraphDB is developed by Ontotext [t3]."
    assert len(pieces) > 3
    assert isinstance(last, Answer)
    assert last == answer("Who develops GraphDB?", products, writing(text))


def test_an_empty_context_asks_no_model() -> None:
    given = answer("Who develops GraphDB?", Context((), ()), writing())
    assert given.text == PHRASES["en"].nothing_found
    assert given.citations == ()
    assert given.notice is None


class Broken(GenericFakeChatModel):
    """A model whose connection breaks."""

    messages: Iterator[Any] = iter(())

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        raise ConnectionError("no route to host")

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        raise ConnectionError("no route to host")


def test_a_model_that_breaks_is_a_typed_error(products: Context) -> None:
    with pytest.raises(ModelError, match=r"no route to host.*mrag doctor"):
        answer("Who?", products, Broken())
    with pytest.raises(ModelError, match="no route to host"):
        list(stream_answer("Who?", products, Broken()))


@pytest.mark.parametrize("text", ["", "  \n", "<think>never ends", "[t99]", "***"])
def test_a_model_without_words_is_a_typed_error(products: Context, text: str) -> None:
    with pytest.raises(ModelError, match="no text"):
        cite("Who?", text, products)


def test_json_round_trip(products: Context) -> None:
    text = "Answer:\n\n- GraphDB is developed by Ontotext [t3].\n- Neo4j is by Acme [t77]."
    given = cite("Who develops what?", text, products, model="m", notice="n")
    value = json.loads(json.dumps(given.to_json(), allow_nan=False))
    assert Answer.from_json(value) == given
    assert [s["supported"] for s in value["sentences"]] == [True, True, False]
    assert value["citations"][0]["triple"]["s"] == {"type": "uri", "value": "http://example.org/GraphDB"}


@pytest.mark.parametrize("value", [{}, {"context": None}, {"context": {"lines": [{}], "entities": []}}])
def test_what_is_no_answer_is_a_typed_error(value: dict[str, Any]) -> None:
    with pytest.raises(ModelError):
        Answer.from_json(value)


def test_an_answer_prints_with_its_sources(products: Context) -> None:
    shown = str(answer("Who develops GraphDB?", products))
    cited = "[t3] (GraphDB, developed by, Ontotext)"
    assert shown.startswith(f"GraphDB is developed by Ontotext [t3].\n\n{cited}\n\n")
    assert shown.endswith(NO_MODEL_NOTICE)
    unsupported = str(cite("Who?", "Acme.", products))
    assert "Not supported by what was read:\n- Acme. (no fact for: Acme)" in unsupported


# --- Prompts ------------------------------------------------------------------------------------


def test_the_prompt_works_in_a_chain() -> None:
    chain = prompt() | writing("Ontotext.")
    assert chain.invoke({"question": "Who?", "context": "[t1] (a, b, c)"}).content == "Ontotext."


@pytest.mark.parametrize(
    ("graph", "inferred", "mark"),
    [
        (GRAPH, False, ""), (GRAPH, True, " inferred"), ("urn:mrag:kg:x:enriched:2", False, " enriched"),
        ("urn:mrag:kg:x:completed:3", False, " completed"),
    ],
)  # fmt: skip
def test_the_model_reads_where_each_line_is_from(graph: str, inferred: bool, mark: str) -> None:
    triple = Triple(URIRef(E + "a"), URIRef(E + "p"), URIRef(E + "b"))
    line = Line("t1", "(a, p, b)", triple, graph, inferred, ("a", "p", "b"))
    read: list[Any] = []

    class Listening(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            read.extend(messages)
            return super()._generate(messages, *args, **kwargs)

    answer("What is p of a?", Context((line,), ()), Listening(messages=iter([AIMessage("b.")])))
    assert read[1].text.splitlines()[1] == f"[t1] (a, p, b){mark}"
