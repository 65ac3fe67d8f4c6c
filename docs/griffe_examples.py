"""Shows doctests under `Example:` as code, and comments beside the fields of a class as its attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Change docstrings before they are parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section of examples: griffe knows only `Examples:`."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.M)

    def on_class_members(self, *, cls: griffe.Class, agent: Any, **_: Any) -> None:
        """Add a section of what stands beside the fields of a class, or above them, to its docstring."""
        lines = getattr(agent, "code", "").splitlines()  # none where a module is inspected
        own = [one for one in cls.members.values() if isinstance(one, griffe.Attribute)]
        said = {one.name: _comment(lines, one) for one in own if lines}
        told = "".join(f"    {name}: {text}.\n" for name, text in said.items() if text)
        if told and cls.docstring and "Attributes:" not in cls.docstring.value:
            cls.docstring.value += f"\n\nAttributes:\n{told}"


def _comment(lines: Sequence[str], field: griffe.Attribute) -> str:
    if not field.lineno or not field.endlineno:
        return ""
    if beside := re.search(r"  # (?!noqa|type:|fmt:)(.+)", lines[field.endlineno - 1]):
        return beside[1]
    first = field.lineno - 1
    while lines[first - 1].strip().startswith("# "):
        first -= 1
    return " ".join(line.strip()[2:] for line in lines[first : field.lineno - 1])
