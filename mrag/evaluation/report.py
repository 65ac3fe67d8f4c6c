"""From runs and judgements to tables with intervals and tests, as JSON, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mrag import html
from mrag.errors import ConfigError
from mrag.evaluation.metrics import (
    DEFAULT,
    Interval,
    Measure,
    PairedTest,
    Qrels,
    Resampling,
    Run,
    compare,
    holm,
    interval,
    judged_queries,
    per_query,
)
from mrag.terminal import inline


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
    """What `evaluate` found.

    Attributes:
        pairs: The other systems beside the baseline; those on other queries are not paired.
        notes: What a reader has to know.
    """

    measures: tuple[str, ...]
    systems: tuple[SystemScores, ...]
    pairs: tuple[BaselineComparison, ...]
    resampling: Resampling
    notes: tuple[str, ...] = ()
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
    if baseline is not None and baseline not in names:
        raise ConfigError(f"There is no system {baseline!r}.", hint=f"There are: {', '.join(names)}.")
    told = [*notes, *_coverage(systems, qrels)]
    measured = []
    for system in systems:
        values = per_query(system, qrels, wanted)
        means = {m: interval(list(v.values()), resampling) for m, v in values.items()}
        measured.append(SystemScores(system.name, values, means))
    pairs = _pairs(measured, baseline or names[0], [str(m) for m in wanted], resampling)
    return Evaluation(tuple(map(str, wanted)), tuple(measured), pairs, resampling, tuple(told), title)


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
