"""Which words of a document a model should write for a question: the clue is drawn from the document.

After Long et al., "Generative Multi-Modal Knowledge Retrieval with Large Language Models" (AAAI 2024). Of the
document's sentences the one that meets most of the question's keywords is taken. A span of it with `c`
keywords has the relevance `c / (c + rho)`; a softmax over the spans gives the chance that each is drawn.
A clue is a run of the document's own tokens, so the clue index holds it whatever the tokeniser.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from mrag.errors import ConfigError
from mrag.generative.models.tokens import Tokeniser
from mrag.text.analysis import Analyser
from mrag.text.tokens import STOP_WORDS

Target: TypeAlias = Literal["clue", "first-sentence", "document"]
"""What is learnt: a drawn clue, or for comparison the first sentence or the document from its beginning."""

_ANALYSER = Analyser(name="plural")
_WORD = re.compile(r"\w+")
_BETWEEN = re.compile(r"(?<=[.!?])(?=\s)")


@dataclass(frozen=True)
class ClueSampling:
    """The knobs of drawing clues.

    Args:
        target: What is learnt. `first-sentence` and `document` draw nothing; they are cut at `longest`.
        rho: How slowly more keywords make a span more relevant, above 0.
        temperature: Of the softmax, above 0. The paper's is 1, which draws nearly evenly because all
            relevances lie between 0 and 1; a smaller one prefers the spans with most keywords.
        starts: Most clues drawn for one question, each once (`m` of the paper).
        length: Tokens of a clue (`l` of the paper); a document that is shorter is a clue as a whole.
        longest: Tokens after which a sentence or document is cut.
        seed: Of the draw; a question and its document always get the same clues under one seed.

    Raises:
        ConfigError: If a knob is out of range.

    Example:
        >>> ClueSampling(rho=0)
        Traceback (most recent call last):
        mrag.errors.ConfigError: Clues cannot be drawn with ClueSampling(...). Numbers are above 0.
    """

    target: Target = "clue"
    rho: float = 1.0
    temperature: float = 1.0
    starts: int = 2
    length: int = 10
    longest: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if self.target not in get_args(Target):
            known = ", ".join(get_args(Target))
            raise ConfigError(f"There is no target {self.target!r}.", hint=f"Known: {known}.")
        if min(self.rho, self.temperature, self.starts, self.length, self.longest) <= 0:
            raise ConfigError(f"Clues cannot be drawn with {self}.", hint="Numbers are above 0.")


def keywords(text: str) -> frozenset[str]:
    """Return the keywords of a text, as terms of the BM25 index: no function words, English plurals folded.

    Example:
        >>> sorted(keywords("What are the symptoms of Acromegaly ?"))
        ['acromegaly', 'symptom']
    """
    tokens = [t for t in _ANALYSER.tokens(text) if t not in STOP_WORDS]
    return frozenset(term for token in tokens for term in _ANALYSER.terms(token))


def token_spans(tokeniser: Tokeniser, tokens: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of tokens, and from which to which character each goes.

    A token that holds a part of a letter only goes nowhere; its letter belongs to the token that ends it.

    Example:
        >>> from mrag.generative.models.tokens import ByteTokeniser
        >>> token_spans(ByteTokeniser(), [32, 195, 169])
        (' é', [(0, 1), (1, 1), (1, 2)])
    """
    text = tokeniser.decode(tokens)
    pieces = [tokeniser.decode([token]) for token in tokens]
    if "".join(pieces) == text:
        ends = [len(piece) for piece in pieces]
        at, spans = 0, []
        for length in ends:
            spans.append((at, at + length))
            at += length
        return text, spans
    spans, at = [], 0
    for number in range(1, len(tokens) + 1):
        # Half a letter shows as a replacement sign until the rest of it comes.
        end = max(at, len(tokeniser.decode(tokens[:number]).rstrip("\ufffd")))
        end = len(text) if number == len(tokens) else min(end, len(text))
        spans.append((at, end))
        at = end
    return text, spans


def sample_clues(
    question: str,
    tokens: Sequence[int],
    tokeniser: Tokeniser,
    settings: ClueSampling | None = None,
    *,
    key: str = "",
) -> list[tuple[int, ...]]:
    """Draw clues of a document for a question.

    Args:
        question: The question; if it has no keyword that the document has, the first sentence is taken.
        tokens: The document as it is indexed.
        tokeniser: What made the tokens.
        settings: The knobs.
        key: Sets one draw apart from another under the same seed, such as the document's id.

    Returns:
        Clues in the order of the document, each a run of its tokens; none if it has no tokens.

    Example:
        >>> from mrag.generative.models.tokens import ByteTokeniser
        >>> tokeniser = ByteTokeniser()
        >>> text = " Much is known. The cause of rickets is a lack of vitamin D. It is treated."
        >>> settings = ClueSampling(length=24, starts=1, temperature=0.01)
        >>> [clue] = sample_clues("What causes rickets?", tokeniser.encode(text), tokeniser, settings)
        >>> "rickets" in tokeniser.decode(clue)
        True
    """
    settings = settings or ClueSampling()
    if not len(tokens):
        return []
    text, spans = token_spans(tokeniser, tokens)
    if settings.target == "document":
        return [tuple(tokens[: settings.longest])]
    # The blank between sentences is the second one's, as it is in tokens.
    bounds = [0, *(m.start() for m in _BETWEEN.finditer(text)), len(text)]
    sentences = [(a, b) for a, b in pairwise(bounds) if text[a:b].strip()] or [(0, len(text))]
    if settings.target == "first-sentence":
        end = sentences[0][1]
        kept = [t for t, (start, _) in zip(tokens, spans, strict=True) if start < end]
        return [tuple(kept[: settings.longest])]
    wanted = keywords(question)
    words = [m.span() for m in _WORD.finditer(text) if wanted.intersection(_ANALYSER.terms(m.group()))]
    counts = [sum(start <= w < end for w, _ in words) for start, end in sentences]
    start, end = sentences[counts.index(max(counts))]
    return _drawn(tokens, text, spans, (start, end), words, settings, key)


def _drawn(
    tokens: Sequence[int],
    text: str,
    spans: Sequence[tuple[int, int]],
    sentence: tuple[int, int],
    words: Sequence[tuple[int, int]],
    settings: ClueSampling,
    key: str,
) -> list[tuple[int, ...]]:
    inside = [i for i, (start, end) in enumerate(spans) if start < sentence[1] and end > sentence[0]]
    # A clue begins where a word begins, since the model writes it after a prompt that ends with one.
    first = [i for i in inside if _begins_word(text, spans[i][0], spans[i][1])] or inside[:1] or [0]
    last = max(0, len(tokens) - settings.length)
    starts = sorted({min(i, last) for i in first})
    weights = []
    for at in starts:
        low, high = spans[at][0], spans[min(at + settings.length, len(tokens)) - 1][1]
        hits = sum(low <= w and v <= high for w, v in words)
        weights.append(math.exp(hits / (hits + settings.rho) / settings.temperature))
    drawn: list[int] = []
    chance = random.Random(f"{settings.seed}\0{key}")
    while starts and len(drawn) < settings.starts:
        (at,) = chance.choices(range(len(starts)), weights)
        drawn.append(starts.pop(at))
        weights.pop(at)
    return [tuple(tokens[at : at + settings.length]) for at in sorted(drawn)]


def _begins_word(text: str, start: int, end: int) -> bool:
    piece = text[start:end]
    return bool(piece) and (start == 0 or piece[0].isspace())
