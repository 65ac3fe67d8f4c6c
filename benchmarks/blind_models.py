"""What a language model adds on questions that the parser gives no answer to, and what it does alone.

The parser answers every question first. A question that it gives no answer to is put to the model as a
writer under the mask, and, if it is among those that the model is asked alone, as one that writes SPARQL
freely with the same part of the schema in its prompt. Each answer is kept in a file, if one is named, so that
a run that was interrupted goes on where it ended. On a machine with many cores each graph may have a process
and a file of its own; a run over all of them with the files joined prints the table without asking again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from blind_plans import FOLDER
from common import percentile
from structured_questions import model_alone

from mrag.evaluation import GoldQuestion, read_questions
from mrag.evaluation.answers import Prediction, outcome, predict
from mrag.generation.models.resolve import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass
class WaysAsked:
    """Predictions by way and question, in memory and in a file."""

    path: Path | None
    known: dict[tuple[str, str], Prediction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            # A run that was ended while it wrote has left a part of a line.
            text = self.path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                self.path.write_text(whole, encoding="utf-8")
            for line in whole.splitlines():
                kept = json.loads(line)
                way = kept.pop("planner")
                self.known[way, kept["id"]] = Prediction.from_json(kept)

    def get(self, way: str, question: GoldQuestion, ask: Callable[[], Prediction]) -> Prediction:
        """Return a prediction that is known, or the one that is asked for now."""
        key = way, question.id
        if key not in self.known:
            self.known[key] = ask()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"planner": way, **self.known[key].to_json()}) + "\n")
        return self.known[key]


def print_models(names: Sequence[str], model: str, alone: int, which: slice, out: Path | None) -> None:
    """Print how graphs' questions do with the parser and with a model behind it.

    Args:
        names: The graphs.
        model: The model, as `mrag ask` takes it.
        alone: How many questions of each graph the model is also asked alone, the first of those that it is
            asked as a writer.
        which: Which of the questions of each graph that the parser gives no answer to are put to the model,
            of those with an answer, and of those without.
        out: File for the answers.
    """
    chat = resolve(model)
    if chat is None:
        raise SystemExit(f"{model} names no model.")
    asked = WaysAsked(out)
    rows: dict[str, list[_Line]] = {}
    # What matters most first, and one prompt after the other, so that a server keeps its beginning.
    for idle, most in ((False, 0), (True, 0), (True, alone)):
        for name in names:
            rows[name] = _asked(name, chat, asked, which, idle=idle, alone=most)
    heads = (
        "graph", "questions", "exact", "right of given", "writer asked", "right of given by it",
        "without an answer", "refused", "writer asked", "refused by it",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    lines = [line for found in rows.values() for line in found]
    for name, found in (*rows.items(), ("*all*", lines)):
        print(f"| {name} | {' | '.join(_cells(found))} |")
    if both := [line for line in lines if "alone" in line.told]:
        exact = {way: sum(line.exact(way) for line in both) for way in ("writer", "alone")}
        print(f"\nOf {len(both)} questions that the model was asked in both ways", end=" ")
        print(f"{exact['writer']} are answered exactly under the mask, {exact['alone']} by the model alone.")
    for way in ("writer", "alone"):
        if seconds := [line.told[way].seconds for line in lines if way in line.told]:
            print(f"{way}: {len(seconds)} questions, p50 {percentile(seconds, 50):.1f} s")


@dataclass(frozen=True)
class _Line:
    question: GoldQuestion
    told: dict[str, Prediction]

    def given(self, way: str) -> bool:
        return self.told[way].answers is not None

    def exact(self, way: str) -> bool:
        return self.given(way) and bool(outcome(self.question, self.told[way]).score.exact)


def _asked(
    name: str, chat: BaseChatModel, asked: WaysAsked, which: slice, *, idle: bool, alone: int
) -> list[_Line]:
    """Return a graph's questions with what is told; with `idle`, those without an answer are asked too."""
    lines = []
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([FOLDER / f"{name}.ttl.gz"])
        for question in read_questions(FOLDER / f"{name}.jsonl"):
            parser = asked.get("parser", question, partial(predict, kg, question, how="plan"))
            lines.append(_Line(question, {"parser": parser}))
        open_ = [line for line in lines if not line.given("parser")]
        can = [line for line in open_ if line.question.answerable][which]
        cannot = [line for line in open_ if not line.question.answerable][which] if idle else []
        for line in (*can, *cannot):
            write = partial(predict, kg, line.question, how="plan", model=chat, planner="writer")
            line.told["writer"] = asked.get("writer", line.question, write)
        for line in can[:alone]:
            query = partial(model_alone, kg, chat, line.question)
            line.told["alone"] = asked.get("alone", line.question, query)
    return lines


def _cells(lines: Sequence[_Line]) -> list[str]:
    can = [line for line in lines if line.question.answerable]
    cannot = [line for line in lines if not line.question.answerable]

    def right(some: Sequence[_Line], way: str) -> str:
        given = [line for line in some if line.given(way)]
        return f"{sum(line.exact(way) for line in given)} of {len(given)}"

    def refused(some: Sequence[_Line], way: str) -> str:
        return str(sum(not line.given(way) for line in some))

    put, idle = ([line for line in some if "writer" in line.told] for some in (can, cannot))
    exact = sum(line.exact("parser") for line in can)
    return [
        str(len(can)), f"{exact / max(1, len(can)):.3f}", right(can, "parser"), str(len(put)),
        right(put, "writer"), str(len(cannot)), refused(cannot, "parser"), str(len(idle)),
        refused(idle, "writer"),
    ]  # fmt: skip
