"""Where a text names the things of a context, and which words say its relations.

Names are compared as runs of folded words, the longest first, so that "graph database" is not also a
mention of "database". A label without any word, or of function words only ("It", "★"), is compared
letter by letter instead.

A property is named once, in its label, but said in many ways: "developed by" also as "develops", "the
developer of", "GraphDB's developer". Each way is a lexical key (a verb, a role noun, a participle with its
preposition, a bare preposition, an adjective) together with its direction, so that a sentence that turns the
ends round says another relation. There is no list of verbs that will do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from rdflib import Literal

from mrag._tables import tables
from mrag.context.render import Line, by_subject
from mrag.language.grammar import is_participle
from mrag.language.names import split_identifier
from mrag.language.tokens import (
    LEGAL_FORMS,
    PARTICIPLES,
    PERSON_WORDS,
    VERBS,
    TextToken,
    is_stopword,
    keys,
    plain,
    stem,
    tokens,
    words,
)
from mrag.language.tokens import PREPOSITIONS as _COMMON
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Term

VOCABULARY: Final = tables("generation/vocabulary.toml")
"""What terms of common vocabularies are, and how they are said."""
NAMING: Final = frozenset(VOCABULARY["naming"])  # Properties whose values are further names of their subject

META: Final = frozenset(VOCABULARY["meta"])
"""Types of the vocabulary of ontologies, which say what a term is made of rather than what it means."""

_OF_PROPERTIES = frozenset([RDFS + n for n in ("subPropertyOf", "domain", "range")] + [OWL + "inverseOf"])
_OF_CLASSES = frozenset([RDFS + "subClassOf", OWL + "equivalentClass", OWL + "disjointWith"])
_MONTHS = "January February March April May June July August September October November December".split()
_PERSON_STEMS = frozenset(map(stem, PERSON_WORDS))
_BREAKS = frozenset(",;:()!?—")
_LONGEST = 12  # a literal of more words is a description, not a name


@dataclass(frozen=True, slots=True)
class TermMention:
    """A place in a text that names something: word positions from `first` up to, not with, `last`."""

    first: int
    last: int
    keys: tuple[str, ...]
    terms: frozenset[Term]


def is_person(lines: Sequence[Line]) -> bool:
    """Return whether lines of one subject show it to be a person."""
    for line in lines:
        typed = str(line.triple.p) == RDF + "type"
        if typed and {stem(t.raw) for t in tokens(line.labels[2])} & _PERSON_STEMS:
            return True
        if {*keys(split_identifier(line.labels[1]))} & {"gender", "birth", "born", "spouse"}:
            return True
    return False


def value_forms(literal: Literal) -> Iterator[str]:
    """Yield the ways in which a text may write a literal's value."""
    text = str(literal)
    yield text
    if literal.datatype is not None and str(literal.datatype) in (XSD + "date", XSD + "dateTime"):
        match = re.match(r"(\d{4})-(\d\d)-(\d\d)", text)
        if match and 1 <= int(match[2]) <= 12:
            year, month, day = match[1], _MONTHS[int(match[2]) - 1], str(int(match[3]))
            yield from (f"{day} {month} {year}", f"{month} {day} {year}", f"{month} {day}, {year}", year)


