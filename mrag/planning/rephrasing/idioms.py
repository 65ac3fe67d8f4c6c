"""Verbs of several words, put as the one word that a graph is likelier to have: "took off", "set up"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mrag.planning.lexical.english import root

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
_IN_CHARGE: Final = re.compile(
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


def _forms() -> list[tuple[re.Pattern[str], str, tuple[str, str]]]:
    found = list[tuple[re.Pattern[str], str, tuple[str, str]]]()
    for phrase, one in _VERBS.items():
        verb, *rest = phrase.split()
        third, past, participle, going = _TENSES[verb]
        behind = " ".join(rest)
        forms = {verb: one, third: _third(one), going: _going_on(one)}
        for form, word in (*forms.items(), (past, _past(one)), (participle, _past(one))):
            pattern = re.compile(rf"(?i)\b{form} {behind}\b")
            if all(pattern.pattern != p.pattern for p, _, _ in found):
                found.append((pattern, word, (root(verb), rest[0])))
    return sorted(found, key=lambda f: -len(f[0].pattern))


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
    for pattern, word, pair in _FORMS:
        if pair not in own:
            text = _replaced(pattern, word, text)
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
