"""Learning problems: examples drawn from a graph, or read from the files of published benchmarks."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from mrag.cel.evaluate import hierarchy
from mrag.cel.expressions import Named, Top
from mrag.cel.problem import LearningProblem, instances
from mrag.errors import LearningProblemError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries

_FEWEST = 20  # so many negative examples are drawn at least, where there are as many individuals


def sampled_negatives(kg: KnowledgeGraph, positives: Iterable[str], *, seed: int = 0) -> list[str]:
    """Return individuals drawn from those that are no positive examples, as many as these, but at least 20.

    They are no more than individuals of which nothing is said, so that some may be what is looked for.

    Returns:
        Their IRIs in order; all others where there are fewer.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     len(sampled_negatives(kg, [kg.prefixes["ex"] + "Virtuoso"]))
        20
    """
    wanted = {*map(str, positives)}
    others = [x for x in instances(kg, Top()) if x not in wanted]
    chance = random.Random(seed)
    return sorted(chance.sample(others, min(len(others), max(len(wanted), _FEWEST))))


def class_problem(kg: KnowledgeGraph, name: str, *, seed: int = 0, most: int = 500) -> LearningProblem:
    """Return the problem of defining a class: its members against others, without the class itself.

    Classes that are told or inferred to be equivalent are not used either. Of many members, and of many
    others, `most` are drawn by the seed.

    Raises:
        LearningProblemError: If the class has no members, or all individuals are its members.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     problem = class_problem(kg, kg.prefixes["ex"] + "Vendor")
        >>> len(problem.positives), len(problem.negatives), problem.ignored
        (53, 53, ('https://w3id.org/mrag/demo/products#Vendor',))
    """
    members = instances(kg, Named(name))
    if not members:
        raise LearningProblemError(
            "This class has no members.", term=name, hint="Reason over the graph first, or check the IRI."
        )
    others = sampled_negatives(kg, members, seed=seed)
    if not others:
        raise LearningProblemError("All individuals are members of this class.", term=name)
    chance = random.Random(seed)
    drawn = (chance.sample(some, min(len(some), most)) for some in (members, others))
    return LearningProblem(*drawn, ignored=_alike(kg, name))


def _alike(kg: KnowledgeGraph, name: str) -> list[str]:
    """Return a class and all that are equivalent to it, in order of IRI."""
    pairs = [(str(a), str(b)) for a, b in kg.select(queries.get("cel/equivalents").text)]
    below = {*hierarchy(kg)[0]}
    pairs += [(a, b) for a, b in below if (b, a) in below]
    names, fresh = {name}, {name}
    while fresh:
        fresh = {y for a, b in pairs for x, y in ((a, b), (b, a)) if x in fresh} - names
        names |= fresh
    return sorted(names)


_STRING = re.compile(r'"([^"\n]*)"')
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_PREFIX = re.compile(r'\(\s*"([^"\n]*)"\s*,\s*"([^"\n]*)"\s*\)')
_EXAMPLES = re.compile(r"\b(positive|negative)Examples\s*=\s*\{([^}]*)\}")

_NAMESPACE = "http://localhost/foo#"
"""Where DL-Learner puts names that are no IRIs."""


def read_problems(path: str | Path) -> dict[str, LearningProblem]:
    """Read the learning problems of a file or folder.

    From a `.json` file of Ontolearn, a `.conf` file of DL-Learner 1.0 or later, or a folder of SML-Bench with
    `pos.txt` and `neg.txt`, or of such folders. A configuration is read for its examples alone.

    Returns:
        The problems by name, in the order of the file. Problems of a JSON file that have no positive or no
        negative examples are left out.

    Raises:
        LoadError: If the file is missing or not in one of these formats.
        LearningProblemError: If the examples overlap.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "a.conf"
        ...     _ = file.write_text('lp.positiveExamples = {"stefan"}\\nlp.negativeExamples = {"urn:anna"}')
        ...     read_problems(file)["a"].examples
        ('http://localhost/foo#stefan', 'urn:anna')
    """
    path = Path(path)
    if path.is_dir():
        folders = [path] if (path / "pos.txt").is_file() else sorted(p.parent for p in path.glob("*/pos.txt"))
        if not folders:
            raise LoadError("No pos.txt is in this folder or one below.", file=str(path))
        return {f.name: LearningProblem(_lines(f / "pos.txt"), _lines(f / "neg.txt")) for f in folders}
    return _from_json(path) if path.suffix == ".json" else {path.stem: _from_configuration(path)}


def _from_json(path: Path) -> dict[str, LearningProblem]:
    text = _text(path)
    try:
        problems = json.loads(text)["problems"]
        pairs = {str(name): (p["positive_examples"], p["negative_examples"]) for name, p in problems.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(
            "These are no learning problems.",
            file=str(path),
            hint='Expected {"problems": {name: {"positive_examples": […], "negative_examples": […]}}}.',
        ) from error
    return {name: LearningProblem(*sets) for name, sets in pairs.items() if all(sets)}


def _from_configuration(path: Path) -> LearningProblem:
    text = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", _text(path))
    prefixes = dict(_PREFIX.findall(text))
    examples: dict[str, list[str]] = {"positive": [], "negative": []}
    for kind, listed in _EXAMPLES.findall(text):
        examples[kind] += (_iri(name, prefixes) for name in _STRING.findall(listed))
    if not all(examples.values()):
        raise LoadError(
            "This configuration has no positive and negative examples.",
            file=str(path),
            hint="Expected `lp.positiveExamples = {…}` and `lp.negativeExamples = {…}`.",
        )
    return LearningProblem(examples["positive"], examples["negative"])


def _iri(name: str, prefixes: Mapping[str, str]) -> str:
    prefix, colon, local = name.partition(":")
    return prefixes.get(prefix, prefix + ":") + local if colon else _NAMESPACE + name


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in _text(path).splitlines() if line.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
