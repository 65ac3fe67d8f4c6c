"""Values, things and properties of a plan in plain English; `wording` makes sentences of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdflib import RDF, Literal, URIRef

from mrag.planning import plan as pl
from mrag.planning.scopes import (
    FOLDS,
    OPERATIONS,
    ORDINALS,
    PARTS,
    POSITIONS,
    RELATIONS,
    PlanRoles,
    unit_of_days,
)  # fmt: skip
from mrag.rdf.terms import Term
from mrag.text.grammar import article, is_participle, join, plural, relation
from mrag.text.tokens import PREPOSITIONS

Name = Callable[[Term], str]

_OF_TIME = {"<": "is before", "<=": "is no later than", ">": "is after", ">=": "is no earlier than"}
_TIMES = ("year", "date", "year-month")


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


def _calendar(condition: pl.Comparison) -> str:
    """Return when a date is whose month or day of the week is given, "in May"; "" for other conditions."""
    part, number = condition.left, condition.right
    if condition.relation not in ("=", "!=") or not isinstance(part, pl.DatePart):
        return ""
    names = {"weekday": _DAYS, "month": _MONTHS}.get(part.part, ())
    at = number.value if isinstance(number, Literal) else None
    if not isinstance(at, int) or not 1 <= at <= len(names):
        return ""
    return f"{'on a' if part.part == 'weekday' else 'in'} {names[at - 1]}"


def _of(which: str) -> str:
    return "" if which == "which" else f" of {which}"


_NAMED = (pl.Unknown, pl.Number)
"""What is called by the property that leads to it."""


class ValueWords:
    """Words of the values of one plan.

    Args:
        plan: The plan.
        name: Returns the name of an entity, a class, a property or a value.
    """

    def __init__(self, plan: pl.Plan, name: Name) -> None:
        self._plan = plan
        self._name = name
        self._roles = PlanRoles(plan)
        self._open: set[pl.Unknown] = set()
        self._told: dict[pl.Unknown, str] = {}

    def _block(self, block: pl.Block, main: pl.Unknown | None) -> str:
        raise NotImplementedError

    def _nested(self, plan: pl.Plan) -> str:
        raise NotImplementedError

    def _named_by(self, unknown: pl.Unknown, pattern: pl.Pattern) -> bool:
        """Return whether an unknown has no other name than that of the property that leads to it."""
        return self._roles.type(unknown) is None and self._roles.binding(unknown) == pattern

    def _object(self, unknown: pl.Unknown, pattern: pl.Pattern) -> str:
        """Return what a pattern leads to; what it alone names has no other name."""
        if not self._named_by(unknown, pattern):
            return self._thing(unknown)
        return "the " + unknown.name.replace("_", " ")

    def _related(self, pattern: pl.Pattern, which: str, other: str) -> str:
        """Return that something is related to another thing, by a noun or by a verb."""
        said = self._verb(pattern)
        if not said:
            return self._owned(which, f"{self._predicate(pattern)}{_of(which)} is {other}")
        return f"{said[3:] if said.startswith('is ') and which == 'which' else f'{which} {said}'} {other}"

    def _verb(self, pattern: pl.Pattern) -> str:
        """Return a predicate as a verb, mostly with a preposition; "" for a noun."""
        kind, said = relation(label := self._predicate(pattern), False)
        first, _, rest = label.partition(" ")
        if first.endswith("ed") and rest.split(" ")[0] in PREPOSITIONS:
            return f"is {label}"  # "located in state"
        verb = kind == "phrase" and (" " in label or label.endswith("s"))
        return said if verb and not said.startswith("has the ") else ""

    def _several(self, pattern: pl.Pattern, block: pl.Block, main: pl.Unknown | None) -> str | None:
        """Return that a property relates the main thing to several names, said once; None if to one."""
        same = [
            p
            for p in block.patterns
            if (p.subject, p.predicate) == (pattern.subject, pattern.predicate)
            and isinstance(p.object, URIRef | Literal)
        ]
        if pattern.subject != main or pattern not in same or len(same) < 2 or pattern.predicate == RDF.type:
            return None
        if pattern != same[0]:
            return ""
        others = join([self.value(p.object) for p in same])
        if self._verb(pattern):
            return self._related(pattern, "which", others)
        return f"whose {plural(self._predicate(pattern))} are {others}"

    def _no_kind(self, block: pl.Block, main: pl.Unknown | None) -> str | None:
        """Return that nothing of a class is related to a thing: "developed by no vendor"."""
        if len(block.patterns) != 2 or block != pl.Block(block.patterns):
            return None
        typed = next((p for p in block.patterns if p.predicate == RDF.type), None)
        pattern = next((p for p in block.patterns if p.subject == main and p.predicate != RDF.type), None)
        if (
            typed is None
            or pattern is None
            or pattern.object != typed.subject
            or isinstance(typed.object, pl.Unknown)
        ):
            return None
        if self._verb(pattern):
            return self._related(pattern, "which", f"no {self.value(typed.object)}")
        return f"without any {self._predicate(pattern)}"

    @staticmethod
    def _owned(which: str, said: str) -> str:
        """Return what is said of a property of the main thing, or of another that its name was put behind."""
        return f"{'whose' if which == 'which' else 'the'} {said}"

    def _bound(self, condition: pl.Condition, pattern: pl.Pattern, which: str) -> tuple[str, str]:
        """Return what is bounded, a property or a part of its dates, and by what."""
        named = self._predicate(pattern) + _of(which)
        value = condition.value if isinstance(condition, pl.Contains) else condition.left
        if isinstance(condition, pl.Comparison) and (day := _calendar(condition)):
            return named, f"is {'' if condition.relation == '=' else 'not '}{day}"
        part = PARTS.get(value.part, value.part) if isinstance(value, pl.DatePart) else "date"
        if part != "date" and part not in named.split():
            named += f" has {article(part)} that"
        if isinstance(condition, pl.Contains):
            return named, f"{POSITIONS[condition.position]} “{condition.text}”"
        said = RELATIONS[condition.relation]
        if self._is_time(value) and isinstance(condition.right, Literal):
            said = _OF_TIME.get(condition.relation, said)
        return named, f"{said} {self._amount(condition.right, pattern.predicate)}"

    def _amount(self, value: pl.Expression, predicate: object) -> str:
        """Return what a property is compared with, a number with the property's unit where it has one."""
        said, with_unit = self.value(value), getattr(self._name, "with_unit", None)
        numeric = isinstance(value, Literal) and value.datatype is not None
        return str(with_unit(str(predicate), said)) if with_unit is not None and numeric else said

    def _bounds(self, conditions: Sequence[pl.Condition], pattern: pl.Pattern, which: str) -> str:
        """Return all that a property is bounded by, named once."""
        found: dict[str, list[str]] = {}
        for condition in conditions:
            named, said = self._bound(condition, pattern, which)
            saids = found.setdefault(named, [])
            short = said.removeprefix("is ") if saids and saids[0].startswith("is ") else said
            if said not in saids and short not in saids:
                saids.append(short)
        first, *others = (f"{named} {' and '.join(saids)}" for named, saids in found.items())
        return join([first, *(others if which == "which" else (f"the {other}" for other in others))])

    def _is_time(self, value: pl.Expression) -> bool:
        """Return whether a value is a date or a year, of which one is before another."""
        if isinstance(value, pl.DatePart):
            return value.part in _TIMES
        if isinstance(value, pl.Number):
            return self._is_time(value.value)
        pattern = self._roles.binding(value) if isinstance(value, pl.Unknown) else None
        if pattern is None:
            return False
        words = self._predicate(pattern).lower().split()
        head = next((at for at, word in enumerate(words) if at and word in PREPOSITIONS), len(words))
        return words[head - 1] in _TIMES or (words[0] in _TIMES and is_participle(words[-1]))

    # -- conditions and values -------------------------------------------------------------------

    def condition(self, condition: pl.Condition) -> str:
        """Return a condition in words."""
        if isinstance(condition, pl.Contains):
            return f"{self.value(condition.value)} {POSITIONS[condition.position]} “{condition.text}”"
        left, right = condition.left, self.value(condition.right)
        if condition.relation == "!=" and left == self._roles.subject:
            return f"other than {right}"
        times = self._is_time(left) and self._is_time(condition.right)
        said = (_OF_TIME if times else RELATIONS).get(condition.relation, RELATIONS[condition.relation])
        return f"{self.value(left)} {said} {right}"

    def value(self, value: pl.Expression) -> str:
        """Return a value in words."""
        match value:
            case pl.Unknown():
                return self._unknown(value)
            case URIRef() | Literal():
                return self._name(value)
            case pl.Number(inner):
                return self.value(inner)
            case pl.DatePart(part, inner):
                said, named = self.value(inner), PARTS.get(part, part)
                return said if named in said.split() else f"the {named} of {said}"
            case pl.Days(start, end):
                return f"the days from {self.value(start)} to {self.value(end)}"
            case pl.Arithmetic(pl.Days(start, end)) if unit := unit_of_days(value):
                return f"the {unit} from {self.value(start)} to {self.value(end)}"
            case pl.Arithmetic(left, operation, right):
                a, b = (self._operand(e) for e in (left, right))
                return f"{a} {OPERATIONS[operation]} {b}"
            case pl.Scalar(plan):
                return self._nested(plan)
            case pl.Aggregate():
                return self._aggregate(value)

    def _operand(self, value: pl.Expression) -> str:
        said = self.value(value)
        return f"({said})" if isinstance(value, pl.Arithmetic) else said

    def _aggregate(self, aggregate: pl.Aggregate) -> str:
        fold = FOLDS[aggregate.function]
        if aggregate.value is not None:
            found = f"the {fold} {self._bare(aggregate.value)}"
            found += f" of {join([self._plural(u) for u in aggregate.of])}" if aggregate.of else ""
        else:
            found = f"the {fold} of {join([self._plural(u) for u in aggregate.of])}"
            if len(aggregate.of) == 1 and (told := self._told.get(aggregate.of[0])):
                found += f" {told}"
        if not aggregate.where.empty:
            main = aggregate.of[0] if aggregate.of else self._roles.subject
            found = f"{found} {self._block(aggregate.where, main)}".rstrip()
        return found

    def _bare(self, value: pl.Expression) -> str:
        """Return what a property of something is called, without saying of what."""
        if isinstance(value, pl.Number):
            return self._bare(value.value)
        if isinstance(value, pl.Arithmetic) and all(isinstance(v, _NAMED) for v in (value.left, value.right)):
            return f" {OPERATIONS[value.operation]} ".join(map(self._bare, (value.left, value.right)))
        if isinstance(value, pl.Unknown):
            pattern = self._roles.binding(value)
            return self._predicate(pattern) if pattern is not None else self._kind(value)
        return f"of {self.value(value)}"

    def _shown(self, value: pl.Expression) -> str:
        """Return a value that is listed, and whether there may be none."""
        return self.value(value) + (" if there is one" if self._roles.is_optional(value) else "")

    def _unknown(self, unknown: pl.Unknown) -> str:
        pattern, which = self._roles.binding(unknown), ORDINALS[min(self._roles.number(unknown), 4)]
        if unknown == self._roles.subject or pattern is None or self._roles.type(unknown) is not None:
            return f"the {which}{self._kind(unknown)}"
        shown = [c.value for c in self._plan.columns]
        if self._verb(pattern):
            said = self._said_of(pattern)
            return said.replace("what ", f"the {which}thing that ", 1) if which else said
        if pattern.subject == self._roles.subject and pattern.subject in shown:
            return f"its {which}{self._predicate(pattern)}"
        return f"the {which}{self._said_of(pattern)}"

    def _said_of(self, pattern: pl.Pattern) -> str:
        """Return the value of a property by what it belongs to: `director of the film`."""
        if said := self._verb(pattern):
            return f"what {self._thing(pattern.subject)} {said}"
        return f"{self._predicate(pattern)} of {self._thing(pattern.subject)}"

    def _thing(self, place: pl.Place) -> str:
        if not isinstance(place, pl.Unknown):
            return self._name(place)
        if place in self._open:
            return "it"  # what is said of things in a circle ends where it began
        self._open.add(place)
        said = self._unknown(place)
        self._open.discard(place)
        return said

    def _plural(self, unknown: pl.Unknown) -> str:
        return plural(self._kind(unknown))

    def _kind(self, unknown: pl.Unknown, *, of: bool = False) -> str:
        """Return what an unknown is called: its class, or the property that has it as a value."""
        if (cls := self._roles.type(unknown)) is not None:
            return self._name(cls)
        pattern = self._roles.binding(unknown)
        if pattern is None:
            return unknown.name.replace("_", " ") if self._roles.is_joined(unknown) else self._any(unknown)
        if self._verb(pattern):
            return f"thing that {self._said_of(pattern).removeprefix('what ')}"
        return self._said_of(pattern) if of else self._predicate(pattern)

    def _any(self, unknown: pl.Unknown) -> str:
        """Return what an unknown without a class is called: by the class that has its properties."""
        kind = getattr(self._name, "kind", None)
        kinds = {kind(p) for p in self._roles.said_of(unknown)} if kind is not None else set()
        return self._name(kinds.pop()) if len(kinds) == 1 and None not in kinds else "thing"

    def _is_any(self, unknown: pl.Unknown) -> bool:
        """Return whether an unknown is any thing of its class: nothing else is said of it."""
        few = self._roles.mentions(unknown) < 3 and not self._roles.is_shown(unknown)
        return few and self._roles.type(unknown) is not None

    def _predicate(self, pattern: pl.Pattern) -> str:
        p = pattern.predicate
        if not isinstance(p, URIRef):
            return "property"
        name = self._name(p)
        first, _, rest = name.partition(" ")
        plain = first.lower() == "has" or (
            first.lower() == "is" and PREPOSITIONS.isdisjoint(rest.lower().split())
        )
        return rest if plain and rest else name
