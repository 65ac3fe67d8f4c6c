"""Questions that models or templates ask, and which entities are relevant to them by the graph."""

import math
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

from mrag._tables import tables
from mrag.errors import ConfigError
from mrag.evaluation import benchmark
from mrag.evaluation import questions as asking
from mrag.evaluation.metrics import read_qrels
from mrag.generation.models import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.evaluation.conftest import IMAGES, SHAPE, E, Start, garments, iri
from tests.generation.ollama_server import OllamaServer, Served

DOCUMENTS = {f"{E}{i}": f"A coat with {i} buttons." for i in range(12)}


@pytest.mark.parametrize(("text", "questions"), cases(__file__, "single_questions"))
def test_single_questions(text: str, questions: list[str]) -> None:
    assert asking.single_questions(text) == questions


@given(st.text(st.sampled_from("?12.)-*`\n aBc:\"'<>/think é"), max_size=60))
def test_no_question_is_ever_empty_or_comes_twice(text: str) -> None:
    found = asking.single_questions(text)
    assert len(set(found)) == len(found)
    for question in found:
        assert sum(c.isalpha() for c in question) >= 3 and question == question.strip()
        assert "\n" not in question and "```" not in question


def scripted(messages: Sequence[dict[str, str]]) -> str:
    [buttons] = re.findall(r"\d+", messages[-1]["content"])
    if messages[0]["content"] == tables("evaluation/prompts.toml")["ask"]:
        return f"1. Which coat has {buttons} buttons, and which one is long?"
    return f"```\n1. Which coat has {buttons} buttons?\n\n2. Which coat is long, not with {buttons} ?\n```"


def test_a_model_behind_ollama_asks_for_every_entity_once(ollama: Start, tmp_path: Path) -> None:
    server, done = ollama(scripted), list[tuple[int, int]]()

    def asked(documents: dict[str, str]) -> dict[str, Sequence[str]]:
        made, failures = benchmark.generate_questions(
            documents, model, tmp_path / "a.jsonl", name="asker", on_progress=lambda *n: done.append(n)
        )
        assert failures == {}
        return made

    model = resolve("ollama:asker")
    assert model is not None
    made = asked(DOCUMENTS)
    assert list(made) == sorted(DOCUMENTS) and done == [(i, 12) for i in range(1, 13)]
    assert made[E + "3"] == ("Which coat has 3 buttons?", "Which coat is long, not with 3 ?")
    chats = [body for path, body in server.requests if path == "/api/chat"]
    assert len(chats) == 24 and all(body["model"] == "asker:latest" for body in chats)
    assert asked(DOCUMENTS) == made
    third = asked({**DOCUMENTS, E + "3": "A coat with 99 buttons."})
    assert third[E + "3"][0] == "Which coat has 99 buttons?"
    assert len([1 for path, _ in server.requests if path == "/api/chat"]) == 26


def test_failures_are_listed_and_tried_again(ollama: Start, tmp_path: Path) -> None:
    well = threading.Event()

    def say(messages: Sequence[dict[str, str]]) -> str | None:
        text = messages[-1]["content"]
        if "with 5 " in text and not well.is_set():
            return None
        return "?" if "with 7 " in text and not well.is_set() else scripted(messages)

    ollama(say)
    model = resolve("ollama:asker")
    assert model is not None
    made, failures = benchmark.generate_questions(DOCUMENTS, model, tmp_path / "a.jsonl", name="asker")
    assert set(failures) == {E + "5", E + "7"} and len(made) == 10
    assert "did not answer" in failures[E + "5"]
    assert failures[E + "7"] == "The model gave no question but '?'."
    well.set()
    made, failures = benchmark.generate_questions(DOCUMENTS, model, tmp_path / "a.jsonl", name="asker")
    assert failures == {} and len(made) == 12


def test_the_seed_and_the_iri_choose_the_question() -> None:
    questions = {e: [f"{e} {i}?" for i in range(8)] for e in DOCUMENTS}
    first, turned = benchmark.sample_questions(questions, 1), dict(reversed(questions.items()))
    assert first == benchmark.sample_questions(turned, 1) != benchmark.sample_questions(questions, 2)
    fewer = {e: q for e, q in questions.items() if e != E + "1"}
    assert benchmark.sample_questions(fewer, 1) == [a for a in first if a.entity != E + "1"]
    assert benchmark.sample_questions({"urn:a": []}) == []


def test_a_benchmark_is_a_folder_that_can_be_read(images: KnowledgeGraph, tmp_path: Path) -> None:
    def built(name: str, **settings: Any) -> benchmark.Benchmark:
        return benchmark.build_benchmark(
            images, tmp_path / name, benchmark.BenchmarkSettings(**{"shape": SHAPE, **settings})
        )

    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file()}

    made = built("b", embedder="wordllama")
    assert [a.entity for a in made.questions] == [E + i for i in sorted(IMAGES) if IMAGES[i]]
    assert sorted(made.qrels) == ["graph", "similar", "target"] and made.unjudged == ()
    for name, qrels in made.qrels.items():
        found = asking.read_collection(tmp_path / "b", split=name)
        assert found.qrels == qrels and found.documents == {}
        assert set(qrels) == {asking.question_id(asked.entity) for asked in made.questions}
    before = files()
    built("b", embedder="wordllama")
    assert before == files()
    limited = built("c", embedder="none", limit=2, seed=3)
    assert limited.entities == 2 and sorted(limited.qrels) == ["graph", "target"]
    with pytest.raises(Exception, match="no entities"):
        built("d", shape=type(SHAPE)(cls=E + "Nothing"))


