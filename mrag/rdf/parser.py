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
from typing import Any, NamedTuple, TypeAlias, TypeVar

from rdflib import RDF, BNode, Literal, URIRef
from rdflib.term import Variable

from mrag._patterns import compile_pattern
from mrag.errors import QueryRefused, QueryTimeout
from mrag.rdf.queries import term
from mrag.rdf.terms import DEFAULT_PREFIXES, XSD

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
CHECKED = 4096  # After so many tokens a look at the clock
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
_TOKEN = compile_pattern("|".join(f"(?P<{name}>{form})" for name, form in _TERMINALS.items()), re.DOTALL)
_SPACE = compile_pattern(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_LINES = re.compile(r"\r\n?|\n")
_COMMENT = re.compile(r"#[^\r\n]*+")
# An even run of backslashes before it makes the `u` ordinary text.
_CODEPOINT = compile_pattern(r"(?<!\\)((?:\\\\)*+)(?:\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8}))")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_PRINTED = str.maketrans({character: f"\\{name}" for name, character in _ESCAPES.items() if name != "'"})


class SparqlToken(NamedTuple):
    """One terminal."""

    key: str  # A word in upper case, a sign, or the kind of terminal in lower case
    text: str
    """How it is printed; its value is an IRI without brackets, a string's content, a variable's name."""
    value: str
    start: int
    end: int


class Tokens:
    """A text as tokens; the last of them is the end."""

    def __init__(self, text: str, kind: str = "query", deadline: float = math.inf) -> None:
        self.given = text
        self.kind = kind
        self._deadline = deadline
        self.source = text = resolve_codepoints(text.removeprefix("\ufeff"))
        self._words = _WORDS[kind]
        self.tokens: list[SparqlToken] = []
        end = len(text)
        self._scan(_SPACE.match(text).end(), end, self.tokens)  # type: ignore[union-attr]
        self.tokens.append(SparqlToken("end", "", "", end, end))

    def _scan(self, at: int, end: int, into: list[SparqlToken]) -> int:
        """Read the tokens that begin before a place, and return where the next one begins."""
        text, match, skip = self.source, _TOKEN.match, _SPACE.match
        while at < end:
            terminal = match(text, at)
            if terminal is None:
                raise self._unknown(at)
            into.append(self._token(terminal))
            at = skip(text, terminal.end()).end()  # type: ignore[union-attr]
            if not len(into) % CHECKED:
                self.check_time()
        return at

    def check_time(self) -> None:
        """Stop at the deadline."""
        if time.monotonic() > self._deadline:
            what = f"The {self.kind} could not be read before its deadline."
            raise QueryTimeout(what, query=self.given, hint="Make it shorter, or allow more seconds.")

    def print(self, first: int = 0, last: int | None = None, instead: Mapping[int, str] | None = None) -> str:
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

    def refusal(self, what: str, token: SparqlToken | None = None, hint: str | None = None) -> QueryRefused:
        """Return the error that names what is not allowed, and where it stands."""
        where = "." if token is None else f", at {self.place(token)}."
        return QueryRefused(what + where, query=self.given, hint=hint)

    def as_less_than(self, number: int) -> None:
        """Read a token that looks like an IRI as the sign `<` and what follows.

        `?a<?b&&?c>?d` holds no IRI, though the longest match (section 19.8) says so; engines read it as
        two comparisons, and so do people.
        """
        start = self.tokens[number].start
        parts = [SparqlToken("<", "<", "", start, start + 1)]
        at = self._scan(start + 1, self.tokens[number].end, parts)
        rest = number + 1
        while self.tokens[rest].start < at and self.tokens[rest].key != "end":
            rest += 1
        self.tokens[number:rest] = parts

    def _token(self, match: re.Match[str]) -> SparqlToken:
        kind, text = match.lastgroup, match[0]
        start, end = match.span()
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
            value = _ESCAPE.sub(self._unescape, value)
        return SparqlToken("string", f'"{value.translate(_PRINTED)}"', value, start, end)

    def _unescape(self, match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise self.refusal(f"No such escape in a string: {match[0]!r}")
        return _ESCAPES[match[1]]

    def _not_allowed(self, key: str, text: str, token: SparqlToken) -> QueryRefused:
        if key in CALLING:
            what, hint = "SERVICE is not allowed: a query may not call other servers", "Load that data here."
            return self.refusal(what, hint=hint)
        if key in WRITING:
            return self.refusal(f"Not a SPARQL query: {key} belongs to an update", hint=EXPECTED["query"])
        return self.refusal(f"Not a SPARQL {self.kind}: unknown word {text!r}", token, EXPECTED[self.kind])

    def _unknown(self, at: int) -> QueryRefused:
        token = SparqlToken("", "", "", at, at)
        what = "a string that does not end" if self.source[at] in "\"'" else repr(self.source[at])
        return self.refusal(f"Not a SPARQL {self.kind}: {what}", token)

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


T = TypeVar("T")
Term: TypeAlias = "URIRef | Literal | BNode | Variable"


@dataclass(frozen=True, slots=True)
class Path:
    """A property path (section 9.1)."""

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
class BlockNode:
    """One or several groups: `optional`, a `union`, `minus`, `exists` or `not exists`."""

    kind: str
    groups: tuple[GroupNode, ...]


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
    """What it does (`distinct`, `select`, `group by`, …), its first token and the one behind it."""


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A query."""

    form: str
    select: SelectNode
    template: tuple[TripleNode, ...] = ()
    graphs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


Expression: TypeAlias = "Term | CallNode | BlockNode"
Node: TypeAlias = (
    "TripleNode | Path | CallNode | GroupNode | BlockNode | GraphNode | FilterNode | BindNode | ValuesNode "
    "| Item | SelectNode | QueryNode"
)

_INSIDE: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Path: lambda n: n.parts,
    TripleNode: lambda n: (n.s, n.p, n.o),
    CallNode: lambda n: n.arguments,
    GroupNode: lambda n: n.parts,
    BlockNode: lambda n: n.groups,
    GraphNode: lambda n: (n.name, n.group),
    FilterNode: lambda n: (n.condition,),
    BindNode: lambda n: (n.expression, n.variable),
    ValuesNode: lambda n: n.variables,
    Item: lambda n: (n.expression, n.variable) if n.variable is not None else (n.expression,),
    SelectNode: lambda n: (*(n.projection or ()), n.where, *n.modifiers, *((n.values,) if n.values else ())),
    QueryNode: lambda n: (n.select, *n.template),
}
KINDS = frozenset(_INSIDE)  # All kinds of nodes
_TERMS = frozenset((URIRef, Literal, BNode, Variable))


def inside(node: Node) -> tuple[Any, ...]:
    """Return the nodes and terms right below a node, in the order in which they stand."""
    fields = _INSIDE.get(type(node))
    if fields is None:
        raise TypeError(f"{type(node).__name__} is no kind of node that may be read.")
    return fields(node)


def walk(node: Node) -> Iterator[Any]:
    """Yield a node and all below it, without the terms, in the order in which they stand."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if type(item) in _TERMS:
            continue
        yield item
        stack.extend(reversed(inside(item)))


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
        case BlockNode("minus" | "exists" | "not exists"):
            parts = ()
        case TripleNode() | GroupNode() | BlockNode() | GraphNode() | ValuesNode():
            parts = inside(node)
        case BindNode():
            parts = (node.variable,)
        case _:
            parts = ()
    return {name: None for part in parts for name in visible(part)}


_DEEPEST = 100
_LONGEST = 2_000  # Engines work through long rows by recursion, and overflow their stacks
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
        self.graphs: list[str] = []
        self.named: list[str] = []
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
        tokens = self.tokens.tokens
        return tokens[min(self.at + 1, len(tokens) - 1)].key

    def advance(self) -> SparqlToken:
        """Go on, and return the token that was next."""
        token = self.tokens.tokens[self.at]
        if token.key != "end":
            self.at += 1
            if not self.at % CHECKED:
                self.tokens.check_time()
            self.key = self.tokens.tokens[self.at].key
        return token

    def behind(self) -> TokenCursor:
        """Go over the next token, and return this cursor."""
        self.advance()
        return self

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
                raise self.refusal(_NAMES.get(key, key))
            token = self.advance()
        return token

    def refusal(self, expected: str, hint: str | None = None) -> QueryRefused:
        """Return the error that says what should stand here."""
        name = f"{self.token.text!r}" if self.key != "end" else "the end"
        what = f"Not a SPARQL {self.tokens.kind}: expected {expected} but found {name}"
        if self.tokens.source.startswith("<<", self.token.start):
            what = "Triples inside triples (RDF-star, RDF 1.2) cannot be asked for"
            hint = "What is loaded has them described: by rdf:subject, rdf:predicate and rdf:object."
        return self.tokens.refusal(what, self.token, hint)

    def deeper(self) -> None:
        """Note that something opens here."""
        self._depth += 1
        if self._depth > _DEEPEST:
            hint = f"At most {_DEEPEST} brackets may be open at once."
            raise self.tokens.refusal("The text is nested too deeply", self.token, hint)

    def limit(self, count: int, what: str) -> None:
        """Refuse more of something in a row than an engine can take."""
        if count > _LONGEST:
            hint = "Put the terms into VALUES or IN."
            raise self.tokens.refusal(f"More than {_LONGEST} {what} in a row", self.token, hint)

    def shallower(self) -> None:
        """Note that what opened last is closed."""
        self._depth -= 1

    def prologue(self) -> None:
        """Read declarations of prefixes and bases (section 4.1)."""
        while self.key in ("BASE", "PREFIX"):
            if self.advance().key == "BASE":
                self._base = str(self._resolve(self.expect("iri").value))
                continue
            name = self.expect("pname")
            prefix, _, local = name.value.partition(":")
            if local:
                raise self.refusal(f"{prefix}: alone")
            self._declared[prefix] = str(self._resolve(self.expect("iri").value))
            self._names.clear()

    def variable(self) -> Variable:
        """Read a variable."""
        return Variable(self.expect("var").value)

    def iri(self) -> URIRef:
        """Read an IRI or a prefixed name."""
        if self.key == "iri":
            return self._resolve(self.advance().value)
        if self.key != "pname":
            raise self.refusal("an IRI")
        token = self.advance()
        known = self._names.get(token.value)
        if known is None:
            known = self._names[token.value] = self._expand(token)
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
                raise self.refusal("a number right behind the sign")
            return self._number(sign.key)
        if self.key in NUMBERS:
            return self._number()
        if self.key != "string":
            raise self.refusal("a term")
        text = self.advance().value
        if self.key == "lang":
            return self._check(text, language=self.advance().value)
        if self.accept("^^"):
            return self._check(text, datatype=self.iri())
        return Literal(text)

    def fresh(self) -> BNode:
        """Return a blank node without a label."""
        self._blank += 1
        # No label of a text begins with a dot.
        return BNode(f".{self._blank}")

    def _number(self, sign: str = "") -> Literal:
        token = self.advance()
        return Literal(sign + token.text, datatype=_NUMBERS[token.key], normalize=False)

    def _check(self, text: str, language: str | None = None, datatype: URIRef | None = None) -> Literal:
        try:
            return Literal(text, lang=language, datatype=datatype, normalize=False)
        except ValueError as error:
            raise self.tokens.refusal(f"Not a literal: {error}") from error

    def _expand(self, token: SparqlToken) -> URIRef:
        prefix, _, local = token.value.partition(":")
        namespace = self._declared.get(prefix)
        if namespace is None:
            namespace = self._known.get(prefix)
            if namespace is None:
                hint = f"Put `PREFIX {prefix}: <…>` before the query."
                raise self.tokens.refusal(f"The prefix {prefix}: is not declared", token, hint)
            self.undeclared[prefix] = None
        return URIRef(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local))

    def _resolve(self, value: str) -> URIRef:
        if self._base is None or _SCHEME.match(value):
            return URIRef(value)
        return URIRef(value, base=self._base)


def parse_query(
    text: str, prefixes: Mapping[str, str] | None = None, base: str | None = None, deadline: float = math.inf
) -> tuple[QueryNode, TokenCursor]:
    """Read a query to the end of its text, and return its tree and the cursor with its tokens."""
    cursor = TokenCursor(Tokens(text, deadline=deadline), prefixes or {}, base)
    cursor.prologue()
    if cursor.key not in _FORMS:
        raise cursor.refusal("SELECT, ASK, CONSTRUCT or DESCRIBE", EXPECTED["query"])
    form, read = _FORMS[cursor.key]
    select, template = read(cursor)
    cursor.expect("end")
    return QueryNode(form, select, template, tuple(cursor.graphs), tuple(cursor.named)), cursor


_Form: TypeAlias = tuple[SelectNode, tuple[TripleNode, ...]]


def _read_select(cursor: TokenCursor, *, outermost: bool = True) -> _Form:
    cursor.expect("SELECT")
    steps: list[tuple[str, int, int]] = []
    if cursor.key in ("DISTINCT", "REDUCED"):
        cursor.advance()
        steps.append(("distinct", cursor.at, cursor.at))
    star = cursor.at
    projection = None if cursor.accept("*") else _read_projection(cursor)
    steps.append(("select", star, cursor.at))
    if outermost:
        _read_dataset(cursor)
    cursor.accept("WHERE")
    select = _read_modifiers(cursor, projection, _read_group(cursor), steps)
    if projection is None and outermost and (names := visible(select)):
        # Engines order the columns of * as they like; readers expect the order of the query.
        cursor.tokens.spell(star, " ".join(f"?{name}" for name in names))
    return select, ()


def _read_ask(cursor: TokenCursor) -> _Form:
    cursor.advance()
    _read_dataset(cursor)
    cursor.accept("WHERE")
    return _read_modifiers(cursor, None, _read_group(cursor)), ()


def _read_construct(cursor: TokenCursor) -> _Form:
    cursor.advance()
    if cursor.key == "{":
        template = _read_template(cursor)
        _read_dataset(cursor)
        cursor.accept("WHERE")
        where = _read_group(cursor)
    else:
        _read_dataset(cursor)
        cursor.expect("WHERE")
        first = cursor.at
        template = _read_template(cursor)
        where = GroupNode(template, first, cursor.at - 1)
    return _read_modifiers(cursor, None, where), template


def _read_describe(cursor: TokenCursor) -> _Form:
    cursor.advance()
    items: list[Item] = []
    if not cursor.accept("*"):
        items.append(Item(cursor.variable_or_iri()))
        while cursor.key in ("var", "iri", "pname"):
            items.append(Item(cursor.variable_or_iri()))
    _read_dataset(cursor)
    has_group = cursor.accept("WHERE") or cursor.key == "{"
    where = _read_group(cursor) if has_group else GroupNode((), cursor.at, cursor.at)
    return _read_modifiers(cursor, tuple(items) or None, where), ()


_FORMS: dict[str, tuple[str, Callable[[TokenCursor], _Form]]] = {
    "SELECT": ("SelectQuery", _read_select),
    "ASK": ("AskQuery", _read_ask),
    "CONSTRUCT": ("ConstructQuery", _read_construct),
    "DESCRIBE": ("DescribeQuery", _read_describe),
}


def _read_template(cursor: TokenCursor) -> tuple[TripleNode, ...]:
    triples: list[TripleNode] = []
    cursor.expect("{")
    _read_triples(cursor, triples.append)
    cursor.expect("}")
    return tuple(triples)


def _read_dataset(cursor: TokenCursor) -> None:
    while cursor.accept("FROM"):
        target = cursor.named if cursor.accept("NAMED") else cursor.graphs
        number = cursor.at
        graph = cursor.iri()
        target.append(str(graph))
        # What was judged is what runs: the engine may resolve a relative name in another way.
        cursor.tokens.replace(number, graph)


def _read_projection(cursor: TokenCursor) -> tuple[Item, ...]:
    items: list[Item] = []
    while True:
        if cursor.key in AGGREGATES or cursor.key in FUNCTIONS:
            raise cursor.refusal(
                "a variable, or an expression in brackets with a name",
                f"SPARQL 1.1 wants brackets and a name: SELECT ({cursor.key}(?x) AS ?{cursor.key.lower()}) …",
            )
        if cursor.key == "var":
            items.append(Item(cursor.variable()))
        elif cursor.key == "(":
            items.append(_read_named_expression(cursor))
        elif items:
            return tuple(items)
        else:
            raise cursor.refusal("variables or *")
        cursor.limit(len(items), "columns")


def _read_named_expression(cursor: TokenCursor, *, must: bool = True) -> Item:
    cursor.expect("(")
    expression = _read_expression(cursor)
    if must:
        cursor.expect("AS")
    variable = cursor.variable() if must or cursor.accept("AS") else None
    cursor.expect(")")
    return Item(expression, variable)


def _read_modifiers(
    cursor: TokenCursor,
    projection: tuple[Item, ...] | None,
    where: GroupNode,
    steps: Sequence[tuple[str, int, int]] = (),
) -> SelectNode:
    items: list[Item] = []
    steps = list(steps)
    for key, read, what in _MODIFIERS:
        if not cursor.accept(key):
            continue
        if key != "HAVING":
            cursor.expect("BY")
        first = cursor.at
        while (item := read(cursor)) is not None:
            items.append(item)
        if cursor.at == first:
            raise cursor.refusal(what)
        steps.append((f"{key} BY".lower() if key != "HAVING" else "having", first, cursor.at))
    first = cursor.at
    for one, other in (("LIMIT", "OFFSET"), ("OFFSET", "LIMIT")):
        if cursor.accept(one):
            cursor.expect("integer")
            if cursor.accept(other):
                cursor.expect("integer")
    if cursor.at > first:
        steps.append(("slice", first, cursor.at))
    values = _read_values(cursor) if cursor.key == "VALUES" else None
    return SelectNode(projection, where, tuple(items), values, tuple(steps))


def _read_condition(cursor: TokenCursor) -> Item | None:
    starts = cursor.key in ("(", "iri", "pname", "EXISTS", "NOT") or cursor.key in FUNCTIONS | AGGREGATES
    return Item(_read_constraint(cursor)) if starts else None


def _read_key(cursor: TokenCursor) -> Item | None:
    if cursor.key in ("ASC", "DESC"):
        return Item(_read_bracketed(cursor.behind()))
    return Item(cursor.variable()) if cursor.key == "var" else _read_condition(cursor)


def _read_grouping(cursor: TokenCursor) -> Item | None:
    if cursor.key == "(":
        return _read_named_expression(cursor, must=False)
    return Item(cursor.variable()) if cursor.key == "var" else _read_condition(cursor)


_MODIFIERS: tuple[tuple[str, Callable[[TokenCursor], Item | None], str], ...] = (
    ("GROUP", _read_grouping, "what to group by"),
    ("HAVING", _read_condition, "a condition in brackets"),
    ("ORDER", _read_key, "what to order by"),
)


def _read_group(cursor: TokenCursor) -> GroupNode:
    cursor.deeper()
    first = cursor.at
    cursor.expect("{")
    parts: list[Node] = []
    if cursor.key == "SELECT":
        parts.append(_read_select(cursor, outermost=False)[0])
    else:
        may_have_triples = True
        while cursor.key != "}":
            if (read := _READERS.get(cursor.key)) is not None:
                parts.append(read(cursor))
                cursor.accept(".")
                may_have_triples = True
            elif may_have_triples and cursor.key in _SUBJECTS:
                _read_same_subject(cursor, parts.append, paths=True)
                may_have_triples = cursor.accept(".")
            else:
                raise cursor.refusal("a pattern or }" if may_have_triples else "a dot or }")
            cursor.limit(len(parts), "patterns")
    last = cursor.at
    cursor.expect("}")
    cursor.shallower()
    return GroupNode(tuple(parts), first, last)


def _read_groups(cursor: TokenCursor) -> GroupNode | BlockNode:
    groups = _read_row(cursor, _read_group, "UNION", "groups")
    return BlockNode("union", groups) if len(groups) > 1 else groups[0]


def _read_row(
    cursor: TokenCursor, read: Callable[[TokenCursor], T], separator: str, what: str
) -> tuple[T, ...]:
    parts = [read(cursor)]
    while cursor.accept(separator):
        parts.append(read(cursor))
        cursor.limit(len(parts), what)
    return tuple(parts)


def _read_bind(cursor: TokenCursor) -> BindNode:
    item = _read_named_expression(cursor.behind())
    assert item.variable is not None
    return BindNode(item.expression, item.variable)


def _read_values(cursor: TokenCursor) -> ValuesNode:
    cursor.expect("VALUES")
    single = cursor.key == "var"
    if single:
        names = [cursor.variable()]
    else:
        cursor.expect("(")
        names = []
        while not cursor.accept(")"):
            names.append(cursor.variable())
    cursor.expect("{")
    rows: list[tuple[URIRef | Literal | None, ...]] = []
    while not cursor.accept("}"):
        if single:
            rows.append((_read_value(cursor),))
            continue
        token = cursor.expect("(")
        row = []
        while not cursor.accept(")"):
            row.append(_read_value(cursor))
        if len(row) != len(names):
            what = f"A row of VALUES has {len(row)} terms instead of {len(names)}"
            raise cursor.tokens.refusal(what, token)
        rows.append(tuple(row))
    return ValuesNode(tuple(names), tuple(rows))


def _read_value(cursor: TokenCursor) -> URIRef | Literal | None:
    if cursor.accept("UNDEF"):
        return None
    if cursor.key not in TERM_KEYS or cursor.key == "blank":
        raise cursor.refusal("an IRI, a literal or UNDEF")
    return cursor.term()  # type: ignore[return-value]


_READERS: dict[str, Callable[[TokenCursor], Node]] = {
    "{": _read_groups,
    "OPTIONAL": lambda cursor: BlockNode("optional", (_read_group(cursor.behind()),)),
    "MINUS": lambda cursor: BlockNode("minus", (_read_group(cursor.behind()),)),
    "GRAPH": lambda cursor: GraphNode(cursor.behind().variable_or_iri(), _read_group(cursor)),
    "FILTER": lambda cursor: FilterNode(_read_constraint(cursor.behind())),
    "BIND": _read_bind,
    "VALUES": _read_values,
}
_SUBJECTS = TERM_KEYS | {"var", "[", "("}
_VERBS = frozenset(("var", "iri", "pname", "a", "^", "!", "("))
_LOADS_CODE = ("java:",)  # Jena runs a class of this name for a triple pattern
_Note: TypeAlias = Callable[[TripleNode], None]


def _read_triples(cursor: TokenCursor, note: _Note) -> None:
    """Read triples without paths as far as they go, and note each."""
    while cursor.key in _SUBJECTS:
        _read_same_subject(cursor, note, paths=False)
        if not cursor.accept("."):
            return


def _read_same_subject(cursor: TokenCursor, note: _Note, *, paths: bool) -> None:
    bracketed = cursor.key in ("[", "(") and cursor.following() not in ("]", ")")
    subject = _read_node(cursor, note, paths)
    if not bracketed or cursor.key in _VERBS:
        _read_properties(cursor, subject, note, paths)


def _read_properties(cursor: TokenCursor, subject: Term, note: _Note, paths: bool) -> None:
    while True:
        if cursor.key == "var":
            verb: Variable | URIRef | Path = cursor.variable()
        else:
            verb = _read_path(cursor) if paths else _read_property(cursor)
        note(TripleNode(subject, verb, _read_node(cursor, note, paths)))
        while cursor.accept(","):
            note(TripleNode(subject, verb, _read_node(cursor, note, paths)))
        if cursor.key != ";":
            return
        while cursor.accept(";"):
            continue
        if cursor.key not in _VERBS:
            return


def _read_node(cursor: TokenCursor, note: _Note, paths: bool) -> Term:
    if cursor.key == "var":
        return cursor.variable()
    if cursor.key == "[":
        return _read_described(cursor, note, paths)
    if cursor.key == "(":
        return _read_collection(cursor, note, paths)
    if cursor.key not in TERM_KEYS:
        raise cursor.refusal("a term or a variable")
    return cursor.term()


def _read_described(cursor: TokenCursor, note: _Note, paths: bool) -> BNode:
    cursor.deeper()
    cursor.expect("[")
    node = cursor.fresh()
    if cursor.key != "]":
        _read_properties(cursor, node, note, paths)
    cursor.expect("]")
    cursor.shallower()
    return node


def _read_collection(cursor: TokenCursor, note: _Note, paths: bool) -> Term:
    cursor.deeper()
    cursor.expect("(")
    first: Term = RDF.nil
    before: BNode | None = None
    while not cursor.accept(")"):
        node = cursor.fresh()
        if before is None:
            first = node
        else:
            note(TripleNode(before, RDF.rest, node))
        note(TripleNode(node, RDF.first, _read_node(cursor, note, paths)))
        before = node
    if before is not None:
        note(TripleNode(before, RDF.rest, RDF.nil))
    cursor.shallower()
    return first


def _read_property(cursor: TokenCursor) -> URIRef:
    if cursor.accept("a"):
        return RDF.type
    token = cursor.token
    name = cursor.iri()
    if name.lower().startswith(_LOADS_CODE):
        raise cursor.tokens.refusal(f"The property <{name}> may not be used", token)
    return name


def _read_path(cursor: TokenCursor, operator: str = "|") -> URIRef | Path:
    parts = _read_row(cursor, _read_sequence if operator == "|" else _read_step, operator, "paths")
    return Path(operator, parts) if len(parts) > 1 else parts[0]


def _read_sequence(cursor: TokenCursor) -> URIRef | Path:
    return _read_path(cursor, "/")


def _read_step(cursor: TokenCursor) -> URIRef | Path:
    inverse = cursor.accept("^")
    step: URIRef | Path
    if cursor.accept("!"):
        step = Path("!", _read_negated(cursor))
    elif cursor.key == "(":
        cursor.deeper()
        cursor.advance()
        step = _read_path(cursor)
        cursor.expect(")")
        cursor.shallower()
    else:
        step = _read_property(cursor)
    if cursor.key in ("*", "+", "?"):
        step = Path(cursor.advance().key, (step,))
    return Path("^", (step,)) if inverse else step


def _read_negated(cursor: TokenCursor) -> tuple[URIRef | Path, ...]:
    if not cursor.accept("("):
        return (_read_one_negated(cursor),)
    parts = []
    while cursor.key != ")":
        parts.append(_read_one_negated(cursor))
        if cursor.key != ")":
            cursor.expect("|")
    cursor.advance()
    return tuple(parts)


def _read_one_negated(cursor: TokenCursor) -> URIRef | Path:
    return Path("^", (_read_property(cursor),)) if cursor.accept("^") else _read_property(cursor)


_BINDING = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT"), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/", 5),
}
"""How closely the operators bind."""
_COMPARING = 3
_CALLABLE = ("http:", "https:", "urn:")


