"""Questions that set two things side by side, cut into a question for the number of each.

"Do women earn more than men on average" compares "What is the average earnings of women?" with the same of
men. Words that both sides have may stand with one of them: "male and female members", so there are several
ways to cut a question, and whoever reads the halves chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from typing import Literal as OneOf

from mrag.planning.lexical.english import DIMENSIONS, positive
from mrag.planning.plan import Relation
from mrag.planning.rephrasing.forms import OF_OTHERS
from mrag.planning.rephrasing.unnamed import NUMBERS_OF_VERBS

Told = OneOf["each", "which", "whether", "difference"]

_BE: Final = r"(?:is|are|was|were)"
_DO: Final = r"(?:do|does|did)"
_IN: Final = r"(?:of|in|for|at|by|from|on|among|amongst|across|with|to)"
_AND: Final = r"(?:and|with|to|vs\.?|versus|against|or)"
_MORE: Final = r"(?:more|less|fewer)"
_ER: Final = (
    rf"(?:{_MORE}|higher|lower|greater|larger|bigger|smaller|longer|shorter|better|worse|older|younger"
    rf"|earlier"
    r"|later|heavier|lighter|cheaper)"
)
_LESS: Final = frozenset(
    "less fewer lower smaller shorter worse younger earlier lighter cheaper first sooner".split()
)
_MEAN: Final = r"(?: on average| in total| overall| altogether)?"
_QUANTITY: Final = r"(?:average|mean|total|number|sum|minimum|maximum|lowest|highest|median|count|amount)"
_EACH: Final = r",? (?:respectively|separately|individually|each)"
_LONGEST: Final = 40
"""Words of the longest question that is cut; ways to cut it grow faster than its words."""
_COUNTED: Final = (
    r"(?:are there|were there|do we have|did we have|exist|have been|are (?!there)|were (?!there)|have |had "
    r"|has |work |live |play |study |took |take |do |did |does |in |on |at |with |who |that )"
)


@dataclass(frozen=True)
class Sides:
    """Two things set side by side.

    Attributes:
        told: What is asked: the number of each, which has more, whether one has more, or by how much.
        relation: How the first is compared with the second, where that is asked.
        pairs: Ways to cut the question: for each, questions for the number of the first and the second, the
            likelier ones before others.
        only_all: Whether the numbers of both are told only where there are no others, for else the question
            may be for what both have together.
    """

    told: Told
    relation: Relation | None
    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    only_all: bool = False


_Cut = Mapping[str, str]


def side_by_side(text: str) -> Sides | None:
    """Return the numbers that a question sets side by side; None for other questions.

    Example:
        >>> found = side_by_side("Is the average fare to Oslo higher than that to Rome?")
        >>> found.told, found.relation, found.pairs[0][1]
        ('whether', '>', ('What is the average fare to Rome?',))
        >>> side_by_side("Compare the number of cats and dogs").pairs[0][0]
        ('What is the number of cats?',)
        >>> side_by_side("How many cats are there?") is None
        True
    """
    if len(text.split()) > _LONGEST or OF_OTHERS.search(text):
        return None
    plain = _turned(re.sub(r"\s+", " ", text).strip(" ?.!"))
    for pattern, told in _FORMS:
        match = pattern.match(plain)
        if match is None:
            continue
        part = {k: v.strip(" ,") for k, v in match.groupdict().items() if v is not None}
        pairs = tuple(
            (tuple(_questions(part, one)), tuple(_questions(part, other)))
            for one, other in _sides(part["a"], part["b"])
        )
        return Sides(told, _relation(part, told), pairs, "all" in part)
    return None


def _turned(text: str) -> str:
    """Return a question with what is chosen from at its end: "of cats and dogs, which …"."""
    match = re.match(
        r"(?i)^(?:between|of|among|out of|comparing)? ?"
        r"(?P<ab>(?!which|who|what)[^,:;?]+? (?:and|or) [^,:;?]+?)[,:;?] "
        r"(?P<q>(?:which|who|what)\b.+)$",
        text,
    )
    if match is None:
        return text
    return f"{match['q']}, {re.sub(r' and (?!.* and )', ' or ', match['ab'])}"


def _relation(part: _Cut, told: Told) -> Relation | None:
    if told == "each":
        return None
    if "same" in part:
        return "="
    if (plain := positive(part.get("adj", ""))) is not None and "mean" not in part and "mean2" not in part:
        return ">" if DIMENSIONS[plain][0] == "greatest" else "<"  # who is older was born before
    return "<" if part.get("rel", "more").lower() in _LESS else ">"


def _sides(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield ways to share the words that stand with one side only."""
    first, second = one.split(), other.split()
    if len(second) > len(first):
        yield f"{one} {' '.join(second[len(first) :])}", other
    heads = [n for n, w in enumerate(first) if re.fullmatch(rf"(?i){_IN}", w)]
    for at in reversed(heads):
        behind = second[1:] if second[0].lower() == first[at].lower() else second
        yield one, " ".join([*first[: at + 1], *behind])
    yield one, other
    if len(first) > 1 and len(second) < len(first):
        yield one, " ".join([*second, *first[len(second) :]])


