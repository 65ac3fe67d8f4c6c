"""`mrag index`, `clues` and `codes`: the indexes of a knowledge graph are built, searched and inspected."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import mrag
from mrag import generative, graphcodes, images, jobs, language
from mrag import graph as graphs
from mrag import index as indexes
from mrag.cli import commands, options
from mrag.cli.commands import Commands
from mrag.cli.options import JsonOption, KeptLanguageOption, Place, RunnerOption, WorkersOption
from mrag.cli.output import hit_json, progress, say, show, show_hit, show_json, status
from mrag.config import Settings
from mrag.errors import ConfigError, DamagedIndex, IndexError_, IndexMismatch, check_choice
from mrag.redaction import redact_url

if TYPE_CHECKING:
    from mrag.index.documents import IndexInfo
    from mrag.index.segments import SyncReport


def _show_built(known: mrag.SimilarityIndexes, name: str, report: SyncReport, *, as_json: bool) -> None:
    made = known.info(name)
    size, backend = made.documents, redact_url(known.places.of(name).url)
    if as_json:
        about = {"index": name, "documents": size, "analyser": made.analyser, "backend": backend}
        show_json({**about, **asdict(report)})
    elif size is None:
        show(f"The server built the index {name!r} in {report.seconds:.1f} s.")
    else:
        place = "" if backend == "local:" else f" in {backend}"
        show(
            f"{size:,} documents in the index {name!r}{place}: {report.added:,} new, "
            f"{report.changed:,} changed, {report.deleted:,} removed, in {report.seconds:.1f} s. "
            f"Analyser: {made.analyser}."
        )
        if made.fusion is not None:
            show(f"Fusion: {made.fusion}.")


def update_index(
    place: Place,
    name: str = "main",
    query: list[str] | None = None,
    embedder: str | None = None,
    lang: KeptLanguageOption = None,
    label_property: options.LabelPropertyOption = None,
    analyser: Annotated[str | None, Option(metavar="NAME")] = None,
    backend: Annotated[str | None, Option(metavar="URL")] = None,
    meaning: Annotated[str, Option(metavar="now|later")] = "now",
    runner: RunnerOption = "inline",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build or update the similarity index.

    Texts are found by words as soon as these are indexed; then new texts are embedded. Things without a label
    are named by the property that tells them apart best, else by the words of their IRIs. `mrag ask` and
    `mrag search` keep its languages.
    """
    check_choice("meaning", meaning, ("now", "later"))
    with place.open(lang, index=name) as graph:
        if label_property:
            graph.label_properties = tuple(label_property)
        known = mrag.SimilarityIndexes.of(graph)
        elsewhere = backend or known.places.of(name).url != "local:"
        server = "server" if graph.store.capabilities.similarity and not elsewhere else None
        made = _info(known, name)
        model = embedder or server or (made.later if made else "") or Settings.from_env().embedder
        definition = replace(_definition(graph, query), analyser=analyser or _analyser(made))

        def build(text: str, kept: str, *, later: bool) -> SyncReport:
            with commands.on_stop(kept), progress(text, unit="documents") as note:
                return known.build(
                    name, definition=definition, model=model, backend=backend,
                    runner=jobs.runner(runner, workers), on_progress=note, later=later,
                )  # fmt: skip

        there = name in known.names()
        state = "The index is unchanged." if there else "There is no index yet."
        words = meaning == "later" or (not there and indexes.similarity.words_first(model))
        if words:
            report = build("Indexing words", f"{state} Run the same command again.", later=True)
            state = indexes.similarity.BY_WORDS
        if meaning == "now":
            if words:
                say(f"{report.added:,} documents are found by their words; what follows may be stopped.")
            kept = f"{state} Run the same command again; embeddings made so far are reused."
            report = build("Embedding" if words else "Indexing", kept, later=False)
        images.graph.keep_catalogue(graph)
        _show_built(known, name, report, as_json=as_json)
    asked = '`mrag search "…"`; `mrag ask "…"` reads in it what is not computed.'
    say(f"Next: {indexes.similarity.MEANING_LATER if meaning == 'later' else asked}", style="dim")