class ContextNames:
    """The names of everything in some lines, ready to be looked for in texts."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._forms: dict[tuple[str, ...], set[Term]] = {}
        self._breaks: dict[tuple[str, ...], frozenset[str]] = {}
        self._longest: dict[str, int] = {}
        self._exact: dict[str, set[Term]] = {}
        self.properties: set[Term] = set()
        self.classes: set[Term] = set()
        every = list(lines)
        for line in every:
            self._sort(line)
            self._add_labels(line)
        self._add_short(every)
        self._parts = self._parts_of_people(every)

    def _sort(self, line: Line) -> None:
        """Note which terms of a line are properties, and which are classes."""
        s, p, o = line.triple
        predicate = str(p)
        self.properties.add(p)
        if predicate in _OF_PROPERTIES:
            self.properties.add(s)
            (self.classes if predicate in (RDFS + "domain", RDFS + "range") else self.properties).add(o)
        if predicate in _OF_CLASSES:
            self.classes.update((s, o))
        elif predicate == RDF + "type":
            self.classes.add(o)
            if str(o) in META and str(o).endswith("Property"):
                self.properties.add(s)
            elif str(o) in META and str(o).endswith("Class"):
                self.classes.add(s)

    def _add_labels(self, line: Line) -> None:
        s, p, o = line.triple
        self._add(line.labels[0], s)
        if not isinstance(o, Literal):
            self._add(line.labels[2], o)
            return
        for written in (line.labels[2], *value_forms(o)):
            self._add(written, o, limit=_LONGEST)
        if str(p) in NAMING:
            self._add(str(o), s, limit=_LONGEST)

    def _add_short(self, lines: Iterable[Line]) -> None:
        """Add short forms of labels where one thing alone has them."""
        short: dict[tuple[str, ...], set[Term]] = {}
        for label, term in _named_things(lines):
            for form in _short_forms(label):
                short.setdefault(form, set()).add(term)
        for form, terms in sorted(short.items()):
            if form not in self._forms and len(terms) == 1:
                self._put(form, frozenset(), next(iter(terms)))

    @staticmethod
    def _parts_of_people(lines: Iterable[Line]) -> dict[str, Term]:
        """Return the words of one person's name alone, as "Luke" of "Luke Skywalker".

        They are read where they have their capital.
        """
        people = {s for s, about in by_subject(lines).items() if is_person(about)}
        singles: dict[str, set[Term]] = {}
        plain: set[str] = set()
        for label, term in _named_things(lines):
            words = tokens(label)
            for word in words:
                singles.setdefault(word.key, set()).add(term)
                if word.raw[:1].islower() or len(words) == 1:
                    plain.add(word.key)
        return {
            key: next(iter(terms))
            for key, terms in singles.items()
            if len(terms) == 1 and terms <= people and key not in plain and len(key) > 3 and key.isalpha()
        }

    def _add(self, label: str, term: Term, limit: int | None = None) -> None:
        form = keys(label)
        if limit is not None and len(form) > limit:
            return
        if all(is_stopword(key) for key in form):
            if label.strip():
                self._exact.setdefault(label.strip(), set()).add(term)
            return
        self._put(form, frozenset(label) & _BREAKS, term)

    def _put(self, form: tuple[str, ...], breaks: frozenset[str], term: Term) -> None:
        self._forms.setdefault(form, set()).add(term)
        self._breaks[form] = self._breaks.get(form, frozenset()) | breaks
        self._longest[form[0]] = max(self._longest.get(form[0], 0), len(form))

    def find(self, text: str, words: list[TextToken] | None = None) -> list[TermMention]:
        """Find the mentions in a text, from left to right, the longest at each place."""
        words = tokens(text) if words is None else words
        mentions = []
        place = 0
        while place < len(words):
            mention = self._at(text, words, place)
            mentions += [mention] if mention else []
            place = mention.last if mention else place + 1
        return [*mentions, *self._exactly(text, words)]

    def _at(self, text: str, words: list[TextToken], first: int) -> TermMention | None:
        longest = min(self._longest.get(words[first].key, 0), len(words) - first)
        for length in range(longest, 0, -1):
            form = tuple(word.key for word in words[first : first + length])
            if form not in self._forms:
                continue
            gaps = "".join(text[words[i].end : words[i + 1].start] for i in range(first, first + length - 1))
            if frozenset(gaps) & _BREAKS <= self._breaks[form]:
                return TermMention(first, first + length, form, frozenset(self._forms[form]))
        word = words[first]
        if word.key in self._parts and (word.raw[:1].isupper() or text == text.lower()):
            return TermMention(first, first + 1, (word.key,), frozenset([self._parts[word.key]]))
        return None

    def _exactly(self, text: str, words: list[TextToken]) -> Iterator[TermMention]:
        for label in sorted(self._exact):
            terms = frozenset(self._exact[label])
            form = keys(label)
            start = text.find(label)
            while start >= 0:
                end = start + len(label)
                inside = [i for i, word in enumerate(words) if start <= word.start and word.end <= end]
                if not form:
                    yield TermMention(-1 - start, -1 - start, form, terms)
                elif len(inside) == len(form) and (inside[0] > 0 or len(form) > 1):
                    yield TermMention(inside[0], inside[-1] + 1, form, terms)
                start = text.find(label, end)


def _named_things(lines: Iterable[Line]) -> Iterator[tuple[str, Term]]:
    """Yield the subjects and objects of lines with their labels, literals left out."""
    for line in lines:
        for label, term in ((line.labels[0], line.triple.s), (line.labels[2], line.triple.o)):
            if not isinstance(term, Literal):
                yield label, term


def _short_forms(label: str) -> Iterator[tuple[str, ...]]:
    shorter = re.split(r"[(,]", label, maxsplit=1)[0].rstrip()
    form = keys(shorter)
    if shorter != label and form and not all(is_stopword(key) for key in form):
        yield form
    if len(form) > 1 and form[-1] in LEGAL_FORMS and not is_stopword(form[0]):
        yield form[:-1]


WORDS: Final = tables("generation/support/words.toml")
"""Word lists and tables of this package, by what they are."""
PREPOSITIONS: Final = _COMMON | words(WORDS["prepositions"])
"""Words that stand between a relation and its end."""
_VERBS: Final = VERBS | words(WORDS["verbs"])
_FORMS: Final = {form: verb for verb, forms in WORDS["forms"].items() for form in forms.split()}
UNITS: Final[Mapping[str, str]] = {
    **{
        form: (short + unit).lower()
        for prefix, short in WORDS["multiples"].items()
        for names, unit in WORDS["bases"].items()
        for name in names.split()
        for form in (prefix + name, f"{prefix}{name}s", (short + unit).lower())
    },
    **{word: unit for unit, several in WORDS["units"].items() for word in (unit, *several.split())},
}
"""Words for units, to what they have in common."""
_PAST: Final = words(WORDS["past"]) | {*PARTICIPLES.values()}
_NOUNS: Final = ("er", "or", "ers", "ors", "ment", "ments", "ion", "ions", "ance", "ence")
_STEMS: Final = frozenset(map(stem, _VERBS))


@lru_cache(maxsize=16384)
def root(word: str) -> str:
    """Reduce a word to what the forms of one verb, and the nouns made of it, have in common."""
    low = word.casefold()
    if low in _FORMS:
        return root(_FORMS[low])
    if low.endswith(("ers", "ors")):
        return root(low[:-1])
    for verb in {low.removesuffix(end).removesuffix("s") for end in ("", "ed", "ing", "er", "ers")}:
        if verb in _VERBS and verb.endswith(("er", "or")):
            return verb  # its ending is its own: "discover"
    for plural in ("s", "es"):
        if low.endswith(plural) and low.removesuffix(plural) in _VERBS:
            return root(low.removesuffix(plural))
    for ending in ("ed", "er", "or", "ing"):
        if low.endswith(ending) and low.removesuffix(ending) + "e" in _VERBS:
            return root(low.removesuffix(ending) + "e")
        if ending in ("er", "or") and low.endswith(ending) and low.removesuffix(ending) in _VERBS:
            return root(low.removesuffix(ending))
    return low if low in _VERBS and len(low) < 6 else stem(low)


def roots(text: str) -> frozenset[str]:
    """Return the roots of words with blanks between them."""
    return frozenset(map(root, text.split()))


def is_verb(word: str) -> bool:
    """Return whether a word is a form of a verb that names relations, or a noun made of one."""
    return stem(word) in _STEMS or root(word) in _VERBS


def finite(word: str) -> bool:
    """Return whether a word can be a verb that says a relation, in the present or past tense."""
    if word in ("has", "have", "series", "species"):
        return False
    if {word, word.removesuffix("s"), word.removesuffix("es")} & (_PAST | _VERBS):
        return True
    return is_verb(word) and not word.endswith(_NOUNS)


def agentive(word: str) -> bool:
    """Return whether a word is a noun for who does something."""
    return word.endswith(("er", "or", "ers", "ors", "ist", "ists"))


_DECORATION: Final = frozenset("\"'“”‘’„«»*_`#…´.?!")
"""Marks that mean nothing in a sentence: quotation marks and those of Markdown, and the stop at its end."""
_OWNS: Final = re.compile(r"['’´`ʼ]s?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A word or a mark."""

    low: str  # As written, in small letters and without a possessive ending
    key: str  # Folded
    stem: str  # Its root
    start: int  # Where it begins in the text
    end: int  # Where it ends
    names: tuple[tuple[int, frozenset[Term]], ...] = ()  # What a name that begins here may stand for
    is_mark: bool = False  # Whether it is no word


