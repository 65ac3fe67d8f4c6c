"""Verbs that a tagger takes for nouns, found by agreement: `a dog bites a man`, `cows stand`, `dog bit man`.

A dictionary of English forms says which words can be verbs; number and order say which of them are. An
article in the singular before `dog bites` leaves no other reading, since the noun would be a plural.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.parsed import ParsedWord
from mrag.text.tokens import singular

_ONE: Final = frozenset("a an one each every another this that".split())
_ALONG: Final = frozenset("over through down along into toward towards across around past onto".split())
_SHORT: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_LIKELY: Final = 0.3
_LIKELY_WHO: Final = 0.1


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
    """Find the first noun of a sentence that can only be a verb, or is one more likely than not.

    Args:
        words: The sentence as it was parsed.
        forms: The words of English.
        likely: The share of verbs that the tagger itself gives a word; asked only in doubt.
    """
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
