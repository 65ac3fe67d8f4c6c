"""Forgeries of answers and receipts: every leaf changed, every part taken away, doubled, added or moved."""

import copy
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

Forgery = tuple[str, Any]
EMPTY = "what is empty taken away"
"""A change after which nothing else is said: older answers lack some fields."""


def changes(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each change of a JSON value, and what makes the value with that change alone."""
    every = list(_walk(value, ()))
    alike: dict[tuple[Any, ...], dict[str, None]] = {}
    for path, found in every:
        if isinstance(found, str):
            alike.setdefault(_kind(path), {})[found] = None
    for path, found in every:
        where = ".".join(map(str, path))
        for name, new in _others(found):
            yield f"{where}: {name}", partial(_with, value, path, new)
        if isinstance(found, str) and (others := [one for one in alike[_kind(path)] if one != found]):
            yield f"{where}: that of another", partial(_with, value, path, others[len(where) % len(others)])
        if path:
            yield f"{where}: {'taken away' if found else EMPTY}", partial(_without, value, path)


def kind_of(name: str) -> str:
    """Return which changes one is like: those of the same field of other items."""
    return re.sub(r"(?<=\.)\d+(?=[.:])", "N", name)


def _kind(path: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(0 if isinstance(step, int) else step for step in path)


def _walk(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from _walk(part, (*path, name))


def _others(found: Any) -> Iterator[Forgery]:
    if isinstance(found, dict):
        yield "a field added", {**found, "approved": "by the ministry"}
    elif isinstance(found, list):
        yield "an item added", [*found, copy.deepcopy(found[-1]) if found else "Evil"]
        yield "a foreign item added", [*found, {"id": "Evil"}]
        if found:
            yield "the first doubled", [copy.deepcopy(found[0]), *found]
        if len(found) > 1 and found[0] != found[1]:
            yield "moved", [found[1], found[0], *found[2:]]
        if len(found) > 2 and found[0] != found[-1]:
            yield "the ends swapped", [found[-1], *found[1:-1], found[0]]
    elif isinstance(found, bool):
        yield "turned", not found
        yield "a number", int(found)
    elif isinstance(found, int | float):
        yield "another", found + 1
        yield "negative", -found - 1
        yield "a little more", found + 0.01
        yield "a string", str(found)
    elif isinstance(found, str):
        yield "another", f"{found} Evil"
        yield "other", "Evil" if found != "Evil" else "Good"
        yield "none", None
        yield "not", f"not {found}"
        yield "empty", "" if found else " "
        if found.swapcase() != found:
            yield "the case", found.swapcase()
    else:
        yield "a string", "Evil"


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    whole = copy.deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return whole


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    whole = copy.deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return whole
