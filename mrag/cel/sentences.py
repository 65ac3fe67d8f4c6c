"""Class expressions as English sentences, by rules and without a language model.

Different normal forms get different sentences, as long as different names do: values stand in quotation
marks, joined parts in brackets, and labels that could be mistaken for words of the sentence are quoted. Names
are labels of the graph, followed by the identifier where two of one expression share a label.

Example:
    >>> from mrag.rdf import expressions as ce
    >>> e = ce.And((ce.Named("Image"), ce.Value(ce.Property("shows attribute"), "single breasted")))
    >>> verbalise(e, str)
    'is an Image and shows attribute “single breasted”'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias

from rdflib import Literal

from mrag._tables import tables
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.graph.kg import KnowledgeGraph
from mrag.language.grammar import article, is_participle, participle, plural, relation, third_person
from mrag.language.names import name_parts
from mrag.language.tokens import PREPOSITIONS, VERBS, is_plural, singular
from mrag.rdf import expressions as ce
from mrag.rdf import queries
from mrag.rdf.expressions import negation, normal, operands, with_operands
from mrag.rdf.terms import XSD, curie, to_ox

Name: TypeAlias = Callable[[str], str]
_DATA: Final = tables("cel/words.toml")
KINDS: Final[Mapping[str, str]] = _DATA["kinds"]  # What values of a datatype are called
NUMERIC = frozenset(XSD + kind for kind in ("integer", "decimal", "double", "float"))
"""Datatypes of numbers, which are compared by value."""
BARE = NUMERIC | {XSD + kind for kind in ("boolean", "date", "dateTime")}
"""Datatypes whose values need no name of their kind beside them."""


def literal(value: Literal) -> str:
    """Print a literal, with what it is unless it is a text."""
    datatype = str(value.datatype or XSD + "string")
    if value.language or datatype == XSD + "string":
        return str(to_ox(value))
    kind = KINDS.get(datatype.removeprefix(XSD), curie(datatype))
    return f"the {kind} {bare(value, datatype)}"


def bare(value: Literal, datatype: str) -> str:
    """Print a literal without its datatype if that is given before it, or both are numbers."""
    own = str(value.datatype)
    alike = own == datatype or {own, datatype} <= NUMERIC
    return str(value) if alike and " " not in str(value) else str(to_ox(value))


def limits_of(range: ce.DataRange) -> tuple[Literal, Literal] | None:
    """Return the least and the greatest value of a range that has both and no other limits."""
    limits: dict[str, Literal] = dict(range.facets)
    both = len(range.facets) == 2 and limits.keys() == {"minInclusive", "maxInclusive"}
    return (limits["minInclusive"], limits["maxInclusive"]) if both else None


def merge_limits(e: ce.Expression, single: Callable[[ce.Property], bool]) -> ce.Expression:
    """Join the limits of the same values: `≥ 3 ⊓ ≤ 7` of a property with one value."""
    parts = tuple(merge_limits(p, single) for p in operands(e))
    e = with_operands(e, parts) if parts else e
    if not isinstance(e, ce.And):
        return e
    limits: dict[tuple[ce.Property, str, str], list[ce.DataSome]] = {}
    for p in limit(e):
        limits.setdefault((p.property, p.range.datatype, p.range.facets[0][0][:3]), []).append(p)
    for (on, kind, side), lows in limits.items():
        highs = limits.get((on, kind, "max"), []) if side == "min" else []
        if len(lows) == len(highs) == 1 and single(on):
            both = ce.DataSome(on, ce.DataRange(kind, (*lows[0].range.facets, *highs[0].range.facets)))
            e = ce.And((*(p for p in e.parts if p not in (lows[0], highs[0])), both))
    return e


def limit(e: ce.Expression) -> list[ce.DataSome]:
    """Return the parts of a conjunction that limit values at one side."""
    parts = e.parts if isinstance(e, ce.And) else ()
    return [p for p in parts if isinstance(p, ce.DataSome) and len(p.range.facets) == 1]


def between(parts: Sequence[ce.Expression]) -> dict[ce.Expression, ce.AtMost]:
    """Return the greatest of two counts of the same values by the least, where both are given."""
    most = {(p.property, p.filler): p for p in parts if isinstance(p, ce.AtMost)}
    least = {(p.property, p.filler): p for p in parts if isinstance(p, ce.AtLeast)}
    return {p: most[of] for of, p in least.items() if of in most}


def escape(text: str) -> str:
    """Return a text that can stand in quotation marks."""
    return re.sub(r"([\\“”„])", r"\\\1", text)


@cache
def word_lists() -> Mapping[str, frozenset[str]]:
    """Return the words by which names become clauses, by what they are; of pairs see `word_pairs`."""
    lists = ((name, words) for name, words in _DATA.items() if isinstance(words, str))
    return {name: frozenset(words.split()) for name, words in lists}


@cache
def word_pairs(name: str) -> Mapping[str, str]:
    """Return English words by others, such as the participles of verbs."""
    return dict(pair.split(":") for pair in sorted(word_lists()[name]))


@cache
def _verbs() -> frozenset[str]:
    return VERBS | word_lists()["verbs"]


def _are(kind: str, *words: str) -> bool:
    """Return whether one of some words is of a kind."""
    return not word_lists()[kind].isdisjoint(words)


def _is_reserved(label: str) -> bool:
    """Return whether the name of a property has words that are mistaken for those of a sentence."""
    return _are("reserved", *{*label.lower().split()} - word_lists()["in roles"])


_IN_BRACKETS = re.compile(r"(.*\S) [(\[]([^\s()\[\]]{1,8})[)\]]\Z")


def without_unit(label: str) -> tuple[str, str]:
    """Return a name without the unit at its end, and the unit."""
    if match := _IN_BRACKETS.match(label):
        return match[1], word_pairs("units").get(match[2].lower(), match[2])
    parts = label.replace("_", " ").split()
    unit = word_pairs("units").get(parts[-1].lower()) if len(parts) > 1 else None
    if unit and parts[-2].lower() not in {"of", "in"} | PREPOSITIONS:
        return " ".join(parts[:-1]), unit
    return label, ""


def some(noun: str) -> str:
    """Return a noun with its article, if it takes one."""
    head = noun.partition(" of ")[0]
    return noun if is_plural(head) or _are("mass nouns", head.rpartition(" ")[2].lower()) else article(noun)


def several(noun: str) -> str:
    """Return the plural of a noun; one that is plural already stays as it is."""
    head, gap, last = noun.rpartition(" ")
    if made := word_pairs("plurals").get(last.lower()):
        return head + gap + (made.capitalize() if last.istitle() else made)
    return noun if is_plural(noun) or _are("mass nouns", last.lower()) else plural(noun)


def is_adjective(word: str) -> bool:
    """Return whether the name of a class is an adjective by its ending, or a common one."""
    low = word.lower()
    if _are("adjectives", low):
        return True
    ending = low.endswith(tuple(word_lists()["adjective endings"])) or (
        low.endswith("ed") and not low.endswith("eed")
    )
    return ending and len(low) > 5 and low.isalpha()


def single(noun: str) -> str:
    """Return a noun in the singular, but `number of seats` as it is."""
    head, gap, last = noun.rpartition(" ")
    low = last.lower()
    if " of " in noun or not low.isalpha() or not low.islower() or last != low:
        return noun
    return head + gap + _singulars().get(low, singular(low) if is_plural(low) else low)


def lower(parts: list[str]) -> list[str]:
    """Return words without the capitals of a title; `RDF` keeps its own."""
    return [w.lower() if w.istitle() else w for w in parts]


PLAIN = re.compile(r"[^\W\d_][\w\-]*(?: [\w\-]+)*\Z")  # A name that can stand without quotation marks
_SCORES = frozenset(("points", "ranks", "marks", "scores", "grades"))
"""Plurals that are what a number is, not what it counts."""
_WAS = {"is": "are", "was": "were", "has": "have", "does": "do"}


@dataclass(frozen=True)
class Role:
    """How a property is spoken of: by a verb, by a noun after a carrier, or as `is what a cat sits on`."""

    verb: str = ""
    denied: str = ""
    noun: str = ""
    nouns: str = ""
    carrier: str = "has"
    what: str = ""
    unit: str = ""

    @property
    def lacks(self) -> str:
        """Return the carrier, denied."""
        return _deny(self.carrier)

    @property
    def whats(self) -> str:
        """Return the verb that follows several."""
        first, _, rest = self.what.partition(" ")
        return f"{_WAS.get(first) or _forms().get(first, first)} {rest}".strip()


def role(label: str, *, inverse: bool = False) -> Role:
    """Return how a property of this name is spoken of."""
    if not PLAIN.match(label) or _is_reserved(label):
        return quote(label, inverse)
    parts = label.split()
    low = [part.lower() for part in parts]
    if low[0] in ("has", "have") and len(parts) > 1 and low[-1] not in PREPOSITIONS:
        return _noun(lower(parts[1:]), inverse)
    if low == ["has"] or low == ["have"]:
        return _verb("has", inverse)
    if len(parts) == 1 and _are("related", low[0]):
        return _verb(f"is {label} to", inverse)
    if led := _lead(parts):
        carrier, called = led[0], single(" ".join(lower(led[1])))
        if inverse:
            return Role(what=f"{carrier} as {called}")
        return Role(noun=called, nouns=several(called), carrier=carrier)
    third = _third_person(low)
    kind, text = relation(label, False)
    if third:
        return _verb(" ".join([third, *parts[1:]]), inverse)
    if kind == "foreign":
        return quote(label, inverse)
    if " ".join(low[:2]) == "number of":
        return _noun(lower(parts), inverse)
    if kind != "phrase" or (len(low) == 1 and low[0].endswith("ing") and not _base_of_ing(low[0])):
        return _noun(lower(parts if kind == "phrase" else text.split()), inverse)
    first, *rest = text.split()
    phrase = first.lower() not in _forms() or low[-1] == "by"
    return _phrase(first, rest, inverse) if phrase else _verb(text, inverse)


def _third_person(low: list[str]) -> str:
    """Return the form that follows `it` where a name begins with a verb, `observes` or `observe`."""
    if low[0] != "has" and low[0] in _forms() and (len(low) > 1 or _forms()[low[0]] not in VERBS):
        return low[0]
    return third_person(low[0]) if len(low) == 1 and low[0] in _verbs() - VERBS else ""


def _lead(parts: list[str]) -> tuple[str, list[str]] | None:
    """Return a verb and the noun behind it: `uses` and `filter`, `is located in` and `city`."""
    low = [part.lower() for part in parts]
    places = [at for at, word in enumerate(low) if word in PREPOSITIONS and word != "of"]
    verbal = low[0] in _forms() and low[0] != "has"
    passive = is_participle(low[0]) or low[0] in ("is", "was")
    if places and places[-1] + 1 < len(parts) and (verbal or (passive and places[0] > 0)):
        lead = " ".join(parts[: places[-1] + 1])
        return (lead if verbal or not is_participle(low[0]) else f"is {lead}"), parts[places[-1] + 1 :]
    if (
        verbal
        and not places
        and len(parts) > 1
        and not _are("adverbs", low[-1])
        and not low[-1].endswith("ly")
    ):
        return (parts[0], parts[1:]) if "of" not in low else None
    return None


def _base_of_ing(word: str) -> str:
    stem = word.removesuffix("ing")
    return min({stem, stem + "e", stem[:-1]} & _verbs(), key=len, default="") if stem != word else ""


def as_noun(r: Role, label: str, *, whole: bool = False) -> Role:
    """Return the role of a property with literals, whose name in `s` is a plural: `points`, `ranks`."""
    name, unit = without_unit(label)
    if unit:
        r, called = role(name), name.lower() if name.istitle() else name
        plain = r.verb or r.carrier != "has" or "“" in r.noun
        return Role(noun=called, nouns=called, unit=unit) if plain else replace(r, unit=unit)
    low = label.lower()
    if r.verb == low and low in _forms() and not _are("measuring verbs", low):
        r = Role(noun=low, nouns=low)
    name = low.removeprefix("has ")
    if r.noun and r.carrier == "has" and name in _singulars().keys() | {r.nouns.lower()}:
        r = replace(r, noun=name, nouns=name)
        if whole and is_plural(name) and not name.startswith("number") and name not in _SCORES:
            return replace(r, noun=f"number of {name}", nouns=f"numbers of {name}")
    return r


def truth(label: str, true: bool) -> str:
    """Return what a truth value says, as in `is open` and `has no dome`; empty if its name does not tell."""
    first, _, rest = label.partition(" ")
    low = first.lower()
    if not PLAIN.match(label) or _is_reserved(label):
        return f"is {'not ' * (not true)}“{escape(label)}”" if is_adjective(low) else ""
    if low in ("is", "was") and rest:
        return label if true else f"{first} not {rest}"
    if low in ("can", "must", "may", "will") and rest:
        return label if true else f"{'cannot' if low == 'can' else f'{first} not'} {rest}"
    if low in ("has", "have") and rest:
        noun = " ".join(lower(rest.split()))
        return f"has {some(noun)}" if true else f"has no {noun}"
    if low in PREPOSITIONS or is_participle(low) or is_adjective(low):
        return f"is {label.lower() if label.istitle() else label}" if true else f"is not {label}"
    base = _forms().get(low)
    return "" if base is None else label if true else f"does not {base} {rest}".strip()


def _phrase(first: str, rest: list[str], inverse: bool) -> Role:
    """Return the role of `is part of`, `is developed by` and the like."""
    low = [word.lower() for word in rest]
    of = len(rest) > 1 and low[-1] == "of" and low[0] not in PREPOSITIONS | word_lists()["capable"]
    of = of and not is_participle(low[0]) and not is_adjective(low[0])
    if of and first.lower() == "is":
        noun = lower([w for w in rest[:-1] if w.lower() not in ("a", "an", "the")])
        if inverse:
            return _noun(noun, False)
        said = " ".join(noun)
        said = said if said == "part" else some(said)
        return Role(f"is {said} of", f"is not {said} of")
    if inverse and low[-1:] == ["by"]:
        preposition = low[-2] if len(rest) > 1 else ""
        if len(rest) == 2 or (len(rest) == 3 and low[0] == "been"):
            for base in sorted(_verbs()):
                if participle(base) == preposition:
                    return Role(third_person(base), f"does not {base}")
    if inverse and first.lower() == "is" and len(rest) == 1 and (base := _base_of_ing(low[0])):
        return Role(f"is {participle(base)} by", f"is not {participle(base)} by")
    return _verb(" ".join([first, *rest]), inverse)


def _verb(text: str, inverse: bool) -> Role:
    """Return the role of a verb with what follows it, backwards if wanted."""
    first, *rest = text.split()
    if not inverse:
        return Role(text, _deny(text))
    base = _forms().get(first.lower())
    if base and not rest and base != "have":
        return Role(f"is {participle(base)} by", f"is not {participle(base)} by")
    return Role(what=text)


def _deny(text: str) -> str:
    first, *rest = text.split()
    if first.lower() in ("is", "was", "must", "may", "will") or (first.lower() == "has" and "been" in rest):
        return " ".join([first, "not", *rest])
    if first.lower() == "can":
        return " ".join(["cannot", *rest])
    base = _forms().get(first.lower())
    return " ".join(["does not", base, *rest]) if base else ""


def quote(label: str, inverse: bool) -> Role:
    """Return a role that keeps the name of a property in quotation marks."""
    name = f"“{escape(label)}”"
    return Role(f"is a {name} of", f"is not a {name} of") if inverse else Role(noun=name, nouns=name)


def _noun(parts: list[str], inverse: bool) -> Role:
    noun = single(" ".join(parts))
    if inverse:
        return Role(f"is {some(noun)} of", f"is not {some(noun)} of")
    return Role(noun=noun, nouns=several(noun))


@cache
def _forms() -> Mapping[str, str]:
    """Return the verbs by the form that follows `it`."""
    every = _verbs() | word_lists()["third person verbs"]
    return {third_person(verb): verb for verb in sorted(every)}


@cache
def _singulars() -> Mapping[str, str]:
    return {several: one for one, several in word_pairs("plurals").items()}


_SAYING = ("“Has ", "“has ", "“Is ", "“is ", "“Was ", "“was ")


class Clauses:
    """Makes the clauses of an expression, after "Whatever …"."""

    def __init__(self, name: Name, expression: ce.Expression) -> None:
        self.name = name
        used = [e for e in ce.walk(expression) if isinstance(e, ce.Restriction)]
        roles = {e.property: role(name(e.property.iri), inverse=e.property.inverse) for e in used}
        self.dated: set[ce.Property] = set()
        for e in used:
            p, label = e.property, name(e.property.iri)
            if not p.inverse and (kind := _datatype(e)):
                roles[p] = as_noun(roles[p], label, whole=kind == XSD + "integer")
                if kind in _OF and is_participle(label):
                    roles[p] = Role(f"was {label}", f"was not {label}")
                    self.dated.add(p)
                elif kind in NUMERIC and is_participle(label):
                    roles[p] = quote(label, False)
        times = Counter(roles.values())
        # Two properties that would be spoken of alike keep their names.
        self.roles = {p: r if times[r] == 1 else quote(name(p.iri), p.inverse) for p, r in roles.items()}
        self.dated -= {p for p, r in roles.items() if times[r] > 1}
        # What has other values as well is no matter of yes and no.
        self.truths = {e.property for e in used if _boolean(e)} - {
            e.property for e in used if not _boolean(e)
        }

    def clause(self, e: ce.Expression, last: bool = True) -> str:
        """Return the clause of a normal form."""
        match e:
            case ce.Top():
                return "is anything"
            case ce.Bottom():
                return "is nothing"
            case ce.Named(iri):
                return f"is {self._of_kind(iri)}"
            case ce.Not(ce.Named(iri)):
                return f"is not {self._of_kind(iri)}"
            case ce.Not(ce.OneOf(members)):
                return f"is {self._either(members, 'none')}"
            case ce.Not(ce.Value() | ce.DataSome() as of):
                return self._lacking(of)
            case ce.Not(of):
                return f"is nothing that ({self.clause(of)})"
            case ce.Connective(parts):
                return self._several_parts(e, sorted(parts, key=_kind), last)
            case ce.OneOf(members):
                return f"is {self._either(members, 'one')}"
            case ce.HasSelf() | ce.DataRange():
                raise AssertionError(e)
        return self._restriction(e, last)

    def part(self, e: ce.Expression, last: bool) -> str:
        """Return the clause of a part of a conjunction or a disjunction, in brackets if it is one itself."""
        return f"({self.clause(e)})" if isinstance(e, ce.Connective) else self.clause(e, last)

    def list_names(self, names: ce.OneOf) -> str:
        """Return the names of individuals in brackets."""
        return f"({', '.join(map(self.value, names.members))})"

    def _several_parts(self, e: ce.Connective, parts: list[ce.Expression], last: bool) -> str:
        counts = between(parts) if isinstance(e, ce.And) else {}
        left = [p for p in parts if p not in counts.values()]
        made = []
        for p in left:
            end = last and p is left[-1]
            if (most := counts.get(p)) and isinstance(p, ce.AtLeast):
                start = f"from {p.n} to {most.n}"
                made.append(self._count(self.roles[p.property], start, most.n, p.filler, end))
            else:
                made.append(self.part(p, end))
        if len(made) == 1:
            return made[0]
        return f"{', '.join(made[:-1])} {'and' if isinstance(e, ce.And) else 'or'} {made[-1]}"

    def _restriction(self, e: ce.Quantified | ce.Value | ce.DataSome | ce.DataOnly, last: bool) -> str:
        """Return what is said of the values of a property."""
        r = self.roles[e.property]
        match e:
            case ce.Value():
                return self._value(e)
            case ce.DataSome(_, range):
                return _having(r, range) if r.noun else _with(r, self._moment(e, _range(range)))
            case ce.DataOnly(_, range):
                if not r.noun:
                    return _with(r, f"nothing but what is {_range(range)}")
                return f"{r.carrier} no {r.noun} but one that is {_range(range, r.unit)}"
            case ce.Some(_, filler):
                return self._some(r, filler, last)
            case ce.Only(_, filler):
                return self._only(r, filler, last)
            case ce.Cardinality(n, _, filler):
                return self._count(r, f"{_DATA['counts'][type(e).__name__]} {n}", n, filler, last)

    def _value(self, e: ce.Value, denied: bool = False) -> str:
        """Return that a value is there, or that it is not."""
        r, value = self.roles[e.property], self.value(e.value)
        if isinstance(e.value, Literal) and e.property in self.truths:
            said = truth(self.name(e.property.iri), str(e.value) in ("true", "1"))
            for start, unsaid in (("is ", "is not said to be "), ("has ", "is not said to have ")):
                if said.startswith(start) and denied:
                    return unsaid + said.removeprefix(start)
            if said:
                return f"is nothing that ({said})" if denied else said
        if r.noun and r.carrier == "has":
            return f"{'does not have' if denied else 'has'} the {r.noun} {value} {r.unit}".strip()
        if r.noun:
            return f"{r.lacks if denied else r.carrier} {r.noun} {value}"
        if e.property in self.dated and isinstance(e.value, Literal):
            value = f"on {value}"
        if r.what:
            return f"is {'not ' * denied}what {value} {r.what}"
        return (
            f"{r.denied or 'is nothing that does'} {value}"
            if denied and r.denied
            else (f"is nothing that ({r.verb} {value})" if denied else f"{r.verb} {value}")
        )

    def _some(self, r: Role, filler: ce.Expression, last: bool) -> str:
        if isinstance(filler, ce.OneOf):
            listed = f"one of {self.list_names(filler)}"
            return f"{r.carrier} {listed} as {r.noun}" if r.noun else _with(r, listed)
        if r.noun:
            return f"{r.carrier} {_a(r.noun)}{self._that(filler, last)}"
        head, rest = self._head(filler)
        thing = self._one(head) if head else "something"
        return _with(r, f"{thing}{self._that(rest, last and not r.what)}")

    def _only(self, r: Role, filler: ce.Expression, last: bool) -> str:
        last = last and not r.what
        if isinstance(filler, ce.Bottom):
            return f"{r.carrier} no {r.noun}" if r.noun else _with(r, "nothing")
        if _denies(filler):
            lacked = negation(filler)
            if r.noun:
                return f"{r.carrier} no {r.noun}{self._that(lacked, last)}"
            head, rest = self._head(lacked)
            return _with(r, f"{f'no {self._plain(head)}' if head else 'nothing'}{self._that(rest, last)}")
        if r.noun:
            return f"{r.carrier} no {r.noun} but one{self._that(filler, last)}"
        if isinstance(filler, ce.Named) and not is_adjective(self.name(filler.iri)):
            return _with(r, f"nothing but {self._several(filler.iri)}")
        return _with(r, f"nothing but what {self._inner(filler, last)}")

    def _count(self, r: Role, start: str, n: int, filler: ce.Expression, last: bool) -> str:
        last = last and not r.what
        if isinstance(filler, ce.OneOf):
            listed = f"{start} of {self.list_names(filler)}"
            if r.noun:
                return f"{r.carrier} {listed} as {r.noun if n == 1 else r.nouns}"
            return _with(r, listed, n != 1)
        head, rest = ("", filler) if r.noun else self._head(filler)
        one, more = (r.noun, r.nouns) if r.noun else ("thing", "things")
        if head:
            one, more = self._plain(head), self._several(head)
        many = f"{start} {one if n == 1 else more}"
        if n == 1 or isinstance(rest, ce.Top):
            many += self._that(rest, last)
        else:
            many += f" each of which {self._inner(rest, last)}"
        return f"{r.carrier} {many}" if r.noun else _with(r, many, n != 1)

    def _lacking(self, e: ce.Value | ce.DataSome) -> str:
        """Return that a value is not there."""
        if isinstance(e, ce.Value):
            return self._value(e, denied=True)
        r = self.roles[e.property]
        if r.noun:
            return _having(r, e.range, "no")
        text = self._moment(e, _range(e.range))
        return f"{r.denied} {text}" if r.denied else f"is nothing that ({_with(r, text)})"

    def _moment(self, e: ce.DataSome, range: str) -> str:
        """Return limits after a verb that a point in time does not follow by itself."""
        if e.range.datatype not in _OF or e.property in self.dated or not e.range.facets:
            return range
        return f"a {KINDS[e.range.datatype.removeprefix(XSD)]} {range}"

    def _either(self, members: tuple[str, ...], word: str) -> str:
        if len(members) == 1:
            return f"{'not ' if word == 'none' else ''}{self.value(members[0])} itself"
        return f"{word} of {', '.join(map(self.value, members))}"

    def _head(self, filler: ce.Expression) -> tuple[str, ce.Expression]:
        """Return the first noun of a filler, and what else it says; the empty text if it names none."""
        parts = filler.parts if isinstance(filler, ce.And) else (filler,)
        for at, p in enumerate(parts):
            if isinstance(p, ce.Named) and not is_adjective(self.name(p.iri)):
                rest = parts[:at] + parts[at + 1 :]
                return p.iri, ce.Top() if not rest else rest[0] if len(rest) == 1 else ce.And(rest)
        return "", filler

    def _that(self, filler: ce.Expression, last: bool) -> str:
        return "" if isinstance(filler, ce.Top) else f" that {self._inner(filler, last)}"

    def _inner(self, filler: ce.Expression, last: bool) -> str:
        text = self.clause(filler)
        return text if last and not isinstance(filler, ce.Connective) else f"({text})"

    def _one(self, iri: str) -> str:
        """Return a class with its article, if it has one: `a shirt`, `jeans`."""
        word = self._plain(iri)
        return word if is_adjective(word) else _a(word)

    def _of_kind(self, iri: str) -> str:
        """Return what something is: a class named like a sentence, such as `HasEggs`, takes no article."""
        word = self._plain(iri)
        return f"of the kind {word}" if word.startswith(_SAYING) else self._one(iri)

    def _several(self, iri: str) -> str:
        """Return the plural of a class, or its name where that is a plural already."""
        word = self._plain(iri)
        made = word if word.startswith("“") else several(word)
        return made if made != word or word.startswith("“") else f"“{word}”"

    def _plain(self, iri: str) -> str:
        word = self.name(iri)
        safe = PLAIN.match(word) and not _are("reserved", *word.lower().split())
        return word if safe else f"“{escape(word)}”"

    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""
        if not isinstance(value, Literal):
            return f"“{escape(self.name(value))}”"
        return str(value) if str(value.datatype) in BARE and " " not in str(value) else literal(value)


def _a(noun: str) -> str:
    return f"a {noun}" if noun.startswith("“") else some(noun)


def _kind(e: ce.Expression) -> int:
    """Return what parts are sorted by: what something is comes before what it has."""
    return 0 if isinstance(e, ce.Named) else 1 if isinstance(e, ce.Not) and isinstance(e.of, ce.Named) else 2


def _denies(filler: ce.Expression) -> bool:
    """Return whether a filler is better said by what is not there."""
    if isinstance(filler, ce.Or):
        return any(isinstance(p, ce.Not) and isinstance(p.of, ce.Named) for p in filler.parts)
    return isinstance(filler, ce.Not | ce.Only)


def _with(r: Role, values: str, several: bool = False) -> str:
    """Return a verb with the values that follow it, or that something is what follows a verb."""
    return f"{r.verb} {values}" if r.verb else f"is what {values} {r.whats if several else r.what}"


def _having(r: Role, range: ce.DataRange, none: str = "") -> str:
    text = _range(range, r.unit)
    start = f"{r.carrier} {f'{none} {r.noun}' if none else _a(r.noun)}"
    if not range.facets:
        return f"{start} that is {text}"
    return f"{start} {'' if text.startswith('from ') else _OF.get(range.datatype, 'of ')}{text}"


_OF = {XSD + "date": "", XSD + "dateTime": ""}


def _range(range: ce.DataRange, unit: str = "") -> str:
    if not range.facets:
        return some(KINDS.get(range.datatype.removeprefix(XSD), curie(range.datatype)))
    return _limits(range, unit)


def _limits(range: ce.DataRange, unit: str) -> str:
    """Return limits in words, `more than 2 and at most 5`."""
    timed = range.datatype in _OF
    names = _DATA["times" if timed else "numbers"]
    if ends := limits_of(range):
        low, high = (bare(end, range.datatype) for end in ends)
        said = f"exactly{' on' * timed} {low}" if low == high else f"from {low} to {high}"
    else:
        facets = sorted(range.facets, key=lambda facet: facet[0].startswith("max"))
        said = " and ".join(f"{names[f]} {bare(v, range.datatype)}" for f, v in facets)
    return f"{said} {unit}".strip()


def _datatype(e: ce.Restriction) -> str:
    """Return the datatype of the values of which a restriction speaks, empty if they are no literals."""
    if isinstance(e, ce.DataRestriction):
        return e.range.datatype
    if isinstance(e, ce.Value) and isinstance(e.value, Literal):
        return str(e.value.datatype or XSD + "string")
    return ""


def _boolean(e: ce.Restriction) -> bool:
    return isinstance(e, ce.Value) and _datatype(e) == XSD + "boolean"


_MOST = 200_000
"""Triples of a property up to which a sentence looks whether anything has several values of it."""


def verbalise(expression: ce.Expression, name: Name) -> str:
    """Return what an expression holds, as the end of a sentence after "Whatever …"."""
    shape = normal(expression)
    return Clauses(name, shape).clause(shape)


def names_of(kg: KnowledgeGraph, expressions: Iterable[ce.Expression]) -> Name:
    """Return a function that names what expressions speak of, by the labels of a graph."""
    iris = sorted({iri for e in expressions for iri in _iris(e)})
    labels = kg.labels(iris)
    names = {iri: labels.get(iri) or _local(iri) for iri in iris}
    times = Counter(name.casefold() for name in names.values())
    for iri, name in names.items():
        if times[name.casefold()] > 1:
            names[iri] = f"{name} ({curie(iri, kg.prefixes)})"
    return lambda iri: names.get(iri) or _local(iri)


def sentence(kg: KnowledgeGraph, concept: Hypothesis | ce.Expression, *, noun: str | None = None) -> str:
    """Return in one sentence what a concept holds and, of a hypothesis, which examples.

    The `noun` is what the examples are, in the plural, such as `images`.
    """
    e = concept.expression if isinstance(concept, Hypothesis) else concept
    e = merge_limits(normal(e), _single_valued(kg, e).__contains__)
    text = f"Whatever {verbalise(e, names_of(kg, [e]))}"
    if isinstance(concept, Hypothesis):
        text += f": {counts_in_words(concept.counts, noun=noun)}"
    return f"{text}."


def _single_valued(kg: KnowledgeGraph, e: ce.Expression) -> frozenset[ce.Property]:
    """Return the properties with limits of which nothing in a graph has several values."""
    limits: Counter[ce.Property] = Counter()
    for part in ce.walk(normal(e)):
        limits.update(p.property for p in limit(part) if not p.property.inverse)
    asked = {p.iri for p, times in limits.items() if times > 1}
    if not asked:
        return frozenset()
    triples = kg.profile().predicates
    asked = {p for p in asked if triples.get(p, 0) <= _MOST}
    rows = kg.select(queries.get("cel/several-values").bind(p=sorted(asked))) if asked else ()
    return frozenset(map(ce.Property, asked - {str(p) for p, *_ in rows}))


def counts_in_words(c: ExampleCounts, *, noun: str | None = None) -> str:
    """Return how many examples are held, in words."""
    return f"{c.tp} of your {c.positives} {noun or 'examples'}, {c.fp} of {c.negatives} others"


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
