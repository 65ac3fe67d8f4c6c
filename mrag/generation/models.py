"""Language models: from a name to a chat model or the reason why there is none, and calls of it.

    None, "auto"      Ollama if it runs and has a chat model, else no model
    "none"            no model
    "ollama:NAME"     a model of the Ollama server at OLLAMA_HOST
    "openai:NAME"     OpenAI, or any server that speaks its protocol at OPENAI_BASE_URL
    "local:PATH.gguf" a model file, served in this process
    "PROVIDER:NAME"   any other provider of LangChain

Nothing is ever sent to a host that the user has not named: on its own, `mrag` only looks at the loopback
interface, passes by proxies there, and leaves out models that Ollama forwards to its cloud.
"""

from __future__ import annotations

import atexit
import json
import logging
import math
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from ssl import SSLError
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from mrag import untrusted
from mrag._patterns import compile_late
from mrag.config import is_loopback, ollama_host
from mrag.errors import ModelError, MragError
from mrag.redaction import brief, hide_in_logs
from mrag.tracing import span

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_openai import ChatOpenAI

logger = logging.getLogger(__name__)
T = TypeVar("T")

WAITING = logging.getLogger("mrag.waiting")  # Tells what is being waited for; the commands show it
_SILENT: Final = 5.0  # seconds
_PATIENCE: Final = 20.0  # seconds in which a model shall have read the facts
_LEAST_READ: Final = 512  # tokens of facts that every model is given
_speeds: dict[tuple[str, str], float] = {}  # tokens a second, by the model and where it runs
_MAX_TRIES: Final = 64
_START: Final = compile_late(r"[{\[]")
_COMMA: Final = compile_late(r",(\s*[\]}])")
_DOCTOR: Final = "Run `mrag doctor` to see which models can be had, or use --model none."


