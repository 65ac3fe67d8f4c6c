"""Why an individual satisfies a class expression: part by part, by the triples that decide.

What holds rests on triples, each marked asserted or inferred. What holds because something is not stated
(a negation, `∀`, `≤`) rests on the absence that was checked; the world is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rdflib import Literal, URIRef

from mrag.cel.explain.facts import TYPE, GraphFacts, edge, same, within
from mrag.cel.semantics.counting import instances_among
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    DataOnly,
    DataSome,
    Exactly,
    Expression,
    Named,
    Not,
    Only,
    Or,
    Property,
    Quantified,
    Some,
    Top,
    Value,
)  # fmt: skip
from mrag.cel.syntax.inflections import is_adjective, some
from mrag.cel.syntax.normal_form import normal
from mrag.cel.syntax.printing import to_dl
from mrag.cel.syntax.verbalise import verbalise
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Term, Triple, curie, iri, ntriples_terms
from mrag.terminal import inline

Label = Callable[[str], str]
"""Names an IRI for people."""


_TYPED = Property(str(TYPE))


@dataclass(frozen=True)
class SupportingTriple:
    """A triple that something rests on."""

    triple: Triple
    inferred: bool = False


@dataclass(frozen=True)
class Absence:
    """A triple that was looked for and is not there; None stands for any value.

    Attributes:
        s: The subject, None if any.
        p: The property.
        o: The value, None if any.
    """

    s: Term | None
    p: URIRef
    o: Term | None


@dataclass(frozen=True)
class Reason:
    """Whether a term satisfies an expression, and why.

    Attributes:
        expression: The expression, a normal form.
        subject: The term.
        holds: Whether it satisfies it.
        edge: The triple that led to this term from the one before; None at the root and for parts.
        evidence: Triples that decide.
        absent: Triples whose absence decides.
        parts: The reasons of the parts, and of the values that decide.
        more: How many further values decide that are not shown.
    """

    expression: Expression
    subject: Term
    holds: bool
    edge: SupportingTriple | None = None
    evidence: tuple[SupportingTriple, ...] = ()
    absent: tuple[Absence, ...] = ()
    parts: tuple[Reason, ...] = ()
    more: int = 0

    def triples(self) -> tuple[SupportingTriple, ...]:
        """Return all triples that it rests on, each once, in order."""
        found = dict.fromkeys(self._triples())
        return tuple(sorted(found, key=lambda e: [t.n3() for t in e.triple]))

    def _triples(self) -> Iterator[SupportingTriple]:
        if self.edge is not None:
            yield self.edge
        yield from self.evidence
        for part in self.parts:
            yield from part._triples()

    def render(self, label: Label | None = None) -> str:
        """Write it as an indented tree, `✓` before what holds and `✗` before what does not.

        Args:
            label: Names an IRI; CURIEs and whole IRIs by default.
        """
        return "\n".join(map(inline, _lines(self, label or curie, "")))

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; terms are written as in N-Triples."""
        return {
            "expression": to_dl(self.expression),
            "subject": self.subject.n3(),
            "holds": self.holds,
            "edge": _evidence_json(self.edge) if self.edge else None,
            "evidence": [_evidence_json(e) for e in self.evidence],
            "absent": [
                [None if a.s is None else a.s.n3(), a.p.n3(), None if a.o is None else a.o.n3()]
                for a in self.absent
            ],
            "parts": [part.to_json() for part in self.parts],
            "more": self.more,
        }


def why_satisfied(
    kg: KnowledgeGraph,
    expression: Expression,
    individual: str,
    *,
    max_values: int = 3,
    facts: GraphFacts | None = None,
) -> Reason:
    """Explain whether and why an individual satisfies an expression.

    Args:
        kg: The knowledge graph.
        expression: The expression; its normal form is explained.
        individual: IRI of a named individual.
        max_values: Most values shown where many decide alike.
        facts: What has been read of the graph already.

    Returns:
        The reason, from the whole expression down to triples. It agrees with the store's query.

    Raises:
        ConfigError: If this is no named individual of the graph, or the store judges otherwise, which
            happens where it compares literals that are not compared here.

    Example:
        >>> import mrag
        >>> from rdflib import RDF
        >>> kg = mrag.connect()
        >>> photo, jacket = URIRef("urn:x:photo"), URIRef("urn:x:jacket")
        >>> _ = kg.insert([
        ...     Triple(photo, RDF.type, URIRef("urn:x:Image")), Triple(photo, URIRef("urn:x:shows"), jacket),
        ...     Triple(jacket, RDF.type, URIRef("urn:x:Jacket")),
        ... ])
        >>> e = And((Some(Property("urn:x:shows"), Named("urn:x:Jacket")), Not(Named("urn:x:Advert"))))
        >>> print(why_satisfied(kg, e, "urn:x:photo").render(lambda i: i.rpartition(":")[2]))
        ✓ photo: ¬Advert ⊓ (∃ shows.Jacket)
          ✓ ¬Advert: not stated: photo is an Advert
          ✓ ∃ shows.Jacket
            ✓ photo shows jacket [asserted]: Jacket
              jacket is a Jacket [asserted]
        >>> kg.close()
    """
    facts = facts or GraphFacts(kg)
    x, shape = URIRef(iri(individual, kg.prefixes)), normal(expression)
    if not facts.is_individual(x):
        raise ConfigError(
            "This is no named individual of the graph.",
            term=str(x),
            hint="An individual is an IRI with a class.",
        )
    found = _Explainer(facts, max_values).reason(shape, x)
    if found.holds != bool(instances_among(kg, shape, [str(x)])):
        raise ConfigError(
            "The store compares a literal in this expression otherwise.",
            term=str(x),
            hint="Use numbers, booleans, texts, xsd:date or xsd:dateTime in data restrictions.",
        )
    return found


