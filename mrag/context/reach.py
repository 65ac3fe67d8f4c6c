"""What an expansion reaches: the triples around hits, those behind unnamed nodes, and axioms about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyoxigraph as ox

from mrag.context.asked import AskedProperties
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, Statement, labels, read, read_axioms, read_of
from mrag.context.render import CutList
from mrag.context.settings import ContextSettings
from mrag.context.weights import ReachedTriple
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, OxTerm
from mrag.text.stopwords import content_words

_TYPE = RDF + "type"
_SCHEMA = (
    RDFS + "subClassOf",
    RDFS + "subPropertyOf",
    OWL + "equivalentClass",
    OWL + "disjointWith",
    OWL + "inverseOf",
    OWL + "propertyChainAxiom",
    RDFS + "domain",
    RDFS + "range",
)
_TRIVIAL_CLASSES = {
    OWL + "Thing",
    OWL + "NamedIndividual",
    RDFS + "Resource",
    RDFS + "Literal",
    OWL + "Class",
    OWL + "Restriction",
    OWL + "ObjectProperty",
    OWL + "DatatypeProperty",
    OWL + "AnnotationProperty",
    OWL + "FunctionalProperty",
    RDF + "List",
    RDF + "Property",
    RDFS + "Class",
}
"""Types that every entity, class or property has."""


class Reach:
    """Gathers the triples in reach of hits.

    Args:
        kg: The knowledge graph.
        display: Shows terms, for the words that they share with the question.
        settings: The knobs.
        question: The question; may be empty.

    Attributes:
        question: Its words.
        found: The triples by subject, predicate and object, in the order in which they were reached.
        dropped: How many triples were left out, by reason.
        lists: What a limit for each entity and predicate cut.
        cut: Predicates of which a hub has more triples than were read.
    """

    def __init__(
        self, kg: KnowledgeGraph, display: Display, settings: ContextSettings, question: str
    ) -> None:
        self.kg, self.display, self.settings = kg, display, settings
        self.question = content_words(question)
        self._text = question
        self.found: dict[tuple[str, str, str], ReachedTriple] = {}
        self.dropped: Counter[str] = Counter()
        self.cut: set[str] = set()
        self.lists: list[CutList] = []

    def gather(self, seeds: Sequence[str]) -> None:
        """Take in what stands around the hits, best first."""
        for at, iri in enumerate(seeds):
            self._neighbours(iri, at, 1, (iri,), self.settings.directions)
            self._through_relations(iri, at)
        if self.settings.hops == 2:
            self._second_hop(seeds)
        elif self._text and self.settings.asked_hop:
            self._asked_hop(seeds)

    def schema(self) -> list[ReachedTriple]:
        """Return axioms about the predicates and classes in reach, those of the most frequent first."""
        counts: Counter[str] = Counter()
        for candidate in self.found.values():
            _, p, o, _ = candidate.statement
            counts[p] += 1
            if p == _TYPE and isinstance(o, ox.NamedNode):
                counts[o.value] += 1
        found: dict[tuple[str, str, str], ReachedTriple] = {}
        by_axiom: dict[str, list[ReachedTriple]] = {p: [] for p in _SCHEMA}
        symbols = sorted(
            (s for s in counts if not s.startswith((RDF, RDFS, OWL))), key=lambda s: (-counts[s], s)
        )
        scan, share = self.settings.scan, self.settings.per_predicate
        for symbol in symbols:
            axioms = read_axioms(self.kg, symbol, by_axiom, scan=scan, share=share)
            for statement in sorted(axioms, key=lambda x: (x[1], str(x[2]))):
                key = statement[0], statement[1], str(statement[2])
                if not self._unwanted(statement, "out") and key not in self.found and key not in found:
                    found[key] = ReachedTriple(statement, -1, 0, "out", 0, ())
                    by_axiom[statement[1]].append(found[key])
        # One of each kind in turn, so that forty domains do not hide the one disjointness.
        ordered: list[ReachedTriple] = []
        while any(by_axiom.values()):
            ordered.extend(group.pop(0) for group in by_axiom.values() if group)
        return ordered

    def _neighbours(
        self, entity: str, seed: int, hop: int, path: tuple[str, ...], directions: Sequence[Direction],
        only: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        scan, share = self.settings.scan, self.settings.per_predicate + 2
        for direction in directions:
            if only:
                edges = read_of(self.kg, entity, direction, only, scan=scan)
            else:
                edges = read(self.kg, entity, direction, scan=scan, share=share)
            self.cut.update(edges.cut)
            groups: dict[str, list[Statement]] = {}
            for statement in edges.statements:
                reason = self._unwanted(statement, direction)
                if reason:
                    self.dropped[reason] += 1
                else:
                    groups.setdefault(statement[1], []).append(statement)
            for predicate in sorted(groups):
                group = self._preferred(groups[predicate])
                if len(group) > self.settings.per_predicate:
                    more = predicate in edges.cut
                    self.lists.append(CutList(entity, predicate, direction, len(group), more))
                    group = self._shared_first(group, direction)
                    self.dropped["over the limit for one entity and predicate"] += (
                        len(group) - self.settings.per_predicate
                    )
                for place, statement in enumerate(group[: self.settings.per_predicate]):
                    key = statement[0], statement[1], str(statement[2])
                    if key not in self.found:
                        self.found[key] = ReachedTriple(
                            statement, seed, hop, direction, place, path, bool(only)
                        )

    def _shared_first(self, group: list[Statement], direction: Direction) -> list[Statement]:
        """Order a group that will be cut by the words its other ends share with the question."""
        if not self.question:
            return group

        def end(statement: Statement) -> OxTerm:
            return statement[2] if direction == "out" else ox.NamedNode(statement[0])

        self.display.prepare(sorted({t.value for x in group if isinstance(t := end(x), ox.NamedNode)}))
        return sorted(group, key=lambda x: -len(self.question & content_words(self.display.term(end(x)))))

    def _unwanted(self, statement: Statement, direction: Direction) -> str | None:
        s, p, o, _ = statement
        if p in self.settings.denied or (self.settings.allowed and p not in self.settings.allowed):
            return "predicate not wanted"
        if p in LABELS and isinstance(o, ox.Literal):
            return "label, shown in place of the IRI"
        if isinstance(o, ox.NamedNode):
            if p == _TYPE and (o.value in _TRIVIAL_CLASSES or o.value.startswith(SKOLEM)):
                return "trivial"
            if o.value == s:
                return "trivial"
            if p.startswith((OWL, RDFS)) and direction == "out" and o.value == OWL + "Thing":
                return "trivial"
        if isinstance(o, ox.BlankNode) or not self._is_named(s):
            return "anonymous node"
        return None

    def _is_named(self, iri: str) -> bool:
        """Return whether a node has an IRI or a name; others are parts of expressions and lists."""
        return not iri.startswith(SKOLEM) or bool(labels(self.kg, [iri])[iri])

    def _preferred(self, group: list[Statement]) -> list[Statement]:
        """Keep the texts of the best language only, and order what is kept."""
        tagged = [o.language for *_, o, _g in group if isinstance(o, ox.Literal) and o.language]
        best = min(tagged, key=lambda tag: (self.kg.language_rank(tag), tag), default=None)
        kept = [
            x for x in group if not (isinstance(x[2], ox.Literal) and x[2].language) or x[2].language == best
        ]
        if len(kept) < len(group):
            self.dropped["other language"] += len(group) - len(kept)
        return sorted(kept, key=lambda x: (x[0], str(x[2]), x[3]))

    def _through_relations(self, entity: str, seed: int) -> None:
        """Take in what nodes without a name relate the hit to, such as the person of a film role."""
        ends: dict[str, int] = {}
        for candidate in self.found.values():
            s, _, o, _ = candidate.statement
            other = o.value if candidate.direction == "out" and isinstance(o, ox.NamedNode) else s
            if candidate.seed == seed and other != entity and self.display.relation(other):
                ends[other] = -len(self.question & content_words(self.display.entity(other)))
        for node in sorted(ends, key=lambda n: (ends[n], n))[: self.settings.fanout]:
            self._neighbours(node, seed, 2, (entity, node), ("out",))

    def _second_hop(self, seeds: Sequence[str]) -> None:
        known = set(seeds)
        starts: list[tuple[int, str, str]] = []
        for seed, iri in enumerate(seeds):
            ends: dict[str, None] = {}
            for candidate in list(self.found.values()):
                s, p, o, _ = candidate.statement
                end = o.value if candidate.direction == "out" and isinstance(o, ox.NamedNode) else s
                if candidate.seed == seed and p != _TYPE and end not in known and self._is_named(end):
                    ends[end] = None
            starts.extend((seed, iri, end) for end in list(ends)[: self.settings.fanout])
        for seed, iri, end in starts:
            self._neighbours(end, seed, 2, (iri, end), self.settings.directions)

    def _asked_hop(self, seeds: Sequence[str]) -> None:
        """Take the second step that the words of the question ask for, and no other.

        A property that the question names leads on from a neighbour if no triple of the hit has it, or if
        the question names another property that led to the neighbour. By the property that led there it
        leads back, to what has the neighbour in common with the hit, where the question asks for that.
        """
        asked = AskedProperties(self.kg, self.display, self._text)
        if not asked.named:
            return
        about, named = asked.of([self.display.entity(iri) for iri in seeds])
        known = set(seeds)
        steps: dict[tuple[int, str], dict[Direction, set[str]]] = {}
        for seed in about:
            near = [(x, self._end(x)) for x in self.found.values() if x.seed == seed and x.hop == 1]
            used = {x.statement[1] for x, _ in near}
            led = used & named.keys()
            count = 0
            for x, end in near:
                p = x.statement[1]
                if end in known or p == _TYPE or (led and p not in led) or not self._is_named(end):
                    continue
                on = {q for q in named if q != p and (q not in used or p in led)}
                back = {p} if p in led and (asked.returns or named[p] > 1) else set()
                if not (on or back) or count >= self.settings.asked_fanout:
                    continue
                count += (seed, end) not in steps
                ways = steps.setdefault((seed, end), {"out": set(), "in": set()})
                for direction in self.settings.directions:
                    ways[direction] |= on | (back if direction != x.direction else set())
        for (seed, end), ways in steps.items():
            for direction in self.settings.directions:
                if only := frozenset(ways[direction]):
                    self._neighbours(end, seed, 2, (seeds[seed], end), (direction,), only)

    @staticmethod
    def _end(reached: ReachedTriple) -> str:
        """Return the far end of a triple; of a literal, the near one."""
        s, _, o, _ = reached.statement
        return o.value if reached.direction == "out" and isinstance(o, ox.NamedNode) else s
