"""Codes and matches shown: in words, and as the nodes and edges that matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Final

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, is_iri, readable
from mrag.graphcodes.metrics import CodeComparison, Ontology
from mrag.rdf.terms import RDF

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

DEFAULT_TEMPLATES: Final[Mapping[str, str]] = {
    "is": "{source} is {target}",
    RDF + "type": "{source} is a {target}",
}
"""Templates by relation; all others are said as source, relation, target."""

_MAX_THINGS: Final = 8
_PLACES: Final = {"source", "relation", "target"}


@dataclass(frozen=True)
class CodeVerbaliser:
    """Verbalises codes.

    Attributes:
        templates: Templates by relation, with the places `{source}`, `{relation}` and `{target}`.
        names: Names by id, of nodes and relations, used where a node has no label of its own.

    Raises:
        ConfigError: If a template has another place.

    Example:
        >>> code = GraphCode.of([], [("man", "rides", "bicycle"), ("bicycle", "is", "red")])
        >>> CodeVerbaliser().verbalise(code)
        'bicycle is red. man rides bicycle.'
        >>> CodeVerbaliser({"rides": "a {target} is ridden by a {source}"}).verbalise(code)
        'bicycle is red. a bicycle is ridden by a man.'
    """

    templates: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TEMPLATES)
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for template in self.templates.values():
            try:
                places = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
            except ValueError as error:
                raise ConfigError(f"The template {template!r} cannot be read: {error}.") from error
            if not places <= _PLACES:
                raise ConfigError(
                    f"The template {template!r} has the place {min(places - _PLACES)!r}.",
                    hint="Places are {source}, {relation} and {target}.",
                )

    def with_names(self, kg: KnowledgeGraph, codes: Iterable[GraphCode]) -> CodeVerbaliser:
        """Return a verbaliser that also has the labels that a graph gives the IRIs in some codes."""
        given = list(codes)
        ids = {node.id for code in given for node in code.nodes}
        ids |= {edge.relation for code in given for edge in code.edges}
        texts = kg.labels(sorted(i for i in ids if is_iri(i) and i not in self.names))
        labels = {iri: label for iri, label in texts.items() if label}
        return replace(self, names={**self.names, **labels})

    def name(self, node_id: str, code: GraphCode | None = None) -> str:
        """Name a node: its label, the graph's, or what its id says."""
        node = code.by_id.get(node_id) if code is not None else None
        return (node.label if node is not None else "") or self.names.get(node_id) or readable(node_id)

    def relation(self, relation: str) -> str:
        """Name a relation."""
        return self.names.get(relation) or readable(relation)

    def edge(self, edge: Edge, code: GraphCode | None = None) -> str:
        """Return an edge in words, without a full stop."""
        template = self.templates.get(edge.relation, "{source} {relation} {target}")
        return template.format(
            source=self.name(edge.source, code),
            relation=self.relation(edge.relation),
            target=self.name(edge.target, code),
        )

    def verbalise(self, code: GraphCode) -> str:
        """Return a whole code in words: its edges, then the nodes that no edge mentions."""
        said = [self.edge(edge, code) + "." for edge in code.edges]
        ends = {end for edge in code.edges for end in (edge.source, edge.target)}
        alone = [self.name(node_id, code) for node_id in code.dictionary if node_id not in ends]
        if alone:
            said.append(f"{'Also: ' if said else ''}{', '.join(alone)}.")
        return " ".join(said)


@dataclass(frozen=True)
class Explanation:
    """What a document has of a question and what it has not."""

    nodes: tuple[tuple[str, str], ...]
    missing_nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    other_types: tuple[tuple[Edge, str], ...]
    turned: tuple[Edge, ...]
    missing_edges: tuple[Edge, ...]
    unfit: tuple[str, ...]

    def reasons(self, q: GraphCode, verbaliser: CodeVerbaliser | None = None) -> tuple[str, ...]:
        """Return the explanation in sentences."""
        verbaliser = verbaliser or CodeVerbaliser()

        def node(asked: str, other: str) -> str:
            return verbaliser.name(asked, q) + (f" ({verbaliser.name(other)})" if other != asked else "")

        groups: list[tuple[str, list[str]]] = [
            ("Has", [node(asked, other) for asked, other in self.nodes]),
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
        reasons = []
        for what, things in groups:
            more = f" and {len(things) - _MAX_THINGS} more" if len(things) > _MAX_THINGS else ""
            reasons += [f"{what}: {', '.join(things[:_MAX_THINGS])}{more}."] if things else []
        return tuple(reasons)


def explain(q: GraphCode, d: GraphCode, comparison: CodeComparison | None = None) -> Explanation:
    """Return what a document has of a question, by the matching of the comparison's metric.

    `d` may be the part of the document that matches any node of the question.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> found = explain(q, GraphCode.of(["cat"], [("man", "bites", "dog")]))
        >>> found.reasons(q)
        ('Has: dog, man.', 'The other way round: dog bites man.')
    """
    how = comparison or CodeComparison()
    kinds = how.ontology or Ontology()
    met: dict[str, list[str]] = {node.id: [] for node in q.nodes}
    for node in q.nodes:
        if how.ontology is not None:
            others = (other.id for other in d.nodes if kinds.matches(node, other))
            met[node.id] = sorted(others, key=lambda other: (other != node.id, other))
        elif node.id in d.by_id and (how.metric != "structural" or kinds.meets(node, d.by_id[node.id])):
            met[node.id] = [node.id]
    edges, other, turned, missing = [], [], [], []

    def relations(sources: str, targets: str) -> list[str]:
        ends = ((s, t) for s in met[sources] for t in met[targets])
        return sorted({relation for pair in ends for relation in d.cells.get(pair, ())})

    for edge in q.edges:
        there = relations(edge.source, edge.target)
        if any(kinds.fits(relation, edge.relation) for relation in there):
            edges.append(edge)
        elif there:
            other.append((edge, there[0]))
        elif any(kinds.fits(relation, edge.relation) for relation in relations(edge.target, edge.source)):
            turned.append(edge)
        else:
            missing.append(edge)
    return Explanation(
        tuple((asked, others[0]) for asked, others in met.items() if others),
        tuple(asked for asked, others in met.items() if not others),
        tuple(edges),
        tuple(other),
        tuple(turned),
        tuple(missing),
        tuple(asked for asked, others in met.items() if not others and asked in d.by_id),
    )
