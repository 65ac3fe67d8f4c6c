"""Runs and judgements in files of TREC and BEIR, measures of rankings, how sure a mean is, and reports.

Measures are by trec_eval's own code where it has them:

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

In a run file the scores decide: documents of one query are ordered by falling score, ties by document ID,
whatever the ranks in the file say. trec_eval has scores in
binary32 and orders ties by falling document ID.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag import html
from mrag.errors import ConfigError, LoadError, check_choice
from mrag.storage.files import save_text
from mrag.terminal import inline

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query ID to document ID to grade; above 0 is relevant."""


class Scored(NamedTuple):
    """A document with its score."""

    doc: str
    score: float


@dataclass(frozen=True)
class Run:
    """What a ranker gave for each query: its documents in order, best first, each once."""

    name: str
    hits: Mapping[str, Sequence[Scored]]

    @classmethod
    def of_scores(cls, name: str, scores: Mapping[str, Mapping[str, float]]) -> Run:
        """Make a run of scores alone."""
        return cls(name, {query: order(documents.items()) for query, documents in scores.items()})

    @classmethod
    def of_order(cls, name: str, docs: Mapping[str, Iterable[str]]) -> Run:
        """Make a run of ordered documents; a document that comes again counts where it came first."""
        return cls(name, {query: by_rank(dict.fromkeys(documents)) for query, documents in docs.items()})


def order(scores: Iterable[tuple[str, float]]) -> tuple[Scored, ...]:
    """Order documents by falling score, ties by ID."""
    return tuple(Scored(d, s) for d, s in sorted(scores, key=lambda pair: (-pair[1], pair[0])))


def by_rank(docs: Iterable[str]) -> tuple[Scored, ...]:
    """Return documents scores that keep their order."""
    listed = list(docs)
    return tuple(Scored(doc, float(len(listed) - i)) for i, doc in enumerate(listed))


def read_run(path: Path, name: str | None = None) -> Run:
    """Read a run in TREC's form, `query Q0 document rank score tag`; the tag, or else the file, is its name.

    Raises:
        LoadError: If the file is missing, a line is not of that form, a score is not a number, or a
            document comes twice for one query.
    """
    scores: dict[str, dict[str, float]] = {}
    tags: dict[str, None] = {}
    for number, fields in _rows(path):
        if len(fields) != 6:
            raise _bad(path, number, f"a run has 6 columns, not {len(fields)}")
        query, _, doc, _, score, tag = fields
        documents = scores.setdefault(query, {})
        if doc in documents:
            raise _bad(path, number, f"{doc} comes twice for query {query}")
        documents[doc] = _number(path, number, score)
        tags[tag] = None
    only = next(iter(tags)) if len(tags) == 1 else path.stem
    return Run.of_scores(name or only, scores)


def write_run(run: Run, path: Path) -> None:
    """Write a run in TREC's form, queries in order of ID.

    Where the scores of a query do not fall strictly as binary32 numbers, so that other programs would see
    ties or another order, numbers that keep the order are written in their place.

    Raises:
        LoadError: If an ID is empty or holds blanks, which the form cannot hold.
    """
    lines = []
    for query, hits in sorted(run.hits.items()):
        with np.errstate(over="ignore"):
            scores = np.array([hit.score for hit in hits], np.float32)
        falling = np.isfinite(scores).all() and (scores[1:] < scores[:-1]).all()
        for rank, (doc, score) in enumerate(hits if falling else by_rank(hit.doc for hit in hits), 1):
            _writable(path, query, doc)
            lines.append(f"{query} Q0 {doc} {rank} {score!r} {'_'.join(run.name.split()) or 'run'}\n")
    save_text(path, "".join(lines))


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read judgements, `query 0 document grade` (TREC) or `query document grade` (BEIR, with a heading).

    Raises:
        LoadError: If the file is missing, a line has another form, or a document is judged twice
            otherwise for one query.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, fields in _rows(path):
        if number == 1 and fields[-1] == "score":
            continue
        if len(fields) not in (3, 4):
            raise _bad(path, number, f"judgements have 3 or 4 columns, not {len(fields)}")
        query, doc, grade = fields[0], fields[-2], _number(path, number, fields[-1])
        if grade != int(grade):
            raise _bad(path, number, f"a grade is a whole number, not {fields[-1]}")
        if qrels.setdefault(query, {}).setdefault(doc, int(grade)) != int(grade):
            raise _bad(path, number, f"{doc} has two grades for query {query}")
    return qrels


