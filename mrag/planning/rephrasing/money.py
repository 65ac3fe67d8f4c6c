"""Questions of what was spent, earned and sold, put in the words for the amount that the graph has.

"Who spent the most" asks for whoever has the greatest sum of amounts; no property need be called so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Final

from mrag.language.grammar import plural
from mrag.language.tokens import content
from mrag.planning.asked.deeds import kinds_of_people
from mrag.planning.derived.amounts import COMPUTED, quantities, stated_amounts
from mrag.planning.derived.property import DerivedProperty
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import root
from mrag.planning.schema import PropertyInfo, Schema

_AMOUNT: Final = "xqamount"
"""A word that no graph has, for the amount."""
_NOUNS: Final = frozenset(map(root, "revenue turnover sales spending value worth".split()))
_PAID: Final = r"spent|spend|spends|paid|pay|pays"
_EARNED: Final = (
    r"brought in|brings in|bring in|generated|generates?|made|makes?|earned|earns?|yielded|yields?|produced"
)
_MONEY: Final = r"money|revenue|turnover|sales|income"
_UNITS: Final = r"units|copies|pieces|items|units in total"
_SOLD: Final = r"sold|ordered|bought|purchased|shipped|delivered"
_N: Final = (
    r"(?P<bound>(?:no )?(?:more|less) than|over|under|above|below|at least|at most|exactly|between) "
    r"(?P<n>\d[\d.,]*(?: and \d[\d.,]*)?)(?: \w+)?"
)
_TIME: Final = r"(?P<rest>(?: (?:in|on|for|during|since|before|after) .+?)?)\W*$"
_REST: Final = r"(?P<rest>(?: .+?)?)\W*$"
_MOST: Final = re.compile(
    rf"(?i)^(?P<who>\W*(?:who|(?:which|what) .+?)) (?:has |have |had |is |are )?"
    rf"(?:(?:{_PAID})(?: the)? (?P<m>most|least)(?: money| in total)?"
    rf"|(?:{_EARNED}|has|had)(?: the)? (?P<k>most|least) (?:{_MONEY})|worth(?: the)? (?P<l>most|least))"
    rf"{_REST}"
)
_HOW_MUCH: Final = re.compile(
    rf"(?i)^\W*(?:how much (?:money )?(?:has|have|had|did|does|do) (?P<x>.+?) (?:{_PAID})"
    r"(?: in total| altogether| overall)?"
    rf"|(?:what|how much) (?:is|was|are|were) (?P<y>.+?) worth(?: in total| altogether)?){_REST}"
)
_BOUNDED: Final = re.compile(
    rf"(?i)^(?P<who>\W*(?:who|(?:which|what|how many) .+?)) (?:that |who )?"
    rf"(?:has |have |had |is |are |was |were )?(?:{_PAID}|worth) (?:a total of )?{_N}{_TIME}"
)
_NOUN: Final = re.compile(
    r"(?i)(?P<fold>\b(?:total|average|overall|combined|mean) )?"
    r"\b(?:sales (?:amount|volume|revenue|value)|order value|total sales|revenues?|turnover|takings"
    r"|spendings?|expenditures?|sales(?= (?:per|by|for each|in|of|from)\b)|total value(?= of\b))\b"
)
_EACH: Final = re.compile(r"(?i) (?:per|by|for each|of each)\b")
_SO_MANY_SOLD: Final = re.compile(
    rf"(?i)^\W*how many (?:(?:{_UNITS}) of )?(?P<x>.+?) (?:have been|has been|were|was|are|did we|do we)? ?"
    rf"(?:{_SOLD})(?: in total| altogether)?{_TIME}"
)
_BEST_SOLD: Final = re.compile(
    r"(?i)^\W*(?:what (?:is|are|was|were)|which (?:is|are|was|were)|which|what|show|list)(?: the)? "
    r"(?:(?P<best>best|top|worst)[- ]?selling (?P<x>.+?)"
    rf"|(?P<y>.+?) (?:sells?|sold) (?:the )?(?P<m>most|best|least|fewest|worst)(?: (?:{_UNITS}))?){_TIME}"
)


def paid(
    text: str, schema: Schema, named: Callable[[], Collection[str]]
) -> tuple[str, dict[str, Candidate]] | None:
    """Return a question of money with one word for the amount, and what that stands for; None for others.

    Args:
        text: The question.
        schema: The schema, with the amounts that are computed.
        named: Returns the classes that the question names, and those of the things that it names.
    """
    computed = [i for i in schema.properties.values() if i.iri.startswith(COMPUTED)]
    for forms, infos, asked in (
        ((_MOST, _BOUNDED, _HOW_MUCH, _NOUN), (*stated_amounts(schema), *computed), _asked),
        ((_SO_MANY_SOLD, _BEST_SOLD), quantities(schema), _sold),
    ):
        if not any(form.search(text) for form in forms):
            continue
        info = _of_all(infos, schema, named())
        said = asked(text, info, schema) if info is not None else ""
        if info is not None and said:
            return said, {_AMOUNT: Candidate("property", info.iri, 1.0, info.names[0], "exact")}
    return None


def _noun(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question with the word for an amount in the place of a noun for money; "" if it has none."""
    if _named_so(text, schema) or (match := _NOUN.search(text)) is None:
        return ""
    fold = "average " if (match["fold"] or "").lower() in ("average ", "mean ") else "combined "
    rest = text[match.end() :]
    if isinstance(info, DerivedProperty) and fold == "average ":
        # One sum for each order, and their average.
        each = " per order" if "order value" in match[0].lower() else ""
        fold = "average combined " if each or _EACH.match(rest) else fold
        rest = each + rest
    return f"{text[: match.start()]}{fold}{_AMOUNT}{rest}"


