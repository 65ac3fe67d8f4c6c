"""Language tags for stores that take none but those of BCP 47."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

import pyoxigraph as ox

_MOST = 8
"""Letters and digits of a subtag."""


def well_formed_tag(tag: str) -> str:
    """Return a language tag in a form that BCP 47 allows; what has no place in it becomes private use.

    Source:
        BCP 47 (RFC 5646), sections 2.1 and 2.2.7.

    Args:
        tag: A tag as it stands in data.

    Example:
        >>> [well_formed_tag(tag) for tag in ("zh-classical", "pt_BR", "en-GB", "klingonian")]
        ['zh-x-classica-l', 'pt-BR', 'en-GB', 'x-klingoni-an']
    """
    parts = re.findall("[A-Za-z0-9]+", tag)
    kept = next((n for n in range(len(parts), 0, -1) if _is_allowed("-".join(parts[:n]))), 0)
    rest = [part[at : at + _MOST] for part in parts[kept:] for at in range(0, len(part), _MOST)]
    head = parts[:kept]
    if rest and "x" not in map(str.lower, head):
        head.append("x")
    return "-".join((*head, *rest)) or "und"


def with_allowed_tags(quads: Iterable[ox.Quad], odd: Set[str]) -> Iterator[ox.Quad]:
    """Yield statements with their odd language tags in a form that BCP 47 allows.

    Args:
        quads: The statements.
        odd: The tags that it does not allow; it may grow while statements are read.
    """
    for quad in quads:
        text = quad.object
        if odd and isinstance(text, ox.Literal) and (tag := text.language) in odd:
            mended = ox.Literal(text.value, language=well_formed_tag(str(tag)))
            quad = ox.Quad(quad.subject, quad.predicate, mended, quad.graph_name)
        yield quad


def _is_allowed(tag: str) -> bool:
    try:
        ox.Literal("", language=tag)
    except ValueError:
        return False
    return True
