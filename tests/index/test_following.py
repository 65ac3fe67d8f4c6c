"""An index follows what has changed, and is then as one that was built anew; one that is older is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.generation.prompts import PENDING
from mrag.graph.updates import update
from mrag.index import similarity
from mrag.index.documents import Definition, changed_documents, documents
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.rdf.terms import Triple
from tests.servers import oxigraph_server

E = "http://example.org/"
THINGS = [*(f"{E}a{n}" for n in range(4)), "http://other.example/red_coat", f"{E}SmallDog"]
CLASSES = [f"{E}Dog", f"{E}Animal"]
TEXTS = [
    *(Literal(text, lang="en") for text in ("A dog", "A red coat")),
    Literal("Ein Hund", lang="de"),
    Literal("plain words"),
    Literal(7),
]
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
