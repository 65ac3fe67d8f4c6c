"""Verbs that no property is called by: what relates things of one kind, measures, or happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdflib import URIRef

from mrag.language.tokens import alike, content
from mrag.planning.asked.deeds import is_deed, told_by_event
from mrag.planning.asked.extremes import PlanExtremes
from mrag.planning.lexical.english import is_past, is_role, root, synonym_roots
from mrag.planning.plan import Aggregate, Comparison
from mrag.planning.reading.frame import Noun
from mrag.planning.reading.periods import Word
from mrag.planning.schema import PropertyInfo

MEASURING = frozenset(
    "last lasts lasted take takes took measure measures measured span spans spanned weigh weighs weighed "
    "run runs ran reach reaches reached stretch stretches stretched total totals totalled".split()
)
"""Verbs that say only that things have the number behind them."""
_SUPPORTING = frozenset(
    root(verb)
    for verb in "hold carry bear fly celebrate possess enjoy boast feature sport wear keep observe charge "
    "pay earn draw receive list quote display spend log devote collect gather accumulate amass achieve "
    "claim score complete".split()
)
"""Verbs that say little beside the noun behind them: "fly the flag of", "hold a licence"."""
_DONE = frozenset(map(root, ("score", "complete")))
"""Those that say so only behind the noun: "points scored"."""


_VERBS_OF_RELATION = frozenset(
    "flow touch pass cross lie run go goe lead stand serve work live situat surround "
    "write written wrote publish leave left post posted submit submitt".split()
)
"""Verbs that say no more than that things are related, where the graph has one way only to relate them."""

_RELATING = frozenset(map(root, ("host", "possess", "speak")))
"""Verbs that say no more than that where the things that they relate are near each other."""
_NEAR = 1.0
"""What joins of things that are near each other cost at most."""
_LEADING = frozenset(map(root, ("run", "lead", "ran", "led")))

_LIGHT = frozenset(
    "represent represented involve involved back backed see saw seen play played attend attended "
    "visit visited join joined use used".split()
)
"""Verbs that say no more than that where things are related to things, and no name beside them is a value."""

_BEING = frozenset("is are was were be been a an the who that also".split())
"""Words between a kind and a noun that says what its things are."""
_DEEDS = frozenset("write written wrote publish post posted submit submitt".split())
"""Those that say in which way somebody is related to a work."""


@dataclass
class PlanVerbs(PlanExtremes):
    """Verbs of a question that no property is called by."""

    def _named_ends(self) -> None:
        """Relate the ends of relations that nouns name to the named things behind them: "pupils of Ada"."""
        for noun, info in self._between_alike():
            self._end_of(noun, info)

    def _between_alike(self) -> Iterator[tuple[Noun, PropertyInfo]]:
        """Yield the nouns that have no role yet and name a relation between things of one kind."""
        for noun in self.frame.nouns:
            info = self.schema.properties.get(self.noun(noun).term) if not noun.role else None
            if info is not None and info.kind == "entity" and set(info.domains) & set(info.ranges):
                yield noun, info

    def _end_of(self, noun: Noun, info: PropertyInfo) -> None:
        low, graph = self.question.low, self.graph
        end = noun.end - (low[noun.end - 1] == "of")
        behind = [r for r in self.frame.restrictions if low[end : r.mention.start] in (["of"], ["of", "the"])]
        term = self.picked[behind[0].mention.end].term if len(behind) == 1 else ""
        if not any(n.fixed and n.place == URIRef(term) for n in graph.nodes) or info.iri in graph.used:
            return
        first = self.noun(noun).inverse or self._names_domain(noun, info)
        before = [n for n in self.frame.nouns if n.end <= noun.start and {*low[n.end : noun.start]} <= _BEING]
        same = next((self._node_of(n) for n in before if self.noun(n).kind == "class"), None)
        if self.frame.yes_or_no:
            others = [n for n in graph.nodes if n.fixed and n.place != URIRef(term)]
            same = others[0] if len(others) == 1 and noun.start > 1 else None
        if same is None and self.frame.yes_or_no:
            return
        ends = self.schema.likeliest(info.domains if first else info.ranges)
        node = same or graph.node_of(ends[0], new=True)
        graph.add(*((node.place, info.iri, URIRef(term)) if first else (URIRef(term), info.iri, node.place)))

    def _joinalike(self) -> None:
        """Join two things of one kind by a verb, the way the sentence runs: "papers that cite …"."""
        for noun, info in self._between_alike():
            self._joined_by(noun, info)

    def _joined_by(self, verb: Noun, info: PropertyInfo) -> None:
        alike, low = set(info.domains) & set(info.ranges), self.question.low
        places = {r.mention.candidates[0].term: r.mention.start for r in self.frame.restrictions}
        open_ = [n for n in self.graph.unnamed if alike & set(n.classes)]
        named = [n for n in self.graph.nodes if str(n.place) in places and alike & set(n.classes)]
        if low[verb.end : verb.end + 1] == ["of"] or not named or len(open_) + len(named) != 2:
            return
        named.sort(key=lambda n: places[str(n.place)])
        if not open_ and not places[str(named[0].place)] < verb.start < places[str(named[1].place)]:
            return
        first, last = (*open_, *named)
        if any({p.subject, p.object} == {first.place, last.place} for p in self.graph.patterns):
            return
        turned = bool(open_) and places[str(last.place)] < verb.start
        if turned != self._is_done_to(verb):
            first, last = last, first
        self.graph.add(first.place, info.iri, last.place)

    def _counts(self) -> set[int]:
        """Return where words name numbers, with a participle behind: "number of papers cited"."""
        spans = [(n.start, n.end) for n in self.frame.nouns if self._kind_of(n) == "number"]
        ends = {end for _, end in spans if "".join(self.question.low[end : end + 1]).endswith("ed")}
        return ends | {i for start, end in spans for i in range(start, end)}

    def _kind_of(self, noun: Noun) -> str:
        info = self.schema.properties.get(self.noun(noun).term)
        return info.kind if info is not None else ""

    def _measured_behind(self, at: int) -> bool:
        """Return whether the number that a verb speaks of is named: "lasted more than 5 nights"."""
        nouns = [
            n
            for c in self.frame.compared
            for n in (c.right, c.left)
            if n is not None and at < n.start < at + 7
        ]
        by = any(c.adjective and at < c.at < at + 7 for c in self.frame.compared)  # "lasted longer than"
        return by or any(self._kind_of(n) == "number" for n in nouns)

    def _verb_of_used(self, word: Word, at: int) -> bool:
        """Return whether a verb only says that things have what the plan shows: "what does a dose cost".

        It means the same as the property's name, or ends a question for it: "which instrument does Ada play".
        """
        low, used = self.question.low, {*self.graph.used, *self.graph.read}
        ends = {r.mention.end for r in self.frame.restrictions} | {n.end for n in self.frame.nouns}
        if not used or not is_deed(low, at, ends):
            return False
        infos = [i for iri in used if (i := self.schema.properties.get(iri)) is not None]
        if not is_past(word.low):
            # Which end of a relation between things of one kind a noun names is no small matter.
            infos = [i for i in infos if i.kind != "entity" or not {*i.domains} & {*i.ranges}]
        heads = {root(w) for i in infos for name in i.names for w in content(name)}
        said = root(word.low)
        meant = {said, *synonym_roots().get(said, ())}
        if any(alike(one, other) for one in meant for other in heads):
            return True
        shown = self.frame.outputs[0] if len(self.frame.outputs) == 1 else None
        last = at == len(low) - 1 and at in {r.mention.end for r in self.frame.restrictions}
        asked = low[0] in ("what", "which") and bool({"does", "do", "did"} & {*low[1:at]})
        if not (last and asked and isinstance(shown, Noun) and self.noun(shown).way == "exact"):
            return False
        self.guesses += 0.5
        return self._kind_of(shown) in ("text", "number", "date") or (
            self._kind_of(shown) == "entity" and len(used) == 1
        )

    def _supports(self, at: int) -> bool:
        """Return whether a verb says little beside a property that is named, whose value the plan has."""
        if root(self.question.low[at]) not in _SUPPORTING:
            return False
        # "Points scored" says no more than points; who "scored points" may be none of those that have them.
        end = at if root(self.question.low[at]) in _DONE else at + 7
        near = {w.stem for w in self.question.words[max(0, at - 6) : end]}
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        said = (name for i in infos if i is not None and i.kind != "entity" for name in i.names)
        if not any(near & {*content(name)} for name in said):
            return False
        self.guesses += 0.5
        return True

    def _happened(self, at: int) -> bool:
        """Return whether a verb says what happened, which the plan has as a thing: "sailed" of charters."""
        low = self.question.low
        ends = {r.mention.end for r in self.frame.restrictions} | {n.end for n in self.frame.nouns}
        return is_deed(low, at, ends) and told_by_event(low[at], self.graph, self.schema, self.likeness)

    def _words_of_used(self) -> set[str]:
        """Return the words in the names of the properties that are used."""
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        return {w for info in infos if info is not None for name in info.names for w in content(name)}

    def _leads_on(self, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        counted = any(isinstance(h, Comparison) and isinstance(h.left, Aggregate) for h in self.having)
        return info is not None and (info.kind == "entity" or counted)

    def _said_otherwise(self, word: Word) -> bool:
        """Return whether the graph has another word for a verb, of which the plan says nothing."""
        others = {*synonym_roots().get(root(word.low), ())}
        called = {iri: info.names for iri, info in self.schema.properties.items()}
        called |= {iri: info.names for iri, info in self.schema.classes.items()}
        meant = {
            i for i, names in called.items() if others & {root(w) for name in names for w in content(name)}
        }
        kinds = {c for node in self.graph.nodes for c in node.classes}
        return bool(meant) and not meant & {*self.graph.used, *self.graph.read, *kinds}

    def _only_relates(self, word: Word) -> bool:
        """Return whether a verb says no more than that things are related, and there is one way only."""
        light = word.low in _LIGHT or word.low.removesuffix("s") in _LIGHT
        if light and not all(self._leads_on(iri) for iri in (*self.graph.used, *self.graph.read)):
            return False  # where somebody has played is not where they come from
        known = {word.low, word.stem, word.token.key, root(word.low)} & _VERBS_OF_RELATION
        near = self.graph.cost < _NEAR and root(word.low) in _RELATING and not self._said_otherwise(word)
        if not (known or light or near) or is_role(word.low):
            return False  # a publisher is no author, though both have published
        if self.frame.asks == "who" and root(word.low) in _LEADING:
            return False  # who runs a bank is not anybody who works there
        said = word.low in _DEEDS or word.stem in _DEEDS
        return not (said and any(self.joins.rivals(iri) for iri in self.graph.used))
