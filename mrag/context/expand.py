"""From hits to a bounded context: which triples around them are worth a place in a prompt.

Every triple in reach gets a priority that no budget enters into; the budget then takes the longest
beginning of the list that fits. So a larger budget always gives a superset of a smaller one, and the
same question over the same graph always gives the same context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyoxigraph as ox
from rdflib import URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.neighbours import Direction, Statement, prefetch, read
from mrag.context.remote import forget
from mrag.context.render import Context, Dropped, Line, tokens
from mrag.context.weights import Candidate, weigh
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, OxTerm, Triple, from_ox
from mrag.text.stopwords import words

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

_SCHEMA_EVERY = 6


@dataclass(frozen=True)
class ContextSettings:
    """Every knob of an expansion.

    Attributes:
        hops: How far from a hit, 1 or 2.
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


@dataclass
class _Reach:
    """What an expansion is after, and what it has seen so far."""

    asked: frozenset[str]
    display: Display
    found: dict[tuple[str, str, str], Candidate] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    cut: set[str] = field(default_factory=set)


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
    for iri, score in seeds:
        best.setdefault(str(iri), score)
    seeds = list(best.items())
    display = Display(kg)
    reach = _Reach(words(question), display)
    forget(kg)
    _fetch(kg, [iri for iri, _ in seeds], settings.directions, settings)
    for at, (iri, _) in enumerate(seeds):
        _neighbours(kg, iri, at, 1, (iri,), settings, reach)
        _through_relations(kg, iri, at, settings, reach)
    if settings.hops == 2:
        _second_hop(kg, seeds, settings, reach)
    candidates = list(reach.found.values())
    schema = _schema(kg, candidates, settings, reach) if settings.schema else []
    _prepare(display, kg, [*candidates, *schema], seeds)
    weigh(kg, display, candidates, damping=settings.hub_damping, asked=reach.asked)
    for at, candidate in enumerate(schema):
        candidate.priority = 1.0 / (2 + at)
    ordered = _interleave(sorted(candidates, key=_by_priority), schema)
    return _take(kg, display, ordered, seeds, settings, reach)


def _fetch(
    kg: KnowledgeGraph, entities: Sequence[str], directions: Sequence[Direction], settings: ContextSettings
) -> None:
    for direction in directions:
        prefetch(kg, entities, direction, scan=settings.scan, share=settings.per_predicate + 2)


def _neighbours(
    kg: KnowledgeGraph,
    entity: str,
    seed: int,
    hop: int,
    path: tuple[str, ...],
    settings: ContextSettings,
    reach: _Reach,
) -> None:
    for direction in settings.directions:
        edges = read(kg, entity, direction, scan=settings.scan, share=settings.per_predicate + 2)
        reach.cut.update(edges.cut)
        groups: dict[str, list[Statement]] = {}
        for statement in edges.statements:
            reason = _unwanted(statement, direction, settings)
            if reason:
                reach.dropped[reason] += 1
            else:
                groups.setdefault(statement[1], []).append(statement)
        for predicate in sorted(groups):
            group = _preferred(kg, groups[predicate], reach)
            if len(group) > settings.per_predicate:
                group = _asked_first(group, direction, reach)
                reach.dropped["over the limit for one entity and predicate"] += (
                    len(group) - settings.per_predicate
                )
            for place, statement in enumerate(group[: settings.per_predicate]):
                key = statement[0], statement[1], str(statement[2])
                if key not in reach.found:
                    reach.found[key] = Candidate(statement, seed, hop, direction, place, path)


def _asked_first(group: list[Statement], direction: Direction, reach: _Reach) -> list[Statement]:
    """Order a group that will be cut by the words its other ends share with the question."""
    if not reach.asked:
        return group

    def end(statement: Statement) -> OxTerm:
        return statement[2] if direction == "out" else ox.NamedNode(statement[0])

    reach.display.prepare(sorted({t.value for x in group if isinstance(t := end(x), ox.NamedNode)}))
    return sorted(group, key=lambda x: -len(reach.asked & words(reach.display.term(end(x)))))


def _unwanted(statement: Statement, direction: Direction, settings: ContextSettings) -> str | None:
    s, p, o, _ = statement
    if p in settings.denied or (settings.allowed and p not in settings.allowed):
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
    if s.startswith(SKOLEM) or isinstance(o, ox.BlankNode):
        return "anonymous node"
    return None


def _preferred(kg: KnowledgeGraph, group: list[Statement], reach: _Reach) -> list[Statement]:
    """Keep the texts of the best language only, and order what is kept."""
    tagged = [o.language for *_, o, _g in group if isinstance(o, ox.Literal) and o.language]
    best = min(tagged, key=lambda tag: (kg.language_rank(tag), tag), default=None)
    kept = [x for x in group if not (isinstance(x[2], ox.Literal) and x[2].language) or x[2].language == best]
    if len(kept) < len(group):
        reach.dropped["other language"] += len(group) - len(kept)
    return sorted(kept, key=lambda x: (x[0], str(x[2]), x[3]))


def _through_relations(
    kg: KnowledgeGraph, entity: str, seed: int, settings: ContextSettings, reach: _Reach
) -> None:
    """Take in what nodes without a name relate the hit to, such as the person of a film role."""
    ends: dict[str, int] = {}
    for candidate in reach.found.values():
        s, _, o, _ = candidate.statement
        other = o.value if candidate.direction == "out" and isinstance(o, ox.NamedNode) else s
        if candidate.seed == seed and other != entity and reach.display.relation(other):
            ends[other] = -len(reach.asked & words(reach.display.entity(other)))
    for node in sorted(ends, key=lambda n: (ends[n], n))[: settings.fanout]:
        only_out = replace(settings, directions=("out",))
        _neighbours(kg, node, seed, 2, (entity, node), only_out, reach)


