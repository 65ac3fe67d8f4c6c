"""A part of a notebook that people can act on: a value that is shown, and what becomes of it when they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from mrag.errors import MragError


class NotebookView(ABC):
    """A part of a notebook.

    With the extra `widget` and a kernel it is live: what a person does arrives in `act`, and the browser
    shows the new value. Else it is the HTML of `_repr_html_`.
    """

    kind = ""
    """Which part of `panel.js` draws it."""

    live = True
    """Whether `panel.js` can draw all of it."""

    def __init__(self) -> None:
        self._widget: Any = None
        self.value: dict[str, Any] = {"kind": self.kind}

    @abstractmethod
    def changed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of the value is another one after an action.

        Raises:
            MragError: If it cannot be done; the message is shown.
        """

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def act(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a person asks for, and return the new value.

        Args:
            asked: The action, as `panel.js` sends it.
        """
        try:
            self.value = {**self.value, "problem": "", **self.changed(asked)}
        except MragError as error:
            self.value = {**self.value, "problem": error.message}
        return self.value

    @property
    def widget(self) -> Any:
        """Return the widget of anywidget, None where it is not installed."""
        if self.live and self._widget is None and find_spec("anywidget") is not None:
            anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
            body = {
                "_esm": (files("mrag.widgets") / "panel.js").read_text(encoding="utf-8"),
                "value": traitlets.Dict().tag(sync=True),
                "asked": traitlets.Dict().tag(sync=True),
                # Its text is kept in the notebook, where an address would change with each run.
                "__repr__": lambda _: f"<{type(self).__name__}>",
            }
            made = type("MragPanel", (anywidget.AnyWidget,), body)(value=self.value)
            made.observe(self._asked, "asked")
            self._widget = made
        return self._widget

    def _asked(self, change: Mapping[str, Any]) -> None:
        if change["new"]:
            self._widget.value = self.act(change["new"])

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        """Return the widget and the HTML: what shows a notebook takes the best that it can."""
        html = {"text/html": self._repr_html_()}
        if self.widget is None:
            return html
        bundle = self.widget._repr_mimebundle_()
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **html}


def text_of(asked: Mapping[str, Any], name: str) -> str:
    """Return a text of an action, which a browser sent.

    Example:
        >>> text_of({"iri": "ex:A"}, "iri"), text_of({"iri": 3}, "iri")
        ('ex:A', '')
    """
    found = asked.get(name)
    return found[:2_048] if isinstance(found, str) else ""


def texts_of(asked: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a list of an action.

    Example:
        >>> texts_of({"liked": ["a", 1]}, "liked")
        ['a']
    """
    found = asked.get(name)
    return [one for one in found[:500] if isinstance(one, str)] if isinstance(found, list) else []
