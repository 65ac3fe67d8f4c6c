"""A model file served in process: the real server, the real client, the real small model.

The model is far too small to be right about anything; only the form of what it says is looked at.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation.answering import answer
from mrag.generation.models import LocalServer, check, resolve, serve, status, stop_all
from tests.conftest import ROOT
from tests.generation.conftest import check_chat, check_cited


def test_a_missing_file() -> None:
    with pytest.raises(ModelError, match=r"There is no file /no/such\.gguf\. Write local:PATH\.gguf"):
        resolve("local:/no/such.gguf")


@pytest.mark.parametrize("content", [b"", b"GG", b"not a model at all"])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    for name in (f"local:{path}", str(path)):
        with pytest.raises(ModelError, match="not a model in GGUF format"):
            resolve(name)
    assert not status(f"local:{path}").available


def test_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF....")
    monkeypatch.setattr("mrag.generation.models.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"xllamacpp is not installed.*mrag\[local\]"):
        check(path)


@pytest.mark.model
def test_a_file_that_is_cut_short(tmp_path: Path, gguf: Path) -> None:
    path = tmp_path / "model.gguf"
    with gguf.open("rb") as whole:
        path.write_bytes(whole.read(100_000))
    with pytest.raises(ModelError, match=r"llama\.cpp cannot load"):
        resolve(f"local:{path}")


@pytest.mark.model
async def test_it_is_a_chat_model_of_langchain(local_server: LocalServer) -> None:
    await check_chat(local_server.chat_model(max_tokens=24), local_server.chat_model(max_tokens=64))


@pytest.mark.model
def test_the_server_is_for_this_process_alone(local_server: LocalServer) -> None:
    assert local_server.base_url.startswith("http://127.0.0.1:")
    url = f"{local_server.base_url}/chat/completions"
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    assert httpx.post(url, json=body).status_code == 401
    assert httpx.post(url, json=body, headers={"Authorization": "Bearer local"}).status_code == 401
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    allowed = httpx.options(url, headers=asked).headers.get("access-control-allow-origin", "")
    assert allowed not in ("*", "https://evil.example")


@pytest.mark.model
def test_too_long_a_prompt_is_a_typed_error(products: Context, local_server: LocalServer) -> None:
    with pytest.raises(ModelError, match="context size"):
        answer("word " * 4000, products, local_server.chat_model())


@pytest.mark.slow
@pytest.mark.model
def test_answers_have_computed_citations(few: Context, local_server: LocalServer) -> None:
    check_cited(local_server.chat_model(max_tokens=40), few, "local")


@pytest.mark.model
def test_one_server_for_one_file(gguf: Path) -> None:
    try:
        one = serve(gguf, n_ctx=512)
        assert serve(Path(gguf), n_ctx=512) is one
        model: Any = resolve(f"local:{gguf}", n_ctx=512, max_tokens=2)
        assert model.openai_api_base == one.base_url
        assert model.invoke("Hi").usage_metadata["output_tokens"] == 2
        one.stop()
        one.stop()
        with pytest.raises(ModelError, match="has been stopped"):
            one.chat_model()
        assert serve(gguf, n_ctx=512) is not one
    finally:
        stop_all()


@pytest.mark.slow
@pytest.mark.model
def test_a_program_that_used_it_ends(gguf: Path) -> None:
    program = (
        "import sys; from mrag.generation.models import resolve; "
        "model = resolve('local:' + sys.argv[1], n_ctx=256, max_tokens=2); "
        "sys.stdout.write(model.invoke('Hi').text)"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(gguf)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.fixture
def openai_at(local_server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_BASE_URL", local_server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", local_server.api_key)
    yield


@pytest.mark.model
@pytest.mark.usefixtures("openai_at")
def test_any_server_of_openais_protocol() -> None:
    with httpx.Client(limits=httpx.Limits(max_keepalive_connections=0)) as http:
        model: Any = resolve("openai:local", max_tokens=4, http_client=http)
        assert model.invoke("Hi").usage_metadata["output_tokens"] <= 4
