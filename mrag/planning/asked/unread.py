"""Which words of a question its plan leaves unread."""

from __future__ import annotations

from dataclasses import dataclass

from rdflib import RDF

from mrag.language.tokens import alike, content
from mrag.planning.asked.verbs import MEASURING, PlanVerbs
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import root, synonym_roots
from mrag.planning.reading.frame import Noun
from mrag.planning.reading.periods import Word
from mrag.planning.reading.segmentation import meaningful

_PATHS = frozenset("through along across throughout around inside outside".split())
"""Prepositions that a relation has been found for."""
_ANY = frozenset("a an any some another".split())


@dataclass
class PlanUnread(PlanVerbs):
    """Which words of a question its plan leaves unread."""

    def _ignored(self) -> tuple[str, ...]:
        words = self.question.words
        unread = [i for i in self.segmentation.ignored if i not in self.frame.read]
        for noun in self.frame.nouns:
            unused = (
                not noun.role
                and not self._used(self.noun(noun))
                and (not self._beside(noun) or self._passed_over(noun))
            )
            if unused or self._other_word(noun):
                unread.extend(range(noun.start, noun.end))
        # A word that says nothing by itself is part of a longer name here: the graph of "graph databases".
        parts = {i for i in self.segmentation.ignored if not meaningful(words[i])} - self.frame.read
        named = {i for n in self.frame.nouns if n.candidates[0].score > 0.75 for i in range(n.start, n.end)}
        kept = (i for i in sorted({*unread, *parts}) if i in parts or self._matters(words[i], i, i in named))
        return tuple(words[i].low for i in kept)

    def _passed_over(self, noun: Noun) -> bool:
        """Return whether a property beside a name is in no triple of it: "the capital of Texas"."""
        found = self.noun(noun)
        info = self.schema.properties.get(found.term)
        named = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
        timed = info is not None and (info.kind == "date" or "year" in info.names[0].lower().split())
        if timed and len(named) == 1 and named[0] is not None:
            # "Built in Kiel" is no visit to Kiel, though the year in which things were built is known.
            return not self._used(found) and not self._told(noun)
        if info is None or info.kind not in ("entity", "text") or len(named) != 1 or named[0] is None:
            return False
        if self.question.low[noun.end - 1] == "by" and not self._used(found):
            return True  # who was "taught by" somebody may be advised by others
        compared = any(noun in (c.left, c.right) for c in self.frame.compared)
        if named[0].kind == "value" and found.kind == "property":
            return not compared and found.term not in named[0].properties
        ends = {*info.ranges} if found.kind == "property" else set()
        return not compared and named[0].kind == "entity" and not ends & set(named[0].classes)

    def _told(self, noun: Noun) -> bool:
        """Return whether a word of a noun, or one that means the same, is in the name of what is used."""
        said = {root(w) for w in self.question.low[noun.start : noun.end]}
        said |= {other for word in said for other in synonym_roots().get(word, ())}
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        return any(said & {root(w) for w in content(n)} for i in infos if i is not None for n in i.names)

    def _other_word(self, noun: Noun) -> bool:
        """Return whether a noun is only like a kind named before it: customers that made a purchase."""
        found, low = self.noun(noun), self.question.low
        if noun.role or (found.kind, found.way) != ("class", "synonym") or low[noun.start - 1] not in _ANY:
            return False
        earlier = [self.noun(n) for n in self.frame.nouns if n.end <= noun.start]
        exact = [e for e in earlier if e.kind == "property" and e.way == "exact"]
        return found.term in {e.term for e in earlier} or any(found.term in self._domains(e) for e in exact)

    def _used(self, found: Candidate) -> bool:
        """Return whether what a noun names is in the plan."""
        graph = self.graph
        if found.kind == "property":
            return found.term in graph.used or found.term in graph.read
        classes = {str(p.object) for p in graph.patterns if p.predicate == RDF.type}
        classes |= {str(p.object) for b in graph.without for p in b.patterns if p.predicate == RDF.type}
        return found.term in classes or any(found.term in node.classes for node in graph.nodes)

    def _matters(self, word: Word, at: int, named: bool) -> bool:
        if not meaningful(word):
            return False
        if word.low in MEASURING and self._measured_behind(at):
            return False
        # A word of a property that was used for a join is read.
        kinds = (name for info in self.schema.classes.values() for name in info.names)
        kind = any({*content(name)} == {word.stem} for name in kinds)
        for iri in (*self.graph.used, *self.graph.read):
            info = self.schema.properties.get(iri)
            # What a comment mentions says nothing of the things that are asked for.
            texts = () if info is None else info.names if kind else (*info.names, info.comment)
            if any(alike(word.stem, w) for text in texts for w in content(text)):
                return False
        if self._verb_of_used(word, at) or self._supports(at):
            return False
        if not named and self._happened(at):
            self.guesses += 0.5
            return False
        related = self.graph.used or self.graph.read
        if related and word.low in _PATHS:
            return False
        if related and not named and self._only_relates(word):
            self.guesses += 1
            return False
        return True
