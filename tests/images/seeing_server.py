"""An Ollama server whose model sees: it answers from the mean colour of the picture that it is sent.

The protocol is that of `tests.generation.ollama_server`. Run as a program it serves until it is killed,
and writes its address to a file.
"""

import base64
import binascii
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.generation.ollama_server import OllamaServer, ProtocolError, Served, last

COLOURS = {
    "red": (200, 30, 30), "green": (30, 160, 60), "blue": (40, 60, 200), "yellow": (230, 210, 40),
    "white": (245, 245, 245), "black": (20, 20, 20), "purple": (140, 40, 160), "orange": (240, 140, 30),
}  # fmt: skip


def colour_of(data: bytes) -> str:
    """Name the colour nearest to the mean of a picture."""
    from PIL import Image

    mean = Image.open(io.BytesIO(data)).convert("RGB").resize((1, 1), Image.Resampling.BOX)
    rgb = mean.getpixel((0, 0))
    return min(COLOURS, key=lambda name: sum((x - y) ** 2 for x, y in zip(COLOURS[name], rgb, strict=True)))


def said_of(data: bytes) -> str:
    return f'A {colour_of(data)} garment, "plain",\nworn in \\summer\\.'


@dataclass
class SeeingServer(OllamaServer):
    """Answers about pictures; a `ProtocolError` that `say` raises is sent."""

    say: Callable[[bytes], str] = said_of
    asked: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._count = threading.Lock()
        super().__post_init__()

    def talk(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        served = self.find(body)
        with self._count:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self.asked.append(dict(body))
        try:
            message = body["messages"][-1]
            if "vision" not in served.capabilities or len(message.get("images") or ()) != 1:
                raise ProtocolError(400, "this model answers one picture at a time")
            try:
                data = base64.b64decode(message["images"][0], validate=True)
            except binascii.Error as error:
                raise ProtocolError(400, f"illegal base64 data: {error}") from error
            self.images.append(data)
            text = self.say(data)
        finally:
            with self._count:
                self.at_once -= 1
        yield last(served, text)


def llava(**more: Any) -> SeeingServer:
    return SeeingServer([Served("llava:latest", "llama", ("completion", "vision"))], **more)


def main(address: str, delay: float) -> None:
    with llava(delay=delay) as server:
        Path(address).write_text(server.url, encoding="utf-8")
        while True:
            time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
