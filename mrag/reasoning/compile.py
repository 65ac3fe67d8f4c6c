"""All axioms of a TBox, one construct after the other, handed to the compiler of rules."""

from __future__ import annotations

import pyoxigraph as ox

from mrag.rdf.patterns import (
    AllOf,
    Alternative,
    AnyOf,
    Call,
    Compare,
    Expression,
    In,
    Inverse,
    Not,
    Repeated,
    TriplePattern,
    Values,
    iri,
    var,
)
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.reasoning import axioms as ax
from mrag.reasoning.axioms import NOTHING, SAME, THING, TYPE, Axiom, Named, Plain, Property, TBox
from mrag.reasoning.rules import Branch, Check, Compiler, Rule, Ruleset, pairs
from mrag.reasoning.schema import schema_rules
from mrag.stores.base import Dataset, TripleStore

X, Y, Z, P = var("x"), var("y"), var("z"), var("p")
SUBCLASS, SUBPROPERTY = iri(RDFS + "subClassOf"), iri(RDFS + "subPropertyOf")
_DOMAIN, _RANGE, _INVERSE = iri(RDFS + "domain"), iri(RDFS + "range"), iri(OWL + "inverseOf")
_EQUIVALENT, _EQUIVALENT_P = iri(OWL + "equivalentClass"), iri(OWL + "equivalentProperty")
_DISJOINT, _DISJOINT_P = iri(OWL + "disjointWith"), iri(OWL + "propertyDisjointWith")
_DIFFERENT = iri(OWL + "differentFrom")


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
    for rule in (*schema_rules(box), *_language()):
        c.rules[rule] = None
    for check in _language_checks():
        c.checks[check] = None
    return Ruleset(tuple(c.rules), tuple(c.checks), tuple(sorted(c.notes)))


def _classes(c: Compiler) -> None:
    box = c.box

    def axiom(kind: str, s: Plain, p: str, o: Plain, *parts: ax.Expression) -> Axiom:
        return Axiom(kind, parts, (s, iri(p), o))

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
            left, right = Named(node), box.expression(node, inside=True)
            a = Axiom("EquivalentTo", (left, right), (node, TYPE, iri(OWL + "Class")))
            c.subsume("cax-eqc1", a, left, right)
            c.subsume("cax-eqc2", a, right, left)
    for node in box.typed:
        if not box.named(node):
            right = box.expression(node)
            a = Axiom("Type", (right,), (node, TYPE, iri(OWL + "Class")))
            c.subsume("cax-sco", a, Named(node), right)
    for s, o in box.triples.get(OWL + "disjointWith", []):
        a = axiom("DisjointWith", s, OWL + "disjointWith", o, box.expression(s), box.expression(o))
        _disjoint(c, "cax-dw", a, (box.expression(s), box.expression(o)))
    for s, o in box.triples.get(OWL + "disjointUnionOf", []):
        left, members = Named(s), tuple(box.expression(m) for m in box.members(o))
        a = axiom("DisjointUnionOf", s, OWL + "disjointUnionOf", o, left, *members)
        c.subsume("cax-eqc1", a, left, ax.Or(members))
        c.subsume("cax-eqc2", a, ax.Or(members), left)
        _disjoint(c, "cax-adc", a, members)
    for node, members_ in _members(c, "AllDisjointClasses"):
        parts = tuple(box.expression(m) for m in members_)
        _disjoint(c, "cax-adc", Axiom("DisjointClasses", parts, (node, TYPE, _DISJOINT)), parts)
    for s, o in box.triples.get(OWL + "hasKey", []):
        keys = tuple(p for m in box.members(o) if (p := box.property(m)) is not None)
        left = box.expression(s)
        _key(c, Axiom("HasKey", (left, *keys), (s, iri(OWL + "hasKey"), o)), left, keys)


def _members(c: Compiler, kind: str) -> list[tuple[ox.NamedNode, tuple[Plain, ...]]]:
    nodes = c.box.kinds.get(OWL + kind, [])
    found = []
    for p in ("members", "distinctMembers"):
        found += [(s, c.box.members(o)) for s, o in c.box.triples.get(OWL + p, []) if s in nodes]
    return found


