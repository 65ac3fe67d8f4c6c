"""Random plans over the vocabulary of `tests.planning.graphs`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis import strategies as st
from rdflib import RDF, XSD, Literal

from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.planning.scopes import bound, check
from tests.planning.graphs import CLASSES, HOSTILE, IN, KNOWS, NAME, PLACES, SIZE, THINGS, TILL, WHEN

T = TypeVar("T")
GENERATED = settings(database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
"""For what compares plans that are drawn by a seed: none is kept, none made smaller."""
RELATIONS = ("=", "!=", "<", "<=", ">", ">=")
PARTS = ("year", "quarter", "month", "day", "weekday", "hour", "clock", "date", "year-month")
NUMBERS = (
    *(Literal(n) for n in (0, 1, 2, 3, 7, 12, -3)), Literal("2.5", datatype=XSD.decimal), Literal("12 kg"),
)  # fmt: skip
DATES = (
    Literal("2020-01-31", datatype=XSD.date), Literal("2016-06-15T12:00:00", datatype=XSD.dateTime),
    Literal("2000", datatype=XSD.gYear), Literal("2020-01", datatype=XSD.gYearMonth),
)  # fmt: skip
TEXTS = ("a", "E", "élan", "vital", "5", "thing 1", "alpha", "delta", *HOSTILE)


@dataclass
class _Known:
    """The unknowns that are bound so far, by what they are."""

    things: list[pl.Unknown] = field(default_factory=list)
    sizes: list[pl.Unknown] = field(default_factory=list)
    names: list[pl.Unknown] = field(default_factory=list)
    days: list[pl.Unknown] = field(default_factory=list)
    others: list[pl.Unknown] = field(default_factory=list)
    partly: list[pl.Unknown] = field(default_factory=list)  # Those that only some alternatives bind

    def all(self) -> list[pl.Unknown]:
        return self.things + self.sizes + self.names + self.days + self.others

    def copy(self) -> "_Known":
        lists = (self.things, self.sizes, self.names, self.days, self.others, self.partly)
        return _Known(*map(list, lists))


class _Maker:
    """Makes plans of what is drawn."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._count = 0

    def pick(self, of: Sequence[T]) -> T:
        return of[self._draw(st.integers(0, len(of) - 1))] if len(of) > 1 else of[0]

    def chance(self, one_in: int) -> bool:
        return self._draw(st.integers(0, one_in - 1)) == one_in - 1

    def number(self, least: int, most: int) -> int:
        return int(self._draw(st.integers(least, most)))

    def fresh(self, letter: str, known: list[pl.Unknown]) -> pl.Unknown:
        """A new unknown, or one that there is already."""
        if known and self.chance(4):
            return self.pick(known)
        self._count += 1
        found = pl.Unknown(f"{letter}{self._count}")
        known.append(found)
        return found

    def pattern(self, known: _Known, *, joined: bool = True) -> pl.Pattern:
        kind = self.number(0, 9)
        if joined and known.things:
            thing = self.pick(known.things)
        else:
            self._count += 1
            thing = pl.Unknown(f"t{self._count}")
            known.things.append(thing)
        match kind:
            case 0 | 1:
                cls = self.pick(CLASSES)
                narrower = tuple(c for c in CLASSES if c != cls) if kind else ()
                return pl.Pattern(thing, RDF.type, cls, narrower)
            case 2:
                return pl.Pattern(thing, KNOWS, self.fresh("t", known.things))
            case 3:
                other = self.fresh("t", known.things)
                return pl.Pattern(other, KNOWS, thing)
            case 4:
                place = self.pick(PLACES) if self.chance(2) else self.fresh("t", known.things)
                return pl.Pattern(thing, IN, place)
            case 5 | 6:
                return pl.Pattern(thing, SIZE, self.fresh("n", known.sizes))
            case 7:
                return pl.Pattern(thing, NAME, self.fresh("s", known.names))
            case 8:
                return pl.Pattern(thing, self.pick((WHEN, TILL)), self.fresh("d", known.days))
            case _:
                if self.chance(3):
                    return pl.Pattern(thing, self.fresh("p", known.others), self.fresh("o", []))
                return pl.Pattern(thing, KNOWS, self.pick(THINGS))

    def patterns(
        self, known: _Known, least: int, most: int, *, joined: bool = True
    ) -> tuple[pl.Pattern, ...]:
        return tuple(self.pattern(known, joined=joined or i > 0) for i in range(self.number(least, most)))

    def block(self, known: _Known, depth: int) -> pl.Block:
        patterns = self.patterns(known, 1, 3, joined=bool(known.things))
        either = tuple(self.either(known, depth - 1) for _ in range(depth > 0 and self.chance(4)))
        certain = known.copy()
        without = tuple(self.without(certain, depth - 1) for _ in range(depth > 0 and self.number(0, 3) // 2))
        optional = tuple(self.optional(known) for _ in range(depth > 1 and self.chance(5)))
        conditions = tuple(self.condition(known) for _ in range(self.number(0, 5) // 3))
        return pl.Block(patterns, conditions, without, either, optional)

    def either(self, known: _Known, depth: int) -> tuple[pl.Block, ...]:
        before, found, after = known.copy(), [], []
        for _ in range(self.number(1, 3)):
            inner = before.copy()
            if self.chance(3):
                found.append(pl.Block(conditions=(self.condition(inner),)))
            else:
                found.append(self.block(inner, depth))
            after.append(inner)
        for name in ("things", "sizes", "names", "days", "others"):
            reached = dict.fromkeys(u for inner in after for u in getattr(inner, name))
            sure = [u for u in reached if u in getattr(before, name) or self.in_all(u, found)]
            setattr(known, name, sure)
            known.partly += [u for u in reached if u not in sure]
        return tuple(found)

    def in_all(self, unknown: pl.Unknown, branches: list[pl.Block]) -> bool:
        return all(unknown in bound(b) for b in branches)

    def without(self, known: _Known, depth: int) -> pl.Block:
        inner = known.copy()
        if self.chance(8):
            return self.block(_Known(), 0)
        if self.chance(4):
            return pl.Block(conditions=(self.condition(inner),))
        return self.block(inner, depth)

    def optional(self, known: _Known) -> pl.Block:
        return pl.Block(self.patterns(known, 1, 2))

    def condition(self, known: _Known) -> pl.Condition:
        kind = self.number(0, 9)
        if kind <= 3 and known.sizes:
            right = self.pick(
                [lambda: self.pick(NUMBERS[:-1]), lambda: self.numeric(known), lambda: self.scalar()]
            )()
            return pl.Comparison(self.numeric(known), self.pick(RELATIONS), right)
        if kind <= 6 and known.days:
            day = self.pick(known.days)
            match self.number(0, 3):
                case 0:
                    return pl.Comparison(day, self.pick(RELATIONS), self.pick(DATES))
                case 1:
                    return pl.Comparison(pl.DatePart("year", day), self.pick(RELATIONS), Literal(2000))
                case 2:
                    return pl.Comparison(
                        pl.DatePart(self.pick(("date", "year-month")), day),
                        self.pick(RELATIONS),
                        self.pick([*DATES, *known.days]),
                    )
                case _:
                    return pl.Comparison(
                        self.days(known), self.pick(("<", ">")), Literal("400.37", datatype=XSD.decimal)
                    )
        if kind <= 7 and known.names:
            text = self.pick(TEXTS)
            if self.chance(3):
                return pl.Comparison(self.pick(known.names), self.pick(RELATIONS), Literal(text))
            return pl.Contains(self.pick(known.names), text, self.pick(("anywhere", "start", "end", "whole")))
        if kind == 8 and known.things:
            return pl.Comparison(self.pick(known.things), self.pick(("=", "!=")), self.pick(THINGS))
        left, right = self.pick(known.all()), self.pick([*known.all(), *known.partly])
        # Virtuoso takes some IRIs for literals in nested selects, so things are not compared by order.
        ordered = left != right and not {left, right} & {*known.things, *known.others}
        return pl.Comparison(left, self.pick(RELATIONS if ordered else ("=", "!=")), right)

    def numeric(self, known: _Known, *, exact: bool = False) -> pl.Expression:
        base: pl.Expression = self.pick(known.sizes)
        if self.chance(2):
            base = pl.Number(base)
        if self.chance(4):
            other = self.pick([*known.sizes, *NUMBERS])
            return pl.Arithmetic(base, self.pick("+-*" if exact else "+-*/"), other)  # type: ignore[arg-type]
        return base

    def days(self, known: _Known) -> pl.Expression:
        return pl.Days(self.pick(known.days), self.pick([*known.days, *DATES[:2]]))

    def scalar(self) -> pl.Scalar:
        known = _Known()
        where = pl.Block(self.patterns(known, 1, 2, joined=False))
        return pl.Scalar(pl.Plan(where, (pl.Column(self.aggregate(known, where), "v"),)))

    def aggregate(self, known: _Known, where: pl.Block, *, narrowed: bool = False) -> pl.Aggregate:
        of = (self.pick(known.things),)
        if self.chance(5):
            of = tuple(dict.fromkeys((*of, self.pick(known.all()))))
        inner = pl.Block()
        if narrowed and self.chance(2):
            known = known.copy()
            inner = self.block(known, 0)
        function = self.pick(("count", "count", "sum", "average", "minimum", "maximum"))
        values: list[pl.Expression] = []
        if known.sizes:
            number = self.numeric(known, exact=True)
            values.append(pl.Number(number) if function in ("minimum", "maximum") else number)
        if known.days and function in ("minimum", "maximum"):
            values.append(pl.DatePart(self.pick(PARTS), self.pick(known.days)))
        if known.days and function != "count":
            values.append(pl.DatePart("year", self.pick(known.days)))
        if known.names and function in ("minimum", "maximum"):
            values.append(self.pick(known.names))
        if not values or (function == "count" and not self.chance(4)):
            return pl.Aggregate("count", of=of, where=inner)
        return pl.Aggregate(function, self.pick(values), of if self.chance(4) is False else (), inner)

    def joined(self, known: _Known) -> pl.Plan:
        """A plan to be joined with a block, which binds a thing, or a thing with a number."""
        inner = _Known()
        where = self.block(inner, 1)
        thing = self.pick(inner.things)
        columns = [pl.Column(thing, self.fresh("t", known.things).name)]
        if self.chance(2):
            self._count += 1
            name = pl.Unknown(f"n{self._count}")
            known.sizes.append(name)
            columns.append(pl.Column(pl.Aggregate("count", of=(self.pick(inner.things),)), name.name))
        order = tuple(pl.Order(c.name, self.chance(2)) for c in reversed(columns))
        return pl.Plan(where, tuple(columns), order=order, limit=self.pick((None, 1, 2)))

    def plan(self) -> pl.Plan:
        known = _Known()
        plans = (self.joined(known),) if self.chance(5) else ()
        where = replace(self.block(known, 2), plans=plans)
        kind = self.number(0, 9)
        if kind == 0:
            return pl.Plan(where)
        if kind <= 4:
            return self.listed(known, where)
        return self.folded(known, where)

    def shaped(self, columns: tuple[pl.Column, ...], **others: Any) -> pl.Plan:
        order = tuple(pl.Order(c.name, self.chance(2)) for c in columns if self.chance(2))
        limit = self.pick((None, None, 1, 1, 2, 3))
        offset = self.number(0, 2) if limit and self.chance(3) else 0
        return pl.Plan(
            columns=columns, order=order, limit=limit, offset=offset,
            ties=bool(limit and order and self.chance(2)), **others,
        )  # fmt: skip

    def listed(self, known: _Known, where: pl.Block) -> pl.Plan:
        shown = [*known.all(), *known.partly]
        values: list[pl.Expression] = [self.pick(shown) for _ in range(self.number(1, 2))]
        if known.sizes and self.chance(2):
            values.append(self.numeric(known, exact=True))
        if known.days and self.chance(2):
            values.append(self.pick([pl.DatePart(self.pick(PARTS), self.pick(known.days)), self.days(known)]))
        if self.chance(8):
            values.append(self.scalar())
        return self.shaped(self.columns(values), where=where)

    def columns(self, values: Sequence[pl.Expression]) -> tuple[pl.Column, ...]:
        names = [
            v.name if isinstance(v, pl.Unknown) and not self.chance(4) else f"c{i}"
            for i, v in enumerate(values)
        ]
        if self.chance(20):
            names[0] = "t1"
        return tuple(pl.Column(value, name) for name, value in dict(zip(names, values, strict=True)).items())

    def folded(self, known: _Known, where: pl.Block) -> pl.Plan:
        values: list[pl.Expression] = []
        grouped: tuple[pl.Unknown, ...] = ()
        if self.chance(2):
            values.append(self.pick([*known.all(), *known.partly]))
        elif known.days and self.chance(2):
            values.append(pl.DatePart(self.pick(PARTS), self.pick(known.days)))
        if self.chance(5):
            grouped = (self.pick(known.things),)
        folds: list[pl.Expression] = [
            self.aggregate(known, where, narrowed=True) for _ in range(self.number(1, 2))
        ]
        having: tuple[pl.Condition, ...] = ()
        if self.chance(3):
            having = (
                pl.Comparison(
                    self.aggregate(known, where), self.pick(("<", ">")), Literal("1.37", datatype=XSD.decimal)
                ),
            )
        if self.chance(6) and len(folds) == 2:
            folds = [pl.Arithmetic(folds[0], self.pick("+-/"), folds[1])]  # type: ignore[arg-type]
        if self.chance(12) and having:
            return pl.Plan(where, (), grouped, having)
        return self.shaped(self.columns([*values, *folds]), where=where, group_by=grouped, having=having)


@st.composite
def plans(draw: Callable[[st.SearchStrategy[Any]], Any]) -> pl.Plan:
    plan = _Maker(draw).plan()
    try:
        check(plan)
    except ConfigError:
        reject()
    return plan
