"""Which lines of a context a sentence rests on: computed from the words, never taken from a model.

A line supports a sentence when its subject and its object are both named there, under any of their
names, and nothing in the wording speaks against it: the sentence does not deny, and does not name
another relation. What an answer leaves out because the question said it ("Who develops GraphDB?" -
"Ontotext.") is filled in from the question, or from the sentence before where a pronoun points back.
A sentence is supported when such a line exists and nothing else that it names - things of the context,
numbers, capitalised names - is left without a line.

The test reads words, not meaning: two facts crossed within one sentence ("A makes X and owns Y" for "A
makes Y and owns X") pass it. It errs to the strict side otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.support.claims import Claim
from mrag.generation.support.coverage import Coverage
from mrag.generation.support.mentions import ContextNames
from mrag.generation.verbalise import describes
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Term
from mrag.text.english import NEGATIONS, NO, PRONOUNS, YES
from mrag.text.names import split_identifier
from mrag.text.tokens import content, keys, stem, tokens

_TYPE = RDF + "type"
_COPULAR = frozenset([_TYPE, RDFS + "subClassOf", RDFS + "subPropertyOf", OWL + "sameAs"])
_DENYING = frozenset([OWL + "disjointWith", OWL + "differentFrom", OWL + "complementOf"])


@dataclass(frozen=True, slots=True)
class Support:
    """What a sentence rests on.

    Attributes:
        lines: Lines that say what it says, the best first.
        supported: Whether all of what it says is covered, or it says nothing that needs cover.
        rejected: Ids that were written in it and do not hold.
        subjects: What a pronoun in the next sentence may point back to.
    """

    lines: tuple[Line, ...]
    supported: bool
    rejected: tuple[str, ...] = ()
    subjects: frozenset[Term] = frozenset()


class Citer:
    """Finds support for sentences in one context.

    Args:
        question: What was asked.
        context: The lines that may be cited, and whose names are known.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "GraphDB"), URIRef(e + "by"), URIRef(e + "Ontotext"))
        >>> line = Line("t1", "…", triple, e, False, ("GraphDB", "developed by", "Ontotext"))
        >>> citer = Citer("Who develops GraphDB?", Context((line,), ()))
        >>> [line.id for line in citer.support("Ontotext.").lines], citer.support("Neo4j.").supported
        (['t1'], False)
    """

    def __init__(self, question: str, context: Context) -> None:
        self.context = context
        every = context.lines
        self.lines = list(every)
        self.names = ContextNames(every)
        self._order = {line.id: i for i, line in enumerate(every)}
        self._touching: dict[Term, list[Line]] = {}
        self._relations: dict[Term, frozenset[str]] = {}
        self._classes = self.names.classes
        for line in every:
            s, p, o = line.triple
            self._relations.setdefault(p, frozenset(content(split_identifier(line.labels[1]))))
            for term in {s, o}:
                self._touching.setdefault(term, []).append(line)
        self._asked = Claim(question, self.names)
        self._coverage = Coverage(every, self.names, self._asked)
        self._asked_named = {
            term
            for mention in self._asked.mentions
            if not mention.terms & (self._classes | self.names.properties)
            for term in mention.terms
        }

    def limited(self, ids: Collection[str]) -> Citer:
        """Return a citer of the same names that may cite only some lines."""
        other = copy(self)
        other.lines = [line for line in self.lines if line.id in ids]
        other._touching = {t: [x for x in lines if x.id in ids] for t, lines in self._touching.items()}
        return other

    # --- The rules ---------------------------------------------------------------------------------

    def support(
        self,
        text: str,
        written: Sequence[str] = (),
        before: frozenset[Term] = frozenset(),
        lead: bool = False,
        items: int = 0,
    ) -> Support:
        """Find what a sentence rests on.

        Args:
            text: The sentence, without ids.
            written: Ids that the model wrote in it.
            before: `subjects` of the sentence before.
            lead: Whether it only leads in to a list or heads a part.
            items: How many items the list has that it leads in to: a number that it may give.
        """
        claim = Claim(text, self.names)
        settled = self._settled(claim, written, before)
        if settled is not None:
            return settled
        if claim.first in YES and len(claim.words) == 1:
            claim = self._asked
        found, anchored = self._found(claim, before, lead)
        focus = before | self._asked.here
        kept = [line for line in self._written(written) if self._holds(line, claim, focus)]
        names = {line.id.casefold() for line in kept}
        rejected = tuple(one for one in written if one.casefold() not in names)
        lines = self._best(found, kept, claim, anchored)
        claim.counted = items or len({m.first for m in claim.mentions})
        covered = not self._coverage.is_open(claim, lines, lead=lead)
        supported = covered and (bool(lines) or (lead and not claim.denies))
        subjects: frozenset[Term] = frozenset(line.triple.s for line in lines) | frozenset(
            m for m in claim.here if m not in self._classes and not isinstance(m, Literal)
        )
        if claim.first in PRONOUNS or not subjects:
            subjects |= before
        return Support(lines, supported, rejected, subjects)

    def _settled(self, claim: Claim, written: Sequence[str], before: frozenset[Term]) -> Support | None:
        """Return the support of a sentence that no line has to be sought for; None of any other."""
        verbatim = [line for line in self.lines if line.text and line.text in claim.text]
        if verbatim and not tokens(_without(claim.text, verbatim)):
            # Before all else: a label may say "I don't know".
            quoted = {line.id.casefold() for line in verbatim}
            rejected = tuple(one for one in written if one.casefold() not in quoted)
            return Support(tuple(verbatim), True, rejected, frozenset(x.triple.s for x in verbatim))
        told = (m for m in claim.mentions if not self._coverage.is_common_noun(m))
        if claim.is_caveat or (claim.refuses and all(self._coverage.from_question(m) for m in told)):
            return Support((), True, tuple(written), before)
        if claim.first in NO and not claim.text[claim.words[0].end : claim.words[0].end + 1].isspace():
            return Support((), False, tuple(written), before)
        return None

    def _found(self, claim: Claim, before: frozenset[Term], lead: bool) -> tuple[list[Line], bool]:
        """Return the lines that say what a sentence says, and whether some fill in what it leaves unsaid."""
        asked = self._asked.here
        found = [line for line in self.lines if self._states(line, claim, claim.here, strict=True)]
        # Prose shares many words with everything; it counts where no plain fact says the same.
        plain = [line for line in found if not describes(line)]
        found = plain if plain and not self._coverage.is_open(claim, plain) else found
        anchored = False
        if not found or self._coverage.is_open(claim, found):
            back = claim.first in PRONOUNS and bool(before)
            extra = self._anchored(claim, before if back else asked, found, every=not back)
            if extra is None and not lead and not back and before:
                extra = self._anchored(claim, before, found, every=False)
            if extra:
                found, anchored = [*found, *extra], True
        if not found and not asked and not before:
            found = [line for line in self.lines if self._object_and_relation(line, claim)]
        return found, anchored

    def _states(self, line: Line, claim: Claim, present: frozenset[Term], *, strict: bool) -> bool:
        """Return whether a line says what the sentence says, given what counts as named."""
        s, _, o = line.triple
        if strict:
            both = claim.pair(s, o) or (s in claim.here and self._value_overlaps(line, claim))
        else:
            # Prose about what was asked does not tell of another thing that the sentence names.
            others = any(t != s and self._is_thing(t) for t in claim.here)
            by_value = not others and self._value_overlaps(line, claim)
            both = (s in present and (o in claim.here or by_value)) or (o in present and s in claim.here)
        fits = both and self._relation_fits(line, claim) and self._polarity_fits(line, claim)
        return fits and self._speaks_of(line, claim)

    def _speaks_of(self, line: Line, claim: Claim) -> bool:
        """Return whether a sentence speaks of the ends of a line, not of what they have: "Ada's children"."""
        s, p, o = line.triple
        if describes(line):
            return True
        spelt = content(split_identifier(line.labels[1]), "und")  # "knows" is a function word, too
        own = None if str(p) in _COPULAR else self._relations[p] or frozenset(spelt)
        value = isinstance(o, Literal) or o in self._classes
        for end in (s, o):
            where = claim if end in claim.here else self._asked
            if where.is_owner_only(end, own, value=value):
                return False
        return True

    def _is_thing(self, term: Term) -> bool:
        common = term in self._classes or term in self.names.properties
        return not (common or isinstance(term, Literal))

    def _relation_fits(self, line: Line, claim: Claim) -> bool:
        p = line.triple.p
        own = self._relations[p]
        if not own or str(p) in _COPULAR or describes(line):
            return True
        if claim.beside(line.triple.s, line.triple.o):
            return True  # "Sofia, Bulgaria"
        for wording in (claim.wording, self._asked.wording):
            if own & wording:
                return True
            if any(r and r <= wording for r in self._relations.values()):
                return False  # another relation is named, so this is not the one meant
        return True

    def _polarity_fits(self, line: Line, claim: Claim) -> bool:
        o = line.triple.o
        if isinstance(o, Literal) and o.datatype is not None and str(o.datatype) == XSD + "boolean":
            return claim.denies == (str(o).strip().casefold() in ("false", "0"))
        if not claim.denies or str(line.triple.p) in _DENYING:
            return True
        label = set(self._coverage.keys_of(line))
        return any(k in label for k in (claim.words[i].key for i in claim.rest) if k in NEGATIONS)

    def _value_overlaps(self, line: Line, claim: Claim) -> bool:
        """Return whether the sentence uses the object without naming it whole."""
        o = line.triple.o
        if isinstance(o, Literal):
            if o.datatype is not None and str(o.datatype) == XSD + "boolean":
                own = self._relations[line.triple.p]
                return bool(own) and own <= claim.wording
            value = set(content(str(o))) | set(content(line.labels[2]))
            used = claim.used(line)
            return len(value) > 6 and len(used) >= 2 and len(used & value) >= 0.6 * len(used)
        return claim.names_part(keys(line.labels[2]))

    def _anchored(
        self, claim: Claim, anchors: frozenset[Term], found: list[Line], *, every: bool
    ) -> list[Line] | None:
        """Find lines that join what the sentence names to what it leaves unsaid; None if some does not.

        With `every`, each thing named by the question must be joined to each new name, directly or over
        one thing between: it is not enough that an answer has to do with one half of the question.
        """
        if not anchors:
            return None
        extra = [line for line in self.lines if self._states(line, claim, anchors, strict=False)]
        open_ = self._coverage.open_mentions(claim, found)
        covered = {term for line in found for term in (line.triple.s, line.triple.o)}
        named = [t for t in anchors if t in self._asked_named and t not in covered] if every else []
        for mention in open_:
            for group in self._groups(named):
                if group & mention.terms or any(_joins(line, mention.terms, group) for line in extra):
                    continue
                path = self._path(mention.terms, group, claim)
                if path is None:
                    return None
                extra.extend(path)
        extra = [line for line in extra if line not in found]
        return extra if extra and not self._coverage.is_open(claim, [*found, *extra]) else None

    def _groups(self, named: Iterable[Term]) -> list[frozenset[Term]]:
        """Group the question's terms by mention: of one name's several owners any will do."""
        wanted = set(named)
        return [m.terms for m in self._asked.mentions if m.terms & wanted]

    def _path(self, start: frozenset[Term], goal: frozenset[Term], claim: Claim) -> list[Line] | None:
        for ends, begins in ((start, goal), (goal, start)):
            for second in (x for t in sorted(ends, key=str) for x in self._touching.get(t, ())):
                if second.triple.o not in ends or isinstance(second.triple.s, Literal):
                    continue
                for first in self._touching.get(second.triple.s, ()):
                    if first.triple.o == second.triple.s and first.triple.s in begins and not claim.denies:
                        return [first, second]
        return None

    def _object_and_relation(self, line: Line, claim: Claim) -> bool:
        own = self._relations[line.triple.p]
        return (
            line.triple.o in claim.here
            and bool(own & claim.wording)
            and self._relation_fits(line, claim)
            and self._polarity_fits(line, claim)
            and self._speaks_of(line, claim)
        )

    def _written(self, written: Sequence[str]) -> list[Line]:
        wanted = {one.casefold() for one in written}
        return [line for line in self.lines if line.id.casefold() in wanted]

    def _holds(self, line: Line, claim: Claim, focus: frozenset[Term]) -> bool:
        """Return whether an id that the model wrote may stay: its line's words must be in the sentence."""
        s, p, o = line.triple
        if not (self._relation_fits(line, claim) and self._polarity_fits(line, claim)):
            return False
        if not self._speaks_of(line, claim):
            return False
        words = {stem(w.raw) for w in claim.words}
        value = content(line.labels[2])
        object_ = o in claim.here or (value and len(words & set(value)) * 2 >= len(value))
        if s in claim.here:
            return bool(object_) or self._value_overlaps(line, claim)
        if s in focus:
            return bool(object_)
        return bool(object_) and bool(self._relations[p] & claim.wording) and not focus

    # --- The order ---------------------------------------------------------------------------------

    def _best(
        self, found: Iterable[Line], kept: Sequence[Line], claim: Claim, anchored: bool
    ) -> tuple[Line, ...]:
        """Order lines, and of several between the same two things keep those that say it in its words."""
        wording = claim.wording | self._asked.wording if anchored or not claim.wording else claim.wording
        scores: dict[str, tuple[float, Line]] = {}
        for line in [*kept, *found]:
            own = self._relations[line.triple.p]
            score = 2.0 * bool(own & wording) + 1.0 * (line in kept) + 0.5 * (not line.inferred)
            scores[line.id] = (score, line)
        pairs: dict[frozenset[Term], float] = {}
        for score, line in scores.values():
            pair = frozenset([line.triple.s, line.triple.o])
            pairs[pair] = max(pairs.get(pair, 0.0), score)
        best = [
            (score, line)
            for score, line in scores.values()
            if line in kept or score >= 2 or pairs[frozenset([line.triple.s, line.triple.o])] < 2
        ]
        return tuple(line for _, line in sorted(best, key=lambda x: (-x[0], self._order[x[1].id])))


def _without(text: str, lines: Sequence[Line]) -> str:
    for line in sorted(lines, key=lambda x: -len(x.text)):
        text = text.replace(line.text, " ")
    return text


def _joins(line: Line, one: frozenset[Term], other: frozenset[Term]) -> bool:
    s, _, o = line.triple
    return (s in one and o in other) or (o in one and s in other)
