"""How well and how fast rankers find, on real data: words beside meaning, analysers, fusion, other libraries.

    python benchmarks/ranking.py rankers [COLLECTION ...]     # each ranker with its default settings
    python benchmarks/ranking.py analysers [COLLECTION ...]   # what stemming does to BM25
    python benchmarks/ranking.py fusion [COLLECTION ...]      # words and vectors, alone and fused
    python benchmarks/ranking.py speed          # BM25 from text to hits, beside bm25s and tantivy

Collections: cranfield, apparel and scenes (from a caption to its graph), labels (from a question by template
to the captions of garments), pictures (from a caption to another region of its picture), metaqa, medquad,
pubmedqa, starwars (from the description of an entity, taken out of the documents, to the entity). All if none
is named. Nothing was tuned. A fifth of the images, chosen by a digest of their ID, was set aside for looking
at, and figures are of the other four fifths.

`even` fuses by halves, `learnt` by the share that the index learns from questions made of its own documents,
as `mrag index` does; of a collection 500 queries are taken, chosen by a digest of their ID. The embedder
`random` is a model of random vectors, to see what fusion makes of a part that knows nothing.
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
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import row, shared_data, timed
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.evaluation.benchmark import System, index_system, run_system
from mrag.evaluation.metrics import Qrels, Resampling, Scored, evaluate
from mrag.evaluation.questions import EntityShape, by_graph, instances, read_collection, template_questions
from mrag.index.bm25 import Bm25Index, Bm25Params
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder, Vectors, embedder
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.rdf.terms import Triple
from mrag.stores.base import SelectResult

E = "http://example.org/"
LUCENE = Bm25Params(k1=0.9, b=0.4, fold_accents=False, analyser="none", min_chars=2, stop_words=False)
"""The usual parameters of Lucene's formula, and the words that bm25s takes by default."""
ANALYSERS = ("plural", "none", "snowball:english", "snowball:english+words")
DESCRIBED = 'SELECT ?s ?d { ?s <https://swapi.co/vocabulary/desc> ?d FILTER(LANG(?d) = "en") }'


