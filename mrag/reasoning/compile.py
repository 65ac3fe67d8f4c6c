"""The axioms of a graph compiled to rules: one construct after the other, a side of an inclusion at a time.

A class expression on the left of an inclusion becomes patterns to match, one rule for each branch of a union;
on the right it becomes triples to add, or a check for clashing triples. Inclusions between named classes that
pass through nameless ones (OWL 2 Profiles, table 9) are worked out once, because nameless classes are never
stored as conclusions, and become rules whose bodies are the axioms. The rules of the language itself are the
same for every ontology (OWL 2 Profiles, section 4.3).
"""

from __future__ import annotations

from collections import deque
from itertools import combinations, count
from typing import TypeAlias

import pyoxigraph as ox
from rdflib import Literal

from mrag.rdf import expressions as ce
from mrag.rdf import patterns as pt
from mrag.rdf.datatypes import inside, outside, within
from mrag.rdf.expressions import Expression, Property
from mrag.rdf.patterns import TriplePattern, iri
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, to_ox
from mrag.reasoning import rules as ax
from mrag.reasoning.rules import NOTHING, SAME, THING, TYPE, Axiom, Branch, Plain, Rule, in_words
from mrag.stores.base import Dataset, TripleStore

X, Y, Z, P = pt.var("x"), pt.var("y"), pt.var("z"), pt.var("p")
SUBCLASS, SUBPROPERTY = pt.iri(RDFS + "subClassOf"), pt.iri(RDFS + "subPropertyOf")
DOMAIN, RANGE, INVERSE = pt.iri(RDFS + "domain"), pt.iri(RDFS + "range"), pt.iri(OWL + "inverseOf")
EQUIVALENT, EQUIVALENT_P = pt.iri(OWL + "equivalentClass"), pt.iri(OWL + "equivalentProperty")
DISJOINT, DISJOINT_P = pt.iri(OWL + "disjointWith"), pt.iri(OWL + "propertyDisjointWith")
DIFFERENT = pt.iri(OWL + "differentFrom")
_MAX_PAIRS = 200_000
Why: TypeAlias = tuple[tuple[Plain, ox.NamedNode, Plain], ...]  # The axiom triples behind an inclusion


class _Graph:
    """Inclusions between class nodes, each with the triples that give it."""

    def __init__(self) -> None:
        self.up: dict[Plain, dict[Plain, tuple[str, Why]]] = {}

    def add(self, sub: Plain, sup: Plain, name: str, why: Why) -> bool:
        if sub == sup or sup in self.up.get(sub, {}):
            return False
        self.up.setdefault(sub, {})[sup] = (name, why)
        return True

    def reach(self, start: Plain, *, through_named: bool, box: ax.TBox) -> dict[Plain, tuple[str, Why]]:
        """Return what lies above a node, with the shortest reason; named nodes end a way on request."""
        ways: dict[Plain, tuple[str, Why]] = {}
        todo: deque[tuple[Plain, str, Why]] = deque([(start, "", ())])
        while todo:
            node, name, why = todo.popleft()
            for sup, (step, because) in self.up.get(node, {}).items():
                if sup in ways or sup == start:
                    continue
                whole = (name or step, tuple(dict.fromkeys((*why, *because))))
                ways[sup] = whole
                if through_named or not box.named(sup):
                    todo.append((sup, *whole))
        return ways


def schema_rules(box: ax.TBox) -> list[Rule]:
    """Return rules without variables: a named inclusion follows from axioms that stand in the graph."""
    written = (n for n in sorted(box.structure, key=str) if box.has_structure(n))
    nodes = [n for n in written if isinstance(n, ox.NamedNode)]
    graph = _state(box, nodes)
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
            direct = (start, SUBCLASS, end)
            if box.named(end) and end not in (THING, NOTHING) and direct not in why:
                if len(why) == 1 and why[0][1].value == OWL + "equivalentClass":
                    continue  # between two names: a generic rule says it
                body = tuple(TriplePattern(*t) for t in why)
                axiom = Axiom("SubClassOf", (box.expression(start), box.expression(end)), why[0])
                rules.append(Rule(name, axiom, body, (), (), TriplePattern(start, SUBCLASS, end)))
    return rules


