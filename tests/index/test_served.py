"""Embedding models on a server: the requests that each protocol has, over real HTTP."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from mrag.errors import ConfigError, ModelError
from mrag.index import embedder

DIM = 4


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("e")), float(sum(text.encode()) % 97), 1.0]


class Handler(BaseHTTPRequestHandler):
    """Answers as the documentation of each server has it, and notes what it was asked."""

    asked: list[tuple[str, Any, str | None]]
    failures: list[int]

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body, self.headers["Authorization"]))
        if self.failures:
            self.send_response(self.failures.pop(0))
            self.end_headers()
            return
        if self.path == "/v1/embeddings":
            data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(body["input"])]
            self.reply({"data": data[::-1]})
        else:
            self.reply({"embeddings": [vector(text) for text in body["input"]]})

    def reply(self, value: Any) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Handler]]]:
    handler = type("_Handler", (Handler,), {"asked": [], "failures": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{served.server_port}"
        monkeypatch.setenv("OLLAMA_HOST", url)
        monkeypatch.setenv("OPENAI_BASE_URL", url + "/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        yield url, handler
        served.shutdown()


def test_each_protocol_gives_the_vectors_of_the_texts_in_order(server: tuple[str, type[Handler]]) -> None:
    _, handler = server
    texts = [f"tree {n} {'e' * n}" for n in range(70)]
    expected = np.array([vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for name in ("ollama:bge-m3", "openai:text-embedding-3-small"):
        model = embedder(name)
        assert model is not None and model.name == name and model.dim == DIM
        assert np.allclose(model.embed_documents(texts), expected, atol=1e-6)
        assert np.allclose(model.embed_query(texts[3]), expected[3], atol=1e-6)
        assert model.embed_documents([]).shape == (0, DIM)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.embed_documents(["", "\ud800"]), model.embed_documents(["", "\ud800"]))
    bodies = [body for path, body, _ in handler.asked if path == "/api/embed"]
    assert {body["model"] for body in bodies} == {"bge-m3"} and max(len(b["input"]) for b in bodies) == 64
    assert {key for path, _, key in handler.asked if path == "/v1/embeddings"} == {"Bearer sk-x"}
    assert {key for path, _, key in handler.asked if path == "/api/embed"} == {None}


def test_a_family_gets_the_words_that_it_was_trained_with(server: tuple[str, type[Handler]]) -> None:
    model = embedder("openai:intfloat/multilingual-e5-small")
    assert model is not None and model.name == "openai:intfloat/multilingual-e5-small, prefixed"
    model.embed_query("Schuhe")
    model.embed_documents(["rote Schuhe"])
    asked = [body["input"] for _, body, _ in server[1].asked]
    assert asked == [["query: Schuhe"], ["passage: rote Schuhe"]]
    names = [embedder(name).name for name in ("ollama:bge-m3", "ollama:nomic-embed-text:v1.5")]  # type: ignore[union-attr]
    assert names == ["ollama:bge-m3", "ollama:nomic-embed-text:v1.5, prefixed"]


def test_what_passes_is_tried_again_and_what_does_not_is_told(server: tuple[str, type[Handler]]) -> None:
    _, handler = server
    model = embedder("ollama:bge-m3")
    assert model is not None
    handler.failures.extend([503, 429])
    assert model.embed_query("a").shape == (DIM,) and len(handler.asked) == 3
    handler.failures.append(404)
    with pytest.raises(ModelError, match="status 404"):
        model.embed_query("a")
    assert len(handler.asked) == 4
    with pytest.raises(ConfigError, match="names no model"):
        embedder("ollama:")
