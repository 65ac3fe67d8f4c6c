"""Picture files: found, checked and decoded within limits."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import re
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from mrag.errors import ConfigError, LoadError, StoreError
from mrag.redaction import brief
from mrag.stores.process.parsing import perform


def sniff(data: bytes, name: str = "") -> tuple[str, int, int]:
    """Return media type, width and height from the first bytes of a picture."""
    try:
        header = _sniff(data)
    except (struct.error, IndexError):
        header = None
    if header is None or header[1] < 1 or header[2] < 1:
        raise LoadError("The file is no JPEG, PNG, WebP or GIF picture.", file=name or None)
    return header


def _sniff(data: bytes) -> tuple[str, int, int] | None:
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        return ("image/png", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return ("image/gif", *struct.unpack("<HH", data[6:10]))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if data[:3] == b"\xff\xd8\xff":
        return _jpeg(data)
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    """Read the size from a WebP file (RFC 9649, section 2)."""
    kind = data[12:16]
    if kind == b"VP8X":
        w, h = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        w, h = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        w, h = (n & 0x3FFF for n in struct.unpack("<HH", data[26:30]))
    else:
        return None
    return "image/webp", w, h


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    """Read the size from the frame header of a JPEG file (ITU-T T.81, annex B.2.2)."""
    at = 2
    while data[at] == 0xFF:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 4 : at + 8])
            return "image/jpeg", width, height
        if marker in (0xD9, 0xDA):
            return None
        at += (
            1
            if marker == 0x01 or 0xD0 <= marker <= 0xD7
            else 1 + struct.unpack(">H", data[at + 1 : at + 3])[0]
        )
    return None


MOST_PIXELS: Final = 80_000_000  # Below the size at which Pillow itself warns of a decompression bomb

_SENT = ("image/jpeg", "image/png", "image/webp")
_PATH = re.compile(r"[/\\:\0]|^\.\.?$")


@dataclass(frozen=True)
class PictureLimits:
    """What may be read and sent.

    Raises:
        ConfigError: If a limit is out of range.
    """

    # Longest side of what is sent, in pixels; what is larger is shrunk. 0 shrinks nothing
    max_side: int = 1024
    max_bytes: int = 64 << 20  # Most bytes of a file
    max_pixels: int = MOST_PIXELS  # Most pixels of a picture, 80 million at most

    def __post_init__(self) -> None:
        if self.max_side < 0 or self.max_bytes < 1 or not 0 < self.max_pixels <= MOST_PIXELS:
            hint = f"max_pixels is at most {MOST_PIXELS:,}."
            raise ConfigError("A limit of pictures is out of range.", hint=hint)


@dataclass(frozen=True)
class Box:
    """A part of a picture, in whole pixels or in percent of its sides."""

    x: int
    y: int
    w: int
    h: int
    percent: bool = False

    @property
    def fragment(self) -> str:
        """Return the box as W3C Media Fragments URI 1.0, section 4.2.2, writes it."""
        return f"xywh={'percent:' if self.percent else ''}{self.x},{self.y},{self.w},{self.h}"

    @classmethod
    def of(cls, fragment: str) -> Box:
        """Read what `fragment` wrote."""
        numbers = fragment.removeprefix("xywh=")
        x, y, w, h = (int(part) for part in numbers.removeprefix("percent:").split(","))
        return cls(x, y, w, h, numbers.startswith("percent:"))

    @classmethod
    def read(cls, text: str) -> Box:
        """Read `left top width height` in pixels; broken ones are widened to whole pixels."""
        try:
            x, y, w, h = (float(part) for part in text.split())
            left, top = max(math.floor(x), 0), max(math.floor(y), 0)
            box = cls(left, top, math.ceil(x + w) - left, math.ceil(y + h) - top)
        except (ValueError, OverflowError) as error:
            raise LoadError(f"Not a bounding box: {text[:80]!r}.") from error
        if w <= 0 or h <= 0 or box.w < 1 or box.h < 1:
            raise LoadError(f"The bounding box {text[:80]!r} has no area.")
        return box

    def within(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom in pixels, cut at the edges of a picture."""
        sx, sy = (width / 100, height / 100) if self.percent else (1.0, 1.0)
        left, top = round(self.x * sx), round(self.y * sy)
        right, bottom = min(round((self.x + self.w) * sx), width), min(round((self.y + self.h) * sy), height)
        if right <= left or bottom <= top:
            raise LoadError(f"The region {self.fragment} lies outside of the picture ({width}x{height}).")
        return left, top, right, bottom


def part_of(image: str, fragment: str) -> str:
    """Return the IRI of a part of an image; of an image that is a fragment itself, as one more dimension."""
    return f"{image}{'&' if '#' in image else '#'}{fragment}" if fragment else image


QUARTERS: Final = tuple(Box(x, y, 50, 50, True) for y in (0, 50) for x in (0, 50))
"""The parts of a picture in which nothing is annotated, row by row."""


