"""What the tools do. Nothing here knows the protocol, and everything is read only and bounded."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from rdflib import Literal as RdfLiteral
from rdflib import URIRef

import mrag
from mrag import generation, untrusted
from mrag._tables import tables
from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.errors import ConfigError, TermError
from mrag.generation.models import check_model, model_name
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.mcp import McpSettings
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, XSD, Term, Triple, curie, iri, term_to_json, to_ox
from mrag.retrieval import registry, stream
from mrag.retrieval.rankers import Question, Ranker
from mrag.retrieval.reading import QuestionReader
from mrag.stores.base import Limits, SelectResult
from mrag.untrusted import one_line

_BYTES = 16 << 20  # bytes that a query's answer may have
_CELL = 200
_VALUE = 2_000
_ENDS = re.compile("[\x85\u2028\u2029]")
_ARGUMENTS = tables("mcp/tools.toml")
_BARE = frozenset(XSD + name for name in ("integer", "decimal", "double", "float", "boolean"))
STAGE: ContextVar[Callable[[str], object]] = ContextVar("STAGE", default=len)
"""Takes what a call is doing, for whoever waits for it."""


@dataclass
class ToolContext:
    """What all tools work with."""

    kg: KnowledgeGraph  # the knowledge graph
    settings: McpSettings  # the bounds
    questions: QuestionReader = field(init=False)  # what reads questions, within the deadline
    _model: Any = None
    _ranker: Ranker | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.questions = QuestionReader(self.kg, self.settings.seconds)

    @property
    def limits(self) -> Limits:
        """Return the caps of a query."""
        return Limits(seconds=self.settings.seconds, rows=self.settings.rows, bytes=_BYTES)

    def iri(self, text: str) -> URIRef:
        """Read an IRI that a model wrote."""
        return iri(text, self.kg.prefixes)

    def model(self) -> Any:
        """Return the language model; one that was named is made once."""
        if self.settings.model in (None, "auto"):
            return generation.resolve(self.settings.model) or "none"
        with self._lock:
            if self._model is None:
                self._model = generation.resolve(self.settings.model) or "none"
        return self._model

    def ranker(self, name: str | None = None) -> Ranker:
        """Return a ranker that a client may choose; that of the settings is made once."""
        if name is not None:
            registry.check_client_ranker(name, self.settings.ranker)
            return registry.ranker(name, self.kg, index=self.settings.index)
        with self._lock:
            if self._ranker is None:
                self._ranker = registry.ranker(self.settings.ranker, self.kg, index=self.settings.index)
        return self._ranker

    def open_index(self) -> None:
        """Open the index in one thread, so that two first calls do not load its model twice."""
        with self._lock:
            SimilarityIndexes.of(self.kg).get(self.settings.index)


@dataclass(frozen=True)
class Result:
    """What a tool gives."""

    text: str  # for a model to read
    data: dict[str, Any] = field(default_factory=dict)  # the same for programs, in types that JSON has


def of_query(
    result: SelectResult | bool | Sequence[Triple], max_rows: int, prefixes: Mapping[str, str]
) -> Result:
    """Show what a query found."""
    if isinstance(result, bool):
        return Result(str(result).lower(), {"boolean": result})
    if isinstance(result, SelectResult):
        names, rows = result.variables, list(result)
        head = "\t".join("?" + name for name in names)
        bindings = [
            {v: _json(t) for v, t in zip(names, row, strict=True) if t is not None} for row in rows[:max_rows]
        ]
        data: dict[str, Any] = {"variables": list(names), "rows": bindings}
        lines = [head, *("\t".join(cell(t, prefixes) for t in row) for row in rows[:max_rows])]
        kind = "rows"
    else:
        rows = [tuple(triple) for triple in result]
        data = {"triples": [[_json(t) for t in triple] for triple in result[:max_rows]]}
        lines = [" ".join(cell(t, prefixes) for t in triple) + " ." for triple in result[:max_rows]]
        kind = "triples"
    data |= {"count": len(rows), "shown": min(max_rows, len(rows))}
    if not rows:
        lines.append(f"There are no {kind}.")
    elif len(rows) > max_rows:
        lines.append(f"{max_rows} of {len(rows)} {kind} are shown.")
    return Result("\n".join(lines), data)


def cell(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """Show a term in a table: an IRI as a CURIE, a literal in one line and no longer than it must be."""
    if term is None:
        return ""
    if not isinstance(term, RdfLiteral):
        return untrusted.one_line(curie(str(term), prefixes) if isinstance(term, URIRef) else term.n3())
    if term.datatype is not None and str(term.datatype) in _BARE:
        return untrusted.one_line(str(term)[:_CELL])
    text = str(term) if len(term) <= _CELL else f"{str(term)[: _CELL - 1]}…"
    # JSON leaves these as they are, and some readers end a line there.
    shown = _ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", json.dumps(text, ensure_ascii=False))
    shown = untrusted.lines(shown)
    if term.language:
        return f"{shown}@{term.language}"
    if term.datatype is None:
        return shown
    return f"{shown}^^{untrusted.one_line(curie(str(term.datatype), prefixes))}"


def clip(text: str, max_length: int) -> str:
    """Cut a text at a line, saying so."""
    if len(text) <= max_length:
        return text
    kept = text[:max_length].rpartition("\n")[0] or text[:max_length]
    return f"{kept}\n… cut: {len(text)} characters in all. Ask for less at once."


def _json(term: Term) -> dict[str, Any]:
    written: dict[str, Any] = term_to_json(term)
    if len(written["value"]) > _VALUE:
        return {**written, "value": written["value"][:_VALUE], "characters": len(written["value"])}
    return written


Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Iri = Annotated[str, Field(min_length=1, max_length=2_000)]
RankerName = Annotated[str, Field(min_length=1, max_length=100)]


def search(desk: ToolContext, text: Words, k: int = 10, ranker: RankerName | None = None) -> Result:
    """Find the entities most similar to a text, with labels, scores and why each was found.

    Start here: other tools take the IRIs that it returns.
    """
    own = desk.settings.ranker
    alone = ranker is None and registry.without_index(own, desk.kg, desk.settings.index) != own
    if not alone:
        desk.open_index()
    hits = desk.ranker("names" if alone else ranker).rank(Question(text), k)
    display = Display(desk.kg)
    display.prepare([hit.iri for hit in hits])
    entities = [
        {
            "rank": hit.rank,
            "iri": hit.iri,
            "label": display.entity(hit.iri),
            "score": round(hit.score, 6),
            "reasons": list(hit.reasons),
        }
        for hit in hits
    ]
    lines = [
        f"{f['rank']}. {one_line(str(f['label']))} {_short(desk, f['iri'])} "
        f"score {f['score']:.3f}: {one_line('; '.join(hit.reasons))}"
        for f, hit in zip(entities, hits, strict=True)
    ]
    notes = [registry.NAMES_ALONE] if alone else _staleness(desk)
    return Result("\n".join([*lines, *notes]) or "Nothing was found.", {"entities": entities, "notes": notes})


def context(
    desk: ToolContext, entities: list[Iri], question: str = "", hops: int = 1, most: int = 60
) -> Result:
    """Show the triples around entities, the most relevant first, as lines with ids to cite.

    Lines marked inferred follow by reasoning; `explain` proves them.
    """
    seeds = [(str(desk.iri(text)), 1.0) for text in entities]
    budget = max(1, desk.settings.characters // 5)
    settings = ContextSettings(hops=hops, max_triples=most, token_budget=budget)
    neighbourhood = expand(desk.kg, seeds, settings, question=question)
    lines = []
    for entity, name in zip(neighbourhood.entities, neighbourhood.names, strict=True):
        lines.append(f"{one_line(name)} {_short(desk, entity)}")
        if not neighbourhood.of(entity):
            lines.append("The graph says nothing of it that is not said above.")
    notes = [
        f"Left out: {'at least ' if d.more else ''}{d.count} ({one_line(d.reason)})."
        for d in neighbourhood.dropped
        if d.count
    ]
    head = "Lines marked inferred follow by reasoning; the others are asserted."
    return Result("\n".join([*lines, "", head, neighbourhood.text(), *notes]), neighbourhood.to_json())


def ask(
    desk: ToolContext,
    question: Words,
    k: int = 10,
    how: Literal["auto", "plan", "read"] = "auto",
    ranker: RankerName | None = None,
    reading: int | None = None,
    most: int = 50,
) -> Result:
    """Answer a question in words, citing the triples it rests on.

    Counts, superlatives, averages, comparisons, groups, lists, yes or no are computed: the JSON has the rows,
    how the question was read, the SPARQL, and other readings. What cannot be computed for sure is read around
    the most similar entities; there, sentences that no triple supports are named.
    """
    if ranker is not None:
        registry.check_client_ranker(ranker, desk.settings.ranker)
    check_model(desk.settings.model)
    answer, why, offered = desk.questions.compute(question, how, reading)
    notes: list[str] = []
    if answer is None:
        desk.open_index()
        model, text = desk.model(), ""
        reader = "" if model == "none" else f" by {model_name(model)}"
        STAGE.get()(f"The facts are found and read{reader}")
        for part in stream(
            desk.kg, question, model=model, k=k, index=desk.settings.index, how="read",
            ranker=desk.ranker(ranker),
        ):  # fmt: skip
            if isinstance(part, str):
                text += part
                STAGE.get()(f"Written so far, and not checked yet: {one_line(text[-_CELL:])}")
            else:
                answer = replace(part, why=why, offered=offered)
        notes = _staleness(desk)
        if why:
            notes.insert(0, f"Read, not computed: {one_line(why)}.")
    assert answer is not None
    data = answer.to_json()
    # The lines it was made from are many, and those that count are cited.
    data["entities"] = (data.pop("context", None) or {}).get("entities", [])
    data |= {"rows": data["rows"][:most], "count": len(data["rows"])}
    if data["count"] > most:
        notes.append(f"{most} of {data['count']} rows are in the JSON.")
    if answer.computed is not None:
        notes += [
            f"Reading {other.number} would give {one_line(other.answer)}: {one_line(other.reading)}"
            for other in answer.readings
        ]
    return Result("\n".join([str(answer), *notes]), data)


def explain(
    desk: ToolContext, subject: Iri, predicate: Iri | None = None, object: Any = None, most: int = 5
) -> Result:
    """Prove an inferred triple, or those of an entity.

    Each has the rule, its axiom and its premises down to asserted triples.
    """
    if (predicate is None) != (object is None):
        raise ConfigError(
            "Give predicate and object, or neither.",
            hint="With neither, the entity's inferred triples are explained.",
        )
    entity = desk.iri(subject)
    if predicate is None:
        explanation = mrag.explain(desk.kg, entity, max_triples=most)
    else:
        end = read_term(object, desk.kg.prefixes)
        explanation = mrag.explain(desk.kg, entity, desk.iri(predicate), end)
    texts = list(explanation.texts)
    if explanation.inferred > most:
        texts.append(f"{most} of {explanation.inferred} inferred triples are explained.")
    return Result("\n\n".join(texts), {"proofs": explanation.to_json(), "inferred": explanation.inferred})


def schema(desk: ToolContext, contains: str = "", most: int = 50) -> Result:
    """List the classes and predicates of the graph with counts and labels, and the prefixes.

    Read it before writing SPARQL.
    """
    kg, display = desk.kg, Display(desk.kg)
    data: dict[str, Any] = {
        "name": kg.name,
        "asserted_triples": kg.record.triples,
        "reasoned": kg.reasoned,
        "indexes": SimilarityIndexes.of(kg).names(),
    }
    parts = [
        f"Knowledge graph {kg.name}: {kg.record.triples:,} asserted triples, "
        f"{'inferred triples up to date' if kg.reasoned else 'inferred triples not up to date or none'}."
    ]
    for kind, label in (("classes", display.entity), ("predicates", display.predicate)):
        counts = _counts(desk, f"explore/{kind}")
        display.prepare([name for name, _ in counts])
        rows = [{"iri": name, "label": label(name), "count": count} for name, count in counts]
        rows = [r for r in rows if contains.lower() in f"{r['iri']} {r['label']}".lower()]
        data[kind] = rows[:most]
        data[f"{kind}_in_all"] = len(rows)
        parts.append(f"\n{kind.capitalize()} ({len(rows)}):")
        parts += [
            f"{r['count']:>8}  {one_line(str(r['label']))}  {_short(desk, r['iri'])}" for r in data[kind]
        ]
        if len(rows) > most:
            parts.append(f"{most} of {len(rows)} are shown.")
    shown = (*data["classes"], *data["predicates"])
    used = {curie(row["iri"], kg.prefixes).partition(":")[0] for row in shown}
    data["prefixes"] = {p: n for p, n in sorted(kg.prefixes.items()) if p in used}
    parts.append("\nPrefixes: " + ", ".join(f"{p}: <{n}>" for p, n in data["prefixes"].items()))
    return Result("\n".join(parts), data)


def query(
    desk: ToolContext, sparql: str, layer: Literal["all", "asserted", "inferred"] = "all", most: int = 50
) -> Result:
    """Run a SPARQL 1.1 read query.

    The prefixes that `schema` lists need no declaration. Updates, SERVICE and graphs elsewhere are refused;
    time and rows are bounded, so write a LIMIT. GraphDB's similarity vocabulary works, and FROM onto:explicit
    or onto:implicit.
    """
    # The process that answers it ends at the deadline.
    return of_query(desk.kg.query(sparql, limits=desk.limits, layer=layer), most, desk.kg.prefixes)


def read_term(value: Any, prefixes: Mapping[str, str] | None = None) -> Term:
    """Read a term from JSON: plain, or as the JSON results of SPARQL 1.1 write it (section 3.2.2)."""
    if isinstance(value, bool | int | float):
        return RdfLiteral(value)
    given = value
    if isinstance(value, str):
        given = {"type": "uri", "value": value}
    if (
        not isinstance(given, dict)
        or not all(isinstance(part, str) for part in given.values())
        or not {"type", "value"} <= set(given) <= {"type", "value", "xml:lang", "datatype"}
        or given["type"] not in ("uri", "literal")
        or len(given["value"]) > 10_000
    ):
        raise TermError(
            "Not a term.",
            term=str(value)[:200],
            hint='Give an IRI, a CURIE, a text, or {"type": "uri" or "literal", "value": …} with "xml:lang" '
            'or "datatype" where it has one.',
        )
    if given["type"] == "uri":
        return iri(given["value"], prefixes)
    language = given.get("xml:lang") or None
    datatype = URIRef(given["datatype"]) if given.get("datatype") and language is None else None
    try:
        literal = RdfLiteral(given["value"], lang=language, datatype=datatype, normalize=False)
    except ValueError as error:
        raise TermError("Not a well-formed literal.", term=str(value)[:200], hint=str(error)) from error
    to_ox(literal)
    return literal


def _short(desk: ToolContext, entity: object) -> str:
    return one_line(curie(str(entity), desk.kg.prefixes))


def _counts(desk: ToolContext, name: str) -> list[tuple[str, int]]:
    # A large ontology has more classes than a model should be given rows.
    rows = desk.kg.query(queries.get(name).text, limits=Limits(seconds=desk.settings.seconds))
    assert isinstance(rows, SelectResult)
    return [
        (str(what), int(str(count)))
        for what, count in rows
        if isinstance(what, URIRef) and isinstance(count, RdfLiteral) and not what.startswith(SKOLEM)
    ]


def _staleness(desk: ToolContext) -> list[str]:
    if SimilarityIndexes.of(desk.kg).info(desk.settings.index).stale:
        return [f"The index {desk.settings.index!r} is older than the graph; run `mrag index` to update it."]
    return []


@dataclass(frozen=True)
class Tool:
    """A tool as it is offered: what a model reads of it stands where it is done, of arguments in a file."""

    title: str
    run: Callable[..., Result]

    @property
    def name(self) -> str:
        """Return its name."""
        return self.run.__name__

    @property
    def description(self) -> str:
        """Return what a model reads of it."""
        return " ".join((self.run.__doc__ or "").split())

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Return the model of its arguments; unknown ones are refused, so that a misspelt one is noticed."""
        hints, about = get_type_hints(self.run, include_extras=True), _ARGUMENTS[self.name]
        _, *given = signature(self.run).parameters.values()
        defaults = {one.name: ... if one.default is one.empty else one.default for one in given}
        fields: dict[str, Any] = {
            name: (hints[name], Field(default, **about[name])) for name, default in defaults.items()
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        for part in schema["properties"].values():
            part.pop("title", None)
        return schema


def tools() -> Sequence[Tool]:
    """Return the tools, in the order in which a client shows them."""
    return (
        Tool("Search entities", search),
        Tool("Show what is known of entities", context),
        Tool("Ask a question", ask),
        Tool("Explain an inference", explain),
        Tool("Describe the graph", schema),
        Tool("Run SPARQL", query),
    )
