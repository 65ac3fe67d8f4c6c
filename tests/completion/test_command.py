"""`mrag complete` as a person uses it, and broken off at any moment."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import mrag
from mrag.completion.review import accept, list_runs, propose, rollback
from mrag.graph.kg import KnowledgeGraph
from tests import commands
from tests.completion.towns import TOWNS, asks, labels, read
from tests.crash import Job, breaks, graph_state, mrag_in

QUESTION = "Where was Bob Stone born?"
BOB = "# Bob Stone\n\nHe was born in Ystad."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    articles(tmp_path, bob=BOB)
    with opened(tmp_path) as kg:
        kg.load([TOWNS])
        mrag.reason(kg)
    return tmp_path


def articles(folder: Path, **texts: str) -> None:
    (folder / "articles").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / "articles" / f"{name}.md").write_text(text, encoding="utf-8")


def opened(folder: Path) -> KnowledgeGraph:
    return mrag.connect(f"oxigraph:{folder / 'store'}")


def run(folder: Path, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("complete", verb, "--store", "store", *words, cwd=folder, MRAG_EMBEDDER="minilm")


def test_ask_review_accept_and_roll_back(folder: Path) -> None:
    asked = run(folder, "ask", QUESTION, "--texts", "articles")
    assert asked.returncode == 0, asked.stderr
    assert "Ystad [t1]." in asked.stdout and "He was born in Ystad." in asked.stdout
    assert "Nothing is written yet" in asked.stderr
    listed = run(folder, "review")
    assert "+ Bob Stone | born in | Ystad" in listed.stdout and "bob.md" in listed.stdout
    [waiting] = json.loads(run(folder, "review", "--json").stdout)["runs"]
    taken = run(folder, "accept", waiting["id"])
    assert "is accepted, 2 triples written" in taken.stdout, taken.stderr
    assert run(folder, "review").stdout == "Nothing awaits a decision.\n"
    alone = json.loads(run(folder, "ask", QUESTION, "--json").stdout)["questions"][0]
    assert alone["answers"] == ["Ystad"] and alone["completed"] == []
    back = run(folder, "rollback", "last")
    assert "2 triples removed" in back.stdout
    every = json.loads(run(folder, "review", "--all", "--json").stdout)["runs"]
    assert [one["state"] for one in every] == ["rolled back"]


def test_accepted_it_is_under_the_checks_that_it_was_asked_under(folder: Path) -> None:
    articles(folder, ada="Ada Hill lives in Lund.")
    words = ("Where does Ada Hill live in?", "--texts", "articles", "--always")
    strict = run(folder, "ask", *words, "--functional", "http://example.org/livesIn")
    assert "has one value only" in " ".join(strict.stderr.split())
    assert "checked for one value of lives in" in run(folder, "review").stdout
    taken = run(folder, "accept", "last")
    assert "triples written" not in taken.stdout and "has one value only" in " ".join(taken.stderr.split())


def test_a_contradiction_is_told_and_not_written(folder: Path) -> None:
    articles(folder, ada="Ada Hill was born in Visby.")
    asked = run(folder, "ask", "Where was Ada Hill born?", "--texts", "articles", "--always", "--accept-all")
    assert asked.returncode == 0
    assert "born in has one value only, and it is Lund" in " ".join(asked.stderr.split())
    with opened(folder) as kg:
        assert not asks(kg, ":ada :bornIn :visby")


def test_several_questions_at_once_and_again(folder: Path) -> None:
    words = (QUESTION, "Where does Bob Stone live in?", "--texts", "articles", "--accept-all", "--json")
    first = json.loads(run(folder, "ask", *words).stdout)["questions"]
    assert [one["entered"] for one in first] == [2, 0]
    again = json.loads(run(folder, "ask", *words).stdout)["questions"]
    assert [one["entered"] for one in again] == [0, 0]


def test_what_cannot_be_done_is_said(folder: Path) -> None:
    asked = ("ask", QUESTION, "--texts")
    for words, code, said in (
        (("ask",), 2, "QUESTION"),
        ((*asked, "nowhere"), 1, "no such folder"),
        (("accept", "zzz"), 1, "No run is called"),
        ((*asked, "articles", "--model", "local:none.gguf"), 1, "no file"),
    ):
        done = run(folder, *words)
        assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr


def test_help_has_examples(folder: Path) -> None:
    assert "mrag complete review" in run(folder, "review", "--help").stdout
    assert "--accept-all" in run(folder, "ask", "--help").stdout


@pytest.mark.slow
def test_interrupted_it_goes_on_where_it_was(folder: Path) -> None:
    """Ctrl-C between questions: what was done is done, and the same command does the rest."""
    names = [f"P{n} Stone" for n in range(12)]
    with opened(folder) as kg:
        kg.insert(labels(**{f"p{n}": name for n, name in enumerate(names)}))
    articles(folder, **{str(n): f"{name} was born in Lund." for n, name in enumerate(names)})
    questions = [f"Where was {name} born?" for name in names]
    command = [sys.executable, "-m", "mrag", "complete", "ask", "--store", "store", *questions,
               "--texts", "articles", "--accept-all"]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        while process.poll() is None and b"Answering" not in (folder / "log").read_bytes():
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
    assert code in (0, 130, -signal.SIGINT), (folder / "log").read_text()
    done = run(folder, "ask", *questions, "--texts", "articles", "--accept-all", "--json")
    assert done.returncode == 0, done.stderr
    answers = [one["answers"] for one in json.loads(done.stdout)["questions"]]
    assert answers == [["Lund"]] * len(names)
    with opened(folder) as kg:
        assert {r.state for r in list_runs(kg)} == {"accepted"} and len(list_runs(kg)) == len(names)


COUNT = 150


def stored(folder: Path) -> None:
    """Make a store of the towns, reasoned over and indexed."""
    mrag_in(folder, "load", str(TOWNS), "--store", "store")
    mrag_in(folder, "index", "--embedder", "none", "--store", "store")


def prepared(folder: Path) -> str:
    """Make a store with a proposed run, reasoned over and indexed, and return the run's id."""
    folder.mkdir()
    stored(folder)
    with opened(folder) as kg:
        many = [read("ada", "livesIn", "lund"), *(read("bob", "knows", f"p{n:05d}") for n in range(COUNT))]
        run = propose(kg, "Whom?", many, model="hand")
        return run.id


