"""A schema card: the part of a graph that a question may be about, as tables that fit a prompt."""

from __future__ import annotations

import builtins
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain, count, islice
from typing import Final, TypeAlias
from typing import Literal as OneOf

from rdflib import RDF, Literal, URIRef

from mrag.context.display import Display
from mrag.errors import StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import content, is_stopword, stem
from mrag.language.tokens import tokens as words_of
from mrag.planning.compiler import to_sparql
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.plan import Block, Column, Pattern, Plan, Unknown
from mrag.planning.schema import Kind, PropertyInfo, Schema
from mrag.stores.base import Limits, SelectResult

RULES: Final = (files("mrag") / "planning" / "neural" / "statements.gbnf").read_text(encoding="utf-8")
"""The rules of the grammar of statements that are the same for every card."""
VALUES = 8
"""Values that are told of one column, and of all together, beside those that are listed."""


@dataclass(frozen=True)
class CardColumn:
    """What may be said of the things of a table.

    Attributes:
        name: How it is written.
        property: Its IRI; "" for the label of the thing itself.
        kind: What its values are.
        target: The class of the things it leads to, "" for those without a class; None for other values.
        values: Texts among its values, with the entity of each; "" for a literal.
        listed: Whether these are all of its values, which the card shows; else the question names them.
    """

    name: str
    property: str
    kind: Kind
    target: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    listed: bool = False

    def __str__(self) -> str:
        if self.target is not None:
            return f"{self.name}."
        if self.listed:
            return f"{self.name} {{{', '.join(quoted(text) for text, _ in self.values)}}}"
        return self.name if self.kind == "text" else f"{self.name} {self.kind}"

    @builtins.property
    def is_class(self) -> bool:
        """Return whether its values are the kinds of things that the table has."""
        return self.property == str(RDF.type)

    @builtins.property
    def is_label(self) -> bool:
        """Return whether it stands for the things of the table themselves."""
        return not self.property


