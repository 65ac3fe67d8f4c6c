"""Draw what `growth.py --to FILE` and `index_size.py --to FILE` have measured.

    python benchmarks/growth_chart.py benchmarks/measured/documents.jsonl docs/images/how-large-documents.svg
    python benchmarks/growth_chart.py benchmarks/measured/triples.jsonl docs/images/how-large-triples.svg

The lines in `measured` are those of the figures in the documentation.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mrag.evaluation.report import curves_svg

INDEX = {
    "seconds of processor to build": ("build", lambda told: told["build_processor_s"]),
    "MiB of memory to build": ("build", lambda told: told["mib"]),
    "ms of the clock for a hybrid query (median)": ("ask", lambda told: told["hybrid"]["p50_ms"]),
    "ms to open": ("ask", lambda told: 1000 * told["open_s"]),
}
GROWTH = {
    "seconds of processor to load": ("load", lambda told: told["processor"]),
    "seconds of processor to reason": ("reason", lambda told: told["processor"]),
    "seconds of processor to index": ("index", lambda told: told["processor"]),
    "ms of processor to a context (median)": ("ask", lambda told: told["thing_processor_p50"]),
}


def panels(lines: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the curves in the lines of a file, and what they go across."""
    found = list(lines)
    documents = "backend" in found[0]
    triples = {told["scale"]: told["triples"] for told in found if "triples" in told}
    made: dict[str, Any] = {}
    for quantity, (phase, value) in (INDEX if documents else GROWTH).items():
        curves: defaultdict[str, dict[float, float]] = defaultdict(dict)
        for told in found:
            if told["phase"] == phase:
                at = told["documents"] if documents else triples[told["scale"]]
                curves[told.get("backend", "embedded store")][at] = value(told)
        made[quantity] = {name: sorted(points.items()) for name, points in curves.items()}
    return made, "documents" if documents else "triples"


def main() -> None:
    """Read the lines, of which the last for each size and phase counts, and write the picture."""
    source, target = map(Path, sys.argv[1:])
    made, across = panels(json.loads(line) for line in source.read_text().splitlines())
    target.write_text(curves_svg(made, across=across, title=f"By number of {across}"), encoding="utf-8")


if __name__ == "__main__":
    main()
