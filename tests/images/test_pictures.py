"""Picture files, also those that are made to blow a decoder up; and the catalogue that is kept of images."""

import base64
import io
import os
import random
import resource
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.files import QUARTERS, Box, PictureLimits, file_in, open_picture, pixels, sniff
from mrag.images.graph import EX, FACETS, ImageCatalogue, KeptCatalogue, PartFeatures
from mrag.rdf.terms import Triple
from mrag.stores.process import parsing

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
    exif = Image.Exif()
    exif[0x010E] = "x" * 5000
    ways = [("WEBP", "RGB", {"lossless": True}), ("WEBP", "RGBA", {}), ("JPEG", "RGB", {"progressive": True}),
            ("JPEG", "RGB", {"exif": exif})]  # fmt: skip
    for kind, mode, options in ways:
        assert sniff(encoded(noise(33, 21, mode), kind, **options)) == (KINDS[kind], 33, 21)


def saved(folder: Path, data: bytes) -> Path:
    (folder / "picture").write_bytes(data)
    return folder / "picture"


def test_a_picture_that_is_small_enough_is_sent_as_it_is(tmp_path: Path) -> None:
    path = saved(tmp_path, encoded(noise(64, 48), "JPEG"))
    picture = open_picture(path)
    assert picture.data == path.read_bytes() and picture.mime == "image/jpeg"
    assert base64.b64decode(picture.block()["base64"]) == picture.data
    assert picture.data_uri().startswith("data:image/jpeg;base64,")


def test_a_large_picture_is_shrunk_and_a_turned_one_is_turned(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = saved(tmp_path, encoded(noise(200, 100), "JPEG", exif=exif))
    picture = open_picture(path, PictureLimits(max_side=50))
    assert (picture.width, picture.height) == (25, 50)
    assert open_picture(path, PictureLimits(max_side=0)).width == 100


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "I;16", "1"])
def test_every_kind_of_colour_becomes_red_green_and_blue(mode: str, tmp_path: Path) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    path = saved(tmp_path, encoded(Image.new(mode, (30, 20)), kind))
    shrunk = open_picture(path, PictureLimits(max_side=10))
    assert Image.open(io.BytesIO(shrunk.data)).mode == "RGB"
    assert pixels(open_picture(path)).shape == (20, 30, 3)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    path = saved(tmp_path, encoded(Image.new("RGBA", (30, 20), (0, 0, 0, 0)), "PNG"))
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
    path = saved(tmp_path, encoded(noise(64, 48), "PNG"))
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


TRIES = int(os.environ.get("MRAG_TEST_TRIES", "60"))


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """Put a PNG file together."""
    found = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        found += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return found


def header(width: int, height: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)


def bomb() -> bytes:
    return zlib.compress(b"\0" * 200_000_000, 9)


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
    "png: bomb in a text": lambda: png(header(1, 1), (b"zTXt", b"a\0\0" + bomb()), (b"IEND", b"")),
    "png: bomb in a profile": lambda: png(header(1, 1), (b"iCCP", b"a\0\0" + bomb()), (b"IEND", b"")),
    "png: many chunks": lambda: png(header(1, 1), *((b"tEXt", b"a\0b") for _ in range(10_000))),
    "png: no end": lambda: encoded(Image.effect_noise((200, 200), 90), "PNG")[:20_000],
    "gif: absurd size": lambda: b"GIF89a" + b"\xff" * 4 + b"\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "gif: frame larger than the picture": lambda: b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "gif: many frames": lambda: gif(400),
    "webp: absurd size": lambda: b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\xff" * 6 + b"VP8L\0\0\0\0",
    "webp: many frames": lambda: encoded(
        Image.new("RGB", (300, 300)), "WEBP", save_all=True,
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
}  # fmt: skip
FINE = {"png: bomb", "png: many chunks", "png: bomb in a profile", "gif: many frames", "webp: many frames",
        "page behind a jpeg"}  # fmt: skip
"""These may be read: what comes of them is small."""


@pytest.mark.parametrize("name", ATTACKS)
def test_pictures_that_attack_are_refused_or_stay_small(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path, ATTACKS[name]())
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
    path = saved(tmp_path, ATTACKS["png: bomb"]())
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
            elif dice.random() < 0.2:
                del data[max(at, 1) :]
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


NOTHING = PartFeatures(frozenset(), frozenset())
SCENES = EX + "scenes#"
VALUES = [EX + name for name in ("coat", "hat", "shoe", "red", "blue", "plain")]


def drawn(seed: int) -> Triple:
    """Draw one triple such as annotations consist of, of few images and parts."""
    rng = random.Random(seed)
    image, part = URIRef(f"{EX}image_{rng.randrange(12)}"), URIRef(f"{EX}part_{rng.randrange(30)}")
    value = URIRef(rng.choice(VALUES))
    a = URIRef("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    return rng.choice([
        Triple(image, URIRef(EX + "hasFileName"), Literal(f"{rng.randrange(3)}.png")),
        Triple(image, URIRef(EX + "hasFileName"), Literal(f"{rng.randrange(3)}.png")),
        Triple(part, URIRef(EX + "hasImage"), image), Triple(part, URIRef(EX + "hasImage"), image),
        Triple(image, URIRef(SCENES + "hasObject"), part), Triple(part, URIRef(EX + "hasCategory"), value),
        Triple(image, URIRef(EX + "hasAnnotationCategory"), value),
        Triple(part, URIRef(EX + "hasAttribute"), value), Triple(part, a, value),
    ])  # fmt: skip


