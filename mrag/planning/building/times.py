"""Conditions on times: years, months, days, and spans of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdflib import XSD, Literal

from mrag.planning.building.choices import Unbuildable
from mrag.planning.building.columns import PlanColumns
from mrag.planning.building.literals import compare_period
from mrag.planning.plan import Block, Comparison, Condition, DatePart, Expression
from mrag.planning.reading.frame import Compared
from mrag.planning.reading.question import Period


@dataclass
class PlanTimes(PlanColumns):
    """Conditions on times."""

    _periods: list[tuple[Condition, ...]] = field(default_factory=list)

    def _in_period(self, compared: Compared, period: Period) -> None:
        value, info = self._time(compared.left or compared.right, compared.at)
        conditions = self.graph.conditions
        if period.low is None or period.high is None:
            if period.unit == "weekday":
                first, last = map(int, period.text.split("-"))
                if info.kind == "number" or compared.relation != "=" or compared.upper is not None:
                    raise Unbuildable("a weekday of no date")
                weekday = DatePart("weekday", value)
                conditions += [
                    Comparison(weekday, ">=", Literal(first)),
                    Comparison(weekday, "<=", Literal(last)),
                ]
                return
            if period.unit == "month":
                self._in_months(compared, period, DatePart("month", value))
                return
            conditions.append(Comparison(value, compared.relation, Literal(period.text, datatype=XSD.time)))
            return
        year = info.kind == "number" or info.datatype == str(XSD.gYear)
        if year and period.unit in ("month", "day", "quarter", "week"):
            raise Unbuildable("a part of a year, where there are years only")
        dated: Expression = value if info.kind == "number" else DatePart("year" if year else "date", value)
        upper = compared.upper
        if isinstance(upper, Period) and upper.high is not None:
            conditions += compare_period(dated, ">=", f"{period.low}", f"{period.high}", year=year)
            conditions += compare_period(dated, "<=", f"{upper.low}", f"{upper.high}", year=year)
        else:
            found = compare_period(dated, compared.relation, f"{period.low}", f"{period.high}", year=year)
            if compared.either and len(self._periods) > 0:
                # "Before 1990 or after 2019"
                before = self._periods[-1]
                self.graph.conditions = [c for c in conditions if c not in before]
                self.graph.either.append((Block(conditions=before), Block(conditions=tuple(found))))
                return
            conditions += found
            self._periods.append(tuple(found))

    def _in_months(self, compared: Compared, period: Period, month: DatePart) -> None:
        """Compare with months of any year: "in May", "between November and February"."""
        first, conditions = Literal(int(period.text)), self.graph.conditions
        upper = compared.upper
        if not isinstance(upper, Period):
            conditions.append(Comparison(month, compared.relation, first))
            return
        if upper.unit != "month" or not upper.text:
            raise Unbuildable("a month and another time")
        last = Literal(int(upper.text))
        bounds = Comparison(month, ">=", first), Comparison(month, "<=", last)
        if int(period.text) <= int(upper.text):
            conditions.extend(bounds)
        else:
            self.graph.either.append(tuple(Block(conditions=(one,)) for one in bounds))
