"""A CONSTRUCT query in parts that together give what it gives: its branches, and keys of their solutions.

The solutions of a union are those of its groups, so each group is a query of its own. Those of a group can
be told apart by any variable that each of them binds: a part is the solutions in which it has one of some
values, and the engine begins with these, so that a part costs its share and not a pass over the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rdflib import BNode, URIRef
from rdflib.term import Variable

from mrag.rdf import parser
from mrag.rdf import patterns as pt
from mrag.rdf.parser import AGGREGATES, Tokens, parse_query
from mrag.rdf.patterns import to_pattern, to_sparql
from mrag.rdf.terms import RDF, to_ox

_UNREPEATABLE = frozenset(("RAND", "NOW", "UUID", "STRUUID", "BNODE"))
_OTHER = "mrag_other"


@dataclass(frozen=True)
class Anchor:
    """A variable by which the solutions of a branch are told apart.

    Attributes:
        name: Its name.
        pattern: A triple pattern of the branch that binds it, so that it has no other values.
        places: The tokens behind which its values are to stand.
    """

    name: str
    pattern: parser.TripleNode
    places: tuple[int, ...]

    @property
    def specific(self) -> bool:
        """Whether the pattern names a property, or a class, so that it matches little beside the branch."""
        typed = str(self.pattern.p) == RDF + "type"
        return isinstance(self.pattern.p, URIRef) and not (typed and isinstance(self.pattern.o, Variable))

    def counted(self) -> str:
        """Return the query for how many values there are that are IRIs."""
        count = pt.Count(pt.var(self.name), distinct=True)
        return to_sparql(pt.Select(((count, pt.var(_OTHER + "s")),), self._with(_is_iri(self.name))))

    def valued(self) -> str:
        """Return the query for these values."""
        return to_sparql(pt.Select((pt.var(self.name),), self._with(_is_iri(self.name)), distinct=True))

    def has_others(self) -> str:
        """Return the query whether there are values that are no IRIs."""
        return to_sparql(pt.Ask(self._with(pt.Negation(_is_iri(self.name)))))

    def _with(self, condition: pt.Expression) -> pt.Group:
        s, p, o = map(_typed, (self.pattern.s, self.pattern.p, self.pattern.o))
        return pt.Group((pt.TriplePattern(s, p, o), pt.Filter(condition)))


@dataclass(frozen=True)
class ViewBranch:
    """A group of a CONSTRUCT query that can be answered by itself.

    Attributes:
        anchors: The variables by which its solutions can be told apart; none if it is one part.
        why: Why there is none.
    """

    tokens: Tokens
    head: str
    first: int
    last: int
    anchors: tuple[Anchor, ...] = ()
    why: str = ""

    def text(self) -> str:
        """Return the query of the branch."""
        return self._printed({})

    def over(self, anchor: Anchor, iris: Sequence[str]) -> str:
        """Return the query of the solutions in which an anchor is one of some IRIs."""
        return self._narrowed(
            anchor, pt.Values((pt.var(anchor.name),), tuple((pt.iri(iri),) for iri in iris))
        )

    def over_others(self, anchor: Anchor) -> str:
        """Return the query of the solutions in which an anchor is no IRI.

        No text can name a blank node, and literals may be spelt in another way than they are kept.
        """
        return self._narrowed(anchor, pt.Filter(pt.Negation(_is_iri(anchor.name))))

    def _narrowed(self, anchor: Anchor, condition: pt.Pattern) -> str:
        return self._printed({place: f"{{ {to_pattern(condition)}" for place in anchor.places})

    def _printed(self, instead: dict[int, str]) -> str:
        return self.head + self.tokens.printed(self.first, self.last, instead)


def branches(text: str) -> list[ViewBranch]:
    """Return the branches of a CONSTRUCT query, of which each solution of the query belongs to one.

    Args:
        text: The query. What counts, cuts or makes up its solutions as a whole is one branch without anchor.

    Raises:
        QueryRefused: If it is no query.

    Example:
        >>> found = branches("CONSTRUCT { ?s ?p 1 } { { ?s a <urn:A> } UNION { ?x ?p 3 BIND(?x AS ?s) } }")
        >>> [[anchor.name for anchor in branch.anchors] for branch in found]
        [['s'], ['x']]
        >>> print(found[0].over(found[0].anchors[0], ["urn:a"]))
        CONSTRUCT { ?s ?p 1 } WHERE { VALUES (?s) { (<urn:a>) } ?s a <urn:A> }
        >>> branches("CONSTRUCT { ?s a <urn:B> } { ?s a <urn:A> } LIMIT 3")[0].why
        'it has GROUP BY, HAVING, LIMIT, OFFSET, VALUES or FROM'
    """
    query, reading = parse_query(text)
    tokens, where = reading.tokens, query.select.where
    declared = reading.declarations()
    short = query.form == "ConstructQuery" and tokens.tokens[where.first - 2].key == "CONSTRUCT"
    why = _whole(query)
    if why:
        end = len(tokens.tokens) - 1
        return [ViewBranch(tokens, declared, 0, end, why=why)]
    before = tokens.printed(0, where.first - 1 if _says_where(tokens, where) else where.first)
    template = tokens.printed(where.first, where.last + 1) if short else ""
    head = f"{declared}{before}{' ' if template else ''}{template} WHERE "
    [*parts] = where.parts
    groups = parts[0].groups if len(parts) == 1 and isinstance(parts[0], parser.UnionNode) else (where,)
    found = []
    for group in groups:
        anchors = tuple(_anchors(tokens, group))
        why = "" if anchors else "no triple pattern binds the same variable in each solution"
        found.append(ViewBranch(tokens, head, group.first, group.last + 1, anchors, why))
    return found


def has_blank_nodes(text: str) -> bool:
    """Return whether a CONSTRUCT query makes blank nodes of its own."""
    query, _ = parse_query(text)
    return any(isinstance(term, BNode) for triple in query.template for term in (triple.s, triple.o))


def _whole(query: parser.QueryNode) -> str:
    """Return why a query cannot be divided, or nothing."""
    if query.form != "ConstructQuery":
        return "it is no CONSTRUCT query"
    if (
        query.graphs
        or query.named
        or query.select.values
        or {"group by", "having", "slice"} & _steps(query.select)
    ):
        return "it has GROUP BY, HAVING, LIMIT, OFFSET, VALUES or FROM"
    for node in parser.walk(query):
        if isinstance(node, parser.CallNode) and node.name in _UNREPEATABLE:
            return f"{node.name} gives something else each time"
        if isinstance(node, parser.SelectNode) and "slice" in _steps(node):
            return "a sub-select of it has LIMIT or OFFSET"
    return ""


def _says_where(tokens: Tokens, where: parser.GroupNode) -> bool:
    return tokens.tokens[where.first - 1].key == "WHERE"


def _steps(select: parser.SelectNode) -> set[str]:
    return {name for name, _, _ in select.steps}


def _is_iri(name: str) -> pt.Call:
    return pt.Call("isIRI", (pt.var(name),))


def _typed(term: Any) -> Any:
    if isinstance(term, Variable | BNode):
        return pt.var(str(term) if isinstance(term, Variable) else _OTHER)
    return to_ox(term)


def _anchors(tokens: Tokens, group: parser.GroupNode) -> Iterator[Anchor]:
    patterns = [node for node in parser.walk(group) if isinstance(node, parser.TripleNode)]
    ends = (end for node in patterns for end in (node.s, node.o) if isinstance(end, Variable))
    for name in dict.fromkeys(map(str, ends)):
        found = _Narrowing(tokens, name).of(group)
        if found is not None:
            yield found


class _Narrowing:
    """Finds where the values of a variable can be given so that only solutions with these are left."""

    def __init__(self, tokens: Tokens, name: str) -> None:
        self._tokens = tokens
        self._name = name

    def of(self, group: parser.GroupNode) -> Anchor | None:
        """Return the anchor of a group; None unless each of its solutions binds the variable."""
        pattern: parser.TripleNode | None = None
        places: list[int] = []
        for at, part in enumerate(group.parts):
            if pattern is None and self._may_begin(group.parts[:at]) and (binding := self._binding(part)):
                pattern = binding
                places.append(group.first)
                continue
            inner = self._inner(part, bound=pattern is not None)
            if inner is not None:
                pattern = pattern or inner.pattern
                places += inner.places
        return None if pattern is None else Anchor(self._name, pattern, tuple(places))

    def _inner(self, part: Any, *, bound: bool) -> Anchor | None:
        match part:
            case parser.GroupNode():
                return self.of(part)
            case parser.SelectNode() if self._passes(part):
                return self.of(part.where)
            case parser.OptionalNode(parser.GroupNode((parser.SelectNode() as select,))) if bound:
                # What else is optional is looked up for each solution anyway.
                return self._inner(select, bound=False)
        return None

    def _binding(self, part: Any) -> parser.TripleNode | None:
        """Return a part if it is a triple pattern that binds the variable."""
        # A path may bind what is in no triple.
        if not isinstance(part, parser.TripleNode) or isinstance(part.p, parser.Path):
            return None
        return part if Variable(self._name) in (part.s, part.o) else None

    def _may_begin(self, before: Sequence[Any]) -> bool:
        """Return whether values may stand before some parts: none of them depends on what is bound."""
        free = (
            parser.TripleNode
            | parser.FilterNode
            | parser.ValuesNode
            | parser.GroupNode
            | parser.SelectNode
            | parser.UnionNode
        )
        return all(isinstance(part, free) for part in before)

    def _passes(self, select: parser.SelectNode) -> bool:
        """Return whether fewer values inside a sub-select only mean fewer rows of it."""
        steps = {name: (first, last) for name, first, last in select.steps}
        if "slice" in steps:
            return False
        if select.projection is not None and not any(
            item.variable is None and item.expression == Variable(self._name) for item in select.projection
        ):
            return False
        if "group by" in steps:
            return self._name in self._keys(*steps["group by"])
        grouped = any(
            isinstance(node, parser.CallNode) and node.name in AGGREGATES
            for item in (*(select.projection or ()), *select.modifiers)
            for node in parser.walk(item)
        )
        return not grouped and "having" not in steps

    def _keys(self, first: int, last: int) -> Iterator[str]:
        """Yield the variables that rows are grouped by as they stand."""
        depth = 0
        for token in self._tokens.tokens[first:last]:
            depth += (token.key == "(") - (token.key == ")")
            if token.key == "var" and not depth:
                yield token.value
