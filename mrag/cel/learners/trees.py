"""Class expressions as trees that share their parts, for learners that change them a great many times.

A forest holds each distinct tree once, so that what a part holds is worked out once, however many trees it
is in. What a tree holds of the examples is a row of bits; only below a property is the whole world looked
at.

Example:
    >>> from mrag.cel.syntax.expressions import Named, Property
    >>> from mrag.cel.semantics.instances import World
    >>> from mrag.cel.learners.base import LearnerSettings
    >>> from mrag.cel.problem import LearningProblem
    >>> from rdflib import URIRef
    >>> a, b, c = (URIRef(f"urn:{x}") for x in "abc")
    >>> world = World([(a, "urn:Cat"), (b, "urn:Dog"), (c, "urn:Dog")], [(a, "urn:likes", b)])
    >>> fit = FitState(LearningProblem(["urn:a"], ["urn:b", "urn:c"]), world, LearnerSettings())
    >>> forest = Forest(fit)
    >>> tree = forest.quantified("some", Property("urn:likes"), forest.leaf(Named("urn:Dog")))
    >>> [(int(tp), int(fp)) for tp, fp in zip(*forest.count([tree]))]
    [(1, 0)]
    >>> tree.expression
    Some(property=Property(iri='urn:likes', inverse=False), filler=Named(iri='urn:Dog'))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mrag.cel.learners.base import FitState
from mrag.cel.semantics.bits import Bits, Numbers
from mrag.cel.semantics.instances import Mask
from mrag.cel.syntax.expressions import (
    COMPARE,
    And,
    AtLeast,
    AtMost,
    Bottom,
    Cardinality,
    Exactly,
    Expression,
    Not,
    Only,
    Or,
    Property,
    Some,
    Top,
    depth,
    length,
)  # fmt: skip

Kind: TypeAlias = Literal["leaf", "and", "or", "not", "some", "only", "min", "max", "exactly"]

_CARDINALITIES: Mapping[str, type[Cardinality]] = {"min": AtLeast, "max": AtMost, "exactly": Exactly}
_BOOLEAN = ("and", "or", "not")
_MASK_BYTES = 200_000_000
"""Up to so much memory the sets of terms below properties are kept in."""


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A class expression whose connectives have two parts each; made by a `Forest`.

    Attributes:
        id: Its number in the forest.
        kind: What it is at its root.
        of: The property at the root, or the expression of a leaf.
        n: The number at the root, of a cardinality.
        parts: What is below the root.
        size: How many trees are in it, with itself.
        height: How many of them lie one below another at most, less one.
        length: As `mrag.cel.syntax.expressions.length` counts.
        depth: How many properties follow one another at most.
    """

    id: int
    kind: Kind
    of: Property | Expression
    n: int
    parts: tuple[Tree, ...]
    size: int
    height: int
    length: int
    depth: int

    @property
    def expression(self) -> Expression:
        """Return the tree as a class expression, not yet in normal form."""
        parts = tuple(p.expression for p in self.parts)
        if not isinstance(self.of, Property):
            return self.of
        match self.kind:
            case "not":
                return Not(parts[0])
            case "and" | "or":
                return (And if self.kind == "and" else Or)(parts)
            case "some" | "only":
                return (Some if self.kind == "some" else Only)(self.of, parts[0])
            case kind:
                return _CARDINALITIES[kind](self.n, self.of, parts[0])

    def walk(self) -> Iterator[Tree]:
        """Yield the tree and all in it, from the root down and from left to right."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def at(self, place: int) -> Tree:
        """Return the tree that `walk` yields at a place."""
        tree = self
        while place:
            place -= 1
            for part in tree.parts:
                if place < part.size:
                    tree = part
                    break
                place -= part.size
        return tree


class Forest:
    """All trees of one fit.

    Args:
        fit: The examples.

    Attributes:
        made: How many distinct trees there have been.
    """

    def __init__(self, fit: FitState) -> None:
        self.fit, self.world = fit, fit.world
        self.made = 0
        self._trees: dict[tuple[object, ...], Tree] = {}
        self._rows: dict[int, Bits] = {}
        self._masks: dict[int, Mask] = {}
        self.top, self.bottom = self.leaf(Top()), self.leaf(Bottom())

    def leaf(self, expression: Expression) -> Tree:
        """Return the tree of an expression that is not taken apart."""
        return self._tree("leaf", expression, 0, (), length(expression), depth(expression))

    def joined(self, kind: Literal["and", "or"], left: Tree, right: Tree) -> Tree:
        """Return what two trees hold both, or either; of two equal ones that one itself."""
        if left is right:
            return left
        if left.id > right.id:
            left, right = right, left
        size = left.length + right.length + 1
        return self._tree(kind, _NOWHERE, 0, (left, right), size, max(left.depth, right.depth))

    def negated(self, tree: Tree) -> Tree:
        """Return what a tree does not hold."""
        if tree.kind == "not":
            return tree.parts[0]
        return self._tree("not", _NOWHERE, 0, (tree,), tree.length + 1, tree.depth)

    def quantified(self, kind: Kind, p: Property, tree: Tree, n: int = 0) -> Tree:
        """Return a restriction on the values of a property."""
        size = tree.length + 1 + (2 if p.inverse else 1) + (kind not in ("some", "only"))
        return self._tree(kind, p, n, (tree,), size, tree.depth + 1)

    def rebuilt(self, tree: Tree, parts: Sequence[Tree]) -> Tree:
        """Return a tree with other parts below its root."""
        match tree.kind, tree.of:
            case ("and" | "or") as kind, _:
                return self.joined(kind, parts[0], parts[1])
            case "not", _:
                return self.negated(parts[0])
            case kind, Property() as p:
                return self.quantified(kind, p, parts[0], tree.n)
        return tree

    def replaced(self, tree: Tree, place: int, new: Tree) -> Tree:
        """Return a tree with another one at a place, counted as `Tree.at` does."""
        if place == 0:
            return new
        place -= 1
        parts = list(tree.parts)
        for at, part in enumerate(parts):
            if place < part.size:
                parts[at] = self.replaced(part, place, new)
                break
            place -= part.size
        return self.rebuilt(tree, parts)

    def known(self, tree: Tree) -> bool:
        """Return whether it has been worked out which examples a tree holds."""
        return tree.id in self._rows

    def count(self, trees: Sequence[Tree]) -> tuple[Numbers, Numbers]:
        """Count the positive and the negative examples that each tree holds, all at once."""
        waiting: dict[int, Tree] = {}
        for tree in trees:
            self._pending(tree, waiting)
        if waiting:
            rows = self.fit.pack(self._mask(t) for t in waiting.values())
            self._rows.update(zip(waiting, rows, strict=True))
        if not trees:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return self.fit.bits.count(np.stack([self._row(t) for t in trees]))

    def keep(self, trees: Iterable[Tree]) -> None:
        """Forget all trees but these and what is in them."""
        kept = {part.id for tree in (self.top, self.bottom, *trees) for part in tree.walk()}
        self._trees = {name: t for name, t in self._trees.items() if t.id in kept}
        self._rows = {at: row for at, row in self._rows.items() if at in kept}
        self._masks = {at: mask for at, mask in self._masks.items() if at in kept}

    def __len__(self) -> int:
        return len(self._trees)

    def _tree(
        self, kind: Kind, of: Property | Expression, n: int, parts: tuple[Tree, ...], size: int, deep: int
    ) -> Tree:
        name = (kind, of, n, *(p.id for p in parts))
        found = self._trees.get(name)
        if found is None:
            inside = 1 + sum(p.size for p in parts)
            height = 1 + max((p.height for p in parts), default=-1)
            found = Tree(self.made, kind, of, n, parts, inside, height, size, deep)
            self.made += 1
            self._trees[name] = found
        return found

    def _pending(self, tree: Tree, waiting: dict[int, Tree]) -> None:
        if tree.id in self._rows:
            return
        if tree.kind in _BOOLEAN:
            for part in tree.parts:
                self._pending(part, waiting)
        else:
            waiting.setdefault(tree.id, tree)

    def _row(self, tree: Tree) -> Bits:
        found = self._rows.get(tree.id)
        if found is None:
            rows = [self._row(p) for p in tree.parts]
            if tree.kind == "not":
                found = self.fit.bits.all & ~rows[0]
            else:
                found = rows[0] & rows[1] if tree.kind == "and" else rows[0] | rows[1]
            self._rows[tree.id] = found
        return found

    def _mask(self, tree: Tree) -> Mask:
        if isinstance(tree.of, Property) or tree.kind in _BOOLEAN:
            found = self._masks.get(tree.id)
            if found is None:
                found = self._worked_out(tree)
                if (len(self._masks) + 1) * max(self.world.size, 1) > _MASK_BYTES:
                    self._masks.clear()
                self._masks[tree.id] = found
            return found
        return self.world.extension(tree.of)

    def _worked_out(self, tree: Tree) -> Mask:
        inner = self._mask(tree.parts[0])
        p = tree.of
        assert isinstance(p, Property)
        match tree.kind:
            case "and":
                return inner & self._mask(tree.parts[1])
            case "or":
                return inner | self._mask(tree.parts[1])
            case "not":
                return ~inner
            case "some":
                return self.world.exists(p, inner)
            case "only":
                return ~self.world.exists(p, ~inner)
            case kind:
                found: Mask = COMPARE[_CARDINALITIES[kind]](self.world.counts(p, inner), tree.n)
                return found


_NOWHERE = Property("")
"""Stands at the root of connectives, which have no property."""
