"""Why an individual satisfies a class expression or does not, and the fewest triples that would bring it in.

What holds rests on triples, each marked asserted or inferred, or on absences that were checked: the world is
closed. The search for changes (`mrag.cel.repair`) deepens by their number, so that what it finds first is
smallest. The store checks it: it answers the instance query with the added triples in a scratch graph of that
query alone, and with the removed ones left out; the data is never touched.
"""

from __future__ import annotations

import time
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.cel.problem import instances_among
from mrag.cel.repair import TYPE, Change, GraphFacts, RepairSearch, TimeUp, edge, same, within
from mrag.cel.sparql import X, members
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.english import is_adjective, some
from mrag.cel.syntax.expressions import negation, normal
from mrag.cel.syntax.notation import to_dl
from mrag.cel.syntax.verbalise import verbalise
from mrag.errors import ConfigError, EndpointError, QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import patterns as pt
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import Term, Triple, curie, iri, ntriples_terms, to_ntriples, to_ox
from mrag.stores.base import Limits, SelectResult
from mrag.terminal import inline

Label = Callable[[str], str]
"""Names an IRI for people."""

_TYPED = ce.Property(str(TYPE))


@dataclass(frozen=True)
class SupportingTriple:
    """A triple that something rests on."""

    triple: Triple
    inferred: bool = False


