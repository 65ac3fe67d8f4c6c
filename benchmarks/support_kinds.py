"""The kinds of true and false sentences: each says something of a scene, or raises `Nothing`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import support_wording as english
from rdflib import URIRef
from support_sentences import Case, Fact, Said, Scene, World
from support_wording import Clause, Relation, a, listed, plural_of, sentence

Make: TypeAlias = Callable[[Scene, random.Random], Said]
T = TypeVar("T")
TRUE: dict[str, Make] = {}
FALSE: dict[str, Make] = {}

GENERIC = ("link", "rela", "asso", "conn", "same", "see ", "broa", "narr", "subj", "topi")
_GROUPS = """
loca base head resi home coun nati citi birt orig city cont plac disp regi town comp live capi
crea auth made make deve buil writ manu prod desi pain publ
part cont incl feat memb has uses
play work memb empl team
spon dona fund gran give awar
head lead prin mana supe dire coac capt oper
exhi disp show
exte base uses inte
stud lear taug teac supe
star vehi pilo
assi rais chan acct mana
char pers acto cast star role
cites refe
kind type clas genr tags cate
owne owns hold
bord adja trav
corr auth
"""
NEAR = tuple(tuple(group.split()) for group in _GROUPS.strip().splitlines())
"""Beginnings of words of labels that may say the same of a pair."""
_VERBS = """
steal; acquire: owne owns owned; sue; hate; compete with: riva; replace;
found: crea deve foun esta head lead; marry: spou part; bankrupt; leak; betray; praise: rate;
criticise: rate; buy: owne owns pass book; sell: manu prod publ offe deve; ban; hack;
invent: crea deve auth manu; destroy; fund: spon dona gran fund; hire: work empl play memb assi; fire;
divorce; imitate: base; copy: base; endorse: spon; boycott; fine; attack; rescue; kidnap; import: uses;
export; paint: crea auth arti; poison; adopt: uses; reject; rename; blackmail;
photograph: crea auth film; interview; outperform; supersede; license: lice deve; abandon; audit;
defeat: matc home away; inspire: base; merge with: part; depend on: base uses exte; apologise to;
vote against; flee from; rely on: base uses exte; own: owne owns owned hold; visit: hold;
sponsor: spon dona fund gran; rent: owne rese; insult; avoid; envy; translate: auth writ;
govern: head lead capi nati citi coun; smuggle; invade; worship
"""
"""Verbs, each with its preposition, and the beginnings of words of labels that may mean the same."""


def _read(item: str) -> tuple[str, str, frozenset[str]]:
    said, _, avoid = item.partition(":")
    verb, _, preposition = said.strip().partition(" ")
    return verb, preposition, frozenset(avoid.split())


ALIEN = tuple(_read(item) for item in _VERBS.split(";"))
ALIEN_NOUNS = (
    "rival", "enemy", "clone", "subsidiary", "landlord", "nephew", "competitor", "successor", "bodyguard",
    "victim", "parody", "nickname", "mascot", "debtor", "twin", "lawyer",
)  # fmt: skip
ALIEN_CLASSES = (
    "virus", "mushroom", "lawsuit", "perfume", "volcano", "tax haven", "card game", "rumour",
    "bird of prey", "monastery", "scam", "kitchen appliance", "tropical disease", "dance", "submarine",
    "cheese",
)  # fmt: skip
ADJECTIVES = (
    "bankrupt", "haunted", "obsolete", "illegal", "overrated", "dangerous", "waterproof", "jealous",
    "allergic to cats", "under investigation", "out of business", "on strike", "invisible", "left-handed",
    "in debt", "unreliable", "very popular with children", "ashamed", "made of glass", "radioactive",
    "beautiful", "insecure", "the best", "older than it seems", "extremely rare", "not to be trusted",
)  # fmt: skip
VERBS_ALONE = (
    "has leaked passwords", "lost a lawsuit", "was sold twice", "burned down", "won three prizes",
    "changed its name", "costs a fortune", "has no friends", "fails often", "tells lies",
    "moved to Paraguay", "has stopped working",
)  # fmt: skip
SUPERLATIVES = (
    "largest", "most popular", "oldest", "best", "most expensive", "fastest", "least reliable", "first",
)  # fmt: skip
ADJUNCTS = (
    "since 1897", "in Paraguay", "because of the drought", "with 512 volunteers",
    "for two million dollars", "every Thursday", "by accident", "on the Moon", "against its will",
    "under a false name", "until the year 2091", "thanks to a loan", "in order to avoid taxes",
    "in spite of many complaints", "after a long dispute", "near Timbuktu", "without a permit",
    "for the third time", "as a joke", "during the winter of 1788",
)  # fmt: skip
STRANGERS = (
    "Zorblatt Industries", "Marlowe Quint", "Ostermann Vale", "the Pellingham Trust", "Quivira",
    "Ada Thornberry", "Brackwater Labs", "Lake Umbriel", "Nexadyne", "Professor Oddly",
)  # fmt: skip
WRONG_UNITS = ("light years", "litres", "volts", "acres", "decibels", "carats", "knots", "ounces")
OTHER_UNIT = {
    "minutes": "hours", "hours": "days", "days": "weeks", "kilometres": "miles", "metres": "feet",
    "centimetres": "inches", "millimetres": "inches", "kilograms": "pounds", "grams": "ounces",
    "tons": "ounces", "tonnes": "ounces", "euros": "dollars", "dollars": "euros", "percent": "degrees",
    "credits": "euros", "years": "months", "litres": "gallons",
}  # fmt: skip
PREAMBLES = (
    "according to the provided context, {}", "based on the given facts, {}", "the graph says that {}",
    "according to the facts, {}", "as stated in the context, {}", "the answer is that {}",
)  # fmt: skip


class Nothing(LookupError):
    """A scene has nothing for a kind of sentence."""


def true(make: Make) -> Make:
    """Register a kind of true sentence."""
    TRUE[make.__name__.strip("_")] = make
    return make


def false(make: Make) -> Make:
    """Register a kind of false sentence."""
    FALSE[make.__name__.strip("_")] = make
    return make


# --- Choosing ------------------------------------------------------------------------------------------


def choose(found: Sequence[T], rng: random.Random) -> T:
    """Choose one of what was found.

    Raises:
        Nothing: If nothing was.
    """
    if not found:
        raise Nothing
    return rng.choice(found)


def pick(here: Scene, rng: random.Random, wanted: Callable[[Fact], object] = bool) -> Fact:
    """Choose a fact, those about the entity before the others."""
    found = [f for f in here.facts if wanted(f)]
    own = [f for f in found if here.entity in (f.s, str(f.o))]
    return choose(own if own and rng.random() < 0.8 else found, rng)


def of_things(fact: Fact) -> bool:
    """Whether both ends have names."""
    return fact.relation.kind in ("entity", "text")


def of_entities(fact: Fact) -> bool:
    """Whether both ends are entities."""
    return fact.relation.kind == "entity"


def measured(fact: Fact) -> bool:
    """Whether the value is the only number under a noun."""
    return fact.relation.kind == "number" and fact.relation.shape == "noun" and fact.single


def straight(fact: Fact) -> bool:
    """Whether the plain clause has the subject first."""
    return fact.relation.shape != "flag" and fact.plain.subject == fact.subject


def classed(here: Scene) -> Callable[[Fact], bool]:
    """Whether a line gives the subject a class, and the plainest clause has it first."""
    return lambda f: f.s in here.types and f.clauses()[0].subject == f.subject


def stem(label: str) -> set[str]:
    """Return the beginnings of the words of a label.

    Example:
        >>> sorted(stem("headquartered in"))
        ['head', 'in  ']
    """
    return {(w + "    ")[:4] for w in english.words_of(label.lower())}


def near(one: str, other: str) -> bool:
    """Whether two labels may mean the same of a pair, so that one does not make the other false."""
    left, right = stem(one), stem(other)
    if (left & right) - _SMALL or any(g in s for g in GENERIC for s in (*left, *right)):
        return True
    return any(left & group and right & group for group in _NEAR)


_SMALL = frozenset({"of  ", "by  ", "has ", "is  ", "to  ", "for ", "with"})
_NEAR = tuple({(w + "    ")[:4] for w in group} for group in NEAR)


def others(here: Scene, fact: Fact, rng: random.Random, *, subject: bool = False) -> str:
    """Return the name of another end that makes a fact false, mostly one that the context names."""
    world, p = here.world, fact.relation.iri
    found, avoid = set(), {fact.subject, fact.value}
    for other in world.of_relation[p]:
        if (other.o == fact.o) if subject else (other.s == fact.s):
            avoid |= {other.subject, other.value}
        elif subject and not world.holds(other.s, p, fact.o) and other.s != str(fact.o):
            found.add(other.subject)
        elif not subject and not world.holds(fact.s, p, other.o) and str(other.o) != fact.s:
            found.add(other.value)
    left = [name for name in sorted(found) if not any(_within(name, x) for x in avoid)]
    shown = [name for name in left if name.casefold() in here.named]
    return choose(shown if shown and rng.random() < 0.7 else left, rng)


def _within(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def stranger(here: Scene, fact: Fact, rng: random.Random) -> str:
    """Return the name of an entity that has nothing to do with either end of a fact."""
    world, ends = here.world, {fact.s, str(fact.o)}
    near_by = sorted({x for f in here.facts for x in (f.s, str(f.o)) if x in world.entities} - ends)
    rest = rng.sample(sorted(world.entities), min(12, len(world.entities)))
    rng.shuffle(near_by)
    for iri in near_by[:8] + rest if rng.random() < 0.6 else rest:
        name = world.entities[iri]
        apart = not any(iri == end or world.related(iri, end) for end in ends)
        if apart and not any(_within(name, x) for x in fact.ends):
            return name
    raise Nothing


def labels_between(here: Scene, fact: Fact) -> list[str]:
    """Return the labels of all relations between the ends of a fact."""
    between = here.world.related(fact.s, str(fact.o)) if of_entities(fact) else set()
    return [here.world.display.predicate(p) for p in sorted(between | {fact.relation.iri})]


def alien(here: Scene, fact: Fact, rng: random.Random) -> tuple[str, str]:
    """Choose a verb that the schema has nothing like, with its preposition."""
    near_by = {s.strip() for label in labels_between(here, fact) for s in stem(label)}
    for verb, preposition, avoid in rng.sample(ALIEN, len(ALIEN)):
        if not (stem(verb) | stem(english.past_of(verb)[0])) & here.world.stems and not avoid & near_by:
            return verb, preposition
    raise Nothing


def alien_predicate(here: Scene, fact: Fact, rng: random.Random, name: str) -> str:
    """Return a predicate that names an end with a verb or noun which the schema has nothing like."""
    verb, preposition = alien(here, fact, rng)
    past, participle = english.past_of(verb)
    if rng.random() < 0.2:
        return f"is {rng.choice(('the', 'a'))} {rng.choice(ALIEN_NOUNS)} of {name}"
    if preposition:
        return f"{rng.choice((past, english.third_of(verb)))} {preposition} {name}"
    return rng.choice((f"{past} {name}", f"{english.third_of(verb)} {name}", f"was {participle} by {name}"))


def alien_participle(here: Scene, fact: Fact, rng: random.Random) -> str:
    """Return the participle of a verb that the schema has nothing like."""
    for _ in range(20):
        verb, preposition = alien(here, fact, rng)
        if not preposition:
            return english.past_of(verb)[1]
    raise Nothing


def clause_of(fact: Fact, rng: random.Random, *, entity_first: bool = False) -> Clause:
    """Choose a clause that says a fact, the plain one most."""
    found = fact.clauses()
    if entity_first:
        found = [c for c in found if c.subject in fact.ends] or found[:1]
    return found[0] if rng.random() < 0.5 else rng.choice(found)


def clauses_with(relation: Relation, s: str, o: str, single: bool) -> list[Clause]:
    """Return all clauses of a relation with other ends."""
    voiced = relation.voice(s, o)
    return [relation.plain(s, o, single), *relation.nouns(s, o, single), *([voiced] if voiced else [])]


def pronoun(here: Scene, iri: str) -> tuple[str, str]:
    """Return the pronoun and the possessive of an entity, where they are known."""
    if not here.world.is_person(iri):
        return "it", "its"
    said = [
        f.value.casefold() for f in here.world.about[iri] if f.relation.label.casefold() in ("gender", "sex")
    ]
    if said not in (["male"], ["female"]):
        raise Nothing
    return ("he", "his") if said == ["male"] else ("she", "her")


def class_name(here: Scene, iri: str) -> str:
    """Return the class that a line gives to an entity."""
    if iri not in here.types:
        raise Nothing
    return here.world.classes[here.types[iri]]


def who(here: Scene, iri: str, thing: str = "that") -> str:
    """Return the relative pronoun for an entity."""
    return "who" if here.world.is_person(iri) else thing


def introduced(here: Scene, iri: str) -> str:
    """Return the sentence that says what an entity is."""
    return sentence(f"{here.world.entities[iri]} is {a(class_name(here, iri))}")


def group(here: Scene, rng: random.Random) -> list[Fact]:
    """Return the facts of one subject and relation, where there are several."""
    found: dict[tuple[str, str], list[Fact]] = {}
    for f in here.facts:
        if of_things(f):
            found.setdefault((f.s, f.relation.iri), []).append(f)
    return choose([g for g in found.values() if len({f.value for f in g}) == len(g) > 1], rng)


def many(relation: Relation) -> str:
    """Return the plural of the noun that names the values."""
    if relation.shape not in ("has", "noun", "plural"):
        raise Nothing
    return relation.head if relation.head.endswith("s") else plural_of(relation.head)


def list_clause(relation: Relation, s: str, values: Sequence[str], rng: random.Random) -> Clause:
    """Return one clause that says all values."""
    names = listed(values)
    if relation.shape == "has":
        nouns = f"the {many(relation)}"
        return rng.choice(
            (
                Clause(s, "has", "have", f"{nouns} {names}"),
                Clause(f"{nouns} of {s}", "include", "include", names),
            )
        )
    if relation.shape == "verb" and relation.rest.startswith("the "):
        rest = f"the {plural_of(relation.rest[4:])} {names}"
        return Clause(s, relation.head, english.base_of(relation.head), rest)
    if relation.shape in ("noun", "plural"):
        verb = rng.choice((("are", "be"), ("include", "include")))
        return Clause(f"the {many(relation)} of {s}", *verb, names)
    if relation.shape == "of":
        raise Nothing
    return relation.plain(s, names)


def complete(here: Scene, facts: Sequence[Fact]) -> bool:
    """Whether the facts are all that the graph has of this relation."""
    values = here.world.values[facts[0].s, facts[0].relation.iri]
    return len(values) == len({f.o.n3() for f in facts})


def card(here: Scene, rng: random.Random, *, wrong: bool = False) -> Said:
    """Return a name with its values under it, the last of them wrong if asked for."""
    own = [f for f in here.facts if f.s == here.entity and f.relation.shape == "noun" and f.single]
    if len(own) < 2:
        raise Nothing
    lines = [f"{here.name}:"]
    for fact in rng.sample(own, min(len(own), rng.randint(2, 4))):
        head = fact.relation.head
        lines.append(f"- {head[:1].upper()}{head[1:]}: {fact.relation.value(fact.value)}")
    if wrong:
        value = false_value(here, fact, rng)
        lines[-1] = lines[-1].replace(fact.relation.value(fact.value), fact.relation.value(value))
    return Said("\n".join(lines), raw=True)


def yes_no(c: Clause) -> str:
    """Return the question whether a clause holds."""
    if c.base == "be":
        return f"{c.finite.capitalize()} {c.subject} {c.rest}?"
    return f"{'Did' if c.finite == c.past else 'Does'} {c.subject} {c.base} {c.rest}?"


# --- True ----------------------------------------------------------------------------------------------


@true
def _plain(here: Scene, rng: random.Random) -> Said:
    return Said(str(pick(here, rng).clauses()[0]))


@true
def _verbatim(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng)
    if rng.random() < 0.6:
        return Said(fact.line, raw=True)
    return Said(f"{fact.subject} {fact.relation.label} {fact.value}")


@true
def _voice(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.voice("x", "y"))
    return Said(str(fact.relation.voice(fact.subject, fact.value)))


@true
def _past(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.voice("x", "y") and f.relation.shape == "participle")
    if fact.relation.verb in english.STATES:
        raise Nothing
    return Said(f"{fact.subject} was {fact.plain.rest}")


@true
def _noun_form(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.nouns("x", "1", f.single))
    return Said(str(rng.choice(fact.relation.nouns(fact.subject, fact.value, fact.single))))


@true
def _having(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.single and f.relation.having("x", "1"))
    try:
        owner = pronoun(here, fact.s)[1]
    except Nothing:
        owner = "their"
    return Said(str(fact.relation.having(fact.subject, fact.value, owner)))


@true
def _without_noun(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_entities(f) and f.plain.rest.startswith("the ") and straight(f))
    if fact.relation.shape == "has" and not fact.value[0].islower():
        raise Nothing
    return Said(f"{fact.subject} {fact.plain.finite} {fact.value}")


@true
def _list_objects(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    chosen = rng.sample(facts, min(len(facts), rng.randint(2, 4)))
    return Said(str(list_clause(facts[0].relation, facts[0].subject, [f.value for f in chosen], rng)))


@true
def _list_subjects(here: Scene, rng: random.Random) -> Said:
    found: dict[tuple[str, str], list[Fact]] = {}
    for f in here.facts:
        if of_things(f) and straight(f) and f.relation.shape != "of":
            found.setdefault((f.relation.iri, f.o.n3()), []).append(f)
    facts = choose([g for g in found.values() if len({f.subject for f in g}) == len(g) > 1], rng)
    chosen = rng.sample(facts, min(len(facts), rng.randint(2, 3)))
    both = "both " if len(chosen) == 2 and rng.random() < 0.3 else ""
    c = chosen[0].plain
    return Said(f"{both}{listed([f.subject for f in chosen])} {c.plural} {c.rest}")


@true
def _joined(here: Scene, rng: random.Random) -> Said:
    one = pick(here, rng, straight)
    other = pick(
        here,
        rng,
        lambda f: f.s == one.s and f.relation != one.relation and f.clauses()[0].subject == one.subject,
    )
    return Said(f"{one.plain} and {other.clauses()[0].predicate}")


@true
def _apposition(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, classed(here))
    return Said(f"{fact.subject}, {a(class_name(here, fact.s))}, {fact.clauses()[0].predicate}")


@true
def _class_relative(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, classed(here))
    kind, c = class_name(here, fact.s), fact.clauses()[0]
    if fact.relation.shape in ("participle", "when"):
        return Said(f"{fact.subject} is {a(kind)} {c.rest}")
    return Said(f"{fact.subject} is {a(kind)} {who(here, fact.s)} {c.predicate}")


@true
def _relative(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, classed(here))
    more = f"{who(here, fact.s, 'which')} {fact.clauses()[0].predicate}"
    return Said(f"{fact.subject}, {more}, is {a(class_name(here, fact.s))}")


@true
def _cleft(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_things(f) and classed(here)(f))
    return Said(
        f"one {class_name(here, fact.s)} {who(here, fact.s)} {fact.plain.predicate} is {fact.subject}"
    )


@true
def _of_its_kind(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.shape == "participle" and str(f.o) in here.types and f.single)
    c = fact.relation.voice(fact.subject, fact.value)
    if c is None:
        raise Nothing
    return Said(f"{fact.value} is the {class_name(here, str(fact.o))} {who(here, str(fact.o))} {c.predicate}")


@true
def _class_with(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: measured(f) and f.s in here.types)
    kind = class_name(here, fact.s)
    value = f"{a(fact.relation.head)} of {fact.relation.value(fact.value)}"
    if rng.random() < 0.5:
        return Said(f"{fact.subject}, with {value}, is {a(kind)}")
    return Said(f"{fact.subject} is {a(kind)} with {value}")


@true
def _of_class(here: Scene, rng: random.Random) -> Said:
    iri = here.entity if here.entity in here.types else choose(sorted(here.types), rng)
    return Said(introduced(here, iri))


@true
def _follow_up(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, classed(here))
    it = pronoun(here, fact.s)[0]
    return Said(f"{it} {fact.clauses()[0].predicate}", lead=introduced(here, fact.s))


@true
def _follow_up_possessive(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.s in here.types and f.single and f.relation.shape == "noun")
    its, value = pronoun(here, fact.s)[1], fact.relation.value(fact.value)
    return Said(f"{its} {fact.relation.head} is {value}", lead=introduced(here, fact.s))


@true
def _fragment(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.ask("x"))
    value = fact.relation.value(fact.value)
    text = rng.choice((value, value, f"it is {value}", f"the answer is {value}"))
    return Said(text, question=fact.relation.ask(fact.subject))


@true
def _bullets(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    s, nouns = facts[0].subject, many(facts[0].relation)
    marks = rng.choice((["-"] * 5, ["*"] * 5, ["1.", "2.", "3.", "4.", "5."]))
    items = "".join(f"\n{mark} {f.value}" for mark, f in zip(marks, facts[:5], strict=False))
    return Said(rng.choice((f"{s} has the following {nouns}:", f"The {nouns} of {s} are:")) + items, raw=True)


@true
def _card(here: Scene, rng: random.Random) -> Said:
    return card(here, rng)


@true
def _bold(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    return Said(str(fact.relation.plain(f"**{fact.subject}**", f"**{fact.value}**", fact.single)))


@true
def _preamble(here: Scene, rng: random.Random) -> Said:
    fact, form = pick(here, rng), rng.choice(PREAMBLES)
    asked = fact.relation.ask(fact.subject) if form.startswith("the answer") else None
    return Said(form.format(fact.clauses()[0]), question=asked)


@true
def _count(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    r, s, n = facts[0].relation, facts[0].subject, len(facts)
    if not complete(here, facts) or r.kind != "entity":
        raise Nothing
    number = english.NUMBERS[n] if n < len(english.NUMBERS) and rng.random() < 0.6 else str(n)
    if r.shape == "verb":
        kinds = {class_name(here, str(f.o)) for f in facts}
        if len(kinds) > 1 or r.rest.startswith("the "):
            raise Nothing
        return Said(f"{s} {r.head} {r.rest} {number} {plural_of(kinds.pop())}")
    more = rng.choice(("", f": {listed([f.value for f in facts])}"))
    return Said(f"{s} has {number} {many(r)}{more}")


@true
def _dated(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.kind == "date" and f.single)
    return Said(str(fact.relation.plain(fact.subject, english.date_words(fact.value, rng.randint(0, 1)))))


@true
def _thousands(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: measured(f) and re.fullmatch(r"\d{4,}(\.\d+)?", f.value))
    r, value = fact.relation, english.grouped(fact.value)
    return Said(str(rng.choice((r.plain(fact.subject, value), r.having(fact.subject, value)))))


@true
def _with_unit(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: measured(f) and f.relation.unit)
    r = fact.relation
    return Said(str(rng.choice((r.plain(fact.subject, fact.value), r.having(fact.subject, fact.value)))))


@true
def _flag(here: Scene, rng: random.Random) -> Said:
    return Said(str(pick(here, rng, lambda f: f.relation.shape == "flag").clauses()[0]))


@true
def _yes(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_things(f) and straight(f))
    return Said(rng.choice(("yes", "yes", f"yes, {fact.plain}")), question=yes_no(fact.plain))


@true
def _no(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.shape == "flag" and f.value == "false")
    asked = yes_no(english.flag(fact.subject, fact.relation, True))
    return Said(f"no, {fact.clauses()[0]}", question=asked)


# --- False: the relation -------------------------------------------------------------------------------


@false
def _relation_schema(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    names = labels_between(here, fact)
    found = [
        r
        for _, r in sorted(here.world.relations.items())
        if r.kind in ("entity", "text")
        and r.iri in here.world.of_relation
        and not any(near(r.label, n) for n in names)
    ]
    r = choose([r for r in found if not here.world.holds(fact.s, r.iri, fact.o)], rng)
    return Said(str(rng.choice([r.plain(fact.subject, fact.value), *r.nouns(fact.subject, fact.value)])))


@false
def _relation_alien(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    one, other = rng.sample([fact.subject, fact.value], 2)
    return Said(f"{one} {alien_predicate(here, fact, rng, other)}")


@false
def _direction(here: Scene, rng: random.Random) -> Said:
    world = here.world

    def one_way(f: Fact) -> bool:
        r = f.relation
        reverse = isinstance(f.o, URIRef) and world.holds(str(f.o), r.iri, URIRef(f.s))
        return of_things(f) and r.iri not in world.symmetric and not reverse

    fact = pick(here, rng, one_way)
    return Said(str(rng.choice(clauses_with(fact.relation, fact.value, fact.subject, fact.single))))


@false
def _triple_wrong(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    if rng.random() < 0.3:
        return Said(f"({fact.subject}, is a, {rng.choice(ALIEN_CLASSES)})", raw=True)
    return Said(f"({fact.subject}, {fact.relation.label}, {others(here, fact, rng)})", raw=True)


@false
def _other_relations_value(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_things(f) and f.relation.ask("x"))
    r, world = fact.relation, here.world
    peers = [f for f in here.facts if f.s == fact.s and of_things(f) and not near(f.relation.label, r.label)]
    name = choose([f.value for f in peers if not world.holds(fact.s, r.iri, f.o)], rng)
    text = rng.choice((name, f"it is {name}", str(r.plain(fact.subject, name, fact.single))))
    return Said(text, question=r.ask(fact.subject))


# --- False: polarity -----------------------------------------------------------------------------------


def _gerund(c: Clause) -> str:
    return (c.base[:-1] if re.search("[^e]e$", c.base) and c.base != "be" else c.base) + "ing"


NEGATIONS: dict[str, tuple[str, ...]] = {
    "not": ("{not_}", "{nt}"),
    "never": ("{never}",),
    "false_that": ("it is false that {c}", "it is untrue that {c}", "it is a lie that {c}"),
    "not_the_case": ("it is not the case that {c}", "nobody says that {c}", "it isn't true that {c}"),
    "no_longer": ("{no_longer}", "{not_} any more"),
    "hardly": ("{hardly}", "{rarely}"),
    "fails": ("{s} fails to {bare}", "{s} refuses to {bare}", "{s} has yet to {bare}"),
    "denies": ("{end} denies that {c}", "{other} denies that {c}"),
    "wrong": ("it is wrong to say that {c}", "it would be a mistake to think that {c}"),
    "far": ("{s} is far from {gerund}", "{s} is a long way from {gerund}"),
    "neither": ("neither {s} nor {other} {predicate}",),
    "without": ("{s} is {kind} without {gerund}",),
}
"""Forms of negation of a clause."""


def _negate(form: str) -> Make:
    def make(here: Scene, rng: random.Random) -> Said:
        fact = pick(here, rng, of_things)
        c = clause_of(fact, rng, entity_first=form in ("fails", "denies", "far", "neither", "without"))
        pattern = rng.choice(NEGATIONS[form])
        if "{kind}" in pattern and c.subject != fact.subject:
            raise Nothing
        kind = a(class_name(here, fact.s)) if "{kind}" in pattern else ""
        other = stranger(here, fact, rng) if "{other}" in pattern else ""
        short = re.sub(r"\b(is|was|do|does|did) not\b", r"\1n't", c.negated(), count=1)
        text = pattern.format(
            c=c, s=c.subject, bare=f"{c.base} {c.rest}", predicate=c.predicate, not_=c.negated(),
            nt=short, never=c.with_adverb("never"), no_longer=c.with_adverb("no longer"), other=other,
            hardly=c.with_adverb("hardly"), rarely=c.with_adverb("rarely"), kind=kind,
            end=rng.choice(sorted(fact.ends)), gerund=f"{_gerund(c)} {c.rest}",
        )  # fmt: skip
        return Said(text)

    make.__name__ = f"negation_{form}"
    return make


for _form in NEGATIONS:
    false(_negate(_form))


@false
def _flag_wrong(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.shape == "flag")
    return Said(str(english.flag(fact.subject, fact.relation, fact.value != "true")))


# --- False: attribution, modality, tense ---------------------------------------------------------------

ATTRIBUTIONS = (
    "{who} claims that {c}", "{c}, says {who}", "allegedly, {c}", "reportedly, {c}",
    "{c}, according to {who}", "{who} believes that {c}", "some people say that {c}",
    "rumour has it that {c}", "{allegedly}", "{supposedly}", "critics argue that {c}",
    "{s} is said to {bare}", "{s} is rumoured to {bare}", "{who} wishes that {c}",
)  # fmt: skip
MODALITIES = (
    "{s} might {bare}", "{s} may {bare}", "{s} could {bare}", "{s} should {bare}", "perhaps {c}",
    "{almost}", "{s} plans to {bare}", "{s} wanted to {bare}", "if {c}, {other} is in trouble",
    "{s} would {bare}", "{s} was supposed to {bare}", "it is possible that {c}", "{probably}",
    "{s} pretends to {bare}", "{s} tried to {bare}", "{s} hopes to {bare}", "{s} must {bare}",
)  # fmt: skip
TENSES = (
    "{s} used to {bare}", "{s} will {bare}", "{s} will soon {bare}", "{once}", "{formerly}",
    "until recently, {past}", "{s} is going to {bare}", "{s} had {participle} before it stopped",
)  # fmt: skip


def _framed(name: str, patterns: Sequence[str], *, entity_first: bool) -> Make:
    def make(here: Scene, rng: random.Random) -> Said:
        fact, pattern = pick(here, rng, of_things), rng.choice(patterns)
        c = clause_of(fact, rng, entity_first=entity_first)
        past = "was" if c.base == "be" else c.past
        speakers = sorted(fact.ends) + ([stranger(here, fact, rng)] if rng.random() < 0.5 else [])
        text = pattern.format(
            c=c, s=c.subject, bare=f"{c.base} {c.rest}", who=rng.choice(speakers),
            past=f"{c.subject} {past} {c.rest}", participle=f"{c.participle} {c.rest}",
            other=stranger(here, fact, rng) if "{other}" in pattern else "",
            allegedly=c.with_adverb("allegedly"), supposedly=c.with_adverb("supposedly"),
            almost=c.with_adverb("almost"), probably=c.with_adverb("probably"),
            once=f"{c.subject} {'was once' if c.base == 'be' else f'once {past}'} {c.rest}",
            formerly=f"{c.subject} {'was formerly' if c.base == 'be' else f'formerly {past}'} {c.rest}",
        )  # fmt: skip
        return Said(text)

    make.__name__ = name
    return make


false(_framed("attribution", ATTRIBUTIONS, entity_first=False))
false(_framed("modality", MODALITIES, entity_first=True))
false(_framed("tense", TENSES, entity_first=True))


# --- False: what is added ------------------------------------------------------------------------------


def added(here: Scene, fact: Fact, rng: random.Random) -> str:
    """Return a predicate that is false of the subject of a fact and mostly names something real."""
    if rng.random() < 0.15:
        return rng.choice((f"is {rng.choice(ADJECTIVES)}", rng.choice(VERBS_ALONE)))
    found = [f for f in here.facts if f.s == fact.s and of_things(f) and straight(f)]
    if found and rng.random() < 0.4:
        other = rng.choice(found)
        return other.relation.plain(other.subject, others(here, other, rng)).predicate
    return alien_predicate(here, fact, rng, stranger(here, fact, rng))


@false
def _conjunct_and(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, straight)
    more = added(here, fact, rng)
    if rng.random() < 0.3:
        return Said(f"{fact.subject} {more} and {fact.plain.predicate}")
    return Said(f"{fact.plain}{rng.choice((' and ', ' and ', ', but ', ' and also '))}{more}")


@false
def _conjunct_apposition(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, straight)
    noun = rng.choice(
        (a(rng.choice(ALIEN_CLASSES)), f"the {rng.choice(SUPERLATIVES)} of its kind", "", "", "")
    )
    if not noun and rng.random() < 0.5:
        noun = a(wrong_class(here, fact.s, rng))
    noun = noun or f"{rng.choice(('the', 'a'))} {rng.choice(ALIEN_NOUNS)} of {stranger(here, fact, rng)}"
    return Said(f"{fact.subject}, {noun}, {fact.plain.predicate}")


@false
def _conjunct_relative(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, straight)
    more = added(here, fact, rng)
    if rng.random() < 0.5:
        return Said(f"{fact.subject} is {a(class_name(here, fact.s))} {who(here, fact.s)} {more}")
    return Said(f"{fact.subject}, {who(here, fact.s, 'which')} {more}, {fact.plain.predicate}")


@false
def _class_then_alien(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    other = rng.choice((fact.value, stranger(here, fact, rng)))
    more = alien_predicate(here, fact, rng, other)
    return Said(f"{fact.subject}, {a(class_name(here, fact.s))}, {more}")


@false
def _conjunct_at_end(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_entities(f) and f.plain.rest.endswith(f.value))
    more = alien_predicate(here, fact, rng, stranger(here, fact, rng))
    return Said(f"{fact.plain}, {who(here, str(fact.o), 'which')} {more}")


@false
def _conjunct_participle(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag")
    other = stranger(here, fact, rng)
    found = sorted(
        r.head for r in here.world.relations.values() if r.shape == "participle" and r.rest == "by"
    )
    done = rng.choice([*found[:2], alien_participle(here, fact, rng)])
    if rng.random() < 0.5 or not straight(fact):
        return Said(f"{fact.subject} is {a(class_name(here, fact.s))} {done} by {other}")
    return Said(f"{fact.subject}, {done} by {other}, {fact.plain.predicate}")


@false
def _conjunct_parenthesis(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, straight)
    other = stranger(here, fact, rng)
    inside = rng.choice((
        f"{alien_participle(here, fact, rng)} by {other}", f"a {rng.choice(ALIEN_NOUNS)} of {other}",
        rng.choice(ADJECTIVES), f"together with {other}",
    ))  # fmt: skip
    if rng.random() < 0.4:
        return Said(f"{fact.plain} ({inside})")
    return Said(f"{fact.subject} ({inside}) {fact.plain.predicate}")


@false
def _list_intruder(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    values = [f.value for f in facts[:3]]
    values.insert(rng.randint(0, len(values)), others(here, facts[0], rng))
    return Said(str(list_clause(facts[0].relation, facts[0].subject, values, rng)))


@false
def _adjunct(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    c, more = clause_of(fact, rng), rng.choice((*ADJUNCTS, "together with {}", "instead of {}"))
    more = more.format(stranger(here, fact, rng)) if "{}" in more else more
    return Said(f"{more}, {c}" if rng.random() < 0.2 else f"{c} {more}")


@false
def _superlative(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    kind, best = class_name(here, fact.s), rng.choice(SUPERLATIVES)
    if fact.relation.shape == "participle" and rng.random() < 0.6:
        return Said(f"{fact.subject} is the {best} {kind} {fact.plain.rest}")
    if straight(fact) and rng.random() < 0.5:
        return Said(f"{fact.subject}, the {best} {kind}, {fact.plain.predicate}")
    return Said(f"{fact.subject} is the {best} {kind}")


@false
def _adjective(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    word = rng.choice("famous fake bankrupt legendary Paraguayan controversial cheap stolen former".split())
    more = f" {fact.plain.rest}" if fact.relation.shape == "participle" and rng.random() < 0.5 else ""
    return Said(f"{fact.subject} is {a(f'{word} {class_name(here, fact.s)}')}{more}")


@false
def _bare_predicate(here: Scene, rng: random.Random) -> Said:
    name = rng.choice((here.name, *(x for f in here.facts if of_things(f) for x in sorted(f.ends))))
    said = rng.choice((f"is {rng.choice(ADJECTIVES)}", rng.choice(VERBS_ALONE)))
    return Said(f"{name} {said}" + (f", says {here.name}" if rng.random() < 0.2 else ""))


# --- False: quantity -----------------------------------------------------------------------------------


def false_value(here: Scene, fact: Fact, rng: random.Random) -> str:
    """Return another value of the same form, which the subject does not have."""
    kind, value = fact.relation.kind, fact.value
    if kind in ("entity", "text"):
        return others(here, fact, rng)
    if kind == "year":
        return str(int(value[:4]) + rng.choice((-9, -2, -1, 1, 2, 7)))
    if kind == "date":
        year, month, day = (int(part) for part in value[:10].split("-"))
        day = min(day, 28)
        changed = rng.choice(
            ((year + 3, month, day), (year, month % 12 + 1, day), (year, month, day % 28 + 1))
        )
        return "{:04}-{:02}-{:02}".format(*changed)
    if not re.fullmatch(r"\d+(\.\d+)?", value):
        raise Nothing
    number, digits = float(value), len(value.partition(".")[2])
    step = max(1.0, number * rng.choice((0.1, 0.25, 0.5, 1.0)))
    return f"{number + (step if number < 2 * step else rng.choice((-step, step))):.{digits}f}"


@false
def _number(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.kind in ("number", "year", "date") and f.single)
    r, value = fact.relation, false_value(here, fact, rng)
    if r.kind == "date" and rng.random() < 0.5:
        value = english.date_words(value, rng.randint(0, 1))
    return Said(str(rng.choice([r.plain(fact.subject, value), *r.nouns(fact.subject, value)[:1]])))


@false
def _count_wrong(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    r, n = facts[0].relation, len(here.world.values[facts[0].s, facts[0].relation.iri])
    if r.kind != "entity":
        raise Nothing
    wrong = rng.choice((n + 1, n + 2, n + 5, *([n - 1] if n > 2 else [])))
    shown = english.NUMBERS[wrong] if wrong < len(english.NUMBERS) and rng.random() < 0.5 else str(wrong)
    how = rng.choice(("", "", "exactly ", *(["at least "] if wrong > n else [])))
    return Said(f"{facts[0].subject} has {how}{shown} {many(r)}")


@false
def _unit(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, measured)
    r = fact.relation
    bare = replace(r, unit="")
    value = f"{fact.value} {OTHER_UNIT.get(r.unit) or rng.choice(WRONG_UNITS)}"
    return Said(str(rng.choice((bare.plain(fact.subject, value), bare.having(fact.subject, value)))))


@false
def _quantifier(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_entities(f) and classed(here)(f) and f.relation.shape != "of")
    world, c, kind = here.world, fact.plain, class_name(here, fact.s)
    members = world.instances[here.types[fact.s]]
    have = {m for m in members if world.holds(m, fact.relation.iri, fact.o)}
    if len(have) * 2 >= len(members) or len(members) < 3:
        raise Nothing
    kinds = plural_of(kind)
    forms = [f"{how} {kinds} {c.plural} {c.rest}" for how in ("all", "most", "none of the", "half of the")]
    forms += [f"{how} {kind} {c.predicate}" for how in ("every", "each", "no")]
    forms += [f"at least {len(have) + 4} {kinds} {c.plural} {c.rest}"]
    forms += [f"exactly {len(have) + 2} {kinds} {c.plural} {c.rest}"]
    if len(have) > 1:
        forms += [f"only {c}", f"{fact.subject} is the only {kind} {who(here, fact.s)} {c.predicate}"]
    if wrong := sorted(world.entities[m] for m in members - have if m in world.entities):
        other = rng.choice(wrong)
        forms += [
            f"both {fact.subject} and {other} {c.plural} {c.rest}",
            f"{other} and {fact.subject} {c.plural} {c.rest}",
        ]
    return Said(rng.choice(forms))


@false
def _only_one(here: Scene, rng: random.Random) -> Said:
    facts = group(here, rng)
    fact = rng.choice(facts)
    if any(here.world.related(str(one.o), str(other.o)) for one in facts for other in facts):
        raise Nothing  # of what is in Bolzano, it is no lie that it is in Bolzano only
    r, c, forms = fact.relation, fact.plain, []
    if r.noun and r.shape in ("has", "noun", "plural"):
        one = r.noun[:-1] if r.noun.endswith("s") and r.shape == "plural" else r.noun
        forms += [
            f"the only {one} of {fact.subject} is {fact.value}",
            f"{fact.value} is the only {one} of {fact.subject}",
        ]
    if straight(fact) and c.rest.endswith(fact.value) and r.shape != "of":
        start = c.rest.removesuffix(fact.value)
        only = f"only {start}" if start.startswith("the ") else f"{start}only "
        forms.append(f"{fact.subject} {c.finite} {only}{fact.value}")
    return Said(choose(forms, rng))


@false
def _comparison(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: measured(f) and re.fullmatch(r"\d+(\.\d+)?", f.value))
    r, s, value = fact.relation, fact.subject, fact.relation.value(fact.value)
    forms = [
        f"the {r.head} of {s} is {how} {value}" for how in ("more than", "less than", "higher than", "below")
    ]
    forms += [f"{s} has {a(r.head)} of {how} {value}" for how in ("over", "more than", "under")]
    peers = [
        f for f in here.world.of_relation[r.iri] if f.s != fact.s and measured(f) and f.value != fact.value
    ]
    if peers := [
        f for f in peers if re.fullmatch(r"\d+(\.\d+)?", f.value) and float(f.value) != float(fact.value)
    ]:
        other = rng.choice([f for f in peers if f.subject.casefold() in here.named] or peers)
        how = "lower" if float(fact.value) > float(other.value) else "higher"
        forms += [f"{s} has a {how} {r.head} than {other.subject}"] * 4
        forms += [f"the {r.head} of {s} is {how} than that of {other.subject}"] * 3
    return Said(rng.choice(forms))


# --- False: the ends -----------------------------------------------------------------------------------


@false
def _entity_object(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    name = others(here, fact, rng)
    return Said(str(rng.choice(clauses_with(fact.relation, fact.subject, name, fact.single))))


@false
def _entity_subject(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    name = others(here, fact, rng, subject=True)
    return Said(str(rng.choice(clauses_with(fact.relation, name, fact.value, fact.single))))


@false
def _alien_entity(here: Scene, rng: random.Random) -> Said:
    fact, name = pick(here, rng, of_things), rng.choice(STRANGERS)
    ends = rng.choice(((fact.subject, name), (name, fact.value)))
    return Said(str(fact.relation.plain(*ends, fact.single)))


@false
def _preamble_wrong(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, of_things)
    c = fact.relation.plain(fact.subject, others(here, fact, rng), fact.single)
    return Said(rng.choice(PREAMBLES).format(c))


@false
def _card_wrong(here: Scene, rng: random.Random) -> Said:
    return card(here, rng, wrong=True)


def wrong_class(here: Scene, iri: str, rng: random.Random) -> str:
    """Return a class of the graph that an entity is not said to have."""
    world, mine = here.world, here.world.types(iri)
    words = {w for c in mine for w in world.display.entity(c).casefold().split()}
    found = [
        n for c, n in sorted(world.classes.items()) if c not in mine and not words & set(n.casefold().split())
    ]
    return choose(found if mine else [], rng)


@false
def _class_swap(here: Scene, rng: random.Random) -> Said:
    iri = here.entity if here.entity in here.types else choose(sorted(here.types), rng)
    wrong, name = wrong_class(here, iri, rng), here.world.entities[iri]
    rests = [f.plain.rest for f in here.facts if f.s == iri and f.relation.shape == "participle"]
    return Said(f"{name} is {a(wrong)} {rng.choice(['', *rests])}")


@false
def _class_alien(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, straight)
    more = fact.plain.rest if fact.relation.shape == "participle" and rng.random() < 0.6 else ""
    return Said(f"{fact.subject} is {a(rng.choice(ALIEN_CLASSES))} {more}")


@false
def _crossed(here: Scene, rng: random.Random) -> Said:
    world = here.world
    one = pick(here, rng, lambda f: of_things(f) and straight(f))
    r = one.relation

    def fits(f: Fact) -> bool:
        if not (of_things(f) and straight(f)) or f.value in one.ends or f.subject == one.value:
            return False
        if f.s == one.s if f.relation == r else near(f.relation.label, r.label):
            return False
        return not world.holds(one.s, r.iri, f.o) and not world.holds(f.s, f.relation.iri, one.o)

    other = pick(here, rng, fits)
    first, second = r.plain(one.subject, other.value), other.relation.plain(other.subject, one.value)
    return Said(f"{first} and {second.predicate if other.s == one.s else second}")


@false
def _wrong_answer(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.relation.ask("x"))
    name = fact.relation.value(false_value(here, fact, rng))
    text = rng.choice((name, name, f"it is {name}", f"the answer is {name}"))
    return Said(text, question=fact.relation.ask(fact.subject))


@false
def _yes_wrong(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: of_things(f) and straight(f))
    if rng.random() < 0.4:
        return Said(rng.choice(("no", f"no, {fact.plain.negated()}")), question=yes_no(fact.plain))
    c = fact.relation.plain(fact.subject, others(here, fact, rng))
    return Said(rng.choice(("yes", "yes", f"yes, {c}")), question=yes_no(c))


@false
def _follow_up_wrong(here: Scene, rng: random.Random) -> Said:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    it, lead = pronoun(here, fact.s)[0], introduced(here, fact.s)
    if rng.random() < 0.4 and straight(fact):
        return Said(f"{it} {fact.relation.plain('x', others(here, fact, rng)).predicate}", lead=lead)
    return Said(f"{it} {added(here, fact, rng)}", lead=lead)


def make_cases(
    world: World, places: Sequence[Scene], count: int, seed: int, share: float = 0.42
) -> list[Case]:
    """Make cases of scenes, every kind as often as it can be.

    Args:
        world: The graph.
        places: Its scenes.
        count: How many cases.
        seed: Of the choices.
        share: How many of them are true.
    """
    rng = random.Random(f"{world.name}-{seed}-cases")
    made: dict[tuple[str, str, str, bool], Case] = {}
    for makers, wanted in ((TRUE, round(count * share)), (FALSE, count - round(count * share))):
        tries = dict.fromkeys(makers, _TRIES)
        left = wanted
        while left and any(tries.values()):
            for kind in [k for k, rest in tries.items() if rest][:left]:
                case = _try(kind, makers[kind], makers is TRUE, places, rng, tries)
                key = (case.question, case.lead, case.text, case.true) if case else None
                if case and key and key not in made:
                    made[key] = case
                    left -= 1
    return list(made.values())


_TRIES = 150


def _try(
    kind: str, make: Make, true: bool, places: Sequence[Scene], rng: random.Random, tries: dict[str, int]
) -> Case | None:
    while tries[kind]:
        here = rng.choice(places)
        try:
            return here.case(kind, true, make(here, rng))
        except Nothing:
            tries[kind] -= 1
    return None
