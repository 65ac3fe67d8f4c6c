"""Words of a question that say how to compute: counts, folds, superlatives, comparisons, groups, order.

The table is general English; nothing in it depends on a graph. A cue is found by its longest form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from mrag.planning.lexical.english import DIMENSIONS, positive

CueKind: TypeAlias = OneOf[
    "count", "fold", "most", "top", "compare", "between", "group", "order", "direction", "not", "or", "and",
    "show", "who", "where", "when", "text", "ratio", "percentage", "difference", "same", "out of",
    "unsupported",
    "exists",
]  # fmt: skip


@dataclass(frozen=True)
class Cue:
    """Words that say how to compute.

    Attributes:
        start: Index of its first token.
        end: Index behind its last token.
        kind: What they say.
        value: A relation, a function, a direction: whatever belongs to the kind.
    """

    start: int
    end: int
    kind: CueKind
    value: str = ""


_TABLE: dict[CueKind, dict[str, str]] = {
    "count": {
        "": "how many|number of|the number of|total number of|count of|total count of|count|counts|"
        "numbers of|amount of times|no of|total no of|how often|quantity of",
    },
    "fold": {
        "average": "average|mean|avg|average of|on average|the mean of",
        "sum": "total|sum|sum of|total of|sum total of|combined|altogether|in total|total sum of|how much|"
        "cumulative",
        "maximum": "maximum|max|maximum of",
        "minimum": "minimum|min|minimum of",
    },
    "most": {
        "greatest": "most|highest|greatest|the most|max|maximum|the highest|largest number of|"
        "greatest number of|"
        "most number of|highest number of|the most number of|maximum number of",
        "least": "least|lowest|fewest|the fewest|the least|the lowest|smallest number of|lowest number of|"
        "least number of|fewest number of|minimum number of",
    },
    "top": {"greatest": "top|the top|best|leading", "least": "bottom|the bottom|worst"},
    "compare": {
        ">": "more than|greater than|higher than|larger than|over|above|exceeding|exceeds|exceed|after|"
        "later than|bigger than|longer than|heavier than|older than|better than|in excess of|newer than|"
        "taller than",
        "<": "less than|fewer than|lower than|smaller than|under|below|before|earlier than|shorter than|"
        "lighter than|cheaper than|younger than|worse than",
        ">=": "at least|no less than|not less than|or more|minimum of|since|on or after|starting from|"
        "from at least|greater than or equal to|more than or equal to|or higher|or above|or later|"
        "no fewer than|not fewer than|as of",
        "<=": "at most|no more than|not more than|or less|up to|on or before|until|maximum of|"
        "less than or equal to|or fewer|or lower|or below|or earlier|not exceeding|by the end of",
        "=": "exactly|equal to|equals|equal|precisely|exact",
    },
    "between": {"": "between|in between|ranging from"},
    "group": {
        "each": "for each|per|in each|of each|by each|each|for every|in every|of every|every|at each|"
        "from each|"
        "on each|to each|with each|within each|across|across all|across different|by different|"
        "across each|grouped by|group by|broken down by|for each of the|across various|split by|"
        "each of the|for the different|among different|for all the different|differ by|vary by|"
        "varies by|differ across|vary across|vary across different|for each distinct|for each unique|"
        "by each of the|for each individual|for each different",
        "by": "by|according to|based on|depending on",
    },
    "order": {
        "": "ordered by|sorted by|order by|sort by|ranked by|order the results by|sort the results by|"
        "arranged by|rank by|in order of|order results by|sort results by|order them by|sort them by|"
        "sort the|order the|rank the|arrange the|sort|"
        "ordered on|ranked according to|order the result by|sort the result by|ordered in terms of",
    },
    "direction": {
        "descending": "in descending order|descending|descending order|from highest to lowest|"
        "highest to lowest|"
        "desc|"
        "in decreasing order|from most to least|highest first|most first|best first|biggest first|"
        "greatest first|from largest to smallest|from the top|from the top down|"
        "starting from the best|in reverse order|largest first|"
        "from best to worst|starting from the top|from the highest to the lowest|"
        "from the best to the worst|from newest to oldest|in descending order of|"
        "sort in descending order|sorted in descending order|starting from the highest|from high to low",
        "ascending": "in ascending order|ascending|ascending order|from lowest to highest|lowest to highest|"
        "asc|"
        "in increasing order|alphabetically|in alphabetical order|lowest first|worst first|least first|"
        "fewest first|from least to most|"
        "smallest first|from smallest to largest|starting from the lowest|chronologically|"
        "in chronological order|from the lowest to the highest|from oldest to newest|"
        "in ascending order of|by alphabetical order|sort in ascending order|sorted in ascending order|"
        "sorted alphabetically|ordered alphabetically|from low to high",
    },
    "not": {
        "": "not|no|without|never|do not|does not|did not|don't|doesn't|didn't|haven't|hasn't|have not|"
        "has not|isn't|aren't|excluding|except|other than|none|have no|has no|having no|with no|"
        "do not have|does not have|do not have any|does not have any|don't have|don't have any|"
        "doesn't have|doesn't have any|haven't made any|have not made any|without any|is not|are not|"
        "were not|was not|weren't|wasn't|apart from|besides|have never|has never|lack|lacks|lacking|"
        "neither|non|are missing|is missing|have not yet|exclude|but not|not any|not part of any|"
        "no longer|did not have|did not have any|had no|nobody|nothing|no one",
    },
    "or": {"": "or|either"},
    "and": {"": "and|as well as|along with|together with|&|both|plus|also|but also|including|in addition to"},
    "show": {
        "": "return|show|give|list|display|find|get|provide|tell|which|what|name|output|identify|retrieve|"
        "report|select|show me|give me|tell me|can you list|can you show|can you give|can you tell|"
        "i want|i'd like|list all|what is|what are|what was|what were|what's|whats|please list|"
        "please show|i want to know|could you list|include|enumerate|print|return me|find me|get me|"
        "what kind of|which kind of|show all|determine|calculate|compute|i need",
    },
    "who": {"": "who|whom|who is|who are|who was|who were|who's|by whom|to whom"},
    "where": {
        "": "where|where is|where are|where was|where can|where can i|where can we|where do|where does|"
        "where did",
    },
    "when": {"": "when|when is|when was|when did|when does|when were|when are|on which date|on what date"},
    "text": {
        "start": "starting with|starts with|start with|begins with|begin with|beginning with|"
        "starting with the letter|starts with the letter|start with the letter|begin with the letter|"
        "begins with the letter|starting with letter|beginning with the letter",
        "end": "ending with|ends with|end with|ending in|ends in|end in|ending with the letter|"
        "ends with the letter|end with the letter",
        "anywhere": "containing|contains|contain|containing the word|contains the word|contain the word|"
        "includes the word|including the word|with the word|containing the letter|contain the letters|"
        "containing the string|contains the string|contain the string|containing the substring|"
        "contains the substring|contain the substring|has the substring|have the substring|"
        "with the substring|includes the substring|include the substring|contains the letter|"
        "contain the letter|contains the text|contain the text|contains the phrase|contain the phrase|"
        "mentioning|mentions|mention|"
        "containing the phrase|include the word|has the word|have the word|that includes the text",
    },
    "ratio": {"": "ratio of|the ratio of|ratio between|ratio|ratios of|quotient of"},
    "percentage": {
        "100": "percentage of|percent of|what percentage of|what percent of|percentage|percent|"
        "what percentage",
        "1": "proportion of|share of|fraction of|what proportion of|what share of|what fraction of|"
        "proportion|rate of",
    },
    "difference": {
        "": "difference between|difference in|the difference between|the difference in|gap between",
    },
    "same": {"": "the same|same|share the same|shares the same|in common with|at the same"},
    "out of": {"": "out of|out of all|out of the total number of|over all|to the total number of|among all"},
    "unsupported": {
        "": "how many more|how many fewer|how much more|how much less|"
        "median|standard deviation|variance|percentile|cumulative sum|running total|moving average|"
        "month over month|year over year|correlation|growth rate|forecast|predict|why|how do|how does|"
        "how can|how should|how did|how to|previous month|rolling",
    },
    "exists": {
        "": "there are|are there|is there|there is|exist|exists|do we have|were there|was there|there were",
    },
}


def _trie() -> dict[tuple[str, ...], tuple[tuple[CueKind, str], ...]]:
    found: dict[tuple[str, ...], list[tuple[CueKind, str]]] = {}
    for kind, values in _TABLE.items():
        for value, forms in values.items():
            for form in forms.split("|"):
                found.setdefault(tuple(form.split()), []).append((kind, value))
    return {form: tuple(meanings) for form, meanings in found.items()}


_FORMS = _trie()
_LONGEST = max(map(len, _FORMS))


def cues(words: Sequence[str]) -> Iterator[Cue]:
    """Yield every cue of a question; spans may overlap, and one may have several meanings.

    Args:
        words: The question's words as written, in lower case.

    Example:
        >>> [(c.kind, c.value) for c in cues("how many rivers are longer than 500".split())]
        [('count', ''), ('compare', '>')]
    """
    for start in range(len(words)):
        for end in range(min(len(words), start + _LONGEST), start, -1):
            for kind, value in _FORMS.get(tuple(words[start:end]), ()):
                if words[start] == "report" and (start and list(words[end : end + 1]) == ["to"]):
                    continue  # who reports to somebody is not shown
                if words[start] in ("display", "show") and start and words[start - 1] == "on":
                    continue  # what is "on display" is not asked for by that
                if kind == "percentage" and start and words[start - 1][-1:].isdigit():
                    continue  # "above 5 percent" asks for no share
                yield Cue(start, end, kind, value)
        more, adjective = words[start], positive(" ".join(words[start + 1 : start + 2]))
        if more in ("more", "less") and adjective and list(words[start + 2 : start + 3]) == ["than"]:
            up = (more == "more") == (DIMENSIONS[adjective][0] == "greatest")
            yield Cue(start, start + 3, "compare", ">" if up else "<")
        plain = positive(more) if more.endswith("er") else None
        behind = tuple(words[start : start + 2])
        if plain and plain != more and behind[1:] == ("than",) and behind not in _FORMS:
            # "deeper than", of whatever has a measure of it.
            yield Cue(start, start + 2, "compare", ">" if DIMENSIONS[plain][0] == "greatest" else "<")


_UNREAD: frozenset[CueKind] = frozenset(("fold", "most", "compare", "group", "not", "ratio", "percentage"))


def computing_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a question that no reading of single facts does justice to.

    These are superlatives, comparisons with a number or with "than", folds, shares, "per" and negations.

    Args:
        words: The question's words as written, in lower case.

    Example:
        >>> computing_words("who develops the newest database that is not free".split())
        ('newest', 'not')
        >>> computing_words("who trained under obi-wan".split())
        ()
    """
    found = [w for w in words if positive(w) not in (None, w) and (w.endswith("est") or w == "worst")]
    for cue in cues(words):
        said = words[cue.start : cue.end]
        number = any(c.isdigit() for c in " ".join(words[cue.end : cue.end + 2]))
        if said == ["mean"] and not {"do", "does", "did"}.isdisjoint(words[: cue.start]):
            continue  # what something means
        if cue.kind not in _UNREAD or (cue.kind, cue.value) == ("group", "by") or said == ["how", "much"]:
            continue
        if cue.kind != "compare" or number or "than" in said:
            found += said[-1:] if cue.kind == "group" else said
    if any(w in ("more", "fewer", "less") and "than" in words[i:] for i, w in enumerate(words)):
        found.append("than")
    small = ("the", "of", "in", "on", "for", "do", "does", "did", "have", "has", "is", "are", "what")
    return tuple(dict.fromkeys(word for word in found if word not in small))
