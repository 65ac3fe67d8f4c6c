"""Reading a sentence as claims: a small grammar in which each word is used, and each claim has its facts.

A sentence is derived left to right from things, classes, values and the words that say relations (see
`relations`), with the function words that hold them together. Whatever the grammar has no place for - a verb
that no property gives rise to, "allegedly", "not", "only", "will", a number, an adjective - ends the
derivation, so that a sentence is derived as a whole only where all that it says is accounted for. Relations
are looked up in the direction that their words have.

Facts are asked as they are met. A strict derivation stops where one is missing; a lenient one goes on and
keeps the claim, which can then be asked of the store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import product, takewhile
from typing import Final

from rdflib import Literal, URIRef

from mrag.context.render import Line, by_subject
from mrag.generation.support.mentions import (
    PLACED,
    PREPOSITIONS,
    TYPE,
    UNITS,
    ContextNames,
    RelationWordings,
    Symbol,
    Way,
    Wordings,
    agentive,
    finite,
    relations,
    root,
    symbols_of,
)
from mrag.language.grammar import is_participle
from mrag.language.tokens import keys, words
from mrag.rdf.terms import OWL, RDFS, XSD, Term, Triple

_NOW: Final = words("is are 's")
_WAS: Final = words("was were")
_BE: Final = _NOW | _WAS
_HAVE: Final = words("has have had possesses possess")
_DETERMINERS: Final = words("a an the its their his her")
_ARTICLES: Final = words("a an the")
_PRONOUNS: Final = words("it he she they this these that those which who both")
_NOT_SO: Final = {
    **dict.fromkeys(("he", "his"), words("female woman f")),
    **dict.fromkeys(("she", "her"), words("male man m")),
}
"""What is no "he", and no "she"."""
_OWN: Final = words("its their his her")
_ADVERBS: Final = words("also both additionally each")
COUNTS: Final = {
    w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
"""Numbers in words."""
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_UNIT_FITS: Final = {"people": {"population", "inhabitants", "residents"}, "year": {"age"}}
_NAMED: Final = words("called named")
_IS_ROLE: Final = _BE | {":", "include", "includes", "–", ","}
_STEPS: Final = 20_000  # Most steps of one derivation: a sentence that needs more is not derived

Things = tuple[frozenset[Term], ...]  # What several names joined by "and" name, each with its candidates


@dataclass(frozen=True, slots=True)
class ClaimStep:
    """One claim of a derivation: who, what of it, and the lines that say so, none where it is open."""

    subject: frozenset[Term]  # Candidates of its first end
    way: Way | None  # The properties that may say it; None for "is of the class"
    object: frozenset[Term]  # Candidates of its second end
    lines: tuple[Line, ...] = ()


Steps = tuple[ClaimStep, ...]


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """What a noun phrase stands for: things, or the bearer of a role that something has."""

    things: Things
    steps: Steps = ()
    role: Way | None = None
    unit: str = ""
    plain: bool = False
    told: bool = False


class TooLongError(Exception):
    """The sentence needs more steps than are allowed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines, by their subjects, with what can be said of their properties."""

    lines: Sequence[Line]
    names: ContextNames
    relations: RelationWordings
    by_subject: dict[Term, list[Line]]
    by_object: dict[Term, list[Line]]
    cut: frozenset[tuple[Term, Term, bool]] = frozenset()

    def about(self, things: Iterable[Term]) -> Iterator[Line]:
        """Yield the lines about some things."""
        for thing in sorted(things, key=str):
            yield from self.by_subject.get(thing, ())

    def of(self, way: Way, subject: frozenset[Term], objects: frozenset[Term]) -> tuple[Line, ...]:
        """Return the lines that relate one of some things to one of others by one of some properties."""
        lines: dict[str, Line] = {}
        for p, flipped in way:
            ends = (objects, subject) if flipped else (subject, objects)
            for first, second in (ends, ends[::-1]) if p in self.relations.mutual else (ends,):
                for s in first:
                    for line in self.by_subject.get(s, ()):
                        if line.triple.p == p and line.triple.o in second:
                            lines[line.id] = line
        return tuple(lines.values())

    def ends(self, way: Way, owners: Iterable[Term]) -> dict[Term, list[Line]]:
        """Return what some things are related to by some properties, each with the lines that say so."""
        by_end: dict[Term, list[Line]] = {}
        for owner in owners:
            for p, flipped in way:
                for line in (self.by_object if flipped else self.by_subject).get(owner, ()):
                    if line.triple.p == p:
                        by_end.setdefault(line.triple.s if flipped else line.triple.o, []).append(line)
        return by_end

    def type_lines(self, subject: frozenset[Term], classes: frozenset[Term]) -> tuple[Line, ...]:
        """Return the lines that say that one of some things is of one of some classes."""
        lines: list[Line] = []
        for s in subject:
            about = self.by_subject.get(s, ())
            own = [x for x in about if str(x.triple.p) == TYPE or x.triple.p in self.relations.kinds]
            lines += [x for x in own if x.triple.o in classes]
            if not lines:
                lines += self._above(own, classes)
            lines += [x for x in self._kinds_of(s) if x.triple.o in classes]
        return tuple({x.id: x for x in lines}.values())

    def _kinds_of(self, kind: Term) -> list[Line]:
        return [x for x in self.by_subject.get(kind, ()) if str(x.triple.p) == RDFS + "subClassOf"]

    def _above(self, own: Sequence[Line], classes: frozenset[Term]) -> list[Line]:
        for line in own:
            path = [line]
            for _ in range(8):
                up = self._kinds_of(path[-1].triple.o)
                hit = next((x for x in up if x.triple.o in classes), None)
                if hit is not None:
                    return [*path, hit]
                if len(up) != 1:
                    break
                path += up
        return []


def facts_of(
    lines: Sequence[Line],
    names: ContextNames,
    known: RelationWordings,
    cut: Iterable[tuple[Term, Term, bool]] = (),
) -> Facts:
    """Return lines ready to be asked."""
    by_object: dict[Term, list[Line]] = {}
    for line in lines:
        by_object.setdefault(line.triple.o, []).append(line)
    return Facts(tuple(lines), names, known, by_subject(lines), by_object, frozenset(cut))


class Derivation:
    """The derivations of one sentence.

    Each method yields where what it reads may end, with what that is. `before` is what a pronoun, or a
    predicate without a subject, may point to; a lenient derivation goes on where a fact is missing.
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        facts: Facts,
        before: frozenset[Term] = frozenset(),
        *,
        lenient: bool = False,
    ) -> None:
        self.symbols = symbols
        self.facts = facts
        self.before = before
        self.lenient = lenient
        self._left = _STEPS
        self._prior: Things = ()
        self._nouns: dict[tuple[int, bool, Things], list[tuple[int, NounPhrase]]] = {}

    # --- Symbols -----------------------------------------------------------------------------------

    def _low(self, at: int) -> str:
        return self.symbols[at].low if at < len(self.symbols) else ""

    def _stem(self, at: int) -> str:
        return self.symbols[at].stem if at < len(self.symbols) else ""

    def _skip(self, at: int, several: Collection[str]) -> int:
        """Return the place behind one of several words, the place itself where none stands there."""
        return at + (self._low(at) in several)

    def _past(self, at: int, words: str) -> int:
        """Return the place behind some words, the place itself where others stand there."""
        wanted = words.split()
        there = [symbol.low for symbol in self.symbols[at : at + len(wanted)]]
        return at + len(wanted) if there == wanted else at

    def _names(self, at: int) -> list[tuple[int, frozenset[Term]]]:
        """Return what is named from a place on, each with where the name ends."""
        named = self.symbols[at].names if at < len(self.symbols) else ()
        return [(at + size, terms) for size, terms in named]

    def _things(self, terms: frozenset[Term]) -> frozenset[Term]:
        return terms - self.facts.names.properties - self.facts.names.classes

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLongError

    def _key(self, at: int, table: Wordings) -> Iterator[tuple[int, Way]]:
        """Yield what a table has of the words from a place on, the longest first."""
        behind = self.symbols[at : at + self.facts.relations.longest]
        stems = tuple(symbol.stem for symbol in takewhile(lambda s: not s.is_mark, behind))
        for size in range(len(stems), 0, -1):
            if ways := table.get(stems[:size]):
                yield at + size, frozenset(ways)

    # --- Claims ------------------------------------------------------------------------------------

    def _keep(self, steps: Iterable[ClaimStep]) -> Iterator[Steps]:
        """Yield claims together, unless one has no line and needs it."""
        kept = []
        for step in steps:
            if not step.lines and not self.lenient:
                return
            kept.append(step)
        if kept:
            yield tuple(kept)

    def _claim(self, way: Way, subjects: Things, objects: Things, unit: str = "") -> Iterator[Steps]:
        """Yield the claim that each of some things is so related to each of others."""
        if unit:
            way = frozenset((p, f) for p, f in way if self._is_measured_in(p, unit, objects))
        if way or not unit:
            yield from self._keep(
                ClaimStep(subject, way, one, self.facts.of(way, subject, one))
                for subject in subjects
                for one in objects
            )

    def _say(self, way: Way, things: Things, noun: NounPhrase) -> Iterator[Steps]:
        """Yield what a noun phrase says, and that things are so related to it."""
        return (noun.steps + steps for steps in self._claim(way, things, noun.things, noun.unit))

    def _is_measured_in(self, p: Term, unit: str, objects: Things) -> bool:
        """Return whether the numbers of a property are in a unit, by its label or their datatype."""
        if unit in self.facts.relations.units.get(p, frozenset()):
            return True
        nouns = self.facts.relations.nouns
        if any((p, False) in nouns.get((root(word),), ()) for word in _UNIT_FITS.get(unit, ())):
            return True
        return any(
            isinstance(o, Literal)
            and unit in {UNITS.get(w, w) for w in keys(str(o.datatype or "").rsplit("/", 1)[-1])}
            for several in objects
            for o in several
        )

    def _type(self, subjects: Things, classes: frozenset[Term]) -> Iterator[Steps]:
        """Yield the claim that each of some things is of one of some classes."""
        yield from self._keep(
            ClaimStep(s, None, classes, self.facts.type_lines(s, classes)) for s in subjects
        )

    def _count(self, way: Way, things: Things, number: Decimal) -> Iterator[Steps]:
        """Yield the claim that each of some things has so many of what a role noun says."""
        steps = []
        for subject in things:
            if any((owner, p, flipped) in self.facts.cut for p, flipped in way for owner in subject):
                return
            ends = self.facts.ends(way, subject)
            if len(ends) != number or not ends:
                return
            lines = tuple(several[-1] for several in ends.values())
            steps.append(ClaimStep(subject, way, frozenset(ends), lines))
        if steps:
            yield tuple(steps)

    # --- Noun phrases ------------------------------------------------------------------------------

    def nouns(self, at: int, *, several: bool = True) -> list[tuple[int, NounPhrase]]:
        """Return the noun phrases that begin at a place: where each ends, and what it stands for."""
        key = (at, several, self._prior)
        known = self._nouns.get(key)
        if known is None:
            # Nothing that begins here can be a part of itself.
            self._nouns[key] = []
            known = self._nouns[key] = list(self._list(at) if several else self._noun(at))
        return known

    def _list(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        for end, noun in self.nouns(at, several=False):
            yield end, noun
            if noun.role is None:
                yield from self._more(end, noun)

    def _more(self, at: int, first: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        self._spend()
        for start in self._join(at):
            for end, noun in self.nouns(start, several=False):
                if noun.role is None and noun.unit == first.unit:
                    things, steps = first.things + noun.things, first.steps + noun.steps
                    both = NounPhrase(things, steps, unit=first.unit, told=first.told and noun.told)
                    yield end, both
                    yield from self._more(end, both)

    def _join(self, at: int) -> Iterator[int]:
        """Yield where the next of several may begin."""
        low = self._low(at)
        if low in (",", ";"):
            yield at + 1
            if self._low(at + 1) in ("and", "&"):
                yield at + 2
        if low in ("and", "&"):
            yield at + 1
        if (end := self._past(at, "as well as")) > at:
            yield end

    def _noun(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        self._spend()
        for end, noun in self._head(at) if at < len(self.symbols) else ():
            yield from self._own(end, noun)
            yield end, noun
            yield from self._aside(end, noun)

    def _own(self, at: int, owner: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "OWNER's ROLE", and "OWNER's ROLE's ROLE"."""
        for end, way in self._role(at + 1) if self._low(at) == "'s" else ():
            made = replace(owner, role=way, plain=False)
            yield end, made
            for noun in self._role_bearers(made):
                yield from self._own(end, noun)

    def _role(self, at: int) -> Iterator[tuple[int, Way]]:
        """Yield role nouns, from owner to bearer."""
        yield from self._key(at, self.facts.relations.nouns)
        for end, way in self._key(at, self.facts.relations.agents):
            if agentive(self.symbols[end - 1].low):
                yield end, way

    def _head(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name, a class, an amount, a pronoun, or a role with its owner."""
        start = self._skip(at, ("both",))
        low = self._low(start)
        for end, terms in self._names(start) if low in _ARTICLES else ():  # "The Hague"
            if whole := self._things(terms):
                yield end, NounPhrase((whole,))
        if low in _DETERMINERS:
            # "its ROLE", and "the ROLE" where the clause before says whose
            for end, way in self._role(start + 1) if low in _OWN or self._prior else ():
                for several in self._anaphors(low):
                    yield end, NounPhrase(several, role=way)
            start += 1
        if start >= len(self.symbols):
            return
        for end, terms in self._names(start):
            things = self._things(terms)
            if not things and self.lenient:
                things = terms - self.facts.names.properties
            if things:
                yield from self._value(start, end, things)
            if classes := terms & self.facts.names.classes:
                yield from self._of_class(at, end, classes)
        if (number := self._number(start)) is not None:
            end, value = number
            plain = frozenset[Term]([Literal(str(value))])
            yield from self._value(start, end, self._equal(value) if self.symbols[start].names else plain)
        if self._low(at) in _PRONOUNS:
            for several in self._anaphors(self._low(at)):
                yield at + 1, NounPhrase(several)
        yield from self._role_of(start)

    def _of_class(self, at: int, end: int, classes: frozenset[Term]) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a class with names behind it, what "the CLASS" points back to, and the class itself."""
        # "the vendor Ontotext", "the vendors Ontotext and Stardog"
        for last, noun in self.nouns(end):
            for typed in self._type(noun.things, classes) if noun.role is None else ():
                yield last, replace(noun, steps=noun.steps + typed)
        for several in self._anaphors() if self._low(at) in ("the", "this", "these") else ():
            every = (one for each in several for one in each)
            if same := frozenset(one for one in every if self.facts.type_lines(frozenset([one]), classes)):
                yield end, NounPhrase((same,), plain=True)
        yield end, NounPhrase((classes,), plain=True)

    def _role_of(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "ROLE of OWNER"."""
        for end, way in self._role(at):
            for last, owner in self._bearers(end + 1) if self._low(end) in ("of", "for", "to") else ():
                yield last, replace(owner, role=way, plain=False)

    def _anaphors(self, low: str = "") -> Iterator[Things]:
        """Yield what a pronoun may point to: the subject of the clause before, or what was told of before."""
        prior = tuple(frozenset(t for t in several if self._fits(t, low)) for several in self._prior)
        if prior and all(prior):
            yield prior
        before = frozenset(t for t in self.before if self._fits(t, low))
        if before:
            yield (before,)
            if len(before) > 1:
                yield tuple(frozenset([t]) for t in sorted(before, key=str))

    def _fits(self, term: Term, low: str) -> bool:
        """Return whether nothing speaks against "he" or "she" pointing to a thing."""
        other = _NOT_SO.get(low)
        return other is None or not any(
            line.triple.p in self.facts.relations.qualities and line.labels[2].strip('"').casefold() in other
            for line in self.facts.by_subject.get(term, ())
        )

    def _number(self, at: int) -> tuple[int, Decimal] | None:
        if at >= len(self.symbols):
            return None
        value = _decimal(str(COUNTS.get(self._low(at), self.symbols[at].key)))
        scale = _SCALES.get(self._low(at + 1))
        if value is None:
            return None
        return (at + 2, value * scale) if scale else (at + 1, value)

    def _equal(self, value: Decimal) -> frozenset[Term]:
        """Return the literals that have a value."""
        literals = (o for line in self.facts.lines if isinstance(o := line.triple.o, Literal))
        equals = frozenset(o for o in literals if o.datatype is not None and _decimal(str(o)) == value)
        return equals or frozenset([Literal(str(value))])

    def _value(self, start: int, end: int, things: frozenset[Term]) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name, and with a unit behind it where it is a number."""
        number = self._number(start)
        if number is not None and number[0] >= end:
            at, value = number
            equal = self._equal(value) | (things if at == end else frozenset())
            yield at, NounPhrase((equal,))
            unit = UNITS.get(self._low(at), self._stem(at))
            known = self._low(at) in UNITS or any(unit in u for u in self.facts.relations.units.values())
            if at < len(self.symbols) and known:
                yield at + 1, NounPhrase((equal,), unit=unit)
        elif not (start > 0 and self._low(start - 1) in UNITS and self.symbols[start - 1].is_mark):
            yield end, NounPhrase((things,))

    def _role_bearers(self, role: NounPhrase) -> Iterator[NounPhrase]:
        """Yield what bears a role, where facts say so."""
        if role.role is None:
            return
        owners = frozenset[Term]().union(*role.things)
        for bearer, lines in sorted(self.facts.ends(role.role, owners).items(), key=lambda x: str(x[0])):
            step = ClaimStep(owners, role.role, frozenset([bearer]), tuple(lines))
            yield NounPhrase((frozenset([bearer]),), (*role.steps, step))

    def _bearers(self, at: int) -> list[tuple[int, NounPhrase]]:
        """Return the noun phrases that begin at a place, of a role what bears it."""
        return [
            (end, one)
            for end, noun in self.nouns(at)
            for one in ((noun,) if noun.role is None else self._role_bearers(noun))
        ]

    def _aside(self, at: int, noun: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name with what is said of it beside: in brackets, between commas, in a relative clause."""
        if noun.role is not None:
            yield from self._who_it_is(at, noun)
        if noun.plain or noun.role is not None:
            return
        if self._low(at) == "(":
            # Another name alone does not say how the two are related: "GraphDB (Ontotext)" states nothing.
            for beside in (False, True):
                for end, steps in self._remark(at + 1, noun.things, beside=beside):
                    if self._low(end) == ")":
                        yield end + 1, replace(noun, steps=noun.steps + steps, told=not beside)
            return
        comma = self._low(at) == ","
        for end, steps in self._remark(at + comma, noun.things, bare=comma):
            for close in {end, end + (comma and self._low(end) == ",")}:
                yield close, replace(noun, steps=noun.steps + steps, told=True)

    def _who_it_is(self, at: int, role: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "GraphDB's vendor, Ontotext," as Ontotext, where it is so."""
        comma = self._low(at) == ","
        for end, noun in self.nouns(at + comma, several=False):
            if role.role is None or noun.role is not None or noun.plain:
                continue
            for steps in self._claim(role.role, role.things, noun.things):
                made = NounPhrase(noun.things, role.steps + noun.steps + steps)
                yield end, made
                if comma and self._low(end) == ",":
                    yield end + 1, made

    def _remark(
        self, at: int, things: Things, *, bare: bool = True, beside: bool = True
    ) -> Iterator[tuple[int, Steps]]:
        """Yield what is said of things without a verb of its own, or by "which" and "who".

        A class may stand alone where it is `bare`: behind a comma, in brackets; so may the name of another
        thing where it is `beside`.
        """
        self._spend()
        low = self._low(at)
        if low in ("which", "that", "who"):
            yield from self._predicates(at + 1, things)
            return
        if low == "whose":
            for end, way in self._role(at + 1):
                yield from self._is_role(end, NounPhrase(things, role=way))
            return
        yield from self._participial(at, things)
        if bare:
            yield from self._class(at, things)
        if low in ("with", "having"):
            yield from self._have(at + 1, things)
        for end, noun in self.nouns(at, several=False) if bare and beside else ():
            if noun.plain or len(noun.things) != 1:
                continue
            if noun.role is not None:
                # "Ontotext, the developer of GraphDB"
                claims = self._claim(noun.role, noun.things, things)
            else:
                # "Sofia, Bulgaria": beside each other, by whatever relates the first to the second
                claims = self._beside(things, noun.things[0])
            for steps in claims:
                yield end, noun.steps + steps

    def _beside(self, things: Things, other: frozenset[Term]) -> Iterator[Steps]:
        steps = []
        for subject in things:
            there = (x for x in self.facts.about(subject) if x.triple.o in other)
            lines = tuple(x for x in there if str(x.triple.p) != OWL + "differentFrom")
            if not lines:
                return
            steps.append(ClaimStep(subject, frozenset((x.triple.p, False) for x in lines), other, lines))
        yield tuple(steps)

    # --- Predicates --------------------------------------------------------------------------------

    def _class(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "a vendor based in Sofia", said of things."""
        start = self._past(at, "one of the")
        if start == at:
            start = self._skip(at, _ARTICLES | {"one", "another"})
        if self._low(start) in ("kind", "type", "form", "sort") and self._low(start + 1) == "of":
            start = self._skip(start + 2, _ARTICLES)
        yield from self._classify(start, things, ())

    def _classify(self, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        self._spend()
        for end, terms in self._names(at):
            kinds = frozenset(t for t in terms if self._is_kind(t))
            for typed in self._type(things, kinds) if kinds else ():
                yield from self._modify(end, things, steps + typed)
            # "a green jacket", "a 1999 film": something that it has, before what it is
            if len(steps) < 3 and (own := self._modifying(things, terms)):
                yield from self._classify(self._skip(end, (",",)), things, steps + own)

    def _is_kind(self, term: Term) -> bool:
        if term in self.facts.names.classes:
            return True
        of = (line.triple.p for line in self.facts.by_object.get(term, ()))
        return any(p in self.facts.relations.kinds or str(p) == TYPE for p in of)

    def _modifying(self, things: Things, terms: Collection[Term]) -> Steps:
        """Return the claims that each of some things has one of some qualities; none if one has none."""
        known, steps = self.facts.relations, []
        for subject in things:
            for line in self.facts.about(subject):
                _, p, o = line.triple
                if o in terms and str(p) != TYPE and (p in known.qualities or p in known.kinds):
                    steps.append(ClaimStep(subject, frozenset([(p, False)]), frozenset([o]), (line,)))
                    break
            else:
                return ()
        return tuple(steps)

    def _modify(self, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        yield at, steps
        for end, more in self._remark(self._skip(at, (",",)), things, bare=False):
            yield from self._modify(end, things, steps + more)
        yield from self._prepositional(at, things, steps)

    def _prepositional(self, at: int, things: Things, steps: Steps = ()) -> Iterator[tuple[int, Steps]]:
        for end, way in self._key(at, self.facts.relations.prepositions):
            for last, noun in self.nouns(end):
                if noun.role is None:
                    yield from ((last, steps + claim) for claim in self._say(way, things, noun))

    def _participial(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "developed by Ontotext", "based in Sofia", "also known as OWLIM", said of things."""
        self._spend()
        known = self.facts.relations
        tables = (known.participles, known.phrases)
        while self._low(at) in ("also", "first"):
            if any(next(self._key(at, table), None) for table in tables):
                break  # the adverb is a part of what says a relation: "first released in"
            at += 1
        if at >= len(self.symbols):
            return
        yield from self._do_by(at, things)
        low = self._low(at)
        done = is_participle(low) or low.endswith("ing")
        for end, way in self._key(at, known.participles):
            if not done and (self._stem(at), self._low(end - 1)) in known.verbs:
                continue  # "plays for" wants a subject of its own
            for last, steps in self._behind(end, way, things):
                yield last, steps
                yield from self._again(at, last, things, steps)
        # a whole label that is no verb of its own
        for end, way in self._key(at, known.phrases):
            if is_participle(low) or (not finite(low) and self._low(end - 1) in PREPOSITIONS):
                yield from self._behind(end, way, things)
        yield from self._call(at, things)

    def _do_by(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "developed by Ontotext", said of things, with what may follow."""
        if not (is_participle(self._low(at)) or self.lenient):
            return
        for end, way in self._key(at, self.facts.relations.passives):
            for last, noun in self._bearers(end + 1) if self._low(end) == "by" else ():
                for claim in self._claim(way, noun.things, things):
                    yield last, noun.steps + claim
                    yield from self._again(at, last, things, noun.steps + claim)

    def _call(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "named OWLIM", "known as OWLIM", said of things."""
        if self._low(at) not in (*_NAMED, "known"):
            return
        naming = frozenset((p, False) for p in self.facts.relations.naming)
        start = max(at + 1, self._past(at, "known as"))
        for last, noun in self.nouns(start) if naming else ():
            yield from ((last, noun.steps + steps) for steps in self._claim(naming, things, noun.things))

    def _behind(self, at: int, way: Way, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what stands behind words that say a relation, with the claim that they make of things."""
        return ((end, steps) for end, noun in self._bearers(at) for steps in self._say(way, things, noun))

    def _again(self, verb: int, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        """Yield a second complement of one participle: "released by A in 2007"."""
        if self._low(at) not in PREPOSITIONS:
            return
        for key, ways in (*self.facts.relations.participles.items(), *self.facts.relations.verbs.items()):
            if len(key) != 2 or key[0] != self._stem(verb) or (key[-1] or "by") != self._low(at):
                continue
            way = frozenset(ways)
            for end, noun in self._bearers(at + 1):
                active = self._claim(way, things, noun.things, noun.unit)
                for claim in active if key[-1] else self._claim(way, noun.things, things):
                    yield end, steps + noun.steps + claim

    def _have(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what things have: "a height of 172 cm", "the features A and B", "blue eyes", "3 moons"."""
        self._spend()
        start = self._skip(at, _ARTICLES)
        yield from self._so_many(start, things)
        for end, way in self._role(start):
            after = self._past(end, "such as")
            if self._low(end) in ("of", ":", ",", *_NAMED):
                after = end + 1
            yield from self._behind(after, way, things)
        yield from self._before_role(at, things)

    def _so_many(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "3 moons", and "3 moons: A, B and C", that things have."""
        counted = self._number(at)
        if counted is None:
            return
        for end, way in self._role(counted[0]):
            yield from ((end, steps) for steps in self._claim(way, things, (self._equal(counted[1]),)))
            for steps in self._count(way, things, counted[1]):
                yield end, steps
                for last, noun in self._bearers(end + 1) if self._low(end) == ":" else ():
                    for named in self._claim(way, things, noun.things):
                        if len(noun.things) == counted[1]:
                            yield last, steps + noun.steps + named

    def _before_role(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what things have, with its role behind it or none: "Sofia as its seat", "blue eyes"."""
        having = frozenset((p, False) for p in self.facts.relations.having)
        for end, noun in self._bearers(at):
            ways = [*self._role(self._skip(end + 1, _DETERMINERS))] if self._low(end) == "as" else []
            ways += [(end, having)] if having and not noun.unit else []
            for last, way in (*ways, *self._tail(end)):
                yield from ((last, steps) for steps in self._say(way, things, noun))

    def _tail(self, at: int) -> Iterator[tuple[int, Way]]:
        """Yield the last words of role nouns: "eyes" of "eye color" behind its value, "blue"."""
        for key, ways in self.facts.relations.nouns.items():
            for size in range(1, len(key) + 1):
                for begin in {0, len(key) - size}:
                    part = key[begin : begin + size]
                    if all(self._stem(at + i) == word for i, word in enumerate(part)):
                        yield at + size, frozenset(ways)

    def _is_role(self, at: int, role: NounPhrase) -> Iterator[tuple[int, Steps]]:
        """Yield "[The developer of GraphDB] is Ontotext"."""
        low = self._low(at)
        if role.role is None or (low in _WAS and not (self._is_past(role.things) or self._acts(0, at))):
            return
        if low not in _IS_ROLE:
            return
        start = self._skip(self._skip(at + 1, _ADVERBS), (":",))
        yield from _after(role.steps, self._behind(start, role.role, role.things))

    def _predicates(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield one or more predicates joined by "and", said of things."""
        for end, steps, verb in self._predicate(at, things):
            yield end, steps
            yield from self._join_on(end, things, steps, verb)

    def _join_on(self, at: int, things: Things, steps: Steps, verb: str) -> Iterator[tuple[int, Steps]]:
        self._spend()
        for start in self._join(at):
            start = self._skip(start, _ADVERBS)
            phrases = [*self._predicate(start, things)]
            if verb == "be":
                phrases += [(end, more, verb) for end, more in self._complements(start, things, was=False)]
            elif verb == "have":
                phrases += [(end, more, verb) for end, more in self._have(start, things)]
            for end, more, again in phrases:
                yield end, steps + more
                yield from self._join_on(end, things, steps + more, again)

    def _predicate(self, at: int, things: Things) -> Iterator[tuple[int, Steps, str]]:
        """Yield a predicate, with the verb that what follows may share: "be", "have" or none."""
        self._spend()
        while self._low(at) in _ADVERBS:
            if self._low(at) == "both" and len(things) != 2:
                return
            at += 1
        if at >= len(self.symbols):
            return
        if self._low(at) in _BE:
            if self._low(at + 1) == "both" and len(things) != 2:
                return
            start = self._skip(at + 1, _ADVERBS)
            for end, steps in self._complements(start, things, was=self._low(at) in _WAS):
                yield end, steps, "be"
            yield from ((end, steps, "be") for end, steps in self._denials(start, things))
            return
        if self._low(at) in ("has", "have") and self._low(at + 1) == "been":
            yield from ((end, steps, "be") for end, steps in self._participial(at + 2, things))
        if self._low(at) in _HAVE:
            if self._low(at + 1) == "not":
                yield from ((end, steps, "") for end, steps in self._truth(at + 2, things, denied=True))
            yield from ((end, steps, "") for end, steps in self._truth(at + 1, things, denied=False))
            yield from ((end, steps, "have") for end, steps in self._have(at + 1, things))
        yield from ((end, steps, "") for end, steps in self._active(at, things))

    def _active(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "develops GraphDB", "works for Acme", "weighs 5 kg", and whole labels."""
        known, low = self.facts.relations, self._low(at)
        verbal = finite(low) or (low.endswith(("s", "ed")) and not agentive(low))
        for key in (key for key in known.verbs if verbal and key[0] == self._stem(at)):
            start = self._along(at, key)
            if start is None:
                continue
            way = frozenset(known.verbs[key])
            yield from self._behind(start, way, things)
            for end, role in self._role(start):  # "offers features such as X"
                if role & way and self._low(end) in ("such", "including", "like", ":"):
                    yield from self._behind(self._skip(end + 1, ("as",)), role & way, things)
            if (counted := self._number(start)) is not None:
                yield from self._so_many_of_class(*counted, way, things)
        for end, way in self._key(at, known.phrases):
            yield from self._behind(end, way, things)
        yield from self._truth(at, things, denied=False)

    def _so_many_of_class(
        self, at: int, number: Decimal, way: Way, things: Things
    ) -> Iterator[tuple[int, Steps]]:
        """Yield "develops 3 products"."""
        for end, terms in self._names(at):
            for steps in self._count(way, things, number) if terms & self.facts.names.classes else ():
                for typed in self._type(tuple(frozenset([o]) for o in steps[0].object), terms):
                    yield end, steps + typed

    def _along(self, at: int, key: tuple[str, ...]) -> int | None:
        """Return where a verb at a place ends, with a noun that is a part of it: "uses the fuel"."""
        for i, word in enumerate(key[:-1]):
            at += i > 0 and self._low(at) in _ARTICLES
            if self._stem(at) != word:
                return None
            at += 1
        if not key[-1]:
            return at
        return at + 1 if self._low(at) == key[-1] else None

    def _complements(self, at: int, things: Things, *, was: bool) -> Iterator[tuple[int, Steps]]:
        """Yield what can stand behind "is"."""
        self._spend()
        if at >= len(self.symbols):
            return
        over = was and not self._is_past(things)
        if not (over and self._stem(at) in PLACED):  # where something was, it may be no longer
            yield from self._participial(at, things)
        yield from self._truth(at, things, denied=False)
        if not over:
            yield from self._prepositional(at, things)
        yield from self._measure(at, things)
        if not over:
            yield from self._class(at, things)
            for end, terms in self._names(at):  # "female", said of what has it as its gender
                if own := self._modifying(things, [term for term in terms if isinstance(term, Literal)]):
                    yield end, own
        for end, noun in self.nouns(at):
            claims: Iterable[Steps] = ()
            if noun.role is not None:
                # "Ontotext is the developer of GraphDB"; what was the capital may be it no longer
                if not over or self._acts(at, end):
                    claims = self._claim(noun.role, noun.things, things)
            elif not noun.plain and len(noun.things) == len(things) == 1:
                naming = frozenset((p, False) for p in self.facts.relations.naming)
                if lines := self.facts.of(naming, things[0], noun.things[0]):
                    claims = ((ClaimStep(things[0], frozenset(), noun.things[0], lines),),)
            for steps in claims:
                yield end, noun.steps + steps

    def _acts(self, at: int, end: int) -> bool:
        """Return whether a role is one of doing something, which may well be over."""
        return any(agentive(symbol.low) for symbol in self.symbols[at:end] if not symbol.names)

    def _is_past(self, things: Things) -> bool:
        """Return whether what was is told of things with a date, which may well be over."""
        dates = {XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth")}
        return all(
            any(str(getattr(x.triple.o, "datatype", "")) in dates for x in self.facts.about(subject))
            for subject in things
        )

    def _measure(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "172 cm tall"."""
        for end, noun in self.nouns(at, several=False) if self._number(at) is not None else ():
            old = self._low(end) in ("years", "year") and self._low(end + 1) == "old"
            for last, way in self._key(end + old, self.facts.relations.adjectives) if not noun.role else ():
                yield from ((last, steps) for steps in self._claim(way, things, noun.things, noun.unit))

    def _truth(self, at: int, things: Things, *, denied: bool) -> Iterator[tuple[int, Steps]]:
        truth = frozenset[Term]([Literal(not denied)])
        for end, way in self._key(self._skip(at, ("a", "an")), self.facts.relations.truths):
            steps = []
            for subject in things:
                of_way = [x for x in self.facts.about(subject) if (x.triple.p, False) in way]
                lines = [x for x in of_way if is_false(x) == denied]
                steps.append(ClaimStep(subject, way, truth, tuple(lines)))
            if self.lenient or all(step.lines for step in steps):
                yield end, tuple(steps)

    def _denials(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what a negation may say: a truth value that is false, and what the graph calls different."""
        if self._low(at) != "not":
            return
        yield from self._truth(at + 1, things, denied=True)
        start = self._past(at, "not the same as")
        predicates = (x.triple.p for x in self.facts.lines if str(x.triple.p) == OWL + "differentFrom")
        different = frozenset((p, False) for p in predicates)
        for end, noun in self.nouns(start) if start > at and different else ():
            yield from ((end, steps) for steps in self._claim(different, things, noun.things))

    def predicate(self, at: int, things: Things) -> Iterator[Steps]:
        """Yield what is said of things by the predicate that begins at a place."""
        for _, steps in (*self._predicates(at, things), *self._participial(at, things)):
            yield steps

    # --- Sentences ---------------------------------------------------------------------------------

    def clauses(self, at: int = 0) -> Iterator[tuple[int, Steps]]:
        """Yield where a statement that begins at a place may end, with its claims."""
        for end, steps, subject in self._clause(at):
            yield end, steps
            kept = self._prior
            for start in self._next(end):
                self._prior = subject
                for last, more in self.clauses(start):
                    self._prior = kept
                    yield last, steps + more
                    self._prior = subject
            self._prior = kept

    def _next(self, at: int) -> Iterator[int]:
        start = self._skip(at, (",", ";"))
        if self._low(start) in ("and", "while", "whereas", "&", "but"):
            yield start + 1
        elif start > at:
            yield start

    def _clause(self, at: int) -> Iterator[tuple[int, Steps, Things]]:
        """Yield where one clause may end, with its claims and its subject."""
        self._spend()
        for end, subject in self.nouns(at):
            if subject.role is None:
                for last, steps in self._statements(at, end, subject):
                    yield last, steps, subject.things
                continue
            # Who bears a role, and what is said of who bears it.
            for last, steps in self._is_role(end, subject):
                yield last, steps, subject.things
            for noun in self._role_bearers(subject):
                for last, steps in _after(noun.steps, self._predicates(end, noun.things)):
                    yield last, steps, noun.things
        yield from self._invert(at)
        yield from self._pointing_back(at)

    def _statements(self, at: int, end: int, subject: NounPhrase) -> Iterator[tuple[int, Steps]]:
        """Yield what is said of things that are named: by a verb, behind a colon, beside the name."""
        things = subject.things
        yield from _after(subject.steps, self._predicates(end, things))
        if self._low(end) in (":", "–"):
            yield from _after(subject.steps, self._remark(end + 1, things, beside=False))
            # "label: value" behind a name
            for label, way in (*self._key(end + 1, self.facts.relations.phrases), *self._role(end + 1)):
                if self._low(label) == ":":
                    yield from _after(subject.steps, self._behind(label + 1, way, things))
        # A name with what is said of it beside is a statement, too: "GraphDB, developed by Ontotext".
        if subject.told and at == 0:
            yield end, subject.steps
        elif at == 0:
            yield from _after(subject.steps, self._remark(end, things, bare=False))

    def _invert(self, at: int) -> Iterator[tuple[int, Steps, Things]]:
        """Yield a class that stands before what is of it: "One city that is located in Italy is Bolzano"."""
        if self._low(at) not in ("one", "a", "an", "another"):
            return
        for middle in range(at + 2, len(self.symbols) - 1):
            for end, noun in self.nouns(middle + 1) if self._low(middle) in _NOW else ():
                for last, steps in self._class(at, noun.things) if noun.role is None else ():
                    if last == middle:
                        yield end, noun.steps + steps, noun.things

    def _pointing_back(self, at: int) -> Iterator[tuple[int, Steps, Things]]:
        """Yield what is said of what was told of before, which is not named: "Developer: Ontotext"."""
        for things in self._anaphors():
            for end, way in self._role(at):
                for last, steps in self._is_role(end, NounPhrase(things, role=way)):
                    yield last, steps, things
            if at == 0:
                for last, steps in (*self._predicates(at, things), *self._remark(at, things, beside=False)):
                    yield last, steps, things


def _after(steps: Steps, phrases: Iterable[tuple[int, Steps]]) -> Iterator[tuple[int, Steps]]:
    """Return where something ends with its claims, behind others."""
    return ((end, steps + more) for end, more in phrases)


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def is_false(line: Line) -> bool:
    """Return whether the value of a line is the truth value of what is not so."""
    return str(line.triple.o).strip().casefold() in ("false", "0")


def derive(derivation: Derivation) -> Steps | None:
    """Return the claims of a sentence that is derived as a whole, None of any other.

    A lenient derivation gives the reading with the fewest open claims.
    """
    best: Steps | None = None
    with suppress(TooLongError, RecursionError):
        for end, steps in derivation.clauses():
            if end != len(derivation.symbols):
                continue
            if not derivation.lenient or not _open(steps):
                return steps
            if best is None or _open(steps) < _open(best):
                best = steps
    return best


def _open(steps: Steps) -> int:
    return sum(not step.lines for step in steps)


def longest(derivation: Derivation) -> tuple[int, Steps]:
    """Return how far the longest beginning of a sentence goes that is a statement, with its claims."""
    best: tuple[int, Steps] = (0, ())
    with suppress(TooLongError, RecursionError):
        for end, steps in derivation.clauses():
            if end > max(best[0], 1):
                best = (end, steps)
    return best


_FIRST: Final = URIRef("urn:mrag:first")
_SECOND: Final = URIRef("urn:mrag:second")
_RELATION: Final = URIRef("urn:mrag:relation")
_MOST_NAMES: Final = 4  # Names of each end and of the relation that are looked for


def is_turned_round(
    text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]
) -> bool:
    """Return whether a text says a relation from the object to the subject, and not the other way."""
    return _says(text, object_, relation, subject) and not _says(text, subject, relation, object_)


def _says(text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]) -> bool:
    triple = Triple(_FIRST, _RELATION, _SECOND)
    forms = product(subject[:_MOST_NAMES], relation[:_MOST_NAMES], object_[:_MOST_NAMES])
    lines = [Line(f"t{at}", "", triple, "", False, labels) for at, labels in enumerate(forms)]
    if not lines:
        return False
    names = ContextNames(lines)
    symbols = symbols_of(text, names)
    derivation = Derivation(symbols, facts_of(lines[:1], names, relations(lines)))
    if not {term for s in symbols for _, terms in s.names for term in terms} >= {_FIRST, _SECOND}:
        return False
    with suppress(TooLongError, RecursionError):
        for start, symbol in enumerate(symbols):
            for size, terms in symbol.names:
                ends = terms & {_FIRST, _SECOND}
                for at in range(start + size, len(symbols)) if ends else ():
                    if any(derivation.predicate(at, (frozenset(ends),))):
                        return True
                if ends and any(steps for _, steps in derivation.clauses(start)):
                    return True
    return False
