"""A real server on a free loopback port, for the tests of the API and the page."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import uvicorn

from mrag.graph.kg import KnowledgeGraph
from mrag.server.running import create_app
from mrag.server.settings import ServerSettings


@contextmanager
def serving(kg: KnowledgeGraph, settings: ServerSettings | None = None) -> Iterator[str]:
    """Serve a knowledge graph as `mrag serve` does, and give the server's address."""
    app = create_app(kg, settings or ServerSettings(model="none"))
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="warning", ws="none", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"


@contextmanager
def talking(monkeypatch: pytest.MonkeyPatch, *, breaks: bool = False) -> Iterator[threading.Event]:
    """Serve a language model `openai:m`, and give the event that it waits for in the middle of its answer.

    Args:
        monkeypatch: Sets the environment.
        breaks: Whether it breaks off there.
    """
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    handler = type("Handler", (_Talker,), {"go_on": threading.Event(), "breaks": breaks})
    talker = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    talker.daemon_threads = True
    thread = threading.Thread(target=talker.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{talker.server_address[1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    try:
        yield handler.go_on
    finally:
        handler.go_on.set()
        talker.shutdown()
        talker.server_close()
        thread.join(10)


class _Talker(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol: two pieces of text, then it waits, and goes on or breaks off."""

    go_on: threading.Event
    breaks: bool

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for text in ("GraphDB is developed ", "by Ontotext."):
            self._piece(text)
        self.go_on.wait(20)
        if self.breaks:
            return
        # Whoever stopped the answer has hung up by now.
        with suppress(ConnectionError):
            self._piece(" Ontotext is in Bulgaria.")
            self.wfile.write(b"data: [DONE]\n\n")

    def _piece(self, text: str) -> None:
        choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
        chunk = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [choice],
        }
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()