def symbols_of(text: str, known: ContextNames) -> list[Symbol]:
    """Return a sentence as symbols, with what it names."""
    words = tokens(text)
    mentions = [m for m in known.find(text, words) if 0 <= m.first < m.last]
    inside = {i for m in mentions for i in range(m.first + 1, m.last)}
    made: list[Symbol] = []
    at_word: list[int] = []
    last = 0
    for i, word in enumerate(words):
        if i not in inside:
            made.extend(_marks(text[last : word.start], last))
        at_word.append(len(made))
        low = plain(word.raw).casefold()
        made.append(Symbol(low, word.key, root(low), word.start, word.end))
        owner = _OWNS.search(word.raw)
        owns = Symbol("'s", "'s", "'s", word.end, word.end, is_mark=True)
        if owner and len(owner.group()) < len(word.raw):
            made.append(owns)
        last = word.end
        plural = text[last : last + 2] in ("' ", "’ ") and word.raw[-1:].casefold() == "s"
        if plural and not (word.start > 0 and text[: word.start].count("'") % 2):  # no quotation ends there
            made.append(owns)
        elif re.match(r"['’´]s\b", text[last:]):
            made.append(owns)
            last += 2
    made.extend(_marks(text[last:], last))
    names: dict[int, list[tuple[int, frozenset[Term]]]] = {}
    for mention in mentions:
        start = at_word[mention.first]
        names.setdefault(start, []).append((at_word[mention.last - 1] + 1 - start, mention.terms))
    return [replace(symbol, names=tuple(names.get(i, ()))) for i, symbol in enumerate(made)]


