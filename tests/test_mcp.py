"""The MCP server, asked by the SDK's own client over standard input and output."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

import mrag
from mrag.errors import ConfigError, TermError
from mrag.mcp import McpSettings, create_server
from mrag.mcp.tools import read_term
from tests.cases import beside, cases
from tests.commands import python
from tests.conftest import ROOT, requires

requires("mcp", "mcp")
TOOLS = ["search", "context", "ask", "explain", "schema", "query"]
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
SMALL = beside(__file__, "pets.ttl")


def validator() -> Any:
    """Return the class that checks schemas; importing it takes too long for workers that need it not."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator


class Session:
    """A client of a real `mrag mcp`, for tests that are not coroutines."""

    def __init__(self, portal: BlockingPortal, client: Any) -> None:
        self.portal = portal
        self.client = client

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.portal.call(self.client.call_tool, tool, arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        return str(result.content[0].text)

    def data(self, tool: str, **arguments: Any) -> Any:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error
        said = str(result.content[0].text)
        assert "Traceback" not in said and 'File "' not in said
        return said

    def together(self, *calls: tuple[str, dict[str, Any]]) -> tuple[list[Any], list[int]]:
        """Make calls shortly one after the other; return what came of each, and in which order they ended."""
        results: dict[int, Any] = {}

        async def one(number: int, tool: str, arguments: dict[str, Any]) -> None:
            results[number] = await self.client.call_tool(tool, arguments)

        async def every() -> None:
            async with anyio.create_task_group() as group:
                for number, (tool, arguments) in enumerate(calls):
                    group.start_soon(one, number, tool, arguments)
                    await anyio.sleep(0.03)

        self.portal.call(every)
        return [results[number] for number in range(len(calls))], list(results)


def environment(folder: Path) -> dict[str, str]:
    return {
        "XDG_CACHE_HOME": str(folder / ".cache"), "MRAG_EMBEDDER": "wordllama",
        "OLLAMA_HOST": "http://127.0.0.1:9", "LANGSMITH_TRACING": "false", "PYTHONPATH": str(ROOT),
    }  # fmt: skip


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "mrag", "mcp", *options]


def session(folder: Path, *options: str) -> Iterator[Session]:
    import mcp

    start = command(*options)
    server = mcp.StdioServerParameters(command=start[0], args=start[1:], cwd=folder, env=environment(folder))
    with (folder / "stderr.txt").open("a") as log, start_blocking_portal() as portal:
        transport = mcp.stdio_client(server, errlog=log)
        with portal.wrap_async_context_manager(mcp.Client(transport)) as client:
            yield Session(portal, client)
    assert "Traceback" not in (folder / "stderr.txt").read_text()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """On the demo graph, which the command makes for itself."""
    yield from session(tmp_path_factory.mktemp("demo"))


def pets(folder: Path) -> None:
    """Make a small store with reasoning and an index in `folder/store`."""
    (folder / "pets.ttl").write_text(SMALL)
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        kg.load([folder / "pets.ttl"])
        mrag.reason(kg)
        mrag.SimilarityIndexes.of(kg).build("main", model="none")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """On a small graph in a folder, with a short deadline."""
    folder = tmp_path_factory.mktemp("small")
    pets(folder)
    yield from session(folder, "--store", "oxigraph:store", "--timeout", "3", "--model", "none")


def test_every_tool_is_read_only_and_described(demo: Session) -> None:
    listed = demo.portal.call(demo.client.list_tools).tools
    assert [tool.name for tool in listed] == TOOLS
    for tool in listed:
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.title and tool.description
        validator().check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for part in tool.input_schema["properties"].values():
            assert part["description"]


def test_what_every_session_pays_for_the_tools_is_small(demo: Session) -> None:
    listed = demo.portal.call(demo.client.list_tools).tools
    sizes = {tool.name: len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed}
    assert sum(sizes.values()) < 8_000, sizes


def test_search_gives_labels_scores_and_reasons(demo: Session) -> None:
    found = demo.data("search", text="triple store with reasoning", k=4)["entities"]
    assert [f["rank"] for f in found] == [1, 2, 3, 4]
    assert [f["score"] for f in found] == sorted((f["score"] for f in found), reverse=True)
    assert all(f["label"] and f["reasons"] and f["iri"].startswith("https://") for f in found)
    for name in ("bm25", "hybrid+mmr:0.5"):
        assert "ex:" in demo.text("search", text="triple store", ranker=name, k=2)


