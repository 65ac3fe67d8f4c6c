"""Mends what a parser of edited prose gets wrong in captions: sentences without a finite verb.

Captions such as `paper hanging on the wall` have no finite verb, and a parser trained on news takes the noun
for a modifier of the participle. Each rule rewrites heads and labels, never words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.agreement import FormDictionary, retagged
from mrag.graphcodes.extract.parsed import ParsedSentence, ParsedWord
from mrag.graphcodes.extract.phrases import phrased

_LOOSE: Final = frozenset(("compound", "amod", "nmod", "advmod", "npadvmod", "dep", "punct", "intj", "appos"))
_NO_NOUNS: Final = frozenset("same other another each left right".split())
_STANDS: Final = frozenset(
    "stand stands sit sits hang hangs fly flies walk walks ride rides lay lays rest rests".split()
)
_ADVERBS: Final = frozenset(
    "here there now not up down back away also just very too still outside inside together nearby around off "
    "on out over about so then only left right forward upright sideways".split()
)


def mend(words: list[ParsedWord], forms: FormDictionary | None = None) -> ParsedSentence:
    """Return the sentence with the rules applied; those that need a dictionary of English, with one."""
    forms = forms or FormDictionary()
    words = _colours(_nouns(_stands(retagged(_hyphens(words), forms))))
    words = _beside(_first_noun(_heads(_lists(_having(words)))))
    words = phrased(_participles(words), forms)
    return ParsedSentence(_after_with(_subjects(words)))


def _hyphens(words: list[ParsedWord]) -> list[ParsedWord]:
    """Join what a tokenizer split at a hyphen, `double - decker`, into one word."""
    groups: list[list[int]] = []
    at = 0
    while at < len(words):
        group = [at]
        while at + 2 < len(words) and words[at + 1].text == "-" and words[at + 2].tag != "punct":
            group += [at + 1, at + 2]
            at += 2
        groups.append(group)
        at += 1
    if len(groups) == len(words):
        return words
    place = {old: new for new, group in enumerate(groups) for old in group}
    joined = []
    for new, group in enumerate(groups):
        # The word of the group whose head lies outside speaks for all.
        outer = next((w for w in reversed(group) if place[words[w].head] != new), group[-1])
        word = words[outer]
        head = place[word.head]
        text = "".join(words[w].text for w in group)
        lemma = word.lemma if len(group) == 1 else text
        joined.append(ParsedWord(text, lemma, word.tag, word.dep, head))
    return joined


def _nouns(words: list[ParsedWord]) -> list[ParsedWord]:
    """What a preposition or verb governs is a noun, whatever its tag; so is what an article begins."""
    mended = []
    for at, w in enumerate(words):
        governed = w.dep in ("pobj", "dobj") and w.tag[:2] in ("VB", "RB", "JJ", "MD", "UH", "FW", "XX")
        governed = governed and w.text not in lexicon.COLOURS and w.text not in _NO_NOUNS
        subject = (
            w.dep in ("nsubj", "nsubjpass")
            and w.tag[:2] in ("VB", "MD", "UH", "FW", "RB")
            and w.text not in _ADVERBS
        )
        start = w.dep == "ROOT" and w.tag[:2] in ("VB", "RB", "JJ", "MD", "UH", "FW") and at + 1 < len(words)
        if start and at <= 2 and all(x.dep in ("det", "amod", "nummod", "compound") for x in words[:at]):
            after = words[at + 1]
            ing = w.tag == "VBG" and w.text not in lexicon.NOUNS_IN_ING
            start = not ing and after.tag == "IN" and w.text not in lexicon.COLOURS
        else:
            start = False
        if governed or subject or start:
            plural = w.text.endswith("s") and not w.text.endswith("ss")
            lemma = w.lemma if w.tag.startswith("VB") and plural else w.text
            w = replace(w, tag="NNS" if plural else "NN", lemma=lemma)
        mended.append(w)
    return mended


def _having(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `the bird has beak` as having, not as a tense."""
    words = list(words)
    for at, word in enumerate(words):
        verb = word.head
        if (
            word.lemma != "have"
            or word.dep != "aux"
            or words[verb].tag in ("VBN", "VBD", "VBG")
            or verb <= at
        ):
            continue
        outer = words[verb]
        if outer.dep != "ROOT" or any(
            w.dep in ("aux", "dobj") for i, w in enumerate(words) if w.head == verb and i != at
        ):
            continue
        for i, w in enumerate(words):
            if w.head == verb and i < at and w.dep in ("nsubj", "advmod"):
                words[i] = replace(w, head=at)
        words[at] = replace(word, dep="ROOT", head=at)
        words[verb] = replace(outer, tag="NN", dep="dobj", head=at, lemma=outer.text)
    return words


