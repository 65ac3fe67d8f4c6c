"""The graph of a plan: its things and what ties them, and what happened to them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdflib import RDF, XSD, Literal, URIRef

from mrag.language.names import name_parts
from mrag.language.tokens import PERSON_WORDS, PREPOSITIONS, VERBS, content, is_stopword, stem, words_in
from mrag.planning.lexical import Candidate
from mrag.planning.lexical.english import BEING, is_doer, is_past, root, synonym_roots
from mrag.planning.plan import (
    Block,
    Comparison,
    Condition,
    Contains,
    Expression,
    Number,
    Pattern,
    Relation,
    Unknown,
)
from mrag.planning.reading.derived import DerivedProperty, held, spelt
from mrag.planning.reading.frame import DESCRIBED, Noun
from mrag.planning.reading.question import Word, converted, unit_of
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.values import DURATION_UNIT

_BETWEEN: Final = BEING | frozenset("who that which both also a an".split())
_AND: Final = (["and"], ["and", "also"], ["and", "a"], ["and", "an"], ["as", "well", "as"])


def kinds_besides(nouns: Sequence[Noun], low: Sequence[str]) -> Iterator[tuple[Noun, Noun]]:
    """Yield a noun with each later one that says what its things are, too.

    Args:
        nouns: The nouns of a question.
        low: Its words.
    """
    ordered = sorted(nouns, key=lambda n: n.start)
    if low[-1] in PREPOSITIONS:
        return  # "which towns are vendors based in"
    for at, noun in enumerate(ordered[:-1]):
        kind = ordered[at + 1]
        between = low[noun.end : kind.start]
        before = low[max(0, noun.start - 2) : noun.start]
        if is_past(low[kind.end - 1]) or (before[-1:] in (["which"], ["what"]) and before[0] in PREPOSITIONS):
            continue  # pupils that "were booked" are no bookings; "in which town is a vendor based"
        if kind.role not in ("", "beside") or not BEING & {*between} or not {*between} <= _BETWEEN:
            continue
        yield noun, kind
        for last, following in zip(ordered[at + 1 :], ordered[at + 2 :], strict=False):
            if following.role not in ("", "beside") or low[last.end : following.start] not in _AND:
                break
            yield noun, following


Cost = float


_SHARED = 0.8
"""What it costs more to join two things by a value that they merely have in common."""


@dataclass(frozen=True, order=True)
class JoinStep:
    """One property walked from a class to another.

    Attributes:
        property: Its IRI.
        forward: Whether it is walked from subject to object.
        source: The class where it starts.
        target: The class where it ends.
    """

    property: str
    forward: bool
    source: str
    target: str


class JoinGraph:
    """The steps between the classes of a schema.

    Args:
        schema: The schema.
    """

    def __init__(self, schema: Schema) -> None:
        self._single = {iri for iri, info in schema.properties.items() if info.functional}
        self._distances: dict[tuple[str, tuple[str, ...], Cost], Cost | None] = {}
        self._twice: dict[str, bool] = {}
        self._steps: dict[str, list[tuple[JoinStep, float]]] = {}
        self._wide = _too_wide(schema)
        largest = max((e.count for e in schema.edges), default=1)
        for edge in schema.edges:
            # Of two ways the one that more triples take is likelier, if little.
            rare = 0.2 * (1 - min(1.0, edge.count / largest) ** 0.25)
            there = JoinStep(edge.property, True, edge.source, edge.target)
            back = JoinStep(edge.property, False, edge.target, edge.source)
            self._steps.setdefault(edge.source, []).append((there, rare))
            self._steps.setdefault(edge.target, []).append((back, rare))
        for steps in self._steps.values():
            steps.sort()

    def steps(self, source: str) -> list[tuple[JoinStep, float]]:
        """Return the steps from a class, each with what is added to its cost for being rare."""
        return self._steps.get(source, [])

    def rivals(self, iri: str) -> set[str]:
        """Return the other properties that join things of the same classes as a property does."""
        steps = [s for found in self._steps.values() for s, _ in found]
        own = {(s.source, s.target) for s in steps if s.property == iri}
        return {s.property for s in steps if (s.source, s.target) in own} - {iri}

    def told_twice(self, iri: str) -> bool:
        """Return whether records of a third class lead to both ends of a property, too."""
        if iri not in self._twice:
            own = {(s.source, s.target) for found in self._steps.values() for s, _ in found
                   if s.property == iri and s.forward}  # fmt: skip
            ends = [(c, {s.target for s, _ in found if s.forward}) for c, found in self._steps.items()]
            self._twice[iri] = any({a, b} <= e and c not in (a, b) for a, b in own for c, e in ends if a != b)
        return self._twice[iri]

    def path(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        discount: Callable[[JoinStep], Cost] = lambda step: 0.0,
        preferred: Mapping[str, Cost] | None = None,
        max_cost: Cost = 5.0,
    ) -> tuple[Cost, tuple[JoinStep, ...]] | None:
        """Return the cheapest walk from one of some classes to one of others, and what it costs.

        Args:
            sources: Where it may start.
            targets: Where it must end; where one is a source too, the walk is empty.
            discount: What is taken off the cost of a step: at most .8 of its 1.
            preferred: What is taken off the cost of coming to a class.
            max_cost: The walk is given up beyond it.

        Returns:
            None if there is no such walk.
        """
        ends, liked = frozenset(targets), preferred or {}
        queue: list[tuple[Cost, int, str, tuple[JoinStep, ...]]] = [
            (0.0, 0, s, ()) for s in sorted(set(sources))
        ]
        heapq.heapify(queue)
        done: set[str] = set()
        while queue:
            cost, size, at, walk = heapq.heappop(queue)
            if at in done or cost > max_cost:
                continue
            if at in ends:
                return cost, walk
            done.add(at)
            for step, rare in self.steps(at):
                if walk and at not in liked and (step.property, step.forward, at) in self._wide:
                    continue
                passed = step.target not in ends and step.target not in liked
                if passed and (step.property, not step.forward, step.target) in self._wide:
                    continue
                if step.target not in done and not self._returns(walk[-1:], step):
                    more = max(0.2, 1.0 + rare - discount(step) - liked.get(step.target, 0.0))
                    if walk and walk[-1].forward and not step.forward and at not in liked:
                        more += _SHARED  # a customer and a supplier in one country are not related by that
                    heapq.heappush(queue, (cost + more, size + 1, step.target, (*walk, step)))
        return None

    def _returns(self, last: tuple[JoinStep, ...], step: JoinStep) -> bool:
        """Return whether a step leads back to the thing that the last one came from, as it has no other."""
        return any(
            s.property == step.property and step.property in self._single and step.forward and not s.forward
            for s in last
        )

    def distance(self, source: str, targets: Sequence[str], max_cost: Cost) -> Cost | None:
        """Return what the cheapest walk between classes costs when no word makes a step likelier."""
        key = (source, tuple(targets), max_cost)
        if key not in self._distances:
            way = self.path([source], targets, max_cost=max_cost)
            self._distances[key] = None if way is None else way[0]
        return self._distances[key]

    def walk_to_other(
        self, cls: str, *, discount: Callable[[JoinStep], Cost] = lambda step: 0.0, max_cost: Cost = 5.0
    ) -> tuple[Cost, tuple[JoinStep, ...]] | None:
        """Return the cheapest walk from a thing of a class to another thing of the same class."""
        best = None
        for step, rare in self.steps(cls):
            first = max(0.2, 1.0 + rare - discount(step))
            if step.target == cls:
                found: tuple[Cost, tuple[JoinStep, ...]] | None = (first, (step,))
            else:
                back = JoinStep(step.property, not step.forward, step.target, step.source)
                if self._returns((step,), back):
                    continue
                found = (first + max(0.2, 1.0 + rare - discount(back)), (step, back))
            if found is not None and found[0] <= max_cost and (best is None or found < best):
                best = found
        return best


def _too_wide(schema: Schema) -> frozenset[tuple[str, bool, str]]:
    """Return the ends of properties for which a narrower class does as well.

    Places are what people are born in and what mountains are located in, but where nobody is born in a
    mountain, no walk leads through a place from the one to the other.

    Args:
        schema: The schema.

    Returns:
        The property, whether the end is that of its subjects, and the class that is wider than it need be.
    """
    counts: dict[tuple[str, bool], dict[str, int]] = {}
    for edge in schema.edges:
        for subjects, cls in ((True, edge.source), (False, edge.target)):
            found = counts.setdefault((edge.property, subjects), {})
            found[cls] = max(found.get(cls, 0), edge.count)
    size = {iri: info.count for iri, info in schema.classes.items()}
    return frozenset(
        (*end, cls)
        for end, found in counts.items()
        for cls, count in found.items()
        if any(c >= count and size.get(o, 0) < size.get(cls, 0) for o, c in found.items() if o != cls)
    )


def joined_later(
    place: Unknown | URIRef, places: Collection[Unknown | URIRef], patterns: Iterable[Pattern]
) -> bool:
    """Return whether a triple relates a place to another of some places, with which it will be joined."""
    ends = ({p.subject, p.object} for p in patterns)
    return any(place in two and two & {*places} - {place} for two in ends)


def split_ends(
    patterns: list[Pattern],
    places: Collection[Unknown | URIRef],
    shown: Collection[Unknown],
    between: Collection[Unknown],
    schema: Schema,
    fresh: Callable[[str], Unknown],
    *,
    both: bool,
) -> None:
    """Give each of two ends a way of its own where an unknown can only have one: "films with A and B".

    Args:
        patterns: The triples of a plan, which are changed.
        places: Its unknowns and names.
        shown: What is shown or counted, which has both ends itself.
        between: Unknowns that only lead from one place to another, so that each end has its own.
        schema: The schema.
        fresh: Returns an unknown that is not in use, named after some words.
        both: Whether the question says that one thing may not have both ends.
    """
    made: set[Unknown] = set()

    def way(hub: Unknown, end: Pattern, ways: Collection[Pattern], passed: frozenset[Unknown]) -> None:
        """Add a way of its own to one end of a hub, as far as it only leads on."""
        other, passed = fresh(hub.name), passed | {hub}
        made.add(other)
        patterns.append(_with(end, hub, other))
        for p in ways:
            far = p.object if p.subject == hub else p.subject
            further = [
                q for q in patterns if far in (q.subject, q.object) and hub not in (q.subject, q.object)
            ]
            if (
                isinstance(far, Unknown)
                and far in between
                and far not in passed  # a way may lead round in a circle
                and all({q.subject, q.object} <= known for q in further)
            ):
                way(far, _with(p, hub, other), further, passed)
            else:
                patterns.append(_with(p, hub, other))

    while True:
        known = {*places, *made}
        found = _with_several(patterns, shown, made, schema, both=both)
        split = [(h, ends, ways) for h, ends in found if (ways := _around(h, ends, patterns, known))]
        if not split:
            return
        hub, ends, ways = split[0]
        for end in ends[1:]:
            patterns.remove(end)
            way(hub, end, ways, frozenset())


def _with_several(
    patterns: Sequence[Pattern],
    shown: Collection[Unknown],
    made: Collection[Unknown],
    schema: Schema,
    *,
    both: bool,
) -> Iterator[tuple[Unknown, list[Pattern]]]:
    """Yield unknowns with several ends of a property of which a thing has one, or may have one only."""
    hubs: dict[tuple[Unknown, str], list[Pattern]] = {}
    for p in patterns:
        if isinstance(p.subject, Unknown) and p.predicate != RDF.type and p.subject not in shown:
            hubs.setdefault((p.subject, str(p.predicate)), []).append(p)
    for (hub, iri), ends in hubs.items():
        info = schema.properties.get(iri)
        named = [p for p in ends if isinstance(p.object, URIRef) or p.object in made]
        if len(ends) > 1 and named and info is not None and (info.functional or (both and len(named) > 1)):
            yield hub, ends


def _around(
    hub: Unknown, ends: Sequence[Pattern], patterns: Sequence[Pattern], known: Collection[Unknown | URIRef]
) -> list[Pattern]:
    around = (p for p in patterns if hub in (p.subject, p.object) and p not in ends)
    return [p for p in around if p.subject in known and p.object in known]


def _with(pattern: Pattern, one: Unknown, other: Unknown) -> Pattern:
    """Return a pattern with another unknown in the place of one."""
    subject = other if pattern.subject == one else pattern.subject
    return Pattern(subject, pattern.predicate, other if pattern.object == one else pattern.object)


def compare_period(
    value: Expression, relation: Relation, low: str, high: str, *, year: bool
) -> list[Condition]:
    """Return the conditions that a date lies in, before or after a half-open interval.

    Args:
        value: The date, or the year.
        relation: How.
        low: First day as an ISO date; its year where `year` is set.
        high: The day after the last.
        year: Whether the value is the number of a year.
    """

    def bound(text: str, *, ends: bool = False) -> Literal:
        if year:
            number = int(text[:4]) + (1 if ends and text[4:] != "-01-01" else 0)
            return Literal(number)
        return Literal(text, datatype=XSD.date)

    first, behind = bound(low), bound(high, ends=True)
    match relation:
        case "=":
            if year and int(str(behind)) == int(str(first)) + 1:
                return [Comparison(value, "=", first)]
            return [Comparison(value, ">=", first), Comparison(value, "<", behind)]
        case ">=":
            return [Comparison(value, ">=", first)]
        case ">":
            return [Comparison(value, ">=", behind)]
        case "<":
            return [Comparison(value, "<", first)]
        case "<=":
            return [Comparison(value, "<", behind)]
    raise AssertionError(relation)


def text_is(value: Expression, text: str) -> Condition:
    """Return the condition that a value's text is another, whatever the case."""
    return Contains(value, text, "whole")