def _questions(part: _Cut, side: str) -> Iterator[str]:
    """Yield questions for the number of one side."""
    where = f" {part['z']}" if part.get("z") else ""
    mean = "average " if any("average" in v for k, v in part.items() if k.startswith("mean")) else ""
    if part.get("n"):  # things are counted
        things, verb = part["n"], part.get("v", "have")
        if part.get("p"):
            yield f"How many {things} {part['p']} {side}{where}?"
        else:
            yield f"How many {things} does {side} {verb}{where}?"
            yield f"Number of {things} of {side}{where}"
    elif part.get("q"):
        what = re.sub(r"(?i)^(?:the|a|an) ", "", part["q"])
        if re.match(r"(?i)how many\b", what):
            yield f"{what} {part.get('p', '')} {side}{where}?"
            return
        what = re.sub(
            r"(?i)^(?:what|which) (?:is|are|was|were) (?:the )?|^(?:show|give|list)(?: me)?(?: the)? ",
            "",
            what,
        )
        place = part.get("p", "of").lower()
        yield f"What is the {mean}{what} {'of' if place == 'between' else place} {side}{where}?"
    elif part.get("adj") and (plain := positive(part["adj"])) is not None:
        for noun in DIMENSIONS[plain][1].split():
            yield f"What is the {mean}{noun} of {side}{where}?"
    elif part.get("when"):
        yield f"When was {side} {part['when']}?"
    elif part.get("v"):
        noun = NUMBERS_OF_VERBS.get(part["v"].lower().removesuffix("s"), part["v"])
        yield f"What is the {mean}{noun} of {side}{where}?"
        yield f"What is the average {noun} of {side}{where}?"
    else:
        yield f"How many {side} are there{where}?"