def _read_expression(cursor: TokenCursor) -> Expression:
    cursor.deeper()
    expression = _read_binary(cursor, 1)
    cursor.shallower()
    return expression


def _read_bracketed(cursor: TokenCursor) -> Expression:
    cursor.expect("(")
    expression = _read_expression(cursor)
    cursor.expect(")")
    return expression


def _read_constraint(cursor: TokenCursor) -> Expression:
    """Read what may stand behind FILTER and HAVING."""
    if cursor.key == "(":
        return _read_bracketed(cursor)
    if cursor.key in ("iri", "pname"):
        return _read_call_by_name(cursor)
    return _read_built_in(cursor, "a condition in brackets")


def _read_binary(cursor: TokenCursor, least: int) -> Expression:
    left = _read_unary(cursor)
    length = 0
    while True:
        if cursor.key == "iri":
            # Behind an operand no IRI can stand, so this is a comparison without white space.
            cursor.tokens.as_less_than(cursor.at)
            cursor.key = cursor.token.key
        binding = _BINDING.get(cursor.key, 0)
        if binding < least:
            return left
        length += 1
        cursor.limit(length, "operators")
        operator = cursor.advance().key
        if operator == "NOT":
            cursor.expect("IN")
            operator = "NOT IN"
        if operator in ("IN", "NOT IN"):
            left = CallNode(operator, (left, *_read_arguments(cursor)))
        else:
            left = CallNode(operator, (left, _read_binary(cursor, binding + 1)))
        if binding == _COMPARING and _BINDING.get(cursor.key) == _COMPARING:
            raise cursor.refusal("no second comparison", "Comparisons do not chain: use && and brackets.")


