"""A real Ollama with the real small model, asked by the real clients; what a test must see of a request, and
images, which that model has no eyes for, go to a server of Ollama's protocol.

The model is far too small to be right about anything; only the form of what it says is looked at.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import HumanMessage
from langchain_ollama import ChatOllama
from pydantic import BaseModel
from rdflib import RDFS, URIRef
from rdflib import Literal as Text

import mrag
from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation import models
from mrag.generation.answering import answer, stream_answer
from mrag.generation.models import LocalServer, chat_ollama, invoke_json, resolve, status
from mrag.generation.result import Answer
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.commands import run
from tests.generation.conftest import check_cited
from tests.generation.ollama_server import OllamaServer, Served
from tests.ollama import Ollama, ollama_server

pytestmark = pytest.mark.model
NAME = "smollm2:135m"
SLOW = pytest.mark.slow
# Of two threads, one waits for the other where the tests want the processors, too.
SETTINGS = "PARAMETER num_thread 1\nPARAMETER num_predict 24\n"


class Product(BaseModel):
    """A product and its year."""

    name: Literal["GraphDB", "Virtuoso"]
    year: int


def client(
    server: Ollama | OllamaServer, patch: pytest.MonkeyPatch, name: str = NAME, **how: Any
) -> ChatOllama:
    patch.setenv("OLLAMA_HOST", server.url)
    found = resolve(f"ollama:{name}", **{"num_predict": 24, **how})
    assert isinstance(found, ChatOllama)
    return found


@pytest.fixture(scope="module")
def protocol(local_server: LocalServer) -> Iterator[OllamaServer]:
    with OllamaServer([Served(NAME)], chat=local_server) as running:
        yield running


def test_the_prompt_reaches_the_model(
    protocol: OllamaServer, few: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer("Who develops {GraphDB}?", few, client(protocol, monkeypatch))
    path, body = protocol.requests[-1]
    assert path == "/api/chat"
    assert body["options"] == {"num_ctx": 8192, "num_predict": 24, "seed": 0, "temperature": 0.0}
    system, human = body["messages"]
    assert system["role"] == "system" and "Using only the given Context" in system["content"]
    assert few.text() in human["content"]
    assert human["content"].endswith("Question: Who develops {GraphDB}?")


@pytest.mark.parametrize("patience", [1e9, 1e-9])
def test_a_slow_model_is_given_the_best_facts_alone(
    protocol: OllamaServer, products: Context, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    for name, value in (("_LEAST_READ", 48), ("_speeds", {}), ("_PATIENCE", patience)):
        monkeypatch.setattr(models, name, value)
    lines = tuple(replace(line, score=float(line.id == "t3")) for line in products.lines)
    given = answer("Who?", replace(products, lines=lines), client(protocol, monkeypatch))
    (_, probe), (_, body) = protocol.requests[-2:]
    assert probe["options"]["num_predict"] == 1
    told = [line for line in lines if f"[{line.id}]" in body["messages"][1]["content"]]
    assert lines[2] in told and given.context.lines == lines, "what it says is held against all of them"
    if patience > 1:
        assert len(told) == len(lines) and given.notice is None
    else:
        assert f"it was given the {len(told)} most relevant of {len(lines)} facts" in (given.notice or "")


def test_image_blocks(protocol: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ]
    client(protocol, monkeypatch).invoke([HumanMessage(content=blocks)])
    assert protocol.images[-1] == b"\x89PNG\r\n\x1a\n"


def test_a_server_that_is_gone_is_a_typed_error(products: Context) -> None:
    gone = ChatOllama(model="x", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match="did not answer"):
        answer("Who?", products, gone)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, gguf: Path) -> Iterator[Ollama]:
    with ollama_server(tmp_path_factory.mktemp("ollama")) as running:
        running.create(NAME, f"FROM {gguf}\n{SETTINGS}")
        running.create("thinker", f'FROM {NAME}\nTEMPLATE """{cases(__file__, "thinking")}"""')
        yield running


@pytest.fixture
def model(server: Ollama, monkeypatch: pytest.MonkeyPatch) -> ChatOllama:
    return client(server, monkeypatch)


@SLOW
@pytest.mark.parametrize(("written", "said"), cases(__file__, "hosts"))
def test_the_address_in_every_spelling(
    server: Ollama, monkeypatch: pytest.MonkeyPatch, written: str, said: str
) -> None:
    port = server.url.rpartition(":")[2]
    monkeypatch.setenv("OLLAMA_HOST", written.format(port=port))
    monkeypatch.delenv("MRAG_MODEL", raising=False)
    monkeypatch.setattr(models, "_QUICK", 5.0)  # the processors may be busy
    assert said.format(port=port) in str(status(f"ollama:{NAME}"))
    if status(f"ollama:{NAME}").available:
        assert status().name == NAME, "found by itself, the first by name that can chat"


@SLOW
async def test_ask_and_stream(model: ChatOllama, few: Context) -> None:
    message = await model.ainvoke("Say hello.")
    assert message.text and message.usage_metadata is not None
    assert 0 < message.usage_metadata["output_tokens"] <= 24
    assert len([chunk for chunk in model.stream("Say hello.") if chunk.text]) > 1
    check_cited(model, few, NAME)


@SLOW
def test_structured_output(model: ChatOllama) -> None:
    longer = model.model_copy(update={"num_predict": 60})
    messages = [HumanMessage("GraphDB was released in 2005.")]
    assert isinstance(longer.with_structured_output(Product).invoke(messages), Product)
    text, value = invoke_json(longer, messages, Product.model_json_schema())
    assert Product.model_validate(value) == Product.model_validate_json(text)


@SLOW
def test_embeddings(server: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    things = [Triple(URIRef(f"urn:{name}"), RDFS.label, Text(name)) for name in ("shoe", "boot", "coat")]
    with mrag.connect("oxigraph:") as kg:
        kg.insert(things)
        assert kg.index(model=f"ollama:{NAME}").added == 3
        assert len(kg.search("boots", k=3).names) == 3
        with pytest.raises(ModelError, match="ollama pull not-there"):
            kg.index(model="ollama:not-there")


@SLOW
def test_by_command(server: Ollama, tmp_path: Path) -> None:
    asked = ("ask", "Tell me about GraphDB", "--how", "read", "--budget", "100", "--json")
    given = run(*asked, "--model", f"ollama:{NAME}", cwd=tmp_path, OLLAMA_HOST=server.url)
    assert given.returncode == 0, given.stderr
    assert json.loads(given.stdout)["model"] == NAME


@SLOW
def test_a_missing_model(server: Ollama, products: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    with pytest.raises(ModelError, match=f"`ollama pull gone`. It has: {NAME}, thinker:latest"):
        resolve("ollama:gone")
    with pytest.raises(ModelError, match=r"The language model gone did not answer: model 'gone' not found"):
        answer("Who?", products, chat_ollama("gone", {}))


@SLOW
def test_what_is_longer_than_the_model_reads_is_not_cut_silently(
    server: Ollama, products: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = client(server, monkeypatch, num_ctx=256, num_predict=4)
    long = "Which of these words is a name: " + "word " * 300 + "?"
    for ask in (answer, lambda *given: list(stream_answer(*given))):
        with pytest.raises(ModelError, match=f"more tokens than {NAME} reads, 256"):
            ask(long, products, small)


@SLOW
def test_a_late_first_word_is_waited_for_and_told(
    model: ChatOllama, products: Context, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(models, "_SILENT", 0.1)
    *_, last = stream_answer("Which of these words is a name: " + "late " * 50, products, model)
    assert isinstance(last, Answer)
    assert f"Waiting for the language model {NAME} (0 s so far)" in caplog.text


@SLOW
def test_an_open_thought_is_no_answer(server: Ollama, few: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    thinker = client(server, monkeypatch, "thinker")
    shown: list[object] = []
    with pytest.raises(ModelError, match=r"gave no text.*thinks first may have ended before it answered"):
        shown += stream_answer("Who develops GraphDB?", few, thinker)
    assert shown == []


@SLOW
@pytest.mark.parametrize("whole", [False, True])
def test_a_server_that_is_killed_in_the_middle(
    tmp_path: Path, gguf: Path, few: Context, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    with ollama_server(tmp_path) as server:
        server.create(NAME, f"FROM {gguf}\n{SETTINGS}")
        long = {"type": "array", "items": {"type": "integer"}, "minItems": 200}
        writer = client(server, monkeypatch, num_predict=1000, format=long)
        told = stream_answer("Which numbers are there?", few, writer)
        assert isinstance(next(told), str)
        server.kill(whole=whole)
        with pytest.raises(ModelError, match=f"The language model {NAME} did not answer") as error:
            list(told)
        assert "mrag doctor" in str(error.value)
        if whole:
            assert not status(f"ollama:{NAME}").available
        else:  # the next question starts the model anew
            assert answer("Who develops GraphDB?", few, client(server, monkeypatch)).text
