"""SPARQL that has to be generated, as typed values.

Reasoning rules and class expressions cannot be files of `sparql/`, because their shape depends on the
ontology. They are made of the values below (SPARQL 1.1 Query, 5 to 17), which `mrag.rdf.printing` prints.

Example:
    >>> from mrag.rdf.printing import to_sparql
    >>> x = var("x")
    >>> cat = TriplePattern(x, iri("urn:p:category"), iri("urn:c:cat"))
    >>> print(to_sparql(Select((x,), Group((cat, Filter(Negation(Call("isBlank", (x,))))), ), distinct=True)))
    SELECT DISTINCT ?x WHERE { ?x <urn:p:category> <urn:c:cat> . FILTER(!(isBlank(?x))) }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox

from mrag.errors import ReasoningError

Node: TypeAlias = ox.NamedNode | ox.Literal | ox.Variable
"""A place in a pattern: an IRI, a literal or a variable. Blank nodes are skolemised at load."""

Function: TypeAlias = OneOf[
    "isLiteral", "isIRI", "isBlank", "isNumeric", "bound", "datatype", "str", "lang", "strstarts", "strlen",
    "regex", "coalesce", "year", "month", "day", "hours", "if", "lcase", "contains", "strends", "substr",
    "replace", "concat", "floor", "md5",
]  # fmt: skip
Operator: TypeAlias = OneOf["=", "!=", "<", "<=", ">", ">="]
FoldName: TypeAlias = OneOf["SUM", "AVG", "MIN", "MAX", "SAMPLE"]


def iri(value: str) -> ox.NamedNode:
    """Return an IRI, validated.

    Raises:
        ReasoningError: If it is not well formed.

    Example:
        >>> iri("no spaces")
        Traceback (most recent call last):
        mrag.errors.ReasoningError: Not a well-formed IRI. [term no spaces]
    """
    try:
        return ox.NamedNode(value)
    except ValueError as error:
        raise ReasoningError("Not a well-formed IRI.", term=value) from error


def var(name: str) -> ox.Variable:
    """Return a variable, validated.

    Example:
        >>> str(var("x"))
        '?x'
    """
    try:
        return ox.Variable(name)
    except ValueError as error:
        raise ReasoningError("Not a name for a variable.", term=name) from error


@dataclass(frozen=True)
class Inverse:
    """The property path `^p`."""

    path: Path


@dataclass(frozen=True)
class Alternative:
    """The property path `p|q`."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Repeated:
    """The property path `p+`, or `p*` when `zero` is true."""

    path: Path
    zero: bool = False


Path: TypeAlias = ox.NamedNode | Inverse | Alternative | Repeated


@dataclass(frozen=True)
class TriplePattern:
    """A triple pattern; the predicate may be a property path.

    Example:
        >>> TriplePattern(var("s"), iri("urn:p"), ox.Literal('"')).substitute({var("s"): iri("urn:a")}).ground
        True
    """

    s: Node
    p: Node | Path
    o: Node

    def variables(self) -> Iterator[ox.Variable]:
        """Yield the variables in order, repeated as they stand."""
        for node in (self.s, self.p, self.o):
            if isinstance(node, ox.Variable):
                yield node

    @property
    def ground(self) -> bool:
        """Return whether it has no variables."""
        return next(self.variables(), None) is None

    def substitute(self, binding: Mapping[ox.Variable, Node]) -> TriplePattern:
        """Return it with variables replaced."""
        s, p, o = (binding.get(n, n) if isinstance(n, ox.Variable) else n for n in (self.s, self.p, self.o))
        return TriplePattern(s, p, o)  # type: ignore[arg-type]  # a path is never a subject or object


@dataclass(frozen=True)
class Group:
    """Patterns joined in the order given (section 5.2)."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Graph:
    """A pattern matched in one named graph (section 8.3)."""

    name: ox.NamedNode | ox.Variable
    pattern: Pattern


@dataclass(frozen=True)
class Union:
    """Alternatives (section 7)."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Minus:
    """Solutions to take away from those before it in the group (section 8.2)."""

    pattern: Pattern


@dataclass(frozen=True)
class Optional:
    """A pattern that may be absent (section 6)."""

    pattern: Pattern


@dataclass(frozen=True)
class Filter:
    """A condition on the solutions of the group (section 17)."""

    condition: Expression