def _state(box: ax.TBox, nodes: list[ox.NamedNode]) -> _Graph:
    graph = _Graph()
    for s, o in box.triples.get(RDFS + "subClassOf", []):
        graph.add(s, o, "scm-sco", ((s, SUBCLASS, o),))
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        graph.add(s, o, "scm-eqc1", ((s, EQUIVALENT, o),))
        graph.add(o, s, "scm-eqc1", ((s, EQUIVALENT, o),))
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


def _restrictions(box: ax.TBox, nodes: list[ox.NamedNode], graph: _Graph) -> bool:
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
                if w == THING and kind == "someValuesFrom":
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


def _under_property(box: ax.TBox, p: Plain, q: Plain) -> Why | None:
    """Return the axioms by which `p` is a kind of `q`, or None."""
    if p == q:
        return ()
    seen: dict[Plain, Why] = {p: ()}
    todo: deque[Plain] = deque([p])
    edges = [(s, SUBPROPERTY, o) for s, o in box.triples.get(RDFS + "subPropertyOf", [])]
    pairs = box.triples.get(OWL + "equivalentProperty", [])
    while todo:
        node = todo.popleft()
        steps: list[tuple[Plain, Why]] = [(o, ((s, e, o),)) for s, e, o in edges if s == node]
        steps += [(o, ((s, EQUIVALENT_P, o),)) for s, o in pairs if s == node]
        steps += [(s, ((s, EQUIVALENT_P, o),)) for s, o in pairs if o == node]
        for after, why in steps:
            if after not in seen:
                seen[after] = (*seen[node], *why)
                todo.append(after)
    return seen.get(q)


def _node(value: str | Literal) -> Plain:
    """Return an individual or a literal of an expression as a term of triples."""
    return to_ox(value) if isinstance(value, Literal) else iri(value)


def _plain_name(*nodes: ox.Variable) -> tuple[pt.Expression, ...]:
    """Conditions that nodes have names of their own and are no trivial ends of a hierarchy."""
    ends = (THING, NOTHING, pt.iri(RDFS + "Resource"))
    names: list[pt.Expression] = []
    for node in nodes:
        names.append(pt.Negation(pt.Call("strstarts", (pt.Call("str", (node,)), ox.Literal(SKOLEM)))))
        names.append(pt.Negation(pt.In(node, ends)))
    return tuple(names)


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


def language_checks() -> list[ax.ConsistencyCheck]:
    """Return what contradicts the language itself."""
    bottom = (pt.iri(OWL + "bottomObjectProperty"), pt.iri(OWL + "bottomDataProperty"))
    return [
        ax.ConsistencyCheck("cls-nothing2", None, (pt.TriplePattern(X, TYPE, NOTHING),)),
        ax.ConsistencyCheck(
            "eq-diff1", None, (pt.TriplePattern(X, SAME, Y), pt.TriplePattern(X, DIFFERENT, Y))
        ),
        ax.ConsistencyCheck("eq-diff1", None, (pt.TriplePattern(X, DIFFERENT, X),)),
        *(ax.ConsistencyCheck("prp-bottom", None, (pt.TriplePattern(X, p, Y),)) for p in bottom),
    ]


_SILENT = {RDFS + "Resource", RDFS + "Literal"}
_MAX_BRANCHES = 4096


