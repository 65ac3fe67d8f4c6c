"""Keeping passwords, tokens and keys out of what is printed, logged and stored.

A URL becomes text in errors, logs, reports and provenance. Whoever reads those may not log in with it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote

from mrag._patterns import compile_late

HIDDEN: Final = "***"  # What stands in place of a secret

_PARTS: Final = (
    "token secret passw pwd passphrase apikey accesskey credential signature session jwt bearer auth "
    "cookie hmac otp"
).split()
_WHOLE: Final = frozenset("key pass pw sig sid pin code".split())

# Parameters of stores' URLs that say what is read, not who reads it. All others stay unseen, because
# servers call their secrets by any name.
_SHOWN: Final = frozenset(
    "graph graphs update query default-graph-uri named-graph-uri using-graph-uri using-named-graph-uri "
    "context infer timeout format output default ruleset".split()
)

_RUN: Final = compile_late(r"""[^\s"'<>]+""")
_PLACE: Final = compile_late(r"(?<=[a-z0-9+.-]:/)/?", re.IGNORECASE)
_HOST: Final = compile_late(r"[^/?#]*")
# A password may hold a slash that should have been escaped; a port and a path with an @ are none.
_NAMED: Final = compile_late(r"[^:/?#@]+:(?!\d+(?:[/?#]|$))")
_NAME: Final = compile_late(
    r"""(?: [?&;\#] (?:amp;)? | %3f | %26) ([^\s=?&;\#<>"'%]+) (?: = | %3d)""", re.VERBOSE | re.IGNORECASE
)
_VALUE: Final = compile_late(r"""[^\s&\#<>"']+""")

_TARGET: Final = compile_late(r"""(?<![^\s"'<>])[^\s"'<>]+\?[^\s"'<>]*""")
"""A URL, or what follows the host in one, within a line of a log."""


def names_secret(name: str) -> bool:
    """Return whether a parameter, header or variable of this name holds a secret.

    Example:
        >>> [names_secret(n) for n in ("access_token", "X-Api-Key", "MRAG_STORE_PASSWORD", "graph")]
        [True, True, True, False]
    """
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain in _WHOLE or plain.endswith("key") or any(part in plain for part in _PARTS)


def redact(text: str) -> str:
    """Return a text with the logins of URLs, and parameters whose names tell of a secret, made unreadable."""
    parts, at = [], 0
    for start, end in _logins(text):
        parts += [text[at:start], HIDDEN]
        at = end
    text = "".join([*parts, text[at:]])
    parts, at = [], 0
    for name in _NAME.finditer(text):
        value = _VALUE.match(text, name.end())
        if name.start() >= at and names_secret(name[1]) and value is not None:
            parts += [text[at : name.end()], HIDDEN]
            at = value.end()
    return "".join([*parts, text[at:]])


def _logins(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the logins of URLs begin and end in a text, in time that grows with the text alone."""
    for run in _RUN.finditer(text):
        last, end = text.rfind("@", *run.span()), run.start()
        for place in _PLACE.finditer(text, end, max(last, end)):
            start = place.end()
            if start < end:
                continue
            host = _HOST.match(text, start, run.end())
            named = _NAMED.match(text, start, run.end())
            if host is not None and (at := text.rfind("@", *host.span())) >= 0:
                end = at
            elif named is not None and named.end() <= last:
                end = last
            else:
                continue
            yield start, end


def brief(text: str, most: int) -> str:
    """Return the beginning of a text as one line, redacted before it is cut: half a login looks like none."""
    return redact(" ".join(text.split()))[:most]


def redact_url(url: str) -> str:
    """Return the URL of a store as it may be shown: what is not known to be harmless is left out."""
    text = redact(url)
    return _hide_known(text) if ":/" in text else text


def _hide_known(text: str) -> str:
    """Leave out the parameters of a URL that are not known to be harmless."""
    place, mark, rest = text.partition("?")
    rest, fragment, _ = rest.partition("#")
    place, more, _ = place.partition("#")
    shown = "&".join(map(_parameter, re.split("[&;]", rest))) if rest else rest
    return place + mark + shown + (f"#{HIDDEN}" if fragment or more else "")


def secrets_in(url: str) -> set[str]:
    """Return the values that `redact_url` leaves out of a URL: of its login and of its parameters.

    Example:
        >>> sorted(secrets_in("http://ann:x%40y@host/query?graph=urn:g&k=abc"))
        ['abc', 'x@y']
    """
    login = next((url[start:end] for start, end in _logins(url)), "")
    # A name alone is a token in its place; with a password it is no secret.
    secrets = {login.partition(":")[2] or login}
    for pair in re.split("[&;]", url.partition("?")[2].partition("#")[0]):
        name, _, value = pair.partition("=")
        if name.lower() not in _SHOWN:
            secrets.add(value or name)
        elif ":/" in (inside := unquote(value)):
            secrets |= secrets_in(inside)
    return {unquote(value) for value in secrets if value}


def hide_in_logs(*names: str) -> None:
    """Have some loggers redact what they are given, such as those of HTTP clients, which print URLs."""
    for name in names:
        logging.getLogger(name).addFilter(_LOGS)


class _Redacting(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        shown = _TARGET.sub(lambda match: _hide_known(match[0]), redact(said))
        if shown != said:
            record.msg, record.args = shown, ()
        return True


_LOGS: Final = _Redacting()


def _parameter(pair: str) -> str:
    name, _, value = pair.partition("=")
    if name.lower() not in _SHOWN:
        # A name without a value may be the secret itself.
        return f"{name}={HIDDEN}" if value else HIDDEN if pair else pair
    inside = unquote(value)
    shown = redact_url(inside) if ":/" in inside else inside
    return pair if shown == inside else f"{name}={quote(shown, safe='*')}"
