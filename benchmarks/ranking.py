"""How well and how fast rankers find: BM25 beside other libraries, and words beside meaning on real data.

    python benchmarks/ranking.py cranfield      # known figures, all rankers
    python benchmarks/ranking.py speed          # BM25 from text to hits, beside bm25s and tantivy
    python benchmarks/ranking.py apparel        # vg_apparel: captions and graphs of garments
    python benchmarks/ranking.py scenes         # scenes_factual: captions and graphs of scenes

Every ranker has its default settings: nothing was tuned. A fifth of the images, chosen by a digest of
their ID, was set aside for looking at, and figures are of the other four fifths.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import percentile, row, shared_data
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.evaluation.benchmark import System, index_system, run_system
from mrag.evaluation.metrics import Qrels, Resampling, Scored
from mrag.evaluation.questions import EntityShape, by_graph, instances, read_collection, template_questions
from mrag.evaluation.report import Evaluation, evaluate
from mrag.graph.kg import KnowledgeGraph
from mrag.index.bm25 import Bm25Index, Bm25Params
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

E = "http://example.org/"
LUCENE = Bm25Params(k1=0.9, b=0.4, fold_accents=False, analyser="none", min_chars=2, stop_words=False)
"""The usual parameters of Lucene's formula, and the words that bm25s takes by default."""

KINDS = ("bm25", "dense", "hybrid")


def main() -> None:
    """Run the parts that are named; all of them if none is."""
    parts = {"cranfield": cranfield, "speed": speed, "apparel": apparel, "scenes": scenes}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("parts", nargs="*", choices=[*parts, []], metavar="|".join(parts))
    options.add_argument("--embedder", default="minilm")
    options.add_argument("--resamples", type=int, default=10_000)
    args = options.parse_args()
    for name in args.parts or parts:
        print(f"\n=== {name}\n")
        parts[name](args.embedder, Resampling(resamples=args.resamples))


# --- Quality ------------------------------------------------------------------------------------------


def cranfield(model: str, knobs: Resampling) -> None:
    """The known figures of BM25, and the other rankers beside them."""
    found = read_collection(shared_data("cranfield"))
    index = indexed(found.documents, model)
    words = Bm25Index.of(found.documents.items(), LUCENE)

    def lucene(text: str, k: int) -> list[Scored]:
        rows, scores = words.search(text, k)
        return [Scored(words.rows.id_of(r), s) for r, s in zip(rows.tolist(), scores.tolist(), strict=True)]

    systems = [index_system(index, kind) for kind in ("bm25-thesis", *KINDS)]
    systems.insert(1, System("bm25-lucene k1=.9 b=.4", lucene))
    measures = ("MAP", "nDCG@10", "MRR", "P@10", "R@100")
    table(systems, found.queries, found.qrels, measures, knobs, "Cranfield", "bm25")


def apparel(model: str, knobs: Resampling) -> None:
    """Regions of pictures that show garments, each with a person's caption and a graph.

    First task: from a caption to the graph of its region; documents are made of the triples alone. The
    graphs were annotated from the captions, which favours the words that both share, and so BM25. Second
    task: from a question by template, about a garment and what it is like, to the captions of the regions
    whose triples say so; documents are the captions, and no ranker sees a triple.
    """
    rows = read_jsonl(shared_data("vg_apparel") / "share.jsonl")
    own_graphs(rows, model, knobs, "vg_apparel: caption to graph")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(region_triples(rows))
        shape = EntityShape(E + "shows", E + "kind", E + "Region")
        entities = instances(kg, E + "Region")
        asked = [
            a for a in template_questions(kg, entities, shape, conditions=1) if len(a.demand.parts[0]) > 1
        ]
        # The same question may have come from several regions.
        asked = list({a.text: a for a in asked}.values())
        qrels, _ = by_graph(kg, {a.question: a.demand for a in asked}, shape)
        captions = {E + "region/" + r["region_id"]: r["caption"] for r in rows}
        kept = {a.question: a.text for a in asked if not aside(a.entity)}
        table(
            [index_system(indexed(captions, model), kind) for kind in KINDS],
            kept,
            {question: qrels[question] for question in kept},
            ("MAP", "nDCG@10", "MRR", "P@10", "R@100"),
            knobs,
            "vg_apparel: question by template to captions, relevance by the graph",
            "bm25",
        )


def scenes(model: str, knobs: Resampling) -> None:
    """Scenes: from a caption to its own graph, and to another region of the same picture, which is hard."""
    folder = shared_data("scenes_factual") / "share"
    with gzip.open(folder / "pairs_caption_graph.jsonl.gz", "rt", encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines if line.startswith("{")]
    own_graphs(pairs, model, knobs, "scenes_factual: caption to graph")
    documents = {d["doc_id"]: told(d["triples"]) for d in read_jsonl(folder / "docs.jsonl")}
    queries = read_jsonl(folder / "queries.jsonl")
    kept = {q["qid"]: q for q in queries if not aside(q["relevant"][0])}
    table(
        [index_system(indexed(documents, model), kind) for kind in KINDS],
        {qid: q["caption"] for qid, q in kept.items()},
        {qid: dict.fromkeys(q["relevant"], 1) for qid, q in kept.items()},
        ("MAP", "MRR", "Hits@10", "R@100"),
        knobs,
        "scenes_factual: caption to another region of the same picture",
        "bm25",
    )


