"""All axioms of a TBox, one construct after the other, handed to the compiler of rules."""

from __future__ import annotations

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.reasoning import axioms as ax
from mrag.reasoning.axioms import SAME, THING, TYPE, Axiom, ClassName, Plain, PropertyExpression, TripleKey
from mrag.reasoning.compiler import Compiler
from mrag.reasoning.language import (
    DIFFERENT,
    DISJOINT,
    DISJOINT_P,
    INVERSE,
    X,
    Y,
    Z,
    language_checks,
    language_rules,
)
from mrag.reasoning.rules import Branch, ConsistencyCheck, Ruleset, pairs
from mrag.reasoning.schema import schema_rules
from mrag.reasoning.tbox import TBox
from mrag.stores.base import Dataset, TripleStore


def compile_rules(store: TripleStore, dataset: Dataset) -> Ruleset:
    """Compile the axioms of a dataset to rules.

    Args:
        store: The store.
        dataset: Its asserted graphs. Axioms are read from these alone.

    Returns:
        Rules and checks in an order that depends on the axioms only.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> store = OxigraphStore()
        >>> store.insert(b"<urn:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:B> .", "urn:g")
        >>> rules = compile_rules(store, Dataset(default=("urn:g",))).rules
        >>> [str(r.head) for r in rules if r.name == "cax-sco"]
        ['TriplePattern(s=<Variable value=x>, p=<NamedNode value=http://www.w3.org/1999/02/22-rdf-syntax-ns#type>,
        o=<NamedNode value=urn:B>)']
        >>> store.close()
    """
    return compile_box(TBox.read(store, dataset))


def compile_box(box: TBox) -> Ruleset:
    """Compile a TBox that has been read."""
    c = Compiler(box)
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        if box.named(s) and box.is_datatype(s):
            c.datatypes[s] = box.expression(o)
    _classes(c)
    _properties(c)
    _individuals(c)
    for rule in (*schema_rules(box), *language_rules()):
        c.rules[rule] = None
    for check in language_checks():
        c.checks[check] = None
    return Ruleset(tuple(c.rules), tuple(c.checks), c.notes())


def _classes(c: Compiler) -> None:
    box = c.box

    def axiom(kind: str, s: Plain, p: str, o: Plain, *parts: ax.Expression) -> Axiom:
        return Axiom(kind, parts, (s, pt.iri(p), o))

    for s, o in box.triples.get(RDFS + "subClassOf", []):
        left, right = box.expression(s), box.expression(o)
        c.subsume("cax-sco", axiom("SubClassOf", s, RDFS + "subClassOf", o, left, right), left, right)
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        if s in c.datatypes:
            continue
        left, right = box.expression(s), box.expression(o)
        a = axiom("EquivalentTo", s, OWL + "equivalentClass", o, left, right)
        c.subsume("cax-eqc1", a, left, right)
        c.subsume("cax-eqc2", a, right, left)
    for node in sorted(box.structure, key=str):
        # A class with a name that is written out as an expression is equivalent to it.
        if isinstance(node, ox.NamedNode) and box.named(node) and box.has_structure(node):
            if node in box.kinds.get(RDFS + "Datatype", ()):
                continue
            left, right = ClassName(node), box.expression(node, inside=True)
            a = Axiom("EquivalentTo", (left, right), (node, TYPE, pt.iri(OWL + "Class")))
            c.subsume("cax-eqc1", a, left, right)
            c.subsume("cax-eqc2", a, right, left)
    for node in box.typed:
        if not box.named(node):
            right = box.expression(node)
            a = Axiom("Type", (right,), (node, TYPE, pt.iri(OWL + "Class")))
            c.subsume("cax-sco", a, ClassName(node), right)
    for s, o in box.triples.get(OWL + "disjointWith", []):
        a = axiom("DisjointWith", s, OWL + "disjointWith", o, box.expression(s), box.expression(o))
        _disjoint(c, "cax-dw", a, (box.expression(s), box.expression(o)))
    for s, o in box.triples.get(OWL + "disjointUnionOf", []):
        left, members = ClassName(s), tuple(box.expression(m) for m in box.members(o))
        a = axiom("DisjointUnionOf", s, OWL + "disjointUnionOf", o, left, *members)
        c.subsume("cax-eqc1", a, left, ax.UnionOf(members))
        c.subsume("cax-eqc2", a, ax.UnionOf(members), left)
        _disjoint(c, "cax-adc", a, members)
    for node, members_ in _members(c, "AllDisjointClasses"):
        parts = tuple(box.expression(m) for m in members_)
        _disjoint(c, "cax-adc", Axiom("DisjointClasses", parts, (node, TYPE, DISJOINT)), parts)
    for s, o in box.triples.get(OWL + "hasKey", []):
        keys = tuple(p for m in box.members(o) if (p := box.property(m)) is not None)
        left = box.expression(s)
        _key(c, Axiom("HasKey", (left, *keys), (s, pt.iri(OWL + "hasKey"), o)), left, keys)


