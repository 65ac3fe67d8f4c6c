"""What a model learns from: questions, each with a clue of the document that answers it."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrag.errors import ConfigError, LoadError
from mrag.generative.models.tokens import Tokeniser
from mrag.generative.training.sampling import ClueSampling, sample_clues

INSTRUCTION: Final = "Question: {question}\nWords from the text that answers it:"
"""The one format of instructions, in training and in use. It ends without a space: clues begin with one."""


@dataclass(frozen=True)
class TrainingQuestion:
    """A question and the document that answers it.

    Args:
        question: The words.
        document: Id of the document.
        picture: Path of the picture that goes with the question; None for none.
    """

    question: str
    document: str
    picture: Path | None = None


@dataclass(frozen=True)
class TrainingPair:
    """What a model is shown at a time.

    Args:
        prompt: Tokens of the instruction with the question.
        clue: Tokens that it should write.
        document: Id of the document that the clue is of.
        picture: Path of the picture that goes with the question; None for none.
    """

    prompt: tuple[int, ...]
    clue: tuple[int, ...]
    document: str = ""
    picture: Path | None = None


def prompt(question: str) -> str:
    """Return the instruction with a question, white space joined.

    Example:
        >>> prompt("What is  RDF?")
        'Question: What is RDF?\\nWords from the text that answers it:'
    """
    # No format string sees the question, which may hold braces.
    return INSTRUCTION.replace("{question}", " ".join(question.split()))


def make_pairs(
    asked: Iterable[TrainingQuestion],
    documents: Mapping[str, Sequence[int]],
    tokeniser: Tokeniser,
    sampling: ClueSampling | None = None,
) -> list[TrainingPair]:
    """Draw the clues of questions.

    Args:
        asked: The questions.
        documents: Id to tokens of each document, as indexed.
        tokeniser: What made the tokens.
        sampling: How clues are drawn.

    Returns:
        Pairs in the order of the questions.

    Raises:
        ConfigError: If a question's document is not there.
    """
    pairs: list[TrainingPair] = []
    for one in asked:
        tokens = documents.get(one.document)
        if tokens is None:
            raise ConfigError(
                f"A question is answered by {one.document}, which is no document here.",
                hint="Questions name documents by the IRIs that the index uses.",
            )
        ahead = tuple(tokeniser.encode(prompt(one.question)))
        key = f"{one.question}\0{one.document}"
        clues = sample_clues(one.question, tokens, tokeniser, sampling, key=key)
        pairs += [TrainingPair(ahead, clue, one.document, one.picture) for clue in clues]
    return pairs


def batches(pairs: Sequence[TrainingPair], size: int, epoch: int, seed: int) -> Iterator[list[TrainingPair]]:
    """Yield the pairs of an epoch in a random order that seed and epoch decide, the last batch shorter.

    Example:
        >>> pairs = [TrainingPair((1,), (n,)) for n in range(5)]
        >>> [len(batch) for batch in batches(pairs, 2, 0, 0)]
        [2, 2, 1]
    """
    order = list(range(len(pairs)))
    random.Random(f"{seed}\0{epoch}").shuffle(order)
    for at in range(0, len(order), size):
        yield [pairs[i] for i in order[at : at + size]]


def digest(pairs: Iterable[TrainingPair]) -> str:
    """Return a fingerprint of pairs in their order."""
    known = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        known.update(repr((pair.prompt, pair.clue, str(pair.picture or ""))).encode())
    return known.hexdigest()


def read_questions(path: Path) -> list[TrainingQuestion]:
    """Read questions from JSON lines with `question`, `document` and, where there is one, `picture`.

    A relative path of a picture is taken from the file's folder.

    Raises:
        LoadError: If the file cannot be read or a line is of another form.
    """
    found: list[TrainingQuestion] = []
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    found.append(_asked(line, number, path))
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"Questions cannot be read: {error}.", file=str(path)) from error
    if not found:
        raise LoadError("There is no question.", file=str(path))
    return found


def _asked(line: str, number: int, path: Path) -> TrainingQuestion:
    try:
        given = json.loads(line)
    except ValueError:
        given = None
    fields = given if isinstance(given, dict) else {}
    question, document = fields.get("question"), fields.get("document")
    picture = fields.get("picture")
    if not (
        isinstance(question, str)
        and isinstance(document, str)
        and question.strip()
        and isinstance(picture, str | None)
    ):
        raise LoadError(
            "A line of questions is a JSON object with the strings `question` and `document`.",
            file=str(path),
            line=number,
        )
    return TrainingQuestion(question, document, path.parent / picture if picture else None)