def write_qrels(qrels: Qrels, path: Path) -> None:
    """Write judgements in BEIR's form, in order of the IDs.

    Raises:
        LoadError: If an ID is empty or holds blanks, which the form cannot hold.
    """
    lines = ["query-id\tcorpus-id\tscore\n"]
    for query, grades in sorted(qrels.items()):
        for doc, grade in sorted(grades.items()):
            _writable(path, query, doc)
            lines.append(f"{query}\t{doc}\t{grade}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    save_text(path, "".join(lines))


def read_text(path: Path) -> str:
    """Read a file of text in UTF-8.

    Raises:
        LoadError: If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


def read_objects(path: Path, *required: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects of a file, one a line, with the numbers of their lines.

    Raises:
        LoadError: If the file cannot be read, or a line is no object with the required fields.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                fields = json.loads(line)
            except ValueError as error:
                raise LoadError(f"Not JSON: {error}.", file=str(path), line=number) from error
            if not isinstance(fields, dict) or not {*required} <= fields.keys():
                what = f"a JSON object{' with ' * bool(required)}{' and '.join(required)}"
                raise LoadError(f"A line is {what}.", file=str(path), line=number)
            yield number, fields


def digest(text: str) -> str:
    """Return a short text that differs for different texts."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if fields := line.split():
            yield number, fields


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _bad(path, line, f"{text!r} is not a number")
    return value


def _bad(path: Path, line: int, what: str) -> LoadError:
    return LoadError(f"The file is not well formed: {what}.", file=str(path), line=line)


def _writable(path: Path, *ids: str) -> None:
    for name in ids:
        if name.split() != [name]:
            raise LoadError(
                f"{name!r} cannot stand in this file.", file=str(path), hint="Blanks separate columns."
            )


DEFAULT: Final = ("MRR", "MAP", "nDCG@10", "P@10", "R@100", "Hits@1", "Hits@10")
"""What is measured unless something else is asked for."""

_NAMES: Final = {
    "mrr": "MRR", "map": "MAP", "ndcg": "nDCG", "p": "P", "r": "R", "hits": "Hits",
    "precision": "P", "recall": "R", "hitsexclusive": "HitsExclusive",
}  # fmt: skip
_TREC: Final = {
    "MRR": "recip_rank", "MAP": "map", "nDCG": "ndcg_cut", "P": "P", "R": "recall", "Hits": "success",
    "HitsExclusive": "success",
}  # fmt: skip
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
        """Read a measure's name."""
        match = _FORM.match(text.strip())
        kind = _NAMES.get(match[1].lower()) if match else None
        if match is None or kind is None or (match[2] is None) != (kind in ("MRR", "MAP")):
            known = "MRR, MAP, nDCG@k, P@k, R@k, Hits@k, HitsExclusive@k"
            raise ConfigError(f"There is no measure {text!r}.", hint=f"Known: {known}, with a number for k.")
        return cls(kind, int(match[2]) if match[2] else None)

    def __str__(self) -> str:
        return self.kind if self.k is None else f"{self.kind}@{self.k}"

    @property
    def trec(self) -> str:
        """Return its name in trec_eval; empty for `HitsExclusive@1`, which is always 0."""
        k = self.k - 1 if self.k and self.kind == "HitsExclusive" else self.k
        return "" if k == 0 else _TREC[self.kind] + (f".{k}" if k else "")


def judged_queries(qrels: Qrels) -> list[str]:
    """List the queries that have a relevant document, in order of ID.

    Example:
        >>> judged_queries({"2": {"a": 1}, "1": {"a": 0}})
        ['2']
    """
    return sorted(query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values()))