class Compiler:
    """Turns the axioms of a ax.TBox into rules and checks."""

    def __init__(self, box: ax.TBox) -> None:
        self.box = box
        self.rules: dict[Rule, None] = {}
        self.checks: dict[ax.ConsistencyCheck, None] = {}
        self._missing: dict[Axiom, dict[tuple[str, str] | None, None]] = {}
        self._left = ""
        self.datatypes: dict[str, Expression] = {}
        self._fresh = count()

    def new(self, prefix: str = "v") -> ox.Variable:
        """Return a variable not used before in this axiom."""
        return pt.var(f"{prefix}{next(self._fresh)}")

    # -- left sides ------------------------------------------------------------------------------------

    def matches(self, expression: Expression, x: pt.Node) -> list[Branch] | None:
        """Return the ways `x` can be an instance, or None where matching cannot tell (open world)."""
        match expression:
            case ce.Top():
                return [Branch()]
            case ce.Bottom():
                return []
            case ce.Named(c):
                if c in self.datatypes:
                    return self.matches(self.datatypes[c], x)
                if self.box.is_datatype(iri(c)):
                    return [Branch(filters=(inside(iri(c), x),))]
                return [Branch() if c in _SILENT else Branch((pt.TriplePattern(x, TYPE, iri(c)),))]
            case ce.And(parts):
                return self._all(parts, x)
            case ce.Or(parts):
                branches = [self.matches(p, x) for p in parts]
                if all(f is None for f in branches):
                    return None
                return [b for f in branches if f is not None for b in f]
            case ce.OneOf():
                return self._one_of(expression, x)
            case ce.Some(p, filler):
                return self._relate(p, filler, x)
            case ce.AtLeast(n, p, filler):
                return [Branch()] if n == 0 else self._relate(p, filler, x) if n == 1 else None
            case ce.Value(p, value):
                atom = self.atom(p, x, _node(value))
                return None if atom is None else [Branch((atom,))]
            case ce.HasSelf(p):
                return [Branch((pt.TriplePattern(x, iri(p.iri), x),))]
            case ce.DataRange():
                test = within(expression, x, clash=False)
                return None if test is None else [Branch(filters=(test,))]
            case _:
                return None

    def _all(self, parts: tuple[Expression, ...], x: pt.Node) -> list[Branch] | None:
        branches = [Branch()]
        for part in parts:
            ways = self.matches(part, x)
            if ways is None or len(ways) * len(branches) > _MAX_BRANCHES:
                return None
            branches = [b.with_(w) for b in branches for w in ways]
        return branches

    def _one_of(self, given: ce.OneOf, x: pt.Node) -> list[Branch]:
        members = tuple(map(_node, given.members))
        if not isinstance(x, ox.Variable):
            return [Branch()] if x in members else []
        if all(isinstance(m, ox.Literal) for m in members):
            return [Branch(filters=(pt.In(x, members),))]
        return [Branch(binding=((x, m),)) for m in members]

    def _relate(self, p: Property, filler: Expression, x: pt.Node) -> list[Branch] | None:
        y = self.new()
        ways = self.matches(filler, y)
        atom = self.atom(p, x, y)
        if ways is None or atom is None:
            return None
        return [Branch((atom,)).with_(w) for w in ways]

    def atom(self, p: Property, x: pt.Node, y: pt.Node) -> pt.TriplePattern | None:
        """Return the triple of a property or its inverse; None with a literal for a subject."""
        s, o = (y, x) if p.inverse else (x, y)
        return None if isinstance(s, ox.Literal) else pt.TriplePattern(s, iri(p.iri), o)

    # -- right sides -----------------------------------------------------------------------------------

    def follow(self, name: str, axiom: Axiom, branch: Branch, expression: Expression, x: pt.Node) -> None:
        """Add the rules by which `x`, matched by `branch`, is an instance of the expression."""
        match expression:
            case ce.Top():
                pass
            case ce.Bottom():
                self.check("cls-nothing2", axiom, branch)
            case ce.Named(c):
                self._follow_named(name, axiom, branch, c, x)
            case ce.And(parts):
                for part in parts:
                    self.follow("cls-int2" if name.startswith("cax") else name, axiom, branch, part, x)
            case ce.Not(of):
                self._clash("cls-com", axiom, branch, self.matches(of, x), expression)
            case ce.OneOf():
                self._follow_one_of(axiom, branch, expression, x)
            case ce.Or():
                self._follow_or(name, axiom, branch, expression, x)
            case ce.DataRange():
                test = within(expression, x, clash=True)
                if test is not None:
                    self.check("dt-facet", axiom, branch.with_(Branch(filters=(test,))))
            case _:
                self._follow_restriction(name, axiom, branch, expression, x)

    def _follow_restriction(
        self, name: str, axiom: Axiom, branch: Branch, restriction: ce.Restriction, x: pt.Node
    ) -> None:
        match restriction:
            case ce.Only(p, filler):
                y = self.new()
                atom = self.atom(p, x, y)
                if atom is not None:
                    step, left = branch.with_(Branch((atom,))), self._left
                    back = in_words(Property(p.iri, not p.inverse))
                    self._left = f"{back} some ({left})" if " " in left else f"{back} some {left}"
                    self.follow("cls-avf" if name.startswith("cax") else name, axiom, step, filler, y)
                    self._left = left
            case ce.Value(p, value):
                head = self.atom(p, x, _node(value))
                if head is not None:
                    self.rule("cls-hv1", axiom, branch, head)
            case ce.HasSelf(p):
                self.rule("cls-self", axiom, branch, pt.TriplePattern(x, iri(p.iri), x))
            case ce.AtMost():
                self._at_most(axiom, branch, restriction, x)
            case ce.Some(p, ce.OneOf((only,))) | ce.AtLeast(1, p, ce.OneOf((only,))):
                self.follow(name, axiom, branch, ce.Value(p, only), x)
            case ce.AtLeast(0, _, _):
                pass
            case _:
                self.note(axiom, restriction)

    def _clash(
        self, name: str, axiom: Axiom, branch: Branch, ways: list[Branch] | None, right: Expression
    ) -> None:
        """Add a check for each way to be an instance of what is excluded."""
        if ways is None:
            self.note(axiom, right)
        for way in ways or []:
            self.check(name, axiom, branch.with_(way))

    def _follow_named(self, name: str, axiom: Axiom, branch: Branch, c: str, x: pt.Node) -> None:
        if c in self.datatypes:
            self.follow(name, axiom, branch, self.datatypes[c], x)
        elif self.box.is_datatype(iri(c)):
            test = outside(iri(c), x)
            if test is not None:
                self.check("dt-not-type", axiom, branch.with_(Branch(filters=(test,))))
        elif c not in _SILENT:
            self.rule(name, axiom, branch, pt.TriplePattern(x, TYPE, iri(c)))

    def _follow_one_of(self, axiom: Axiom, branch: Branch, right: ce.OneOf, x: pt.Node) -> None:
        members = tuple(map(_node, right.members))
        if all(isinstance(m, ox.Literal) for m in members):
            test = pt.AllOf((pt.Call("isLiteral", (x,)), *(pt.Compare(x, "!=", m) for m in members)))
            self.check("dt-facet", axiom, branch.with_(Branch(filters=(test,))))
        elif len(members) == 1:
            different = Branch(filters=(pt.Compare(x, "!=", members[0]),))
            head = pt.TriplePattern(x, SAME, members[0])
            self.rule("cls-oo", axiom, branch.with_(different), head)
        else:
            self.note(axiom, right)

    def _follow_or(self, name: str, axiom: Axiom, branch: Branch, right: ce.Or, x: pt.Node) -> None:
        # A ⊑ ¬B ⊔ C says the same as A ⊓ B ⊑ C, so negated parts move to the left.
        negated = [p.of for p in right.parts if isinstance(p, ce.Not)]
        rest = [p for p in right.parts if not isinstance(p, ce.Not) and p != ce.Bottom()]
        ways = self._all(tuple(negated), x)
        if len(rest) > 1 or ways is None:
            self.note(axiom, right)
            return
        for way in ways:
            if rest:
                self.follow(name, axiom, branch.with_(way), rest[0], x)
            else:
                self.check("cls-com", axiom, branch.with_(way))

    def _at_most(self, axiom: Axiom, branch: Branch, right: ce.AtMost, x: pt.Node) -> None:
        n, p, filler = right.n, right.property, right.filler
        qualified = filler != ce.Top()
        name = f"cls-max{'q' if qualified else ''}c"
        if n == 0:
            self._clash(name + "1", axiom, branch, self._relate(p, filler, x), right)
        elif n == 1:
            one, two = (self._relate(p, filler, x) for _ in range(2))
            if one is None or two is None:
                self.note(axiom, right)
                return
            for a in one:
                for b in two:
                    y, z = (w.body[0].s if p.inverse else w.body[0].o for w in (a, b))
                    self.equate(name + ("3" if qualified else "2"), axiom, branch.with_(a).with_(b), y, z, p)
        else:
            self.note(axiom, right)

    # -- adding ----------------------------------------------------------------------------------------

    def rule(
        self,
        name: str,
        axiom: Axiom | None,
        branch: Branch,
        head: pt.TriplePattern,
        *,
        path: pt.Path | None = None,
    ) -> None:
        """Add a rule, with `owl:Thing` spelt out where the left side matches everything."""
        resolved = ax.resolve(branch, head)
        if resolved is None:
            return
        body, filters, head = resolved
        bodies = [body]
        if not body and head.ground and axiom is not None:
            bodies = [(pt.TriplePattern(*axiom.source),)]
        elif not body:
            kinds = (OWL + "NamedIndividual", OWL + "Thing")
            bodies = [(pt.TriplePattern(head.s, TYPE, pt.iri(k)),) for k in kinds]
        for each in bodies:
            if head not in each:
                self.rules[Rule(name, axiom, each, tuple(dict.fromkeys(filters)), (), head, path)] = None

    def check(self, name: str, axiom: Axiom | None, branch: Branch) -> None:
        """Add a check."""
        resolved = ax.resolve(branch, None)
        if resolved is not None and (resolved[0] or resolved[1]):
            body = resolved[0]
            if not body and axiom is not None:
                body = (pt.TriplePattern(*axiom.source),)
            self.checks[ax.ConsistencyCheck(name, axiom, body, tuple(dict.fromkeys(resolved[1])))] = None

    def equate(self, name: str, axiom: Axiom, branch: Branch, y: pt.Node, z: pt.Node, p: Property) -> None:
        """Add the rule that two values are one thing, and the check that two literals are one value."""
        differ = pt.Compare(y, "!=", z)
        if not self.box.is_kind(iri(p.iri), "DatatypeProperty") or p.inverse:
            things = Branch(filters=(pt.Call("isIRI", (y,)), pt.Call("isIRI", (z,)), differ))
            self.rule(name, axiom, branch.with_(things), pt.TriplePattern(y, SAME, z))
        if not self.box.is_kind(iri(p.iri), "ObjectProperty") and not p.inverse:
            values = Branch(filters=(pt.Call("isLiteral", (y,)), pt.Call("isLiteral", (z,)), differ))
            self.check(name, axiom, branch.with_(values))

    def note(self, axiom: Axiom, right: Expression | None = None) -> None:
        """Remember that an axiom has no rule, or none by which the left side of it implies `right`."""
        missing = None if right is None else (self._left, in_words(right))
        self._missing.setdefault(axiom, {})[missing] = None

    def notes(self) -> tuple[str, ...]:
        """Return which axioms have no rule at all, and of others what does not follow, in words."""
        applied = {x.axiom for x in (*self.rules, *self.checks)}
        notes = []
        for axiom, sides in self._missing.items():
            if axiom not in applied or None in sides:
                notes.append(f"Not applied: {axiom.text()}")
                continue
            said = "; ".join(f"it does not follow from “{a}” that “{b}”" for a, b in filter(None, sides))
            notes.append(f"Applied, except that {said}: {axiom.text()}")
        return tuple(sorted(set(notes)))

    def subsume(self, name: str, axiom: Axiom, left: Expression, right: Expression) -> None:
        """Add the rules of `left ⊑ right`."""
        self._fresh = count()
        self._left = in_words(left)
        x = pt.var("x")
        branches = self.matches(left, x)
        if branches is None:
            self.note(axiom, right)
        for branch in branches or []:
            self.follow(name, axiom, branch, right, x)