def own_graphs(rows: Sequence[dict[str, Any]], model: str, knobs: Resampling, title: str) -> None:
    """From each caption to the document of its graph; regions with equal graphs are equally right."""
    documents = {f"r{r['region_id']}": told(r["triples"]) for r in rows}
    equal: dict[str, list[str]] = defaultdict(list)
    for r in rows:
        equal[json.dumps(sorted(r["triples"]))].append(f"r{r['region_id']}")
    queries, qrels = {}, {}
    for r in rows:
        if not aside(r["image_id"]):
            name = f"q{r['region_id']}"
            queries[name] = r["caption"]
            qrels[name] = dict.fromkeys(equal[json.dumps(sorted(r["triples"]))], 1)
    systems = [index_system(indexed(documents, model), kind) for kind in KINDS]
    measures = ("MRR", "nDCG@10", "Hits@1", "Hits@10")
    table(systems, queries, qrels, measures, knobs, title, "bm25", k=100)


def table(
    systems: Iterable[System],
    queries: Mapping[str, str],
    qrels: Qrels,
    measures: Sequence[str],
    knobs: Resampling,
    title: str,
    baseline: str,
    k: int = 1000,
) -> Evaluation:
    """Print the report of some rankers."""
    runs = [run_system(system, queries, k) for system in systems]
    found = evaluate(runs, qrels, measures, resampling=knobs, baseline=baseline, title=title)
    print(found.to_markdown())
    beaten = [
        f"{pair.system} on {pair.measure}" for pair in found.pairs
        if pair.found.difference.low > 0 and pair.adjusted < 0.05
    ]  # fmt: skip
    print(f"surely above {baseline}: {', '.join(beaten) or 'none'}\n", flush=True)
    return found


def indexed(documents: Mapping[str, str], model: str) -> DocumentIndex:
    """Index documents in memory, with vectors."""
    index = DocumentIndex.create(None, embedder=embedder(model))
    index.sync(documents.items(), extra={})
    return index


def told(triples: Iterable[Sequence[str]]) -> str:
    """Write triples as plain sentences; marks of verbs such as `v:` are taken off the predicates."""
    return ". ".join(f"{s} {p.rpartition(':')[2]} {o}" for s, p, o in triples)


def aside(image: str) -> bool:
    """Tell whether a picture belongs to the fifth that was set aside."""
    return int(hashlib.sha256(image.encode()).hexdigest(), 16) % 5 == 0


def region_triples(rows: Iterable[dict[str, Any]]) -> Iterable[Triple]:
    """Write regions with what they show as RDF; what is said with `is` becomes an attribute."""
    kind, has, shows = (URIRef(E + name) for name in ("kind", "hasAttribute", "shows"))
    yield Triple(URIRef(E + "Region"), RDFS.label, Literal("region", lang="en"))
    for r in rows:
        region = URIRef(E + "region/" + r["region_id"])
        yield Triple(region, RDF.type, URIRef(E + "Region"))
        for s, p, o in r["triples"]:
            for name in (s, o) if p != "is" else (s,):
                thing = URIRef(f"{region}/{digest(name)}")
                yield from (Triple(region, shows, thing), Triple(thing, kind, value(name)), label(name))
            if p == "is":
                yield from (Triple(URIRef(f"{region}/{digest(s)}"), has, value(o)), label(o))


def value(name: str) -> URIRef:
    """Give the IRI of a noun or an adjective."""
    return URIRef(f"{E}value/{digest(name)}")


def label(name: str) -> Triple:
    """Label the IRI of a noun or an adjective."""
    return Triple(value(name), RDFS.label, Literal(name, lang="en"))


