"""Graph codes: small typed feature graphs of documents and questions, and their form of exchange, JSON.

A code has a dictionary (its nodes) and typed, directed edges between them. The valuation matrix of the paper
is a view (`GraphCode.matrix`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from mrag._tables import tables
from mrag.errors import ConfigError
from mrag.language.names import name_parts
from mrag.rdf.terms import RDF

Cell: TypeAlias = tuple[str, ...]  # The relations from one node to another, sorted, at least one

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
            hint = f"Write term({self.id!r})." if self.id.strip() else None
            raise ConfigError(f"A node's id is an IRI or a term in lower case, not {self.id!r}.", hint=hint)
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

    Raises:
        ConfigError: If the relation is blank.
    """

    source: str
    relation: str
    target: str

    def __post_init__(self) -> None:
        if not self.relation.strip() or self.relation != self.relation.strip():
            raise ConfigError(f"The relation of an edge is blank or padded: {self.relation!r}.")

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
        cells: dict[tuple[str, str], list[str]] = {}
        for edge in self.edges:
            cells.setdefault((edge.source, edge.target), []).append(edge.relation)
        return {pair: tuple(relations) for pair, relations in cells.items()}

    def matrix(self, numbers: dict[Cell, int]) -> Any:
        """Return the valuation matrix of the paper: rows and columns in the order of the dictionary.

        Args:
            numbers: The number of each combination of relations that a pair of nodes has. New ones are
                added and get the next number, so that the matrices of several codes agree.

        Returns:
            A `scipy.sparse.csr_array` of int64, whose diagonal has the self-loops.

        Example:
            >>> numbers = {}
            >>> code = GraphCode.of([], [("woman", "holds", "umbrella"), ("umbrella", "is", "red")])
            >>> code.matrix(numbers).toarray().tolist(), numbers
            ([[0, 0, 0], [1, 0, 0], [0, 2, 0]], {('is',): 1, ('holds',): 2})
        """
        import numpy as np
        from scipy.sparse import csr_array

        place = {node_id: at for at, node_id in enumerate(self.dictionary)}
        rows = np.array([place[source] for source, _ in self.cells], dtype=np.int64)
        columns = np.array([place[target] for _, target in self.cells], dtype=np.int64)
        named = [numbers.setdefault(cell, len(numbers) + 1) for cell in self.cells.values()]
        shape = (len(self.nodes), len(self.nodes))
        return csr_array((np.array(named, dtype=np.int64), (rows, columns)), shape=shape)

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


def union(codes: Iterable[GraphCode]) -> GraphCode:
    """Return every node and every edge of any of the codes; nodes have the types of all.

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


ITSELF: Final = "urn:mrag:itself"  # Stands for the entity that a code is of


def centre(code: GraphCode, entity: str) -> GraphCode:
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
    edges = [Edge(ends.get(e.source, e.source), e.relation, ends.get(e.target, e.target)) for e in code.edges]
    kinds = [Edge(ITSELF, RDF + "type", kind) for kind in sorted(own.types)]
    return GraphCode.of(nodes, [*edges, *kinds], code.parts)


# -- exchange: `dictionary`, `matrix`, `collectionElements` ----------------------------------------
#
# The matrix has the number of a relation type at row i, column j for an edge from node i to node j, and 0 for
# none; its diagonal tells inner nodes (1) from leaves (2), and any other number there is a relation of a node
# to itself. What such a matrix cannot say (names of relations, labels, types, self-loops) is written
# beside it under the key `mrag`, which other readers do not look at.

PUBLIC_RELATIONS: Final[Mapping[str, int]] = tables("graphcodes/relations.toml")
"""The numbers that public files use."""

_INNER, _LEAF = 1, 2
_DEEPEST: Final = 32


def to_json(code: GraphCode) -> dict[str, Any]:
    """Write a code for exchange, as `json.dumps` takes it; `from_json` gives the same code back.

    Example:
        >>> written = to_json(GraphCode.of([], [("woman", "holds", "umbrella")]))
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
            # A JSON list tells several relations, and one that looks like a list, from one.
            single = len(cell) == 1 and not cell[0].startswith("[")
            name = cell[0] if single else json.dumps(list(cell), ensure_ascii=False)
            matrix[place[source]][place[target]] = relations.setdefault(name, len(relations) + 1)
    nodes = {n.id: {"label": n.label, "types": sorted(n.types)} for n in code.nodes if n.label or n.types}
    loops = [edge.key for edge in code.edges if edge.source == edge.target]
    beside = {"relations": relations, "nodes": nodes, "edges": list(map(list, loops))}
    beside = {key: value for key, value in beside.items() if value}
    written = {
        "dictionary": list(code.dictionary),
        "matrix": matrix,
        "collectionElements": [to_json(part) for part in code.parts],
    }
    return written | ({"mrag": beside} if beside else {})


