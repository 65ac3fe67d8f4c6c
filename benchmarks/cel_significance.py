"""Which learners differ, over all data sets: mean ranks, paired tests, and a critical-difference plot.

python benchmarks/cel_held_out.py all --learners search evolearner celoe tdl m-of-n --json FILE
python benchmarks/cel_significance.py FILE [--svg FILE]

Each learner's quality on what was held out is averaged over the problems of a set, so that a set counts
once, however many folds it has. The sets are then ranked: Friedman's test says whether the learners differ
at all, Nemenyi's critical difference how far two mean ranks must be apart (Demšar, JMLR 7, 2006), and
Wilcoxon's signed ranks, adjusted by Holm, whether one learner differs from the first, over the sets.
"""

from __future__ import annotations

import argparse
import html
import json
import statistics
from pathlib import Path

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

ALPHA = 0.05


def means(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the learners, and the mean quality of each learner on each set."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    learners = list(rows)
    sets = list(dict.fromkeys(r["set"] for r in rows[learners[0]]))
    table = [[statistics.mean(r["test"] for r in rows[k] if r["set"] == s) for k in learners] for s in sets]
    return learners, np.array(table)


def holm(values: list[float]) -> list[float]:
    """Adjust p values for their number."""
    order, found, last = np.argsort(values), [0.0] * len(values), 0.0
    for at, i in enumerate(map(int, order)):
        last = found[i] = max(last, min(1.0, (len(values) - at) * values[i]))
    return found


def plot(learners: list[str], ranks: np.ndarray, critical: float) -> str:
    """Draw the mean ranks, with bars over those that do not differ."""
    k, left, width = len(learners), 130, 380

    def x(rank: float) -> float:
        return left + (rank - 1) / (k - 1) * width

    order = [int(i) for i in np.argsort(ranks, kind="stable")]
    bars: list[tuple[int, int]] = []
    for at in range(k):
        end = max(j for j in range(at, k) if ranks[order[j]] - ranks[order[at]] <= critical)
        if end > at and not any(first <= at and end <= last for first, last in bars):
            bars.append((at, end))
    axis = 50
    names = axis + 20 + 10 * len(bars)
    half = (k + 1) // 2
    parts = [f'<path d="M{x(1)} {axis}H{x(k)}"/>']
    for r in range(1, k + 1):
        parts.append(f'<path d="M{x(r)} {axis - 5}v5"/>')
        parts.append(f'<text x="{x(r)}" y="{axis - 9}" text-anchor="middle">{r}</text>')
    parts.append(f'<path d="M{x(1)} 14h{critical / (k - 1) * width:.1f}m0 -3v6M{x(1)} 11v6"/>')
    parts.append(f'<text x="{x(1)}" y="28">critical difference {critical:.2f}</text>')
    for at, (first, last) in enumerate(bars):
        y = axis + 12 + 10 * at
        start, end = x(ranks[order[first]]) - 3, x(ranks[order[last]]) + 3
        parts.append(f'<path stroke-width="4" d="M{start:.1f} {y}H{end:.1f}"/>')
    for at, i in enumerate(order):
        y = names + 18 * (at if at < half else k - 1 - at)
        to, anchor = (left - 8, "end") if at < half else (left + width + 8, "start")
        parts.append(f'<path d="M{x(ranks[i]):.1f} {axis}V{y}H{to}"/>')
        label = f"{html.escape(learners[i])} {ranks[i]:.2f}"
        shift = -3 if anchor == "end" else 3
        parts.append(f'<text x="{to + shift}" y="{y + 4}" text-anchor="{anchor}">{label}</text>')
    height = names + 18 * half
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * left + width} {height}" '
        f'width="{2 * left + width}" height="{height}" font-family="sans-serif" font-size="12">\n'
        '<rect width="100%" height="100%" fill="#fff"/>\n<g fill="none" stroke="#222">\n'
        + "\n".join(parts).replace("<text ", '<text fill="#222" stroke="none" ')
        + "\n</g>\n</svg>\n"
    )


def main() -> None:
    """Print the tests and draw the plot."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("results", type=Path)
    options.add_argument("--svg", type=Path)
    args = options.parse_args()
    learners, table = means(args.results)
    n, k = table.shape
    ranks = rankdata(-np.round(table, 9), axis=1).mean(axis=0)
    friedman = friedmanchisquare(*table.T)
    critical = float(studentized_range.ppf(1 - ALPHA, k, np.inf)) / 2**0.5 * (k * (k + 1) / (6 * n)) ** 0.5
    adjusted = holm([float(wilcoxon(table[:, 0], table[:, i]).pvalue) for i in range(1, k)])
    print(f"{n} sets; Friedman chi² {friedman.statistic:.2f}, p {friedman.pvalue:.2g}; "
          f"critical difference of mean ranks {critical:.2f} (Nemenyi, {ALPHA})\n")  # fmt: skip
    print(f"| learner | mean F1 held out | mean rank | p against {learners[0]} (Wilcoxon, Holm) |")
    print("|---|---|---|---|")
    for i in map(int, np.argsort(ranks, kind="stable")):
        p = f"{adjusted[i - 1]:.3f}" if i else ""
        print(f"| `{learners[i]}` | {table[:, i].mean():.3f} | {ranks[i]:.2f} | {p} |")
    if args.svg:
        args.svg.write_text(plot(learners, ranks, critical), encoding="utf-8")


if __name__ == "__main__":
    main()
