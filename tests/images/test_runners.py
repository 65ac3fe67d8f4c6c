"""The journal by itself, and runners: threads, and a real Ray where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mrag.errors import ConfigError, LoadError
from mrag.images.enrichment.journal import EnrichmentJournal, JournalEntry
from mrag.images.enrichment.runners import RayRunner
from tests.images.conftest import E, turtle
from tests.images.seeing_server import SeeingServer


def entry(number: int) -> JournalEntry:
    return JournalEntry(
        f"urn:i{number}", "", "A\r\ncoat \u2028 \\ ü.", "m", "p", "{}", "2026-01-01T00:00:00Z", "mrag", "0"
    )


def test_a_journal_cut_off_anywhere_keeps_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "j" / "descriptions.jsonl"
    with (journal := EnrichmentJournal(path)).opened():
        for number in range(3):
            journal.append(entry(number))
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for cut in (0, 1, 9, ends[0] - 1, ends[0], ends[0] + 1, ends[1] - 1, ends[2] - 1, ends[2]):
        path.write_bytes(data[:cut])
        with (journal := EnrichmentJournal(path)).opened():
            whole = sum(end <= cut for end in ends)
            assert journal.entries == [entry(n) for n in range(whole)] and journal.damaged == 0
            journal.append(entry(9))
        with (journal := EnrichmentJournal(path)).opened():
            assert journal.entries[-1] == entry(9) and len(journal.entries) == whole + 1


def test_a_damaged_line_is_counted_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "descriptions.jsonl"
    with (journal := EnrichmentJournal(path)).opened():
        journal.append(entry(1))
        journal.append(entry(2))
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(b"rubbish\n" + data)
    with (journal := EnrichmentJournal(path)).opened():
        assert journal.entries == [entry(2)] and journal.damaged == 2


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "descriptions.jsonl").mkdir()
    with (
        pytest.raises(LoadError, match="journal"),
        EnrichmentJournal(tmp_path / "descriptions.jsonl").opened(),
    ):
        pass


@pytest.mark.slow
def test_ray_gives_the_same_graph(photos: Path, tmp_path: Path, seeing: SeeingServer) -> None:
    if find_spec("ray") is None:
        with pytest.raises(ConfigError, match="Ray is not installed"):
            RayRunner()
        pytest.skip("Ray is not installed (pip install 'mrag[ray]')")
    # In a process of its own: Ray starts servers, and its warnings are not ours.
    (tmp_path / "g.ttl").write_text(turtle(), encoding="utf-8")
    program = """
import json, sys
from pathlib import Path
import mrag
from mrag.images.enrichment.enrich import describe
from mrag.images.graph import image_texts
from mrag.images.enrichment.runners import RayRunner
from mrag.images.enrichment.settings import EnrichSettings

found = []
for runner in (RayRunner(2), None):
    with mrag.connect() as kg:
        kg.load(["g.ttl"])
        Path("photos/black.png").write_bytes(b"broken")
        report = describe(kg, "ollama:llava", folder="photos", settings=EnrichSettings(), runner=runner)
        triples = sorted(map(str, (q for g in kg.record.asserted for q in kg.store.edges(g))))
        triples = [t for t in triples if "generatedAtTime" not in t]
        found.append((report.described, report.kinds(), triples))
print(json.dumps(found))
"""
    environment = {**os.environ, "RAY_DISABLE_IMPORT_WARNING": "1", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    ray, threads = json.loads(done.stdout.splitlines()[-1])
    assert ray == threads
    assert ray[0] == 5 and ray[1] == {"picture": 1}
    assert sum(f"<{E}hasLLMDescription>" in triple for triple in ray[2]) == 5
