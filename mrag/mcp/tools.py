"""What the tools do. Nothing here knows the protocol, and everything is read only and bounded."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from rdflib import Literal as RdfLiteral
from rdflib import URIRef

import mrag
from mrag import generation, untrusted
from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.mcp import McpSettings
from mrag.mcp.catalogue import entries, listing, nearest, parameters_schema, read_term
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, XSD, Term, Triple, curie, iri, term_to_json
from mrag.retrieval.rankers import Question, Ranker
from mrag.retrieval.reading import QuestionReader
from mrag.stores.base import Limits, SelectResult
from mrag.untrusted import one_line

_BYTES = 16 << 20  # bytes that a query's answer may have


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

    def check_ranker(self, name: str | None) -> None:
        """Make sure that a client may choose a ranker; None stands for that of the settings."""
        from mrag.retrieval.registry import check_client_ranker

        if name is not None:
            check_client_ranker(name, self.settings.ranker)

    def ranker(self, name: str | None = None) -> Ranker:
        """Return a ranker; that of the settings is made once."""
        from mrag.retrieval.registry import ranker

        if name is not None:
            self.check_ranker(name)
            return ranker(name, self.kg, index=self.settings.index)
        with self._lock:
            if self._ranker is None:
                self._ranker = ranker(self.settings.ranker, self.kg, index=self.settings.index)
        return self._ranker

    def open_index(self) -> None:
        """Open the index in one thread, so that two first calls do not load its model twice."""
        with self._lock:
            SimilarityIndexes.of(self.kg).get(self.settings.index)


_ENDS = re.compile("[\x85\u2028\u2029]")
_CELL = 200
_VALUE = 2_000
_BARE = frozenset(XSD + name for name in ("integer", "decimal", "double", "float", "boolean"))


@dataclass(frozen=True)
class Result:
    """What a tool gives."""

    text: str  # for a model to read
    data: dict[str, Any] = field(default_factory=dict)  # the same for programs, in types that JSON has


def of_query(
    found: SelectResult | bool | Sequence[Triple], max_rows: int, prefixes: Mapping[str, str]
) -> Result:
    """Show what a query found."""
    if isinstance(found, bool):
        return Result(str(found).lower(), {"boolean": found})
    if isinstance(found, SelectResult):
        names, rows = found.variables, list(found)
        head = "\t".join("?" + name for name in names)
        bindings = [
            {v: _json(t) for v, t in zip(names, row, strict=True) if t is not None} for row in rows[:max_rows]
        ]
        data: dict[str, Any] = {"variables": list(names), "rows": bindings}
        lines = [head, *("\t".join(cell(t, prefixes) for t in row) for row in rows[:max_rows])]
        kind = "rows"
    else:
        rows = [tuple(triple) for triple in found]
        data = {"triples": [[_json(t) for t in triple] for triple in found[:max_rows]]}
        lines = [" ".join(cell(t, prefixes) for t in triple) + " ." for triple in found[:max_rows]]
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
Layer = Annotated[Literal["all", "asserted", "inferred"], Field(description="Which triples the query sees.")]
Most = Annotated[int, Field(ge=1, le=500, description="Maximum number of rows to show.")]


class Arguments(BaseModel):
    """Arguments of a tool; unknown ones are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


RankerName = Annotated[str, Field(min_length=1, max_length=100)]


class SearchArguments(Arguments):
    """Arguments of `search`."""

    text: Words = Field(description="What to search for, in words.")
    k: int = Field(default=10, ge=1, le=100, description="Maximum number of entities.")
    ranker: RankerName | None = Field(
        default=None,
        description="By words (bm25), by meaning (dense), both (hybrid) or structure (codes); behind it "
        "+mmr for variety or +cel for a learnt concept. The server's own if left out.",
    )


class ContextArguments(Arguments):
    """Arguments of `context`."""

    entities: list[Iri] = Field(min_length=1, max_length=20, description="IRIs or CURIEs of entities.")
    question: str = Field(
        default="", max_length=2_000, description="Triples that share words with it come first."
    )
    hops: int = Field(default=1, ge=1, le=2, description="Steps from each entity.")
    most: int = Field(default=60, ge=1, le=300, description="Maximum number of triples.")


