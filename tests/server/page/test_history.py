"""Explore, the history of an entity: what brought its triples into the graph, and what has no record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.cel.concepts import keep_concept
from mrag.cel.expressions import Named
from mrag.completion.review import accept, propose
from mrag.context.neighbourhood import read as read_edges
from mrag.graph import record
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import EnrichedGraph, JournalEntry
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes, freshen
from mrag.rdf.terms import Triple
from mrag.server.settings import ServerSettings
from mrag.server.web.entities import Origin, origins
from tests.completion.towns import TURTLE, read
from tests.server.browsing import SIZES, watched
from tests.server.serving import serving

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Browser

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def found(kg: KnowledgeGraph, iri: str) -> dict[Origin, list[tuple[str, str]]]:
    """Return the origins of an entity's own triples, each with predicates and objects."""
    edges = read_edges(kg, iri, "out", scan=400, share=40).statements
    return {one: sorted((p, o.value) for _, p, o, _ in some) for one, some in origins(kg, edges).items()}


def test_each_triple_has_the_change_that_brought_it(tmp_path: Path) -> None:
    a, label = URIRef("urn:a"), RDFS.label
    file = tmp_path / "first.nt"
    file.write_text(f'<urn:a> <{label}> "one" .\n<urn:a> <{RDF.type}> <urn:C> .\n', encoding="utf-8")
    with mrag.connect(f"oxigraph:{tmp_path}/store") as kg:
        kg.load([file])
        kg.insert([Triple(URIRef("urn:C"), RDFS.subClassOf, URIRef("urn:D"))])
        kg.reason()
        kg.update(f'INSERT DATA {{ <urn:a> <{label}> "two"@EN }}')
        keep_concept(kg, Named("urn:C"), "kept ones")
        kg.reason()
    with mrag.connect(f"oxigraph:{tmp_path}/store") as kg:
        by: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        for o, values in found(kg, "urn:a").items():
            by[o.by] = (o.what, sorted([*by.get(o.by, ("", []))[1], *values]))
        assert by["load"] == ("first.nt", [(str(RDF.type), "urn:C"), (str(label), "one")])
        assert by["update"] == ("", [(str(label), "two")])
        assert {o for _, o in by["reasoning"][1]} == {"urn:D", "urn:mrag:concept:kept-ones"}
        assert all(o.at.endswith("+00:00") for o in found(kg, "urn:a"))
        of_class = {o.by: o.what for o in found(kg, "urn:mrag:concept:kept-ones")}
        assert of_class["concept"] == "kept ones"
        # What replaces all has nothing to do with what was there before.
        kg.load([file], replacing=True)
        assert {(o.by, o.what) for o in found(kg, str(a))} == {("replace", "first.nt")}


def test_what_cannot_be_told_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_MOST", 2)
    many = [Triple(URIRef(f"urn:{n}"), RDFS.label, Literal(str(n))) for n in range(3)]
    with mrag.connect() as kg:
        kg.insert(many)
        # One large change since the beginning can only be it.
        assert [o.by for o in found(kg, "urn:0")] == ["insert"]
        kg.update("INSERT DATA { <urn:4> <urn:p> 1 . <urn:5> <urn:p> 2 . <urn:6> <urn:p> 3 }")
        [origin] = found(kg, "urn:0")
        assert origin.by == "several" and [o.by for o in origin.among] == ["insert", "update"]
        kg.insert([Triple(URIRef("urn:0"), URIRef("urn:p"), Literal("new"))])
        assert {o.by for o in found(kg, "urn:0")} == {"insert", "several"}
        for n in range(70):
            kg.insert([Triple(URIRef("urn:1"), URIRef("urn:p"), Literal(str(n)))])
        # The beginning is no longer kept.
        assert {o.by for o in found(kg, "urn:0")} == {""}


def test_runs_of_completion_and_enrichment_say_what_they_wrote(tmp_path: Path) -> None:
    source = tmp_path / "towns.ttl"
    source.write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([source])
        done = propose(kg, "Where was Bob born?", [read("bob", "bornIn", "lund")], model="m")
        assert done is not None
        accept(kg, done)
        by = {o.by: o for o in found(kg, str(read("bob", "bornIn", "lund").terms[0]))}
        assert (by["completion"].what, by["completion"].run) == ("Where was Bob born?", done.iri)
        entry = JournalEntry("urn:i", "", "A coat.", "m", "p", "{}", "2026-01-01T00:00:00Z", "mrag", "00")
        EnrichedGraph(kg).write([entry])
        [(described, values)] = found(kg, "urn:i").items()
        assert (described.by, described.what, described.at) == ("enrichment", "m", "2026-01-01T00:00:00Z")
        assert [o for _, o in values] == ["A coat."]


def test_the_index_follows_a_kept_class_without_reading_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.index.similarity._TRIPLES", 0)
    with mrag.demo(model="none") as kg:
        product = Named("https://w3id.org/mrag/demo/products#TripleStore")
        keep_concept(kg, product, "stores of triples")
        kg.reason()
        assert SimilarityIndexes.of(kg).info().stale
        assert freshen(kg) is None and not SimilarityIndexes.of(kg).info().stale
        assert kg.search("stores of triples")[0].iri == "urn:mrag:concept:stores-of-triples"
        files = SimilarityIndexes.of(kg).stored()
        assert not files.differing(documents(kg, Definition(languages=kg.languages)))


@SIZES
def test_the_history_and_the_files_of_an_entity(
    browser: Browser, size: tuple[int, int], tmp_path: Path
) -> None:
    file = tmp_path / f"{HOSTILE.replace('/', '')}.ttl"
    file.write_text(f"<urn:h:a> <{RDFS.label}> {json.dumps(HOSTILE)} ; <urn:h:p> <urn:h:b> .", "utf-8")
    settings = ServerSettings(model="none", update=True)
    with mrag.connect() as kg:
        kg.load([file])
        with serving(kg, settings) as url, watched(browser, url, size, accept_downloads=True) as seen:
            update = f"INSERT DATA {{ <urn:h:a> <{RDFS.comment}> {json.dumps(HOSTILE)} }}"
            headers = {"Content-Type": "application/sparql-update"}
            assert httpx.post(f"{url}/update", content=update, headers=headers).is_success
            page = seen.open("/#/explore?iri=urn%3Ah%3Aa")
            page.locator(".history summary").first.click()
            page.wait_for_selector(".events li >> nth=1")
            said = page.locator(".events").inner_text()
            assert f"Loaded from {file.name}" in said and "Added by an update" in said
            page.locator(".events summary", has_text="2 triples").click()
            assert page.locator(".events td", has_text="onerror").count() == 5
            with page.expect_download() as given:
                page.get_by_role("button", name="N-Triples").click()
            assert len(Path(given.value.path()).read_text().splitlines()) == 3
            assert page.evaluate("document.querySelectorAll('main img').length") == 0
            assert page.title() == f"{HOSTILE} · mrag" and seen.overflow() <= 0
