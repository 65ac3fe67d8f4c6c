"""What DRILL has learnt: a network that predicts how promising a refinement is, and the file it is kept in.

The network sees a refinement by what it holds and what it looks like, never by its name:

- the shares of the positive and of the negative examples that it holds, its F1, what it gained over the
  expression it was refined from, and the best F1 that any refinement of it can have;
- where the examples that it holds lie, and where all examples lie: each individual has a vector, a fixed
  random projection of its classes and of the classes of its values, and a set of examples is the mean of
  their vectors;
- its length, depth and outermost form (`mrag.cel.learners.refinement_space.shape`).

So it can be asked about any problem on a graph with the same classes and properties.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.cel.learners.refinement_space import LENGTH, SHAPE, Vectors
from mrag.cel.learners.signature import Signature, trivial
from mrag.cel.semantics.instances import World
from mrag.cel.syntax.expressions import Expression, Named, Property, Some, Top, Value
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.storage.arrays import load_arrays, save_arrays

VECTOR = 16
"""How many numbers the vector of an individual has."""

INPUTS = 8 + 4 * VECTOR + SHAPE
"""How many numbers the network sees."""

_FORMAT = 1
_FILE = "policy 1"
_NAMED_VALUES = 64
"""Of so many values of each property it is a part of the vector which individuals have them."""


def schema(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """Return the classes and properties that a graph uses, beside those of RDF and OWL, in order."""
    found = kg.cache.get("cel-schema")
    if not isinstance(found, dict):
        classes = {str(row[0]) for row in kg.select(queries.get("explore/classes").text)}
        own = (str(RDF), str(RDFS), str(OWL))
        found = {
            "classes": sorted(c for c in classes if not trivial(c)),
            "properties": sorted(p for p in kg.profile().predicates if not p.startswith(own)),
        }
        kg.cache["cel-schema"] = found
    return found


def fingerprint(names: Mapping[str, Sequence[str]]) -> str:
    """Return a text that differs for graphs with other classes or properties.

    Example:
        >>> fingerprint({"classes": ["urn:A"], "properties": []})[:8]
        'f5e1ae5f'
    """
    return hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Policy:
    """A network that predicts how promising refinements are.

    Attributes:
        names: The classes and properties of the graph that it was trained on.
        values: Pairs of a property and a value that the vectors of individuals tell of.
        weights: A matrix for each layer.
        biases: A vector for each layer.
        seed: Of the projection, and of the training.
        episodes: How many episodes it was trained for; 0 is untrained.
        history: For each hundred episodes the share of them that found a solution.
        about: How it was trained, for people to read.
    """

    names: Mapping[str, Sequence[str]]
    values: Sequence[tuple[str, str]]
    weights: tuple[Vectors, ...]
    biases: tuple[Vectors, ...]
    seed: int = 0
    episodes: int = 0
    history: tuple[float, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def untrained(
        cls, kg: KnowledgeGraph, world: World, *, seed: int = 0, hidden: Sequence[int] = (64, 32)
    ) -> Policy:
        """Return a network with random weights, to train or to compare with."""
        rng = np.random.default_rng(seed)
        sizes = [INPUTS, *hidden, 1]
        pairs = list(pairwise(sizes))
        weights = tuple(
            rng.uniform(-1, 1, (a, b)).astype(np.float32) * np.float32(np.sqrt(6 / (a + b))) for a, b in pairs
        )
        biases = tuple(np.zeros(b, dtype=np.float32) for _, b in pairs)
        return cls(schema(kg), _frequent(world), weights, biases, seed)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the graph's classes and properties that it was trained on."""
        return fingerprint(self.names)

    def check(self, kg: KnowledgeGraph) -> None:
        """Check that the policy was trained, and on a graph with these classes and properties.

        Raises:
            ModelError: If not.
        """
        if self.episodes < 1:
            raise ModelError(
                "This policy is untrained.", hint="Train one: policy = mrag.cel.train_policy(kg)."
            )
        own = schema(kg)
        if fingerprint(own) == self.fingerprint:
            return
        changes: list[str] = []
        for kind in ("classes", "properties"):
            here, there = set(own[kind]), set(self.names[kind])
            changes += [f"{len(here - there)} {kind} are new", f"{len(there - here)} are gone"]
        raise ModelError(
            f"The policy was trained on a graph with other classes or properties: {', '.join(changes)}.",
            term=next(iter(sorted(set(own["classes"]) ^ set(self.names["classes"]))), None),
            hint="Train one on this graph: policy = mrag.cel.train_policy(kg).",
        )

    def predict(self, seen: Vectors) -> Vectors:
        """Return how promising refinements are, given what is seen of each."""
        x = seen
        for at, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ w + b
            if at < len(self.weights) - 1:
                x = np.maximum(x, 0)
        return x[:, 0]

    def vectors(self, world: World, places: npt.NDArray[np.intp]) -> Vectors:
        """Return the vectors of individuals."""
        features = self._features()
        rng = np.random.default_rng(self.seed)
        spread = rng.standard_normal((len(features), VECTOR)).astype(np.float32) / np.sqrt(VECTOR)
        held = np.zeros((len(places), len(features)), dtype=np.float32)
        for at, expression in enumerate(features):
            held[:, at] = world.extension(expression)[places]
        # Of a graph with many classes each individual has few, whose projections would else grow large.
        found: Vectors = (held @ spread) / np.sqrt(np.maximum(held.sum(axis=1, keepdims=True), 1))
        return found.astype(np.float32)

    def _features(self) -> list[Expression]:
        classes = [Named(c) for c in self.names["classes"]]
        found: list[Expression] = [*classes]
        for name in self.names["properties"]:
            p = Property(name)
            found.append(Some(p, Top()))
            if len(classes) * len(self.names["properties"]) <= 2_000:
                found.extend(Some(p, c) for c in classes)
        return [*found, *(Value(Property(p), value) for p, value in self.values)]

    def save(self, path: str | Path) -> None:
        """Keep the policy in a file of arrays and JSON; nothing in it is code.

        Args:
            path: A path that ends in `.npz`.
        """
        about = {
            "format": _FORMAT,
            "names": {kind: list(names) for kind, names in self.names.items()},
            "fingerprint": self.fingerprint,
            "values": [list(pair) for pair in self.values],
            "seed": self.seed,
            "episodes": self.episodes,
            "history": list(self.history),
            "about": dict(self.about),
        }
        text = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"about": text}
        for at, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weights-{at}"], arrays[f"biases-{at}"] = w, b
        save_arrays(Path(path), _FILE, arrays)

    @classmethod
    def load(cls, path: str | Path, kg: KnowledgeGraph | None = None) -> Policy:
        """Read a policy from a file.

        Args:
            path: The file.
            kg: Where it is to be used; checked if given.

        Raises:
            ModelError: If there is no such file, it is no policy, or it was trained on another graph.
        """
        try:
            arrays = load_arrays(Path(path), _FILE)
            about = json.loads(arrays["about"].tobytes().decode())
            if about["format"] != _FORMAT:
                raise ModelError("The policy has another format.", file=str(path), hint="Train it anew.")
            n = sum(name.startswith("weights-") for name in arrays)
            weights = tuple(arrays[f"weights-{at}"].astype(np.float32) for at in range(n))
            biases = tuple(arrays[f"biases-{at}"].astype(np.float32) for at in range(n))
            values = [(str(p), str(v)) for p, v in about["values"]]
            names = {kind: [str(x) for x in about["names"][kind]] for kind in ("classes", "properties")}
            rest = (int(about["seed"]), int(about["episodes"]), tuple(map(float, about["history"])))
            found = cls(names, values, weights, biases, *rest, dict(about["about"]))
        except FileNotFoundError as error:
            raise ModelError(
                "There is no such policy.",
                file=str(path),
                hint="Train one: `mrag train drill`.",
            ) from error
        except (KeyError, TypeError, ValueError, OSError, EOFError) as error:
            raise ModelError(
                f"This is no policy, or it is damaged: {error}.",
                file=str(path),
                hint="Train one: `mrag train drill`.",
            ) from error
        sizes = [w.shape for w in found.weights]
        fits = bool(sizes) and all(len(s) == 2 for s in sizes) and sizes[0][0] == INPUTS and sizes[-1][1] == 1
        fits = fits and all(a[1] == b[0] for a, b in pairwise(sizes))
        if not fits or [b.shape for b in found.biases] != [s[1:] for s in sizes]:
            raise ModelError("The network of this policy has another shape.", file=str(path))
        if kg is not None:
            found.check(kg)
        return found


