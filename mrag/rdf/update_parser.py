"""Updates (SPARQL 1.1 Update, section 3; SPARQL 1.1 Query, section 19.8, rules 29 to 51)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from rdflib import BNode, Literal
from rdflib.term import Variable

from mrag.errors import QueryRefused
from mrag.rdf.lexer import CALLING, EXPECTED, WRITING, Tokens
from mrag.rdf.printing import as_insert_data, as_select
from mrag.rdf.queries import term
from mrag.rdf.query_parser import QueryParser
from mrag.rdf.tree import Term, TripleNode

Operation: TypeAlias = tuple[Any, ...]
"""One step of an update: its kind and what the kind needs, in plain values."""
_Quad: TypeAlias = tuple["Term | None", Any, Any, Any]
_Graphs: TypeAlias = "tuple[tuple[str, ...] | None, tuple[str, ...] | None]"


class UpdateParser(QueryParser):
    """Reads an update.

    Args:
        text: A SPARQL 1.1 Update request.
        prefixes: Namespaces that need no declaration.
        using: Graphs that the protocol's `using-graph-uri` names.
        using_named: Graphs that `using-named-graph-uri` names.
        base: What relative IRIs are relative to, where the text does not say.

    Example:
        >>> UpdateParser("DROP SILENT ALL ; ADD <urn:a> TO DEFAULT", {}).operations()
        (('clear', 'all'), ('transfer', 'add', 'urn:a', None, False))
    """

    def __init__(
        self,
        text: str,
        prefixes: Mapping[str, str],
        using: Sequence[str] = (),
        using_named: Sequence[str] = (),
        base: str | None = None,
    ) -> None:
        super().__init__(Tokens(text, "update"), prefixes, base)
        self._using = (tuple(using), tuple(using_named)) if using or using_named else None
        self._start = f"BASE {term(base)}\n" if base is not None else ""
        self._prologue = ""
        self._labels: set[str] = set()

    def operations(self) -> tuple[Operation, ...]:
        """Read all operations.

        Raises:
            QueryRefused: If the text is no update, or asks for what is not allowed.
        """
        found: list[Operation] = []
        while True:
            first = self.at
            self.prologue()
            if self.at > first:
                self._prologue += self.tokens.printed(first, self.at) + "\n"
            if self.key == "end":
                break
            found.append(self._operation())
            if not self.accept(";"):
                break
        self.expect("end")
        return tuple(found)

    def _operation(self) -> Operation:
        readers: dict[str, Callable[[], Operation]] = {
            "INSERT": self._insert,
            "DELETE": self._delete,
            "WITH": self._with,
            "LOAD": self._load,
            "CLEAR": self._clear,
            "DROP": self._clear,
            "CREATE": self._create,
            "ADD": self._transfer,
            "MOVE": self._transfer,
            "COPY": self._transfer,
        }
        reader = readers.get(self.key)
        if reader is None:
            raise self.refused("an operation", EXPECTED["update"])
        return reader()

    # -- triples -----------------------------------------------------------------------------------

    def _insert(self) -> Operation:
        if self.following() != "DATA":
            return self._modify(None)
        self.expect("INSERT", "DATA")
        labels: set[str] = set()
        text = self._data(lambda quad: labels.update(t for t in quad if isinstance(t, BNode) and t[0] != "."))
        if shared := labels & self._labels:
            raise QueryRefused(f"Two operations use the blank node _:{min(shared)}.", query=self.tokens.given)
        self._labels |= labels
        return "data", True, text

    def _delete(self) -> Operation:
        if self.following() == "DATA":
            self.expect("DELETE", "DATA")

            def check(quad: _Quad) -> None:
                if _blank((quad,)):
                    raise QueryRefused("Blank nodes cannot be deleted as data.", query=self.tokens.given)

            return "data", False, self._data(check)
        if self.following() == "WHERE":
            self.expect("DELETE", "WHERE")
            deletes: list[_Quad] = []
            first = self.at
            self._quads(deletes.append)
            where = as_select(self._before(), self._braces(first))
            return self._modification(where, self._using or (None, None), deletes, [])
        return self._modify(None)

    def _data(self, note: Callable[[_Quad], None]) -> str:
        def ground(quad: _Quad) -> None:
            if any(isinstance(t, Variable) for t in quad):
                raise QueryRefused("Data cannot have variables.", query=self.tokens.given)
            note(quad)

        first = self.at
        self._quads(ground)
        return as_insert_data(self._before(), self._braces(first))

    def _with(self) -> Operation:
        self.advance()
        return self._modify(self.iri())

    def _modify(self, outer: Term | None) -> Operation:
        deletes: list[_Quad] = []
        inserts: list[_Quad] = []
        if self.key not in ("DELETE", "INSERT"):
            raise self.refused("DELETE or INSERT")
        if self.accept("DELETE"):
            self._quads(deletes.append, outer)
        if self.accept("INSERT"):
            self._quads(inserts.append, outer)
        graphs = self._seen(outer)
        self.expect("WHERE")
        first = self.at
        self.group()
        where = as_select(self._before(), self._braces(first))
        return self._modification(where, graphs, deletes, inserts)

    def _seen(self, outer: Term | None) -> _Graphs:
        """Read USING, and return the graphs that the WHERE clause sees."""
        default: list[str] = []
        named: list[str] = []
        while self.accept("USING"):
            target = named if self.accept("NAMED") else default
            target.append(str(self.iri()))
        here = bool(default or named or outer is not None)
        if self._using is not None:
            if here:
                raise QueryRefused(
                    "The update names its graphs by USING or WITH, and so does the request.",
                    query=self.tokens.given,
                    hint="Use one of the two (SPARQL 1.1 Protocol, section 2.2.3).",
                )
            return self._using
        if default or named:
            return tuple(default), tuple(named)
        return ((str(outer),), None) if outer is not None else (None, None)

    def _modification(
        self, where: str, graphs: _Graphs, deletes: Sequence[_Quad], inserts: Sequence[_Quad]
    ) -> Operation:
        if _blank(deletes):
            raise QueryRefused(
                "What DELETE names cannot have blank nodes.", query=self.tokens.given, hint="Use variables."
            )
        return "modify", where, *graphs, tuple(map(_template, deletes)), tuple(map(_template, inserts))

    def _quads(self, note: Callable[[_Quad], None], graph: Term | None = None) -> None:
        """Read triples in braces, those of named graphs among them."""

        def noted(triple: TripleNode) -> None:
            note((inside, triple.s, triple.p, triple.o))

        self.expect("{")
        while True:
            inside = graph
            self.triples(noted, paths=False)
            if not self.accept("GRAPH"):
                break
            inside = self.variable_or_iri()
            self.expect("{")
            self.triples(noted, paths=False)
            self.expect("}")
            self.accept(".")
        self.expect("}")

    def _before(self) -> str:
        return f"{self._start}{self.declarations()}{self._prologue}"

    def _braces(self, first: int) -> str:
        """Print what has been read since a token; no word of an update can be in it."""
        if any(token.key in WRITING or token.key in CALLING for token in self.tokens.tokens[first : self.at]):
            raise self.tokens.forbidden("Operations cannot be nested", self.tokens.tokens[first])
        return self.tokens.printed(first, self.at)

    # -- graphs ------------------------------------------------------------------------------------

    def _load(self) -> Operation:
        self.advance()
        silent = self.accept("SILENT")
        self.iri()
        if self.accept("INTO"):
            self.expect("GRAPH")
            self.iri()
        if silent:
            return ("nothing",)  # it fails in silence
        raise QueryRefused(
            "LOAD is not allowed: nothing is fetched from the web.",
            query=self.tokens.given,
            hint="Send the document itself, by POST or PUT to the graph store.",
        )

    def _clear(self) -> Operation:
        self.advance()
        self.accept("SILENT")
        if self.key in ("DEFAULT", "NAMED", "ALL"):
            return "clear", self.advance().key.lower()
        self.expect("GRAPH")
        return "clear", "graph", str(self.iri())

    def _create(self) -> Operation:
        self.advance()
        silent = self.accept("SILENT")
        self.expect("GRAPH")
        return "create", str(self.iri()), silent

    def _transfer(self) -> Operation:
        kind = self.advance().key.lower()
        silent = self.accept("SILENT")
        source = self._graph_or_default()
        self.expect("TO")
        return "transfer", kind, source, self._graph_or_default(), silent

    def _graph_or_default(self) -> str | None:
        if self.accept("DEFAULT"):
            return None
        self.accept("GRAPH")
        return str(self.iri())


def _blank(quads: Iterable[_Quad]) -> bool:
    return any(isinstance(t, BNode) for quad in quads for t in quad)


def _template(quad: _Quad) -> tuple[tuple[str, ...] | None, ...]:
    graph, *terms = quad
    return (_plain(graph) if graph is not None else None, *map(_plain, terms))


def _plain(value: Any) -> tuple[str, ...]:
    if isinstance(value, Variable):
        return "v", str(value)
    if isinstance(value, BNode):
        return "b", str(value)
    if isinstance(value, Literal):
        return "l", str(value), value.language or "", str(value.datatype or "")
    return "i", str(value)