def _asked(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question with the word for an amount in it; "" for one that is not of money."""
    if (match := _MOST.match(text)) is not None:
        way = "greatest" if (match["m"] or match["k"] or match["l"]).lower() == "most" else "least"
        who = _who(match["who"], info, schema)
        return who and f"{who} has the {way} sum of {_AMOUNT}{_of(match['rest'])}?"
    if (match := _BOUNDED.match(text)) is not None:
        who, bound = _who(match["who"], info, schema), f"{match['bound']} {match['n']}"
        return who and f"{who} have a combined {_AMOUNT} of {bound}{_of(match['rest'])}?"
    if (match := _HOW_MUCH.match(text)) is not None:
        whose = match["x"] or match["y"]
        each = re.match(r"(?i)(?:each|every) ", whose)
        return f"What is the combined {_AMOUNT}{' for ' if each else ' of '}{whose}{_of(match['rest'])}?"
    return _noun(text, info, schema)


def _sold(text: str, info: PropertyInfo, schema: Schema) -> str:
    """Return a question of how many were sold with the word for a quantity in it; "" for others."""
    if (match := _BEST_SOLD.match(text)) is not None:
        down = (match["best"] or match["m"]).lower() in ("worst", "least", "fewest")
        way, what = "least" if down else "greatest", match["x"] or match["y"]
        return f"Which {what} has the {way} sum of {_AMOUNT}{match['rest']}?"
    if (match := _SO_MANY_SOLD.match(text)) is not None and not _is_kind(match["x"], info, schema):
        each = re.match(r"(?i)(?:each|every) ", match["x"])
        return f"What is the combined {_AMOUNT}{' for ' if each else ' of '}{match['x']}{match['rest']}?"
    return ""


def _is_kind(words: str, info: PropertyInfo, schema: Schema) -> bool:
    """Return whether words name what has a quantity: how many orders were shipped is no sum of theirs."""
    said = {root(w) for w in content(words)}
    kinds = [schema.classes[c] for c in info.domains if c in schema.classes]
    return any(said == {root(w) for w in content(name)} for k in kinds for name in k.names)


def _of(rest: str) -> str:
    return re.sub(r"(?i)^ (?:on|for)\b(?! (?:each|every|which|what))", " of", rest)


def _named_so(text: str, schema: Schema) -> bool:
    """Return whether the graph has a name for what the question calls money."""
    said = {root(w) for w in content(text)} & _NOUNS
    infos = [i for i in schema.properties.values() if not isinstance(i, DerivedProperty)]
    names = [n for i in infos for n in i.names] + [n for c in schema.classes.values() for n in c.names]
    return any(said & {root(w) for w in content(n)} for n in names)


def _of_all(infos: Iterable[PropertyInfo], schema: Schema, named: Collection[str]) -> PropertyInfo | None:
    """Return the first number that is one of all that is named; None where there is none.

    The total of an order is that of its customer, but not of a product in it.
    """
    for info in infos:
        reached = _reached(info.domains, schema)
        if all(c in reached or reached & schema.above(c) for c in named):
            return info
    return None


def _reached(classes: Iterable[str], schema: Schema) -> set[str]:
    """Return the classes of things of which something of one of some classes has exactly one, and its own."""
    found, ahead = set[str](), list(classes)
    while ahead:
        cls = ahead.pop()
        if cls not in found:
            found.add(cls)
            ahead += schema.above(cls)
            links = (i for i in schema.properties.values() if i.kind == "entity" and i.functional)
            ahead += [c for i in links if cls in i.domains for c in i.ranges]
    return found


def _who(said: str, info: PropertyInfo, schema: Schema) -> str:
    """Return whom a question asks for, with a name for "who"; "" if those are several kinds of people."""
    if said.strip().lower() != "who":
        return said
    known = set(kinds_of_people(schema)) & _reached(info.domains, schema)
    people = sorted(c for c in known if not known & schema.above(c))
    return f"Which {plural(schema.classes[people[0]].names[0])}" if len(people) == 1 else ""
