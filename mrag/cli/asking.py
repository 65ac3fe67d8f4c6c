"""Commands that read a knowledge graph: ask, search, query, explain, verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mrag.cli.common import (
    DEFAULT_LANGUAGES,
    JsonOption,
    KgOption,
    LanguageOption,
    StoreOption,
    opened,
    say,
    show,
    show_data,
    show_json,
    show_lines,
)
from mrag.cli.pictures import ImageOption, LooksOption, MediaOption, OnlyOption, find, needed

IndexOption = Annotated[str, typer.Option("--index", help="Name of the similarity index.")]


def ask(
    question: Annotated[str, typer.Argument(help="What to ask.")] = "",
    store: StoreOption = None,
    kg: KgOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="ollama:NAME, openai:NAME, local:PATH.gguf or none. "
            "Default: MRAG_MODEL, else Ollama if it runs.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Most entities to look around.")] = 10,
    hops: Annotated[int, typer.Option(min=1, max=2, help="How far to look around each.")] = 1,
    budget: Annotated[int, typer.Option(min=1, help="Most tokens of context.")] = 4000,
    index: IndexOption = "main",
    lang: LanguageOption = DEFAULT_LANGUAGES,
    context: Annotated[bool, typer.Option("--context", help="Show the whole context too.")] = False,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the graph, with the triples that it rests on.

    \b
    Examples:
      mrag ask "What database products are linked to RDF?"
      mrag ask --store oxigraph:./data --model ollama:llama3.2 "Who directed Star Wars?"
    """
    if image is not None or media is not None:
        find(question, store, kg, image, media, looks, only, k, lang, as_json=as_json, model=model or "")
        return
    needed(question, "QUESTION")
    from mrag.config import Settings
    from mrag.context import ContextSettings
    from mrag.generation.answer import answer
    from mrag.generation.models.resolve import resolve
    from mrag.retrieval.ask import retrieve
    from mrag.retrieval.retriever import TripleStoreRetriever

    with opened(store, kg, lang) as graph:
        settings = ContextSettings(hops=hops, token_budget=budget)
        retriever = TripleStoreRetriever(kg=graph, index=index, k=k, settings=settings)
        found = retrieve(graph, question, k=k, retriever=retriever)
        given = answer(question, found.context, resolve(Settings.from_env(model=model).model))
        if as_json:
            show_json(given.to_json())
            return
        show_lines(given.text)
        if given.citations:
            show("")
        for citation in given.citations:
            show(f"[{citation.line_id}] {citation.text}{citation.mark}")
        for sentence in given.sentences:
            if not sentence.supported:
                say(f"Not supported by the graph: {sentence.text}", style="yellow")
        if context:
            show()
            show_lines(found.context.text())
        if given.notice:
            say()
            say(given.notice, style="dim")


