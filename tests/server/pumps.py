"""Questions that are made to take long to read, sent to a real server while others ask it something short.

    python -m tests.server.pumps [--store URL] [--seconds 30]

prints how each is answered, and how long others waited, with and without them.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.server.attacks import Memory, serving

MOST = 2_000


def pumps(names: tuple[str, ...], size: int = MOST) -> Mapping[str, str]:
    """Return questions that say the same again and again, by what they say.

    Args:
        names: What the graph calls some of its entities and classes.
        size: Characters of each.
    """
    one, two, kind = (names * 3)[:3]

    def filled(piece: str, before: str = "", after: str = "") -> str:
        return before + (piece * size)[: size - len(before) - len(after)] + after

    half = "(" * (size // 2)
    made = {
        "blanks": filled(" ", "x", "y"),
        "more blanks than a question may have": "x" + " " * (2 * size) + "y",
        "tabs and lines": filled(" \t\n", "x", "y"),
        "blanks of other kinds": filled("\u00a0\u2003\u3000", "x", "y"),
        "nested brackets": half + half.replace("(", ")"),
        "open brackets": filled("([{<"),
        "conjunctions": filled("and "),
        "conjunctions of names": filled(f"{one} and "),
        "negations": filled("not "),
        "digits": filled("9"),
        "numbers": filled("1 2.5 1e9 "),
        "dates": filled("2020-01-01 "),
        "quotes": filled('"'),
        "quoted names": filled(f'"{one}" '),
        "combining marks": filled("\u0301", "a"),
        "letters with marks": filled("a\u0301\u0327"),
        "one word": filled("a"),
        "one word with hyphens": filled("a-"),
        "one capital": filled("A"),
        "commas": filled(","),
        "a list of names": filled(f"{one}, {two}, "),
        "names": filled(f"{one} "),
        "names and classes": filled(f"{one} {kind} {two} ", "How many "),
        "a class": filled(f"{kind} ", "Which "),
        "questions in questions": filled("which of which ", "Which "),
        "of": filled("of ", f"{kind} "),
        "superlatives": filled(f"most {kind} with the highest "),
        "comparisons": filled(f"more than {one} "),
        "signs": filled("<>=!*&|^%$#@~`\\/;:"),
        "emoji": filled("\U0001f600\u200d"),
        "right to left": filled("\u202e\u0627\u0644 "),
        "query text": filled("} UNION { ?s ?p ?o ", "SELECT * { ?s ?p ?o "),
    }
    short = {
        f"{name}, shorter": text[:495] for name, text in made.items() if len(" ".join(text.split())) > 500
    }
    return {**made, **short}


@dataclass
class Waiting:
    """How long a client waited for the answers to something short.

    Attributes:
        took: Seconds of each.
        failed: How many were answered by another status than 200.
    """

    took: list[float] = field(default_factory=list)
    failed: int = 0

    def share(self, part: float) -> float:
        """Return the seconds that this part of the answers did not take longer than."""
        return sorted(self.took)[min(len(self.took) - 1, int(part * len(self.took)))] if self.took else 0.0

    def __str__(self) -> str:
        p50, p95, most = (1_000 * self.share(part) for part in (0.5, 0.95, 1.0))
        return (
            f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, max {most:.0f} ms of {len(self.took)}, {self.failed} failed"
        )


@contextmanager
def others(url: str, every: float = 0.02) -> Iterator[Waiting]:
    """Have another client ask `ASK {}` again and again while the block runs."""
    found, ended = Waiting(), threading.Event()

    def ask() -> None:
        with httpx.Client(timeout=120) as client:
            while not ended.is_set():
                began = time.monotonic()
                # Each is another text, so that no cache answers.
                query = f"ASK {{}} # {len(found.took)}"
                found.failed += client.get(f"{url}/sparql", params={"query": query}).status_code != 200
                found.took.append(time.monotonic() - began)
                ended.wait(every)

    client = threading.Thread(target=ask, daemon=True)
    client.start()
    try:
        yield found
    finally:
        ended.set()
        client.join(120)


def post(url: str, question: str, how: str = "plan") -> tuple[int, str, float]:
    """Ask a question, and return the status, the text and the seconds of its answer."""
    began = time.monotonic()
    found = httpx.post(f"{url}/api/ask", json={"question": question, "how": how}, timeout=300)
    return found.status_code, found.text, time.monotonic() - began


def main() -> None:
    """Send each question twelve times at once, and print what became of it and of others."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", type=Path)
    options.add_argument("--names", nargs=3, default=["GraphDB", "Ontotext", "triple stores"])
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--how", default="plan")
    options.add_argument("--posts", type=int, default=12)
    options.add_argument("--only", default="")
    args = options.parse_args()
    asked = {name: text for name, text in pumps(tuple(args.names)).items() if args.only in name}
    with serving(args.store, "--timeout", str(args.seconds)) as (process, url):
        post(url, "How many things are there?")
        with others(url) as free:
            time.sleep(5)
        sys.stdout.write(f"alone: {free}\n")
        every = Waiting()
        for name, question in asked.items():
            with Memory(process.pid) as memory, others(url) as busy, ThreadPoolExecutor(args.posts) as pool:
                answers = list(pool.map(lambda q: post(url, q, args.how), [question] * args.posts))
            every.took += busy.took
            every.failed += busy.failed
            told = sorted({status for status, _, _ in answers})
            sys.stdout.write(
                f"{name:45} {told} in {max(took for *_, took in answers):5.1f} s; others {busy}; "
                f"{memory.own >> 20} MB, child {memory.child >> 20} MB\n"
            )
            sys.stdout.flush()
        sys.stdout.write(f"all:   {every}\n")


if __name__ == "__main__":
    main()
