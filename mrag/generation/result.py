"""An answer as data: sentences, what each rests on, and a JSON form that can be checked later."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args
from typing import Literal as OneOf

from mrag import html, untrusted
from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.support.citations import VERDICTS, Verdict, verdict_of
from mrag.generation.support.sentences import with_ids
from mrag.graph.record import status_of
from mrag.rdf.terms import Term, Triple, term_from_json, term_to_json, triple_from_json, triple_to_json
from mrag.storage.fields import json_fields, read_fields
from mrag.terminal import inline

CERTAIN = 0.9  # Certainty below which an answer says that its reading is not certain
PROBABLE = 0.7  # Certainty from which on it is called probable


@contextmanager
def form_of(what: str) -> Iterator[None]:
    """Turn what goes wrong while JSON values are read into an error that says what they are no form of."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"Not the {what}.", hint=f"Missing or malformed: {error}.") from error


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(map(str, values))


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """A cell of a computed answer."""

    term: Term | None  # The entity or value; None where there is none
    label: str  # How it is shown

    def to_json(self) -> dict[str, Any] | None:
        """Return the cell as `{type, value, label}`; None for an empty one."""
        return None if self.term is None else {**term_to_json(self.term), "label": self.label}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> AnswerCell:
        """Read a cell written by `to_json`."""
        if value is None:
            return cls(None, "")
        return cls(term_from_json(value), str(value.get("label", "")))


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another way of reading a question, which gives another answer."""

    number: int  # How to choose it: `mrag ask --reading 2`
    reading: str  # The reading in words
    answer: str  # Its answer in brief

    def __str__(self) -> str:
        return f"{self.answer}, read as: {self.reading}"


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """Words of a question."""

    text: str  # As they are written
    start: int  # Where they begin, in characters
    end: int  # Where they end


@dataclass(frozen=True, slots=True)
class WordUse:
    """What words of a question became in the plan that was computed."""

    words: QuestionWords | None  # The words; None of what is in the plan and no word says
    does: str  # What they do, such as "counted" or "not read"
    name: str = ""  # What in the graph they stand for
    iri: str = ""  # Its IRI
    value: str = ""  # The number, the time or the text that they state, with how it compares
    how: str = ""  # How they match; "" where they are its name
    cues: tuple[QuestionWords, ...] = ()  # The words that made it so, such as "how many"

    @property
    def places(self) -> tuple[QuestionWords, ...]:
        """Return all the words, in their order."""
        own = () if self.words is None else (self.words,)
        return tuple(sorted((*own, *self.cues), key=lambda one: one.start))

    @property
    def said(self) -> str:
        """Return all the words in a line, "" if there are none."""
        text, end = "", 0
        for one in self.places:
            text += f"{'' if not text else ' ' if one.start <= end + 1 else ' … '}{one.text}"
            end = one.end
        return text

    def __str__(self) -> str:
        what = " ".join(filter(None, (self.name, self.value, self.iri and f"<{self.iri}>")))
        step = f"{self.does}: {what}" if what else self.does
        return f"{step} ({self.how})" if self.how else step


def doubt_of(confidence: float) -> str:
    """Return what an answer begins with that is not certain: "Probably" or, below .7, "Perhaps"."""
    return "" if confidence >= CERTAIN else "Probably" if confidence >= PROBABLE else "Perhaps"


@dataclass(frozen=True, slots=True)
class Computed:
    """How an answer was computed."""

    reading: str  # How the question was read, in words
    plan: Mapping[str, Any]  # The query plan as JSON values, as `mrag.planning.plan_to_json` returns it
    query: str  # The SPARQL that was run; it can be pasted into any endpoint
    columns: tuple[str, ...]  # Names of the columns of `rows`
    rows: tuple[tuple[AnswerCell, ...], ...]  # The rows
    confidence: float = 1.0  # How likely the reading is what was meant, from 0 to 1
    ignored: tuple[str, ...] = ()  # Words of the question that were not read
    readings: tuple[OtherReading, ...] = ()  # Other readings that give other answers
    truncated: bool = False  # Whether there may be more rows
    runners_up: tuple[tuple[AnswerCell, ...], ...] = ()  # The rows that come next
    last: tuple[AnswerCell, ...] = ()  # The last of `rows` in the same columns
    follows: Mapping[str, Any] | None = None  # What the question goes on from, as JSON values
    words: tuple[WordUse, ...] = ()  # What the words of the question became; empty of a follow-up

    @property
    def next(self) -> str:
        """Return the runners-up in a line, "" if there are none."""
        rows = [_line(row) for row in self.runners_up]
        return f"{_line(self.last)}, then {'; '.join(rows)}" if rows and self.last else "; ".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        sure = self.confidence
        members = json_fields(self) | {"confidence": round(sure, 4), "doubt": doubt_of(sure)}
        return {name: part for name, part in members.items() if part or name not in ("follows", "words")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Computed:
        """Read what `to_json` wrote."""
        with form_of("JSON form of a computed answer"):
            unsaid = {"runners_up": (), "last": (), "follows": None, "words": ()}
            return read_fields(cls, unsaid | {**value})


def _line(row: tuple[AnswerCell, ...]) -> str:
    first, *others = (cell.label or "none" for cell in row)
    return f"{first}: {', '.join(others)}" if others else first


@dataclass(frozen=True)
class EvidenceRef:
    """Where a completed triple was read."""

    iri: str  # The evidence node: a passage, a region of an image, or an image
    quote: str  # The words relied on, as they stand there
    kind: OneOf["passage", "region", "image"]  # What the node is
    source: str  # The document or file that it belongs to


@dataclass(frozen=True)
class Completed:
    """How an answer was completed from evidence."""

    answers: tuple[str, ...] = ()  # The values that answer the question
    # For the id of each cited line that was read in evidence, where
    evidence: Mapping[str, tuple[EvidenceRef, ...]] = field(default_factory=dict)
    # Triples that the question needs and that neither the graph nor the evidence has
    missing: tuple[str, ...] = ()
    ungrounded: tuple[str, ...] = ()  # Words of the question that name nothing in the graph
    truncated: bool = False  # Whether there are more solutions than were read
    triples: tuple[Mapping[str, Any], ...] = ()  # What was read, as JSON values
    run: Mapping[str, Any] | None = None  # What became of it, as `CompletionRun.to_json` returns it
    entered: int = 0  # Number of triples that came into the graph
    reading: Mapping[str, Any] | None = None  # How the question was read, as JSON values

    @property
    def read_as(self) -> str:
        """Return how the question was read, in words; "" where that is not known."""
        if self.reading is None:
            return ""
        asks = " ".join(self.reading.get("asks") or ()) or ", ".join(self.reading["plan"])
        plan = f"plan {', '.join(self.reading['plan'])}, " if self.reading.get("asks") else ""
        return f"{asks} ({plan}score {self.reading['score']:.2f})"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        names = {"triples": "completed", "reading": "read_as"}
        return {names.get(name, name): part for name, part in json_fields(self).items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Completed:
        """Read what `to_json` wrote."""
        with form_of("JSON form of a completed answer"):
            return read_fields(cls, {**value, "triples": value["completed"], "reading": value.get("read_as")})


@dataclass(frozen=True)
class ShownImage:
    """An image that was found."""

    iri: str  # The image
    name: str  # What to call it
    path: Path | None  # Its file; None where there is none that may be read
    score: float  # As the ranker gave it
    rank: int  # Counted from 1
    reasons: tuple[str, ...]  # Why it was found
    lines: tuple[Line, ...]  # The triples about it and its parts, as the context has them

    def to_json(self) -> dict[str, Any]:
        """Return the image in types that JSON has."""
        path = None if self.path is None else str(self.path)
        return json_fields(self) | {"path": path, "lines": [line.id for line in self.lines]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], lines: Mapping[str, Line]) -> ShownImage:
        """Read what `to_json` wrote, of the lines of the answer's context by id."""
        with form_of("JSON form of an image that was found"):
            return read_fields(cls, value, lines=tuple(lines[one] for one in value["lines"]))


