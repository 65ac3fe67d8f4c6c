"""The parameters of forms and of addresses; it imports little, because large forms are read in processes."""

from __future__ import annotations

from typing import TypeAlias
from urllib.parse import parse_qsl

from mrag.errors import ConfigError

Fields: TypeAlias = list[tuple[str, str]]


def pairs(data: bytes) -> Fields:
    """Read the parameters of a form or of an address.

    Raises:
        ConfigError: If they cannot be read, or there are very many.

    Example:
        >>> pairs(b"query=ASK+%7B%7D&timeout=3")
        [('query', 'ASK {}'), ('timeout', '3')]
    """
    try:
        text = data.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except (UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"The parameters cannot be read: {error}.") from error
