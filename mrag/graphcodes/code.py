"""Graph codes: small typed feature graphs of documents and questions, and their form of exchange, JSON.

A code has a dictionary (its nodes) and typed, directed edges between them. The type of an edge and its
weight are kept apart: their product, which the valuation matrix of the paper holds, cannot be taken apart
again. The matrix is a view (`GraphCode.matrix`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from mrag.errors import ConfigError
from mrag.language.names import name_parts
from mrag.rdf.terms import RDF

Cell: TypeAlias = tuple[str, ...]
"""The relations from one node to another, sorted, at least one."""

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_LOCAL: Final = re.compile(r"[^/#:]+(?=[/#]?\Z)")
_VERB: Final = re.compile(r"p?v:(.+)")  # as scene graphs mark verbs, active and passive
_NUMBERED: Final = re.compile(r"([^:/]+):\d+")  # as extractors tell two things of one name


def term(text: str) -> str:
    """Write a word or phrase as a node is written: lower case, single spaces."""
    written = " ".join(text.lower().split())
    if not written:
        raise ConfigError("A term of a graph code is empty.")
    return written


def is_iri(text: str) -> bool:
    """Return whether a text can be an IRI: a scheme, a colon, and no blanks."""
    return _IRI.fullmatch(text) is not None


def readable(node_id: str) -> str:
    """Return words for an id without a label: of an IRI its last part, without the marks of scene graphs.

    Example:
        >>> readable("http://example.org/hasEyeColor"), readable("v:look at"), readable("man:1")
        ('has eye color', 'look at', 'man')
    """
    verb = _VERB.fullmatch(node_id)
    if verb or not is_iri(node_id):
        return verb[1] if verb else node_id
    if numbered := _NUMBERED.fullmatch(node_id):
        return numbered[1]
    local = _LOCAL.search(node_id)
    return " ".join(name_parts(local[0])).lower() if local else node_id


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
    """A directed, typed edge between the ids of two nodes.

    Attributes:
        relation: Its type: an IRI or a word.
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
        """Make a code; the ends of edges are nodes too.

        Raises:
            ConfigError: If a node or an edge is not allowed.
        """
        by_id: dict[str, Node] = {}
        for given in nodes:
            node = given if isinstance(given, Node) else Node(given)
            known = by_id.setdefault(node.id, node)
            if known is not node:
                by_id[node.id] = Node(node.id, _label(known, node), known.types | node.types)
        by_key: dict[tuple[str, str, str], Edge] = {}
        for item in edges:
            edge = item if isinstance(item, Edge) else Edge(*item)
            for end in (edge.source, edge.target):
                if end not in by_id:
                    by_id[end] = Node(end)
            if by_key.setdefault(edge.key, edge).weight < edge.weight:
                by_key[edge.key] = edge
        return cls(
            tuple(by_id[i] for i in sorted(by_id)), tuple(by_key[k] for k in sorted(by_key)), tuple(parts)
        )

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

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
        rows = np.array([place[source] for source, _ in self.cells], dtype=np.int64)
        columns = np.array([place[target] for _, target in self.cells], dtype=np.int64)
        numbers = np.array([registry.number(cell) for cell in self.cells.values()], dtype=np.int64)
        if weighted:
            numbers = numbers * np.array([self.weights[pair] for pair in self.cells], dtype=np.float64)
        return csr_array((numbers, (rows, columns)), shape=(len(self.nodes), len(self.nodes)))

    def with_labels(self, labels: Mapping[str, str]) -> GraphCode:
        """Return the same code with these labels by id; other nodes keep theirs."""
        nodes = tuple(replace(n, label=labels[n.id]) if n.id in labels else n for n in self.nodes)
        return GraphCode(nodes, self.edges, self.parts)


def _label(a: Node, b: Node) -> str:
    return min((label for label in (a.label, b.label) if label), default="")


