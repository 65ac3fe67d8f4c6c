"""Class expressions as English clauses: nouns with articles and plurals, properties as verbs or as nouns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.clauses import (
    BARE,
    KINDS,
    NUMERIC,
    Clauses,
    Name,
    bare,
    between,
    closed,
    escaped,
    literal,
)
from mrag.cel.syntax.inflections import is_adjective, several, some
from mrag.cel.syntax.normal_form import negation
from mrag.cel.syntax.roles import PLAIN, Role, as_noun, quoted, role, truth
from mrag.cel.syntax.wordlists import RESERVED
from mrag.rdf.terms import XSD, curie
from mrag.text.grammar import is_participle

_COUNTS: Mapping[type[ce.Cardinality], str] = {
    ce.AtLeast: "at least",
    ce.AtMost: "at most",
    ce.Exactly: "exactly",
}
_NUMBERS = {"minInclusive": "at least", "maxInclusive": "at most", "minExclusive": "more than",
            "maxExclusive": "less than"}  # fmt: skip
_TIMES = {"minInclusive": "not before", "maxInclusive": "not after", "minExclusive": "after",
          "maxExclusive": "before"}  # fmt: skip


_SAYING = ("“Has ", "“has ", "“Is ", "“is ", "“Was ", "“was ")


class English(Clauses):
    """Makes English clauses, after "Whatever …".

    Args:
        name: Names classes, properties and individuals by their IRIs.
        expression: All that is spoken of, in normal form.
    """

    def __init__(self, name: Name, expression: ce.Expression) -> None:
        super().__init__(name)
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
                    roles[p] = quoted(label, False)
        times = Counter(roles.values())
        # Two properties that would be spoken of alike keep their names.
        self.roles = {p: r if times[r] == 1 else quoted(name(p.iri), p.inverse) for p, r in roles.items()}
        self.dated -= {p for p, r in roles.items() if times[r] > 1}
        # What has other values as well is no matter of yes and no.
        self.truths = {e.property for e in used if _boolean(e)} - {
            e.property for e in used if not _boolean(e)
        }

    def clause(self, e: ce.Expression, last: bool = True) -> str:
        """Return the clause of a normal form.

        Args:
            e: The expression.
            last: Whether nothing follows it, so that what stands at its end needs no brackets.
        """
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
            case ce.And(parts) | ce.Or(parts):
                return self._several_parts(e, sorted(parts, key=_kind), last)
            case ce.OneOf(members):
                return f"is {self._either(members, 'one')}"
        return self._restriction(e, last)

    def _several_parts(self, e: ce.And | ce.Or, parts: list[ce.Expression], last: bool) -> str:
        counts = between(parts) if isinstance(e, ce.And) else {}
        left = [p for p in parts if p not in counts.values()]
        made = []
        for p in left:
            end = last and p is left[-1]
            if (most := counts.get(p)) and isinstance(p, ce.AtLeast):
                start = f"from {p.n} to {most.n}"
                made.append(self._counted(self.roles[p.property], start, most.n, p.filler, end))
            else:
                made.append(self.part(p, end))
        if len(made) == 1:
            return made[0]
        return f"{', '.join(made[:-1])} {'and' if isinstance(e, ce.And) else 'or'} {made[-1]}"

    def _restriction(self, e: ce.Restriction, last: bool) -> str:
        """Return what is said of the values of a property."""
        r = self.roles[e.property]
        match e:
            case ce.Value():
                return self._valued(e)
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
            case ce.AtLeast(n, _, filler) | ce.AtMost(n, _, filler) | ce.Exactly(n, _, filler):
                return self._counted(r, f"{_COUNTS[type(e)]} {n}", n, filler, last)

    def _valued(self, e: ce.Value, denied: bool = False) -> str:
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
            listed = f"one of {self.listed(filler)}"
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

    def _counted(self, r: Role, start: str, n: int, filler: ce.Expression, last: bool) -> str:
        last = last and not r.what
        if isinstance(filler, ce.OneOf):
            listed = f"{start} of {self.listed(filler)}"
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
            return self._valued(e, denied=True)
        r = self.roles[e.property]
        if r.noun:
            return _having(r, e.range, "no")
        text = self._moment(e, _range(e.range))
        return f"{r.denied} {text}" if r.denied else f"is nothing that ({_with(r, text)})"

    def _moment(self, e: ce.DataSome, range: str) -> str:
        """Return limits after a verb that a point in time does not follow by itself."""
        if e.range.datatype not in _OF or e.property in self.dated or not e.range.facets:
            return range
        return f"a {KINDS['en'][e.range.datatype.removeprefix(XSD)]} {range}"

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
        return text if last and not isinstance(filler, ce.And | ce.Or) else f"({text})"

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
        safe = PLAIN.match(word) and not RESERVED & {*word.lower().split()}
        return word if safe else f"“{escaped(word)}”"

    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""
        if not isinstance(value, Literal):
            return f"“{escaped(self.name(value))}”"
        return str(value) if str(value.datatype) in BARE and " " not in str(value) else literal(value, "en")


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
    """Return limits in words, `more than 2 and at most 5`, or what the values are."""
    if not range.facets:
        return some(KINDS["en"].get(range.datatype.removeprefix(XSD), curie(range.datatype)))
    names = _TIMES if range.datatype in _OF else _NUMBERS
    if ends := closed(range):
        low, high = (bare(v, range.datatype) for v in ends)
        exactly = "exactly on" if range.datatype in _OF else "exactly"
        return f"{exactly} {low} {unit}".strip() if low == high else f"from {low} to {high} {unit}".strip()
    facets = sorted(range.facets, key=lambda facet: facet[0].startswith("max"))
    said = " and ".join(f"{names[facet]} {bare(v, range.datatype)}" for facet, v in facets)
    return f"{said} {unit}".strip()


def _datatype(e: ce.Restriction) -> str:
    """Return the datatype of the values of which a restriction speaks, empty if they are no literals."""
    if isinstance(e, ce.DataSome | ce.DataOnly):
        return e.range.datatype
    if isinstance(e, ce.Value) and isinstance(e.value, Literal):
        return str(e.value.datatype or XSD + "string")
    return ""


def _boolean(e: ce.Restriction) -> bool:
    return isinstance(e, ce.Value) and _datatype(e) == XSD + "boolean"
