"""Words in their context: how well each word of a question is met by some word of a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from mrag.index.embedding import MiniLmEmbedder, Vectors


class LateInteraction:
    """Compares texts word by word, each word by its vector in its context; a model for `CrossEncoderRanker`.

    The vector of a whole text hardly changes when two of its words change places. Those of the words do,
    since who bites stands before `bites`. A text's score is the mean over the question's tokens of the best
    cosine with a token of the text.

    Source: Khattab and Zaharia, 2020, ColBERT, SIGIR; for captions Zhang et al., 2020, BERTScore, ICLR. The
    vectors are those of `minilm`, which was not trained for this.

    Example:
        >>> texts = ["a dog runs after the cat", "a cat runs after the dog"]
        >>> right, wrong = LateInteraction().score([("a brown dog chases a cat", text) for text in texts])
        >>> right > wrong
        True
    """

    name: Final = "words in context"

    @cached_property
    def _model(self) -> MiniLmEmbedder:
        return MiniLmEmbedder()

    def score(self, text_pairs: list[tuple[str, str]]) -> Sequence[float]:
        """Return how well each text answers its question, from 0 to 1.

        Args:
            text_pairs: Questions, each with a text.

        Raises:
            ModelError: If the model is not installed.
        """
        texts = sorted({text for pair in text_pairs for text in pair})
        words = dict(zip(texts, self._model.embed_words(texts), strict=True))
        return [met(words[question], words[text]) for question, text in text_pairs]


def met(asked: Vectors, said: Vectors) -> float:
    """Return the mean over some word vectors of their best cosine with others; 0 if there are none.

    Example:
        >>> import numpy as np
        >>> met(np.eye(2, dtype=np.float32), np.eye(1, 2, dtype=np.float32))
        0.5
    """
    if not len(asked) or not len(said):
        return 0.0
    return max(0.0, float((asked @ said.T).max(axis=1).mean()))
