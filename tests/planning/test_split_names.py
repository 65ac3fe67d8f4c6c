"""People whose first and last names are kept apart are called by both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of

SHOP = """
@prefix : <http://shop.example/> .
:c1 a :Customer ; :customer_first_name "Ellen" ; :customer_last_name "Marsh" ; :email "marsh@shop.example" .
:c2 a :Customer ; :customer_first_name "Ellen" ; :customer_last_name "Rossi" ; :email "rossi@shop.example" .
:c3 a :Customer ; :customer_first_name "Tom" ; :customer_last_name "Marsh" ; :email "tom@shop.example" .
:o1 a :Order ; :placedBy :c1 . :o2 a :Order ; :placedBy :c1 . :o3 a :Order ; :placedBy :c2 .
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    path = tmp_path / "shop.ttl"
    path.write_text(SHOP, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def labels(kg: KnowledgeGraph, question: str) -> list[str]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    return [cell.label for row in attempt.answer.computed.rows for cell in row]


def test_they_are_shown_and_found_by_both(shop: KnowledgeGraph) -> None:
    assert labels(shop, "Which customer placed the most orders?") == ["Ellen Marsh"]
    assert labels(shop, "What is the email of Ellen Rossi?") == ["rossi@shop.example"]
    assert shop.labels(["http://shop.example/c3"]) == {"http://shop.example/c3": "Tom Marsh"}


def test_a_changed_name_is_followed(shop: KnowledgeGraph, tmp_path: Path) -> None:
    labels(shop, "What is the email of Tom Marsh?")
    shop.update(
        "DELETE { ?c <http://shop.example/customer_last_name> ?n } "
        "INSERT { ?c <http://shop.example/customer_last_name> 'Berg' } "
        "WHERE { ?c <http://shop.example/customer_first_name> 'Tom' ; "
        "<http://shop.example/customer_last_name> ?n }"
    )
    assert labels(shop, "What is the email of Tom Berg?") == ["tom@shop.example"]
    path = tmp_path / "fresh.ttl"
    renamed = SHOP.replace('"Tom" ; :customer_last_name "Marsh"', '"Tom" ; :customer_last_name "Berg"')
    path.write_text(renamed, encoding="utf-8")
    with mrag.connect("oxigraph:") as fresh:
        fresh.load([path])
        for name in ("Tom Berg", "Tom Marsh", "Ellen Marsh", "Berg", "Marsh"):
            followed, built = (lexicon_of(kg, None).match(tokens(name)) for kg in (shop, fresh))
            assert followed == built, name
