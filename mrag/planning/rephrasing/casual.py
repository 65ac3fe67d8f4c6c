"""What people say around a question: greetings, thanks, "do you know", "is it true that".

None of it says anything of the graph. It is taken away, and what is left is put as a question.
"""

from __future__ import annotations

import re
from typing import Final

from mrag.language.grammar import rules

_I: Final = re.IGNORECASE
_ASKING: Final = (
    r"what|which|who|whom|whose|how|when|where|why|in which|in what|on which|at which|from which"
    r"|by whom|whether|if"
)
_OPENINGS: Final = rules(
    (
        r"^\W*(?:hey|hi|hello|hiya|howdy|good (?:morning|afternoon|evening)|excuse me|sorry|please"
        r"|pls|plz|kindly"
        r"|quick question|just curious|i have a question|question)(?: there| all| everyone|"
        r" mrag)?[\s,.!:;–—-]+(?=\w)",
        "",
    ),
    (r"^\W*(?:ok|okay|so|well|um|hmm|now|right|alright)[,.!:;–—-]+\s*(?=\w)", ""),
    (r"^\W*(?:ok|okay) so\s+", ""),
    (
        r"^\W*(?:could|can|would|will) (?:you|u|someone|somebody|anyone|anybody) (?:please |kindly"
        r" |maybe |quickly "
        r"|perhaps |possibly )*(?:tell|show|remind|inform) (?:me|us)(?: please)?[ ,]+"
        rf"(?:about |know )?(?={_ASKING})",
        "",
    ),
    (
        r"^\W*(?:could|can|would|will) (?:you|u|someone|somebody|anyone|anybody) (?:please |kindly"
        r" |maybe |quickly "
        rf"|perhaps |possibly )*(?:say|check|confirm|verify|find out|look up|explain|work out|let"
        rf" me know) (?={_ASKING})",
        "",
    ),
    (
        r"^\W*(?:could|can|would|will) (?:you|u) (?:please |kindly |maybe |quickly )*(?=(?:tell"
        r"|show|give|list|find|get"
        r"|name|display|count|return|compute|calculate)\b)",
        "",
    ),
    (
        r"^\W*(?:(?:do|does|would|did) (?:you|u|anyone|anybody|someone|we) (?:happen to )?(?:know"
        r"|have any idea|remember)"
        r"|(?:do you have |have you (?:got )?)?any (?:idea|clue)|i(?: was|['’]m| am)? (?:just"
        r" )?wonder(?:ing)?"
        r"|i(?:['’]d| would) (?:like|love|want) to (?:know|learn|find out|see)|i (?:want|need"
        r"|have) to (?:know|find out|see)"
        r"|i (?:do not|don['’]t|dont) know|(?:please )?(?:let|lemme|remind|tell) (?:me |us"
        r" )?(?:know|see)|wondering"
        rf"|i(?:['’]m| am) (?:interested in|curious (?:about|as to)?))[ ,]*(?={_ASKING})",
        "",
    ),
    (
        r"^\W*(?:i(?:['’]m| am)|we(?:['’]re| are)) (?:looking|searching) for (?:an? |some |all )?",
        "Show ",
    ),
    (
        r"^\W*(?:i(?:['’]d| would) (?:like|love)|i (?:want|need)) to (?:know|find out|learn)"
        r" (?=the\b|its\b)",
        "What is ",
    ),
    (
        r"^\W*(?:i|we) (?:want|need|would like|['’]d like)(?: to (?:see|have|get|find))? (?!to\b"
        r"|know\b)(?:an? |some )?",
        "Show ",
    ),
    (r"^\W*i['’]d (?:like|love)(?: to (?:see|have|get|find))? (?!to\b|know\b)(?:an? |some )?", "Show "),
    (
        r"^\W*(?:gimme|give us|show us|get us|fetch(?: me)?|lemme (?:see|have)|let me (?:see|have)"
        r"|throw me)\b",
        "Show",
    ),
    (r"^\W*(?:how (?:about|bout)|what about) (?=(?:the|all|every)\b)", "Show "),
    (r"^\W*(what|where|who|when|how)s (?=\w)", r"\1 is "),
    (r"^(\W*(?:what|where|who|when|how))['’]re (?=\w)", r"\1 are "),
    (r"^\W*(?:list|write|note|jot|name) (?:out|down)\b", "List"),
    (r"^\W*(?:state|mention|indicate|specify) (?=(?:the|all|its|their)\b)", "Show "),
    (rf"^\W*(?:state|mention|indicate|specify) (?=(?:{_ASKING})\b)", ""),
    (r"^\W*wat\b", "what"),
    (r"^\W*how many percent(?:age)? of\b", "What percentage of"),
    (
        r"^\W*how (?:large|big|high) (?:a|is the) (?:share|percentage|proportion|fraction) of\b",
        "What percentage of",
    ),
)
"""Words before a question, with what is put in their place; taken away as long as there are any."""