def _lists(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `grey and white sign` as one sign, not as a grey thing and a sign."""
    words = list(words)
    for at, word in enumerate(words):
        if word.text not in lexicon.COLOURS or word.dep in ("amod", "acomp", "compound"):
            continue
        end = at + 1
        while end < len(words) and (
            words[end].text in ("and", ",", "&")
            or words[end].tag[:2] == "JJ"
            or (words[end].tag == "DT" and words[end - 1].text == "and")
            or words[end].text in lexicon.COLOURS
            or (words[end].tag in ("VBN", "VBD") and end + 1 < len(words) and words[end + 1].noun)
        ):
            end += 1
        if (
            end == at + 1
            or end >= len(words)
            or not words[end].noun
            or words[end].dep
            not in (
                "conj",
                "appos",
                "dep",
                "npadvmod",
                "pobj",
                "dobj",
            )
        ):
            continue
        root = word.head == at
        inside = at <= word.head <= end and not root
        if inside:
            continue
        words[end] = replace(words[end], dep=word.dep, head=end if root else word.head)
        for i, w in enumerate(words):
            if i == end:
                continue
            if at <= i < end and (w.text in lexicon.COLOURS or w.tag[:2] in ("JJ", "VB")):
                words[i] = replace(w, head=end, dep="amod", tag="JJ")
            elif w.head == at:
                words[i] = replace(w, head=end)
    return words


def _after_with(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `dog with head tilted up` as saying of the head that it is tilted."""
    words = list(words)
    for at in range(2, len(words)):
        word, before = words[at], words[at - 1]
        if word.tag not in ("VBN", "VBG", "VBD") or not before.noun:
            continue
        if before.dep == "conj":
            before = words[before.head]
        if before.dep != "pobj":
            continue
        subjects = [i for i, w in enumerate(words) if w.head == at and w.dep in ("nsubj", "nsubjpass")]
        helped = any(w.head == at and w.dep in ("aux", "auxpass") for w in words)
        prep = before.head
        if helped or words[prep].text != "with":
            continue
        if len(subjects) == 1 and word.dep == "ROOT" and _within(words, prep, subjects[0]):
            words[subjects[0]] = replace(words[subjects[0]], dep="ROOT", head=subjects[0])
            words[at] = replace(word, dep="acl", head=at - 1)
    return words


def _within(words: list[ParsedWord], prep: int, noun: int) -> bool:
    """Return whether a preposition hangs on a noun, or on one that is where the noun is."""
    at = words[prep].head
    for _ in words:
        if at == noun or words[at].dep not in ("pobj", "prep"):
            break
        at = words[at].head
    return at == noun


def _heads(words: list[ParsedWord]) -> list[ParsedWord]:
    """A finite verb after a noun, without object or adverbs, is a noun too: `the horses head`."""
    words = list(words)
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if word.tag not in ("VBP", "VB", "VBZ") or word.dep != "ROOT" or not before.noun:
            continue
        if before.head != at or before.dep != "nsubj" or word.lemma in ("be", "have", "do"):
            continue
        if _agrees(words, at):
            continue
        kinds = {w.dep for i, w in enumerate(words) if w.head == at and i > at} - {"punct"}
        nominal = word.lemma in lexicon.NOUNS_LIKE_VERBS
        if not kinds or (nominal and kinds <= {"prep", "xcomp", "advcl", "advmod", "acl"}):
            words[at] = replace(word, tag="NNS" if word.tag == "VBZ" else "NN", lemma=word.lemma)
            words[at - 1] = replace(before, dep="compound")
            for i, w in enumerate(words):
                if w.head == at and i > at and w.dep in ("xcomp", "advcl"):
                    words[i] = replace(w, dep="acl")
                elif w.head == at - 1 and w.dep in ("det", "amod", "nummod", "poss"):
                    words[i] = replace(w, head=at)
    return words


def _agrees(words: list[ParsedWord], at: int) -> bool:
    """Return whether number makes a verb of a word: `cows stand`, `a girl stops`, not `the horses head`."""
    word, before = words[at], words[at - 1]
    if word.text in lexicon.PARTS or word.text in lexicon.BODY or word.text in lexicon.CLOTHES:
        return False
    if word.tag == "VBZ":
        return before.tag == "NN" and any(
            w.text in ("a", "an") for w in words[:at] if w.head == at - 1 and w.dep == "det"
        )
    return before.text in lexicon.ANIMATE and before.tag == "NNS"


def _beside(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `next to train` as a preposition with a noun, not as an infinitive."""
    words = list(words)
    for at in range(1, len(words) - 1):
        to, before = words[at], words[at - 1]
        if (
            to.text == "to"
            and to.dep == "aux"
            and before.text in ("next", "close", "attached", "connected", "tied")
        ):
            verb = to.head
            noun = words[verb]
            if noun.tag not in ("VB", "VBP") or verb < at or before.head == verb:
                continue
            words[at] = replace(to, tag="IN", dep="prep", head=at - 1)
            words[verb] = replace(noun, tag="NN", dep="pobj", head=at)
    return words


def _stands(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `a woman stands behind a man` as a clause, not as a compound noun."""
    words = list(words)
    for at in range(1, len(words) - 1):
        word, before = words[at], words[at - 1]
        if word.dep != "ROOT" or not word.noun or word.text not in _STANDS or not before.noun:
            continue
        if before.head != at or before.dep != "compound" or words[at + 1].tag != "IN":
            continue
        words[at] = replace(word, tag="VBP", lemma=word.text.removesuffix("s"))
        words[at - 1] = replace(before, dep="nsubj")
        for i, w in enumerate(words):
            if w.head == at and i < at - 1:
                words[i] = replace(w, head=at - 1)
    return words


def _colours(words: list[ParsedWord]) -> list[ParsedWord]:
    """A colour or an adjective before a noun describes it, whatever its tag."""
    return [
        replace(w, tag="JJ", dep="amod")
        if w.dep in ("compound", "nmod")
        and (w.text in lexicon.COLOURS or w.text in lexicon.MATERIALS or w.tag.startswith("JJ"))
        else w
        for w in words
    ]


def _first_noun(words: list[ParsedWord]) -> list[ParsedWord]:
    """A caption begins with a thing: `skateboard being ridden`, `grapefruit lying on a table`."""
    at = 0
    while at < len(words) and (words[at].dep in ("det", "amod", "nummod", "punct") or words[at].tag == "CD"):
        at += 1
    if at + 1 >= len(words):
        return words
    word, after = words[at], words[at + 1]
    follows = after.tag in ("VBG", "VBN", "VBZ", "VBD", "VBP") or after.lemma == "be"
    plain = word.text == word.lemma and not word.text.endswith("ly") and word.text not in _ADVERBS
    if not follows or word.tag not in ("VB", "VBP", "RB", "RBR", "JJ", "UH") or not plain:
        return words
    if word.tag in ("RB", "RBR", "JJ", "UH") and (words[word.head].verb or word.head == at):
        return [
            replace(w, tag="NN", dep="nsubj") if i == at and word.head != at else w
            for i, w in enumerate(words)
        ]
    if word.head == at and word.dep == "ROOT" and after.head == at:
        mended = list(words)
        mended[at] = replace(word, tag="NN")
        mended[at + 1] = replace(after, dep="acl")
        return mended
    return words


def _participles(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read `elephant holding grass` as a noun with a participle and its object, not as one noun phrase."""
    words = list(words)
    for at in range(1, len(words) - 1):
        word, before = words[at], words[at - 1]
        if word.tag != "VBG" or word.dep not in ("amod", "compound") or word.head <= at or not before.noun:
            continue
        head = word.head
        if before.head not in (head, at) or before.dep not in (
            "compound",
            "nmod",
            "amod",
            "npadvmod",
            "nsubj",
        ):
            continue
        noun = words[head]
        root = noun.head == head
        words[at - 1] = replace(before, head=at - 1 if root else noun.head, dep=noun.dep)
        words[at] = replace(word, head=at - 1, dep="acl")
        words[head] = replace(noun, head=at, dep="dobj")
        for i, w in enumerate(words):
            if w.head == head and i < at - 1 and i != head:
                words[i] = replace(w, head=at - 1)
    return words


def _subjects(words: list[ParsedWord]) -> list[ParsedWord]:
    """A noun that hangs loosely before a verb without a subject is its subject."""
    words = list(words)
    for at, word in enumerate(words):
        if not word.verb or word.dep in ("aux", "auxpass", "amod", "acl", "relcl", "pcomp"):
            continue
        if any(
            w.head == at and i != at and w.dep in ("nsubj", "nsubjpass", "csubj", "expl")
            for i, w in enumerate(words)
        ):
            continue
        loose = [i for i, w in enumerate(words) if i < at and w.head == at and w.noun and w.dep in _LOOSE]
        if loose:
            words[loose[-1]] = replace(words[loose[-1]], dep="nsubj")
    return words
