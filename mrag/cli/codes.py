"""`mrag codes`: graph codes are indexed, searched, shown and compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

import mrag
from mrag import graphcodes
from mrag import index as indexes
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.options import JsonOption, KgOption, StoreOption, opened
from mrag.cli.shared.output import hit_json, progress, say, show, show_hit, show_json
from mrag.errors import ConfigError, DamagedIndex, IndexMismatch

app = Commands(
    help="Graph codes: find entities by the structure around them.",
    epilog='Example: mrag codes build && mrag codes search -e GraphDB,"developed by",Ontotext',
)

NameOption = Annotated[str, typer.Option(help="Name of the index of graph codes.")]
PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path", metavar="FOLDER", help="Folder of the index, instead of the one beside the store."
    ),
]
MetricOption = Annotated[
    str, typer.Option(help="structural, paper, paper-numbers or query-relative.", show_default=True)
]
WIDE = 40


@app.command()
def build(
    store: StoreOption = None,
    kg: KgOption = None,
    name: NameOption = "main",
    path: PathOption = None,
    hops: Annotated[int, typer.Option(min=1, max=2, help="Steps from an entity that its code covers.")] = 1,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Import the .gc files of a folder instead."),
    ] = None,
    mend: Annotated[
        bool, typer.Option("--mend", help="With --from: repair and report defects of files.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the graph codes of all entities with a text.

    The code of an entity is made from its neighbourhood. With --from, codes are read from files instead,
    and are called as the files are.

    \b
    Examples:
      mrag codes build
      mrag codes build --hops 2 --name wide
      mrag codes build --from ./codes --name imported
    """
    import time

    with opened(store, kg) as graph:
        start = time.perf_counter()
        codes = _neighbourhoods(graph, hops) if source is None else _imported(source, mend)
        index = _writable(_folder(graph, name, path))
        gone = index.sync(codes)
        seconds = time.perf_counter() - start
        sizes = {"nodes": sum(map(len, codes.values())), "edges": sum(len(c.edges) for c in codes.values())}
        if as_json:
            about = {"index": name, "documents": len(index), "removed": gone, "bytes": index.nbytes}
            show_json({**about, **sizes, "seconds": round(seconds, 3)})
        else:
            parts = f"{sizes['nodes']:,} nodes, {sizes['edges']:,} edges, {index.nbytes:,} bytes"
            show(f"{len(index):,} codes in the index {name!r} ({parts}), in {seconds:.1f} s.")


def _neighbourhoods(graph: mrag.KnowledgeGraph, hops: int) -> dict[str, graphcodes.GraphCode]:
    from mrag.index.documents import documents

    entities = sorted({iri for iri, _ in documents(graph, indexes.Definition(languages=graph.languages))})
    codes = {}
    with progress("Reading", unit="entities") as note:
        for iri, code in graphcodes.neighbourhoods(
            graph, entities, graphcodes.NeighbourhoodSettings(hops=hops)
        ):
            codes[iri] = code
            note(len(codes), len(entities))
    return codes


def _imported(folder: Path, mend: bool) -> dict[str, graphcodes.GraphCode]:
    return dict(
        graphcodes.from_folder(folder, on_mend=(lambda text: say(text, style="yellow")) if mend else None)
    )


