"""Plans in plain English, so that a reader can see how a question was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.language.grammar import article, is_participle, join, plural, relation
from mrag.language.tokens import PREPOSITIONS
from mrag.planning import plan as pl
from mrag.planning.schema import SAID
from mrag.planning.scopes import (
    PlanRoles,
    aggregates,
    plain,
    sides,
    unit_of_days,
    with_classes,
)
from mrag.rdf.terms import Term


def all_of(said: Sequence[str]) -> str:
    """Return words of what must hold together.

    Example:
        >>> all_of(["red", "large", "but none where it is cold"])
        'red and large, but none where it is cold'
    """
    text = said[0] if said else ""
    for one in said[1:]:
        text += (
            f", {one}" if one.startswith("but none") else f" {'' if one[:8] == 'and not ' else 'and '}{one}"
        )
    return text


def by_group(text: str, keys: Sequence[str], each: str) -> tuple[str, list[str]]:
    """Name groups where words speak of them.

    Returns the words, and the groups that they do not speak of.

    Example:
        >>> by_group("the number of vendors based in the country", ["country", "year"], "each")
        ('the number of vendors based in each country', ['year'])
    """
    left = []
    for key in keys:
        named = re.compile(rf"\bthe {re.escape(key)}(?=$|,| and )")
        if len(named.findall(text)) == 1:
            text = f"{each} {key}".join(named.split(text))
        else:
            left.append(key)
    return text, left


def of_each_group(plan: pl.Plan) -> tuple[pl.Plan, str]:
    """Return the plan that a plan takes the extreme of each group of, and words for that; else the plan."""
    told, extreme = plan.where.plans if len(plan.where.plans) == 2 else (plan, plan)
    folds = [c.value for c in extreme.columns if isinstance(c.value, pl.Aggregate)]
    if extreme.where != pl.Block(plans=(told,)) or len(folds) != 1 or folds[0].value is None:
        return plan, ""
    number = next((u.name for u in pl.parts(folds[0].value) if isinstance(u, pl.Unknown)), "")
    value = next((c.value for c in told.columns if c.name == number), None)
    counted = value.of if isinstance(value, pl.Aggregate) and value.function == "count" else ()
    parts = [u for u in pl.parts(value) if isinstance(u, pl.Unknown)] if value is not None else []
    called = next((u.name for u in (*counted, *parts)), number)
    said = re.sub(r"(_|\b)\d+$", "", called).replace("_", " ").strip()
    group = extreme.columns[0].name.replace("_", " ")
    if isinstance(value, pl.Aggregate) and value.function == "count":
        said = plural(said)
        most = "most" if folds[0].function == "maximum" else "fewest"
    else:
        most = "greatest" if folds[0].function == "maximum" else "least"
    return told, f", but of each {group} only that with the {most} {said}"


Name = Callable[[Term], str]

_TIMES = ("year", "date", "year-month")


def _calendar(condition: pl.Comparison) -> str:
    """Return when a date is whose month or day of the week is given, "in May"; "" for other conditions."""
    part, number = condition.left, condition.right
    if condition.relation not in ("=", "!=") or not isinstance(part, pl.DatePart):
        return ""
    at = number.value if isinstance(number, Literal) and isinstance(number.value, int) else 0
    before, names = SAID["calendar"].get(part.part, ("", ""))
    return f"{before} {names.split()[at - 1]}" if 1 <= at <= len(names.split()) else ""


def _of(which: str) -> str:
    return "" if which == "which" else f" of {which}"


_ORDINALS: Final = ("", "other ", "third ", "fourth ", "further ")
"""What stands before the name of a thing that is called like others."""
_NAMED = (pl.Unknown, pl.Number)  # What is called by the property that leads to it


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
    told, behind = of_each_group(with_classes(plan, getattr(name, "classes", {})))
    return _Words(told, name).plan() + behind


def part_to_words(plan: pl.Plan, part: pl.Condition | pl.Block | pl.Pattern, name: Name) -> str:
    """Return a condition, a negation or a pattern of a plan in words, as `to_words` says it.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> from mrag.planning import Block, Pattern, Plan, Unknown
        >>> x, part = Unknown("x"), Pattern(Unknown("x"), URIRef("urn:colour"), Literal("red"))
        >>> part_to_words(Plan(Block((part,))), part, lambda term: str(term).rpartition(":")[2])
        'whose colour is red'
    """
    return _Words(plan, name).part(part)


def value_to_words(plan: pl.Plan, value: pl.Expression, name: Name) -> tuple[str, bool]:
    """Return what a value of a plan is called, without an article, and whether it is a date or a year."""
    return _Words(plan, name).call(value)


class _Words:
    """Words of one plan: of its values, of what must hold, and of what is asked for."""

    def __init__(self, plan: pl.Plan, name: Name) -> None:
        self._plan = plan
        self._name = name
        self._roles = PlanRoles(plan)
        self._open: set[pl.Unknown] = set()
        self._told: dict[pl.Unknown, str] = {}
        self._said: set[pl.Pattern] = set()

    def _is_named_by(self, unknown: pl.Unknown, pattern: pl.Pattern) -> bool:
        """Return whether an unknown has no other name than that of the property that leads to it."""
        return self._roles.type(unknown) is None and self._roles.binding(unknown) == pattern

    def _object(self, unknown: pl.Unknown, pattern: pl.Pattern) -> str:
        """Return what a pattern leads to; what it alone names has no other name."""
        if not self._is_named_by(unknown, pattern):
            return self._thing(unknown)
        return "the " + unknown.name.replace("_", " ")

    def _relate(self, pattern: pl.Pattern, which: str, other: str) -> str:
        """Return that something is related to another thing, by a noun or by a verb."""
        said = self._verb(pattern)
        if not said:
            return self._own(which, f"{self._predicate(pattern)}{_of(which)} is {other}")
        return f"{said[3:] if said.startswith('is ') and which == 'which' else f'{which} {said}'} {other}"

    def _verb(self, pattern: pl.Pattern) -> str:
        """Return a predicate as a verb, mostly with a preposition; "" for a noun."""
        kind, said = relation(label := self._predicate(pattern), False)
        first, _, rest = label.partition(" ")
        if first.endswith("ed") and rest.split(" ")[0] in PREPOSITIONS:
            return f"is {label}"  # "located in state"
        verb = kind == "phrase" and (" " in label or label.endswith("s"))
        return said if verb and not said.startswith("has the ") else ""

    @staticmethod
    def _own(which: str, said: str) -> str:
        """Return what is said of a property of the main thing, or of another that its name was put behind."""
        return f"{'whose' if which == 'which' else 'the'} {said}"

    def _bound(self, condition: pl.Condition, pattern: pl.Pattern, which: str) -> tuple[str, str]:
        """Return what is bounded, a property or a part of its dates, and by what."""
        named = self._predicate(pattern) + _of(which)
        value = condition.value if isinstance(condition, pl.Contains) else condition.left
        if isinstance(condition, pl.Comparison) and (day := _calendar(condition)):
            return named, f"is {'' if condition.relation == '=' else 'not '}{day}"
        part = SAID["parts"].get(value.part, value.part) if isinstance(value, pl.DatePart) else "date"
        if part != "date" and part not in named.split():
            named += f" has {article(part)} that"
        if isinstance(condition, pl.Contains):
            return named, f"{SAID['positions'][condition.position]} “{condition.text}”"
        said = SAID["relations"][condition.relation]
        if self._is_time(value) and isinstance(condition.right, Literal):
            said = SAID["of_time"].get(condition.relation, said)
        return named, f"{said} {self._amount(condition.right, pattern.predicate)}"

    def _amount(self, value: pl.Expression, predicate: object) -> str:
        """Return what a property is compared with, a number with the property's unit where it has one."""
        said, with_unit = self.value(value), getattr(self._name, "with_unit", None)
        numeric = isinstance(value, Literal) and value.datatype is not None
        return str(with_unit(str(predicate), said)) if with_unit is not None and numeric else said

    def _bounds(self, conditions: Sequence[pl.Condition], pattern: pl.Pattern, which: str) -> str:
        """Return all that a property is bounded by, named once."""
        bounds: dict[str, list[str]] = {}
        for condition in conditions:
            named, said = self._bound(condition, pattern, which)
            saids = bounds.setdefault(named, [])
            short = said.removeprefix("is ") if saids and saids[0].startswith("is ") else said
            if said not in saids and short not in saids:
                saids.append(short)
        first, *others = (f"{named} {' and '.join(saids)}" for named, saids in bounds.items())
        return join([first, *(others if which == "which" else (f"the {other}" for other in others))])

    def _is_time(self, value: pl.Expression) -> bool:
        """Return whether a value is a date or a year, of which one is before another."""
        if isinstance(value, pl.DatePart):
            return value.part in _TIMES
        if isinstance(value, pl.Number):
            return self._is_time(value.value)
        pattern = self._roles.binding(value) if isinstance(value, pl.Unknown) else None
        if pattern is None:
            return False
        words = self._predicate(pattern).lower().split()
        head = next((at for at, word in enumerate(words) if at and word in PREPOSITIONS), len(words))
        return words[head - 1] in _TIMES or (words[0] in _TIMES and is_participle(words[-1]))

    # -- conditions and values -------------------------------------------------------------------

    def condition(self, condition: pl.Condition) -> str:
        """Return a condition in words."""
        if isinstance(condition, pl.Contains):
            return f"{self.value(condition.value)} {SAID['positions'][condition.position]} “{condition.text}”"
        left, right = condition.left, self.value(condition.right)
        if condition.relation == "!=" and left == self._roles.subject:
            return f"other than {right}"
        times = self._is_time(left) and self._is_time(condition.right)
        told = SAID["relations"] | (SAID["of_time"] if times else {})
        return f"{self.value(left)} {told[condition.relation]} {right}"

    def value(self, value: pl.Expression) -> str:
        """Return a value in words."""
        match value:
            case pl.Unknown():
                return self._unknown(value)
            case URIRef() | Literal():
                return self._name(value)
            case pl.Number(inner):
                return self.value(inner)
            case pl.DatePart(part, inner):
                said, named = self.value(inner), SAID["parts"].get(part, part)
                return said if named in said.split() else f"the {named} of {said}"
            case pl.Days(start, end):
                return f"the days from {self.value(start)} to {self.value(end)}"
            case pl.Arithmetic(pl.Days(start, end)) if unit := unit_of_days(value):
                return f"the {unit} from {self.value(start)} to {self.value(end)}"
            case pl.Arithmetic(left, operation, right):
                a, b = (self._operand(e) for e in (left, right))
                return f"{a} {SAID['operations'][operation]} {b}"
            case pl.Scalar(plan):
                return _Words(plan, self._name).single()
            case pl.Aggregate():
                return self._aggregate(value)

    def _operand(self, value: pl.Expression) -> str:
        said = self.value(value)
        return f"({said})" if isinstance(value, pl.Arithmetic) else said

    def _aggregate(self, aggregate: pl.Aggregate) -> str:
        fold = SAID["folds"][aggregate.function]
        if aggregate.value is not None:
            text = f"the {fold} {self._bare(aggregate.value)}"
            text += f" of {join([self._plural(u) for u in aggregate.of])}" if aggregate.of else ""
        else:
            text = f"the {fold} of {join([self._plural(u) for u in aggregate.of])}"
            if len(aggregate.of) == 1 and (told := self._told.get(aggregate.of[0])):
                text += f" {told}"
        if not aggregate.where.empty:
            main = aggregate.of[0] if aggregate.of else self._roles.subject
            text = f"{text} {self._block(aggregate.where, main)}".rstrip()
        return text

    def _bare(self, value: pl.Expression) -> str:
        """Return what a property of something is called, without saying of what."""
        if isinstance(value, pl.Number):
            return self._bare(value.value)
        if isinstance(value, pl.Arithmetic) and all(isinstance(v, _NAMED) for v in (value.left, value.right)):
            return f" {SAID['operations'][value.operation]} ".join(map(self._bare, (value.left, value.right)))
        if isinstance(value, pl.Unknown):
            pattern = self._roles.binding(value)
            return self._predicate(pattern) if pattern is not None else self._kind(value)
        return f"of {self.value(value)}"

    def _show(self, value: pl.Expression) -> str:
        """Return a value that is listed, and whether there may be none."""
        return self.value(value) + (" if there is one" if self._roles.is_optional(value) else "")

    def _unknown(self, unknown: pl.Unknown) -> str:
        pattern, which = self._roles.binding(unknown), _ORDINALS[min(self._roles.number(unknown), 4)]
        if unknown == self._roles.subject or pattern is None or self._roles.type(unknown) is not None:
            return f"the {which}{self._kind(unknown)}"
        shown = [c.value for c in self._plan.columns]
        if self._verb(pattern):
            said = self._say_of(pattern)
            return said.replace("what ", f"the {which}thing that ", 1) if which else said
        if pattern.subject == self._roles.subject and pattern.subject in shown:
            return f"its {which}{self._predicate(pattern)}"
        return f"the {which}{self._say_of(pattern)}"

    def _say_of(self, pattern: pl.Pattern) -> str:
        """Return the value of a property by what it belongs to: `director of the film`."""
        if said := self._verb(pattern):
            return f"what {self._thing(pattern.subject)} {said}"
        return f"{self._predicate(pattern)} of {self._thing(pattern.subject)}"

    def _thing(self, place: pl.Place) -> str:
        if not isinstance(place, pl.Unknown):
            return self._name(place)
        if place in self._open:
            return "it"  # what is said of things in a circle ends where it began
        self._open.add(place)
        said = self._unknown(place)
        self._open.discard(place)
        return said

    def _plural(self, unknown: pl.Unknown) -> str:
        return plural(self._kind(unknown))

    def _kind(self, unknown: pl.Unknown, *, of: bool = False) -> str:
        """Return what an unknown is called: its class, or the property that has it as a value."""
        if (cls := self._roles.type(unknown)) is not None:
            return self._name(cls)
        pattern = self._roles.binding(unknown)
        if pattern is None:
            return unknown.name.replace("_", " ") if self._roles.is_joined(unknown) else self._any(unknown)
        if self._verb(pattern):
            return f"thing that {self._say_of(pattern).removeprefix('what ')}"
        return self._say_of(pattern) if of else self._predicate(pattern)

    def _any(self, unknown: pl.Unknown) -> str:
        """Return what an unknown without a class is called: by the class that has its properties."""
        kind = getattr(self._name, "kind", None)
        kinds = {kind(p) for p in self._roles.said_of(unknown)} if kind is not None else set()
        return self._name(kinds.pop()) if len(kinds) == 1 and None not in kinds else "thing"

    def _is_any(self, unknown: pl.Unknown) -> bool:
        """Return whether an unknown is any thing of its class: nothing else is said of it."""
        few = self._roles.mentions(unknown) < 3 and not self._roles.is_shown(unknown)
        return few and self._roles.type(unknown) is not None

    def _predicate(self, pattern: pl.Pattern) -> str:
        p = pattern.predicate
        if not isinstance(p, URIRef):
            return "property"
        name = self._name(p)
        first, _, rest = name.partition(" ")
        plain = first.lower() == "has" or (
            first.lower() == "is" and PREPOSITIONS.isdisjoint(rest.lower().split())
        )
        return rest if plain and rest else name

    def _where(self, before: str) -> str:
        """Return what must hold, with a word before it if there is anything."""
        text = self._block(self._plan.where, self._roles.subject)
        return f"{before}{text}" if text else ""

    def _block(self, block: pl.Block, main: pl.Unknown | None) -> str:
        """Return what must hold: first what is said of the main thing itself, then what is of others."""
        own: list[str] = []
        others: list[str] = []
        for p in block.patterns:
            (own if main in (p.subject, p.object) else others).append(self._pattern(p, block, main))
        for said in (self.condition(c) for c in block.conditions if not self._is_said(c, block)):
            (own if said.startswith("other than ") else others).append(said)
        for branches in block.either:
            own.append("either " + " or ".join(self._block(b, main) or "anything" for b in branches))
        for inner in block.without:
            own.append(self._without(inner, main))
        others += [self._join(plan) for plan in block.plans]
        for optional in block.optional:
            said = self._block(optional, main)
            others.append(said and f"if there is one, {said}")
        said, rest = (all_of([f for f in parts if f]) for parts in (own, others))
        if not rest or main is None:
            return " and ".join(f for f in (said, rest) if f)
        return f"{said}, where {rest}" if said else f"where {rest}"

    def _join(self, plan: pl.Plan) -> str:
        """Return which rows of another plan there are."""
        things = [pl.Unknown(c.name) for c in plan.columns if isinstance(c.value, pl.Unknown)]
        named = join([self._unknown(t) for t in things if self._roles.type(t)] or ["it"])
        return f"{named} is ({_Words(plan, self._name).plan()})"

    def _without(self, block: pl.Block, main: pl.Unknown | None) -> str:
        pattern = block.patterns[0] if len(block.patterns) == 1 else None
        simple = pattern is not None and block == pl.Block(block.patterns) and pattern.subject == main
        if pattern is not None and simple and isinstance(pattern.object, pl.Unknown):
            if self._verb(pattern):
                return self._relate(pattern, "which", "nothing")
            return f"without any {self._predicate(pattern)}"
        if pattern is not None and simple and pattern.predicate != RDF.type:
            other = self.value(pattern.object)
            if not self._verb(pattern):
                return f"whose {self._predicate(pattern)} is not {other}"
            if not (said := self._relate(pattern, "which", other)).startswith("which "):
                return f"not {said}"
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
                only = len(kinds) == 1 and inner == pl.Block() and not isinstance(kinds[0], pl.Unknown)
                return self._relate(pattern, "which", f"no {self.value(kinds[0])}") if only else None
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
            return self._relate(pattern, which, self.value(o))
        if bounds := [c for c in block.conditions if self._roles.only(c, o)]:
            return self._own(which, self._bounds(bounds, pattern, which))
        if o == main:
            said = self._say_of(pattern)
            if verb := self._verb(pattern):
                if isinstance(s, pl.Unknown) and self._is_any(s):
                    return f"which {article(self._kind(s))} {verb}"
                return f"which {said[5:]}"
            named = self._kind(main) == self._predicate(pattern)
            return f"of {self._thing(s)}" if named else f"which is the {said}"
        if self._roles.mentions(o) <= 1 and not (self._roles.is_shown(o) or self._roles.is_joined(o)):
            if self._verb(pattern):
                return self._relate(pattern, which, "something")
            said = self._predicate(pattern)
            said = f"another {said}" if self._roles.number(o) else article(said)
            return f"{'with' if s == main else which + ' has'} {said}"
        if self._is_named_by(o, pattern) and not self._verb(pattern):
            return ""  # where it is spoken of, it is "the price of the lamp"
        return self._relate(pattern, which, self._object(o, pattern))

    def _is_said(self, condition: pl.Condition, block: pl.Block) -> bool:
        """Return whether a condition is said with the pattern that binds its unknown."""
        return any(
            isinstance(p.object, pl.Unknown)
            and p.predicate != RDF.type
            and p not in self._said
            and self._roles.only(condition, p.object)
            for p in block.patterns
        )

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
        # Only one of them names what is shown.
        named = (p for p in told if isinstance(p.object, pl.Unknown) and p.object in shown - typed)
        self._said |= {p for p in named if p == self._roles.binding(p.object)}  # type: ignore[arg-type]
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
            text = join([self.value(v) + self._where(" ") for v in folded])
            keys = [self._key(v) for v in (*listed, *(u for u in plan.group_by if u not in listed))]
            text, groups = by_group(text, keys, "each")
            text += f", for each {join(groups)}" if groups else ""
        else:
            text = self._rows(listed)
        if plan.having:
            bare = self._roles.subject in listed and not self._where("")
            text += f"{'' if bare else ','} where {having}"
        return text + self._shape()

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

    def call(self, value: pl.Expression) -> tuple[str, bool]:
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
            return join([self._show(v) for v in listed]) + self._where(" where ")
        if main not in listed:
            return f"{join([self._show(v) for v in listed])}{self._where(' ')}"
        others = [self._show(v) for v in listed if v != main]
        shown = f" and {join(others)}" if others else ""
        pattern = self._roles.binding(main)
        if (
            pattern is not None
            and not isinstance(pattern.subject, pl.Unknown)
            and self._roles.type(main) is None
        ):
            said = self._say_of(pattern)
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
            return self._say_of(pattern)
        return self.value(value).removeprefix("the ")

    def _shape(self) -> str:
        plan, text = self._plan, ""
        for number, order in enumerate(plan.order):
            value = next(c.value for c in plan.columns if c.name == order.column)
            ways = ("latest", "earliest") if self._is_time(value) else ("greatest", "least")
            way = f"{ways[0] if order.descending else ways[1]} first"
            # What was said last needs no name: "each film and its price, least first".
            alone = bool(aggregates(value)) and sum(bool(aggregates(c.value)) for c in plan.columns) == 1
            lists = not number and not plan.grouped
            alone = alone or (lists and value == plan.columns[-1].value != self._roles.subject)
            text += f", {'then ' if number else ''}" + (way if alone else f"by {self.value(value)}, {way}")
        if plan.limit is not None:
            first, last = plan.offset + 1, plan.offset + plan.limit
            if plan.offset:
                text += f", number {first}" if first == last else f", numbers {first} to {last}"
            else:
                text += f", only the first {plan.limit if plan.limit != 1 else 'one'}"
        elif plan.offset:
            text += f", without the first {plan.offset}"
        return text + (", ties included" if plan.ties and plan.limit is not None else "")