def digest(name: str) -> str:
    """Make a name that can stand in an IRI."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- Speed --------------------------------------------------------------------------------------------


def speed(model: str, knobs: Resampling) -> None:
    """BM25 from text to the ten best, on Cranfield and on 45,623 documents in the words of a fashion graph.

    All get the same words: lower-cased, two letters or more, no stemming, no stop words; bm25s and mrag the
    same formula (Lucene's, k1 0.9, b 0.4), whose results are compared. tantivy keeps its own parameters.
    """
    found = read_collection(shared_data("cranfield"))
    compare_speed("Cranfield", found.documents, list(found.queries.values()))
    compare_speed("45,623 documents of garments", *garment_texts())


def compare_speed(name: str, documents: Mapping[str, str], queries: Sequence[str], rounds: int = 3) -> None:
    """Print how long each library takes to index and to answer."""
    makers: dict[str, Callable[[Mapping[str, str]], Callable[[str], list[str]]]] = {"mrag": ours}
    if find_spec("bm25s"):
        makers["bm25s (numpy)"] = lambda d: theirs(d, "numpy")
        if find_spec("numba"):
            makers["bm25s (numba)"] = lambda d: theirs(d, "numba")
    if find_spec("tantivy"):
        makers["tantivy"] = with_tantivy
    print(f"{name}: {len(documents)} documents, {len(queries)} queries, {rounds} rounds, ten best")
    built: dict[str, list[float]] = defaultdict(list)
    cold: dict[str, float] = {}
    asked: dict[str, list[float]] = defaultdict(list)
    processor: dict[str, list[float]] = defaultdict(list)
    best: dict[str, list[list[str]]] = {}
    for number in range(rounds):
        # In turns, so that what else the machine does falls on all of them alike.
        for library, make in makers.items():
            gc.collect()
            started = time.perf_counter()
            search = make(documents)
            built[library].append(time.perf_counter() - started)
            # The first pass of each index pays for its caches, the very first for compilation, too.
            started = time.perf_counter()
            best[library] = [search(q) for q in queries]
            if number == 0:
                cold[library] = (time.perf_counter() - started) * 1000 / len(queries)
            used = time.process_time()
            for query in queries:
                started = time.perf_counter()
                search(query)
                asked[library].append((time.perf_counter() - started) * 1000)
            processor[library].append((time.process_time() - used) * 1000 / len(queries))
    for library in makers:
        print(row(f"  {library}: a query", asked[library]))
        print(
            f"  {library}: index {min(built[library]):.2f} s, first pass {cold[library]:.2f} ms a query, "
            f"processor {min(processor[library]):.3f} ms a query"
        )
    for library in list(makers)[1:]:
        same = sum(set(a) == set(b) for a, b in zip(best["mrag"], best[library], strict=True)) / len(queries)
        print(
            f"  {library} / mrag: index {min(built[library]) / min(built['mrag']):.1f}, "
            f"query p50 {percentile(asked[library], 50) / percentile(asked['mrag'], 50):.1f}, "
            f"processor {min(processor[library]) / min(processor['mrag']):.1f}, "
            f"first pass {cold[library] / cold['mrag']:.1f}; the same ten for {same:.0%} of the queries"
        )
    print(flush=True)


def ours(documents: Mapping[str, str]) -> Callable[[str], list[str]]:
    """Index by this package."""
    index = Bm25Index.of(documents.items(), LUCENE)

    def search(text: str) -> list[str]:
        rows, _ = index.search(text, 10)
        return [index.rows.id_of(r) for r in rows.tolist()]

    return search


def theirs(documents: Mapping[str, str], backend: str) -> Callable[[str], list[str]]:
    """Index by bm25s (X. H. Lù, 2024)."""
    import bm25s

    names = list(documents)
    split = {"stopwords": None, "stemmer": None, "show_progress": False}
    index = bm25s.BM25(k1=0.9, b=0.4, method="lucene", backend=backend)
    index.index(bm25s.tokenize(list(documents.values()), **split), show_progress=False)
    k = min(10, len(names))

    def search(text: str) -> list[str]:
        tokens = bm25s.tokenize([text], return_ids=False, **split)
        rows, scores = index.retrieve(tokens, k=k, show_progress=False, n_threads=0)
        return [names[r] for r, s in zip(rows[0].tolist(), scores[0].tolist(), strict=True) if s > 0]

    return search


def with_tantivy(documents: Mapping[str, str]) -> Callable[[str], list[str]]:
    """Index by tantivy, the text search engine in Rust."""
    import re

    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text")
    index = tantivy.Index(schema.build())
    writer = index.writer(heap_size=128_000_000, num_threads=1)
    for name, text in documents.items():
        writer.add_document(tantivy.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(text: str) -> list[str]:
        words = " ".join(re.findall(r"\b\w\w+\b", text.lower()))
        hits = searcher.search(index.parse_query(words, ["text"]), 10).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    return search


def garment_texts(seed: int = 7) -> tuple[dict[str, str], list[str]]:
    """Make sentences about garments in the number and the words of Fashionpedia's training set."""
    path = shared_data("fashionpedia_labels") / "category_attributes_descriptions.json"
    known = json.loads(path.read_text(encoding="utf-8"))
    kinds = [(c["name"], c["supercategory"]) for c in known["categories"]]
    likes = [(a["name"], a["supercategory"]) for a in known["attributes"]]
    choice = random.Random(seed)
    shares = [1 / (rank + 1) for rank in range(len(kinds))]
    texts: dict[str, str] = {}
    for number in range(45_623):
        sentences = []
        for kind, group in choice.choices(kinds, shares, k=choice.randint(3, 11)):
            has = choice.sample(likes, choice.choice((0, 0, 1, 2, 3, 5)))
            said = ", ".join(f"{name} of supercategory '{of}'" for name, of in has)
            tail = f" with the following attributes: {said}" if has else ""
            sentences.append(f"Contains {kind} from supercategory '{group}'{tail}")
        texts[f"{E}image_{number}"] = "\n".join(sentences)
    queries = [
        f"What are some {choice.choice(kinds)[0]} options with {choice.choice(likes)[0]} and "
        f"{choice.choice(likes)[0]}?"
        for _ in range(200)
    ]
    return texts, queries


if __name__ == "__main__":
    main()
