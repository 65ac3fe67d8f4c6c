"""What holds of a sentence that the lines which were read do not support: does the graph say it, or not?

That something is not supported is a claim itself. The store is asked about what the sentence names, in a
bounded number of queries, and only then is it told whether the graph says it, contradicts it, or does not
say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Protocol, TypeAlias, get_args
from typing import Literal as OneOf

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.support.citations import Citer, Support
from mrag.generation.support.grammar import ClaimStep
from mrag.rdf.terms import Term

Verdict: TypeAlias = OneOf["read", "graph", "partly", "contradicted", "unsaid", "unread", "nothing"]
"""What is known of a sentence: supported by what was read, or by the graph; supported in part; contradicted
by the graph; not said by it; not said by what was read, where the graph was not asked; nothing that needs
support."""

VERDICTS: Final[dict[Verdict, str]] = {
    "graph": "Supported by the graph, though not by what was read:",
    "partly": "Supported in part:",
    "contradicted": "Contradicted by the graph:",
    "unsaid": "The graph does not say:",
    "unread": "Not supported by what was read:",
}
"""What stands above the sentences of each verdict, where it is not plain support."""


def verdict_of(sentence: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a sentence in JSON form, which earlier releases did not write.

    Example:
        >>> verdict_of({"supported": False}), verdict_of({"supported": True, "verdict": "graph"})
        ('unread', 'graph')
    """
    said = sentence.get("verdict")
    known = next((v for v in get_args(Verdict) if v == said), None)
    return known or ("read" if sentence["supported"] else "unread")


_DENIAL: Final = re.compile(
    r"\b(?:(is|are|was|were|has|have|can) not|(is|are|was|were|has|have)n['’]t"
    r"|(?:does|do|did)(?: not|n['’]t))\s+",
    re.IGNORECASE,
)


class FactSource(Protocol):
    """What can be asked of a graph about what a sentence says."""

    def about(self, sentence: str, context: Context) -> Context:
        """Return a context with what the graph says of what a sentence names behind its own lines."""

    def is_single(self, prop: Term) -> bool:
        """Return whether a property has at most one value, by the ontology."""

    def is_one_way(self, prop: Term) -> bool:
        """Return whether a property never holds the other way round, too, by the ontology."""

    def are_disjoint(self, types: Sequence[Term], kind: Term) -> bool:
        """Return whether what is of some classes cannot be of another."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence's support, and what the graph was found to say of it.

    Attributes:
        support: What it rests on.
        verdict: What is known of it.
        against: The lines that contradict it.
    """

    support: Support
    verdict: Verdict
    against: tuple[Line, ...] = ()


def judged(
    citer: Citer,
    text: str,
    support: Support,
    before: frozenset[Term],
    graph: FactSource | None,
    under: str = "",
) -> Judged:
    """Say what holds of a sentence.

    Args:
        citer: Knows the question and the lines that were read.
        text: The sentence.
        support: What it rests on by these lines.
        before: What a pronoun in it may point to.
        graph: What asks the store; without it only what was read is known.
        under: The sentence that leads in to the list that it is an item of.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> triple = Triple(URIRef("urn:g"), URIRef("urn:by"), URIRef("urn:o"))
        >>> line = Line("t1", "…", triple, "urn:x", False, ("GraphDB", "developed by", "Ontotext"))
        >>> citer = Citer("Who develops GraphDB?", Context((line,), ()))
        >>> def verdict(text):
        ...     return judged(citer, text, citer.support(text), frozenset(), None).verdict
        >>> said = ("Ontotext.", "GraphDB is not developed by Ontotext.", "Ontotext owns GraphDB.")
        >>> [verdict(text) for text in said]
        ['read', 'contradicted', 'unread']
    """
    if support.supported:
        return Judged(support, "read" if support.lines else "nothing")
    further = citer
    if graph is not None:
        extended = graph.about(text, citer.context)
        if len(extended.lines) > len(citer.context.lines):
            further = Citer(citer.question, extended)
            again = further.support(text, (), before, under=under)
            if again.supported and again.lines:
                return Judged(replace(again, rejected=support.rejected), "graph")
            # Names of the graph that the context did not have are accounted for now.
            support = replace(support, left=again.left)
    against = _denied(further, text, before) or _clashing(further, text, before, graph)
    if against:
        return Judged(replace(support, lines=(), left=()), "contradicted", tuple(against))
    if support.lines and support.left:
        return Judged(support, "partly")
    return Judged(support, "unread" if graph is None else "unsaid")


def _denied(citer: Citer, text: str, before: frozenset[Term]) -> list[Line]:
    """Return the lines of what a sentence denies."""
    found = _DENIAL.search(text)
    if found is None:
        return []
    verb = found[1] or found[2] or ""
    return citer.claims(f"{text[: found.start()]}{verb} {text[found.end() :]}", before) or []


def _alike(line: Line, claimed: Term) -> bool:
    """Return whether a claimed value is of the sort of a line's value: a number or date, a text, a thing."""
    value = line.triple.o
    if isinstance(value, Literal) != isinstance(claimed, Literal):
        return False
    counted = [any(char.isdigit() for char in str(one)) for one in (value, claimed)]
    return not isinstance(value, Literal) or counted[0] == counted[1]


def _turned(citer: Citer, step: ClaimStep, graph: FactSource) -> list[Line]:
    """Return the lines that say a claim the other way round, where it cannot hold both ways."""
    for subject, one in product(sorted(step.subject, key=str), sorted(step.object, key=str)):
        for p, flipped in sorted(step.way or (), key=str):
            first, second = (subject, one) if flipped else (one, subject)
            lines = [line for line in citer.values(first, p) if line.triple.o == second]
            ends = [[line.triple.o for line in citer.types(end)] for end in (first, second)]
            if lines and (graph.is_one_way(p) or any(graph.are_disjoint(ends[0], kind) for kind in ends[1])):
                return lines
    return []


def _clashing(citer: Citer, text: str, before: frozenset[Term], graph: FactSource | None) -> list[Line]:
    """Return the lines that say another thing than a sentence, where both cannot be."""
    for step in citer.open_claims(text, before):
        if graph is not None and (turned := _turned(citer, step, graph)):
            return turned
        for subject in sorted(step.subject, key=str):
            if step.way is None:
                types = citer.types(subject)
                for kind, line in product(sorted(step.object, key=str), types):
                    if graph is not None and graph.are_disjoint([line.triple.o], kind):
                        return [line]
                continue
            for p, flipped in sorted(step.way, key=str):
                values = [] if flipped else citer.values(subject, p)
                if not values or not all(_alike(values[0], one) for one in step.object):
                    continue  # "died in Paris" is nothing against when it was
                one = len(values) == 1 and citer.is_measure(values[0])
                if one or (graph is not None and graph.is_single(p)):
                    return values
    return []