def _read_unary(cursor: TokenCursor) -> Expression:
    if cursor.key in ("!", "+", "-"):
        cursor.deeper()
        call = CallNode(cursor.advance().key, (_read_unary(cursor),))
        cursor.shallower()
        return call
    if cursor.key == "(":
        return _read_bracketed(cursor)
    if cursor.key == "var":
        return cursor.variable()
    if cursor.key in ("iri", "pname"):
        return _read_call_by_name(cursor) if cursor.following() == "(" else cursor.iri()
    if cursor.key in TERM_KEYS and cursor.key != "blank":
        return cursor.literal()
    return _read_built_in(cursor, "an expression")


def _read_built_in(cursor: TokenCursor, expected: str) -> Expression:
    if cursor.key in ("EXISTS", "NOT"):
        kind = "not exists" if cursor.accept("NOT") else "exists"
        cursor.expect("EXISTS")
        return BlockNode(kind, (_read_group(cursor),))
    if cursor.key in AGGREGATES:
        return _read_aggregate(cursor)
    if cursor.key in FUNCTIONS:
        return CallNode(cursor.advance().key, _read_arguments(cursor))
    raise cursor.refusal(expected)


def _read_call_by_name(cursor: TokenCursor) -> CallNode:
    token = cursor.token
    name = str(cursor.iri())
    if not name.lower().startswith(_CALLABLE):
        # Some engines load code or call databases by functions of other schemes.
        raise cursor.tokens.refusal(f"The function <{name}> may not be called", token)
    return CallNode(name, _read_arguments(cursor))


