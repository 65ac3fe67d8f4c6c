"""Names by the million in arrays: found as wholes, by their words, and by words spelt nearly alike.

A name is no Python object but a row. Wholes are found by a hash of their folded letters, so that `E-mail`,
`e mail` and `EMAIL` are one; sets of words by posting lists of stems.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.planning.spelling import SpellingIndex
from mrag.planning.synonyms import is_empty
from mrag.text.folding import bare
from mrag.text.tokens import keys, stem, tokens

Rows = npt.NDArray[np.int64]

_LONGEST: Final = 24
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
        return cls(np.frombuffer(bytes(data), np.uint8), np.frombuffer(ends, np.int64) if ends else _NO_ROWS)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> str:
        start = int(self.ends[at - 1]) if at else 0
        return self.data[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")


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
        words: Words as the names have them, bare of case and accents, in order.
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
        texts: list[str] = []
        owners, whole, stemmed = array("I"), array("Q"), array("Q")
        short, short_rows = array("Q"), array("I")
        number: dict[str, int] = {}
        used, sizes = array("I"), array("I")
        word_of: dict[str, int] = {}
        for owner, text in pairs:
            found = tokens(text)[:_LONGEST]
            if not found:
                continue
            row = len(texts)
            texts.append(text)
            owners.append(owner)
            stems = [stem(token.raw) for token in found]
            whole.append(hashed("".join(token.key for token in found)))
            stemmed.append(hashed(" ".join(stems)))
            distinct = list(dict.fromkeys(stems))
            ids = [number.setdefault(s, len(number)) for s in distinct]
            used.extend(ids)
            sizes.append(len(ids))
            for token, s in zip(found, stems, strict=True):
                word_of.setdefault(bare(token.raw), number[s])
            if initials := acronym([token.key for token in found]):
                short.append(hashed(initials))
                short_rows.append(row)
        return cls._arranged(texts, owners, whole, stemmed, short, short_rows, number, used, sizes, word_of)

    @classmethod
    def _arranged(
        cls,
        texts: list[str],
        owners: array[int],
        whole: array[int],
        stemmed: array[int],
        short: array[int],
        short_rows: array[int],
        number: dict[str, int],
        used: array[int],
        sizes: array[int],
        word_of: dict[str, int],
    ) -> NameTable:
        stems = np.array([hashed(s) for s in number], dtype=np.uint64)
        order = np.argsort(stems, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        rows = np.repeat(
            np.arange(len(sizes), dtype=np.uint32), np.frombuffer(sizes, np.uint32) if sizes else 0
        )
        ids = place[np.frombuffer(used, np.uint32)] if used else np.empty(0, np.uint32)
        by_stem = np.argsort(ids, kind="stable")
        starts = np.zeros(len(stems) + 1, np.int64)
        np.cumsum(np.bincount(ids, minlength=len(stems)), out=starts[1:])
        words = sorted(word_of)
        return cls(
            Blob.of(texts),
            np.array(owners, dtype=np.uint32),
            *_sorted(whole, None),
            *_sorted(stemmed, None),
            *_sorted(short, short_rows),
            Blob.of(words),
            np.array([place[word_of[w]] for w in words], dtype=np.uint32),
            stems[order],
            starts,
            rows[by_stem],
            SpellingIndex.of(words),
        )

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

    def with_stem(self, number: int) -> npt.NDArray[np.uint32]:
        """Return the names with a stem, ascending."""
        return self.postings[int(self.starts[number]) : int(self.starts[number + 1])]

    def weights(self, row: int) -> list[tuple[str, float]]:
        """Return the distinct stems of a name with their weights; function words weigh a fifth."""
        found = []
        for token in {stem(t.raw): t for t in tokens(self.texts[row])[:_LONGEST]}.items():
            number = self.stem_number(token[0])
            weight = float(self.rarity[number]) if number is not None else 0.0
            found.append((token[0], weight * (0.2 if is_empty(token[1].key) else 1.0)))
        return found


def acronym(words: Sequence[str]) -> str:
    """Return the initials of a name of three to eight words; "" of others.

    Example:
        >>> acronym(["world", "health", "organization"]), acronym(["department", "of", "defense"])
        ('who', 'dd')
    """
    weighty = [w for w in words if not is_empty(w)]
    if not 2 <= len(weighty) <= 8 or not all(w[0].isalpha() for w in weighty):
        return ""
    return "".join(w[0] for w in weighty)


def folded(text: str) -> str:
    """Return the folded words of a text without spaces between them."""
    return "".join(keys(text))


def _sorted(
    hashes: array[int], rows: array[int] | None
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    values = np.array(hashes, dtype=np.uint64)
    order = np.argsort(values, kind="stable")
    of = order.astype(np.uint32) if rows is None else np.array(rows, dtype=np.uint32)[order]
    return values[order], of


def _found(hashes: npt.NDArray[np.uint64], rows: npt.NDArray[np.uint32], texts: Sequence[str]) -> list[Rows]:
    wanted = np.array([hashed(text) for text in texts], dtype=np.uint64)
    starts = np.searchsorted(hashes, wanted, "left")
    ends = np.searchsorted(hashes, wanted, "right")
    return [rows[a:b].astype(np.int64) if b > a else _NO_ROWS for a, b in zip(starts, ends, strict=True)]
