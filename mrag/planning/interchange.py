"""Plans as JSON, to be kept, sent and edited; what is read is checked whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from rdflib import BNode, Literal, URIRef

from mrag.errors import ConfigError, TermError
from mrag.planning import plan as pl
from mrag.planning.scopes import check
from mrag.rdf.terms import term_from_json, term_to_json, to_ox

_DEEPEST = 40
_MOST = 5_000
"""Values in one plan."""

T = TypeVar("T")


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
    found: dict[str, Any] = {
        "where": _block(plan.where),
        "columns": [{"name": c.name, "value": _expression(c.value)} for c in plan.columns],
        "group_by": [u.name for u in plan.group_by],
        "having": [_condition(c) for c in plan.having],
        "order": [{"column": o.column, "descending": o.descending} for o in plan.order],
        "offset": plan.offset,
        "ties": plan.ties,
    }
    found = {name: value for name, value in found.items() if value}
    return found if plan.limit is None else {**found, "limit": plan.limit}


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
    reader = _Reader()
    plan = reader.plan(value, "", _DEEPEST)
    check(plan)
    return plan


def _block(block: pl.Block) -> dict[str, Any]:
    found: dict[str, Any] = {
        "patterns": [
            [
                _expression(p.subject),
                {"repeated": _expression(p.predicate)} if p.repeated else _expression(p.predicate),
                *(_expression(t) for t in (p.object, *p.narrower)),
            ]
            for p in block.patterns
        ],
        "conditions": [_condition(c) for c in block.conditions],
        "without": [_block(b) for b in block.without],
        "either": [[_block(b) for b in branches] for branches in block.either],
        "optional": [_block(b) for b in block.optional],
        "plans": [plan_to_json(p) for p in block.plans],
    }
    return {name: value for name, value in found.items() if value}


def _condition(condition: pl.Condition) -> dict[str, Any]:
    if isinstance(condition, pl.Contains):
        return {
            "contains": condition.text,
            "in": _expression(condition.value),
            "position": condition.position,
        }
    return {
        "compare": condition.relation,
        "left": _expression(condition.left),
        "right": _expression(condition.right),
    }


def _expression(expression: pl.Expression) -> dict[str, Any]:
    match expression:
        case pl.Unknown(name):
            return {"unknown": name}
        case URIRef() | Literal():
            return dict(term_to_json(expression))
        case pl.Number(value):
            return {"number": _expression(value)}
        case pl.DatePart(part, value):
            return {"part": part, "of": _expression(value)}
        case pl.Days(start, end):
            return {"days": [_expression(start), _expression(end)]}
        case pl.Arithmetic(left, operation, right):
            return {"calculate": operation, "left": _expression(left), "right": _expression(right)}
        case pl.Scalar(plan):
            return {"scalar": plan_to_json(plan)}
        case pl.Aggregate(function, value, of, where):
            found: dict[str, Any] = {"fold": function, "of": [u.name for u in of]}
            if value is not None:
                found["value"] = _expression(value)
            return found if where.empty else {**found, "where": _block(where)}


class _Reader:
    """Reads one plan; a path in every message tells where something is."""

    def __init__(self) -> None:
        self._left = _MOST

    def plan(self, value: object, at: str, depth: int) -> pl.Plan:
        found = self._object(
            value, at, depth, "where columns group_by having order limit offset ties".split()
        )
        dot = f"{at}." if at else ""
        limit = found.get("limit")
        return pl.Plan(
            self._block(found.get("where", {}), f"{dot}where", depth - 1),
            self._each(found, f"{dot}columns", depth, self._column),
            self._each(found, f"{dot}group_by", depth, self._unknown),
            self._each(found, f"{dot}having", depth, self._condition),
            self._each(found, f"{dot}order", depth, self._order),
            None if limit is None else self._count(limit, f"{dot}limit"),
            self._count(found.get("offset", 0), f"{dot}offset"),
            self._flag(found.get("ties", False), f"{dot}ties"),
        )

    def _block(self, value: object, at: str, depth: int) -> pl.Block:
        found = self._object(value, at, depth, "patterns conditions without either optional plans".split())
        return pl.Block(
            self._each(found, f"{at}.patterns", depth, self._pattern),
            self._each(found, f"{at}.conditions", depth, self._condition),
            self._each(found, f"{at}.without", depth, self._block),
            self._each(found, f"{at}.either", depth, self._blocks),
            self._each(found, f"{at}.optional", depth, self._block),
            self._each(found, f"{at}.plans", depth, self.plan),
        )

    def _blocks(self, value: object, at: str, depth: int) -> tuple[pl.Block, ...]:
        return self._items(value, at, depth, self._block)

    def _pattern(self, value: object, at: str, depth: int) -> pl.Pattern:
        if not isinstance(value, list) or len(value) < 3:
            raise _wrong(at, "no list of subject, predicate and object")
        repeated = isinstance(value[1], Mapping) and "repeated" in value[1]
        if repeated:
            value = [value[0], value[1]["repeated"], *value[2:]]
        subject, predicate, object_, *narrower = (
            self._place(v, f"{at}[{i}]", depth - 1) for i, v in enumerate(value)
        )
        classes = tuple(c for c in narrower if isinstance(c, URIRef))
        if len(classes) < len(narrower):
            raise _wrong(at, "a class with narrower ones that are no IRIs")
        if isinstance(subject, Literal) or isinstance(predicate, Literal):
            raise _wrong(at, "no triple: only objects are literals")
        return pl.Pattern(subject, predicate, object_, classes, repeated)

    def _place(self, value: object, at: str, depth: int) -> pl.Place:
        found = self._expression(value, at, depth)
        if not isinstance(found, pl.Unknown | URIRef | Literal):
            raise _wrong(at, "no term and no unknown")
        return found

    def _condition(self, value: object, at: str, depth: int) -> pl.Condition:
        if isinstance(value, Mapping) and "contains" in value:
            found = self._object(value, at, depth, ["contains", "in", "position"])
            text = found["contains"]
            if not isinstance(text, str):
                raise _wrong(f"{at}.contains", "no text")
            return pl.Contains(
                self._expression(found.get("in"), f"{at}.in", depth - 1),
                text,
                self._one_of(found.get("position", "anywhere"), f"{at}.position", get_args(pl.Position)),
            )
        found = self._object(value, at, depth, ["compare", "left", "right"])
        return pl.Comparison(
            self._expression(found.get("left"), f"{at}.left", depth - 1),
            self._one_of(found.get("compare"), f"{at}.compare", get_args(pl.Relation)),
            self._expression(found.get("right"), f"{at}.right", depth - 1),
        )

    def _expression(self, value: object, at: str, depth: int) -> pl.Expression:
        found = self._object(value, at, depth, None)
        for name, read in self._readers().items():
            if name in found:
                return read(found, at, depth)
        raise _wrong(at, "no expression")

    def _readers(self) -> dict[str, Callable[[Mapping[str, Any], str, int], pl.Expression]]:
        return {
            "unknown": lambda v, at, _: self._unknown(v["unknown"], f"{at}.unknown", 1),
            "number": lambda v, at, d: pl.Number(self._expression(v["number"], f"{at}.number", d - 1)),
            "part": lambda v, at, d: pl.DatePart(
                self._one_of(v["part"], f"{at}.part", get_args(pl.Part)),
                self._expression(v.get("of"), f"{at}.of", d - 1),
            ),
            "days": self._days,
            "calculate": lambda v, at, d: pl.Arithmetic(
                self._expression(v.get("left"), f"{at}.left", d - 1),
                self._one_of(v["calculate"], f"{at}.calculate", get_args(pl.Operation)),
                self._expression(v.get("right"), f"{at}.right", d - 1),
            ),
            "scalar": lambda v, at, d: pl.Scalar(self.plan(v["scalar"], f"{at}.scalar", d - 1)),
            "fold": self._fold,
            "type": self._term,
        }

    def _days(self, value: Mapping[str, Any], at: str, depth: int) -> pl.Days:
        found = self._items(value["days"], f"{at}.days", depth, self._expression)
        if len(found) != 2:
            raise _wrong(f"{at}.days", "no pair of dates")
        return pl.Days(*found)

    def _fold(self, value: Mapping[str, Any], at: str, depth: int) -> pl.Aggregate:
        folded = value.get("value")
        return pl.Aggregate(
            self._one_of(value["fold"], f"{at}.fold", get_args(pl.Fold)),
            None if folded is None else self._expression(folded, f"{at}.value", depth - 1),
            self._items(value.get("of", []), f"{at}.of", depth, self._unknown),
            self._block(value.get("where", {}), f"{at}.where", depth - 1),
        )

    def _term(self, value: Mapping[str, Any], at: str, depth: int) -> URIRef | Literal:
        try:
            term = term_from_json(value)
            to_ox(term)
        except TermError as error:
            raise _wrong(at, f"no term: {error.message}") from error
        if isinstance(term, BNode):
            raise _wrong(at, "a blank node, which cannot be asked for")
        return term

    def _column(self, value: object, at: str, depth: int) -> pl.Column:
        found = self._object(value, at, depth, ["name", "value"])
        return pl.Column(
            self._expression(found.get("value"), f"{at}.value", depth - 1),
            self._text(found.get("name"), f"{at}.name"),
        )

    def _order(self, value: object, at: str, depth: int) -> pl.Order:
        found = self._object(value, at, depth, ["column", "descending"])
        return pl.Order(
            self._text(found.get("column"), f"{at}.column"),
            self._flag(found.get("descending", False), f"{at}.descending"),
        )

    def _unknown(self, value: object, at: str, depth: int) -> pl.Unknown:
        return pl.Unknown(self._text(value, at))

    # -- plain values ------------------------------------------------------------------------------

    def _object(self, value: object, at: str, depth: int, names: list[str] | None) -> Mapping[str, Any]:
        self._left -= 1
        if depth <= 0 or self._left <= 0:
            raise ConfigError("The plan is nested too deep." if depth <= 0 else "The plan is too large.")
        if not isinstance(value, Mapping):
            raise _wrong(at or "it", "no object")
        for name in value if names is not None else ():
            if name not in (names or ()):
                raise _wrong(at or "it", f"an object with an unknown member {str(name)[:40]!r}")
        return value

    def _each(
        self, value: Mapping[str, Any], at: str, depth: int, read: Callable[[object, str, int], T]
    ) -> tuple[T, ...]:
        return self._items(value.get(at.rpartition(".")[2], []), at, depth, read)

    def _items(
        self, value: object, at: str, depth: int, read: Callable[[object, str, int], T]
    ) -> tuple[T, ...]:
        if not isinstance(value, list | tuple):
            raise _wrong(at, "no list")
        self._left -= len(value)
        if self._left <= 0:
            raise ConfigError("The plan is too large.")
        return tuple(read(v, f"{at}[{i}]", depth - 1) for i, v in enumerate(value))

    def _text(self, value: object, at: str) -> str:
        if not isinstance(value, str):
            raise _wrong(at, "no text")
        return value

    def _one_of(self, value: object, at: str, known: tuple[Any, ...]) -> Any:
        if not isinstance(value, str) or value not in known:
            raise _wrong(at, "none of " + ", ".join(known))
        return value

    def _count(self, value: object, at: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 10**9:
            raise _wrong(at, "no whole number from 0 to a thousand million")
        return value

    def _flag(self, value: object, at: str) -> bool:
        if not isinstance(value, bool):
            raise _wrong(at, "neither true nor false")
        return value


def _wrong(at: str, what: str) -> ConfigError:
    return ConfigError(f"Not a plan: {at} is {what}.")
