"""Mends what a parser of edited prose gets wrong in captions: sentences without a finite verb.

Captions such as `paper hanging on the wall` have no finite verb, and a parser trained on news takes the noun
for a modifier of the participle. Each rule rewrites heads and labels, never words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from mrag.graphcodes import lexicon
from mrag.language.tokens import singular

_ONE: Final = frozenset("a an one each every another this that".split())
_ALONG: Final = frozenset("over through down along into toward towards across around past onto".split())
_SHORT: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_LIKELY: Final = 0.3
_LIKELY_WHO: Final = 0.1


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """A word of a parsed sentence.

    Attributes:
        text: As written, in lower case.
        lemma: Its dictionary form, in lower case.
        tag: Part of speech, a tag of the Penn Treebank.
        dep: What it is to its head, a label of the ClearNLP scheme (`nsubj`, `dobj`, `prep`, …).
        head: Position of the head; its own for the root.
    """

    text: str
    lemma: str
    tag: str
    dep: str
    head: int

    @property
    def noun(self) -> bool:
        """Return whether it is a common or proper noun."""
        return self.tag.startswith("NN")

    @property
    def verb(self) -> bool:
        """Return whether it is a verb, auxiliaries included."""
        return self.tag.startswith("VB")


class ParsedSentence:
    """Words in order, with the children of each.

    Example:
        >>> words = [ParsedWord("two", "two", "CD", "nummod", 1), ParsedWord("dogs", "dog", "NNS", "ROOT", 1)]
        >>> ParsedSentence(words).children(1, "nummod")
        [0]
    """

    def __init__(self, words: Iterable[ParsedWord]) -> None:
        self.words = tuple(words)
        self._children: list[list[int]] = [[] for _ in self.words]
        for at, word in enumerate(self.words):
            if word.head != at:
                self._children[word.head].append(at)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, at: int) -> ParsedWord:
        return self.words[at]

    def children(self, at: int, *deps: str) -> list[int]:
        """Return the positions of a word's children, in order; with labels, those of these labels."""
        found = self._children[at]
        return [child for child in found if self.words[child].dep in deps] if deps else list(found)


@dataclass(frozen=True)
class FormDictionary:
    """The words of English by part of speech, without their endings.

    Attributes:
        verbs: Verbs in their plain form.
        nouns: Nouns in the singular.
        adjectives: Adjectives.
        irregular: Plain forms of irregular forms of verbs, `bit` among them.

    Example:
        >>> forms = FormDictionary(frozenset(["glide", "bite"]), irregular={"bit": ["bite"]})
        >>> forms.third("glides"), forms.past("bit"), forms.ing("gliding"), forms.third("dress")
        ('glide', 'bite', 'glide', '')
    """

    verbs: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    adjectives: frozenset[str] = frozenset()
    irregular: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, lemmatizer: Any) -> FormDictionary:
        """Read the tables of a lemmatizer by rules of spaCy; without such tables there are no words."""
        lookups = getattr(lemmatizer, "lookups", None)
        if lookups is None or not (lookups.has_table("lemma_index") and lookups.has_table("lemma_exc")):
            return cls()
        index, irregular = lookups.get_table("lemma_index"), lookups.get_table("lemma_exc")
        verbs, nouns, adjectives = (frozenset(index.get(kind, ())) for kind in ("verb", "noun", "adj"))
        return cls(verbs, nouns, adjectives, irregular.get("verb", {}))

    def third(self, word: str) -> str:
        """Return the verb of which a word is the form of the third person, empty if of none."""
        if not word.endswith("s") or word.endswith("ss"):
            return ""
        stems = [word[:-3] + "y"] if word.endswith("ies") else []
        return self._verb([*stems, word[:-1], *([word[:-2]] if word.endswith("es") else [])])

    def past(self, word: str) -> str:
        """Return the verb of which a word is an irregular past and nothing plainer, empty if of none."""
        if word in self.verbs or word.endswith("ing"):
            return ""
        return self._verb(self.irregular.get(word, ()))

    def ing(self, word: str) -> str:
        """Return the verb of which a word is the form in -ing, empty if of none."""
        if not word.endswith("ing"):
            return ""
        stem = word[:-3]
        doubled = [stem[:-1]] if len(stem) > 2 and stem[-1] == stem[-2] else []
        return self._verb([*self.irregular.get(word, ()), stem, f"{stem}e", *doubled])

    def describes(self, word: str) -> bool:
        """Return whether a word is an adjective and nothing else that stands before a noun."""
        return word in self.adjectives and word not in self.nouns

    def spelled(self, word: ParsedWord) -> ParsedWord:
        """Return a verb with the lemma that its spelling asks for: `shining` is of `shine`, not of `shin`.

        Before -ing and -ed a short verb that ends in one consonant doubles it, so others have lost an e.
        """
        stem = word.text.removesuffix("ing").removesuffix("ed")
        short = _SHORT.fullmatch(stem) is not None and word.lemma == stem != word.text
        if word.tag in ("VBG", "VBN", "VBD") and short and f"{stem}e" in self.verbs:
            return replace(word, lemma=f"{stem}e")
        return word

    def _verb(self, stems: Iterable[str]) -> str:
        return next((stem for stem in stems if stem in self.verbs), "")