def _disjoint(c: Compiler, name: str, axiom: Axiom, parts: tuple[ax.Expression, ...]) -> None:
    if len(parts) > 3 and all(isinstance(p, Named) for p in parts):
        # One query for the whole list instead of one for each pair of its members.
        rows = tuple((p.iri,) for p in parts if isinstance(p, Named))
        body = (TriplePattern(X, TYPE, Y), TriplePattern(X, TYPE, Z))
        ordered = Compare(Call("str", (Y,)), "<", Call("str", (Z,)))
        c.checks[Check(name, axiom, body, (ordered,), (Values((Y,), rows), Values((Z,), rows)))] = None
        return
    for i, left in enumerate(parts):
        for right in parts[i + 1 :]:
            ways, others = c.matches(left, X), c.matches(right, X)
            if ways is None or others is None:
                # C and not D are disjoint just if C is a kind of D.
                c.subsume(name, axiom, left, ax.Complement(right))
                c.subsume(name, axiom, right, ax.Complement(left))
                continue
            for a in ways:
                for b in others:
                    c.check(name, axiom, a.with_(b))


def _key(c: Compiler, axiom: Axiom, left: ax.Expression, keys: tuple[Property, ...]) -> None:
    ones, twos = c.matches(left, X), c.matches(left, Y)
    shared: list[TriplePattern] = []
    for p in keys:
        value = c.new("k")
        shared += [atom for s in (X, Y) if (atom := c.atom(p, s, value)) is not None]
    differ = Branch(tuple(shared), (Compare(X, "!=", Y),))
    for one in ones or []:
        for two in twos or []:
            if keys:
                c.rule("prp-key", axiom, differ.with_(one).with_(two), TriplePattern(X, SAME, Y))


def _properties(c: Compiler) -> None:
    box = c.box

    def each(predicate: str) -> list[tuple[Property, Plain, Property | None, tuple[Plain, Plain, Plain]]]:
        found: list[tuple[Property, Plain, Property | None, tuple[Plain, Plain, Plain]]] = []
        for s, o in box.triples.get(predicate, []):
            p = box.property(s)
            if p is not None:
                found.append((p, o, box.property(o), (s, iri(predicate), o)))
        return found

    def implies(name: str, axiom: Axiom, p: Property, q: Property) -> None:
        body, head = c.atom(p, X, Y), c.atom(q, X, Y)
        if body is not None and head is not None:
            c.rule(name, axiom, Branch((body,)), head)

    for p, _, q, key in each(RDFS + "subPropertyOf"):
        if q is not None:
            implies("prp-spo1", Axiom("SubPropertyOf", (p, q), key), p, q)
    for p, _, q, key in each(OWL + "equivalentProperty"):
        if q is not None:
            implies("prp-eqp1", Axiom("EquivalentTo", (p, q), key), p, q)
            implies("prp-eqp2", Axiom("EquivalentTo", (p, q), key), q, p)
    for s, o in box.triples.get(OWL + "inverseOf", []):
        inverse = box.property(o)
        if box.named(s) and inverse is not None:
            p, q = Property(s), inverse
            back, there = (Property(x.iri, not x.inverse) for x in (q, p))
            a = Axiom("InverseOf", (p, q), (s, _INVERSE, o))
            implies("prp-inv1", a, p, back)
            implies("prp-inv2", a, q, there)
    for p, o, _, key in each(RDFS + "domain"):
        value = box.expression(o)
        c.subsume("prp-dom", Axiom("Domain", (p, value), key), ax.Some(p, THING), value)
    for p, o, _, key in each(RDFS + "range"):
        value = box.expression(o)
        c.subsume("prp-rng", Axiom("Range", (p, value), key), THING, ax.Only(p, value))
    for p, o, _, key in each(OWL + "propertyChainAxiom"):
        steps = tuple(q for m in box.members(o) if (q := box.property(m)) is not None)
        nodes = (X, *(var(f"y{i}") for i in range(1, len(steps))), Z)
        atoms = [c.atom(q, nodes[i], nodes[i + 1]) for i, q in enumerate(steps)]
        head = c.atom(p, X, Z)
        a = Axiom("PropertyChain", (*steps, p), key)
        body = tuple(atom for atom in atoms if atom is not None)
        if body and head is not None:
            transitive = len(steps) == 2 and all(q == p for q in steps)
            c.rule("prp-spo2", a, Branch(body), head, path=Repeated(p.iri) if transitive else None)
            if transitive:
                told = TriplePattern(p.iri, TYPE, iri(OWL + "TransitiveProperty"))
                c.rule("scm-spo2", a, Branch(), told, beyond=True)
    for p, _, q, key in each(OWL + "propertyDisjointWith"):
        if q is not None:
            _disjoint_properties(c, "prp-pdw", Axiom("DisjointWith", (p, q), key), (p, q))
    for node, members in _members(c, "AllDisjointProperties"):
        ps = tuple(q for m in members if (q := box.property(m)) is not None)
        _disjoint_properties(c, "prp-adp", Axiom("DisjointProperties", ps, (node, TYPE, _DISJOINT_P)), ps)
    _characteristics(c)


