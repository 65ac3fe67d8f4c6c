"""The page, charts and receipts: numbers as bars, an answer as a file, and the file checked again."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from rdflib import RDF, Graph, Namespace, URIRef

import mrag
from tests.server.browsing import HOSTILE, SIZES, Watched

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
    made = file.read_text(encoding="utf-8")
    for was, now in (("United States: 23", "United States: 24"), ("Austria: 1", HOSTILE.replace('"', "'"))):
        assert was in made
        file.write_text(made.replace(was, now), encoding="utf-8")
        page.get_by_label("A receipt that was downloaded").set_input_files(file)
        page.wait_for_selector("#receipt-report:has-text('It does not hold')")
    for text, wanted in (
        ("no json", "no JSON"),
        ('{"@context": 1}', "Not the receipt"),
        ("{}", "Not the JSON form"),
    ):
        file.write_text(text, encoding="utf-8")
        page.get_by_label("A receipt that was downloaded").set_input_files(file)
        page.wait_for_selector(f"#receipt-report .problem:has-text({wanted!r})")
    seen.plain("main :is(img, b b, script)")
    seen.forgive("400")


def test_numbers_that_are_alike_are_points_and_one_value_is_not_drawn(seen: Watched) -> None:
    page = seen.open("/#/ask?q=Show+the+5+oldest+databases+and+their+year+of+first+release.", ".chart circle")
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
    cited = {
        tuple(graph.value(one, part) for part in (RDF.subject, RDF.predicate, RDF.object))
        for one in statements
    }
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
