"""Kind and size of a picture from its first bytes, without unpacking it."""

from __future__ import annotations

import struct

from mrag.errors import LoadError


def sniff(data: bytes, name: str = "") -> tuple[str, int, int]:
    r"""Return media type, width and height from the first bytes of a picture.

    Raises:
        LoadError: If it is no JPEG, PNG, WebP or GIF.

    Example:
        >>> sniff(b"GIF89a\x02\x00\x03\x00")
        ('image/gif', 2, 3)
    """
    try:
        found = _sniffed(data)
    except (struct.error, IndexError):
        found = None
    if found is None or found[1] < 1 or found[2] < 1:
        raise LoadError("The file is no JPEG, PNG, WebP or GIF picture.", file=name or None)
    return found


def _sniffed(data: bytes) -> tuple[str, int, int] | None:
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
