"""A plan from what a question asks for and what its words may name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, cast

from rdflib import RDF, XSD, Literal, URIRef

from mrag.language.grammar import is_participle, plural
from mrag.language.names import Likeness, likeness
from mrag.language.possessive import compile_late
from mrag.language.tokens import AGENTS, PREPOSITIONS, VERBS, alike, content, is_stopword, stem
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import (
    BEING,
    DIMENSIONS,
    is_doer,
    is_done,
    is_past,
    is_role,
    positive,
    root,
    synonym_roots,
)
from mrag.planning.lexical.schema_words import voice_of
from mrag.planning.plan import (
    NEGATED,
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Expression,
    Fold,
    Number,
    Order,
    Part,
    Pattern,
    Plan,
    Scalar,
    Unknown,
    parts,
)
from mrag.planning.profiling import NOWHERE, PLACE_WORDS, is_count, is_value, place_rank, ways_to_say_where
from mrag.planning.reading.composing import loose
from mrag.planning.reading.derived import (
    BEGINS_OR_ENDS,
    HOLDING,
    held_between,
    number_recorded,
    roots_of,
    spelt,
    stated_amounts,
    tally,
    when_said,
)
from mrag.planning.reading.drafts import (
    Draft,
    Unbuildable,
    asked_class,
    heads_passed_over,
    refuse_things,
    says_when_last,
)
from mrag.planning.reading.frame import (
    COMMON,
    IDENTIFYING,
    OWNING,
    PARTICIPLES,
    TIMES,
    Compared,
    Frame,
    FrameMeasure,
    FrameRestriction,
    Noun,
    Ordering,
    Output,
    Superlative,
    TextCondition,
    TimeUnit,
    is_superlative,
)
from mrag.planning.reading.graph import (
    JoinGraph,
    PlanNode,
    QueryGraph,
    compare_period,
    counted_in,
    doers,
    is_deed,
    kinds_besides,
    kinds_of_people,
    names_near_end,
    number_literal,
    text_is,
    told_by_event,
    told_by_verb,
    told_of,
    unit_stated,
)
from mrag.planning.reading.question import (
    Period,
    QuestionText,
    Segmentation,
    Word,
    converted,
    meaningful,
    month_of,
    unit_of,
)
from mrag.planning.schema import PropertyInfo, Schema, by_number, most_of
from mrag.planning.scopes import FOLDS, aggregates, mentioned

Dimension = Callable[[str], Sequence[tuple[Candidate, str]]]

_ENDS: Mapping[str, tuple[str, ...]] = {
    "from": ("depart", "departure", "origin", "source", "start", "begin", "leave", "departs"),
    "to": ("arriv", "arrive", "arrival", "destination", "target", "end", "reach", "arrives"),
    "into": ("arriv", "arrive", "arrival", "destination"),
    "of": (), "by": (), "in": ("locat",),
}  # fmt: skip


_HEADED = 0.85
"""How like a property a word is that is the head of its name."""


def _head(name: str) -> str:
    """Return the head of a name: the "country" in "home country"."""
    words = name.lower().split()
    end = next((i for i, w in enumerate(words) if i and w in ("per", "of")), len(words))
    return words[end - 1] if len(words) > 1 and not is_past(words[end - 1]) else ""


_BESIDE = frozenset("and the both their his her its".split())
"""Words between properties that are asked of the same thing."""
_HOLDERS = frozenset("holder holders owner owners recipient recipients bearer bearers".split())


_DIRECT = 1.4
"""What a way costs at most that leads through nothing else."""
_CODES = frozenset("no nr number id code".split())
"""Last words of properties that tell one thing from another and name nobody."""


_OF_MONEY = frozenset(map(root, "funding money spending earning revenue income turnover".split()))
"""Roots of words for what there is a sum of, and no number."""


_UNITS = frozenset(stem(w) for w in ("year", "month", "day", "date", "time", "quarter"))
"""What says of a property only that it is a time."""
_DISTINCT = frozenset("different distinct unique".split())
_DATED = frozenset(
    "founded established built opened released published born started launched created since".split()
)
"""Words of properties whose numbers between 1000 and 2200 are years."""


_LEFT_OUT = compile_late(
    r"\b(?:other than|besides|apart from|except(?: for)?|excluding|not counting)(?: the)?\Z"
)
"""Words before a name that is left out of what is asked for."""


_GETTING = frozenset(
    "earn earns earned receive receives received gain gains gained get gets got make makes made take takes "
    "took give gives gave hold holds held want wants wanted know knows knew have has had weigh weighs".split()
)
"""Verbs before "the most" that say of an amount which they do not name."""
_ARTICLES = ("the", "a", "an", "of")


_WHO = frozenset("who that which".split())


_ENDS_OF_TIME = ("first", "last", "latest", "earliest")
_DID = frozenset("did has have does do had".split())
_DOING = frozenset("who has have had also ever first".split())
"""Words before the verb of a "who" that did something, rather than had it done."""


_FOLD_WORDS = FOLDS | {"count": "number of"}
_NUMBERS = frozenset("population attendance headcount quantity amount".split())
"""What is a number already, so that there is no number of it."""
_UNNAMED = TimeUnit("year", 0)
"""What a column is called after that orders by what no noun names."""
_OPPOSITE = {"greatest": "least", "least": "greatest"}


_Choice: TypeAlias = tuple[tuple[Condition, ...], ...]
"""Conditions of which those of one part must hold."""

_RECURRING: Final[dict[str, Part]] = {"weekday": "weekday", "month": "month", "quarter": "quarter"}
_UNTIMED: Final = frozenset(map(str, (XSD.date, XSD.gYear, XSD.gYearMonth)))


def _between(value: Expression, low: Literal, high: Literal, *, wraps: bool) -> _Choice:
    """Return that a value lies between two; one that comes round lies behind the one or before the other."""
    bounds = Comparison(value, ">=", low), Comparison(value, "<=", high)
    return tuple((one,) for one in bounds) if wraps else (bounds,)


_SURE = 0.45
"""How like a verb the name of what happened must be."""

_BEEN = frozenset("is are was were be been being got get".split())

_INSIDE = frozenset("in at during within on".split())
_ONE = frozenset("a an one any some single".split())


_DENIED = compile_late(
    r"\b(?:(?:is|are|was|were|but) not|(?:is|are|was|were)n't|except|excluding|besides|other than)"
    r"(?: an?| the| any)?\Z"
)
"""Words before a kind that a thing is not of."""

_LIKE_A_VERB = 0.6
"""How like the name of a property a verb is that says it of things of its classes."""


MEASURING = frozenset(
    "last lasts lasted take takes took measure measures measured span spans spanned weigh weighs weighed "
    "run runs ran reach reaches reached stretch stretches stretched total totals totalled".split()
)
"""Verbs that say only that things have the number behind them."""
_SUPPORTING = frozenset(
    root(verb)
    for verb in "hold carry bear fly celebrate possess enjoy boast feature sport wear keep observe charge "
    "pay earn draw receive list quote display spend log devote collect gather accumulate amass achieve "
    "claim score complete".split()
)
"""Verbs that say little beside the noun behind them: "fly the flag of", "hold a licence"."""
_DONE = frozenset(map(root, ("score", "complete")))
"""Those that say so only behind the noun: "points scored"."""


_VERBS_OF_RELATION = frozenset(
    "flow touch pass cross lie run go goe lead stand serve work live situat surround "
    "write written wrote publish leave left post posted submit submitt".split()
)
"""Verbs that say no more than that things are related, where the graph has one way only to relate them."""

_RELATING = frozenset(map(root, ("host", "possess", "speak")))
"""Verbs that say no more than that where the things that they relate are near each other."""
_NEAR = 1.0
"""What joins of things that are near each other cost at most."""
_LEADING = frozenset(map(root, ("run", "lead", "ran", "led")))

_LIGHT = frozenset(
    "represent represented involve involved back backed see saw seen play played attend attended "
    "visit visited join joined use used".split()
)
"""Verbs that say no more than that where things are related to things, and no name beside them is a value."""

_BEING = frozenset("is are was were be been a an the who that also".split())
"""Words between a kind and a noun that says what its things are."""
_DEEDS = frozenset("write written wrote publish post posted submit submitt".split())
"""Those that say in which way somebody is related to a work."""


_PATHS = frozenset("through along across throughout around inside outside".split())
"""Prepositions that a relation has been found for."""
_ANY = frozenset("a an any some another".split())


_SPANNING = compile_late(r"how many (years|months|days) (after|before|since|lie|passed|elapsed)\b")
"""Questions for the time between two others, which no value is."""


@dataclass
class Builder:
    """Builds one plan of a frame."""

    schema: Schema
    joins: JoinGraph
    question: QuestionText
    segmentation: Segmentation
    frame: Frame
    dimension: Dimension
    chosen: Mapping[int, Candidate] = field(default_factory=dict)
    avoided: frozenset[str] = frozenset()
    likeness: Callable[[str, str], float] = lambda one, other: 0.0
    matches: list[float] = field(default_factory=list)
    choices: dict[int, tuple[Candidate, ...]] = field(default_factory=dict)
    guesses: float = 0.0
    _pending: dict[int, list[Block]] = field(default_factory=dict)
    _restricted: dict[tuple[str, str], str] = field(default_factory=dict)
    graph: QueryGraph = field(init=False)
    context: list[tuple[str, int]] = field(init=False)
    picked: dict[int, Candidate] = field(init=False, default_factory=dict)
    having: list[Condition] = field(init=False, default_factory=list)
    within: list[Unknown] = field(init=False, default_factory=list)

    _chosen: _Choice = field(default=())
    _dated_by: tuple[Expression, PropertyInfo] | None = None

    def _hints(self) -> dict[str, float]:
        return {w.stem: 1.0 for w in self.question.words if not is_stopword(w.token.key)}

    def _context(self) -> list[tuple[str, int]]:
        found = []
        for noun in self.frame.nouns:
            best = noun.candidates[0]
            if best.kind == "class":
                found.append((best.term, noun.start))
            elif best.score > 0.8:
                close = [c for c in noun.candidates if c.score >= best.score - 0.02 and c.kind == "property"]
                if len(close) == 1 and len(self._domains(close[0])) == 1:
                    found.append((self._domains(close[0])[0], noun.start))
        for restriction in self.frame.restrictions:
            best = restriction.mention.candidates[0]
            for cls in best.classes[:1]:
                found.append((cls, restriction.mention.start))
        return found

    def _domains(self, candidate: Candidate) -> list[str]:
        info = self.schema.properties.get(candidate.term)
        return self.schema.likeliest(info.domains) if info else []

    def _distance(
        self, classes: Sequence[str], at: int, context: Sequence[tuple[str, int]] | None = None
    ) -> float:
        """Return how far classes are from those that the question names, the nearest words first."""
        context = self.context if context is None else context
        best = 4.0 if context else 0.0
        for cls, where in context:
            cost = self.joins.distance(cls, classes, 3.5)
            if cost is not None:
                best = min(best, cost + 0.04 * min(10, abs(where - at)))
        return best

    def pick(
        self, start: int, candidates: Sequence[Candidate], like: Callable[[Candidate], float]
    ) -> Candidate:
        """Return the likeliest of some candidates, once and for all for the place behind their words."""
        if start in self.picked:
            return self.picked[start]
        ranked = sorted(candidates, key=lambda c: (-like(c), c.term, c.inverse))
        forced = self.chosen.get(start)
        found = ranked[0]
        if forced is not None and forced in ranked[1:]:
            # What fits its place worse is likely only where the rest of the plan is better for it.
            self.guesses += 0.1 + (like(found) - like(forced))
            found = forced
        self.choices[start] = tuple(ranked[:4])
        self.picked[start] = found
        self.matches.append(found.score)
        return found

    def noun(self, noun: Noun, want: str = "") -> Candidate:
        """Return what a noun names.

        Args:
            noun: The noun.
            want: `number`, `date` or `class`, which its role makes likelier.
        """
        if noun.implied:
            return noun.candidates[0]
        owners = self._owners(noun)
        exact = {c.kind for c in noun.candidates if c.way == "exact"}

        whose = self.question.low[noun.start - 1 : noun.start] == ["whose"]

        def like(c: Candidate) -> float:
            if c.kind == "class":
                # Things are said to have what stands behind "whose".
                return c.score + (
                    -0.3
                    if whose
                    else 0.1
                    if want in ("class", "")
                    else -0.3
                    if want in ("number", "date", "who")
                    else 0.0
                )
            info = self.schema.properties.get(c.term)
            if info is None:
                return -1.0
            fits = {
                "number": info.kind == "number", "date": info.kind == "date", "class": info.kind == "entity",
                "who": info.kind == "entity", "where": info.kind in ("entity", "text"),
            }.get(want, True)  # fmt: skip
            classes = self._domains(c)
            if c.inverse or info.kind == "entity":
                classes = [*classes, *info.ranges]
            related = info.kind == "entity" and "class" in exact  # "more than one review" counts reviews
            owned = 1.0 if owners & set(classes) and not related else 0.0
            owned -= 0.2 if c.way == "synonym" and exact else 0.0
            owned -= 1.0 if self._says_by_whom(noun, c) else 0.0
            unfit = -0.8 if want in ("who", "where") else -0.35
            return c.score - 0.06 * self._distance(classes, noun.start) + (0.05 if fits else unfit) + owned

        found = [
            self._headed(noun, self._scattered(noun, self._owned(noun, c, owners))) for c in noun.candidates
        ]
        return self.pick(noun.end, found, like)

    def _says_by_whom(self, noun: Noun, found: Candidate) -> bool:
        """Return whether a relation tells who did what a "what" asks for: "what did Ada reserve".

        That is where what was done tells both, what was "reserved" and whom it was "reserved by".
        """
        info = self.schema.properties.get(found.term)
        if self.question.low[0] != "what" or info is None or found.name.lower().split()[-1] != "by":
            return False
        others = (self.schema.properties.get(c.term) for c in noun.candidates if c.term != found.term)
        return any(
            i is not None and i.kind == "entity" and {*i.domains} & {*info.domains}
            and not {*i.ranges} & {*info.ranges, *info.domains}
            for i in others
        )  # fmt: skip

    def _scattered(self, noun: Noun, found: Candidate) -> Candidate:
        """Return a property as well matched if its words are said apart: "how much energy was lost"."""
        info = self.schema.properties.get(found.term)
        if info is None or found.way != "tokens":
            return found
        others = [(n.start, n.end) for n in self.frame.nouns if n is not noun]
        others += [(r.mention.start, r.mention.end) for r in self.frame.restrictions]
        taken = {i for start, end in others for i in range(start, end)}
        free = [w for i, w in enumerate(self.question.words) if i not in taken]
        said = {w.stem for w in free} | {root(w.low) for w in free}
        names = [{*content(name)} for name in info.names]
        whole = any(len(name) > 1 and all(w in said or root(w) in said for w in name) for name in names)
        return replace(found, score=max(found.score, 0.92)) if whole else found

    def _owned(self, noun: Noun, found: Candidate, owners: set[str]) -> Candidate:
        """Return a property whose name begins with what it is said of as well matched as its other words are.

        The "population" of a city is its "city population".
        """
        info = self.schema.properties.get(found.term)
        if info is None or found.way != "tokens" or not owners & set(info.domains):
            return found
        said = {w.stem for w in self.question.words[noun.start : noun.end]}
        classes = (self.schema.classes[c] for c in owners if c in self.schema.classes)
        things = {w for c in classes for name in c.names for w in content(name)}
        exact = any({*content(name)} - things == said for name in info.names)
        return replace(found, score=max(found.score, 0.95)) if exact else found

    def _headed(self, noun: Noun, found: Candidate) -> Candidate:
        """Return a thing's own property as well matched if its head is what is said.

        The "country" of a band is its "home country", sooner than that of a city where it has played.
        """
        info = self.schema.properties.get(found.term)
        if info is None or info.kind == "entity" or noun.end - noun.start > 1 or found.score > _HEADED:
            return found
        named = {cls for cls, at in self.context if at != noun.start}
        if named and not named & {*info.domains}:
            return found
        others = [c for c in noun.candidates if c.score > found.score]
        if any(c.kind == "class" or named & {*self._domains(c)} for c in others) or (others and not named):
            return found
        said = root(self.question.low[noun.start])
        meant = {said, *synonym_roots().get(said, ())}
        heads = {root(head) for name in info.names if (head := _head(name))}
        return replace(found, score=_HEADED) if meant & heads else found

    def _owners(self, noun: Noun) -> set[str]:
        """Return the classes of what a noun is said of: "the population of the capital"."""
        behind = [n for n in self.frame.nouns if n.start > noun.end]
        following = min(behind, key=lambda n: n.start, default=None)
        low = self.question.low
        for compared in self.frame.compared:
            if compared.right is noun and compared.left is not None:
                # "Cities with more than a million inhabitants" are not in such countries.
                return {c.term for c in compared.left.candidates[:1] if c.kind == "class"}
        if following is None or not ({"of"} <= set(low[noun.end : following.start]) <= OWNING):
            return set()
        found: set[str] = set()
        for c in following.candidates:
            if c.score < following.candidates[0].score - 0.02:
                continue
            info = self.schema.properties.get(c.term)
            found |= {c.term} if info is None else {*(info.domains if c.inverse else info.ranges)}
        return found

    def info(self, candidate: Candidate) -> PropertyInfo:
        """Return what is known of a property."""
        found = self.schema.properties.get(candidate.term)
        if found is None:
            raise Unbuildable(candidate.term)
        return found

    def _near(self, at: int) -> tuple[str, ...]:
        """Return stems of the words before a name, with what properties are called that mean the same."""
        found = [w.stem for w in self.question.words[max(0, at - 3) : at]]
        for word in tuple(found):
            found.extend(_ENDS.get(word, ()))
        return tuple(found)

    def _measures(self) -> list[FrameMeasure]:
        found = list(self.frame.measures)
        if self.frame.superlative is not None and self.frame.superlative.measure is not None:
            found.append(self.frame.superlative.measure)
        return found + [o.measure for o in self.frame.orders if o.measure is not None]

    def _beside(self, noun: Noun) -> bool:
        return any(r.noun is noun for r in self.frame.restrictions) or any(
            noun in (c.left, c.right) for c in self.frame.compared
        )

    def _owner_of_both(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return the named thing of which two properties are asked: "the father and mother of Ada"."""
        low, (start, end) = self.question.low, (noun.start, noun.end)
        for other in [*self.frame.nouns] * 2:
            if self._listed(end, other.start) or self._listed(other.end, start):
                start, end = min(start, other.start), max(end, other.end)
        if (start, end) == (noun.start, noun.end):
            return None
        end -= low[end - 1] == "of"
        for restriction in self.frame.restrictions:
            mention = restriction.mention
            after = low[end : mention.start]
            owned = mention.end == start and low[start - 1].endswith(("'s", "’s", "s'", "s’"))
            named = self.picked.get(mention.end)
            if named is not None and named.kind == "entity" and (owned or ({"of"} <= {*after} <= OWNING)):
                node = self.graph.at(URIRef(named.term))
                return node if node is not None and {*node.classes} & {*self._domains(found)} else None
        return None

    def _listed(self, end: int, start: int) -> bool:
        """Return whether only an "and" or a comma is between two nouns."""
        between = self.question.low[end:start]
        listed = end == start and "," in self.question.words[start].before
        return listed or ("and" in between and {*between} <= _BESIDE)

    def _holders(self, found: Candidate, noun: Noun) -> Unknown | None:
        """Return the things of which a flag holds, where a question is for these: "scholarship holders"."""
        info = self.info(found)
        low = self.question.low
        said = bool(_HOLDERS & {*low[noun.end : noun.end + 1]})
        if info.flag and noun.start and low[noun.start - 1] in ("been", "is", "are", "was", "were"):
            raise Unbuildable("what is said of things is not shown")
        head = low[noun.end - 1]
        last = root(found.name.split()[-1])
        if (
            info.kind in ("number", "date")
            and (found.way, noun.role) == ("tokens", "output")
            and head.endswith("s")
            and low[noun.end : noun.end + 1] != ["of"]
            and last not in {root(word) for word in low[noun.start : noun.end]}
        ):
            # "Dams higher than 100 metres" asks for what has a dam height, not for heights.
            owner = self.graph.owner(self._domains(found), constants=False)
            self.guesses += 0.5
            return owner.place if isinstance(owner.place, Unknown) else None
        several = head.endswith("s") and is_role(head.removesuffix("s"))  # "list the premium members"
        if not info.flag or info.iri in self.graph.used or not (said or several or noun.role == "measure"):
            return None
        owner = self.graph.owner(self._domains(found), constants=False)
        if not isinstance(owner.place, Unknown):
            return None
        true = Comparison(self.graph.value(owner, info), "=", info.truth_value(True))
        self.graph.conditions.append(true)
        self.frame.read.update({noun.end} if said else ())
        return owner.place

    def _is_done_to(self, verb: Noun) -> bool:
        """Return whether a verb leads from what it is done to: "cited by", "required for", "advises"."""
        low, behind = self.question.low, "".join(self.question.low[verb.end : verb.end + 1])
        noun, found = low[verb.start - 1] in ("a", "an", "the"), self.noun(verb)
        if behind == "than":
            return not found.inverse  # what is broader than a thing is what the thing has as broader
        passive = noun or is_past(low[verb.end - 1]) or low[verb.end - 1] in PARTICIPLES
        passive = "by" in (low[verb.end - 1], behind) or (passive and behind == "for")
        head, said = found.name.lower().split()[-1], low[verb.start]
        agent = is_role(head) and not is_role(said.removesuffix("s")) and root(head) == root(said)
        # What is "referred by" somebody is where a property called so leads from.
        return passive != (agent or found.inverse or head == "by")

    def _other_end(self) -> PlanNode | None:
        """Return what a verb relates to the only thing that is named: "who develops GraphDB"."""
        named = self.graph.named
        if len(named) != 1 or len(self.graph.nodes) != 1:
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term) if found.kind == "property" else None
            if info is None or info.kind != "entity":
                continue
            classes, place = set(named[0].classes), named[0].place
            forward = bool(classes & set(info.domains))
            at = next((r.mention.start for r in self.frame.restrictions), 0)
            if forward and classes & set(info.ranges) and verb.start == 1 and verb.end <= at:
                forward = "by" in self.question.low[verb.end : at]  # "who reports to Ada" asks for no boss
            word = self.question.low[verb.start]
            if classes & set(info.domains) & set(info.ranges) and found.name.lower().endswith(" by"):
                forward = "by" not in self.question.low[verb.start : at]  # "who was referred by Ada"
            if classes & set(info.domains) & set(info.ranges) and is_doer(found.name, word):
                voices = voice_of([word]), voice_of([found.name])
                # "Who taught Ada" asks for her teacher, at whichever end that is.
                forward = found.inverse == ("" not in voices and voices[0] != voices[1])
            if not forward and not classes & set(info.ranges):
                continue
            ends = info.ranges if forward else info.domains
            other = self.graph.node_of(most_of(ends), new=True)
            if not forward and not classes <= set(info.ranges):
                return other if self._somewhere_in(other, info, named[0]) else None
            self.graph.add(*((place, info.iri, other.place) if forward else (other.place, info.iri, place)))
            return other
        return None

    def _somewhere_in(self, who: PlanNode, info: PropertyInfo, whole: PlanNode) -> bool:
        """Relate things to what lies in a named thing, if they are never related to things of its kind.

        Who was born in a country was born in a city of it.
        """
        sizes = {c: self.schema.classes[c].count for c in info.ranges if c in self.schema.classes}
        near = [c for c in sizes if info.ranges[c] == max(info.ranges.values())]
        kind = min(near, key=lambda c: (sizes[c], c), default="")
        way = self.joins.path([kind], self.graph.narrowest_of(whole))
        if way is None or len(way[1]) != 1 or not way[1][0].forward:
            return False
        part = self.graph.node_of(kind, new=True)
        self.graph.add(who.place, info.iri, part.place)
        self.graph.add(part.place, way[1][0].property, whole.place)
        return True

    def _place_of(self, node: PlanNode) -> PlanNode | None:
        """Return where a thing is, by a property that leads to a place."""
        said = {word.stem for word in self.question.words}
        found = [
            (rank, info.iri)
            for info in self.schema.properties.values()
            if info.kind == "entity" and set(info.domains) & set(node.classes)
            and (rank := place_rank(info, self.schema, said)) < NOWHERE
        ]  # fmt: skip
        if not found:
            return None
        info = self.schema.properties[min(found)[1]]
        target = self.graph.node_of(next(iter(by_number(info.ranges)), ""), new=True)
        self.graph.add(node.place, info.iri, target.place)
        return target

    def _place_told(self, node: PlanNode) -> PlanNode | None:
        """Return the place that a thing has by name alone: the country that a band comes from."""
        born = {"born", "birth"} & {*self.question.low}
        found = [
            (min(map(PLACE_WORDS.index, said)), info.iri)
            for info in self.schema.properties.values()
            if info.kind == "text" and set(info.domains) & set(node.classes)
            and (said := {*PLACE_WORDS} & {*info.names[0].lower().split()})
            and bool(born) == ("birth" in info.names[0].lower().split())
        ]  # fmt: skip
        if not found:
            return None
        self.guesses += 0.5 * (len(found) > 1)
        value = self.graph.value(node, self.schema.properties[min(found)[1]])
        return PlanNode(value, ("",))

    def _is_thing(self, value: Unknown) -> bool:
        """Return whether an unknown stands for things rather than for values."""
        infos = (
            self.schema.properties.get(str(p.predicate)) for p in self.graph.patterns if p.object == value
        )
        return any(i is not None and i.kind == "entity" for i in infos)

    def _asks_for_its_subject(self) -> bool:
        """Return whether what did something is shown instead of what it did: "what did customers buy"."""
        low = self.question.low
        if low[0] != "what" or low[1:2] not in (["did"], ["do"], ["does"]):
            return False
        shown = [o for o in self.frame.outputs if isinstance(o, Noun)]
        return any(o.end < len(low) and self.noun(o).kind == "class" for o in shown[:1])

    def _shows_when_done(self) -> bool:
        """Return whether a verb would be shown that bounds what is asked for: "women born before 1945"."""
        low = self.question.low
        shown = [o for o in self.frame.outputs if isinstance(o, Noun) and not o.implied]
        done = [o for o in shown if low[o.end - 1] == "born" or is_done(low[o.end - 1])]
        return any(o in (c.left, c.right) or c.at == o.end for o in done for c in self.frame.compared)

    def _person(self) -> PlanNode:
        """Return whom a "who" asks for: of the kinds of people in the graph, the nearest to what is named."""
        kinds = kinds_of_people(self.schema)
        named = [c for n in self.graph.nodes for c in n.classes]
        verbs = [w for w in self.question.low[1:] if is_past(w)]
        did = doers(verbs, self.schema)
        if len(did) == 1 and did[0] not in named and self.joins.path(named, did, max_cost=3.5) is not None:
            return self.graph.node_of(did[0], typed=True)  # "who drove it" asks for drivers
        if not named:
            found = [self.noun(n) for n in self.frame.nouns]
            named = [c for f in found for c in (self._domains(f) if f.kind == "property" else [f.term])]
        for node in self.graph.unnamed:
            if set(node.classes) & set(kinds):
                return node
        # Where there is one kind of people, nobody else can be meant, though records lie between.
        widest, wide = (4.5, 2.5) if len(kinds) > 1 else (6.0, 6.0)
        far = [(w[0], c) for c in kinds if (w := self.joins.path(named, [c], max_cost=widest)) is not None]
        ways = [(cost, c) for cost, c in far if cost <= wide]
        if not ways:
            raise Unbuildable("nobody is in this graph")
        least = min(ways)[0]
        # Of kinds that are as near, the largest holds the others; by records, the nearest need not be meant.
        near = [c for cost, c in far if cost < least + (1.5 if least > _DIRECT else 0.3)]
        taken = {i for r in self.frame.restrictions for i in range(r.mention.start, r.mention.end)}
        said = [w for i, w in enumerate(self.question.words) if i not in taken]
        told = [c for c in near if told_by_verb(said, c, self.schema)]
        nearest = [c for cost, c in ways if cost < least + 0.3]
        best = max(told or nearest, key=lambda c: (self.schema.classes[c].count, c))
        above = self.schema.above
        if not told and any(best not in above(c) and c not in above(best) for c in near if c != best):
            self.guesses += 2  # patients and physicians are both people
        return self.graph.node_of(best, typed=True)

    def _people(self, node: PlanNode) -> bool:
        """Return whether the things of a node are people."""
        return not set(node.classes).isdisjoint(kinds_of_people(self.schema))

    def _person_of(self, deed: PlanNode) -> PlanNode | None:
        """Return who has done what a node stands for: "who reviewed it" asks for the author of a review."""
        ends = {
            (info.iri, cls)
            for info in self.schema.properties.values()
            if info.kind == "entity" and info.functional and set(info.domains) & set(deed.classes)
            for cls in info.ranges
            if self._people(PlanNode(Unknown("x"), (cls,)))
        }
        if len(ends) > 1:
            ends = self._doing(ends)
        if len(ends) != 1:
            return None
        ((iri, cls),) = ends
        found = self.graph.node_of(cls, new=True)
        self.graph.add(deed.place, iri, found.place)
        return found

    def _person_recorded(self) -> PlanNode | None:
        """Return whose record a question tells of by its first verb: "who joined a club after 2015"."""
        verb = next((n for n in self.frame.nouns if n.start <= 2), None)
        found = self.noun(verb) if verb is not None else None
        if found is None or found.kind != "property":
            return None
        domains = self._domains(found)
        if len(domains) != 1 or {*domains} & {*kinds_of_people(self.schema)}:
            return None
        deed = self.graph.owner(domains, constants=False)
        return self._person_of(deed) if not deed.typed else None

    def _doing(self, ends: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return those of several people that did something: those it was done by, or who are called so."""
        did = doers([w for w in self.question.low[1:] if is_past(w)], self.schema)
        called = {(iri, cls) for iri, cls in ends if cls in did}
        return called or {
            (iri, cls) for iri, cls in ends
            if any(name.lower().split()[-1] == "by" for name in self.schema.properties[iri].names)
        }  # fmt: skip

    def _focus(self) -> PlanNode:
        self.guesses += 1
        if (end := self._other_end()) is not None:
            if (
                self.frame.asks == "who"
                and not self._people(end)
                and (doer := self._person_of(end)) is not None
            ):
                return doer
            return self._somebody_near(end)
        if self.frame.asks == "who":
            return self._person_recorded() or self._person()
        if self.frame.asks == "where" and len(self.frame.restrictions) == 1 and self.question.low[1] != "can":
            for node in self.graph.nodes:
                if (where := self._place_of(node) or self._place_told(node)) is not None:
                    return where
        if self.graph.unnamed:
            return self.graph.unnamed[0]
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if found.kind == "property" and self.info(found).kind == "entity":
                related = self.graph.at(self._property(found, noun))
                assert related is not None
                return related
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if not noun.role and found.kind == "property" and self.info(found).kind == "date":
                # "What was opened in 2005" asks for things.
                owner = self.graph.owner(self._domains(found), constants=False)
                owner.typed |= len(self._domains(found)) == 1
                return owner
        raise Unbuildable("nothing is asked for")

    def _somebody_near(self, end: PlanNode) -> PlanNode:
        """Return the people that are related to the thing named, where a "who" was led to other things."""
        if self.frame.asks != "who" or self._people(end):
            return end
        named = [c for n in self.graph.nodes if n is not end for c in n.classes]
        near = [
            c for c in kinds_of_people(self.schema)
            if (way := self.joins.path([c], named, max_cost=1.6)) is not None and len(way[1]) == 1
        ]  # fmt: skip
        if len(near) != 1:
            return end
        self.graph.nodes.remove(end)
        gone = [p for p in self.graph.patterns if end.place in (p.subject, p.object)]
        self.graph.patterns = [p for p in self.graph.patterns if p not in gone]
        for pattern in gone:
            self.graph.used.remove(str(pattern.predicate))
        self.guesses += 1
        return self.graph.node_of(near[0], typed=True)

    def _somebody(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether what is shown may be asked for by "who": people, firms, or no things at all."""
        values = {c.value for c in columns if c.name in shown}
        coded = {
            p.subject for p in self.graph.patterns
            if p.object in values and (info := self.schema.properties.get(str(p.predicate)))
            and _CODES & {name.lower().split()[-1] for name in info.names}
        }  # fmt: skip
        nodes = [n for n in self.graph.nodes if n.place in values | coded]
        kinds = {w for n in nodes for c in n.classes if c in self.schema.classes
                 for name in self.schema.classes[c].names[:1] for w in name.lower().split()}  # fmt: skip
        people = kinds_of_people(self.schema)
        return not kinds or not people or any(map(self._people, nodes)) or bool(kinds & AGENTS)

    def _not_asked_for(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether a question for when or where something was has no time or no place for an answer."""
        asks = self.frame.asks
        if asks not in ("when", "where") or self.question.low[0] != asks or len(shown) != 1:
            return False
        value = next(c.value for c in columns if c.name == shown[0])
        said = [p for p in self.graph.patterns if p.object == value]
        infos = [self.schema.properties.get(str(p.predicate)) for p in said]
        wrong = ("text", "entity") if asks == "when" else ("date",)
        return bool(infos) and all(i is not None and i.kind in wrong for i in infos)

    def _people_for(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return what a "who" shows: people, in the place of what they have or did; of a "where" a place."""
        if self.frame.asks == "where" and self.question.low[0] == "where" and len(columns) == len(shown) == 1:
            return self._place_beyond(columns, shown)
        if self.frame.asks != "who":
            return self._doers_of(columns, shown) if self._asks_for_role(columns) else (columns, shown)
        columns, shown = self._whoever_has(columns, shown)
        return (columns, shown) if self._somebody(columns, shown) else self._doers_of(columns, shown)

    def _place_beyond(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return where an event took place, in the place of the event: "where was it produced"."""
        node = self.graph.at(columns[0].value)
        said = [p for p in self.graph.patterns if node is not None and p.object == node.place]
        infos = [i for p in said if (i := self.schema.properties.get(str(p.predicate))) is not None]
        if node is None or not infos or any(place_rank(i, self.schema, ()) < NOWHERE for i in infos):
            return columns, shown
        place = self._place_of(node)
        if place is None or not isinstance(place.place, Unknown):
            return columns, shown
        return [Column(place.place, place.place.name)], [place.place.name]

    def _asks_for_role(self, columns: Sequence[Column]) -> bool:
        """Return whether people are asked for by a role that records give them: "the owners of …"."""
        low = self.question.low
        asked = [o for o in self.frame.outputs if isinstance(o, Noun) and o.implied]
        words = {low[o.end - 1] for o in asked[:1]}
        alone = bool(words) and len(columns) == 1
        node = self.graph.at(columns[0].value) if alone else None
        role = any(is_role(word.removesuffix("s")) for word in words)
        return role and node is not None and not self._people(node) and bool(kinds_of_people(self.schema))

    def _whoever_has(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return whoever has the number or the date that is shown: "who" asks for no number."""
        asked = next((c.value for c in columns if [c.name] == shown), None)
        value = asked.value if isinstance(asked, Number) else asked
        said = self.graph.stating(value) if isinstance(value, Unknown) else None
        info = self.schema.properties.get(str(said.predicate)) if said is not None else None
        if said is None or info is None or info.kind not in ("number", "date"):
            return columns, shown
        node = self.graph.at(said.subject)
        if node is None or not isinstance(node.place, Unknown) or not kinds_of_people(self.schema):
            return columns, shown
        person = node if self._people(node) else self._person_of(node)
        if person is None or not isinstance(person.place, Unknown):
            raise Unbuildable("nobody has it")
        return [Column(person.place, person.place.name), *columns], [person.place.name]

    def _doers_of(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return the people who have done what is shown: "who reviewed it" asks for no reviews."""
        node = self.graph.at(columns[0].value) if len(columns) == 1 else None
        found = self._person_of(node) if node is not None else None
        if found is None:
            self.guesses += 4
            return columns, shown
        self.guesses += 0.5
        assert isinstance(found.place, Unknown)
        return [Column(found.place, found.place.name)], [found.place.name]

    def _sum_of(self, measure: FrameMeasure, info: PropertyInfo) -> Expression | None:
        """Return the sum of the amounts of what a relation is of: "the total funding" adds up grants.

        Args:
            measure: The fold, of words for the relation.
            info: The relation.

        Returns:
            None where the words may be for a number of things.
        """
        noun = measure.noun
        if noun is None or root(self.question.low[noun.end - 1]) not in _OF_MONEY:
            return None
        if self.question.low[noun.end - 1].endswith("s"):
            return None
        amounts = [i for i in stated_amounts(self.schema) if {*i.domains} & {*info.domains, *info.ranges}]
        if len(amounts) != 1:
            raise Unbuildable("which amount?")
        if measure.function not in ("sum", None):
            raise Unbuildable("an average of sums")
        node = self.graph.owner(self.schema.likeliest(amounts[0].domains))
        return Aggregate("sum", self.graph.number(node, amounts[0]), (self._unknown(node),))

    def _counted_kind(self, noun: Noun, info: PropertyInfo) -> Unknown | None:
        """Return the things of a kind that a relation before it is of: "number of neighbouring states of".

        Args:
            noun: The words for the relation.
            info: The relation, of things of one kind.
        """
        alike = {*info.domains} & {*info.ranges}
        behind = next((n for n in self.frame.nouns if n.start == noun.end), None)
        named = [n for n in self.graph.named if alike & {*n.classes}]
        if behind is None or len(named) != 1 or self.noun(behind).term not in alike:
            return None
        things = self.graph.node_of(self.noun(behind).term, typed=True)
        self.graph.add(named[0].place, info.iri, things.place)
        return things.place if isinstance(things.place, Unknown) else None

    def _money(self, cls: str, function: Fold) -> Expression:
        """Return a fold of the one property of a class that is an amount: "the total sales amount"."""
        words = {"price", "amount", "cost", "revenue", "value", "total", "worth"}
        found = [
            i for i in self.schema.properties.values()
            if cls in i.domains and i.kind == "number" and words & set(i.names[0].lower().split())
        ]  # fmt: skip
        if len(found) != 1:
            raise Unbuildable("which amount?")
        node = self.graph.node_of(cls, typed=True)
        return Aggregate(function, self.graph.number(node, found[0]), (self._unknown(node),))

    def _recorded(self, cls: str, measure: FrameMeasure) -> Expression | None:
        """Return a fold of what things of a class are records of; None where they are counted themselves."""
        function = measure.function
        if measure.money:
            return self._money(cls, function or "sum")
        if function in (None, "count") and (many := tally(cls, self.schema)) is not None:
            node = self.graph.node_of(cls, typed=True)
            return Aggregate("sum", self.graph.number(node, many), (self._unknown(node),))
        if function in ("sum", "average") and (own := number_recorded(cls, self.schema)):
            node = self.graph.node_of(cls, typed=True)
            return Aggregate(function, self.graph.number(node, own), (self._unknown(node),))
        refuse_things(function, self.question)
        return None

    @staticmethod
    def _unknown(node: PlanNode) -> Unknown:
        if not isinstance(node.place, Unknown):
            raise Unbuildable("an entity is not counted")
        return node.place

    def expression(self, output: Output) -> Expression:
        """Return what a noun, a measure or a unit of time stands for in the query."""
        if isinstance(output, TimeUnit):
            value, info = self._time(None, output.start)
            part = "year-month" if output.part == "month" else output.part
            return value if info.kind == "number" else DatePart(part, value)
        if isinstance(output, FrameMeasure):
            return self._measure(output)
        if (found := self.noun(output)).kind == "class":
            return self.graph.node_of(found.term, typed=True).place
        return self._holders(found, output) or self._property(found, output)

    def _property(self, found: Candidate, noun: Noun | None, owner: PlanNode | None = None) -> Expression:
        info = self.info(found)
        if owner is None or not set(owner.classes) & set(info.domains):
            owner = self._whose(found, noun) if noun is not None else None
        owner = owner or self.graph.owner(self._domains(found))
        kinds = self.schema.narrowest(self._domains(found))
        if owner.fixed and not any(self.graph.compatible(c, owner.classes) for c in kinds):
            self.guesses += 1  # others of a wider kind have it, but nothing of its own
        if noun is not None and info.kind == "entity" and self._done_to(noun, info):
            doing = self.graph.node_of(owner.classes[0], new=True)
            self.graph.add(doing.place, info.iri, owner.place)
            return doing.place
        if info.kind != "entity":
            return self.graph.number(owner, info) if info.kind == "number" else self.graph.value(owner, info)
        ranges = self.schema.likeliest(info.ranges)
        asked = noun is not None and noun.role in ("output", "measure")
        # The authors of Ada, who is one, are not what she has written.
        far = noun is not None and self._names_range(noun, info)
        whole = self._whole(info) if asked and not far else None
        if whole is not None and not found.inverse and isinstance(owner.place, Unknown):
            self.graph.add(owner.place, info.iri, whole)
            return owner.place
        if found.inverse or ((asked or not owner.typed) and self._names_domain(noun, info)):
            counted = found.inverse and noun is not None and noun.role == "measure"
            if (counted or isinstance(owner.place, URIRef)) and set(owner.classes) & set(ranges):
                near = self.graph.node_of(self._domains(found)[0], new=True)  # "tributaries of the Elbe"
                self.graph.add(near.place, info.iri, owner.place)
                return near.place
            others = [n for n in self.graph.nodes if n is not owner]
            target = next((n for n in others if set(n.classes) & set(ranges)), None)
            target = target or self.graph.node_of(ranges[0] if ranges else "", new=True)
            self.graph.add(owner.place, info.iri, target.place)
            # What is named is known: the other end is asked for.
            return target.place if isinstance(owner.place, URIRef) else owner.place
        both = noun is not None and self._owner_of_both(found, noun) is owner
        taken = {p.object for p in self.graph.patterns if both and p.subject == owner.place}
        taken -= {p.object for p in self.graph.patterns if p.predicate == URIRef(info.iri)}
        fitting = (
            n
            for n in self.graph.nodes
            if n is not owner and isinstance(n.place, Unknown) and set(n.classes) & set(ranges)
        )
        target = next((n for n in fitting if n.place not in taken), None) or self.graph.node_of(
            ranges[0] if ranges else "", new=True
        )
        self.graph.add(owner.place, info.iri, target.place)
        return target.place

    def _done_to(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether a noun made of a verb says what was done to things: a paper's "citations"."""
        word = self.question.low[noun.end - 1]
        own = any(word.removesuffix("s") in name.lower() for name in info.names)
        return word.endswith(("tion", "tions")) and not own and bool({*info.domains} & {*info.ranges})

    def _names_range(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether a noun is that of the things a property leads to, rather than a verb."""
        verb = self.question.low[noun.end - 1].endswith(("ed", "by"))
        return not verb and any(c.kind == "class" and c.term in info.ranges for c in noun.candidates)

    def _names_domain(self, noun: Noun | None, info: PropertyInfo) -> bool:
        """Return whether a noun is that of the things a property is said of: the "members" of "member of"."""
        if noun is None:
            return False
        said = [w.low for w in self.question.words[noun.start : noun.end]]
        ends = {w for c in info.ranges for name in self._names_of(c) for w in content(name)}
        return self.question.low[-1] != "of" and names_near_end(said, info.names, ends)

    def _whole(self, info: PropertyInfo) -> URIRef | None:
        """Return the named thing at the far end of a property: "members of NATO" asks for the near end."""
        named = self.graph.named
        far = [
            n for n in named if set(n.classes) <= set(info.ranges) and not set(n.classes) & set(info.domains)
        ]
        near = [n for n in named if set(n.classes) & set(info.domains)]
        place = far[0].place if len(far) == 1 and not near else None
        return place if isinstance(place, URIRef) else None

    def _whose(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return what a property is asked of: "the population of the capital"."""
        low = self.question.low
        if (shared := self._owner_of_both(found, noun)) is not None:
            return shared
        if (having := self._having_it(found, noun)) is not None:
            return having
        for other in self.frame.nouns:
            between = low[noun.end : other.start]
            if other.start >= noun.end and between and between[0] == "of" and set(between) <= OWNING:
                node = self._node_of(other) or self._called_so(other, found)
                if node is not None and set(node.classes) & set(self._domains(found)):
                    return node
            if other.start >= noun.end and other.role == "" and self._named_behind(other):
                kind = self.noun(other)
                if kind.kind == "property" and set(self.info(kind).ranges) & set(self._domains(found)):
                    return self._node_of(other)
        return None

    def _called_so(self, noun: Noun, found: Candidate) -> PlanNode | None:
        """Return the thing whose name a text is: the population of the capital, where that is only named."""
        called, graph = self.noun(noun), self.graph
        info = self.schema.properties.get(called.term)
        if info is None or info.kind != "text" or not self.schema.label_properties:
            return None
        kinds = [c for c in self._domains(found) if c not in info.domains]
        if len(kinds) != 1 or not set(self._domains(found)) & set(info.domains):
            return None
        owner = graph.owner(sorted(info.domains))
        node = graph.node_of(kinds[0], typed=True, new=True)
        graph.add(node.place, self.schema.label_properties[0], graph.value(owner, info))
        graph.linked.add((node.place, owner.place))
        self.guesses += 0.5
        return node

    def _having_it(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return what is said to have a property: the city in "the city with the largest population"."""
        before = [n for n in self.frame.nouns if n.end < noun.start]
        other = max(before, key=lambda n: n.end, default=None)
        if other is None or self.noun(other).kind != "class":
            return None
        between = self.question.low[other.end : noun.start]
        if not {"with", "having", "whose"} & set(between[:1]) or len(between) > 3:
            return None
        node = self._node_of(other)
        return node if node is not None and set(node.classes) & set(self._domains(found)) else None

    def _named_behind(self, noun: Noun) -> bool:
        """Return whether a noun is said of a thing: "the capital of Texas"."""
        low = self.question.low
        end = noun.end - (low[noun.end - 1] == "of")
        return any(low[end : r.mention.start] in (["of"], ["of", "the"]) for r in self.frame.restrictions)

    def _node_of(self, noun: Noun | None) -> PlanNode | None:
        """Return the node that a noun stands for, if it stands for things."""
        if noun is None:
            return None
        found = self.noun(noun)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True)
        if self.info(found).kind != "entity":
            return None
        return self.graph.at(self._property(found, noun))

    def _measure(self, measure: FrameMeasure) -> Expression:
        if measure.noun is None:
            return Aggregate("count", None, (self._unknown(self._focus()),))
        function = measure.function
        found = self.noun(measure.noun)
        if found.kind == "class":
            if (recorded := self._recorded(found.term, measure)) is not None:
                return recorded
            other = self._related(found.term, measure.noun) or self.graph.node_of(found.term, typed=True)
            return Aggregate("count", None, (self._unknown(other),))
        info = self.info(found)
        if function == "count" and (holders := self._holders(found, measure.noun)) is not None:
            return Aggregate("count", None, (holders,))
        if function == "count" and (others := self._counted_kind(measure.noun, info)) is not None:
            return Aggregate("count", None, (others,))
        value = self._property(found, measure.noun)
        if function is None:
            return value
        owner = self.graph.owner(self._domains(found))
        if info.kind == "entity" and function != "count" and (money := self._sum_of(measure, info)):
            return money
        if info.kind == "entity":
            refuse_things(function, self.question)
            return Aggregate(
                "count", None, (value,) if isinstance(value, Unknown) else (self._unknown(owner),)
            )
        if function == "count":
            if info.kind == "number" and self._different(measure.noun):
                return Aggregate("count", None, (self.graph.value(owner, info),))
            if info.kind != "number":
                return Aggregate("count", None, (value,) if isinstance(value, Unknown) else ())
            if is_value(info.names):
                raise Unbuildable("a value is no number of things")
            function = "sum"
        if owner.fixed:
            return value
        return Aggregate(function, value, (owner.place,) if isinstance(owner.place, Unknown) else ())

    def _different(self, noun: Noun) -> bool:
        """Return whether the values of a noun are counted, each once: "how many different codes"."""
        return bool(_DISTINCT & {*self.question.low[max(0, noun.start - 2) : noun.start]})

    def _related(self, cls: str, noun: Noun) -> PlanNode | None:
        """Return the other things of a class that a verb relates those shown to: "borders most states"."""
        shown = [o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs]
        others = [o for o in shown if isinstance(o, Noun) and o is not noun]
        if not any(self.noun(o).term == cls for o in others):
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term)
            own = info is not None and cls in info.domains and cls in info.ranges
            if verb.role == "" and found.kind == "property" and info is not None and own:
                node = self.graph.node_of(cls, typed=True)
                other = self.graph.node_of(cls, typed=True, new=True)
                ends = (node.place, other.place)
                one, far = reversed(ends) if self._is_done_to(verb) else ends
                self.graph.add(one, info.iri, far)
                return other
        return None

    def _time(
        self, noun: Noun | None, at: int, classes: Collection[str] = ()
    ) -> tuple[Expression, PropertyInfo]:
        """Return the date that a time in the question speaks of: the property beside it, or the likeliest.

        Args:
            noun: What is beside the time.
            at: Where it stands.
            classes: What it is likely said of.
        """
        if noun is not None:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                return self._property(found, noun), self.info(found)
            led = self.schema.properties.get(found.term)
            ends = led.ranges if led is not None and led.kind == "entity" else {}
            head = self.question.words[noun.end - 1].stem
            if any(head in content(name) for c in ends for name in self._names_of(c)):
                classes = [*classes, *ends]  # "lost in a battle before 1802" dates the battle
            unsure = found.kind == "property" and not noun.role and found.score < 0.75
            if unsure and found.score in self.matches:
                self.matches.remove(found.score)  # "published in 2005" is said of the year
        options = [i for i in self.schema.properties.values() if self._timely(i)]
        if not options:
            raise Unbuildable("no dates")
        hints = self._hints()
        measured = [m.noun for m in self.frame.measures if m.noun is not None]
        counted = {f.term for n in measured if (f := self.noun(n)).kind == "class"}
        counted |= {d for n in measured if (f := self.noun(n)).kind == "property" for d in self._domains(f)}
        around = {w.stem for w in self.question.words[max(0, at - 5) : at + 2]}
        before = range(max(0, at - 3), at)
        verbs = {root(self.question.low[i]) for i in before if not is_stopword(self.question.low[i])}
        verbs |= {other for verb in verbs for other in synonym_roots().get(verb, ())}
        begins = [i for i, w in enumerate(self.question.low) if root(w) in BEGINS_OR_ENDS]
        verbs |= {root(self.question.low[i]) for i in begins[:1]}

        def like(info: PropertyInfo) -> float:
            words = {s for name in info.names for s in content(name)} - _UNITS
            near = {w for w in words if any(alike(w, other) for other in around)}
            # The order date of an order says no more than its date, the delivery date does.
            special = words - {s for c in info.domains for name in self._names_of(c) for s in content(name)}
            told = 0.5 * bool(set(info.domains) & counted) - 0.3 * bool(
                special and not near and not words & set(hints)
            )
            told += 0.6 * bool(set(info.domains) & set(classes))
            told += 0.35 * len(near) + 0.1 * len(words & set(hints))
            # "Departed on a Tuesday" says which date is meant, "began" says so of a start.
            meant = verbs & (when_said(self.schema, info.iri) | {root(w) for w in words})
            told += 0.6 * (bool(meant) or any(alike(w, v) for w in words for v in verbs))
            open_ = self.graph.unnamed
            named = [n for n in self.graph.nodes if n not in open_ and set(n.classes) & set(info.domains)]
            if named and not any(set(n.classes) & set(info.domains) for n in open_):
                told -= 0.4  # what is named is seldom dated, what is asked for is
            return told - 0.3 * self._distance(sorted(info.domains), at)

        info = max(options, key=lambda i: (round(like(i), 6), i.subjects, i.iri))
        self.guesses += 1
        said = when_said(self.schema, info.iri)
        self.frame.read |= {i for i in begins[:1] if root(self.question.low[i]) in said}
        owner = self.graph.owner(by_number(info.domains))
        return self.graph.value(owner, info), info

    def _names_of(self, cls: str) -> Sequence[str]:
        info = self.schema.classes.get(cls)
        return info.names if info is not None else ()

    @staticmethod
    def _timely(info: PropertyInfo) -> bool:
        if info.kind == "date":
            return True
        words = {w for name in info.names for w in name.lower().split()}
        if info.kind != "number" or "year" in words:
            return info.kind == "number"
        years = [int(v) for v in (info.minimum, info.maximum) if v.isdigit()]
        return len(years) == 2 and years[0] > 1000 and years[1] < 2200 and not words.isdisjoint(_DATED)

    def _said_of(
        self, options: Sequence[tuple[Candidate, str]], noun: Noun | None, *, only: bool = False
    ) -> Sequence[tuple[Candidate, str]]:
        """Return those of an adjective's properties that the things it is said of have; else all, or none."""
        classes = self._classes_of(noun) if noun is not None else []
        own = [o for o in options if any(self.graph.compatible(c, classes) for c in self._domains(o[0]))]
        return own or ([] if only else options)

    def _classes_of(self, noun: Noun) -> list[str]:
        found = self.noun(noun)
        if found.kind == "class":
            return [found.term]
        info = self.info(found)
        return list(info.domains if found.inverse or info.kind != "entity" else info.ranges)

    def _classes(self) -> None:
        beside = {id(r.noun) for r in self.frame.restrictions if r.noun is not None}
        for noun in self.frame.nouns:
            if noun.role in ("missing", "denied"):
                continue
            want = "number" if noun.role in ("compared", "order") else self._asked_for(noun)
            measures = [m for m in self._measures() if m.noun is noun]
            if measures and measures[0].function not in (None, "count"):
                want = "number"
            found = self.noun(noun, want)
            if self.frame.asks == "where" and id(noun) in beside and self._apposed(noun):
                # "Where is Lake Iliamna?" asks for one thing, by its kind and name.
                noun.role = "beside"
                self.frame.outputs = [o for o in self.frame.outputs if o is not noun]
            if found.kind == "class" and (self._within_denied(noun) or self._is_besides(noun, found)):
                noun.role = "beside"
            elif found.kind == "class" and not (
                id(noun) in beside and noun.role in ("", "beside") and self._apposed(noun)
            ):
                self.graph.node_of(found.term, typed=True)

    def _is_besides(self, noun: Noun, found: Candidate) -> bool:
        """Say of things that they are of a further kind, if a noun says so: "actors that are directors"."""
        for one, further in kinds_besides(self.frame.nouns, self.question.low):
            kind = self.noun(one)
            if further is noun and kind.kind == "class" and found.term != kind.term:
                place = self.graph.node_of(kind.term, typed=True).place
                self.graph.patterns.append(Pattern(place, RDF.type, URIRef(found.term)))
                return True
        return False

    def _within_denied(self, noun: Noun) -> bool:
        """Return whether a kind only tells in what a denied name is not: "without Ada in the cast"."""
        low = self.question.low
        return not noun.role and any(
            r.negated and low[r.mention.end : noun.start] in (["in", "the"], ["in", "their"], ["in", "its"])
            for r in self.frame.restrictions
        )

    def _asked_for(self, noun: Noun) -> str:
        """Return `who` or `where`, if a question asks for that by a verb: "where was it published"."""
        asks, way = self.frame.asks, noun.candidates[0].way
        verb = noun.role == "output" and self.question.low[noun.start - 1] not in ("the", "a", "an", "of")
        return asks if verb and asks in ("who", "where") and way != "exact" else ""

    def _apposed(self, noun: Noun) -> bool:
        cls = self.noun(noun).term
        return any(
            cls in c.classes
            for r in self.frame.restrictions
            if r.noun is noun
            for c in r.mention.candidates[:3]
        )

    def _restrict(self, restriction: FrameRestriction) -> None:
        mention = restriction.mention
        beside = self.noun(restriction.noun) if restriction.noun is not None else None

        def like(c: Candidate) -> float:
            bonus = 0.0
            if beside is not None and (beside.term in c.properties or beside.term in c.classes):
                bonus = 0.3
                if self._one_of_many(restriction, beside, c):
                    bonus = -0.1
            classes = list(c.classes) if c.kind == "entity" else self._value_domains(c, beside)
            return (
                c.score
                + bonus
                - 0.1 * self._distance(classes, mention.start)
                - (0.02 if c.kind == "value" else 0)
            )

        found = self.pick(mention.end, mention.candidates, like)
        if found.kind == "entity":
            self._entity(restriction, found)
        else:
            self._value(restriction, found, beside)

    def _one_of_many(self, restriction: FrameRestriction, beside: Candidate, c: Candidate) -> bool:
        """Return whether a name is of one thing where several are spoken of: "pizza restaurants"."""
        if c.kind != "entity" or beside.kind != "class" or restriction.noun is None:
            return False
        alike = [o for o in restriction.mention.candidates if o.kind == "entity" and o.name == c.name]
        plural = self.question.words[restriction.noun.end - 1].plural
        return len(alike) == 1 and plural and restriction.noun.start == restriction.mention.end

    def _value_domains(self, c: Candidate, beside: Candidate | None) -> list[str]:
        properties = [p for p in c.properties if beside is not None and p == beside.term] or list(
            c.properties
        )
        return [
            d for p in properties if p in self.schema.properties for d in self.schema.properties[p].domains
        ]

    def _entity(self, restriction: FrameRestriction, found: Candidate) -> None:
        graph, mention = self.graph, restriction.mention
        same = [
            c for c in mention.candidates
            if c.kind == "entity" and c.score == found.score
            and likeness(c.name, found.name) <= Likeness.SIGNS
            and set(c.classes) == set(found.classes)
        ]  # fmt: skip
        hints = self._near(mention.start)
        if restriction.listed:
            node = graph.node_of(found.classes[0] if found.classes else "")
            self._alternatives(
                restriction,
                tuple(Block(conditions=(Comparison(node.place, "=", URIRef(c.term)),)) for c in same),
            )
            return
        if restriction.negated and (itself := self._itself(restriction, found)) is not None:
            graph.conditions.append(Comparison(itself, "!=", URIRef(found.term)))
            return
        if restriction.negated:
            way = self._reach(found.classes, URIRef(found.term))
            graph.without.append(Block(self._of_another(way, found) or way))
            return
        if restriction.either >= 0:
            graph.near = hints
            if (own := self._owner_like(found)) is not None:
                alike = (Comparison(own.place, "=", URIRef(c.term)) for c in same)
                self._alternatives(restriction, tuple(Block(conditions=(c,)) for c in alike))
                return
            self._alternatives(
                restriction, tuple(Block(self._reach(c.classes, URIRef(c.term))) for c in same)
            )
            return
        if len(same) == 1:
            node = graph.constant(found.term, found.classes)
            if self._paired(restriction, found):
                graph.paired.add(node.place)
            node.hints = hints
            return
        node = next(
            (
                n
                for n in graph.nodes
                if isinstance(n.place, Unknown) and n.classes[:1] == found.classes[:1] and not n.typed
            ),
            None,
        ) or graph.node_of(found.classes[0] if found.classes else "", new=True)
        node.hints = hints
        blocks = tuple(Block(conditions=(Comparison(node.place, "=", URIRef(c.term)),)) for c in same)
        self._alternatives(restriction, blocks)

    def _itself(self, restriction: FrameRestriction, found: Candidate) -> Unknown | None:
        """Return the things of its own kind from which a name is left out: "besides Rome, which cities"."""
        before = " ".join(self.question.low[: restriction.mention.start])
        if not _LEFT_OUT.search(before):
            return None
        asked = self.frame.asks == "who" and not any(n.typed for n in self.graph.nodes)
        typed = [
            n
            for n in self.graph.nodes
            if (n.typed or asked) and self.graph.compatible(n.classes[0], found.classes)
        ]  # "apart from Ada, who has …" asks for no kind
        return next((n.place for n in typed if isinstance(n.place, Unknown)), None)

    def _of_another(self, way: tuple[Pattern, ...], found: Candidate) -> tuple[Pattern, ...]:
        """Return triples that deny a value to others with it: "causes seen in Kiel but not in Bonn".

        What has one place only and is in another anyway need not be denied the first.
        """
        info = self.schema.properties.get(str(way[0].predicate))
        owner, shown = way[0].subject, [p for p in self.graph.patterns if p.subject == way[0].subject]
        others = [r for r in self.frame.restrictions if not r.negated and r.mention.candidates[0] != found]
        alike = any(set(r.mention.candidates[0].classes) & set(found.classes) for r in others)
        values = [p for p in shown if isinstance(p.object, Unknown)]
        if len(way) > 1 or info is None or not info.functional or not alike or len(values) != 1:
            return ()
        if any(n.place == owner and n.typed for n in self.graph.nodes):
            return ()
        other = self.graph.fresh("another")
        return Pattern(other, values[0].predicate, values[0].object), replace(way[0], subject=other)

    def _paired(self, restriction: FrameRestriction, found: Candidate) -> bool:
        """Return whether a name is joined to the one before it: "with Ada and Ben"."""
        start, low = restriction.mention.start, self.question.low
        return any(
            set(low[r.mention.end : start]) <= {"and", "the", "a", "an", "with", "also", "as", "well", "in"}
            and {"and"} & set(low[r.mention.end : start])
            and set(r.mention.candidates[0].classes) & set(found.classes)
            for r in self.frame.restrictions
            if r.mention.end < start
        )

    def _reach(self, classes: Sequence[str], end: URIRef | None = None) -> tuple[Pattern, ...]:
        """Return triples with unknowns of their own that lead from what is named to things of some classes.

        Args:
            classes: Classes of the end.
            end: The end itself; None for any.
        """
        graph = self.graph
        classes = self.schema.narrowest(classes) if end is not None else classes
        open_ = graph.unnamed
        sources = sorted({c for n in open_ for c in n.classes})
        # What is reviewed by one but not by another is no matter of one review.
        verbs = {
            self.noun(n).term
            for n in self.frame.nouns
            if self.question.words[n.end - 1].low.endswith(("ed", "ing"))
        }
        named = sorted({c for n in open_ if n.typed for c in n.classes} - verbs)
        way = self.joins.path(named, classes, discount=graph.discount) if named else None
        if way is None or not way[1]:
            way = self.joins.path(sources, classes, discount=graph.discount)
        if way is None or not way[1]:
            way = min(
                (
                    w
                    for c in classes
                    if c in sources and (w := self.joins.walk_to_other(c, discount=graph.discount))
                ),
                default=None,
            )
        if way is None or not way[1]:
            raise Unbuildable("nothing leads there")
        at = next(n for n in graph.nodes if way[1][0].source in n.classes)
        graph.cost += max(0.0, way[0] - 1)
        patterns: list[Pattern] = []
        place = at.place
        for number, step in enumerate(way[1]):
            following = end if end is not None and number == len(way[1]) - 1 else graph.fresh("other")
            subject, object_ = (place, following) if step.forward else (following, place)
            patterns.append(Pattern(subject, URIRef(step.property), object_))
            place = following
            graph.read.append(step.property)
        return tuple(patterns)

    def _value(self, restriction: FrameRestriction, found: Candidate, beside: Candidate | None) -> None:
        graph = self.graph
        at = restriction.mention.start
        before = {w.stem for w in self.question.words[max(0, at - 3) : at]}
        end = restriction.mention.end
        behind = [n for n in self.frame.nouns if n.start == end and n.candidates[0].kind == "class"]
        kinds = {self.noun(n).term for n in behind}

        def like(iri: str) -> float:
            info = self.schema.properties[iri]
            named = 0.5 if beside is not None and beside.term == iri else 0.0
            words = {w for name in info.names for w in name.lower().split()}
            # "Taught by female teachers" is said of the teachers.
            named += 0.5 * bool(kinds & {*info.domains})
            return named + 0.1 * len(before & words) - 0.12 * self._distance(sorted(info.domains), at)

        known = [p for p in found.properties if p in self.schema.properties]
        if not known:
            raise Unbuildable("value")
        iri = max(known, key=lambda p: (like(p), p))
        if len(known) > 1 and restriction.either < 0 and not restriction.negated:
            # "Bands from Ghana that played in Togo" come from one place and played in another.
            free = [p for p in known if not self._has_other_value(p, found) and self._of_noun(p, restriction)]
            iri = iri if iri in free or not free else max(free, key=lambda p: (like(p), p))
        info = self.schema.properties[iri]
        domains = by_number(info.domains)
        owner = graph.owner(domains, constants=self.frame.yes_or_no)
        key = (str(owner.place), iri)
        if self._restricted.get(key) == found.term and not restriction.negated:
            return
        again = key in self._restricted and restriction.either < 0 and not restriction.negated
        if again and info.functional:
            # One thing cannot have both values: another thing is meant, such as the other end of a journey.
            owner = graph.node_of(domains[0] if domains else "", new=True)
        if again and not info.functional:
            value = graph.fresh(info.names[0])
            graph.add(owner.place, iri, value)
        else:
            value = graph.value(owner, info)
        if not owner.hints:
            owner.hints = self._near(at)
        self._restricted[str(owner.place), iri] = found.term
        condition = text_is(value, found.term)
        if restriction.negated:
            graph.without.append(Block((Pattern(owner.place, URIRef(iri), value),), (condition,)))
            return
        self._alternatives(restriction, (Block(conditions=(condition,)),))

    def _of_noun(self, iri: str, restriction: FrameRestriction) -> bool:
        """Return whether a property may be said of what stands beside a value: "female doctors"."""
        best = None if restriction.noun is None else restriction.noun.candidates[0]
        domains = self.schema.properties[iri].domains
        return (
            best is None
            or best.kind != "class"
            or any(self.graph.compatible(best.term, [d]) for d in domains)
        )

    def _has_other_value(self, iri: str, found: Candidate) -> bool:
        """Return whether a property that has one value only has another one of its things already."""
        others = (value for (_, known), value in self._restricted.items() if known == iri)
        return self.schema.properties[iri].functional and any(value != found.term for value in others)

    def _alternatives(self, restriction: FrameRestriction, blocks: tuple[Block, ...]) -> None:
        if restriction.either < 0:
            if len(blocks) == 1:
                self.graph.conditions.extend(blocks[0].conditions)
            else:
                self.graph.either.append(blocks)
            return
        self._pending.setdefault(restriction.either, []).extend(blocks)

    def _merge_alternatives(self) -> None:
        for number in sorted(self._pending):
            self.graph.either.append(tuple(self._pending.pop(number)))

    def _waits(self, restriction: FrameRestriction) -> bool:
        """Return whether it is known only with what is shown what a name is said of: "rooms of A or B"."""
        one_of = restriction.either >= 0 and not restriction.listed
        thing = restriction.mention.candidates[0].kind == "entity"
        alone = not self.graph.unnamed
        return (restriction.negated or (one_of and thing)) and alone

    def _owner_like(self, found: Candidate) -> PlanNode | None:
        """Return the thing of the class of a name whose properties are shown: the "salary of Ada or Ben"."""
        shown = {p.subject for p in self.graph.patterns}
        kinds = {n.term for noun in self.frame.nouns for n in noun.candidates[:1] if n.kind == "class"}
        nodes = [n for n in self.graph.unnamed if n.place in shown]
        return next((n for n in nodes if {*n.classes} & {*found.classes} and not {*n.classes} & kinds), None)

    def _most_of(self, columns: list[Column]) -> Expression:
        """Return what a verb before "the most" tells the number of: "which customer spent the most"."""
        if not columns:
            raise Unbuildable("the most of what?")
        low, shown = self.question.low, columns[0].value
        most = max((i for i, w in enumerate(low) if w in ("most", "least")), default=len(low))
        verbs = [n for n in self.frame.nouns if not n.role and n.start < most and not self._apposed_beside(n)]
        if not verbs:
            return self._how_often(columns)
        verb = verbs[-1]
        found = self.noun(verb)
        info = self.schema.properties.get(found.term)
        if len(verbs) > 1 or not isinstance(shown, Unknown):
            raise Unbuildable("nothing to order by")
        if low[verb.start - 1] in _ARTICLES or not {"most", "least"} & {
            *low[verb.end : verb.end + 3],
            *low[-1:],
        }:
            raise Unbuildable("nothing to order by")
        verb.role = "measure"
        if info is None:
            return Aggregate("count", None, (self._unknown(self.graph.node_of(found.term, typed=True)),))
        if info.kind == "number":
            owner = self.graph.owner(self._domains(self.noun(verb)))
            value = self.graph.number(owner, info)
            return value if owner.place == shown else Aggregate("sum", value, (self._unknown(owner),))
        node = self.graph.at(shown)
        if info.kind != "entity" or node is None or not set(node.classes) & {*info.domains, *info.ranges}:
            raise Unbuildable("nothing to order by")
        return self._others_of(node, info, done=low[verb.end - 1].endswith("ed"))

    def _apposed_beside(self, noun: Noun) -> bool:
        return self._beside(noun) and self.noun(noun).kind == "class"

    def _others_of(self, node: PlanNode, info: PropertyInfo, *, done: bool) -> Expression:
        """Return the number of things that a property relates to those of a node.

        Args:
            node: The node.
            info: The property.
            done: Whether the node is its object, where it may be either.
        """
        backward = set(node.classes) & set(info.ranges)
        backward_ = bool(backward) and (done or not set(node.classes) & set(info.domains))
        others = info.domains if backward_ else info.ranges
        other = self.graph.node_of(next(iter(by_number(others)), ""), new=True)
        ends = (other.place, node.place) if backward_ else (node.place, other.place)
        self.graph.add(ends[0], info.iri, ends[1])
        return Aggregate("count", None, (self._unknown(other),))

    def _done_most(self, noun: Noun) -> Expression | None:
        """Return how often something was done to things: "the most cited paper"."""
        word = self.question.low[noun.end - 1]
        behind = next((n for n in self.frame.nouns if n.start == noun.end), None)
        info = self.schema.properties.get(self.noun(noun).term)
        if behind is None or info is None or info.kind != "entity":
            return None
        if not (word.endswith("ed") or word in PARTICIPLES) or (node := self._node_of(behind)) is None:
            return None
        if not set(node.classes) & {*info.domains, *info.ranges}:
            return None
        return self._others_of(node, info, done=True)

    def _how_often(self, columns: list[Column]) -> Expression:
        """Return how many things have what is shown: "the most common cause", "which way is used most"."""
        if not columns:
            raise Unbuildable("the most of what?")
        shown, low, top = columns[0].value, self.question.low, self.frame.superlative
        said = top is not None and top.adjective in COMMON
        if not isinstance(shown, Unknown) or len(columns) > 1 or not (said or low[-1] in ("most", "least")):
            raise Unbuildable("nothing to order by")
        verb = next((w for w in reversed(low[:-1]) if w != "the"), "")
        if not said and verb in _GETTING:
            raise Unbuildable(f"{verb} what?")  # who earns the most is not who does most
        self.guesses += 0.5
        pattern = self.graph.stating(shown)
        owner = self.graph.at(pattern.subject) if pattern is not None else None
        if owner is not None:
            return Aggregate("count", None, (self._unknown(owner),))
        node = self.graph.at(shown)
        if node is None or len(self.graph.nodes) > 1:
            raise Unbuildable("how many of what?")
        leading = [i for i in self.schema.properties.values() if set(i.ranges) & set(node.classes)]
        kinds = {c for i in leading for c in i.domains}
        if len(leading) != 1 or len(kinds) != 1:
            raise Unbuildable("how many of what?")
        return self._others_of(node, leading[0], done=True)

    def _told_otherwise(self, columns: Sequence[Column], shown: list[str]) -> list[str]:
        """Leave out the thing of each row where what is shown of it is listed: "their id and total"."""
        groups, outputs = self.frame.groups, self.frame.outputs
        if len(groups) != 1 or not isinstance(groups[0], Noun) or self.noun(groups[0]).kind != "class":
            return shown
        place = self.expression(groups[0])
        told = [self.noun(o) for o in outputs if isinstance(o, Noun) and self.noun(o).kind == "property"]
        own = [self.info(f) for f in told if self.info(f).kind != "entity"]
        said = {str(p.predicate) for p in self.graph.patterns if p.subject == place}
        keys = [i for i in own if i.iri in said and IDENTIFYING & {*i.names[0].lower().split()}]
        called = bool(keys) and not any(map(self._plainly_a_name, keys))
        # "The name of the buyer and the brand of the car for each sale" says nothing of the sale itself.
        last = max((o.start for o in outputs if isinstance(o, Noun)), default=0)
        plain = len(own) == len(outputs) > 1 and groups[0].start > last
        apart = plain and not any(i.iri in said for i in own)
        left = [c.name for c in columns if c.value == place] if called or apart else []
        return [name for name in shown if name not in left] or shown

    def _repeats(self, output: Output, expression: Expression, columns: Sequence[Column]) -> bool:
        """Return whether an output is the name of a thing that is shown already."""
        if not isinstance(output, Noun) or not isinstance(expression, Unknown):
            return False
        owner = next((p.subject for p in self.graph.patterns if p.object == expression), None)
        found = self.noun(output)
        return (
            found.kind == "property"
            and self.info(found).kind == "text"
            and self._plainly_a_name(self.info(found))
            and any(c.value == owner for c in columns)
        )

    def _plainly_a_name(self, info: PropertyInfo) -> bool:
        """Return whether a property is called "name", "title" or "label", perhaps behind its class."""
        words = info.names[0].lower().split()
        classes = {
            w
            for c in info.domains
            if c in self.schema.classes
            for w in self.schema.classes[c].names[0].lower().split()
        }
        return len(words) < 4 and [w for w in words if w not in classes] in (["name"], ["title"], ["label"])

    def _shows_things(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether what is shown are things or groups, rather than properties of things."""
        places = {n.place for n in self.graph.nodes}
        return len(shown) == 1 and any(c.name == shown[0] and c.value in places for c in columns)

    def _node_shown(self, columns: Sequence[Column]) -> PlanNode | None:
        """Return the things that are shown first."""
        return self.graph.at(columns[0].value) if columns else None

    def _owner_of_shown(self, columns: Sequence[Column]) -> PlanNode | None:
        """Return the things that have what is shown first: the players of "name and age of all players"."""
        values = {u for c in columns[:1] for u in (c.value, getattr(c.value, "value", None))}
        owners = {p.subject for p in self.graph.patterns if p.object in values}
        return next((n for n in self.graph.nodes if n.place in owners), None)

    def _has(self, node: PlanNode, found: Candidate) -> bool:
        return any(self.graph.compatible(c, node.classes) for c in self._domains(found))

    def _of_shown(self, columns: Sequence[Column]) -> list[tuple[Candidate, str]]:
        """Return what an adjective may measure of the things that are shown: "the youngest drummer"."""
        top, node = self.frame.superlative, self._node_shown(columns)
        if top is None or node is None:
            return []
        person = self.frame.asks == "who" and self._people(node)
        person = person and top.of is not None and self.noun(top.of).kind == "property"
        if top.of is not None and top.of not in self.frame.outputs and not person:
            return []
        return [o for o in self.dimension(top.adjective) if self._has(node, o[0])]

    def _first_ones(self) -> list[tuple[Candidate, str]]:
        """Return the one time that things have, of which a question asks for the first or the last."""
        top = self.frame.superlative
        if top is None or top.of is None or top.adjective not in ("first", "last"):
            return []
        classes = self._classes_of(top.of)
        own = [i for i in self.schema.properties.values()
               if self._timely(i) and any(self.graph.compatible(c, classes) for c in i.domains)]  # fmt: skip
        way = "least" if top.adjective == "first" else "greatest"
        return [
            (Candidate("property", i.iri, 0.9, i.names[0], "meaning"), way) for i in own[:1] if len(own) == 1
        ]

    def _by_adjective(self, ordering: Ordering, columns: Sequence[Column]) -> tuple[Expression, bool]:
        """Return what an adjective orders by, and whether downwards: "newest first"."""
        node = self._node_shown(columns) or self._owner_of_shown(columns)
        options = [
            o for o in self.dimension(ordering.adjective) if node is not None and self._has(node, o[0])
        ]
        if not options:
            raise Unbuildable(ordering.adjective)
        best, way = max(options, key=lambda o: (o[0].score, o[0].term))
        self.matches.append(best.score)
        return self._property(best, None, node), (way == "greatest") != bool(ordering.descending)

    def _by_unnamed(self, ordering: Ordering, columns: Sequence[Column]) -> Expression | None:
        """Return the time or number that orders what is shown: "most recent first"; None if none does."""
        shown, patterns = [c.value for c in columns], self.graph.patterns
        if not ordering.by or ordering.measure is not None:
            return None
        if ordering.by == "number":
            return next((v for v in reversed(shown) if not isinstance(v, Unknown)), None)
        if parts := [v for v in shown if isinstance(v, DatePart)]:
            return parts[-1]
        node = self._node_shown(columns)
        said = {p.object: i for p in patterns if (i := self.schema.properties.get(str(p.predicate)))}
        values = [u for v in shown for u in (v, getattr(v, "value", None)) if isinstance(u, Unknown)]
        own = [p.object for p in patterns if node is not None and p.subject == node.place]
        for value in (*reversed(values), *own):
            if value in said and self._timely(said[value]) and isinstance(value, Unknown):
                return value if said[value].kind == "date" else Number(value)
        infos = self.schema.properties.values()
        dates = [i for i in infos if node is not None and {*i.domains} & {*node.classes} and self._timely(i)]
        if node is None or len(dates) != 1:
            raise Unbuildable("by which time?")
        return self.graph.number(node, dates[0])

    def _loses_a_relative(self, plan: Plan) -> bool:
        """Return whether nothing is said of those of whom a clause tells: "people whose father is a baker".

        Where fathers are people, too, it is easily said of the people that are asked for.
        """
        low, where = self.question.low, plan.where
        for iri in sorted({str(p.predicate) for p in where.patterns}):
            info = self.schema.properties.get(iri)
            if info is None or not any(self.graph.compatible(cls, [*info.ranges]) for cls in info.domains):
                continue
            steps = [p for p in where.patterns if str(p.predicate) == iri]
            rest = tuple(p for p in where.patterns if p not in steps and p.predicate != RDF.type)
            said = mentioned(replace(where, patterns=rest))
            named = roots_of(info)
            for at in (i for i, word in enumerate(low[:-1]) if root(word) in named):
                whose, behind = "whose" in low[max(0, at - 2) : at], low[at + 1]
                if not (whose or behind in _WHO or is_participle(behind)):
                    continue
                unsaid = any(isinstance(p.object, Unknown) and p.object not in said for p in steps)
                if unsaid or (whose and self._before_whose(at) in {p.object for p in steps}):
                    return True
        return False

    def _before_whose(self, at: int) -> Expression | None:
        """Return the things whose relative is spoken of: "people whose father is a baker"."""
        low = self.question.low
        kinds = {self.noun(n).term for n in self.frame.nouns if low[n.end : at] == ["whose"]}
        return next((n.place for n in self.graph.unnamed if n.typed and kinds & {*n.classes}), None)

    def _shows_others(self, plan: Plan, shown: Sequence[str]) -> bool:
        """Return whether other things are shown than a question begins with: "conductors without …"."""
        asked = asked_class(self.segmentation, self.question)
        value = next((c.value for c in plan.columns if c.name in shown[:1]), None)
        if asked is None or not isinstance(value, Unknown):
            return False
        kinds = {str(p.object) for p in plan.where.patterns if p.subject == value and p.predicate == RDF.type}
        above = self.schema.above
        return bool(kinds) and not any(asked == k or asked in above(k) or k in above(asked) for k in kinds)

    def _added_up(self, output: Output, value: Expression) -> Expression:
        """Return the sum of what somebody did: "how far did Ada drive" adds up her trips."""
        low = self.question.low
        asked = low[0] == "how" and isinstance(output, Noun) and output.start == 1
        if not asked or not _DID & {*low[2:3]} or not isinstance(value, Unknown | Number):
            return value
        owner = self.graph.owner(self._domains(self.noun(cast(Noun, output)))).place
        return Aggregate("sum", value, (owner,)) if isinstance(owner, Unknown) else value

    def _ungrouped(self) -> None:
        """Leave out a group of things that have one number each: "the average number of nights per stay"."""
        groups, measures = self.frame.groups, self.frame.measures
        if (
            len(groups) != 1
            or not isinstance(groups[0], Noun)
            or len(measures) != 1
            or measures[0].noun is None
        ):
            return
        others = [n for n in self.frame.nouns if n not in (groups[0], measures[0].noun)]
        if any(self.noun(n).kind == "class" for n in others):
            return  # "the average population of cities per state"
        kind, number = self.noun(groups[0]), self.noun(measures[0].noun, "number")
        info = self.schema.properties.get(number.term)
        averaged = kind.kind == "class" and measures[0].function == "average"
        if averaged and info is not None and info.functional and kind.term in info.domains:
            self.frame.groups = []

    def _doer(self) -> Unknown | None:
        """Return whom a "who" asks for that did something to things: "who wrote the longest play"."""
        frame, low = self.frame, self.question.low
        verb = next((n for n in frame.nouns if n.role in ("", "output") and n.start <= 3), None)
        if frame.asks != "who" or verb is None or frame.groups or low[verb.start - 1] not in _DOING:
            return None
        behind = [n for n in frame.nouns if n.start >= verb.end and self.noun(n).kind == "class"]
        found = self.noun(verb)
        info = self.schema.properties.get(found.term) if found.kind == "property" else None
        if info is None or info.kind != "entity" or not behind:
            return None
        if any(o is not verb and o not in behind for o in self._nouns()):
            return None
        thing = self.graph.node_of(self.noun(behind[0]).term, typed=True)
        if not isinstance(thing.place, Unknown) or {"of"} & {*low[verb.end : behind[0].start]}:
            return None
        is_subject, is_object = (self._of_kind(thing.classes, ends) for ends in (info.domains, info.ranges))
        if is_subject and is_object:
            said = "by" in low[verb.start : behind[0].start]
            is_subject = said != found.name.lower().endswith(" by")
        elif not is_subject and not is_object:
            return None
        ends = info.ranges if is_subject else info.domains
        other = self.graph.node_of(most_of(ends), new=True)
        if is_subject:
            self.graph.add(thing.place, info.iri, other.place)
        else:
            self.graph.add(other.place, info.iri, thing.place)
        frame.outputs = []
        return other.place if isinstance(other.place, Unknown) else None

    def _nouns(self) -> list[Noun | None]:
        """Return the nouns of what is shown."""
        return [o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs
                if not isinstance(o, TimeUnit)]  # fmt: skip

    def _of_kind(self, classes: Sequence[str], ends: Collection[str]) -> bool:
        return any(self.graph.compatible(c, classes) for c in ends)

    def _timed_outputs(self) -> list[Output]:
        """Return what is shown; where a question asks when something was, a time in the place of its verb."""
        outputs = self.frame.outputs
        nouns = [self.noun(o) for o in outputs if isinstance(o, Noun)]
        if self.frame.asks != "when" or len(nouns) != len(outputs):
            return outputs
        top = self.frame.superlative
        visit = len(nouns) == 1 and nouns[0].kind == "class"
        if visit and (verb := self._time_verb(outputs[0])) is not None:
            return [verb]
        if visit and (top is None or top.adjective not in _ENDS_OF_TIME):
            # "When was it serviced" asks for the dates of services, if these have any.
            infos = self.schema.properties.values()
            done = top is None and not is_role(nouns[0].name.split()[-1])  # "written" asks for no writer
            visit = done and any(i.kind == "date" and nouns[0].term in i.domains for i in infos)
        if not visit and any(f.kind != "property" or self.info(f).kind != "entity" for f in nouns):
            return outputs
        at = min((o.start for o in outputs if isinstance(o, Noun)), default=len(self.question.low) - 1)
        verbs = [
            (o, f)
            for o, f in zip(outputs, nouns, strict=True)
            if f.kind == "property" and isinstance(o, Noun)
        ]
        meant = [c for o, f in verbs for c in o.candidates if c.score >= f.score and self._is_of_time(c)]
        domains = [c for f in nouns if f.kind == "property" for c in self._domains(f)]
        info = self.info(meant[0]) if meant else self._time(None, at, domains)[1]
        score = 0.9 if outputs else 0.8
        found = Candidate("property", info.iri, score, info.names[0], "meaning")
        time = Noun(at, at + 1, (found,), "output", implied=True)
        self.frame.nouns.append(time)
        self.matches = [m for m in self.matches if m not in [f.score for f in nouns]] + [score]
        return [time]

    def _is_of_time(self, candidate: Candidate) -> bool:
        return candidate.kind == "property" and self._timely(self.info(candidate))

    def _time_verb(self, thing: Output) -> Noun | None:
        """Return the verb that says of which time a question asks: "when was the oldest book published"."""
        behind = [
            n for n in self.frame.nouns if isinstance(thing, Noun) and n.start == thing.end and not n.role
        ]
        for noun in behind:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                noun.role = "output"
                return noun
        return None

    def _columns(self) -> tuple[list[Column], list[str], list[Order]]:
        frame = self.frame
        columns: list[Column] = []
        shown: list[str] = []
        names: set[str] = set()
        typed = [n for n in self.graph.unnamed if n.typed]
        if frame.named and typed and not frame.groups:
            columns.append(Column(typed[0].place, self._name(typed[0].place, None, names)))
            shown.append(columns[0].name)
        if (doer := self._doer()) is not None:
            columns.append(Column(doer, self._name(doer, None, names)))
            shown.append(columns[0].name)
        self._ungrouped()
        for output in [*frame.groups, *self._timed_outputs()]:
            expression = self._added_up(output, self.expression(output))
            if self._repeats(output, expression, columns):
                continue
            same = next((c for c in columns if c.value == expression), None)
            if same is None:
                same = Column(expression, self._name(expression, output, names))
                columns.append(same)
            if same.name not in shown:
                shown.append(same.name)
        shown = self._told_otherwise(columns, shown)
        if not columns and not frame.yes_or_no:
            node = self._focus()
            columns.append(Column(node.place, self._name(node.place, None, names)))
            shown.append(columns[0].name)
        plainly = frame.asks == "where" and frame.superlative is not None
        if plainly and self._shows_things(columns, shown):
            node = next(n for n in self.graph.nodes if n.place == columns[0].value)
            plain = not frame.restrictions or ways_to_say_where(node.classes[0], self.schema) < 2
            place = self._place_of(node) if plain else None
            if place is not None:
                columns = [Column(place.place, self._name(place.place, None, names))]
                shown = [columns[0].name]
        return columns, shown, self._order(columns, shown, names)

    def _order(self, columns: list[Column], shown: list[str], names: set[str]) -> list[Order]:
        """Return the order of the rows; columns that order are added, and shown where that is usual."""
        frame, order = self.frame, list[Order]()
        top = frame.superlative
        if top is not None:
            hidden = self._top_column(columns, names)
            if (top.n or 1) > 1 and self._shows_things(columns, shown) and hidden.name not in shown:
                shown.append(hidden.name)
            order.append(Order(hidden.name, top.direction == "greatest"))
        for ordering in frame.orders:
            if ordering.adjective:
                by, ordering.descending = self._by_adjective(ordering, columns)
                key = self._hidden(by, columns, names)
            elif (value := self._by_unnamed(ordering, columns)) is not None:
                key = self._hidden(value, columns, names)
            elif ordering.measure is None:
                key = columns[-1] if frame.measures and ordering.descending is not None else columns[0]
                if top is not None:
                    # "The top three, in descending order" is said twice.
                    continue
            else:
                key = self._hidden(self.expression(ordering.measure), columns, names, ordering.measure)
            # Of "by year, newest first" the second is the order.
            found = Order(key.name, bool(ordering.descending))
            if top is not None and order[0].column == key.name and order[0] != found:
                raise Unbuildable("ordered against what is extreme")
            order = [o for o in order if o.column != key.name] + [found]
        return order

    def _hidden(
        self, expression: Expression, columns: list[Column], names: set[str], output: Output = _UNNAMED
    ) -> Column:
        for column in columns:
            if column.value == expression:
                return column
        columns.append(Column(expression, self._name(expression, output, names)))
        return columns[-1]

    def _top_column(self, columns: list[Column], names: set[str]) -> Column:
        top = self.frame.superlative
        assert top is not None
        if top.measure is not None and top.adjective:
            plain = positive(top.adjective)
            top.direction = DIMENSIONS[plain][0] if plain else top.direction
        measured = [c for c in columns if isinstance(c.value, Aggregate)]
        if top.measure is None and top.adjective and not (measured and top.adjective in ("best", "worst")):
            options = (
                self._first_ones()
                or self._of_shown(columns)
                or self._said_of(self.dimension(top.adjective), top.of)
            )
            options = [o for o in options if self._distance(self._domains(o[0]), 0) < 3] or list(options)
            if not options and top.adjective in COMMON:
                return self._hidden(self._how_often(columns), columns, names)
            if not options:
                raise Unbuildable(top.adjective)
            best = max(
                options, key=lambda o: (o[0].score - 0.12 * self._distance(self._domains(o[0]), 0), o[0].term)
            )
            if top.adjective not in ("most", "least"):
                top.direction = best[1] if not top.turned else _OPPOSITE[best[1]]
            self.matches.append(best[0].score)
            shown = self._node_shown(columns)
            own = shown is not None and self._has(shown, best[0]) and not self._of_others(top.of, shown, best)
            if not own and (top.of is None or not self._said_of([best], top.of, only=True)):
                self.guesses += 2  # "the largest river" by the area of what it runs through
            expression: Expression = self._property(best[0], None, shown if own else self._node_of(top.of))
            owner = self.graph.owner(self._domains(best[0])).place
            if top.fold and isinstance(owner, Unknown) and [owner] != [c.value for c in columns[:1]]:
                expression = Aggregate(top.fold, expression, (owner,))
            return self._hidden(expression, columns, names)
        if top.measure is None:
            if measured:
                return measured[-1]
            return self._hidden(self._most_of(columns), columns, names)
        if top.measure in self.frame.outputs and top.measure.function is None and len(columns) == 1:
            # "What is the highest price?" asks for the price alone.
            return columns[0]
        return self._hidden(self._top_measure(top.measure, columns), columns, names, top.measure)

    def _of_others(self, of: Noun | None, shown: PlanNode, best: tuple[Candidate, str]) -> bool:
        """Return whether it is other things that are extreme: "the capital of the smallest state"."""
        kind = None if of is None else self.noun(of)
        if of is None or kind is None or kind.kind != "class":
            return False
        return not self._of_kind([kind.term], shown.classes) and bool(self._said_of([best], of, only=True))

    def _top_measure(self, measure: FrameMeasure, columns: list[Column]) -> Expression:
        if measure.noun is not None and (number := self._done_most(measure.noun)) is not None:
            return number
        expression = self.expression(measure)
        if isinstance(expression, Aggregate) or measure.noun is None:
            return expression
        found = self.noun(measure.noun)
        if found.kind == "class" or self.info(found).kind in ("entity", "text"):
            if found.kind == "property" and self.info(found).functional and self.info(found).kind == "text":
                return self._number_beside(self.info(found))
            if found.kind == "property" and (money := self._sum_of(measure, self.info(found))) is not None:
                return money
            return self.expression(FrameMeasure("count", measure.noun))
        return self._summed(expression, measure.noun, columns)

    def _summed(self, value: Expression, noun: Noun, columns: list[Column]) -> Expression:
        """Return the sum of a number that what is shown has through other things: "drove the most miles".

        Where the number is shown as well, its column becomes one of sums.
        """
        low = self.question.low
        said = {low[noun.start - 1], *low[noun.end : noun.end + 2]}
        if not {"most", "fewest", "least"} & said:
            return value
        owner = self.graph.owner(self._domains(self.noun(noun))).place
        told = {p.object for p in self.graph.patterns if p.subject == owner and not self._leads(p)}
        others = [c.value for c in columns if c.value != value]
        if not others or not isinstance(owner, Unknown) or owner in others or told & {*others}:
            return value
        if not all(isinstance(o, Unknown) for o in others):
            return value
        if is_value(self.info(self.noun(noun)).names):
            raise Unbuildable("a value is no number of things")
        total = Aggregate("sum", value, (owner,))
        columns[:] = [replace(c, value=total) if c.value == value else c for c in columns]
        return total

    def _leads(self, pattern: Pattern) -> bool:
        """Return whether a triple leads to a thing."""
        info = self.schema.properties.get(str(pattern.predicate))
        return info is not None and info.kind == "entity"

    def _beside_text(self, info: PropertyInfo) -> PropertyInfo:
        """Return the number that goes with a text: the highest elevation with the highest point."""
        words = set(info.names[0].lower().split())
        near = [
            other
            for other in self.schema.properties.values()
            if other.kind == "number"
            and set(other.domains) & set(info.domains)
            and words & set(other.names[0].lower().split())
        ]
        if len(near) != 1:
            raise Unbuildable("a text is neither most nor least")
        return near[0]

    def _number_beside(self, info: PropertyInfo) -> Expression:
        self.guesses += 1
        return self.graph.number(self.graph.owner(sorted(info.domains)), self._beside_text(info))

    def _name(self, expression: Expression, output: Output | None, names: set[str]) -> str:
        base = ""
        if isinstance(output, FrameMeasure) and output.noun is not None:
            chosen = self.picked.get(output.noun.end, output.noun.candidates[0])
            noun = chosen.name if chosen in output.noun.candidates else output.noun.candidates[0].name
            fold = _FOLD_WORDS.get(output.function or "", "")
            fold = "" if fold == noun.split()[0].lower() else fold
            if output.function == "count" and (is_count([noun]) or noun.split()[-1] in _NUMBERS):
                fold = ""  # A "review count" is a number already.
            elif is_participle(noun):
                noun, fold = f"number {noun}", "" if output.function == "count" else fold
            elif output.function == "count" and noun.split()[-1] not in PREPOSITIONS:
                noun = plural(noun)
            base = f"{fold} {noun}".strip()
        elif isinstance(expression, Unknown):
            base = expression.name
        elif isinstance(output, Noun):
            base = self.picked.get(output.end, output.candidates[0]).name
        elif isinstance(output, TimeUnit):
            base = output.part
        name = self.graph.fresh(base or "value").name if base != getattr(expression, "name", None) else base
        names.add(name)
        return name

    def _in_period(self, compared: Compared, period: Period) -> None:
        if not compared.either or self._dated_by is None:
            self._dated_by = self._time(compared.left or compared.right, compared.at)
        value, info = self._dated_by
        said = compared
        if negated := compared.relation == "!=":
            said = replace(compared, relation="=")
        if period.low is not None and period.high is not None:
            found = self._within(said, period, value, info)
        elif period.unit in _RECURRING:
            found = self._recurring(said, period, value, info)
        else:
            found = self._at_clock(said, period, value, info)
        if negated:
            if len(found) > 1:
                raise Unbuildable("not one of two times")
            # Not in a time is before or after it.
            outside = (
                replace(c, relation=NEGATED[c.relation]) for c in found[0] if isinstance(c, Comparison)
            )
            found = tuple((one,) for one in outside)
        elif compared.either and self._chosen:
            # "Before 1990 or after 2019", "in July or August"
            found = (*self._taken_back(), *found)
        self._choose(found)

    def _choose(self, found: _Choice) -> None:
        self._chosen = found
        if len(found) == 1:
            self.graph.conditions += found[0]
        else:
            self.graph.either.append(tuple(Block(conditions=one) for one in found))

    def _taken_back(self) -> _Choice:
        """Return what was last chosen of times, and take it out of the conditions."""
        last, graph = self._chosen, self.graph
        if len(last) == 1:
            graph.conditions = [c for c in graph.conditions if c not in last[0]]
        else:
            graph.either.remove(tuple(Block(conditions=one) for one in last))
        return last

    def _within(self, compared: Compared, period: Period, value: Expression, info: PropertyInfo) -> _Choice:
        """Compare with a time that is once: a year, a day, a quarter of a year."""
        year = info.kind == "number" or info.datatype == str(XSD.gYear)
        if year and period.unit in ("month", "day", "quarter", "week"):
            raise Unbuildable("a part of a year, where there are years only")
        dated: Expression = value if info.kind == "number" else DatePart("year" if year else "date", value)
        upper = compared.upper
        if isinstance(upper, Period):
            if upper.high is None:
                raise Unbuildable("a time and one that recurs")
            from_ = compare_period(dated, ">=", f"{period.low}", f"{period.high}", year=year)
            to = compare_period(dated, "<=", f"{upper.low}", f"{upper.high}", year=year)
            return ((*from_, *to),)
        low, high = f"{period.low}", f"{period.high}"
        held = self._held(value, info, low, high) if compared.relation == "=" and not year else None
        return (held or tuple(compare_period(dated, compared.relation, low, high, year=year)),)

    def _held(
        self, value: Expression, info: PropertyInfo, low: str, high: str
    ) -> tuple[Condition, ...] | None:
        """Return that something holds for a time, if its start or end was taken for that.

        What has begun and has no end still holds.

        Args:
            value: The start or the end.
            info: Its property.
            low: The first day.
            high: The day behind the last.
        """
        words, graph = self.question.low, self.graph
        said = {root(word) for word in words}
        ends = held_between(self.schema, info.iri, said) if info.kind == "date" else None
        stated = graph.stating(value)
        node = graph.at(stated.subject) if stated is not None else None
        if ends is None or node is None or stated is None:
            return None
        self.frame.read |= {i for i, word in enumerate(words) if root(word) in HOLDING}
        start, end = ends
        begun = compare_period(DatePart("date", graph.value(node, start)), "<=", low, high, year=False)
        if end.subjects >= start.subjects:
            stops = DatePart("date", graph.value(node, end))
            return (*begun, *compare_period(stops, ">=", low, high, year=False))
        if info.iri == end.iri:
            graph.patterns.remove(stated)
            del graph.values[str(node.place), end.iri]
        ended = graph.fresh(end.names[0])
        early = compare_period(DatePart("date", ended), "<", low, high, year=False)
        graph.without.append(Block((Pattern(node.place, URIRef(end.iri), ended),), tuple(early)))
        return tuple(begun)

    def _recurring(
        self, compared: Compared, period: Period, value: Expression, info: PropertyInfo
    ) -> _Choice:
        """Compare with what is in every year or week: "in May", "between November and February"."""
        upper = compared.upper
        if info.kind == "number" or info.datatype == str(XSD.gYear):
            raise Unbuildable("a part of a year, where there are years only")
        if isinstance(upper, Period) and upper.low is not None and upper.unit == period.unit == "month":
            # "Between March and June 2023"
            first = month_of(upper.low.year, int(period.text), period)
            if first.low is not None and first.low > upper.low:
                first = month_of(upper.low.year - 1, int(period.text), period)
            return self._within(compared, first, value, info)
        part = DatePart(_RECURRING[period.unit], value)
        low, _, high = period.text.partition("-")
        if isinstance(upper, Period):
            if upper.unit != period.unit or not upper.text:
                raise Unbuildable("a part of a year and another time")
            high = upper.text.partition("-")[2] or upper.text
        elif compared.relation != "=":
            if period.unit == "weekday":
                raise Unbuildable("before or after a day of the week")
            return ((Comparison(part, compared.relation, Literal(int(low))),),)
        if not high or high == low:
            return ((Comparison(part, "=", Literal(int(low))),),)
        return _between(part, Literal(int(low)), Literal(int(high)), wraps=int(low) > int(high))

    def _at_clock(self, compared: Compared, period: Period, value: Expression, info: PropertyInfo) -> _Choice:
        """Compare with a time of day: "after 6 pm", "between 9 am and noon"."""
        if info.kind == "number" or info.datatype in _UNTIMED:
            raise Unbuildable("a time of day of a date")
        timed = info.datatype == str(XSD.dateTime)
        if timed:
            value = DatePart("clock", value)
        datatype = None if timed else XSD.time
        upper, first = compared.upper, Literal(period.text, datatype=datatype)
        if not isinstance(upper, Period):
            return ((Comparison(value, compared.relation, first),),)
        if upper.unit != "clock":
            raise Unbuildable("a time of day and another time")
        last = Literal(upper.text, datatype=datatype)
        return _between(value, first, last, wraps=period.text > upper.text)

    def _happenings(self, compared: Compared) -> Aggregate:
        """Return the number of times that something happened to what is asked for."""
        low = self.question.low
        verbs = [i for i in range(compared.at - 1, 0, -1) if is_past(low[i]) or low[i] in PARTICIPLES | VERBS]
        verbs = [i for i in verbs if compared.at - i < 7] or [0]
        things = [n for n in self.graph.unnamed if n.typed] or self.graph.unnamed
        found = [
            (score, -number, info.iri, node, info)
            for number, node in enumerate(things[:2])
            for score, info in self._events_of(node, low[verbs[0]])
        ]
        if not found:
            raise Unbuildable("how often what?")
        score, _, _, node, info = max(found, key=lambda f: f[:3])
        alone = len({tuple(f[4].domains) for f in found}) == 1
        if score < _SURE and not alone:
            raise Unbuildable("how often what?")
        self.guesses += 0.0 if score == 1.0 else 0.5
        event = self.graph.node_of(most_of(info.domains))
        self.graph.add(event.place, info.iri, node.place)
        self.graph.read += [
            i.iri for i in self.schema.properties.values() if set(i.domains) & set(event.classes)
        ]
        self.frame.read.update(verbs)
        return Aggregate("count", None, (self._unknown(event),))

    def _counted_within(self, compared: Compared, counted: Noun) -> None:
        """Count anew for each of what a bound is said of: "more than three goals in a match"."""
        low = self.question.low
        for noun in self.frame.nouns:
            between = low[counted.end : noun.start]
            told = len(between) > 1 and between[0] in _INSIDE and {*between[1:]} <= _ONE
            node = self._node_of(noun) if told and not noun.role else None
            if node is None or not isinstance(node.place, Unknown):
                continue
            if compared.negated:
                raise Unbuildable("so many in none")
            self.within.append(node.place)

    def _events_of(self, node: PlanNode, verb: str) -> Iterator[tuple[float, PropertyInfo]]:
        """Yield the properties by which what happened leads to some things, with how well a verb tells it."""
        for info in self.schema.properties.values():
            if info.kind == "entity" and set(info.ranges) & set(node.classes) and info.functional:
                for cls in info.domains:
                    if cls not in node.classes:
                        yield told_of(verb, cls, self.schema, self.likeness), info

    def _when_done(self, noun: Noun, found: Candidate, info: PropertyInfo) -> bool:
        """Return whether a verb says that something happened of which the date is known: "who resigned"."""
        return info.kind == "date" and found.score > 0.8 and is_past(self.question.low[noun.end - 1])

    def _done(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether words say that something was done, by whomever: "were placed", "are on loan"."""
        low, kinds = self.question.low, {c for n in self.graph.nodes if n.typed for c in n.classes}
        passive = _BEEN & {*low[: noun.start]} and low[noun.end : noun.end + 1] != ["by"]
        so = is_past(low[noun.end - 1]) or (low[noun.start - 1] == "on" and noun.end - noun.start == 1)
        return bool(passive and kinds & set(info.domains)) and so

    def _verbs(self) -> None:
        """Make the properties that merely stand in the question likelier, and yes-or-no ones true."""
        for noun in self.frame.nouns:
            if noun.role:
                continue
            found = self.noun(noun)
            if found.kind != "property":
                continue
            info = self.info(found)
            if info.kind == "entity":
                self.graph.wanted.add(info.iri)
                named = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
                places = {URIRef(c.term) for c in named if c is not None and c.kind == "entity"}
                self.graph.claimed.setdefault(info.iri, set()).update(places)
            elif info.flag:
                self._flagged(noun, found, info)
            elif (
                info.kind == "number" and not self._beside(noun) and self._with(noun) and info.minimum == "0"
            ):
                value = self.graph.number(self.graph.owner(self._domains(found)), info)
                self.graph.conditions.append(Comparison(value, ">", Literal(0)))
            elif (
                info.kind in ("number", "date", "text")
                and not self._beside(noun)
                and (self._with(noun) or self._when_done(noun, found, info))
                and info.iri not in self.graph.used
                # "The highest elevation" orders even where a property is called so.
                and not is_superlative(self.question.low[noun.start])
            ):
                self.graph.value(self.graph.owner(self._domains(found)), info)

    def _flagged(self, noun: Noun, found: Candidate, info: PropertyInfo) -> None:
        """Ask for the things of which a flag holds, unless its value is named beside it."""
        picked = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
        told = self._beside(noun) and (not picked or any(p and info.iri in p.properties for p in picked))
        if not told and info.iri not in self.graph.used:
            value = self.graph.value(self.graph.owner(self._domains(found)), info)
            self.graph.conditions.append(Comparison(value, "=", info.truth_value(True)))

    def _with(self, noun: Noun) -> bool:
        return bool(
            {"with", "have", "has", "having"} & set(self.question.low[max(0, noun.start - 2) : noun.start])
        )

    def _wanted(self) -> None:
        """Add the properties that stand in the question and are in no join yet."""
        graph = self.graph
        for noun in self.frame.nouns:
            if noun.role or self._beside(noun):
                continue
            found = self.noun(noun)
            if found.kind != "property" or found.term in graph.used or found.term in graph.read:
                continue
            info = self.info(found)
            if info.kind != "entity" or found.score <= 0.75:
                continue
            if (
                self._with(noun)
                and not found.inverse
                and self.question.low[noun.end : noun.end + 1] != ["of"]
            ):
                owner = graph.owner(self._domains(found), constants=False)  # "with a supplier": with any
                graph.add(owner.place, info.iri, graph.fresh(info.names[0]))
            elif not found.inverse and self._done(noun, info):
                owner = graph.owner(self._domains(found), constants=False)  # "were placed": by anybody
                graph.add(owner.place, info.iri, graph.fresh(info.names[0]))
            elif self._joins_named(info):
                self._property(found, noun)
                graph.connect()
                if graph.broken:
                    raise Unbuildable("verb")

    def _joins_named(self, info: PropertyInfo) -> bool:
        """Return whether a property joins things that the question names and that no property joins yet."""
        places = {p for pattern in self.graph.patterns for p in (pattern.subject, pattern.object)}
        named = [n for n in self.graph.nodes if n.place in places or n.typed or isinstance(n.place, URIRef)]
        sources = [n for n in named if set(n.classes) & set(info.domains)]
        targets = [n for n in named if set(n.classes) & set(info.ranges) and n not in sources[:1]]
        for iri in self.graph.used:
            other = self.schema.properties.get(iri)
            if other and set(other.domains) & set(info.domains) and set(other.ranges) & set(info.ranges):
                return False
        return bool(sources and targets)

    def _compare(self, compared: Compared) -> None:
        if isinstance(compared.value, Period):
            self._in_period(compared, compared.value)
            return
        if compared.unit == TIMES:
            self.having.append(
                Comparison(self._happenings(compared), compared.relation, self._right(compared, None))
            )
            if isinstance(compared.upper, float):
                self.having.append(
                    Comparison(self._happenings(compared), "<=", number_literal(compared.upper))
                )
            return
        noun = self._compared_noun(compared)
        if isinstance(compared.value, NameMention):
            self._compare_things(compared, compared.value, noun)
            return
        measured: Candidate | None = None
        if noun is None:
            measured = self._measured(compared)
            self._in_unit(compared, self._counting(self.info(measured)))
            left = self._property(measured, None, self._node_of(compared.left))
            self._direct(compared, measured)
        else:
            found = self.noun(noun, "number")
            if found.kind == "class" and compared.relation == "=" and noun is compared.left:
                self._numbered(compared, found)
                return
            if found.kind == "class" or self.info(found).kind in ("entity", "text"):
                if compared.unit and unit_of(found.name.split()) != compared.unit:
                    raise Unbuildable("a measure is no number of things")
                self._having(compared, noun)
                return
            self._in_unit(compared, self._counting(self.info(found)))
            left = self.expression(noun)
            if compared.fold is not None:
                left = self._measure(FrameMeasure(compared.fold, noun))
        right = self._right(compared, measured)
        target = self.having if isinstance(left, Aggregate) else self.graph.conditions
        if compared.either and target:
            one = target.pop()
            other = Comparison(left, compared.relation, right)
            self.graph.either.append((Block(conditions=(one,)), Block(conditions=(other,))))
            return
        target.append(Comparison(left, compared.relation, right))
        if isinstance(compared.upper, float):
            target.append(Comparison(left, "<=", number_literal(compared.upper)))

    def _counting(self, info: PropertyInfo) -> PropertyInfo:
        """Return a property of numbers; a date is neither more nor less than 40."""
        if info.kind == "date":
            raise Unbuildable("a number of a date")
        return info

    def _in_unit(self, compared: Compared, info: PropertyInfo) -> None:
        """Put a number in the unit of a property: "longer than 5 minutes" of a duration in seconds."""
        said, compared.unit = compared.unit, ""
        if not said:
            return
        own = unit_stated(info)
        if not own:
            # Ages and experience are counted in years where nothing else is said.
            self.guesses += 0.0 if said in ("year", "yr") else 0.5
            return
        bounds = [
            converted(b, said, own) for b in (compared.value, compared.upper) if isinstance(b, float | int)
        ]
        if None in bounds:
            raise Unbuildable(f"{said} of a number of {own}")
        compared.value = cast(float, bounds[0])
        compared.upper = bounds[1] if len(bounds) > 1 else compared.upper

    def _numbered(self, compared: Compared, found: Candidate) -> None:
        """Find a thing by its number: "semester 2"."""
        owned = [
            i
            for i in self.schema.properties.values()
            if found.term in i.domains
            and i.kind == "number"
            and {"id", "number", "no", "code", "nr"} & set(i.names[0].lower().split())
        ]
        if not owned or not isinstance(compared.value, float | int):
            raise Unbuildable("a number of what?")
        info = min(owned, key=lambda i: ("id" not in i.names[0].lower().split(), i.iri))
        value = self.graph.number(self.graph.node_of(found.term, typed=True), info)
        condition = Comparison(value, "=", number_literal(compared.value))
        if compared.either and self.graph.conditions:
            one = self.graph.conditions.pop()
            self.graph.either.append((Block(conditions=(one,)), Block(conditions=(condition,))))
        else:
            self.graph.conditions.append(condition)

    def _right(self, compared: Compared, measured: Candidate | None) -> Expression:
        value = compared.value
        if isinstance(value, float | int):
            return number_literal(value)
        if isinstance(value, FrameMeasure) and value.function is not None:
            found = self.noun(value.noun, "number") if value.noun is not None else measured
            if found is None or self.info(found).kind != "number":
                raise Unbuildable("compared with a fold of what?")
            info = self.info(found)
            owner = Unknown("other")
            patterns, number = self.graph.stated(owner, info, "its ")
            stated = {i.iri for i in spelt(info)}
            of = {p.subject for p in self.graph.patterns if str(p.predicate) in stated}
            kinds = [URIRef(n.classes[0]) for n in self.graph.nodes if n.typed and n.place in of]
            typed = [Pattern(owner, RDF.type, cls) for cls in kinds[:1]]
            where = Block((*patterns, *typed))
            return Scalar(Plan(where, (Column(Aggregate(value.function, number, (owner,)), "value"),)))
        raise Unbuildable("compared with a thing")

    def _measured(self, compared: Compared) -> Candidate:
        """Return the property that an adjective compares: "longer than"."""
        adjective = compared.adjective
        measures = self.dimension(adjective) if adjective else counted_in(compared.unit, self.schema)
        asked = next((o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs), None)
        of_asked = asked if adjective and isinstance(asked, Noun) else None
        options = self._said_of(measures, compared.left or of_asked)
        if not adjective and len(options) != 1:
            raise Unbuildable("compared with what?")
        if not options:
            raise Unbuildable(compared.adjective)
        self.matches.append(options[0][0].score)
        return options[0][0]

    def _direct(self, compared: Compared, measured: Candidate) -> None:
        """Turn a comparison the way of its adjective: who is older was born before."""
        ways = {c.term: way for c, way in self.dimension(compared.adjective)}
        plain = not compared.adjective.endswith("er")  # "less dense" has been turned already
        if compared.relation in ("<", ">") and measured.term in ways and not plain:
            compared.relation = ">" if ways[measured.term] == "greatest" else "<"

    def _compare_things(self, compared: Compared, mention: NameMention, noun: Noun | None) -> None:
        """Compare a property of things with that of the one named: "higher than Mont Blanc"."""
        entities = [c for c in mention.candidates if c.kind == "entity"]
        if not entities:
            raise Unbuildable("compared with a thing")
        left_classes = set(self._classes_of(compared.left)) if compared.left is not None else set()
        thing = next((c for c in entities if left_classes & set(c.classes)), entities[0])
        classes = set(thing.classes)
        if noun is not None:
            found = self.noun(noun, "number")
        else:
            options = [o[0] for o in self.dimension(compared.adjective) if classes & set(self._domains(o[0]))]
            if not compared.adjective and self.question.low[mention.start - 1] in (
                "before",
                "after",
                "since",
            ):
                options = self._dated(classes)
            if not options:
                raise Unbuildable(compared.adjective or "compared with a thing")
            found = options[0]
            self._direct(compared, found)
            self.matches.append(found.score)
        if found.kind != "property":
            raise Unbuildable("compared with a thing")
        info = self.info(found)
        owner = self._node_of(compared.left) if noun is None else None
        left = self._property(found, noun, owner)
        self.matches.append(thing.score)
        patterns, right = self.graph.stated(URIRef(thing.term), info, "other ")
        self.graph.patterns.extend(patterns)
        self.graph.conditions.append(Comparison(left, compared.relation, right))

    def _dated(self, classes: set[str]) -> list[Candidate]:
        """Return the one property that dates things: "films that came out before Tideland"."""
        own = [i for i in self.schema.properties.values() if self._timely(i) and classes & {*i.domains}]
        unread = [i for i in self.segmentation.ignored if i not in self.frame.read]
        if len(own) != 1 or len(unread) > 1:
            return []
        self.guesses += 0.5
        return [Candidate("property", own[0].iri, 0.9, own[0].names[0], "meaning")]

    def _compared_noun(self, compared: Compared) -> Noun | None:
        for noun in (compared.left, compared.right):
            if noun is not None:
                found = self.noun(noun, "number")
                kinds = ("number", "date") if isinstance(compared.value, NameMention) else ("number",)
                if found.kind == "property" and self.info(found).kind in kinds:
                    return noun
        if compared.relation == "=" and compared.left is not None and not compared.adjective:
            return compared.right or compared.left
        return compared.right

    def _having(self, compared: Compared, noun: Noun) -> None:
        if not isinstance(compared.value, float | int):
            raise Unbuildable("counted against a thing")
        named = compared.left if compared.relation == "=" else None
        if named is not None and named.end == compared.at and self.noun(named, "number").kind == "class":
            self.guesses += 3  # "customer 5" is sooner called so than said to have five of something
        count = self._measure(FrameMeasure("count", noun))
        self._counted_within(compared, noun)
        kind = self.schema.classes.get(self.noun(noun).term)
        if kind is not None and compared.value > kind.count:
            self.guesses += 2  # "more than 10000" of eighteen lots are none of these
        shown = [self._measure(m) for m in self.frame.measures if m.noun is not noun]
        if count in shown:
            raise Unbuildable("things counted against themselves")
        self.having.append(Comparison(count, compared.relation, number_literal(compared.value)))
        if isinstance(compared.upper, float):
            self.having.append(Comparison(count, "<=", number_literal(compared.upper)))

    def _text(self, text: TextCondition) -> None:
        graph = self.graph
        if text.noun is not None and (found := self.noun(text.noun)).kind == "property":
            value = self._property(found, text.noun)
        else:
            node = next(iter(graph.unnamed), None)
            if text.noun is not None and found.kind == "class":
                node = graph.node_of(found.term)
            if node is None or not self.schema.label_properties:
                raise Unbuildable("text of what?")
            value = graph.fresh("label")
            graph.add(node.place, self.schema.label_properties[0], value)
        condition = Contains(value, text.text, text.position)
        if text.negated:
            last = graph.patterns[-1]
            graph.without.append(Block((last,), (condition,)))
        elif text.either and graph.conditions:
            graph.either.append((Block(conditions=(graph.conditions.pop(),)), Block(conditions=(condition,))))
        else:
            graph.conditions.append(condition)

    def _missing(self, noun: Noun) -> None:
        graph = self.graph
        found = self.noun(noun)
        graph.near = ()
        if {"all", "every", "each"} & {*self.question.low[max(0, noun.start - 3) : noun.start]}:
            raise Unbuildable("not all is not none")
        if found.kind == "property":
            info = self.info(found)
            ends = [n for n in graph.unnamed if n.typed]
            done = {*info.ranges} if self._done_to(noun, info) else {*info.ranges} - {*info.domains}
            if info.kind == "entity" and ends and set(ends[0].classes) & done:
                # "Cities that are not the capital": it is they that would be the value.
                other = graph.fresh("other")
                graph.without.append(Block((Pattern(other, URIRef(info.iri), ends[0].place),)))
                return
            if not info.flag and not any(set(n.classes) & set(info.domains) for n in graph.nodes):
                # "Authors who never published in a journal": it is their papers that are published there.
                patterns = self._reach(self._domains(found))
                last = self._last_of(patterns)
                missing = Pattern(last, URIRef(info.iri), graph.fresh("missing"))
                graph.without.append(Block((*patterns, missing)))
                return
            owner = graph.owner(self._domains(found))
            if info.flag:
                said = info.truth_value(False)
                graph.conditions.append(Comparison(graph.value(owner, info), "=", said))
                return
            if info.kind == "number" and info.minimum == "0":
                graph.conditions.append(Comparison(graph.number(owner, info), "=", Literal(0)))
                return
            graph.without.append(Block((Pattern(owner.place, URIRef(info.iri), graph.fresh("missing")),)))
            return
        for node in graph.nodes if _DENIED.search(" ".join(self.question.low[: noun.start])) else ():
            if isinstance(node.place, Unknown) and self.schema.above(found.term) & set(node.classes):
                # "Ships that are not tankers": tankers are ships.
                graph.without.append(Block((Pattern(node.place, RDF.type, URIRef(found.term)),)))
                return
        patterns = self._by_a_verb(noun, found.term) or self._reach([found.term])
        deeds = self._deeds(patterns)
        typed = Pattern(self._last_of(patterns), RDF.type, URIRef(found.term))
        graph.without.append(Block((*patterns, typed, *deeds)))

    def _by_a_verb(self, noun: Noun, cls: str) -> tuple[Pattern, ...]:
        """Return the triple by which a verb leads to things of a class: "tasks that need no task"."""
        nodes = [n for n in self.graph.unnamed if n.typed]
        verbs = [n for n in self.frame.nouns if n.end <= noun.start and not n.role and nodes]
        for verb, found in ((v, c) for v in verbs for c in v.candidates if c.score > _LIKE_A_VERB):
            info = self.schema.properties.get(found.term)
            if info is None or info.kind != "entity":
                continue
            kinds = {*nodes[0].classes}
            ways = [
                kinds & {*info.domains} and cls in info.ranges,
                kinds & {*info.ranges} and cls in info.domains,
            ]
            if not any(ways):
                continue
            self.picked[verb.end] = found
            self.graph.read.append(info.iri)
            one, other = nodes[0].place, self.graph.fresh("other")
            turned = self._is_done_to(verb) if all(ways) else not ways[0]
            return (
                Pattern(other, URIRef(info.iri), one) if turned else Pattern(one, URIRef(info.iri), other),
            )
        return ()

    def _deeds(self, patterns: Sequence[Pattern]) -> list[Pattern]:
        """Return what was not done to what leads to a kind: who is "not enrolled in any course".

        Raises:
            Unbuildable: If it is done to nothing on the way there.
        """
        found = list[Pattern]()
        for noun in [n for n in self.frame.nouns if n.role == "denied"]:
            deed = self.noun(noun)
            domains = {deed.term} if deed.kind == "class" else {*self.info(deed).domains}
            ends = {
                end: {*(way.domains if end == p.subject else way.ranges)}
                for p in patterns
                if (way := self.schema.properties.get(str(p.predicate))) is not None
                for end in (p.subject, p.object)
                if isinstance(end, Unknown) and end not in self._places()
            }
            owner = next((e for e, classes in ends.items() if classes & domains), None)
            if owner is None:
                raise Unbuildable("denied of something else")
            if deed.kind == "property":
                found.append(Pattern(owner, URIRef(deed.term), self.graph.fresh("missing")))
        return found

    def _last_of(self, patterns: Sequence[Pattern]) -> Unknown:
        """Return the end of a walk that leads from what the plan looks for."""
        last = patterns[-1]
        before = self._places() | {e for p in patterns[:-1] for e in (p.subject, p.object)}
        return next(e for e in (last.object, last.subject) if isinstance(e, Unknown) and e not in before)

    def _places(self) -> set[Unknown | URIRef]:
        return {node.place for node in self.graph.nodes}

    def _denied_of_things(self) -> None:
        """Refuse to deny of what leads to things what is denied of the things: "films without Ada"."""
        if not self.frame.missing and not any(r.negated for r in self.frame.restrictions):
            return
        measured = [m.noun for m in self.frame.measures if m.function == "count"]
        for noun in (*self.frame.outputs, *measured):
            info = self.schema.properties.get(self.noun(noun).term) if isinstance(noun, Noun) else None
            if info is None or info.kind != "entity" or not isinstance(noun, Noun):
                continue
            kinds = {
                c.term
                for c in noun.candidates
                if c.kind == "class" and c.score > noun.candidates[0].score - 0.05
            }
            if kinds & set(info.ranges):
                raise Unbuildable("denied of what leads there")

    def _extreme_wanted(self) -> tuple[Noun, Expression] | None:
        """Return a name that says by what things are ordered: "which state has the lowest point"."""
        for noun in self.frame.nouns if self.frame.superlative is None else ():
            info = self._called_extreme(noun)
            if info is not None and not noun.role and self._with(noun) and not self._beside(noun):
                return noun, self._number_of(info)
        return None

    def _how_extreme(self) -> None:
        """Ask for the number that goes with a text: "how high is the highest point of Peru"."""
        low, outputs = self.question.low, self.frame.outputs
        how = next((o for o in outputs if isinstance(o, Noun) and o.start == 1 and low[0] == "how"), None)
        texts = [o for o in outputs if isinstance(o, Noun) and o is not how]
        info = self._called_extreme(texts[0]) if how is not None and len(texts) == 1 else None
        if how is None or info is None or info.kind != "text":
            return
        number = self._beside_text(info)
        texts[0].candidates = (Candidate("property", number.iri, 0.9, number.names[0], "meaning"),)
        self.picked[texts[0].end] = texts[0].candidates[0]
        self.guesses += 0.5
        self.frame.outputs = [*texts]
        self.frame.nouns.remove(how)
        self.frame.read.update((0, 1))

    def _extremes(
        self, columns: list[Column], order: list[Order], wanted: tuple[Noun, Expression] | None
    ) -> None:
        """Order by what is called by a superlative, where it is said of many things: of all states.

        Args:
            columns: What is shown; what orders is added.
            order: The order, which is added to.
            wanted: What orders although it is not shown.
        """
        if self.frame.superlative is not None or order:
            return
        self._totals(columns)
        if wanted is None:
            shown = [o for o in self.frame.outputs if isinstance(o, Noun) and self._called_extreme(o)]
            compared = any(shown[0] in (c.left, c.right) for c in self.frame.compared) if shown else False
            if len(shown) != 1 or self.frame.groups or compared:
                return
            info = self._called_extreme(shown[0])
            word = self.question.words[shown[0].end - 1]
            owner = None if info is None else self.graph.owner(self._domains(self.noun(shown[0])))
            if info is None or owner is None or self._single(owner) or word.low != word.token.key:
                return
            wanted = shown[0], self._number_of(info)
        noun, number = wanted
        noun.role = noun.role or "measure"
        plain = positive(self.question.low[noun.start])
        direction = DIMENSIONS[plain][0] if plain else "greatest"
        self.frame.superlative = Superlative(direction)
        key = self._hidden(number, columns, set(), noun)
        order.append(Order(key.name, direction == "greatest"))

    def _totals(self, columns: list[Column]) -> None:
        """Add up what is called a total, where it is asked of many things together: "the total revenue"."""
        for at, column in enumerate(columns) if not self.frame.groups else ():
            for noun in (o for o in self.frame.outputs if isinstance(o, Noun)):
                info, last = (
                    self.schema.properties.get(self.noun(noun).term),
                    self.question.words[noun.end - 1],
                )
                if info is None or info.kind != "number" or self.question.low[noun.start] != "total":
                    continue
                owner = self.graph.owner(self._domains(self.noun(noun)))
                said = self.graph.values.get((str(owner.place), info.iri))
                if said is None or self._single(owner) or last.low != last.token.key or len(columns) > 1:
                    continue
                assert isinstance(owner.place, Unknown)
                if column.value in (said, Number(said)):
                    columns[at] = Column(Aggregate("sum", column.value, (owner.place,)), column.name)

    def _called_extreme(self, noun: Noun) -> PropertyInfo | None:
        """Return the property that a noun names by all of its words, if the first is a superlative."""
        plain = positive(self.question.low[noun.start])
        if plain is None or plain == self.question.low[noun.start] or noun.end - noun.start < 2:
            return None
        found = self.noun(noun)
        info = self.schema.properties.get(found.term)
        named = info is not None and found.way in ("exact", "inflected") and info.kind in ("number", "text")
        return info if named else None

    def _number_of(self, info: PropertyInfo) -> Expression:
        if info.kind == "text":
            return self._number_beside(info)
        return self.graph.number(self.graph.owner(sorted(info.domains)), info)

    def _single(self, node: PlanNode) -> bool:
        """Return whether a node is one thing: what is named, or what only that has."""
        if isinstance(node.place, URIRef):
            return True

        def leads_back(p: Pattern) -> bool:
            info = self.schema.properties.get(str(p.predicate))
            if info is None or node.place not in (p.subject, p.object):
                return False
            forward = p.subject == node.place
            end = p.object if forward else p.subject
            return isinstance(end, URIRef) and (info.triples == info.objects if forward else info.functional)

        return any(leads_back(p) for p in self.graph.patterns)

    def _named_ends(self) -> None:
        """Relate the ends of relations that nouns name to the named things behind them: "pupils of Ada"."""
        for noun, info in self._between_alike():
            self._end_of(noun, info)

    def _between_alike(self) -> Iterator[tuple[Noun, PropertyInfo]]:
        """Yield the nouns that have no role yet and name a relation between things of one kind."""
        for noun in self.frame.nouns:
            info = self.schema.properties.get(self.noun(noun).term) if not noun.role else None
            if info is not None and info.kind == "entity" and set(info.domains) & set(info.ranges):
                yield noun, info

    def _end_of(self, noun: Noun, info: PropertyInfo) -> None:
        low, graph = self.question.low, self.graph
        end = noun.end - (low[noun.end - 1] == "of")
        behind = [r for r in self.frame.restrictions if low[end : r.mention.start] in (["of"], ["of", "the"])]
        term = self.picked[behind[0].mention.end].term if len(behind) == 1 else ""
        if not any(n.fixed and n.place == URIRef(term) for n in graph.nodes) or info.iri in graph.used:
            return
        first = self.noun(noun).inverse or self._names_domain(noun, info)
        before = [n for n in self.frame.nouns if n.end <= noun.start and {*low[n.end : noun.start]} <= _BEING]
        same = next((self._node_of(n) for n in before if self.noun(n).kind == "class"), None)
        if self.frame.yes_or_no:
            others = [n for n in graph.nodes if n.fixed and n.place != URIRef(term)]
            same = others[0] if len(others) == 1 and noun.start > 1 else None
        if same is None and self.frame.yes_or_no:
            return
        ends = self.schema.likeliest(info.domains if first else info.ranges)
        node = same or graph.node_of(ends[0], new=True)
        graph.add(*((node.place, info.iri, URIRef(term)) if first else (URIRef(term), info.iri, node.place)))

    def _joinalike(self) -> None:
        """Join two things of one kind by a verb, the way the sentence runs: "papers that cite …"."""
        for noun, info in self._between_alike():
            self._joined_by(noun, info)

    def _joined_by(self, verb: Noun, info: PropertyInfo) -> None:
        alike, low = set(info.domains) & set(info.ranges), self.question.low
        places = {r.mention.candidates[0].term: r.mention.start for r in self.frame.restrictions}
        open_ = [n for n in self.graph.unnamed if alike & set(n.classes)]
        named = [n for n in self.graph.nodes if str(n.place) in places and alike & set(n.classes)]
        if low[verb.end : verb.end + 1] == ["of"] or not named or len(open_) + len(named) != 2:
            return
        named.sort(key=lambda n: places[str(n.place)])
        if not open_ and not places[str(named[0].place)] < verb.start < places[str(named[1].place)]:
            return
        first, last = (*open_, *named)
        if any({p.subject, p.object} == {first.place, last.place} for p in self.graph.patterns):
            return
        turned = bool(open_) and places[str(last.place)] < verb.start
        if turned != self._is_done_to(verb):
            first, last = last, first
        self.graph.add(first.place, info.iri, last.place)

    def _counts(self) -> set[int]:
        """Return where words name numbers, with a participle behind: "number of papers cited"."""
        spans = [(n.start, n.end) for n in self.frame.nouns if self._kind_of(n) == "number"]
        ends = {end for _, end in spans if "".join(self.question.low[end : end + 1]).endswith("ed")}
        return ends | {i for start, end in spans for i in range(start, end)}

    def _kind_of(self, noun: Noun) -> str:
        info = self.schema.properties.get(self.noun(noun).term)
        return info.kind if info is not None else ""

    def _measured_behind(self, at: int) -> bool:
        """Return whether the number that a verb speaks of is named: "lasted more than 5 nights"."""
        nouns = [
            n
            for c in self.frame.compared
            for n in (c.right, c.left)
            if n is not None and at < n.start < at + 7
        ]
        by = any(c.adjective and at < c.at < at + 7 for c in self.frame.compared)  # "lasted longer than"
        return by or any(self._kind_of(n) == "number" for n in nouns)

    def _verb_of_used(self, word: Word, at: int) -> bool:
        """Return whether a verb only says that things have what the plan shows: "what does a dose cost".

        It means the same as the property's name, or ends a question for it: "which instrument does Ada play".
        """
        low, used = self.question.low, {*self.graph.used, *self.graph.read}
        ends = {r.mention.end for r in self.frame.restrictions} | {n.end for n in self.frame.nouns}
        if not used or not is_deed(low, at, ends):
            return False
        infos = [i for iri in used if (i := self.schema.properties.get(iri)) is not None]
        if not is_past(word.low):
            # Which end of a relation between things of one kind a noun names is no small matter.
            infos = [i for i in infos if i.kind != "entity" or not {*i.domains} & {*i.ranges}]
        heads = {root(w) for i in infos for name in i.names for w in content(name)}
        said = root(word.low)
        meant = {said, *synonym_roots().get(said, ())}
        if any(alike(one, other) for one in meant for other in heads):
            return True
        shown = self.frame.outputs[0] if len(self.frame.outputs) == 1 else None
        last = at == len(low) - 1 and at in {r.mention.end for r in self.frame.restrictions}
        asked = low[0] in ("what", "which") and bool({"does", "do", "did"} & {*low[1:at]})
        if not (last and asked and isinstance(shown, Noun) and self.noun(shown).way == "exact"):
            return False
        self.guesses += 0.5
        return self._kind_of(shown) in ("text", "number", "date") or (
            self._kind_of(shown) == "entity" and len(used) == 1
        )

    def _supports(self, at: int) -> bool:
        """Return whether a verb says little beside a property that is named, whose value the plan has."""
        if root(self.question.low[at]) not in _SUPPORTING:
            return False
        # "Points scored" says no more than points; who "scored points" may be none of those that have them.
        end = at if root(self.question.low[at]) in _DONE else at + 7
        near = {w.stem for w in self.question.words[max(0, at - 6) : end]}
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        said = (name for i in infos if i is not None and i.kind != "entity" for name in i.names)
        if not any(near & {*content(name)} for name in said):
            return False
        self.guesses += 0.5
        return True

    def _happened(self, at: int) -> bool:
        """Return whether a verb says what happened, which the plan has as a thing: "sailed" of charters."""
        low = self.question.low
        ends = {r.mention.end for r in self.frame.restrictions} | {n.end for n in self.frame.nouns}
        return is_deed(low, at, ends) and told_by_event(low[at], self.graph, self.schema, self.likeness)

    def _words_of_used(self) -> set[str]:
        """Return the words in the names of the properties that are used."""
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        return {w for info in infos if info is not None for name in info.names for w in content(name)}

    def _leads_on(self, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        counted = any(isinstance(h, Comparison) and isinstance(h.left, Aggregate) for h in self.having)
        return info is not None and (info.kind == "entity" or counted)

    def _said_otherwise(self, word: Word) -> bool:
        """Return whether the graph has another word for a verb, of which the plan says nothing."""
        others = {*synonym_roots().get(root(word.low), ())}
        called = {iri: info.names for iri, info in self.schema.properties.items()}
        called |= {iri: info.names for iri, info in self.schema.classes.items()}
        meant = {
            i for i, names in called.items() if others & {root(w) for name in names for w in content(name)}
        }
        kinds = {c for node in self.graph.nodes for c in node.classes}
        return bool(meant) and not meant & {*self.graph.used, *self.graph.read, *kinds}

    def _only_relates(self, word: Word) -> bool:
        """Return whether a verb says no more than that things are related, and there is one way only."""
        light = word.low in _LIGHT or word.low.removesuffix("s") in _LIGHT
        if light and not all(self._leads_on(iri) for iri in (*self.graph.used, *self.graph.read)):
            return False  # where somebody has played is not where they come from
        known = {word.low, word.stem, word.token.key, root(word.low)} & _VERBS_OF_RELATION
        near = self.graph.cost < _NEAR and root(word.low) in _RELATING and not self._said_otherwise(word)
        if not (known or light or near) or is_role(word.low):
            return False  # a publisher is no author, though both have published
        if self.frame.asks == "who" and root(word.low) in _LEADING:
            return False  # who runs a bank is not anybody who works there
        said = word.low in _DEEDS or word.stem in _DEEDS
        return not (said and any(self.joins.rivals(iri) for iri in self.graph.used))

    def _ignored(self) -> tuple[str, ...]:
        words = self.question.words
        unread = [i for i in self.segmentation.ignored if i not in self.frame.read]
        for noun in self.frame.nouns:
            unused = (
                not noun.role
                and not self._used(self.noun(noun))
                and (not self._beside(noun) or self._passed_over(noun))
            )
            if unused or self._other_word(noun):
                unread.extend(range(noun.start, noun.end))
        # A word that says nothing by itself is part of a longer name here: the graph of "graph databases".
        parts = {i for i in self.segmentation.ignored if not meaningful(words[i])} - self.frame.read
        named = {i for n in self.frame.nouns if n.candidates[0].score > 0.75 for i in range(n.start, n.end)}
        kept = (i for i in sorted({*unread, *parts}) if i in parts or self._matters(words[i], i, i in named))
        return tuple(words[i].low for i in kept)

    def _passed_over(self, noun: Noun) -> bool:
        """Return whether a property beside a name is in no triple of it: "the capital of Texas"."""
        found = self.noun(noun)
        info = self.schema.properties.get(found.term)
        named = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
        timed = info is not None and (info.kind == "date" or "year" in info.names[0].lower().split())
        if timed and len(named) == 1 and named[0] is not None:
            # "Built in Kiel" is no visit to Kiel, though the year in which things were built is known.
            return not self._used(found) and not self._told(noun)
        if info is None or info.kind not in ("entity", "text") or len(named) != 1 or named[0] is None:
            return False
        if self.question.low[noun.end - 1] == "by" and not self._used(found):
            return True  # who was "taught by" somebody may be advised by others
        compared = any(noun in (c.left, c.right) for c in self.frame.compared)
        if named[0].kind == "value" and found.kind == "property":
            return not compared and found.term not in named[0].properties
        ends = {*info.ranges} if found.kind == "property" else set()
        return not compared and named[0].kind == "entity" and not ends & set(named[0].classes)

    def _told(self, noun: Noun) -> bool:
        """Return whether a word of a noun, or one that means the same, is in the name of what is used."""
        said = {root(w) for w in self.question.low[noun.start : noun.end]}
        said |= {other for word in said for other in synonym_roots().get(word, ())}
        infos = (self.schema.properties.get(iri) for iri in (*self.graph.used, *self.graph.read))
        return any(said & {root(w) for w in content(n)} for i in infos if i is not None for n in i.names)

    def _other_word(self, noun: Noun) -> bool:
        """Return whether a noun is only like a kind named before it: customers that made a purchase."""
        found, low = self.noun(noun), self.question.low
        if noun.role or (found.kind, found.way) != ("class", "synonym") or low[noun.start - 1] not in _ANY:
            return False
        earlier = [self.noun(n) for n in self.frame.nouns if n.end <= noun.start]
        exact = [e for e in earlier if e.kind == "property" and e.way == "exact"]
        return found.term in {e.term for e in earlier} or any(found.term in self._domains(e) for e in exact)

    def _used(self, found: Candidate) -> bool:
        """Return whether what a noun names is in the plan."""
        graph = self.graph
        if found.kind == "property":
            return found.term in graph.used or found.term in graph.read
        classes = {str(p.object) for p in graph.patterns if p.predicate == RDF.type}
        classes |= {str(p.object) for b in graph.without for p in b.patterns if p.predicate == RDF.type}
        return found.term in classes or any(found.term in node.classes for node in graph.nodes)

    def _matters(self, word: Word, at: int, named: bool) -> bool:
        if not meaningful(word):
            return False
        if word.low in MEASURING and self._measured_behind(at):
            return False
        # A word of a property that was used for a join is read.
        kinds = (name for info in self.schema.classes.values() for name in info.names)
        kind = any({*content(name)} == {word.stem} for name in kinds)
        for iri in (*self.graph.used, *self.graph.read):
            info = self.schema.properties.get(iri)
            # What a comment mentions says nothing of the things that are asked for.
            texts = () if info is None else info.names if kind else (*info.names, info.comment)
            if any(alike(word.stem, w) for text in texts for w in content(text)):
                return False
        if self._verb_of_used(word, at) or self._supports(at):
            return False
        if not named and self._happened(at):
            self.guesses += 0.5
            return False
        related = self.graph.used or self.graph.read
        if related and word.low in _PATHS:
            return False
        if related and not named and self._only_relates(word):
            self.guesses += 1
            return False
        return True

    def build(self) -> Draft:
        """Return the plan.

        Raises:
            Unbuildable: If there is none.
        """
        frame = self.frame
        spanning = _SPANNING.match(" ".join(self.question.low))
        if frame.unsupported or spanning or (frame.superlative and says_when_last(self.question)):
            raise Unbuildable("unsupported")
        self.graph = QueryGraph(
            self.schema, self.joins, self._hints(), asks_relation=frame.yes_or_no, avoided=self.avoided
        )
        self.context = self._context()
        self.picked: dict[int, Candidate] = {}
        self.having: list[Condition] = []
        self.within = []
        self._classes()
        later: list[FrameRestriction] = []
        for restriction in frame.restrictions:
            if self._waits(restriction):
                later.append(restriction)  # what it is said of is known only with what is shown
            else:
                self._restrict(restriction)
        self._merge_alternatives()
        self._denied_of_things()
        self._how_extreme()
        columns, shown, order = self._columns()
        if self._shows_when_done():
            raise Unbuildable("when it was is not asked for")
        self.guesses += 2 * self._asks_for_its_subject()
        for restriction in later:
            self._restrict(restriction)
        self._merge_alternatives()
        self._verbs()
        self._named_ends()
        self._joinalike()
        for compared in frame.compared:
            self._compare(compared)
        for text in frame.texts:
            self._text(text)
        if not self.graph.nodes:
            raise Unbuildable("nothing is named")
        self._chained()
        self._membership()
        wanted = self._extreme_wanted()
        self.graph.connect()
        if self.graph.broken:
            raise Unbuildable("not connected")
        self._attached()
        for noun in frame.missing:
            self._missing(noun)
        self._wanted()
        self.guesses += 2 * frame.dangling
        if frame.asks == "where" and ways_to_say_where(self.graph.nodes[0].classes[0], self.schema) > 1:
            self.guesses += 1  # the city or the street
        self._extremes(columns, order, wanted)
        columns, shown = self._people_for(columns, shown)
        self._both_ways(columns)
        self._others(columns)
        self._apart(columns)
        where = self.graph.block()
        if where.empty:
            raise Unbuildable("nothing to look for")
        typed = [n.place for n in self.graph.unnamed if n.typed and isinstance(n.place, Unknown)]
        if len(self.graph.nodes) > 1 and loose(typed, where, columns):
            raise Unbuildable("not connected")
        plan = self._plan(where, columns, order)
        self.guesses += heads_passed_over(self.segmentation, self.question, self._words_of_used())
        self.guesses += 2 * self._shows_others(plan, shown)
        beside = (columns and not shown) or self._not_asked_for(columns, shown)
        if beside or self._loses_a_relative(plan):
            raise Unbuildable("not what is asked for")
        return Draft(
            plan,
            tuple(shown),
            tuple(self.matches),
            self.graph.cost,
            self.guesses,
            self._ignored(),
            self.choices,
            tuple(sorted(self.graph.ties)),
        )

    def _attached(self) -> None:
        """Refuse a place that is joined to other things than those it is said of: "European vendors"."""
        nodes = {n.place: n for n in self.graph.nodes}
        for restriction in self.frame.restrictions:
            found = self.picked.get(restriction.mention.end)
            noun = next((n for n in self.frame.nouns if n.start == restriction.mention.end), None)
            if found is None or noun is None or found.way != "synonym" or found.kind != "entity":
                continue
            thing = self._thing_of(noun)
            reached: list[Unknown | URIRef] = [URIRef(found.term)]
            for place in reached:
                if place is not reached[0] and place in nodes and nodes[place].typed:
                    continue
                for pattern in self.graph.patterns:
                    ends = (pattern.subject, pattern.object)
                    far = ends[1] if ends[0] == place else ends[0] if ends[1] == place else None
                    if isinstance(far, Unknown | URIRef) and far not in reached:
                        reached.append(far)
            if thing is not None and reached[0] in nodes and thing.place not in reached:
                raise Unbuildable("of no such place")

    def _thing_of(self, noun: Noun) -> PlanNode | None:
        """Return the things of a class, or those that a property leads to, which a noun speaks of."""
        if self.noun(noun).kind == "class":
            return self._node_of(noun)
        ends = set(self.info(self.noun(noun)).ranges)
        return next((n for n in self.graph.unnamed if ends & set(n.classes)), None)

    def _apart(self, columns: list[Column]) -> None:
        """Leave a named thing out of what shares something with it: "countries that border Austria"."""
        shown = {u for c in columns for u in (c.value, *getattr(c.value, "of", ()))}
        for pattern in self.graph.patterns:
            for other in self.graph.patterns:
                hub = pattern.subject == other.subject and isinstance(pattern.subject, Unknown)
                alike = hub and pattern.predicate == other.predicate and other.object in shown
                if alike and isinstance(pattern.object, URIRef) and isinstance(other.object, Unknown):
                    apart = Comparison(other.object, "!=", pattern.object)
                    if apart not in self.graph.conditions:
                        self.graph.conditions.append(apart)

    def _chained(self) -> None:
        """Refuse a relation that is walked twice between things of one class: one unknown cannot say it."""
        for iri, info in self.schema.properties.items():
            if info.kind != "entity" or not set(info.domains) & set(info.ranges):
                continue
            kinds = [self.schema.classes[c] for c in info.ranges if c in self.schema.classes]
            things = {w for kind in kinds for name in kind.names for w in content(name)}
            names = {w for name in info.names for w in content(name)}
            names = names - things or names  # "papers" says no more of "cites paper"
            numbers = self._counts()
            said = [
                w for i, w in enumerate(self.question.words)
                if i not in numbers and any(alike(w.stem, n) for n in names)
            ]  # fmt: skip
            named = any(f.term == iri for n in self.frame.nouns for f in (self.noun(n),))
            if len(self.frame.restrictions) >= len(said):
                continue  # "border Texas and border Kansas" says one thing of two
            if named and len(said) > max(1, min(len(name.split()) for name in info.names)):
                raise Unbuildable("a relation said twice")

    def _membership(self) -> None:
        """Ask for the class of a thing where a question asks only that: "Is Virtuoso a database?"."""
        graph, low = self.graph, self.question.low
        if not self.frame.yes_or_no or low[0] not in BEING or graph.patterns or "there" in low:
            return
        named = graph.named
        typed = [n for n in graph.nodes if n.typed]
        if len(named) == len(typed) == 1 and len(graph.nodes) == 2 and not graph.wanted:
            graph.patterns.append(Pattern(named[0].place, RDF.type, URIRef(typed[0].classes[0])))
            graph.nodes.remove(typed[0])

    def _others(self, columns: Sequence[Column]) -> None:
        """Leave out the thing itself, where others that share something with it are asked for."""
        if not self.frame.same:
            return
        shown = [n for n in self.graph.nodes if n.place in {c.value for c in columns}]
        for node in shown[:1] or self.graph.nodes[:1]:
            for other in self.graph.named:
                if set(node.classes) & set(other.classes) and isinstance(node.place, Unknown):
                    self.graph.conditions.append(Comparison(node.place, "!=", other.place))

    def _plan(self, where: Block, columns: list[Column], order: list[Order]) -> Plan:
        top = self.frame.superlative
        limit, offset, ties = None, 0, False
        if top is not None and order:
            limit, offset, ties = top.n or 1, top.offset, top.n is None
            if all(aggregates(c.value) for c in columns):
                raise Unbuildable("a superlative of one number")
            numbers = [c.value for c in columns if c.name == order[0].column]
            self._not_its_own(columns, numbers)
            if any(isinstance(n, Unknown) and self._is_thing(n) for n in numbers):
                raise Unbuildable("things are neither great nor small")
            if self.frame.groups and not any(aggregates(n) for n in numbers):
                self.guesses += 2  # one of all is not one of each
        if self.having and columns and all(aggregates(c.value) for c in columns):
            return self._groups_counted(where, columns)
        if self.within and any(aggregates(c.value) for c in columns):
            raise Unbuildable("two numbers of other groups")
        return Plan(
            where, tuple(columns), tuple(self.within), tuple(self.having), tuple(order), limit, offset, ties
        )

    def _not_its_own(self, columns: Sequence[Column], numbers: Sequence[Expression]) -> None:
        """Refuse to count or sum what is itself told by a superlative: "how much is the cheapest lamp"."""
        values = {u for n in numbers if not aggregates(n) for u in parts(n)}
        owners = {p.subject for p in self.graph.patterns if p.object in values}
        folded = {u for c in columns for a in aggregates(c.value) for u in a.of}
        if owners & folded and not self.frame.groups:
            raise Unbuildable("a fold of one thing")

    def _both_ways(self, columns: Sequence[Column]) -> None:
        """Let what is shown be related to each of two names in a way of its own."""
        shown = {u for c in columns for u in (c.value, *getattr(c.value, "of", ())) if isinstance(u, Unknown)}
        if shown:
            kinds = {f.term for n in self.frame.nouns if (f := self._said_kind(n)) is not None}
            said = {n.place for n in self.graph.nodes if kinds & set(n.classes)}
            self.graph.split(shown, said, both="both" in self.question.low)

    def _said_kind(self, noun: Noun) -> Candidate | None:
        """Return the class that a noun names by its name; a "bought" may be two orders for two things."""
        found = self.noun(noun)
        named = found.kind == "class" and found.way in ("exact", "inflected")
        return found if named and not is_past(self.question.low[noun.end - 1]) else None

    def _groups_counted(self, where: Block, columns: Sequence[Column]) -> Plan:
        """Return the plan that counts those of which there are many: "how many owners have two pets"."""
        number = columns[0].value
        if len(columns) > 1 or not isinstance(number, Aggregate) or number.function != "count":
            raise Unbuildable("a fold of groups")
        if len(number.of) != 1 or number.value is not None or not number.where.empty:
            raise Unbuildable("a number of what?")
        thing = number.of[0]
        inner = Plan(where, (Column(thing, thing.name),), tuple(self.within), tuple(self.having))
        return Plan(Block(plans=(inner,)), tuple(columns))
