"""What every triple store must do, as a suite for pytest that ships with the package.

A new store is done when a subclass passes::

    class TestMyStore(StoreConformance):
        @pytest.fixture(scope="class")
        @classmethod
        def store(cls):
            with MyStore("http://localhost:9999") as store:
                yield store

The suite writes graphs whose names begin with `urn:conformance:` and knowledge graphs named
`conformance-…`, and removes them. On a server that reasons by itself, which keeps one knowledge graph, it
empties the repository, before and after; the embedded store then holds what that server inferred. Terms are
compared by value, because most stores print numbers, booleans and language tags in a spelling of their own.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from importlib.resources import as_file, files
from inspect import signature
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from rdflib import RDF, RDFS, BNode, Literal, URIRef
from rdflib.plugins.sparql.datatypes import XSD_DTs

from mrag.context.expansion import ContextSettings, expand
from mrag.errors import EndpointError, LoadError, MragError, QueryRefused, QueryTimeout, StoreError
from mrag.graph.connection import delete, summaries
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.loaders.rdf import Source
from mrag.rdf import queries
from mrag.rdf.patterns import Construct, Group, TriplePattern, iri, var
from mrag.rdf.terms import XSD, Term, Triple, to_ntriples, to_ox
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset, Limits, TripleStore
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.parsing import well_formed_tag

C = "urn:conformance:"
G, H = f"{C}g", f"{C}h"
TEXTS = (
    "plain", "", " ", 'say "hi"', "it's", "back\\slash", "line\nbreak\r\ttab", "}", "{ ?x ?y ?z }",
    "# no comment", "?variable", "<urn:x>", "\\u0022", "ünïcödé", "日本語", "🦊", "'''", '"""',
    "%20 & + ; = ?", "DROP ALL", "a" * 5000,
)  # fmt: skip
IRIS = ("urn:x", "http://example.org/ü?a=b&c=%20d#f'g", "http://example.org/" + "x" * 500)
ALL = "SELECT ?s ?o WHERE { ?s <urn:p> ?o }"
VENDORS = """
PREFIX ex: <https://w3id.org/mrag/demo/products#>
SELECT DISTINCT ?v WHERE { ?p ex:developedBy ?v } ORDER BY ?v
"""


def plain(term: Term | None) -> tuple[str, ...] | None:
    """Return a term so that equal values are equal.

    Example:
        >>> plain(Literal("007", datatype=URIRef(XSD + "integer"))) == plain(Literal(7))
        True
        >>> plain(Literal("x", lang="en-GB")) == plain(Literal("x", lang="en-gb"))
        True
    """
    if term is None:
        return None
    if not isinstance(term, Literal):
        return ("bnode",) if isinstance(term, BNode) else ("iri", str(term))
    if term.language:
        return "text", str(term), term.language.lower()
    if term.datatype == URIRef(XSD + "boolean"):
        return "boolean", "true" if str(term).lower() in ("1", "true") else "false"
    if isinstance(term.value, datetime):
        return "time", term.value.isoformat()
    if term.datatype in XSD_DTs and term.value is not None:
        try:
            return "number", repr(float(str(term)))
        except ValueError:
            return "literal", str(term), str(term.datatype)
    return ("text", str(term), "") if term.datatype is None else ("literal", str(term), str(term.datatype))


def bag(rows: Iterable[Iterable[Term | None]]) -> Counter[tuple[Any, ...]]:
    """Return rows as a bag that can be compared."""
    return Counter(tuple(map(plain, row)) for row in rows)


def ntriples(*triples: tuple[str, str, Term]) -> bytes:
    """Return triples, of IRIs and a term, as N-Triples."""
    return "".join(f"<{s}> <{p}> {to_ox(o)} .\n" for s, p, o in triples).encode()


def number(terms: Iterable[Term]) -> bytes:
    """Return a triple for each term, as N-Triples."""
    return ntriples(*((f"urn:t{i}", "urn:p", term) for i, term in enumerate(terms)))


def skip_where_served(store: TripleStore) -> None:
    """Skip a test of what mrag infers on a server that reasons by itself."""
    if store.capabilities.reasoning:
        pytest.skip("the server infers by rules of its own, as triples come and go")


def forget(store: TripleStore, name: str) -> None:
    """Leave nothing of a knowledge graph; a server that reasons by itself has no other."""
    if store.capabilities.reasoning:
        for graph in store.graphs():
            store.clear(graph)
    elif any(one.name == name for one in summaries(store)):
        delete(KnowledgeGraph(store, name))


