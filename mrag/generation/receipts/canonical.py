"""JSON of which there is one spelling: read strictly, and written as RFC 8785 (JCS) says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mrag.errors import ModelError

_LARGEST = 2**53 - 1
"""The largest integer that every reader of JSON keeps (RFC 7493, section 2.2)."""


def parse(text: str | bytes) -> Any:
    """Read JSON of which every reader reads the same: no name twice, no NaN, no half of a character.

    Args:
        text: The text, or its bytes in UTF-8.

    Raises:
        ModelError: If it is no such JSON.

    Example:
        >>> parse('{"a": [1, true]}')
        {'a': [1, True]}
        >>> parse('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        mrag.errors.ModelError: Not JSON: the name “a” stands twice in one object...
    """
    try:
        written = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        found = json.loads(written, object_pairs_hook=_object, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
        return found
    except RecursionError as error:
        raise ModelError("Not JSON: it is nested too deeply.", hint="Save it as it came.") from error
    except ValueError as error:
        raise ModelError(f"Not JSON: {error}.", hint="Save the output of `mrag ask --json`.") from error


def canonical(value: Any) -> bytes:
    """Write JSON values in their one spelling (RFC 8785).

    Raises:
        ModelError: If it holds what JSON has no one spelling for.

    Example:
        >>> canonical({"b": [1.0, 1e-7, True], "a": "ü"}).decode()
        '{"a":"ü","b":[1,1e-7,true]}'
    """
    try:
        return _written(value).encode()
    except (RecursionError, UnicodeEncodeError) as error:
        raise ModelError("This JSON has no canonical form.", hint=str(error)[:80]) from error


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are the same, `true` and `1` and `"1"` being three values."""
    return canonical(one) == canonical(other)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name “{name[:40]}” stands twice in one object")
        found[name] = value
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, Mapping):
        # By UTF-16 code units, which differs from code points beyond the basic plane.
        if not all(isinstance(name, str) for name in value):
            raise ModelError("The names of a JSON object are strings.")
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_written(name)}:{_written(value[name])}" for name in names) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ",".join(map(_written, value)) + "]"
    raise ModelError("Not a JSON value.", term=repr(value)[:80])


def _number(value: float) -> str:
    """Write a number as ECMAScript does."""
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ModelError("An integer is larger than JSON keeps.", term=str(value.bit_length()) + " bits")
    number = Decimal(repr(value))
    if not number.is_finite():
        raise ModelError("JSON has no such number.", term=repr(value))
    if not number:
        return "0"
    sign, digits, _ = number.normalize().as_tuple()
    at = number.adjusted()
    if -6 <= at < 21:
        shown = format(number, "f")
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    text = "".join(map(str, digits))
    return f"{'-' if sign else ''}{text[0]}{'.' + text[1:] if text[1:] else ''}e{at:+d}"
