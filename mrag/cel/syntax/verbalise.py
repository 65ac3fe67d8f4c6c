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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rdflib import Literal

from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.english import (
    BARE,
    KINDS,
    Clauses,
    English,
    Language,
    Name,
    bare,
    closed,
    escaped,
    limited,
    literal,
    merged_limits,
    without_unit,
    word_lists,
)
from mrag.cel.syntax.expressions import negation, normal
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import fetch_labels
from mrag.language.names import name_parts
from mrag.rdf import queries
from mrag.rdf.terms import XSD, curie

_COUNTS: Mapping[type[ce.Cardinality], str] = {
    ce.AtLeast: "mindestens",
    ce.AtMost: "höchstens",
    ce.Exactly: "genau",
}
_NUMBERS = {"minInclusive": "mindestens", "maxInclusive": "höchstens", "minExclusive": "mehr als",
            "maxExclusive": "weniger als"}  # fmt: skip
_TIMES = {"minInclusive": "ab", "maxInclusive": "bis", "minExclusive": "nach", "maxExclusive": "vor"}
_MOMENTS = {XSD + "date": "ein Datum", XSD + "dateTime": "einen Zeitpunkt"}
_VERBAL = re.compile(r"(?:be|ver|ent|er|zer|miss|über|unter)[a-zäöüß]{3,}t\Z")
_PARTICIPLE = re.compile(r"(?:[a-zäöü]{2,4})?(?:ge|be|ver|ent|er|zer)[a-zäöüß]+(?:t|en)\Z")
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}(?:bar|ig|lich|isch|los|voll|haft|sam)\Z")
_NOUN = re.compile(
    r"(?:[a-zäöüß]+[enrs] )?[A-ZÄÖÜ][\w\-]*"
    r"(?: (?:der|des|von|in|im|am|pro|für) [\w\-]+| [A-ZÄÖÜ][\w\-]*)*\Z"
)


@dataclass(frozen=True)
class _Role:
    """How a property is spoken of: what stands before its values, and the verb behind them."""

    before: str
    verb: str = "hat"
    things: str = "Dinge"
    unit: str = ""


def _are(kind: str, *words: str) -> bool:
    """Return whether one of some words is of a kind."""
    return not word_lists("de")[kind].isdisjoint(words)


def _role(label: str, inverse: bool) -> _Role:
    """Return how a property of this name is spoken of."""
    parts = label.split()
    last = parts[-1] if parts else ""
    ends = _are("prepositions", last) and len(parts) > 1
    noun = label.removeprefix("hat ")
    if _NOUN.match(noun) and not ends and not _are("reserved", *{*noun.lower().split()} - {"von"}):
        return _Role(f"{noun} von", "ist", "Dingen") if inverse else _Role(f"als {noun}")
    inner = parts[1:-1] if parts[:1] == ["ist"] else parts[:-1]
    if ends and inner and _NOUN.match(" ".join(inner)) and last == "von":
        noun = " ".join(inner)
        return _Role(f"als {noun}") if inverse else _Role(f"{noun} von", "ist", "Dingen")
    found = _verbal(parts)
    if inverse or found is None:
        return _generic(label, inverse)
    return found


def _generic(label: str, inverse: bool) -> _Role:
    """Return a role that keeps the name of a property in quotation marks."""
    name = f"„{escaped(label)}“"
    return _Role(f"Ziel von {name} bei", "ist", "Dingen") if inverse else _Role(f"bei {name}")


def _verbal(parts: list[str]) -> _Role | None:
    """Return the role of `wohnt in`, `wird gewartet von`, `hergestellt von` and the like."""
    *inner, last = parts or [""]
    if not inner:
        verb = _are("verbs", last) or (_VERBAL.match(last) and not _are("no verbs", last))
        return _Role("", last) if verb else None
    if not _are("prepositions", last) or any(word != word.lower() for word in inner):
        return None
    things = "Dinge" if _are("prepositions of the accusative", last) else "Dingen"
    if inner[0] in ("ist", "wird", "wurde", "war") and len(inner) > 1:
        return _Role(last, f"{' '.join(inner[1:])} {inner[0]}", things)
    if _are("verbs", inner[0]) or (_VERBAL.match(inner[0]) and last != "von"):
        return _Role(last, " ".join([*inner[1:], inner[0]]), things)
    stated = len(inner) == 1 and (_PARTICIPLE.match(inner[0]) or _ADJECTIVE.match(inner[0]))
    return _Role(last, f"{inner[0]} ist", things) if stated else None


