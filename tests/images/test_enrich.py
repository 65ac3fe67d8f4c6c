"""Enrichment against a server of Ollama's protocol that sees the picture; killed, it goes on where it was."""

import io
import json
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rdflib import URIRef

import mrag
from mrag.context import ContextSettings, expand
from mrag.context.render import render, triple_json
from mrag.errors import ConfigError, LoadError, ModelError, StoreLocked
from mrag.generation.result import Citation
from mrag.graph.kg import KnowledgeGraph
from mrag.images import enrichment
from mrag.images.answer import ImageTextRanker
from mrag.images.enrichment import PROMPTS, PROV, EnrichSettings, describe
from mrag.images.files import PictureLimits
from mrag.images.graph import described_images, image_texts
from mrag.jobs import ThreadRunner
from mrag.rdf import queries
from mrag.reasoning.run import reason
from mrag.retrieval.rankers import Question
from mrag.storage.files import RunJournal
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.conftest import opened, slow
from tests.crash import Campaign, Job, breaks, graph_state, program
from tests.generation.ollama_server import ProtocolError
from tests.images.conftest import ANNOTATIONS, GARMENTS, WARDROBE, E, draw
from tests.images.seeing_server import SeeingServer, llava, said_of
from tests.servers import server_of

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")


@dataclass
class Gallery:
    """A graph of images, their pictures, and a model that sees."""

    kg: KnowledgeGraph
    photos: Path
    server: SeeingServer

    def describe(self, model: str | None = None, **more: Any) -> enrichment.EnrichReport:
        names = more.keys() & {"journal", "boxes_from", "stop", "on_progress"}
        own = {name: more.pop(name) for name in names}
        settings = EnrichSettings(**{"back_off": 0.01, **more})
        return describe(self.kg, model, folder=self.photos, settings=settings, **own)