def said(found: ImageCatalogue) -> dict[str, object]:
    """Return all that a catalogue says."""
    rng = np.random.default_rng(1)
    some = rng.random(len(found.images)) < 0.6
    pairs = ((VALUES[:2], VALUES[3:5]), ([], VALUES[3:4]))
    every = [PartFeatures(*map(frozenset, pair)) for pair in pairs]
    return {
        "files": found.files,
        "counts": [found.counts(name, chosen) for name in FACETS for chosen in (some, found.choose())],
        "chosen": [found.iris(found.choose({"category": [one]})) for one in VALUES],
        "alike": [found.alike(every[:n], some, 9) for n in (1, 2)],
        "weighted": found.weigh({VALUES[0]: 2.0, VALUES[3]: 0.5}, found.choose(), 9),
    }  # fmt: skip


def test_what_is_kept_is_what_would_be_read_and_of_one_state(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.insert([drawn(n) for n in range(60)])
        kept = KeptCatalogue(kg)
        found = kept.bring_up_to_date()
        assert said(found) == said(ImageCatalogue.read(kg))
        again = KeptCatalogue(kg).current()
        assert again is not None and said(again) == said(found)
        kg.insert([drawn(100 + n) for n in range(3)])
        assert kept.current() is None and kept.known is found and KeptCatalogue(kg).current() is None
        assert said(kept.bring_up_to_date()) == said(ImageCatalogue.read(kg))


def likeness(one: PartFeatures, other: PartFeatures) -> float:
    """Half for a shared category, half for the share of the attributes of either that both have."""
    either = one.attributes | other.attributes
    shared = len(one.attributes & other.attributes) / len(either) if either else 1.0
    if one.categories and not one.categories & other.categories:
        return 0.5 * shared if either else 0.0
    return 0.5 * bool(one.categories) + (0.5 if one.categories else 1.0) * shared


def test_likeness_is_that_of_the_features() -> None:
    rng = random.Random(3)

    def features() -> PartFeatures:
        names = [frozenset(rng.sample(VALUES, rng.randrange(3))) for _ in range(2)]
        return PartFeatures(*names)

    rows = [(f"urn:{rng.randrange(20):02}", features()) for _ in range(60)]
    found = ImageCatalogue({f"urn:{at:02}": "x.png" for at in range(20)}, rows)
    for _ in range(40):
        wanted = [one for one in (features(), features()) if one.categories or one.attributes]
        if not wanted:
            continue
        scores = {
            image: sum(
                max((likeness(one, k) for i, k in rows if i == image and k != NOTHING), default=0.0)
                for one in wanted
            )
            / len(wanted)
            for image in found.images
        }  # fmt: skip
        best = sorted(((-score, image) for image, score in scores.items() if score > 0))
        given = found.alike(wanted, found.choose(), 20)
        assert [s for _, s in given] == pytest.approx([-s for s, _ in best])
        assert dict(given) == pytest.approx({i: -s for s, i in best})


def small(kg: KnowledgeGraph) -> KeptCatalogue:
    kg.insert([Triple(URIRef("urn:i1"), URIRef(EX + "hasFileName"), Literal("1.png"))])
    kept = KeptCatalogue(kg)
    kept.bring_up_to_date()
    return kept


def test_a_damaged_or_foreign_file_is_read_anew(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        small(kg)
        [file] = (tmp_path / "store.mrag").rglob("catalogue.npz")
        whole = file.read_bytes()
        for data in (b"", b"no zip", whole[:-30], whole[:200] + b"\0\0\0\0" + whole[204:]):
            file.write_bytes(data)
            assert KeptCatalogue(kg).current() is None
            assert KeptCatalogue(kg).bring_up_to_date().images == ("urn:i1",)
            assert file.read_bytes() == whole


def test_pages_without_a_catalogue_are_those_with_it() -> None:
    with mrag.connect() as kg:
        kept = KeptCatalogue(kg)
        name = URIRef(EX + "hasFileName")
        kg.insert(Triple(URIRef(f"urn:{n:03}"), name, Literal(f"{n}.png")) for n in range(50))
        images = kept.bring_up_to_date().images
        assert (list(kept.page("", 20)[0]), kept.page("", 20)[1]) == (list(images[:20]), 50)
        assert list(kept.page(images[19], 40)[0]) == list(images[20:])
        # As a server gives them, by the query.
        from mrag.rdf import queries

        rows = kg.select(queries.get("image/page").bind(after=[Literal(images[9])], limit=5))
        assert [(str(i), str(f)) for i, f in rows] == [(i, kept.known.files[i]) for i in images[10:15]]  # type: ignore[union-attr]
        [(count,)] = kg.select(queries.get("image/count").text)
        assert int(str(count)) == 50
