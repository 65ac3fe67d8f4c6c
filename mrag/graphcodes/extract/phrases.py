"""Mends noun phrases: lists, heads of compounds, and participles that a parser takes into a phrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.agreement import FormDictionary
from mrag.graphcodes.extract.parsed import ParsedWord
from mrag.text.tokens import singular

_ON: Final = frozenset("on over in behind around to above near".split())
_BEFORE_NOUNS: Final = frozenset(("DT", "JJ", "NN", "CD", "PR"))
_HOLD: Final = lexicon.ANIMATE | lexicon.BODY
_OPENS: Final = frozenset(("IN", "DT", "RP", "TO", "PRP$", "RB"))
_GOVERNED: Final = frozenset(("pobj", "dobj", "conj", "nsubj", "nsubjpass"))


def phrased(words: Sequence[ParsedWord], forms: FormDictionary) -> list[ParsedWord]:
    """Return the words with the rules applied."""
    mended = _beside_nouns(_acting(_last_heads(_compounds(list(words))), forms))
    mended = _worn(_objects(_ended(_adverbs(mended))))
    return _described(_listed(mended))


def _compounds(words: list[ParsedWord]) -> list[ParsedWord]:
    """Keep `hot dog` together: what it is called does not say how it is."""
    for at in range(len(words) - 1):
        pair = f"{words[at].text} {singular(words[at + 1].text)}"
        if pair in lexicon.COMPOUNDS and words[at + 1].noun:
            words[at] = replace(words[at], tag="NN", dep="compound", head=at + 1)
    return words


def _last_heads(words: list[ParsedWord]) -> list[ParsedWord]:
    """In `fire hydrant` the last noun is the head, also where it hangs on the first."""
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if word.noun and word.dep == "amod" and word.head == at - 1 and before.noun:
            words[at] = replace(word, dep=before.dep, head=at if before.head == at - 1 else before.head)
            words[at - 1] = replace(before, dep="compound", head=at)
            for i, other in enumerate(words):
                if other.head == at - 1 and i not in (at, at - 1):
                    words[i] = replace(other, head=at)
    return words


def _beside_nouns(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read nouns side by side as one name: `sitting in a bathroom sink`, `a bed and ceiling fan`."""
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if not before.noun or before.tag == "NNS" or before.text in lexicon.ANIMATE:
            continue
        if word.verb and before.dep in ("pobj", "dobj") and before.head != at and _last_alone(words, at):
            # `on the railroad tracks`: a verb at the end has a subject.
            plural = word.tag == "VBZ"
            word = words[at] = replace(word, tag="NNS" if plural else "NN", lemma=word.lemma, dep="dobj")
        if not word.noun:
            continue
        if before.head == at and before.dep == "nsubj":
            words[at - 1] = replace(before, dep="compound")
            for i, other in enumerate(words[: at - 1]):
                if other.head == at - 1:
                    words[i] = replace(other, head=at)
            continue
        if before.head == at or word.head == at - 1 or before.dep not in _GOVERNED:
            continue
        # `the couch man is sitting on`: the second acts, the first is its place.
        both_act = word.dep == before.dep and word.head == before.head and word.text not in lexicon.ANIMATE
        governed = word.dep in ("dobj", "conj", "appos") and before.dep in ("pobj", "dobj", "conj")
        if (governed or ("nsubj" in word.dep and both_act)) and not _hangs_on(words, before.head, at):
            words[at] = replace(word, dep=before.dep, head=before.head)
            words[at - 1] = replace(before, dep="compound", head=at)
            for i, other in enumerate(words):
                if other.head == at - 1 and i != at:
                    words[i] = replace(other, head=at)
    return words


def _last_alone(words: Sequence[ParsedWord], at: int) -> bool:
    ends = all(w.dep == "punct" for w in words[at + 1 :])
    return ends and words[at].dep != "ROOT" and not any(w.head == at and w.dep != "punct" for w in words[:at])


def _hangs_on(words: Sequence[ParsedWord], at: int, top: int) -> bool:
    """Return whether a word is another one, or below it."""
    for _ in words:
        if at == top:
            return True
        at = words[at].head
    return at == top


