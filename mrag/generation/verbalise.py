"""Plain English sentences for the triples of one subject.

What a predicate says is read from its label: "developed by" becomes "is developed by", "develops" stays,
"has feature" takes a list, and what is left is a noun, "The height of … is …". Terms of RDF, RDFS, OWL,
SKOS and their like have sentences of their own. Where a label is not English, the sentence is a list of
labels and values, which needs no grammar. Other languages have templates in `mrag.generation.wording`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdflib import Literal

from mrag.context.render import Line
from mrag.generation.support.mentions import NAMING
from mrag.generation.wording.expressions import bare, is_expression, of_members
from mrag.generation.wording.phrases import PHRASES, Phrases
from mrag.generation.wording.translated import told_in
from mrag.rdf.terms import OWL, RDF, RDFS, XSD
from mrag.text.grammar import article, join, relation, yes_or_no
from mrag.text.names import split_identifier
from mrag.text.tokens import fold, stem, tokens, words

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_DC = ("http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/")
DESCRIBING = frozenset(
    [
        RDFS + "comment",
        *(base + "description" for base in (*_DC, "http://schema.org/", "https://schema.org/")),
        *(base + "abstract" for base in (_DC[0], "http://dbpedia.org/ontology/")),
        *(_SKOS + name for name in ("definition", "note", "scopeNote")),
    ]
)
"""Properties whose values are prose about their subject."""

_PROSE = words("description desc abstract comment summary definition")
TYPE = RDF + "type"
_OF_CLASSES = {
    RDFS + "subClassOf": "{a s} is a kind of {o}",
    OWL + "equivalentClass": "{a s} is the same as {a o}",
    OWL + "disjointWith": "Nothing is both {a s} and {a o}",
    OWL + "complementOf": "{a s} is anything but {a o}",
}
_OF_PROPERTIES = {
    RDFS + "subPropertyOf": "“{s}” is a narrower way to say “{o}”",
    OWL + "equivalentProperty": "“{s}” means the same as “{o}”",
    OWL + "inverseOf": "“{s}” is the inverse of “{o}”",
    RDFS + "domain": "“{s}” is said of {a o}",
    RDFS + "range": "“{s}” leads to {a o}",
}
_PHRASES = {
    OWL + "sameAs": "is the same as {o}",
    OWL + "differentFrom": "is not the same as {o}",
    _SKOS + "broader": "is narrower than {o}",
    _SKOS + "narrower": "is broader than {o}",
    _SKOS + "related": "is related to {o}",
    _SKOS + "inScheme": "is in the scheme {o}",
    RDFS + "seeAlso": "has more about it at {o}",
    RDFS + "isDefinedBy": "is defined by {o}",
    **dict.fromkeys(NAMING, "is also called {o}"),
}
_WHOLE = (XSD + "decimal", XSD + "double", XSD + "float")
_PLACE = re.compile(r"\{(a s|a o|s|o)\}")
_CUT = 240  # characters of a description that an answer quotes


@dataclass(frozen=True, slots=True)
class VerbalisedSentence:
    """A sentence and the lines it was made of."""

    text: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Clause:
    kind: str  # "phrase" continues a subject, "prose" quotes, "noun" lists values, "whole" stands alone
    text: str
    value: str
    lines: tuple[Line, ...]


def verbalise(
    lines: Sequence[Line],
    *,
    language: str = "en",
    person: bool = False,
    kind: bool = False,
    wanted: frozenset[str] = frozenset(),
) -> list[VerbalisedSentence]:
    """Write sentences for lines that share their subject.

    Args:
        lines: The lines, in the order in which their predicates are to be told.
        language: Language of the sentences; one without templates lists labels and values.
        person: The subject is a person and is not called "it".
        kind: The subject is a class, and its name a common noun.
        wanted: Stems that a long description is quoted for.

    Returns:
        Sentences in order; the first names the subject. Every line is in exactly one of them.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> e = "http://example.org/"
        >>> def line(i, p, o):
        ...     triple = Triple(URIRef(e + "GraphDB"), URIRef(e + p.replace(" ", "")), URIRef(e + o))
        ...     return Line(i, "", triple, e, False, ("GraphDB", p, o))
        >>> lines = [line("t1", "developed by", "Ontotext"), line("t2", "has feature", "SHACL")]
        >>> for told in verbalise(lines):
        ...     print(told.text)
        GraphDB is developed by Ontotext and has the feature SHACL.
    """
    if not lines:
        return []
    name = lines[0].labels[0]
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(str(line.triple.p), []).append(line)
    if language != "en":
        return [_translated(language, part, wanted) for group in groups.values() for part in _alike(group)]
    clauses = [_clause(p, tuple(group), wanted) for p, group in groups.items()]
    if kind and name[:1].islower():
        name = article(name)
    found: list[VerbalisedSentence] = []
    phrases = [c for c in clauses if c.kind == "phrase"]
    parts = [phrases[i : i + 3] for i in range(0, len(phrases), 3)]
    if any(c.kind == "prose" for c in clauses):
        types = [c for c in phrases if str(c.lines[0].triple.p) == TYPE]
        rest = [c for c in phrases if c not in types]
        parts = [types, [c for c in clauses if c.kind == "prose"]]
        parts = [part for part in parts if part] + [rest[i : i + 3] for i in range(0, len(rest), 3)]
    for part in parts:
        subject = name if person or not found else "It"
        text = f"{_starting(subject)} {join([c.text for c in part])}"
        found.append(VerbalisedSentence(_sentence(text), tuple(x for c in part for x in c.lines)))
    nouns = [c for c in clauses if c.kind == "noun"]
    for start in range(0, len(nouns), 3):
        part = nouns[start : start + 3]
        if found and not person:
            texts = [f"its {c.text} {c.value}" for c in part]
        else:
            texts = [
                f"the {c.text} {'of ' + name + ' ' if i == 0 else ''}{c.value}" for i, c in enumerate(part)
            ]
        joined = join(texts)
        found.append(
            VerbalisedSentence(
                _sentence(joined[:1].upper() + joined[1:]), tuple(x for c in part for x in c.lines)
            )
        )
    found.extend(VerbalisedSentence(_sentence(c.text), c.lines) for c in clauses if c.kind == "whole")
    return found


def describes(line: Line) -> bool:
    """Return whether a line holds prose about its subject."""
    if str(line.triple.p) in DESCRIBING:
        return True
    return isinstance(line.triple.o, Literal) and line.labels[1].casefold() in _PROSE


def unquoted(label: str) -> str:
    """Return a literal, as a context shows it, without its quotation marks.

    Example:
        >>> unquoted('"male"'), unquoted('so-called "fan"')
        ('male', 'so-called "fan"')
    """
    return (
        label[1:-1] if len(label) > 2 and label[0] == label[-1] == '"' and '"' not in label[1:-1] else label
    )


def value(line: Line, wanted: frozenset[str] = frozenset()) -> str:
    """Write the object of a line: numbers without empty decimals, prose in quotation marks.

    Args:
        line: The line.
        wanted: Stems that a long text is quoted for.
    """
    label = line.labels[2]
    o = line.triple.o
    if isinstance(o, Literal):
        label = unquoted(label)
        if o.datatype is not None and str(o.datatype) in _WHOLE:
            number = fold(label)
            return number if re.fullmatch(r"-?\d+(?:\.\d+)?", number) else label
        if len(tokens(label)) > 8 and not label.startswith(("http:", "https:")):
            return f"“{_shorten(label, wanted)}”"
    return label


def _alike(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of one predicate by what sentence they go into: each class expression has its own."""
    plain = [line for line in lines if not is_expression(line)]
    return [part for part in (plain, *([x] for x in lines if is_expression(x))) if part]


