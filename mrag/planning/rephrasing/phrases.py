"""Phrases of a question that others can be put in the place of, wherever they stand."""

from __future__ import annotations

import re
from typing import Final

from mrag.language.grammar import reworded, rules
from mrag.planning.lexical.english import DIMENSIONS
from mrag.planning.rephrasing.neither import neither

_DOWN = r"(?:best|highest|most|largest|biggest|greatest|latest|newest|most recent|heaviest|longest)"
_UP = r"(?:worst|lowest|least|fewest|smallest|earliest|oldest|lightest|shortest)"
_WHAT = r"(?P<n>(?!to\b|by\b)[\w-]+(?: (?!to\b)[\w-]+)?)"
_THEIR = r"its|their|his or her|her or his|his/her|his|her"
_FROM = r",? ?(?:(?:ordered|sorted|ranked|starting|listed|arranged) )?(?:starting )?from (?:the )?"
_ORDERED = r",? (?:ordered|sorted|ranked|arranged) from (?:the )?"
NOT_ASKING: Final = (
    r"(?!(?:what|which|who|whom|whose|how|when|where|why|in|on|at|for|is|are|was|were|do|does|did|has|have"
    r"|list|show|give|find|name|tell|please|count|of)\b)"
)
_TECHNICAL: Final = re.compile(
    r"(?i),?\s*(?:\b(?:based on|by|after|when|via|using)\s+(?:doing\s+)?(?:an?\s+)?"
    r"(?:(?:left|right|inner|outer|full|cross)\s+){0,2}|\b(?:left|right|inner|outer|full|cross)\s+)"
    r"join(?:ing)?\s+(?:from\s+|between\s+|of\s+)?(?:the\s+)?[\w, ]+?\s+tables?\b"
    r"|,?\s*(?:\(?\b(?:and\s+)?round(?:ed)?(?: it| them| (?:the )?(?:results?|values?|answers?))?\s+"
    r"to\s+(?:the\s+)?(?:nearest\s+)?\w+(?:\s+decimals?)?(?:\s+(?:places?|digits?|points?))?\)?)"
    r"|,?\s*\(?\b(?:(?:match|compare|search|treat)\s+\w+\s+)?case[- ]insensitive(?:ly)?\b\)?"
)
"""How something is to be computed or written, which says nothing of what is asked for."""
_QUOTED: Final = r"(?:'[^']+'|\"[^\"]+\"|“[^”]+”|‘[^’]+’)"
_WORDS: Final = rules(
    (r"\b(?:best|top)[- ]rated\b", "highest-rated"),
    (
        r"\bratio (?:of|between) (?P<x>(?:(?!\bto\b)[^,?])+?) (?:against|versus|vs\.?|compared (?:to|with)) ",
        r"ratio of \g<x> to ",
    ),
    *(
        (
            rf"{before}\b(?P<d>difference|gap|ratio|spread) between (?:the )?"
            r"(?P<h>maximum|max|highest|largest|greatest) and (?:the )?"
            rf"(?P<l>minimum|min|lowest|smallest|least) (?P<n>[\w-]+(?: [\w-]+)?){behind}",
            rf"{same}\g<d> between the \g<h> \g<n> and the \g<l> \g<n>",
        )
        for before, behind, same in (
            ("", r"(?= (?:for|per|of|in|by|at|within) (?:each|every)\b| per\b)", ""),
            (r"^(?P<g>\W*(?:for|in|at|per) (?:each|every) [^?]*?)", r"(?=\W*$)", r"\g<g>"),
        )
    ),
    (
        r"^\W*in (?P<w>which|what) (?P<n>[\w-]+(?: (?!was\b|were\b|is\b|are\b)[\w-]+){0,3}) "
        r"(?:was|were|is|are) (?:the |there the )?(?P<x>[\w-]+(?: [\w-]+){0,3}?) (?:the )?"
        r"(?P<s>highest|lowest|greatest|largest|smallest)(?=\W*$)",
        r"\g<w> \g<n> has the \g<s> \g<x>",
    ),
    (r"\b(?P<a>[a-z]+)-(?P<b>in|out|up|off|over)s\b", r"\g<a>-\g<b>"),
    (
        r"^\W*(?:apart from|besides|except for|except|other than|not counting) (?P<x>[^,?]+), "
        r"(?:who|whom) (?:else )?(?P<q>(?!can |could |may )[^?]+?)(?=\W*$)",
        r"Who \g<q> apart from \g<x>",
    ),
    (r"\bhalf a (million|billion|thousand)\b", r"0.5 \1"),
    (
        r"\b(?P<than>than|over|under|above|below|least|most|exceed(?:s|ed|ing)?|up to|exactly|about) a "
        r"(?=(?:hundred|thousand|million|billion)\b)",
        r"\g<than> 1 ",
    ),
    (r"\bmost recently(?=\W*$)", "last"),
    (
        r"^\W*(?:does|do|did) (?P<x>.+?) have (?P<y>.+?) as (?:an?|their|its|the|his or her|his|her) "
        r"(?P<z>[a-z-]+(?: [a-z-]+)?)(?=\W*$)",
        r"Is \g<y> the \g<z> of \g<x>",
    ),
    (
        r"\b(?:with|have|has|having|had) (?:(?:both|either) )?(?P<y>(?!to\b|been\b)"
        r"(?:(?!\b(?:same|as|many|much|such)\b)[^,?])+?) as (?:an?|their"
        r"|its|the|his or her|his|her) (?P<z>[a-z-]+(?: [a-z-]+)?)(?=\W*$| and\b|,)",
        r"whose \g<z> is \g<y>",
    ),
    (r",? (?:so far|thus far|until now|till now|up to now|as of now|as yet)\b(?! as\b)", ""),
    (r"(?<=which )(?:\w+(?:, | or |, or ))+(?:any )?other (?=\w)", ""),
    (
        r"(?<!name )(?<!names )(?<!title )(?<!titles )(?<!text )(?<!description )(?<!address )\b"
        r"(?P<v>contain(?:s|ing)?) "
        r"(?=(?:an? (?!\w\b|word\b|letter\b|string\b|digit\b|number\b)|(?:the|both|any) "
        r"(?!words?\b|letters?\b|text\b|string\b|phrase\b|digits?\b)"
        r"|(?:more|less|fewer|at|over|exactly|only|no|two|three|four|five|\d+)\b)[^'\"“‘]*$)",
        "have ",
    ),
    (r"\bworst[- ]rated\b", "lowest-rated"),
    (
        r"\b(?:ongoing|going on|under way|underway|in (?:progress|operation|force|effect))"
        r"(?= (?:in|on|at|during) (?:[a-z]+ )?\d)",
        "running",
    ),
    (
        r"\b(?:(?:is|are) (?:still |currently )?(?:going on|ongoing|in progress|under way|underway)"
        r"|(?:is|are) still (?:running|outstanding|unfinished))\b",
        "have not ended yet",
    ),
    (r"\b(?:i\. ?e|e\. ?g)\.,? ", ""),
    (r"\b(?:exactly|just|precisely) (?=as (?:many|much|\w+) )", ""),
    (r"\bon (?:show|view)\b", "on display"),
    (
        r"\b(?P<x>\w+?)(?P<s>ies|e?s|)\b(?P<m>.*?\bthan )(?:that of )?(?:the|an|a) "
        r"(?P<a>average|mean|typical) (?P=x)(?:y|ies|e?s)?(?=\W*$)",
        r"\g<x>\g<s>\g<m>the average",
    ),
    (
        r"\b(?:a )?(?:higher|greater|larger|bigger) (?P<x>[\w-]+(?: [\w-]+)?) than"
        r" (?:the )?average\b",
        r"a \g<x> above the average",
    ),
    (
        r"\b(?:a )?(?:lower|smaller) (?P<x>[\w-]+(?: [\w-]+)?) than (?:the )?average\b",
        r"a \g<x> below the average",
    ),
    (
        r"\b(?:the )?(?:most (?:densely|thickly|heavily)|least (?:thinly|sparsely)) (?:populated|settled"
        r"|inhabited) (?P<n>[a-z]+)\b",
        r"the \g<n> with the highest population density",
    ),
    (
        r"\b(?:the )?(?:most (?:thinly|sparsely)|least (?:densely|thickly|heavily)) (?:populated|settled"
        r"|inhabited) (?P<n>[a-z]+)\b",
        r"the \g<n> with the lowest population density",
    ),
    (
        r",? (?:(?:along|together) with|as well as) (?:the|an?) (?=[\w-]+(?: [\w-]+)? (?:of|for) "
        r"(?:its|their|his|her|each)\b)",
        " and also the ",
    ),
    (
        rf",? (?:(?:along|together) )?with (?:{_THEIR}) (?!own\b)",
        " and also the ",
    ),
    (
        rf",? (?:and )?(?:please )?(?:also )?(?:include|including|add) (?:{_THEIR}|the) "
        r"(?!word|text|string|letter|phrase|substring)",
        " and also the ",
    ),
    (
        r"\bwhose (?P<x>[\w' -]+?) (?:is|are|was|were) (?:unknown|missing|not (?:known|recorded"
        r"|given|stated|specified"
        r"|available|listed|set)|undefined|unspecified|unrecorded|empty|blank|null)\b",
        r"without \g<x>",
    ),
    (
        r"\b(?:with|has|have|having) (?:an? )?(?:unknown|missing|unspecified|unrecorded|no"
        r" (?:known|recorded|given"
        r"|stated|specified|listed)) (?=\w)",
        "without ",
    ),
    (r"\b(?:outside of|outside)(?= (?:of )?(?:an?|any|the)? ?\w)", "not in"),
    (r"\b(?:best|top|highest|most highly|most)[- ](?P<v>paid|attended)\b", r"most \g<v>"),
    (r"\b(?:worst|lowest|least)[- ](?P<v>paid|attended)\b", r"least \g<v>"),
    (
        r"\b(?P<v>take|takes|took) (?:the )?(?P<m>longest|shortest|least|most) to\b",
        r"\g<v> the \g<m> time to",
    ),
    (r"\b(?:is|are) (?:the )?(?:quickest|fastest) to\b(?= \w+\W*$)", "takes the shortest time to"),
    (r"\b(?:is|are) (?:the )?slowest to\b(?= \w+\W*$)", "takes the longest time to"),
    (r"\b(\d|one|two|three|four|five|ten)[- ]stars? (\w+)\b", r"\2 with \1 stars"),
    (r"\b(?:come|comes|came|coming) out\b", "released"),
    (
        r"\ban? (?P<e>\.[a-z]{2,6}) (?P<n>[a-z-]+(?: address)?)(?=\W*$| and\b| or\b)",
        r"\g<n> ending with '\g<e>'",
    ),
    (
        r"\b(?P<n>e-?mails?(?: address(?:es)?)?) (?:at|from|on|with) (?:the domain )?@?"
        r"(?P<d>[\w-]+(?:\.[a-z]+)+)",
        r"\g<n> ending with '@\g<d>'",
    ),
    (
        rf"\b(?:with|having|containing|have|has|contains?|that (?:have|has|contain|contains)) "
        rf"(?P<q>{_QUOTED}(?: or {_QUOTED})*)"
        r" (?:somewhere |anywhere )?in (?:the|its|their|his|her) (?P<n>[a-z]+)\b"
        r"(?! (?:name|or|and)\b)",
        r"whose \g<n> contains \g<q>",
    ),
    (r"(?:\bnot|n['’]t) (?P<v>[a-z]+) by (?:any|a single)\b", r" \g<v> by no"),
    (r"\b(?:(?:do|does|did) not|(?:do|does|did)n['’]t) (?P<v>[a-z]+) (?:even )?a single\b", r"\g<v> no"),
    (r"\b(?:has|have|had) (?:not|never) (?P<v>[a-z]+) (?:even )?a single\b", r"\g<v> no"),
    (r"\b(?P<v>can|could|may|should|must|does|did) one\b(?! of\b)", r"\g<v> you"),
    (r"\bco-?(authors?|stars?|workers?|writers?|directors?|founders?|owners?)\b", r"other \1"),
    (r"\b(?P<v>\w+ed) (?:nothing|no one|nobody|none)(?=\W*$)", r"never \g<v>"),
    (r"\bmost (?:often|frequently|commonly)\b", "the most"),
    (
        rf"{_FROM}{_DOWN} {_WHAT} to (?:the )?(?:{_UP})(?: (?P=n))?(?=\W*$)",
        r", ordered by \g<n> in descending order",
    ),
    (
        rf"{_FROM}{_UP} {_WHAT} to (?:the )?(?:{_DOWN})(?: (?P=n))?(?=\W*$)",
        r", ordered by \g<n> in ascending order",
    ),
    (rf"{_ORDERED}{_DOWN} to (?:the )?{_UP} {_WHAT}(?=\W*$)", r", ordered by \g<n> in descending order"),
    (rf"{_ORDERED}{_UP} to (?:the )?{_DOWN} {_WHAT}(?=\W*$)", r", ordered by \g<n> in ascending order"),
    (
        r"(?P<a>^(?:how|what|give|tell|show)\b.*?) (?:measured |expressed )?in (?:square |sq\.? )?"
        r"(?:km|kms|kilomet(?:er|re)s|mi|miles|met(?:er|re)s|feet|inches|hectares|acres)(?: ?2|²)?"
        r"(?=\s*[?.]*$)",
        r"\g<a>",
    ),
)
"""Words that others can be put in the place of, wherever they stand."""
_YEAR_BEHIND: Final = re.compile(
    rf"^(?i:{NOT_ASKING})(?P<a>(?:(?!\bthe\b)[^?])*\b(?!(?:in|since|before|after|until|till|by|to|and|or"
    r"|than|least|most|exactly|of|year|from|during|over|above|below|under|is|was|number|code|id|no|early"
    r"|late|around|for|season|version|model|edition|room)\b)[a-z]{3,}) (?P<y>(?:19|20)\d\d)\W*$"
)
"""Key words with a year behind them: "cancelled concerts 2022"."""
_YES_OR_NO: Final = re.compile(r"(?i)^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|how)\b")
_MEASURED: Final = re.compile(
    r"(?i)(?<=\w )(?:(?P<of>(?:that|which|who) )?(?P<be>is|are|was|were) )?"
    r"(?:(?P<c>over|under|above|below|between|from|at least|at most|(?:more|less) than|no (?:more|less) than"
    r"|up to|exactly) )?(?P<n>\d[\d.,]*)(?: ?(?:and|to|-|–) ?(?P<m>\d[\d.,]*))?"
    r"(?P<u> (?!and\b|or\b)[a-zµ²]+)? (?P<a>long|wide|high|tall|deep|thick|heavy)\b"
)
"""A measure with an adjective behind it: "between 180 and 250 metres long"."""


def _with_measure(match: re.Match[str]) -> str:
    noun = DIMENSIONS[match["a"].lower()][1].split()[0]
    verb = "has" if (match["be"] or "").lower() in ("is", "was") else "have"
    verb = "with" if match["of"] or not match["be"] else verb
    compared = "between" if match["m"] else match["c"] or "of"
    numbers = f"{match['n']} and {match['m']}" if match["m"] else match["n"]
    return f"{verb} a {noun} {compared} {numbers}{match['u'] or ''}"


def in_plainer_phrases(text: str) -> str:
    """Return a question in phrases that the parser reads; the same text where it needs no other.

    Example:
        >>> in_plainer_phrases("Which rivers are between 80 and 120 km long?")
        'Which rivers have a length between 80 and 120 km?'
        >>> in_plainer_phrases("What is the mean length of rivers, rounded to 2 decimal places?")
        'What is the mean length of rivers?'
    """
    text = reworded(neither(_TECHNICAL.sub("", text)), _WORDS)
    if not _YES_OR_NO.match(text):
        text = _MEASURED.sub(_with_measure, text)
    return _YEAR_BEHIND.sub(r"\g<a> in \g<y>", text)
