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
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, Final, Protocol, TypeAlias, get_args
from typing import Literal as OneOf

from rdflib import Literal

from mrag._tables import patterns
from mrag.context.render import Context, Line, by_subject
from mrag.generation.support.grammar import (
    COUNTS,
    ClaimStep,
    Derivation,
    Facts,
    Steps,
    TooLongError,
    derive,
    facts_of,
    is_false,
    longest,
)
from mrag.generation.support.mentions import (
    PREPOSITIONS,
    TYPE,
    WORDS,
    ContextNames,
    Symbol,
    finite,
    owners,
    relations,
    symbols_of,
)
from mrag.generation.support.sentences import items_after, leads_of
from mrag.generation.verbalise import PHRASES, caveats, describes, fill, value, verbalise
from mrag.language.names import split_identifier
from mrag.language.tokens import (
    FUNCTION_WORDS,
    NEGATIONS,
    NO,
    OTHERS,
    PRONOUNS,
    YES,
    fold,
    is_stopword,
    keys,
    language_of,
    stem,
    stems,
    tokens,
    words,
)
from mrag.rdf.terms import OWL, XSD, Term

_QUOTED: Final = re.compile(r"[“„«]\s?([^“”„«»]*?)\s?[”“»]")
_OPENS: Final = words("that which who and but whereas while")
_CLOSES: Final = words("that which who and but whereas while with")
_SMALL_WORDS: Final = words("a an the is are was were it they this he she")
_MOST: Final = 40  # Lines of one sentence that are put in words again


def is_own(text: str, lines: Sequence[Line]) -> bool:
    """Return whether a sentence is what the product makes of some lines."""
    if not lines or len(lines) > _MOST:
        return False
    quoted = {part: x for part in _QUOTED.findall(text) for x in lines if describes(x) and quotes(part, x)}
    shown = {x.id: replace(x, labels=(*x.labels[:2], part)) for part, x in quoted.items()}
    given = [shown.get(line.id, line) for line in lines]
    for language in ("en", *(name for name in PHRASES if name != "en"), "und"):
        for person, kind in ((False, False), (True, False), (False, True))[: None if language == "en" else 1]:
            sentences = verbalise(given, language=language, person=person, kind=kind)
            if len(sentences) == 1 and sentences[0].text == text:
                return True
    names = [
        f"{own[0].labels[0]} ({', '.join(dict.fromkeys(map(value, own)))})"
        for own in by_subject(lines).values()
    ]
    return any(text == fill(p.also, names=p.join(names)) for p in PHRASES.values())


def quotes(part: str, line: Line) -> bool:
    """Return whether a text is a passage of what a line says, which may break off."""
    whole = " ".join(str(line.triple.o).split()).replace("“", "‘").replace("”", "’")
    bare = part.removesuffix(" …").strip()
    return len(bare) > 1 and (bare in whole or bare in " ".join(line.labels[2].split()))


def describe(text: str, subjects: Collection[frozenset[Term]], lines: Sequence[Line]) -> list[Line]:
    """Return lines with prose that has a predicate as one of its own clauses, for each of some subjects."""
    wanted = keys(text)
    # What a text says is so is not said to have been so.
    while wanted and wanted[0] in (_SMALL_WORDS - {"was", "were"}) | {"describ", "described", "as"}:
        wanted = wanted[1:]
    if len(wanted) < 2 or (len(wanted) < 3 and not text.strip()[:1].isalpha()):
        return []
    every = frozenset().union(*subjects)
    having = [x for x in lines if x.triple.s in every and describes(x) and _has_clause(x, wanted)]
    evidence = [next((x for x in having if x.triple.s in subject), None) for subject in subjects]
    return [x for x in evidence if x is not None] if all(evidence) else []


def _has_clause(line: Line, wanted: tuple[str, ...]) -> bool:
    whole = str(line.triple.o)
    words = tokens(whole)
    form = tuple(word.key for word in words)
    size, name = len(wanted), keys(line.labels[0])

    def is_broken(at: int) -> bool:
        """Return whether a clause may begin or end before a word: a mark stands there, or nothing."""
        if not 0 < at < len(words):
            return True
        return any(c in ",;:.!?()—–" for c in whole[words[at - 1].end : words[at].start])

    for at in range(len(form) - size + 1):
        if form[at : at + size] != wanted:
            continue
        start, last = at, at + size
        while not is_broken(start) and form[start - 1] in _SMALL_WORDS:
            start -= 1
        sentence = re.split(r"[.!?;:]", whole[: words[at].start])[-1]
        if {fold(word) for word in re.findall(r"\w+(?:['’]\w+)?", sentence)} & NEGATIONS or "n't" in sentence:
            continue
        opens = is_broken(start) or form[start - 1] in _OPENS
        names_it = name == form[max(0, start - len(name)) : start]
        if (opens or names_it) and (is_broken(last) or form[last] in _CLOSES):
            return True
    return False