def test_context_tells_asserted_from_inferred(demo: Session) -> None:
    text = demo.text("context", entities=["ex:GraphDB"], most=80)
    lines = {line.split("] ", 1)[1] for line in text.splitlines() if line.startswith("[t")}
    assert "(GraphDB, developed by, Ontotext)" in lines
    assert "(GraphDB, is a, semantic product) inferred" in lines
    data = demo.data("context", entities=["ex:GraphDB"], most=80)
    assert {line["triple"][4] for line in data["lines"]} == {"asserted", "inferred"}
    assert len(demo.data("context", entities=["ex:GraphDB", "ex:Ontotext"], hops=2, most=7)["lines"]) == 7
    assert "says nothing" in demo.text("context", entities=["ex:NoSuchThing"])


def test_ask_answers_with_citations_and_without_a_model(demo: Session) -> None:
    asked = {"question": "Which vendor develops GraphDB?", "how": "read"}
    data = demo.data("ask", **asked)
    assert data["text"].startswith("GraphDB is developed by Ontotext [t")
    assert data["model"] is None and "No language model" in data["notice"]
    assert data["citations"][0]["inferred"] is False
    assert "(GraphDB, developed by, Ontotext)" in demo.text("ask", **asked)
    found = {
        name: demo.data("ask", **asked, ranker=name, k=5)["entities"]
        for name in ("bm25", "dense", "hybrid+mmr:0.5")
    }
    assert len({tuple(hits) for hits in found.values()}) == 3
    for name, hits in found.items():
        searched = demo.data("search", text=asked["question"], ranker=name, k=5)["entities"]
        assert hits == [e["iri"] for e in searched], name
    assert demo.data("ask", question="How many triple stores are there?", ranker="bm25")["way"] == "plan"


def test_ask_computes_and_says_how(demo: Session) -> None:
    question = "How many triple stores are there?"
    data = demo.data("ask", question=question)
    assert (data["way"], data["columns"]) == ("plan", list(data["columns"]))
    assert [[cell["value"] for cell in row] for row in data["rows"]] == [["11"]] and data["count"] == 1
    assert data["reading"] == "the number of triple stores"
    rows = demo.data("query", sparql=data["query"])["rows"]
    assert [[cell["value"] for cell in row.values()] for row in rows] == [["11"]]
    text = demo.text("ask", question=question)
    assert "Read as: the number of triple stores" in text and "(GraphDB, is a, triple store)" in text
    question = "How many vendors are there per country?"
    text, readings = demo.text("ask", question=question), demo.data("ask", question=question)["readings"]
    assert readings
    for other in readings:
        again = demo.data("ask", question=question, reading=other["number"])
        assert again["reading"] == other["reading"] and f"Reading {other['number']} would give" in text
    listed = demo.data("ask", question="List the graph databases", most=3)
    assert len(listed["rows"]) == 3 < listed["count"]
    assert f"3 of {listed['count']} rows" in demo.text("ask", question="List the graph databases", most=3)


def test_ask_says_why_it_computes_nothing(demo: Session) -> None:
    question = "How many employees does GraphDB have?"
    data = demo.data("ask", question=question, how="plan")
    assert data["text"].startswith("Not in this graph: ") and data["plan"] is None and data["rows"] == []
    assert "Read, not computed: " in demo.text("ask", question=question)
    assert "Choose one from 1 to" in demo.error("ask", question="How many databases are there?", reading=99)
    assert "auto" in demo.error("ask", question=question, how="guess")


def test_explain_proves_one_triple_and_those_of_an_entity(demo: Session) -> None:
    one = {"subject": "ex:GraphDB", "predicate": "rdf:type", "object": "ex:SemanticProduct"}
    assert "because semantic product EquivalentTo" in demo.text("explain", **one)
    (proof,) = demo.data("explain", **one)["proofs"]
    assert proof["asserted"] is False and proof["premises"]
    many = demo.call("explain", subject="ex:GraphDB", most=2)
    assert len(many.structured_content["proofs"]) == 2
    assert f"2 of {many.structured_content['inferred']} inferred" in many.content[0].text
    assert "neither" in demo.error("explain", subject="ex:GraphDB", predicate="rdf:type")
    absent = demo.error("explain", subject="ex:GraphDB", predicate="rdf:type", object="ex:Vendor")
    assert "does not hold" in absent


