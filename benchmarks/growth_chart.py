"""Draw what `growth.py --to FILE` and `index_size.py --to FILE` have measured.

    python benchmarks/growth_chart.py benchmarks/measured/documents.jsonl docs/images/how-large-documents.svg
    python benchmarks/growth_chart.py benchmarks/measured/triples.jsonl docs/images/how-large-triples.svg

The lines in `measured` are those of the figures in the documentation.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from mrag.errors import ConfigError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that can be told apart with any colour vision (Okabe and Ito, 2008)."""

INDEX = {
    "seconds of processor to build": ("build", lambda told: told["build_processor_s"]),
    "MiB of memory to build": ("build", lambda told: told["mib"]),
    "ms of the clock for a hybrid query (median)": ("ask", lambda told: told["hybrid"]["p50_ms"]),
    "ms to open": ("ask", lambda told: 1000 * told["open_s"]),
}
GROWTH = {
    "seconds of processor to load": ("load", lambda told: told["processor"]),
    "seconds of processor to reason": ("reason", lambda told: told["processor"]),
    "seconds of processor to index": ("index", lambda told: told["processor"]),
    "ms of processor to a context (median)": ("ask", lambda told: told["thing_processor_p50"]),
}


def new_picture(width: float, height: float, title: str) -> Element:
    """Return an empty picture."""
    size = {"width": rounded(width), "height": rounded(height)}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "viewBox": ""} | size)
    picture.set("viewBox", f"0 0 {rounded(width)} {rounded(height)}")
    picture.set("font-family", "sans-serif")
    SubElement(picture, "title").text = title
    SubElement(picture, "rect", width="100%", height="100%", fill="#ffffff")
    return picture


def draw_text(
    at: Element, x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = ""
) -> None:
    """Add words to a picture."""
    style = {"text-anchor": anchor, "font-size": str(size)} | ({"font-weight": weight} if weight else {})
    SubElement(at, "text", {"x": rounded(x), "y": rounded(y), **style}).text = text


def draw_line(at: Element, x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> None:
    """Add a line to a picture."""
    ends = zip(("x1", "y1", "x2", "y2"), map(rounded, (x1, y1, x2, y2)), strict=True)
    SubElement(at, "line", {**dict(ends), "stroke": colour, "stroke-width": str(width)})


def rounded(value: float) -> str:
    """Return a coordinate as a picture has it."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def printed(picture: Element) -> str:
    """Return a picture as a document."""
    return tostring(picture, encoding="unicode") + "\n"


def panels(lines: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the curves in the lines of a file, and what they go across."""
    found = list(lines)
    documents = "backend" in found[0]
    triples = {told["scale"]: told["triples"] for told in found if "triples" in told}
    made: dict[str, Any] = {}
    for quantity, (phase, value) in (INDEX if documents else GROWTH).items():
        curves: defaultdict[str, dict[float, float]] = defaultdict(dict)
        for told in found:
            if told["phase"] == phase:
                at = told["documents"] if documents else triples[told["scale"]]
                curves[told.get("backend", "embedded store")][at] = value(told)
        made[quantity] = {name: sorted(points.items()) for name, points in curves.items()}
    return made, "documents" if documents else "triples"


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
    picture = new_picture(in_row * (left + width + 40), -(-len(panels) // in_row) * block + 30, title)
    for at, name in enumerate(names):
        draw_text(picture, left + 140 * at + 14, 24, name)
        SubElement(
            picture,
            "circle",
            cx=rounded(left + 140 * at + 5),
            cy="20",
            r="5",
            fill=COLOURS[at % len(COLOURS)],
        )
    for at, (quantity, lines) in enumerate(panels.items()):
        corner = (left + at % in_row * (left + width + 40), 60 + at // in_row * block)
        draw_text(picture, corner[0], corner[1] - 12, quantity, weight="bold")
        draw_text(picture, corner[0] + width / 2, corner[1] + height + 28, across, anchor="middle", size=10)
        values = [y for points in lines.values() for _, y in points]
        place = _axes(picture, corner, (width, height), _decades([x for x, _ in given]), _decades(values))
        for name, points in lines.items():
            colour, placed = COLOURS[names.index(name) % len(COLOURS)], sorted(points)
            for one, other in pairwise(placed):
                draw_line(picture, *place(*one), *place(*other), colour, 2)
            for x, y in placed:
                cx, cy = place(x, y)
                dot = SubElement(picture, "circle", cx=rounded(cx), cy=rounded(cy), r="3.5", fill=colour)
                SubElement(dot, "title").text = f"{name}: {y:,g} {quantity} at {x:,.0f}"
    return printed(picture)


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
        draw_line(picture, x, corner[1], x, bottom, "#dddddd")
        draw_text(picture, x, bottom + 14, f"{10.0**decade:,.10g}", anchor="middle", size=10)
    for decade in range(up[0], up[1] + 1):
        _, y = place(10.0 ** across[0], 10.0**decade)
        draw_line(picture, left, y, left + size[0], y, "#dddddd")
        draw_text(picture, left - 6, y + 4, f"{10.0**decade:,.10g}", anchor="end", size=10)
    return place


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten between which all values lie."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def main() -> None:
    """Read the lines, of which the last for each size and phase counts, and write the picture."""
    source, target = map(Path, sys.argv[1:])
    made, across = panels(json.loads(line) for line in source.read_text().splitlines())
    target.write_text(curves_svg(made, across=across, title=f"By number of {across}"), encoding="utf-8")


if __name__ == "__main__":
    main()
