"""JSON files read record by record: one long array, an object of long arrays, or a record to a line.

The decoder is the standard library's; only the text of one record is held at a time.
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.rdf import Progress, Source

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODE = json.JSONDecoder().raw_decode
_CHUNK = 1 << 20
_NUMBER = 4
"""Characters that tell whether a number goes on."""
_LARGEST = 256 << 20
"""Characters of one record after which a file is taken for broken."""


class BrokenJson(LoadError):
    """The text ended, or broke, before the JSON did."""


class JsonText:
    r"""JSON text that is read piece by piece, gzipped or not.

    Args:
        path: The file; `.gz` at the end means gzip.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        LoadError: If there is no such file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "a.json"
        ...     _ = path.write_text('{"info": {"year": 2020}, "images": [{"id": 1}, {"id": 2}]}')
        ...     with JsonText(path) as text:
        ...         for name in text.fields():
        ...             print(name, list(text.items()) if text.peek() == "[" else text.value())
        info {'year': 2020}
        images [{'id': 1}, {'id': 2}]
    """

    def __init__(self, path: str | os.PathLike[str], on_progress: Progress | None = None) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise LoadError("There is no such file.", file=str(self.path), hint="Check the path.")
        source = Source(self.path, ox.RdfFormat.JSON_LD, self.path.suffix.lower() == ".gz", "")
        total = source.size()
        self._stream = source.open((lambda done: on_progress(done, total)) if on_progress else None)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False
        self.where = "at the beginning"

    def __enter__(self) -> JsonText:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stream.close()

    def fields(self) -> Iterator[str]:
        """Yield the keys of an object, each to be followed by a read of its value."""
        self.expect("{")
        if self.peek() == "}":
            self.expect("}")
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.broken(f"{key!r} stands where a key should")
            self.expect(":")
            self.where = f"in {key!r}"
            yield key
            if self.peek() == "}":
                self.expect("}")
                return
            self.expect(",")

    def items(self) -> Iterator[Any]:
        """Yield the members of an array."""
        self.expect("[")
        if self.peek() == "]":
            self.expect("]")
            return
        while True:
            yield self.value()
            if self.peek() == "]":
                self.expect("]")
                return
            self.expect(",")

    def records(self) -> Iterator[Any]:
        """Yield the records of a file that is an array, or that has one to a line (JSON Lines)."""
        if self.blank():
            return
        if self.peek() == "[":
            yield from self.items()
            if not self.blank():
                raise self.broken("something follows the array")
            return
        while not self.blank():
            yield self.value()

    def skip(self) -> None:
        """Read over a value."""
        if self.peek() == "[":
            for _ in self.items():
                pass
        else:
            self.value()

    def blank(self) -> bool:
        """Return whether nothing but blanks follows."""
        while True:
            self._skip_blanks()
            if self._at < len(self._buffer):
                return False
            if self._ended:
                return True
            self._more()

    def peek(self) -> str:
        """Return the next character that is not blank."""
        if self.blank():
            raise self.broken("the file ends early")
        return self._buffer[self._at]

    def expect(self, mark: str) -> None:
        """Read over a character that must come next."""
        if (found := self.peek()) != mark:
            raise self.broken(f"{mark!r} was expected where {found!r} stands")
        self._at += 1

    def value(self) -> Any:
        """Read a value whole."""
        self.peek()
        while True:
            try:
                found, end = _DECODE(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # What the end of the buffer cuts off shows near that end, or as a text without one.
                cut = error.msg.startswith("Unterminated") or error.pos > len(self._buffer) - 16
                if not cut or len(self._buffer) - self._at > _LARGEST:
                    raise self.broken(error.msg[:1].lower() + error.msg[1:]) from error
                if self._ended:
                    raise self.broken("the file ends early") from error
                self._more()
                continue
            except (ValueError, RecursionError) as error:
                raise self.broken("a number is too long or the nesting too deep") from error
            # A number may go on in the next piece, and `1.` and `1e+` are its beginnings, too.
            rest = self._buffer[end : end + _NUMBER]
            cut = not rest or (rest[0] in ".eE" and len(rest) < _NUMBER)
            if self._ended or self._buffer[end - 1] in '"}]el' or not cut:
                self._at = end
                return found
            self._more()

    def broken(self, what: str) -> BrokenJson:
        """Return the error for JSON that is not well formed here."""
        return BrokenJson(
            f"Not valid JSON {self.where}: {what}.",
            file=str(self.path),
            hint="Fetch the file again, or keep what comes before with --skip-bad.",
        )

    def _skip_blanks(self) -> None:
        found = _BLANK.match(self._buffer, self._at)
        self._at = self._at if found is None else found.end()

    def _more(self) -> None:
        # Twice as much each time, so that one very long record is not scanned over and over.
        wanted = max(_CHUNK, len(self._buffer) - self._at)
        try:
            data = self._stream.read(wanted)
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self.broken("the text is not UTF-8") from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self.broken("the file ends early or is not gzip") from error
        except OSError as error:
            raise LoadError(f"The file cannot be read: {error}.", file=str(self.path)) from error
        self._ended = not data
        self._buffer, self._at = self._buffer[self._at :] + text, 0