def test_explain_takes_literals(small: Session) -> None:
    age = {"type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    triple = {"subject": "http://pets.example/rex", "predicate": "http://pets.example/age"}
    assert "[asserted]" in small.text("explain", **triple, object=age)
    assert "[asserted]" in small.text("explain", **triple, object=7)
    assert "does not hold" in small.error("explain", **triple, object={"type": "literal", "value": "7"})


def test_schema_counts_classes_and_predicates(small: Session, demo: Session) -> None:
    data = small.data("schema")
    classes = {c["iri"]: c for c in data["classes"]}
    assert classes["http://pets.example/Dog"] == {
        "iri": "http://pets.example/Dog", "label": "dog", "count": 1,
    }  # fmt: skip
    assert classes["http://pets.example/Animal"]["count"] == 1
    assert "http://pets.example/knows" in {p["iri"] for p in data["predicates"]}
    assert data["indexes"] == ["main"] and data["reasoned"] is True
    narrowed = demo.data("schema", contains="semantic")
    assert narrowed["classes"]
    assert all("semantic" in f"{c['iri']} {c['label']}".lower() for c in narrowed["classes"])
    assert "https://w3id.org/mrag/demo/products#" in demo.text("schema", most=1, contains="product")


def test_query_gives_a_table_and_json(small: Session) -> None:
    sparql = "SELECT ?x ?o { ?x <http://pets.example/says>|<http://pets.example/age> ?o } ORDER BY ?o"
    text = small.text("query", sparql=sparql)
    assert text.splitlines()[0] == "?x\t?o"
    assert text.splitlines()[1].endswith("\t7")
    assert text.splitlines()[2].endswith('"line one\\nline two\\t\\"quoted\\""')
    rows = small.data("query", sparql=sparql)["rows"]
    assert rows[0]["o"] == {
        "type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer",
    }  # fmt: skip
    assert rows[1]["o"]["value"] == 'line one\nline two\t"quoted"'
    asked = "ASK { <http://pets.example/rex> a <http://pets.example/Animal> }"
    assert small.data("query", sparql=asked) == {"boolean": True}
    assert small.data("query", sparql=asked, layer="asserted") == {"boolean": False}
    built = small.data("query", sparql="CONSTRUCT { ?s a ?c } WHERE { ?s a ?c }", most=2)
    assert len(built["triples"]) == 2 and built["count"] > 2
    assert "There are no rows." in small.text("query", sparql="SELECT * { ?s <urn:none> ?o }")
    many = small.text("query", sparql="SELECT ?s { ?s ?p ?o }", most=2)
    assert "2 of" in many.splitlines()[-1]


REFUSED = [
    (name, tool, json.loads(arguments), says)
    for name, tool, arguments, says in (
        line.split("\t") for line in Path(__file__).with_name("mcp_refused.tsv").read_text().splitlines()[1:]
    )
]
"""Calls that inject SPARQL, name what there is not, or are out of bounds; and those that are too large."""
REFUSED += [
    ("huge query", "query", {"sparql": "ASK {" + " " * 60_000 + "}"}, "at most 50000"),
    ("too long a text", "search", {"text": "x" * 5_000}, "at most 2000"),
]  # fmt: skip


@pytest.mark.parametrize("tool,arguments,says", [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED])
def test_what_does_not_fit_is_a_tool_error_that_says_what_to_do(
    demo: Session, tool: str, arguments: dict[str, Any], says: str
) -> None:
    said = demo.error(tool, **arguments)
    assert says in said
    assert len(said) < 2_100


def test_no_query_calls_another_server(demo: Session, heard: tuple[str, list[bytes]]) -> None:
    url, calls = heard
    for query in cases(__file__, "no_query_calls_another_server"):
        assert "SERVICE is not allowed" in demo.error("query", sparql=query.replace("URL", url))
    assert "outside" in demo.error("query", sparql=f"SELECT * FROM <{url}> {{ ?s ?p ?o }}")
    assert calls == []


def test_an_unknown_tool_is_an_error_of_the_protocol(demo: Session) -> None:
    import mcp

    with pytest.raises(mcp.MCPError, match="no tool 'drop'"):
        demo.call("drop")


def test_two_calls_at_once_do_not_wait_for_each_other(small: Session) -> None:
    # Four patterns over a few dozen triples end in time; over thousands they do not.
    (_, quick), _ = small.together(("query", {"sparql": SLOW}), ("search", {"text": "Rex"}))
    assert quick.structured_content["entities"][0]["label"] == "Rex"


@pytest.mark.slow
def test_a_slow_query_is_ended_while_others_are_answered(tmp_path: Path) -> None:
    for demo in session(tmp_path, "--timeout", "2"):
        asked = [("query", {"sparql": SLOW})] * 3 + [("context", {"entities": ["ex:GraphDB"], "most": 3})]
        (*slow, quick), ended = demo.together(*asked)
        assert ended[0] == 3 and not quick.is_error
        assert all(one.is_error and "deadline" in one.content[0].text for one in slow)
        assert demo.text("query", sparql="ASK {}") == "true"


def test_a_call_that_the_client_gives_up_leaves_the_server_well(small: Session) -> None:
    async def impatient() -> None:
        with anyio.move_on_after(0.2):
            await small.client.call_tool("query", {"sparql": SLOW})

    for _ in range(3):
        small.portal.call(impatient)
    assert small.text("query", sparql="ASK {}") == "true"


async def test_results_are_bounded(tmp_path: Path) -> None:
    import mcp

    with mrag.demo(model="none") as kg:
        server = create_server(kg, McpSettings(characters=300, rows=50, model="none"))
        async with mcp.Client(server) as client:
            listed = await client.call_tool("schema", {"most": 500})
            assert not listed.is_error
            assert len(listed.content[0].text) < 600 and "cut" in listed.content[0].text
            assert listed.structured_content is None
            large = await client.call_tool("query", {"sparql": "SELECT * { ?s ?p ?o }"})
            assert large.is_error and "Add a LIMIT" in large.content[0].text


async def test_a_client_that_waits_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    import mcp

    monkeypatch.setattr("mrag.mcp.server._SILENT", 0.01)
    told: list[tuple[float, str]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    with mrag.demo(model="none") as kg:
        async with mcp.Client(create_server(kg, McpSettings(seconds=1, model="none"))) as client:
            await client.call_tool("query", {"sparql": SLOW}, progress_callback=note)
            query, ask = len(told), {"question": "Who develops GraphDB?", "how": "read"}
            await client.call_tool("ask", ask, progress_callback=note)
    assert query > 2 and all(text.startswith("Run SPARQL (") for _, text in told[:query])
    assert told[:query] == sorted(told[:query])
    assert any(text.startswith("The facts are found and read (") for _, text in told[query:])


async def test_an_error_of_our_own_shows_no_stack(caplog: pytest.LogCaptureFixture) -> None:
    import mcp

    kg = mrag.demo(model="none")
    server = create_server(kg)
    async with mcp.Client(server) as client:
        kg.close()
        result = await client.call_tool("context", {"entities": ["ex:GraphDB"]})
    assert result.is_error
    assert result.content[0].text.startswith("The tool failed by an error of its own.")
    assert "the tool context failed" in caplog.text and "Traceback" in caplog.text


async def test_an_index_that_is_not_there_or_is_old_is_said(tmp_path: Path) -> None:
    import mcp

    pets(tmp_path)
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        async with mcp.Client(create_server(kg, McpSettings(index="other", model="none"))) as client:
            result = await client.call_tool("ask", {"question": "x"})
            assert result.is_error and "mrag index" in result.content[0].text
            # Names are found without one.
            result = await client.call_tool("search", {"text": "rex"})
            assert result.structured_content["entities"][0]["reasons"] == ["called Rex"]
            assert "mrag index" in result.content[0].text
            # What is computed needs none.
            result = await client.call_tool("ask", {"question": "How many dogs are there?"})
            assert not result.is_error and result.structured_content["rows"][0][0]["value"] == "1"
        (tmp_path / "more.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
        kg.load([tmp_path / "more.ttl"])
        async with mcp.Client(create_server(kg, McpSettings(model="none"))) as client:
            result = await client.call_tool("search", {"text": "Rex"})
            assert "older than the graph" in result.content[0].text


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*options), cwd=folder, env={**os.environ, **environment(folder)}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def hello(process: subprocess.Popen[str]) -> Callable[..., Any]:
    """Shake hands as an old client does, and return what sends a request and reads its answer."""
    count = 0

    def ask(method: str, **parameters: Any) -> Any:
        nonlocal count
        count += 1
        message = {"jsonrpc": "2.0", "id": count, "method": method, "params": parameters}
        process.stdin.write(json.dumps(message) + "\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        answer = json.loads(process.stdout.readline())  # type: ignore[union-attr]
        assert answer["jsonrpc"] == "2.0" and answer["id"] == count
        return answer["result"]

    info = {"name": "test", "version": "0"}
    greeted = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
    assert greeted["serverInfo"]["name"] == "mrag" and "search" in greeted["instructions"]
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    process.stdin.flush()
    return ask


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    pets(tmp_path)
    process = start(tmp_path, "--store", "oxigraph:store", "--model", "none")
    ask = hello(process)
    assert len(ask("tools/list")["tools"]) == len(TOOLS)
    for tool, arguments in (("ask", {"question": "Who is Rex?"}), ("query", {"sparql": "ASK {}"})):
        assert ask("tools/call", name=tool, arguments=arguments)["isError"] is False
    out, err = process.communicate(timeout=20)  # closes standard input, as a client does that leaves
    assert process.returncode == 0, err
    assert out == "" and "Traceback" not in err
    # The folder is free again, and no snapshot of the workers is left beside it.
    assert not list(tmp_path.glob(".store.snapshot-*"))
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        assert kg.recovered is None and kg.count() > 5


@pytest.mark.parametrize(("line", "code"), [*cases(__file__, "NO_MESSAGES"), ("[" * 100_000, -32700)])
def test_a_line_that_is_no_message_is_answered(pets_process: Any, line: str, code: int) -> None:
    process, ask = pets_process
    number = 900 + abs(hash(line)) % 90
    process.stdin.write((line % number if "%d" in line else line) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["error"]["code"] == code
    if "%d" in line and code == -32600:
        assert answer["id"] == number
    assert ask("tools/call", name="query", arguments={"sparql": "ASK {}"})["isError"] is False


@pytest.fixture(scope="module")
def pets_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("pets")
    pets(folder)
    process = start(folder, "--store", "oxigraph:store", "--model", "none")
    yield process, hello(process)
    process.communicate(timeout=20)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to catch")
def test_a_signal_ends_it_and_frees_the_store(tmp_path: Path) -> None:
    pets(tmp_path)
    process = start(tmp_path, "--store", "oxigraph:store", "--model", "none")
    ask = hello(process)
    ask("tools/call", name="query", arguments={"sparql": "ASK {}"})
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert not list(tmp_path.glob(".store.snapshot-*"))
    mrag.connect(f"oxigraph:{tmp_path / 'store'}").close()


def test_what_prevents_a_start_is_one_line(tmp_path: Path) -> None:
    pets(tmp_path)
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}"):
        process = start(tmp_path, "--store", "oxigraph:store")
        out, err = process.communicate(timeout=20)
    assert process.returncode == 1 and out == ""
    assert err.strip().splitlines()[-1].startswith("mrag: Another process has this store open.")


def test_without_the_sdk_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from mrag.errors import ConfigError\nfrom mrag.mcp import serve\n"
        "try: serve(None)\nexcept ConfigError as e: print(e)"
    )
    assert "pip install 'mrag[mcp]'" in python(code).stdout


@pytest.mark.parametrize(
    "value",
    [None, [], {"value": "x"}, {"type": "uri"}, {"type": "uri", "value": "urn:x", "more": "y"}, "x" * 10_001],
)
def test_what_is_no_term_is_refused(value: Any) -> None:
    with pytest.raises(TermError, match="Not a term"):
        read_term(value)


def test_settings_are_checked() -> None:
    for name in ("seconds", "calls", "rows", "characters"):
        with pytest.raises(ConfigError, match=name):
            McpSettings(**{name: 0})