def disjoint(text: str, lines: Sequence[Line], names: ContextNames) -> list[Line]:
    """Return the lines that two classes have nothing in common, where that is all a sentence says.

    Example: "No product is a vendor", "Nothing is both a product and a vendor".
    """
    match = re.fullmatch(
        r"(?:no (?P<a>.+?) (?:is|are|can be) (?:an? )?(?P<b>.+?)"
        r"|nothing is both (?:an? )?(?P<c>.+?) and (?:an? )?(?P<d>.+?))\.?",
        text.strip(),
        re.IGNORECASE,
    )
    if match is None:
        return []
    one, other = keys(match["a"] or match["c"]), keys(match["b"] or match["d"])
    ends = {one, other}
    return [
        line
        for line in lines
        if str(line.triple.p) == OWL + "disjointWith"
        and {keys(split_identifier(line.labels[0])), keys(split_identifier(line.labels[2]))} == ends
        and line.triple.s in names.classes
    ]


def in_a_row(text: str, language: str, lines: Sequence[Line]) -> list[Line]:
    """Return the line that a sentence in another language puts in a row: subject, label, object."""
    said = keys(text)
    small = frozenset(map(fold, FUNCTION_WORDS.get(language, frozenset()))) - frozenset(map(fold, NEGATIONS))
    for line in lines:
        parts = [keys(part) for part in (line.labels[0], split_identifier(line.labels[1]), line.labels[2])]
        last = 0
        used: set[int] = set()
        for part in parts:
            starts = (i for i in range(last, len(said) - len(part) + 1) if said[i : i + len(part)] == part)
            at = next(starts, len(said))
            last = at + len(part)
            used.update(range(at, last))
        in_row = all(parts) and last <= len(said)
        if in_row and all(i in used or word in small for i, word in enumerate(said)):
            return [line]
    return []


_WH: Final = words("who whom what which where when how whose")
_DO: Final = words("do does did")
_BE: Final = words("is are was were")
_HAVE: Final = words("has have had")
_LIST_WORDS: Final = words("list name give show tell find me all the us every")
_PLACES: Final = ("in", "on", "at", "by", "from")
_GENERAL: Final = _WH | _DO | _BE | _HAVE | _LIST_WORDS | words(WORDS["general"])
_LONGEST_QUESTION: Final = 4  # Words of what is asked for, behind "which"


def word(low: str) -> Symbol:
    """Return a function word as a symbol."""
    return Symbol(low, low, low, 0, 0)


def assertions(question: Sequence[Symbol], *, denied: bool = False) -> Iterator[list[Symbol]]:
    """Yield the statements that "yes" makes of a question, or that "no" makes of it."""
    first = question[0].low if question else ""
    rest = list(question[1:])
    if first in _DO and not denied:
        yield rest
    verb = [*question[:1], *([word("not")] if denied else [])]
    for at in range(len(rest) + 1) if first in _BE | _HAVE else ():
        yield [*rest[:at], *verb, *rest[at:]]


def is_open(question: Sequence[Symbol], named: Sequence[bool]) -> bool:
    """Return whether a question asks about what it names in general: "Tell me about it"."""
    return all(s.low in _GENERAL or s.is_mark or there for s, there in zip(question, named, strict=True))


def declarations(
    question: Sequence[Symbol], fragment: Sequence[Symbol]
) -> Iterator[tuple[list[Symbol], list[Symbol]]]:
    """Yield the statements that a fragment makes as the answer to a question."""
    asked = list(question)
    fragment = list(fragment)
    at = next((i for i, s in enumerate(asked[:4]) if s.low in _WH), None)
    if at is None:
        start = 0
        while start < len(asked) and asked[start].low in _LIST_WORDS:
            start += 1
        if 0 < start < len(asked):
            yield [*fragment, word("is"), *asked[start:]], []
        return
    before = [s for s in asked[:at] if s.low in PREPOSITIONS][-1:]
    most = _LONGEST_QUESTION if asked[at].low in ("which", "what", "how") else 0
    for size in range(min(most, len(asked) - at - 2) + 1):
        kind, rest = asked[at + 1 : at + 1 + size], asked[at + 1 + size :]
        if any(s.low in _DO | _BE | _HAVE for s in kind) or not rest:
            break
        if asked[at].low == "how":
            kind = [s for s in kind if s.low not in ("many", "much")]
        for said in _statements(
            rest, fragment, before, loose=asked[at].low in ("where", "when", "which", "what")
        ):
            yield said, kind
        if asked[at].low == "how" and kind and rest[0].low in _DO | _HAVE | _BE:
            # "How many moons does X have?": X has 3 moons
            yield [*rest[1:], *(() if rest[-1].low in ("have", "has") else (rest[0],)), *fragment, *kind], []


