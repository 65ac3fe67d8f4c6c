"""A little grammar: articles, plurals, what part of speech a label is, whether a text asks, rewording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mrag._patterns import compile_late, compile_pattern
from mrag.language.tokens import FUNCTION_WORDS, PARTICIPLES, PREPOSITIONS, VERBS, fold

_FOREIGN = frozenset().union(*FUNCTION_WORDS.values()) - FUNCTION_WORDS["en"] | {"von"}
_PARTICIPLES: Final = frozenset(PARTICIPLES.values())


def join(parts: Sequence[str]) -> str:
    """Join parts as a sentence does.

    Example:
        >>> join(["a", "b", "c"]), join(["has x and y", "is z"])
        ('a, b and c', 'has x and y, and is z')
    """
    if len(parts) < 2:
        return "".join(parts)
    comma = "," if any(" and " in part for part in parts) else ""
    return f"{', '.join(parts[:-1])}{comma} and {parts[-1]}"


def article(noun: str) -> str:
    """Put "a" or "an" before a noun.

    Example:
        >>> article("ontology editor"), article("university"), article("RDF store"), article("SHACL shape")
        ('an ontology editor', 'a university', 'an RDF store', 'a SHACL shape')
    """
    word = re.match(r"[^\W_]+", noun) or re.match(r"", noun)
    first = word.group() if word else ""
    if first.isupper() and len(first) > 1 and (len(first) < 4 or not re.search("[AEIOU]", first[1:])):
        vowel = first[0] in "AEFHILMNORSX"  # said letter by letter
    else:
        low = first.casefold()
        vowel = low[:1] in tuple("aeiou") and not re.match(r"(?:uni(?!n)|use|eu|one|ur[aeiou])", low)
        vowel = vowel or low.startswith(("hour", "honest", "heir"))
    return f"{'an' if vowel else 'a'} {noun}"


def relation(label: str, several: bool) -> tuple[str, str]:
    """Return what part of speech a predicate's label is, and how it goes on after its subject."""
    parts = label.split()
    low = [part.casefold() for part in parts]
    if not parts or not label.isascii() or low[0] in _FOREIGN or low[-1] in _FOREIGN:
        return "foreign", label
    if low[0] in ("has", "have"):
        rest = " ".join(parts[1:])
        if not rest or low[-1] in PREPOSITIONS:
            return "phrase", " ".join(["has", *parts[1:]])
        return "phrase", f"has the {plural(rest) if several else _one(rest)}"
    if low[0] in ("is", "was", "are", "were", "can", "must", "may", "does", "did", "had", "will"):
        return "phrase", label
    if low[0] in PREPOSITIONS:
        return "phrase", f"is {label}"
    base = low[0][:-1] if low[0].endswith("s") else low[0]
    bases = {base, low[0].removesuffix("es"), re.sub("ies$", "y", low[0])}
    if low[-1] in PREPOSITIONS:
        if low[0].endswith("s") and not low[0].endswith("ss") and bases & VERBS:
            return "phrase", label
        if low[0] in VERBS and low[0] not in _PARTICIPLES:
            return "phrase", " ".join([third_person(parts[0]), *parts[1:]])
        return "phrase", f"is {label}"
    if low[0].endswith("s") and bases & VERBS:
        return "phrase", label
    if (
        len(low) == 1
        and low[0] in VERBS
        and low[0] not in ("feature", "report", "study", "voice", "form", "rank")
    ):
        return "phrase", third_person(label)
    if len(low) == 1 and low[0].endswith("ing") and len(low[0]) > 5:
        return "phrase", f"is {label}"
    if parts[0].istitle() and not any(part[:1].isupper() for part in parts[1:]):
        label = label[:1].lower() + label[1:]
    return "noun", plural(label) if several else _one(label)


def third_person(verb: str) -> str:
    """Return the form of a verb that follows `it`."""
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")


def is_participle(label: str) -> bool:
    """Return whether a label is only the participle of a verb.

    Example:
        >>> [label for label in ("published", "sold", "speed", "located in", "date") if is_participle(label)]
        ['published', 'sold']
    """
    low = label.casefold()
    return low in _PARTICIPLES or (" " not in low and len(low) > 3 and low.endswith("ed") and low[-3] != "e")


def participle(verb: str) -> str:
    """Return the past participle of a verb in its plain form."""
    if verb in PARTICIPLES:
        return PARTICIPLES[verb]
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def as_noun(label: str, value: str) -> str:
    """Return what the value of a property is called, whose label may be a participle.

    Example:
        >>> as_noun("published", "date"), as_noun("sold", "number"), as_noun("price", "number")
        ('date published', 'number sold', 'price')
    """
    return f"{value} {label}" if is_participle(label) else label


