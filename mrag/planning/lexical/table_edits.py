"""Tables of names after some have come and gone: the same, to the last array, as of all names read anew.

Names are rows, and what finds them are sorted arrays of numbers. Taking rows out and putting some in moves
the others, by sums over whole arrays, which takes a small part of the time in which all names are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from mrag.planning.lexical.name_table import Blob, NameKeys, NameTable
from mrag.planning.lexical.spelling import SpellingIndex

Places = npt.NDArray[np.int64]
_ROW = np.uint64(32)


def place_in(blob: Blob, text: str, start: int = 0, end: int | None = None) -> tuple[int, bool]:
    """Return where a text stands among texts in order, or would stand, and whether it is there.

    Args:
        blob: The texts.
        text: The text.
        start: Where those that are in order begin.
        end: Where they end; behind the last by default.

    Example:
        >>> place_in(Blob.of(["a", "c"]), "b"), place_in(Blob.of(["a", "c"]), "c")
        ((1, False), (1, True))
    """
    low = start
    high = end = len(blob) if end is None else end
    while low < high:
        middle = (low + high) // 2
        if blob[middle] < text:
            low = middle + 1
        else:
            high = middle
    return low, low < end and blob[low] == text


def moved(count: int, gone: Collection[int], come: Sequence[int]) -> Places:
    """Return the new places of things of which some go and between which others come; -1 for those that go.

    Args:
        count: How many there were.
        gone: Those that go.
        come: Before which of those that stay others come, ascending.

    Example:
        >>> moved(4, [1], [0, 2]).tolist()
        [1, -1, 2, 4]
    """
    keep = np.ones(count, bool)
    keep[list(gone)] = False
    rank = np.cumsum(keep) - 1
    return np.where(keep, rank + np.searchsorted(np.array(come, np.int64), rank, "right"), -1)


def spliced(blob: Blob, gone: Collection[int], come: Sequence[tuple[int, str]]) -> Blob:
    """Return texts without some and with others.

    Args:
        blob: The texts.
        gone: Those that go.
        come: Before which of those that stay others come, ascending.
    """
    ends = blob.ends
    sizes = np.diff(ends, prepend=0)
    keep = np.ones(len(ends), bool)
    keep[list(gone)] = False
    texts = [text.encode("utf-8", "surrogatepass") for _, text in come]
    stays = np.cumsum(sizes[keep])
    parts, start = list[bytes | memoryview](), 0
    data = np.delete(blob.data, _spans(ends, gone)) if gone else blob.data
    for (at, _), text in zip(come, texts, strict=True):
        here = int(stays[at - 1]) if at else 0
        parts += [data[start:here].data, text]
        start = here
    parts.append(data[start:].data)
    joined = b"".join(parts)
    added = np.insert(sizes[keep], [at for at, _ in come], [len(t) for t in texts]) if come else sizes[keep]
    return Blob(np.frombuffer(joined, np.uint8), np.cumsum(added, dtype=np.int64))


def _spans(ends: Places, gone: Iterable[int]) -> Places:
    """Return the places of the letters of texts."""
    return np.concatenate([np.arange(int(ends[at - 1]) if at else 0, int(ends[at])) for at in sorted(gone)])


def edited(
    table: NameTable, gone: Collection[int], come: Sequence[tuple[int, int, str]], owners: Places
) -> NameTable:
    """Return a table without some names and with others.

    Args:
        table: The names.
        gone: Rows that go.
        come: Names that come: before which of the rows that stay, what each names, and the name; ascending,
            and each with words.
        owners: The new number of what each number names.
    """
    known = [keys for _, _, text in come if (keys := NameKeys.of(text)) is not None]
    old = [keys for at in gone if (keys := NameKeys.of(table.texts[at])) is not None]
    places = [at for at, _, _ in come]
    rows = moved(len(table), gone, places)
    new = [at + number for number, at in enumerate(places)]
    kept = rows >= 0
    texts = spliced(table.texts, gone, [(at, text) for at, _, text in come])
    whole = _found_by(table.whole, table.whole_rows, rows, [k.whole for k in known], new)
    stemmed = _found_by(table.stemmed, table.stemmed_rows, rows, [k.stemmed for k in known], new)
    short = [(k.short, row) for k, row in zip(known, new, strict=True) if k.short is not None]
    shorts = _found_by(table.short, table.short_rows, rows, [key for key, _ in short], [r for _, r in short])
    stems, numbers, starts, postings = _stems(table, rows, known, new)
    spelt = {pair for keys in known for pair in keys.words}
    lost = {pair for keys in old for pair in keys.words} - spelt
    # What another name has as well stays.
    lost = {pair for pair in lost if not _is_spelt(pair, stems, starts, postings, texts)}
    words, word_stems, spelling = _words(table, numbers, stems, lost, spelt)
    return NameTable(
        texts,
        np.insert(owners[table.owners[kept]], places, [owner for _, owner, _ in come]).astype(np.uint32),
        *whole,
        *stemmed,
        *shorts,
        words,
        word_stems,
        stems,
        starts,
        postings,
        spelling,
    )


def _found_by(
    hashes: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint32],
    moved_: Places,
    keys: Sequence[int],
    new: Sequence[int],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Return sorted hashes with their rows, those that are equal in order of their rows."""
    now = moved_[rows]
    hashes, now = hashes[now >= 0], now[now >= 0]
    come, at = sorted(zip(keys, new, strict=True)), list[int]()
    for key, row in come:
        low, high = (int(np.searchsorted(hashes, np.uint64(key), side)) for side in ("left", "right"))
        at.append(low + int(np.searchsorted(now[low:high], row)))
    added = np.array([key for key, _ in come], np.uint64)
    return np.insert(hashes, at, added), np.insert(now, at, [row for _, row in come]).astype(np.uint32)


