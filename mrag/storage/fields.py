"""Dataclasses as JSON values and as arrays to keep, and back, by the types of their fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt

from mrag.storage.arrays import Arrays

T = TypeVar("T")
_kinds: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def json_fields(one: Any) -> dict[str, Any]:
    """Return the fields of an instance as JSON values."""
    return {each.name: _value(getattr(one, each.name)) for each in fields(one)}


def _value(value: Any) -> Any:
    if is_dataclass(value):
        return value.to_json() if hasattr(value, "to_json") else json_fields(value)
    if isinstance(value, Mapping):
        return {name: _value(part) for name, part in value.items()}
    if isinstance(value, frozenset):
        value = sorted(value)
    return [_value(part) for part in value] if isinstance(value, tuple | list) else value


def read_fields(cls: type[T], value: Mapping[str, Any], **known: Any) -> T:
    """Return an instance of what `json_fields` gave; fields that are known are not looked for.

    Example:
        >>> from mrag.storage.files import FileEntry
        >>> read_fields(FileEntry, json_fields(FileEntry(3, 7)))
        FileEntry(size=3, crc32=7)
    """
    read = {name: _reader(kind) for name, kind in _kinds(cls).items() if name not in known}
    return cls(**{name: one(value[name]) for name, one in read.items()}, **known)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what makes a value of a kind of its JSON value."""
    of, origin = get_args(kind), get_origin(kind)
    if NoneType in of:
        some = _reader(of[0])
        return lambda value: None if value is None else some(value)
    if hasattr(kind, "from_json"):
        return kind.from_json  # type: ignore[no-any-return]
    if isinstance(kind, type) and is_dataclass(kind):
        return lambda value: read_fields(kind, value)
    if origin in (tuple, frozenset):
        each = [_reader(one) for one in of if one is not ...]
        if of[-1] is ... or origin is frozenset:
            return lambda value: origin(map(each[0], value))
        return lambda value: tuple(one(part) for one, part in zip(each, value, strict=True))
    if origin is Mapping:
        key, inner = map(_reader, of)
        return lambda value: {key(name): inner(part) for name, part in value.items()}
    if origin is OneOf:
        return lambda value: _chosen(value, of)
    return (lambda value: value) if kind is Any else kind


def _chosen(value: Any, among: tuple[Any, ...]) -> Any:
    if value not in among:
        raise ValueError(f"no such value as {value}")
    return value


def arrays_of(value: Any, within: str = "") -> dict[str, npt.NDArray[Any]]:
    """Return the fields of a dataclass, and of those within it, as arrays."""
    found = dict[str, npt.NDArray[Any]]()
    for name, own in ((within + f.name, getattr(value, f.name)) for f in fields(value)):
        if is_dataclass(own):
            found |= arrays_of(own, f"{name}-")
        elif isinstance(own, np.ndarray):
            found[name] = own
        else:
            found[name] = np.frombuffer(json.dumps(_value(own)).encode(), np.uint8)
    return found


def of_arrays(cls: type[T], arrays: Arrays, within: str = "") -> T:
    """Return the dataclass whose fields `arrays_of` put into arrays."""
    given = dict[str, Any]()
    for name, kind in _kinds(cls).items():
        if isinstance(kind, type) and is_dataclass(kind):
            given[name] = of_arrays(kind, arrays, f"{within}{name}-")
        elif get_origin(kind) is np.ndarray:
            given[name] = arrays[within + name]
        else:
            given[name] = _reader(kind)(json.loads(arrays[within + name].tobytes()))
    return cls(**given)
