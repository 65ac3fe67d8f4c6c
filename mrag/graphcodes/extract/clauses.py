"""From a parsed sentence to who does what to whom: rules over dependencies, without a model of their own."""

from __future__ import annotations

from typing import Final

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.nouns import Nouns
from mrag.graphcodes.extract.parsed import ParsedSentence
from mrag.graphcodes.extract.things import Kind, SentenceReading

_NO_CLAUSE: Final = frozenset(("aux", "auxpass", "amod", "compound", "case"))
_BARE: Final = frozenset(("acl", "conj", "ROOT", "ccomp", "dep", "advcl", "relcl"))
_PARTICIPLE: Final = ("ed", "en", "t", "ung", "ound", "uck", "awn", "own")
_PLACING: Final = frozenset(("next", "close", "full"))


def read(sentence: ParsedSentence) -> SentenceReading:
    """Read a parsed sentence.

    Example:
        >>> from mrag.graphcodes.extract.parsed import ParsedWord
        >>> man = ParsedWord("man", "man", "NN", "nsubj", 1)
        >>> rides = ParsedWord("rides", "ride", "VBZ", "ROOT", 1)
        >>> read(ParsedSentence([man, rides, ParsedWord("bikes", "bike", "NNS", "dobj", 1)])).relations
        [ThingRelation(subject=0, words='ride', kind='verb', object=2)]
    """
    return _Clauses(sentence).read()


class _Clauses(Nouns):
    def read(self) -> SentenceReading:
        self.found.things += [at for at in range(len(self.s)) if self.is_thing(at)]
        for at in self.found.things:
            self.noun(at)
        for at, word in enumerate(self.s.words):
            if word.lemma == "be" or (word.verb and word.dep not in _NO_CLAUSE):
                self.verb(at)
        return self.found

    def verb(self, at: int) -> None:
        s, word = self.s, self.s[at]
        if self.negated(at):
            return
        subjects = self.subjects(at)
        lemma = lexicon.LEMMAS.get(word.lemma, word.lemma)
        if lemma == "be":
            self._be(at, subjects)
            return
        particles = [
            s[p].text for p in s.children(at, "prt") if (lemma, s[p].text) not in lexicon.IDLE_PARTICLES
        ]
        words = " ".join([lemma, *particles])
        objects = [o for child in s.children(at, "dobj", "dative") for o in self.named(child)]
        said = self._objects(at, words, subjects, objects)
        passive = self._passive(at, lemma)
        for prep in self.leading(at) + s.children(at, "agent"):
            back = self.pointing_back(prep)
            for subject in subjects:
                if back is None:
                    break
                kind: Kind = "passive" if passive else "verb"
                self.relation(subject, f"{words} {lexicon.preposition(s[prep].text)}", kind, back)
                said = True
            for where, other in self.places(prep):
                said |= self._placed_by(lemma, words, where, other, subjects, objects, passive)
        if word.dep == "relcl" and not objects and s[word.head].noun:
            said |= self._gap(at, subjects, words, self.meant(word.head))
        elif not objects and not said and (first := self.fronted(at)) is not None:
            said = self._gap(at, subjects, words, first)
        chained = any(s[c].verb for c in s.children(at, "xcomp"))
        if not said and not chained and word.tag in ("VBG", "VBN"):
            for subject in subjects:
                if subject != at:
                    self.attribute(subject, " ".join([word.text, *particles]))

    def _objects(self, at: int, words: str, subjects: list[int], objects: list[int]) -> bool:
        said = False
        each_other = any(self.is_other(child) for child in self.s.children(at, "dobj"))
        for subject in subjects:
            if each_other:
                partner = next((other for other in subjects if other != subject), -subject - 1)
                self.relation(subject, words, "verb", partner)
                said = True
            for other in objects:
                if words != "have" or not self.turned(other):
                    self.relation(subject, words, "verb", other)
                    said = True
        return said

    def _placed_by(
        self,
        lemma: str,
        words: str,
        where: str,
        other: int,
        subjects: list[int],
        objects: list[int],
        passive: bool,
    ) -> bool:
        """Read a preposition of a verb; tell whether it says something of the subject."""
        if passive and (where == "by" or (lemma in lexicon.COVERING and where in ("with", "in"))):
            for subject in subjects:
                self.relation(other, lemma, "verb", subject)
        elif where == "in" and other >= 0 and self.s[other].text in lexicon.CLOTHES:
            for subject in subjects:
                self.relation(subject, "wear", "verb", other)
            return lemma == "dress" and bool(subjects)
        elif not passive and self._by_hand(where, other, objects):
            for subject in subjects:
                self.relation(subject, f"{words} {where}", "verb", other)
        elif objects and not passive:
            for subject in objects:
                self.relation(subject, where, "preposition", other)
            return False
        else:
            for subject in subjects:
                self.relation(subject, f"{words} {where}", "passive" if passive else "verb", other)
        return bool(subjects)

    def _by_hand(self, where: str, other: int, objects: list[int]) -> bool:
        """Return whether a verb is done `with both hands`, which are not its object's."""
        body = where == "with" and other >= 0 and self.s[other].text in lexicon.BODY
        return body and bool(objects) and not any(self.s[o].text in lexicon.ANIMATE for o in objects)

    def _passive(self, at: int, lemma: str) -> bool:
        s, word = self.s, self.s[at]
        if lemma in lexicon.POSTURES:
            return False
        if s.children(at, "nsubjpass", "auxpass"):
            return True
        # A participle without an auxiliary, `boat tied to a dock`, is often tagged as a past tense.
        bare = word.tag in ("VBN", "VBD") and word.text.endswith(_PARTICIPLE) and word.dep in _BARE
        return bare and not s.children(at, "aux", "dobj")

    def _gap(self, at: int, subjects: list[int], words: str, antecedent: int) -> bool:
        """Read a clause whose object stands before it: the chair that the man sits on."""
        s = self.s
        if antecedent in subjects or not subjects:
            return False
        stranded = [s[p].text for p in s.children(at, "prep") if not s.children(p)]
        if s.children(at, "prep") and not stranded:
            return False
        for subject in subjects:
            self.relation(subject, " ".join([words, *stranded]), "verb", antecedent)
        return True

    def _be(self, at: int, subjects: list[int]) -> None:
        s = self.s
        first = self.fronted(at)
        for subject in subjects:
            for prep in s.children(at, "prep", "prt") if first is not None and first != subject else []:
                if not s.children(prep) and first is not None:
                    self.relation(subject, lexicon.preposition(s[prep].text), "preposition", first)
            for child in s.children(at, "acomp", "oprd"):
                if s[child].text == "about":
                    continue
                placing = s[child].text in _PLACING and s.children(child, "prep")
                for quality in [] if placing else [child, *self.further(child)]:
                    self.attribute(subject, self.quality(quality))
                for prep in s.children(child, "prep"):
                    for words, other in self.places(prep, s[child].text):
                        self.relation(subject, words, "preposition", other)
            for child in s.children(at, "attr") if not s.children(at, "expl") else ():
                if self.meant(child) != subject and s[child].noun:
                    self.attribute(subject, s[child].text)
                elif s[child].tag.startswith(("JJ", "CD")):
                    self.attribute(subject, self.quality(child))
            for prep in self.leading(at):
                for words, other in self.places(prep):
                    self.relation(subject, words, "preposition", other)
