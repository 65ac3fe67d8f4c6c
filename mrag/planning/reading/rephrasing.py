"""A question in the words that the parser reads: each way of asking is put as a plainer one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from mrag.language.grammar import is_participle, plural, reworded, rules
from mrag.language.possessive import compile_late
from mrag.language.tokens import VERBS, alike, content, singular, stem
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import BEING, DIMENSIONS, as_one_word, positive, root
from mrag.planning.reading.derived import (
    COMPUTED,
    DerivedProperty,
    HeldNumber,
    quantities,
    stated_amounts,
    words_of,
)
from mrag.planning.reading.frame import is_superlative
from mrag.planning.reading.graph import kinds_of_people
from mrag.planning.reading.question import QuestionText, cut, rank_of
from mrag.planning.schema import PropertyInfo, Schema

_ANYBODY: Final = compile_late(
    r"(?i)^(?P<a>\W*(?:is|are|was|were|does|do|did|has|have|had|can|could)(?: there)?) "
    r"(?:anyone|anybody|someone|somebody)(?: else)?\b(?P<b>.*)$"
)
_DOING: Final = compile_late(
    r"(?i)^(?P<a>\W*)(?:is|are|was|were)(?P<b> any .+?) (?P<v>[a-z]{2,})ing\b(?P<z>.*)$"
)
_EARNERS: Final = compile_late(
    r"(?i)^\W*(?:(?:who|what) are |list |show |name |give me |find )?(?:the )?top (?P<n>\w+) earners?\b"
    r"(?P<rest>.*)$"
)
_THOSE: Final = compile_late(
    r"(?i)\b(?:everyone|everybody|anyone|anybody|all people|all the people|all those|those|people|persons) "
    r"(?=(?:who|that)\b)"
)
_HOUSE: Final = compile_late(
    r"(?i)(?P<before>\w) (?:(?:in|at|with|for|from|of) )?(?:the|our|this) "
    r"(?P<n>company|firm|organi[sz]ation|business|enterprise|league|system|shop|store|school|hospital"
    r"|university|college|library|museum|bank|hotel|office|factory|portfolio|registry)"
    r"(?=\W*$| (?:in|since|before|after|on|during)\b)"
)
_WHOSE: Final = compile_late(
    r"(?i)^\W*whose (?P<p>[\w -]+?) (?:is|are|was|were) (?P<n>(?!an?\b|of\b|in\b|more\b|less\b|not\b).+?)\W*$"
)
_HAVING: Final = compile_late(
    r"(?i)^\W*who (?:has|have|had) (?:(?:the|an?) )?(?P<p>[\w-]+(?: [\w-]+)??) "
    r"(?P<n>(?!of\b|in\b|with\b|and\b|than\b|who\b|that\b|called\b|named\b).+?)\W*$"
)
_WITH: Final = compile_late(
    r"(?i)^\W*who (?:(?:has|have|had) (?:an?|(?P<no>no))"
    r"|(?P<not>(?:does|did)(?: not|n['’]t)) have (?:an?|any)) (?P<p>[\w-]+(?: [\w-]+)?)\W*$"
)
_HAS: Final = {root("has"), root("of")}


def with_people(text: str, schema: Schema) -> str:
    """Return a question for whether anybody did something, asked of the people of a graph.

    Questions of other forms are returned as they are, and so are all where there are several kinds of people.

    Args:
        text: The question.
        schema: The schema.
    """
    anybody, earners = _ANYBODY.match(text), _EARNERS.match(text)
    those = _THOSE.search(text)
    people = kinds_of_people(schema) if anybody or earners or those else []
    known = [c for c in people if not {*people} & schema.above(c)]
    if len(known) != 1:
        return text
    name = schema.classes[known[0]].names[0].lower()
    if anybody is None and those is not None:
        return f"{text[: those.start()]}{plural(name)} {text[those.end() :]}"
    if anybody is None:
        return (
            text
            if earners is None
            else f"Who are the {earners['n']} highest paid {plural(name)}{earners['rest']}"
        )
    found = f"{anybody['a']} any {name}{anybody['b']}"
    doing = _DOING.match(found)
    return found if doing is None else f"{doing['a']}Does{doing['b']} {doing['v']}{doing['z']}"


def with_those_who_have(text: str, schema: Schema) -> str:
    """Return a question for a kind of things that have something: "whose boss is Ada".

    Where people have people for something, the other end could be meant as well: the boss of Ada.

    Args:
        text: The question.
        schema: The schema.
    """
    held = _WITH.match(text)
    match = held or _WHOSE.match(text) or _HAVING.match(text)
    if match is None:
        return text
    what = ["some"] if held else match["n"].lower().split()
    if is_superlative(what[-1]) or is_participle(what[0]):
        return text
    said = {*map(root, match["p"].lower().split())}
    for info in schema.properties.values():
        named = any({*map(root, words_of(name))} - _HAS == said for name in info.names)
        if named and info.domains and info.kind in ("entity", "text"):
            kinds = set.intersection(*({c, *schema.above(c)} for c in info.domains))
            known = [schema.classes[c] for c in sorted(kinds) if c in schema.classes]
            ends = {up for c in info.ranges for up in (c, *schema.above(c))}
            if known and (info.kind == "text" or kinds & ends):
                kind = plural(min(known, key=lambda kind: kind.count).names[0].lower())
                if held is not None:
                    return f"Which {kind} have {'no' if held['no'] or held['not'] else 'a'} {match['p']}?"
                return f"Which {kind} have the {match['p']} {match['n']}?"
    return text


def without_house(text: str, schema: Schema) -> str:
    """Return a question without the firm whose graph it is, if that has no firms: "who left the company".

    Args:
        text: The question.
        schema: The schema.
    """
    match = _HOUSE.search(text)
    if match is None:
        return text
    infos = [n for i in schema.properties.values() for n in i.names]
    names = (*infos, *(n for c in schema.classes.values() for n in c.names))
    if any(root(match["n"]) in {root(w) for w in content(name)} for name in names):
        return text
    return text[: match.end("before")] + text[match.end() :]


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

_CLOSINGS: Final = compile_late(
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

_RIGHT: Final = compile_late(
    r"^\W*+(?P<claim>[^?]+?)\s*(?<![,;.–—-])[,;.–—-]++\s*(?:right|correct|true|yes|no"
    r"|true or false|is(?:n['’]?t)? (?:it|that)(?: so| right"
    r"| true| correct)?|(?:are|was|were|do|does|did|have|has)n['’]t (?:it|they|he|she)|is that"
    r" (?:right|true|correct|so))\W*$",
    _I,
)
_CLAIMED: Final = compile_late(
    r"^\W*(?:(?:is|was) it (?:really |actually |indeed )?(?:true|correct|right|a fact|the case|so"
    r"|accurate|possible)(?: to say)?"
    r"(?: that)?|true or false[:,;–—-]*|am i right (?:that|in thinking(?: that)?)|(?:whether"
    r"|if))\s+(?P<claim>.+?)\W*$",
    _I,
)
_NOT_CLAIMS: Final = compile_late(
    r"^(?:what|which|who|whom|whose|how|when|where|why|is|are|was|were|do|does|did|have|has|had|can"
    r"|could|show|list|give"
    r"|find|tell|count|return|in which|on which)\b",
    _I,
)
_THERE: Final = compile_late(r"^there (?P<verb>is|are|was|were) (?P<rest>.+)$", _I)
_SAYS: Final = compile_late(
    r"^(?P<x>(?:(?!\b(?:that|which|who|whose|if|and)\b).)+?) (?P<verb>is|are|was|were|has|have|had"
    r"|does|do|did|can) (?P<rest>.+)$",
    _I,
)
_QUANTIFIED: Final = compile_late(r"^(?:all|every|each|no|none of|most|any|some)\b", _I)
_THEN_WHICH: Final = compile_late(
    r"^\W*(?:is|are|was|were) there (?:an? |any |some )?(?P<what>.+?)[?.,;!]+\s*(?:and )?(?:if (?:so"
    r"|yes|there (?:is|are)),?"
    r"(?: then)?,? )(?:what|which|who)(?: (?:ones?|are they|is it|of them|is that|are those))?\W*$",
    _I,
)
_DONE: Final = compile_late(r"^(?:been|ever|never|not|also)\b|^\w+(?:ed|en|wn)\b", _I)


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


_TENSES: Final = {
    "take": ("takes", "took", "taken", "taking"),
    "set": ("sets", "set", "set", "setting"),
    "touch": ("touches", "touched", "touched", "touching"),
    "start": ("starts", "started", "started", "starting"),
    "hand": ("hands", "handed", "handed", "handing"),
    "drop": ("drops", "dropped", "dropped", "dropping"),
    "pass": ("passes", "passed", "passed", "passing"),
    "carry": ("carries", "carried", "carried", "carrying"),
    "pay": ("pays", "paid", "paid", "paying"),
    "call": ("calls", "called", "called", "calling"),
    "turn": ("turns", "turned", "turned", "turning"),
    "bring": ("brings", "brought", "brought", "bringing"),
    "put": ("puts", "put", "put", "putting"),
    "sign": ("signs", "signed", "signed", "signing"),
    "get": ("gets", "got", "gotten", "getting"),
    "look": ("looks", "looked", "looked", "looking"),
    "deal": ("deals", "dealt", "dealt", "dealing"),
    "make": ("makes", "made", "made", "making"),
    "close": ("closes", "closed", "closed", "closing"),
    "shut": ("shuts", "shut", "shut", "shutting"),
    "hire": ("hires", "hired", "hired", "hiring"),
    "lay": ("lays", "laid", "laid", "laying"),
    "send": ("sends", "sent", "sent", "sending"),
    "go": ("goes", "went", "gone", "going"),
    "come": ("comes", "came", "come", "coming"),
    "give": ("gives", "gave", "given", "giving"),
    "move": ("moves", "moved", "moved", "moving"),
    "write": ("writes", "wrote", "written", "writing"),
    "become": ("becomes", "became", "become", "becoming"),
    "kick": ("kicks", "kicked", "kicked", "kicking"),
}
_VERBS: Final[Mapping[str, str]] = {
    "take off": "depart", "set off": "depart", "set out": "depart", "touch down": "land",
    "set up": "found", "start up": "found", "start out": "start", "kick off": "start",
    "hand in": "submit", "turn in": "submit", "send in": "submit", "hand out": "award", "give out": "award",
    "drop out": "leave", "move out": "leave", "lay off": "dismiss",
    "close down": "close", "shut down": "close",
    "pass away": "die", "carry out": "perform", "pay off": "repay", "pay back": "repay", "call off": "cancel",
    "bring out": "release", "put out": "release", "sign up for": "enrol in", "take part in": "attend",
    "look after": "supervise", "get married to": "marry", "get married": "marry", "make up": "form",
    "deal with": "treat", "go into service": "start", "go into operation": "start", "go live": "start",
    "come into service": "start", "come into operation": "start", "come online": "start",
    "go online": "start", "come on stream": "start", "go out of business": "close",
    "go out of service": "close", "become a member": "join", "become members": "join",
    "become a member of": "join", "become members of": "join",
}  # fmt: skip
"""Verbs of several words with one that says the same."""
_PASTS: Final = {
    "leave": "left", "found": "founded", "submit": "submitted", "enrol in": "enrolled in", "die": "died",
    "marry": "married", "repay": "repaid", "cancel": "cancelled",
}  # fmt: skip
_IN_CHARGE: Final = compile_late(
    r"(?i)\b(?P<who>who|that) (?P<be>is|are|was|were) "
    r"(?:in charge of|responsible for|at the head of|at the helm of)\b"
)


def _past(verb: str) -> str:
    return _PASTS.get(verb) or (verb + "d" if verb.endswith("e") else verb + "ed")


def _third(verb: str) -> str:
    first, *rest = verb.split()
    stem = first.removesuffix("y") + "ies" if first.endswith("rry") else first + "es" * first.endswith("ss")
    return " ".join([stem if stem != first else first + "s", *rest])


def _going_on(verb: str) -> str:
    first, *rest = verb.split()
    stem = {"die": "dy", "submit": "submitt", "enrol": "enroll", "cancel": "cancell"}.get(first)
    return " ".join([(stem or first.removesuffix("e")) + "ing", *rest])


def _forms() -> list[tuple[str, str, tuple[str, str]]]:
    found: dict[str, tuple[str, str, tuple[str, str]]] = {}
    for phrase, one in _VERBS.items():
        verb, *rest = phrase.split()
        third, past, participle, going = _TENSES[verb]
        behind = " ".join(rest)
        forms = {verb: one, third: _third(one), going: _going_on(one)}
        for form, word in (*forms.items(), (past, _past(one)), (participle, _past(one))):
            said = f"{form} {behind}"
            found.setdefault(said, (said, word, (root(verb), rest[0])))
    return sorted(found.values(), key=lambda f: -len(f[0]))


_FORMS: Final = _forms()


def with_single_verbs(text: str, own: Mapping[tuple[str, str], str]) -> str:
    """Return a question with one verb in the place of several words that say the same.

    Args:
        text: The question.
        own: Verbs of two words that names of the graph have, by root and particle, which stay.

    Example:
        >>> with_single_verbs("How many planes took off from Bonn?", {})
        'How many planes departed from Bonn?'
        >>> with_single_verbs("Which clubs were set up in 1949?", {})
        'Which clubs were founded in 1949?'
        >>> with_single_verbs("Who is in charge of Apollo?", {})
        'Who manages Apollo?'
    """
    for said, word, pair in _FORMS:
        if said in text.casefold() and pair not in own:
            text = _replaced(re.compile(rf"(?i)\b{said}\b"), word, text)
    return _IN_CHARGE.sub(
        lambda m: f"{m['who']} {'manages' if m['be'].lower() in ('is', 'are') else 'managed'}", text
    )


def _replaced(pattern: re.Pattern[str], word: str, text: str) -> str:
    return pattern.sub(lambda match: _fitting(text, match, word), text)


def _fitting(text: str, match: re.Match[str], word: str) -> str:
    """Return a verb as it fits: "set up" is past or present as its neighbours have it."""
    before = text[: match.start()].lower().split()
    base = next((one for phrase, one in _VERBS.items() if match[0].lower() == phrase), None)
    if base is None or not match[0].lower().startswith(("set", "put", "shut")):
        return word
    if before and before[-1] in ("is", "are", "was", "were", "been", "being", "has", "have", "had", "got"):
        return _past(base)
    if before and (
        before[-1] in ("to", "can", "could", "will", "would") or {"do", "does", "did"} & {*before[-6:]}
    ):
        return base
    return _past(base)


_AS_MANY: Final = compile_late(
    r"(?i)(?<!twice )(?<!times )(?<!half )\bas (?:many|much) (?P<x>[a-z-]+(?: [a-z-]+)?) as (?=[^,;]+$)"
)
_MORE: Final = compile_late(
    r"(?i)\b(?P<more>more|fewer|less) (?P<x>[a-z-]+(?: [a-z-]+)?) than (?:the )?average\b(?! \w)"
)
_ALIVE: Final = compile_late(
    r"(?i)(?:,? (?:who|that|which))?(?: is| are| was| were)? ?\b(?P<not>no longer |not |n['’]t )?"
    r"(?:still (?:alive|living)|alive(?= today|\W*$))(?! (?:in|at|with|on)\b)(?: today)?"
)
_LIVING: Final = compile_late(
    r"(?i)\b(?P<how>living|dead|deceased) (?P<n>(?!was\b|is\b|does\b|has\b)[a-z]+)\b"
)
_WHOLE: Final = compile_late(
    r"(?i) (?:in|of|from|within) (?:the|our|your|this|that) (?:\w+ )?(?P<n>collection|catalogue|catalog"
    r"|database|dataset|data|inventory|archive|knowledge graph|graph|records)(?=\W|$)(?! (?:of|by|from)\b)"
)
_OWNED: Final = compile_late(
    r"(?i)^(?P<a>\W*how many .+?) (?:does|do|did) (?:the|your|our|this) (?P<n>\w+) (?P<v>own|possess)\W*$"
)
_PARENTS: Final = compile_late(r"(?i)(?<=['’]s )parents\b|\bparents(?= of\b)")
_STUDIED: Final = compile_late(r"(?i)\b(?P<be>(?:has |have |had )?)studied (?:with|under) (?=(?:the )?\w)")
_OPENED: Final = compile_late(r"(?i)\b(?P<v>opened|opens|opening)\b")
_WORTH: Final = compile_late(
    r"(?i)^\W*(?:how much|what) (?:is|are|was|were) (?P<x>.+?) worth"
    r"(?P<all> altogether| in total| together| combined)?\W*$"
)
_FULL: Final = compile_late(r"(?i)\b(?:full|complete) names?\b")
_FIRST: Final = ("first name", "forename", "given name", "firstname")
_LAST: Final = ("last name", "surname", "family name", "lastname")
_PARTS: Final = tuple(
    (compile_late(rf"(?i)\b(?:{'|'.join(forms)})(?P<s>s?)\b"), forms) for forms in (_FIRST, _LAST)
)
"""Words for the parts of a name, with all that are for the same."""
_BOTH: Final = compile_late(r"(?i)\bfirst(?: names?)? and last names?\b|\bfirst/last names?\b")
_CLOSED: Final = compile_late(r"(?i)\b(?P<be>is|are|was|were) closed\b|\bclosed (?P<n>[a-z]+s)\b")
_ENDED: Final = compile_late(
    r"(?i)\b(?:ended(?: up)?|ends? up) (?:being|as|with|in) (?:an? )?"
    r"(?!time\b|the\b|date\b|\d|more\b|less\b)"
)
_SHARED: Final = compile_late(
    r"(?i)\b(?:is|are|was|were) (?P<v>shared|held|possessed|spoken) by "
    r"(?=(?:more|less|fewer|at|exactly|only|the (?:most|fewest|largest|smallest|highest|lowest)"
    r"|no|two|three|four|five|\d+)\b)"
)
_ROOM: Final = compile_late(
    r"(?i)\b(?:can|could|may) (?P<v>accommodate|hold|seat|fit)"
    r"(?P<how> the (?P<most>most|fewest|least)(?: number of)?"
    r"| (?:more than|less than|fewer than|at least|at most|over|under|up to|exactly) \d[\d,.]*)"
    r"(?: [a-z]+)?(?=\W*$| and\b| in\b)"
)
_NUMBERED: Final = compile_late(
    r"(?i)\b(?P<p>[a-z]+(?: [a-z]+)?) (?P<n>\d+(?:\.\d+)?) (?P<c>(?:[a-z]+ )?[a-z]+s)\b"
)
_EXTREME: Final = compile_late(
    r"(?i)\b(?:(?P<be>is|are|was|were) )?(?:the )?(?P<more>most|least) (?P<adj>[a-z]{4,})"
    r"(?: (?P<n>(?!of\b|in\b|among\b)[a-z]+(?: (?!of\b|in\b|among\b|that\b|with\b)[a-z]+)?))?"
    r"(?=\W*$| (?:of|in|among|that|with)\b)"
)
_QUALITY: Final = ("ence", "ency", "ance", "ancy", "ity", "ness")
"""Endings of nouns for how much of an adjective something is."""
_KNOWN_HAVING: Final = frozenset(map(root, "own owner possess hold belong keep property".split()))


def as_known(text: str, schema: Schema) -> str:
    """Return a question in the words that a graph has names for; the same text where it needs no other.

    Args:
        text: The question.
        schema: The schema.
    """
    names = _roots(schema)
    text = _MORE.sub(lambda m: _beside_average(m, schema), text)
    text = _AS_MANY.sub(lambda m: _as_many(m, schema), text)
    if not {root("alive"), root("living")} & names and (dead := _dated(schema, "death", "died", "deceased")):
        text = _ALIVE.sub(lambda m: f" with a {dead}" if m["not"] else f" without a {dead}", text)
        text = _LIVING.sub(lambda m: _living(m, schema, dead), text)
    for match in reversed(list(_WHOLE.finditer(text))):
        if root(match["n"].split()[-1]) not in names:
            text = text[: match.start()] + text[match.end() :]
    owned = _OWNED.match(text)
    if owned is not None and not _KNOWN_HAVING & names:
        text = f"{owned['a']} are there?"
    if root("studied") not in names and root("student") in names:
        text = _STUDIED.sub("was a student of ", text)
    if root("opened") not in names and _dated(schema, "start", "started", "begin"):
        text = _OPENED.sub("started", text)
    if (both := _first_and_last(schema)) and {root("full"), root("complete")}.isdisjoint(names):
        text = _BOTH.sub(both, _FULL.sub(both, text))
    labels = _labels(schema)
    for pattern, forms in _PARTS:
        if len(called := {form for form in forms if form in labels}) == 1:
            text = pattern.sub(min(called) + r"\g<s>", text)
    if root("parent") not in names and {root("father"), root("mother")} <= names:
        text = _PARENTS.sub("father and mother", text)
    if root("closed") not in names and any(
        i.flag and "open" in words_of(i.names[0]) for i in schema.properties.values()
    ):
        text = _CLOSED.sub(
            lambda m: f"{m['be']} not open" if m["be"] else f"{m['n']} that are not open", text
        )
    if root("end") not in names:
        text = _ENDED.sub("were ", text)
    text = _SHARED.sub(lambda m: m[0] if root(m["v"]) in names else "have ", text)
    room = [i for i in _numbers(schema) if "capacity" in words_of(i.names[0])]
    if len(room) == 1:
        text = _ROOM.sub(lambda m: m[0] if root(m["v"]) in names else _with_room(m, room[0]), text)
    text = _EXTREME.sub(lambda m: _by_quality(m, schema), _NUMBERED.sub(lambda m: _numbered(m, schema), text))
    worth = _WORTH.match(text)
    if worth is not None and root("worth") not in names and (value := _value(schema)):
        text = f"What is the {'total ' if worth['all'] else ''}{value} of {worth['x']}?"
    return text


def _with_room(match: re.Match[str], info: PropertyInfo) -> str:
    """Return that things have a capacity, of what they "can hold"."""
    if match["most"]:
        return f"has the {'highest' if match['most'].lower() == 'most' else 'lowest'} {info.names[0]}"
    return f"have a {info.names[0]} of{match['how']}"


def _first_and_last(schema: Schema) -> str:
    """Return the names of the properties that a full name is told by; "" where there are none."""
    called = [(_label(info), info) for info in schema.properties.values()]
    lasts = [info for label, info in called if label in _LAST]
    for first in (info for label, info in called if label in _FIRST and lasts):
        for last in lasts:
            if {*first.domains} & {*last.domains}:
                return f"{first.names[0]} and {last.names[0]}"
    return ""


def _label(info: PropertyInfo) -> str:
    return info.names[0].lower().replace("_", " ")


def _labels(schema: Schema) -> set[str]:
    return {_label(info) for info in schema.properties.values()}


def _roots(schema: Schema) -> set[str]:
    """Return the roots of the words that classes and properties are called by."""
    names = [n for c in schema.classes.values() for n in c.names]
    names += [n for p in schema.properties.values() for n in p.names]
    return {root(w) for name in names for w in words_of(name)}


def _as_many(match: re.Match[str], schema: Schema) -> str:
    """Return that a number is the same, where the graph has one; things are counted elsewhere."""
    said = {root(w) for w in content(match["x"])}
    named = (
        {root(w) for w in content(name)} - {root("number")} for i in _numbers(schema) for name in i.names
    )
    return f"the same {match['x']} as " if any(said == words for words in named) else match.group()


def _beside_average(match: re.Match[str], schema: Schema) -> str:
    """Return a number that is above or below the average, unless things of a kind are counted."""
    said = {root(w) for w in content(match["x"])}
    kinds = ({root(w) for w in content(name)} for c in schema.classes.values() for name in c.names)
    if any(said == kind for kind in kinds):
        return match.group()
    return f"a {match['x']} {'above' if match['more'].lower() == 'more' else 'below'} the average"


def _numbers(schema: Schema) -> Iterable[PropertyInfo]:
    return (i for i in schema.properties.values() if i.kind == "number")


def _numbered(match: re.Match[str], schema: Schema) -> str:
    """Return things with a number that stands before them: "phase 3 trials"."""
    said = f" {match['p'].lower()}"
    for info in _numbers(schema):
        kinds = (name for c in info.domains if c in schema.classes for name in schema.classes[c].names)
        if said.endswith(f" {_label(info)}") and root(match["c"].split()[-1]) in {
            root(k.split()[-1]) for k in kinds
        }:
            before = match["p"][: len(match["p"]) - len(_label(info))]
            return f"{before}{match['c']} with {_label(info)} {match['n']}"
    return match.group()


def _by_quality(match: re.Match[str], schema: Schema) -> str:
    """Return what has most or least of a quality that a number tells: "the most prevalent disease"."""
    adjective = stem(match["adj"].lower())
    said = {adjective, adjective.removesuffix("t") + "c"}  # potent, potency
    found = [
        word for info in _numbers(schema) for name in info.names[:1] for word in words_of(name)
        if word.endswith(_QUALITY) and any(alike(stem(word), one) for one in said)
    ]  # fmt: skip
    if len(set(found)) != 1 or positive(match["adj"]) or not (match["be"] or match["n"]):
        return match.group()
    way = "highest" if match["more"].lower() == "most" else "lowest"
    if not match["n"]:
        return f"has the {way} {found[0]}"
    return f"{match['be'] or ''} the {match['n']} with the {way} {found[0]}".strip()


def _living(match: re.Match[str], schema: Schema, dead: str) -> str:
    """Return that somebody has no date of death, or has one: "living artists", "the oldest living person"."""
    kinds = {root(name) for info in schema.classes.values() for name in info.names}
    if not (match["n"].endswith("s") or root(match["n"]) in kinds):
        return match.group()
    return f"{match['n']} {'without' if match['how'].lower() == 'living' else 'with'} a {dead}"


def _dated(schema: Schema, *words: str) -> str:
    """Return the name of the only property of dates or years with one of some words; "" for none."""
    meant = {*map(root, words)}
    found = [
        i.names[0] for i in schema.properties.values()
        if (i.kind == "date" or "year" in i.names[0].lower()) and meant & {*map(root, words_of(i.names[0]))}
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""


def _value(schema: Schema) -> str:
    """Return the name of the only number that is called a value; "" if there are others, or none."""
    held = {i.number for i in schema.properties.values() if isinstance(i, HeldNumber)}
    found = [
        i.names[0] for i in _numbers(schema)
        if i.iri not in held and words_of(i.names[0])[-1] in ("value", "worth")
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""


_THEM: Final = r"(?:it|they|each(?: of them| one)?|every one|he or she|she or he|he|she)"
_TIME: Final = compile_late(
    r"(?i)(?:,? (?:and|with|together with|along with|as well as)|,) "
    r"the (?:year|date|day|month|time|moment) (?:(?:in|on|at|of|since) which|when|that) "
    rf"(?P<clause>{_THEM} (?:was|were|is|are) \w+)(?=\W*$|[,.;?!]| and\b)"
)
_PLACE: Final = compile_late(
    r"(?i)\b(?P<joins>and|with|together with|along with|as well as) the (?P<n>[\w-]+(?: [\w-]+)?) "
    rf"(?:(?:in|at|on|to|for|from|by|under|with) which|where|that|who|whom) {_THEM} "
    r"(?:(?:is|are|was|were|has been|have been|has|have|had|do|does) )?\w+(?: (?:to|in|at|for|with|from|on))?"
    r"(?=\W*$|[,.;?!]| and\b)"
)
_RANKED: Final = compile_late(
    r"(?i)^\W*(?:please )?(?:rank|order|sort) (?:all )?(?:of )?(?:the )?(?P<x>[\w-]+(?: [\w-]+)?) by "
    r"(?:the |their )?(?P<n>(?:average|mean|total|median|sum of|number of|count of|minimum|maximum|highest"
    r"|lowest|combined) .+?)"
    r"(?P<first>,? (?:from (?:the )?)?(?:highest|lowest|largest|smallest|most|fewest|best|worst|greatest"
    r"|least|in (?:a|de)scending order|descending|ascending)\b.*?)?\W*$"
)
_THEIR: Final = compile_late(r"(?i)\btheir\b")


def with_their_own(text: str) -> str:
    """Return a question with what clauses say to show in fewer words; the same text where there are none.

    Example:
        >>> with_their_own("List the shops together with the city in which they are located.")
        'List the shops together with their city.'
        >>> with_their_own("List the shops, with the year in which each was opened.")
        'List the shops and when each was opened.'
    """
    text = _TIME.sub(r" and when \g<clause>", text)
    return _PLACE.sub(r"\g<joins> their \g<n>", text)


def ranked(text: str) -> str:
    """Return a request to rank things by a number of each as one for that number; others as they are.

    Example:
        >>> ranked("Rank the shops by the average price of their goods.")
        'For each shop, show the average price of its goods, highest first.'
    """
    match = _RANKED.match(text)
    if match is None:
        return text
    *before, last = match["x"].split()
    thing = " ".join([*before, singular(last)])
    number = _THEIR.sub("its", match["n"])
    return f"For each {thing}, show the {number}{match['first'] or ', highest first'}."


_PEOPLE: Final = (
    r"people|persons|guests|visitors|spectators|passengers|viewers|attendees|fans|travellers|travelers"
    r"|customers"
)
_HOLDING: Final = (
    r"hold|seat|fit|accommodate|sleep|take|carry|contain|host|handle|welcome|admit|house|transport"
)
_WITH_ROOM: Final = r"(?:have|has|with|offers?|provides?|having) (?:room|space|seats|seating|places|beds) for"
_COMING: Final = (
    r"attend|visit|come to|came to|go to|went to|watch|see|saw|turned up at|turn up at|show up at"
)
_NUMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "held": ("capacity", "seats", "seating", "places", "beds", "passengers"),
    "come": ("attendance", "visitors", "spectators", "audience", "attendees", "turnout", "viewers"),
}
"""What the numbers of people are called that something holds, and of those who come."""

_HOLDS: Final = compile_late(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>(?:{_PEOPLE})|\w+) "
    r"(?P<may>can|could|does|do|did|will|would|may) (?P<x>(?:(?!\b(?:than)\b).)+?) "
    rf"(?:{_HOLDING})(?P<z>\W*| at most\W*| (?:in total|altogether|together)\W*)$"
)
_FITS: Final = compile_late(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>{_PEOPLE}) (?:can |could |will )?(?:be )?(?:fit|go|sit"
    rf"|stay|sleep|live|travel"
    r"|seated|accommodated|housed|carried|placed)(?:s)?(?: in| into| inside| on| at| aboard| by)+"
    r" (?P<x>.+?)(?P<z>\W*)$"
)
_CAME: Final = compile_late(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>{_PEOPLE}) (?:have |had )?(?:(?:{_COMING})(?:ed)?|were"
    rf" (?:at|in)|came to) "
    r"(?P<x>.+?)(?P<z>\W*)$"
)
_MOST: Final = compile_late(
    rf"(?i)^(?P<a>\W*(?:which|what|in which|the) .+?) (?:that )?(?:(?:can |could )?(?P<held>{_HOLDING})s?"
    rf"|(?:is|was|were|are) (?P<come>attended|visited|watched|seen) by) (?:the )?(?P<most>most|fewest|least) "
    rf"(?:number of )?(?:{_PEOPLE})(?P<z>.*)$"
)
_MEASURED_MORE: Final = compile_late(
    rf"(?i)^(?P<a>\W*how many (?:more|fewer)) (?:{_PEOPLE}) (?P<b>(?:can|could|does|do|did) .+?)"
    rf" (?:{_HOLDING})"
    rf"(?P<z>\s+than\b.+)$"
)
_THAN: Final = compile_late(
    rf"(?i)^(?P<a>.+?) (?P<that>that |which |who )?(?:can |could )?(?:(?:{_HOLDING})s?|{_WITH_ROOM}) "
    rf"(?P<b>(?:more than"
    rf"|less than"
    rf"|fewer than|at least|at most|over|under|up to|exactly) [\d,.]+(?: thousand| million)?)"
    rf" (?:{_PEOPLE})(?P<z>.*)$"
)
_DREW: Final = compile_late(
    r"(?i)^(?P<a>.+?) (?P<that>that |which |who )?(?:drew|draws?|attract(?:s|ed)?|pull(?:s|ed)? in) "
    r"(?:(?:the )?(?P<most>most|fewest|least)|(?P<b>(?:more than|less than|fewer than|at least|at most|over"
    r"|under"
    rf"|exactly) (?:[\d,.]+|[a-z]+)(?: thousand| million)?)) (?:{_PEOPLE})(?P<z>.*)$"
)
_MEASURED_DONE: Final = compile_late(
    r"(?i)^(?P<a>\W*(?:.*\b)?)(?:how many|(?:total )?number of) (?P<n>[a-z-]+(?: [a-z-]+)?) (?:were"
    r"|was|are|is|have been|has been|got)?"
    r" ?(?P<v>[a-z]+(?:ed|en|old|ought|ent))\b(?P<z>.*)$"
)
_BY: Final = compile_late(
    r"(?i)^(?P<a>\W*(?:list|show|give|display|return|print|rank|sort|order)\b(?: me)?(?: all)?(?: the| our)? "
    r"\w+(?: \w+){0,5}?),? by (?:their |its |the )?(?P<y>\w+(?: \w+)?)(?P<z>\W*)$"
)
_RANK: Final = compile_late(
    r"(?i)\b(?:is |are )?(?:on|in|at|of|from) the (?P<n>[a-z]+|\d+(?:st|nd|rd|th)) (?P<x>[a-z]+)\b"
)
_COUNTING: Final = frozenset(map(root, "quantity number amount count total units copies volume".split()))
_UNITS: Final = frozenset("units items copies pieces things".split())


def measured(text: str, schema: Schema) -> str | None:
    """Return a question with the name of a number in the place of words that count what it is of.

    Other questions are None.

    Args:
        text: The question.
        schema: The schema.
    """
    if (match := _MEASURED_MORE.match(text)) is not None and (held := _called(schema, "held")) is not None:
        return f"{match['a']} {held.names[0]} {match['b']} have{match['z']}"
    for pattern, kind in ((_HOLDS, "held"), (_FITS, "held"), (_CAME, "come")):
        match = pattern.match(text)
        if match is None:
            continue
        # How many it can hold is no number of those that it does.
        may = match.groupdict().get("may") in ("can", "could")
        if (_is_kind(match["n"], schema) and not may) or (info := _called(schema, kind)) is None:
            continue
        return f"{match['a']}what is the total {info.names[0]} of {match['x']}{match['z']}"
    if (match := _MOST.match(text)) is not None:
        info = _called(schema, "held" if match["held"] else "come")
        if info is not None:
            way = "highest" if match["most"].lower() == "most" else "lowest"
            return f"{match['a']} has the {way} {info.names[0]}{match['z']}"
    if (match := _DREW.match(text)) is not None and (come := _called(schema, "come")) is not None:
        if match["most"]:
            way = "highest" if match["most"].lower() == "most" else "lowest"
            return f"{match['a']} has the {way} {come.names[0]}{match['z']}"
        return f"{match['a']} {match['that'] or ''}have a {come.names[0]} of {match['b']}{match['z']}"
    if (match := _THAN.match(text)) is not None and (held := _called(schema, "held")) is not None:
        return f"{match['a']} {match['that'] or ''}have a {held.names[0]} of {match['b']}{match['z']}"
    return _listed_by(text, schema) or _ranked(text, schema) or _done(text, schema)


def _ranked(text: str, schema: Schema) -> str | None:
    """Return the question with a number in the place of a rank: "on the first floor" has the floor 1."""
    match = _RANK.search(text)
    rank = rank_of(match["n"].lower()) if match is not None else 0
    numbers = {n.lower() for i in schema.properties.values() if i.kind == "number" for n in i.names}
    if match is None or not rank or match["x"].lower() not in numbers:
        return None
    return f"{text[: match.start()]}with a {match['x']} of {rank}{text[match.end() :]}"


def _listed_by(text: str, schema: Schema) -> str | None:
    """Return the question for a list in the order of numbers or dates: "list the products by price"."""
    match = _BY.match(text)
    said = {root(w) for w in content(match["y"])} if match is not None else set()
    infos = [i for i in schema.properties.values() if i.kind in ("number", "date")]
    if match is None or not any(said <= {root(w) for w in content(n)} for i in infos for n in i.names):
        return None
    return f"{match['a']}, ordered by {match['y']}{match['z']}"


def _done(text: str, schema: Schema) -> str | None:
    """Return the question for how much was done, where that is a number of what happened: "tickets sold"."""
    match = _MEASURED_DONE.match(text)
    if match is None:
        return None
    noun, verb = {root(w) for w in content(match["n"])}, root(match["v"])
    for info in schema.properties.values():
        words = {root(w) for w in content(info.names[0])}
        if info.kind != "number" or verb not in words or not words & _COUNTING:
            continue
        for cls in sorted(info.domains):
            kind = schema.classes.get(cls)
            own = {root(w) for w in content(kind.names[0])} if kind is not None else set()
            if kind is not None and ((noun & own and noun != own) or match["n"].lower() in _UNITS):
                return f"{match['a']}What is the total {info.names[0]} of {plural(kind.names[0])}{match['z']}"
    return None


def _called(schema: Schema, kind: str) -> PropertyInfo | None:
    """Return the one number that is called as those of a kind are; None where that is not one."""
    for word in _NUMBERS[kind]:
        found = [
            i for i in _some_numbers(schema) if root(word) in {root(w) for n in i.names for w in content(n)}
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _some_numbers(schema: Schema) -> Iterator[PropertyInfo]:
    return (i for i in schema.properties.values() if i.kind == "number")


def _is_kind(noun: str, schema: Schema) -> bool:
    """Return whether a noun names things of the graph, which are counted themselves."""
    if not re.fullmatch(rf"(?i){_PEOPLE}", noun):
        return True
    said = {root(w) for w in content(noun)}
    return any(said == {root(w) for w in content(name)} for c in schema.classes.values() for name in c.names)


_AMOUNT: Final = "xqamount"
"""A word that no graph has, for the amount."""
_NOUNS: Final = frozenset(map(root, "revenue turnover sales spending value worth".split()))
_PAID: Final = r"spent|spend|spends|paid|pay|pays"
_EARNED: Final = (
    r"brought in|brings in|bring in|generated|generates?|made|makes?|earned|earns?|yielded|yields?|produced"
)
_MONEY: Final = r"money|revenue|turnover|sales|income"
_PIECES: Final = r"units|copies|pieces|items|units in total"
_SOLD: Final = r"sold|ordered|bought|purchased|shipped|delivered"
_N: Final = (
    r"(?P<bound>(?:no )?(?:more|less) than|over|under|above|below|at least|at most|exactly|between) "
    r"(?P<n>\d[\d.,]*(?: and \d[\d.,]*)?)(?: \w+)?"
)
_PERIOD: Final = r"(?P<rest>(?: (?:in|on|for|during|since|before|after) .+?)?)\W*$"
_REST: Final = r"(?P<rest>(?: .+?)?)\W*$"
_MONEY_MOST: Final = compile_late(
    rf"(?i)^(?P<who>\W*(?:who|(?:which|what) .+?)) (?:has |have |had |is |are )?"
    rf"(?:(?:{_PAID})(?: the)? (?P<m>most|least)(?: money| in total)?"
    rf"|(?:{_EARNED}|has|had)(?: the)? (?P<k>most|least) (?:{_MONEY})|worth(?: the)? (?P<l>most|least))"
    rf"{_REST}"
)
_HOW_MUCH: Final = compile_late(
    rf"(?i)^\W*(?:how much (?:money )?(?:has|have|had|did|does|do) (?P<x>.+?) (?:{_PAID})"
    r"(?: in total| altogether| overall)?"
    rf"|(?:what|how much) (?:is|was|are|were) (?P<y>.+?) worth(?: in total| altogether)?){_REST}"
)
_BOUNDED: Final = compile_late(
    rf"(?i)^(?P<who>\W*(?:who|(?:which|what|how many) .+?)) (?:that |who )?"
    rf"(?:has |have |had |is |are |was |were )?(?:{_PAID}|worth) (?:a total of )?{_N}{_PERIOD}"
)
_NOUN: Final = compile_late(
    r"(?i)(?P<fold>\b(?:total|average|overall|combined|mean) )?"
    r"\b(?:sales (?:amount|volume|revenue|value)|order value|total sales|revenues?|turnover|takings"
    r"|spendings?|expenditures?|sales(?= (?:per|by|for each|in|of|from)\b)|total value(?= of\b))\b"
)
_EACH: Final = compile_late(r"(?i) (?:per|by|for each|of each)\b")
_SO_MANY_SOLD: Final = compile_late(
    rf"(?i)^\W*how many (?:(?:{_PIECES}) of )?(?P<x>.+?) (?:have been|has been|were|was|are|did we|do we)? ?"
    rf"(?:{_SOLD})(?: in total| altogether)?{_PERIOD}"
)
_BEST_SOLD: Final = compile_late(
    r"(?i)^\W*(?:what (?:is|are|was|were)|which (?:is|are|was|were)|which|what|show|list)(?: the)? "
    r"(?:(?P<best>best|top|worst)[- ]?selling (?P<x>.+?)"
    rf"|(?P<y>.+?) (?:sells?|sold) (?:the )?(?P<m>most|best|least|fewest|worst)(?: (?:{_PIECES}))?){_PERIOD}"
)


def paid(
    text: str, schema: Schema, named: Callable[[], Collection[str]]
) -> tuple[str, dict[str, Candidate]] | None:
    """Return a question of money with one word for the amount, and what that stands for; None for others.

    Args:
        text: The question.
        schema: The schema, with the amounts that are computed.
        named: Returns the classes that the question names, and those of the things that it names.
    """
    computed = [i for i in schema.properties.values() if i.iri.startswith(COMPUTED)]
    for forms, infos, asked in (
        ((_MONEY_MOST, _BOUNDED, _HOW_MUCH, _NOUN), (*stated_amounts(schema), *computed), _money_asked),
        ((_SO_MANY_SOLD, _BEST_SOLD), quantities(schema), _sold),
    ):
        if not any(form.search(text) for form in forms):
            continue
        info = _of_all(infos, schema, named())
        said = asked(text, info, schema) if info is not None else ""
        if info is not None and said:
            return said, {_AMOUNT: Candidate("property", info.iri, 1.0, info.names[0], "exact")}
    return None


def _noun(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question with the word for an amount in the place of a noun for money; "" if it has none."""
    if _named_so(text, schema) or (match := _NOUN.search(text)) is None:
        return ""
    fold = "average " if (match["fold"] or "").lower() in ("average ", "mean ") else "combined "
    rest = text[match.end() :]
    if isinstance(info, DerivedProperty) and fold == "average ":
        # One sum for each order, and their average.
        each = " per order" if "order value" in match[0].lower() else ""
        fold = "average combined " if each or _EACH.match(rest) else fold
        rest = each + rest
    return f"{text[: match.start()]}{fold}{_AMOUNT}{rest}"


