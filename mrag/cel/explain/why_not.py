"""Why an individual is outside of a result: the fewest triples that would bring it in.

The search deepens by the number of changes, so that what it finds first is smallest. Wherever the
expression fails it tries what can mend that place: the class that is missing, the triple that is too many,
a value to be added and then brought to satisfy what it was added for. Nothing smaller is overlooked among
the terms that are tried. What is found is checked by the store: it answers the instance query with the
added triples in a scratch graph of that query alone, and with the removed triples left out; the data is
never touched.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rdflib import URIRef

from mrag.cel.explain.facts import GraphFacts
from mrag.cel.explain.hypothetical import holds_with
from mrag.cel.explain.repair import Change, RepairSearch, TimeUp
from mrag.cel.explain.satisfied import Label, in_words
from mrag.cel.syntax.expressions import And, Expression
from mrag.cel.syntax.normal_form import negation, normal
from mrag.cel.syntax.printing import to_dl
from mrag.cel.syntax.verbalise import verbalise
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import curie, iri, ntriples_terms
from mrag.terminal import inline

GaveUp: TypeAlias = Literal["time", "size"]
"""What ended a search without a result: its seconds, or the most changes it may make."""


@dataclass(frozen=True)
class WhyNot:
    """The fewest changes that bring an individual into a result.

    Attributes:
        individual: IRI of the individual.
        expression: The expression, in normal form.
        changes: The changes, in order of term; empty if it is in already; None if none were found.
        verified: Whether the store answered that it is in with the changes.
        complete: Whether all terms of the graph were tried as values, so that nothing smaller is there.
        at_least: So many changes are needed at least, as far as terms were tried.
        gave_up: What ended the search, None if it came to its end.
        seconds: How long it took.
        lacking: What holds of the individual instead of the parts of the expression that do not hold.
    """

    individual: str
    expression: Expression
    changes: tuple[Change, ...] | None
    verified: bool
    complete: bool
    at_least: int
    gave_up: GaveUp | None
    seconds: float
    lacking: tuple[Expression, ...] = ()

    def render(self, label: Label | None = None) -> str:
        """Write it for people.

        Args:
            label: Names an IRI; CURIEs and whole IRIs by default.
        """
        named = label or curie
        name = named(self.individual)
        if self.changes == ():
            return f"{name} is in the result."
        lines = [f"{name} {verbalise(e, named)}." for e in self.lacking]
        if self.changes is None:
            why = {"time": "the time was up", "size": "more changes than allowed would be needed", None: ""}
            last = f"No way in was found for {name}: {why[self.gave_up]} (at least {self.at_least} changes)."
            if self.gave_up is None:
                last = f"{name} cannot be brought in: no change of triples would do."
            return "\n".join(map(inline, [*lines, last]))
        lines.append(f"{name} would be in the result")
        for change in self.changes:
            start = "if it were stated" if change.add else "if it were not stated"
            note = " (inferred: what it follows from would have to go)" if change.inferred else ""
            lines.append(f"  {start}: {in_words(change.triple, label or curie)}{note}")
        if not self.complete:
            lines.append("  (not every term of the graph was tried as a value)")
        return "\n".join(map(inline, lines))

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; terms are written as in N-Triples."""
        changes = None
        if self.changes is not None:
            changes = [
                {"triple": ntriples_terms(c.triple), "add": c.add, "inferred": c.inferred}
                for c in self.changes
            ]
        return {
            "individual": self.individual,
            "changes": changes,
            "verified": self.verified,
            "complete": self.complete,
            "at_least": self.at_least,
            "lacking": [to_dl(e) for e in self.lacking],
            "gave_up": self.gave_up,
            "seconds": round(self.seconds, 3),
        }


def why_not(
    kg: KnowledgeGraph,
    expression: Expression,
    individual: str,
    *,
    max_changes: int = 6,
    seconds: float = 10.0,
    max_terms: int = 25,
) -> WhyNot:
    """Find the smallest set of triples whose addition or removal brings an individual into a result.

    Of several sets of the same size the first in order of terms is taken. New individuals, where they are
    needed, are called `urn:mrag:new:1` and so on. Nothing is inferred from the changes.

    Args:
        kg: The knowledge graph.
        expression: The expression.
        individual: IRI of the individual; one that the graph does not know is brought in as a new one.
        max_changes: Most changes.
        seconds: Time limit of the search. When it gives up, it says so.
        max_terms: Most terms of the graph that are tried as the value of a property, at each place.

    Raises:
        ConfigError: If limits are not positive, or the expression compares literals that only the store
            compares.

    Example:
        >>> import mrag
        >>> from mrag.cel.syntax.expressions import And, Named, Not, Property, Some
        >>> from mrag.rdf.terms import Triple
        >>> from rdflib import RDF
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Image")),
        ...                Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Advert"))])
        >>> e = And((Some(Property("urn:x:shows"), Named("urn:x:Jacket")), Not(Named("urn:x:Advert"))))
        >>> print(why_not(kg, e, "urn:x:photo").render(lambda i: i.rpartition(":")[2]))
        photo is an Advert.
        photo shows no Jacket.
        photo would be in the result
          if it were stated: 1 is a Jacket
          if it were not stated: photo is an Advert
          if it were stated: photo shows 1
        >>> kg.close()
    """
    if max_changes < 1 or seconds <= 0 or max_terms < 1:
        raise ConfigError("max_changes, seconds and max_terms are positive.")
    started = time.monotonic()
    x, shape = URIRef(iri(individual, kg.prefixes)), normal(expression)
    search = RepairSearch(kg, shape, x, started + seconds, max_terms)
    changes: tuple[Change, ...] | None = None
    gave_up: GaveUp | None = None
    size = 0
    try:
        while changes is None:
            changes = search.run(size)
            if changes is None:
                if not search.cut:
                    break
                if size == max_changes:
                    gave_up = "size"
                    break
                size += 1
    except TimeUp:
        gave_up = "time"
    verified = False
    if changes is not None:
        added = [c.triple for c in changes if c.add]
        removed = [c.triple for c in changes if not c.add]
        verified = holds_with(kg, shape, str(x), added, removed)
    facts = GraphFacts(kg)
    parts = shape.parts if isinstance(shape, And) else (shape,)
    lacking = tuple(negation(part) for part in parts if not facts.holds(part, x))
    at_least = size if gave_up != "size" else size + 1
    seconds = time.monotonic() - started
    return WhyNot(str(x), shape, changes, verified, search.complete, at_least, gave_up, seconds, lacking)
