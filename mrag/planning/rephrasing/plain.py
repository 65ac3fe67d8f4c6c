"""A question in the words that the parser reads: each way of asking is put as a plainer one."""

from __future__ import annotations

from collections.abc import Mapping

from mrag.planning.lexical.english import as_one_word
from mrag.planning.rephrasing.anybody import with_people, with_those_who_have, without_house
from mrag.planning.rephrasing.casual import plainly
from mrag.planning.rephrasing.forms import rephrased
from mrag.planning.rephrasing.idioms import with_single_verbs
from mrag.planning.rephrasing.known import as_known
from mrag.planning.rephrasing.listing import ranked, with_their_own
from mrag.planning.rephrasing.ranges import with_both_ends
from mrag.planning.rephrasing.unnamed import with_average_named
from mrag.planning.schema import Schema


def in_plain_words(text: str, schema: Schema, own: Mapping[tuple[str, str], str]) -> str:
    """Return a question in plainer words; the same text where there are none.

    Args:
        text: The question.
        schema: The schema.
        own: Verbs of two words that names of the graph have, by root and particle.

    Example:
        >>> in_plain_words("hey, which clubs were set up between 10 and 20 May 1949?", Schema({}, {}, ()), {})
        'which clubs were founded between 10 May 1949 and 20 May 1949?'
    """
    text = with_both_ends(with_single_verbs(rephrased(with_their_own(ranked(plainly(text)))), own))
    text = with_average_named(as_one_word(text, own), schema)
    return as_known(without_house(with_those_who_have(with_people(text, schema), schema), schema), schema)
