"""Graph codes: small typed feature graphs of documents and questions.

A code has a dictionary (its nodes) and typed, directed edges between them. The type of an edge and its
weight are kept apart: their product, which the valuation matrix of the paper holds, cannot be taken apart
again. The matrix is a view (`GraphCode.matrix`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from mrag.errors import ConfigError
from mrag.rdf.terms import RDF
from mrag.storage.files import checksum
from mrag.storage.files import replace as put_in_place

Cell: TypeAlias = tuple[str, ...]
"""The relations from one node to another, sorted, at least one."""

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


def term(text: str) -> str:
    """Write a word or phrase as a node is written: lower case, single spaces."""
    written = " ".join(text.lower().split())
    if not written:
        raise ConfigError("A term of a graph code is empty.")
    return written


def is_iri(text: str) -> bool:
    """Return whether a text can be an IRI: a scheme, a colon, and no blanks."""
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


_FORMAT: Final = "mrag relations 2"


class RelationRegistry:
    """Assigns numbers to relation types, as `f_enc` of the paper does, but injectively.

    0 is never given, since it says "no edge" in a matrix, and no number is given twice, not even after
    a restart. Several relations of one ordered pair together have a number of their own too, so
    that one number in a matrix tells them all.

    Raises:
        ConfigError: If two relations share a number, or a number is below 1.

    Example:
        >>> registry = RelationRegistry()
        >>> registry.number("holds"), registry.number("is"), registry.number("holds")
        (1, 2, 1)
        >>> registry.number(("holds", "is")), registry.relations(3)
        (3, ('holds', 'is'))
    """

    def __init__(self, numbers: Mapping[str, int] | None = None) -> None:
        self._numbers: dict[Cell, int] = {}
        self._cells: dict[int, Cell] = {}
        self._last = 0
        for name, number in (numbers or {}).items():
            self._put(_cell(name), number)

    def _put(self, cell: Cell, number: object) -> None:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ConfigError(f"The number of a relation is a whole number of at least 1, not {number!r}.")
        if number in self._cells or cell in self._numbers:
            other = self._cells.get(number, cell)
            raise ConfigError(f"Number {number} or relation {_name(cell)!r} is taken (by {_name(other)!r}).")
        self._numbers[cell] = number
        self._cells[number] = cell
        self._last = max(self._last, number)

    def number(self, relation: str | Iterable[str]) -> int:
        """Return the number of a relation, or of several together; a new one gets the next number."""
        cell = (relation,) if isinstance(relation, str) else tuple(sorted(set(relation)))
        if not cell:
            raise ConfigError("No relation has no number: 0 says that there is no edge.")
        known = self._numbers.get(cell)
        if known is None:
            known = self._last + 1
            self._put(cell, known)
        return known

    def relations(self, number: int) -> Cell:
        """Return the relations of a number.

        Raises:
            ConfigError: If the number has not been given.
        """
        try:
            return self._cells[number]
        except KeyError:
            raise ConfigError(f"No relation has the number {number}.") from None

    def cells(self) -> list[Cell]:
        """Return the relations of every number, in the order of registration."""
        return list(self._numbers)

    def name(self, number: int) -> str:
        """Return the name under which a number is kept; several relations together are a JSON list.

        Raises:
            ConfigError: If the number has not been given.
        """
        return _name(self.relations(number))

    def __contains__(self, relation: object) -> bool:
        return (relation,) in self._numbers if isinstance(relation, str) else relation in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return (_name(cell) for cell in self._numbers)

    def names(self) -> dict[str, int]:
        """Return the numbers by name; what `RelationRegistry` takes."""
        return {_name(cell): number for cell, number in self._numbers.items()}

    def save(self, path: Path) -> None:
        """Write the registry to a file: the whole file is there afterwards, or the earlier one.

        Raises:
            ConfigError: If the system refuses.
        """
        fields = {"format": _FORMAT, "relations": self.names()}
        text = json.dumps({**fields, "crc32": checksum(fields)}, ensure_ascii=False, indent=1)
        try:
            put_in_place(path, text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise ConfigError(
                f"The registry cannot be written: {error.strerror or error}.", file=str(path)
            ) from error

    @classmethod
    def load(cls, path: Path) -> RelationRegistry:
        """Read a registry.

        Raises:
            ConfigError: If the file is not there or is not a registry.
        """
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            if read["format"] != _FORMAT:
                raise ValueError(f"its format is {read['format']!r}")
            if read.pop("crc32") != checksum(read):
                raise ValueError("its checksum is another; it is damaged")
            return cls(read["relations"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"This is not a registry of relations: {error}.", file=str(path)) from error


def _name(cell: Cell) -> str:
    # A JSON list tells several relations, and one that looks like a list, from one.
    single = len(cell) == 1 and not cell[0].startswith("[")
    return cell[0] if single else json.dumps(list(cell), ensure_ascii=False)


def _cell(name: str) -> Cell:
    return tuple(json.loads(name)) if name.startswith("[") else (name,)


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


ITSELF: Final = "urn:mrag:itself"
"""Stands for the entity that a code is of."""


def centred(code: GraphCode, entity: str) -> GraphCode:
    """Return the code of an entity with its own node replaced by one that all entities share.

    Every link of an entity has the entity at one end, so the codes of two entities have no edge in common,
    however alike they are. Seen from the entities they have those that lead to the same things. The classes
    of the entity become edges too.

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