def _money_asked(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question with the word for an amount in it; "" for one that is not of money."""
    if (match := _MONEY_MOST.match(text)) is not None:
        way = "greatest" if (match["m"] or match["k"] or match["l"]).lower() == "most" else "least"
        who = _who(match["who"], info, schema)
        return who and f"{who} has the {way} sum of {_AMOUNT}{_of(match['rest'])}?"
    if (match := _BOUNDED.match(text)) is not None:
        who, bound = _who(match["who"], info, schema), f"{match['bound']} {match['n']}"
        return who and f"{who} have a combined {_AMOUNT} of {bound}{_of(match['rest'])}?"
    if (match := _HOW_MUCH.match(text)) is not None:
        whose = match["x"] or match["y"]
        each = re.match(r"(?i)(?:each|every) ", whose)
        return f"What is the combined {_AMOUNT}{' for ' if each else ' of '}{whose}{_of(match['rest'])}?"
    return _noun(text, info, schema)


def _sold(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question of how many were sold with the word for a quantity in it; "" for others."""
    if (match := _BEST_SOLD.match(text)) is not None:
        down = (match["best"] or match["m"]).lower() in ("worst", "least", "fewest")
        way, what = "least" if down else "greatest", match["x"] or match["y"]
        return f"Which {what} has the {way} sum of {_AMOUNT}{match['rest']}?"
    if (match := _SO_MANY_SOLD.match(text)) is not None and not _money_is_kind(match["x"], info, schema):
        each = re.match(r"(?i)(?:each|every) ", match["x"])
        return f"What is the combined {_AMOUNT}{' for ' if each else ' of '}{match['x']}{match['rest']}?"
    return ""


def _money_is_kind(words: str, info: PropertyInfo, schema: Schema) -> bool:
    """Return whether words name what has a quantity: how many orders were shipped is no sum of theirs."""
    said = {root(w) for w in content(words)}
    kinds = [schema.classes[c] for c in info.domains if c in schema.classes]
    return any(said == {root(w) for w in content(name)} for k in kinds for name in k.names)


def _of(rest: str) -> str:
    return re.sub(r"(?i)^ (?:on|for)\b(?! (?:each|every|which|what))", " of", rest)


def _named_so(text: str, schema: Schema) -> bool:
    """Return whether the graph has a name for what the question calls money."""
    said = {root(w) for w in content(text)} & _NOUNS
    infos = [i for i in schema.properties.values() if not isinstance(i, DerivedProperty)]
    names = [n for i in infos for n in i.names] + [n for c in schema.classes.values() for n in c.names]
    return any(said & {root(w) for w in content(n)} for n in names)


def _of_all(infos: Iterable[PropertyInfo], schema: Schema, named: Collection[str]) -> PropertyInfo | None:
    """Return the first number that is one of all that is named; None where there is none.

    The total of an order is that of its customer, but not of a product in it.
    """
    for info in infos:
        reached = _reached(info.domains, schema)
        if all(c in reached or reached & schema.above(c) for c in named):
            return info
    return None


def _reached(classes: Iterable[str], schema: Schema) -> set[str]:
    """Return the classes of things of which something of one of some classes has exactly one, and its own."""
    found, ahead = set[str](), list(classes)
    while ahead:
        cls = ahead.pop()
        if cls not in found:
            found.add(cls)
            ahead += schema.above(cls)
            links = (i for i in schema.properties.values() if i.kind == "entity" and i.functional)
            ahead += [c for i in links if cls in i.domains for c in i.ranges]
    return found


def _who(said: str, info: PropertyInfo, schema: Schema) -> str:
    """Return whom a question asks for, with a name for "who"; "" if those are several kinds of people."""
    if said.strip().lower() != "who":
        return said
    known = set(kinds_of_people(schema)) & _reached(info.domains, schema)
    people = sorted(c for c in known if not known & schema.above(c))
    return f"Which {plural(schema.classes[people[0]].names[0])}" if len(people) == 1 else ""


_NEITHER: Final = compile_late(
    r"(?i)\b(?P<v>[a-z]+)(?P<p> (?:in|on|at|through|to|from|with|by|for|into|of))? neither "
    r"(?P<x>(?:(?!\b(?:or|and|but)\b)[^,;])+?),? nor (?P<y>(?:(?!\b(?:or|and|but)\b)[^,;])+?)(?=\W*$)"
)
_HAVE: Final = frozenset("has have had with".split())
_SAID: Final = frozenset(map(root, VERBS)) | frozenset("made won got grown drawn written taken".split())
_BEFORE_NOUNS: Final = compile_late(r"(?i)(?:^|\b(?:which|what|all|the|any|list|show|many|every|each))\W*$")
_PLURALS: Final = compile_late(r"[a-z]+s(?: [a-z]+s)?")


def neither(text: str) -> str:
    """Return a question that denies two things as two denials; others as they are.

    Example:
        >>> neither("Which states border neither Kent nor Fife?")
        'Which states do not border Kent or Fife?'
        >>> neither("Which halls have neither a bar nor a stage?")
        'Which halls have no a bar and have no a stage?'
        >>> neither("Which states neither border Kent nor Fife?")
        'Which states do not border Kent and do not border Fife?'
    """
    return _NEITHER.sub(_denied, text)


def _denied(match: re.Match[str]) -> str:
    v, x, y = match["v"] + (match["p"] or ""), match["x"], match["y"]
    word = match["v"].lower()
    if word in BEING:
        return f"{v} not {x} and {v} not {y}"
    if word in _HAVE and not match["p"]:
        return f"{v} no {x} and {v} no {y}"
    if _is_verb(word) and not match["p"] and _PLURALS.fullmatch(x) and _PLURALS.fullmatch(y):
        return f"{v} no {x} and {v} no {y}"  # kinds of things
    is_first = _BEFORE_NOUNS.search(match.string[: match.start()])
    if match["p"] and not _is_verb(word) and is_first:
        return f"{match['v']} that are not{match['p']} {x} or{match['p']} {y}"
    if _is_verb(word) or match["p"]:
        return f"do not {v} {x} or {y}"
    first, _, rest = x.partition(" ")
    if not rest or not _is_verb(first.lower()):
        return match.group()
    again = y if _is_verb(y.split()[0].lower()) else f"{first} {y}"
    return f"{v} do not {x} and do not {again}"


def _is_verb(word: str) -> bool:
    return root(word) in _SAID or word in _SAID or (word.endswith("ed") and len(word) > 4)


_VALUE: Final = "xqvalue"
"""A word that no graph has, for the value that was measured."""
_FOLDED: Final = frozenset(
    "average mean highest lowest maximum minimum max min total greatest smallest".split()
)
_OBSERVED_LAST: Final = frozenset("latest last current newest".split())


def observed(
    text: str, mentions: Callable[[QuestionText], Sequence[NameMention]], schema: Schema
) -> tuple[str, dict[str, Candidate]] | None:
    """Return a question for values that were measured with one word for them; None for other questions.

    Args:
        text: The question.
        mentions: Returns what the words of a question may name.
        schema: The schema.

    Returns:
        The question, and what the word stands for.
    """
    question = cut(text)
    folds = {n + 1 for n, word in enumerate(question.low) if word in _FOLDED | _OBSERVED_LAST}
    named = [m for m in mentions(question) if m.start in folds] if folds else []
    best = max(named, key=lambda m: m.end, default=None)
    if best is None or best.candidates[0].kind != "entity" or best.candidates[0].score < 0.9:
        return None
    info = _measured(best.candidates[0].classes, schema)
    if info is None:
        return None
    at = best.start - 1
    words, (start, end) = question.words, (question.words[at].token.start, question.words[at].token.end)
    rest = text[words[best.start].token.start :]
    if question.low[at] in _OBSERVED_LAST:
        record = schema.classes[next(iter(sorted(info.domains)))].names[0].lower()
        text = f"{text[:start]}{_VALUE} of the last {record} of {rest}"
    else:
        text = f"{text[:end]} {_VALUE} of {rest}"
    return text, {_VALUE: Candidate("property", info.iri, 1.0, info.names[0].removeprefix("has "), "exact")}


def _measured(classes: Sequence[str], schema: Schema) -> PropertyInfo | None:
    """Return the one number that most records of things of some classes state; None if there is not one."""
    infos = schema.properties.values()
    numbers = [i for i in infos if i.kind == "number"]
    if any({*classes} & {*i.domains} for i in numbers):
        return None  # they have numbers themselves
    links = [i for i in infos if i.kind == "entity" and i.functional and {*classes} & {*i.ranges}]
    found = [
        (-link.triples, own[0].iri)
        for link in links
        if link.objects < link.triples
        if len(own := [i for i in numbers if {*i.domains} & {*link.domains}]) == 1 and own[0].functional
    ]
    found.sort()
    clear = len(found) == 1 or (len(found) > 1 and found[0][0] < 2 * found[1][0])
    return schema.properties[found[0][1]] if clear else None


_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1[5-9]|20)\d\d"
_FROM: Final = r"(?:between|from)(?: the)?"
_TO: Final = r"(?:and|to|until|till|through|-|–)(?: the)?"

