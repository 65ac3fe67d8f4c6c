"""How many false sentences about a graph pass as supported, and how many true ones do.

    python benchmarks/support_adversary.py                          # four graphs that may be looked at
    python benchmarks/support_adversary.py --set held --bar         # graphs not used while building
    python benchmarks/support_adversary.py --graphs demo --show accepted-false
    python benchmarks/support_adversary.py --out cases.jsonl        # each sentence with its verdict

The sentences are made of the graphs themselves (`support_kinds`). A true one is accepted when all its
sentences are supported and one is cited, a false one when all that follows its true beginning is supported.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from support_kinds import make_cases
from support_sentences import BUILD, HELD, Case, Scene, scenes, world_of

from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation.answering import cite

FALSE_BAR, TRUE_BAR = 0.01, 0.9


@dataclass(frozen=True)
class Judged:
    """A case, and what was made of it.

    Attributes:
        case: The case.
        accepted: Whether it passed as supported.
        answer: The text with its citations.
        lines: The cited lines.
    """

    case: Case
    accepted: bool
    answer: str
    lines: tuple[str, ...]


def judge(case: Case, context: Context) -> Judged:
    """Cite a case and see whether it passes."""
    try:
        whole = cite(case.question, f"{case.lead} {case.text}".strip(), context)
    except ModelError:
        return Judged(case, False, "", ())
    lead = len(cite(case.question, case.lead, context).sentences) if case.lead else 0
    judged = whole.sentences if case.true else whole.sentences[lead:]
    accepted = bool(judged) and all(one.supported for one in judged)
    if case.true:
        accepted = accepted and any(one.citations for one in judged)
    lines = tuple(dict.fromkeys(c.text for one in judged for c in one.citations))
    return Judged(case, accepted, whole.text, lines)


def made(name: str, count: int, seed: int) -> tuple[list[Case], dict[tuple[str, str], Scene]]:
    """Make the cases of a graph and the scenes that they stand in."""
    world = world_of(name)
    places = scenes(world, seed)
    return make_cases(world, places, count, seed), {(world.name, p.entity): p for p in places}


def judged_cases(graphs: Sequence[str], per_graph: int, seed: int) -> Iterator[Judged]:
    """Judge the cases of several graphs.

    Args:
        graphs: Their names.
        per_graph: Cases of each.
        seed: Of all choices.
    """
    for name in graphs:
        cases, places = made(name, per_graph, seed)
        for case in cases:
            yield judge(case, places[case.graph, case.entity].context)


def table(found: Sequence[Judged], label: bool) -> str:
    """Return how many of each kind pass."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for one in found:
        if one.case.true is label:
            kinds[one.case.kind].append(one.accepted)
    worst = sorted(
        kinds.items(), key=lambda item: (sum(item[1]) / len(item[1]) * (1 if label else -1), item[0])
    )
    return "\n".join(f"  {kind:24} {sum(x):4} of {len(x):4}  {sum(x) / len(x):6.1%}" for kind, x in worst)


def shares(found: Sequence[Judged]) -> tuple[float, float]:
    """Return the shares of the false and of the true sentences that pass."""
    false = [one.accepted for one in found if not one.case.true]
    true = [one.accepted for one in found if one.case.true]
    return sum(false) / max(1, len(false)), sum(true) / max(1, len(true))


def main() -> None:
    """Print the confusion per kind and graph."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", nargs="+", help="demo, starwars, metaqa, or one of benchmarks/blind")
    parser.add_argument(
        "--set", choices=("build", "held"), default="build", help="which graphs, if none is named"
    )
    parser.add_argument("--per-graph", type=int, default=520)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a file for every sentence and its verdict, as JSON lines")
    parser.add_argument("--show", choices=("accepted-false", "rejected-true"), help="print these sentences")
    parser.add_argument("--kinds", nargs="+", help="show these kinds only")
    parser.add_argument("--bar", action="store_true", help="end with 1 where the bar is missed")
    args = parser.parse_args()
    started = time.perf_counter()
    graphs = args.graphs or (BUILD if args.set == "build" else HELD)
    found = list(judged_cases(graphs, args.per_graph, args.seed))
    if args.out:
        rows = (
            {**asdict(one.case), "accepted": one.accepted, "answer": one.answer, "lines": one.lines}
            for one in found
        )
        args.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    if args.show:
        show = args.show == "accepted-false"
        for one in found:
            case = one.case
            if one.accepted is show and case.true is not show and case.kind in (args.kinds or (case.kind,)):
                print(f"{case.graph}/{case.kind}: {case.question} -> {case.lead} {case.text}")
                print(f"    {' '.join(one.lines[:4])[:200]}")
    print("true sentences that pass\n" + table(found, True))
    print("false sentences that pass\n" + table(found, False))
    for name in graphs:
        false, true = shares([one for one in found if one.case.graph == name])
        print(f"  {name:24} false accepted {false:6.1%}  true accepted {true:6.1%}")
    false, true = shares(found)
    spent = time.perf_counter() - started
    print(f"{len(found)} sentences of {len(graphs)} graphs in {spent:.0f} s (seed {args.seed})")
    print(f"false accepted {false:.1%} (bar {FALSE_BAR:.0%})  true accepted {true:.1%} (bar {TRUE_BAR:.0%})")
    if args.bar and (false > FALSE_BAR or true < TRUE_BAR):
        sys.exit(1)


if __name__ == "__main__":
    main()
