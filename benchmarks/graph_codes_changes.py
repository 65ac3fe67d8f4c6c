"""Captions against the same captions with names, attributes or a relation changed, without a gold graph.

    python benchmarks/graph_codes_changes.py [--half tune|report]

SugarCrepe's swaps are not among the shared data, so they are made from its captions: two nouns, or two
adjectives of different nouns, change places; a preposition or a verb between two nouns is replaced by another
one that the captions use. Words are chosen by the tags of spaCy, not by what graph codes read. A caption and
its change are both compared with the *other* captions of the image; the caption should fit better, and a tie
counts one half. Images are halved by a hash of their name: settings were chosen on one half, and the other is
reported. The last lines say how often another caption has what tells caption and change apart, which bounds
what can be told from the captions of the image.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import snowballstemmer
from common import shared_data
from graph_codes_common import Dense
from graph_codes_pairs import FILES, METRICS, _bags, _bare, _cosine, _won

from mrag.evaluation.metrics import interval
from mrag.graphcodes.code import GraphCode, union
from mrag.graphcodes.metrics import CodeMeaning, Weighted
from mrag.graphcodes.reading import PIPELINES, TextExtractor
from mrag.graphcodes.sources import CodeNormaliser
from mrag.index.embedding import MiniLmEmbedder
from mrag.retrieval.registry import met

KINDS = ("swap_obj", "swap_att", "replace_rel")


@dataclass(frozen=True)
class Change:
    """A caption, its change, and what others said of the image."""

    kind: str
    right: str
    wrong: str
    others: tuple[str, ...]


def images() -> dict[str, list[str]]:
    """Read the captions of every image that has several."""
    said: dict[str, dict[str, None]] = {}
    for name in FILES:
        for row in json.loads(shared_data(f"sugarcrepe/{name}.json").read_text()).values():
            said.setdefault(row["filename"], {})[_bare(row["caption"])] = None
    return {image: list(texts) for image, texts in sorted(said.items()) if len(texts) > 1}


def tagged(texts: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return words with tags, by the tagger of the pipeline alone."""
    import spacy

    name = next(name for name in reversed(PIPELINES) if spacy.util.is_package(name))
    nlp = spacy.load(name, exclude=["parser", "ner", "senter", "lemmatizer"])
    return {t: [(w.text, w.tag_) for w in doc] for t, doc in zip(texts, nlp.pipe(texts), strict=True)}


def changes(half: str) -> list[Change]:
    """Make one change of each kind of every caption that allows it."""
    said = {image: texts for image, texts in images().items() if _half(image) == half}
    tags = tagged(sorted({text for texts in said.values() for text in texts}))
    pools: dict[str, list[str]] = {}
    for words in tags.values():
        for at in _relations(words):
            pools.setdefault(words[at][1], []).append(words[at][0])
    found = []
    for texts in said.values():
        for text in texts:
            others = tuple(other for other in texts if other != text)
            for kind in KINDS:
                changed = _changed(kind, text, tags[text], pools)
                if changed and changed != text:
                    found.append(Change(kind, text, changed, others))
    return found


def _half(image: str) -> str:
    return ("tune", "report")[hashlib.sha256(image.encode()).digest()[0] % 2]


def _changed(
    kind: str, text: str, words: list[tuple[str, str]], pools: Mapping[str, list[str]]
) -> str | None:
    plain = [word for word, _ in words]
    draw = random.Random(f"{kind} {text}")
    if kind == "replace_rel":
        places = _relations(words)
        if not places:
            return None
        at = draw.choice(places)
        choices = sorted(set(pools[words[at][1]]) - {plain[at]})
        weights = [pools[words[at][1]].count(choice) for choice in choices]
        if not choices:
            return None
        plain[at] = draw.choices(choices, weights)[0]
        return _joined(plain)
    if kind == "swap_obj":
        heads = [at for at, (_, tag) in enumerate(words) if tag in ("NN", "NNS") and _ends(words, at)]
        pairs = [(a, b) for a, b in itertools.pairwise(heads) if _relating(words, a, b)]
    else:
        heads = [at for at, (_, tag) in enumerate(words[:-1]) if tag == "JJ" and words[at + 1][1][:2] == "NN"]
        pairs = list(itertools.pairwise(heads))
    pairs = [(a, b) for a, b in pairs if plain[a] != plain[b]]
    if not pairs:
        return None
    a, b = draw.choice(pairs)
    plain[a], plain[b] = plain[b], plain[a]
    return _joined(plain)


def _relations(words: list[tuple[str, str]]) -> list[int]:
    nouns = [at for at, (_, tag) in enumerate(words) if tag[:2] == "NN"]
    inside = range(nouns[0], nouns[-1]) if len(nouns) > 1 else range(0)
    return [at for at in inside if words[at][1] in ("IN", "VBG", "VBZ", "VBN") and words[at][0] not in _NOT]