def _statements(
    rest: list[Symbol], fragment: list[Symbol], before: list[Symbol], *, loose: bool
) -> Iterator[list[Symbol]]:
    first, behind = rest[0], rest[1:]
    leads = [before] if before else [[], *([[word(p)] for p in _PLACES] if loose else [])]
    bare = fragment
    if fragment and fragment[0].low in PREPOSITIONS:
        leads, bare = [[], *leads], fragment[1:]
    if first.low in _DO:
        for lead in leads:
            yield [*behind, *lead, *fragment]
        yield [*behind, *bare]
        return
    if first.low in _BE and behind:
        yield [*bare, first, *behind]
        for lead in leads:
            for at in range(len(behind), 0, -1):
                yield [*behind[:at], first, *behind[at:], *lead, *fragment]
        return
    if first.low in _HAVE and behind:
        yield [*behind, first, *bare]
    yield [*bare, *rest]


_PATTERNS: Final = patterns("generation/patterns.toml")
_CAVEAT: Final = re.compile(caveats())  # What answers without a model say of themselves
_OF_REFUSALS: Final = stems(WORDS["refusals"])
_HOLDING: Final = PREPOSITIONS | words(WORDS["holding"])
"""Words that hold a sentence together, and say nothing alone."""
_LEADING: Final = stems(WORDS["leading"])
_MEASURED: Final = words(WORDS["measured"])
_MOST_STATEMENTS: Final = 48
_NUMBERS: Final = {word: n for word, n in COUNTS.items() if n}


@dataclass(frozen=True, slots=True)
class Support:
    """What a sentence rests on."""

    lines: tuple[Line, ...]  # Lines that say what it says, the best first
    supported: bool  # Whether all of what it says is covered, or it says nothing that needs cover
    rejected: tuple[str, ...] = ()  # Ids that were written in it and do not hold
    subjects: frozenset[Term] = frozenset()  # What a pronoun in the next sentence may point back to
    left: tuple[str, ...] = ()  # Words of it that no line accounts for


