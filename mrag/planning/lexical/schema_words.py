"""The words by which classes and properties of a graph go, and what they mean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log1p
from typing import Final
from typing import Literal as OneOf

from mrag.language.english import (
    CONVERSES,
    DIMENSIONS,
    SPENT,
    TABLES,
    is_done,
    is_empty,
    is_everyday,
    is_past,
    is_role,
    is_whoever,
    positive,
    root,
    synonym_roots,
)
from mrag.language.tokens import (
    PERSON_WORDS,
    VERBS,
    TextToken,
    content,
    fold,
    is_stopword,
    stem,
    words,
    words_in,
)
from mrag.planning.lexical import Candidate, Dimension, Named, NameMention, Way
from mrag.planning.lexical.names import NamedThings
from mrag.planning.schema import WORDS, PropertyInfo, Schema

Voice = OneOf["doer", "done", ""]
"""Where a word leads: from what is done to who does it, from who does it to what is done, or nobody knows."""

_UNITS: Final = {unit: tuple(said.split()) for unit, said in TABLES["unit"]}
"""Units and currencies that names of properties end with, and what a question calls them."""

_COMMENT_WORDS: Final = 3
_VERB_ROOTS: Final = frozenset(root(verb) for verb in VERBS)
_DATES: Final = ({"date"}, {"day"}, {"time"}, {"timestamp"})
"""What a property of dates is called beside a verb."""
_WHERE_OR_WHEN: Final = (*_DATES, *({root(word)} for word in ("year", "place", "location", "city")))
"""What a property is called beside a noun for what happens to everybody: "birth place"."""
_LIVES: Final = frozenset(map(root, ("birth", "death")))
_DEEDS: Final = _VERB_ROOTS | {root("purchase")}


@dataclass(frozen=True)
class SchemaName:
    """A name of a class or a property."""

    kind: Named  # Which it is
    term: str  # Its IRI
    name: str  # The name
    keys: tuple[str, ...]  # Its folded words
    roots: tuple[str, ...]  # Their roots
    inverse: bool = False  # Whether it reads a property from object to subject

    @cached_property
    def weighty(self) -> tuple[str, ...]:
        """Return the roots that carry meaning; all of them where none does."""
        found = tuple(r for k, r in zip(self.keys, self.roots, strict=True) if not is_empty(k))
        if len(found) > 1 and self.kind == "property" and self.keys[-1] in _UNITS:
            found = found[:-1]  # the unit of a `price_eur` is no part of what it is called
        return found or self.roots

    @cached_property
    def voice(self) -> Voice:
        """Return where the name of a property leads."""
        return voice_of(words_in(self.name)) if self.kind == "property" else ""


def voice_of(words: Sequence[str]) -> Voice:
    """Return where words lead that name a relation.

    Example:
        >>> [voice_of(text.split()) for text in ("supplier", "directed by", "supplies", "price")]
        ['doer', 'doer', 'done', '']
    """
    lower = [word.casefold() for word in words]
    if "by" in lower:
        return "doer"
    weighty = [word for word in lower if not is_empty(fold(word))]
    if len(weighty) != 1 or root(weighty[0]) not in _VERB_ROOTS:
        return ""
    word = fold(weighty[0])
    if word.endswith(("er", "or")) and root(word) != word:
        return "doer"
    # A participle leads either way: "who directed it", "directed films".
    return "" if weighty[0].endswith("ed") or word in ("made", "written", "built") else "done"


def _does(word: str, name: SchemaName) -> bool:
    """Return whether a verb says what those do whom a property is called after: "supervises", "supervisor".

    A participle leads either way: "she supervised him", "those supervised by her".
    """
    doer = name.keys[-1]
    if name.kind != "property" or name.voice or len(name.weighty) > 1 or not doer.endswith(("er", "or")):
        return False
    said = fold(word)
    other = not said.startswith(doer) and not said.endswith(("er", "or", "ers", "ors", "ed"))
    return other and root(said) == root(doer) != doer


class SchemaWords:
    """Names of classes and properties, found by all or some of their words."""

    def __init__(self, schema: Schema) -> None:
        self.names = tuple(_names(schema))
        self._by_keys: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_roots: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_weighty: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_bag: defaultdict[frozenset[str], list[int]] = defaultdict(list)
        self._by_root: defaultdict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(self.names):
            self._by_keys[name.keys].append(at)
            self._by_roots[name.roots].append(at)
            self._by_weighty[name.weighty].append(at)
            if len(name.weighty) > 1:
                self._by_bag[frozenset(name.weighty)].append(at)
            for r in dict.fromkeys(name.weighty):
                self._by_root[r].append(at)
        for at, said in _times_of_deeds(schema, self.names):
            for verb in (self.names[at].weighty[0], f"{self.names[at].weighty[0]}e"):
                self._by_bag[frozenset((verb, root(said)))].append(at)
        self._by_unit: defaultdict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(self.names):
            for word in _UNITS.get(name.keys[-1], ()) if name.kind == "property" else ():
                self._by_unit[root(word)].append(at)
        self._said = _comment_words(schema, self._by_root)

    def knows(self, word_root: str) -> bool:
        """Return whether the root of a word is in a name."""
        return word_root in self._by_root

    def names_by(self, roots: tuple[str, ...]) -> bool:
        """Return whether roots are all of a name that carries meaning."""
        return roots in self._by_weighty

    def candidates(self, span: Sequence[TextToken]) -> Iterator[Candidate]:
        """Yield what some words may mean, the same thing perhaps more than once."""
        voice = voice_of([token.raw for token in span])
        last = next((t.raw.lower() for t in reversed(span) if not is_empty(t.key)), "")
        for candidate, name in self._found(span):
            if candidate.kind == "class" and is_done(last) and is_whoever(name.keys[-1], last):
                yield replace(candidate, score=round(0.7 * candidate.score, 4))  # "directed" is no director
            elif candidate.way == "exact":
                yield candidate
            elif _does(last, name):
                yield replace(candidate, inverse=not candidate.inverse)
            elif not voice or not name.voice:
                yield candidate
            else:
                yield replace(candidate, inverse=candidate.inverse != (voice != name.voice))

    def _found(self, span: Sequence[TextToken]) -> Iterator[tuple[Candidate, SchemaName]]:
        keys = tuple(token.key for token in span)
        roots = tuple(self._known(root(token.raw)) for token in span)
        weighty = tuple(r for k, r in zip(keys, roots, strict=True) if not is_empty(k))
        if not weighty or (len(keys) == 1 and keys[0] in WORDS["denials"]):
            return
        for at in self._by_keys.get(keys, ()):
            yield self._candidate(at, 1.0, "exact")
        for at in self._by_roots.get(roots, ()):
            yield self._candidate(at, 0.95, "inflected")
        if is_empty(keys[0]) or (is_empty(keys[-1]) and keys[-1] != "by"):
            return  # the words between them say as much
        for at in self._by_weighty.get(weighty, ()):
            yield self._candidate(at, 0.9, "inflected")
        if is_empty(keys[-1]):
            return
        for at in self._by_bag.get(frozenset(weighty), ()) if len(weighty) > 1 else ():
            # "The number of students enrolled" is the number of enrolled students.
            yield self._candidate(at, 0.85, "inflected")
        yield from self._dated(span, roots[0])
        yield from self._partly(weighty, "tokens", 1.0)
        deed = len(span) == 1 and roots[0] in _DEEDS and not is_role(span[0].raw.rstrip("s"))
        for instead in _with_synonyms(weighty):
            for at in self._by_weighty.get(instead, ()):
                # "Purchased" names no customers, "written" an author.
                if not (deed and PERSON_WORDS & {*self.names[at].keys}) or (
                    self.names[at].kind == "property" and is_done(span[0].raw.lower())
                ):
                    yield self._candidate(at, 0.72, "synonym")
            yield from self._partly(instead, "synonym", 0.8)
        yield from self._otherwise_called(roots[0], keys[0]) if len(span) == 1 else ()

    def _dated(self, span: Sequence[TextToken], verb: str) -> Iterator[tuple[Candidate, SchemaName]]:
        """Yield the properties that say when something was done, or where: "hired" means the hire date."""
        low = span[0].raw.lower()
        beside = _WHERE_OR_WHEN if verb in _LIVES and low != verb else _DATES if is_past(low) else ()
        for at in self._by_root.get(verb, ()) if len(span) == 1 else ():
            if {*self.names[at].weighty} - {verb} in beside:
                yield self._candidate(at, 0.85, "inflected")

    def _otherwise_called(self, said: str, key: str) -> Iterator[tuple[Candidate, SchemaName]]:
        """Yield what verbs of paying, units, and words of comments may mean."""
        for rank, money in enumerate(SPENT.get(said, ())):
            for at in self._by_weighty.get((root(money),), ()):
                yield self._candidate(at, 0.8 - 0.01 * rank, "synonym")
        for at in self._by_unit.get(said, ()):
            yield self._candidate(at, 0.78, "synonym")
        for name in self._said.get(said, ()) if not is_everyday(key) else ():
            yield Candidate(name.kind, name.term, 0.45, name.name, "synonym"), name

    def _known(self, word_root: str) -> str:
        """Return a root with the "e" that an ending has taken from a short word: "hired" is of "hire"."""
        with_e = word_root + "e"
        return with_e if word_root not in self._by_root and with_e in self._by_root else word_root

    def _partly(
        self, roots: tuple[str, ...], way: Way, factor: float
    ) -> Iterator[tuple[Candidate, SchemaName]]:
        for at in self._by_root.get(roots[0], ()):
            weighty = self.names[at].weighty
            if len(weighty) > len(roots) and set(roots) <= set(weighty):
                share = sum(map(self._weight, set(roots))) / sum(map(self._weight, set(weighty)))
                head = 0.1 if weighty[-1] in roots else 0.0
                yield self._candidate(at, factor * (0.45 + 0.3 * share + head), way)

    def _weight(self, word_root: str) -> float:
        return log1p(len(self.names) / max(1, len(self._by_root.get(word_root, ()))))

    def _candidate(self, at: int, score: float, way: Way) -> tuple[Candidate, SchemaName]:
        name = self.names[at]
        return Candidate(name.kind, name.term, round(score, 4), name.name, way, inverse=name.inverse), name


def _with_synonyms(roots: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    table = synonym_roots()
    for at, one in enumerate(roots):
        for other in table.get(one, ()):
            yield (*roots[:at], other, *roots[at + 1 :])


def _times_of_deeds(schema: Schema, names: Sequence[SchemaName]) -> Iterator[tuple[int, str]]:
    """Yield properties called by what was done, with words for the time: the "date of hiring" of `hired`."""
    for at, name in enumerate(names):
        info = schema.properties.get(name.term)
        done = is_past(name.keys[0]) or name.roots[0] in _LIVES  # "born"
        if info is None or name.inverse or len(name.keys) > 1 or not done:
            continue
        years = [int(v) for v in (info.minimum, info.maximum) if v.isdigit()]
        if info.kind == "date":
            yield from ((at, "date"), (at, "day"))
        elif info.kind == "number" and len(years) == 2 and years[0] > 1000 and years[1] < 2200:
            yield at, "year"


def _names(schema: Schema) -> Iterator[SchemaName]:
    for c in schema.classes.values():
        yield from _of("class", c.iri, c.names, False)
    called = {n.lower() for c in schema.classes.values() for n in c.names}
    called |= {n.lower() for p in schema.properties.values() for n in p.names}
    for p in schema.properties.values():
        own = [n for n in _without_total(p.names) if n.lower() not in called]
        yield from _of("property", p.iri, [*p.names, *_without_verb(p.names), *own], False)
        yield from _of("property", p.iri, p.inverse_names, True)
    taken = {name.removesuffix(" of") for name in called}
    for p in schema.properties.values():
        own = [n.lower() for n in (*p.names, *_without_verb(p.names))] if p.kind == "entity" else []
        for name in own:
            others = [o for o in CONVERSES.get(name.removesuffix(" of"), ()) if o not in taken]
            # Whose student somebody is, is the teacher; who has a student is the teacher, too.
            yield from _of("property", p.iri, others, not name.endswith(" of"))


def _without_verb(names: Iterable[str]) -> Iterator[str]:
    """Yield what names of properties say behind a verb that only says that things have it: `hasEngine`."""
    for name in names:
        verb, _, rest = name.partition(" ")
        if verb.casefold() in WORDS["having"] and rest and not is_empty(fold(rest.split()[0])):
            yield rest


def _without_total(names: Iterable[str]) -> Iterator[str]:
    """Yield what numbers are the total of: a `populationTotal` is the population."""
    for name in names:
        rest, _, last = name.rpartition(" ")
        if last.casefold() == "total" and rest and not is_empty(fold(rest.split()[-1])):
            yield rest


def _of(kind: Named, term: str, names: Iterable[str], inverse: bool) -> Iterator[SchemaName]:
    seen = set()
    for name in names:
        words = [word for word in words_in(name) if fold(word)]
        keys = tuple(fold(word) for word in words)
        if keys and keys not in seen:
            seen.add(keys)
            yield SchemaName(kind, term, name, keys, tuple(root(word) for word in words), inverse)


def _affirmed(info: PropertyInfo) -> str:
    """Return what is said of a property; of a flag not what it means where it does not hold."""
    return re.split(r"(?i)\bfalse\b|\b0\s*[=:]", info.comment)[0] if info.flag else info.comment


def _comment_words(schema: Schema, named: defaultdict[str, list[int]]) -> dict[str, list[SchemaName]]:
    """Return what the comments of few things say and no name does."""
    found: defaultdict[str, list[SchemaName]] = defaultdict(list)
    things: list[tuple[Named, str, tuple[str, ...], str]] = [
        *(("class", c.iri, c.names, c.comment) for c in schema.classes.values()),
        *(("property", p.iri, p.names, _affirmed(p)) for p in schema.properties.values()),
    ]
    for kind, term, names, comment in things:
        label = names[0] if names else term
        for r in dict.fromkeys(root(word) for word in words_in(comment) if not is_empty(fold(word))):
            if r not in named and len(r) > 2 and r.isalpha():
                found[r].append(SchemaName(kind, term, label, (r,), (r,)))
    return {r: some for r, some in found.items() if len(some) <= _COMMENT_WORDS}


_PARTS: Final = {said: words(parts) for of, parts in TABLES["extent"] for said in of.split()}
"""What the adjectives of extent may be counted in."""

_COUNTING: Final = frozenset(map(root, WORDS["counting"]))
_SCORE: Final = 0.7


def counted_measures(adjective: str, names: Iterable[SchemaName], schema: Schema) -> list[Dimension]:
    """Return the numbers of parts or units that an adjective of extent may be said of."""
    parts = _PARTS.get(adjective)
    if parts is None:
        return []
    known = frozenset(map(root, parts))
    direction = DIMENSIONS[adjective][0]
    found = list[Dimension]()
    for name in names:
        info = schema.properties.get(name.term) if name.kind == "property" else None
        if info is None or info.kind != "number":
            continue
        things = (schema.classes[c].names for c in info.domains if c in schema.classes)
        owners = {root(w) for called in things for n in called for w in words_in(n)}
        weighty = {r for k, r in zip(name.keys, name.roots, strict=True) if not is_empty(k)}
        if (weighty - _COUNTING) - owners and (weighty - _COUNTING) - owners <= known:
            found.append(Dimension(name.term, _SCORE, direction, name.name))
    return found


_MOST: Final = 12  # Distinct values that a property of codes has at most
_SEXES: Final = {said: sex for sex, forms in TABLES["sex"] for said in forms.split()}
_INITIALS: Final = tuple(words(group) for (group,) in TABLES["initial"])
"""Words of which one letter stands for each, where a property has letters alone."""
_SAYS = r"\s*(?:=|:|->|—|–|\bis\b|\bfor\b|\bmeans\b|\bstands for\b)\s*(?:an?\s+|the\s+)?"
_PHRASE = r"([^\W\d_][\w -]*?)(?=\s*(?:[,;.()/|]|\bor\b|\band\b|$))"


class CodeWords:
    """What the codes of a graph stand for."""

    def __init__(self, schema: Schema, things: NamedThings) -> None:
        self._phrases: dict[tuple[str, ...], dict[str, list[str]]] = {}
        self._before: dict[tuple[str, ...], dict[str, dict[str, list[str]]]] = {}
        self._written = set[str]()
        for iri, values in _few_values(schema, things).items():
            for phrase, value in _told(schema.properties[iri], values):
                words = tuple(content(phrase))
                # "5 (best)" is no word for five: what is best is asked for with it.
                plain = all(positive(word) in (None, word) for word in phrase.lower().split())
                if words and plain:
                    self._written.add(phrase.lower())
                    self._phrases.setdefault(words, {}).setdefault(value, []).append(iri)
                if len(words) > 1 and plain and words[-1] in _class_heads(schema.properties[iri], schema):
                    # Of a "high school" the school is told by its class.
                    found = self._before.setdefault(words[:-1], {}).setdefault(words[-1], {})
                    found.setdefault(value, []).append(iri)

    def mentions(
        self, question: Sequence[TextToken], clear: set[int], exact: set[int]
    ) -> Iterator[NameMention]:
        """Yield what words of a question are written as codes.

        Words that name something as they stand (`exact`) or in another form (`clear`) are left out. What a
        code stands for word for word is rather meant than another form of a name: "delayed" than a delay.
        """
        if not self._phrases:
            return
        low = [w.raw.lower() for w in question]
        stems = [stem(_SEXES.get(word, word)) for word in low]
        for start in range(len(stems)):
            for end in range(min(len(stems), start + 3), start, -1):
                found = self._phrases.get(tuple(stems[start:end]))
                if end < len(stems) and (before := self._before.get(tuple(stems[start:end]))):
                    found = before.get(stems[end], found)
                said = " ".join(low[start:end])
                if not found or (exact if said in self._written else clear).intersection(range(start, end)):
                    continue
                if end - start == 1 and is_stopword(question[start].key):
                    continue
                yield NameMention(
                    start,
                    end,
                    tuple(
                        Candidate("value", value, 0.9, said, "synonym", tuple(iris))
                        for value, iris in sorted(found.items())
                    ),
                )
                break


def _class_heads(info: PropertyInfo, schema: Schema) -> set[str]:
    """Return the stems of the last words of the names of the classes that have a property."""
    kinds = (schema.classes[c] for c in info.domains if c in schema.classes)
    return {stem(name.lower().split()[-1]) for kind in kinds for name in kind.names[:1]}


def _few_values(schema: Schema, things: NamedThings) -> Mapping[str, list[str]]:
    """Return the values of the properties that have few."""
    found = dict[str, list[str]]()
    for n, p in enumerate(things.predicates):
        info = schema.properties.get(p)
        if info is not None and 1 < info.objects <= _MOST and info.kind == "text" and not info.flag:
            found[p] = list(things.values_of(n))
    for iri, info in schema.properties.items():
        if info.kind == "number" and 1 < info.objects <= _MOST and not info.flag:
            # "1 = new, 2 = shipped": what numbers mean is only said there.
            found[iri] = list(dict.fromkeys(re.findall(r"(?<![\w.])(\d{1,3})\s*[=:–]\s*[a-z]", info.comment)))
    return found


def _told(info: PropertyInfo, values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield phrases with the values that stand for them."""
    low = {v.strip().casefold(): v for v in values}
    for sex in ("male", "female"):
        if sex in low:
            yield sex, low[sex]
    # "E economy, B business": only where each value has a word beside it, else it is a sentence.
    beside = all(
        re.search(rf"(?<!\w){re.escape(v)} [a-z][\w-]*\s*(?:[,;.(]|$)", info.comment) for v in values
    )
    for value in values:
        if not 0 < len(value) <= 4:
            continue
        said = re.escape(value)
        for pattern in (
            rf"(?<![\w]){said}(?![\w]){_SAYS}{_PHRASE}",
            rf"\b([^\W\d_][\w-]*) \({said}\)",
            rf"(?<![\w]){said} \(([^\W\d_][\w -]*)\)",
            *((rf"(?<![\w]){said} ([^\W\d_][\w-]*)(?=\s*(?:[,;.()/|]|\bor\b|\band\b|$))",) * beside),
            *((rf"(?<![\w]){said} [^\W\d_][\w-]* \(([^\W\d_][\w -]*)\)",) * beside),
        ):
            for match in re.finditer(pattern, info.comment):
                if len(match[1]) > len(value):
                    yield match[1], value
    letters = {v: low[v] for v in low if len(v) == 1 and v.isalpha()}
    if len(letters) == len(low) > 1:
        for group in _INITIALS:
            of = {word[0]: word for word in sorted(group)}
            # Beside women and men there may be others, with a letter that says nothing by itself.
            known = set(letters) <= set(of) or ("male" in group and set(of) <= set(letters))
            if len(of) == len(group) and known and _fits(info, group):
                yield from ((of[letter], value) for letter, value in letters.items() if letter in of)


def _fits(info: PropertyInfo, group: frozenset[str]) -> bool:
    """Return whether letters of a property may be those of a group of words: "M" and "F" of a gender."""
    names = {w for name in info.names for w in name.lower().split()}
    comment = {w.lower() for w in re.findall(r"[^\W\d_]+", info.comment)}
    sexes = {"gender", "sex"} & names
    return bool(sexes) if "male" in group else bool((names | comment) & (group | WORDS["coded"]))
