"""Documents that are made to blow a parser up, and a client that watches whether others are still served."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import psutil

from tests.cases import cases

Make = Callable[[int], bytes]  # Makes a document of about so many bytes
_RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e#"'
_P, _END = '><rdf:Description rdf:about="urn:a"><e:p>', "</e:p></rdf:Description></rdf:RDF>"


def nested(size: int, before: str, opens: str, inner: str, closes: str, after: str = " .") -> str:
    count = max(1, size // (len(opens) + len(closes)))
    return before + opens * count + inner + closes * count + after


def repeated(size: int, before: str, each: str, after: str = "") -> str:
    return before + each * max(1, size // len(each)) + after


def numbered(size: int, before: str, each: str, after: str = "", between: str = "") -> str:
    return (
        before + between.join(each.replace("#", str(i)) for i in range(_count(size, len(each) + 5))) + after
    )


def _count(size: int, length: int) -> int:
    return max(1, size // length)


def laughs(size: int) -> str:
    last = min(11, 4 + size.bit_length() // 3)
    levels = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, last))
    return f'<!DOCTYPE r [<!ENTITY a0 "ha ha ha">{levels}]>{_RDF}{_P}&a9;{_END}'


def quadratic(size: int) -> str:
    value, references = "x" * min(9_000, size // 2), "&a;" * _count(size, 10)
    return f'<!DOCTYPE r [<!ENTITY a "{value}">]>{_RDF}{_P}{references}{_END}'


def deep_xml(size: int) -> str:
    pairs = _count(size, 46)
    begin, end = "<rdf:Description><e:p>", "</e:p></rdf:Description>"
    return f"{_RDF}>{begin * pairs}x{end * pairs}</rdf:RDF>"


def expanding(size: int) -> str:
    return f"@prefix p: <urn:{'a' * (size // 2)}> .\n" + "p: p: p: .\n" * (size // 22)


def expanding_base(size: int) -> str:
    about = '<rdf:Description rdf:about="a"><e:p>1</e:p></rdf:Description>' * (size // 122)
    return f'{_RDF} xml:base="http://e/{"x" * (size // 2)}">{about}</rdf:RDF>'


def vocabulary(size: int) -> str:
    names = ",".join(f'"a{i}":1' for i in range(_count(size, 24)))
    return f'{{"@context":{{"@vocab":"urn:{"a" * (size // 2)}"}},"@id":"urn:a",{names}}}'


def contexts(size: int) -> str:
    terms = ",".join(f'"a{i}":"urn:a"' for i in range(_count(size, 32)))
    nodes = ",".join(['{"@context":{},"@id":"urn:a"}'] * _count(size, 62))
    return f'{{"@context":{{{terms}}},"@graph":[{nodes}]}}'


def chain(size: int) -> str:
    terms = ",".join(f'"a{i}":"a{i + 1}:b"' for i in range(_count(size, 20)))
    return f'{{"@context":{{{terms}}},"@id":"urn:a","a1":1}}'


def remote(size: int) -> str:
    return '{"@context":"http://127.0.0.1:9/","@id":"urn:a"}'


_SHAPES: dict[str, Callable[..., str]] = {
    made.__name__: made
    for made in (
        *(nested, repeated, numbered, laughs, quadratic, deep_xml, expanding, expanding_base),
        *(vocabulary, contexts, chain, remote),
    )
}


def _made(shape: str, *parts: str) -> Make:
    return lambda size: _SHAPES[shape](size, *parts).encode()


ATTACKS: dict[str, tuple[str, Make]] = {
    name: (media, _made(*parts)) for name, (media, *parts) in cases(__file__).items()
}
"""Attacks by name: the media type, and what makes the document."""


class Memory:
    """Notes the most memory that a process has, and what its children have."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self.own = self.child = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.own = max(self.own, self._process.memory_info().rss)
                for child in self._process.children(recursive=True):
                    self.child = max(self.child, child.memory_info().rss)
            except psutil.Error:
                pass
            self._stop.wait(0.02)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join(10)


def send(url: str, name: str, size: int, timeout: float = 60.0) -> int:
    """Send an attack, and return the status of the answer; 0 if none came, 1 if none came in time."""
    media, make = ATTACKS[name]
    path = "/update" if name.startswith("update") else "/repositories/main/statements"
    try:
        headers = {"Content-Type": media}
        return httpx.post(url + path, content=make(size), headers=headers, timeout=timeout).status_code
    except httpx.TimeoutException:
        return 1
    except httpx.HTTPError:
        return 0


@dataclass
class Waiting:
    """How many seconds a client waited for each answer to something short, and how many were not 200."""

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
