"""Whether a plan says all that its question says, and nothing else, however the plan was made.

The check looks at the text of a question, at a plan and at the names of a graph. Each word that carries
meaning, each name and number, and each word that says how to compute has its counterpart in the plan, and what
is told is of the kind that is asked for. What is left over is named, and nothing is given as computed then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rdflib import RDF, Literal, URIRef

from mrag.context.display import Display
from mrag.planning.accounting.used import PlanUse, class_of
from mrag.planning.accounting.words import ASKING, EMPTY, GREATEST, LEAST, LIGHT, MONTHS, NEGATIONS, PLACES, SHARES, TIMES
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.synonyms import CONVERSES, DIMENSIONS, positive, synonym_roots
from mrag.planning.lexical.words import is_done, is_role, root
from mrag.planning.lexicon import Lexicon
from mrag.planning.building.scoring import Reading
from mrag.planning.following.editing import walk
from mrag.planning.plan import Aggregate, Arithmetic, DatePart, Days, Expression, Number, Plan, Unknown
from mrag.planning.reading.numbers import NUMBERS, SCALE, number_of, rank_of, UNITS
from mrag.text.english import AGENTS, PERSON_WORDS, VERBS
from mrag.text.tokens import TextToken, alike, stem, tokens, words_in


@dataclass(frozen=True)
class Verdict:
    """What a plan leaves out of its question, and what it adds to it.

    Attributes:
        missing: Words of the question that have no counterpart in the plan.
        why: For each of them, what it would need.
    """

    missing: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


def account(question: str, plan: Plan, shown: Sequence[str], lexicon: Lexicon) -> Verdict:
    """Return what of a question a plan leaves out."""
    check = _Account(question, PlanUse.of(plan, shown), lexicon)
    found = dict.fromkeys(check.issues())
    return Verdict(tuple(w for w, _ in found), tuple(k for _, k in found))


def accounted(lexicon: Lexicon, question: str, readings: Sequence[Reading]) -> list[Reading]:
    """Return readings, those first that say all that a question says.

    The others name what they leave out; nothing is given as computed by them.

    Args:
        lexicon: The names of the graph.
        question: The question.
        readings: Its readings, likeliest first.
    """
    checked = []
    for reading in readings:
        if reading.features and (reading is readings[0] or reading.probability >= _GIVEN):
            verdict = account(question, reading.plan, reading.shown, lexicon)
            reading = replace(reading, ignored=tuple(dict.fromkeys((*reading.ignored, *verdict.missing))))
        checked.append(reading)
    kept = [r for r, old in zip(checked, readings, strict=True) if r.ignored == old.ignored]
    return kept + [r for r, old in zip(checked, readings, strict=True) if r.ignored != old.ignored]


_GIVEN = 0.6


class _Account:
    def __init__(self, question: str, use: PlanUse, lexicon: Lexicon) -> None:
        self._use, self._lexicon, self._schema = use, lexicon, lexicon.schema
        self._text = question
        self._words: list[TextToken] = tokens(question)
        self._low = [t.raw.lower().removesuffix("'s").removesuffix("’s") for t in self._words]
        self._roots = [root(w) for w in self._low]

    # -- names of the plan -------------------------------------------------------------------------

    def _named(self, iri: str) -> list[str]:
        info = self._schema.properties.get(iri)
        if info is not None:
            return [*info.names, *info.inverse_names]
        cls = self._schema.classes.get(iri)
        return list(cls.names) if cls is not None else []

    @cached_property
    def _labels(self) -> list[str]:
        show = Display(self._lexicon.kg)
        return [show.entity(t) for t in sorted(self._use.things)] + sorted(self._use.texts)

    @cached_property
    def _kin(self) -> set[str]:
        """Classes at the ends of the properties, which need no pattern of their own, and those above."""
        found = set(self._use.classes)
        for place in {x for p in self._use.patterns for x in (p.subject, p.object) if not isinstance(x, Literal)}:
            found |= self._use.kinds(place, self._schema)
        for c in list(found):
            found |= self._schema.above(c)
        return found

    @cached_property
    def _vocabulary(self) -> set[str]:
        names = [n for iri in (*self._use.properties, *self._kin) for n in self._named(iri)]
        return _roots((*names, *self._labels))

    @cached_property
    def _comments(self) -> set[str]:
        infos = [self._schema.properties.get(p) for p in self._use.properties]
        return _roots(i.comment for i in infos if i is not None) if self._use.texts or self._use.numbers else set()

    def _is_in(self, at: int, vocabulary: set[str]) -> bool:
        """Return whether a word is one of some roots, a form of it, or means the same."""
        own = self._roots[at]
        if own in vocabulary or any(s in vocabulary for s in synonym_roots().get(own, ())):
            return True
        word = self._low[at]
        if any(root(c) in vocabulary for c in CONVERSES.get(word, ())):
            return True
        plain = positive(word)
        if plain and any(root(noun) in vocabulary for noun in DIMENSIONS[plain][1].split()):
            return True
        short = stem(word)
        return len(short) > 3 and any(alike(short, v) for v in vocabulary if v[:3] == short[:3])

    # -- issues ------------------------------------------------------------------------------------

    def issues(self) -> Iterator[tuple[str, str]]:
        """Yield words of the question that the plan leaves out, each with what it would need."""
        yield from self._left_over()
        yield from self._numbers()
        yield from self._operators()
        yield from self._kinds()
        yield from self._unshown()
        yield from self._quoted()
        yield from self._columns()
        yield from self._groups()
        yield from self._counted()
        yield from self._unasked()

    def _left_over(self) -> Iterator[tuple[str, str]]:
        open_ = [at for at in range(len(self._words)) if self._carries(at) and not self._is_in(at, self._vocabulary)]
        open_ = [at for at in open_ if not self._is_code(at)]
        if not open_:
            return
        read = self._mentioned
        open_ = [at for at in open_ if at not in read and self._roots[at] not in self._comments]
        for at in open_:
            if self._low[at] in LIGHT and not self._is_called(at):
                continue
            if self._is_deed(at) and self._reasoned:
                continue  # a verb says no more than the relation that other words name
            if self._low[at] in _QUANTITIES and at and self._is_in(at - 1, self._vocabulary):
                continue  # "snatch score", where the graph has a "snatch"
            if not (self._is_apposed(at, read) or self._is_whole(at) or self._is_near(at)):
                yield self._words[at].raw, "word"

    def _is_deed(self, at: int) -> bool:
        """Return whether a word is rather a verb or an adverb than a noun."""
        word, before = self._low[at], self._low[at - 1 : at]
        if word.endswith("ly") and not any(word.startswith(t) for t in ("dai", "week", "month", "year", "quarter", "hour")):
            return True
        return is_done(word) or (word.endswith("ing") and len(word) > 5) or root(word) in _VERB_ROOTS or bool(set(before) & _BEFORE_DEEDS)

    @cached_property
    def _reasoned(self) -> bool:
        """Return whether the question names each relation of the plan, or what is at both of its ends."""
        said = set(self._roots) | {s for r in self._roots for s in synonym_roots().get(r, ())}
        for pattern in self._use.patterns:
            own = str(pattern.predicate)
            if pattern.predicate == RDF.type or own not in self._schema.properties:
                continue
            if _roots(self._named(own)) & said or self._read_as({own}):
                continue
            ends = [self._use.kinds(x, self._schema) for x in (pattern.subject, pattern.object) if not isinstance(x, Literal)]
            if len(ends) < 2 or not all(_roots(n for c in kinds for n in self._named(c)) & said for kinds in ends):
                return False
        return True

    def _is_called(self, at: int) -> bool:
        """Return whether a class or a property of the graph is called so."""
        return any(
            m.start == at and m.end == at + 1 and c.kind in ("class", "property") and c.way in ("exact", "inflected") and c.score > 0.9
            for m in self._matches for c in m.candidates
        )

    def _is_apposed(self, at: int, read: set[int]) -> bool:
        """Return whether a name is told again by what stands in brackets behind it: "Chicago (ORD)"."""
        end = at
        while end + 1 < len(self._words) and self._words[end + 1].raw[:1].isupper() and "(" not in self._between(end + 1):
            end += 1
        return end + 1 < len(self._words) and "(" in self._between(end + 1) and (end + 1 in read or self._is_in(end + 1, self._vocabulary))

    def _between(self, at: int) -> str:
        return self._text[self._words[at - 1].end : self._words[at].start]

    def _is_whole(self, at: int) -> bool:
        """Return whether a word stands for all that the graph is about: "in the league"."""
        low = self._low
        if low[at].endswith("s") or not self._words[at].raw.islower() or any(m.start <= at < m.end and m.candidates[0].way != "meaning" and m.candidates[0].score > 0.6 for m in self._matches):
            return False
        return at > 1 and low[at - 1] in ("the", "our", "this") and low[at - 2] in ("in", "at", "of", "on", "does", "from")

    def _carries(self, at: int) -> bool:
        word, raw = self._low[at], self._words[at].raw
        if word in MONTHS and (self._use.operations or self._use.numbers):
            return False
        if raw[0].isupper() and at and word not in ASKING and len(word) > 1 and word not in ("i",):
            return not raw[1:].islower() or word not in EMPTY
        if word in EMPTY or word in ASKING or word in NEGATIONS or word in SHARES:
            return word == "us" and self._low[at - 1 : at] == ["the"]
        if "n't" in word or "n’t" in word or number_of(self._words[at].key) is not None or word in NUMBERS:
            return False
        if rank_of(word) or word in SCALE or word in GREATEST or word in LEAST:
            return False
        if word in _OPERATING or positive(word) is not None or word in UNITS or word.removesuffix("s") in UNITS:
            return False
        return len(word) > 1

    def _is_code(self, at: int) -> bool:
        """Return whether the plan has a short code that a word begins with: "M" for men."""
        word = self._low[at]
        return any(len(t) < 4 and t and (word.startswith(t.lower()) or word in _SEXES.get(t.lower(), ())) for t in self._use.texts)

    @cached_property
    def _matches(self) -> list[NameMention]:
        return self._lexicon.match(self._words)

    def _read_as(self, used: set[str]) -> set[int]:
        """Return the places of words that name something of what is used."""
        lower = {u.lower() for u in self._use.texts & used}
        return {
            i
            for m in self._matches
            if any(c.term in used or c.term.lower() in lower for c in m.candidates)
            for i in range(m.start, m.end)
        }

    @cached_property
    def _mentioned(self) -> set[int]:
        use = self._use
        return self._read_as(use.properties | use.classes | self._kin | use.things | use.texts)

    def _is_near(self, at: int) -> bool:
        names = {n for iri in (*self._use.properties, *self._use.classes) for n in self._named(iri)[:2]}
        return any(self._lexicon.likeness(self._low[at], n) >= 0.45 for n in names)

    def _numbers(self) -> Iterator[tuple[str, str]]:
        labels = " ".join((*self._labels, *self._use.things, *(n for p in (*self._use.properties, *self._use.classes) for n in self._named(p))))
        digits = set(re.findall(r"\d+", labels))
        for at, token in enumerate(self._words):
            value = number_of(token.key)
            if value is None and self._low[at] in NUMBERS and self._low[at] not in ("one", "zero"):
                value = float(NUMBERS[self._low[at]])
            if value is None or token.raw in digits or self._named_so(at) or self._low[max(0, at - 2) : at] == ["of", "the"]:
                continue
            scale = SCALE.get(self._low[at + 1], 1) if at + 1 < len(self._low) else 1
            wanted = {value * scale * f for f in _FACTORS} | {value * scale / f for f in _FACTORS}
            if 1000 <= value < 2200:
                wanted |= {value - 1, value + 1}  # after 2020 is from 2021 on
            elif value <= 31 and any(w in MONTHS for w in self._low):
                wanted |= {value - 1, value + 1}
            elif value <= 12 and self._low[at + 1 : at + 2] in (["pm"], ["p"]):
                wanted.add(value + 12)
            if not any(abs(w - n) < 1e-6 * max(1.0, abs(w)) for w in wanted for n in self._use.numbers):
                yield token.raw, "number"

    def _named_so(self, at: int) -> bool:
        """Return whether a word that may say how to compute is part of a name that the plan has."""
        names = [n for iri in (*self._use.properties, *self._use.classes) for n in self._named(iri)]
        own = self._roots[at]
        return any(own in _roots([n]) for n in (*names, *self._labels))

    def _operators(self) -> Iterator[tuple[str, str]]:
        use, low = self._use, self._low
        ranked = "order" in use.folds and any(p.limit is not None for p in use.plans)
        great = ranked and any(o.descending for p in use.plans for o in p.order if p.limit is not None)
        small = ranked and any(not o.descending for p in use.plans for o in p.order if p.limit is not None)
        each = any(w in _GROUPING for w in low)
        top = use.plan
        keyed = bool(top.grouped and (top.group_by or any(not _folds(c.value) for c in top.columns)))
        extreme = ranked or (bool(use.folds & {"maximum", "minimum"}) and (each or not keyed or bool(top.having) or len(use.plans) > 1))
        for at, word in enumerate(low):
            before, behind = low[at - 1 : at], low[at + 1 : at + 2]
            if self._named_so(at):
                continue
            if word in ("average", "mean", "avg") and not ("average" in use.folds or "/" in use.operations):
                yield word, "average"
            if word in SHARES and "/" not in use.operations and not (before and before[0][-1:].isdigit()):
                yield word, "share"
            sorts = behind == ["first"] or (self._low[at - 2 : at - 1] + before in (["from", "the"],)) or before in (["from"], ["to"]) or behind == ["to"]
            sorts = sorts or (before == ["the"] and self._low[at - 2 : at - 1] in (["from"], ["to"]))
            if sorts and _is_superlative(word):
                if "order" not in use.folds:
                    yield word, "order"
                continue
            if _is_superlative(word) and before != ["at"] and not extreme and not any(b.without for b in use.blocks):
                yield word, "superlative"
            if word in ("difference", "gap") and behind in (["between"], ["in"]) and not ({"-", "days"} & use.operations):
                yield word, "difference"
            if word in ("sorted", "descending", "ascending", "alphabetical", "alphabetically", "sort") and behind not in (["for"], ["from"]) and "order" not in use.folds:
                yield word, "order"
        both = [w for w in low if w in ("maximum", "max", "highest")], [w for w in low if w in ("minimum", "min", "lowest")]
        if all(both) and "from" not in low and not (
            (("maximum" in use.folds) or great) and (("minimum" in use.folds) or small)
        ):
            yield f"{both[0][0]} and {both[1][0]}", "both"
        yield from self._negations()
        yield from self._comparisons()

    def _negations(self) -> Iterator[tuple[str, str]]:
        use, low = self._use, self._low
        denies = any(b.without for b in use.blocks) or "!=" in use.relations or 0.0 in use.numbers or self._flag_off()
        for at, word in enumerate(low):
            negated = word in NEGATIONS or word.endswith(("n't", "n’t")) or (word == "other" and low[at + 1 : at + 2] == ["than"])
            if not negated or denies:
                continue
            rest = low[at + 1 : at + 4]
            if word == "no" and (rest[:1] == ["of"] or self._text[self._words[at].end : self._words[at].end + 1] == "."):
                continue
            if word in ("no", "not") and rest[:1] and rest[0] in ("more", "less", "fewer", "later", "earlier", "exceeding"):
                continue
            if low[max(0, at - 1) : at] == ["or"]:
                continue  # whether or not
            yield word, "negation"
            return
        if denies and not any(b.without for b in use.blocks) and "!=" not in use.relations:
            # "do not have any discontinued products" is no flag of a product
            for at in range(len(low)):
                if low[at : at + 3] in (["not", "have", "any"],) or low[at : at + 2] in (["without", "any"], ["have", "no"], ["has", "no"]):
                    if 0.0 not in use.numbers:
                        yield low[at], "none"
                        return

    def _flag_off(self) -> bool:
        for p in self._use.patterns:
            info = self._schema.properties.get(str(p.predicate))
            if info is not None and info.flag and p.object == info.truth_value(False):
                return True
        for c in self._use.comparisons:
            if isinstance(c.right, Literal) and str(c.right).lower() in ("false", "n", "no", "f"):
                return True
        return False

    def _comparisons(self) -> Iterator[tuple[str, str]]:
        use, low = self._use, self._low
        compares = bool(use.relations & {"<", ">", "<=", ">="})
        for at, word in enumerate(low):
            if word == "than" and low[at - 1 : at] not in (["other"], ["rather"], ["different"]) and "-" not in use.operations:
                if any(b.without for b in use.blocks) or "!=" in use.relations:
                    continue
                number = any(number_of(w.key) is not None or w.key in NUMBERS or w.key in ("once", "twice") for w in self._words[at + 1 : at + 3])
                both = any(not isinstance(c.left, Literal) and not isinstance(c.right, Literal) for c in use.comparisons if c.relation not in ("=", "!="))
                if not compares or not (number or both or self._is_in_plan(at + 1)):
                    yield " ".join(low[max(0, at - 1) : at + 1]), "comparison"
            if word == "at" and low[at + 1 : at + 2] in (["least"], ["most"]) and not compares and low[at + 2 : at + 3] not in (["one"], ["a"], ["1"], ["once"]):
                yield " ".join(low[at : at + 2]), "comparison"

    def _is_in_plan(self, at: int) -> bool:
        """Return whether what stands behind "than" is a date or a value that the plan names."""
        return any(w in MONTHS or "$" in self._text or w[0].isdigit() for w in self._low[at : at + 4])

    # -- what is told ------------------------------------------------------------------------------

    def _people(self, cls: str) -> bool:
        names = [n for c in (cls, *self._schema.above(cls)) for n in self._named(c)]
        return any(w.lower() in PERSON_WORDS or w.lower() in AGENTS or is_role(w) or _single(w) in PERSON_WORDS | AGENTS for n in names for w in words_in(n)[-1:])

    def _kinds(self) -> Iterator[tuple[str, str]]:
        use, low, schema = self._use, self._low, self._schema
        if not low or use.plan.yes_or_no:
            return
        classes = [class_of(use, v, schema) for v in use.shown]
        numbers = [use.is_number(v, schema) for v in use.shown]
        how = next((at for at in range(len(low) - 1) if low[at] == "how" and low[at + 1] in ("many", "much")), None)
        if how is not None and not any(numbers):
            yield " ".join(low[how : how + 2]), "how many"
        asks = [at for at, w in enumerate(low) if w in ("who", "where", "when") and (at == 0 or low[at - 1] in ("and", "about"))]
        for at in asks:
            word = low[at]
            if word == "who" and not self._tells_people(classes):
                yield word, "who"
            if word == "where" and not self._tells(PLACES, classes):
                yield word, "where"
            if word == "when" and not self._tells_time():
                yield word, "when"
        wanted = sum(1 for at, w in enumerate(low) if w in _WH and (at == 0 or low[at - 1] in ("and", "about", "or") or self._text[: self._words[at].start].rstrip()[-1:] in ",-;–—"))
        if wanted > 1 and len(use.shown) < 2:
            second = [w for at, w in enumerate(low) if w in _WH and at][-1]
            yield second, "second"

    def _tells_people(self, classes: Sequence[str]) -> bool:
        if any(c and self._people(c) for c in classes):
            return True
        schema, use = self._schema, self._use
        for value in use.shown:
            for u in use.unknowns(value):
                told = [schema.properties[p] for p in use.told_by(u) if p in schema.properties]
                if any(i.kind == "text" for i in told):
                    return True
        if not any(classes):
            return not all(use.is_number(v, schema) for v in use.shown)
        return not any(self._people(c) for c in schema.classes)

    def _tells(self, names: Iterable[str], classes: Sequence[str]) -> bool:
        wanted = {root(n) for n in names}
        shown = set(classes) | {p for v in self._use.shown for u in self._use.unknowns(v) for p in self._use.told_by(u)}
        for c in classes:
            shown |= self._schema.above(c)
        if any(_roots(self._named(iri)) & wanted for iri in shown if iri):
            return True
        return not any(c for c in classes) and not any(self._use.told_by(u) for v in self._use.shown for u in self._use.unknowns(v))

    def _tells_time(self) -> bool:
        use, schema = self._use, self._schema
        for v in use.shown:
            told = [schema.properties[p] for u in use.unknowns(v) for p in use.told_by(u) if p in schema.properties]
            if any(i.kind == "date" or _roots(i.names) & {root(t) for t in TIMES} for i in told):
                return True
            cls = class_of(use, v, schema)
            if cls and _roots(self._named(cls)) & {root(t) for t in TIMES}:
                return True
        return False

    # -- what is wanted ----------------------------------------------------------------------------

    def _wanted(self) -> Iterator[tuple[list[int], bool, bool]]:
        """Yield the places of the words of each noun that is asked for, and whether it is to be counted."""
        low, at = self._low, 0
        while at < len(low):
            counts = low[at] == "how" and low[at + 1 : at + 2] in (["many"], ["much"])
            starts = at == 0 or low[at - 1] in ("and", "also", "then", "please") or self._between(at).strip()[:1] in tuple(".?!;,")
            asks = counts or (low[at] in ("what", "which") and starts) or (low[at] in _IMPERATIVES and starts)
            at += 1 + counts
            if not asks:
                continue
            several = low[at - 1] in _IMPERATIVES or (at < len(low) and low[at] in ("is", "are", "was", "were", "s"))
            sentence = at > 2 and self._between(at - 1).strip()[:1] in tuple(".?!;") and low[at - 1] in _IMPERATIVES
            while at < len(low) and low[at] in _LEADING:
                at += 1
            part: list[int] = []
            while at < len(low):
                joint = "," in self._between(at) or low[at] == "and"
                ends = low[at] in _ENDING or (part and self._between(at).strip()[:1] in tuple(".?!;:("))
                if (joint or ends) and part:
                    yield part, counts, sentence
                    part = []
                if ends or (joint and (counts or not several or low[at + (low[at] == "and")] in _WH)):
                    break
                if low[at] in _HEADS or not (low[at] in EMPTY or low[at] in ASKING or (low[at] in _OPERATING and not self._named_so(at)) or _is_superlative(low[at]) or number_of(low[at]) is not None):
                    part.append(at)
                at += 1
            if part:
                yield part, counts, sentence

    def _shown_terms(self, value: object, depth: int = 3) -> set[str]:
        """Return the classes and properties by which what a column tells is called."""
        use, found = self._use, set[str]()
        for u in (p for p in walk(value) if isinstance(p, Unknown)):
            kinds, told = use.kinds(u, self._schema), use.told_by(u)
            found |= kinds | told
            found |= {str(p.predicate) for p in use.patterns if p.subject == u and not kinds}
            if _roots(n for p in told for n in self._named(p)) & _NAMING:
                # "Airport names" are names of airports.
                for p in use.patterns:
                    found |= use.kinds(p.subject, self._schema) if p.object == u else set()
            for c in kinds:
                found |= self._schema.above(c)
            inner = [c.value for p in use.plans for c in p.columns if c.name == u.name and c.value != u]
            if depth:
                for v in inner:
                    found |= self._shown_terms(v, depth - 1)
        return found

    def _unshown(self) -> Iterator[tuple[str, str]]:
        use = self._use
        if use.plan.yes_or_no:
            return
        shown = set().union(*(self._shown_terms(v) for v in use.shown))
        # What is the subject of a relation may be called by it: those that flow into a river are tributaries.
        subjects = {u for v in use.shown for u in use.unknowns(v)}
        relations = {str(p.predicate) for p in use.patterns if p.subject in subjects and p.predicate != RDF.type}
        inverse = [n for p in relations if p in self._schema.properties for n in self._schema.properties[p].inverse_names]
        names = _roots((*(n for iri in shown for n in self._named(iri)), *inverse))
        spans = any(isinstance(p, Days | DatePart) for v in use.shown for p in walk(v))
        parts = list(self._wanted())
        later = any(sentence for *_, sentence in parts) or bool(re.search(r"[.?;] *(show|list|give|return|what)\b", self._text.lower()))
        for part, counts, sentence in parts:
            if later and not sentence:
                continue
            head = part[-1]
            if self._low[head] in _HEADS:
                own = self._roots[head]
                kin = set().union(*(self._use.kinds(u, self._schema) for v in use.shown for u in use.unknowns(v)))
                has = any(own in _roots(i.names) for i in self._schema.properties.values() if set(i.domains) & kin)
                has = has and (self._low[head] in _TELLING or not any(self._is_in(at, names) for at in part[:-1]))
                if has and own not in names and not spans and (len(part) > 1 or self._low[head] not in ("number", "numbers")):
                    yield self._words[head].raw, "unshown head"
                    continue
                if not part[:-1]:
                    continue
            part = [at for at in part if self._low[at] not in _HEADS]
            covered = [at for at in part if self._is_in(at, self._vocabulary) or at in self._mentioned]
            if not covered or any(self._is_in(at, names) for at in part):
                continue
            if set(part) & self._read_as(shown) or spans or set(part) & self._inverted(relations):
                continue
            yield " ".join(self._words[at].raw for at in covered), "unshown count" if counts else "unshown"

    def _quoted(self) -> Iterator[tuple[str, str]]:
        said = " ".join((*self._labels, *(n for p in (*self._use.properties, *self._use.classes) for n in self._named(p)))).lower()
        for match in re.finditer(r"\"([^\"]{1,80})\"|“([^”]{1,80})”|(?<!\w)'([^']{1,80})'(?!\w)", self._text):
            text = next(g for g in match.groups() if g).strip()
            inside = {at for at, w in enumerate(self._words) if match.start() < w.start < match.end()}
            if text.lower() not in said and not (inside and inside <= self._mentioned | self._digits) and not _roots([text]) <= _roots([said]):
                yield text, "quoted"

    @cached_property
    def _digits(self) -> set[int]:
        return {at for at, w in enumerate(self._words) if w.key[:1].isdigit()}

    def _columns(self) -> Iterator[tuple[str, str]]:
        """Yield what is asked for beside what is told: a second thing, a number, a name."""
        use = self._use
        if use.plan.yes_or_no:
            return
        numbers = [use.is_number(v, self._schema) for v in use.shown]
        text = " ".join(self._low)
        if re.search(r"(\band |^)(show |return |give |list |find )?(the |total )*(number|count|counts|numbers)( of (?!.*(number|count)))?", text) and not any(numbers):
            if re.search(r"\b(number|count)s? of\b|\bthe counts?\b|\bcount$", text) and not any(self._named_so(at) for at, w in enumerate(self._low) if w in ("number", "numbers", "count", "counts")):
                if not re.search(r"(order|sort|most|least|largest|smallest|greatest|highest|lowest|fewest|same|maximum|minimum|by|with|top|more|than) .*(number|count)", text):
                    yield "number", "count"
        wanted = list(self._wanted())
        later = any(sentence for *_, sentence in wanted)
        parts = [part for part, counts, sentence in wanted if sentence == later and not counts]
        if 1 < len(parts) > len(use.shown) and self._low[0] in (*_IMPERATIVES, "what"):
            yield self._words[parts[-1][-1]].raw, "columns"
        match = re.search(r"\b(average|maximum|minimum|max|min|mean|total) (\w+ )?(\w+) and (\w+)", text)
        if match and use.folds & {"average", "maximum", "minimum", "sum"} and match[4] not in (*GREATEST, *LEAST, "average", "mean", "max", "min", "total"):
            told = [v for v in use.shown if not _folds(v) and use.is_number(v, self._schema)]
            for value in told:
                names = _roots(n for u in use.unknowns(value) for p in use.told_by(u) for n in self._named(p))
                if root(match[4]) in names:
                    yield match[4], "fold of both"

    def _groups(self) -> Iterator[tuple[str, str]]:
        use, text = self._use, " ".join(self._low)
        top = use.plan
        keys = [v for v in (c.value for c in top.columns) if not _folds(v)] + list(top.group_by)
        folded = [v for v in use.shown if _folds(v)]
        cue = re.search(r"\b(for|in|by|of|at|from|on) (each|every)|for different\b|\bper\b", text)
        if folded and not keys and cue and not len(use.plans) > 1 and not self._named_so(self._low.index(cue[0].split()[-1])) and "/" not in use.operations:
            yield cue[0], "each"
        counts = re.match(r"(how many|(find|count|what is|what's|give|tell me|show)( me)? (the )?((total )?number of|how many))", text)
        if counts and keys and folded and not (top.having or top.limit or top.order):
            rest = text[counts.end() :]
            if not re.search(r"\b(each|every|per|by|different|distinct|across|all|their|and|respective|for|with|both|or)\b", rest):
                yield "how many", "invented groups"

    def _counted(self) -> Iterator[tuple[str, str]]:
        """Yield what is to be counted and compared with a number, and is not."""
        use = self._use
        if "count" in use.folds or "sum" in use.folds:
            return
        for at, word in enumerate(self._low[:-1]):
            value = NUMBERS.get(word, number_of(self._words[at].key))
            before = self._low[at - 1 : at]
            if value is None or value < 2 or before not in (["least"], ["than"], ["most"], ["exactly"], ["over"]):
                continue
            kinds = [c for m in self._matches if m.start == at + 1 and m.end == at + 2 for c in m.candidates if c.kind == "class" and c.way in ("exact", "inflected") and c.score > 0.9]
            compared = _roots(n for c in use.comparisons for u in use.unknowns(c.left) for p in use.told_by(u) for n in self._named(p))
            if kinds and self._roots[at + 1] not in compared:
                yield f"{self._low[at]} {self._low[at + 1]}", "counted"

    def _inverted(self, relations: set[str]) -> set[int]:
        """Return the places of words that read a relation from its object to its subject."""
        return {i for m in self._matches if any(c.term in relations and c.way != "tokens" for c in m.candidates) for i in range(m.start, m.end)}

    def _unasked(self) -> Iterator[tuple[str, str]]:
        use = self._use
        shares = [at for at, w in enumerate(self._low) if w in SHARES or w in _DIVIDING]
        if any(isinstance(p, Arithmetic) and p.operation == "/" and not isinstance(p.right, Literal) for p in walk(use.plan)) and all(self._named_so(at) for at in shares):
            yield " ".join(self._low[at] for at in shares) or "/", "invented"
        for p in walk(use.plan):
            if isinstance(p, Aggregate) and p.function in ("sum", "average") and p.value is not None and not use.is_number(_plain(p.value), self._schema):
                yield p.function, "fold of text"
        for thing in use.things | use.texts:
            found = [(m, c) for m in self._matches for c in m.candidates if c.term == thing]
            if not found or self._text[:1].islower() or any(c.way not in ("tokens", "spelling") for _, c in found):
                continue
            best = max(found, key=lambda f: f[1].score)
            said = self._words[best[0].start : best[0].end]
            own = words_in(best[1].name)
            left = _roots(own) - {root(w.raw) for w in said}
            if all(w.raw.islower() for w in said) and any(w[:1].isupper() for w in own) and left - {root(w) for w in EMPTY}:
                yield best[1].name, "name in part"
        if use.things:
            said = set(self._roots) | {stem(w) for w in self._low}
            show = Display(self._lexicon.kg)
            for thing in use.things:
                own = _roots([show.entity(thing)])
                if not own & said and not self._read_as({thing}):
                    yield show.entity(thing), "name invented"
        if "total" in self._low and "amount" not in self._low and not (use.folds & {"sum", "count"}) and not self._named_so(self._low.index("total")) and "/" not in use.operations:
            yield "total", "total"
        if self._low and self._low[0] in ("is", "are", "was", "were", "does", "do", "did", "has", "have") and not use.plan.yes_or_no:
            yield self._low[0], "yes or no"
        if use.plan.yes_or_no and self._low and self._low[0] in _WH:
            yield self._low[0], "no yes or no"


_IMPERATIVES = frozenset("list show find give return display tell get provide name identify report".split())
_LEADING = frozenset("is are was were the a an me us all of each every any different distinct unique out s".split())
_ENDING = frozenset(
    "of for in on at from by with without who whose whom that which where when is are was were do does did has have had to than having "
    "both through into against containing contains contain named called having per each whether how what not about as can could will would if after before during between among over under or".split()
)
_HEADS = frozenset("type types result results detail details id ids code codes status date dates description descriptions number numbers".split())
_TELLING = frozenset("type types result results status".split())
_QUANTITIES = frozenset("score scores rate rates level levels figure figures size sizes value points amount price cost quantity year date time string".split())
_NAMING = frozenset(map(root, "name title label id code number description detail".split()))
_GROUPING = frozenset("each every per by across different all respectively for".split())
_DIVIDING = frozenset("density densely thinly sparsely average mean avg per times each rate half out part every twice double third quarter compared fold".split())
_VERB_ROOTS = frozenset(map(root, VERBS))
_BEFORE_DEEDS = frozenset("to not never who that do does did has have had been being can could will would they he she you we i".split())
_WH = frozenset("who what which where when whose whom how".split())
_OPERATING = frozenset(
    "density densely thinly sparsely sums quarter half average mean avg sum combined cumulative difference gap order ordered sorted sort descending ascending alphabetical alphabetically "
    "chronological chronologically increasing decreasing equal equals greater higher larger bigger longer lower smaller "
    "exceeding exceed exceeds later earlier better worse ranging rank ranked grouped group broken split "
    "starting beginning ending starts start begins ends containing letter letters substring word common".split()
)
_SEXES = {"m": ("male", "males", "man", "men", "boy", "boys"), "f": ("female", "females", "woman", "women", "girl", "girls", "lady", "ladies"), "w": ("woman", "women")}
_FACTORS = (1.0, 7.0, 12.0, 24.0, 60.0, 100.0, 365.0, 1_000.0, 3_600.0, 86_400.0, 1e6, 604800.0)


def _folds(value: object) -> bool:
    return any(isinstance(p, Aggregate) for p in walk(value))


def _plain(value: Expression) -> Expression:
    return value.value if isinstance(value, Number) else value


def _single(word: str) -> str:
    return word.lower().removesuffix("s")


def _is_superlative(word: str) -> bool:
    if word in GREATEST or word in LEAST:
        return True
    plain = positive(word)
    return plain not in (None, word) and (word.endswith("est") or word in ("worst", "best"))


def _roots(names: Iterable[str]) -> set[str]:
    found = set[str]()
    for name in names:
        parts = words_in(name)[:12]
        found |= {root(p.lower()) for p in parts}
        if 1 < len(parts) < 4:
            found.add(root("".join(parts).lower()))
    return found