def number_literal(value: float) -> Literal:
    """Return a number of a question as a literal.

    Example:
        >>> str(number_literal(5.0)), number_literal(2.5).toPython()
        ('5', 2.5)
    """
    return Literal(int(value)) if float(value).is_integer() else Literal(value)


def identifier(words: str) -> str:
    """Return words as the name of an unknown.

    Example:
        >>> identifier("weight (g)"), identifier("2nd place")
        ('weight_in_g', 'x_2nd_place')
    """
    name, _, unit = words.strip().removesuffix(")").rpartition(" (")
    words = f"{name} in {unit}" if name and unit_of(unit.split()) else words
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in words.lower())
    base = "_".join(plain.split())[:40].strip("_")
    return base if base and base[0].isalpha() else f"x_{base}".rstrip("_")


def unit_stated(info: PropertyInfo) -> str:
    """Return the unit that the values, the name, or the comment of a number states; "" if there is none."""
    if DURATION_UNIT in info.units:
        return "s"
    named = [part for name in info.names for word in name.split() for part in name_parts(word)]
    return unit_of(info.units) or unit_of(named) or unit_of(info.comment.split())


def counted_in(unit: str, schema: Schema) -> list[tuple[Candidate, str]]:
    """Return the numbers that are stated in such a unit: "above 1000 feet" of an elevation in feet."""
    found = list[tuple[Candidate, str]]()
    for info in schema.properties.values() if unit else ():
        own = unit_stated(info) if info.kind == "number" else ""
        if own and converted(1.0, unit, own) is not None:
            found.append((Candidate("property", info.iri, 0.8, info.names[0], "synonym"), "greatest"))
    return found