def model_name(model: BaseChatModel) -> str:
    """Return the name under which a chat model runs, as far as it tells; else that of its class."""
    for attribute in ("model", "model_name", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


@contextmanager
def model_errors(model: BaseChatModel, hint: str = _DOCTOR) -> Iterator[threading.Event]:
    """Turn what a client of a chat model raises into an error of our own, and say when it is waited for long.

    The event is set when the model is heard of; until then, or the end, the log tells that it is waited for.
    """
    heard = threading.Event()
    threading.Thread(target=_tell, args=(model_name(model), heard), daemon=True).start()
    try:
        with span("mrag.generate", {"mrag.model": model_name(model)}, current=False):
            yield heard
    except MragError:
        raise
    except Exception as error:  # each client has its own errors; all mean that the model gave no answer
        what = brief(str(error), 500) or type(error).__name__
        raise ModelError(
            f"The language model {model_name(model)} did not answer: {what}", hint=hint
        ) from error
    finally:
        heard.set()


def _tell(name: str, heard: threading.Event) -> None:
    seconds = _SILENT
    while not heard.wait(seconds if seconds == _SILENT else seconds / 2):
        WAITING.warning("Waiting for the language model %s (%.0f s so far)", name, seconds)
        seconds *= 2


def invoke(model: BaseChatModel, messages: Sequence[BaseMessage], hint: str = _DOCTOR) -> str:
    """Return what a chat model answers, as text."""
    with model_errors(model, hint):
        said = model.invoke(list(messages))
        check_read(model, said)
        return str(said.text)


def room(model: BaseChatModel, wanted: int) -> tuple[int, float]:
    """Return how many tokens of facts a model is given, at most those wanted, and how many it reads a second.

    This is measured once, for models that run on processors of one's own, by words that none of them has read
    before. What is given is a power of two, so that small differences change no answer.
    """
    # Ollama, or a model file that is served in this process: other servers are others' business.
    own = getattr(model, "num_ctx", None) is not None or getattr(model, "model_name", "") == "local"
    where = str(getattr(model, "base_url", None) or getattr(model, "openai_api_base", None) or "")
    if wanted <= _LEAST_READ or not own:
        return wanted, 0.0
    key = model_name(model), where
    if key not in _speeds:
        from langchain_core.messages import HumanMessage

        began = time.perf_counter()
        with model_errors(model):
            said = bound(model, 1).invoke([HumanMessage(" ".join(secrets.token_hex(2) for _ in range(40)))])
        took = said.response_metadata.get("prompt_eval_duration", 0) / 1e9 or time.perf_counter() - began
        _speeds[key] = (said.usage_metadata or {"input_tokens": wanted})["input_tokens"] / took
    most = max(_LEAST_READ, 1 << int(math.log2(max(1.0, _speeds[key] * _PATIENCE))))
    return min(wanted, most), _speeds[key]


def check_read(model: BaseChatModel, said: BaseMessage | None) -> None:
    """Refuse what was written by a model that has not read all: Ollama cuts what is too long, silently."""
    usage, most = getattr(said, "usage_metadata", None), getattr(model, "num_ctx", None)
    if usage and most and usage["input_tokens"] >= most:
        what = f"The question and its facts have more tokens than {model_name(model)} reads, {most}."
        raise ModelError(what, hint="Have fewer facts read (--budget), or take a model that reads more.")


def bound(model: BaseChatModel, tokens: int) -> BaseChatModel:
    """Return a chat model that writes no more than some tokens, where its client has a setting for that."""
    known = [name for name in ("max_tokens", "num_predict") if name in type(model).model_fields]
    return model.model_copy(update=dict.fromkeys(known[:1], tokens)) if known else model


def invoke_json(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: Mapping[str, Any]
) -> tuple[str, Any]:
    """Return what a chat model answers: its text and, where its server can be held to a schema, a value."""
    try:
        held = model.with_structured_output(dict(schema), include_raw=True)
        given = cast("dict[str, Any]", held.invoke(list(messages)))
        return str(given["raw"].text), given.get("parsed")
    except Exception as error:  # not to be had, or cut off by the limit of tokens: asked as text then
        logger.debug("no structured output: %s", error)
    return invoke(model, messages), None


_REPAIR: Final = """\
That cannot be used: {error}
Answer with JSON alone, in the form given."""


def invoke_repaired(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    schema: Mapping[str, Any],
    read: Callable[[str, Any], tuple[T | None, str]],
) -> tuple[T | None, str]:
    """Ask a model for JSON of a schema, and once more where what it gives cannot be used.

    `read` makes of a text and its value, if the model's server has read one, what can be used, and says what
    is wrong; of the last answer both are returned.
    """
    text, value = invoke_json(model, messages, schema)
    result, problem = read(text, value)
    if problem:
        from langchain_core.messages import AIMessage, HumanMessage

        request = _REPAIR.replace("{error}", untrusted.one_line(problem))
        again = [*messages, AIMessage(untrusted.lines(text) or "…"), HumanMessage(request)]
        text, value = invoke_json(model, again, schema)
        better, problem = read(text, value)
        result = better or result
    return result, problem


def json_values(text: str, *, quotes: bool = False) -> Iterator[Any]:
    """Yield the outermost JSON objects and lists in a text, whatever stands around them.

    Commas before closing brackets, which models write, are passed over.
    """
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MAX_TRIES):
        match = _START.search(text, at)
        if match is None:
            return
        at = match.start()
        mended = _COMMA.sub(r"\1", text[at:])
        if quotes:
            mended = mended.replace("“", '"').replace("”", '"')
        for form in (text[at:], mended):
            try:
                value, used = decoder.raw_decode(form)
            except (ValueError, RecursionError):
                continue
            yield value
            at += used - 1
            break
        at += 1


_INSTALL = "pip install 'mrag[local]'"
_MAGIC = b"GGUF"
_servers: dict[tuple[Path, int, int], LocalServer] = {}
_lock = threading.Lock()


def check(path: str | Path) -> Path:
    """Return whether a file can be served, before anything is loaded."""
    file = Path(path).expanduser()
    if not file.is_file():
        hint = "Write local:PATH.gguf with the path of a model in GGUF format."
        raise ModelError(f"There is no file {file}.", hint=hint)
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.", hint="Check its rights.") from error
    if magic != _MAGIC:
        hint = "Models for llama.cpp have names ending in .gguf."
        raise ModelError(f"{file} is not a model in GGUF format.", hint=hint)
    for module in ("xllamacpp", "langchain_openai"):
        if find_spec(module) is None:
            raise ModelError(f"{module} is not installed, and model files need it.", hint=_INSTALL)
    return file.resolve()


