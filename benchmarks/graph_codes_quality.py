"""How well graph codes find what is meant, beside BM25 and dense vectors, on the shared data.

    python benchmarks/graph_codes_quality.py [PART …] [--cache FOLDER]

Parts: `captions`: 10,000 captions, each to its own gold scene graph. `scenes`: a region of an image to
another region of it. `pairs`: SugarCrepe's captions against hard negatives. `swaps`: captions with two names
or attributes exchanged. `linking`: questions made of links of the demo graph and of Star Wars. `length`: the
time that texts take. `agreement`: edges read exactly, on two halves. `--cache` keeps the vectors, which take
longest. What is compared is said above each table; comparisons are paired, intervals of 95 %.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import shared_data

import mrag
from mrag.errors import MragError
from mrag.evaluation.metrics import Resampling, Run, compare, interval, per_query
from mrag.graphcodes.code import GraphCode, union
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Lexicographic
from mrag.graphcodes.ranker import GraphCodeRanker, sum_scores
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import CodeNormaliser, from_scene_triples, neighbourhoods
from mrag.index.bm25 import Bm25Index
from mrag.index.documents import Definition, documents
from mrag.index.embedding import embedder
from mrag.index.fusion import reciprocal_rank_fusion
from mrag.index.similarity import SimilarityIndexes
from mrag.language.analysis import Analyser
from mrag.retrieval.rankers import Question, Ranker, SimilarityRanker

DEPTH = 100  # How deep rankings are kept and fused, as FusedRanker does
PLAIN = CodeNormaliser(singular=False)
"""One way of writing for both sides; number stays as both have it from the caption."""
METRICS = {
    "codes, structural": CodeComparison(),
    "codes, paper, weighted": CodeComparison("paper"),
    "codes, paper, lexicographic": CodeComparison("paper", Lexicographic()),
}
FILES = ("add_att", "add_obj", "replace_att", "replace_obj")
Rankings = dict[str, list[tuple[str, float]]]  # Documents with their scores, best first, by query

_KNOBS = Resampling(resamples=2000)


def by_codes(
    index: GraphCodeIndex, codes: Mapping[str, GraphCode], comparison: CodeComparison | None = None
) -> Rankings:
    """Rank by graph codes, ties by id."""
    return {q: [(m.id, m.score) for m in index.search(code, DEPTH, comparison)] for q, code in codes.items()}


def by_bm25(texts: Mapping[str, str], queries: Mapping[str, str]) -> Rankings:
    """Rank by BM25 with its usual knobs (Lucene's idf, stemming of plurals)."""
    index = Bm25Index.of(texts.items())
    found = {query: zip(*index.search(text, DEPTH), strict=True) for query, text in queries.items()}
    return {
        q: [(index.rows.id_of(int(row)), float(score)) for row, score in hits] for q, hits in found.items()
    }


@dataclass
class Dense:
    """MiniLM vectors, kept in a folder between runs if one is given."""

    folder: Path | None = None

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts, or read what an earlier run kept of the same texts."""
        digest = hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:16]
        path = None if self.folder is None else self.folder / f"{digest}.npy"
        if path is not None and path.exists():
            return np.asarray(np.load(path), dtype=np.float32)
        model = embedder("minilm")
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = np.empty((len(texts), model.dim), np.float32)
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            found[rows] = model.embed_documents([texts[at] for at in rows])
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found)
        return found

    def rank(self, texts: Mapping[str, str], queries: Mapping[str, str]) -> Rankings:
        """Rank by cosine, exactly: every query against every document."""
        ids = np.array(sorted(texts))
        mine, asked = self.vectors([texts[i] for i in ids]), self.vectors(list(queries.values()))
        ranked = {}
        for query, vector in zip(queries, asked, strict=True):
            row = mine @ vector
            ranked[query] = [(str(ids[at]), float(row[at])) for at in np.argsort(-row, kind="stable")[:DEPTH]]
        return ranked


def by_ranks(*rankings: Rankings) -> Rankings:
    """Fuse rankings by reciprocal ranks, as FusedRanker does."""
    fused = {q: reciprocal_rank_fusion([[doc for doc, _ in r[q]] for r in rankings]) for q in rankings[0]}
    return {query: found[:DEPTH] for query, found in fused.items()}


def by_scores(*rankings: Rankings) -> Rankings:
    """Fuse rankings by scores, as ScoreFusedRanker does, all with the weight 1."""
    return {query: sum_scores([dict(r[query]) for r in rankings])[:DEPTH] for query in rankings[0]}


def table(
    systems: Mapping[str, Rankings], relevant: Mapping[str, Mapping[str, int]], measures: Sequence[str]
) -> dict[str, list[float]]:
    """Print each system's figures with 95% intervals; return the first measure by query."""
    first: dict[str, list[float]] = {}
    print(f"  {'system':<44}" + "".join(f"{m:>26}" for m in measures))
    for name, ranking in systems.items():
        run = Run.of_order(name, {q: [doc for doc, _ in hits] for q, hits in ranking.items()})
        by_query = per_query(run, {q: dict(grades) for q, grades in relevant.items()}, measures)
        values = [[by_query[m][q] for q in sorted(by_query[m])] for m in measures]
        first[name] = values[0]
        print(f"  {name:<44}" + "".join(f"{cell(of):>26}" for of in values))
    return first


def cell(values: Sequence[float]) -> str:
    """Return a mean with its interval."""
    found = interval(list(values), _KNOBS)
    return f"{found.mean:.4f} [{found.low:.4f}, {found.high:.4f}]"


def versus(values: Mapping[str, list[float]], second: str, *firsts: str) -> None:
    """Print how a system does against others on the same queries: paired, by randomisation."""
    for first in firsts:
        found = compare(values[first], values[second], _KNOBS)
        d = found.difference
        print(f"  {second} − {first}: {d.mean:+.4f} [{d.low:+.4f}, {d.high:+.4f}], p = {found.p:.4f}")


def rows(name: str) -> list[dict[str, Any]]:
    """Read a file of the FACTUAL scene graphs."""
    path = shared_data(f"scenes_factual/share/{name}")
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def said(triples: Iterable[Sequence[str]]) -> str:
    """Return the triples of a scene graph as text, for systems that read words."""
    return ". ".join(f"{s} {r.removeprefix('pv:').removeprefix('v:')} {o}" for s, r, o in triples)


def indexed(codes: Mapping[str, GraphCode]) -> GraphCodeIndex:
    """Put codes into an index in memory."""
    index = GraphCodeIndex()
    index.put(codes)
    return index


def extracted(texts: Sequence[str]) -> list[GraphCode]:
    """Read codes from texts, and print how long it takes."""
    started = time.perf_counter()
    codes = list(TextExtractor().extract_many(texts))
    seconds = time.perf_counter() - started
    print(f"  {len(texts):,} captions read in {seconds:.1f} s ({len(texts) / seconds:.0f}/s)")
    return codes


def agreement(codes: Sequence[GraphCode], gold: Sequence[GraphCode]) -> None:
    """Print precision and recall of edges and nodes against the gold graphs."""
    for what in ("nodes", "edges"):
        mine, theirs = ([{*c.dictionary} if what == "nodes" else {e.key for e in c.edges} for c in some]
                        for some in (codes, gold))  # fmt: skip
        both = sum(len(a & b) for a, b in zip(mine, theirs, strict=True))
        precision, recall = both / sum(map(len, mine)), both / sum(map(len, theirs))
        score = 2 * precision * recall / (precision + recall)
        print(f"  {what} read: precision {precision:.3f}, recall {recall:.3f}, F1 {score:.3f}")


def captions(dense: Dense) -> None:
    """Find the gold graph of a caption's own region among 10,000."""
    data = rows("pairs_caption_graph.jsonl.gz")
    # Ids without order: ties, broken by id, then favour no document.
    keys = [f"{row['image_id']}/{row['region_id']}/{at}" for at, row in enumerate(data)]
    ids = [hashlib.sha256(key.encode()).hexdigest()[:16] for key in keys]
    print(f"\ncaptions: {len(data):,} captions, each to its own gold scene graph among all {len(data):,}")
    print(
        "  one graph is relevant; equal graphs of other regions tie and count as wrong; ties by shuffled id"
    )
    read = extracted([row["caption"] for row in data])
    raw_gold = [from_scene_triples(row["triples"]) for row in data]
    gold, mine = [PLAIN(code) for code in raw_gold], [PLAIN(code) for code in read]
    agreement(mine, gold)
    given, asked = dict(zip(ids, gold, strict=True)), dict(zip(ids, mine, strict=True))
    index, raw = indexed(given), indexed(dict(zip(ids, raw_gold, strict=True)))
    texts = {i: said(row["triples"]) for i, row in zip(ids, data, strict=True)}
    words = {i: row["caption"] for i, row in zip(ids, data, strict=True)}
    systems = {
        "gold graph as the query, structural": by_codes(index, given),
        **{name: by_codes(index, asked, how) for name, how in METRICS.items()},
        "codes, as the data writes them": by_codes(raw, dict(zip(ids, read, strict=True))),
        "BM25": by_bm25(texts, words),
        "dense MiniLM": dense.rank(texts, words),
    }
    codes, bm25, vectors = systems["codes, structural"], systems["BM25"], systems["dense MiniLM"]
    systems["codes + BM25, by ranks"] = by_ranks(codes, bm25)
    systems["BM25 + dense"] = by_scores(bm25, vectors)
    systems["codes + BM25"] = by_scores(codes, bm25)
    systems["codes + BM25 + dense"] = by_scores(codes, bm25, vectors)
    values = table(systems, {i: {i: 1} for i in ids}, ("MRR", "R@10"))
    versus(values, "codes, structural", "gold graph as the query, structural", "BM25", "dense MiniLM")
    versus(values, "codes + BM25", "BM25", "dense MiniLM", "BM25 + dense")
    versus(values, "codes + BM25 + dense", "codes + BM25", "BM25 + dense")


def scenes(dense: Dense) -> None:
    """Find another region of the same image; and read captions that no rule was written with."""
    given, queries = rows("docs.jsonl"), rows("queries.jsonl")
    print(f"\nscenes: {len(queries):,} regions, each to another region of its image among {len(given):,}")
    gold = {row["doc_id"]: PLAIN(from_scene_triples(row["triples"])) for row in given}
    index = indexed(gold)
    read = map(PLAIN, extracted([row["caption"] for row in queries]))
    texts = {row["doc_id"]: said(row["triples"]) for row in given}
    words = {row["qid"]: row["caption"] for row in queries}
    systems = {
        "gold graph as the query, structural": by_codes(
            index, {row["qid"]: PLAIN(from_scene_triples(row["triples"])) for row in queries}
        ),
        "codes, structural": by_codes(index, dict(zip(words, read, strict=True))),
        "BM25 over graphs": by_bm25(texts, words),
        "dense MiniLM over graphs": dense.rank(texts, words),
        "dense MiniLM over captions": dense.rank(
            {r["doc_id"]: " ".join(r["captions"]) for r in given}, words
        ),
    }
    systems["codes + BM25 + dense over graphs"] = by_scores(
        systems["codes, structural"], systems["BM25 over graphs"], systems["dense MiniLM over graphs"]
    )
    relevant = {row["qid"]: dict.fromkeys(row["relevant"], 1) for row in queries}
    values = table(systems, relevant, ("MRR", "R@10"))
    versus(values, "codes, structural", "BM25 over graphs", "dense MiniLM over graphs")
    seen = {row["caption"] for row in rows("pairs_caption_graph.jsonl.gz")}
    fresh = [row for row in given if len(row["captions"]) == 1 and row["captions"][0] not in seen]
    print(f"  held out: {len(fresh):,} captions that are not among the 10,000, to their own graph")
    own = {row["doc_id"]: row["captions"][0] for row in fresh}
    codes = dict(zip(own, map(PLAIN, extracted(list(own.values()))), strict=True))
    agreement(list(codes.values()), [gold[doc] for doc in codes])
    held = {
        "gold graph as the query, structural": by_codes(index, {doc: gold[doc] for doc in codes}),
        "codes, structural": by_codes(index, codes),
        "BM25": by_bm25(texts, own),
    }
    held["codes + BM25"] = by_scores(held["codes, structural"], held["BM25"])
    table(held, {doc: {doc: 1} for doc in codes}, ("MRR", "R@10"))


def length(_: Dense) -> None:
    """Read texts of 10 to 640 sentences: the time taken grows in proportion."""
    found = json.loads(shared_data("sugarcrepe/add_obj.json").read_text()).values()
    sentences = sorted({row["caption"].rstrip(" .") + "." for row in found})
    reader = TextExtractor()
    reader.extract(sentences[0])
    print("\nlength: sentences of captions, joined to one text")
    for many in (10, 40, 160, 640):
        started = time.process_time()
        edges = len(reader.extract(" ".join(sentences[:many])).edges)
        print(
            f"  {many:4} sentences, {edges:5,} edges: {time.process_time() - started:6.2f} s of one processor"
        )


def agreements(_: Dense) -> None:
    """Print how many edges are read exactly, on two halves of the captions by image."""
    data = rows("pairs_caption_graph.jsonl.gz")
    images = sorted({row["image_id"] for row in data})
    random.Random(17).shuffle(images)
    tuned = set(images[: len(images) // 2])
    for name, half in (("looked at", True), ("held out", False)):
        some = [row for row in data if (row["image_id"] in tuned) is half]
        print(f"\nagreement: {len(some):,} captions whose errors were {name}, as written and normalised")
        read = extracted([row["caption"] for row in some])
        gold = [from_scene_triples(row["triples"]) for row in some]
        agreement(read, gold)
        agreement([PLAIN(code) for code in read], [PLAIN(code) for code in gold])


def plain_codes(texts: Sequence[str]) -> dict[str, GraphCode]:
    """Read the codes of texts, written in one way."""
    return dict(zip(texts, map(CodeNormaliser(), TextExtractor().extract_many(texts)), strict=True))


def won(right: float | tuple[float, ...], wrong: float | tuple[float, ...]) -> float:
    """Return 1 if the first score is higher, ½ for a tie."""
    a, b = (v if isinstance(v, tuple) else (round(v, 9),) for v in (right, wrong))
    return 0.5 if a == b else float(a > b)


def bare(text: str) -> str:
    """Return a caption in lower case without its end."""
    return " ".join(text.lower().rstrip(" .").split())


def pairs(dense: Dense) -> None:
    """Tell SugarCrepe's captions from hard negatives by what other people said of the same image."""
    given = [(name, row) for name in FILES
             for row in json.loads(shared_data(f"sugarcrepe/{name}.json").read_text()).values()]  # fmt: skip
    of: dict[str, dict[str, None]] = {}
    for _, row in given:
        of.setdefault(row["filename"], {})[bare(row["caption"])] = None
    data = []
    for kind, row in given:
        right, wrong = bare(row["caption"]), bare(row["negative_caption"])
        if others := tuple(text for text in of[row["filename"]] if text != right):
            data.append((kind, right, wrong, others))
    print(f"\npairs: {len(data):,} SugarCrepe pairs whose image has another caption in the set")
    print(
        "  reference: the other captions of the image; the caption should fit better; a tie counts one half"
    )
    texts = sorted({text for _, right, wrong, others in data for text in (right, wrong, *others)})
    codes, bags = plain_codes(texts), bags_of(texts)
    vectors = dict(zip(texts, dense.vectors(texts), strict=True))
    references = {others: union([codes[text] for text in others]) for *_, others in data}
    whole = {others: sum((Counter(bags[text]) for text in others), Counter()) for *_, others in data}
    Score = Callable[[str, tuple[str, ...]], float | tuple[float, ...]]

    def by_code(how: CodeComparison) -> Score:
        return lambda text, others: how.aggregate(how.scores(codes[text], references[others]))

    systems: dict[str, Score] = {name: by_code(how) for name, how in METRICS.items()}
    systems["bag of words, share found"] = lambda text, others: share(bags[text], whole[others])
    systems["bag of words, tf-idf cosine"] = lambda text, others: cosine(bags[text], whole[others])
    systems["dense MiniLM, mean of captions"] = lambda text, others: float(
        sum(vectors[text] @ vectors[other] for other in others)
    )
    values: dict[str, list[float]] = {}
    print(f"  {'system':<46}" + "".join(f"{kind:>14}" for kind in FILES) + f"{'all':>26}")
    for name, score in systems.items():
        values[name] = [won(score(right, others), score(wrong, others)) for _, right, wrong, others in data]
        by_kind = ([v for v, one in zip(values[name], data, strict=True) if one[0] == kind] for kind in FILES)
        cells = "".join(f"{sum(some) / len(some):>14.4f}" for some in by_kind)
        print(f"  {name:<46}{cells}{cell(values[name]):>26}")
    best = max(METRICS, key=lambda name: sum(values[name]))
    versus(values, best, *(name for name in values if name.startswith("bag")))


def swaps(_: Dense) -> None:
    """Tell a caption from one with two names or attributes exchanged: the same words, another meaning."""
    data = []
    for row in rows("pairs_caption_graph.jsonl.gz"):
        caption, triples = bare(row["caption"]), row["triples"]
        attributes = [(t[2], t[0]) for t in triples if t[1] == "is"]
        choices = [("names", s, o) for s, r, o in triples if r != "is"]
        choices += [("attributes", a, b) for a, x in attributes for b, y in attributes if a < b and x != y]
        turned = ((kind, exchanged(caption, a, b)) for kind, a, b in choices)
        if found := next(((kind, text) for kind, text in turned if text), None):
            data.append((found[0], caption, found[1], CodeNormaliser()(from_scene_triples(triples))))
    print(f"\nswaps: {len(data):,} captions with two names, or two attributes, exchanged, made from FACTUAL")
    print("  reference: the gold scene graph of the caption; any bag of words ties on every pair")
    codes = plain_codes(sorted({text for _, right, wrong, _ in data for text in (right, wrong)}))
    for name, how in METRICS.items():
        for kind in ("names", "attributes"):
            some = [[how.aggregate(how.scores(codes[text], gold)) for text in (right, wrong)]
                    for which, right, wrong, gold in data if which == kind]  # fmt: skip
            print(f"  {name:<46}{kind:>12} ({len(some):,}) {cell([won(*two) for two in some])}")


def exchanged(text: str, a: str, b: str) -> str | None:
    """Return a text in which two words change places; None if they are not there once each."""
    padded = f" {text} "
    if a == b or padded.count(f" {a} ") != 1 or padded.count(f" {b} ") != 1 or a in b or b in a:
        return None
    swapped = padded.replace(f" {a} ", " \0 ").replace(f" {b} ", f" {a} ").replace(" \0 ", f" {b} ").strip()
    return swapped if swapped != text else None


def bags_of(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the words of texts with their tf-idf."""
    analyser = Analyser()
    counts = {t: Counter(term for w in analyser.tokens(t) for term in analyser.terms(w)) for t in texts}
    having = Counter(term for count in counts.values() for term in count)
    return {
        t: {w: n * math.log(1 + len(texts) / having[w]) for w, n in of.items()} for t, of in counts.items()
    }


def share(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the share of the words of one bag that another has."""
    return len(a.keys() & b.keys()) / len(a) if a else 0.0


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the cosine of two bags."""
    lengths = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return sum(v * b[k] for k, v in a.items() if k in b) / lengths if lengths else 0.0


def linking(_: Dense) -> None:
    """Print the recall among five hits of questions that are made of links."""
    wars = mrag.connect("oxigraph:")
    wars.load(sorted(shared_data("starwars_kg").glob("*.ttl")))
    for name, kg in (("demo", mrag.demo(model="none")), ("Star Wars", wars)):
        index = GraphCodeIndex()
        entities = sorted({iri for iri, _ in documents(kg, Definition(languages=kg.languages))})
        index.put(dict(neighbourhoods(kg, entities)))
        asked = known(kg, index, 300, 11)
        print(f"\nlinking, {name}: {len(asked)} questions over {len(index):,} entities")
        if not SimilarityIndexes.of(kg).names():
            SimilarityIndexes.of(kg).build("main")
        for ranker in (GraphCodeRanker(kg, index), SimilarityRanker(kg)):
            print(f"  {type(ranker).__name__:<40} R@5 {cell([recall(ranker, *one) for one in asked])}")


def known(
    kg: mrag.KnowledgeGraph, index: GraphCodeIndex, most: int, seed: int
) -> list[tuple[str, frozenset[str]]]:
    """Make questions of links: "Which CLASS PROPERTY OBJECT?", "PROPERTY of SUBJECT?"; with their answers."""
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
        if labels[s] and labels[p] and labels[o] and kind:
            answers = subjects[p, o] if at % 2 else objects[s, p]
            text = f"Which {kind} {labels[p]} {labels[o]}?" if at % 2 else f"{labels[p]} of {labels[s]}?"
            found += [(text, frozenset(answers))] if len(answers) <= 5 else []
    return list(dict.fromkeys(found))[:most]


def recall(ranker: Ranker, text: str, answers: frozenset[str]) -> float:
    """Return which share of the answers is among the first five hits."""
    try:
        return len({hit.iri for hit in ranker.rank(Question(text), 5)} & answers) / len(answers)
    except MragError:
        return 0.0


def main() -> None:
    """Run what is asked for, or all of it."""
    parts = {"captions": captions, "scenes": scenes, "pairs": pairs, "swaps": swaps, "linking": linking}
    parts |= {"length": length, "agreement": agreements}
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(parts)}; all by default")
    parser.add_argument("--cache", type=Path, help="folder to keep vectors in")
    given = parser.parse_args()
    if unknown := [name for name in given.parts if name not in parts]:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(parts)}")
    for name in given.parts or parts:
        parts[name](Dense(given.cache))


if __name__ == "__main__":
    main()