def from_json(data: str | bytes | Mapping[str, Any]) -> GraphCode:
    """Read a code. A number without a name, here or in `PUBLIC_RELATIONS`, is the relation `relation N`.

    Public files have defects, which are read as they are meant: words that are the same are one node, words
    are written as terms, empty words are left out, missing cells are 0.

    Raises:
        ConfigError: If this is not a code, or its matrix is larger than its dictionary, since no one can tell
            which rows belong to which word.

    Example:
        >>> from_json('{"dictionary": ["dog", "man"], "matrix": [[1, 14], [0, 2]]}').edges
        (Edge(source='dog', relation='above', target='man'),)
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
    return _read(data, 0)


def from_folder(folder: Path) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of a folder of `.gc` or `.json` files, by the name of the file without its ending.

    It is read with the folders in it, in order of the names of files.

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
    paths = (path for ending in ("gc", "json") for path in folder.rglob(f"*.{ending}"))
    files = sorted(path for path in paths if path.is_file())
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
        try:
            yield path.stem, from_json(path.read_bytes())
        except (ConfigError, OSError) as error:
            message, hint = getattr(error, "message", str(error)), getattr(error, "hint", None)
            raise ConfigError(_encodable(message), file=str(path), hint=hint) from error


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _read(data: Any, depth: int) -> GraphCode:
    if depth > _DEEPEST:
        raise ConfigError(f"Codes are parts of codes more than {_DEEPEST} deep.")
    if not isinstance(data, Mapping) or not isinstance(data.get("dictionary"), list):
        raise ConfigError("A graph code has a dictionary and a matrix.")
    try:
        beside: Mapping[str, Any] = data.get("mrag") or {}
        relations = _read_relations(beside.get("relations") or PUBLIC_RELATIONS)
        about = beside.get("nodes", {})
        words = _read_words(data["dictionary"])
        matrix = _read_matrix(data.get("matrix") or [], len(words))
        edges = [Edge(source, relation, target) for source, relation, target, *_ in beside.get("edges", ())]
        for i, row in enumerate(matrix):
            for j, number in enumerate(row):
                place = i == j and number in (_INNER, _LEAF)
                if number and not place and words[i] and words[j]:
                    cell = relations.get(number, (f"relation {number}",))
                    edges += [Edge(words[i], relation, words[j]) for relation in cell]
        nodes = [_read_node(word, about[word]) if word in about else Node(word) for word in words if word]
        parts = [_read(part, depth + 1) for part in data.get("collectionElements") or ()]
        return GraphCode.of(nodes, edges, parts)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"This is not a graph code: {error}.") from error


def _read_relations(named: Mapping[str, Any]) -> dict[int, Cell]:
    cells: dict[int, Cell] = {}
    for name, number in named.items():
        if type(number) is not int or number < 1 or number in cells:
            raise ConfigError(f"The relation {name!r} has no number of its own of at least 1: {number!r}.")
        cells[number] = tuple(json.loads(name)) if name.startswith("[") else (name,)
    return cells


def _read_node(word: str, about: Mapping[str, Any]) -> Node:
    label, types = about["label"], about["types"]
    texts = [label, *types] if isinstance(types, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"The label of {word!r} is a text, and its types are a list of texts.")
    return Node(word, label, frozenset(types))


def _read_words(dictionary: list[Any]) -> list[str]:
    for word in dictionary:
        if not isinstance(word, str):
            raise ConfigError(f"A dictionary has words, not {word!r}.")
    return [word if is_iri(word) else term(word) if word.strip() else "" for word in dictionary]


def _read_matrix(matrix: list[list[Any]], size: int) -> list[list[int]]:
    if len(matrix) > size or any(len(row) > size for row in matrix):
        what = f"The matrix has {max(len(matrix), *map(len, matrix))} rows or columns for {size} words."
        hint = "Which row belongs to which word is lost: write the file anew from its source."
        raise ConfigError(what, hint=hint)
    for row in matrix:
        for number in row:
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise ConfigError(f"A matrix has whole numbers of at least 0, not {number!r}.")
    whole = [[*row, *[0] * (size - len(row))] for row in matrix]
    return whole + [[0] * size for _ in range(size - len(matrix))]
