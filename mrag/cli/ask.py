"""`mrag ask` and `mrag search`: answers and entities for a question, or for a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import mrag
from mrag import context as contexts
from mrag import images
from mrag.cli.shared import options
from mrag.cli.shared.answers import follow_ups, show_answer
from mrag.cli.shared.output import hit_json, say, show, show_hit, show_json, shown
from mrag.config import Settings
from mrag.errors import ConfigError

if TYPE_CHECKING:
    from mrag.images.graph import Allowed
    from mrag.planning.neural.choosing import Planner
    from mrag.retrieval.routing import How

HOWS = ("auto", "plan", "read", "complete", "images")
PLANNERS = ("judge", "writer", "tools", "parser")
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
    question: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="The question; with --follow, several.")
    ] = None,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
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
    ranker: options.RankerOption = "hybrid",
    hops: Annotated[int, typer.Option(min=1, max=2, help="Steps from each entity.")] = 1,
    budget: Annotated[int, typer.Option(min=1, help="Maximum number of tokens of context.")] = 4000,
    index: options.IndexOption = "main",
    lang: options.KeptLanguageOption = None,
    context: Annotated[bool, typer.Option("--context", help="Show the whole context too.")] = False,
    how: Annotated[
        str,
        typer.Option(
            "--how",
            metavar="auto|plan|read|complete|images",
            help="plan computes the answer or says why it cannot, read reads it in the context, complete "
            "completes it from --texts, images answers with images, auto chooses.",
        ),
    ] = "auto",
    reading: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Which of the offered readings of the question to compute. "
            "Default: the likeliest, if it is certain enough.",
        ),
    ] = None,
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
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER|FILE",
            help="Texts (.txt, .md, .rst) to read what the graph lacks in; repeatable. "
            "To keep what is read, use `mrag complete ask`.",
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Ask one question after the other, from the arguments, else from standard input; each may "
            'go on from the last answer ("and in Italy?"), and `reading 2` takes another reading of it.',
        ),
    ] = False,
    teach: Annotated[
        bool,
        typer.Option(
            "--teach",
            help="Ask which of the readings is right, and save the question with it; see `mrag questions`. "
            "--reading tells it at once.",
        ),
    ] = False,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    graph: options.GraphOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Answer a question, with the triples that support it.

    The answer is computed if that is sure to be right; it has images if the question asks for them; it is
    completed from texts if they have what the graph lacks; else it is read in the context of similar
    entities.

    \b
    Examples:
      mrag ask "How many triple stores are there?"
      mrag ask --texts articles "Where was Ada Hill born?"
      mrag ask --media photos "Show me pictures of a red dress"
      mrag ask --follow "Which products does Ontotext develop?" "only the commercial ones"
      mrag ask --how read "What database products are linked to RDF?"
      mrag ask --graph http://example.org/v2 "What does the widget cost?"
      mrag ask --store oxigraph:./data --model ollama:llama3.2 "Who directed Star Wars?"
      mrag ask --model local:coder.gguf --planner writer "Which vendors have the newest products?"
    """
    asked = question or []
    text = " ".join(asked)
    if not follow and len(asked) > 1:
        raise typer.BadParameter(
            "Put the question in quotes; --follow asks several.", param_hint="'QUESTION'"
        )
    if image is None and not follow:
        _require(text, "QUESTION")
    options.check_choice("way", how, HOWS)
    options.check_choice("planner", planner or "judge", PLANNERS)
    from mrag.context import ContextSettings

    pictured = how == "images" or (how == "auto" and (image is not None or media is not None))
    if image is not None or media is not None:
        _folder(media)
    with options.opened(store, kg, lang, graph=graph, index=index) as seen:
        if teach:
            from mrag.cli.questions import teach as taught

            saved = taught(seen, text, reading, replacing=True)
            say(f"Saved as {saved.name}.")
            reading = 1
        chosen = Settings.from_env(model=model)
        ranks = _ranker(seen, text, image, media, looks, only, ranker) if pictured else ranker
        talk = seen.conversation(
            model=chosen.model, planner=cast("Planner", planner or chosen.planner),
            k=k, index=index, how=cast("How", how),
            settings=ContextSettings(hops=hops, token_budget=budget),
            texts=texts or None, media=media if pictured else None, ranker=ranks,
        )  # fmt: skip
        if follow:
            for number, given in enumerate(follow_ups(talk, asked)):
                if number and not as_json:
                    show("")
                show_answer(given, sparql=sparql, context=context, as_json=as_json, more=True)
                shown()
            return
        query = mrag.Question(text, image) if image is not None else text
        given = talk.ask(query, reading=reading)
    show_answer(given, sparql=sparql, context=context, way=how == "auto", as_json=as_json)


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to search for.")] = "",
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hits.")] = 10,
    ranker: options.RankerOption = "hybrid",
    index: options.IndexOption = "main",
    lang: options.KeptLanguageOption = None,
    image: ImageOption = None,
    media: MediaOption = None,
    looks: LooksOption = None,
    only: OnlyOption = None,
    graph: options.GraphOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the entities most similar to a text.

    \b
    Examples:
      mrag search "triple store with reasoning" -k 5
      mrag search "triple store with reasoning" --ranker bm25+mmr
    """
    if image is not None or media is not None:
        _find(text, store, kg, image, media, looks, only, k, lang, ranker, as_json=as_json)
        return
    _require(text, "TEXT")
    from mrag.index.similarity import freshen

    with options.opened(store, kg, lang, graph=graph, index=index) as seen:
        if (old := freshen(seen, index)) is not None:
            say(old, style="yellow")
        hits = mrag.ranker(ranker, seen, index=index).rank(mrag.Question(text), k)
        display = contexts.Display(seen)
        display.prepare([hit.iri for hit in hits])
        if as_json:
            show_json([hit_json(hit, display.entity(hit.iri)) for hit in hits])
            return
        for hit in hits:
            show_hit(hit, display.entity(hit.iri))
        if not hits:
            say("Nothing was found.")


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
    lang: str | None,
    ranker: str,
    *,
    as_json: bool,
) -> None:
    """Find images of the graph."""
    from mrag.images.graph import file_names, files_of, names_of

    folder = _folder(media)
    with options.opened(store, kg, lang, index="main") as graph:
        hits = _ranker(graph, text, image, folder, looks, only, ranker).rank(mrag.Question(text, image), k)
        iris = [hit.iri for hit in hits]
        files, _ = files_of(graph, folder, images=iris)
        names = names_of(graph, iris, file_names(graph, images=iris))
        paths = {iri: str(path) for iri, path in files.items()}
        if as_json:
            show_json([{**hit_json(hit, names[hit.iri]), "path": paths.get(hit.iri)} for hit in hits])
            return
        for hit in hits:
            show_hit(hit, paths.get(hit.iri) or names[hit.iri])
        if not hits:
            say("Nothing was found.")


def _folder(media: Path | None) -> Path:
    if media is None or not media.is_dir():
        raise ConfigError("The folder of the images is missing.", hint="Name it with --media.")
    return media


def _ranker(
    graph: mrag.KnowledgeGraph,
    text: str,
    image: Path | None,
    media: Path | None,
    looks: str | None,
    only: str | None,
    ranker: str,
) -> mrag.Ranker:
    """Return what ranks the images of the graph for a question."""
    from mrag.images.rankers import image_mode

    mode = image_mode(ranker)
    return images.image_ranker(
        graph,
        media,
        mode=mode if text else "bm25",
        text=Settings.from_env().embedder,
        looks=looks or ("none" if image is None else "conse"),
        allowed=None if only is None else _allowed(graph, only),
    )


def _allowed(graph: mrag.KnowledgeGraph, only: str) -> Allowed:
    from mrag.rdf.terms import iri

    if only.endswith((".rq", ".sparql")):
        return images.of_query(graph, options.read_query_file(only))
    return images.of_class(graph, str(iri(only, graph.prefixes)))