_RANGES: Final = rules(
    # between 10 and 20 May 2024
    (
        rf"\b(?:{_FROM} )?(?P<a>{_DAY}) ?{_TO} ?(?P<b>{_DAY})(?: of)? (?P<m>{_MONTH})(?P<y>,? "
        rf"{_YEAR})?\b",
        r"between \g<a> \g<m>\g<y> and \g<b> \g<m>\g<y>",
    ),
    # between May 10 and 20, 2024
    (
        rf"\b(?:{_FROM} )?(?P<m>{_MONTH}) (?P<a>{_DAY}) ?{_TO} ?(?P<b>{_DAY})(?P<y>,? {_YEAR})?\b(?! "
        rf"{_MONTH})",
        r"between \g<m> \g<a>\g<y> and \g<m> \g<b>\g<y>",
    ),
    # between 28 April and 3 May 2024, between January and March 2024
    (
        rf"\b{_FROM} (?P<a>(?:{_DAY}(?: of)? )?{_MONTH}|{_MONTH} {_DAY}) {_TO} "
        rf"(?P<b>(?:{_DAY}(?: of)? )?{_MONTH}|{_MONTH} {_DAY})(?P<y>,? {_YEAR})\b",
        r"between \g<a>\g<y> and \g<b>\g<y>",
    ),
    # between 6 and 9 pm
    (
        rf"\b{_FROM} (?P<a>\d{{1,2}}(?::\d\d)?) {_TO} (?P<b>\d{{1,2}}(?::\d\d)? ?(?P<h>[ap])\.?m\b\.?)",
        r"between \g<a> \g<h>m and \g<b>",
    ),
)


