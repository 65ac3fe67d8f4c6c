"""Class expressions as English and German sentences, by rules and without a language model.

Different normal forms get different sentences, as long as different names do: values stand in quotation
marks, joined parts in brackets, and labels that could be mistaken for words of the sentence are quoted. Names
are labels of the graph, followed by the identifier where two of one expression share a label.

Example:
    >>> from mrag.cel.syntax.expressions import And, Named, Property, Some, Value
    >>> e = And((Named("Image"), Value(Property("shows attribute"), "single breasted")))
    >>> verbalise(e, str)
    'is an Image and shows attribute “single breasted”'
    >>> verbalise(e, str, "de")
    'zu „Image“ gehört und bei „shows attribute“ „single breasted“ hat'
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal as OneOfText
from typing import TypeAlias

from rdflib import Literal

from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    Cardinality,
    DataOnly,
    DataRange,
    DataSome,
    Exactly,
    Expression,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Restriction,
    Some,
    Top,
    Value,
    walk,
)  # fmt: skip
from mrag.cel.syntax.normal_form import normal
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.labels import fetch_labels
from mrag.rdf.terms import XSD, curie, to_ox
from mrag.text.names import name_parts

Language: TypeAlias = OneOfText["en", "de"]
Name: TypeAlias = Callable[[str], str]

_PLAIN = re.compile(r"[^\W\d_][\w\-]*(?: [\w\-]+)*\Z")
_RESERVED = frozenset(
    "a an and anything at but exactly is least most not nothing of one only or some something than that "
    "the thing things value whatever".split()
)
_KINDS = {
    "en": {"integer": "whole number", "decimal": "decimal number", "double": "number",
           "boolean": "truth value", "float": "short number", "date": "date", "dateTime": "time",
           "string": "text"},
    "de": {"integer": "ganze Zahl", "decimal": "Dezimalzahl", "double": "Zahl", "boolean": "Wahrheitswert",
           "float": "kurze Zahl", "date": "Datum", "dateTime": "Zeitpunkt", "string": "Text"},
}  # fmt: skip
_LIMITS = {
    "en": {"minInclusive": "of at least", "maxInclusive": "of at most", "minExclusive": "above",
           "maxExclusive": "below"},
    "de": {"minInclusive": "ab", "maxInclusive": "bis", "minExclusive": "über", "maxExclusive": "unter"},
}  # fmt: skip

_COUNTS: Mapping[Language, Mapping[type[Cardinality], str]] = {
    "en": {AtLeast: "at least", AtMost: "at most", Exactly: "exactly"},
    "de": {AtLeast: "mindestens", AtMost: "höchstens", Exactly: "genau"},
}


def verbalise(expression: Expression, name: Name, language: Language = "en") -> str:
    """Return what an expression holds, as the end of a sentence.

    Args:
        expression: The expression; its normal form is verbalised.
        name: Names classes, properties and individuals by their IRIs.
        language: `en` or `de`.

    Returns:
        English after "Whatever …", German after „Alles, was …“.
    """
    language_class = _English if language == "en" else _German
    return language_class(name).clause(normal(expression))


def names_of(kg: KnowledgeGraph, expressions: Iterable[Expression], language: Language | None = None) -> Name:
    """Return a function that names what expressions speak of, by the labels of a graph.

    Args:
        kg: The knowledge graph.
        expressions: The expressions.
        language: Language of the labels before the graph's own preference.
    """
    iris = sorted({iri for e in expressions for iri in _iris(e)})
    if language is None or (kg.languages and kg.languages[0] == language):
        labels = kg.labels(iris)
    else:
        tags = (language, *(tag for tag in kg.languages if tag != language))
        labels = fetch_labels(kg.store, kg.dataset(), iris, kg.profile().naming, tags)
    names = {iri: labels.get(iri) or _local(iri) for iri in iris}
    times = Counter(name.casefold() for name in names.values())
    for iri, name in names.items():
        if times[name.casefold()] > 1:
            names[iri] = f"{name} ({curie(iri, kg.prefixes)})"
    return lambda iri: names.get(iri) or _local(iri)


def sentence(
    kg: KnowledgeGraph,
    concept: Hypothesis | Expression,
    language: Language = "en",
    *,
    noun: str | None = None,
) -> str:
    """Return in one sentence what a concept holds and, of a hypothesis, which examples.

    Args:
        kg: The knowledge graph, for labels.
        concept: The hypothesis or expression.
        language: `en` or `de`.
        noun: What the examples are, in the plural, such as `images`.
    """
    e = concept.expression if isinstance(concept, Hypothesis) else concept
    start = "Whatever" if language == "en" else "Alles, was"
    text = f"{start} {verbalise(e, names_of(kg, [e], language), language)}"
    if isinstance(concept, Hypothesis):
        text += f": {counts_in_words(concept.counts, language, noun=noun)}"
    return f"{text}."


def counts_in_words(counts: ExampleCounts, language: Language = "en", *, noun: str | None = None) -> str:
    """Return how many examples are held, in words.

    Example:
        >>> counts_in_words(ExampleCounts(9, 1, 10, 40), noun="images")
        '9 of your 10 images, 1 of 40 others'
    """
    c = counts
    if language == "en":
        return f"{c.tp} of your {c.positives} {noun or 'examples'}, {c.fp} of {c.negatives} others"
    return f"{c.tp} von Ihren {c.positives} {noun or 'Beispielen'}, {c.fp} von {c.negatives} anderen"


class _Clauses(ABC):
    """Makes the clauses of one language.

    Args:
        name: Names classes, properties and individuals by their IRIs.
    """

    def __init__(self, name: Name) -> None:
        self.name = name

    @abstractmethod
    def clause(self, e: Expression) -> str:
        """Return the clause of a normal form."""

    @abstractmethod
    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""

    def joined(self, parts: Sequence[Expression], word: str) -> str:
        clauses = [f"({self.clause(p)})" if isinstance(p, And | Or) else self.clause(p) for p in parts]
        return f"{', '.join(clauses[:-1])} {word} {clauses[-1]}"

    def listed(self, names: OneOf) -> str:
        return f"({', '.join(map(self.value, names.members))})"


class _English(_Clauses):
    def clause(self, e: Expression) -> str:
        match e:
            case Top():
                return "is anything"
            case Bottom():
                return "is nothing"
            case Named(iri):
                return f"is {self.noun(iri)}"
            case Not(Named(iri)):
                return f"is not {self.noun(iri)}"
            case Not(of):
                return f"is nothing that ({self.clause(of)})"
            case And(parts) | Or(parts):
                return self.joined(parts, "and" if isinstance(e, And) else "or")
            case OneOf(members):
                return f"is one of {', '.join(map(self.value, members))}"
        return f"{self.role(e.property)} {self.restricted(e)}"

    def restricted(self, e: Restriction) -> str:
        """Return what follows the name of a property."""
        match e:
            case Value(_, value):
                return self.value(value)
            case Some(_, filler):
                return self.some(filler)
            case Only(_, filler):
                return f"nothing{'' if filler == Bottom() else f' but {self.what(filler)}'}"
            case AtLeast(n, _, filler) | AtMost(n, _, filler) | Exactly(n, _, filler):
                return f"{_COUNTS['en'][type(e)]} {self.things(n, filler)}"
            case DataSome(_, range):
                return f"some {_range(range, 'en')}"
            case DataOnly(_, range):
                return f"nothing but some {_range(range, 'en')}"

    def some(self, filler: Expression) -> str:
        if isinstance(filler, Named):
            return f"some {self.plain(filler.iri)}"
        if isinstance(filler, OneOf):
            return f"one of {self.listed(filler)}"
        return "something" if isinstance(filler, Top) else f"something that ({self.clause(filler)})"

    def what(self, filler: Expression) -> str:
        return f"some {self.plain(filler.iri)}" if isinstance(filler, Named) else f"({self.clause(filler)})"

    def things(self, n: int, filler: Expression) -> str:
        if isinstance(filler, OneOf):
            return f"{n} of {self.listed(filler)}"
        things = f"{n} thing" if n == 1 else f"{n} things"
        return things if isinstance(filler, Top) else f"{things} that ({self.clause(filler)})"

    def noun(self, iri: str) -> str:
        word = self.plain(iri)
        return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"

    def role(self, p: Property) -> str:
        return f"is “{_escaped(self.name(p.iri))}” of" if p.inverse else self.plain(p.iri)

    def plain(self, iri: str) -> str:
        word = self.name(iri)
        safe = _PLAIN.match(word) and not _RESERVED & set(word.lower().split())
        return word if safe else f"“{_escaped(word)}”"

    def value(self, value: str | Literal) -> str:
        if isinstance(value, Literal):
            return _literal(value, "en")
        return f"“{_escaped(self.name(value))}”"


class _German(_Clauses):
    """Subordinate clauses, with the verb at their end."""

    def clause(self, e: Expression) -> str:
        match e:
            case Top():
                return "es gibt"
            case Bottom():
                return "es nicht gibt"
            case Named(iri):
                return f"zu {self.value(iri)} gehört"
            case Not(Named(iri)):
                return f"nicht zu {self.value(iri)} gehört"
            case Not(of):
                return f"nicht erfüllt: ({self.clause(of)})"
            case And(parts) | Or(parts):
                return self.joined(parts, "und" if isinstance(e, And) else "oder")
            case OneOf(members):
                return f"eines ist von {', '.join(map(self.value, members))}"
        p = e.property
        return f"{'umgekehrt ' if p.inverse else ''}bei {self.value(p.iri)} {self.restricted(e)}"

    def restricted(self, e: Restriction) -> str:
        """Return what follows the name of a property."""
        match e:
            case Value(_, value):
                return f"{self.value(value)} hat"
            case Some(_, filler):
                return self.some(filler)
            case Only(_, Bottom()):
                return "nichts hat"
            case Only(_, filler):
                return f"nur hat, was ({self.clause(filler)})"
            case AtLeast(n, _, filler) | AtMost(n, _, filler) | Exactly(n, _, filler):
                return f"{_COUNTS['de'][type(e)]} {self.times(n, filler)}"
            case DataSome(_, range):
                return f"einen Wert hat: {_range(range, 'de')}"
            case DataOnly(_, range):
                return f"nur solche Werte hat: {_range(range, 'de')}"

    def some(self, filler: Expression) -> str:
        if isinstance(filler, Named):
            return f"etwas aus {self.value(filler.iri)} hat"
        if isinstance(filler, OneOf):
            return f"eines von {self.listed(filler)} hat"
        return f"etwas hat{self.that(filler)}"

    def that(self, filler: Expression) -> str:
        return "" if isinstance(filler, Top) else f", das ({self.clause(filler)})"

    def times(self, n: int, filler: Expression) -> str:
        if isinstance(filler, OneOf):
            return f"{n} von {self.listed(filler)} hat"
        return f"{n}-mal etwas hat{self.that(filler)}"

    def value(self, value: str | Literal) -> str:
        return _literal(value, "de") if isinstance(value, Literal) else f"„{_escaped(self.name(value))}“"


def _range(range: DataRange, language: Language) -> str:
    limits = " ".join(f"{_LIMITS[language][f]} {_bare(v, range.datatype)}" for f, v in range.facets)
    kind = _KINDS[language].get(range.datatype.removeprefix(XSD), curie(range.datatype))
    return f"{kind} {limits}".strip()


def _literal(value: Literal, language: Language) -> str:
    datatype = str(value.datatype or XSD + "string")
    if value.language or datatype == XSD + "string":
        return str(to_ox(value))
    kind = _KINDS[language].get(datatype.removeprefix(XSD), curie(datatype))
    return f"{'the' if language == 'en' else 'als Wert:'} {kind} {_bare(value, datatype)}"


def _bare(value: Literal, datatype: str) -> str:
    """Print a literal without its datatype if that is given before it."""
    return str(value) if str(value.datatype) == datatype and " " not in str(value) else str(to_ox(value))


def _escaped(text: str) -> str:
    return re.sub(r"([\\“”„])", r"\\\1", text)


def _iris(expression: Expression) -> Iterable[str]:
    for e in walk(expression):
        match e:
            case Named(iri):
                yield iri
            case OneOf(members):
                yield from members
            case Value(_, str() as value) if not isinstance(value, Literal):
                yield value
        if isinstance(e, Restriction):
            yield e.property.iri


def _local(iri: str) -> str:
    """Return the last part of an IRI in words."""
    return " ".join(name_parts(re.split(r"[#/:]", iri.rstrip("#/:"))[-1])) or iri
