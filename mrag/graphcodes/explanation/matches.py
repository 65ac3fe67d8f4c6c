"""Why a document has its score: the nodes and edges that matched and those that did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrag.graphcodes.code import Edge, GraphCode
from mrag.graphcodes.comparison import CodeComparison
from mrag.graphcodes.explanation.verbalise import CodeVerbaliser
from mrag.graphcodes.ontology import Ontology


@dataclass(frozen=True)
class Explanation:
    """What a document has of a question and what it has not.

    Attributes:
        nodes: Ids of the question's nodes that are matched, each with the id of what matches it first.
        missing_nodes: Ids of those that are not.
        edges: Edges of the question that are matched.
        other_types: Edges of the question whose nodes are connected, by other relations; with one that is.
        turned: Edges that are there the other way round only.
        missing_edges: Edges whose nodes are not connected.
        unfit: Ids of nodes that are there but do not fit the types that the question demands.
    """

    nodes: tuple[tuple[str, str], ...]
    missing_nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    other_types: tuple[tuple[Edge, str], ...]
    turned: tuple[Edge, ...]
    missing_edges: tuple[Edge, ...]
    unfit: tuple[str, ...]

    def reasons(
        self, q: GraphCode, verbaliser: CodeVerbaliser | None = None, *, max_things: int = 8
    ) -> tuple[str, ...]:
        """Return the explanation in sentences.

        Args:
            q: The question's code.
            verbaliser: How codes are put in words.
            max_things: How many things a sentence lists at most.
        """
        verbaliser = verbaliser or CodeVerbaliser()

        def node(asked: str, found: str) -> str:
            return verbaliser.name(asked, q) + (f" ({verbaliser.name(found)})" if found != asked else "")

        groups: list[tuple[str, list[str]]] = [
            ("Has", [node(asked, found) for asked, found in self.nodes]),
            ("Has as asked", [verbaliser.edge(edge, q) for edge in self.edges]),
            (
                "Connected otherwise",
                [f"{verbaliser.edge(e, q)} (here: {verbaliser.relation(r)})" for e, r in self.other_types],
            ),
            ("The other way round", [verbaliser.edge(edge, q) for edge in self.turned]),
            ("Not of the kind asked for", [verbaliser.name(i, q) for i in self.unfit]),
            ("Lacks", [verbaliser.name(i, q) for i in self.missing_nodes if i not in self.unfit]),
            ("Lacks the connection", [verbaliser.edge(edge, q) for edge in self.missing_edges]),
        ]
        return tuple(f"{what}: {_listed(things, max_things)}." for what, things in groups if things)


def _listed(things: Sequence[str], max_things: int) -> str:
    more = len(things) - max_things
    return ", ".join(things[:max_things]) + (f" and {more} more" if more > 0 else "")


def explain(q: GraphCode, d: GraphCode, comparison: CodeComparison | None = None) -> Explanation:
    """Return what a document has of a question, by the matching of the comparison's metric.

    Args:
        q: The question's code.
        d: The document's code, or the part of it that matches any node of the question.
        comparison: How they are compared; `structural` by default.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> found = explain(q, GraphCode.of(["cat"], [("man", "bites", "dog")]))
        >>> found.reasons(q)
        ('Has: dog, man.', 'The other way round: dog bites man.')
    """
    how = comparison or CodeComparison()
    kinds = how.ontology or Ontology()
    met: dict[str, list[str]] = {}
    for node in q.nodes:
        if how.ontology is not None:
            found = sorted(other.id for other in d.nodes if kinds.matches(node, other))
            met[node.id] = [i for i in found if i == node.id] + [i for i in found if i != node.id]
        elif node.id in d.by_id and (how.metric != "structural" or kinds.meets(node, d.by_id[node.id])):
            met[node.id] = [node.id]
        else:
            met[node.id] = []
    edges, other, turned, missing = [], [], [], []
    for edge in q.edges:
        there = _relations(d, met[edge.source], met[edge.target])
        back = _relations(d, met[edge.target], met[edge.source])
        if any(kinds.fits(relation, edge.relation) for relation in there):
            edges.append(edge)
        elif there:
            other.append((edge, there[0]))
        elif any(kinds.fits(relation, edge.relation) for relation in back):
            turned.append(edge)
        else:
            missing.append(edge)
    return Explanation(
        tuple((asked, found[0]) for asked, found in met.items() if found),
        tuple(asked for asked, found in met.items() if not found),
        tuple(edges),
        tuple(other),
        tuple(turned),
        tuple(missing),
        tuple(asked for asked, found in met.items() if not found and asked in d.by_id),
    )


def _relations(d: GraphCode, sources: Sequence[str], targets: Sequence[str]) -> list[str]:
    return sorted({r for s in sources for t in targets for r in d.cells.get((s, t), ())})
