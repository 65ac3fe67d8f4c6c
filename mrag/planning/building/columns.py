"""What a plan shows and how it is ordered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mrag.language.grammar import is_participle, plural
from mrag.language.tokens import PREPOSITIONS
from mrag.planning.asked.shown import PlanShown
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import DIMENSIONS, positive
from mrag.planning.plan import Aggregate, Column, Expression, Order, Pattern, Unknown
from mrag.planning.profile.names import is_count, is_value
from mrag.planning.profile.usage import ways_to_say_where
from mrag.planning.reading.frame import FrameMeasure, Noun, Output, TimeUnit
from mrag.planning.reading.state import COMMON
from mrag.planning.schema import PropertyInfo
from mrag.planning.scopes import FOLDS

_FOLD_WORDS = FOLDS | {"count": "number of"}
_NUMBERS = frozenset("population attendance headcount quantity amount".split())
"""What is a number already, so that there is no number of it."""
_UNNAMED = TimeUnit("year", 0)
"""What a column is called after that orders by what no noun names."""
_OPPOSITE = {"greatest": "least", "least": "greatest"}


@dataclass
class PlanColumns(PlanShown):
    """What a plan shows and how it is ordered."""

    def _columns(self) -> tuple[list[Column], list[str], list[Order]]:
        frame = self.frame
        columns: list[Column] = []
        shown: list[str] = []
        names: set[str] = set()
        typed = [n for n in self.graph.unnamed if n.typed]
        if frame.named and typed and not frame.groups:
            columns.append(Column(typed[0].place, self._name(typed[0].place, None, names)))
            shown.append(columns[0].name)
        if (doer := self._doer()) is not None:
            columns.append(Column(doer, self._name(doer, None, names)))
            shown.append(columns[0].name)
        self._ungrouped()
        for output in [*frame.groups, *self._timed_outputs()]:
            expression = self._added_up(output, self.expression(output))
            if self._repeats(output, expression, columns):
                continue
            same = next((c for c in columns if c.value == expression), None)
            if same is None:
                same = Column(expression, self._name(expression, output, names))
                columns.append(same)
            if same.name not in shown:
                shown.append(same.name)
        shown = self._told_otherwise(columns, shown)
        if not columns and not frame.yes_or_no:
            node = self._focus()
            columns.append(Column(node.place, self._name(node.place, None, names)))
            shown.append(columns[0].name)
        plainly = frame.asks == "where" and frame.superlative is not None
        if plainly and self._shows_things(columns, shown):
            node = next(n for n in self.graph.nodes if n.place == columns[0].value)
            plain = not frame.restrictions or ways_to_say_where(node.classes[0], self.schema) < 2
            place = self._place_of(node) if plain else None
            if place is not None:
                columns = [Column(place.place, self._name(place.place, None, names))]
                shown = [columns[0].name]
        return columns, shown, self._order(columns, shown, names)

    def _order(self, columns: list[Column], shown: list[str], names: set[str]) -> list[Order]:
        """Return the order of the rows; columns that order are added, and shown where that is usual."""
        frame, order = self.frame, list[Order]()
        top = frame.superlative
        if top is not None:
            hidden = self._top_column(columns, names)
            if (top.n or 1) > 1 and self._shows_things(columns, shown) and hidden.name not in shown:
                shown.append(hidden.name)
            order.append(Order(hidden.name, top.direction == "greatest"))
        for ordering in frame.orders:
            if ordering.adjective:
                by, ordering.descending = self._by_adjective(ordering, columns)
                key = self._hidden(by, columns, names)
            elif (value := self._by_unnamed(ordering, columns)) is not None:
                key = self._hidden(value, columns, names)
            elif ordering.measure is None:
                key = columns[-1] if frame.measures and ordering.descending is not None else columns[0]
                if top is not None:
                    # "The top three, in descending order" is said twice.
                    continue
            else:
                key = self._hidden(self.expression(ordering.measure), columns, names, ordering.measure)
            # Of "by year, newest first" the second is the order.
            found = Order(key.name, bool(ordering.descending))
            if top is not None and order[0].column == key.name and order[0] != found:
                raise Unbuildable("ordered against what is extreme")
            order = [o for o in order if o.column != key.name] + [found]
        return order

    def _hidden(
        self, expression: Expression, columns: list[Column], names: set[str], output: Output = _UNNAMED
    ) -> Column:
        for column in columns:
            if column.value == expression:
                return column
        columns.append(Column(expression, self._name(expression, output, names)))
        return columns[-1]

    def _top_column(self, columns: list[Column], names: set[str]) -> Column:
        top = self.frame.superlative
        assert top is not None
        if top.measure is not None and top.adjective:
            plain = positive(top.adjective)
            top.direction = DIMENSIONS[plain][0] if plain else top.direction
        measured = [c for c in columns if isinstance(c.value, Aggregate)]
        if top.measure is None and top.adjective and not (measured and top.adjective in ("best", "worst")):
            options = (
                self._first_ones()
                or self._of_shown(columns)
                or self._said_of(self.dimension(top.adjective), top.of)
            )
            options = [o for o in options if self._distance(self._domains(o[0]), 0) < 3] or list(options)
            if not options and top.adjective in COMMON:
                return self._hidden(self._how_often(columns), columns, names)
            if not options:
                raise Unbuildable(top.adjective)
            best = max(
                options, key=lambda o: (o[0].score - 0.12 * self._distance(self._domains(o[0]), 0), o[0].term)
            )
            if top.adjective not in ("most", "least"):
                top.direction = best[1] if not top.turned else _OPPOSITE[best[1]]
            self.matches.append(best[0].score)
            shown = self._node_shown(columns)
            own = shown is not None and self._has(shown, best[0]) and not self._of_others(top.of, shown, best)
            if not own and (top.of is None or not self._said_of([best], top.of, only=True)):
                self.guesses += 2  # "the largest river" by the area of what it runs through
            expression: Expression = self._property(best[0], None, shown if own else self._node_of(top.of))
            owner = self.graph.owner(self._domains(best[0])).place
            if top.fold and isinstance(owner, Unknown) and [owner] != [c.value for c in columns[:1]]:
                expression = Aggregate(top.fold, expression, (owner,))
            return self._hidden(expression, columns, names)
        if top.measure is None:
            if measured:
                return measured[-1]
            return self._hidden(self._most_of(columns), columns, names)
        if top.measure in self.frame.outputs and top.measure.function is None and len(columns) == 1:
            # "What is the highest price?" asks for the price alone.
            return columns[0]
        return self._hidden(self._top_measure(top.measure, columns), columns, names, top.measure)

    def _of_others(self, of: Noun | None, shown: PlanNode, best: tuple[Candidate, str]) -> bool:
        """Return whether it is other things that are extreme: "the capital of the smallest state"."""
        kind = None if of is None else self.noun(of)
        if of is None or kind is None or kind.kind != "class":
            return False
        return not self._of_kind([kind.term], shown.classes) and bool(self._said_of([best], of, only=True))

    def _top_measure(self, measure: FrameMeasure, columns: list[Column]) -> Expression:
        if measure.noun is not None and (number := self._done_most(measure.noun)) is not None:
            return number
        expression = self.expression(measure)
        if isinstance(expression, Aggregate) or measure.noun is None:
            return expression
        found = self.noun(measure.noun)
        if found.kind == "class" or self.info(found).kind in ("entity", "text"):
            if found.kind == "property" and self.info(found).functional and self.info(found).kind == "text":
                return self._number_beside(self.info(found))
            if found.kind == "property" and (money := self._sum_of(measure, self.info(found))) is not None:
                return money
            return self.expression(FrameMeasure("count", measure.noun))
        return self._summed(expression, measure.noun, columns)

    def _summed(self, value: Expression, noun: Noun, columns: list[Column]) -> Expression:
        """Return the sum of a number that what is shown has through other things: "drove the most miles".

        Where the number is shown as well, its column becomes one of sums.
        """
        low = self.question.low
        said = {low[noun.start - 1], *low[noun.end : noun.end + 2]}
        if not {"most", "fewest", "least"} & said:
            return value
        owner = self.graph.owner(self._domains(self.noun(noun))).place
        told = {p.object for p in self.graph.patterns if p.subject == owner and not self._leads(p)}
        others = [c.value for c in columns if c.value != value]
        if not others or not isinstance(owner, Unknown) or owner in others or told & {*others}:
            return value
        if not all(isinstance(o, Unknown) for o in others):
            return value
        if is_value(self.info(self.noun(noun)).names):
            raise Unbuildable("a value is no number of things")
        total = Aggregate("sum", value, (owner,))
        columns[:] = [replace(c, value=total) if c.value == value else c for c in columns]
        return total

    def _leads(self, pattern: Pattern) -> bool:
        """Return whether a triple leads to a thing."""
        info = self.schema.properties.get(str(pattern.predicate))
        return info is not None and info.kind == "entity"

    def _beside_text(self, info: PropertyInfo) -> PropertyInfo:
        """Return the number that goes with a text: the highest elevation with the highest point."""
        words = set(info.names[0].lower().split())
        near = [
            other
            for other in self.schema.properties.values()
            if other.kind == "number"
            and set(other.domains) & set(info.domains)
            and words & set(other.names[0].lower().split())
        ]
        if len(near) != 1:
            raise Unbuildable("a text is neither most nor least")
        return near[0]

    def _number_beside(self, info: PropertyInfo) -> Expression:
        self.guesses += 1
        return self.graph.number(self.graph.owner(sorted(info.domains)), self._beside_text(info))

    def _name(self, expression: Expression, output: Output | None, names: set[str]) -> str:
        base = ""
        if isinstance(output, FrameMeasure) and output.noun is not None:
            chosen = self.picked.get(output.noun.end, output.noun.candidates[0])
            noun = chosen.name if chosen in output.noun.candidates else output.noun.candidates[0].name
            fold = _FOLD_WORDS.get(output.function or "", "")
            fold = "" if fold == noun.split()[0].lower() else fold
            if output.function == "count" and (is_count([noun]) or noun.split()[-1] in _NUMBERS):
                fold = ""  # A "review count" is a number already.
            elif is_participle(noun):
                noun, fold = f"number {noun}", "" if output.function == "count" else fold
            elif output.function == "count" and noun.split()[-1] not in PREPOSITIONS:
                noun = plural(noun)
            base = f"{fold} {noun}".strip()
        elif isinstance(expression, Unknown):
            base = expression.name
        elif isinstance(output, Noun):
            base = self.picked.get(output.end, output.candidates[0]).name
        elif isinstance(output, TimeUnit):
            base = output.part
        name = self.graph.fresh(base or "value").name if base != getattr(expression, "name", None) else base
        names.add(name)
        return name
