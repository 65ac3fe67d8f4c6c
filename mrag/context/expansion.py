"""From hits to a bounded context: which triples around them are worth a place in a prompt.

Every triple in reach gets a priority that no budget enters into; the budget then takes the longest
beginning of the list that fits. So a larger budget always gives a superset of a smaller one, and the
same question over the same graph always gives the same context.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display, named_graphs, said_in
from mrag.context.neighbourhood import in_passes, labels, reader_of
from mrag.context.reach import Reach
from mrag.context.render import Context, Dropped, Line, estimate_tokens
from mrag.context.settings import ContextSettings
from mrag.context.weights import ReachedTriple, set_priorities
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.twins import names_beside, twins_of
from mrag.rdf.terms import OWL, RDF, Triple, from_ox
from mrag.tracing import spanned

_TYPE = RDF + "type"
_SCHEMA_EVERY = 6
_CONTEXTS = 200
_LINES = 2000


@spanned("mrag.context", lambda found: {"mrag.lines": len(found.lines)})
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
    ordered = _interleave(sorted(candidates, key=_by_priority), schema)
    return _take(kg, display, ordered, seeds, settings, reach)


def _once(kg: KnowledgeGraph, candidates: list[ReachedTriple]) -> list[ReachedTriple]:
    """Return triples without those that say of another name of a thing what is said of it already."""
    twins = twins_of(kg)
    if twins is None or not twins.closed:
        return candidates
    ends = [(c.statement[0], str(c.statement[1]), from_ox(c.statement[2])) for c in candidates]
    beside = names_beside(kg, {str(e) for s, _, o in ends for e in (s, o) if not isinstance(e, Literal)})
    there = set(ends)
    found = []
    for candidate, (s, p, o) in zip(candidates, ends, strict=True):
        first = (beside.get(s, s), p, URIRef(beside[str(o)]) if str(o) in beside else o)
        told = s == first[0] if p == OWL + "sameAs" else first == (s, p, o) or first not in there
        if told:
            found.append(candidate)
    return found


def _prepare(
    kg: KnowledgeGraph,
    display: Display,
    candidates: Sequence[ReachedTriple],
    seeds: Sequence[tuple[str, float]],
) -> None:
    wanted = {iri for iri, _ in seeds}
    for candidate in candidates:
        s, _, o, _ = candidate.statement
        wanted.add(s)
        if isinstance(o, ox.NamedNode):
            wanted.add(o.value)
    labels(kg, sorted({candidate.statement[1] for candidate in candidates}))
    display.prepare(sorted(wanted))
    if reader_of(kg) is not None and kg.record.contexts:
        # Which lines there are is only known at the end, when another round trip would be one too many.
        display.prepare(kg.record.contexts[:_CONTEXTS])
        _named(kg, candidates[:_LINES])


def _named(kg: KnowledgeGraph, candidates: Sequence[ReachedTriple]) -> list[tuple[str, ...]]:
    if not kg.record.contexts:
        return [()] * len(candidates)
    parts = (candidate.statement for candidate in candidates)
    return named_graphs(kg, [Triple(URIRef(s), URIRef(p), from_ox(o)) for s, p, o, _ in parts])


def _interleave(candidates: Sequence[ReachedTriple], schema: Sequence[ReachedTriple]) -> list[ReachedTriple]:
    merged: list[ReachedTriple] = []
    rest = list(schema)
    for at, candidate in enumerate(candidates, start=1):
        merged.append(candidate)
        if at % (_SCHEMA_EVERY - 1) == 0 and rest:
            merged.append(rest.pop(0))
    return merged + rest


def _by_priority(candidate: ReachedTriple) -> tuple[float, str, str, str]:
    s, p, o, _ = candidate.statement
    return -candidate.priority, s, p, str(o)


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
    named = dict(zip(map(id, ordered), _named(kg, ordered[: settings.max_triples]), strict=False))
    for candidate in ordered:
        if len(taken) >= settings.max_triples:
            break
        s, p, o, _ = candidate.statement
        shown = display.entity(s), display.predicate(p), display.term(o, settings.text_length)
        text = untrusted.fact((*shown, *said_in(display, named[id(candidate)])))
        # The id, the brackets and the mark of an inferred line are paid for as well.
        cost = estimate_tokens([text]) + 4
        if used + cost > settings.token_budget:
            break
        used += cost
        taken.append((candidate, shown, text))
    if left := len(ordered) - len(taken):
        reach.dropped["over the budget"] += left

    def place(item: tuple[ReachedTriple, tuple[str, str, str], str]) -> tuple[int, int, int, float, str, str]:
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
                named=named[id(candidate)],
            )
        )
    dropped = [Dropped(reason, count) for reason, count in sorted(reach.dropped.items())]
    dropped += [
        Dropped(f"hub: more {display.predicate(p)} than were read", 0, more=True) for p in sorted(reach.cut)
    ]
    names = tuple(display.entity(iri) for iri, _ in seeds)
    return Context(
        tuple(lines), tuple(iri for iri, _ in seeds), names, tuple(dropped), used, tuple(reach.lists)
    )