def _acting(words: list[ParsedWord], forms: FormDictionary) -> list[ParsedWord]:
    """Read `giraffe standing between bushes` and `girl playing game` as things with a participle."""
    for at in range(1, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        lemma = forms.ing(word.text)
        if not lemma or not before.noun or word.text in lexicon.NOUNS_IN_ING:
            continue
        said = replace(word, tag="VBG", lemma=lemma, dep="acl", head=at - 1)
        if word.noun and before.head == at and before.dep == "compound" and after.tag in _OPENS:
            words[at - 1] = replace(before, dep=word.dep, head=at - 1 if word.head == at else word.head)
            words[at] = said
            for i, other in enumerate(words[: at - 1]):
                if other.head == at:
                    words[i] = replace(other, head=at - 1)
        elif word.dep in ("compound", "amod", "nmod") and word.head > at:
            head = words[word.head]
            if head.dep == "appos" and head.head <= at - 1:
                words[word.head] = replace(head, dep="dobj", head=at)
                words[at] = said
    return words


def _ended(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read a noun phrase at the end, taken for a clause, as an object: `sitting in beach chairs`."""
    for at in range(2, len(words)):
        word = words[at]
        verb = word.tag == "VBZ" and all(w.dep == "punct" for w in words[at + 1 :])
        if word.dep != "ROOT" or not (verb or word.noun) or word.text.endswith("ing"):
            continue
        around = [(i, w) for i, w in enumerate(words[:at]) if w.head == at]
        subject = next((i for i, w in around if w.dep == "nsubj"), None)
        place = next((i for i in range(at - 1, 0, -1) if words[i].dep in ("pobj", "dobj")), None)
        if subject is None or place is None or place < subject or any(w.lemma == "be" for _, w in around):
            continue
        between = words[place + 1 : at]
        if any(w.text in ("and", ",", "or") for w in between):
            dep, head = "conj", place
        elif all(w.tag[:2] in ("NN", "JJ", "VB") for w in between) and words[place].tag != "NNS":
            dep, head = words[place].dep, words[place].head
            colour = words[place].tag[:2] == "JJ"
            words[place] = replace(words[place], dep="amod" if colour else "compound", head=at)
        else:
            continue
        words[at] = replace(word, tag="NNS" if verb else word.tag, dep=dep, head=head)
        words[subject] = replace(words[subject], dep="ROOT", head=subject)
    return words


def _adverbs(words: list[ParsedWord]) -> list[ParsedWord]:
    """In `four people out in the snow` the people are what is spoken of."""
    for at, word in enumerate(words):
        if word.dep == "ROOT" and word.tag in ("RP", "RB", "IN"):
            who = next((i for i, w in enumerate(words[:at]) if w.head == at and w.noun), None)
            if who is not None:
                words[who] = replace(words[who], dep="ROOT", head=who)
                words[at] = replace(word, dep="advmod", head=who)
    return words


def _objects(words: list[ParsedWord]) -> list[ParsedWord]:
    """Give verbs the objects that hang elsewhere: `an adult kicking the ball`, `holding a cup and a fork`."""
    for at, word in enumerate(words):
        if not word.noun or word.head >= at:
            continue
        holder = word.head
        acting = [i for i, w in enumerate(words[:at]) if w.head == holder and w.dep == "acl" and i > holder]
        acting += [i for i, w in enumerate(words[:at]) if w.head in acting and w.dep == "conj" and w.verb]
        if not acting or words[acting[-1]].tag != "VBG":
            continue
        verb = acting[-1]
        objects = [i for i, w in enumerate(words[:at]) if w.head == verb and w.dep == "dobj"]
        between = words[verb + 1 : at]
        if word.dep in ("appos", "conj") and not objects and all(w.tag[:2] in _BEFORE_NOUNS for w in between):
            words[at] = replace(word, dep="dobj", head=verb)
        elif word.dep == "conj" and objects and words[holder].text in _HOLD and word.text not in _HOLD:
            words[at] = replace(word, head=objects[-1])
    for at in range(2, len(words) - 1):
        # `tuxedo and bow tie`: verbs beside each other have the same form.
        word, head = words[at], words[words[at].head]
        named = words[at + 1]
        if word.tag in ("VB", "VBP") and word.dep == "conj" and head.tag == "VBG" and named.head == at:
            whose = next(
                (i for i, w in enumerate(words[:at]) if w.head == word.head and w.dep == "dobj"), None
            )
            if named.noun and named.dep == "dobj" and whose is not None:
                words[at] = replace(word, tag="NN", dep="compound", head=at + 1)
                words[at + 1] = replace(named, dep="conj", head=whose)
    return words


def _worn(words: list[ParsedWord]) -> list[ParsedWord]:
    """In `a boy with his hands on his knees` the hands are on the knees."""
    for at in range(2, len(words) - 1):
        word, before = words[at], words[at - 1]
        if word.dep != "prep" or word.text not in _ON or before.dep != "pobj" or before.head == word.head:
            continue
        part = before.text in lexicon.BODY or before.text in lexicon.CLOTHES
        whole = words[before.head].head == word.head and words[before.head].text == "with"
        on = next((w for w in words[at + 1 :] if w.head == at and w.dep == "pobj"), None)
        if part and whole and on is not None and on.text in lexicon.BODY:
            words[at] = replace(word, head=at - 1)
    return words


def _listed(words: list[ParsedWord]) -> list[ParsedWord]:
    """Read what commas and `and` put beside each other as a list, not as one thing called otherwise."""
    for at, word in enumerate(words):
        head = word.head
        of = _listed_with(words, at) if word.noun and word.dep == "conj" else None
        if of is not None and not _hangs_on(words, of, at):
            words[at] = replace(word, head=of)
            continue
        if not word.noun or head >= at or not words[head].noun:
            beside = word.dep == "nsubj" and word.noun and words[head].verb
            first = next(
                (i for i, w in enumerate(words[:at]) if w.head == head and w.dep == "nsubj" and w.noun), None
            )
            between = words[first + 1 : at] if first is not None else []
            if beside and first is not None and any(w.text == "and" for w in between):
                words[at] = replace(word, dep="conj", head=first)
            continue
        between = words[head + 1 : at]
        if word.dep == "appos" and any(w.text in (",", "and", "&") for w in between):
            words[at] = replace(word, dep="conj")
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        bare = before.tag == word.tag == "NNS" and before.dep == "compound" and before.head == at
        if bare and any(w.head == at and w.dep == "conj" for w in words):
            # `sweaters shirts and ties`: a comma was left out.
            words[at - 1] = replace(before, dep="conj")
    return words


def _listed_with(words: Sequence[ParsedWord], at: int) -> int | None:
    """Return the noun before `and` that a noun is listed with, where a parser lists it with something else.

    `topped with rice and a dumpling` has no verb to go with the dumpling, `a man in a jacket and hat` wears
    both, and in `a pizza covered in cheese and toppings` neither has an article.
    """
    joint = at - 1
    while joint > 0 and words[joint].tag[:2] in _BEFORE_NOUNS:
        joint -= 1
    near, head = joint - 1, words[at].head
    if near <= head or words[joint].dep != "cc" or not words[near].noun or words[near].dep not in _GOVERNED:
        return None
    worn = words[at].text in lexicon.CLOTHES and words[near].text in lexicon.CLOTHES
    bare = not _opened(words, at) and not _opened(words, near) and _opened(words, head)
    return near if words[head].verb or (words[head].noun and (worn or bare)) else None


def _opened(words: Sequence[ParsedWord], at: int) -> bool:
    return any(w.head == at and w.dep in ("det", "poss", "nummod") for w in words[:at])


def _described(words: list[ParsedWord]) -> list[ParsedWord]:
    """An adjective before a compound describes the whole: `a black manhole cover` is black."""
    for at, word in enumerate(words):
        head = words[word.head]
        if word.dep == "amod" and head.noun and head.dep in ("compound", "nmod") and word.head > at:
            top = word.head
            while words[top].dep in ("compound", "nmod") and words[top].head > top:
                top = words[top].head
            # `black necktie man is wearing`: the clause follows its object.
            who = words[top].text in lexicon.ANIMATE and head.text not in lexicon.ANIMATE
            if words[top].noun and not who:
                words[at] = replace(word, head=top)
    return words
