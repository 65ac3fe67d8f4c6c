"""Ontologies in files that hold no triples, as N-Triples: OWL in XML and other syntaxes, and KB."""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.rdf.namespaces import OWL, RDF, RDFS, XSD

if TYPE_CHECKING:
    from pyhornedowl import PyIndexedOntology

Node: TypeAlias = ox.NamedNode | ox.BlankNode


def named(iri: str) -> ox.NamedNode:
    """Return an IRI as the engine has it."""
    return ox.NamedNode(iri)


class AxiomGraph:
    """Triples in the order they were added, each once, with blank nodes numbered from 1."""

    def __init__(self) -> None:
        self._triples: dict[ox.Triple, None] = {}
        self._blank = 0

    def ntriples(self) -> bytes:
        """Return all triples as N-Triples."""
        return ox.serialize(self._triples, format=ox.RdfFormat.N_TRIPLES) or b""

    def add(self, subject: Node, predicate: str, value: Node | ox.Literal) -> None:
        """Add a triple."""
        self._triples[ox.Triple(subject, named(predicate), value)] = None

    def new(self, kind: str | None = None) -> ox.BlankNode:
        """Return a blank node, of a class if one is given."""
        self._blank += 1
        node = ox.BlankNode(f"b{self._blank}")
        if kind is not None:
            self.add(node, RDF + "type", named(kind))
        return node

    def declared(self, name: ox.NamedNode, kind: str) -> ox.NamedNode:
        """Declare a name, and return it."""
        self.add(name, RDF + "type", named(kind))
        return name

    def class_of(self, predicate: str, value: Node) -> Node:
        """Return an anonymous class, such as a complement."""
        return self.described(self.new(OWL + "Class"), {predicate: value})

    def restriction(self, of: Node, predicate: str, value: Node | ox.Literal) -> Node:
        """Return a restriction on a property."""
        return self.described(self.new(OWL + "Restriction"), {OWL + "onProperty": of, predicate: value})

    def described(self, node: Node, values: Mapping[str, Node | ox.Literal]) -> Node:
        """Add what is said of a node, and return it."""
        for predicate, value in values.items():
            self.add(node, predicate, value)
        return node

    def list_of(self, parts: Sequence[Node]) -> Node:
        """Return the list of some nodes."""
        rest: Node = named(RDF + "nil")
        for part in reversed(parts):
            rest = self.described(self.new(), {RDF + "first": part, RDF + "rest": rest})
        return rest


_LEXER: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<string>"[^"\\]*")
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>>=|<=|[-=+(){}\[\],.;])""",
    re.VERBOSE | re.DOTALL,
)
_END: Final = "the end of the file"


class Token(NamedTuple):
    """A word, string, number or sign, and the line it begins in."""

    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return _END if self.kind == "end" else f'"{self.text}"'


class SourceTokens:
    """The tokens of a file, and how far they have been read."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.at = 0
        self._found: list[Token] = []
        line, at = 1, 0
        while at < len(text):
            match = _LEXER.match(text, at)
            if match is None:
                raise LoadError(f"{text[at]!r} cannot stand here.", file=file, line=line)
            kind = str(match.lastgroup)
            if kind != "skip":
                self._found.append(Token(kind, match[0].strip('"') if kind == "string" else match[0], line))
            line += match[0].count("\n")
            at = match.end()
        self._found.append(Token("end", "", line))

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without reading it, the last one past the end."""
        return self._found[min(self.at + ahead, len(self._found) - 1)]

    def take(self) -> Token:
        """Read a token."""
        token = self.peek()
        self.at += 1
        return token

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        """Return whether a token is one of some words or signs; a string in quotation marks never is."""
        token = self.peek(ahead)
        return token.kind in ("name", "sign") and token.text in texts

    def accepts(self, *texts: str) -> bool:
        """Read a token if it is one of some words or signs, and return whether it was."""
        found = self.sees(*texts)
        self.at += found
        return found

    def expect(self, text: str) -> Token:
        """Read a sign."""
        if not self.sees(text):
            raise self.error(f'"{text}"')
        return self.take()

    def expect_kind(self, *kinds: str, words: str, reserved: Collection[str] = ()) -> Token:
        """Read a token of some kinds that is no reserved word."""
        token = self.peek()
        if token.kind not in kinds or (token.kind == "name" and token.text in reserved):
            raise self.error(words)
        return self.take()

    def error(self, wanted: str) -> LoadError:
        """Return the error that another token was wanted than the next one."""
        token = self.peek()
        return LoadError(f"Expected {wanted}, found {token}.", file=self.file, line=token.line)


NAMES: Final = {
    "ofn": "OWL functional syntax", "owx": "OWL/XML", "omn": "Manchester syntax", "obo": "OBO",
}  # fmt: skip
"""What the notations are called."""

_PLACE: Final = re.compile(r"line_col: (?:Pos\(|Span\(\()\((\d+)|line_col: \w+\(\(?(\d+)")
_BYTE: Final = re.compile(r"Byte(?:Span|Position)\((\d+)")
_ROOT: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?>\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+
    <(?:\w+:)?Ontology(?![^>]*\brdf:(?:about|ID)\b)[\s>]""",
    re.DOTALL | re.VERBOSE,
)
_BLANK: Final = rb"(?:\xef\xbb\xbf)?(?>\s|#[^\n]*\n)*+"
_BEGINNINGS: Final = {
    "ofn": re.compile(_BLANK + rb"(?:Prefix|Ontology)\s*\("),
    "omn": re.compile(_BLANK + rb"(?:Prefix|Ontology):\s"),
    "obo": re.compile(rb"(?:\xef\xbb\xbf)?\s*format-version:"),
    "owx": _ROOT,
}
_HEAD: Final = 1 << 14


