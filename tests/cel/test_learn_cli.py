"""`mrag learn` as a user calls it."""

import json
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from rdflib import Graph

from tests.cases import cases
from tests.commands import run

E = "http://example.org/photos/"
PHOTOS = Path(__file__).with_name("garments.ttl").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "photos.ttl").write_text(PHOTOS, encoding="utf-8")
    (folder / "likes.txt").write_text("p:photo1\n\np:photo2\n", encoding="utf-8")
    (folder / "dislikes.txt").write_text(f"{E}photo5\n<{E}photo6>\n", encoding="utf-8")
    call(folder, "load", "photos.ttl")
    call(folder, "index")
    return folder


def call(home: Path, *args: str, code: int = 0, **env: str) -> CompletedProcess[str]:
    done = run(*args, cwd=home, MRAG_EMBEDDER="minilm", **env)
    assert done.returncode == code, (args, done.stdout, done.stderr)
    return done


def learn(home: Path, *args: str, code: int = 0, **env: str) -> CompletedProcess[str]:
    return call(home, "learn", *args, code=code, **env)


COATS = ("tailored coat in the city", "--top", "3", "--bottom", "3")
LIKES = ("--positives", "likes.txt", "--negatives", "dislikes.txt")


def test_a_concept_from_examples_by_file(home: Path) -> None:
    done = learn(home, "fit", *LIKES)
    lines = done.stdout.splitlines()
    assert lines[0] == "∃ p:shows.p:Jacket"
    assert lines[1].startswith("Whatever shows")
    assert lines[1].endswith("jacket: 2 of your 2 examples, 0 of 2 others.")
    assert lines[2] == "f1 1.000, length 3"
    assert "hypotheses" in done.stderr and "ended: solved" in done.stderr


def test_examples_by_name_and_json(home: Path) -> None:
    named = ("-p", "p:photo1", "-p", f"{E}photo2", "-n", f"<{E}photo5>", "-n", "p:photo6")
    found = json.loads(learn(home, "fit", *named, "--json", "-k", "1").stdout)
    assert found["concept"] == "∃ p:shows.p:Jacket" and len(found["hypotheses"]) == 1
    (best,) = found["hypotheses"]
    assert (best["positives_held"], best["negatives_held"], best["quality"]) == (2, 0, 1.0)
    assert found["report"]["stopped"] == "solved" and found["query"].startswith("SELECT DISTINCT ?x")


def test_the_query_and_other_notations(home: Path) -> None:
    done = learn(home, "fit", *LIKES, "--query", "--rq", "jackets.rq")
    assert (home / "jackets.rq").read_text(encoding="utf-8") == done.stdout
    rows = call(home, "query", "jackets.rq").stdout.splitlines()
    assert len(rows) == 5 and rows[0] == "?x"
    assert learn(home, "fit", *LIKES, "--format", "manchester").stdout.startswith("p:shows some p:Jacket\n")
    turtle = learn(home, "show", "p:shows some p:Jacket", "--format", "turtle").stdout
    assert "owl:someValuesFrom p:Jacket" in turtle
    assert len(Graph().parse(data=turtle, format="turtle")) == 3


def test_learning_from_a_search(home: Path) -> None:
    done = learn(home, "fit", "--question", *COATS)
    assert "3 of your 3 examples, 0 of 3 others" in done.stdout


@pytest.mark.parametrize("learner", ["search", "celoe"])
def test_every_learner_by_name(home: Path, learner: str) -> None:
    assert "f1 1.000" in learn(home, "fit", *LIKES, "--learner", learner, "--seconds", "3").stdout


def test_why_and_why_not(home: Path) -> None:
    done = learn(home, "explain", "∃ p:shows.p:Jacket", "p:photo1")
    assert "✓ photo 1: ∃ shows.jacket" in done.stdout
    assert "[inferred]" in done.stdout and "[asserted]" in done.stdout
    done = learn(home, "fit", *LIKES, "--explain", "p:photo5")
    assert "✗ photo 5: ∃ shows" in done.stdout
    found = json.loads(learn(home, "fit", *LIKES, "--explain", "p:photo5", "--json").stdout)
    assert found["explanation"]["holds"] is False