def recorded(context: Context) -> Context:
    """Return a context as an answer records it: what is cited, each text made fit for its one line."""
    kept = tuple(
        replace(
            line,
            text=untrusted.show(line.text),
            labels=_labels(line.labels),
            score=line.score if math.isfinite(line.score) else 0.0,  # JSON has no NaN
            hop=1,
            path=(),
        )
        for line in context.lines
    )
    return Context(kept, _texts(context.entities), cut=context.cut)


def line_to_json(line: Line) -> dict[str, Any]:
    """Return a recorded line as JSON values."""
    left = ("hop", "path", "named")
    members = {name: part for name, part in json_fields(line).items() if name not in left}
    return members | {"triple": triple_to_json(line.triple), "named_graphs": list(line.named)}


def context_to_json(context: Context) -> dict[str, Any]:
    """Return a recorded context as JSON values."""
    return {"entities": list(context.entities), "lines": [line_to_json(line) for line in context.lines]}


def context_from_json(value: Mapping[str, Any]) -> Context:
    """Read a context written by `context_to_json`."""
    with form_of("context of a recorded answer"):
        return Context(tuple(map(line_from_json, value["lines"])), _texts(value["entities"]))


def line_from_json(value: Mapping[str, Any]) -> Line:
    """Read a line written by `line_to_json`; what is wrong with it is an error of several kinds."""
    return Line(
        str(value["id"]),
        str(value["text"]),
        triple_from_json(value["triple"]),
        str(value["graph"]),
        bool(value["inferred"]),
        _labels(value["labels"]),
        str(value.get("entity", "")),
        float(value.get("score", 0.0)),
        named=_texts(value.get("named_graphs", ())),
    )


