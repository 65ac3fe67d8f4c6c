"""Class expressions as English and German sentences, by rules and without a language model.

Different normal forms get different sentences, as long as different names do: values stand in quotation
marks, joined parts in brackets, and labels that could be mistaken for words of the sentence are quoted. Names
are labels of the graph, followed by the identifier where two of one expression share a label.

Example:
    >>> from mrag.cel.syntax import expressions as ce
    >>> e = ce.And((ce.Named("Image"), ce.Value(ce.Property("shows attribute"), "single breasted")))
    >>> verbalise(e, str)
    'is an Image and shows attribute “single breasted”'
    >>> verbalise(e, str, "de")
    'vom Typ „Image“ ist und bei „shows attribute“ „single breasted“ hat'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rdflib import Literal

from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.clauses import Language, Name, limited, merged_limits
from mrag.cel.syntax.english import English
from mrag.cel.syntax.german import German
from mrag.cel.syntax.normal_form import normal
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import fetch_labels
from mrag.rdf import queries
from mrag.rdf.terms import curie
from mrag.text.names import name_parts

_MOST = 200_000
"""Triples of a property up to which a sentence looks whether anything has several values of it."""


def verbalise(expression: ce.Expression, name: Name, language: Language = "en") -> str:
    """Return what an expression holds, as the end of a sentence.

    Args:
        expression: The expression; its normal form is verbalised.
        name: Names classes, properties and individuals by their IRIs.
        language: `en` or `de`.

    Returns:
        English after "Whatever …", German after „Alles, was …“.
    """
    shape = normal(expression)
    return English(name, shape).clause(shape) if language == "en" else German(name, shape).clause(shape)


def names_of(
    kg: KnowledgeGraph, expressions: Iterable[ce.Expression], language: Language | None = None
) -> Name:
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
    concept: Hypothesis | ce.Expression,
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
    e = merged_limits(normal(e), _single_valued(kg, e).__contains__)
    start = "Whatever" if language == "en" else "Alles, was"
    text = f"{start} {verbalise(e, names_of(kg, [e], language), language)}"
    if isinstance(concept, Hypothesis):
        text += f": {counts_in_words(concept.counts, language, noun=noun)}"
    return f"{text}."


def _single_valued(kg: KnowledgeGraph, e: ce.Expression) -> frozenset[ce.Property]:
    """Return the properties with limits of which nothing in a graph has several values."""
    limits: Counter[ce.Property] = Counter()
    for part in ce.walk(normal(e)):
        limits.update(p.property for p in limited(part) if not p.property.inverse)
    asked = {p.iri for p, times in limits.items() if times > 1}
    if not asked:
        return frozenset()
    triples = kg.profile().predicates
    asked = {p for p in asked if triples.get(p, 0) <= _MOST}
    rows = kg.select(queries.get("cel/several-values").bind(p=sorted(asked))) if asked else ()
    return frozenset(map(ce.Property, asked - {str(p) for p, *_ in rows}))


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


def _iris(expression: ce.Expression) -> Iterable[str]:
    for e in ce.walk(expression):
        match e:
            case ce.Named(iri):
                yield iri
            case ce.OneOf(members):
                yield from members
            case ce.Value(_, str() as value) if not isinstance(value, Literal):
                yield value
        if isinstance(e, ce.Restriction):
            yield e.property.iri


def _local(iri: str) -> str:
    """Return the last part of an IRI in words."""
    parts = name_parts(re.split(r"[#/:]", iri.rstrip("#/:"))[-1])
    # `PersonWithASibling`: an article that a capital follows is a word of its own.
    parts = parts[:1] + [w for part in parts[1:] for w in re.split(r"(?<=\AA)(?=[A-Z][a-z])", part)]
    if parts and parts[0][:1].islower():  # `isMarriedTo` is no title
        parts = [word.lower() if word.istitle() else word for word in parts]
    return " ".join(parts) or iri
