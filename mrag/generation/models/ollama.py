"""What an Ollama server has, asked with care, and a client for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from mrag.config import is_loopback, ollama_host
from mrag.generation.prompts import NO_MODEL_NOTICE

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PREFERRED = (
    "llama3.2", "llama3.1", "llama3.3", "qwen3", "qwen2.5", "gemma3", "mistral", "phi4", "granite3.3",
    "mistral-nemo", "gemma2", "llama3", "phi3",
)  # fmt: skip
"""Ollama models that are taken first, when several are there and none is named."""

_QUICK = 0.3  # seconds within which Ollama must answer when nobody asked for it by name
_PATIENT = 5.0
_CONTEXT = 8192  # Ollama cuts prompts to 4096 tokens or less, silently, unless it is told
_EMBEDDING = re.compile(r"embed|minilm|\bbge\b|bge-|\be5\b|\bgte\b|bert|rerank", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What can be had under a name.

    Attributes:
        name: Name of the model; None when there is none.
        provider: `ollama`, `openai`, `local`, another provider of LangChain, or `none`.
        available: Whether the model can be used now.
        reason: Why not, in a sentence; empty when it can.
        hint: What to do about it.
        options: Settings that its client is made with.
    """

    name: str | None
    provider: str
    available: bool
    reason: str = ""
    hint: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def notice(self) -> str | None:
        """What an answer that is made without this model says of itself; None when it can be used."""
        if self.available:
            return None
        return " ".join(part for part in (self.reason, NO_MODEL_NOTICE) if part)

    def __str__(self) -> str:
        if self.available:
            return f"{self.provider}:{self.name}"
        return " ".join(part for part in (self.reason, self.hint) if part)


def _call(path: str, body: Mapping[str, Any] | None = None, *, timeout: float) -> Any:
    """Ask the Ollama server; an `OSError` or `ValueError` when it does not answer as it should."""
    url = ollama_host() + path
    data = None if body is None else json.dumps(body).encode()
    # Whose host it is says the environment.
    request = Request(url, data=data, headers={"Content-Type": "application/json"})  # noqa: S310
    # The standard opener would send loopback calls through a proxy from the environment.
    opener = build_opener(ProxyHandler({})) if is_loopback(url) else build_opener()
    with opener.open(request, timeout=timeout) as answer:
        return json.load(answer)


def _models(timeout: float) -> list[Mapping[str, Any]]:
    found = _call("/api/tags", timeout=timeout)
    models = found.get("models") if isinstance(found, dict) else None
    if not isinstance(models, list):
        raise ValueError("the answer is not that of an Ollama server")
    return [m for m in models if isinstance(m, dict) and isinstance(m.get("name", m.get("model")), str)]


def _name(model: Mapping[str, Any]) -> str:
    return str(model.get("name") or model.get("model"))


def _is_remote(model: Mapping[str, Any]) -> bool:
    return bool(model.get("remote_host") or model.get("remote_model")) or _name(model).endswith("cloud")


def _can_chat(model: Mapping[str, Any], timeout: float) -> bool:
    details = model.get("details")
    family = str(details.get("family", "")) if isinstance(details, dict) else ""
    if _EMBEDDING.search(_name(model)) or _EMBEDDING.search(family):
        return False
    try:
        shown = _call("/api/show", {"model": _name(model)}, timeout=timeout)
    except (OSError, ValueError):
        return True  # servers before 0.6 tell no capabilities
    capabilities = shown.get("capabilities") if isinstance(shown, dict) else None
    return not isinstance(capabilities, list) or "completion" in capabilities


def _unreachable(error: Exception) -> ModelStatus:
    host = ollama_host()
    if isinstance(error, HTTPError):
        error.close()
        what = f"{host} answered {error.code}, not as an Ollama server does."
    elif isinstance(error, OSError):
        what = f"No Ollama server answers at {host}."
    else:
        what = f"What answers at {host} is no Ollama server."
    return ModelStatus(
        None, "ollama", False, what, "Start it with `ollama serve`, or set OLLAMA_HOST to where it runs."
    )


def any_ollama() -> ModelStatus:
    """Return which chat model Ollama has, if it answers at once: a preferred one, else the first by name."""
    try:
        models = [m for m in _models(_QUICK) if not _is_remote(m)]
    except (OSError, ValueError) as error:
        return _unreachable(error)

    def rank(model: Mapping[str, Any]) -> tuple[int, str]:
        base = _name(model).partition(":")[0]
        return (PREFERRED.index(base) if base in PREFERRED else len(PREFERRED), _name(model))

    for model in sorted(models, key=rank):
        if _can_chat(model, _PATIENT):
            return _ollama_found(_name(model))
    return ModelStatus(
        None, "ollama", False, "Ollama runs, but has no chat model.", "Get one with `ollama pull llama3.2`."
    )


def ollama_model(name: str) -> ModelStatus:
    """Return whether Ollama has a model."""
    try:
        there = sorted(_name(model) for model in _models(_PATIENT))
    except (OSError, ValueError) as error:
        return _unreachable(error)
    for candidate in (name, f"{name}:latest"):
        if candidate in there:
            return _ollama_found(candidate)
    listed = f" It has: {', '.join(there)}." if there else ""
    return ModelStatus(
        name, "ollama", False, f"Ollama has no model {name}.", f"Get it with `ollama pull {name}`.{listed}"
    )


def _ollama_found(name: str) -> ModelStatus:
    return ModelStatus(name, "ollama", True, options={"temperature": 0, "seed": 0, "num_ctx": _CONTEXT})


def chat_ollama(name: str, settings: Mapping[str, Any]) -> BaseChatModel:
    """Return a client for a model of Ollama."""
    import httpx
    from langchain_ollama import ChatOllama

    host = ollama_host()
    if is_loopback(host):
        # No proxy on the way, and no idle connections, which a client never closes by itself.
        clients = {"trust_env": False, "limits": httpx.Limits(max_keepalive_connections=0)}
        settings = {**settings, "client_kwargs": {**clients, **settings.get("client_kwargs", {})}}
    return ChatOllama(model=name, base_url=host, **settings)
