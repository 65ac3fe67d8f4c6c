import gzip
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pyoxigraph as ox
import pytest
from rdflib import Literal, URIRef

from mrag.errors import LoadError, QueryRefused, StoreLocked
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.patterns import to_data
from mrag.rdf.terms import SKOLEM, Triple
from mrag.stores.base import SelectResult
from mrag.stores.oxigraph import OxigraphStore
from tests.commands import python
from tests.conftest import PRODUCTS

EX = "http://example.org/"
TURTLE = f"""@prefix ex: <{EX}> .
ex:a ex:p "één"@nl , 1.50 , true ; ex:q [ ex:r ex:b ] .
"""
CARTESIAN = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


def write(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def serialised(form: ox.RdfFormat) -> bytes:
    quads = list(ox.parse(TURTLE, ox.RdfFormat.TURTLE))
    out = io.BytesIO()
    ox.serialize(quads, out, form)
    return out.getvalue()


FORMATS = {
    "a.ttl": ox.RdfFormat.TURTLE, "a.nt": ox.RdfFormat.N_TRIPLES, "a.nq": ox.RdfFormat.N_QUADS,
    "a.trig": ox.RdfFormat.TRIG, "a.rdf": ox.RdfFormat.RDF_XML, "a.owl": ox.RdfFormat.RDF_XML,
    "a.jsonld": ox.RdfFormat.JSON_LD,
}  # fmt: skip


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", FORMATS)
def test_all_formats_give_one_graph(any_kg: KnowledgeGraph, tmp_path: Path, name: str, ending: str) -> None:
    report = any_kg.load([write(tmp_path / (name + ending), serialised(FORMATS[name]))])
    assert report.triples == 5
    rows = any_kg.query("SELECT ?o { ?s <http://example.org/p> ?o }")
    assert isinstance(rows, SelectResult)
    assert {str(o) for o in rows.column("o")} == {"één", "1.50", "true"} or {
        Literal("één", lang="nl"),
        Literal(True),
    } <= set(rows.column("o"))
    assert any_kg.query(
        "ASK { ?x <http://example.org/q> ?y . ?y <http://example.org/r> <http://example.org/b> }"
    )


def test_blank_nodes_become_iris_that_do_not_change(kg: KnowledgeGraph, tmp_path: Path) -> None:
    source = write(tmp_path / "a.ttl", TURTLE)
    assert kg.load([source]).triples == 5
    assert kg.load([source]).triples == 0
    (node,) = kg.select("SELECT ?y { ?x <http://example.org/q> ?y }").column("y")
    assert isinstance(node, URIRef) and node.startswith(SKOLEM)
    moved = write(tmp_path / "other name.ttl", TURTLE)
    with KnowledgeGraph(OxigraphStore()) as again:
        again.load([moved])
        assert again.select("SELECT ?y { ?x <http://example.org/q> ?y }").column("y") == [node]


def test_a_folder_stands_for_its_files(kg: KnowledgeGraph, tmp_path: Path) -> None:
    write(tmp_path / "a.ttl", f"<{EX}a> <{EX}p> 1 .")
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "b.nt", f"<{EX}b> <{EX}p> <{EX}c> .")
    write(tmp_path / "readme.txt", "not RDF")
    seen: list[tuple[int, int | None]] = []
    assert kg.load([tmp_path], on_progress=lambda done, total: seen.append((done, total))).triples == 2
    assert seen[-1][0] == seen[-1][1]
    with pytest.raises(LoadError, match="No RDF file"):
        (tmp_path / "empty").mkdir()
        kg.load([tmp_path / "empty"])


