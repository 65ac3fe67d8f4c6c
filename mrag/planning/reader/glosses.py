"""Questions in other languages than English, glossed word by word, in their own order of words.

The units, roles and frames of a question are those of its gloss; what is particular to the order of words of
a language is learnt. A table of `languages` has phrases and words with what they are in English. Words that
may be several in English are what the graph has a name for; names are also looked for as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Final, cast

from mrag.language.english import is_empty, root, synonym_roots
from mrag.language.tokens import TextToken, bare, language_of, tokens
from mrag.planning.lexical import Candidate, NameMention, Way
from mrag.planning.lexical.schema_words import SchemaName
from mrag.planning.lexicon import Lexicon, best
from mrag.planning.reader.plain import PlainEnglish
from mrag.planning.reader.units import quoted_in

FOLDER: Final = Path(__file__).with_name("languages")  # Where the tables are
LANGUAGES: Final = frozenset(path.stem for path in FOLDER.glob("*.tsv"))  # The languages that have a table
_LONGEST: Final = 6  # Words of a phrase at most
_OTHERS: Final = 4  # Other meanings of a word that are looked for at most
_SHORTEST: Final = 3  # Letters of a part of a compound, or of a word without its ending, at least
_ALIKE: Final = 0.8  # How like words of two languages are that are one word
_WHOLE: Final = ("exact", "inflected")
_SOUNDS: Final = str.maketrans({"k": "c", "z": "c", "y": "i", "j": "i", "v": "f", "w": "v"})

Ending = tuple[str, str]


@dataclass(frozen=True)
class LanguageTable:
    """What is said of a language."""

    name: str  # Its tag
    # What phrases are in English, by their words; a comma before them belongs to the first, "*" is a word, or
    # two, that are glossed by themselves, and "#" a number behind them, which is so too
    phrases: Mapping[tuple[str, ...], str]
    # What words may be in English, likeliest first, by what is left of them without accents
    words: Mapping[str, tuple[str, ...]]
    # Endings of forms, and what stands in the place of each in the form that is listed
    endings: tuple[Ending, ...]
    # The same of parts of compounds before others; without any, there are no compounds
    links: tuple[Ending, ...]
    prefixes: tuple[str, ...]  # What may stand before a form
    elided: frozenset[str]  # Short words that stand before an apostrophe
    comma: bool  # Whether a comma begins the fraction of a number

    def meanings(self, word: str, more: Sequence[Ending] = ()) -> tuple[str, ...]:
        """Return what a word may be in English, by itself or without an ending; () if it is not listed."""
        key = bare(word)
        begins = (key, *(key.removeprefix(p) for p in self.prefixes if key.startswith(p)))
        for form in begins:
            for ending, instead in (("", ""), *more, *self.endings):
                if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST:
                    found = self.words.get(form[: len(form) - len(ending)] + instead)
                    if found:
                        return found
        return self.words.get(key, ())

    def stem(self, word: str) -> str:
        """Return a word without accents and the longest ending."""
        key = bare(word)
        cut = max((len(e) for e, _ in self.endings if key.endswith(e) and len(key) - len(e) > 3), default=0)
        return key[: len(key) - cut]


@cache
def table_of(language: str) -> LanguageTable:
    """Return what is said of a language."""
    said: dict[str, list[str]] = {}
    phrases, words = dict[tuple[str, ...], str](), dict[str, dict[str, None]]()
    part = ""
    for line in (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("\t")
        forms = rest.split("|") if rest else []
        if line[:1] == "#":
            part = line[2:]
        elif line[:1] == "@":
            said[name[1:]] = forms
        elif part == "phrases":
            for form in forms:
                phrases.setdefault(_key(form), name)
        else:
            for form in forms:
                if len(key := _key(form)) > 1:
                    phrases.setdefault(key, name)
                else:
                    words.setdefault(bare(form), {})[name] = None

    def endings(name: str) -> tuple[Ending, ...]:
        return tuple((e.partition(">")[0], e.partition(">")[2]) for e in said.get(name, ()))

    return LanguageTable(
        language, phrases, {word: tuple(meanings) for word, meanings in words.items()}, endings("endings"),
        endings("links"), tuple(said.get("prefixes", ())), frozenset(said.get("elisions", ())),
        "," in said.get("decimal", ()),
    )  # fmt: skip


def _key(phrase: str) -> tuple[str, ...]:
    words = [w for part in phrase.split(" * ") for w in (*(t.raw.lower() for t in tokens(part)), "*")][:-1]
    words += ["#"] * phrase.endswith("#")
    return ("," + words[0], *words[1:]) if phrase[:1] == "," else tuple(words)


@dataclass(frozen=True)
class Gloss:
    """A question with English words in the place of its own."""

    language: str  # The language of the question; "" of English
    text: str  # The gloss
    words: tuple[TextToken, ...]  # Its words
    # For each of them, which words of the question it stands for: the first, and behind the last
    origins: tuple[tuple[int, int], ...] = ()
    names: tuple[NameMention, ...] | None = None  # What they may name


class Glosses:
    """Glosses questions over one graph.

    Args:
        lexicon: The names of the graph, which tell what words are to be in English.

    Example:
        >>> import mrag
        >>> from mrag.planning.lexicon import lexicon_of
        >>> kg = mrag.demo(model="none")
        >>> Glosses(lexicon_of(kg, None)).of("Wie viele Produkte hat Ontotext?").text
        'how many products has Ontotext?'
        >>> kg.close()
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self._plain = lexicon, PlainEnglish(lexicon)
        self._named: dict[str, _NamedWords] = {}

    def of(self, question: str) -> Gloss:
        """Return the gloss of a question; of one in English, or without a table, as it is read."""
        language = language_of(question)
        if language not in LANGUAGES:
            text, origins = self._plain.of(question)
            return Gloss("", text, tuple(tokens(text)), origins)
        if language not in self._named:
            self._named[language] = _NamedWords(self.lexicon, table_of(language))
        return _Glossing(self._named[language], question).gloss()