def _translated(language: str, lines: Sequence[Line], wanted: frozenset[str]) -> VerbalisedSentence:
    values = [_quoted(line, wanted) if describes(line) else value(line, wanted) for line in lines]
    marked = _marked(values, lines, PHRASES.get(language, PHRASES["en"]))
    label = lines[0].labels[1]
    if (parted := _label(lines[0])).casefold() != label.casefold():
        label = parted  # a name from code; the capital of a German noun stays
    text = told_in(language, lines[0], label, values, marked, prose=describes(lines[0]))
    return VerbalisedSentence(_sentence(text), tuple(lines))


def _label(line: Line) -> str:
    return " ".join(split_identifier(line.labels[1]).split()) or "has to do with"


def _quoted(line: Line, wanted: frozenset[str]) -> str:
    said = value(line, wanted)
    return said if said[:1] == "“" else f"“{_shorten(said, wanted)}”"


def _of_schema(template: str, line: Line, shown: str) -> str:
    """Say what an axiom says, with a class expression as what holds of members or in quotation marks."""
    name = line.labels[0]
    if not is_expression(line):
        return _filled(template, {"s": name, "a s": article(name), "o": shown, "a o": article(shown)})
    p = str(line.triple.p)
    if p == RDFS + "subClassOf":
        return of_members(name, shown)
    if p == OWL + "equivalentClass":
        return f"{article(name)} is defined as “{bare(shown)}”"
    quoted = f"“{bare(shown)}”"
    return _filled(template, {"s": name, "a s": article(name), "o": quoted, "a o": quoted})


