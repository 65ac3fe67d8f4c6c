"""`mrag query` and `explain`: SPARQL, and proofs of inferred triples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

import typer
from typer import Argument, Option

import mrag
from mrag import rdf, retrieval, stores
from mrag.cli import options
from mrag.cli.output import show, show_data, show_json, show_lines
from mrag.errors import ConfigError, check_choice

LAYERS = ("all", "asserted", "inferred")


def query(
    place: options.Place,
    text: Annotated[str, Argument(metavar="QUERY")] = "",
    listed: Annotated[str | None, Option("--list", metavar="TEXT")] = None,
    seconds: Annotated[float, Option(min=0.1)] = 30.0,
    rows: Annotated[int, Option(min=1)] = 100000,
    layer: str = "all",
    graph: options.GraphOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Run a SPARQL read query.

    Updates and federated queries are refused. GraphDB's similarity vocabulary works on every store.
    """
    check_choice("layer", layer, LAYERS)
    if listed is not None:
        summaries = {
            n: rdf.queries.get(n).summary
            for n in rdf.queries.names()
            if listed in ("all", *n.split("/")) or listed in n
        }
        show_json(summaries) if as_json else show_lines("\n".join(f"{n}\t{s}" for n, s in summaries.items()))
        return
    if not text:
        raise typer.BadParameter("Give a query, or --list.", param_hint="QUERY")
    if text in rdf.queries.names():
        text = rdf.queries.get(text).text
    elif text.endswith((".rq", ".sparql")):
        text = options.read_query_file(text)
    with place.open(graph=graph) as seen:
        result = seen.query(text, limits=mrag.Limits(seconds=seconds, rows=rows), layer=cast(Any, layer))
        if isinstance(result, bool):
            show_json({"head": {}, "boolean": result}) if as_json else show(str(result).lower())
        elif isinstance(result, stores.SelectResult):
            _show_rows(result, seen.prefixes, as_json=as_json)
        else:
            for t in result:
                show_data(f"{' '.join(str(rdf.terms.to_ox(term)) for term in t)} .")


def explain(
    what: Annotated[list[str], Argument(metavar="TERM")],
    place: options.LabelledPlace,
    max_triples: Annotated[int, Option("--most", min=1)] = 20,
    as_json: options.JsonOption = False,
) -> None:
    """Explain why inferred triples hold.

    Each proof shows the rule and its premises, down to asserted triples.
    """
    from rdflib import Literal

    named_term = retrieval.explaining.named_term
    if len(what) not in (1, 3):
        raise ConfigError("Give an entity, or subject, predicate and object.", hint="mrag explain ex:GraphDB")
    with place.open() as graph:
        subject = named_term(graph, what[0])
        if len(what) == 1:
            explanation = mrag.explain(graph, subject, max_triples=max_triples)
        else:
            text = what[2]
            quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
            end = Literal(text[1:-1]) if quoted else named_term(graph, text)
            explanation = mrag.explain(graph, subject, named_term(graph, what[1]), end)
    show_json(explanation.to_json()) if as_json else show_lines("\n\n".join(explanation.texts))


_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def _show_rows(result: stores.SelectResult, prefixes: Mapping[str, str], *, as_json: bool) -> None:
    from rdflib import Literal, URIRef

    if as_json:
        rows = [{v: rdf.terms.term_to_json(t) for v, t in binding.items()} for binding in result.bindings()]
        show_json({"head": {"vars": list(result.variables)}, "results": {"bindings": rows}})
        return

    def cell(term: Any) -> str:
        if term is None:
            return ""
        if isinstance(term, Literal):
            if term.datatype in rdf.terms.NUMBERS and term.value is not None:
                return str(term)
            # A newline or a tab in a literal does not end a row or a cell.
            kind = f"@{term.language}" if term.language else f"^^<{term.datatype}>" if term.datatype else ""
            return f'"{term.translate(_ESCAPES)}"{kind}'
        return rdf.curie(str(term), prefixes) if isinstance(term, URIRef) else term.n3()

    show("\t".join("?" + v for v in result.variables))
    for row in result:
        show("\t".join(map(cell, row)))