@dataclass(eq=False)
class PlanNode:
    """A place of the query graph: an unknown or an entity.

    Attributes:
        place: The unknown, or the entity's IRI.
        classes: What it may be an instance of.
        typed: Whether the question names its class.
        hints: Stems of the words before it, which tell one property that leads to it from another.
        above: All classes of an entity, also those above `classes`.
    """

    place: Unknown | URIRef
    classes: tuple[str, ...]
    typed: bool = False
    hints: tuple[str, ...] = ()
    above: tuple[str, ...] = ()

    @property
    def fixed(self) -> bool:
        """Return whether it is one entity, rather than any thing or one that the question describes."""
        return isinstance(self.place, URIRef) and not self.place.startswith(DESCRIBED)


_AVOIDED = 4.0
"""What a join by a property costs more that is avoided."""
_LACKED = 0.5
"""How much cheaper a join must be that leads to a thing's kind, but to nothing of its narrower kind."""
_OF_NAMES = 1.0
"""What it costs more to relate a named thing to another named one than to what is asked for."""
_OWN_WAY = frozenset("with by from of for in at to".split())
"""Words before a name that begin a way of its own to it."""
_COORDINATED = frozenset("and or nor".split())
_EQUAL = 0.1
"""Difference in cost below which two joins are as likely as each other."""


