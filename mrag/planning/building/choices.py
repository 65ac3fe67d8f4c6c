"""What the names of a question mean: of several candidates the likeliest for its place and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mrag.language.tokens import content, is_stopword
from mrag.planning.building.assembly import QueryGraph
from mrag.planning.building.joins import JoinGraph
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import is_past, root, synonym_roots
from mrag.planning.plan import Block, Condition, Unknown
from mrag.planning.reading.frame import Frame, FrameMeasure, Noun
from mrag.planning.reading.nouns import OWNING
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import Segmentation
from mrag.planning.schema import PropertyInfo, Schema

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


@dataclass
class PlanChoices:
    """Builds one plan of a frame.

    Args:
        schema: The schema.
        joins: Its joins.
        question: The question.
        segmentation: How it was cut.
        frame: The roles of its words.
        chosen: For the place behind a name, which of its candidates to take instead of the likeliest.
        dimension: The properties that an adjective may speak of, with the direction.
        avoided: Properties that no join may take.
        likeness: How near two phrases are in meaning.
    """

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
