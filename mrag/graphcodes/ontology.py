"""What graph codes need of an ontology: which ids are more special than which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from mrag.graphcodes.code import Node
from mrag.rdf import queries

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_ANYTHING: Final = frozenset(
    {"http://www.w3.org/2002/07/owl#Thing", "http://www.w3.org/2000/01/rdf-schema#Resource"}
)


@dataclass(frozen=True)
class Ontology:
    """Subclasses and subproperties, closed transitively. Make one by `Ontology.of`.

    Attributes:
        broader: For each id, all that it is a special case of, itself left out.

    Example:
        >>> o = Ontology.of([("cystitis", "uti"), ("uti", "infection")])
        >>> o.fits("cystitis", "infection"), o.fits("infection", "uti"), o.fits("x", "x")
        (True, False, True)
    """

    broader: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Ontology:
        """Make an ontology.

        Args:
            pairs: A narrower and a broader id each: subclass and class, or subproperty and property.
                Cycles are allowed and make their members the same.
        """
        direct: dict[str, set[str]] = {}
        for narrow, broad in pairs:
            if narrow != broad:
                direct.setdefault(narrow, set()).add(broad)
        closed = {}
        for start in direct:
            seen: set[str] = set()
            todo = [start]
            while todo:
                for up in direct.get(todo.pop(), ()):
                    if up not in seen:
                        seen.add(up)
                        todo.append(up)
            closed[start] = frozenset(seen - {start})
        return cls(closed)

    @classmethod
    def of_graph(cls, kg: KnowledgeGraph) -> Ontology:
        """Read the subclasses, subproperties and narrower concepts of a graph.

        Classes that everything has, `owl:Thing` and `rdfs:Resource`, are left out: they demand nothing.
        """
        rows = kg.select(queries.get("graphcodes/broader").text)
        pairs = ((str(narrow), str(broad)) for narrow, broad in rows)
        return cls.of(pair for pair in pairs if pair[1] not in _ANYTHING)

    @cached_property
    def narrower(self) -> Mapping[str, frozenset[str]]:
        """For each id, all its special cases, itself left out."""
        found: dict[str, set[str]] = {}
        for narrow, broads in self.broader.items():
            for broad in broads:
                found.setdefault(broad, set()).add(narrow)
        return {broad: frozenset(narrows) for broad, narrows in found.items()}

    def fits(self, narrow: str, broad: str) -> bool:
        """Return whether the first is the second or a special case of it."""
        return narrow == broad or broad in self.broader.get(narrow, ())

    def matches(self, asked: Node, found: Node) -> bool:
        """Return whether a node of a document is what a node of a question asks for.

        It is the same node, a subclass of it, or has a type that is it or a subclass of it; and it
        fits every type that the question demands, by a type of its own or by being a subclass.
        """
        what = found.types | {found.id}
        return any(self.fits(w, asked.id) for w in what) and self.meets(asked, found)

    def meets(self, asked: Node, found: Node) -> bool:
        """Return whether a node fits every type that the question demands."""
        what = found.types | {found.id}
        return all(any(self.fits(w, demand) for w in what) for demand in asked.types)
