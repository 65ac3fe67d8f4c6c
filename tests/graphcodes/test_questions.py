"""Questions over a knowledge graph as codes, the ranker, and likeness of entities."""

import pytest

from mrag.errors import ConfigError, IndexError_
from mrag.front import demo
from mrag.graphcodes.code import ITSELF, Extractor, GraphCode, Node, centred
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Ontology
from mrag.graphcodes.questions import QuestionCodes
from mrag.graphcodes.ranker import GraphCodeRanker
from mrag.graphcodes.sources import neighbourhoods
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.rankers import FusedRanker, Question, Ranker, SimilarityRanker
from mrag.retrieval.retriever import TripleStoreRetriever
from tests.cases import cases
from tests.graphcodes.strategies import told

BASE = "https://w3id.org/mrag/demo/products#"


@pytest.fixture(scope="module")
def graph():
    with demo(model="none") as kg:
        SimilarityIndexes.of(kg).get("main")
        yield kg


@pytest.fixture(scope="module")
def index(graph):
    made = GraphCodeIndex()
    entities = sorted({iri for iri, _ in documents(graph, Definition(languages=graph.languages))})
    made.put(dict(neighbourhoods(graph, entities)))
    return made


@pytest.fixture(scope="module")
def ranker(graph, index):
    return GraphCodeRanker(graph, index)


def indexed(codes):
    made = GraphCodeIndex()
    made.put({doc: told(text) for doc, text in codes.items()})
    return made


def local(iris):
    return [iri.removeprefix(BASE) for iri in iris]


def names(code):
    return local(code.dictionary), [" ".join(local(edge.key)) for edge in code.edges]


@pytest.mark.parametrize(("text", "nodes", "edges"), cases(__file__, "names"))
def test_names_are_found_by_longest_match(graph, index, text, nodes, edges):
    reader = QuestionCodes(graph, index, Ontology.of_graph(graph))
    assert names(reader.read(text)) == (nodes, edges)


def test_the_unknown_is_of_the_class_that_the_answer_has(ranker):
    code = ranker.code(Question("Who develops GraphDB?"))
    assert names(code)[1] == ["Company develops GraphDB"]
    assert BASE + "Ontotext" in [hit.iri for hit in ranker.rank(Question("Who develops GraphDB?"), 5)]


def test_by_default_an_answer_is_among_the_first(ranker):
    for text, wanted in cases(__file__, "by_default_an_answer_is_among_the_first"):
        assert BASE + wanted in [hit.iri for hit in ranker.rank(Question(text), 5)], text


def test_the_ends_of_a_triple_come_first(ranker):
    triple = GraphCode.of([], [(BASE + "GraphDB", BASE + "developedBy", BASE + "Ontotext")])
    assert local(hit.iri for hit in ranker.rank_code(triple, 2)) == ["GraphDB", "Ontotext"]
    assert ranker.rank_code(GraphCode.of([BASE + "GraphDB"]), 1)[0].iri == BASE + "GraphDB"


def test_questions_that_name_nothing_are_parsed(graph, index):
    class Dogs:
        def extract(self, text):
            return GraphCode.of(["dog"])

    assert GraphCodeRanker(graph, index, Dogs()).code(Question("a dog bites a man")).dictionary == ("dog",)


# -- like an entity ----------------------------------------------------------------------------------------


def test_links_of_two_entities_to_the_same_things_are_the_same():
    kind = frozenset(["ex:T"])
    a = told("ex:a ex:r ex:m, ex:n ex:r ex:a", Node("ex:a", "A", kind))
    b = told("ex:b ex:r ex:m, ex:n ex:r ex:b", Node("ex:b", "B", kind))
    assert centred(a, "ex:a") == centred(b, "ex:b")
    assert centred(a, "ex:a").by_id[ITSELF].label == "it"
    assert centred(a, "ex:z") == a


def test_alike_is_who_has_the_same_links_not_who_is_linked():
    index = indexed({
        "ex:a": "ex:a ex:in ex:x, ex:a ex:by ex:m",
        "ex:twin": "ex:twin ex:in ex:x, ex:twin ex:by ex:m",
        "ex:other": "ex:other ex:out ex:x, ex:other ex:of ex:m",
        "ex:m": "ex:a ex:by ex:m, ex:twin ex:by ex:m",
    })  # fmt: skip
    hits = GraphCodeRanker(None, index).rank_like("ex:a", 4)
    assert [(hit.iri, hit.rank) for hit in hits][:3] == [("ex:a", 1), ("ex:twin", 2), ("ex:other", 3)]
    assert [hit.score for hit in hits[:2]] == [1.0, 1.0]
    assert any("it by m" in reason for reason in hits[1].reasons)
    with pytest.raises(IndexError_):
        GraphCodeRanker(None, index).rank_like("ex:nowhere", 3)