def _marks(gap: str, start: int) -> list[Symbol]:
    marks = []
    for i, c in enumerate(gap):
        if c.isspace() or c in _DECORATION:
            continue
        low = "–" if c in "–—-" else c
        if low == "–" and 0 < i < len(gap) - 1 and not (gap[i - 1].isspace() and gap[i + 1].isspace()):
            continue
        if low == "–" and len(gap) == 1:
            continue  # a hyphen within a word
        marks.append(Symbol(low, low, low, start + i, start + i + 1, is_mark=True))
    return marks


_OF = words("of von de del du des di d'")
_ARTICLES = words("the a an der die das dem den des le la les el los las il lo gli i")
_HAVING_VERBS = frozenset(map(stem, VERBS))
_MOST = 3
_BREAK = re.compile(r"[.,;:()!?—]")


def owners(
    text: str, asked: Sequence[TextToken], mention: TermMention, things: Sequence[TermMention]
) -> frozenset[str]:
    """Return the stems of the nouns that a mention of a thing is only the owner of."""
    if mention.first < 0 or mention.last <= mention.first:
        return frozenset()
    named = {i for other in things for i in range(max(other.first, 0), other.last)}
    behind = asked[mention.last - 1]
    gap = text[behind.end : asked[mention.last].start] if mention.last < len(asked) else ""
    if _OWNS.search(behind.raw) or (behind.end < len(text) and _OWNS.search(gap.split(" ")[0] or " ")):
        return _nouns(text, asked, range(mention.last, len(asked)), named)
    at = mention.first - 1
    while at >= 0 and asked[at].key in _ARTICLES:
        at -= 1
    if at >= 0 and asked[at].key in _OF:
        return _nouns(text, asked, range(at - 1, -1, -1), named)
    return frozenset()


