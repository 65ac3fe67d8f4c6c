"""Class expressions compiled to rules, a side of an inclusion at a time.

A class expression on the left of an inclusion becomes patterns to match, one rule for each branch of a union;
on the right it becomes triples to add, or a check for clashing triples.
"""

from __future__ import annotations

from itertools import count

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.rdf.terms import OWL, RDFS
from mrag.reasoning import axioms as ax
from mrag.reasoning.ranges import inside, outside, within
from mrag.reasoning.rules import Branch, ConsistencyCheck, Rule, resolve
from mrag.reasoning.tbox import TBox

_SILENT = {OWL + "Thing", RDFS + "Resource", RDFS + "Literal"}


_MAX_BRANCHES = 4096


class Compiler:
    """Turns the axioms of a TBox into rules and checks."""

    def __init__(self, box: TBox) -> None:
        self.box = box
        self.rules: dict[Rule, None] = {}
        self.checks: dict[ConsistencyCheck, None] = {}
        self._missing: dict[ax.Axiom, dict[tuple[str, str] | None, None]] = {}
        self._left = ""
        self.datatypes: dict[ox.NamedNode, ax.Expression] = {}
        self._fresh = count()

    def new(self, prefix: str = "v") -> ox.Variable:
        """Return a variable not used before in this axiom."""
        return pt.var(f"{prefix}{next(self._fresh)}")

    # -- left sides ------------------------------------------------------------------------------------

    def matches(self, expression: ax.Expression, x: pt.Node) -> list[Branch] | None:
        """Return the ways `x` can be an instance, or None where matching cannot tell (open world)."""
        match expression:
            case ax.ClassName(c):
                if c in self.datatypes:
                    return self.matches(self.datatypes[c], x)
                if self.box.is_datatype(c):
                    return [Branch(filters=(inside(c, x),))]
                if c.value in _SILENT:
                    return [Branch()]
                return [] if expression == ax.NOTHING else [Branch((pt.TriplePattern(x, ax.TYPE, c),))]
            case ax.IntersectionOf(parts):
                return self._all(parts, x)
            case ax.UnionOf(parts):
                found = [self.matches(p, x) for p in parts]
                if all(f is None for f in found):
                    return None
                return [b for f in found if f is not None for b in f]
            case ax.Enumeration(members):
                return self._one_of(members, x)
            case ax.SomeValuesFrom(p, filler):
                return self._related(p, filler, x, beyond=False)
            case ax.MinCardinality(n, p, filler):
                return [Branch()] if n == 0 else self._related(p, filler, x, beyond=True) if n == 1 else None
            case ax.HasValue(p, value):
                atom = self.atom(p, x, value)
                return None if atom is None else [Branch((atom,))]
            case ax.HasSelf(p):
                return [Branch((pt.TriplePattern(x, p.iri, x),), beyond=True)]
            case ax.Facets(datatype, limits):
                test = within(datatype, limits, x, clash=False)
                return None if test is None else [Branch(filters=(test,), beyond=True)]
            case _:
                return None

    def _all(self, parts: tuple[ax.Expression, ...], x: pt.Node) -> list[Branch] | None:
        branches = [Branch()]
        for part in parts:
            ways = self.matches(part, x)
            if ways is None or len(ways) * len(branches) > _MAX_BRANCHES:
                return None
            branches = [b.with_(w) for b in branches for w in ways]
        return branches

    def _one_of(self, members: tuple[ax.Plain, ...], x: pt.Node) -> list[Branch]:
        if not isinstance(x, ox.Variable):
            return [Branch()] if x in members else []
        if all(isinstance(m, ox.Literal) for m in members):
            return [Branch(filters=(pt.In(x, members),))]
        return [Branch(binding=((x, m),)) for m in members]

    def _related(
        self, p: ax.PropertyExpression, filler: ax.Expression, x: pt.Node, *, beyond: bool
    ) -> list[Branch] | None:
        y = self.new()
        ways = self.matches(filler, y)
        atom = self.atom(p, x, y)
        if ways is None or atom is None:
            return None
        return [Branch((atom,), beyond=beyond).with_(w) for w in ways]

    def atom(self, p: ax.PropertyExpression, x: pt.Node, y: pt.Node) -> pt.TriplePattern | None:
        """Return the triple of a property or its inverse; None with a literal for a subject."""
        s, o = (y, x) if p.inverse else (x, y)
        return None if isinstance(s, ox.Literal) else pt.TriplePattern(s, p.iri, o)

    # -- right sides -----------------------------------------------------------------------------------

    def follow(
        self, name: str, axiom: ax.Axiom, branch: Branch, expression: ax.Expression, x: pt.Node
    ) -> None:
        """Add the rules by which `x`, matched by `branch`, is an instance of the expression."""
        match expression:
            case ax.ClassName(c):
                self._follow_named(name, axiom, branch, c, x)
            case ax.IntersectionOf(parts):
                for part in parts:
                    self.follow("cls-int2" if name.startswith("cax") else name, axiom, branch, part, x)
            case ax.ComplementOf(of):
                self._clash("cls-com", axiom, branch, self.matches(of, x), expression)
            case ax.Enumeration():
                self._follow_one_of(axiom, branch, expression, x)
            case ax.UnionOf():
                self._follow_or(name, axiom, branch, expression, x)
            case ax.Facets(datatype, limits):
                test = within(datatype, limits, x, clash=True)
                if test is not None:
                    self.check("dt-facet", axiom, branch.with_(Branch(filters=(test,))))
            case _:
                self._follow_restriction(name, axiom, branch, expression, x)

    def _follow_restriction(
        self, name: str, axiom: ax.Axiom, branch: Branch, restriction: ax.Restriction, x: pt.Node
    ) -> None:
        match restriction:
            case ax.AllValuesFrom(p, filler):
                y = self.new()
                atom = self.atom(p, x, y)
                if atom is not None:
                    step, left = branch.with_(Branch((atom,))), self._left
                    back = ax.manchester(ax.PropertyExpression(p.iri, not p.inverse), ax.local_name)
                    self._left = f"{back} some ({left})" if " " in left else f"{back} some {left}"
                    self.follow("cls-avf" if name.startswith("cax") else name, axiom, step, filler, y)
                    self._left = left
            case ax.HasValue(p, value):
                head = self.atom(p, x, value)
                if head is not None:
                    self.rule("cls-hv1", axiom, branch, head)
            case ax.HasSelf(p):
                self.rule("cls-self", axiom, branch, pt.TriplePattern(x, p.iri, x), beyond=True)
            case ax.MaxCardinality():
                self._at_most(axiom, branch, restriction, x)
            case ax.SomeValuesFrom(p, ax.Enumeration((only,))) | ax.MinCardinality(
                1, p, ax.Enumeration((only,))
            ):
                self.follow(name, axiom, branch, ax.HasValue(p, only), x)
            case ax.MinCardinality(0, _, _):
                pass
            case _:
                self.note(axiom, restriction)

    def _clash(
        self, name: str, axiom: ax.Axiom, branch: Branch, ways: list[Branch] | None, right: ax.Expression
    ) -> None:
        """Add a check for each way to be an instance of what is excluded."""
        if ways is None:
            self.note(axiom, right)
        for way in ways or []:
            self.check(name, axiom, branch.with_(way))

    def _follow_named(self, name: str, axiom: ax.Axiom, branch: Branch, c: ox.NamedNode, x: pt.Node) -> None:
        if c in self.datatypes:
            self.follow(name, axiom, branch, self.datatypes[c], x)
        elif self.box.is_datatype(c):
            test = outside(c, x)
            if test is not None:
                self.check("dt-not-type", axiom, branch.with_(Branch(filters=(test,))))
        elif c.value == OWL + "Nothing":
            self.check("cls-nothing2", axiom, branch)
        elif c.value not in _SILENT:
            self.rule(name, axiom, branch, pt.TriplePattern(x, ax.TYPE, c))

    def _follow_one_of(self, axiom: ax.Axiom, branch: Branch, right: ax.Enumeration, x: pt.Node) -> None:
        members = right.members
        if all(isinstance(m, ox.Literal) for m in members):
            test = pt.AllOf((pt.Call("isLiteral", (x,)), *(pt.Compare(x, "!=", m) for m in members)))
            self.check("dt-facet", axiom, branch.with_(Branch(filters=(test,))))
        elif len(members) == 1:
            different = Branch(filters=(pt.Compare(x, "!=", members[0]),))
            head = pt.TriplePattern(x, ax.SAME, members[0])
            self.rule("cls-oo", axiom, branch.with_(different), head, beyond=True)
        else:
            self.note(axiom, right)

    def _follow_or(self, name: str, axiom: ax.Axiom, branch: Branch, right: ax.UnionOf, x: pt.Node) -> None:
        # A ⊑ ¬B ⊔ C says the same as A ⊓ B ⊑ C, so negated parts move to the left.
        negated = [p.of for p in right.parts if isinstance(p, ax.ComplementOf)]
        rest = [p for p in right.parts if not isinstance(p, ax.ComplementOf) and p != ax.NOTHING]
        ways = self._all(tuple(negated), x)
        if len(rest) > 1 or ways is None:
            self.note(axiom, right)
            return
        for way in ways:
            if rest:
                self.follow(name, axiom, Branch(beyond=True).with_(branch).with_(way), rest[0], x)
            else:
                self.check("cls-com", axiom, branch.with_(way))

    def _at_most(self, axiom: ax.Axiom, branch: Branch, right: ax.MaxCardinality, x: pt.Node) -> None:
        n, p, filler = right.n, right.property, right.filler
        qualified = filler != ax.THING
        name = f"cls-max{'q' if qualified else ''}c"
        if n == 0:
            self._clash(name + "1", axiom, branch, self._related(p, filler, x, beyond=False), right)
        elif n == 1:
            one, two = (self._related(p, filler, x, beyond=False) for _ in range(2))
            if one is None or two is None:
                self.note(axiom, right)
                return
            for a in one:
                for b in two:
                    y, z = (self._value(w.body[0], p) for w in (a, b))
                    self.equate(name + ("3" if qualified else "2"), axiom, branch.with_(a).with_(b), y, z, p)
        else:
            self.note(axiom, right)

    @staticmethod
    def _value(atom: pt.TriplePattern, p: ax.PropertyExpression) -> pt.Node:
        return atom.s if p.inverse else atom.o

    # -- adding ----------------------------------------------------------------------------------------

    def rule(
        self,
        name: str,
        axiom: ax.Axiom | None,
        branch: Branch,
        head: pt.TriplePattern,
        *,
        path: pt.Path | None = None,
        beyond: bool = False,
    ) -> None:
        """Add a rule, with `owl:Thing` spelt out where the left side matches everything."""
        resolved = resolve(branch, head)
        if resolved is None:
            return
        body, filters, head = resolved
        bodies = [body]
        if not body and head.ground and axiom is not None:
            bodies = [(pt.TriplePattern(*axiom.source),)]
        elif not body:
            kinds = (OWL + "NamedIndividual", OWL + "Thing")
            bodies = [(pt.TriplePattern(head.s, ax.TYPE, pt.iri(k)),) for k in kinds]
        for each in bodies:
            if head not in each:
                filters_ = tuple(dict.fromkeys(filters))
                self.rules[Rule(name, axiom, each, filters_, (), head, path, beyond or branch.beyond)] = None

    def check(self, name: str, axiom: ax.Axiom | None, branch: Branch) -> None:
        """Add a check."""
        resolved = resolve(branch, None)
        if resolved is not None and (resolved[0] or resolved[1]):
            body = resolved[0]
            if not body and axiom is not None:
                body = (pt.TriplePattern(*axiom.source),)
            self.checks[ConsistencyCheck(name, axiom, body, tuple(dict.fromkeys(resolved[1])))] = None

    def equate(
        self, name: str, axiom: ax.Axiom, branch: Branch, y: pt.Node, z: pt.Node, p: ax.PropertyExpression
    ) -> None:
        """Add the rule that two values are one thing, and the check that two literals are one value."""
        differ = pt.Compare(y, "!=", z)
        if not self.box.is_kind(p.iri, "DatatypeProperty") or p.inverse:
            things = Branch(filters=(pt.Call("isIRI", (y,)), pt.Call("isIRI", (z,)), differ))
            self.rule(name, axiom, branch.with_(things), pt.TriplePattern(y, ax.SAME, z))
        if not self.box.is_kind(p.iri, "ObjectProperty") and not p.inverse:
            values = Branch(filters=(pt.Call("isLiteral", (y,)), pt.Call("isLiteral", (z,)), differ))
            self.check(name, axiom, branch.with_(values))

    def note(self, axiom: ax.Axiom, right: ax.Expression | None = None) -> None:
        """Remember that an axiom has no rule, or none by which the left side of it implies `right`."""
        missing = None if right is None else (self._left, ax.manchester(right, ax.local_name))
        self._missing.setdefault(axiom, {})[missing] = None

    def notes(self) -> tuple[str, ...]:
        """Return which axioms have no rule at all, and of others what does not follow, in words."""
        applied = {x.axiom for x in (*self.rules, *self.checks)}
        found = []
        for axiom, sides in self._missing.items():
            if axiom not in applied or None in sides:
                found.append(f"Not applied: {axiom.text()}")
                continue
            said = "; ".join(f"it does not follow from “{a}” that “{b}”" for a, b in filter(None, sides))
            found.append(f"Applied, except that {said}: {axiom.text()}")
        return tuple(sorted(set(found)))

    def subsume(self, name: str, axiom: ax.Axiom, left: ax.Expression, right: ax.Expression) -> None:
        """Add the rules of `left ⊑ right`."""
        self._fresh = count()
        self._left = ax.manchester(left, ax.local_name)
        x = pt.var("x")
        branches = self.matches(left, x)
        if branches is None:
            self.note(axiom, right)
        for branch in branches or []:
            self.follow(name, axiom, branch, right, x)
