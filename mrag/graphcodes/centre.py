"""The code of an entity seen from the entity: its own node has the same id in every such code."""

from __future__ import annotations

from typing import Final

from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.rdf.terms import RDF

ITSELF: Final = "urn:mrag:itself"
"""Stands for the entity that a code is of."""


def centred(code: GraphCode, entity: str) -> GraphCode:
    """Return the code of an entity with its own node replaced by one that all entities share.

    Every link of an entity has the entity at one end, so the codes of two entities have no edge in common,
    however alike they are. Seen from the entities they have those that lead to the same things. The classes
    of the entity become edges too.

    Args:
        code: The code.
        entity: The IRI of the entity, which need not be among the nodes.

    Example:
        >>> a = GraphCode.of([], [("ex:a", "ex:madeBy", "ex:m")])
        >>> b = GraphCode.of([], [("ex:b", "ex:madeBy", "ex:m")])
        >>> centred(a, "ex:a") == centred(b, "ex:b")
        True
    """
    own = code.by_id.get(entity)
    if own is None:
        return code

    def place(node_id: str) -> str:
        return ITSELF if node_id == entity else node_id

    nodes = [Node(ITSELF, "it"), *(node for node in code.nodes if node.id != entity)]
    edges = [Edge(place(e.source), e.relation, place(e.target), e.weight) for e in code.edges]
    kinds = [Edge(ITSELF, RDF + "type", kind) for kind in sorted(own.types)]
    return GraphCode.of(nodes, [*edges, *kinds], code.parts)
