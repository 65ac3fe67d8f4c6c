"""EvoLearner: class expressions bred by genetic programming.

After Heindorf and others, "EvoLearner: Learning Description Logics with Evolutionary Algorithms" (WWW
2022), with its parameters. A population of trees begins with random walks from the positive examples;
then the fittest are crossed and mutated. The fitness is 2048 times the quality less the length. A forest
holds each distinct tree once, so that what a part holds is worked out once.

It is written here because DEAP, the library that is maintained, draws from the random numbers of the whole
process and keeps its types in a module: two fits could not run beside each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TypeVar, cast

import numpy as np
from rdflib import URIRef

from mrag.cel import expressions as ce
from mrag.cel.evaluate import Mask
from mrag.cel.expressions import depth, length
from mrag.cel.learners.base import FitState, Halt, Learner, LearnerSettings, Stopped, shortened
from mrag.cel.learners.refinement import Signature
from mrag.cel.problem import Bits, Numbers
from mrag.errors import ConfigError

_BOOLEAN = ce.Connective | ce.Not
_MASK_BYTES = 200_000_000  # up to so much memory the sets of terms below properties are kept in


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A class expression whose connectives have two parts each, not in normal form; made by a `Forest`."""

    id: int
    expression: ce.Expression
    parts: tuple[Tree, ...]
    size: int
    height: int
    length: int
    depth: int

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
    """All trees of one fit."""

    def __init__(self, fit: FitState) -> None:
        self.fit, self.world = fit, fit.world
        self.made = 0
        self._trees: dict[tuple[object, ...], Tree] = {}
        self._rows: dict[int, Bits] = {}
        self._masks: dict[int, Mask] = {}
        self.top, self.bottom = self.leaf(ce.Top()), self.leaf(ce.Bottom())

    def leaf(self, expression: ce.Expression) -> Tree:
        """Return the tree of an expression that is not taken apart."""
        return self._tree((expression,), expression, (), length(expression), depth(expression))

    def joined(self, kind: type[ce.And] | type[ce.Or], left: Tree, right: Tree) -> Tree:
        """Return what two trees hold both, or either; of two equal ones that one itself."""
        if left is right:
            return left
        parts = (left, right) if left.id < right.id else (right, left)
        e = kind(tuple(p.expression for p in parts))
        name = (kind, *(p.id for p in parts))
        return self._tree(name, e, parts, left.length + right.length + 1, max(left.depth, right.depth))

    def negated(self, tree: Tree) -> Tree:
        """Return what a tree does not hold."""
        if isinstance(tree.expression, ce.Not):
            return tree.parts[0]
        return self._tree((ce.Not, tree.id), ce.Not(tree.expression), (tree,), tree.length + 1, tree.depth)

    def quantified(self, kind: type[ce.Quantified], p: ce.Property, tree: Tree, n: int = 0) -> Tree:
        """Return a restriction on the values of a property."""
        plain = kind is ce.Some or kind is ce.Only
        made: Callable[..., ce.Expression] = kind
        e = made(p, tree.expression) if plain else made(n, p, tree.expression)
        size = tree.length + (1 if plain else 2) + (2 if p.inverse else 1)
        return self._tree((kind, p, n, tree.id), e, (tree,), size, tree.depth + 1)

    def rebuilt(self, tree: Tree, parts: Sequence[Tree]) -> Tree:
        """Return a tree with other parts below its root."""
        match tree.expression:
            case ce.Connective() as e:
                return self.joined(type(e), parts[0], parts[1])
            case ce.Not():
                return self.negated(parts[0])
            case (ce.Some(p) | ce.Only(p)) as e:
                return self.quantified(type(e), p, parts[0])
            case ce.Cardinality(n, p) as e:
                return self.quantified(type(e), p, parts[0], n)
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
        self, name: tuple[object, ...], e: ce.Expression, parts: tuple[Tree, ...], size: int, deep: int
    ) -> Tree:
        if name not in self._trees:
            inside = 1 + sum(p.size for p in parts)
            height = 1 + max((p.height for p in parts), default=-1)
            self._trees[name] = Tree(self.made, e, parts, inside, height, size, deep)
            self.made += 1
        return self._trees[name]

    def _pending(self, tree: Tree, waiting: dict[int, Tree]) -> None:
        if tree.id not in self._rows and isinstance(tree.expression, _BOOLEAN):
            for part in tree.parts:
                self._pending(part, waiting)
        elif tree.id not in self._rows:
            waiting.setdefault(tree.id, tree)

    def _row(self, tree: Tree) -> Bits:
        if tree.id not in self._rows:
            one, *others = (self._row(p) for p in tree.parts)
            match tree.expression:
                case ce.Not():
                    self._rows[tree.id] = self.fit.bits.all & ~one
                case ce.And():
                    self._rows[tree.id] = one & others[0]
                case _:
                    self._rows[tree.id] = one | others[0]
        return self._rows[tree.id]

    def _mask(self, tree: Tree) -> Mask:
        if not tree.parts:
            return self.world.extension(tree.expression)
        found = self._masks.get(tree.id)
        if found is None:
            found = self._worked_out(tree)
            if (len(self._masks) + 1) * max(self.world.size, 1) > _MASK_BYTES:
                self._masks.clear()
            self._masks[tree.id] = found
        return found

    def _worked_out(self, tree: Tree) -> Mask:
        inner = self._mask(tree.parts[0])
        match tree.expression:
            case ce.And():
                return inner & self._mask(tree.parts[1])
            case ce.Or():
                return inner | self._mask(tree.parts[1])
            case ce.Some(p):
                return self.world.exists(p, inner)
            case ce.Only(p):
                return ~self.world.exists(p, ~inner)
            case ce.Cardinality(n, p) as e:
                found: Mask = ce.COMPARE[type(e)](self.world.counts(p, inner), n)
                return found
        return ~inner


