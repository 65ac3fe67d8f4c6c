"""One request to a multimodal model: a picture goes out, a description or the reason for none comes back.

A `Work` holds no open connection until it is called, so it can be sent to another process or machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from mrag.errors import ConfigError, LoadError, ModelError
from mrag.images.files.folder import Box, Picture, PictureLimits, open_picture
from mrag.redaction import brief

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    ModelSpec: TypeAlias = str | BaseChatModel | Callable[[], BaseChatModel]

Kind = Literal["file", "picture", "box", "model", "empty", "refused"]
"""Why there is no description: no file, a picture or box that cannot be used, or what the model did."""

LABELS: Final = "labels"
"""Names the describer without a language model, `mrag.images.enrichment.classifier`."""

VISION: Final = (
    "llava", "llava:7b", "llava:13b", "llava:34b", "llava-llama3", "llava-phi3", "bakllava",
    "llama3.2-vision", "qwen2.5vl", "gemma3",
)  # fmt: skip
"""Models of Ollama that see, in the order in which they are taken when none is named."""

_SORRY = (
    r"(?:i['’]?m|i am)\s+(?:very |really |so )?sorry\b|sorry\b"
    r"|i apologi[sz]e\b|my apologies\b|unfortunately\b"
)
_CANNOT = (
    r"(?:can ?not|can['’]?t|could ?n['’]t|won['’]t|will not"
    r"|am unable|['’]m unable|am not able|['’]m not able)"
)
_DO = r"assist|help|see|view|describe|provide|identify|analy[sz]e|comply|process|have the ability|have access"
_REFUSAL = re.compile(
    rf"\s*(?:{_SORRY})[^.!?]{{0,200}}?{_CANNOT}"
    rf"|\s*i(?:\s*{_CANNOT}|\s+do(?: not|n['’]t))\s+(?:to\s+)?(?:actually |directly )?(?:{_DO})"
    r"|\s*as an? (?:ai\b|artificial intelligence|(?:large )?language model|text-based)",
    re.IGNORECASE,
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


@dataclass(frozen=True)
class Task:
    """What is to be described.

    Attributes:
        image: IRI of the image.
        path: Its file.
        region: Fragment of the part that is meant; empty for the whole.
        source: IRI of the annotation that the region comes from.
        data: The file's content, where the file cannot be read from there.
    """

    image: str
    path: Path
    region: str = ""
    source: str = ""
    data: bytes | None = None


@dataclass(frozen=True)
class Description:
    """What became of a task.

    Attributes:
        task: The task, without data.
        text: The description; empty where there is none.
        digest: SHA-256 of the file.
        kind: Why there is no description.
        reason: The same in words.
        again: Whether another try may help.
    """

    task: Task
    text: str = ""
    digest: str = ""
    kind: Kind | None = None
    reason: str = ""
    again: bool = False


@dataclass
class Work:
    """Asks a model to describe pictures, one at a time.

    Args:
        model: A name as for `mrag.generation.models`, or `labels`; a chat model of LangChain; or a
            function that makes one where the work is done.
        prompt: What the model is asked.
        limits: What may be read and sent.
        temperature: How freely the model chooses its words.
        seed: Makes the choice repeatable, where the model allows that.
        timeout: Seconds without a sign of life after which a named model of Ollama or OpenAI has failed;
            other models have limits of their own.
    """

    model: ModelSpec
    prompt: str
    limits: PictureLimits = field(default_factory=PictureLimits)
    temperature: float = 0.1
    seed: int = 1
    timeout: float = 600.0
    _opened: BaseChatModel | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __call__(self, task: Task) -> Description:
        """Describe a picture; what goes wrong with it or with the model is part of the outcome."""
        bare = Task(task.image, task.path, task.region, task.source)
        try:
            box = Box.of(task.region) if task.region else None
            picture = open_picture(task.path, self.limits, box, data=task.data)
        except LoadError as error:
            return Description(
                bare, kind="box" if "region" in error.message else "picture", reason=str(error)
            )
        try:
            text = self.say(picture)
        except ConfigError:
            raise
        except Exception as error:  # each client has its own errors; all mean that there is no answer
            return Description(bare, "", picture.digest, "model", _short(error), True)
        if not text:
            return Description(bare, "", picture.digest, "empty", "The model gave no text.", True)
        if refuses(text):
            return Description(bare, "", picture.digest, "refused", f"The model refused: {text[:160]}", True)
        return Description(bare, text, picture.digest)

    def say(self, picture: Picture) -> str:
        """Return what the model says of a picture, without its thoughts; empty if it says nothing."""
        from langchain_core.messages import HumanMessage

        from mrag.generation.support.sentences import without_thoughts

        message = HumanMessage([{"type": "text", "text": self.prompt}, dict(picture.block())])
        answer = self.opened().invoke([message])
        return clean(without_thoughts(str(answer.text)))

    def opened(self) -> BaseChatModel:
        """Return the model, made when it is first asked for.

        Raises:
            ModelError: If it cannot be had.
        """
        if self._opened is None:
            if self.model == LABELS:
                from mrag.images.enrichment.classifier import LabelModel

                self._opened = LabelModel()
            elif isinstance(self.model, str):
                self._opened = _resolved(self.model, self._wanted(), self.timeout)
            else:
                given: Any = self.model
                self._opened = given if hasattr(given, "invoke") else given()
        return cast("BaseChatModel", self._opened)

    def options(self) -> str:
        """Return what bears on a description beside model and prompt, as JSON with sorted keys.

        Settings that the model is not given are not claimed: a model object has its own.
        """
        given: dict[str, Any] = {"max_side": self.limits.max_side}
        if isinstance(self.model, str) and self.model != LABELS:
            given |= _taken(self.model, self._wanted())
        return json.dumps(given, sort_keys=True)

    def _wanted(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "seed": self.seed}

    def name(self) -> str:
        """Return the name of the model, for the provenance of what it says."""
        from mrag.generation.models import model_name, status

        if isinstance(self.model, str) and self.model != LABELS:
            found = status(self.model)
            return f"{found.provider}:{found.name}"
        return model_name(self.opened())


def default_model() -> str:
    """Return the name of the first model of `VISION` that Ollama has.

    Raises:
        ModelError: If there is none.
    """
    from mrag.generation.models import status

    first = status(f"ollama:{VISION[0]}")
    for name in VISION:
        if status(f"ollama:{name}").available:
            return f"ollama:{name}"
    raise ModelError(first.reason, hint=first.hint)


def refuses(text: str) -> bool:
    """Return whether a text is a refusal instead of a description.

    Example:
        >>> refuses("I'm sorry, but I can't help with that."), refuses("I am unable to view images.")
        (True, True)
        >>> refuses("A sorry-looking coat that cannot keep anyone warm."), refuses("I can see a red coat.")
        (False, False)
    """
    return _REFUSAL.match(text) is not None


def clean(text: str) -> str:
    r"""Take out of a model's text what RDF or a terminal could not hold.

    Example:
        >>> clean(" A coat.\x00\ud800 ")
        'A coat.'
    """
    return _CONTROL.sub("", text.encode("utf-8", "ignore").decode("utf-8")).strip()


def _resolved(name: str, wanted: dict[str, Any], timeout: float) -> BaseChatModel:
    from mrag.generation.models import resolve, status

    limits: dict[str, dict[str, Any]] = {
        "ollama": {"client_kwargs": {"timeout": timeout}},
        "openai": {"timeout": timeout},
    }
    model = resolve(name, **_taken(name, wanted), **limits.get(status(name).provider, {}))
    if model is None:
        raise ModelError("Pictures cannot be described without a model.", hint=status(name).hint)
    return model


def _taken(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return those settings that the provider of a model knows; the others it would refuse."""
    from mrag.generation.models import status

    known = status(name).options
    return {key: value for key, value in wanted.items() if key in known}


def _short(error: Exception) -> str:
    return brief(f"{type(error).__name__}: {error}", 300)
