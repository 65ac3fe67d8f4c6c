"""Questions that also ask for the number by which they find something: "…, and how many?"."""

from __future__ import annotations

import re
from dataclasses import replace

from mrag.language.grammar import plural
from mrag.language.tokens import is_stopword, tokens
from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft
from mrag.planning.lexical.english import root
from mrag.planning.scopes import aggregates

_ALSO = re.compile(
    r"(?i)^(?P<first>\W*(?:which|what|who|in which|in what|find|show|list|return|give|name"
    r"|identify|display|rank|order|sort)\b.+?)"
    r"(?:,? (?:and|along with|together with|as well as|with)(?: also)?"
    r"|[.;?!](?= (?:show|give|state|include|list)))"
    r"(?: (?:also )?(?:show|give|state|include|report|return|list)(?: me)?)? "
    r"(?:(?:the |their )?names?(?: of (?:the |these |those )?[\w-]+)?(?:,| and) )?"
    r"(?P<also>(?:(?:by|of|to|with|for|in|at) )?how (?:many|much)\b.*?|"
    r"(?:what (?:is|was|are|were) )?(?:the |that |this |its |their )?"
    r"(?:corresponding |respective )?(?:numbers?|counts?|amounts?|totals?|values?|sums?|figures?|averages?"
    r"|percentages?|shares?)\b.*?|"
    r"what (?:is|was|are|were) (?:the|that|this|its|their) .+?)\W*$"
)
_LASTING = re.compile(r"(?i)\b(?:last|lasts|lasted|take|takes|took|run|runs|ran)\b")
_UNIT = re.compile(
    r"(?i)(?:for )?how many (?P<unit>seconds|minutes|hours|days|weeks|months|years)"
    r"(?: (?:does|do|did|has|have) (?:it|they) (?:last|take|run|lasted|taken))?$"
)
_SAID = frozenset(
    "how many much what number count amount total value do does did have has had they he she it them him her "
    "sum sums amounts totals figures figure numbers counts values "
    "that there in all each are is was were the year time s its their corresponding average averages "
    "percentage percentages share shares too also well made".split()
)
"""Words that say no more than that a number is asked for, or refer to what was said."""


def also_told(text: str) -> str | None:
    """Return a question without the number that it also asks for, if that is the number it speaks of anyway.

    Example:
        >>> also_told("Which farm has the most cows, and how many?")
        'Which farm has the most cows?'
        >>> also_told("Which farm has the most cows, and how many cows does it have?")
        'Which farm has the most cows?'
        >>> also_told("Which farms have cows, and how many hens do they have?")
    """
    match = _ALSO.match(text)
    if match is None:
        return None
    if _LASTING.search(match["first"]) and (unit := _UNIT.match(match["also"])) is not None:
        return f"{match['first'].strip()} in {unit['unit']}?"
    first = {root(t.key) for t in tokens(match["first"])}
    # "He/she" is two words.
    said = [t for t in tokens(match["also"].replace("/", " ")) if t.key not in _SAID]
    new = [t for t in said if not is_stopword(t.key) and root(t.key) not in first]
    return None if any(not _again(t.key, first) for t in new) else match["first"].strip() + "?"


def _again(word: str, first: set[str]) -> bool:
    """Return whether a word is made of one that was said: the "enrollment" of those "enrolled"."""
    return len(word) > 5 and any(len(r) > 4 and word.startswith(r[:5]) for r in first)


def with_its_number(draft: Draft) -> Draft | None:
    """Return a plan that also shows the number by which it orders or selects; None if there is none."""
    plan = draft.plan
    if plan.yes_or_no or len(draft.shown) > 2:
        return None
    folded = any(aggregates(c.value) for c in plan.columns if c.name in draft.shown)
    if plan.order and (plan.limit is not None or not folded):
        name = plan.order[0].column
        return replace(draft, shown=(*draft.shown, name)) if name not in draft.shown else draft
    bounds = [c.left for c in plan.having if isinstance(c, pl.Comparison)]
    numbers = [b for b in dict.fromkeys(bounds) if isinstance(b, pl.Aggregate)]
    if len(numbers) != 1 or any(aggregates(c.value) for c in plan.columns):
        return None
    number, taken = numbers[0], {c.name for c in plan.columns}
    called = plural(number.of[0].name) if number.of else "things"
    name = f"number_of_{called}" if number.function == "count" else f"{number.function}_{called}"
    while name in taken:
        name += "_2"
    columns = (*plan.columns, pl.Column(number, name))
    return replace(draft, plan=replace(plan, columns=columns), shown=(*draft.shown, name))
