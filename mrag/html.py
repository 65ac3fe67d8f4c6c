"""HTML for notebooks: small, escaped, and without scripts, styles or files from elsewhere.

`Html` is text that is markup already; any other string is escaped when it is put into markup. So a label
that holds a tag is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from mrag.terminal import visible

_BADGES = {"inferred": "#7a5af8", "enriched": "#0e9384", "completed": "#c4320a"}
_CELL = "text-align:left;vertical-align:top;padding:2px 8px"


class Html(str):
    """Markup that is fit to be shown."""

    __slots__ = ()


def text(value: object) -> Html:
    r"""Return a value as markup: as it is if it is `Html`, else escaped, with its controls made visible."""
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
