"""Plans as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from typing import Literal as OneOf

from rdflib import Literal, URIRef

from mrag.errors import ConfigError, TermError
from mrag.planning import plan as algebra
from mrag.planning.plan import Plan
from mrag.rdf.terms import term_from_json, term_to_json

_DEEPEST = 40


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON values: each part with its kind under `is`, terms as in SPARQL's JSON results.

    Example:
        >>> from mrag.planning.plan import Column, Unknown
        >>> plan_to_json(Plan(columns=(Column(Unknown("x"), "x"),)))["columns"]
        [{'is': 'Column', 'value': {'is': 'Unknown', 'name': 'x'}, 'name': 'x'}]
    """
    value: dict[str, Any] = _out(plan)
    return value


def _out(value: Any) -> Any:
    if isinstance(value, URIRef | Literal):
        return term_to_json(value)
    if is_dataclass(value):
        found = {f.name: _out(getattr(value, f.name)) for f in fields(value)}
        return {"is": type(value).__name__, **{k: v for k, v in found.items() if v not in (None, [], False)}}
    return [_out(item) for item in value] if isinstance(value, tuple) else value


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """Read a plan written by `plan_to_json`.

    Raises:
        ConfigError: If it is no such plan.

    Example:
        >>> from mrag.planning.plan import Column, Unknown
        >>> plan = Plan(columns=(Column(Unknown("x"), "x"),), limit=3)
        >>> plan_from_json(plan_to_json(plan)) == plan
        True
        >>> plan_from_json({"is": "Plan", "limit": "many"})
        Traceback (most recent call last):
        mrag.errors.ConfigError: Not the JSON form of a plan. [term 'many'] ...
    """
    found = _read(Plan, value, 0)
    assert isinstance(found, Plan)
    return found


def _wrong(value: Any) -> ConfigError:
    return ConfigError(
        "Not the JSON form of a plan.",
        term=repr(value)[:100],
        hint="Pass what the field `plan` of an answer holds, unchanged.",
    )


@cache
def _hints(cls: type) -> dict[str, Any]:
    names = {**vars(algebra), "Literal": Literal, "URIRef": URIRef, "OneOf": OneOf}
    return get_type_hints(cls, globalns=names)


def _read(hint: Any, value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ConfigError("A plan that is nested too deeply.", hint="Ask a simpler question.")
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(args, value, depth)
    if origin is OneOf:
        if value not in args:
            raise _wrong(value)
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(value)
        if args[-1] is ...:
            return tuple(_read(args[0], item, depth + 1) for item in value)
        raise AssertionError(hint)
    if hint in (URIRef, Literal):
        return _term(hint, value)
    if is_dataclass(hint):
        return _part(hint, value, depth)  # type: ignore[arg-type]
    if type(value) is not hint and not (hint is type(None) and value is None):
        raise _wrong(value)
    return value


def _one_of(args: tuple[Any, ...], value: Any, depth: int) -> Any:
    if value is None:
        if type(None) in args:
            return None
        raise _wrong(value)
    kind = value.get("is") if isinstance(value, dict) else None
    for option in args:
        if is_dataclass(option):
            if kind == option.__name__:  # type: ignore[union-attr]
                return _read(option, value, depth + 1)
        elif option is not type(None):
            if kind is not None:
                continue
            try:
                return _read(option, value, depth + 1)
            except ConfigError:
                continue
    raise _wrong(value)


def _term(hint: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value)
    try:
        found = term_from_json(value)
    except TermError as error:
        raise _wrong(value) from error
    if not isinstance(found, hint):
        raise _wrong(value)
    return found


def _part(cls: type, value: Any, depth: int) -> Any:
    if not isinstance(value, dict) or value.get("is") != cls.__name__:
        raise _wrong(value)
    hints = _hints(cls)
    if unknown := set(value) - set(hints) - {"is"}:
        raise _wrong(sorted(unknown))
    given = {name: _read(hints[name], item, depth + 1) for name, item in value.items() if name != "is"}
    try:
        return cls(**given)
    except TypeError as error:
        raise _wrong(value) from error