_OVER: Final = r"(?P<a>\b(?:than|over|under|above|below|least|most|within|of|to)) "
_SINGLE: Final = rules(
    (r"\bhalf an hour\b", "30 minutes"),
    (r"\ban hour and a half\b|\bone and a half hours\b", "90 minutes"),
    (r"\bhalf a year\b", "6 months"),
    (
        rf"{_OVER}an? (?P<u>year|month|week|day|hour|minute|kilo|kilogram|ton|mile|(?:kilo)?met(?:er|re))"
        r"\b",
        r"\g<a> 1 \g<u>",
    ),
)
"""Measures of one of a unit, or of half of it."""


def with_both_ends(text: str) -> str:
    """Return a question in which each end of a range has what both share, and measures are in numbers.

    Example:
        >>> with_both_ends("Who stayed between 10 and 20 May 2024?")
        'Who stayed between 10 May 2024 and 20 May 2024?'
        >>> with_both_ends("sales from January to March 2023")
        'sales between January 2023 and March 2023'
        >>> with_both_ends("between May 3 and June 5, 2024")
        'between May 3, 2024 and June 5, 2024'
        >>> with_both_ends("stays longer than a week")
        'stays longer than 1 week'
        >>> with_both_ends("boats between 10 and 20 metres")
        'boats between 10 and 20 metres'
    """
    text = reworded(text, _SINGLE)
    for pattern, words in _RANGES:
        text, found = pattern.subn(words, text)
        if found:
            return text
    return text


