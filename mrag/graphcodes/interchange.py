"""The JSON form in which graph codes are exchanged: `dictionary`, `matrix`, `collectionElements`.

The matrix has the number of a relation type at row i, column j for an edge from node i to node j, and 0 for
none; its diagonal tells inner nodes (1) from leaves (2), and any other number there is a relation of a node
to itself. What such a matrix cannot say (names of
relations, labels, types, weights, self-loops) is written beside it under the key `mrag`, which other
readers do not look at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, Node, RelationRegistry, term

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


def to_json(code: GraphCode, registry: RelationRegistry) -> dict[str, Any]:
    """Write a code for exchange; `from_json` gives the same code back.

    Returns:
        What `json.dumps` takes.

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
            number = registry.number(cell)
            matrix[place[source]][place[target]] = number
            relations[registry.name(number)] = number
    beside: dict[str, Any] = {"relations": relations} if relations else {}
    nodes = {n.id: {"label": n.label, "types": sorted(n.types)} for n in code.nodes if n.label or n.types}
    if nodes:
        beside["nodes"] = nodes
    edges = [[e.source, e.relation, e.target, e.weight] for e in code.edges if _beyond(e)]
    if edges:
        beside["edges"] = edges
    written = {
        "dictionary": list(code.dictionary),
        "matrix": matrix,
        "collectionElements": [to_json(part, registry) for part in code.parts],
    }
    return written | ({"mrag": beside} if beside else {})


def _beyond(edge: Edge) -> bool:
    return edge.source == edge.target or edge.weight != 1.0


