"""SugarCrepe: does a caption, or its hard negative, fit better what other people said of the same image?"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from common import shared_data
from graph_codes_common import Dense

from mrag.evaluation.metrics import compare, interval
from mrag.graphcodes.code import GraphCode, union
from mrag.graphcodes.metrics import CodeComparison, Lexicographic
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import CodeNormaliser, from_scene_triples
from mrag.language.analysis import Analyser

METRICS = {
    "codes, structural": CodeComparison(),
    "codes, structural, only what is asked counts": CodeComparison(excess=0.0),
    "codes, paper, weighted": CodeComparison("paper"),
    "codes, paper, lexicographic": CodeComparison("paper", Lexicographic()),
    "codes, query-relative": CodeComparison("query-relative"),
}
FILES = ("add_att", "add_obj", "replace_att", "replace_obj")


@dataclass(frozen=True)
class Pair:
    """A caption, its hard negative, and what others said of the image; `kind` is what was changed."""

    kind: str
    right: str
    wrong: str
    others: tuple[str, ...]


def read_pairs() -> list[Pair]:
    """Read the pairs of images of which there is another caption."""
    rows = [
        (name, row)
        for name in FILES
        for row in json.loads(shared_data(f"sugarcrepe/{name}.json").read_text()).values()
    ]
    said: dict[str, dict[str, None]] = {}
    for _, row in rows:
        said.setdefault(row["filename"], {})[_bare(row["caption"])] = None
    found = []
    for name, row in rows:
        others = tuple(text for text in said[row["filename"]] if text != _bare(row["caption"]))
        if others:
            found.append(Pair(name, _bare(row["caption"]), _bare(row["negative_caption"]), others))
    return found


def _bare(text: str) -> str:
    return " ".join(text.lower().rstrip(" .").split())


def read_swaps() -> list[tuple[str, str, str, GraphCode]]:
    """Make pairs from captions with gold scene graphs: two names, or two attributes, change places.

    Returns:
        What was changed, the caption, the changed caption and the gold graph.
    """
    found = []
    with gzip.open(shared_data("scenes_factual/share/pairs_caption_graph.jsonl.gz"), "rt") as lines:
        for row in map(json.loads, lines):
            caption, triples = _bare(row["caption"]), row["triples"]
            said = [(t[2], t[0]) for t in triples if t[1] == "is"]
            choices = [("swap_obj", s, o) for s, r, o in triples if r != "is"]
            choices += [("swap_att", a, b) for a, x in said for b, y in said if a < b and x != y]
            for kind, a, b in choices:
                turned = _exchanged(caption, a, b)
                if turned is not None:
                    found.append((kind, caption, turned, from_scene_triples(triples)))
                    break
    return found


def _exchanged(text: str, a: str, b: str) -> str | None:
    padded = f" {text} "
    if a == b or padded.count(f" {a} ") != 1 or padded.count(f" {b} ") != 1 or a in b or b in a:
        return None
    swapped = padded.replace(f" {a} ", " \0 ").replace(f" {b} ", f" {a} ").replace(" \0 ", f" {b} ")
    return swapped.strip() if swapped.strip() != text else None


def swaps() -> None:
    """Tell a caption from one with two names or attributes exchanged: the same words, another meaning."""
    data = read_swaps()
    print(f"\nswaps: {len(data):,} captions with two names, or two attributes, exchanged, made from FACTUAL")
    print("  reference: the gold scene graph of the caption; any bag of words ties on every pair")
    texts = sorted({text for _, right, wrong, _ in data for text in (right, wrong)})
    plain = CodeNormaliser()
    codes = dict(zip(texts, map(plain, TextExtractor().extract_many(texts)), strict=True))
    kinds = ("swap_obj", "swap_att")
    print(f"  {'system':<46}" + "".join(f"{k + f' ({sum(d[0] == k for d in data):,})':>20}" for k in kinds))
    for name, comparison in METRICS.items():
        won = [
            _won(
                comparison.aggregate(comparison.scores(codes[right], plain(gold))),
                comparison.aggregate(comparison.scores(codes[wrong], plain(gold))),
            )
            for _, right, wrong, gold in data
        ]
        cells = [interval([w for w, d in zip(won, data, strict=True) if d[0] == k]) for k in kinds]
        print(f"  {name:<46}" + "".join(f"  {c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]" for c in cells))
    print(f"  {'any bag of words':<46}" + "".join(f"{0.5:>20.3f}" for _ in kinds))


def pairs(dense: Dense) -> None:
    """Compare graph codes with bags of words and with vectors, by metric and by what was changed."""
    data = read_pairs()
    print(f"\npairs: {len(data):,} SugarCrepe pairs whose image has another caption in the set")
    print("  reference: the other captions of the image, as no scene graph is given; a caption and its hard")
    print("  negative are each compared with it, and the caption should fit better; a tie counts one half")
    texts = sorted({text for pair in data for text in (pair.right, pair.wrong, *pair.others)})
    plain = CodeNormaliser()
    codes = dict(zip(texts, map(plain, TextExtractor().extract_many(texts)), strict=True))
    bags = _bags(texts)
    vectors = dict(zip(texts, dense.vectors(texts), strict=True))
    references = {pair.others: union([codes[text] for text in pair.others]) for pair in data}

    def by_code(comparison: CodeComparison) -> Callable[[str, Pair], float | tuple[float, ...]]:
        def score(text: str, pair: Pair) -> float | tuple[float, ...]:
            return comparison.aggregate(comparison.scores(codes[text], references[pair.others]))

        return score

    def averaged(text: str, pair: Pair) -> float:
        comparison = CodeComparison(excess=0.0)
        found = [comparison.aggregate(comparison.scores(codes[text], codes[o])) for o in pair.others]
        return sum(float(value) for value in found) / len(found)  # type: ignore[arg-type]

    systems: dict[str, Callable[[str, Pair], float | tuple[float, ...]]] = {
        **{name: by_code(comparison) for name, comparison in METRICS.items()},
        "codes, structural, mean over captions": averaged,
        "bag of words, share found": lambda text, pair: _share(bags[text], _together(bags, pair)),
        "bag of words, Jaccard": lambda text, pair: _jaccard(bags[text], _together(bags, pair)),
        "bag of words, tf-idf cosine": lambda text, pair: _cosine(bags[text], _together(bags, pair)),
        "dense MiniLM, mean of captions": lambda text, pair: float(
            sum(vectors[text] @ vectors[other] for other in pair.others)
        ),
    }
    won = {
        name: [_won(score(p.right, p), score(p.wrong, p)) for p in data] for name, score in systems.items()
    }
    print(f"  {'system':<46}" + "".join(f"{kind:>14}" for kind in FILES) + f"{'all':>26}")
    for name, values in won.items():
        cells = [
            sum(v for v, p in zip(values, data, strict=True) if p.kind == kind)
            / sum(p.kind == kind for p in data)
            for kind in FILES
        ]
        whole = interval(values)
        print(
            f"  {name:<46}"
            + "".join(f"{c:>14.4f}" for c in cells)
            + f"    {whole.mean:.4f} [{whole.low:.4f}, {whole.high:.4f}]"
        )
    best = max((n for n in won if n.startswith("codes")), key=lambda n: sum(won[n]))
    for bag in (n for n in won if n.startswith("bag")):
        found = compare(won[bag], won[best])
        d = found.difference
        print(f"  {best} − {bag}: {d.mean:+.4f} [{d.low:+.4f}, {d.high:+.4f}], p = {found.p:.4f}")
    swaps()


def _won(right: float | tuple[float, ...], wrong: float | tuple[float, ...]) -> float:
    a = right if isinstance(right, tuple) else (round(right, 9),)
    b = wrong if isinstance(wrong, tuple) else (round(wrong, 9),)
    return 0.5 if a == b else float(a > b)


# -- bags of words -----------------------------------------------------------------------------------------


def _bags(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    analyser = Analyser()
    counts = {
        text: Counter(term for token in analyser.tokens(text) for term in analyser.terms(token))
        for text in texts
    }
    having = Counter(term for count in counts.values() for term in count)
    idf = {term: math.log(1 + len(texts) / n) for term, n in having.items()}
    return {text: {term: n * idf[term] for term, n in count.items()} for text, count in counts.items()}


def _together(bags: dict[str, dict[str, float]], pair: Pair) -> dict[str, float]:
    whole: dict[str, float] = {}
    for text in pair.others:
        for term, weight in bags[text].items():
            whole[term] = whole.get(term, 0.0) + weight
    return whole


def _share(a: dict[str, float], b: dict[str, float]) -> float:
    return len(a.keys() & b.keys()) / len(a) if a else 0.0


def _jaccard(a: dict[str, float], b: dict[str, float]) -> float:
    return len(a.keys() & b.keys()) / len(a.keys() | b.keys()) if a or b else 0.0


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    lengths = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return sum(v * b[k] for k, v in a.items() if k in b) / lengths if lengths else 0.0
