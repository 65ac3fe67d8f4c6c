"""What the nouns, measures and times of a question stand for in its plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from mrag.language.tokens import alike, content, is_stopword, stem
from mrag.planning.asked.deeds import names_near_end
from mrag.planning.asked.sums import PlanSums
from mrag.planning.building.checks import refuse_things
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.derived.spans import BEGINS_OR_ENDS, when_said
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import root, synonym_roots
from mrag.planning.plan import Aggregate, DatePart, Expression, Unknown
from mrag.planning.profile.names import is_value
from mrag.planning.reading.frame import FrameMeasure, Noun, Output, TimeUnit
from mrag.planning.reading.nouns import OWNING
from mrag.planning.schema import PropertyInfo, by_number

_UNITS = frozenset(stem(w) for w in ("year", "month", "day", "date", "time", "quarter"))
"""What says of a property only that it is a time."""
_DISTINCT = frozenset("different distinct unique".split())
_DATED = frozenset(
    "founded established built opened released published born started launched created since".split()
)
"""Words of properties whose numbers between 1000 and 2200 are years."""


@dataclass
class PlanExpressions(PlanSums):
    """What the nouns, measures and times of a question stand for in its plan."""

    def expression(self, output: Output) -> Expression:
        """Return what a noun, a measure or a unit of time stands for in the query."""
        if isinstance(output, TimeUnit):
            value, info = self._time(None, output.start)
            part = "year-month" if output.part == "month" else output.part
            return value if info.kind == "number" else DatePart(part, value)
        if isinstance(output, FrameMeasure):
            return self._measure(output)
        if (found := self.noun(output)).kind == "class":
            return self.graph.node_of(found.term, typed=True).place
        return self._holders(found, output) or self._property(found, output)

    def _property(self, found: Candidate, noun: Noun | None, owner: PlanNode | None = None) -> Expression:
        info = self.info(found)
        if owner is None or not set(owner.classes) & set(info.domains):
            owner = self._whose(found, noun) if noun is not None else None
        owner = owner or self.graph.owner(self._domains(found))
        kinds = self.schema.narrowest(self._domains(found))
        if owner.fixed and not any(self.graph.compatible(c, owner.classes) for c in kinds):
            self.guesses += 1  # others of a wider kind have it, but nothing of its own
        if noun is not None and info.kind == "entity" and self._done_to(noun, info):
            doing = self.graph.node_of(owner.classes[0], new=True)
            self.graph.add(doing.place, info.iri, owner.place)
            return doing.place
        if info.kind != "entity":
            return self.graph.number(owner, info) if info.kind == "number" else self.graph.value(owner, info)
        ranges = self.schema.likeliest(info.ranges)
        asked = noun is not None and noun.role in ("output", "measure")
        # The authors of Ada, who is one, are not what she has written.
        far = noun is not None and self._names_range(noun, info)
        whole = self._whole(info) if asked and not far else None
        if whole is not None and not found.inverse and isinstance(owner.place, Unknown):
            self.graph.add(owner.place, info.iri, whole)
            return owner.place
        if found.inverse or ((asked or not owner.typed) and self._names_domain(noun, info)):
            counted = found.inverse and noun is not None and noun.role == "measure"
            if (counted or isinstance(owner.place, URIRef)) and set(owner.classes) & set(ranges):
                near = self.graph.node_of(self._domains(found)[0], new=True)  # "tributaries of the Elbe"
                self.graph.add(near.place, info.iri, owner.place)
                return near.place
            others = [n for n in self.graph.nodes if n is not owner]
            target = next((n for n in others if set(n.classes) & set(ranges)), None)
            target = target or self.graph.node_of(ranges[0] if ranges else "", new=True)
            self.graph.add(owner.place, info.iri, target.place)
            # What is named is known: the other end is asked for.
            return target.place if isinstance(owner.place, URIRef) else owner.place
        both = noun is not None and self._owner_of_both(found, noun) is owner
        taken = {p.object for p in self.graph.patterns if both and p.subject == owner.place}
        taken -= {p.object for p in self.graph.patterns if p.predicate == URIRef(info.iri)}
        fitting = (
            n
            for n in self.graph.nodes
            if n is not owner and isinstance(n.place, Unknown) and set(n.classes) & set(ranges)
        )
        target = next((n for n in fitting if n.place not in taken), None) or self.graph.node_of(
            ranges[0] if ranges else "", new=True
        )
        self.graph.add(owner.place, info.iri, target.place)
        return target.place

    def _done_to(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether a noun made of a verb says what was done to things: a paper's "citations"."""
        word = self.question.low[noun.end - 1]
        own = any(word.removesuffix("s") in name.lower() for name in info.names)
        return word.endswith(("tion", "tions")) and not own and bool({*info.domains} & {*info.ranges})

    def _names_range(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether a noun is that of the things a property leads to, rather than a verb."""
        verb = self.question.low[noun.end - 1].endswith(("ed", "by"))
        return not verb and any(c.kind == "class" and c.term in info.ranges for c in noun.candidates)

    def _names_domain(self, noun: Noun | None, info: PropertyInfo) -> bool:
        """Return whether a noun is that of the things a property is said of: the "members" of "member of"."""
        if noun is None:
            return False
        said = [w.low for w in self.question.words[noun.start : noun.end]]
        ends = {w for c in info.ranges for name in self._names_of(c) for w in content(name)}
        return self.question.low[-1] != "of" and names_near_end(said, info.names, ends)

    def _whole(self, info: PropertyInfo) -> URIRef | None:
        """Return the named thing at the far end of a property: "members of NATO" asks for the near end."""
        named = self.graph.named
        far = [
            n for n in named if set(n.classes) <= set(info.ranges) and not set(n.classes) & set(info.domains)
        ]
        near = [n for n in named if set(n.classes) & set(info.domains)]
        place = far[0].place if len(far) == 1 and not near else None
        return place if isinstance(place, URIRef) else None

    def _whose(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return what a property is asked of: "the population of the capital"."""
        low = self.question.low
        if (shared := self._owner_of_both(found, noun)) is not None:
            return shared
        if (having := self._having_it(found, noun)) is not None:
            return having
        for other in self.frame.nouns:
            between = low[noun.end : other.start]
            if other.start >= noun.end and between and between[0] == "of" and set(between) <= OWNING:
                node = self._node_of(other) or self._called_so(other, found)
                if node is not None and set(node.classes) & set(self._domains(found)):
                    return node
            if other.start >= noun.end and other.role == "" and self._named_behind(other):
                kind = self.noun(other)
                if kind.kind == "property" and set(self.info(kind).ranges) & set(self._domains(found)):
                    return self._node_of(other)
        return None

    def _called_so(self, noun: Noun, found: Candidate) -> PlanNode | None:
        """Return the thing whose name a text is: the population of the capital, where that is only named."""
        called, graph = self.noun(noun), self.graph
        info = self.schema.properties.get(called.term)
        if info is None or info.kind != "text" or not self.schema.label_properties:
            return None
        kinds = [c for c in self._domains(found) if c not in info.domains]
        if len(kinds) != 1 or not set(self._domains(found)) & set(info.domains):
            return None
        owner = graph.owner(sorted(info.domains))
        node = graph.node_of(kinds[0], typed=True, new=True)
        graph.add(node.place, self.schema.label_properties[0], graph.value(owner, info))
        graph.linked.add((node.place, owner.place))
        self.guesses += 0.5
        return node

    def _having_it(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return what is said to have a property: the city in "the city with the largest population"."""
        before = [n for n in self.frame.nouns if n.end < noun.start]
        other = max(before, key=lambda n: n.end, default=None)
        if other is None or self.noun(other).kind != "class":
            return None
        between = self.question.low[other.end : noun.start]
        if not {"with", "having", "whose"} & set(between[:1]) or len(between) > 3:
            return None
        node = self._node_of(other)
        return node if node is not None and set(node.classes) & set(self._domains(found)) else None

    def _named_behind(self, noun: Noun) -> bool:
        """Return whether a noun is said of a thing: "the capital of Texas"."""
        low = self.question.low
        end = noun.end - (low[noun.end - 1] == "of")
        return any(low[end : r.mention.start] in (["of"], ["of", "the"]) for r in self.frame.restrictions)

    def _node_of(self, noun: Noun | None) -> PlanNode | None:
        """Return the node that a noun stands for, if it stands for things."""
        if noun is None:
            return None
        found = self.noun(noun)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True)
        if self.info(found).kind != "entity":
            return None
        return self.graph.at(self._property(found, noun))

    def _measure(self, measure: FrameMeasure) -> Expression:
        if measure.noun is None:
            return Aggregate("count", None, (self._unknown(self._focus()),))
        function = measure.function
        found = self.noun(measure.noun)
        if found.kind == "class":
            if (recorded := self._recorded(found.term, measure)) is not None:
                return recorded
            other = self._related(found.term, measure.noun) or self.graph.node_of(found.term, typed=True)
            return Aggregate("count", None, (self._unknown(other),))
        info = self.info(found)
        if function == "count" and (holders := self._holders(found, measure.noun)) is not None:
            return Aggregate("count", None, (holders,))
        if function == "count" and (others := self._counted_kind(measure.noun, info)) is not None:
            return Aggregate("count", None, (others,))
        value = self._property(found, measure.noun)
        if function is None:
            return value
        owner = self.graph.owner(self._domains(found))
        if info.kind == "entity" and function != "count" and (money := self._sum_of(measure, info)):
            return money
        if info.kind == "entity":
            refuse_things(function, self.question)
            return Aggregate(
                "count", None, (value,) if isinstance(value, Unknown) else (self._unknown(owner),)
            )
        if function == "count":
            if info.kind == "number" and self._different(measure.noun):
                return Aggregate("count", None, (self.graph.value(owner, info),))
            if info.kind != "number":
                return Aggregate("count", None, (value,) if isinstance(value, Unknown) else ())
            if is_value(info.names):
                raise Unbuildable("a value is no number of things")
            function = "sum"
        if owner.fixed:
            return value
        return Aggregate(function, value, (owner.place,) if isinstance(owner.place, Unknown) else ())

    def _different(self, noun: Noun) -> bool:
        """Return whether the values of a noun are counted, each once: "how many different codes"."""
        return bool(_DISTINCT & {*self.question.low[max(0, noun.start - 2) : noun.start]})

    def _related(self, cls: str, noun: Noun) -> PlanNode | None:
        """Return the other things of a class that a verb relates those shown to: "borders most states"."""
        shown = [o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs]
        others = [o for o in shown if isinstance(o, Noun) and o is not noun]
        if not any(self.noun(o).term == cls for o in others):
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term)
            own = info is not None and cls in info.domains and cls in info.ranges
            if verb.role == "" and found.kind == "property" and info is not None and own:
                node = self.graph.node_of(cls, typed=True)
                other = self.graph.node_of(cls, typed=True, new=True)
                ends = (node.place, other.place)
                one, far = reversed(ends) if self._is_done_to(verb) else ends
                self.graph.add(one, info.iri, far)
                return other
        return None

    def _time(
        self, noun: Noun | None, at: int, classes: Collection[str] = ()
    ) -> tuple[Expression, PropertyInfo]:
        """Return the date that a time in the question speaks of: the property beside it, or the likeliest.

        Args:
            noun: What is beside the time.
            at: Where it stands.
            classes: What it is likely said of.
        """
        if noun is not None:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                return self._property(found, noun), self.info(found)
            led = self.schema.properties.get(found.term)
            ends = led.ranges if led is not None and led.kind == "entity" else {}
            head = self.question.words[noun.end - 1].stem
            if any(head in content(name) for c in ends for name in self._names_of(c)):
                classes = [*classes, *ends]  # "lost in a battle before 1802" dates the battle
            unsure = found.kind == "property" and not noun.role and found.score < 0.75
            if unsure and found.score in self.matches:
                self.matches.remove(found.score)  # "published in 2005" is said of the year
        options = [i for i in self.schema.properties.values() if self._timely(i)]
        if not options:
            raise Unbuildable("no dates")
        hints = self._hints()
        measured = [m.noun for m in self.frame.measures if m.noun is not None]
        counted = {f.term for n in measured if (f := self.noun(n)).kind == "class"}
        counted |= {d for n in measured if (f := self.noun(n)).kind == "property" for d in self._domains(f)}
        around = {w.stem for w in self.question.words[max(0, at - 5) : at + 2]}
        before = range(max(0, at - 3), at)
        verbs = {root(self.question.low[i]) for i in before if not is_stopword(self.question.low[i])}
        verbs |= {other for verb in verbs for other in synonym_roots().get(verb, ())}
        begins = [i for i, w in enumerate(self.question.low) if root(w) in BEGINS_OR_ENDS]
        verbs |= {root(self.question.low[i]) for i in begins[:1]}

        def like(info: PropertyInfo) -> float:
            words = {s for name in info.names for s in content(name)} - _UNITS
            near = {w for w in words if any(alike(w, other) for other in around)}
            # The order date of an order says no more than its date, the delivery date does.
            special = words - {s for c in info.domains for name in self._names_of(c) for s in content(name)}
            told = 0.5 * bool(set(info.domains) & counted) - 0.3 * bool(
                special and not near and not words & set(hints)
            )
            told += 0.6 * bool(set(info.domains) & set(classes))
            told += 0.35 * len(near) + 0.1 * len(words & set(hints))
            # "Departed on a Tuesday" says which date is meant, "began" says so of a start.
            meant = verbs & (when_said(self.schema, info.iri) | {root(w) for w in words})
            told += 0.6 * (bool(meant) or any(alike(w, v) for w in words for v in verbs))
            open_ = self.graph.unnamed
            named = [n for n in self.graph.nodes if n not in open_ and set(n.classes) & set(info.domains)]
            if named and not any(set(n.classes) & set(info.domains) for n in open_):
                told -= 0.4  # what is named is seldom dated, what is asked for is
            return told - 0.3 * self._distance(sorted(info.domains), at)

        info = max(options, key=lambda i: (round(like(i), 6), i.subjects, i.iri))
        self.guesses += 1
        said = when_said(self.schema, info.iri)
        self.frame.read |= {i for i in begins[:1] if root(self.question.low[i]) in said}
        owner = self.graph.owner(by_number(info.domains))
        return self.graph.value(owner, info), info

    def _names_of(self, cls: str) -> Sequence[str]:
        info = self.schema.classes.get(cls)
        return info.names if info is not None else ()

    @staticmethod
    def _timely(info: PropertyInfo) -> bool:
        if info.kind == "date":
            return True
        words = {w for name in info.names for w in name.lower().split()}
        if info.kind != "number" or "year" in words:
            return info.kind == "number"
        years = [int(v) for v in (info.minimum, info.maximum) if v.isdigit()]
        return len(years) == 2 and years[0] > 1000 and years[1] < 2200 and not words.isdisjoint(_DATED)

    def _said_of(
        self, options: Sequence[tuple[Candidate, str]], noun: Noun | None, *, only: bool = False
    ) -> Sequence[tuple[Candidate, str]]:
        """Return those of an adjective's properties that the things it is said of have; else all, or none."""
        classes = self._classes_of(noun) if noun is not None else []
        own = [o for o in options if any(self.graph.compatible(c, classes) for c in self._domains(o[0]))]
        return own or ([] if only else options)

    def _classes_of(self, noun: Noun) -> list[str]:
        found = self.noun(noun)
        if found.kind == "class":
            return [found.term]
        info = self.info(found)
        return list(info.domains if found.inverse or info.kind != "entity" else info.ranges)
