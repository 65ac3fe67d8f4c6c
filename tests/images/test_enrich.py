"""Enrichment against a server of Ollama's protocol that answers from what the picture shows."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest
from rdflib import URIRef

from mrag.context import ContextSettings, expand
from mrag.context.render import render, triple_json
from mrag.errors import ConfigError, LoadError, ModelError
from mrag.generation.result import Citation
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import (
    EnrichmentJournal,
    EnrichProgress,
    EnrichSettings,
    describe,
    enriched_graph,
    refuses,
)
from mrag.images.files import PictureLimits
from mrag.images.graph import described, image_texts
from mrag.images.prompts import FASHION
from mrag.jobs import ThreadRunner
from mrag.rdf import queries
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.generation.ollama_server import ProtocolError
from tests.images.conftest import GARMENTS, E, annotations, draw
from tests.images.seeing_server import SeeingServer, said_of

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")

QUICK = EnrichSettings(back_off=0.01)


def texts(kg: KnowledgeGraph) -> dict[str, tuple[str, ...]]:
    return {one.image.removeprefix(E): one.generated for one in image_texts(kg)}


def test_each_image_is_described_by_what_it_shows(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    notes: list[EnrichProgress] = []
    before = wardrobe.record.asserted[0], wardrobe.revision
    report = describe(wardrobe, folder=photos, settings=QUICK, on_progress=notes.append)
    assert (report.described, report.failures, report.left, report.interrupted) == (6, (), 0, False)
    found = texts(wardrobe)
    for number, colour in enumerate(GARMENTS, start=1):
        (text,) = found[f"image_{number}"]
        assert text == f'A {colour} garment, "plain", worn in \\summer\\.'
    assert [n.described for n in notes][-1] == 6 and notes[-1].seconds_left == 0
    body = seeing.asked[0]
    assert body["messages"][0]["content"].strip() == FASHION
    assert (body["options"]["temperature"], body["options"]["seed"]) == (0.1, 1)
    assert wardrobe.record.asserted[0] == before[0] and wardrobe.revision > before[1]
    assert enriched_graph(wardrobe) == report.graph
    assert wardrobe.record.triples == wardrobe.count("asserted")


def test_the_description_is_kept_letter_by_letter_with_its_provenance(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    report = describe(wardrobe, "ollama:llava", folder=photos, settings=QUICK)
    rows = wardrobe.select(queries.get("image/provenance").text)
    assert len(rows) == 6
    for subject, text, model, time, prompt in rows:
        assert str(text) == said_of(
            (photos / (list(GARMENTS)[int(str(subject)[-1]) - 1] + ".png")).read_bytes()
        )
        assert (str(model), str(prompt)) == ("ollama:llava:latest", FASHION)
        assert str(time).endswith("Z")
    asked = wardrobe.query("SELECT ?o { ?a a prov:Activity ; rdfs:comment ?o }")
    assert [json.loads(str(row[0])) for row in asked] == [  # type: ignore[union-attr,index]
        {"max_side": 1024, "seed": 1, "temperature": 0.1}
    ]
    graph = report.graph
    assert wardrobe.query(f"ASK {{ GRAPH <{graph}> {{ ?i <{E}hasLLMDescription> ?t }} }}") is True
    first = wardrobe.record.asserted[0]
    assert wardrobe.query(f"ASK {{ GRAPH <{first}> {{ ?i <{E}hasLLMDescription> ?t }} }}") is False


def test_what_a_model_said_is_marked_wherever_triples_are_shown(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    describe(wardrobe, folder=photos, settings=QUICK)
    context = expand(wardrobe, [(f"{E}image_1", 1.0)], ContextSettings())
    said = [line for line in context.lines if str(line.triple.p) == f"{E}hasLLMDescription"]
    stated = [line for line in context.lines if str(line.triple.p) == f"{E}hasFileName"]
    assert [line.status for line in (*said, *stated)] == ["enriched", "asserted"]
    assert render(said[0]).endswith(" enriched") and triple_json(said[0])[4] == "enriched"
    assert Citation.of(said[0]).mark == " enriched" and Citation.of(stated[0]).mark == ""  # type: ignore[arg-type]


def test_nothing_is_described_twice(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    first = describe(wardrobe, folder=photos, settings=EnrichSettings(limit=2))
    second = describe(wardrobe, folder=photos, settings=QUICK)
    third = describe(wardrobe, folder=photos, settings=QUICK)
    assert (first.described, first.left) == (2, 4)
    assert (second.described, second.already) == (4, 2)
    assert (third.described, third.already) == (0, 6)
    assert len(seeing.asked) == 6
    assert wardrobe.record.triples == wardrobe.count("asserted")


def test_another_prompt_describes_again_when_asked(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    journal = EnrichmentJournal(None)
    describe(wardrobe, folder=photos, settings=QUICK, journal=journal)
    other = EnrichSettings(prompt="general", again=True)
    seeing.say = lambda data: "Something else."
    assert describe(wardrobe, folder=photos, settings=other, journal=journal).described == 6
    assert describe(wardrobe, folder=photos, settings=other, journal=journal).described == 0
    assert describe(wardrobe, folder=photos, settings=other, journal=EnrichmentJournal(None)).described == 0
    assert all(len(found) == 2 for found in texts(wardrobe).values())
    assert len(wardrobe.select(queries.get("image/provenance").text)) == 12


def test_what_the_journal_has_and_the_graph_has_not_is_written(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer, tmp_path: Path
) -> None:
    path = tmp_path / "journal" / "descriptions.jsonl"
    describe(wardrobe, folder=photos, settings=EnrichSettings(workers=1), journal=EnrichmentJournal(path))
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    # The last line was cut off by a crash, one in the middle was damaged, and one picture is another now.
    path.write_bytes(b"".join([lines[0], b"00000000" + lines[1][8:], *lines[2:5], lines[5][:-9]]))
    wardrobe.clear()
    source = tmp_path / "wardrobe.ttl"
    wardrobe.load([source])
    first = said_of((photos / "red.png").read_bytes())
    assert lines[0].decode().count("red garment") == 1
    Image.new("RGB", (60, 40), "purple").save(photos / "red.png")
    journal = EnrichmentJournal(path)
    report = describe(wardrobe, folder=photos, settings=QUICK, journal=journal)
    assert (report.recovered, report.described, journal.damaged) == (3, 3, 1)
    assert len(seeing.asked) == 9
    assert texts(wardrobe)["image_1"] != (first,) and "purple" in texts(wardrobe)["image_1"][0]
    assert all(len(found) == 1 for found in texts(wardrobe).values())


def test_errors_are_tried_again_and_then_listed(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
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

    seeing.say = say
    report = describe(wardrobe, folder=photos, settings=QUICK)
    assert report.described == 3
    assert report.kinds() == {"empty": 1, "model": 1, "refused": 1}
    assert [(f.image.removeprefix(E), f.kind, f.attempts) for f in report.failures] == [
        ("image_2", "model", 3), ("image_3", "empty", 3), ("image_4", "refused", 3),
    ]  # fmt: skip
    assert "ran out of memory" in report.failures[0].reason
    seeing.say = said_of
    assert describe(wardrobe, folder=photos, settings=QUICK).described == 3


def test_bad_pictures_are_named_counted_and_skipped(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    whole = (photos / "red.png").read_bytes()
    (photos / "red.png").write_bytes(whole[:-30])
    (photos / "green.png").write_bytes(b"no picture")
    # A header that says 60,000 by 60,000 pixels: some 10 GB if it were unpacked.
    (photos / "blue.png").write_bytes(whole[:16] + (60_000).to_bytes(4, "big") * 2 + whole[24:])
    (photos / "yellow.png").unlink()
    (photos / "white.png").unlink()
    (photos / "white.png").symlink_to("/etc/passwd")
    report = describe(wardrobe, folder=photos, settings=QUICK)
    assert report.described == 1 and report.kinds() == {"file": 2, "picture": 3}
    reasons = {f.image.removeprefix(E): f.reason for f in report.failures}
    assert "decoded" in reasons["image_1"] and "red.png" in reasons["image_1"]
    assert "no JPEG" in reasons["image_2"]
    assert "60000x60000" in reasons["image_3"]
    assert "no such file" in reasons["image_4"] and "out of the folder" in reasons["image_5"]
    with pytest.raises(LoadError, match="no such file"):
        describe(wardrobe, folder=photos, settings=EnrichSettings(on_error="stop"))


def test_stop_ends_at_the_first_failure_and_keeps_the_rest(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    def say(data: bytes) -> str:
        text = said_of(data)
        return "" if "blue" in text else text

    seeing.say = say
    settings = EnrichSettings(workers=1, attempts=1, on_error="stop")
    with pytest.raises(ModelError, match=r"no text.*blue\.png"):
        describe(wardrobe, folder=photos, settings=settings)
    assert described(wardrobe) == {E + "image_1", E + "image_2"}


def test_a_model_that_always_fails_ends_the_run(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    def say(data: bytes) -> str:
        raise ProtocolError(500, "no memory")

    seeing.say = say
    with pytest.raises(ModelError, match=r"2 images in a row.*no memory"):
        describe(wardrobe, folder=photos, settings=EnrichSettings(attempts=1, workers=1, give_up=2))
    assert len(seeing.asked) == 2


def test_a_model_that_is_not_there_is_an_error_before_anything(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    with pytest.raises(ModelError, match="no model moondream"):
        describe(wardrobe, "ollama:moondream", folder=photos)
    with pytest.raises(ModelError, match="without a model"):
        describe(wardrobe, "none", folder=photos)


def test_requests_are_bounded_and_paced(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    free = threading.Event()
    arrived = threading.Semaphore(0)

    def say(data: bytes) -> str:
        arrived.release()
        assert free.wait(20)
        return said_of(data)

    seeing.say = say
    done = threading.Thread(
        target=lambda: describe(wardrobe, folder=photos, settings=EnrichSettings(workers=3)), daemon=True
    )
    done.start()
    for _ in range(3):
        assert arrived.acquire(timeout=20)
    free.set()
    done.join(30)
    assert seeing.most_at_once == 3 and len(seeing.asked) == 6


def test_a_model_that_hangs_is_given_up_and_tried_again(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    hanging = threading.Event()
    tries: list[str] = []

    def say(data: bytes) -> str:
        text = said_of(data)
        tries.append(text)
        if "red" in text and tries.count(text) == 1:
            hanging.wait(20)
        return text

    seeing.say = say
    settings = EnrichSettings(timeout=0.5, back_off=0.01, workers=1)
    try:
        report = describe(wardrobe, folder=photos, settings=settings)
    finally:
        hanging.set()
    assert report.described == 6 and len(tries) == 7


def test_a_pace_spreads_requests(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    report = describe(wardrobe, folder=photos, settings=EnrichSettings(per_minute=1200, workers=6))
    assert report.described == 6
    assert report.seconds >= 5 * 60 / 1200


def test_told_to_stop_it_keeps_what_it_has(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    stop = threading.Event()
    report = describe(
        wardrobe,
        folder=photos,
        settings=EnrichSettings(workers=1),
        stop=stop,
        on_progress=lambda p: stop.set() if p.described == 2 else None,
    )
    assert (report.interrupted, report.described, report.left) == (True, 2, 4)
    assert len(described(wardrobe)) == 2


def test_parts_are_described_by_box_or_grid(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer, tmp_path: Path
) -> None:
    # The left half of the red picture is white.
    image = Image.open(photos / "red.png").copy()
    image.paste((245, 245, 245), (0, 0, 30, 40))
    image.save(photos / "red.png")
    source = tmp_path / "annotations.ttl"
    source.write_text(annotations(), encoding="utf-8")
    other = KnowledgeGraph(wardrobe.store, "annotations")
    other.load([source])
    settings = EnrichSettings(regions="boxes", whole=False, rows=1, columns=2)
    report = describe(wardrobe, folder=photos, settings=settings, boxes_from=other)
    assert report.kinds() == {"box": 1} and report.failures[0].image == E + "annotation_2"
    assert report.described == 1 + 5 * 2
    found = {one.image.removeprefix(E): dict(one.regions) for one in image_texts(wardrobe)}
    assert list(found["image_1"]) == ["xywh=0,0,31,40"] and "white" in found["image_1"]["xywh=0,0,31,40"]
    assert list(found["image_2"]) == ["xywh=percent:0,0,50,100", "xywh=percent:50,0,50,100"]
    sizes = {Image.open(io.BytesIO(data)).size for data in seeing.images}
    assert sizes == {(31, 40), (30, 40)}
    derived = wardrobe.query("SELECT ?a { ?d prov:wasDerivedFrom ?a . ?a a <http://example.org/Annotation> }")
    assert list(derived) == []  # the annotations are in a graph of their own
    derived = wardrobe.query(
        f"ASK {{ ?d prov:wasDerivedFrom <{E}annotation_1>, <{E}image_1#xywh=0,0,31,40> }}"
    )
    assert derived is True
    assert describe(wardrobe, folder=photos, settings=settings, boxes_from=other).described == 0


def test_odd_names_of_images_and_graphs_do_no_harm(photos: Path, seeing: SeeingServer) -> None:
    image, where = "http://example.org/gallery#1", "http://example.org/graphs/2024"
    store = OxigraphStore()
    name = URIRef(E + "hasFileName")
    store.insert(f'<{image}> <{name}> "red.png" .\n'.encode(), where)
    with KnowledgeGraph(store, graphs=[where]) as kg:
        report = describe(kg, folder=photos, settings=EnrichSettings(regions="grid", rows=1, columns=1))
        assert report.described == 2
        (one,) = image_texts(kg)
        assert one.generated and [fragment for fragment, _ in one.regions] == ["xywh=percent:0,0,100,100"]
        again = KnowledgeGraph(store)
        assert again.record.asserted == (where, report.graph)
        assert describe(again, folder=photos).already == 1


def test_large_pictures_are_shrunk_on_the_way(
    wardrobe: KnowledgeGraph, tmp_path: Path, seeing: SeeingServer
) -> None:
    folder = draw(tmp_path / "large", (900, 600))
    limits = PictureLimits(max_side=90)
    report = describe(wardrobe, folder=folder, settings=EnrichSettings(limits=limits))
    assert report.described == 6
    assert {Image.open(io.BytesIO(data)).size for data in seeing.images} == {(90, 60)}


def test_inferences_stay_and_the_next_reasoning_knows_the_new_graph(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer, tmp_path: Path
) -> None:
    schema = tmp_path / "schema.ttl"
    schema.write_text(
        "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":hasLLMDescription rdfs:subPropertyOf :says . :Image rdfs:subClassOf :Work ."
    )
    wardrobe.load([schema])
    reason(wardrobe)
    describe(wardrobe, folder=photos, settings=EnrichSettings(limit=2))
    assert wardrobe.query(f"ASK {{ <{E}image_1> a <{E}Work> }}") is True and not wardrobe.reasoned
    reason(wardrobe)
    says = f"SELECT ?i {{ ?i <{E}says> ?t }}"
    assert len(wardrobe.query(says)) == 2  # type: ignore[arg-type]
    describe(wardrobe, folder=photos, settings=QUICK)
    reason(wardrobe)
    assert len(wardrobe.query(says)) == 6  # type: ignore[arg-type]
    wardrobe.load([tmp_path / "wardrobe.ttl"])
    assert len(described(wardrobe)) == 6
    assert wardrobe.record.triples == wardrobe.count("asserted")


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"workers": 0}, {"per_minute": 0}, {"timeout": 0}, {"rows": 0}, {"on_error": "ignore"}):
        with pytest.raises(ConfigError):
            EnrichSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        ThreadRunner(0)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I cannot assist with that request.", True),
        ("I’m unable to view images directly.", True),
        ("I cannot describe people in images.", True),
        ("As an AI language model, I don't have eyes.", True),
        ("I don't have the ability to see pictures.", True),
        ("Unfortunately, I am unable to open the image.", True),
        ("I can see a man in a red coat.", False),
        ("The model wears a coat that cannot be buttoned. I'm sorry to say it is torn.", False),
        ("As an accessory she wears a hat.", False),
        ("Sorry is written on the T-shirt.", False),
    ],
)
def test_refusals_are_told_from_descriptions(text: str, refused: bool) -> None:
    assert refuses(text) is refused
