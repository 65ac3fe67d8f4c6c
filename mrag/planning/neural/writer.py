"""Plans that a language model writes as statements over a schema card, under a mask where that can be had."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.errors import ConfigError
from mrag.generation.models.calls import bounded, told
from mrag.generation.support.sentences import without_thoughts
from mrag.planning.algebra.scopes import aggregates
from mrag.planning.algebra.values import kind_of
from mrag.planning.building.scoring import Reading
from mrag.planning.following.editing import with_subclasses
from mrag.planning.interchange import plan_to_json
from mrag.planning.lexicon import Lexicon
from mrag.planning.neural.card import SchemaCard, card_of
from mrag.planning.neural.grammar import gbnf
from mrag.planning.neural.statement import read_statement
from mrag.planning.plan import Plan
from mrag.planning.reading.cues import cues
from mrag.planning.reading.question import cut
from mrag.planning.reading.segmentation import meaningful
from mrag.planning.schema import ClassInfo, PropertyInfo
from mrag.text.tokens import content, stem, tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

logger = logging.getLogger(__name__)
_SELECT = re.compile(r"SELECT\b.*?(?=```|;\s*$|\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_DOUBT = 2.0
"""Weight of the mean logarithm of the probabilities of a statement's tokens: models are surer than right."""
_UNTOLD = -0.2
"""Logarithm of how likely a statement is of which the model tells no probabilities."""

_NUMBER: Final = re.compile(r"\b(?:how many|number of|count of)\b", re.IGNORECASE)
MOST_TOKENS: Final = 160
"""Tokens of a statement at most."""

SYSTEM: Final = """\
Write one query that answers the question. Queries are like SQL without joins: a dot follows a link.

Tables:
film(name, year number, genre, director -> person, rating number)
person(name, country, birth_date date, film -> film)

Question: How many films were made in each year?
Query: SELECT film.year, COUNT(*) FROM film GROUP BY film.year
Question: How many directors were born in each year, and what share of the films of each is a comedy?
Query: SELECT YEAR(person.birth_date), COUNT(*), COUNT(DISTINCT person.film) FILTER (WHERE \
person.film.genre = 'comedy') / COUNT(DISTINCT person.film) FROM person GROUP BY YEAR(person.birth_date)
Question: Which director made the most films after 1990?
Query: SELECT person.name FROM person WHERE person.film.year > 1990 GROUP BY person.name \
ORDER BY COUNT(DISTINCT person.film) DESC LIMIT 1
Question: What is the average rating of French comedies?
Query: SELECT AVG(film.rating) FROM film WHERE film.genre = 'comedy' AND film.director.country = 'France'
Question: Which countries have directors with more than 3 films, and how many films do they have?
Query: SELECT film.director.country, COUNT(*) FROM film GROUP BY film.director.country HAVING COUNT(*) > 3
Question: Which directors have no film or were born before 1900?
Query: SELECT person.name FROM person WHERE (person.film IS NULL OR person.birth_date < '1900')"""
"""The system message: the form of the statements by example."""

HUMAN: Final = """\
Tables:
{card}
{named}
Question: {question}
Query:"""
"""The human message; its places hold what has been made fit for a prompt."""


def card_for(lexicon: Lexicon, question: str) -> SchemaCard:
    """Return the schema card of a question."""
    return card_of(lexicon.schema, question, lexicon.match(tokens(question), question))


def messages(card: SchemaCard, question: str) -> list[BaseMessage]:
    """Return what a model is asked."""
    from langchain_core.messages import HumanMessage, SystemMessage

    named = card.named()
    filled = {
        "card": untrusted.lines(card.text()),
        "named": f"\nNames in the question:\n{untrusted.lines(named)}\n" if named else "",
        "question": untrusted.one_line(question),
    }
    text = HUMAN
    for place, value in filled.items():
        text = text.replace("{" + place + "}", value, 1)
    return [SystemMessage(SYSTEM), HumanMessage(text)]


def write(model: BaseChatModel, lexicon: Lexicon, question: str) -> Reading | None:
    """Return the plan that a model writes for a question, as a reading.

    Its probability goes by those of its tokens, where the model tells them: what the mask forced upon it, it
    would hardly have written.

    Args:
        model: A chat model. Models of `local:` are held to the grammar of statements; what others write is
            only read, and refused if it is no statement over the card.
        lexicon: The names of the graph.
        question: The question.

    Returns:
        The reading; None where the model wrote no statement.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    card = card_for(lexicon, question)
    said = told(bounded(model, MOST_TOKENS), messages(card, question), gbnf(card))
    try:
        plan, shown = read_statement(card, _statement(without_thoughts(said.text)))
    except ConfigError as error:
        logger.debug("no statement: %s", error)
        return None
    if not _can_answer(lexicon, question, plan):
        logger.debug("not what is asked: %s", said.text)
        return None
    mean = sum(token["logprob"] for token in said.tokens) / len(said.tokens) if said.tokens else _UNTOLD
    plan = with_subclasses(plan, lexicon.schema)
    return Reading(plan, shown, math.exp(_DOUBT * mean), (), {"joins": 0.0})


def _can_answer(lexicon: Lexicon, question: str, plan: Plan) -> bool:
    """Return whether a plan may answer a question: it tells a number where one is asked for."""
    counts = [a for c in plan.columns for a in aggregates(c.value) if a.function == "count"]
    if any(set(a.of) & set(plan.group_by) for a in counts):
        return False  # each thing is counted in a group of its own
    numbers = {
        pattern.object
        for pattern in plan.where.patterns
        if (info := lexicon.schema.properties.get(str(pattern.predicate))) is not None
        and info.kind == "number"
    }
    told_ = any(kind_of(c.value) == "number" or c.value in numbers for c in plan.columns)
    return told_ or _NUMBER.search(question) is None


def unread(lexicon: Lexicon, question: str, plan: Plan) -> tuple[str, ...]:
    """Return the words of a question that carry meaning and that nothing in a plan stands for.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
    """
    asked = cut(question)
    used = set(_texts(plan_to_json(plan)))
    schema = lexicon.schema
    infos: list[ClassInfo | PropertyInfo] = [*schema.properties.values(), *schema.classes.values()]
    infos = [info for info in infos if info.iri in used]
    names = [text for info in infos for text in (*info.names, info.comment)]
    said = {stem(word) for text in (*names, *used) for word in content(text)}
    read = {i for cue in cues(asked.low) for i in range(cue.start, cue.end)}
    read |= {i for number in asked.quantities for i in range(number.start, number.end)}
    read |= {i for period in asked.periods for i in range(period.start, period.end)}
    for mention in lexicon.match([word.token for word in asked.words], asked.text):
        if any(candidate.term in used for candidate in mention.candidates):
            read.update(range(mention.start, mention.end))
    return tuple(
        word.low
        for i, word in enumerate(asked.words)
        if i not in read
        and meaningful(word)
        and word.stem not in said
        and not any(d.property in used for d in lexicon.dimension(word.low))
    )


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a plan in JSON."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, str):
        yield value
    for one in value if isinstance(value, list) else ():
        yield from _texts(one)


def _statement(text: str) -> str:
    """Return the statement in what a model without a mask has written, on one line."""
    found = _SELECT.search(text)
    return " ".join((found[0] if found else text).split())
