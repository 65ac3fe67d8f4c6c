"""From names to models, and to errors that say what to do."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_ollama import ChatOllama

from mrag.config import ollama_host
from mrag.errors import ModelError
from mrag.generation import models
from mrag.generation.models import ModelStatus, resolve, status
from tests.cases import cases
from tests.generation.ollama_server import OllamaServer, Served
from tests.servers import Quiet, answering

NOBODY = "http://127.0.0.1:9"  # the discard port; nothing listens there


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OLLAMA_HOST", "MRAG_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def serve(monkeypatch: pytest.MonkeyPatch, *served: Served, **how: Any) -> OllamaServer:
    server = OllamaServer(served, **how)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    return server


@pytest.mark.parametrize(("served", "expected"), cases(__file__, "chosen"))
def test_a_chat_model_is_found(monkeypatch: pytest.MonkeyPatch, served: list[Any], expected: str) -> None:
    with serve(monkeypatch, *(Served(*one) for one in served)):
        for name in (None, "auto"):
            model = resolve(name)
            assert isinstance(model, ChatOllama)
            assert model.model == expected
        assert str(status()) == f"ollama:{expected}"


def test_old_servers_tell_no_capabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, Served("zephyr:7b"), old=True):
        assert status().name == "zephyr:7b"


@pytest.mark.parametrize("served", [[], [Served("all-minilm:latest", "bert")], [Served("x:1b-cloud")]])
def test_ollama_without_a_chat_model(monkeypatch: pytest.MonkeyPatch, served: list[Served]) -> None:
    with serve(monkeypatch, *served):
        assert resolve() is None
        found = status()
        assert not found.available
        assert found.reason == "Ollama runs, but has no chat model." and "ollama pull" in found.hint


def test_no_ollama_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    assert resolve() is None and not status().available


def test_a_slow_server_does_not_hold_up_those_who_did_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, Served("zephyr:7b"), delay=1.5):
        started = time.perf_counter()
        assert resolve() is None
        assert time.perf_counter() - started < 1.0
        assert resolve("ollama:zephyr:7b") is not None


def test_the_model_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, Served("aya:8b"), Served("zephyr:7b")):
        monkeypatch.setenv("MRAG_MODEL", "ollama:zephyr:7b")
        assert status("auto").name == "zephyr:7b"
        monkeypatch.setenv("MRAG_MODEL", "ollama:not-there")
        with pytest.raises(ModelError, match="ollama pull not-there"):
            resolve()
        monkeypatch.setenv("MRAG_MODEL", "none")
        assert resolve() is None


def test_a_named_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, Served("llama3.2:latest"), Served("qwen3:4b")) as server:
        for name, found in cases(__file__, "a_named_model"):
            model = resolve(name)
            assert isinstance(model, ChatOllama)
            assert (model.model, model.base_url) == (found, server.url)
            assert (model.temperature, model.seed, model.num_ctx) == (0, 0, 8192)
        warm = resolve("ollama:llama3.2", temperature=0.7, num_ctx=512)
        assert isinstance(warm, ChatOllama)
        assert (warm.temperature, warm.num_ctx, warm.seed) == (0.7, 512, 0)


def test_a_model_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    said = r"no model llama3.2. Get it with `ollama pull llama3.2`. It has: aya:8b, zephyr:7b"
    with serve(monkeypatch, Served("aya:8b"), Served("zephyr:7b")), pytest.raises(ModelError, match=said):
        resolve("ollama:llama3.2")


def test_a_proxy_of_the_environment_is_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, NOBODY)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serve(monkeypatch, Served("zephyr:7b")) as server:
        model = resolve("ollama:zephyr:7b")
        assert isinstance(model, ChatOllama)
        with pytest.raises(Exception, match="no model is loaded behind this test server"):
            model.invoke("Hello")
        assert server.requests[-1][0] == "/api/chat"


@pytest.mark.parametrize(("value", "expected"), cases(__file__, "hosts"))
def test_hosts(monkeypatch: pytest.MonkeyPatch, value: str | None, expected: str) -> None:
    if value is not None:
        monkeypatch.setenv("OLLAMA_HOST", value)
    assert ollama_host() == expected


@pytest.mark.parametrize(("host", "name", "said"), cases(__file__, "refused"))
def test_what_names_no_model_is_a_typed_error(
    monkeypatch: pytest.MonkeyPatch, host: str, name: str, said: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(ModelError, match=said):
        resolve(name)


def test_only_this_machine_is_looked_at_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Opener:
        def open(self, request: Any, timeout: float) -> Any:
            asked.append(request.full_url)
            raise OSError("nobody")

    monkeypatch.setattr(models, "build_opener", lambda *handlers: Opener())
    assert resolve() is None
    assert asked == ["http://127.0.0.1:11434/api/tags"]
    asked.clear()
    for name in ("none", "openai:gpt-4.1", "local:/no/file.gguf", "anthropic:claude"):
        status(name)
    assert asked == []


@pytest.fixture
def stranger() -> Iterator[str]:
    """A web server that is no Ollama."""

    class Handler(Quiet):
        def do_GET(self) -> None:
            found = self.path == "/api/tags"
            self.answer(200 if found else 404, b"<html>Hello</html>" if found else b"no")

    with answering(Handler) as at:
        yield f"http://{at}"


def test_another_server_at_the_address(monkeypatch: pytest.MonkeyPatch, stranger: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", stranger)
    assert resolve() is None
    with pytest.raises(ModelError, match="is no Ollama server"):
        resolve("ollama:x")
    monkeypatch.setenv("OLLAMA_HOST", f"{stranger}/elsewhere")
    with pytest.raises(ModelError, match=f"answered 404.*write OLLAMA_HOST={stranger}\\."):
        resolve("ollama:x")
    monkeypatch.setenv("OLLAMA_HOST", stranger.replace("http:", "https:"))
    with pytest.raises(ModelError, match=f"speaks http, not https. Write OLLAMA_HOST={stranger}"):
        resolve("ollama:x")


def test_no_model() -> None:
    assert resolve("none") is None
    assert status("none") == ModelStatus(None, "none", False, hint=status("none").hint)


def test_a_chat_model_is_itself() -> None:
    model = GenericFakeChatModel(messages=iter([]))
    assert resolve(model) is model


def test_openai_needs_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    with pytest.raises(ModelError, match=r"OPENAI_API_KEY is not set.*OPENAI_BASE_URL"):
        resolve("openai:gpt-4.1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model: Any = resolve("openai:my-model")
    assert model.openai_api_base == "http://127.0.0.1:9/v1"
    assert (model.model_name, model.temperature, model.seed) == ("my-model", 0, 0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert resolve("openai:gpt-4.1", temperature=1) is not None
    assert "temperature" not in status("openai:o3-mini").options
    assert "sk-test" not in repr(status("openai:gpt-4.1"))


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"langchain-openai is not installed.*mrag\[openai\]"):
        resolve("openai:gpt-4.1")
    with pytest.raises(ModelError, match=r"'groq' needs LangChain.*langchain-groq.*ollama:groq:llama3"):
        resolve("groq:llama3")


@pytest.mark.skipif(find_spec("langchain") is None, reason="langchain is not installed")
def test_unknown_providers_are_typed_errors() -> None:
    with pytest.raises(ModelError, match="LangChain gives no model nonsense:x"):
        resolve("nonsense:x")