def owl_syntax(head: bytes) -> str:
    """Return the notation that a file begins in: `owx`, `ofn`, `omn`, `obo`, or nothing for others."""
    return next((name for name, pattern in _BEGINNINGS.items() if pattern.match(head[:_HEAD])), "")


def convert_owl(text: str, syntax: str, file: str) -> bytes:
    """Return an ontology as N-Triples. Imported ontologies are named, and not read."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES[syntax]} is read by py-horned-owl, which is not installed."
        hint = "pip install mrag[owl], or save the ontology as RDF/XML or Turtle, in Protégé for example."
        raise LoadError(what, file=file, hint=hint) from error
    try:
        ontology = open_ontology_from_string(text, cast(Any, syntax))
        rest = _disjoint(ontology)
        document = ontology.save_to_string("owl")
    except ValueError as error:
        raise _refused(str(error), text, syntax, file) from error
    triples = (quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML))
    return (ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") + rest


def functional(document: str) -> str:
    """Return an ontology of RDF/XML in OWL's functional syntax."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES['ofn']} is written by py-horned-owl, which is not installed."
        raise ConfigError(what, hint="pip install mrag[owl], or use the format rdfxml.") from error
    try:
        ontology = open_ontology_from_string(document, "owl")
        read, text = ontology.save_to_string("owl"), ontology.save_to_string("ofn")
    except ValueError as error:
        raise ConfigError(
            f"The ontology cannot be written in {NAMES['ofn']}.", hint="Use the format rdfxml."
        ) from error
    if lost := max(0, _triples(document) - _triples(read)):
        hint = "Use the format rdfxml."
        raise ConfigError(f"py-horned-owl has no axioms for {lost:,} triples of this ontology.", hint=hint)
    return text


def _triples(document: str) -> int:
    return len({quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML)})


def _disjoint(ontology: PyIndexedOntology) -> bytes:
    """Take axioms that several classes are disjoint out of an ontology, and return them as N-Triples.

    The library writes only the pairs of the first class. Axioms with annotations, or with classes that have
    no names, become one axiom for each pair.
    """
    from pyhornedowl.model import Class, DisjointClasses

    several: list[list[str]] = []
    for found in ontology.get_components():
        axiom = found.component
        if not isinstance(axiom, DisjointClasses) or len(axiom.first) < 3:
            continue
        ontology.remove_component(axiom)
        names = [str(c.first) for c in axiom.first if isinstance(c, Class)]
        if len(names) == len(axiom.first) and not found.ann:
            several.append(names)
            continue
        for pair in combinations(axiom.first, 2):
            ontology.add_component(DisjointClasses(list(pair)), found.ann)
    graph = AxiomGraph()
    for names in sorted(several):
        node = graph.new(OWL + "AllDisjointClasses")
        graph.add(node, OWL + "members", graph.list_of([named(name) for name in names]))
    return graph.ntriples()