@dataclass
class QueryGraph:
    """The query graph of one block, grown by joins.

    Attributes:
        joins: The joins of the schema.
        hints: Stems of words that make a property likelier, with what they take off its cost.
        claimed: The names that a property of the question stands before: "directed by Ada".
        joining: What is being joined.
        asks_relation: Whether the question is whether things are related, in whatever way.
        avoided: Properties that no join may take.
        paired: Names of which the question says the same as of another one: "with Ada and Ben".
        linked: Places that a value joins: a city to the state whose capital is called like it.
        ties: Properties that joins took although another one leads the same way as well, and no word of the
            question tells which is meant.
    """

    schema: Schema
    nodes: list[PlanNode] = field(default_factory=list, kw_only=True)
    patterns: list[Pattern] = field(default_factory=list, kw_only=True)
    values: dict[tuple[str, str], Unknown] = field(default_factory=dict, kw_only=True)
    used: list[str] = field(default_factory=list, kw_only=True)
    read: list[str] = field(default_factory=list, kw_only=True)
    names: set[str] = field(default_factory=set, kw_only=True)

    joins: JoinGraph
    hints: dict[str, float] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    claimed: dict[str, set[URIRef]] = field(default_factory=dict)
    joining: Unknown | URIRef | None = None
    tree: list[PlanNode] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    cost: float = 0.0
    broken: bool = False
    near: tuple[str, ...] = ()
    asks_relation: bool = False
    avoided: frozenset[str] = frozenset()
    ties: set[str] = field(default_factory=set)
    paired: set[Unknown | URIRef] = field(default_factory=set)
    pairing: bool = False
    linked: set[tuple[Unknown | URIRef, Unknown | URIRef]] = field(default_factory=set)

    @property
    def named(self) -> list[PlanNode]:
        """Return the things that the question names."""
        return [n for n in self.nodes if isinstance(n.place, URIRef)]

    @property
    def unnamed(self) -> list[PlanNode]:
        """Return the things that the question does not name."""
        return [n for n in self.nodes if isinstance(n.place, Unknown)]

    def at(self, place: object) -> PlanNode | None:
        """Return the node of a place, if it is one of a thing."""
        return next((n for n in self.nodes if n.place == place), None)

    def stating(self, value: object) -> Pattern | None:
        """Return the first triple that has something for its value."""
        return next((p for p in self.patterns if p.object == value), None)

    def fresh(self, words: str) -> Unknown:
        """Return an unknown that is not in use, named after some words."""
        base = identifier(words)
        name, number = base, 1
        while name in self.names:
            number += 1
            name = f"{base}_{number}"
        self.names.add(name)
        return Unknown(name)

    def node_of(self, cls: str, *, typed: bool = False, new: bool = False) -> PlanNode:
        """Return the unknown of a class, made if there is none."""
        if not new:
            for node in self.nodes:
                if isinstance(node.place, Unknown) and self.compatible(cls, node.classes):
                    node.typed |= typed
                    if typed and node.classes[0] in self.schema.above(cls):
                        node.classes = (cls, *node.classes)  # the narrower class says more
                    return node
        info = self.schema.classes.get(cls)
        node = PlanNode(self.fresh(info.names[0] if info and info.names else "thing"), (cls,), typed)
        self.nodes.append(node)
        return node

    def constant(self, iri: str, classes: Sequence[str]) -> PlanNode:
        """Return the node of an entity, of its narrowest classes: it lacks what their things lack."""
        for node in self.nodes:
            if node.place == URIRef(iri):
                return node
        node = PlanNode(URIRef(iri), self.schema.narrowest(classes) or ("",), above=tuple(classes))
        self.nodes.append(node)
        return node

    def narrowest_of(self, node: PlanNode) -> Sequence[str]:
        """Return the classes by which a join may lead to a place.

        What leads to a named thing leads to each of its kinds. Where people are born in places, but none in a
        country, although countries are places, somebody was born in a city of the country.
        """
        if not node.fixed or len(node.classes) < 2:
            return node.classes
        counts = {c: self.schema.classes[c].count for c in node.classes if c in self.schema.classes}
        return (
            [min(counts, key=lambda c: (counts[c], c))] if len(counts) == len(node.classes) else node.classes
        )

    def owner(self, classes: Iterable[str], *, constants: bool = True) -> PlanNode:
        """Return the node that a property with such a domain is said of, made if there is none.

        Args:
            classes: The property's domain.
            constants: Whether it may be an entity that the question names.
        """
        domain = list(classes)
        unknowns: list[PlanNode] = [n for n in self.nodes if isinstance(n.place, Unknown)]
        for node in [*unknowns, *(self.nodes if constants else [])]:
            if any(self.compatible(cls, self.narrowest_of(node)) for cls in domain):
                return node
        return self.node_of(domain[0] if domain else "")

    def compatible(self, cls: str, classes: Sequence[str]) -> bool:
        """Return whether a class is one of some others, or above or below one of them."""
        return any(cls == c or cls in self.schema.above(c) or c in self.schema.above(cls) for c in classes)

    def add(self, subject: Unknown | URIRef, predicate: str, object: Unknown | URIRef) -> None:
        """Add a triple, once."""
        pattern = Pattern(subject, URIRef(predicate), object)
        if pattern not in self.patterns:
            self.patterns.append(pattern)
            self.used.append(predicate)

    def value(self, node: PlanNode, info: PropertyInfo) -> Unknown:
        """Return the unknown for a property's value of a node, with its triple."""
        key = (str(node.place), info.iri)
        if key not in self.values:
            self.values[key] = self.fresh(info.names[0] if info.names else "value")
            patterns = held(Pattern(node.place, URIRef(info.iri), self.values[key]), info, self.fresh)
            self.patterns += [p for p in patterns if p not in self.patterns]
            self.used += [str(p.predicate) for p in patterns]
        return self.values[key]

    def number(self, node: PlanNode, info: PropertyInfo) -> Expression:
        """Return the number that a property gives a node."""
        if isinstance(info, DerivedProperty):
            self.read.append(info.iri)
            first, second = spelt(info)
            return info.of(self._stated(node, first), self._stated(self._linked(node, info), second))
        return self._stated(node, info)

    def _linked(self, node: PlanNode, info: DerivedProperty) -> PlanNode:
        """Return what has the second of two properties of which a number of a node is computed."""
        if not info.link:
            return node
        ends = [p.object for p in self.patterns if (p.subject, str(p.predicate)) == (node.place, info.link)]
        second = spelt(info)[1]
        kinds = sorted({*self.schema.properties[info.link].ranges} & {*second.domains})
        other = next((n for n in self.nodes if n.place in ends), None) or self.node_of(kinds[0])
        self.add(node.place, info.link, other.place)
        return other

    def _stated(self, node: PlanNode, info: PropertyInfo) -> Expression:
        value = self.value(node, info)
        return Number(value) if info.kind == "number" else value

    def stated(
        self, place: Unknown | URIRef, info: PropertyInfo, prefix: str
    ) -> tuple[list[Pattern], Expression]:
        """Return the number that a property gives a place outside the tree, with the triples that state it.

        Args:
            place: The place.
            info: The property.
            prefix: What the names of the values begin with.
        """
        patterns, values = list[Pattern](), list[Expression]()
        for part in spelt(info):
            at = place
            if isinstance(info, DerivedProperty) and info.link and part is info.second:
                at = self.fresh(prefix + "owner")
                patterns.append(Pattern(place, URIRef(info.link), at))
            value = self.fresh(prefix + part.names[0])
            patterns += held(Pattern(at, URIRef(part.iri), value), part, self.fresh)
            values.append(Number(value) if part.kind == "number" else value)
        return patterns, info.of(*values) if isinstance(info, DerivedProperty) else values[0]

    # -- joins -------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Join all nodes into one tree, cheapest joins first."""
        left = [node for node in self.nodes if node not in self.tree]
        if not self.tree and left:
            self.tree.append(left.pop(0))
        while left:
            places = {n.place for n in left}
            apart = [n for n in left if not (n.fixed and joined_later(n.place, places, self.patterns))]
            found = [(*way, left.index(n)) for n in apart if (way := self._way(n)) is not None]
            if not found:
                self.broken = True
                return
            cost, steps, at = min(found, key=lambda f: (f[0], f[2]))
            node = left.pop(at)
            self._walk(steps, node)
            self.cost += cost
            self.tree.append(node)
            left = [n for n in left if n not in self.tree]

    def _way(self, node: PlanNode) -> tuple[float, tuple[JoinStep, ...]] | None:
        self.near, self.pairing, self.joining = node.hints, node.place in self.paired, node.place
        way = self._path(node)
        fixed = isinstance(node.place, URIRef) and all(isinstance(n.place, URIRef) for n in self.tree)
        if way is None or not fixed or all(self.discount(step) > 0 for step in way[1]):
            return way
        # Two things that are named are not related unless the question says how, or asks whether they are.
        # Two of one kind, which may be related either way, are not even then, but by something between them.
        alike = any({*node.classes} & {*n.classes} for n in self.tree)
        return way if self.asks_relation and not (alike and len(way[1]) == 1) else None

    def _path(self, node: PlanNode) -> tuple[float, tuple[JoinStep, ...]] | None:
        joined = {(p.subject, p.object) for p in self.patterns} | self.linked
        if any({(node.place, o.place), (o.place, node.place)} & joined for o in self.tree):
            return 0.0, ()
        sources = sorted({c for n in self.tree for c in self.narrowest_of(n)})
        liked = {c: 0.3 for n in self.nodes for c in n.classes if n.typed}
        best = None
        apart = [c for c in sources if c not in node.classes]
        ends = self.narrowest_of(node)
        found = self.joins.path(apart, ends, discount=self.discount, preferred=liked)
        if found is not None and found[1]:
            best = found
        for cls in node.classes:
            if cls in sources:
                other = self.joins.walk_to_other(cls, discount=self.discount)
                if other is not None and (best is None or other < best):
                    best = other
        open_ = sorted({c for n in self.tree if not n.fixed for c in n.classes})
        if node.fixed and best is not None and best[1] and best[1][0].source not in open_:
            nearer = self.joins.path(open_, ends, discount=self.discount, preferred=liked)
            if nearer is not None and nearer[1] and nearer[0] < best[0] + _OF_NAMES:
                best = nearer
        if node.above and best is not None:
            # Where the question names a relation that its like lack, that is what it lacks.
            open_ = sorted({c for n in self.tree if not n.fixed for c in n.classes} - {*node.above})
            wider = self.joins.path(open_, node.above, discount=self.discount, preferred=liked)
            # Who was born in a country was born somewhere in it: that goes on from the relation itself.
            first = [step.property for step in best[1][:-1]]
            on = wider is not None and best[1][-1].forward and first == [step.property for step in wider[1]]
            lacked = wider is not None and wider[1] and wider[0] < best[0] - _LACKED and not on
            best = wider if wider is not None and lacked else best
        return best

    def _hint(self, word: str) -> float:
        """Return how much a word of the question tells for a property that leads to what is to be joined."""
        if word in self.near:
            return 1.5
        told = self.hints.get(word, 0.0)
        if not told or not self.near:
            return told
        if not any(word in n.hints for n in self.nodes if n.hints and n.fixed):
            return told
        # "Films with Ada directed by Ben" are not by Ada; those "directed by Ada and Ben" are by both.
        return 0.0 if _OWN_WAY & {*self.near} and not self._is_coordinated() else 0.4

    def _is_coordinated(self) -> bool:
        """Return whether what is to be joined stands behind "and", so that it shares the way of a name."""
        return bool(_COORDINATED & {*self.near[:3][-1:]})

    def _claimed_by_another(self, iri: str) -> bool:
        """Return whether a property stands before another name than the one that is to be joined."""
        claimed = self.claimed.get(iri, set())
        named = isinstance(self.joining, URIRef) and not self._is_coordinated()
        return named and bool(claimed) and self.joining not in claimed

    def discount(self, step: JoinStep) -> float:
        """Return what a step costs less because the question has words for it."""
        info = self.schema.properties.get(step.property)
        if info is None:
            return 0.0
        if step.property in self.avoided:
            return -_AVOIDED
        if step.forward and info.functional and step.property in self.used and not self.pairing:
            # It leads to one thing only, which another name of the question has taken.
            return -2.5
        if step.property in self.wanted and not self._claimed_by_another(step.property):
            return 0.8
        best = self._told_by_its_end(step, info)
        for name in info.names:
            parts = [stem(w) for part in name.split() for w in name_parts(part)]
            if parts:
                best = max(best, sum(map(self._hint, parts)) / len(parts))
        return 0.6 * min(1.0, best)

    def _told_by_its_end(self, step: JoinStep, info: PropertyInfo) -> float:
        """Return how little a property needs a word that is called like what it leads to; 1 for none."""
        end = self.schema.classes.get(step.target if step.forward else step.source)
        if end is None or not {n.lower() for n in info.names} & {n.lower() for n in end.names}:
            return 0.0
        return 1.0 if any(n.typed and end.iri in n.classes for n in self.nodes) else 0.5

    def _tied(self, step: JoinStep) -> bool:
        """Return whether another property leads the same way at the same cost."""
        same = {
            other.property: rare - self.discount(other)
            for other, rare in self.joins.steps(step.source)
            if other.target == step.target
        }
        own = same.pop(step.property)
        return any(abs(cost - own) < _EQUAL for cost in same.values())

    def _walk(self, steps: Sequence[JoinStep], target: PlanNode) -> None:
        if not steps:
            return
        at = next(n for n in self.tree if steps[0].source in n.classes)
        for number, step in enumerate(steps):
            if self._tied(step):
                self.ties.add(step.property)
            following = target if number == len(steps) - 1 else self._between(step.target)
            if step.forward:
                self.add(at.place, step.property, following.place)
            else:
                self.add(following.place, step.property, at.place)
            at = following

    def _between(self, cls: str) -> PlanNode:
        for node in self.nodes:
            if isinstance(node.place, Unknown) and cls in node.classes and node not in self.tree:
                self.tree.append(node)
                return node
        node = self.node_of(cls, new=True)
        self.tree.append(node)
        return node

    def split(self, shown: Collection[Unknown], said: Collection[Unknown | URIRef], *, both: bool) -> None:
        """Give each of two names a way of its own where one unknown can only have one: "films with A and B".

        Args:
            shown: What is shown or counted, which is of both names itself.
            said: Places of the kinds that the question names.
            both: Whether the question says that one thing may not be of both.
        """
        places = {n.place for n in self.nodes}
        between = {p for p in places if isinstance(p, Unknown)} - {*shown, *said}
        split_ends(self.patterns, places, shown, between, self.schema, self.fresh, both=both)

    # -- the whole ---------------------------------------------------------------------------------

    def block(self, extra: Iterable[Pattern] = ()) -> Block:
        """Return the block, with the classes that the question names."""
        patterns = [*self.patterns, *extra]
        for node in self.nodes:
            if not isinstance(node.place, Unknown) or not node.classes[0]:
                continue
            if node.typed:
                patterns.append(Pattern(node.place, RDF.type, URIRef(node.classes[0])))
        return Block(tuple(patterns), tuple(self.conditions), tuple(self.without), tuple(self.either))


