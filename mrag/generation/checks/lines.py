"""Whether a line of an answer's context is what its triple makes: its names, its words and its mark."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from rdflib import Literal

from mrag import untrusted
from mrag.context.render import Line
from mrag.errors import TermError
from mrag.generation.verbalise import unquoted
from mrag.graph.record import status_of
from mrag.rdf.terms import Term, triple_from_json

_LINE_ID = re.compile(r"[A-Za-z]{1,3}[0-9]+")

Names = Callable[[Term], Collection[str]]
Said = Callable[[Sequence[str]], Sequence[str]]


def agrees(citation: Mapping[str, Any], line: Line) -> bool:
    """Return whether a citation says what its line says."""
    try:
        return (
            triple_from_json(citation["triple"]) == line.triple
            and citation["graph"] == line.graph
            and citation["inferred"] is line.inferred
            and citation["text"] == line.text
        )
    except (TermError, KeyError, TypeError):
        return False


def wrong_line(line: Line, labels: Names | None, said: Said | None) -> list[str]:
    """Return in what a line is not what its triple makes.

    Args:
        line: The line.
        labels: Returns every name that the graph has for a term; without it names are taken as they are.
        said: Returns what a line says of the named graphs of its triple; without it that is taken as it is.
    """
    wrong = [] if _LINE_ID.fullmatch(line.id) else ["that is no id of a line"]
    for term, label in zip(line.triple, line.labels, strict=True):
        if isinstance(term, Literal):
            if not _shows(_spaced(term), label):
                wrong.append(f"“{label}” is not the value")
        elif labels is not None:
            names = labels(term)
            if names and _spaced(label) not in {_spaced(name) for name in names}:
                wrong.append(f"“{label}” is not a name of {term}")
    mark = untrusted.mark_of(line.text)
    if mark and mark != status_of(line.graph, inferred=line.inferred) and mark != "completed":
        wrong.append(f"its text is marked {mark}")
    bare = line.text.removesuffix(f" {mark}") if mark else line.text
    told = said(line.named) if said is not None else ()
    parts = (*line.labels, *told)
    whole = untrusted.fact(parts)
    # Lines that were not made here may be written as they stand, and are made fit as a whole.
    ways = (untrusted.shown(whole), untrusted.shown(f"({', '.join(parts)})"))
    if said is None and line.named:
        right = len(bare.splitlines()) == 1 and any(bare.startswith(way[:-1]) for way in ways)
    else:
        right = bare in ways
    return wrong if right else [*wrong, f"its text is not that of its triple, which is {whole}"]


def _shows(value: str, label: str) -> bool:
    """Return whether a label is a value, in quotation marks or not, and maybe cut as one sees."""
    for shown in (label, unquoted(label), label[1:-1] if label[:1] == label[-1:] == '"' else label):
        shown = _spaced(shown)
        if shown == value or (len(shown) > 1 and shown[-1] == "…" and value.startswith(shown[:-1])):
            return True
    return False


def _spaced(text: str) -> str:
    return " ".join(text.split())