def plural(noun: str) -> str:
    """Return the plural of a noun; one that is plural already stays as it is.

    Example:
        >>> plural("city"), plural("branch of a bank"), plural("triple stores"), plural("business")
        ('cities', 'branches of a bank', 'triple stores', 'businesses')
    """
    head, of, tail = noun.partition(" of ")
    last = head.rsplit(" ", 1)[-1]
    if not last.endswith("ss") and (last != _one(last) or last.endswith("s")):
        return noun  # already more than one
    if last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        return head[:-1] + "ies" + of + tail
    return head + ("es" if last.endswith(("s", "x", "ch", "sh")) else "s") + of + tail


def count_words(number: int, noun: str) -> str:
    """Return a number of things in words.

    Example:
        >>> count_words(1, "triple"), count_words(1200, "triple")
        ('1 triple', '1,200 triples')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def _one(noun: str) -> str:
    head, _, last = noun.rpartition(" ")
    if last.endswith("s") and not last.endswith(("ss", "us", "is", "series", "news")):
        single = fold(last)
        if single != last.casefold() and len(single) > 2:
            last = last[: len(single)] if last.casefold().startswith(single) else single
    return f"{head} {last}".strip()


def yes_or_no(label: str, value: str) -> str:
    """Put a truth value in words.

    Example:
        >>> yes_or_no("is static", "true"), yes_or_no("open source", "false")
        ('is static', 'is not open source')
    """
    true = value.strip().casefold() in ("true", "1")
    first, _, rest = label.partition(" ")
    if first.casefold() in ("is", "was", "has", "can", "are", "does", "may", "must"):
        if first.casefold() == "has" and not true:
            return f"has not {rest}"
        return label if true else f"{first} not {rest}"
    return f"is {label}" if true else f"is not {label}"


_MARKS: Final = ("?", "？", "؟", "⁇")
_FIRST: Final = compile_late(
    r"\W*(?:(?:in|on|at|to|from|by|of|for|with|about|since|until|von|zu|mit|bei|seit|aus|an|auf)\s+)?"
    # English, then German.
    r"(?:which|what|who|whom|whose|where|when|why|how"
    r"|is|are|was|were|does|do|did|has|have|had|can|could|will|would|should"
    r"|welche[rsmn]?|wer|wem|wen|wessen|wo|wohin|woher|wann|warum|wieso|wie|wieviele?"
    r"|ist|sind|war|waren|hat|haben|hatte|hatten|gibt)\b",
    re.IGNORECASE,
)


def asks(text: str) -> bool:
    """Return whether a text is a question: by the mark at its end, or by its first word in English or German.

    Example:
        >>> [asks(text) for text in ("who wrote Dune", "a man in a red hat", "Pourquoi pas ?")]
        [True, False, True]
    """
    return text.rstrip().endswith(_MARKS) or _FIRST.match(text) is not None


_IMAGE: Final = r"(?:picture|image|photo|photograph)s?"
_SOME: Final = (
    r"(?:(?:a|an|the|some|all|any|more|few|several|every|other|of|\d+|one|two|three|four|five|ten)\s+)*+"
)
_SHOWING: Final = (
    r"(?:of|with|where|in\s+which|showing|depicting|containing|featuring|including|displaying|having|"
    r"(?:(?:that|which)\s+)?(?:shows?|depicts?|contains?|displays?|features?|includes?|has|have|is|are|looks?)"
    r"(?:\s+(?:of|with|like))?)"
)
_ASKED: Final = compile_pattern(
    r"(?:please\s+)?(?:(?:can|could|would)\s+(?:you|i|we)\s+)?(?:please\s+)?(?:i\s+(?:want|would\s+like)\s+)?"
    r"(?:to\s+)?(?:show|find|give|get|see|display|list|search|look)\s+(?:(?:me|us|for|at)\s+)*"
    rf"{_SOME}{_IMAGE}\b(?:\s+{_SHOWING}\b)?"
    rf"|(?:which|what|{_SOME})\s*{_SOME}{_IMAGE}\s+{_SHOWING}\b",
    re.IGNORECASE,
)


def wish_of(question: str) -> str | None:
    """Return what the images that a question asks for are to show, None if it does not ask for images."""
    match = _ASKED.match(question.strip())
    return None if match is None else question.strip()[match.end() :].strip(" ?.!")