@dataclass(frozen=True)
class Collection:
    """Documents, queries and which documents are right."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]
    qrels: Qrels


def main() -> None:
    """Print the tables of what is named."""
    parts = {"rankers": rankers, "analysers": analysers, "fusion": fusion}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("part", choices=[*parts, "speed"])
    options.add_argument("collections", nargs="*", choices=[*COLLECTIONS, []], metavar="COLLECTION")
    options.add_argument("--embedder", help="minilm, of fusion wordllama; or random")
    options.add_argument("--queries", type=int, default=500, help="of fusion")
    options.add_argument(
        "--documents", type=int, default=0, help="most of fusion, those that are right among them"
    )
    options.add_argument("--resamples", type=int, default=10_000)
    args = options.parse_args()
    if args.part == "speed":
        speed()
        return
    for name in args.collections or COLLECTIONS:
        found = COLLECTIONS[name]()
        if args.part == "fusion":
            found = fewer(found, args.queries, args.documents)
        systems, measures, baseline, k = parts[args.part](found, args.embedder)
        runs = [run_system(system, found.queries, k) for system in systems]
        report = evaluate(
            runs, found.qrels, measures, resampling=Resampling(resamples=args.resamples), baseline=baseline,
            title=f"{name}: {len(found.documents)} documents, {len(found.queries)} queries",
        )  # fmt: skip
        print(report.to_markdown(), flush=True)


Compared = tuple[list[System], tuple[str, ...], str, int]
"""Systems, measures, the baseline, and how many documents are ranked."""


def rankers(found: Collection, model: str | None) -> Compared:
    """All rankers, beside BM25 with the parameters of known figures."""
    index = indexed(found.documents, model or "minilm")
    systems = [index_system(index, kind) for kind in ("bm25-thesis", "bm25", "dense", "hybrid")]
    systems.insert(1, words("bm25-lucene k1=.9 b=.4", found, LUCENE))
    return systems, ("MAP", "nDCG@10", "MRR", "Hits@1", "P@10", "R@100"), "bm25", 1000


def analysers(found: Collection, model: str | None) -> Compared:
    """BM25 by each analyser."""
    systems = [words(name, found, Bm25Params(analyser=name)) for name in ANALYSERS]
    return systems, ("MAP", "nDCG@10"), "plural", 100


def fusion(found: Collection, model: str | None) -> Compared:
    """Words, vectors, and both in two ways."""
    index = indexed(found.documents, model or "wordllama")
    started = time.perf_counter()
    weight = index.learnt_weight()
    print(f"\nLearnt in {time.perf_counter() - started:.1f} s: {weight}.")

    def learnt(text: str, k: int) -> list[Scored]:
        return [Scored(m.doc_id, m.score) for m in index.search(text, k, weight=weight.of(text))]

    alone = [index_system(index, kind) for kind in ("bm25", "dense")]
    both = [System("even", index_system(index, "hybrid").search), System("learnt", learnt)]
    return [*alone, *both], ("nDCG@10", "MRR"), "learnt", 100


def words(name: str, found: Collection, params: Bm25Params) -> System:
    """Return BM25 with some parameters."""
    index = Bm25Index.of(found.documents.items(), params)

    def search(text: str, k: int) -> list[Scored]:
        rows, scores = index.search(text, k)
        return [Scored(index.rows.id_of(r), s) for r, s in zip(rows.tolist(), scores.tolist(), strict=True)]

    return System(name, search)


def indexed(documents: Mapping[str, str], model: str) -> DocumentIndex:
    """Index documents in memory, with vectors."""
    chosen: Embedder | None = RandomVectors() if model == "random" else embedder(model)
    index = DocumentIndex.create(None, embedder=chosen)
    index.sync(documents.items(), extra={})
    return index


class RandomVectors:
    """A model whose vectors say nothing of a text but whether it is the same."""

    name = "random"
    dim = 64

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.dim)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def fewer(found: Collection, queries: int, documents: int) -> Collection:
    """Return some queries of a collection, and no more than so many documents; 0 for all."""

    def order(name: str) -> bytes:
        return hashlib.blake2b(json.dumps(name).encode()).digest()

    chosen = [q for q in sorted(found.queries, key=order) if found.qrels.get(q)][:queries]
    qrels = {q: found.qrels[q] for q in chosen}
    kept = dict.fromkeys(d for right in qrels.values() for d in right if d in found.documents)
    if documents:
        others = [d for d in sorted(found.documents, key=order) if d not in kept]
        kept |= dict.fromkeys(others[: max(0, documents - len(kept))])
    texts = {d: found.documents[d] for d in (kept if documents else found.documents)}
    return Collection(texts, {q: found.queries[q] for q in chosen}, qrels)


def cranfield() -> Collection:
    """Abstracts of aeronautics, with judgements."""
    found = read_collection(shared_data("cranfield"))
    return Collection(found.documents, found.queries, found.qrels)


def apparel() -> Collection:
    """From a caption of a garment to the graph of its region."""
    return own_graphs(read_jsonl(shared_data("vg_apparel") / "share.jsonl"))


def scenes() -> Collection:
    """From a caption of a scene to its graph."""
    path = shared_data("scenes_factual") / "share" / "pairs_caption_graph.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return own_graphs([json.loads(line) for line in lines if line.startswith("{")])


def own_graphs(rows: Sequence[dict[str, Any]]) -> Collection:
    """From each caption to its graph; regions with equal graphs are equally right."""
    equal: defaultdict[str, list[str]] = defaultdict(list)
    for r in rows:
        equal[json.dumps(sorted(r["triples"]))].append(f"r{r['region_id']}")
    kept = {f"q{r['region_id']}": r for r in rows if not aside(r["image_id"])}
    return Collection(
        {f"r{r['region_id']}": told(r["triples"]) for r in rows},
        {name: r["caption"] for name, r in kept.items()},
        {name: dict.fromkeys(equal[json.dumps(sorted(r["triples"]))], 1) for name, r in kept.items()},
    )


def pictures() -> Collection:
    """From a caption to another region of the same picture, which is hard."""
    folder = shared_data("scenes_factual") / "share"
    kept = {q["qid"]: q for q in read_jsonl(folder / "queries.jsonl") if not aside(q["relevant"][0])}
    return Collection(
        {d["doc_id"]: told(d["triples"]) for d in read_jsonl(folder / "docs.jsonl")},
        {qid: q["caption"] for qid, q in kept.items()},
        {qid: dict.fromkeys(q["relevant"], 1) for qid, q in kept.items()},
    )


def metaqa() -> Collection:
    """From a question about a film or a person to the name that it asks about."""
    folder = shared_data("metaqa")
    names = {
        part
        for line in (folder / "kb.txt").read_text(encoding="utf-8").splitlines()
        for part in (line.split("|")[0], line.split("|")[-1])
    }
    ids = {name: f"e{number}" for number, name in enumerate(sorted(names))}
    queries, qrels = {}, {}
    for number, asked in enumerate(read_jsonl(folder / "dev_1hop.jsonl")):
        if asked["entity"] in ids:
            queries[f"q{number}"] = str(asked["question"])
            qrels[f"q{number}"] = {ids[asked["entity"]]: 1}
    return Collection({ids[name]: name for name in names}, queries, qrels)


def medquad() -> Collection:
    """From a patient's question to the answer of a health institute."""
    with gzip.open(shared_data("medquad") / "share_3878.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if row.get("answer")]
    return Collection(
        {f"d{n}": str(row["answer"]) for n, row in enumerate(rows)},
        {f"q{n}": str(row["question"]) for n, row in enumerate(rows)},
        {f"q{n}": {f"d{n}": 1} for n in range(len(rows))},
    )


def pubmedqa() -> Collection:
    """From a research question to the abstract that was written about it."""
    rows = json.loads((shared_data("pubmedqa") / "pqal_dev500.json").read_text(encoding="utf-8"))
    return Collection(
        {name: " ".join(row["CONTEXTS"]) for name, row in rows.items()},
        {name: str(row["QUESTION"]) for name, row in rows.items()},
        {name: {name: 1} for name in rows},
    )


def labels() -> Collection:
    """From a question by template about a garment to the captions of the regions that show such a one."""
    rows = read_jsonl(shared_data("vg_apparel") / "share.jsonl")
    with mrag.connect() as kg:
        kg.insert(region_triples(rows))
        shape = EntityShape(E + "shows", E + "kind", E + "Region")
        entities = instances(kg, E + "Region")
        asked = template_questions(kg, entities, shape, conditions=1)
        distinct = {a.text: a for a in asked if len(a.demand.parts[0]) > 1}.values()
        qrels, _ = by_graph(kg, {a.question: a.demand for a in distinct}, shape)
    kept = {a.question: a.text for a in distinct if not aside(a.entity)}
    captions = {E + "region/" + r["region_id"]: str(r["caption"]) for r in rows}
    return Collection(captions, kept, {question: qrels[question] for question in kept})


def starwars() -> Collection:
    """From the English description of an entity to what the graph says of it otherwise."""
    with mrag.connect() as kg:
        kg.load(sorted(shared_data("starwars_kg").glob("*.ttl")))
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model="none")
        index = indexes.get()
        assert isinstance(index, SimilarityIndex)
        documents = {iri: index.files.text_of(iri) for iri in index.files.doc_ids}
        qrels: dict[str, dict[str, int]] = {}
        described = kg.query(DESCRIBED)
        assert isinstance(described, SelectResult)
        for iri, words in ((str(s), str(d)) for s, d in described):
            if words in documents.get(iri, "") and len(words.split()) > 1:
                documents[iri] = documents[iri].replace(words + ". ", "").replace(words, "")
                qrels.setdefault(words, {})[iri] = 1
    return Collection(documents, {words: words for words in qrels}, qrels)


