"""Pictures before the prompt: object-aware prefix tuning over frozen vision and language models.

After Long et al. (AAAI 2024), "Object-aware prefix tuning", equations 3 to 7, and its published code. Of a
picture there are the whole and its objects, each seen by the frozen vision model (CLIP).

1. (3) The feature `o` of an object is the vision model's `[CLS]` of the object's cut-out.
2. (4) In each of the last layers a prefix `P = E + O` stands beside the tokens; `E` is learnt for each
   layer and place.
3. (5) The keys and values of `P` are made by the layer's own frozen projections.
4. (6) Dual flow: `softmax(Q K') V + g softmax(Q K_P') V_P`. Each flow is normalised by itself, and `g`,
   one for each head, begins at 0: untrained, the vision model is as it was.
5. (7) `[CLS]` and the prefix of the last layer pass the final norm and one learnt linear layer into the
   space of the language model's embeddings.

What the source leaves open is settled so: `P` passes the layer's first norm before its projections, as tokens
do; a picture with fewer objects than places has the rest masked in both flows and before the prompt; all
objects go before the prompt, where the published code takes two of five; objects are seen by the same vision
model, so that `O` needs no projection of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mrag.errors import ConfigError, ModelError
from mrag.generative.models import library
from mrag.generative.training import TrainingPair, clue_loss, quiet
from mrag.storage.files import saved_text

Pixels: TypeAlias = Callable[[Path], tuple[Any, Sequence[Any]]]
"""Reads a picture: the whole and the cut-outs of its objects, each a tensor of shape (3, height, width) as
the vision model wants it."""


@dataclass(frozen=True)
class PrefixSettings:
    """The knobs of the prefix.

    Args:
        layers: In how many of the vision model's last layers prefixes stand, 1 or more.
        objects: Places for objects, 1 or more; further objects are left out.

    Raises:
        ConfigError: If a knob is out of range.
    """

    layers: int = 4
    objects: int = 5

    def __post_init__(self) -> None:
        if self.layers < 1 or self.objects < 1:
            raise ConfigError(f"There is no prefix with {self}.", hint="Use 1 layer and object or more.")


class ObjectPrefix:
    """Turns pictures into embeddings that stand before a prompt.

    Raises:
        ConfigError: If the model has fewer layers than the settings want.
        ModelError: If the model is not built as CLIP's, or torch is missing.
    """

    def __init__(
        self, vision: Any, width: int, settings: PrefixSettings | None = None, *, seed: int = 0
    ) -> None:
        self.settings = settings or PrefixSettings()
        self._torch = torch = library("torch")
        self.vision = vision.eval().requires_grad_(False)
        self._inner = getattr(vision, "vision_model", vision)
        for part in ("embeddings", "encoder", "pre_layrnorm", "post_layernorm"):
            if not hasattr(self._inner, part):
                raise ModelError(f"The vision model has no {part}.", hint="Use a CLIP vision model.")
        dim, heads = vision.config.hidden_size, vision.config.num_attention_heads
        layers = len(self._inner.encoder.layers)
        if layers < self.settings.layers:
            raise ConfigError(f"The vision model has {layers} layers, not {self.settings.layers}.")
        torch.manual_seed(seed)
        nn = torch.nn
        self.learnt = nn.Module()
        self.learnt.places = nn.Parameter(
            0.02 * torch.randn(self.settings.layers, self.settings.objects, dim)
        )
        self.learnt.gates = nn.Parameter(torch.zeros(self.settings.layers, heads))
        self.learnt.projection = nn.Linear(dim, width)

    def features(self, cutouts: Any) -> Any:
        """Return the `[CLS]` of pictures by the frozen model alone, shape (pictures, dim)."""
        with self._torch.no_grad():
            return self._inner.post_layernorm(self._inner(pixel_values=cutouts).last_hidden_state[:, 0])

    def __call__(self, pictures: Any, objects: Any, there: Any) -> tuple[Any, Any]:
        """Return the embeddings of pictures, shape (pictures, 1 + places, width), and which are there.

        Objects are given by their features, shape (pictures, places, dim); `there` tells where one is.
        """
        inner, last = self._inner, self.settings.layers
        hidden = inner.pre_layrnorm(inner.embeddings(pictures))
        layers = inner.encoder.layers
        for layer in layers[: len(layers) - last]:
            hidden = _own(layer(hidden, None))
        prefix = objects
        for at, layer in enumerate(layers[len(layers) - last :]):
            prefix = objects + self.learnt.places[at]
            normed = layer.layer_norm1(hidden)
            hidden = hidden + self._dual(
                layer, normed, layer.layer_norm1(prefix), there, self.learnt.gates[at]
            )
            hidden = hidden + layer.mlp(layer.layer_norm2(hidden))
        seen = inner.post_layernorm(self._torch.cat([hidden[:, :1], prefix], 1))
        mask = self._torch.cat([there.new_ones(there.shape[0], 1), there], 1)
        return self.learnt.projection(seen), mask

    def _dual(self, layer: Any, tokens: Any, prefix: Any, there: Any, gates: Any) -> Any:
        """Attend to the tokens and to the prefix, each flow with a softmax of its own."""
        attention = layer.self_attn
        count, length, dim = tokens.shape
        heads = gates.shape[0]

        def split(x: Any) -> Any:
            return x.view(count, -1, heads, dim // heads).transpose(1, 2)

        query = split(attention.q_proj(tokens)) * (dim // heads) ** -0.5
        own = (query @ split(attention.k_proj(tokens)).transpose(2, 3)).softmax(-1)
        scores = query @ split(attention.k_proj(prefix)).transpose(2, 3)
        kept = there[:, None, None, :]
        # A picture without objects has a flow of zeros, not of what is not a number.
        scores = scores.masked_fill(~kept, -1e9).softmax(-1) * kept
        flow = own @ split(attention.v_proj(tokens))
        flow = flow + gates[None, :, None, None] * (scores @ split(attention.v_proj(prefix)))
        return attention.out_proj(flow.transpose(1, 2).reshape(count, length, dim))


class PrefixLearner:
    """Learns what stands before the prompt; vision and language model are frozen.

    Args:
        language: A causal language model of transformers; of its parameters only those of an adapter that
            `mrag.generative.training.LoraLearner` has put into it go on learning.
        prefix: Turns pictures into embeddings.
        pixels: Reads pictures. What it gives is kept in memory by path.
    """

    kind = "prefix"

    def __init__(self, language: Any, prefix: ObjectPrefix, pixels: Pixels) -> None:
        self.language, self.prefix, self._pixels = language, prefix, pixels
        for name, parameter in language.named_parameters():
            if "lora_" not in name:
                parameter.requires_grad_(False)
        self._known: dict[Path, tuple[Any, Any]] = {}

    @property
    def about(self) -> dict[str, Any]:
        """What a checkpoint must agree on to be gone on with."""
        return {"kind": self.kind, **asdict(self.prefix.settings)}

    def modules(self) -> list[Any]:
        """Return the torch modules."""
        return [self.prefix.learnt, self.prefix.vision, self.language]

    def loss(self, pairs: Sequence[TrainingPair]) -> Any:
        """Return the mean loss of the clues' tokens, as a tensor.

        Raises:
            ModelError: If a pair has no picture.
        """
        embeddings, mask = self.see([pair.picture for pair in pairs])
        return clue_loss(self.language, pairs, embeddings, mask)

    def see(self, pictures: Sequence[Path | None]) -> tuple[Any, Any]:
        """Return what stands before the prompts of pictures, and which of it is there.

        Raises:
            ModelError: If a picture is missing.
        """
        torch = library("torch")
        if any(picture is None for picture in pictures):
            raise ModelError("A question has no picture.", hint="The prefix is trained on pictures alone.")
        read = [self._read(picture) for picture in pictures if picture is not None]
        places = self.prefix.settings.objects
        device = self.prefix.learnt.projection.weight.device
        whole = torch.stack([picture for picture, _ in read]).to(device)
        objects = whole.new_zeros(len(read), places, self.prefix.vision.config.hidden_size)
        there = torch.zeros(len(read), places, dtype=torch.bool, device=device)
        for row, (_, found) in enumerate(read):
            objects[row, : len(found)] = found.to(device)
            there[row, : len(found)] = True
        embeddings, mask = self.prefix(whole, objects, there)
        return embeddings, mask

    def look(self, picture: Path) -> Any:
        """Return what stands before the prompt for one picture, shape (places, width).

        This is what `mrag.generative.models.SeeingTransformersModel` asks for.
        """
        embeddings, mask = self.see([picture])
        return embeddings[0][mask[0].bool()]

    def save(self, folder: Path) -> None:
        """Write what was learnt: `prefix.safetensors` and `prefix.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        weights = {n: p.detach().cpu().contiguous() for n, p in self.prefix.learnt.state_dict().items()}
        library("safetensors.torch").save_file(weights, str(folder / "prefix.safetensors"))
        saved_text(folder / "prefix.json", json.dumps(asdict(self.prefix.settings)) + "\n")
        adapter = getattr(self.language, "peft_config", None)
        if adapter:
            with quiet():
                self.language.save_pretrained(str(folder), save_embedding_layers=False)

    def load(self, folder: Path) -> None:
        """Take over what `save` wrote.

        Raises:
            ModelError: If there is none, or it is of other settings or models.
        """
        try:
            settings = json.loads((folder / "prefix.json").read_text(encoding="utf-8"))
            weights = library("safetensors.torch").load_file(str(folder / "prefix.safetensors"))
            if settings != asdict(self.prefix.settings):
                raise ValueError(f"it was trained with {settings}")
            self.prefix.learnt.load_state_dict(weights)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"The prefix in {folder} cannot be used: {error}") from error

    def _read(self, picture: Path) -> tuple[Any, Any]:
        if picture not in self._known:
            whole, cutouts = self._pixels(picture)
            torch, device = library("torch"), self.prefix.learnt.projection.weight.device
            kept = list(cutouts)[: self.prefix.settings.objects]
            features = torch.zeros(0, self.prefix.vision.config.hidden_size)
            if kept:
                features = self.prefix.features(torch.stack(kept).to(device)).cpu()
            self._known[picture] = (whole, features)
        return self._known[picture]


def _own(output: Any) -> Any:
    # Layers of transformers give a tensor, or one in a tuple, by version.
    return output[0] if isinstance(output, tuple) else output