def compile_rules(store: TripleStore, dataset: Dataset) -> ax.Ruleset:
    """Compile the axioms of a dataset to rules."""
    box = ax.TBox.read(store, dataset)
    c = Compiler(box)
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        if box.named(s) and box.is_datatype(s):
            c.datatypes[s.value] = box.expression(o)
    _classes(c)
    _properties(c)
    _individuals(c)
    c.rules |= dict.fromkeys((*schema_rules(box), *language_rules()))
    c.checks |= dict.fromkeys(language_checks())
    return ax.Ruleset(tuple(c.rules), tuple(c.checks), c.notes())


def _classes(c: Compiler) -> None:
    box = c.box

    def axiom(kind: str, s: Plain, p: str, o: Plain, *parts: Expression) -> Axiom:
        return Axiom(kind, parts, (s, pt.iri(p), o))

    for s, o in box.triples.get(RDFS + "subClassOf", []):
        left, right = box.expression(s), box.expression(o)
        c.subsume("cax-sco", axiom("SubClassOf", s, RDFS + "subClassOf", o, left, right), left, right)
    for s, o in box.triples.get(OWL + "equivalentClass", []):
        if s.value in c.datatypes:
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
            left, right = ce.class_named(node.value), box.expression(node, inside=True)
            a = Axiom("EquivalentTo", (left, right), (node, TYPE, pt.iri(OWL + "Class")))
            c.subsume("cax-eqc1", a, left, right)
            c.subsume("cax-eqc2", a, right, left)
    for node in box.typed:
        if not box.named(node):
            right = box.expression(node)
            a = Axiom("Type", (right,), (node, TYPE, pt.iri(OWL + "Class")))
            c.subsume("cax-sco", a, ce.class_named(node.value), right)
    for s, o in box.triples.get(OWL + "disjointWith", []):
        a = axiom("DisjointWith", s, OWL + "disjointWith", o, box.expression(s), box.expression(o))
        _disjoint(c, "cax-dw", a, (box.expression(s), box.expression(o)))
    for s, o in box.triples.get(OWL + "disjointUnionOf", []):
        left, members = ce.class_named(s.value), tuple(box.expression(m) for m in box.members(o))
        a = axiom("DisjointUnionOf", s, OWL + "disjointUnionOf", o, left, *members)
        c.subsume("cax-eqc1", a, left, ce.Or(members))
        c.subsume("cax-eqc2", a, ce.Or(members), left)
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
    members = []
    for p in ("members", "distinctMembers"):
        members += [(s, c.box.members(o)) for s, o in c.box.triples.get(OWL + p, []) if s in nodes]
    return members