class _NamedWords:
    """The words of the names of classes and properties, as words of another language."""

    def __init__(self, lexicon: Lexicon, table: LanguageTable) -> None:
        self.lexicon, self.table = lexicon, table
        self.words = frozenset(w.lower() for name in lexicon.words.names for w in name.name.split())
        self.stems = frozenset(map(table.stem, self.words))
        self.names: dict[str, list[tuple[tuple[str, ...], SchemaName]]] = {}
        for name in lexicon.words.names:
            low = name.name.lower().split()
            stems = tuple(table.stem(w) for w in low if (w,) not in table.phrases)
            for stem in dict.fromkeys(stems):
                self.names.setdefault(stem, []).append((stems, name))

    def candidates(self, stems: tuple[str, ...]) -> Iterator[Candidate]:
        """Yield the classes and properties whose names have words with these stems."""
        for mine, name in self.names.get(stems[0], ()):
            score, way = 0.95, "inflected"
            if set(stems) < set(mine):
                score, way = 0.45 + 0.3 * len(stems) / len(mine) + 0.1 * (mine[-1] in stems), "tokens"
            elif mine != stems:
                continue
            yield Candidate(
                name.kind, name.term, round(score, 4), name.name, cast(Way, way), inverse=name.inverse
            )

    def cognates(self, word: str) -> tuple[str, ...]:
        """Return the words of names that are spelt like one of another language."""
        key = bare(word).translate(_SOUNDS)
        if len(key) < 4 or not key.isalpha():
            return ()
        found = []
        for name in self.words:
            other = bare(name).translate(_SOUNDS)
            if other[:1] == key[:1] and abs(len(other) - len(key)) < 4 and len(other) > 3:
                likeness = SequenceMatcher(None, key, other).ratio()
                if likeness >= _ALIKE:
                    found.append((-likeness, name))
        return tuple(name for _, name in sorted(found)[:2])


