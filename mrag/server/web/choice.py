"""What ranks the entities for a question: the server's ranker or another by name, among those of a class."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mrag
from mrag import cel
from mrag.errors import MragError
from mrag.server.web.validation import MAX_IRI, check_names, text_value

if TYPE_CHECKING:
    from mrag.server.settings import ServerSettings

_KEPT = 50
"""Most rankers that are kept; what clients ask for has no end."""


class Rankers:
    """The rankers that requests may choose from.

    Args:
        kg: The knowledge graph.
        settings: The server's settings; `ranker` is the one of requests that choose none.
    """

    def __init__(self, kg: mrag.KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg, self.settings = kg, settings
        self._made: dict[str, mrag.Ranker] = {}
        self._making = threading.Lock()

    def known(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return every ranker by name: what it does, whether it can be chosen, and if not, why."""
        check_names(values)
        own = self.settings.ranker
        found = [{"name": own, "summary": "the server's own", "usable": True, "own": True}]
        for info in mrag.known_rankers().values():
            name = f"hybrid+{info.name}" if info.reranks else info.name
            if name == own:
                found[0]["summary"] = info.summary
                continue
            why = self._missing(info.name, name)
            one: dict[str, Any] = {"name": name, "summary": info.summary, "usable": not why, "own": False}
            found.append({**one, "why": why} if why else one)
        return found

    def given(self, values: Mapping[str, Any]) -> str:
        """Return why a question is to be read, where a ranker or a class is chosen; an empty text if not."""
        if values.get("class"):
            return "only entities of one class are asked for"
        return "a ranker was chosen" if values.get("ranker") else ""

    def ranker(self, values: Mapping[str, Any]) -> mrag.Ranker:
        """Return what `ranker` and `class` ask for.

        Raises:
            ConfigError: If there is no such ranker, or it runs a model that the operator did not choose.
        """
        ranks = self._named(
            text_value(values, "ranker", 100) if values.get("ranker") else self.settings.ranker
        )
        if not values.get("class"):
            return ranks

        return cel.ClassFilter(ranks, self.kg, text_value(values, "class", MAX_IRI))

    def _named(self, name: str) -> mrag.Ranker:
        from mrag.retrieval.registry import check_client_ranker, ranker

        check_client_ranker(name, self.settings.ranker)
        with self._making:
            if name not in self._made:
                if len(self._made) >= _KEPT:
                    self._made.clear()
                self._made[name] = ranker(name, self.kg, index=self.settings.index)
            return self._made[name]

    def _missing(self, kind: str, name: str) -> str:
        from mrag.retrieval.registry import NEEDS_MODEL

        if kind in NEEDS_MODEL:
            return f"it runs a model, which the operator names: mrag serve --ranker {name}:MODEL"
        try:
            self._named(name)
        except MragError as error:
            return error.message
        return ""
