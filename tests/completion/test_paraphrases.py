"""A relation is read by its own words and by English ones, not by what else the graph knows of a pair."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from rdflib import RDF, Literal, URIRef

import mrag
from mrag.completion.chain import Evidence
from mrag.completion.names import PropertyEnds
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import RDFS, Triple
from tests.completion.towns import iri
from tests.conftest import ROOT


def benchmark(name: str) -> ModuleType:
    """A benchmark, which has the sets."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sets() -> ModuleType:
    """Texts with one fact each."""
    return benchmark("completion_paraphrases")


@pytest.fixture(scope="module")
def prose(sets: ModuleType) -> ModuleType:
    """Texts with several facts, or none."""
    return benchmark("completion_prose")


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside others"])
@pytest.mark.parametrize("name", ["places", "music", "science"])
def test_paraphrases_that_it_was_not_tuned_on(sets: ModuleType, name: str, beside: bool) -> None:
    recall, precision, count = sets.measure(name, [7], beside)
    assert count > 100 and recall >= 0.6 and precision >= 0.97


FILMS = tuple(
    f"{colour} Moon" for colour in ("Amber", "Blue", "Copper", "Dun", "Ecru", "Fawn", "Gold", "Hazel")
)
NAMES = ("Ada Hill", "Bob Stone", "Cleo Reed", "Dan Moor", "Eve Fern", "Finn Lake", "Gro Vik", "Hal Wood")


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    """Films of which only the directors are known, who wrote them too."""
    rows = [
        Triple(iri(p), URIRef(RDFS + "label"), Literal(name))
        for p, name in (("directedBy", "directed by"), ("writtenBy", "written by"), ("owner", "owner"))
    ]
    for n, (film, person) in enumerate(zip(FILMS, NAMES, strict=True)):
        rows += [
            Triple(iri(f"film{n}"), URIRef(RDFS + "label"), Literal(film)),
            Triple(iri(f"person{n}"), URIRef(RDFS + "label"), Literal(person)),
            Triple(iri(f"film{n}"), iri("directedBy"), iri(f"person{n}")),
        ]
    rows += [Triple(iri("film0"), iri("writtenBy"), iri("person1"))]
    rows += [
        Triple(iri(f"firm{n}"), URIRef(RDFS + "label"), Literal(f"Firm {one}"))
        for n, one in enumerate(("Arvo", "Balt", "Cors", "Dolm"))
    ]
    rows += [
        Triple(iri("firm0"), iri("owner"), iri("firm1")),
        Triple(iri("firm1"), iri("owner"), iri("firm2")),
    ]
    with mrag.connect() as graph:
        graph.insert(rows)
        yield graph


def found(kg: KnowledgeGraph, texts: list[str], predicate: str, *, s: str = "", o: str = "") -> set[str]:
    evidence = Evidence(Passages([Passage(f"urn:x:{n}", t, f"{n}.txt") for n, t in enumerate(texts)]))
    triple = IncompleteTriple(iri(s) if s else Unknown("s"), iri(predicate), iri(o) if o else Unknown("o"))
    given = evidence.complete(kg, triple, 8)
    return {str(t.object if s else t.subject).rsplit("/", 1)[-1] for t in given}


@pytest.mark.parametrize(
    "wording", ["{f} was written by {p}.", "{p} penned {f}.", "The script of {f} came from {p}."]
)
def test_writers_who_also_direct_are_read_as_writers(kg: KnowledgeGraph, wording: str) -> None:
    texts = [wording.format(f=f, p=p) for f, p in zip(FILMS, NAMES, strict=True)]
    assert found(kg, texts, "writtenBy", s="film3") == {"person3"}
    assert found(kg, texts, "directedBy", s="film3") == set()


def test_what_is_listed_together_holds_together(kg: KnowledgeGraph) -> None:
    for text in ("Dun Moon was written and directed by Dan Moor.", "Dan Moor wrote and directed Dun Moon."):
        assert found(kg, [text], "writtenBy", s="film3") == {"person3"}
        assert found(kg, [text], "directedBy", s="film3") == {"person3"}


@pytest.mark.parametrize(
    ("text", "owner", "owned"),
    [
        ("Firm Cors owns Firm Dolm.", "firm2", "firm3"),
        ("Firm Cors is owned by Firm Dolm.", "firm3", "firm2"),
        ("Firm Cors acquired Firm Dolm.", "firm2", "firm3"),
        ("Firm Cors belongs to Firm Dolm.", "firm3", "firm2"),
        ("The owner of Firm Cors is Firm Dolm.", "firm3", "firm2"),
        ("Firm Cors is the owner of Firm Dolm.", "firm2", "firm3"),
        ("Firm Cors's owner is Firm Dolm.", "firm3", "firm2"),
    ],
)
def test_of_two_things_of_a_kind_each_has_its_place(
    kg: KnowledgeGraph, text: str, owner: str, owned: str
) -> None:
    assert found(kg, [text], "owner", s=owned) == {owner}
    assert found(kg, [text], "owner", s=owner) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Dun Moon was translated into English for Lyon.",
        "Dan Moor wrote Dun Moon in a small flat in Lyon.",
        "Dun Moon was produced for Paramount.",
        "Dun Moon was written for Hollywood.",
    ],
)
def test_what_a_preposition_brings_in_is_not_read(kg: KnowledgeGraph, text: str) -> None:
    assert found(kg, [text], "writtenBy", s="film3") <= {"person3"}


