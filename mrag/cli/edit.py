"""`mrag update`, `remove` and `kgs`: triples are changed, and knowledge graphs listed and deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mrag
from mrag import loaders, rdf
from mrag.cli.shared import stopping
from mrag.cli.shared.options import JsonOption, KgOption, StoreOption, opened
from mrag.cli.shared.output import say, show, show_json, status
from mrag.diagnosis import premises_in_words
from mrag.errors import ConfigError, QueryRefused, TermError
from mrag.text.grammar import counted

if TYPE_CHECKING:
    from mrag.graph.updates import PlannedUpdate
    from mrag.stores.changes import Operation

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Change it without asking.")]
FollowOption = Annotated[
    bool, typer.Option("--reason/--no-reason", help="Bring what was inferred up to date afterwards.")
]
_EXAMPLES = 5
_CHUNK = 10_000


def update(
    text: Annotated[str, typer.Argument(metavar="UPDATE", help="SPARQL Update, or a .ru file of it.")],
    store: StoreOption = None,
    kg: KgOption = None,
    yes: YesOption = False,
    reason: FollowOption = True,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit in seconds.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Change a knowledge graph by a SPARQL update.

    What would change is shown first. It lands whole or not at all, and inferences follow.

    \b
    Examples:
      mrag update "DELETE DATA { ex:GraphDB a ex:SemanticProduct }"
      mrag update --yes corrections.ru
    """
    from mrag.cli.shared.options import read_query_file
    from mrag.graph.updates import parse

    text = read_query_file(text) if text.endswith((".ru", ".rq", ".sparql")) else text
    with opened(store, kg) as graph:
        _change(graph, parse(text, graph.query_prefixes), yes, reason, seconds, as_json=as_json)


def remove(
    terms: Annotated[
        list[str] | None,
        typer.Argument(metavar="TERM", help="Subject, predicate and object: IRIs, CURIEs, or a literal."),
    ] = None,
    graph: Annotated[str | None, typer.Option("--graph", metavar="IRI", help="Remove a named graph.")] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", metavar="FILE", help="Remove the triples of an RDF file; repeatable."),
    ] = None,
    store: StoreOption = None,
    kg: KgOption = None,
    yes: YesOption = False,
    reason: FollowOption = True,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit in seconds.")] = 600.0,
    as_json: JsonOption = False,
) -> None:
    """Remove a triple, a named graph, or the triples of a file.

    What would be removed is shown first. Inferences that rested on it are removed too.

    \b
    Examples:
      mrag remove ex:GraphDB ex:hasVendor ex:Ontotext
      mrag remove http://example.org/acme ex:employees '"23"^^xsd:string'
      mrag remove --graph http://example.org/graphs/2023 --yes
      mrag remove --file old.ttl
    """
    if sum(map(bool, (terms, graph, file))) != 1 or (terms and len(terms) != 3):
        raise typer.BadParameter("Give subject, predicate and object, or --graph, or --file.")
    with opened(store, kg) as found:
        if graph is not None:
            operations: list[Operation] = [("clear", "graph", str(rdf.iri(graph, found.prefixes)))]
        else:
            operations = [("quads", False, pieces) for pieces in _pieces(found, terms or [], file or [])]
        _change(found, operations, yes, reason, seconds, as_json=as_json)


