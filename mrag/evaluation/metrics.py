"""Measures of rankings, by trec_eval's own code where it has them.

| name | what it is | in trec_eval |
|---|---|---|
| `MRR` | 1 / rank of the first relevant document; 0 if none is found | `recip_rank` |
| `MAP` | mean of the precision at each relevant document, those not found counting 0 | `map` |
| `nDCG@k` | gain grade / log2(rank + 1) of the first k, by that of the best order | `ndcg_cut.k` |
| `P@k` | relevant among the first k, by k, also where there are fewer than k | `P.k` |
| `R@k` | relevant among the first k, by all relevant | `recall.k` |
| `Hits@k` | 1 if one of the first k is relevant (rank <= k), else 0 | `success.k` |
| `HitsExclusive@k` | 1 if the first relevant rank is < k, as the thesis counts; `Hits@(k-1)` in effect | |

A query counts if a document is judged relevant to it. One that the run lacks counts 0 throughout; one
without a relevant document says nothing of a ranker and is left out, its recall being undefined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from mrag.errors import ConfigError
from mrag.evaluation.runs import FirstRanks, Qrels, Run

DEFAULT: Final = ("MRR", "MAP", "nDCG@10", "P@10", "R@100", "Hits@1", "Hits@10")
"""What is measured unless something else is asked for."""

_NAMES: Final = {
    "mrr": "MRR", "map": "MAP", "ndcg": "nDCG", "p": "P", "r": "R", "hits": "Hits",
    "precision": "P", "recall": "R", "hitsexclusive": "HitsExclusive",
}  # fmt: skip
_TREC: Final = {
    "MRR": "recip_rank",
    "MAP": "map",
    "nDCG": "ndcg_cut",
    "P": "P",
    "R": "recall",
    "Hits": "success",
}
_FORM = re.compile(r"([A-Za-z]+)(?:@([1-9]\d{0,5}))?\Z")


@dataclass(frozen=True)
class Measure:
    """A measure: its kind, and how many documents it looks at where it is cut.

    Example:
        >>> str(Measure.parse("ndcg@10")), Measure.parse("MRR").k
        ('nDCG@10', None)
        >>> Measure.parse("F1")
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no measure 'F1'. Known: MRR, MAP, nDCG@k, P@k, R@k, Hits@k...
    """

    kind: str
    k: int | None = None

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Read a measure's name.

        Raises:
            ConfigError: If there is none of that name.
        """
        match = _FORM.match(text.strip())
        kind = _NAMES.get(match[1].lower()) if match else None
        if match is None or kind is None or (match[2] is None) != (kind in ("MRR", "MAP")):
            known = "MRR, MAP, nDCG@k, P@k, R@k, Hits@k, HitsExclusive@k"
            raise ConfigError(f"There is no measure {text!r}.", hint=f"Known: {known}, with a number for k.")
        return cls(kind, int(match[2]) if match[2] else None)

    def __str__(self) -> str:
        return self.kind if self.k is None else f"{self.kind}@{self.k}"

    @property
    def of_first_rank(self) -> bool:
        """Return whether the rank of the first relevant document alone decides it."""
        return self.kind in ("MRR", "Hits", "HitsExclusive")

    def of_rank(self, rank: int | None) -> float:
        """Return its value for the rank of the first relevant document, from 1; None where none was found.

        Raises:
            ConfigError: If the rank alone does not decide it.

        Example:
            >>> [Measure.parse(m).of_rank(10) for m in ("MRR", "Hits@10", "HitsExclusive@10")]
            [0.1, 1.0, 0.0]
        """
        if not self.of_first_rank:
            raise ConfigError(f"{self} does not follow from the rank of the first relevant document.")
        if rank is None:
            return 0.0
        if self.k is None:
            return 1.0 / rank
        return float(rank < self.k if self.kind == "HitsExclusive" else rank <= self.k)


def judged(qrels: Qrels) -> list[str]:
    """List the queries that have a relevant document, in order of ID.

    Example:
        >>> judged({"2": {"a": 1}, "1": {"a": 0}})
        ['2']
    """
    return sorted(query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values()))


def per_query(run: Run, qrels: Qrels, measures: Sequence[Measure | str]) -> dict[str, dict[str, float]]:
    """Measure a run query by query.

    Args:
        run: The run; its order counts, whatever its scores.
        qrels: The judgements; a document that has none is not relevant.
        measures: What to measure.

    Returns:
        Measure to query to value, for the queries of `judged`.

    Raises:
        ConfigError: If pytrec-eval-terrier is not installed, or there is no such measure.

    Example:
        >>> run = Run.of_order("x", {"1": ["a", "b"], "2": ["b"]})
        >>> per_query(run, {"1": {"b": 1}, "2": {"a": 1}, "3": {"a": 0}}, ["MRR", "P@10"])
        {'MRR': {'1': 0.5, '2': 0.0}, 'P@10': {'1': 0.1, '2': 0.0}}
    """
    wanted = [Measure.parse(m) if isinstance(m, str) else m for m in measures]
    queries = judged(qrels)
    trec = {measure: _trec_name(measure) for measure in wanted if measure.kind in _TREC}
    found: Mapping[str, Mapping[str, float]] = {}
    if trec:
        evaluator = _library().RelevanceEvaluator(
            {query: {doc: max(0, grade) for doc, grade in qrels[query].items()} for query in queries},
            set(trec.values()),
        )
        # trec_eval orders by score and breaks ties its own way; falling whole numbers leave it no choice.
        order = {q: run.hits[q] for q in queries if run.hits.get(q)}
        found = evaluator.evaluate(
            {q: {hit.doc: float(len(hits) - i) for i, hit in enumerate(hits)} for q, hits in order.items()}
        )
    ranks = first_ranks(run, qrels)
    values: dict[str, dict[str, float]] = {}
    for measure in wanted:
        if measure in trec:
            name = trec[measure].replace(".", "_")
            values[str(measure)] = {q: float(found[q][name]) if q in found else 0.0 for q in queries}
        else:
            values[str(measure)] = {q: measure.of_rank(ranks[q]) for q in queries}
    return values


def first_ranks(run: Run, qrels: Qrels) -> dict[str, int | None]:
    """Return the rank, from 1, of the first relevant document of each judged query; None if none is found."""
    ranks: dict[str, int | None] = {}
    for query in judged(qrels):
        grades = qrels[query]
        hits = run.hits.get(query, ())
        ranks[query] = next((i for i, hit in enumerate(hits, 1) if grades.get(hit.doc, 0) > 0), None)
    return ranks


def of_ranks(given: FirstRanks, measures: Iterable[Measure | str]) -> dict[str, dict[str, float]]:
    """Measure first ranks query by query; measures that do not follow from them are left out.

    Example:
        >>> of_ranks(FirstRanks("x", {"1": 2, "2": None}), ["MRR", "MAP", "Hits@2"])
        {'MRR': {'1': 0.5, '2': 0.0}, 'Hits@2': {'1': 1.0, '2': 0.0}}
    """
    wanted = [Measure.parse(m) if isinstance(m, str) else m for m in measures]
    return {
        str(m): {query: m.of_rank(rank) for query, rank in sorted(given.ranks.items())}
        for m in wanted
        if m.of_first_rank
    }


def _trec_name(measure: Measure) -> str:
    name = _TREC[measure.kind]
    return name if measure.k is None else f"{name}.{measure.k}"


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        return import_module("pytrec_eval")
    except ImportError as error:
        raise ConfigError("pytrec-eval-terrier is not installed.", hint="pip install 'mrag[eval]'") from error
