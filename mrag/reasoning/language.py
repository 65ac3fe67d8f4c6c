"""The rules of OWL 2 RL that are the same for every ontology (OWL 2 Profiles, section 4.3)."""

from __future__ import annotations

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.reasoning.axioms import NOTHING, SAME, THING, TYPE
from mrag.reasoning.rules import ConsistencyCheck, Rule

X, Y, Z, P = pt.var("x"), pt.var("y"), pt.var("z"), pt.var("p")


SUBCLASS, SUBPROPERTY = pt.iri(RDFS + "subClassOf"), pt.iri(RDFS + "subPropertyOf")


DOMAIN, RANGE, INVERSE = pt.iri(RDFS + "domain"), pt.iri(RDFS + "range"), pt.iri(OWL + "inverseOf")


EQUIVALENT, EQUIVALENT_P = pt.iri(OWL + "equivalentClass"), pt.iri(OWL + "equivalentProperty")


DISJOINT, DISJOINT_P = pt.iri(OWL + "disjointWith"), pt.iri(OWL + "propertyDisjointWith")


DIFFERENT = pt.iri(OWL + "differentFrom")


def _plain_name(*nodes: ox.Variable) -> tuple[pt.Expression, ...]:
    """Conditions that nodes have names of their own and are no trivial ends of a hierarchy."""
    ends = (THING.iri, NOTHING.iri, pt.iri(RDFS + "Resource"))
    found: list[pt.Expression] = []
    for node in nodes:
        found.append(pt.Negation(pt.Call("strstarts", (pt.Call("str", (node,)), ox.Literal(SKOLEM)))))
        found.append(pt.Negation(pt.In(node, ends)))
    return tuple(found)


def language_rules() -> list[Rule]:
    """Return the rules."""
    rules: list[Rule] = []

    def add(
        name: str, head: tuple[ox.Variable, ox.NamedNode | ox.Variable, ox.NamedNode | ox.Variable],
        *body: tuple[ox.Variable, ox.NamedNode | ox.Variable, ox.NamedNode | ox.Variable],
        filters: tuple[pt.Expression, ...] = (), path: pt.Repeated | None = None,
    ) -> None:  # fmt: skip
        atoms = tuple(pt.TriplePattern(*b) for b in body)
        rules.append(Rule(name, None, atoms, filters, (), pt.TriplePattern(*head), path))

    differ = pt.Compare(X, "!=", Z)
    names, schema = _plain_name(X, Y), (*_plain_name(X, Z), differ)
    for name, p in (("scm-sco", SUBCLASS), ("scm-spo", SUBPROPERTY)):
        add(name, (X, p, Z), (X, p, Y), (Y, p, Z), filters=schema, path=pt.Repeated(p))
    for name, equal, sub in (("scm-eqc", EQUIVALENT, SUBCLASS), ("scm-eqp", EQUIVALENT_P, SUBPROPERTY)):
        unlike = (*names, pt.Compare(X, "!=", Y))
        add(name + "1", (X, sub, Y), (X, equal, Y), filters=unlike)
        add(name + "1", (Y, sub, X), (X, equal, Y), filters=unlike)
        add(name + "2", (X, equal, Y), (X, sub, Y), (Y, sub, X), filters=unlike)
    for name, p in (("scm-dom", DOMAIN), ("scm-rng", RANGE)):
        add(name + "1", (X, p, Z), (X, p, Y), (Y, SUBCLASS, Z), filters=_plain_name(X, Z))
        add(name + "2", (X, p, Z), (Y, p, Z), (X, SUBPROPERTY, Y), filters=_plain_name(X, Z))
    for name, p in (("scm-inv", INVERSE), ("scm-dw", DISJOINT), ("scm-pdw", DISJOINT_P)):
        add(name, (Y, p, X), (X, p, Y), filters=names)
    add("eq-diff-sym", (Y, DIFFERENT, X), (X, DIFFERENT, Y), filters=(pt.Call("isIRI", (Y,)),))
    kinds = [(k, k) for k in ("TransitiveProperty", "SymmetricProperty", "AsymmetricProperty")]
    kinds += [("FunctionalProperty", "InverseFunctionalProperty")]
    kinds += [("InverseFunctionalProperty", "FunctionalProperty")]
    for here, there in kinds:
        k, t = pt.iri(OWL + here), pt.iri(OWL + there)
        add("scm-inv-char", (Y, TYPE, t), (X, TYPE, k), (X, INVERSE, Y), filters=names)
        add("scm-inv-char", (Y, TYPE, t), (X, TYPE, k), (Y, INVERSE, X), filters=names)
    both = pt.Repeated(pt.Alternative((SAME, pt.Inverse(SAME))))
    add("eq-sym", (Y, SAME, X), (X, SAME, Y), filters=(pt.Compare(X, "!=", Y), pt.Call("isIRI", (Y,))))
    add("eq-trans", (X, SAME, Z), (X, SAME, Y), (Y, SAME, Z), filters=(differ,), path=both)
    # The nodes of axioms are not things in the domain: a list with two first members is none.
    parts = pt.Call("strstarts", (pt.Call("str", (P,)), ox.Literal(OWL)))
    lists = pt.In(P, (pt.iri(RDF + "first"), pt.iri(RDF + "rest")))
    structure = pt.AnyOf((pt.AllOf((parts, pt.Negation(pt.In(P, (DIFFERENT,))))), lists))
    apart = (pt.Compare(X, "!=", Y), pt.Negation(structure))
    add("eq-rep-s", (Y, P, Z), (X, SAME, Y), (X, P, Z), filters=apart)
    add("eq-rep-o", (Z, P, Y), (X, SAME, Y), (Z, P, X), filters=apart)
    for kind in ("Class", "ObjectProperty", "DatatypeProperty"):
        k, p = pt.iri(OWL + kind), EQUIVALENT if kind == "Class" else EQUIVALENT_P
        body = ((X, SAME, Y), (X, TYPE, k), (Y, TYPE, k))
        add("scm-same", (X, p, Y), *body, filters=(*names, pt.Compare(X, "!=", Y)))
    add("eq-rep-p", (X, pt.var("q"), Z), (P, SAME, pt.var("q")), (X, P, Z))
    return rules


def language_checks() -> list[ConsistencyCheck]:
    """Return what contradicts the language itself."""
    bottom = (pt.iri(OWL + "bottomObjectProperty"), pt.iri(OWL + "bottomDataProperty"))
    return [
        ConsistencyCheck("cls-nothing2", None, (pt.TriplePattern(X, TYPE, NOTHING.iri),)),
        ConsistencyCheck("eq-diff1", None, (pt.TriplePattern(X, SAME, Y), pt.TriplePattern(X, DIFFERENT, Y))),
        ConsistencyCheck("eq-diff1", None, (pt.TriplePattern(X, DIFFERENT, X),)),
        *(ConsistencyCheck("prp-bottom", None, (pt.TriplePattern(X, p, Y),)) for p in bottom),
    ]