def _nouns(text: str, asked: Sequence[TextToken], places: range, named: set[int]) -> frozenset[str]:
    nouns: list[str] = []
    before: int | None = None
    for i in places:
        first, second = sorted((i, before)) if before is not None else (i, i)
        if i in named or _BREAK.search(text[asked[first].end : asked[second].start]):
            break
        if is_stopword(asked[i].key) or len(nouns) == _MOST:
            break
        if nouns and places.step > 0 and stem(asked[i].raw) in _HAVING_VERBS:
            break  # "Ada's children live …", but "Ada's release year"
        nouns.append(stem(asked[i].raw))
        before = i
    return frozenset(nouns)


Way = frozenset[tuple[Term, bool]]
"""Properties that some words say, each with whether its subject is what the words make the second end."""

Key = tuple[str, ...]
Wordings = dict[Key, set[tuple[Term, bool]]]  # Stems of some words, to what they say

TYPE: Final = RDF + "type"
_SYMMETRIC: Final = OWL + "SymmetricProperty"
_BE: Final = words("is are was were be been being")
_SMALL: Final = words("a an the")
_BEARERS: Final = words(WORDS["bearers"])
_NO_AGENTS: Final = words(WORDS["no_agents"])
_DOES: Final[Mapping[str, str]] = WORDS["does"]
_ACTS: Final[Mapping[str, str]] = WORDS["acts"]
_EVENTS: Final[Mapping[str, str]] = WORDS["events"]
_PLACES: Final = words(WORDS["places"])
_OCCASION: Final = words(WORDS["occasions"])
_WHEN: Final = words(WORDS["times"])
_NOMINAL: Final = {root(k): root(v) for k, v in WORDS["nominal"].items()}
_MEASURES: Final = {root(k): v for k, v in WORDS["measures"].items()}
_SAID_OF_MEASURES: Final = {root(k): root(v) for k, v in WORDS["said_of_measures"].items()}
_KINDS: Final = roots(WORDS["kinds"])
_QUALITIES: Final = roots(WORDS["qualities"])
_MUTUAL: Final = roots(WORDS["mutual"])
_TURNED: Final = {root(k): tuple(map(root, v.split())) for k, v in WORDS["turned"].items()}
_OFFERED: Final = {root(k): v for k, v in WORDS["offered"].items()}
_ALIKE: Final = tuple(map(roots, WORDS["alike"]))
_SAID_AGENTS: Final[Mapping[str, str]] = WORDS["said_agents"]
PLACED: Final = roots(WORDS["placed"])
_TEMPLATES: Final[Mapping[str, str]] = VOCABULARY["wordings"]


