"""Questions about swimming pools: names beside columns, either of two flags, clauses that ask for more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

SCHEMA = """
@prefix : <http://pools.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Pool a owl:Class ; rdfs:label "pool" . :Lifeguard a owl:Class ; rdfs:label "lifeguard" .
:Borough a owl:Class ; rdfs:label "borough" .
:Post a owl:Class ; rdfs:label "post" ; rdfs:comment "A lifeguard's employment at a pool." .
:Attendance a owl:Class ; rdfs:label "attendance" ; rdfs:comment "Visits of a pool in a year." .
"""
PROPERTIES = """
borough|borough|Pool|Borough|
manager|manager|Pool|Lifeguard|
indoor|indoor|Pool|boolean|true if the pool is indoors
heated|heated|Pool|integer|1 = heated pool, 0 = not heated
kind|ptype|Pool|string|kind of pool: P = public pool, S = school pool, H = hotel pool
street|street|Pool|string|
opened|opened|Pool|gYear|year in which the pool opened
first_name|first name|Lifeguard|string|
last_name|last name|Lifeguard|string|
age|age|Lifeguard|integer|
guard|lifeguard|Post|Lifeguard|
at|pool|Post|Pool|
joined|joined|Post|date|
wage|wage|Post|integer|monthly wage
of|pool|Attendance|Pool|
year|year|Attendance|integer|
visits_tot|visits_tot|Attendance|integer|total number of people who attended
refunds|refunds|Attendance|integer|visits that were refunded
"""
POOLS = {
    # name: borough, manager, indoor, heated, kind, street, opened
    "Mill Lido": ("Northgate", "Ada Holm", False, 1, "P", "Mill Lane", 1931),
    "Quarry Baths": ("Northgate", "Ben Ruiz", True, 0, "P", "Quarry Road", 1968),
    "Otter Basin": ("Eastfield", None, False, 0, "S", "Otter Close", 1990),
    "Palm Pool": ("Eastfield", "Ada Holm", True, 1, "H", "Harbour Street", 2011),
}
GUARDS = {"Ada Holm": 61, "Ben Ruiz": 44, "Cy Lund": 23, "Di Moss": 67}
POSTS = [("Cy Lund", "Mill Lido", "2020-04-01", 2100), ("Di Moss", "Palm Pool", "2012-01-01", 2500),
         ("Ben Ruiz", "Palm Pool", "2019-07-01", 1900)]  # fmt: skip
VISITS = {("Mill Lido", 2022): (900, 9), ("Mill Lido", 2023): (1100, 8), ("Quarry Baths", 2023): (700, 2),
          ("Otter Basin", 2023): (50, 1), ("Palm Pool", 2023): (400, 4)}  # fmt: skip


def written() -> str:
    """Return the graph as Turtle."""
    lines = [SCHEMA]
    for line in PROPERTIES.strip().splitlines():
        name, label, domain, ends, comment = line.split("|")
        kind, ends = ("Object", f":{ends}") if ends[0].isupper() else ("Datatype", f"xsd:{ends}")
        lines.append(
            f':{name} a owl:{kind}Property ; rdfs:label "{label}" ; rdfs:domain :{domain} ; '
            f'rdfs:range {ends} ; rdfs:comment "{comment}" .'
        )
    lines += [f'<urn:b:{b}> a :Borough ; rdfs:label "{b}" .' for b in ("Northgate", "Eastfield")]
    for name, age in GUARDS.items():
        first, last = name.split()
        lines.append(
            f'<urn:g:{first}> a :Lifeguard ; :first_name "{first}" ; :last_name "{last}" ; :age {age} .'
        )
    for name, (borough, manager, indoor, heated, kind, street, opened) in POOLS.items():
        led = f" ; :manager <urn:g:{manager.split()[0]}>" if manager else ""
        lines.append(
            f'<urn:p:{name.split()[0]}> a :Pool ; rdfs:label "{name}" ; :borough <urn:b:{borough}>{led} ; '
            f':indoor {str(indoor).lower()} ; :heated {heated} ; :kind "{kind}" ; :street "{street}" ; '
            f':opened "{opened}"^^xsd:gYear .'
        )
    for n, (guard, pool, since, wage) in enumerate(POSTS):
        lines.append(
            f"<urn:o:{n}> a :Post ; :guard <urn:g:{guard.split()[0]}> ; :at <urn:p:{pool.split()[0]}> ; "
            f':joined "{since}"^^xsd:date ; :wage {wage} .'
        )
    for n, ((pool, year), (visits, refunds)) in enumerate(VISITS.items()):
        lines.append(
            f"<urn:a:{n}> a :Attendance ; :of <urn:p:{pool.split()[0]}> ; :year {year} ; "
            f":visits_tot {visits} ; :refunds {refunds} ."
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("pools") / "pools.ttl"
    path.write_text(written())
    with mrag.connect() as kg:
        kg.load([path])
        yield kg


def rows(kg: KnowledgeGraph, question: str) -> set[frozenset[str]]:
    """Return the rows of the answer to a question, each as the set of its cells."""
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert mrag.verify(kg, attempt.answer).ok
    return {frozenset(cell.label for cell in row) for row in attempt.answer.computed.rows}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the names and ages of the lifeguards who are older than 60?",
         [("Ada Holm", "61"), ("Di Moss", "67")]),
        ("Show the names and streets of the pools that were opened before 1970.",
         [("Mill Lido", "Mill Lane"), ("Quarry Baths", "Quarry Road")]),
        ("Which pools are indoor or heated?", [("Mill Lido",), ("Quarry Baths",), ("Palm Pool",)]),
        ("List the pools that are either indoor or heated pools.",
         [("Mill Lido",), ("Quarry Baths",), ("Palm Pool",)]),
        ("How many indoor or heated pools are there?", [("3",)]),
        ("List the indoor pools together with the street in which they are located.",
         [("Quarry Baths", "Quarry Road"), ("Palm Pool", "Harbour Street")]),
        ("List the indoor pools, with the year in which each was opened.",
         [("Quarry Baths", "1968"), ("Palm Pool", "2011")]),
        ("Who joined a pool after 2018?", [("Cy Lund",), ("Ben Ruiz",)]),
        ("Who became a member of a pool after 2018?", [("Cy Lund",), ("Ben Ruiz",)]),
        ("Which boroughs have more than one pool? Give their name and the number of pools.",
         [("Northgate", "2"), ("Eastfield", "2")]),
        ("List the names of the lifeguards that do not manage any pool.", [("Cy Lund",), ("Di Moss",)]),
        ("How many school pools are there?", [("1",)]),
        ("List the public pools in Northgate.", [("Mill Lido",), ("Quarry Baths",)]),
        ("What was the total attendance in 2023?", [("2250",)]),
        ("What was the total attendance in 2023 per borough?", [("Northgate", "1800"), ("Eastfield", "450")]),
        ("Which boroughs have more than one pool? State the number of pools as well.",
         [("Northgate", "2"), ("Eastfield", "2")]),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_told(
    pools: KnowledgeGraph, question: str, expected: list[tuple[str, ...]]
) -> None:
    assert rows(pools, question) == set(map(frozenset, expected))


@pytest.mark.parametrize(
    "question",
    ["Which pools are indoor or tiled?", "What are the names and shoe sizes of the lifeguards?"],
)
def test_what_is_not_understood_is_refused(pools: KnowledgeGraph, question: str) -> None:
    attempt = compute(pools, question)
    assert attempt.answer is None or not attempt.sure
