"""Expressions (SPARQL 1.1 Query, section 19.8, rules 110 to 128)."""

from __future__ import annotations

from mrag.rdf.cursor import TERM_KEYS, TokenCursor
from mrag.rdf.lexer import AGGREGATES, FUNCTIONS
from mrag.rdf.tree import CallNode, Exists, Expression, GroupNode

_BINDING = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT"), 3),
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
}
"""How closely the operators bind."""
_COMPARING = 3
_CALLABLE = ("http:", "https:", "urn:")


class Expressions(TokenCursor):
    """Reads expressions; a subclass reads the groups inside them."""

    def group(self) -> GroupNode:
        """Read a group graph pattern."""
        raise NotImplementedError

    def expression(self) -> Expression:
        """Read an expression."""
        self.deeper()
        found = self._binary(1)
        self.shallower()
        return found

    def bracketed(self) -> Expression:
        """Read an expression in brackets."""
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found

    def constraint(self) -> Expression:
        """Read what may stand behind FILTER and HAVING."""
        if self.key == "(":
            return self.bracketed()
        if self.key in ("iri", "pname"):
            return self._call_by_name()
        found = self._built_in()
        if found is None:
            raise self.refused("a condition in brackets")
        return found

    def starts_constraint(self) -> bool:
        """Return whether a constraint begins here."""
        return self.key in ("(", "iri", "pname", "EXISTS", "NOT") or self.key in FUNCTIONS | AGGREGATES

    def _binary(self, least: int) -> Expression:
        left = self._unary()
        length = 0
        while True:
            if self.key == "iri":
                # Behind an operand no IRI can stand, so this is a comparison without white space.
                self.tokens.as_less_than(self.at)
                self.key = self.token.key
            binding = _BINDING.get(self.key, 0)
            if binding < least:
                return left
            length += 1
            self.limit(length, "operators")
            left = self._operated(left, binding)
            if binding == _COMPARING and _BINDING.get(self.key) == _COMPARING:
                raise self.refused("no second comparison", "Comparisons do not chain: use && and brackets.")

    def _operated(self, left: Expression, binding: int) -> Expression:
        operator = self.advance().key
        if operator == "NOT":
            self.expect("IN")
            return CallNode("NOT IN", (left, *self.arguments()))
        if operator == "IN":
            return CallNode("IN", (left, *self.arguments()))
        return CallNode(operator, (left, self._binary(binding + 1)))

    def _unary(self) -> Expression:
        if self.key not in ("!", "+", "-"):
            return self._primary()
        self.deeper()
        found = CallNode(self.advance().key, (self._unary(),))
        self.shallower()
        return found

    def _primary(self) -> Expression:
        if self.key == "(":
            return self.bracketed()
        if self.key == "var":
            return self.variable()
        if self.key in ("iri", "pname"):
            return self._call_by_name() if self.following() == "(" else self.iri()
        if self.key in TERM_KEYS and self.key != "blank":
            return self.literal()
        found = self._built_in()
        if found is None:
            raise self.refused("an expression")
        return found

    def _built_in(self) -> Expression | None:
        if self.key in ("EXISTS", "NOT"):
            negated = self.accept("NOT")
            self.expect("EXISTS")
            return Exists(self.group(), negated)
        if self.key in AGGREGATES:
            return self._aggregate()
        if self.key in FUNCTIONS:
            return CallNode(self.advance().key, self.arguments())
        return None

    def _call_by_name(self) -> CallNode:
        token = self.token
        name = str(self.iri())
        if not name.lower().startswith(_CALLABLE):
            # Some engines load code or call databases by functions of other schemes.
            raise self.tokens.forbidden(f"The function <{name}> may not be called", token)
        return CallNode(name, self.arguments())

    def arguments(self) -> tuple[Expression, ...]:
        """Read expressions in brackets, or none."""
        self.expect("(")
        self.accept("DISTINCT")
        if self.accept(")"):
            return ()
        found = [self.expression()]
        while self.accept(","):
            found.append(self.expression())
        self.expect(")")
        return tuple(found)

    def _aggregate(self) -> CallNode:
        name = self.advance().key
        self.expect("(")
        self.accept("DISTINCT")
        if name == "COUNT" and self.accept("*"):
            self.expect(")")
            return CallNode(name, ())
        found = self.expression()
        if name == "GROUP_CONCAT" and self.accept(";"):
            self.expect("SEPARATOR", "=", "string")
        self.expect(")")
        return CallNode(name, (found,))