def reward(seen: Vectors) -> Vectors:
    """Return the rewards of refinements: F1, half of what was gained, less .04 for each symbol."""
    size = seen[:, INPUTS - SHAPE + LENGTH] * 10
    found: Vectors = seen[:, 2] + 0.5 * seen[:, 3] - 0.04 * size
    return found


class RefinementObserver:
    """Describes refinements to the network, on one problem.

    Args:
        vectors: Of the examples, the positive ones first.
        positives: How many examples are positive.
    """

    def __init__(self, vectors: Vectors, positives: int) -> None:
        self.p, self.n = positives, len(vectors) - positives
        self._positive, self._negative = vectors[:positives] / self.p, vectors[positives:] / self.n
        self._all = np.concatenate([self._positive.sum(axis=0), self._negative.sum(axis=0)])

    def observe(
        self, held: npt.NDArray[np.bool_], shapes: Vectors, parent: float
    ) -> tuple[Vectors, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return what is seen, and how many positive and negative examples are held.

        Args:
            held: A row for each refinement, a column for each example.
            shapes: What they look like.
            parent: F1 of what they were refined from.
        """
        positive = held[:, : self.p].astype(np.float32)
        negative = held[:, self.p :].astype(np.float32)
        tp, fp = positive.sum(axis=1), negative.sum(axis=1)
        f1 = 2 * tp / (tp + fp + self.p)
        bound = 2 * tp / (tp + self.p)
        precision = tp / np.maximum(tp + fp, 1)
        plain = np.stack(
            [tp / self.p, fp / self.n, f1, f1 - parent, bound, precision, tp == self.p, fp == 0], axis=1
        )
        around = np.broadcast_to(self._all, (len(held), self._all.size))
        parts = [plain, positive @ self._positive, negative @ self._negative, around, shapes]
        seen: Vectors = np.concatenate(parts, axis=1).astype(np.float32)
        return seen, tp.astype(np.int64), fp.astype(np.int64)


def _frequent(world: World) -> list[tuple[str, str]]:
    """Return the most frequent values of properties whose values are all of the same classes."""
    atoms = Signature(world)
    found: list[tuple[str, str]] = []
    for p in atoms.links:
        if not atoms.alike(p):
            continue
        places, counts = np.unique(world.pairs(p)[1], return_counts=True)
        order = np.lexsort((places, -counts))[:_NAMED_VALUES]
        chosen = [int(at) for at in places[order] if not atoms.is_literal(int(at))]
        found.extend((p.iri, str(world.terms[at])) for at in chosen)
    return found