def _disjoint(c: Compiler, name: str, axiom: Axiom, parts: tuple[Expression, ...]) -> None:
    if len(parts) > 3 and all(isinstance(p, ce.Named) for p in parts):
        # One query for the whole list instead of one for each pair of its members.
        rows = tuple((iri(p.iri),) for p in parts if isinstance(p, ce.Named))
        body = (pt.TriplePattern(X, TYPE, Y), pt.TriplePattern(X, TYPE, Z))
        ordered = pt.Compare(pt.Call("str", (Y,)), "<", pt.Call("str", (Z,)))
        c.checks[
            ax.ConsistencyCheck(name, axiom, body, (ordered,), (pt.Values((Y,), rows), pt.Values((Z,), rows)))
        ] = None
        return
    for i, left in enumerate(parts):
        for right in parts[i + 1 :]:
            ways, others = c.matches(left, X), c.matches(right, X)
            if ways is None or others is None:
                # C and not D are disjoint just if C is a kind of D.
                c.subsume(name, axiom, left, ce.Not(right))
                c.subsume(name, axiom, right, ce.Not(left))
                continue
            for a in ways:
                for b in others:
                    c.check(name, axiom, a.with_(b))


def _key(c: Compiler, axiom: Axiom, left: Expression, keys: tuple[Property, ...]) -> None:
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
    for p, o, _, key in _schema_triples(c, RDFS + "domain"):
        value = c.box.expression(o)
        c.subsume("prp-dom", Axiom("Domain", (p, value), key), ce.Some(p, ce.Top()), value)
    for p, o, _, key in _schema_triples(c, RDFS + "range"):
        value = c.box.expression(o)
        c.subsume("prp-rng", Axiom("Range", (p, value), key), ce.Top(), ce.Only(p, value))
    for p, o, _, key in _schema_triples(c, OWL + "propertyChainAxiom"):
        _chain(c, p, tuple(q for m in c.box.members(o) if (q := c.box.property(m)) is not None), key)
    for p, _, q, key in _schema_triples(c, OWL + "propertyDisjointWith"):
        if q is not None:
            _disjoint_properties(c, "prp-pdw", Axiom("DisjointWith", (p, q), key), (p, q))
    for node, members in _members(c, "AllDisjointProperties"):
        ps = tuple(q for m in members if (q := c.box.property(m)) is not None)
        _disjoint_properties(c, "prp-adp", Axiom("DisjointProperties", ps, (node, TYPE, DISJOINT_P)), ps)
    _characteristics(c)


