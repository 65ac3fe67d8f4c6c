"""A sentence that says a relation from the other end is no evidence for it."""

from __future__ import annotations

import pytest
from rdflib import URIRef

import mrag
from mrag.completion.evidence.collect import Evidence, IncompleteTriple
from mrag.completion.evidence.passages import Passage, Passages
from mrag.planning.plan import Unknown

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
