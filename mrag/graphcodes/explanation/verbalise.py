"""Graph codes in words: one sentence per edge, by templates that can be replaced for each relation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Final

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, is_iri

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF
from mrag.text.names import name_parts

DEFAULT_TEMPLATES: Final[Mapping[str, str]] = {
    "is": "{source} is {target}",
    RDF + "type": "{source} is a {target}",
}
"""Templates by relation; all others are said as source, relation, target."""

_PLAIN: Final = "{source} {relation} {target}"
_PLACES: Final = {"source", "relation", "target"}
_LOCAL: Final = re.compile(r"[^/#:]+(?=[/#]?\Z)")
_VERB: Final = re.compile(r"p?v:(.+)")  # as scene graphs mark verbs, active and passive
_NUMBERED: Final = re.compile(r"([^:/]+):\d+")  # as extractors tell two things of one name


@dataclass(frozen=True)
class CodeVerbaliser:
    """Verbalises codes.

    Attributes:
        templates: Templates by relation, with the places `{source}`, `{relation}` and `{target}`.
        plain: The template of all other relations.
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
    plain: str = _PLAIN
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for template in (*self.templates.values(), self.plain):
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
        found = kg.labels(sorted(i for i in ids if is_iri(i) and i not in self.names))
        labels = {iri: label for iri, label in found.items() if label}
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
        template = self.templates.get(edge.relation, self.plain)
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


def readable(node_id: str) -> str:
    """Return words for an id for which there is no label.

    Of an IRI it is the last part, its words apart; the marks of scene graphs, `v:` before verbs and a
    number after a second thing of the same name, are left out.

    Example:
        >>> readable("http://example.org/hasEyeColor"), readable("v:look at"), readable("man:1")
        ('has eye color', 'look at', 'man')
    """
    verb = _VERB.fullmatch(node_id)
    if verb or not is_iri(node_id):
        return verb[1] if verb else node_id
    numbered = _NUMBERED.fullmatch(node_id)
    if numbered:
        return numbered[1]
    local = _LOCAL.search(node_id)
    return " ".join(name_parts(local[0])).lower() if local else node_id