def _schema_triples(
    c: Compiler, predicate: str
) -> list[tuple[Property, Plain, Property | None, ax.TripleKey]]:
    """Return the axioms of a predicate between properties: subject, object, the object as a property."""
    triples: list[tuple[Property, Plain, Property | None, ax.TripleKey]] = []
    for s, o in c.box.triples.get(predicate, []):
        p = c.box.property(s)
        if p is not None:
            triples.append((p, o, c.box.property(o), (s, pt.iri(predicate), o)))
    return triples


def _inclusions(c: Compiler) -> None:
    """Add the rules by which one property implies another."""

    def implies(name: str, axiom: Axiom, p: Property, q: Property) -> None:
        body, head = c.atom(p, X, Y), c.atom(q, X, Y)
        if body is not None and head is not None:
            c.rule(name, axiom, Branch((body,)), head)

    for p, _, q, key in _schema_triples(c, RDFS + "subPropertyOf"):
        if q is not None:
            implies("prp-spo1", Axiom("SubPropertyOf", (p, q), key), p, q)
    for p, _, q, key in _schema_triples(c, OWL + "equivalentProperty"):
        if q is not None:
            implies("prp-eqp1", Axiom("EquivalentTo", (p, q), key), p, q)
            implies("prp-eqp2", Axiom("EquivalentTo", (p, q), key), q, p)
    for s, o in c.box.triples.get(OWL + "inverseOf", []):
        inverse = c.box.property(o)
        if c.box.named(s) and inverse is not None:
            p, q = Property(s.value), inverse
            back, there = (Property(x.iri, not x.inverse) for x in (q, p))
            a = Axiom("InverseOf", (p, q), (s, INVERSE, o))
            implies("prp-inv1", a, p, back)
            implies("prp-inv2", a, q, there)


