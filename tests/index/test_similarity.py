"""GraphDB's similarity vocabulary on the embedded store, and the life of an index."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from rdflib import RDFS, Literal, URIRef

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex, QueryRefused, StaleIndex
from mrag.front import connect
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition
from mrag.index.segments import document_folder
from mrag.index.similarity import INSTANCE, SIM, SimilarityIndexes, freshen
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import FusedRanker, Question, SimilarityRanker
from mrag.stores.base import SelectResult
from tests.cases import cases
from tests.conftest import PRODUCTS

INDEX = URIRef(INSTANCE + "main")
PREFIXES = f"PREFIX : <{SIM}> PREFIX inst: <{INSTANCE}>\n"


@pytest.fixture(scope="module", params=["memory", "disk"])
def kg(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    url = "oxigraph:" if request.param == "memory" else f"oxigraph:{tmp_path_factory.mktemp('kg') / 'store'}"
    with connect(url) as graph:
        graph.load([PRODUCTS])
        SimilarityIndexes.of(graph).build("main", model="wordllama")
        yield graph


def rows(kg: KnowledgeGraph, text: str) -> SelectResult:
    result = kg.query(text)
    assert isinstance(result, SelectResult)
    return result


def by_file(term: str, k: int = 5) -> str:
    query = queries.get("similarity/text")
    return query.bind(index_term_parameters=[(INDEX, Literal(term), Literal(f"-numsearchresults {k}"))])


@pytest.mark.parametrize(
    "term", ["RDF database", "graph", 'quotes " and \\ and } #', "Käse 芝士 🧀", "line\nbreak"]
)
def test_the_file_gives_what_the_ranker_gives(kg: KnowledgeGraph, term: str) -> None:
    hits = SimilarityRanker(kg).rank(Question(term), 5)
    found = rows(kg, by_file(term))
    assert [(str(d), float(str(s))) for d, s in found] == [
        (h.iri, pytest.approx(h.score)) for h in sorted(hits, key=lambda h: (-h.score, h.iri))
    ]


def test_the_file_as_it_stands(kg: KnowledgeGraph) -> None:
    assert len(rows(kg, queries.get("similarity/text").text)) == 10
    neighbours = rows(kg, queries.get("similarity/entity").text)
    assert len(neighbours) == 10
    assert URIRef("https://w3id.org/mrag/demo/products#GraphDB") not in neighbours.column("documentID")


def test_a_search_as_one_pattern_of_a_larger_query(kg: KnowledgeGraph) -> None:
    found = rows(
        kg,
        PREFIXES
        + """SELECT ?product ?vendor ?score WHERE {
          { SELECT ?product ?score {
              ?search a inst:main ; :searchTerm "triple store" ; :searchParameters "-numsearchresults 30" ;
                      :documentResult ?r . ?r :value ?product ; :score ?score . } }
          ?product ex:developedBy ?vendor .
          FILTER NOT EXISTS { ?product ex:developedBy ex:OpenLinkSoftware }
        } ORDER BY DESC(?score) ?product ?vendor""",
    )
    assert 3 < len(found) <= 30
    assert all(vendor is not None for vendor in found.column("vendor"))
    assert URIRef("https://w3id.org/mrag/demo/products#Virtuoso") not in found.column("product")


def test_several_searches_in_one_query(kg: KnowledgeGraph) -> None:
    found = rows(
        kg,
        PREFIXES
        + """SELECT ?d (COUNT(*) AS ?n) WHERE {
          { ?a a inst:main ; :searchTerm "RDF storage" ; :documentResult ?r . ?r :value ?d }
          UNION
          { ?b a inst:main ; :searchTerm "vector indexing" ; :documentResult ?q . ?q :value ?d }
        } GROUP BY ?d ORDER BY ?d""",
    )
    one = {h.iri for h in SimilarityRanker(kg).rank(Question("RDF storage"), 20)}
    other = {h.iri for h in SimilarityRanker(kg).rank(Question("vector indexing"), 20)}
    assert {str(d): int(str(n)) for d, n in found} == {i: (i in one) + (i in other) for i in one | other}


def test_several_terms_by_values(kg: KnowledgeGraph) -> None:
    found = rows(
        kg,
        PREFIXES
        + """SELECT ?t (COUNT(?d) AS ?n) WHERE { VALUES ?t { "RDF" "vector" }
          ?s a inst:main ; :searchTerm ?t ; :searchParameters "-numsearchresults 3" ; :documentResult ?r .
          ?r :value ?d } GROUP BY ?t ORDER BY ?t""",
    )
    assert [(str(t), int(str(n))) for t, n in found] == [("RDF", 3), ("vector", 3)]


def test_searches_at_once_do_not_see_each_other(kg: KnowledgeGraph) -> None:
    terms = ["RDF", "vector", "graph", "search", "licence", "Berlin", "stream", "SQL"] * 3
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda term: rows(kg, by_file(term, 4)).rows, terms))
    for term, answer in zip(terms, answers, strict=True):
        assert answer == rows(kg, by_file(term, 4)).rows
        assert len(answer) == 4


def test_the_hits_are_in_nobody_elses_sight(kg: KnowledgeGraph) -> None:
    triples = kg.count("all")
    rows(kg, by_file("RDF"))
    assert len(rows(kg, "SELECT ?g { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g")) == 1
    assert kg.count("all") == triples
    assert kg.query(f"ASK {{ ?r <{SIM}value> ?x }}") is False
    assert not [g for g in kg.store.graphs() if "scratch" in g]


REFUSED = cases(__file__, "REFUSED")


@pytest.mark.parametrize("pattern,says", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_answered_is_refused(kg: KnowledgeGraph, pattern: str, says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        kg.query(f"{PREFIXES}SELECT * {{ {pattern} }}")


def test_a_missing_index_is_named(kg: KnowledgeGraph) -> None:
    with pytest.raises(MissingIndex, match=r"no similarity index 'nowhere'.*there are: main"):
        kg.query(f'{PREFIXES}SELECT * {{ ?s a inst:nowhere ; :searchTerm "x" ; :documentResult ?r }}')


def test_numbers_and_other_languages_stay_out(kg: KnowledgeGraph) -> None:
    files = SimilarityIndexes.of(kg).get().files
    text = files.text_of("https://w3id.org/mrag/demo/products#Virtuoso")
    assert text.startswith("Virtuoso. Virtuoso. Virtuoso. Virtuoso. ")
    assert "relational database" in text, "what it is"
    assert "OpenLink Software" in text, "what it is linked to"
    assert "relationale Datenbank" not in text
    assert not any(word.isdigit() for word in text.split())


def small(kg: KnowledgeGraph, *labels: str) -> None:
    kg.insert([Triple(URIRef(f"urn:x:{label}"), RDFS.label, Literal(label, lang="en")) for label in labels])


def test_an_entity_without_preferred_language_is_found_by_what_it_has() -> None:
    with connect() as kg:
        kg.insert([Triple(URIRef("urn:x:a"), RDFS.label, Literal("Schmetterling", lang="de"))])
        indexes = SimilarityIndexes.of(kg)
        indexes.build("main", model="none")
        assert [m.doc_id for m in indexes.get().search("schmetterling", 3)] == ["urn:x:a"]
        with pytest.raises(IndexError_, match="There is nothing to index"):
            indexes.build("main", model="none", definition=Definition(fallback=False))
        assert len(indexes.get().files) == 1


def test_an_index_grows_with_the_graph_and_says_when_it_is_old(tmp_path: Path) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        small(kg, "apple", "pear")
        indexes = SimilarityIndexes.of(kg)
        assert indexes.build("main", model="wordllama").added == 2
        small(kg, "plum")
        assert indexes.info().stale
        with pytest.raises(StaleIndex, match="mrag index"):
            SimilarityRanker(kg, strict=True).rank(Question("plum"), 3)
        report = indexes.build("main", model="wordllama")
        assert (report.added, report.unchanged, report.deleted) == (1, 2, 0)
        assert not indexes.info().stale
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        assert SimilarityIndexes.of(kg).names() == ["main"]
        assert SimilarityRanker(kg, strict=True).rank(Question("plum"), 1)[0].iri == "urn:x:plum"
        SimilarityIndexes.of(kg).delete("main")
        assert SimilarityIndexes.of(kg).names() == []
        with pytest.raises(MissingIndex):
            SimilarityIndexes.of(kg).delete("main")


def test_an_index_of_another_model_is_told(tmp_path: Path) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        small(kg, "apple")
        SimilarityIndexes.of(kg).build("own", model=DeterministicFakeEmbedding(size=16))
        assert SimilarityIndexes.of(kg).get("own").search("apple", 1)
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        indexes = SimilarityIndexes.of(kg)
        with pytest.raises(IndexMismatch, match="model="):
            indexes.get("own")
        with pytest.raises(IndexMismatch):
            indexes.get("own", model="wordllama")
        assert indexes.get("own", model=DeterministicFakeEmbedding(size=16)).search("apple", 1)


def test_an_index_keeps_its_analyser(tmp_path: Path) -> None:
    german = Definition(languages=("de", "en", ""))
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        kg.insert([Triple(URIRef("urn:x:h"), RDFS.label, Literal("Häuser am See", lang="de"))])
        indexes = SimilarityIndexes.of(kg)
        indexes.build("main", model="none", definition=german)
        assert indexes.info().analyser == "snowball:german+words"
        assert indexes.get().search("Haus", 1)
        plural = replace(german, analyser="plural")
        assert indexes.build("main", model="none", definition=plural).added == 1
        assert indexes.info().analyser == "plural" and not indexes.info().stale
        assert not indexes.get().search("Haus", 1)
        small(kg, "apple")
        assert freshen(kg) is None
        assert indexes.info().analyser == "plural" and len(indexes.get().files) == 2
        with pytest.raises(ConfigError, match="no analyser 'porter'"):
            indexes.build("main", model="none", definition=replace(german, analyser="porter"))
        assert len(indexes.get().files) == 2


@pytest.mark.parametrize(("key", "value", "words"), cases(__file__, "ANALYSERS"))
def test_an_index_of_another_analyser_is_told_and_built_anew(
    tmp_path: Path, key: str, value: object, words: str
) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        small(kg, "apple")
        stemmed = Definition(analyser="snowball:english")
        SimilarityIndexes.of(kg).build("main", model="none", definition=stemmed)
    folder = tmp_path / "s.mrag" / "main" / "index" / "main"
    committed = document_folder(folder).committed()
    document_folder(folder).commit(replace(committed, about={**committed.about, key: value}))
    with connect(f"oxigraph:{tmp_path / 's'}") as kg:
        indexes = SimilarityIndexes.of(kg)
        with pytest.raises(IndexMismatch, match=words) as told:
            indexes.get()
        assert "mrag index" in str(told.value.hint)
        assert indexes.build("main", model="none").added == 1
        assert indexes.get().search("apples", 1)


def test_wrong_names_and_queries_are_refused() -> None:
    with connect() as kg:
        small(kg, "apple")
        indexes = SimilarityIndexes.of(kg)
        with pytest.raises(ConfigError, match="cannot name an index"):
            indexes.build("../up", model="none")
        with pytest.raises(ConfigError, match="documentID"):
            indexes.build("x", model="none", definition=Definition(queries=("explore/classes",)))
        with pytest.raises(ConfigError, match="No embedding model"):
            indexes.build("x", model="nonesuch")


def test_fused_rankers_keep_the_reasons(kg: KnowledgeGraph) -> None:
    fused = FusedRanker([SimilarityRanker(kg, mode="bm25"), SimilarityRanker(kg, mode="dense")])
    hits = fused.rank(Question("triple store for RDF"), 5)
    assert [h.rank for h in hits] == [1, 2, 3, 4, 5]
    assert len({h.iri for h in hits}) == 5
    assert max(len(h.reasons) for h in hits) == 2
    with pytest.raises(ConfigError, match="question is empty"):
        Question("  ")
