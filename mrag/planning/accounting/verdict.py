"""Whether a plan says all that its question says, and nothing else, however the plan was made.

The check looks at the text of a question, at a plan and at the names of a graph. Each word that carries
meaning, each name and number, and each word that says how to compute has its counterpart in the plan, and
what is told is of the kind that is asked for. What is left over is named, and nothing is given as computed
then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mrag.planning.accounting.leftover import left_over, unasked_names
from mrag.planning.accounting.operations import operations
from mrag.planning.accounting.sides import BothSides, Gap
from mrag.planning.accounting.told import told
from mrag.planning.accounting.used import PlanUse
from mrag.planning.building.scoring import Reading
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Plan

_GIVEN: Final = 0.6
"""How likely a reading is at least that may be given unasked."""
_HOW: Final = re.compile(
    r"(?i),? (?:rounded|based on joining|by doing|by joining)\b[^.?]*"
    r"\b(?:decimals?|digits?|places|joins?|tables?)\b"
)
"""What says how to compute, and not what."""


@dataclass(frozen=True)
class Verdict:
    """What a plan leaves out of its question, and what it adds to it.

    Attributes:
        gaps: Each with the words that it is about.
    """

    gaps: tuple[Gap, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that the gaps are about, each once."""
        return tuple(dict.fromkeys(gap.words for gap in self.gaps))


def account(lexicon: Lexicon, question: str, plan: Plan, shown: Sequence[str]) -> Verdict:
    """Return what of a question a plan leaves out, and what it adds.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
        shown: Names of the plan's columns that are told.

    Example:
        >>> import mrag
        >>> from rdflib import RDF, URIRef
        >>> from mrag.planning.lexicon import lexicon_of
        >>> from mrag.planning.plan import Aggregate, Block, Column, Pattern, Unknown
        >>> x, store = Unknown("x"), URIRef("https://w3id.org/mrag/demo/products#TripleStore")
        >>> many = Column(Aggregate("count", of=(x,)), "n")
        >>> plan = Plan(Block((Pattern(x, RDF.type, store),)), (many,))
        >>> with mrag.demo(model="none") as kg:
        ...     lexicon = lexicon_of(kg, None)
        ...     for question in ("How many triple stores are there?", "How many stores did Ontotext sell?"):
        ...         print(account(lexicon, question, plan, ["n"]).words)
        ()
        ('Ontotext',)
    """
    sides = BothSides(_HOW.sub("", question), PlanUse.of(plan, shown), lexicon)
    found = (*left_over(sides), *operations(sides), *told(sides), *unasked_names(sides))
    return Verdict(tuple(dict.fromkeys(found)))


def accounted(lexicon: Lexicon, question: str, readings: Sequence[Reading]) -> list[Reading]:
    """Return readings, those first that say all that a question says.

    The others name what they leave out as ignored; nothing is given as computed by them. What was saved by
    somebody as the reading of a question is taken as it is.

    Args:
        lexicon: The names of the graph.
        question: The question.
        readings: Its readings, likeliest first.
    """
    kept, short = list[Reading](), list[Reading]()
    for reading in readings:
        words: tuple[str, ...] = ()
        if "guesses" in reading.features and (reading is readings[0] or reading.probability >= _GIVEN):
            words = account(lexicon, question, reading.plan, reading.shown).words
        left = tuple(dict.fromkeys((*reading.ignored, *words)))
        (short if words else kept).append(replace(reading, ignored=left))
    return kept + short
