"""A small graph of pictures, as KG2 of Fashionpedia has them, with the pictures drawn."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import graph_of, opened
from tests.images.seeing_server import COLOURS, SeeingServer, llava

E = "http://example.org/"
GARMENTS = ("red", "green", "blue", "yellow", "white", "black")
"""The colours of a coat, a dress, pants, a hat, a shirt and shoes, each in a picture of its own."""
WARDROBE, ANNOTATIONS = (Path(__file__).with_name(f"{name}.ttl") for name in ("wardrobe", "annotations"))
"""A small image-centred graph in the wording of KG2, and annotations of its images, as KG1 has them."""


def turtle() -> str:
    return WARDROBE.read_text(encoding="utf-8")


def draw(folder: Path, size: tuple[int, int] = (60, 40)) -> Path:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")
    folder.mkdir(parents=True, exist_ok=True)
    for colour in GARMENTS:
        image.new("RGB", size, COLOURS[colour]).save(folder / f"{colour}.png")
    return folder


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return draw(tmp_path / "photos")


wardrobe = opened(lambda _: graph_of(WARDROBE), "function")  # The graph in memory


@pytest.fixture
def seeing(monkeypatch: pytest.MonkeyPatch) -> Iterator[SeeingServer]:
    with llava() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server
