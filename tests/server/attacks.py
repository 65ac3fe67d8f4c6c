"""Documents that are made to blow a parser up, and a client that watches whether others are still served."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import psutil

Make = Callable[[int], bytes]
"""Makes a document of about so many bytes."""

_RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e#"'
_P = b'><rdf:Description rdf:about="urn:a"><e:p>'
_END = b"</e:p></rdf:Description></rdf:RDF>"


def _nested(before: bytes, opens: bytes, inner: bytes, closes: bytes, after: bytes = b" .") -> Make:
    def make(size: int) -> bytes:
        count = max(1, size // (len(opens) + len(closes)))
        return before + opens * count + inner + closes * count + after

    return make


def _repeated(before: bytes, each: bytes, after: bytes = b"") -> Make:
    return lambda size: before + each * max(1, size // len(each)) + after


def _numbered(before: bytes, each: str, after: bytes = b"", between: str = "") -> Make:
    def make(size: int) -> bytes:
        count = max(1, size // (len(each) + 5))
        return before + between.join(each.replace("#", str(i)) for i in range(count)).encode() + after

    return make


def _laughs(size: int) -> bytes:
    levels = "".join(
        f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, min(11, 4 + size.bit_length() // 3))
    )
    return b'<!DOCTYPE r [<!ENTITY a0 "ha ha ha">' + levels.encode() + b"]>" + _RDF + _P + b"&a9;" + _END


def _quadratic(size: int) -> bytes:
    value, count = b"x" * min(9_000, size // 2), max(1, size // 10)
    return b'<!DOCTYPE r [<!ENTITY a "' + value + b'">]>' + _RDF + _P + b"&a;" * count + _END


def _deep_xml(size: int) -> bytes:
    pairs = max(1, size // 46)
    begin, end = b"<rdf:Description><e:p>", b"</e:p></rdf:Description>"
    return _RDF + b">" + begin * pairs + b"x" + end * pairs + b"</rdf:RDF>"


def _expanding(size: int) -> bytes:
    return b"@prefix p: <urn:" + b"a" * (size // 2) + b"> .\n" + b"p: p: p: .\n" * (size // 22)


def _vocabulary(size: int) -> bytes:
    names = b",".join(b'"a%d":1' % i for i in range(max(1, size // 24)))
    return b'{"@context":{"@vocab":"urn:' + b"a" * (size // 2) + b'"},"@id":"urn:a",' + names + b"}"


def _contexts(size: int) -> bytes:
    terms = b",".join(b'"a%d":"urn:a"' % i for i in range(max(1, size // 32)))
    nodes = b",".join(b'{"@context":{},"@id":"urn:a"}' for _ in range(max(1, size // 62)))
    return b'{"@context":{' + terms + b'},"@graph":[' + nodes + b"]}"


_TTL, _TRIG, _NT, _NQ = "text/turtle", "application/trig", "application/n-triples", "application/n-quads"
_XML, _JSON = "application/rdf+xml", "application/ld+json"
_S = b"<urn:a> <urn:b> "

ATTACKS: dict[str, tuple[str, Make]] = {
    "turtle: nested [": (_TTL, _nested(_S, b"[ <urn:p> ", b"1", b" ]")),
    "turtle: nested (": (_TTL, _nested(_S, b"(", b"1", b")")),
    "turtle: nested <<": (_TTL, _nested(b"", b"<< ", _S + b"1", b" >> <urn:b> 1")),
    "turtle: open [": (_TTL, _repeated(_S, b"[ <urn:p> ")),
    "turtle: brackets behind strings": (_TTL, _repeated(_S, b"""[ <urn:p> "]", '''"]''' , """)),
    "turtle: brackets behind comments": (_TTL, _repeated(_S, b"[ # ] \"\n <urn:p> <urn:]'> , ")),
    "turtle: long literal": (_TTL, _repeated(_S + b'"', b"x", b'" .')),
    "turtle: unterminated string": (_TTL, _repeated(_S + b'"""', b"x\n")),
    "turtle: long IRI": (_TTL, _repeated(b"<urn:", b"a", b"> <urn:b> 1 .")),
    "turtle: many prefixes": (_TTL, _numbered(b"", "@prefix p#: <urn:#> .\n")),
    "turtle: expanding prefix": (_TTL, _expanding),
    "turtle: one object list": (_TTL, _numbered(_S, "#,", b"0 .")),
    "turtle: broken at its end": (_TTL, _numbered(b"", "<urn:#> <urn:b> 1 .\n", b"<urn:a> [")),
    "turtle: blank nodes": (_TTL, _numbered(b"", "_:a# <urn:b> _:b# .\n")),
    "turtle: many triples": (_TTL, _numbered(b"", "<urn:#> <urn:b> 'a' .\n")),
    "trig: nested [": (_TRIG, _nested(b"<urn:g> { " + _S, b"[ <urn:p> ", b"1", b" ]", b" }")),
    "trig: many graphs": (_TRIG, _numbered(b"", "<urn:g#> { <urn:a> <urn:b> 1 }\n")),
    "ntriples: one line": (_NT, _repeated(_S + b'"', b"x", b'" .\n')),
    "ntriples: no line feed": (_NT, _repeated(b"", _S + b"<urn:c> . ")),
    "ntriples: nested <<(": (_NT, _nested(_S, b"<<( <urn:a> <urn:b> ", b"<urn:c>", b" )>>", b" .\n")),
    "ntriples: blanks": (_NT, _repeated(b"", b" ")),
    "ntriples: many triples": (_NT, _numbered(b"", "<urn:#> <urn:b> <urn:c> .\n")),
    "nquads: many graphs": (_NQ, _numbered(b"", "<urn:a> <urn:b> <urn:c> <urn:g#> .\n")),
    "rdfxml: entities in entities": (_XML, _laughs),
    "rdfxml: one entity, many references": (_XML, _quadratic),
    "rdfxml: external entity": (
        _XML,
        lambda size: (
            b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
            + _RDF
            + _P
            + b"&a;" * (size // 3)
            + _END
        ),
    ),
    "rdfxml: parameter entity": (
        _XML,
        lambda size: b'<!DOCTYPE r [<!ENTITY % a "x">%a;]>' + _RDF + _P + b"x" * size + _END,
    ),
    "rdfxml: many entities": (_XML, _numbered(b"<!DOCTYPE r [", '<!ENTITY a# "x">', b"]>" + _RDF + b"/>")),
    "rdfxml: nested elements": (_XML, _deep_xml),
    "rdfxml: many attributes": (
        _XML,
        _numbered(_RDF + b"><rdf:Description ", 'e:a#="x"', b"/></rdf:RDF>", " "),
    ),
    "rdfxml: many namespaces": (_XML, _numbered(_RDF + b" ", 'xmlns:a#="x:"', b"/>", " ")),
    "rdfxml: long text": (_XML, _repeated(_RDF + _P, b"x", _END)),
    "rdfxml: expanding base": (
        _XML,
        lambda size: (
            _RDF
            + b' xml:base="http://e/'
            + b"x" * (size // 2)
            + b'">'
            + b'<rdf:Description rdf:about="a"><e:p>1</e:p></rdf:Description>' * (size // 122)
            + b"</rdf:RDF>"
        ),
    ),
    "jsonld: nested objects": (_JSON, _nested(b"", b'{"@id":"urn:a","urn:p":', b"1", b"}", b"")),
    "jsonld: nested arrays": (_JSON, _nested(b'{"@id":"urn:a","urn:p":', b"[", b"1", b"]", b"}")),
    "jsonld: nested lists": (
        _JSON,
        _nested(b'{"@id":"urn:a","urn:p":', b'{"@list":[', b"1", b"]}", b"}"),
    ),
    "jsonld: wide array": (_JSON, _repeated(b'{"@id":"urn:a","urn:p":[', b"1,", b"1]}")),
    "jsonld: many keys": (_JSON, _numbered(b'{"@id":"urn:a",', '"urn:p#":1', b"}", ",")),
    "jsonld: chain of terms": (
        _JSON,
        lambda size: (
            b'{"@context":{'
            + b",".join(b'"a%d":"a%d:b"' % (i, i + 1) for i in range(max(1, size // 20)))
            + b'},"@id":"urn:a","a1":1}'
        ),
    ),
    "jsonld: expanding vocabulary": (_JSON, _vocabulary),
    "jsonld: contexts in nodes": (_JSON, _contexts),
    "jsonld: remote context": (_JSON, lambda size: b'{"@context":"http://127.0.0.1:9/","@id":"urn:a"}'),
    "jsonld: long number": (_JSON, _repeated(b'{"@id":"urn:a","urn:p":', b"9", b"}")),
    "jsonld: unterminated": (_JSON, _repeated(b"[" * 99, b'"x",')),
    "update: INSERT DATA nested [": (
        "application/sparql-update",
        _nested(b"INSERT DATA { " + _S, b"[ <urn:p> ", b"1", b" ]", b" }"),
    ),
    "form: many parts": (
        "multipart/form-data; boundary=b",
        _repeated(b"", b"--b\r\nContent-Type: text/turtle\r\n\r\n<urn:a> <urn:b> 1 .\r\n", b"--b--"),
    ),
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

    def __enter__(self) -> Memory:
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
