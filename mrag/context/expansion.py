"""From hits to a bounded context: which triples around them are worth a place in a prompt.

Every triple in reach gets a priority that no budget enters into; the budget then takes the longest
beginning of the list that fits. So a larger budget always gives a superset of a smaller one, and the
same question over the same graph always gives the same context.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.context.display import WORDS, Display, graph_words, named_graphs
from mrag.context.neighbourhood import (
    Direction,
    Statement,
    in_passes,
    inverses,
    keep,
    labels,
    read,
    read_axioms,
    read_of,
    reader_of,
    superclasses,
    superproperties,
)
from mrag.context.render import Context, CutList, Dropped, Line, cost
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import names_beside, twins_of
from mrag.graph.record import LABELS
from mrag.language.names import split_identifier
from mrag.language.tokens import FUNCTION_WORDS, OTHERS, content, fold, stem, tokens, words
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, OxTerm, Triple, from_ox
from mrag.tracing import spanning

_VOCABULARY = (RDF, RDFS, OWL)
_NO_WEIGHT = frozenset(stem(w) for some in FUNCTION_WORDS.values() for w in some)
_ALIKE = frozenset(map(fold, words(WORDS["alike"])))
"""Words of questions for what has something in common with a thing."""


class AskedProperties:
    """The properties that a question names."""

    def __init__(self, kg: KnowledgeGraph, display: Display, question: str) -> None:
        asked = [token for token in tokens(question) if stem(token.raw) not in _NO_WEIGHT]
        self.returns = any(token.key in _ALIKE for token in tokens(question))
        means = [frozenset([stem(t.raw)]) | OTHERS.get(stem(t.raw), frozenset()) for t in asked]
        known = _stems(kg, display) if asked else {}
        self._stems = [stem(token.raw) for token in asked]
        self._naming: dict[str, frozenset[int]] = {}
        for iri, label in known.items():
            places = frozenset(i for i, meant in enumerate(means) if meant & label)
            said = label & frozenset().union(*(means[i] for i in places))
            if 2 * len(said) >= len(label) and places:
                self._naming[iri] = places
        self.named = frozenset(self._naming)

    def of(self, names: Sequence[str]) -> tuple[list[int], Mapping[str, int]]:
        """Return which of some things the question is about, and the properties that it names beside them."""
        common = frozenset().union(*self._naming.values())
        spans: dict[int, frozenset[int]] = {}
        for number, name in enumerate(names):
            form = [stem(token.raw) for token in tokens(name) if stem(token.raw) not in _NO_WEIGHT]
            places = self._places(form)
            # "director" may be a thing too, but is no name if it is what names a property.
            if places and (len(form) > 1 or not places <= common):
                spans[number] = places
        # A name within another is none: "Earth" in "Earth Days".
        about = [n for n, places in spans.items() if not any(places < other for other in spans.values())]
        hidden = frozenset().union(*(spans[n] for n in about))
        left = {iri: len(places - hidden) for iri, places in self._naming.items()}
        return about or list(range(len(names))), {iri: count for iri, count in left.items() if count}

    def _places(self, form: Sequence[str]) -> frozenset[int]:
        """Return where the question has some words one behind the other."""
        size = len(form)
        starts = (at for at in range(len(self._stems) - size + 1) if self._stems[at : at + size] == form)
        return frozenset(i for at in starts for i in range(at, at + size)) if size else frozenset()


def _stems(kg: KnowledgeGraph, display: Display) -> dict[str, frozenset[str]]:
    """Return the stems of the words that name each predicate, which change with the graph only."""

    def make() -> dict[str, frozenset[str]]:
        every = [iri for iri in sorted(kg.profile().predicates) if not iri.startswith(_VOCABULARY)]
        labels(kg, every)
        words_of = {iri: _content(display.predicate(iri)) for iri in every}
        return {iri: label for iri, label in words_of.items() if label}

    return keep(kg, "asked properties", "", make)


def _content(label: str) -> frozenset[str]:
    return frozenset(content(split_identifier(label))) - _NO_WEIGHT


@dataclass(frozen=True)
class ContextSettings:
    """Every knob of an expansion.

    Attributes:
        hops: How far from a hit, 1 or 2.
        asked_hop: Whether a context of one hop takes a second one by the properties that the question names.
        asked_fanout: Most neighbours of each hit that such a hop starts from.
        directions: `out` for triples with the entity as subject, `in` as object.
        allowed: IRIs of the only predicates to follow; all when empty.
        denied: IRIs of predicates never to follow.
        schema: Whether axioms about the classes and predicates in reach are added.
        per_predicate: Most triples of one predicate and direction for each entity.
        scan: Edges of an entity up to which it is read whole; a hub above it is read by predicate.
        fanout: Most neighbours of each hit that a second hop starts from.
        hub_damping: Whether frequent predicates and implied triples weigh less.
        max_triples: Most lines.
        token_budget: Most estimated tokens.
        text_length: Characters of a literal after which it is cut.
    """

    hops: int = 1
    asked_hop: bool = True
    asked_fanout: int = 16
    directions: tuple[Direction, ...] = ("out", "in")
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    schema: bool = True
    per_predicate: int = 8
    scan: int = 48
    fanout: int = 5
    hub_damping: bool = True
    max_triples: int = 160
    token_budget: int = 4000
    text_length: int = 400

    def __post_init__(self) -> None:
        if self.hops not in (1, 2):
            raise ConfigError(f"hops is 1 or 2, not {self.hops}.")
        for name in ("per_predicate", "scan", "max_triples", "token_budget", "text_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is at least 1, not {getattr(self, name)}.")


_TYPE = RDF + "type"


@dataclass
class ReachedTriple:
    """A triple in reach of a hit."""

    statement: Statement  # The triple and its graph
    seed: int  # Place of the hit that it was reached from; -1 for a schema triple
    hop: int  # Steps from the hit; 0 for a schema triple
    direction: Direction  # Whether it was reached from its subject (`out`) or object (`in`)
    place: int  # Its place among the triples of the same entity, predicate and direction
    path: tuple[str, ...]  # IRIs of the entities on the way, the hit first
    asked: bool = False  # Whether the question names its predicate, and so asks for a triple that far
    priority: float = 0.0  # What it is worth

    @property
    def key(self) -> tuple[str, str, str]:
        """The triple, without its graph."""
        s, p, o, _ = self.statement
        return s, p, str(o)

    @property
    def end(self) -> str:
        """Its far end; of a literal, the near one."""
        s, _, o, _ = self.statement
        return o.value if self.direction == "out" and isinstance(o, ox.NamedNode) else s


def set_priorities(
    kg: KnowledgeGraph,
    display: Display,
    candidates: Sequence[ReachedTriple],
    *,
    damping: bool,
    question: frozenset[str],
) -> None:
    """Set the priority of every candidate."""
    profile = kg.profile()
    total = math.log(2 + profile.triples)
    implied = _imply(kg, candidates) if damping else set()
    for candidate in candidates:
        s, p, o, _ = candidate.statement
        weight = 0.9
        if p != _TYPE and damping:
            weight = 0.3 + 0.7 * math.log((2 + profile.triples) / (1 + profile.predicates.get(p, 0))) / total
        if isinstance(o, ox.Literal) and o.language and len(o.value) > 40:
            weight = 0.95
        if candidate.key in implied and (p == _TYPE or kg.is_inferred(candidate.statement[3])):
            weight *= 0.3
        if damping and candidate.direction == "in" and display.entity(s).startswith("<"):
            # Nodes that nobody named, such as the statement nodes of Wikidata, tell a reader nothing.
            weight *= 0.2
        weight /= 1 + 0.35 * candidate.place
        if question:
            shown = content(f"{display.predicate(p)} {display.term(o)} {display.entity(s)}")
            weight *= 1 + len(question.intersection(shown)) / len(question)
        weight *= (0.6 if candidate.asked else 0.35) ** (candidate.hop - 1)
        candidate.priority = weight / (1 + 0.15 * candidate.seed)


def _imply(kg: KnowledgeGraph, candidates: Sequence[ReachedTriple]) -> set[tuple[str, str, str]]:
    """Triples that another in reach says already: by a sub-property, a subclass or an inverse."""
    above, back = superproperties(kg), inverses(kg)
    types: dict[str, set[str]] = {}
    implied: set[tuple[str, str, str]] = set()
    for candidate in candidates:
        s, p, o, _ = candidate.statement
        if p == _TYPE and isinstance(o, ox.NamedNode):
            types.setdefault(s, set()).add(o.value)
        implied.update((s, q, str(o)) for q in above.get(p, ()))
        if isinstance(o, ox.NamedNode) and not kg.is_inferred(candidate.statement[3]):
            implied.update(
                (o.value, q, str(ox.NamedNode(s))) for q in back.get(p, ()) if (q, o.value) != (p, s)
            )
    supers = superclasses(kg, {c for group in types.values() for c in group})
    for s, group in types.items():
        for c in group:
            # Two classes that imply each other would hide both.
            implied.update(
                (s, _TYPE, str(ox.NamedNode(d)))
                for d in supers.get(c, ())
                if d in group and c not in supers.get(d, ())
            )
    return implied


_SCHEMA = (
    *(RDFS + name for name in ("subClassOf", "subPropertyOf")),
    *(OWL + name for name in ("equivalentClass", "disjointWith", "inverseOf", "propertyChainAxiom")),
    *(RDFS + name for name in ("domain", "range")),
)
_TRIVIAL_CLASSES = frozenset(WORDS["trivial_classes"])  # Types that every entity, class or property has


class Reach:
    """Gathers the triples in reach of hits."""

    def __init__(
        self, kg: KnowledgeGraph, display: Display, settings: ContextSettings, question: str
    ) -> None:
        self.kg, self.display, self.settings = kg, display, settings
        self.question = frozenset(content(question))
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
            self._take_hop(seeds)

    def schema(self) -> list[ReachedTriple]:
        """Return axioms about the predicates and classes in reach, those of the most frequent first."""
        counts: Counter[str] = Counter()
        for candidate in self.found.values():
            _, p, o, _ = candidate.statement
            counts[p] += 1
            if p == _TYPE and isinstance(o, ox.NamedNode):
                counts[o.value] += 1
        triples: dict[tuple[str, str, str], ReachedTriple] = {}
        by_axiom: dict[str, list[ReachedTriple]] = {p: [] for p in _SCHEMA}
        symbols = sorted(
            (s for s in counts if not s.startswith((RDF, RDFS, OWL))), key=lambda s: (-counts[s], s)
        )
        scan, share = self.settings.scan, self.settings.per_predicate
        for symbol in symbols:
            axioms = read_axioms(self.kg, symbol, by_axiom, scan=scan, share=share)
            for statement in sorted(axioms, key=lambda x: (x[1], str(x[2]))):
                axiom = ReachedTriple(statement, -1, 0, "out", 0, ())
                new = axiom.key not in self.found and axiom.key not in triples
                if new and not self._reason_against(statement, "out"):
                    triples[axiom.key] = axiom
                    by_axiom[statement[1]].append(axiom)
        # One of each kind in turn, so that forty domains do not hide the one disjointness.
        return [axiom for some in zip_longest(*by_axiom.values()) for axiom in some if axiom is not None]

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
                reason = self._reason_against(statement, direction)
                if reason:
                    self.dropped[reason] += 1
                else:
                    groups.setdefault(statement[1], []).append(statement)
            for predicate in sorted(groups):
                group = self._prefer(groups[predicate])
                if len(group) > self.settings.per_predicate:
                    more = predicate in edges.cut
                    self.lists.append(CutList(entity, predicate, direction, len(group), more))
                    group = self._order_by_words(group, direction)
                    left = len(group) - self.settings.per_predicate
                    self.dropped["over the limit for one entity and predicate"] += left
                for place, statement in enumerate(group[: self.settings.per_predicate]):
                    reached = ReachedTriple(statement, seed, hop, direction, place, path, bool(only))
                    self.found.setdefault(reached.key, reached)

    def _order_by_words(self, group: list[Statement], direction: Direction) -> list[Statement]:
        """Order a group that will be cut by the words its other ends share with the question."""
        if not self.question:
            return group

        def end(statement: Statement) -> OxTerm:
            return statement[2] if direction == "out" else ox.NamedNode(statement[0])

        self.display.prepare(sorted({t.value for x in group if isinstance(t := end(x), ox.NamedNode)}))
        return sorted(
            group, key=lambda x: -len(self.question.intersection(content(self.display.term(end(x)))))
        )

    def _reason_against(self, statement: Statement, direction: Direction) -> str | None:
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

    def _prefer(self, group: list[Statement]) -> list[Statement]:
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
            other = candidate.end
            if candidate.seed == seed and other != entity and self.display.relation(other):
                ends[other] = -len(self.question.intersection(content(self.display.entity(other))))
        for node in sorted(ends, key=lambda n: (ends[n], n))[: self.settings.fanout]:
            self._neighbours(node, seed, 2, (entity, node), ("out",))

    def _second_hop(self, seeds: Sequence[str]) -> None:
        known = set(seeds)
        starts: list[tuple[int, str, str]] = []
        for seed, iri in enumerate(seeds):
            ends: dict[str, None] = {}
            for candidate in list(self.found.values()):
                end, p = candidate.end, candidate.statement[1]
                if candidate.seed == seed and p != _TYPE and end not in known and self._is_named(end):
                    ends[end] = None
            starts.extend((seed, iri, end) for end in list(ends)[: self.settings.fanout])
        for seed, iri, end in starts:
            self._neighbours(end, seed, 2, (iri, end), self.settings.directions)

    def _take_hop(self, seeds: Sequence[str]) -> None:
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
            near = [x for x in self.found.values() if x.seed == seed and x.hop == 1]
            used = {x.statement[1] for x in near}
            led = used & named.keys()
            count = 0
            for x in near:
                end, p = x.end, x.statement[1]
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


_SCHEMA_EVERY = 6
_CONTEXTS = 200
_LINES = 2000


@spanning("mrag.context", lambda context: {"mrag.lines": len(context.lines)})
def expand(
    kg: KnowledgeGraph,
    seeds: Sequence[tuple[str, float]],
    settings: ContextSettings | None = None,
    *,
    question: str = "",
) -> Context:
    """Expand hits into a bounded context.

    Args:
        kg: The knowledge graph.
        seeds: IRI and score of each hit, best first.
        settings: The knobs; the defaults suit a prompt of a few thousand tokens.
        question: Words that a triple may share with the question raise it.

    Returns:
        The context, its lines grouped by hit, with a report of what was left out.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> _ = kg.insert([Triple(URIRef("urn:x:a"), URIRef("urn:x:knows"), URIRef("urn:x:b"))])
        >>> expand(kg, [("urn:x:a", 1.0)]).lines[0].text
        '(<urn:x:a>, knows, <urn:x:b>)'
    """
    settings = settings or ContextSettings()
    best: dict[str, float] = {}
    twins = twins_of(kg)
    beside = names_beside(kg, [str(iri) for iri, _ in seeds]) if twins is not None and twins.closed else {}
    for iri, score in seeds:
        best.setdefault(beside.get(str(iri), str(iri)), score)
    return in_passes(kg, lambda: _expand(kg, list(best.items()), settings, question))


def _expand(
    kg: KnowledgeGraph, seeds: Sequence[tuple[str, float]], settings: ContextSettings, question: str
) -> Context:
    display = Display(kg)
    reach = Reach(kg, display, settings, question)
    reach.gather([iri for iri, _ in seeds])
    candidates = _once(kg, list(reach.found.values()))
    schema = reach.schema() if settings.schema else []
    _prepare(kg, display, [*candidates, *schema], seeds)
    set_priorities(kg, display, candidates, damping=settings.hub_damping, question=reach.question)
    for at, candidate in enumerate(schema):
        candidate.priority = 1.0 / (2 + at)
    ordered = _interleave(sorted(candidates, key=lambda x: (-x.priority, *x.key)), schema)
    return _take(kg, display, ordered, seeds, settings, reach)


def _once(kg: KnowledgeGraph, candidates: list[ReachedTriple]) -> list[ReachedTriple]:
    """Return triples without those that say of another name of a thing what is said of it already."""
    twins = twins_of(kg)
    if twins is None or not twins.closed:
        return candidates
    ends = [(c.statement[0], str(c.statement[1]), from_ox(c.statement[2])) for c in candidates]
    beside = names_beside(kg, {str(e) for s, _, o in ends for e in (s, o) if not isinstance(e, Literal)})
    there = set(ends)
    lines = []
    for candidate, (s, p, o) in zip(candidates, ends, strict=True):
        first = (beside.get(s, s), p, URIRef(beside[str(o)]) if str(o) in beside else o)
        first_time = s == first[0] if p == OWL + "sameAs" else first == (s, p, o) or first not in there
        if first_time:
            lines.append(candidate)
    return lines


def _prepare(
    kg: KnowledgeGraph,
    display: Display,
    candidates: Sequence[ReachedTriple],
    seeds: Sequence[tuple[str, float]],
) -> None:
    wanted = {iri for iri, _ in seeds} | {candidate.statement[0] for candidate in candidates}
    wanted |= {o.value for candidate in candidates if isinstance(o := candidate.statement[2], ox.NamedNode)}
    labels(kg, sorted({candidate.statement[1] for candidate in candidates}))
    display.prepare(sorted(wanted))
    if reader_of(kg) is not None and kg.record.contexts:
        # Which lines there are is only known at the end, when another round trip would be one too many.
        display.prepare(kg.record.contexts[:_CONTEXTS])
        _graph_names(kg, candidates[:_LINES])


def _graph_names(kg: KnowledgeGraph, candidates: Sequence[ReachedTriple]) -> list[tuple[str, ...]]:
    if not kg.record.contexts:
        return [()] * len(candidates)
    parts = (candidate.statement for candidate in candidates)
    return named_graphs(kg, [Triple(URIRef(s), URIRef(p), from_ox(o)) for s, p, o, _ in parts])


def _interleave(candidates: Sequence[ReachedTriple], schema: Sequence[ReachedTriple]) -> list[ReachedTriple]:
    merged, rest = list[ReachedTriple](), list(schema)
    for at, candidate in enumerate(candidates, start=1):
        merged.append(candidate)
        if at % (_SCHEMA_EVERY - 1) == 0 and rest:
            merged.append(rest.pop(0))
    return merged + rest


def _take(
    kg: KnowledgeGraph,
    display: Display,
    ordered: Sequence[ReachedTriple],
    seeds: Sequence[tuple[str, float]],
    settings: ContextSettings,
    reach: Reach,
) -> Context:
    taken: list[tuple[ReachedTriple, tuple[str, str, str], str]] = []
    used = 0
    named = dict(zip(map(id, ordered), _graph_names(kg, ordered[: settings.max_triples]), strict=False))
    for candidate in ordered:
        if len(taken) >= settings.max_triples:
            break
        s, p, o, _ = candidate.statement
        shown = display.entity(s), display.predicate(p), display.term(o, settings.text_length)
        text = untrusted.fact((*shown, *graph_words(display, named[id(candidate)])))
        if used + cost(text) > settings.token_budget:
            break
        used += cost(text)
        taken.append((candidate, shown, text))
    if left := len(ordered) - len(taken):
        reach.dropped["over the budget"] += left

    def place(item: tuple[ReachedTriple, tuple[str, str, str], str]) -> tuple[int, int, int, float, str, str]:
        candidate, _, text = item
        seed = candidate.seed if candidate.seed >= 0 else len(seeds)
        _, p, o = candidate.key
        return seed, candidate.hop, p != _TYPE, -candidate.priority, text, o

    lines = []
    for number, (candidate, shown, text) in enumerate(sorted(taken, key=place), start=1):
        s, p, o, graph = candidate.statement
        triple = Triple(URIRef(s), URIRef(p), from_ox(o))
        entity = seeds[candidate.seed][0] if candidate.seed >= 0 else s
        inferred, where = kg.is_inferred(graph), named[id(candidate)]
        line = Line(f"t{number}", text, triple, graph, inferred, shown, entity, candidate.priority)
        lines.append(replace(line, hop=candidate.hop, path=candidate.path, named=where))
    dropped = [Dropped(reason, count) for reason, count in sorted(reach.dropped.items())]
    dropped += [
        Dropped(f"hub: more {display.predicate(p)} than were read", 0, more=True) for p in sorted(reach.cut)
    ]
    names = tuple(display.entity(iri) for iri, _ in seeds)
    return Context(
        tuple(lines), tuple(iri for iri, _ in seeds), names, tuple(dropped), used, tuple(reach.lists)
    )