_QUALITY = 2048  # what full quality is worth, in symbols of length
_LATE = 0.2  # for so many seconds the best are shortened at the end
_T = TypeVar("_T")


@dataclass(frozen=True)
class EvoSettings(LearnerSettings):
    """Settings of `EvoLearner`, as published where it does not say otherwise.

    Attributes:
        population: How many trees there are at a time.
        tournament: Of how many trees drawn at random the fittest is taken.
        crossover: Share of neighbours that exchange parts.
        mutation: Share of trees that a part is grown anew in.
        walk: Most properties followed from one individual of a random walk.
        jump: Chance to walk on from a value.
        counted: Largest number in a cardinality.
        splits: Most limits for each property with numbers or dates.
        nominals: Whether single individuals are named, as in `∃ r.{a}`; None, which is not published, names
            them as values of properties whose values are all of the same classes.
    """

    population: int = 800
    generations: int = 200
    tournament: int = 7
    crossover: float = 0.9
    mutation: float = 0.1
    height: int = 17
    walk: int = 2
    jump: float = 0.5
    counted: int = 10
    splits: int = 2
    nominals: bool | None = None
    inverse: bool = False

    def __post_init__(self) -> None:
        LearnerSettings.__post_init__(self)
        if min(self.population, self.tournament, self.walk, self.height) < 1 or self.generations < 0:
            raise ConfigError("population, tournament, walk and height are positive.")
        if not (0 <= self.crossover <= 1 and 0 <= self.mutation <= 1 and 0 <= self.jump <= 1):
            raise ConfigError("crossover, mutation and jump are from 0 to 1.")


class EvoLearner(Learner):
    """Learns by breeding trees of class expressions."""

    name = "evolearner"
    settings_type = EvoSettings
    settings: EvoSettings

    def search(self, fit: FitState) -> Stopped:
        """Breed until a tree makes no mistake, or to the last generation, then shorten the best."""
        run = _Run(fit, self.settings)
        try:
            return run.breed()
        finally:
            end = time.monotonic() + _LATE

            def tick() -> None:
                if time.monotonic() > end:
                    raise Halt("time")

            with suppress(Halt):
                for tree in run.champions:
                    e = shortened(fit, tree.expression, tick)
                    fit.offer(e, fit.count(e))


