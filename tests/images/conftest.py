"""A small graph of pictures, as KG2 of Fashionpedia has them, with the pictures drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore
from tests.images.seeing_server import COLOURS, SeeingServer, llava

E = "http://example.org/"
GARMENTS = {
    "red": ("coat", "upperbody"),
    "green": ("dress", "wholebody"),
    "blue": ("pants", "lowerbody"),
    "yellow": ("hat", "head"),
    "white": ("shirt, blouse", "upperbody"),
    "black": ("shoe", "legs and feet"),
}


def turtle() -> str:
    """Write a small image-centred graph, in the wording of KG2."""
    lines = ["@prefix : <http://example.org/> ."]
    for number, (colour, (garment, group)) in enumerate(GARMENTS.items(), start=1):
        lines.append(
            f':image_{number} a :Image ; :hasFileName "{colour}.png" ; :hasWidth 60 ; :hasHeight 40 ;\n'
            f"  :hasDescription \"Contains {garment} from supercategory '{group}' with the following "
            f"attributes: plain (pattern) of supercategory 'textile pattern'\" ,\n"
            f"    \"Contains sleeve from supercategory 'garment parts'\" ."
        )
    return "\n".join(lines)


def annotations() -> str:
    """Write a small graph of annotations over the same images, as KG1 has them."""
    lines = ["@prefix : <http://example.org/> .", ":category_0 a :Category ; :hasName \"coat\" .",
             ":category_1 a :Category ; :hasName \"dress\" ."]  # fmt: skip
    lines.append(":annotation_1 a :Annotation ; :hasImage :image_1 ; :hasCategory :category_0 ;"
                 " :hasBoundingBox \"0 0 30.5 40\" .")  # fmt: skip
    lines.append(":annotation_2 a :Annotation ; :hasImage :image_2 ; :hasCategory :category_1 ;"
                 " :hasBoundingBox \"10 10 0 5\" .")  # fmt: skip
    return "\n".join(lines)


def draw(folder: Path, size: tuple[int, int] = (60, 40)) -> Path:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")
    folder.mkdir(parents=True, exist_ok=True)
    for colour in GARMENTS:
        image.new("RGB", size, COLOURS[colour]).save(folder / f"{colour}.png")
    return folder


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return draw(tmp_path / "photos")


@pytest.fixture
def wardrobe(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """The graph in memory."""
    source = tmp_path / "wardrobe.ttl"
    source.write_text(turtle(), encoding="utf-8")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([source])
        yield kg


@pytest.fixture
def seeing(monkeypatch: pytest.MonkeyPatch) -> Iterator[SeeingServer]:
    with llava() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server
