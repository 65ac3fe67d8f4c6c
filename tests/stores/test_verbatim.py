"""Files that go to a server as they stand, and those that do not."""

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import LoadError
from mrag.graph.connection import open_store
from mrag.loaders.rdf import Source
from mrag.stores.base import TripleStore
from mrag.stores.http import NotVerbatim, _look_at, verbatim
from mrag.stores.sparql import SparqlStore
from tests.cases import cases
from tests.servers import oxigraph_server

PLAIN: list[str] = cases(__file__, "PLAIN")
OTHER = cases(__file__, "OTHER")


def parsed(data: bytes) -> bytes | None:
    quads = ox.parse(data, ox.RdfFormat.N_TRIPLES)
    return ox.serialize((quad.triple for quad in quads), format=ox.RdfFormat.N_TRIPLES)


def sent(folder: Path, data: bytes, **how: bool) -> bytes | None:
    """Return what would be sent of a file, None where it has to be parsed."""
    file = folder / "a.nt"
    file.write_bytes(data)
    try:
        return b"".join(verbatim([Source.of(file)], part=64, **how))
    except NotVerbatim:
        return None


@pytest.mark.parametrize("line", PLAIN)
def test_plain_lines_are_sent_as_they_stand(line: str, tmp_path: Path) -> None:
    data = f"{line}\n".encode()
    assert sent(tmp_path, data) == data == sent(tmp_path, data.rstrip())
    assert parsed(data) == data


@pytest.mark.parametrize("line", OTHER)
def test_other_lines_are_parsed(line: str, tmp_path: Path) -> None:
    data = f"{PLAIN[0]}\n{line}\n".encode()
    assert sent(tmp_path, data) is None
    assert sent(tmp_path, b"") is None
    assert sent(tmp_path, data[:-1] + b"\xff\n") is None


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PLAIN), st.integers(0, 60), st.sampled_from(list('<>"\\:/#%@^ ._-[]|\x00\x7fé,;1a')))
def test_what_is_sent_is_well_formed(line: str, at: int, sign: str) -> None:
    data = (line[:at] + sign + line[at + 1 :] + "\n").encode()
    try:
        _look_at(data, False)
    except NotVerbatim:
        return
    assert parsed(data) == data


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
    with oxigraph_server(tmp_path_factory.mktemp("verbatim"), memory=True) as url:
        store, _ = open_store(url)
        yield store
        store.close()


def test_a_server_gets_plain_and_other_files(server: TripleStore, tmp_path: Path) -> None:
    assert isinstance(server, SparqlStore)
    file = tmp_path / "a.nt"
    for number, odd in enumerate(("", "# a comment\n", "_:b <urn:a:c> _:d .\n", PLAIN[2] + "\n")):
        file.write_text(f"{PLAIN[0]}\n{odd}{PLAIN[1]}\n", encoding="utf-8")
        seen: list[int] = []

        def note(done: int, _: int | None, seen: list[int] = seen) -> None:
            seen.append(done)

        notes = server.bulk_load([Source.of(file)], f"urn:g:{number}", on_progress=note)
        assert not notes.empty and seen[-1] == file.stat().st_size
        assert server.count(f"urn:g:{number}") == 2 + (number > 1)


def test_a_bad_line_is_named_and_nothing_stays(server: TripleStore, tmp_path: Path) -> None:
    file = tmp_path / "bad.nt"
    lines = [f"<urn:a:{n}> <urn:p:p> <urn:o:o> .\n" for n in range(60_000)]
    file.write_text("".join(lines) + "<urn:a:b> oops .\n")
    with pytest.raises(LoadError) as raised:
        server.bulk_load([Source.of(file)], "urn:bad")
    assert raised.value.line == 60_001
    assert server.count("urn:bad") == 0
    odd = tmp_path / "odd.nt"
    odd.write_text('<urn:a:b> <urn:a:c> "x"@zh-classical .\n')
    assert server.bulk_load([Source.of(odd)], "urn:odd").tags == {"zh-classical"}
    empty = tmp_path / "empty.nt"
    empty.write_text("")
    assert server.bulk_load([Source.of(empty)], "urn:empty").empty == [str(empty)]