def test_what_is_of_another_class_than_all_others_there_is_not_read(kg: KnowledgeGraph) -> None:
    text = ["Dun Moon was written by Firm Dolm."]
    classes = [(f"person{n}", "Person") for n in range(8)] + [(f"firm{n}", "Firm") for n in range(4)]
    kg.insert([Triple(iri(one), RDF.type, iri(kind)) for one, kind in classes])
    kg.insert([Triple(iri("film1"), iri("writtenBy"), iri("person2"))])
    assert found(kg, text, "writtenBy", s="film3") == set()
    assert found(kg, ["Dun Moon was written by Dan Moor."], "writtenBy", s="film3") == {"person3"}
    # Firms may be agents, as people are.
    above = URIRef(RDFS + "subClassOf")
    kg.insert([Triple(iri(kind), above, iri("Agent")) for kind in ("Person", "Firm")])
    assert not PropertyEnds.of(kg).strange("object", str(iri("writtenBy")), str(iri("firm3")))


@pytest.mark.parametrize(("name", "least"), [("museum", 0.9), ("projects", 0.88), ("conferences", 0.55)])
def test_prose_with_texts_that_state_nothing(prose: ModuleType, name: str, least: float) -> None:
    recall, precision, count, _ = prose.measure(name, [7])
    assert count > 100 and recall >= least and precision >= 0.97


@pytest.mark.parametrize(
    "text",
    [
        "Dun Moon, written by Dan Moor, was never shown.",
        "Written by Dan Moor in one winter, Dun Moon will be shown again.",
        "The writer of Dun Moon, Dan Moor, did not live in Lyon.",
        "Please note that Dan Moor wrote Dun Moon.",
        "Dun Moon opened well. In his youth, Dan Moor had written it.",
        "Dan Moor lived in Lyon. He wrote Dun Moon.",
        "Writer of Dun Moon: Dan Moor.",
        "Film: Dun Moon. Writer: Dan Moor. Length: two hours.",
        "Dun Moon was a success; Dan Moor wrote it in a year.",
        "It took Dan Moor nine years to write Dun Moon.",
    ],
)
def test_clauses_pronouns_and_fields_are_read(kg: KnowledgeGraph, text: str) -> None:
    assert found(kg, [text], "writtenBy", s="film3") == {"person3"}


@pytest.mark.parametrize(
    "text",
    [
        "Dun Moon, which Dan Moor never wrote, was shown.",
        "Dan Moor will write Dun Moon.",
        "Dan Moor was to write Dun Moon.",
        "Dan Moor used to write about Dun Moon, it is said.",
        "Dan Moor applied to write Dun Moon.",
        "Dan Moor was due to write Dun Moon.",
        "Had Dan Moor written Dun Moon, it would be longer.",
        "According to a rumour, Dan Moor wrote Dun Moon.",
        "Some doubt that Dan Moor wrote Dun Moon.",
        "The wife of Dan Moor wrote Dun Moon.",
        "Dan Moor's brother wrote Dun Moon.",
        "Dun Moon was written in the style of Dan Moor.",
        "Dun Moon was written while Dan Moor slept.",
        "Dan Moor met the writer of Dun Moon.",
        "Dan Moor has left Dun Moon, which somebody else wrote.",
        "The review of Dun Moon was written by Dan Moor.",
        "Let Dan Moor write Dun Moon.",
    ],
)
def test_what_is_not_stated_is_not_read(kg: KnowledgeGraph, text: str) -> None:
    assert found(kg, [text], "writtenBy", s="film3") == set()


@pytest.mark.parametrize(
    ("text", "teacher", "taught"),
    [
        ("Ada Hill was a pupil of Bob Stone.", "person1", "person0"),
        ("Ada Hill studied under Bob Stone.", "person1", "person0"),
        ("Ada Hill taught Bob Stone.", "person0", "person1"),
        ("The pupils of Ada Hill included Bob Stone.", "person0", "person1"),
    ],
)
def test_pupils_are_taught(kg: KnowledgeGraph, text: str, teacher: str, taught: str) -> None:
    rows = [Triple(iri("teacher"), URIRef(RDFS + "label"), Literal("teacher"))]
    rows += [Triple(iri(f"person{n}"), iri("teacher"), iri(f"person{n + 1}")) for n in (3, 4, 5)]
    kg.insert(rows)
    assert found(kg, [text], "teacher", s=taught) == {teacher}
    assert found(kg, [text], "teacher", s=teacher) == set()


def test_the_last_time_is_not_the_first(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(iri("firstShown"), URIRef(RDFS + "label"), Literal("first shown"))])
    kg.insert([Triple(iri("film0"), iri("firstShown"), Literal("1950"))])
    assert found(kg, ["Dun Moon was first shown in 1961."], "firstShown", s="film3") == {"1961"}
    assert found(kg, ["Dun Moon was last shown in 1999."], "firstShown", s="film3") == set()


@pytest.mark.parametrize("name", ["museum", "projects", "conferences"])
def test_prose_of_which_the_subject_is_asked_for(prose: ModuleType, name: str) -> None:
    recall, precision, count = prose.asked_back(name, [7])
    assert count > 60 and recall >= 0.55 and precision >= 0.97


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("Dun Moon was written by Dan Moor.", {"writtenBy"}),
        ("Dan Moor wrote and directed Dun Moon.", {"writtenBy", "directedBy"}),
        ("Dun Moon is as long as Dan Moor is tall.", set()),
        ("Dan Moor will direct Dun Moon.", set()),
    ],
)
def test_relations_are_read_between_two_names(kg: KnowledgeGraph, text: str, relations: set[str]) -> None:
    evidence = Evidence(Passages([Passage("urn:x:1", text, "1.txt")]))
    given = evidence.complete(kg, IncompleteTriple(iri("film3"), Unknown("p"), iri("person3")), 8)
    assert {str(t.predicate).rsplit("/", 1)[-1] for t in given} == relations
