"""Conditions on times: years, months, days, parts that recur, and spans of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from rdflib import XSD, Literal, URIRef

from mrag.planning.building.columns import PlanColumns
from mrag.planning.building.literals import compare_period
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.derived.spans import HOLDING, held_between
from mrag.planning.lexical.english import root
from mrag.planning.plan import NEGATED, Block, Comparison, Condition, DatePart, Expression, Part, Pattern
from mrag.planning.reading.frame import Compared
from mrag.planning.reading.periods import Period, month_of
from mrag.planning.schema import PropertyInfo

_Choice: TypeAlias = tuple[tuple[Condition, ...], ...]
"""Conditions of which those of one part must hold."""

_RECURRING: Final[dict[str, Part]] = {"weekday": "weekday", "month": "month", "quarter": "quarter"}
_UNTIMED: Final = frozenset(map(str, (XSD.date, XSD.gYear, XSD.gYearMonth)))


@dataclass
class PlanTimes(PlanColumns):
    """Conditions on times."""

    _chosen: _Choice = field(default=())
    _dated_by: tuple[Expression, PropertyInfo] | None = None

    def _in_period(self, compared: Compared, period: Period) -> None:
        if not compared.either or self._dated_by is None:
            self._dated_by = self._time(compared.left or compared.right, compared.at)
        value, info = self._dated_by
        said = compared
        if negated := compared.relation == "!=":
            said = replace(compared, relation="=")
        if period.low is not None and period.high is not None:
            found = self._within(said, period, value, info)
        elif period.unit in _RECURRING:
            found = self._recurring(said, period, value, info)
        else:
            found = self._at_clock(said, period, value, info)
        if negated:
            if len(found) > 1:
                raise Unbuildable("not one of two times")
            # Not in a time is before or after it.
            outside = (
                replace(c, relation=NEGATED[c.relation]) for c in found[0] if isinstance(c, Comparison)
            )
            found = tuple((one,) for one in outside)
        elif compared.either and self._chosen:
            # "Before 1990 or after 2019", "in July or August"
            found = (*self._taken_back(), *found)
        self._choose(found)

    def _choose(self, found: _Choice) -> None:
        self._chosen = found
        if len(found) == 1:
            self.graph.conditions += found[0]
        else:
            self.graph.either.append(tuple(Block(conditions=one) for one in found))

    def _taken_back(self) -> _Choice:
        """Return what was last chosen of times, and take it out of the conditions."""
        last, graph = self._chosen, self.graph
        if len(last) == 1:
            graph.conditions = [c for c in graph.conditions if c not in last[0]]
        else:
            graph.either.remove(tuple(Block(conditions=one) for one in last))
        return last

    def _within(self, compared: Compared, period: Period, value: Expression, info: PropertyInfo) -> _Choice:
        """Compare with a time that is once: a year, a day, a quarter of a year."""
        year = info.kind == "number" or info.datatype == str(XSD.gYear)
        if year and period.unit in ("month", "day", "quarter", "week"):
            raise Unbuildable("a part of a year, where there are years only")
        dated: Expression = value if info.kind == "number" else DatePart("year" if year else "date", value)
        upper = compared.upper
        if isinstance(upper, Period):
            if upper.high is None:
                raise Unbuildable("a time and one that recurs")
            from_ = compare_period(dated, ">=", f"{period.low}", f"{period.high}", year=year)
            to = compare_period(dated, "<=", f"{upper.low}", f"{upper.high}", year=year)
            return ((*from_, *to),)
        low, high = f"{period.low}", f"{period.high}"
        held = self._held(value, info, low, high) if compared.relation == "=" and not year else None
        return (held or tuple(compare_period(dated, compared.relation, low, high, year=year)),)

    def _held(
        self, value: Expression, info: PropertyInfo, low: str, high: str
    ) -> tuple[Condition, ...] | None:
        """Return that something holds for a time, if its start or end was taken for that.

        What has begun and has no end still holds.

        Args:
            value: The start or the end.
            info: Its property.
            low: The first day.
            high: The day behind the last.
        """
        words, graph = self.question.low, self.graph
        said = {root(word) for word in words}
        ends = held_between(self.schema, info.iri, said) if info.kind == "date" else None
        stated = graph.stating(value)
        node = graph.at(stated.subject) if stated is not None else None
        if ends is None or node is None or stated is None:
            return None
        self.frame.read |= {i for i, word in enumerate(words) if root(word) in HOLDING}
        start, end = ends
        begun = compare_period(DatePart("date", graph.value(node, start)), "<=", low, high, year=False)
        if end.subjects >= start.subjects:
            stops = DatePart("date", graph.value(node, end))
            return (*begun, *compare_period(stops, ">=", low, high, year=False))
        if info.iri == end.iri:
            graph.patterns.remove(stated)
            del graph.values[str(node.place), end.iri]
        ended = graph.fresh(end.names[0])
        early = compare_period(DatePart("date", ended), "<", low, high, year=False)
        graph.without.append(Block((Pattern(node.place, URIRef(end.iri), ended),), tuple(early)))
        return tuple(begun)

    def _recurring(
        self, compared: Compared, period: Period, value: Expression, info: PropertyInfo
    ) -> _Choice:
        """Compare with what is in every year or week: "in May", "between November and February"."""
        upper = compared.upper
        if info.kind == "number" or info.datatype == str(XSD.gYear):
            raise Unbuildable("a part of a year, where there are years only")
        if isinstance(upper, Period) and upper.low is not None and upper.unit == period.unit == "month":
            # "Between March and June 2023"
            first = month_of(upper.low.year, int(period.text), period)
            if first.low is not None and first.low > upper.low:
                first = month_of(upper.low.year - 1, int(period.text), period)
            return self._within(compared, first, value, info)
        part = DatePart(_RECURRING[period.unit], value)
        low, _, high = period.text.partition("-")
        if isinstance(upper, Period):
            if upper.unit != period.unit or not upper.text:
                raise Unbuildable("a part of a year and another time")
            high = upper.text.partition("-")[2] or upper.text
        elif compared.relation != "=":
            if period.unit == "weekday":
                raise Unbuildable("before or after a day of the week")
            return ((Comparison(part, compared.relation, Literal(int(low))),),)
        if not high or high == low:
            return ((Comparison(part, "=", Literal(int(low))),),)
        return _between(part, Literal(int(low)), Literal(int(high)), wraps=int(low) > int(high))

    def _at_clock(self, compared: Compared, period: Period, value: Expression, info: PropertyInfo) -> _Choice:
        """Compare with a time of day: "after 6 pm", "between 9 am and noon"."""
        if info.kind == "number" or info.datatype in _UNTIMED:
            raise Unbuildable("a time of day of a date")
        timed = info.datatype == str(XSD.dateTime)
        if timed:
            value = DatePart("clock", value)
        datatype = None if timed else XSD.time
        upper, first = compared.upper, Literal(period.text, datatype=datatype)
        if not isinstance(upper, Period):
            return ((Comparison(value, compared.relation, first),),)
        if upper.unit != "clock":
            raise Unbuildable("a time of day and another time")
        last = Literal(upper.text, datatype=datatype)
        return _between(value, first, last, wraps=period.text > upper.text)


def _between(value: Expression, low: Literal, high: Literal, *, wraps: bool) -> _Choice:
    """Return that a value lies between two; one that comes round lies behind the one or before the other."""
    bounds = Comparison(value, ">=", low), Comparison(value, "<=", high)
    return tuple((one,) for one in bounds) if wraps else (bounds,)
