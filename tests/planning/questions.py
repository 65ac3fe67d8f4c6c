"""Questions with the rows that answer them, as they stand beside small graphs in `graphs/`.

`NAME.tsv` asks `NAME.ttl`. A line is a question and, each behind a tab, the rows of its answer, cells
parted by ` | `; an answer for yes or no has the one row `yes` or `no`. Questions that go on from each other
are parted by ` » `, and the last one counts. Rows come in any order but behind `in order`. A row with `...`
at its end or start has further cells there. `refused` says that nothing is answered for certain, and
`nothing` that, if it is, nothing is found. Of the questions below `# not read yet` no answer is demanded,
but none may be answered by other rows; there cells may come in another order, and with further ones. Those
below `# read wrongly` are known faults: they are answered by other rows, but never for certain. Other lines
with a `#` tell what the questions below them are about.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rdflib import RDF, Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan_from_json, plan_to_json
from mrag.planning.answering import Attempt, compute
from mrag.planning.following import LastAnswer
from mrag.planning.plan import Plan
from mrag.planning.results import CERTAIN
from mrag.rdf.terms import term_to_json

GRAPHS = Path(__file__).parent / "graphs"
REASONED = ("company", "states", "wikidata")
NOT_READ = "# not read yet"
READ_WRONGLY = "# read wrongly"


@dataclass(frozen=True)
class ExpectedRows:
    """A question and what it is answered by; `read` is false where it is not demanded yet."""

    graph: str
    question: str
    rows: tuple[str, ...]
    read: bool = True
    wrongly: bool = False


def questions_of(graph: str) -> list[ExpectedRows]:
    """Return the questions that a graph is asked."""
    path = GRAPHS / f"{graph}.tsv"
    wrongly = path.read_text(encoding="utf-8").partition(READ_WRONGLY + "\n")[2]
    return [
        ExpectedRows(graph, question, tuple(rows), read, f"{question}\t" in wrongly)
        for read, question, *rows in lines_of(path)
    ]


def told_of(path: Path) -> list[ExpectedRows]:
    """Return questions with what is told for rows; their graphs stand before them."""
    return [
        ExpectedRows(graph, question, tuple(told), read) for read, graph, question, *told in lines_of(path)
    ]


def lines_of(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each line, and before them whether it is read yet."""
    read = True
    for line in path.read_text(encoding="utf-8").splitlines():
        read = read and line not in (NOT_READ, READ_WRONGLY)
        if line and not line.startswith("#"):
            yield read, *line.split("\t")


def loaded(graph: str) -> KnowledgeGraph:
    """Return a graph in a store of its own."""
    if graph == "demo":
        return mrag.demo(model="none")
    kg = mrag.connect("oxigraph:")
    kg.load([GRAPHS / f"{graph}.ttl"])
    if graph == "wikidata":
        kg.load([Path(str(files("mrag") / "ontology" / "wikidata.ttl"))])
    if graph in REASONED:
        kg.reason()
    return kg


def agree(rows: Sequence[Sequence[str]], expected: Sequence[str], *, loosely: bool = False) -> bool:
    """Return whether rows of cells are those that are expected; loosely, with further ones in any order."""
    if expected[0] in ("refused", "nothing"):
        return expected[0] == "nothing" and not rows
    ordered = expected[0] == "in order"
    wanted = [row.split(" | ") for row in expected[ordered:]]
    if loosely:
        told = {cell for row in wanted for cell in row} - {"..."}
        found, wanted = ([sorted(told.intersection(row)) for row in some] for some in (rows, wanted))
    else:
        found = [_as_told(list(row), wanted[0]) for row in rows]
    return found == wanted if ordered else sorted(found) == sorted(wanted)


def _as_told(row: list[str], wanted: list[str]) -> list[str]:
    """Leave out the cells of a row that those wanted leave open."""
    told = len(wanted) - 1
    if wanted[-1] == "...":
        return [*row[:told], "..."]
    return ["...", *row[-told:]] if wanted[0] == "..." else row


def answered(kg: KnowledgeGraph, question: str) -> Attempt:
    """Ask a question, after those that stand before it."""
    *before, last = question.split(" » ")
    follows = None
    for one in before:
        attempt = compute(kg, one, follows=follows, seconds=300)
        if attempt.answer is None or attempt.answer.computed is None:
            return attempt
        follows = LastAnswer.from_json(attempt.answer.to_json())
    return compute(kg, last, follows=follows, seconds=300)


def check(kg: KnowledgeGraph, asked: ExpectedRows) -> None:
    """Hold what a graph answers to what is expected: rows, their proof, and a plan that can be kept."""
    attempt = answered(kg, asked.question)
    refused = asked.rows[0] in ("refused", "nothing")
    if not attempt.sure and (refused or not asked.read):
        return
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    computed = attempt.answer.computed
    if asked.wrongly:
        assert computed.confidence < CERTAIN
        return
    rows = [[cell.label for cell in row] for row in computed.rows]
    assert agree(rows, asked.rows, loosely=not asked.read), (rows, computed.reading, computed.confidence)
    assert attempt.answer.citations or rows in ([], [["no"]], [["0"]])
    report = mrag.verify(kg, attempt.answer)
    assert report.ok, str(report)
    assert plan_to_json(plan_from_json(computed.plan)) == computed.plan


def plan_of(written: dict[str, Any], space: str) -> Plan:
    """Return a plan that is written more shortly than `plan_to_json` does.

    A pattern is one text, `?x` an unknown, `:x` a name in a namespace; columns stand by their names.
    """

    def term(text: str) -> Any:
        if text[0] == "?":
            return {"unknown": text[1:]}
        if text[0] == ":" or text == "a":
            return term_to_json(URIRef(space + text[1:]) if text != "a" else RDF.type)
        return term_to_json(Literal(text.strip("'") if text[0] == "'" else json.loads(text)))

    def whole(value: Any, at: str = "") -> Any:
        match at, value:
            case "patterns", list():
                return [list(map(term, pattern.split())) for pattern in value]
            case "columns", dict():
                return [{"name": name, "value": whole(one)} for name, one in value.items()]
            case "left" | "right", int():
                return term_to_json(Literal(value))
            case _, str() if value[:1] in ("?", ":"):
                return term(value)
            case _, list():
                return [whole(one) for one in value]
            case _, dict():
                return {key: whole(one, key) for key, one in value.items()}
        return value

    return plan_from_json(whole(written))
