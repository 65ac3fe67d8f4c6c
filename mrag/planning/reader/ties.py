"""What ties the nodes of a frame: the cheapest ways of the schema, and those that words name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdflib import URIRef

from mrag.planning.lexical import Candidate
from mrag.planning.plan import Block, Comparison, Pattern, Unknown
from mrag.planning.reader.frames import ALIKE, CLOSE, FrameNode, RoleFrame, Unreadable
from mrag.planning.reader.world import Way, WayStep, length

_TIES: Final = frozenset(("link", "cond", "having", "most", "fewest"))
"""Roles of words for a relation that may name how two nodes are tied."""


_UNLIKELY: Final = 0.8
"""How much more a way costs that no word names and that the named thing at its end is not on."""


@dataclass(frozen=True)
class _Tie:
    """A way that ties a node to another one, with what it costs, and the words that name it.

    `met` are nodes that are named by a relation which the way is; `like` is the thing beside which a node is
    named.
    """

    cost: float
    way: Way
    other: FrameNode
    words: frozenset[int] = frozenset()
    met: tuple[FrameNode, ...] = ()
    like: FrameNode | None = None


def tie(frame: RoleFrame) -> None:
    """Tie every node to the others, by the cheapest ways, the cheapest first.

    Raises:
        Unreadable: If there is no way.
    """
    root, used, met = frame.root, set[int](), set[int]()
    single = [
        (s.item.cand.term, s.value)
        for s in frame.shown
        if s.item.role == "col" and s.node is root and s.item.cand and isinstance(s.value, Unknown)
    ]
    share = single[0] if len(single) == 1 else None
    tied, rest = [root], []
    for x in sorted((x for x in frame.nodes if x is not root and not x.aside), key=lambda x: x.at):
        if share is not None and (x.again or x.negated) and x.cls == root.cls and x.entity is None:
            x.parent, x.share = root, share
            frame.count("shared")
            tied.append(x)
        else:
            rest.append(x)
    while rest:
        options = [(x, _ties(frame, x, tied, used, met)) for x in rest]
        x, some = min(options, key=lambda o: (o[1][0].cost if o[1] else 99.0, o[0].at))
        chosen = _chosen(frame, x, some)
        x.parent, x.way, x.negated = chosen.other, chosen.way, x.negated or chosen.other.negated
        if chosen.like is not None:
            _copy(frame, x, chosen.like)
        if _goes_back(x.way):
            one, other = (y.entity if y.entity and not y.either else y.var for y in (x, chosen.other))
            x.blocks.append(Block((), (Comparison(one, "!=", other),)))
        used |= chosen.words
        met |= {id(y) for y in chosen.met}
        frame.count("hops", len(chosen.way))
        frame.count("ties")
        if not chosen.words and not chosen.met and len(chosen.way) > 1:
            frame.count("silent hops", len(chosen.way) - 1)
        rest.remove(x)
        tied.append(x)
    for x in frame.nodes:
        if x.leads is not None and id(x) not in met:
            _add_other(frame, x, x.leads)


def _goes_back(way: Way) -> bool:
    """Return whether a way leads to things of one kind by what they have to do with the same: "partners"."""
    return len(way) > 1 and way == tuple(WayStep(s.property, not s.inverse) for s in reversed(way))


def _add_other(frame: RoleFrame, x: FrameNode, step: WayStep) -> None:
    """Say of a node that there is something which a relation leads to it from."""
    other, iri = frame.fresh(), URIRef(step.property)
    x.blocks.append(Block((Pattern(x.var, iri, other) if step.inverse else Pattern(other, iri, x.var),)))
    frame.count("of something")


def _copy(frame: RoleFrame, x: FrameNode, like: FrameNode) -> None:
    """Tie a thing as another one is, with nodes of its own in between where these have one such thing."""
    between, single = like.parent, all(map(frame.world.single, like.way))
    if between is None or between is frame.root or between.entity or not (single or x.negated):
        return
    x.parent = made = frame.add(between.cls, x.at, explicit=between.explicit)
    made.parent, made.way, made.negated = between.parent, between.way, x.negated
    frame.count("copies")
    _copy(frame, made, between)


def _chosen(frame: RoleFrame, x: FrameNode, ties: list[_Tie]) -> _Tie:
    if not ties:
        raise Unreadable
    close = [t for t in ties if t.cost - ties[0].cost < CLOSE]
    return close[frame.turn(len(close) - 1, lambda n: close[n].cost - ties[0].cost + 0.2)]


def _ties(
    frame: RoleFrame, x: FrameNode, tied: Sequence[FrameNode], used: set[int], met: set[int]
) -> list[_Tie]:
    found = []
    for other in tied:
        if other.negated and not x.negated and x.at < other.at:
            continue
        if x.like is not None and other is x.like and other.parent is not None and not _is_parted(frame, x):
            found.append(_Tie(0.3, other.way, other.parent, like=other))
        first, last = sorted((x.at, other.at))
        between = [
            (n, i.meant, i.at)
            for n, i in enumerate(frame.items)
            if i.kind == "property" and i.role in _TIES
            if first - 4 <= i.at <= last + 4 and frame.world.info(i.meant.term).kind == "entity"
        ]
        spoken = {cand.term for _, cand, _ in between}
        spoken |= {y.leads.property for y in (x, other) if y.leads is not None}
        for rank, way in enumerate(frame.world.ways(other.cls, x.cls)):
            if rank > ALIKE and not any(s.property in spoken for s in way):
                continue  # no likelier than those before it
            words = {n for n, cand, _ in between if any(s.property == cand.term for s in way)}
            turned = sum(
                _contrary(cand, at, other, x, s) for n, cand, at in between if n in words for s in way
            )
            cost = length(way) + 0.12 * min(rank, ALIKE) + 0.03 * (last - first)
            cost += 0.4 * turned - 0.9 * len(words - used)
            cost += (0.35 if other.entity else 0.0) + (0.0 if other.explicit else 0.2)
            cost += 0.3 if other.negated != x.negated else 0.0
            named = tuple(y for y in (x, other) if id(y) not in met and _is_named(y, way, x))
            cost -= sum(1.2 if y.at == first else 0.9 for y in named)
            found.append(_Tie(cost, way, other, frozenset(words), named))
    best = min(found, key=lambda t: (t.cost, t.way), default=None)
    if best is not None and _is_silent(best):
        # What nothing says has to be there.
        found = [
            replace(t, cost=t.cost + _UNLIKELY * _unlinked(frame, t.other, t.way, x)) if _is_silent(t) else t
            for t in found
        ]
    return sorted(found, key=lambda t: (t.cost, t.way))


def _is_silent(tie: _Tie) -> bool:
    """Return whether no word names a way, and it names none of its ends."""
    return not tie.words and not tie.met and tie.like is None


def _unlinked(frame: RoleFrame, one: FrameNode, way: Way, other: FrameNode) -> int:
    """Return how many of the named things at the ends of a way have nothing to do with it."""
    return sum(
        not any(frame.world.leads_with(way, str(e), ahead=x is one) for e in (x.entity, *x.either))
        for x in (one, other)
        if x.entity is not None
    )


def _is_parted(frame: RoleFrame, x: FrameNode) -> bool:
    """Return whether a word for another relation stands between a thing and the one before it."""
    before = -1 if x.like is None else x.like.at
    return any(i.role in _TIES and i.kind == "property" and before < i.at < x.at for i in frame.items)


def _is_named(node: FrameNode, way: Way, end: FrameNode) -> bool:
    """Return whether a way is the relation that names a node at one of its ends."""
    if node.leads is None or len(way) != 1:
        return False
    step = way[0] if node is end else WayStep(way[0].property, not way[0].inverse)
    return step == node.leads


def _contrary(cand: Candidate, at: int, one: FrameNode, other: FrameNode, step: WayStep) -> bool:
    """Return whether a word names a relation the other way round than a step goes."""
    return step.property == cand.term and one.at <= at <= other.at and cand.inverse and not step.inverse
