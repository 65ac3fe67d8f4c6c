"""Checking an answer again, from what it recorded: are its triples in the graph, do its sentences hold?

Nothing of the answer is trusted. Every cited triple is looked up, every citation is held against the
line of its id, every sentence is supported again by the lines that it cites and that were found, and the
text must be what the sentences make. Labels can be checked against the store too, since whoever can
change a sentence can change the label beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rdflib import Literal

from mrag import untrusted
from mrag.context.render import Context, Line
from mrag.errors import ModelError, MragError, TermError
from mrag.generation.lines import context_from_json, line_to_json
from mrag.generation.result import FORMAT, Answer
from mrag.generation.support.citations import Citer, supports
from mrag.generation.support.mentions import value_forms
from mrag.generation.support.pictures import PictureCiter
from mrag.generation.support.sentences import with_ids
from mrag.generation.verbalise import unquoted
from mrag.graph.record import status_of
from mrag.rdf.terms import Term, Triple, triple_from_json
from mrag.terminal import inline
from mrag.text.tokens import keys

_LINE_ID = re.compile(r"[A-Za-z]{1,3}\d+")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What is wrong with an answer; nothing, when `ok`.

    Attributes:
        checked: How many cited triples were looked up.
        missing: Cited lines whose triples are no longer in their graphs.
        unknown: Ids that are cited and that no line of the answer's context has.
        altered: What does not agree with what was recorded beside it, in words.
        unsupported: Sentences that the cited lines do not support.
    """

    checked: int = 0
    missing: tuple[Line, ...] = ()
    unknown: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every triple is there and every sentence holds."""
        return not (self.missing or self.unknown or self.altered or self.unsupported)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "ok": self.ok,
            "checked": self.checked,
            "missing": [line_to_json(line) for line in self.missing],
            "unknown": list(self.unknown),
            "altered": list(self.altered),
            "unsupported": list(self.unsupported),
        }

    def __str__(self) -> str:
        if self.ok:
            return f"Verified: {self.checked} cited triples are in the graph, and every sentence holds."
        rows = [f"No longer in the graph: [{line.id}] {line.text}" for line in self.missing]
        rows += [f"Cited but not in the context: {one}" for one in self.unknown]
        rows += [f"Altered: {what}" for what in self.altered]
        rows += [f"Not supported by what it cites: {text}" for text in self.unsupported]
        return "\n".join(map(inline, rows))


def verify(
    answer: Answer | Mapping[str, Any],
    ask: Callable[[Triple, str], bool],
    labels: Callable[[Term], Collection[str]] | None = None,
    statuses: Callable[[Triple], Collection[str]] | None = None,
    recompute: Callable[[Mapping[str, Any]], Answer] | None = None,
) -> VerifyReport:
    """Check an answer against the graph as it is now.

    Args:
        answer: The answer, or its JSON form.
        ask: Returns whether a triple is in the named graph of an IRI.
        labels: Returns every name that the graph has for a term; without it the recorded labels of
            entities are taken as they are.
        statuses: Returns where the graph has a triple from: `asserted`, `inferred` and the like; without it
            the recorded marks are taken as they are.
        recompute: Computes a computed answer again from its plan; without it the rows are taken as they are.

    Raises:
        ModelError: If it is not the JSON form of an answer at all.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.generation.answering import cite
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "GraphDB"), URIRef(e + "by"), URIRef(e + "Ontotext"))
        >>> line = Line("t1", "…", triple, e, False, ("GraphDB", "developed by", "Ontotext"))
        >>> answer = cite("Who develops GraphDB?", "Ontotext does.", Context((line,), ()))
        >>> verify(answer, lambda triple, graph: True).ok
        True
        >>> print(verify(answer, lambda triple, graph: False))
        No longer in the graph: [t1] …
        Not supported by what it cites: Ontotext does.
    """
    value = answer.to_json() if isinstance(answer, Answer) else answer
    context, sentences, citations = _parts(value)
    altered: list[str] = []
    lines: dict[str, Line] = {}
    for line in context.lines:
        if line.id in lines:
            altered.append(f"two lines have the id {line.id}")
        lines[line.id] = line
    cited = list(dict.fromkeys(one for s in sentences for one in s["citations"]))
    recorded = {str(c["id"]): c for c in citations}
    unknown = [one for one in dict.fromkeys([*cited, *recorded]) if one not in lines]
    altered += [f"the list of citations lacks {one}" for one in cited if one not in recorded]
    altered += [f"{one} is listed but no sentence cites it" for one in recorded if one not in cited]
    for one, citation in recorded.items():
        if one in lines and not _agrees(citation, lines[one]):
            altered.append(f"the citation {one} is not the line {one}")
    present: set[str] = set()
    missing: list[Line] = []
    for one in cited:
        if one not in lines:
            continue
        line = lines[one]
        altered += [f"{one}: {what}" for what in _wrong_labels(line, labels)]
        altered += [f"{one}: {what}" for what in _wrong_form(line, statuses)]
        if ask(line.triple, line.graph):
            present.add(one)
        else:
            missing.append(line)
    if value.get("plan"):
        unsupported = _recomputed(value, sentences, altered, recompute)
    else:
        unsupported = _unsupported(_citer(value, context), sentences, present, altered)
    written = "".join(s["before"] + with_ids(s["text"], s["citations"]) for s in sentences)
    if written != value["text"]:
        altered.append("the text is not what its sentences make")
    if any(untrusted.writes_ids(s["before"] + s["text"]) for s in sentences):
        altered.append("a sentence has the id of a line written into its words")
    return VerifyReport(
        len([one for one in cited if one in lines]),
        tuple(missing),
        tuple(unknown),
        tuple(altered),
        tuple(unsupported),
    )


def _parts(
    value: Mapping[str, Any],
) -> tuple[Context, list[dict[str, Any]], Sequence[Mapping[str, Any]]]:
    """Read the parts of an answer in JSON form that are to be checked."""
    try:
        if value["format"] != FORMAT:
            raise ModelError(
                f"This answer has format {value['format']!r}.", hint=f"Only format {FORMAT} can be checked."
            )
        context = context_from_json(value["context"])
        sentences = [
            {
                "text": str(s["text"]),
                "before": str(s["before"]),
                "supported": bool(s["supported"]),
                "citations": [str(one) for one in s["citations"]],
            }
            for s in value["sentences"]
        ]
        if not isinstance(value["text"], str) or not isinstance(value["question"], str):
            raise TypeError("text and question are strings")
        for citation in value["citations"]:
            if not isinstance(citation["id"], str):
                raise TypeError("ids are strings")
        return context, sentences, value["citations"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("Not the JSON form of an answer.", hint=f"Missing or malformed: {error}.") from error


def _agrees(citation: Mapping[str, Any], line: Line) -> bool:
    try:
        return (
            triple_from_json(citation["triple"]) == line.triple
            and citation["graph"] == line.graph
            and citation["inferred"] is line.inferred
            and citation["text"] == line.text
        )
    except (TermError, KeyError, TypeError):
        return False


def _wrong_labels(line: Line, labels: Callable[[Term], Collection[str]] | None) -> list[str]:
    """Return which labels of a line are not names of its terms."""
    wrong = []
    for term, label in zip(line.triple, line.labels, strict=True):
        if isinstance(term, Literal):
            shown = keys(unquoted(label).removesuffix("…"))
            if not any(_begins(keys(form), shown) for form in value_forms(term)):
                wrong.append(f"“{label}” is not the value")
        elif labels is not None:
            names = labels(term)
            if names and keys(label) not in {keys(name) for name in names}:
                wrong.append(f"“{label}” is not a name of {term}")
    return wrong


def _wrong_form(line: Line, statuses: Callable[[Triple], Collection[str]] | None) -> list[str]:
    """Return what a line claims to be and is not: another mark than the graph has, or more than one line."""
    wrong = [] if _LINE_ID.fullmatch(line.id) else ["that is no id of a line"]
    if len(line.text.splitlines()) > 1:
        wrong.append("its text is more than a line")
    there = statuses(line.triple) if statuses is not None else ()
    # What was read in evidence is in no graph of its own yet, and says so itself.
    status = untrusted.mark_of(line.text) or status_of(line.graph, inferred=line.inferred)
    if there and status not in there:
        wrong.append(f"it is marked {status}, but the graph has it as {' and '.join(sorted(there))}")
    return wrong


def _begins(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    # The last word may have been cut in the middle.
    return whole == part or (whole[: len(part) - 1] == part[:-1] != () and len(whole) >= len(part))


def _recomputed(
    value: Mapping[str, Any],
    sentences: Sequence[Mapping[str, Any]],
    altered: list[str],
    recompute: Callable[[Mapping[str, Any]], Answer] | None,
) -> list[str]:
    """Return the sentences of a computed answer that its plan does not give now."""
    if recompute is None:
        return []
    try:
        again = recompute(value)
    except MragError as error:
        altered.append(f"the plan cannot be computed: {error}")
        return [s["text"] for s in sentences]
    now = again.to_json()
    if now["query"] != value.get("query"):
        altered.append("the query is not that of the plan")
    if now["reading"] != value.get("reading"):
        altered.append("the reading is not that of the plan")
    if now["rows"] != value.get("rows"):
        altered.append("the rows are not what the plan gives now")
    kept = {s.text for s in again.sentences}
    return [s["text"] for s in sentences if s["text"] not in kept]


def _citer(value: Mapping[str, Any], context: Context) -> Citer:
    question, images = str(value["question"]), value.get("images") or ()
    if value.get("way") != "images":
        return Citer(question, context)
    try:
        return PictureCiter(question, context, [str(image["name"]) for image in images])
    except (KeyError, TypeError) as error:
        raise ModelError("Not the JSON form of an answer.", hint=f"Missing or malformed: {error}.") from error


def _unsupported(
    citer: Citer,
    sentences: Sequence[Mapping[str, Any]],
    present: set[str],
    altered: list[str],
) -> list[str]:
    found = []
    pieces = [(s["before"], s["text"], [x for x in s["citations"] if x in present]) for s in sentences]
    for s, (support, _, _) in zip(sentences, supports(citer, pieces, cited=True), strict=True):
        text = s["text"]
        if not support.supported:
            found.append(text)
        if s["supported"] and not support.supported and not s["citations"]:
            altered.append(f"marked as supported without a citation: {text[:80]}")
        stray = [one for one in s["citations"] if one in present and one not in {x.id for x in support.lines}]
        altered.extend(f"{one} has nothing to do with: {text[:80]}" for one in stray)
    return found
