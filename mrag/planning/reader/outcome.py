"""From a frame to a plan: what is shown, folded, grouped, bounded, ordered and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from rdflib import Literal, URIRef

from mrag.language.grammar import plural
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
    Scalar,
    Unknown,
    parts,
)
from mrag.planning.reader.frames import (
    BEYOND,
    BY,
    FrameNode,
    QuestionCues,
    RoleFrame,
    RoleItem,
    Shown,
    Unreadable,
    add_average,
    block_of,
    bounded,
    decimal,
    is_under,
    of_class,
    pairs,
    path,
    read_as,
    read_frame,
    where,
)
from mrag.planning.reader.ties import tie
from mrag.planning.reader.units import Unit
from mrag.planning.reader.world import SchemaWays, WayStep
from mrag.planning.scopes import bound, merged, substituted, without_ties

FOLDS: Final[Mapping[str, Fold]] = {"sum": "sum", "avg": "average", "min": "minimum", "max": "maximum"}
"""What roles fold by."""
_HUNDRED: Final = Literal(100)
_USES: Final[Mapping[str, str]] = {"most": "key+", "fewest": "key-", "fewest0": "key-", "having": "cond"}
"""What the number of things of a kind is for, by roles of kinds."""


@dataclass(frozen=True)
class PlanDraft:
    """A plan with what it was made of."""

    plan: Plan  # The plan
    shown: tuple[str, ...]  # Names of the columns that are asked for
    features: Mapping[str, float]  # What is measured of the way it was made


@dataclass(frozen=True)
class QuestionDerivation:
    """A plan with the roles of the words that it was made of."""

    draft: PlanDraft  # The plan, and the names of the columns that are asked for
    items: tuple[RoleItem, ...]  # The units of the question with what they do
    left: tuple[int, ...]  # Places of the words that carry meaning and were not read
    features: Mapping[str, float]  # What is measured
    score: float  # How likely it is, as a logit
    cues: tuple[Unit, ...] = ()  # Cue words that no unit uses
    passed: tuple[RoleItem, ...] = ()  # Units that are passed over


@dataclass(frozen=True)
class FoldUse:
    """What is folded for each of some things, and what for: to bound, rank or order them, or to be folded."""

    item: RoleItem  # The words
    node: FrameNode  # The node whose things or values are folded
    fold: Aggregate  # The fold
    use: str  # What for
    # Whether values of each thing of the node are folded, rather than its things for each other one
    own: bool = False


@dataclass
class _Outcome:
    """The columns of a plan while they are gathered; `spare` are those that only order.

    Of things that are not asked for, `inner` holds the bounds and the order that they are chosen by, and
    `counted` those of their number where yes or no is asked for.
    """

    frame: RoleFrame
    plain: list[Column] = field(default_factory=list)
    groups: list[Column] = field(default_factory=list)
    folds: list[Column] = field(default_factory=list)
    spare: list[Column] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    order: list[Order] = field(default_factory=list)
    sorts: list[Order] = field(default_factory=list)
    having: list[Condition] = field(default_factory=list)
    names: dict[Expression, str] = field(default_factory=dict)
    inner: dict[int, tuple[FrameNode, list[Condition], list[tuple[Expression, bool]]]] = field(
        default_factory=dict
    )
    nested: list[tuple[Fold, Aggregate]] = field(default_factory=list)
    counted: list[FoldUse] = field(default_factory=list)
    limit: int | None = None
    ties: bool = False
    number: int = 0

    def column(self, value: Expression, into: list[Column]) -> str:
        """Add a column, and return its name; what is shown is shown once, however often it is said."""
        if into is not self.spare:
            for known in (*self.groups, *self.plain, *self.folds):
                if known.value == value:
                    return known.name
        self.number += 1
        name = f"c{self.number}"
        into.append(Column(value, name))
        if into is not self.spare:
            self.shown.append(name)
        if not isinstance(value, Aggregate):
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
    tie(frame)
    return _by_name(frame, _assembled(frame, items, asked))


_FOLDED: Final[Mapping[Fold, str]] = {
    "count": "number_of", "sum": "total", "average": "average", "minimum": "least", "maximum": "greatest",
}  # fmt: skip


def called(draft: PlanDraft) -> PlanDraft:
    """Call the columns of a draft what they hold."""
    names: dict[str, str] = {}
    for column in draft.plan.columns:
        name = stem = _name_of(column.value)
        while name in names.values():
            name = f"{stem}{len(names)}"
        names[column.name] = name
    columns = tuple(replace(c, name=names[c.name]) for c in draft.plan.columns)
    order = tuple(replace(o, column=names.get(o.column, o.column)) for o in draft.plan.order)
    shown = tuple(names.get(name, name) for name in draft.shown)
    return replace(draft, plan=replace(draft.plan, columns=columns, order=order), shown=shown)


def _name_of(value: Expression) -> str:
    """Return what an expression may be called: its unknown without a number, and how it is folded."""
    if isinstance(value, Unknown):
        return value.name.rstrip("0123456789").rstrip("_") or "value"
    if isinstance(value, Number):
        return _name_of(value.value)
    if isinstance(value, Aggregate):
        of = value.value if value.value is not None else value.of[0] if value.of else Unknown("thing")
        name = _name_of(of)
        return f"{_FOLDED[value.function]}_{plural(name) if value.function == 'count' else name}"
    if isinstance(value, DatePart):
        return str(value.part)
    if isinstance(value, Arithmetic) and value.operation == "/" and isinstance(value.left, Days):
        return "age"
    if isinstance(value, Arithmetic) and value.operation == "/":
        scaled = isinstance(value.left, Arithmetic) and value.left.right == Literal(100)
        return "percentage" if scaled else "ratio"
    return "difference" if isinstance(value, Arithmetic) and value.operation == "-" else "value"


def _by_name(frame: RoleFrame, draft: PlanDraft) -> PlanDraft:
    """Show what names a record that has no name but stands for one thing: the person of a competitor."""
    nodes = {x.var: x for x in frame.nodes if x.entity is None and not x.negated}
    columns, named = list(draft.plan.columns), list[Pattern]()
    for at, column in enumerate(columns):
        node = nodes.get(column.value) if isinstance(column.value, Unknown) else None
        step = None if node is None or column.name not in draft.shown else frame.world.naming(node.cls)
        if step is None or node is None:
            continue
        name = frame.fresh("name")
        iri = URIRef(step.property)
        named.append(Pattern(name, iri, node.var) if step.inverse else Pattern(node.var, iri, name))
        columns[at] = Column(name, column.name)
        frame.count("named by another")
    if not named:
        return draft
    block = merged(draft.plan.where, Block(tuple(named)))
    return replace(draft, plan=replace(draft.plan, where=block, columns=tuple(columns)))


def _assembled(frame: RoleFrame, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    out = _Outcome(frame)
    uses = _read(out)
    if asked.truth and (out.folds or out.groups or out.plain):
        raise Unreadable
    _show_root(out)
    for use in uses:
        _use(out, use)
    for node in [x for x in frame.nodes if x.key is not None]:
        _extreme(out, node)
    for n, node in frame.named.items():
        if items[n].role.startswith("size"):
            _size(out, node, down=items[n].role == "size+")
    for node, having, order in out.inner.values():
        node.blocks.append(Block(plans=(_inner(frame, node, having, order),)))
    if asked.truth:
        return _true(out)
    if out.nested:
        return _folded_twice(out)
    if out.limit and _keys_of_groups(out):
        return _top_of_each(out)
    if out.folds and (out.having or out.limit) and not (out.groups or out.plain):
        return _counted_groups(out)
    for difference in frame.differences:
        out.column(difference, out.plain)
    return _finished(out)


def _true(out: _Outcome) -> PlanDraft:
    """Return the plan that tells whether something is so."""
    frame = out.frame
    if out.order or out.sorts or out.nested or out.having:
        raise Unreadable
    block = where(frame, frame.root)
    if len(frame.root.same) == 1 and frame.root.key is None:
        block = where(frame, frame.root, named=False)
        block = substituted(block, {frame.root.var: frame.root.same[0]})
    if block.empty:
        raise Unreadable
    if out.counted:
        some = [(use, frame.fresh("number")) for use in out.counted]
        plans = tuple(Plan(block, (Column(use.fold, number.name),)) for use, number in some)
        block = Block((), tuple(c for use, n in some for c in _bounds(frame, use, n)), plans=plans)
    return PlanDraft(Plan(block), (), frame.features)


def _read(out: _Outcome) -> list[FoldUse]:
    """Read the items in their order, and return what is folded for each of something."""
    frame = out.frame
    counting = any(i.role == "count" for i in frame.items)
    events: list[tuple[int, Shown | RoleItem, FrameNode]] = [(s.item.at, s, s.node) for s in frame.shown]
    events += [(i.at, i, frame.named[n]) for n, i in enumerate(frame.items) if n in frame.named]
    uses: list[FoldUse] = []
    columns = any(i.role == "col" for i in frame.items)
    for _, event, node in sorted(events, key=lambda e: e[0]):
        if isinstance(event, Shown):
            uses += _read_property(out, event, inner=columns)
            continue
        number = Aggregate("count", of=(node.var,))
        if event.role in BY and not frame.asked.side:
            uses.append(FoldUse(event, node, number, "key" + event.role[-1]))
        elif event.role in _USES or event.role.startswith("count&"):
            uses.append(FoldUse(event, node, number, _USES.get(event.role) or event.role.split("&")[1]))
        elif event.role == "count" or (event.role in BY and frame.asked.side):
            out.column(number, out.folds)
        elif event.role == "group":
            if node is frame.root and counting:
                raise Unreadable  # nothing is counted for each of itself
            out.column(node.var, out.groups)
        elif event.role in ("col", "parties") and node.var not in out.names:
            out.column(node.var, out.plain)
        elif event.role in ("sortA", "sortD"):
            _sort(out, node.var, event.role)
    for value, item in frame.beside.items():
        if _is_apart(out, value, item):
            _group(out, value)
    return uses


def _is_apart(out: _Outcome, value: Expression, item: RoleItem) -> bool:
    """Return whether what is folded is shown for each of several things, rather than for all together."""
    if any(i.role in BY for i in out.frame.items):
        return True
    joined = item.cue is not None and item.cue.cue == "and"
    folds = {c.value.function for c in out.folds if isinstance(c.value, Aggregate)}
    folds |= {"count"} if out.frame.asked.counted else set()
    owned = any(s.node.var == value and s.value in out.names for s in out.frame.shown)
    listed = not out.folds and any(c.value != out.frame.root.var for c in out.plain)
    if joined and not owned and (listed or not _is_single(out.frame, value)):
        raise Unreadable  # what has both may be meant
    return bool(folds - {"sum", "count"} or (folds and not joined)) or owned


def _is_single(frame: RoleFrame, value: Expression) -> bool:
    """Return whether nothing that is asked for can have two of what is set side by side."""
    node, root = next((x for x in frame.nodes if x.var == value), None), frame.root
    if node is not None:
        return node.parent is root and all(map(frame.world.single, node.way))
    return any(
        frame.world.info(iri).functional
        for (at, iri), x in frame.values.items()
        if x == value and at == id(root)
    )


def _show_root(out: _Outcome) -> None:
    """Show what is asked for beside what is folded of other things behind it, and names beside the rest."""
    frame, root = out.frame, out.frame.root
    if out.groups or root.var in out.names:
        return
    if out.plain:
        if not (frame.asked.named and root.entity is None and not out.folds):
            return
        frame.count("names beside")
    else:
        named = [i.at for n, i in enumerate(frame.items) if i.role == "focus" and frame.named.get(n) is root]
        used = (i.at for i in frame.items if i.role in ("count", *BY, *FOLDS) or "&" in i.role)
        if not named or not out.folds or root.var in _folded(out.folds) or named[0] >= min(used, default=0):
            return
        frame.count("shown root")
    (out.plain if out.plain else out.groups).append(Column(root.var, "c0"))
    out.number += 1
    out.shown.insert(0, "c0")
    out.names[root.var] = "c0"


def _is_name(out: _Outcome, shown: Shown) -> bool:
    named = shown.item.kind == "property" and shown.item.meant.term
    return named in out.frame.world.schema.label_properties


def _read_property(out: _Outcome, shown: Shown, *, inner: bool) -> list[FoldUse]:
    role, x, node = shown.item.role, shown.value, shown.node
    if role in BY and not out.frame.asked.side:
        return _by(out, shown)
    if role in BY and _kind(out, shown) == "number" and not (node.entity or node.key):
        out.column(Aggregate(out.frame.asked.fold, Number(x), (node.var,)), out.folds)
    elif role in ("col", "much", "self", *BY):
        if x not in out.names:
            out.column(x, out.plain)
    elif role.startswith("beyond"):
        return _beyond(out, shown)
    elif role == "group" and (shown.item.cue is not None or not _is_name(out, shown)):
        _group(out, x)  # what has names is not counted for each of them
    elif role == "having" or role.startswith("count&") or (role in _USES and shown.many):
        use = _USES.get(role) or role.split("&")[1]
        return [FoldUse(shown.item, node, _number_of(x), use, own=True)]
    elif "&" in role and (use := role.split("&")[1]) not in FOLDS:
        if shown.item.unit.kind == "adjective" and all(map(out.frame.world.single, node.way)):
            raise Unreadable  # of one value there is no average
        fold = Aggregate(FOLDS[role.split("&")[0]], Number(x), (node.var,))
        return [FoldUse(shown.item, node, fold, use)]
    elif role in FOLDS or "&" in role:
        _fold(out, shown)
    elif role == "countd":
        out.column(_number_of(x), out.folds)
    elif role in ("sortA", "sortD"):
        written = shown.item.kind == "property" and out.frame.world.info(shown.item.meant.term).text_numbers
        _sort(out, Number(x) if written else x, role)
    elif role in ("most", "fewest"):
        if inner:
            _commonest(out, shown)
        else:
            _group(out, x)
            out.rank(Aggregate("count", of=(node.var,)), down=role == "most", most=out.frame.asked.limit)
    else:
        raise Unreadable
    return []


def _beyond(out: _Outcome, shown: Shown) -> list[FoldUse]:
    """Compare with the average: a value that each thing has once, or the sum of all that it has."""
    way, x = shown.node.way, shown.value
    if all(map(out.frame.world.single, way)):
        relation = BEYOND[shown.item.role.removeprefix("beyond")]
        add_average(out.frame, shown.node, shown.item.meant, relation)
        return []
    return [FoldUse(shown.item, shown.node, Aggregate("sum", Number(x), (shown.node.var,)), shown.item.role)]


def _kind(out: _Outcome, shown: Shown) -> str:
    """Return of which kind the values of a property are; "" of things."""
    return out.frame.world.info(shown.item.meant.term).kind if shown.item.kind == "property" else ""


def _by(out: _Outcome, shown: Shown) -> list[FoldUse]:
    """Rank the things of which one is to be chosen."""
    value = read_as(_kind(out, shown), shown.value)
    if shown.node is out.frame.root and not out.frame.beside:
        shown.node.key = (value, shown.item.role == "by+", 1)
        return []
    if _kind(out, shown) != "number":
        raise Unreadable
    fold = Aggregate(out.frame.asked.fold, value, (shown.node.var,))
    return [FoldUse(shown.item, shown.node, fold, "key" + shown.item.role[-1])]


def _number_of(x: Expression) -> Aggregate:
    return Aggregate("count", of=(x,)) if isinstance(x, Unknown) else Aggregate("count", x)


def _sort(out: _Outcome, x: Expression, role: str) -> None:
    out.sorts.append(Order(out.names.get(x) or out.column(x, out.spare), role == "sortD"))


def _group(out: _Outcome, x: Expression) -> None:
    if x not in out.names:
        out.column(x, out.groups)
    elif not any(c.value == x for c in out.groups):
        out.plain = [c for c in out.plain if c.value != x]
        out.groups.append(Column(x, out.names[x]))


def _fold(out: _Outcome, shown: Shown) -> None:
    kind = _kind(out, shown)
    value = read_as(kind, shown.value)
    for fold in shown.item.role.split("&"):
        if kind != "number" and fold in ("sum", "avg"):
            raise Unreadable
        out.column(Aggregate(FOLDS[fold], value, (shown.node.var,)), out.folds)


def _commonest(out: _Outcome, shown: Shown) -> None:
    """Keep the things that have the value that most things have."""
    frame, x = out.frame, shown.value
    if not isinstance(x, Unknown):
        raise Unreadable
    y, name = frame.fresh("n"), "number" + x.name
    inside = Block((*of_class(y, shown.node.cls), Pattern(y, URIRef(shown.item.meant.term), x)))
    columns = (Column(x, x.name), Column(Aggregate("count", of=(y,)), name))
    order = (Order(name, shown.item.role == "most"),)
    shown.node.blocks.append(Block(plans=(Plan(inside, columns, order=order, limit=1),)))
    frame.count("inner most")


def _use(out: _Outcome, use: FoldUse) -> None:
    """Bound, rank, order or fold what is asked for by what belongs to each of it."""
    frame, node, root = out.frame, use.node, out.frame.root
    holder: FrameNode | None = node if use.own else node.parent
    while holder is not None and not (holder.explicit or holder is root):
        holder = holder.parent
    named = holder is not None and holder is root and holder.entity is not None
    if use.use == "cond" and (node is root or named) and not use.own and frame.asked.truth:
        frame.count("counted truth")
        out.counted.append(use)
        return
    if node is root and not use.own:
        # It is folded for each value that is shown of it.
        if not out.plain and not out.groups and not frame.beside:
            raise Unreadable
        frame.count("own " + use.item.role)
        out.groups += [c for c in out.plain if c not in out.groups]
        out.plain = []
    outer = holder is None or holder is root or node is root
    if use.use[0] == "*":
        out.nested.append((FOLDS[use.use[1:]], use.fold))
    elif use.use.startswith("sort"):
        name = next((c.name for c in out.folds if c.value == use.fold), "")
        out.sorts.append(Order(name or out.column(use.fold, out.spare), use.use == "sortD"))
    elif use.use.startswith("key") and outer and not frame.asked.truth:
        out.rank(use.fold, down=use.use == "key+", most=frame.asked.limit)
    else:
        top = root if outer or holder is None else holder
        _, having, order = out.inner.setdefault(id(top), (top, [], []))
        if use.use.startswith("key"):
            order.append((use.fold, use.use == "key+"))
        elif use.use.startswith("above"):
            having.append(Comparison(use.fold, BEYOND[use.use[-1]], _limit_of(frame, node, use.fold)))
        elif use.use.startswith("beyond"):
            shown = (Column(top.var, top.var.name), Column(use.fold, "each"))
            each = Plan(where(frame, top, below=True), shown)
            mean = Column(Aggregate("average", Number(Unknown("each")), (top.var,)), "mean")
            limit = Scalar(Plan(Block(plans=(each,)), (mean,)))
            having.append(Comparison(use.fold, BEYOND[use.use.removeprefix("beyond")], limit))
        else:
            having += _bounds(frame, use, use.fold)
        if outer and not frame.asked.truth:
            out.having += out.inner.pop(id(top))[1]


def _bounds(frame: RoleFrame, use: FoldUse, value: Expression) -> Iterable[Condition]:
    """Return how a number is bounded by the quantity that goes with what is folded."""
    at = next(n for n, i in enumerate(frame.items) if i is use.item)
    unit: Unit = frame.items[pairs(frame.items)[at]].unit
    return bounded(value, unit.op, [decimal(v) for v in unit.values])


def _limit_of(frame: RoleFrame, node: FrameNode, fold: Aggregate) -> Scalar:
    """Return what is folded for the thing that is named."""
    root, other = frame.root, next((x for x in frame.nodes if x.entity and x.aside), None)
    if other is None or other.entity is None:
        raise Unreadable
    block = Block(of_class(root.var, root.cls))
    for x in frame.nodes:
        if x is node or is_under(x, node) or (is_under(node, x) and x is not root):
            block = merged(block, block_of(frame, x, tied=True))
    frame.count("amount of other")
    return Scalar(Plan(substituted(block, {root.var: other.entity}), (Column(fold, "amount"),)))


def _size(out: _Outcome, node: FrameNode, *, down: bool) -> None:
    """Keep the things of a node that most other things belong to: "the largest team", "the busiest port"."""
    frame, root = out.frame, out.frame.root
    if node.entity or node.negated:
        raise Unreadable
    number = frame.fresh("n")
    if node.parent is not None and node.way:
        way = tuple(WayStep(s.property, not s.inverse) for s in reversed(node.way))
        block = Block((*path(frame, node.var, way, number), *of_class(number, node.parent.cls)))
    else:
        edges = [e for e in frame.world.schema.edges if e.target == node.cls]
        if not edges:
            raise Unreadable
        best = max(edges, key=lambda e: (e.count, e.property, e.source))
        block = Block((Pattern(number, URIRef(best.property), node.var),))
        frame.count("silent size")
    fold = Aggregate("count", of=(number,))
    if node is root and not (out.folds or out.groups):
        node.blocks.append(block)
        out.rank(fold, down=down, most=frame.asked.limit)
        return
    node.blocks.append(Block(plans=(_inner(frame, node, order=[(fold, down)], beside=block),)))


def _inner(
    frame: RoleFrame,
    node: FrameNode,
    having: Sequence[Condition] = (),
    order: Sequence[tuple[Expression, bool]] = (),
    most: int = 1,
    beside: Block | None = None,
) -> Plan:
    """Return the plan of the things of a node that are extreme, or of which so many things are."""
    inside, column = where(frame, node, below=True), Column(node.var, node.var.name)
    if frame.asked.truth and node is frame.root and not node.same:
        # What is asked of the extreme one does not tell of which things it is one.
        limited = (c.left for c in having if isinstance(c, Comparison))
        used = {e for value in (*(v for v, _ in order), *limited) for e in parts(value)}
        used |= {u for e in used if isinstance(e, Aggregate) for u in e.of}
        own = [b for b in node.blocks if any(p.subject in used or p.object in used for p in b.patterns)]
        inside = reduce(merged, own, Block(of_class(node.var, node.cls)))
    inside = merged(inside, beside or Block())
    keys = [Column(value, frame.fresh("key").name) for value, _ in order]
    orders = tuple(Order(key.name, down) for key, (_, down) in zip(keys, order, strict=True))
    limit, offset = (most, frame.asked.offset) if order else (None, 0)
    ties = limit == 1 and not offset
    plan = Plan(inside, (column, *keys), (), tuple(having), orders, limit, offset, ties)
    return without_ties(plan)


def _counted_groups(out: _Outcome) -> PlanDraft:
    """Return the plan that folds over the groups that fulfil a bound, or the first ones."""
    frame, root = out.frame, out.frame.root
    block = where(frame, root)
    columns, order = (Column(root.var, root.var.name), *out.spare), tuple(out.order)
    plan = Plan(block, columns, (), tuple(out.having), order, out.limit, frame.asked.offset, out.ties)
    inner = without_ties(plan)
    around = Block() if _folded(out.folds) <= {root.var} else block
    return PlanDraft(
        Plan(merged(around, Block(plans=(inner,))), tuple(out.folds)), tuple(out.shown), frame.features
    )


def _folded(columns: Sequence[Column]) -> set[Unknown]:
    """Return the unknowns that are folded in columns."""
    folds = [e for c in columns for e in parts(c.value) if isinstance(e, Aggregate)]
    return {u for f in folds for u in (*f.of, *(e for e in parts(f) if isinstance(e, Unknown)))}


def _keys_of_groups(out: _Outcome) -> list[Unknown]:
    """Return what things are ranked for each of by what is folded; none where all are ranked together."""
    frame = out.frame
    # What is asked for without "each" is what wins.
    grouped = [s.value for s in frame.shown if s.item.role == "group" and s.item.cue is not None]
    items = ((frame.items[n], x) for n, x in frame.named.items())
    grouped += [x.var for item, x in items if item.role == "group" and item.cue is not None]
    keys = [c.value for c in out.groups if isinstance(c.value, Unknown) and c.value in grouped]
    folds = [c.value for c in out.spare if isinstance(c.value, Aggregate)]
    counted = {u for f in folds for u in f.of}
    asked = frame.root.explicit and frame.root.var not in (*keys, *counted)
    others = len(out.groups) > len(keys) or out.plain or asked
    return keys if others and folds else []


def _top_of_each(out: _Outcome) -> PlanDraft:
    """Return the plan of the things that win for each of something: "the commonest kind of each river"."""
    frame, root = out.frame, out.frame.root
    keys, order = _keys_of_groups(out), out.order[0]
    if out.folds or out.limit != 1 or len(out.order) > 1:
        raise Unreadable
    shown = [c for c in (*out.groups, *out.plain) if c.value not in keys]
    if not shown and root.var not in keys:
        out.column(root.var, out.plain)
        shown = [out.plain[-1]]
    fold = next(c.value for c in out.spare if c.name == order.column)
    each = Plan(
        where(frame, root),
        (*(Column(k, k.name) for k in keys), *shown, Column(fold, "each")),
        (root.var,) if not any(c in out.groups for c in shown) else (),
        having=tuple(out.having),
    )
    best = Aggregate("maximum" if order.descending else "minimum", Number(Unknown("each")), _bound(shown))
    top = Plan(Block(plans=(each,)), (*(Column(k, k.name) for k in keys), Column(best, "top")))
    frame.count("top of each")
    block = Block((), (Comparison(Number(Unknown("each")), "=", Unknown("top")),), plans=(each, top))
    kept = (*keys, *_bound(shown))
    columns = tuple(Column(x, f"g{x.name}") for x in kept)
    return PlanDraft(Plan(block, columns), tuple(c.name for c in columns), frame.features)


def _bound(columns: Sequence[Column]) -> tuple[Unknown, ...]:
    """Return the unknowns that a plan binds by its columns."""
    return tuple(Unknown(c.name) for c in columns)


def _folded_twice(out: _Outcome) -> PlanDraft:
    """Return the plan that folds what is folded for each of something."""
    frame, root = out.frame, out.frame.root
    if out.folds or out.order or len(out.nested) > 1:
        raise Unreadable
    outer, fold = out.nested[0]
    keys = [c.value for c in (*out.groups, *out.plain) if isinstance(c.value, Unknown)]
    if not keys and root.var in fold.of:
        raise Unreadable
    keys = keys or [root.var]
    each = _name_of(fold)
    columns = (*(Column(k, k.name) for k in keys), Column(fold, each))
    inner = Plan(where(frame, root), columns, having=tuple(out.having))
    value = Aggregate(outer, Number(Unknown(each)), tuple(keys))
    frame.count("fold of folds")
    return PlanDraft(Plan(Block(plans=(inner,)), (Column(value, "c1"),)), ("c1",), frame.features)


def _extreme(out: _Outcome, node: FrameNode) -> None:
    """Keep the extreme things of a node: of all, or of each group."""
    frame = out.frame
    assert node.key is not None
    value, down, most = node.key
    if out.groups and node is frame.root and not out.folds:
        fold = Aggregate("maximum" if down else "minimum", value, (node.var,))
        names = (v if isinstance(v := c.value, Unknown) else frame.fresh("g") for c in out.groups)
        keys = [Column(c.value, x.name) for c, x in zip(out.groups, names, strict=True)]
        inner = Plan(where(frame, node), (*keys, Column(fold, "top")))
        same = (Comparison(k.value, "=", Unknown(k.name)) for k in keys if not isinstance(k.value, Unknown))
        node.blocks.append(Block((), (Comparison(value, "=", Unknown("top")), *same), plans=(inner,)))
        told = min((s.item.at for s in frame.shown if s.value in out.names), default=node.at)
        if not out.plain or (node.explicit and node.at <= told and node.var not in out.names):
            out.plain.append(Column(node.var, "c0"))
            out.shown.append("c0")
        frame.count("group extreme")
    elif node is frame.root and not (frame.asked.truth or out.folds or out.groups or _repeated(out, node)):
        if not node.explicit:
            frame.count("extreme of implied")  # "the highest height" is a height
        out.rank(value, down=down, most=most if most > 1 else 0)
    else:
        node.blocks.append(Block(plans=(_inner(frame, node, order=[(value, down)], most=most),)))
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


def _finished(out: _Outcome) -> PlanDraft:
    frame, root = out.frame, out.frame.root
    folds = out.folds
    if frame.asked.difference and len(folds) == 2:
        one, two = (c.value for c in folds)
        if isinstance(one, Aggregate) and one.function == "minimum":
            one, two = two, one
        kind = "date" if isinstance(one, Aggregate) and isinstance(one.value, Unknown) else "number"
        folds = [Column(difference(two, one, kind, frame.asked.unit), folds[0].name)]
    if frame.asked.ratio and not frame.asked.side:
        folds = _ratio_of_columns(out, folds)
    counted = frame.asked.counted and not (folds or out.plain or out.order or root.explicit)
    counted = counted and root.leads is None and (bool(frame.beside) or not out.groups)
    if counted:
        frame.count("counted side" if frame.asked.side else "counted focus")
        out.column(Aggregate("count", of=(root.var,)), folds)
    elif not (folds or out.groups or out.plain):
        out.column(root.var, out.plain)
    ranked = any(isinstance(c.value, Aggregate) for c in out.spare)
    by = (root.var,) if (out.having or ranked) and not folds and not out.groups else ()
    if counted:
        pass
    elif frame.asked.counted and ranked and not folds:
        folds, out.spare = out.spare, []
        frame.count("shown rank")
    elif frame.asked.counted and folds and not frame.asked.side:
        out.column(Aggregate("count", of=(root.var,)), folds)
        frame.count("counted root")
    # What is shown beside a fold is what it is folded by, and stands before it.
    plain = sorted([*out.groups, *out.plain], key=lambda c: int(c.name[1:]))
    within = {e for c in folds for f in parts(c.value) if isinstance(f, Aggregate) for e in parts(f)}
    if any(c.value in within for c in out.plain):
        frame.count("folded and shown")
    columns = [*plain, *sorted(folds, key=lambda c: int(c.name[1:]))]
    order = [*out.order, *out.sorts]
    if frame.asked.order and not order:
        # What is counted is put in order rather than what it is counted for, but for the alphabet.
        folded = [c for c in folds if out.groups or out.plain]
        beside = len(columns) > 1 and columns[0].name == "c0" and frame.asked.named
        key = folded[0] if folded and frame.asked.order != "alpha" else columns[beside]
        if frame.asked.order == "alpha" and key in folded:
            key = next(c for c in columns if c not in folded)
        order.append(Order(key.name, frame.asked.order == "desc"))
    limit = out.limit if out.limit is not None or not order else frame.asked.limit or None
    offset = frame.asked.offset if limit else 0
    block = where(frame, root)
    if frame.asked.zero or any(i.role == "fewest0" for i in frame.items):
        block = _with_nothing(out, block)
    known = bound(block).union(*map(bound, block.optional))
    for column in (*columns, *out.spare):
        if any(e not in known for e in parts(column.value) if isinstance(e, Unknown)):
            raise Unreadable
    plan = Plan(block, (*columns, *out.spare), by, tuple(out.having), tuple(order), limit, offset, out.ties)
    return PlanDraft(plan, tuple(c.name for c in columns), frame.features)


def _ratio_of_columns(out: _Outcome, folds: list[Column]) -> list[Column]:
    """Return what is folded, as a ratio of two numbers; two that each thing has become one as well."""
    numbers = [s.value for s in out.frame.shown if _kind(out, s) == "number"]
    own = [c for c in out.plain if c.value in numbers]
    two = folds if len(folds) == 2 else [] if folds else own
    if len(two) != 2:
        return folds
    one, other = (c.value for c in two)
    averaged = any(isinstance(v, Aggregate) and v.function == "average" for v in (one, other))
    if averaged and sum(i.cue is not None and i.cue.cue == "avg" for i in out.frame.items) != 2:
        raise Unreadable  # the average ratio is not that of averages
    value = ratio(Number(one), Number(other), percent=out.frame.asked.ratio == "percent")
    out.plain = [c for c in out.plain if c not in two]
    out.frame.count("ratio of columns")
    column = Column(value, two[0].name)
    out.plain += [] if folds else [column]
    return [column] if folds else []


def _with_nothing(out: _Outcome, block: Block) -> Block:
    """Return a block that holds as well for things of a group to which nothing belongs."""
    frame = out.frame
    shown = {c.value for c in (*out.groups, *out.plain)}
    folds = any(isinstance(c.value, Aggregate) for c in (*out.folds, *out.spare))
    if block.plans or block.optional or not folds:
        raise Unreadable
    frame.count("with nothing")
    for one in frame.shown:
        ranges = frame.world.info(one.item.meant.term).ranges if one.item.cand is not None else {}
        if one.value in shown and ranges and isinstance(one.value, Unknown):
            kind = max(sorted(ranges), key=lambda cls: ranges[cls])
            return Block(of_class(one.value, kind), optional=(block,))
    group = next((x for x in frame.nodes if x.var in shown), frame.root)
    folded = _folded(out.folds)
    if group.entity or (group is frame.root and (out.folds if not frame.asked.side else group.var in folded)):
        raise Unreadable
    return replace(block_of(frame, group, tied=False), optional=(block,))


def difference(start: Expression, end: Expression, kind: str, unit: str) -> Expression:
    """Return by how much an amount or a date is beyond another one."""
    if kind == "number":
        return Arithmetic(Number(end), "-", Number(start))
    if unit == "day":
        return Days(start, end)
    return Arithmetic(DatePart("year", end), "-", DatePart("year", start))


def ratio(part: Expression, whole: Expression, *, percent: bool) -> Expression:
    """Return how much of an amount another one is."""
    return Arithmetic(Arithmetic(part, "*", _HUNDRED) if percent else part, "/", whole)
