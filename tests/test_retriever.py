import json
from collections.abc import Iterator

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from rdflib import FOAF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError, MissingIndex
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import ask, stream, verify
from mrag.retrieval.retriever import TripleStoreRetriever, format_docs
from mrag.retrieval.routing import How
from tests.commands import python

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
    for question, word in (
        ("Which vendor develops GraphDB?", "Ontotext"),
        ("What kind of licence does Neo4j have?", "open source"),
        ("Which features does RDFox have?", "reasoning"),
    ):
        given = ask(kg, question, model="none", how="read")
        assert word in given.text
        assert given.citations and given.model is None and given.notice
        assert verify(kg, given).ok, verify(kg, given)
        assert verify(kg, given.to_json()).ok


def test_what_can_be_computed_is_computed_cited_and_verified() -> None:
    kg = demo()
    for question, word in (
        ("How many triple stores are there?", "11"),
        ("Which vendor develops GraphDB?", "Ontotext"),
        ("Which vendor develops the most products?", "Apache Software Foundation"),
    ):
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
    assert report.flagged == ("GraphDB is developed by Microsoft.",) and "Marked as not supported" in str(
        report
    )


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
