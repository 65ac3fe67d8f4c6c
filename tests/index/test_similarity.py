"""GraphDB's similarity vocabulary on the embedded store, and an index that lives with its graph."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex, QueryRefused, StaleIndex
from mrag.front import connect
from mrag.generation.prompts import PENDING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.index import similarity
from mrag.index.documents import Definition, changed_documents, documents
from mrag.index.segments import document_folder
from mrag.index.similarity import INSTANCE, SIM, SimilarityIndex, SimilarityIndexes, freshen
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import FusedRanker, Question, SimilarityRanker
from mrag.stores.base import SelectResult
from tests.cases import cases
from tests.conftest import PRODUCTS
from tests.servers import oxigraph_server

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


E = "http://example.org/"
THINGS = [*(f"{E}a{n}" for n in range(4)), "http://other.example/red_coat", f"{E}SmallDog"]
CLASSES = [f"{E}Dog", f"{E}Animal"]
TEXTS = [
    *(Literal(text, lang="en") for text in ("A dog", "A red coat")), Literal("Ein Hund", lang="de"),
    Literal("plain words"), Literal(7),
]  # fmt: skip
ONTOLOGY = [Triple(URIRef(CLASSES[0]), RDFS.subClassOf, URIRef(CLASSES[1]))]

things = st.sampled_from(THINGS).map(URIRef)
triples = st.one_of(
    st.builds(Triple, things, st.sampled_from([RDFS.label, URIRef(E + "note")]), st.sampled_from(TEXTS)),
    st.builds(Triple, things, st.just(RDF.type), st.sampled_from(CLASSES).map(URIRef)),
    st.builds(Triple, things, st.sampled_from([URIRef(E + "near"), RDFS.seeAlso]), things),
    st.builds(Triple, st.sampled_from(CLASSES).map(URIRef), st.just(RDFS.label), st.sampled_from(TEXTS)),
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "reason", "load", "index"]),
        st.lists(triples, min_size=1, max_size=3),
    ),
    max_size=6,
)


def held(index: object) -> dict[str, str]:
    assert isinstance(index, SimilarityIndex)
    return {iri: index.files.text_of(iri) for iri in index.files.doc_ids}


def as_update(action: str, some: list[Triple]) -> str:
    rows = " . ".join(f"{s.n3()} {p.n3()} {o.n3()}" for s, p, o in some)
    return f"{action} DATA {{ {rows} }}"


@settings(max_examples=20, deadline=None)
@given(st.lists(triples, min_size=3, max_size=12), steps, st.booleans())
def test_what_follows_is_what_is_built_anew(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[Triple],
    then: list[tuple[str, list[Triple]]],
    reasoned: bool,
) -> None:
    with mrag.connect() as kg:
        kg.insert([*ONTOLOGY, *first, Triple(URIRef(THINGS[0]), RDFS.label, Literal("First", lang="en"))])
        if reasoned:
            kg.reason()
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model="none")
        for action, some in [*then, ("index", [])]:
            if action == "insert":
                kg.insert(some)
            elif action == "delete":
                update(kg, as_update("DELETE", some))
            elif action == "load":
                file = tmp_path_factory.getbasetemp() / "some.nt"
                file.write_text("".join(f"{s.n3()} {p.n3()} {o.n3()} .\n" for s, p, o in some))
                kg.load([file])
            elif action == "reason":
                kg.reason()
            else:
                report = indexes.build(model="none")
                wanted = dict(documents(kg, Definition(languages=kg.languages)))
                assert held(indexes.get()) == wanted
                assert report.added + report.changed + report.unchanged == len(wanted)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[mrag.KnowledgeGraph]:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        names = [f"thing {n}" for n in range(30)]
        kg.insert([Triple(URIRef(f"{E}x{n}"), RDFS.label, Literal(name)) for n, name in enumerate(names)])
        kg.insert(
            [Triple(URIRef(f"{E}x{n}"), URIRef(E + "near"), URIRef(f"{E}x{n - 1}")) for n in range(1, 30)]
        )
        kg.index(model="none")
        yield kg


def test_only_what_changed_is_read(graph: mrag.KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("all documents were read")

    monkeypatch.setattr(similarity, "documents", refused)
    update(graph, f'DELETE DATA {{ <{E}x5> rdfs:label "thing 5" }}')
    update(graph, f'INSERT DATA {{ <{E}x5> rdfs:label "a lion" }}')
    report = graph.index(model="none")
    # What is linked to it has its name in its text.
    assert (report.added, report.changed, report.deleted, report.unchanged) == (0, 2, 0, 28)
    assert graph.search("lion")[0].iri == f"{E}x5"
    update(graph, f"DELETE WHERE {{ <{E}x29> ?p ?o }}")
    assert graph.index(model="none").deleted == 1
    # Nothing has changed, and more changes than are kept have been made.
    assert graph.index(model="none").unchanged == 29
    for n in range(70):
        graph.insert([Triple(URIRef(f"{E}x1"), URIRef(E + "note"), Literal(f"note {n}"))])
    with pytest.raises(AssertionError, match="all documents were read"):
        graph.index(model="none")


def test_a_change_of_many_entities_or_of_inferences_breaks_the_chain(graph: mrag.KnowledgeGraph) -> None:
    def changes() -> object:
        index = SimilarityIndexes.of(graph).get(quiet=True)
        assert isinstance(index, SimilarityIndex)
        return changed_documents(
            graph, Definition(languages=graph.languages), index.files.extra, index.files.doc_ids
        )

    assert changes() is not None
    graph.insert([Triple(URIRef(f"{E}y{n}"), RDFS.label, Literal(f"y {n}")) for n in range(5_001)])
    assert changes() is None
    graph.index(model="none")
    assert changes() is not None
    graph.insert([Triple(URIRef(E + "near"), RDFS.domain, URIRef(E + "Place"))])
    graph.reason()
    assert changes() is None
    graph.index(model="none")
    # What is inferred anew follows from what came, and is followed too.
    graph.insert([Triple(URIRef(f"{E}z"), URIRef(E + "near"), URIRef(f"{E}x1"))])
    graph.reason()
    assert changes() is not None


def test_what_others_write_on_a_server_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.index.backends.base.user_data_path", lambda name: tmp_path / name)
    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as kg:
        kg.insert([Triple(URIRef(E + "a"), RDFS.label, Literal("A red dress"))])
        kg.index(model="none")
        # No record says so, and there are as many triples as before.
        [graph] = kg.record.asserted
        kg.store.clear(graph)
        kg.store.insert(b'<http://example.org/a> <%s> "A blue coat" .\n' % str(RDFS.label).encode(), graph)
        assert kg.index(model="none").changed == 1
        assert held(SimilarityIndexes.of(kg).get())[E + "a"].endswith("A blue coat")


def test_asking_and_searching_see_what_came_after_indexing(monkeypatch: pytest.MonkeyPatch) -> None:
    with mrag.connect() as kg:
        kg.insert([mrag.Triple(URIRef("urn:a"), RDFS.label, Literal("A red dress"))])
        kg.index(model="none")
        kg.insert([mrag.Triple(URIRef("urn:b"), RDFS.label, Literal("A blue coat"))])
        assert SimilarityIndexes.of(kg).info().stale
        assert kg.search("coat").names == ("A blue coat",)
        assert not SimilarityIndexes.of(kg).info().stale
        update(kg, 'INSERT DATA { <urn:c> rdfs:label "A green hat" ; <urn:colour> "green" }')
        assert "green hat" in kg.ask("What hat is green?", model="none", how="read").text
        # Too much to do it meanwhile.
        monkeypatch.setattr(similarity, "_WORDS", 0)
        update(kg, 'INSERT DATA { <urn:d> rdfs:label "A black shoe" }')
        answer = kg.ask("What hat is green?", model="none", how="read")
        assert "older than the graph" in str(answer.notice)


def test_answers_say_when_inferences_do_not_belong_to_the_triples() -> None:
    with mrag.demo(model="none") as kg:
        assert PENDING not in str(kg.ask("How many triple stores are there?", model="none").notice)
        update(kg, "DELETE DATA { ex:GraphDB a ex:TripleStore }")
        assert kg.pending
        assert PENDING in str(kg.ask("How many triple stores are there?", model="none").notice)
        kg.reason()
        assert PENDING not in str(kg.ask("How many triple stores are there?", model="none").notice)
        report = kg.update("INSERT DATA { ex:GraphDB a ex:TripleStore }")
        assert report.added == 1 and kg.reasoned
