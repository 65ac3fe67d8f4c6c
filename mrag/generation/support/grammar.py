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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from rdflib import Literal, URIRef

from mrag.context.render import Line
from mrag.generation.support.mentions import (
    PREPOSITIONS,
    UNITS,
    ContextNames,
    Symbol,
    agentive,
    finite,
    participle,
    root,
    symbols_of,
)
from mrag.generation.support.relations import PLACED, TYPE, RelationWordings, Way, relations
from mrag.language.tokens import keys, tokens, words
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
_COUNTS: Final = {
    w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_UNIT_FITS: Final = {"people": {"population", "inhabitants", "residents"}, "year": {"age"}}
_NAMED: Final = words("called named")
_STEPS: Final = 20_000
"""Most steps of one derivation: a sentence that needs more is not derived."""

Things = tuple[frozenset[Term], ...]
"""What several names joined by "and" name, each with its candidates."""


@dataclass(frozen=True, slots=True)
class ClaimStep:
    """One claim of a derivation: who, what of it, and the lines that say so, none where it is open."""

    subject: frozenset[Term]  # Candidates of its first end
    way: Way | None  # The properties that may say it; None for "is of the class"
    object: frozenset[Term]  # Candidates of its second end
    lines: tuple[Line, ...] = ()  # The lines that say it
    denied: bool = False  # Whether the sentence denies it


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

    def of(self, way: Way, subject: frozenset[Term], objects: frozenset[Term]) -> tuple[Line, ...]:
        """Return the lines that relate one of some things to one of others by one of some properties."""
        found: dict[str, Line] = {}
        for p, flipped in way:
            both = p in self.relations.mutual
            for one, other in ((subject, objects), (objects, subject)):
                first, second = (other, one) if flipped else (one, other)
                for s in first:
                    for line in self.by_subject.get(s, ()):
                        if line.triple.p == p and line.triple.o in second:
                            found[line.id] = line
                if not both:
                    break
        return tuple(found.values())

    def typed(self, subject: frozenset[Term], classes: frozenset[Term]) -> tuple[Line, ...]:
        """Return the lines that say that one of some things is of one of some classes."""
        found = []
        for s in subject:
            own = [
                x
                for x in self.by_subject.get(s, ())
                if str(x.triple.p) == TYPE or x.triple.p in self.relations.kinds
            ]
            found += [x for x in own if x.triple.o in classes]
            if not found:
                found += self._above(own, classes)
            found += [
                x
                for x in self.by_subject.get(s, ())
                if str(x.triple.p) == RDFS + "subClassOf" and x.triple.o in classes
            ]
        return tuple({x.id: x for x in found}.values())

    def _above(self, own: Sequence[Line], classes: frozenset[Term]) -> list[Line]:
        for line in own:
            path, at = [line], line.triple.o
            for _ in range(8):
                up = [x for x in self.by_subject.get(at, ()) if str(x.triple.p) == RDFS + "subClassOf"]
                hit = next((x for x in up if x.triple.o in classes), None)
                if hit is not None:
                    return [*path, hit]
                if len(up) != 1:
                    break
                path.append(up[0])
                at = up[0].triple.o
        return []


def facts_of(
    lines: Sequence[Line],
    names: ContextNames,
    known: RelationWordings,
    cut: Iterable[tuple[Term, Term, bool]] = (),
) -> Facts:
    """Return lines ready to be asked."""
    by_subject: dict[Term, list[Line]] = {}
    by_object: dict[Term, list[Line]] = {}
    for line in lines:
        by_subject.setdefault(line.triple.s, []).append(line)
        by_object.setdefault(line.triple.o, []).append(line)
    return Facts(tuple(lines), names, known, by_subject, by_object, frozenset(cut))


class Derivation:
    """The derivations of one sentence."""

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

    def _is(self, at: int, several: frozenset[str]) -> bool:
        return at < len(self.symbols) and self.symbols[at].low in several

    def _stem(self, at: int) -> str:
        return self.symbols[at].stem if at < len(self.symbols) else ""

    def _names(self, at: int) -> list[tuple[int, frozenset[Term]]]:
        """Return what is named from a place on, each with where the name ends."""
        return (
            [(at + size, terms) for size, terms in self.symbols[at].names] if at < len(self.symbols) else []
        )

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLongError

    def _keyed(
        self, at: int, table: dict[tuple[str, ...], set[tuple[Term, bool]]]
    ) -> Iterator[tuple[int, Way]]:
        """Yield what a table has of the words from a place on, the longest first."""
        stems: list[str] = []
        for i in range(at, min(len(self.symbols), at + self.facts.relations.longest)):
            if self.symbols[i].is_mark:
                break
            stems.append(self.symbols[i].stem)
        for size in range(len(stems), 0, -1):
            ways = table.get(tuple(stems[:size]))
            if ways:
                yield at + size, frozenset(ways)

    # --- Claims ------------------------------------------------------------------------------------

    def _claim(self, way: Way, subjects: Things, objects: Things, unit: str = "") -> Steps | None:
        steps: list[ClaimStep] = []
        if unit:
            way = frozenset((p, f) for p, f in way if self._measured_in(p, unit, objects))
            if not way:
                return None
        for subject in subjects:
            for one in objects:
                lines = self.facts.of(way, subject, one)
                if not lines and not self.lenient:
                    return None
                steps.append(ClaimStep(subject, way, one, lines))
        return tuple(steps) or None

    def _measured_in(self, p: Term, unit: str, objects: Things) -> bool:
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

    def _typed(self, subjects: Things, classes: frozenset[Term]) -> Steps | None:
        steps = []
        for subject in subjects:
            lines = self.facts.typed(subject, classes)
            if not lines and not self.lenient:
                return None
            steps.append(ClaimStep(subject, None, classes, lines))
        return tuple(steps) or None

    # --- Noun phrases ------------------------------------------------------------------------------

    def nouns(self, at: int, *, several: bool = True) -> list[tuple[int, NounPhrase]]:
        """Return the noun phrases that begin at a place: where each ends, and what it stands for."""
        key = (at, several, self._prior)
        known = self._nouns.get(key)
        if known is None:
            # Nothing that begins here can be a part of itself.
            self._nouns[key] = []
            known = list(self._listed(at) if several else self._noun(at))
            self._nouns[key] = known
        return known

    def _listed(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        for end, noun in self.nouns(at, several=False):
            yield end, noun
            if noun.role is None:
                yield from self._more(end, noun)

    def _more(self, at: int, first: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        self._spend()
        for start in self._joined(at):
            for end, noun in self.nouns(start, several=False):
                if noun.role is not None or noun.unit != first.unit:
                    continue
                both = NounPhrase(
                    first.things + noun.things,
                    first.steps + noun.steps,
                    unit=first.unit,
                    told=first.told and noun.told,
                )
                yield end, both
                yield from self._more(end, both)

    def _joined(self, at: int) -> Iterator[int]:
        """Yield where the next of several may begin."""
        if self._is(at, frozenset([",", ";"])):
            yield at + 1
            if self._is(at + 1, frozenset(["and", "&"])):
                yield at + 2
        if self._is(at, frozenset(["and", "&"])):
            yield at + 1
        if (
            self._is(at, frozenset(["as"]))
            and self._is(at + 1, frozenset(["well"]))
            and self._is(at + 2, frozenset(["as"]))
        ):
            yield at + 3

    def _noun(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        self._spend()
        if at >= len(self.symbols):
            return
        for end, noun in self._head(at):
            yield from self._owned(end, noun)
            yield end, noun
            yield from self._aside(end, noun)

    def _owned(self, at: int, owner: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "OWNER's ROLE"."""
        if self._is(at, frozenset(["'s"])):
            for end, way in self._role(at + 1):
                made = replace(owner, role=way, plain=False)
                yield end, made
                yield from self._owned_again(end, made)

    def _owned_again(self, at: int, role: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        for noun in self._borne(role):
            yield from self._owned(at, noun)

    def _role(self, at: int) -> Iterator[tuple[int, Way]]:
        """Yield role nouns, from owner to bearer."""
        yield from self._keyed(at, self.facts.relations.nouns)
        for end, way in self._keyed(at, self.facts.relations.agents):
            if agentive(self.symbols[end - 1].low):
                yield end, way

    def _head(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name, a class, an amount, a pronoun, or a role with its owner."""
        start = at + self._is(at, frozenset(["both"]))
        if self._is(start, _ARTICLES):
            yield from self._titled(start)
        if self._is(start, _DETERMINERS):
            yield from self._own_role(start)
            start += 1
        if start >= len(self.symbols):
            return
        for end, terms in self._names(start):
            things = terms - self.facts.names.properties - self.facts.names.classes or (
                terms - self.facts.names.properties if self.lenient else frozenset()
            )
            if things:
                yield from self._valued(start, end, things)
            classes = terms & self.facts.names.classes
            if classes:
                yield from self._of_class(at, end, classes)
        yield from self._amount(start)
        if self._is(at, _PRONOUNS):
            for several in self._anaphors(self.symbols[at].low):
                yield at + 1, NounPhrase(several)
        yield from self._role_of(start)

    def _titled(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name that begins with an article: "The Hague"."""
        for end, terms in self._names(at):
            if whole := terms - self.facts.names.properties - self.facts.names.classes:
                yield end, NounPhrase((whole,))

    def _own_role(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "its ROLE", and "the ROLE" where the clause before says whose."""
        if self._is(at, _OWN) or self._prior:
            for end, way in self._role(at + 1):
                for several in self._anaphors(self.symbols[at].low):
                    yield end, NounPhrase(several, role=way)

    def _of_class(self, at: int, end: int, classes: frozenset[Term]) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a class with names behind it, what "the CLASS" points back to, and the class itself."""
        # "the vendor Ontotext", "the vendors Ontotext and Stardog"
        for last, noun in self.nouns(end):
            typed = self._typed(noun.things, classes) if noun.role is None else None
            if typed is not None:
                yield last, replace(noun, steps=noun.steps + typed)
        if self._is(at, frozenset(["the", "this", "these"])):
            for several in self._anaphors():
                same = frozenset(
                    one for each in several for one in each if self.facts.typed(frozenset([one]), classes)
                )
                if same:
                    yield end, NounPhrase((same,), plain=True)
        yield end, NounPhrase((classes,), plain=True)

    def _amount(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a number, with its unit if it has one."""
        number = self._number(at)
        if number is not None:
            end, value = number
            named = bool(self.symbols[at].names)
            yield from self._valued(
                at, end, self._equal(value) if named else frozenset([Literal(str(value))])
            )

    def _role_of(self, at: int) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "ROLE of OWNER"."""
        for end, way in self._role(at):
            if self._is(end, frozenset(["of", "for", "to"])):
                for last, owner in self.nouns(end + 1):
                    for noun in (owner,) if owner.role is None else self._borne(owner):
                        yield last, replace(noun, role=way, plain=False)

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
        low = self.symbols[at].low if at < len(self.symbols) else ""
        try:
            value = Decimal(_COUNTS[low]) if low in _COUNTS else Decimal(self.symbols[at].key)
        except (InvalidOperation, KeyError, IndexError):
            return None
        if not value.is_finite():
            return None
        if at + 1 < len(self.symbols) and self.symbols[at + 1].low in _SCALES:
            return at + 2, value * _SCALES[self.symbols[at + 1].low]
        return at + 1, value

    def _equal(self, value: Decimal) -> frozenset[Term]:
        """Return the literals that have a value."""
        found: set[Term] = set()
        for line in self.facts.lines:
            o = line.triple.o
            if isinstance(o, Literal) and o.datatype is not None:
                try:
                    if Decimal(str(o)) == value:
                        found.add(o)
                except InvalidOperation:
                    continue
        return frozenset(found) or frozenset([Literal(str(value))])

    def _valued(self, start: int, end: int, things: frozenset[Term]) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name, and with a unit behind it where it is a number."""
        number = self._number(start)
        if number is not None and number[0] >= end:
            equal = self._equal(number[1])
            equal |= things if number[0] == end else frozenset()
            yield number[0], NounPhrase((equal,))
            at = number[0]
            if at < len(self.symbols):
                unit = UNITS.get(self.symbols[at].low, self.symbols[at].stem)
                if self.symbols[at].low in UNITS or any(
                    unit in u for u in self.facts.relations.units.values()
                ):
                    yield at + 1, NounPhrase((equal,), unit=unit)
        elif start > 0 and self.symbols[start - 1].low in UNITS and self.symbols[start - 1].is_mark:
            return
        else:
            yield end, NounPhrase((things,))

    def _borne(self, role: NounPhrase) -> Iterator[NounPhrase]:
        """Yield what bears a role, where facts say so."""
        if role.role is None:
            return
        found: dict[Term, list[Line]] = {}
        for owners in role.things:
            for owner in owners:
                for p, flipped in role.role:
                    for line in (self.facts.by_object if flipped else self.facts.by_subject).get(owner, ()):
                        if line.triple.p == p:
                            found.setdefault(line.triple.s if flipped else line.triple.o, []).append(line)
        for bearer in sorted(found, key=str):
            step = ClaimStep(
                frozenset().union(*role.things), role.role, frozenset([bearer]), tuple(found[bearer])
            )
            yield NounPhrase((frozenset([bearer]),), (*role.steps, step))

    def _aside(self, at: int, noun: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield a name with what is said of it beside: in brackets, between commas, in a relative clause."""
        if noun.role is not None:
            yield from self._who_it_is(at, noun)
        if noun.plain or noun.role is not None:
            return
        if self._is(at, frozenset(["("])):
            # Another name alone does not say how the two are related: "GraphDB (Ontotext)" states nothing.
            for beside in (False, True):
                for end, steps in self._remark(at + 1, noun.things, beside=beside):
                    if self._is(end, frozenset([")"])):
                        yield end + 1, replace(noun, steps=noun.steps + steps, told=not beside)
            return
        comma = self._is(at, frozenset([","]))
        start = at + 1 if comma else at
        for end, steps in self._remark(start, noun.things, bare=comma):
            last = end
            if comma and self._is(end, frozenset([","])):
                last = end + 1
            for close in {end, last}:
                yield close, replace(noun, steps=noun.steps + steps, told=True)

    def _who_it_is(self, at: int, role: NounPhrase) -> Iterator[tuple[int, NounPhrase]]:
        """Yield "GraphDB's vendor, Ontotext," as Ontotext, where it is so."""
        comma = self._is(at, frozenset([","]))
        for end, noun in self.nouns(at + comma, several=False):
            if role.role is None or noun.role is not None or noun.plain:
                continue
            steps = self._claim(role.role, role.things, noun.things)
            if steps is not None:
                made = NounPhrase(noun.things, role.steps + noun.steps + steps)
                yield end, made
                if comma and self._is(end, frozenset([","])):
                    yield end + 1, made

    def _remark(
        self, at: int, things: Things, *, bare: bool = True, beside: bool = True
    ) -> Iterator[tuple[int, Steps]]:
        """Yield what is said of things without a verb of its own, or by "which" and "who"."""
        self._spend()
        if self._is(at, frozenset(["which", "that", "who"])):
            yield from self._predicates(at + 1, things)
            return
        if self._is(at, frozenset(["whose"])):
            for end, way in self._role(at + 1):
                yield from self._is_role(end, NounPhrase(things, role=way))
            return
        yield from self._participial(at, things)
        if not bare:
            yield from self._with(at, things)
            return
        yield from self._class(at, things)
        yield from self._with(at, things)
        for end, noun in self.nouns(at, several=False) if beside else ():
            if noun.plain or len(noun.things) != 1:
                continue
            if noun.role is not None:
                # "Ontotext, the developer of GraphDB"
                steps = self._claim(noun.role, noun.things, things)
            else:
                # "Sofia, Bulgaria": beside each other, by whatever relates the first to the second
                steps = self._beside(things, noun.things[0])
            if steps is not None:
                yield end, noun.steps + steps

    def _beside(self, things: Things, other: frozenset[Term]) -> Steps | None:
        steps = []
        for subject in things:
            lines = tuple(
                line
                for s in sorted(subject, key=str)
                for line in self.facts.by_subject.get(s, ())
                if line.triple.o in other and str(line.triple.p) != OWL + "differentFrom"
            )
            if not lines:
                return None
            steps.append(ClaimStep(subject, frozenset((x.triple.p, False) for x in lines), other, lines))
        return tuple(steps) or None

    # --- Predicates --------------------------------------------------------------------------------

    def _class(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "a vendor based in Sofia", said of things."""
        start = at
        if (
            self._is(at, frozenset(["one"]))
            and self._is(at + 1, frozenset(["of"]))
            and self._is(at + 2, frozenset(["the"]))
        ):
            start = at + 3
        elif self._is(at, _ARTICLES | frozenset(["one", "another"])):
            start = at + 1
        if self._is(start, words("kind type form sort")) and self._is(start + 1, frozenset(["of"])):
            start += 2
            start += self._is(start, _ARTICLES)
        yield from self._classed(start, things, ())

    def _classed(self, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        self._spend()
        if at >= len(self.symbols):
            return
        for end, terms in self._names(at):
            kinds = frozenset(t for t in terms if self._is_kind(t))
            if kinds:
                typed = self._typed(things, kinds)
                if typed is not None:
                    yield from self._modified(end, things, steps + typed)
            # "a green jacket", "a 1999 film": something that it has, before what it is
            if len(steps) < 3:
                found = [self._modifying(subject, terms) for subject in things]
                if found and all(found):
                    own = tuple(step for step in found if step is not None)
                    after = end + 1 if self._is(end, frozenset([","])) else end
                    yield from self._classed(after, things, steps + own)

    def _is_kind(self, term: Term) -> bool:
        if term in self.facts.names.classes:
            return True
        return any(
            line.triple.p in self.facts.relations.kinds or str(line.triple.p) == TYPE
            for line in self.facts.by_object.get(term, ())
        )

    def _modifying(self, subject: frozenset[Term], terms: frozenset[Term]) -> ClaimStep | None:
        for s in sorted(subject, key=str):
            for line in self.facts.by_subject.get(s, ()):
                p, o = line.triple.p, line.triple.o
                if (
                    o in terms
                    and str(p) != TYPE
                    and (p in self.facts.relations.qualities or p in self.facts.relations.kinds)
                ):
                    return ClaimStep(subject, frozenset([(p, False)]), frozenset([o]), (line,))
        return None

    def _modified(self, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        yield at, steps
        start = at + 1 if self._is(at, frozenset([","])) else at
        for end, more in self._remark(start, things, bare=False):
            yield from self._modified(end, things, steps + more)
        yield from self._prepositional(at, things, steps)

    def _prepositional(self, at: int, things: Things, steps: Steps = ()) -> Iterator[tuple[int, Steps]]:
        for end, way in self._keyed(at, self.facts.relations.prepositions):
            for last, noun in self.nouns(end):
                if noun.role is None:
                    claim = self._claim(way, things, noun.things, noun.unit)
                    if claim is not None:
                        yield last, steps + noun.steps + claim

    def _participial(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "developed by Ontotext", "based in Sofia", "also known as OWLIM", said of things."""
        self._spend()
        while self._is(at, frozenset(["also", "first"])) and not self._leads(at):
            at += 1
        if at >= len(self.symbols):
            return
        yield from self._done_by(at, things)
        low = self.symbols[at].low
        done = participle(low) or low.endswith("ing")
        for end, way in self._keyed(at, self.facts.relations.participles):
            if not done and (self._stem(at), self.symbols[end - 1].low) in self.facts.relations.verbs:
                continue  # "plays for" wants a subject of its own
            for last, steps in self._behind(end, way, things):
                yield last, steps
                yield from self._again(at, last, things, steps)
        yield from self._as_labelled(at, things)
        yield from self._called(at, things)

    def _done_by(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "developed by Ontotext", said of things, with what may follow."""
        if participle(self.symbols[at].low) or self.lenient:
            for end, way in self._passive(at):
                for last, noun in self._completed(end):
                    steps = self._claim(way, noun.things, things)
                    if steps is not None:
                        yield last, noun.steps + steps
                        yield from self._again(at, last, things, noun.steps + steps)

    def _as_labelled(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield a whole label that is no verb of its own, with what stands behind it, said of things."""
        past = participle(self.symbols[at].low)
        for end, way in self._keyed(at, self.facts.relations.phrases):
            if past or (not finite(self.symbols[at].low) and self.symbols[end - 1].low in PREPOSITIONS):
                yield from self._behind(end, way, things)

    def _called(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "named OWLIM", "known as OWLIM", said of things."""
        if not self._is(at, _NAMED | words("known")):
            return
        known_as = self.symbols[at].low == "known" and self._is(at + 1, frozenset(["as"]))
        naming = frozenset((p, False) for p in self.facts.relations.naming)
        for last, noun in self.nouns(at + 2 if known_as else at + 1):
            steps = self._claim(naming, things, noun.things) if naming else None
            if steps is not None:
                yield last, noun.steps + steps

    def _leads(self, at: int) -> bool:
        """Return whether an adverb is a part of what says a relation: "first released in"."""
        tables = (self.facts.relations.participles, self.facts.relations.phrases)
        return any(next(self._keyed(at, table), None) for table in tables)

    def _completed(self, at: int) -> list[tuple[int, NounPhrase]]:
        """Return the noun phrases that begin at a place, of a role what bears it."""
        found: list[tuple[int, NounPhrase]] = []
        for end, noun in self.nouns(at):
            found += [(end, one) for one in ((noun,) if noun.role is None else self._borne(noun))]
        return found

    def _behind(self, at: int, way: Way, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what stands behind words that say a relation, with the claim that they make of things."""
        for end, noun in self._completed(at):
            steps = self._said(way, things, noun)
            if steps is not None:
                yield end, steps

    def _said(self, way: Way, things: Things, noun: NounPhrase) -> Steps | None:
        """Return what a noun phrase says, and that things are so related to it."""
        steps = self._claim(way, things, noun.things, noun.unit)
        return None if steps is None else noun.steps + steps

    def _passive(self, at: int) -> Iterator[tuple[int, Way]]:
        """Yield "developed by", with what it says from agent to patient."""
        for end, way in self._keyed(at, self.facts.relations.passives):
            if self._is(end, frozenset(["by"])):
                yield end + 1, way

    def _again(self, verb: int, at: int, things: Things, steps: Steps) -> Iterator[tuple[int, Steps]]:
        """Yield a second complement of one participle: "released by A in 2007"."""
        if not self._is(at, PREPOSITIONS):
            return
        for key, ways in (*self.facts.relations.participles.items(), *self.facts.relations.verbs.items()):
            passive = not key[-1]
            last = "by" if passive else key[-1]
            if len(key) != 2 or key[0] != self._stem(verb) or last != self.symbols[at].low:
                continue
            for end, noun in self._completed(at + 1):
                claim = (
                    self._claim(frozenset(ways), noun.things, things)
                    if passive
                    else self._claim(frozenset(ways), things, noun.things, noun.unit)
                )
                if claim is not None:
                    yield end, steps + noun.steps + claim

    def _with(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        if self._is(at, frozenset(["with", "having"])):
            yield from self._had(at + 1, things)

    def _had(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what things have: "a height of 172 cm", "the features A and B", "blue eyes", "3 moons"."""
        self._spend()
        start = at + 1 if self._is(at, _ARTICLES) else at
        yield from self._so_many(start, things)
        for end, way in self._role(start):
            after = end
            if self._is(end, frozenset(["such"])) and self._is(end + 1, frozenset(["as"])):
                after = end + 2
            if self._is(end, frozenset(["of", ":", ","])) or self._is(end, _NAMED):
                after = end + 1
            yield from self._behind(after, way, things)
        yield from self._before_role(at, things)

    def _so_many(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "3 moons", and "3 moons: A, B and C", that things have."""
        counted = self._number(at)
        if counted is None:
            return
        for end, way in self._role(counted[0]):
            steps = self._claim(way, things, (self._equal(counted[1]),))
            if steps is not None:
                yield end, steps
            steps = self._counted(way, things, counted[1])
            if steps is None:
                continue
            yield end, steps
            if self._is(end, frozenset([":"])):
                for last, noun in self._completed(end + 1):
                    named = self._claim(way, things, noun.things)
                    if named is not None and len(noun.things) == counted[1]:
                        yield last, steps + noun.steps + named

    def _before_role(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what things have, with its role behind it or none: "Sofia as its seat", "blue eyes"."""
        having = frozenset((p, False) for p in self.facts.relations.having)
        for end, noun in self._completed(at):
            if self._is(end, frozenset(["as"])):
                yield from self._claimed(self._role(end + 1 + self._is(end + 1, _DETERMINERS)), things, noun)
            if having and not noun.unit:
                yield from self._claimed([(end, having)], things, noun)
            yield from self._claimed(self._tail(end), things, noun)

    def _claimed(
        self, ways: Iterable[tuple[int, Way]], things: Things, noun: NounPhrase
    ) -> Iterator[tuple[int, Steps]]:
        """Yield of several ways those in which things are related to what a noun phrase says."""
        for end, way in ways:
            steps = self._said(way, things, noun)
            if steps is not None:
                yield end, steps

    def _tail(self, at: int) -> Iterator[tuple[int, Way]]:
        """Yield the last words of role nouns: "eyes" of "eye color" behind its value, "blue"."""
        for key, ways in self.facts.relations.nouns.items():
            for size in range(1, len(key) + 1):
                for begin in {0, len(key) - size}:
                    part = key[begin : begin + size]
                    if all(self._stem(at + i) == word for i, word in enumerate(part)):
                        yield at + size, frozenset(ways)

    def _counted(self, way: Way, things: Things, number: Decimal) -> Steps | None:
        """Return the claim that each of some things has so many of what a role noun says."""
        steps = []
        for subject in things:
            best: dict[Term, Line] = {}
            for p, flipped in way:
                for owner in subject:
                    if (owner, p, flipped) in self.facts.cut:
                        return None
                    for line in (self.facts.by_object if flipped else self.facts.by_subject).get(owner, ()):
                        if line.triple.p == p:
                            best[line.triple.s if flipped else line.triple.o] = line
            if len(best) != number or not best:
                return None
            steps.append(ClaimStep(subject, way, frozenset(best), tuple(best.values())))
        return tuple(steps) or None

    def _is_role(self, at: int, role: NounPhrase) -> Iterator[tuple[int, Steps]]:
        """Yield "[The developer of GraphDB] is Ontotext"."""
        if role.role is None:
            return
        start = at
        if self._is(at, _WAS) and not (self._is_past(role.things) or self._acts(0, at)):
            return
        if self._is(at, _BE | frozenset([":", "include", "includes", "–", ","])):
            start = at + 1
        elif not self._is(at, frozenset(["namely"])):
            return
        start += self._is(start, _ADVERBS)
        start += self._is(start, frozenset([":"]))
        for end, steps in self._behind(start, role.role, role.things):
            yield end, role.steps + steps

    def _predicates(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield one or more predicates joined by "and", said of things."""
        for end, steps, verb in self._predicate(at, things):
            yield end, steps
            yield from self._joined_on(end, things, steps, verb)

    def _joined_on(self, at: int, things: Things, steps: Steps, verb: str) -> Iterator[tuple[int, Steps]]:
        self._spend()
        for start in self._joined(at):
            start += self._is(start, _ADVERBS)
            found = [*self._predicate(start, things)]
            if verb == "be":
                found += [(end, more, verb) for end, more in self._complements(start, things, was=False)]
            elif verb == "have":
                found += [(end, more, verb) for end, more in self._had(start, things)]
            for end, more, again in found:
                yield end, steps + more
                yield from self._joined_on(end, things, steps + more, again)

    def _predicate(self, at: int, things: Things) -> Iterator[tuple[int, Steps, str]]:
        """Yield a predicate, with the verb that what follows may share: "be", "have" or none."""
        self._spend()
        while self._is(at, _ADVERBS):
            if self.symbols[at].low == "both" and len(things) != 2:
                return
            at += 1
        if at >= len(self.symbols):
            return
        if self._is(at, _BE):
            was = self._is(at, _WAS)
            start = at + 1
            if self._is(start, frozenset(["both"])) and len(things) != 2:
                return
            start += self._is(start, _ADVERBS)
            for end, steps in self._complements(start, things, was=was):
                yield end, steps, "be"
            yield from ((end, steps, "be") for end, steps in self._denials(start, things))
            return
        if self._is(at, frozenset(["has", "have"])) and self._is(at + 1, frozenset(["been"])):
            for end, steps in self._participial(at + 2, things):
                yield end, steps, "be"
        if self._is(at, _HAVE):
            if self._is(at + 1, frozenset(["not"])):
                yield from ((end, steps, "") for end, steps in self._truth(at + 2, things, denied=True))
            yield from ((end, steps, "") for end, steps in self._truth(at + 1, things, denied=False))
            yield from ((end, steps, "have") for end, steps in self._had(at + 1, things))
        for end, steps in self._active(at, things):
            yield end, steps, ""

    def _active(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "develops GraphDB", "works for Acme", "weighs 5 kg", and whole labels."""
        known = self.facts.relations
        if finite(self.symbols[at].low) or self.symbols[at].low.endswith(("s", "ed")):
            for key in (key for key in known.verbs if key[0] == self._stem(at)):
                start = self._along(at, key)
                if start is None or (agentive(self.symbols[at].low) and not finite(self.symbols[at].low)):
                    continue
                way = frozenset(known.verbs[key])
                yield from self._behind(start, way, things)
                for end, role in self._role(start):  # "offers features such as X"
                    if role & way and self._is(end, words("such including like :")):
                        yield from self._behind(end + 1 + self._is(end + 1, words("as")), role & way, things)
                counted = self._number(start) if start < len(self.symbols) else None
                for end, terms in self._names(counted[0]) if counted is not None else ():
                    if counted is not None and terms & self.facts.names.classes:
                        steps = self._counted(way, things, counted[1])
                        typed = steps and self._typed(tuple(frozenset([o]) for o in steps[0].object), terms)
                        if steps is not None and typed:
                            yield end, steps + typed
        for end, way in self._keyed(at, known.phrases):
            yield from self._behind(end, way, things)
        yield from self._truth(at, things, denied=False)

    def _along(self, at: int, key: tuple[str, ...]) -> int | None:
        """Return where a verb at a place ends, with a noun that is a part of it: "uses the fuel"."""
        for i, word in enumerate(key[:-1]):
            at += i > 0 and self._is(at, _ARTICLES)
            if self._stem(at) != word:
                return None
            at += 1
        if not key[-1]:
            return at
        return at + 1 if self._is(at, frozenset([key[-1]])) else None

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
        yield from self._measured(at, things)
        if not over:
            yield from self._class(at, things)
            yield from self._quality(at, things)
        for end, noun in self.nouns(at, several=True):
            if noun.role is not None and over and not self._acts(at, end):
                continue  # what was the capital may be it no longer
            if noun.role is not None:
                # "Ontotext is the developer of GraphDB"
                steps = self._claim(noun.role, noun.things, things)
                if steps is not None:
                    yield end, noun.steps + steps
            elif not noun.plain and len(noun.things) == len(things) == 1:
                steps = self._same(things[0], noun.things[0])
                if steps is not None:
                    yield end, noun.steps + steps

    def _acts(self, at: int, end: int) -> bool:
        """Return whether a role is one of doing something, which may well be over."""
        return any(agentive(symbol.low) for symbol in self.symbols[at:end] if not symbol.names)

    def _same(self, one: frozenset[Term], other: frozenset[Term]) -> Steps | None:
        lines = self.facts.of(frozenset((p, False) for p in self.facts.relations.naming), one, other)
        return (ClaimStep(one, frozenset(), other, lines),) if lines else None

    def _is_past(self, things: Things) -> bool:
        """Return whether what was is told of things with a date, which may well be over."""
        return all(
            any(
                isinstance(x.triple.o, Literal)
                and str(x.triple.o.datatype or "").removeprefix(XSD)
                in ("date", "dateTime", "gYear", "gYearMonth")
                for s in subject
                for x in self.facts.by_subject.get(s, ())
            )
            for subject in things
        )

    def _quality(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "female", said of what has it as its gender."""
        for end, terms in self._names(at):
            values = frozenset(term for term in terms if isinstance(term, Literal))
            found = [self._modifying(subject, values) for subject in things]
            if found and all(found):
                yield end, tuple(step for step in found if step is not None)

    def _measured(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield "172 cm tall"."""
        for end, noun in self.nouns(at, several=False):
            if self._number(at) is None or noun.role is not None:
                continue
            start = (
                end + 1
                if self._is(end, frozenset(["years", "year"])) and self._is(end + 1, frozenset(["old"]))
                else end
            )
            for last, way in self._keyed(start, self.facts.relations.adjectives):
                steps = self._claim(way, things, noun.things, noun.unit)
                if steps is not None:
                    yield last, steps

    def _truth(self, at: int, things: Things, *, denied: bool) -> Iterator[tuple[int, Steps]]:
        at += self._is(at, frozenset(["a", "an"]))
        for end, way in self._keyed(at, self.facts.relations.truths):
            steps = []
            for subject in things:
                lines = [
                    line
                    for s in subject
                    for line in self.facts.by_subject.get(s, ())
                    if (line.triple.p, False) in way
                    and (str(line.triple.o).strip().casefold() in ("false", "0")) == denied
                ]
                if not lines and not self.lenient:
                    break
                steps.append(ClaimStep(subject, way, frozenset([Literal(not denied)]), tuple(lines)))
            else:
                yield end, tuple(steps)

    def _denials(self, at: int, things: Things) -> Iterator[tuple[int, Steps]]:
        """Yield what a negation may say: a truth value that is false, and what the graph calls different."""
        if not self._is(at, frozenset(["not"])):
            return
        yield from self._truth(at + 1, things, denied=True)
        start = at + 1
        if [self.symbols[i].low for i in range(start, min(start + 3, len(self.symbols)))] == [
            "the",
            "same",
            "as",
        ]:
            different = frozenset(
                (line.triple.p, False)
                for line in self.facts.lines
                if str(line.triple.p) == OWL + "differentFrom"
            )
            for end, noun in self.nouns(start + 3):
                steps = self._claim(different, things, noun.things) if different else None
                if steps is not None:
                    yield end, steps

    def predicated(self, at: int, things: Things) -> Iterator[Steps]:
        """Yield what is said of things by the predicate that begins at a place."""
        for _, steps in self._predicates(at, things):
            yield steps
        for _, steps in self._participial(at, things):
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
        start = at
        if self._is(at, frozenset([",", ";"])):
            start = at + 1
        if self._is(start, words("and while whereas & but")):
            yield start + 1
        elif start > at:
            yield start

    def _clause(self, at: int) -> Iterator[tuple[int, Steps, Things]]:
        """Yield where one clause may end, with its claims and its subject."""
        self._spend()
        for end, subject in self.nouns(at):
            if subject.role is None:
                for last, steps in self._told(at, end, subject):
                    yield last, steps, subject.things
            else:
                yield from self._told_of_role(end, subject)
        yield from self._inverted(at)
        yield from self._pointing_back(at)

    def _told_of_role(self, at: int, role: NounPhrase) -> Iterator[tuple[int, Steps, Things]]:
        """Yield who bears a role, and what is said of who bears it."""
        for last, steps in self._is_role(at, role):
            yield last, steps, role.things
        for noun in self._borne(role):
            for last, steps in self._predicates(at, noun.things):
                yield last, noun.steps + steps, noun.things

    def _told(self, at: int, end: int, subject: NounPhrase) -> Iterator[tuple[int, Steps]]:
        """Yield what is said of things that are named: by a verb, behind a colon, beside the name."""
        things = subject.things
        for last, steps in self._predicates(end, things):
            yield last, subject.steps + steps
        if self._is(end, frozenset([":", "–"])):
            for last, steps in self._remark(end + 1, things, beside=False):
                yield last, subject.steps + steps
            yield from self._labelled(end + 1, subject)
        # A name with what is said of it beside is a statement, too: "GraphDB, developed by Ontotext".
        if subject.told and at == 0:
            yield end, subject.steps
        elif at == 0:
            for last, steps in self._remark(end, things, bare=False):
                yield last, subject.steps + steps

    def _inverted(self, at: int) -> Iterator[tuple[int, Steps, Things]]:
        """Yield a class that stands before what is of it: "One city that is located in Italy is Bolzano"."""
        if not self._is(at, words("one a an another")):
            return
        for middle in range(at + 2, len(self.symbols) - 1):
            for end, noun in self.nouns(middle + 1) if self._is(middle, _NOW) else ():
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

    def _labelled(self, at: int, subject: NounPhrase) -> Iterator[tuple[int, Steps]]:
        """Yield "label: value" behind a name."""
        for end, way in (*self._keyed(at, self.facts.relations.phrases), *self._role(at)):
            if self._is(end, frozenset([":"])):
                for last, steps in self._behind(end + 1, way, subject.things):
                    yield last, subject.steps + steps


def derive(derivation: Derivation) -> Steps | None:
    """Return the claims of a sentence that is derived as a whole, None of any other.

    A lenient derivation gives the reading with the fewest open claims.
    """
    best: Steps | None = None
    try:
        for end, steps in derivation.clauses():
            if end != len(derivation.symbols):
                continue
            if not derivation.lenient:
                return steps
            if best is None or _open(steps) < _open(best):
                best = steps
                if not _open(steps):
                    break
    except (TooLongError, RecursionError):
        return best
    return best


def _open(steps: Steps) -> int:
    return sum(not step.lines for step in steps)


def longest(derivation: Derivation, least: int = 2) -> tuple[int, Steps]:
    """Return how far the longest beginning of a sentence goes that is a statement, with its claims."""
    found: tuple[int, Steps] = (0, ())
    try:
        for end, steps in derivation.clauses():
            if end > found[0] and end >= least:
                found = (end, steps)
    except (TooLongError, RecursionError):
        return found
    return found


_FIRST: Final = URIRef("urn:mrag:first")
_SECOND: Final = URIRef("urn:mrag:second")
_RELATION: Final = URIRef("urn:mrag:relation")
_NAMES: Final = 4
"""Names of each end and of the relation that are looked for."""


def is_turned_round(
    text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]
) -> bool:
    """Return whether a text says a relation from the object to the subject, and not the other way."""
    return _says(text, object_, relation, subject) and not _says(text, subject, relation, object_)


def _says(text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]) -> bool:
    triple = Triple(_FIRST, _RELATION, _SECOND)
    lines = [
        Line(f"t{at}", "", triple, "", False, (s, p, o))
        for at, (s, p, o) in enumerate(
            (s, p, o) for s in subject[:_NAMES] for p in relation[:_NAMES] for o in object_[:_NAMES]
        )
    ]
    if not lines:
        return False
    names, told = ContextNames(lines), tokens(text)
    symbols = symbols_of(text, told, names.find(text, told))
    derivation = Derivation(symbols, facts_of(lines[:1], names, relations(lines)))
    spoken = {term for s in symbols for _, terms in s.names for term in terms}
    if not spoken >= {_FIRST, _SECOND}:
        return False
    try:
        for start, symbol in enumerate(symbols):
            for size, terms in symbol.names:
                ends = terms & {_FIRST, _SECOND}
                for at in range(start + size, len(symbols)) if ends else ():
                    if any(derivation.predicated(at, (frozenset(ends),))):
                        return True
                if ends and any(steps for _, steps in derivation.clauses(start)):
                    return True
    except (TooLongError, RecursionError):
        return False
    return False
