"""Frames: nodes for the things that a question speaks of, what is said of them, and what ties them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Final
from typing import Literal as OneOf

from rdflib import RDF, Literal, URIRef

from mrag.language.english import root
from mrag.language.tokens import PREPOSITIONS
from mrag.planning.lexical import Candidate
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Expression,
    Fold,
    Number,
    Pattern,
    Plan,
    Position,
    Relation,
    Scalar,
    Unknown,
)
from mrag.planning.reader.computed import mainly
from mrag.planning.reader.quantities import converted, likeness, unit_called
from mrag.planning.reader.units import Unit
from mrag.planning.reader.world import ComputedProperty, SchemaWays, Way, WayStep
from mrag.planning.schema import PropertyInfo
from mrag.planning.scopes import merged, substituted
from mrag.rdf.terms import XSD

_ALONE: Final = frozenset(("none", "again", "most", "fewest", "fewest0", "having"))
"""Roles of kinds that are never of things that were spoken of before."""
_POSITIONS: Final[Mapping[str, Position]] = {"start": "start", "end": "end", "like": "anywhere"}
BEYOND: Final[Mapping[str, Relation]] = {"+": ">", "-": "<", ">=": ">=", "<=": "<="}
_SIGN: Final[Mapping[str, int]] = {">": 1, ">=": 1, "<": -1, "<=": -1}
_TURNED: Final[Mapping[Relation, Relation]] = {">": "<", ">=": "<="}
BY: Final = ("by+", "by-")  # Roles of what two sides are compared by
_UNPAIRED: Final = frozenset(("than", "or", "not"))
"""Roles of what nothing takes the place of in a comparison."""
ALIKE: Final = 5  # Ways behind which a further one is no less likely for being longer or later
CLOSE: Final = 0.75  # How much more another way may cost that is tried as well
OR: Final = "or "  # How roles begin of what holds in place of what is said before it
_NOT_NODES: Final = frozenset(("same", "differ", "kind", "unkind"))
"""Roles of kinds by which no further thing is spoken of."""
_SAYING: Final = frozenset("is is< or< not has lacks yes no cond kind start end like".split())
"""Roles of what says something that another condition may take the place of."""
_KEYS: Final = ("id", "number", "code", "no", "name")
"""How the names of properties end that tell things apart."""


class Unreadable(Exception):
    """Roles that make no plan."""


@dataclass(frozen=True)
class RoleItem:
    """A unit of a question with what it does."""

    role: str  # What it does
    unit: Unit  # The words
    cand: Candidate | None = None  # What they name; None of quantities, times and texts
    cue: Unit | None = None  # The cue word that made it so
    cues: tuple[Unit, ...] = field(default=(), compare=False)  # All cue words that it uses up

    @property
    def at(self) -> int:
        """Return where it begins."""
        return self.unit.start

    @property
    def meant(self) -> Candidate:
        """Return what it names; not of quantities, times and texts."""
        assert self.cand is not None
        return self.cand

    @property
    def kind(self) -> str:
        """Return what it names, or "" of quantities, times and texts."""
        return "" if self.cand is None else self.cand.kind

    @property
    def text(self) -> str:
        """Return the value that it states."""
        return self.cand.term if self.cand is not None else self.unit.values[0]


@dataclass(frozen=True)
class QuestionCues:
    """What cue words say of the question as a whole."""

    truth: bool = False  # Whether it asks for yes or no
    limit: int = 0  # How many are wanted; 0 if not said
    offset: int = 0  # How many are passed over before them
    turn: int = 0  # How many times another way than the shortest is taken
    order: str = ""  # "asc", "desc" or "alpha" where rows are to be in order of what is shown
    counted: bool = False  # Whether a number is asked for that belongs to no words
    zero: bool = False  # Whether groups to which nothing belongs are asked for as well
    difference: bool = False  # Whether the difference of two numbers is asked for
    ratio: str = ""  # "percent" or "fraction" where a part of something is asked for
    compares: Relation | OneOf[""] = ""  # ">", "<" or "=" where one side is compared with the other
    unit: str = ""  # "year" or "day" where a time is to be counted in them
    side: bool = False  # Whether it is only one side of a comparison
    fold: Fold = "sum"  # How what is compared is folded
    amount: bool = False  # Whether it is asked by how much one side is beyond the other
    named: bool = False  # Whether names are asked for beside something else: "names and ages of dogs"
    joins: tuple[int, ...] = ()  # Places of words that may stand between two sides


@dataclass(eq=False)
class FrameNode:
    """A thing that is spoken of, while a frame is built."""

    var: Unknown  # The unknown that stands for it
    cls: str  # Its class; "" where it has none
    at: int  # Where it is spoken of
    entity: URIRef | None = None  # The thing itself, if it is named
    explicit: bool = True  # Whether its class is named
    parent: FrameNode | None = None  # The node that it is tied to
    way: Way = ()  # How
    negated: bool = False  # Whether there is to be none
    again: bool = False  # Whether it is another thing of a class that was spoken of before
    aside: bool = False  # Whether it is only compared with, and not tied
    # The property whose value it shares with the root, in place of a tie
    share: tuple[str, Unknown] | None = None
    # The step that leads to it from another node, where it is named by a relation: "the owner of"
    leads: WayStep | None = None
    same: tuple[URIRef, ...] = ()  # The named things one of which it is: "is A a town"
    # The named thing before it to which it is added: "both A and B", "A but not B"
    like: FrameNode | None = None
    blocks: list[Block] = field(default_factory=list)  # What is said of it
    withouts: list[Block] = field(default_factory=list)  # What is denied of it
    either: list[URIRef] = field(default_factory=list)  # Other things that will do as well
    said: dict[str, tuple[Relation, str]] = field(default_factory=dict)  # What was said of its properties
    # What it is an extreme by, whether the greatest, and how many are wanted
    key: tuple[Expression, bool, int] | None = None


@dataclass(frozen=True)
class Shown:
    """A property whose values are shown, folded, grouped by or sorted by."""

    item: RoleItem  # The words
    value: Expression  # The unknown for its values
    node: FrameNode  # The node that has it
    many: bool = False  # Whether values are to be counted for each thing rather than things for each value


@dataclass(eq=False)
class _Said:
    """What is said: blocks of a node, or, without any, that there is the node; and what will do as well."""

    node: FrameNode
    blocks: Sequence[Block] = ()
    withouts: Sequence[Block] = ()
    others: list[_Said] = field(default_factory=list)

    @property
    def owner(self) -> FrameNode | None:
        """Return the node that it is said of."""
        return self.node if self.blocks or self.withouts else self.node.parent

    def take_off(self) -> None:
        """Take what is said from its node."""
        own, denied = {*map(id, self.blocks)}, {*map(id, self.withouts)}
        self.node.blocks = [b for b in self.node.blocks if id(b) not in own]
        self.node.withouts = [b for b in self.node.withouts if id(b) not in denied]


@dataclass
class RoleFrame:
    """The nodes of one question; `read_frame` fills it, and `outcome.assemble` makes a plan of it.

    Attributes:
        world: What can be said of the things of the graph.
        items: The units of the question with their roles.
        asked: What is said of the question as a whole.
        nodes: The things that are spoken of.
        root: What is asked for.
        named: The nodes of the items that name classes and things.
        shown: The properties whose values are shown or used.
        differences: Differences that are asked for.
        beside: What is one of several things or values that are set side by side, and the last words for one.
        features: What is measured.
        either: What is said in place of which something else will do.
    """

    world: SchemaWays
    items: Sequence[RoleItem]
    asked: QuestionCues
    nodes: list[FrameNode] = field(default_factory=list)
    named: dict[int, FrameNode] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    differences: list[Expression] = field(default_factory=list)
    beside: dict[Expression, RoleItem] = field(default_factory=dict)
    features: dict[str, float] = field(default_factory=dict)
    either: list[_Said] = field(default_factory=list)
    values: dict[tuple[int, str], Unknown] = field(default_factory=dict)
    last: tuple[FrameNode, str, RoleItem] | None = None
    turned: int = 0
    number: int = 0
    _root: FrameNode | None = None

    @property
    def root(self) -> FrameNode:
        """Return the node that is asked for."""
        assert self._root is not None
        return self._root

    def count(self, name: str, by: float = 1.0) -> None:
        """Add to a feature."""
        self.features[name] = self.features.get(name, 0.0) + by

    def fresh(self, stem: str = "v") -> Unknown:
        """Return an unknown that stands nowhere yet."""
        self.number += 1
        return Unknown(f"{stem}{self.number}")

    def add(self, cls: str, at: int, *, explicit: bool = True, entity: URIRef | None = None) -> FrameNode:
        """Return a new node."""
        info = self.world.schema.classes.get(cls)
        stem = stem_of(info.names[0]) if info is not None and cls else "thing"
        self.nodes.append(FrameNode(self.fresh(stem), cls, at, entity, explicit))
        return self.nodes[-1]

    def turn(self, most: int, cost: Callable[[int], float]) -> int:
        """Return how many of the likelier ways are passed over in this turn, which costs something."""
        found = min(self.asked.turn - self.turned, most)
        if found <= 0:
            return 0
        self.turned += found
        self.count("turned", cost(found))
        return found


def stem_of(name: str) -> str:
    """Return the name of an unknown that is called like a class or a property.

    Example:
        >>> stem_of("2nd Place"), stem_of("weight (g)")
        ('x_2nd_place', 'weight_in_g')
    """
    said, _, unit = name.strip().removesuffix(")").rpartition(" (")
    name = f"{said} in {unit}" if said and unit_called(unit) else name
    plain = "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in name.lower()).split())
    plain = plain[:40].strip("_")
    return plain if plain[:1].isalpha() else f"x_{plain}".rstrip("_")


def read_frame(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> RoleFrame:
    """Return the frame of items.

    Raises:
        Unreadable: If they make none.
    """
    frame = RoleFrame(world, items, asked)
    _add_classes(frame)
    _add_entities(frame)
    _add_kinds(frame)
    _add_parties(frame)
    frame._root = _focus(frame)
    _leave_out(frame)
    for item in items:
        if "&" in item.role and is_above(item):
            _two_of(frame, item)
    partners = pairs(items)
    taken, said = {*partners.values()}, list[_Said]()
    for n, item in enumerate(items):
        spoken = item.kind not in ("class", "entity") and item.role != "limit"
        known = {id(x): (len(x.blocks), len(x.withouts)) for x in frame.nodes}
        if n not in taken and (spoken or (item.kind == "class" and item.role in ("same", "differ"))):
            own = replace(item, role=item.role.removeprefix(OR)) if item.role.startswith(OR) else item
            _place(frame, n, own, partners)
        new = _said_by(frame, n, item, known)
        value = item if item.kind == "entity" else items[partners.get(n, n)]
        if item.role.startswith(OR) or (value.role == "or<" and (value is item) == (value.kind == "entity")):
            if new is None or not said:
                raise Unreadable
            said[-1].take_off()
            new.take_off()
            said[-1].others.append(new)
        elif new is not None:
            said.append(new)
    frame.either = [one for one in said if one.others]
    return frame


def _said_by(frame: RoleFrame, n: int, item: RoleItem, known: Mapping[int, tuple[int, int]]) -> _Said | None:
    """Return what an item said, by what there is now beside what was known; None if it said nothing."""
    if item.role.removeprefix(OR) not in _SAYING or (item.kind == "entity" and n not in frame.named):
        return None
    node = frame.named.get(n)
    if node is not None and item.kind == "class":
        return _Said(node, [b for b in node.blocks if b == Block(of_class(node.var, item.meant.term))])
    if node is not None:
        return None if node is frame.root else _Said(node)
    for x in frame.nodes:
        if id(x) not in known:
            return _Said(x)
        blocks, withouts = x.blocks[known[id(x)][0] :], x.withouts[known[id(x)][1] :]
        if blocks or withouts:
            return _Said(x, blocks, withouts)
    return None


def pairs(items: Sequence[RoleItem]) -> dict[int, int]:
    """Return for properties that are conditions, and for counted kinds, the value that each goes with."""
    return {
        n: n - 1 if n > 0 and items[n - 1].role.endswith(">") else n + 1
        for n, item in enumerate(items)
        if item.role in ("cond", "having") or item.role.endswith("&cond")
    }


def is_above(item: RoleItem) -> bool:
    """Return whether things are compared by an item with another one."""
    return item.role.rstrip("+-").endswith("above")


def partner_of(items: Sequence[RoleItem], n: int) -> int | None:
    """Return the item before another one that the latter takes the place of in a comparison."""

    def fits(one: RoleItem) -> bool:
        if one.role in _UNPAIRED or one.unit.kind != items[n].unit.kind:
            return False
        a, b = one.cand, items[n].cand
        if a is None or b is None:
            return True
        return a.term != b.term and (a.kind != "value" or not {*a.properties}.isdisjoint(b.properties))

    return next((at for at in range(n - 1, -1, -1) if fits(items[at])), None)


def goes_with(world: SchemaWays, one: RoleItem, value: RoleItem) -> bool:
    """Return whether a property or a kind that is counted may go with a value."""
    if one.role == "having":
        return value.unit.kind == "quantity"
    info = world.info(one.meant.term)
    if value.unit.kind == "quantity":
        year = info.kind == "date" and value.unit.values[0].isdigit() and len(value.unit.values[0]) == 4
        return year or info.kind == "number" or (info.kind == "text" and value.unit.op == "=")
    if value.unit.kind == "time":
        return info.kind == "date" or (info.kind == "number" and value.unit.part == "year")
    if one.unit.kind == "adjective":
        return False
    if value.unit.kind == "text":
        return info.kind in ("text", "date", "number")
    if value.cand is None:
        return False
    if value.kind == "value":
        return one.meant.term in value.cand.properties
    naming = info.kind == "text" and info.names[-1].lower().split()[-1] in ("name", "title", "label")
    return value.kind == "entity" and (info.kind == "entity" or naming)


# Nodes


def _add_classes(frame: RoleFrame) -> None:
    for n, item in enumerate(frame.items):
        if item.kind != "class" or item.role.removeprefix(OR) in _NOT_NODES:
            continue
        cls = _best_of(frame, item) if len(item.unit.options) > 1 and item.unit.cue else item.meant.term
        if item.role == "none" and (of_them := _of_its_kind(frame, cls)) is not None:
            # "Products without the resistors" are those that are none.
            of_them.withouts.append(Block(of_class(of_them.var, cls)))
            frame.named[n] = of_them
            continue
        # In a graph without classes each noun may name another kind of thing.
        same = next((x for x in frame.nodes if x.cls == cls and cls), None)
        if same is None and item.role == "again":
            raise Unreadable
        if same is not None and item.role not in _ALONE and not same.negated:
            frame.named[n] = same
            frame.count("merged")
            continue
        frame.named[n] = made = frame.add(cls, item.at)
        made.negated, made.again = item.role == "none", item.role == "again"


def _of_its_kind(frame: RoleFrame, cls: str) -> FrameNode | None:
    """Return the things before of which a class is a sort, that is told by what they are sorted by."""
    info = frame.world.schema.classes.get(cls)
    if info is None or not info.way:
        return None
    some = (x for x in reversed(frame.nodes) if not x.negated and not x.entity and x.cls != cls)
    return next((x for x in some if frame.world.related(x.cls, info.kind)), None)


def _best_of(frame: RoleFrame, item: RoleItem) -> str:
    """Return the class of those that a word like "who" may stand for that fits the rest best."""
    options = [c.term for c in item.unit.options]
    return min(options, key=lambda c: (_distance(frame, c) - 2 * _fit(frame, c), options.index(c)))


def _distance(frame: RoleFrame, cls: str) -> int:
    """Return how far things of a class are from all that is named."""
    found = 0
    for item in frame.items:
        if item.kind in ("class", "entity"):
            ends = [item.meant.term] if item.kind == "class" else list(item.meant.classes)
            ways = [frame.world.ways(cls, end) for end in ends if end in frame.world.schema.classes]
            found += min((len(some[0]) for some in ways if some), default=6)
    return found


def _add_entities(frame: RoleFrame) -> None:
    last: FrameNode | None = None
    for n, item in enumerate(frame.items):
        if item.kind != "entity" or item.role == "except":
            continue
        if item.role == "or" and (last is None or _is_parted(frame, n, last)):
            raise Unreadable
        if item.role in ("or", "each") and last is not None:
            last = _with_listed(frame, n, last)
            last.either.append(URIRef(item.meant.term))
            frame.named[n] = last
            if item.role == "each":
                frame.beside[last.var] = item
            continue
        classes = [c for c in item.meant.classes if c in frame.world.schema.classes]
        cls = next(iter(frame.world.schema.narrowest(classes)), "")
        before, last = last, frame.add(cls, item.at, entity=URIRef(item.meant.term))
        last.negated, frame.named[n] = item.role in ("not", "not<"), last
        last.like = before if before is not None and before.cls == cls and not before.negated else None


def _is_parted(frame: RoleFrame, n: int, last: FrameNode) -> bool:
    """Return whether a thing is of another kind than the one before it, or is so by another relation."""
    item = frame.items[n]
    if any(i.kind == "property" and last.at < i.at < item.at for i in frame.items):
        return True
    classes = [c for c in item.meant.classes if c in frame.world.schema.classes]
    return bool(classes) and not any(frame.world.related(last.cls, c) for c in classes)


def _with_listed(frame: RoleFrame, n: int, last: FrameNode) -> FrameNode:
    """Return the node of the first of a list of named things of which any will do: "A, B or C"."""
    while n >= 2 and not last.either and not last.negated:
        first, second = frame.items[n - 2 : n]
        before = frame.named.get(n - 2)
        if before is None or before is last or not before.entity or before.cls != last.cls:
            break
        if frame.named.get(n - 1) is not last or last.entity is None or first.unit.end != second.at:
            break
        before.either.append(last.entity)
        frame.nodes.remove(last)
        frame.named[n - 1], last, n = before, before, n - 1
    return last


def _add_kinds(frame: RoleFrame) -> None:
    """Say of which kind something is: "is A a town", "is A the largest town", "rivers that are borders"."""
    for n, item in enumerate(frame.items):
        role = item.role.removeprefix(OR)
        if role not in ("kind", "unkind"):
            continue
        cls = item.meant.term
        there = [x for x in frame.nodes if not x.negated and x.at < item.at and (x.entity or x.cls != cls)]
        if not there:
            raise Unreadable
        node = frame.named[n] = there[-1]
        akin = frame.world.akin(node.cls, cls)
        if not akin and not frame.asked.truth:
            raise Unreadable
        frame.count("kind of its own" if akin else "another kind")
        if node.entity is None or role == "unkind":
            said = Block(of_class(node.var, cls))
            node.blocks += [said] if role == "kind" else []
            node.withouts += [said] if role == "unkind" else []
        elif frame.asked.truth:
            _be(node, cls)
        else:
            raise Unreadable


def _be(node: FrameNode, cls: str) -> None:
    """Let a named thing be one of a kind."""
    assert node.entity is not None
    node.same, node.entity, node.cls, node.either = (node.entity, *node.either), None, cls, []


def _add_parties(frame: RoleFrame) -> None:
    """Add the things that are named by what they are to others: "the owner of the mill"."""
    for n, item in enumerate(frame.items):
        if item.role in ("party", "parties"):
            info = frame.world.info(item.meant.term)
            backward = bool(item.meant.inverse or not info.ranges)
            if frame.world.schema.tree and item.meant.name.lower().split()[-1] in PREPOSITIONS:
                backward = True  # a "kind of" something has that above it
            if set(info.domains) & set(info.ranges):
                backward ^= bool(frame.turn(1, lambda _: 0.3))
                frame.count(f"party {'back' if backward else 'ahead'}|{'of' if item.meant.inverse else 'to'}")
            ends = frame.world.schema.likeliest(info.domains if backward else info.ranges)
            if not ends:
                raise Unreadable
            frame.named[n] = made = frame.add(ends[0], item.at, explicit=False)
            made.leads = WayStep(item.meant.term, backward)


def _leave_out(frame: RoleFrame) -> None:
    """Leave a thing out of the others of its kind: "other than A"."""
    for item in frame.items:
        if item.role == "except":
            some = [x for x in frame.nodes if x.entity is None and x.cls in item.meant.classes]
            if not some:
                raise Unreadable
            node = min(some, key=lambda x: (x is not frame.root, abs(x.at - item.at)))
            other = Comparison(node.var, "!=", URIRef(item.meant.term))
            node.blocks.append(Block((), (other,)))


def _focus(frame: RoleFrame) -> FrameNode:
    """Return the node that is asked for: what is named so, else what has what is asked for."""
    if not frame.asked.side and any(i.role in BY for i in frame.items):
        return _chosen(frame)
    return _asked_for(frame)


def _asked_for(frame: RoleFrame) -> FrameNode:
    if frame.asked.truth and (same := next((x for x in frame.nodes if x.same), None)) is not None:
        return same
    for roles in (("count", "focus", "share", *BY), ("group",), ("party", "parties")):
        for n, item in enumerate(frame.items):
            if item.role in roles and n in frame.named and not frame.named[n].entity:
                return frame.named[n]
    named = [x for x in frame.nodes if x.entity]
    compared = any(is_above(i) or i.role == "same" for i in frame.items)
    if compared and len(named) == 1 and named[0].cls and not frame.asked.truth:
        frame.count("implied focus")
        return frame.add(named[0].cls, 0, explicit=False)
    properties = [i for i in frame.items if i.kind == "property"]
    wanted = [i for i in properties if i.role not in ("link", "cond", "self")] or properties
    there = [x for x in frame.nodes if not x.negated]
    if not wanted and all(x.entity for x in there) and frame.nodes and not frame.asked.truth:
        return _unnamed(frame)
    for item in wanted:
        for x in sorted(there, key=lambda x: x.entity is None):
            if _owns(frame.world, x, item.meant):
                return x
    if wanted and (owners := frame.world.owners[wanted[0].meant.term]):
        frame.count("implied focus")
        return frame.add(_best_owner(frame, owners), wanted[0].at, explicit=False)
    if there:
        return next((x for x in there if not x.entity), there[0])
    for item in frame.items:
        if item.kind == "value" and item.meant.properties:
            owners = frame.world.owners.get(item.meant.properties[0], ())
            if owners:
                frame.count("value focus")
                return frame.add(_best_owner(frame, owners), item.at, explicit=False)
    raise Unreadable


def _best_owner(frame: RoleFrame, owners: Sequence[str]) -> str:
    """Return the class that fits the rest best of those that have a property; in another turn, the next."""
    fits = {c: _distance(frame, c) - 2 * _fit(frame, c) for c in owners}
    some = list[str]()
    for c in sorted(owners, key=lambda c: (fits[c], owners.index(c))):
        # Who looks for what a class has looks for that of those below it as well.
        if fits[c] < min(fits.values()) + 2 and not any(frame.world.related(c, other) for other in some):
            some.append(c)
    return some[frame.turn(len(some) - 1, lambda n: 0.3 * n)]


def _chosen(frame: RoleFrame) -> FrameNode:
    """Return the node of the things of which one is to be chosen: "who is older, Ann or Bob"."""
    node = next((x for x in frame.nodes if x.either), None)
    if node is None:
        if any(i.role in ("or", "each") and i.kind == "value" for i in frame.items):
            return _asked_for(frame)
        raise Unreadable
    for n, x in frame.named.items():
        if x is not node and x.entity is None and frame.world.related(x.cls, node.cls) and not x.negated:
            frame.named[n] = node
            frame.nodes = [y for y in frame.nodes if y is not x]
    return node


def _unnamed(frame: RoleFrame) -> FrameNode:
    """Return what is asked for of named things without a name for it: what is nearest to all of them."""
    own = {x.cls for x in frame.nodes}
    far = {c: _distance(frame, c) for c in frame.world.schema.classes}
    classes = frame.world.schema.classes
    said = {root(word) for i in frame.items if i.cand is not None for word in i.cand.name.split()}
    # "Ships of the line" are ships, whatever else is called so.
    akin = {c: not {root(word) for n in classes[c].names[:1] for word in n.split()} <= said for c in far}
    order = {c: (far[c], c in own, akin[c], -classes[c].count, c) for c in far if far[c] < 6}
    near = sorted(order, key=lambda c: order[c])[:4]
    if not near:
        raise Unreadable
    turn = frame.turn(len(near) - 1, lambda n: 0.5 * n)
    frame.count("unnamed focus")
    frame.count("named kind", float(any(i.unit.cue == "plural" for i in frame.items)))
    return frame.add(near[turn], -1, explicit=False)


def _fit(frame: RoleFrame, cls: str) -> int:
    """Return how much of what is said can be said of things of a class."""
    found = 0
    for item in frame.items:
        if item.kind == "property":
            found += frame.world.has(cls, item.meant.term)
        elif item.kind == "value":
            found += any(frame.world.has(cls, p) for p in item.meant.properties)
    return found


def _owns(world: SchemaWays, node: FrameNode, cand: Candidate) -> bool:
    if world.kind(node.cls) not in world.schema.classes:
        return False
    info = world.info(cand.term)
    return world.has(node.cls, cand.term) or (info.kind == "entity" and world.leads_to(node.cls, cand.term))


def _owner(frame: RoleFrame, item: RoleItem, *, near: bool) -> FrameNode:
    """Return the node that a property is said of: a condition of the nearest one before, else that behind."""
    cand, root = item.meant, frame.root
    some = [x for x in frame.nodes if (near or not x.negated) and _owns(frame.world, x, cand)]
    if cand.term in frame.world.schema.label_properties:
        # What is named in the question has its name there; the names of what is found are asked for.
        some = [x for x in some if x.entity is None] or some
    if some:

        def cost(x: FrameNode) -> tuple[float, int]:
            gap = item.at - x.at
            # What is asked for stands before what has it, a condition behind it.
            far = (gap if gap >= 0 else 1.2 - gap * 1.1) if near else (-gap if gap < 0 else gap + 1.5)
            return far - ((6.0 if item.role.startswith("sort") else 2.0) if x is root else 0.0), x.at

        if len({x.cls for x in some}) > 1:
            frame.count("owners")
        some.sort(key=cost)
        more = [cost(x)[0] - cost(some[0])[0] for x in some]
        close = [x for x, far in zip(some, more, strict=True) if far < 4 * CLOSE]
        return close[frame.turn(len(close) - 1, lambda n: 0.2 * more[n] + 0.2)]
    owners = frame.world.owners[cand.term]
    if not owners:
        raise Unreadable
    frame.count("implied node")
    nearest = min(owners[:6], key=lambda c: (_hops(frame, c), owners.index(c)))
    return frame.add(nearest, item.at, explicit=False)


def _hops(frame: RoleFrame, cls: str) -> int:
    ways = frame.world.ways(frame.root.cls, cls)
    return len(ways[0]) if ways else 9


# What is said of nodes


def _place(frame: RoleFrame, n: int, item: RoleItem, partners: Mapping[int, int]) -> None:
    """Add what an item says of a node."""
    cand, role = item.cand, item.role
    if cand is None or item.kind == "value":
        _state(frame, n, item)
    elif role == "cond":
        _add_condition(frame, item, frame.items[partners[n]])
    elif role == "self":
        if frame.root.entity is None:
            frame.shown.append(Shown(item, frame.root.var, frame.root))
    elif role not in ("link", "party", "parties"):
        kind = role.rstrip("+-<>=")
        add = _SAYINGS.get(kind)
        if add is not None:
            add(frame, item)
            return
        node = _owner(frame, item, near=False)
        value = _value(frame, node, cand)
        step = WayStep(cand.term, any(p.subject == value for b in node.blocks for p in b.patterns))
        common = item.cue is not None and item.cue.cue in ("common", "uncommon")
        frame.shown.append(Shown(item, value, node, not common and not frame.world.single(step)))


def stated(frame: RoleFrame, of: Unknown | URIRef, iri: str) -> tuple[Expression, tuple[Pattern, ...]]:
    """Return the value of a property of something, with the triples that state it or what it follows from."""
    computed = frame.world.computed.get(iri)
    if computed is None:
        x = frame.fresh()
        return x, (Pattern(of, URIRef(iri), x),)
    bases = _bases(frame, computed)
    unknowns = [frame.fresh() for _ in bases]
    patterns = (Pattern(of, URIRef(base), x) for base, x in zip(bases, unknowns, strict=True))
    return computed.of(unknowns), tuple(patterns)


def _bases(frame: RoleFrame, computed: ComputedProperty) -> tuple[str, ...]:
    """Return what a value follows from; of an age, the date at which it is asked for as well."""
    at = (i.meant.term for i in frame.items if i.role == "at")
    return (*computed.bases, *at) if computed.sort == "age" else computed.bases


def _value(frame: RoleFrame, node: FrameNode, cand: Candidate) -> Expression:
    """Return the value of a property of a node: an unknown, or what follows from some."""
    computed = frame.world.computed.get(cand.term)
    if computed is not None:
        bases = (replace(cand, term=base, inverse=False) for base in _bases(frame, computed))
        return computed.of([_value(frame, node, base) for base in bases])
    key = (id(node), cand.term)
    if key not in frame.values:
        backward = not frame.world.has(node.cls, cand.term) or (
            cand.inverse and frame.world.leads_to(node.cls, cand.term)
        )
        thing = frame.world.info(cand.term).kind == "entity"
        if backward and not thing:
            raise Unreadable
        either = thing and frame.world.has(node.cls, cand.term) and frame.world.leads_to(node.cls, cand.term)
        if either:
            backward ^= bool(frame.turn(1, lambda _: 0.5))
            # What is called "capital of" tells of the country from the side of the capital.
            tree = frame.world.schema.tree
            last = (cand.name if tree else frame.world.info(cand.term).names[0]).lower().split()[-1]
            way = "backward" if backward else "forward"
            frame.count(f"{way} {last}" if last in PREPOSITIONS else way)
            at = next((i.at for i in frame.items if i.cand is cand), node.at)
            side = "before" if at < node.at else "behind"
            frame.count(f"{way}|{side}|{'of' if cand.inverse else 'to'}")
            if last in PREPOSITIONS and (tree or not cand.inverse):
                # "The kinds of it", "what it is a kind of"; "who reports to her", "whom does she report to".
                frame.count(f"{way} {last}|{side}" if tree else f"{way} prep|{side}")
        frame.values[key] = x = frame.fresh(stem_of(frame.world.info(cand.term).names[0]))
        iri = URIRef(cand.term)
        node.blocks.append(Block((Pattern(x, iri, node.var) if backward else Pattern(node.var, iri, x),)))
    return frame.values[key]


def _add_condition(frame: RoleFrame, item: RoleItem, value: RoleItem) -> None:
    if value.kind in ("entity", "class"):
        return  # the relation is named only to tie the thing
    if item.unit.kind == "adjective" and item.unit.op == "<" and value.unit.op in _TURNED:
        value = replace(value, unit=replace(value.unit, op=_TURNED[value.unit.op]))  # "shorter than"
    _say(frame, _owner(frame, item, near=True), item.meant.term, value, negate=value.role == "not<")


def _add_existence(frame: RoleFrame, item: RoleItem) -> None:
    known = len(frame.nodes)
    node, x, iri = _owner(frame, item, near=True), frame.fresh(), URIRef(item.meant.term)
    info = frame.world.info(item.meant.term)
    forward = frame.world.has(node.cls, item.meant.term)
    block = Block((Pattern(node.var, iri, x) if forward else Pattern(x, iri, node.var),))
    if item.role == "lacks" and len(frame.nodes) > known:
        node.negated = True  # there is none that has it: "was never lent"
    elif item.role == "lacks" and info.kind == "number" and decimal(info.minimum or "1") == Literal(0):
        # Of a number, none is zero as well.
        node.withouts.append(replace(block, conditions=(Comparison(Number(x), "!=", Literal(0)),)))
        return
    elif item.role == "lacks":
        node.withouts.append(block)
        return
    node.blocks.append(block)


def _add_flag(frame: RoleFrame, item: RoleItem) -> None:
    node, x = _owner(frame, item, near=True), frame.fresh()
    truth = frame.world.info(item.meant.term).truth_value(item.role == "yes")
    node.blocks.append(Block((Pattern(node.var, URIRef(item.meant.term), x),), (Comparison(x, "=", truth),)))


def _add_extreme(frame: RoleFrame, item: RoleItem) -> None:
    node = _owner(frame, item, near=True)
    if frame.asked.truth and node.entity and node is frame.root:
        _be(node, node.cls)
    if node.key is not None:
        raise Unreadable  # a thing is the first or the last by one of two words, not by both
    value = read_as(frame.world.info(item.meant.term).kind, _value(frame, node, item.meant))
    node.key = (value, item.role == "key+", frame.asked.limit or 1)


def _add_average(frame: RoleFrame, item: RoleItem) -> None:
    """Compare a property with its average over the class, or over those that share something with it."""
    node = _owner(frame, item, near=True)
    relation = BEYOND[item.role.removeprefix("beyond")]
    group = next((i for i in frame.items if i.role == "same" and i.at > item.at), None)
    if node is not frame.root and group is None:
        # Whether it is one value of each thing or several is known when it is tied.
        frame.shown.append(Shown(item, _value(frame, node, item.meant), node))
        return
    add_average(frame, node, item.meant, relation, group)


def add_average(
    frame: RoleFrame, node: FrameNode, cand: Candidate, relation: Relation, group: RoleItem | None = None
) -> None:
    """Compare a property of a node with its average over the class."""
    x, z = _value(frame, node, cand), frame.fresh()
    y, stating = stated(frame, z, cand.term)
    patterns = *of_class(z, node.cls), *stating
    average = Column(Aggregate("average", Number(y), (z,)), "average" + z.name)
    if group is None:
        limit: Expression = Scalar(Plan(Block(patterns), (average,)))
        node.blocks.append(Block((), (Comparison(Number(x), relation, limit),)))
        return
    shared = frame.fresh()
    inside = Block((*patterns, *_shared(frame, node, z, group, shared)))
    within = Plan(inside, (Column(shared, shared.name), average))
    own = tuple(_shared(frame, node, node.var, group, shared))
    condition = Comparison(Number(x), relation, Unknown(average.name))
    node.blocks.append(Block(own, (condition,), plans=(within,)))
    frame.count("average of group")


def _shared(
    frame: RoleFrame, node: FrameNode, var: Unknown | URIRef, item: RoleItem, shared: Unknown
) -> Iterable[Pattern]:
    """Yield that an unknown is what a thing of the class of a node has in common with others."""
    if item.kind == "class":
        ways = frame.world.ways(node.cls, item.meant.term)
        if not ways:
            raise Unreadable
        yield from path(frame, var, ways[0], shared)
    elif frame.world.has(node.cls, item.meant.term):
        yield Pattern(var, URIRef(item.meant.term), shared)
    else:
        raise Unreadable


def _add_same(frame: RoleFrame, item: RoleItem) -> None:
    """Say that a thing has the same as one that is named."""
    if any(i.role.startswith("beyond") and i.at < item.at for i in frame.items):
        return  # it is the group of the average
    try:
        node, other = _two(frame, item)
    except Unreadable:
        _relate(frame, item)
        return
    assert other.entity is not None
    other.aside, shared = True, frame.fresh()
    if item.kind != "class":
        value = _value(frame, node, item.meant)
        if not isinstance(value, Unknown):
            raise Unreadable
        shared = value
    else:
        node.blocks.append(Block(tuple(_shared(frame, node, node.var, item, shared))))
    differs = (Comparison(node.var, "!=", other.entity),) if node.entity is None else ()
    node.blocks.append(Block(tuple(_shared(frame, other, other.entity, item, shared)), differs))
    frame.count("compared")


def _relate(frame: RoleFrame, item: RoleItem) -> None:
    """Say that two things have the same, or one by two relations, or not: "its own", "from another town"."""
    differ = item.role == "differ"
    found = [(x, own) for x in frame.nodes if not x.aside and (own := _own_item(frame, x, item))]
    found.sort(key=lambda f: (f[0] is not frame.root, abs(f[0].at - item.at)))
    one = frame.fresh()
    other = frame.fresh() if differ else one
    if len(found) > 1:
        for (x, own), value in zip(found, (one, other), strict=False):
            x.blocks.append(Block(tuple(_shared(frame, x, x.entity or x.var, own, value))))
    elif found and item.kind == "property":
        x, ends = found[0][0], frame.world.info(item.meant.term).ranges
        links = {i.meant.term for i in frame.items if i.role == "link"}
        ways = (way for end in ends for way in frame.world.ways(x.cls, end))
        linked = next((way for way in ways if any(s.property in links for s in way)), None)
        if linked is None:
            raise Unreadable
        x.blocks.append(Block(tuple(_shared(frame, x, x.var, item, one))))
        x.blocks.append(Block(tuple(path(frame, x.var, linked, other))))
    else:
        raise Unreadable
    if differ:
        frame.root.blocks.append(Block((), (Comparison(one, "!=", other),)))
    frame.count("related")


def _own_item(frame: RoleFrame, x: FrameNode, item: RoleItem) -> RoleItem | None:
    """Return an item for what a node has of what is said, by another property of that name if need be."""
    if item.kind == "class":
        return item if x.cls != item.meant.term and frame.world.ways(x.cls, item.meant.term) else None
    if frame.world.has(x.cls, item.meant.term):
        return item
    name = frame.world.info(item.meant.term).names[0].lower()
    for iri, p in frame.world.schema.properties.items():
        if frame.world.has(x.cls, iri) and p.names[0].lower() == name:
            return replace(item, cand=replace(item.meant, term=iri))
    return None


def _two_of(frame: RoleFrame, item: RoleItem) -> None:
    """Set the thing aside with which others are compared by what belongs to them."""
    root = frame.root
    named = (x for x in frame.nodes if x.entity and not x.either and x is not root)
    others = [x for x in named if frame.world.related(x.cls, root.cls)]
    if not others or root.entity:
        raise Unreadable
    min(others, key=lambda x: (x.at < item.at, abs(x.at - item.at), x.at)).aside = True


def _two(frame: RoleFrame, item: RoleItem) -> tuple[FrameNode, FrameNode]:
    """Return the node that is compared with a thing that is named, and this thing."""

    def fits(x: FrameNode) -> bool:
        if item.kind == "class":
            return bool(frame.world.ways(x.cls, item.meant.term))
        return frame.world.has(x.cls, item.meant.term)

    named = (x for x in frame.nodes if x.entity and not x.either and x is not frame.root)
    others = [x for x in named if not x.aside and fits(x)]
    if not others:
        raise Unreadable
    other = min(others, key=lambda x: (abs(x.at - item.at), x.at))
    node = frame.root if frame.root.entity or item.kind == "class" else _owner(frame, item, near=True)
    node = frame.root if node is other else node
    if node is other or not fits(node):
        raise Unreadable
    return node, other


def _add_comparison(frame: RoleFrame, item: RoleItem) -> None:
    """Compare a property with that of a thing that is named, of a related thing, or with another property."""
    cand = item.meant
    behind = [n for n, i in enumerate(frame.items) if i.role == "than" and i.at > item.at]
    than = next((n for n in behind if frame.items[n].kind in ("class", "property")), None)
    if than is None:
        node, other = _two(frame, item)
        assert other.entity is not None
        other.aside = True
        y, patterns = stated(frame, other.entity, cand.term)
        block = Block(patterns)
    else:
        node, block = _owner(frame, item, near=True), Block()
        y, block = _than(frame, node, item, than)
    x = _value(frame, node, cand)
    kind = frame.world.info(cand.term).kind
    if frame.asked.difference:
        from_, to = (y, x) if item.role == "above+" else (x, y)
        frame.differences.append(Arithmetic(Number(to), "-", Number(from_)))
    else:
        compared = Comparison(read_as(kind, x), ">" if item.role == "above+" else "<", read_as(kind, y))
        block = merged(block, Block((), (compared,)))
    node.blocks.append(block)
    frame.count("compared")


def _add_time(frame: RoleFrame, item: RoleItem) -> None:
    """Let a date be that at which an age is asked for: "how old was she when she was hired"."""
    computed = (frame.world.computed.get(i.text) for i in frame.items if i.kind == "property")
    if all(one is None or one.sort != "age" for one in computed):
        raise Unreadable


def _pass(frame: RoleFrame, item: RoleItem) -> None:
    """Say nothing: what it is compared with says it."""


def read_as(kind: str, value: Expression) -> Expression:
    """Return a value as a number, if it is one of a property of that kind."""
    return Number(value) if kind == "number" else value


def _than(frame: RoleFrame, node: FrameNode, item: RoleItem, n: int) -> tuple[Expression, Block]:
    """Return the value that a property of a node is compared with: "than seats", "than its owner"."""
    than, y = frame.items[n], frame.fresh()
    if n in frame.named:
        frame.count("compared with related")
        return _value(frame, frame.named[n], item.meant), Block()
    if frame.world.info(than.meant.term).kind == "entity":
        if not frame.world.has(node.cls, than.meant.term):
            raise Unreadable
        related = frame.fresh("n")
        frame.count("compared with related")
        forward = Pattern(node.var, URIRef(than.meant.term), related)
        return y, Block((forward, Pattern(related, URIRef(item.meant.term), y)))
    frame.count("compared with own")
    return _value(frame, _owner(frame, than, near=True), than.meant), Block()


_SAYINGS: Final[Mapping[str, Callable[[RoleFrame, RoleItem], None]]] = {
    "has": _add_existence, "lacks": _add_existence, "yes": _add_flag, "no": _add_flag, "key": _add_extreme,
    "beyond": _add_average, "same": _add_same, "differ": _relate,
    "above": _add_comparison, "than": _pass, "at": _add_time,
}  # fmt: skip
"""What says something of a node and shows nothing."""


def _state(frame: RoleFrame, n: int, item: RoleItem) -> None:
    """Add what a value, a quantity, a time or a text says without the name of a property."""
    if item.kind == "value":
        node, iri = _place_of_value(frame, item)
        if item.role == "each" or (item.role == "or" and any(i.role in BY for i in frame.items)):
            _set_beside(frame, node, iri, item)
        elif item.role == "or":
            _alternative(frame, node, iri, item)
        else:
            _say(frame, node, iri, item, negate=item.role == "not")
        return
    if item.role == "during":
        _add_running(frame, item)
        return
    if item.role == "or":
        if frame.last is None:
            raise Unreadable
        node, iri, _ = frame.last

        def like(one: str) -> float:
            return fitness(frame.world, frame.world.info(one), item.unit) or 0.0

        better = (p for _, _, p in _guesses(frame, item, [node]) if like(p) > like(iri) + 1.0)
        _alternative(frame, node, next(better, iri), item)
        return
    numbered = item.unit.kind == "quantity" and item.unit.op == "=" and n - 1 in frame.named
    if numbered and frame.items[n - 1].unit.end == item.at:
        node = frame.named[n - 1]
        keys = sorted(p.iri for p in _own(frame, node) if tells_apart(p))
        if keys:
            frame.count("numbered")
            _say(frame, node, keys[0], item)
            return
    if item.role in _POSITIONS and (found := _called(frame, item)) is not None:
        node, iris = found
        frame.count("matched name")
        x = frame.fresh()
        matches = Contains(x, item.text, _POSITIONS[item.role])
        ways = tuple(Block((Pattern(node.var, URIRef(iri), x),), (matches,)) for iri in iris)
        node.blocks.append(ways[0] if len(ways) == 1 else Block(either=(ways,)))
        return
    fits = _guesses(frame, item, [x for x in frame.nodes if frame.asked.truth or not x.entity])
    if not fits:
        raise Unreadable
    close = [f for f in fits if fits[0][0] - f[0] < 2 * CLOSE]
    _, node, iri = close[frame.turn(len(close) - 1, lambda n: 0.2 + fits[0][0] - close[n][0])]
    frame.count("guessed property")
    _say(frame, node, iri, item, negate=item.role == "not")


def _called(frame: RoleFrame, item: RoleItem) -> tuple[FrameNode, list[str]] | None:
    """Return the node whose name is to begin, end or go on in some way, with the properties that name it."""
    some = [x for x in frame.nodes if x.entity is None and x.cls]
    for iri in (c.term for c in item.unit.options):
        having = [x for x in some if any(p.iri == iri for p in _own(frame, x))]
        if having:
            return min(having, key=lambda x: (abs(x.at - item.at), x is not frame.root)), [iri]
    node = min(some, key=lambda x: (abs(x.at - item.at), x is not frame.root), default=None)
    if node is None or frame.turn(1, lambda _: 0.3):
        return None
    schema, own = frame.world.schema, _own(frame, node)
    named = [p.iri for p in own if p.kind == "text" and p.names[-1].lower().split()[-1:] in _CALLING]
    found = named if len(named) == 1 else [] if named else list(schema.label_properties)
    return (node, found) if found else None


_CALLING: Final = (["name"], ["title"], ["label"])
"""How names of properties end that say what a thing is called."""


def _add_running(frame: RoleFrame, item: RoleItem) -> None:
    """Say that a thing had begun by the end of a time, and had not ended before it began."""
    spans = [c for c in frame.world.computed.values() if c.sort == "days"]
    fits = [(x, c) for x in frame.nodes if x.cls and not x.entity for c in spans if x.cls in c.info.domains]
    if not fits or item.unit.part not in ("year", "year-month", "date", "moment"):
        raise Unreadable
    node, span = min(fits, key=lambda f: (_far(frame, item, f[0]) + 0.5 * spans.index(f[1]), f[0].at))
    (begin, begun), (end, ended) = (stated(frame, node.var, base) for base in span.bases)
    low, high = item.unit.values[0], item.unit.values[-1]
    first = _date_bounds(begin, replace(item.unit, values=(high,)))
    last = _date_bounds(end, replace(item.unit, values=(low,)))
    node.blocks.append(Block(begun, tuple(bounded(first[0], "<=", first[1]))))
    node.withouts.append(Block(ended, tuple(bounded(last[0], "<", last[1]))))


def _guesses(
    frame: RoleFrame, item: RoleItem, nodes: Iterable[FrameNode]
) -> list[tuple[float, FrameNode, str]]:
    """Return what a value may be said of that comes without the name of a property, the likeliest first."""
    fits = [
        (like - _far(frame, item, x) + 0.6 * ((id(x), p.iri) in frame.values) - 0.15 * rank, x, p.iri)
        for x in nodes
        for rank, p in (*((0, p) for p in _own(frame, x)), *enumerate(_lasting(frame, x, item.unit)))
        if (like := fitness(frame.world, p, item.unit)) is not None
    ]
    return sorted(fits, key=lambda f: (-f[0], f[1].at, f[2]))


def _far(frame: RoleFrame, item: RoleItem, x: FrameNode) -> float:
    return 0.25 * min(8, abs(item.at - x.at)) - (0.6 if x is frame.root else 0.0)


def _lasting(frame: RoleFrame, x: FrameNode, unit: Unit) -> list[PropertyInfo]:
    """Return the times between two dates of a thing, the likeliest first, where a quantity may be one."""
    said = unit_called(unit.unit) if unit.kind == "quantity" and unit.unit else None
    if said is None or said.sort != "span":
        return []
    every = frame.world.computed.values()
    spans = [c.info for c in every if c.sort == "days" and x.cls in c.info.domains]
    return [*spans, *(c.info for c in frame.world.sums if x.cls in c.info.domains)]


def fitness(world: SchemaWays, info: PropertyInfo, unit: Unit) -> float | None:
    """Return how likely a property has a value that is given without its name; None if it cannot have it."""
    shared = 0.5 * info.subjects / max([1, *info.domains.values()])
    if unit.kind == "quantity":
        if info.kind != "number" or info.flag:
            return None
        odd = 1.5 * ((_is_year(info) and bool(unit.unit or len(unit.values[0]) != 4)) or tells_apart(info))
        return likeness(info, Decimal(unit.values[0]), unit.unit) + shared - odd
    if unit.kind == "text":
        return shared + 0.5 * _is_usual(info) if info.kind == "text" else None
    if info.kind == "number" and _is_year(info) and unit.part == "year":
        return shared
    finest = 1 + len(info.maximum.split("T")[0].split("-")) + ("T" in info.maximum or ":" in info.maximum)
    if info.kind != "date" or finest <= _FINENESS.get(unit.part, 3):
        return None
    year = unit.values[0][:4]
    known = unit.part in ("month", "month-day", "weekday", "clock", "day")
    inside = known or info.minimum[:4] <= year <= info.maximum[:4]
    return 0.5 * mainly(world, info) + 0.5 * inside


_FINENESS: Final[Mapping[str, int]] = {"year": 1, "year-month": 2, "month": 2, "clock": 4, "moment": 4}
"""What dates tell at least that are compared with a part: years, months, days, times of day."""


def _own(frame: RoleFrame, node: FrameNode) -> list[PropertyInfo]:
    return [p for p in frame.world.schema.properties.values() if frame.world.kind(node.cls) in p.domains]


def _is_year(info: PropertyInfo) -> bool:
    return info.kind == "number" and "year" in info.names[-1]


def _is_usual(info: PropertyInfo) -> bool:
    text = " ".join(info.names).lower()
    return any(word in text for word in ("year", "date", "name"))


def tells_apart(info: PropertyInfo) -> bool:
    """Return whether the values of a property are numbers or names of single things."""
    once = info.triples == info.subjects == info.objects
    return (
        once and info.kind in ("number", "text") and info.names[-1].lower().replace(" ", "").endswith(_KEYS)
    )


def _place_of_value(frame: RoleFrame, item: RoleItem) -> tuple[FrameNode, str]:
    """Return the node that a value is said of, and by which property."""
    properties = [p for p in item.meant.properties if p in frame.world.schema.properties]
    fits = [
        (x, p)
        for p in properties
        for x in frame.nodes
        if (frame.asked.truth or not x.entity) and frame.world.has(x.cls, p)
    ]
    if fits:

        def cost(fit: tuple[FrameNode, str]) -> tuple[float, str]:
            x, p = fit
            far = abs(item.at - x.at) - (1.5 if x is frame.root else 0) + (0 if x.at <= item.at else 0.8)
            far -= 1.0 if x.at == item.unit.end else 0.0  # "female trainers"
            return 2 * properties.index(p) + far, p

        order = sorted(fits, key=cost)
        return order[frame.turn(len(order) - 1, lambda _: 0.5)]
    owners = frame.world.owners[properties[0]] if properties else ()
    if not owners:
        raise Unreadable
    frame.count("implied node")
    nearest = min(owners[:5], key=lambda c: (_hops(frame, c), c))
    return frame.add(nearest, item.at, explicit=False), properties[0]


def _say(frame: RoleFrame, node: FrameNode, iri: str, item: RoleItem, *, negate: bool = False) -> None:
    """Say of a node that a property has a value, or has not."""
    info = frame.world.info(iri)
    if not negate and info.functional and not node.entity and _contradicts(node, iri, item):
        # No thing has both, so it is said of another one.
        other = frame.add(node.cls, item.at)
        other.again, other.negated = True, node.negated
        frame.count("copies")
        node = other
    frame.last = (node, iri, item)
    node.said[iri] = (item.unit.op, item.text)
    block = _block(frame, node, iri, item)
    if not negate:
        node.blocks.append(block)
        return
    if info.functional:
        node.blocks.append(Block(stated(frame, node.var, iri)[1]))
    node.withouts.append(block)


def _alternative(frame: RoleFrame, node: FrameNode, iri: str, item: RoleItem) -> None:
    """Let the last condition of a node hold, or another one."""
    if not node.blocks:
        raise Unreadable
    last = node.blocks.pop()
    before = last.either[0] if last.either and not last.patterns else (last,)
    node.blocks.append(Block(either=((*before, _block(frame, node, iri, item)),)))


def _set_beside(frame: RoleFrame, node: FrameNode, iri: str, item: RoleItem) -> None:
    """Let a value be the last one that was said, or another one, each of which is shown."""
    if frame.last is None or frame.last[:2] != (node, iri):
        raise Unreadable
    known = node.blocks.pop()
    x = _value(frame, node, Candidate("property", iri, 1.0, ""))
    some = known.either[0] if x in frame.beside else (_block(frame, node, iri, frame.last[2], x),)
    node.blocks.append(Block(either=((*some, _block(frame, node, iri, item, x)),)))
    frame.beside[x] = item


def _contradicts(node: FrameNode, iri: str, item: RoleItem) -> bool:
    """Return whether a thing of which something was said of a property cannot have this value, too."""
    if iri not in node.said:
        return False
    op, text = node.said[iri]
    if op == "=" and item.unit.op == "=":
        return item.text.casefold() != text.casefold()
    up, down = _SIGN.get(op, 0), _SIGN.get(item.unit.op, 0)
    try:
        one, other = float(text), float(item.text)
    except ValueError:
        return False
    return up * down == -1 and (one - other) * up >= 0


def _block(
    frame: RoleFrame, node: FrameNode, iri: str, item: RoleItem, known: Expression | None = None
) -> Block:
    """Return that a property of a node has a value."""
    info = frame.world.info(iri)
    x, patterns = stated(frame, node.var, iri) if known is None else (known, ())
    if item.kind == "value":
        number = decimal(item.text) if info.kind == "number" and not info.text_numbers else None
        if number is not None:
            return Block(patterns, (Comparison(Number(x), "=", number),))
        return Block(patterns, (Contains(x, item.text, "whole"),))
    if item.unit.kind == "text":
        position = _POSITIONS.get(item.role.rstrip("<"), "whole")
        return Block(patterns, (Contains(x, item.text, position),))
    return Block(patterns, tuple(bounds_of(x, info, item.unit)))


def bounds_of(x: Expression, info: PropertyInfo, unit: Unit) -> Iterable[Condition]:
    """Yield how a value is bounded by a quantity or a time."""
    if info.kind == "date":
        left, ends = _date_bounds(x, unit)
    elif info.kind in ("number", "text") and (unit.kind != "time" or unit.part == "year"):
        left, ends = Number(x), [_measured(info, unit, v) for v in unit.values]
    else:
        raise Unreadable
    yield from bounded(left, unit.op, ends)


def _measured(info: PropertyInfo, unit: Unit, text: str) -> Literal | None:
    """Return a quantity in the unit of a property."""
    number = decimal(text)
    return number if number is None else decimal(str(converted(info, Decimal(text), unit.unit)))


def bounded(left: Expression, op: Relation, ends: Sequence[Literal | None]) -> Iterable[Condition]:
    """Yield that a value lies between two ends, before or after both, or compares with one."""
    known = [end for end in ends if end is not None]
    if not known or len(known) != len(ends):
        raise Unreadable
    if len(known) == 2 and op == "=":
        yield Comparison(left, ">=", known[0])
        yield Comparison(left, "<=", known[1])
    else:
        yield Comparison(left, op, known[-1] if op in (">", "<=") else known[0])


def _date_bounds(x: Expression, unit: Unit) -> tuple[Expression, list[Literal | None]]:
    """Return the part of a date that a time bounds, and what it is compared with."""
    whole = len(unit.values[0]) == 4 and unit.values[0].isdigit()
    if unit.kind == "quantity" and not whole:
        raise Unreadable
    part = unit.part or "year"
    datatype = {"moment": "dateTime", "date": "date"}.get(part)
    ends: list[Literal | None]
    if datatype is not None:
        ends = [Literal(v, datatype=URIRef(XSD + datatype)) for v in unit.values]
    else:
        ends = [Literal(int(v)) if v.isdigit() else Literal(v) for v in unit.values]
    if part == "moment":
        return x, ends
    if part == "month-day":
        month = Arithmetic(DatePart("month", x), "*", Literal(100))
        return Arithmetic(month, "+", DatePart("day", x)), ends
    return DatePart(part, x), ends  # type: ignore[arg-type]  # a time has parts of dates


def decimal(text: str) -> Literal | None:
    """Return a number as a literal; None if the text is none.

    Example:
        >>> decimal("12").toPython(), decimal("many")
        (12, None)
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return Literal(int(number)) if number == number.to_integral_value() else Literal(number)