class Citer:
    """Finds support for sentences in one context."""

    def __init__(self, question: str, context: Context) -> None:
        self.context = context
        self.names = ContextNames(context.lines)
        self._relations = relations(context.lines)
        self._every = facts_of(context.lines, self.names, self._relations, _cut(context))
        self.facts: Facts = self._every
        self._common = self.names.classes | self.names.properties
        self._order = {line.id: i for i, line in enumerate(context.lines)}
        self.question = question
        self._asked = symbols_of(question, self.names)
        self._asked_words = {form for word in tokens(question) for form in (word.key, stem(word.raw))}
        self._asked_things = self._speak_of(question)
        self._open = is_open(self._asked, _in_names(self._asked))

    def _speak_of(self, question: str) -> frozenset[Term]:
        """Return the things that a question names, without those whose possession alone is asked about."""
        words = tokens(question)
        mentions = [m for m in self.names.find(question, words) if m.terms - self._common]
        things: set[Term] = set()
        for mention in mentions:
            nouns = owners(question, words, mention, mentions)
            if not nouns or nouns & self._relations.words:
                things.update(mention.terms)
        return self._things(things)

    def _things(self, terms: Iterable[Term]) -> frozenset[Term]:
        return frozenset(t for t in terms if t not in self._common and not isinstance(t, Literal))

    @property
    def lines(self) -> Sequence[Line]:
        """The lines that may be cited."""
        return self.facts.lines

    def limit(self, ids: Collection[str]) -> Citer:
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
        return [x for x in self._every.by_subject.get(subject, ()) if str(x.triple.p) == TYPE]

    # --- The rules ---------------------------------------------------------------------------------

    def support(
        self,
        text: str,
        written: Sequence[str] = (),
        before: frozenset[Term] = frozenset(),
        *,
        lead: bool = False,
        items: int = 0,
        under: str = "",
    ) -> Support:
        """Find what a sentence rests on, which is given without the ids that were `written` in it.

        A `lead` leads in to a list of so many `items`, or heads a part; an item of a list stands `under` one.
        """
        settled = self._settle(text, written, before)
        if settled is not None:
            return settled
        lines = self.claims(text, before)
        if lines is None and under:
            lines = self._item(text, under)
        if lines is not None:
            return self._support(lines, text, written, before)
        if lead and self._leads(text, items):
            return Support((), True, tuple(written), before or self._named(text))
        return self._reject(text, written, before)

    def claims(self, text: str, before: frozenset[Term] = frozenset()) -> list[Line] | None:
        """Return the lines of all that a sentence says, or None where some of it has none."""
        if self.facts is not self._every and is_own(text, self.lines):
            return list(self.lines)  # the product makes it of them itself
        if text.rstrip("\"'”’»)*_ ").endswith("?"):
            return None  # what asks says nothing
        if any(finite(one[1].casefold()) for one in _PATTERNS["quoted"].finditer(text)):
            return None  # Ontotext "develops" it: a verb in quotation marks is not meant
        bare, answered = self._bare(_PATTERNS["inferred"].sub("", text))
        if answered is not None and not answered:
            return None
        for said, things in self._readings(bare, before):
            steps = derive(Derivation(said, self.facts, things))
            if steps is not None:
                return [*(answered or ()), *_lines(steps)]
        if answered is not None and not tokens(bare):
            return answered
        lines = self._prose(bare, before) or disjoint(bare, self.lines, self.names)
        if not lines and (language := language_of(text)) != "en":
            lines = in_a_row(bare, language, self.lines) or self._foreign_fragment(bare, language)
        return lines or None

    def _item(self, text: str, under: str) -> list[Line] | None:
        """Return the lines of what an item of a list says together with what leads in to it."""
        led = _PATTERNS["following"].sub(" ", f" {self._bare(under)[0].rstrip(': ')} ").strip()
        symbols = symbols_of(led, self.names)
        ends = [*(x.start for x in symbols[1:]), len(led)]
        uncounted = [
            led[s.start : end]
            for s, end in zip(symbols, ends, strict=False)
            if s.low not in _NUMBERS and not s.low.isdigit()
        ]
        led = "".join(uncounted)
        forward = self.claims(f"{led} {text}")
        return forward if forward is not None else self.claims(f"{text} {led}")

    def _bare(self, text: str) -> tuple[str, list[Line] | None]:
        """Return a sentence without what leads in to it, and what its "yes" rests on, if it has one."""
        bare = _PATTERNS["closer"].sub("", text.strip())
        for _ in range(3):
            if opener := _PATTERNS["opener"].match(bare):
                bare = bare[opener.end() :]
        first = next(iter(tokens(bare[:40])), None)
        if first is None or first.key not in YES | NO:
            return bare, None
        rest = bare[first.end :].lstrip()
        if rest[:1] not in ("", ",", ".", ":", ";", "!", "–", "—", "-"):
            return bare, None
        rest = rest[1:].strip()
        if first.key not in NO and not (self._asked and self._asked[0].low in _BE | _DO | _HAVE):
            return rest, None if tokens(rest) else []
        for said in islice(assertions(self._asked, denied=first.key in NO), _MOST_STATEMENTS):
            steps = derive(Derivation(said, self.facts))
            if steps is not None:
                return rest, _lines(steps)
        return bare if first.key in NO else rest, []

    def _readings(
        self, text: str, before: frozenset[Term]
    ) -> Iterator[tuple[Sequence[Symbol], frozenset[Term]]]:
        """Yield what a sentence may say as a whole: as it stands, and as the answer to the question."""
        symbols = symbols_of(text, self.names)
        if not symbols:
            return
        # "It is comedy" names an answer, "It is a comedy" tells of what was asked about.
        bare = _PATTERNS["it_is"].sub("", text, count=1)
        names = bare != text and bool(tokens(bare)) and tokens(bare)[0].key not in ("a", "an") and not before
        listed = all(
            named or s.is_mark or s.low in ("and", "by")
            for s, named in zip(symbols, _in_names(symbols), strict=True)
        )
        whole = before or self._open or not (names or listed)
        yield symbols, (before or self._asked_things) if whole else frozenset()
        if before and symbols[0].low not in PRONOUNS and self._asked_things:
            yield symbols, self._asked_things
        for fragment in dict.fromkeys([text, bare, _PATTERNS["does"].sub("", text)]):
            parts = symbols_of(fragment, self.names)
            if not parts or len(parts) > 60:
                continue
            for said, kind in islice(declarations(self._asked, parts), _MOST_STATEMENTS):
                if not kind or self._is_kind(parts, kind):
                    yield said, before

    def _is_kind(self, fragment: Sequence[Symbol], kind: Sequence[Symbol]) -> bool:
        """Return whether nothing speaks against what was asked for being of the class that was asked for."""
        classes = frozenset(t for s in kind for _, terms in s.names for t in terms & self.names.classes)
        if not any(x.triple.o in classes for x in self._every.lines if str(x.triple.p) == TYPE):
            return True
        things = [terms - self.names.classes for s in fragment for _, terms in s.names]
        return all(
            self._every.type_lines(several, classes)
            or not any(self._every.type_lines(several, frozenset([c])) for c in self.names.classes)
            for several in things
            if several
        )

    def _prose(self, text: str, before: frozenset[Term]) -> list[Line]:
        symbols, things = symbols_of(text, self.names), before or self._asked_things
        lines = describe(text, [things], self.lines) if things else []
        with suppress(TooLongError, RecursionError):
            for end, noun in Derivation(symbols, self.facts, things).nouns(0):
                if noun.role is None and end < len(symbols) and not lines:
                    lines = describe(text[symbols[end].start :], noun.things, self.lines)
                    lines = [*_lines(noun.steps), *lines] if lines else []
        return lines

    def _foreign_fragment(self, text: str, language: str) -> list[Line]:
        """Return the line that joins what is asked about and the only thing that a short answer names."""
        small = {"で", "す", "。"} if language == "und" else set()
        symbols = symbols_of(text, self.names)
        names = [terms - self._common for s in symbols for _, terms in s.names]
        rest = [
            s
            for s, named in zip(symbols, _in_names(symbols), strict=True)
            if not (named or s.is_mark or s.low in small)
        ]
        if len(names) != 1 or rest:
            return []
        asked = self._asked_things
        ends = ((line, line.triple.s, line.triple.o) for line in self.lines)
        joins = (x for x, s, o in ends if (s in asked and o in names[0]) or (o in asked and s in names[0]))
        return list(islice(joins, 1))

    def _settle(self, text: str, written: Sequence[str], before: frozenset[Term]) -> Support | None:
        """Return the support of a sentence that no line has to be sought for; None of any other."""
        verbatim = [line for line in self.lines if line.text and line.text in text]
        if verbatim and not tokens(_without(text, verbatim)):
            # Before all else: a label may say "I don't know".
            subjects = frozenset(x.triple.s for x in verbatim)
            return Support(tuple(verbatim), True, _reject(written, verbatim), subjects)
        if _CAVEAT.fullmatch(text):
            return Support((), True, tuple(written), before)
        lines = self._refusal(text, before) if _PATTERNS["nothing_said"].search(text) else None
        return None if lines is None else Support(tuple(lines), True, _reject(written, lines), before)

    def _refusal(self, text: str, before: frozenset[Term]) -> list[Line] | None:
        """Return the lines of what a sentence says beside that something is not said; None if that is not so.

        That the context does not speak of something holds of words that the context does not have.
        """
        evidence: list[Line] = []
        known = {stem(w.raw) for line in self._every.lines for w in tokens(" ".join(line.labels))}
        for part in _PATTERNS["parts"].split(text):
            left = self._beyond(part, _OF_REFUSALS)
            if not left or (_PATTERNS["nothing_said"].search(part) and not {stem(w) for w in left} & known):
                continue
            lines = self.claims(part, before)
            if lines is None:
                return None
            evidence += lines
        return evidence

    def _beyond(self, text: str, known: Collection[str]) -> list[str]:
        """Return the words of a sentence that neither the question nor a list has."""
        every = {*known, *self._asked_words}
        return [w.raw for w in tokens(text) if not ({stem(w.raw), w.key} & every or is_stopword(w.key))]

    def _leads(self, text: str, items: int) -> bool:
        """Return whether a lead to a list says no more than what was asked, and how many items follow."""
        if {w.key for w in tokens(text)} & NEGATIONS:
            return False
        known = {*_LEADING, *self._relations.words, str(items)}
        known |= {other for word in self._asked_words for other in OTHERS.get(word, ())}
        symbols = symbols_of(text, self.names)
        named = {s.start for s, inside in zip(symbols, _in_names(symbols), strict=True) if inside}
        in_names = {text[s.start : s.end] for s in symbols if s.start in named}
        beyond = (x for x in self._beyond(text, known) if COUNTS.get(x.casefold()) != items)
        if not in_names.issuperset(beyond):
            return False
        free = (s.key for s in symbols if s.start not in named)
        numbers = {str(COUNTS.get(key, key)) for key in free if key in COUNTS or key.isdigit()}
        return not items or numbers <= {str(items)}

    def _support(
        self, lines: Iterable[Line], text: str, written: Sequence[str], before: frozenset[Term]
    ) -> Support:
        best = sorted({x.id: x for x in lines}.values(), key=lambda x: (x.inferred, self._order.get(x.id, 0)))
        subjects: frozenset[Term] = frozenset(line.triple.s for line in best) | self._named(text)
        first = symbols_of(text, self.names)[:1]
        if (first and first[0].low in PRONOUNS) or not subjects:
            subjects |= before
        return Support(tuple(best), True, _reject(written, best), subjects)

    def _reject(self, text: str, written: Sequence[str], before: frozenset[Term]) -> Support:
        """Return what the beginning of a sentence rests on, and the words that no fact accounts for."""
        bare, _ = self._bare(text)
        symbols = symbols_of(bare, self.names)
        end, steps = longest(Derivation(symbols, self.facts, before or self._asked_things))
        if end and not _may_break(symbols, end):
            end, steps = 0, ()
        known = self._relations.words
        inside = _in_names(symbols)
        left = dict.fromkeys(
            bare[s.start : s.end]
            for i, s in enumerate(symbols)
            if i >= end and not (s.is_mark or inside[i] or s.stem in known or s.low in _HOLDING)
        )
        partial = _lines(steps)
        subjects = self._named(text) or before
        return Support(tuple(partial), False, _reject(written, partial), subjects, tuple(left))

    def _named(self, text: str) -> frozenset[Term]:
        return self._things(t for s in symbols_of(text, self.names) for _, terms in s.names for t in terms)


