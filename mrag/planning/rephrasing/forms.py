"""Ways of asking that say in few words what others say in more, put in the words that the parser reads."""

from __future__ import annotations

import re
from typing import Final

from mrag.language.grammar import rules
from mrag.planning.lexical.english import DIMENSIONS, positive
from mrag.planning.rephrasing.phrases import NOT_ASKING, in_plainer_phrases

_NAME = r"(?P<x>.+?)"
_SHARE = r"(?:percentage|percent|share|proportion|fraction) of"
_END = r"\s*[?.!]*\s*$"
_FORMS: Final = rules(
    (
        rf"^how old (?:is|was|are|were) {_NAME} (?:when|as|once) (?:(?:he|she|it|they) )?"
        r"(?:(?:was|were|got|has been|had been) )?(?P<y>\w+)",
        r"How many years between birth and \g<y> of \g<x>?",
    ),
    (
        rf"^how old (?:is|was|are|were) {_NAME} (?:at|on|by) (?:the|his or her|his|her|their|its) "
        r"(?:time of (?:the )?)?(?P<y>\w+(?: \w+)?)",
        r"How many years between birth and \g<y> of \g<x>?",
    ),
    (
        rf"^at (?:what|which) age (?:did|was|were|has|had) {_NAME} (?P<y>\w+)",
        r"How many years between birth and \g<y> of \g<x>?",
    ),
    (
        r"^(?:what (?:is|was) )?the age (?:of )?(?P<x>.+?) (?:at|when|on) (?:being )?(?P<y>\w+)",
        r"How many years between birth and \g<y> of \g<x>?",
    ),
    (
        rf"^how long (?:did|does|do|has|have|will|was|is|were|are) {_NAME} "
        r"(?:last|take|lasted|taken|running|run|live|lived|going on)(?: for)?",
        r"What is the duration of \g<x>?",
    ),
    (
        rf"^how many (?P<u>years|months|weeks|days|hours|minutes) (?:did|does|do|has|have|will) {_NAME} "
        r"(?:last|take|lasted|taken|run|live|lived)(?: for)?",
        r"What is the duration of \g<x> in \g<u>?",
    ),
    (
        r"^(?:which|what) (?P<n>[\w-]+(?: [\w-]+)?) (?P<v>is|was|are|were) the (?P<s>first|last"
        r"|\w+est|most \w+"
        r"|least \w+) ones?(?P<r>(?: .+)?)",
        r"What \g<v> the \g<s> \g<n>\g<r>?",
    ),
    (
        r"^how many (?P<n>[\w-]+(?: [\w-]+)?) (?:does|do|did|has|have) (?:the|an) average (?P<x>[\w-]+)"
        r"(?: have| has)?(?P<r>(?: .+)?)",
        r"What is the average number of \g<n> per \g<x>\g<r>?",
    ),
    (
        rf"^(?:for|of) (?:which|what) (?P<z>[\w-]+(?: [\w-]+)?) (?:is|are|was|were) {_NAME} "
        r"(?:an?|the|their) (?P<y>[a-z-]+(?: [a-z-]+)?)",
        r"Which \g<z> whose \g<y> is \g<x>?",
    ),
    (
        r"^what (?:share|proportion|fraction|part) of (?:the )?(?:(?P<n>[a-z]+(?: [a-z]+)?) of"
        r" (?P<x>(?:the )?(?-i:[A-Z]).+?)|(?P<x2>(?:the )?(?-i:[A-Z]).+?)['’]s (?P<n2>[a-z]+)) (?:lives?"
        r"|is|are|lies?|falls?|resides?)(?: located| found)? in (?P<y>(?:the )?(?-i:[A-Z]).+?)",
        r"What is the ratio of the \g<n>\g<n2> of \g<y> to the \g<n>\g<n2> of \g<x>\g<x2>?",
    ),
    (
        r"^(?:give me|give|show me|show|list|name|find|(?:who|which|what) (?:are|were)|tell me"
        r"|return|get|display) (?:the )?(?:top )?(?P<n>two|three|four|five|six|seven|eight|nine|ten|\d+) "
        r"(?P<x>[\w-]+(?: [\w-]+)?) (?:who|that|which) (?:have |has |had )?"
        r"(?P<r>[\w-]+ the (?:most|least|fewest|highest|lowest|greatest|smallest|largest)\b.*)",
        r"Which \g<n> \g<x> \g<r>?",
    ),
    (
        r"^(?:name|list|show|give me|find|what are|which are) (?:all )?(?:the )?(?P<n>\w+(?: \w+)?) that "
        r"(?P<m>(?:more than|at least|exactly|over) (?:one|two|three|four|five|\d+) \w+(?: \w+)?) "
        r"(?:has|have|shares?)(?: in common)?",
        r"Which \g<n> do \g<m> have?",
    ),
    (r"^(?:by whom|who(?:m)? by) (?:is|are|was|were) (?P<x>.+?) (?P<y>\w+)", r"Who has \g<y> \g<x>?"),
    (
        r"^whom? (?:is|are|was|were) (?P<x>(?:the|all|any|most|each|an?) .+?) (?P<y>\w+) by",
        r"Who has \g<y> \g<x>?",
    ),
    (
        rf"^{NOT_ASKING}(?P<x>.+?) (?:is|was|are|were) (?:the |an? )?(?P<y>.+?) of "
        r"(?:which|what) (?P<z>.+?)",
        r"Which \g<z> has the \g<y> \g<x>?",
    ),
    (
        rf"^{NOT_ASKING}(?P<x>.+?) (?P<v>is|was|are|were) (?:in|on|at|from) (?:which|what) (?P<z>.+?)",
        r"In which \g<z> \g<v> \g<x>?",
    ),
    (
        rf"^(?P<a>.*?\b{_SHARE}) (?:the )?(?P<y>\w+(?: \w+)?) (?:of|by|for|in|at) each (?P<x>\w+)"
        r" (?P<z>(?:is|are|was|were|has|have|had|did|do|does|go|goes|went|come|comes|came)\b.*?)",
        r"\g<a> \g<y> \g<z> for each \g<x>?",
    ),
    (
        rf"^(?P<a>.*?\b{_SHARE}) each (?P<x>\w+(?: \w+)?)(?:'s|’s|s'|s’) (?P<y>\w+) (?P<z>.+?)",
        r"\g<a> \g<y> \g<z> for each \g<x>?",
    ),
    end=_END,
)
_MUCH: Final = re.compile(
    rf"^(?:by )?how much (?P<a>more \w+|less \w+|\w+er) (?:is|are|was|were) {_NAME} than (?P<y>.+?){_END}",
    re.IGNORECASE,
)

