"""The page, Query: parameters, saved queries, views of a result, previews of updates; charts and receipts."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from rdflib import RDF, Graph, Namespace, URIRef

import mrag
from tests.cases import cases
from tests.server.browsing import HOSTILE, SIZES, Browser, Size, Watched, watched

ODD = HOSTILE.replace('"', "'")
BY_VENDOR = "SELECT ?product { ?product ex:developedBy $vendor } ORDER BY ?product"


@SIZES
def test_a_query_is_saved_filled_in_and_run_again(seen: Watched, size: Size) -> None:
    name = f"products of a vendor {size[0]}"
    page = seen.open("/#/query")
    seen.put(BY_VENDOR)
    seen.unfold("#catalogue")
    page.get_by_label("Save this query as").fill(name)
    seen.click("Save", f"[data-saved='{name}']")

    # Another tab, and the query comes back from the graph with a field for its parameter.
    seen.click("New tab")
    assert not page.locator("#query-params").is_visible()
    page.locator(f"[data-saved='{name}']").click()
    page.get_by_label("$vendor").fill("ex:Ontotext")
    seen.click("Run", "#query-state:has-text('3 rows')")

    # Text is text: it closes no quotes.
    page.get_by_label("$vendor").fill('x" } } DROP ALL #')
    seen.click("Run", "#query-state:has-text('0 rows')")
    page.get_by_label("$vendor").fill("ex:Ontotext")
    seen.click("Run", "#query-state:has-text('3 rows')")
    with page.expect_download() as given:
        seen.click("CSV")
    assert len(Path(given.value.path()).read_text().splitlines()) == 4

    # Tabs and history last as long as the browser keeps them.
    page.reload()
    page.wait_for_selector(f".query-tab button[aria-current]:has-text('{name}')")
    seen.unfold("#catalogue")
    page.locator(".past summary").click()
    assert page.locator(".past li").count() == 1
    seen.click(f"Remove {name}", f"#query-saved [role=status]:has-text('{name} is removed.')")
    assert not page.locator(f"[data-saved='{name}']").count()


@SIZES
def test_inferred_triples_are_left_out_and_rows_are_drawn(seen: Watched) -> None:
    page = seen.open("/#/query")
    seen.put("SELECT ?class (COUNT(?x) AS ?things) { ?x a ?class } GROUP BY ?class ORDER BY ?class")
    seen.click("Run")
    seen.click("Bars", "#query-other .chart svg")
    both = seen.text("#query-state")
    page.get_by_label("with inferred triples").uncheck()
    seen.click("Run")
    seen.until(f"!['Running …', {both!r}].includes(document.getElementById('query-state').textContent)")
    assert int(seen.text("#query-state").split()[0]) < int(both.split()[0])
    seen.put(
        "SELECT ?who ?photo { VALUES (?who ?photo) { (ex:GraphDB <http://web.example/%3Cb%3Ea.png>)"
        " (ex:Redis <http://web.example/b.jpg>) } }"
    )
    seen.click("Run")
    seen.click("Gallery", "#query-other .images figure")
    assert page.locator("#query-other figure a.placeholder").count() == 2


@SIZES
def test_rows_are_drawn_as_what_they_are(seen: Watched) -> None:
    page = seen.open("/#/query")
    for query, view, said in cases(__file__, "DRAWN"):
        seen.put("PREFIX geo: <http://www.opengis.net/ont/geosparql#> " + query.replace("ODD", repr(ODD)))
        seen.click("Run")
        page.get_by_role("group", name="Show as").get_by_role("button", name=view, exact=True).click()
        drawn = page.locator("#query-other svg[role=img]")
        assert (drawn.get_attribute("aria-label") or "").startswith(said)
    assert page.locator("#query-other circle title").first.text_content() == f"{ODD}: 1.5, 40"
    seen.plain()


VALUES = """SELECT * { VALUES (?n ?thing ?said) {
 (10 ex:Redis "b") (9 ex:GraphDB "a\\tb") (UNDEF ex:Virtuoso UNDEF) } }"""


def test_rows_are_sorted_narrowed_down_widened_and_copied(browser: Browser, base: str) -> None:
    with watched(browser, base, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.open("/#/query")
        seen.put(VALUES)
        seen.click("Run", "#results td a:text-is('GraphDB')")
        rows, heads = page.locator("#results tbody:not([aria-hidden]) tr"), page.locator("#results thead th")

        def shown(column: int) -> list[str]:
            return [row.locator("td").nth(column).inner_text() for row in rows.all()]

        # Labels, not IRIs; numbers in order of what they are; what is open comes last either way.
        assert sorted(shown(1)) == ["GraphDB", "Redis", "Virtuoso"]
        seen.click("n", "#results th[aria-sort=ascending]")
        assert shown(0) == ["9", "10", ""]
        seen.click("n", "#results th[aria-sort=descending]")
        assert shown(0) == ["10", "9", ""]
        seen.click("thing", "#results th[aria-sort=ascending]")
        assert shown(1) == ["GraphDB", "Redis", "Virtuoso"]
        seen.click("Copy", ".result-controls [role=status]:has-text('Copied.')")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "n\tthing\tsaid\n9\tGraphDB\ta b\n10\tRedis\tb\n\tVirtuoso\t"
        page.get_by_label("labels").uncheck()
        seen.wait("#results td a:text-is('ex:GraphDB')")
        page.get_by_label("Rows that contain").fill("graphdb")
        seen.wait(".result-controls [role=status]:has-text('1 row')")
        assert shown(1) == ["ex:GraphDB"]
        box = heads.nth(1).locator("div").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] + 80, box["y"] + box["height"] - 3)
        page.mouse.up()
        wider = heads.nth(1).bounding_box()
        assert wider is not None and wider["width"] > box["width"] + 60
        seen.click(page.locator("#results td a"), "#explore-entity h2:has-text('GraphDB')")


def test_of_many_rows_those_in_sight_are_drawn(seen: Watched) -> None:
    page = seen.open("/#/query")
    seen.put("SELECT ?a ?b ?c { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z } LIMIT 100000")
    seen.click("Run", "#query-state:has-text('100,000 rows')")
    rows = page.locator("#results tbody:not([aria-hidden]) tr")
    assert 10 < rows.count() < 80 and rows.first.get_attribute("aria-rowindex") == "2"
    page.evaluate("document.querySelector('.result-frame').scrollTop = 1e9")
    seen.wait("#results tr[aria-rowindex='100001']")
    assert rows.count() < 80 and rows.last.locator("th").inner_text() == "100000"


@SIZES
def test_triples_are_drawn_as_a_graph(seen: Watched) -> None:
    page = seen.open("/#/query")
    for query, first, count in cases(__file__, "GRAPHS"):
        seen.put(query)
        seen.click("Run")
        views = page.get_by_role("group", name="Show as").get_by_role("button")
        views.last.wait_for()
        assert (views.first.inner_text(), views.last.inner_text()) == (first, "Graph")
        views.last.click()
        page.wait_for_selector("#query-other canvas", state="attached")
        assert re.match(count, seen.text("#query-other .hint"))
    seen.put("SELECT ?a ?b ?c { VALUES (?a ?b ?c) { (1 2 3) } }")
    seen.click("Run", "#query-state:has-text('1 row')")
    assert not page.get_by_role("button", name="Graph", exact=True).count()


@SIZES
def test_a_saved_query_has_a_link_with_its_parameters(
    browser: Browser, base: str, client: httpx.Client, size: Size
) -> None:
    name = f"vendors link {size[0]}"
    rights = ["clipboard-read", "clipboard-write"]
    with watched(browser, base, size, permissions=rights) as seen:
        client.post("/api/saved", json={"name": name, "text": "ASK {}"})
        page = seen.open("/#/query")
        seen.put(BY_VENDOR)
        seen.unfold("#catalogue")
        # A name that is taken is replaced by a second click.
        page.get_by_label("Save this query as").fill(name)
        seen.click("Save")
        seen.click("Replace it", f"#query-saved [role=status]:has-text('Saved as {name}.')")
        assert BY_VENDOR in client.get("/api/saved").text
        page.get_by_label("$vendor").fill("ex:Ontotext")
        seen.click(f"Copy a link to {name}", "#query-saved [role=status]:has-text('Link copied.')")
        link = page.evaluate("navigator.clipboard.readText()")
    with watched(browser, base, size) as seen:
        page = seen.open(link.removeprefix(base), f".query-tab button[aria-current]:has-text('{name}')")
        assert page.get_by_label("$vendor").input_value() == "ex:Ontotext"
        seen.click("Run", "#query-state:has-text('3 rows')")
        page = seen.open("/#/query?saved=of+nobody")
        page.wait_for_selector("#query-saved .problem:has-text('of nobody')", state="attached")
    client.post("/api/saved/remove", json={"name": name})


@SIZES
def test_a_change_is_seen_before_it_is_made(seen: Watched, client: httpx.Client, size: Size) -> None:
    thing = f"urn:hostile:{size[0]}"
    seen.open("/#/query")
    seen.put(f"INSERT DATA {{ <{thing}> rdfs:label {ODD!r} }}")
    there = {"query": f"ASK {{ <{thing}> ?p ?o }}"}
    seen.click("Preview the change", "#query-change .triples")
    assert "1 triple added, 0 triples removed" in seen.text("#query-change")
    assert client.get("/sparql", params=there).json()["boolean"] is False
    seen.click("Make this change", "#query-change:has-text('Done')")
    assert client.get("/sparql", params=there).json()["boolean"] is True
    seen.plain()


def test_where_changes_are_off_none_are_offered(browser: Browser, read_only: str) -> None:
    with watched(browser, read_only) as seen:
        page = seen.open("/#/query", ".saved:has-text('mrag serve'), .saved:has-text('--update')")
        assert not page.get_by_role("button", name="Save", exact=True).count()
        seen.put("DELETE WHERE { ?s ?p ?o }")
        seen.click("Preview the change", "#query-problem:has-text('Changes are off')")
    for path, body in (
        ("/api/saved", {"name": "x", "text": "ASK {}"}),
        ("/api/saved/remove", {"name": "x"}),
        ("/api/preview", {"update": "CLEAR ALL"}),
    ):
        assert httpx.post(read_only + path, json=body).status_code == 403


def test_a_saved_query_is_no_data_and_is_replaced_only_if_wanted(client: httpx.Client) -> None:
    before = client.get("/api/about").json()
    made = {"name": "mine", "text": 'ASK { ?s ?p "} #" }', "comment": HOSTILE}
    assert client.post("/api/saved", json=made).status_code == 201
    assert client.post("/api/saved", json=made).status_code == 400
    assert client.post("/api/saved", json={**made, "text": "ASK {}", "replacing": True}).status_code == 201
    (kept,) = (one for one in client.get("/api/saved").json()["queries"] if one["name"] == "mine")
    assert (kept["text"], kept["comment"]) == ("ASK {}", HOSTILE)
    after = client.get("/api/about").json()
    assert (after["triples"], after["revision"]) == (before["triples"], before["revision"])
    seen = client.get("/sparql", params={"query": "ASK { ?q <https://w3id.org/mrag#queryText> ?t }"})
    assert seen.json()["boolean"] is False
    assert client.post("/api/saved/remove", json={"name": "mine"}).json() == {"removed": True}
    assert client.post("/api/saved/remove", json={"name": "mine"}).json() == {"removed": False}


PER_COUNTRY = "/#/ask?q=How+many+vendors+are+there+per+country%3F"
PROV, SCHEMA = Namespace("http://www.w3.org/ns/prov#"), Namespace("https://schema.org/")


@SIZES
def test_an_answer_is_drawn_downloaded_and_checked_again(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(PER_COUNTRY, ".chart svg")
    assert page.locator(".chart .chart-mark").count() == 9
    said = str(page.locator(".chart svg").get_attribute("aria-label"))
    assert "number of vendors" in said and "United States" in said
    bars = [float(str(bar.get_attribute("width"))) for bar in page.locator(".chart rect").all()]
    assert bars[-1] == pytest.approx(23 * bars[0], rel=0.01)

    with page.expect_download() as download:
        seen.click("Receipt")
    page.wait_for_selector("#answer-actions:has-text('Verified')")
    file = tmp_path / "receipt.jsonld"
    download.value.save_as(file)
    page.locator("#checks summary").click()
    page.get_by_label("A receipt that was downloaded").set_input_files(file)
    page.wait_for_selector("#receipt-report:has-text('The graph has not changed since')")
    assert "It holds. 37 cited triples" in seen.text("#receipt-report")

    # Whoever changes a number in it is found out, and so is whoever changes the text around it.
    made = file.read_text("utf-8")
    for was, now in (("United States: 23", "United States: 24"), ("Austria: 1", HOSTILE.replace('"', "'"))):
        assert was in made
        file.write_text(made.replace(was, now), "utf-8")
        page.get_by_label("A receipt that was downloaded").set_input_files(file)
        page.wait_for_selector("#receipt-report:has-text('It does not hold')")
    for text, wanted in cases(__file__, "an_answer_is_drawn_downloaded_and_checked_again"):
        file.write_text(text, "utf-8")
        page.get_by_label("A receipt that was downloaded").set_input_files(file)
        page.wait_for_selector(f"#receipt-report .problem:has-text({wanted!r})")
    seen.plain("main :is(img, b b, script)")
    seen.forgive("400")


def test_numbers_that_are_alike_are_points_and_one_value_is_not_drawn(seen: Watched) -> None:
    page = seen.open("/#/ask?q=Show+each+triple+store+and+its+year+of+first+release.", ".chart circle")
    assert page.locator(".chart circle").count() == 5 and page.locator(".chart rect").count() == 0
    page = seen.open("/#/ask?q=How+many+triple+stores+are+there%3F", "#answer:has-text('11 triple stores')")
    assert page.locator(".chart-place").count() == 0


def asked(url: str, question: str) -> dict[str, Any]:
    lines = httpx.post(f"{url}/api/ask", json={"question": question}, timeout=30).text.splitlines()
    answer: dict[str, Any] = json.loads(lines[-1])["answer"]
    return answer


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_a_receipt_is_linked_data_and_the_command_line_checks_it(base: str, tmp_path: Path) -> None:
    answer = asked(base, "How many vendors are there per country?")
    made = httpx.post(f"{base}/api/receipt", json={"answer": answer}, timeout=30).json()
    graph = Graph().parse(data=json.dumps(made), format="json-ld")
    name = URIRef(made["@id"])
    statements = set(graph.objects(name, PROV.wasDerivedFrom))
    assert len(statements) == len(answer["citations"]) == 37
    cited = {tuple(graph.value(s, p) for p in (RDF.subject, RDF.predicate, RDF.object)) for s in statements}
    ex = Namespace("https://w3id.org/mrag/demo/products#")
    assert (ex.Ontotext, ex.basedIn, ex.Bulgaria) in cited
    plan = next(graph.objects(None, PROV.hadPlan))
    assert str(graph.value(plan, SCHEMA.text)) == answer["query"]
    used = graph.value(graph.value(name, PROV.wasGeneratedBy), PROV.used)
    assert (
        int(str(graph.value(used, SCHEMA.version)))
        == made["prov:wasGeneratedBy"]["prov:used"]["schema:version"]
    )
    assert "Verified" in str(graph.value(graph.value(name, SCHEMA.review), SCHEMA.reviewBody))
    with mrag.demo(model="none") as kg:
        assert mrag.verify(kg, made).ok
        bad = {**made, "json": {**made["json"], "text": "Nothing."}}
        assert "the receipt is not as it was made" in str(mrag.verify(kg, bad))