def _read_arguments(cursor: TokenCursor) -> tuple[Expression, ...]:
    cursor.expect("(")
    cursor.accept("DISTINCT")
    if cursor.accept(")"):
        return ()
    arguments = [_read_expression(cursor)]
    while cursor.accept(","):
        arguments.append(_read_expression(cursor))
    cursor.expect(")")
    return tuple(arguments)


def _read_aggregate(cursor: TokenCursor) -> CallNode:
    name = cursor.advance().key
    cursor.expect("(")
    cursor.accept("DISTINCT")
    if name == "COUNT" and cursor.accept("*"):
        cursor.expect(")")
        return CallNode(name, ())
    argument = _read_expression(cursor)
    if name == "GROUP_CONCAT" and cursor.accept(";"):
        cursor.expect("SEPARATOR", "=", "string")
    cursor.expect(")")
    return CallNode(name, (argument,))


Operation: TypeAlias = tuple[Any, ...]
"""One step of an update: its kind and what the kind needs, in plain values."""
_Quad: TypeAlias = tuple["Term | None", Any, Any, Any]
_Graphs: TypeAlias = "tuple[tuple[str, ...] | None, tuple[str, ...] | None]"


class _Update:
    """An update as far as it has been read."""

    def __init__(self, cursor: TokenCursor, using: _Graphs | None, base: str) -> None:
        self.cursor = cursor
        self.using = using
        self._base = base
        self.prologue = ""
        self.labels: set[str] = set()

    def before(self) -> str:
        return self._base + self.cursor.declarations() + self.prologue

    def refusal(self, what: str, hint: str | None = None) -> QueryRefused:
        return self.cursor.tokens.refusal(what, hint=hint)


