"""Learning problems in the files they are published in.

Read are the JSON of Ontolearn (`problems` with `positive_examples` and `negative_examples`), the
configurations of DL-Learner (`mrag.cel.configurations`), and folders of SML-Bench with a `pos.txt`
and a `neg.txt` of IRIs.
"""

from __future__ import annotations

import json
from pathlib import Path

from mrag.cel.configurations import read_configuration
from mrag.cel.problem import LearningProblem
from mrag.errors import LearningProblemError, LoadError
from mrag.graph.kg import KnowledgeGraph


def read_problems(path: str | Path, kg: KnowledgeGraph | None = None) -> dict[str, LearningProblem]:
    """Read the learning problems of a file or folder.

    Args:
        path: A `.json` or `.conf` file, or a folder with `pos.txt` and `neg.txt`, or of such folders.
        kg: The knowledge base; configurations need it for a problem with positive examples only, or of
            describing a class.

    Returns:
        The problems by name, in the order of the file. Problems of a JSON file that have no positive or no
        negative examples are left out.

    Raises:
        LoadError: If the file is missing or not in one of these formats.
        LearningProblemError: If the examples overlap, or the knowledge base is needed and not given.
    """
    path = Path(path)
    if path.is_dir():
        folders = [path] if (path / "pos.txt").is_file() else sorted(p.parent for p in path.glob("*/pos.txt"))
        if not folders:
            raise LoadError("No pos.txt is in this folder or one below.", file=str(path))
        return {f.name: LearningProblem(_lines(f / "pos.txt"), _lines(f / "neg.txt")) for f in folders}
    if path.suffix == ".json":
        return _from_json(path, _text(path))
    return _from_conf(path, kg)


def _from_json(path: Path, text: str) -> dict[str, LearningProblem]:
    try:
        read = json.loads(text)
        problems = read["problems"]
        found = {str(name): (p["positive_examples"], p["negative_examples"]) for name, p in problems.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(
            "These are no learning problems.",
            file=str(path),
            hint='Expected {"problems": {name: {"positive_examples": […], "negative_examples": […]}}}.',
        ) from error
    return {name: LearningProblem(*sets) for name, sets in found.items() if all(sets)}


def _from_conf(path: Path, kg: KnowledgeGraph | None) -> dict[str, LearningProblem]:
    try:
        return {name: given.resolved(kg) for name, given in read_configuration(path).problems.items()}
    except LearningProblemError as error:
        raise LearningProblemError(error.message, term=error.term or str(path), hint=error.hint) from error


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in _text(path).splitlines() if line.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