def _disjoint_properties(c: Compiler, name: str, axiom: Axiom, ps: tuple[Property, ...]) -> None:
    for i, p in enumerate(ps):
        for q in ps[i + 1 :]:
            body = tuple(atom for each in (p, q) if (atom := c.atom(each, X, Y)) is not None)
            c.check(name, axiom, Branch(body))


def _characteristics(c: Compiler) -> None:
    def each(kind: str) -> list[tuple[Property, Axiom]]:
        found: list[tuple[Property, Axiom]] = []
        for n in c.box.kinds.get(OWL + kind, []):
            p = c.box.property(n)
            if p is None:
                continue
            axiom = Axiom(kind.removesuffix("Property"), (p,), (n, TYPE, iri(OWL + kind)))
            # Ontologies do say that rdf:type is functional; OWL 2 does not allow it (Structural
            # Specification, section 2.4), and all classes of an entity would become one.
            if p.iri.value.startswith((RDF, RDFS, OWL)):
                c.note(axiom)
            else:
                found.append((p, axiom))
        return found

    def atom(p: Property, s: ox.Variable, o: ox.Variable) -> TriplePattern:
        return TriplePattern(o, p.iri, s) if p.inverse else TriplePattern(s, p.iri, o)

    for p, a in each("FunctionalProperty"):
        c.equate("prp-fp", a, Branch((atom(p, X, Y), atom(p, X, Z))), Y, Z, p)
    for p, a in each("InverseFunctionalProperty"):
        back = Property(p.iri, not p.inverse)
        c.equate("prp-ifp", a, Branch((atom(p, Y, X), atom(p, Z, X))), Y, Z, back)
    for p, a in each("TransitiveProperty"):
        body, path = (atom(p, X, Y), atom(p, Y, Z)), Repeated(p.iri)
        c.rule("prp-trp", a, Branch(body), atom(p, X, Z), path=path)
    for p, a in each("SymmetricProperty"):
        c.rule("prp-symp", a, Branch((atom(p, X, Y),)), atom(p, Y, X))
    for p, a in each("AsymmetricProperty"):
        c.check("prp-asyp", a, Branch((atom(p, X, Y), atom(p, Y, X))))
    for p, a in each("IrreflexiveProperty"):
        c.check("prp-irp", a, Branch((atom(p, X, X),)))
    for p, a in each("ReflexiveProperty"):
        known = (TriplePattern(X, TYPE, iri(OWL + "NamedIndividual")),)
        c.rule("prp-refl", a, Branch(known), TriplePattern(X, p.iri, X), beyond=True)


def _individuals(c: Compiler) -> None:
    for node, members in _members(c, "AllDifferent"):
        a = Axiom("DifferentIndividuals", members, (node, TYPE, _DIFFERENT))
        if len(members) > 3:
            rows = tuple((m,) for m in members)
            ordered = Compare(Call("str", (X,)), "<", Call("str", (Y,)))
            values = (Values((X,), rows), Values((Y,), rows))
            c.checks[Check("eq-diff2", a, (TriplePattern(X, SAME, Y),), (ordered,), values)] = None
        else:
            for one, two in pairs(members):
                c.check("eq-diff2", a, Branch((TriplePattern(one, SAME, two),)))
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
            key = (node, iri(OWL + "assertionProperty"), p_node or prop.iri)
            if atom is not None:
                a = Axiom("NegativeAssertion", (source, prop, target), key)
                c.check("prp-npa1", a, Branch((atom,)))


# -- rules of the language, the same for every TBox ------------------------------------------------------


def _plain_name(*nodes: ox.Variable) -> tuple[Expression, ...]:
    """Conditions that nodes have names of their own and are no trivial ends of a hierarchy."""
    ends = (THING.iri, NOTHING.iri, iri(RDFS + "Resource"))
    found: list[Expression] = []
    for node in nodes:
        found.append(Not(Call("strstarts", (Call("str", (node,)), ox.Literal(SKOLEM)))))
        found.append(Not(In(node, ends)))
    return tuple(found)


