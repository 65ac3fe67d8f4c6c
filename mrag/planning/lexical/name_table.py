"""Names by the million in arrays: found as wholes, by their words, and by words spelt nearly alike.

A name is no Python object but a row. Wholes are found by a hash of their folded letters, so that `E-mail`,
`e mail` and `EMAIL` are one; sets of words by posting lists of stems.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.planning.lexical.spelling import SpellingIndex
from mrag.planning.lexical.words import is_empty, root
from mrag.storage.arrays import Arrays
from mrag.text.tokens import bare, fold, words_in

Rows = npt.NDArray[np.int64]

_LONGEST: Final = 24
_KNOWN: Final = 500_000
_NO_ROWS: Final = np.empty(0, np.int64)


def hashed(text: str) -> int:
    """Return a number for a text that is the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Blob:
    """Texts one behind the other.

    Attributes:
        data: The texts in UTF-8.
        ends: Where each ends.
    """

    data: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Blob:
        """Return the texts as a blob."""
        data, ends = bytearray(), array("q")
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), np.uint8), _array(ends, np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> str:
        start = int(self.ends[at - 1]) if at else 0
        return self.data[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class NameKeys:
    """What a name is found by.

    Attributes:
        whole: The hash of the folded name.
        stemmed: The hash of the stemmed name.
        short: The hash of its acronym; None without one.
        stems: The hashes of its stems.
        words: Its words bare of case and accents, each with the hash of its stem.
    """

    whole: int
    stemmed: int
    short: int | None
    stems: frozenset[int]
    words: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, text: str) -> NameKeys | None:
        """Return what a name is found by; None if it has no words."""
        found = [(word, key, root(word)) for word in words_in(text)[:_LONGEST] if (key := fold(word))]
        if not found:
            return None
        initials = _acronym(["" if is_empty(key) else key[0] for _, key, _ in found])
        return cls(
            hashed("".join([key for _, key, _ in found])),
            hashed(" ".join([stem for _, _, stem in found])),
            hashed(initials) if initials else None,
            frozenset(hashed(stem) for _, _, stem in found),
            frozenset((bare(word), hashed(stem)) for word, _, stem in found),
        )


@dataclass(frozen=True)
class NameTable:
    """Names with what they name.

    Attributes:
        texts: The names.
        owners: What each names, as a number.
        whole: Hashes of folded names, ascending.
        whole_rows: The name of each.
        stemmed: Hashes of stemmed names, ascending.
        stemmed_rows: The name of each.
        short: Hashes of acronyms, ascending.
        short_rows: The name of each.
        words: Words as the names have them, bare of case and accents, in order; those with two stems twice.
        word_stems: The stem of each word, as a number.
        stems: Hashes of stems, ascending; a stem's number is its place.
        starts: Where the names of each stem begin in `postings`; one more than there are stems.
        postings: Names with a stem, ascending for each.
        spelling: The words by their deletions.
    """

    texts: Blob
    owners: npt.NDArray[np.uint32]
    whole: npt.NDArray[np.uint64]
    whole_rows: npt.NDArray[np.uint32]
    stemmed: npt.NDArray[np.uint64]
    stemmed_rows: npt.NDArray[np.uint32]
    short: npt.NDArray[np.uint64]
    short_rows: npt.NDArray[np.uint32]
    words: Blob
    word_stems: npt.NDArray[np.uint32]
    stems: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]
    spelling: SpellingIndex

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, str]]) -> NameTable:
        """Return the table of names.

        Args:
            pairs: What is named, as a number, and its name.
        """
        building = _Building()
        for owner, text in pairs:
            building.add(owner, text)
        return building.table()

    @classmethod
    def of_arrays(cls, arrays: Arrays) -> NameTable:
        """Return what `arrays` gave."""
        columns = {name: array for name, array in arrays.items() if "-" not in name}
        return cls(
            texts=Blob(arrays["texts-data"], arrays["texts-ends"]),
            words=Blob(arrays["words-data"], arrays["words-ends"]),
            spelling=SpellingIndex(arrays["spelling-forms"]),
            **columns,
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all of it as arrays to keep."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        columns = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
        return {
            **columns,
            "texts-data": self.texts.data,
            "texts-ends": self.texts.ends,
            "words-data": self.words.data,
            "words-ends": self.words.ends,
            "spelling-forms": self.spelling.forms,
        }

    def __len__(self) -> int:
        return len(self.owners)

    @cached_property
    def rarity(self) -> npt.NDArray[np.float32]:
        """Return the weight of each stem: the fewer names have it, the more."""
        counts = np.diff(self.starts)
        return np.log1p(len(self) / np.maximum(1, counts)).astype(np.float32)

    def named(self, wholes: Sequence[str]) -> list[Rows]:
        """Return the names that folded texts without spaces are, for each text."""
        return _found(self.whole, self.whole_rows, wholes)

    def named_by_stems(self, stems: Sequence[str]) -> list[Rows]:
        """Return the names that texts of stems are, for each text."""
        return _found(self.stemmed, self.stemmed_rows, stems)

    def abbreviated(self, initials: Sequence[str]) -> list[Rows]:
        """Return the names with some initials, for each of several."""
        return _found(self.short, self.short_rows, initials)

    def stem_number(self, word_stem: str) -> int | None:
        """Return the number of a stem, None if no name has it."""
        key = np.uint64(hashed(word_stem))
        at = int(np.searchsorted(self.stems, key))
        return at if at < len(self.stems) and self.stems[at] == key else None

    def words_of_size(self, places: Rows, size: int, most: int) -> list[int]:
        """Return those of some words that are as many bytes long as a size, or not many more or less."""
        ends = self.words.ends
        sizes = ends[places] - np.where(places > 0, ends[places - 1], 0)
        near: list[int] = places[np.abs(sizes - size) <= most].tolist()
        return near

    def with_stem(self, number: int) -> npt.NDArray[np.uint32]:
        """Return the names with a stem, ascending."""
        return self.postings[int(self.starts[number]) : int(self.starts[number + 1])]

    def weights(self, row: int) -> list[tuple[str, int, float]]:
        """Return the stems of a name with their numbers and weights; function words weigh a fifth."""
        found = []
        for s, word in {root(word): word for word in words_in(self.texts[row])[:_LONGEST]}.items():
            number = self.stem_number(s)
            if number is not None:
                weight = float(self.rarity[number])
                found.append((s, number, weight * 0.2 if is_empty(fold(word)) else weight))
        return found


class _Building:
    """Columns that grow name by name."""

    def __init__(self) -> None:
        self.texts, self.ends = bytearray(), array("q")
        self.owners, self.whole, self.stemmed = array("I"), array("Q"), array("Q")
        self.short, self.short_rows = array("Q"), array("I")
        self.numbers: dict[str, int] = {}
        self.used, self.sizes = array("I"), array("I")
        self.stem_of: dict[str, int] = {}
        self.others: set[tuple[str, int]] = set()
        self.known: dict[str, tuple[str, str, int, str]] = {}

    def add(self, owner: int, text: str) -> None:
        known = self.known
        found = [known.get(word) or self._learn(word) for word in words_in(text)[:_LONGEST]]
        found = [word for word in found if word[0]]
        if not found:
            return
        if initials := _acronym([word[3] for word in found]):
            self.short.append(hashed(initials))
            self.short_rows.append(len(self.owners))
        self.texts += text.encode("utf-8", "surrogatepass")
        self.ends.append(len(self.texts))
        self.owners.append(owner)
        self.whole.append(hashed("".join([word[0] for word in found])))
        self.stemmed.append(hashed(" ".join([word[1] for word in found])))
        ids = {word[2] for word in found}
        self.used.extend(ids)
        self.sizes.append(len(ids))

    def _learn(self, word: str) -> tuple[str, str, int, str]:
        """Return the key, the root, its number and the initial of a word; function words have no initial."""
        key, stem = fold(word), root(word)
        number = self.numbers.setdefault(stem, len(self.numbers)) if key else 0
        # Hardly any word has two stems, so these cost no memory.
        if key and self.stem_of.setdefault(spelt := bare(word), number) != number:
            self.others.add((spelt, number))
        entry = key, stem, number, "" if is_empty(key) else key[0]
        if len(self.known) < _KNOWN:
            self.known[word] = entry
        return entry

    def table(self) -> NameTable:
        stems = np.array([hashed(s) for s in self.numbers], dtype=np.uint64)
        order = np.argsort(stems, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        rows = np.repeat(np.arange(len(self.sizes), dtype=np.uint32), _array(self.sizes, np.uint32))
        ids = place[_array(self.used, np.uint32)]
        starts = np.zeros(len(stems) + 1, np.int64)
        np.cumsum(np.bincount(ids, minlength=len(stems)), out=starts[1:])
        words = sorted([*self.stem_of, *(word for word, _ in self.others)])
        stems_of = [place[self.stem_of[word]] for word in words]
        for word in {word for word, _ in self.others}:
            numbers = [self.stem_of[word], *(number for one, number in self.others if one == word)]
            at = bisect_left(words, word)
            stems_of[at : at + len(numbers)] = sorted(place[number] for number in numbers)
        return NameTable(
            Blob(np.frombuffer(bytes(self.texts), np.uint8), _array(self.ends, np.int64)),
            _array(self.owners, np.uint32),
            *_sorted(self.whole, None),
            *_sorted(self.stemmed, None),
            *_sorted(self.short, self.short_rows),
            Blob.of(words),
            np.array(stems_of, dtype=np.uint32),
            stems[order],
            starts,
            rows[np.argsort(ids, kind="stable")],
            SpellingIndex.of(words),
        )


def _acronym(initials: Sequence[str]) -> str:
    weighty = "".join(initials)
    return weighty if 2 <= len(weighty) <= 8 and weighty.isalpha() else ""


def _array(
    values: array[int], kind: type[np.unsignedinteger[Any] | np.signedinteger[Any]]
) -> npt.NDArray[Any]:
    return np.frombuffer(values, kind).copy() if values else np.empty(0, kind)


def _sorted(
    hashes: array[int], rows: array[int] | None
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    values = _array(hashes, np.uint64)
    order = np.argsort(values, kind="stable")
    return values[order], order.astype(np.uint32) if rows is None else _array(rows, np.uint32)[order]


def _found(hashes: npt.NDArray[np.uint64], rows: npt.NDArray[np.uint32], texts: Sequence[str]) -> list[Rows]:
    wanted = np.array([hashed(text) for text in texts], dtype=np.uint64)
    starts = np.searchsorted(hashes, wanted, "left")
    ends = np.searchsorted(hashes, wanted, "right")
    return [rows[a:b].astype(np.int64) if b > a else _NO_ROWS for a, b in zip(starts, ends, strict=True)]