NUMBERS_OF_VERBS: Final[Mapping[str, str]] = {
    "earn": "earnings", "weigh": "weight", "last": "duration", "live": "age", "take": "duration",
    "make": "earnings", "charge": "price", "sell for": "price", "get paid": "pay", "score": "score",
    "run": "duration", "measure": "length",
}  # fmt: skip
"""What the number is called that a verb is said of, where it is not called like the verb."""
_OF_ADJECTIVES: Final[Mapping[str, str]] = {"late": "delay", "old": "age", "young": "age"}
"""What a number is called first that an adjective measures, where it is not that of what is most so."""
_DO: Final = r"(?:do|does|did)"
_BE: Final = r"(?:is|are|was|were)"
_HOW: Final = compile_late(
    rf"(?i)^\W*(?P<first>on average,? )?how (?P<adj>[a-z]+) {_BE} (?P<x>.+?)(?P<last>,? on average)?\W*$"
)
_MUCH: Final = compile_late(
    rf"(?i)^\W*(?P<first>on average,? )?how (?:much|long|many \w+) {_DO} (?P<x>.+?) "
    r"(?P<v>earn|weigh|last|live|take|make|charge|sell for|get paid|score|run|measure|cost|pay)"
    r"(?P<last>,? on average)?(?P<z> (?:in|at|for|per) .+?)?\W*$"
)
_ABOVE: Final = compile_late(
    r"(?i)\b(?P<have>has|have|had|with|whose|where the|where their|where its) (?P<a>an? |the )?"
    r"(?P<x>[a-z]+(?: [a-z]+)?) (?P<be>(?:is|are|was|were|lies|lie) )?"
    r"(?P<rel>above|below|over|under|beyond|(?:more|less|higher|lower|greater|larger|smaller|longer"
    r"|shorter) than) "
    r"(?:the )?average(?= (?:and|but|or|who|that|which|ordered|sorted)\b|,)"
)