@dataclass(frozen=True)
class Absence:
    """A triple that was looked for and is not there; None stands for any value."""

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

    expression: ce.Expression
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
    expression: ce.Expression,
    individual: str,
    *,
    max_values: int = 3,
    facts: GraphFacts | None = None,
) -> Reason:
    """Explain whether and why an individual satisfies an expression.

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
        >>> e = mrag.cel.from_dl("∃ x:shows.x:Jacket ⊓ ¬x:Advert", {"x": "urn:x:"})
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

    def reason(self, e: ce.Expression, x: Term, by: SupportingTriple | None = None) -> Reason:
        found = Reason(e, x, self.facts.holds(e, x), by)
        match e:
            case ce.And(parts) | ce.Or(parts):
                if found.holds and isinstance(e, ce.Or):
                    parts = tuple(p for p in parts if self.facts.holds(p, x))
                return replace(found, parts=tuple(self.reason(p, x) for p in parts))
            case ce.Named(name) | ce.Not(ce.Named(name)):
                return self.by_triples(found, [edge(x, _TYPED, URIRef(name))])
            case ce.Value(p, value) | ce.Not(ce.Value(p, value)):
                term = value if isinstance(value, Literal) else URIRef(value)
                values = [v for v in self.facts.values(x, p) if same(v, value)]
                return self.by_triples(found, [edge(x, p, v) for v in values or [term]])
            case (
                ce.DataSome(p, range)
                | ce.DataOnly(p, range)
                | ce.Not(ce.DataSome(p, range))
                | ce.Not(ce.DataOnly(p, range))
            ):
                # What decides is in the range, or beyond it.
                inside = isinstance(e, ce.DataSome) or (
                    isinstance(e, ce.Not) and isinstance(e.of, ce.DataSome)
                )
                values = self.facts.values(x, p)
                deciding = [v for v in values if within(v, range) == inside] or values
                return self.by_triples(found, [edge(x, p, v) for v in deciding], [_none(x, p)])
            case ce.Only(p, filler):
                values = self.facts.values(x, p)
                if not found.holds:
                    values = [v for v in values if not self.facts.holds(filler, v)]
                return self.by_values(found, e, values)
            case (
                ce.Some(p, filler)
                | ce.AtLeast(_, p, filler)
                | ce.AtMost(_, p, filler)
                | ce.Exactly(_, p, filler)
            ):
                values = self.facts.matching(x, p, filler)
                if not values and not found.holds:
                    values = self.facts.values(x, p)
                return self.by_values(found, e, values)
            case _:
                return found

    def by_values(self, found: Reason, e: ce.Quantified, values: Sequence[Term]) -> Reason:
        """Add the values of a property that decide, each with its own reason."""
        x, p = found.subject, e.property
        limit = max(self.max_values, e.n) if isinstance(e, ce.AtLeast | ce.Exactly) else self.max_values
        shown = values[:limit]
        parts = tuple(self.reason(e.filler, v, self.supporting(edge(x, p, v))) for v in shown)
        absent = () if values else (_none(x, p),)
        if isinstance(e, ce.AtMost | ce.Exactly) and not isinstance(e.filler, ce.Top):
            absent = ()  # others may be there that the filler does not hold
        return replace(found, absent=absent, parts=parts, more=len(values) - len(shown))

    def by_triples(self, found: Reason, wanted: Sequence[Triple], nothing: Sequence[Absence] = ()) -> Reason:
        """Add the triples that decide, and those whose absence does."""
        here = [t for t in wanted if self.there(t)]
        absent = [Absence(t.s, t.p, t.o) for t in wanted if t not in here] or ([] if here else list(nothing))
        shown = tuple(self.supporting(t) for t in here[: self.max_values])
        return replace(found, evidence=shown, absent=tuple(absent), more=len(here) - len(shown))

    def there(self, t: Triple) -> bool:
        return t.o in self.facts.values(t.s, ce.Property(str(t.p)))

    def supporting(self, t: Triple) -> SupportingTriple:
        return SupportingTriple(t, self.facts.inferred(t))


def _none(x: Term, p: ce.Property) -> Absence:
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
        return f"{word(terms[0])} {verbalise(ce.Value(ce.Property(str(terms[1])), terms[2]), label)}"
    return " ".join(map(word, terms))


def _lines(r: Reason, label: Label, indent: str) -> Iterator[str]:
    mark = "✓" if r.holds else "✗"
    text = to_dl(r.expression, name=label)
    if r.edge is not None:
        head = f"{in_words(r.edge.triple, label)} [{_status(r.edge)}]"
        head += "" if isinstance(r.expression, ce.Top) else f": {text}"
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


def holds_with(
    kg: KnowledgeGraph,
    expression: ce.Expression,
    individual: str,
    added: Iterable[Triple] = (),
    removed: Iterable[Triple] = (),
) -> bool:
    """Ask the store whether an expression would hold an individual, were some triples otherwise.

    The added triples stand in a scratch graph that this one query sees, or in the query itself where the
    store does not let one be written. The removed ones are taken out of the solutions of every triple
    pattern of the query, which is the query over a dataset without them.
    """
    put_in, left_out = list(added), list(removed)
    if not put_in:
        return len(kg.select(query_as_if(expression, individual, (), left_out))) > 0
    query = query_as_if(expression, individual, (), left_out)
    scratch = to_ntriples(put_in)
    try:
        found = kg.store.bounded(query, kg.dataset(), Limits(seconds=30.0), scratch)
    except (QueryRefused, EndpointError):
        # No scratch graph can be written here, so the triples stand in the query.
        return len(kg.select(query_as_if(expression, individual, put_in, left_out))) > 0
    return isinstance(found, SelectResult) and len(found) > 0


def query_as_if(
    expression: ce.Expression, individual: str, added: Iterable[Triple], removed: Iterable[Triple]
) -> str:
    """Return the query for one individual as it is answered with some triples more and others fewer.

    Every triple pattern that an added triple matches has it as an alternative; solutions in which a removed
    triple was matched are taken out. Slower than a scratch graph, but nothing has to be written.
    """
    put_in, left_out = ([tuple(to_ox(t) for t in triple) for triple in some] for some in (added, removed))
    where = _block(pt.Group(tuple(members(expression, [individual]))), put_in, left_out)
    return to_sparql(pt.Select((X,), where, distinct=True))


_Triples: TypeAlias = Sequence[tuple[object, ...]]


def _changed(parts: Iterable[pt.Pattern], added: _Triples, removed: _Triples) -> Iterator[pt.Pattern]:
    """Yield the patterns of a group as they match with and without some triples."""
    for part in parts:
        match part:
            case pt.TriplePattern():
                names, more, fewer = _rows(part, added, removed)
                found: list[pt.Pattern] = [part]
                if fewer:
                    # A solution that binds these variables so has matched the triple.
                    found.append(pt.Minus(pt.Values(names, fewer)) if names else pt.Filter(ox.Literal(False)))
                if more:
                    found = [
                        pt.Union((pt.Group(tuple(found)), pt.Values(names, more) if names else pt.Group(())))
                    ]
                yield from found
            case pt.Group():
                yield _block(part, added, removed)
            case pt.Union(inner):
                yield pt.Union(tuple(_block(p, added, removed) for p in inner))
            case pt.Minus(inner):
                yield pt.Minus(_block(inner, added, removed))
            case pt.Optional(inner):
                yield pt.Optional(_block(inner, added, removed))
            case pt.Graph(name, inner):
                yield pt.Graph(name, _block(inner, added, removed))
            case pt.SubSelect(select):
                yield pt.SubSelect(replace(select, where=_block(select.where, added, removed)))
            case _:
                yield part


def _block(pattern: pt.Pattern, added: _Triples, removed: _Triples) -> pt.Group:
    parts = pattern.parts if isinstance(pattern, pt.Group) else (pattern,)
    return pt.Group(tuple(_changed(parts, added, removed)))


_Rows: TypeAlias = tuple[tuple[ox.NamedNode | ox.Literal, ...], ...]


def _rows(
    pattern: pt.TriplePattern, added: _Triples, removed: _Triples
) -> tuple[tuple[ox.Variable, ...], _Rows, _Rows]:
    """Return the variables of a triple pattern, and their values in the triples that it matches."""
    names = tuple(dict.fromkeys(pattern.variables()))

    def values(triples: _Triples) -> _Rows:
        found: list[tuple[Any, ...]] = []
        for s, p, o in triples:
            if p == pattern.p and _fits(pattern.s, s) and _fits(pattern.o, o):
                bound = {n: v for n, v in ((pattern.s, s), (pattern.o, o)) if isinstance(n, ox.Variable)}
                found.append(tuple(bound[n] for n in names))
        return tuple(found)

    return names, values(added), values(removed)


def _fits(node: object, value: object) -> bool:
    return isinstance(node, ox.Variable) or node == value


GaveUp: TypeAlias = typing.Literal["time", "size"]
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
    expression: ce.Expression
    changes: tuple[Change, ...] | None
    verified: bool
    complete: bool
    at_least: int
    gave_up: GaveUp | None
    seconds: float
    lacking: tuple[ce.Expression, ...] = ()

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
    expression: ce.Expression,
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
        >>> from rdflib import RDF
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Image")),
        ...                Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Advert"))])
        >>> e = mrag.cel.from_dl("∃ x:shows.x:Jacket ⊓ ¬x:Advert", {"x": "urn:x:"})
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
    parts = shape.parts if isinstance(shape, ce.And) else (shape,)
    lacking = tuple(negation(part) for part in parts if not facts.holds(part, x))
    at_least = size if gave_up != "size" else size + 1
    seconds = time.monotonic() - started
    return WhyNot(str(x), shape, changes, verified, search.complete, at_least, gave_up, seconds, lacking)
