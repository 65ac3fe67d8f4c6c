"""Inclusions between named classes that pass through nameless ones (OWL 2 Profiles, table 9).

Nameless classes are never stored as conclusions, so a generic rule cannot step through them. The few
inclusions they carry between classes with names are worked out here, once, and become rules whose
bodies are the axioms themselves.
"""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

import pyoxigraph as ox

from mrag.rdf.patterns import TriplePattern, iri
from mrag.rdf.terms import OWL, RDFS
from mrag.reasoning.axioms import NOTHING, THING, Axiom, Plain
from mrag.reasoning.rules import Rule
from mrag.reasoning.tbox import TBox

_SUB = iri(RDFS + "subClassOf")
_MAX_PAIRS = 200_000
Why: TypeAlias = tuple[tuple[Plain, ox.NamedNode, Plain], ...]
"""The axiom triples behind an inclusion."""


class _Graph:
    """Inclusions between class nodes, each with the triples that give it."""

    def __init__(self) -> None:
        self.up: dict[Plain, dict[Plain, tuple[str, Why]]] = {}

    def add(self, sub: Plain, sup: Plain, name: str, why: Why) -> bool:
        if sub == sup or sup in self.up.get(sub, {}):
            return False
        self.up.setdefault(sub, {})[sup] = (name, why)
        return True

    def reach(self, start: Plain, *, through_named: bool, box: TBox) -> dict[Plain, tuple[str, Why]]:
        """Return what lies above a node, with the shortest reason; named nodes end a way on request."""
        found: dict[Plain, tuple[str, Why]] = {}
        todo: deque[tuple[Plain, str, Why]] = deque([(start, "", ())])
        while todo:
            node, name, why = todo.popleft()
            for sup, (step, because) in self.up.get(node, {}).items():
                if sup in found or sup == start:
                    continue
                whole = (name or step, tuple(dict.fromkeys((*why, *because))))
                found[sup] = whole
                if through_named or not box.named(sup):
                    todo.append((sup, *whole))
        return found


def schema_rules(box: TBox) -> list[Rule]:
    """Return rules without variables: a named inclusion follows from axioms that stand in the graph.

    Args:
        box: The axioms.

    Source:
        scm-int, scm-uni, scm-svf1, scm-svf2, scm-avf1, scm-avf2, scm-hv, scm-cls.
    """
    written = (n for n in sorted(box.structure, key=str) if box.has_structure(n))
    nodes = [n for n in written if isinstance(n, ox.NamedNode)]
    graph = _stated(box, nodes)
    changed = True
    while changed:
        changed = _restrictions(box, nodes, graph)
    rules: list[Rule] = []
    for start in sorted(graph.up, key=str):
        if not box.named(start) or box.is_datatype(start):
            continue
        for end, (name, why) in sorted(
            graph.reach(start, through_named=False, box=box).items(), key=lambda x: str(x[0])
        ):
            direct = (start, _SUB, end)
            if box.named(end) and end not in (THING.iri, NOTHING.iri) and direct not in why:
                if len(why) == 1 and why[0][1].value == OWL + "equivalentClass":
                    continue  # between two names: a generic rule says it
                body = tuple(TriplePattern(*t) for t in why)
                axiom = Axiom("SubClassOf", (box.expression(start), box.expression(end)), why[0])
                rules.append(Rule(name, axiom, body, (), (), TriplePattern(start, _SUB, end)))
    return rules


def _stated(box: TBox, nodes: list[ox.NamedNode]) -> _Graph:
    graph = _Graph()
    for s, o in box.triples.get(RDFS + "subClassOf", []):
        graph.add(s, o, "scm-sco", ((s, _SUB, o),))
    equivalent = iri(OWL + "equivalentClass")
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        graph.add(s, o, "scm-eqc1", ((s, equivalent, o),))
        graph.add(o, s, "scm-eqc1", ((s, equivalent, o),))
    for node in nodes:
        cell = box.structure[node]
        for key, name in (("intersectionOf", "scm-int"), ("unionOf", "scm-uni")):
            for o in cell.get(OWL + key, []):
                why = ((node, iri(OWL + key), o),)
                for member in box.members(o):
                    here, there = (node, member) if key == "intersectionOf" else (member, node)
                    graph.add(here, there, name, why)
    for s, o in box.triples.get(OWL + "disjointUnionOf", []):
        for member in box.members(o):
            graph.add(member, s, "scm-uni", ((s, iri(OWL + "disjointUnionOf"), o),))
    return graph


def _restrictions(box: TBox, nodes: list[ox.NamedNode], graph: _Graph) -> bool:
    """Add inclusions between restrictions and into intersections; tell whether there were new ones."""
    changed = False
    above: dict[Plain, dict[Plain, tuple[str, Why]]] = {}

    def under(sub: Plain, sup: Plain) -> Why | None:
        if sub == sup:
            return ()
        if sub not in above:
            above[sub] = graph.reach(sub, through_named=True, box=box)
        return above[sub][sup][1] if sup in above[sub] else None

    for kind, names in (("someValuesFrom", "svf"), ("allValuesFrom", "avf"), ("hasValue", "hv")):
        each = [
            (n, p, v)
            for n in nodes
            for p in box.structure[n].get(OWL + "onProperty", [])[:1]
            for v in box.structure[n].get(OWL + kind, [])[:1]
        ]
        if len(each) ** 2 > _MAX_PAIRS:
            continue
        for n, p, v in each:
            for m, q, w in each:
                if n == m:
                    continue
                roles = _under_property(box, q, p) if kind == "allValuesFrom" else _under_property(box, p, q)
                values = (() if v == w else None) if kind == "hasValue" else under(v, w)
                if w == THING.iri and kind == "someValuesFrom":
                    values = ()
                if roles is not None and values is not None:
                    why: Why = ((n, iri(OWL + kind), v), (m, iri(OWL + kind), w), *roles, *values)
                    changed |= graph.add(n, m, f"scm-{names}{1 if p == q else 2}", why)
    for node in nodes:
        for o in box.structure[node].get(OWL + "intersectionOf", []):
            members = box.members(o)
            subs = [s for s in sorted(graph.up, key=str) if members and under(s, members[0]) is not None]
            for sub in subs:
                reasons = [under(sub, m) for m in members]
                if all(r is not None for r in reasons):
                    flat = tuple(t for r in reasons if r for t in r)
                    why = ((node, iri(OWL + "intersectionOf"), o), *flat)
                    changed |= graph.add(sub, node, "scm-int", tuple(dict.fromkeys(why)))
    return changed


def _under_property(box: TBox, p: Plain, q: Plain) -> Why | None:
    """Return the axioms by which `p` is a kind of `q`, or None."""
    if p == q:
        return ()
    seen: dict[Plain, Why] = {p: ()}
    todo: deque[Plain] = deque([p])
    edges = [(s, iri(RDFS + "subPropertyOf"), o) for s, o in box.triples.get(RDFS + "subPropertyOf", [])]
    equal = iri(OWL + "equivalentProperty")
    pairs = box.triples.get(OWL + "equivalentProperty", [])
    while todo:
        node = todo.popleft()
        steps: list[tuple[Plain, Why]] = [(o, ((s, e, o),)) for s, e, o in edges if s == node]
        steps += [(o, ((s, equal, o),)) for s, o in pairs if s == node]
        steps += [(s, ((s, equal, o),)) for s, o in pairs if o == node]
        for after, why in steps:
            if after not in seen:
                seen[after] = (*seen[node], *why)
                todo.append(after)
    return seen.get(q)