class AskArguments(Arguments):
    """Arguments of `ask`."""

    question: Words = Field(description="The question, in words.")
    k: int = Field(
        default=10, ge=1, le=50, description="Maximum number of entities to start from, if it is read."
    )
    how: Literal["auto", "plan", "read"] = Field(
        default="auto",
        description="plan: compute the answer or say why that cannot be done. read: read it around the most "
        "similar entities. auto: compute where that is sure, else read.",
    )
    ranker: RankerName | None = Field(
        default=None, description="What finds the entities to start from, if it is read; as for `search`."
    )
    reading: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="Number of the reading to compute, of those that `ask` offers.",
    )
    most: Most = 50


class ExplainArguments(Arguments):
    """Arguments of `explain`."""

    subject: Iri = Field(description="IRI or CURIE of an entity.")
    predicate: Iri | None = Field(default=None, description="With `object`: the one triple to explain.")
    object: Any = Field(
        default=None,
        description='IRI or CURIE. A literal is {"type": "literal", "value": …} and its "xml:lang" or '
        '"datatype".',
    )
    most: int = Field(
        default=5, ge=1, le=50, description="Maximum number of inferred triples of the entity to explain."
    )


class SchemaArguments(Arguments):
    """Arguments of `schema`."""

    contains: str = Field(
        default="", max_length=200, description="Only classes and predicates whose label or IRI contains it."
    )
    most: Most = 50


class SparqlArguments(Arguments):
    """Arguments of `query`."""

    sparql: str = Field(
        min_length=1, max_length=50_000, description="A SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE query."
    )
    layer: Layer = "all"
    most: Most = 50


class RunQueryArguments(Arguments):
    """Arguments of `run_query`."""

    name: str = Field(max_length=200, description="Name of the query.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Its parameters.")
    layer: Layer = "all"
    most: Most = 50


@dataclass(frozen=True)
class Tool:
    """A tool as it is offered."""

    name: str  # its name
    title: str  # a short title
    description: str  # what a model reads of it
    arguments: type[Arguments]  # model of its arguments
    run: Callable[[ToolContext, Any], Result]  # what it does
    schema: Callable[[], dict[str, Any]] = dict  # additions to the properties of its schema

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for name, part in schema["properties"].items():
            part.pop("title", None)
            part.update(self.schema().get(name, {}))
        return schema


def search(desk: ToolContext, asked: SearchArguments) -> Result:
    """Rank entities by a similarity index."""
    desk.open_index()
    hits = desk.ranker(asked.ranker).rank(Question(asked.text), asked.k)
    display = Display(desk.kg)
    display.prepare([hit.iri for hit in hits])
    found = [
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
        for f, hit in zip(found, hits, strict=True)
    ]
    notes = _staleness(desk)
    return Result("\n".join([*lines, *notes]) or "Nothing was found.", {"entities": found, "notes": notes})


