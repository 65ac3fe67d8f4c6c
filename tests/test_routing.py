"""Which way a question is answered, what its answer says of it, and doubt in its first line at every door."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.completion.chain import reading_completer
from mrag.errors import ConfigError, MissingIndex, ModelError
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import certainty
from mrag.planning.certainty import FEATURES, Certainty
from mrag.retrieval.answering import stream
from mrag.retrieval.rankers import Question
from mrag.retrieval.routing import routed
from mrag.server.web.events import Prepared, events
from mrag.stores.oxigraph import OxigraphStore
from tests import commands
from tests.completion.towns import TURTLE
from tests.evaluation.test_eval_cli import invoke
from tests.images.conftest import draw, turtle

BORN = "Where was Bob Stone born?"


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "towns.ttl").write_text(TURTLE, encoding="utf-8")
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


def test_what_the_graph_lacks_is_read_in_texts_and_enters_nothing(
    towns: KnowledgeGraph, articles: Path
) -> None:
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
    with pytest.raises(MissingIndex, match="there is no town which Bob Stone is born in"):
        towns.ask(asked, model="none")
    given = towns.ask(asked, model="none", texts=articles)
    assert (given.way, given.text) == ("complete", "Ystad [t1].")
    (articles / "bob.md").write_text("# Bob Stone\n\nHe paints.", encoding="utf-8")
    with pytest.raises(MissingIndex, match="there is no town which Bob Stone is born in"):
        towns.ask(asked, model="none", texts=articles)


def test_texts_are_not_read_for_what_the_graph_has_or_what_is_computed(
    towns: KnowledgeGraph, articles: Path
) -> None:
    assert towns.ask("Where was Ada Hill born?", model="none", texts=articles).way == "plan"
    assert towns.ask("How many books are there?", model="none", texts=articles).way == "plan"
    with pytest.raises(MissingIndex, match="nothing is computed from texts"):
        towns.ask("How many towns has Bob Stone painted?", model="none", texts=articles)
    with pytest.raises(MissingIndex, match="the texts do not tell it either"):
        towns.ask("Where does Bob Stone live in?", model="none", texts=articles)


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
    with pytest.raises(MissingIndex):
        towns.ask(BORN, model="none", texts=articles, how="read")
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
    for question in (
        "Which image shows a dress?", "Show me pictures of a dress", "Can you find some photos with a dress?",
        "pictures of a dress",
    ):  # fmt: skip
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
    (tmp_path / "towns.ttl").write_text(TURTLE, encoding="utf-8")
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
    assert (
        missing.returncode == 1
        and "Nothing was computed" in missing.stderr
        and "mrag index" in missing.stderr
    )


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
    patch.setattr(certainty, "shipped", lambda: Certainty(odds, dict.fromkeys(FEATURES, 0.0)))


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


def test_every_door_offers_what_is_not_certain_enough(
    company: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_certain(monkeypatch, 4.0)
    right = mrag.ask(company, QUESTION, model="none")
    assert right.computed is not None
    as_certain(monkeypatch, -1.0)
    way = routed(company, QUESTION)
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
