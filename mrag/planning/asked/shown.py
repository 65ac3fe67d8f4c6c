"""What is shown of a question that does not say so by nouns: who did something, when, and how much in all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from mrag.planning.asked.told import PlanTold
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import is_role
from mrag.planning.plan import Aggregate, Expression, Number, Unknown
from mrag.planning.reading.frame import FrameMeasure, Noun, Output, TimeUnit
from mrag.planning.schema import most_of

_ENDS_OF_TIME = ("first", "last", "latest", "earliest")
_DID = frozenset("did has have does do had".split())
_DOING = frozenset("who has have had also ever first".split())
"""Words before the verb of a "who" that did something, rather than had it done."""


@dataclass
class PlanShown(PlanTold):
    """What is shown of a question that does not say so by nouns."""

    def _added_up(self, output: Output, value: Expression) -> Expression:
        """Return the sum of what somebody did: "how far did Ada drive" adds up her trips."""
        low = self.question.low
        asked = low[0] == "how" and isinstance(output, Noun) and output.start == 1
        if not asked or not _DID & {*low[2:3]} or not isinstance(value, Unknown | Number):
            return value
        owner = self.graph.owner(self._domains(self.noun(cast(Noun, output)))).place
        return Aggregate("sum", value, (owner,)) if isinstance(owner, Unknown) else value

    def _ungrouped(self) -> None:
        """Leave out a group of things that have one number each: "the average number of nights per stay"."""
        groups, measures = self.frame.groups, self.frame.measures
        if (
            len(groups) != 1
            or not isinstance(groups[0], Noun)
            or len(measures) != 1
            or measures[0].noun is None
        ):
            return
        others = [n for n in self.frame.nouns if n not in (groups[0], measures[0].noun)]
        if any(self.noun(n).kind == "class" for n in others):
            return  # "the average population of cities per state"
        kind, number = self.noun(groups[0]), self.noun(measures[0].noun, "number")
        info = self.schema.properties.get(number.term)
        averaged = kind.kind == "class" and measures[0].function == "average"
        if averaged and info is not None and info.functional and kind.term in info.domains:
            self.frame.groups = []

    def _doer(self) -> Unknown | None:
        """Return whom a "who" asks for that did something to things: "who wrote the longest play"."""
        frame, low = self.frame, self.question.low
        verb = next((n for n in frame.nouns if n.role in ("", "output") and n.start <= 3), None)
        if frame.asks != "who" or verb is None or frame.groups or low[verb.start - 1] not in _DOING:
            return None
        behind = [n for n in frame.nouns if n.start >= verb.end and self.noun(n).kind == "class"]
        found = self.noun(verb)
        info = self.schema.properties.get(found.term) if found.kind == "property" else None
        if info is None or info.kind != "entity" or not behind:
            return None
        if any(o is not verb and o not in behind for o in self._nouns()):
            return None
        thing = self.graph.node_of(self.noun(behind[0]).term, typed=True)
        if not isinstance(thing.place, Unknown) or {"of"} & {*low[verb.end : behind[0].start]}:
            return None
        is_subject, is_object = (self._of_kind(thing.classes, ends) for ends in (info.domains, info.ranges))
        if is_subject and is_object:
            said = "by" in low[verb.start : behind[0].start]
            is_subject = said != found.name.lower().endswith(" by")
        elif not is_subject and not is_object:
            return None
        ends = info.ranges if is_subject else info.domains
        other = self.graph.node_of(most_of(ends), new=True)
        if is_subject:
            self.graph.add(thing.place, info.iri, other.place)
        else:
            self.graph.add(other.place, info.iri, thing.place)
        frame.outputs = []
        return other.place if isinstance(other.place, Unknown) else None

    def _nouns(self) -> list[Noun | None]:
        """Return the nouns of what is shown."""
        return [o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs
                if not isinstance(o, TimeUnit)]  # fmt: skip

    def _of_kind(self, classes: Sequence[str], ends: Collection[str]) -> bool:
        return any(self.graph.compatible(c, classes) for c in ends)

    def _timed_outputs(self) -> list[Output]:
        """Return what is shown; where a question asks when something was, a time in the place of its verb."""
        outputs = self.frame.outputs
        nouns = [self.noun(o) for o in outputs if isinstance(o, Noun)]
        if self.frame.asks != "when" or len(nouns) != len(outputs):
            return outputs
        top = self.frame.superlative
        visit = len(nouns) == 1 and nouns[0].kind == "class"
        if visit and (verb := self._time_verb(outputs[0])) is not None:
            return [verb]
        if visit and (top is None or top.adjective not in _ENDS_OF_TIME):
            # "When was it serviced" asks for the dates of services, if these have any.
            infos = self.schema.properties.values()
            done = top is None and not is_role(nouns[0].name.split()[-1])  # "written" asks for no writer
            visit = done and any(i.kind == "date" and nouns[0].term in i.domains for i in infos)
        if not visit and any(f.kind != "property" or self.info(f).kind != "entity" for f in nouns):
            return outputs
        at = min((o.start for o in outputs if isinstance(o, Noun)), default=len(self.question.low) - 1)
        verbs = [
            (o, f)
            for o, f in zip(outputs, nouns, strict=True)
            if f.kind == "property" and isinstance(o, Noun)
        ]
        meant = [c for o, f in verbs for c in o.candidates if c.score >= f.score and self._is_of_time(c)]
        domains = [c for f in nouns if f.kind == "property" for c in self._domains(f)]
        info = self.info(meant[0]) if meant else self._time(None, at, domains)[1]
        score = 0.9 if outputs else 0.8
        found = Candidate("property", info.iri, score, info.names[0], "meaning")
        time = Noun(at, at + 1, (found,), "output", implied=True)
        self.frame.nouns.append(time)
        self.matches = [m for m in self.matches if m not in [f.score for f in nouns]] + [score]
        return [time]

    def _is_of_time(self, candidate: Candidate) -> bool:
        return candidate.kind == "property" and self._timely(self.info(candidate))

    def _time_verb(self, thing: Output) -> Noun | None:
        """Return the verb that says of which time a question asks: "when was the oldest book published"."""
        behind = [
            n for n in self.frame.nouns if isinstance(thing, Noun) and n.start == thing.end and not n.role
        ]
        for noun in behind:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                noun.role = "output"
                return noun
        return None
