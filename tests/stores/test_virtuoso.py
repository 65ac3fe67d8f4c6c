"""What Virtuoso's limits would cut or refuse is done in parts: answers, orders, derivations, and learning."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, XSD

import mrag
from mrag.cel.evaluate import statements
from mrag.cel.learners.base import learner
from mrag.cel.problem import LearningProblem
from mrag.errors import EndpointError
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset, Limits
from mrag.stores.http import Access
from mrag.stores.sparql import SparqlStore
from tests.conftest import opened
from tests.servers import virtuoso_server

pytestmark = pytest.mark.slow
ACCESS = Access(user="dba", password="dba")
G = Dataset(("urn:g",))
LIMIT = 2000


url = opened(lambda folder: virtuoso_server(folder, most_rows=LIMIT))


@pytest.fixture
def kg(url: str) -> Iterator[mrag.KnowledgeGraph]:
    with mrag.connect(url, "suite", access=ACCESS) as found:
        found.store.clear("urn:g")
        yield found
        found.clear()


def numbered(count: int) -> bytes:
    return b"".join(b'<urn:s%d> <urn:p> "%d" .\n' % (i, i % 7) for i in range(count))


def test_pages_of_a_long_answer_are_asked_for_as_they_are_read(
    kg: mrag.KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    kg.store.insert(numbered(3 * LIMIT), "urn:g")
    asked: list[str] = []
    ask = SparqlStore._request
    monkeypatch.setattr(SparqlStore, "_request", lambda *given: asked.append(given[1]) or ask(*given))
    stream = kg.store.stream("SELECT ?s ?o { ?s <urn:p> ?o }", G)
    before = len(asked)
    first = [next(iter(stream)) for _ in range(LIMIT - 1)]
    assert len(asked) == before + 2  # one of them counts
    rows = [(str(s), str(o)) for s, o in (*first, *stream)]
    assert sorted(rows) == sorted((f"urn:s{i}", str(i % 7)) for i in range(3 * LIMIT))
    assert len(asked) == before + 4


@pytest.mark.parametrize("count", [LIMIT - 1, LIMIT, LIMIT + 1, 2 * (LIMIT - 1), 3 * LIMIT])
@pytest.mark.parametrize("order", ["", "ORDER BY ?o ?s", "ORDER BY DESC(?s) STR(?o)"])
def test_a_long_answer_comes_in_pages(kg: mrag.KnowledgeGraph, count: int, order: str) -> None:
    kg.store.insert(numbered(count), "urn:g")
    found = kg.store.select(f"PREFIX x: <urn:> SELECT DISTINCT ?s ?o {{ ?s x:p ?o }} {order}", G)
    assert found.variables == ("s", "o")
    rows = [(str(s), str(o)) for s, o in found]
    assert sorted(rows) == sorted((f"urn:s{i}", str(i % 7)) for i in range(count))
    if order:
        assert rows == sorted(rows, key=lambda r: r[::-1]) if "DESC" not in order else sorted(rows)[::-1]


def test_a_long_answer_that_names_its_graphs_is_refused(kg: mrag.KnowledgeGraph) -> None:
    kg.store.insert(numbered(LIMIT + 1), "urn:g")
    with pytest.raises(EndpointError, match=f"cuts answers at {LIMIT}"):
        kg.store.select("SELECT ?s ?o FROM <urn:g> { ?s <urn:p> ?o }", G)


def test_triples_that_are_cut_are_no_answer(kg: mrag.KnowledgeGraph) -> None:
    text, whole = queries.get("kg/graph").text, io.BytesIO()
    kg.store.insert(numbered(LIMIT - 100), "urn:g")
    assert len(list(kg.store.construct(text, G))) == LIMIT - 100
    kg.store.insert(numbered(LIMIT + 1000), "urn:g")
    for read in (
        lambda: list(kg.store.construct(text, G)),
        lambda: kg.store.bounded(text, G, Limits()),
        lambda: kg.store.dump("urn:g", whole),
    ):
        with pytest.raises(EndpointError, match=f"cuts answers at {LIMIT}"):
            read()
    assert whole.getvalue() == b""


def test_long_texts_are_put_in_order(
    kg: mrag.KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)
    word = "unending prose of the chronicle "
    triples = [Triple(URIRef(f"urn:x{i}"), RDFS.label, Literal(f"scroll {i}", lang="en")) for i in range(3)]
    triples += [
        Triple(URIRef(f"urn:x{i}"), RDFS.comment, Literal(word * n + end, lang="en"))
        for i, n in enumerate((2, 60, 400))
        for end in ("b", "a")
    ]
    kg.insert(triples)
    rows = kg.select("SELECT ?x ?t { ?x ?p ?t } ORDER BY ?x STR(?t) LANG(?t)").rows
    assert len(rows) == 9 and [str(x) for x, _ in rows] == sorted(str(x) for x, _ in rows)
    SimilarityIndexes.of(kg).build("main", model="none")
    answer = mrag.ask(kg, "What is scroll 2?", model="none")
    assert any(word in citation.text for citation in answer.citations)


def test_equal_things_are_reasoned_over_as_elsewhere(kg: mrag.KnowledgeGraph) -> None:
    link, made = URIRef("urn:link"), URIRef("urn:made")
    triples = [Triple(link, RDF.type, OWL.InverseFunctionalProperty)]
    triples += [Triple(made, RDF.type, OWL.FunctionalProperty)]
    for i in range(120):
        thing = URIRef(f"urn:t{i}")
        triples += [
            Triple(thing, link, URIRef(f"urn:l{i // 12}")),
            Triple(thing, made, URIRef(f"urn:m{i}")),
            Triple(thing, RDFS.label, Literal(f"thing {i}")),
            Triple(URIRef(f"urn:u{i}"), URIRef("urn:uses"), thing),
        ]
    kg.insert(triples)
    with mrag.connect() as other:
        other.insert(triples)
        assert reason(kg).triples == reason(other).triples > 6_000
        count = "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p"
        assert kg.select(count, "inferred").rows == other.select(count, "inferred").rows


def test_learning_reads_the_whole_graph(kg: mrag.KnowledgeGraph) -> None:
    triples: list[Triple] = []
    for i in range(1500):
        thing = URIRef(f"urn:x{i}")
        triples += [
            Triple(thing, RDF.type, URIRef("urn:Thing")),
            Triple(thing, URIRef("urn:size"), Literal(i % 5)),
            Triple(thing, URIRef("urn:near"), URIRef(f"urn:x{(i * 7) % 1500}")),
            Triple(
                thing, URIRef("urn:note"), Literal(f"{i} " + "a note that goes on " * (150 if i < 20 else 1))
            ),
        ]
    with mrag.connect() as other:
        for graph in (kg, other):
            graph.insert(triples)
        types, edges = (sorted(map(repr, found)) for found in statements(kg))
        assert [types, edges] == [sorted(map(repr, found)) for found in statements(other)]
        examples = [f"urn:x{i}" for i in range(200)]
        problem = LearningProblem(
            tuple(x for i, x in enumerate(examples) if i % 5 == 3),
            tuple(x for i, x in enumerate(examples) if i % 5 != 3),
        )
        learnt = [learner("search", graph, seconds=60, top=1).fit(problem)[0] for graph in (kg, other)]
        assert learnt[0].expression == learnt[1].expression and learnt[0].quality == 1.0


def test_an_answer_is_computed_and_cited_beside_long_texts_and_decimals(kg: mrag.KnowledgeGraph) -> None:
    triples: list[Triple] = []
    for i in range(40):
        thing = URIRef(f"urn:x{i}")
        triples += [
            Triple(thing, RDF.type, URIRef("urn:Tower")),
            Triple(thing, RDFS.label, Literal(f"Tower of {'Babel Pisa Sagres Torun'.split()[i % 4]} {i}")),
            Triple(thing, URIRef("urn:height"), Literal(f"{100 + i}", datatype=URIRef(str(XSD.decimal)))),
            Triple(thing, URIRef("urn:note"), Literal("it stands and stands " * (200 + i))),
            Triple(thing, URIRef("urn:code"), Literal("ab" * 1500 + str(i))),
        ]
    with mrag.connect() as other:
        for graph in (kg, other):
            graph.insert(triples)
        for question in ("What is the height of Tower of Pisa 1?", "Which towers have height 105?"):
            here, there = (mrag.ask(graph, question, model="none", how="plan") for graph in (kg, other))
            assert (here.way, here.text) == (there.way, there.text)
            assert here.way == "plan" and here.citations, here.text
            assert [c.text for c in here.citations] == [c.text for c in there.citations]
