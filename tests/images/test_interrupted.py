"""An enrichment that is killed again and again ends with the same graph as one that is not."""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

import mrag
from mrag.errors import StoreLocked
from mrag.images.enrich import journal_of
from mrag.images.graph import described
from mrag.images.writing import PROV
from tests.images.seeing_server import SeeingServer, llava

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")

COUNT = 24


def rgb(data: bytes) -> tuple[int, ...]:
    return tuple(Image.open(io.BytesIO(data)).convert("RGB").getpixel((0, 0)))  # type: ignore[arg-type]


def said(data: bytes) -> str:
    return f'A garment in {rgb(data)},\n"plain" \\ ünïcode.'


@pytest.fixture
def server() -> Iterator[SeeingServer]:
    with llava(say=said, delay=0.05) as running:
        yield running


def store_in(folder: Path) -> Path:
    """Make a store of so many images, each of a colour of its own, and close it."""
    lines = ["@prefix : <http://example.org/> ."]
    (folder / "photos").mkdir(parents=True)
    for number in range(COUNT):
        Image.new("RGB", (8, 8), (number, 255 - number, 7 * number % 256)).save(
            folder / f"photos/{number}.png"
        )
        lines.append(f':image_{number} a :Image ; :hasFileName "{number}.png" .')
    (folder / "g.ttl").write_text("\n".join(lines), encoding="utf-8")
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        kg.load([folder / "g.ttl"])
    return folder


def started(folder: Path, server: SeeingServer) -> subprocess.Popen[bytes]:
    # Small batches, so that the graph is written to often.
    program = "import mrag.images.enrich as e; e._FLUSH_ENTRIES = 2; from mrag.cli import main; main()"
    command = [sys.executable, "-c", program, "describe", "photos", "--store", "oxigraph:store"]
    environment = {**os.environ, "OLLAMA_HOST": server.url}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [*command, "--workers", "3", "--json"], cwd=folder, env=environment, stdout=log, stderr=log
        )


def canonical(folder: Path) -> str:
    """Write all graphs as canonical N-Quads (there are no blank nodes), times apart."""
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        assert kg.recovered is None
        quads = [q for g in kg.record.asserted for q in kg.store.edges(g)]
        assert kg.record.triples == kg.count("asserted") == len(quads)
    for quad in quads:
        assert not isinstance(quad.subject, ox.BlankNode) and not isinstance(quad.object, ox.BlankNode)
    text = "".join(line + "\n" for line in sorted(f"{quad} ." for quad in quads))
    times = rf'(<{PROV}generatedAtTime> )"[^"]+"'
    assert len(re.findall(times, text)) == COUNT
    return re.sub(times, r'\1"then"', text)


@pytest.mark.slow
def test_killed_at_random_points_the_graph_is_the_same(tmp_path: Path, server: SeeingServer) -> None:
    whole = store_in(tmp_path / "whole")
    assert started(whole, server).wait(60) == 0
    assert len(server.asked) == COUNT

    broken = store_in(tmp_path / "broken")
    dice = random.Random(7)
    kills = 0
    while True:
        server.asked.clear()
        wanted = dice.randrange(2, 5)
        process = started(broken, server)
        while process.poll() is None and (kills >= 3 or len(server.asked) < wanted):
            time.sleep(0.002)
        if process.poll() is not None:
            assert process.returncode == 0, (broken / "log").read_text()
            break
        time.sleep(dice.random() * 0.05)
        process.send_signal(signal.SIGTERM if kills == 1 else signal.SIGKILL)
        process.wait(30)
        kills += 1
    # The rest may be done before the third comes.
    assert kills >= 2
    assert canonical(broken) == canonical(whole)
    with mrag.connect(f"oxigraph:{broken / 'store'}") as kg, journal_of(kg).opened() as journal:
        counted = Counter(entry.subject for entry in journal.entries)
        assert len(counted) == COUNT and set(counted.values()) == {1}


def test_ctrl_c_keeps_what_was_described(tmp_path: Path, server: SeeingServer) -> None:
    folder = store_in(tmp_path / "one")
    process = started(folder, server)
    while process.poll() is None and len(server.asked) < 8:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    log = (folder / "log").read_text()
    report = json.loads(log[log.index("{") : log.rindex("}") + 1])
    assert report["interrupted"] and 0 < report["described"] < COUNT
    assert report["described"] + report["left"] == COUNT
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        assert len(described(kg)) == report["described"]


def test_two_at_once_are_refused(tmp_path: Path, server: SeeingServer) -> None:
    folder = store_in(tmp_path / "one")
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        first, second = journal_of(kg), journal_of(kg)
        with first.opened(), pytest.raises(StoreLocked, match="Another process"), second.opened():
            pass
        failed: list[BaseException] = []

        def try_it() -> None:
            try:
                with second.opened():
                    pass
            except StoreLocked as error:
                failed.append(error)

        with first.opened():
            thread = threading.Thread(target=try_it)
            thread.start()
            thread.join(10)
        assert len(failed) == 1
