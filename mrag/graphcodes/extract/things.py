"""What a sentence is about: things, who does what, and where prepositions lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.parsed import ParsedSentence

Kind: TypeAlias = Literal["verb", "passive", "preposition"]

EACH_OTHER: Final = -(10**6)
"""Stands for `each other` until the subject is known."""

_SUBJECTS: Final = ("nsubj", "nsubjpass", "csubj")
_INHERITS: Final = frozenset(("xcomp", "conj", "advcl", "ccomp", "dep"))
_RELATIVES: Final = frozenset(("that", "which", "who", "whom"))
_POINTERS: Final = frozenset(("this", "these", "there", "that", "those"))
_NO_THING: Final = frozenset(("compound", "nmod", "npadvmod", "amod", "prep", "advmod", "nummod"))
_NOBODY: Final = frozenset("nobody nothing none noone".split())
_NONE: Final = frozenset("no neither nor".split())
_NOT: Final = frozenset("not n't never neither nor".split())
_LACKING: Final = frozenset("without minus sans".split())
_KNOWN: Final = frozenset("the this that these those".split())
_ONE: Final = frozenset("a an some".split())
_ADVERBS: Final = frozenset("up out down away back over off".split())
_PEOPLE: Final = frozenset("he she they".split())
_REFLEXIVE: Final = frozenset("himself herself itself themselves".split())
_STRANDED: Final = frozenset("on in off through under at down".split())


@dataclass(frozen=True, slots=True)
class ThingRelation:
    """A relation between two mentions.

    Attributes:
        subject: Position of the subject's head word.
        words: The relation without its voice, such as `sit on`.
        kind: Whether a verb in the active or the passive says it, or a preposition alone.
        object: Position of the object's head word; -n stands for another thing like the one at n - 1, as in
            `two dogs near each other`.
    """

    subject: int
    words: str
    kind: Kind
    object: int


@dataclass
class SentenceReading:
    """What a sentence says.

    Attributes:
        things: Position of each thing's head word, in order of mention.
        attributes: Things with what is said of them.
        parts: Things with a part that only an adjective names, and how it is: a red-haired girl.
        relations: The relations, in the order in which they were found.
        spoken_for: Nouns before another noun that are things of their own, as `dog` in `dog ear`.
        pointers: Positions of `it` where it stands for what the sentence before spoke of.
    """

    things: list[int] = field(default_factory=list)
    attributes: list[tuple[int, str]] = field(default_factory=list)
    parts: list[tuple[int, str, str]] = field(default_factory=list)
    relations: list[ThingRelation] = field(default_factory=list)
    spoken_for: set[int] = field(default_factory=set)
    pointers: set[int] = field(default_factory=set)


class Things:
    """Finds things, subjects and the objects of prepositions in one sentence.

    Args:
        sentence: The sentence.
    """

    def __init__(self, sentence: ParsedSentence) -> None:
        self.s = sentence
        self.found = SentenceReading()
        self._said: set[tuple[int, str, int]] = set()

    def is_thing(self, at: int) -> bool:
        """Return whether a word names a thing that the sentence says to be there."""
        word = self.s[at]
        if not word.noun or word.dep in _NO_THING:
            return False
        return not self.is_denied(at) and not self.is_place(at) and self.meant(at) == at

    def is_denied(self, at: int) -> bool:
        """Return whether a noun says what is not there: no birds, without a hat, not wearing a hat."""
        s, word = self.s, self.s[at]
        if word.text in _NOBODY or any(s[c].text in _NONE for c in s.children(at, "det", "preconj", "cc")):
            return True
        head = s[word.head]
        known = any(s[c].text in _KNOWN or s[c].tag == "PRP$" for c in s.children(at, "det", "poss"))
        if word.dep == "conj" and head.noun:
            turned = any(s[c].text == "but" for c in s.children(word.head, "cc"))
            nor = any(s[c].text == "nor" for c in s.children(word.head, "cc"))
            own = known or any(s[c].text in _ONE for c in s.children(at, "det"))
            return (nor or not own) and not turned and self.is_denied(word.head)
        if word.dep == "pobj":
            return head.text in _LACKING and not known
        return word.dep in ("dobj", "attr") and head.verb and not known and self.negated(word.head)

    def negated(self, at: int) -> bool:
        """Return whether a verb is denied: `is not`, `never`."""
        return any(self.s[c].text in _NOT for c in self.s.children(at, "neg", "advmod", "preconj"))

    def is_place(self, at: int) -> bool:
        """Return whether a noun belongs to a preposition, as `side` in `on the side of`."""
        word = self.s[at]
        return word.text in lexicon.PARTS and word.dep == "pobj" and not self.s.children(at, "poss")

    def meant(self, at: int) -> int:
        """Return the thing that a measure measures: for `bunch of bananas`, the bananas."""
        if self.s[at].lemma in lexicon.MEASURES:
            for prep in self.s.children(at, "prep"):
                if self.s[prep].text == "of":
                    for child in self.s.children(prep, "pobj"):
                        if self.s[child].noun:
                            return self.meant(child)
        return at

    def named(self, at: int) -> list[int]:
        """Return a noun with those that are listed after it, each as what it means."""
        word = self.s[at]
        found = []
        if word.noun and not self.is_place(at) and not self.is_denied(at):
            found.append(self.meant(at))
        elif word.tag == "PRP" and lexicon.PRONOUNS.get(word.text):
            found.append(at)
        for child in self.s.children(at, "conj"):
            if self.s[child].noun:
                found += self.named(child)
        return found

    def listed_before(self, at: int) -> list[int]:
        """Return a noun with the nouns before it in the same list."""
        found = [self.meant(at)]
        word = self.s[at]
        while word.dep == "conj" and self.s[word.head].noun:
            found.append(self.meant(word.head))
            word = self.s[word.head]
        return found

    def subjects(self, at: int, seen: frozenset[int] = frozenset()) -> list[int]:
        """Return who does what a verb says, from the verb itself or from what it hangs on."""
        s, word = self.s, self.s[at]
        if at in seen:
            return []
        own = s.children(at, *_SUBJECTS)
        if len(own) > 1 and s[own[-1]].noun:
            return self.named(own[-1])
        if own:
            who = s[own[0]]
            if who.text in _RELATIVES and word.dep == "relcl":
                return self.listed_before(self.doer(at, who.text) if s[word.head].noun else word.head)
            if who.text in _POINTERS and not who.noun:
                return [m for a in s.children(at, "attr") for m in self.named(a)]
            if who.text in _PEOPLE:
                spoken_of = [m for m in self.found.things if m < own[0] and s[m].text in lexicon.ANIMATE]
                return spoken_of if len(spoken_of) == 1 else self.named(own[0])
            if who.text == "it":
                before = [m for m in self.found.things if m < own[0]][:1]
                self.found.pointers |= set() if before else {own[0]}
                return before or own[:1]
            return self.named(own[0])
        if word.dep in ("acl", "relcl"):
            if not s[word.head].noun:
                return []
            doer = self.doer(at)
            return [*self.listed_before(doer), *(m for m in self.named(doer)[1:] if m < at)]
        if word.dep in _INHERITS and s[word.head].verb:
            return self.subjects(word.head, seen | {at})
        if word.dep == "pcomp":
            above = s[word.head].head
            if s[above].verb:
                return self.subjects(above, seen | {at})
            return self.listed_before(above) if s[above].noun else []
        if s.children(at, "expl"):
            return [m for a in s.children(at, "attr") for m in self.named(a)]
        return []

    def doer(self, at: int, relative: str = "") -> int:
        """Return the noun that a clause after it is about: who walks is the woman with a cane, not the cane.

        Args:
            at: Position of the clause's verb.
            relative: The relative pronoun, if the clause has one.
        """
        s, here = self.s, self.s[at].head
        while s[at].tag == "VBG" and s[here].dep == "conj" and s[here].text not in lexicon.ANIMATE:
            if not s[s[here].head].noun:
                break
            here = s[here].head
        if (relative != "who" and s[at].tag != "VBG") or s[here].text in lexicon.ANIMATE:
            return here
        if not relative and s[here].text in lexicon.BODY:
            return here
        if s[at - 1].text in _REFLEXIVE and s[s[here].head].verb:
            # Who takes a picture of himself eating, eats.
            return next(iter(self.subjects(s[here].head)), here)
        if s[here].dep == "dobj" and s[here].text in lexicon.CLOTHES and s[s[here].head].verb:
            # Who wears red shoes and walks, not the shoes.
            return next((m for m in self.subjects(s[here].head) if s[m].text in lexicon.ANIMATE), here)
        above, prep = here, s[here].head
        while s[above].dep == "pobj" and s[prep].dep == "prep" and above < at:
            above = s[prep].head
            if s[prep].text == "of" and (s[above].dep != "pobj" or s[above].lemma in lexicon.MEASURES):
                break
            prep = s[above].head
            if s[above].text in lexicon.ANIMATE:
                return above
        if s[here].text in lexicon.PLACES and s[above].verb and above != at and s.children(at, "dobj"):
            # Who walks in a square carrying a bag, carries it.
            return next((m for m in self.subjects(above) if s[m].text in lexicon.ANIMATE), here)
        return here

    def fronted(self, at: int) -> int | None:
        """Return an object that comes first: `street the bus is driving down`, `couch man is sitting on`."""
        s = self.s
        own = s.children(at, *_SUBJECTS)
        if not own or not s[own[0]].noun:
            return None
        if len(own) > 1:
            return self.meant(own[0])
        stranded = [p for p in s.children(at, "prep") if not s.children(p)]
        stranded += [p for p in s.children(at, "prt") if s[p].text in _STRANDED]
        before = [c for c in s.children(own[0], "compound") if s[c].noun and c == own[0] - 1]
        if stranded and before:
            self.found.spoken_for.add(before[0])
            return before[0]
        return None

    # -- prepositions ------------------------------------------------------------------------------

    def leading(self, at: int) -> list[int]:
        """Return the prepositions of a word, with adverbs that begin one, as `next` in `next to`."""
        s, found = self.s, self.s.children(at, "prep")
        for child in s.children(at, "advmod", *(("prt",) if s[at].noun else ())):
            # The planes up in the sky are in the sky.
            inner = s.children(child, "prep")
            plain = s[at].noun and s[child].text in _ADVERBS
            found += inner if plain else [child] if inner and s[child].dep == "advmod" else []
        return found

    def places(self, prep: int, before: str = "") -> Iterator[tuple[str, int]]:
        """Yield the words of a preposition with each object that it leads to."""
        s = self.s
        words = f"{before} {s[prep].text}".strip()
        for child in s.children(prep, "prep"):
            yield from self.places(child, words)
        for child in s.children(prep, "pobj"):
            if self.is_place(child):
                yield from self._through_place(words, child)
            elif self.is_other(child):
                yield lexicon.preposition(words), EACH_OTHER
            else:
                for other in self.named(child):
                    yield lexicon.preposition(words), other

    def _through_place(self, words: str, place: int) -> Iterator[tuple[str, int]]:
        s = self.s
        onward = [p for p in s.children(place, "prep") if s[p].text in ("of", "to")]
        side = [s[m].text for m in s.children(place, "amod", "compound") if s[m].text != "very"]
        for prep in s.children(place, "prep"):
            yield from self.places(prep, " ".join([words, *side, s[place].text]) if prep in onward else "")
        if not onward and s[place].text not in ("front", "top", "inside", "outside"):
            # On the left, in the middle: the place stands for itself.
            yield lexicon.preposition(words), place

    def is_other(self, at: int) -> bool:
        """Return whether a word is `each other`, `one another`, `another` or `the other`."""
        word = self.s[at]
        if word.text in ("eachother", "another", "one"):
            return True
        around = {self.s[c].text for c in self.s.children(at)}
        return word.text == "other" and (not word.noun or bool(around & {"each", "the"}))

    # -- collecting --------------------------------------------------------------------------------

    def attribute(self, at: int, words: str) -> None:
        """Note what is said of a thing; nothing, once."""
        if words and (at, words) not in self.found.attributes:
            self.found.attributes.append((at, words))

    def relation(self, subject: int, words: str, kind: Kind, other: int) -> None:
        """Note a relation, once."""
        if subject < 0:  # `by each other`
            return
        if other == EACH_OTHER:
            word = self.s[subject]
            if word.dep == "conj" and self.s[word.head].noun:
                return
            partners = [c for c in self.s.children(subject, "conj") if self.s[c].noun]
            other = self.meant(partners[0]) if partners else -subject - 1
        if subject != other and (subject, words, other) not in self._said:
            self._said.add((subject, words, other))
            self.found.relations.append(ThingRelation(subject, words, kind, other))
