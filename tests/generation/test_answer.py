"""Citations are computed, whatever a model writes; and answers without a model."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation import models
from mrag.generation.answering import answer, cite, stream_answer
from mrag.generation.prompts import NO_MODEL_NOTICE, ONLY_IDS_NOTICE, prompt
from mrag.generation.result import Answer
from mrag.generation.support.citations import Citer
from mrag.generation.verbalise import PHRASES, fill
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD, Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.generation.conftest import GRAPH, E, Row, ask_in, context_of


def writing(*texts: str) -> GenericFakeChatModel:
    """A model that writes chosen texts, to feed them through the computing of citations."""
    return GenericFakeChatModel(messages=iter([AIMessage(text) for text in texts]))


def ids(given: Answer) -> list[list[str]]:
    return [[c.line_id for c in s.citations] for s in given.sentences]


def check(context: Context, question: str, text: str) -> tuple[list[list[str]], list[bool]]:
    given = cite(question, text, context)
    return ids(given), [s.supported for s in given.sentences]


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


def test_truth_values_and_denial_go_together() -> None:
    for so in (True, False):
        context = context_of(("Photo 1", "is static", Literal(so)))
        for text, expected in (("Photo 1 is static.", so), ("Photo 1 is not static.", not so)):
            assert check(context, "What about the photo?", text)[1] == [expected], text


def test_names_in_other_scripts() -> None:
    context = context_of(("東京", "首都", "日本"), ("Ελλάδα", "πρωτεύουσα", "Αθήνα"))
    assert check(context, "日本の首都は?", "東京です。") == ([["t1"]], [True])
    assert check(context, "Ελλάδα;", "Αθήνα.") == ([["t2"]], [True])


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


@pytest.mark.parametrize(
    "before",
    [
        "To answer this question, I need to find who develops GraphDB. ", "Let me look at the context.\n\n",
        "Okay, let's see what the lines say. First, I will check t3.\n", "The Context speaks of it.</think>",
    ],
)  # fmt: skip
def test_what_a_model_says_of_its_search_is_left_out(products: Context, before: str) -> None:
    given = cite("Who develops GraphDB?", f"{before}GraphDB is developed by Ontotext.", products)
    assert [s.text for s in given.sentences] == ["GraphDB is developed by Ontotext."] and given.supported


def test_what_a_model_says_of_the_graph_stays(products: Context) -> None:
    said = "I need to say that GraphDB is developed by Acme. To run it, you need Java."
    assert [s.supported for s in cite("Who develops GraphDB?", said, products).sentences] == [False, False]
    alone = cite("Who develops GraphDB?", "Let me look at the context.", products)
    assert len(alone.sentences) == 1 and not alone.supported


def test_a_model_that_is_waited_for_is_named(
    products: Context, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(GenericFakeChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            time.sleep(0.5)
            yield from super()._stream(*args, **kwargs)

    def told() -> list[str]:
        return [r.getMessage() for r in caplog.records if r.name == "mrag.waiting"]

    monkeypatch.setattr(models, "_SILENT", 0.1)
    parts = stream_answer("Who develops GraphDB?", products, Slow(messages=iter(["Ontotext [t3]."])))
    next(parts)
    before = told()
    assert before[0].startswith("Waiting for the language model Slow (")
    time.sleep(0.5)
    assert told() == before, "what has been heard of is not waited for"
    assert isinstance([*parts][-1], Answer)


def test_an_empty_context_asks_no_model() -> None:
    for model, notice in ((writing(), None), (None, NO_MODEL_NOTICE)):
        given = answer("Who develops GraphDB?", Context((), ()), model)
        assert given.text == PHRASES["en"].nothing_found
        assert given.citations == () and given.notice == notice


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


def told(context: Context, question: str) -> str:
    given = answer(question, context)
    assert given.model is None
    assert given.notice == NO_MODEL_NOTICE
    assert given.supported
    assert verify(given, ask_in(context)).ok, str(verify(given, ask_in(context)))
    return given.text


GROUPS = cases(__file__, "groups")


def row_of(s: str, p: str, o: object) -> Row:
    """Return a row as contexts are made of; a literal of another type than JSON has is a list of both."""
    return (s, p, Literal(o[0], datatype=XSD + o[1])) if isinstance(o, list) else (s, p, o)


@pytest.mark.parametrize(
    ("group", "question", "expected"),
    [(name, *one) for name, group in GROUPS.items() for one in group["asked"]],
)
def test_an_answer_tells_what_was_asked_and_what_is_not_known(
    products: Context, group: str, question: str, expected: dict[str, Any]
) -> None:
    rows = GROUPS[group]["rows"]
    text = told(products if rows is None else context_of(*(row_of(*row) for row in rows)), question)
    assert text == expected.get("is", text)
    assert text.startswith(expected.get("starts", ""))
    assert all(part in text for part in expected.get("has", ()))
    assert not any(part in text for part in expected.get("lacks", ()))
    assert text.count("\n- ") <= expected.get("most", 99)


def test_facts_that_were_to_be_computed_with_do_not_answer(products: Context) -> None:
    asked = "Who develops the newest triple store?"
    found = answer(asked, products, computing=("newest",)).text
    assert list(stream_answer(asked, products, computing=("newest",)))[-1] == answer(
        asked, products, computing=("newest",)
    )
    assert found.startswith("I don't know") and "\n- GraphDB is developed by Ontotext" in found


def test_a_relation_may_have_the_word_that_asks_to_compute() -> None:
    peaks = context_of(("Norway", "highest point", "Galdhøpiggen"))
    asked = "What is the highest point of Norway?"
    assert answer(asked, peaks, computing=("highest",)).text == answer(asked, peaks).text
    assert "directly" not in answer(asked, peaks).text


def test_the_notice_can_tell_why(products: Context) -> None:
    assert answer("Who?", products, notice="Ollama is down.").notice == "Ollama is down."


def test_more_than_there_is_room_for_are_named() -> None:
    rows = [(f"Store {chr(65 + i)}", "is a", "triple store") for i in range(9)]
    text = told(context_of(*rows), "Which triple stores are there?")
    assert text.count("\n- ") == 6
    others = "Store G (triple store), Store H (triple store) and Store I (triple store)"
    assert f"- Also {others} [t7][t8][t9]." in text


def test_a_long_description_is_quoted_where_it_matters() -> None:
    filler = "This sentence says something about the film that nobody asked for at this place. " * 4
    prose = f'"{filler}It was directed by Irvin Kershner. {filler}"'
    context = context_of(("The Film", "is a", "film"), ("The Film", "description", prose))
    text = told(context, "Who directed The Film?")
    assert "directed by Irvin Kershner" in text
    assert len(text) < 500


def test_facts_in_odd_words_are_shown_as_they_stand() -> None:
    context = context_of(("is", "is", "is"), ("", "", ""), ("—", ":", "“"), ("a", "b", '"."'))
    for question in ("is", "What is is?", "—", "a b"):
        given: Answer = answer(question, context)
        assert verify(given, ask_in(context)).ok


ZOO = Path(__file__).with_name("zoo.ttl")


@pytest.fixture(name="zoo")
def _zoo() -> KnowledgeGraph:
    kg = KnowledgeGraph(OxigraphStore())
    kg.load([ZOO])
    return kg


def about(kg: KnowledgeGraph, name: str, question: str) -> str:
    return told(mrag.expand(kg, [(f"http://example.org/{name}", 1.0)], question=question), question)


@pytest.mark.parametrize(("name", "question", "expected"), cases(__file__, "without_labels"))
def test_things_without_label_are_named(zoo: KnowledgeGraph, name: str, question: str, expected: str) -> None:
    assert about(zoo, name, question) == expected


def test_what_says_nothing_is_left_out(zoo: KnowledgeGraph) -> None:
    assert "something" not in about(zoo, "Cat", "What is a cat?")


@pytest.mark.parametrize("language", sorted(PHRASES))
def test_what_an_answer_says_of_itself_needs_no_line(language: str) -> None:
    phrases = PHRASES[language]
    citer = Citer("?", context_of(("Ada", "is a", "Person")))
    names = phrases.join([phrases.quote("Rom"), phrases.quote("Mars")])
    for said in (
        phrases.nothing_found, phrases.no_match, phrases.nearest, fill(phrases.mentions, names=names),
        fill(phrases.links, s="Ada", names="Rom"), fill(phrases.sought, names=names),
    ):  # fmt: skip
        assert citer.support(said).supported, said
    assert not citer.support(fill(phrases.mentions, names="Rom. Ada knows Bob").rstrip(".")).supported
    assert not citer.support("Ada knows Bob.").supported


@pytest.mark.parametrize(("count", "question", "said"), cases(__file__, "lists_that_a_limit_cut_say_so"))
def test_lists_that_a_limit_cut_say_so(count: int, question: str, said: str | None) -> None:
    e = "http://example.org/"
    kg = KnowledgeGraph(OxigraphStore())
    towns = [URIRef(f"{e}town{chr(97 + i // 26)}{chr(97 + i % 26)}") for i in range(count)]
    kg.insert([mrag.Triple(URIRef(e + "Rome"), URIRef(e + "city"), town) for town in towns])
    kg.insert([mrag.Triple(town, URIRef(e + "standsAt"), URIRef(e + "Tiber")) for town in towns])
    context = mrag.expand(kg, [(e + "Rome", 1.0), (e + "Tiber", 0.9)], question=question)
    text = told(context, question)
    assert (said in text) if said else ("shown" not in text), text


def test_labels_of_classes_are_kept_where_there_are_some(zoo: KnowledgeGraph) -> None:
    zoo.insert([mrag.Triple(URIRef("http://example.org/Company"), RDFS.label, Literal("toy maker"))])
    assert about(zoo, "acme", "What is acme?").startswith("acme is a toy maker")
