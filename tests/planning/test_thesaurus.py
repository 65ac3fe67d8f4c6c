"""Questions over a thesaurus in SKOS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

ANIMALS = {
    "animal": "", "mammal": "animal", "bird": "animal", "dog": "mammal", "wolf": "mammal", "eagle": "bird",
    "sparrow": "bird", "terrier": "dog",
}  # fmt: skip


@pytest.fixture(scope="module")
def thesaurus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    lines = [
        "@prefix : <http://animals.example/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
        ':scheme a skos:ConceptScheme ; skos:prefLabel "Animal thesaurus"@en .',
        ":dog skos:related :wolf . :wolf skos:related :dog .",
        ':eagle skos:notation "B-12" . :mammal skos:definition "A warm-blooded vertebrate."@en .',
    ]
    for name, above in ANIMALS.items():
        lines.append(f':{name} a skos:Concept ; skos:prefLabel "{name}"@en ; skos:inScheme :scheme .')
        lines += [f":{name} skos:broader :{above} ."] if above else []
    path: Path = tmp_path_factory.mktemp("animals") / "animals.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many concepts are in the Animal thesaurus?", ["8"]),
        ("What is broader than dog?", ["mammal"]),
        ("Which concepts are broader than dog?", ["mammal"]),
        ("Which concepts are narrower than bird?", ["eagle", "sparrow"]),
        ("What are the narrower concepts of mammal?", ["dog", "wolf"]),
        ("Which concepts are related to wolf?", ["dog"]),
        ("Which concept has the most narrower concepts?", ["animal", "bird", "mammal"]),
        ("What is the notation of eagle?", ["B-12"]),
        ("What is the definition of mammal?", ["A warm-blooded vertebrate."]),
        ("Is dog related to wolf?", ["true"]),
    ],
)
def test_relations_of_concepts_are_read(
    thesaurus: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    attempt = compute(thesaurus, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    if expected == ["true"]:
        assert attempt.answer.text.startswith("Yes")
        return
    assert sorted(row[0].label or row[0].value for row in attempt.answer.computed.rows) == expected
    assert mrag.verify(thesaurus, attempt.answer).ok


@pytest.mark.parametrize("question", ["Is a dog a mammal?", "Is an eagle a mammal?"])
def test_concepts_are_not_denied_to_be_others(thesaurus: KnowledgeGraph, question: str) -> None:
    attempt = compute(thesaurus, question)
    assert not attempt.sure, attempt.answer and attempt.answer.text
