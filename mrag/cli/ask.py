"""`mrag ask` and `mrag search`: answers and entities for a question, or for a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mrag.cli.shared.options import (
    DEFAULT_LANGUAGES,
    IndexOption,
    JsonOption,
    KgOption,
    LanguageOption,
    StoreOption,
    check_choice,
    opened,
    read_query_file,
)
from mrag.cli.shared.output import hit_json, say, show, show_data, show_hit, show_json, show_lines

if TYPE_CHECKING:
    from mrag.generation.computed import Computed
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.graph import Allowed
    from mrag.planning.neural.choosing import Planner
    from mrag.retrieval.answering import How

HOWS = ("auto", "plan", "read")
PLANNERS = ("judge", "writer", "tools", "parser")
MODES = ("hybrid", "bm25", "dense")
ImageOption = Annotated[
    Path | None, typer.Option("--image", help="Find images like this picture; needs --media.")
]
MediaOption = Annotated[
    Path | None,
    typer.Option(
        "--media",
        metavar="FOLDER",
        help="Find images of the graph; folder of the files that the graph names.",
    ),
]
LooksOption = Annotated[
    str | None,
    typer.Option(
        "--looks",
        metavar="MODEL",
        help="Model that compares images: conse (extra `conse`), clip:MODEL/WEIGHTS or none. "
        "Default: conse with --image, else none.",
    ),
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        "--only",
        metavar="CLASS|FILE.rq",
        help="With --media: only images of a class, or those that a SELECT query returns.",
    ),
]


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")] = "",
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
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of entities.")] = 10,
    hops: Annotated[int, typer.Option(min=1, max=2, help="Steps from each entity.")] = 1,
    budget: Annotated[int, typer.Option(min=1, help="Maximum number of tokens of context.")] = 4000,
    index: IndexOption = "main",
    lang: LanguageOption = DEFAULT_LANGUAGES,
    context: Annotated[bool, typer.Option("--context", help="Show the whole context too.")] = False,
    how: Annotated[
        str,
        typer.Option(
            "--how",
            metavar="auto|plan|read",
            help="plan computes the answer or says why it cannot, read reads it in the context, "
            "auto takes the first where it is sure.",
        ),
    ] = "auto",
    reading: Annotated[
        int, typer.Option(min=1, help="Which of the offered readings of the question to compute.")
    ] = 1,
    planner: Annotated[
        str | None,
        typer.Option(
            "--planner",
            metavar="judge|writer|tools|parser",
            help="How the language model helps where a reading is not certain: judge chooses among "
            "readings, writer writes one, tools explores the graph, parser does without. "
            "Default: MRAG_PLANNER, else judge.",
        ),
    ] = None,
    sparql: Annotated[bool, typer.Option("--sparql", help="Show the query that was run too.")] = False,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, with the triples that support it.

    \b
    Examples:
      mrag ask "How many triple stores are there?"
      mrag ask --how read "What database products are linked to RDF?"
      mrag ask --store oxigraph:./data --model ollama:llama3.2 "Who directed Star Wars?"
      mrag ask --model local:coder.gguf --planner writer "Which vendors have the newest products?"
    """
    if image is not None or media is not None:
        _find(question, store, kg, image, media, looks, only, k, lang, as_json=as_json, model=model or "")
        return
    _require(question, "QUESTION")
    check_choice("way", how, HOWS)
    check_choice("planner", planner or "judge", PLANNERS)
    from mrag.config import Settings
    from mrag.context import ContextSettings
    from mrag.retrieval.answering import ask as answered

    with opened(store, kg, lang) as graph:
        settings = ContextSettings(hops=hops, token_budget=budget)
        chosen = Settings.from_env(model=model)
        given = answered(
            graph, question, model=chosen.model, k=k, index=index, settings=settings, how=cast("How", how),
            reading=reading, planner=cast("Planner", planner or chosen.planner),
        )  # fmt: skip
    if as_json:
        show_json(given.to_json())
        return
    show_lines(given.text)
    if given.computed is not None:
        _show_reading(given.computed, sparql)
    if given.citations:
        show("")
    for citation in given.citations:
        show(f"[{citation.line_id}] {citation.text}{citation.mark}")
    for sentence in given.sentences:
        if not sentence.supported:
            say(f"Not supported by the graph: {sentence.text}", style="yellow")
    if context:
        show()
        show_lines(given.context.text())
    if given.way == "read" and given.why:
        say()
        say(f"Read, not computed: {given.why}.", style="dim")
    if given.notice:
        say()
        say(given.notice, style="dim")


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to search for.")] = "",
    store: StoreOption = None,
    kg: KgOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hits.")] = 10,
    mode: Annotated[str, typer.Option(help="hybrid, bm25 or dense.")] = "hybrid",
    index: IndexOption = "main",
    lang: LanguageOption = DEFAULT_LANGUAGES,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the entities most similar to a text.

    \b
    Example:
      mrag search "triple store with reasoning" -k 5
    """
    if image is not None or media is not None:
        _find(text, store, kg, image, media, looks, only, k, lang, as_json=as_json, mode=mode)
        return
    _require(text, "TEXT")
    check_choice("mode", mode, MODES)
    from typing import cast

    from mrag.context.display import Display
    from mrag.index.document_index import Mode
    from mrag.retrieval.rankers import Question, SimilarityRanker

    with opened(store, kg, lang) as graph:
        hits = SimilarityRanker(graph, index, cast(Mode, mode)).rank(Question(text), k)
        display = Display(graph)
        display.prepare([hit.iri for hit in hits])
        if as_json:
            show_json([hit_json(hit, display.entity(hit.iri)) for hit in hits])
            return
        for hit in hits:
            show_hit(hit, display.entity(hit.iri))
        if not hits:
            say("Nothing was found.")


def _show_reading(computed: Computed, sparql: bool) -> None:
    """Show how a question was read, and what other readings would give."""
    show("")
    show(f"Read as: {computed.reading}")
    for other in computed.readings:
        show(f"Also (--reading {other.number}): {other.answer}, read as: {other.reading}")
    if sparql:
        show("")
        show_data(computed.query)


def _require(words: str, name: str) -> None:
    """Refuse a command without words, as one that lacks an argument."""
    if not words.strip():
        raise typer.BadParameter("Give words, or a picture with --image.", param_hint=f"'{name}'")


def _find(
    text: str,
    store: str | None,
    kg: str | None,
    image: Path | None,
    media: Path | None,
    looks: str | None,
    only: str | None,
    k: int,
    lang: str,
    *,
    as_json: bool,
    mode: str = "hybrid",
    model: str | None = None,
) -> None:
    """Find images of the graph; with a model, or "" for the default one, answer with them."""
    from mrag.config import Settings
    from mrag.errors import ConfigError
    from mrag.images.answer import ask_pictures
    from mrag.images.graph import file_names, files_of, names_of
    from mrag.images.rankers import image_ranker
    from mrag.retrieval.rankers import Question

    if media is None or not media.is_dir():
        raise ConfigError("The folder of the images is missing.", hint="Name it with --media.")
    check_choice("mode", mode, MODES)
    question = Question(text, image)
    looks = looks or ("none" if image is None else "conse")
    with opened(store, kg, lang) as graph:
        settings = Settings.from_env(model=model or None)
        ranker = image_ranker(
            graph,
            media,
            mode=mode if text else "bm25",  # type: ignore[arg-type]  # looked at above
            text=settings.embedder,
            looks=looks,
            allowed=None if only is None else _allowed(graph, only),
        )
        if model is not None:
            given = ask_pictures(graph, question, ranker, folder=media, model=settings.model, k=k)
            show_json(given.to_json()) if as_json else show_lines(str(given))
            return
        hits = ranker.rank(question, k)
        iris = [hit.iri for hit in hits]
        files, _ = files_of(graph, media, images=iris)
        names = names_of(graph, iris, file_names(graph, images=iris))
        paths = {iri: str(path) for iri, path in files.items()}
        if as_json:
            show_json([{**hit_json(hit, names[hit.iri]), "path": paths.get(hit.iri)} for hit in hits])
            return
        for hit in hits:
            show_hit(hit, paths.get(hit.iri) or names[hit.iri])
        if not hits:
            say("Nothing was found.")


def _allowed(graph: KnowledgeGraph, only: str) -> Allowed:
    from mrag.images.graph import of_class, of_query
    from mrag.rdf.terms import iri

    if only.endswith((".rq", ".sparql")):
        return of_query(graph, read_query_file(only))
    return of_class(graph, str(iri(only, graph.prefixes)))
