"""What others sent is read within limits: attacks on every format, and files that are loaded."""

import gzip
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import mrag
from mrag.errors import ConfigError, LoadError, QueryRefused, QueryTimeout, TermError
from mrag.graph.updates import update
from mrag.stores.process import parsing
from mrag.stores.process.parsing import Bounds, parsed, perform, stream
from tests.server.attacks import ATTACKS

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "12"))
SMALL = Bounds(seconds=10, memory=600 << 20, bytes=64 << 20)
ENDINGS = {
    "text/turtle": "ttl", "application/trig": "trig", "application/n-triples": "nt",
    "application/n-quads": "nq", "application/rdf+xml": "rdf", "application/ld+json": "jsonld",
}  # fmt: skip
OF_FILES = [name for name, (media, _) in ATTACKS.items() if media in ENDINGS]
HERE = "tests.stores.hungry"


def test_memory_time_and_size_are_limited() -> None:
    assert perform(f"{HERE}:eat", 1 << 20, bounds=SMALL) == 1 << 20
    with pytest.raises(LoadError, match="600 megabytes of memory"):
        perform(f"{HERE}:eat", 1 << 30, bounds=SMALL)
    with pytest.raises(QueryTimeout, match=r"more than 0\.5 s"):
        perform(f"{HERE}:rest", 60, bounds=Bounds(0.5))
    with pytest.raises(LoadError, match="memory"):
        perform(f"{HERE}:leave", bounds=SMALL)
    with pytest.raises(LoadError, match="more than 1 megabytes"):
        list(stream(f"{HERE}:count", 10_000, bounds=Bounds(bytes=1 << 20)))
    # Whatever happened before, the next piece of work is done.
    found = list(stream(f"{HERE}:count", 3, bounds=SMALL))
    assert found == [b"x" * 1024, 0, b"x" * 1024, 1, b"x" * 1024, 2]


def test_errors_come_back_as_they_were() -> None:
    with pytest.raises(TermError, match="IRI") as caught:
        perform("mrag.rdf.terms:iri", "no iri", {})
    assert caught.value.term == "no iri"
    with pytest.raises(LoadError, match="cannot be read: ZeroDivisionError"):
        perform("operator:truediv", 1, 0)


def test_no_process_is_left_behind() -> None:
    parsing.close_all()
    before = {child.pid for child in psutil.Process().children()}
    pieces = stream(f"{HERE}:count", 100)
    next(pieces)
    assert {child.pid for child in psutil.Process().children()} != before
    pieces.close()
    parsing.close_all()
    assert {child.pid for child in psutil.Process().children()} == before


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRAG_PARSE_SECONDS", "7")
    monkeypatch.setenv("MRAG_PARSE_MEMORY", "64")
    assert Bounds.from_env() == Bounds(7.0, 64 << 20)
    monkeypatch.setenv("MRAG_PARSE_MEMORY", "much")
    with pytest.raises(ConfigError, match="MRAG_PARSE_MEMORY"):
        Bounds.from_env()


def test_documents_that_attack_are_read_or_refused_in_time() -> None:
    """Format by attack by size; MRAG_TEST_TRIES says how many."""
    dice = random.Random(4)
    names = [n for n in ATTACKS if not n.startswith(("update", "form"))]
    sizes = [100, 5_000, 60_000, 700_000, 4_000_000]
    chosen = [(n, s) for s in sizes for n in names] if TRIES >= 200 else None
    for _ in range(TRIES):
        name, size = chosen.pop() if chosen else (dice.choice(names), dice.choice(sizes[:4]))
        media, make = ATTACKS[name]
        began = time.monotonic()
        try:
            steps = parsed([("rdf", True, make(size), media, "http://example.org/", ())], SMALL)
            assert [step[0] for step in steps] == ["quads"]
        except (QueryRefused, QueryTimeout) as error:
            assert error.message, name
        assert time.monotonic() - began < SMALL.seconds + 20, (name, size)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert own < 4 << 20, f"{own >> 10} megabytes"


def test_a_text_that_only_some_formats_can_hold_is_refused() -> None:
    operation = ("rdf", True, ATTACKS["rdfxml: long text"][1](20_000_000), "application/rdf+xml", None, ())
    with pytest.raises(QueryRefused, match="a line has more than"):
        parsed([operation], SMALL)


@pytest.mark.parametrize("opens", ["[ <urn:p> ", "( ", "<< "])
def test_updates_that_are_nested_too_deep_are_refused(opens: str) -> None:
    text = "INSERT DATA { <urn:a> <urn:b> " + opens * 100_000
    with mrag.connect() as kg, pytest.raises(QueryRefused):
        update(kg, text)