def _labels(values: Iterable[object]) -> tuple[str, str, str]:
    s, p, o = map(str, values)
    return s, p, o


Way: TypeAlias = OneOf["plan", "read", "complete", "images"]
"""The ways to an answer: computed, read in the context, completed from texts, found in images."""

FORMAT = 1  # Version of the JSON form of an answer

_SHOWN = 50  # Rows that a notebook shows

_NOT_COMPUTED: Mapping[str, Any] = {
    "reading": None, "plan": None, "query": None, "columns": [], "rows": [], "confidence": None, "doubt": "",
    "ignored": [], "readings": [], "truncated": False, "runners_up": [], "last": [],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Citation:
    """A line of the context that a sentence rests on."""

    line_id: str  # Id of the line in the context
    triple: Triple
    graph: str  # IRI of the named graph that holds it
    inferred: bool  # Whether reasoning made it
    text: str  # The line as the prompt showed it

    @property
    def mark(self) -> str:
        """What is put behind the line: nothing for an asserted triple, else ` inferred` and the like."""
        status = status_of(self.graph, inferred=self.inferred)
        return "" if status == "asserted" else f" {status}"

    @classmethod
    def of(cls, line: Line) -> Citation:
        """Cite a line."""
        return cls(line.id, line.triple, line.graph, line.inferred, line.text)

    def to_json(self) -> dict[str, Any]:
        """Return the citation as JSON values."""
        members = json_fields(self) | {"triple": triple_to_json(self.triple)}
        return {"id": members.pop("line_id"), **members}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer."""

    text: str  # The sentence, without ids
    citations: tuple[Citation, ...]  # What it rests on, the best first
    supported: bool  # Whether lines cover all that it says, or it says nothing that needs cover
    before: str = ""  # What stands before it in the answer: nothing, a space, the bullet of a list
    rejected_ids: tuple[str, ...] = ()  # Ids that the model wrote in it and that do not hold
    verdict: Verdict = "read"  # What is known of it
    left: tuple[str, ...] = ()  # Words of it that no fact accounts for
    against: tuple[str, ...] = ()  # Ids of lines that contradict it

    def __str__(self) -> str:
        return with_ids(self.text, [c.line_id for c in self.citations])


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what it stands on."""

    question: str
    text: str  # The answer, with the ids of the cited lines behind each sentence
    sentences: tuple[Sentence, ...]  # Its sentences in order
    citations: tuple[Citation, ...]  # Every cited line once, in the order of the text
    model: str | None  # Name of the model that wrote it; None when none did
    notice: str | None  # What a reader should know, such as that no model was used
    context: Context  # The lines it was made from
    way: Way = "read"  # How it was found
    why: str = ""  # Why it was found that way
    computed: Computed | None = None  # How it was computed, if it was
    completed: Completed | None = None  # How it was completed from evidence, if it was
    images: tuple[ShownImage, ...] = ()  # The images that it is about, best first
    offered: tuple[OtherReading, ...] = ()  # Readings of which none is certain enough, likeliest first

    @classmethod
    def of(
        cls,
        question: str,
        sentences: Iterable[Sentence],
        context: Context,
        model: str | None = None,
        notice: str | None = None,
    ) -> Answer:
        """Return the answer that some sentences make."""
        every = tuple(sentences)
        cited = {c.line_id: c for sentence in every for c in sentence.citations}
        text = "".join(sentence.before + str(sentence) for sentence in every)
        return cls(question, text, every, tuple(cited.values()), model, notice, context)

    @property
    def supported(self) -> bool:
        """Whether every sentence is."""
        return all(sentence.supported for sentence in self.sentences)

    @property
    def readings(self) -> tuple[OtherReading, ...]:
        """Return the readings that can be chosen instead."""
        return self.offered if self.computed is None else self.computed.readings

    @property
    def told(self) -> str:
        """Return the text as it is shown: what is not certain begins with "Probably" or "Perhaps"."""
        return "".join(self.pieces())

    def pieces(self) -> Iterator[str]:
        """Yield the text as it is shown, sentence by sentence."""
        doubt = doubt_of(self.computed.confidence) if self.computed is not None else ""
        if doubt:
            yield f"{doubt}:\n" if self.text.startswith("- ") else f"{doubt}: "
        yield from (sentence.before + str(sentence) for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON values, with all that `verify` needs.

        Terms are written as in the SPARQL 1.1 JSON results format.
        """
        return {
            "format": FORMAT,
            "question": self.question,
            "text": self.text,
            "model": self.model,
            "notice": self.notice,
            "sentences": [
                json_fields(s) | {"citations": [c.line_id for c in s.citations]} for s in self.sentences
            ],
            "citations": [c.to_json() for c in self.citations],
            "context": context_to_json(self.context),
            "way": self.way,
            "why": self.why,
            **(_NOT_COMPUTED if self.computed is None else self.computed.to_json()),
            "readings": [json_fields(other) for other in self.readings],
            **({} if self.completed is None else self.completed.to_json()),
            **({"images": [image.to_json() for image in self.images]} if self.way == "images" else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Answer:
        """Read an answer back; what `verify` would find wrong in it is not looked for.

        Raises:
            ModelError: If it is not the JSON form of an answer, or cites a line that it does not hold.
        """
        with form_of("JSON form of an answer"):
            context = context_from_json(value["context"])
            by_id = {line.id: line for line in context.lines}
            lines = {one: Citation.of(line) for one, line in by_id.items()}
            sentences = tuple(
                read_fields(
                    Sentence,
                    {"left": (), "against": (), **s, "verdict": verdict_of(s)},
                    citations=tuple(lines[one] for one in s["citations"]),
                )
                for s in value["sentences"]
            )
            way = value.get("way", "read")
            if way not in get_args(Way):
                raise TypeError("no such way")
            computed = Computed.from_json(value) if value.get("plan") else None
            return cls(
                str(value["question"]), str(value["text"]), sentences,
                tuple(lines[c["id"]] for c in value["citations"]), value["model"], value["notice"], context,
                way, str(value.get("why", "")), computed,
                Completed.from_json(value) if way == "complete" else None,
                tuple(ShownImage.from_json(one, by_id) for one in value.get("images", ())),
                tuple(read_fields(OtherReading, one) for one in value.get("readings", ()) if not computed),
            )  # fmt: skip

    def doubts(self) -> dict[str, list[str]]:
        """Return the sentences that what was read does not support, under what holds of them instead."""
        doubts: dict[str, list[str]] = {}
        for sentence in self.sentences:
            if sentence.verdict in VERDICTS:
                # What is supported in part, or contradicted, says by what.
                left = f" (no fact for: {', '.join(sentence.left)})" if sentence.left else ""
                against = [line.text for line in self.context.lines if line.id in sentence.against]
                left += f" (it has: {'; '.join(against)})" if against else ""
                doubts.setdefault(VERDICTS[sentence.verdict], []).append(f"{sentence}{left}")
        return doubts

    def _repr_html_(self) -> str:
        """Return the answer as HTML for a notebook: its text, what it cites, quotations and images."""
        cited = {c.line_id for c in self.citations}
        parts = [html.tag("p", html.lines(self.told))]
        if self.computed is not None:
            parts += self._computation_html(self.computed)
        if self.readings:
            title = "Other readings" if self.computed is not None else "Readings, none of them certain enough"
            others = html.bullets([f"reading={other.number}: {other}" for other in self.readings])
            parts.append(html.details(title, others))
        if self.images:
            # Drawing them is done in a room above this one.
            parts.append(import_module("mrag.images.answer").figures(self.images, cited))
        if self.citations and not self.images:
            rows = [(c.line_id, c.text, html.badge(c.mark.strip())) for c in self.citations]
            parts.append(html.table(("", "triple", "layer"), rows))
        if self.completed is not None:
            parts += self._completion_html(self.completed)
        for heading, doubts in self.doubts().items():
            parts += [html.tag("p", heading), html.bullets(doubts)]
        if self.notice:
            parts.append(html.tag("p", html.tag("small", self.notice)))
        return html.tag("div", *parts, class_="mrag-answer")

    @staticmethod
    def _computation_html(computed: Computed) -> list[html.Html]:
        parts: list[html.Html] = []
        if len(computed.columns) > 1 or len(computed.rows) > 1:
            rows = [[cell.label for cell in row] for row in computed.rows[:_SHOWN]]
            parts.append(html.table([c.replace("_", " ") for c in computed.columns], rows))
            if len(computed.rows) > _SHOWN:
                parts.append(html.tag("p", f"{_SHOWN} of {len(computed.rows)} rows are shown."))
        if computed.runners_up:
            parts.append(html.tag("p", html.tag("small", f"Next: {computed.next}")))
        parts.append(html.tag("p", html.tag("small", f"Read as: {computed.reading}")))
        parts.append(html.details("SPARQL", html.tag("pre", computed.query)))
        return parts

    @staticmethod
    def _completion_html(completed: Completed) -> list[html.Html]:
        rows = [
            (one, ref.kind, ref.source, ref.quote) for one, refs in completed.evidence.items() for ref in refs
        ]
        parts = [html.table(("", "evidence", "source", "words"), rows)] if rows else []
        if completed.reading is not None:
            parts.append(html.tag("p", html.tag("small", f"Read as: {completed.read_as}")))
        if completed.missing:
            parts.append(html.details("Missing triples", html.bullets(completed.missing)))
        return parts

    def __str__(self) -> str:
        parts = [self.told]
        if self.computed is not None:
            next_ = [f"Next: {inline(self.computed.next)}"] if self.computed.runners_up else []
            parts.append("\n".join([*next_, f"Read as: {inline(self.computed.reading)}"]))
        offered = (f"Perhaps (reading {one.number}): {inline(str(one))}" for one in self.offered)
        parts += ["\n".join(offered)] if self.offered else []
        if self.completed is not None and self.completed.reading is not None:
            parts.append(f"Read as: {inline(self.completed.read_as)}")
        if self.citations:
            shown = (untrusted.line(c.line_id, c.text, c.mark.strip()) for c in self.citations)
            parts.append("\n".join(map(inline, shown)))
        for heading, doubts in self.doubts().items():
            parts.append("\n".join([heading, *(f"- {inline(text)}" for text in doubts)]))
        if self.notice:
            parts.append(self.notice)
        parts += self.beside()
        return "\n\n".join(parts)

    def beside(self) -> list[str]:
        """Return what stands beside the triples: the words that were read in evidence, and the images."""
        quoted = [
            inline(untrusted.line(one, f"{ref.kind} of {ref.source}: “{ref.quote}”"))
            for one, refs in (self.completed.evidence.items() if self.completed is not None else ())
            for ref in refs
        ]
        parts = ["\n".join(quoted)] if quoted else []
        for image in self.images:
            lines = [f"{image.rank}. {image.name}  {image.path or f'<{image.iri}>'}"]
            parts.append("\n".join(map(inline, [*lines, *(f"   {reason}" for reason in image.reasons)])))
        return parts


_LARGEST = 2**53 - 1  # The largest integer that every reader of JSON keeps (RFC 7493, section 2.2)


def parse(text: str | bytes) -> Any:
    """Read JSON of which every reader reads the same: no name twice, no NaN, no half of a character."""
    try:
        written = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        value = json.loads(written, object_pairs_hook=_object, parse_constant=_no_number)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        return value
    except RecursionError as error:
        raise ModelError("Not JSON: it is nested too deeply.", hint="Save it as it came.") from error
    except ValueError as error:
        raise ModelError(f"Not JSON: {error}.", hint="Save the output of `mrag ask --json`.") from error


def canonical(value: Any) -> bytes:
    """Write JSON values in their one spelling (RFC 8785)."""
    try:
        return _write(value).encode()
    except (RecursionError, UnicodeEncodeError) as error:
        raise ModelError("This JSON has no canonical form.", hint=str(error)[:80]) from error


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are the same, `true` and `1` and `"1"` being three values."""
    return canonical(one) == canonical(other)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"the name “{name[:40]}” stands twice in one object")
        members[name] = value
    return members


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _write(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, Mapping):
        # By UTF-16 code units, which differs from code points beyond the basic plane.
        if not all(isinstance(name, str) for name in value):
            raise ModelError("The names of a JSON object are strings.")
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ",".join(map(_write, value)) + "]"
    raise ModelError("Not a JSON value.", term=repr(value)[:80])


def _number(value: float) -> str:
    """Write a number as ECMAScript does."""
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ModelError("An integer is larger than JSON keeps.", term=str(value.bit_length()) + " bits")
    number = Decimal(repr(value))
    if not number.is_finite():
        raise ModelError("JSON has no such number.", term=repr(value))
    if not number:
        return "0"
    sign, digits, _ = number.normalize().as_tuple()
    at = number.adjusted()
    if -6 <= at < 21:
        shown = format(number, "f")
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    text = "".join(map(str, digits))
    return f"{'-' if sign else ''}{text[0]}{'.' + text[1:] if text[1:] else ''}e{at:+d}"


_WAYS: Final = {
    "plan": "Computed", "read": "Read, not computed", "complete": "Completed from texts",
    "images": "Answered with images",
}  # fmt: skip


def lines_of(
    given: Answer,
    *,
    sparql: bool = False,
    context: bool = False,
    way: bool = False,
    more: bool = False,
    words: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield the lines of an answer, each with its kind.

    Args:
        given: The answer.
        sparql: Whether its query is told, too.
        context: Whether all lines that it was made from are told, not only those that it cites.
        way: Whether it is told why it was read.
        more: Whether it is told why it took whichever way it did.
        words: Whether it is told what each word of the question became.

    Yields:
        `text`, `data` (SPARQL), or the style in which what is no part of the answer is said: `dim`, `yellow`.
    """
    yield "text", given.told
    if given.computed is not None:
        yield from _reading(given.computed, sparql, given.why if words else None)
    elif given.offered:
        yield "text", ""
        yield from (("text", inline(f"Perhaps (--reading {one.number}): {one}")) for one in given.offered)
    if given.citations:
        yield "text", ""
    yield from (("text", inline(f"[{c.line_id}] {c.text}{c.mark}")) for c in given.citations)
    yield from (("text", text) for part in given.beside() for text in ("", part))
    for heading, doubts in given.doubts().items():
        yield from (("yellow", text) for text in (heading, *(f"- {one}" for one in doubts)))
    if context:
        yield from (("text", text) for text in ("", given.context.text()))
    if given.why and (more or (way and given.way != "plan")):
        yield from (("dim", text) for text in ("", f"{_WAYS[given.way]}: {given.why}."))
    if given.notice:
        yield from (("dim", text) for text in ("", given.notice))


def _reading(computed: Computed, sparql: bool, why: str | None) -> Iterator[tuple[str, str]]:
    """Yield how a question was read, other readings, and if wanted what its words became and the query."""
    parts = ["", *([f"Next: {computed.next}"] if computed.runners_up else []), f"Read as: {computed.reading}"]
    if why is not None:
        said = [(one.said or "(no words)", one) for one in computed.words]
        width = max((len(words) for words, _ in said), default=0)
        parts += [f"  {words:<{width}}  {one}" for words, one in said] or [f"  {why}"]
        if computed.ignored:
            parts.append(f"  Not understood: {', '.join(computed.ignored)}")
    parts += [f"Also (--reading {other.number}): {other}" for other in computed.readings]
    yield from (("text", inline(text)) for text in parts)
    if sparql:
        yield from (("text", ""), ("data", computed.query))