_CLOSINGS: Final = re.compile(
    r"(?:(?<!\s)\s*+(?<![,.;!?–—-])[,.;!?–—-]+\s*|(?<!\s)\s+)(?:please|pls|plz"
    r"|thanks(?: a lot| a million| so much| in advance)?"
    r"|thank you(?: very much"
    r"| so much| in advance)?|thx|ty|cheers|many thanks|if you (?:can|could|know|please|don['’]t mind)"
    r"|if possible|by any chance"
    r"|do you know|would you know|for me|would you|can you|could you|at all|in any (?:year|month|case)"
    r"|by the way|btw|asap"
    r"|at the moment|at present|right now|these days|nowadays|to date"
    r"|on (?:file|record|(?:the|our) books)|in our (?:records?|files?|books|database|system)"
    r"|any idea|any ideas|i wonder|lol|haha)\s*[?.!]*\s*$",
    _I,
)
"""Words behind a question."""

_RIGHT: Final = re.compile(
    r"^\W*+(?P<claim>[^?]+?)\s*(?<![,;.–—-])[,;.–—-]++\s*(?:right|correct|true|yes|no"
    r"|true or false|is(?:n['’]?t)? (?:it|that)(?: so| right"
    r"| true| correct)?|(?:are|was|were|do|does|did|have|has)n['’]t (?:it|they|he|she)|is that"
    r" (?:right|true|correct|so))\W*$",
    _I,
)
_CLAIMED: Final = re.compile(
    r"^\W*(?:(?:is|was) it (?:really |actually |indeed )?(?:true|correct|right|a fact|the case|so"
    r"|accurate|possible)(?: to say)?"
    r"(?: that)?|true or false[:,;–—-]*|am i right (?:that|in thinking(?: that)?)|(?:whether"
    r"|if))\s+(?P<claim>.+?)\W*$",
    _I,
)
_NOT_CLAIMS: Final = re.compile(
    r"^(?:what|which|who|whom|whose|how|when|where|why|is|are|was|were|do|does|did|have|has|had|can"
    r"|could|show|list|give"
    r"|find|tell|count|return|in which|on which)\b",
    _I,
)
_THERE: Final = re.compile(r"^there (?P<verb>is|are|was|were) (?P<rest>.+)$", _I)
_SAYS: Final = re.compile(
    r"^(?P<x>(?:(?!\b(?:that|which|who|whose|if|and)\b).)+?) (?P<verb>is|are|was|were|has|have|had"
    r"|does|do|did|can) (?P<rest>.+)$",
    _I,
)
_QUANTIFIED: Final = re.compile(r"^(?:all|every|each|no|none of|most|any|some)\b", _I)
_THEN_WHICH: Final = re.compile(
    r"^\W*(?:is|are|was|were) there (?:an? |any |some )?(?P<what>.+?)[?.,;!]+\s*(?:and )?(?:if (?:so"
    r"|yes|there (?:is|are)),?"
    r"(?: then)?,? )(?:what|which|who)(?: (?:ones?|are they|is it|of them|is that|are those))?\W*$",
    _I,
)
_DONE: Final = re.compile(r"^(?:been|ever|never|not|also)\b|^\w+(?:ed|en|wn)\b", _I)


def plainly(text: str) -> str:
    """Return a question without what people say around it; the same text where nothing is.

    Example:
        >>> plainly("hey, could you please tell me which rivers are long? thanks!")
        'which rivers are long?'
        >>> plainly("Is it true that the Elbe is longer than the Main?")
        'Is the Elbe longer than the Main?'
        >>> plainly("The Elbe flows through Dresden, right?")
        'Is it so that The Elbe flows through Dresden?'
        >>> plainly("Are there lakes without a name? If so, which ones?")
        'Which lakes without a name?'
        >>> plainly("Which rivers are long?")
        'Which rivers are long?'
    """
    whole = text
    for _ in range(4):
        before = text
        for pattern, words in _OPENINGS:
            text = pattern.sub(words, text, count=1)
        text = _CLOSINGS.sub("?", text)
        if text == before:
            break
    if not re.search(r"\w", text):
        return whole
    if (match := _THEN_WHICH.match(text)) is not None:
        return f"Which {match['what']}?"
    match = _CLAIMED.match(text) or _RIGHT.match(text)
    return text if match is None else _asked(match["claim"].strip(), text)


def _asked(claim: str, text: str) -> str:
    """Return a claim as a question for yes or no."""
    if _NOT_CLAIMS.match(claim):
        return text
    if (there := _THERE.match(claim)) is not None:
        return f"{there['verb'].capitalize()} there {there['rest']}?"
    said = _SAYS.match(claim)
    if said is None or _QUANTIFIED.match(claim):
        return f"Is it so that {claim}?"
    verb = said["verb"].lower()
    if verb in ("has", "have", "had") and not _DONE.match(said["rest"]):
        return f"{'Do' if verb == 'have' else 'Does'} {said['x']} have {said['rest']}?"
    return f"{verb.capitalize()} {said['x']} {said['rest']}?"