_FURTHER: Final = compile_late(
    rf"(?i)^\W*(?:by )?how (?:much|many \w+) (?P<first>\w+er )?{_BE} the (?P<adj>\w+est) (?P<x>.+?) "
    rf"(?:\w+er )?than the "
    r"(?:\w+est)(?: ones?)?(?P<z> .+?)?\W*$"
)


def with_average_named(text: str, schema: Schema) -> str:
    """Return a question for an average with the name of the number; the same text where none is asked for.

    Args:
        text: The question.
        schema: The schema.

    Example:
        >>> with_average_named("How much do goats weigh on average?", Schema({}, {}, ()))
        'What is the average weight of goats?'
        >>> with_average_named("Who has a salary above the average and lives in Ulm?", Schema({}, {}, ()))
        'Who has a salary above the average salary and lives in Ulm?'
    """
    how, much = _HOW.match(text), _MUCH.match(text)
    if how is not None and how["adj"].lower() == "late" and _number("late", schema) == "delay":
        mean = "average " if how["first"] or how["last"] else ""
        return f"What is the {mean}delay of {how['x']}?"
    if how is not None and (how["first"] or how["last"]) and (plain := positive(how["adj"])) is not None:
        return f"What is the average {_number(plain, schema)} of {how['x']}?"
    if much is not None and (much["first"] or much["last"]):
        verb = much["v"].lower()
        where = much["z"] or ""
        return f"What is the average {NUMBERS_OF_VERBS.get(verb, verb)} of {much['x']}{where}?"
    if (apart := _FURTHER.match(text)) is not None and (plain := positive(apart["adj"])) is not None:
        number = _number(plain, schema)
        return f"What is the difference between the highest and the lowest {number} of {plural(apart['x'])}?"
    return _ABOVE.sub(lambda m: f"{m[0]} {m['x']}", text)