class LocalServer:
    """Serves one model file until it is stopped, or the process ends.

    Args:
        path: A model in GGUF format.
        n_ctx: Most tokens of prompt and answer together.
        n_threads: Threads for the arithmetic. More than there are idle cores makes it many times slower.

    Raises:
        ModelError: If the file or a package is missing, or llama.cpp cannot load the model.
    """

    def __init__(self, path: str | Path, *, n_ctx: int = 8192, n_threads: int = 1) -> None:
        self.path = check(path)
        self.n_ctx = n_ctx
        self.api_key = secrets.token_urlsafe(24)
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = n_ctx
        params.n_parallel = 1
        params.port = 0
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [self.api_key]
        params.cors_origins = ""
        params.ui = False
        params.endpoint_slots = False
        params.endpoint_metrics = True
        params.verbosity = 0
        params.cpuparams.n_threads = n_threads
        params.cpuparams_batch.n_threads = n_threads
        try:
            self._server: Any = xllamacpp.Server(params)
            # A server that is stopped before its loop has begun waits for ever; this answer comes from
            # the loop.
            self._server.handle_metrics()
        except (RuntimeError, ValueError, MemoryError) as error:
            hint = "The file may be cut short, of a newer format, or too large for the memory."
            raise ModelError(f"llama.cpp cannot load {self.path}: {error}", hint=hint) from error
        self.base_url = f"{self._server.listening_address}/v1"

    @property
    def running(self) -> bool:
        """Whether the server still listens."""
        return self._server is not None

    def chat_model(self, **options: Any) -> ChatOpenAI:
        """Return a client of LangChain for the model, with temperature 0 and a fixed seed unless told else.

        Structured output works by JSON schema, its default; models this small call no tools.

        Raises:
            ModelError: If the server has been stopped.
        """
        if not self.running:
            raise ModelError(f"The server of {self.path} has been stopped.", hint="Open it again.")
        import httpx
        from langchain_openai import ChatOpenAI
        from pydantic import SecretStr

        # Calls to this machine must not go through a proxy from the environment. Idle connections would
        # stay open until the process ends, since a chat model has no way to be closed.
        limits = httpx.Limits(max_keepalive_connections=0)
        settings: dict[str, Any] = {
            "temperature": 0,
            "seed": 0,
            "max_retries": 0,
            # Our own child answers, which a small machine may take minutes for.
            "http_client": httpx.Client(trust_env=False, timeout=None, limits=limits),  # noqa: S113
            "http_async_client": httpx.AsyncClient(trust_env=False, timeout=None, limits=limits),  # noqa: S113
            **options,
        }
        return ChatOpenAI(base_url=self.base_url, api_key=SecretStr(self.api_key), model="local", **settings)

    def stop(self) -> None:
        """Stop the server and free the model's memory; harmless when it has been done."""
        self._server = None  # llama.cpp shuts down with its last reference

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(path: str | Path, *, n_ctx: int = 8192, n_threads: int = 1) -> LocalServer:
    """Return the server of a model file, starting it unless this process already runs it."""
    key = (check(path), n_ctx, n_threads)
    with _lock:
        known = _servers.get(key)
        if known is None or not known.running:
            known = _servers[key] = LocalServer(path, n_ctx=n_ctx, n_threads=n_threads)
        return known


def stop_all() -> None:
    """Stop every server that `serve` started."""
    with _lock:
        while _servers:
            _servers.popitem()[1].stop()


atexit.register(stop_all)


PREFERRED = (
    "llama3.2", "llama3.1", "llama3.3", "qwen3", "qwen2.5", "gemma3", "mistral", "phi4", "granite3.3",
    "mistral-nemo", "gemma2", "llama3", "phi3",
)  # fmt: skip
"""Ollama models that are taken first, when several are there and none is named."""

