"""Keys that sign receipts: one of this installation, and those of others that are trusted, by name.

Ed25519 keys, written as `did:key` writes them (`z6Mk…`). The private key is a file that its owner alone may
read. The package `cryptography` is needed to sign and to check signatures, and for nothing else.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError, ModelError
from mrag.generation.result import parse

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ED25519 = b"\xed\x01"
"""What stands before the bytes of an Ed25519 key (multicodec)."""
_NAME = re.compile(r"[^\W_][\w .@+-]{0,79}\Z")
OWN = "this installation"
"""What its own key is called in reports."""


def base58(data: bytes) -> str:
    """Write bytes in base 58, led by a `z` (multibase).

    Example:
        >>> base58(b"\\x00mrag"), unbase58("z13oG52e")
        ('z13oG52e', b'\\x00mrag')
    """
    number, text = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return "z" + "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def unbase58(text: str) -> bytes:
    """Read what `base58` wrote.

    Raises:
        ModelError: If it is no such text.
    """
    body = text[1:]
    if text[:1] != "z" or len(text) > 200 or not set(body) <= set(_BASE58):
        raise ModelError("Not base 58 with a leading z.", term=text[:60])
    number = 0
    for sign in body:
        number = number * 58 + _BASE58.index(sign)
    zeros = len(body) - len(body.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def verifies(key: str, signature: bytes, data: bytes) -> bool:
    """Return whether data was signed by the holder of a public key.

    Args:
        key: The public key, `z6Mk…`.
        signature: The signature.
        data: What was signed.

    Raises:
        ModelError: If it is no public key.
        ConfigError: If `cryptography` is not installed.
    """
    raw = _raw(key)
    _needed()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True)
class SigningKey:
    """The private key of an installation.

    Attributes:
        public: The public key, `z6Mk…`.
    """

    public: str
    _private: Ed25519PrivateKey

    def sign(self, data: bytes) -> bytes:
        """Sign data."""
        return bytes(self._private.sign(data))


class KeyStore:
    """The keys of an installation, in a folder of the user's data.

    Args:
        folder: The folder; by default that of the user's data.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     keys = KeyStore(Path(folder))
        ...     key = keys.create()
        ...     verifies(key.public, key.sign(b"so"), b"so"), verifies(key.public, key.sign(b"so"), b"no")
        (True, False)
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            from platformdirs import user_data_path

            folder = user_data_path("mrag") / "keys"
        self.folder = folder
        self.file = folder / "signing.pem"
        self._trusted = folder / "trusted.json"

    def create(self) -> SigningKey:
        """Make the key of this installation.

        Raises:
            ConfigError: If there is one, it cannot be kept, or `cryptography` is not installed.
        """
        _needed()
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.generate()
        text = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(text)
        except FileExistsError as error:
            raise ConfigError(
                "This installation has a key.", file=str(self.file), hint="Show it with `mrag keys show`."
            ) from error
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self.file)) from error
        return _signing(private)

    def own(self) -> SigningKey | None:
        """Return the key of this installation; None if it has none.

        Raises:
            ConfigError: If others may read it, it is damaged, or `cryptography` is not installed.
        """
        if not self.file.exists():
            return None
        _needed()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        try:
            if os.name == "posix" and stat.S_IMODE(self.file.stat().st_mode) & 0o077:
                raise ConfigError(
                    "Others than you may read the private key.",
                    file=str(self.file), hint=f"chmod 600 {self.file}",
                )  # fmt: skip
            private = form.load_pem_private_key(self.file.read_bytes(), None)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"The private key cannot be read: {error}.", file=str(self.file)) from error
        if not isinstance(private, Ed25519PrivateKey):
            raise ConfigError("The private key is no Ed25519 key.", file=str(self.file))
        return _signing(private)

    def trusted(self) -> Mapping[str, str]:
        """Return the names of trusted keys by key, this installation's own among them.

        Raises:
            ConfigError: If the list is damaged.
        """
        own = self.own()
        return {**{key: name for name, key in self._read().items()}, **({own.public: OWN} if own else {})}

    def trust(self, name: str, key: str) -> None:
        """Trust another's key under a name.

        Raises:
            ConfigError: If it is no key, or the name is in use for another.
        """
        if not _NAME.match(name) or name == OWN:
            raise ConfigError("A key needs a name of letters and digits.", term=name[:80])
        try:
            _raw(key)
        except ModelError as error:
            raise ConfigError(
                error.message, term=key[:80], hint="Ask for their `mrag keys export`."
            ) from error
        every = self._read()
        if every.get(name, key) != key:
            raise ConfigError("Another key is trusted under this name.", term=name, hint="Forget it first.")
        self._write({**every, name: key})

    def forget(self, name: str) -> None:
        """Trust a key no more.

        Raises:
            ConfigError: If none has this name.
        """
        every = self._read()
        if name not in every:
            raise ConfigError("No key is trusted under this name.", term=name)
        self._write({one: key for one, key in every.items() if one != name})

    def _read(self) -> dict[str, str]:
        if not self._trusted.exists():
            return {}
        try:
            found = parse(self._trusted.read_bytes())
            if not isinstance(found, dict):
                raise ModelError("It is no object.")
            for key in found.values():
                _raw(key)
            return found
        except (OSError, ModelError) as error:
            raise ConfigError(
                f"The list of trusted keys cannot be read: {error}.", file=str(self._trusted)
            ) from error

    def _write(self, every: Mapping[str, str]) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._trusted.with_suffix(".new")
            new.write_text(json.dumps(every, indent=1, sort_keys=True), encoding="utf-8")
            new.replace(self._trusted)
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self._trusted)) from error


def _signing(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(base58(_ED25519 + private.public_key().public_bytes_raw()), private)


def _raw(key: Any) -> bytes:
    data = unbase58(key) if isinstance(key, str) else b""
    if not data.startswith(_ED25519) or len(data) != 34:
        raise ModelError("Not a public Ed25519 key.", term=str(key)[:80], hint="It begins with z6Mk.")
    return bytes(data[2:])


def _needed() -> None:
    try:
        import cryptography as _  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "Signatures need the package cryptography.", hint="pip install 'mrag[sign]'"
        ) from error
