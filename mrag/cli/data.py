"""`mrag load`, `create` and `reason`: a knowledge graph is filled and reasoned over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mrag
from mrag import rdf, reasoning, stores
from mrag.cli.shared import options, stopping
from mrag.cli.shared.contradictions import StrictOption, show_groups, write_report
from mrag.cli.shared.output import progress, say, show, show_json, status
from mrag.diagnosis import premises_in_words
from mrag.errors import ConfigError, InconsistentOntology
from mrag.text.grammar import counted

if TYPE_CHECKING:
    from mrag.reasoning.rounds import OnInconsistency


def load(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="RDF files, gzipped or not, or folders of them.")
    ],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    format: Annotated[
        str | None, typer.Option(help="File name extension to read the files as, such as ttl.")
    ] = None,
    reason: Annotated[bool, typer.Option(help="Infer what follows under OWL after loading.")] = True,
    engine: Annotated[str, typer.Option(help="Reasoner: rules, or sparq (extra `accelerate`).")] = "rules",
    replace: Annotated[bool, typer.Option("--replace", help="Replace what the graph held before.")] = False,
    skip_bad_lines: Annotated[
        bool, typer.Option("--skip-bad-lines", help="Skip bad lines of N-Triples and N-Quads.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out files that cannot be read, and name them.")
    ] = False,
    imports: Annotated[
        bool, typer.Option("--imports", help="Load what the files import as well, from local files.")
    ] = False,
    label_property: options.LabelPropertyOption = None,
    strict: StrictOption = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair-datatypes", help="Give literals the declared datatype where their text fits it."
        ),
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Load RDF files into a knowledge graph and reason over it.

    A load that fails changes nothing.

    \b
    Examples:
      mrag load my.ttl ontology.owl
      mrag load --imports ontology.owl
      mrag load --keep-going ./exports
      mrag load crm.ttl --label-property http://example.org/customerName
      mrag load --store oxigraph:./data dump.nt.gz --no-reason
      mrag load corporate.ttl --repair-datatypes
    """
    with options.opened(store, kg, create=True) as graph:
        kept = loading(graph)
        with stopping.kept(kept), progress("Loading") as note:
            report = graph.load(
                files,
                format=format,
                on_progress=note,
                skip_bad_lines=skip_bad_lines,
                replacing=replace,
                keep_going=keep_going,
                imports=imports,
            )
        if label_property:
            graph.label_properties = tuple(label_property)
        _say_notes(report, any_tag=graph.store.capabilities.any_tag)
        result: dict[str, Any] = {
            "store": graph.store.url,
            "triples": report.triples,
            "seconds": round(report.seconds, 3),
            "triples_per_second": round(report.triples_per_second),
            "rejected": [{"file": r.file, "line": r.line, "reason": r.reason} for r in report.rejected],
            "left_out": [{"file": f.file, "reason": f.reason} for f in report.left_out],
            "empty": list(report.empty),
        }
        if repair:
            result["repaired"] = _repaired(graph)
        if reason:
            try:
                with stopping.kept(
                    "The files are loaded. Run `mrag reason` to infer what follows from them."
                ):
                    closure = _reason(graph, engine, strict=strict)
                result["inferred"], result["contradictions"] = closure.triples, _json(closure)
            except InconsistentOntology as error:
                # The triples are loaded as asked.
                say(f"Nothing was inferred. {error}", style="yellow")
                result["inferred"], result["clashes"] = 0, len(error.clashes)
        if as_json:
            show_json(result)
        else:
            show(
                f"{report.triples:,} triples loaded into {graph.store.url} in {report.seconds:.1f} s"
                f" ({report.triples_per_second:,.0f} a second)."
            )
            if reason:
                show(f"{counted(result['inferred'], 'triple')} inferred.")
            say('Next: `mrag index`, then `mrag ask "…"`.', style="dim")


def create(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="graphdb:http://host:7200/repositories/NAME or fuseki:http://host:3030/NAME"
        ),
    ],
    ruleset: Annotated[
        str, typer.Option(help="GraphDB: ruleset of the reasoner, such as owl2-rl-optimized, rdfs or empty.")
    ] = "owl2-rl-optimized",
    kind: Annotated[str, typer.Option(help="Fuseki: tdb2 (on disk) or mem.")] = "tdb2",
) -> None:
    """Create a GraphDB repository or a Fuseki dataset.

    \b
    Example:
      mrag create graphdb:http://localhost:7200/repositories/products --ruleset owl2-rl-optimized
    """
    from mrag.graph.connection import open_store

    options.warn_of_login(url)
    store, _ = open_store(url)
    try:
        if isinstance(store, stores.GraphDBStore):
            store.create(ruleset)
        elif isinstance(store, stores.FusekiStore):
            store.create(kind)
        else:
            raise ConfigError(
                "Only GraphDB and Fuseki servers create stores on request.",
                endpoint=store.url,
                hint="Other stores are created by loading into them: `mrag load --store URL FILE`.",
            )
        show(f"Created {store.url}.")
    finally:
        store.close()


