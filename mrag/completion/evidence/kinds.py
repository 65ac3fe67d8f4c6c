"""What may stand at the ends of a relation: by what does in the graph, by class, and by how names look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdflib import URIRef

from mrag.completion.evidence.reading import Place, SoughtTriple
from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.roles import End, PropertyEnds
from mrag.graph.kg import KnowledgeGraph

_CROSSED: Final[tuple[tuple[End, Place], ...]] = (("object", "subject"), ("subject", "object"))


class Kinds:
    """Tells what may fill the unknown place of a triple, and which relations may hold of what is there.

    Args:
        kg: The knowledge graph.
        sought: The triple.
        new_names: Whether names that the graph does not know may fill a place.
    """

    def __init__(self, kg: KnowledgeGraph, sought: SoughtTriple, new_names: bool) -> None:
        self.sought = sought
        self.new_names = new_names
        self.names = EntityNames.of(kg)
        self.roles = PropertyEnds.of(kg)
        self._may: dict[tuple[str, str, str], bool] = {}

    def fits(self, end: End, predicate: str, text: str) -> tuple[URIRef | None, float]:
        """Return what a candidate means, and how well that goes with the unknown place; 0 if not at all."""
        meant = [URIRef(str(c.term)) for c in self.names.exact(text)]
        self.roles.learn(end, [predicate], map(str, meant))
        there = [e for e in meant if self.roles.has(end, predicate, str(e))]
        if there:
            return (there[0], 1.0) if len(there) == 1 else (None, 0.0)
        if not self.roles.shape(end, predicate).fits(text):
            return None, 0.0
        if meant:
            alike = len(meant) == 1 and self.roles.alike(end, predicate, str(meant[0]))
            return (meant[0], 0.85) if alike else (None, 0.0)
        return (None, 0.85) if self.new_names else (None, 0.0)

    def possible(self, text: str) -> Callable[[str], bool]:
        """Return what tells whether a relation may hold of what is known and a candidate, by their kinds."""
        place, triple = self.sought.place, self.sought.triple
        if place == "predicate":
            return lambda r: (
                self.may("subject", r, self.sought.names["subject"][0])
                and self.may("object", r, self.sought.names["object"][0])
            )
        known: End = "object" if place == "subject" else "subject"
        other: End = "subject" if place == "subject" else "object"
        term = triple.object if place == "subject" else triple.subject
        iri = isinstance(term, URIRef)
        name = str(term) if iri else self.sought.names[known][0]
        return lambda r: self.may(known, r, name, iri) and self.may(other, r, text)

    def may(self, end: End, relation: str, name: str, iri: bool = False) -> bool:
        """Return whether what has a name may stand at an end of a relation, by its kind."""
        key = end, relation, name
        if key not in self._may:
            # Years may be entities, called by their numbers.
            called = self.sought.names[end][0] if iri and end in self.sought.names else name
            numeric = end == "object" and self.roles.shape("object", relation).numbers > 0.9
            numeric = numeric and not (iri and called.isdigit())
            if name.isdigit() or numeric:
                fine = end == "object" and name.isdigit() and self.roles.shape(end, relation).fits(name)
            else:
                meant = [name] if iri else [str(c.term) for c in self.names.exact(name)]
                fine = not meant or any(not self.roles.strange(end, relation, one) for one in meant)
            self._may[key] = fine
        return self._may[key]

    def one_kind(self, predicate: str) -> bool:
        """Return whether what stands at one end of the relation may also stand at the other."""
        known = self.sought.triple.object if self.sought.place == "subject" else self.sought.triple.subject
        other: End = "subject" if self.sought.place == "subject" else "object"
        if self.sought.place == "predicate":
            names = self.sought.names
            return all(self.may(end, predicate, names[place][0]) for end, place in _CROSSED)
        if not isinstance(known, URIRef):
            return False
        # The known entity stands, somewhere in the graph, where the unknown one is to stand here, or is like
        # those that do.
        there = self.roles.has(other, predicate, str(known)) or self.roles.mixed(predicate)
        return there or self.roles.classed(other, predicate, str(known))