class _Run:
    """One fit, with random numbers, atoms and trees of its own."""

    def __init__(self, fit: FitState, settings: EvoSettings) -> None:
        self.fit, self.settings = fit, settings
        self.random = Random(settings.seed)
        self.atoms = Signature(fit.world, inverse=settings.inverse)
        self.forest = Forest(fit)
        labels = np.zeros(fit.world.size, dtype=np.int8)
        labels[fit.at] = np.where(np.arange(len(fit.at)) < fit.bits.positives, 1, -1)
        self.conditions = {
            p: self.leaves(self.atoms.conditions(p, settings.splits, labels)) for p in self.atoms.data
        }
        self.conditions = {p: found for p, found in self.conditions.items() if found}
        classes = self.leaves(map(ce.Named, self.atoms.classes))
        data = [c for found in self.conditions.values() for c in found]
        self.terminals = [*classes, self.forest.top, self.forest.bottom, *data]
        named = settings.nominals
        self.named = [p for p in self.atoms.links if (self.atoms.alike(p) if named is None else named)]
        self.max_counts = {p: min(settings.counted, self.atoms.max_values(p)) for p in self.atoms.links}
        self.fitness: dict[int, float] = {}
        self.champions: list[Tree] = []

    def leaves(self, expressions: Iterable[ce.Expression]) -> list[Tree]:
        return [self.forest.leaf(e) for e in expressions]

    # -- generations -------------------------------------------------------------------------------

    def breed(self) -> Stopped:
        """Breed generation after generation."""
        # Single classes and limits come first: a population is not needed where one of them will do.
        self.scored(list(self.terminals))
        if self.fit.solved():
            return "solved"
        population = self.scored(self.first())
        for _ in range(self.settings.generations):
            if self.fit.solved():
                return "solved"
            chosen = [self.tournament(population) for _ in population]
            population = self.scored(self.varied(chosen))
            if len(self.forest) > 100 * self.settings.population:
                self.forest.keep([*population, *self.champions])
                self.fitness = {t.id: self.fitness[t.id] for t in [*population, *self.champions]}
        return "solved" if self.fit.solved() else "limit"

    def scored(self, trees: list[Tree]) -> list[Tree]:
        """Return trees with the fittest first, and offer the best of the new ones."""
        new = list({t.id: t for t in trees if t.id not in self.fitness}.values())
        tp, fp = self.forest.count(new)
        qualities = self.fit.bits.qualities(tp, fp, self.settings.measure)
        worth = _QUALITY * qualities - [t.length for t in new]
        self.fitness.update(zip((t.id for t in new), worth.tolist(), strict=True))
        informative = self.fit.bits.informative(tp, fp)
        order = [at for at in np.argsort(-worth, kind="stable").tolist() if informative[at]]
        best = order[: max(20, 2 * self.settings.top)]
        for at in best:
            self.fit.offer(new[at].expression, self.fit.counts(tp[at], fp[at]))
        leading = [*self.champions, *(new[at] for at in best)]
        self.champions = sorted(leading, key=lambda t: (-self.fitness[t.id], t.id))[: self.settings.top]
        self.fit.tick(len(new))
        return sorted(trees, key=lambda t: (-self.fitness[t.id], t.id))

    def tournament(self, ranked: Sequence[Tree]) -> Tree:
        """Return the fittest of some trees drawn from a population with the fittest first."""
        n, draw = len(ranked), self.random.random
        return ranked[min(int(draw() * n) for _ in range(self.settings.tournament))]

    def varied(self, trees: list[Tree]) -> list[Tree]:
        """Exchange parts between neighbours, then grow parts anew.

        A tree that is there already is mutated once more: the published way soon has a population that
        consists of the same few trees (measured: docs/learners.md).
        """
        found = list(trees)
        for at in range(1, len(found), 2):
            if self.random.random() < self.settings.crossover:
                found[at - 1], found[at] = self.crossed(found[at - 1], found[at])
        seen: set[int] = set()
        for at, tree in enumerate(found):
            if self.random.random() < self.settings.mutation or tree.id in seen:
                found[at] = self.mutated(tree)
            seen.add(found[at].id)
        return found

    def crossed(self, one: Tree, other: Tree) -> tuple[Tree, Tree]:
        """Exchange a random part of each; a tree that would grow too high stays as it was."""
        at, there = self.random.randrange(one.size), self.random.randrange(other.size)
        left = self.forest.replaced(one, at, other.at(there))
        right = self.forest.replaced(other, there, one.at(at))
        return left if self.fits(left) else one, right if self.fits(right) else other

    def mutated(self, tree: Tree) -> Tree:
        """Grow a random part anew."""
        found = self.forest.replaced(
            tree, self.random.randrange(tree.size), self.grown(self.random.randint(1, 3))
        )
        return found if self.fits(found) else tree

    def fits(self, tree: Tree) -> bool:
        return tree.height <= self.settings.height and tree.depth <= self.settings.steps

    # -- new trees ---------------------------------------------------------------------------------

    def first(self) -> list[Tree]:
        """Return trees that each describe a walk from a positive example, each of these in turn."""
        starts = self.fit.at[: self.fit.bits.positives].tolist()
        steps, number = self.settings.steps, self.settings.population
        return [self.walked(starts[at % len(starts)], steps) for at in range(number)]

    def walked(self, at: int, steps: int) -> Tree:
        """Describe a term by one of its classes and what it is linked to."""
        found = self.described(at)
        known = (*self.atoms.links, *self.conditions) if steps else ()
        ways = [p for p in dict.fromkeys(known) if len(self.atoms.values_of(p, at))]
        for p in self.random.sample(ways, min(len(ways), self.settings.walk)):
            step = self.stepped(p, at, steps)
            if step is not None:
                found = self.forest.joined(ce.And if self.random.random() < 0.5 else ce.Or, found, step)
        return found

    def described(self, at: int) -> Tree:
        classes = self.atoms.classes_of(at)
        return self.forest.leaf(ce.Named(self.any(classes))) if classes else self.forest.top

    def stepped(self, p: ce.Property, at: int, steps: int) -> Tree | None:
        """Describe one value of a property of a term."""
        value = int(self.any(self.atoms.values_of(p, at).tolist()))
        if self.atoms.is_literal(value):
            true = [c for c in self.conditions.get(p, ()) if self.fit.world.extension(c.expression)[at]]
            return self.any(true) if true else None
        if steps > 1 and self.random.random() < self.settings.jump:
            return self.forest.quantified(ce.Some, p, self.walked(value, steps - 1))
        term = self.fit.world.terms[value]
        if p in self.named and isinstance(term, URIRef) and self.random.random() < 0.5:
            return self.forest.quantified(ce.Some, p, self.forest.leaf(ce.OneOf((str(term),))))
        return self.forest.quantified(ce.Some, p, self.described(value))

    def grown(self, height: int) -> Tree:
        """Return a random tree of at most this height."""
        kinds: list[type[ce.Expression]] = [ce.And, ce.Or, ce.Not]
        if self.atoms.links:
            kinds += [ce.Some, ce.Only]
        if any(n > 1 for n in self.max_counts.values()):
            kinds += [ce.AtLeast, ce.AtMost, ce.Exactly]
        if height == 0 or self.random.random() < 0.2:
            return self.any(self.terminals)
        kind = self.any(kinds)
        if kind is ce.And or kind is ce.Or:
            return self.forest.joined(kind, self.grown(height - 1), self.grown(height - 1))
        if kind is ce.Not:
            return self.forest.negated(self.grown(height - 1))
        counting = kind in ce.COMPARE
        p = self.any([p for p, n in self.max_counts.items() if n > 1] if counting else self.atoms.links)
        n = self.random.randint(1, self.max_counts[p]) if counting else 0
        return self.forest.quantified(cast(type[ce.Quantified], kind), p, self.grown(height - 1), n)

    def any(self, things: Sequence[_T]) -> _T:
        return things[self.random.randrange(len(things))]