def kgs(
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="NAME", help="Delete a knowledge graph and its indexes.")
    ] = None,
    store: StoreOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the knowledge graphs of a store with their sizes, or delete one.

    \b
    Examples:
      mrag kgs
      mrag kgs --delete main-images
    """
    from mrag.graph.connection import summaries

    with opened(store, None) as graph:
        found = summaries(graph.store)
        if delete is not None:
            _delete(graph, delete, [one.name for one in found], yes)
            return
        sizes = {one.name: _size(_home(graph, one.name)) for one in found}
        if as_json:
            show_json([{**asdict(one), "index_bytes": sizes[one.name]} for one in found])
            return
        for one in found:
            inferred = "an unknown number of" if one.inferred is None else f"{one.inferred:,}"
            more = f", {one.graphs:,} named graphs" if one.graphs else ""
            more += f", reasoning reads {premises_in_words(graph, one.premises)}" if one.premises else ""
            more += ", inferences not up to date" if one.pending else ""
            show(
                f"{one.name}: {one.triples:,} triples asserted, {inferred} inferred{more}; "
                f"indexes {_megabytes(sizes[one.name])}"
            )
        if not found:
            say("The store holds no knowledge graph of mrag.")
        place = getattr(graph.store, "path", None)
        if place is not None:
            say(f"The store takes {_megabytes(_size(place))} on disk.", style="dim")


# -- inside --------------------------------------------------------------------------------------------


def _change(
    graph: mrag.KnowledgeGraph,
    operations: Sequence[Operation],
    yes: bool,
    reason: bool,
    seconds: float,
    *,
    as_json: bool,
) -> None:
    """Show what operations change, carry them out if that is wanted, and have inferences follow."""
    from mrag.graph.updates import land, preview
    from mrag.stores.process.documents import parsed
    from mrag.stores.process.limited import Bounds

    steps = parsed(operations, Bounds.from_env())
    planned = preview(graph, steps, seconds=seconds, max_changes=100_000_000)
    _show(graph, planned, as_json=as_json)
    report = planned.report
    result: dict[str, Any] = {"removed": report.removed, "added": report.added, "changed": False}
    if planned.record is not None and (yes or _agreed()):
        land(graph, planned)
        result["changed"] = True
        if graph.pending and reason:
            kept = "The change is made. Run `mrag reason` to bring what was inferred up to date."
            with stopping.kept(kept), status("Reasoning"):
                result["inferred"] = mrag.reason(graph).triples
    result["pending"] = graph.pending
    if as_json:
        show_json(result)
    elif not result["changed"]:
        say("Nothing was changed." + ("" if planned.record is None else " Add --yes to change it."))
    else:
        show(f"{report.removed:,} removed, {report.added:,} added.")
        if "inferred" in result:
            show(f"{counted(result['inferred'], 'triple')} inferred.")
        elif graph.pending:
            say("Inferred triples are not up to date. Run `mrag reason`.", style="yellow")


def _show(graph: mrag.KnowledgeGraph, planned: PlannedUpdate, *, as_json: bool) -> None:
    from mrag.graph.updates import graph_of

    record = planned.record
    own = {*graph.record.inferred, *(g for g in (record.merged if record else "",) if g)}
    for sign, word, quads in (("-", "removed", planned.removed), ("+", "added", planned.added)):
        shown = [q for q in quads if graph_of(q) not in own]
        if not shown:
            continue
        say(f"{counted(len(shown), 'triple')} would be {word}:")
        for quad in shown[:_EXAMPLES] if not as_json else ():
            say(f"  {sign} {quad.subject} {quad.predicate} {quad.object}")
        if len(shown) > _EXAMPLES and not as_json:
            say(f"  and {len(shown) - _EXAMPLES:,} more")


def _agreed() -> bool:
    import sys

    return sys.stdin.isatty() and typer.confirm("Change it?", err=True)


def _pieces(
    graph: mrag.KnowledgeGraph, terms: Sequence[str], files: Sequence[Path]
) -> Iterator[tuple[bytes, ...]]:
    """Yield the triples to remove as N-Quads of the default graph."""
    import pyoxigraph as ox

    def printed(triples: Sequence[ox.Triple]) -> bytes:
        return ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b""

    if terms:
        from mrag.rdf.terms import to_ox

        s, p = (to_ox(rdf.iri(term, graph.query_prefixes)) for term in terms[:2])
        yield (printed([ox.Triple(s, p, _object(terms[2], graph))]),)  # type: ignore[arg-type]  # they are IRIs
    for source in loaders.sources(files):
        batch: list[ox.Triple] = []
        pieces: list[bytes] = []
        for quad in source.quads():
            batch.append(quad.triple)
            if len(batch) == _CHUNK:
                pieces.append(printed(batch))
                batch = []
        yield (*pieces, printed(batch))


def _object(text: str, graph: mrag.KnowledgeGraph) -> Any:
    """Read an IRI, a CURIE, or a literal as SPARQL writes it."""
    from mrag.rdf.parser import QueryParser, Tokens
    from mrag.rdf.terms import to_ox

    try:
        return to_ox(rdf.iri(text, graph.query_prefixes))
    except TermError:
        try:
            literal = QueryParser(Tokens(text, "query"), graph.query_prefixes).literal()
        except QueryRefused as error:
            hint = """Write an IRI, a CURIE, or a literal in quotes, such as '"23"^^xsd:string'."""
            raise TermError("Not a term.", term=text, hint=hint) from error
        return to_ox(literal)


def _delete(graph: mrag.KnowledgeGraph, name: str, known: Sequence[str], yes: bool) -> None:
    import shutil

    from mrag.graph.connection import delete

    if name not in known:
        raise ConfigError(
            f"There is no knowledge graph {name!r}.", hint=f"There are: {', '.join(known) or 'none'}."
        )
    doomed = graph if name == graph.name else mrag.KnowledgeGraph(graph.store, name)
    say(f"{name}: {doomed.record.triples:,} triples and its indexes would be deleted.")
    if not (yes or _agreed()):
        say("Nothing was changed. Add --yes to delete it.")
        return
    indexes = mrag.SimilarityIndexes.of(doomed)
    for index in indexes.places.names():
        indexes.places.delete(index)
    delete(doomed)
    home = _home(graph, name)
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)
    show(f"Deleted {name}.")


def _home(graph: mrag.KnowledgeGraph, name: str) -> Path | None:
    """Return the folder of what lies beside a store for a knowledge graph."""
    from mrag.index.similarity import home

    beside = home(graph)
    return None if beside is None else beside.parents[1] / name


def _size(folder: Path | None) -> int:
    if folder is None or not folder.is_dir():
        return 0
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
