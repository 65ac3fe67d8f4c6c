"""Terms, queries, limits and errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from rdflib import Literal, URIRef

from mrag.errors import EndpointError, QueryRefused, QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import XSD
from mrag.stores.base import Dataset, Limits, TripleStore
from mrag.stores.conformance.base import (
    IRIS,
    TEXTS,
    VENDORS,
    G,
    H,
    StoreSuite,
    bag,
    ntriples,
    plain,
    skip_where_served,
)

# Not compared: updates, searches (a test of their own), and what is about the store's own graphs.
_APART = ("update/", "similarity/", "kg/names", "kg/registry", "explore/graph", "context/graphs-of")
_COMPARED = [name for name in queries.names() if not name.startswith(_APART)]
_RUNAWAY = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


class QueryTests(StoreSuite):
    """What is asked is answered in full, or refused."""

    def test_texts_come_back_as_they_went(self, store: TripleStore) -> None:
        """Text of any characters survives being stored and being a parameter."""
        store.insert(ntriples(*((f"urn:t{i}", "urn:p", Literal(t)) for i, t in enumerate(TEXTS))), G)
        store.insert(
            ntriples(*((f"urn:l{i}", "urn:p", Literal(t, lang="de")) for i, t in enumerate(TEXTS))), G
        )
        rows = store.select("SELECT ?s ?o WHERE { ?s <urn:p> ?o }", Dataset((G,)))
        found = {str(s): plain(o) for s, o in rows}
        for i, text in enumerate(TEXTS):
            assert found[f"urn:t{i}"] == ("text", text, "")
            assert found[f"urn:l{i}"] == ("text", text, "de")

    def test_rows_that_come_one_by_one_are_those_that_come_at_once(self, store: TripleStore) -> None:
        """An answer that is not held is the same, and other requests can be made while it comes."""
        store.insert(ntriples(*((f"urn:t{i}", "urn:p", Literal(i % 7)) for i in range(500))), G)
        query = "SELECT ?s ?o WHERE { ?s <urn:p> ?o } ORDER BY ?s"
        whole = store.select(query, Dataset((G,)))
        stream = store.stream(query, Dataset((G,)))
        assert stream.variables == whole.variables == ("s", "o")
        first = next(iter(stream))
        assert store.ask("ASK { ?s <urn:p> ?o }", Dataset((G,)))
        assert [first, *stream] == list(whole) and len(whole) == 500
        assert list(stream) == [], "it can be read once"

    def test_text_as_a_parameter_is_only_text(self, store: TripleStore) -> None:
        """A value bound by the catalogue finds exactly what is equal to it."""
        store.insert(ntriples(*((f"urn:t{i}", "urn:p", Literal(t)) for i, t in enumerate(TEXTS))), G)
        query = queries.parse("q", "SELECT ?s WHERE {\nVALUES ?o { 'x' } #+ bind: o\n?s <urn:p> ?o }")
        for i, text in enumerate(TEXTS):
            found = store.select(query.bind(o=[Literal(text)]), Dataset((G,)))
            assert [str(s) for (s,) in found] == [f"urn:t{i}"], text

    def test_iris_come_back_as_they_went(self, store: TripleStore) -> None:
        """IRIs with odd characters survive."""
        store.insert(ntriples(*((i, "urn:p", URIRef(i)) for i in IRIS)), G)
        rows = store.select("SELECT ?s ?o WHERE { ?s <urn:p> ?o }", Dataset((G,)))
        assert bag(rows) == bag((URIRef(i), URIRef(i)) for i in IRIS)

    def test_typed_literals_keep_their_values(self, store: TripleStore) -> None:
        """Numbers, booleans, dates and unknown datatypes keep value and type."""
        pairs = [
            ("7", "integer"), ("-1.5", "decimal"), ("2.5e3", "double"), ("true", "boolean"),
            ("false", "boolean"), ("2024-02-29", "date"), ("2024-02-29T12:00:00Z", "dateTime"),
        ]  # fmt: skip
        terms = [Literal(v, datatype=URIRef(XSD + t)) for v, t in pairs]
        terms.append(Literal("x", datatype=URIRef("urn:mytype")))
        store.insert(ntriples(*((f"urn:t{i}", "urn:p", t) for i, t in enumerate(terms))), G)
        for i, term in enumerate(terms):
            ((found,),) = store.select(f"SELECT ?o WHERE {{ <urn:t{i}> <urn:p> ?o }}", Dataset((G,)))
            assert plain(found) == plain(term)

    def test_a_query_sees_its_graphs_alone(self, store: TripleStore) -> None:
        """The dataset of a call decides what the default graph and GRAPH hold."""
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:b"))), G)
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:c"))), H)
        text = "SELECT ?o WHERE { <urn:a> <urn:p> ?o }"
        assert [str(o) for (o,) in store.select(text, Dataset((G,)))] == ["urn:b"]
        assert sorted(str(o) for (o,) in store.select(text, Dataset((G, H)))) == ["urn:b", "urn:c"]
        named = "SELECT ?g ?o WHERE { GRAPH ?g { <urn:a> <urn:p> ?o } }"
        rows = store.select(named, Dataset((G,), (H,)))
        assert [(str(g), str(o)) for g, o in rows] == [(H, "urn:c")]

    def test_every_form_of_query(self, store: TripleStore) -> None:
        """SELECT with unbound cells, ASK true and false, CONSTRUCT."""
        store.insert(ntriples(("urn:a", "urn:p", Literal("x"))), G)
        one = "SELECT ?s ?o ?n WHERE { ?s <urn:p> ?o OPTIONAL { ?s <urn:none> ?n } }"
        found = store.select(one, Dataset((G,)))
        assert found.variables == ("s", "o", "n")
        assert found.rows == [(URIRef("urn:a"), Literal("x"), None)]
        assert store.ask("ASK { <urn:a> ?p ?o }", Dataset((G,))) is True
        assert store.ask("ASK { <urn:b> ?p ?o }", Dataset((G,))) is False
        triples = list(store.construct("CONSTRUCT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }", Dataset((G,))))
        assert [tuple(t) for t in triples] == [(URIRef("urn:a"), URIRef("urn:q"), Literal("x"))]

    @pytest.mark.parametrize("name", _COMPARED)
    def test_the_catalogue_answers_as_the_embedded_store(
        self, kg: KnowledgeGraph, reference: KnowledgeGraph, name: str
    ) -> None:
        """Each query of `sparql/`, as it stands in its file, gives the same bag of answers."""
        skip_where_served(kg.store)
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
        """GraphDB's similarity vocabulary gives the same hits."""
        skip_where_served(kg.store)
        mine, theirs = kg.query(queries.get(name).text), reference.query(queries.get(name).text)
        assert [str(row[0]) for row in mine] == [str(row[0]) for row in theirs]  # type: ignore[union-attr]
        assert mine.rows  # type: ignore[union-attr]

    def test_a_large_answer_is_whole_or_an_error(self, store: TripleStore) -> None:
        """No row is missing without an error."""
        number = URIRef(XSD + "integer")
        lines = [(f"urn:n{i}", "urn:p", Literal(str(i), datatype=number)) for i in range(self.rows)]
        store.insert(ntriples(*lines), G)
        assert store.count(G) == self.rows
        query = "SELECT ?s ?o WHERE { ?s <urn:p> ?o }"
        try:
            assert len(set(store.select(query, Dataset((G,))))) == self.rows
        except EndpointError as error:
            assert "not complete" in str(error) or "cuts answers" in str(error)
        answer: object
        try:
            answer = store.bounded(query, Dataset((G,)), Limits(rows=self.rows + 1))
        except EndpointError:
            answer = None
        assert answer is None or len(answer) == self.rows  # type: ignore[arg-type]

    def test_caps_refuse(self, store: TripleStore) -> None:
        """A result over the rows or bytes allowed is refused."""
        store.insert(ntriples(*((f"urn:n{i}", "urn:p", Literal("x" * 100)) for i in range(200))), G)
        query = "SELECT ?s ?o WHERE { ?s <urn:p> ?o }"
        assert len(store.bounded(query, Dataset((G,)), Limits(rows=200))) == 200  # type: ignore[arg-type]
        with pytest.raises(QueryRefused):
            store.bounded(query, Dataset((G,)), Limits(rows=199))
        with pytest.raises(QueryRefused):
            store.bounded(query, Dataset((G,)), Limits(bytes=1000))
        with pytest.raises(QueryRefused):
            store.bounded("CONSTRUCT WHERE { ?s <urn:p> ?o }", Dataset((G,)), Limits(rows=10))

    def test_a_runaway_query_ends(self, kg: KnowledgeGraph) -> None:
        """At its deadline a query is given up, and the store goes on answering."""
        with pytest.raises((QueryTimeout, QueryRefused)):
            kg.query(_RUNAWAY, limits=Limits(seconds=1))
        assert kg.holds("ASK { ?s ?p ?o }")

    def test_many_at_once(self, kg: KnowledgeGraph) -> None:
        """Concurrent readers get their own answers."""
        vendors = [str(v) for (v,) in kg.select(VENDORS)][:16]
        query = queries.get("context/out")

        def read(vendor: str) -> set[str]:
            return {str(e) for e, _, _ in kg.select(query.bind(entity=[vendor]))}

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(read, vendors * 3)) == [{v} for v in vendors] * 3

    def test_bad_syntax_is_refused(self, store: TripleStore) -> None:
        """A query or update that does not parse is an error of this package."""
        with pytest.raises(QueryRefused):
            store.select("SELECT WHERE", Dataset((G,)))
        with pytest.raises((QueryRefused, EndpointError)):
            store.update("INSERT INTO x")

    def test_a_failing_update_changes_nothing(self, store: TripleStore) -> None:
        """An update lands whole or not at all."""
        with pytest.raises(StoreError):
            store.update(f"INSERT DATA {{ GRAPH <{G}> {{ <urn:a> <urn:b> <urn:c> }} }} ; INSERT NONSENSE")
        assert store.count(G) == 0