def test_an_update_keeps_to_its_deadline_and_its_graphs() -> None:
    with mrag.connect() as kg:
        quads = b"".join(b"<urn:a> <urn:b> <urn:c> <urn:g%d> .\n" % i for i in range(10_001))
        operation = ("rdf", True, quads, "application/n-quads", None, ())
        from mrag.graph.updates import apply

        with pytest.raises(QueryRefused, match="10000 named graphs"):
            apply(kg, [operation])
        many = b"".join(b"<urn:%d> <urn:b> <urn:c> .\n" % i for i in range(200_000))
        with pytest.raises(QueryTimeout):
            apply(kg, [("rdf", True, many, "application/n-triples", None, ())], seconds=1.0)
        assert kg.count() == 0


def command(*arguments: str, gigabytes: int = 8, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that may not take more memory."""
    limited = ["sh", "-c", f'ulimit -v {gigabytes << 20}; exec "$@"', "sh"]
    return subprocess.run(
        [*limited, sys.executable, "-m", "mrag", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_FILES if TRIES >= 200 else OF_FILES[:: max(1, len(OF_FILES) // 4)])
def test_files_that_attack_are_loaded_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    media, make = ATTACKS[name]
    path = tmp_path / f"a.{ENDINGS[media]}"
    path.write_bytes(make(500_000))
    store = f"oxigraph:{tmp_path / 'store'}"
    limits = {"MRAG_PARSE_SECONDS": "20", "MRAG_PARSE_MEMORY": "600"}
    ended = command("load", "--no-reason", "--json", "--store", store, str(path), **limits)
    assert "Traceback" not in ended.stderr, ended.stderr
    with mrag.connect(store) as kg:
        held = kg.count()
    if ended.returncode == 0:
        assert held == json.loads(ended.stdout)["triples"]
    else:
        assert ended.returncode == 1 and path.name in ended.stderr and held == 0, ended.stderr


@pytest.fixture(scope="module")
def letters() -> bytes:
    """Three hundred megabytes of one letter, packed."""
    return gzip.compress(b"x" * (300 << 20), 1)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nt.gz", "nq.gz", "ttl.gz", "json.gz"])
def test_a_packed_file_of_one_long_line_is_refused(ending: str, letters: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    begin = b'{"@id": "urn:a", "urn:b": "' if ending[0] == "j" else b'<urn:a> <urn:b> "'
    path.write_bytes(gzip.compress(begin) + letters)
    store = f"oxigraph:{tmp_path / 'store'}"
    ended = command("load", "--no-reason", "--store", store, str(path), MRAG_PARSE_MEMORY="512")
    assert ended.returncode == 1 and path.name in ended.stderr and "Traceback" not in ended.stderr
    with mrag.connect(store) as kg:
        assert kg.count() == 0


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.loaders.checks._PLAIN", 1 << 20)
    path = tmp_path / "a.nt.gz"
    path.write_bytes(gzip.compress(b"<urn:a> <urn:b> <urn:c> .\n" * 400_000))
    with mrag.connect() as kg, pytest.raises(LoadError, match="256 times its size"):
        kg.load([path])


RECORDS = {
    "nested": ("a.json", b'{"images": ' + b"[" * 200_000),
    "nested record": ("a.jsonl", b'{"image_id": 1, "caption": ' + b'{"a":' * 200_000),
    "long text": ("a.jsonl", b'{"image_id": 1, "caption": "' + b"x" * 20_000_000),
    "long number": ("a.jsonl", b'{"image_id": ' + b"9" * 5_000_000 + b"}"),
    "long cell": ("a.csv", b'name,goods\n"' + b"x" * 20_000_000 + b'",a\n'),
    "many columns": ("a.csv", b"a," * 2_000_000 + b"\n" + b"1," * 2_000_000),
    "no text": ("a.csv", b"\xff\xfe\x00" * 10_000),
    "packed": ("a.jsonl.gz", b'{"image_id": 1, "caption": "'),  # and then the letters
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", RECORDS)
def test_records_that_attack_are_refused(attack: str, letters: bytes, tmp_path: Path) -> None:
    name, data = RECORDS[attack]
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) + letters if name.endswith(".gz") else data)
    mapping = tmp_path / "m.ttl"
    mapping.write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> . [] rr:subjectMap [ rr:template 'urn:x:{name}' ] ."
    )
    store = f"oxigraph:{tmp_path / 'store'}"
    given = ("--mapping", str(mapping)) if ".csv" in name else ()
    ended = command("import", "--store", store, *given, str(path), MRAG_PARSE_MEMORY="400")
    assert ended.returncode == 1 and "Traceback" not in ended.stderr, ended.stderr
    assert not (tmp_path / "store").exists() or mrag_is_empty(store)


def mrag_is_empty(store: str) -> bool:
    """Tell whether nothing was stored."""
    with mrag.connect(store) as kg:
        return kg.count() == 0
