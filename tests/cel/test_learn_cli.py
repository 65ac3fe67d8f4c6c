"""`mrag learn`: one call as a user makes it, the others in this process to save its start."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from rdflib import Graph

from mrag.cli import main
from tests.cases import cases
from tests.cel.test_summary import Start
from tests.commands import run

E = "http://example.org/photos/"
TURTLE = """
@prefix p: <http://example.org/photos/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
p:Blazer rdfs:subClassOf p:Jacket . p:Jacket rdfs:label "jacket" . p:shows rdfs:label "shows" .
"""


def _photo(n: int, garment: str, text: str) -> str:
    return (
        f'p:photo{n} a p:Photo ; rdfs:label "photo {n}" ; rdfs:comment "{text}" ; p:shows p:item{n} .\n'
        f"p:item{n} a p:{garment} .\n"
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    garments = ["Blazer", "Jacket", "Blazer", "Jacket", "Skirt", "Hat", "Skirt", "Hat"]
    texts = ["a tailored coat in the city"] * 4 + ["summer at the beach"] * 4
    rows = [_photo(n, g, t) for n, (g, t) in enumerate(zip(garments, texts, strict=True), start=1)]
    (folder / "photos.ttl").write_text(TURTLE + "".join(rows), encoding="utf-8")
    (folder / "likes.txt").write_text("p:photo1\n\np:photo2\n", encoding="utf-8")
    (folder / "dislikes.txt").write_text(f"{E}photo5\n<{E}photo6>\n", encoding="utf-8")
    with contextlib.chdir(folder):
        call("load", "photos.ttl")
        call("index")
    return folder


@dataclass(frozen=True)
class Done:
    stdout: str
    stderr: str


def call(*args: str, code: int = 0) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["mrag", *args])
        patch.setenv("COLUMNS", "100")
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    assert (ended.value.code or 0) == code, (args, out.getvalue(), err.getvalue())
    return Done(out.getvalue(), err.getvalue())


def learn(home: Path, *args: str, code: int = 0) -> Done:
    with contextlib.chdir(home):
        return call("learn", *args, code=code)


COATS = ("tailored coat in the city", "--top", "3", "--bottom", "3")
LIKES = ("--positives", "likes.txt", "--negatives", "dislikes.txt")


def test_a_concept_from_examples_by_file(home: Path) -> None:
    done = run("learn", "fit", *LIKES, cwd=home)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "∃ p:shows.p:Jacket"
    assert lines[1].startswith("Whatever shows") and lines[1].endswith(
        "jacket: 2 of your 2 examples, 0 of 2 others."
    )
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
    with contextlib.chdir(home):
        rows = call("query", "jackets.rq").stdout.splitlines()
    assert len(rows) == 5 and rows[0] == "?x"
    assert learn(home, "fit", *LIKES, "--format", "manchester").stdout.startswith("p:shows some p:Jacket\n")
    turtle = learn(home, "show", "p:shows some p:Jacket", "--format", "turtle").stdout
    assert "owl:someValuesFrom p:Jacket" in turtle
    assert len(Graph().parse(data=turtle, format="turtle")) == 3


def test_learning_from_a_search(home: Path) -> None:
    done = learn(home, "fit", "--question", "tailored coat in the city", "--top", "3", "--bottom", "3")
    assert "3 of your 3 examples, 0 of 3 others" in done.stdout


@pytest.mark.parametrize("learner", ["search", "celoe", "ocel", "tdl", "evolearner"])
def test_every_learner_by_name(home: Path, learner: str) -> None:
    assert "f1 1.000" in learn(home, "fit", *LIKES, "--learner", learner, "--seconds", "3").stdout


def test_why_and_why_not(home: Path) -> None:
    done = learn(home, "explain", "∃ p:shows.p:Jacket", "p:photo1")
    assert "✓ photo 1: ∃ shows.jacket" in done.stdout
    assert "[inferred]" in done.stdout and "[asserted]" in done.stdout
    done = learn(home, "fit", *LIKES, "--explain", "p:photo5")
    assert "would be in the result\n  if it were stated: " in done.stdout
    found = json.loads(learn(home, "fit", *LIKES, "--explain", "p:photo5", "--json").stdout)
    assert found["explanation"]["satisfied"]["holds"] is False
    missing = found["explanation"]["why_not"]
    assert missing["verified"] is True and len(missing["changes"]) == 1


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
    with contextlib.chdir(home):
        call("reason")
        rows = call("query", "SELECT ?x { ?x a <urn:mrag:concept:with-jacket> }").stdout
    assert [f"p:photo{n}" in rows for n in range(1, 9)] == [True] * 4 + [False] * 4
    assert "with jacket" not in learn(home, "show", "with jacket", "--query").stdout
    learn(home, "forget", "with jacket")
    assert "No such concept" in learn(home, "forget", "with jacket", code=1).stderr
    with contextlib.chdir(home):
        call("reason")


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
    (tmp_path / "twins.ttl").write_text(TURTLE + "p:a a p:Hat . p:b a p:Hat .", encoding="utf-8")
    with contextlib.chdir(tmp_path):
        call("load", "twins.ttl")
        done = call("learn", "fit", "-p", "p:a", "-n", "p:b", code=1)
    assert "No concept tells the positive from the negative examples" in done.stderr


def test_the_hits_of_a_question_are_reranked_by_the_concept(home: Path) -> None:
    done = learn(home, "rerank", "summer", "-k", "8", "--concept", "p:shows some p:Jacket")
    rows = [line.split() for line in done.stdout.splitlines() if "✓" in line or "✗" in line]
    assert [r[1] for r in rows] == ["✓"] * 4 + ["✗"] * 4
    assert [r[0] for r in rows] == [str(n) for n in range(1, 9)]
    found = json.loads(learn(home, "rerank", *COATS, "-k", "8", "--json").stdout)
    assert [h["in_concept"] for h in found["hits"]] == [True] * 4 + [False] * 4
    assert "QUESTION" in learn(home, "rerank", *LIKES, "-k", "3", code=2).stderr


def test_a_summary_by_a_model_orders_the_hits(home: Path, ollama: Start) -> None:
    server = ollama(lambda messages: "A summary.")
    asked = ("rerank", *COATS, "-k", "8", "--model", "ollama:asker", "--json")
    found = json.loads(learn(home, *asked).stdout)
    assert [path for path, _ in server.requests].count("/api/chat") == 1
    assert [h["in_concept"] for h in found["hits"]] == [True] * 4 + [False] * 4


def test_what_is_expected_of_other_examples_is_said(home: Path) -> None:
    done = learn(home, "fit", *LIKES, "--learner", "m-of-n")
    assert "expected on other examples" in done.stdout
