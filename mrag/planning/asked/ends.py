"""What a question asks for without naming it: the other end of a relation, a place, who has a flag."""

from __future__ import annotations

from dataclasses import dataclass

from rdflib import URIRef

from mrag.planning.building.choices import PlanChoices
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import is_doer, is_done, is_past, is_role, root
from mrag.planning.lexical.schema_words import voice_of
from mrag.planning.plan import Comparison, Expression, Unknown
from mrag.planning.profile.usage import NOWHERE, PLACE_WORDS, place_rank
from mrag.planning.reading.frame import Noun
from mrag.planning.reading.nouns import OWNING
from mrag.planning.reading.state import PARTICIPLES
from mrag.planning.schema import PropertyInfo, by_number, most_of

_BESIDE = frozenset("and the both their his her its".split())
"""Words between properties that are asked of the same thing."""
_HOLDERS = frozenset("holder holders owner owners recipient recipients bearer bearers".split())


@dataclass
class PlanEnds(PlanChoices):
    """What a question asks for without naming it."""

    def _property(self, found: Candidate, noun: Noun | None, owner: PlanNode | None = None) -> Expression:
        """Return what a property stands for; `PlanExpressions` knows."""
        raise NotImplementedError

    def _owner_of_both(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return the named thing of which two properties are asked: "the father and mother of Ada"."""
        low, (start, end) = self.question.low, (noun.start, noun.end)
        for other in [*self.frame.nouns] * 2:
            if self._listed(end, other.start) or self._listed(other.end, start):
                start, end = min(start, other.start), max(end, other.end)
        if (start, end) == (noun.start, noun.end):
            return None
        end -= low[end - 1] == "of"
        for restriction in self.frame.restrictions:
            mention = restriction.mention
            after = low[end : mention.start]
            owned = mention.end == start and low[start - 1].endswith(("'s", "’s", "s'", "s’"))
            named = self.picked.get(mention.end)
            if named is not None and named.kind == "entity" and (owned or ({"of"} <= {*after} <= OWNING)):
                node = self.graph.at(URIRef(named.term))
                return node if node is not None and {*node.classes} & {*self._domains(found)} else None
        return None

    def _listed(self, end: int, start: int) -> bool:
        """Return whether only an "and" or a comma is between two nouns."""
        between = self.question.low[end:start]
        listed = end == start and "," in self.question.words[start].before
        return listed or ("and" in between and {*between} <= _BESIDE)

    def _holders(self, found: Candidate, noun: Noun) -> Unknown | None:
        """Return the things of which a flag holds, where a question is for these: "scholarship holders"."""
        info = self.info(found)
        low = self.question.low
        said = bool(_HOLDERS & {*low[noun.end : noun.end + 1]})
        if info.flag and noun.start and low[noun.start - 1] in ("been", "is", "are", "was", "were"):
            raise Unbuildable("what is said of things is not shown")
        head = low[noun.end - 1]
        last = root(found.name.split()[-1])
        if (
            info.kind in ("number", "date")
            and (found.way, noun.role) == ("tokens", "output")
            and head.endswith("s")
            and low[noun.end : noun.end + 1] != ["of"]
            and last not in {root(word) for word in low[noun.start : noun.end]}
        ):
            # "Dams higher than 100 metres" asks for what has a dam height, not for heights.
            owner = self.graph.owner(self._domains(found), constants=False)
            self.guesses += 0.5
            return owner.place if isinstance(owner.place, Unknown) else None
        several = head.endswith("s") and is_role(head.removesuffix("s"))  # "list the premium members"
        if not info.flag or info.iri in self.graph.used or not (said or several or noun.role == "measure"):
            return None
        owner = self.graph.owner(self._domains(found), constants=False)
        if not isinstance(owner.place, Unknown):
            return None
        true = Comparison(self.graph.value(owner, info), "=", info.truth_value(True))
        self.graph.conditions.append(true)
        self.frame.read.update({noun.end} if said else ())
        return owner.place

    def _is_done_to(self, verb: Noun) -> bool:
        """Return whether a verb leads from what it is done to: "cited by", "required for", "advises"."""
        low, behind = self.question.low, "".join(self.question.low[verb.end : verb.end + 1])
        noun, found = low[verb.start - 1] in ("a", "an", "the"), self.noun(verb)
        if behind == "than":
            return not found.inverse  # what is broader than a thing is what the thing has as broader
        passive = noun or is_past(low[verb.end - 1]) or low[verb.end - 1] in PARTICIPLES
        passive = "by" in (low[verb.end - 1], behind) or (passive and behind == "for")
        head, said = found.name.lower().split()[-1], low[verb.start]
        agent = is_role(head) and not is_role(said.removesuffix("s")) and root(head) == root(said)
        # What is "referred by" somebody is where a property called so leads from.
        return passive != (agent or found.inverse or head == "by")

    def _other_end(self) -> PlanNode | None:
        """Return what a verb relates to the only thing that is named: "who develops GraphDB"."""
        named = self.graph.named
        if len(named) != 1 or len(self.graph.nodes) != 1:
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term) if found.kind == "property" else None
            if info is None or info.kind != "entity":
                continue
            classes, place = set(named[0].classes), named[0].place
            forward = bool(classes & set(info.domains))
            at = next((r.mention.start for r in self.frame.restrictions), 0)
            if forward and classes & set(info.ranges) and verb.start == 1 and verb.end <= at:
                forward = "by" in self.question.low[verb.end : at]  # "who reports to Ada" asks for no boss
            word = self.question.low[verb.start]
            if classes & set(info.domains) & set(info.ranges) and found.name.lower().endswith(" by"):
                forward = "by" not in self.question.low[verb.start : at]  # "who was referred by Ada"
            if classes & set(info.domains) & set(info.ranges) and is_doer(found.name, word):
                voices = voice_of([word]), voice_of([found.name])
                # "Who taught Ada" asks for her teacher, at whichever end that is.
                forward = found.inverse == ("" not in voices and voices[0] != voices[1])
            if not forward and not classes & set(info.ranges):
                continue
            ends = info.ranges if forward else info.domains
            other = self.graph.node_of(most_of(ends), new=True)
            if not forward and not classes <= set(info.ranges):
                return other if self._somewhere_in(other, info, named[0]) else None
            self.graph.add(*((place, info.iri, other.place) if forward else (other.place, info.iri, place)))
            return other
        return None

    def _somewhere_in(self, who: PlanNode, info: PropertyInfo, whole: PlanNode) -> bool:
        """Relate things to what lies in a named thing, if they are never related to things of its kind.

        Who was born in a country was born in a city of it.
        """
        sizes = {c: self.schema.classes[c].count for c in info.ranges if c in self.schema.classes}
        near = [c for c in sizes if info.ranges[c] == max(info.ranges.values())]
        kind = min(near, key=lambda c: (sizes[c], c), default="")
        way = self.joins.path([kind], self.graph.narrowest_of(whole))
        if way is None or len(way[1]) != 1 or not way[1][0].forward:
            return False
        part = self.graph.node_of(kind, new=True)
        self.graph.add(who.place, info.iri, part.place)
        self.graph.add(part.place, way[1][0].property, whole.place)
        return True

    def _place_of(self, node: PlanNode) -> PlanNode | None:
        """Return where a thing is, by a property that leads to a place."""
        said = {word.stem for word in self.question.words}
        found = [
            (rank, info.iri)
            for info in self.schema.properties.values()
            if info.kind == "entity" and set(info.domains) & set(node.classes)
            and (rank := place_rank(info, self.schema, said)) < NOWHERE
        ]  # fmt: skip
        if not found:
            return None
        info = self.schema.properties[min(found)[1]]
        target = self.graph.node_of(next(iter(by_number(info.ranges)), ""), new=True)
        self.graph.add(node.place, info.iri, target.place)
        return target

    def _place_told(self, node: PlanNode) -> PlanNode | None:
        """Return the place that a thing has by name alone: the country that a band comes from."""
        born = {"born", "birth"} & {*self.question.low}
        found = [
            (min(map(PLACE_WORDS.index, said)), info.iri)
            for info in self.schema.properties.values()
            if info.kind == "text" and set(info.domains) & set(node.classes)
            and (said := {*PLACE_WORDS} & {*info.names[0].lower().split()})
            and bool(born) == ("birth" in info.names[0].lower().split())
        ]  # fmt: skip
        if not found:
            return None
        self.guesses += 0.5 * (len(found) > 1)
        value = self.graph.value(node, self.schema.properties[min(found)[1]])
        return PlanNode(value, ("",))

    def _is_thing(self, value: Unknown) -> bool:
        """Return whether an unknown stands for things rather than for values."""
        infos = (
            self.schema.properties.get(str(p.predicate)) for p in self.graph.patterns if p.object == value
        )
        return any(i is not None and i.kind == "entity" for i in infos)

    def _asks_for_its_subject(self) -> bool:
        """Return whether what did something is shown instead of what it did: "what did customers buy"."""
        low = self.question.low
        if low[0] != "what" or low[1:2] not in (["did"], ["do"], ["does"]):
            return False
        shown = [o for o in self.frame.outputs if isinstance(o, Noun)]
        return any(o.end < len(low) and self.noun(o).kind == "class" for o in shown[:1])

    def _shows_when_done(self) -> bool:
        """Return whether a verb would be shown that bounds what is asked for: "women born before 1945"."""
        low = self.question.low
        shown = [o for o in self.frame.outputs if isinstance(o, Noun) and not o.implied]
        done = [o for o in shown if low[o.end - 1] == "born" or is_done(low[o.end - 1])]
        return any(o in (c.left, c.right) or c.at == o.end for o in done for c in self.frame.compared)
