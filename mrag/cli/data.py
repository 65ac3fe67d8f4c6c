"""`mrag load`, `create`, `reason`, `update`, `remove` and `kgs`: a knowledge graph is filled and changed."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import mrag
from mrag import graph as graphs
from mrag import loaders, planning, rdf, reasoning, stores
from mrag.cli import commands, options
from mrag.cli.options import JsonOption
from mrag.cli.output import progress, say, show, show_json, status
from mrag.diagnosis import example, premises_in_words
from mrag.errors import ConfigError, InconsistentOntology, QueryRefused, TermError, check_choice
from mrag.language.grammar import count_words
from mrag.terminal import inline

if TYPE_CHECKING:
    from mrag.graph.updates import PlannedUpdate
    from mrag.reasoning.rounds import ClashGroup, OnInconsistency, Round
    from mrag.stores.changes import Operation

StrictOption = Annotated[bool, Option("--strict/--tolerate")]
_GROUPS = 5


def show_groups(groups: Sequence[ClashGroup]) -> None:
    """Say on standard error what contradicts the ontology."""
    if not groups:
        return
    total = count_words(sum(group.count for group in groups), "contradiction")
    say(f"{total} of the ontology, kept apart from what was inferred:", style="yellow")
    for group in groups[:_GROUPS]:
        say(f"  {group.text()}", style="yellow")
        say(f"    such as {example(group)}", style="dim")
    if len(groups) > _GROUPS:
        say(f"  and {len(groups) - _GROUPS} more axioms", style="yellow")
    say("`mrag reason --report FILE` lists them; `mrag remove` takes triples out.", style="dim")


def write_report(file: Path, groups: Sequence[ClashGroup]) -> None:
    """Write all contradictions to a file: JSON if it is named so, else text."""
    lines = []
    for group in groups:
        lines.append(group.text())
        for clash in group.clashes:
            triples = (" ".join(term.n3() for term in triple) for triple in clash.triples)
            lines.append("  " + inline("; ".join(triples)))
    text = "\n".join(lines or ["Nothing contradicts the ontology."])
    if file.suffix == ".json":
        text = json.dumps([group.to_json(examples=100) for group in groups], ensure_ascii=False, indent=2)
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        hint = "Check the path and permissions."
        raise ConfigError("The report cannot be written.", file=str(file), hint=hint) from error


def load(
    files: Annotated[list[Path], Argument(metavar="FILE")],
    place: options.Place,
    format: str | None = None,
    reason: bool = True,
    replace: bool = False,
    skip_bad_lines: bool = False,
    imports: bool = False,
    label_property: options.LabelPropertyOption = None,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Load RDF files into a knowledge graph and reason over it.

    A load that fails changes nothing.
    """
    with place.open(create=True) as graph:
        kept = loading(graph)
        with commands.on_stop(kept), progress("Loading") as note:
            report = graph.load(
                files, format=format, on_progress=note, skip_bad_lines=skip_bad_lines, replacing=replace,
                imports=imports,
            )  # fmt: skip
        if label_property:
            graph.label_properties = tuple(label_property)
        _say_notes(report, any_tag=graph.store.capabilities.any_tag)
        result: dict[str, Any] = {
            "store": graph.store.url,
            "triples": report.triples,
            "seconds": round(report.seconds, 3),
            "triples_per_second": round(report.triples_per_second),
            "rejected": [asdict(line) for line in report.rejected],
            "empty": list(report.empty),
        }
        if reason:
            try:
                with commands.on_stop(LOADED):
                    closure = _reason(graph, strict=strict)
                result["inferred"] = closure.triples
                result["contradictions"] = [group.to_json() for group in closure.contradictions]
            except InconsistentOntology as error:
                # The triples are loaded as asked.
                say(f"Nothing was inferred. {error}", style="yellow")
                result["inferred"], result["clashes"] = 0, len(error.clashes)
        _read_names(graph)
        if isinstance(graph.store, stores.OxigraphStore) and 4 * report.triples > graph.record.triples:
            last = "All is loaded; the next load puts the files in order."
            with commands.on_stop(last), status("Putting the files in order"):
                graph.store.compact()
        if as_json:
            show_json(result)
            return
        speed = f"{report.seconds:.1f} s ({report.triples_per_second:,.0f} a second)"
        show(f"{report.triples:,} triples loaded into {graph.store.url} in {speed}.")
        if reason:
            show(f"{count_words(result['inferred'], 'triple')} inferred.")
        say(
            'Next: `mrag ask "…"`. Names are found already; `mrag index` finds by words and meaning.',
            style="dim",
        )