def _truth(label: str) -> str:
    """Return what is so where a truth value of this name is true, before the verb; empty if unknown."""
    first, _, rest = label.partition(" ")
    if first == "ist" and rest:
        return rest
    if _are("prepositions", first) and rest:
        return label
    alone = not rest and (_PARTICIPLE.match(label) or _ADJECTIVE.match(label))
    return label if alone else ""


class German(Clauses):
    """Makes German clauses, after „Alles, was …“."""

    def __init__(self, name: Name, expression: ce.Expression) -> None:
        super().__init__(name)
        used = {e.property for e in ce.walk(expression) if isinstance(e, ce.Restriction)}
        times = Counter(_role(name(p.iri), p.inverse) for p in used)
        # Two properties that would be spoken of alike keep their names.
        self.alike = {p for p in used if times[_role(name(p.iri), p.inverse)] > 1}

    def clause(self, e: ce.Expression, last: bool = True) -> str:
        """Return the clause of a normal form."""
        match e:
            case ce.Top():
                return "es gibt"
            case ce.Bottom():
                return "es nicht gibt"
            case ce.Named(iri):
                return f"vom Typ {self.value(iri)} ist"
            case ce.Not(ce.Named(iri)):
                return f"nicht vom Typ {self.value(iri)} ist"
            case ce.Not(ce.OneOf(members)):
                return f"nicht {self._either(members)} ist"
            case ce.Not(ce.Value() | ce.DataSome() as of):
                return self._restricted(of, "nicht ")
            case ce.Not(of):
                return f"nicht erfüllt: ({self.clause(of)})"
            case ce.And(parts) | ce.Or(parts):
                made = [self.part(p, last and p is parts[-1]) for p in parts]
                return f"{', '.join(made[:-1])} {'und' if isinstance(e, ce.And) else 'oder'} {made[-1]}"
            case ce.OneOf(members):
                return f"{self._either(members)} ist"
        return self._restricted(e, last=last)

    def _either(self, members: tuple[str, ...]) -> str:
        names = ", ".join(map(self.value, members))
        return f"{names} selbst" if len(members) == 1 else f"eines von {names}"

    def _restricted(self, e: ce.Restriction, denied: str = "", last: bool = True) -> str:
        """Return what is said of the values of a property, denied or not."""
        label = self.name(e.property.iri)
        name, unit = (
            without_unit(label) if isinstance(e, ce.DataSome | ce.DataOnly | ce.Value) else (label, "")
        )
        r = _role(name if unit else label, e.property.inverse)
        if e.property in self.alike:
            r = _generic(label, e.property.inverse)
        if isinstance(e, ce.Value):
            return self._valued(e, r, unit, denied)
        if isinstance(e, ce.DataSome | ce.DataOnly):
            said = _range(e.range, unit)
            if isinstance(e, ce.DataOnly):
                limits = said.removeprefix(_MOMENTS.get(e.range.datatype, "")).strip()
                said = f"nur Werte {limits if limits != said else f'von {said}'}"
            return (
                _joined(denied + r.before, said, r.verb)
                if r.before[:3] in ("als", "bei", "")
                else (_joined(f"{denied}bei „{escaped(label)}“", said, "hat"))
            )
        values, further = self._values(e, r, last)
        if values.startswith("nur ") and _are("prepositions", r.before):
            denied, values = "nur ", values.removeprefix("nur ")
        return _joined(denied + r.before, values, r.verb) + further

    def _valued(self, e: ce.Value, r: _Role, unit: str, denied: str) -> str:
        label, value = self.name(e.property.iri), e.value
        if isinstance(value, Literal) and str(value.datatype) == XSD + "boolean":
            true = str(value) in ("true", "1")
            if denied or not (said := _truth(label)):
                return f"bei „{escaped(label)}“ {denied}„{'ja' if true else 'nein'}“ sagt"
            return f"{'' if true else 'nicht '}{said} ist"
        number = unit if isinstance(value, Literal) else ""
        return _joined(denied + r.before, f"{self.value(value)} {number}".strip(), r.verb)

    def _values(self, e: ce.Restriction, r: _Role, last: bool) -> tuple[str, str]:
        """Return which values there are, and what is said of them behind the verb."""
        match e:
            case ce.Some(_, filler):
                return self._thing("etwas", filler, "das", last)
            case ce.Only(_, ce.Bottom()):
                return "nichts", ""
            case ce.Only(_, ce.Not() | ce.Only() as filler):
                return self._thing("nichts", negation(filler), "das", last)
            case ce.Only(_, ce.Or(parts) as filler) if any(isinstance(p, ce.Not) for p in parts):
                return self._thing("nichts", negation(filler), "das", last)
            case ce.Only(_, filler):
                return self._thing(f"nur {r.things}", filler, "von denen jedes", last)
            case ce.AtLeast(n, _, filler) | ce.AtMost(n, _, filler) | ce.Exactly(n, _, filler):
                start = f"{_COUNTS[type(e)]} {n}"
                if isinstance(filler, ce.OneOf):
                    return f"{start} von {self.listed(filler)}", ""
                one = n == 1
                return self._thing(
                    f"{start} {'Ding' if one else r.things}",
                    filler,
                    "das" if one else "von denen jedes",
                    last,
                )
        return "", ""

    def _thing(self, thing: str, filler: ce.Expression, that: str, last: bool) -> tuple[str, str]:
        """Return a thing with its class, and what else is said of it."""
        if isinstance(filler, ce.Top):
            return thing, ""
        if isinstance(filler, ce.OneOf) and thing == "etwas":
            return f"eines von {self.listed(filler)}", ""
        parts = filler.parts if isinstance(filler, ce.And) else (filler,)
        named = next((p for p in parts if isinstance(p, ce.Named)), None)
        if named is not None:
            thing += f" vom Typ {self.value(named.iri)}"
            parts = tuple(p for p in parts if p is not named)
        if not parts:
            return thing, ""
        rest = parts[0] if len(parts) == 1 else ce.And(parts)
        alone = last and not isinstance(rest, ce.And | ce.Or)
        return thing, f", {that} {self.clause(rest) if alone else f'({self.clause(rest)})'}"

    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""
        if not isinstance(value, Literal):
            return f"„{escaped(self.name(value))}“"
        if str(value.datatype) in BARE and " " not in str(value):
            return _number(str(value), str(value.datatype))
        return literal(value, "de")


