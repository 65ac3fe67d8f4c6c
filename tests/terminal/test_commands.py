"""Every command, with hostile labels, files, arguments, models and servers, on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote_from_bytes

import pyoxigraph as ox
import pytest
from typer.main import get_command

from mrag.cli import app
from mrag.testing.annotations import write_annotations
from tests.conftest import ROOT
from tests.evaluation.conftest import Scripted
from tests.generation.conftest import gguf
from tests.generation.ollama_server import OllamaServer, Served
from tests.images.seeing_server import SeeingServer
from tests.terminal.hostile import NAME, TEXT, escapes, faults, turtle

__all__ = ["gguf"]

CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 300"
SELECT = "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s ?o LIMIT 300"
A, C = [f"urn:x:a{n}" for n in range(1, 5)], [f"urn:x:c{n}" for n in range(1, 5)]
EXAMPLES = [*(x for a in A for x in ("-p", a)), *(x for c in C for x in ("-n", c))]

# What each command is called with: `store` and the other words in braces are files of the test. A command
# that is not here has no test that it prints nothing raw, so one that is new fails the test below.
CASES: dict[str, list[list[str]]] = {
    "load": [
        ["{turtle}", "--store", "{store}"],
        ["{broken}", "--store", "{store}"],
        ["{lines}", "--store", "{store}2", "--skip-bad-lines"],
        ["{missing}"],
        ["{turtle}", "--imports", "--store", "{store}6"],
        [TEXT],
        ["--store", f"{TEXT}:x", "{turtle}"],
    ],
    "import": [
        ["{annotations}", "--store", "{store}3", "--masks"],
        ["{scenes}", "--store", "{store}4", "--skip-bad", "--no-reason"],
        ["{scenes}", "--store", "{store}4"],
        ["{turtle}", "--as", TEXT],
        ["--sketch", "{table}"],
        ["{table}", "--mapping", "{mapping}", "--store", "{store}5", "--skip-bad"],
        ["{table}", "--mapping", "{mapping}", "--store", "{store}5"],
        ["{table}", "--mapping", "{metadata}", "--store", "{store}5", "--standard"],
        ["{table}", "--delimiter", TEXT],
        ["{table}", "--encoding", TEXT],
        [f"sqlite:///{TEXT}", "--mapping", "{mapping}"],
    ],
    "create": [["graphdb:{server}/repositories/x"], ["{server}"], [TEXT]],
    "reason": [
        ["--store", "{store}"],
        ["--store", "{store}", "--engine", TEXT],
        ["--store", "{store}", "--graph", TEXT],
    ],
    "index": [
        ["--store", "{store}", "--embedder", "none"],
        ["--store", "{store}", "--query", TEXT],
        ["--store", "{store}", "--backend", f"{TEXT}:x"],
        ["--store", "{store}", "--copy-to", f"postgresql://u:p@{TEXT}/x"],
        ["--store", "{store}", "--recall"],
        ["--store", "{store}", "--embedder", "none", "--runner", "processes", "--workers", "2"],
        ["--store", "{store}", "--runner", TEXT],
    ],
    "views": [["--store", "{store}3"], ["--store", "{store}", "--kg", TEXT]],
    "describe": [
        ["{photos}", "--store", "{store}", "-m", "ollama:llava"],
        [NAME],
        ["{photos}", "--grid", TEXT],
        ["{photos}", "--store", "{store}", "--runner", TEXT],
    ],
    "ask": [
        ["Which gizmo is made by Maker?", "--store", "{store}", "--context", "--model", "none"],
        ["How many gadgets are there?", "--store", "{store}", "--how", "plan", "--sparql"],
        ["List the gadgets", "--store", "{store}", "--how", "plan", "--context"],
        ["List the gadgets", "--store", "{store}", "--how", "plan", "--reading", "2"],
        ["x", "--store", "{store}", "--how", TEXT],
        ["x", "--store", "{store}", "--reading", TEXT],
        ["Which gizmo is made by Maker?", "--store", "{store}", "--model", "ollama:asker"],
        ["a coat", "--store", "{store}", "--media", "{photos}", "--model", "none"],
        ["x", "--store", "{store}", "--model", TEXT],
        ["x", "--store", "{store}", "--index", TEXT],
        ["x", "y", TEXT],
        ["x", "-k", TEXT],
        [f"--{TEXT}"],
    ],
    "search": [
        ["gizmo", "--store", "{store}"],
        ["coat", "--store", "{store}", "--media", "{photos}"],
        ["gizmo", "--store", "{store}", "--ranker", TEXT],
        ["gizmo", "--store", "{store}", "--ranker", "bm25+mmr"],
    ],
    "query": [
        [SELECT, "--store", "{store}"],
        ["SELECT ?FORGED { ?FORGED ?p ?o }", "--store", "{store}"],
        [f"SELECT {TEXT}", "--store", "{store}"],
        ["ASK {}", "--store", "sparql:{server}"],
        [f"{NAME}.rq"],
        [SELECT, "--layer", TEXT],
    ],
    "explain": [
        ["urn:x:a1", "--store", "{store}"],
        ["urn:x:a1", "rdf:type", "urn:x:Thing", "--store", "{store}"],
        ["urn:x:a1", "rdf:type", f'"{TEXT}"', "--store", "{store}"],
        [TEXT, "--store", "{store}"],
    ],
    "update": [
        ["DELETE WHERE { <urn:x:none> ?p ?o }", "--store", "{store}"],
        [f"DELETE {TEXT}", "--store", "{store}"],
        ['INSERT DATA { <urn:x:a1> <urn:x:note> "x" }', "--store", "{missing}"],
    ],
    "remove": [
        ["urn:x:a1", "rdf:type", f'"{TEXT}"', "--store", "{store}"],
        ["--graph", TEXT, "--store", "{store}"],
        ["--file", "{missing}", "--store", "{store}"],
    ],
    "kgs": [["--store", "{store}"], ["--store", f"{TEXT}:x"]],
    "questions save": [
        ["How many gadgets are there?", "--store", "{store}", "--name", "gadgets", "--by", TEXT, "--replace"],
        [TEXT, "--store", "{store}"],
    ],
    "questions list": [["--store", "{store}"]],
    "questions run": [
        ["gadgets", "--store", "{store}"],
        [TEXT, "--store", "{store}"],
        ["gadgets", "--with", TEXT, "--store", "{store}"],
    ],
    "questions calibrate": [
        ["--forget", "--store", "{store}"],
        ["{questions}", "--store", "{store}", "--dry-run"],
        ["{missing}", "--store", "{store}"],
        [],
    ],
    "questions remove": [[TEXT, "--store", "{store}"]],
    "verify": [["{answer}", "--store", "{store}"], ["{turtle}", "--store", "{store}"], [NAME]],
    "keys create": [[TEXT]],
    "keys show": [[TEXT]],
    "keys trust": [[NAME, TEXT], [TEXT, "z6Mk"]],
    "keys forget": [[NAME]],
    "keys list": [[TEXT]],
    "complete ask": [
        ["Where was Bob Stone born?", "--texts", "{texts}", "--store", "{store}"],
        ["Who is the friend of Gizmo 1?", "--texts", "{texts}", "-m", "ollama:asker", "--store", "{store}"],
    ],
    "complete review": [["--all", "--store", "{store}"], [TEXT]],
    "complete accept": [["last", "--store", "{store}"], [TEXT, "--store", "{store}"]],
    "complete rollback": [["last", "--store", "{store}"], [TEXT, "--store", "{store}"]],
    "complete reject": [[TEXT, "--store", "{store}"]],
    "learn fit": [
        [*EXAMPLES, "--seconds", "1", "--explain", "urn:x:c1", "--keep", "gadgets", "--store", "{store}"],
        [*EXAMPLES, "--seconds", "1", "--format", "manchester", "--store", "{store}"],
        ["-p", TEXT, "-n", "urn:x:c1", "--store", "{store}"],
        ["--positives", "{missing}", "--store", "{store}"],
        ["--class", "urn:x:Gadget", "--seconds", "1", "--store", "{store}"],
        ["-p", "urn:x:c1", "--seconds", "1", "--store", "{store}"],
    ],
    "learn rerank": [
        ["gizmo", "--concept", "<urn:x:Gadget>", "--store", "{store}"],
        [TEXT, *EXAMPLES, "--seconds", "1", "--store", "{store}"],
        ["gizmo", "--concept", TEXT, "--store", "{store}"],
    ],
    "learn show": [["<urn:x:Gadget>", "--store", "{store}"], [TEXT, "--store", "{store}"]],
    "learn explain": [
        ["<urn:x:Gadget>", "urn:x:c1", "--store", "{store}"],
        ["<urn:x:Gadget>", TEXT, "--store", "{store}"],
    ],
    "learn keep": [
        ["widgets", "<urn:x:Gadget>", "--store", "{store}"],
        [TEXT, "<urn:x:Gadget>", "--store", "{store}"],
        ["odd", TEXT, "--store", "{store}"],
    ],
    "learn concepts": [["--store", "{store}"], ["--format", TEXT, "--store", "{store}"]],
    "learn forget": [[TEXT, "--store", "{store}"]],
    "train drill": [
        ["--out", "{policy}", "--seconds", "1", "--episodes", "2", "--store", "{store}"],
        [TEXT],
    ],
    "train generative": [["--questions", "{missing}", "--model", TEXT, "--store", "{store}"]],
    "doctor": [
        ["--store", "{store}"],
        [f"graphdb:{{server}}/repositories/{TEXT}"],
        ["sparql:{server}", "--write"],
        ["--store", "{store}", "--kg", TEXT],
    ],
    "codes build": [
        ["--store", "{store}", "--path", "{codes}"],
        ["--store", "{store}", "--name", TEXT],
        ["--from", TEXT, "--mend", "--store", "{store}", "--path", "{codes}"],
    ],
    "codes search": [
        ["--like", "urn:x:a1", "--store", "{store}", "--path", "{codes}"],
        ["-n", TEXT, "--store", "{store}", "--path", "{codes}"],
        ["-e", TEXT, "--store", "{store}", "--path", "{codes}"],
        ["-n", "b", "--meaning", TEXT, "--store", "{store}", "--path", "{codes}"],
    ],
    "codes show": [
        ["urn:x:a1", "--store", "{store}", "--path", "{codes}"],
        [TEXT, "--store", "{store}", "--path", "{codes}"],
    ],
    "eval questions": [
        ["{questions}", "--store", "{store}", "--how", "plan", "--resamples", "100"],
        ["{questions}", "--only", TEXT, "--store", "{store}"],
        ["{questions}", "--how", TEXT],
        ["{missing}"],
    ],
    "eval rankers": [
        ["{collection}", "--embedder", "none", "--resamples", "100", "--run", "{run}"],
        ["--ranks", "{missing}"],
        ["{collection}", "-r", TEXT],
        ["{collection}", "-m", TEXT, "--embedder", "none"],
    ],
    "benchmark": [
        ["{out}", "--model", "none", "--embedder", "none", "--class", "urn:x:Gadget", "--store", "{store}"],
        ["{out}", "--model", TEXT, "--store", "{store}"],
    ],
    "clues build": [
        ["--model", "local:{model}", "--store", "{store}"],
        ["--model", f"local:{NAME}", "--store", "{store}"],
    ],
    "clues search": [
        ["gizmo", "--model", "local:{model}", "--store", "{store}", "-k", "2", "--beams", "2"],
        ["gizmo", "--model", TEXT, "--store", "{store}"],
    ],
    # These two run until they are told to stop: tests of their own start them as servers.
    "mcp": [["--store", f"{TEXT}:x"], ["--model", f"local:{TEXT}.gguf"]],
    "serve": [["--store", f"{TEXT}:x"], ["--port", TEXT], ["--model", f"local:{TEXT}.gguf"]],
    "": [[TEXT], [f"--{TEXT}"]],
}
DATA = {
    "query": [SELECT, "--store", "{store}", "--json"],
    "query construct": [CONSTRUCT, "--store", "{store}"],
    "ask": ["Which gizmo is made by Maker?", "--store", "{store}", "--model", "none", "--json"],
    "ask plan": ["How many gadgets are there?", "--store", "{store}", "--how", "plan", "--json"],
    "search": ["gizmo", "--store", "{store}", "--json"],
    "explain": ["urn:x:a1", "--store", "{store}", "--json"],
    "codes show": ["urn:x:a1", "--store", "{store}", "--path", "{codes}", "--json"],
    "complete review": ["--all", "--store", "{store}", "--json"],
    "learn concepts": ["--store", "{store}", "--json"],
    "doctor": ["--store", "{store}", "--json"],
    "learn show query": [
        "<urn:x:odd\u202e\u200f> or <urn:x:Gadget>",
        "--query",
        "--store",
        "{store}",
    ],
    "learn concepts turtle": ["--format", "turtle", "--store", "{store}"],
}


def commands() -> list[str]:
    """List the commands of the app, those of groups with the name of the group before them."""
    top: Any = get_command(app)
    found = []
    for name, command in top.commands.items():
        found += [f"{name} {inner}" for inner in getattr(command, "commands", {})] or [name]
    return found


def test_every_command_has_a_hostile_case() -> None:
    assert set(commands()) == set(CASES) - {""}


class Hostile(BaseHTTPRequestHandler):
    """A server that fails with a message that attacks."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        body = f"Error: {TEXT}\nFORGED".encode("utf-8", "replace")
        self.send_response(400, "Bad \x9b31m")
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_GET


