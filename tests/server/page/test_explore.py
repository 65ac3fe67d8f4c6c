"""The page, Explore: the class tree, a graph that grows, paths, and files that are added."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import OWL, RDF, Triple
from mrag.rdf.terms import RDFS as SCHEMA
from mrag.stores.oxigraph import OxigraphStore
from tests.server.browsing import HOSTILE, NARROW, SIZES, Watched, watched
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

EX = "https://w3id.org/mrag/demo/products#"


@SIZES
def test_from_the_class_tree_to_a_graph_that_grows(seen: Watched) -> None:
    page = seen.open("/#/explore")
    seen.click(page.locator(".class-tree a", has_text="knowledge graph platform"), "#explore-entity h2")
    seen.open("/#/explore?iri=ex%3AGraphDB", "#explore-entity h2:has-text('GraphDB')")
    page.get_by_role("link", name="Grow it into a graph").click()
    page.wait_for_selector(".growing-frame canvas", state="attached")
    page.locator(".growing summary").click()
    entities = page.locator(".growing-list button")
    before = entities.count()

    # By the keyboard alone: choose, grow, pin, hide.
    seen.press(page.locator(f"[data-node='{EX}Ontotext']"), "Enter")
    seen.click("Grow", ".growing [role=status]:has-text('more.')")
    assert entities.count() > before
    seen.click("Pin")
    assert page.get_by_role("button", name="Pin").get_attribute("aria-pressed") == "true"
    page.get_by_label("Path to").fill("ex:Redis")
    seen.click("Find", ".growing [role=status]:has-text('A path of')")
    assert page.locator(f"[data-node='{EX}Redis']").count() == 1
    seen.click("Hide")
    assert page.locator(f"[data-node='{EX}Ontotext']").count() == 0
    with page.expect_download() as given:
        seen.click("Save as JSON")
    saved = json.loads(Path(given.value.path()).read_text())
    assert {one["id"] for one in saved["nodes"]} >= {EX + "GraphDB", EX + "Redis"} and saved["edges"]


def test_what_is_typed_before_the_view_has_loaded_is_searched_for(seen: Watched) -> None:
    held: list[Route] = []
    seen.page.route("**/page/explore.js", lambda route: held.append(route))
    page = seen.open("/#/explore")
    seen.enter("Search for an entity", "ex:GraphDB")
    assert page.url.endswith("/#/explore") and held
    held.pop().continue_()
    page.wait_for_selector("#explore-hits h3:has-text('GraphDB')")
    assert page.get_by_label("Search for an entity").input_value() == "ex:GraphDB"


def test_files_are_added_and_hostile_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / f"{HOSTILE.replace('/', '')}.ttl"
    label = json.dumps(HOSTILE)
    file.write_text(f"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <urn:h:a> a <urn:h:C> ; rdfs:label {label} ; <urn:h:p> <urn:h:b> . <urn:h:b> rdfs:label {label} .
        <urn:h:p> rdfs:label {label} . <urn:h:C> rdfs:label {label} .""")
    with (
        KnowledgeGraph(OxigraphStore()) as kg,
        serving(kg, update=True) as url,
        watched(browser, url) as seen,
    ):
        page = seen.open("/#/explore")
        page.locator("#import-file").set_input_files(file)
        page.wait_for_selector(".import:has-text('6 triples added')")
        page.reload()
        page.wait_for_selector(".class-tree a")
        seen.open("/#/explore?iri=urn%3Ah%3Aa&view=graph")
        page.wait_for_selector(".growing-frame canvas", state="attached")
        page.get_by_label("Path to").fill("urn:h:b")
        seen.click("Find", ".growing [role=status]:has-text('A path of 1 link')")
        seen.plain()


def test_a_path_is_a_shortest_one(client: httpx.Client) -> None:
    with mrag.demo(model="none") as kg:
        links: dict[str, set[str]] = {}
        for s, p, o in kg.query("SELECT ?s ?p ?o { ?s ?p ?o FILTER(ISIRI(?o)) } ORDER BY ?s ?p ?o"):
            if not str(p).startswith((RDF, SCHEMA, OWL)):
                links.setdefault(str(s), set()).add(str(o))
                links.setdefault(str(o), set()).add(str(s))
    begin = EX + "GraphDB"
    far, queue = {begin: 0}, deque([begin])
    while queue:
        for other in links[node := queue.popleft()]:
            if other not in far:
                far[other] = far[node] + 1
                queue.append(other)
    for goal in sorted(far)[::23]:
        found = client.get("/api/path", params={"from": begin, "to": goal}).json()
        assert len(found["path"]) == far[goal], goal
        ends = {begin} | {row["triple"][part]["value"] for row in found["path"] for part in "so"}
        assert goal in ends
    assert client.get("/api/path", params={"from": begin, "to": "urn:nothing"}).status_code == 404
    assert client.get("/api/expand", params={"iri": "urn:nothing"}).status_code == 404
    assert client.get("/api/path", params={"from": begin, "to": "no iri"}).status_code == 400


def test_classes_in_a_circle_have_a_place_in_the_tree(browser: Browser) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        above, kind = URIRef(SCHEMA + "subClassOf"), URIRef(RDF + "type")
        a, b, x = (URIRef(f"urn:c:{n}") for n in "abx")
        kg.insert([Triple(a, above, b), Triple(b, above, a), Triple(x, kind, a)])
        kg.insert([Triple(a, RDFS.label, Literal("round")), Triple(b, RDFS.label, Literal("about"))])
        with serving(kg) as url, watched(browser, url, NARROW) as seen:
            page = seen.open("/#/explore", ".class-tree a:has-text('round')")
            assert page.locator(".class-tree a").count() == 2 and not page.locator(".import").count()


@SIZES
def test_an_entity_is_downloaded_as_a_file(browser: Browser, size: tuple[int, int], tmp_path: Path) -> None:
    with mrag.connect() as kg:
        data = (
            f"<urn:h:a> <{RDFS.label}> {json.dumps(HOSTILE)} ; <urn:h:p> <urn:h:b> . <urn:h:c> <urn:h:p> 1 ."
        )
        (tmp_path / "a.ttl").write_text(data, "utf-8")
        kg.load([tmp_path / "a.ttl"])
        with serving(kg) as url, watched(browser, url, size, accept_downloads=True) as seen:
            page = seen.open("/#/explore?iri=urn%3Ah%3Aa")
            with page.expect_download() as given:
                seen.click("N-Triples")
            assert len(Path(given.value.path()).read_text().splitlines()) == 2
            assert page.title() == f"{HOSTILE} · mrag"
