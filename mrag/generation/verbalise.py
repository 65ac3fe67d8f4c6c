"""Plain English sentences for the triples of one subject.

What a predicate says is read from its label: "developed by" becomes "is developed by", "develops" stays,
"has feature" takes a list, and what is left is a noun, "The height of … is …". Terms of RDF, RDFS, OWL,
SKOS and their like have sentences of their own. Where a label is not English, the sentence is a list of
labels and values, which needs no grammar. Other languages have templates (`PHRASES`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdflib import Literal

from mrag._patterns import compile_late
from mrag._tables import tables
from mrag.context.render import Line
from mrag.generation.support.mentions import NAMING, VOCABULARY
from mrag.language.grammar import article, join, relation, yes_or_no
from mrag.language.names import split_identifier
from mrag.language.tokens import PREPOSITIONS, fold, stem, tokens, words
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD

_COUNTS = r"(?:at least|at most|exactly) \d+"
_EXPRESSION = compile_late(
    rf"\(.* (?:and|or) .*\)\Z|one of \(|not |inverse of |.+? (?:some|only|value|self|{_COUNTS})\b", re.DOTALL
)
_RELATED = compile_late(rf"(.+?) ((?:some|only|{_COUNTS}) [^()]+)\Z", re.DOTALL)
_UNTOLD = "something"


def is_expression(line: Line) -> bool:
    """Return whether the object of a line is a class without a name, put in words."""
    return str(line.triple.o).startswith(SKOLEM) and _EXPRESSION.match(line.labels[2]) is not None


def is_empty(line: Line) -> bool:
    """Return whether the object of a line is an unnamed node of which nothing is known."""
    return str(line.triple.o).startswith(SKOLEM) and line.labels[2] == _UNTOLD


def bare(label: str) -> str:
    """Return an expression without brackets around the whole of it."""
    inside = label[1:-1]
    depth = 0
    for c in inside:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return label
    return inside if label[:1] == "(" and label[-1:] == ")" else label


def of_members(name: str, label: str) -> str:
    """Say of the members of a class what an expression says."""
    match = _RELATED.match(label)
    if match:
        kind, text = relation(match[1], several=False)
        # Only what keeps its words can be compared with the line again.
        if (
            kind == "phrase"
            and text in (match[1], f"is {match[1]}")
            and not text.startswith(("has ", "have "))
        ):
            return f"every {name} {text} {match[2]}"
    return f"every {name} meets the condition “{bare(label)}”"


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences of one language."""

    nothing_found: str  # Said where the context is empty
    no_match: str  # Said where nothing in it answers
    sought: str  # Names what was looked for, `{names}`
    nearest: str  # Heading of facts that do not answer
    mentions: str  # Names words of the question that no fact has, `{names}`
    links: str  # Says that no fact links `{s}` to `{names}`
    also: str  # Names further things, `{names}`
    shown: str  # How many values of `{p}` are shown, `{n}` of `{m}`
    least: str  # Says of `{m}` that it is the least
    quotes: tuple[str, str]  # Marks before and behind a quotation
    conjunction: str  # What stands before the last of several
    typed: str = ""  # Says that `{s}` is of the class `{o}`
    kind: str = ""  # Says that the class `{s}` is a kind of `{o}`
    same: str = ""  # Says that two are the same
    apart: str = ""  # Says that nothing is of both classes
    named: str = ""  # Says what `{s}` is also called
    described: str = ""  # Quotes a text on `{s}`
    condition: str = ""  # Says that what is a `{s}` meets a condition
    noun: str = ""  # Gives the values `{o}` of a property `{p}` whose label is a noun
    elides: bool = False  # Whether "de" loses its vowel before another

    def join(self, parts: Sequence[str]) -> str:
        """Join parts as the language does."""
        if self.conjunction == "and":
            return join(parts)
        return f" {self.conjunction} ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)

    def quote(self, text: str) -> str:
        """Return a text in quotation marks."""
        return f"{self.quotes[0]}{text}{self.quotes[1]}"


PHRASES: Mapping[str, Phrases] = {
    language: Phrases(**{**said, "quotes": tuple(said["quotes"])})
    for language, said in tables("generation/phrases.toml").items()
}
"""The languages of answers without a model; in others they list labels and values."""

_PLACEHOLDER = compile_late(r"\{(a s|a o|s|p|o|n|m|names)\}")


def fill(template: str, **values: object) -> str:
    """Fill in a template at once, so that no value is read as one."""
    return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), template)