_NOT = frozenset("is are of that with as while 's".split())


def _relating(words: list[tuple[str, str]], a: int, b: int) -> bool:
    between = [word for word, tag in words[a + 1 : b] if tag in ("IN", "VBG", "VBZ", "VBN", "VBP", "RP")]
    return bool(between) and not any(word in (",", "and", ".") for word, _ in words[a + 1 : b])


def _ends(words: list[tuple[str, str]], at: int) -> bool:
    return at + 1 == len(words) or words[at + 1][1][:2] != "NN"


def _joined(words: list[str]) -> str:
    return _bare(" ".join(words).replace(" ,", ",").replace(" '", "'").replace(" .", "."))


Score = Callable[[str, Change], Any]


def main() -> None:
    """Print the share of pairs that each system tells apart."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    half = parser.parse_args().half
    data = changes(half)
    texts = sorted({text for change in data for text in (change.right, change.wrong, *change.others)})
    plain = CodeNormaliser()
    codes = dict(zip(texts, map(plain, TextExtractor().extract_many(texts)), strict=True))
    references = {change.others: union([codes[text] for text in change.others]) for change in data}
    systems = by_codes(codes, references)
    bags = _bags(texts)
    systems["bag of words, tf-idf cosine"] = lambda text, change: sum(
        _cosine(bags[text], bags[other]) for other in change.others
    )
    vectors = dict(zip(texts, Dense().vectors(texts), strict=True))

    def near(text: str, change: Change) -> float:
        return float(sum(vectors[text] @ vectors[other] for other in change.others) / len(change.others))

    meaning = systems["codes, by meaning"]
    systems["dense MiniLM, mean of captions"] = near
    # Both are between 0 and 1 and weigh the same; ¼ and ½ for vectors were worse on the other half.
    systems["codes, by meaning + dense"] = lambda text, change: meaning(text, change) + near(text, change)
    words = dict(zip(texts, MiniLmEmbedder().embed_words(texts), strict=True))

    def context(text: str, change: Change) -> float:
        return sum(met(words[text], words[other]) for other in change.others) / len(change.others)

    systems["words in context, mean of captions"] = context
    # 1, 3 and 5 were no better on the other half, all kinds together.
    systems["codes, by meaning + 2 · words in context"] = lambda text, change: (
        meaning(text, change) + 2 * context(text, change)
    )
    counts = {kind: sum(change.kind == kind for change in data) for kind in KINDS}
    print(f"  {'system':<46}" + "".join(f"{f'{kind} ({counts[kind]:,})':>24}" for kind in KINDS))
    for name, score in systems.items():
        won = [_won(score(change.right, change), score(change.wrong, change)) for change in data]
        cells = [interval([w for w, c in zip(won, data, strict=True) if c.kind == kind]) for kind in KINDS]
        print(f"  {name:<46}" + "".join(f"    {c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]" for c in cells))
    for kind in KINDS:
        named = [_named(change) for change in data if change.kind == kind]
        shares = ((name, named.count(name) / len(named)) for name in sorted({*named}))
        print(f"  {kind}: " + ", ".join(f"{name} {share:.3f}" for name, share in shares))


def _named(change: Change) -> str:
    """Return what another caption has of the words that were changed, by their stems."""
    right, wrong = _stems(change.right), _stems(change.wrong)
    others = {word for other in change.others for word in _stems(other)}
    changed = [(a, b) for a, b in zip(right, wrong, strict=False) if a != b]
    old, new = {a for a, _ in changed}, {b for _, b in changed}
    if change.kind == "replace_rel":
        return f"{'old' if old & others else 'no old'} word, {'new' if new & others else 'no new'} one"
    return ("neither word", "one of them", "both")[min(len((old | new) & others), 2)]


def _stems(text: str) -> list[str]:
    return snowballstemmer.stemmer("english").stemWords(text.replace(" - ", "-").split())


def by_codes(
    codes: Mapping[str, GraphCode], references: Mapping[tuple[str, ...], GraphCode]
) -> dict[str, Score]:
    """Return the comparisons of codes, by name."""

    def compared(name: str) -> Score:
        how = METRICS[name]
        return lambda text, change: how.aggregate(how.scores(codes[text], references[change.others]))

    meaning = CodeMeaning()
    weighted = Weighted()
    systems = {name: compared(name) for name in METRICS}
    systems["codes, by meaning"] = lambda text, change: weighted(
        meaning.scores(codes[text], references[change.others])
    )
    return systems


if __name__ == "__main__":
    main()