@dataclass(frozen=True, slots=True)
class HiddenVerb:
    """A verb that was tagged as a noun: where it stands, its lemma, and its tag."""

    at: int
    lemma: str
    tag: str

    def stand_ins(self, words: Sequence[ParsedWord]) -> list[str]:
        """Return verbs of the same form that a tagger hardly mistakes, with or without an object."""
        after = words[self.at + 1].tag if self.at + 1 < len(words) else ""
        # What follows a hidden verb is an object, even where it was itself taken for a verb.
        acted_on = after[:2] in ("DT", "PR", "NN", "JJ", "CD") or after == "VBZ"
        at = ("VBZ", "VBP", "VBD").index(self.tag)
        return [forms[at] for forms in (_HOLDS if acted_on else _WALKS)]

    def put(self, words: Sequence[ParsedWord], text: str) -> list[ParsedWord]:
        """Put the verb back where its stand-in was parsed."""
        mine = replace(words[self.at], text=text, lemma=self.lemma, tag=self.tag)
        return [mine if at == self.at else word for at, word in enumerate(words)]


_HOLDS: Final = (("holds", "hold", "held"), ("has", "have", "had"))
_WALKS: Final = (("walks", "walk", "walked"), ("goes", "go", "went"))


def hidden_verb(
    words: Sequence[ParsedWord], forms: FormDictionary, likely: Callable[[int], float]
) -> HiddenVerb | None:
    """Find the first noun of a sentence that can only be a verb, or is one more likely than not."""
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if not (before.noun or _called(words, at - 1, forms)):
            continue
        if word.tag[:2] not in ("NN", "JJ") or not word.text.isalpha():
            continue
        if word.text in lexicon.BODY or word.text in lexicon.CLOTHES or word.text in lexicon.PARTS:
            continue
        after = words[at + 1] if at + 1 < len(words) else None
        who = before.text in lexicon.ANIMATE
        found = (
            _finite(words, at, forms)
            or _plain(words, at, forms, partial(_likely, likely, _LIKELY_WHO if who else _LIKELY))
            or _past(word, after, who, forms)
        )
        if found:
            return HiddenVerb(at, *found) if _free(words, at) else None
        lemma = forms.third(word.text) if word.tag == "NNS" and before.tag != "NNS" else ""
        along = after is not None and after.text in _ALONG
        if lemma and along and (who or likely(at) >= _LIKELY) and _free(words, at):
            return HiddenVerb(at, lemma, "VBZ")
    return None


def _likely(likely: Callable[[int], float], least: float, at: int) -> bool:
    return likely(at) >= least


def _finite(words: Sequence[ParsedWord], at: int, forms: FormDictionary) -> tuple[str, str] | None:
    """Read `a dog bites`: one thing, and a form in -s."""
    word, before = words[at], words[at - 1]
    lemma = forms.third(word.text)
    if word.tag != "NNS" or not lemma or before.text == "dozen":
        return None
    if before.tag not in ("NN", "NNP") and not _called(words, at - 1, forms):
        return None
    start = at - 1
    while start >= 0 and words[start].tag in ("NN", "NNP", "JJ", "JJR", "JJS", "VBN"):
        start -= 1
    one = start >= 0 and words[start].text in _ONE
    after = words[at + 1].tag if at + 1 < len(words) else ""
    return (lemma, "VBZ") if one or after in ("DT", "PRP$", "PRP") else None


def _called(words: Sequence[ParsedWord], at: int, forms: FormDictionary) -> bool:
    """Return whether an article makes a thing of an adjective, before a plural and another article."""
    word, after = words[at], words[at + 2].tag if at + 2 < len(words) else ""
    opened = at > 0 and words[at - 1].text in ("a", "an") and after in ("DT", "PRP$")
    return word.tag == "JJ" and opened and word.text in forms.nouns and word.text not in lexicon.COLOURS