def create(url: str, ruleset: str = "owl2-rl-optimized", kind: str = "tdb2") -> None:
    """Create a GraphDB repository or a Fuseki dataset."""
    options.warn_of_login(url)
    store, _ = graphs.open_store(url)
    try:
        if isinstance(store, stores.GraphDBStore):
            store.create(ruleset)
        elif isinstance(store, stores.FusekiStore):
            store.create(kind)
        else:
            what = "Only GraphDB and Fuseki servers create stores on request."
            hint = "Other stores are created by loading into them: `mrag load --store URL FILE`."
            raise ConfigError(what, endpoint=store.url, hint=hint)
        show(f"Created {store.url}.")
    finally:
        store.close()


def reason(
    place: options.Place,
    strict: StrictOption = False,
    graphs: Annotated[list[str] | None, Option("--graph", metavar="IRI")] = None,
    all_graphs: bool = False,
    report: Annotated[Path | None, Option(metavar="FILE")] = None,
    as_json: JsonOption = False,
) -> None:
    """Infer what follows from the loaded triples under OWL.

    Triples that contradict the ontology are reported, and the rest is inferred.
    """
    if graphs and all_graphs:
        raise ConfigError("--graph and --all-graphs cannot be used together.")
    kept = "The triples inferred before are unchanged. Run the same command again."
    with place.open() as graph, commands.on_stop(kept):
        closure = _reason(graph, strict=strict, graphs=[] if all_graphs else graphs)
        if report is not None:
            write_report(report, closure.contradictions)
        _read_names(graph)
        if as_json:
            read = list(graph.record.premises)
            groups = [group.to_json() for group in closure.contradictions]
            show_json({"inferred": closure.triples, "graphs": read, "contradictions": groups})
        else:
            show(f"{count_words(closure.triples, 'triple')} inferred.")


LOADED = "The files are loaded. Run `mrag reason` to infer what follows from them."


def loading(graph: mrag.KnowledgeGraph) -> Callable[[], str]:
    """Return a function that states, when a load is interrupted, whether it has landed."""
    before = graph.revision

    def state() -> str:
        landed = graph.revision != before and not graph.record.pending
        return (
            LOADED
            if landed
            else "Nothing was loaded, and the graph is unchanged. Run the same command again."
        )

    return state


def _say_notes(report: stores.LoadReport, *, any_tag: bool) -> None:
    for line in report.rejected:
        say(f"Skipped {line.file}, line {line.line}: {line.reason}", style="yellow")
    for name in report.empty:
        say(f"Nothing is stated in {name}.", style="yellow")
    if report.odd_tags:
        from mrag.stores.process.parsing import well_formed_tag

        tags = ", ".join(tag if any_tag else f"{tag} as {well_formed_tag(tag)}" for tag in report.odd_tags)
        say(f"Kept language tags that BCP 47 does not allow: {tags}", style="yellow")


def _reason(
    graph: mrag.KnowledgeGraph, *, strict: bool, graphs: list[str] | None = None
) -> reasoning.Closure:
    wrong: OnInconsistency = "error" if strict else "report"
    with status("Reasoning") as say_instead:

        def tell(done: Round) -> None:
            say_instead(f"Reasoning: {done.triples:,} triples inferred in round {done.number}")

        closure = mrag.reason(graph, on_round=tell, on_inconsistency=wrong, graphs=graphs)
    if graph.record.premises:
        named = premises_in_words(graph, graph.record.premises)
        say(f"Reasoning read {named} alone; `mrag reason --all-graphs` reads all.", style="dim")
    show_groups(closure.contradictions)
    for note in closure.notes[:5]:
        say(note, style="dim")
    say(f"Reasoning took {closure.seconds:.1f} s.", style="dim")
    return closure


