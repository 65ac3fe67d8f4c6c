"""Picture files: what is read, refused, cut and shrunk."""

from __future__ import annotations

import base64
import io
import random
import sys
from pathlib import Path

import pytest

from mrag.errors import ConfigError, LoadError
from mrag.images.files import QUARTERS, Box, PictureLimits, file_in, open_picture, pixels, sniff

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")

KINDS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    dice = random.Random(3)
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), dice.randbytes(width * height * bands))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (317, 203), (16, 4000)])
def test_kind_and_size_are_read_from_the_first_bytes(kind: str, size: tuple[int, int]) -> None:
    data = encoded(noise(*size), kind)
    assert sniff(data) == (KINDS[kind], *size)


def test_every_way_of_webp_and_jpeg_is_read() -> None:
    assert sniff(encoded(noise(33, 21), "WEBP", lossless=True)) == ("image/webp", 33, 21)
    assert sniff(encoded(noise(33, 21, "RGBA"), "WEBP")) == ("image/webp", 33, 21)
    assert sniff(encoded(noise(33, 21), "JPEG", progressive=True)) == ("image/jpeg", 33, 21)
    exif = Image.Exif()
    exif[0x010E] = "x" * 5000
    assert sniff(encoded(noise(33, 21), "JPEG", exif=exif)) == ("image/jpeg", 33, 21)


def test_no_cut_or_altered_file_does_more_than_fail(tmp_path: Path) -> None:
    dice = random.Random(5)
    path = tmp_path / "x"
    for kind in KINDS:
        whole = encoded(noise(40, 30), kind)
        for _ in range(60):
            data = bytearray(whole[: dice.randrange(len(whole))] if dice.random() < 0.5 else whole)
            for _ in range(dice.randrange(4)):
                if data:
                    data[dice.randrange(len(data))] = dice.randrange(256)
            path.write_bytes(data)
            try:
                picture = open_picture(path, PictureLimits(max_pixels=1 << 20))
            except LoadError as error:
                assert error.file == str(path)
            else:
                assert picture.width * picture.height <= 1 << 20


def test_a_picture_that_is_small_enough_is_sent_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(encoded(noise(64, 48), "JPEG"))
    picture = open_picture(path)
    assert picture.data == path.read_bytes() and picture.mime == "image/jpeg"
    assert base64.b64decode(picture.block()["base64"]) == picture.data
    assert picture.data_uri().startswith("data:image/jpeg;base64,")


def test_a_large_picture_is_shrunk_and_a_turned_one_is_turned(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    path.write_bytes(encoded(noise(200, 100), "JPEG", exif=exif))
    picture = open_picture(path, PictureLimits(max_side=50))
    assert (picture.width, picture.height) == (25, 50)
    assert open_picture(path, PictureLimits(max_side=0)).width == 100


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "I;16", "1"])
def test_every_kind_of_colour_becomes_red_green_and_blue(mode: str, tmp_path: Path) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    path = tmp_path / "a"
    path.write_bytes(encoded(Image.new(mode, (30, 20)), kind))
    shrunk = open_picture(path, PictureLimits(max_side=10))
    assert Image.open(io.BytesIO(shrunk.data)).mode == "RGB"
    assert pixels(open_picture(path)).shape == (20, 30, 3)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(Image.new("RGBA", (30, 20), (0, 0, 0, 0)), "PNG"))
    assert pixels(open_picture(path)).min() == 255


def test_a_part_is_cut_out_of_the_pixels(tmp_path: Path) -> None:
    image = Image.new("RGB", (100, 50), "white")
    image.paste((200, 0, 0), (20, 10, 60, 40))
    path = tmp_path / "a.png"
    image.save(path)
    cut = pixels(open_picture(path, box=Box(20, 10, 40, 30)))
    assert cut.shape == (30, 40, 3) and abs(cut.mean(axis=(0, 1)) - (200, 0, 0)).max() < 4
    corner = open_picture(path, box=Box(90, 40, 100, 100))
    assert (corner.width, corner.height) == (10, 10)
    with pytest.raises(LoadError, match="outside"):
        open_picture(path, box=Box(100, 0, 5, 5))
    whole = sum(p.width * p.height for p in (open_picture(path, box=box) for box in QUARTERS))
    assert whole == 100 * 50


def test_without_pillow_files_go_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jpeg, gif = tmp_path / "a.jpg", tmp_path / "a.gif"
    jpeg.write_bytes(encoded(noise(64, 48), "JPEG"))
    gif.write_bytes(encoded(noise(64, 48), "GIF"))
    monkeypatch.setitem(sys.modules, "PIL", None)
    picture = open_picture(jpeg, PictureLimits(max_side=10))
    assert (picture.data, picture.width) == (jpeg.read_bytes(), 64)
    with pytest.raises(LoadError, match="image/gif needs Pillow"):
        open_picture(gif)
    with pytest.raises(ConfigError, match="need Pillow"):
        open_picture(jpeg, box=Box(0, 0, 1, 1))
    with pytest.raises(ConfigError, match="need Pillow"):
        pixels(picture)
    jpeg.write_bytes(b"x")
    with pytest.raises(LoadError, match="no JPEG"):
        open_picture(jpeg)


@pytest.mark.parametrize("text", ["", "1 2 3", "a b c d", "1 2 0 5", "1 2 -3 5", "nan 1 2 3", "1 2 inf 3"])
def test_what_is_no_box_is_refused(text: str) -> None:
    with pytest.raises(LoadError):
        Box.read(text)


def test_a_fragment_is_read_back() -> None:
    for box in (Box(1, 2, 3, 4), Box(0, 50, 50, 50, True)):
        assert Box.of(box.fragment) == box


def test_files_over_a_limit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(noise(64, 48), "PNG"))
    with pytest.raises(LoadError, match="more than 100 bytes"):
        open_picture(path, PictureLimits(max_bytes=100))
    with pytest.raises(LoadError, match="too large: 64x48"):
        open_picture(path, PictureLimits(max_pixels=64 * 48 - 1))
    with pytest.raises(ConfigError):
        PictureLimits(max_pixels=100_000_000)


@pytest.mark.parametrize(
    "name",
    ["../secret.png", "/etc/passwd", "link.png", "http://example.org/a.png", "file://host/a.png", "a\0b", "",
     "file:///etc/passwd", "sub/../../secret.png", "x" * 5000],
)  # fmt: skip
def test_a_name_cannot_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"x")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(LoadError):
        file_in(folder, name)


def test_a_file_iri_may_name_a_file_in_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "ein Bild.png"
    path.write_bytes(b"x")
    assert file_in(tmp_path, path.as_uri()) == path == file_in(tmp_path, "ein Bild.png")