def search(
    text: Annotated[str, typer.Argument(help="What to look for.")] = "",
    store: StoreOption = None,
    kg: KgOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Most hits.")] = 10,
    mode: Annotated[str, typer.Option(help="hybrid, bm25 or dense.")] = "hybrid",
    index: IndexOption = "main",
    lang: LanguageOption = DEFAULT_LANGUAGES,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the entities most similar to a text, and why.

    \b
    Example:
      mrag search "triple store with reasoning" -k 5
    """
    if image is not None or media is not None:
        find(text, store, kg, image, media, looks, only, k, lang, as_json=as_json, mode=mode)
        return
    needed(text, "TEXT")
    from typing import cast

    from mrag.context.display import Display
    from mrag.errors import ConfigError
    from mrag.index.document_index import Mode
    from mrag.retrieval.rankers import Question, SimilarityRanker

    if mode not in ("hybrid", "bm25", "dense"):
        raise ConfigError(f"There is no mode {mode!r}.", hint="Use hybrid, bm25 or dense.")
    with opened(store, kg, lang) as graph:
        hits = SimilarityRanker(graph, index, cast(Mode, mode)).rank(Question(text), k)
        display = Display(graph)
        if as_json:
            show_json(
                [
                    {
                        "iri": h.iri,
                        "label": display.entity(h.iri),
                        "score": h.score,
                        "rank": h.rank,
                        "reasons": list(h.reasons),
                    }
                    for h in hits
                ]
            )
            return
        for hit in hits:
            show(f"{hit.rank:>3}  {hit.score:.3f}  {display.entity(hit.iri)}  <{hit.iri}>")
            show(f"     {'; '.join(hit.reasons)}")
        if not hits:
            say("Nothing was found.")


def query(
    text: Annotated[str, typer.Argument(help="SPARQL text, a file, or the name of a catalogue query.")],
    store: StoreOption = None,
    kg: KgOption = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Deadline.")] = 30.0,
    rows: Annotated[int, typer.Option(min=1, help="Most rows.")] = 100_000,
    layer: Annotated[str, typer.Option(help="all, asserted or inferred triples.")] = "all",
    as_json: JsonOption = False,
) -> None:
    """Run a read query, guarded and bounded; GraphDB's similarity vocabulary works in it.

    \b
    Examples:
      mrag query "SELECT ?x { ?x a ex:SemanticProduct } LIMIT 5"
      mrag query explore/classes --json
    """
    from typing import cast

    from mrag.errors import ConfigError
    from mrag.graph.kg import Layer
    from mrag.rdf import queries
    from mrag.rdf.terms import to_ox
    from mrag.stores.base import Limits, SelectResult

    if layer not in ("all", "asserted", "inferred"):
        raise ConfigError(f"There is no layer {layer!r}.", hint="Use all, asserted or inferred.")
    if text in queries.names():
        text = queries.get(text).text
    elif text.endswith((".rq", ".sparql")):
        if not Path(text).is_file():
            raise ConfigError("There is no such file.", file=text)
        text = Path(text).read_text(encoding="utf-8-sig")
    with opened(store, kg) as graph:
        result = graph.query(text, limits=Limits(seconds=seconds, rows=rows), layer=cast(Layer, layer))
        if isinstance(result, bool):
            show_json({"head": {}, "boolean": result}) if as_json else show(str(result).lower())
        elif isinstance(result, SelectResult):
            _show_rows(result, graph.prefixes, as_json=as_json)
        else:
            for t in result:
                show_data(f"{to_ox(t.s)} {to_ox(t.p)} {to_ox(t.o)} .")


def explain(
    what: Annotated[list[str], typer.Argument(help="An entity, or subject, predicate and object.")],
    store: StoreOption = None,
    kg: KgOption = None,
    most: Annotated[int, typer.Option(min=1, help="Most inferred triples of an entity to explain.")] = 20,
    lang: LanguageOption = DEFAULT_LANGUAGES,
    as_json: JsonOption = False,
) -> None:
    """Show why inferred triples hold: the rule, and its premises down to asserted triples.

    \b
    Examples:
      mrag explain ex:GraphDB
      mrag explain ex:GraphDB rdf:type ex:SemanticProduct
    """
    from mrag.cli.explaining import explained

    with opened(store, kg, lang) as graph:
        proofs = explained(graph, what, most)
        if as_json:
            show_json([proof for _, proof in proofs])
        else:
            show_lines("\n\n".join(text for text, _ in proofs))


def verify(
    file: Annotated[Path, typer.Argument(help="What `mrag ask --json` printed.")],
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay an answer against the graph: are its triples still there, do its sentences hold?

    \b
    Example:
      mrag ask --json "Who develops GraphDB?" > answer.json && mrag verify answer.json
    """
    from mrag.errors import ConfigError
    from mrag.retrieval.ask import verify as replay

    try:
        given = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Not JSON: {error}.", file=str(file), hint="Save what `mrag ask --json` prints."
        ) from error
    with opened(store, kg) as graph:
        report = replay(graph, given)
    show_json(report.to_json()) if as_json else show_lines(str(report))
    if not report.ok:
        raise typer.Exit(1)


_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def _show_rows(result: Any, prefixes: Any, *, as_json: bool) -> None:
    from rdflib import Literal, URIRef

    from mrag.rdf.terms import curie

    if as_json:
        show_json(
            {
                "head": {"vars": list(result.variables)},
                "results": {
                    "bindings": [
                        {v: _json_term(t) for v, t in binding.items()} for binding in result.bindings()
                    ]
                },
            }
        )
        return

    def cell(term: Any) -> str:
        if term is None:
            return ""
        if isinstance(term, Literal):
            # A newline or a tab in a literal does not end a row or a cell.
            kind = f"@{term.language}" if term.language else f"^^<{term.datatype}>" if term.datatype else ""
            return f'"{term.translate(_ESCAPES)}"{kind}'
        return curie(str(term), prefixes) if isinstance(term, URIRef) else term.n3()

    show("\t".join("?" + v for v in result.variables))
    for row in result:
        show("\t".join(map(cell, row)))


def _json_term(term: Any) -> dict[str, str]:
    from mrag.generation.lines import term_to_json

    return term_to_json(term)