Likeness = Callable[[str, str], float]

_LIKE = 0.45
"""How like the name of what happened a verb must be in meaning."""
_OF_PEOPLE = frozenset(
    "hired hire salary wage married surname nationality occupation profession forename firstname "
    "lastname".split()
)
_OF_WORK = frozenset("hired hire salary wage".split())
"""Words for what people have, or a record of their work has in their place."""
_NAMES_OF_PEOPLE = frozenset(
    ("first name", "last name", "given name", "family name", "job title", "birth date", "birthday")
)
_DOING = frozenset("did do does".split())
_BEFORE = frozenset("have has had ever never also who not been was were is are".split())


def is_deed(low: Sequence[str], at: int, subjects: set[int]) -> bool:
    """Return whether a word stands where a verb does: "have sailed", "did each boat sail".

    Args:
        low: The words of the question.
        at: Where the word stands.
        subjects: Where names and nouns of the question end.
    """
    word = low[at]
    if is_past(word) or word in VERBS:
        return True
    return (at in subjects and bool(_DOING & {*low[:at]})) or bool(_BEFORE & {*low[max(0, at - 1) : at]})


def told_by_event(verb: str, graph: QueryGraph, schema: Schema, likeness: Likeness) -> bool:
    """Return whether a verb says what happened between the things of a plan.

    Args:
        verb: The verb.
        graph: The plan so far; what happened is in it as a thing that the question does not name.
        schema: The schema.
        likeness: How near two phrases are in meaning.
    """
    return any(_tells(verb, node, graph, schema, likeness) for node in _events(graph))


