"""Queries (SPARQL 1.1 Query, section 19.8, rules 1 to 28)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mrag.errors import QueryRefused
from mrag.rdf.graph_patterns import Patterns
from mrag.rdf.lexer import AGGREGATES, EXPECTED, FUNCTIONS, Tokens
from mrag.rdf.tree import GroupNode, Item, QueryNode, SelectNode, TripleNode, visible

_FORMS = {
    "SELECT": "SelectQuery",
    "ASK": "AskQuery",
    "CONSTRUCT": "ConstructQuery",
    "DESCRIBE": "DescribeQuery",
}


class QueryParser(Patterns):
    """Reads one query.

    Example:
        >>> QueryParser(Tokens("SELECT ?s { ?s a ?c }"), {}).query().form
        'SelectQuery'
    """

    def query(self) -> QueryNode:
        """Read a query to the end of its text.

        Raises:
            QueryRefused: At the first token that the grammar does not allow.
        """
        self.prologue()
        form = _FORMS.get(self.key)
        if form is None:
            raise self.refused(
                "SELECT, ASK, CONSTRUCT or DESCRIBE",
                EXPECTED["query"],
            )
        self.graphs: list[str] = []
        self.named: list[str] = []
        readers = {
            "SELECT": lambda: (self._select(outermost=True), ()),
            "ASK": self._ask,
            "CONSTRUCT": self._construct,
            "DESCRIBE": self._describe,
        }
        select, template = readers[self.key]()
        self.expect("end")
        return QueryNode(form, select, template, tuple(self.graphs), tuple(self.named))

    def sub_select(self) -> SelectNode:
        """Read a SELECT inside a group."""
        return self._select(outermost=False)

    # -- forms -------------------------------------------------------------------------------------

    def _select(self, *, outermost: bool) -> SelectNode:
        self.expect("SELECT")
        steps: list[tuple[str, int, int]] = []
        if self.key in ("DISTINCT", "REDUCED"):
            self.advance()
            steps.append(("distinct", self.at, self.at))
        star = self.at
        projection = None if self.accept("*") else self._projection()
        steps.append(("select", star, self.at))
        if outermost:
            self._dataset()
        self.accept("WHERE")
        found = self._modified(projection, self.group(), steps)
        if projection is None and outermost and (names := visible(found)):
            # Engines order the columns of * as they like; readers expect the order of the query.
            self.tokens.spell(star, " ".join(f"?{name}" for name in names))
        return found

    def _ask(self) -> tuple[SelectNode, tuple[TripleNode, ...]]:
        self.advance()
        self._dataset()
        self.accept("WHERE")
        return self._modified(None, self.group()), ()

    def _construct(self) -> tuple[SelectNode, tuple[TripleNode, ...]]:
        self.advance()
        template: list[TripleNode] = []
        short = self.key != "{"
        if not short:
            self._template(template)
        self._dataset()
        if short:
            self.expect("WHERE")
            first = self.at
            self._template(template)
            where = GroupNode(tuple(template), first, self.at - 1)
        else:
            self.accept("WHERE")
            where = self.group()
        return self._modified(None, where), tuple(template)

    def _describe(self) -> tuple[SelectNode, tuple[TripleNode, ...]]:
        self.advance()
        items: list[Item] = []
        if not self.accept("*"):
            items.append(Item(self.variable_or_iri()))
            while self.key in ("var", "iri", "pname"):
                items.append(Item(self.variable_or_iri()))
        self._dataset()
        where = self.group() if self.accept("WHERE") or self.key == "{" else GroupNode((), self.at, self.at)
        return self._modified(tuple(items) or None, where), ()

    def _template(self, into: list[TripleNode]) -> None:
        self.expect("{")
        self.triples(into.append, paths=False)
        self.expect("}")

    def _dataset(self) -> None:
        while self.accept("FROM"):
            target = self.named if self.accept("NAMED") else self.graphs
            number = self.at
            graph = self.iri()
            target.append(str(graph))
            # What was judged is what runs: the engine may resolve a relative name in another way.
            self.tokens.replace(number, graph)

    # -- parts -------------------------------------------------------------------------------------

    def _projection(self) -> tuple[Item, ...]:
        items: list[Item] = []
        while True:
            if self.key == "var":
                items.append(Item(self.variable()))
            elif self.key == "(":
                items.append(self._named_expression())
            elif items:
                return tuple(items)
            else:
                raise self._bare_expression()
            if self.key in AGGREGATES or self.key in FUNCTIONS:
                raise self._bare_expression()
            self.limit(len(items), "columns")

    def _bare_expression(self) -> QueryRefused:
        if self.key not in AGGREGATES and self.key not in FUNCTIONS:
            return self.refused("variables or *")
        word = self.key
        return self.refused(
            "a variable, or an expression in brackets with a name",
            f"SPARQL 1.1 wants brackets and a name: SELECT ({word}(?x) AS ?{word.lower()}) …",
        )

    def _named_expression(self) -> Item:
        self.expect("(")
        expression = self.expression()
        self.expect("AS")
        variable = self.variable()
        self.expect(")")
        return Item(expression, variable)

    def _modified(
        self,
        projection: tuple[Item, ...] | None,
        where: GroupNode,
        before: Sequence[tuple[str, int, int]] = (),
    ) -> SelectNode:
        modifiers: list[Item] = []
        steps = list(before)
        if self.accept("GROUP"):
            self.expect("BY")
            first_at = self.at
            self._groupings(modifiers)
            steps.append(("group by", first_at, self.at))
        if self.accept("HAVING"):
            first_at = self.at
            self._some(modifiers)
            steps.append(("having", first_at, self.at))
        if self.accept("ORDER"):
            self.expect("BY")
            first_at = self.at
            self._orderings(modifiers)
            steps.append(("order by", first_at, self.at))
        first_at = self.at
        for first, second in (("LIMIT", "OFFSET"), ("OFFSET", "LIMIT")):
            if self.accept(first):
                self.expect("integer")
                if self.accept(second):
                    self.expect("integer")
        if self.at > first_at:
            steps.append(("slice", first_at, self.at))
        values = self.values() if self.key == "VALUES" else None
        return SelectNode(projection, where, tuple(modifiers), values, tuple(steps))

    def _groupings(self, into: list[Item]) -> None:
        before = len(into)
        while True:
            if self.key == "var":
                into.append(Item(self.variable()))
            elif self.key == "(":
                into.append(self._grouping())
            elif self.starts_constraint():
                into.append(Item(self.constraint()))
            elif len(into) > before:
                return
            else:
                raise self.refused("what to group by")

    def _grouping(self) -> Item:
        self.expect("(")
        expression = self.expression()
        variable = self.variable() if self.accept("AS") else None
        self.expect(")")
        return Item(expression, variable)

    def _some(self, into: list[Item]) -> None:
        into.append(Item(self.constraint()))
        while self.starts_constraint():
            into.append(Item(self.constraint()))

    def _orderings(self, into: list[Item]) -> None:
        before = len(into)
        while True:
            if self.key in ("ASC", "DESC"):
                self.advance()
                into.append(Item(self.bracketed()))
            elif self.key == "var":
                into.append(Item(self.variable()))
            elif self.starts_constraint():
                into.append(Item(self.constraint()))
            elif len(into) > before:
                return
            else:
                raise self.refused("what to order by")


def parse_query(
    text: str,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    deadline: float = math.inf,
) -> tuple[QueryNode, QueryParser]:
    """Read a query.

    Args:
        text: A SPARQL 1.1 query.
        prefixes: Namespaces that need no declaration.
        base: What relative IRIs are relative to, where the text does not say.
        deadline: When reading must have come to its end, on the monotonic clock.

    Returns:
        Its tree, and the parser with its tokens.

    Raises:
        QueryRefused: If it is none.
        QueryTimeout: At the deadline.
    """
    parser = QueryParser(Tokens(text, deadline=deadline), prefixes or {}, base)
    return parser.query(), parser