def _refused(reason: str, text: str, syntax: str, file: str) -> LoadError:
    line = None
    if place := _PLACE.search(reason):
        line = int(place[1] or place[2])
    elif byte := _BYTE.search(reason):
        line = text.encode()[: int(byte[1])].count(b"\n") + 1
    expected = re.search(r"positives: \[([^\]]{0,500})\]", reason)
    words = f"expected {expected[1]}" if expected else re.sub("^Failed to open ontology: ", "", reason)[:200]
    hint = "Nothing of this load was stored. Mend it there, or save it as Turtle, in Protégé for example."
    return LoadError(f"Not valid {NAMES[syntax]}: {words}.", file=file, line=line, hint=hint)


NAMESPACE: Final = "http://localhost/foo#"
"""Where DL-Learner puts names that are no IRIs."""

_SUBCLASS: Final = ("SUB", "SUBCLASSOF", "SUBCONCEPTOF")
_SOME: Final = ("EXISTS", "SOME")
_ALL: Final = ("ALL", "FORALL")
_NOT: Final = ("NOT", "NEG")
_RESERVED: Final = frozenset(("TOP", "BOTTOM", "AND", "OR", *_SOME, *_ALL, *_NOT, *_SUBCLASS))
_CHARACTERISTICS: Final = {
    "Transitive": "TransitiveProperty", "Functional": "FunctionalProperty", "Symmetric": "SymmetricProperty",
}  # fmt: skip
_PAIRS: Final = {"Inverse": OWL + "inverseOf", "Subrole": RDFS + "subPropertyOf"}
_ENDS: Final = {
    **dict.fromkeys(("DOMAIN", "OPDOMAIN", "OBJECTPROPERTYDOMAIN"), ("domain", False)),
    **dict.fromkeys(("DPDOMAIN", "DATATYPEPROPERTYDOMAIN"), ("domain", True)),
    **dict.fromkeys(("RANGE", "OPRANGE", "OBJECTPROPERTYRANGE"), ("range", False)),
    **dict.fromkeys(("DPRANGE", "DATATYPEPROPERTYRANGE"), ("range", True)),
}
_DATATYPES: Final = {"DOUBLE": "double", "BOOLEAN": "boolean", "INTEGER": "int", "STRING": "string"}
_DEEPEST: Final = 200
"""Concepts nested deeper than this are refused, before Python's stack ends."""


def convert_kb(text: str, file: str) -> bytes:
    """Return a knowledge base of DL-Learner as N-Triples."""
    tokens = SourceTokens(text, file)
    base = KnowledgeBase(tokens)
    while tokens.peek().kind != "end":
        base.statement()
    return base.ntriples()