def parse_update(
    text: str,
    prefixes: Mapping[str, str] | None = None,
    *,
    using: Sequence[str] = (),
    using_named: Sequence[str] = (),
    base: str | None = None,
) -> tuple[Operation, ...]:
    """Read the operations of an update, in which well-known prefixes need no declaration."""
    cursor = TokenCursor(Tokens(text, "update"), {**DEFAULT_PREFIXES, **(prefixes or {})}, base)
    graphs = (tuple(using), tuple(using_named)) if using or using_named else None
    update = _Update(cursor, graphs, f"BASE {term(base)}\n" if base is not None else "")
    operations: list[Operation] = []
    while True:
        first = cursor.at
        cursor.prologue()
        if cursor.at > first:
            update.prologue += cursor.tokens.print(first, cursor.at) + "\n"
        if cursor.key == "end":
            break
        if cursor.key not in _OPERATIONS:
            raise cursor.refusal("an operation", EXPECTED["update"])
        operations.append(_OPERATIONS[cursor.key](update))
        if not cursor.accept(";"):
            break
    cursor.expect("end")
    return tuple(operations)


def _read_insert(update: _Update) -> Operation:
    if update.cursor.following() != "DATA":
        return _read_modify(update, None)
    update.cursor.expect("INSERT", "DATA")
    quads, text = _read_data(update)
    labels = {term for quad in quads for term in quad if isinstance(term, BNode) and term[0] != "."}
    if shared := labels & update.labels:
        raise update.refusal(f"Two operations use the blank node _:{min(shared)}")
    update.labels |= labels
    return "data", True, text


