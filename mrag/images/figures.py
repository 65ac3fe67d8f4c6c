"""Images of an answer, drawn for a notebook."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from mrag import html
from mrag.context.render import Line
from mrag.errors import LoadError
from mrag.generation.result import ShownImage
from mrag.graph.record import status_of
from mrag.images.files.folder import Picture, PictureLimits, open_picture

_SHOWN = PictureLimits(max_side=320)


def figures(images: Iterable[ShownImage], cited: Collection[str]) -> html.Html:
    """Return images with what is said of them; all that comes from the graph or a model is escaped.

    Args:
        images: The images.
        cited: Ids of the lines that the answer cites; they are shown in bold.
    """
    return html.Html("".join(_figure(image, cited) for image in images))


def picture_of(path: Path | None, limits: PictureLimits) -> Picture | None:
    """Return the picture in a file, None where there is none that can be shown."""
    if path is None:
        return None
    try:
        return open_picture(path, limits)
    except LoadError:
        return None  # the facts stand without it


def _figure(image: ShownImage, cited: Collection[str]) -> str:
    picture = picture_of(image.path, _SHOWN)
    shown = ""
    if picture is not None:
        shown = (
            f'<img src="{picture.data_uri()}" alt="{html.text(image.name)}" '
            'style="max-width:320px;max-height:320px">'
        )
    facts = "".join(
        f"<li>{'<b>' if line.id in cited else ''}[{html.text(line.id)}] {html.text(line.text)}"
        f"{_origin(line)}{'</b>' if line.id in cited else ''}</li>"
        for line in image.lines
    )
    why = html.text("; ".join(image.reasons))
    return (
        f'<figure style="margin:1em 0">{shown}<figcaption><b>{image.rank}. {html.text(image.name)}</b> '
        f"<code>{html.text(image.iri)}</code><br><small>{why}</small><ul>{facts}</ul></figcaption></figure>"
    )


def _origin(line: Line) -> str:
    if line.inferred:
        return " (inferred)"
    return " (said by a model)" if status_of(line.graph) == "enriched" else ""
