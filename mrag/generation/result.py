"""An answer as data: sentences, what each rests on, and a JSON form that can be checked later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, get_args
from typing import Literal as OneOf

from mrag import html, untrusted
from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.computed import Computed, OtherReading, doubt_of
from mrag.generation.found import Completed, ShownImage
from mrag.generation.lines import context_from_json, context_to_json
from mrag.generation.support.sentences import with_ids
from mrag.generation.support.verdicts import VERDICTS, Verdict, verdict_of
from mrag.graph.record import status_of
from mrag.rdf.terms import Triple, triple_to_json
from mrag.terminal import inline

Way: TypeAlias = OneOf["plan", "read", "complete", "images"]
"""The ways to an answer: computed, read in the context, completed from texts, found in images."""

FORMAT = 1
"""Version of the JSON form of an answer."""

_SHOWN = 50
"""Rows that a notebook shows."""

_NOT_COMPUTED: Mapping[str, Any] = {
    "reading": None, "plan": None, "query": None, "columns": [], "rows": [], "confidence": None, "doubt": "",
    "ignored": [], "readings": [], "truncated": False, "runners_up": [], "last": [],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Citation:
    """A line of the context that a sentence rests on.

    Attributes:
        line_id: Id of the line in the context.
        triple: The triple itself.
        graph: IRI of the named graph that holds it.
        inferred: Whether reasoning made it.
        text: The line as the prompt showed it.
    """

    line_id: str
    triple: Triple
    graph: str
    inferred: bool
    text: str

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
        return {
            "id": self.line_id,
            "triple": triple_to_json(self.triple),
            "graph": self.graph,
            "inferred": self.inferred,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer.

    Attributes:
        text: The sentence, without ids.
        citations: What it rests on, the best first.
        supported: Whether lines cover all that it says, or it says nothing that needs cover.
        before: What stands before it in the answer: nothing, a space, the bullet of a list.
        rejected_ids: Ids that the model wrote in it and that do not hold.
        verdict: What is known of it: `read` or `graph` where it is supported, `partly`, `contradicted`,
            `unsaid` where the graph was asked and does not say it, `unread` where it was not asked, `nothing`
            where it says nothing.
        left: Words of it that no fact accounts for.
        against: Ids of lines that contradict it.
    """

    text: str
    citations: tuple[Citation, ...]
    supported: bool
    before: str = ""
    rejected_ids: tuple[str, ...] = ()
    verdict: Verdict = "read"
    left: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def __str__(self) -> str:
        return with_ids(self.text, [c.line_id for c in self.citations])


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what it stands on.

    Attributes:
        question: What was asked.
        text: The answer, with the ids of the cited lines behind each sentence.
        sentences: Its sentences in order.
        citations: Every cited line once, in the order of the text.
        model: Name of the model that wrote it; None when none did.
        notice: What a reader should know, such as that no model was used.
        context: The lines it was made from.
        way: How it was found: `plan` for a computed answer, `read` for one read in the context, `complete`
            for one completed from texts, `images` for one with images.
        why: Why it was found that way.
        computed: How it was computed, if it was.
        completed: How it was completed from evidence, if it was.
        images: The images that it is about, best first.
        offered: Readings of the question of which none is certain enough to be the answer, likeliest first.
    """

    question: str
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    model: str | None
    notice: str | None
    context: Context
    way: Way = "read"
    why: str = ""
    computed: Computed | None = None
    completed: Completed | None = None
    images: tuple[ShownImage, ...] = ()
    offered: tuple[OtherReading, ...] = ()

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
                {
                    "text": s.text,
                    "before": s.before,
                    "citations": [c.line_id for c in s.citations],
                    "supported": s.supported,
                    "rejected_ids": list(s.rejected_ids),
                    "verdict": s.verdict,
                    "left": list(s.left),
                    "against": list(s.against),
                }
                for s in self.sentences
            ],
            "citations": [c.to_json() for c in self.citations],
            "context": context_to_json(self.context),
            "way": self.way,
            "why": self.why,
            **(_NOT_COMPUTED if self.computed is None else self.computed.to_json()),
            "readings": [other.to_json() for other in self.readings],
            **({} if self.completed is None else self.completed.to_json()),
            **({"images": [image.to_json() for image in self.images]} if self.way == "images" else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Answer:
        """Read an answer back; what `verify` would find wrong in it is not looked for.

        Raises:
            ModelError: If it is not the JSON form of an answer, or cites a line that it does not hold.
        """
        try:
            context = context_from_json(value["context"])
            lines = {line.id: Citation.of(line) for line in context.lines}
            sentences = tuple(
                Sentence(
                    str(s["text"]),
                    tuple(lines[one] for one in s["citations"]),
                    bool(s["supported"]),
                    str(s["before"]),
                    tuple(str(one) for one in s["rejected_ids"]),
                    verdict_of(s),
                    tuple(str(one) for one in s.get("left", ())),
                    tuple(str(one) for one in s.get("against", ())),
                )
                for s in value["sentences"]
            )
            model, notice = value["model"], value["notice"]
            cited = tuple(lines[c["id"]] for c in value["citations"])
            way, why = value.get("way", "read"), str(value.get("why", ""))
            if way not in get_args(Way):
                raise TypeError("no such way")
            computed = Computed.from_json(value) if value.get("plan") else None
            completed = Completed.from_json(value) if way == "complete" else None
            by_id = {line.id: line for line in context.lines}
            offered = () if computed else tuple(map(OtherReading.from_json, value.get("readings", ())))
            images = tuple(ShownImage.from_json(one, by_id) for one in value.get("images", ()))
            return cls(
                str(value["question"]), str(value["text"]), sentences, cited, model, notice, context,
                way, why, computed, completed, images, offered,
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                "Not the JSON form of an answer.", hint=f"Missing or malformed: {error}."
            ) from error

    def doubted(self) -> dict[str, list[str]]:
        """Return the sentences that what was read does not support, under what holds of them instead."""
        found: dict[str, list[str]] = {}
        for sentence in self.sentences:
            if sentence.verdict in VERDICTS:
                # What is supported in part, or contradicted, says by what.
                left = f" (no fact for: {', '.join(sentence.left)})" if sentence.left else ""
                against = [line.text for line in self.context.lines if line.id in sentence.against]
                left += f" (it has: {'; '.join(against)})" if against else ""
                found.setdefault(VERDICTS[sentence.verdict], []).append(f"{sentence}{left}")
        return found

    def _repr_html_(self) -> str:
        """Return the answer as HTML for a notebook: its text, what it cites, and that as a drawn graph.

        What was read in texts is quoted, and images are shown.
        """
        cited = {c.line_id for c in self.citations}
        edges = [line.labels for line in self.context.lines if line.id in cited]
        parts = [html.tag("p", html.lines(self.told))]
        if self.computed is not None:
            parts += self._computed_html(self.computed)
        if self.readings:
            title = "Other readings" if self.computed is not None else "Readings, none of them certain enough"
            others = html.bullets([f"reading={other.number}: {other}" for other in self.readings])
            parts.append(html.details(title, others))
        if self.images:
            # Drawing them is done in a room above this one.
            parts.append(import_module("mrag.images.answer").figures(self.images, cited))
        if self.citations and not self.images:
            rows = [(c.line_id, c.text, html.badge(c.mark.strip())) for c in self.citations]
            parts += [html.table(("", "triple", "layer"), rows), html.details("Graph", html.graph(edges))]
        if self.completed is not None:
            parts += self._completed_html(self.completed)
        for heading, told in self.doubted().items():
            parts += [html.tag("p", heading), html.bullets(told)]
        if self.notice:
            parts.append(html.tag("p", html.tag("small", self.notice)))
        return html.tag("div", *parts, class_="mrag-answer")

    @staticmethod
    def _computed_html(computed: Computed) -> list[html.Html]:
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
    def _completed_html(completed: Completed) -> list[html.Html]:
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
        if self.offered:
            parts.append(
                "\n".join(f"Perhaps (reading {one.number}): {inline(str(one))}" for one in self.offered)
            )
        if self.completed is not None and self.completed.reading is not None:
            parts.append(f"Read as: {inline(self.completed.read_as)}")
        if self.citations:
            shown = (untrusted.line(c.line_id, c.text, c.mark.strip()) for c in self.citations)
            parts.append("\n".join(map(inline, shown)))
        for heading, told in self.doubted().items():
            parts.append("\n".join([heading, *(f"- {inline(text)}" for text in told)]))
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
        found = ["\n".join(quoted)] if quoted else []
        for image in self.images:
            lines = [f"{image.rank}. {image.name}  {image.path or f'<{image.iri}>'}"]
            found.append("\n".join(map(inline, [*lines, *(f"   {reason}" for reason in image.reasons)])))
        return found