class _Explainer:
    def __init__(self, facts: GraphFacts, max_values: int) -> None:
        self.facts, self.max_values = facts, max_values

    def reason(self, e: Expression, x: Term, by: SupportingTriple | None = None) -> Reason:
        found = Reason(e, x, self.facts.holds(e, x), by)
        match e:
            case And(parts) | Or(parts):
                if found.holds and isinstance(e, Or):
                    parts = tuple(p for p in parts if self.facts.holds(p, x))
                return replace(found, parts=tuple(self.reason(p, x) for p in parts))
            case Named(name) | Not(Named(name)):
                return self.by_triples(found, [edge(x, _TYPED, URIRef(name))])
            case Value(p, value) | Not(Value(p, value)):
                term = value if isinstance(value, Literal) else URIRef(value)
                values = [v for v in self.facts.values(x, p) if same(v, value)]
                return self.by_triples(found, [edge(x, p, v) for v in values or [term]])
            case DataSome(p, range) | DataOnly(p, range) | Not(DataSome(p, range)) | Not(DataOnly(p, range)):
                # What decides is in the range, or beyond it.
                inside = isinstance(e, DataSome) or (isinstance(e, Not) and isinstance(e.of, DataSome))
                values = self.facts.values(x, p)
                deciding = [v for v in values if within(v, range) == inside] or values
                return self.by_triples(found, [edge(x, p, v) for v in deciding], [_none(x, p)])
            case Only(p, filler):
                values = self.facts.values(x, p)
                if not found.holds:
                    values = [v for v in values if not self.facts.holds(filler, v)]
                return self.by_values(found, e, values)
            case Some(p, filler) | AtLeast(_, p, filler) | AtMost(_, p, filler) | Exactly(_, p, filler):
                values = self.facts.matching(x, p, filler)
                if not values and not found.holds:
                    values = self.facts.values(x, p)
                return self.by_values(found, e, values)
            case _:
                return found

    def by_values(self, found: Reason, e: Quantified, values: Sequence[Term]) -> Reason:
        """Add the values of a property that decide, each with its own reason."""
        x, p = found.subject, e.property
        limit = max(self.max_values, e.n) if isinstance(e, AtLeast | Exactly) else self.max_values
        shown = values[:limit]
        parts = tuple(self.reason(e.filler, v, self.supporting(edge(x, p, v))) for v in shown)
        absent = () if values else (_none(x, p),)
        if isinstance(e, AtMost | Exactly) and not isinstance(e.filler, Top):
            absent = ()  # others may be there that the filler does not hold
        return replace(found, absent=absent, parts=parts, more=len(values) - len(shown))

    def by_triples(self, found: Reason, wanted: Sequence[Triple], nothing: Sequence[Absence] = ()) -> Reason:
        """Add the triples that decide, and those whose absence does."""
        here = [t for t in wanted if self.there(t)]
        absent = [Absence(t.s, t.p, t.o) for t in wanted if t not in here] or ([] if here else list(nothing))
        shown = tuple(self.supporting(t) for t in here[: self.max_values])
        return replace(found, evidence=shown, absent=tuple(absent), more=len(here) - len(shown))

    def there(self, t: Triple) -> bool:
        return t.o in self.facts.values(t.s, Property(str(t.p)))

    def supporting(self, t: Triple) -> SupportingTriple:
        return SupportingTriple(t, self.facts.inferred(t))


def _none(x: Term, p: Property) -> Absence:
    return Absence(None, URIRef(p.iri), x) if p.inverse else Absence(x, URIRef(p.iri), None)


def _evidence_json(e: SupportingTriple) -> dict[str, Any]:
    return {"triple": ntriples_terms(e.triple), "inferred": e.inferred}


def in_words(terms: Sequence[Term | None], label: Label) -> str:
    """Write a triple for people."""

    def word(t: Term | None) -> str:
        return "anything" if t is None else t.n3() if isinstance(t, Literal) else label(str(t))

    if len(terms) == 3 and terms[1] == TYPE:
        kind = word(terms[2])
        if not is_adjective(kind):
            kind = some(kind) if kind[:1].isalpha() else f"a {kind}"
        return f"{word(terms[0])} is {kind}"
    if len(terms) == 3 and isinstance(terms[2], Literal) and terms[1] is not None:
        return f"{word(terms[0])} {verbalise(Value(Property(str(terms[1])), terms[2]), label)}"
    return " ".join(map(word, terms))


def _lines(r: Reason, label: Label, indent: str) -> Iterator[str]:
    mark = "✓" if r.holds else "✗"
    text = to_dl(r.expression, name=label)
    if r.edge is not None:
        head = f"{in_words(r.edge.triple, label)} [{_status(r.edge)}]"
        head += "" if isinstance(r.expression, Top) else f": {text}"
    else:
        head = text if indent else f"{in_words([r.subject], label)}: {text}"
    absent = "; ".join(f"not stated: {in_words((a.s, a.p, a.o), label)}" for a in r.absent)
    yield f"{indent}{mark} {head}" + (f": {absent}" if absent else "")
    for e in r.evidence:
        yield f"{indent}  {in_words(e.triple, label)} [{_status(e)}]"
    for part in r.parts:
        yield from _lines(part, label, indent + "  ")
    if r.more:
        yield f"{indent}  and {r.more} more"


def _status(e: SupportingTriple) -> str:
    return "inferred" if e.inferred else "asserted"
