"""Plans in plain English, so that a reader can see how a question was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdflib import URIRef

from mrag.planning import plan as pl
from mrag.planning.scopes import aggregates, plain, sides
from mrag.planning.words.blocks import BlockWords
from mrag.planning.words.joining import by_group, of_each_group
from mrag.planning.words.values import Name
from mrag.rdf.terms import Term
from mrag.text.grammar import article, join


def to_words(plan: pl.Plan, name: Callable[[Term], str]) -> str:
    """Return a plan in words.

    Args:
        plan: The plan.
        name: Returns the name of an entity, a class, a property or a value.

    Example:
        >>> from rdflib import RDF, Literal, URIRef
        >>> from mrag.planning.plan import (
        ...     Aggregate, Block, Column, Comparison, Order, Pattern, Plan, Unknown
        ... )
        >>> name = lambda term: str(term).rpartition(":")[2].replace("_", " ")
        >>> x, city, rating = Unknown("x"), Unknown("city"), Unknown("rating")
        >>> restaurants = Pattern(x, RDF.type, (u := URIRef)("urn:restaurant"))
        >>> has_rating = Pattern(x, u("urn:rating"), rating)
        >>> in_city = Pattern(x, u("urn:city"), u("urn:New_York"))
        >>> rated = Block((restaurants, in_city, has_rating), (Comparison(rating, ">", Literal(4)),))
        >>> to_words(Plan(rated, (Column(x, "x"),)), name)
        'each restaurant whose city is New York and whose rating is more than 4'
        >>> food = Unknown("food")
        >>> kinds = Block((*rated.patterns, Pattern(x, u("urn:food_type"), food)), rated.conditions)
        >>> many = Aggregate("count", of=(x,))
        >>> to_words(Plan(kinds, (Column(food, "food"), Column(many, "n")), order=(Order("n", True),)), name)
        'the number of restaurants whose city is New York and whose rating is more than 4, for each food type,
        greatest first'
        >>> to_words(Plan(rated), name)
        'whether there is a restaurant whose city is New York and whose rating is more than 4'
    """
    told, behind = of_each_group(plan)
    return _Words(told, name).plan() + behind


def part_to_words(plan: pl.Plan, part: pl.Condition | pl.Block | pl.Pattern, name: Name) -> str:
    """Return a condition, a negation or a pattern of a plan in words, as `to_words` says it.

    Args:
        plan: The plan.
        part: What belongs to it.
        name: Returns the name of a term.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> from mrag.planning import Block, Pattern, Plan, Unknown
        >>> x, part = Unknown("x"), Pattern(Unknown("x"), URIRef("urn:colour"), Literal("red"))
        >>> part_to_words(Plan(Block((part,))), part, lambda term: str(term).rpartition(":")[2])
        'whose colour is red'
    """
    return _Words(plan, name).part(part)


def value_to_words(plan: pl.Plan, value: pl.Expression, name: Name) -> tuple[str, bool]:
    """Return what a value of a plan is called, without an article, and whether it is a date or a year.

    Args:
        plan: The plan.
        value: One of its values.
        name: Returns the name of a term.
    """
    return _Words(plan, name).called(value)


class _Words(BlockWords):
    """Words of one plan."""

    def _rows_of(self, plan: pl.Plan) -> str:
        return _Words(plan, self._name).plan()

    def _nested(self, plan: pl.Plan) -> str:
        return _Words(plan, self._name).single()

    def plan(self) -> str:
        plan = self._plan
        # What is only shown or grouped by need not be said of the thing as well.
        shown = {e for c in plan.columns for e in pl.parts(c.value)} | set(plan.group_by)
        self._said = {
            p
            for p in plan.where.patterns
            if p.subject == self._roles.subject and p.object in shown and self._roles.is_free(p.object)
        }
        main = self._roles.subject
        typed = {main} if main is not None and self._roles.type(main) is not None else set()
        told = (p for p in plan.where.patterns if isinstance(p.subject, URIRef))
        self._said |= {p for p in told if p.object in shown - typed}
        self._said |= self._roles.compared() if plan.yes_or_no else set()
        folded = [c.value for c in plan.columns if aggregates(c.value)]
        if main is not None and not typed and main in shown and not folded:
            self._said |= {p for p in (self._roles.binding(main),) if p is not None}
        self._tell_members()
        having = join([self.condition(c) for c in plan.having])
        if plan.yes_or_no:
            one = f"there is {article(self._kind(main))} " if main is not None else ""
            return f"whether {having if plan.having else one + self._where('')}".rstrip()
        listed = [c.value for c in plan.columns if not aggregates(c.value)]
        if folded:
            found = join([self.value(v) + self._where(" ") for v in folded])
            keys = [self._key(v) for v in (*listed, *(u for u in plan.group_by if u not in listed))]
            found, groups = by_group(found, keys, "each")
            found += f", for each {join(groups)}" if groups else ""
        else:
            found = self._rows(listed)
        if plan.having:
            bare = self._roles.subject in listed and not self._where("")
            found += f"{'' if bare else ','} where {having}"
        return found + self._shape()

    def single(self) -> str:
        """Return the one value of a plan in words."""
        plan = self._plan
        if plan.limit != 1 or plan.offset or [o.column for o in plan.order] != [c.name for c in plan.columns]:
            return f"({self.plan()})"
        value, best = plan.columns[0].value, "greatest" if plan.order[0].descending else "least"
        said = self.value(value).removeprefix("the ")
        self._said = {p for p in plan.where.patterns if p.object in pl.parts(value)}
        where, groups = by_group(self._where(" "), [self._key(u) for u in plan.group_by], "any")
        return f"the {best} {said}{f' of any {join(groups)}' if groups else ''}{where}"

    def part(self, part: pl.Condition | pl.Block | pl.Pattern) -> str:
        """Return a part of the plan in words."""
        main = self._roles.subject
        if isinstance(part, pl.Block):
            return self._without(part, main)
        if isinstance(part, pl.Pattern):
            return self._pattern(part, pl.Block((part,)), main)
        for p in self._plan.where.patterns:
            if isinstance(p.object, pl.Unknown) and self._roles.only(part, p.object):
                return self._bounds([part], p, "which")
        return self.condition(part)

    def called(self, value: pl.Expression) -> tuple[str, bool]:
        """Return what a value is called, and whether it is a date or a year."""
        if aggregates(value) or isinstance(value, pl.Scalar):
            said = self.value(value)
            said = said[1:-1] if said[:1] == "(" and isinstance(value, pl.Scalar) else said
            return said.removeprefix("the "), False
        return self._bare(plain(value)), self._is_time(value)

    def _rows(self, listed: Sequence[pl.Expression]) -> str:
        """Return what is listed; the thing that all is about first."""
        main = self._roles.subject
        if main is None:
            return join([self._shown(v) for v in listed]) + self._where(" where ")
        if main not in listed:
            return f"{join([self._shown(v) for v in listed])}{self._where(' ')}"
        others = [self._shown(v) for v in listed if v != main]
        shown = f" and {join(others)}" if others else ""
        pattern = self._roles.binding(main)
        if (
            pattern is not None
            and not isinstance(pattern.subject, pl.Unknown)
            and self._roles.type(main) is None
        ):
            said = self._said_of(pattern)
            return f"{said if self._verb(pattern) else 'the ' + said}{self._where(' ')}{shown}"
        return f"each {self._kind(main, of=True)}{self._where(' ')}{shown}"

    def _tell_members(self) -> None:
        """Say what is only counted in a condition where it is counted: "products developed by it"."""
        plan, main = self._plan, self._roles.subject
        shown = {e for c in plan.columns for e in pl.parts(c.value)}
        counted = [a.of[0] for h in plan.having for s in sides(h) for a in aggregates(s) if len(a.of) == 1]
        for unknown in dict.fromkeys(counted):
            if plan.yes_or_no and unknown == main:
                self._told[unknown] = self._where("")
            if unknown in shown or unknown == main:
                continue
            mine = [p for p in plan.where.patterns if p.subject == unknown and p.object == main]
            if len(mine) == 1 and self._roles.type(unknown) and (said := self._verb(mine[0])):
                self._told[unknown] = (
                    f"{said.removeprefix('is ')} it" if said.startswith("is ") else f"which {said} it"
                )
                self._said.add(mine[0])

    def _key(self, value: pl.Expression) -> str:
        """Return what is grouped by, without an article."""
        if isinstance(value, pl.Unknown):
            pattern = self._roles.binding(value)
            named = value == self._roles.subject or self._roles.type(value) is not None
            if named or pattern is None or pattern.subject == self._roles.subject:
                return self._kind(value)
            return self._said_of(pattern)
        return self.value(value).removeprefix("the ")

    def _shape(self) -> str:
        plan, found = self._plan, ""
        for number, order in enumerate(plan.order):
            value = next(c.value for c in plan.columns if c.name == order.column)
            ways = ("latest", "earliest") if self._is_time(value) else ("greatest", "least")
            way = f"{ways[0] if order.descending else ways[1]} first"
            # What was said last needs no name: "each film and its price, least first".
            alone = bool(aggregates(value)) and sum(bool(aggregates(c.value)) for c in plan.columns) == 1
            lists = not number and not plan.grouped
            alone = alone or (lists and value == plan.columns[-1].value != self._roles.subject)
            found += f", {'then ' if number else ''}" + (way if alone else f"by {self.value(value)}, {way}")
        if plan.limit is not None:
            first, last = plan.offset + 1, plan.offset + plan.limit
            if plan.offset:
                found += f", number {first}" if first == last else f", numbers {first} to {last}"
            else:
                found += f", only the first {plan.limit if plan.limit != 1 else 'one'}"
        elif plan.offset:
            found += f", without the first {plan.offset}"
        return found + (", ties included" if plan.ties and plan.limit is not None else "")
