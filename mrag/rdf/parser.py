"""SPARQL 1.1 read whole: terminals, expressions, patterns, queries and updates, as a tree of RDF terms.

The rules are those of SPARQL 1.1 Query, section 19.8. A text becomes tokens, and what an engine gets is
printed from the tree. The kinds of nodes are a closed world: `walk` refuses a node that it does not know.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from rdflib import RDF, BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import QueryRefused, QueryTimeout
from mrag.language.possessive import compiled
from mrag.rdf.patterns import as_insert_data, as_select
from mrag.rdf.queries import term
from mrag.rdf.terms import XSD

AGGREGATES = frozenset("COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT".split())
FUNCTIONS = frozenset(
    "STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE "
    "ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS "
    "TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG STRDT SAMETERM ISIRI "
    "ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE".split()
)
READING = frozenset(
    "BASE PREFIX SELECT CONSTRUCT DESCRIBE ASK DISTINCT REDUCED AS FROM NAMED WHERE GROUP BY HAVING ORDER "
    "ASC DESC LIMIT OFFSET VALUES UNDEF GRAPH OPTIONAL UNION MINUS FILTER BIND NOT EXISTS IN SEPARATOR "
    "TRUE FALSE A".split()
)
WRITING = frozenset(
    "INSERT DELETE DATA WITH USING LOAD CLEAR DROP CREATE ADD MOVE COPY TO INTO SILENT DEFAULT ALL".split()
)
NUMBERS = frozenset(("integer", "decimal", "double"))
CALLING = frozenset(("SERVICE",))
EXPECTED = {
    "query": "Only SELECT, ASK, CONSTRUCT and DESCRIBE are read; updates go through the update call.",
    "update": "An update begins with INSERT, DELETE, WITH, CLEAR, DROP, CREATE, ADD, MOVE or COPY.",
}
CHECKED = 4096
"""After so many tokens a look at the clock."""
_WORDS = {"query": READING | FUNCTIONS | AGGREGATES, "update": READING | FUNCTIONS | AGGREGATES | WRITING}

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MARKS = "\u00b7\u0300-\u036f\u203f-\u2040"
_CHARS = f"{_BASE}_0-9{_MARKS}\\-"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'(*)+,;=/?#@%]"
_SHORT = r"{0}[^{0}\\\n\r]*+(?:\\.[^{0}\\\n\r]*+)*+{0}"
_LONG = r"{0}{0}{0}[^{0}\\]*+(?:(?:\\.|{0}{{1,2}}(?!{0}))[^{0}\\]*+)*+{0}{0}{0}"
_TERMINALS = {
    "var": rf"[?$][{_BASE}_0-9][{_BASE}_0-9{_MARKS}]*+",
    "pname": rf"(?:[{_BASE}](?:\.*+[{_CHARS}])*+)?+:"
    rf"(?:(?:[{_BASE}_:0-9]|{_PLX})(?:\.*+(?:[{_CHARS}:]|{_PLX}))*+)?+",
    "word": r"[A-Za-z][A-Za-z0-9_]*+",
    "iri": r"<[^<>\"{}|^`\\\x00-\x20]*+>",
    "string": "|".join(form.format(quote) for quote in "\"'" for form in (_LONG, _SHORT)),
    "double": r"(?:[0-9]++\.[0-9]*+|\.[0-9]++|[0-9]++)[eE][+-]?[0-9]++",
    "decimal": r"[0-9]*+\.[0-9]++",
    "integer": r"[0-9]++",
    "lang": r"@[A-Za-z]++(?:-[A-Za-z0-9]++)*+",
    "blank": rf"_:[{_BASE}_0-9](?:\.*+[{_CHARS}])*+",
    "sign": r"\^\^|\|\||&&|!=|<=|>=|[{}()\[\],;.=<>!+\-*/|^?]",
}
_TOKEN = compiled("|".join(f"(?P<{name}>{form})" for name, form in _TERMINALS.items()), re.DOTALL)
_SPACE = compiled(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_LINES = re.compile(r"\r\n?|\n")
_COMMENT = re.compile(r"#[^\r\n]*+")
# An even run of backslashes before it makes the `u` ordinary text.
_CODEPOINT = compiled(r"(?<!\\)((?:\\\\)*+)(?:\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8}))")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_PRINTED = str.maketrans({character: f"\\{name}" for name, character in _ESCAPES.items() if name != "'"})


class SparqlToken(NamedTuple):
    """One terminal."""

    key: str
    text: str
    value: str
    start: int
    end: int


class Tokens:
    r"""A text as tokens; the last of them is the end."""

    def __init__(self, text: str, kind: str = "query", deadline: float = math.inf) -> None:
        self.given = text
        self.kind = kind
        self._deadline = deadline
        self.source = text = resolve_codepoints(text.removeprefix("\ufeff"))
        self._words = _WORDS[kind]
        self.tokens: list[SparqlToken] = []
        note, match, skip = self.tokens.append, _TOKEN.match, _SPACE.match
        at = skip(text).end()  # type: ignore[union-attr]
        end = len(text)
        while at < end:
            found = match(text, at)
            if found is None:
                raise self._unknown(at)
            note(self._token(found))
            at = skip(text, found.end()).end()  # type: ignore[union-attr]
            if not len(self.tokens) % CHECKED:
                self.check_time()
        note(SparqlToken("end", "", "", end, end))

    def check_time(self) -> None:
        """Stop at the deadline."""
        if time.monotonic() > self._deadline:
            raise QueryTimeout(
                f"The {self.kind} could not be read before its deadline.",
                query=self.given,
                hint="Make it shorter, or allow more seconds.",
            )

    def printed(
        self, first: int = 0, last: int | None = None, instead: Mapping[int, str] | None = None
    ) -> str:
        """Print tokens as SPARQL, on the lines on which they stood."""
        parts: list[str] = []
        before = None
        for number in range(first, len(self.tokens) - 1 if last is None else last):
            token = self.tokens[number]
            if before is not None:
                parts.append(self._gap(before, token))
            parts.append(instead[number] if instead and number in instead else token.text)
            before = token
        return "".join(parts)

    def place(self, token: SparqlToken) -> str:
        """Return where a token stands, for messages."""
        lines = _LINES.split(self.source[: token.start])
        return f"line {len(lines)}, column {len(lines[-1]) + 1}"

    def replace(self, number: int, iri: str) -> None:
        """Print a token as this IRI from now on."""
        self.tokens[number] = self.tokens[number]._replace(key="iri", text=f"<{iri}>", value=iri)

    def spell(self, number: int, text: str) -> None:
        """Print a token as other text from now on."""
        self.tokens[number] = self.tokens[number]._replace(text=text)

    def forbidden(self, what: str, token: SparqlToken) -> QueryRefused:
        """Return the error that names what is not allowed, and where it stands."""
        return QueryRefused(f"{what}, at {self.place(token)}.", query=self.given)

    def as_less_than(self, number: int) -> None:
        """Read a token that looks like an IRI as the sign `<` and what follows.

        `?a<?b&&?c>?d` holds no IRI, though the longest match (section 19.8) says so; engines read it as
        two comparisons, and so do people.
        """
        start = self.tokens[number].start
        inside = self.tokens[number].end
        parts = [SparqlToken("<", "<", "", start, start + 1)]
        at = start + 1
        while at < inside:
            found = _TOKEN.match(self.source, at)
            if found is None:
                raise self._unknown(at)
            parts.append(self._token(found))
            at = _SPACE.match(self.source, found.end()).end()  # type: ignore[union-attr]
        rest = number + 1
        while self.tokens[rest].start < at and self.tokens[rest].key != "end":
            rest += 1
        self.tokens[number:rest] = parts

    def _token(self, found: re.Match[str]) -> SparqlToken:
        kind, text = found.lastgroup, found[0]
        start, end = found.span()
        match kind:
            case "word":
                return self._word(text, start, end)
            case "sign":
                return SparqlToken(text, text, "", start, end)
            case "var" | "lang":
                return SparqlToken(kind, f"?{text[1:]}" if kind == "var" else text, text[1:], start, end)
            case "iri":
                return SparqlToken("iri", text, text[1:-1], start, end)
            case "string":
                return self._string(text, start, end)
            case _:
                return SparqlToken(str(kind), text, text, start, end)

    def _word(self, text: str, start: int, end: int) -> SparqlToken:
        key = text.upper()
        if key == "A" and text == "a":
            return SparqlToken("a", "a", "a", start, end)
        if key in self._words and key != "A":
            return SparqlToken(key, text, text, start, end)
        raise self._not_allowed(key, text, SparqlToken(key, text, text, start, end))

    def _string(self, text: str, start: int, end: int) -> SparqlToken:
        quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        value = text[quotes:-quotes]
        if "\\" in value:
            value = _ESCAPE.sub(self._unescaped, value)
        return SparqlToken("string", f'"{value.translate(_PRINTED)}"', value, start, end)

    def _unescaped(self, found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise QueryRefused(f"No such escape in a string: {found[0]!r}.", query=self.given)
        return _ESCAPES[found[1]]

    def _not_allowed(self, key: str, text: str, token: SparqlToken) -> QueryRefused:
        if key in CALLING:
            return QueryRefused(
                "SERVICE is not allowed: a query may not call other servers.",
                query=self.given,
                hint="Load that data here and query it.",
            )
        if key in WRITING:
            return QueryRefused(
                f"Not a SPARQL query: {key} belongs to an update.",
                query=self.given,
                hint=EXPECTED["query"],
            )
        return QueryRefused(
            f"Not a SPARQL {self.kind}: unknown word {text!r} at {self.place(token)}.",
            query=self.given,
            hint=EXPECTED[self.kind],
        )

    def _unknown(self, at: int) -> QueryRefused:
        token = SparqlToken("", "", "", at, at)
        what = "a string that does not end" if self.source[at] in "\"'" else repr(self.source[at])
        return QueryRefused(f"Not a SPARQL {self.kind}: {what} at {self.place(token)}.", query=self.given)

    def _gap(self, before: SparqlToken, after: SparqlToken) -> str:
        if before.end == after.start and (
            before.key in _CLOSED_BEHIND
            or (after.key in _CLOSED_BEFORE and before.key != "<")
            or (before.key in "+-" and after.key in NUMBERS)
        ):
            return ""
        gap = self.source[before.end : after.start]
        if "\n" not in gap and "\r" not in gap:
            return " "
        # A comment goes, the line that it stood on stays.
        return "\n" + " " * len(_LINES.split(_COMMENT.sub("", gap))[-1].expandtabs(4))


# Beside these signs no white space is needed: they neither begin nor continue another terminal.
_CLOSED_BEHIND = frozenset("({[,;")
_CLOSED_BEFORE = frozenset("(){}[],;")


def resolve_codepoints(text: str) -> str:
    r"""Resolve codepoint escapes (SPARQL 1.1 Query, section 19.2)."""

    def replace(match: re.Match[str]) -> str:
        code = int(match[2] or match[3], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise QueryRefused("A codepoint escape names no character.", query=text, term=match[0])
        character = chr(code)
        if character in "\"'\\\r\n<>{}#":
            # As a character it would be syntax; spelled out it is only what the grammar makes of it.
            raise QueryRefused("A codepoint escape may not stand for syntax.", query=text, term=match[0])
        return match[1] + character

    if "\\u" not in text and "\\U" not in text:
        return text
    return _CODEPOINT.sub(replace, text)


Term: TypeAlias = "URIRef | Literal | BNode | Variable"


@dataclass(frozen=True, slots=True)
class Path:
    """A property path (section 9.1).

    Attributes:
        operator: `/`, `|`, `^`, `!`, `*`, `+` or `?`.
        parts: What it is made of.
    """

    operator: str
    parts: tuple[URIRef | Path, ...]


@dataclass(frozen=True, slots=True)
class TripleNode:
    """A triple pattern, or a path between two terms."""

    s: Term
    p: Term | Path
    o: Term


@dataclass(frozen=True, slots=True)
class CallNode:
    """An operator, a function or an aggregate with its arguments."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class GroupNode:
    """A group graph pattern (section 5.2)."""

    parts: tuple[Node, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS` or `NOT EXISTS` (section 8.1)."""

    group: GroupNode
    negated: bool


@dataclass(frozen=True, slots=True)
class UnionNode:
    """Groups of which any may match (section 7)."""

    groups: tuple[GroupNode, ...]


@dataclass(frozen=True, slots=True)
class OptionalNode:
    """A group that need not match (section 6)."""

    group: GroupNode


@dataclass(frozen=True, slots=True)
class MinusNode:
    """A group whose solutions are taken away (section 8.2)."""

    group: GroupNode


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A group that is matched in a named graph (section 13.3)."""

    name: Term
    group: GroupNode


@dataclass(frozen=True, slots=True)
class FilterNode:
    """A condition on the solutions of its group (section 5.2.2)."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class BindNode:
    """`BIND (expression AS ?variable)` (section 10.1)."""

    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class ValuesNode:
    """Inline data (section 10.2); None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[URIRef | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a projection, a GROUP BY or an ORDER BY."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class SelectNode:
    """A SELECT, as a query or inside one (section 12)."""

    projection: tuple[Item, ...] | None
    where: GroupNode
    modifiers: tuple[Item, ...] = ()
    values: ValuesNode | None = None
    steps: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A query."""

    form: str
    select: SelectNode
    template: tuple[TripleNode, ...] = ()
    graphs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


Expression: TypeAlias = "Term | CallNode | Exists"
Node: TypeAlias = (
    "TripleNode | Path | CallNode | GroupNode | Exists | UnionNode | OptionalNode | MinusNode | GraphNode "
    "| FilterNode | BindNode | ValuesNode | Item | SelectNode | QueryNode"
)

_INSIDE: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Path: lambda n: n.parts,
    TripleNode: lambda n: (n.s, n.p, n.o),
    CallNode: lambda n: n.arguments,
    GroupNode: lambda n: n.parts,
    Exists: lambda n: (n.group,),
    UnionNode: lambda n: n.groups,
    OptionalNode: lambda n: (n.group,),
    MinusNode: lambda n: (n.group,),
    GraphNode: lambda n: (n.name, n.group),
    FilterNode: lambda n: (n.condition,),
    BindNode: lambda n: (n.expression, n.variable),
    ValuesNode: lambda n: n.variables,
    Item: lambda n: (n.expression, n.variable) if n.variable is not None else (n.expression,),
    SelectNode: lambda n: (*(n.projection or ()), n.where, *n.modifiers, *((n.values,) if n.values else ())),
    QueryNode: lambda n: (n.select, *n.template),
}
KINDS = frozenset(_INSIDE)
"""All kinds of nodes."""
_TERMS = frozenset((URIRef, Literal, BNode, Variable))


def inside(node: Node) -> tuple[Any, ...]:
    """Return the nodes and terms right below a node, in the order in which they stand."""
    found = _INSIDE.get(type(node))
    if found is None:
        raise TypeError(f"{type(node).__name__} is no kind of node that may be read.")
    return found(node)


def walk(node: Node) -> Iterator[Any]:
    """Yield a node and all below it, without the terms, in the order in which they stand.

    Raises:
        TypeError: At a node whose kind is not known.
    """
    stack: list[Any] = [node]
    while stack:
        found = stack.pop()
        if type(found) in _TERMS:
            continue
        yield found
        stack.extend(reversed(inside(found)))


def visible(node: Any) -> dict[str, None]:
    """Return the names of the variables that a pattern can bind, in order (section 18.2.1)."""
    match node:
        case Variable():
            return {str(node): None}
        case SelectNode() if node.projection is not None:
            return {
                str(i.variable if i.variable is not None else i.expression): None for i in node.projection
            }
        case SelectNode():
            parts: tuple[Any, ...] = (node.where, node.values) if node.values else (node.where,)
        case TripleNode() | GroupNode() | UnionNode() | OptionalNode() | GraphNode() | ValuesNode():
            parts = inside(node)
        case BindNode():
            parts = (node.variable,)
        case _:
            parts = ()
    return {name: None for part in parts for name in visible(part)}


_DEEPEST = 100
_LONGEST = 2_000
"""Engines work through long rows by recursion, and overflow their stacks."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_NUMBERS = {name: URIRef(XSD + name) for name in NUMBERS}
_TRUTH = {
    "TRUE": Literal("true", datatype=URIRef(XSD + "boolean")),
    "FALSE": Literal("false", datatype=URIRef(XSD + "boolean")),
}
_NAMES = {"end": "the end", "iri": "an IRI", "var": "a variable", "string": "a string", "pname": "a name"}
TERM_KEYS = frozenset(("iri", "pname", "string", "blank", "TRUE", "FALSE", "+", "-", *NUMBERS))
"""How a term begins that is neither a variable nor in brackets."""


class TokenCursor:
    """Goes through tokens one by one."""

    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str], base: str | None = None) -> None:
        self.tokens = tokens
        self.at = 0
        self.key = tokens.tokens[0].key
        self.undeclared: dict[str, None] = {}
        self._known = prefixes
        self._declared: dict[str, str] = {}
        self._base = base
        self._depth = 0
        self._blank = 0
        self._names: dict[str, URIRef] = {}

    @property
    def token(self) -> SparqlToken:
        """Return the token that comes next."""
        return self.tokens.tokens[self.at]

    def following(self) -> str:
        """Return what the token behind the next one is."""
        found = self.tokens.tokens
        return found[min(self.at + 1, len(found) - 1)].key

    def advance(self) -> SparqlToken:
        """Go on, and return the token that was next."""
        token = self.tokens.tokens[self.at]
        if token.key != "end":
            self.at += 1
            if not self.at % CHECKED:
                self.tokens.check_time()
            self.key = self.tokens.tokens[self.at].key
        return token

    def accept(self, key: str) -> bool:
        """Go on if the next token is of this kind, and tell whether it was."""
        if self.key != key:
            return False
        self.advance()
        return True

    def expect(self, *keys: str) -> SparqlToken:
        """Go over tokens that must be there, and return the last."""
        for key in keys:
            if self.key != key:
                raise self.refused(_NAMES.get(key, key))
            token = self.advance()
        return token

    def refused(self, expected: str, hint: str | None = None) -> QueryRefused:
        """Return the error that says what should stand here."""
        found = f"{self.token.text!r}" if self.key != "end" else "the end"
        where = self.tokens.place(self.token)
        return QueryRefused(
            f"Not a SPARQL {self.tokens.kind}: expected {expected} but found {found} at {where}.",
            query=self.tokens.given,
            hint=hint,
        )

    def deeper(self) -> None:
        """Note that something opens here."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise QueryRefused(
                f"The text is nested too deeply, at {self.tokens.place(self.token)}.",
                query=self.tokens.given,
                hint=f"At most {_DEEPEST} brackets may be open at once.",
            )

    def limit(self, count: int, what: str) -> None:
        """Refuse more of something in a row than an engine can take."""
        if count > _LONGEST:
            raise QueryRefused(
                f"More than {_LONGEST} {what} in a row, at {self.tokens.place(self.token)}.",
                query=self.tokens.given,
                hint="Put the terms into VALUES or IN.",
            )

    def shallower(self) -> None:
        """Note that what opened last is closed."""
        self._depth -= 1

    # -- prologue ----------------------------------------------------------------------------------

    def prologue(self) -> None:
        """Read declarations of prefixes and bases (section 4.1)."""
        while self.key in ("BASE", "PREFIX"):
            if self.advance().key == "BASE":
                self._base = str(self._resolved(self.expect("iri").value))
                continue
            name = self.expect("pname")
            prefix, _, local = name.value.partition(":")
            if local:
                raise self.refused(f"{prefix}: alone")
            self._declared[prefix] = str(self._resolved(self.expect("iri").value))
            self._names.clear()

    # -- terms -------------------------------------------------------------------------------------

    def variable(self) -> Variable:
        """Read a variable."""
        return Variable(self.expect("var").value)

    def iri(self) -> URIRef:
        """Read an IRI or a prefixed name."""
        if self.key == "iri":
            return self._resolved(self.advance().value)
        if self.key != "pname":
            raise self.refused("an IRI")
        token = self.advance()
        known = self._names.get(token.value)
        if known is None:
            known = self._names[token.value] = self._expanded(token)
        return known

    def declarations(self) -> str:
        """Print declarations of the prefixes that the text has used so far without declaring them."""
        return "".join(
            f"PREFIX {prefix}: {term(self._known[prefix])}\n" for prefix in sorted(self.undeclared)
        )

    def variable_or_iri(self) -> Variable | URIRef:
        """Read a variable or an IRI."""
        return self.variable() if self.key == "var" else self.iri()

    def term(self) -> URIRef | Literal | BNode:
        """Read an IRI, a literal or a labelled blank node."""
        if self.key in ("iri", "pname"):
            return self.iri()
        if self.key == "blank":
            return BNode(self.advance().value[2:])
        return self.literal()

    def literal(self) -> Literal:
        """Read a string, a number or a truth value."""
        if self.key in _TRUTH:
            return _TRUTH[self.advance().key]
        if self.key in ("+", "-"):
            sign = self.advance()
            if self.key not in NUMBERS or self.token.start != sign.end:
                raise self.refused("a number right behind the sign")
            return self._number(sign.key)
        if self.key in NUMBERS:
            return self._number()
        if self.key != "string":
            raise self.refused("a term")
        text = self.advance().value
        if self.key == "lang":
            return self._checked(text, language=self.advance().value)
        if self.accept("^^"):
            return self._checked(text, datatype=self.iri())
        return Literal(text)

    def fresh(self) -> BNode:
        """Return a blank node without a label."""
        self._blank += 1
        # No label of a text begins with a dot.
        return BNode(f".{self._blank}")

    def _number(self, sign: str = "") -> Literal:
        token = self.advance()
        return Literal(sign + token.text, datatype=_NUMBERS[token.key], normalize=False)

    def _checked(self, text: str, language: str | None = None, datatype: URIRef | None = None) -> Literal:
        try:
            return Literal(text, lang=language, datatype=datatype, normalize=False)
        except ValueError as error:
            raise QueryRefused(f"Not a literal: {error}.", query=self.tokens.given) from error

    def _expanded(self, token: SparqlToken) -> URIRef:
        prefix, _, local = token.value.partition(":")
        namespace = self._declared.get(prefix)
        if namespace is None:
            namespace = self._known.get(prefix)
            if namespace is None:
                raise QueryRefused(
                    f"The prefix {prefix}: is not declared, at {self.tokens.place(token)}.",
                    query=self.tokens.given,
                    hint=f"Put `PREFIX {prefix}: <…>` before the query.",
                )
            self.undeclared[prefix] = None
        return URIRef(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local))

    def _resolved(self, value: str) -> URIRef:
        if self._base is None or _SCHEME.match(value):
            return URIRef(value)
        return URIRef(value, base=self._base)


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


_SUBJECTS = TERM_KEYS | {"var", "[", "("}
_VERBS = frozenset(("var", "iri", "pname", "a", "^", "!", "("))
_LOADS_CODE = ("java:",)
"""Jena runs a class of this name for a triple pattern."""


class Patterns(Expressions):
    """Reads graph patterns; a subclass reads the queries inside them."""

    def sub_select(self) -> SelectNode:
        """Read a SELECT inside a group."""
        raise NotImplementedError

    # -- groups ------------------------------------------------------------------------------------

    def group(self) -> GroupNode:
        """Read a group graph pattern."""
        self.deeper()
        first = self.at
        self.expect("{")
        parts: list[Node] = []
        if self.key == "SELECT":
            parts.append(self.sub_select())
        else:
            self._content(parts)
        last = self.at
        self.expect("}")
        self.shallower()
        return GroupNode(tuple(parts), first, last)

    def _content(self, parts: list[Node]) -> None:
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
    def _readers(self) -> dict[str, Callable[[], Node]]:
        return {
            "{": self._group_or_union,
            "OPTIONAL": lambda: OptionalNode(self._group_behind()),
            "MINUS": lambda: MinusNode(self._group_behind()),
            "GRAPH": self._graph,
            "FILTER": self._filter,
            "BIND": self._bind,
            "VALUES": self.values,
        }

    def _group_behind(self) -> GroupNode:
        self.advance()
        return self.group()

    def _group_or_union(self) -> GroupNode | UnionNode:
        groups = [self.group()]
        while self.accept("UNION"):
            groups.append(self.group())
            self.limit(len(groups), "groups")
        return UnionNode(tuple(groups)) if len(groups) > 1 else groups[0]

    def _graph(self) -> GraphNode:
        self.advance()
        return GraphNode(self.variable_or_iri(), self.group())

    def _filter(self) -> FilterNode:
        self.advance()
        return FilterNode(self.constraint())

    def _bind(self) -> BindNode:
        self.advance()
        self.expect("(")
        expression = self.expression()
        self.expect("AS")
        variable = self.variable()
        self.expect(")")
        return BindNode(expression, variable)

    def values(self) -> ValuesNode:
        """Read inline data (section 10.2)."""
        self.expect("VALUES")
        if self.key == "var":
            variables = (self.variable(),)
            self.expect("{")
            single = []
            while not self.accept("}"):
                single.append((self._value(),))
            return ValuesNode(variables, tuple(single))
        self.expect("(")
        names = []
        while not self.accept(")"):
            names.append(self.variable())
        self.expect("{")
        rows = []
        while not self.accept("}"):
            rows.append(self._row(len(names)))
        return ValuesNode(tuple(names), tuple(rows))

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

    def triples(self, note: Callable[[TripleNode], None], *, paths: bool = True) -> None:
        """Read triples as far as they go."""
        while self.key in _SUBJECTS:
            self.same_subject(note, paths=paths)
            if not self.accept("."):
                return

    def same_subject(self, note: Callable[[TripleNode], None], *, paths: bool = True) -> None:
        """Read a subject with what is said of it."""
        bracketed = self.key in ("[", "(") and self.following() not in ("]", ")")
        subject = self._node(note, paths)
        if not bracketed or self.key in _VERBS:
            self._properties(subject, note, paths)

    def _properties(self, subject: Term, note: Callable[[TripleNode], None], paths: bool) -> None:
        while True:
            verb = self._verb(paths)
            note(TripleNode(subject, verb, self._node(note, paths)))
            while self.accept(","):
                note(TripleNode(subject, verb, self._node(note, paths)))
            if self.key != ";":
                return
            while self.accept(";"):
                continue
            if self.key not in _VERBS:
                return

    def _node(self, note: Callable[[TripleNode], None], paths: bool) -> Term:
        if self.key == "var":
            return self.variable()
        if self.key == "[":
            return self._described(note, paths)
        if self.key == "(":
            return self._collection(note, paths)
        if self.key not in TERM_KEYS:
            raise self.refused("a term or a variable")
        return self.term()

    def _described(self, note: Callable[[TripleNode], None], paths: bool) -> BNode:
        self.deeper()
        self.expect("[")
        node = self.fresh()
        if self.key != "]":
            self._properties(node, note, paths)
        self.expect("]")
        self.shallower()
        return node

    def _collection(self, note: Callable[[TripleNode], None], paths: bool) -> Term:
        self.deeper()
        self.expect("(")
        first: Term = RDF.nil
        before: BNode | None = None
        while not self.accept(")"):
            node = self.fresh()
            if before is None:
                first = node
            else:
                note(TripleNode(before, RDF.rest, node))
            note(TripleNode(node, RDF.first, self._node(note, paths)))
            before = node
        if before is not None:
            note(TripleNode(before, RDF.rest, RDF.nil))
        self.shallower()
        return first

    # -- paths -------------------------------------------------------------------------------------

    def _verb(self, paths: bool) -> Variable | URIRef | Path:
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

    def _alternatives(self) -> URIRef | Path:
        parts = [self._sequence()]
        while self.accept("|"):
            parts.append(self._sequence())
            self.limit(len(parts), "paths")
        return Path("|", tuple(parts)) if len(parts) > 1 else parts[0]

    def _sequence(self) -> URIRef | Path:
        parts = [self._step()]
        while self.accept("/"):
            parts.append(self._step())
            self.limit(len(parts), "paths")
        return Path("/", tuple(parts)) if len(parts) > 1 else parts[0]

    def _step(self) -> URIRef | Path:
        inverse = self.accept("^")
        found = self._path_primary()
        if self.key in ("*", "+", "?"):
            found = Path(self.advance().key, (found,))
        return Path("^", (found,)) if inverse else found

    def _path_primary(self) -> URIRef | Path:
        if self.accept("!"):
            return Path("!", self._negated())
        if self.key != "(":
            return self._step_name()
        self.deeper()
        self.advance()
        found = self._alternatives()
        self.expect(")")
        self.shallower()
        return found

    def _negated(self) -> tuple[URIRef | Path, ...]:
        if not self.accept("("):
            return (self._one_negated(),)
        parts = []
        while self.key != ")":
            parts.append(self._one_negated())
            if self.key != ")":
                self.expect("|")
        self.advance()
        return tuple(parts)

    def _one_negated(self) -> URIRef | Path:
        return Path("^", (self._step_name(),)) if self.accept("^") else self._step_name()


_FORMS = {
    "SELECT": "SelectQuery",
    "ASK": "AskQuery",
    "CONSTRUCT": "ConstructQuery",
    "DESCRIBE": "DescribeQuery",
}


class QueryParser(Patterns):
    """Reads one query."""

    def query(self) -> QueryNode:
        """Read a query to the end of its text."""
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
    """Read a query."""
    parser = QueryParser(Tokens(text, deadline=deadline), prefixes or {}, base)
    return parser.query(), parser


Operation: TypeAlias = tuple[Any, ...]
"""One step of an update: its kind and what the kind needs, in plain values."""
_Quad: TypeAlias = tuple["Term | None", Any, Any, Any]
_Graphs: TypeAlias = "tuple[tuple[str, ...] | None, tuple[str, ...] | None]"


class UpdateParser(QueryParser):
    """Reads an update."""

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
        """Read all operations."""
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
            note((current, triple.s, triple.p, triple.o))

        self.expect("{")
        while True:
            current = graph
            self.triples(noted, paths=False)
            if not self.accept("GRAPH"):
                break
            current = self.variable_or_iri()
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
