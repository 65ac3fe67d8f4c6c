"""What the units of a question may do, and the likeliest ways of giving each a role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import attrgetter
from pathlib import Path
from typing import Final, TypeAlias, get_args

from mrag.language.tokens import PREPOSITIONS
from mrag.planning.lexical import Candidate
from mrag.planning.plan import Part
from mrag.planning.reader.frames import OR, RoleItem, goes_with, is_above, partner_of, tells_apart
from mrag.planning.reader.units import Unit, is_free, key_of
from mrag.planning.reader.world import SchemaWays

_BEAM: Final = 20
_ROLES: Final = 18
_PATHS: Final = 4
_CANDIDATES: Final = 4
_SURE: Final = 0.9  # How like a name words are that surely mean it
_FOLDS: Final = ("sum", "avg", "min", "max")
_FOLDING: Final[Mapping[str, str]] = {
    "sum": "sum", "avg": "avg", "min": "min", "max": "max", "sup+": "max", "sup-": "min", "most": "max",
    "fewest": "min",
}  # fmt: skip
"""The fold that a cue may ask for."""


def _table() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """Return the roles that units may have by their sort, and the cues that roles need, one of them."""
    roles, needs = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for line in Path(__file__).with_name("roles.tsv").read_text(encoding="utf-8").splitlines():
        if line[0] != "#":
            role, sorts, cues = line.split("\t")
            roles |= {sort: (*roles.get(sort, ()), role) for sort in sorts.split()}
            needs |= {role: tuple(cues.split())} if cues else {}
    return roles, needs


_OF, _NEEDS = _table()
_NAMES: Final = ("class", "entity", "value")
_IMPLIED: Final = frozenset(("who", "thing", "un", "open", "amount"))
"""What words do that name nothing themselves."""
_EITHER: Final = frozenset(("is", "has", "lacks", "yes", "no", "kind"))
"""Roles of what may hold in place of what is said before it."""
_AFTER: Final = frozenset(
    "sort asc desc alpha avg sum count group sup+ sup- over under overis underis cmp+ cmp- same "
    "contain".split()
)
"""Cues that may stand behind what they are said of."""
_AMOUNTS: Final = frozenset(("count", "sum", "difference"))
"""Cues that ask how much, which may stand before a comparison."""
_BE: Final = frozenset(("is", "are", "was", "were", "be", "isn't", "aren't"))
"""Words before what says which kind of thing something is."""
_COMPARING: Final = ("above", "beyond", "by")  # How roles end that compare
_ALL: Final = ("every", "half")  # Cues of what may hold of all things, or of most
_EACH: Final = (["each"], ["every"], ["per"])  # How cues end that speak of what stands behind them
_NONE: Final = ("no", "without", "any")  # How cues end by which there is none of the things behind them
_COMPARED: Final = ("than", "cmp+", "cmp-")  # Cues that a comparison leaves over
_FREE: Final = ("show", "is", "and", "name")  # Cues that may be left over without loss
_RANKING: Final = ("top", "bottom")  # Cues that rank by what is named behind "by"
_DIRECTIONS: Final = ("desc", "top", "asc", "alpha")  # Cues that tell which come first
_PASSED: Final = frozenset(("skip", "hint"))  # Roles of units that say nothing by themselves
_DATE_PARTS: Final = frozenset(get_args(Part))
Features: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class UnitSlot:
    """Words that may be one unit or another."""

    start: int
    end: int
    units: tuple[Unit, ...]

    @property
    def is_cue(self) -> bool:
        """Return whether the words name nothing and state nothing."""
        return all(u.kind == "cue" for u in self.units)

    @property
    def is_soft(self) -> bool:
        """Return whether the words may be cue words, and name nothing otherwise."""
        return self.units[0].kind == "cue" and all(u.kind == "cue" or u.cue in _IMPLIED for u in self.units)


@dataclass(frozen=True)
class Labelled:
    """Units with roles."""

    items: tuple[RoleItem, ...]  # The units with what they do
    cues: tuple[Unit, ...]  # The cues that are left over
    left: tuple[int, ...]  # Words that carry meaning and are in no unit
    features: Mapping[str, float]  # What is measured
    score: float  # How likely it is, before it is put together
    passed: tuple[RoleItem, ...] = ()  # The units that are passed over
    said: tuple[Unit, ...] = ()  # All cues


@dataclass(frozen=True)
class _State:
    """Slots with roles up to a place; `open` tells whether the last waits for its value or its property.

    `gain` is what it would cost to leave over the cues that are used.
    """

    score: float = 0.0
    gain: float = 0.0
    items: tuple[RoleItem, ...] = ()
    used: int = 0
    features: Features = ()
    last: str = "^"
    open: str = ""
    passed: tuple[RoleItem, ...] = ()


@dataclass(frozen=True)
class _Option:
    """A role that a slot may have, with the cues that it uses up, and what it is worth.

    `gain` is what it would cost to leave over these cues.
    """

    item: RoleItem
    cue: int
    mask: int
    worth: float
    gain: float
    features: Features

    @property
    def role(self) -> str:
        """Return what the slot does."""
        return self.item.role

    @property
    def silent(self) -> bool:
        """Return whether it is a cue word that is passed over, as if it was not there."""
        return self.item.role == "skip" and self.item.unit.kind == "cue"


_Step: TypeAlias = tuple[float, float, str, str, _State, _Option]
"""How likely a state with another slot is, with and without what is gained, what is open, and of what."""


@dataclass(frozen=True)
class _Path:
    """A way of cutting a question, while its slots are given roles."""

    world: SchemaWays
    low: Sequence[str]
    mentions: Sequence[UnitSlot]
    cues: Sequence[Unit]
    losses: Sequence[float]
    liked: frozenset[str]
    near: frozenset[str]
    language: str


def paths(units: Sequence[Unit], low: Sequence[str]) -> list[tuple[list[UnitSlot], list[int]]]:
    """Return the best ways of cutting a question into slots, each with the words that are in none."""
    slots: dict[tuple[int, int], list[Unit]] = {}
    for u in units:
        slots.setdefault((u.start, u.end), []).append(u)
    starts: dict[int, list[UnitSlot]] = {}
    for (i, j), some in sorted(slots.items()):
        starts.setdefault(i, []).append(UnitSlot(i, j, tuple(some)))
    best: list[list[tuple[float, tuple[UnitSlot, ...], tuple[int, ...]]]] = [[] for _ in range(len(low) + 1)]
    best[0] = [(0.0, (), ())]
    for i, word in enumerate(low):
        free = is_free(word)
        for score, taken, left in nlargest(4 * _PATHS, best[i], key=lambda b: b[0]):
            best[i + 1].append((score - (0.0 if free else 1.0), taken, left if free else (*left, i)))
            for slot in starts.get(i, ()):
                best[slot.end].append((score + _worth(slot, low), (*taken, slot), left))
    found: dict[tuple[tuple[int, int], ...], tuple[list[UnitSlot], list[int]]] = {}
    for _, taken, left in nlargest(3 * _PATHS, best[-1], key=lambda b: b[0]):
        key = tuple((s.start, s.end) for s in taken if not s.is_cue)
        found.setdefault(key, (list(taken), list(left)))
    return list(found.values())[:_PATHS]


def _worth(slot: UnitSlot, low: Sequence[str]) -> float:
    """Return how much a slot explains."""

    def score(u: Unit) -> float:
        if u.kind == "cue":
            return 0.2 if u.cue == "show" else 0.75
        return {"quantity": 1.05, "time": 1.15, "adjective": 0.9, "text": 1.2}.get(u.kind, u.score)

    size = sum(0.3 if is_free(low[at]) else 1.0 for at in range(slot.start, slot.end))
    return max(map(score, slot.units)) * size - 0.15


def labelled(
    world: SchemaWays,
    slots: Sequence[UnitSlot],
    left: Sequence[int],
    low: Sequence[str],
    weights: Mapping[str, float],
    language: str = "",
) -> list[Labelled]:
    """Return the likeliest ways of giving the slots of a path roles, likeliest first."""
    mentions = [s for s in slots if not s.is_cue]
    classes = (u for s in mentions for u in s.units if u.kind == "class" and u.score >= 0.7)
    liked = frozenset(u.options[0].term for u in classes)
    things = (u.options[0] for s in mentions for u in s.units if u.kind == "entity" and u.score >= 0.7)
    kinds = {c for thing in things for c in thing.classes}
    near = liked | {a for c in kinds for a in (c, *world.schema.above(c))}
    cues = _cues(slots)
    losses = [0.0 if c.cue in _FREE else weights.get("left:" + c.cue, 0.0) for c in cues]
    path = _Path(world, low, mentions, cues, losses, liked, near, language)
    beam = [_State()]
    every = [
        sorted(
            _options(path, at, weights),
            key=lambda o: (-o.worth - o.gain, o.role, o.item.cand.term if o.item.cand else ""),
        )
        for at in range(len(mentions))
    ]
    for at, some in enumerate(every):
        before, behind = _next(mentions, every, at, -1), _next(mentions, every, at, 1)
        options = [o for o in some if _may_stand(world, o, before, behind)][:_ROLES]
        further = [
            new
            for state in beam
            for option in options
            if (new := _extended(path, state, option, weights)) is not None
        ]
        beam = [_state(step) for step in nlargest(_BEAM, further, key=lambda step: step[0])]
    return [_finished(path, state, left, weights) for state in beam if not state.open]


def _next(
    mentions: Sequence[UnitSlot], every: Sequence[Sequence[_Option]], at: int, way: int
) -> list[RoleItem]:
    """Return what the mentions beside one may do that need another one."""
    found: list[RoleItem] = []
    at += way
    while 0 <= at < len(mentions):
        found += [o.item for o in every[at] if o.role[-1] in "<>" or _waits(o.role)]
        if not mentions[at].is_soft:
            break
        at += way
    return found


def _waits(role: str) -> bool:
    return role in ("cond", "having") or role.endswith("&cond")


def _may_stand(
    world: SchemaWays, option: _Option, before: Sequence[RoleItem], behind: Sequence[RoleItem]
) -> bool:
    """Return whether what a role needs may stand beside it: a property its value, or a value its property."""
    item = option.item
    if _waits(option.role):
        return any(o.role[-1] == "<" and goes_with(world, item, o) for o in behind) or any(
            o.role[-1] == ">" and goes_with(world, item, o) for o in before
        )
    if option.role[-1] not in "<>":
        return True
    beside = before if option.role[-1] == "<" else behind
    return any(_waits(o.role) and goes_with(world, o, item) for o in beside)


def _cues(slots: Sequence[UnitSlot]) -> list[Unit]:
    found: list[Unit] = []
    for u in (u for slot in slots for u in slot.units):
        if u.kind == "cue":
            found.append(u)
        elif u.kind == "adjective" and u.cue == "order":
            found.append(Unit("cue", u.start, u.end, cue="desc" if u.op == ">" else "asc", word=u.word))
        elif u.kind == "adjective" and u.cue != "positive":
            name = ("sup" if u.cue == "superlative" else "cmp") + ("+" if u.op == ">" else "-")
            found.append(Unit("cue", u.start, u.end, cue=name, word=u.word))
    return found


def _extended(path: _Path, state: _State, option: _Option, weights: Mapping[str, float]) -> _Step | None:
    """Return how likely a state with another slot is; None if its role cannot stand there."""
    if state.used & (option.mask | _beside(path, option.mask)):
        return None
    if option.cue == -2 and state.last != option.role:
        return None
    if option.role not in _PASSED:
        opened = _opened(path.world, state, option.item)
    else:
        opened = state.open if option.silent or not state.open else None
    if opened is None:
        return None
    pair = "" if option.silent else f"{state.last}>{option.role}"
    score = state.score + option.worth + (weights.get(pair, 0.0) if pair else 0.0)
    return score + state.gain + option.gain, score, opened, pair, state, option


def _beside(path: _Path, mask: int) -> int:
    """Return the cues that words cannot be as well: "most" is of all things, or of a superlative."""
    own = {c.start: c.cue in _ALL for n, c in enumerate(path.cues) if mask >> n & 1}
    twins = (n for n, c in enumerate(path.cues) if c.start in own and (own[c.start] or c.cue in _ALL))
    return sum(1 << n for n in twins)


def _state(step: _Step) -> _State:
    _, score, opened, pair, state, option = step
    return _State(
        score,
        state.gain + option.gain,
        state.items if option.role in _PASSED else (*state.items, option.item),
        state.used | option.mask,
        (*state.features, *option.features, *(((pair, 1.0),) if pair else ())),
        option.role if pair else state.last,
        opened,
        state.passed if option.silent or option.role not in _PASSED else (*state.passed, option.item),
    )


def _opened(world: SchemaWays, state: _State, item: RoleItem) -> str | None:
    """Return what is open behind another item; None if it cannot stand there."""
    if item.role == "again" and all(i.cand != item.cand for i in state.items):
        return None
    if item.role == "than":
        above = item.kind in ("class", "property", "entity") and any(map(is_above, state.items))
        if not above and partner_of((*state.items, item), len(state.items)) is None:
            return None
    before = [i for i in state.items if i.kind in ("value", "entity", "") or i.role in _EITHER]
    if item.role in ("or", "or<", "each") and not before:
        return None
    if _waits(item.role):
        if not state.open:
            return "p"
        return "" if state.open == "v" and goes_with(world, item, state.items[-1]) else None
    if item.role.endswith("<"):
        return "" if state.open == "p" and goes_with(world, state.items[-1], item) else None
    if state.open:
        return None
    return "v" if item.role.endswith(">") else ""


def _finished(path: _Path, state: _State, left: Sequence[int], weights: Mapping[str, float]) -> Labelled:
    features: dict[str, float] = {}
    for name, value in state.features:
        features[name] = features.get(name, 0.0) + value
    score = state.score
    used = [c for n, c in enumerate(path.cues) if state.used >> n & 1]
    unused = tuple(c for n, c in enumerate(path.cues) if not state.used >> n & 1)
    named = {
        (i.unit.start, i.unit.end)
        for i in state.items
        if path.world.schema.tree and i.kind == "property" and i.cand and i.cand.way == "exact"
    }
    compares = any(i.role == "than" or i.role.rstrip("+-<>=").endswith(_COMPARING) for i in state.items)
    for cue in unused:
        if cue.cue in _FREE or any(c.start == cue.start for c in used):
            continue
        if compares and cue.cue in _COMPARED:
            continue
        if (cue.start, cue.end) in named:  # "What does it mean?"
            continue
        name = "left:" + cue.cue
        features[name] = features.get(name, 0.0) + 1.0
        score += weights.get(name, 0.0)
    # "The highest and lowest rate" has no height: the adjectives are for what stands behind them.
    spans = {(c.start, c.end) for c in used}
    meant = sum(i.role == "hint" and (i.unit.start, i.unit.end) in spans for i in state.passed)
    idle = sum(
        i.role == "hint" and i.unit.cue == "superlative" and (i.unit.start, i.unit.end) not in spans
        for i in state.passed
    )
    for name, count in (("hint meant", meant), ("hint idle", idle)):
        features[name] = float(count)
        score += weights.get(name, 0.0) * count
    features["left words"] = float(len(left))
    score += weights.get("left words", 0.0) * len(left)
    return Labelled(state.items, unused, tuple(left), features, score, state.passed, tuple(path.cues))


def _options(path: _Path, at: int, weights: Mapping[str, float]) -> Iterator[_Option]:
    """Yield the roles that a mention may have."""
    slot = path.mentions[at]
    for unit in slot.units:
        if unit.kind == "cue":
            continue
        for role, cand in _roles(path.world, unit, path.liked, path.near):
            for cue in _choices(path, unit, role):
                if cue >= 0 and _is_extreme(path, unit, role, cand, path.cues[cue]):
                    continue
                if (mask := _used(path.cues, unit, role, cue)) is not None:
                    yield from _with_either(path, at, weights, (role, unit, cand, cue, mask))
        if unit.kind == "property":
            run = _run(path.cues, unit)
            several = tuple(dict.fromkeys(_FOLDING[path.cues[n].cue] for n in run))
            for cand in unit.options[:3] if len(several) > 1 else ():
                if path.world.info(cand.term).kind in ("number", "date"):
                    role, mask = "&".join(several), sum(1 << n for n in run)
                    yield _option(path, at, weights, role, unit, cand, -1, mask)
        if unit.kind in ("property", "class", "adjective"):
            for role, cand, inner, outer in _fold_uses(path, unit):
                mask = sum(1 << n for n in (inner, outer) if n >= 0)
                beside = _used(path.cues, unit, role, outer)
                if beside is not None:
                    yield _option(path, at, weights, role, unit, cand, outer, mask | beside, inner)
    yield _option(path, at, weights, "skip", slot.units[0], None, -1)


def _option(
    path: _Path,
    at: int,
    weights: Mapping[str, float],
    role: str,
    unit: Unit,
    cand: Candidate | None,
    cue: int,
    mask: int = 0,
    inner: int = -1,
) -> _Option:
    features = _measured(path, at, role, unit, cand, path.cues[cue] if cue >= 0 else None)
    if "&" in role:
        features += ((f"{role.split('&')[0]}&|{path.cues[inner].cue if inner >= 0 else ''}", 1.0),)
    worth = sum(weights.get(name, 0.0) * value for name, value in features)
    mask = mask or (1 << cue if cue >= 0 else 0)
    gain = -sum(loss for n, loss in enumerate(path.losses) if mask >> n & 1)
    cues = tuple(c for n, c in enumerate(path.cues) if mask >> n & 1) if mask else ()
    item = RoleItem(role, unit, cand, path.cues[cue] if cue >= 0 else None, cues)
    return _Option(item, cue, mask, worth, gain, features)


def _with_either(
    path: _Path,
    at: int,
    weights: Mapping[str, float],
    one: tuple[str, Unit, Candidate | None, int, int],
) -> Iterator[_Option]:
    """Yield a role, and the same in place of what is said before it."""
    role, unit, cand, cue, mask = one
    yield _option(path, at, weights, role, unit, cand, cue, mask)
    if role in _EITHER and (either := _either(path, unit)):
        also = mask or (1 << cue if cue >= 0 else 0)
        yield _option(path, at, weights, OR + role, unit, cand, cue, also | either)


def _either(path: _Path, unit: Unit) -> int:
    """Return the cues that let a condition hold in place of the one before it: "or", "either … or"."""
    near = [n for n in _near(path, unit, ("or",), False) if path.cues[n].end <= unit.start][:1]
    both = near and path.cues[near[0]].word != "either"
    opens = (n for n, c in enumerate(path.cues) if c.word == "either" and c.end < path.cues[near[0]].start)
    return 1 << near[0] | sum(1 << n for n in opens) if both else 0


def _is_extreme(path: _Path, unit: Unit, role: str, cand: Candidate | None, cue: Unit) -> bool:
    """Return whether "first" or "highest" wants an extreme value rather than that which most things have."""
    ranks = role in ("most", "fewest") and cue.cue in ("sup+", "sup-") and unit.kind == "property"
    return ranks and cand is not None and path.world.info(cand.term).kind in ("number", "date")


def _is_told(path: _Path, unit: Unit) -> bool:
    """Return whether words before a kind tell what is one of it: "is A a town", "rivers that are borders"."""
    last = max(
        (s for s in path.mentions if s.end <= unit.start and not s.is_soft),
        key=attrgetter("end"),
        default=None,
    )
    between = path.low[0 if last is None else last.end : unit.start]
    if last is None or unit.options[0].term not in path.world.schema.classes:
        return False
    if path.low[0] in _BE and any(u.kind == "entity" for u in last.units):
        return PREPOSITIONS.isdisjoint(between)
    if path.low[0] in _BE and not between and any(u.cue in _ALL for u in path.cues):
        return True  # "are all A also B"
    said = next((n for n in reversed(range(len(between))) if between[n] in _BE), None)
    if said is not None:
        return PREPOSITIONS.isdisjoint(between[said:])
    # "Those that are both painters and poets".
    one = next((u for u in last.units if u.kind == "class"), None)
    return one is not None and list(between) in (["and"], ["or"]) and _is_told(path, one)


def _choices(path: _Path, unit: Unit, role: str) -> list[int]:
    """Return the cues that a role may use, by number: -1 for none, -2 for that of the unit before."""
    needs = _NEEDS.get(role)
    every = any(c.cue in _ALL for c in path.cues)
    if role in ("kind", "unkind") and not (
        (every or unit.options[0].way == "exact") and _is_told(path, unit)
    ):
        return []
    if needs is None or unit.cue in ("un", "open"):
        return [-1]
    if unit.kind == "adjective":
        own = [n for n, c in enumerate(path.cues) if c.start == unit.start and c.end == unit.end]
        return own[:1] or [-1]
    behind = role in ("most", "fewest") and unit.kind == "property"
    several = role in ("group", "sortA", "sortD", "not", "none", "not<", "lacks", "unkind", "each")
    near = _near(path, unit, needs, behind)[: 2 if several else 1]
    return [*near, *([-2] if role in _FOLDS else []), *([-1] if role in ("group", "than") else [])]


def _compared(cues: Sequence[Unit], unit: Unit, cue: int) -> int | None:
    """Return the cues of a comparison with the average; None where it is compared with none."""
    if cue >= 0 and cues[cue].cue not in ("cmp+", "cmp-"):
        return 0
    first = min(unit.end, cues[cue].end if cue >= 0 else unit.end)
    mean = [n for n, c in enumerate(cues) if c.cue == "avg" and first <= c.start <= unit.end + 4]
    if not mean or cue < 0:
        return None
    at = cues[mean[0]].start
    than = any(c.cue == "than" and cues[cue].start < c.start < at for c in cues)
    return 1 << cue | 1 << mean[0] if than else None


def _asking(cues: Sequence[Unit], cue: int) -> int:
    """Return a cue of a comparison with those beside it: "how many years older", "more on average"."""
    at, end = cues[cue].start, cues[cue].end
    than = min((c.start for c in cues if c.cue == "than" and c.start >= end), default=end + 99)
    beside = (
        n
        for n, c in enumerate(cues)
        if (c.cue in _AMOUNTS and 0 <= at - c.end <= 1)
        or (c.cue == "avg" and (end <= c.start < than or c.word == "on average"))
    )
    return 1 << cue | sum(1 << n for n in beside)


def _used(cues: Sequence[Unit], unit: Unit, role: str, cue: int) -> int | None:
    """Return the cues that a role uses beside its own; None where it needs some that are not there."""
    if "beyond" in role:
        return _compared(cues, unit, cue)
    if role.startswith("by") and cue >= 0:
        return _asking(cues, cue)
    return _ranking(cues, unit, cue) if cue >= 0 and cues[cue].cue in _RANKING else 0


def _ranking(cues: Sequence[Unit], unit: Unit, cue: int) -> int:
    """Return a cue that ranks with the "by" behind it: "the top 3 stages by length"."""
    by = (n for n, c in enumerate(cues) if c.word in ("by", "by the") and 0 <= unit.start - c.end <= 4)
    return 1 << cue | sum(1 << n for n in by)


def _near(path: _Path, unit: Unit, needs: Sequence[str], behind: bool) -> list[int]:
    """Return the cues near a unit that would make it what it should be, the nearest first."""
    found = []
    for n, c in enumerate(path.cues):
        if c.cue not in needs:
            continue
        if c.end <= unit.start:
            between = sum(c.end <= s.start and s.end <= unit.start for s in path.mentions)
            if unit.start - c.end <= 8 and between <= 3:
                found.append((unit.start - c.end + 2 * between, n))
        elif c.start >= unit.end:
            between = sum(unit.end <= s.start and s.end <= c.start for s in path.mentions)
            # "In each town" says nothing of what stands before it.
            leads = c.word.split()[-1:] in _EACH and any(s.start == c.end for s in path.mentions)
            if (behind or c.cue in _AFTER) and c.start - unit.end <= 6 and between <= 1 and not leads:
                found.append((c.start - unit.end + 3 + 2 * between, n))
        elif c.start <= unit.start and unit.end <= c.end:
            found.append((0, n))
    return [n for _, n in sorted(found)]


def _run(cues: Sequence[Unit], unit: Unit) -> list[int]:
    """Return the cues for folds that stand in a row before a unit: "the average, least and greatest age"."""
    found: list[int] = []
    at = unit.start
    for n in sorted(range(len(cues)), key=lambda n: (-cues[n].end, cues[n].end - cues[n].start)):
        c = cues[n]
        if c.cue in _FOLDING and c.end <= at and at - c.end <= (2 if found else 1):
            found.append(n)
            at = c.start
    return found[::-1]


def _fold_uses(path: _Path, unit: Unit) -> Iterator[tuple[str, Candidate, int, int]]:
    """Yield what a kind or a number may do that is folded for each of something, with the two cues for it."""
    if unit.kind == "adjective":
        # The best rated is that with the best average.
        own = [n for n, c in enumerate(path.cues) if (c.start, c.end) == (unit.start, unit.end)]
        mean = [n for n, c in enumerate(path.cues) if c.cue == "avg" and 0 <= c.start - unit.end <= 2]
        for cand in unit.options[:2] if own and unit.cue == "superlative" else ():
            if path.world.info(cand.term).kind == "number":
                for one in (*mean, -1):
                    yield f"avg&key{'+' if cand.inverse is False else '-'}", cand, one, own[0]
        return
    kind = unit.kind == "class" or path.world.info(unit.options[0].term).kind == "entity"
    needs: tuple[str, ...] = ("count",) if kind else ("avg", "sum", "count", "max", "min")
    inner = [n for n in _near(path, unit, needs, False) if path.cues[n].end <= unit.start][:2]
    options = [
        c
        for c in unit.options[:3]
        if unit.kind == "class" or path.world.info(c.term).kind == ("entity" if kind else "number")
    ]
    for one in (*inner, -1):
        fold = "count" if kind else {"": "sum", "count": "sum"}.get(cue := _name(path, one), cue)
        for use in _OF["counted" if kind else "folded"]:
            needs = _NEEDS.get(use, ())
            near = [n for n in _near(path, unit, needs, True) if n != one] if needs else [-1]
            if use.startswith("&sort") and one < 0:
                continue
            for other in near[:1]:
                if _name(path, other) == "group" and path.cues[other].word != "by":
                    continue
                for cand in options:
                    yield fold + use, cand, one, other


def _name(path: _Path, cue: int) -> str:
    return path.cues[cue].cue if cue >= 0 else ""


def _roles(
    world: SchemaWays, unit: Unit, liked: frozenset[str], near: frozenset[str]
) -> Iterator[tuple[str, Candidate | None]]:
    """Yield what a unit may do, with what it names then."""
    if unit.part == "rank":
        yield "limit", None
    elif unit.kind in ("quantity", "time", "text"):
        numbers = unit.op == "=" and len(unit.values) == 1
        yield from ((role, None) for role in _OF[unit.kind] if role != "limit" or numbers)
    if unit.kind == "adjective":
        yield "hint", None
        yield from _measures(world, unit, near)
    if unit.cue in _IMPLIED:
        for cand in unit.options[: 1 if unit.kind == "class" else _CANDIDATES]:
            yield from ((role, cand) for role in _OF[unit.cue])
        return
    for cand in unit.options[:_CANDIDATES] if unit.kind in _NAMES else ():
        yield from ((role, cand) for role in _OF[unit.kind])
    if unit.kind == "property":
        yield from _uses(world, unit, liked)


def _measures(world: SchemaWays, unit: Unit, near: frozenset[str]) -> Iterator[tuple[str, Candidate]]:
    """Yield what an adjective may do: "the longest", "longer than", "how long"."""
    liked = sorted(unit.options, key=lambda c: (not any(o in near for o in world.owners[c.term]), -c.score))
    for cand in liked[:_CANDIDATES]:
        sign = "+" if cand.inverse is False else "-"
        if unit.cue == "order":
            yield "sortD" if sign == "+" else "sortA", cand
        elif unit.cue == "superlative":
            yield f"key{sign}", cand
            yield ("max" if sign == "+" else "min"), cand
        elif unit.cue == "comparative":
            yield from (("cond", cand), (f"beyond{sign}", cand), (f"above{sign}", cand), (f"by{sign}", cand))
        else:
            yield from (("col", cand), *((fold, cand) for fold in _FOLDS))


def _uses(world: SchemaWays, unit: Unit, liked: frozenset[str]) -> Iterator[tuple[str, Candidate | None]]:
    def worth(cand: Candidate) -> float:
        return cand.score + (0.2 if any(o in liked for o in world.owners[cand.term]) else 0.0)

    options = sorted(unit.options, key=lambda c: -worth(c)) if liked else list(unit.options)
    last = key_of(unit.options[0].name.split()[-1])
    if unit.end - unit.start == 1 and last in ("name", "title", "id"):
        yield "self", options[0]  # the name of the thing itself, which is how it is shown
    if all(c.term in world.computed for c in options):
        yield "hint", None
    for cand in options[:_CANDIDATES]:
        info = world.info(cand.term)
        if cand.term in world.computed:
            part = world.computed[cand.term].sort in _DATE_PARTS
            yield from ((role, cand) for role in _OF["part" if part else "span"])
            continue
        yield from ((role, cand) for role in (*_OF["property"], *_OF.get(f"property:{info.kind}", ())))
        if info.kind in ("entity", "text") and not info.triples == info.subjects == info.objects:
            yield "having", cand
        if info.kind == "date":
            yield "hint", cand  # it says of which date a part is
        if info.flag:
            yield "yes", cand
            yield "no", cand


def _measured(
    path: _Path, at: int, role: str, unit: Unit, cand: Candidate | None, cue: Unit | None
) -> Features:
    """Return what is measured of a role of a mention."""
    if role.startswith(OR):
        own = _measured(path, at, role.removeprefix(OR), unit, cand, None if unit.kind != "property" else cue)
        return *own, (f"{OR}{unit.kind}", 1.0)
    if role == "skip":
        said = [(f"skip for {u.cue}", 1.0) for u in path.mentions[at].units if u.kind == "cue"][:1]
        if unit.kind == "cue":
            return tuple(said)
        return ("skip", 0.4 if said else unit.score), (f"skip|{unit.kind}", 1.0), *said
    slot = path.mentions[at]
    sort: str = unit.cue if unit.cue in _IMPLIED else unit.kind
    more: list[tuple[str, float]] = []
    if unit.cue not in _IMPLIED and cand is not None and cand.kind == "property":
        info = path.world.info(cand.term)
        sort = "key" if info.kind == "number" and tells_apart(info) else info.kind
        computed = path.world.computed.get(cand.term)
        if computed is not None:
            sort = "text" if computed.sort in _DATE_PARTS else sort
            more.append((f"{role}|{'part' if sort == 'text' else 'span'}", 1.0))
        sort += "Pa" if unit.kind == "adjective" else "P"
    found = [*more, (f"{role}|{sort}", 1.0), (f"length:{unit.kind}", float(unit.end - unit.start))]
    if cand is not None:
        found.append((f"match:{cand.kind}", cand.score - 1.0))
        if cand.kind == "class" and cand.term not in path.world.schema.classes:
            found += [(f"{role}|term", 1.0), (f"term|{cand.way}", 1.0)]  # of a kind the plural is said
        if cand.way not in ("exact", "inflected"):
            found.append((f"way:{cand.kind}:{cand.way}", 1.0))
        if cand.inverse and unit.kind != "adjective":
            found.append(("inverse", 1.0))
        best = max(0.9, cand.score)
        found += [
            (f"{unit.kind} for {u.kind}", 1.0)
            for u in slot.units
            if u.kind != unit.kind and u.kind in (*_NAMES, "property") and u.score >= best
        ]
    around = list(_context(path, at, role, sort))
    found += around
    if path.language:
        # The order of words of each language is learnt beside what all have in common.
        found += [(f"{path.language} {name}", value) for name, value in around]
    found += _by_cue(role, unit, cue)
    if role.startswith("size") and cue is not None and cand is not None:
        about = [u for m in path.mentions for u in m.units if (u.start, u.end) == (cue.start, cue.end)]
        measured = any(
            path.world.has(cand.term, o.term) for u in about for o in u.options if o.kind == "property"
        )
        found.append(("size measured" if measured else "size not measured", 1.0))
    if role.endswith(("sortA", "sortD")):
        found.append((role[-5:] + "|" + next((c.cue for c in path.cues if c.cue in _DIRECTIONS), ""), 1.0))
    if unit.kind in ("quantity", "time"):
        found += _of_amount(path, at, role, unit)
    elif role == "not" and cue is not None and cue.word.split()[-1] in _NONE and _of_kind(path, at):
        found.append(("not|of kind", 1.0))
    return tuple(found)


def _of_amount(path: _Path, at: int, role: str, unit: Unit) -> Iterator[tuple[str, float]]:
    yield f"{role}|{unit.part if unit.part == 'rank' else 'op' + unit.op}", 1.0
    if unit.unit:
        yield f"{role}|unit", 1.0
    if _of_kind(path, at):
        yield f"{role}|of kind", 1.0


def _of_kind(path: _Path, at: int) -> bool:
    """Return whether a mention stands just before the name of a kind of things: "20 dogs", "female dogs"."""
    behind = (m for m in path.mentions[at + 1 : at + 2] if m.start == path.mentions[at].end)
    return any(u.kind == "class" and u.score >= _SURE for m in behind for u in m.units)


def _by_cue(role: str, unit: Unit, cue: Unit | None) -> Iterator[tuple[str, float]]:
    if cue is not None:
        gap = unit.start - cue.end
        place = "after" if gap < 0 else "far" if gap > 3 else ("0", "1", "2", "2")[gap]
        yield f"{role}|{cue.cue}|{place}", 1.0
        if cue.cue in ("most", "common", "group", "sort", "count"):
            yield f"{role}|cue={cue.word}", 1.0
    elif role in _FOLDS:
        yield "fold again", 1.0
    elif role in ("group", "than"):
        yield f"{role}|no cue", 1.0


def _context(path: _Path, at: int, role: str, sort: str) -> Iterator[tuple[str, float]]:
    """Yield the words around a mention, up to the mentions beside it."""
    low, slot = path.low, path.mentions[at]
    before = low[max((s.end for s in path.mentions[:at] if not s.is_soft), default=0) : slot.start]
    after = low[slot.end : min((s.start for s in path.mentions[at + 1 :] if not s.is_soft), default=len(low))]
    for name, word in (("-1", before[-1] if before else "^"), ("+1", after[0] if after else "$")):
        yield f"{role}|{sort}|{name}={key_of(word) if word.isalpha() else word}", 1.0
    for word in before[-5:]:
        if word.isalpha():
            yield f"{role}|<{key_of(word)}", 1.0
    for word in after[:3]:
        if word.isalpha():
            yield f"{role}|>{key_of(word)}", 1.0
    if role == "kind" and any(c.cue in _ALL for c in path.cues):
        yield "kind of all", 1.0
    asking = next((w for w in low[:4] if w in ("who", "where", "when", "which", "what", "how")), "")
    yield f"{role}|{sort}|wh={asking}", 1.0
    if slot.start <= 2:
        yield f"{role}|{sort}|first={low[0]}", 1.0