def _members(c: Compiler, kind: str) -> list[tuple[ox.NamedNode, tuple[Plain, ...]]]:
    nodes = c.box.kinds.get(OWL + kind, [])
    found = []
    for p in ("members", "distinctMembers"):
        found += [(s, c.box.members(o)) for s, o in c.box.triples.get(OWL + p, []) if s in nodes]
    return found


def _disjoint(c: Compiler, name: str, axiom: Axiom, parts: tuple[ax.Expression, ...]) -> None:
    if len(parts) > 3 and all(isinstance(p, ClassName) for p in parts):
        # One query for the whole list instead of one for each pair of its members.
        rows = tuple((p.iri,) for p in parts if isinstance(p, ClassName))
        body = (pt.TriplePattern(X, TYPE, Y), pt.TriplePattern(X, TYPE, Z))
        ordered = pt.Compare(pt.Call("str", (Y,)), "<", pt.Call("str", (Z,)))
        c.checks[
            ConsistencyCheck(name, axiom, body, (ordered,), (pt.Values((Y,), rows), pt.Values((Z,), rows)))
        ] = None
        return
    for i, left in enumerate(parts):
        for right in parts[i + 1 :]:
            ways, others = c.matches(left, X), c.matches(right, X)
            if ways is None or others is None:
                # C and not D are disjoint just if C is a kind of D.
                c.subsume(name, axiom, left, ax.ComplementOf(right))
                c.subsume(name, axiom, right, ax.ComplementOf(left))
                continue
            for a in ways:
                for b in others:
                    c.check(name, axiom, a.with_(b))


def _key(c: Compiler, axiom: Axiom, left: ax.Expression, keys: tuple[PropertyExpression, ...]) -> None:
    ones, twos = c.matches(left, X), c.matches(left, Y)
    shared: list[pt.TriplePattern] = []
    for p in keys:
        value = c.new("k")
        shared += [atom for s in (X, Y) if (atom := c.atom(p, s, value)) is not None]
    differ = Branch(tuple(shared), (pt.Compare(X, "!=", Y),))
    for one in ones or []:
        for two in twos or []:
            if keys:
                c.rule("prp-key", axiom, differ.with_(one).with_(two), pt.TriplePattern(X, SAME, Y))


