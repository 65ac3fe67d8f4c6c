"""Class expressions as English and German sentences, by rules and without a language model.

Different normal forms get different sentences, as long as different names do: values stand in quotation
marks, joined parts in brackets, and labels that could be taken for words of the sentence are quoted. Names
are labels of the graph; where two things of one expression share a label, their identifiers tell them
apart.

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
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal as OneOfText
from typing import TypeAlias

from rdflib import Literal

from mrag.cel.problem import Counts, Hypothesis
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
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


def verbalise(expression: Expression, name: Name, language: Language = "en") -> str:
    """Say what an expression holds, as the end of a sentence.

    Args:
        expression: The expression; its normal form is what is said.
        name: Names classes, properties and individuals by their IRIs.
        language: `en` or `de`.

    Returns:
        English after "Whatever …", German after „Alles, was …“.
    """
    said = normal(expression)
    return _English(name).clause(said) if language == "en" else _German(name).clause(said)


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
        languages = (language, *(tag for tag in kg.languages if tag != language))
        labels = fetch_labels(kg.store, kg.dataset(), iris, kg.profile().labels, languages)
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
    """Say in one sentence what a concept holds and, of a hypothesis, which examples.

    Args:
        kg: The knowledge graph, for labels.
        concept: The hypothesis or expression.
        language: `en` or `de`.
        noun: What the examples are, in the plural, such as `images`.
    """
    e = concept.expression if isinstance(concept, Hypothesis) else concept
    start = "Whatever" if language == "en" else "Alles, was"
    said = f"{start} {verbalise(e, names_of(kg, [e], language), language)}"
    if isinstance(concept, Hypothesis):
        said += f": {counted(concept.counts, language, noun=noun)}"
    return f"{said}."


def counted(counts: Counts, language: Language = "en", *, noun: str | None = None) -> str:
    """Say how many examples are held.

    Example:
        >>> counted(Counts(9, 1, 10, 40), noun="images")
        '9 of your 10 images, 1 of 40 others'
    """
    c = counts
    if language == "en":
        return f"{c.tp} of your {c.positives} {noun or 'examples'}, {c.fp} of {c.negatives} others"
    return f"{c.tp} von Ihren {c.positives} {noun or 'Beispielen'}, {c.fp} von {c.negatives} anderen"


class _English:
    def __init__(self, name: Name) -> None:
        self.name = name

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
            case And(parts):
                return _listed([self.part(p) for p in parts], "and")
            case Or(parts):
                return _listed([self.part(p) for p in parts], "or")
            case OneOf(members):
                return f"is one of {', '.join(self.value(m) for m in members)}"
            case Value(p, value):
                return f"{self.role(p)} {self.value(value)}"
            case Some(p, filler):
                return f"{self.role(p)} {self.some(filler)}"
            case Only(p, filler):
                return f"{self.role(p)} nothing{'' if filler == Bottom() else f' but {self.what(filler)}'}"
            case AtLeast(n, p, filler):
                return f"{self.role(p)} at least {self.things(n, filler)}"
            case AtMost(n, p, filler):
                return f"{self.role(p)} at most {self.things(n, filler)}"
            case Exactly(n, p, filler):
                return f"{self.role(p)} exactly {self.things(n, filler)}"
            case DataSome(p, range):
                return f"{self.role(p)} some {_range(range, 'en')}"
            case DataOnly(p, range):
                return f"{self.role(p)} nothing but some {_range(range, 'en')}"

    def part(self, e: Expression) -> str:
        return f"({self.clause(e)})" if isinstance(e, And | Or) else self.clause(e)

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

    def listed(self, names: OneOf) -> str:
        return f"({', '.join(self.value(m) for m in names.members)})"

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


class _German:
    """Subordinate clauses, with the verb at their end."""

    def __init__(self, name: Name) -> None:
        self.name = name

    def clause(self, e: Expression) -> str:
        match e:
            case Top():
                return "es gibt"
            case Bottom():
                return "es nicht gibt"
            case Named(iri):
                return f"zu {self.quoted(iri)} gehört"
            case Not(Named(iri)):
                return f"nicht zu {self.quoted(iri)} gehört"
            case Not(of):
                return f"nicht erfüllt: ({self.clause(of)})"
            case And(parts):
                return _listed([self.part(p) for p in parts], "und")
            case Or(parts):
                return _listed([self.part(p) for p in parts], "oder")
            case OneOf(members):
                return f"eines ist von {', '.join(map(self.quoted, members))}"
            case Value(p, value):
                text = _literal(value, "de") if isinstance(value, Literal) else self.quoted(value)
                return f"{self.role(p)} {text} hat"
            case Some(p, Named(iri)):
                return f"{self.role(p)} etwas aus {self.quoted(iri)} hat"
            case Some(p, OneOf() as names):
                return f"{self.role(p)} eines von {self.listed(names)} hat"
            case Some(p, filler):
                return f"{self.role(p)} etwas hat{self.that(filler)}"
            case Only(p, Bottom()):
                return f"{self.role(p)} nichts hat"
            case Only(p, filler):
                return f"{self.role(p)} nur hat, was ({self.clause(filler)})"
            case AtLeast(n, p, filler):
                return f"{self.role(p)} mindestens {self.times(n, filler)}"
            case AtMost(n, p, filler):
                return f"{self.role(p)} höchstens {self.times(n, filler)}"
            case Exactly(n, p, filler):
                return f"{self.role(p)} genau {self.times(n, filler)}"
            case DataSome(p, range):
                return f"{self.role(p)} einen Wert hat: {_range(range, 'de')}"
            case DataOnly(p, range):
                return f"{self.role(p)} nur solche Werte hat: {_range(range, 'de')}"

    def part(self, e: Expression) -> str:
        return f"({self.clause(e)})" if isinstance(e, And | Or) else self.clause(e)

    def that(self, filler: Expression) -> str:
        return "" if isinstance(filler, Top) else f", das ({self.clause(filler)})"

    def times(self, n: int, filler: Expression) -> str:
        if isinstance(filler, OneOf):
            return f"{n} von {self.listed(filler)} hat"
        return f"{n}-mal etwas hat{self.that(filler)}"

    def listed(self, names: OneOf) -> str:
        return f"({', '.join(map(self.quoted, names.members))})"

    def role(self, p: Property) -> str:
        return f"umgekehrt bei {self.quoted(p.iri)}" if p.inverse else f"bei {self.quoted(p.iri)}"

    def quoted(self, iri: str) -> str:
        return f"„{_escaped(self.name(iri))}“"


def _listed(parts: list[str], word: str) -> str:
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def _range(range: DataRange, language: Language) -> str:
    limits = " ".join(f"{_LIMITS[language][f]} {_bare(v, range.datatype)}" for f, v in range.facets)
    return " ".join(filter(None, (_kind(range.datatype, language), limits)))


def _literal(value: Literal, language: Language) -> str:
    datatype = str(value.datatype or XSD + "string")
    if value.language or datatype == XSD + "string":
        return str(to_ox(value))
    return (
        f"{'the' if language == 'en' else 'als Wert:'} {_kind(datatype, language)} {_bare(value, datatype)}"
    )


def _bare(value: Literal, datatype: str) -> str:
    """Print a literal without its datatype if that has been said."""
    return str(value) if str(value.datatype) == datatype and " " not in str(value) else str(to_ox(value))


def _kind(datatype: str, language: Language) -> str:
    return _KINDS[language].get(datatype.removeprefix(XSD), curie(datatype))


def _escaped(text: str) -> str:
    return re.sub(r"([\\“”„])", r"\\\1", text)


def _iris(expression: Expression) -> Iterable[str]:
    for e in walk(expression):
        match e:
            case Named(iri):
                yield iri
            case OneOf(members):
                yield from members
            case Value(p, value):
                yield p.iri
                if not isinstance(value, Literal):
                    yield value
            case (
                Some(p, _) | Only(p, _) | DataSome(p, _) | DataOnly(p, _)
                | AtLeast(_, p, _) | AtMost(_, p, _) | Exactly(_, p, _)
            ):  # fmt: skip
                yield p.iri


def _local(iri: str) -> str:
    """Return the last part of an IRI in words."""
    tail = re.split(r"[#/:]", iri.rstrip("#/:"))[-1]
    return " ".join(name_parts(tail)) or iri
