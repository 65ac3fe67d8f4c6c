"""Opening for reading makes nothing, and says what there is; a load that fails leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import mrag
from mrag.errors import ConfigError, LoadError
from tests.cases import cases
from tests.commands import run

READING = cases(__file__, "READING")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "good.ttl").write_text("<urn:a> <urn:p> 'text' .", encoding="utf-8")
    (tmp_path / "bad.ttl").write_text("<urn:a> <urn:p>", encoding="utf-8")
    return tmp_path


def files(home: Path) -> set[str]:
    return {p.name for p in home.iterdir() if p.suffix == ".db" or p.name == "wrong"}


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_reading_makes_no_store_and_names_those_there_are(home: Path, command: tuple[str, ...]) -> None:
    assert run("load", "--store", "right.db", "good.ttl", cwd=home).returncode == 0
    for wrong in ("wrong", "."):
        done = run(command[0], "--store", wrong, *command[1:], cwd=home)
        assert done.returncode == 1
        assert "no store in this folder" in done.stdout + done.stderr or "no such store" in (
            done.stdout + done.stderr
        )
        assert "right.db" in done.stdout + done.stderr
    assert files(home) == {"right.db"}
    assert not (home / "CURRENT").exists()


def test_a_wrong_name_is_told_which_there_are(home: Path) -> None:
    store = ("--store", "right.db")
    assert run("load", *store, "good.ttl", cwd=home).returncode == 0
    assert run("load", *store, "--kg", "other", "good.ttl", cwd=home).returncode == 0
    done = run("ask", *store, "--kg", "nope", "Who?", cwd=home)
    assert done.returncode == 1
    assert "no knowledge graph 'nope'" in done.stderr
    assert "main (1 triples), other (1 triples)" in done.stderr


@pytest.mark.parametrize("content", ["<urn:a> <urn:p>", None])
def test_a_load_that_fails_leaves_nothing(home: Path, content: str | None) -> None:
    failed = run("load", "bad.ttl" if content else "missing.ttl", cwd=home)
    assert failed.returncode == 1
    assert files(home) == set()
    assert run("load", "--store", "new.db", "bad.ttl", cwd=home).returncode == 1
    assert files(home) == set()


def test_a_load_that_fails_leaves_what_was_there(home: Path) -> None:
    assert run("load", "good.ttl", cwd=home).returncode == 0
    assert run("load", "bad.ttl", cwd=home).returncode == 1
    with mrag.connect(str(home / "mrag.db"), create=False) as kg:
        assert kg.count() == 1


def test_a_store_of_nothing_says_so(home: Path) -> None:
    with mrag.connect(str(home / "mrag.db")) as kg, pytest.raises(LoadError):
        kg.load([home / "bad.ttl"])
    done = run("ask", "Who?", cwd=home)
    assert done.returncode == 1 and "holds no knowledge graph" in done.stderr


def test_in_python_it_is_a_choice(home: Path) -> None:
    with pytest.raises(ConfigError, match="no such store"):
        mrag.connect(f"oxigraph:{home / 'wrong'}", create=False)
    assert files(home) == set()
    mrag.connect(f"oxigraph:{home / 'wrong'}").close()
    with pytest.raises(ConfigError, match="holds no knowledge graph"):
        mrag.connect(f"oxigraph:{home / 'wrong'}", create=False)
