"""From runs and judgements to tables with intervals and tests, as JSON, Markdown, HTML and pictures (SVG)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from statistics import fmean
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import numpy.typing as npt

from mrag import html
from mrag.errors import ConfigError
from mrag.evaluation.metrics import (
    DEFAULT,
    FirstRanks,
    Interval,
    Measure,
    PairedTest,
    Qrels,
    Resampling,
    Run,
    compare,
    holm,
    interval,
    judged,
    of_ranks,
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
        counting: Hits@k beside the thesis's count, `rank < k`, for each system.
        notes: What a reader has to know.
    """

    measures: tuple[str, ...]
    systems: tuple[SystemScores, ...]
    pairs: tuple[BaselineComparison, ...]
    counting: Mapping[str, Mapping[int, tuple[float, float]]]
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
                {
                    "measure": pair.measure,
                    "baseline": pair.baseline,
                    "system": pair.system,
                    "difference": asdict(pair.found.difference),
                    "p": pair.found.p,
                    "p_holm": pair.adjusted,
                    "better": pair.found.better,
                    "worse": pair.found.worse,
                }
                for pair in self.pairs
            ],
            "hits_counting": [
                {"system": name, "k": k, "inclusive": inclusive, "exclusive": exclusive}
                for name, found in self.counting.items()
                for k, (inclusive, exclusive) in found.items()
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Return the tables as HTML for a notebook."""
        systems = html.table(
            ("system", "queries", *self.measures),
            [(s.name, self._queries(s), *(self._cell(s, m) for m in self.measures)) for s in self.systems],
            caption=self.title,
        )
        pairs = [
            (p.system, p.measure, f"{p.found.difference.mean:+.4f}", f"{p.found.p:.4g}", f"{p.adjusted:.4g}")
            for p in self.pairs
        ]
        beside = (
            html.table(
                ("system", "measure", "difference", "p", "p (Holm)"),
                pairs,
                caption=f"Beside {self.pairs[0].baseline}",
            )
            if pairs
            else ""
        )
        return html.tag("div", systems, beside, html.bullets(self.notes), class_="mrag-evaluation")

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        level = f"{self.resampling.level:.0%}"
        parts = [f"# {self.title}", ""]
        parts += _table(
            ["system", "queries", *self.measures],
            [[s.name, self._queries(s), *(self._cell(s, m) for m in self.measures)] for s in self.systems],
        )
        parts += [
            "",
            f"In brackets the {level} bootstrap interval over queries ({self.resampling.resamples} samples, "
            f"seed {self.resampling.seed}).",
        ]
        if self.pairs:
            parts += ["", f"## Beside {self.pairs[0].baseline}", ""]
            parts += _table(
                ["system", "measure", "difference", "better on", "worse on", "p", "p (Holm)"],
                [
                    [
                        *(pair.system, pair.measure, self._shown(pair.found.difference, signed=True)),
                        *(str(pair.found.better), str(pair.found.worse)),
                        *(f"{pair.found.p:.4f}", f"{pair.adjusted:.4f}"),
                    ]
                    for pair in self.pairs
                ],
            )
            parts += ["", "p by Fisher's paired randomisation test, two-sided; p (Holm) over all rows."]
        if self.counting:
            parts += ["", "## How hits are counted", ""]
            rows = [
                [name, str(k), f"{inclusive:.4f}", f"{exclusive:.4f}", f"{inclusive - exclusive:+.4f}"]
                for name, found in self.counting.items()
                for k, (inclusive, exclusive) in found.items()
            ]
            parts += _table(["system", "k", "Hits@k (rank <= k)", "HitsExclusive@k (rank < k)", "lost"], rows)
        if self.notes:
            parts += ["", "## Notes", "", *(f"- {note}" for note in self.notes)]
        return "\n".join(map(inline, parts)) + "\n"

    def _queries(self, system: SystemScores) -> str:
        return str(max(i.queries for i in system.means.values()))

    def _cell(self, system: SystemScores, measure: str) -> str:
        found = system.means.get(measure)
        return "" if found is None else self._shown(found)

    def _shown(self, found: Interval, *, signed: bool = False) -> str:
        form = f"{'+' if signed else ''}.4f"
        return f"{found.mean:{form}} [{found.low:{form}}, {found.high:{form}}]"


def evaluate(
    systems: Sequence[Run | FirstRanks],
    qrels: Qrels | None = None,
    measures: Sequence[str] = DEFAULT,
    *,
    resampling: Resampling | None = None,
    baseline: str | None = None,
    title: str = "Evaluation",
    notes: Sequence[str] = (),
) -> Evaluation:
    """Measure systems and compare each with a baseline.

    Runs need judgements, and first ranks need none. The baseline is the first system if left out; measures
    are those of `mrag.evaluation.metrics`.

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
    told = list(notes)
    if any(isinstance(system, Run) for system in systems):
        told += _coverage(systems, qrels)
    ks = sorted({m.k for m in wanted if m.kind in ("Hits", "HitsExclusive") and m.k is not None})
    both = [Measure(kind, k) for k in ks for kind in ("Hits", "HitsExclusive")]
    every = list(dict.fromkeys([*wanted, *both]))
    measured = []
    counting: dict[str, dict[int, tuple[float, float]]] = {}
    for system in systems:
        values = (
            of_ranks(system, every)
            if isinstance(system, FirstRanks)
            else per_query(system, qrels or {}, every)
        )
        asked = {str(m): values[str(m)] for m in wanted if str(m) in values}
        if not asked:
            raise ConfigError(
                f"None of the measures follows from the ranks of {system.name}.", hint="Add MRR."
            )
        means = {m: interval(list(v.values()), resampling) for m, v in asked.items()}
        measured.append(SystemScores(system.name, asked, means))
        counting[system.name] = {
            k: (fmean(values[f"Hits@{k}"].values()), fmean(values[f"HitsExclusive@{k}"].values())) for k in ks
        }
    pairs = _pairs(measured, baseline or names[0], [str(m) for m in wanted], resampling)
    return Evaluation(
        tuple(map(str, wanted)),
        tuple(measured),
        pairs,
        counting if ks else {},
        resampling,
        tuple(told),
        title,
    )


def _pairs(
    systems: Sequence[SystemScores], baseline: str, measures: Sequence[str], resampling: Resampling
) -> tuple[BaselineComparison, ...]:
    base = next(system for system in systems if system.name == baseline)
    found: list[tuple[str, str, PairedTest]] = []
    for system in systems:
        for measure in measures:
            one, other = base.values.get(measure), system.values.get(measure)
            if system is base or one is None or other is None or one.keys() != other.keys():
                continue
            queries = sorted(one)
            compared = compare([one[q] for q in queries], [other[q] for q in queries], resampling)
            found.append((measure, system.name, compared))
    adjusted = holm([compared.p for _, _, compared in found])
    return tuple(
        BaselineComparison(measure, baseline, name, compared, p)
        for (measure, name, compared), p in zip(found, adjusted, strict=True)
    )


def _coverage(systems: Sequence[Run | FirstRanks], qrels: Qrels | None) -> list[str]:
    known = judged(qrels or {})
    if not known:
        raise ConfigError("No query has a relevant document.", hint="Give judgements that fit the runs.")
    notes = []
    empty = len(qrels or {}) - len(known)
    if empty:
        notes.append(f"{empty} judged queries have no relevant document and are left out.")
    for system in systems:
        if isinstance(system, Run):
            missing = sum(1 for query in known if not system.hits.get(query))
            if missing == len(known):
                raise ConfigError(f"The run {system.name!r} answers none of the judged queries.")
            if missing:
                notes.append(
                    f"{system.name} gives nothing for {missing} of {len(known)} queries; they count 0."
                )
    return notes


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    shown = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return [shown[0], "|" + "---|" * len(head), *shown[1:]]


COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that can be told apart with any colour vision (Okabe and Ito, 2008)."""


def intervals_svg(found: Evaluation) -> str:
    """Draw the mean of each system by each measure as a dot, its interval as a line.

    Returns:
        An SVG document. Every measure has the scale 0 to 1.
    """
    names = [system.name for system in found.systems]
    left, width, line = 20 + 7 * max(map(len, names)), 360, 18
    block = line * len(names) + 34
    picture = new_picture(left + width + 90, block * len(found.measures) + 20, found.title)
    for at, measure in enumerate(found.measures):
        top = 20 + at * block
        draw_text(picture, left, top + 4, measure, weight="bold")
        for tick in range(5):
            x = left + width * tick / 4
            draw_line(picture, x, top + 12, x, top + block - 18, "#dddddd")
            draw_text(picture, x, top + block - 6, f"{tick / 4:g}", anchor="middle", size=10)
        for row, system in enumerate(found.systems):
            y = top + 22 + row * line
            colour = COLOURS[row % len(COLOURS)]
            draw_text(picture, left - 8, y + 4, system.name, anchor="end")
            mean = system.means.get(measure)
            if mean is not None:
                draw_line(picture, left + width * mean.low, y, left + width * mean.high, y, colour, 2)
                dot = SubElement(
                    picture, "circle", cx=rounded(left + width * mean.mean), cy=rounded(y), r="4", fill=colour
                )
                SubElement(dot, "title").text = f"{mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]"
                draw_text(picture, left + width + 8, y + 4, f"{mean.mean:.3f}")
    return printed(picture)


def points_svg(
    points: npt.NDArray[np.float64],
    titles: Sequence[str],
    groups: Sequence[str] | None = None,
    *,
    title: str = "Questions",
) -> str:
    """Draw points of shape (n, 2); what each stands for shows under the pointer.

    Each group has a colour; the seventh and later ones share the last.

    Raises:
        ConfigError: If the numbers of points, titles and groups differ.
    """
    kinds = list(groups) if groups is not None else [""] * len(titles)
    if points.shape != (len(titles), 2) or len(kinds) != len(titles):
        raise ConfigError("Every point needs two coordinates, a title and a group.")
    size, edge = 520, 20
    picture = new_picture(size + 180, size, title)
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.where(high > low, high - low, 1)
    placed = edge + (points - low) / spread * (size - 2 * edge)
    order = [kind for kind in dict.fromkeys(sorted(kinds)) if kind]
    colour = {kind: COLOURS[min(i, len(COLOURS) - 1)] for i, kind in enumerate(order)}
    for (x, y), text, kind in zip(placed.tolist(), titles, kinds, strict=True):
        fill = colour.get(kind, COLOURS[0])
        dot = SubElement(
            picture,
            "circle",
            {"cx": rounded(x), "cy": rounded(y), "r": "3", "fill": fill, "fill-opacity": "0.7"},
        )
        SubElement(dot, "title").text = f"{text} ({kind})" if kind else text
    for row, kind in enumerate(order[: len(COLOURS)]):
        SubElement(
            picture, "circle", cx=rounded(size + 8), cy=rounded(20 + row * 18), r="4", fill=colour[kind]
        )
        draw_text(picture, size + 18, 24 + row * 18, kind[:24])
    return printed(picture)


def tsne(
    vectors: npt.NDArray[np.float32], *, seed: int = 0, perplexity: float = 30.0
) -> npt.NDArray[np.float64]:
    """Lay four vectors or more out in the plane, near ones near each other.

    By t-SNE (van der Maaten and Hinton, 2008, Visualizing Data using t-SNE, JMLR 9), from the first two
    principal components. Distances between far groups mean nothing. `perplexity`, how many neighbours count,
    is lowered where there are few vectors.

    Raises:
        ConfigError: If there are fewer than 4 vectors or scikit-learn is not installed.
    """
    if len(vectors) < 4:
        raise ConfigError(f"{len(vectors)} questions are too few for a picture.", hint="Give 4 or more.")
    try:
        manifold: Any = import_module("sklearn.manifold")
    except ImportError as error:
        raise ConfigError("scikit-learn is not installed.", hint="pip install 'mrag[eval]'") from error
    near = min(perplexity, (len(vectors) - 1) / 3)
    laid = manifold.TSNE(n_components=2, perplexity=near, init="pca", random_state=seed).fit_transform(
        vectors
    )
    return np.asarray(laid, np.float64)


def new_picture(width: float, height: float, title: str) -> Element:
    """Return an empty picture."""
    size = {"width": rounded(width), "height": rounded(height)}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "viewBox": ""} | size)
    picture.set("viewBox", f"0 0 {rounded(width)} {rounded(height)}")
    picture.set("font-family", "sans-serif")
    SubElement(picture, "title").text = title
    SubElement(picture, "rect", width="100%", height="100%", fill="#ffffff")
    return picture


def draw_text(
    at: Element, x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = ""
) -> None:
    """Add words to a picture."""
    style = {"text-anchor": anchor, "font-size": str(size)} | ({"font-weight": weight} if weight else {})
    SubElement(at, "text", {"x": rounded(x), "y": rounded(y), **style}).text = text


def draw_line(at: Element, x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> None:
    """Add a line to a picture."""
    ends = zip(("x1", "y1", "x2", "y2"), map(rounded, (x1, y1, x2, y2)), strict=True)
    SubElement(at, "line", {**dict(ends), "stroke": colour, "stroke-width": str(width)})


def rounded(value: float) -> str:
    """Return a coordinate as a picture has it."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def printed(picture: Element) -> str:
    """Return a picture as a document."""
    return tostring(picture, encoding="unicode") + "\n"
