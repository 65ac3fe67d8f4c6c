"""What models write becomes single questions, and interruptions lose and repeat nothing."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.evaluation.benchmark import (
    ASK,
    Benchmark,
    BenchmarkSettings,
    build_benchmark,
    generate_questions,
    sample_questions,
)
from mrag.evaluation.metrics import read_qrels
from mrag.evaluation.questions import question_id, read_collection, single_questions
from mrag.generation.models import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from tests.cases import cases
from tests.evaluation.conftest import IMAGES, SHAPE, E, Start, garments
from tests.generation.ollama_server import OllamaServer, Served

DOCUMENTS = {f"{E}{i}": f"A coat with {i} buttons." for i in range(12)}


@pytest.mark.parametrize(("text", "questions"), cases(__file__, "single_questions"))
def test_single_questions(text: str, questions: list[str]) -> None:
    assert single_questions(text) == questions


@given(st.text(st.sampled_from("?12.)-*`\n aBc:\"'<>/think é"), max_size=60))
def test_no_question_is_ever_empty_or_comes_twice(text: str) -> None:
    found = single_questions(text)
    assert len(set(found)) == len(found)
    for question in found:
        assert sum(c.isalpha() for c in question) >= 3 and question == question.strip()
        assert "\n" not in question and "```" not in question


def scripted(messages: Sequence[dict[str, str]]) -> str:
    [buttons] = re.findall(r"\d+", messages[-1]["content"])
    if messages[0]["content"] == ASK:
        return f"1. Which coat has {buttons} buttons, and which one is long?"
    return f"```\n1. Which coat has {buttons} buttons?\n\n2. Which coat is long, not with {buttons} ?\n```"


def test_a_model_behind_ollama_asks_for_every_entity_once(ollama: Start, tmp_path: Path) -> None:
    server, done = ollama(scripted), list[tuple[int, int]]()

    def asked(documents: dict[str, str]) -> dict[str, Sequence[str]]:
        made, failures = generate_questions(
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
    made, failures = generate_questions(DOCUMENTS, model, tmp_path / "a.jsonl", name="asker")
    assert set(failures) == {E + "5", E + "7"} and len(made) == 10
    assert "did not answer" in failures[E + "5"]
    assert failures[E + "7"] == "The model gave no question but '?'."
    well.set()
    made, failures = generate_questions(DOCUMENTS, model, tmp_path / "a.jsonl", name="asker")
    assert failures == {} and len(made) == 12


def test_the_seed_and_the_iri_choose_the_question() -> None:
    questions = {e: [f"{e} {i}?" for i in range(8)] for e in DOCUMENTS}
    first, turned = sample_questions(questions, 1), dict(reversed(questions.items()))
    assert first == sample_questions(turned, 1) != sample_questions(questions, 2)
    fewer = {e: q for e, q in questions.items() if e != E + "1"}
    assert sample_questions(fewer, 1) == [a for a in first if a.entity != E + "1"]
    assert sample_questions({"urn:a": []}) == []


def test_a_benchmark_is_a_folder_that_can_be_read(images: KnowledgeGraph, tmp_path: Path) -> None:
    def built(name: str, **settings: Any) -> Benchmark:
        return build_benchmark(images, tmp_path / name, BenchmarkSettings(**{"shape": SHAPE, **settings}))

    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file()}

    made = built("b", embedder="wordllama")
    assert [a.entity for a in made.questions] == [E + i for i in sorted(IMAGES) if IMAGES[i]]
    assert sorted(made.qrels) == ["graph", "similar", "target"] and made.unjudged == ()
    for name, qrels in made.qrels.items():
        found = read_collection(tmp_path / "b", split=name)
        assert found.qrels == qrels and found.documents == {}
        assert set(qrels) == {question_id(asked.entity) for asked in made.questions}
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
        return said.get(text.split(". ")[0], "Who wears a skirt?") if messages[0]["content"] == ASK else text

    ollama(say)
    SimilarityIndexes.of(kg).build("main", model="none")
    settings = BenchmarkSettings(model="ollama:asker", shape=SHAPE, embedder="none")
    built = build_benchmark(kg, tmp_path, settings)
    graph = read_qrels(tmp_path / "qrels" / "graph.tsv")
    assert graph[question_id(E + "image_1")] == {E + "image_1": 1, E + "image_3": 1}
    assert graph[question_id(E + "image_2")] == {E + "image_1": 1, E + "image_2": 1}
    assert graph[question_id(E + "image_3")] == {E + "image_3": 1}
    # Neither names anything that is so of its image.
    assert {*built.unjudged} == {question_id(E + "image_4"), question_id(E + "image_5")}
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
        made, failures = generate_questions(documents, model, tmp_path / "a.jsonl", name="smollm2")
    assert set(made) | set(failures) == set(documents)
    for questions in made.values():
        assert questions and all(sum(c.isalpha() for c in q) >= 3 for q in questions)
    assert made, "the model asked nothing at all"
