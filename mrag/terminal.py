"""Text on its way to a terminal: what would steer it is shown as signs, data is escaped as its format does.

Labels, file names, what models and servers say may hold anything that Unicode has. `guarded` wraps the
standard streams, so that whatever is printed by whichever way is made harmless where it leaves.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from mrag._patterns import compile_late

# Controls of C0 but tab and newline, DEL and C1; the controls of bidi and line and paragraph separators; what
# takes no room and so can hide words (soft hyphen, zero-width spaces and joiners, fillers, tags, selectors
# beyond those of emoji); surrogates, which no encoding has, and annotation and other format characters.
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LETTERS = (
    r"\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    r"\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_RTL = f"[{_LETTERS}]+"
# What may stand inside one text from right to left. Two spaces, commas, brackets and bars stand between texts
# as we print them, and end it: else two texts side by side would change places.
_RUN = rf"{_RTL}(?:(?:[ \-.'’\"\u200c\u200d]|[ \-][0-9]+[ \-]){_RTL})*"
_FSI, _PDI = "\u2068", "\u2069"
_TEXT = compile_late(rf"(?P<own>{_FSI}{_RUN}{_PDI})|(?P<run>{_RUN})|[{_UNSEEN}]")
_CONTROL = compile_late(rf"[{_UNSEEN}]")
# Most texts have neither; to see that is quick.
_ANY = compile_late(rf"[{_UNSEEN}{_LETTERS}]")
# Letters without case, and symbols: joiners shape Persian, Indian and emoji sequences, nothing else.
_JOINED = frozenset({"Lo", "Mn", "Mc", "So", "Sk"})


def visible(text: str) -> str:
    """Return a text with its controls shown as signs and texts from right to left isolated."""
    return _TEXT.sub(_show, text) if _ANY.search(text) else text


def inline(text: str) -> str:
    """Return a text as one line, its newlines shown as signs: nobody's label can print a line of its own."""
    return text.replace("\n", "␊")


def escape(text: str, *, json: bool = False) -> str:
    """Return data with escapes in place of what would steer a terminal; to a parser it is the same."""

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        if not json:
            return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
        if code < 0x10000:
            return f"\\u{code:04x}"
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"

    return _CONTROL.sub(escape, text)


def _show(match: re.Match[str]) -> str:
    if match["own"]:
        return match[0]
    if match["run"]:
        return f"{_FSI}{match[0]}{_PDI}"
    return _joiner(match) or _sign(match[0])


def _joiner(match: re.Match[str]) -> str:
    """Return a joiner where it shapes the characters beside it, else nothing."""
    text, at = match.string, match.start()
    if match[0] not in "\u200c\u200d" or not 0 < at < len(text) - 1:
        return ""
    beside = {unicodedata.category(text[at - 1]), unicodedata.category(text[at + 1])}
    return match[0] if beside <= _JOINED else ""


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Encoded:
    """A text stream that writes what its encoding lacks as escapes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        fits = text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)
        self.stream.write(fits)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "raw", "detach", "reconfigure"):
            raise AttributeError(f"A guarded stream has no {name}.")
        return getattr(self.stream, name)


class Guarded(Encoded):
    """A text stream whose text is made visible."""

    def write(self, text: str) -> int:
        """Write a text, made visible."""
        super().write(visible(text))
        return len(text)

    def write_data(self, text: str) -> None:
        """Write data in a format of its own, which isolates would change; a control in it is shown still."""
        super().write(_CONTROL.sub(lambda match: _sign(match[0]), text))


@contextmanager
def guard() -> Iterator[None]:
    """Guard standard output and standard error meanwhile; once is enough, more do no harm."""
    before = sys.stdout, sys.stderr
    put = tuple(s if s is None or isinstance(s, Guarded) else cast(TextIO, Guarded(s)) for s in before)
    sys.stdout, sys.stderr = put
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def protocol() -> Iterator[None]:
    """Leave standard output unguarded meanwhile, for a protocol that a program reads there."""
    before = sys.stdout
    sys.stdout = unguard(before)
    try:
        yield
    finally:
        sys.stdout = before


def unguard(stream: TextIO) -> TextIO:
    """Return the stream that a guarded one writes to, for those who guard what they write themselves."""
    return stream.stream if isinstance(stream, Guarded) else stream


def write_data(text: str) -> None:
    """Write data to standard output as it is."""
    if isinstance(sys.stdout, Guarded):
        sys.stdout.write_data(text)
    else:
        sys.stdout.write(text)
