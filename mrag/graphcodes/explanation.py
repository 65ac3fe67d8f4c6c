"""Codes and matches shown: in words, as the nodes and edges that matched, and as a drawn matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, tostring

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, is_iri, readable
from mrag.graphcodes.metrics import CodeComparison, Ontology
from mrag.rdf.terms import RDF

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#882255", "#117733",
)  # fmt: skip
"""Colours that can be told apart with any colour vision (Okabe and Ito, 2008; Tol, 2021)."""

_CELL: Final = 26
_LONGEST: Final = 28


def matrix_svg(
    code: GraphCode,
    *,
    title: str = "",
    names: Mapping[str, str] | None = None,
    matched: GraphCode | None = None,
    max_nodes: int = 60,
) -> str:
    """Draw the matrix of a code: a row and a column for each node, a colour for each type of relation.

    A row leads to a column: the cell in row `dog` and column `man` is what the dog does to the man. A cell
    with several relations is divided. Cells without a relation are empty.

    Nodes and relations are called by `names`, by default by their labels or ids. With a question's code as
    `matched`, nodes and edges that it has too are outlined.

    Raises:
        ConfigError: If the code has more nodes than that.

    Example:
        >>> picture = matrix_svg(GraphCode.of([], [("dog", "bites", "man")]))
        >>> picture.count("<rect"), "dog bites man" in picture
        (6, True)
    """
    if len(code) > max_nodes:
        raise ConfigError(
            f"A matrix of {len(code)} nodes is no picture.", hint=f"At most {max_nodes} are drawn."
        )
    called = dict(names or {})
    labels = {node.id: called.get(node.id) or node.name for node in code.nodes}
    relations = sorted({edge.relation for edge in code.edges})
    # A property without a label is called by the end of its IRI.
    said = {r: called.get(r) or r.rstrip("/#").rpartition("/")[2].rpartition("#")[2] for r in relations}
    colours = {relation: _COLOURS[at % len(_COLOURS)] for at, relation in enumerate(relations)}
    place = {node_id: at for at, node_id in enumerate(code.dictionary)}
    longest = max((min(len(label), _LONGEST) for label in labels.values()), default=0)
    left, top, side = 16 + 7 * longest, 34 + 6 * longest, _CELL * len(code)
    width, height = left + side + 40 + 5 * longest, top + side + 18 * len(relations) + 24
    shape = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    style = {"role": "img", "style": "background: #ffffff"}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **shape, **style})
    SubElement(picture, "title").text = title or "The matrix of a graph code"
    _text(picture, 8, 18, title, weight="bold")
    asked = set(matched.dictionary) if matched is not None else set()
    for node_id, at in place.items():
        middle, label = _CELL * at + _CELL / 2, labels[node_id]
        label = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
        weight = "bold" if node_id in asked else "normal"
        _text(picture, left - 6, top + middle + 4, label, anchor="end", weight=weight)
        x, y = left + middle + 4, top - 6
        column = _text(picture, x, y, label, weight=weight)
        column.set("transform", f"rotate(-50 {x:g} {y:g})")
    for row in range(len(code)):
        for at in range(len(code)):
            _rect(picture, left + _CELL * at, top + _CELL * row, (_CELL, _CELL), "none", "#dddddd")
    same = {edge.key for edge in matched.edges} if matched is not None else set()
    for (source, target), cell in code.cells.items():
        x, y = left + _CELL * place[target], top + _CELL * place[source]
        share = (_CELL - 4) / len(cell)
        for at, relation in enumerate(cell):
            outline = "#000000" if (source, relation, target) in same else "none"
            box = (share, _CELL - 4)
            part = _rect(picture, x + 2 + share * at, y + 2, box, colours[relation], outline)
            part.set("stroke-width", "2.5")
            SubElement(part, "title").text = f"{labels[source]} {said[relation]} {labels[target]}"
    for at, relation in enumerate(relations):
        y = top + side + 14 + 18 * at
        _rect(picture, 12, y, (12, 12), colours[relation], "none")
        _text(picture, 30, y + 11, said[relation])
    return tostring(picture, encoding="unicode")


def _rect(picture: Element, x: float, y: float, size: tuple[float, float], fill: str, stroke: str) -> Element:
    places = zip(("x", "y", "width", "height"), (x, y, *size), strict=True)
    shape = {name: f"{value:g}" for name, value in places}
    return SubElement(picture, "rect", {**shape, "fill": fill, "stroke": stroke})


def _text(
    picture: Element, x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal"
) -> Element:
    font = {"font-family": "sans-serif", "font-size": "12", "font-weight": weight, "text-anchor": anchor}
    element = SubElement(picture, "text", {"x": f"{x:g}", "y": f"{y:g}", "fill": "#222222", **font})
    element.text = text
    return element


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
        found = []
        for what, things in groups:
            more = f" and {len(things) - _MAX_THINGS} more" if len(things) > _MAX_THINGS else ""
            found += [f"{what}: {', '.join(things[:_MAX_THINGS])}{more}."] if things else []
        return tuple(found)


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
            found = (other.id for other in d.nodes if kinds.matches(node, other))
            met[node.id] = sorted(found, key=lambda other: (other != node.id, other))
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
        tuple((asked, found[0]) for asked, found in met.items() if found),
        tuple(asked for asked, found in met.items() if not found),
        tuple(edges),
        tuple(other),
        tuple(turned),
        tuple(missing),
        tuple(asked for asked, found in met.items() if not found and asked in d.by_id),
    )