_QUICK = 0.3  # seconds within which Ollama must answer when nobody asked for it by name
_PATIENT = 5.0
_CONTEXT = 8192  # Ollama cuts prompts to 4096 tokens or less, silently, unless it is told
_EMBEDDING = compile_late(r"embed|minilm|\bbge\b|bge-|\be5\b|\bgte\b|bert|rerank", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What can be had under a name."""

    name: str | None  # Name of the model; None when there is none
    provider: str  # `ollama`, `openai`, `local`, another provider of LangChain, or `none`
    available: bool  # Whether the model can be used now
    reason: str = ""  # Why not, in a sentence
    hint: str = ""  # What to do about it
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # Of its client

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
    reply = _call("/api/tags", timeout=timeout)
    models = reply.get("models") if isinstance(reply, dict) else None
    if not isinstance(models, list):
        raise ValueError("the answer is not that of an Ollama server")
    return [m for m in models if isinstance(m, dict) and isinstance(m.get("name", m.get("model")), str)]


def _name(model: Mapping[str, Any]) -> str:
    return str(model.get("name") or model.get("model"))


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
    what = f"No Ollama server answers at {host}."
    if isinstance(error, HTTPError):
        error.close()
        what = f"{host} answered {error.code}, not as an Ollama server does."
    elif not isinstance(error, OSError):
        what = f"What answers at {host} is no Ollama server."
    hint = "Start it with `ollama serve`, or set OLLAMA_HOST to where it runs."
    scheme, _, rest = host.partition("://")
    server, slash, path = rest.partition("/")
    if isinstance(getattr(error, "reason", None), SSLError):
        what, hint = f"{host} cannot be had over https: {brief(str(error), 200)}.", ""
        if "WRONG_VERSION" in str(error) or "record layer" in str(error):
            what, hint = f"{server} speaks http, not https.", f"Write OLLAMA_HOST=http://{rest}."
    elif slash and isinstance(error, (HTTPError, ValueError)):
        hint = f"Ollama's own address has no path, such as /{path}: write OLLAMA_HOST={scheme}://{server}."
    return ModelStatus(None, "ollama", False, what, hint)


def any_ollama() -> ModelStatus:
    """Return which chat model Ollama has, if it answers at once: a preferred one, else the first by name."""
    try:
        # Not those that are elsewhere.
        models = [
            m
            for m in _models(_QUICK)
            if not (m.get("remote_host") or m.get("remote_model") or _name(m).endswith("cloud"))
        ]
    except (OSError, ValueError) as error:
        return _unreachable(error)

    def rank(model: Mapping[str, Any]) -> tuple[int, str]:
        base = _name(model).partition(":")[0]
        return (PREFERRED.index(base) if base in PREFERRED else len(PREFERRED), _name(model))

    for model in sorted(models, key=rank):
        if _can_chat(model, _PATIENT):
            return _ask_ollama(_name(model))
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
            return _ask_ollama(candidate)
    listed = f" It has: {', '.join(there)}." if there else ""
    return ModelStatus(
        name, "ollama", False, f"Ollama has no model {name}.", f"Get it with `ollama pull {name}`.{listed}"
    )


def _ask_ollama(name: str) -> ModelStatus:
    try:
        about = _call("/api/show", {"model": name}, timeout=_PATIENT)["model_info"]
    except (OSError, ValueError, KeyError, TypeError):
        about = {}
    # Of what a model has not learnt to read, Ollama cuts the rest, too.
    room = [most for key, most in about.items() if key.endswith(".context_length")]
    most = min([_CONTEXT, *room])
    return ModelStatus(name, "ollama", True, options={"temperature": 0, "seed": 0, "num_ctx": most})


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


_REASONING = compile_late(r"(?:o\d|gpt-5)\b")  # of OpenAI's; they take no temperature


def status(name: str | None = None) -> ModelStatus:
    """Return what can be had under a name, without loading anything.

    Args:
        name: As for `resolve`.

    Returns:
        The status. Only Ollama's server is asked, and only where the name leads to it.
    """
    text = (name or "").strip() or "auto"
    if text == "auto":
        wanted = os.environ.get("MRAG_MODEL", "").strip()
        return any_ollama() if wanted in ("", "auto") else status(wanted)
    if text == "none":
        return ModelStatus(
            None, "none", False, "", "Name a model with --model to have answers in free words."
        )
    provider, colon, rest = text.partition(":")
    if text.endswith(".gguf") and provider != "local":
        provider, rest = "local", text
    elif not colon:
        provider, rest = "ollama", text
    known = {"ollama": ollama_model, "openai": _openai, "local": _local}
    if not rest.strip():
        return ModelStatus(None, provider, False, f"{text!r} names no model.", f"Write {provider}:NAME.")
    return known[provider](rest.strip()) if provider in known else _other(provider, rest.strip())


def resolve(name: str | BaseChatModel | None = None, **options: Any) -> BaseChatModel | None:
    """Turn a name into a chat model of LangChain.

    Args:
        name: A name as the head of this module lists them, or a chat model, which is returned as it is.
        options: Settings of the client, beside or instead of temperature 0 and a fixed seed.

    Returns:
        The model; None for "none", and for "auto" when no Ollama answers.

    Raises:
        ModelError: If a model that was named cannot be had, with what to do about it.

    Example:
        >>> resolve("none") is None
        True
        >>> resolve("local:/no/such/file.gguf")
        Traceback (most recent call last):
        mrag.errors.ModelError: There is no file /no/such/file.gguf. ...
    """
    if name is not None and not isinstance(name, str):
        return name
    state = status(name)
    if not state.available:
        by_default = (name or "").strip() in ("", "auto") and os.environ.get("MRAG_MODEL", "") in ("", "auto")
        if state.provider == "none" or by_default:
            return None
        raise ModelError(state.reason, hint=state.hint)
    settings = {**state.options, **options}
    if state.provider == "ollama":
        return chat_ollama(str(state.name), settings)
    if state.provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=str(state.name), **settings)
    if state.provider == "local":
        options = {name: settings.pop(name) for name in ("n_ctx", "n_threads") if name in settings}
        return serve(str(state.name), **options).chat_model(**settings)
    return _chat_other(state.provider, str(state.name), settings)


def is_named(name: object) -> bool:
    """Return whether a name is that of one model, rather than of any or none."""
    return isinstance(name, str) and name.strip() not in ("", "auto", "none")


def check_model(name: object) -> None:
    """Make sure that a model that was named is there, also where the answer may need none."""
    if not isinstance(name, str) or not is_named(name):
        return
    state = status(name)
    if not state.available:
        raise ModelError(state.reason, hint=state.hint)
    if state.provider not in ("ollama", "openai", "local"):
        resolve(name)  # only LangChain itself knows its providers


# --- Others ---------------------------------------------------------------------------------------------


def _openai(name: str) -> ModelStatus:
    if find_spec("langchain_openai") is None:
        return ModelStatus(
            name, "openai", False, "langchain-openai is not installed.", "pip install 'mrag[openai]'"
        )
    base, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    if not key and not base:
        hint = "Set it, or set OPENAI_BASE_URL to a server of your own."
        return ModelStatus(name, "openai", False, "OPENAI_API_KEY is not set.", hint)
    options: dict[str, Any] = {} if _REASONING.match(name) else {"temperature": 0, "seed": 0}
    if base:
        hide_in_logs("httpx", "httpx2", "openai._base_client")
        options["base_url"] = base
    if not key:
        options["api_key"] = "none"  # a server of one's own mostly asks for no key, but the client does
    return ModelStatus(name, "openai", True, options=options)


def _local(path: str) -> ModelStatus:
    file = Path(path).expanduser()
    try:
        check(file)
    except ModelError as error:
        return ModelStatus(str(file), "local", False, error.message, error.hint or "")
    return ModelStatus(str(file), "local", True)


def _other(provider: str, name: str) -> ModelStatus:
    meant = f" For a model of Ollama, write ollama:{provider}:{name}."
    if find_spec("langchain") is None:
        package = f"pip install langchain langchain-{provider.replace('_', '-')}."
        return ModelStatus(
            name, provider, False, f"The provider {provider!r} needs LangChain itself.", package + meant
        )
    return ModelStatus(name, provider, True, options={"temperature": 0})


def _chat_other(provider: str, name: str, settings: Mapping[str, Any]) -> BaseChatModel:
    init_chat_model = import_module("langchain.chat_models").init_chat_model
    try:
        model: BaseChatModel = init_chat_model(name, model_provider=provider, **settings)
    except Exception as error:  # unknown provider, missing package, missing key: each has its own error
        hint = f"For a model of Ollama, write ollama:{provider}:{name}."
        raise ModelError(f"LangChain gives no model {provider}:{name}: {error}", hint=hint) from error
    return model
