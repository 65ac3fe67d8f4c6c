"""A sentence that says a relation from the other end is no evidence for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import URIRef

import mrag
from mrag.completion.chain import Evidence, IncompleteTriple
from mrag.completion.passages import Passage, Passages
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.stores.oxigraph import OxigraphStore
from tests.completion.towns import TURTLE

E = "https://w3id.org/mrag/demo/products#"
PASSIVE = "Zetabase is a triple store developed by Zeta Systems."
ACTIVE = "Zeta Systems develops Zetabase."


@pytest.mark.parametrize("text", [PASSIVE, ACTIVE])
@pytest.mark.parametrize(
    ("subject", "relation", "found"),
    [
        ("Zetabase", "develops", None),
        ("Zetabase", "developedBy", "Zeta Systems"),
        ("Zeta Systems", "develops", "Zetabase"),
        ("Zeta Systems", "developedBy", None),
    ],
)
def test_who_develops_whom_is_read_as_it_is_said(
    text: str, subject: str, relation: str, found: str | None
) -> None:
    with mrag.demo(model="none") as kg:
        evidence = Evidence(Passages([Passage("urn:x:p", text, "news.txt")]))
        triple = IncompleteTriple(subject, URIRef(E + relation), Unknown("x"))
        names = [evidence.names.get(str(one.object)) for one in evidence.complete(kg, triple, 5)]
    # Rules may miss what a sentence says; they read nothing that it does not say.
    assert (
        names in ([], [found])
        if text == PASSIVE and subject == "Zeta Systems"
        else names == [found] * bool(found)
    )


@pytest.mark.parametrize(
    ("subject", "relation", "text", "found"),
    [
        ("Oracle", "headquarteredIn", "Oracle is headquartered in Austin, Texas.", ["Austin"]),
        ("Zeta Systems", "headquarteredIn", "Zeta Systems was headquartered in Oslo until 1999.", []),
        ("Zeta Systems", "headquarteredIn", "Zeta Systems' customers are headquartered in Oslo.", []),
        ("Zeta Systems", "headquarteredIn", "Zeta Systems is headquartered near Oslo.", []),
        ("Zetabase", "developedBy", "Acme says Zetabase is developed by Zeta Systems.", []),
        ("Zetabase", "developedBy", "Acme insists it is Zetabase that was developed by Zeta Systems.", []),
        ("Zetabase", "developedBy", "Zetabase competes with Yota, which is developed by Zeta Systems.", []),
        ("Zetabase", "developedBy", "Zetabase is developed by either Zeta Systems or Acme.", []),
        ("Zetabase", "developedBy", "Zetabase was developed for Zeta Systems.", []),
        ("Zetabase", "developedBy", "Zeta Systems began to develop Zetabase.", []),
        ("Zetabase", "developedBy", "In the novel Fern, Zetabase is developed by Zeta Systems.", []),
        ("Zetabase", "developedBy", "The logo of Zetabase was developed by Zeta Systems.", []),
    ],
)
def test_what_is_told_of_another_or_is_not_so_is_not_read(
    subject: str, relation: str, text: str, found: list[str]
) -> None:
    with mrag.demo(model="none") as kg:
        evidence = Evidence(Passages([Passage("urn:x:p", text, "news.txt")]))
        triple = IncompleteTriple(subject, URIRef(E + relation), Unknown("x"))
        assert [evidence.names.get(str(one.object)) for one in evidence.complete(kg, triple, 5)] == found


def test_a_son_has_the_parent(tmp_path: Path) -> None:
    file, e = tmp_path / "towns.ttl", "http://example.org/"
    file.write_text(TURTLE, encoding="utf-8")
    evidence = Evidence(Passages([Passage("urn:x:p", "Bob Stone is the son of Ada Hill.", "news.txt")]))
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([file])
        of_bob = IncompleteTriple(URIRef(e + "bob"), URIRef(e + "parentOf"), Unknown("x"))
        assert evidence.complete(kg, of_bob, 5) == []
        [found] = evidence.complete(
            kg, IncompleteTriple(URIRef(e + "ada"), of_bob.predicate, Unknown("x")), 5
        )
        assert found.object == URIRef(e + "bob")
