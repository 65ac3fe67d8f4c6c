"""Calls of chat models: errors of one kind, and JSON that is read wherever it stands in an answer."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from mrag import untrusted
from mrag.errors import ModelError, MragError
from mrag.redaction import brief
from mrag.tracing import span

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

logger = logging.getLogger(__name__)

_MAX_TRIES: Final = 64
_START: Final = re.compile(r"[{\[]")
_COMMA: Final = re.compile(r",(\s*[\]}])")
_DOCTOR: Final = "Run `mrag doctor` to see which models can be had, or use --model none."


def model_name(model: BaseChatModel) -> str:
    """Return the name under which a chat model runs, as far as it tells; else that of its class."""
    for attribute in ("model", "model_name", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


@contextmanager
def model_errors(model: BaseChatModel, hint: str = _DOCTOR) -> Iterator[None]:
    """Turn what a client of a chat model raises into an error of our own.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    try:
        with span("mrag.generate", {"mrag.model": model_name(model)}, current=False):
            yield
    except MragError:
        raise
    except Exception as error:  # each client has its own errors; all mean that the model gave no answer
        what = brief(str(error), 500) or type(error).__name__
        raise ModelError(
            f"The language model {model_name(model)} did not answer: {what}", hint=hint
        ) from error


def invoke(model: BaseChatModel, messages: Sequence[BaseMessage]) -> str:
    """Return what a chat model answers, as text.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    with model_errors(model):
        return str(model.invoke(list(messages)).text)


@dataclass(frozen=True)
class Told:
    """What a model has answered.

    Attributes:
        text: Its text.
        tokens: Its tokens, each a mapping with `token`, `logprob` and `top_logprobs`; none where it does not
            tell their probabilities.
    """

    text: str
    tokens: tuple[Mapping[str, Any], ...] = ()


def told(
    model: BaseChatModel, messages: Sequence[BaseMessage], grammar: str, *, afresh: bool = False
) -> Told:
    """Return what a chat model answers, with the probabilities of its tokens where it tells them.

    Args:
        model: The model.
        messages: What it is asked.
        grammar: What it may write, in the notation of llama.cpp; only models of `local:` are held to it.
        afresh: Whether they read the whole prompt anew: slower, but the same to the last bit each time.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    from mrag.generation.models.llama_cpp import takes_grammar

    settings: dict[str, Any] = {}
    if "top_logprobs" in type(model).model_fields:
        settings = {"logprobs": True, "top_logprobs": 20}
    if takes_grammar(model):
        settings["extra_body"] = {"grammar": grammar, "cache_prompt": not afresh}
    try:
        with model_errors(model):
            said = model.invoke(list(messages), **settings)
    except ModelError:
        if not settings or "extra_body" in settings:
            raise
        # Not every model of a server that knows probabilities gives them.
        return Told(invoke(model, messages))
    found = said.response_metadata.get("logprobs") or ()
    return Told(str(said.text), tuple(found.get("content") or () if isinstance(found, Mapping) else found))


def bounded(model: BaseChatModel, tokens: int) -> BaseChatModel:
    """Return a chat model that writes no more than some tokens, where its client has a setting for that."""
    known = [name for name in ("max_tokens", "num_predict") if name in type(model).model_fields]
    return model.model_copy(update=dict.fromkeys(known[:1], tokens)) if known else model


def varied(model: BaseChatModel, temperature: float, seed: int) -> BaseChatModel | None:
    """Return a chat model that draws its answers, the same ones for a seed; None where it has no seed."""
    known = type(model).model_fields
    if "temperature" not in known or "seed" not in known:
        return None
    return model.model_copy(update={"temperature": temperature, "seed": seed})


def invoke_json(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: Mapping[str, Any]
) -> tuple[str, Any]:
    """Return what a chat model answers: its text and, where its server can be held to a schema, a value.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    try:
        held = model.with_structured_output(dict(schema), include_raw=True)
        given = cast("dict[str, Any]", held.invoke(list(messages)))
        return str(given["raw"].text), given.get("parsed")
    except Exception as error:  # not to be had, or cut off by the limit of tokens: asked as text then
        logger.debug("no structured output: %s", error)
    return invoke(model, messages), None


def repair_messages(messages: Sequence[BaseMessage], text: str, told: str) -> list[BaseMessage]:
    """Return the messages that ask a model once more, with its answer and what was wrong with it.

    Args:
        messages: What it was asked.
        text: What it answered.
        told: What it is told now.
    """
    from langchain_core.messages import AIMessage, HumanMessage

    return [*messages, AIMessage(untrusted.lines(text) or "…"), HumanMessage(told)]


def json_values(text: str, *, quotes: bool = False) -> Iterator[Any]:
    """Yield the outermost JSON objects and lists in a text, whatever stands around them.

    Commas before closing brackets, which models write, are passed over.

    Args:
        text: What a model wrote.
        quotes: Whether typographic quotes may stand for plain ones.

    Example:
        >>> list(json_values('Sure: {"a": [1, 2,]} and [3].'))
        [{'a': [1, 2]}, [3]]
    """
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MAX_TRIES):
        found = _START.search(text, at)
        if found is None:
            return
        at = found.start()
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