@dataclass(frozen=True)
class CardTable:
    """A class with what is said of its members."""

    name: str
    iri: str
    columns: tuple[CardColumn, ...]

    @builtins.property
    def key(self) -> str | None:
        """Return the name of the column that stands for the things themselves, by which they are joined."""
        return next((c.name for c in self.columns if c.is_label), None)

    def column(self, name: str) -> CardColumn | None:
        """Return a column by its name."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class SchemaCard:
    """Tables, in order of their names.

    Attributes:
        tables: The tables.
        words: Words of the question by which texts may be looked for.
    """

    tables: tuple[CardTable, ...]
    words: tuple[str, ...] = ()

    def table(self, name: str) -> CardTable | None:
        """Return a table by its name."""
        return next((t for t in self.tables if t.name == name), None)

    def of(self, iri: str) -> CardTable:
        """Return the table of a class."""
        return next(t for t in self.tables if t.iri == iri)

    def text(self) -> str:
        """Return the tables, one a line; a link shows the table it leads to."""
        return "\n".join(f"{t.name}({', '.join(self._shown(c) for c in t.columns)})" for t in self.tables)

    def _shown(self, column: CardColumn) -> str:
        if column.target is not None:
            other = self.of(column.target)
            return f"{column.name} -> {other.name}{'' if other.key is None else '.' + other.key}"
        return str(column)

    def named(self) -> str:
        """Return the values that the question names, one a line."""
        rows = [
            f"{t.name}.{c.name} = {quoted(value)}"
            for t in self.tables
            for c in t.columns
            if not c.listed
            for value, _ in c.values
        ]
        return "\n".join(rows[:VALUES])


def quoted(text: str) -> str:
    """Return a text as statements write it."""
    return "'" + text.replace("'", "''") + "'"


FEW: Final = 8
"""Most values that are told."""
_LARGE: Final = 200_000
"""Triples from which on a property is not looked through for them."""
_SECONDS: Final = 1.0

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Vocabulary: TypeAlias = Callable[[str], Pairs]
"""Returns the values of a property, or the things of a class: texts, each with an entity or ""."""


def without_vocabulary(iri: str) -> Pairs:
    """Return no values."""
    return ()


def vocabulary_of(kg: KnowledgeGraph, schema: Schema) -> Vocabulary:
    """Return what tells the values of properties of texts, and the things of classes, that have few.

    Args:
        kg: The graph.
        schema: Its schema.
    """

    def few(iri: str) -> Pairs:
        if not iri:
            return ()  # things without a class are not told from others by a query
        info, cls = schema.properties.get(iri), schema.classes.get(iri)
        size = info.objects if info is not None else cls.count if cls is not None else 0
        if not 0 < size <= FEW or (info is not None and info.triples > _LARGE):
            return ()
        return kg.cached(f"few values of {iri}", lambda: _read(kg, schema, iri))

    return few


def _read(kg: KnowledgeGraph, schema: Schema, iri: str) -> Pairs:
    thing, value = Unknown("thing"), Unknown("value")
    told = value if iri in schema.properties else thing
    pattern = Pattern(thing, URIRef(iri), value) if told is value else Pattern(thing, RDF.type, URIRef(iri))
    query = to_sparql(Plan(Block((pattern,)), (Column(told, told.name),), limit=FEW + 1))
    try:
        found = kg.store.bounded(query, kg.dataset(), Limits(_SECONDS, FEW + 1, 1 << 20))
    except StoreError:
        return ()
    assert isinstance(found, SelectResult)
    terms = [term for (term,) in found]
    if len(terms) > FEW:
        return ()
    if told is value:
        return tuple((str(t), "") for t in terms if isinstance(t, Literal) and t.datatype is None)
    display = Display(kg)
    return tuple((display.entity(str(t)), str(t)) for t in terms if isinstance(t, URIRef))


TOKENS = 400
"""About how many tokens a card takes at most."""

_LETTERS = 3
"""Letters of a token, about."""
_TABLES = 6
_LED_TO = 8
"""Tables with those that links of theirs lead to."""
_RELATED = 0.25
"""How much of the weight of the first table another has that a question may be about."""
_LEAST = 0.4
"""The least score of a name by which words touch a class or a property."""
_SURE = 0.6
"""The least score of a name that may be written as a value."""
_LISTED = 90
"""Letters of all values of a column that are listed."""
_KINDS = 12
"""Kinds of things of a table that are listed."""
_DIGITS = 4
"""Digits from which on a number may be a name."""
_EACH = 60
"""Letters of a value at most; what is longer is no name."""
_MOST = 16
"""Classes of a family at most: what has more below it is hardly what a question is about."""


def card_of(
    schema: Schema,
    question: str,
    mentions: Sequence[NameMention],
    *,
    tokens: int = TOKENS,
    vocabulary: Vocabulary = without_vocabulary,
) -> SchemaCard:
    """Return the card of a question: what its words touch first, then what is near to that.

    Args:
        schema: The schema of the graph.
        question: The question.
        mentions: What its words may name, as the lexicon tells.
        tokens: About how many tokens the card may take.
        vocabulary: Tells the values of what has few.

    Example:
        >>> from mrag.planning.schema import ClassInfo
        >>> film = ClassInfo("urn:Film", ("film",), count=2)
        >>> year = PropertyInfo("urn:year", ("year",), kind="number", domains={"urn:Film": 2})
        >>> schema = Schema({"urn:Film": film}, {"urn:year": year}, ())
        >>> print(card_of(schema, "How many films are there?", ()).text())
        film(id, name, year number)
    """
    return _Card(schema, question, mentions, vocabulary).card(tokens * _LETTERS)


class _Card:
    def __init__(
        self, schema: Schema, question: str, mentions: Sequence[NameMention], vocabulary: Vocabulary
    ) -> None:
        self._schema = schema
        self._vocabulary = vocabulary
        self._question = question
        self._families = families(schema)
        self._top = {c: top for top, family in self._families.items() for c in family}
        self._stems = {stem(word) for word in content(question)}
        self._touched: dict[str, float] = {}
        self._values: defaultdict[str, dict[str, str]] = defaultdict(dict)
        found = [c for mention in mentions for c in mention.candidates if c.score >= _LEAST]
        for candidate in sorted(found, key=lambda c: (-c.score, c.term)):
            self._touch(candidate)
        self._names = _unique((c, schema.classes[c].names) for c in self._families)
        # What words of the question name in the schema is not looked for within texts.
        self._said = {
            at
            for m in mentions
            if any(c.kind in ("class", "property") and c.score >= _LEAST for c in m.candidates)
            for at in range(m.start, m.end)
        }

    def _touch(self, candidate: Candidate) -> None:
        """Note what words name; `_values` goes by property, and by class for the names of entities."""
        score = candidate.score
        if candidate.kind in ("class", "property"):
            self._more(candidate.term, score)
        text = candidate.name if candidate.kind == "entity" else candidate.term
        # "40" is rather a number than the name of something.
        fit = 0 < len(text) <= _EACH and text.isprintable() and not (text.isdigit() and len(text) < _DIGITS)
        places = {"value": candidate.properties, "entity": candidate.classes or ("",)}.get(candidate.kind, ())
        for place in places:
            self._more(place, 0.9 * score)
            if fit and score >= _SURE and len(self._values[place]) < VALUES:
                self._values[place].setdefault(text, candidate.term if candidate.kind == "entity" else "")

    def _more(self, term: str, score: float) -> None:
        self._touched[term] = max(score, self._touched.get(term, 0.0))

    def card(self, letters: int) -> SchemaCard:
        ranked = self._ranked()
        while len(ranked) > 1 and 3 * sum(len(self._names[c]) + 4 for c in ranked) > letters:
            ranked.pop()
        columns = {c: list(self._columns(c, ranked)) for c in ranked}
        wanted = sorted(
            ((self._importance(column, ranked.index(c)), c, column) for c in ranked for column in columns[c]),
            key=lambda one: (-one[0], one[1], one[2].name),
        )
        kept: dict[str, dict[CardColumn, CardColumn]] = {c: {} for c in ranked}
        left = letters - sum(len(self._names[c]) + 4 for c in ranked)
        for _, c, column in wanted:
            left -= len(str(column)) + 2
            left -= 0 if column.target is None else len(self._names[column.target]) + 3
            if left < 0:
                break
            kept[c][column] = column
        for _, c, column in wanted:
            if column in kept[c]:
                listed = self._listed(column, c)
                more = len(str(listed)) - len(str(column))
                if more <= left:
                    kept[c][column], left = listed, left - more
        there = sorted((c for c in ranked if kept[c]), key=self._names.__getitem__)
        shown = {
            c: tuple(kept[c][one] for one in columns[c] if one in kept[c] and one.target in (None, *there))
            for c in there
        }
        words = (
            t.raw
            for at, t in enumerate(words_of(self._question))
            if t.raw.isalnum() and not is_stopword(t.key) and at not in self._said
        )
        return SchemaCard(
            tuple(CardTable(self._names[c], c, shown[c]) for c in there),
            tuple(dict.fromkeys(words)),
        )

    def _ranked(self) -> list[str]:
        """Return the classes that the question is about, first the likeliest, and those that link them."""
        weights = {c: self._weight(c) for c in self._families}
        every = sorted(weights, key=lambda c: (-weights[c], c))
        kept = [c for c in every if weights[c] >= _RELATED * weights[every[0]]][:_TABLES]
        linked: defaultdict[str, set[str]] = defaultdict(set)
        for e in self._schema.edges:
            source, target = self._top.get(e.source), self._top.get(e.target)
            if source is not None and target is not None:
                linked[source].add(target)
                linked[target].add(source)
        for c in kept[1:]:
            if not linked[c].intersection(kept):
                # One class between the two is enough: paths follow two links.
                between = (b for b in every if b in linked[c] and linked[b].intersection(kept) - {c})
                kept += [b for b in islice(between, 1) if b not in kept]
        # What tables lead to has at least a name: "who was treated" is a patient of an appointment.
        ends = {(self._top.get(e.source), self._top.get(e.target)) for e in self._schema.edges}
        led_to = [b for a in kept for b in every if (a, b) in ends]
        # Records of two of them relate these, such as the shares that firms have in plants.
        led_to += [b for b in every if sum((b, a) in ends for a in kept) > 1]
        led_to = [b for b in dict.fromkeys(led_to) if b not in kept]
        return [*kept, *islice(led_to, max(0, _LED_TO - len(kept)))]

    def _weight(self, cls: str) -> float:
        """Return how much a question is about a class: by its name, by what is said of it, by neighbours."""
        family = self._families[cls]
        own = max(self._touched.get(c, 0.0) for c in family)
        own_properties = (p for p, info in self._schema.properties.items() if family & info.domains.keys())
        said = [self._touched.get(p, 0.0) for p in own_properties]
        near = [
            self._touched.get(other, 0.0)
            for e in self._schema.edges
            for here, other in ((e.source, e.target), (e.target, e.source))
            if here in family and other not in family
        ]
        size = self._schema.classes[cls].count / (1 + self._schema.triples)
        return own + 0.8 * max(said, default=0.0) + 0.4 * max(near, default=0.0) + 0.05 * size

    def _importance(self, column: CardColumn, rank: int) -> float:
        touched = self._touched.get(column.property, 0.0)
        words = {stem(word) for word in column.name.split("_")}
        said = 0.4 * len(words & self._stems) / len(words)
        link = 0.0
        if column.target is not None:
            touched_there = max(self._touched.get(c, 0.0) for c in self._families[column.target])
            link = 0.4 + 0.4 * touched_there
        named = 0.7 if column.values and not column.listed else 0.5 if column.is_label else 0.0
        return touched + said + link + named + (0.5 if not rank else 0.3 / rank)

    def _columns(self, cls: str, ranked: Sequence[str]) -> Iterator[CardColumn]:
        """Yield the columns of a class: what stands for its things, and its properties."""
        family = self._families[cls]
        own = [i for i in self._schema.properties.values() if family & i.domains.keys()]
        taken: set[str] = set()
        named = _unique(((i.iri, i.names) for i in own), taken)
        yield CardColumn(_unique([("", ("id", f"{self._names[cls]}_id"))], taken)[""], "", "text")
        if "name" not in taken:
            yield CardColumn("name", "", "text", values=self._entities(cls))
            taken.add("name")
        if len(family) > 1:
            name = _unique([(str(RDF.type), ("type", "kind", "class"))], taken)[str(RDF.type)]
            yield CardColumn(name, str(RDF.type), "text", values=self._kinds(cls))
        for info in own:
            name = named[info.iri]
            if info.kind != "entity":
                texts = [*self._values[info.iri].items(), *(self._entities(cls) if name == "name" else ())]
                yield CardColumn(name, info.iri, info.kind, values=tuple(dict(reversed(texts)).items()))
            elif (target := self._end(cls, info, ranked)) is not None:
                yield CardColumn(name, info.iri, "entity", target)

    def _listed(self, column: CardColumn, cls: str) -> CardColumn:
        """Return a column with all its values, where the graph has few."""
        if column.is_class:
            return replace(column, values=self._kinds(cls), listed=True)
        if column.kind != "text" or (column.is_label and column.name != "name"):
            return column
        every = tuple(pair for pair in self._vocabulary(column.property or cls) if pair[0].isprintable())
        fits = every and sum(len(text) for text, _ in every) <= _LISTED
        return replace(column, values=every, listed=True) if fits else column

    def _kinds(self, cls: str) -> tuple[tuple[str, str], ...]:
        """Return the classes of a family below the first: those that the question names, else the largest."""
        known = self._schema.classes
        below = sorted(
            self._families[cls] - {cls}, key=lambda c: (-self._touched.get(c, 0.0), -known[c].count, c)
        )
        below = [c for c in below if c in self._touched] or below
        return tuple({known[c].names[0]: c for c in reversed(below[:_KINDS])}.items())[::-1]

    def _end(self, cls: str, info: PropertyInfo, ranked: Sequence[str]) -> str | None:
        """Return the class that a link of a class leads to: the one that most triples lead to."""
        ends: defaultdict[str, int] = defaultdict(int)
        for e in self._schema.edges:
            if e.property == info.iri and e.source in self._families[cls] and e.target in self._top:
                ends[self._top[e.target]] = max(ends[self._top[e.target]], e.count)
        fit = [c for c in ends if c in ranked]
        return min(fit, key=lambda c: (-ends[c], self._schema.classes[c].count, c), default=None)

    def _entities(self, cls: str) -> tuple[tuple[str, str], ...]:
        return tuple(
            {text: iri for c in sorted(self._families[cls]) for text, iri in self._values[c].items()}.items()
        )


def families(schema: Schema) -> Mapping[str, frozenset[str]]:
    """Return the classes that tables are made of, each with itself and all classes below it.

    Args:
        schema: The schema of a graph.

    Example:
        >>> from mrag.planning.schema import ClassInfo
        >>> dog = ClassInfo("urn:Dog", ("dog",), parents=("urn:Animal",))
        >>> animal = ClassInfo("urn:Animal", ("animal",))
        >>> found = families(Schema({"urn:Animal": animal, "urn:Dog": dog}, {}, ()))
        >>> {top: sorted(family) for top, family in found.items()}
        {'urn:Animal': ['urn:Animal', 'urn:Dog']}
    """
    above = {c: schema.above(c) - {c} for c in schema.classes}
    below: defaultdict[str, set[str]] = defaultdict(set)
    for c, parents in above.items():
        for parent in parents:
            if c not in above.get(parent, ()):
                below[parent].add(c)
    small = {c for c in schema.classes if len(below[c]) < _MOST}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for c in schema.classes:
        tops = [p for p in above[c] if p in small and c in below[p]]
        # The highest of them; of several the one with the most members.
        top = min(tops, key=lambda p: (len(above[p] & small), -schema.classes[p].count, p), default=c)
        found[top if c in small else c].add(c)
    return {c: frozenset(found[c] | {c}) for c in sorted(found)}


def _identifier(name: str) -> str:
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return found if found[:1].isalpha() else f"t_{found}".strip("_")


def _unique(named: Iterable[tuple[str, tuple[str, ...]]], taken: set[str] | None = None) -> Mapping[str, str]:
    """Return a name for each IRI: its first one that no other has, or one with a number."""
    taken = set() if taken is None else taken
    found: dict[str, str] = {}
    for iri, names in named:
        options = [_identifier(name) for name in names] or ["thing"]
        numbered = (f"{options[0]}_{number}" for number in count(2))
        found[iri] = next(name for name in chain(options, numbered) if name not in taken)
        taken.add(found[iri])
    return found


WHETHER: Final = "SELECT EXISTS (SELECT * FROM "
"""How a statement begins that tells whether there is something."""
LINKS = 2
"""Links that a path may follow."""

Asked: TypeAlias = OneOf["anything", "things", "whether"]
"""What a question asks for: what a statement selects first are things or values, or whether there are any."""

_SORTS: Final[Mapping[str, Callable[[CardColumn], bool]]] = {
    "number": lambda c: c.kind == "number",
    "date": lambda c: c.kind == "date",
    "thing": lambda c: c.is_label or c.target is not None,
    "text": lambda c: c.kind == "text" and not (c.is_label or c.is_class),
    "path": lambda c: True,
}
"""Columns that can be compared with each other, and all."""
_ROOTS: Final[Mapping[Asked, tuple[str, ...]]] = {
    "anything": ('root ::= "SELECT " (list | calc)', "first ::= item"),
    "things": ('root ::= "SELECT " list', "first ::= key"),
    "whether": (f'root ::= "{WHETHER}" from where ")"', "first ::= item"),
}


def gbnf(card: SchemaCard, asked: Asked = "anything") -> str:
    """Return the grammar of the statements over a card.

    Rules of several lines have several options; one that needs what the card does not have is left out.

    Args:
        card: The tables.
        asked: What is asked for.

    Example:
        >>> from mrag.planning.neural.card import CardColumn, CardTable
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> print(gbnf(SchemaCard((film,))).splitlines()[0])
        root ::= "SELECT " (list | calc)
    """
    lines = [line.split(" ::= ") for line in (*_ROOTS[asked], *_of_card(card), *RULES.splitlines())]
    while True:
        named = {name for name, _ in lines}
        kept = [[name, said] for name, said in lines if named.issuperset(_names_in(said))]
        if len(kept) == len(lines):
            break
        lines = kept
    rules: defaultdict[str, list[str]] = defaultdict(list)
    for name, said in lines:
        rules[name].append(said)
    return "\n".join(f"{name} ::= {_any(options)}" for name, options in rules.items())


def _names_in(said: str) -> list[str]:
    """Return the rules that a rule needs."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[\d,]*\}', " ", said)
    return re.findall(r"[a-z]\w*", bare)