def _read_delete(update: _Update) -> Operation:
    cursor = update.cursor
    if cursor.following() == "DATA":
        cursor.expect("DELETE", "DATA")
        quads, text = _read_data(update)
        if _has_blank(quads):
            raise update.refusal("Blank nodes cannot be deleted as data")
        return "data", False, text
    if cursor.following() == "WHERE":
        cursor.expect("DELETE", "WHERE")
        first = cursor.at
        deletes = _read_quads(cursor)
        where = f"{update.before()}SELECT * WHERE {_printed_braces(cursor, first)}"
        return _modification(update, where, update.using or (None, None), deletes, [])
    return _read_modify(update, None)


def _read_data(update: _Update) -> tuple[list[_Quad], str]:
    first = update.cursor.at
    quads = _read_quads(update.cursor)
    if any(isinstance(term, Variable) for quad in quads for term in quad):
        raise update.refusal("Data cannot have variables")
    return quads, f"{update.before()}INSERT DATA {_printed_braces(update.cursor, first)}"


def _read_modify(update: _Update, outer: Term | None) -> Operation:
    cursor = update.cursor
    if cursor.key not in ("DELETE", "INSERT"):
        raise cursor.refusal("DELETE or INSERT")
    deletes = _read_quads(cursor, outer) if cursor.accept("DELETE") else []
    inserts = _read_quads(cursor, outer) if cursor.accept("INSERT") else []
    graphs = _read_using(update, outer)
    cursor.expect("WHERE")
    first = cursor.at
    _read_group(cursor)
    where = f"{update.before()}SELECT * WHERE {_printed_braces(cursor, first)}"
    return _modification(update, where, graphs, deletes, inserts)


