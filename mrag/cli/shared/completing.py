"""What `mrag complete` reads from, and what it learns from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mrag
from mrag import completion, evaluation, index, loaders
from mrag.cli.shared.output import progress, say, show

_SHOWN = 10


def calibrated(graph: mrag.KnowledgeGraph, files: list[Path], embedder: str) -> completion.Calibration:
    """Learn from files of questions and answers."""
    asked = [
        completion.KnownAnswers(one.text, tuple(str(value) for row in one.accepted[0].rows for value in row))
        for one in evaluation.read_questions(files)
        if one.accepted
    ]
    with progress("Solving", unit="questions") as note:
        return completion.calibrate_on_answers(
            graph, asked, model=None if embedder == "none" else embedder, on_progress=note
        )


def show_calibration(found: completion.Calibration, out: Path) -> None:
    """Print what was learnt."""
    exact = sum(one.f1 == 1.0 for one in found.solved)
    total = len(found.solutions)
    show(f"{total:,} questions: a path leads to the answers of {len(found.solved):,}, to {exact:,} exactly.")
    lost = [one.known.question for one in found.solutions if one.example is None]
    for question in lost[:_SHOWN]:
        say(f"  no path: {question}", style="yellow")
    if len(lost) > _SHOWN:
        say(f"  and {len(lost) - _SHOWN:,} more", style="yellow")
    if found.held_out:
        show(
            f"Of {found.held_out:,} questions that were kept apart, {found.before:,} are answered exactly "
            f"without weights, and {found.after:,} with weights learnt from the others."
        )
    show(f"The weights are in {out}. Use them by: mrag complete ask --weights {out}")


def calibration_json(found: completion.Calibration, out: Path) -> dict[str, Any]:
    """Return what was learnt as JSON values."""
    return {
        "weights": str(out),
        "questions": len(found.solutions),
        "solved": len(found.solved),
        "exact": sum(one.f1 == 1.0 for one in found.solved),
        "held_out": {"questions": found.held_out, "before": found.before, "after": found.after},
        "solutions": [
            {
                "question": one.known.question,
                "entity": None if one.example is None else str(one.example.entity),
                "path": None if one.example is None else [str(step) for step in one.example.path],
                "f1": round(one.f1, 4),
            }
            for one in found.solutions
        ],
    }


def sources_of(
    graph: mrag.KnowledgeGraph, texts: list[Path], images: Path | None, image_model: str | None, embedder: str
) -> tuple[completion.PassageSource | None, list[Any]]:
    """Bring texts and images into the store; return the source of passages, and all passages."""
    model = index.embedder(embedder)
    sources: list[completion.PassageSource] = []
    corpus: list[Any] = []
    collections = []
    for folder in texts:
        with progress(f"Reading {folder.name}") as note:
            snippets = loaders.Snippets(folder, on_progress=note)
            collection, kept = completion.store_folder(graph, snippets)
        collections.append(collection)
        say(f"{folder.name}: {kept.total:,} texts, {kept.added:,} new, {kept.gone:,} gone.", style="dim")
        for kind, count in sorted(snippets.report.problems.items()):
            say(f"{folder.name}: {count:,} files skipped ({kind}).", style="yellow")
    if collections:
        with progress("Indexing", unit="passages") as note:
            passages = completion.Passages.of(graph, collections, model, on_progress=note)
        sources.append(passages)
        corpus += passages.all
    if images is not None:
        found = _pictures(graph, images, image_model)
        sources.append(found)
        corpus += found.all
    if not sources:
        return None, []
    return (sources[0] if len(sources) == 1 else completion.CombinedPassages(sources)), corpus


def _pictures(graph: mrag.KnowledgeGraph, folder: Path, model: str | None) -> Any:
    with progress("Describing images", unit="images") as note:
        report = completion.describe_folder(
            graph, folder, model, on_progress=lambda p: note(p.described + p.failed, p.total)
        )
    for kind, count in report.kinds().items():
        say(f"{folder.name}: {count:,} images or parts without a description ({kind}).", style="yellow")
    return completion.Passages(completion.image_passages(graph))
