"""A real server on a free loopback port: in this process, or the command; and a model that writes slowly."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from mrag.graph.kg import KnowledgeGraph
from tests.server.conftest import running
from tests.servers import Quiet, answering


@contextmanager
def serving(kg: KnowledgeGraph, **settings: Any) -> Iterator[str]:
    """Serve a knowledge graph with time enough for a page, and give the server's address."""
    with running(kg, **{"seconds": 30.0, **settings}) as server:
        yield server.url


@contextmanager
def command(
    *arguments: str, hard: int = 0, said: Path | None = None, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `mrag serve`, under a limit of memory unless it is 0, and give the process and its address."""
    limited = ["sh", "-c", f'ulimit -d {hard >> 10}; exec "$@"', "sh"] if hard else []
    with said.open("wb") if said else TemporaryFile() as errors:
        process = subprocess.Popen(
            [*limited, sys.executable, "-m", "mrag", "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **environment},
        )  # fmt: skip
        try:
            line = process.stdout.readline()
            assert line.startswith("SPARQL"), f"It ended with {process.wait()}"
            yield process, line.split()[1].removesuffix("/sparql")
        finally:
            process.kill()
            process.communicate()


@contextmanager
def talking(monkeypatch: pytest.MonkeyPatch, *, breaks: bool = False) -> Iterator[threading.Event]:
    """Serve a language model `openai:m`, and give the event that it waits for in the middle of its answer."""
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    handler = type("Handler", (_Talker,), {"go_on": threading.Event(), "breaks": breaks})
    with answering(handler) as at:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{at}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        try:
            yield handler.go_on
        finally:
            handler.go_on.set()


class _Talker(Quiet):
    """Speaks OpenAI's protocol: two pieces of text, then it waits, and goes on or breaks off."""

    go_on: threading.Event
    breaks: bool

    def do_POST(self) -> None:
        self.body()
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
        about = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        self.wfile.write(b"data: " + json.dumps({**about, "choices": [choice]}).encode() + b"\n\n")
        self.wfile.flush()
