"""Class expressions as English clauses: nouns with articles and plurals, properties as verbs or as nouns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.clauses import KINDS, Clauses, Name, bare, escaped, literal
from mrag.cel.syntax.normal_form import negation
from mrag.cel.syntax.roles import PLAIN, RESERVED, Role, as_noun, is_adjective, quoted, role, several, some
from mrag.rdf.terms import XSD, curie

_COUNTS: Mapping[type[ce.Cardinality], str] = {
    ce.AtLeast: "at least",
    ce.AtMost: "at most",
    ce.Exactly: "exactly",
}
_NUMBERS = {"minInclusive": "at least", "maxInclusive": "at most", "minExclusive": "more than",
            "maxExclusive": "less than"}  # fmt: skip
_TIMES = {"minInclusive": "not before", "maxInclusive": "not after", "minExclusive": "after",
          "maxExclusive": "before"}  # fmt: skip
_BARE = frozenset(
    XSD + kind for kind in ("integer", "decimal", "double", "float", "boolean", "date", "dateTime")
)


class English(Clauses):
    """Makes English clauses, after "Whatever …".

    Args:
        name: Names classes, properties and individuals by their IRIs.
        expression: All that is spoken of, in normal form.
    """

    def __init__(self, name: Name, expression: ce.Expression) -> None:
        super().__init__(name)
        used = {e.property for e in ce.walk(expression) if isinstance(e, ce.Restriction)}
        roles = {p: role(name(p.iri), inverse=p.inverse) for p in used}
        for e in ce.walk(expression):
            if isinstance(e, ce.DataSome | ce.DataOnly):
                roles[e.property] = as_noun(roles[e.property], name(e.property.iri))
        times = Counter(roles.values())
        # Two properties that would be spoken of alike keep their names.
        self.roles = {p: r if times[r] == 1 else quoted(name(p.iri), p.inverse) for p, r in roles.items()}

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
                return f"is {self._one(iri)}"
            case ce.Not(ce.Named(iri)):
                return f"is not {self._one(iri)}"
            case ce.Not(ce.Value() | ce.DataSome() as of):
                return self._lacking(of)
            case ce.Not(of):
                return f"is nothing that ({self.clause(of)})"
            case ce.And(parts) | ce.Or(parts):
                parts = tuple(sorted(parts, key=_kind))
                made = [self._part(p, last and p is parts[-1]) for p in parts]
                return f"{', '.join(made[:-1])} {'and' if isinstance(e, ce.And) else 'or'} {made[-1]}"
            case ce.OneOf(members):
                return f"is one of {', '.join(map(self.value, members))}"
        return self._restriction(e, last)

    def _part(self, e: ce.Expression, last: bool) -> str:
        return f"({self.clause(e)})" if isinstance(e, ce.And | ce.Or) else self.clause(e, last)

    def _restriction(self, e: ce.Restriction, last: bool) -> str:
        """Return what is said of the values of a property."""
        r = self.roles[e.property]
        match e:
            case ce.Value(_, value):
                return f"{r.verb} {self.value(value)}" if r.verb else f"has the {r.noun} {self.value(value)}"
            case ce.DataSome(_, range):
                return f"{r.verb} {_range(range)}" if r.verb else _having(r.noun, range)
            case ce.DataOnly(_, range):
                if r.verb:
                    return f"{r.verb} nothing but what is {_range(range)}"
                return f"has no {r.noun} but one that is {_range(range)}"
            case ce.Some(_, filler):
                return self._some(r, filler, last)
            case ce.Only(_, filler):
                return self._only(r, filler, last)
            case ce.AtLeast(n, _, filler) | ce.AtMost(n, _, filler) | ce.Exactly(n, _, filler):
                return self._counted(r, f"{_COUNTS[type(e)]} {n}", n, filler, last)

    def _some(self, r: Role, filler: ce.Expression, last: bool) -> str:
        if isinstance(filler, ce.OneOf):
            listed = f"one of {self.listed(filler)}"
            return f"{r.verb} {listed}" if r.verb else f"has {listed} as {r.noun}"
        if r.noun:
            return f"has {_a(r.noun)}{self._that(filler, last)}"
        head, rest = self._head(filler)
        return f"{r.verb} {self._one(head) if head else 'something'}{self._that(rest, last)}"

    def _only(self, r: Role, filler: ce.Expression, last: bool) -> str:
        if isinstance(filler, ce.Bottom):
            return f"has no {r.noun}" if r.noun else f"{r.verb} nothing"
        if _denies(filler):
            lacked = negation(filler)
            if r.noun:
                return f"has no {r.noun}{self._that(lacked, last)}"
            head, rest = self._head(lacked)
            return f"{r.verb} {f'no {self._plain(head)}' if head else 'nothing'}{self._that(rest, last)}"
        if r.noun:
            return f"has no {r.noun} but one{self._that(filler, last)}"
        if isinstance(filler, ce.Named) and not is_adjective(self.name(filler.iri)):
            return f"{r.verb} nothing but {self._several(filler.iri)}"
        return f"{r.verb} nothing but what {self._inner(filler, last)}"

    def _counted(self, r: Role, start: str, n: int, filler: ce.Expression, last: bool) -> str:
        if isinstance(filler, ce.OneOf):
            listed = f"{start} of {self.listed(filler)}"
            return f"{r.verb} {listed}" if r.verb else f"has {listed} as {r.noun if n == 1 else r.nouns}"
        head, rest = ("", filler) if r.noun else self._head(filler)
        one, more = (r.noun, r.nouns) if r.noun else ("thing", "things")
        if head:
            one, more = self._plain(head), self._several(head)
        start = f"{r.verb or 'has'} {start} {one if n == 1 else more}"
        if n == 1 or isinstance(rest, ce.Top):
            return f"{start}{self._that(rest, last)}"
        return f"{start} each of which {self._inner(rest, last)}"

    def _lacking(self, e: ce.Value | ce.DataSome) -> str:
        """Return that a value is not there."""
        r = self.roles[e.property]
        if isinstance(e, ce.Value):
            value = self.value(e.value)
            if r.denied:
                return f"{r.denied} {value}"
            return f"does not have the {r.noun} {value}" if r.noun else f"is nothing that ({r.verb} {value})"
        if r.noun:
            return _having(r.noun, e.range, "no")
        return (
            f"{r.denied} {_range(e.range)}" if r.denied else f"is nothing that ({r.verb} {_range(e.range)})"
        )

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
        return str(value) if str(value.datatype) in _BARE and " " not in str(value) else literal(value, "en")


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


def _having(noun: str, range: ce.DataRange, none: str = "") -> str:
    text = _range(range)
    start = f"has {f'{none} {noun}' if none else _a(noun)}"
    return (
        f"{start} that is {text}" if not range.facets else f"{start} {_OF.get(range.datatype, 'of ')}{text}"
    )


_OF = {XSD + "date": "", XSD + "dateTime": ""}


def _range(range: ce.DataRange) -> str:
    """Return limits in words, `at least 2 and at most 5`, or what the values are."""
    if not range.facets:
        return some(KINDS["en"].get(range.datatype.removeprefix(XSD), curie(range.datatype)))
    names = _TIMES if range.datatype in _OF else _NUMBERS
    return " and ".join(f"{names[facet]} {bare(v, range.datatype)}" for facet, v in range.facets)
