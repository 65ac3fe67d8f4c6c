"""Checking an answer again, from what it recorded: are its triples in the graph, do its sentences hold?

Nothing of the answer is trusted. Every cited triple is looked up, the words of every line are made again
from its triple, every citation is held against the line of its id, every sentence is supported again by the
lines that it cites and that were found, and the text must be what the sentences make. What is not made again
is named as not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrag import untrusted
from mrag.context.render import Context, Line
from mrag.errors import ModelError, MragError
from mrag.generation.checks.form import odd_signs, read_form, wrong_layout
from mrag.generation.checks.lines import Names, Said, agrees, wrong_line
from mrag.generation.checks.report import READING, SENTENCES, TRIPLES, CheckedPart, VerifyReport
from mrag.generation.lines import context_from_json
from mrag.generation.result import FORMAT, Answer
from mrag.generation.support.citations import Citer, supports
from mrag.generation.support.pictures import PictureCiter
from mrag.generation.support.sentences import with_ids
from mrag.generation.support.verdicts import FactSource, judged, verdict_of
from mrag.rdf.terms import Term, Triple

__all__ = ["Recomputed", "VerifyReport", "verify"]

NAMES = "the words of the lines"
HOW = "how the question was answered"
OTHER_LINES = "the lines that no sentence cites"


@dataclass(frozen=True)
class Recomputed:
    """What answering again gives.

    Attributes:
        parts: What vouches for the parts that it is about.
        altered: What of the answer is not what is given now, in words.
        sentences: The sentences that are given now, if the answer was computed.
    """

    parts: tuple[CheckedPart, ...] = ()
    altered: tuple[str, ...] = ()
    sentences: frozenset[str] = frozenset()


def verify(
    answer: Answer | Mapping[str, Any],
    ask: Callable[[Triple, str], bool] | None = None,
    labels: Names | None = None,
    *,
    graphs: Callable[[Line], str] | None = None,
    said: Said | None = None,
    recompute: Callable[[Mapping[str, Any]], Recomputed] | None = None,
    facts: FactSource | None = None,
) -> VerifyReport:
    """Check an answer against the graph as it is now.

    Args:
        answer: The answer, or its JSON form.
        ask: Returns whether a triple is in the named graph of an IRI; without it only what the answer says
            itself is compared.
        labels: Returns every name that the graph has for a term; without it the recorded labels of
            entities are taken as they are.
        graphs: Returns what is wrong with the graph, the layer and the named graphs that a line says it is
            from, "" if nothing is; without it they are taken as they are.
        said: Returns what a line says of the named graphs of its triple.
        recompute: Answers again; without it how the question was read, rows and all else that does not follow
            from the lines are taken as they are.
        facts: What asks the graph about sentences that are marked as not supported.

    Raises:
        ModelError: If it is not the JSON form of an answer at all.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.generation.answering import cite
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "GraphDB"), URIRef(e + "by"), URIRef(e + "Ontotext"))
        >>> labels = ("GraphDB", "developed by", "Ontotext")
        >>> line = Line("t1", "(GraphDB, developed by, Ontotext)", triple, e, False, labels)
        >>> answer = cite("Who develops GraphDB?", "Ontotext does.", Context((line,), ()))
        >>> verify(answer, lambda triple, graph: True).ok
        True
        >>> print(str(verify(answer, lambda triple, graph: False)).splitlines()[0])
        No longer in the graph: [t1] (GraphDB, developed by, Ontotext)
    """
    value = answer.to_json() if isinstance(answer, Answer) else answer
    context, sentences, citations = _parts(value)
    read_back, altered = read_form(value)
    altered += wrong_layout(sentences)
    lines: dict[str, Line] = {}
    for line in context.lines:
        if line.id in lines:
            altered.append(f"two lines have the id {line.id}")
        lines[line.id] = line
    cited = list(dict.fromkeys(one for s in sentences for one in s["citations"]))
    recorded = [str(c["id"]) for c in citations]
    unknown = [one for one in dict.fromkeys([*cited, *recorded]) if one not in lines]
    if recorded != cited:
        altered += [f"the list of citations lacks {one}" for one in cited if one not in recorded]
        altered += [f"{one} is listed but no sentence cites it" for one in recorded if one not in cited]
        altered.append("the citations are not in the order of the text, once each")
    for citation in citations:
        one = citation["id"]
        if one in lines and not agrees(citation, lines[one]):
            altered.append(f"the citation {one} is not the line {one}")
    for line in context.lines:
        altered += [f"{line.id}: {what}" for what in wrong_line(line, labels, said)]
    evidence = _evidence(value)
    there = {one: ask is None or ask(lines[one].triple, lines[one].graph) for one in cited if one in lines}
    read = [one for one, found in there.items() if one in evidence and (ask is None or not found)]
    present = {one for one, found in there.items() if found} | {*read}
    missing = [lines[one] for one in there if one not in present]
    gone = 0
    for line in context.lines:
        if line.id in cited and line.id in present and line.id not in read and graphs is not None:
            altered += [f"{line.id}: {what}" for what in [graphs(line)] if what]
        elif line.id not in cited and line.id not in evidence and graphs is not None:
            gone += bool(graphs(line)) or (ask is not None and not ask(line.triple, line.graph))
    # That nothing is computed is told by computing, too.
    computed = bool(value.get("plan")) or value.get("way") == "plan"
    # What was read is answered again only to vouch for more of it.
    idle = recompute is None or read_back is None or (altered and not computed)
    again = Recomputed() if idle or read_back is None or recompute is None else _again(read_back, recompute)
    altered += again.altered
    if computed:
        unsupported = [s["text"] for s in sentences if recompute and s["text"] not in again.sentences]
    else:
        unsupported = _unsupported(value, context, sentences, present, altered, facts)
    written = "".join(s["before"] + with_ids(s["text"], s["citations"]) for s in sentences)
    if written != value["text"]:
        altered.append("the text is not what its sentences make")
    if any(untrusted.writes_ids(s["before"] + s["text"]) for s in sentences):
        altered.append("a sentence has the id of a line written into its words")
    asked = "the graph was not asked"
    stands = ask is not None and (recompute is not None or not computed)
    texts = [f"{len(read)} were read in texts, which are not read again"] if read else []
    doubtful = _doubts(value, context, sentences, again)
    parts = [
        _part(TRIPLES, ask is not None and not read, texts[0] if texts else asked),
        _part(NAMES, labels is not None, asked),
        _part(SENTENCES, stands and not (read or doubtful), [*texts, *doubtful, asked][0]),
    ]
    if len(lines) > len(cited):
        others = f"{gone} of them are not so in the graph" if gone else asked
        parts.append(_part(OTHER_LINES, graphs is not None and not gone, others))
    if idle:
        parts.append(CheckedPart(HOW, "not checked"))
    return VerifyReport(
        len(there),
        tuple(missing),
        tuple(unknown),
        tuple(altered),
        tuple(unsupported),
        (*parts, *again.parts),
        tuple(s["text"] for s in sentences if not s["supported"] and not computed),
    )


def _doubts(
    value: Mapping[str, Any], context: Context, sentences: Sequence[Mapping[str, Any]], again: Recomputed
) -> list[str]:
    """Return why sentences that follow from their lines may still not say what is so."""
    # What is computed answers the question only if it is a reading of it.
    found = [p.note for p in again.parts if p.name == READING and p.state != "recomputed"]
    known = " ".join((value["question"], *(part for line in context.lines for part in line.labels)))
    odd = any(odd_signs(s["text"], known) for s in sentences)
    return [*found, *(["they have signs that cannot be seen or that look like others"] if odd else [])]


def _part(name: str, recomputed: bool, why: str) -> CheckedPart:
    return CheckedPart(name, "recomputed") if recomputed else CheckedPart(name, "not checked", why)


def _again(value: Mapping[str, Any], recompute: Callable[[Mapping[str, Any]], Recomputed]) -> Recomputed:
    try:
        return recompute(value)
    except MragError as error:
        return Recomputed(altered=(f"it cannot be answered again: {error}",))


def _evidence(value: Mapping[str, Any]) -> set[str]:
    """Return the ids of the lines that were read in texts or images."""
    return set(value.get("evidence") or ()) if value.get("way") == "complete" else set()


def _parts(
    value: Mapping[str, Any],
) -> tuple[Context, list[dict[str, Any]], Sequence[Mapping[str, Any]]]:
    """Read the parts of an answer in JSON form that are to be checked."""
    try:
        if value["format"] != FORMAT or value["format"] is True:
            raise ModelError(
                f"This answer has format {value['format']!r}.", hint=f"Only format {FORMAT} can be checked."
            )
        context = context_from_json(value["context"])
        sentences = [
            {
                "text": str(s["text"]),
                "before": str(s["before"]),
                "supported": bool(s["supported"]),
                "citations": [str(one) for one in s["citations"]],
                "verdict": verdict_of(s),
                "left": [str(one) for one in s.get("left", ())],
                "against": [str(one) for one in s.get("against", ())],
                "rejected_ids": [str(one) for one in s.get("rejected_ids", ())],
            }
            for s in value["sentences"]
        ]
        if not isinstance(value["text"], str) or not isinstance(value["question"], str):
            raise TypeError("text and question are strings")
        for citation in value["citations"]:
            if not isinstance(citation["id"], str):
                raise TypeError("ids are strings")
        return context, sentences, value["citations"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("Not the JSON form of an answer.", hint=f"Missing or malformed: {error}.") from error


def _citer(value: Mapping[str, Any], context: Context) -> Citer:
    question, images = str(value["question"]), value.get("images") or ()
    if value.get("way") != "images":
        return Citer(question, context)
    try:
        return PictureCiter(question, context, [str(image["name"]) for image in images])
    except (KeyError, TypeError) as error:
        raise ModelError("Not the JSON form of an answer.", hint=f"Missing or malformed: {error}.") from error


def _unsupported(
    value: Mapping[str, Any],
    context: Context,
    sentences: Sequence[Mapping[str, Any]],
    present: set[str],
    altered: list[str],
    facts: FactSource | None,
) -> list[str]:
    citer = _citer(value, context)
    found = []
    pieces = [(s["before"], s["text"], [x for x in s["citations"] if x in present]) for s in sentences]
    limited = supports(citer, pieces, cited=True)
    for s, (support, before, under) in zip(sentences, limited, strict=True):
        text = s["text"]
        if s["supported"] and (s["left"] or s["against"]):
            altered.append(f"marked as supported, with words or lines held against it: {text[:80]}")
        if value.get("model") is None and s["rejected_ids"]:
            altered.append(f"ids are rejected that no model wrote: {text[:80]}")
        if s["supported"] and not support.supported:
            # What is marked as not supported says so itself.
            found.append(text)
            if not s["citations"]:
                altered.append(f"marked as supported without a citation: {text[:80]}")
        stray = [one for one in s["citations"] if one in present and one not in {x.id for x in support.lines}]
        altered.extend(f"{one} has nothing to do with: {text[:80]}" for one in stray)
        if not s["supported"] or s["verdict"] not in ("read", "graph", "nothing"):
            altered.extend(_misjudged(citer, s, before, under, facts))
    return found


def _misjudged(
    citer: Citer, sentence: Mapping[str, Any], before: frozenset[Term], under: str, facts: FactSource | None
) -> list[str]:
    """Return what is wrong with the verdict on a sentence that is marked as not supported."""
    text = sentence["text"]
    if sentence["supported"]:
        return [f"marked as supported and as {sentence['verdict']}: {text[:80]}"]
    # Beside all lines it may say less than beside those that it cites.
    again = judged(citer, text, citer.support(text, (), before, under=under), before, facts, under)
    if again.support.supported:
        return [f"marked as not supported, which it is: {text[:80]}"]
    if facts is None or sentence["verdict"] == "unread":
        return []
    against = {line.triple for line in again.against}
    known = {line.id: line.triple for line in citer.context.lines}
    wrong = []
    if sentence["verdict"] != again.verdict:
        wrong.append(f"judged as {sentence['verdict']}, which is {again.verdict}: {text[:80]}")
    elif (
        tuple(sentence["left"]) != again.support.left
        or {known.get(x) for x in sentence["against"]} != against
    ):
        wrong.append(f"other words or lines are held against it than speak against it: {text[:80]}")
    return wrong
