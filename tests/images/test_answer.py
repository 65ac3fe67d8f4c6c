"""Answers with pictures, with and without a model that sees."""

import base64
import io
import json
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from rdflib import RDF, RDFS, Literal, URIRef
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import LoadError, ModelError
from mrag.generation.result import Answer
from mrag.generation.support.citations import PictureCiter
from mrag.graph.kg import KnowledgeGraph
from mrag.images.answer import FOUND_ONLY, ask_pictures
from mrag.images.enrichment import EnrichSettings, describe
from mrag.images.rankers import ImageLooksRanker, ImageTextRanker
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import verify
from mrag.retrieval.rankers import Hit, Question
from mrag.stores.oxigraph import OxigraphStore
from tests.commands import run
from tests.generation.conftest import context_of
from tests.generation.ollama_server import Served
from tests.images.conftest import WARDROBE, E
from tests.images.seeing_server import SeeingServer, colour_of
from tests.images.test_rankers import Colours
from tests.terminal.hostile import TEXT, faults

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")


class Looking(SeeingServer):
    """Looks at any number of pictures and cites the first fact of the prompt."""

    def talk(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        human = dict(body["messages"][-1])
        pictures = [base64.b64decode(one) for one in human.get("images") or ()]
        self.looked = pictures
        self.prompt = body["messages"]
        colours = ", ".join(colour_of(one) for one in pictures)
        blank = io.BytesIO()
        Image.new("RGB", (4, 4)).save(blank, "PNG")
        self.say = lambda data: f"I see {colours}. Image 1 contains coat [t1]. It was made on the moon [t2]."
        one = {
            **body,
            "model": "llava" if len(self.models) == 1 else "notes",
            "messages": [{**human, "images": [base64.b64encode(blank.getvalue()).decode()]}],
        }
        yield from super().talk(one)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Looking]:
    with Looking([Served("llava:latest", "llama", ("completion", "vision"))]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


class Sources(HTMLParser):
    """Collects tags and the sources of pictures."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [str(value) for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.text += data


def asked(kg: KnowledgeGraph, question: str | Question, folder: Path | None = None, **more: Any) -> Any:
    """Ask for pictures by words, without a model as a rule."""
    return ask_pictures(kg, question, ImageTextRanker(kg, "bm25"), folder=folder, **{"model": "none", **more})


def test_without_a_model_the_facts_are_the_answer(wardrobe: KnowledgeGraph, photos: Path) -> None:
    found = asked(wardrobe, "a coat", photos, k=2)
    assert [(i.rank, i.name, i.path) for i in found.images] == [(1, "red.png", photos / "red.png")]
    assert "coat" in found.text and found.citations and found.model is None
    assert found.notice and str(photos / "red.png") in str(found)
    assert verify(wardrobe, found).ok
    predicates = {line.triple.p.rsplit("/", 1)[-1] for line in found.images[0].lines}
    assert "hasDescription" in predicates and "hasFileName" not in predicates
    data = json.loads(json.dumps(found.to_json()))
    assert data["images"][0]["lines"] == [line.id for line in found.images[0].lines]


def test_a_model_sees_the_first_pictures_and_is_held_to_the_facts(
    wardrobe: KnowledgeGraph, photos: Path, looking: Looking
) -> None:
    picture = photos.parent / "asked.png"
    Image.new("RGB", (2000, 1000), (40, 60, 200)).save(picture)
    question = Question("a coat with sleeves", picture)
    found = asked(wardrobe, question, photos, model="ollama:llava", k=3, send=2)
    assert [colour_of(one) for one in looking.looked] == ["red", "green", "blue"]
    assert Image.open(io.BytesIO(looking.looked[2])).size == (768, 384)
    system, human = looking.prompt
    assert "not instructions" in system["content"] and "Request: a coat with sleeves" in human["content"]
    assert human["content"].count("Image ") == 3
    assert found.model == "llava:latest"
    first, second, third = found.sentences
    assert second.text == "red.png contains coat." and second.supported
    assert [str(c.triple.s) for c in second.citations] == [E + "image_1"]
    assert not first.supported and not third.supported and third.rejected_ids
    assert len(found.images) == 3


def test_by_default_a_model_that_sees_is_taken_and_another_gets_the_facts_alone(
    wardrobe: KnowledgeGraph, photos: Path, looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MRAG_MODEL", raising=False)
    question = Question("a coat", photos / "blue.png")
    found = asked(wardrobe, question, photos, model=None, k=1)
    assert found.model == "llava:latest" and len(looking.looked) == 2
    looking.models = [Served("llama3.2:latest"), Served("notes:latest", "llama", ("completion", "vision"))]
    found = asked(wardrobe, question, photos, model=None, k=1)
    assert found.model == "llama3.2:latest" and looking.looked == []


def test_parts_of_an_image_belong_to_it(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    describe(wardrobe, folder=photos, settings=EnrichSettings(regions="quarters", limit=5))
    (image,) = asked(wardrobe, "red garment", photos, k=1).images
    assert image.iri == E + "image_1"
    parts = {f"{image.iri}#xywh=percent:{x},{y},50,50" for x in (0, 50) for y in (0, 50)}
    assert {str(line.triple.s) for line in image.lines} == {image.iri, *parts}


def test_a_picture_alone_is_a_question(wardrobe: KnowledgeGraph, photos: Path) -> None:
    ranker = ImageLooksRanker(wardrobe, photos, Colours())
    picture = Question(image=photos / "green.png")
    found = ask_pictures(wardrobe, picture, ranker, folder=photos, model="none", k=2)
    assert found.images[0].iri == E + "image_2" and found.text
    (photos / "broken.png").write_bytes(b"x")
    with pytest.raises(LoadError, match="no JPEG"):
        ask_pictures(wardrobe, Question(image=photos / "broken.png"), ranker, model="none")


def test_images_without_facts_are_shown_and_a_model_may_look_at_them(
    kg: KnowledgeGraph, photos: Path, looking: Looking
) -> None:
    name = URIRef(E + "hasFileName")
    kg.insert([Triple(URIRef(E + c), name, Literal(f"{c}.png")) for c in ("red", "blue")])
    ranker = ImageLooksRanker(kg, photos, Colours())
    found = ask_pictures(kg, "red", ranker, folder=photos, model="none", k=1)
    assert found.text == FOUND_ONLY and found.images[0].path == photos / "red.png"
    found = ask_pictures(kg, "red", ranker, folder=photos, model="ollama:llava", k=1)
    assert len(looking.looked) == 1 and "I see red" in found.text and not found.supported


def test_a_failing_model_is_told(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    with pytest.raises(ModelError, match="one picture at a time"):  # it is sent three
        asked(wardrobe, "sleeve", photos, model="ollama:llava", k=3)


def test_the_notebook_shows_pictures_and_nothing_of_the_graph_becomes_markup(
    wardrobe: KnowledgeGraph, photos: Path
) -> None:
    bad = '<script>alert(1)</script>"><img src=http://evil.example/x onerror=alert(1)> coat'
    wardrobe.insert([Triple(URIRef(E + "image_1"), URIRef(E + "hasDescription"), Literal(bad))])
    wardrobe.insert([Triple(URIRef(E + "image_1"), RDFS.label, Literal('"><script>alert(2)</script>'))])
    (photos / "green.png").unlink()
    found = asked(wardrobe, "coat dress script", photos, k=2)
    page = Sources(found._repr_html_())
    assert "script" not in page.tags and page.tags.count("figure") == 2
    assert len(page.sources) == 1 and page.sources[0].startswith("data:image/")
    assert "<script>alert(1)</script>" in page.text
    assert "Contains dress" in page.text and "[t1]" in page.text


def test_a_page_shows_controls_as_signs_and_isolates(wardrobe: KnowledgeGraph, photos: Path) -> None:
    wardrobe.insert([Triple(URIRef(E + "image_1"), RDFS.label, Literal(TEXT))])
    page = asked(wardrobe, "coat", photos)._repr_html_()
    assert "PWN" in page and not faults(page.encode(), tty=False)


def test_nothing_found_is_said(wardrobe: KnowledgeGraph) -> None:
    found = asked(wardrobe, "xylophone")
    assert found.images == () and "Nothing" in found.text


def test_an_answer_is_read_back_from_json_and_replayed(wardrobe: KnowledgeGraph, photos: Path) -> None:
    found = asked(wardrobe, "a coat", photos)
    data = json.loads(json.dumps(found.to_json()))
    assert verify(wardrobe, data).ok
    gone = Triple(*found.citations[0].triple)
    rows = [(URIRef(g), *gone) for g in wardrobe.record.asserted]
    wardrobe.store.update(queries.get("update/change").bind(graph_subject_predicate_object=rows, g_s_p_o=[]))
    assert not verify(wardrobe, data).ok


def test_a_ranker_of_images_serves_the_retriever(wardrobe: KnowledgeGraph, photos: Path) -> None:
    ranker = ImageLooksRanker(wardrobe, photos, Colours())
    retriever = mrag.TripleStoreRetriever(kg=wardrobe, ranker=ranker, k=2)
    assert retriever.invoke("yellow")[0].id == E + "image_4"
    found = mrag.ask(wardrobe, Question(image=photos / "blue.png"), model="none", retriever=retriever, k=1)
    assert found.citations and str(found.citations[0].triple.s) == E + "image_3"


def test_the_commands_find_and_answer_with_pictures(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.rq").write_text(f"SELECT ?i {{ ?i <{E}hasFileName> 'green.png' }}", encoding="utf-8")
    with mrag.connect(f"oxigraph:{tmp_path / 'mrag.db'}") as kg:
        kg.load([WARDROBE])
    monkeypatch.chdir(tmp_path)

    def said(*args: str) -> str:
        done = CliRunner().invoke(app, [*args, "--media", "photos"])
        assert done.exit_code == 0, done.output
        return done.stdout

    found = said("search", "coat", "--ranker", "bm25").splitlines()
    assert found[0].endswith("/red.png  <http://example.org/image_1>") and "words coat" in found[1]
    only = said("search", "sleeve", "--ranker", "bm25", "--only", "b.rq", "--json")
    assert [one["label"] for one in json.loads(only)] == ["green.png"]
    images = f"{E}Image"
    assert len(json.loads(said("search", "sleeve", "--ranker", "bm25", "--only", images, "--json"))) == 6
    answer = json.loads(said("ask", "Which images show a coat?", "--model", "none", "--json"))
    assert answer["images"][0]["path"].endswith("red.png")
    done = run("search", "--image", "photos/red.png", cwd=tmp_path)
    assert done.returncode == 1 and "--media" in done.stderr
    assert CliRunner().invoke(app, ["search"]).exit_code == 2
    assert CliRunner().invoke(app, ["ask"]).exit_code == 2


FACTS = {"beach": ("coat", "hat"), "street": ("hat", "striped shirt"), "park": ("dog", "ball")}


SENTENCES = [line.split("\t") for line in Path(__file__).with_name("sentences.tsv").read_text().splitlines()]


class InOrder:
    """Ranks the images as they come."""

    def rank(self, question: Question, k: int) -> list[Hit]:
        return [Hit(E + name, 1.0 - n / 10, n + 1, ()) for n, name in enumerate(FACTS)]


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    rows: list[Triple] = []
    for name, things in FACTS.items():
        image = URIRef(E + name)
        values = {E + "hasFileName": f"{name}.jpg", E + "hasDescription": f"Contains {' and '.join(things)}",
                  str(RDFS.label): f"the {name}"}  # fmt: skip
        rows.append(Triple(image, RDF.type, URIRef(E + "Image")))
        rows += [Triple(image, URIRef(p), Literal(value)) for p, value in values.items()]
        for thing in things:
            node = URIRef(E + thing.replace(" ", "_"))
            rows += [Triple(image, URIRef(E + "hasObject"), node), Triple(node, RDFS.label, Literal(thing))]
    rows.append(Triple(URIRef(E + "park"), URIRef(E + "style"), Literal("relaxed, casual")))
    with KnowledgeGraph(OxigraphStore()) as graph:
        graph.insert(rows)
        yield graph


def said(kg: KnowledgeGraph, text: str) -> Answer:
    return ask_pictures(
        kg, "a hat or a dog", InOrder(), model=FakeListChatModel(responses=[text]), send=0, k=3
    )


@pytest.mark.parametrize(("kind", "text"), SENTENCES)
def test_what_is_true_is_supported_and_the_rest_marked(kg: KnowledgeGraph, kind: str, text: str) -> None:
    answer = said(kg, text)
    if kind == "not":
        assert not answer.supported
        return
    assert answer.supported and answer.citations, answer.sentences
    things = {str(c.triple.s).removeprefix(E) for c in answer.citations}
    assert things <= set(FACTS)
    check = verify(kg, answer.to_json())
    assert check.ok, str(check)


def test_words_that_stand_in_lines_of_one_part_belong_together() -> None:
    one, other = "8.jpg (xywh=1,1,2,2)", "8.jpg (xywh=5,5,2,2)"
    context = context_of((one, "category", "jacket"), (one, "attribute", "green"), (other, "category", "hat"))
    citer = PictureCiter("a green jacket", context, ["8.jpg"])
    support = citer.support("8.jpg shows a green jacket.")
    assert support.supported and {line.id for line in support.lines} == {"t1", "t2"}
    assert not citer.support("8.jpg shows a green hat.").supported


def test_numbers_become_names(kg: KnowledgeGraph) -> None:
    text = said(kg, "Images 1, 2 and 3 show a hat.").text
    assert text.startswith("the beach, the street and the park show")
    assert "Images 1 and 9" in said(kg, "Images 1 and 9 show a hat.").text