def per_query(run: Run, qrels: Qrels, measures: Sequence[Measure | str]) -> dict[str, dict[str, float]]:
    """Measure a run query by query.

    The value by measure and query, for the queries of `judged_queries`. The order of the run counts, whatever
    its scores; a document that has no judgement is not relevant.

    Raises:
        ConfigError: If pytrec-eval-terrier is not installed, or there is no such measure.

    Example:
        >>> run = Run.of_order("x", {"1": ["a", "b"], "2": ["b"]})
        >>> per_query(run, {"1": {"b": 1}, "2": {"a": 1}, "3": {"a": 0}}, ["MRR", "P@10"])
        {'MRR': {'1': 0.5, '2': 0.0}, 'P@10': {'1': 0.1, '2': 0.0}}
    """
    wanted = [Measure.parse(m) if isinstance(m, str) else m for m in measures]
    queries = judged_queries(qrels)
    try:
        library: Any = import_module("pytrec_eval")
    except ImportError as error:
        hint = "pip install 'mrag[eval]'"
        raise ConfigError("pytrec-eval-terrier is not installed.", hint=hint) from error
    evaluator = library.RelevanceEvaluator(
        {query: {doc: max(0, grade) for doc, grade in qrels[query].items()} for query in queries},
        {m.trec for m in wanted if m.trec},
    )
    # trec_eval orders by score and breaks ties its own way; falling whole numbers leave it no choice.
    order = {q: run.hits[q] for q in queries if run.hits.get(q)}
    values: Mapping[str, Mapping[str, float]] = evaluator.evaluate(
        {q: {hit.doc: float(len(hits) - i) for i, hit in enumerate(hits)} for q, hits in order.items()}
    )
    names = {str(m): m.trec.replace(".", "_") for m in wanted}
    return {m: {q: float(values.get(q, {}).get(name, 0.0)) for q in queries} for m, name in names.items()}


_CHUNK = 4_000_000
_EXACT = 14


@dataclass(frozen=True)
class Resampling:
    """The settings of intervals and tests."""

    resamples: int = 10_000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 100 or not 0 < self.level < 1:
            hint = "Use 100 resamples or more and a level such as 0.95."
            raise ConfigError(
                f"Cannot resample with resamples={self.resamples}, level={self.level}.", hint=hint
            )


@dataclass(frozen=True)
class Interval:
    """A mean over queries and the interval that it lies in."""

    mean: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True)
class PairedTest:
    """What a second system has over a first one, by query: the mean of second minus first, and its test."""

    difference: Interval
    p: float  # How often chance alone gives a difference at least as large; two-sided
    better: int  # Queries on which the second is better; on `worse` it is worse
    worse: int


