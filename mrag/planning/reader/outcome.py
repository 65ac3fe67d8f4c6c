"""From a frame to a plan: what is shown, folded, grouped, bounded, ordered and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    DatePart,
    Days,
    Expression,
    Fold,
    Number,
    Order,
    Pattern,
    Plan,
    Unknown,
    parts,
)
from mrag.planning.reader.frames import (
    BY,
    FrameNode,
    QuestionCues,
    RoleFrame,
    RoleItem,
    Shown,
    Unreadable,
    bounded,
    decimal,
    is_under,
    pairs,
    read_frame,
    where,
)
from mrag.planning.reader.units import Unit
from mrag.planning.reader.world import SchemaWays

FOLDS: Final[Mapping[str, Fold]] = {"sum": "sum", "avg": "average", "min": "minimum", "max": "maximum"}
"""What roles fold by."""
_COUNTED: Final = ("most", "fewest", "having")
"""Roles of kinds whose things are counted for each of what is asked for."""


@dataclass(frozen=True)
class PlanDraft:
    """A plan with what it was made of.

    Attributes:
        plan: The plan.
        shown: Names of the columns that are asked for.
        features: What is measured of the way it was made.
    """

    plan: Plan
    shown: tuple[str, ...]
    features: Mapping[str, float]


@dataclass
class _Outcome:
    """The columns of a plan while they are gathered; `spare` are those that only order."""

    frame: RoleFrame
    plain: list[Column] = field(default_factory=list)
    groups: list[Column] = field(default_factory=list)
    folds: list[Column] = field(default_factory=list)
    spare: list[Column] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    order: list[Order] = field(default_factory=list)
    sorts: list[Order] = field(default_factory=list)
    having: list[Condition] = field(default_factory=list)
    names: dict[Unknown, str] = field(default_factory=dict)
    limit: int | None = None
    ties: bool = False
    number: int = 0

    def column(self, value: Expression, into: list[Column]) -> str:
        """Add a column, and return its name."""
        self.number += 1
        name = f"c{self.number}"
        into.append(Column(value, name))
        if into is not self.spare:
            self.shown.append(name)
        if isinstance(value, Unknown):
            self.names.setdefault(value, name)
        return name

    def rank(self, value: Expression, *, down: bool, most: int) -> None:
        """Order by a value and keep the first ones; of one, those that are equal to it as well."""
        self.order.append(Order(self.column(value, self.spare), down))
        self.limit, self.ties = most or 1, most < 2


def assemble(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    """Return the plan that mentions with roles make.

    Raises:
        Unreadable: If they make none.
    """
    frame = read_frame(world, items, asked)
    out = _Outcome(frame)
    counted = _read(out)
    if asked.truth:
        if out.folds or out.groups or out.plain or out.order:
            raise Unreadable
        return PlanDraft(Plan(where(frame, frame.root)), (), frame.features)
    for item, node, fold in counted:
        _count(out, item, node, fold)
    if out.folds and (out.having or out.limit):
        return _counted_groups(out)
    for node in [x for x in frame.nodes if x.key is not None]:
        _extreme(out, node)
    for difference in frame.differences:
        out.column(difference, out.plain)
    if any(i.role == "share" for i in items):
        return _share(out)
    return _finished(out)


def _read(out: _Outcome) -> list[tuple[RoleItem, FrameNode, Aggregate]]:
    """Read the items in their order, and return what is counted for each of something."""
    frame = out.frame
    counting = any(i.role == "count" for i in frame.items)
    events: list[tuple[int, Shown | RoleItem, FrameNode]] = [(s.item.at, s, s.node) for s in frame.shown]
    events += [(i.at, i, frame.named[n]) for n, i in enumerate(frame.items) if n in frame.named]
    counted: list[tuple[RoleItem, FrameNode, Aggregate]] = []
    columns = any(i.role == "col" for i in frame.items)
    for _, event, node in sorted(events, key=lambda e: e[0]):
        if isinstance(event, Shown):
            counted += _read_property(out, event, inner=columns)
        elif event.role == "count" or (event.role in BY and frame.asked.side):
            out.column(Aggregate("count", of=(node.var,)), out.folds)
        elif event.role in _COUNTED or event.role in BY:
            counted.append((event, node, Aggregate("count", of=(node.var,))))
        elif event.role == "group" and not (node is frame.root and counting):
            out.column(node.var, out.groups)
        elif event.role == "col" and node.var not in out.names:
            out.column(node.var, out.plain)
    return counted


def _read_property(
    out: _Outcome, shown: Shown, *, inner: bool
) -> list[tuple[RoleItem, FrameNode, Aggregate]]:
    role, x, node = shown.item.role, shown.value, shown.node
    if role in BY and not out.frame.asked.side:
        return _by(out, shown)
    if role in BY and _number(out, shown) and not (node.entity or node.key):
        out.column(Aggregate("sum", Number(x), (node.var,)), out.folds)
    elif role in ("col", "much", *BY):
        if x not in out.names:
            out.column(x, out.plain)
    elif role == "group":
        _group(out, x)
    elif "&key" in role or role.endswith("&cond"):
        return [(shown.item, node, Aggregate(FOLDS[role.split("&")[0]], Number(x), (node.var,)))]
    elif role in FOLDS or "&" in role:
        _fold(out, shown)
    elif role == "countd":
        out.column(Aggregate("count", of=(x,)), out.folds)
    elif role in ("sortA", "sortD"):
        out.sorts.append(Order(out.names.get(x) or out.column(x, out.spare), role == "sortD"))
    elif role in ("most", "fewest"):
        if inner:
            _commonest(out, shown)
        else:
            _group(out, x)
            out.rank(Aggregate("count", of=(node.var,)), down=role == "most", most=out.frame.asked.limit)
    else:
        raise Unreadable
    return []


def _number(out: _Outcome, shown: Shown) -> bool:
    return shown.item.cand is not None and out.frame.info(shown.item.cand).kind == "number"


def _by(out: _Outcome, shown: Shown) -> list[tuple[RoleItem, FrameNode, Aggregate]]:
    """Rank the things of which one is to be chosen."""
    value: Expression = Number(shown.value) if _number(out, shown) else shown.value
    if shown.node is out.frame.root:
        shown.node.key = (value, shown.item.role == "by+", 1)
        return []
    if not _number(out, shown):
        raise Unreadable
    return [(shown.item, shown.node, Aggregate("sum", value, (shown.node.var,)))]


def _group(out: _Outcome, x: Unknown) -> None:
    if x not in out.names:
        out.column(x, out.groups)
    elif not any(c.value == x for c in out.groups):
        out.plain = [c for c in out.plain if c.value != x]
        out.groups.append(Column(x, out.names[x]))


def _fold(out: _Outcome, shown: Shown) -> None:
    assert shown.item.cand is not None
    kind = out.frame.info(shown.item.cand).kind
    for fold in shown.item.role.split("&"):
        if kind != "number" and fold in ("sum", "avg"):
            raise Unreadable
        value: Expression = Number(shown.value) if kind == "number" else shown.value
        out.column(Aggregate(FOLDS[fold], value, (shown.node.var,)), out.folds)


def _commonest(out: _Outcome, shown: Shown) -> None:
    """Keep the things that have the value that most things have."""
    frame, x = out.frame, shown.value
    assert shown.item.cand is not None
    y, name = frame.fresh("n"), "number" + x.name
    inside = Block(
        (
            Pattern(y, RDF.type, URIRef(shown.node.cls)),
            Pattern(y, URIRef(shown.item.cand.term), x),
        )
    )
    columns = (Column(x, x.name), Column(Aggregate("count", of=(y,)), name))
    order = (Order(name, shown.item.role == "most"),)
    shown.node.blocks.append(Block(plans=(Plan(inside, columns, order=order, limit=1),)))
    frame.count("inner most")


def _count(out: _Outcome, item: RoleItem, node: FrameNode, fold: Aggregate) -> None:
    """Bound or rank what is asked for by what belongs to each of it."""
    frame, root = out.frame, out.frame.root
    holder = node.parent
    while holder is not None and not (holder.explicit or holder is root):
        holder = holder.parent
    if node is root:
        # It is counted for each value that is shown of it.
        if not out.plain and not out.groups:
            raise Unreadable
        frame.count("own " + item.role)
        out.groups += [c for c in out.plain if c not in out.groups]
        out.plain = []
    outer = holder is None or holder is root or node is root
    if item.role == "having" or item.role.endswith("&cond"):
        at = next(n for n, i in enumerate(frame.items) if i is item)
        unit: Unit = frame.items[pairs(frame.items)[at]].unit
        for condition in bounded(fold, unit.op, [decimal(v) for v in unit.values]):
            if outer:
                out.having.append(condition)
            else:
                assert holder is not None
                holder.blocks.append(Block(plans=(_inner(frame, holder, having=condition),)))
        return
    down = item.role.endswith("+") or item.role == "most"
    if outer:
        out.rank(fold, down=down, most=frame.asked.limit)
    else:
        assert holder is not None
        holder.blocks.append(Block(plans=(_inner(frame, holder, order=(fold, down)),)))


def _inner(
    frame: RoleFrame,
    node: FrameNode,
    order: tuple[Expression, bool] | None = None,
    having: Condition | None = None,
    most: int = 1,
) -> Plan:
    """Return the plan of the things of a node that are extreme, or of which so many things are."""
    inside, column = where(frame, node, below=True), Column(node.var, node.var.name)
    if order is None:
        return Plan(inside, (column,), having=() if having is None else (having,))
    key = "key" + node.var.name
    return Plan(inside, (column, Column(order[0], key)), order=(Order(key, order[1]),), limit=most)


def _counted_groups(out: _Outcome) -> PlanDraft:
    """Return the plan that folds over the groups that fulfil a bound."""
    if out.order or out.groups or out.plain:
        raise Unreadable
    root = out.frame.root
    inner = Plan(where(out.frame, root), (Column(root.var, root.var.name),), having=tuple(out.having))
    return PlanDraft(Plan(Block(plans=(inner,)), tuple(out.folds)), tuple(out.shown), out.frame.features)


def _extreme(out: _Outcome, node: FrameNode) -> None:
    """Keep the extreme things of a node: of all, or of each group."""
    frame = out.frame
    assert node.key is not None
    value, down, most = node.key
    if out.groups and node is frame.root and not out.folds:
        fold = Aggregate("maximum" if down else "minimum", value, (node.var,))
        keys = [Column(c.value, c.value.name) for c in out.groups if isinstance(c.value, Unknown)]
        inner = Plan(where(frame, node), (*keys, Column(fold, "top")))
        node.blocks.append(Block((), (Comparison(value, "=", Unknown("top")),), plans=(inner,)))
        if not out.plain:
            out.column(node.var, out.plain)
        frame.count("group extreme")
    elif node is frame.root and not (out.folds or out.groups or _repeated(out, node)):
        out.rank(value, down=down, most=most if most > 1 else 0)
    else:
        node.blocks.append(Block(plans=(_inner(frame, node, order=(value, down), most=most),)))
        frame.count("inner extreme")


def _repeated(out: _Outcome, node: FrameNode) -> bool:
    """Return whether a thing of a node makes several rows with what is shown beside it."""
    single = out.frame.world.single
    for x in out.frame.nodes:
        if x is not node and not x.negated and is_under(x, node) and any(c.value == x.var for c in out.plain):
            up: FrameNode | None = x
            while up is not None and up is not node:
                if not all(map(single, up.way)):
                    return True
                up = up.parent
    return False


def _share(out: _Outcome) -> PlanDraft:
    """Return the plan of the percentage of things for which all that is said holds."""
    frame, root = out.frame, out.frame.root
    if out.folds or out.plain or out.groups or out.order or out.having or root.entity:
        raise Unreadable
    every = Block((Pattern(root.var, RDF.type, URIRef(root.cls)),))
    some = where(frame, root)
    if some == every:
        raise Unreadable
    rest = replace(some, patterns=tuple(p for p in some.patterns if p not in every.patterns))
    part, whole = Aggregate("count", of=(root.var,), where=rest), Aggregate("count", of=(root.var,))
    out.column(Arithmetic(Arithmetic(part, "*", Literal(100)), "/", whole), out.folds)
    frame.count("share")
    return PlanDraft(Plan(every, tuple(out.folds)), tuple(out.shown), frame.features)


def _finished(out: _Outcome) -> PlanDraft:
    frame, root = out.frame, out.frame.root
    folds = out.folds
    if frame.asked.difference and len(folds) == 2:
        one, two = (c.value for c in folds)
        if isinstance(one, Aggregate) and one.function == "minimum":
            one, two = two, one
        kind = "date" if isinstance(one, Aggregate) and isinstance(one.value, Unknown) else "number"
        folds = [Column(difference(two, one, kind, frame.asked.unit), folds[0].name)]
    if not (folds or out.groups or out.plain):
        out.column(root.var, out.plain)
    # What is shown beside a fold is what it is folded by.
    columns = sorted([*out.groups, *out.plain, *folds], key=lambda c: int(c.name[1:]))
    ranked = bool(out.limit) and bool(out.spare) and isinstance(out.spare[-1].value, Aggregate)
    by = (root.var,) if (out.having or ranked) and not folds and not out.groups else ()
    order = [*out.order, *out.sorts]
    if frame.asked.order and not order:
        order.append(Order(columns[0].name, frame.asked.order == "desc"))
    limit = out.limit if out.limit is not None or not order else frame.asked.limit or None
    block = where(frame, root)
    known = _unknowns(block)
    for column in (*columns, *out.spare):
        if any(e not in known for e in parts(column.value) if isinstance(e, Unknown)):
            raise Unreadable
    plan = Plan(block, (*columns, *out.spare), by, tuple(out.having), tuple(order), limit, 0, out.ties)
    return PlanDraft(plan, tuple(c.name for c in columns), frame.features)


def _unknowns(block: Block) -> set[Unknown]:
    """Return the unknowns that a block binds."""
    found = {place for p in block.patterns for place in p.places if isinstance(place, Unknown)}
    for some in block.either:
        found |= set[Unknown].intersection(*map(_unknowns, some))
    for plan in block.plans:
        found |= {Unknown(c.name) for c in plan.columns}
    return found


def difference(start: Expression, end: Expression, kind: str, unit: str) -> Expression:
    """Return by how much an amount or a date is beyond another one."""
    if kind == "number":
        return Arithmetic(Number(end), "-", Number(start))
    if unit == "day":
        return Days(start, end)
    return Arithmetic(DatePart("year", end), "-", DatePart("year", start))