@dataclass
class RelationWordings:
    """What the words of a sentence may say, of the properties of some lines."""

    verbs: Wordings = field(default_factory=dict)  # A verb and what stands behind it: from agent to patient
    participles: Wordings = field(default_factory=dict)  # Words and a preposition: from theme to landmark
    nouns: Wordings = field(default_factory=dict)  # A role noun: from the owner to who bears it
    agents: Wordings = field(default_factory=dict)  # The same of nouns that verbs give rise to: "developer"
    phrases: Wordings = field(default_factory=dict)  # Whole labels: from subject to object
    prepositions: Wordings = field(default_factory=dict)  # Bare prepositions: from subject to object
    truths: Wordings = field(default_factory=dict)  # What is or is not: properties with truth values
    adjectives: Wordings = field(default_factory=dict)  # Adjectives of measures: properties with numbers
    passives: Wordings = field(default_factory=dict)  # Verbs that stand before "by"
    kinds: set[Term] = field(default_factory=set)  # Properties whose value says what something is
    qualities: set[Term] = field(default_factory=set)  # Those whose value says what it is like
    having: set[Term] = field(default_factory=set)  # Those whose value something has
    naming: set[Term] = field(default_factory=set)  # Those that give further names
    mutual: set[Term] = field(default_factory=set)  # Those that hold both ways
    units: dict[Term, frozenset[str]] = field(default_factory=dict)  # What each is measured in, by its label
    shortened: list[tuple[str, Term]] = field(default_factory=list)  # "uses fuel", whose noun may be left out
    longest: int = 1  # Words of the longest key of any sort

    @property
    def words(self) -> frozenset[str]:
        """Every stem that says a relation, or a part of one."""
        tables = (self.verbs, self.participles, self.nouns, self.agents, self.phrases, self.truths)
        return frozenset(word for table in (*tables, self.adjectives) for key in table for word in key)

    def add(self, table: Wordings, key: Key, p: Term, *, flipped: bool = False) -> None:
        """Note that some words say a property, or say it from its object to its subject."""
        if any(key):
            table.setdefault(key, set()).add((p, flipped))
            self.longest = max(self.longest, len(key))


def relations(lines: Iterable[Line]) -> RelationWordings:
    """Return what says the relations of some lines."""
    made = RelationWordings()
    said: dict[Term, dict[str, None]] = {}
    truths: set[Term] = set()
    literals: set[Term] = set()
    numbers: set[Term] = set()
    for line in lines:
        s, o = line.triple.s, line.triple.o
        p: Term = line.triple.p
        said.setdefault(p, {})[line.labels[1]] = None
        if isinstance(o, Literal):
            literals.add(p)
            if o.datatype is not None or re.fullmatch(r"[-+]?[\d.,]+", str(o)):
                numbers.add(p)
            if str(o.datatype or "") == XSD + "boolean":
                truths.add(p)
        if _SYMMETRIC in (str(p), str(o) if str(p) == TYPE else ""):
            made.mutual.add(s)
    for p, labels in said.items():
        if str(p) == TYPE:
            continue
        if str(p) in NAMING:
            made.naming.add(p)
        made.add(made.phrases, _roots(_TEMPLATES.get(str(p), "").split()), p)
        for label in labels:
            _label(made, p, label, truth=p in truths, literal=p in literals, number=p in numbers)
    _spread(made)
    return made


def _roots(low: Iterable[str]) -> Key:
    return tuple(map(root, low))


def _label(made: RelationWordings, p: Term, label: str, *, truth: bool, literal: bool, number: bool) -> None:
    text = split_identifier(label)
    bracket = re.findall(r"[(\[]([^()\[\]]*+)[)\]]", text)
    text = re.sub(r"(?<!\s)\s*+[(\[][^()\[\]]*+[)\]]", "", text).strip() or text
    inside = [w.casefold() for part in bracket for w in re.findall(r"[^\W\d_]+[23²³]?|[%€$£°]", part)]
    low = [w.casefold() for w in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)]
    if not low:
        return
    verbal = finite(low[0]) or (low[0].endswith("s") and not agentive(low[0]))
    if len(low) > 1 or (verbal and _BEARERS.isdisjoint({low[0], low[0][:-1], low[0][:-2]})):
        # What has a coach coaches nobody.
        made.add(made.phrases, _roots(low), p)
    if _MUTUAL.intersection(_roots(low)):
        made.mutual.add(p)
    if low[0] in _BE:
        low = low[1:] or low
        made.add(made.phrases, _roots(low), p)
    if truth:
        bare = low[1:] if low[0] in ("has", "can") and len(low) > 1 else low
        made.add(made.truths, _roots(bare), p)
    if len(low) > 1 and low[0] in _SMALL:
        low = low[1:]
    shapes = [low]
    if number and len(low) > 1 and (low[-1] in UNITS or (low[-2] == "in" and low[-1].endswith("s"))):
        # "height in metres", "run min": what the number is counted in
        inside = [*inside, low[-1]]
        shapes.append(low[:-2] if low[-2] == "in" else low[:-1])
    made.units[p] = made.units.get(p, frozenset()) | frozenset(UNITS.get(w, root(w)) for w in inside)
    for shape in filter(None, shapes):
        _shape(made, p, shape, literal)