def _language() -> list[Rule]:
    rules: list[Rule] = []

    def add(
        name: str, head: tuple[ox.Variable, ox.NamedNode | ox.Variable, ox.NamedNode | ox.Variable],
        *body: tuple[ox.Variable, ox.NamedNode | ox.Variable, ox.NamedNode | ox.Variable],
        filters: tuple[Expression, ...] = (), path: Repeated | None = None,
    ) -> None:  # fmt: skip
        atoms = tuple(TriplePattern(*b) for b in body)
        rules.append(Rule(name, None, atoms, filters, (), TriplePattern(*head), path))

    differ = Compare(X, "!=", Z)
    names, schema = _plain_name(X, Y), (*_plain_name(X, Z), differ)
    for name, p in (("scm-sco", SUBCLASS), ("scm-spo", SUBPROPERTY)):
        add(name, (X, p, Z), (X, p, Y), (Y, p, Z), filters=schema, path=Repeated(p))
    for name, equal, sub in (("scm-eqc", _EQUIVALENT, SUBCLASS), ("scm-eqp", _EQUIVALENT_P, SUBPROPERTY)):
        unlike = (*names, Compare(X, "!=", Y))
        add(name + "1", (X, sub, Y), (X, equal, Y), filters=unlike)
        add(name + "1", (Y, sub, X), (X, equal, Y), filters=unlike)
        add(name + "2", (X, equal, Y), (X, sub, Y), (Y, sub, X), filters=unlike)
    for name, p in (("scm-dom", _DOMAIN), ("scm-rng", _RANGE)):
        add(name + "1", (X, p, Z), (X, p, Y), (Y, SUBCLASS, Z), filters=_plain_name(X, Z))
        add(name + "2", (X, p, Z), (Y, p, Z), (X, SUBPROPERTY, Y), filters=_plain_name(X, Z))
    for name, p in (("scm-inv", _INVERSE), ("scm-dw", _DISJOINT), ("scm-pdw", _DISJOINT_P)):
        add(name, (Y, p, X), (X, p, Y), filters=names)
    add("eq-diff-sym", (Y, _DIFFERENT, X), (X, _DIFFERENT, Y), filters=(Call("isIRI", (Y,)),))
    kinds = [(k, k) for k in ("TransitiveProperty", "SymmetricProperty", "AsymmetricProperty")]
    kinds += [("FunctionalProperty", "InverseFunctionalProperty")]
    kinds += [("InverseFunctionalProperty", "FunctionalProperty")]
    for here, there in kinds:
        k, t = iri(OWL + here), iri(OWL + there)
        add("scm-inv-char", (Y, TYPE, t), (X, TYPE, k), (X, _INVERSE, Y), filters=names)
        add("scm-inv-char", (Y, TYPE, t), (X, TYPE, k), (Y, _INVERSE, X), filters=names)
    both = Repeated(Alternative((SAME, Inverse(SAME))))
    add("eq-sym", (Y, SAME, X), (X, SAME, Y), filters=(Compare(X, "!=", Y), Call("isIRI", (Y,))))
    add("eq-trans", (X, SAME, Z), (X, SAME, Y), (Y, SAME, Z), filters=(differ,), path=both)
    # The nodes of axioms are not things in the domain: a list with two first members is none.
    parts = Call("strstarts", (Call("str", (P,)), ox.Literal(OWL)))
    lists = In(P, (iri(RDF + "first"), iri(RDF + "rest")))
    structure = AnyOf((AllOf((parts, Not(In(P, (_DIFFERENT,))))), lists))
    apart = (Compare(X, "!=", Y), Not(structure))
    add("eq-rep-s", (Y, P, Z), (X, SAME, Y), (X, P, Z), filters=apart)
    add("eq-rep-o", (Z, P, Y), (X, SAME, Y), (Z, P, X), filters=apart)
    for kind in ("Class", "ObjectProperty", "DatatypeProperty"):
        k, p = iri(OWL + kind), _EQUIVALENT if kind == "Class" else _EQUIVALENT_P
        body = ((X, SAME, Y), (X, TYPE, k), (Y, TYPE, k))
        add("scm-same", (X, p, Y), *body, filters=(*names, Compare(X, "!=", Y)))
    add("eq-rep-p", (X, var("q"), Z), (P, SAME, var("q")), (X, P, Z))
    return rules


def _language_checks() -> list[Check]:
    bottom = (iri(OWL + "bottomObjectProperty"), iri(OWL + "bottomDataProperty"))
    return [
        Check("cls-nothing2", None, (TriplePattern(X, TYPE, NOTHING.iri),)),
        Check("eq-diff1", None, (TriplePattern(X, SAME, Y), TriplePattern(X, _DIFFERENT, Y))),
        Check("eq-diff1", None, (TriplePattern(X, _DIFFERENT, X),)),
        *(Check("prp-bottom", None, (TriplePattern(X, p, Y),)) for p in bottom),
    ]
