"""Every command, with hostile labels, files, arguments, models and servers, on a terminal and in a pipe."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import pyoxigraph as ox
import pytest
from typer.main import get_command

from mrag.cli import app
from tests.evaluation.conftest import Scripted
from tests.generation.conftest import gguf
from tests.generation.ollama_server import OllamaServer, Served
from tests.images.seeing_server import SeeingServer
from tests.made import write_annotations
from tests.servers import Quiet, answering
from tests.terminal.driver import environment
from tests.terminal.hostile import NAME, TEXT, escapes, faults, turtle

__all__ = ["gguf"]
CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 300"
SELECT = "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s ?o LIMIT 300"
A, C = [f"urn:x:a{n}" for n in range(1, 5)], [f"urn:x:c{n}" for n in range(1, 5)]
EXAMPLES = [*(x for a in A for x in ("-p", a)), *(x for c in C for x in ("-n", c))]
WORDS = {"TEXT": TEXT, "NAME": NAME, "SELECT": SELECT, "CONSTRUCT": CONSTRUCT}


def argv_of(row: list[str]) -> list[str]:
    """Return the arguments of a row of `commands.json`, with the hostile texts and the queries put in."""

    def put(argument: str) -> str:
        return re.sub(r"\{([A-Z]+)\}", lambda name: WORDS[name[1]], argument)

    return [put(one) for word in row for one in (EXAMPLES if word == "{EXAMPLES}" else [word])]


ROWS = json.loads(Path(__file__).with_name("commands.json").read_text("utf-8"))
# What each command is called with: `store` and the other words in braces are files of the test. A command
# that is not there has no test that it prints nothing raw, so one that is new fails the test below. `mcp` and
# `serve` run until they are told to stop: tests of their own start them as servers.
CASES: dict[str, list[list[str]]] = {name: [*map(argv_of, rows)] for name, rows in ROWS["cases"].items()}
DATA: dict[str, list[str]] = {name: argv_of(row) for name, row in ROWS["data"].items()}


def commands() -> list[str]:
    """List the commands of the app, those of groups with the name of the group before them."""
    top: Any = get_command(app)
    found = []
    for name in top.commands:
        command = top.get_command(None, name)
        found += [f"{name} {inner}" for inner in getattr(command, "commands", {})] or [name]
    return found


def test_every_command_has_a_hostile_case() -> None:
    assert set(commands()) == set(CASES) - {""}


class Hostile(Quiet):
    """A server that fails with a message that attacks."""

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, "Bad \x9b31m")

    def do_GET(self) -> None:
        self.answer(400, f"Error: {TEXT}\nFORGED".encode("utf-8", "replace"), "text/plain; charset=utf-8")

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
            "annotations": ".json", "scenes": ".jsonl", "answer": ".json", "texts": "",
            "codes": "", "collection": "", "questions": ".jsonl", "run": ".trec", "out": "", "model": ".gguf",
            "table": ".csv", "mapping": ".ttl",
        }.items()
    }  # fmt: skip
    Path(names["turtle"]).write_text(turtle(), "utf-8")
    Path(names["broken"]).write_text(f"<urn:x:a> {TEXT}", "utf-8")
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
    Path(names["run"]).write_text("q1 Q0 d1 1 0.5 evil\x1b]0;PWN\x07\u202e\n", "utf-8")
    Path(names["model"]).symlink_to(gguf)
    return names


@pytest.fixture(scope="module")
def printed(files: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Printed]]:
    """What all commands print, run by one process."""
    folder = tmp_path_factory.mktemp("printed")
    said = f"Gizmo 1 is made by Maker [t1]. {TEXT}"
    front = OllamaServer([Served("asker:latest")], chat=Scripted(lambda messages: said))  # type: ignore[arg-type]
    seeing = SeeingServer([Served("llava:latest", "llama", ("completion", "vision"))], say=lambda _: TEXT)
    with closing(front), closing(seeing), answering(Hostile) as at:
        words = {**files, "server": f"http://{at}"}
        yield _printed(folder, words, front.url, seeing.url)


def _printed(folder: Path, words: dict[str, str], front: str, seeing: str) -> list[Printed]:
    def filled(argument: str) -> str:
        for word, path in words.items():
            argument = argument.replace(f"{{{word}}}", path)
        return argument

    cases: list[tuple[str, list[str], bool, str]] = []
    for name, lines in CASES.items():
        for at, argv in enumerate(lines):
            host = seeing if name == "describe" else front
            # What does its work is printed in both ways; messages go to a terminal and into a pipe in turn.
            ways = (True, False) if at == 0 else (at % 2 == 1,)
            cases += [(name, [*name.split(), *map(filled, argv)], tty, host) for tty in ways]
    for name, argv in DATA.items():
        command = re.sub("( (construct|plan|query|turtle))+$", "", name).split()
        cases += [(f"{name} as data", [*command, *map(filled, argv)], tty, front) for tty in (True, False)]
    wanted = [
        {"argv": [quote_from_bytes(os.fsencode(a)) for a in c[1]], "tty": c[2], "host": c[3]} for c in cases
    ]
    (folder / "cases.json").write_text(json.dumps(wanted))
    driver = [sys.executable, "-W", "always", "-m", "tests.terminal.driver", str(folder / "cases.json")]
    subprocess.run(driver, cwd=folder, env=environment(XDG_CACHE_HOME=str(folder)), check=True, timeout=600)

    def written(at: int, ending: str) -> bytes:
        return (folder / f"{at}.{ending}").read_bytes()

    return [
        Printed(name, int(written(at, "code")), argv, tty, written(at, "out"), written(at, "err"))
        for at, (name, argv, tty, _) in enumerate(cases)
    ]


@pytest.mark.slow
def test_nothing_that_steers_a_terminal_is_printed(printed: list[Printed]) -> None:
    wrong = [
        f"{one.name} {'on a terminal' if one.tty else 'in a pipe'}: {ascii(one.argv)[:200]}: {found}"
        for one in printed
        for found in [faults(one.out + one.err, tty=one.tty, isolated=not one.name.endswith("as data"))]
        if found
    ]
    assert not wrong, f"{len(wrong)} of {len(printed)}:\n" + "\n".join(wrong)


# The first call of each does its work, so that the test sees more than messages of errors; what the others
# say is about a server, a file or an argument that is no good.
NO_WORK = {
    "create", "verify", "doctor", "mcp", "serve", "", "train generative", "learn forget",
    "complete accept", "complete reject", "complete rollback", "remove", "questions remove",
    "keys create", "keys show", "keys trust", "keys forget", "keys list",
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
        "reason", "index", "views", "describe", "codes build", "learn concepts", "kgs", "update",
    } | {n for n in first if "clues" in n}  # fmt: skip


@pytest.mark.slow
def test_data_on_standard_output_is_whole(printed: list[Printed]) -> None:
    data = {p.name.removesuffix(" as data"): p.out for p in printed if "as data" in p.name and not p.tty}
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
