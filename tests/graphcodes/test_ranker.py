"""The ranker with its reasons, in fusion and in the retriever."""

import pytest

from mrag.errors import ConfigError
from mrag.front import demo
from mrag.graphcodes.code import Extractor, GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Ontology
from mrag.graphcodes.ranker import GraphCodeRanker
from mrag.graphcodes.sources import neighbourhoods
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.rankers import FusedRanker, Question, Ranker, SimilarityRanker
from mrag.retrieval.retriever import TripleStoreRetriever

BASE = "https://w3id.org/mrag/demo/products#"


class Triples:
    """Reads "a r b, c r d" as edges."""

    def extract(self, text: str) -> GraphCode:
        parts = [part.split() for part in text.lower().split(",")]
        return GraphCode.of([p[0] for p in parts if len(p) == 1], [tuple(p) for p in parts if len(p) == 3])


@pytest.fixture
def index() -> GraphCodeIndex:
    made = GraphCodeIndex()
    made.put(
        {
            "ex:bites": GraphCode.of([], [("dog", "bites", "man")]),
            "ex:bitten": GraphCode.of([], [("man", "bites", "dog")]),
            "ex:alone": GraphCode.of(["dog"]),
            "ex:tree": GraphCode.of(["tree"]),
        }
    )
    return made


def test_it_is_a_ranker(index):
    assert isinstance(Triples(), Extractor)
    ranker = GraphCodeRanker(None, index, Triples())
    assert isinstance(ranker, Ranker)
    hits = ranker.rank(Question("dog bites man"), 10)
    assert [(hit.iri, hit.rank) for hit in hits] == [("ex:bites", 1), ("ex:bitten", 2), ("ex:alone", 3)]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].reasons == ("Has: dog, man.", "Has as asked: dog bites man.")
    assert hits[1].reasons == ("Has: dog, man.", "The other way round: dog bites man.")
    assert hits[2].reasons == ("Has: dog.", "Lacks: man.", "Lacks the connection: dog bites man.")


def test_ties_break_by_iri(index):
    index.put({f"ex:{name}": GraphCode.of(["sun"]) for name in ("z", "a", "m")})
    ranker = GraphCodeRanker(None, index, Triples())
    assert [hit.iri for hit in ranker.rank(Question("sun"), 2)] == ["ex:a", "ex:m"]


def test_a_question_without_text_or_features(index, tmp_path):
    ranker = GraphCodeRanker(None, index, Triples())
    with pytest.raises(ConfigError, match="text"):
        ranker.rank(Question(image=tmp_path / "a.png"), 3)
    assert ranker.rank(Question("one two"), 3) == []


@pytest.fixture(scope="module")
def graph():
    with demo(model="none") as kg:
        SimilarityIndexes.of(kg).get("main")
        yield kg


@pytest.fixture(scope="module")
def codes(graph):
    index = GraphCodeIndex()
    names = ("GraphDB", "Stardog", "Ontotext", "Fuseki", "Bulgaria")
    index.put(dict(neighbourhoods(graph, [BASE + name for name in names])))
    return index


def test_over_a_graph_with_its_ontology(graph, codes):
    ontology = Ontology.of_graph(graph)
    assert ontology.fits(BASE + "GraphDatabase", BASE + "Database")
    ranker = GraphCodeRanker(graph, codes, Triples(), CodeComparison(ontology=ontology, excess=0.1))
    best = ranker.rank_code(
        ranker.named(GraphCode.of([], [(BASE + "Database", BASE + "developedBy", "ontotext")])), 1
    )[0]
    assert best.iri == BASE + "Ontotext"
    assert "Has as asked: database developed by Ontotext." in best.reasons


def test_fused_with_words_and_in_the_retriever(graph, codes):
    structure = GraphCodeRanker(graph, codes, Triples())
    fused = FusedRanker([structure, SimilarityRanker(graph, mode="bm25")])
    hits = fused.rank(Question("GraphDB , Ontotext"), 5)
    best = next(hit for hit in hits if hit.iri == BASE + "GraphDB")
    assert any(reason.startswith("Has: ") for reason in best.reasons)
    assert len(best.reasons) > 1
    documents = TripleStoreRetriever(kg=graph, ranker=structure, k=2).invoke("GraphDB , Ontotext")
    assert [d.metadata["rank"] for d in documents] == [1, 2]
    assert "Has: " in str(documents[0].metadata["explanation"])
    assert "Ontotext" in documents[0].page_content
