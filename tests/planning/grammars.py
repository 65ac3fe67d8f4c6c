"""Texts drawn from a grammar."""

import random
import re
from collections.abc import Iterator, Sequence

_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|(\[[^\]]+\])|([\w-]+)|([()|])|([?*+]|\{\d+(?:,\d+)?\})')


def split(parts: Sequence[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Return the alternatives of a rule, or of what stands in brackets."""
    options: list[list[re.Match[str]]] = [[]]
    depth = 0
    for part in parts:
        depth += {"(": 1, ")": -1}.get(part[4] or "", 0)
        if part[4] == "|" and not depth:
            options.append([])
        else:
            options[-1].append(part)
    return options


def repeated(parts: Sequence[re.Match[str]]) -> Iterator[tuple[Sequence[re.Match[str]], int, int]]:
    """Yield what stands in a row, each with how often at least and at most."""
    at = 0
    while at < len(parts):
        end = at + 1
        if parts[at][4] == "(":
            depth = 1
            while depth:
                depth += {"(": 1, ")": -1}.get(parts[end][4] or "", 0)
                end += 1
        low = high = 1
        sign = parts[end][5] if end < len(parts) else None
        if sign:
            low, high = {"?": (0, 1), "*": (0, 99), "+": (1, 99)}.get(sign, (0, 0))
            if sign[0] == "{":
                bounds = sign.strip("{}").split(",")
                low, high = int(bounds[0]), int(bounds[-1])
        yield parts[at:end], low, high
        at = end + bool(sign)


class Grammar:
    """Draws texts from a grammar in llama.cpp's notation, as far as ours goes."""

    def __init__(self, text: str) -> None:
        self.rules = dict(line.split(" ::= ", 1) for line in text.splitlines() if line.strip())

    def draw(self, rng: random.Random) -> str:
        return self._alternatives(list(_PART.finditer(self.rules["root"])), rng)

    def _alternatives(self, parts: Sequence[re.Match[str]], rng: random.Random) -> str:
        return self._row(rng.choice(split(parts)), rng)

    def _row(self, parts: Sequence[re.Match[str]], rng: random.Random) -> str:
        return "".join(
            self._one(one, rng)
            for one, low, high in repeated(parts)
            for _ in range(rng.randint(low, min(high, low + 2)))
        )

    def _one(self, parts: Sequence[re.Match[str]], rng: random.Random) -> str:
        text, letters, rule, _, _ = parts[0].groups()
        if text is not None:
            return re.sub(r"\\(.)", r"\1", text)
        if letters is not None:
            return str(rng.randint(int(letters[1]), int(letters[3])))
        if rule is not None:
            return self._alternatives(list(_PART.finditer(self.rules[rule])), rng)
        return self._alternatives(parts[1:-1], rng)


def accepts(grammar: str, text: str) -> bool:
    """Return whether a grammar lets a text through."""
    return len(text) in _Matcher(grammar, text).rule("root", 0)


class _Matcher:
    """Finds where each part of a grammar may end in a text; each rule is tried once at each place."""

    def __init__(self, grammar: str, text: str) -> None:
        self.rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line.strip())
        self.parts = {name: list(_PART.finditer(body)) for name, body in self.rules.items()}
        self.text = text
        self.known: dict[tuple[str, int], set[int]] = {}

    def rule(self, name: str, at: int) -> set[int]:
        if (name, at) not in self.known:
            self.known[name, at] = self._alternatives(self.parts[name], at)
        return self.known[name, at]

    def _alternatives(self, parts: Sequence[re.Match[str]], at: int) -> set[int]:
        return {end for row in split(parts) for end in self._row(row, {at})}

    def _row(self, parts: Sequence[re.Match[str]], ends: set[int]) -> set[int]:
        for one, low, high in repeated(parts):
            found = set(ends) if not low else set[int]()
            here = ends
            for times in range(1, high + 1):
                here = {end for at in here for end in self._one(one, at)}
                found |= here if times >= low else set()
            ends = found
        return ends

    def _one(self, parts: Sequence[re.Match[str]], at: int) -> set[int]:
        text, letters, rule, _, _ = parts[0].groups()
        if text is not None:
            said = re.sub(r"\\(.)", r"\1", text)
            return {at + len(said)} if self.text.startswith(said, at) else set()
        if letters is not None:
            return {at + 1} if re.match(letters, self.text[at : at + 1]) else set()
        return self.rule(rule, at) if rule is not None else self._alternatives(parts[1:-1], at)