def _clause(p: str, lines: tuple[Line, ...], wanted: frozenset[str]) -> _Clause:
    label = _label(lines[0])
    values = [value(line, wanted) for line in lines]
    name = lines[0].labels[0]
    if p == TYPE:
        return _Clause("phrase", f"is {_marked([article(v) for v in values], lines)}", "", lines)
    for table in (_OF_CLASSES, _OF_PROPERTIES):
        if p in table:
            texts = [
                _of_schema(table[p], line, v) + _mark([line]) for v, line in zip(values, lines, strict=True)
            ]
            joined = join(texts)
            return _Clause("whole", joined[:1].upper() + joined[1:], "", lines)
    if p in _PHRASES:
        return _Clause("phrase", _filled(_PHRASES[p], {"o": _marked(values, lines)}), "", lines)
    if describes(lines[0]):
        quoted = [_quoted(line, wanted) for line in lines]
        return _Clause("prose", f"is described as {_marked(quoted, lines)}", "", lines)
    if all(str(getattr(line.triple.o, "datatype", "")) == XSD + "boolean" for line in lines):
        return _Clause("phrase", join([yes_or_no(label, v) for v in values]) + _mark(lines), "", lines)
    kind, text = relation(label, len(values) > 1)
    if kind == "noun":
        verb = "are" if len(values) > 1 else "is"
        return _Clause("noun", text, f"{verb} {_marked(values, lines)}", lines)
    if kind == "foreign":
        return _Clause("whole", f"{name} — {label}: {_marked(values, lines)}", "", lines)
    return _Clause("phrase", f"{text} {_marked(values, lines)}", "", lines)


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill in a template at once, so that no value is read as one."""
    return _PLACE.sub(lambda place: values[place[1]], template)


def _marked(values: Sequence[str], lines: Sequence[Line], phrases: Phrases = PHRASES["en"]) -> str:
    """Join values, and say behind which of them reasoning stands."""
    marks = [line.inferred for line in lines]
    if all(marks) and len(marks) > 1:
        return f"{phrases.join(values)} (all inferred)"
    return phrases.join([v + (" (inferred)" if m else "") for v, m in zip(values, marks, strict=True)])


def _mark(lines: Sequence[Line]) -> str:
    return " (inferred)" if all(line.inferred for line in lines) else ""


def _shorten(text: str, wanted: frozenset[str]) -> str:
    """Cut prose to the sentences that hold what is wanted, else to its first, else at a word."""
    text = " ".join(text.split()).replace("“", "‘").replace("”", "’")
    if len(text) > _CUT:
        parts = re.split(r"(?<=[.!?])\s+(?=[^a-z])", text)
        hits = [len(wanted & {stem(t.raw) for t in tokens(part)}) for part in parts]
        first = hits.index(max(hits))
        kept = parts[first]
        for part in parts[first + 1 :]:
            if len(kept) + len(part) >= _CUT:
                break
            kept = f"{kept} {part}"
        text = kept
    if len(text) > _CUT:
        text = text[:_CUT].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return text.removesuffix(".")


def _starting(name: str) -> str:
    return name[:1].upper() + name[1:] if " " in name and name[:1].islower() else name


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else text + "."
