"""Plans in plain English, so that a reader can see how a question was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rdflib import RDF, URIRef

from mrag.planning import plan as pl
from mrag.planning.algebra.roles import plain
from mrag.planning.algebra.scopes import aggregates, sides
from mrag.planning.value_words import Name, ValueWords
from mrag.planning.words.joining import all_of, by_group, of_each_group
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


class _Words(ValueWords):
    """Words of one plan."""

    def __init__(self, plan: pl.Plan, name: Name) -> None:
        super().__init__(plan, name)
        self._said: set[pl.Pattern] = set()

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

    def _where(self, before: str) -> str:
        """Return what must hold, with a word before it if there is anything."""
        found = self._block(self._plan.where, self._roles.subject)
        return f"{before}{found}" if found else ""

    def _block(self, block: pl.Block, main: pl.Unknown | None) -> str:
        """Return what must hold: first what is said of the main thing itself, then what is of others."""
        own: list[str] = []
        others: list[str] = []
        for p in block.patterns:
            several = self._several(p, block, main)
            if several is None:
                (own if main in (p.subject, p.object) else others).append(self._pattern(p, block, main))
            elif several:
                own.append(several)
        for said in (self.condition(c) for c in block.conditions if not self._is_said(c, block, main)):
            (own if said.startswith("other than ") else others).append(said)
        for branches in block.either:
            own.append("either " + " or ".join(self._block(b, main) or "anything" for b in branches))
        for inner in block.without:
            own.append(self._without(inner, main))
        others += [self._joined(plan) for plan in block.plans]
        for optional in block.optional:
            said = self._block(optional, main)
            others.append(said and f"if there is one, {said}")
        said, rest = (all_of([f for f in found if f]) for found in (own, others))
        if not rest or main is None:
            return " and ".join(f for f in (said, rest) if f)
        return f"{said}, where {rest}" if said else f"where {rest}"

    def _joined(self, plan: pl.Plan) -> str:
        """Return which rows of another plan there are."""
        things = [pl.Unknown(c.name) for c in plan.columns if isinstance(c.value, pl.Unknown)]
        named = join([self._unknown(t) for t in things if self._roles.type(t)] or ["it"])
        return f"{named} is ({_Words(plan, self._name).plan()})"

    def _without(self, block: pl.Block, main: pl.Unknown | None) -> str:
        pattern = block.patterns[0] if len(block.patterns) == 1 else None
        simple = pattern is not None and block == pl.Block(block.patterns) and pattern.subject == main
        if pattern is not None and simple and isinstance(pattern.object, pl.Unknown):
            if self._verb(pattern):
                return self._related(pattern, "which", "nothing")
            return f"without any {self._predicate(pattern)}"
        if pattern is not None and simple and pattern.predicate != RDF.type:
            other = self.value(pattern.object)
            if not self._verb(pattern):
                return f"whose {self._predicate(pattern)} is not {other}"
            if not (said := self._related(pattern, "which", other)).startswith("which "):
                return f"not {said}"
        if (kind := self._no_kind(block, main)) is not None:
            return kind
        if (described := self._none_such(block, main)) is not None:
            return described
        said = self._block(block, main)
        few = block.patterns or block.either
        return f"but none {said}" if few else f"and not where {said.removeprefix('where ')}"

    def _none_such(self, block: pl.Block, main: pl.Unknown | None) -> str | None:
        """Return that there is nothing described that is related to the main thing: "without any visit …"."""
        link = [p for p in block.patterns if main in (p.subject, p.object) and p.predicate != RDF.type]
        other = next((e for p in link for e in (p.subject, p.object) if e != main), None)
        if main is None or len(link) != 1 or not isinstance(other, pl.Unknown) or block.either:
            return None
        (pattern,) = link
        kinds = [p.object for p in block.patterns if (p.subject, p.predicate) == (other, RDF.type)]
        inner = replace(
            block,
            patterns=tuple(
                p for p in block.patterns if p != pattern and not (p.subject == other and p.object in kinds)
            ),
        )
        if pattern.object == main:
            verb = self._verb(pattern)
            kind = (
                self._name(kinds[0]) if kinds and not isinstance(kinds[0], pl.Unknown) else self._any(other)
            )
            told = f"that {verb} it" if verb else f"whose {self._predicate(pattern)} it is"
        else:
            kind, told = self._predicate(pattern), ""
            if self._verb(pattern):
                return None
        rest = _Words(pl.Plan(inner, (pl.Column(other, other.name),)), self._name)._where("")
        rest = rest.removeprefix("where ") if told else rest.replace("where the thing is ", "that is ", 1)
        said = " and ".join(w for w in (told, rest.removeprefix("where ")) if w)
        return f"without any {kind} {said}".rstrip()

    def _pattern(self, pattern: pl.Pattern, block: pl.Block, main: pl.Unknown | None) -> str:
        s, p, o = pattern.subject, pattern.predicate, pattern.object
        if pattern in self._said or (p == RDF.type and self._roles.is_kind(pattern)):
            return ""
        which = "which" if s == main else self._thing(s)
        if p == RDF.type:
            return f"{which} is {article(self.value(o))}"
        if not isinstance(o, pl.Unknown):
            return self._related(pattern, which, self.value(o))
        if bounds := [c for c in block.conditions if self._roles.only(c, o)]:
            return self._owned(which, self._bounds(bounds, pattern, which))
        if o == main:
            said = self._said_of(pattern)
            if verb := self._verb(pattern):
                if isinstance(s, pl.Unknown) and self._is_any(s):
                    return f"which {article(self._kind(s))} {verb}"
                return f"which {said[5:]}"
            named = self._kind(main) == self._predicate(pattern)
            return f"of {self._thing(s)}" if named else f"which is the {said}"
        if self._roles.mentions(o) <= 1 and not (self._roles.is_shown(o) or self._roles.is_joined(o)):
            if self._verb(pattern):
                return self._related(pattern, which, "something")
            said = self._predicate(pattern)
            said = f"another {said}" if self._roles.number(o) else article(said)
            return f"{'with' if s == main else which + ' has'} {said}"
        if self._named_by(o, pattern) and not self._verb(pattern):
            return ""  # where it is spoken of, it is "the price of the lamp"
        return self._related(pattern, which, self._object(o, pattern))

    def _is_said(self, condition: pl.Condition, block: pl.Block, main: pl.Unknown | None) -> bool:
        """Return whether a condition is said with the pattern that binds its unknown."""
        return any(
            isinstance(p.object, pl.Unknown)
            and p.predicate != RDF.type
            and p not in self._said
            and self._roles.only(condition, p.object)
            for p in block.patterns
        )