def test_keeping_listing_using_and_forgetting(home: Path) -> None:
    assert "No concept is kept" in learn(home, "concepts").stderr
    done = learn(home, "fit", *LIKES, "--keep", "with jacket")
    assert "Kept as <urn:mrag:concept:with-jacket>" in done.stderr and "mrag reason" in done.stderr
    assert learn(home, "concepts").stdout.startswith("with jacket  <urn:mrag:concept:with-jacket>\n")
    (found,) = json.loads(learn(home, "concepts", "--json").stdout)
    assert found["quality"] == 1.0 and found["learner"] == "search" and found["world"] == "open"
    assert found["comment"].startswith("Whatever shows")
    Graph().parse(data=learn(home, "concepts", "--format", "turtle").stdout, format="turtle")
    Graph().parse(data=learn(home, "concepts", "--format", "rdfxml").stdout, format="xml")
    call(home, "reason")
    rows = call(home, "query", "SELECT ?x { ?x a <urn:mrag:concept:with-jacket> }").stdout
    assert [f"p:photo{n}" in rows for n in range(1, 9)] == [True] * 4 + [False] * 4
    assert "with jacket" not in learn(home, "show", "with jacket", "--query").stdout
    learn(home, "forget", "with jacket")
    assert "No such concept" in learn(home, "forget", "with jacket", code=1).stderr
    call(home, "reason")


def test_negative_examples_are_drawn_where_none_are_given(home: Path) -> None:
    done = learn(home, "fit", *(f"-pp:photo{n}" for n in range(1, 5)))
    assert "No negative examples are given: 12 individuals drawn by seed 0" in done.stderr
    assert done.stdout == learn(home, "fit", *(f"-pp:photo{n}" for n in range(1, 5))).stdout


def test_a_definition_of_a_class_does_without_it(home: Path) -> None:
    done = learn(home, "fit", "--class", "p:Photo")
    assert "8 members of the class against 8 other individuals" in done.stderr
    assert done.stdout.splitlines()[0] == "∃ p:shows.⊤"


@pytest.mark.parametrize(("args", "words"), cases(__file__, "mistakes"))
def test_mistakes_are_told_in_one_line(home: Path, args: tuple[str, ...], words: str) -> None:
    done = learn(home, *args, code=1)
    assert words in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.count("mrag: ") == 1


def test_nothing_to_tell_apart_is_said(tmp_path: Path) -> None:
    (tmp_path / "twins.ttl").write_text(PHOTOS + "p:a a p:Hat . p:b a p:Hat .", encoding="utf-8")
    call(tmp_path, "load", "twins.ttl")
    done = learn(tmp_path, "fit", "-p", "p:a", "-n", "p:b", code=1)
    assert "No concept tells the positive from the negative examples" in done.stderr


def test_the_hits_of_a_question_are_reranked_by_the_concept(home: Path) -> None:
    done = learn(home, "rerank", "summer", "-k", "8", "--concept", "p:shows some p:Jacket")
    rows = [line.split() for line in done.stdout.splitlines() if "✓" in line or "✗" in line]
    assert [r[1] for r in rows] == ["✓"] * 4 + ["✗"] * 4
    assert [r[0] for r in rows] == [str(n) for n in range(1, 9)]
    found = json.loads(learn(home, "rerank", *COATS, "-k", "8", "--json").stdout)
    assert [h["in_concept"] for h in found["hits"]] == [True] * 4 + [False] * 4
    assert "QUESTION" in learn(home, "rerank", *LIKES, "-k", "3", code=2).stderr


def test_what_is_expected_of_other_examples_is_said(tmp_path: Path) -> None:
    # One of the others is a hat, too.
    kinds = "".join(
        f"<urn:x{n}> a <urn:{'Hat' if n < 6 or n == 11 else 'Skirt'}>, <urn:Thing> .\n" for n in range(12)
    )
    (tmp_path / "things.ttl").write_text(kinds, encoding="utf-8")
    call(tmp_path, "load", "things.ttl")
    examples = (("-p" if n < 6 else "-n", f"urn:x{n}") for n in range(12))
    done = learn(tmp_path, "fit", *chain.from_iterable(examples))
    assert "expected on other examples" in done.stdout
