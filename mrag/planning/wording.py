"""Plans in plain English, so that a reader can see how a question was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdflib import RDF, Literal, URIRef

from mrag.planning.algebra.roles import PlanRoles
from mrag.planning.algebra.scopes import aggregates
from mrag.planning.algebra.vocabulary import FOLDS, OPERATIONS, PARTS, POSITIONS, RELATIONS
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Condition,
    Contains,
    DatePart,
    Days,
    Expression,
    Number,
    Pattern,
    Place,
    Plan,
    Scalar,
    Unknown,
    parts,
)  # fmt: skip
from mrag.rdf.terms import Term
from mrag.text.english import PREPOSITIONS
from mrag.text.grammar import article, join, plural, relation

Name = Callable[[Term], str]


def to_words(plan: Plan, name: Callable[[Term], str]) -> str:
    """Return a plan in words.

    Args:
        plan: The plan.
        name: Returns the name of an entity, a class, a property or a value.

    Example:
        >>> from mrag.planning.plan import Column, Comparison, Order
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
    return _Words(plan, name).plan()


class _Words:
    """Words of one plan."""

    def __init__(self, plan: Plan, name: Name) -> None:
        self._plan = plan
        self._name = name
        self._roles = PlanRoles(plan)
        self._said: set[Pattern] = set()
        self._open: set[Unknown] = set()

    def plan(self) -> str:
        plan = self._plan
        # What is only shown or grouped by need not be said of the thing as well.
        shown = {e for c in plan.columns for e in parts(c.value)} | set(plan.group_by)
        self._said = {
            p
            for p in plan.where.patterns
            if p.subject == self._roles.subject and p.object in shown and self._roles.is_free(p.object)
        }
        main = self._roles.subject
        if main is not None and self._roles.type(main) is None and main in shown and not plan.grouped:
            self._said |= {p for p in (self._roles.binding(main),) if p is not None}
        if plan.yes_or_no:
            if plan.having:
                return f"whether {self._having()}{self._where(', where ')}"
            one = f"there is {article(self._kind(main))} " if main is not None else ""
            return f"whether {one}{self._where('')}".rstrip()
        folded = [c.value for c in plan.columns if aggregates(c.value)]
        listed = [c.value for c in plan.columns if not aggregates(c.value)]
        if folded:
            found = join([self.value(v) + self._where(" ") for v in folded])
            groups = [self._key(v) for v in (*listed, *(u for u in plan.group_by if u not in listed))]
            found += f", for each {join(groups)}" if groups else ""
        else:
            found = self._rows(listed)
        if plan.having:
            found += f", where {self._having()}"
        return found + self._shape()

    def single(self) -> str:
        """Return the one value of a plan in words."""
        plan = self._plan
        if plan.limit != 1 or plan.offset or [o.column for o in plan.order] != [c.name for c in plan.columns]:
            return f"({self.plan()})"
        value, best = plan.columns[0].value, "greatest" if plan.order[0].descending else "least"
        said = self.value(value).removeprefix("the ")
        self._said = {p for p in plan.where.patterns if p.object in parts(value)}
        groups = f" of any {join([self._key(u) for u in plan.group_by])}" if plan.group_by else ""
        return f"the {best} {said}{groups}{self._where(' ')}"

    def _rows(self, listed: Sequence[Expression]) -> str:
        """Return what is listed; the thing that all is about first."""
        main = self._roles.subject
        if main is None:
            return join([self.value(v) for v in listed]) + self._where(" where ")
        if main not in listed:
            return f"{join([self.value(v) for v in listed])}{self._where(' ')}"
        others = [self.value(v) for v in listed if v != main]
        shown = f" and {join(others)}" if others else ""
        return f"each {self._kind(main, of=True)}{self._where(' ')}{shown}"

    def _key(self, value: Expression) -> str:
        """Return what is grouped by, without an article."""
        if isinstance(value, Unknown):
            pattern = self._roles.binding(value)
            named = value == self._roles.subject or self._roles.type(value) is not None
            if named or pattern is None or pattern.subject == self._roles.subject:
                return self._kind(value)
            return self._said_of(pattern)
        return self.value(value).removeprefix("the ")

    def _having(self) -> str:
        return join([self.condition(c) for c in self._plan.having])

    def _shape(self) -> str:
        plan, found = self._plan, ""
        for number, order in enumerate(plan.order):
            value = next(c.value for c in plan.columns if c.name == order.column)
            way = "greatest first" if order.descending else "least first"
            alone = bool(aggregates(value)) and sum(bool(aggregates(c.value)) for c in plan.columns) == 1
            found += f", {'then ' if number else ''}" + (way if alone else f"by {self.value(value)}, {way}")
        if plan.limit is not None:
            first, last = plan.offset + 1, plan.offset + plan.limit
            if plan.offset:
                found += f", number {first}" if first == last else f", numbers {first} to {last}"
            else:
                found += f", only the first {plan.limit if plan.limit != 1 else 'one'}"
        elif plan.offset:
            found += f", without the first {plan.offset}"
        return found + (" with ties" if plan.ties and plan.limit is not None else "")

    # -- blocks ----------------------------------------------------------------------------------

    def _where(self, before: str) -> str:
        """Return what must hold, with a word before it if there is anything."""
        found = self._block(self._plan.where, self._roles.subject)
        return f"{before}{found}" if found else ""

    def _block(self, block: Block, main: Unknown | None) -> str:
        found = [self._pattern(p, block, main) for p in block.patterns]
        found += [self.condition(c) for c in block.conditions if not self._is_said(c, block, main)]
        for branches in block.either:
            found.append("either " + " or ".join(self._block(b, main) or "anything" for b in branches))
        found += [self._joined(plan) for plan in block.plans]
        for optional in block.optional:
            said = self._block(optional, main)
            found.append(said and f"if there is one, {said}")
        said = " and ".join(f for f in found if f)
        for inner in block.without:
            said += (" " if said else "") + self._without(inner, main)
        return said

    def _joined(self, plan: Plan) -> str:
        """Return which rows of another plan there are."""
        things = [Unknown(c.name) for c in plan.columns if isinstance(c.value, Unknown)]
        named = join([self._unknown(t) for t in things if self._roles.type(t)] or ["it"])
        return f"where {named} is ({_Words(plan, self._name).plan()})"

    def _without(self, block: Block, main: Unknown | None) -> str:
        pattern = block.patterns[0] if len(block.patterns) == 1 else None
        simple = pattern is not None and block == Block(block.patterns) and pattern.subject == main
        if pattern is not None and simple and isinstance(pattern.object, Unknown):
            return f"without any {self._predicate(pattern)}"
        few = block.patterns or block.either
        return f"{'but none' if few else 'and not where'} {self._block(block, main)}"

    def _pattern(self, pattern: Pattern, block: Block, main: Unknown | None) -> str:
        s, p, o = pattern.subject, pattern.predicate, pattern.object
        if pattern in self._said or (p == RDF.type and self._roles.is_kind(pattern)):
            return ""
        which = "which" if s == main else self._thing(s)
        if p == RDF.type:
            return f"{which} is {article(self.value(o))}"
        if not isinstance(o, Unknown):
            return self._related(pattern, which, self.value(o))
        if bounds := [self._bound(c, pattern) for c in block.conditions if self._roles.only(c, o)]:
            return join(list(dict.fromkeys(f"{self._whose(which)} {bound}" for bound in bounds)))
        if o == main:
            said = self._said_of(pattern)
            return f"which {said[5:]}" if self._verb(pattern) else f"which is the {said}"
        if self._roles.mentions(o) <= 1 and not (self._roles.is_shown(o) or self._roles.is_joined(o)):
            return f"{'with' if s == main else which + ' has'} {article(self._predicate(pattern))}"
        return self._related(pattern, which, self._object(o, pattern))

    def _object(self, unknown: Unknown, pattern: Pattern) -> str:
        """Return what a pattern leads to; what it alone names has no other name."""
        if self._roles.type(unknown) is not None or self._roles.binding(unknown) != pattern:
            return self._thing(unknown)
        return "the " + unknown.name.replace("_", " ")

    def _related(self, pattern: Pattern, which: str, other: str) -> str:
        """Return that something is related to another thing, by a noun or by a verb."""
        said = self._verb(pattern)
        if not said:
            return f"{self._whose(which)} {self._predicate(pattern)} is {other}"
        return f"{said[3:] if said.startswith('is ') and which == 'which' else f'{which} {said}'} {other}"

    def _verb(self, pattern: Pattern) -> str:
        """Return a predicate as a verb, mostly with a preposition; "" for a noun."""
        kind, said = relation(label := self._predicate(pattern), False)
        first, _, rest = label.partition(" ")
        if first.endswith("ed") and rest.split(" ")[0] in PREPOSITIONS:
            return f"is {label}"  # "located in state"
        verb = kind == "phrase" and (" " in label or label.endswith("s"))
        return said if verb and not said.startswith("has the ") else ""

    def _whose(self, which: str) -> str:
        return "whose" if which == "which" else f"for {which}, the"

    def _is_said(self, condition: Condition, block: Block, main: Unknown | None) -> bool:
        """Return whether a condition is said with the pattern that binds its unknown."""
        return any(
            isinstance(p.object, Unknown)
            and p.predicate != RDF.type
            and p not in self._said
            and self._roles.only(condition, p.object)
            for p in block.patterns
        )

    def _bound(self, condition: Condition, pattern: Pattern) -> str:
        """Return what a property is bounded by, with its name."""
        named = self._predicate(pattern)
        value = condition.value if isinstance(condition, Contains) else condition.left
        if isinstance(value, DatePart) and PARTS.get(value.part, value.part) not in named.split():
            named += f" has {article(PARTS.get(value.part, value.part))} that"
        if isinstance(condition, Contains):
            return f"{named} {POSITIONS[condition.position]} “{condition.text}”"
        return f"{named} {RELATIONS[condition.relation]} {self.value(condition.right)}"

    # -- conditions and values -------------------------------------------------------------------

    def condition(self, condition: Condition) -> str:
        if isinstance(condition, Contains):
            return f"{self.value(condition.value)} {POSITIONS[condition.position]} “{condition.text}”"
        left, right = condition.left, self.value(condition.right)
        if condition.relation == "!=" and left == self._roles.subject:
            return f"other than {right}"
        return f"{self.value(left)} {RELATIONS[condition.relation]} {right}"

    def value(self, value: Expression) -> str:
        """Return a value in words."""
        match value:
            case Unknown():
                return self._unknown(value)
            case URIRef() | Literal():
                return self._name(value)
            case Number(inner):
                return self.value(inner)
            case DatePart(part, inner):
                said, named = self.value(inner), PARTS.get(part, part)
                return said if named in said.split() else f"the {named} of {said}"
            case Days(start, end):
                return f"the days from {self.value(start)} to {self.value(end)}"
            case Arithmetic(left, operation, right):
                both = (left, right)
                a, b = (f"({self.value(e)})" if isinstance(e, Arithmetic) else self.value(e) for e in both)
                return f"{a} {OPERATIONS[operation]} {b}"
            case Scalar(plan):
                return _Words(plan, self._name).single()
            case Aggregate():
                return self._aggregate(value)

    def _aggregate(self, aggregate: Aggregate) -> str:
        fold = FOLDS[aggregate.function]
        if aggregate.value is not None:
            fold += f" {self._bare(aggregate.value)}"
        found = f"the {fold}"
        found += f" of {join([plural(self._kind(u)) for u in aggregate.of])}" if aggregate.of else ""
        if not aggregate.where.empty:
            main = aggregate.of[0] if aggregate.of else self._roles.subject
            found += f" {self._block(aggregate.where, main)}"
        return found

    def _bare(self, value: Expression) -> str:
        """Return what a property of something is called, without saying of what."""
        if isinstance(value, Number):
            return self._bare(value.value)
        if isinstance(value, Unknown):
            pattern = self._roles.binding(value)
            return self._predicate(pattern) if pattern is not None else self._kind(value)
        return f"of {self.value(value)}"

    def _unknown(self, unknown: Unknown) -> str:
        pattern = self._roles.binding(unknown)
        if unknown == self._roles.subject or pattern is None or self._roles.type(unknown) is not None:
            return f"the {self._kind(unknown)}"
        shown = [c.value for c in self._plan.columns]
        if self._verb(pattern):
            return self._said_of(pattern)
        if pattern.subject == self._roles.subject and pattern.subject in shown:
            return f"its {self._predicate(pattern)}"
        return f"the {self._said_of(pattern)}"

    def _said_of(self, pattern: Pattern) -> str:
        """Return the value of a property by what it belongs to: `director of the film`."""
        if said := self._verb(pattern):
            return f"what {self._thing(pattern.subject)} {said}"
        return f"{self._predicate(pattern)} of {self._thing(pattern.subject)}"

    def _thing(self, place: Place) -> str:
        if not isinstance(place, Unknown):
            return self._name(place)
        if place in self._open:
            return "it"  # what is said of things in a circle ends where it began
        self._open.add(place)
        said = self._unknown(place)
        self._open.discard(place)
        return said

    def _kind(self, unknown: Unknown, *, of: bool = False) -> str:
        """Return what an unknown is called: its class, or the property that has it as a value."""
        if (cls := self._roles.type(unknown)) is not None:
            return self._name(cls)
        pattern = self._roles.binding(unknown)
        if pattern is None:
            return unknown.name.replace("_", " ") if self._roles.is_joined(unknown) else "thing"
        if self._verb(pattern):
            return f"thing that {self._said_of(pattern).removeprefix('what ')}"
        return self._said_of(pattern) if of else self._predicate(pattern)

    def _predicate(self, pattern: Pattern) -> str:
        p = pattern.predicate
        if not isinstance(p, URIRef):
            return "property"
        name = self._name(p)
        return name[4:] if name.lower().startswith("has ") else name