def interval(values: Sequence[float], resampling: Resampling | None = None) -> Interval:
    """Return the mean of per-query values with its bootstrap interval.

    It lies between percentiles of the means of queries drawn with replacement (Efron and Tibshirani, 1993, An
    Introduction to the Bootstrap, chapter 13).

    Raises:
        ConfigError: If there are no values.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(mean=1.0, low=1.0, high=1.0, queries=3)
    """
    resampling = resampling or Resampling()
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ConfigError(
            "There is no query to take a mean of.", hint="Check that judgements fit the queries."
        )
    low = high = mean = float(data.mean())
    if len(data) > 1:
        from scipy import stats

        drawn = stats.bootstrap(
            (data,), np.mean, n_resamples=resampling.resamples, batch=max(1, _CHUNK // len(data)),
            confidence_level=resampling.level, method="percentile", rng=resampling.seed,
        )  # fmt: skip
        low, high = map(float, drawn.confidence_interval)
    return Interval(mean, low, high, len(data))


def compare(
    first: Sequence[float], second: Sequence[float], resampling: Resampling | None = None
) -> PairedTest:
    """Compare two systems on the same queries by Fisher's randomisation test.

    Under the null hypothesis the systems could change places on any query, so differences change signs at
    random (Smucker, Allan and Carterette, 2007, A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation, CIKM): in all ways for up to 14 queries that differ.

    Raises:
        ConfigError: If the numbers of values differ, or there are none.

    Example:
        >>> compare([0.0] * 5, [1.0] * 5).p
        0.0625
    """
    resampling = resampling or Resampling()
    if len(first) != len(second):
        raise ConfigError(f"Cannot pair {len(first)} values with {len(second)}.")
    differences = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    return PairedTest(
        interval(differences.tolist(), resampling),
        _sign_test(differences[differences != 0], resampling),
        int((differences > 0).sum()),
        int((differences < 0).sum()),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm, 1979, A Simple Sequentially Rejective Multiple Test Procedure).

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for i, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        least = max(least, min(1.0, (len(p_values) - i) * p_values[at]))
        adjusted[at] = least
    return adjusted


def _sign_test(differences: npt.NDArray[np.float64], resampling: Resampling) -> float:
    if len(differences) < 2:
        return 1.0
    from scipy import stats

    test = stats.permutation_test(
        (differences,), lambda drawn, axis: np.abs(np.sum(drawn, axis=axis)), vectorized=True,
        permutation_type="samples", alternative="greater",
        n_resamples=2**_EXACT if len(differences) <= _EXACT else resampling.resamples,
        batch=max(1, _CHUNK // len(differences)), rng=resampling.seed,
    )  # fmt: skip
    return float(test.pvalue)


@dataclass(frozen=True)
class SystemScores:
    """One system, measured."""

    name: str
    values: Mapping[str, Mapping[str, float]]
    means: Mapping[str, Interval]


@dataclass(frozen=True)
class BaselineComparison:
    """One system beside the baseline, by one measure; `adjusted` is p by Holm over all such pairs."""

    measure: str
    baseline: str
    system: str
    found: PairedTest
    adjusted: float


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found."""

    measures: tuple[str, ...]
    systems: tuple[SystemScores, ...]
    # The other systems beside the baseline; those on other queries are not paired
    pairs: tuple[BaselineComparison, ...]
    resampling: Resampling
    notes: tuple[str, ...] = ()  # What a reader has to know
    title: str = "Evaluation"

    def to_json(self, *, queries: bool = True) -> dict[str, Any]:
        """Return it as JSON; `queries` says whether with the values of each query."""
        return {
            "title": self.title,
            "measures": list(self.measures),
            "resampling": asdict(self.resampling),
            "systems": [
                {
                    "name": system.name,
                    "means": {m: asdict(i) for m, i in system.means.items()},
                    **({"queries": {m: dict(v) for m, v in system.values.items()}} if queries else {}),
                }
                for system in self.systems
            ],
            "comparisons": [
                {"measure": pair.measure, "baseline": pair.baseline, "system": pair.system}
                | {**asdict(pair.found), "p_holm": pair.adjusted}
                for pair in self.pairs
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Return the tables as HTML for a notebook."""
        tables = [html.table(*self._means(), caption=self.title)]
        if self.pairs:
            tables.append(html.table(*self._pairs(), caption=f"Beside {self.pairs[0].baseline}"))
        return html.tag("div", *tables, html.bullets(self.notes), class_="mrag-evaluation")

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        parts = [f"# {self.title}", "", *markdown_table(*self._means()), ""]
        parts += [bracket_note(self.resampling, "queries")]
        if self.pairs:
            parts += ["", f"## Beside {self.pairs[0].baseline}", "", *markdown_table(*self._pairs())]
            parts += ["", "p by Fisher's paired randomisation test, two-sided; p (Holm) over all rows."]
        if self.notes:
            parts += ["", "## Notes", "", *(f"- {note}" for note in self.notes)]
        return "\n".join(map(inline, parts)) + "\n"

    def _pairs(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of the systems beside the baseline: its head, and its rows."""
        rows = [
            [
                *(pair.system, pair.measure, interval_text(pair.found.difference, "+.4f")),
                *(str(pair.found.better), str(pair.found.worse)),
                *(f"{pair.found.p:.4f}", f"{pair.adjusted:.4f}"),
            ]
            for pair in self.pairs
        ]
        return ["system", "measure", "difference", "better on", "worse on", "p", "p (Holm)"], rows

    def _means(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of the systems: its head, and its rows."""
        rows = []
        for system in self.systems:
            cells = [system.means.get(measure) for measure in self.measures]
            queries = str(max(i.queries for i in system.means.values()))
            rows.append([system.name, queries, *(interval_text(i, ".4f") if i else "" for i in cells)])
        return ["system", "queries", *self.measures], rows


def evaluate(
    systems: Sequence[Run],
    qrels: Qrels,
    measures: Sequence[str] = DEFAULT,
    *,
    resampling: Resampling | None = None,
    baseline: str | None = None,
    title: str = "Evaluation",
    notes: Sequence[str] = (),
) -> Evaluation:
    """Measure systems and compare each with a baseline.

    The baseline is the first system if left out; measures are those of `mrag.evaluation.metrics`.

    Raises:
        ConfigError: If there is nothing to measure, two systems share a name, the baseline is none of
            them, or a measure is not known.

    Example:
        >>> runs = [Run.of_order("a", {"1": ["x", "y"]}), Run.of_order("b", {"1": ["y", "x"]})]
        >>> found = evaluate(runs, {"1": {"y": 1}}, ["MRR"])
        >>> [(s.name, s.means["MRR"].mean) for s in found.systems], found.pairs[0].found.better
        ([('a', 0.5), ('b', 1.0)], 1)
    """
    resampling = resampling or Resampling()
    wanted = list(dict.fromkeys(Measure.parse(m) for m in measures))
    names = [system.name for system in systems]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"Systems need names of their own, not {names}.", hint="Give one system or more.")
    if baseline is not None:
        check_choice("system", baseline, names)
    remarks = [*notes, *_coverage(systems, qrels)]
    measured = []
    for system in systems:
        values = per_query(system, qrels, wanted)
        means = {m: interval(list(v.values()), resampling) for m, v in values.items()}
        measured.append(SystemScores(system.name, values, means))
    pairs = _pairs(measured, baseline or names[0], [str(m) for m in wanted], resampling)
    return Evaluation(tuple(map(str, wanted)), tuple(measured), pairs, resampling, tuple(remarks), title)


def _pairs(
    systems: Sequence[SystemScores], baseline: str, measures: Sequence[str], resampling: Resampling
) -> tuple[BaselineComparison, ...]:
    base = next(system for system in systems if system.name == baseline)
    comparisons: list[tuple[str, str, PairedTest]] = []
    for system in systems:
        for measure in measures:
            one, other = base.values.get(measure), system.values.get(measure)
            if system is base or one is None or other is None or one.keys() != other.keys():
                continue
            queries = sorted(one)
            compared = compare([one[q] for q in queries], [other[q] for q in queries], resampling)
            comparisons.append((measure, system.name, compared))
    adjusted = holm([compared.p for _, _, compared in comparisons])
    return tuple(
        BaselineComparison(measure, baseline, name, compared, p)
        for (measure, name, compared), p in zip(comparisons, adjusted, strict=True)
    )


def _coverage(systems: Sequence[Run], qrels: Qrels) -> Iterator[str]:
    """Yield what the judgements leave out, and what systems give nothing for."""
    known = judged_queries(qrels)
    if not known:
        raise ConfigError("No query has a relevant document.", hint="Give judgements that fit the runs.")
    if empty := len(qrels) - len(known):
        yield f"{empty} judged queries have no relevant document and are left out."
    for system in systems:
        missing = sum(1 for query in known if not system.hits.get(query))
        if missing == len(known):
            raise ConfigError(f"The run {system.name!r} answers none of the judged queries.")
        if missing:
            yield f"{system.name} gives nothing for {missing} of {len(known)} queries; they count 0."


def interval_text(limits: Interval, form: str) -> str:
    """Return a mean with its interval in brackets."""
    return f"{limits.mean:{form}} [{limits.low:{form}}, {limits.high:{form}}]"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    shown = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return [shown[0], "|" + "---|" * len(head), *shown[1:]]


def bracket_note(resampling: Resampling, over: str) -> str:
    """Say what stands in brackets."""
    drawn = f"{resampling.resamples} samples, seed {resampling.seed}"
    return f"In brackets the {resampling.level:.0%} bootstrap interval over {over} ({drawn})."
