"""Answers as events for the page: what was found, the text as it is written, and the whole with pictures.

Receipts of answers are here, too: made from an answer, and checked when one is uploaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdflib import URIRef

from mrag import retrieval
from mrag.cel.sparql import individuals_among
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.context.render import Context, Line
from mrag.errors import ConfigError, ModelError
from mrag.generation.models import model_name
from mrag.generation.result import Answer, OtherReading, lines_of
from mrag.generation.verification import VerifyReport
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf.terms import to_ox
from mrag.retrieval.verifying import receipt_of
from mrag.server.web.api import PageView, Values
from mrag.server.web.entities import drawing, head, pictures_among

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.retrieval.retriever import Retrieval

MOST = 4 << 20  # maximum number of bytes of an answer, where the settings allow more
_CITATIONS = 2_000
_PICTURES = 12
_LISTED = 200


class Receipts(PageView):
    """Answers the requests about receipts."""

    def make(self, values: Values) -> dict[str, Any]:
        """Check an answer and return its receipt."""
        answer = values.get("answer")
        if not isinstance(answer, Mapping):
            raise ConfigError("answer must be an object.")
        return receipt_of(self.kg, answer, self._check(answer))

    def verify(self, values: Values) -> dict[str, Any]:
        """Check a receipt, or an answer as `mrag ask --json` prints it, against the graph as it is now."""
        report = self._check(values)
        answer = values if "@context" not in values else values["json"]
        used = values.get("prov:wasGeneratedBy")
        then = used.get("prov:used") if isinstance(used, Mapping) else None
        return {
            **report.to_json(),
            "said": str(report),
            "question": str(answer["question"]),
            "text": str(answer["text"]),
            "at": str(values.get("at", "")),
            "revision": then.get("schema:version") if isinstance(then, Mapping) else None,
            "now": self.kg.revision,
        }

    def _check(self, given: Mapping[str, Any]) -> VerifyReport:
        answer = given.get("json") if "@context" in given else given
        citations = answer.get("citations") if isinstance(answer, Mapping) else None
        if isinstance(citations, list) and len(citations) > _CITATIONS:
            raise ConfigError(f"An answer with more than {_CITATIONS} citations is not checked here.")
        try:
            return retrieval.verify(self.kg, given)
        except ModelError as error:
            raise ConfigError(error.message, hint=error.hint) from error


@dataclass(frozen=True)
class Prepared:
    """What an answer is made from."""

    given: Answer | None = None  # the answer, if it was computed
    found: Retrieval | None = None  # the hits and their context, if it has to be read
    chat: BaseChatModel | None = None  # what writes the answer; without it the best facts are verbalised
    why: str = ""  # why it is computed or read
    offered: tuple[OtherReading, ...] = ()  # readings that can be chosen instead of what is read


def events(
    kg: KnowledgeGraph, ready: Prepared, folder: Path | None, parts: Mapping[str, bool] | None = None
) -> Generator[dict[str, Any], None, None]:
    """Answer a question and yield what happens, with the whole for the page or, by what is told, in lines."""
    display = Display(kg)

    def whole(given: Answer, context: Context) -> dict[str, Any]:
        if parts is not None:
            return {"answer": given.to_json(), "lines": list(lines_of(given, **parts))}
        return _whole(kg, given, context, display, folder)

    if ready.given is not None:
        yield from ({"event": "text", "text": text} for text in ready.given.pieces())
        yield {"event": "answer", **whole(ready.given, ready.given.context)}
    elif ready.found is not None:
        hits = [hit(kg, h.iri, h.score, h.reasons, display) for h in ready.found.hits]
        writer = model_name(ready.chat) if ready.chat is not None else ""
        yield {"event": "found", "hits": ranked(kg, hits), "model": writer}
        for part in retrieval.stream(kg, ready.found, model=ready.chat or "none"):
            if isinstance(part, str):
                yield {"event": "text", "text": part}
            else:
                part = replace(part, why=ready.why, offered=ready.offered)
                yield {"event": "answer", **whole(part, ready.found.context)}


def hit(
    kg: KnowledgeGraph, iri: str, score: float, reasons: Sequence[str], display: Display
) -> dict[str, Any]:
    """Return an entity that was found: its label, types and description, and why it was found."""
    out = read(kg, iri, "out", scan=64, share=8).statements
    return {**head(kg, iri, out, display), "score": float(score), "reasons": list(reasons)}


def ranked(kg: KnowledgeGraph, hits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Number hits from 1, and say which are individuals, of which a concept can be learnt."""
    known = individuals_among(kg, [row["iri"] for row in hits])
    return [
        {**row, "rank": rank, "individual": row["iri"] in known} for rank, row in enumerate(hits, start=1)
    ]


def _whole(
    kg: KnowledgeGraph, given: Answer, context: Context, display: Display, folder: Path | None
) -> dict[str, Any]:
    answer = given.to_json()
    labels = {line.id: list(line.labels) for line in given.context.lines}
    for citation in answer["citations"]:
        citation["labels"] = labels[citation["id"]]
    for row in (*answer["citations"], *answer["context"]["lines"]):
        row["status"] = status_of(row["graph"], inferred=row["inferred"])
    cited = {c.line_id for c in given.citations}

    def order(line: Line) -> tuple[bool, float, str]:
        return line.id not in cited, -line.score, line.text

    pictures = []
    for iri, name, lines in _centres(given, context, display):
        ordered = sorted(lines, key=order)
        pictures.append(drawing(ordered, iri, name))
    statements = [
        (str(line.triple.s), str(line.triple.p), to_ox(line.triple.o), line.graph) for line in context.lines
    ]
    return {
        "answer": answer,
        "listed": _list(kg, given, display),
        "pictures": [p for p in pictures if p["edges"]],
        "images": pictures_among(statements, folder, display),
    }


def _list(kg: KnowledgeGraph, given: Answer, display: Display) -> list[dict[str, Any]]:
    """Return the entities that a computed answer lists, in its order, so that they can be marked."""
    if given.computed is None or not given.computed.rows:
        return []
    rows = given.computed.rows
    first = next((at for at, cell in enumerate(rows[0]) if isinstance(cell.term, URIRef)), None)
    if first is None:
        return []
    iris = dict.fromkeys(str(row[first].term) for row in rows if isinstance(row[first].term, URIRef))
    return ranked(kg, [{"iri": iri, "label": display.entity(iri)} for iri in list(iris)[:_LISTED]])


def _centres(given: Answer, context: Context, display: Display) -> list[tuple[str, str, list[Line]]]:
    """Return what to draw: the hits of an answer that was read, the entities of one that was computed."""
    if given.computed is None:
        pairs = zip(context.entities, context.names, strict=True)
        return [(iri, name, list(context.of(iri))) for iri, name in pairs]
    ends: dict[str, list[Line]] = {}
    for line in context.lines:
        for end in dict.fromkeys((line.triple.s, line.triple.o)):
            if isinstance(end, URIRef):
                ends.setdefault(str(end), []).append(line)
    shown = [str(cell.term) for row in given.computed.rows for cell in row if str(cell.term) in ends]
    # Where the answer is a number, what most of the triples that prove it have in common.
    often = [iri for iri, _ in Counter({iri: len(lines) for iri, lines in ends.items()}).most_common()]
    order = list(dict.fromkeys([*shown, *often] if shown else often))[:_PICTURES]
    return [(iri, display.entity(iri), ends[iri]) for iri in order]
