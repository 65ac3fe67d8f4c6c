"""Pictures that are made to blow a decoder up: refused, or read within their limits."""

from __future__ import annotations

import io
import os
import random
import resource
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from mrag.errors import LoadError
from mrag.images.files import PictureLimits, open_picture, pixels
from mrag.stores.process import parsing

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "60"))


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """Put a PNG file together."""
    found = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        found += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return found


def header(width: int, height: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)


def gif(frames: int) -> bytes:
    pictures = [Image.new("P", (600, 600), number % 256) for number in range(frames)]
    return encoded(pictures[0], "GIF", save_all=True, append_images=pictures[1:])


SVG = b"""<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;&x;</text>
<image href="http://127.0.0.1:9/"/></svg>"""

ATTACKS: dict[str, Callable[[], bytes]] = {
    "png: absurd size": lambda: png(header(2**31 - 1, 2**31 - 1), (b"IDAT", b""), (b"IEND", b"")),
    "png: bomb": lambda: png(
        header(8_900, 8_900), (b"IDAT", zlib.compress(b"\0" * (8_900 * 26_701), 9)), (b"IEND", b"")
    ),
    "png: larger further on": lambda: png(
        header(1, 1), header(60_000, 60_000), (b"IDAT", zlib.compress(b"\0" * 100_000)), (b"IEND", b"")
    ),
    "png: bomb in a text": lambda: png(
        header(1, 1), (b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 200_000_000, 9)), (b"IEND", b"")
    ),
    "png: bomb in a profile": lambda: png(
        header(1, 1), (b"iCCP", b"a\0\0" + zlib.compress(b"\0" * 200_000_000, 9)), (b"IEND", b"")
    ),
    "png: many chunks": lambda: png(header(1, 1), *((b"tEXt", b"a\0b") for _ in range(10_000))),
    "png: no end": lambda: encoded(Image.effect_noise((200, 200), 90), "PNG")[:20_000],
    "gif: absurd size": lambda: b"GIF89a" + b"\xff" * 4 + b"\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "gif: frame larger than the picture": lambda: b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "gif: many frames": lambda: gif(400),
    "webp: absurd size": lambda: b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\xff" * 6 + b"VP8L\0\0\0\0",
    "webp: many frames": lambda: encoded(
        Image.new("RGB", (300, 300)),
        "WEBP",
        save_all=True,
        append_images=[Image.new("RGB", (300, 300), n) for n in range(60)],
    ),
    "jpeg: absurd size": lambda: b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\3" + b"\0" * 9 + b"\xff\xd9",
    "jpeg: two sizes": lambda: (
        encoded(Image.new("RGB", (9, 9)), "JPEG")[:-2] + b"\xff\xc0\0\x11\x08\xff\xff\xff\xff\3" + b"\0" * 9
    ),
    "tiff": lambda: encoded(Image.new("RGB", (9, 9)), "TIFF"),
    "tiff: absurd size": lambda: encoded(Image.new("1", (9, 9)), "TIFF").replace(
        struct.pack("<HHII", 256, 4, 1, 9), struct.pack("<HHII", 256, 4, 1, 2**31)
    ),
    "bmp": lambda: encoded(Image.new("RGB", (9, 9)), "BMP"),
    "ico": lambda: encoded(Image.new("RGB", (32, 32)), "ICO"),
    "svg": lambda: SVG,
    "svg behind a gif": lambda: b"GIF89a" + SVG,
    "page behind a jpeg": lambda: encoded(Image.new("RGB", (9, 9)), "JPEG") + b"<script>alert(1)</script>",
    "postscript": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 99999 99999\n(x) run\n",
    "nothing": lambda: b"",
}
FINE = {
    "png: bomb",
    "png: many chunks",
    "png: bomb in a profile",
    "gif: many frames",
    "webp: many frames",
    "page behind a jpeg",
}
"""These may be read: what comes of them is small."""


@pytest.mark.parametrize("name", ATTACKS)
def test_pictures_that_attack_are_refused_or_stay_small(name: str, tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(ATTACKS[name]())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        picture = open_picture(path)
    except LoadError as error:
        assert error.file == str(path) and error.message
    else:
        assert name in FINE
        assert max(picture.width, picture.height) <= 1024 and len(picture.data) < 1 << 20
        assert pixels(picture).shape[2] == 3
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 << 10, f"{grown >> 10} megabytes"


@pytest.mark.slow
def test_a_picture_that_takes_too_much_ends_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(ATTACKS["png: bomb"]())
    monkeypatch.setenv("MRAG_PARSE_MEMORY", "200")
    with pytest.raises(LoadError, match="200 megabytes") as caught:
        open_picture(path)
    assert caught.value.file == str(path)
    monkeypatch.setenv("MRAG_PARSE_SECONDS", "0.05")
    with pytest.raises(LoadError, match=r"0\.05 s"):
        open_picture(path)
    monkeypatch.undo()
    assert open_picture(path, PictureLimits(max_side=10)).width == 10
    parsing.close_all()


def test_altered_pictures_do_no_harm(tmp_path: Path) -> None:
    """Format by damage; MRAG_TEST_TRIES says how many."""
    dice = random.Random(7)
    image = Image.frombytes("RGB", (64, 48), dice.randbytes(64 * 48 * 3))
    frames = [image, image.rotate(90)]
    whole = [encoded(image, kind) for kind in ("JPEG", "PNG", "WEBP", "GIF")]
    whole += [encoded(image, k, save_all=True, append_images=frames) for k in ("PNG", "WEBP", "GIF")]
    path = tmp_path / "x"
    for _ in range(TRIES):
        data = bytearray(dice.choice(whole))
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(data))
            if dice.random() < 0.3:
                data[at : at + 4] = b"\xff\xff\xff\xff"
            elif dice.random() < 0.2:
                data += data[: dice.randrange(len(data))]
            else:
                # The first bytes, where sizes are, more often than others.
                data[dice.choice((at, at % 64))] = dice.randrange(256)
        path.write_bytes(data)
        try:
            picture = open_picture(path, PictureLimits(max_pixels=1 << 22))
        except LoadError as error:
            assert error.file == str(path)
        else:
            assert picture.width * picture.height <= 1 << 22
