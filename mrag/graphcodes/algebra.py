"""Union, intersection and difference of graph codes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from mrag.graphcodes.code import Edge, GraphCode, Node


def union(codes: Iterable[GraphCode]) -> GraphCode:
    """Return every node and every edge of any of the codes; no edge hides another.

    Of an edge that several have, the greatest weight counts; nodes have the types of all.

    Example:
        >>> a = GraphCode.of([], [("dog", "bites", "man")])
        >>> b = GraphCode.of(["cat"], [("dog", "sees", "man")])
        >>> [edge.relation for edge in union([a, b]).edges], union([a, b]).dictionary
        (['bites', 'sees'], ('cat', 'dog', 'man'))
    """
    given = list(codes)
    return GraphCode.of(
        (node for code in given for node in code.nodes),
        (edge for code in given for edge in code.edges),
        (part for code in given for part in code.parts),
    )


def intersection(codes: Iterable[GraphCode]) -> GraphCode:
    """Return the nodes and the edges that all the codes have, with the types that all give them.

    Of an edge the least weight counts. The intersection of no codes is the empty code.

    Example:
        >>> a = GraphCode.of([], [("dog", "bites", "man")])
        >>> b = GraphCode.of(["cat"], [("dog", "sees", "man")])
        >>> intersection([a, b])
        GraphCode(nodes=(Node(id='dog', ...), Node(id='man', ...)), edges=())
    """
    given = list(codes)
    return reduce(_common, given) if given else GraphCode()


def _common(a: GraphCode, b: GraphCode) -> GraphCode:
    weights = {edge.key: edge.weight for edge in b.edges}
    nodes = []
    for node in a.nodes:
        other = b.by_id.get(node.id)
        if other is not None:
            label = min((text for text in (node.label, other.label) if text), default="")
            nodes.append(Node(node.id, label, node.types & other.types))
    edges = [Edge(*e.key, min(e.weight, weights[e.key])) for e in a.edges if e.key in weights]
    return GraphCode(tuple(nodes), tuple(edges))


def difference(a: GraphCode, b: GraphCode) -> GraphCode:
    """Return the nodes and edges of the first that the second does not have.

    The ends of an edge that remains remain with it.

    Example:
        >>> a = GraphCode.of(["cat"], [("dog", "bites", "man"), ("dog", "sees", "man")])
        >>> rest = difference(a, GraphCode.of([], [("dog", "sees", "man")]))
        >>> rest.dictionary, [edge.relation for edge in rest.edges]
        (('cat', 'dog', 'man'), ['bites'])
    """
    known = {edge.key for edge in b.edges}
    edges = [edge for edge in a.edges if edge.key not in known]
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = (node for node in a.nodes if node.id in ends or node.id not in b.by_id)
    return GraphCode(tuple(nodes), tuple(edges))