@pytest.fixture
def gallery(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> Gallery:
    return Gallery(wardrobe, photos, seeing)


def texts(kg: KnowledgeGraph) -> dict[str, tuple[str, ...]]:
    return {one.image.removeprefix(E): one.generated for one in image_texts(kg)}


def test_each_image_is_described_by_what_it_shows(gallery: Gallery) -> None:
    notes: list[enrichment.EnrichProgress] = []
    before = gallery.kg.record.asserted[0], gallery.kg.revision
    report = gallery.describe(on_progress=notes.append)
    assert (report.described, report.failures, report.left, report.interrupted) == (6, (), 0, False)
    found = texts(gallery.kg)
    for number, colour in enumerate(GARMENTS, start=1):
        (text,) = found[f"image_{number}"]
        assert text == f'A {colour} garment, "plain", worn in \\summer\\.'
    assert [n.described for n in notes][-1] == 6
    body = gallery.server.asked[0]
    assert body["messages"][0]["content"].strip() == PROMPTS["fashion"]
    assert (body["options"]["temperature"], body["options"]["seed"]) == (0.1, 1)
    assert gallery.kg.record.asserted[0] == before[0] and gallery.kg.revision > before[1]
    assert gallery.kg.graphs_of("enriched") == (report.graph,)
    assert gallery.kg.record.triples == gallery.kg.count("asserted")


def test_the_description_is_kept_letter_by_letter_with_its_provenance(gallery: Gallery) -> None:
    report = gallery.describe("ollama:llava")
    rows = gallery.kg.select(queries.get("image/provenance").text)
    assert len(rows) == 6
    for subject, text, model, time, prompt in rows:
        picture = gallery.photos / f"{GARMENTS[int(str(subject)[-1]) - 1]}.png"
        assert str(text) == said_of(picture.read_bytes())
        assert (str(model), str(prompt)) == ("ollama:llava:latest", PROMPTS["fashion"])
        assert str(time).endswith("Z")
    [(asked,)] = gallery.kg.query("SELECT ?o { ?a a prov:Activity ; rdfs:comment ?o }")  # type: ignore[misc, union-attr]
    assert json.loads(str(asked)) == {"max_side": 1024, "seed": 1, "temperature": 0.1}
    graph = report.graph
    assert gallery.kg.query(f"ASK {{ GRAPH <{graph}> {{ ?i <{E}hasLLMDescription> ?t }} }}") is True
    first = gallery.kg.record.asserted[0]
    assert gallery.kg.query(f"ASK {{ GRAPH <{first}> {{ ?i <{E}hasLLMDescription> ?t }} }}") is False


def test_what_a_model_said_is_marked_wherever_triples_are_shown(gallery: Gallery) -> None:
    gallery.describe()
    context = expand(gallery.kg, [(f"{E}image_1", 1.0)], ContextSettings())
    said = [line for line in context.lines if str(line.triple.p) == f"{E}hasLLMDescription"]
    stated = [line for line in context.lines if str(line.triple.p) == f"{E}hasFileName"]
    assert [line.status for line in (*said, *stated)] == ["enriched", "asserted"]
    assert render(said[0]).endswith(" enriched") and triple_json(said[0])[4] == "enriched"
    assert Citation.of(said[0]).mark == " enriched" and Citation.of(stated[0]).mark == ""  # type: ignore[arg-type]


def test_nothing_is_described_twice(gallery: Gallery) -> None:
    first = gallery.describe(limit=2)
    second = gallery.describe()
    third = gallery.describe()
    assert (first.described, first.left) == (2, 4)
    assert (second.described, second.already) == (4, 2)
    assert (third.described, third.already) == (0, 6)
    assert len(gallery.server.asked) == 6
    assert gallery.kg.record.triples == gallery.kg.count("asserted")


def test_another_prompt_describes_again_when_asked(gallery: Gallery, tmp_path: Path) -> None:
    journal = tmp_path / "descriptions.jsonl"
    gallery.describe(journal=journal)
    other = dict[str, Any](prompt="general", again=True)
    gallery.server.say = lambda data: "Something else."
    assert gallery.describe(**other, journal=journal).described == 6
    assert gallery.describe(**other, journal=journal).described == 0
    assert gallery.describe(**other).described == 0
    assert all(len(found) == 2 for found in texts(gallery.kg).values())
    assert len(gallery.kg.select(queries.get("image/provenance").text)) == 12


def test_what_the_journal_has_and_the_graph_has_not_is_written(gallery: Gallery, tmp_path: Path) -> None:
    path = tmp_path / "journal" / "descriptions.jsonl"
    gallery.describe(journal=path, workers=1)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    # The last line was cut off by a crash, one in the middle was damaged, and one picture is another now.
    path.write_bytes(b"".join([lines[0], b"00000000" + lines[1][8:], *lines[2:5], lines[5][:-9]]))
    gallery.kg.clear()
    gallery.kg.load([WARDROBE])
    first = said_of((gallery.photos / "red.png").read_bytes())
    assert lines[0].decode().count("red garment") == 1
    Image.new("RGB", (60, 40), "purple").save(gallery.photos / "red.png")
    report = gallery.describe(journal=path)
    assert (report.recovered, report.described) == (3, 3)
    assert len(gallery.server.asked) == 9
    assert texts(gallery.kg)["image_1"] != (first,) and "purple" in texts(gallery.kg)["image_1"][0]
    assert all(len(found) == 1 for found in texts(gallery.kg).values())


def test_errors_are_tried_again_and_then_listed(gallery: Gallery) -> None:
    tries: dict[str, int] = {}

    def say(data: bytes) -> str:
        text = said_of(data)
        tries[text] = tries.get(text, 0) + 1
        if "red" in text and tries[text] < 3:
            raise ProtocolError(503, "server busy, please try again")
        if "green" in text:
            raise ProtocolError(500, "the model ran out of memory")
        if "blue" in text:
            return " \n"
        return "I'm sorry, but I can't help with identifying people." if "yellow" in text else text

    gallery.server.say = say
    report = gallery.describe()
    assert report.described == 3
    assert report.kinds() == {"empty": 1, "model": 1, "refused": 1}
    assert [(f.image.removeprefix(E), f.kind, f.attempts) for f in report.failures] == [
        ("image_2", "model", 3), ("image_3", "empty", 3), ("image_4", "refused", 3),
    ]  # fmt: skip
    assert "ran out of memory" in report.failures[0].reason
    gallery.server.say = said_of
    assert gallery.describe().described == 3


def test_bad_pictures_are_named_counted_and_skipped(gallery: Gallery) -> None:
    whole = (gallery.photos / "red.png").read_bytes()
    (gallery.photos / "red.png").write_bytes(whole[:-30])
    (gallery.photos / "green.png").write_bytes(b"no picture")
    # A header that says 60,000 by 60,000 pixels: some 10 GB if it were unpacked.
    (gallery.photos / "blue.png").write_bytes(whole[:16] + (60_000).to_bytes(4, "big") * 2 + whole[24:])
    (gallery.photos / "yellow.png").unlink()
    (gallery.photos / "white.png").unlink()
    (gallery.photos / "white.png").symlink_to("/etc/passwd")
    report = gallery.describe()
    assert report.described == 1 and report.kinds() == {"file": 2, "picture": 3}
    reasons = {f.image.removeprefix(E): f.reason for f in report.failures}
    assert "decoded" in reasons["image_1"] and "red.png" in reasons["image_1"]
    assert "no JPEG" in reasons["image_2"]
    assert "60000x60000" in reasons["image_3"]
    assert "no such file" in reasons["image_4"] and "out of the folder" in reasons["image_5"]
    with pytest.raises(LoadError, match="no such file"):
        gallery.describe(on_error="stop")


def test_stop_ends_at_the_first_failure_and_keeps_the_rest(gallery: Gallery) -> None:
    def say(data: bytes) -> str:
        text = said_of(data)
        return "" if "blue" in text else text

    gallery.server.say = say
    settings = dict[str, Any](workers=1, attempts=1, on_error="stop")
    with pytest.raises(ModelError, match=r"no text.*blue\.png"):
        gallery.describe(**settings)
    assert described_images(gallery.kg) == {E + "image_1", E + "image_2"}


def test_a_model_that_always_fails_ends_the_run(gallery: Gallery) -> None:
    def say(data: bytes) -> str:
        raise ProtocolError(500, "no memory")

    gallery.server.say = say
    with pytest.raises(ModelError, match=r"2 images in a row.*no memory"):
        gallery.describe(attempts=1, workers=1, give_up=2)
    assert len(gallery.server.asked) == 2


def test_a_model_that_is_not_there_is_an_error_before_anything(gallery: Gallery) -> None:
    with pytest.raises(ModelError, match="no model moondream"):
        gallery.describe("ollama:moondream")
    with pytest.raises(ModelError, match="without a model"):
        gallery.describe("none")


def test_requests_are_bounded(gallery: Gallery) -> None:
    free = threading.Event()
    arrived = threading.Semaphore(0)

    def say(data: bytes) -> str:
        arrived.release()
        assert free.wait(20)
        return said_of(data)

    gallery.server.say = say
    done = threading.Thread(target=lambda: gallery.describe(workers=3), daemon=True)
    done.start()
    for _ in range(3):
        assert arrived.acquire(timeout=20)
    free.set()
    done.join(30)
    assert gallery.server.most_at_once == 3 and len(gallery.server.asked) == 6


def test_a_model_that_hangs_is_given_up_and_tried_again(gallery: Gallery) -> None:
    hanging = threading.Event()
    tries: list[str] = []

    def say(data: bytes) -> str:
        text = said_of(data)
        tries.append(text)
        if "red" in text and tries.count(text) == 1:
            hanging.wait(20)
        return text

    gallery.server.say = say
    settings = dict[str, Any](timeout=0.5, back_off=0.01, workers=1)
    try:
        report = gallery.describe(**settings)
    finally:
        hanging.set()
    assert report.described == 6 and len(tries) == 7


def test_told_to_stop_it_keeps_what_it_has(gallery: Gallery) -> None:
    stop = threading.Event()
    report = gallery.describe(
        workers=1, stop=stop, on_progress=lambda p: stop.set() if p.described == 2 else None
    )
    assert (report.interrupted, report.described, report.left) == (True, 2, 4)
    assert len(described_images(gallery.kg)) == 2


def test_parts_are_described_by_box_or_quarter(gallery: Gallery) -> None:
    # The left half of the red picture is white.
    image = Image.open(gallery.photos / "red.png").copy()
    image.paste((245, 245, 245), (0, 0, 30, 40))
    image.save(gallery.photos / "red.png")
    other = KnowledgeGraph(gallery.kg.store, "annotations")
    other.load([ANNOTATIONS])
    settings = dict[str, Any](regions="boxes")
    report = gallery.describe(**settings, boxes_from=other)
    assert report.kinds() == {"box": 1} and report.failures[0].image == E + "annotation_2"
    assert report.described == 6 + 1 + 5 * 4
    found = {one.image.removeprefix(E): dict(one.regions) for one in image_texts(gallery.kg)}
    assert list(found["image_1"]) == ["xywh=0,0,31,40"] and "white" in found["image_1"]["xywh=0,0,31,40"]
    assert list(found["image_2"]) == [f"xywh=percent:{x},{y},50,50" for x in (0, 50) for y in (0, 50)]
    sizes = {Image.open(io.BytesIO(data)).size for data in gallery.server.images}
    assert sizes == {(31, 40), (30, 20), (60, 40)}
    # The annotations are in a graph of their own.
    assert gallery.kg.query(f"ASK {{ ?d prov:wasDerivedFrom ?a . ?a a <{E}Annotation> }}") is False
    asked = f"ASK {{ ?d prov:wasDerivedFrom <{E}annotation_1>, <{E}image_1#xywh=0,0,31,40> }}"
    assert gallery.kg.query(asked) is True
    assert gallery.describe(**settings, boxes_from=other).described == 0


def test_odd_names_of_images_and_graphs_do_no_harm(gallery: Gallery) -> None:
    image, where = "http://example.org/gallery#1", "http://example.org/graphs/2024"
    store = OxigraphStore()
    name = URIRef(E + "hasFileName")
    store.insert(f'<{image}> <{name}> "red.png" .\n'.encode(), where)
    with KnowledgeGraph(store, graphs=[where]) as kg:
        report = describe(kg, folder=gallery.photos, settings=EnrichSettings(regions="quarters"))
        assert report.described == 5
        (one,) = image_texts(kg)
        assert one.generated and "xywh=percent:0,50,50,50" in dict(one.regions)
        again = KnowledgeGraph(store)
        assert again.record.asserted == (where, report.graph)
        assert describe(again, folder=gallery.photos).already == 1


def test_large_pictures_are_shrunk_on_the_way(gallery: Gallery, tmp_path: Path) -> None:
    folder = draw(tmp_path / "large", (900, 600))
    limits = PictureLimits(max_side=90)
    report = describe(gallery.kg, folder=folder, settings=EnrichSettings(limits=limits))
    assert report.described == 6
    assert {Image.open(io.BytesIO(data)).size for data in gallery.server.images} == {(90, 60)}


def test_inferences_stay_and_the_next_reasoning_knows_the_new_graph(gallery: Gallery, tmp_path: Path) -> None:
    schema = tmp_path / "schema.ttl"
    schema.write_text(
        "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":hasLLMDescription rdfs:subPropertyOf :says . :Image rdfs:subClassOf :Work ."
    )
    gallery.kg.load([schema])
    reason(gallery.kg)
    gallery.describe(limit=2)
    assert gallery.kg.query(f"ASK {{ <{E}image_1> a <{E}Work> }}") is True and not gallery.kg.reasoned
    reason(gallery.kg)
    says = f"SELECT ?i {{ ?i <{E}says> ?t }}"
    assert len(gallery.kg.query(says)) == 2  # type: ignore[arg-type]
    gallery.describe()
    reason(gallery.kg)
    assert len(gallery.kg.query(says)) == 6  # type: ignore[arg-type]
    gallery.kg.load([WARDROBE])
    assert len(described_images(gallery.kg)) == 6
    assert gallery.kg.record.triples == gallery.kg.count("asserted")


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"workers": 0}, {"timeout": 0}, {"timeout": 0}, {"on_error": "ignore"}):
        with pytest.raises(ConfigError):
            EnrichSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        ThreadRunner(0)


