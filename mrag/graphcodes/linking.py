"""Words of a question as nodes and relations of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mrag.graphcodes.code import Edge, GraphCode, Node, is_iri, term
from mrag.graphcodes.explanation.verbalise import readable
from mrag.text.names import name_parts
from mrag.text.tokens import keys

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.graphcodes.index.code_index import GraphCodeIndex


_BEING: Final = frozenset(keys("is are was were be been being"))


@dataclass(frozen=True)
class Linker:
    """Replaces terms by the ids that have them as labels.

    Attributes:
        nodes: Ids of nodes by label in lower case.
        relations: Ids of relations by the stems of the words of their labels.

    Example:
        >>> linker = Linker({"graphdb": "ex:GraphDB"}, {"develop": "ex:develops"})
        >>> linker.link(GraphCode.of([], [("ontotext", "v:develop", "graphdb")])).edges
        (Edge(source='ontotext', relation='ex:develops', target='ex:GraphDB', weight=1.0),)
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, index: GraphCodeIndex, kg: KnowledgeGraph | None = None) -> Linker:
        """Learn the labels of an index, and the labels that a graph gives its relations.

        Where several nodes share a label, the one in most documents is meant, then the first by id.
        """
        found: dict[str, Counter[str]] = {}
        for node, documents in index.nodes():
            if node.label:
                found.setdefault(term(node.label), Counter())[node.id] += documents
        nodes = {label: min((-count, i) for i, count in ids.items())[1] for label, ids in found.items()}
        relations: dict[str, str] = {}
        if kg is not None:
            names = sorted({r for cell in index.registry.cells() for r in cell if is_iri(r)})
            for iri, label in sorted(kg.labels(names).items()):
                relations.setdefault(_stem(label or iri), iri)
            for iri in names:
                relations.setdefault(_stem(iri), iri)
        return cls(nodes, relations)

    def link(self, code: GraphCode) -> GraphCode:
        """Replace the terms of a code that are labels; types that it demands too."""
        if not self.nodes and not self.relations:
            return code

        def place(node_id: str) -> str:
            return self.nodes.get(node_id, node_id)

        nodes = [
            Node(place(n.id), n.label if place(n.id) == n.id else "", frozenset(map(place, n.types)))
            for n in code.nodes
        ]
        edges = [
            Edge(
                place(e.source),
                self.relations.get(_stem(e.relation), e.relation),
                place(e.target),
                e.weight,
            )
            for e in code.edges
        ]
        return GraphCode.of(nodes, edges, code.parts)


def _stem(relation: str) -> str:
    # Extractors write the lemma of a verb after v: or pv:, graphs a form of it: "develops", "developedBy".
    words = readable(relation)
    found = keys(words if " " in words else " ".join(name_parts(words)))
    return " ".join(found[1:] if len(found) > 1 and found[0] in _BEING else found)