def test_triple_stores_are_like_a_triple_store(ranker):
    assert {"GraphDB", "Stardog"} <= set(local(hit.iri for hit in ranker.rank_like(BASE + "GraphDB", 3)))


@pytest.mark.parametrize("relation", ["developed by", "developedBy", "is developed by", "Developed By"])
def test_ends_and_relations_go_by_any_of_their_names(ranker, relation):
    asked = GraphCode.of([], [("rdf4j", relation, "eclipse foundation")])
    assert names(ranker.named(asked))[1] == ["RDF4J developedBy EclipseFoundation"]
    found = ranker.rank_code(ranker.named(asked), 2)
    assert local(hit.iri for hit in found) == ["EclipseFoundation", "RDF4J"]


def test_what_is_connected_otherwise_comes_before_what_is_not(ranker):
    first, second = ranker.rank(Question("Which product uses Lucene?"), 2)
    assert all("Connected otherwise: product uses Lucene" in " ".join(hit.reasons) for hit in (first, second))
    unread = ranker.code(Question("Which vendor dislikes Neo4j?"))
    assert ranker.named(unread) == unread


# -- the ranker with its reasons ---------------------------------------------------------------------------


class Triples:
    """Reads "a r b, c r d" as edges."""

    def extract(self, text: str) -> GraphCode:
        return told(text.lower())


@pytest.fixture
def bites() -> GraphCodeIndex:
    return indexed(
        {"ex:bites": "dog bites man", "ex:bitten": "man bites dog", "ex:alone": "dog", "ex:tree": "tree"}
    )


def test_it_is_a_ranker(bites):
    assert isinstance(Triples(), Extractor)
    ranker = GraphCodeRanker(None, bites, Triples())
    assert isinstance(ranker, Ranker)
    hits = ranker.rank(Question("dog bites man"), 10)
    assert [(hit.iri, hit.rank) for hit in hits] == [("ex:bites", 1), ("ex:bitten", 2), ("ex:alone", 3)]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].reasons == ("Has: dog, man.", "Has as asked: dog bites man.")
    assert hits[1].reasons == ("Has: dog, man.", "The other way round: dog bites man.")
    assert hits[2].reasons == ("Has: dog.", "Lacks: man.", "Lacks the connection: dog bites man.")


def test_ties_break_by_iri(bites):
    bites.put({f"ex:{name}": GraphCode.of(["sun"]) for name in ("z", "a", "m")})
    ranker = GraphCodeRanker(None, bites, Triples())
    assert [hit.iri for hit in ranker.rank(Question("sun"), 2)] == ["ex:a", "ex:m"]


def test_a_question_without_text_or_features(bites, tmp_path):
    ranker = GraphCodeRanker(None, bites, Triples())
    with pytest.raises(ConfigError, match="text"):
        ranker.rank(Question(image=tmp_path / "a.png"), 3)
    assert ranker.rank(Question("one two"), 3) == []


@pytest.fixture(scope="module")
def codes(graph):
    made = GraphCodeIndex()
    names = ("GraphDB", "Stardog", "Ontotext", "Fuseki", "Bulgaria")
    made.put(dict(neighbourhoods(graph, [BASE + name for name in names])))
    return made


def test_over_a_graph_with_its_ontology(graph, codes):
    ontology = Ontology.of_graph(graph)
    assert ontology.fits(BASE + "GraphDatabase", BASE + "Database")
    ranker = GraphCodeRanker(graph, codes, Triples(), CodeComparison(ontology=ontology, excess=0.1))
    asked = told(f"{BASE}Database {BASE}developedBy ontotext")
    best = ranker.rank_code(ranker.named(asked), 1)[0]
    assert best.iri == BASE + "Ontotext"
    assert "Has as asked: database developed by Ontotext." in best.reasons


def test_fused_with_words_and_in_the_retriever(graph, codes):
    structure = GraphCodeRanker(graph, codes, Triples())
    fused = FusedRanker([structure, SimilarityRanker(graph, mode="bm25")])
    hits = fused.rank(Question("GraphDB , Ontotext"), 5)
    best = next(hit for hit in hits if hit.iri == BASE + "GraphDB")
    assert any(reason.startswith("Has: ") for reason in best.reasons)
    assert len(best.reasons) > 1
    told = TripleStoreRetriever(kg=graph, ranker=structure, k=2).invoke("GraphDB , Ontotext")
    assert [d.metadata["rank"] for d in told] == [1, 2]
    assert "Has: " in str(told[0].metadata["explanation"])
    assert "Ontotext" in told[0].page_content
