"""Whether the answer is in the context: questions of one, two and three hops over MetaQA's films, or made up.

    python benchmarks/context_reach.py                  # 100 questions of each number of hops
    python benchmarks/context_reach.py --hops 2         # a context of two hops always
    python benchmarks/context_reach.py --near           # one hop, whatever the question says
    python benchmarks/context_reach.py --rdf FILE       # questions made up from any graph

Questions that are made up ask for "the A of" a thing, A being a property that it has, or for "the B of the A
of" it. The index is BM25 alone, so that what is measured is the context rather than an embedder.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from common import percentile, shared_data
from metaqa import Asked, load, questions
from rdflib import Literal, URIRef

from mrag.context import Context, ContextSettings, Display, expand
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import OWL, RDF, RDFS, Term
from mrag.retrieval.rankers import Question, SimilarityRanker
from mrag.stores.oxigraph import OxigraphStore


def sample(asked: Sequence[Asked], size: int) -> list[Asked]:
    """Return a sample that does not depend on the order of the file."""
    return sorted(asked, key=lambda q: _digest(q.text))[:size]


def shown(context: Context) -> set[str]:
    """Return the names in a context."""
    return {label.strip('"') for line in context.lines for label in (line.labels[0], line.labels[2])}


def measure(kg: KnowledgeGraph, name: str, asked: Sequence[Asked], settings: ContextSettings, k: int) -> None:
    """Print for how many questions the context has the answer."""
    ranker = SimilarityRanker(kg, "main", "bm25")
    whole = some = entity = 0
    characters, times = [], []
    for one in asked:
        hits = ranker.rank(Question(one.text), k)
        started = time.perf_counter()
        context = expand(kg, [(h.iri, h.score) for h in hits], settings, question=one.text)
        times.append((time.perf_counter() - started) * 1000)
        names = shown(context)
        whole += one.answers <= names
        some += bool(one.answers & names)
        entity += one.entity in names
        characters.append(len(context.text()))
    print(
        f"{name:<8} of {len(asked)}: any answer {some}, all answers {whole}, entity {entity}; characters "
        f"p50 {percentile(characters, 50):6}, mean {sum(characters) / len(asked):8.0f}; "
        f"p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms"
    )


def made_up(kg: KnowledgeGraph) -> dict[int, list[Asked]]:
    """Return questions of one and two hops about things with names; a few of every pair of properties."""
    display = Display(kg)
    rows = kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o")
    values: dict[str, dict[str, list[Term]]] = {}
    for s, p, o in rows:
        if not isinstance(s, URIRef) or o is None or str(p).startswith((RDF, RDFS, OWL)):
            continue
        if not isinstance(o, Literal) or (not o.language and len(o) < 40):
            values.setdefault(str(s), {}).setdefault(str(p), []).append(o)
    every = (o for near in values.values() for some in near.values() for o in some)
    labels = kg.labels(sorted({*values, *(str(o) for o in every if isinstance(o, URIRef))}))

    def names(terms: Iterable[Term]) -> frozenset[str]:
        return frozenset(str(t) if isinstance(t, Literal) else labels.get(str(t)) or "" for t in terms)

    found: dict[tuple[str, ...], list[Asked]] = {}
    for iri in sorted((one for one in values if labels[one]), key=_digest):
        name = labels[iri] or ""
        for a, near in values[iri].items():
            one = f"What is the {display.predicate(a)} of {name}?"
            found.setdefault((a,), []).append(Asked(one, name, ((a, True),), names(near)))
            ends = [values.get(str(x), {}) for x in near if isinstance(x, URIRef) and labels[str(x)]]
            for b in sorted({b for end in ends for b in end} - {a}):
                answers = names(o for end in ends for o in end.get(b, ()))
                two = f"What is the {display.predicate(b)} of the {display.predicate(a)} of {name}?"
                found.setdefault((a, b), []).append(Asked(two, name, ((a, True), (b, True)), answers))
    sets: dict[int, list[Asked]] = {1: [], 2: []}
    for steps, asked in sorted(found.items()):
        sets[len(steps)] += [one for one in asked if "" not in one.answers][:20]
    return sets


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def main() -> None:
    """Measure the default context, or one with other knobs."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--hops", type=int, default=1, help="hops of the context")
    options.add_argument("--sample", type=int, default=100, help="questions of each number of hops")
    options.add_argument("--budget", type=int, default=4000, help="tokens")
    options.add_argument("-k", type=int, default=10, help="hits")
    options.add_argument("--near", action="store_true", help="no second hop that the question asks for")
    options.add_argument("--rdf", type=Path, help="a file of RDF to make questions up from")
    args = options.parse_args()
    if args.rdf:
        kg = KnowledgeGraph(OxigraphStore())
        kg.load([args.rdf])
        sets = made_up(kg)
    else:
        folder = shared_data("metaqa")
        kg = load(folder)
        sets = {hops: questions(folder / f"dev_{hops}hop.jsonl") for hops in (1, 2, 3)}
    SimilarityIndexes.of(kg).build("main", definition=Definition(), model="none")
    settings = ContextSettings(hops=args.hops, token_budget=args.budget, asked_hop=not args.near)
    for hops, asked in sets.items():
        measure(kg, f"{hops} hops", sample(asked, args.sample), settings, args.k)
    kg.close()


if __name__ == "__main__":
    main()
