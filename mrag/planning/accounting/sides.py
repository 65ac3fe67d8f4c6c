"""A question and a plan side by side: the words of the one, and the names of what the other uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdflib import RDF, Literal

from mrag.context.display import Display
from mrag.planning.accounting.used import PlanUse
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.synonyms import CONVERSES, DIMENSIONS, positive, synonym_roots
from mrag.planning.lexical.words import root
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Pattern, Unknown
from mrag.text.tokens import TextToken, alike, stem, tokens, words_in

_NEAR: Final = 0.45
"""How near in meaning a word is to a name that stands for it, as a cosine."""
_LONG: Final = 12
"""Words of a name that are looked at; what is longer is a text."""


@dataclass(frozen=True)
class Gap:
    """What a question has and its plan has not, or the other way round.

    Attributes:
        words: Words of the question, or what the plan names.
        kind: What is missing, or what is there and not asked for.
    """

    words: str
    kind: str


class BothSides:
    """A question and a plan side by side.

    Args:
        question: The question.
        use: What the plan uses.
        lexicon: The names of the graph.
    """

    def __init__(self, question: str, use: PlanUse, lexicon: Lexicon) -> None:
        self.text, self.use, self.lexicon, self.schema = question, use, lexicon, lexicon.schema
        self.words: list[TextToken] = tokens(question)
        self.low = [w.raw.lower().removesuffix("'s").removesuffix("’s") for w in self.words]
        self.roots = [root(w) for w in self.low]

    def between(self, at: int) -> str:
        """Return what stands between a word and the one before it, without blanks."""
        before = self.words[at - 1].end if at else 0
        return self.text[before : self.words[at].start].strip()

    def named(self, iri: str) -> list[str]:
        """Return the names of a class or a property."""
        if (info := self.schema.properties.get(iri)) is not None:
            return [*info.names, *info.inverse_names]
        cls = self.schema.classes.get(iri)
        # What leads to a number that stands in a thing of its own is no property of the schema.
        return list(cls.names) if cls is not None else [Display(self.lexicon.kg).name(iri)]

    def roots_of(self, iris: Iterable[str]) -> set[str]:
        """Return the roots of the words by which classes and properties go."""
        return roots_in(name for iri in iris for name in self.named(iri))

    @cached_property
    def labels(self) -> list[str]:
        """Return the names of the things, and the texts, that the plan names."""
        show = Display(self.lexicon.kg)
        return [show.entity(thing) for thing in sorted(self.use.things)] + sorted(self.use.texts)

    @cached_property
    def kin(self) -> set[str]:
        """Return the classes of the plan, those that its relations tell, and those above them."""
        found = set(self.use.classes)
        for place in {
            x for p in self.use.patterns for x in (p.subject, p.object) if not isinstance(x, Literal)
        }:
            found |= self.use.kinds(place, self.schema)
        return found | {above for cls in found for above in self.schema.above(cls)}

    @cached_property
    def classless(self) -> bool:
        """Return whether the plan is about things of no known class."""
        properties = self.schema.properties
        linked = (p for p in self.use.patterns if str(p.predicate) in properties)
        nodes = {p.object for p in linked if properties[str(p.predicate)].kind == "entity"}
        nodes |= {p.subject for p in self.use.patterns}
        return any(isinstance(u, Unknown) and not self.use.kinds(u, self.schema) for u in nodes)

    @cached_property
    def own(self) -> set[str]:
        """Return the roots of the names of the properties, the classes and the constants of the plan."""
        return self.roots_of({*self.use.properties, *self.use.classes}) | roots_in(self.labels)

    @cached_property
    def vocabulary(self) -> set[str]:
        """Return the roots of all words that the plan may be told in."""
        return self.own | self.roots_of(self.kin)

    @cached_property
    def everything(self) -> set[str]:
        """Return the roots of the names of all classes and properties of the graph."""
        return {own for name in self.lexicon.words.names for own in name.roots}

    def is_own(self, at: int) -> bool:
        """Return whether a word that may say how to compute is part of a name that the plan has."""
        return self.roots[at] in self.own

    def is_in(self, at: int, vocabulary: Set[str]) -> bool:
        """Return whether a word is one of some roots, is a form of one, or means the same."""
        word, own = self.low[at], self.roots[at]
        plain = positive(word)
        others = (
            *synonym_roots().get(own, ()),
            *(root(other) for other in CONVERSES.get(word, ())),
            *(root(noun) for noun in (DIMENSIONS[plain][1].split() if plain else ())),
        )
        if own in vocabulary or not vocabulary.isdisjoint(others):
            return True
        short = stem(word)
        return len(short) > 3 and any(alike(short, other) for other in vocabulary if other[:3] == short[:3])

    @cached_property
    def matches(self) -> list[NameMention]:
        """Return what the words may name in the graph."""
        return self.lexicon.match(self.words)

    def read_as(self, used: Set[str]) -> set[int]:
        """Return the places of words that name something of what is used."""
        lower = {text.lower() for text in self.use.texts & used}
        return {
            at
            for m in self.matches
            if any(c.term in used or c.term.lower() in lower for c in m.candidates)
            for at in range(m.start, m.end)
        }

    @cached_property
    def read(self) -> set[int]:
        """Return the places of words that name something that the plan uses."""
        use = self.use
        return self.read_as(use.properties | use.classes | self.kin | use.things | use.texts)

    def found(self, at: int) -> Iterator[Candidate]:
        """Yield what a word may name by itself."""
        return (c for m in self.matches if (m.start, m.end) == (at, at + 1) for c in m.candidates)

    def covering(self, at: int) -> Iterator[Candidate]:
        """Yield what a word may name by itself or together with those beside it."""
        return (c for m in self.matches if m.start <= at < m.end for c in m.candidates)

    def is_near(self, at: int) -> bool:
        """Return whether a word is near in meaning to a name that the plan has."""
        names = {n for iri in self.use.properties | self.use.classes for n in self.named(iri)[:2]}
        return any(self.lexicon.likeness(self.low[at], name) >= _NEAR for name in sorted(names))

    def is_false(self, pattern: Pattern) -> bool:
        """Return whether a triple says that a flag of a thing is off."""
        info = self.schema.properties.get(str(pattern.predicate))
        return info is not None and info.flag and pattern.object == info.truth_value(False)

    @cached_property
    def reasoned(self) -> bool:
        """Return whether the question names each relation of the plan, or what is at both of its ends."""
        said = set(self.roots) | {other for own in self.roots for other in synonym_roots().get(own, ())}
        for pattern in self.use.patterns:
            iri = str(pattern.predicate)
            if pattern.predicate == RDF.type or iri not in self.schema.properties:
                continue
            if self.roots_of([iri]) & said or self.read_as({iri}):
                continue
            ends = [x for x in (pattern.subject, pattern.object) if not isinstance(x, Literal)]
            if len(ends) < 2 or not all(self._is_said(end, said) for end in ends):
                return False
        return True

    def _is_said(self, end: object, said: Set[str]) -> bool:
        """Return whether the question names the kind of a thing, or it only stands between two others."""
        if self.roots_of(self.use.kinds(end, self.schema)) & said:
            return True
        links = [p for p in self.use.patterns if end in (p.subject, p.object) and p.predicate != RDF.type]
        return isinstance(end, Unknown) and len(links) > 1 and end not in self.use.shown


def roots_in(names: Iterable[str], most: int = _LONG) -> set[str]:
    """Return the roots of the first words of names; of short ones as one word too: "check in", "checkin"."""
    found = set[str]()
    for name in names:
        parts = [part.lower() for part in words_in(name)[:most]]
        found.update(map(root, parts))
        if 1 < len(parts) < 4:
            found.add(root("".join(parts)))
    return found
