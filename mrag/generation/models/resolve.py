"""From a name to a chat model, or to the reason why there is none.

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

import os
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mrag.errors import ModelError
from mrag.generation.models.ollama import ModelStatus, any_ollama, chat_ollama, ollama_model
from mrag.redaction import hide_in_logs

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_REASONING = re.compile(r"(?:o\d|gpt-5)\b")  # of OpenAI's; they take no temperature


def status(name: str | None = None) -> ModelStatus:
    """Return what can be had under a name, without loading anything.

    Args:
        name: As for `resolve`.

    Returns:
        The status. Only Ollama's server is asked, and only where the name leads to it.

    Example:
        >>> status("none").available, status("local:/no/such/file.gguf").reason
        (False, 'There is no file /no/such/file.gguf.')
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
    found = status(name)
    if not found.available:
        by_default = (name or "").strip() in ("", "auto") and os.environ.get("MRAG_MODEL", "") in ("", "auto")
        if found.provider == "none" or by_default:
            return None
        raise ModelError(found.reason, hint=found.hint)
    settings = {**found.options, **options}
    if found.provider == "ollama":
        return chat_ollama(str(found.name), settings)
    if found.provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=str(found.name), **settings)
    if found.provider == "local":
        from mrag.generation.models.llama_cpp import local_model

        return local_model(str(found.name), **settings)
    return _chat_other(found.provider, str(found.name), settings)


def is_named(name: object) -> bool:
    """Return whether a name is that of one model, rather than of any or none.

    Example:
        >>> [is_named(name) for name in (None, "auto", "none", "ollama:llama3.2")]
        [False, False, False, True]
    """
    return isinstance(name, str) and name.strip() not in ("", "auto", "none")


def check_model(name: object) -> None:
    """Make sure that a model that was named is there, also where the answer may need none.

    Args:
        name: As for `resolve`; what names no model is not looked at.

    Raises:
        ModelError: If it cannot be had, with what to do about it.

    Example:
        >>> check_model("local:/no/such/file.gguf")
        Traceback (most recent call last):
        mrag.errors.ModelError: There is no file /no/such/file.gguf. ...
    """
    if not isinstance(name, str) or not is_named(name):
        return
    found = status(name)
    if not found.available:
        raise ModelError(found.reason, hint=found.hint)
    if found.provider not in ("ollama", "openai", "local"):
        resolve(name)  # only LangChain itself knows its providers


def unused_notice(name: object) -> str | None:
    """Return what a computed answer says of a model that was named for it; None where none was.

    Example:
        >>> unused_notice("ollama:llama3.2")
        'The language model ollama:llama3.2 did not write this answer: it was computed from the graph.'
    """
    if not is_named(name):
        return None
    return f"The language model {name} did not write this answer: it was computed from the graph."


_UNUSED: Final = re.compile(
    r" ?The language model [^\n]{1,200} did not write this answer: it was computed from the graph\.\Z"
)


def without_unused(notice: str | None) -> str | None:
    """Return a notice without what it says of a model that was not used.

    Example:
        >>> said = unused_notice("ollama:llama3.2") or ""
        >>> without_unused("Mind. " + said), without_unused(said)
        ('Mind.', None)
    """
    return _UNUSED.sub("", notice) or None if notice else notice


# --- Others ---------------------------------------------------------------------------------------------


def _openai(name: str) -> ModelStatus:
    if find_spec("langchain_openai") is None:
        return ModelStatus(
            name, "openai", False, "langchain-openai is not installed.", "pip install 'mrag[openai]'"
        )
    base, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    if not key and not base:
        return ModelStatus(
            name,
            "openai",
            False,
            "OPENAI_API_KEY is not set.",
            "Set it, or set OPENAI_BASE_URL to a server of your own.",
        )
    options: dict[str, Any] = {} if _REASONING.match(name) else {"temperature": 0, "seed": 0}
    if base:
        hide_in_logs("httpx", "httpx2", "openai._base_client")
        options["base_url"] = base
    if not key:
        options["api_key"] = "none"  # a server of one's own mostly asks for no key, but the client does
    return ModelStatus(name, "openai", True, options=options)


def _local(path: str) -> ModelStatus:
    from mrag.generation.models.llama_cpp import check

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
        raise ModelError(
            f"LangChain gives no model {provider}:{name}: {error}",
            hint=f"For a model of Ollama, write ollama:{provider}:{name}.",
        ) from error
    return model