@app.command()
def search(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="Names of the graph, or a text (extra `graphcodes`).")
    ] = "",
    edge: Annotated[
        list[str] | None,
        typer.Option(
            "--edge", "-e", metavar="SOURCE,RELATION,TARGET", help="An edge of the question; repeatable."
        ),
    ] = None,
    node: Annotated[
        list[str] | None, typer.Option("--node", "-n", help="A node of the question; repeatable.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(metavar="IRI", help="Use the code of this entity as the question.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hits.")] = 5,
    metric: MetricOption = "structural",
    excess: Annotated[
        float, typer.Option(min=0, help="Structural metric: weight of what only the entity has.")
    ] = 0.01,
    meaning: Annotated[
        str, typer.Option(help="Order the best hits by meaning, with the model minilm or wordllama.")
    ] = "none",
    ontology: Annotated[
        bool, typer.Option(help="Structural metric: let classes match their subclasses and instances.")
    ] = True,
    store: StoreOption = None,
    kg: KgOption = None,
    name: NameOption = "main",
    path: PathOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the entities with the most similar codes.

    Each hit shows what matches and what does not.

    \b
    Examples:
      mrag codes search -e GraphDB,"developed by",Ontotext
      mrag codes search --like https://w3id.org/mrag/demo/products#GraphDB
      mrag codes search "Which database supports Eclipse RDF4J?"
      mrag codes search "a man rides a red bicycle" --store oxigraph:./scenes --meaning minilm
    """
    from mrag.graphcodes.code import centred, is_iri

    if not question.strip() and not edge and not node and like is None:
        raise ConfigError(
            "There is nothing to search for.", hint="Give a question, --edge, --node or --like."
        )
    how = _comparison(metric, excess)
    with _codes(store, kg, name, path) as (graph, index):
        if ontology and metric == "structural":
            how = replace(how, ontology=graphcodes.Ontology.of_graph(graph))
        near = graphcodes.CodeMeaning(meaning) if meaning != "none" else None
        ranker = graphcodes.GraphCodeRanker(graph, index, comparison=how, meaning=near)
        if like is not None:
            entity = _expanded(graph, like)
            code = centred(index.code(entity), entity)
        elif edge or node:
            code = ranker.named(_given(graph, edge or [], node or []))
        else:
            code = ranker.code(mrag.Question(question))
        if not code:
            raise ConfigError("No feature was found in the question.", hint="Name things, or use --edge.")
        hits = ranker.rank_like(entity, k) if like is not None else ranker.rank_code(code, k)
        labels = graph.labels([hit.iri for hit in hits if is_iri(hit.iri)])
        asked = _verbaliser(graph, code).verbalise(code)
        if as_json:
            found = [hit_json(h, labels.get(h.iri)) for h in hits]
            show_json({"question": asked, "metric": metric, "hits": found})
            return
        say(f"Asked: {asked}", style="dim")
        for hit in hits:
            show_hit(hit, labels.get(hit.iri) or hit.iri)
        if not hits:
            say("No entity has anything in common with the question.")


@app.command("show")
def show_code(
    iri: Annotated[str, typer.Argument(metavar="IRI", help="IRI of an entity in the index.")],
    store: StoreOption = None,
    kg: KgOption = None,
    name: NameOption = "main",
    path: PathOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the code of an entity in words and as a matrix.

    --json prints the interchange format.

    \b
    Examples:
      mrag codes show https://w3id.org/mrag/demo/products#GraphDB
      mrag codes show https://w3id.org/mrag/demo/products#GraphDB --json > graphdb.json
    """
    with _codes(store, kg, name, path) as (graph, index):
        code = index.code(_expanded(graph, iri))
        registry = index.registry
        if as_json:
            show_json(graphcodes.to_json(code, registry))
            return
        verbaliser = _verbaliser(graph, code)
        show(verbaliser.verbalise(code))
        show("")
        numbers = code.matrix(registry).toarray().tolist()
        wide = max([1, *(len(str(number)) for row in numbers for number in row)])
        for at, (node_id, row) in enumerate(zip(code.dictionary, numbers, strict=True)):
            cells = " ".join((str(number) if number else "·").rjust(wide) for number in row)
            show(f"{at:3} {verbaliser.name(node_id, code)[:WIDE]:{WIDE}} {cells}")
        used = sorted({number for row in numbers for number in row if number})
        for number in used:
            show(f"{number:3} = {' and '.join(verbaliser.relation(r) for r in registry.relations(number))}")


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="IRI of an entity, used as the question.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="IRI of the entity to compare it with.")],
    store: StoreOption = None,
    kg: KgOption = None,
    name: NameOption = "main",
    path: PathOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two entities by every metric.

    \b
    Example:
      mrag codes compare https://w3id.org/mrag/demo/products#GraphDB https://w3id.org/mrag/demo/products#Stardog
    """
    from mrag.graphcodes.metrics import Metric

    with _codes(store, kg, name, path) as (graph, index):
        q, d = index.code(_expanded(graph, first)), index.code(_expanded(graph, second))
        reasons = graphcodes.explain(q, d).reasons(q, _verbaliser(graph, q, d))
        scores = {m: index.compare(q, _expanded(graph, second), _comparison(m)) for m in get_args(Metric)}
        if as_json:
            show_json({"scores": {m: asdict(s) for m, s in scores.items()}, "reasons": list(reasons)})
            return
        show(f"{'':16}{'features':>10}{'relations':>11}{'types':>8}")
        for metric, s in scores.items():
            show(f"{metric:16}{s.features:10.3f}{s.relations:11.3f}{s.types:8.3f}")
        for reason in reasons:
            show(reason)


@contextmanager
def _codes(
    store: str | None, kg: str | None, name: str, path: Path | None
) -> Iterator[tuple[mrag.KnowledgeGraph, graphcodes.GraphCodeIndex]]:
    with opened(store, kg) as graph:
        yield graph, graphcodes.GraphCodeIndex(_folder(graph, name, path), must_exist=True)


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


def _folder(graph: mrag.KnowledgeGraph, name: str, path: Path | None) -> Path:
    from mrag.index.backends.base import home

    if path is not None:
        return path
    beside = home(graph)
    if beside is None:
        raise ConfigError("A graph in memory has no folder for an index.", hint="Name one with --path.")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"The name of an index has letters, digits, - and _ only, not {name!r}.")
    return beside.parent / "codes" / name


def _comparison(metric: str, excess: float | None = None) -> graphcodes.CodeComparison:
    how = graphcodes.CodeComparison(metric)  # type: ignore[arg-type]  # it checks the name
    return how if excess is None else replace(how, excess=excess)


def _expanded(graph: mrag.KnowledgeGraph, text: str) -> str:
    """Return the IRI that a text names, in angle brackets or by a prefix, else the text."""
    text = text.strip().removeprefix("<").removesuffix(">")
    prefix, _, local = text.partition(":")
    known = graph.prefixes.get(prefix)
    return f"{known}{local}" if known is not None and not local.startswith("//") else text


def _given(graph: mrag.KnowledgeGraph, edges: list[str], nodes: list[str]) -> graphcodes.GraphCode:
    from mrag.graphcodes.code import term

    def end(text: str) -> str:
        iri = _expanded(graph, text)
        return iri if "://" in iri else term(text)

    made = []
    for text in edges:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 3:
            raise ConfigError(f"An edge is SOURCE,RELATION,TARGET, not {text!r}.")
        made.append(graphcodes.Edge(end(parts[0]), _expanded(graph, parts[1]), end(parts[2])))
    return graphcodes.GraphCode.of([end(text) for text in nodes], made)


def _verbaliser(graph: mrag.KnowledgeGraph, *codes: Any) -> graphcodes.CodeVerbaliser:
    return graphcodes.CodeVerbaliser().with_names(graph, codes)