def supports(
    citer: Citer, pieces: Sequence[tuple[str, str, Sequence[str]]], *, cited: bool = False
) -> list[tuple[Support, frozenset[Term], str]]:
    """Find what each sentence of a text rests on, pronouns and items of lists by what stands before them."""
    judgements: list[tuple[Support, frozenset[Term], str]] = []
    subjects: frozenset[Term] = frozenset()
    texts = [piece[:2] for piece in pieces]
    for (_, text, ids), items, under in zip(pieces, items_after(texts), leads_of(texts), strict=True):
        own = citer.limit(ids) if cited else citer
        support = own.support(text, ids, subjects, lead=text.endswith(":"), items=items, under=under)
        judgements.append((support, subjects, under))
        subjects = support.subjects
    return judgements


def _may_break(symbols: Sequence[Symbol], at: int) -> bool:
    """Return whether the beginning of a sentence may be judged without the rest: a new part begins there."""
    rest = symbols[at:]
    return (
        bool(rest)
        and rest[0].low != "'s"
        and (rest[0].is_mark or rest[0].low in ("and", "but", "which", "that", "who", "while"))
    )


def _in_names(symbols: Sequence[Symbol]) -> list[bool]:
    """Return of each symbol whether it is in a name."""
    named = {i + n for i, symbol in enumerate(symbols) for size, _ in symbol.names for n in range(size)}
    return [i in named for i in range(len(symbols))]