COLLECTIONS: dict[str, Callable[[], Collection]] = {
    found.__name__: found
    for found in (cranfield, apparel, scenes, labels, pictures, metaqa, medquad, pubmedqa, starwars)
}


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


def speed() -> None:
    """BM25 from text to the ten best, on Cranfield and on 45,623 documents in the words of a fashion graph.

    All get the same words: lower-cased, two letters or more, no stemming, no stop words; bm25s and mrag the
    same formula (Lucene's, k1 0.9, b 0.4), whose results are compared. tantivy keeps its own parameters.
    """
    found = read_collection(shared_data("cranfield"))
    compare_speed("Cranfield", found.documents, list(found.queries.values()))
    compare_speed("45,623 documents of garments", *garment_texts())


def compare_speed(name: str, documents: Mapping[str, str], queries: Sequence[str], rounds: int = 3) -> None:
    """Print how long each library takes to index and to answer, and how often it finds the same."""
    makers: dict[str, Callable[[Mapping[str, str]], Callable[[str], list[str]]]] = {"mrag": ours}
    for backend in ("numpy", "numba") if find_spec("bm25s") else ():
        if find_spec(backend):
            makers[f"bm25s ({backend})"] = partial(theirs, backend=backend)
    if find_spec("tantivy"):
        makers["tantivy"] = with_tantivy
    print(f"{name}: {len(documents)} documents, {len(queries)} queries, {rounds} rounds, ten best")
    built, asked = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    processor = defaultdict[str, list[float]](list)
    best: dict[str, list[set[str]]] = {}
    for _ in range(rounds):
        # In turns, so that what else the machine does falls on all of them alike.
        for library, make in makers.items():
            gc.collect()
            started = time.perf_counter()
            search = make(documents)
            built[library].append(time.perf_counter() - started)
            # The first pass of each index pays for its caches, the very first for compilation, too.
            best[library] = [set(search(query)) for query in queries]
            used = time.process_time()
            asked[library] += [timed(partial(search, query)) for query in queries]
            processor[library].append((time.process_time() - used) * 1000 / len(queries))
    for library in makers:
        same = sum(a == b for a, b in zip(best["mrag"], best[library], strict=True)) / len(queries)
        print(row(f"  {library}: a query", asked[library]))
        print(
            f"  {library}: index {min(built[library]):.2f} s, processor {min(processor[library]):.3f} ms a "
            f"query; the same ten for {same:.0%} of the queries",
            flush=True,
        )


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