@dataclass(frozen=True)
class Picture:
    """A picture, ready to be sent."""

    data: bytes
    mime: str
    width: int
    height: int
    digest: str

    def block(self) -> dict[str, str]:
        """Return the picture as a content block of a LangChain message."""
        return {
            "type": "image",
            "base64": base64.b64encode(self.data).decode("ascii"),
            "mime_type": self.mime,
        }

    def data_uri(self) -> str:
        """Return the picture as a `data:` URI (RFC 2397)."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def file_in(folder: Path, name: str) -> Path:
    """Return the file that a graph names."""
    parts = urlsplit(name) if "://" in name or name.startswith("file:") else None
    if parts is not None and (parts.scheme != "file" or parts.netloc not in ("", "localhost")):
        raise LoadError("The picture lies on the web; nothing is fetched from there.", file=name)
    path = unquote(parts.path) if parts is not None else name
    try:
        # Most graphs name files of the one folder, and to follow each name through it takes time.
        if name and not _PATH.search(name) and S_ISREG((folder / name).lstat().st_mode):
            return folder / name
    except OSError:
        pass
    root = folder.resolve()
    try:
        file = (root / path).resolve()
        inside, there = file.is_relative_to(root), file.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise LoadError("The name is no path.", file=name[:200]) from error
    if not inside:
        raise LoadError("The name leads out of the folder of pictures.", file=name)
    if not there:
        raise LoadError("There is no such file.", file=str(file))
    return file


def open_picture(
    path: Path, limits: PictureLimits | None = None, box: Box | None = None, *, data: bytes | None = None
) -> Picture:
    """Read a picture, check it, and make it small enough."""
    limits = limits or PictureLimits()
    data = read_capped(path, limits.max_bytes) if data is None else data
    mime, width, height = sniff(data, str(path))
    if width * height > limits.max_pixels:
        hint = f"At most {limits.max_pixels:,} pixels are unpacked."
        raise LoadError(f"The picture is too large: {width}x{height} pixels.", file=str(path), hint=hint)
    digest = hashlib.sha256(data).hexdigest()
    if find_spec("PIL") is None:
        if box is not None:
            what = "Parts of pictures need Pillow."
            raise ConfigError(what, hint="Install it with: pip install 'mrag[images]'")
        if mime not in _SENT:
            raise LoadError(f"A picture of type {mime} needs Pillow to be sent.", file=str(path))
        return Picture(data, mime, width, height, digest)
    try:
        picture = perform("mrag.images.files:shrink", data, limits, box)
    except StoreError as error:
        raise _of_file(error, path) from error
    if picture is None:
        return Picture(data, mime, width, height, digest)
    small, (width, height) = picture
    return Picture(small, "image/jpeg", width, height, digest)


def pixels(picture: Picture) -> Any:
    """Return a picture as an array of 8-bit red, green and blue, shape (height, width, 3)."""
    import numpy as np

    if find_spec("PIL") is None:
        raise ConfigError("Pixels need Pillow.", hint="Install it with: pip install 'mrag[images]'")
    try:
        values, shape = perform("mrag.images.files:values", picture.data)
    except StoreError as error:
        raise _of_file(error, Path()) from error
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_capped(path: Path, max_bytes: int) -> bytes:
    """Read a file of at most so many bytes."""
    try:
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise LoadError(f"The file cannot be read: {error.strerror or error}.", file=str(path)) from error
    if len(data) > max_bytes:
        raise LoadError(f"The file has more than {max_bytes:,} bytes.", file=str(path))
    return data


def _of_file(error: StoreError, path: Path) -> LoadError:
    """Return the error with the name of the file, which the process that decodes does not know."""
    return LoadError(error.message, file=str(path), hint=error.hint)


def shrink(data: bytes, limits: PictureLimits, box: Box | None) -> tuple[bytes, tuple[int, int]] | None:
    """Return a picture as a JPEG that is small enough, with its size; None if it can be sent as it is."""
    from PIL import Image

    image, turned = _decode(data, limits.max_pixels, upright=box is None)
    large = limits.max_side and max(image.size) > limits.max_side
    if box is not None:
        image = image.crop(box.within(image.width, image.height))
    elif not large and not turned and Image.MIME.get(image.format) in _SENT:
        return None
    image = _flat(image)
    if limits.max_side:
        image.thumbnail((limits.max_side, limits.max_side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue(), image.size


def values(data: bytes) -> tuple[bytes, tuple[int, int, int]]:
    """Return the red, green and blue of a picture, row by row, and the shape of the array."""
    image = _flat(_decode(data, MOST_PIXELS, upright=True)[0])
    return image.tobytes(), (image.height, image.width, 3)


def _decode(data: bytes, max_pixels: int, *, upright: bool) -> tuple[Any, bool]:
    """Decode a whole picture, turned as its EXIF data say; tell whether that changed it."""
    from PIL import Image, ImageOps

    try:
        image: Any = Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP", "GIF"))
        if image.width * image.height > max_pixels:
            # A file can say one size where it begins and another further on.
            raise LoadError(f"The picture is too large: {image.width}x{image.height} pixels.")
        turn = upright and image.getexif().get(0x0112, 1) not in (0, 1)
        image.load()
        return (ImageOps.exif_transpose(image) if turn else image), turn
    except (LoadError, MemoryError):
        raise
    # Decoders of damaged files raise nearly anything.
    except Exception as error:
        what = brief(str(error), 160)
        raise LoadError(f"The picture cannot be decoded: {what}.") from error


def _flat(image: Any) -> Any:
    """Return a picture in red, green and blue, what is transparent on white."""
    from PIL import Image

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        ground = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(ground, image).convert("RGB")
    if image.mode in ("I", "I;16", "F"):
        import numpy as np

        values = np.asarray(image, np.float64)
        top = max(float(values.max()), 1.0)
        return Image.fromarray((values / top * 255).astype(np.uint8)).convert("RGB")
    return image.convert("RGB")
