"""An enrichment that is killed again and again ends with the same graph as one that is not."""

import io
import json
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import StoreLocked
from mrag.images.enrichment import PROV, journal_of
from mrag.images.graph import described
from tests.crash import Campaign, Job, breaks, graph_state, program
from tests.images.seeing_server import SeeingServer, llava

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")

COUNT = 24


def rgb(data: bytes) -> tuple[int, ...]:
    return tuple(Image.open(io.BytesIO(data)).convert("RGB").getpixel((0, 0)))  # type: ignore[arg-type]


def said(data: bytes) -> str:
    return f'A garment in {rgb(data)},\n"plain" \\ ünïcode.'


@pytest.fixture(scope="module")
def server() -> Iterator[SeeingServer]:
    with llava(say=said, delay=0.05) as running:
        yield running


def store_in(folder: Path) -> Path:
    """Make a store of so many images, each of a colour of its own, and close it."""
    lines = ["@prefix : <http://example.org/> ."]
    (folder / "photos").mkdir(parents=True)
    for number in range(COUNT):
        colour = (number, 255 - number, 7 * number % 256)
        Image.new("RGB", (8, 8), colour).save(folder / f"photos/{number}.png")
        lines.append(f':image_{number} a :Image ; :hasFileName "{number}.png" .')
    (folder / "g.ttl").write_text("\n".join(lines), encoding="utf-8")
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        kg.load([folder / "g.ttl"])
    return folder


PROGRAM = "import mrag.images.enrichment as e; e._FLUSH_ENTRIES = 2; from mrag.cli import main; main()"
"""The command, with small batches, so that the graph is written to often."""


def state(folder: Path) -> dict[str, Any]:
    """What the store holds, and how often the journal has which image."""
    found: dict[str, Any] = graph_state(folder)
    path = folder / "store.mrag" / "main" / "images" / "descriptions.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    journal = Counter(str(json.loads(line.partition(b" ")[2])["image"]) for line in lines)
    return {**found, "journal": dict(sorted(journal.items()))}


def between(found: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Some images are described, each whole; of what is in the graph nothing is missing in the journal."""
    rest = {"layers": None, "journal": None}
    lines = found["layers"].get("enriched", [])
    described = {line.split()[0] for line in lines if "hasLLMDescription" in line}
    parts = (f"{PROV}wasGeneratedBy", f"{PROV}generatedAtTime")
    whole = [sum(part in line for line in lines) for part in parts]
    return (
        {**found, **rest} == {**before, **rest}
        and found["layers"]["asserted"] == before["layers"]["asserted"]
        and set(lines) <= set(after["layers"]["enriched"])
        and whole == [len(described)] * 2
        and described <= {f"<{image}>" for image in found["journal"]}
        and set(found["journal"].values()) <= {1}
    )


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, server: SeeingServer) -> Campaign:
    """The command, run undisturbed once."""
    words = program(PROGRAM, "describe", "photos", "--store", "oxigraph:store", "--workers", "3", "--json")
    job = Job("describe", words, store_in, state, between=between, environment={"OLLAMA_HOST": server.url})
    return Campaign(job, tmp_path_factory.mktemp("describe"))


@pytest.mark.slow
def test_broken_off_at_any_moment_and_gone_on(campaign: Campaign) -> None:
    breaks(campaign.job, campaign.folder, disk=True, campaign=campaign)
    assert campaign.after["journal"] == {f"http://example.org/image_{n}": 1 for n in range(COUNT)}
    assert len(campaign.after["layers"]["enriched"]) > 5 * COUNT


@pytest.mark.slow
def test_ctrl_c_tells_how_many_were_described(campaign: Campaign, server: SeeingServer) -> None:
    server.asked.clear()
    folder = campaign.copied("stopped")
    done = campaign.run(folder, lambda seconds, changes: len(server.asked) >= 8, signal.SIGINT)
    assert done.code == 130 and "mrag: interrupted. What was described is kept." in done.said
    report = json.loads(done.said[done.said.index("{") : done.said.rindex("}") + 1])
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

        def try_it() -> None:
            with second.opened():
                pass

        with first.opened(), ThreadPoolExecutor(1) as pool:
            assert isinstance(pool.submit(try_it).exception(10), StoreLocked)