@runtime_checkable
class Extractor(Protocol):
    """Reads the code of a text."""

    def extract(self, text: str) -> GraphCode:
        """Return the features of a text and how they are related; an empty code if there are none."""


class RelationRegistry:
    """Assigns numbers to relation types, as `f_enc` of the paper does, but injectively.

    0 is never given, since it says "no edge" in a matrix, and no number is given twice. Several relations of
    one ordered pair together have a number of their own too, so that one number in a matrix tells them all.

    Args:
        numbers: Numbers that are given already, as `names` returns them.

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
            self._put(tuple(json.loads(name)) if name.startswith("[") else (name,), number)

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
        if cell not in self._numbers:
            self._put(cell, self._last + 1)
        return self._numbers[cell]

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

    def __len__(self) -> int:
        return len(self._numbers)

    def names(self) -> dict[str, int]:
        """Return the numbers by name; several relations together are called by a JSON list."""
        return {_name(cell): number for cell, number in self._numbers.items()}


def _name(cell: Cell) -> str:
    # A JSON list tells several relations, and one that looks like a list, from one.
    single = len(cell) == 1 and not cell[0].startswith("[")
    return cell[0] if single else json.dumps(list(cell), ensure_ascii=False)


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
    both = ((node, b.by_id[node.id]) for node in a.nodes if node.id in b.by_id)
    nodes = (Node(mine.id, _label(mine, other), mine.types & other.types) for mine, other in both)
    edges = (Edge(*e.key, min(e.weight, weights[e.key])) for e in a.edges if e.key in weights)
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
    """
    own = code.by_id.get(entity)
    if own is None:
        return code
    ends = {entity: ITSELF}
    nodes = [Node(ITSELF, "it"), *(node for node in code.nodes if node.id != entity)]
    edges = [
        Edge(ends.get(e.source, e.source), e.relation, ends.get(e.target, e.target), e.weight)
        for e in code.edges
    ]
    kinds = [Edge(ITSELF, RDF + "type", kind) for kind in sorted(own.types)]
    return GraphCode.of(nodes, [*edges, *kinds], code.parts)


# -- exchange: `dictionary`, `matrix`, `collectionElements` ----------------------------------------
#
# The matrix has the number of a relation type at row i, column j for an edge from node i to node j, and 0 for
# none; its diagonal tells inner nodes (1) from leaves (2), and any other number there is a relation of a node
# to itself. What such a matrix cannot say (names of relations, labels, types, weights, self-loops) is written
# beside it under the key `mrag`, which other readers do not look at.

PUBLIC_RELATIONS: Final[Mapping[str, int]] = {
    "child": 1,
    "next to": 11,
    "before": 12,
    "behind": 13,
    "above": 14,
    "under": 15,
    "part of": 16,
    "attached to": 17,
    "related to": 18,
    "doing": 19,
    "property": 20,
    "description": 21,
}
"""The numbers that public files use."""

_INNER, _LEAF = 1, 2
_DEEPEST: Final = 32

Mend: TypeAlias = Callable[[str], None]


def to_json(code: GraphCode, registry: RelationRegistry) -> dict[str, Any]:
    """Write a code for exchange, as `json.dumps` takes it; `from_json` gives the same code back.

    Example:
        >>> code = GraphCode.of([], [("woman", "holds", "umbrella")])
        >>> written = to_json(code, RelationRegistry())
        >>> written["dictionary"], written["matrix"], written["mrag"]
        (['umbrella', 'woman'], [[2, 0], [1, 1]], {'relations': {'holds': 1}})
    """
    size = len(code)
    place = {node_id: at for at, node_id in enumerate(code.dictionary)}
    matrix = [[0] * size for _ in range(size)]
    relations: dict[str, int] = {}
    inner = {edge.source for edge in code.edges}
    for node_id, at in place.items():
        matrix[at][at] = _INNER if node_id in inner else _LEAF
    for (source, target), cell in code.cells.items():
        if source != target:
            matrix[place[source]][place[target]] = relations[_name(cell)] = registry.number(cell)
    nodes = {n.id: {"label": n.label, "types": sorted(n.types)} for n in code.nodes if n.label or n.types}
    edges = [[*e.key, e.weight] for e in code.edges if e.source == e.target or e.weight != 1.0]
    beside = {"relations": relations, "nodes": nodes, "edges": edges}
    beside = {key: value for key, value in beside.items() if value}
    written = {
        "dictionary": list(code.dictionary),
        "matrix": matrix,
        "collectionElements": [to_json(part, registry) for part in code.parts],
    }
    return written | ({"mrag": beside} if beside else {})


