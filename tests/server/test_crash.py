"""A server that is killed amid a stream of updates: what it acknowledged is there, the rest whole or not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from tests.conftest import PRODUCTS, ROOT
from tests.crash import SEED, TRIES, end_group, mrag_in

PARTS = 40


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], str]:
    command = [sys.executable, "-m", "mrag", "serve", "--port", "0", "--update", "--workers", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--store", "store", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MRAG_MODEL": "none"},
            start_new_session=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    assert line.startswith("SPARQL"), (folder / "log").read_text()
    return process, line.split()[1].removesuffix("/sparql")


class Stream(threading.Thread):
    """Sends updates, each of so many triples and a counter, until the server is gone.

    Attributes:
        sent: How many were sent.
        acknowledged: How many of them the server has acknowledged.
        refused: What it answered else.
    """

    def __init__(self, url: str, name: str) -> None:
        super().__init__()
        self.url, self.who = url, name
        self.sent = self.acknowledged = 0
        self.refused: list[str] = []

    def run(self) -> None:
        with httpx.Client(timeout=30) as client:
            while True:
                self.sent += 1
                parts = ", ".join(map(str, range(PARTS)))
                counter = f"<urn:{self.who}> <urn:at>"
                text = (
                    f"DELETE {{ {counter} ?n }} INSERT {{ {counter} {self.sent} }} "
                    f"WHERE {{ OPTIONAL {{ {counter} ?n }} }} ; "
                    f"INSERT DATA {{ <urn:{self.who}:{self.sent}> <urn:part> {parts} }}"
                )
                try:
                    answer = client.post(f"{self.url}/update", data={"update": text})
                except httpx.HTTPError:
                    return
                if answer.status_code != 204:
                    self.refused.append(answer.text)
                    return
                self.acknowledged = self.sent


@pytest.mark.slow
@pytest.mark.parametrize("number", range(TRIES or 1))
def test_what_was_acknowledged_is_there(tmp_path: Path, number: int) -> None:
    dice = random.Random(f"{SEED} serve {number}")
    mrag_in(tmp_path, "load", str(PRODUCTS), "--store", "store")
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        asserted = kg.count()
    process, url = started(tmp_path, *(["--reason"] if dice.random() < 0.3 else []))
    try:
        streams = [Stream(url, name) for name in ("one", "two")]
        for stream in streams:
            stream.start()
        wanted, deadline = dice.randint(1, 12), time.monotonic() + 60
        while streams[0].acknowledged < wanted and time.monotonic() < deadline:
            time.sleep(0.0005)
        time.sleep(dice.random() * 0.03)
        os.killpg(process.pid, signal.SIGKILL)
        for stream in streams:
            stream.join(40)
            assert not stream.is_alive() and not stream.refused, stream.refused
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
    assert streams[0].acknowledged or streams[1].acknowledged
    done = CliRunner().invoke(app, ["doctor", "--json", "--store", str(tmp_path / "store")])
    assert all(finding["ok"] is not False or finding["hint"] for finding in json.loads(done.stdout)), (
        done.output
    )
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        rows = kg.query("SELECT ?s (COUNT(?o) AS ?n) { ?s <urn:part> ?o } GROUP BY ?s")
        found = {str(s): int(str(n)) for s, n in rows}  # type: ignore[union-attr,misc]
        at = {str(s): int(str(n)) for s, n in kg.query("SELECT ?s ?n { ?s <urn:at> ?n }")}  # type: ignore[union-attr,misc]
        more = 0
        for stream in streams:
            name = f"urn:{stream.who}"
            there = [n for n in range(1, stream.sent + 1) if f"{name}:{n}" in found]
            assert there in ([*range(1, stream.acknowledged + 1)], [*range(1, stream.sent + 1)])
            assert all(found[f"{name}:{n}"] == PARTS for n in there)
            assert at.get(name, 0) == len(there), "the counter belongs to the triples"
            more += len(there) * PARTS + (name in at)
        assert kg.record.triples == kg.count() == asserted + more
    process, url = started(tmp_path)
    try:
        size = httpx.get(f"{url}/repositories/main/size", timeout=30).text
        assert int(size) >= asserted + more
        assert (
            httpx.post(f"{url}/update", data={"update": "INSERT DATA { <urn:a> <urn:b> 1 }"}).status_code
            == 204
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