def reasoned_after(written: Callable[[Path], None]) -> Callable[[Path], None]:
    """What reasons in a folder too, where something was written."""

    def reasoned(folder: Path) -> None:
        written(folder)
        with opened(folder) as kg:
            mrag.reason(kg)

    return reasoned


@pytest.mark.slow
@pytest.mark.parametrize("what", ["accept", "rollback"])
def test_a_decision_is_broken_off(tmp_path: Path, what: str) -> None:
    made = tmp_path / "made"
    run = prepared(made)
    if what == "rollback":
        mrag_in(made, "complete", "accept", run, "--store", "store")

    def prepare(folder: Path) -> None:
        shutil.copytree(made, folder, dirs_exist_ok=True)

    def written(folder: Path) -> None:
        with opened(folder) as kg:
            (accept if what == "accept" else rollback)(kg, run, update=False)

    breaks(
        Job(
            f"complete {what}",
            ("complete", what, run, "--store", "store"),
            prepare,
            halfway=[written, reasoned_after(written)],
            works=[
                ("query", "ASK { ?s ?p ?o }", "--store", "store"),
                ("search", "Ada Hill", "--store", "store"),
                ("complete", "review", "--all", "--json", "--store", "store"),
            ],
            campaign=what == "rollback",
        ),
        tmp_path / "jobs",
        disk=True,
    )


def test_a_question_that_is_answered_and_accepted_is_broken_off(tmp_path: Path) -> None:
    words = ("complete", "ask", QUESTION, "--texts", "articles", "--embedder", "none", "--store", "store")

    def prepare(folder: Path) -> None:
        stored(folder)
        articles(folder, bob=BOB, **{str(n): f"# P{n} Stone\n\nHe was born in Lund." for n in range(40)})

    def proposed(folder: Path) -> None:
        mrag_in(folder, *words)

    def written(folder: Path) -> None:
        proposed(folder)
        with opened(folder) as kg:
            [run] = list_runs(kg)
            accept(kg, run, update=False)

    reasoned = reasoned_after(written)

    def again(folder: Path) -> None:
        with opened(folder) as kg:
            assert [run.state for run in list_runs(kg)] == ["accepted"]
        mrag_in(folder, *words, "--accept-all")

    for number, bring in enumerate((written, reasoned)):
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(folder)
        bring(folder)
        again(folder)
        state = graph_state(folder)
        assert state["reasoned"] and not state["indexes"]["main"][1]

    job = Job(
        "complete ask --accept-all", (*words, "--accept-all"), prepare, halfway=[proposed, written, reasoned],
        campaign=True,
    )  # fmt: skip
    breaks(job, tmp_path, disk=True)