def _second_hop(
    kg: KnowledgeGraph, seeds: Sequence[tuple[str, float]], settings: ContextSettings, reach: _Reach
) -> None:
    known = {iri for iri, _ in seeds}
    starts: list[tuple[int, str, str]] = []
    for seed in range(len(seeds)):
        ends: dict[str, None] = {}
        for candidate in list(reach.found.values()):
            s, p, o, _ = candidate.statement
            end = o.value if candidate.direction == "out" and isinstance(o, ox.NamedNode) else s
            if candidate.seed == seed and p != _TYPE and end not in known and not end.startswith(SKOLEM):
                ends[end] = None
        starts.extend((seed, seeds[seed][0], end) for end in list(ends)[: settings.fanout])
    _fetch(kg, [end for _, _, end in starts], settings.directions, settings)
    for seed, iri, end in starts:
        _neighbours(kg, end, seed, 2, (iri, end), settings, reach)


def _schema(
    kg: KnowledgeGraph, candidates: Sequence[Candidate], settings: ContextSettings, reach: _Reach
) -> list[Candidate]:
    """Axioms about the predicates and classes in reach, those of the most frequent first."""
    counts: Counter[str] = Counter()
    for candidate in candidates:
        _, p, o, _ = candidate.statement
        counts[p] += 1
        if p == _TYPE and isinstance(o, ox.NamedNode):
            counts[o.value] += 1
    found: dict[tuple[str, str, str], Candidate] = {}
    by_axiom: dict[str, list[Candidate]] = {p: [] for p in _SCHEMA}
    symbols = sorted((s for s in counts if not s.startswith((RDF, RDFS, OWL))), key=lambda s: (-counts[s], s))
    _fetch(kg, symbols, ("out",), settings)
    for symbol in symbols:
        for statement in sorted(
            read(kg, symbol, "out", scan=settings.scan, share=settings.per_predicate).statements,
            key=lambda x: (x[1], str(x[2])),
        ):
            key = statement[0], statement[1], str(statement[2])
            wanted = statement[1] in by_axiom and not _unwanted(statement, "out", settings)
            if wanted and key not in reach.found and key not in found:
                found[key] = Candidate(statement, -1, 0, "out", 0, ())
                by_axiom[statement[1]].append(found[key])
    # One of each kind in turn, so that forty domains do not hide the one disjointness.
    ordered: list[Candidate] = []
    while any(by_axiom.values()):
        ordered.extend(group.pop(0) for group in by_axiom.values() if group)
    return ordered


def _prepare(
    display: Display, kg: KnowledgeGraph, candidates: Sequence[Candidate], seeds: Sequence[tuple[str, float]]
) -> None:
    wanted = {iri for iri, _ in seeds}
    for candidate in candidates:
        s, p, o, _ = candidate.statement
        wanted.update((s, p))
        if isinstance(o, ox.NamedNode):
            wanted.add(o.value)
    display.prepare(sorted(wanted))


def _interleave(candidates: Sequence[Candidate], schema: Sequence[Candidate]) -> list[Candidate]:
    merged: list[Candidate] = []
    rest = list(schema)
    for at, candidate in enumerate(candidates, start=1):
        merged.append(candidate)
        if at % (_SCHEMA_EVERY - 1) == 0 and rest:
            merged.append(rest.pop(0))
    return merged + rest


def _by_priority(candidate: Candidate) -> tuple[float, str, str, str]:
    s, p, o, _ = candidate.statement
    return -candidate.priority, s, p, str(o)


def _take(
    kg: KnowledgeGraph,
    display: Display,
    ordered: Sequence[Candidate],
    seeds: Sequence[tuple[str, float]],
    settings: ContextSettings,
    reach: _Reach,
) -> Context:
    taken: list[tuple[Candidate, tuple[str, str, str], str]] = []
    used = 0
    for candidate in ordered:
        if len(taken) >= settings.max_triples:
            break
        s, p, o, _ = candidate.statement
        shown = display.entity(s), display.predicate(p), display.term(o, settings.text_length)
        text = untrusted.fact(shown)
        # The id, the brackets and the mark of an inferred line are paid for as well.
        cost = tokens([text]) + 4
        if used + cost > settings.token_budget:
            break
        used += cost
        taken.append((candidate, shown, text))
    if left := len(ordered) - len(taken):
        reach.dropped["over the budget"] += left

    def place(item: tuple[Candidate, tuple[str, str, str], str]) -> tuple[int, int, int, float, str, str]:
        candidate, _, text = item
        seed = candidate.seed if candidate.seed >= 0 else len(seeds)
        return (
            seed,
            candidate.hop,
            candidate.statement[1] != _TYPE,
            -candidate.priority,
            text,
            str(candidate.statement[2]),
        )

    lines = []
    for number, (candidate, shown, text) in enumerate(sorted(taken, key=place), start=1):
        s, p, o, graph = candidate.statement
        lines.append(
            Line(
                id=f"t{number}",
                text=text,
                triple=Triple(URIRef(s), URIRef(p), from_ox(o)),
                graph=graph,
                inferred=kg.is_inferred(graph),
                labels=shown,
                entity=seeds[candidate.seed][0] if candidate.seed >= 0 else s,
                score=candidate.priority,
                hop=candidate.hop,
                path=candidate.path,
            )
        )
    dropped = [Dropped(reason, count) for reason, count in sorted(reach.dropped.items())]
    dropped += [
        Dropped(f"hub: more {display.predicate(p)} than were read", 0, more=True) for p in sorted(reach.cut)
    ]
    names = tuple(display.entity(iri) for iri, _ in seeds)
    return Context(tuple(lines), tuple(iri for iri, _ in seeds), names, tuple(dropped), used)