def _read_using(update: _Update, outer: Term | None) -> _Graphs:
    """Read USING, and return the graphs that the WHERE clause sees."""
    default: list[str] = []
    named: list[str] = []
    while update.cursor.accept("USING"):
        target = named if update.cursor.accept("NAMED") else default
        target.append(str(update.cursor.iri()))
    if update.using is not None:
        if default or named or outer is not None:
            raise update.refusal(
                "The update names its graphs by USING or WITH, and so does the request",
                "Use one of the two (SPARQL 1.1 Protocol, section 2.2.3).",
            )
        return update.using
    if default or named:
        return tuple(default), tuple(named)
    return ((str(outer),), None) if outer is not None else (None, None)


def _modification(
    update: _Update, where: str, graphs: _Graphs, deletes: Sequence[_Quad], inserts: Sequence[_Quad]
) -> Operation:
    if _has_blank(deletes):
        raise update.refusal("What DELETE names cannot have blank nodes", "Use variables.")
    return "modify", where, *graphs, tuple(map(_template, deletes)), tuple(map(_template, inserts))


def _read_quads(cursor: TokenCursor, graph: Term | None = None) -> list[_Quad]:
    """Read triples in braces, those of named graphs among them."""
    quads: list[_Quad] = []
    cursor.expect("{")
    while True:
        triples: list[TripleNode] = []
        _read_triples(cursor, triples.append)
        quads += [(graph, triple.s, triple.p, triple.o) for triple in triples]
        if not cursor.accept("GRAPH"):
            break
        named = cursor.variable_or_iri()
        quads += [(named, triple.s, triple.p, triple.o) for triple in _read_template(cursor)]
        cursor.accept(".")
    cursor.expect("}")
    return quads