def _of_card(card: SchemaCard) -> Iterator[str]:
    """Yield the rules of tables, of how they are joined, and of what may be written behind their names."""
    at = {table.iri: number for number, table in enumerate(card.tables)}
    if card.words:
        words = _any(f'"{word}"' for word in card.words)
        yield f'like ::= " LIKE \'" "%"? ({words}) (" " ({words})){{0,2}} "%\'"'
    for table in card.tables:
        n = at[table.iri]
        yield f'table ::= "{table.name}"'
        yield f'cond ::= "{table.name}." cond{n}x{LINKS}'
        for sort in _SORTS:
            yield f'{sort} ::= "{table.name}." {sort}{n}x{LINKS}'
        for column in table.columns:
            sorts = [sort for sort, fits in _SORTS.items() if fits(column)]
            for links in range(LINKS + 1):
                yield from (f'{sort}{n}x{links} ::= "{column.name}"' for sort in sorts)
                yield from (f"cond{n}x{links} ::= {one}" for one in _conditions(card, column))
                if column.target is not None and links:
                    behind = f"{at[column.target]}x{links - 1}"
                    for rule in (*_SORTS, "cond"):
                        yield f'{rule}{n}x{links} ::= "{column.name}." {rule}{behind}'
            if column.target not in (None, table.iri):
                other = card.of(str(column.target))
                if other.key is not None:
                    ends = f"{table.name}.{column.name}", f"{other.name}.{other.key}"
                    same = f'("{ends[0]} = {ends[1]}" | "{ends[1]} = {ends[0]}")'
                    yield from (f'on ::= "{name} ON " {same}' for name in (table.name, other.name))


