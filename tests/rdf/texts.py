"""Random SPARQL 1.1 texts: the whole grammar, written as an attacker would write it.

The grammar is `texts.json`. A rule has alternatives, of words between spaces or listed where they hold some:
`$name` stands for a rule, `?0.2` behind a word is how likely it is there, and braces are filled in.
"""

import json
import re
from pathlib import Path
from random import Random

_GRAMMAR: dict[str, list[str | list[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_DEEPEST = {"group": 5, "part": 5, "expression": 7}
_ODD_SPACE = ("\u2028", "\u2029", "\u0085", "\u00a0", "\ufeff", "\f", "\v", "\x00", "\u200b", "\u3000")
_CONTENTS = ("c", "SERVICE", "# no comment", "\\n\\t\\\\", "\\u00e9", "a\\'b\\\"", "} ; DROP ALL", "")
_TAILS = ("", "", "@en", "@en-GB", "^^<http://www.w3.org/2001/XMLSchema#string>")
_FILLED = re.compile(r"\{(address|calling|number|odd|service|string)\}")


class Texts:
    """Writes texts, most of them well formed; `address` is what SERVICE, LOAD and FROM call."""

    def __init__(self, seed: int, address: str, *, calling: float = 0.15, noise: float = 0.002) -> None:
        self.random = Random(seed)
        self.address, self.calling, self.noise = address, calling, noise
        self._depth = 0

    def query(self) -> str:
        """Write a query."""
        return self._mutated(self._glued(self._rule("query")))

    def update(self) -> str:
        """Write an update of some operations."""
        return self._mutated(self._glued(self._rule("update")))

    def _rule(self, name: str) -> list[str]:
        counted = name in _DEEPEST
        deep = f"deep {name}" if counted and self._depth >= _DEEPEST[name] else name
        self._depth += counted
        chosen = self.random.choice(_GRAMMAR[deep])
        odd = self._pick("\r", "\n", "\r\n", *_ODD_SPACE)
        words = [self._filled(word, odd) for word in (chosen.split() if isinstance(chosen, str) else chosen)]
        found: list[str] = []
        for word in words:
            plain, mark, chance = word.rpartition("?")
            likely = bool(mark and plain) and re.fullmatch(r"[0-9.]+", chance) is not None
            if likely and self.random.random() >= float(chance):
                continue
            word = plain if likely else word
            rule = word[1:] if word.startswith("$") else ""
            found += self._rule(rule) if rule in _GRAMMAR else [word]
        self._depth -= counted
        return found

    def _filled(self, word: str, odd: str) -> str:
        def value(found: re.Match[str]) -> str:
            match found[1]:
                case "string":
                    quote = self._pick('"', "'", '"""', "'''")
                    return f"{quote}{self._pick(*_CONTENTS)}{quote}{self._pick(*_TAILS)}"
                case "service":
                    return " ".join(self._rule("service"))
                case "number":
                    return str(self.random.randint(0, 9999))
            return {"address": self.address, "calling": str(self.calling), "odd": odd}[found[1]]

        return _FILLED.sub(value, word)

    def _glued(self, parts: list[str]) -> str:
        text = ""
        for part in parts:
            word = self._cased(part) if part.isalpha() and part.isupper() else part
            gap = self.random.random()
            if gap < self.noise:
                text += self._pick(*_ODD_SPACE)
            elif gap < 0.06:
                text += self._pick(" # c\r", "#\n", " #SERVICE <x> {}\r\n", "\t", "\r", "\n\n", "# \u2028\r")
            elif gap >= 0.1 or not (word[0] in "{}()[].,;" or text[-1:] in "{}()[],;"):
                text += " "
            text += word
        return text

    def _cased(self, word: str) -> str:
        choice = self.random.random()
        if choice < 0.6:
            return word
        if choice < 0.98:
            return word.lower() if choice < 0.8 else "".join(self._pick(c.lower(), c) for c in word)
        at = self.random.randrange(len(word))
        return f"{word[:at]}\\u{ord(word[at]):04X}{word[at + 1 :]}"

    def _mutated(self, text: str) -> str:
        if self.random.random() > 0.1 or not text:
            return text
        at = self.random.randrange(len(text))
        odd = self._pick("#", "\r", "'", '"', "\\", "<", ">", "{", "}", "\\u0022", *_ODD_SPACE)
        return text[:at] + odd + text[at + self.random.randint(0, 1) :]

    def _pick(self, *choices: str) -> str:
        return self.random.choice(choices)
