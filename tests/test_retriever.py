"""The retriever and what it answers; which way a question is answered, and doubt at every door."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from rdflib import FOAF, RDFS, Literal, URIRef

import mrag
from mrag.completion.chain import reading_completer
from mrag.errors import ConfigError, MissingIndex, ModelError
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.planning import certainty
from mrag.planning.certainty import FEATURES, Certainty
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import ask, stream, verify
from mrag.retrieval.rankers import Question
from mrag.retrieval.retriever import TripleStoreRetriever, format_docs
from mrag.retrieval.routing import How, route
from mrag.server.web.events import Prepared, events
from mrag.stores.oxigraph import OxigraphStore
from tests import commands
from tests.cases import cases
from tests.commands import python
from tests.completion.towns import FACTS
from tests.evaluation.test_answers import invoke
from tests.images.conftest import draw, turtle

_kept: list[KnowledgeGraph] = []


def demo() -> KnowledgeGraph:
    if not _kept:
        _kept.append(mrag.demo(model="wordllama"))
    return _kept[0]


@pytest.fixture(scope="module", autouse=True)
def _closing() -> Iterator[None]:
    yield
    while _kept:
        _kept.pop().close()


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own tests of retrievers."""

    @property
    def retriever_constructor(self) -> type[TripleStoreRetriever]:
        return TripleStoreRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"kg": demo()}

    @property
    def retriever_query_example(self) -> str:
        return "What database products are linked to RDF?"


def test_documents_say_what_they_stand_on() -> None:
    documents = TripleStoreRetriever(kg=demo(), k=4).invoke("Which triple stores reason?")
    assert [d.metadata["rank"] for d in documents] == [1, 2, 3, 4]
    for document in documents:
        assert document.id == document.metadata["source"]
        assert json.loads(json.dumps(document.metadata)) == document.metadata
        assert document.metadata["explanation"]
        for line, triple in zip(document.metadata["lines"], document.metadata["triples"], strict=True):
            assert f"[{line}]" in document.page_content
            assert len(triple) == 5 and triple[4] in ("asserted", "inferred")
    scores = [d.metadata["score"] for d in documents]
    assert scores == sorted(scores, reverse=True)