def _properties(c: Compiler) -> None:
    _inclusions(c)
    for p, o, _, key in _stated(c, RDFS + "domain"):
        value = c.box.expression(o)
        c.subsume("prp-dom", Axiom("Domain", (p, value), key), ax.SomeValuesFrom(p, THING), value)
    for p, o, _, key in _stated(c, RDFS + "range"):
        value = c.box.expression(o)
        c.subsume("prp-rng", Axiom("Range", (p, value), key), THING, ax.AllValuesFrom(p, value))
    for p, o, _, key in _stated(c, OWL + "propertyChainAxiom"):
        _chain(c, p, tuple(q for m in c.box.members(o) if (q := c.box.property(m)) is not None), key)
    for p, _, q, key in _stated(c, OWL + "propertyDisjointWith"):
        if q is not None:
            _disjoint_properties(c, "prp-pdw", Axiom("DisjointWith", (p, q), key), (p, q))
    for node, members in _members(c, "AllDisjointProperties"):
        ps = tuple(q for m in members if (q := c.box.property(m)) is not None)
        _disjoint_properties(c, "prp-adp", Axiom("DisjointProperties", ps, (node, TYPE, DISJOINT_P)), ps)
    _characteristics(c)


def _stated(
    c: Compiler, predicate: str
) -> list[tuple[PropertyExpression, Plain, PropertyExpression | None, TripleKey]]:
    """Return the axioms of a predicate between properties: subject, object, the object as a property."""
    found: list[tuple[PropertyExpression, Plain, PropertyExpression | None, TripleKey]] = []
    for s, o in c.box.triples.get(predicate, []):
        p = c.box.property(s)
        if p is not None:
            found.append((p, o, c.box.property(o), (s, pt.iri(predicate), o)))
    return found


def _inclusions(c: Compiler) -> None:
    """Add the rules by which one property implies another."""

    def implies(name: str, axiom: Axiom, p: PropertyExpression, q: PropertyExpression) -> None:
        body, head = c.atom(p, X, Y), c.atom(q, X, Y)
        if body is not None and head is not None:
            c.rule(name, axiom, Branch((body,)), head)

    for p, _, q, key in _stated(c, RDFS + "subPropertyOf"):
        if q is not None:
            implies("prp-spo1", Axiom("SubPropertyOf", (p, q), key), p, q)
    for p, _, q, key in _stated(c, OWL + "equivalentProperty"):
        if q is not None:
            implies("prp-eqp1", Axiom("EquivalentTo", (p, q), key), p, q)
            implies("prp-eqp2", Axiom("EquivalentTo", (p, q), key), q, p)
    for s, o in c.box.triples.get(OWL + "inverseOf", []):
        inverse = c.box.property(o)
        if c.box.named(s) and inverse is not None:
            p, q = PropertyExpression(s), inverse
            back, there = (PropertyExpression(x.iri, not x.inverse) for x in (q, p))
            a = Axiom("InverseOf", (p, q), (s, INVERSE, o))
            implies("prp-inv1", a, p, back)
            implies("prp-inv2", a, q, there)


def _chain(c: Compiler, p: PropertyExpression, steps: tuple[PropertyExpression, ...], key: TripleKey) -> None:
    nodes = (X, *(pt.var(f"y{i}") for i in range(1, len(steps))), Z)
    atoms = [c.atom(q, nodes[i], nodes[i + 1]) for i, q in enumerate(steps)]
    head = c.atom(p, X, Z)
    a = Axiom("PropertyChain", (*steps, p), key)
    body = tuple(atom for atom in atoms if atom is not None)
    if body and head is not None:
        transitive = len(steps) == 2 and all(q == p for q in steps)
        c.rule("prp-spo2", a, Branch(body), head, path=pt.Repeated(p.iri) if transitive else None)
        if transitive:
            stated = pt.TriplePattern(p.iri, TYPE, pt.iri(OWL + "TransitiveProperty"))
            c.rule("scm-spo2", a, Branch(), stated, beyond=True)


def _disjoint_properties(c: Compiler, name: str, axiom: Axiom, ps: tuple[PropertyExpression, ...]) -> None:
    for i, p in enumerate(ps):
        for q in ps[i + 1 :]:
            body = tuple(atom for each in (p, q) if (atom := c.atom(each, X, Y)) is not None)
            c.check(name, axiom, Branch(body))


