"""What the tools do. Nothing here knows the protocol, and everything is read only and bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rdflib import Literal, URIRef

import mrag
from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.index.similarity import SimilarityIndexes
from mrag.mcp import arguments as given
from mrag.mcp.catalogue import entries, listing, nearest, parameters_schema, read_term
from mrag.mcp.context import ToolContext
from mrag.mcp.results import Result, of_query
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, curie
from mrag.retrieval.rankers import Question
from mrag.stores.base import Limits, SelectResult
from mrag.untrusted import one_line


@dataclass(frozen=True)
class Tool:
    """A tool as it is offered.

    Attributes:
        name: Its name.
        title: A short title.
        description: What a model reads of it.
        arguments: Model of its arguments.
        run: What it does.
        schema: Additions to the properties of its schema.
    """

    name: str
    title: str
    description: str
    arguments: type[given.Arguments]
    run: Callable[[ToolContext, Any], Result]
    schema: Callable[[], dict[str, Any]] = dict

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for name, part in schema["properties"].items():
            part.pop("title", None)
            part.update(self.schema().get(name, {}))
        return schema


def search(desk: ToolContext, asked: given.SearchArguments) -> Result:
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


def context(desk: ToolContext, asked: given.ContextArguments) -> Result:
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


def ask(desk: ToolContext, asked: given.AskArguments) -> Result:
    """Answer a question with citations: computed where that is sure, else read."""
    from mrag.generation.models.resolve import check_model
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


def explain(desk: ToolContext, asked: given.ExplainArguments) -> Result:
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


def schema(desk: ToolContext, asked: given.SchemaArguments) -> Result:
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


def query(desk: ToolContext, asked: given.SparqlArguments) -> Result:
    """Answer a query through the read gate, in a process that ends at the deadline."""
    found = desk.kg.query(asked.sparql, limits=desk.limits, layer=asked.layer)
    return of_query(found, asked.most, desk.kg.prefixes)


def run_query(desk: ToolContext, asked: given.RunQueryArguments) -> Result:
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
        if isinstance(what, URIRef) and isinstance(count, Literal) and not what.startswith(SKOLEM)
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
            given.SearchArguments,
            search,
        ),
        Tool(
            "context",
            "Show what is known of entities",
            "Show the triples around entities, the most relevant first, as lines with ids to cite. Lines "
            "marked inferred follow by reasoning; `explain` proves them.",
            given.ContextArguments,
            context,
        ),
        Tool(
            "ask",
            "Ask a question",
            "Answer a question in words, citing the triples it rests on. Counts, superlatives, averages, "
            "comparisons, groups, lists, yes or no are computed: the JSON has the rows, how the question was "
            "read, the SPARQL, and other readings. What cannot be computed for sure is read around the most "
            "similar entities; there, sentences that no triple supports are named.",
            given.AskArguments,
            ask,
        ),
        Tool(
            "explain",
            "Explain an inference",
            "Prove an inferred triple, or those of an entity: the rule, its axiom and its premises down to "
            "asserted triples.",
            given.ExplainArguments,
            explain,
        ),
        Tool(
            "schema",
            "Describe the graph",
            "List the classes and predicates of the graph with counts and labels, and the prefixes. Read it "
            "before writing SPARQL.",
            given.SchemaArguments,
            schema,
        ),
        Tool(
            "query",
            "Run SPARQL",
            "Run a SPARQL 1.1 read query. The prefixes that `schema` lists need no declaration. Updates, "
            "SERVICE and graphs elsewhere are refused; time and rows are bounded, so write a LIMIT. "
            "GraphDB's similarity vocabulary works, and FROM onto:explicit or onto:implicit.",
            given.SparqlArguments,
            query,
        ),
        Tool(
            "run_query",
            "Run a query by name",
            "Run a query of the catalogue. A parameter takes an array of terms, or of rows of terms where "
            "its name joins several; a ? marks one that may be left out. The resource mrag://queries lists "
            f"{len(entries())} queries with their parameters; those asked for most are:\n" + listing(),
            given.RunQueryArguments,
            run_query,
            lambda: {
                "name": {"examples": list(queries.COMMON)},
                "parameters": {"properties": parameters_schema()},
            },
        ),
    )