def _chain(c: Compiler, p: Property, steps: tuple[Property, ...], key: ax.TripleKey) -> None:
    nodes = (X, *(pt.var(f"y{i}") for i in range(1, len(steps))), Z)
    atoms = [c.atom(q, nodes[i], nodes[i + 1]) for i, q in enumerate(steps)]
    head = c.atom(p, X, Z)
    a = Axiom("PropertyChain", (*steps, p), key)
    body = tuple(atom for atom in atoms if atom is not None)
    if body and head is not None:
        transitive = len(steps) == 2 and all(q == p for q in steps)
        c.rule("prp-spo2", a, Branch(body), head, path=pt.Repeated(iri(p.iri)) if transitive else None)
        if transitive:
            stated = pt.TriplePattern(iri(p.iri), TYPE, pt.iri(OWL + "TransitiveProperty"))
            c.rule("scm-spo2", a, Branch(), stated)


def _disjoint_properties(c: Compiler, name: str, axiom: Axiom, ps: tuple[Property, ...]) -> None:
    for i, p in enumerate(ps):
        for q in ps[i + 1 :]:
            body = tuple(atom for each in (p, q) if (atom := c.atom(each, X, Y)) is not None)
            c.check(name, axiom, Branch(body))


def _characteristics(c: Compiler) -> None:
    def each(kind: str) -> list[tuple[Property, Axiom]]:
        axioms: list[tuple[Property, Axiom]] = []
        for n in c.box.kinds.get(OWL + kind, []):
            p = c.box.property(n)
            if p is None:
                continue
            axiom = Axiom(kind.removesuffix("Property"), (p,), (n, TYPE, pt.iri(OWL + kind)))
            # Ontologies do say that rdf:type is functional; OWL 2 does not allow it (Structural
            # Specification, section 2.4), and all classes of an entity would become one.
            if p.iri.startswith((RDF, RDFS, OWL)):
                c.note(axiom)
            else:
                axioms.append((p, axiom))
        return axioms

    def atom(p: Property, s: ox.Variable, o: ox.Variable) -> pt.TriplePattern:
        return pt.TriplePattern(o, iri(p.iri), s) if p.inverse else pt.TriplePattern(s, iri(p.iri), o)

    for p, a in each("FunctionalProperty"):
        c.equate("prp-fp", a, Branch((atom(p, X, Y), atom(p, X, Z))), Y, Z, p)
    for p, a in each("InverseFunctionalProperty"):
        back = Property(p.iri, not p.inverse)
        c.equate("prp-ifp", a, Branch((atom(p, Y, X), atom(p, Z, X))), Y, Z, back)
    for p, a in each("TransitiveProperty"):
        body, path = (atom(p, X, Y), atom(p, Y, Z)), pt.Repeated(iri(p.iri))
        c.rule("prp-trp", a, Branch(body), atom(p, X, Z), path=path)
    for p, a in each("SymmetricProperty"):
        c.rule("prp-symp", a, Branch((atom(p, X, Y),)), atom(p, Y, X))
    for p, a in each("AsymmetricProperty"):
        c.check("prp-asyp", a, Branch((atom(p, X, Y), atom(p, Y, X))))
    for p, a in each("IrreflexiveProperty"):
        c.check("prp-irp", a, Branch((atom(p, X, X),)))
    for p, a in each("ReflexiveProperty"):
        known = (pt.TriplePattern(X, TYPE, pt.iri(OWL + "NamedIndividual")),)
        c.rule("prp-refl", a, Branch(known), pt.TriplePattern(X, iri(p.iri), X))


def _individuals(c: Compiler) -> None:
    for node, members in _members(c, "AllDifferent"):
        a = Axiom("DifferentIndividuals", tuple(map(ax.value_of, members)), (node, TYPE, DIFFERENT))
        if len(members) > 3:
            rows = tuple((m,) for m in members)
            ordered = pt.Compare(pt.Call("str", (X,)), "<", pt.Call("str", (Y,)))
            values = (pt.Values((X,), rows), pt.Values((Y,), rows))
            c.checks[
                ax.ConsistencyCheck("eq-diff2", a, (pt.TriplePattern(X, SAME, Y),), (ordered,), values)
            ] = None
        else:
            for one, two in combinations(members, 2):
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
            key = (node, pt.iri(OWL + "assertionProperty"), p_node or iri(prop.iri))
            if atom is not None:
                a = Axiom("NegativeAssertion", (ax.value_of(source), prop, ax.value_of(target)), key)
                c.check("prp-npa1", a, Branch((atom,)))
