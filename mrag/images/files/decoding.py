"""Pictures decoded by Pillow: what runs in a child process, so that no file takes more than it may."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from mrag.errors import LoadError
from mrag.redaction import brief

if TYPE_CHECKING:
    from mrag.images.files.folder import Box, PictureLimits

_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
_SENT = ("JPEG", "PNG", "WEBP")
_MOST_PIXELS = 80_000_000


def made_small(data: bytes, limits: PictureLimits, box: Box | None) -> tuple[bytes, tuple[int, int]] | None:
    """Return a picture as a JPEG that is small enough, with its size; None if it can be sent as it is.

    Args:
        data: The file.
        limits: What may be unpacked and sent.
        box: The part that is wanted; the whole by default.

    Raises:
        LoadError: If it cannot be decoded whole, or is too large.
    """
    image, turned = _decoded(data, limits.max_pixels, upright=box is None)
    large = limits.max_side and max(image.size) > limits.max_side
    if box is not None:
        image = image.crop(box.within(image.width, image.height))
    elif not large and not turned and image.format in _SENT:
        return None
    image = _flat(image)
    if limits.max_side:
        image.thumbnail((limits.max_side, limits.max_side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue(), image.size


def values(data: bytes) -> tuple[bytes, tuple[int, int, int]]:
    """Return the red, green and blue of a picture, row by row, and the shape of the array.

    Raises:
        LoadError: If it cannot be decoded whole.
    """
    image = _flat(_decoded(data, _MOST_PIXELS, upright=True)[0])
    return image.tobytes(), (image.height, image.width, 3)


def _decoded(data: bytes, max_pixels: int, *, upright: bool) -> tuple[Any, bool]:
    """Decode a whole picture, turned as its EXIF data say; tell whether that changed it."""
    from PIL import Image, ImageOps

    try:
        image: Any = Image.open(io.BytesIO(data), formats=_FORMATS)
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
