"""HTML for notebooks: small, escaped, and without scripts, styles or files from elsewhere.

`Html` is text that is markup already; any other string is escaped when it is put into markup. So a label
that holds a tag is shown as it is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from mrag.terminal import visible

_BADGES = {"inferred": "#7a5af8", "enriched": "#0e9384", "completed": "#c4320a"}
_CELL = "text-align:left;vertical-align:top;padding:2px 8px"
_MAX_NODES = 16


class Html(str):
    """Markup that is fit to be shown."""

    __slots__ = ()


def text(value: object) -> Html:
    r"""Return a value as markup: as it is if it is `Html`, else escaped, with its controls made visible.

    Example:
        >>> text("<b> & \x1b"), text(Html("<b>x</b>"))
        ('&lt;b&gt; &amp; ␛', '<b>x</b>')
    """
    return value if isinstance(value, Html) else Html(escape(visible(str(value))))


def tag(name: str, *inside: object, **attributes: str | float) -> Html:
    """Return an element.

    Args:
        name: Its name.
        *inside: What stands in it, escaped unless it is `Html`.
        **attributes: Its attributes; an underscore at the end of a name is left out.

    Example:
        >>> tag("td", "1 < 2", class_="n")
        '<td class="n">1 &lt; 2</td>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{''.join(text(part) for part in inside)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return several parts as one, each escaped unless it is `Html`."""
    return Html(text(between).join(text(part) for part in parts))


def lines(value: str) -> Html:
    r"""Return text of several lines."""
    return join(value.split("\n"), Html("<br>"))


def badge(status: str) -> Html:
    """Return the badge of a layer; nothing for asserted triples."""
    if status in ("", "asserted"):
        return Html("")
    style = (
        f"background:{_BADGES.get(status, '#667085')};color:#fff;border-radius:8px;padding:0 6px;"
        "font-size:80%;white-space:nowrap"
    )
    return tag("span", status, style=style)


def table(header: Sequence[object], rows: Iterable[Sequence[object]], *, caption: object = "") -> Html:
    """Return a table."""
    head = tag("tr", *(tag("th", cell, style=_CELL) for cell in header)) if header else ""
    body = [tag("tr", *(tag("td", cell, style=_CELL) for cell in row)) for row in rows]
    above = tag("caption", caption, style="text-align:left;font-weight:bold") if caption else ""
    return tag("table", above, tag("thead", head) if head else "", tag("tbody", *body))


def bullets(items: Iterable[object]) -> Html:
    """Return a list."""
    return tag("ul", *(tag("li", item) for item in items))


def details(summary: object, *inside: object, opened: bool = False) -> Html:
    """Return a part that can be folded."""
    body = join((tag("summary", summary), *inside))
    return Html(f"<details{' open' if opened else ''}>{body}</details>")


def graph(edges: Sequence[tuple[str, str, str]], *, title: str = "") -> Html:
    """Return a few triples as a drawn graph, its nodes on a circle in the order in which they occur.

    Args:
        edges: Subject, predicate and object, as they are to be shown.
        title: What a screen reader says of it.

    Example:
        >>> graph([("a", "knows", "b")]).count("<line")
        1
        >>> graph([])
        ''
    """
    nodes = list(dict.fromkeys(name for s, _, o in edges for name in (s, o)))[:_MAX_NODES]
    if not nodes:
        return Html("")
    width, height = 640, 90 + 24 * len(nodes)
    middle, radius_x, radius_y = (width / 2, height / 2), width / 2 - 110, height / 2 - 24
    places = {
        name: (
            middle[0] + radius_x * math.cos(2 * math.pi * at / len(nodes) - math.pi / 2),
            middle[1] + radius_y * math.sin(2 * math.pi * at / len(nodes) - math.pi / 2),
        )
        for at, name in enumerate(nodes)
    }
    drawn: list[Html] = []
    for s, p, o in edges:
        if s not in places or o not in places:
            continue
        (x1, y1), (x2, y2) = places[s], places[o]
        drawn.append(
            tag(
                "line",
                x1=_px(x1),
                y1=_px(y1),
                x2=_px(x2),
                y2=_px(y2),
                stroke="currentColor",
                stroke_opacity=0.3,
            )
        )
        # Off the middle, nearer to the object: it shows the direction, and labels of two ways do not meet.
        drawn.append(_word(x1 + 0.6 * (x2 - x1), y1 + 0.6 * (y2 - y1), p, 11, 0.7))
    drawn += [_word(x, y, name, 13, 1.0) for name, (x, y) in places.items()]
    return tag(
        "svg", tag("title", title or "Graph"), *drawn,
        role="img", viewBox=f"0 0 {width} {height}", width=width, style="max-width:100%",
    )  # fmt: skip


def _word(x: float, y: float, word: str, size: int, opacity: float) -> Html:
    shown = word if len(word) <= 32 else f"{word[:31]}…"
    return tag(
        "text", shown,
        x=_px(x), y=_px(y), font_size=size, text_anchor="middle", fill="currentColor", fill_opacity=opacity,
    )  # fmt: skip


def _px(value: float) -> str:
    return f"{value:.1f}"
