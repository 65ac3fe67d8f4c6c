"""GraphDB's similarity vocabulary on the embedded store, an index beside its graph, and its texts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex, QueryRefused, StaleIndex
from mrag.front import connect
from mrag.generation.prompts import PENDING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import most_selective
from mrag.graph.updates import update
from mrag.index import documents as module
from mrag.index import similarity
from mrag.index.documents import Definition, changed_documents, documents
from mrag.index.segments import document_folder
from mrag.index.similarity import INSTANCE, SIM, SimilarityIndex, SimilarityIndexes, freshen
from mrag.language.names import iri_words
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, Triple
from mrag.retrieval.answering import ask
from mrag.retrieval.rankers import FusedRanker, Question, SimilarityRanker
from mrag.storage.sorting import SortedRows
from mrag.stores.base import SelectResult
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases
from tests.commands import run
from tests.conftest import PRODUCTS
from tests.servers import oxigraph_server

INDEX = URIRef(INSTANCE + "main")
PREFIXES = f"PREFIX : <{SIM}> PREFIX inst: <{INSTANCE}>\n"


@pytest.fixture(scope="module", params=["memory", "disk"])
def products(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    url = "oxigraph:" if request.param == "memory" else f"oxigraph:{tmp_path_factory.mktemp('kg') / 'store'}"
    with connect(url) as graph:
        graph.load([PRODUCTS])
        SimilarityIndexes.of(graph).build("main", model="wordllama")
        yield graph


def rows(products: KnowledgeGraph, text: str) -> SelectResult:
    result = products.query(text)
    assert isinstance(result, SelectResult)
    return result


def by_file(term: str, k: int = 5) -> str:
    query = queries.get("similarity/text")
    return query.bind(index_term_parameters=[(INDEX, Literal(term), Literal(f"-numsearchresults {k}"))])


@pytest.mark.parametrize("url", ["oxigraph:", "oxigraph:STORE"])
def test_words_are_found_before_the_meaning_is_there(url: str, tmp_path: Path) -> None:
    with connect(url.replace("STORE", str(tmp_path / "store"))) as kg:
        kg.load([PRODUCTS])
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model="wordllama", later=True)
        info = indexes.info()
        assert (info.embedder, info.later, info.stale) == (None, "wordllama", False)
        assert "words alone" in str(freshen(kg)) and "words alone" in str(ask(kg, "Redis", how="read").notice)
        kg.insert([Triple(URIRef("urn:new"), RDFS.label, Literal("Zanzibar"))])
        assert "words alone" in str(freshen(kg)) and not indexes.info().stale
        assert [match.doc_id for match in indexes.get().search("zanzibar", 1)] == ["urn:new"]
        indexes.build(model="wordllama")
        assert indexes.info().embedder is not None and not indexes.info().later and freshen(kg) is None
        with pytest.raises(ConfigError, match="meaning of its texts already"):
            indexes.build(model="wordllama", later=True)


@pytest.mark.parametrize(
    "term", ["RDF database", "graph", 'quotes " and \\ and } #', "Käse 芝士 🧀", "line\nbreak"]
)
def test_the_file_gives_what_the_ranker_gives(products: KnowledgeGraph, term: str) -> None:
    hits = SimilarityRanker(products).rank(Question(term), 5)
    found = rows(products, by_file(term))
    assert [(str(d), float(str(s))) for d, s in found] == [
        (h.iri, pytest.approx(h.score)) for h in sorted(hits, key=lambda h: (-h.score, h.iri))
    ]


def test_the_file_as_it_stands(products: KnowledgeGraph) -> None:
    assert len(rows(products, queries.get("similarity/text").text)) == 10
    neighbours = rows(products, queries.get("similarity/entity").text)
    assert len(neighbours) == 10
    assert URIRef("https://w3id.org/mrag/demo/products#GraphDB") not in neighbours.column("documentID")


def test_a_search_as_one_pattern_of_a_larger_query(products: KnowledgeGraph) -> None:
    found = rows(
        products,
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


def test_several_searches_in_one_query(products: KnowledgeGraph) -> None:
    found = rows(
        products,
        PREFIXES
        + """SELECT ?d (COUNT(*) AS ?n) WHERE {
          { ?a a inst:main ; :searchTerm "RDF storage" ; :documentResult ?r . ?r :value ?d }
          UNION
          { ?b a inst:main ; :searchTerm "vector indexing" ; :documentResult ?q . ?q :value ?d }
        } GROUP BY ?d ORDER BY ?d""",
    )
    one = {h.iri for h in SimilarityRanker(products).rank(Question("RDF storage"), 20)}
    other = {h.iri for h in SimilarityRanker(products).rank(Question("vector indexing"), 20)}
    assert {str(d): int(str(n)) for d, n in found} == {i: (i in one) + (i in other) for i in one | other}


def test_several_terms_by_values(products: KnowledgeGraph) -> None:
    found = rows(
        products,
        PREFIXES
        + """SELECT ?t (COUNT(?d) AS ?n) WHERE { VALUES ?t { "RDF" "vector" }
          ?s a inst:main ; :searchTerm ?t ; :searchParameters "-numsearchresults 3" ; :documentResult ?r .
          ?r :value ?d } GROUP BY ?t ORDER BY ?t""",
    )
    assert [(str(t), int(str(n))) for t, n in found] == [("RDF", 3), ("vector", 3)]


def test_searches_at_once_do_not_see_each_other(products: KnowledgeGraph) -> None:
    terms = ["RDF", "vector", "graph", "search", "licence", "Berlin", "stream", "SQL"] * 3
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda term: rows(products, by_file(term, 4)).rows, terms))
    for term, answer in zip(terms, answers, strict=True):
        assert answer == rows(products, by_file(term, 4)).rows
        assert len(answer) == 4


def test_the_hits_are_in_nobody_elses_sight(products: KnowledgeGraph) -> None:
    triples = products.count("all")
    rows(products, by_file("RDF"))
    assert len(rows(products, "SELECT ?g { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g")) == 1
    assert products.count("all") == triples
    assert products.query(f"ASK {{ ?r <{SIM}value> ?x }}") is False
    assert not [g for g in products.store.graphs() if "scratch" in g]


REFUSED = cases(__file__, "REFUSED")


@pytest.mark.parametrize("pattern,says", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_answered_is_refused(products: KnowledgeGraph, pattern: str, says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        products.query(f"{PREFIXES}SELECT * {{ {pattern} }}")


def test_a_missing_index_is_named(products: KnowledgeGraph) -> None:
    with pytest.raises(MissingIndex, match=r"no similarity index 'nowhere'.*there are: main"):
        products.query(f'{PREFIXES}SELECT * {{ ?s a inst:nowhere ; :searchTerm "x" ; :documentResult ?r }}')


def test_numbers_and_other_languages_stay_out(products: KnowledgeGraph) -> None:
    files = SimilarityIndexes.of(products).get().files
    text = files.text_of("https://w3id.org/mrag/demo/products#Virtuoso")
    assert text.startswith("Virtuoso. Virtuoso. Virtuoso. Virtuoso. ")
    assert "relational database" in text, "what it is"
    assert "OpenLink Software" in text, "what it is linked to"
    assert "relationale Datenbank" not in text
    assert not any(word.isdigit() for word in text.split())


def small(products: KnowledgeGraph, *labels: str) -> None:
    products.insert([Triple(URIRef(f"urn:x:{x}"), RDFS.label, Literal(x, lang="en")) for x in labels])


def test_an_entity_without_preferred_language_is_found_by_what_it_has() -> None:
    with connect() as products:
        products.insert([Triple(URIRef("urn:x:a"), RDFS.label, Literal("Schmetterling", lang="de"))])
        indexes = SimilarityIndexes.of(products)
        indexes.build("main", model="none")
        assert [m.doc_id for m in indexes.get().search("schmetterling", 3)] == ["urn:x:a"]
        with pytest.raises(IndexError_, match="There is nothing to index"):
            indexes.build("main", model="none", definition=Definition(fallback=False))
        assert len(indexes.get().files) == 1


def test_an_index_grows_with_the_graph_and_says_when_it_is_old(tmp_path: Path) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        small(products, "apple", "pear")
        indexes = SimilarityIndexes.of(products)
        assert indexes.build("main", model="wordllama").added == 2
        small(products, "plum")
        assert indexes.info().stale
        with pytest.raises(StaleIndex, match="mrag index"):
            SimilarityRanker(products, strict=True).rank(Question("plum"), 3)
        report = indexes.build("main", model="wordllama")
        assert (report.added, report.unchanged, report.deleted) == (1, 2, 0)
        assert not indexes.info().stale
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        assert SimilarityIndexes.of(products).names() == ["main"]
        assert SimilarityRanker(products, strict=True).rank(Question("plum"), 1)[0].iri == "urn:x:plum"
        SimilarityIndexes.of(products).delete("main")
        assert SimilarityIndexes.of(products).names() == []
        with pytest.raises(MissingIndex):
            SimilarityIndexes.of(products).delete("main")


def test_an_index_of_another_model_is_told(tmp_path: Path) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        small(products, "apple")
        SimilarityIndexes.of(products).build("own", model=DeterministicFakeEmbedding(size=16))
        assert SimilarityIndexes.of(products).get("own").search("apple", 1)
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        indexes = SimilarityIndexes.of(products)
        with pytest.raises(IndexMismatch, match="model="):
            indexes.get("own")
        with pytest.raises(IndexMismatch):
            indexes.get("own", model="wordllama")
        assert indexes.get("own", model=DeterministicFakeEmbedding(size=16)).search("apple", 1)


def test_an_index_keeps_its_analyser(tmp_path: Path) -> None:
    german = Definition(languages=("de", "en", ""))
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        products.insert([Triple(URIRef("urn:x:h"), RDFS.label, Literal("Häuser am See", lang="de"))])
        indexes = SimilarityIndexes.of(products)
        indexes.build("main", model="none", definition=german)
        assert indexes.info().analyser == "snowball:german+words"
        assert indexes.get().search("Haus", 1)
        plural = replace(german, analyser="plural")
        assert indexes.build("main", model="none", definition=plural).added == 1
        assert indexes.info().analyser == "plural" and not indexes.info().stale
        assert not indexes.get().search("Haus", 1)
        small(products, "apple")
        assert freshen(products) is None
        assert indexes.info().analyser == "plural" and len(indexes.get().files) == 2
        with pytest.raises(ConfigError, match="no analyser 'porter'"):
            indexes.build("main", model="none", definition=replace(german, analyser="porter"))
        assert len(indexes.get().files) == 2


@pytest.mark.parametrize(("key", "value", "words"), cases(__file__, "ANALYSERS"))
def test_an_index_of_another_analyser_is_told_and_built_anew(
    tmp_path: Path, key: str, value: object, words: str
) -> None:
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        small(products, "apple")
        stemmed = Definition(analyser="snowball:english")
        SimilarityIndexes.of(products).build("main", model="none", definition=stemmed)
    folder = tmp_path / "s.mrag" / "main" / "index" / "main"
    committed = document_folder(folder).committed()
    document_folder(folder).commit(replace(committed, about={**committed.about, key: value}))
    with connect(f"oxigraph:{tmp_path / 's'}") as products:
        indexes = SimilarityIndexes.of(products)
        with pytest.raises(IndexMismatch, match=words) as told:
            indexes.get()
        assert "mrag index" in str(told.value.hint)
        assert indexes.build("main", model="none").added == 1
        assert indexes.get().search("apples", 1)


def test_wrong_names_and_queries_are_refused() -> None:
    with connect() as products:
        small(products, "apple")
        indexes = SimilarityIndexes.of(products)
        with pytest.raises(ConfigError, match="cannot name an index"):
            indexes.build("../up", model="none")
        with pytest.raises(ConfigError, match="documentID"):
            indexes.build("x", model="none", definition=Definition(queries=("explore/classes",)))
        with pytest.raises(ConfigError, match="no embedding model"):
            indexes.build("x", model="nonesuch")


def test_fused_rankers_keep_the_reasons(products: KnowledgeGraph) -> None:
    fused = FusedRanker([SimilarityRanker(products, mode="bm25"), SimilarityRanker(products, mode="dense")])
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
    with mrag.connect() as products:
        products.insert(
            [*ONTOLOGY, *first, Triple(URIRef(THINGS[0]), RDFS.label, Literal("First", lang="en"))]
        )
        if reasoned:
            products.reason()
        indexes = SimilarityIndexes.of(products)
        indexes.build(model="none")
        for action, some in [*then, ("index", [])]:
            if action == "insert":
                products.insert(some)
            elif action == "delete":
                update(products, as_update("DELETE", some))
            elif action == "load":
                file = tmp_path_factory.getbasetemp() / "some.nt"
                file.write_text("".join(f"{s.n3()} {p.n3()} {o.n3()} .\n" for s, p, o in some))
                products.load([file])
            elif action == "reason":
                products.reason()
            else:
                report = indexes.build(model="none")
                wanted = dict(documents(products, Definition(languages=products.languages)))
                assert held(indexes.get()) == wanted
                assert report.added + report.changed + report.unchanged == len(wanted)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[mrag.KnowledgeGraph]:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as products:
        names = [f"thing {n}" for n in range(30)]
        products.insert(
            [Triple(URIRef(f"{E}x{n}"), RDFS.label, Literal(name)) for n, name in enumerate(names)]
        )
        products.insert(
            [Triple(URIRef(f"{E}x{n}"), URIRef(E + "near"), URIRef(f"{E}x{n - 1}")) for n in range(1, 30)]
        )
        products.index(model="none")
        yield products


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
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)
    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as products:
        products.insert([Triple(URIRef(E + "a"), RDFS.label, Literal("A red dress"))])
        products.index(model="none")
        # No record says so, and there are as many triples as before.
        [graph] = products.record.asserted
        products.store.clear(graph)
        products.store.insert(
            b'<http://example.org/a> <%s> "A blue coat" .\n' % str(RDFS.label).encode(), graph
        )
        assert products.index(model="none").changed == 1
        assert held(SimilarityIndexes.of(products).get())[E + "a"].endswith("A blue coat")


def test_asking_and_searching_see_what_came_after_indexing(monkeypatch: pytest.MonkeyPatch) -> None:
    with mrag.connect() as products:
        products.insert([mrag.Triple(URIRef("urn:a"), RDFS.label, Literal("A red dress"))])
        products.index(model="none")
        products.insert([mrag.Triple(URIRef("urn:b"), RDFS.label, Literal("A blue coat"))])
        assert SimilarityIndexes.of(products).info().stale
        assert products.search("coat").names == ("A blue coat",)
        assert not SimilarityIndexes.of(products).info().stale
        update(products, 'INSERT DATA { <urn:c> rdfs:label "A green hat" ; <urn:colour> "green" }')
        assert "green hat" in products.ask("What hat is green?", model="none", how="read").text
        # Too much to do it meanwhile.
        monkeypatch.setattr(similarity, "_WORDS", 0)
        update(products, 'INSERT DATA { <urn:d> rdfs:label "A black shoe" }')
        answer = products.ask("What hat is green?", model="none", how="read")
        assert "older than the graph" in str(answer.notice)


def test_answers_say_when_inferences_do_not_belong_to_the_triples() -> None:
    with mrag.demo(model="none") as products:
        assert PENDING not in str(products.ask("How many triple stores are there?", model="none").notice)
        update(products, "DELETE DATA { ex:GraphDB a ex:TripleStore }")
        assert products.pending
        assert PENDING in str(products.ask("How many triple stores are there?", model="none").notice)
        products.reason()
        assert PENDING not in str(products.ask("How many triple stores are there?", model="none").notice)
        report = products.update("INSERT DATA { ex:GraphDB a ex:TripleStore }")
        assert report.added == 1 and products.reasoned


X = "http://x.example/"
NODES = [ox.NamedNode(X + name) for name in ("RedShoe", "BlueCoat", "Shop", "k1")]
NODES += [ox.NamedNode("http://y.example/page1"), ox.BlankNode("b"), ox.NamedNode(X + "sells")]
PREDICATES = [ox.NamedNode(str(n)) for n in (X + "sells", RDF.type, RDFS.label, RDFS.domain, RDFS.comment)]
LITERALS = [ox.Literal(word, language=tag) for word, tag in product(("shoe", "a. coat"), ("en", "de"))]
LITERALS += [ox.Literal("plain"), ox.Literal(7), ox.Literal("")]
TRIPLES = st.lists(
    st.tuples(
        st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from([*NODES, *LITERALS]),
        st.booleans(),
    ),
    max_size=14,
)  # fmt: skip
DEFINITIONS = [
    Definition(), Definition(languages=("de",)), Definition(fallback=False),
    Definition(("index/linked-labels", "index/texts")), Definition(("index/texts",)),
]  # fmt: skip


def read(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """Return the documents of each definition, and look whether queries give the same."""
    found = [list(documents(kg, definition)) for definition in DEFINITIONS]
    with monkeypatch.context() as m:
        m.setattr(module, "are_edges", lambda *_: False)
        assert [list(documents(kg, definition)) for definition in DEFINITIONS] == found
    return found


@settings(max_examples=40)
@given(TRIPLES)
@example([(NODES[0], PREDICATES[0], NODES[5], False), (NODES[5], PREDICATES[2], LITERALS[0], True)])
def test_edges_tell_what_queries_tell(triples: list[tuple[object, ...]]) -> None:
    store = OxigraphStore()
    first = KnowledgeGraph(store)
    update(first, f"INSERT DATA {{ <{X}k1> <{X}made> 1 . GRAPH <urn:g> {{ <{X}k1> <{X}made> 2 }} }}")
    graphs = [ox.NamedNode(graph) for graph in first.dataset().default]
    for s, p, o, other in triples:
        # As a load and an insertion would not: with blank nodes.
        store.engine.add(ox.Quad(s, p, o, graphs[other]))  # type: ignore[arg-type]
    with KnowledgeGraph(store) as kg, pytest.MonkeyPatch.context() as monkeypatch:
        assert len(graphs) == 2 and sum(kg.profile().predicates.values()) == 2 + len(set(triples))
        read(kg, monkeypatch)


def test_a_graph_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect() as kg:
        kg.load([PRODUCTS])
        whole = read(kg, monkeypatch)
        monkeypatch.setattr(SortedRows.__init__, "__kwdefaults__", {"folder": None, "most": 2000})
        monkeypatch.setattr(module, "_BATCH", 7)
        monkeypatch.setattr(module, "_KEPT", 10)
        assert read(kg, monkeypatch) == whole


CELLAR = beside(__file__, "cellar.ttl")
SHOP = beside(__file__, "shop.ttl")
NS = "http://shop.example/"


def loaded(tmp_path: Path, text: str) -> KnowledgeGraph:
    (tmp_path / "a.ttl").write_text(text, "utf-8")
    kg = connect()
    kg.load([tmp_path / "a.ttl"])
    return kg


def found(kg: KnowledgeGraph, text: str, k: int = 1) -> list[str]:
    SimilarityIndexes.of(kg).build("main", model="none")
    return [m.doc_id for m in SimilarityIndexes.of(kg).get().search(text, k)]


def test_things_without_labels_are_found_by_the_words_of_their_iris(tmp_path: Path) -> None:
    with loaded(tmp_path, CELLAR) as kg:
        own = "http://cellar.example/own#"
        assert found(kg, "apple farm") == [own + "AppleFarmCider"]
        assert found(kg, "sparkling cider") == [own + "SparklingCider"]
        assert set(found(kg, "pale gold", 2)) == {own + "PaleGold", own + "AppleFarmCider"}
        answer = ask(kg, "What is the colour of the Apple Farm Cider?", model="none")
        assert "Pale Gold" in answer.text


def test_the_most_selective_texts_of_a_class_name_its_members(tmp_path: Path) -> None:
    with loaded(tmp_path, SHOP) as kg:
        assert kg.label_properties == (NS + "clientName", NS + "fullName")
        assert kg.labels([NS + "k1", NS + "t1"]) == {NS + "k1": "Nordwind GmbH", NS + "t1": None}
        assert found(kg, "casa verde") == [NS + "k3"]
        answer = ask(kg, "What is the segment of Casa Verde?", model="none")
        assert "food" in answer.text
        assert "Casa Verde" in ask(kg, "Which clients have the segment food?", model="none").text


def test_blank_nodes_with_names_are_things(tmp_path: Path) -> None:
    with loaded(tmp_path, SHOP) as kg:
        (person,) = found(kg, "Ada Brook")
        assert person.startswith(SKOLEM)
        answer = ask(kg, "Which ticket is by Ada Brook?", model="none", reading=1)
        assert [str(c.term) for row in answer.computed.rows for c in row] == [NS + "t1"]
        read = ask(kg, "What do you know of Ada Brook?", model="none", how="read")
        assert "Ada Brook" in read.text


def test_a_declared_label_comes_before_one_that_was_found(tmp_path: Path) -> None:
    more = f'<{NS}k1> <{RDFS.label}> "Der Nordwind"@de .'
    with loaded(tmp_path, SHOP + more) as kg:
        assert kg.labels([NS + "k1", NS + "k2"]) == {NS + "k1": "Der Nordwind", NS + "k2": "Blue Harbour Ltd"}


def test_what_somebody_chose_comes_first_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(SHOP, "utf-8")
    url = f"oxigraph:{tmp_path / 'store'}"
    with connect(url) as kg:
        kg.load([tmp_path / "a.ttl"])
        assert kg.labels([NS + "k1"]) == {NS + "k1": "Nordwind GmbH"}
        before = kg.revision
        kg.label_properties = [NS + "vat"]
        assert kg.revision > before
        with pytest.raises(ConfigError, match="No triple has"):
            kg.label_properties = [NS + "nothing"]
    with connect(url) as kg:
        assert kg.label_properties[0] == NS + "vat"
        assert kg.labels([NS + "k1"]) == {NS + "k1": "DE123456789"}
        kg.load([tmp_path / "a.ttl"], replacing=True)
        assert kg.labels([NS + "k1"]) == {NS + "k1": "DE123456789"}


def test_an_index_of_nothing_is_an_error_that_says_why(tmp_path: Path) -> None:
    with connect() as kg:
        with pytest.raises(IndexError_, match="holds no triples"):
            SimilarityIndexes.of(kg).build("main", model="none")
        kg.insert([Triple(URIRef("http://e.example/q1"), URIRef("http://e.example/p2"), Literal(3))])
        with pytest.raises(IndexError_, match="codes rather than words"):
            SimilarityIndexes.of(kg).build("main", model="none")


def test_the_commands(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(SHOP, "utf-8")
    (tmp_path / "codes.ttl").write_text("<http://e.example/q1> <http://e.example/p2> 3 .", "utf-8")
    store = ["--store", str(tmp_path / "store")]
    chosen = ["--label-property", NS + "vat"]
    assert run("load", *store, "a.ttl", *chosen, cwd=tmp_path).returncode == 0
    assert run("index", *store, "--embedder", "none", cwd=tmp_path).returncode == 0
    assert "DE123456789" in run("search", *store, "nordwind", cwd=tmp_path).stdout
    chosen = ["--label-property", NS + "clientName"]
    assert run("index", *store, "--embedder", "none", *chosen, cwd=tmp_path).returncode == 0
    assert "Nordwind GmbH" in run("search", *store, "nordwind", cwd=tmp_path).stdout
    codes = ["--store", str(tmp_path / "codes")]
    assert run("load", *codes, "codes.ttl", cwd=tmp_path).returncode == 0
    failed = run("index", *codes, "--embedder", "none", cwd=tmp_path)
    assert failed.returncode == 1
    assert "There is nothing to index" in failed.stderr


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.text("abc xyz1", max_size=9)), max_size=40)
)
def test_the_choice_does_not_depend_on_the_order(rows: list[tuple[int, int, str]]) -> None:
    terms = [(URIRef(f"urn:{s}"), URIRef(f"urn:p{p}"), Literal(o)) for s, p, o in rows]
    assert most_selective(terms, 10) == most_selective(terms[::-1], 10)


@pytest.mark.parametrize("code", ["Q42", "k1", "3f2a0bea-0b1c-4f2d-9d3e-aaaabbbbcccc", "000123", "n4217x"])
def test_codes_are_no_words(code: str) -> None:
    assert iri_words(f"http://example.org/{code}") is None


def test_types_are_no_names() -> None:
    assert Schema({}, {}, ()).label_properties == ()
    with connect() as kg:
        kg.insert([Triple(URIRef("urn:x:a"), RDF.type, URIRef("urn:x:C"))])
        assert kg.label_properties == ()
