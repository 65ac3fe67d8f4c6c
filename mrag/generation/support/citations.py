"""Which lines of a context a sentence rests on: computed from the words, never taken from a model.

A sentence is read as a set of claims (see `grammar`): who, which relation in which direction, to whom or how
much. It is supported where each claim has its line and no word is left over. What an answer leaves out
because the question said it ("Who develops GraphDB?" - "Ontotext.") is filled in from the question, or
from the sentence before where a pronoun points back. All else is not supported, and the words that no fact
accounts for are told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.support import asked
from mrag.generation.support.grammar import ClaimStep, Derivation, Facts, Steps, derive, facts_of, longest
from mrag.generation.support.mentions import ContextNames
from mrag.generation.support.possession import owned
from mrag.generation.support.relations import relations
from mrag.generation.support.roots import PREPOSITIONS, finite
from mrag.generation.support.sentences import items_after, leads_of
from mrag.generation.support.symbols import Symbol, symbols_of
from mrag.generation.support.wordings import described, disjoint, in_a_row, is_own
from mrag.generation.verbalise import caveats
from mrag.rdf.terms import RDF, XSD, Term
from mrag.text.tokens import (
    NEGATIONS,
    NO,
    OTHERS,
    PRONOUNS,
    YES,
    is_stopword,
    language_of,
    stem,
    tokens,
    words,
)

_CAVEAT: Final = re.compile(caveats())
"""What answers without a model say of themselves."""
_SOURCE: Final = r"(?:context|facts?|lines?|information|(?:the|this|given) (?:knowledge )?graph)"
_NOTHING_SAID: Final = re.compile(
    r"\b(?:i (?:do not|don['’]t|cannot|can['’]t|could not) (?:know|answer|tell|say|find|determine)"
    rf"|{_SOURCE}(?: (?:given|provided|above|here|found|of it))?"
    r" (?:does|do|did|is|are|was|has|have|says?|holds?|contains?|mentions?|gives?|provides?)"
    r"(?: not|n['’]t| no| nothing)\b"
    rf"|(?:not|nothing|no \w+)(?: \w+){{0,4}} in (?:the |this |my )?(?:\w+ ){{0,2}}{_SOURCE}\b"
    r"|no (?:information|answer|mention|matching)\b"
    r"|not (?:specified|mentioned|given|known|provided|stated)\b"
    r"|weiß (?:ich |es )?nicht|keine (?:information|angabe)|je ne sais pas|non (?:lo )?so\b|no (?:lo )?sé\b"
    r"|non è (?:specificato|indicato)|kontext (?:\w+ ){0,4}(?:nicht|keine))",
    re.IGNORECASE,
)
_OF_REFUSALS: Final = frozenset(
    map(
        stem,
        words(
            "i know answer tell say find determine context fact line information graph knowledge given "
            "provided above contain mention give provide hold specify specified specific state stated "
            "matching based question data do does did is are not no nothing cannot can could any whether "
            "about there sorry unfortunately however directly explicitly here found available sure enough "
            "text list don can't don't isn't doesn't ich das es weiß mention this that it nicht je ne sais "
            "pas non so lo sé"
        ),
    )
)
_OPENER: Final = re.compile(
    r"(?:(?:according to|based on|from|as per|in|per|as stated in|as shown in) (?:the |this |these )?"
    r"(?:given |provided |above |listed )?"
    r"(?:knowledge graph|context|facts?|graph|information|lines?|data)(?: given| provided| above)?,? ?"
    r"|(?:the )?(?:given |provided )?(?:knowledge graph|context|facts|graph|information|data) "
    r"(?:says?|states?|shows?|indicates?|tells? us) that "
    r"|(?:in addition|additionally|furthermore|moreover|also|however|specifically|in summary|in short|"
    r"note that|finally|here),? |(?:the )?(?:final )?answer(?: is(?: that)?|:) )",
    re.IGNORECASE,
)
_CLOSER: Final = re.compile(
    r",? (?:according to|based on|as stated in|in) (?:the )?(?:given |provided )?"
    r"(?:context|facts|graph|information)\.?\Z",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(
    r"[,;:] (?:and |but |which |though |although |however,? )?| (?:but|and|because|since) "
)
_MARKS: Final = re.compile(r" \((?:all )?inferred\)")
_IT_IS: Final = re.compile(
    r"(?:it is|it['’]s|that is|that['’]s|this is|they are|these are|he is|she is)\s+(?!not\b)", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"[\"“„«]([^\W\d_]++)[\"”“»]")
_DOES: Final = re.compile(
    r"(?<!\s)\s++(?:does|do|did|is|are|was|were|has|have)\s*+[.!]?\s*+\Z", re.IGNORECASE
)
_HOLDING: Final = (
    words(
        "a an the is are was were be been has have of in on at by for with from to and as which that who "
        "whose it its they their he his she her this these those there also both"
    )
    | PREPOSITIONS
)
"""Words that hold a sentence together, and say nothing alone."""
_LEADING: Final = frozenset(
    map(
        stem,
        words(
            "follow list here answer include name result these below item found find show context graph fact"
        ),
    )
)
_FOLLOWING: Final = re.compile(r" (?:the )?following(?= )| as follows(?= )|:", re.IGNORECASE)
_MEASURED: Final = words(
    "integer decimal double float int long short byte nonNegativeInteger positiveInteger date dateTime gYear "
    "gYearMonth duration time"
)
_MOST_STATEMENTS: Final = 48


@dataclass(frozen=True, slots=True)
class Support:
    """What a sentence rests on.

    Attributes:
        lines: Lines that say what it says, the best first; of a sentence that is not supported, those that
            say a part of it.
        supported: Whether all of what it says is covered, or it says nothing that needs cover.
        rejected: Ids that were written in it and do not hold.
        subjects: What a pronoun in the next sentence may point back to.
        left: Words of it that no line accounts for.
    """

    lines: tuple[Line, ...]
    supported: bool
    rejected: tuple[str, ...] = ()
    subjects: frozenset[Term] = frozenset()
    left: tuple[str, ...] = ()


class Citer:
    """Finds support for sentences in one context.

    Args:
        question: What was asked.
        context: The lines that may be cited, and whose names are known.
        wordings: Further wordings of properties, each with whether it says them from object to subject.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "GraphDB"), URIRef(e + "by"), URIRef(e + "Ontotext"))
        >>> line = Line("t1", "…", triple, e, False, ("GraphDB", "developed by", "Ontotext"))
        >>> citer = Citer("Who develops GraphDB?", Context((line,), ()))
        >>> [line.id for line in citer.support("Ontotext.").lines], citer.support("Neo4j.").supported
        (['t1'], False)
        >>> said = ("Ontotext develops GraphDB.", "GraphDB develops Ontotext.")
        >>> [citer.support(text).supported for text in said]
        [True, False]
    """

    def __init__(
        self,
        question: str,
        context: Context,
        wordings: Mapping[Term, Sequence[tuple[str, bool]]] | None = None,
    ) -> None:
        self.context = context
        self.names = ContextNames(context.lines)
        self._relations = relations(context.lines, wordings)
        self._every = facts_of(context.lines, self.names, self._relations, _cut(context))
        self.facts: Facts = self._every
        self._order = {line.id: i for i, line in enumerate(context.lines)}
        self.question = question
        self._asked = self._symbols(question)
        self._asked_words = {word.key for word in tokens(question)} | {
            stem(word.raw) for word in tokens(question)
        }
        self._asked_things = self._spoken_of(question)
        self._open = asked.is_open(
            self._asked, [self._is_named(self._asked, i) for i in range(len(self._asked))]
        )

    def _spoken_of(self, question: str) -> frozenset[Term]:
        """Return the things that a question names, without those whose possession alone is asked about."""
        told = tokens(question)
        common = self.names.classes | self.names.properties
        mentions = [m for m in self.names.find(question, told) if m.terms - common]
        found: set[Term] = set()
        for mention in mentions:
            nouns = owned(question, told, mention, mentions)
            if not nouns or nouns & self._relations.words:
                found.update(t for t in mention.terms if t not in common and not isinstance(t, Literal))
        return frozenset(found)

    @property
    def lines(self) -> Sequence[Line]:
        """The lines that may be cited."""
        return self.facts.lines

    def limited(self, ids: Collection[str]) -> Citer:
        """Return a citer of the same names that may cite only some lines."""
        other = copy(self)
        own = [line for line in self.facts.lines if line.id in ids]
        other.facts = facts_of(own, self.names, self._relations, self._every.cut)
        return other

    # --- What is not supported -------------------------------------------------------------------

    def open_claims(self, text: str, before: frozenset[Term] = frozenset()) -> list[ClaimStep]:
        """Return the claims of a sentence that have no line, if all its words make claims at all."""
        for said, things in self._readings(self._bare(text)[0], before):
            steps = derive(Derivation(said, self._every, things, lenient=True))
            if steps is not None:
                return [step for step in steps if not step.lines]
        return []

    def values(self, subject: Term, prop: Term) -> list[Line]:
        """Return the lines with the values of a property of a thing, none where a context lacks some."""
        if (subject, prop, False) in self._every.cut:
            return []
        return [x for x in self._every.by_subject.get(subject, ()) if x.triple.p == prop]

    def types(self, subject: Term) -> list[Line]:
        """Return the lines with the classes of a thing."""
        return [x for x in self._every.by_subject.get(subject, ()) if str(x.triple.p) == RDF + "type"]

    @staticmethod
    def is_measure(line: Line) -> bool:
        """Return whether a line gives a number or a date."""
        o = line.triple.o
        return isinstance(o, Literal) and str(o.datatype or "").removeprefix(XSD) in _MEASURED

    # --- The rules ---------------------------------------------------------------------------------

    def support(
        self,
        text: str,
        written: Sequence[str] = (),
        before: frozenset[Term] = frozenset(),
        lead: bool = False,
        items: int = 0,
        under: str = "",
    ) -> Support:
        """Find what a sentence rests on.

        Args:
            text: The sentence, without ids.
            written: Ids that the model wrote in it.
            before: `subjects` of the sentence before.
            lead: Whether it only leads in to a list or heads a part.
            items: How many items the list has that it leads in to: a number that it may give.
            under: The sentence that leads in to the list that it is an item of.
        """
        settled = self._settled(text, written, before)
        if settled is not None:
            return settled
        lines = self.claims(text, before)
        if lines is None and under:
            lines = self._item(text, under)
        if lines is not None:
            return self._supported(lines, text, written, before)
        if lead and self._leads(text, items):
            return Support((), True, tuple(written), before or self._named(text))
        return self._unsupported(text, written, before)

    def claims(self, text: str, before: frozenset[Term] = frozenset()) -> list[Line] | None:
        """Return the lines of all that a sentence says, or None where some of it has none."""
        own = self._own(text)
        if own is not None:
            return own
        if text.rstrip("\"'”’»)*_ ").endswith("?"):
            return None  # what asks says nothing
        if any(finite(one[1].casefold()) for one in _QUOTED.finditer(text)):
            return None  # Ontotext "develops" it: a verb in quotation marks is not meant
        bare, answered = self._bare(_MARKS.sub("", text))
        if answered is not None and not answered:
            return None
        for said, things in self._readings(bare, before):
            steps = derive(Derivation(said, self.facts, things))
            if steps is not None:
                return _lines(steps) if answered is None else [*answered, *_lines(steps)]
        if answered is not None and not tokens(bare):
            return answered
        prose = self._prose(bare, before) or disjoint(bare, self.lines, self.names)
        if prose:
            return prose
        language = language_of(text)
        if language != "en":
            row = in_a_row(bare, language, self.lines) or self._foreign_fragment(bare, language)
            if row:
                return row
        return None

    def _item(self, text: str, under: str) -> list[Line] | None:
        """Return the lines of what an item of a list says together with what leads in to it."""
        led = _FOLLOWING.sub(" ", f" {self._bare(under)[0].rstrip(': ')} ").strip()
        counted = self._symbols(led)
        led = "".join(
            led[s.start : e]
            for s, e in zip(counted, [*(x.start for x in counted[1:]), len(led)], strict=False)
            if s.low not in asked.COUNTS and not s.low.isdigit()
        )
        for said in (f"{led} {text}", f"{text} {led}"):
            lines = self.claims(said)
            if lines is not None:
                return lines
        return None

    def _own(self, text: str) -> list[Line] | None:
        """Return the lines of a sentence that the product makes of them itself."""
        if self.facts is not self._every and is_own(text, self.lines):
            return list(self.lines)
        return None

    def _bare(self, text: str) -> tuple[str, list[Line] | None]:
        """Return a sentence without what leads in to it, and what its "yes" rests on, if it has one."""
        bare = _CLOSER.sub("", text.strip())
        for _ in range(3):
            opener = _OPENER.match(bare)
            if opener is None:
                break
            bare = bare[opener.end() :]
        first = tokens(bare[:40])[:1]
        if not first or first[0].key not in YES | NO:
            return bare, None
        rest = bare[first[0].end :].lstrip()
        if rest[:1] not in ("", ",", ".", ":", ";", "!", "–", "—", "-"):
            return bare, None
        rest = rest[1:].strip()
        if first[0].key in NO:
            for said in islice(asked.denied(self._asked), _MOST_STATEMENTS):
                steps = derive(Derivation(said, self.facts))
                if steps is not None:
                    return rest, _lines(steps)
            return bare, []
        if not asked.is_yes_no(self._asked):
            return rest, None if tokens(rest) else []
        for said in islice(asked.asserted(self._asked), _MOST_STATEMENTS):
            steps = derive(Derivation(said, self.facts))
            if steps is not None:
                return rest, _lines(steps)
        return rest, []

    def _readings(
        self, text: str, before: frozenset[Term]
    ) -> Iterator[tuple[Sequence[Symbol], frozenset[Term]]]:
        """Yield what a sentence may say as a whole: as it stands, and as the answer to the question."""
        symbols = self._symbols(text)
        if not symbols:
            return
        pronoun = symbols[0].low in PRONOUNS
        # "It is comedy" names an answer, "It is a comedy" tells of what was asked about.
        bare = _IT_IS.sub("", text, count=1)
        names = bare != text and bool(tokens(bare)) and tokens(bare)[0].key not in ("a", "an") and not before
        listed = all(
            self._is_named(symbols, i) or s.is_mark or s.low in ("and", "by") for i, s in enumerate(symbols)
        )
        if before or self._open or not (names or listed):
            yield symbols, before or self._asked_things
        else:
            yield symbols, frozenset()
        if before and not pronoun and self._asked_things:
            yield symbols, self._asked_things
        shorter = [_IT_IS.sub("", text, count=1), _DOES.sub("", text)]
        for fragment in dict.fromkeys([text, *shorter]):
            parts = self._symbols(fragment)
            if not parts or len(parts) > 60:
                continue
            for said, kind in islice(asked.declared(self._asked, parts), _MOST_STATEMENTS):
                if not kind or self._is_kind(parts, kind):
                    yield said, before

    def _is_kind(self, fragment: Sequence[Symbol], kind: Sequence[Symbol]) -> bool:
        """Return whether nothing speaks against what was asked for being of the class that was asked for."""
        classes = frozenset(t for s in kind for _, terms in s.names for t in terms & self.names.classes)
        if not classes:
            return True
        peopled = any(x.triple.o in classes for x in self._every.lines if str(x.triple.p) == RDF + "type")
        things = [terms - self.names.classes for s in fragment for _, terms in s.names]
        return not peopled or all(
            self._every.typed(several, classes)
            or not any(self._every.typed(several, frozenset([c])) for c in self.names.classes)
            for several in things
            if several
        )

    def _prose(self, text: str, before: frozenset[Term]) -> list[Line]:
        symbols = self._symbols(text)
        derivation = Derivation(symbols, self.facts, before or self._asked_things)
        found = (
            described(text, [before or self._asked_things], self.lines)
            if before or self._asked_things
            else []
        )
        for end, noun in derivation.nouns(0) if symbols else ():
            if noun.role is None and end < len(symbols) and not found:
                found = described(text[symbols[end].start :], noun.things, self.lines)
                found = [*_lines(noun.steps), *found] if found else []
        return found

    def _foreign_fragment(self, text: str, language: str) -> list[Line]:
        """Return the line that joins what is asked about and the only thing that a short answer names."""
        small = {"で", "す", "。"} if language == "und" else set()
        symbols = self._symbols(text)
        names = [terms for s in symbols for _, terms in s.names]
        rest = [
            s
            for i, s in enumerate(symbols)
            if not (self._is_named(symbols, i) or s.is_mark or s.low in small)
        ]
        if len(names) != 1 or rest:
            return []
        common = self.names.classes | self.names.properties
        return [
            line
            for line in self.lines
            if (line.triple.s in self._asked_things and line.triple.o in names[0] - common)
            or (line.triple.o in self._asked_things and line.triple.s in names[0] - common)
        ][:1]

    def _settled(self, text: str, written: Sequence[str], before: frozenset[Term]) -> Support | None:
        """Return the support of a sentence that no line has to be sought for; None of any other."""
        verbatim = [line for line in self.lines if line.text and line.text in text]
        if verbatim and not tokens(_without(text, verbatim)):
            # Before all else: a label may say "I don't know".
            quoted = {line.id.casefold() for line in verbatim}
            rejected = tuple(one for one in written if one.casefold() not in quoted)
            return Support(tuple(verbatim), True, rejected, frozenset(x.triple.s for x in verbatim))
        if _CAVEAT.fullmatch(text):
            return Support((), True, tuple(written), before)
        if _NOTHING_SAID.search(text):
            lines = self._refusal(text, before)
            if lines is not None:
                ids = {line.id.casefold() for line in lines}
                return Support(
                    tuple(lines), True, tuple(x for x in written if x.casefold() not in ids), before
                )
        return None

    def _refusal(self, text: str, before: frozenset[Term]) -> list[Line] | None:
        """Return the lines of what a sentence says beside that something is not said; None if that is not so.

        That the context does not speak of something holds of words that the context does not have.
        """
        found: list[Line] = []
        told = {stem(w.raw) for line in self._every.lines for w in tokens(" ".join(line.labels))}
        for part in _PARTS.split(text):
            left = self._beyond(part, _OF_REFUSALS)
            if not left or (_NOTHING_SAID.search(part) and not {stem(w) for w in left} & told):
                continue
            lines = self.claims(part, before)
            if lines is None:
                return None
            found += lines
        return found

    def _beyond(self, text: str, known: Collection[str]) -> list[str]:
        """Return the words of a sentence that neither the question nor a list has."""
        return [
            w.raw
            for w in tokens(text)
            if stem(w.raw) not in known
            and w.key not in known
            and not is_stopword(w.key)
            and w.key not in self._asked_words
            and stem(w.raw) not in self._asked_words
        ]

    def _leads(self, text: str, items: int) -> bool:
        """Return whether a lead to a list says no more than what was asked, and how many items follow."""
        if {w.key for w in tokens(text)} & NEGATIONS:
            return False
        known = set(_LEADING) | set(self._relations.words) | {str(items)}
        known |= {asked_word for word in self._asked_words for asked_word in OTHERS.get(word, ())}
        numbers = {
            n: str(i) for i, n in enumerate("zero one two three four five six seven eight nine ten".split())
        }
        symbols = self._symbols(text)
        spans = {s.start for i, s in enumerate(symbols) if self._is_named(symbols, i)}
        words_of = {text[s.start : s.end] for s in symbols if s.start in spans}
        left = [
            one
            for one in self._beyond(text, known)
            if numbers.get(one.casefold()) != str(items) and one not in words_of
        ]
        digits = [s.key for s in symbols if s.start not in spans and (s.key.isdigit() or s.key in numbers)]
        return not left and all(d == str(items) or numbers.get(d) == str(items) for d in digits if items)

    def _supported(
        self, lines: Iterable[Line], text: str, written: Sequence[str], before: frozenset[Term]
    ) -> Support:
        best = sorted({x.id: x for x in lines}.values(), key=lambda x: (x.inferred, self._order.get(x.id, 0)))
        ids = {line.id.casefold() for line in best}
        rejected = tuple(one for one in written if one.casefold() not in ids)
        subjects: frozenset[Term] = frozenset(line.triple.s for line in best) | self._named(text)
        first = self._symbols(text)[:1]
        if (first and first[0].low in PRONOUNS) or not subjects:
            subjects |= before
        return Support(tuple(best), True, rejected, subjects)

    def _unsupported(self, text: str, written: Sequence[str], before: frozenset[Term]) -> Support:
        """Return what the beginning of a sentence rests on, and the words that no fact accounts for."""
        bare, _ = self._bare(text)
        symbols = self._symbols(bare)
        end, steps = (
            longest(Derivation(symbols, self.facts, before or self._asked_things)) if symbols else (0, ())
        )
        if end and not _may_break(symbols, end):
            end, steps = 0, ()
        known = self._relations.words
        left = [
            bare[s.start : s.end]
            for i, s in enumerate(symbols)
            if not (
                s.is_mark or i < end or self._is_named(symbols, i) or s.stem in known or s.low in _HOLDING
            )
        ]
        partial = _lines(steps)
        ids = {line.id.casefold() for line in partial}
        rejected = tuple(one for one in written if one.casefold() not in ids)
        subjects = self._named(text) or before
        return Support(tuple(partial), False, rejected, subjects, tuple(dict.fromkeys(left)))

    def _named(self, text: str) -> frozenset[Term]:
        common = self.names.classes | self.names.properties
        return frozenset(
            t
            for s in self._symbols(text)
            for _, terms in s.names
            for t in terms
            if t not in common and not isinstance(t, Literal)
        )

    @staticmethod
    def _is_named(symbols: Sequence[Symbol], at: int) -> bool:
        return any(i + size > at for i in range(at + 1) for size, _ in symbols[i].names)

    def _symbols(self, text: str) -> list[Symbol]:
        told = tokens(text)
        return symbols_of(text, told, self.names.find(text, told))


def supports(
    citer: Citer, pieces: Sequence[tuple[str, str, Sequence[str]]], *, cited: bool = False
) -> list[tuple[Support, frozenset[Term], str]]:
    """Find what each sentence of a text rests on, pronouns and items of lists by what stands before them.

    Args:
        citer: Knows the lines and the question.
        pieces: What stands before each sentence, the sentence, and ids of lines written in it.
        cited: Whether each may rest on no other lines than those of its ids.

    Returns:
        The support of each, with what a pronoun in it may point to, and what leads in to it as an item.
    """
    found: list[tuple[Support, frozenset[Term], str]] = []
    subjects: frozenset[Term] = frozenset()
    told = [piece[:2] for piece in pieces]
    for (_, text, ids), items, under in zip(pieces, items_after(told), leads_of(told), strict=True):
        own = citer.limited(ids) if cited else citer
        support = own.support(text, ids, subjects, lead=text.endswith(":"), items=items, under=under)
        found.append((support, subjects, under))
        subjects = support.subjects
    return found


def _may_break(symbols: Sequence[Symbol], at: int) -> bool:
    """Return whether the beginning of a sentence may be judged without the rest: a new part begins there."""
    rest = symbols[at:]
    return (
        bool(rest)
        and rest[0].low != "'s"
        and (rest[0].is_mark or rest[0].low in ("and", "but", "which", "that", "who", "while"))
    )


def _lines(steps: Steps) -> list[Line]:
    return list({line.id: line for step in steps for line in step.lines}.values())


def _cut(context: Context) -> list[tuple[Term, Term, bool]]:
    """Return which lists a context cuts short: the entity, the property, and whether it is the object."""
    known = {str(t): t for line in context.lines for t in (line.triple.s, line.triple.p, line.triple.o)}
    return [
        (known[one.entity], known[one.predicate], one.direction == "in")
        for one in context.cut
        if one.entity in known and one.predicate in known
    ]


def _without(text: str, lines: Sequence[Line]) -> str:
    for line in sorted(lines, key=lambda x: -len(x.text)):
        text = text.replace(line.text, " ")
    return text


__all__ = ["Citer", "Support", "supports"]