BROKEN = {
    "turtle": ("bad.ttl", f"<{EX}a> <{EX}p> 1 .\n<{EX}a> <{EX}p> .\n", 2),
    "iri": ("bad.nt", f"<{EX}a> <{EX}p> <{EX}b> .\n<{EX}a> <{EX} p> <{EX}b> .\n", 2),
    "xml": ("bad.rdf", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<a>\n", None),
    "json": ("bad.jsonld", '{"@id": ', None),
    "not gzip": ("bad.ttl.gz", b"plainly not gzip", None),
    "half of gzip": ("bad.nt.gz", gzip.compress(b"<urn:s> <urn:p> <urn:o> .\n" * 9999)[:-40], None),
}


@pytest.mark.parametrize("name,text,line", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_named_and_nothing_lands(
    any_kg: KnowledgeGraph, tmp_path: Path, name: str, text: str | bytes, line: int | None
) -> None:
    good = write(tmp_path / "good.nt", f"<{EX}a> <{EX}p> <{EX}b> .\n")
    bad = tmp_path / name
    bad.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = any_kg.record
    for paths in ([bad], [good, bad]):
        with pytest.raises(LoadError) as caught:
            any_kg.load(paths)
        assert caught.value.file == str(bad)
        assert caught.value.hint
        if line:
            assert caught.value.line == line
        assert any_kg.record == before
        assert any_kg.count() == 0


def test_bad_lines_can_be_skipped_and_are_listed(kg: KnowledgeGraph, tmp_path: Path) -> None:
    lines = [
        f"<{EX}a> <{EX}p> <{EX}b> .", "nonsense", f"<{EX}a> <{EX}p> <{EX} c> .", f"<{EX}b> <{EX}p> _:x .",
    ]  # fmt: skip
    source = write(tmp_path / "a.nt", "\n".join(lines))
    report = kg.load([source], skip_bad_lines=True)
    assert report.triples == 2
    assert [(r.line, r.file) for r in report.rejected] == [(2, str(source)), (3, str(source))]
    with pytest.raises(LoadError, match="past a bad line"):
        kg.load([write(tmp_path / "a.ttl", TURTLE)], skip_bad_lines=True)


def test_prefixes_of_loaded_files_are_kept(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore(tmp_path / "s")) as kg:
        kg.load([write(tmp_path / "a.ttl", "@prefix zoo: <http://zoo.example/> . zoo:a zoo:b zoo:c .")])
    with KnowledgeGraph(OxigraphStore(tmp_path / "s")) as kg:
        assert kg.prefixes["zoo"] == "http://zoo.example/"


def test_a_second_process_is_told_that_the_folder_is_in_use(tmp_path: Path) -> None:
    with OxigraphStore(tmp_path / "s"):
        code = (
            "import sys\nfrom mrag.errors import StoreLocked\n"
            "from mrag.stores.oxigraph import OxigraphStore\n"
            "try:\n    OxigraphStore(sys.argv[1])\nexcept StoreLocked as e:\n    sys.exit(str(e))\n"
        )
        run = python(code, tmp_path / "s")
    assert run.returncode == 1
    assert "Another process has this store open" in run.stderr
    with OxigraphStore(tmp_path / "s"), pytest.raises(StoreLocked):
        OxigraphStore(tmp_path / "s")


def test_dump_and_clear(any_kg: KnowledgeGraph) -> None:
    any_kg.load([PRODUCTS])
    out = io.BytesIO()
    any_kg.dump(out)
    assert out.getvalue().count(b"\n") == any_kg.record.triples
    assert b"urn:mrag:kg" not in out.getvalue()
    any_kg.clear()
    assert any_kg.count() == 0
    assert [g for g in any_kg.store.graphs() if g.startswith(any_kg.iri)] == []


def test_bounded_reads_see_every_write(any_kg: KnowledgeGraph) -> None:
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    for number in range(1, 4):
        any_kg.insert([Triple(URIRef(f"{EX}{number}"), URIRef(f"{EX}p"), Literal(number))])
        rows = any_kg.query(count)
        assert isinstance(rows, SelectResult) and rows.rows == [(Literal(number),)]


def test_no_snapshot_is_left_behind(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore(tmp_path / "s")) as kg:
        kg.query("ASK { ?s ?p ?o }")
        kg.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))])
        kg.query("ASK { ?s ?p ?o }")
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


RUNAWAY = """
import sys, threading
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore
kg = KnowledgeGraph(OxigraphStore(sys.argv[1]))
kg.query("ASK { ?s ?p ?o }")
threading.Timer(0.5, lambda: print("running", flush=True)).start()
kg.query(sys.argv[2], limits=Limits(seconds=300))
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="looks into /proc, and needs Linux to end with the parent"
)
def test_a_killed_process_leaves_no_query_running_and_no_snapshot(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore(tmp_path / "s")) as kg:
        kg.load([PRODUCTS])
    child = subprocess.Popen(
        [sys.executable, "-c", RUNAWAY, str(tmp_path / "s"), CARTESIAN], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "running\n"
    child.kill()
    child.wait()
    child.stdout.close()
    for _ in range(100):
        left = [p for p in Path("/proc").iterdir() if p.name.isdigit() and str(tmp_path) in command_of(p)]
        if not left:
            break
        time.sleep(0.05)
    assert left == []
    assert any("snapshot" in p.name for p in tmp_path.iterdir())
    with OxigraphStore(tmp_path / "s"):
        assert [p.name for p in tmp_path.iterdir()] == ["s"]


def command_of(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_is_said_and_nothing_lands(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        big = tmp_path / "big.nt"
        with big.open("w") as out:
            for i in range(200_000):
                out.write(f'<{EX}subject{i}> <{EX}p{i % 7}> "some text of its own {i} {i * 7919}" .\n')
        with KnowledgeGraph(OxigraphStore(small / "s")) as kg:
            kg.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))])
            with pytest.raises(LoadError) as caught:
                kg.load([big])
            assert "disk is full" in str(caught.value).lower()
            assert "Free some space" in (caught.value.hint or "")
        with KnowledgeGraph(OxigraphStore(small / "s")) as kg:
            assert kg.count() == 1
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_a_change_is_written_as_it_is_whatever_the_literals_hold(where: str, tmp_path: Path) -> None:
    g, s = ox.NamedNode("urn:g"), ox.NamedNode("urn:s")
    odd = [
        "\\u0022",
        "} ; DROP ALL ; {",
        "\n\r\t\b\f",
        "\x00\x7f\x85",
        "\U0010ffff\ufffe",
        "'''" + '"""',
        "\\",
        "#",
    ]
    values = [*(ox.Literal(text) for text in odd), *map(ox.Literal, map(chr, range(0x300)))]
    values += [ox.Literal("a", language="de-ch"), ox.Literal("1", datatype=ox.NamedNode("urn:d"))]
    quads = [ox.Quad(s, s, value, g) for value in values]
    with OxigraphStore(tmp_path / "store" if where == "folder" else None) as store:
        record = "INSERT DATA { GRAPH <urn:record> { <urn:a> <urn:b> 1 } }"
        store.update(f"{record};\n{to_data([], quads)}")
        assert store.graphs() == ["urn:g", "urn:record"]
        assert set(store.edges("urn:g")) == set(quads)
        store.update(f"{record};\n{to_data(quads, [ox.Quad(s, s, s, g)])}")
        assert list(store.edges("urn:g")) == [ox.Quad(s, s, s, g)]
        with pytest.raises(QueryRefused):
            store.update(f"INSERT DATA {{;\n{to_data([], quads)}")
        assert store.count("urn:g") == 1