@dataclass(frozen=True)
class Printed:
    name: str
    code: int
    argv: list[str]
    tty: bool
    out: bytes
    err: bytes


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, gguf: Path) -> dict[str, str]:
    """Files that all have hostile names, and hostile text in them."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("hostile")
    names = {
        # Oxigraph opens no folder whose name is no UTF-8.
        word: str(folder / f"{word}{NAME.rstrip(chr(0xDCFF)) if word == 'store' else NAME}{ending}")
        for word, ending in {
            "store": "", "turtle": ".ttl", "broken": ".ttl", "lines": ".nt", "missing": ".ttl", "photos": "",
            "annotations": ".json", "scenes": ".jsonl", "answer": ".json", "texts": "", "policy": ".npz",
            "codes": "", "collection": "", "questions": ".jsonl", "run": ".trec", "out": "", "model": ".gguf",
            "table": ".csv", "mapping": ".ttl", "metadata": ".json", "solved": ".jsonl", "weights": ".npz",
        }.items()
    }  # fmt: skip
    Path(names["turtle"]).write_text(turtle(), encoding="utf-8")
    Path(names["broken"]).write_text(f"<urn:x:a> {TEXT}", encoding="utf-8")
    Path(names["lines"]).write_text(
        f'<urn:a> <urn:b> "{escapes(TEXT)}" .\n<urn:a> {TEXT} .\n', encoding="utf-8"
    )
    Path(names["table"]).write_text(
        f"id,name{TEXT.replace(',', ' ')}\n1,x\n2,{TEXT}\n3,a,b\n", encoding="utf-8"
    )
    Path(names["mapping"]).write_text(
        '[] <http://www.w3.org/ns/r2rml#subjectMap> [ <http://www.w3.org/ns/r2rml#template> "urn:{id}" ;'
        f" <http://www.w3.org/ns/r2rml#class> <urn:{escapes(TEXT)}> ] .",
        encoding="utf-8",
    )
    columns = [{"name": TEXT, "datatype": "integer"}]
    about = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": Path(names["table"]).name,
        "tableSchema": {"columns": columns},
    }
    Path(names["metadata"]).write_text(json.dumps(about))
    Path(names["scenes"]).write_text(json.dumps({"image_id": TEXT, "objects": TEXT}) + "\n{" + TEXT)
    Path(names["photos"]).mkdir()
    Image.new("RGB", (30, 40), "firebrick").save(Path(names["photos"]) / "red.png")
    write_annotations(Path(names["annotations"]), scale=0.00005)
    Path(names["texts"]).mkdir()
    (Path(names["texts"]) / f"note{NAME}.md").write_text(
        f"Bob Stone was born in Visby.\n\n{TEXT}\n\nFORGED\n", encoding="utf-8"
    )
    line = {"id": f"t1{TEXT}", "text": f"{TEXT}\nFORGED"}
    Path(names["answer"]).write_text(json.dumps({"format": TEXT, "text": TEXT, "context": {"lines": [line]}}))
    collection = Path(names["collection"])
    (collection / "qrels").mkdir(parents=True)
    document = {"_id": "d1", "title": TEXT, "text": "gizmo\nFORGED"}
    (collection / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    query = {"_id": "q1", "text": f"gizmo {TEXT}"}
    (collection / "queries.jsonl").write_text(json.dumps(query) + "\n")
    (collection / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td\x1b[31m\t1\n"
    )
    asked = {"id": TEXT, "question": "How many gadgets are there?", "answers": [5], "category": TEXT}
    Path(names["questions"]).write_text(json.dumps(asked) + "\n")
    known = {"id": TEXT, "question": "Where was Ada Hill born?", "answers": ["Lund"]}
    lost = {"id": "lost", "question": TEXT, "answers": [TEXT]}
    Path(names["solved"]).write_text("".join(json.dumps(one) + "\n" for one in (known, lost)))
    Path(names["run"]).write_text("q1 Q0 d1 1 0.5 evil\x1b]0;PWN\x07\u202e\n", encoding="utf-8")
    Path(names["model"]).symlink_to(gguf)
    return names


@pytest.fixture(scope="module")
def printed(files: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Printed]]:
    """What all commands print, run by one process."""
    folder = tmp_path_factory.mktemp("printed")
    said = f"Gizmo 1 is made by Maker [t1]. {TEXT}"
    front = OllamaServer([Served("asker:latest")], chat=Scripted(lambda messages: said))  # type: ignore[arg-type]
    seeing = SeeingServer([Served("llava:latest", "llama", ("completion", "vision"))], say=lambda _: TEXT)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    Thread(target=http.serve_forever, daemon=True).start()
    server = f"http://127.0.0.1:{http.server_address[1]}"

    def filled(argument: str) -> str:
        for word, path in {**files, "server": server}.items():
            argument = argument.replace(f"{{{word}}}", path)
        return argument

    cases: list[tuple[str, list[str], bool, str]] = []
    for name, lines in CASES.items():
        for at, argv in enumerate(lines):
            host = seeing.url if name == "describe" else front.url
            # What does its work is printed in both ways; messages go to a terminal and into a pipe in turn.
            ways = (True, False) if at == 0 else (at % 2 == 1,)
            cases += [(name, [*name.split(), *map(filled, argv)], tty, host) for tty in ways]
    for name, argv in DATA.items():
        command = (
            name.removesuffix(" construct")
            .removesuffix(" plan")
            .removesuffix(" query")
            .removesuffix(" turtle")
            .split()
        )
        cases += [
            (f"{name} as data", [*command, *map(filled, argv)], tty, front.url) for tty in (True, False)
        ]
    wanted = [
        {"argv": [quote_from_bytes(os.fsencode(a)) for a in c[1]], "tty": c[2], "host": c[3]} for c in cases
    ]
    (folder / "cases.json").write_text(json.dumps(wanted))
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(folder),
        "MRAG_EMBEDDER": "none",
        "TERM": "xterm-256color",
    }
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    try:
        subprocess.run(
            [sys.executable, "-W", "always", "-m", "tests.terminal.driver", str(folder / "cases.json")],
            cwd=folder, env=environment, check=True, timeout=600,
        )  # fmt: skip
        yield [
            Printed(
                n,
                int((folder / f"{at}.code").read_text()),
                argv,
                tty,
                (folder / f"{at}.out").read_bytes(),
                (folder / f"{at}.err").read_bytes(),
            )
            for at, (n, argv, tty, _) in enumerate(cases)
        ]
    finally:
        front.close()
        seeing.close()
        http.shutdown()
        http.server_close()


@pytest.mark.slow
def test_nothing_that_steers_a_terminal_is_printed(printed: list[Printed]) -> None:
    wrong = [
        f"{one.name} {'on a terminal' if one.tty else 'in a pipe'}: {ascii(one.argv)[:200]}: {found}"
        for one in printed
        for found in [
            faults(one.out + one.err, tty=one.tty, isolated=not one.name.endswith("as data")),
        ]
        if found
    ]
    assert not wrong, f"{len(wrong)} of {len(printed)}:\n" + "\n".join(wrong)


# The first call of each does its work, so that the test sees more than messages of errors; what the others
# say is about a server, a file or an argument that is no good.
NO_WORK = {
    "create", "verify", "doctor", "mcp", "serve", "", "train drill", "train generative", "learn forget",
    "complete accept", "complete reject", "complete rollback", "remove",
    "questions remove",
    "questions calibrate", "keys create", "keys show", "keys trust", "keys forget",
    "keys list",
}  # fmt: skip


@pytest.mark.slow
def test_the_first_call_of_each_command_works(printed: list[Printed]) -> None:
    first = {one.name: one for one in reversed(printed) if not one.tty}
    failed = {
        n: p.err[-300:] for n, p in first.items() if p.code and n not in NO_WORK and n != "doctor as data"
    }
    assert not failed
    shown = {n for n, p in first.items() if "␛" in (p.out + p.err).decode()}
    silent = set(first) - shown - NO_WORK - {n for n in first if n.endswith("as data")}
    # These print numbers alone when all is well; the small model writes no clue for a gizmo.
    assert silent <= {
        "reason",
        "index",
        "views",
        "describe",
        "codes build",
        "learn concepts",
        "kgs",
        "update",
    } | {n for n in first if "clues" in n}


@pytest.mark.slow
def test_data_on_standard_output_is_whole(printed: list[Printed]) -> None:
    data = {
        one.name.removesuffix(" as data"): one.out for one in printed if "as data" in one.name and not one.tty
    }
    assert set(data) == set(DATA)
    found = {
        name: json.loads(data[name])
        for name in set(DATA) - {"query construct", "learn show query", "learn concepts turtle"}
    }
    label = f"Gizmo 1 {TEXT}"
    cells = [row["o"]["value"] for row in found["query"]["results"]["bindings"]]
    assert label in cells and f"Long\nFORGED {TEXT}" in cells
    assert {" ".join(label.split())} == {hit["label"] for hit in found["search"] if hit["iri"] == "urn:x:a1"}
    quads = list(ox.parse(data["query construct"], ox.RdfFormat.N_TRIPLES))
    assert label in [q.object.value for q in quads if isinstance(q.object, ox.Literal)]
    assert "urn:x:odd\u202e\u200f" in [q.subject.value for q in quads if isinstance(q.subject, ox.NamedNode)]
    turtle = list(ox.parse(data["learn concepts turtle"], ox.RdfFormat.TURTLE))
    assert any(
        " ".join(f"Gadget {TEXT}".split()) in str(q.object.value)
        for q in turtle
        if isinstance(q.object, ox.Literal)
    )
    rows = ox.Store().query(data["learn show query"].decode())
    assert isinstance(rows, ox.QuerySolutions) and "\\u202E" in data["learn show query"].decode()
