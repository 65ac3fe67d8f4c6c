"""Questions that are made to take long to read, and what others wait for meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

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