@dataclass(frozen=True)
class Bind:
    """A value given to a variable (section 10.1)."""

    value: Expression
    variable: ox.Variable


@dataclass(frozen=True)
class Values:
    """Inline data (section 10.2); None stands for UNDEF.

    Example:
        >>> from mrag.rdf.printing import to_sparql
        >>> print(to_sparql(Ask(Values((var("x"), var("y")), ((iri("urn:a"), None),)))))
        ASK { VALUES (?x ?y) { (<urn:a> UNDEF) } }
    """

    variables: tuple[ox.Variable, ...]
    rows: tuple[tuple[ox.NamedNode | ox.Literal | None, ...], ...]


@dataclass(frozen=True)
class SubSelect:
    """A SELECT inside a pattern (section 12)."""

    select: Select


Pattern: TypeAlias = (
    TriplePattern | Group | Graph | Union | Minus | Optional | Filter | Bind | Values | SubSelect
)


@dataclass(frozen=True)
class Compare:
    """A comparison by value."""

    left: Expression
    operator: Operator
    right: Expression


@dataclass(frozen=True)
class In:
    """Membership in a list of terms."""

    value: Expression
    members: tuple[Node, ...]


@dataclass(frozen=True)
class Call:
    """A call of a built-in function (section 17.4)."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Negation:
    """A negated condition."""

    condition: Expression


@dataclass(frozen=True)
class AllOf:
    """Conditions that all hold."""

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """Conditions of which one holds."""

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class NotExists:
    """No such triple exists. Longer bodies are slow on most engines, use `Minus`."""

    triple: TriplePattern


@dataclass(frozen=True)
class Holds:
    """A pattern has a solution (section 8.1)."""

    pattern: Pattern


@dataclass(frozen=True)
class Count:
    """`COUNT` of a variable, or of all solutions when it is None."""

    variable: ox.Variable | None = None
    distinct: bool = False


@dataclass(frozen=True)
class Folded:
    """An aggregate of a variable over the solutions of a group (section 11.4)."""

    function: FoldName
    variable: ox.Variable


@dataclass(frozen=True)
class Calculation:
    """A calculation with two numbers (section 17.3)."""

    left: Expression
    operator: OneOf["+", "-", "*", "/"]
    right: Expression


@dataclass(frozen=True)
class Cast:
    """A value turned into another datatype (section 17.5)."""

    datatype: ox.NamedNode
    value: Expression


@dataclass(frozen=True)
class Descending:
    """A key that rows are sorted by from the greatest to the least (section 15.1)."""

    key: Expression


_Condition: TypeAlias = Compare | In | Call | Negation | AllOf | AnyOf | NotExists | Holds
Expression: TypeAlias = Node | _Condition | Count | Folded | Calculation | Cast


@dataclass(frozen=True)
class Select:
    """A SELECT query (sections 9 to 15, 18.2.4).

    Attributes:
        variables: What is projected; a pair is a value with its name.
        where: The pattern.
        distinct: Whether equal rows are given once.
        group_by: Variables to group by.
        having: Condition on the groups.
        order_by: What to sort by, the first key first.
        limit: Most rows.
        offset: Rows left out before them.
        sized: Whether there are never more than `limit`, which only tells the engine how few there are.

    Example:
        >>> from mrag.rdf.printing import to_sparql
        >>> x, y = var("x"), var("y")
        >>> print(to_sparql(Select((x,), TriplePattern(x, iri("urn:p"), y), group_by=(x,),
        ...     having=Compare(Count(y, distinct=True), ">=", ox.Literal(2)), order_by=(x,))))
        SELECT ?x WHERE { ?x <urn:p> ?y . } GROUP BY ?x
        HAVING(COUNT(DISTINCT ?y) >= 2) ORDER BY ?x
    """

    variables: tuple[ox.Variable | tuple[Expression, ox.Variable], ...]
    where: Pattern
    distinct: bool = False
    group_by: tuple[ox.Variable, ...] = ()
    having: Expression | None = None
    order_by: tuple[Expression | Descending, ...] = ()
    limit: int | None = None
    offset: int = 0
    sized: bool = False


@dataclass(frozen=True)
class Ask:
    """An ASK query (section 16.3)."""

    where: Pattern


@dataclass(frozen=True)
class Construct:
    """A CONSTRUCT query (section 16.2)."""

    template: tuple[TriplePattern, ...]
    where: Pattern
