"""Questions with a known answer over knowledge graphs: do graph codes find it among their first five hits?

    python benchmarks/graph_codes_linking.py [--questions 300] [--seed 11]

From links of the demo graph and of Star Wars with labels: "Which CLASS PROPERTY OBJECT?"
asks for the subjects that have the link, "PROPERTY of SUBJECT?" for its objects, at most five of either. A
question with several answers is right in part: recall among the first five hits. Settings were chosen with
the seed 5.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass

from common import shared_data

import mrag
from mrag.errors import MragError
from mrag.evaluation.metrics import interval
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.ranker import GraphCodeRanker
from mrag.graphcodes.sources import neighbourhoods
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.rankers import Question, Ranker, SimilarityRanker


@dataclass(frozen=True)
class Known:
    """A question, and the entities that answer it."""

    text: str
    answers: frozenset[str]


def known(kg: KnowledgeGraph, index: GraphCodeIndex, most: int, seed: int) -> list[Known]:
    """Make questions of links between entities of the index."""
    links = sorted({e.key for doc in index.ids for e in index.code(doc).edges})
    links = [(s, p, o) for s, p, o in links if s in index and o in index]
    labels = kg.labels(sorted({part for link in links for part in link}))
    subjects: dict[tuple[str, str], set[str]] = {}
    objects: dict[tuple[str, str], set[str]] = {}
    for s, p, o in links:
        subjects.setdefault((p, o), set()).add(s)
        objects.setdefault((s, p), set()).add(o)
    types = {node.id: sorted(node.types) for node, _ in index.nodes()}
    classes = kg.labels(sorted({t for kinds in types.values() for t in kinds}))
    found = []
    random.Random(seed).shuffle(links)
    for at, (s, p, o) in enumerate(links):
        kind = next((classes[t] for t in types.get(s, ()) if classes.get(t)), "")
        if not (labels[s] and labels[p] and labels[o] and kind):
            continue
        if at % 2 and len(subjects[p, o]) <= 5:
            found.append(Known(f"Which {kind} {labels[p]} {labels[o]}?", frozenset(subjects[p, o])))
        elif not at % 2 and len(objects[s, p]) <= 5:
            found.append(Known(f"{labels[p]} of {labels[s]}?", frozenset(objects[s, p])))
    return list(dict.fromkeys(found))[:most]


def recall(ranker: Ranker, questions: list[Known]) -> str:
    """Return the recall among the first five, with its interval."""
    values = []
    for question in questions:
        try:
            hits = {hit.iri for hit in ranker.rank(Question(question.text), 5)}
        except MragError:
            hits = set()
        values.append(len(hits & question.answers) / min(5, len(question.answers)))
    found = interval(values)
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def main() -> None:
    """Print the recall of each ranker on both graphs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    wars = mrag.connect("oxigraph:")
    wars.load(sorted(shared_data("starwars_kg").glob("*.ttl")))
    for name, kg in (("demo", mrag.demo(model="none")), ("Star Wars", wars)):
        entities = sorted({iri for iri, _ in documents(kg, Definition(languages=kg.languages))})
        index = GraphCodeIndex()
        index.put(dict(neighbourhoods(kg, entities)))
        questions = known(kg, index, given.questions, given.seed)
        print(f"\n{name}: {len(questions)} questions over {len(index):,} entities")
        if not SimilarityIndexes.of(kg).names():
            SimilarityIndexes.of(kg).build("main")
        for system, ranker in systems(kg, index).items():
            print(f"  {system:<40} R@5 {recall(ranker, questions)}")


def systems(kg: KnowledgeGraph, index: GraphCodeIndex) -> dict[str, Ranker]:
    """Return the rankers, by name."""
    return {
        "GraphCodeRanker, its own defaults": GraphCodeRanker(kg, index),
        "the default ranker (BM25 and MiniLM)": SimilarityRanker(kg),
    }


if __name__ == "__main__":
    main()
