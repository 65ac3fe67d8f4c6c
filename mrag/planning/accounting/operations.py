"""Words that say how to compute: each has its counterpart in the plan, and each operation a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rdflib import RDF, Literal

from mrag.planning.accounting.sides import BothSides, Gap, roots_in
from mrag.planning.accounting.used import folds
from mrag.planning.accounting.words import (
    AVERAGES,
    DIVIDING,
    ENDING,
    GROUPING,
    MONTHS,
    NEGATIONS,
    QUESTION_WORDS,
    SHARES,
    is_superlative,
)
from mrag.planning.following.editing import walk
from mrag.planning.lexical.synonyms import CONVERSES
from mrag.planning.lexical.words import root
from mrag.planning.plan import Aggregate, Arithmetic, Number, Unknown
from mrag.planning.reading.numbers import NUMBERS, number_of

_ORDERED: Final = frozenset("sorted descending ascending alphabetical alphabetically".split())
_NOT_HAVING: Final = re.compile(
    r"\b(?:(?:not|n't|without) (?:have )?any|(?:have|has|had|with) no)((?: \w+){1,3})"
)
_AUXILIARIES: Final = frozenset("is are was were does do did has have".split())
_OR_SO: Final = frozenset(
    "more less fewer higher lower above below later earlier older younger larger smaller better worse over "
    "under equal after before not other whether newer greater".split()
)
_EACH: Final = re.compile(r"\b(for|in|by|of|at|from|on) (each|every)\b|\bfor different\b|\bper\b")
_COUNTING: Final = re.compile(
    r"(how many|(find|count|what is|what's|give|tell me|show)( me)? (the )?((total )?number of|how many))"
)
_GROUPED: Final = re.compile(
    r"\b(each|every|per|by|different|distinct|across|all|their|and|respective|for|with|both|or)\b"
)


def operations(sides: BothSides) -> Iterator[Gap]:
    """Yield the words that say how to compute and that the plan leaves out, and what it computes unasked."""
    yield from _folded(sides)
    yield from _ranked(sides)
    yield from _denied(sides)
    yield from _chosen(sides)
    yield from _compared(sides)
    yield from _grouped(sides)
    yield from _not_said(sides)


def _folded(sides: BothSides) -> Iterator[Gap]:
    use, low = sides.use, sides.low
    for at, word in enumerate(low):
        if sides.is_own(at):
            continue
        before, behind = low[at - 1 : at], low[at + 1 : at + 2]
        if word in AVERAGES and not ("average" in use.folds or "/" in use.operations):
            yield Gap(word, "average")
        # To share something with somebody is no share.
        part = word not in ("share", "shares") or behind == ["of"] or before in (["the"], ["what"])
        if (
            word in SHARES
            and part
            and "/" not in use.operations
            and not (before and before[0][-1:].isdigit())
        ):
            yield Gap(word, "share")
        if (
            word in ("difference", "gap")
            and behind in (["between"], ["in"])
            and not {"-", "days"} & use.operations
        ):
            yield Gap(word, "difference")
        if (
            word == "total"
            and "amount" not in low
            and not ({"sum", "count"} & use.folds or "/" in use.operations)
        ):
            yield Gap(word, "total")


def _ranked(sides: BothSides) -> Iterator[Gap]:
    """Yield superlatives and words for an order that the plan does not have."""
    use, low = sides.use, sides.low
    ends = {o.descending for p in use.plans for o in p.order if p.limit is not None}
    top = use.plan
    keyed = top.grouped and (bool(top.group_by) or any(not folds(c.value) for c in top.columns))
    # The least of each group is not that of all.
    whole = not keyed or bool(top.having) or len(use.plans) > 1 or not GROUPING.isdisjoint(low)
    extreme = bool(ends) or (bool({"maximum", "minimum"} & use.folds) and whole) or use.denies
    most = {"greatest": {"maximum", "max", "highest"}, "least": {"minimum", "min", "lowest"}}
    said = {
        end: [w for at, w in enumerate(low) if w in some and not sides.is_own(at)]
        for end, some in most.items()
    }
    great, small = ("maximum" in use.folds or True in ends), ("minimum" in use.folds or False in ends)
    if all(said.values()) and "from" not in low and not (great and small):
        yield Gap(f"{said['greatest'][0]} and {said['least'][0]}", "superlative")
    for at, word in enumerate(low):
        behind, two = low[at + 1 : at + 2], low[max(0, at - 2) : at]
        if sides.is_own(at) and not (is_superlative(word) and _is_of_all(sides, at)):
            continue
        if word in _ORDERED and behind not in (["for"], ["from"]) and "order" not in use.folds:
            yield Gap(word, "order")
        if not is_superlative(word) or two[-1:] == ["at"]:
            continue
        if "first" in low[at + 1 : at + 4] or behind == ["to"] or {"from", "to"} & set(two):
            if "order" not in use.folds:
                yield Gap(word, "order")
        elif word == "most" and {"*", "/"} & use.operations:
            continue  # more than half
        elif not extreme:
            yield Gap(word, "superlative")


def _is_of_all(sides: BothSides, at: int) -> bool:
    """Return whether the "highest point" of nothing that is named is told of each thing that has one."""
    use, own = sides.use, sides.roots[at]
    for pattern in use.patterns:
        info = sides.schema.properties.get(str(pattern.predicate))
        if info is None or pattern.object not in use.shown or own not in roots_in(info.names):
            continue
        about = [p for p in use.patterns if pattern.subject in (p.subject, p.object) and p != pattern]
        named = not isinstance(pattern.subject, Unknown) or any(p.predicate != RDF.type for p in about)
        said = sides.roots_of(use.kinds(pattern.subject, sides.schema)) & set(sides.roots)
        return not (named or said or use.comparisons or use.texts)
    return False


def _denied(sides: BothSides) -> Iterator[Gap]:
    use, low = sides.use, sides.low
    flags = [p for p in use.patterns if sides.is_false(p)]
    values = [c for c in use.comparisons if str(c.right).lower() in ("false", "n", "no", "f")]
    zero = 0.0 in use.numbers
    if use.denies or "!=" in use.relations or zero:
        return
    if flags or values:
        # Who does not have any discontinued products may have no other ones either.
        match = _NOT_HAVING.search(" ".join(low))
        if match and roots_in([match[1]]) & sides.roots_of(use.classes):
            yield Gap(match[0].split()[0], "negation")
        return
    for at, word in enumerate(low):
        negated = word in NEGATIONS or word.endswith(("n't", "n’t")) or low[at : at + 2] == ["other", "than"]
        rest = low[at + 1 : at + 2]
        number = word == "no" and (rest == ["of"] or sides.text[sides.words[at].end :][:1] == ".")
        compares = rest and rest[0] in (
            "more",
            "less",
            "fewer",
            "later",
            "earlier",
            "longer",
            "exceeding",
            "only",
        )
        fewer = {"<", "<="} & use.relations and {"more", "over", "above", "least"} & set(low)
        if negated and not fewer and not number and not compares and low[max(0, at - 1) : at] != ["or"]:
            yield Gap(word, "negation")
            return


def _chosen(sides: BothSides) -> Iterator[Gap]:
    """Yield an "or" between conditions that the plan has not."""
    use, low = sides.use, sides.low
    if any(block.either for block in use.blocks) or "or" not in low[1:-1] or use.plan.yes_or_no:
        return
    at = low.index("or", 1)
    near = {*low[max(0, at - 1) : at + 2]}
    named = sides.read_as(use.things | use.texts | use.properties)
    alike = near & _OR_SO or use.denies or any(p.narrower for p in use.patterns)
    if not alike and ({at - 1, at + 1} <= named or low[at + 1] in ENDING):
        yield Gap("or", "choice")


def _compared(sides: BothSides) -> Iterator[Gap]:
    """Yield comparisons that the plan does not make, and numbers of things that it does not count."""
    use, low = sides.use, sides.low
    measures = [c for c in use.comparisons if c.relation not in ("=", "!=")]
    both = any(not isinstance(c.left, Literal) and not isinstance(c.right, Literal) for c in measures)
    for at, word in enumerate(low):
        before, behind = low[max(0, at - 1) : at], low[at + 1 : at + 4]
        if word == "than" and before not in (["other"], ["rather"], ["different"]):
            if at and {sides.roots[at - 1], *map(root, CONVERSES.get(low[at - 1], ()))} & sides.own:
                continue  # a property may be called "broader"
            if use.denies or "!=" in use.relations or "-" in use.operations:
                continue
            number = any(
                w[0].isdigit() or w in NUMBERS or w in MONTHS or w in ("once", "twice", "a") for w in behind
            )
            if not measures or not (number or both or "$" in sides.text):
                yield Gap(" ".join((*before, word)), "comparison")
        few = behind[1:2] in (["one"], ["a"], ["an"], ["1"], ["once"])
        if word == "at" and behind[:1] in (["least"], ["most"]) and not measures and not few:
            yield Gap(f"at {behind[0]}", "comparison")
        value = NUMBERS.get(word, number_of(sides.words[at].key))
        if value is None or value < 2 or before not in (["least"], ["than"], ["most"], ["exactly"], ["over"]):
            continue
        if "count" in use.folds or "sum" in use.folds or at + 1 >= len(low):
            continue
        kinds = any(
            c.kind == "class" and c.way in ("exact", "inflected") and c.score > 0.9
            for c in sides.found(at + 1)
        )
        compared = {p for c in use.comparisons for u in use.unknowns(c.left) for p in use.told_by(u)}
        if kinds and sides.roots[at + 1] not in sides.roots_of(compared):
            yield Gap(f"{word} {low[at + 1]}", "count")


def _grouped(sides: BothSides) -> Iterator[Gap]:
    use, text = sides.use, " ".join(sides.low)
    top = use.plan
    keys = [c.value for c in top.columns if not folds(c.value)] + list(top.group_by)
    folded = any(folds(value) for value in use.shown)
    cue = _EACH.search(text)
    if folded and not keys and cue and len(use.plans) == 1 and "/" not in use.operations:
        named = sides.is_own(sides.low.index(cue[0].split()[-1]))
        if not named and not (cue[0] == "per" and "average" in use.folds):
            yield Gap(cue[0], "groups")
    counts = _COUNTING.match(text)
    if counts and keys and folded and not (top.having or top.limit or top.order):
        grouped = _GROUPED.search(text[counts.end() :])
        if grouped is None:
            yield Gap(counts[0], "one number")


def _not_said(sides: BothSides) -> Iterator[Gap]:
    """Yield operations of the plan for which no word of the question is a reason."""
    use, low = sides.use, sides.low
    every = list(walk(use.plan))
    shares = [at for at, word in enumerate(low) if word in DIVIDING]
    divided = any(
        isinstance(p, Arithmetic) and p.operation == "/" and not isinstance(p.right, Literal) for p in every
    )
    if divided and all(sides.is_own(at) for at in shares):
        yield Gap(" ".join(low[at] for at in shares) or "a quotient", "operation")
    for part in every:
        if isinstance(part, Aggregate) and part.function in ("sum", "average") and part.value is not None:
            value = part.value.value if isinstance(part.value, Number) else part.value
            if not use.is_number(value, sides.schema):
                yield Gap(f"the {part.function} of texts", "operation")
    asks = not QUESTION_WORDS.isdisjoint(low[1:])
    if low and low[0] in _AUXILIARIES and not use.plan.yes_or_no and not asks:
        yield Gap(low[0], "yes or no")
    if use.plan.yes_or_no and low and low[0] in QUESTION_WORDS:
        yield Gap(low[0], "more than yes or no")
