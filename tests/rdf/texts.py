"""Random SPARQL 1.1 texts: the whole grammar, written as an attacker would write it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_ODD_SPACE = ("\u2028", "\u2029", "\u0085", "\u00a0", "\ufeff", "\f", "\v", "\x00", "\u200b", "\u3000")
_FUNCTIONS = ("STR", "LANG", "DATATYPE", "ABS", "UCASE", "STRLEN", "isIRI", "isLITERAL", "IRI", "MD5", "YEAR")
_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")


class Texts:
    """Writes texts, most of them well formed.

    Args:
        seed: Of the random choices.
        address: What SERVICE, LOAD and FROM call.
        calling: How likely a group holds a SERVICE, written openly or hidden.
        noise: How likely odd characters stand between two terminals.
    """

    def __init__(self, seed: int, address: str, *, calling: float = 0.15, noise: float = 0.002) -> None:
        self.random = Random(seed)
        self.address = address
        self.calling = calling
        self.noise = noise
        self._depth = 0

    # -- texts -------------------------------------------------------------------------------------

    def query(self) -> str:
        """Write a query."""
        self._depth = 0
        parts = [*self._prologue(), *self._one(self._select, self._ask, self._construct, self._describe)]
        return self._mutated(self._glued(parts))

    def update(self) -> str:
        """Write an update of some operations."""
        self._depth = 0
        parts: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            parts += [*self._prologue(), *self._operation(), ";"]
        return self._mutated(self._glued(parts[:-1]))

    def _operation(self) -> list[str]:
        return self._one(
            lambda: ["INSERT", "DATA", *self._quads(ground=True)],
            lambda: ["DELETE", "DATA", *self._quads(ground=True)],
            lambda: ["DELETE", "WHERE", *self._quads()],
            lambda: [
                *self._maybe(0.2, ["WITH", "<urn:g>"]),
                *self._one(
                    lambda: ["DELETE", *self._quads()],
                    lambda: ["INSERT", *self._quads()],
                    lambda: ["DELETE", *self._quads(), "INSERT", *self._quads()],
                ),
                *self._maybe(0.2, ["USING", self._pick("<urn:g>", f"<{self.address}u>")]),
                "WHERE",
                *self._group(),
            ],
            lambda: ["LOAD", *self._maybe(0.5, ["SILENT"]), f"<{self.address}load>"],
            lambda: ["CLEAR", *self._maybe(0.5, ["SILENT"]), self._pick("ALL", "DEFAULT", "NAMED")],
            lambda: ["DROP", "GRAPH", f"<{self.address}d>"],
            lambda: ["COPY", "DEFAULT", "TO", "<urn:g>"],
        )

    # -- forms -------------------------------------------------------------------------------------

    def _prologue(self) -> list[str]:
        found: list[str] = []
        for name in ("", "ex", "service", "a.b"):
            found += self._maybe(0.93, ["PREFIX", f"{name}:", self._pick("<urn:ex:>", f"<{self.address}>")])
        return found + self._maybe(0.15, ["BASE", f"<{self.address}base/>"])

    def _select(self) -> list[str]:
        grouped = self.random.random() < 0.2
        head = self._one(
            lambda: ["*"],
            lambda: [self._var(), self._var()],
            lambda: ["(", *self._expression(), "AS", f"?n{self.random.randint(0, 99)}", ")"],
        )
        if grouped:
            head = ["?s", "(", *self._aggregate(), "AS", "?n", ")"]
        return [
            "SELECT",
            *self._maybe(0.2, [self._pick("DISTINCT", "REDUCED")]),
            *head,
            *self._dataset(),
            *self._maybe(0.5, ["WHERE"]),
            *self._group(),
            *(["GROUP", "BY", "?s"] if grouped else []),
            *(self._maybe(0.3, ["HAVING", "(", *self._expression(), ")"]) if grouped else []),
            *self._maybe(0.2, ["ORDER", "BY", *self._one(lambda: ["?s"], self._descending, self._condition)]),
            *self._maybe(0.2, ["LIMIT", "5"]),
            *self._maybe(0.1, ["OFFSET", "1"]),
            *self._maybe(0.1, self._values()),
        ]

    def _descending(self) -> list[str]:
        return [self._pick("ASC", "DESC"), "(", *self._expression(), ")"]

    def _ask(self) -> list[str]:
        return ["ASK", *self._dataset(), *self._group()]

    def _construct(self) -> list[str]:
        return ["CONSTRUCT", "{", *self._triples(paths=False), "}", *self._dataset(), "WHERE", *self._group()]

    def _describe(self) -> list[str]:
        return ["DESCRIBE", self._pick("?s", "<urn:a>", "*"), *self._dataset(), "WHERE", *self._group()]

    def _dataset(self) -> list[str]:
        return self._maybe(
            0.04, ["FROM", *self._maybe(0.5, ["NAMED"]), self._pick(f"<{self.address}f>", "<urn:g>", "<f>")]
        )

    # -- groups ------------------------------------------------------------------------------------

    def _group(self) -> list[str]:
        self._depth += 1
        try:
            if self._depth < 5 and self.random.random() < 0.08:
                return ["{", *self._select(), "}"]
            found = ["{"]
            for _ in range(self.random.choice((0, 1, 1, 1, 2))):
                found += self._part()
            if self.random.random() < self.calling:
                found += self._call()
            return [*found, "}"]
        finally:
            self._depth -= 1

    def _part(self) -> list[str]:
        if self._depth >= 5:
            return self._triples()
        return self._one(
            self._triples,
            self._triples,
            self._group,
            lambda: ["OPTIONAL", *self._group()],
            lambda: ["MINUS", *self._group()],
            lambda: [*self._group(), "UNION", *self._group()],
            lambda: ["GRAPH", self._pick("?g", "<urn:g>", f"<{self.address}g>"), *self._group()],
            lambda: ["FILTER", *self._condition()],
            lambda: ["FILTER", *self._condition()],
            lambda: ["BIND", "(", *self._expression(), "AS", f"?b{self.random.randint(0, 9999)}", ")"],
            self._values,
        )

    def _call(self) -> list[str]:
        """Write a SERVICE, openly or where only one of two parsers may see it."""
        call = ["SERVICE", *self._maybe(0.3, ["SILENT"]), f"<{self.address}s>", "{", "?s", "?p", "?o", "}"]
        text = " ".join(call)
        end = self._pick("\r", "\n", "\r\n", *_ODD_SPACE)
        hidden: tuple[Callable[[], list[str]], ...] = (
            lambda: call,
            lambda: [f"#{end}{text} #{end}\n"],
            lambda: [f"# x{end}", *call, f"# y{end}\n"],
            lambda: ["?s", "?p", f'"{text}"', "."],
            lambda: ["?s", "?p", f"'''' {text} '''", "."],
            lambda: ["?s", "?p", f'"a\\" . {text} #"', "."],
            lambda: ["?s", "?p", f'"a\\\\" . {text} #"', "."],
            lambda: ["?s", "?p", f'"a\\u0022 . {text} #"', "."],
            lambda: ["?s", "?p", f'"a\\\\u0022 . {text} #"', "."],
            lambda: ["?s", "?p", f"'a\n' . {text} #'", "."],
            lambda: ["?s", f"ex:a\\#{end}", *call],
            lambda: ["?s", "?p", f"ex:a#{end}", *call],
            lambda: ["?s", f"<urn:x#{end}>", "?o", ".", *call],
            lambda: ["?s", "?p", "?o", ".", "\\u0053ERVICE", *call[1:]],
            lambda: ["?s", "?p", "?o", ".", "\\U00000053ERVICE", *call[1:]],
            lambda: ["?s", "?p", "?o", ".", "\u017fERVICE", *call[1:]],
            lambda: ["?s", "?p", f"1{text}"],
            lambda: ["FILTER", "(", "?s<?p&&?o>?p", ")", *call],
            lambda: ["?s", "?p", "<<", "?a", "?b", "?c", ">>", ".", *call],
            lambda: ["LATERAL", "{", *call, "}"],
            lambda: ["?s", "?p", "?o", "{|", "?q", "?r", "|}", ".", *call],
        )
        return self.random.choice(hidden)()

    def _condition(self) -> list[str]:
        return self._one(
            lambda: ["(", *self._expression(), ")"],
            lambda: [*self._maybe(0.5, ["NOT"]), "EXISTS", *self._group()],
            lambda: ["BOUND", "(", self._var(), ")"],
            lambda: ["REGEX", "(", "STR", "(", "?s", ")", ",", self._string(), ")"],
        )

    def _expression(self) -> list[str]:
        self._depth += 1
        try:
            if self._depth > 6:
                return [self._var()]
            return self._one(
                lambda: [self._var()],
                lambda: [self._string()],
                lambda: [self._pick("1", "2.5", "1e3", ".5", "-1", "+2", "true", "FALSE")],
                lambda: [*self._expression(), self._pick("+", "-", "*", "/"), *self._expression()],
                lambda: [*self._expression(), self._pick("&&", "||"), *self._expression()],
                lambda: [
                    "(",
                    *self._expression(),
                    self._pick("=", "!=", "<", ">", "<="),
                    *self._expression(),
                    ")",
                ],
                lambda: [self._pick("!", "-"), "(", *self._expression(), ")"],
                lambda: [self._pick(*_FUNCTIONS), "(", *self._expression(), ")"],
                lambda: ["(", *self._maybe(0.4, ["NOT"]), "EXISTS", *self._group(), ")"],
                lambda: ["IF", "(", *self._expression(), ",", *self._expression(), ",", "1", ")"],
                lambda: ["COALESCE", "(", *self._expression(), ",", *self._expression(), ")"],
                lambda: [
                    "(",
                    "?s",
                    *self._maybe(0.5, ["NOT"]),
                    "IN",
                    "(",
                    *self._expression(),
                    ",",
                    "2",
                    ")",
                    ")",
                ],
                lambda: [f"<{self.address}function>", "(", *self._expression(), ")"],
                lambda: ["<http://www.w3.org/2001/XMLSchema#integer>", "(", *self._expression(), ")"],
            )
        finally:
            self._depth -= 1

    def _aggregate(self) -> list[str]:
        name = self._pick(*_AGGREGATES)
        more = [";", "SEPARATOR", "=", self._string()] if name == "GROUP_CONCAT" else []
        return [name, "(", *self._maybe(0.3, ["DISTINCT"]), "?o", *more, ")"]

    def _values(self) -> list[str]:
        value = self._pick("<urn:a>", '"x"', "1", "UNDEF", "true")
        if self.random.random() < 0.5:
            return ["VALUES", "?v", "{", value, value, "}"]
        return ["VALUES", "(", "?v", "?w", ")", "{", "(", value, "UNDEF", ")", "}"]

    # -- triples -----------------------------------------------------------------------------------

    def _triples(self, *, paths: bool = True) -> list[str]:
        found = [self._subject(), *self._verb(paths), *self._object()]
        if self.random.random() < 0.2:
            found += [";", *self._verb(paths), *self._object(), ",", *self._object()]
        return [*found, "."]

    def _quads(self, *, ground: bool = False) -> list[str]:
        triple = ["<urn:a>", "<urn:b>", self._string()] if ground else ["?s", "<urn:b>", "?o"]
        return ["{", *triple, ".", *self._maybe(0.3, ["GRAPH", "<urn:g>", "{", *triple, "}"]), "}"]

    def _subject(self) -> str:
        return self._pick("?s", "?x", "<urn:a>", "_:b", "[]", "ex:a", ":")

    def _verb(self, paths: bool) -> list[str]:
        if paths and self.random.random() < 0.25:
            return self._path()
        return [self._pick("?p", "<urn:b>", "a", "ex:p", "ex:a\\,b", "ex:%41")]

    def _path(self) -> list[str]:
        return self._one(
            lambda: ["^", "<urn:b>"],
            lambda: ["<urn:b>", "/", "<urn:b>"],
            lambda: ["(", "<urn:b>", "|", "^", "ex:p", ")", self._pick("*", "+", "?")],
            lambda: ["!", "(", "<urn:b>", "|", "^", "a", ")"],
            lambda: ["<urn:b>", self._pick("*", "+", "?")],
        )

    def _object(self) -> list[str]:
        return self._one(
            lambda: ["?o"],
            lambda: ["?o"],
            lambda: [self._string()],
            lambda: ["<urn:c>"],
            lambda: [self._pick("1", "-2.5", "1.0e6", "true")],
            lambda: ["(", "?o", "1", ")"],
            lambda: ["[", "<urn:b>", "?o", "]"],
        )

    def _var(self) -> str:
        return self._pick("?s", "?p", "?o", "$o", "?service", "?été")

    def _string(self) -> str:
        quote = self._pick('"', "'", '"""', "'''")
        content = self._pick(
            "c", "SERVICE", "# no comment", "\\n\\t\\\\", "\\u00e9", "a\\'b\\\"", "} ; DROP ALL", ""
        )
        tail = self._pick("", "", "@en", "@en-GB", "^^<http://www.w3.org/2001/XMLSchema#string>")
        return f"{quote}{content}{quote}{tail}"

    # -- writing -----------------------------------------------------------------------------------

    def _glued(self, parts: list[str]) -> str:
        text = ""
        for part in parts:
            word = part
            if part.isalpha() and part.isupper():
                word = self._cased(part)
            gap = self.random.random()
            if gap < self.noise:
                text += self._pick(*_ODD_SPACE)
            elif gap < 0.06:
                text += self._pick(" # c\r", "#\n", " #SERVICE <x> {}\r\n", "\t", "\r", "\n\n", "# \u2028\r")
            elif gap < 0.1 and (word[0] in "{}()[].,;" or text[-1:] in "{}()[],;"):
                pass
            else:
                text += " "
            text += word
        return text

    def _cased(self, word: str) -> str:
        choice = self.random.random()
        if choice < 0.6:
            return word
        if choice < 0.8:
            return word.lower()
        if choice < 0.98:
            return "".join(self._pick(c.lower(), c) for c in word)
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

    def _one(self, *choices: Callable[[], list[str]]) -> list[str]:
        return self.random.choice(choices)()

    def _maybe(self, chance: float, parts: list[str]) -> list[str]:
        return parts if self.random.random() < chance else []
