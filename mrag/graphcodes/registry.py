"""The registry of relation types: each has a number of its own, at least 1, for good."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from mrag.errors import ConfigError
from mrag.graphcodes.code import Cell
from mrag.storage.files import checksum, replace

_FORMAT: Final = "mrag relations 2"


class RelationRegistry:
    """Assigns numbers to relation types, as `f_enc` of the paper does, but injectively.

    0 is never given, since it says "no edge" in a matrix, and no number is given twice, not even after
    a restart. Several relations of one ordered pair together have a number of their own too, so
    that one number in a matrix tells them all.

    Args:
        numbers: Numbers that are given already, by relation.

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
            replace(path, text.encode("utf-8", "surrogatepass"))
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