def _events(graph: QueryGraph) -> Iterator[PlanNode]:
    """Yield the things of a plan that lead to several others and are not named."""
    for node in graph.nodes:
        around = [p for p in graph.patterns if p.subject == node.place and p.predicate != RDF.type]
        if isinstance(node.place, Unknown) and len(around) > 1:
            yield node


def _tells(verb: str, event: PlanNode, graph: QueryGraph, schema: Schema, likeness: Likeness) -> bool:
    used = {str(p.predicate) for p in graph.patterns if event.place in (p.subject, p.object)}
    ends = {str(e) for p in graph.patterns if p.subject == event.place for e in (p.object,)}
    near = [c for n in graph.nodes if str(n.place) in ends for c in n.classes[:1]]
    terms = [*used, *event.classes, *near]
    names = [n for t in terms for n in _names(t, schema)]
    if any(is_doer(word.lower(), verb) for name in names for word in words_in(name)):
        return True
    own = [i for i in schema.properties.values() if set(i.domains) & set(event.classes)]
    comments = [i.comment for i in own] + [c.comment for t in event.classes if (c := schema.classes.get(t))]
    if any(root(word) == root(verb) for text in comments for word in words_in(text)):
        return True
    called = [schema.classes[c].names[0] for c in event.classes[:1] if c in schema.classes]
    return any(likeness(root(verb), name.lower()) >= _LIKE for name in called)


