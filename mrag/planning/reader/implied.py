"""Words that stand for something of a graph without its name: who, codes, "unplanned", what is still open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Final

from mrag.language.english import root
from mrag.language.tokens import AGENTS, PERSON_WORDS, TextToken, fold
from mrag.planning.lexical import Candidate
from mrag.planning.lexical.schema_words import CodeWords
from mrag.planning.lexicon import Lexicon
from mrag.planning.reader.units import Unit, is_free, meanings
from mrag.planning.schema import PropertyInfo

_MOST: Final = 6  # What such words stand for at most


_WHOLE: Final = 0.9  # How like its name words are that name a thing as a whole


@cache
def _asking_what() -> frozenset[tuple[str, ...]]:
    return frozenset(words for words, meant in meanings("words.tsv").items() if "asking what" in meant)


class ImpliedNames:
    """What words of a question stand for that name nothing.

    Args:
        lexicon: The names of the graph.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._schema = lexicon.schema
        self._codes = CodeWords(lexicon.schema, lexicon.matcher.things)

    @cached_property
    def people(self) -> tuple[Candidate, ...]:
        """The classes whose things are people, else those that do something, those with most things first."""
        classes = sorted(self._schema.classes.values(), key=lambda c: (-c.count, c.iri))
        heads = {
            c.iri: {fold(n.split()[-1]).removesuffix("s") for n in c.names if n.split()} for c in classes
        }
        having: dict[str, int] = {}
        for p in self._schema.properties.values():
            if _tells(p, "personal"):
                for cls, n in p.domains.items():
                    having[cls] = max(having.get(cls, 0), n)
        some = [c for c in classes if heads[c.iri] & PERSON_WORDS or having.get(c.iri, 0) * 2 > c.count]
        some = some or [c for c in classes if heads[c.iri] & AGENTS]
        return tuple(Candidate("class", c.iri, 0.9, c.names[0], "synonym") for c in some[:_MOST])

    @cached_property
    def things(self) -> tuple[Candidate, ...]:
        """The classes of the other things, those with most things first."""
        people = {c.term for c in self.people}
        classes = sorted(self._schema.classes.values(), key=lambda c: (-c.count, c.iri))
        some = (Candidate("class", c.iri, 0.9, c.names[0], "synonym") for c in classes if c.iri not in people)
        return tuple(some)[: 2 * _MOST]

    @cached_property
    def open(self) -> tuple[Candidate, ...]:
        """The dates that some things have and others not yet, those of an end first."""
        found, classes = list[Candidate](), self._schema.classes
        for iri, p in self._schema.properties.items():
            most = max((classes[c].count for c in p.domains if c in classes), default=0)
            if p.kind == "date" and p.subjects < most:
                score = 0.9 if _tells(p, "end") else 0.6
                found.append(Candidate("property", iri, score, p.names[0], "synonym"))
        return tuple(sorted(found, key=lambda c: (-c.score, c.term)))[:_MOST]

    @cached_property
    def amounts(self) -> tuple[Candidate, ...]:
        """Numbers that say how much there is of something."""
        some = (p for p in self._schema.properties.values() if p.kind == "number" and _tells(p, "amount"))
        found = (Candidate("property", p.iri, 0.9, p.names[0], "synonym") for p in some)
        return tuple(sorted(found, key=lambda c: c.term))[:_MOST]

    @cached_property
    def descriptions(self) -> tuple[Candidate, ...]:
        """What tells what a thing is."""
        some = (p for p in self._schema.properties.values() if p.kind == "text" and _tells(p, "what"))
        found = (Candidate("property", p.iri, 0.9, p.names[0], "synonym") for p in some)
        return tuple(sorted(found, key=lambda c: (_tells(self._schema.properties[c.term], "note"), c.term)))[
            :_MOST
        ]

    @cached_property
    def _flags(self) -> dict[str, tuple[Candidate, ...]]:
        """Flags by the roots of the words of their names."""
        found: dict[str, tuple[Candidate, ...]] = {}
        for iri, p in self._schema.properties.items():
            for r in {root(w) for n in p.names for w in n.lower().split()} if p.flag else ():
                found[r] = (*found.get(r, ()), Candidate("property", iri, 0.9, p.names[0], "inflected"))
        return found

    @cached_property
    def _unset(self) -> dict[str, tuple[Candidate, ...]]:
        """Flags by the roots of the words for what does not hold: "false for private persons"."""
        found: dict[str, tuple[Candidate, ...]] = {}
        for iri, p in self._schema.properties.items():
            parts = re.split(r"(?i)\bfalse\b|\b0\s*[=:]", p.comment) if p.flag else []
            told = {w for part in parts[1:] for w in re.findall(r"[a-z]{4,}", part.lower()) if not is_free(w)}
            for r in {root(w) for w in told}:
                found[r] = (*found.get(r, ()), Candidate("property", iri, 0.8, p.names[0], "synonym"))
        return found

    def units(self, words: Sequence[TextToken], low: Sequence[str], named: Sequence[Unit]) -> Iterator[Unit]:
        """Yield what words of a question stand for.

        Args:
            words: The words of the question.
            low: The same in lower case.
            named: What they name, and what cue words there are.
        """
        meant = {"who": self.people, "thing": self.things, "open": self.open, "amount": self.amounts}
        for u in (u for u in named if u.kind == "cue"):
            cue = "amount" if u.word in ("how many", "how much") else u.cue
            if some := meant.get(cue, ()):
                yield replace(
                    u, kind="class" if cue in ("who", "thing") else "property", cue=cue, options=some
                )
        ends = len(low) - (low[-1:] == ["?"])
        for u in named if self._schema.tree is not None and self.descriptions else ():
            # "What is filigree?": of a term nothing is asked but what it means.
            whole = u.kind == "entity" and u.score >= _WHOLE and u.start > 1 and u.end == ends
            if whole and tuple(low[: u.start]) in _asking_what():
                yield Unit("property", 0, u.start, self.descriptions, cue="what", score=0.8)
        for at, word in enumerate(low):
            if some := self._unset.get(root(word), ()):
                yield Unit("property", at, at + 1, some, cue="un", score=0.8)
            for size in (2, 3, 4):
                negates = len(word) > size + 2 and "un" in meanings("words.tsv").get((word[:size],), ())
                if negates and (some := self._flags.get(root(word[size:]), ())):
                    yield Unit("property", at, at + 1, some, cue="un", score=0.9)
        clear = [u for u in named if u.options and u.options[0].way in ("exact", "inflected")]
        exact = [
            u for u in clear if u.options[0].way == "exact" and (u.kind != "property" or u.end - u.start > 1)
        ]
        for m in self._codes.mentions(words, _places(clear), _places(exact)):
            yield Unit("value", m.start, m.end, m.candidates[:_MOST], score=m.candidates[0].score)


def _places(units: Sequence[Unit]) -> set[int]:
    return {at for u in units for at in range(u.start, u.end)}


def _tells(info: PropertyInfo, meaning: str) -> bool:
    """Return whether a word of the name of a property means something."""
    table = meanings("words.tsv")
    return any(meaning in table.get((w,), ()) for n in info.names for w in n.lower().split())