def _characteristics(c: Compiler) -> None:
    def each(kind: str) -> list[tuple[PropertyExpression, Axiom]]:
        found: list[tuple[PropertyExpression, Axiom]] = []
        for n in c.box.kinds.get(OWL + kind, []):
            p = c.box.property(n)
            if p is None:
                continue
            axiom = Axiom(kind.removesuffix("Property"), (p,), (n, TYPE, pt.iri(OWL + kind)))
            # Ontologies do say that rdf:type is functional; OWL 2 does not allow it (Structural
            # Specification, section 2.4), and all classes of an entity would become one.
            if p.iri.value.startswith((RDF, RDFS, OWL)):
                c.note(axiom)
            else:
                found.append((p, axiom))
        return found

    def atom(p: PropertyExpression, s: ox.Variable, o: ox.Variable) -> pt.TriplePattern:
        return pt.TriplePattern(o, p.iri, s) if p.inverse else pt.TriplePattern(s, p.iri, o)

    for p, a in each("FunctionalProperty"):
        c.equate("prp-fp", a, Branch((atom(p, X, Y), atom(p, X, Z))), Y, Z, p)
    for p, a in each("InverseFunctionalProperty"):
        back = PropertyExpression(p.iri, not p.inverse)
        c.equate("prp-ifp", a, Branch((atom(p, Y, X), atom(p, Z, X))), Y, Z, back)
    for p, a in each("TransitiveProperty"):
        body, path = (atom(p, X, Y), atom(p, Y, Z)), pt.Repeated(p.iri)
        c.rule("prp-trp", a, Branch(body), atom(p, X, Z), path=path)
    for p, a in each("SymmetricProperty"):
        c.rule("prp-symp", a, Branch((atom(p, X, Y),)), atom(p, Y, X))
    for p, a in each("AsymmetricProperty"):
        c.check("prp-asyp", a, Branch((atom(p, X, Y), atom(p, Y, X))))
    for p, a in each("IrreflexiveProperty"):
        c.check("prp-irp", a, Branch((atom(p, X, X),)))
    for p, a in each("ReflexiveProperty"):
        known = (pt.TriplePattern(X, TYPE, pt.iri(OWL + "NamedIndividual")),)
        c.rule("prp-refl", a, Branch(known), pt.TriplePattern(X, p.iri, X), beyond=True)


def _individuals(c: Compiler) -> None:
    for node, members in _members(c, "AllDifferent"):
        a = Axiom("DifferentIndividuals", members, (node, TYPE, DIFFERENT))
        if len(members) > 3:
            rows = tuple((m,) for m in members)
            ordered = pt.Compare(pt.Call("str", (X,)), "<", pt.Call("str", (Y,)))
            values = (pt.Values((X,), rows), pt.Values((Y,), rows))
            c.checks[ConsistencyCheck("eq-diff2", a, (pt.TriplePattern(X, SAME, Y),), (ordered,), values)] = (
                None
            )
        else:
            for one, two in pairs(members):
                c.check("eq-diff2", a, Branch((pt.TriplePattern(one, SAME, two),)))
    cell: dict[ox.NamedNode, dict[str, Plain]] = {}
    for p in ("sourceIndividual", "assertionProperty", "targetIndividual", "targetValue"):
        for s, o in c.box.triples.get(OWL + p, []):
            cell.setdefault(s, {})[p] = o
    for node in sorted(cell, key=str):
        part = cell[node]
        target = part.get("targetIndividual", part.get("targetValue"))
        source, p_node = part.get("sourceIndividual"), part.get("assertionProperty")
        prop = c.box.property(p_node) if p_node is not None else None
        if source is not None and target is not None and prop is not None:
            atom = c.atom(prop, source, target)
            key = (node, pt.iri(OWL + "assertionProperty"), p_node or prop.iri)
            if atom is not None:
                a = Axiom("NegativeAssertion", (source, prop, target), key)
                c.check("prp-npa1", a, Branch((atom,)))


# -- rules of the language, the same for every TBox ------------------------------------------------------