def _read_names(graph: mrag.KnowledgeGraph) -> None:
    """Read what things are called and how they hang together, so that no question waits for it."""
    with (
        commands.on_stop("All is loaded; names are read when a question is next asked."),
        status("Reading names"),
    ):
        planning.lexicon.names_of(graph)


YesOption = Annotated[bool, Option("--yes", "-y")]
_EXAMPLES = 5
_CHUNK = 10_000


def update(
    text: Annotated[str, Argument(metavar="UPDATE")],
    place: options.Place,
    yes: YesOption = False,
    reason: bool = True,
    seconds: Annotated[float, Option(min=0.1)] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Change a knowledge graph by a SPARQL update.

    What would change is shown first. It lands whole or not at all, and inferences follow.
    """
    text = options.read_query_file(text) if text.endswith((".ru", ".rq", ".sparql")) else text
    with place.open() as graph:
        _change(
            graph, rdf.parser.parse_update(text, graph.query_prefixes), yes, reason, seconds, as_json=as_json
        )


def remove(
    place: options.Place,
    terms: Annotated[list[str] | None, Argument(metavar="TERM")] = None,
    graph: Annotated[str | None, Option(metavar="IRI")] = None,
    file: Annotated[list[Path] | None, Option(metavar="FILE")] = None,
    yes: YesOption = False,
    reason: bool = True,
    seconds: Annotated[float, Option(min=0.1)] = 600.0,
    as_json: JsonOption = False,
) -> None:
    """Remove a triple, a named graph, or the triples of a file.

    What would be removed is shown first. Inferences that rested on it are removed too.
    """
    if sum(map(bool, (terms, graph, file))) != 1 or (terms and len(terms) != 3):
        raise typer.BadParameter("Give subject, predicate and object, or --graph, or --file.")
    with place.open() as kg:
        if graph is not None:
            operations: list[Operation] = [("clear", "graph", str(rdf.iri(graph, kg.prefixes)))]
        else:
            operations = [("quads", False, pieces) for pieces in _pieces(kg, terms or [], file or [])]
        _change(kg, operations, yes, reason, seconds, as_json=as_json)


def kgs(
    delete: Annotated[str | None, Option(metavar="NAME")] = None,
    store: options.StoreOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the knowledge graphs of a store with their sizes, or delete one."""
    with options.Place(store).open() as graph:
        summaries = graphs.connection.summaries(graph.store)
        if delete is not None:
            _delete(graph, delete, [one.name for one in summaries], yes)
            return
        sizes = {one.name: _size(_home(graph, one.name)) for one in summaries}
        if as_json:
            show_json([{**asdict(one), "index_bytes": sizes[one.name]} for one in summaries])
            return
        for one in summaries:
            inferred = "an unknown number of" if one.inferred is None else f"{one.inferred:,}"
            more = f", {one.graphs:,} named graphs" if one.graphs else ""
            more += f", reasoning reads {premises_in_words(graph, one.premises)}" if one.premises else ""
            more += ", inferences not up to date" if one.pending else ""
            more += (
                f", {one.left:,} more of a run that has not ended; the next clears them" if one.left else ""
            )
            show(
                f"{one.name}: {one.triples:,} triples asserted, {inferred} inferred{more}; "
                f"indexes {_megabytes(sizes[one.name])}"
            )
        if not summaries:
            say("The store holds no knowledge graph of mrag.")
        place = getattr(graph.store, "path", None)
        if place is not None:
            say(f"The store takes {_megabytes(_size(place))} on disk.", style="dim")


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
    from mrag.stores.process.parsing import Bounds, parsed

    steps = parsed(operations, Bounds.from_env())
    planned = graphs.updates.preview(graph, steps, seconds=seconds, max_changes=100_000_000)
    _show_plan(graph, planned, as_json=as_json)
    report = planned.report
    result: dict[str, Any] = {"removed": report.removed, "added": report.added, "changed": False}
    if planned.record is not None and (yes or _is_agreed()):
        graphs.updates.land(graph, planned)
        result["changed"] = True
        if graph.pending and reason:
            kept = "The change is made. Run `mrag reason` to bring what was inferred up to date."
            with commands.on_stop(kept), status("Reasoning"):
                result["inferred"] = mrag.reason(graph).triples
        _read_names(graph)
    result["pending"] = graph.pending
    if as_json:
        show_json(result)
    elif not result["changed"]:
        say("Nothing was changed." + ("" if planned.record is None else " Add --yes to change it."))
    else:
        show(f"{report.removed:,} removed, {report.added:,} added.")
        if "inferred" in result:
            show(f"{count_words(result['inferred'], 'triple')} inferred.")
        elif graph.pending:
            say("Inferred triples are not up to date. Run `mrag reason`.", style="yellow")


def _show_plan(graph: mrag.KnowledgeGraph, planned: PlannedUpdate, *, as_json: bool) -> None:
    record = planned.record
    own = {*graph.record.inferred, *(g for g in (record.merged if record else "",) if g)}
    for sign, word, quads in (("-", "removed", planned.removed), ("+", "added", planned.added)):
        shown = [q for q in quads if graphs.updates.graph_of(q) not in own]
        if not shown:
            continue
        say(f"{count_words(len(shown), 'triple')} would be {word}:")
        for quad in shown[:_EXAMPLES] if not as_json else ():
            say(f"  {sign} {quad.subject} {quad.predicate} {quad.object}")
        if len(shown) > _EXAMPLES and not as_json:
            say(f"  and {len(shown) - _EXAMPLES:,} more")


def _is_agreed() -> bool:
    return sys.stdin.isatty() and typer.confirm("Change it?", err=True)


def _pieces(
    graph: mrag.KnowledgeGraph, terms: Sequence[str], files: Sequence[Path]
) -> Iterator[tuple[bytes, ...]]:
    """Yield the triples to remove as N-Quads of the default graph."""
    import pyoxigraph as ox

    def to_lines(triples: Iterator[ox.Triple]) -> tuple[bytes, ...]:
        batches = iter(lambda: [*islice(triples, _CHUNK)], [])
        return tuple(ox.serialize(batch, format=ox.RdfFormat.N_TRIPLES) or b"" for batch in batches)

    if terms:
        s, p = (rdf.terms.to_ox(rdf.iri(term, graph.query_prefixes)) for term in terms[:2])
        yield to_lines(iter([ox.Triple(s, p, _object(terms[2], graph))]))  # type: ignore[arg-type]  # they are IRIs
    for source in loaders.sources(files):
        yield to_lines(quad.triple for quad in source.quads())


def _object(text: str, graph: mrag.KnowledgeGraph) -> Any:
    """Read an IRI, a CURIE, or a literal as SPARQL writes it."""
    try:
        return rdf.terms.to_ox(rdf.iri(text, graph.query_prefixes))
    except TermError:
        try:
            literal = rdf.parser.TokenCursor(rdf.parser.Tokens(text, "query"), graph.query_prefixes).literal()
        except QueryRefused as error:
            hint = """Write an IRI, a CURIE, or a literal in quotes, such as '"23"^^xsd:string'."""
            raise TermError("Not a term.", term=text, hint=hint) from error
        return rdf.terms.to_ox(literal)


def _delete(graph: mrag.KnowledgeGraph, name: str, known: Sequence[str], yes: bool) -> None:
    check_choice("knowledge graph", name, known)
    doomed = graph if name == graph.name else mrag.KnowledgeGraph(graph.store, name)
    say(f"{name}: {doomed.record.triples:,} triples and its indexes would be deleted.")
    if not (yes or _is_agreed()):
        say("Nothing was changed. Add --yes to delete it.")
        return
    indexes = mrag.SimilarityIndexes.of(doomed)
    for index in indexes.places.names():
        indexes.places.delete(index)
    graphs.connection.delete(doomed)
    home = _home(graph, name)
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)
    show(f"Deleted {name}.")


def _home(graph: mrag.KnowledgeGraph, name: str) -> Path | None:
    """Return the folder of what lies beside a store for a knowledge graph."""
    beside = graphs.kg.home(graph)
    return None if beside is None else beside.parents[1] / name


def _size(folder: Path | None) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder else 0


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
