"""Where a text names the things of a context.

Names are compared as runs of folded words, the longest first, so that "graph database" is not also a
mention of "database". A label without any word, or of function words only ("It", "★"), is compared
letter by letter instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rdflib import Literal

from mrag.context.render import Line
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Term
from mrag.text.names import split_identifier
from mrag.text.tokens import LEGAL_FORMS, PERSON_WORDS, TextToken, is_stopword, keys, stem, tokens

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_SCHEMA = ("http://schema.org/", "https://schema.org/")
_FOAF = "http://xmlns.com/foaf/0.1/"
NAMING = frozenset(
    [
        RDFS + "label",
        *(_SKOS + n for n in ("prefLabel", "altLabel", "hiddenLabel")),
        *(s + n for s in _SCHEMA for n in ("name", "alternateName", "legalName")),
        *(_FOAF + n for n in ("name", "nick")),
        "http://purl.org/dc/terms/title",
        "http://purl.org/dc/elements/1.1/title",
    ]
)
"""Properties whose values are further names of their subject."""

META = frozenset(
    [OWL + n for n in ("Class", "Restriction", "Ontology", "NamedIndividual", "Thing")]
    + [OWL + n + "Property" for n in ("Object", "Datatype", "Annotation", "Functional", "InverseFunctional")]
    + [OWL + n + "Property" for n in ("Transitive", "Symmetric", "Asymmetric", "Reflexive", "Irreflexive")]
    + [RDFS + "Class", RDFS + "Datatype", RDF + "Property"]
)
"""Types of the vocabulary of ontologies, which say what a term is made of rather than what it means."""

_OF_PROPERTIES = frozenset([RDFS + n for n in ("subPropertyOf", "domain", "range")] + [OWL + "inverseOf"])
_OF_CLASSES = frozenset([RDFS + "subClassOf", OWL + "equivalentClass", OWL + "disjointWith"])
_MONTHS = "January February March April May June July August September October November December".split()
_PERSON_STEMS = frozenset(stem(word) for word in PERSON_WORDS)
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
        if (
            str(line.triple.p) == RDF + "type"
            and {stem(t.raw) for t in tokens(line.labels[2])} & _PERSON_STEMS
        ):
            return True
        if {t.key for t in tokens(split_identifier(line.labels[1]))} & {"gender", "birth", "born", "spouse"}:
            return True
    return False


def value_forms(literal: Literal) -> Iterator[str]:
    """Yield the ways in which a text may write a literal's value.

    Example:
        >>> list(value_forms(Literal("1977-05-25", datatype=XSD + "date")))
        ['1977-05-25', '25 May 1977', 'May 25 1977', 'May 25, 1977', '1977']
    """
    text = str(literal)
    yield text
    if literal.datatype is not None and str(literal.datatype) in (XSD + "date", XSD + "dateTime"):
        match = re.match(r"(\d{4})-(\d\d)-(\d\d)", text)
        if match and 1 <= int(match[2]) <= 12:
            year, month, day = match[1], _MONTHS[int(match[2]) - 1], str(int(match[3]))
            yield from (f"{day} {month} {year}", f"{month} {day} {year}", f"{month} {day}, {year}", year)


class ContextNames:
    """The names of everything in some lines, ready to be looked for in texts.

    Args:
        lines: Lines of a context. Labels, short literals, and the values of naming properties count as
            names; so do labels without their part in brackets, behind a comma, or without a legal form,
            where that is clear.

    Attributes:
        properties: Terms that are relations; their names are wording rather than things.
        classes: Terms that are classes; their names are common nouns.
    """

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
        subjects: dict[Term, list[Line]] = {}
        for line in lines:
            subjects.setdefault(line.triple.s, []).append(line)
        people = {s for s, about in subjects.items() if is_person(about)}
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
        """Find the mentions in a text, from left to right, the longest at each place.

        Args:
            text: The text.
            words: Its tokens, when they are at hand.
        """
        words = tokens(text) if words is None else words
        found = []
        place = 0
        while place < len(words):
            mention = self._at(text, words, place)
            if mention is not None:
                found.append(mention)
                place = mention.last
            else:
                place += 1
        found.extend(self._exactly(text, words))
        return found

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