def test_an_lcel_chain_as_in_the_article() -> None:
    seen: list[str] = []
    model = GenericFakeChatModel(messages=iter([AIMessage("GraphDB and Virtuoso.")]))

    def note(prompt: object) -> object:
        seen.append(str(prompt))
        return prompt

    chain = (
        {"context": TripleStoreRetriever(kg=demo(), k=10) | format_docs, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template(
            "Using only the given Context answer the Question briefly.\n\n"
            "Context:\n{context}\n\nQuestion: {question}"
        )
        | note
        | model
        | StrOutputParser()
    )
    assert chain.invoke("What database products are linked to RDF?") == "GraphDB and Virtuoso."
    assert "semantic product" in seen[0] and "(has feature, sub property of, linked to)" in seen[0]


def test_an_image_of_an_entity_is_in_its_metadata() -> None:
    with mrag.connect() as kg:
        cat = URIRef("urn:x:cat")
        kg.insert(
            [
                Triple(cat, RDFS.label, Literal("cat", lang="en")),
                Triple(cat, FOAF.depiction, URIRef("http://example.org/cat.jpg")),
            ]
        )
        SimilarityIndexes.of(kg).build("main", model="none")
        (document,) = TripleStoreRetriever(kg=kg).invoke("cat")
        assert document.metadata["image"] == {"url": "http://example.org/cat.jpg", "mime_type": "image/jpeg"}


def test_a_missing_index_says_how_to_build_one() -> None:
    with mrag.connect() as kg, pytest.raises(MissingIndex, match="mrag index"):
        TripleStoreRetriever(kg=kg).invoke("anything")


def test_answers_without_a_model_are_cited_and_verified() -> None:
    kg = demo()
    for question, word in cases(__file__, "answers_without_a_model_are_cited_and_verified"):
        given = ask(kg, question, model="none", how="read")
        assert word in given.text
        assert given.citations and given.model is None and given.notice
        assert verify(kg, given).ok, verify(kg, given)
        assert verify(kg, given.to_json()).ok


def test_what_can_be_computed_is_computed_cited_and_verified() -> None:
    kg = demo()
    for question, word in cases(__file__, "what_can_be_computed_is_computed_cited_and_verified"):
        given = ask(kg, question, model="none")
        assert given.way == "plan" and given.why and given.computed is not None
        assert word in given.text and word in given.computed.rows[0][0].label
        assert given.citations and verify(kg, given).ok, verify(kg, given)
        value = given.to_json()
        assert verify(kg, value).ok and Answer.from_json(value).to_json() == value
        value["rows"][0][0]["value"] += "0"
        assert not verify(kg, value).ok


def test_the_way_and_the_reading_are_arguments() -> None:
    kg, question = demo(), "How many vendors are there per country?"
    first = kg.ask(question, model="none")
    assert first.computed is not None and kg.ask(question, model="none", how="read").computed is None
    assert first.computed.readings
    for other in first.computed.readings:
        given = kg.ask(question, model="none", reading=other.number)
        assert given.computed is not None and given.computed.reading == other.reading
    with pytest.raises(ConfigError, match="no way"):
        kg.ask(question, how="guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="readings"):
        kg.ask(question, reading=99)
    refused = ask(kg, "How many employees does GraphDB have?", model="none", how="plan")
    assert refused.text.startswith("Not in this graph: ") and refused.computed is None
    read = ask(kg, "Which products are written in Java?", model="none")
    assert read.way == "read" and "Java" in read.why


def test_what_the_graph_does_not_say_is_not_answered() -> None:
    given = ask(demo(), "Who won the football match yesterday?", model="none")
    assert not given.citations or "football" not in given.text


def test_verification_catches_a_deleted_triple_and_a_changed_text() -> None:
    with mrag.demo(model="none") as kg:
        given = ask(kg, "Which vendor develops GraphDB?", model="none")
        tampered = given.to_json()
        tampered["sentences"][0]["text"] = tampered["sentences"][0]["text"].replace(
            "Ontotext", "OpenLink Software"
        )
        assert not verify(kg, tampered).ok
        line = given.citations[0]
        s, p, o = (t.n3() for t in line.triple)
        kg.store.update(f"DELETE WHERE {{ GRAPH ?g {{ {s} {p} {o} }} }}")
        report = verify(kg, given)
        assert not report.ok and report.missing


def test_a_model_that_invents_is_found_out() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("GraphDB is developed by Microsoft [t1].")]))
    given = ask(demo(), "Which vendor develops GraphDB?", model=model, how="read")
    assert not given.supported
    report = verify(demo(), given)
    assert report.flagged == ("GraphDB is developed by Microsoft.",)
    assert "Marked as not supported" in str(report)


def test_streaming_ends_with_the_answer() -> None:
    ways: tuple[How, ...] = ("plan", "read")
    for how in ways:
        parts = list(stream(demo(), "Which vendor develops GraphDB?", model="none", how=how))
        assert isinstance(parts[-1], Answer) and parts[-1].way == how
        assert "".join(p for p in parts[:-1] if isinstance(p, str)) == parts[-1].text


@pytest.mark.slow
def test_two_runs_in_fresh_processes_agree() -> None:
    code = (
        "import mrag\nwith mrag.demo(model='none') as kg:\n"
        "    print(mrag.ask(kg, 'Which triple stores are open source?', model='none').text)\n"
    )
    one, *others = (python(code, PYTHONHASHSEED=seed).stdout for seed in ("0", "1", "4242"))
    assert one and others == [one, one]