def told_of(verb: str, cls: str, schema: Schema, likeness: Likeness) -> float:
    """Return how well a verb says that something of a class happened: 1 if one of its names has the verb."""
    own = [i for i in schema.properties.values() if cls in i.domains]
    names = [*_names(cls, schema), *(n for i in own for n in i.names)]
    said = root(verb)
    if any(root(word.lower()) == said or is_doer(word.lower(), verb) for n in names for word in words_in(n)):
        return 1.0
    if any(root(word) == said for i in own for word in words_in(i.comment)):
        return 0.8
    return max((likeness(said, name.lower()) for name in _names(cls, schema)[:1]), default=0.0)


def _names(term: str, schema: Schema) -> Sequence[str]:
    info = schema.properties.get(term) or schema.classes.get(term)
    return info.names if info is not None else ()


def doers(verbs: Sequence[str], schema: Schema) -> list[str]:
    """Return the classes that are named after those who do what some verbs say."""
    return [
        c for c, info in sorted(schema.classes.items())
        if any(is_doer(w, v) for name in info.names[:1] for w in content(name) for v in verbs)
        or any(is_doer(w.lower(), v) for name in info.names[:1] for w in words_in(name) for v in verbs)
    ]  # fmt: skip


def told_by_verb(said: Iterable[Word], cls: str, schema: Schema) -> bool:
    """Return whether a word is in the name of a relation of the things of a class.

    Args:
        said: The words that name nothing.
        cls: The class.
        schema: The schema.
    """
    roots = {root(w.low) for w in said if not is_stopword(w.token.key)}
    own = (i for i in schema.properties.values() if i.kind == "entity" and cls in (*i.domains, *i.ranges))
    return any(roots & {root(w) for w in content(name)} for info in own for name in info.names)


