"""Class expressions as German subordinate clauses, with the verb at their end.

German nouns have a gender that their names do not tell, so that no article can be given; a class stands as
`vom Typ „…“`, and what a property leads to as `als Farbe „rot“`, which need none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.clauses import BARE, KINDS, Clauses, Name, bare, closed, escaped, literal
from mrag.cel.syntax.inflections import without_unit
from mrag.cel.syntax.normal_form import negation
from mrag.rdf.terms import XSD, curie
from mrag.text.tokens import words

_COUNTS: Mapping[type[ce.Cardinality], str] = {
    ce.AtLeast: "mindestens",
    ce.AtMost: "höchstens",
    ce.Exactly: "genau",
}
_NUMBERS = {"minInclusive": "mindestens", "maxInclusive": "höchstens", "minExclusive": "mehr als",
            "maxExclusive": "weniger als"}  # fmt: skip
_TIMES = {"minInclusive": "ab", "maxInclusive": "bis", "minExclusive": "nach", "maxExclusive": "vor"}
_MOMENTS = {XSD + "date": "ein Datum", XSD + "dateTime": "einen Zeitpunkt"}
_PREPOSITIONS = words(
    "an auf aus bei bis durch für gegen gegenüber hinter in mit nach neben ohne seit über um unter von vor "
    "zu zwischen"
)
_ACCUSATIVE = words("an durch für gegen ohne um")
_VERBS = words(
    "arbeitet baut behandelt besitzt besucht betreibt betrifft bildet braucht enthält ernennt erzeugt folgt "
    "frisst führt gehört gewinnt grenzt hasst heilt hält isst jagt kauft kennt kostet kreist lebt lehrt "
    "leitet liebt liefert liegt macht mag nutzt nimmt produziert reist schreibt schützt sieht singt sitzt "
    "spielt spricht stammt steht studiert sucht trägt trifft trinkt umfasst verkauft verwendet wiegt wirkt "
    "wohnt zeigt zeugt zieht zitiert"
)
_VERBAL = re.compile(r"(?:be|ver|ent|er|zer|miss|über|unter)[a-zäöüß]{3,}t\Z")
_NO_VERBS = words("benefit event entrant errant verdict")
_PARTICIPLE = re.compile(r"(?:[a-zäöü]{2,4})?(?:ge|be|ver|ent|er|zer)[a-zäöüß]+(?:t|en)\Z")
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}(?:bar|ig|lich|isch|los|voll|haft|sam)\Z")
_NOUN = re.compile(
    r"(?:[a-zäöüß]+[enrs] )?[A-ZÄÖÜ][\w\-]*"
    r"(?: (?:der|des|von|in|im|am|pro|für) [\w\-]+| [A-ZÄÖÜ][\w\-]*)*\Z"
)
_RESERVED = words(
    "als alles bei das datum die ding dinge eines etwas gehört genau hat höchstens ist jedes mindestens "
    "nicht nichts nur oder typ und von was wert werte ziel zeitpunkt"
)


@dataclass(frozen=True)
class _Role:
    """How a property is spoken of: what stands before its values, and the verb behind them.

    Attributes:
        before: Such as `als Farbe`, `in` or `Teil von`.
        verb: Such as `hat`, `wohnt` or `ist`.
        things: What several values are called in the case that goes with that.
        unit: The unit of its numbers.
    """

    before: str
    verb: str = "hat"
    things: str = "Dinge"
    unit: str = ""


def _role(label: str, inverse: bool) -> _Role:
    """Return how a property of this name is spoken of."""
    parts = label.split()
    last = parts[-1] if parts else ""
    ends = last in _PREPOSITIONS and len(parts) > 1
    noun = label.removeprefix("hat ")
    if _NOUN.match(noun) and not ends and not {*noun.lower().split()} & _RESERVED - {"von"}:
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
        verb = last in _VERBS or (_VERBAL.match(last) and last not in _NO_VERBS)
        return _Role("", last) if verb else None
    if last not in _PREPOSITIONS or any(word != word.lower() for word in inner):
        return None
    things = "Dinge" if last in _ACCUSATIVE else "Dingen"
    if inner[0] in ("ist", "wird", "wurde", "war") and len(inner) > 1:
        return _Role(last, f"{' '.join(inner[1:])} {inner[0]}", things)
    if inner[0] in _VERBS or (_VERBAL.match(inner[0]) and last != "von"):
        return _Role(last, " ".join([*inner[1:], inner[0]]), things)
    stated = len(inner) == 1 and (_PARTICIPLE.match(inner[0]) or _ADJECTIVE.match(inner[0]))
    return _Role(last, f"{inner[0]} ist", things) if stated else None


def _truth(label: str) -> str:
    """Return what is so where a truth value of this name is true, before the verb; empty if unknown."""
    first, _, rest = label.partition(" ")
    if first == "ist" and rest:
        return rest
    if first in _PREPOSITIONS and rest:
        return label
    alone = not rest and (_PARTICIPLE.match(label) or _ADJECTIVE.match(label))
    return label if alone else ""


class German(Clauses):
    """Makes German clauses, after „Alles, was …“.

    Args:
        name: Names classes, properties and individuals by their IRIs.
        expression: All that is spoken of, in normal form.
    """

    def __init__(self, name: Name, expression: ce.Expression) -> None:
        super().__init__(name)
        used = {e.property for e in ce.walk(expression) if isinstance(e, ce.Restriction)}
        times = Counter(_role(name(p.iri), p.inverse) for p in used)
        # Two properties that would be spoken of alike keep their names.
        self.alike = {p for p in used if times[_role(name(p.iri), p.inverse)] > 1}

    def clause(self, e: ce.Expression, last: bool = True) -> str:
        """Return the clause of a normal form.

        Args:
            e: The expression.
            last: Whether nothing follows it, so that what stands at its end needs no brackets.
        """
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
        if values.startswith("nur ") and r.before in _PREPOSITIONS:
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
