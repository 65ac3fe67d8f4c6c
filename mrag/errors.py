"""Every error that mrag raises on purpose, as one tree.

```
MragError
├── TermError                an IRI, literal or language tag that RDF does not allow
├── ConfigError              a setting, URL or name that cannot be used
│   └── QuestionTooLong      a question has more words than one can have
├── StoreError
│   ├── StoreLocked          another process has the folder open
│   ├── QueryRefused         the read gate or a cap says no
│   ├── QueryTimeout         the deadline passed; the query has been ended
│   ├── EndpointError        a server did not answer as it should
│   └── LoadError            a file could not be read; nothing of it was stored
├── ReasoningError
│   └── InconsistentOntology the triples contradict the axioms
├── IndexError_
│   ├── MissingIndex         no index of that name
│   ├── DamagedIndex         a file of the index is not as it was written
│   ├── StaleIndex           the graph has changed since the index was built
│   └── IndexMismatch        the index was built with another model
├── LearningProblemError     examples that no learner can use
├── RankerError              a ranker of another package does not keep its promises
└── ModelError               a language or embedding model cannot be had or misbehaves
```

No error tells the login, token or key of a URL. Each carries what a person needs to act: a hint, and
where they apply the query's name, the endpoint, the file with its line, and the term.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mrag.redaction import redact, redact_url


class MragError(Exception):
    """Base of all errors of this package.

    Args:
        message: What happened, in one sentence.
        hint: What to do next.
        query: Name of the catalogue query, or the text of a person's query.
        endpoint: URL of the server concerned.
        file: Path of the file concerned.
        line: Line in that file, counted from 1.
        term: The RDF term concerned, as written.

    Example:
        >>> print(LoadError("Not Turtle.", file="a.ttl", line=3, hint="Check the dot before it."))
        Not Turtle. [a.ttl, line 3] Check the dot before it.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        query: str | None = None,
        endpoint: str | None = None,
        file: str | None = None,
        line: int | None = None,
        term: str | None = None,
    ) -> None:
        message = redact(message)
        super().__init__(message)
        self.message = message
        self.hint = hint and redact(hint)
        self.query = query
        self.endpoint = endpoint and redact_url(endpoint)
        self.file = file and redact(file)
        self.line = line
        self.term = term

    def __str__(self) -> str:
        where = [str(w) for w in (self.endpoint, self.file) if w]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.query:
            first = self.query.strip().splitlines()[0] if self.query.strip() else ""
            where.append(f"query {first[:80]}")
        if self.term:
            where.append(f"term {self.term}")
        parts = [self.message, f"[{', '.join(where)}]" if where else "", self.hint or ""]
        return " ".join(p for p in parts if p)


class TermError(MragError, ValueError):
    """An IRI, literal or language tag that RDF 1.1 does not allow."""


class ConfigError(MragError, ValueError):
    """A setting, URL or name that cannot be used."""


class QuestionTooLong(ConfigError):
    """A question has more characters than one can have."""


class StoreError(MragError):
    """A triple store could not do what was asked."""


class StoreLocked(StoreError):
    """Another process has the store's folder open for writing."""


class QueryRefused(StoreError):
    """The read gate refused a query, or its result is larger than the caps allow."""


class QueryTimeout(StoreError, TimeoutError):
    """A query passed its deadline and has been ended."""


class EndpointError(StoreError, ConnectionError):
    """A server could not be reached or did not answer as the protocol says.

    Attributes:
        status: The status of its answer, where that was the error.
    """

    status: int | None = None


class LoadError(StoreError):
    """A source could not be read; nothing of it has been stored."""


class ReasoningError(MragError):
    """Reasoning could not be carried out."""


class InconsistentOntology(ReasoningError):
    """The triples contradict the axioms; the clashing triples are in `clashes`."""

    def __init__(self, message: str, *, clashes: tuple[object, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.clashes = clashes


class IndexError_(MragError):
    """A similarity index cannot be used."""


class MissingIndex(IndexError_, LookupError):
    """No index of that name exists."""


class DamagedIndex(IndexError_):
    """A file of the index, or of a journal, is missing, cut off or not as it was written."""


class StaleIndex(IndexError_):
    """The graph has changed since the index was built."""


class IndexMismatch(IndexError_):
    """The index was built with another embedding model than the one asked for."""


class LearningProblemError(MragError, ValueError):
    """Positive and negative examples are empty, overlap, or are not in the graph."""


class RankerError(MragError):
    """A ranker of another package fails, or gives what are no hits."""


class ModelError(MragError):
    """A language or embedding model cannot be had, or its answer cannot be used."""


def require_known(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse arguments that do not exist, so that a misspelt one is not silently without effect.

    Args:
        given: The names of the arguments that were given.
        known: Those that there are.
        what: What they were given to.

    Raises:
        ConfigError: If one is unknown; the hint names the one most like it, or all.

    Example:
        >>> require_known(["hopps"], ["hops", "schema"], "ContextSettings")
        Traceback (most recent call last):
        mrag.errors.ConfigError: ContextSettings has no argument 'hopps'. Did you mean 'hops'?
    """
    _require(given, known, f"{what} has no argument {{!r}}.")


def check_choice(what: str, value: str, choices: Iterable[str]) -> None:
    """Refuse a name that nothing of its kind has.

    Raises:
        ConfigError: If it is unknown; the hint names the one most like it, or all.

    Example:
        >>> check_choice("mode", "bm25", ("hybrid", "bm25"))
        >>> check_choice("mode", "words", ("hybrid", "bm25"))
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no mode 'words'. There are: bm25, hybrid.
    """
    _require((value,), choices, f"There is no {what} {{!r}}.")


def _require(given: Iterable[str], known: Iterable[str], problem: str) -> None:
    names = sorted(known)
    for name in given:
        if name not in names:
            folded = {n.casefold(): n for n in names}
            like = [folded[n] for n in get_close_matches(str(name).casefold(), folded, n=1)]
            hint = f"Did you mean {like[0]!r}?" if like else f"There are: {', '.join(names) or 'none'}."
            raise ConfigError(problem.format(name), hint=hint)
