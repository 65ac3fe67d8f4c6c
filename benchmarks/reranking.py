"""Does re-ranking by a learnt class expression help retrieval?

    python benchmarks/reranking.py                  # both
    python benchmarks/reranking.py apparel          # questions by template to images of vg_apparel
    python benchmarks/reranking.py fashion          # questions by template to made-up images of garments

Each ranker's first 100 documents are re-ranked by `ClassExpressionReranker`, with two learners, and with
two more ways in which the learner `search` has hypotheses of length 5 or 7 at most, so that it cannot learn
the examples by heart; a thing with an attribute takes 7. All look two properties deep, learn from five
positive and five negative examples, the last of the list, and are compared with the ranker alone on the
same questions. Questions are drawn in two groups, by how many documents are relevant.

A document is relevant if the triples of the graph meet what the question states, and the concept is learnt
on the same graph, in a language that can say just that condition. This is circular in favour of re-ranking:
on relevance judged by people it can only do worse.

Feedback: of the first ten documents those that are relevant are liked, the others not, as a user with
perfect judgement would say. What was judged is then taken out of all rankings and judgements (residual
collection), as bringing back what the user has seen already is no success.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import shared_data
from ranking import aside, indexed, read_jsonl
from rdflib import RDF

import mrag
from mrag.cel.learners.base import Learner, learner
from mrag.cel.rerank import ClassExpressionReranker, RerankSettings
from mrag.evaluation.benchmark import index_system, run_system
from mrag.evaluation.metrics import Resampling, Run, evaluate
from mrag.evaluation.questions import EntityFacts, EntityShape, by_graph, facts, instances, template_questions
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.views import make_view
from mrag.loaders.scenes import Fashionpedia, SceneGraphs
from mrag.reasoning.run import reason
from mrag.retrieval.rankers import Hit, Question
from tests.made import write_annotations

E = "http://example.org/"
KINDS = ("bm25", "dense", "hybrid")
MEASURES = ("MRR", "nDCG@10", "P@10", "MAP")
DEPTH = 100
SEEN = 10
MANY = 5
FEWEST = 10
CANDIDATES = 500
EXAMPLES = 5
LEARNERS: dict[str, tuple[str, dict[str, int]]] = {
    "search": ("search", {}),
    "length 5": ("search", {"max_length": 5}),
    "length 7": ("search", {"max_length": 7}),
}
"""Learners by what they are called in the tables."""

Qrels = dict[str, dict[str, int]]


@dataclass
class Task:
    """Questions to documents that stand for individuals of a graph."""

    title: str
    kg: KnowledgeGraph
    documents: Mapping[str, str]
    questions: Mapping[str, str]
    qrels: Qrels


class Listed:
    """A ranker that gives a list it was given."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = hits

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return the first `k` hits."""
        return list(self.hits[:k])


def main() -> None:
    """Run the parts that are named; all of them if none is."""
    parts: dict[str, Callable[[argparse.Namespace, Path], Task]] = {"apparel": apparel, "fashion": fashion}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("parts", nargs="*", choices=[*parts, []], metavar="|".join(parts))
    options.add_argument("--embedder", default="minilm", help="for dense and hybrid (%(default)s)")
    options.add_argument("--questions", type=int, default=24, help="most for a task (%(default)s)")
    options.add_argument("--images", type=int, default=2000, help="of the made-up graph (%(default)s)")
    options.add_argument("--seconds", type=float, default=5.0, help="most for a concept (%(default)s)")
    options.add_argument("--resamples", type=int, default=10_000, help="(%(default)s)")
    options.add_argument("--seed", type=int, default=0, help="of what is drawn (%(default)s)")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mrag-bench-") as folder:
        for name in args.parts or parts:
            started, used = time.perf_counter(), time.process_time()
            task = parts[name](args, Path(folder))
            compare(task, args)
            task.kg.close()
            print(
                f"{name}: {time.perf_counter() - started:.0f} s by the clock, "
                f"{time.process_time() - used:.0f} s of processor\n",
                flush=True,
            )


def apparel(args: argparse.Namespace, folder: Path) -> Task:
    """Images of vg_apparel: documents are captions, relevance is by the graph."""
    kg = scenes(folder)
    shape = EntityShape(E + "scenes#hasObject", str(RDF.type), E + "Image")
    images = instances(kg, E + "Image")
    said: dict[str, list[str]] = {image: [] for image in images}
    for r in read_jsonl(shared_data("vg_apparel") / "share.jsonl"):
        said[f"{E}image_{r['image_id']}"].append(r["caption"])
    kept = [i for i in images if not aside(i)]
    asked, qrels = questions(kg, kept, shape, E + "scenes#hasAttribute", args)
    reason(kg)
    documents = {image: ". ".join(texts) for image, texts in said.items()}
    title = "vg_apparel: question by template to captions, relevance by the graph"
    return Task(title, kg, documents, asked, qrels)


def fashion(args: argparse.Namespace, folder: Path) -> Task:
    """Made-up images of garments: documents are the labels of what they show, relevance is by the graph."""
    source, triples = folder / "annotations.json", folder / "annotations.nt"
    labels = shared_data("fashionpedia_labels") / "category_attributes_descriptions.json"
    write_annotations(source, scale=args.images / 45_623, labels=labels)
    Fashionpedia(source).write(triples)
    whole = mrag.connect()
    whole.load([triples])
    kg = make_view(whole, "fashion/garments", "garments")
    start = E + "garments#"
    shape = EntityShape(start + "hasGarment", str(RDF.type), start + "Image")
    images = instances(kg, start + "Image")
    asked, qrels = questions(kg, images, shape, start + "hasAttribute", args)
    documents = texts(kg, facts(kg, images, shape), shape)
    reason(kg)
    title = f"{len(images):,} made-up images: question by template to labels, relevance by the graph"
    return Task(title, kg, documents, asked, qrels)


def scenes(folder: Path) -> KnowledgeGraph:
    """Load vg_apparel as a graph of scenes."""
    path = folder / "scenes.nt"
    SceneGraphs(shared_data("vg_apparel") / "share.jsonl", on_bad="skip").write(path)
    kg = mrag.connect()
    kg.load([path])
    return kg


def questions(
    kg: KnowledgeGraph, images: Sequence[str], shape: EntityShape, attribute: str, args: argparse.Namespace
) -> tuple[dict[str, str], Qrels]:
    """Make questions about a thing and one attribute of it, each once, and draw half with few answers."""
    drawing = random.Random(args.seed)
    made = {
        a.text: a
        for a in template_questions(kg, images, shape, conditions=1, seed=args.seed)
        if {c.predicate for c in a.demand.parts[0]} == {shape.kind, attribute}
    }
    asked = [made[text] for text in drawing.sample(sorted(made), min(CANDIDATES, len(made)))]
    qrels, _ = by_graph(kg, {a.question: a.demand for a in asked}, shape)
    few = [a for a in asked if len(qrels[a.question]) < MANY][: args.questions // 2]
    many = [a for a in asked if len(qrels[a.question]) >= MANY][: args.questions // 2]
    drawn = sorted([*few, *many], key=lambda a: a.question)
    return {a.question: a.text for a in drawn}, {a.question: qrels[a.question] for a in drawn}


def texts(kg: KnowledgeGraph, known: Mapping[str, EntityFacts], shape: EntityShape) -> dict[str, str]:
    """Write what each image shows, garment by garment, in labels."""
    values = {c.value for has in known.values() for part in has.parts.values() for c in part}
    labels = kg.labels(sorted(values))
    found = {}
    for image, has in known.items():
        parts = [
            " ".join(labels[c.value] or "" for c in sorted(part, key=lambda c: c.predicate != shape.kind))
            for part in has.parts.values()
        ]
        found[image] = ". ".join(parts)
    return found


def compare(task: Task, args: argparse.Namespace) -> None:
    """Re-rank what each ranker finds, and print the tables."""
    knobs = Resampling(resamples=args.resamples)
    counts = sorted(len(task.qrels[q]) for q in task.questions)
    many = {q for q in task.questions if len(task.qrels[q]) >= MANY}
    print(f"\n=== {task.title}\n")
    print(
        f"{len(task.documents):,} documents, {len(counts)} questions; relevant documents: median "
        f"{statistics.median(counts):g}, most {counts[-1]}; {len(many)} questions have {MANY} or more\n"
    )
    index = indexed(task.documents, args.embedder)
    learners = {
        name: learner(kind, task.kg, seconds=args.seconds, steps=2, **more)
        for name, (kind, more) in LEARNERS.items()
    }
    settings = RerankSettings(EXAMPLES, "bottom", args.seed, DEPTH)
    groups, residual = [], []
    for kind in KINDS:
        base = run_system(index_system(index, kind), task.questions, DEPTH)
        hits = {
            q: [Hit(s.doc, s.score, rank) for rank, s in enumerate(found, start=1)]
            for q, found in base.hits.items()
        }
        runs = [Run.of_order(kind, {q: [h.iri for h in found] for q, found in hits.items()})]
        runs += [reranked(f"{kind} + {name}", task, one, settings, hits) for name, one in learners.items()]
        groups.append(runs)
        residual.append(feedback(kind, task, learners, hits))
    few = {q: found for q, found in task.qrels.items() if q not in many}
    if min(len(few), len(many)) < FEWEST:
        table(f"All {len(counts)} questions", groups, task.qrels, knobs)
    else:
        rest = {q: task.qrels[q] for q in sorted(many)}
        table(f"{len(few)} questions with fewer than {MANY} relevant documents", groups, few, knobs)
        table(f"{len(many)} questions with {MANY} relevant documents or more", groups, rest, knobs)
    for (runs, qrels), kind in zip(residual, KINDS, strict=True):
        if len(qrels) >= FEWEST:
            table(f"Feedback on the first {SEEN} of {kind}, {len(qrels)} questions", [runs], qrels, knobs)


def reranked(
    title: str, task: Task, work: Learner, settings: RerankSettings, hits: Mapping[str, Sequence[Hit]]
) -> Run:
    """Re-rank the list of every question."""
    found = {}
    for question, listed in hits.items():
        result = ClassExpressionReranker(Listed(listed), task.kg, work, settings).rerank(listed)
        assert {h.iri for h in result.hits} == {h.iri for h in listed}
        found[question] = [h.iri for h in result.hits]
    return Run.of_order(title, found)


def feedback(
    kind: str, task: Task, learners: Mapping[str, Learner], hits: Mapping[str, Sequence[Hit]]
) -> tuple[list[Run], Qrels]:
    """Re-rank by perfect judgements of the first documents, which then leave rankings and judgements."""
    before: dict[str, list[str]] = {}
    after: dict[str, dict[str, list[str]]] = {name: {} for name in learners}
    left: Qrels = {}
    for question, listed in hits.items():
        seen = [h.iri for h in listed[:SEEN]]
        relevant = task.qrels[question]
        liked, disliked = [i for i in seen if i in relevant], [i for i in seen if i not in relevant]
        rest = {iri: 1 for iri in relevant if iri not in seen}
        if not liked or not rest or len(listed) <= len(seen):
            continue
        left[question] = rest
        before[question] = [h.iri for h in listed[SEEN:]]
        for name, work in learners.items():
            ranker = ClassExpressionReranker(Listed(listed), task.kg, work)
            found = ranker.with_feedback(listed, liked, disliked)
            after[name][question] = [h.iri for h in found.hits if h.iri not in seen]
    runs = [Run.of_order(kind, before)]
    runs += [Run.of_order(f"{kind} + {name}, feedback", found) for name, found in after.items()]
    return runs, left


def table(title: str, groups: Iterable[Sequence[Run]], qrels: Qrels, knobs: Resampling) -> None:
    """Print the rankers with their means, and under each what re-ranking changes."""
    print(f"**{title}**\n\n| ranker | {' | '.join(MEASURES)} |\n|---|{'---|' * len(MEASURES)}")
    for runs in groups:
        kept = [Run(run.name, {q: run.hits[q] for q in qrels if q in run.hits}) for run in runs]
        found = evaluate(kept, qrels, MEASURES, resampling=knobs, baseline=runs[0].name)
        means = found.systems[0].means
        cells = [f"{means[m].mean:.3f} [{means[m].low:.3f}, {means[m].high:.3f}]" for m in MEASURES]
        print(f"| {runs[0].name} | {' | '.join(cells)} |")
        pairs = {(pair.system, pair.measure): pair for pair in found.pairs}
        for run in runs[1:]:
            cells = []
            for m in MEASURES:
                pair = pairs[run.name, m]
                d = pair.found.difference
                star = " *" if pair.adjusted < 0.05 else ""
                cells.append(f"{d.mean:+.3f} [{d.low:+.3f}, {d.high:+.3f}]{star}")
            print(f"| {run.name} | {' | '.join(cells)} |")
    print(
        "\nUnder each ranker: the difference that re-ranking makes, question by question. Brackets: 95 % "
        "bootstrap\nintervals. * Fisher's randomisation test, p < .05, adjusted by Holm over one ranker's "
        "rows.\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
