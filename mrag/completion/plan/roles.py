"""What stands where in a graph's triples: which entities a property leads from and to, and how they look."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.completion.plan.names import ALTERNATIVE
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.rdf import queries
from mrag.rdf.terms import XSD
from mrag.text.tokens import normalised

End = Literal["subject", "object"]
_SAMPLE: Final = 300
_KIND: Final = 100
_PROPERTIES: Final = 50
_TELLING: Final = 2
"""Entities at an end of a property from which on their classes tell what stands there."""
_ALIKE: Final = 0.12


@dataclass(frozen=True)
class NameShape:
    """How the names at one end of a property look, from a sample.

    Attributes:
        known: How many were looked at.
        numbers: Share of those that are a number.
        capitals: Share of those that begin with a capital, numbers apart.
        literals: Share of values that are literals.
        datatypes: Datatypes of the literals, most frequent first; "" is plain text.
        whole: Whether that was all there are.
    """

    known: int
    numbers: float
    capitals: float
    literals: float
    datatypes: tuple[str, ...] = ()
    whole: bool = False

    def fits(self, name: str) -> bool:
        """Return whether a name that the graph does not know may stand there.

        Example:
            >>> people = NameShape(100, 0.0, 1.0, 0.0)
            >>> people.fits("Rolf de Heer"), people.fits("1994"), people.fits("somebody")
            (True, False, False)
        """
        text = name.strip()
        if not text or len(text.split()) > 10 or not any(c.isalnum() for c in text):
            return False
        number = text.replace(".", "", 1).isdigit()
        if not self.known:
            return True
        if number:
            return self.numbers > 0.1
        return self.numbers < 0.9 and (self.capitals < 0.8 or text[0].isupper() or not text[0].isalpha())


class PropertyEnds:
    """The ends of a graph's properties, looked up when they are asked for and kept.

    Args:
        kg: The knowledge graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._ends: dict[tuple[End, str, str], bool] = {}
        self._shapes: dict[tuple[End, str], NameShape] = {}
        self._kinds: dict[tuple[End, str], dict[tuple[End, str], float]] = {}
        self._some: dict[tuple[End, str, int], tuple[str, ...]] = {}
        self._classed: dict[tuple[End, str, str], tuple[set[str], list[set[str]]]] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> PropertyEnds:
        """Return the roles of a knowledge graph, kept for each state of it."""
        return kg.cached("completion roles", lambda: cls(kg))

    def learn(self, end: End, properties: Iterable[str], entities: Iterable[str]) -> None:
        """Look up at once which entities stand at an end of which properties."""
        names = sorted(set(entities))
        pairs = [(p, e) for p in sorted(set(properties)) for e in names if (end, p, e) not in self._ends]
        self._ends.update(((end, p, e), False) for p, e in pairs)
        for text in queries.get(f"completion/evidence-as-{end}").batches("property_entity", pairs):
            self._ends.update(((end, str(p), str(e)), True) for p, e in self.kg.select(text))

    def has(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity stands at an end of a property."""
        self.learn(end, [property], [entity])
        return self._ends[end, property, entity]

    def alike(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of the kind of those at an end of a property, by what else they do.

        A kind is told by the other properties that its entities stand at an end of. What only ever is the
        subject of what the others are never the subject of is of another kind. Of an entity without any
        triple but labels nothing can be told.
        """
        mine = self._acts([entity]).get(entity, set())
        if not mine:
            return True
        if self.strange(end, property, entity):
            return False
        usual = self._usual(end, property)
        return not usual or sum(usual.get(act, 0.0) for act in mine) / len(mine) >= _ALIKE

    def mixed(self, property: str) -> bool:
        """Return whether something stands at both ends of a property."""
        subjects = self._entities("subject", property, _KIND)
        self.learn("object", [property], subjects)
        return any(self._ends["object", property, one] for one in subjects)

    def classed(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of a class that those at an end of a property are mostly of."""
        mine, others = self._classes(end, property, entity)
        return bool(others) and 2 * sum(bool(mine & other) for other in others) > len(others)

    def strange(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity has classes, and none that any of those at an end of a property has.

        Where there are very few, checks say so of what is proposed.
        """
        mine, others = self._classes(end, property, entity)
        told = [other for other in others if other]
        if (
            not mine
            or len(told) < _TELLING
            or 2 * len(told) <= len(others)
            or any(mine & other for other in told)
        ):
            return False
        return not self._above(mine) & self._above(frozenset().union(*told))

    def _above(self, classes: Collection[str]) -> set[str]:
        """Return classes with those above them, as far as they are said to be."""
        seen, new = set(classes), sorted(classes)
        while new:
            query = queries.get("completion/check-above")
            found = {str(c) for text in query.batches("lower", new, 200) for _, c in self.kg.select(text)}
            new = sorted(found - seen)
            seen.update(new)
        return seen

    def _classes(self, end: End, property: str, entity: str) -> tuple[set[str], list[set[str]]]:
        """Return the classes of an entity, and those of each of the entities at an end of a property."""
        known = self._classed.get((end, property, entity))
        if known is None:
            others = self._entities(end, property, _KIND)
            classes: dict[str, set[str]] = {}
            query = queries.get("completion/check-types")
            for text in query.batches("entity", sorted({entity, *others}), 200):
                for one, kind in self.kg.select(text):
                    classes.setdefault(str(one), set()).add(str(kind))
            known = classes.get(entity, set()), [classes.get(other, set()) for other in others]
            self._classed[end, property, entity] = known
        return known

    def _usual(self, end: End, property: str) -> dict[tuple[End, str], float]:
        """Return how often the entities at an end of a property stand at each end of the others."""
        known = self._kinds.get((end, property))
        if known is None:
            entities = self._entities(end, property, _KIND)
            counts: dict[tuple[End, str], int] = {}
            for acts in self._acts(entities).values():
                for act in acts:
                    counts[act] = counts.get(act, 0) + 1
            known = {act: n / len(entities) for act, n in counts.items()} if entities else {}
            self._kinds[end, property] = known
        return known

    def _acts(self, entities: Sequence[str]) -> dict[str, set[tuple[End, str]]]:
        counts = self.kg.profile().predicates
        often = sorted((p for p in counts if p not in LABELS), key=lambda p: (-counts[p], p))[:_PROPERTIES]
        found: dict[str, set[tuple[End, str]]] = {e: set() for e in entities}
        ends: tuple[End, End] = ("subject", "object")
        for end in ends:
            self.learn(end, often, entities)
            for p in often:
                for e in entities:
                    if self._ends[end, p, e]:
                        found[e].add((end, p))
        return found

    def _entities(self, end: End, property: str, limit: int) -> tuple[str, ...]:
        """Return some of the entities at an end of a property."""
        known = self._some.get((end, property, limit))
        if known is None:
            query = queries.get("completion/ends" if end == "object" else "completion/starts")
            known = tuple(str(e) for (e,) in self.kg.select(query.bind(p=[property], limit=limit)))
            self._some[end, property, limit] = known
        return known

    def few(self, end: End, property: str) -> frozenset[str]:
        """Return the normalised names of the entities at an end of a property, where there are only few."""
        if not self.shape(end, property).whole:
            return frozenset()
        entities = self._entities(end, property, _SAMPLE)
        return frozenset(normalised(label) for label in self.kg.labels(entities).values() if label)

    def shape(self, end: End, property: str) -> NameShape:
        """Return how the names at an end of a property look."""
        known = self._shapes.get((end, property))
        if known is None:
            known = self._shapes[end, property] = self._look(end, property)
        return known

    def _look(self, end: End, property: str) -> NameShape:
        texts: list[str] = []
        kinds: dict[str, int] = {}
        literals = 0
        if end == "object":
            name = queries.get("completion/evidence-literals").bind(property=[property], limit=_SAMPLE)
            for _, value in self.kg.select(name):
                if isinstance(value, RdfLiteral):
                    literals += 1
                    texts.append(str(value))
                    kind = "" if value.language or value.datatype is None else str(value.datatype)
                    kind = "" if kind == XSD + "string" else kind
                    kinds[kind] = kinds.get(kind, 0) + 1
        entities = self._entities(end, property, _SAMPLE)
        texts += [label for label in self.kg.labels(entities).values() if label]
        numbers = sum(text.replace(".", "", 1).isdigit() for text in texts)
        words = [text for text in texts if text[:1].isalpha()]
        capitals = sum(text[0].isupper() for text in words)
        return NameShape(
            len(texts),
            numbers / len(texts) if texts else 0.0,
            capitals / len(words) if words else 0.0,
            literals / (literals + len(entities)) if literals or entities else 0.0,
            tuple(sorted(kinds, key=lambda k: (-kinds[k], k))),
            literals < _SAMPLE and len(entities) < _SAMPLE,
        )


def names_of(kg: KnowledgeGraph, entity: str) -> list[str]:
    """Return every name of an entity, its best label first."""
    pairs = [(entity, name) for name in (*LABELS, *ALTERNATIVE)]
    rows = kg.select(queries.get("label/labels").bind(entity_property=pairs))
    best = kg.labels([entity])[entity]
    found = [str(text) for _, _, text in rows]
    return list(dict.fromkeys([*([best] if best else []), *found]))


def term_names(kg: KnowledgeGraph, term: object) -> list[str]:
    """Return the names of a term: of an entity its labels, of a literal its text, of a text itself."""
    if isinstance(term, URIRef):
        return names_of(kg, str(term))
    return [str(term)]
