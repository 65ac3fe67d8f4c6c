"""The real Ollama clients against Ollama's protocol, spoken by `ollama_server` over a real small model."""

import os
from collections.abc import Iterator
from typing import Any, Literal

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langchain_ollama import ChatOllama
from pydantic import BaseModel

from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation.answering import answer, stream_answer
from mrag.generation.models import LocalServer, resolve, status
from mrag.generation.result import Answer
from mrag.generation.verification import verify
from tests.generation.conftest import ask_in, check_cited
from tests.generation.ollama_server import OllamaServer, Served

pytestmark = pytest.mark.model
NAME = "smollm2:135m"


class Product(BaseModel):
    """A product and its year."""

    name: Literal["GraphDB", "Virtuoso"]
    year: int


@pytest.fixture(scope="module")
def server(local_server: LocalServer) -> Iterator[OllamaServer]:
    served = (Served(NAME), Served("nothing:latest"), Served("vectors:latest", "bert", ("embedding",)))
    with OllamaServer(served, chat=local_server) as running:
        yield running


@pytest.fixture
def model(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> ChatOllama:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    found = resolve(f"ollama:{NAME}", num_predict=24)
    assert isinstance(found, ChatOllama)
    return found


# --- LangChain's client, as mrag makes it -------------------------------------------------------


def test_found_by_itself(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.delenv("MRAG_MODEL", raising=False)
    assert status().name == "nothing:latest", "the first by name that can chat"


def test_invoke_and_stream(model: ChatOllama, server: OllamaServer) -> None:
    message = model.invoke("Say hello.")
    assert message.text
    assert message.usage_metadata is not None and message.usage_metadata["output_tokens"] <= 24
    assert len([chunk for chunk in model.stream("Say hello.") if chunk.text]) > 1
    path, body = server.requests[-1]
    assert path == "/api/chat"
    assert body["options"] == {"num_ctx": 8192, "num_predict": 24, "seed": 0, "temperature": 0.0}


async def test_async(model: ChatOllama) -> None:
    assert (await model.ainvoke("Say hello.")).text
    assert "".join([chunk.text async for chunk in model.astream("Say hello.")])


def test_structured_output(model: ChatOllama, server: OllamaServer) -> None:
    longer = model.model_copy(update={"num_predict": 60})
    product = longer.with_structured_output(Product).invoke("GraphDB was released in 2005.")
    assert isinstance(product, Product)
    assert server.requests[-1][1]["format"]["properties"]["name"]["enum"] == ["GraphDB", "Virtuoso"]


def test_image_blocks(model: ChatOllama, server: OllamaServer) -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ]
    model.invoke([HumanMessage(content=blocks)])
    assert server.images[-1] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_answers_have_computed_citations(model: ChatOllama, few: Context) -> None:
    check_cited(model, few, NAME)


def test_the_prompt_reaches_the_model(model: ChatOllama, few: Context, server: OllamaServer) -> None:
    answer("Who develops {GraphDB}?", few, model)
    system, human = server.requests[-1][1]["messages"]
    assert system["role"] == "system" and "Using only the given Context" in system["content"]
    assert few.text() in human["content"]
    assert human["content"].endswith("Question: Who develops {GraphDB}?")


def test_a_model_that_is_gone_is_a_typed_error(products: Context, server: OllamaServer) -> None:
    limits = httpx.Limits(max_keepalive_connections=0)
    gone = ChatOllama(model="gone", base_url=server.url, client_kwargs={"limits": limits})
    with pytest.raises(ModelError, match=r"The language model gone did not answer: model 'gone' not found"):
        answer("Who?", products, gone)


def test_a_server_that_is_gone_is_a_typed_error(products: Context) -> None:
    gone = ChatOllama(model="x", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match="did not answer"):
        answer("Who?", products, gone)


# --- A real Ollama ------------------------------------------------------------------------------


@pytest.mark.skipif(
    os.environ.get("MRAG_TEST_OLLAMA") != "1",
    reason="set MRAG_TEST_OLLAMA=1 to test against the Ollama server at OLLAMA_HOST",
)
def test_a_real_ollama(products: Context) -> None:
    model = resolve(os.environ.get("MRAG_MODEL"))
    assert isinstance(model, ChatOllama), str(status(os.environ.get("MRAG_MODEL")))
    given = answer("Who develops GraphDB?", products, model)
    assert "Ontotext" in given.text
    assert given.supported and given.citations
    assert verify(given, ask_in(products)).ok
    *pieces, last = stream_answer("Which triple stores have RDF storage?", products, model)
    assert isinstance(last, Answer) and pieces
