"""Graph codes by a model: a language model reads texts, a multimodal one sees pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag._tables import tables
from mrag.errors import ModelError, MragError
from mrag.generation.models import invoke_repaired, json_values
from mrag.generation.support.sentences import without_thoughts
from mrag.graphcodes.code import Edge, GraphCode, Node, term
from mrag.images.files import open_picture

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_DATA: Final = tables("graphcodes/models.toml")
_MOST_CHARS: Final = 8000  # how much of a text a model is shown


@dataclass
class ModelExtractor:
    """Reads the code of a text or a picture by a chat model; of a picture by one that sees.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> edge = '{"edges": [{"source": "dog", "relation": "chase", "target": "cat"}]}'
        >>> ModelExtractor(FakeListChatModel(responses=["I see.", edge])).extract("A dog chases a cat.").edges
        (Edge(source='dog', relation='chase', target='cat'),)
    """

    model: BaseChatModel

    def extract(self, text: str) -> GraphCode:
        """Read one text; an empty one gives the empty code, and the model is not asked.

        Raises:
            ModelError: If the model cannot be reached, or twice gave no code.
        """
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        if not text.strip():
            return GraphCode()
        said, answer = _DATA["example"]
        shown = untrusted.lines(text[:_MOST_CHARS])
        examples: list[BaseMessage] = [HumanMessage(f"Text: {said}"), AIMessage(answer)]
        return self._ask([SystemMessage(_DATA["text"]), *examples, HumanMessage(f"Text: {shown}")])

    def extract_picture(self, path: Path | str) -> GraphCode:
        """Read one picture: JPEG, PNG, WebP or GIF.

        Raises:
            LoadError: If the file cannot be read or is over a limit.
            ModelError: If the model cannot be reached, or twice gave no code.
        """
        from langchain_core.messages import HumanMessage

        picture = open_picture(Path(path))
        message = HumanMessage([{"type": "text", "text": _DATA["picture"]}, dict(picture.block())])
        return self._ask([message])

    def _ask(self, messages: list[BaseMessage]) -> GraphCode:
        code, problem = invoke_repaired(self.model, messages, _DATA["schema"], _read)
        if code is None:
            hint = "Try another model, or the extractor without one."
            raise ModelError(f"The model gave no graph code: {problem}", hint=hint)
        return code


def _read(text: str, value: Any) -> tuple[GraphCode | None, str]:
    try:
        return (read_code(without_thoughts(text)) if value is None else code_of(value)), ""
    except MragError as error:
        return None, " ".join(part for part in (error.message, error.hint) if part)


_MOST: Final = 200
_LONGEST: Final = 120
_FORM: Final[str] = _DATA["form"]


def read_code(text: str) -> GraphCode:
    """Read a code from the first JSON in a text that is one."""
    problem: MragError = ModelError("There is no JSON object in the answer.", hint=_FORM)
    for value in reversed([*json_values(text)]):
        try:
            return code_of(value)
        except MragError as error:
            problem = error
    raise problem


def code_of(value: Any) -> GraphCode:
    """Read a code from parsed JSON: an object with `nodes` and `edges`."""
    if not isinstance(value, Mapping):
        raise ModelError("The answer is not a JSON object.", hint=_FORM)
    nodes, edges = (value.get(key) or [] for key in ("nodes", "edges"))
    if not (isinstance(nodes, list) and isinstance(edges, list)):
        raise ModelError("The nodes or the edges are not a list.", hint=_FORM)
    if len(nodes) > _MOST or len(edges) > _MOST:
        hint = "Give the most important ones once."
        raise ModelError(f"There are more than {_MOST} nodes or edges.", hint=hint)
    code = GraphCode.of(
        [Node(_name(node, "name"), "", _types(node)) for node in nodes],
        [Edge(*(_name(edge, end) for end in ("source", "relation", "target"))) for edge in edges],
    )
    if not code:
        raise ModelError("The code is empty.", hint=_FORM)
    return code


def _name(part: Any, key: str) -> str:
    value = part.get(key) if isinstance(part, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise ModelError(f"The {key} of a part is not a text: {str(part)[:60]!r}.", hint=_FORM)
    if len(text := str(value)) > _LONGEST:
        raise ModelError(f"A {key} is a whole sentence: {text[:60]!r}…", hint="Use short names.")
    article, _, bare = term(text).partition(" ")
    return bare if bare and article in ("a", "an", "the") else term(text)


def _types(node: Mapping[str, Any]) -> frozenset[str]:
    kinds = node.get("types") or []
    if not isinstance(kinds, list):
        raise ModelError("The types of a node are not a list.", hint=_FORM)
    return frozenset(_name({"type": kind}, "type") for kind in kinds if kind)
