"""From a frame to a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rdflib import RDF, XSD, Literal, URIRef

from mrag.planning.lexical.candidates import Candidate, Mention
from mrag.planning.lexical.synonyms import DIMENSIONS, positive
from mrag.planning.parsing.assembly import Graph, Node, compare_period, text_is
from mrag.planning.parsing.frame import (
    Compared,
    Frame,
    Measure,
    Noun,
    Output,
    Restriction,
    TextCondition,
    TimeUnit,
)
from mrag.planning.parsing.joins import JoinGraph
from mrag.planning.parsing.question import Period, QuestionText, Word
from mrag.planning.parsing.segmentation import Segmentation, meaningful
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Expression,
    Number,
    Order,
    Pattern,
    Plan,
    Relation,
    Scalar,
    Unknown,
)
from mrag.planning.schema import PropertyInfo, Schema
from mrag.text.tokens import is_stopword

Similar = Callable[[str, str, int], Sequence[Candidate]]
Dimension = Callable[[str], Sequence[tuple[Candidate, str]]]
_OPPOSITE: Mapping[Relation, Relation] = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}


_ENDS: Mapping[str, tuple[str, ...]] = {
    "from": ("depart", "departure", "origin", "source", "start", "begin", "leave", "departs"),
    "to": ("arriv", "arrive", "arrival", "destination", "target", "end", "reach", "arrives"),
    "into": ("arriv", "arrive", "arrival", "destination"),
    "of": (), "by": (), "in": ("locat",),
}  # fmt: skip


_VERBS_OF_PLACE = frozenset(
    "flow touch pass cross lie run go lead stand serve work live situat surround".split()
)
"""Verbs that say no more than that things are related, where the graph has one way only to relate them."""
_FOLD_WORDS = {
    "count": "number of",
    "sum": "total",
    "average": "average",
    "minimum": "least",
    "maximum": "greatest",
}
_OF = frozenset("of the a an all each every its their this that".split())


class Unbuildable(Exception):
    """A frame has no plan over this schema."""


@dataclass(frozen=True)
class Draft:
    """A plan with what it cost to make it of the question's words.

    Attributes:
        plan: The plan.
        shown: Names of the columns that were asked for.
        matches: The scores of the names that were used.
        joins: The cost of joins that the question does not name.
        guesses: How many choices were made without a word for them.
        ignored: Words that carry meaning and were not read.
        choices: What was chosen for each place of the question, with what else might have been.
    """

    plan: Plan
    shown: tuple[str, ...]
    matches: tuple[float, ...]
    joins: float
    guesses: int
    ignored: tuple[str, ...]
    choices: Mapping[int, tuple[Candidate, ...]]


@dataclass
class Builder:
    """Builds one plan of a frame.

    Args:
        schema: The schema.
        joins: Its joins.
        question: The question.
        segmentation: How it was cut.
        frame: The roles of its words.
        chosen: For the place behind a name, which of its candidates to take instead of the likeliest.
        dimension: The properties that an adjective may speak of, with the direction.
    """

    schema: Schema
    joins: JoinGraph
    question: QuestionText
    segmentation: Segmentation
    frame: Frame
    dimension: Dimension
    chosen: Mapping[int, Candidate] = field(default_factory=dict)
    matches: list[float] = field(default_factory=list)
    choices: dict[int, tuple[Candidate, ...]] = field(default_factory=dict)
    guesses: int = 0

    def build(self) -> Draft:
        """Return the plan.

        Raises:
            Unbuildable: If there is none.
        """
        frame = self.frame
        if frame.unsupported:
            raise Unbuildable("unsupported")
        self.graph = Graph(self.schema, self.joins, self._hints())
        self.context = self._context()
        self.picked: dict[int, Candidate] = {}
        self.having: list[Condition] = []
        self._classes()
        for restriction in frame.restrictions:
            self._restrict(restriction)
        self._merge_alternatives()
        columns, shown, order = self._columns()
        self._verbs()
        for compared in frame.compared:
            self._compare(compared)
        for text in frame.texts:
            self._text(text)
        self._start()
        self._membership()
        self.graph.connect()
        self._others()
        if self.graph.broken:
            raise Unbuildable("not connected")
        for noun in frame.missing:
            self._missing(noun)
        self._wanted()
        self.guesses += 2 * frame.dangling
        where = self.graph.block()
        if where.empty:
            raise Unbuildable("nothing to look for")
        plan = self._plan(where, columns, order)
        return Draft(
            plan,
            tuple(shown),
            tuple(self.matches),
            self.graph.cost,
            self.guesses,
            self._ignored(),
            self.choices,
        )

    # -- choices -----------------------------------------------------------------------------------

    def _hints(self) -> dict[str, float]:
        return {w.stem: 1.0 for w in self.question.words if not is_stopword(w.token.key)}

    def _context(self) -> list[tuple[str, int]]:
        found = []
        for noun in self.frame.nouns:
            best = noun.candidates[0]
            if best.kind == "class":
                found.append((best.term, noun.start))
            elif best.score > 0.8:
                close = [c for c in noun.candidates if c.score >= best.score - 0.02 and c.kind == "property"]
                if len(close) == 1 and len(self._domains(close[0])) == 1:
                    found.append((self._domains(close[0])[0], noun.start))
        for restriction in self.frame.restrictions:
            best = restriction.mention.candidates[0]
            for cls in best.classes[:1]:
                found.append((cls, restriction.mention.start))
        return found

    def _domains(self, candidate: Candidate) -> list[str]:
        info = self.schema.properties.get(candidate.term)
        return sorted(info.domains, key=lambda c: (-info.domains[c], c)) if info else []

    def _distance(
        self, classes: Sequence[str], at: int, context: Sequence[tuple[str, int]] | None = None
    ) -> float:
        """Return how far classes are from those that the question names, the nearest words first."""
        context = self.context if context is None else context
        best = 4.0 if context else 0.0
        for cls, where in context:
            way = self.joins.path([cls], classes, max_cost=3.5)
            if way is not None:
                best = min(best, way[0] + 0.04 * min(10, abs(where - at)))
        return best

    def pick(
        self, start: int, candidates: Sequence[Candidate], like: Callable[[Candidate], float]
    ) -> Candidate:
        """Return the likeliest of some candidates, once and for all for the place behind their words."""
        if start in self.picked:
            return self.picked[start]
        ranked = sorted(candidates, key=lambda c: (-like(c), c.term, c.inverse))
        forced = self.chosen.get(start)
        found = forced if forced in ranked else ranked[0]
        self.choices[start] = tuple(ranked[:4])
        self.picked[start] = found
        self.matches.append(found.score)
        return found

    def noun(self, noun: Noun, want: str = "") -> Candidate:
        """Return what a noun names.

        Args:
            noun: The noun.
            want: `number`, `date` or `class`, which its role makes likelier.
        """

        def like(c: Candidate) -> float:
            if c.kind == "class":
                return c.score + (
                    0.1 if want in ("class", "") else -0.3 if want in ("number", "date") else 0.0
                )
            info = self.schema.properties.get(c.term)
            if info is None:
                return -1.0
            fits = {
                "number": info.kind == "number", "date": info.kind == "date", "class": info.kind == "entity"
            }.get(want, True)  # fmt: skip
            classes = self._domains(c)
            if c.inverse or info.kind == "entity":
                classes = [*classes, *info.ranges]
            return c.score - 0.06 * self._distance(classes, noun.start) + (0.05 if fits else -0.35)

        return self.pick(noun.end, noun.candidates, like)

    def info(self, candidate: Candidate) -> PropertyInfo:
        """Return what is known of a property."""
        found = self.schema.properties.get(candidate.term)
        if found is None:
            raise Unbuildable(candidate.term)
        return found

    # -- names -------------------------------------------------------------------------------------

    def _classes(self) -> None:
        beside = {id(r.noun) for r in self.frame.restrictions if r.noun is not None}
        for noun in self.frame.nouns:
            if noun.role == "missing":
                continue
            want = "number" if noun.role in ("compared", "order") else ""
            measures = [m for m in self._measures() if m.noun is noun]
            if measures and measures[0].function not in (None, "count"):
                want = "number"
            elif measures and measures[0].function == "count":
                want = "count"
            found = self.noun(noun, want)
            if found.kind == "class" and not (id(noun) in beside and noun.role == "" and self._apposed(noun)):
                self.graph.node_of(found.term, typed=True)

    def _measures(self) -> list[Measure]:
        found = list(self.frame.measures)
        if self.frame.superlative is not None and self.frame.superlative.measure is not None:
            found.append(self.frame.superlative.measure)
        return found + [o.measure for o in self.frame.orders if o.measure is not None]

    def _apposed(self, noun: Noun) -> bool:
        cls = self.noun(noun).term
        return any(
            cls in c.classes
            for r in self.frame.restrictions
            if r.noun is noun
            for c in r.mention.candidates[:3]
        )

    def _restrict(self, restriction: Restriction) -> None:
        mention = restriction.mention
        beside = self.noun(restriction.noun) if restriction.noun is not None else None

        def like(c: Candidate) -> float:
            bonus = 0.0
            if beside is not None and (beside.term in c.properties or beside.term in c.classes):
                bonus = 0.3
            classes = list(c.classes) if c.kind == "entity" else self._value_domains(c, beside)
            return (
                c.score
                + bonus
                - 0.1 * self._distance(classes, mention.start)
                - (0.02 if c.kind == "value" else 0)
            )

        found = self.pick(mention.end, mention.candidates, like)
        if found.kind == "entity":
            self._entity(restriction, found)
        else:
            self._value(restriction, found, beside)

    def _value_domains(self, c: Candidate, beside: Candidate | None) -> list[str]:
        properties = [p for p in c.properties if beside is not None and p == beside.term] or list(
            c.properties
        )
        return [
            d for p in properties if p in self.schema.properties for d in self.schema.properties[p].domains
        ]

    def _entity(self, restriction: Restriction, found: Candidate) -> None:
        graph, mention = self.graph, restriction.mention
        same = [
            c for c in mention.candidates
            if c.kind == "entity" and c.name.casefold() == found.name.casefold() and set(c.classes) == set(found.classes)
        ]  # fmt: skip
        hints = self._near(mention.start)
        if restriction.negated:
            graph.without.append(Block(self._reach(found.classes, URIRef(found.term))))
            return
        if restriction.either >= 0:
            graph.near = hints
            self._alternatives(
                restriction, tuple(Block(self._reach(c.classes, URIRef(c.term))) for c in same)
            )
            return
        if len(same) == 1:
            node = graph.constant(found.term, found.classes)
            node.hints = hints
            return
        node = next(
            (
                n
                for n in graph.nodes
                if isinstance(n.place, Unknown) and n.classes[:1] == found.classes[:1] and not n.typed
            ),
            None,
        ) or graph.node_of(found.classes[0] if found.classes else "", new=True)
        node.hints = hints
        blocks = tuple(Block(conditions=(Comparison(node.place, "=", URIRef(c.term)),)) for c in same)
        self._alternatives(restriction, blocks)

    def _near(self, at: int) -> tuple[str, ...]:
        """Return stems of the words before a name, with what properties are called that mean the same."""
        found = [w.stem for w in self.question.words[max(0, at - 3) : at]]
        for word in tuple(found):
            found.extend(_ENDS.get(word, ()))
        return tuple(found)

    def _reach(self, classes: Sequence[str], end: URIRef | None = None) -> tuple[Pattern, ...]:
        """Return triples with unknowns of their own that lead from what is named to things of some classes.

        Args:
            classes: Classes of the end.
            end: The end itself; None for any.
        """
        graph = self.graph
        sources = sorted({c for n in graph.nodes for c in n.classes if isinstance(n.place, Unknown)})
        way = self.joins.path(sources, classes, discount=graph.discount)
        if way is None or not way[1]:
            way = min(
                (
                    w
                    for c in classes
                    if c in sources and (w := self.joins.walk_to_other(c, discount=graph.discount))
                ),
                default=None,
            )
        if way is None or not way[1]:
            raise Unbuildable("nothing leads there")
        at = next(n for n in graph.nodes if way[1][0].source in n.classes)
        graph.cost += max(0.0, way[0] - 1)
        patterns: list[Pattern] = []
        place = at.place
        for number, step in enumerate(way[1]):
            following = end if end is not None and number == len(way[1]) - 1 else graph.fresh("other")
            subject, object_ = (place, following) if step.forward else (following, place)
            patterns.append(Pattern(subject, URIRef(step.property), object_))
            place = following
            graph.read.append(step.property)
        return tuple(patterns)

    def _value(self, restriction: Restriction, found: Candidate, beside: Candidate | None) -> None:
        graph = self.graph
        at = restriction.mention.start
        before = {w.stem for w in self.question.words[max(0, at - 3) : at]}

        def like(iri: str) -> float:
            info = self.schema.properties[iri]
            named = 0.5 if beside is not None and beside.term == iri else 0.0
            words = {w for name in info.names for w in name.lower().split()}
            return named + 0.1 * len(before & words) - 0.12 * self._distance(sorted(info.domains), at)

        known = [p for p in found.properties if p in self.schema.properties]
        if not known:
            raise Unbuildable("value")
        iri = max(known, key=lambda p: (like(p), p))
        info = self.schema.properties[iri]
        domains = sorted(info.domains, key=lambda c: (-info.domains[c], c))
        owner = graph.owner(domains, constants=False)
        key = (str(owner.place), iri)
        if self._restricted.get(key) == found.term and not restriction.negated:
            return
        again = key in self._restricted and restriction.either < 0 and not restriction.negated
        if again and info.functional:
            # One thing cannot have both values: another thing is meant, such as the other end of a journey.
            owner = graph.node_of(domains[0] if domains else "", new=True)
        if again and not info.functional:
            value = graph.fresh(info.names[0])
            graph.add(owner.place, iri, value)
        else:
            value = graph.value(owner, info)
        if not owner.hints:
            owner.hints = self._near(at)
        self._restricted[str(owner.place), iri] = found.term
        condition = text_is(value, found.term)
        if restriction.negated:
            graph.without.append(Block((Pattern(owner.place, URIRef(iri), value),), (condition,)))
            return
        self._alternatives(restriction, (Block(conditions=(condition,)),))

    def _alternatives(self, restriction: Restriction, blocks: tuple[Block, ...]) -> None:
        if restriction.either < 0:
            if len(blocks) == 1:
                self.graph.conditions.extend(blocks[0].conditions)
            else:
                self.graph.either.append(blocks)
            return
        self._pending.setdefault(restriction.either, []).extend(blocks)

    _pending: dict[int, list[Block]] = field(default_factory=dict)
    _restricted: dict[tuple[str, str], str] = field(default_factory=dict)

    def _merge_alternatives(self) -> None:
        for number in sorted(self._pending):
            self.graph.either.append(tuple(self._pending[number]))

    # -- columns -----------------------------------------------------------------------------------

    def _columns(self) -> tuple[list[Column], list[str], list[Order]]:
        frame = self.frame
        columns: list[Column] = []
        shown: list[str] = []
        names: set[str] = set()
        for output in [*frame.groups, *frame.outputs]:
            expression = self.expression(output)
            if self._repeats(output, expression, columns):
                continue
            same = next((c for c in columns if c.value == expression), None)
            if same is None:
                same = Column(expression, self._name(expression, output, names))
                columns.append(same)
            if same.name not in shown:
                shown.append(same.name)
        if not columns and not frame.yes_or_no:
            node = self._focus()
            columns.append(Column(node.place, self._name(node.place, None, names)))
            shown.append(columns[0].name)
        order: list[Order] = []
        top = frame.superlative
        if top is not None:
            hidden = self._top_column(columns, names)
            if (top.n or 1) > 1 and self._shows_things(columns, shown) and hidden.name not in shown:
                shown.append(hidden.name)
            order.append(Order(hidden.name, top.direction == "greatest"))
        for ordering in frame.orders:
            if ordering.measure is None:
                key = columns[-1] if frame.measures and ordering.descending is not None else columns[0]
                if top is not None:
                    # "The top three, in descending order" is said twice.
                    continue
            else:
                key = self._hidden(self.expression(ordering.measure), columns, names, ordering.measure)
            order.append(Order(key.name, bool(ordering.descending)))
        return columns, shown, order

    def _repeats(self, output: Output, expression: Expression, columns: Sequence[Column]) -> bool:
        """Return whether an output is the name of a thing that is shown already."""
        if not isinstance(output, Noun) or not isinstance(expression, Unknown):
            return False
        owner = next((p.subject for p in self.graph.patterns if p.object == expression), None)
        found = self.noun(output)
        return (
            found.kind == "property"
            and self.info(found).kind == "text"
            and self._plainly_a_name(self.info(found))
            and any(c.value == owner for c in columns)
        )

    def _plainly_a_name(self, info: PropertyInfo) -> bool:
        """Return whether a property is called "name", "title" or "label", perhaps with its class before it."""
        words = info.names[0].lower().split()
        classes = {
            w
            for c in info.domains
            if c in self.schema.classes
            for w in self.schema.classes[c].names[0].lower().split()
        }
        return len(words) < 4 and [w for w in words if w not in classes] in (["name"], ["title"], ["label"])

    def _shows_things(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether what is shown are things or groups, rather than properties of things."""
        places = {n.place for n in self.graph.nodes}
        return len(shown) == 1 and any(c.name == shown[0] and c.value in places for c in columns)

    def _hidden(
        self, expression: Expression, columns: list[Column], names: set[str], output: Output
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
        if top.measure is None and top.adjective:
            options = self._said_of(self.dimension(top.adjective), top.of)
            options = [o for o in options if self._distance(self._domains(o[0]), 0) < 3] or list(options)
            if not options:
                raise Unbuildable(top.adjective)
            best = max(
                options, key=lambda o: (o[0].score - 0.12 * self._distance(self._domains(o[0]), 0), o[0].term)
            )
            if top.adjective not in ("most", "least"):
                top.direction = best[1]
            self.matches.append(best[0].score)
            expression: Expression = self._property(best[0], None, self._node_of(top.of))
            return self._hidden(expression, columns, names, TimeUnit("year", 0))
        if top.measure is None:
            measured = [c for c in columns if isinstance(c.value, Aggregate)]
            if not measured:
                raise Unbuildable("nothing to order by")
            return measured[-1]
        if top.measure in self.frame.outputs and top.measure.function is None and len(columns) == 1:
            # "What is the highest price?" asks for the price alone.
            return columns[0]
        return self._hidden(self._top_measure(top.measure, columns), columns, names, top.measure)

    def _said_of(
        self, options: Sequence[tuple[Candidate, str]], noun: Noun | None
    ) -> Sequence[tuple[Candidate, str]]:
        """Return those of an adjective's properties that the things it is said of have; all if none has."""
        classes = set(self._classes_of(noun)) if noun is not None else set()
        own = [o for o in options if classes & set(self._domains(o[0]))]
        return own or options

    def _classes_of(self, noun: Noun) -> list[str]:
        found = self.noun(noun)
        if found.kind == "class":
            return [found.term]
        info = self.info(found)
        return list(info.domains if found.inverse else info.ranges)

    def _top_measure(self, measure: Measure, columns: list[Column]) -> Expression:
        expression = self.expression(measure)
        if isinstance(expression, Aggregate) or measure.noun is None:
            return expression
        found = self.noun(measure.noun)
        if found.kind == "class" or (
            found.kind == "property" and self.info(found).kind in ("entity", "text")
        ):
            return self.expression(Measure("count", measure.noun))
        return expression

    def expression(self, output: Output) -> Expression:
        """Return what a noun, a measure or a unit of time stands for in the query."""
        if isinstance(output, TimeUnit):
            value, info = self._time(output.noun, output.start)
            part = "year-month" if output.part == "month" else output.part
            return value if info.kind == "number" else DatePart(part, value)
        if isinstance(output, Measure):
            return self._measure(output)
        found = self.noun(output)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True).place
        return self._property(found, output)

    def _node_of(self, noun: Noun | None) -> Node | None:
        """Return the node that a noun stands for, if it stands for things."""
        if noun is None:
            return None
        found = self.noun(noun)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True)
        if self.info(found).kind != "entity":
            return None
        place = self._property(found, noun)
        return next((n for n in self.graph.nodes if n.place == place), None)

    def _whose(self, found: Candidate, noun: Noun) -> Node | None:
        """Return what a property is asked of: "the population of the capital"."""
        low = self.question.low
        for other in self.frame.nouns:
            between = low[noun.end : other.start]
            if other.start >= noun.end and between and between[0] == "of" and set(between) <= _OF:
                node = self._node_of(other)
                if node is not None and set(node.classes) & set(self._domains(found)):
                    return node
        return None

    def _property(self, found: Candidate, noun: Noun | None, owner: Node | None = None) -> Expression:
        info = self.info(found)
        if owner is None or not set(owner.classes) & set(info.domains):
            owner = self._whose(found, noun) if noun is not None else None
        owner = owner or self.graph.owner(self._domains(found))
        if info.kind != "entity":
            return self.graph.number(owner, info) if info.kind == "number" else self.graph.value(owner, info)
        ranges = sorted(info.ranges, key=lambda c: (-info.ranges[c], c))
        if found.inverse:
            target = next((n for n in self.graph.nodes if set(n.classes) & set(ranges)), None)
            target = target or self.graph.node_of(ranges[0] if ranges else "")
            self.graph.add(owner.place, info.iri, target.place)
            return owner.place
        target = next(
            (
                n
                for n in self.graph.nodes
                if n is not owner and isinstance(n.place, Unknown) and set(n.classes) & set(ranges)
            ),
            None,
        ) or self.graph.node_of(ranges[0] if ranges else "", new=True)
        self.graph.add(owner.place, info.iri, target.place)
        return target.place

    def _measure(self, measure: Measure) -> Expression:
        if measure.noun is None:
            return Aggregate("count", None, (self._unknown(self._focus()),))
        function = measure.function
        found = self.noun(measure.noun)
        if found.kind == "class":
            if measure.money:
                return self._money(found.term)
            if (other := self._related(found.term, measure.noun)) is not None:
                return Aggregate("count", None, (self._unknown(other),))
            node = self.graph.node_of(found.term, typed=True)
            return Aggregate("count", None, (self._unknown(node),))
        info = self.info(found)
        value = self._property(found, measure.noun)
        if function is None:
            return value
        owner = self.graph.owner(self._domains(found))
        if info.kind == "entity":
            return Aggregate(
                "count", None, (value,) if isinstance(value, Unknown) else (self._unknown(owner),)
            )
        if function == "count":
            if info.kind != "number":
                return Aggregate("count", None, (value,) if isinstance(value, Unknown) else ())
            function = "sum"
        if isinstance(owner.place, URIRef):
            return value
        return Aggregate(function, value, (owner.place,))

    def _related(self, cls: str, noun: Noun) -> Node | None:
        """Return the other things of a class that a verb relates to those shown: "borders the most states"."""
        shown = [o for o in self.frame.outputs if isinstance(o, Noun) and o is not noun]
        if not any(self.noun(o).term == cls for o in shown):
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term)
            if (
                verb.role == ""
                and found.kind == "property"
                and info
                and cls in info.domains
                and cls in info.ranges
            ):
                node, other = self.graph.node_of(cls, typed=True), self.graph.node_of(cls, new=True)
                self.graph.add(node.place, info.iri, other.place)
                return other
        return None

    def _money(self, cls: str) -> Expression:
        """Return the sum of the one property of a class that is an amount: "the total sales amount"."""
        words = {"price", "amount", "cost", "revenue", "value", "total", "worth"}
        found = [
            i for i in self.schema.properties.values()
            if cls in i.domains and i.kind == "number" and words & set(i.names[0].lower().split())
        ]  # fmt: skip
        if len(found) != 1:
            raise Unbuildable("which amount?")
        node = self.graph.node_of(cls, typed=True)
        return Aggregate("sum", self.graph.number(node, found[0]), (self._unknown(node),))

    @staticmethod
    def _unknown(node: Node) -> Unknown:
        if not isinstance(node.place, Unknown):
            raise Unbuildable("an entity is not counted")
        return node.place

    def _focus(self) -> Node:
        self.guesses += 1
        for node in self.graph.nodes:
            if isinstance(node.place, Unknown):
                return node
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if found.kind == "property" and self.info(found).kind == "entity":
                place = self._property(found, noun)
                return next(n for n in self.graph.nodes if n.place == place)
        raise Unbuildable("nothing is asked for")

    def _name(self, expression: Expression, output: Output | None, names: set[str]) -> str:
        base = ""
        if isinstance(output, Measure) and output.noun is not None:
            base = f"{_FOLD_WORDS.get(output.function or '', '')} {output.noun.candidates[0].name}"
        elif isinstance(expression, Unknown):
            base = expression.name
        elif isinstance(output, Noun):
            base = output.candidates[0].name
        elif isinstance(output, TimeUnit):
            base = output.part
        name = self.graph.fresh(base or "value").name if base != getattr(expression, "name", None) else base
        names.add(name)
        return name

    # -- conditions --------------------------------------------------------------------------------

    def _verbs(self) -> None:
        """Make the properties that merely stand in the question likelier, and true where they are yes or no."""
        for noun in self.frame.nouns:
            if noun.role:
                continue
            found = self.noun(noun)
            if found.kind != "property":
                continue
            info = self.info(found)
            if info.kind == "entity":
                self.graph.wanted.add(info.iri)
            elif (
                info.kind == "number" and not self._beside(noun) and self._with(noun) and info.minimum == "0"
            ):
                value = self.graph.number(self.graph.owner(self._domains(found)), info)
                self.graph.conditions.append(Comparison(value, ">", Literal(0)))
            elif info.kind == "boolean" and not self._beside(noun):
                owner = self.graph.owner(self._domains(found))
                value = self.graph.value(owner, info)
                self.graph.conditions.append(Comparison(value, "=", Literal(True)))

    def _with(self, noun: Noun) -> bool:
        return bool(
            {"with", "have", "has", "having"} & set(self.question.low[max(0, noun.start - 2) : noun.start])
        )

    def _beside(self, noun: Noun) -> bool:
        return any(r.noun is noun for r in self.frame.restrictions) or any(
            noun in (c.left, c.right) for c in self.frame.compared
        )

    def _wanted(self) -> None:
        """Add the properties that stand in the question and are in no join yet."""
        graph = self.graph
        for noun in self.frame.nouns:
            if noun.role or self._beside(noun):
                continue
            found = self.noun(noun)
            if found.kind != "property" or found.term in graph.used:
                continue
            info = self.info(found)
            if info.kind == "entity" and found.score > 0.75 and self._joins_named(info):
                self._property(found, noun)
                graph.connect()
                if graph.broken:
                    raise Unbuildable("verb")

    def _joins_named(self, info: PropertyInfo) -> bool:
        """Return whether a property joins things that the question names and that no property joins yet."""
        places = {p for pattern in self.graph.patterns for p in (pattern.subject, pattern.object)}
        named = [n for n in self.graph.nodes if n.place in places or n.typed or isinstance(n.place, URIRef)]
        sources = [n for n in named if set(n.classes) & set(info.domains)]
        targets = [n for n in named if set(n.classes) & set(info.ranges) and n not in sources[:1]]
        for iri in self.graph.used:
            other = self.schema.properties.get(iri)
            if other and set(other.domains) & set(info.domains) and set(other.ranges) & set(info.ranges):
                return False
        return bool(sources and targets)

    def _compare(self, compared: Compared) -> None:
        if isinstance(compared.value, Period):
            self._in_period(compared, compared.value)
            return
        noun = self._compared_noun(compared)
        if isinstance(compared.value, Mention):
            self._compare_things(compared, compared.value, noun)
            return
        if noun is None:
            left = self._property(self._measured(compared), None, self._node_of(compared.left))
        else:
            found = self.noun(noun, "number")
            if found.kind == "class" and compared.relation == "=" and noun is compared.left:
                self._numbered(compared, found)
                return
            if found.kind == "class" or self.info(found).kind in ("entity", "text"):
                self._having(compared, noun)
                return
            left = self.expression(noun)
            if compared.fold is not None:
                left = self._measure(Measure(compared.fold, noun))
        right = self._right(compared, noun)
        target = self.having if isinstance(left, Aggregate) else self.graph.conditions
        if compared.either and target:
            one = target.pop()
            self.graph.either.append(
                (Block(conditions=(one,)), Block(conditions=(Comparison(left, "=", right),)))
            )
            return
        target.append(Comparison(left, compared.relation, right))
        if isinstance(compared.upper, float):
            target.append(Comparison(left, "<=", _number(compared.upper)))

    def _numbered(self, compared: Compared, found: Candidate) -> None:
        """Find a thing by its number: "semester 2"."""
        owned = [
            i
            for i in self.schema.properties.values()
            if found.term in i.domains
            and i.kind == "number"
            and {"id", "number", "no", "code", "nr"} & set(i.names[0].lower().split())
        ]
        if not owned or not isinstance(compared.value, float | int):
            raise Unbuildable("a number of what?")
        info = min(owned, key=lambda i: ("id" not in i.names[0].lower().split(), i.iri))
        value = self.graph.number(self.graph.node_of(found.term, typed=True), info)
        condition = Comparison(value, "=", _number(compared.value))
        if compared.either and self.graph.conditions:
            one = self.graph.conditions.pop()
            self.graph.either.append((Block(conditions=(one,)), Block(conditions=(condition,))))
        else:
            self.graph.conditions.append(condition)

    def _right(self, compared: Compared, noun: Noun | None) -> Expression:
        value = compared.value
        if isinstance(value, float | int):
            return _number(value)
        if isinstance(value, Measure) and value.function is not None and value.noun is not None:
            found = self.noun(value.noun, "number")
            info = self.info(found)
            owner, number = Unknown("other"), Unknown("its_value")
            where = Block((Pattern(owner, URIRef(info.iri), number),))
            return Scalar(Plan(where, (Column(Aggregate(value.function, number, (owner,)), "value"),)))
        raise Unbuildable("compared with a thing")

    def _measured(self, compared: Compared) -> Candidate:
        """Return the property that an adjective compares: "longer than"."""
        if not compared.adjective:
            raise Unbuildable("compared with what?")
        options = self._said_of(self.dimension(compared.adjective), compared.left)
        if not options:
            raise Unbuildable(compared.adjective)
        self.matches.append(options[0][0].score)
        return options[0][0]

    def _compare_things(self, compared: Compared, mention: Mention, noun: Noun | None) -> None:
        """Compare a property of things with that of the one named: "higher than Mont Blanc"."""
        found = self.noun(noun, "number") if noun is not None else self._measured(compared)
        entities = [c for c in mention.candidates if c.kind == "entity"]
        if not entities or found.kind != "property":
            raise Unbuildable("compared with a thing")
        info = self.info(found)
        owner = self._node_of(compared.left) if noun is None else None
        left = self._property(found, noun, owner)
        self.matches.append(entities[0].score)
        other = self.graph.fresh(f"other {info.names[0]}")
        self.graph.patterns.append(Pattern(URIRef(entities[0].term), URIRef(info.iri), other))
        right: Expression = Number(other) if info.text_numbers else other
        self.graph.conditions.append(Comparison(left, compared.relation, right))

    def _compared_noun(self, compared: Compared) -> Noun | None:
        for noun in (compared.left, compared.right):
            if noun is not None:
                found = self.noun(noun, "number")
                if found.kind == "property" and self.info(found).kind == "number":
                    return noun
        if compared.relation == "=" and compared.left is not None and not compared.adjective:
            return compared.right or compared.left
        return compared.right

    def _having(self, compared: Compared, noun: Noun) -> None:
        if not isinstance(compared.value, float | int):
            raise Unbuildable("counted against a thing")
        count = self._measure(Measure("count", noun))
        self.having.append(Comparison(count, compared.relation, _number(compared.value)))
        if isinstance(compared.upper, float):
            self.having.append(Comparison(count, "<=", _number(compared.upper)))

    def _time(self, noun: Noun | None, at: int) -> tuple[Expression, PropertyInfo]:
        """Return the date that a time in the question speaks of: the property beside it, or the likeliest."""
        if noun is not None:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                return self._property(found, noun), self.info(found)
        options = [i for i in self.schema.properties.values() if self._timely(i)]
        if not options:
            raise Unbuildable("no dates")
        hints = self._hints()
        around = {w.stem for w in self.question.words[max(0, at - 5) : at + 2]}

        def like(info: PropertyInfo) -> float:
            from mrag.text.tokens import content

            words = {s for name in info.names for s in content(name)}
            told = 0.35 * len(words & around) + 0.1 * len(words & set(hints))
            return told - 0.3 * self._distance(sorted(info.domains), at)

        info = max(options, key=lambda i: (like(i), i.iri))
        self.guesses += 1
        owner = self.graph.owner(sorted(info.domains, key=lambda c: (-info.domains[c], c)))
        return self.graph.value(owner, info), info

    @staticmethod
    def _timely(info: PropertyInfo) -> bool:
        if info.kind == "date":
            return True
        return info.kind == "number" and any("year" in name.lower().split() for name in info.names)

    def _in_period(self, compared: Compared, period: Period) -> None:
        value, info = self._time(compared.left or compared.right, compared.at)
        conditions = self.graph.conditions
        if period.low is None or period.high is None:
            if period.unit == "month":
                conditions.append(Comparison(DatePart("month", value), "=", Literal(int(period.text))))
                return
            conditions.append(Comparison(value, compared.relation, Literal(period.text, datatype=XSD.time)))
            return
        year = info.kind == "number"
        dated: Expression = value if year else DatePart("date", value)
        upper = compared.upper
        if isinstance(upper, Period) and upper.high is not None:
            conditions += compare_period(dated, ">=", f"{period.low}", f"{period.high}", year=year)
            conditions += compare_period(dated, "<=", f"{upper.low}", f"{upper.high}", year=year)
        else:
            conditions += compare_period(
                dated, compared.relation, f"{period.low}", f"{period.high}", year=year
            )

    def _text(self, text: TextCondition) -> None:
        graph = self.graph
        if text.noun is not None and (found := self.noun(text.noun)).kind == "property":
            value = self._property(found, text.noun)
        else:
            node = next((n for n in graph.nodes if isinstance(n.place, Unknown)), None)
            if text.noun is not None and found.kind == "class":
                node = graph.node_of(found.term)
            if node is None or not self.schema.label_properties:
                raise Unbuildable("text of what?")
            value = graph.fresh("label")
            graph.add(node.place, self.schema.label_properties[0], value)
        condition = Contains(value, text.text, text.position)
        if text.negated:
            last = graph.patterns[-1]
            graph.without.append(Block((last,), (condition,)))
        elif text.either and graph.conditions:
            graph.either.append((Block(conditions=(graph.conditions.pop(),)), Block(conditions=(condition,))))
        else:
            graph.conditions.append(condition)

    def _missing(self, noun: Noun) -> None:
        graph = self.graph
        found = self.noun(noun)
        graph.near = ()
        if found.kind == "property":
            info = self.info(found)
            owner = graph.owner(self._domains(found))
            if info.kind == "boolean":
                graph.conditions.append(Comparison(graph.value(owner, info), "=", Literal(False)))
                return
            if info.kind == "number" and info.minimum == "0":
                graph.conditions.append(Comparison(graph.number(owner, info), "=", Literal(0)))
                return
            graph.without.append(Block((Pattern(owner.place, URIRef(info.iri), graph.fresh("missing")),)))
            return
        graph.without.append(Block(self._reach([found.term])))

    # -- the whole ---------------------------------------------------------------------------------

    def _membership(self) -> None:
        """Ask for the class of a thing where a question asks only that: "Is Virtuoso a database?"."""
        graph, low = self.graph, self.question.low
        if not self.frame.yes_or_no or low[0] not in ("is", "are", "was", "were") or graph.patterns:
            return
        named = [n for n in graph.nodes if isinstance(n.place, URIRef)]
        typed = [n for n in graph.nodes if n.typed]
        if len(named) == len(typed) == 1 and len(graph.nodes) == 2 and not graph.wanted:
            graph.patterns.append(Pattern(named[0].place, RDF.type, URIRef(typed[0].classes[0])))
            graph.nodes.remove(typed[0])

    def _others(self) -> None:
        """Leave out the thing itself, where others that share something with it are asked for."""
        if not self.frame.same:
            return
        named = [n for n in self.graph.nodes if isinstance(n.place, URIRef)]
        for node in self.graph.nodes[:1]:
            for other in named:
                if set(node.classes) & set(other.classes) and isinstance(node.place, Unknown):
                    self.graph.conditions.append(Comparison(node.place, "!=", other.place))

    def _start(self) -> None:
        nodes = self.graph.nodes
        if not nodes:
            raise Unbuildable("nothing is named")

    def _plan(self, where: Block, columns: list[Column], order: list[Order]) -> Plan:
        top = self.frame.superlative
        limit, offset, ties = None, 0, False
        if top is not None and order:
            limit, offset, ties = top.n or 1, top.offset, top.n is None
        return Plan(where, tuple(columns), (), tuple(self.having), tuple(order), limit, offset, ties)

    def _ignored(self) -> tuple[str, ...]:
        words = self.question.words
        unread = [i for i in self.segmentation.ignored if i not in self.frame.read]
        for noun in self.frame.nouns:
            if not noun.role and not self._beside(noun) and not self._used(self.noun(noun)):
                unread.extend(range(noun.start, noun.end))
        return tuple(words[i].low for i in sorted(set(unread)) if self._matters(words[i]))

    def _used(self, found: Candidate) -> bool:
        """Return whether what a noun names is in the plan."""
        graph = self.graph
        if found.kind == "property":
            return found.term in graph.used or found.term in graph.read
        return any(found.term in node.classes for node in graph.nodes)

    def _matters(self, word: Word) -> bool:
        if not meaningful(word):
            return False
        # A word of a property that was used for a join is read.
        for iri in (*self.graph.used, *self.graph.read):
            info = self.schema.properties.get(iri)
            from mrag.text.tokens import content

            if info and any(
                _alike(word.stem, w) for text in (*info.names, info.comment) for w in content(text)
            ):
                return False
        if self.graph.used and ({word.low, word.stem, word.token.key} & _VERBS_OF_PLACE):
            self.guesses += 1
            return False
        return True


def _alike(one: str, other: str) -> bool:
    """Return whether two stems are of one word, as far as endings go."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > 3 and longer.startswith(shorter) and len(longer) - len(shorter) < 4


def _number(value: float) -> Literal:
    return Literal(int(value)) if float(value).is_integer() else Literal(value)