class KnowledgeBase(AxiomGraph):
    """Statements of a knowledge base, read one after the other."""

    def __init__(self, tokens: SourceTokens) -> None:
        super().__init__()
        self._tokens = tokens

    def statement(self) -> None:
        """Read a statement up to its dot."""
        tokens, first = self._tokens, self._tokens.peek()
        called = first.kind == "name" and tokens.sees("(", ahead=1)
        if called and first.text in _CHARACTERISTICS:
            tokens.at += 2
            self.add(self._property(), RDF + "type", named(OWL + _CHARACTERISTICS[first.text]))
            tokens.expect(")")
        elif called and first.text in _PAIRS:
            tokens.at += 2
            one = self._property()
            tokens.expect(",")
            self.add(one, _PAIRS[first.text], self._property())
            tokens.expect(")")
        elif called and first.text in _ENDS:
            self._end(*_ENDS[first.text])
        elif self._is_bracketed():
            tokens.take()
            self._axiom()
            tokens.expect(")")
        elif not self._assertion():
            self._axiom()
        tokens.expect(".")

    def _end(self, end: str, data: bool) -> None:
        tokens = self._tokens
        tokens.at += 2
        of = self._property(data=data)
        tokens.expect(")")
        tokens.expect("=")
        if data and end == "range":
            if not tokens.sees(*_DATATYPES):
                raise tokens.error(f"one of {', '.join(_DATATYPES)}")
            token = tokens.take()
            self.add(of, RDFS + end, named(XSD + _DATATYPES[token.text]))
        else:
            self.add(of, RDFS + end, self._concept())

    def _is_bracketed(self) -> bool:
        """Return whether what comes is an axiom in brackets, and not a concept."""
        tokens, depth, ahead = self._tokens, 0, 0
        if not tokens.sees("("):
            return False
        found = False
        while tokens.peek(ahead).kind != "end":
            depth += tokens.sees("(", ahead=ahead) - tokens.sees(")", ahead=ahead)
            if depth == 1:
                found = found or tokens.sees("=", *_SUBCLASS, ahead=ahead)
            elif depth == 0:
                return found and tokens.sees(".", ahead=ahead + 1)
            ahead += 1
        return False

    def _assertion(self) -> bool:
        """Read an assertion about a property, if that is what comes, and return whether it was."""
        tokens = self._tokens
        skip = int(tokens.sees(*_NOT))
        name = tokens.peek(skip)
        if name.kind not in ("name", "string") or not tokens.sees("(", ahead=skip + 1):
            return False
        if not tokens.sees(",", ahead=skip + 3):
            return False
        tokens.at += skip
        data = tokens.peek(4).kind == "number" or tokens.sees("true", "false", "TRUE", "FALSE", ahead=4)
        of = self._property(data=data)
        tokens.expect("(")
        subject = self._individual()
        tokens.expect(",")
        value = self._literal() if data else self._individual()
        tokens.expect(")")
        if not skip:
            self.add(subject, of.value, value)
            return True
        target = OWL + ("targetValue" if data else "targetIndividual")
        assertion = {OWL + "sourceIndividual": subject, OWL + "assertionProperty": of, target: value}
        self.described(self.new(OWL + "NegativePropertyAssertion"), assertion)
        return True

    def _axiom(self) -> None:
        """Read a subsumption, an equivalence, or the assertion of a concept."""
        tokens = self._tokens
        left = self._concept()
        if tokens.accepts("("):
            self.add(self._individual(), RDF + "type", left)
            tokens.expect(")")
        elif tokens.accepts("="):
            self.add(left, OWL + "equivalentClass", self._concept())
        elif tokens.accepts(*_SUBCLASS):
            self.add(left, RDFS + "subClassOf", self._concept())
        else:
            raise tokens.error('"=", "SUB" or an individual in brackets')

    def _concept(self, depth: int = 0) -> Node:
        """Read a concept; conjunctions and disjunctions are not mixed without brackets."""
        tokens = self._tokens
        parts = [self._part(depth)]
        sign = tokens.peek()
        while tokens.sees("AND", "OR"):
            if not tokens.accepts(sign.text):
                what = "AND and OR stand side by side."
                hint = "Put one of them in brackets."
                raise LoadError(what, file=tokens.file, line=tokens.peek().line, hint=hint)
            parts.append(self._part(depth))
        if len(parts) == 1:
            return parts[0]
        joined = "intersectionOf" if sign.text == "AND" else "unionOf"
        return self.class_of(OWL + joined, self.list_of(parts))

    def _part(self, depth: int) -> Node:
        tokens, first = self._tokens, self._tokens.peek()
        if depth > _DEEPEST:
            raise LoadError("Concepts are nested too deep.", file=tokens.file, line=first.line)
        if tokens.accepts("TOP"):
            return named(OWL + "Thing")
        if tokens.accepts("BOTTOM"):
            return named(OWL + "Nothing")
        if tokens.accepts(*_NOT):
            return self.class_of(OWL + "complementOf", self._part(depth + 1))
        if tokens.accepts(*_SOME):
            return self._quantify(OWL + "someValuesFrom", depth)
        if tokens.accepts(*_ALL):
            return self._quantify(OWL + "allValuesFrom", depth)
        if tokens.sees(">=", "<="):
            return self._counted(depth)
        if not tokens.sees("("):
            return self.declared(self._name("a concept"), OWL + "Class")
        if (test := self._value()) is not None:
            return test
        tokens.take()
        inner = self._concept(depth + 1)
        tokens.expect(")")
        return inner

    def _quantify(self, predicate: str, depth: int) -> Node:
        of = self._property()
        self._tokens.expect(".")
        return self.restriction(of, predicate, self._part(depth + 1))

    def _counted(self, depth: int) -> Node:
        tokens = self._tokens
        kind = "min" if tokens.take().text == ">=" else "max"
        if tokens.peek().kind != "number" or not tokens.peek().text.isdigit():
            raise tokens.error("a whole number")
        number = tokens.take()
        of = self._property()
        tokens.expect(".")
        filler = self._part(depth + 1)
        count = ox.Literal(number.text, datatype=named(XSD + "nonNegativeInteger"))
        node = self.restriction(of, f"{OWL}{kind}QualifiedCardinality", count)
        return self.described(node, {OWL + "onClass": filler})

    def _value(self) -> Node | None:
        """Read a test of a value in brackets, if that is what comes."""
        tokens = self._tokens
        if not tokens.sees("IS", "HASVALUE", "STRINGVALUE", ahead=2):
            return None
        tokens.take()
        test = tokens.peek(1)
        of = self._property(data=test.text != "HASVALUE")
        tokens.take()
        value: ox.NamedNode | ox.Literal
        if test.text == "HASVALUE":
            value = self._individual()
        elif test.text == "STRINGVALUE":
            value = ox.Literal(tokens.expect_kind("string", words="a text in quotation marks").text)
        elif tokens.sees("TRUE", "FALSE"):
            value = self._literal()
        else:
            raise tokens.error('"TRUE" or "FALSE"')
        tokens.expect(")")
        return self.restriction(of, OWL + "hasValue", value)

    def _individual(self) -> ox.NamedNode:
        return self.declared(self._name("an individual"), OWL + "NamedIndividual")

    def _property(self, *, data: bool = False) -> ox.NamedNode:
        return self.declared(
            self._name("a property"), OWL + ("DatatypeProperty" if data else "ObjectProperty")
        )

    def _literal(self) -> ox.Literal:
        token = self._tokens.take()
        if token.kind == "number":
            return ox.Literal(
                token.text, datatype=named(XSD + ("integer" if token.text.isdigit() else "double"))
            )
        return ox.Literal(token.text.lower(), datatype=named(XSD + "boolean"))

    def _name(self, words: str) -> ox.NamedNode:
        token = self._tokens.expect_kind("name", "string", words=words, reserved=_RESERVED)
        try:
            return named(internal_iri(token.text))
        except ValueError as error:
            raise LoadError(f"{token} makes no IRI.", file=self._tokens.file, line=token.line) from error


