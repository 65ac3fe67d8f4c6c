"""Updates, loads, and what is done with graphs."""

from __future__ import annotations

import io
from pathlib import Path

import pyoxigraph as ox
import pytest
from rdflib import Literal, URIRef

from mrag.errors import LoadError
from mrag.loaders.rdf import Source
from mrag.rdf.patterns import Construct, TriplePattern, iri, var
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.conformance.base import (
    TEXTS,
    G,
    H,
    StoreSuite,
    ntriples,
)
from mrag.stores.process.parsing import well_formed_tag

_TAGS = ("de", "en-GB", "zh-classical", "klingonian")


class WriteTests(StoreSuite):
    """What is written is there whole or not at all."""

    def test_updates(self, store: TripleStore) -> None:
        """Insertions, replacements and several operations at once."""
        store.update(f"INSERT DATA {{ GRAPH <{G}> {{ <urn:a> <urn:p> 'x' , 'y' }} }}")
        store.update(
            f"DELETE {{ GRAPH <{G}> {{ ?s ?p ?o }} }} INSERT {{ GRAPH <{H}> {{ ?s ?p ?o }} }} "
            f"WHERE {{ GRAPH <{G}> {{ ?s ?p ?o FILTER(?o = 'x') }} }}"
        )
        assert [str(o) for (o,) in store.select("SELECT ?o { ?s ?p ?o }", Dataset((G,)))] == ["y"]
        assert [str(o) for (o,) in store.select("SELECT ?o { ?s ?p ?o }", Dataset((H,)))] == ["x"]

    def test_bulk_load(self, store: TripleStore, tmp_path: Path) -> None:
        """Files land with blank nodes as IRIs, and a second load adds nothing."""
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
        """Tags that BCP 47 does not allow are kept, or mended before they are sent; nothing else is lost."""
        file = tmp_path / "tags.ttl"
        file.write_text("<urn:a> <urn:p> " + ", ".join(f'"{tag}"@{tag}' for tag in _TAGS) + " .")
        notes = store.bulk_load([Source.of(file)], G, merged=merged)
        assert notes.tags == {"zh-classical", "klingonian"}
        rows = store.select("SELECT ?text { ?s ?p ?text } ORDER BY ?text", Dataset((G,))).column("text")
        found = {str(text): text.language.lower() for text in rows if isinstance(text, Literal)}  # type: ignore[union-attr]
        kept = store.capabilities.any_tag
        assert found == {tag: (tag if kept else well_formed_tag(tag)).lower() for tag in _TAGS}

    def test_a_broken_file_leaves_nothing(self, store: TripleStore, tmp_path: Path) -> None:
        """A load that fails in the middle leaves the graph as it was, and names file and line."""
        file = tmp_path / "bad.nt"
        good = "".join(f"<urn:n{i}> <urn:p> <urn:o> .\n" for i in range(30_000))
        file.write_text(good + "<urn:x> <urn:p .\n", encoding="utf-8")
        with pytest.raises(LoadError) as caught:
            store.bulk_load([Source.of(file)], G)
        assert caught.value.line == 30_001
        assert store.count(G) == 0

    def test_derive(self, store: TripleStore) -> None:
        """A CONSTRUCT pattern fills another graph, also one it reads."""
        store.insert(ntriples(("urn:a", "urn:p", URIRef("urn:b")), ("urn:b", "urn:p", URIRef("urn:c"))), G)
        x, y, z, p = var("x"), var("y"), var("z"), iri("urn:p")
        from mrag.rdf.patterns import Group

        two = Group((TriplePattern(x, p, y), TriplePattern(y, p, z)))
        store.derive(Construct((TriplePattern(x, p, z),), two), Dataset((G, H)), H)
        assert [tuple(map(str, r)) for r in store.select("SELECT ?s ?o { ?s ?p ?o }", Dataset((H,)))] == [
            ("urn:a", "urn:c")
        ]

    def test_graphs_clear_and_dump(self, store: TripleStore) -> None:
        """Graphs are listed, written out as they are, and removed."""
        store.insert(ntriples(*((f"urn:t{i}", "urn:p", Literal(t)) for i, t in enumerate(TEXTS))), G)
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