def test_unknown_arguments_are_errors() -> None:
    kg = demo()
    for arguments, said in (
        ({"kg": kg, "K": 3}, "no argument 'K'. Did you mean 'k'?"),
        ({"kg": kg, "settings": {"hopps": 2}}, "no argument 'hopps'. Did you mean 'hops'?"),
        ({"kg": "graphdb:http://localhost"}, "kg is a knowledge graph, not str"),
        ({}, "kg is a knowledge graph, not NoneType"),
        ({"kg": kg, "ranker": 5}, "ranker is a Ranker, not int"),
    ):
        with pytest.raises(ConfigError, match=said.replace("?", r"\?")):
            TripleStoreRetriever(**arguments)
    with pytest.raises(ConfigError, match="no argument 'hops'"):
        TripleStoreRetriever(kg=kg).invoke("Which triple stores reason?", hops=2)
    assert TripleStoreRetriever(kg=kg, settings={"hops": 2}).settings.hops == 2  # type: ignore[arg-type]


BORN = "Where was Bob Stone born?"


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "towns.ttl").write_text(FACTS, encoding="utf-8")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([tmp_path / "towns.ttl"])
        yield kg


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "bob.md").write_text("# Bob Stone\n\nHe was born in Ystad.", encoding="utf-8")
    return folder


@pytest.fixture
def wardrobe(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "images.ttl").write_text(turtle(), encoding="utf-8")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([tmp_path / "images.ttl"])
        yield kg


def test_what_the_graph_lacks_is_read_in_texts_and_kept_out(towns: KnowledgeGraph, articles: Path) -> None:
    before = towns.revision, sorted(towns.store.graphs())
    for texts in (articles, articles / "bob.md", [str(articles)], reading_completer(towns, articles)):
        given = towns.ask(BORN, model="none", texts=texts)
        assert given.way == "complete" and "but the texts tell it" in given.why
        assert given.text == "Ystad [t1]." and given.completed is not None
        (ref,) = given.completed.evidence["t1"]
        assert (ref.source, ref.quote) == ("bob.md", "He was born in Ystad.")
        assert "“He was born in Ystad.”" in str(given) and "He was born in Ystad." in given._repr_html_()
    assert (towns.revision, sorted(towns.store.graphs())) == before
    value = json.loads(json.dumps(given.to_json()))
    assert value["evidence"]["t1"][0]["source"] == "bob.md" and value["answers"] == ["Ystad"]
    assert Answer.from_json(value) == given


def test_what_is_not_found_yields_to_texts_that_name_a_value(towns: KnowledgeGraph, articles: Path) -> None:
    asked = "Which town was Bob Stone born in?"
    read = towns.ask(asked, model="none")
    assert read.way == "read" and "there is no town which Bob Stone is born in" in str(read.why)
    assert "names alone were sought" in str(read.notice)
    given = towns.ask(asked, model="none", texts=articles)
    assert (given.way, given.text) == ("complete", "Ystad [t1].")
    (articles / "bob.md").write_text("# Bob Stone\n\nHe paints.", encoding="utf-8")
    assert towns.ask(asked, model="none", texts=articles).way == "read"


def test_texts_are_not_read_for_what_the_graph_has_or_computes(towns: KnowledgeGraph, articles: Path) -> None:
    assert towns.ask("Where was Ada Hill born?", model="none", texts=articles).way == "plan"
    assert towns.ask("How many books are there?", model="none", texts=articles).way == "plan"
    counted = towns.ask("How many towns has Bob Stone painted?", model="none", texts=articles)
    assert counted.way == "read" and "nothing is computed from texts" in str(counted.why)
    sought = towns.ask("Where does Bob Stone live in?", model="none", texts=articles)
    assert sought.way == "read" and "the texts do not tell it either" in str(sought.why)


def test_what_is_read_instead_of_computed_is_said_not_to_answer() -> None:
    with mrag.demo(model="none") as kg:
        asked = "Who abandoned the newest graph database?"
        given = kg.ask(asked, model="none")
        assert given.way == "read" and given.text.startswith("I don't know")
        *_, whole = stream(kg, asked, model="none")
        assert isinstance(whole, Answer) and whole.text == given.text
        chosen = kg.ask(asked, model="none", how="read")
        assert chosen.way == "read" and chosen.text == given.text


