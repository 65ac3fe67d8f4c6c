"""Pictures of an evaluation, as SVG that needs no library: means with intervals, and maps of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.evaluation.report import Evaluation

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that can be told apart with any colour vision (Okabe and Ito, 2008)."""


def intervals_svg(found: Evaluation) -> str:
    """Draw the mean of each system by each measure as a dot, its interval as a line.

    Args:
        found: The evaluation.

    Returns:
        An SVG document. Every measure has the scale 0 to 1.
    """
    names = [system.name for system in found.systems]
    left, width, line = 20 + 7 * max(map(len, names)), 360, 18
    block = line * len(names) + 34
    picture = _svg(left + width + 90, block * len(found.measures) + 20, found.title)
    for at, measure in enumerate(found.measures):
        top = 20 + at * block
        _text(picture, left, top + 4, measure, weight="bold")
        for tick in range(5):
            x = left + width * tick / 4
            _line(picture, x, top + 12, x, top + block - 18, "#dddddd")
            _text(picture, x, top + block - 6, f"{tick / 4:g}", anchor="middle", size=10)
        for row, system in enumerate(found.systems):
            y = top + 22 + row * line
            colour = _COLOURS[row % len(_COLOURS)]
            _text(picture, left - 8, y + 4, system.name, anchor="end")
            mean = system.means.get(measure)
            if mean is not None:
                _line(picture, left + width * mean.low, y, left + width * mean.high, y, colour, 2)
                dot = SubElement(
                    picture, "circle", cx=_n(left + width * mean.mean), cy=_n(y), r="4", fill=colour
                )
                SubElement(dot, "title").text = f"{mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]"
                _text(picture, left + width + 8, y + 4, f"{mean.mean:.3f}")
    return _printed(picture)


def points_svg(
    points: npt.NDArray[np.float64],
    titles: Sequence[str],
    groups: Sequence[str] | None = None,
    *,
    title: str = "Questions",
) -> str:
    """Draw points in the plane; what each stands for shows under the pointer.

    Args:
        points: Shape (n, 2).
        titles: One text a point.
        groups: One name a point; each has a colour, the seventh and later ones share the last.
        title: Of the picture.

    Raises:
        ConfigError: If the numbers of points, titles and groups differ.
    """
    kinds = list(groups) if groups is not None else [""] * len(titles)
    if points.shape != (len(titles), 2) or len(kinds) != len(titles):
        raise ConfigError("Every point needs two coordinates, a title and a group.")
    size, edge = 520, 20
    picture = _svg(size + 180, size, title)
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.where(high > low, high - low, 1)
    placed = edge + (points - low) / spread * (size - 2 * edge)
    order = [kind for kind in dict.fromkeys(sorted(kinds)) if kind]
    colour = {kind: _COLOURS[min(i, len(_COLOURS) - 1)] for i, kind in enumerate(order)}
    for (x, y), text, kind in zip(placed.tolist(), titles, kinds, strict=True):
        fill = colour.get(kind, _COLOURS[0])
        dot = SubElement(
            picture, "circle", {"cx": _n(x), "cy": _n(y), "r": "3", "fill": fill, "fill-opacity": "0.7"}
        )
        SubElement(dot, "title").text = f"{text} ({kind})" if kind else text
    for row, kind in enumerate(order[: len(_COLOURS)]):
        SubElement(picture, "circle", cx=_n(size + 8), cy=_n(20 + row * 18), r="4", fill=colour[kind])
        _text(picture, size + 18, 24 + row * 18, kind[:24])
    return _printed(picture)


def tsne(
    vectors: npt.NDArray[np.float32], *, seed: int = 0, perplexity: float = 30.0
) -> npt.NDArray[np.float64]:
    """Lay vectors out in the plane, near ones near each other.

    By t-SNE (van der Maaten and Hinton, 2008, Visualizing Data using t-SNE, JMLR 9), from the first two
    principal components. Distances between far groups mean nothing.

    Args:
        vectors: Shape (n, dim), 4 or more.
        seed: The same seed gives the same picture with one version of scikit-learn on one machine.
        perplexity: How many neighbours count; lowered where there are few vectors.

    Returns:
        Shape (n, 2).

    Raises:
        ConfigError: If there are fewer than 4 vectors or scikit-learn is not installed.
    """
    if len(vectors) < 4:
        raise ConfigError(f"{len(vectors)} questions are too few for a picture.", hint="Give 4 or more.")
    try:
        manifold: Any = import_module("sklearn.manifold")
    except ImportError as error:
        raise ConfigError("scikit-learn is not installed.", hint="pip install 'mrag[eval]'") from error
    near = min(perplexity, (len(vectors) - 1) / 3)
    laid = manifold.TSNE(n_components=2, perplexity=near, init="pca", random_state=seed).fit_transform(
        vectors
    )
    return np.asarray(laid, np.float64)


def _svg(width: float, height: float, title: str) -> Element:
    attributes = {"viewBox": f"0 0 {_n(width)} {_n(height)}", "width": _n(width), "height": _n(height)}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **attributes})
    picture.set("font-family", "sans-serif")
    SubElement(picture, "title").text = title
    SubElement(picture, "rect", width="100%", height="100%", fill="#ffffff")
    return picture


def _text(
    at: Element, x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = ""
) -> None:
    attributes: Mapping[str, str] = {"x": _n(x), "y": _n(y), "text-anchor": anchor, "font-size": str(size)}
    extra = {"font-weight": weight} if weight else {}
    SubElement(at, "text", {**attributes, **extra}).text = text


def _line(at: Element, x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> None:
    SubElement(
        at,
        "line",
        {
            "x1": _n(x1),
            "y1": _n(y1),
            "x2": _n(x2),
            "y2": _n(y2),
            "stroke": colour,
            "stroke-width": str(width),
        },
    )


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _printed(picture: Element) -> str:
    return tostring(picture, encoding="unicode") + "\n"