def caveats() -> str:
    """Return a regular expression of what answers without a model say of themselves."""
    every = []
    for p in PHRASES.values():
        opening, closing = map(re.escape, p.quotes)
        words = rf"(?:(?:, | {p.conjunction} )?{opening}(?:(?!{closing}).)*{closing})+"
        linked = _pattern(p.links, s=".{1,200}", names=".{1,400}")
        every += [*map(re.escape, (p.nothing_found, p.no_match, p.nearest))]
        least = _pattern(p.least, m=r"\d+")
        shown = _pattern(p.shown, p=words, n=r"\d+", m=rf"(?:\d+|{least})")
        every += [*(_pattern(said, names=words) for said in (p.mentions, p.sought)), linked, shown]
    return "|".join(every)


def _pattern(template: str, **places: str) -> str:
    parts = _PLACEHOLDER.split(template)
    return "".join(places[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))


_TEMPLATES: Mapping[str, str] = {**VOCABULARY["templates"], **dict.fromkeys(NAMING, "named")}
_LINKING = PREPOSITIONS | words(
    "von mit zu zum zur auf für aus bei in im an am nach über unter durch um ist hat wird wurde "
    "de du des par avec dans sur pour à au aux en est a sont été "
    "del por con para en al es son fue ha tiene está"
)
"""Words at the beginning or the end of a label that is no noun."""

_DE = compile_late(r"\bde (?=[AEIOUYÀÂÄÉÈÊËÎÏÔÖÙÛÜaeiouyàâäéèêëîïôöùûü])")


def tell(language: str, line: Line, label: str, values: Sequence[str], marked: str, *, prose: bool) -> str:
    """Say what lines of one subject and predicate say, without a full stop."""
    name = line.labels[0]
    phrases = PHRASES.get(language)
    if phrases is None or language == "en":
        return f"{name} — {label}: {marked}"
    kind = _TEMPLATES.get(str(line.triple.p), "")
    if kind in ("kind", "same") and is_expression(line) and len(values) == 1:
        return _elide(phrases, phrases.condition, name, phrases.quote(bare(values[0])))
    if kind:
        return _elide(phrases, getattr(phrases, kind), name, marked)
    if prose:
        return _elide(phrases, phrases.described, name, marked)
    if _is_noun(label):
        return _elide(phrases, phrases.noun, name, marked, label)
    return f"{name} — {label}: {marked}"


def _elide(phrases: Phrases, template: str, name: str, value: str, label: str = "") -> str:
    if phrases.elides and _DE.match(f"de {name}"):
        template = template.replace("de {s}", "d'{s}")
    if phrases.elides and _DE.match(f"de {value}"):
        template = template.replace("de {o}", "d'{o}")
    return fill(template, s=name, o=value, p=label)


def _is_noun(label: str) -> bool:
    """Return whether a label names a property by a noun, in English or another language."""
    parts = label.casefold().split()
    if not parts or parts[0] in _LINKING or parts[-1] in _LINKING:
        return False
    return relation(label, several=False)[0] in ("noun", "foreign")


DESCRIBING = frozenset(VOCABULARY["describing"])  # Properties whose values are prose about their subject

_PROSE = words("description desc abstract comment summary definition")
TYPE = RDF + "type"
_OF_CLASSES: Mapping[str, str] = VOCABULARY["classes"]
_OF_PROPERTIES: Mapping[str, str] = VOCABULARY["properties"]
_PHRASES: Mapping[str, str] = {**VOCABULARY["phrases"], **dict.fromkeys(NAMING, "is also called {o}")}
_WHOLE = (XSD + "decimal", XSD + "double", XSD + "float")
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
    """Write sentences for lines that share their subject."""
    if not lines:
        return []
    name = lines[0].labels[0]
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(str(line.triple.p), []).append(line)
    if language != "en":
        return [_translate(language, part, wanted) for group in groups.values() for part in _alike(group)]
    clauses = [_clause(p, tuple(group), wanted) for p, group in groups.items()]
    if kind and name[:1].islower():
        name = article(name)
    sentences: list[VerbalisedSentence] = []
    phrases = [c for c in clauses if c.kind == "phrase"]
    parts = [phrases[i : i + 3] for i in range(0, len(phrases), 3)]
    if any(c.kind == "prose" for c in clauses):
        types = [c for c in phrases if str(c.lines[0].triple.p) == TYPE]
        rest = [c for c in phrases if c not in types]
        parts = [types, [c for c in clauses if c.kind == "prose"]]
        parts = [part for part in parts if part] + [rest[i : i + 3] for i in range(0, len(rest), 3)]
    for part in parts:
        subject = name if person or not sentences else "It"
        if " " in subject and subject[:1].islower():
            subject = subject[:1].upper() + subject[1:]
        sentences.append(_tell(f"{subject} {join([c.text for c in part])}", part))
    nouns = [c for c in clauses if c.kind == "noun"]
    for start in range(0, len(nouns), 3):
        part = nouns[start : start + 3]
        first, *others = (("its" if sentences and not person else "the", c) for c in part)
        owner = "" if first[0] == "its" else f"of {name} "
        texts = [f"{first[0]} {first[1].text} {owner}{first[1].value}"]
        joined = join([*texts, *(f"{the} {c.text} {c.value}" for the, c in others)])
        sentences.append(_tell(joined[:1].upper() + joined[1:], part))
    return sentences + [_tell(c.text, [c]) for c in clauses if c.kind == "whole"]


