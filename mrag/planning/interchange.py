"""Plans as JSON, to be kept, sent and edited; what is read is checked whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final, get_args

from rdflib import BNode, Literal, URIRef

from mrag.errors import ConfigError, TermError
from mrag.planning import plan as pl
from mrag.planning.scopes import check
from mrag.rdf.terms import term_from_json, term_to_json, to_ox

_DEEPEST: Final = 40
_MOST: Final = 5_000  # Values in one plan


def _form(text: str) -> dict[str, tuple[str, str]]:
    """Return the members of an object, each with its attribute and its kind."""
    said = [member.partition(":") for member in text.split()]
    return {name.split("=")[0]: (name.split("=")[-1], kind) for name, _, kind in said}


_FORMS: Final = {
    cls: _form(text)
    for cls, text in {
        pl.Plan: "where:block? columns:column*? group_by:name*? having:condition*? order:order*? "
        "offset:count? ties:flag? limit:count?",
        pl.Block: "patterns:pattern*? conditions:condition*? without:block*? either:block**? "
        "optional:block*? plans:plan*?",
        pl.Column: "name:text value:expression",
        pl.Order: "column:text descending:flag",
        pl.Contains: "contains=text:text in=value:expression position:position",
        pl.Comparison: "compare=relation:relation left:expression right:expression",
        pl.Unknown: "unknown=name:text",
        pl.Number: "number=value:expression",
        pl.DatePart: "part:part of=value:expression",
        pl.Arithmetic: "calculate=operation:operation left:expression right:expression",
        pl.Scalar: "scalar=plan:plan",
        pl.Aggregate: "fold=function:fold of:name* value:expression? where:block?",
    }.items()
}
"""Members of objects by class: `name=attribute:kind`; `*` is a list, `?` is left out where it is empty."""

_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "plan": (pl.Plan,),
    "block": (pl.Block,),
    "column": (pl.Column,),
    "order": (pl.Order,),
    "condition": (pl.Contains, pl.Comparison),
    "expression": (pl.Unknown, pl.Number, pl.DatePart, pl.Arithmetic, pl.Scalar, pl.Aggregate),
}
"""Classes of each kind; the first member that an object has tells them apart."""

_WORDS: Final = {
    "position": get_args(pl.Position),
    "relation": get_args(pl.Relation),
    "part": get_args(pl.Part),
    "operation": get_args(pl.Operation),
    "fold": get_args(pl.Fold),
}


def plan_to_json(plan: pl.Plan) -> dict[str, Any]:
    """Return a plan as JSON values; what is empty is left out.

    Example:
        >>> from mrag.planning import Block, Column, Pattern, Plan, Unknown
        >>> cat = Unknown("cat")
        >>> cats = Block((Pattern(cat, URIRef("urn:is"), URIRef("urn:Cat")),))
        >>> plan_to_json(Plan(cats, (Column(cat, "cat"),)))
        {'where': {'patterns': [[{'unknown': 'cat'}, {'type': 'uri', 'value': 'urn:is'},
        {'type': 'uri', 'value': 'urn:Cat'}]]}, 'columns': [{'name': 'cat', 'value': {'unknown': 'cat'}}]}
    """
    members: dict[str, Any] = _write(plan, "plan")
    return members


def _write(value: Any, kind: str) -> Any:
    if kind.endswith("*"):
        return [_write(one, kind[:-1]) for one in value]
    match value:
        case pl.Unknown(name) if kind == "name":
            return name
        case URIRef() | Literal():
            return dict(term_to_json(value))
        case pl.Days(start, end):
            return {"days": [_write(start, "expression"), _write(end, "expression")]}
        case pl.Pattern():
            subject, predicate, *others = (_write(p, "place") for p in (*value.places, *value.narrower))
            return [subject, {"repeated": predicate} if value.repeated else predicate, *others]
    if type(value) not in _FORMS:
        return value
    defaults, members = _defaults(type(value)), {}
    for name, (attribute, kind_) in _FORMS[type(value)].items():
        one = getattr(value, attribute)
        if not (kind_.endswith("?") and one == defaults[attribute]):
            members[name] = _write(one, kind_.rstrip("?"))
    return members


def _defaults(cls: type) -> dict[str, Any]:
    """Return what attributes of a class are unless it is said, without those that have to be said."""
    made = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in fields(cls)}
    return {name: value for name, value in made.items() if value is not MISSING}


def plan_from_json(value: object) -> pl.Plan:
    """Read a plan that `plan_to_json` has written.

    Args:
        value: What a JSON parser has given.

    Raises:
        ConfigError: If it is no such plan, is too large, or says nothing sensible; the message says what
            was expected where.

    Example:
        >>> plan_from_json({"where": {"patterns": [["cat"]]}})
        Traceback (most recent call last):
        mrag.errors.ConfigError: Not a plan: where.patterns[0] is no list of subject, predicate and object.
    """
    plan: pl.Plan = _Reader().read("plan", value, "", _DEEPEST)
    check(plan)
    return plan


class _Reader:
    """Reads one plan; a path in every message tells where something is."""

    def __init__(self) -> None:
        self._left = _MOST

    def read(self, kind: str, value: Any, at: str, depth: int) -> Any:
        """Return what JSON values stand for."""
        if kind.endswith("*"):
            return self._items(kind[:-1], value, at, depth)
        match kind:
            case "pattern":
                return self._pattern(value, at, depth)
            case "name" | "text":
                if not isinstance(value, str):
                    raise _wrong(at, "no text")
                return pl.Unknown(value) if kind == "name" else value
            case "count":
                if type(value) is not int or not 0 <= value <= 10**9:
                    raise _wrong(at, "no whole number from 0 to a thousand million")
                return value
            case "flag":
                if not isinstance(value, bool):
                    raise _wrong(at, "neither true nor false")
                return value
        if kind not in _WORDS:
            return self._object(kind, value, at, depth)
        if not isinstance(value, str) or value not in _WORDS[kind]:
            raise _wrong(at, "none of " + ", ".join(_WORDS[kind]))
        return value

    def _object(self, kind: str, value: object, at: str, depth: int) -> Any:
        self._left -= 1
        if depth <= 0 or self._left <= 0:
            raise ConfigError("The plan is nested too deep." if depth <= 0 else "The plan is too large.")
        if not isinstance(value, Mapping):
            raise _wrong(at or "it", "no object")
        if kind == "expression" and "type" in value:
            return self._term(value, at)
        if kind == "expression" and "days" in value:
            ends = self._items("expression", value["days"], f"{at}.days", depth)
            if len(ends) != 2:
                raise _wrong(f"{at}.days", "no pair of dates")
            return pl.Days(*ends)
        known = [cls for cls in _KINDS[kind] if next(iter(_FORMS[cls])) in value]
        if not known and kind == "expression":
            raise _wrong(at, "no expression")
        cls = (*known, _KINDS[kind][-1])[0]
        for name in value:
            if name not in _FORMS[cls]:
                raise _wrong(at or "it", f"an object with an unknown member {str(name)[:40]!r}")
        defaults, members = _defaults(cls), {}
        for name, (attribute, kind_) in _FORMS[cls].items():
            one = value.get(name)
            if attribute not in defaults or (name in value and (one, defaults[attribute]) != (None, None)):
                path = f"{at}.{name}".lstrip(".")
                inner = depth if "*" in kind_ else depth - 1
                members[attribute] = self.read(kind_.rstrip("?"), one, path, inner)
        return cls(**members)

    def _items(self, kind: str, value: object, at: str, depth: int) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _wrong(at, "no list")
        self._left -= len(value)
        if self._left <= 0:
            raise ConfigError("The plan is too large.")
        return tuple(self.read(kind, v, f"{at}[{i}]", depth - 1) for i, v in enumerate(value))

    def _pattern(self, value: object, at: str, depth: int) -> pl.Pattern:
        if not isinstance(value, list) or len(value) < 3:
            raise _wrong(at, "no list of subject, predicate and object")
        repeated = isinstance(value[1], Mapping) and "repeated" in value[1]
        if repeated:
            value = [value[0], value[1]["repeated"], *value[2:]]
        places = [self.read("expression", v, f"{at}[{i}]", depth - 1) for i, v in enumerate(value)]
        for i, place in enumerate(places):
            if not isinstance(place, pl.Unknown | URIRef | Literal):
                raise _wrong(f"{at}[{i}]", "no term and no unknown")
        subject, predicate, object_, *narrower = places
        if not all(isinstance(c, URIRef) for c in narrower):
            raise _wrong(at, "a class with narrower ones that are no IRIs")
        if isinstance(subject, Literal) or isinstance(predicate, Literal):
            raise _wrong(at, "no triple: only objects are literals")
        return pl.Pattern(subject, predicate, object_, tuple(narrower), repeated)

    def _term(self, value: Mapping[str, Any], at: str) -> URIRef | Literal:
        try:
            term = term_from_json(value)
            to_ox(term)
        except TermError as error:
            raise _wrong(at, f"no term: {error.message}") from error
        if isinstance(term, BNode):
            raise _wrong(at, "a blank node, which cannot be asked for")
        return term


def _wrong(at: str, what: str) -> ConfigError:
    return ConfigError(f"Not a plan: {at} is {what}.")