def _definition(graph: mrag.KnowledgeGraph, query: list[str] | None) -> indexes.Definition:
    if query:
        return indexes.Definition(queries=tuple(query), languages=graph.languages)
    return indexes.Definition(languages=graph.languages)


def _info(known: mrag.SimilarityIndexes, name: str) -> IndexInfo | None:
    """Return what is known of an index; None of one that is built anew."""
    with suppress(IndexError_):
        return known.info(name) if name in known.names() else None
    return None


def _analyser(made: IndexInfo | None) -> str:
    """Return the analyser that an index was built with on demand, or else that of the settings."""
    definition = made.definition if made else None
    on_demand = definition is not None and definition.analyser != language.analysis.AUTO
    return definition.analyser if definition and on_demand else Settings.from_env().analyser


clues_app = Commands(
    help="Generative retrieval: find by a phrase unique to a document.",
    epilog='Example: mrag clues build -m local:model.gguf && mrag clues search "Who develops GraphDB?"',
)

ModelOption = Annotated[str, Option("--model", "-m", envvar="MRAG_CLUE_MODEL")]


@clues_app.command("build")
def build_(
    model: ModelOption,
    place: Place,
    folder: Path | None = None,
    query: list[str] | None = None,
    runner: RunnerOption = "inline",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the clue index of a graph's documents."""
    with place.open() as graph, ExitStack() as stack:
        loaded = _model(model, stack)
        started = time.perf_counter()
        how: dict[str, Any] = {
            "definition": _definition(graph, query),
            "runner": jobs.runner(runner, workers),
        }
        with progress("Building", unit="documents") as note:
            index = generative.build_clues(graph, loaded.tokeniser, folder=folder, on_progress=note, **how)
        seconds = time.perf_counter() - started
        if as_json:
            show_json({"documents": len(index), "tokens": index.tokens, "seconds": round(seconds, 3)})
        else:
            show(f"{len(index):,} documents of {index.tokens:,} tokens, {seconds:.1f} s")
            say(f'Next: `mrag clues search "…" --model {model}`.', style="dim")


@clues_app.command("search")
def search_(
    question: str,
    model: ModelOption,
    place: Place,
    folder: Path | None = None,
    image: Path | None = None,
    results: Annotated[int, Option("--results", "-k", min=1, max=100)] = 5,
    within: Annotated[str | None, Option("--in")] = None,
    mask: str | None = None,
    beams: Annotated[int, Option(min=1, max=64)] = 8,
    groups: Annotated[int, Option(min=1)] = 2,
    prior: Annotated[float, Option(min=0.0)] = 1.0,
    start: str = "beginning",
    as_json: JsonOption = False,
) -> None:
    """Find entities by phrases that a model generates."""
    settings = generative.DecodingSettings(beams=beams, groups=groups, prior_weight=prior, start=start)  # type: ignore[arg-type]
    with place.open() as graph, ExitStack() as stack:
        loaded = _model(model, stack)
        if folder is None and generative.decoding.clue_folder(graph) is None:
            say("A store in memory has no clue index, so one is built now.", style="dim")
            index = generative.build_clues(graph, loaded.tokeniser)
        else:
            index = generative.open_clues(graph, folder=folder)
        only: dict[str, Any] = {"concept": within, "query": mask}
        ranker = generative.GenerativeRanker(graph, index, loaded, settings=settings, **only)
        started = time.perf_counter()
        with status("Generating clues"):
            hits = ranker.rank(mrag.Question(question, image), results)
        seconds = time.perf_counter() - started
        labels = graph.labels([hit.iri for hit in hits])
        if as_json:
            rows = [hit_json(hit, labels[hit.iri]) for hit in hits]
            show_json({"hits": rows, "seconds": round(seconds, 3)})
            return
        if not hits:
            say("The model generated no phrase that occurs in exactly one document, so nothing was found.")
        for hit in hits:
            show_hit(hit, labels[hit.iri] or hit.iri)


def _model(name: str, stack: ExitStack) -> generative.LanguageModel:
    with status(f"Loading {name}"):
        model = generative.language_model(name)
    stack.callback(getattr(model, "close", lambda: None))
    return model


codes_app = Commands(
    help="Graph codes: find entities by the structure around them.",
    epilog='Example: mrag codes build && mrag codes search -e GraphDB,"developed by",Ontotext',
)


@dataclass(frozen=True)
class CodesPlace(Place):
    """Where a knowledge graph and its graph codes are."""

    name: str = "main"
    path: Annotated[Path | None, Option(metavar="FOLDER")] = None

    def folder(self, graph: mrag.KnowledgeGraph) -> Path:
        """Return the folder of the index."""
        if self.path is not None:
            return self.path
        beside = graphs.kg.home(graph)
        if beside is None:
            raise ConfigError("A graph in memory has no folder for an index.", hint="Name one with --path.")
        if not self.name.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(f"The name of an index has letters, digits, - and _ only, not {self.name!r}.")
        return beside.parent / "codes" / self.name

    @contextmanager
    def codes(self) -> Iterator[tuple[mrag.KnowledgeGraph, graphcodes.GraphCodeIndex]]:
        """Open the graph and its index."""
        with self.open() as graph:
            yield graph, graphcodes.GraphCodeIndex(self.folder(graph), must_exist=True)


WIDE = 40


@codes_app.command()
def build(
    place: CodesPlace,
    hops: Annotated[int, Option(min=1, max=2)] = 1,
    source: Annotated[Path | None, Option("--from", metavar="FOLDER")] = None,
    as_json: JsonOption = False,
) -> None:
    """Build the graph codes of all entities with a text.

    The code of an entity is made from its neighbourhood. With --from, codes are read from files instead,
    and are called as the files are.
    """
    with place.open() as graph:
        start = time.perf_counter()
        codes = dict(graphcodes.from_folder(source)) if source else _neighbourhoods(graph, hops)
        index = _writable(place.folder(graph))
        gone = index.sync(codes)
        seconds = time.perf_counter() - start
        sizes = {"nodes": sum(map(len, codes.values())), "edges": sum(len(c.edges) for c in codes.values())}
        if as_json:
            about = {"index": place.name, "documents": len(index), "removed": gone, "bytes": index.nbytes}
            show_json({**about, **sizes, "seconds": round(seconds, 3)})
        else:
            parts = f"{sizes['nodes']:,} nodes, {sizes['edges']:,} edges, {index.nbytes:,} bytes"
            show(f"{len(index):,} codes in the index {place.name!r} ({parts}), in {seconds:.1f} s.")


def _neighbourhoods(graph: mrag.KnowledgeGraph, hops: int) -> dict[str, graphcodes.GraphCode]:
    texts = indexes.documents.documents
    entities = sorted({iri for iri, _ in texts(graph, indexes.Definition(languages=graph.languages))})
    codes = {}
    with progress("Reading", unit="entities") as note:
        for iri, code in graphcodes.neighbourhoods(graph, entities, hops=hops):
            codes[iri] = code
            note(len(codes), len(entities))
    return codes


@codes_app.command()
def search(
    place: CodesPlace,
    question: Annotated[str, Argument(metavar="QUESTION")] = "",
    edge: Annotated[list[str] | None, Option("--edge", "-e", metavar="SOURCE,RELATION,TARGET")] = None,
    node: Annotated[list[str] | None, Option("--node", "-n")] = None,
    like: Annotated[str | None, Option(metavar="IRI")] = None,
    k: Annotated[int, Option("-k", min=1)] = 5,
    metric: str = "structural",
    excess: Annotated[float, Option(min=0)] = 0.01,
    ontology: bool = True,
    as_json: JsonOption = False,
) -> None:
    """Find the entities with the most similar codes.

    Each hit shows what matches and what does not.
    """
    if not question.strip() and not edge and not node and like is None:
        hint = "Give a question, --edge, --node or --like."
        raise ConfigError("There is nothing to search for.", hint=hint)
    how = graphcodes.CodeComparison(metric, excess=excess)  # type: ignore[arg-type]  # it checks the name
    with place.codes() as (graph, index):
        if ontology and metric == "structural":
            how = replace(how, ontology=graphcodes.Ontology.of_graph(graph))
        ranker = graphcodes.GraphCodeRanker(graph, index, comparison=how)
        entity = _expand(graph, like or "")
        if like is not None:
            code = graphcodes.code.centre(index.code(entity), entity)
        elif edge or node:
            code = ranker.named(_ask(graph, edge or [], node or []))
        else:
            code = ranker.code(mrag.Question(question))
        if not code:
            raise ConfigError("No feature was found in the question.", hint="Name things, or use --edge.")
        hits = ranker.rank_like(entity, k) if like is not None else ranker.rank_code(code, k)
        labels = graph.labels([hit.iri for hit in hits if graphcodes.code.is_iri(hit.iri)])
        asked = _verbaliser(graph, code).verbalise(code)
        if as_json:
            rows = [hit_json(h, labels.get(h.iri)) for h in hits]
            show_json({"question": asked, "metric": metric, "hits": rows})
            return
        say(f"Asked: {asked}", style="dim")
        for hit in hits:
            show_hit(hit, labels.get(hit.iri) or hit.iri)
        if not hits:
            say("No entity has anything in common with the question.")


@codes_app.command("show")
def show_code(iri: str, place: CodesPlace, as_json: JsonOption = False) -> None:
    """Show the code of an entity in words and as a matrix.

    --json prints the interchange format.
    """
    with place.codes() as (graph, index):
        code = index.code(_expand(graph, iri))
        if as_json:
            show_json(graphcodes.to_json(code))
            return
        verbaliser = _verbaliser(graph, code)
        show(verbaliser.verbalise(code))
        show("")
        numbers: dict[tuple[str, ...], int] = {}
        rows = code.matrix(numbers).toarray().tolist()
        wide = len(str(len(numbers)))
        for at, (node_id, row) in enumerate(zip(code.dictionary, rows, strict=True)):
            cells = " ".join((str(number) if number else "·").rjust(wide) for number in row)
            show(f"{at:3} {verbaliser.name(node_id, code)[:WIDE]:{WIDE}} {cells}")
        for cell, number in numbers.items():
            show(f"{number:3} = {' and '.join(map(verbaliser.relation, cell))}")


def _writable(folder: Path) -> graphcodes.GraphCodeIndex:
    """Open an index to change it; one that is damaged, or of another version, is rebuilt."""
    try:
        index = graphcodes.GraphCodeIndex(folder)
        if len(index):
            index.verify()
    except (DamagedIndex, IndexMismatch) as error:
        say(f"{error.message} It is rebuilt.", style="yellow")
        return graphcodes.GraphCodeIndex(folder, anew=True)
    return index


def _expand(graph: mrag.KnowledgeGraph, text: str) -> str:
    """Return the IRI that a text names, in angle brackets or by a prefix, else the text."""
    text = text.strip().removeprefix("<").removesuffix(">")
    prefix, _, local = text.partition(":")
    known = graph.prefixes.get(prefix)
    return f"{known}{local}" if known is not None and not local.startswith("//") else text


def _ask(graph: mrag.KnowledgeGraph, edges: list[str], nodes: list[str]) -> graphcodes.GraphCode:
    def end(text: str) -> str:
        iri = _expand(graph, text)
        return iri if "://" in iri else graphcodes.code.term(text)

    made = []
    for text in edges:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 3:
            raise ConfigError(f"An edge is SOURCE,RELATION,TARGET, not {text!r}.")
        made.append(graphcodes.Edge(end(parts[0]), _expand(graph, parts[1]), end(parts[2])))
    return graphcodes.GraphCode.of([end(text) for text in nodes], made)


def _verbaliser(graph: mrag.KnowledgeGraph, *codes: Any) -> graphcodes.CodeVerbaliser:
    return graphcodes.CodeVerbaliser().with_names(graph, codes)