def _stems(
    table: NameTable, rows: Places, known: Sequence[NameKeys], new: Sequence[int]
) -> tuple[npt.NDArray[np.uint64], Places, Places, npt.NDArray[np.uint32]]:
    """Return the stems, the new number of each old one, and where each has its names."""
    ids = np.repeat(np.arange(len(table.stems)), np.diff(table.starts))
    now = rows[table.postings]
    ids, now = ids[now >= 0], now[now >= 0]
    wanted = {stem for keys in known for stem in keys.stems}
    there = {stem: _number(table.stems, stem) for stem in wanted}
    used = np.bincount(ids, minlength=len(table.stems)) > 0
    used[[number for number in there.values() if number is not None]] = True
    lost = np.flatnonzero(~used).tolist()
    added = sorted(stem for stem, number in there.items() if number is None)
    stays = table.stems[used]
    at = np.searchsorted(stays, np.array(added, np.uint64)).tolist()
    numbers = moved(len(table.stems), lost, at)
    stems = np.insert(stays, at, np.array(added, np.uint64))
    pairs = sorted((_number(stems, s), row) for keys, row in zip(known, new, strict=True) for s in keys.stems)
    come = np.array([(number or 0) << 32 | row for number, row in pairs], np.uint64)
    every = (numbers[ids].astype(np.uint64) << _ROW) | now.astype(np.uint64)
    every = np.insert(every, np.searchsorted(every, come), come)
    starts = np.zeros(len(stems) + 1, np.int64)
    np.cumsum(np.bincount((every >> _ROW).astype(np.int64), minlength=len(stems)), out=starts[1:])
    return stems, numbers, starts, every.astype(np.uint32)


def _number(stems: npt.NDArray[np.uint64], stem: int) -> int | None:
    at = int(np.searchsorted(stems, np.uint64(stem)))
    return at if at < len(stems) and int(stems[at]) == stem else None


def _is_spelt(
    pair: tuple[str, int],
    stems: npt.NDArray[np.uint64],
    starts: Places,
    postings: npt.NDArray[np.uint32],
    texts: Blob,
) -> bool:
    """Return whether some name has a word with a stem."""
    number = _number(stems, pair[1])
    if number is None:
        return False
    having = postings[int(starts[number]) : int(starts[number + 1])].tolist()
    return any((keys := NameKeys.of(texts[row])) is not None and pair in keys.words for row in having)


def _words(
    table: NameTable,
    numbers: Places,
    stems: npt.NDArray[np.uint64],
    lost: Collection[tuple[str, int]],
    spelt: Collection[tuple[str, int]],
) -> tuple[Blob, npt.NDArray[np.uint32], SpellingIndex]:
    """Return the words, their stems, and the words by their deletions."""

    def place(word: str, number: int, stem_numbers: Places) -> tuple[int, bool]:
        at, there = place_in(table.words, word)
        while there and at < len(table.words) and table.words[at] == word and stem_numbers[at] < number:
            at += 1
        return at, at < len(table.words) and table.words[at] == word and int(stem_numbers[at]) == number

    # By the new numbers; a stem that has gone has none, and neither has any word with it.
    now = numbers[table.word_stems]
    gone = {int(at) for at in np.flatnonzero(now < 0)}
    gone |= {
        at
        for word, stem in lost
        if (number := _number(stems, stem)) is not None
        for at, there in (place(word, number, now),)
        if there
    }
    come = list[tuple[int, str, int]]()
    for word, stem in spelt:
        number = _number(stems, stem)
        assert number is not None
        at, there = place(word, number, now)
        if not there:
            come.append((at - sum(one < at for one in gone), word, number))
    come.sort()
    at_ = [at for at, _, _ in come]
    words = spliced(table.words, gone, [(at, word) for at, word, _ in come])
    places = moved(len(table.words), gone, at_)
    kept = now[places >= 0]
    word_stems = np.insert(kept, at_, [number for _, _, number in come]).astype(np.uint32)
    fresh = [(at + number, word) for number, (at, word, _) in enumerate(come)]
    return words, word_stems, table.spelling.with_words(places, fresh)