def from_json(
    data: str | bytes | Mapping[str, Any],
    registry: RelationRegistry | None = None,
    *,
    on_mend: Mend | None = None,
) -> GraphCode:
    """Read a code.

    Public files have defects: the same word twice in a dictionary (whose rows then belong to one node),
    capital letters, empty words, rows cut short. Each is an error, unless `on_mend` is given.

    Args:
        data: JSON, or what it parses to.
        registry: Names of the numbers, if the data does not give them; `PUBLIC_RELATIONS` by default.
            A number without a name becomes the relation `relation N`.
        on_mend: Called with a sentence for each defect that is mended: words that are the same are one
            node, words are written as terms, empty words are left out, missing cells are 0.

    Raises:
        ConfigError: If this is not a code, or has a defect; a matrix larger than its dictionary cannot be
            mended, since no one can tell which rows belong to which word.

    Example:
        >>> from_json('{"dictionary": ["dog", "man"], "matrix": [[1, 14], [0, 2]]}').edges
        (Edge(source='dog', relation='above', target='man', weight=1.0),)
    """
    try:
        if isinstance(data, str | bytes):
            data = json.loads(data)
        # No file can hold halves of characters again.
        json.dumps(data, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ConfigError("A graph code is nested too deeply.") from error
    except UnicodeEncodeError as error:
        near = _encodable(error.object[max(0, error.start - 12) : error.end + 12])
        raise ConfigError(f"A graph code has half a character (a lone surrogate) in {near!r}.") from error
    except (ValueError, TypeError) as error:
        raise ConfigError(f"A graph code is written in JSON: {error}.") from error
    return _read(data, registry, on_mend, 0)


def from_folder(folder: Path, *, on_mend: Mend | None = None) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of a folder of `.gc` or `.json` files, by the name of the file without its ending.

    Args:
        folder: The folder, read with those in it, in order of the names of files.
        on_mend: As of `from_json`; what it is called with begins with the file.

    Raises:
        ConfigError: If there is no such file, two have one name, or one cannot be read; it names the file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = '{"dictionary": ["dog", "man"], "matrix": [[1, 14], [0, 2]]}'
        ...     _ = Path(folder, "one.gc").write_text(written)
        ...     [(name, code.dictionary) for name, code in from_folder(Path(folder))]
        [('one', ('dog', 'man'))]
    """
    found = (path for ending in ("gc", "json") for path in folder.rglob(f"*.{ending}"))
    files = sorted(path for path in found if path.is_file())
    if not files:
        raise ConfigError("There are no files .gc or .json in this folder.", file=str(folder))
    names: set[str] = set()
    for path in files:
        if _encodable(path.stem) != path.stem:
            message = "The name of this file is not in the file system's encoding."
            raise ConfigError(message, file=_encodable(str(path)))
        if path.stem in names:
            raise ConfigError(f"Another file of the folder is called {path.stem!r} too.", file=str(path))
        names.add(path.stem)
        mend = None if on_mend is None else lambda text, path=path: on_mend(f"{path}: {text}")
        try:
            yield path.stem, from_json(path.read_bytes(), on_mend=mend)
        except (ConfigError, OSError) as error:
            message, hint = getattr(error, "message", str(error)), getattr(error, "hint", None)
            raise ConfigError(_encodable(message), file=str(path), hint=hint) from error


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _read(data: Any, given: RelationRegistry | None, on_mend: Mend | None, depth: int) -> GraphCode:
    if depth > _DEEPEST:
        raise ConfigError(f"Codes are parts of codes more than {_DEEPEST} deep.")
    if not isinstance(data, Mapping) or not isinstance(data.get("dictionary"), list):
        raise ConfigError("A graph code has a dictionary and a matrix.")
    try:
        beside: Mapping[str, Any] = data.get("mrag") or {}
        named, about = beside.get("relations"), beside.get("nodes", {})
        registry = RelationRegistry(named) if named else given or RelationRegistry(PUBLIC_RELATIONS)
        words = _read_words(data["dictionary"], on_mend)
        matrix = _read_matrix(data.get("matrix") or [], len(words), on_mend)
        edges = [Edge(s, r, t, float(w)) for s, r, t, w in beside.get("edges", ())]
        known = {edge.key for edge in edges}
        for i, row in enumerate(matrix):
            for j, number in enumerate(row):
                place = i == j and number in (_INNER, _LEAF)
                if number and not place and words[i] and words[j]:
                    found = [(words[i], relation, words[j]) for relation in _relations(registry, number)]
                    edges += [Edge(*key) for key in found if key not in known]
        nodes = [_read_node(word, about[word]) if word in about else Node(word) for word in words if word]
        parts = [_read(part, given, on_mend, depth + 1) for part in data.get("collectionElements") or ()]
        return GraphCode.of(nodes, edges, parts)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"This is not a graph code: {error}.") from error


def _relations(registry: RelationRegistry, number: int) -> Cell:
    try:
        return registry.relations(number)
    except ConfigError:
        return (f"relation {number}",)


def _read_node(word: str, about: Mapping[str, Any]) -> Node:
    label, types = about["label"], about["types"]
    texts = [label, *types] if isinstance(types, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"The label of {word!r} is a text, and its types are a list of texts.")
    return Node(word, label, frozenset(types))


def _read_words(dictionary: list[Any], on_mend: Mend | None) -> list[str]:
    words = []
    for word in dictionary:
        if not isinstance(word, str):
            raise ConfigError(f"A dictionary has words, not {word!r}.")
        try:
            words.append(Node(word).id)
        except ConfigError:
            written = term(word) if word.strip() else ""
            said = f"The word {word!r} is written {written!r}." if written else "An empty word is left out."
            _mend(on_mend, f"A dictionary has words in lower case, not {word!r}.", said)
            words.append(written)
    for word in sorted({word for word in words if word and words.count(word) > 1}):
        said = f"{word!r}, {words.count(word)} times in the dictionary, is one node."
        _mend(on_mend, f"{word!r} is in the dictionary {words.count(word)} times.", said)
    return words


def _read_matrix(matrix: list[list[Any]], size: int, on_mend: Mend | None) -> list[list[int]]:
    if len(matrix) > size or any(len(row) > size for row in matrix):
        raise ConfigError(
            f"The matrix has {max(len(matrix), *map(len, matrix))} rows or columns for {size} words.",
            hint="Which row belongs to which word is lost: write the file anew from its source.",
        )
    if len(matrix) < size or any(len(row) < size for row in matrix):
        said = f"The matrix has fewer rows or columns than {size} words."
        _mend(on_mend, said, "Missing cells are 0.")
    for row in matrix:
        for number in row:
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise ConfigError(f"A matrix has whole numbers of at least 0, not {number!r}.")
    whole = [[*row, *[0] * (size - len(row))] for row in matrix]
    return whole + [[0] * size for _ in range(size - len(matrix))]


def _mend(on_mend: Mend | None, wrong: str, said: str) -> None:
    if on_mend is None:
        raise ConfigError(wrong, hint="Have it mended: on_mend in Python, --mend on the command line.")
    on_mend(said)