def _plain(
    words: Sequence[ParsedWord], at: int, forms: FormDictionary, likely: Callable[[int], bool]
) -> tuple[str, str] | None:
    """Read `cows stand`: several things, and a plain form at which the noun phrase ends."""
    word, before = words[at], words[at - 1]
    several = before.tag == "NNS" or before.text in lexicon.ONE_OR_MANY or _two(words, at - 1)
    if not several or word.tag not in ("NN", "JJ") or word.text not in forms.verbs:
        return None
    ends = at + 1 == len(words) or words[at + 1].tag in ("IN", "DT", "PRP$", ".", "RB", "TO", "RP")
    return (word.text, "VBP") if ends and likely(at) else None


def _two(words: Sequence[ParsedWord], at: int) -> bool:
    """Return whether a noun is the second of two, `a cat and a dog`, or measured: `pieces of luggage`."""
    if at > 1 and words[at - 1].text == "of" and words[at - 2].tag == "NNS":
        return True
    joint = at - 2 if at > 1 and words[at - 1].tag in ("DT", "PRP$") else at - 1
    return joint > 0 and words[joint].text == "and" and words[joint - 1].noun


def _past(
    word: ParsedWord, after: ParsedWord | None, who: bool, forms: FormDictionary
) -> tuple[str, str] | None:
    """Read `dog bit man`: a living thing, and a form that is nothing but a past."""
    lemma = forms.past(word.text)
    goes_on = after is not None and after.tag[:2] in ("DT", "NN", "PR", "IN", "JJ", "CD")
    return (lemma, "VBD") if lemma and who and goes_on else None


def _free(words: Sequence[ParsedWord], at: int) -> bool:
    """Return whether no other verb stands between the last conjunction or comma and the word."""
    for word in reversed(words[:at]):
        if word.tag in ("CC", ",", "IN", "WDT", "WP"):
            return True
        if word.tag in ("VBZ", "VBP", "VBD", "MD"):
            return False
    return True


def retagged(words: Sequence[ParsedWord], forms: FormDictionary) -> list[ParsedWord]:
    """Give words the part of speech that is the only one the dictionary has for them, or their place allows.

    Example:
        >>> weedy = ParsedWord("weedy", "weedy", "NN", "compound", 1)
        >>> field = ParsedWord("field", "field", "NN", "ROOT", 1)
        >>> retagged([weedy, field], FormDictionary(adjectives=frozenset(["weedy"])))[0].dep
        'amod'
    """
    mended = [forms.spelled(word) for word in words]
    for at, word in enumerate(mended):
        head = mended[word.head]
        thing = singular(word.text) in forms.nouns and word.text not in forms.adjectives
        if word.tag == "NN" and word.dep in ("compound", "nmod") and forms.describes(word.text):
            word = replace(word, tag="JJ", dep="amod")
        elif word.tag == "NN" and word.dep == "nsubj" and head.tag == "VBN" and head.dep == "amod":
            if word.text in forms.adjectives and mended[head.head].noun:
                word = replace(word, tag="JJ", dep="amod", head=head.head)
        elif word.tag == "JJ" and thing and word.text not in lexicon.COLOURS | lexicon.MATERIALS:
            word = _as_thing(mended, at)
        elif word.dep == "conj" and thing and word.tag in ("VB", "VBP", "VBZ"):
            bare = not any(w.head == at and w.dep != "punct" for w in mended)
            if head.noun and (word.tag == "VB" or bare):
                word = replace(word, tag="NNS" if word.tag == "VBZ" else "NN", lemma=singular(word.text))
        elif word.tag == "VB" and word.dep == "acl" and thing and mended[at - 1].noun:
            # `her best tennis serve`: an infinitive has its `to`.
            if not any(w.head == at and w.dep != "punct" for w in mended):
                word = replace(word, tag="NN", lemma=word.text, dep="appos")
        elif word.tag == "VBG" and word.text in lexicon.NOUNS_IN_ING and _names(mended, at):
            word = replace(word, tag="NN", lemma=word.text)
        mended[at] = word
    return mended


def _as_thing(words: Sequence[ParsedWord], at: int) -> ParsedWord:
    """Return a noun that was taken for an adjective: before a participle it is what the participle is of."""
    word = words[at]
    dep = word.dep
    if dep == "amod" and word.head > at:
        dep = "nsubj" if words[word.head].verb else "compound"
    return replace(word, tag="NN", lemma=word.text, dep=dep)


def _names(words: Sequence[ParsedWord], at: int) -> bool:
    """Return whether a word in -ing names a thing: an article goes before it, or it ends the sentence."""
    before = words[at - 1].tag if at else ""
    ends = all(w.dep == "punct" for w in words[at + 1 :]) and before[:2] in ("NN", "JJ", "VB", "CD")
    return ends or (before in ("DT", "PRP$") and words[at].head != at + 1)


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