# Blocks


def where(frame: RoleFrame, root: FrameNode, *, below: bool = False, named: bool = True) -> Block:
    """Return the block of a node with all that hangs on it, or with all of the frame.

    Args:
        frame: The frame.
        root: The node.
        below: Whether only what hangs on it is wanted.
        named: Whether it is said which thing it is.
    """
    away = [s.node for one in frame.either for s in (one, *one.others) if s.owner is not s.node]
    nodes = [
        x
        for x in frame.nodes
        if x is not root and not x.aside and (not below or is_under(x, root))
        if not any(x is one or is_under(x, one) for one in away)
    ]
    found = block_of(frame, root, tied=False)
    if root.same and named and not below:
        found = merged(found, is_one_of(root.var, root.same))
    for x in nodes:
        if not x.negated:
            found = merged(found, block_of(frame, x, tied=True))
    for x in nodes:
        if x.negated and x.parent is not None and not x.parent.negated:
            inside = block_of(frame, x, tied=True)
            for y in nodes:
                if y.negated and y is not x and is_under(y, x):
                    inside = merged(inside, block_of(frame, y, tied=True))
            found = replace(found, without=(*found.without, inside))
    return found


def is_under(x: FrameNode, top: FrameNode) -> bool:
    """Return whether a node hangs on another one."""
    while x.parent is not None:
        x = x.parent
        if x is top:
            return True
    return False