def from_json(
    data: str | bytes | Mapping[str, Any],
    registry: RelationRegistry | None = None,
    *,
    on_mend: Callable[[str], None] | None = None,
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
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except ValueError as error:
            raise ConfigError(f"A graph code is written in JSON: {error}.") from error
        except RecursionError as error:
            raise ConfigError("The JSON of a graph code is nested too deeply.") from error
    _check(data)
    return _read(data, registry, on_mend, 0)


def from_folder(
    folder: Path, *, on_mend: Callable[[str], None] | None = None
) -> Iterator[tuple[str, GraphCode]]:
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
    files = sorted(
        path for ending in ("gc", "json") for path in folder.rglob(f"*.{ending}") if path.is_file()
    )
    if not files:
        raise ConfigError("There are no files .gc or .json in this folder.", file=str(folder))
    names: set[str] = set()
    for path in files:
        if not _whole(path.stem):
            raise ConfigError(
                "The name of this file is not in the file system's encoding.", file=_ascii(str(path))
            )
        if path.stem in names:
            raise ConfigError(f"Another file of the folder is called {path.stem!r} too.", file=str(path))
        names.add(path.stem)

        def said(text: str, path: Path = path) -> None:
            if on_mend is not None:
                on_mend(f"{path}: {text}")

        try:
            yield path.stem, from_json(path.read_bytes(), on_mend=said if on_mend is not None else None)
        except (ConfigError, OSError) as error:
            hint = error.hint if isinstance(error, ConfigError) else None
            raise ConfigError(
                _ascii(getattr(error, "message", str(error))), file=str(path), hint=hint
            ) from error


def _check(data: Any) -> None:
    """Refuse what no file can hold again: halves of characters, and what is nested too deeply."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        near = _ascii(error.object[max(0, error.start - 12) : error.end + 12])
        raise ConfigError(f"A graph code has half a character (a lone surrogate) in {near!r}.") from error
    except (RecursionError, ValueError) as error:
        raise ConfigError("A graph code is nested too deeply.") from error
    except TypeError as error:
        raise ConfigError(f"A graph code is written in JSON: {error}.") from error


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode() if not _whole(text) else text


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(
    data: Any, registry: RelationRegistry | None, on_mend: Callable[[str], None] | None, depth: int
) -> GraphCode:
    if depth > _DEEPEST:
        raise ConfigError(f"Codes are parts of codes more than {_DEEPEST} deep.")
    if not isinstance(data, Mapping) or not isinstance(data.get("dictionary"), list):
        raise ConfigError("A graph code has a dictionary and a matrix.")
    try:
        return _Reader(data, registry, on_mend, depth).code()
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"This is not a graph code: {error}.") from error


def _node(word: str, about: Mapping[str, Any]) -> Node:
    label, types = about["label"], about["types"]
    texts = [label, *types] if isinstance(types, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"The label of {word!r} is a text, and its types are a list of texts.")
    return Node(word, label, frozenset(types))


class _Reader:
    """Reads one code and those of its parts."""

    def __init__(
        self,
        data: Mapping[str, Any],
        registry: RelationRegistry | None,
        on_mend: Callable[[str], None] | None,
        depth: int,
    ) -> None:
        self.depth = depth
        self.data = data
        self.given = registry
        self.on_mend = on_mend
        self.beside: Mapping[str, Any] = data.get("mrag") or {}
        named = self.beside.get("relations")
        self.registry = RelationRegistry(named) if named else registry or RelationRegistry(PUBLIC_RELATIONS)

    def code(self) -> GraphCode:
        words = self._words()
        matrix = self._matrix(len(words))
        extra = {(s, r, t): float(w) for s, r, t, w in self.beside.get("edges", ())}
        edges = [Edge(*key, weight) for key, weight in extra.items()]
        for i, row in enumerate(matrix):
            for j, number in enumerate(row):
                place = i == j and number in (_INNER, _LEAF)
                if number and not place and words[i] and words[j]:
                    for relation in self._relations(number):
                        if (words[i], relation, words[j]) not in extra:
                            edges.append(Edge(words[i], relation, words[j]))
        about = self.beside.get("nodes", {})
        nodes = [_node(word, about[word]) if word in about else Node(word) for word in words if word]
        parts = [
            _read(part, self.given, self.on_mend, self.depth + 1)
            for part in self.data.get("collectionElements") or ()
        ]
        return GraphCode.of(nodes, edges, parts)

    def _words(self) -> list[str]:
        words = []
        for word in self.data["dictionary"]:
            if not isinstance(word, str):
                raise ConfigError(f"A dictionary has words, not {word!r}.")
            try:
                words.append(Node(word).id)
            except ConfigError:
                written = term(word) if word.strip() else ""
                said = (
                    f"The word {word!r} is written {written!r}." if written else "An empty word is left out."
                )
                self._mend(f"A dictionary has words in lower case, not {word!r}.", said)
                words.append(written)
        for word in sorted({word for word in words if word and words.count(word) > 1}):
            said = f"{word!r}, {words.count(word)} times in the dictionary, is one node."
            self._mend(f"{word!r} is in the dictionary {words.count(word)} times.", said)
        return words

    def _matrix(self, size: int) -> list[list[int]]:
        matrix = self.data.get("matrix") or []
        if len(matrix) > size or any(len(row) > size for row in matrix):
            raise ConfigError(
                f"The matrix has {max(len(matrix), *map(len, matrix))} rows or columns for {size} words.",
                hint="Which row belongs to which word is lost: write the file anew from its source.",
            )
        if len(matrix) < size or any(len(row) < size for row in matrix):
            self._mend(f"The matrix has fewer rows or columns than {size} words.", "Missing cells are 0.")
            matrix = [list(row) + [0] * (size - len(row)) for row in matrix]
            matrix += [[0] * size for _ in range(size - len(matrix))]
        for row in matrix:
            for number in row:
                if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                    raise ConfigError(f"A matrix has whole numbers of at least 0, not {number!r}.")
        return [list(row) for row in matrix]

    def _relations(self, number: int) -> tuple[str, ...]:
        try:
            return self.registry.relations(number)
        except ConfigError:
            return (f"relation {number}",)

    def _mend(self, wrong: str, said: str) -> None:
        if self.on_mend is None:
            raise ConfigError(wrong, hint="Have it mended: on_mend in Python, --mend on the command line.")
        self.on_mend(said)
