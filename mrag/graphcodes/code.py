"""Graph codes: small typed feature graphs of documents and questions.

A code has a dictionary (its nodes) and typed, directed edges between them. The type of an edge and its
weight are kept apart: their product, which the valuation matrix of the paper holds, cannot be taken apart
again. The matrix is a view (`GraphCode.matrix`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

from mrag.errors import ConfigError

if TYPE_CHECKING:
    from mrag.graphcodes.registry import RelationRegistry

Cell: TypeAlias = tuple[str, ...]
"""The relations from one node to another, sorted, at least one."""

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


def term(text: str) -> str:
    """Write a word or phrase as a node is written: lower case, single spaces.

    Raises:
        ConfigError: If nothing remains.

    Example:
        >>> term("  Red  Bicycle")
        'red bicycle'
    """
    written = " ".join(text.lower().split())
    if not written:
        raise ConfigError("A term of a graph code is empty.")
    return written


def is_iri(text: str) -> bool:
    """Return whether a text can be an IRI: a scheme, a colon, and no blanks.

    Example:
        >>> is_iri("http://example.org/a"), is_iri("red bicycle"), is_iri("v:look at")
        (True, False, False)
    """
    return _IRI.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Node:
    """A feature.

    Attributes:
        id: An IRI, or a term in lower case; unique in a code.
        label: How people call it; empty if the id says it.
        types: Classes that it has, as ids. In a question's code they are demands: what matches must fit
            each of them, see `mrag.graphcodes.metrics.structural`.

    Raises:
        ConfigError: If the id is neither an IRI nor a term in lower case with single spaces.

    Example:
        >>> Node("ex:cystitis", "cystitis", frozenset({"infection"})).name
        'cystitis'
        >>> Node("Dog")
        Traceback (most recent call last):
        mrag.errors.ConfigError: A node's id is an IRI or a term in lower case, not 'Dog'. Write term('Dog').
    """

    id: str
    label: str = ""
    types: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not is_iri(self.id) and (not self.id.strip() or self.id != term(self.id)):
            raise ConfigError(
                f"A node's id is an IRI or a term in lower case, not {self.id!r}.",
                hint=f"Write term({self.id!r})." if self.id.strip() else None,
            )
        if not isinstance(self.types, frozenset):
            object.__setattr__(self, "types", frozenset(self.types))

    @property
    def name(self) -> str:
        """The label, or the id if there is none."""
        return self.label or self.id


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed, typed edge.

    Attributes:
        source: Id of the node that it leaves.
        relation: Its type: an IRI or a word.
        target: Id of the node that it reaches; may be the source.
        weight: How much it counts in the paper's valuation matrix, or how sure an extractor is, at least 0.
            An edge of weight 0 is still an edge.

    Raises:
        ConfigError: If the relation is blank or the weight is not a finite number of at least 0.
    """

    source: str
    relation: str
    target: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.relation.strip() or self.relation != self.relation.strip():
            raise ConfigError(f"The relation of an edge is blank or padded: {self.relation!r}.")
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ConfigError(f"The weight of an edge is a finite number of at least 0, not {self.weight!r}.")

    @property
    def key(self) -> tuple[str, str, str]:
        """Source, relation and target: what tells edges apart."""
        return (self.source, self.relation, self.target)


