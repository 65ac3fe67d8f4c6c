"""What stands around hits: the bounded context of an answer, and how terms are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.context.display import Display
    from mrag.context.expansion import ContextSettings, expand
    from mrag.context.render import Context, Line

__all__ = ["Context", "ContextSettings", "Display", "Line", "expand"]

__getattr__, __dir__ = lazy(__name__)