def _joined(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part.strip())


_DECIMAL: Final = frozenset(XSD + kind for kind in ("decimal", "double", "float"))


def _number(text: str, datatype: str) -> str:
    """Return a number with a decimal comma."""
    return text.replace(".", ",") if datatype in _DECIMAL else text


def _range(range: ce.DataRange, unit: str) -> str:
    """Return limits in words, or what the values are."""
    kind = KINDS["de"].get(range.datatype.removeprefix(XSD), curie(range.datatype))
    if not range.facets:
        return f"einen Wert der Art „{kind}“"
    moment = _MOMENTS.get(range.datatype, "")
    names = _TIMES if moment else _NUMBERS
    if ends := closed(range):
        low, high = (_number(bare(v, range.datatype), range.datatype) for v in ends)
        return _joined(moment, f"genau {low}" if low == high else f"von {low} bis {high}", unit)
    facets = sorted(range.facets, key=lambda facet: facet[0].startswith("max"))
    limits = (f"{names[f]} {_number(bare(v, range.datatype), range.datatype)}" for f, v in facets)
    return _joined(moment, " und ".join(limits), unit)


_MOST = 200_000
"""Triples of a property up to which a sentence looks whether anything has several values of it."""


def verbalise(expression: ce.Expression, name: Name, language: Language = "en") -> str:
    """Return what an expression holds, as the end of a sentence.

    Returns:
        English after "Whatever …", German after „Alles, was …“.
    """
    shape = normal(expression)
    return English(name, shape).clause(shape) if language == "en" else German(name, shape).clause(shape)


def names_of(
    kg: KnowledgeGraph, expressions: Iterable[ce.Expression], language: Language | None = None
) -> Name:
    """Return a function that names what expressions speak of, by the labels of a graph."""
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
    """Return how many examples are held, in words."""
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