def _reject(written: Iterable[str], lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the ids that a model wrote which are of none of some lines."""
    ids = {line.id.casefold() for line in lines}
    return tuple(one for one in written if one.casefold() not in ids)


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


Verdict: TypeAlias = OneOf["read", "graph", "partly", "contradicted", "unsaid", "unread", "nothing"]
"""What is known of a sentence: supported by what was read, or by the graph; supported in part; contradicted
by the graph; not said by it; not said by what was read, where the graph was not asked; nothing that needs
support."""

VERDICTS: Final[dict[Verdict, str]] = {
    "graph": "Supported by the graph, though not by what was read:",
    "partly": "Supported in part:",
    "contradicted": "Contradicted by the graph:",
    "unsaid": "The graph does not say:",
    "unread": "Not supported by what was read:",
}
"""What stands above the sentences of each verdict, where it is not plain support."""


def verdict_of(sentence: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a sentence in JSON form, by whether it is supported where it tells none."""
    known: dict[Any, Verdict] = {verdict: verdict for verdict in get_args(Verdict)}
    return known.get(str(sentence.get("verdict"))) or ("read" if sentence["supported"] else "unread")


class FactSource(Protocol):
    """What can be asked of a graph about what a sentence says."""

    def about(self, sentence: str, context: Context) -> Context:
        """Return a context with what the graph says of what a sentence names behind its own lines."""

    def is_single(self, prop: Term) -> bool:
        """Return whether a property has at most one value, by the ontology."""

    def is_one_way(self, prop: Term) -> bool:
        """Return whether a property never holds the other way round, too, by the ontology."""

    def are_disjoint(self, types: Sequence[Term], kind: Term) -> bool:
        """Return whether what is of some classes cannot be of another."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence's support, and what the graph was found to say of it."""

    support: Support  # What it rests on
    verdict: Verdict  # What is known of it
    against: tuple[Line, ...] = ()  # The lines that contradict it


def judge(
    citer: Citer,
    text: str,
    support: Support,
    before: frozenset[Term],
    graph: FactSource | None,
    under: str = "",
) -> Judged:
    """Say what holds of a sentence."""
    if support.supported:
        return Judged(support, "read" if support.lines else "nothing")
    further = citer
    if graph is not None:
        extended = graph.about(text, citer.context)
        if len(extended.lines) > len(citer.context.lines):
            further = Citer(citer.question, extended)
            again = further.support(text, (), before, under=under)
            if again.supported and again.lines:
                return Judged(replace(again, rejected=support.rejected), "graph")
            # Names of the graph that the context did not have are accounted for now.
            support = replace(support, left=again.left)
    against = _deny(further, text, before) or _clashing(further, text, before, graph)
    if against:
        return Judged(replace(support, lines=(), left=()), "contradicted", tuple(against))
    if support.lines and support.left:
        return Judged(support, "partly")
    return Judged(support, "unread" if graph is None else "unsaid")


def _deny(citer: Citer, text: str, before: frozenset[Term]) -> list[Line]:
    """Return the lines of what a sentence denies."""
    match = _PATTERNS["denial"].search(text)
    if match is None:
        return []
    verb = match[1] or match[2] or ""
    return citer.claims(f"{text[: match.start()]}{verb} {text[match.end() :]}", before) or []


def _alike(line: Line, claimed: Term) -> bool:
    """Return whether a claimed value is of the sort of a line's value: a number or date, a text, a thing."""
    value = line.triple.o
    if isinstance(value, Literal) != isinstance(claimed, Literal):
        return False
    counted = [any(char.isdigit() for char in str(one)) for one in (value, claimed)]
    return not isinstance(value, Literal) or counted[0] == counted[1]


def _turn(citer: Citer, step: ClaimStep, graph: FactSource) -> list[Line]:
    """Return the lines that say a claim the other way round, where it cannot hold both ways."""
    for subject, one in product(sorted(step.subject, key=str), sorted(step.object, key=str)):
        for p, flipped in sorted(step.way or (), key=str):
            first, second = (subject, one) if flipped else (one, subject)
            lines = [line for line in citer.values(first, p) if line.triple.o == second]
            ends = [[line.triple.o for line in citer.types(end)] for end in (first, second)]
            if lines and (graph.is_one_way(p) or any(graph.are_disjoint(ends[0], kind) for kind in ends[1])):
                return lines
    return []


def _clashing(citer: Citer, text: str, before: frozenset[Term], graph: FactSource | None) -> list[Line]:
    """Return the lines that say another thing than a sentence, where both cannot be."""
    for step in citer.open_claims(text, before):
        if graph is not None and (turned := _turn(citer, step, graph)):
            return turned
        for subject in sorted(step.subject, key=str):
            if step.way is None:
                types = citer.types(subject)
                for kind, line in product(sorted(step.object, key=str), types):
                    if graph is not None and graph.are_disjoint([line.triple.o], kind):
                        return [line]
                continue
            for p, flipped in sorted(step.way, key=str):
                values = [] if flipped else citer.values(subject, p)
                if not values or not all(_alike(values[0], one) for one in step.object):
                    continue  # "died in Paris" is nothing against when it was
                datatype = str(getattr(values[0].triple.o, "datatype", "")).removeprefix(XSD)
                one = len(values) == 1 and datatype in _MEASURED
                if one or (graph is not None and graph.is_single(p)):
                    return values
    return []


_ORDINALS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_LONGEST: Final = 500  # Characters of a sentence that is read as one about pictures
_FORMS: Final = tuple(form for name, form in _PATTERNS.items() if name.startswith("form_"))
_KIND: Final = _PATTERNS["kind"].pattern
_SMALL: Final = words("a an the some its another of")


class PictureCiter(Citer):
    """Finds support for sentences about pictures: what each is said to show is held to the general rules."""

    def __init__(self, question: str, context: Context, names: Sequence[str]) -> None:
        super().__init__(question, context)
        self._pictures = list(names)

    def claims(self, text: str, before: frozenset[Term] = frozenset()) -> list[Line] | None:
        """Return the lines of all that a sentence says; see `Citer.claims`."""
        usual, names = super().claims(text, before), {name.casefold() for name in self._pictures}
        if usual is not None or len(text) > _LONGEST or len(names) < len(self._pictures):
            return usual  # two images of one name cannot be told apart
        plain = self._point(self._mark(text), before)
        # One statement of several images is looked for before several statements.
        for clauses in ([plain], _PATTERNS["clauses"].split(plain)):
            evidence = [self._clause(clause) for clause in clauses]
            if all(evidence):
                return [line for lines in evidence for line in lines]
        return None

    def _mark(self, text: str) -> str:
        """Return a sentence in small letters, its images as numbers."""
        plain = " ".join(text.split()).rstrip(".!").strip()
        for at in sorted(range(len(self._pictures)), key=lambda i: -len(self._pictures[i])):
            name = re.escape(self._pictures[at])
            form = rf"(?<!\w)(?:the )?[\"“'‘]?{name}[\"”'’]?(?!\w)"
            plain = re.sub(form, f"pic§{at}", plain, flags=re.IGNORECASE)
        return plain.casefold()

    def _point(self, plain: str, before: frozenset[Term]) -> str:
        """Return a sentence with "the first image" as its number, and "it" where one image is meant."""
        for at, word in enumerate(_ORDINALS[: len(self._pictures)]):
            plain = re.sub(rf"\bthe {word} {_KIND}\b", f"pic§{at}", plain)
        spoken = [
            at
            for at, name in enumerate(self._pictures)
            if any(x.triple.s in before and _is_of(x, name) for x in self._every.lines)
        ]
        one = spoken if len(spoken) == 1 else [0] if len(self._pictures) == 1 else []
        if not one:
            return plain
        return re.sub(r"\A(?:it|(?:the|this) (?:image|picture|photo(?:graph)?))\b", f"pic§{one[0]}", plain)

    def _clause(self, clause: str) -> list[Line]:
        """Return the lines of what a clause says that images show, none where some of it has none."""
        match = next((m for form in _FORMS if (m := form.fullmatch(clause))), None)
        if match is None or "§" in match["things"]:
            return []
        named = dict.fromkeys(int(one) for one in re.findall(r"pic§(\d+)", match["named"] or ""))
        chosen = [*named] or range(len(self._pictures))
        there = [lines for at in chosen if (lines := self._show(self._pictures[at], match["things"]))]
        lines = [line for some in there for line in some]
        if match["count"] is None:
            both = match["every"] is not None and match["every"].startswith("both")
            right = len(there) == len(chosen) and (not both or len(chosen) == 2)
        else:
            number = _NUMBERS.get(match["count"]) or int(match["count"])
            right = len(there) >= number if match["least"] else len(there) == number
        return lines if right else []

    def _show(self, name: str, things: str) -> list[Line]:
        """Return the lines that say that an image shows some things, none where one of them has none."""
        parts = _PATTERNS["list"].split(things)
        if whole := super().claims(f"{name} shows {' and '.join(parts)}"):
            return whole
        shows = [self._word(name, thing) for thing in parts]
        return [line for some in shows for line in some] if all(shows) else []

    def _word(self, name: str, thing: str) -> list[Line]:
        """Return the lines with the words of one thing: a text of an image, or what is said of a part."""
        thing_words = [word for word in tokens(thing) if word.key not in _SMALL]
        wanted = [stem(word.raw) for word in thing_words]
        if (
            not wanted
            or {word.key for word in thing_words} & (NEGATIONS | _NUMBERS.keys())
            or re.search(r'[\d"]', thing)
        ):
            return []
        own = [x for x in self.lines if _is_of(x, name)]
        words = {x.id: [stem(word.raw) for word in tokens(x.labels[2])] for x in own}
        for x in own:
            if any(words[x.id][at : at + len(wanted)] == wanted for at in range(len(words[x.id]))):
                return [x]
        for part in by_subject(x for x in own if "(" in x.labels[0]).values():
            having = [x for x in part if set(words[x.id]) & set(wanted) and not is_false(x)]
            if set(wanted) <= {word for x in having for word in words[x.id]}:
                return having
        return []


def _is_of(line: Line, name: str) -> bool:
    """Return whether a line is about an image or a part of it."""
    return line.labels[0] == name or line.labels[0].startswith(f"{name} (")