def internal_iri(name: str, prefixes: Mapping[str, str] | None = None) -> str:
    """Return the IRI that DL-Learner gives a name."""
    prefix, colon, local = name.partition(":")
    if not colon:
        return NAMESPACE + name
    return (prefixes or {}).get(prefix, prefix + ":") + local


SYNTAXES: Final[Mapping[str, str]] = {
    "kb": "kb", "ofn": "ofn", "fss": "ofn", "owx": "owx", "omn": "omn", "obo": "obo",
}  # fmt: skip
"""Notation by file ending."""

_AMBIGUOUS: Final = ("owl", "xml", "rdf")
"""Endings of RDF/XML that other notations of OWL have as well."""


def syntax_of(path: Path, ending: str, *, gzipped: bool = False) -> str:
    """Return the notation of an ontology that is not RDF, by its ending or how it begins; empty for RDF."""
    if ending not in _AMBIGUOUS:
        return SYNTAXES.get(ending, "")
    try:
        with gzip.open(path) if gzipped else path.open("rb") as stream:
            return owl_syntax(stream.read(1 << 14))
    except (OSError, EOFError):
        return ""


def converted(path: Path, syntax: str, *, gzipped: bool = False) -> bytes:
    """Return an ontology as N-Triples; the last one is kept, because loading reads a file several times."""
    try:
        found = path.stat()
        return _convert(path, syntax, gzipped, (found.st_mtime_ns, found.st_size))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


@lru_cache(maxsize=1)
def _convert(path: Path, syntax: str, gzipped: bool, _: tuple[int, int]) -> bytes:
    content = gzip.decompress(path.read_bytes()) if gzipped else path.read_bytes()
    text = content.decode("utf-8-sig")
    return convert_kb(text, str(path)) if syntax == "kb" else convert_owl(text, syntax, str(path))