def test_the_way_can_be_forced(towns: KnowledgeGraph, articles: Path) -> None:
    forced = towns.ask("Where was Ada Hill born?", model="none", texts=articles, how="complete")
    assert forced.way == "complete" and forced.text.startswith("Lund")
    assert forced.why == "this way was asked for"
    alone = towns.ask(BORN, model="none", how="complete")
    assert alone.way == "complete" and not alone.citations and "Nothing was found" in alone.text
    assert towns.ask(BORN, model="none", texts=articles, how="plan").text.startswith("Not in this graph")
    assert towns.ask(BORN, model="none", texts=articles, how="read").way == "read"
    with pytest.raises(ConfigError, match="no way"):
        towns.ask(BORN, how="guess")  # type: ignore[arg-type]
    parts = list(stream(towns, BORN, model="none", texts=articles))
    assert isinstance(parts[-1], Answer) and "".join(map(str, parts[:-1])) == parts[-1].text == "Ystad [t1]."


def test_without_an_index_it_computes_or_says_why_not(towns: KnowledgeGraph) -> None:
    assert towns.ask("Which books did Ada Hill write?", model="none").way == "plan"
    with pytest.raises(MissingIndex) as refused:
        towns.ask("Tell me a joke.", model="none")
    assert "Nothing was computed: no part of the question" in str(refused.value)
    assert "mrag index" in str(refused.value)


def test_images_are_the_answer_where_they_are_asked_for(wardrobe: KnowledgeGraph, tmp_path: Path) -> None:
    photos = draw(tmp_path / "photos")
    for question in cases(__file__, "images_are_the_answer_where_they_are_asked_for"):
        given = wardrobe.ask(question, model="none", k=1)
        assert given.way == "images" and given.why == "the question asks for images", question
        assert [image.name for image in given.images] == ["green.png"]
        assert given.citations and mrag.verify(wardrobe, given).ok
    shown = wardrobe.ask("a dress", model="none", k=1, media=photos)
    assert shown.images[0].path == photos / "green.png" and "data:image" in shown._repr_html_()
    value = json.loads(json.dumps(shown.to_json()))
    assert Answer.from_json(value) == shown and "green.png" in str(shown)
    counted = wardrobe.ask("How many images are there?", model="none")
    assert counted.way == "plan" and counted.computed is not None and counted.computed.rows[0][0].label == "6"
    with pytest.raises(ConfigError, match="folder"):
        wardrobe.ask(Question("like this", photos / "red.png"), model="none", how="images")


def test_a_graph_without_images_has_none_to_show(towns: KnowledgeGraph) -> None:
    with pytest.raises(MissingIndex, match="Nothing was computed"):
        towns.ask("Show me pictures of a zebra.", model="none")


def test_the_command_says_which_way_it_took(tmp_path: Path, articles: Path) -> None:
    (tmp_path / "towns.ttl").write_text(FACTS, encoding="utf-8")
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.load([tmp_path / "towns.ttl"])
    line = ("ask", "--store", "store", "--model", "none")
    read = commands.run(*line, "--texts", "articles", BORN, cwd=tmp_path, MRAG_EMBEDDER="none")
    assert read.stdout.startswith("Ystad [t1].\n") and "He was born in Ystad." in read.stdout, read.stderr
    assert "Completed from texts: " in read.stderr
    data = commands.run(
        *line, "--texts", "articles/bob.md", "--json", BORN, cwd=tmp_path, MRAG_EMBEDDER="none"
    )
    assert json.loads(data.stdout)["way"] == "complete" and json.loads(data.stdout)["run"] is None
    missing = commands.run(*line, BORN, cwd=tmp_path, MRAG_EMBEDDER="none")
    assert missing.returncode == 0 and "Read, not computed" in missing.stderr
    assert "mrag index" in missing.stderr