_PATTERNS: Final[tuple[tuple[str, Told], ...]] = (
    (
        rf"(?:please )?compare (?:the )?(?P<q>.+?) (?P<p>{_IN}|between) (?P<a>.+?) {_AND} (?P<b>.+)",
        "each",
    ),
    (
        rf"(?P<q>(?:how many|what {_BE}|show|give|list|number|average|total)\b.+?) (?P<p>{_IN}) "
        rf"(?P<a>[^,]+?),? and (?:how many |what )?(?:{_BE} )?(?P=p) (?P<b>[^,]+)",
        "each",
    ),
    (rf"how many (?P<a>.+?),? and how many (?P<b>.+?) (?P<z>{_COUNTED}.*)", "each"),
    (
        rf"(?P<q>(?:how many|what {_BE}|show|give|list|average|total|number)\b.+?) (?P<p>{_IN}) (?P<a>.+?) "
        rf"and "
        rf"(?P<b>.+?){_EACH}",
        "each",
    ),
    (rf"how many (?P<n>.+?) {_DO} (?P<a>.+?) and (?P<b>.+?) (?P<v>\w+){_EACH}", "each"),
    (rf"how many (?P<a>.+?) and (?P<b>.+?) (?P<z>{_COUNTED}.*?){_EACH}", "each"),
    (
        rf"(?:what (?:is|are|was|were) )?(?:the )?(?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) (?P<a>.+?)"
        r" (?:vs\.?|versus) (?P<b>.+)",
        "each",
    ),
    (rf"how many (?P<a>.+?) (?:vs\.?|versus) (?P<b>.+?)(?: (?P<z>{_COUNTED}.*))?", "each"),
    (
        rf"(?:what (?:is|are|was|were) )?(?:the )?(?P<all>)(?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) "
        rf"(?P<a>[^,]+?)"
        r" and (?P<b>[^,]+)",
        "each",
    ),
    (rf"(?P<all>)how many (?P<a>[^,]+?) and (?P<b>[^,]+?) (?P<z>{_COUNTED}[^,]*)", "each"),
    (
        rf"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){{0,2}}? (?:has|have|had) (?:the "
        rf"|a |an )?"
        rf"(?P<rel>{_MORE})(?: of)? (?P<n>(?!than\b).+?)[,:]* (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        rf"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){{0,2}}? (?:has|have|had) (?:the "
        rf"|a |an )?"
        rf"(?P<rel>{_ER}) (?P<q>(?!than\b)[^,:]+?){_MEAN}[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?P<v>\w+) "
        rf"(?P<rel>{_MORE})(?P<mean>{_MEAN})[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?:is|are|was|were) "
        r"(?P<rel>(?P<adj>\w+er))(?P<mean> on average)?[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?:is|are|was|were) (?P<when>\w+) "
        r"(?P<rel>first|earlier|sooner|last|later)[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        rf"{_BE} the (?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) (?P<a>.+?) (?P<rel>{_ER}) than "
        rf"(?:(?:that|those|the one|the (?P=q)) (?:{_IN} )?)?(?P<b>.+)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) (?P<v>\w+) (?P<rel>{_MORE})(?P<mean>{_MEAN}) than (?P<b>.+?)"
        rf"(?P<mean2>{_MEAN})(?: {_DO})?",
        "whether",
    ),
    (
        rf"{_BE} there (?P<rel>{_MORE}) (?P<a>.+?) than (?P<b>.+?)(?: (?P<z>(?:in|at|on|with|who|that) "
        rf".+))?",
        "whether",
    ),
    (
        rf"(?:{_BE}|{_DO}|have|has) (?P<rel>{_MORE}) (?P<n>.+?) (?P<p>(?:\w+ )?{_IN}) (?P<a>.+?) than "
        rf"(?:{_IN} )?(?P<b>.+)",
        "whether",
    ),
    (
        rf"{_BE} (?P<a>.+?) (?P<rel>(?P<adj>\w+er))(?P<mean2>{_MEAN}) than (?P<b>.+?)(?P<mean> on "
        rf"average)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) and (?P<b>.+?) have the (?P<same>same|equal) (?P<q>{_QUANTITY}\b.*)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) have (?P<same>as many) (?P<n>.+?) as (?P<b>.+)",
        "whether",
    ),
    (
        rf"how much more (?:money )?{_DO} (?P<a>.+?) (?P<v>\w+)(?P<mean>{_MEAN}) than "
        rf"(?P<b>.+?)(?P<mean2>{_MEAN})"
        rf"(?: {_DO})?",
        "difference",
    ),
    (
        rf"how much (?P<rel>higher|lower|greater|larger|bigger|smaller) {_BE} the "
        rf"(?P<q>{_QUANTITY}\b.*?) "
        rf"(?P<p>{_IN}) (?P<a>.+?) than (?:(?:that|those|the one|the (?P=q)) (?:{_IN} )?)?(?P<b>.+)",
        "difference",
    ),
    (
        rf"(?:(?:what|how (?:much|big|large)) {_BE} |calculate |compute |find |give |show )?(?:the )?"
        rf"difference (?:in|of) (?:the )?(?P<q>{_QUANTITY}\b.*?) between (?:the )?(?P<a>.+?) and (?:the )?"
        r"(?P<b>.+)",
        "difference",
    ),
    (
        rf"how many (?P<rel>{_MORE}) (?P<a>.+?) than (?P<b>.+?) (?P<z>{_COUNTED}.*)",
        "difference",
    ),
    (
        rf"how many (?P<rel>{_MORE}) (?P<n>.+?) (?P<p>(?:\w+ )?(?:\w+ )?{_IN}) (?P<a>.+?) than "
        rf"(?:{_IN} )?(?P<b>.+)",
        "difference",
    ),
)
_FORMS: Final = tuple((re.compile(f"(?i)^{pattern}$"), told) for pattern, told in _PATTERNS)
