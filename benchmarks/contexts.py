"""Contexts of a store of `growth.py`, without an index: opening, profile, and the context of ten entities.

    python benchmarks/growth.py --phase load --scale 1 --keep FOLDER
    python benchmarks/contexts.py --scale 1 --keep FOLDER

It prints a line of JSON: seconds and, for contexts, milliseconds, of the processor and of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path

from common import peak_memory, percentile
from fashion import ANNOTATIONS, ATTRIBUTES, BASE, CATEGORIES, IMAGES

import mrag

ROUNDS = 50


def main() -> None:
    """Measure one store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, required=True)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the store")
    args = parser.parse_args()
    chance, told = random.Random(7), {"scale": args.scale, "load": round(os.getloadavg()[0], 1)}
    images, annotations = int(IMAGES * args.scale), int(ANNOTATIONS * args.scale)
    hubs = [f"category_{n}" for n in range(CATEGORIES)] + [f"attribute_{n}" for n in range(ATTRIBUTES)]

    def noted(name: str, clock: float, processor: float) -> None:
        told[f"{name}_s"] = round(time.perf_counter() - clock, 4)
        told[f"{name}_processor_s"] = round(time.process_time() - processor, 4)

    began = time.perf_counter(), time.process_time()
    with mrag.connect(f"oxigraph:{args.keep / 'kg'}") as kg:
        noted("opened", *began)
        began = time.perf_counter(), time.process_time()
        kg.profile()
        noted("profile", *began)
        for kind in ("first", "thing", "hub"):
            clock, processor = [], []
            for _ in range(1 if kind == "first" else ROUNDS):
                names = [f"image_{chance.randrange(images)}" for _ in range(5)]
                names += [f"annotation_{chance.randrange(annotations)}" for _ in range(5)]
                names = chance.sample(hubs, 10) if kind == "hub" else names
                began = time.perf_counter(), time.process_time()
                mrag.expand(kg, [(BASE + name, 1.0) for name in names])
                clock.append(1000 * (time.perf_counter() - began[0]))
                processor.append(1000 * (time.process_time() - began[1]))
            for name, values in (("clock", clock), ("processor", processor)):
                for p in (50, 99):
                    told[f"{kind}_{name}_p{p}_ms"] = round(percentile(values, p), 2)
    told["mib"] = round(peak_memory())
    print(json.dumps(told))


if __name__ == "__main__":
    main()
