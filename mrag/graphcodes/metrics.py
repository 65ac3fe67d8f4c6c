"""How alike two graph codes are: the metric of the paper, and ours.

These are the plain formulas, one pair of codes at a time; the index computes the same numbers for all
documents at once. q is the question's code, d the document's. V are the nodes, E the ordered pairs of
nodes that have edges, k = |V_q ∩ V_d|. A cell is the set of relations of one ordered pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from mrag.errors import ConfigError, check_choice
from mrag.graphcodes.code import GraphCode, Node
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDFS

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_ANYTHING: Final = (OWL + "Thing", RDFS + "Resource")

EXCESS: Final = 0.5  # How much what only the document has counts against it in `structural`

Component: TypeAlias = Literal["features", "relations", "types"]
Metric: TypeAlias = Literal["structural", "paper"]


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
        direct: defaultdict[str, set[str]] = defaultdict(set)
        for narrow, broad in pairs:
            if narrow != broad:
                direct[narrow].add(broad)
        closed = {}
        for start in direct:
            seen: set[str] = set()
            todo = [start]
            while todo:
                new = direct.get(todo.pop(), set()) - seen
                seen |= new
                todo += new
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
        below: defaultdict[str, set[str]] = defaultdict(set)
        for narrow, broads in self.broader.items():
            for broad in broads:
                below[broad].add(narrow)
        return {broad: frozenset(narrows) for broad, narrows in below.items()}

    def fits(self, narrow: str, broad: str) -> bool:
        """Return whether the first is the second or a special case of it."""
        return narrow == broad or broad in self.broader.get(narrow, ())

    def matches(self, asked: Node, other: Node) -> bool:
        """Return whether a node of a document is what a node of a question asks for.

        It is the same node, a subclass of it, or has a type that is it or a subclass of it; and it
        fits every type that the question demands, by a type of its own or by being a subclass.
        """
        what = other.types | {other.id}
        return any(self.fits(w, asked.id) for w in what) and self.meets(asked, other)

    def meets(self, asked: Node, other: Node) -> bool:
        """Return whether a node fits every type that the question demands."""
        what = other.types | {other.id}
        return all(any(self.fits(w, demand) for w in what) for demand in asked.types)


@dataclass(frozen=True, slots=True)
class CodeScores:
    """The three values of a metric, each in [0, 1].

    Attributes:
        features: Which nodes they share (M_F).
        relations: Which connections they share, whatever their type (M_FR).
        types: Whether the connections are of the same types (M_RT).
    """

    features: float
    relations: float
    types: float


_NOTHING: Final = CodeScores(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Weighted:
    """Aggregates by a mean, weighted by how much nodes, connections, and types of connections count.

    Raises:
        ConfigError: If a weight is negative or all are 0.

    Example:
        >>> Weighted(2, 1, 1)(CodeScores(1.0, 0.5, 0.5))
        0.75
    """

    features: float = 0.5
    relations: float = 0.25
    types: float = 0.25

    def __post_init__(self) -> None:
        weights = (self.features, self.relations, self.types)
        if min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise ConfigError("Weights are at least 0 and not all 0.")

    def __call__(self, scores: CodeScores) -> float:
        """Return the mean, in [0, 1]."""
        total = self.features + self.relations + self.types
        mean = self.features * scores.features
        mean += self.relations * scores.relations
        mean += self.types * scores.types
        return min(1.0, mean / total)


@dataclass(frozen=True)
class Lexicographic:
    """Aggregates by order: the first component decides, the next breaks its ties, and so on.

    Attributes:
        order: The components, most important first; each at most once.

    Raises:
        ConfigError: If a component comes twice, is unknown, or there is none.

    Example:
        >>> by_nodes = Lexicographic()
        >>> by_nodes(CodeScores(0.5, 0.1, 0.9)) > by_nodes(CodeScores(0.5, 0.1, 0.8))
        True
    """

    order: tuple[Component, ...] = ("features", "relations", "types")

    def __post_init__(self) -> None:
        known = set(self.order) <= set(get_args(Component))
        if not self.order or not known or len(set(self.order)) < len(self.order):
            raise ConfigError(f"An order has each of {', '.join(get_args(Component))} at most once.")

    def __call__(self, scores: CodeScores) -> tuple[float, ...]:
        """Return what to sort by, greatest first."""
        return tuple(getattr(scores, name) for name in self.order)


def paper(q: GraphCode, d: GraphCode) -> CodeScores:
    """Compare as the paper does.

    M_F = k / |V_q|. M_FR = the ordered pairs of two different shared nodes that have edges in both codes,
    over k(k − 1). M_RT = 1 − Σ δ / (k(k − 1)), the sum over the ordered pairs of two different shared nodes.

    Settled where the paper leaves it open:

    * An empty question gives (0, 0, 0).
    * k < 2 gives M_FR = M_RT = 0: nothing can be compared.
    * M_RT = 0 if neither code has an edge among the shared nodes: the paper's formula gives 1 to graphs
      that have no connection at all to compare.
    * Self-loops stand on the diagonal, which k(k − 1) leaves out, and take no part.
    * δ is 0 if both cells have the same relations, else 1. As printed it is the difference of the numbers
      of relations, so that M_RT could fall below 0 and depended on which numbers relations happen to have.

    Example:
        >>> q = GraphCode.of([], [("woman", "holds", "umbrella")])
        >>> paper(q, q)
        CodeScores(features=1.0, relations=0.5, types=1.0)
    """
    if not q:
        return _NOTHING
    shared = q.by_id.keys() & d.by_id.keys()
    k = len(shared)
    if k < 2:
        return CodeScores(k / len(q), 0.0, 0.0)
    mine, theirs = (
        {pair for pair in code.cells if pair[0] != pair[1] and shared.issuperset(pair)} for code in (q, d)
    )
    cells = k * (k - 1)
    either = mine | theirs
    different = sum(q.cells.get(pair) != d.cells.get(pair) for pair in either)
    return CodeScores(k / len(q), len(mine & theirs) / cells, 1.0 - different / cells if either else 0.0)


def structural(
    q: GraphCode, d: GraphCode, ontology: Ontology | None = None, *, excess: float = EXCESS
) -> CodeScores:
    """Compare by what is asked for and found, and by what the document has besides.

    Each component is (a + β·b) / (A + β·B): of the A things of the question, a have a match in the document;
    of the B things of the document, b are matched; β is `excess`. Things are nodes (features), ordered
    pairs of nodes with edges (relations), and single edges with their type (types). All three are in
    [0, 1] and 1 for equal codes; turning an edge around changes relations and types.

    A node is matched by the node of the same id. With an ontology a class is also matched by its
    subclasses and by nodes that have it or a subclass of it as a type, and a relation by its
    subproperties. With or without: **a node of the question that has types is matched only by what fits
    each of them**, by a type of its own or by being a subclass (the same id, without an ontology).

    A component without things (A + β·B = 0) has the value of the nodes: there is nothing that could
    tell. Two empty codes are equal (1); an empty one is unlike any other (0). Weights take no part.

    At an `excess` of 0 only what is asked for counts, and a document that has more is as good.

    Raises:
        ConfigError: If `excess` is negative.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> structural(q, q), structural(q, GraphCode.of([], [("man", "bites", "dog")])).types
        (CodeScores(features=1.0, relations=1.0, types=1.0), 0.0)
    """
    if not excess >= 0:
        raise ConfigError(f"The excess is a number of at least 0, not {excess!r}.")
    kinds = ontology or Ontology()

    def matched(v: Node, u: Node) -> bool:
        return kinds.matches(v, u) if ontology is not None else v.id == u.id and kinds.meets(v, u)

    def coverage(met: set[tuple[object, object]], of_q: int, of_d: int, empty: float) -> float:
        whole = of_q + excess * of_d
        asked, others = len({one for one, _ in met}), len({other for _, other in met})
        return (asked + excess * others) / whole if whole else empty

    nodes: set[tuple[object, object]] = {(v.id, u.id) for v in q.nodes for u in d.nodes if matched(v, u)}
    pairs: set[tuple[object, object]] = {
        (e, f) for e in q.cells for f in d.cells if (e[0], f[0]) in nodes and (e[1], f[1]) in nodes
    }
    edges: set[tuple[object, object]] = {
        (e.key, f.key)
        for e in q.edges
        for f in d.edges
        if ((e.source, e.target), (f.source, f.target)) in pairs and kinds.fits(f.relation, e.relation)
    }
    features = coverage(nodes, len(q), len(d), float(len(q) == len(d)))
    return CodeScores(
        features,
        coverage(pairs, len(q.cells), len(d.cells), features),
        coverage(edges, len(q.edges), len(d.edges), features),
    )


@dataclass(frozen=True)
class CodeComparison:
    """Settings of a comparison.

    Attributes:
        metric: `structural` (ours) or `paper`, see `mrag.graphcodes.metrics`.
        aggregate: How the three values become one order.
        ontology: Subclasses and subproperties, for `structural` alone.
        excess: What only the document has, for `structural` alone.

    Raises:
        ConfigError: If a setting cannot be used.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> CodeComparison("paper").scores(q, GraphCode.of(["dog"]))
        CodeScores(features=0.5, relations=0.0, types=0.0)
    """

    metric: Metric = "structural"
    aggregate: Weighted | Lexicographic = field(default_factory=Weighted)
    ontology: Ontology | None = None
    excess: float = EXCESS

    def __post_init__(self) -> None:
        check_choice("metric", self.metric, get_args(Metric))
        if self.metric != "structural" and self.ontology is not None:
            raise ConfigError(f"The metric {self.metric!r} takes no ontology.", hint="Use 'structural'.")
        if not 0 <= self.excess < float("inf"):
            raise ConfigError(f"The excess is a number of at least 0, not {self.excess!r}.")

    def scores(self, q: GraphCode, d: GraphCode) -> CodeScores:
        """Compare a question's code with a document's by the plain formulas."""
        if self.metric == "structural":
            return structural(q, d, self.ontology, excess=self.excess)
        return paper(q, d)
