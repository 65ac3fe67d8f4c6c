"""Benchmarks: problems of published knowledge bases are found, run, held out and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mrag.cel.benchmark import BenchmarkSetup, find_problems, folds, means, open_knowledge_base, run_benchmark
from mrag.cel.problem import LearningProblem
from mrag.errors import ConfigError, LoadError
from tests.conftest import shared_data

NAMED = {
    "Family/lp_dl_learner": 18,
    "animals": 4,
    "lymphography": 1,
    "forte/uncle_owl_small": 1,
    "forte/uncle_owl_large": 1,
    "trains/trains_owl": 1,
    "father/father": 1,
    "arch/arch_owl": 1,
    "family/father_oe": 1,
}


@pytest.fixture(scope="module")
def bases() -> Path:
    return shared_data("cel_kbs")


def test_all_problems_that_can_be_read_are_found(bases: Path) -> None:
    sets, unread = find_problems(bases)
    sizes = {s.name: len(s.problems) for s in sets}
    assert sizes.items() >= NAMED.items()
    assert [s.name for s in sets] == [s.name for s in find_problems(bases)[0]]
    reasons = {u.path.name: u.reason for u in unread}
    assert "trains.kb is not there" in reasons["trains.conf"]
    assert "not there" in reasons["father_oe_inv.conf"]
    assert "both positive and negative" in reasons["lp_dl_learner_with_pos_only.json"]
    assert all(file.is_file() for s in sets for file in s.ontologies)


@pytest.mark.parametrize(
    ("name", "sets"),
    [("family", 8), ("ANIMALS", 1), ("lymphography", 1), ("forte", 2), ("trains", 1), ("father", 1)],
)
def test_problems_by_name(bases: Path, name: str, sets: int) -> None:
    found, _ = find_problems(name, bases)
    assert len(found) == sets


def test_one_file_is_enough(bases: Path) -> None:
    sets, unread = find_problems(bases / "drill" / "Family" / "lp_dl_learner.json")
    assert [s.name for s in sets] == ["Family/lp_dl_learner"] and not unread
    with pytest.raises(LoadError):
        find_problems("nothing-of-this-name", bases)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_knowledge_base_is_read_and_has_its_examples(bases: Path, name: str) -> None:
    found = next(s for s in find_problems(bases)[0] if s.name == name)
    with open_knowledge_base(*found.ontologies) as kg:
        for problem in found.problems.values():
            problem.check(kg)


def test_the_small_problems_are_solved(bases: Path) -> None:
    sets = [s for s in find_problems(bases)[0] if s.name in ("animals", "father/father", "trains/trains_owl")]
    outcomes = list(run_benchmark(sets, [BenchmarkSetup(seconds=5, folds=3)]))
    assert [o.error for o in outcomes] == [""] * 6
    assert means(outcomes)["solved"] == 6
    assert all(o.length >= 1 and o.concept and o.tested > 0 for o in outcomes)
    father = next(o for o in outcomes if o.problem == "father")
    assert father.folds == 3
    assert None not in (father.held_out_f1, father.held_out_f1_sd, father.held_out_accuracy)


def test_folds_hold_out_everything_once() -> None:
    problem = LearningProblem([f"p{n}" for n in range(11)], [f"n{n}" for n in range(7)])
    pairs = folds(problem, 5, 1)
    assert len(pairs) == 5 and pairs == folds(problem, 5, 1) != folds(problem, 5, 2)
    assert sorted(x for _, held in pairs for x in held.examples) == sorted(problem.examples)
    for train, held in pairs:
        assert not {*train.examples} & {*held.examples}
        assert len(train.examples) + len(held.examples) == 18
    assert folds(LearningProblem(["p"], ["n", "m"]), 5, 0) == [] == folds(problem, 0, 0)
    with pytest.raises(ConfigError):
        BenchmarkSetup(folds=1)


TURTLE = """@prefix : <urn:b:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:a a :Cat . :b a :Cat . :c a :Dog . :d a :Dog ."""


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    (tmp_path / "pets.ttl").write_text(TURTLE, encoding="utf-8")
    problems = {
        "cats": {"positive_examples": ["urn:b:a", "urn:b:b"], "negative_examples": ["urn:b:c", "urn:b:d"]},
        "ghosts": {"positive_examples": ["urn:b:x"], "negative_examples": ["urn:b:c"]},
    }
    (tmp_path / "pets.json").write_text(json.dumps({"problems": problems}), encoding="utf-8")
    return tmp_path


def test_a_run_goes_on_where_it_was_broken_off(pets: Path) -> None:
    sets, _ = find_problems(pets)
    results, calls = pets / "results.jsonl", list[tuple[int, int]]()
    setup = BenchmarkSetup(folds=2)
    one = next(run_benchmark(sets, [setup], results=results))
    assert one.problem == "cats" and one.f1 == 1.0
    with results.open("a", encoding="utf-8") as file:
        file.write('{"key": "broken o')
    both = list(run_benchmark(sets, [setup], results=results, on_progress=lambda *done: calls.append(done)))
    assert both[0] == one, "taken from the file, time and all"
    assert "no individual" in both[1].error and both[1].f1 == 0.0
    assert calls == [(1, 2), (2, 2)]
    assert list(run_benchmark(sets, [setup], results=results)) == both, "the broken line is gone"
    results.write_text('{"key": "broken o', encoding="utf-8")
    assert next(run_benchmark(sets, [setup], results=results)).concept == one.concept
    assert means(both)["problems"] == 1
    other = next(run_benchmark(sets, [BenchmarkSetup(folds=2, seed=1)], results=pets / "results2.jsonl"))
    assert other.problem == "cats"


def test_other_files_are_not_taken_for_results(pets: Path) -> None:
    (pets / "notes.txt").write_text("Dear diary\nand so on\n", encoding="utf-8")
    with pytest.raises(LoadError, match="no results"):
        list(run_benchmark(find_problems(pets)[0], [BenchmarkSetup()], results=pets / "notes.txt"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '<?xml version="1.0"?>\n<!-- x --><Ontology xmlns="http://www.w3.org/2002/07/owl#"><',
            "OWL/XML",
        ),
        ("Prefix(:=<urn:x:>)\nOntology(<urn:x>", "OWL functional syntax"),
        ('<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="no', "Not valid RDF/XML"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "base.owl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LoadError, match=words):
        open_knowledge_base(path)
    with pytest.raises(LoadError, match="cannot be read"):
        open_knowledge_base(tmp_path / "nowhere.owl")


def test_a_knowledge_base_that_cannot_be_read_is_an_outcome(pets: Path) -> None:
    (pets / "pets.ttl").write_text("this is no turtle", encoding="utf-8")
    found = list(run_benchmark(find_problems(pets)[0], [BenchmarkSetup()], results=pets / "r.jsonl"))
    assert len(found) == 2 and all(o.error for o in found)
    assert not (pets / "r.jsonl").exists(), "errors are tried again"
