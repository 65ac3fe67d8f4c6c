"""Plans that a language model writes as statements over a schema card, under a mask where that can be had."""

from __future__ import annotations

import logging
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.errors import ConfigError
from mrag.generation.models import Told, bounded, told, varied
from mrag.generation.support.sentences import without_thoughts
from mrag.language.possessive import compile_late
from mrag.language.tokens import tokens
from mrag.planning.lexicon import Lexicon
from mrag.planning.neural.card import WHETHER, Asked, SchemaCard, card_of, gbnf, vocabulary_of
from mrag.planning.neural.statement import read_statement
from mrag.planning.plan import Plan
from mrag.planning.readings import Reading
from mrag.planning.scopes import aggregates, with_subclasses
from mrag.planning.values import kind_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)
PROMPTS: Final[Mapping[str, str]] = tomllib.loads(
    (files("mrag") / "planning" / "neural" / "prompts.toml").read_text(encoding="utf-8")
)
"""What is said to a model, by what it does."""
_SELECT = compile_late(r"SELECT\b.*?(?=```|;\s*$|\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_EVEN, _DOUBT = -9.5, 0.8
"""The logarithm of a statement's probability at which it is as likely right as wrong, by the statements of a
model of 1.5 billion parameters on graphs that this was made with; and how fast it gets likelier."""
_MOST = 0.89
"""How likely a statement is at most: models are surer than right."""
_UNTOLD = -6.0
"""The logarithm of the probability of a statement of which the model tells none."""
_NUMBER: Final = compile_late(r"\b(?:how many|number of|count of)\b", re.IGNORECASE)
_WHETHER: Final = frozenset("is are was were do does did has have had can could".split())
_THINGS: Final = frozenset("which who whose list name show where".split())
_OTHERS, _WARM = 2, 0.7
"""How many other statements are drawn where the likeliest is of no use, and how freely: the temperature."""
MOST_TOKENS: Final = 160
"""Tokens of a statement at most."""


def answer_of(model: BaseChatModel, system: str, asked: str, grammar: str, tokens: int) -> Told:
    """Return what a model answers by a grammar, with the probabilities of its tokens where it tells them.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    messages = [SystemMessage(system), HumanMessage(asked)]
    return told(bounded(model, tokens), messages, grammar)


def card_for(lexicon: Lexicon, question: str) -> SchemaCard:
    """Return the schema card of a question."""
    mentions = lexicon.match(tokens(question), question)
    few = vocabulary_of(lexicon.kg, lexicon.schema)
    return card_of(lexicon.schema, question, mentions, vocabulary=few)


def asked_of(card: SchemaCard, question: str) -> str:
    """Return what a model is asked."""
    named = card.named()
    filled = {
        "card": untrusted.lines(card.text()),
        "named": f"\nNames in the question:\n{untrusted.lines(named)}\n" if named else "",
        "question": untrusted.one_line(question),
    }
    text = PROMPTS["writer-asked"]
    for place, value in filled.items():
        text = text.replace("{" + place + "}", value, 1)
    return text


def asked_for(question: str) -> Asked:
    """Return what a question asks for, as its first words tell.

    Example:
        >>> asked_for("Is any film longer than Luna?"), asked_for("Which film is longest?")
        ('whether', 'things')
    """
    words = [token.raw.lower() for token in tokens(question)]
    if words and words[0] in _WHETHER and "or" not in words:
        return "whether"
    return "things" if words and words[0] in _THINGS else "anything"


def written(model: BaseChatModel, lexicon: Lexicon, question: str) -> Iterator[Reading]:
    """Yield the plans that a model writes for a question: its likeliest, then others.

    Their probability goes by those of their tokens, where the model tells them: what the mask forced upon it,
    it would hardly have written.

    Args:
        model: A chat model. Models of `local:` are held to the grammar of statements; what others write is
            only read, and passed over if it is no statement over the card.
        lexicon: The names of the graph.
        question: The question.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    card = card_for(lexicon, question)
    grammar = gbnf(card, asked_for(question))
    seen = set[str]()
    for one in (model, *(varied(model, _WARM, seed) for seed in range(1, _OTHERS + 1))):
        if one is None:
            return
        said = answer_of(one, PROMPTS["writer"], asked_of(card, question), grammar, MOST_TOKENS)
        if said.text in seen:
            continue
        seen.add(said.text)
        reading = _reading(lexicon, question, card, said)
        if reading is not None:
            yield reading


def _reading(lexicon: Lexicon, question: str, card: SchemaCard, said: Told) -> Reading | None:
    try:
        plan, shown = read_statement(card, _statement(without_thoughts(said.text)))
    except ConfigError as error:
        logger.debug("no statement: %s", error)
        return None
    if not _can_answer(lexicon, question, plan):
        logger.debug("not what is asked: %s", said.text)
        return None
    whole = _logprob(said) if said.tokens else _UNTOLD
    plan = with_subclasses(plan, lexicon.schema)
    return Reading(plan, shown, _MOST / (1 + math.exp(_DOUBT * (_EVEN - whole))), (), {"joins": 0.0})


def _logprob(said: Told) -> float:
    """Return the logarithm of the probability of a statement, without what it could but begin with.

    Example:
        >>> tokens = ({"token": WHETHER, "logprob": -9.0}, {"token": "film)", "logprob": -1.0})
        >>> _logprob(Told(WHETHER + "film)", tokens))
        -1.0
    """
    # A model that is asked whether something is so may not choose another form.
    forced = len(WHETHER) if said.text.startswith(WHETHER) else 0
    length, whole = 0, 0.0
    for token in said.tokens:
        whole += token["logprob"] if length >= forced else 0.0
        length += len(token["token"])
    return whole


def _can_answer(lexicon: Lexicon, question: str, plan: Plan) -> bool:
    """Return whether a plan may answer a question: it tells a number where one is asked for."""
    counts = [a for c in plan.columns for a in aggregates(c.value) if a.function == "count"]
    if any(set(a.of) <= set(plan.group_by) for a in counts):
        return False  # each thing is counted in a group of its own
    numbers = {
        pattern.object
        for pattern in plan.where.patterns
        if (info := lexicon.schema.properties.get(str(pattern.predicate))) is not None
        and info.kind == "number"
    }
    told_ = any(kind_of(c.value) == "number" or c.value in numbers for c in plan.columns)
    return told_ or _NUMBER.search(question) is None


def _statement(text: str) -> str:
    """Return the statement in what a model without a mask has written, on one line."""
    found = _SELECT.search(text)
    return " ".join((found[0] if found else text).split())