def _shape(made: RelationWordings, p: Term, low: list[str], literal: bool) -> None:
    stems = [root(w) for w in low]
    if low[0] in ("has", "have", "having") and len(low) > 1:
        made.having.add(p)
        if low[-1] in ("of", "as", "in", "by") and len(low) > 2:
            # "has capital of": whatever it may mean, it is said as it stands.
            return
        _noun(made, p, low[1:])
        return
    if low[-1] in PREPOSITIONS:
        _prepositional(made, p, low)
        return
    if len(low) == 1 and low[0] in _BEARERS:
        _noun(made, p, low)
        made.add(made.verbs, (stems[0], ""), p, flipped=True)
        return
    if finite(low[0]) and len(low) == 1 and not (literal and is_participle(low[0])):
        made.add(made.verbs, (stems[0], ""), p)
        if not low[0].endswith("s"):
            # A verb in its plain form may be a noun as well: "date", "award", "border".
            _noun(made, p, low)
        return
    if finite(low[0]) and low[0].endswith("s") and len(low) > 1:
        made.add(made.verbs, (*stems, ""), p)
        made.shortened.append((stems[0], p))
        return
    if is_participle(low[0]) and len(low) == 1:
        for preposition in ("in", "on", "at", "by", "for"):
            made.add(made.participles, (stems[0], preposition), p)
        made.add(made.nouns, (stems[0],), p)
        return
    if len(low) == 3 and low[1] in PREPOSITIONS - {"of"} and (finite(low[0]) or is_participle(low[0])):
        _prepositional(made, p, low[:2])  # "located in state", whatever the state
    if len(low) == 2 and low[0] in ("in", "at"):
        made.add(made.prepositions, (low[0],), p)
    _noun(made, p, low)


def _prepositional(made: RelationWordings, p: Term, low: list[str]) -> None:
    """Add what a label says that ends in a preposition: "in", "developed by", "works for", "capital of"."""
    stems = [root(w) for w in low]
    head, last = low[:-1], low[-1]
    if not head:
        made.add(made.prepositions, (last,), p)
        return
    if len(head) == 1 and head[0] in _EVENTS:
        event = _EVENTS[head[0]]
        for key in ((event + "place",), (event, "place"), ("place", "of", event)):
            made.add(made.nouns, _roots(key), p)
    if last == "by":
        made.add(made.verbs, (stems[-2], ""), p, flipped=True)
        made.add(made.prepositions, ("by",), p)
    elif finite(head[0]) and not is_participle(head[0]):
        made.add(made.verbs, (*stems[:-1], last), p)
        if last == "for" and len(head) == 1:
            made.add(made.agents, (stems[0],), p, flipped=True)
        if (low[-2].removesuffix("s"), last) == ("consist", "of"):
            for verb in ("made", "composed"):
                made.add(made.participles, (root(verb), last), p)
    elif last in ("of", "to", "for", "in", "with") and not is_participle(head[-1]):
        # "capital of": who is one is the subject.
        made.add(made.nouns, tuple(stems[:-1]), p, flipped=True)
        for turned in _TURNED.get(stems[-2], ()) if len(head) == 1 and last == "of" else ():
            made.add(made.nouns, (turned,), p)
    if last != "by" and len(head) == 1 and root(head[0]) in PLACED:
        made.add(made.prepositions, (last,), p)
    made.add(made.participles, (*stems[:-1], last), p)