@contextmanager
def fresh(store: TripleStore, name: str) -> Iterator[KnowledgeGraph]:
    """Give a knowledge graph without triples, and leave nothing of it."""
    kg = KnowledgeGraph(store, name)
    if store.capabilities.reasoning:
        forget(store, name)
        kg.recount()
    kg.clear()
    try:
        yield kg
    finally:
        forget(store, name)


# Not compared: updates, searches and marks of the state (tests of their own), and what is about the store's
# own graphs and layers.
_APART = (
    "update/",
    "similarity/",
    "kg/names",
    "kg/inferred",
    "kg/registry",
    "kg/state",
    "explore/graph",
    "context/graphs-of",
)
_COMPARED = [name for name in queries.names() if not name.startswith(_APART)]
_RUNAWAY = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


_TAGS = ("de", "en-GB", "zh-classical", "klingonian")


class StoreConformance:
    """The fixtures of the suite; subclasses give `store`."""

    rows = 12_000  # Rows of the large result; a store may refuse it, but must not cut it

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        """Yield the store under test, empty or not."""
        raise NotImplementedError("a subclass gives the store")
        yield

    @pytest.fixture(autouse=True)
    def _clean(self, request: pytest.FixtureRequest, store: TripleStore) -> Iterator[None]:
        # Tests write into these graphs by the store; those that take the knowledge graph alone only read.
        written = (G, H) if "store" in signature(request.function).parameters else ()
        for graph in written:
            store.clear(graph)
        yield
        for graph in written:
            store.clear(graph)

    @pytest.fixture(scope="class")
    @classmethod
    def _load(cls, store: TripleStore) -> Iterator[list[KnowledgeGraph]]:
        """Yield where the knowledge graph in the store under test is kept once it is loaded."""
        kept: list[KnowledgeGraph] = []
        yield kept
        if kept:
            forget(store, kept[0].name)

    @pytest.fixture
    def kg(self, store: TripleStore, _load: list[KnowledgeGraph]) -> KnowledgeGraph:
        """Return the demo graph in the store under test, reasoned over there."""
        # Where a store keeps one knowledge graph, another test may have replaced it.
        if _load and _load[0].count() == _load[0].record.triples:
            return _load[0]
        forget(store, "conformance-k")
        with as_file(files("mrag") / "ontology" / "products.ttl") as path:
            kg = KnowledgeGraph(store, "conformance-k")
            kg.load([path])
            reason(kg)
            kg.searcher = SimilarityIndexes(kg, None)
            kg.searcher.build("main", model="none")
            _load[:] = [kg]
            return kg

    @pytest.fixture(scope="class")
    @classmethod
    def _references(cls, store: TripleStore) -> Iterator[list[KnowledgeGraph]]:
        kept: list[KnowledgeGraph] = []
        yield kept
        for kg in kept:
            kg.close()

    @pytest.fixture
    def reference(self, kg: KnowledgeGraph, _references: list[KnowledgeGraph]) -> KnowledgeGraph:
        """Return the demo graph in the embedded store, with what a server infers by rules of its own."""
        if _references:
            return _references[0]
        with as_file(files("mrag") / "ontology" / "products.ttl") as path:
            made = KnowledgeGraph(OxigraphStore(), "conformance-r")
            made.load([path])
        if kg.store.capabilities.reasoning:
            graph, text = made.new_graph("inferred"), queries.get("kg/graph").text
            asserted, inferred = (
                dict.fromkeys(kg.store.construct(text, kg.dataset(layer))) for layer in ("asserted", "all")
            )
            made.store.insert(to_ntriples(t for t in inferred if t not in asserted), graph)
            made.set_inferred([graph], made.store.count(graph))
        else:
            reason(made)
        SimilarityIndexes.of(made).build("main", model="none")
        _references.append(made)
        return made

    def test_texts_come_back_as_they_went(self, store: TripleStore) -> None:
        texts = [Literal(text, lang=tag) for text in TEXTS for tag in (None, "de")]
        store.insert(number(texts), G)
        rows = store.select(ALL, Dataset((G,)))
        assert bag(rows) == bag((URIRef(f"urn:t{i}"), text) for i, text in enumerate(texts))

    def test_rows_that_come_one_by_one_are_those_that_come_at_once(self, store: TripleStore) -> None:
        store.insert(number(Literal(i % 7) for i in range(500)), G)
        query = f"{ALL} ORDER BY ?s"
        whole = store.select(query, Dataset((G,)))
        stream = store.stream(query, Dataset((G,)))
        assert stream.variables == whole.variables == ("s", "o")
        first = next(iter(stream))
        assert store.ask("ASK { ?s <urn:p> ?o }", Dataset((G,)))
        assert [first, *stream] == list(whole) and len(whole) == 500
        assert list(stream) == [], "it can be read once"

    def test_text_as_a_parameter_is_only_text(self, store: TripleStore) -> None:
        store.insert(number(map(Literal, TEXTS)), G)
        query = queries.parse("q", "SELECT ?s WHERE {\nVALUES ?o { 'x' } #+ bind: o\n?s <urn:p> ?o }")
        for i, text in enumerate(TEXTS):
            result = store.select(query.bind(o=[Literal(text)]), Dataset((G,)))
            assert [str(s) for (s,) in result] == [f"urn:t{i}"], text

    def test_iris_come_back_as_they_went(self, store: TripleStore) -> None:
        store.insert(ntriples(*((i, "urn:p", URIRef(i)) for i in IRIS)), G)
        assert bag(store.select(ALL, Dataset((G,)))) == bag((URIRef(i), URIRef(i)) for i in IRIS)

    def test_typed_literals_keep_their_values(self, store: TripleStore) -> None:
        pairs = [
            ("7", "integer"), ("-1.5", "decimal"), ("2.5e3", "double"), ("true", "boolean"),
            ("false", "boolean"), ("2024-02-29", "date"), ("2024-02-29T12:00:00Z", "dateTime"),
        ]  # fmt: skip
        terms = [Literal(v, datatype=URIRef(XSD + t)) for v, t in pairs]
        terms.append(Literal("x", datatype=URIRef("urn:mytype")))
        store.insert(number(terms), G)
        rows = store.select(ALL, Dataset((G,)))
        assert bag(rows) == bag((URIRef(f"urn:t{i}"), term) for i, term in enumerate(terms))

    def test_a_query_sees_its_graphs_alone(self, store: TripleStore) -> None:
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:b"))), G)
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:c"))), H)
        text = "SELECT ?o WHERE { <urn:a> <urn:p> ?o }"
        assert [str(o) for (o,) in store.select(text, Dataset((G,)))] == ["urn:b"]
        assert sorted(str(o) for (o,) in store.select(text, Dataset((G, H)))) == ["urn:b", "urn:c"]
        named = "SELECT ?g ?o WHERE { GRAPH ?g { <urn:a> <urn:p> ?o } }"
        rows = store.select(named, Dataset((G,), (H,)))
        assert [(str(g), str(o)) for g, o in rows] == [(H, "urn:c")]

    def test_every_form_of_query(self, store: TripleStore) -> None:
        store.insert(ntriples(("urn:a", "urn:p", Literal("x"))), G)
        one = "SELECT ?s ?o ?n WHERE { ?s <urn:p> ?o OPTIONAL { ?s <urn:none> ?n } }"
        result = store.select(one, Dataset((G,)))
        assert result.variables == ("s", "o", "n")
        assert result.rows == [(URIRef("urn:a"), Literal("x"), None)]
        assert store.ask("ASK { <urn:a> ?p ?o }", Dataset((G,))) is True
        assert store.ask("ASK { <urn:b> ?p ?o }", Dataset((G,))) is False
        triples = list(store.construct("CONSTRUCT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }", Dataset((G,))))
        assert [tuple(t) for t in triples] == [(URIRef("urn:a"), URIRef("urn:q"), Literal("x"))]

    def test_the_state_is_the_same_until_something_changes(self, store: TripleStore) -> None:
        # Servers differ in the MD5 of a text that is not ASCII: marks are compared on one server alone.
        name, kind = str(RDFS.label), str(RDF.type)
        a, b, kept = (
            ("urn:a", name, Literal("Zoé", "fr")),
            ("urn:b", name, Literal("Ben")),
            ("urn:a", kind, URIRef("urn:A")),
        )

        def state(*triples: tuple[str, str, Term]) -> Counter[tuple[Any, ...]]:
            store.clear(G)
            store.insert(ntriples(*triples), G)
            return bag(store.select(queries.get("kg/state").text, Dataset((G,))))

        first = state(a, b, kept)
        assert first == state(a, b, kept)
        assert {row[:3] for row in first} == {
            (("iri", name), ("number", "2.0"), ("number", "6.0")),
            (("iri", kind), ("number", "1.0"), ("number", "5.0")),
        }
        others = [
            state(("urn:a", name, Literal("Zoe", "fr")), b, kept),
            state(("urn:a", name, Literal("Zoé", "en")), b, kept),
            state(("urn:a", name, Literal("Ben")), ("urn:b", name, Literal("Zoé", "fr")), kept),
            state(a, b, ("urn:a", kind, URIRef("urn:B"))),
        ]
        assert all(other != first for other in others)

    @pytest.mark.parametrize("name", _COMPARED)
    def test_the_catalogue_answers_as_the_embedded_store(
        self, kg: KnowledgeGraph, reference: KnowledgeGraph, name: str
    ) -> None:
        text = queries.get(name).text
        if "\nASK" in text:
            assert kg.holds(text) == reference.holds(text)
        elif "\nCONSTRUCT" in text or text.startswith("CONSTRUCT"):
            triples = kg.store.construct(text, kg.dataset())
            assert bag(triples) == bag(reference.store.construct(text, reference.dataset()))
        else:
            mine, theirs = kg.select(text), reference.select(text)
            assert set(mine.variables) == set(theirs.variables)
            order = [mine.variables.index(v) for v in theirs.variables]
            assert bag([row[i] for i in order] for row in mine) == bag(theirs)

    @pytest.mark.parametrize("name", ["similarity/text", "similarity/entity"])
    def test_similarity_queries(self, kg: KnowledgeGraph, reference: KnowledgeGraph, name: str) -> None:
        mine, theirs = kg.query(queries.get(name).text), reference.query(queries.get(name).text)
        assert [str(row[0]) for row in mine] == [str(row[0]) for row in theirs]  # type: ignore[union-attr]
        assert mine.rows  # type: ignore[union-attr]

    def test_a_large_answer_is_whole_or_an_error(self, store: TripleStore) -> None:
        store.insert(number(map(Literal, range(self.rows))), G)
        assert store.count(G) == self.rows
        for answer in (store.select, partial(store.bounded, limits=Limits(rows=self.rows + 1))):
            try:
                assert len(set(answer(ALL, Dataset((G,))))) == self.rows  # type: ignore[arg-type]
            except EndpointError as error:
                assert "not complete" in str(error) or "cuts answers" in str(error)

    def test_caps_refuse(self, store: TripleStore) -> None:
        store.insert(number([Literal("x" * 100)] * 200), G)
        assert len(store.bounded(ALL, Dataset((G,)), Limits(rows=200))) == 200  # type: ignore[arg-type]
        many = "CONSTRUCT WHERE { ?s <urn:p> ?o }"
        for query, limits in ((ALL, Limits(rows=199)), (ALL, Limits(bytes=1000)), (many, Limits(rows=10))):
            with pytest.raises(QueryRefused):
                store.bounded(query, Dataset((G,)), limits)

    def test_a_runaway_query_ends(self, kg: KnowledgeGraph) -> None:
        with pytest.raises((QueryTimeout, QueryRefused)):
            kg.query(_RUNAWAY, limits=Limits(seconds=1))
        assert kg.holds("ASK { ?s ?p ?o }")

    def test_many_at_once(self, kg: KnowledgeGraph) -> None:
        vendors = [str(v) for (v,) in kg.select(VENDORS)][:16]
        query = queries.get("context/out")

        def read(vendor: str) -> set[str]:
            return {str(e) for e, _, _ in kg.select(query.bind(entity=[vendor]))}

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(read, vendors * 3)) == [{v} for v in vendors] * 3

    def test_bad_syntax_is_refused(self, store: TripleStore) -> None:
        with pytest.raises(QueryRefused):
            store.select("SELECT WHERE", Dataset((G,)))
        with pytest.raises((QueryRefused, EndpointError)):
            store.update("INSERT INTO x")

    def test_a_failing_update_changes_nothing(self, store: TripleStore) -> None:
        with pytest.raises(StoreError):
            store.update(f"INSERT DATA {{ GRAPH <{G}> {{ <urn:a> <urn:b> <urn:c> }} }} ; INSERT NONSENSE")
        assert store.count(G) == 0

    def test_updates(self, store: TripleStore) -> None:
        store.update(f"INSERT DATA {{ GRAPH <{G}> {{ <urn:a> <urn:p> 'x' , 'y' }} }}")
        store.update(
            f"DELETE {{ GRAPH <{G}> {{ ?s ?p ?o }} }} INSERT {{ GRAPH <{H}> {{ ?s ?p ?o }} }} "
            f"WHERE {{ GRAPH <{G}> {{ ?s ?p ?o FILTER(?o = 'x') }} }}"
        )
        assert [str(o) for (o,) in store.select("SELECT ?o { ?s ?p ?o }", Dataset((G,)))] == ["y"]
        assert [str(o) for (o,) in store.select("SELECT ?o { ?s ?p ?o }", Dataset((H,)))] == ["x"]

    def test_bulk_load(self, store: TripleStore, tmp_path: Path) -> None:
        file = tmp_path / "a.ttl"
        file.write_text(
            '@prefix : <urn:> . :a :p [ :q "Grüße"@de ] . :a :r (1 2) . :a :s "x" .', encoding="utf-8"
        )
        source = Source.of(file)
        seen: list[int] = []
        store.bulk_load([source], G, on_progress=lambda done, total: seen.append(done))
        assert store.count(G) == 8
        assert seen and seen[-1] == file.stat().st_size
        store.bulk_load([source], G)
        assert store.count(G) == 8
        assert not store.ask("ASK { ?s ?p ?o FILTER(isBlank(?s) || isBlank(?o)) }", Dataset((G,)))

    @pytest.mark.parametrize("merged", [None, H])
    def test_odd_language_tags(self, store: TripleStore, tmp_path: Path, merged: str | None) -> None:
        file = tmp_path / "tags.ttl"
        file.write_text("<urn:a> <urn:p> " + ", ".join(f'"{tag}"@{tag}' for tag in _TAGS) + " .")
        notes = store.bulk_load([Source.of(file)], G, merged=merged)
        assert notes.tags == {"zh-classical", "klingonian"}
        rows = store.select("SELECT ?text { ?s ?p ?text } ORDER BY ?text", Dataset((G,))).column("text")
        tags = {str(text): text.language.lower() for text in rows if isinstance(text, Literal)}  # type: ignore[union-attr]
        kept = store.capabilities.any_tag
        assert tags == {tag: (tag if kept else well_formed_tag(tag)).lower() for tag in _TAGS}

    def test_a_broken_file_leaves_nothing(self, store: TripleStore, tmp_path: Path) -> None:
        file = tmp_path / "bad.nt"
        good = "".join(f"<urn:n{i}> <urn:p> <urn:o> .\n" for i in range(30_000))
        file.write_text(good + "<urn:x> <urn:p .\n", encoding="utf-8")
        with pytest.raises(LoadError) as caught:
            store.bulk_load([Source.of(file)], G)
        assert caught.value.line == 30_001
        assert store.count(G) == 0

    def test_derive(self, store: TripleStore) -> None:
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:b")), ("urn:b", "urn:p", URIRef("urn:c"))), G)
        x, y, z, p = var("x"), var("y"), var("z"), iri("urn:p")
        two = Group((TriplePattern(x, p, y), TriplePattern(y, p, z)))
        store.derive(Construct((TriplePattern(x, p, z),), two), Dataset((G, H)), H)
        assert [tuple(map(str, r)) for r in store.select("SELECT ?s ?o { ?s ?p ?o }", Dataset((H,)))] == [
            ("urn:a", "urn:c")
        ]

    def test_graphs_clear_and_dump(self, store: TripleStore) -> None:
        store.insert(number(map(Literal, TEXTS)), G)
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:c"))), H)
        assert {G, H} <= set(store.graphs())
        for format, kind in (("nt", ox.RdfFormat.N_TRIPLES), ("ttl", ox.RdfFormat.TURTLE)):
            out = io.BytesIO()
            store.dump(G, out, format)
            quads = list(ox.parse(out.getvalue(), kind))
            assert sorted(q.object.value for q in quads) == sorted(TEXTS)
        store.clear(G)
        store.clear(G)
        assert store.count(G) == 0
        assert G not in store.graphs()
        assert store.count(H) == 1

    def test_inferred_triples(self, kg: KnowledgeGraph, reference: KnowledgeGraph) -> None:
        skip_where_served(kg.store)
        text = queries.get("kg/graph").text
        mine, theirs = (bag(g.store.construct(text, g.dataset("inferred"))) for g in (kg, reference))
        assert mine == theirs

    def test_documents(self, kg: KnowledgeGraph, reference: KnowledgeGraph) -> None:
        assert list(documents(kg, Definition())) == list(documents(reference, Definition()))

    @pytest.mark.parametrize("hops", [1, 2])
    def test_contexts(self, kg: KnowledgeGraph, reference: KnowledgeGraph, hops: int) -> None:
        settings = ContextSettings(hops=hops, token_budget=50_000, max_triples=2000)
        seeds = [(str(v), 1.0) for (v,) in reference.select(VENDORS)][:10]
        mine, theirs = (
            [(line.text, line.inferred) for line in expand(g, seeds, settings).lines] for g in (kg, reference)
        )
        assert mine == theirs

    def test_opening_again(self, store: TripleStore, kg: KnowledgeGraph) -> None:
        again = KnowledgeGraph(store, kg.name)
        assert again.record.asserted == kg.record.asserted
        assert (again.revision, again.reasoned, again.recovered) == (kg.revision, True, None)

    def test_adding_reasons_on(self, store: TripleStore) -> None:
        skip_where_served(store)
        with fresh(store, "conformance-a") as kg:
            a, b, p, c = (URIRef(f"urn:c:{n}") for n in "abpc")
            kg.insert([Triple(p, RDFS.range, c), Triple(a, p, b)])
            assert reason(kg).triples == 1
            assert kg.insert([Triple(b, p, a), Triple(a, p, b)]) == 1
            reason(kg)
            assert kg.holds(f"ASK {{ <{a}> a <{c}> }}", "inferred")
            assert kg.count("inferred") == 2
            kg.clear()
            assert kg.count("all") == 0

    def test_a_load_that_breaks_off_is_told(self, store: TripleStore, tmp_path: Path) -> None:
        with fresh(store, "conformance-b") as kg:
            good, bad = tmp_path / "good.nt", tmp_path / "bad.nt"
            good.write_text("<urn:a> <urn:p> <urn:b> .\n", encoding="utf-8")
            bad.write_text("<urn:c> <urn:p> <urn:d> .\nnonsense\n", encoding="utf-8")
            kg.load([good])
            with pytest.raises(MragError):
                kg.load([bad])
            assert kg.count() == 1
            assert KnowledgeGraph(store, "conformance-b").count() == 1

    def test_named_graphs_are_kept(self, store: TripleStore, tmp_path: Path) -> None:
        with fresh(store, "conformance-n") as kg:
            first, second = tmp_path / "a.trig", tmp_path / "b.nq"
            shared = f"<{C}s> <{C}p> <{C}o> ."
            first.write_text(
                f"<{C}a> <{C}p> 'd' . {shared} <{C}v1> {{ {shared} <{C}a> <{C}p> 1 }} "
                f"<{C}v2> {{ <{C}a> <{C}p> 1 . <{C}a> <{C}p> 2 }}",
                encoding="utf-8",
            )
            second.write_text(f'<{C}b> <{C}p> "3" <{C}v2> .\n<{C}b> <{C}p> "3" <{C}v3> .\n', encoding="utf-8")
            assert kg.load([first]).triples == 4
            assert kg.load([second]).triples == 1
            assert kg.count() == 5
            every = kg.select(f"SELECT ?s ?o {{ ?s <{C}p> ?o }}")
            assert len(every) == len(set(every)) == 5
            named = kg.query(f"SELECT ?g (COUNT(*) AS ?n) {{ GRAPH ?g {{ ?s <{C}p> ?o }} }} GROUP BY ?g")
            counts = {str(g): int(str(n)) for g, n in named if str(g).startswith(C)}  # type: ignore[union-attr]
            assert counts == {f"{C}v1": 2, f"{C}v2": 3, f"{C}v3": 1}
            again = KnowledgeGraph(store, kg.name)
            assert again.record.contexts == (f"{C}v1", f"{C}v2", f"{C}v3")
            out = io.BytesIO()
            again.dump(out, format="nq")
            quads = [*ox.parse(first.read_bytes(), ox.RdfFormat.TRIG)]
            quads += ox.parse(second.read_bytes(), ox.RdfFormat.N_QUADS)
            assert set(ox.parse(out.getvalue(), ox.RdfFormat.N_QUADS)) == set(quads)
            assert kg.load([second], replacing=True).triples == 1
            assert kg.record.contexts == (f"{C}v2", f"{C}v3")
            assert not {f"{C}v1"} & set(store.graphs())
            assert store.count(f"{C}v2") == 1
