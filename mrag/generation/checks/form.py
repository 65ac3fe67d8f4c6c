"""Whether an answer is written as answers are: their fields, of their types, and no words elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mrag import untrusted
from mrag.errors import ModelError, MragError
from mrag.generation.receipts.canonical import same
from mrag.generation.result import Answer
from mrag.graph.record import status_of

_LISTED = 5
_STRUCK = frozenset(map(chr, [*range(0x334, 0x339), 0x20D2, 0x20D3, 0x20D8, 0x20E0, 0x20E5]))
"""Signs that strike out the letter before them."""
_ALIKE = frozenset(["LATIN", "CYRILLIC", "GREEK"])
"""Scripts whose letters look alike."""


def read_form(value: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
    """Return an answer as answers are written, None if it is not read, and where it is not written so.

    A field that answers do not have, or a value of another type, would stand in it unread.

    Args:
        value: The JSON form.
    """
    try:
        written = Answer.from_json(value).to_json()
        # Answers of earlier releases do not say again in a word how certain they are.
        whole = {"doubt": written["doubt"], **_bare(value)}
        found = list(dict.fromkeys(differences(whole, written, lenient=True)))
    except (MragError, TypeError, ValueError, AttributeError, KeyError) as error:
        said = error.hint or error.message if isinstance(error, MragError) else str(error)
        return None, [f"it cannot be read back: {said}"]
    more = [f"{len(found) - _LISTED} more fields are not as answers are written"] if found[_LISTED:] else []
    wrong = [f"{where or 'the whole'} is not as answers are written" for where in found[:_LISTED]]
    return (None if wrong else written), [*wrong, *more]


def wrong_layout(sentences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return where something else than layout stands between the sentences of an answer."""
    return [
        f"words stand between the sentences: {s['before'].strip()[:80]}"
        for s in sentences
        if untrusted.layout(s["before"]) != s["before"]
    ]


def odd_signs(text: str, known: str) -> bool:
    """Return whether a text has signs that cannot be seen, or that stand for words or other letters.

    Args:
        text: The text.
        known: Texts whose signs are those of the graph.

    Example:
        >>> odd_signs("Gr\u0430phDB", "GraphDB"), odd_signs("GraphDB\u2122", "\u2122")
        (True, False)
    """
    new = {sign for sign in text if ord(sign) > 127} - {*known}
    if any(unicodedata.category(s) in ("Cf", "So", "Co", "Cn") or s in _STRUCK for s in new):
        return True
    words = re.findall(r"[^\W\d_]+", text) if new else []
    scripts = ({unicodedata.name(s, "").partition(" ")[0] for s in word} & _ALIKE for word in words)
    return any(len(some) > 1 for some in scripts)


def differences(one: Any, other: Any, where: str = "", *, lenient: bool = False) -> Iterator[str]:
    """Yield where two JSON values differ, as `context.lines[3].text`.

    Args:
        one: The first.
        other: The second.
        where: Where they stand.
        lenient: Whether the first may lack what is empty in the second, as older answers do.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in dict.fromkeys([*one, *other]):
            place = f"{where}.{name}" if where else str(name)
            if name in one and name in other:
                yield from differences(one[name], other[name], place, lenient=lenient)
            elif name in one or not lenient or other[name]:
                yield place
    elif _is_list(one) and _is_list(other) and len(one) == len(other):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{at}]", lenient=lenient)
    elif not _same(one, other):
        yield where


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same(one: Any, other: Any) -> bool:
    try:
        return same(one, other)
    except ModelError:
        return False


def _bare(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer without what the server adds to it for the page, where that says the same again."""
    lines = [_without_status(line) for line in value["context"]["lines"]]
    labels = {line["id"]: line["labels"] for line in value["context"]["lines"]}
    cited = [
        {k: v for k, v in _without_status(c).items() if k != "labels" or v != labels.get(c["id"])}
        for c in value["citations"]
    ]
    return {**value, "citations": cited, "context": {**value["context"], "lines": lines}}


def _without_status(line: Mapping[str, Any]) -> Mapping[str, Any]:
    graph, said = str(line["graph"]), line.get("status")
    right = said is not None and said == status_of(graph, inferred=line["inferred"] is True)
    return {name: part for name, part in line.items() if not (right and name == "status")}
