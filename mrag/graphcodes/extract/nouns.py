"""What nouns say: adjectives, numbers, owners, parts, and the prepositions after them."""

from __future__ import annotations

from typing import Final

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.things import EACH_OTHER, Things

_BACK: Final = frozenset(("it", "them", "him", "her"))
_COVERED: Final = frozenset("covered capped coated topped lined".split())
_QUALIFIED: Final = frozenset("colored coloured shaped sized looking".split())


class Nouns(Things):
    """Reads noun phrases."""

    def noun(self, at: int) -> None:
        """Read what is said with a thing's name."""
        heads = [at]
        heads += [m for m in range(len(self.s)) if m != at and self.s[m].noun and self.meant(m) == at]
        for head in heads:
            self._modifiers(head, at)
            if head != at:
                self.attribute(at, lexicon.SAID_MEASURES.get(self.s[head].lemma, ""))
        for head in heads:
            for prep in self.leading(head):
                self._prepositions(head, prep, at)

    def _prepositions(self, head: int, prep: int, at: int) -> None:
        back = self.pointing_back(prep)
        if back is not None:
            self.relation(at, lexicon.preposition(self.s[prep].text), "preposition", back)
            return
        for words, other in self.places(prep):
            if words == "of" and head != at:
                continue
            if words in ("with", "of") and other >= 0 and self.turned(other):
                continue
            for subject in self._sharing(head, prep, at):
                self._placed(subject, words, other)

    def _placed(self, subject: int, words: str, other: int) -> None:
        if other == EACH_OTHER:
            self.relation(subject, words, "preposition", other)
        elif words == "of" and self.s[subject].lemma in lexicon.CONTAINERS:
            self.relation(subject, "have", "verb", other)
        elif words == "of":
            self.relation(other, "have", "verb", subject)
        elif (
            words in ("in", "with")
            and self.s[other].text in lexicon.CLOTHES
            and self.s[subject].text in lexicon.WEARERS
        ):
            self.relation(subject, "wear", "verb", other)
        elif words == "with" and self.s[other].text in lexicon.BODY:
            self.relation(subject, "have", "verb", other)
        else:
            self.relation(subject, words, "preposition", other)

    def _sharing(self, head: int, prep: int, at: int) -> list[int]:
        """Return the nouns that a preposition after a list of nouns is about."""
        subjects = [at]
        word, here = self.s[head], head
        while word.dep == "conj" and self.s[word.head].noun:
            before = word.head
            if self.s.children(before, "prep") or not before < here < prep:
                break
            subjects.append(self.meant(before))
            word, here = self.s[before], before
        for child in self.s.children(head, "conj"):
            if self.s[child].noun and child < prep:
                subjects += self.named(child)
        return subjects

    # -- what points back --------------------------------------------------------------------------

    def pointing_back(self, prep: int) -> int | None:
        """Return the table for `on it` in `table with figurines on it`, or `with a cat sitting on it`."""
        s = self.s
        if not any(s[c].tag == "PRP" and s[c].text in _BACK for c in s.children(prep, "pobj")):
            return None
        at = s[prep].head
        return self._holder(s[at].head if s[at].verb and s[at].dep == "acl" else at)

    def _holder(self, at: int) -> int | None:
        """Return the thing that has a noun, or comes with it."""
        s = self.s
        head = s[at].head
        if s[at].dep == "conj" and head != at:
            return self._holder(head)
        if s[at].dep == "pobj" and s[head].text == "with":
            head = s[head].head
            if s[head].noun:
                return self.meant(head)
        elif s[at].dep != "dobj":
            return None
        return next(iter(self.subjects(head)), None) if s[head].verb else None

    def turned(self, at: int) -> bool:
        """Return whether a noun's own preposition says where it is on the thing that has it."""
        s = self.s
        here = [at, *s.children(at, "acl")]
        here += s.children(s[at].head, "acl") if s[at].dep == "conj" else []
        here += [a for c in s.children(at, "conj") for a in s.children(c, "acl")]
        return any(self.pointing_back(p) is not None for h in here for p in s.children(h, "prep"))

    # -- modifiers ---------------------------------------------------------------------------------

    def _modifiers(self, head: int, at: int) -> None:
        s = self.s
        spent: set[int] = set()
        for child in reversed(s.children(head)):
            word = s[child]
            if child in spent:
                continue
            both = word.text == "both" and word.dep == "det" and word.tag != "CC"
            if word.dep in ("amod", "nummod") or both:
                if word.dep == "amod" and self._holding(child, at, spent):
                    continue
                for modifier in [child, *(c for c in self.further(child) if c not in spent)]:
                    self.attribute(at, self.quality(modifier))
            elif word.dep == "compound" and word.noun and s[head].text in lexicon.BODY:
                if word.text not in lexicon.CLOTHES:
                    self.found.spoken_for.add(child)
                    self.relation(child, "have", "verb", at)
            elif word.dep == "poss":
                owner = self._owner(child, at)
                if owner is not None:
                    self.relation(owner, "have", "verb", at)

    def _holding(self, at: int, noun: int, spent: set[int]) -> bool:
        """Read adjectives that hold a noun of their own: snow covered, fruit filled, red haired."""
        s, word = self.s, self.s[at]
        front, _, last = word.text.rpartition("-")
        part = lexicon.PART_ADJECTIVES.get(last)
        before = at - 1
        if part == "frame":
            self.found.parts.append((noun, part, ""))
            return True
        if part and not front and at and s[before].head in (at, noun, word.head):
            front = s[before].text if s[before].tag[:2] in ("JJ", "NN", "CD", "RB", "VB") else ""
            spent.add(before)
        if part and front:
            self.found.parts.append((noun, part, lexicon.NUMBERS.get(front) or lexicon.spelled(front)))
            return True
        if at and s[before].noun and before not in self.found.things:
            if word.text in _COVERED:
                self.relation(before, "cover", "verb", noun)
                return True
            if word.text == "filled":
                self.relation(noun, "fill with", "passive", before)
                return True
        return False

    def further(self, at: int) -> list[int]:
        """Return the adjectives that are coordinated with one, or hang on it."""
        found = []
        for child in self.s.children(at, "amod"):
            if self.s[child].text not in lexicon.SHADES:
                found += [child, *self.further(child)]
        for child in self.s.children(at, "conj"):
            if not self.s[child].noun or self.s[child].text in lexicon.COLOURS:
                found += [child, *self.further(child)]
        return found

    def quality(self, at: int) -> str:
        """Return an adjective with its shade, as `dark blue`; a number as digits; nothing for `several`."""
        word = self.s[at]
        if word.text == "both":
            return "2"
        if word.text in lexicon.NUMBERS:
            # A single thing needs no number: that it is there says as much.
            return lexicon.NUMBERS[word.text] if word.text != "one" else ""
        if word.text in lexicon.EMPTY_ATTRIBUTES:
            return ""
        before = self.s[at - 1].text if at else ""
        after = self.s[at + 1].text if at + 1 < len(self.s) else ""
        if word.text in lexicon.SHADES and after in lexicon.COLOURS:
            return ""
        if word.text in _QUALIFIED and before:
            return f"{before} {word.text}"
        if before in lexicon.SHADES and word.text in lexicon.COLOURS:
            return f"{before} {lexicon.spelled(word.text)}"
        return lexicon.spelled(word.text)

    def _owner(self, at: int, owned: int) -> int | None:
        word = self.s[at]
        if word.noun:
            return self.meant(at)
        if word.text not in lexicon.OWNERS:
            return None
        # The subject of the clause owns, or else the first noun before.
        here = owned
        for _ in range(len(self.s)):
            here = self.s[here].head
            if self.s[here].verb:
                subjects = self.subjects(here)
                if subjects and subjects[0] < at:
                    return subjects[0]
            elif self.s[here].noun and here < at and not self.is_place(here):
                return self.meant(here)
        return next((thing for thing in self.found.things if thing < at), None)
