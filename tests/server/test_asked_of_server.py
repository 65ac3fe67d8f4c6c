"""`mrag ask` has the server of its store answer, which then opens nothing itself."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.serving import command

DATA = """@prefix : <urn:x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat a rdfs:Class ; rdfs:label "boat" . :crew rdfs:label "crew" .
:a a :Boat ; rdfs:label "Anna" ; :crew 4 . :b a :Boat ; rdfs:label "Bella" ; :crew 9 .
"""


def mrag(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "mrag", *arguments]
    return subprocess.run(run, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "boats.ttl").write_text(DATA)
    assert mrag("load", str(tmp_path / "boats.ttl"), "--store", str(tmp_path / "store")).returncode == 0
    return str(tmp_path / "store")


def test_its_answers_are_those_of_the_command_itself(store: str) -> None:
    asked = [
        ("How many boats are there?", "--sparql"),
        ("boats with a crew of more than 5", "--explain-reading"),
    ]
    asked += [("Which boat is the best?", "--context"), ("How many boats are there?", "--json")]
    alone = [mrag("ask", *words, "--store", store) for words in asked]
    with command("--store", store) as (process, url):
        note = json.loads(Path(f"{store}.mrag/main/server.json").read_text())
        assert (note["url"], note["process"]) == (url, process.pid)
        for words, before in zip(asked, alone, strict=True):
            served = mrag("ask", *words, "--store", store)
            assert (served.returncode, served.stdout) == (before.returncode, before.stdout)
        refused = mrag("ask", "How many?", "--store", store, "-k", "1000")
        assert refused.returncode == 1 and "whole number from 1 to 50" in refused.stderr
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert not Path(f"{store}.mrag/main/server.json").exists()


def test_a_token_is_needed_where_the_server_asks_for_one(store: str) -> None:
    with command("--store", store, MRAG_TOKEN="a-long-secret"):
        refused = mrag("ask", "How many boats are there?", "--store", store, MRAG_TOKEN="")
        assert refused.returncode == 1 and "Set MRAG_TOKEN" in refused.stderr
        given = mrag("ask", "How many boats are there?", "--store", store, MRAG_TOKEN="a-long-secret")
        assert given.stdout.startswith("2 boats")


def test_what_a_killed_server_left_misleads_nobody(store: str) -> None:
    with command("--store", store) as (process, _):
        process.kill()
        process.wait(30)
    assert Path(f"{store}.mrag/main/server.json").exists()
    assert mrag("ask", "How many boats are there?", "--store", store).stdout.startswith("2 boats")