OF_OTHERS: Final = re.compile(
    r"(?i)\b(?:(?:all|the|any) (?:of the )?others?|the rest|combined|together|else)\b"
)
"""Words for whatever is not the first of two that are compared."""
_MORE: Final = re.compile(
    r"(?i)^\W*how (?:many|much) (?P<a>more|fewer|less) (?P<n>[\w-]+(?: [\w-]+)?) (?:does|do|did|ha[sd]|have) "
    r"(?:the )?(?P<x>.+?)(?: have| has)? than (?:the )?(?P<y>.+?)(?: (?:does|do|has|have))?\W*$"
)


def more_than_other(text: str) -> str | None:
    """Return the question for the difference of two numbers that things have; None for other questions.

    Example:
        >>> more_than_other("How many more seats does the Orpheum have than the Plaza?")
        'What is the difference in seats between Orpheum and Plaza?'
    """
    match = _MORE.match(text)
    if match is None or OF_OTHERS.search(match["y"]):
        return None
    first, second = (match["x"], match["y"]) if match["a"].lower() == "more" else (match["y"], match["x"])
    return f"What is the difference in {match['n']} between {first} and {second}?"


def rephrased(text: str) -> str:
    """Return a question in words that the parser reads; the same text where it needs no other.

    Example:
        >>> rephrased("How old was Ada when she was hired?")
        'How many years between birth and hired of Ada?'
        >>> rephrased("How much longer is the Red than the Pecos?")
        'What is the difference in length between the Red and the Pecos?'
        >>> rephrased("By whom was the longest play written?")
        'Who has written the longest play?'
        >>> rephrased("What share of each country's rivers is navigable?")
        'What share of rivers is navigable for each country?'
        >>> rephrased("How many rivers are there, based on joining the rivers and states tables?")
        'How many rivers are there?'
        >>> rephrased("What is the mean length of rivers, rounded to 2 decimal places?")
        'What is the mean length of rivers?'
        >>> rephrased("Dresden is the capital of which state?")
        'Which state has the capital Dresden?'
        >>> rephrased("What is the best rated comedy with five star reviews?")
        'What is the highest-rated comedy with reviews with five stars?'
        >>> rephrased("Which rivers are between 80 and 120 km long?")
        'Which rivers have a length between 80 and 120 km?'
        >>> rephrased("Which rivers are long?")
        'Which rivers are long?'
    """
    text = in_plainer_phrases(text)
    for pattern, words in _FORMS:
        if (match := pattern.match(text)) is not None:
            return match.expand(words)
    match = _MUCH.match(text)
    plain = None if match is None else positive(match["a"].split()[-1])
    if match is None or plain is None:
        return text
    noun = DIMENSIONS[plain][1].split()[0]
    first, second = match["x"], match["y"]
    if DIMENSIONS[plain][0] == "least" or match["a"].lower().startswith("less "):
        first, second = second, first
    return f"What is the difference in {noun} between {first} and {second}?"