def test_models_questions_are_judged_by_the_graph(ollama: Start, kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.insert(garments())
    said = {"image 1": "Which outfit has a red jacket?", "image 3": "Which jacket is tight?",
            "image 4": "What would you wear on a boat?"}  # fmt: skip

    def say(messages: Sequence[dict[str, str]]) -> str:
        text = messages[-1]["content"]
        return (
            said.get(text.split(". ")[0], "Who wears a skirt?")
            if messages[0]["content"] == tables("evaluation/prompts.toml")["ask"]
            else text
        )

    ollama(say)
    SimilarityIndexes.of(kg).build("main", model="none")
    settings = benchmark.BenchmarkSettings(model="ollama:asker", shape=SHAPE, embedder="none")
    built = benchmark.build_benchmark(kg, tmp_path, settings)
    graph = read_qrels(tmp_path / "qrels" / "graph.tsv")
    assert graph[asking.question_id(E + "image_1")] == {E + "image_1": 1, E + "image_3": 1}
    assert graph[asking.question_id(E + "image_2")] == {E + "image_1": 1, E + "image_2": 1}
    assert graph[asking.question_id(E + "image_3")] == {E + "image_3": 1}
    # Neither names anything that is so of its image.
    assert {*built.unjudged} == {asking.question_id(E + "image_4"), asking.question_id(E + "image_5")}
    assert built.to_json()["judged"] == {"target": 5, "graph": 3}


@pytest.mark.slow
@pytest.mark.model
def test_a_real_small_model_asks_in_ollamas_protocol(
    local_server: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with OllamaServer([Served("smollm2:latest")], chat=local_server) as server:  # type: ignore[arg-type]
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        model = resolve("ollama:smollm2", num_predict=40)
        assert model is not None
        documents = {E + "a": "A red leather jacket with a zip.", E + "b": "A long blue skirt of silk."}
        made, failures = benchmark.generate_questions(documents, model, tmp_path / "a.jsonl", name="smollm2")
    assert set(made) | set(failures) == set(documents)
    for questions in made.values():
        assert questions and all(sum(c.isalpha() for c in q) >= 3 for q in questions)
    assert made, "the model asked nothing at all"


def kind(name: str) -> asking.Condition:
    return asking.Condition(E + "hasKind", iri(name))


def has(name: str) -> asking.Condition:
    return asking.Condition(E + "hasAttribute", iri(name))


def demanded(parts: list[list[str]]) -> asking.Demand:
    """A demand of parts, each of attributes and then the kind of a thing; something may be of no kind."""
    return asking.Demand(parts=tuple((*map(has, one), *([kind(end)] if end else [])) for *one, end in parts))


def names(found: list[str]) -> list[str]:
    return [f.removeprefix(E) for f in found]


@pytest.mark.parametrize("backwards", [False, True])
def test_attributes_are_bound_to_their_garment(kg: KnowledgeGraph, backwards: bool) -> None:
    kg.insert(garments(backwards=backwards))
    red_jacket = asking.Demand(parts=((has("red"), kind("jacket")),))
    assert names(asking.satisfying(kg, red_jacket, SHAPE)) == ["image_1", "image_3"]
    somewhere = asking.Demand(parts=((has("red"),), (kind("jacket"),)))
    assert names(asking.satisfying(kg, somewhere, SHAPE)) == ["image_1", "image_2", "image_3"]
    both = asking.Demand(parts=((has("red"), kind("jacket")), (kind("skirt"), has("blue"))))
    assert names(asking.satisfying(kg, both, SHAPE)) == ["image_1"]
    of_class = asking.Demand(own=(asking.Condition(str(RDF.type), E + "Image"),))
    assert names(asking.satisfying(kg, of_class, SHAPE)) == sorted(IMAGES)


def test_the_entities_are_those_of_the_class(images: KnowledgeGraph) -> None:
    images.insert([Triple(URIRef(E + "drawing"), URIRef(E + "hasGarment"), URIRef(E + "image_1/0"))])
    wanted = asking.Demand(parts=((kind("jacket"),),))
    assert E + "drawing" in asking.satisfying(images, wanted, asking.EntityShape(SHAPE.link, SHAPE.kind))
    assert E + "drawing" not in asking.satisfying(images, wanted, SHAPE)
    assert names(asking.instances(images, E + "Image")) == sorted(IMAGES)


def test_conditions_that_cannot_be_met_or_asked(images: KnowledgeGraph) -> None:
    assert asking.satisfying(images, asking.Demand(parts=((kind("jacket"), has("white")),)), SHAPE) == []
    with pytest.raises(ConfigError, match="without conditions"):
        asking.satisfying(images, asking.Demand(), SHAPE)
    with pytest.raises(ConfigError, match="no link"):
        asking.satisfying(images, asking.Demand(parts=((kind("jacket"),),)), asking.EntityShape())
    with pytest.raises(Exception, match="well-formed"):
        asking.satisfying(
            images, asking.Demand(own=(asking.Condition("urn:p", "urn:x> } ; DROP ALL #"),)), SHAPE
        )


def test_facts_leave_out_what_is_no_news(images: KnowledgeGraph) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    images.insert([Triple(URIRef(E + "image_1"), RDF.type, URIRef(owl + "NamedIndividual"))])
    found = asking.facts(images, [E + "image_1", E + "image_5"], SHAPE)
    assert found[E + "image_1"].own == [] and found[E + "image_5"].parts == {}
    garments = [[has("red"), kind("jacket")], [has("blue"), kind("skirt")]]
    assert found[E + "image_1"].parts == {f"{E}image_1/{at}": one for at, one in enumerate(garments)}


@pytest.mark.parametrize(("entity", "question", "parts"), cases(__file__, "stated"))
def test_what_a_question_states_is_read_by_the_names_of_the_graph(
    images: KnowledgeGraph, entity: int, question: str, parts: list[list[str]]
) -> None:
    known = asking.facts(images, [f"{E}image_{entity}"], SHAPE)[f"{E}image_{entity}"]
    assert asking.demand_of(question, known, images.labels(sorted({c.value for c in known}))) == demanded(
        parts
    )


def test_relevance_by_the_graph_lists_the_questions_it_cannot_judge(images: KnowledgeGraph) -> None:
    red, white = ((kind("jacket"), has("red")),), ((kind("skirt"), has("white")),)
    wanted = {"q1": asking.Demand(parts=red), "q2": asking.Demand(), "q3": asking.Demand(parts=white)}
    qrels, without = asking.by_graph(images, wanted, SHAPE)
    assert qrels == {"q1": {E + "image_1": 1, E + "image_3": 1}} and without == ["q2", "q3"]


def test_questions_by_template_are_met_by_their_entity_and_read_back(images: KnowledgeGraph) -> None:
    entities = asking.instances(images, E + "Image")
    known = asking.facts(images, entities, SHAPE)
    labels = images.labels(sorted({c.value for found in known.values() for c in found}))
    seen = set()
    for seed in range(12):
        asked = asking.template_questions(images, entities, SHAPE, seed=seed)
        assert asked == asking.template_questions(images, list(reversed(entities)), SHAPE, seed=seed)
        assert names([a.entity for a in asked]) == ["image_1", "image_2", "image_3", "image_4"]
        for one in asked:
            assert one.entity in asking.satisfying(images, one.demand, SHAPE)
            assert one.text.startswith("Which image shows a ") and one.text.endswith("?")
            assert asking.demand_of(one.text, known[one.entity], labels) == one.demand
            seen.add(one.text)
    assert "Which image shows a jacket that is red and tight (fit)?" in seen


def test_a_value_with_quotes_is_only_ever_a_value(kg: KnowledgeGraph) -> None:
    odd = 'red" . ?x ?y ?z } #'
    kg.insert([Triple(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:odd"))])
    kg.insert([Triple(URIRef("urn:odd"), RDFS.label, Literal(odd, lang="en"))])
    [asked] = asking.template_questions(kg, ["urn:a"], asking.EntityShape())
    assert odd in asked.text and asking.satisfying(kg, asked.demand, asking.EntityShape()) == ["urn:a"]


def test_similar_questions_are_the_nearest_of_all_ties_by_id() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(40, 8)).astype(np.float32)
    vectors[7:12] = vectors[7]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"q{i:02d}" for i in range(40)]
    qrels = asking.similar_questions({q: f"e{q}" for q in ids}, dict(zip(ids, vectors, strict=True)))
    assert {len(found) for found in qrels.values()} == {math.isqrt(40)}
    for at, question in enumerate(ids):
        cosines = [np.inf if i == at else float(np.float32(vectors[at] @ vectors[i])) for i in range(40)]
        least = sorted(cosines, reverse=True)[5]
        sure = {f"e{ids[i]}" for i in range(40) if cosines[i] > least + 1e-6}
        assert f"e{question}" in qrels[question] and sure <= set(qrels[question])
    assert set(qrels["q11"]) >= {"eq07", "eq08", "eq09", "eq10", "eq11"}
    with pytest.raises(ConfigError, match="no vector"):
        asking.similar_questions({"a": "b"}, {})
    with pytest.raises(ConfigError, match="1 or more"):
        asking.similar_questions({"a": "b"}, {"a": vectors[0]}, k=0)
    assert asking.similar_questions({}, {}) == {}


def test_the_id_of_a_question_depends_on_its_entity_alone() -> None:
    assert asking.question_id("urn:a") == asking.question_id("urn:a") != asking.question_id("urn:b")
