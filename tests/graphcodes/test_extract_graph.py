"""Codes from a store, from triples of scene graphs, and from what models say of texts and pictures."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from rdflib import RDF, RDFS, Literal, Namespace, URIRef

from mrag.errors import ConfigError, LoadError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.ranker import sum_scores
from mrag.graphcodes.sources import (
    ModelExtractor,
    from_scene_triples,
    neighbourhood,
    neighbourhoods,
    read_code,
)
from mrag.rdf.terms import SKOLEM, Triple
from mrag.reasoning.run import reason
from tests.cases import cases
from tests.conftest import PRODUCTS
from tests.images.conftest import photos  # noqa: F401
from tests.images.seeing_server import colour_of, llava

E = Namespace("http://example.org/x#")
P = "https://w3id.org/mrag/demo/products#"


def edges(code: GraphCode) -> set[tuple[str, str, str]]:
    return {edge.key for edge in code.edges}


@pytest.fixture
def towns(any_kg: KnowledgeGraph) -> KnowledgeGraph:
    any_kg.insert([
        Triple(E.ann, E.livesIn, E.rome), Triple(E.ann, RDF.type, E.Person),
        Triple(E.ann, RDFS.label, Literal("Ann")),
        Triple(E.bob, E.knows, E.ann), Triple(E.rome, E.partOf, E.italy), Triple(E.rome, RDF.type, E.City),
        Triple(E.ann, E.age, Literal(7)), Triple(E.ann, E.likes, E.ann),
        Triple(E.ann, E.has, URIRef(SKOLEM + "1")),
    ])  # fmt: skip
    return any_kg


def test_a_code_has_the_links_of_an_entity_in_both_directions(towns: KnowledgeGraph) -> None:
    code = neighbourhood(towns, str(E.ann))
    assert edges(code) == {
        (str(E.ann), str(E.livesIn), str(E.rome)),
        (str(E.bob), str(E.knows), str(E.ann)),
        (str(E.ann), str(E.likes), str(E.ann)),
    }
    assert code.by_id[str(E.ann)].label == "Ann"
    assert code.by_id[str(E.ann)].types == {str(E.Person)}
    assert code.by_id[str(E.rome)].types == {str(E.City)}


def test_codes_reach_as_far_as_asked(towns: KnowledgeGraph) -> None:
    further = (str(E.rome), str(E.partOf), str(E.italy))
    assert further in edges(neighbourhood(towns, str(E.ann), hops=2))
    assert len(neighbourhood(towns, str(E.ann), max_links=1).edges) == 2, "one of each direction"


def test_what_is_not_there_has_a_code_of_itself(towns: KnowledgeGraph) -> None:
    assert neighbourhood(towns, str(E.nobody)).dictionary == (str(E.nobody),)


def test_codes_come_in_the_order_of_the_entities_each_once(towns: KnowledgeGraph) -> None:
    asked = [str(E.rome), str(E.ann), str(E.rome)]
    found = list(neighbourhoods(towns, asked))
    assert [entity for entity, _ in found] == asked[:2]
    assert found[1][1] == neighbourhood(towns, str(E.ann))
    assert list(neighbourhoods(towns, [])) == []


def test_a_hub_takes_no_room_from_others(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(E[f"n{i:04}"], E.near, E.hub) for i in range(600)])
    kg.insert([Triple(E.a, E.near, E.b)])
    found = dict(neighbourhoods(kg, [str(E.b), str(E.hub), str(E.zed)], max_links=50))
    assert edges(found[str(E.b)]) == {(str(E.a), str(E.near), str(E.b))}
    assert len(found[str(E.hub)].edges) == 50
    assert found[str(E.zed)].edges == ()


def test_the_products_have_codes_with_inferred_classes(kg: KnowledgeGraph) -> None:
    kg.load([PRODUCTS])

    before = neighbourhood(kg, P + "GraphDB")
    reason(kg)
    after = neighbourhood(kg, P + "GraphDB")
    assert before.by_id[P + "GraphDB"].types < after.by_id[P + "GraphDB"].types


@pytest.mark.parametrize("knobs", [{"hops": 3}, {"max_links": 0}])
def test_settings_that_make_no_sense(kg: KnowledgeGraph, knobs: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        neighbourhood(kg, str(E.ann), **knobs)


@pytest.mark.parametrize("triple", [("a", "b"), ("a", "b", 3), ("a", " ", "c")])
def test_what_is_no_triple_is_refused(triple: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        from_scene_triples([triple])


CHASE = {("dog", "chase", "cat"), ("cat", "is", "black")}
EDGES = [
    {"source": "dog", "relation": "chase", "target": "cat"},
    {"source": "cat", "relation": "is", "target": "black"},
]


@pytest.mark.parametrize("text", cases(__file__, "forms"))
def test_forms_that_are_read(text: str) -> None:
    assert edges(read_code(text)) == CHASE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *cases(__file__, "unread"),
        (json.dumps({"edges": [EDGES[0] | {"target": "cat " * 40}]}), "whole sentence"),
        (json.dumps({"edges": EDGES * 101}), "more than 200"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        read_code(text)


@settings(max_examples=200)
@given(st.text(alphabet='{}[]",:abc 01\n\\()', max_size=60))
def test_any_answer_is_a_code_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(ModelError):
        assert read_code(text)


def test_types_are_demands() -> None:
    code = read_code('{"nodes": [{"name": "what", "types": ["infection"]}], "edges": []}')
    assert code.by_id["what"].types == {"infection"}


def test_a_second_try_is_told_what_was_wrong() -> None:
    class Kept(FakeListChatModel):
        asked: list[object] = []  # noqa: RUF012

        def _call(self, messages, *args, **kwargs):  # type: ignore[no-untyped-def]
            self.asked.append(messages)
            return super()._call(messages, *args, **kwargs)

    model = Kept(responses=["I see a dog.", json.dumps({"edges": EDGES})])
    assert edges(ModelExtractor(model).extract("A dog chases a black cat.")) == CHASE
    assert len(model.asked) == 2
    assert "There is no JSON object" in str(model.asked[1])


def test_two_answers_without_a_code_are_an_error() -> None:
    with pytest.raises(ModelError, match=r"gave no graph code.*extractor without one"):
        ModelExtractor(FakeListChatModel(responses=["no", "no"])).extract("A dog.")


def test_an_empty_text_is_not_sent() -> None:
    assert ModelExtractor(FakeListChatModel(responses=[])).extract("  ") == GraphCode()


def test_a_model_that_cannot_be_reached() -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="x", base_url="http://127.0.0.1:9/v1", api_key="x", max_retries=0, timeout=2)
    with pytest.raises(ModelError, match="did not answer"):
        ModelExtractor(model).extract("A dog.")


def test_a_picture_goes_to_the_model_as_a_block(
    photos: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mrag.generation.models import resolve

    def say(data: bytes) -> str:
        return json.dumps({"edges": [{"source": "Garment", "relation": "is", "target": colour_of(data)}]})

    with llava(say=say) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        reader = ModelExtractor(resolve("ollama:llava"))
        assert edges(reader.extract_picture(photos / "red.png")) == {("garment", "is", "red")}
        assert edges(reader.extract_picture(photos / "blue.png")) == {("garment", "is", "blue")}


def test_a_broken_picture_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG but no more")
    with pytest.raises(LoadError):
        ModelExtractor(FakeListChatModel(responses=[])).extract_picture(tmp_path / "a.png")


def test_scores_are_fused_by_what_they_are_of_the_best() -> None:
    assert sum_scores([{"a": 4.0, "b": 2.0}, {"b": 0.5}]) == [("b", 1.5), ("a", 1.0)]
    assert sum_scores([{"a": 1.0}, {"b": 1.0}]) == [("a", 1.0), ("b", 1.0)]
    assert sum_scores([{"a": 1.0}, {"b": 9.0}], [1.0, 2.0]) == [("b", 2.0), ("a", 1.0)]
    assert sum_scores([{}, {"a": 0.0, "b": -1.0}]) == [("a", 0.0), ("b", 0.0)]
    assert sum_scores([]) == []


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, float("nan")]])
def test_weights_that_make_no_sense(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match="2 rankings need as many weights"):
        sum_scores([{"a": 1.0}, {"b": 1.0}], weights)