@dataclass(frozen=True)
class GraphCode:
    """A typed feature graph. Make one by `GraphCode.of`, which sorts and checks.

    Attributes:
        nodes: Sorted by id.
        edges: Sorted by source, relation and target; each triple once.
        parts: Codes of parts, as a collection has them; no metric looks into them.

    Example:
        >>> code = GraphCode.of([], [("woman", "holds", "umbrella"), ("umbrella", "is", "red")])
        >>> code.dictionary
        ('red', 'umbrella', 'woman')
        >>> code.cells[("woman", "umbrella")]
        ('holds',)
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    parts: tuple[GraphCode, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        nodes: Iterable[Node | str] = (),
        edges: Iterable[Edge | tuple[str, str, str]] = (),
        parts: Iterable[GraphCode] = (),
    ) -> GraphCode:
        """Make a code.

        Args:
            nodes: Nodes or their ids. One that comes twice is one node with the types of both and the label
                that sorts first.
            edges: Edges or triples of source, relation and target. Their ends become nodes. Of an edge that
                comes twice the greater weight counts. Parallel edges with other relations are kept, and
                so are self-loops.
            parts: Codes of parts.

        Raises:
            ConfigError: If a node or an edge is not allowed.
        """
        by_id: dict[str, Node] = {}
        for given in nodes:
            node = given if isinstance(given, Node) else Node(given)
            known = by_id.get(node.id)
            by_id[node.id] = node if known is None else _merged(known, node)
        by_key: dict[tuple[str, str, str], Edge] = {}
        for item in edges:
            edge = item if isinstance(item, Edge) else Edge(*item)
            for end in (edge.source, edge.target):
                if end not in by_id:
                    by_id[end] = Node(end)
            other = by_key.get(edge.key)
            if other is None or other.weight < edge.weight:
                by_key[edge.key] = edge
        return cls(
            tuple(by_id[i] for i in sorted(by_id)), tuple(by_key[k] for k in sorted(by_key)), tuple(parts)
        )

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    def __bool__(self) -> bool:
        """Whether there is any node."""
        return bool(self.nodes)

    @cached_property
    def dictionary(self) -> tuple[str, ...]:
        """The ids of the nodes, sorted."""
        return tuple(node.id for node in self.nodes)

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """The nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], Cell]:
        """The relations of every ordered pair of nodes that has any, self-loops included."""
        found: dict[tuple[str, str], list[str]] = {}
        for edge in self.edges:
            found.setdefault((edge.source, edge.target), []).append(edge.relation)
        return {pair: tuple(relations) for pair, relations in found.items()}

    @cached_property
    def weights(self) -> Mapping[tuple[str, str], float]:
        """The weight of every ordered pair that has edges: the greatest of theirs."""
        found: dict[tuple[str, str], float] = {}
        for edge in self.edges:
            pair = (edge.source, edge.target)
            found[pair] = max(found.get(pair, 0.0), edge.weight)
        return found

    def matrix(self, registry: RelationRegistry, *, weighted: bool = False) -> Any:
        """Return the valuation matrix of the paper: rows and columns in the order of the dictionary.

        Args:
            registry: Gives each type of relation its number; new ones are registered. A pair with several
                relations has the number of their combination.
            weighted: Multiply each number by the weight of the pair, as the paper does. Types and weights
                can then not be told apart any more, and a weight of 0 deletes an edge.

        Returns:
            A `scipy.sparse.csr_array` of float64 if weighted, else of int64. The diagonal has the
            self-loops.
        """
        import numpy as np
        from scipy.sparse import csr_array

        place = {node_id: at for at, node_id in enumerate(self.dictionary)}
        pairs = list(self.cells)
        rows = np.array([place[source] for source, _ in pairs], dtype=np.int64)
        columns = np.array([place[target] for _, target in pairs], dtype=np.int64)
        numbers = np.array([registry.number(cell) for cell in self.cells.values()], dtype=np.int64)
        if weighted:
            numbers = numbers * np.array([self.weights[pair] for pair in pairs], dtype=np.float64)
        return csr_array((numbers, (rows, columns)), shape=(len(self.nodes), len(self.nodes)))

    def with_labels(self, labels: Mapping[str, str]) -> GraphCode:
        """Return the same code with these labels by id; other nodes keep theirs."""
        nodes = tuple(replace(n, label=labels[n.id]) if n.id in labels else n for n in self.nodes)
        return GraphCode(nodes, self.edges, self.parts)


def _merged(a: Node, b: Node) -> Node:
    return Node(a.id, min((label for label in (a.label, b.label) if label), default=""), a.types | b.types)


@runtime_checkable
class Extractor(Protocol):
    """Reads the code of a text."""

    def extract(self, text: str) -> GraphCode:
        """Return the features of a text and how they are related; an empty code if there are none."""