def reason(
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    engine: Annotated[str, typer.Option(help="Reasoner: rules, or sparq (extra `accelerate`).")] = "rules",
    strict: StrictOption = False,
    graphs: Annotated[
        list[str] | None,
        typer.Option(
            "--graph",
            metavar="IRI",
            help="Read this named graph alone, or `default` for what is in none; repeatable. It is kept.",
        ),
    ] = None,
    all_graphs: Annotated[bool, typer.Option("--all-graphs", help="Read all graphs again.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all contradictions to a file, as JSON if it is named so."),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Infer what follows from the loaded triples under OWL.

    Triples that contradict the ontology are reported, and the rest is inferred.

    \b
    Examples:
      mrag reason --report contradictions.json
      mrag reason --strict --engine sparq
      mrag reason --graph http://example.org/ontology --graph http://example.org/2024
    """
    if graphs and all_graphs:
        raise ConfigError("--graph and --all-graphs cannot be used together.")
    kept = "The triples inferred before are unchanged. Run the same command again."
    with options.opened(store, kg) as graph, stopping.kept(kept):
        closure = _reason(graph, engine, strict=strict, graphs=[] if all_graphs else graphs)
        if report is not None:
            write_report(report, closure.contradictions)
        if as_json:
            read = list(graph.record.premises)
            show_json({"inferred": closure.triples, "graphs": read, "contradictions": _json(closure)})
        else:
            show(f"{counted(closure.triples, 'triple')} inferred.")


def loading(graph: mrag.KnowledgeGraph) -> Callable[[], str]:
    """Return a function that states, when a load is interrupted, whether it has landed."""
    before = graph.revision

    def state() -> str:
        if graph.revision != before and not graph.record.pending:
            return "The files are loaded. Run `mrag reason` to infer what follows from them."
        return "Nothing was loaded, and the graph is unchanged. Run the same command again."

    return state


def _say_notes(report: stores.LoadReport, *, any_tag: bool) -> None:
    for file in report.left_out:
        say(f"Left out {file.file}: {file.reason}", style="yellow")
    for line in report.rejected:
        say(f"Skipped {line.file}, line {line.line}: {line.reason}", style="yellow")
    for name in report.empty:
        say(f"Nothing is stated in {name}.", style="yellow")
    if report.odd_tags:
        tags = ", ".join(report.odd_tags)
        if not any_tag:
            from mrag.stores.process.parsing import well_formed_tag

            tags = ", ".join(f"{tag} as {well_formed_tag(tag)}" for tag in report.odd_tags)
        say(f"Kept language tags that BCP 47 does not allow: {tags}", style="yellow")


def _reason(
    graph: mrag.KnowledgeGraph, engine: str, *, strict: bool, graphs: list[str] | None = None
) -> reasoning.Closure:
    with status("Reasoning"):
        wrong: OnInconsistency = "error" if strict else "report"
        closure = mrag.reason(graph, engine=engine, on_inconsistency=wrong, graphs=graphs)
    if graph.record.premises:
        named = premises_in_words(graph, graph.record.premises)
        say(f"Reasoning read {named} alone; `mrag reason --all-graphs` reads all.", style="dim")
    show_groups(closure.contradictions)
    for note in closure.notes[:5]:
        say(note, style="dim")
    say(f"Reasoning took {closure.seconds:.1f} s.", style="dim")
    return closure


def _repaired(graph: mrag.KnowledgeGraph) -> list[dict[str, Any]]:
    from mrag.reasoning.upkeep.repair import repair_datatypes

    found = repair_datatypes(graph)
    for one in found:
        names = [rdf.curie(value, graph.prefixes) for value in (one.property, one.found, one.declared)]
        say(
            f"Repaired {counted(one.count, 'value')} of {names[0]} from {names[1]} to {names[2]}, such as "
            f'"{one.example}"; the triples as they were are kept apart.',
            style="yellow",
        )
    return [asdict(one) for one in found]


def _json(closure: reasoning.Closure) -> list[dict[str, object]]:
    return [group.to_json() for group in closure.contradictions]
