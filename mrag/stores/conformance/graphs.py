"""Knowledge graphs over the store: reasoning, documents, contexts, recovery."""

from __future__ import annotations

import io
from pathlib import Path

import pyoxigraph as ox
import pytest
from rdflib import URIRef

from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.stores.base import TripleStore
from mrag.stores.conformance.base import (
    VENDORS,
    C,
    StoreSuite,
    bag,
    skip_where_served,
)


class GraphTests(StoreSuite):
    """The whole way over the store."""

    def test_inferred_triples(self, kg: KnowledgeGraph, reference: KnowledgeGraph) -> None:
        """Reasoning on the store infers what it does on the embedded one."""
        skip_where_served(kg.store)
        text = queries.get("kg/graph").text
        mine, theirs = (bag(g.store.construct(text, g.dataset("inferred"))) for g in (kg, reference))
        assert mine == theirs

    def test_documents(self, kg: KnowledgeGraph, reference: KnowledgeGraph) -> None:
        """The documents of the similarity index are the same."""
        skip_where_served(kg.store)
        from mrag.index.documents import Definition, documents

        assert list(documents(kg, Definition())) == list(documents(reference, Definition()))

    @pytest.mark.parametrize("hops", [1, 2])
    def test_contexts(self, kg: KnowledgeGraph, reference: KnowledgeGraph, hops: int) -> None:
        """The context around the same hits is the same, line by line."""
        skip_where_served(kg.store)
        from mrag.context import ContextSettings, expand

        settings = ContextSettings(hops=hops, token_budget=50_000, max_triples=2000)
        seeds = [(str(v), 1.0) for (v,) in reference.select(VENDORS)][:10]
        mine, theirs = (
            [(line.text, line.inferred) for line in expand(g, seeds, settings).lines] for g in (kg, reference)
        )
        assert mine == theirs

    def test_opening_again(self, store: TripleStore, kg: KnowledgeGraph) -> None:
        """Another opening finds the graph as it was left."""
        skip_where_served(store)
        again = KnowledgeGraph(store, kg.name)
        assert again.record.asserted == kg.record.asserted
        assert (again.revision, again.reasoned, again.recovered) == (kg.revision, True, None)

    def test_adding_reasons_on(self, store: TripleStore) -> None:
        """Triples added after reasoning are reasoned over, and removed ones are forgotten."""
        skip_where_served(store)
        from rdflib import RDFS

        from mrag.rdf.terms import Triple
        from mrag.reasoning.run import reason

        kg = KnowledgeGraph(store, "conformance-a")
        kg.clear()
        try:
            a, b, p, c = (URIRef(f"urn:c:{n}") for n in "abpc")
            kg.insert([Triple(p, RDFS.range, c), Triple(a, p, b)])
            assert reason(kg).triples == 1
            assert kg.insert([Triple(b, p, a), Triple(a, p, b)]) == 1
            reason(kg)
            assert kg.holds(f"ASK {{ <{a}> a <{c}> }}", "inferred")
            assert kg.count("inferred") == 2
            kg.clear()
            assert kg.count("all") == 0
        finally:
            kg.clear()

    def test_a_load_that_breaks_off_is_told(self, store: TripleStore, tmp_path: Path) -> None:
        """After a load has failed the graph is as before, and opening it again agrees."""
        skip_where_served(store)
        kg = KnowledgeGraph(store, "conformance-b")
        kg.clear()
        try:
            good, bad = tmp_path / "good.nt", tmp_path / "bad.nt"
            good.write_text("<urn:a> <urn:p> <urn:b> .\n", encoding="utf-8")
            bad.write_text("<urn:c> <urn:p> <urn:d> .\nnonsense\n", encoding="utf-8")
            kg.load([good])
            with pytest.raises(MragError):
                kg.load([bad])
            assert kg.count() == 1
            assert KnowledgeGraph(store, "conformance-b").count() == 1
        finally:
            kg.clear()

    def test_named_graphs_are_kept(self, store: TripleStore, tmp_path: Path) -> None:
        """The named graphs of files are in sight by their names, merged by default, and written out again."""
        skip_where_served(store)
        kg = KnowledgeGraph(store, "conformance-n")
        kg.clear()
        try:
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
        finally:
            kg.clear()
