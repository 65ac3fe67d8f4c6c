"""A language model of a few tokens, whose probabilities follow from what it has read."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax


class TinyTokeniser:
    """Numbers written as words."""

    name = "tiny"

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.end = vocabulary - 1
        self.fingerprint = f"tiny {vocabulary}"

    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]

    def decode(self, ids: Iterable[int]) -> str:
        return " ".join(str(i) for i in ids if i != self.end)


class TinyModel:
    """Gives each text probabilities of its own; `never` are tokens that it finds impossible."""

    def __init__(self, vocabulary: int, seed: int = 0, never: Sequence[int] = ()) -> None:
        self.name = "tiny"
        self.tokeniser = TinyTokeniser(vocabulary)
        self.seed = seed
        self.never = list(never)
        self.open = 0

    def log_probabilities(self, text: Sequence[int]) -> npt.NDArray[np.float32]:
        digest = hashlib.blake2b(repr((self.seed, list(text))).encode(), digest_size=8).digest()
        logits = np.random.default_rng(int.from_bytes(digest, "big")).normal(0, 2, self.tokeniser.vocabulary)
        logits[self.never] = -np.inf
        return log_softmax(logits.astype(np.float32))

    def start(self, prompt: Sequence[int]) -> "TinyBeams":
        self.open += 1
        return TinyBeams(self, [list(prompt)])


class TinyBeams:
    def __init__(self, model: TinyModel, texts: list[list[int]]) -> None:
        self.model = model
        self.texts = texts
        self.steps = 0
        self.log_probabilities = np.stack([model.log_probabilities(text) for text in texts])

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        assert len(set(zip(parents, tokens, strict=True))) == len(parents), "no beam is computed twice"
        self.texts = [[*self.texts[p], t] for p, t in zip(parents, tokens, strict=True)]
        self.log_probabilities = np.stack([self.model.log_probabilities(text) for text in self.texts])
        return self.log_probabilities

    def close(self) -> None:
        self.model.open -= 1
