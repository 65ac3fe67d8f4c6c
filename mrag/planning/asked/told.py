"""What a question tells to show, and what of that only repeats something shown already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrag.planning.asked.frequency import PlanFrequency
from mrag.planning.plan import Column, Expression, Unknown
from mrag.planning.reading.frame import IDENTIFYING, Noun, Output
from mrag.planning.schema import PropertyInfo


@dataclass
class PlanTold(PlanFrequency):
    """What a question tells to show."""

    def _told_otherwise(self, columns: Sequence[Column], shown: list[str]) -> list[str]:
        """Leave out the thing of each row where what is shown of it is listed: "their id and total"."""
        groups, outputs = self.frame.groups, self.frame.outputs
        if len(groups) != 1 or not isinstance(groups[0], Noun) or self.noun(groups[0]).kind != "class":
            return shown
        place = self.expression(groups[0])
        told = [self.noun(o) for o in outputs if isinstance(o, Noun) and self.noun(o).kind == "property"]
        own = [self.info(f) for f in told if self.info(f).kind != "entity"]
        said = {str(p.predicate) for p in self.graph.patterns if p.subject == place}
        keys = [i for i in own if i.iri in said and IDENTIFYING & {*i.names[0].lower().split()}]
        called = bool(keys) and not any(map(self._plainly_a_name, keys))
        # "The name of the buyer and the brand of the car for each sale" says nothing of the sale itself.
        last = max((o.start for o in outputs if isinstance(o, Noun)), default=0)
        plain = len(own) == len(outputs) > 1 and groups[0].start > last
        apart = plain and not any(i.iri in said for i in own)
        left = [c.name for c in columns if c.value == place] if called or apart else []
        return [name for name in shown if name not in left] or shown

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
        """Return whether a property is called "name", "title" or "label", perhaps behind its class."""
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
