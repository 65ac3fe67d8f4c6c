"""Words of English that the reader of captions knows, and mending of what its parser gets wrong.

Captions such as `paper hanging on the wall` have no finite verb, and a parser trained on news takes the noun
for a modifier of the participle. Each rule rewrites heads and labels in place, never words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from mrag._tables import tables
from mrag.language.tokens import singular

_LISTS: Final = tables("graphcodes/english.toml")

WORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split() if isinstance(words, str) else words)
    for name, words in _LISTS.items()
    if not isinstance(words, dict)
}
"""Sets of words and phrases by name."""

INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    name: words for name, words in _LISTS.items() if isinstance(words, dict)
}
"""What is written instead of what, by name."""


_PARTS: Final = WORDS["body"] | WORDS["clothes"] | WORDS["parts"]
_LOOSE: Final = ("compound", "amod", "nmod", "advmod", "npadvmod", "dep", "punct", "intj", "appos")
_OPENS: Final = frozenset(("IN", "DT", "RP", "TO", "PRP$", "RB"))
_GOVERNED: Final = frozenset(("pobj", "dobj", "conj", "nsubj", "nsubjpass"))
_SHORT: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_LIKELY: Final = 0.3
_LIKELY_WHO: Final = 0.1
_HOLDS: Final = (("holds", "hold", "held"), ("has", "have", "had"))
_WALKS: Final = (("walks", "walk", "walked"), ("goes", "go", "went"))


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """A word in lower case: tags are the Penn Treebank's, labels ClearNLP's; the root is its own head."""

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


Words: TypeAlias = list[ParsedWord]


class ParsedSentence:
    """Words in order, with the children of each."""

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
        children = self._children[at]
        return [child for child in children if self.words[child].dep in deps] if deps else list(children)


@dataclass(frozen=True)
class FormDictionary:
    """The words of English by part of speech, without their endings, and irregular forms of verbs."""

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
        plain = word in self.verbs or word.endswith("ing")
        return "" if plain else self._verb(self.irregular.get(word, ()))

    def ing(self, word: str) -> str:
        """Return the verb of which a word is the form in -ing, empty if of none."""
        if not word.endswith("ing"):
            return ""
        stem = word[:-3]
        doubled = [stem[:-1]] if len(stem) > 2 and stem[-1] == stem[-2] else []
        return self._verb([*self.irregular.get(word, ()), stem, f"{stem}e", *doubled])

    def spell(self, word: ParsedWord) -> ParsedWord:
        """Return a verb with the lemma that its spelling asks for: `shining` is of `shine`, not of `shin`."""
        # Before -ing and -ed a short verb that ends in one consonant doubles it, so others have lost an e.
        stem = word.text.removesuffix("ing").removesuffix("ed")
        short = _SHORT.fullmatch(stem) is not None and word.lemma == stem != word.text
        if word.tag in ("VBG", "VBN", "VBD") and short and f"{stem}e" in self.verbs:
            return replace(word, lemma=f"{stem}e")
        return word

    def _verb(self, stems: Iterable[str]) -> str:
        return next((stem for stem in stems if stem in self.verbs), "")


# -- verbs that were tagged as nouns ---------------------------------------------------------------


def hidden_verb(
    words: Words, forms: FormDictionary, likely: Callable[[int], float]
) -> tuple[int, str, str] | None:
    """Return the first noun that can only be a verb, or likely is one: where it is, its lemma and tag."""
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if not (before.noun or _is_called(words, at - 1, forms)):
            continue
        if word.tag[:2] not in ("NN", "JJ") or not word.text.isalpha() or word.text in _PARTS:
            continue
        after = words[at + 1] if at + 1 < len(words) else None
        who = before.text in WORDS["animate"]
        lemma, tag = _finite(words, at, forms), "VBZ"
        if not lemma and _plain(words, at, forms) and likely(at) >= (_LIKELY_WHO if who else _LIKELY):
            lemma, tag = word.text, "VBP"
        if not lemma and who and after is not None and after.tag[:2] in ("DT", "NN", "PR", "IN", "JJ", "CD"):
            # `dog bit man`: a living thing, and a form that is nothing but a past.
            lemma, tag = forms.past(word.text), "VBD"
        if lemma:
            return (at, lemma, tag) if _free(words, at) else None
        lemma = forms.third(word.text) if word.tag == "NNS" and before.tag != "NNS" else ""
        along = after is not None and after.text in WORDS["ways"]
        if lemma and along and (who or likely(at) >= _LIKELY) and _free(words, at):
            return at, lemma, "VBZ"
    return None


def stand_ins(words: Words, at: int, tag: str) -> list[str]:
    """Return verbs of the same form that a tagger hardly mistakes, with or without an object."""
    after = words[at + 1].tag if at + 1 < len(words) else ""
    # What follows a hidden verb is an object, even where it was itself taken for a verb.
    acted_on = after[:2] in ("DT", "PR", "NN", "JJ", "CD") or after == "VBZ"
    form = ("VBZ", "VBP", "VBD").index(tag)
    return [forms[form] for forms in (_HOLDS if acted_on else _WALKS)]


def _finite(words: Words, at: int, forms: FormDictionary) -> str:
    """Read `a dog bites`: one thing, and a form in -s."""
    word, before = words[at], words[at - 1]
    if word.tag != "NNS" or before.text == "dozen":
        return ""
    if before.tag not in ("NN", "NNP") and not _is_called(words, at - 1, forms):
        return ""
    start = at - 1
    while start >= 0 and words[start].tag in ("NN", "NNP", "JJ", "JJR", "JJS", "VBN"):
        start -= 1
    one = start >= 0 and words[start].text in WORDS["single"]
    after = words[at + 1].tag if at + 1 < len(words) else ""
    return forms.third(word.text) if one or after in ("DT", "PRP$", "PRP") else ""


def _is_called(words: Words, at: int, forms: FormDictionary) -> bool:
    """Return whether an article makes a thing of an adjective, before a plural and another article."""
    word, after = words[at], words[at + 2].tag if at + 2 < len(words) else ""
    opened = at > 0 and words[at - 1].text in ("a", "an") and after in ("DT", "PRP$")
    return word.tag == "JJ" and opened and word.text in forms.nouns and word.text not in WORDS["colours"]


def _plain(words: Words, at: int, forms: FormDictionary) -> bool:
    """Read `cows stand`: several things, and a plain form at which the noun phrase ends."""
    word, before = words[at], words[at - 1]
    # The second of two, `a cat and a dog`, or what is measured, `pieces of luggage`, are several, too.
    joint = at - 3 if at > 2 and words[at - 2].tag in ("DT", "PRP$") else at - 2
    two = joint > 0 and words[joint].text == "and" and words[joint - 1].noun
    measured = at > 2 and words[at - 2].text == "of" and words[at - 3].tag == "NNS"
    several = before.tag == "NNS" or before.text in WORDS["one_or_many"] or two or measured
    ends = at + 1 == len(words) or words[at + 1].tag in ("IN", "DT", "PRP$", ".", "RB", "TO", "RP")
    return several and ends and word.tag in ("NN", "JJ") and word.text in forms.verbs


def _free(words: Words, at: int) -> bool:
    """Return whether no other verb stands between the last conjunction or comma and the word."""
    marks = [w.tag for w in words[:at] if w.tag in ("CC", ",", "IN", "WDT", "WP", "VBZ", "VBP", "VBD", "MD")]
    return not marks or marks[-1] not in ("VBZ", "VBP", "VBD", "MD")


# -- rules -----------------------------------------------------------------------------------------


def mend(words: Words, forms: FormDictionary | None = None) -> ParsedSentence:
    """Return the sentence with the rules applied; those that need a dictionary of English, with one."""
    forms = forms or FormDictionary()
    words = _hyphens(words)
    _retag(words, forms)
    for rule in (_colours, _participles, _compounds):
        rule(words)
    _acting(words, forms)
    for rule in (_beside_nouns, _end, _describe, _subjects):
        rule(words)
    return ParsedSentence(words)


def _below(words: Words, at: int, *deps: str) -> list[int]:
    """Return what hangs on a word by one of these labels."""
    return [i for i, w in enumerate(words) if w.head == at and i != at and w.dep in deps]


def _hang(words: Words, old: int, new: int, end: int | None = None) -> None:
    """Hang what hangs on a word, and stands before an end, on another."""
    for i, word in enumerate(words[:end]):
        if word.head == old and i not in (old, new):
            words[i] = replace(word, head=new)


def _lead(words: Words, at: int) -> None:
    """Make a noun the head of the noun before it, in whose place it comes."""
    word, before = words[at], words[at - 1]
    words[at] = replace(word, dep=before.dep, head=at if before.head == at - 1 else before.head)
    words[at - 1] = replace(before, dep="compound", head=at)
    _hang(words, at - 1, at)


def _hangs_on(words: Words, at: int, top: int) -> bool:
    """Return whether a word is another one, or below it."""
    for _ in words:
        if at == top:
            return True
        at = words[at].head
    return at == top


def _last(words: Words, at: int) -> bool:
    return all(w.dep == "punct" for w in words[at + 1 :])


def _bare(words: Words, at: int) -> bool:
    return not any(w.head == at and w.dep != "punct" for w in words)


def _hyphens(words: Words) -> Words:
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
    place = {old: new for new, group in enumerate(groups) for old in group}
    joined = []
    for new, group in enumerate(groups):
        # The word of the group whose head lies outside speaks for all.
        outer = next((w for w in reversed(group) if place[words[w].head] != new), group[-1])
        text = "".join(words[w].text for w in group)
        word = replace(words[outer], text=text, head=place[words[outer].head])
        joined.append(word if len(group) == 1 else replace(word, lemma=text))
    return joined


def _retag(words: Words, forms: FormDictionary) -> None:
    """Give words the part of speech that alone the dictionary has for them, or their place allows."""
    words[:] = [forms.spell(word) for word in words]
    for at, word in enumerate(words):
        head = words[word.head]
        adjective, noun = word.text in forms.adjectives, word.text in forms.nouns
        thing = singular(word.text) in forms.nouns and not adjective
        if word.tag == "NN" and word.dep in ("compound", "nmod") and adjective and not noun:
            word = replace(word, tag="JJ", dep="amod")
        elif word.tag == "NN" and word.dep == "nsubj" and head.tag == "VBN" and head.dep == "amod":
            if adjective and words[head.head].noun:
                word = replace(word, tag="JJ", dep="amod", head=head.head)
        elif word.tag == "JJ" and thing and word.text not in WORDS["colours"] | WORDS["materials"]:
            # A noun before a participle is what the participle is of.
            describing = word.dep == "amod" and word.head > at
            dep = word.dep if not describing else "nsubj" if head.verb else "compound"
            word = replace(word, tag="NN", lemma=word.text, dep=dep)
        elif word.dep == "conj" and thing and word.tag in ("VB", "VBP", "VBZ"):
            if head.noun and (word.tag == "VB" or _bare(words, at)):
                word = replace(word, tag="NNS" if word.tag == "VBZ" else "NN", lemma=singular(word.text))
        elif word.tag == "VB" and word.dep == "acl" and thing and words[at - 1].noun:
            # `her best tennis serve`: an infinitive has its `to`.
            if _bare(words, at):
                word = replace(word, tag="NN", lemma=word.text, dep="appos")
        elif word.tag == "VBG" and word.text in WORDS["nouns_in_ing"]:
            # A thing has an article before it, or ends the sentence.
            before = words[at - 1].tag if at else ""
            ends = _last(words, at) and before[:2] in ("NN", "JJ", "VB", "CD")
            if ends or (before in ("DT", "PRP$") and word.head != at + 1):
                word = replace(word, tag="NN", lemma=word.text)
        words[at] = word


def _colours(words: Words) -> None:
    """A colour or an adjective before a noun describes it, whatever its tag."""
    for at, w in enumerate(words):
        said = w.text in WORDS["colours"] or w.text in WORDS["materials"] or w.tag.startswith("JJ")
        if w.dep in ("compound", "nmod") and said:
            words[at] = replace(w, tag="JJ", dep="amod")


def _participles(words: Words) -> None:
    """Read `elephant holding grass` as a noun with a participle and its object, not as one noun phrase."""
    for at in range(1, len(words) - 1):
        word, before = words[at], words[at - 1]
        head, noun = word.head, words[word.head]
        if word.tag != "VBG" or word.dep not in ("amod", "compound") or head <= at or not before.noun:
            continue
        modifying = before.dep in ("compound", "nmod", "amod", "npadvmod", "nsubj")
        if before.head in (head, at) and modifying:
            words[at - 1] = replace(before, head=at - 1 if noun.head == head else noun.head, dep=noun.dep)
            words[at] = replace(word, head=at - 1, dep="acl")
            words[head] = replace(noun, head=at, dep="dobj")
            _hang(words, head, at - 1, at - 1)


def _compounds(words: Words) -> None:
    """Keep `hot dog` together: what it is called does not say how it is."""
    for at in range(len(words) - 1):
        pair = f"{words[at].text} {singular(words[at + 1].text)}"
        if pair in WORDS["compounds"] and words[at + 1].noun:
            words[at] = replace(words[at], tag="NN", dep="compound", head=at + 1)


def _acting(words: Words, forms: FormDictionary) -> None:
    """Read `giraffe standing between bushes` and `girl playing game` as things with a participle."""
    for at in range(1, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        lemma = forms.ing(word.text)
        if not lemma or not before.noun or word.text in WORDS["nouns_in_ing"]:
            continue
        said = replace(word, tag="VBG", lemma=lemma, dep="acl", head=at - 1)
        if word.noun and before.head == at and before.dep == "compound" and after.tag in _OPENS:
            words[at - 1] = replace(before, dep=word.dep, head=at - 1 if word.head == at else word.head)
            words[at] = said
            _hang(words, at, at - 1, at - 1)
        elif word.dep in ("compound", "amod", "nmod") and word.head > at:
            head = words[word.head]
            if head.dep == "appos" and head.head <= at - 1:
                words[word.head] = replace(head, dep="dobj", head=at)
                words[at] = said


def _beside_nouns(words: Words) -> None:
    """Read nouns side by side as one name: `sitting in a bathroom sink`, `a bed and ceiling fan`."""
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        if not before.noun or before.tag == "NNS" or before.text in WORDS["animate"]:
            continue
        alone = _last(words, at) and word.dep != "ROOT" and _bare(words[:at], at)
        if word.verb and before.dep in ("pobj", "dobj") and before.head != at and alone:
            # `on the railroad tracks`: a verb at the end has a subject.
            word = words[at] = replace(word, tag="NNS" if word.tag == "VBZ" else "NN", dep="dobj")
        if not word.noun:
            continue
        if before.head == at and before.dep == "nsubj":
            words[at - 1] = replace(before, dep="compound")
            _hang(words, at - 1, at, at - 1)
            continue
        if before.head == at or word.head == at - 1 or before.dep not in _GOVERNED:
            continue
        # `the couch man is sitting on`: the second acts, the first is its place.
        both_act = word.dep == before.dep and word.head == before.head and word.text not in WORDS["animate"]
        governed = word.dep in ("dobj", "conj", "appos") and before.dep in ("pobj", "dobj", "conj")
        if (governed or ("nsubj" in word.dep and both_act)) and not _hangs_on(words, before.head, at):
            _lead(words, at)


def _end(words: Words) -> None:
    """Read a noun phrase at the end, taken for a clause, as an object: `sitting in beach chairs`."""
    for at in range(2, len(words)):
        word = words[at]
        verb = word.tag == "VBZ" and _last(words, at)
        if word.dep != "ROOT" or not (verb or word.noun) or word.text.endswith("ing"):
            continue
        subject = next(iter(_below(words[:at], at, "nsubj")), None)
        place = next((i for i in range(at - 1, 0, -1) if words[i].dep in ("pobj", "dobj")), None)
        being = any(w.head == at and w.lemma == "be" for w in words[:at])
        if subject is None or place is None or place < subject or being:
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


def _describe(words: Words) -> None:
    """An adjective before a compound describes the whole: `a black manhole cover` is black."""
    for at, word in enumerate(words):
        head = words[word.head]
        if word.dep == "amod" and head.noun and head.dep in ("compound", "nmod") and word.head > at:
            top = word.head
            while words[top].dep in ("compound", "nmod") and words[top].head > top:
                top = words[top].head
            # `black necktie man is wearing`: the clause follows its object.
            who = words[top].text in WORDS["animate"] and head.text not in WORDS["animate"]
            if words[top].noun and not who:
                words[at] = replace(word, head=top)


def _subjects(words: Words) -> None:
    """A noun that hangs loosely before a verb without a subject is its subject."""
    for at, word in enumerate(words):
        if not word.verb or word.dep in ("aux", "auxpass", "amod", "acl", "relcl", "pcomp"):
            continue
        if not _below(words, at, "nsubj", "nsubjpass", "csubj", "expl"):
            loose = [i for i in _below(words[:at], at, *_LOOSE) if words[i].noun]
            if loose:
                words[loose[-1]] = replace(words[loose[-1]], dep="nsubj")