@dataclass(frozen=True)
class _Piece:
    """A word of a question, or a part of one: of which word, and what stands before and behind it."""

    raw: str
    at: int
    comma: bool
    after: str
    quoted: bool

    @property
    def low(self) -> str:
        return self.raw.lower().replace("\u2019", "'")


@dataclass(frozen=True)
class _Said:
    """Pieces with what they are in English, likeliest first; a phrase has one meaning."""

    first: int
    behind: int
    meanings: tuple[str, ...]
    word: str = ""


class _Glossing:
    """Glosses one question."""

    def __init__(self, named: _NamedWords, question: str) -> None:
        self.named, self.lexicon, self.table = named, named.lexicon, named.table
        self.question = question
        self.words = tokens(question)
        self.pieces = list(self._pieces())
        self.ends = dict[int, str]()

    def gloss(self) -> Gloss:
        text, spans = self.words[0].before if self.words else "", list[tuple[int, int]]()
        said = list(self._said())
        for one, next_ in zip(said, [*said[1:], None], strict=True):
            after = self.pieces[one.behind - 1].after
            word, start = _ordinal(one.meanings[0], after), len(text)
            text += word
            spans.append((start, len(text)))
            # Parts of a compound are words; a number in an order has no dot.
            inside = next_ is not None and next_.first == one.first
            text += " " if inside or word != one.meanings[0] else after
        words = tuple(tokens(text))
        owner = [next(n for n, (a, b) in enumerate(spans) if a <= w.start < b) for w in words]
        origins = tuple(
            (self.pieces[said[n].first].at, self.pieces[said[n].behind - 1].at + 1) for n in owner
        )
        names = self._names(text, words, [said[n] for n in owner], origins)
        return Gloss(self.table.name, text, words, origins, names)

    # Words

    def _pieces(self) -> Iterator[_Piece]:
        """Yield the words, those before an apostrophe by themselves."""
        quoted = quoted_in(self.question, self.words) | self._whole_names()
        before = ""
        for at, word in enumerate(self.words):
            comma, inside = before.rstrip().endswith(","), at in quoted
            head, apostrophe, rest = word.raw.replace("\u2019", "'").partition("'")
            if apostrophe and rest and head.lower() in self.table.elided and not inside:
                yield _Piece(head, at, comma, " ", False)
                yield _Piece(rest, at, False, word.after, False)
            else:
                yield _Piece(word.raw, at, comma, word.after, inside)
            before = word.after

    def _whole_names(self) -> frozenset[int]:
        """Return the words of names of several words, which are not put into English."""
        return frozenset(
            at
            for m in self.lexicon.match(self.words, self.question, meanings=False)
            for at in range(m.start, m.end)
            if m.end - m.start > 1
            and any(c.kind in ("entity", "value") and c.way == "exact" for c in m.candidates)
        )

    def _said(self) -> Iterator[_Said]:
        at = 0
        while at < len(self.pieces):
            for gap in (2, 3):
                self._open(at, gap)
            if (end := self.ends.get(at)) is not None:
                yield _Said(at, at + 1, (end,))
                at += 1
                continue
            size, phrase = self._phrase(at)
            if phrase is not None:
                yield _Said(at, at + size, (phrase,))
            else:
                yield from self._word(at)
            at += size

    def _open(self, at: int, gap: int) -> None:
        """Note what the end of a phrase is that begins here and has other words inside."""
        if at + gap < len(self.pieces):
            key = (self.pieces[at].low, "*", self.pieces[at + gap].low)
            if (gloss := self.table.phrases.get(key)) is not None:
                self.ends[at], _, self.ends[at + gap] = gloss.partition(" * ")

    def _phrase(self, at: int) -> tuple[int, str | None]:
        """Return how many pieces the longest phrase at a place has, and what it is in English; else None."""
        for size in range(min(len(self.pieces) - at, _LONGEST), 0, -1):
            if (found := self._phrase_at(at, size)) is not None:
                return size, found
        return 1, None

    def _phrase_at(self, at: int, size: int) -> str | None:
        some = self.pieces[at : at + size]
        key = tuple(p.low for p in some)
        inside = any(p.quoted or (n and p.comma) for n, p in enumerate(some))
        if inside:
            return None
        behind = self.pieces[at + size].raw if at + size < len(self.pieces) else ""
        keys = [("," + key[0], *key[1:])] * some[0].comma + [(*key, "#")] * behind[:1].isdigit() + [key]
        return next((self.table.phrases[k] for k in keys if k in self.table.phrases), None)

    def _word(self, at: int) -> Iterator[_Said]:
        """Yield a word with what it may be, or the parts of a compound."""
        piece = self.pieces[at]
        if piece.quoted:
            yield _Said(at, at + 1, (piece.raw, *self.table.meanings(piece.low)), piece.low)
            return
        if number := self._number(piece.raw):
            yield _Said(at, at + 1, (number,))
            return
        meanings = self._meanings(piece.low)
        parts = self._parts(piece.low) if not meanings and piece.low not in self.named.words else []
        if parts:
            for part in parts:
                yield _Said(at, at + 1, self._meanings(part, self.table.links) or (part,), part)
        else:
            own = () if meanings or piece.low in self.named.words else self.named.cognates(piece.low)
            yield _Said(at, at + 1, meanings or own or (piece.raw,), piece.low)

    def _number(self, text: str) -> str:
        if not self.table.comma or not text[:1].isdigit():
            return ""
        whole, _, fraction = text.partition(",")
        plain = "".join(whole.split("."))
        grouped = "." in whole and all(len(g) == 3 for g in whole.split(".")[1:])
        if not plain.isdigit() or not (grouped or fraction) or ("," in text and not 0 < len(fraction) < 3):
            return ""
        return f"{plain if grouped else whole}.{fraction}" if fraction else plain

    def _meanings(self, word: str, more: Sequence[Ending] = ()) -> tuple[str, ...]:
        """Return what a word may be in English, what the graph has names for first."""
        return tuple(sorted(self.table.meanings(word, more), key=self._rank))

    def _rank(self, meaning: str) -> int:
        roots = [root(w) for w in meaning.split() if not is_empty(w)]
        words = self.lexicon.words
        if words.names_by(tuple(roots)):
            return 0
        if all(map(words.knows, roots)):
            return 1
        return 2 if any(any(map(words.knows, synonym_roots().get(r, ()))) for r in roots) else 3

    def _parts(self, word: str) -> list[str]:
        """Return the words that a compound is made of, as few and as long as can be; [] if of none."""
        if not self.table.links or not word.isalpha():
            return []
        found: list[tuple[tuple[int, int], list[str]]] = []
        for cut in range(_SHORTEST, len(word) - _SHORTEST + 1):
            head, rest = word[:cut], word[cut:]
            if not self._is_known(rest):
                continue
            parts = [head] if self._is_known(head, self.table.links) else self._parts(head)
            if parts:
                found.append(((len(parts), -min(len(p) for p in (*parts, rest))), [*parts, rest]))
        return min(found)[1] if found else []

    def _is_known(self, part: str, more: Sequence[Ending] = ()) -> bool:
        return bool(self.table.meanings(part, more)) or self.table.stem(part) in self.named.stems

    # Names

    def _names(
        self,
        text: str,
        words: Sequence[TextToken],
        said: Sequence[_Said],
        origins: Sequence[tuple[int, int]],
    ) -> tuple[NameMention, ...]:
        """Return what the words of a gloss may name: by it, by other meanings, and as the question has it."""
        found: dict[tuple[int, int], list[Candidate]] = {}
        for m in self.lexicon.match(words, text):
            found.setdefault((m.start, m.end), []).extend(m.candidates)
        for at, one in enumerate(said):
            if at == 0 or said[at - 1] is not one:
                for span, candidate in self._otherwise(words, said, at):
                    found.setdefault(span, []).append(candidate)
        known = {n for n, one in enumerate(said) if one.word and one.meanings[0].lower() != one.word}
        free = {n for n, one in enumerate(said) if not one.word}
        for m in self.lexicon.match(self.words, self.question, meanings=False):
            inside = [n for n, (a, b) in enumerate(origins) if a < m.end and m.start < b]
            if not inside or free.issuperset(inside):
                continue
            some = (c for c in m.candidates if _stands(c, known.isdisjoint(inside)))
            found.setdefault((inside[0], inside[-1] + 1), []).extend(some)
        for span, candidate in (*self._own(said), *self._quoted(said)):
            found.setdefault(span, []).append(candidate)
        return tuple(NameMention(*span, best(some)) for span, some in sorted(found.items()) if some)

    def _otherwise(
        self, words: Sequence[TextToken], said: Sequence[_Said], at: int
    ) -> Iterator[tuple[tuple[int, int], Candidate]]:
        """Yield what a word names by its other meanings, alone and with the words beside it."""
        one = said[at]
        end = next((n for n in range(at, len(said)) if said[n] is not one), len(said))
        for meaning in one.meanings[1 : 1 + _OTHERS]:
            instead = tokens(meaning)
            for start, stop in ((at, end), (max(0, at - 1), end), (at, min(len(words), end + 1))):
                span = [*words[start:at], *instead, *words[end:stop]]
                if (start, stop) == (at, end) or self._rank(meaning) < 3:
                    for c in self.lexicon.words.candidates(span):
                        yield (start, stop), replace(c, score=round(0.97 * c.score, 4))
            wholes = self.lexicon.matcher.candidates(instead, [(0, len(instead))])
            if any(c.way in _WHOLE for _, c in wholes):
                for m in self.lexicon.match(instead, meaning, meanings=False):
                    for c in m.candidates:
                        if c.way in _WHOLE and c.kind in ("entity", "value") and m.end == len(instead):
                            yield (at, end), replace(c, score=round(0.95 * c.score, 4))

    def _quoted(self, said: Sequence[_Said]) -> Iterator[tuple[tuple[int, int], Candidate]]:
        """Yield what several words in quotes name when they are put into English."""
        inside = [one.word != "" and self.pieces[one.first].quoted for one in said]
        for i in range(len(said)):
            if not inside[i] or (i and inside[i - 1]):
                continue
            j = next((n for n in range(i, len(said)) if not inside[n]), len(said))
            text = " ".join(one.meanings[-1 if len(one.meanings) < 2 else 1] for one in said[i:j])
            for m in self.lexicon.match(tokens(text), text, meanings=False) if j - i > 1 else ():
                for c in m.candidates:
                    if (m.start, m.end) == (0, j - i) and c.way in _WHOLE and c.kind in ("entity", "value"):
                        yield (i, j), replace(c, score=round(0.95 * c.score, 4))

    def _own(self, said: Sequence[_Said]) -> Iterator[tuple[tuple[int, int], Candidate]]:
        """Yield the classes and properties that the graph has names for in the language of the question."""
        stems = [self.table.stem(one.word) if one.word.isalpha() else "" for one in said]
        for i in range(len(said)):
            for j in range(i + 1, min(len(said), i + 3) + 1):
                if not all(stems[i:j]) or any(said[n] is said[n + 1] for n in range(i, j - 1)):
                    break
                for candidate in self.named.candidates(tuple(stems[i:j])):
                    yield (i, j), candidate


def _ordinal(text: str, after: str) -> str:
    """Return a number as that of a place where a dot behind it says so: "3." before another word."""
    if not (text.isdigit() and len(text) < 3 and after.startswith(". ")):
        return text
    teen = text[:-1] == "1"
    return text + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th"))


def _stands(candidate: Candidate, unknown: bool) -> bool:
    """Return whether words name something as they stand, rather than by chance as words of English do."""
    if candidate.kind in ("entity", "value"):
        return unknown or candidate.way in _WHOLE
    return unknown
