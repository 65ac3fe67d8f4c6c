"""Pictures as SVG that needs no library: means with intervals, maps of questions, curves of growth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
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


def curves_svg(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], *, across: str, title: str
) -> str:
    """Draw how quantities grow, each in a panel of its own with logarithmic scales.

    Args:
        panels: By the name of a quantity, the points (x, y) of each line by its name; all above 0.
        across: What x is.
        title: Of the picture.

    Raises:
        ConfigError: If there is no point, or one that is not above 0.

    Example:
        >>> lines = {"local": [(10, 1), (1000, 80)]}
        >>> picture = curves_svg({"seconds": lines}, across="texts", title="Growth")
        >>> picture.count("<circle"), "80 seconds at 1,000" in picture
        (3, True)
    """
    given = [point for lines in panels.values() for points in lines.values() for point in points]
    if not given or min(min(point) for point in given) <= 0:
        raise ConfigError("A curve needs points above 0.", hint="Leave out what was not measured.")
    left, width, height, block, in_row = 70, 280, 180, 270, 2
    names = sorted({name for lines in panels.values() for name in lines})
    picture = _svg(in_row * (left + width + 40), -(-len(panels) // in_row) * block + 30, title)
    for at, name in enumerate(names):
        _text(picture, left + 140 * at + 14, 24, name)
        SubElement(
            picture, "circle", cx=_n(left + 140 * at + 5), cy="20", r="5", fill=_COLOURS[at % len(_COLOURS)]
        )
    for at, (quantity, lines) in enumerate(panels.items()):
        corner = (left + at % in_row * (left + width + 40), 60 + at // in_row * block)
        _text(picture, corner[0], corner[1] - 12, quantity, weight="bold")
        _text(picture, corner[0] + width / 2, corner[1] + height + 28, across, anchor="middle", size=10)
        values = [y for points in lines.values() for _, y in points]
        place = _axes(picture, corner, (width, height), _decades([x for x, _ in given]), _decades(values))
        for name, points in lines.items():
            colour, placed = _COLOURS[names.index(name) % len(_COLOURS)], sorted(points)
            for one, other in pairwise(placed):
                _line(picture, *place(*one), *place(*other), colour, 2)
            for x, y in placed:
                cx, cy = place(x, y)
                dot = SubElement(picture, "circle", cx=_n(cx), cy=_n(cy), r="3.5", fill=colour)
                SubElement(dot, "title").text = f"{name}: {y:,g} {quantity} at {x:,.0f}"
    return _printed(picture)


def _axes(
    picture: Element,
    corner: tuple[float, float],
    size: tuple[float, float],
    across: tuple[int, int],
    up: tuple[int, int],
) -> Callable[[float, float], tuple[float, float]]:
    """Draw a grid of powers of ten, and return where a point lies on it."""

    def place(x: float, y: float) -> tuple[float, float]:
        along, above = ((math.log10(v) - low) / (high - low) for v, (low, high) in ((x, across), (y, up)))
        return corner[0] + size[0] * along, corner[1] + size[1] * (1 - above)

    left, bottom = corner[0], corner[1] + size[1]
    for decade in range(across[0], across[1] + 1):
        x, _ = place(10.0**decade, 10.0 ** up[0])
        _line(picture, x, corner[1], x, bottom, "#dddddd")
        _text(picture, x, bottom + 14, f"{10.0**decade:,.10g}", anchor="middle", size=10)
    for decade in range(up[0], up[1] + 1):
        _, y = place(10.0 ** across[0], 10.0**decade)
        _line(picture, left, y, left + size[0], y, "#dddddd")
        _text(picture, left - 6, y + 4, f"{10.0**decade:,.10g}", anchor="end", size=10)
    return place


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten between which all values lie."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


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