def of_class(var: Unknown, cls: str) -> tuple[Pattern, ...]:
    """Return that something is in a class; nothing if it has none."""
    return (Pattern(var, RDF.type, URIRef(cls)),) if cls else ()


def block_of(frame: RoleFrame, x: FrameNode, *, tied: bool) -> Block:
    """Return what is said of a node and how it is tied."""
    patterns: list[Pattern] = []
    if x.entity is None and x.cls and (x.explicit or not (tied or x.leads)):
        patterns += of_class(x.var, x.cls)
    if x.share is not None:
        patterns.append(Pattern(x.var, URIRef(x.share[0]), x.share[1]))
    elif tied and x.parent is not None:
        up = x.parent
        start = up.entity if up.entity is not None and not up.either else up.var
        patterns += path(frame, start, x.way, x.var)
    found = Block(tuple(patterns))
    if x.either and x.entity is not None:
        found = merged(found, is_one_of(x.var, (x.entity, *x.either)))
    for block in x.blocks:
        found = merged(found, block)
    for one in frame.either:
        if one.owner is x:
            found = merged(found, Block(either=(tuple(_branch(frame, s, x) for s in (one, *one.others)),)))
    found = replace(found, without=(*found.without, *x.withouts))
    return substituted(found, {x.var: x.entity}) if x.entity is not None and not x.either else found


def _branch(frame: RoleFrame, said: _Said, owner: FrameNode) -> Block:
    """Return what is said of a node as one of several alternatives."""
    if said.owner is not owner:
        raise Unreadable
    if said.node is owner:
        found = merged(*said.blocks)
        return replace(found, without=(*found.without, *said.withouts))
    found = block_of(frame, said.node, tied=True)
    for x in frame.nodes:
        if is_under(x, said.node):
            found = merged(found, block_of(frame, x, tied=True))
    return found


def is_one_of(var: Unknown, some: Sequence[URIRef]) -> Block:
    """Return that something is one of some things."""
    each = tuple(Block((), (Comparison(var, "=", term),)) for term in some)
    return each[0] if len(each) == 1 else Block(either=(each,))


def path(frame: RoleFrame, at: Unknown | URIRef, way: Way, end: Unknown) -> Iterable[Pattern]:
    """Yield the patterns of a way from one thing to another."""
    for n, step in enumerate(way, 1):
        to = end if n == len(way) else frame.fresh("m")
        yield (
            Pattern(to, URIRef(step.property), at) if step.inverse else Pattern(at, URIRef(step.property), to)
        )
        at = to