def _tell(text: str, clauses: Sequence[_Clause]) -> VerbalisedSentence:
    return VerbalisedSentence(_sentence(text), tuple(line for c in clauses for line in c.lines))


def describes(line: Line) -> bool:
    """Return whether a line holds prose about its subject."""
    if str(line.triple.p) in DESCRIBING:
        return True
    return isinstance(line.triple.o, Literal) and line.labels[1].casefold() in _PROSE


def unquote(label: str) -> str:
    """Return a literal, as a context shows it, without its quotation marks."""
    return (
        label[1:-1] if len(label) > 2 and label[0] == label[-1] == '"' and '"' not in label[1:-1] else label
    )


def value(line: Line, wanted: frozenset[str] = frozenset()) -> str:
    """Write the object of a line: numbers without empty decimals, prose in quotation marks."""
    label = line.labels[2]
    o = line.triple.o
    if isinstance(o, Literal):
        label = unquote(label)
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


def _translate(language: str, lines: Sequence[Line], wanted: frozenset[str]) -> VerbalisedSentence:
    values = [_quote(line, wanted) if describes(line) else value(line, wanted) for line in lines]
    marked = _with_mark(values, lines, PHRASES.get(language, PHRASES["en"]))
    label = lines[0].labels[1]
    if (parted := _label(lines[0])).casefold() != label.casefold():
        label = parted  # a name from code; the capital of a German noun stays
    text = tell(language, lines[0], label, values, marked, prose=describes(lines[0]))
    return VerbalisedSentence(_sentence(text), tuple(lines))


def _label(line: Line) -> str:
    return " ".join(split_identifier(line.labels[1]).split()) or "has to do with"


def _quote(line: Line, wanted: frozenset[str]) -> str:
    said = value(line, wanted)
    return said if said[:1] == "“" else f"“{_shorten(said, wanted)}”"


def _of_schema(template: str, line: Line, shown: str) -> str:
    """Say what an axiom says, with a class expression as what holds of members or in quotation marks."""
    name = line.labels[0]
    if not is_expression(line):
        return fill(template, **{"s": name, "a s": article(name), "o": shown, "a o": article(shown)})
    p = str(line.triple.p)
    if p == RDFS + "subClassOf":
        return of_members(name, shown)
    if p == OWL + "equivalentClass":
        return f"{article(name)} is defined as “{bare(shown)}”"
    quoted = f"“{bare(shown)}”"
    return fill(template, **{"s": name, "a s": article(name), "o": quoted, "a o": quoted})


def _clause(p: str, lines: tuple[Line, ...], wanted: frozenset[str]) -> _Clause:
    label = _label(lines[0])
    values = [value(line, wanted) for line in lines]
    name = lines[0].labels[0]
    if p == TYPE:
        return _Clause("phrase", f"is {_with_mark([article(v) for v in values], lines)}", "", lines)
    for table in (_OF_CLASSES, _OF_PROPERTIES):
        if p in table:
            texts = [
                _of_schema(table[p], line, v) + _mark([line]) for v, line in zip(values, lines, strict=True)
            ]
            joined = join(texts)
            return _Clause("whole", joined[:1].upper() + joined[1:], "", lines)
    if p in _PHRASES:
        return _Clause("phrase", fill(_PHRASES[p], o=_with_mark(values, lines)), "", lines)
    if describes(lines[0]):
        quoted = [_quote(line, wanted) for line in lines]
        return _Clause("prose", f"is described as {_with_mark(quoted, lines)}", "", lines)
    if all(str(getattr(line.triple.o, "datatype", "")) == XSD + "boolean" for line in lines):
        return _Clause("phrase", join([yes_or_no(label, v) for v in values]) + _mark(lines), "", lines)
    kind, text = relation(label, len(values) > 1)
    if kind == "noun":
        verb = "are" if len(values) > 1 else "is"
        return _Clause("noun", text, f"{verb} {_with_mark(values, lines)}", lines)
    if kind == "foreign":
        return _Clause("whole", f"{name} — {label}: {_with_mark(values, lines)}", "", lines)
    return _Clause("phrase", f"{text} {_with_mark(values, lines)}", "", lines)


def _with_mark(values: Sequence[str], lines: Sequence[Line], phrases: Phrases = PHRASES["en"]) -> str:
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


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else text + "."