def _number(adjective: str, schema: Schema) -> str:
    """Return the name of the number that an adjective measures, as the graph has it."""
    nouns = [*_OF_ADJECTIVES.get(adjective, "").split(), *DIMENSIONS[adjective][1].split()]
    numbers = [i for i in schema.properties.values() if i.kind == "number"]
    for noun in nouns:
        for info in sorted(numbers, key=lambda i: i.iri):
            if any(root(noun) in {root(w) for w in content(name)} for name in info.names):
                return noun
    return nouns[0]


_DOWN = r"(?:best|highest|most|largest|biggest|greatest|latest|newest|most recent|heaviest|longest)"
_UP = r"(?:worst|lowest|least|fewest|smallest|earliest|oldest|lightest|shortest)"
_WHAT = r"(?P<n>(?!to\b|by\b)[\w-]+(?: (?!to\b)[\w-]+)?)"
_PHRASES_THEIR = r"its|their|his or her|her or his|his/her|his|her"
_PHRASES_FROM = r",? ?(?:(?:ordered|sorted|ranked|starting|listed|arranged) )?(?:starting )?from (?:the )?"
_ORDERED = r",? (?:ordered|sorted|ranked|arranged) from (?:the )?"
NOT_ASKING: Final = (
    r"(?!(?:what|which|who|whom|whose|how|when|where|why|in|on|at|for|is|are|was|were|do|does|did|has|have"
    r"|list|show|give|find|name|tell|please|count|of)\b)"
)
_TECHNICAL: Final = compile_late(
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
        rf",? (?:(?:along|together) )?with (?:{_PHRASES_THEIR}) (?!own\b)",
        " and also the ",
    ),
    (
        rf",? (?:and )?(?:please )?(?:also )?(?:include|including|add) (?:{_PHRASES_THEIR}|the) "
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
        rf"{_PHRASES_FROM}{_DOWN} {_WHAT} to (?:the )?(?:{_UP})(?: (?P=n))?(?=\W*$)",
        r", ordered by \g<n> in descending order",
    ),
    (
        rf"{_PHRASES_FROM}{_UP} {_WHAT} to (?:the )?(?:{_DOWN})(?: (?P=n))?(?=\W*$)",
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
_YEAR_BEHIND: Final = compile_late(
    rf"^(?i:{NOT_ASKING})(?P<a>(?:(?!\bthe\b)[^?])*\b(?!(?:in|since|before|after|until|till|by|to|and|or"
    r"|than|least|most|exactly|of|year|from|during|over|above|below|under|is|was|number|code|id|no|early"
    r"|late|around|for|season|version|model|edition|room)\b)[a-z]{3,}) (?P<y>(?:19|20)\d\d)\W*$"
)
"""Key words with a year behind them: "cancelled concerts 2022"."""
_YES_OR_NO: Final = compile_late(r"(?i)^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|how)\b")
_MEASURED: Final = compile_late(
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


_NAME = r"(?P<x>.+?)"
_SHARE = r"(?:percentage|percent|share|proportion|fraction) of"
_END = r"\s*[?.!]*\s*$"
_WAYS_OF_ASKING: Final = rules(
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
_FORMS_MUCH: Final = compile_late(
    rf"^(?:by )?how much (?P<a>more \w+|less \w+|\w+er) (?:is|are|was|were) {_NAME} than (?P<y>.+?){_END}",
    re.IGNORECASE,
)

OF_OTHERS: Final = compile_late(
    r"(?i)\b(?:(?:all|the|any) (?:of the )?others?|the rest|combined|together|else)\b"
)
"""Words for whatever is not the first of two that are compared."""
_FORMS_MORE: Final = compile_late(
    r"(?i)^\W*how (?:many|much) (?P<a>more|fewer|less) (?P<n>[\w-]+(?: [\w-]+)?) (?:does|do|did|ha[sd]|have) "
    r"(?:the )?(?P<x>.+?)(?: have| has)? than (?:the )?(?P<y>.+?)(?: (?:does|do|has|have))?\W*$"
)


def more_than_other(text: str) -> str | None:
    """Return the question for the difference of two numbers that things have; None for other questions.

    Example:
        >>> more_than_other("How many more seats does the Orpheum have than the Plaza?")
        'What is the difference in seats between Orpheum and Plaza?'
    """
    match = _FORMS_MORE.match(text)
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
    for pattern, words in _WAYS_OF_ASKING:
        if (match := pattern.match(text)) is not None:
            return match.expand(words)
    match = _FORMS_MUCH.match(text)
    plain = None if match is None else positive(match["a"].split()[-1])
    if match is None or plain is None:
        return text
    noun = DIMENSIONS[plain][1].split()[0]
    first, second = match["x"], match["y"]
    if DIMENSIONS[plain][0] == "least" or match["a"].lower().startswith("less "):
        first, second = second, first
    return f"What is the difference in {noun} between {first} and {second}?"


def in_plain_words(text: str, schema: Schema, own: Mapping[tuple[str, str], str]) -> str:
    """Return a question in plainer words; the same text where there are none.

    Args:
        text: The question.
        schema: The schema.
        own: Verbs of two words that names of the graph have, by root and particle.

    Example:
        >>> in_plain_words("hey, which clubs were set up between 10 and 20 May 1949?", Schema({}, {}, ()), {})
        'which clubs were founded between 10 May 1949 and 20 May 1949?'
    """
    text = with_both_ends(with_single_verbs(rephrased(with_their_own(ranked(plainly(text)))), own))
    text = with_average_named(as_one_word(text, own), schema)
    return as_known(without_house(with_those_who_have(with_people(text, schema), schema), schema), schema)