def test_a_model_that_was_named_is_there_though_the_answer_needs_none() -> None:
    asked = "How many triple stores are there?"
    with mrag.demo(model="none") as kg:
        for way in ("auto", "plan"):
            with pytest.raises(ModelError, match="There is no file"):
                kg.ask(asked, model="local:/no/such/file.gguf", how=way)
        with pytest.raises(ModelError, match="There is no file"):
            list(stream(kg, asked, model="local:/no/such/file.gguf"))
        assert kg.ask(asked, model="none").notice is None


QUESTION = "How many countries are there?"
COMPANY = Path(__file__).parent / "planning" / "graphs" / "company.ttl"


@pytest.fixture
def company() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as kg:
        kg.load([COMPANY])
        kg.index()
        yield kg


def as_certain(patch: pytest.MonkeyPatch, odds: float) -> None:
    """Have every computed answer be as certain."""
    patch.setattr(certainty, "shipped_certainty", lambda: Certainty(odds, dict.fromkeys(FEATURES, 0.0)))


def written(kg: KnowledgeGraph, given: Answer) -> tuple[str, Any]:
    """What the server writes of a computed answer: its text as it comes, and the whole."""
    *texts, whole = events(kg, Prepared(given), None)
    return "".join(one["text"] for one in texts), whole["answer"]["doubt"]


@pytest.mark.parametrize(("odds", "doubt"), [(0.5, "Perhaps"), (1.5, "Probably"), (4.0, "")])
def test_every_door_begins_with_the_doubt(
    company: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, odds: float, doubt: str
) -> None:
    as_certain(monkeypatch, odds)
    given = mrag.ask(company, QUESTION, model="none")
    first = f"{doubt}: {given.text}" if doubt else given.text
    assert str(given).splitlines()[0] == given.told == first
    assert "".join(part for part in stream(company, QUESTION, model="none") if isinstance(part, str)) == first
    assert written(company, given) == (first, doubt)
    assert first in given._repr_html_() and company.show(given).value["doubt"] == doubt
    value = given.to_json()
    assert mrag.verify(company, value).ok and Answer.from_json(value).told == first
    # It cannot be taken away, nor said otherwise.
    without = {name: part for name, part in value.items() if name != "doubt"}
    assert mrag.verify(company, without).ok == (not doubt)
    assert not mrag.verify(company, {**value, "doubt": "Perhaps" if doubt != "Perhaps" else ""}).ok


def test_each_door_offers_what_is_uncertain(company: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    as_certain(monkeypatch, 4.0)
    right = mrag.ask(company, QUESTION, model="none")
    assert right.computed is not None
    as_certain(monkeypatch, -1.0)
    way = route(company, QUESTION)
    assert way.given is None and way.offered[0].number == 1
    line = f"Perhaps (reading 1): {right.computed.rows[0][0].label}, read as: {right.computed.reading}"
    read = mrag.ask(company, QUESTION, model="none")
    refused = mrag.ask(company, QUESTION, model="none", how="plan")
    (streamed,) = (part for part in stream(company, QUESTION, model="none") if isinstance(part, Answer))
    assert refused.text == "Not answered: the reading is not certain enough (0.27)."
    for given in (read, refused, streamed):
        assert given.computed is None and line in str(given).splitlines()
        assert given.offered == way.offered and "none of them certain enough" in given._repr_html_()
        assert company.show(given).value["readings"][0] == f"reading=1: {way.offered[0]}"
        value = given.to_json()
        assert value["readings"][0]["number"] == 1 and Answer.from_json(value) == given
        assert mrag.verify(company, value).ok
        forged = {**value, "readings": [{**value["readings"][0], "answer": "1,000"}, *value["readings"][1:]]}
        report = mrag.verify(company, forged)
        assert not report.ok or any(part.state == "not checked" for part in report.parts)


def test_the_command_offers_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.load([COMPANY])
    as_certain(monkeypatch, -1.0)
    said = invoke("ask", QUESTION, "--how", "plan", "--model", "none", "--store", url)
    assert said.startswith("Not answered: ") and "\nPerhaps (--reading 1): " in said
    said = invoke("ask", QUESTION, "--reading", "1", "--model", "none", "--store", url)
    assert said.startswith("Perhaps: ")
