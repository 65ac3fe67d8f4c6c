"""The matrix of a graph code as a picture: SVG that needs no library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode

_COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#882255", "#117733",
)  # fmt: skip
"""Colours that can be told apart with any colour vision (Okabe and Ito, 2008; Tol, 2021)."""

_CELL: Final = 26
_LONGEST: Final = 28


def matrix_svg(
    code: GraphCode,
    *,
    title: str = "",
    names: Mapping[str, str] | None = None,
    matched: GraphCode | None = None,
    max_nodes: int = 60,
) -> str:
    """Draw the matrix of a code: a row and a column for each node, a colour for each type of relation.

    A row leads to a column: the cell in row `dog` and column `man` is what the dog does to the man. A cell
    with several relations is divided. Cells without a relation are empty.

    Args:
        code: The code.
        title: What stands above.
        names: How nodes and relations are called, by id; their labels or ids by default.
        matched: With a question's code, nodes and edges that it has too are outlined.
        max_nodes: Most nodes that are drawn.

    Returns:
        An SVG document.

    Raises:
        ConfigError: If the code has more nodes than that.

    Example:
        >>> picture = matrix_svg(GraphCode.of([], [("dog", "bites", "man")]))
        >>> picture.count("<rect"), "dog bites man" in picture
        (6, True)
    """
    if len(code) > max_nodes:
        raise ConfigError(
            f"A matrix of {len(code)} nodes is no picture.", hint=f"At most {max_nodes} are drawn."
        )
    called = dict(names or {})
    labels = {node.id: called.get(node.id) or node.name for node in code.nodes}
    relations = sorted({edge.relation for edge in code.edges})
    colours = {relation: _COLOURS[at % len(_COLOURS)] for at, relation in enumerate(relations)}
    place = {node_id: at for at, node_id in enumerate(code.dictionary)}
    longest = max((min(len(label), _LONGEST) for label in labels.values()), default=0)
    left, top = 16 + 7 * longest, 34 + 6 * longest
    side = _CELL * len(code)
    legend = 18 * len(relations) + 24
    width = left + side + 40 + 5 * longest
    picture = Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(width),
        height=str(top + side + legend),
        viewBox=f"0 0 {width} {top + side + legend}",
        role="img",
        style="background: #ffffff",
    )
    SubElement(picture, "title").text = title or "The matrix of a graph code"
    _text(picture, 8, 18, title, weight="bold")
    asked = set(matched.dictionary) if matched is not None else set()
    for node_id, at in place.items():
        middle = _CELL * at + _CELL / 2
        weight = "bold" if node_id in asked else "normal"
        _text(picture, left - 6, top + middle + 4, _cut(labels[node_id]), anchor="end", weight=weight)
        x, y = left + middle + 4, top - 6
        column = _text(picture, x, y, _cut(labels[node_id]), weight=weight)
        column.set("transform", f"rotate(-50 {x:g} {y:g})")
    for row in range(len(code)):
        for column_at in range(len(code)):
            _rect(picture, left + _CELL * column_at, top + _CELL * row, _CELL, "none", "#dddddd")
    same = {edge.key for edge in matched.edges} if matched is not None else set()
    for (source, target), cell in code.cells.items():
        x, y = left + _CELL * place[target], top + _CELL * place[source]
        share = (_CELL - 4) / len(cell)
        for at, relation in enumerate(cell):
            found = (source, relation, target) in same
            part = _rect(
                picture,
                x + 2 + share * at,
                y + 2,
                share,
                colours[relation],
                "#000000" if found else "none",
                _CELL - 4,
            )
            part.set("stroke-width", "2.5")
            said = f"{labels[source]} {_called(relation, called)} {labels[target]}"
            SubElement(part, "title").text = said
    for at, relation in enumerate(relations):
        y = top + side + 14 + 18 * at
        _rect(picture, 12, y, 12, colours[relation], "none")
        _text(picture, 30, y + 11, _called(relation, called))
    return tostring(picture, encoding="unicode")


def _called(relation: str, names: Mapping[str, str]) -> str:
    # A property without a label is called by the end of its IRI.
    return names.get(relation) or relation.rstrip("/#").rpartition("/")[2].rpartition("#")[2]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _rect(
    picture: Element, x: float, y: float, width: float, fill: str, stroke: str, height: float | None = None
) -> Element:
    return SubElement(
        picture,
        "rect",
        x=f"{x:g}",
        y=f"{y:g}",
        width=f"{width:g}",
        height=f"{width if height is None else height:g}",
        fill=fill,
        stroke=stroke,
    )


def _text(
    picture: Element, x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal"
) -> Element:
    element = SubElement(picture, "text", x=f"{x:g}", y=f"{y:g}", fill="#222222")
    element.set("font-family", "sans-serif")
    element.set("font-size", "12")
    element.set("font-weight", weight)
    element.set("text-anchor", anchor)
    element.text = text
    return element
