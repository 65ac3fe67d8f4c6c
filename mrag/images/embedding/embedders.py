"""Models that put pictures and words in one space of vectors.

| name | model | package | offline |
|---|---|---|---|
| `conse` | a classifier's labels in the space of the text model | `mrag[conse]` | yes |
| `clip:MODEL/WEIGHTS` | OpenCLIP, such as `clip:ViT-B-32/laion2b_s34b_b79k` | `open-clip-torch` | no |
| `none` | no vectors of pictures | | |

Beside these, any object with LangChain's `embed_query` and with `embed_image(paths)`, as the embeddings
of LangChain for CLIP have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

import numpy as np

from mrag.errors import ConfigError, ModelError
from mrag.images.files.folder import Picture, pixels
from mrag.index.embedding import LangChainEmbedder, Vectors, unit
from mrag.storage.files import Scratch

_ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


class ImageEmbedder(Protocol):
    """What an index of pictures asks of a model. Vectors have length 1, or are all 0."""

    @property
    def name(self) -> str:
        """Identifies model and version: vectors of equal names can be compared."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    def embed_images(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one vector per picture, shape (len(pictures), dim), float32."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words in the same space, shape (dim,), float32."""


class LangChainImageEmbedder:
    """Any object with `embed_query(text)` and `embed_image(paths)`; its vectors are scaled to length 1.

    Args:
        embeddings: The object.
        name: Identifies the model; as for `mrag.index.embedding.LangChainEmbedder` if left out.
    """

    def __init__(self, embeddings: Any, *, name: str | None = None) -> None:
        self._embeddings = embeddings
        self._text = LangChainEmbedder(embeddings, name=name)

    @property
    def name(self) -> str:
        """Class and model."""
        return self._text.name

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return self._text.dim

    def embed_images(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one vector per picture.

        Raises:
            ModelError: If the model fails or gives vectors of another shape than for words.
        """
        if not pictures:
            return np.empty((0, self.dim), np.float32)
        with Scratch("pictures") as folder:
            paths = [folder / f"{i}{_ENDINGS[p.mime]}" for i, p in enumerate(pictures)]
            for path, picture in zip(paths, pictures, strict=True):
                path.write_bytes(picture.data)
            try:
                vectors = unit(self._embeddings.embed_image([str(path) for path in paths]))
            except Exception as error:
                raise ModelError(f"The embedding model {self.name} failed on pictures: {error}") from error
        if vectors.shape != (len(pictures), self.dim):
            raise ModelError(
                f"The embedding model {self.name} gave shape {vectors.shape} for {len(pictures)} pictures.",
                hint="Words and pictures must have vectors of the same number of dimensions.",
            )
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words."""
        return self._text.embed_query(text)


class ClipEmbedder:
    """A CLIP model by the package `open-clip-torch`, which fetches named weights unless it has them.

    Args:
        model: Name of an architecture, such as `ViT-B-32`.
        weights: Name of published weights, or path of a file with some.

    Raises:
        ConfigError: If the package is not installed.
        ModelError: If the model or its weights cannot be had.
    """

    def __init__(self, model: str = "ViT-B-32", weights: str = "laion2b_s34b_b79k") -> None:
        if find_spec("open_clip") is None:
            raise ConfigError(
                "OpenCLIP is not installed.", hint="Install it with: pip install open-clip-torch"
            )
        self.name = f"clip {model} {weights}"
        self._torch: Any = import_module("torch")
        open_clip: Any = import_module("open_clip")
        try:
            self._model, _, self._prepare = open_clip.create_model_and_transforms(model, pretrained=weights)
            self._tokens = open_clip.get_tokenizer(model)
        except Exception as error:  # unknown names, no network, damaged files
            raise ModelError(f"OpenCLIP has no model {model} with weights {weights}: {error}") from error
        self._model.eval()
        self.dim = len(self.embed_query("dimensions"))

    def embed_images(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one vector per picture."""
        from PIL import Image

        if not pictures:
            return np.empty((0, self.dim), np.float32)
        batch = self._torch.stack([self._prepare(Image.fromarray(pixels(p))) for p in pictures])
        with self._torch.no_grad():
            return unit(self._model.encode_image(batch).numpy())

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words."""
        with self._torch.no_grad():
            return unit(self._model.encode_text(self._tokens([text]))[0].numpy())


def image_embedder(model: str | ImageEmbedder | Any | None) -> ImageEmbedder | None:
    """Return the embedder that a name or an object stands for.

    Args:
        model: A name as the head of this module lists them, or an object.

    Raises:
        ConfigError: If the name is not known, or the object is no such embedder.
        ModelError: If the model cannot be had.

    Example:
        >>> image_embedder("none") is None
        True
        >>> image_embedder("klip")
        Traceback (most recent call last):
        mrag.errors.ConfigError: No model for pictures is called 'klip'. Known: conse, clip:...
    """
    if model is None or model == "none":
        return None
    if model == "conse":
        from mrag.images.embedding.conse import ConseEmbedder

        return ConseEmbedder()
    if isinstance(model, str):
        kind, _, rest = model.partition(":")
        if kind == "clip":
            name, _, weights = rest.partition("/")
            return ClipEmbedder(*(part for part in (name, weights) if part))
        raise ConfigError(
            f"No model for pictures is called {model!r}.", hint="Known: conse, clip:MODEL/WEIGHTS, none."
        )
    if callable(getattr(model, "embed_images", None)) and callable(getattr(model, "embed_query", None)):
        return cast(ImageEmbedder, model)
    if callable(getattr(model, "embed_image", None)) and callable(getattr(model, "embed_query", None)):
        return LangChainImageEmbedder(model)
    raise ConfigError(
        f"A {type(model).__qualname__} cannot embed pictures.",
        hint="Give conse, clip:MODEL/WEIGHTS, or an object with embed_query and embed_image.",
    )
