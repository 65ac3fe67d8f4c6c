"""A model file, served in this process by llama.cpp.

The server listens on the loopback interface, on a free port and behind a key of its own, so that neither
other users' programs nor web pages can use it. It speaks OpenAI's protocol; `ChatOpenAI` is the client.
"""

from __future__ import annotations

import atexit
import secrets
import threading
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mrag.errors import ModelError

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

_INSTALL = "pip install 'mrag[local]'"
_MAGIC = b"GGUF"
_servers: dict[tuple[Path, int, int, bool], LocalServer] = {}
_addresses: set[str] = set()
_lock = threading.Lock()


def check(path: str | Path) -> Path:
    """Return whether a file can be served, before anything is loaded.

    Returns:
        The file's absolute path, links followed.

    Raises:
        ModelError: If it is missing or no GGUF file, or llama.cpp is not installed.

    Example:
        >>> check("/no/such/file.gguf")
        Traceback (most recent call last):
        mrag.errors.ModelError: There is no file /no/such/file.gguf. ...
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise ModelError(
            f"There is no file {file}.", hint="Write local:PATH.gguf with the path of a model in GGUF format."
        )
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.", hint="Check its rights.") from error
    if magic != _MAGIC:
        raise ModelError(
            f"{file} is not a model in GGUF format.", hint="Models for llama.cpp have names ending in .gguf."
        )
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
        embedding: Serve embeddings, mean-pooled, instead of chat.

    Raises:
        ModelError: If the file or a package is missing, or llama.cpp cannot load the model.

    Example:
        >>> with LocalServer("model.gguf") as server:  # doctest: +SKIP
        ...     server.chat_model().invoke("Hello")
    """

    def __init__(
        self, path: str | Path, *, n_ctx: int = 8192, n_threads: int = 1, embedding: bool = False
    ) -> None:
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
        if embedding:
            params.embedding = True
            params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        try:
            self._server: Any = xllamacpp.Server(params)
            # A server that is stopped before its loop has begun waits for ever; this answer comes from
            # the loop.
            self._server.handle_metrics()
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ModelError(
                f"llama.cpp cannot load {self.path}: {error}",
                hint="The file may be cut short, of a newer format, or too large for the memory.",
            ) from error
        self.base_url = f"{self._server.listening_address}/v1"
        _addresses.add(self.base_url)

    @property
    def running(self) -> bool:
        """Whether the server still listens."""
        return self._server is not None

    def chat_model(self, **options: Any) -> ChatOpenAI:
        """Return a client of LangChain for the model.

        Args:
            options: Settings of `ChatOpenAI`, beside or instead of temperature 0 and a fixed seed.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def serve(path: str | Path, *, n_ctx: int = 8192, n_threads: int = 1, embedding: bool = False) -> LocalServer:
    """Return the server of a model file, starting it unless this process already runs it.

    Args:
        path: A model in GGUF format.
        n_ctx: As for `LocalServer`, and so the others.
        n_threads: Servers with other settings are servers of their own.
        embedding: Serve embeddings.

    Raises:
        ModelError: As `LocalServer` does.
    """
    key = (check(path), n_ctx, n_threads, embedding)
    with _lock:
        known = _servers.get(key)
        if known is None or not known.running:
            known = _servers[key] = LocalServer(path, n_ctx=n_ctx, n_threads=n_threads, embedding=embedding)
        return known


def local_model(path: str | Path, *, n_ctx: int = 8192, n_threads: int = 1, **options: Any) -> ChatOpenAI:
    """Return a chat model for a model file, from the process-wide server of that file.

    Args:
        path: A model in GGUF format.
        n_ctx: Most tokens of prompt and answer together.
        n_threads: Threads for the arithmetic.
        options: Settings of `ChatOpenAI`.

    Raises:
        ModelError: As `LocalServer` does.
    """
    return serve(path, n_ctx=n_ctx, n_threads=n_threads).chat_model(**options)


def takes_grammar(model: object) -> bool:
    """Return whether a chat model is one of ours, which a grammar in llama.cpp's notation can hold.

    Args:
        model: A chat model; the grammar goes into `extra_body` of a call, under `grammar`.
    """
    return getattr(model, "openai_api_base", None) in _addresses


def stop_all() -> None:
    """Stop every server that `serve` started."""
    with _lock:
        while _servers:
            _servers.popitem()[1].stop()


atexit.register(stop_all)
