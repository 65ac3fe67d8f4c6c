"""Which words of a question a model expects that is told a statement of it.

What a statement says in other words than its question cannot be told by names: *planes* are flights, what
was *shut down for good* has a date of decommissioning. So a model is asked the other way round, for the
question that a statement answers. A mask makes it write the very question, and what it would have written
without the mask tells which words come as a surprise: *courier* does where the statement selects a date.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.generation.models import Told, bounded, takes_grammar, told
from mrag.planning.accounting.verdict import Gap, account
from mrag.planning.lexicon import Lexicon
from mrag.planning.neural.writer import SYSTEM as WRITER
from mrag.planning.plan import Plan
from mrag.planning.reading.question import cut
from mrag.text.tokens import tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

EXPECTED: Final = -8.0
"""The logarithm of a word's probability from which on it is no surprise. On graphs that this was made with,
nouns that a graph does not have were at -10 to -29, but for one at -1, and those that it has by another name
at -1 to -8."""
SURPRISING: Final = -12.0
"""The same below which it comes as a surprise."""

_TABLES, _ASKED = WRITER[WRITER.index("Tables:") :].split("\n\n", 1)
SYSTEM: Final = "\n".join(
    [
        "Write the question that the SQL query answers, as a person asks it.",
        f"\n{_TABLES}\n",
        *(f"SQL: {sql}\nQuestion: {text}" for text, sql in re.findall("Question: (.*)\nSQL: (.*)", _ASKED)),
    ]
)
"""The system message: the examples of the writer, turned round."""

_LONGEST: Final = 400
"""Letters of a question that is asked for; a longer one is read by its names alone."""
_TOKENS: Final = 200


@dataclass(frozen=True)
class Unread:
    """Words of a question that nothing in a plan stands for, as they are written in small letters.

    Attributes:
        missing: What a plan has to say: names of things, numbers, times, operations, and what is asked for.
        unknown: Verbs, and what describes a noun that is read: a model may have put it in its own way.
        invented: Names, kinds and numbers in the plan that nothing in the question stands for.
        things: Nouns among the unknown words.
        asked: Nouns among the missing words: what is asked for.
        near: Nouns that are asked for, and only near in meaning to what the plan says.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """Return how much tells against the plan: a verb counts once, a noun or what is invented twice."""
        return len(self.unknown) + len(self.things) + 2 * len(self.invented)

    def without(self, expected: Set[str], surprising: Set[str] = frozenset()) -> Unread:
        """Return what is left by what a model expects that is told the plan.

        Names, numbers and operations have to be in a plan themselves. A noun that is said otherwise still
        counts as a verb does: that one thing stands for another is a guess.

        Args:
            expected: Words that it expects, in small letters.
            surprising: Words that surprise it: a noun that is only near to what the plan says is not it.

        Example:
            >>> Unread(("planes",), ("took",), asked=("planes",)).without({"planes", "took"})
            Unread(missing=(), unknown=('planes',), invented=(), things=(), asked=(), near=())
        """
        guessed = expected & {*self.asked, *self.things}
        none = tuple(w for w in self.near if w in surprising)
        return replace(
            self,
            missing=tuple(w for w in self.missing if w not in expected or w not in self.asked) + none,
            unknown=tuple(w for w in (*self.unknown, *self.asked) if w in guessed)
            + tuple(w for w in self.unknown if w not in expected),
            things=tuple(w for w in self.things if w not in expected),
            asked=tuple(w for w in self.asked if w not in expected) + none,
            near=(),
        )


_MISSING: Final = frozenset("name number average percentage ratio not superlative".split())
"""Kinds of gaps of which a plan has to have the counterpart itself."""


def unread(lexicon: Lexicon, question: str, plan: Plan) -> Unread:
    """Return the words of a question that carry meaning and that nothing in a plan stands for.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
    """
    gaps = account(lexicon, question, plan, [c.name for c in plan.columns], strict=True).gaps
    words = [g for g in gaps if g.kind == "word"]
    near = [g for g in words if "near" in g.roles]
    open_ = [g for g in words if "near" not in g.roles]
    asked = [g for g in open_ if "asked" in g.roles]
    places: defaultdict[str, int] = defaultdict(int)
    places.update({word: at for at, word in reversed(list(enumerate(cut(question).low)))})

    def said(some: Iterable[Gap]) -> tuple[str, ...]:
        return tuple(sorted({word for g in some for word in g.words.lower().split()}, key=places.__getitem__))

    return Unread(
        missing=said(g for g in gaps if g.kind in _MISSING or g in asked),
        unknown=said(g for g in open_ if g not in asked),
        invented=tuple(dict.fromkeys(g.words for g in gaps if g.kind == "unasked")),
        things=said(g for g in open_ if "noun" in g.roles),
        # What is counted has to be in the plan: any rows may be told as a number of anything.
        asked=said(g for g in asked if "counted" not in g.roles),
        near=said(g for g in near if "asked" in g.roles),
    )


def retold(model: BaseChatModel, question: str, statement: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a question that a model expects, told a statement, and those that surprise it.

    Args:
        model: A chat model. Only those of `local:` are held to the question; of others no words are known.
        question: The question.
        statement: A statement that a model has written for it.

    Returns:
        Both in small letters.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    asked = untrusted.one_line(question)
    if not takes_grammar(model) or not 0 < len(asked) <= _LONGEST:
        return frozenset(), frozenset()
    human = HumanMessage(f"SQL: {untrusted.one_line(statement)}\nQuestion:")
    grammar = f"root ::= {json.dumps(asked, ensure_ascii=False)}\n"
    words = surprises(told(bounded(model, _TOKENS), [SystemMessage(SYSTEM), human], grammar))
    return (
        frozenset(word for word, at in words.items() if at >= EXPECTED),
        frozenset(word for word, at in words.items() if at < SURPRISING),
    )


def surprises(said: Told) -> Mapping[str, float]:
    """Return the logarithm of the probability of each word that a model has written, of its rarest place.

    The first word is left out: how a question begins tells of its form alone.

    Example:
        >>> parts = ("Which", " cour", "ier", "?")
        >>> surprises(Told("".join(parts), tuple({"token": t, "logprob": -2.0} for t in parts)))
        {'courier': -4.0}
    """
    ends: list[tuple[int, float]] = []
    length = 0
    for token in said.tokens:
        length += len(token["token"])
        ends.append((length, token["logprob"]))
    if length != len(said.text):
        return {}
    found: dict[str, float] = {}
    for word in tokens(said.text)[1:]:
        begins = [0, *(end for end, _ in ends)]
        whole = sum(
            logprob
            for begin, (end, logprob) in zip(begins, ends, strict=False)
            if begin < word.end and end > word.start
        )
        low = word.raw.lower()
        found[low] = min(whole, found.get(low, 0.0))
    return found
