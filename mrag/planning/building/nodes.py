"""The things of a plan, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rdflib import URIRef

from mrag.planning.building.literals import identifier
from mrag.planning.derived.held import held
from mrag.planning.derived.property import DerivedProperty, spelt
from mrag.planning.plan import Expression, Number, Pattern, Unknown
from mrag.planning.reading.frame import DESCRIBED
from mrag.planning.schema import PropertyInfo, Schema


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


@dataclass
class PlanNodes:
    """The things of a plan, with the triples that say something of them.

    Attributes:
        schema: The schema.
        nodes: The things.
        patterns: The triples.
        values: The unknowns for values, by the place that has each and the property.
        used: Properties of the triples.
        read: Further properties that words of the question have been read as.
        names: Names of unknowns that are in use.
    """

    schema: Schema
    nodes: list[PlanNode] = field(default_factory=list, kw_only=True)
    patterns: list[Pattern] = field(default_factory=list, kw_only=True)
    values: dict[tuple[str, str], Unknown] = field(default_factory=dict, kw_only=True)
    used: list[str] = field(default_factory=list, kw_only=True)
    read: list[str] = field(default_factory=list, kw_only=True)
    names: set[str] = field(default_factory=set, kw_only=True)

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
