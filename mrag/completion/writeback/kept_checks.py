"""The settings of the checks, as a run keeps them, so that it is accepted under those it was read under."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CheckSettings:
    """The settings of the checks.

    Attributes:
        min_confidence: Below it a statement is refused.
        functional: IRIs of properties that have one value at most, beside those that the ontology says so of.
        closed_types: Whether an entity whose classes are known must be of a property's domain or range, or of
            a class above it; without, only classes that are disjoint are refused.
        consistency: Whether to reason over the graph with the statements in it, in a scratch graph; what
            leads to a contradiction, or makes two entities the same, is refused.
        shapes: A file of SHACL shapes that must hold where the statements touch (extra `completion`).
        shape_texts: Further shapes, in Turtle; a run keeps its shapes so, since a file may change or go.
    """

    min_confidence: float = 0.5
    functional: tuple[str, ...] = ()
    closed_types: bool = True
    consistency: bool = True
    shapes: Path | None = None
    shape_texts: tuple[str, ...] = ()

    def frozen(self) -> CheckSettings:
        """Return the settings with the shapes of the file as a text.

        Raises:
            ConfigError: If pySHACL is not installed.
            LoadError: If the shapes cannot be read.
        """
        if self.shapes is None:
            return self
        from mrag.completion.writeback.shapes import read_shapes

        text = read_shapes(self.shapes).serialize(format="turtle")
        return replace(self, shapes=None, shape_texts=tuple(dict.fromkeys((*self.shape_texts, text))))

    def with_those_of(self, other: CheckSettings | None) -> CheckSettings:
        """Return settings under which what either refuses is refused.

        Example:
            >>> both = CheckSettings(0.7, ("urn:p",)).with_those_of(CheckSettings(0.5, ("urn:q",)))
            >>> both.min_confidence, both.functional
            (0.7, ('urn:p', 'urn:q'))
        """
        if other is None:
            return self
        further = other.frozen()
        return CheckSettings(
            max(self.min_confidence, further.min_confidence),
            tuple(sorted({*self.functional, *further.functional})),
            self.closed_types or further.closed_types,
            self.consistency or further.consistency,
            self.shapes,
            tuple(dict.fromkeys((*self.shape_texts, *further.shape_texts))),
        )


def written(checks: CheckSettings) -> str:
    """Return settings as a run's description has them, in JSON."""
    values = {f.name: getattr(checks, f.name) for f in fields(checks) if f.name != "shapes"}
    return json.dumps(values, sort_keys=True)


def read(text: str) -> CheckSettings:
    """Return the settings of a run's description; the default of a run that has none.

    Example:
        >>> read(written(CheckSettings(0.7, closed_types=False)))  # doctest: +ELLIPSIS
        CheckSettings(min_confidence=0.7, functional=(), closed_types=False, ...)
    """
    values: dict[str, Any] = json.loads(text) if text else {}
    for name in ("functional", "shape_texts"):
        values[name] = tuple(values.get(name, ()))
    return CheckSettings(**values)