def kinds_of_people(schema: Schema) -> list[str]:
    """Return the classes of people: by their names, or as they have a surname, a salary or a nationality."""
    said: dict[str, set[str]] = {}
    for info in schema.properties.values():
        found = {w for n in info.names for w in n.lower().split() if w in _OF_PEOPLE}
        found |= {n.lower() for n in info.names if n.lower() in _NAMES_OF_PEOPLE}
        for cls in info.domains if found else ():
            said.setdefault(cls, set()).update(found)
    people = {
        cls
        for cls, info in schema.classes.items()
        if said.get(cls, set()) - _OF_WORK
        or PERSON_WORDS & {w for name in info.names[:1] for w in name.lower().split()}
    }
    records = {
        cls
        for info in schema.properties.values()
        if info.kind == "entity" and info.functional and people & {*info.ranges}
        for cls in info.domains
    }
    return sorted(
        cls for cls in schema.classes
        if (cls in people or cls in said.keys() - records) and not _joins(cls, schema)
    )  # fmt: skip


def _joins(cls: str, schema: Schema) -> bool:
    """Return whether the things of a class only join things that it is called after: a "film actor"."""
    said = schema.classes[cls].names[0].lower().split()
    ends = {
        e for i in schema.properties.values()
        if i.kind == "entity" and cls in i.domains for e in i.ranges if e in schema.classes
    }  # fmt: skip
    called = {schema.classes[e].names[0].lower() for e in ends}
    return len(said) > 1 and {*said} <= called


def names_near_end(said: Sequence[str], names: Iterable[str], far: Collection[str]) -> bool:
    """Return whether words name the things that a property is said of: the "members" of "member of".

    Args:
        said: The words, in small letters.
        names: Names of the property.
        far: Stems of the words for what it leads to, which may stand behind its "of".
    """
    plain = {root(w) for w in said} - {"of"}
    meant = {s for w in plain for s in synonym_roots().get(w, ())} if len(plain) == 1 else set[str]()
    ends = [name.lower().split(" of", 1) for name in names if " of" in name.lower()]
    return any(
        (own == plain or (own and own <= meant)) and {*content(behind)} <= {*far}
        for near, behind in ends
        for own in [{root(w) for w in near.split()}]
    )