def context(desk: ToolContext, asked: ContextArguments) -> Result:
    """Show the bounded neighbourhood of entities."""
    seeds = [(str(desk.iri(text)), 1.0) for text in asked.entities]
    settings = ContextSettings(
        hops=asked.hops, max_triples=asked.most, token_budget=max(1, desk.settings.characters // 5)
    )
    found = expand(desk.kg, seeds, settings, question=asked.question)
    lines = []
    for entity, name in zip(found.entities, found.names, strict=True):
        lines.append(f"{one_line(name)} {_short(desk, entity)}")
        if not found.of(entity):
            lines.append("The graph says nothing of it that is not said above.")
    notes = [
        f"Left out: {'at least ' if d.more else ''}{d.count} ({one_line(d.reason)})."
        for d in found.dropped
        if d.count
    ]
    text = "\n".join(
        [*lines, "", "Lines marked inferred follow by reasoning; the others are asserted.", found.text()]
    )
    return Result("\n".join([text, *notes]), found.to_json())


def ask(desk: ToolContext, asked: AskArguments) -> Result:
    """Answer a question with citations: computed where that is sure, else read."""
    from mrag.generation.models import check_model
    from mrag.retrieval.routing import with_unused

    desk.check_ranker(asked.ranker)
    check_model(desk.settings.model)
    found, why, offered = desk.questions.computed(asked.question, asked.how, asked.reading)
    notes: list[str] = []
    if found is None:
        desk.open_index()
        found = mrag.ask(
            desk.kg,
            asked.question,
            model=desk.model(),
            k=asked.k,
            index=desk.settings.index,
            how="read",
            ranker=desk.ranker(asked.ranker),
        )
        found = replace(found, why=why, offered=offered)
        notes = _staleness(desk)
        if why:
            notes.insert(0, f"Read, not computed: {one_line(why)}.")
    else:
        found = with_unused(found, desk.settings.model)
    data = found.to_json()
    # The lines it was made from are many, and those that count are cited.
    data["entities"] = (data.pop("context", None) or {}).get("entities", [])
    data |= {"rows": data["rows"][: asked.most], "count": len(data["rows"])}
    if data["count"] > asked.most:
        notes.append(f"{asked.most} of {data['count']} rows are in the JSON.")
    if found.computed is not None:
        notes += [
            f"Reading {other.number} would give {one_line(other.answer)}: {one_line(other.reading)}"
            for other in found.readings
        ]
    return Result("\n".join([str(found), *notes]), data)


def explain(desk: ToolContext, asked: ExplainArguments) -> Result:
    """Prove one triple, or the inferred triples of an entity."""
    if (asked.predicate is None) != (asked.object is None):
        raise ConfigError(
            "Give predicate and object, or neither.",
            hint="With neither, the entity's inferred triples are explained.",
        )
    subject = desk.iri(asked.subject)
    if asked.predicate is None:
        found = mrag.explain(desk.kg, subject, max_triples=asked.most)
    else:
        end = read_term(asked.object, "iri", desk.kg.prefixes)
        found = mrag.explain(desk.kg, subject, desk.iri(asked.predicate), end)
    texts = list(found.texts)
    if found.inferred > asked.most:
        texts.append(f"{asked.most} of {found.inferred} inferred triples are explained.")
    return Result("\n\n".join(texts), {"proofs": found.to_json(), "inferred": found.inferred})


def schema(desk: ToolContext, asked: SchemaArguments) -> Result:
    """Count classes and predicates."""
    kg, display = desk.kg, Display(desk.kg)
    wanted = asked.contains.lower()
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
    for kind, query in (("classes", "explore/classes"), ("predicates", "explore/predicates")):
        found = _counts(desk, query)
        display.prepare([name for name, _ in found])
        label = display.entity if kind == "classes" else display.predicate
        rows = [{"iri": name, "label": label(name), "count": count} for name, count in found]
        rows = [r for r in rows if wanted in f"{r['iri']} {r['label']}".lower()]
        data[kind] = rows[: asked.most]
        data[f"{kind}_in_all"] = len(rows)
        parts.append(f"\n{kind.capitalize()} ({len(rows)}):")
        parts += [
            f"{r['count']:>8}  {one_line(str(r['label']))}  {_short(desk, r['iri'])}"
            for r in rows[: asked.most]
        ]
        if len(rows) > asked.most:
            parts.append(f"{asked.most} of {len(rows)} are shown.")
    shown = (*data["classes"], *data["predicates"])
    used = {curie(row["iri"], kg.prefixes).partition(":")[0] for row in shown}
    data["prefixes"] = {p: n for p, n in sorted(kg.prefixes.items()) if p in used}
    parts.append("\nPrefixes: " + ", ".join(f"{p}: <{n}>" for p, n in data["prefixes"].items()))
    return Result("\n".join(parts), data)


def query(desk: ToolContext, asked: SparqlArguments) -> Result:
    """Answer a query through the read gate, in a process that ends at the deadline."""
    found = desk.kg.query(asked.sparql, limits=desk.limits, layer=asked.layer)
    return of_query(found, asked.most, desk.kg.prefixes)


def run_query(desk: ToolContext, asked: RunQueryArguments) -> Result:
    """Run a query of the catalogue."""
    entry = entries().get(asked.name)
    if entry is None:
        raise ConfigError(
            f"There is no query {asked.name!r}.",
            hint=f"The nearest names are {', '.join(nearest(asked.name))}; mrag://queries lists all.",
        )
    text = entry.bind(asked.parameters, desk.kg.prefixes)
    found = desk.kg.query(text, limits=desk.limits, layer=asked.layer)
    return of_query(found, asked.most, desk.kg.prefixes)


def _short(desk: ToolContext, entity: object) -> str:
    return one_line(curie(str(entity), desk.kg.prefixes))


def _counts(desk: ToolContext, name: str) -> list[tuple[str, int]]:
    # A large ontology has more classes than a model should be given rows.
    found = desk.kg.query(queries.get(name).text, limits=Limits(seconds=desk.settings.seconds))
    assert isinstance(found, SelectResult)
    return [
        (str(what), int(str(count)))
        for what, count in found
        if isinstance(what, URIRef) and isinstance(count, RdfLiteral) and not what.startswith(SKOLEM)
    ]


def _staleness(desk: ToolContext) -> list[str]:
    if SimilarityIndexes.of(desk.kg).info(desk.settings.index).stale:
        return [f"The index {desk.settings.index!r} is older than the graph; run `mrag index` to update it."]
    return []


def tools() -> Sequence[Tool]:
    """Return the tools, in the order in which a client shows them."""
    return (
        Tool(
            "search",
            "Search entities",
            "Find the entities most similar to a text, with labels, scores and why each was found. "
            "Start here: other tools take the IRIs that it returns.",
            SearchArguments,
            search,
        ),
        Tool(
            "context",
            "Show what is known of entities",
            "Show the triples around entities, the most relevant first, as lines with ids to cite. Lines "
            "marked inferred follow by reasoning; `explain` proves them.",
            ContextArguments,
            context,
        ),
        Tool(
            "ask",
            "Ask a question",
            "Answer a question in words, citing the triples it rests on. Counts, superlatives, averages, "
            "comparisons, groups, lists, yes or no are computed: the JSON has the rows, how the question was "
            "read, the SPARQL, and other readings. What cannot be computed for sure is read around the most "
            "similar entities; there, sentences that no triple supports are named.",
            AskArguments,
            ask,
        ),
        Tool(
            "explain",
            "Explain an inference",
            "Prove an inferred triple, or those of an entity: the rule, its axiom and its premises down to "
            "asserted triples.",
            ExplainArguments,
            explain,
        ),
        Tool(
            "schema",
            "Describe the graph",
            "List the classes and predicates of the graph with counts and labels, and the prefixes. Read it "
            "before writing SPARQL.",
            SchemaArguments,
            schema,
        ),
        Tool(
            "query",
            "Run SPARQL",
            "Run a SPARQL 1.1 read query. The prefixes that `schema` lists need no declaration. Updates, "
            "SERVICE and graphs elsewhere are refused; time and rows are bounded, so write a LIMIT. "
            "GraphDB's similarity vocabulary works, and FROM onto:explicit or onto:implicit.",
            SparqlArguments,
            query,
        ),
        Tool(
            "run_query",
            "Run a query by name",
            "Run a query of the catalogue. A parameter takes an array of terms, or of rows of terms where "
            "its name joins several; a ? marks one that may be left out. The resource mrag://queries lists "
            f"{len(entries())} queries with their parameters; those asked for most are:\n" + listing(),
            RunQueryArguments,
            run_query,
            lambda: {
                "name": {"examples": list(queries.COMMON)},
                "parameters": {"properties": parameters_schema()},
            },
        ),
    )