def _noun(made: RelationWordings, p: Term, low: list[str]) -> None:
    if low[0] in ("current", "present") and len(low) > 1:
        _noun(made, p, low[1:])  # the tense of what is said of it says so
    stems = _roots(low)
    made.add(made.nouns, stems, p)
    if stems[-1] in _KINDS and len(stems) == 1:
        made.kinds.add(p)
    if stems[-1] in _QUALITIES and len(stems) == 1:
        made.qualities.add(p)
    if len(low) == 2 and low[1] not in PREPOSITIONS:
        made.add(made.nouns, (stems[1], "of", stems[0]), p)
    if "of" in low[1:-1]:
        at = low.index("of", 1)
        rest = [w for w in low[at + 1 :] if w not in _SMALL]
        made.add(made.nouns, (*_roots(rest), *stems[:at]), p)
        low = [*rest, *low[:at]]
    _occasion(made, p, low)
    if len(low) == 1:
        _single(made, p, low[0])
    for word in _MEASURES.get(stems[-1], "").split():
        made.add(made.adjectives, (word,), p)
    for offer in _OFFERED.get(stems[-1], "").split() if len(stems) == 1 else ():
        made.add(made.verbs, (root(offer), ""), p)
    measured = _SAID_OF_MEASURES.get(stems[-1])
    if measured:
        made.add(made.verbs, (measured, ""), p)


def _occasion(made: RelationWordings, p: Term, low: list[str]) -> None:
    """Add what happened of a noun for when or where it did: "born in" of "birth place"."""
    if len(low) > 1 and low[-1] in _OCCASION:
        verbal = [root(w) for w in low[:-1]]
        verbal[-1] = _NOMINAL.get(verbal[-1], verbal[-1])
        for key in {tuple(verbal), (*verbal[:-1], verbal[-1].removesuffix("at"))}:
            for preposition in ("in", "on", "at") if low[-1] in _WHEN else ("in", "at"):
                made.add(made.participles, (*key, preposition), p)
    if low[0] in ("birthplace", "birthdate", "birthday", "birthyear"):
        for preposition in ("in", "on", "at"):
            made.add(made.participles, (root("born"), preposition), p)


def _single(made: RelationWordings, p: Term, low: str) -> None:
    """Add what a role noun of one word says: the role of the other end, what its bearer does, where it is."""
    for turned in _TURNED.get(root(low), ()):
        made.add(made.nouns, (turned,), p, flipped=True)
    if low.endswith(("er", "or")) and low not in _NO_AGENTS and len(low) > 4:
        made.add(made.verbs, (root(_DOES.get(low, low)), ""), p, flipped=True)
    if low in _ACTS:
        made.add(made.verbs, (root(_ACTS[low]), ""), p, flipped=True)
    if low in _PLACES:
        made.add(made.prepositions, ("in",), p)
        for verb in PLACED:
            made.add(made.participles, (verb, "in"), p)


def _spread(made: RelationWordings) -> None:
    """Add verbs that say the same, and the nouns for who does what a verb says."""
    heads = Counter(verb for verb, _ in made.shortened)
    for verb, p in made.shortened:
        if heads[verb] == 1 and (verb, "") not in made.verbs:
            made.add(made.verbs, (verb, ""), p)
    own = {key[0] for table in (made.verbs, made.participles, made.nouns) for key in table}
    for table in (made.verbs, made.participles):
        for key, ways in list(table.items()):
            for alike in _ALIKE:
                if key[0] in alike:
                    for other in alike - own:
                        table.setdefault((other, *key[1:]), set()).update(ways)
    made.passives.update((key[:-1], ways) for key, ways in made.verbs.items() if not key[-1])
    for key, ways in list(made.verbs.items()):
        if len(key) == 2 and not key[1]:
            turned = {(p, not flipped) for p, flipped in ways}
            made.agents.setdefault(key[:1], set()).update(turned)
            for noun in _SAID_AGENTS.get(key[0], "").split():
                if root(noun) not in own:
                    made.agents.setdefault((root(noun),), set()).update(turned)