def _printed_braces(cursor: TokenCursor, first: int) -> str:
    """Print what has been read since a token; no word of an update can be in it."""
    tokens = cursor.tokens.tokens[first : cursor.at]
    if any(token.key in WRITING or token.key in CALLING for token in tokens):
        raise cursor.tokens.refusal("Operations cannot be nested", tokens[0])
    return cursor.tokens.print(first, cursor.at)


def _read_load(update: _Update) -> Operation:
    cursor = update.cursor.behind()
    silent = cursor.accept("SILENT")
    cursor.iri()
    if cursor.accept("INTO"):
        cursor.expect("GRAPH")
        cursor.iri()
    if silent:
        return ("nothing",)  # it fails in silence
    raise update.refusal(
        "LOAD is not allowed: nothing is fetched from the web",
        "Send the document itself, by POST or PUT to the graph store.",
    )


def _read_clear(update: _Update) -> Operation:
    cursor = update.cursor.behind()
    cursor.accept("SILENT")
    if cursor.key in ("DEFAULT", "NAMED", "ALL"):
        return "clear", cursor.advance().key.lower()
    cursor.expect("GRAPH")
    return "clear", "graph", str(cursor.iri())


def _read_create(update: _Update) -> Operation:
    cursor = update.cursor.behind()
    silent = cursor.accept("SILENT")
    cursor.expect("GRAPH")
    return "create", str(cursor.iri()), silent


def _read_transfer(update: _Update) -> Operation:
    cursor = update.cursor
    kind = cursor.advance().key.lower()
    silent = cursor.accept("SILENT")
    source = _read_graph_or_default(cursor)
    cursor.expect("TO")
    return "transfer", kind, source, _read_graph_or_default(cursor), silent


def _read_graph_or_default(cursor: TokenCursor) -> str | None:
    if cursor.accept("DEFAULT"):
        return None
    cursor.accept("GRAPH")
    return str(cursor.iri())


_OPERATIONS: dict[str, Callable[[_Update], Operation]] = {
    "INSERT": _read_insert,
    "DELETE": _read_delete,
    "WITH": lambda update: _read_modify(update, update.cursor.behind().iri()),
    "LOAD": _read_load,
    **dict.fromkeys(("CLEAR", "DROP"), _read_clear),
    "CREATE": _read_create,
    **dict.fromkeys(("ADD", "MOVE", "COPY"), _read_transfer),
}


def _has_blank(quads: Iterable[_Quad]) -> bool:
    return any(isinstance(term, BNode) for quad in quads for term in quad)


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
