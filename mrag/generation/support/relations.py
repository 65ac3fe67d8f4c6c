"""Which words say a relation, and which of its ends they make the subject.

A property is named once, in its label, but said in many ways: "developed by" also as "develops", "the
developer of", "GraphDB's developer". Each way is a lexical key - a verb, a role noun, a participle with its
preposition, a bare preposition, an adjective - together with its direction, so that a sentence that turns the
ends round says another relation. What a label does not give rise to, says nothing: there is no list of verbs
that will do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rdflib import Literal

from mrag.context.render import Line
from mrag.generation.support.mentions import (
    NAMING,
    PREPOSITIONS,
    UNITS,
    VOCABULARY,
    WORDS,
    agentive,
    finite,
    participle,
    root,
    roots,
)
from mrag.language.names import split_identifier
from mrag.language.tokens import words
from mrag.rdf.terms import OWL, RDF, XSD, Term

Way = frozenset[tuple[Term, bool]]
"""Properties that some words say, each with whether its subject is what the words make the second end."""

Key = tuple[str, ...]
Wordings = dict[Key, set[tuple[Term, bool]]]
"""Stems of some words, to what they say."""

TYPE: Final = RDF + "type"
_SYMMETRIC: Final = OWL + "SymmetricProperty"
_BE: Final = words("is are was were be been being")
_SMALL: Final = words("a an the")
_BEARERS: Final = words(WORDS["bearers"])
_NO_AGENTS: Final = words(WORDS["no_agents"])
_DOES: Final[Mapping[str, str]] = WORDS["does"]
_ACTS: Final[Mapping[str, str]] = WORDS["acts"]
_EVENTS: Final[Mapping[str, str]] = WORDS["events"]
_PLACES: Final = words(WORDS["places"])
_OCCASION: Final = words(WORDS["occasions"])
_WHEN: Final = words(WORDS["times"])
_NOMINAL: Final = {root(k): root(v) for k, v in WORDS["nominal"].items()}
_MEASURES: Final = {root(k): v for k, v in WORDS["measures"].items()}
_SAID_OF_MEASURES: Final = {root(k): root(v) for k, v in WORDS["said_of_measures"].items()}
_KINDS: Final = roots(WORDS["kinds"])
_QUALITIES: Final = roots(WORDS["qualities"])
_MUTUAL: Final = roots(WORDS["mutual"])
_TURNED: Final = {root(k): tuple(map(root, v.split())) for k, v in WORDS["turned"].items()}
_OFFERED: Final = {root(k): v for k, v in WORDS["offered"].items()}
_ALIKE: Final = tuple(map(roots, WORDS["alike"]))
_SAID_AGENTS: Final[Mapping[str, str]] = WORDS["said_agents"]
PLACED: Final = roots(WORDS["placed"])
_TEMPLATES: Final[Mapping[str, str]] = VOCABULARY["wordings"]


@dataclass
class RelationWordings:
    """What the words of a sentence may say, of the properties of some lines."""

    verbs: Wordings = field(default_factory=dict)  # A verb and what stands behind it: from agent to patient
    participles: Wordings = field(default_factory=dict)  # Words and a preposition: from theme to landmark
    nouns: Wordings = field(default_factory=dict)  # A role noun: from the owner to who bears it
    agents: Wordings = field(default_factory=dict)  # The same of nouns that verbs give rise to: "developer"
    phrases: Wordings = field(default_factory=dict)  # Whole labels: from subject to object
    prepositions: Wordings = field(default_factory=dict)  # Bare prepositions: from subject to object
    truths: Wordings = field(default_factory=dict)  # What is or is not: properties with truth values
    adjectives: Wordings = field(default_factory=dict)  # Adjectives of measures: properties with numbers
    passives: Wordings = field(default_factory=dict)  # Verbs that stand before "by"
    kinds: set[Term] = field(default_factory=set)  # Properties whose value says what something is
    qualities: set[Term] = field(default_factory=set)  # Those whose value says what it is like
    having: set[Term] = field(default_factory=set)  # Those whose value something has
    naming: set[Term] = field(default_factory=set)  # Those that give further names
    mutual: set[Term] = field(default_factory=set)  # Those that hold both ways
    units: dict[Term, frozenset[str]] = field(default_factory=dict)  # What each is measured in, by its label
    shortened: list[tuple[str, Term]] = field(default_factory=list)  # "uses fuel", whose noun may be left out
    longest: int = 1  # Words of the longest key of any sort

    @property
    def words(self) -> frozenset[str]:
        """Every stem that says a relation, or a part of one."""
        tables = (self.verbs, self.participles, self.nouns, self.agents, self.phrases, self.truths)
        return frozenset(word for table in (*tables, self.adjectives) for key in table for word in key)

    def add(self, table: Wordings, key: Key, p: Term, *, flipped: bool = False) -> None:
        """Note that some words say a property, or say it from its object to its subject."""
        if any(key):
            table.setdefault(key, set()).add((p, flipped))
            self.longest = max(self.longest, len(key))


def relations(lines: Iterable[Line]) -> RelationWordings:
    """Return what says the relations of some lines."""
    made = RelationWordings()
    said: dict[Term, dict[str, None]] = {}
    truths: set[Term] = set()
    literals: set[Term] = set()
    numbers: set[Term] = set()
    for line in lines:
        s, o = line.triple.s, line.triple.o
        p: Term = line.triple.p
        said.setdefault(p, {})[line.labels[1]] = None
        if isinstance(o, Literal):
            literals.add(p)
            if o.datatype is not None or re.fullmatch(r"[-+]?[\d.,]+", str(o)):
                numbers.add(p)
            if str(o.datatype or "") == XSD + "boolean":
                truths.add(p)
        if _SYMMETRIC in (str(p), str(o) if str(p) == TYPE else ""):
            made.mutual.add(s)
    for p, labels in said.items():
        if str(p) == TYPE:
            continue
        if str(p) in NAMING:
            made.naming.add(p)
        made.add(made.phrases, _roots(_TEMPLATES.get(str(p), "").split()), p)
        for label in labels:
            _label(made, p, label, truth=p in truths, literal=p in literals, number=p in numbers)
    _spread(made)
    return made


def _roots(low: Iterable[str]) -> Key:
    return tuple(map(root, low))


def _label(made: RelationWordings, p: Term, label: str, *, truth: bool, literal: bool, number: bool) -> None:
    text = split_identifier(label)
    bracket = re.findall(r"[(\[]([^()\[\]]*+)[)\]]", text)
    text = re.sub(r"(?<!\s)\s*+[(\[][^()\[\]]*+[)\]]", "", text).strip() or text
    inside = [w.casefold() for part in bracket for w in re.findall(r"[^\W\d_]+[23²³]?|[%€$£°]", part)]
    low = [w.casefold() for w in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)]
    if not low:
        return
    verbal = finite(low[0]) or (low[0].endswith("s") and not agentive(low[0]))
    if len(low) > 1 or (verbal and _BEARERS.isdisjoint({low[0], low[0][:-1], low[0][:-2]})):
        # What has a coach coaches nobody.
        made.add(made.phrases, _roots(low), p)
    if _MUTUAL.intersection(_roots(low)):
        made.mutual.add(p)
    if low[0] in _BE:
        low = low[1:] or low
        made.add(made.phrases, _roots(low), p)
    if truth:
        bare = low[1:] if low[0] in ("has", "can") and len(low) > 1 else low
        made.add(made.truths, _roots(bare), p)
    if len(low) > 1 and low[0] in _SMALL:
        low = low[1:]
    shapes = [low]
    if number and len(low) > 1 and (low[-1] in UNITS or (low[-2] == "in" and low[-1].endswith("s"))):
        # "height in metres", "run min": what the number is counted in
        inside = [*inside, low[-1]]
        shapes.append(low[:-2] if low[-2] == "in" else low[:-1])
    made.units[p] = made.units.get(p, frozenset()) | frozenset(UNITS.get(w, root(w)) for w in inside)
    for shape in filter(None, shapes):
        _shape(made, p, shape, literal)


def _shape(made: RelationWordings, p: Term, low: list[str], literal: bool) -> None:
    stems = [root(w) for w in low]
    if low[0] in ("has", "have", "having") and len(low) > 1:
        made.having.add(p)
        if low[-1] in ("of", "as", "in", "by") and len(low) > 2:
            # "has capital of": whatever it may mean, it is said as it stands.
            return
        _noun(made, p, low[1:])
        return
    if low[-1] in PREPOSITIONS:
        _prepositional(made, p, low)
        return
    if len(low) == 1 and low[0] in _BEARERS:
        _noun(made, p, low)
        made.add(made.verbs, (stems[0], ""), p, flipped=True)
        return
    if finite(low[0]) and len(low) == 1 and not (literal and participle(low[0])):
        made.add(made.verbs, (stems[0], ""), p)
        if not low[0].endswith("s"):
            # A verb in its plain form may be a noun as well: "date", "award", "border".
            _noun(made, p, low)
        return
    if finite(low[0]) and low[0].endswith("s") and len(low) > 1:
        made.add(made.verbs, (*stems, ""), p)
        made.shortened.append((stems[0], p))
        return
    if participle(low[0]) and len(low) == 1:
        for preposition in ("in", "on", "at", "by", "for"):
            made.add(made.participles, (stems[0], preposition), p)
        made.add(made.nouns, (stems[0],), p)
        return
    if len(low) == 3 and low[1] in PREPOSITIONS - {"of"} and (finite(low[0]) or participle(low[0])):
        _prepositional(made, p, low[:2])  # "located in state", whatever the state
    if len(low) == 2 and low[0] in ("in", "at"):
        made.add(made.prepositions, (low[0],), p)
    _noun(made, p, low)


def _prepositional(made: RelationWordings, p: Term, low: list[str]) -> None:
    """Add what a label says that ends in a preposition: "in", "developed by", "works for", "capital of"."""
    stems = [root(w) for w in low]
    head, last = low[:-1], low[-1]
    if not head:
        made.add(made.prepositions, (last,), p)
        return
    if len(head) == 1 and head[0] in _EVENTS:
        event = _EVENTS[head[0]]
        for key in ((event + "place",), (event, "place"), ("place", "of", event)):
            made.add(made.nouns, _roots(key), p)
    if last == "by":
        made.add(made.verbs, (stems[-2], ""), p, flipped=True)
        made.add(made.prepositions, ("by",), p)
    elif finite(head[0]) and not participle(head[0]):
        made.add(made.verbs, (*stems[:-1], last), p)
        if last == "for" and len(head) == 1:
            made.add(made.agents, (stems[0],), p, flipped=True)
        if (low[-2].removesuffix("s"), last) == ("consist", "of"):
            for verb in ("made", "composed"):
                made.add(made.participles, (root(verb), last), p)
    elif last in ("of", "to", "for", "in", "with") and not participle(head[-1]):
        # "capital of": who is one is the subject.
        made.add(made.nouns, tuple(stems[:-1]), p, flipped=True)
        for turned in _TURNED.get(stems[-2], ()) if len(head) == 1 and last == "of" else ():
            made.add(made.nouns, (turned,), p)
    if last != "by" and len(head) == 1 and root(head[0]) in PLACED:
        made.add(made.prepositions, (last,), p)
    made.add(made.participles, (*stems[:-1], last), p)


def _noun(made: RelationWordings, p: Term, low: list[str]) -> None:
    if low[0] in ("current", "present") and len(low) > 1:
        _noun(made, p, low[1:])  # the tense of what is said of it says so
    stems = _roots(low)
    made.add(made.nouns, stems, p)
    if stems[-1] in _KINDS and len(stems) == 1:
        made.kinds.add(p)
    if stems[-1] in _QUALITIES and len(stems) == 1:
        made.qualities.add(p)
    if len(low) == 2 and low[1] not in PREPOSITIONS:
        made.add(made.nouns, (stems[1], "of", stems[0]), p)
    if "of" in low[1:-1]:
        at = low.index("of", 1)
        rest = [w for w in low[at + 1 :] if w not in _SMALL]
        made.add(made.nouns, (*_roots(rest), *stems[:at]), p)
        low = [*rest, *low[:at]]
    _occasion(made, p, low)
    if len(low) == 1:
        _single(made, p, low[0])
    for word in _MEASURES.get(stems[-1], "").split():
        made.add(made.adjectives, (word,), p)
    for offer in _OFFERED.get(stems[-1], "").split() if len(stems) == 1 else ():
        made.add(made.verbs, (root(offer), ""), p)
    measured = _SAID_OF_MEASURES.get(stems[-1])
    if measured:
        made.add(made.verbs, (measured, ""), p)


def _occasion(made: RelationWordings, p: Term, low: list[str]) -> None:
    """Add what happened of a noun for when or where it did: "born in" of "birth place"."""
    if len(low) > 1 and low[-1] in _OCCASION:
        verbal = [root(w) for w in low[:-1]]
        verbal[-1] = _NOMINAL.get(verbal[-1], verbal[-1])
        for key in {tuple(verbal), (*verbal[:-1], verbal[-1].removesuffix("at"))}:
            for preposition in ("in", "on", "at") if low[-1] in _WHEN else ("in", "at"):
                made.add(made.participles, (*key, preposition), p)
    if low[0] in ("birthplace", "birthdate", "birthday", "birthyear"):
        for preposition in ("in", "on", "at"):
            made.add(made.participles, (root("born"), preposition), p)


def _single(made: RelationWordings, p: Term, low: str) -> None:
    """Add what a role noun of one word says: the role of the other end, what its bearer does, where it is."""
    for turned in _TURNED.get(root(low), ()):
        made.add(made.nouns, (turned,), p, flipped=True)
    if low.endswith(("er", "or")) and low not in _NO_AGENTS and len(low) > 4:
        made.add(made.verbs, (root(_DOES.get(low, low)), ""), p, flipped=True)
    if low in _ACTS:
        made.add(made.verbs, (root(_ACTS[low]), ""), p, flipped=True)
    if low in _PLACES:
        made.add(made.prepositions, ("in",), p)
        for verb in PLACED:
            made.add(made.participles, (verb, "in"), p)


def _spread(made: RelationWordings) -> None:
    """Add verbs that say the same, and the nouns for who does what a verb says."""
    heads = Counter(verb for verb, _ in made.shortened)
    for verb, p in made.shortened:
        if heads[verb] == 1 and (verb, "") not in made.verbs:
            made.add(made.verbs, (verb, ""), p)
    own = {key[0] for table in (made.verbs, made.participles, made.nouns) for key in table}
    for table in (made.verbs, made.participles):
        for key, ways in list(table.items()):
            for alike in _ALIKE:
                if key[0] in alike:
                    for other in alike - own:
                        table.setdefault((other, *key[1:]), set()).update(ways)
    made.passives.update((key[:-1], ways) for key, ways in made.verbs.items() if not key[-1])
    for key, ways in list(made.verbs.items()):
        if len(key) == 2 and not key[1]:
            turned = {(p, not flipped) for p, flipped in ways}
            made.agents.setdefault(key[:1], set()).update(turned)
            for noun in _SAID_AGENTS.get(key[0], "").split():
                if root(noun) not in own:
                    made.agents.setdefault((root(noun),), set()).update(turned)
