"""A loopback server that speaks Ollama's protocol, in front of a real small model.

What a test must script or see of a request goes here: the real clients (`ollama`, `langchain-ollama`)
are tested against this: /api/tags, /api/show and /api/chat, in one piece and as a stream of
JSON lines, with Ollama's errors. Every body it sends is first read by the
response classes of the `ollama` package, and may hold no field that they do not know. Text comes from
llama.cpp by its OpenAI-shaped endpoint. Images are decoded and kept for the test to see, but the model
behind has no eyes: only the text goes on.
"""

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import httpx
from ollama import ChatResponse, ListResponse, ShowResponse
from pydantic import BaseModel

from mrag.generation.models import LocalServer
from tests.cases import cases
from tests.servers import Quiet, answering

_SAMPLING = {"temperature": "temperature", "seed": "seed", "num_predict": "max_tokens", "stop": "stop",
             "top_p": "top_p", "top_k": "top_k"}  # fmt: skip


@dataclass(frozen=True)
class Served:
    """A model as the server lists it."""

    name: str
    family: str = "llama"
    capabilities: Sequence[str] = ("completion",)
    remote_host: str = ""


class ProtocolError(Exception):
    """A request that Ollama answers with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class OllamaServer:
    """Serves until it is closed; `url` is for OLLAMA_HOST."""

    models: Sequence[Served] = ()  # What /api/tags lists
    chat: LocalServer | None = None  # A running llama.cpp server for chat; without it only the lists work
    delay: float = 0.0  # Seconds to wait before each answer
    old: bool = False  # Answer as servers did before they told capabilities
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    images: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._open = ExitStack()
        self.url = f"http://{self._open.enter_context(answering(Handler))}"

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def find(self, body: Mapping[str, Any]) -> Served:
        name = body.get("model") or body.get("name") or ""
        for served in self.models:
            if name in (served.name, served.name.removesuffix(":latest")):
                return served
        raise ProtocolError(404, f"model '{name}' not found")

    def tags(self) -> dict[str, Any]:
        def tag(served: Served) -> dict[str, Any]:
            digest = hashlib.sha256(served.name.encode()).hexdigest()
            own = {"name": served.name, "model": served.name, "digest": digest, "details": details(served)}
            remote = {"remote_host": served.remote_host} if served.remote_host else {}
            return {**cases(__file__, "tag"), **own, **remote}

        return checked(ListResponse, {"models": [tag(served) for served in self.models]})

    def show(self, body: Mapping[str, Any]) -> dict[str, Any]:
        served = self.find(body)
        info = {"general.architecture": served.family}
        own = {"modelfile": f"FROM {served.name}", "details": details(served), "model_info": info}
        shown = {**cases(__file__, "shown"), **own}
        if not self.old:
            shown["capabilities"] = list(served.capabilities)
        return checked(ShowResponse, shown)

    def talk(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Answer /api/chat piece by piece; the last piece has the counts."""
        served = self.find(body)
        if "completion" not in served.capabilities:
            raise ProtocolError(400, f'"{served.name}" does not support chat')
        if self.chat is None:
            raise ProtocolError(500, "no model is loaded behind this test server")
        started = time.perf_counter_ns()

        messages = self._messages(body)
        counts: dict[str, Any] = {}
        reason = "stop"
        for chunk in self._stream(self.chat, {**self._settings(body), "messages": messages}):
            counts = chunk.get("usage") or counts
            for choice in chunk.get("choices", []):
                text = choice.get("delta", {}).get("content")
                reason = choice.get("finish_reason") or reason
                if text:
                    yield piece(served, text)
        took = time.perf_counter_ns() - started
        read, said = counts.get("prompt_tokens", 0), counts.get("completion_tokens", 0)
        yield last(served, reason=reason, took=took, read=read, said=said)

    def _messages(self, body: Mapping[str, Any]) -> list[dict[str, str]]:
        messages = []
        for message in body.get("messages") or []:
            self.images += [base64.b64decode(image, validate=True) for image in message.get("images") or ()]
            messages.append({"role": message["role"], "content": message.get("content") or ""})
        return messages

    @staticmethod
    def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
        options = body.get("options") or {}
        asked = {ours: options.get(theirs) for theirs, ours in _SAMPLING.items()}
        found = {name: value for name, value in asked.items() if value is not None}
        wanted = body.get("format")
        if wanted == "json":
            found["response_format"] = {"type": "json_object"}
        elif isinstance(wanted, dict):
            schema = {"name": "format", "schema": wanted, "strict": True}
            found["response_format"] = {"type": "json_schema", "json_schema": schema}
        return found

    @staticmethod
    def _stream(server: LocalServer, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        request = {**body, "model": "local", "stream": True, "stream_options": {"include_usage": True}}
        headers = {"Authorization": f"Bearer {server.api_key}"}
        with httpx.stream(
            "POST", f"{server.base_url}/chat/completions", json=request, headers=headers, timeout=120
        ) as answer:
            if answer.status_code != 200:
                raise ProtocolError(500, answer.read().decode(errors="replace"))
            for row in answer.iter_lines():
                if row.startswith("data: ") and row != "data: [DONE]":
                    yield json.loads(row.removeprefix("data: "))


def details(served: Served) -> dict[str, Any]:
    return {**cases(__file__, "details"), "family": served.family, "families": [served.family]}


def piece(served: Served, text: str = "", **more: Any) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    message = {"role": "assistant", "content": text}
    made = {"model": served.name, "created_at": now, "message": message, "done": False}
    return checked(ChatResponse, {**made, **more})


def last(
    served: Served, text: str = "", *, reason: str = "stop", took: int = 2, read: int = 1, said: int = 1
) -> dict[str, Any]:
    """The piece that ends an answer."""
    counts = {"prompt_eval_count": read, "prompt_eval_duration": took // 2}
    counts |= {"eval_count": said, "eval_duration": took // 2, "total_duration": took, "load_duration": 1}
    return piece(served, text, done=True, done_reason=reason, **counts)


def checked(cls: type[BaseModel], body: dict[str, Any]) -> dict[str, Any]:
    """Read a body by the class that the client will read it by, and look for fields it does not know."""
    cls.model_validate(body)
    known = {name for n, f in cls.model_fields.items() for name in (n, f.alias)}
    assert set(body) <= known, set(body) - known
    if cls is ListResponse:
        fields = {*ListResponse.Model.model_fields, "name", "remote_host"}
        assert all(set(model) <= fields for model in body["models"])
    return body


def in_one(pieces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Join the pieces of a stream as the server does when no stream is wanted."""
    text = "".join(p["message"]["content"] for p in pieces)
    return checked(ChatResponse, {**pieces[-1], "message": {"role": "assistant", "content": text}})


class _Handler(Quiet):
    protocol_version = "HTTP/1.1"
    server_of: "OllamaServer"

    def do_GET(self) -> None:
        server = self.server_of
        time.sleep(server.delay)
        if self.path == "/api/tags":
            server.requests.append((self.path, {}))
            self._json(200, server.tags())
        else:
            self._json(404, None)

    def do_POST(self) -> None:
        server = self.server_of
        time.sleep(server.delay)
        body = json.loads(self.body() or b"{}")
        server.requests.append((self.path, body))
        try:
            if self.path == "/api/show":
                self._json(200, server.show(body))
            elif self.path == "/api/chat":
                pieces = server.talk(body)
                if body.get("stream", True):
                    self._lines(pieces)
                else:
                    self._json(200, in_one(list(pieces)))
            else:
                self._json(404, None)
        except ProtocolError as error:
            self._json(error.code, {"error": str(error)})

    def _json(self, code: int, body: dict[str, Any] | None) -> None:
        raw = b"404 page not found" if body is None else json.dumps(body).encode()
        self.answer(code, raw, "text/plain" if body is None else "application/json; charset=utf-8")

    def _lines(self, pieces: Iterator[dict[str, Any]]) -> None:
        first = next(pieces)  # an error before the first piece is still an answer of its own
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._chunk(first)
        try:
            for piece in pieces:
                self._chunk(piece)
        except ProtocolError as error:
            self._chunk({"error": str(error)})
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, piece: dict[str, Any]) -> None:
        raw = json.dumps(piece).encode() + b"\n"
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()
