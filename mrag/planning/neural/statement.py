"""Statements that a model writes, read as plans.

A statement is SQL over the tables of a card, which models that write code know well. Tables are joined by
links; what is said of a table that is not joined is joined by the shortest links there are. A dot follows
a link, too, and two paths that begin alike speak of the same things. The grammar is that of
`mrag.planning.neural.card`; whatever else is written is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain, count
from typing import Final, TypeAlias, cast
from typing import Literal as OneOf

from rdflib import RDF, XSD, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.neural.sql import (
    SqlCall,
    SqlPair,
    SqlPart,
    SqlPath,
    SqlSelect,
    conjuncts,
    parsed,
    paths_in,
)
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Days,
    Expression,
    Fold,
    Number,
    Operation,
    Order,
    Part,
    Pattern,
    Plan,
    Relation,
    Scalar,
    Unknown,
)
from mrag.planning.scopes import aggregates, check, renamed, substituted, without_ties

Join: TypeAlias = tuple[CardTable, CardColumn, CardTable]
"""A table, a link of it, and the table that the link leads to."""


@dataclass
class Solutions:
    """What holds of the things of a statement: their unknowns, by the path that leads to each.

    Attributes:
        tables: The tables whose combined rows are counted.
        joins: How tables are joined, as the statement says.
        kept: The tables of which something is selected.
    """

    tables: list[str] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    patterns: list[Pattern] = field(default_factory=list)
    places: dict[SqlPath, Unknown] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    named: dict[SqlPath, str] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)

    @property
    def counted(self) -> tuple[Unknown, ...]:
        """Return the things whose combinations are the rows of the statement."""
        return tuple(self.places[(name,)] for name in self.tables)

    def is_selected(self, path: SqlPath) -> bool:
        """Return whether a path is a column of what is selected, and does not lead on to other things."""
        return len(path) < 3 and path[0] in (self.kept or self.tables[:1])

    def afresh(self) -> Solutions:
        """Return these solutions for paths that lead from what is selected to other things than before."""
        kept = self.kept or set(self.tables[:1])
        places = {path: place for path, place in self.places.items() if path[1:] == () and path[0] in kept}
        return replace(self, places=places)

    def within(self, *, known: bool = True) -> Solutions:
        """Return solutions of a part of these; where they do not know their paths, only of their things."""
        places = {path: place for path, place in self.places.items() if known or len(path) == 1}
        return Solutions(self.tables, self.joins, self.kept, places=places)

    def block(self) -> Block:
        """Return what holds."""
        return Block(
            tuple(self.patterns), tuple(self.conditions), tuple(self.without), tuple(self.either),
            plans=tuple(self.plans),
        )  # fmt: skip


_FOLDS: Final[dict[str, Fold]] = {"AVG": "average", "SUM": "sum", "MIN": "minimum", "MAX": "maximum"}
_SIGNS: Final = ("+", "-", "*", "/")
_RELATIONS: Final = ("=", "!=", "<", "<=", ">", ">=")
_PARTS: Final[dict[str, Part]] = {"YEAR": "year", "MONTH": "year-month"}
"""Parts of dates; months are those of a year, since it is over them that things are counted."""
_Place: TypeAlias = OneOf["item", "condition", "fold"]
"""Where a value stands: what is selected may be folded; in a fold there are no other statements."""


def read_statement(card: SchemaCard, text: str) -> tuple[Plan, tuple[str, ...]]:
    """Read a statement over a card.

    Args:
        card: Its tables.
        text: The statement.

    Returns:
        The plan, and the names of the columns that are asked for.

    Raises:
        ConfigError: If it is no such statement, or says nothing sensible.

    Example:
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> plan, shown = read_statement(SchemaCard((film,)), "SELECT MAX(film.year) FROM film")
        >>> shown, plan.columns[0].value.function
        (('maximum',), 'maximum')
    """
    plan, shown = _Statement(card).read(parsed(text))
    check(plan)
    return plan, shown


def _wrong(said: object, what: str) -> ConfigError:
    shown = ".".join(said) if isinstance(said, tuple) else str(getattr(said, "name", said))
    return ConfigError(f"Not a statement: {shown[:40]!r} is {what}.")


def _dated(value: Unknown, relation: Relation, text: str) -> Comparison:
    """Return the comparison of a date with a day, a month or a year."""
    parts: dict[int, Part] = {4: "year", 7: "year-month"}
    part = parts.get(len(text), "date")
    if part == "date":
        try:
            date.fromisoformat(text)
        except ValueError as error:
            raise ConfigError(f"There is no such day: {text[:20]!r}.") from error
        return Comparison(DatePart(part, value), relation, Literal(text, datatype=XSD.date))
    return Comparison(
        DatePart(part, value), relation, Literal(int(text)) if part == "year" else Literal(text)
    )


class _Statement:
    """The plan of a statement; what is found out is added to the solutions that each part is read into."""

    def __init__(self, card: SchemaCard) -> None:
        self._card = card
        self._names: set[str] = set()

    def read(self, said: SqlSelect) -> tuple[Plan, tuple[str, ...]]:
        if not said.table:
            return self._alone(said)
        found = self._from(said)
        values = [self._item(found, item) for item in said.items]
        found.kept = {path[0] for item in said.items for path in paths_in(item)}
        self._hold(found, said.where)
        plan = self._plan(found, said, values)
        # Whoever names in a question what conditions fix does not ask for it.
        given = [
            c.left
            for c in found.conditions
            if isinstance(c, Comparison) and c.relation == "=" and isinstance(c.right, Literal | URIRef)
        ]
        shown = tuple(c.name for c in plan.columns[: len({*values})] if c.value not in given)
        if not shown:
            raise ConfigError("The statement selects only what its conditions name.")
        return plan, shown

    def _alone(self, said: SqlSelect) -> tuple[Plan, tuple[str, ...]]:
        """Read what selects from no table: whether there is something, or what two statements give."""
        match said.items:
            case (SqlCall("EXISTS", (SqlSelect() as inner,)),) if inner.table and not inner.items:
                found = self._from(inner)
                self._hold(found, inner.where)
                return Plan(found.block()), ()
            case (SqlPair(sign, SqlSelect() as one, SqlSelect() as other),) if sign in _SIGNS:
                left, right = (self._scalar(each)[0] for each in (one, other))
                value = Arithmetic(left, cast(Operation, sign), right)
                return Plan(columns=(Column(value, "value"),)), ("value",)
        raise ConfigError("Not a statement: it selects from no table.")

    def _plan(self, found: Solutions, said: SqlSelect, values: Sequence[Expression]) -> Plan:
        """Return the plan of a statement of which all but its groups and its order is read."""
        group = [self._value(found, part, "condition", bare=True) for part in said.group]
        having: list[Condition] = []
        for part in conjuncts(said.having):
            if not isinstance(part, SqlPair) or part.sign not in _RELATIONS:
                raise _wrong("HAVING", "no comparison")
            left, right = (self._item(found, side) for side in (part.left, part.right))
            having.append(Comparison(left, cast(Relation, part.sign), right))
        columns = [Column(value, self._name(value)) for value in dict.fromkeys(values)]
        parts = [e for e in group if not isinstance(e, Unknown) and e not in values]
        columns += [Column(part, self._name(part)) for part in parts]
        order = []
        for key, descending in said.order:
            value = self._item(found, key)
            column = next((c for c in columns if c.value == value), None)
            if column is None:  # what is not shown becomes a column that is not
                columns.append(column := Column(value, self._name(value)))
            order.append(Order(column.name, descending))
        limit = None if said.limit is None else int(str(said.limit))
        folded = any(aggregates(c.value) for c in columns) or having
        keys = tuple(dict.fromkeys(e for e in group if isinstance(e, Unknown))) if folded else ()
        return Plan(found.block(), tuple(columns), keys, tuple(having), tuple(order), limit, 0, limit == 1)

    # -- names -------------------------------------------------------------------------------------

    def _table(self, name: str) -> CardTable:
        table = self._card.table(name)
        if table is None:
            raise _wrong(name, "no table")
        return table

    def _column(self, path: SqlPath) -> CardColumn:
        """Return the column at the end of a path."""
        *links, last = path[1:]
        table = self._table(path[0])
        for name in links:
            column = table.column(name)
            if column is None or column.target is None:
                raise _wrong(path, f"not by a link of {table.name}")
            table = self._card.of(column.target)
        if (found := table.column(last)) is None:
            raise _wrong(path, f"no column of {table.name}")
        return found

    def _unknown(self, name: str) -> Unknown:
        numbered = (f"{name}_{number}" for number in count(2))
        found = next(one for one in chain((name,), numbered) if one not in self._names)
        self._names.add(found)
        return Unknown(found)

    def _name(self, value: Expression) -> str:
        """Return a name for a column; that of an unknown is its own."""
        if isinstance(value, Unknown):
            return value.name
        return self._unknown(value.function if isinstance(value, Aggregate) else "value").name

    def _walk(self, where: Solutions, path: SqlPath) -> Unknown:
        """Return what a path leads to, with the patterns that lead there."""
        if path[1:]:
            self._column(path)
        place, table = self._thing(where, path[0]), self._table(path[0])
        for size, name in enumerate(path[1:], 2):
            column = table.column(name)
            assert column is not None
            if column.is_label:
                return place  # the label of a thing stands for it
            known = where.places.get(path[:size])
            if known is None:
                known = where.places[path[:size]] = self._unknown(name)
                where.patterns.append(Pattern(place, URIRef(column.property), known))
                if column.is_class:
                    # Of all that it is, only what is below the table's class tells something.
                    kinds = (Comparison(known, "=", URIRef(iri)) for _, iri in column.values)
                    where.either.append(tuple(Block(conditions=(kind,)) for kind in kinds))
            place = known
            if column.target is not None:
                table = self._card.of(column.target)
        return place

    # -- tables ------------------------------------------------------------------------------------

    def _from(self, said: SqlSelect) -> Solutions:
        """Return the things of the tables that a statement selects from."""
        found = Solutions([said.table])
        self._first(found, self._table(said.table))
        names = {said.table: True}
        for name, on, always in said.joins:
            found.joins.append(self._joined(name, on))
            if name in names:
                raise ConfigError(f"The table {name} is joined twice.")
            names[name] = always
        for name in (name for name, always in names.items() if always and name != said.table):
            self._thing(found, name)
            found.tables.append(name)
        return found

    def _joined(self, name: str, on: SqlPart) -> Join:
        """Return how a table is joined."""
        match on:
            case SqlPair("=", (_, _) as path, (_, _) as other):
                if self._column(path).target is None:
                    path, other = other, path
                column, key = self._column(path), self._column(other)
                one, two = self._table(path[0]), self._table(other[0])
                if key.is_label and name in (one.name, two.name) and one != two and column.target == two.iri:
                    return one, column, two
        raise _wrong(name, "not joined by a link of two tables")

    def _thing(self, where: Solutions, name: str) -> Unknown:
        """Return the thing of a table, joined with the others in the way that is said, or else the shortest.

        Raises:
            ConfigError: If no links lead from one to the other.
        """
        if (name,) not in where.places:
            for join in self._between(where, name):
                self._join(where, join)
        return where.places[(name,)]

    def _first(self, where: Solutions, table: CardTable, thing: Unknown | None = None) -> Unknown:
        thing = where.places[(table.name,)] = thing or self._unknown(table.name)
        if table.iri:
            where.patterns.append(Pattern(thing, RDF.type, URIRef(table.iri)))
        return thing

    def _join(self, where: Solutions, join: Join) -> None:
        """Join two tables of which one is there already."""
        one, column, other = join
        if (one.name,) in where.places:
            self._first(where, other, self._walk(where, (one.name, column.name)))
        else:
            there = where.places[(other.name,)]
            thing = self._first(where, one)
            where.patterns.append(Pattern(thing, URIRef(column.property), there))
            where.places[one.name, column.name] = there

    def _between(self, where: Solutions, name: str) -> list[Join]:
        """Return how to come from the tables that are there to another."""
        there = [path[0] for path in where.places if len(path) == 1]
        for joins in (where.joins, [*where.joins, *self._links()]):
            ways: dict[str, list[Join]] = {known: [] for known in there}
            ahead = list(there)
            for known in ahead:
                for join in joins:
                    ends = join[0].name, join[2].name
                    if known in ends and (other := ends[known == ends[0]]) not in ways:
                        ways[other] = [*ways[known], join]
                        ahead.append(other)
            if name in ways:
                return ways[name]
        raise ConfigError(f"No links lead to the table {name}.")

    def _links(self) -> Iterator[Join]:
        """Yield the links of the card between different tables."""
        for table in self._card.tables:
            for column in table.columns:
                if column.target is not None and column.target != table.iri:
                    yield table, column, self._card.of(column.target)

    # -- values ------------------------------------------------------------------------------------

    def _item(self, where: Solutions, part: SqlPart) -> Expression:
        """Return what is selected, or ordered by."""
        return self._value(where, part, "item", bare=True)

    def _value(self, where: Solutions, part: SqlPart, place: _Place, *, bare: bool = False) -> Expression:
        """Return a value: a thing or a text where it is `bare`, else what can be computed with."""
        match part:
            case Literal():
                return part
            case tuple():
                column, found = self._column(part), self._walk(where, part)
                return found if bare or column.kind == "date" else Number(found)
            case SqlPair(sign, left, right) if sign in _SIGNS:
                one, other = (self._value(where, side, place) for side in (left, right))
                return Arithmetic(one, cast(Operation, sign), other)
            case SqlSelect() if place != "fold":
                return self._scalar(part)[0]
            case SqlCall("DATEDIFF", (tuple() as end, tuple() as start)):
                if end == start:
                    raise ConfigError("There are no days between a date and itself.")
                return Days(*reversed([self._date(where, path) for path in (end, start)]))
            case SqlCall(name, (tuple() as path,)) if name in _PARTS:
                return DatePart(_PARTS[name], self._date(where, path))
            case SqlCall("COUNT") if place == "item":
                return self._count(where, part)
            case SqlCall(name, (inner,)) if name in _FOLDS and place == "item":
                return self._fold(where, part, inner)
        raise _wrong(part, "no value")

    def _date(self, where: Solutions, path: SqlPath) -> Unknown:
        if self._column(path).kind != "date":
            raise _wrong(path, "no date")
        return self._walk(where, path)

    def _case(self, where: Solutions, part: SqlPart) -> tuple[Block | None, SqlPart]:
        """Return the condition of a case, and its value."""
        if isinstance(part, SqlCall) and part.name == "CASE":
            return self._block(where, part.parts[0]), part.parts[1]
        return None, part

    def _only(self, where: Solutions, call: SqlCall, case: Block | None) -> Block:
        """Return what has to hold of the things that are folded, beside what holds of all."""
        return (case or Block()) if call.only is None else self._block(where, call.only)

    def _count(self, where: Solutions, call: SqlCall) -> Aggregate:
        """Return what is counted: rows, different things or values, or those things that have a value."""
        case, of = None, where.counted
        if call.parts:
            case, inner = self._case(where, call.parts[0])
            if isinstance(inner, tuple):
                column, value = self._column(inner), self._walk(where, inner)
                thing = column.is_label or column.target is not None
                of = (value,) if call.different or thing else (where.places[inner[:-1]], value)
            elif inner != Literal(1):
                raise _wrong(call, "no count")
        return Aggregate("count", of=of, where=self._only(where, call, case))

    def _fold(self, where: Solutions, call: SqlCall, inner: SqlPart) -> Aggregate:
        case, inner = self._case(where, inner)
        if call.name == "SUM" and inner == Literal(1):
            return Aggregate("count", of=where.counted, where=self._only(where, call, case))
        value = self._value(where, inner, "fold")
        owners = dict.fromkeys(where.places[path[:-1]] for path in paths_in(inner))
        if not owners:
            raise _wrong(call, "of no column")
        return Aggregate(_FOLDS[call.name], value, tuple(owners), self._only(where, call, case))

    def _scalar(self, said: SqlSelect) -> tuple[Scalar, CardColumn | None]:
        """Return the one value of a statement; with its column where it is no fold."""
        if len(said.items) != 1 or said.group or said.having or said.order or said.limit:
            raise _wrong("SELECT", "not one value")
        (item,), found = said.items, self._from(said)
        value = self._item(found, item)
        self._hold(found, said.where)
        column = self._column(item) if isinstance(item, tuple) else None
        one = Column(value, self._name(value))
        return Scalar(Plan(found.block(), (one,), limit=None if aggregates(value) else 1)), column

    # -- conditions --------------------------------------------------------------------------------

    def _block(self, where: Solutions, part: SqlPart) -> Block:
        """Return what conditions say beside what holds already."""
        inner = where.within()
        self._hold(inner, part)
        return inner.block()

    def _hold(self, where: Solutions, part: SqlPart) -> None:
        """Add conditions: all that AND joins, and of those that OR joins at least one."""
        match part:
            case None:
                return
            case SqlPair("AND", left, right):
                self._hold(where, left)
                self._hold(where, right)
            case SqlPair("OR"):
                branches = [self._block(where, one) for one in conjuncts(part, "OR")]
                if not any(branch.empty for branch in branches):
                    where.either.append(tuple(branches))
            case SqlPair("IS", tuple() as path):
                inner = where.within(known=False)
                self._walk(inner, path)
                if inner.block().empty:
                    raise ConfigError(f"A thing of the table {path[0]} is not missing.")
                where.without.append(inner.block())
            case SqlPair("IS NOT", tuple() as path):
                self._walk(where, path)
            case SqlPair("LIKE", tuple() as path, Literal() as text):
                found = self._walk(where, path)
                where.conditions.append(
                    Contains(found, text.strip("%"), "anywhere" if text[:1] == "%" else "start")
                )
            case SqlPair("IN" | "NOT IN" as sign, tuple() as path, SqlCall("LIST", texts)):
                self._one_of(where, path, texts, denied=sign == "NOT IN")
            case SqlPair("IN" | "NOT IN" as sign, tuple() as path, SqlSelect() as inner):
                self._among(where, path, inner, denied=sign == "NOT IN")
            case SqlPair(sign, left, right) if sign in _RELATIONS:
                self._compare(where, left, cast(Relation, sign), right)
            case _:
                raise _wrong(part, "no condition")

    def _one_of(self, where: Solutions, path: SqlPath, texts: Sequence[SqlPart], *, denied: bool) -> None:
        """Add that a value is one of some texts, or none of them."""
        branches = [self._block(where, SqlPair("=", path, text)) for text in texts]
        if denied:
            where.without += branches
        else:
            self._owner(where, path)
            where.either.append(tuple(branches))

    def _among(self, where: Solutions, path: SqlPath, said: SqlSelect, *, denied: bool) -> None:
        """Add that a value is one of those of another statement, or none of them."""
        value, item = self._walk(where, path), said.items[0] if len(said.items) == 1 else None
        if not isinstance(item, tuple):
            raise _wrong("SELECT", "not one column")
        found = self._from(said)
        theirs = self._walk(found, item)
        self._hold(found, said.where)
        self._check_alike(path, item)
        if said.group or said.having or said.order or said.limit:
            if denied:
                raise _wrong(path, "not to be denied")
            plan = without_ties(self._plan(found, said, [theirs]))
            where.plans.append(renamed(plan, {theirs.name: value.name}))
            return
        own = substituted(found.block(), {theirs: value})
        if denied:
            where.without.append(own)
        else:
            where.patterns += own.patterns
            where.conditions += own.conditions
            where.without += own.without
            where.either += own.either

    def _check_alike(self, path: SqlPath, other: SqlPath) -> None:
        one, two = self._column(path), self._column(other)
        things = [c.is_label or c.target is not None for c in (one, two)]
        if things[0] != things[1] or (not things[0] and one.kind != two.kind):
            raise _wrong(other, "of another kind")

    def _compare(self, where: Solutions, left: SqlPart, relation: Relation, right: SqlPart) -> None:
        if not isinstance(left, tuple):
            if isinstance(left, Literal | SqlSelect):
                raise _wrong(left, "no column")
            one, other = (self._value(where, side, "condition") for side in (left, right))
            where.conditions.append(Comparison(one, relation, other))
            return
        column = self._column(left)
        match right:
            case SqlSelect():
                self._with_statement(where, left, relation, right)
                return
            case Literal() if isinstance(right.value, bool) or (column.kind == "boolean" and right in _BITS):
                value: Expression = self._walk(where, left)
                truth = Literal(right.value is True or right == _BITS[1])
                where.conditions.append(Comparison(value, relation, truth))
                return
            case Literal() if right.datatype is None:
                self._with_text(where, left, relation, str(right))
                return
            case Literal() if column.kind == "date":
                where.conditions.append(_dated(self._walk(where, left), relation, str(right)))
                return
            case tuple():
                self._check_alike(left, right)
            case SqlPair() | SqlCall() if column.kind != "number":
                raise _wrong(left, "of another kind")
        found, number = self._walk(where, left), column.kind == "number" or isinstance(right, Literal)
        other = self._value(where, right, "condition", bare=not number)
        where.conditions.append(Comparison(Number(found) if number else found, relation, other))

    def _with_statement(self, where: Solutions, path: SqlPath, relation: Relation, said: SqlSelect) -> None:
        """Add a comparison with what another statement finds."""
        kind = self._column(path).kind
        if kind not in ("number", "date"):
            # What is the same as that of another thing: there may be several, and one is enough.
            if relation not in ("=", "!="):
                raise _wrong(path, "no number")
            self._among(where, path, said, denied=relation == "!=")
            return
        value = self._walk(where, path)
        found, other = self._scalar(said)
        fold = found.plan.columns[0].value
        dated = isinstance(fold, Aggregate) and isinstance(fold.value, Unknown)
        if kind != (other.kind if other is not None else "date" if dated else "number"):
            raise _wrong(path, "of another kind")
        where.conditions.append(Comparison(Number(value) if kind == "number" else value, relation, found))

    def _with_text(self, where: Solutions, path: SqlPath, relation: Relation, text: str) -> None:
        column = self._column(path)
        if relation == "=":
            # What has two names at once, or is of two kinds, are two things that it leads to.
            other = where.named.setdefault(path, text) != text and not where.is_selected(path)
            where = where.afresh() if other else where
        if column.is_class:
            if (cls := dict(column.values).get(text)) is None:
                raise _wrong(text, "no kind of these things")
            pattern = Pattern(self._walk(where, path[:-1]), RDF.type, URIRef(cls))
            if relation == "=":
                where.patterns.append(pattern)
            else:
                where.without.append(Block((pattern,)))
        elif entity := self._entity(column, text):
            where.conditions.append(Comparison(self._owner(where, path), relation, URIRef(entity)))
        else:
            value, dated = self._walk(where, path), column.kind == "date"
            where.conditions.append(
                _dated(value, relation, text) if dated else Comparison(value, relation, Literal(text))
            )

    def _entity(self, column: CardColumn, text: str) -> str:
        """Return the thing that a text names in a column; "" where it is a text of its own.

        Raises:
            ConfigError: If a link leads to no thing of this name.
        """
        if column.target is None:
            return dict(column.values).get(text, "")
        for one in self._card.of(column.target).columns:
            if entity := dict(one.values).get(text, ""):
                return entity
        raise _wrong(text, "no name of what it leads to")

    def _owner(self, where: Solutions, path: SqlPath) -> Unknown:
        """Return what a text names: the thing that a link leads to, or the one that a column belongs to."""
        return self._walk(where, path if self._column(path).target is not None else path[:-1])


_BITS: Final = (Literal(0), Literal(1))
