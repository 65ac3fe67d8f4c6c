"""Work that wants too much, for the tests of limits."""

import os
import time
from collections.abc import Generator


def eat(size: int) -> int:
    """Want memory."""
    return len(bytearray(size))


def rest(seconds: float) -> None:
    """Want time."""
    time.sleep(seconds)


def leave() -> None:
    """End the process."""
    os._exit(3)


def count(most: int) -> Generator[object, None, int]:
    """Give many things."""
    for number in range(most):
        yield b"x" * 1024
        yield number
    return most