def _conditions(card: SchemaCard, column: CardColumn) -> Iterator[str]:
    """Yield what may be said of a column."""
    name = column.name
    if not (column.is_class or (column.is_label and name == "name")):
        yield f'"{name} IS " "NOT "? "NULL"'
    if column.kind == "number":
        yield f'"{name}" (op num | " BETWEEN " num " AND " num)'
    elif column.kind == "date":
        yield f'"{name}" (op (day | year) | " BETWEEN " day " AND " day)'
    elif column.kind == "boolean":
        yield f'"{name} = " ("true" | "false" | "1" | "0")'
    elif column.target is not None:
        led_to = card.of(column.target).columns
        if named := [v for c in led_to for v in c.values if v[1] and not c.is_class]:
            yield f'"{name}" {_one_of(named)}'
    elif column.kind == "text":
        if not column.listed:
            yield f'"{name}" like'
        if column.values:
            yield f'"{name}" {_one_of(column.values)}'


def _one_of(values: Iterable[tuple[str, str]]) -> str:
    """Return comparisons with texts: only those that a question names or a column lists, none made up."""
    texts = _any(json.dumps(quoted(text), ensure_ascii=False) for text, _ in values)
    return f'(is ({texts}) | " NOT"? " IN (" ({texts}) (", " ({texts})){{0,3}} ")")'


def _any(options: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(options))
