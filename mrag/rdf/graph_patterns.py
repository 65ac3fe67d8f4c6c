"""Groups, triples and property paths (SPARQL 1.1 Query, section 19.8, rules 52 to 109)."""

from __future__ import annotations

from collections.abc import Callable

from rdflib import RDF, BNode, URIRef
from rdflib.term import Variable

from mrag.rdf import tree
from mrag.rdf.cursor import TERM_KEYS
from mrag.rdf.expressions import Expressions

_SUBJECTS = TERM_KEYS | {"var", "[", "("}
_VERBS = frozenset(("var", "iri", "pname", "a", "^", "!", "("))
_LOADS_CODE = ("java:",)
"""Jena runs a class of this name for a triple pattern."""


class Patterns(Expressions):
    """Reads graph patterns; a subclass reads the queries inside them."""

    def sub_select(self) -> tree.SelectNode:
        """Read a SELECT inside a group."""
        raise NotImplementedError

    # -- groups ------------------------------------------------------------------------------------

    def group(self) -> tree.GroupNode:
        """Read a group graph pattern."""
        self.deeper()
        first = self.at
        self.expect("{")
        parts: list[tree.Node] = []
        if self.key == "SELECT":
            parts.append(self.sub_select())
        else:
            self._content(parts)
        last = self.at
        self.expect("}")
        self.shallower()
        return tree.GroupNode(tuple(parts), first, last)

    def _content(self, parts: list[tree.Node]) -> None:
        readers = self._readers
        may_have_triples = True
        while self.key != "}":
            if (reader := readers.get(self.key)) is not None:
                parts.append(reader())
                self.accept(".")
                may_have_triples = True
            elif may_have_triples and self.key in _SUBJECTS:
                self.same_subject(parts.append)
                may_have_triples = self.accept(".")
            else:
                raise self.refused("a pattern or }" if may_have_triples else "a dot or }")
            self.limit(len(parts), "patterns")

    @property
    def _readers(self) -> dict[str, Callable[[], tree.Node]]:
        return {
            "{": self._group_or_union,
            "OPTIONAL": lambda: tree.OptionalNode(self._group_behind()),
            "MINUS": lambda: tree.MinusNode(self._group_behind()),
            "GRAPH": self._graph,
            "FILTER": self._filter,
            "BIND": self._bind,
            "VALUES": self.values,
        }

    def _group_behind(self) -> tree.GroupNode:
        self.advance()
        return self.group()

    def _group_or_union(self) -> tree.GroupNode | tree.UnionNode:
        groups = [self.group()]
        while self.accept("UNION"):
            groups.append(self.group())
            self.limit(len(groups), "groups")
        return tree.UnionNode(tuple(groups)) if len(groups) > 1 else groups[0]

    def _graph(self) -> tree.GraphNode:
        self.advance()
        return tree.GraphNode(self.variable_or_iri(), self.group())

    def _filter(self) -> tree.FilterNode:
        self.advance()
        return tree.FilterNode(self.constraint())

    def _bind(self) -> tree.BindNode:
        self.advance()
        self.expect("(")
        expression = self.expression()
        self.expect("AS")
        variable = self.variable()
        self.expect(")")
        return tree.BindNode(expression, variable)

    def values(self) -> tree.ValuesNode:
        """Read inline data (section 10.2)."""
        self.expect("VALUES")
        if self.key == "var":
            variables = (self.variable(),)
            self.expect("{")
            single = []
            while not self.accept("}"):
                single.append((self._value(),))
            return tree.ValuesNode(variables, tuple(single))
        self.expect("(")
        names = []
        while not self.accept(")"):
            names.append(self.variable())
        self.expect("{")
        rows = []
        while not self.accept("}"):
            rows.append(self._row(len(names)))
        return tree.ValuesNode(tuple(names), tuple(rows))

    def _row(self, size: int) -> tuple[URIRef | None, ...]:
        token = self.expect("(")
        row = []
        while not self.accept(")"):
            row.append(self._value())
        if len(row) != size:
            raise self.tokens.forbidden(f"A row of VALUES has {len(row)} terms instead of {size}", token)
        return tuple(row)

    def _value(self) -> URIRef | None:
        if self.accept("UNDEF"):
            return None
        if self.key not in TERM_KEYS or self.key == "blank":
            raise self.refused("an IRI, a literal or UNDEF")
        return self.term()  # type: ignore[return-value]

    # -- triples -----------------------------------------------------------------------------------

    def triples(self, note: Callable[[tree.TripleNode], None], *, paths: bool = True) -> None:
        """Read triples as far as they go.

        Args:
            note: Called with each.
            paths: Whether property paths may stand in them.
        """
        while self.key in _SUBJECTS:
            self.same_subject(note, paths=paths)
            if not self.accept("."):
                return

    def same_subject(self, note: Callable[[tree.TripleNode], None], *, paths: bool = True) -> None:
        """Read a subject with what is said of it."""
        bracketed = self.key in ("[", "(") and self.following() not in ("]", ")")
        subject = self._node(note, paths)
        if not bracketed or self.key in _VERBS:
            self._properties(subject, note, paths)

    def _properties(self, subject: tree.Term, note: Callable[[tree.TripleNode], None], paths: bool) -> None:
        while True:
            verb = self._verb(paths)
            note(tree.TripleNode(subject, verb, self._node(note, paths)))
            while self.accept(","):
                note(tree.TripleNode(subject, verb, self._node(note, paths)))
            if self.key != ";":
                return
            while self.accept(";"):
                continue
            if self.key not in _VERBS:
                return

    def _node(self, note: Callable[[tree.TripleNode], None], paths: bool) -> tree.Term:
        if self.key == "var":
            return self.variable()
        if self.key == "[":
            return self._described(note, paths)
        if self.key == "(":
            return self._collection(note, paths)
        if self.key not in TERM_KEYS:
            raise self.refused("a term or a variable")
        return self.term()

    def _described(self, note: Callable[[tree.TripleNode], None], paths: bool) -> BNode:
        self.deeper()
        self.expect("[")
        node = self.fresh()
        if self.key != "]":
            self._properties(node, note, paths)
        self.expect("]")
        self.shallower()
        return node

    def _collection(self, note: Callable[[tree.TripleNode], None], paths: bool) -> tree.Term:
        self.deeper()
        self.expect("(")
        first: tree.Term = RDF.nil
        before: BNode | None = None
        while not self.accept(")"):
            node = self.fresh()
            if before is None:
                first = node
            else:
                note(tree.TripleNode(before, RDF.rest, node))
            note(tree.TripleNode(node, RDF.first, self._node(note, paths)))
            before = node
        if before is not None:
            note(tree.TripleNode(before, RDF.rest, RDF.nil))
        self.shallower()
        return first

    # -- paths -------------------------------------------------------------------------------------

    def _verb(self, paths: bool) -> Variable | URIRef | tree.Path:
        if self.key == "var":
            return self.variable()
        return self._alternatives() if paths else self._step_name()

    def _step_name(self) -> URIRef:
        if self.accept("a"):
            return RDF.type
        token = self.token
        name = self.iri()
        if name.lower().startswith(_LOADS_CODE):
            raise self.tokens.forbidden(f"The property <{name}> may not be used", token)
        return name

    def _alternatives(self) -> URIRef | tree.Path:
        parts = [self._sequence()]
        while self.accept("|"):
            parts.append(self._sequence())
            self.limit(len(parts), "paths")
        return tree.Path("|", tuple(parts)) if len(parts) > 1 else parts[0]

    def _sequence(self) -> URIRef | tree.Path:
        parts = [self._step()]
        while self.accept("/"):
            parts.append(self._step())
            self.limit(len(parts), "paths")
        return tree.Path("/", tuple(parts)) if len(parts) > 1 else parts[0]

    def _step(self) -> URIRef | tree.Path:
        inverse = self.accept("^")
        found = self._path_primary()
        if self.key in ("*", "+", "?"):
            found = tree.Path(self.advance().key, (found,))
        return tree.Path("^", (found,)) if inverse else found

    def _path_primary(self) -> URIRef | tree.Path:
        if self.accept("!"):
            return tree.Path("!", self._negated())
        if self.key != "(":
            return self._step_name()
        self.deeper()
        self.advance()
        found = self._alternatives()
        self.expect(")")
        self.shallower()
        return found

    def _negated(self) -> tuple[URIRef | tree.Path, ...]:
        if not self.accept("("):
            return (self._one_negated(),)
        parts = []
        while self.key != ")":
            parts.append(self._one_negated())
            if self.key != ")":
                self.expect("|")
        self.advance()
        return tuple(parts)

    def _one_negated(self) -> URIRef | tree.Path:
        return tree.Path("^", (self._step_name(),)) if self.accept("^") else self._step_name()