@pytest.mark.parametrize(("text", "refused"), cases(__file__, "refusals"))
def test_refusals_are_told_from_descriptions(text: str, refused: bool) -> None:
    assert enrichment.refuses(text) is refused


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        RunJournal(tmp_path)


@pytest.mark.parametrize("kind", ["oxigraph", *slow("graphdb")])
def test_a_graph_on_a_server_is_enriched_in_two_runs(
    kind: str, photos: Path, tmp_path: Path, seeing: SeeingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    with server_of(kind, tmp_path) as url:
        with mrag.connect(url) as kg:
            kg.load([WARDROBE])
            before = kg.revision
            assert describe(kg, folder=photos, settings=EnrichSettings(limit=2)).described == 2
            assert kg.revision > before
            assert len(described_images(kg)) == 2
        with mrag.connect(url) as kg:
            report = describe(kg, folder=photos)
            assert (report.described, report.already) == (4, 2)
            assert len(kg.select(queries.get("image/provenance").text)) == 6
            assert kg.record.triples == kg.count("asserted")
            (hit,) = ImageTextRanker(kg, "bm25").rank(Question("yellow"), 1)
            assert hit.iri == E + "image_4"
        with mrag.connect(url) as kg:
            parts = EnrichSettings(regions="quarters")
            assert describe(kg, folder=photos, settings=parts).described == 24
        with mrag.connect(url) as kg:
            assert describe(kg, folder=photos, settings=parts).already == 30
            assert [len(one.regions) for one in image_texts(kg)] == [4] * 6
    assert len(seeing.asked) == 30
    assert list((tmp_path / "home").rglob("descriptions.jsonl"))


COUNT = 24


def rgb(data: bytes) -> tuple[int, ...]:
    return tuple(Image.open(io.BytesIO(data)).convert("RGB").getpixel((0, 0)))  # type: ignore[arg-type]


def said(data: bytes) -> str:
    return f'A garment in {rgb(data)},\n"plain" \\ ünïcode.'


server = opened(lambda _: llava(say=said, delay=0.05))


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
        assert len(described_images(kg)) == report["described"]


def test_two_at_once_are_refused(tmp_path: Path, server: SeeingServer) -> None:
    folder = store_in(tmp_path / "one")
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        journal = folder / "store.mrag" / kg.name / "images" / "descriptions.jsonl"
        with RunJournal(journal), pytest.raises(StoreLocked, match="Another process"):
            describe(kg, "labels", folder=folder)
        with RunJournal(journal), ThreadPoolExecutor(1) as pool:
            assert isinstance(pool.submit(RunJournal, journal).exception(10), StoreLocked)
