"""The kinds of true and false sentences: each makes a case of a scene, or None where it has nothing for it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import support_wording as english
from rdflib import URIRef
from support_sentences import Case, Fact, Said, Scene, World
from support_wording import Clause, a, listed, plural_of, sentence

Make: TypeAlias = Callable[[Scene, random.Random], Said | None]
TRUE: dict[str, Make] = {}
FALSE: dict[str, Make] = {}

GENERIC = ("link", "rela", "asso", "conn", "same", "see ", "broa", "narr", "subj", "topi")
NEAR = tuple(
    tuple(group.split())
    for group in (
        "loca base head resi home coun nati citi birt orig city cont plac disp regi town comp live",
        "crea auth made make deve buil writ manu prod desi pain publ",
        "part cont incl feat memb has uses", "play work memb empl team", "spon dona fund gran give awar",
        "head lead prin mana supe dire coac capt oper", "exhi disp show", "exte base uses inte",
        "stud lear taug teac supe", "star vehi pilo", "assi rais chan acct mana", "char pers acto cast star role",
        "cites refe", "kind type clas genr tags cate", "owne owns hold", "bord adja", "corr auth",
    )
)  # fmt: skip
SYMMETRIC = tuple("inter bord link rela comp marr sibl part conn same neigh simi coll spou".split())
_VERBS = """
steal; acquire: owne owns owned; sue; hate; compete with: riva; replace;
found: crea deve foun esta head lead; marry: spou part; bankrupt; leak; betray; praise: rate;
criticise: rate; buy: owne owns; sell: manu prod publ offe; ban; hack; invent: crea deve auth manu;
destroy; fund: spon dona gran fund; hire: work empl play memb assi; fire; divorce; imitate: base;
copy: base; endorse: spon; boycott; fine; attack; rescue; kidnap; import: uses; export;
paint: crea auth arti; poison; adopt: uses; reject; rename; blackmail; photograph: crea auth film;
interview; outperform; supersede; license: lice; abandon; audit; defeat: matc home away;
inspire: base; merge with: part; depend on: base uses exte; apologise to; vote against; flee from;
rely on: base uses exte; own: owne owns owned hold; visit: hold; sponsor: spon dona fund gran;
rent: owne rese; insult; avoid; envy; translate: auth writ; govern: head lead capi nati citi coun;
smuggle; invade; worship
"""
"""Verbs, each with its preposition, and the beginnings of words of labels that may mean the same."""


def _read(item: str) -> tuple[str, str, frozenset[str]]:
    said, _, avoid = item.partition(":")
    verb, _, preposition = said.strip().partition(" ")
    return verb, preposition, frozenset(avoid.split())


ALIEN = tuple(_read(item) for item in _VERBS.split(";"))
ALIEN_NOUNS = (
    "rival", "enemy", "clone", "subsidiary", "landlord", "nephew", "competitor", "successor", "bodyguard", "victim",
    "parody", "nickname", "mascot", "debtor", "twin", "lawyer",
)  # fmt: skip
ALIEN_CLASSES = (
    "virus", "mushroom", "lawsuit", "perfume", "volcano", "tax haven", "card game", "rumour", "bird of prey",
    "monastery", "scam", "kitchen appliance", "tropical disease", "dance", "submarine", "cheese",
)  # fmt: skip
ADJECTIVES = (
    "bankrupt", "haunted", "obsolete", "illegal", "overrated", "dangerous", "waterproof", "jealous", "allergic to cats",
    "under investigation", "out of business", "on strike", "invisible", "left-handed", "in debt", "unreliable",
    "very popular with children", "ashamed", "made of glass", "radioactive", "beautiful", "insecure", "the best",
    "older than it seems", "extremely rare", "not to be trusted",
)  # fmt: skip
VERBS_ALONE = (
    "has leaked passwords", "lost a lawsuit", "was sold twice", "burned down", "won three prizes", "changed its name",
    "costs a fortune", "has no friends", "fails often", "tells lies", "moved to Paraguay", "has stopped working",
)  # fmt: skip
SUPERLATIVES = (
    "largest",
    "most popular",
    "oldest",
    "best",
    "most expensive",
    "fastest",
    "least reliable",
    "first",
)
ADJUNCTS = (
    "since 1897", "in Paraguay", "because of the drought", "with 512 volunteers", "for two million dollars",
    "every Thursday", "by accident", "on the Moon", "against its will", "under a false name", "until the year 2091",
    "thanks to a loan", "in order to avoid taxes", "in spite of many complaints", "after a long dispute", "near Timbuktu",
    "without a permit", "for the third time", "as a joke", "during the winter of 1788",
)  # fmt: skip
STRANGERS = (
    "Zorblatt Industries", "Marlowe Quint", "Ostermann Vale", "the Pellingham Trust", "Quivira", "Ada Thornberry",
    "Brackwater Labs", "Lake Umbriel", "Nexadyne", "Professor Oddly",
)  # fmt: skip
WRONG_UNITS = ("light years", "litres", "volts", "acres", "decibels", "carats", "knots", "ounces")
OTHER_UNIT = {
    "minutes": "hours", "hours": "days", "days": "weeks", "kilometres": "miles", "metres": "feet",
    "centimetres": "inches", "millimetres": "inches", "kilograms": "pounds", "grams": "ounces", "tons": "ounces",
    "tonnes": "ounces", "euros": "dollars", "dollars": "euros", "percent": "degrees", "credits": "euros",
    "years": "months", "litres": "gallons",
}  # fmt: skip
PREAMBLES = (
    "According to the provided context, {}", "Based on the given facts, {}", "The graph says that {}",
    "According to the facts, {}", "As stated in the context, {}", "The answer is that {}",
)  # fmt: skip


def true(make: Make) -> Make:
    """Register a kind of true sentence."""
    TRUE[make.__name__.strip("_")] = make
    return make


def false(make: Make) -> Make:
    """Register a kind of false sentence."""
    FALSE[make.__name__.strip("_")] = make
    return make


# --- Choosing ------------------------------------------------------------------------------------------


def pick(here: Scene, rng: random.Random, wanted: Callable[[Fact], object] = bool) -> Fact | None:
    """Choose a fact, those about the entity before the others."""
    found = [f for f in here.facts if wanted(f)]
    own = [f for f in found if here.entity in (f.s, str(f.o))]
    return rng.choice(own if own and rng.random() < 0.8 else found) if found else None


def of_things(fact: Fact) -> bool:
    """Whether both ends are named."""
    return fact.relation.kind in ("entity", "text") and fact.relation.shape not in ("flag",)


def of_entities(fact: Fact) -> bool:
    """Whether both ends are entities."""
    return fact.relation.kind == "entity"


def measured(fact: Fact) -> bool:
    """Whether the value is a number with a noun."""
    return fact.relation.kind == "number" and fact.relation.shape == "noun"


def stem(label: str) -> set[str]:
    """The beginnings of the words of a label."""
    return {(w + "    ")[:4] for w in english.words_of(label.lower())}


def near(one: str, other: str) -> bool:
    """Whether two labels may mean the same of a pair, so that one does not make the other false."""
    left, right = stem(one), stem(other)
    shared = (left & right) - {"of  ", "by  ", "has ", "is  ", "to  ", "for ", "with"}
    if shared or any(g in s for g in GENERIC for s in (*left, *right)):
        return True
    return any(left & set(group) and right & set(group) for group in _PADDED)


_PADDED = tuple(tuple((w + "    ")[:4] for w in group) for group in NEAR)


def others(here: Scene, fact: Fact, rng: random.Random, *, subject: bool = False) -> list[tuple[str, str]]:
    """Return ends that would make a fact false: term and name, those in the context first."""
    world, p = here.world, fact.relation.iri
    same = world.of_relation[p]
    found: dict[str, str] = {}
    for other in same:
        if subject:
            if not world.holds(other.s, p, fact.o) and other.s != str(fact.o):
                found[other.s] = other.subject
        elif not world.holds(fact.s, p, other.o) and str(other.o) != fact.s:
            found[other.o.n3()] = other.value
    names = {x.casefold() for line in here.context.lines for x in (line.labels[0], line.labels[2].strip('"'))}
    avoid = fact.ends
    left = sorted((n, t) for t, n in found.items() if not any(_within(n, x) for x in avoid))
    rng.shuffle(left)
    left.sort(key=lambda item: item[0].casefold() not in names)
    return [(t, n) for n, t in left]


def _within(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def stranger(here: Scene, fact: Fact, rng: random.Random) -> str | None:
    """Return the name of an entity that has nothing to do with either end of a fact."""
    world = here.world
    ends = {fact.s, str(fact.o)}
    near_by = sorted({x for f in here.facts for x in (f.s, str(f.o)) if x in world.entities} - ends)
    rest = rng.sample(sorted(world.entities), min(12, len(world.entities)))
    rng.shuffle(near_by)
    for iri in near_by[:8] + rest if rng.random() < 0.6 else rest:
        name = world.entities[iri]
        if iri not in ends and not any(world.related(iri, end) for end in ends):
            if not any(_within(name, x) for x in fact.ends):
                return name
    return None


def alien(here: Scene, rng: random.Random, *labels: str) -> tuple[str, str]:
    """Choose a verb that the schema has nothing like, with its preposition."""
    near_by = {s.strip() for label in labels for s in stem(label)}
    for verb, preposition, avoid in rng.sample(ALIEN, len(ALIEN)):
        if not (stem(verb) | stem(english.past_of(verb)[0])) & here.world.stems and not avoid & near_by:
            return verb, preposition
    raise AssertionError("no verb is left")


def labels_between(here: Scene, fact: Fact) -> list[str]:
    """Return the labels of all relations between the ends of a fact."""
    between = here.world.related(fact.s, str(fact.o)) if of_entities(fact) else set()
    return [here.world.display.predicate(p) for p in sorted(between | {fact.relation.iri})]


def alien_predicate(here: Scene, fact: Fact, rng: random.Random, name: str) -> str:
    """Return a predicate that names an end with a verb or noun which the schema has nothing like."""
    verb, prep = alien(here, rng, *labels_between(here, fact))
    past, participle = english.past_of(verb)
    if rng.random() < 0.2:
        return f"is {a(rng.choice(ALIEN_NOUNS))} of {name}"
    if prep:
        return f"{rng.choice((past, english.third_of(verb)))} {prep} {name}"
    return rng.choice((f"{past} {name}", f"{english.third_of(verb)} {name}", f"was {participle} by {name}"))


def clause_of(fact: Fact, rng: random.Random, *, entity_first: bool = False) -> Clause:
    """Choose a clause that says a fact, the plain one most."""
    found = fact.clauses()
    if entity_first:
        found = [c for c in found if c.subject in fact.ends] or found[:1]
    return found[0] if rng.random() < 0.5 else rng.choice(found)


def pronoun(here: Scene, iri: str) -> tuple[str, str] | None:
    """Return the pronoun and the possessive of an entity, where they are known."""
    if not here.world.is_person(iri):
        return "it", "its"
    for fact in here.world.facts:
        if fact.s == iri and fact.relation.label.casefold() in ("gender", "sex"):
            return {"male": ("he", "his"), "female": ("she", "her")}.get(fact.value.casefold())
    return None


def class_name(here: Scene, iri: str) -> str | None:
    """Return the class that a line gives to an entity."""
    found = here.types.get(iri)
    return here.world.classes[found] if found else None


def group(here: Scene, rng: random.Random) -> list[Fact] | None:
    """Return the facts of one subject and relation, where there are several."""
    found: dict[tuple[str, str], list[Fact]] = {}
    for f in here.facts:
        if of_things(f):
            found.setdefault((f.s, f.relation.iri), []).append(f)
    several = [g for g in found.values() if len({f.value for f in g}) == len(g) > 1]
    return rng.choice(several) if several else None


def list_clause(facts: Sequence[Fact], rng: random.Random) -> Clause | None:
    """Return one clause that says all of them."""
    r, s = facts[0].relation, facts[0].subject
    names = listed([f.value for f in facts])
    match r.shape:
        case "has":
            head = r.head if r.head.endswith("s") else plural_of(r.head)
            return Clause(s, "has", "have", f"the {head} {names}")
        case "verb" if r.rest.startswith("the "):
            return Clause(s, r.head, english.base_of(r.head), f"the {plural_of(r.rest[4:])} {names}")
        case "verb" | "participle" | "of" | "past" | "is":
            return r.plain(s, names)
        case "noun" if r.kind in ("entity", "text"):
            return Clause(f"the {plural_of(r.head)} of {s}", "are", "be", names)
        case "plural" if r.kind == "entity":
            return rng.choice(
                (
                    Clause(f"the {r.head} of {s}", "are", "be", names),
                    Clause(f"the {r.head} of {s}", "include", "include", names),
                )
            )
    return None


def complete(here: Scene, facts: Sequence[Fact]) -> bool:
    """Whether the facts are all that the graph has of this relation."""
    values = here.world.values[facts[0].s, facts[0].relation.iri]
    return len(values) == len({f.o.n3() for f in facts})


def card(here: Scene, rng: random.Random, *, wrong: bool = False) -> list[str] | None:
    """Return the lines of a name with its values under it, the last of them wrong if asked for."""
    own = [f for f in here.facts if f.s == here.entity and f.relation.shape == "noun" and f.single]
    if len(own) < 2:
        return None
    chosen = rng.sample(own, min(len(own), rng.randint(2, 4)))
    lines = [f"{chosen[0].subject}:"]
    for fact in chosen:
        value = fact.relation.value(fact.value)
        if wrong and fact is chosen[-1]:
            found = others(here, fact, rng)
            if fact.relation.kind in ("number", "year"):
                value = fact.relation.value(other_number(fact.value, rng))
            elif found:
                value = found[0][1]
            else:
                return None
        head = fact.relation.head
        lines.append(f"- {head[:1].upper()}{head[1:]}: {value}")
    return lines


def yes_no(c: Clause) -> str:
    """Return the question whether a clause holds."""
    if c.base == "be":
        return f"{c.finite.capitalize()} {c.subject} {c.rest}?"
    return f"{'Did' if c.finite == c.past else 'Does'} {c.subject} {c.base} {c.rest}?"


# --- True ----------------------------------------------------------------------------------------------


@true
def _plain(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng)
    return Said(str(fact.plain if fact.relation.shape != "flag" else fact.clauses()[0])) if fact else None


@true
def _verbatim(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng)
    if fact is None:
        return None
    if rng.random() < 0.6:
        return Said(fact.line, raw=True)
    return Said(f"{fact.subject} {fact.relation.label} {fact.value}")


@true
def _voice(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.relation.voice("x", "y"))
    return Said(str(fact.relation.voice(fact.subject, fact.value))) if fact else None


@true
def _noun_form(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.relation.nouns("x", "1", f.single))
    if fact is None:
        return None
    return Said(str(rng.choice(fact.relation.nouns(fact.subject, fact.value, fact.single))))


@true
def _having(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.single and f.relation.having("x", "1"))
    if fact is None:
        return None
    owner = pronoun(here, fact.s)
    return Said(str(fact.relation.having(fact.subject, fact.value, owner[1] if owner else "their")))


@true
def _list_objects(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None:
        return None
    said = list_clause(rng.sample(facts, min(len(facts), rng.randint(2, 4))), rng)
    return Said(str(said)) if said else None


@true
def _list_subjects(here: Scene, rng: random.Random) -> Said | None:
    found: dict[tuple[str, str], list[Fact]] = {}
    for f in here.facts:
        if of_things(f) and f.plain.subject == f.subject:
            found.setdefault((f.relation.iri, f.o.n3()), []).append(f)
    several = [g for g in found.values() if len({f.subject for f in g}) == len(g) > 1]
    if not several:
        return None
    facts = rng.choice(several)
    chosen = rng.sample(facts, min(len(facts), rng.randint(2, 3)))
    c = chosen[0].plain
    both = "both " if len(chosen) == 2 and rng.random() < 0.3 else ""
    text = f"{both}{listed([f.subject for f in chosen])} {c.plural} {c.rest}"
    if c.rest.startswith(("a ", "an ")):
        return None
    return Said(text)


@true
def _joined(here: Scene, rng: random.Random) -> Said | None:
    one = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if one is None:
        return None
    other = pick(
        here,
        rng,
        lambda f: f.s == one.s and f.relation != one.relation and f.clauses()[0].subject == f.subject,
    )
    if other is None:
        return None
    return Said(f"{one.plain} and {other.clauses()[0].predicate}")


@true
def _apposition(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.clauses()[0].subject == f.subject)
    if fact is None:
        return None
    kind = class_name(here, fact.s) or ""
    c = fact.clauses()[0]
    return Said(f"{fact.subject}, {a(kind)}, {c.predicate}")


@true
def _class_relative(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.clauses()[0].subject == f.subject)
    if fact is None:
        return None
    kind, c = class_name(here, fact.s) or "", fact.clauses()[0]
    if fact.relation.shape in ("participle", "when"):
        return Said(f"{fact.subject} is {a(kind)} {c.rest}")
    who = "who" if here.world.is_person(fact.s) else "that"
    return Said(f"{fact.subject} is {a(kind)} {who} {c.predicate}")


@true
def _class_with(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(
        here,
        rng,
        lambda f: (
            f.s in here.types and f.single and f.relation.kind == "number" and f.relation.shape == "noun"
        ),
    )
    if fact is None:
        return None
    kind = class_name(here, fact.s) or ""
    value = f"{a(fact.relation.head)} of {fact.relation.value(fact.value)}"
    if rng.random() < 0.5:
        return Said(f"{fact.subject}, with {value}, is {a(kind)}")
    return Said(f"{fact.subject} is {a(kind)} with {value}")


@true
def _of_class(here: Scene, rng: random.Random) -> Said | None:
    found = sorted(here.types)
    if not found:
        return None
    iri = here.entity if here.entity in here.types else rng.choice(found)
    name = here.world.entities[iri]
    return Said(f"{name} is {a(class_name(here, iri) or '')}")


@true
def _follow_up(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.clauses()[0].subject == f.subject)
    if fact is None or (who := pronoun(here, fact.s)) is None:
        return None
    lead = sentence(f"{fact.subject} is {a(class_name(here, fact.s) or '')}")
    return Said(f"{who[0]} {fact.clauses()[0].predicate}", lead=lead)


@true
def _follow_up_possessive(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.single and f.relation.shape == "noun")
    if fact is None or (who := pronoun(here, fact.s)) is None:
        return None
    lead = sentence(f"{fact.subject} is {a(class_name(here, fact.s) or '')}")
    value = fact.relation.value(fact.value)
    return Said(f"{who[1]} {fact.relation.head} is {value}", lead=lead)


@true
def _fragment(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.relation.ask("x"))
    if fact is None:
        return None
    value = fact.relation.value(fact.value)
    text = rng.choice((value, value, f"It is {value}", f"The answer is {value}"))
    return Said(text, question=fact.relation.ask(fact.subject))


@true
def _bullets(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None:
        return None
    r, s = facts[0].relation, facts[0].subject
    noun = r.noun if r.shape in ("has", "noun", "plural") else None
    if noun is None:
        return None
    many = noun if noun.endswith("s") else plural_of(noun)
    lead = f"{s} has the following {many}:" if rng.random() < 0.5 else f"The {many} of {s} are:"
    marks = rng.choice((["-"] * 5, ["*"] * 5, ["1.", "2.", "3.", "4.", "5."]))
    items = "".join(f"\n{mark} {f.value}" for mark, f in zip(marks, facts[:5], strict=False))
    return Said(lead + items, raw=True)


@true
def _preamble(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng)
    if fact is None:
        return None
    form = rng.choice(PREAMBLES)
    asked = fact.relation.ask(fact.subject) if form.startswith("The answer") else None
    return Said(form.format(fact.clauses()[0]), question=asked)


@true
def _count(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None or not complete(here, facts) or not of_entities(facts[0]):
        return None
    r, s, n = facts[0].relation, facts[0].subject, len(facts)
    number = english.NUMBERS[n] if n < len(english.NUMBERS) and rng.random() < 0.6 else str(n)
    if r.shape in ("has", "noun", "plural"):
        many = r.head if r.head.endswith("s") else plural_of(r.head)
        more = rng.choice(("", f": {listed([f.value for f in facts])}"))
        return Said(f"{s} has {number} {many}{more}")
    kinds = {class_name(here, str(f.o)) for f in facts}
    if r.shape == "verb" and len(kinds) == 1 and (kind := kinds.pop()):
        rest = r.rest if not r.rest.startswith("the ") else ""
        return Said(f"{s} {r.head} {rest} {number} {plural_of(kind)}")
    return None


@true
def _dated(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.kind == "date" and f.single)
    if fact is None:
        return None
    day = english.date_words(fact.value, rng.randint(0, 1))
    return Said(str(fact.relation.plain(fact.subject, day)))


@true
def _thousands(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: measured(f) and f.single and re.fullmatch(r"\d{4,}(\.\d+)?", f.value))
    if fact is None:
        return None
    value = english.grouped(fact.value)
    r = fact.relation
    return Said(str(rng.choice((r.plain(fact.subject, value), r.having(fact.subject, value)))))


@true
def _with_unit(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.unit and f.single and f.relation.shape == "noun")
    if fact is None:
        return None
    r = fact.relation
    return Said(
        str(rng.choice((r.plain(fact.subject, fact.value), r.having(fact.subject, fact.value)))),
    )


@true
def _flag(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape == "flag")
    return Said(str(fact.clauses()[0])) if fact else None


@true
def _yes(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_things(f) and f.plain.subject == f.subject)
    if fact is None:
        return None
    text = rng.choice(("Yes", "Yes", f"Yes, {fact.plain}"))
    return Said(text, question=yes_no(fact.plain))


@true
def _cleft(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_things(f) and f.plain.subject == f.subject and f.s in here.types)
    if fact is None:
        return None
    kind = class_name(here, fact.s) or ""
    who = "who" if here.world.is_person(fact.s) else "that"
    return Said(f"one {kind} {who} {fact.plain.predicate} is {fact.subject}")


@true
def _relative(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.clauses()[0].subject == f.subject)
    if fact is None:
        return None
    who = "who" if here.world.is_person(fact.s) else "which"
    kind = class_name(here, fact.s) or ""
    return Said(f"{fact.subject}, {who} {fact.clauses()[0].predicate}, is {a(kind)}")


@true
def _past(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(
        here, rng, lambda f: f.relation.shape == "participle" and f.relation.verb not in english.STATES
    )
    if fact is None or fact.relation.rest != "by":
        return None
    return Said(f"{fact.subject} was {fact.plain.rest}")


@true
def _bold(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    return Said(
        sentence(str(fact.relation.plain(f"**{fact.subject}**", f"**{fact.value}**", fact.single))), raw=True
    )


@true
def _card(here: Scene, rng: random.Random) -> Said | None:
    lines = card(here, rng)
    return Said("\n".join(lines), raw=True) if lines else None


@true
def _without_noun(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_entities(f) and f.plain.rest.startswith("the "))
    return Said(f"{fact.subject} {fact.plain.finite} {fact.value}") if fact else None


@true
def _of_its_kind(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_entities(f) and str(f.o) in here.types and f.relation.voice("x", "y"))
    if fact is None:
        return None
    c = fact.relation.voice(fact.subject, fact.value)
    if c is None or c.subject != fact.value:
        return None
    who = "who" if here.world.is_person(str(fact.o)) else "that"
    return Said(f"{fact.value} is the {class_name(here, str(fact.o))} {who} {c.predicate}")


@true
def _no(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape == "flag" and f.value == "false")
    if fact is None:
        return None
    asked = yes_no(english.flag(fact.subject, fact.relation, True))
    return Said(f"No, {fact.clauses()[0]}", question=asked)


# --- False: the relation -------------------------------------------------------------------------------


@false
def _relation_schema(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    world = here.world
    names = labels_between(here, fact)
    found = [
        r
        for r in world.relations.values()
        if r.kind in ("entity", "text") and r.shape != "flag" and not any(near(r.label, n) for n in names)
        and not world.holds(fact.s, r.iri, fact.o)
    ]  # fmt: skip
    if not found:
        return None
    r = rng.choice(sorted(found, key=lambda r: r.iri))
    c = rng.choice([r.plain(fact.subject, fact.value), *r.nouns(fact.subject, fact.value)])
    return Said(str(c))


@false
def _relation_alien(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    one, other = rng.sample([fact.subject, fact.value], 2)
    return Said(f"{one} {alien_predicate(here, fact, rng, other)}")


@false
def _direction(here: Scene, rng: random.Random) -> Said | None:
    world = here.world

    def one_way(f: Fact) -> bool:
        if (
            not of_things(f)
            or f.relation.iri in world.symmetric
            or f.relation.label.lower().startswith(SYMMETRIC)
        ):
            return False
        return not (isinstance(f.o, URIRef) and world.holds(str(f.o), f.relation.iri, URIRef(f.s)))

    fact = pick(here, rng, one_way)
    if fact is None:
        return None
    r = fact.relation
    turned = [r.plain(fact.value, fact.subject), *r.nouns(fact.value, fact.subject)]
    if c := r.voice(fact.value, fact.subject):
        turned += [c, c]
    return Said(str(rng.choice(turned)))


@false
def _triple_wrong(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    if rng.random() < 0.3:
        return Said(f"({fact.subject}, is a, {rng.choice(ALIEN_CLASSES)})", raw=True)
    for _, name in others(here, fact, rng)[:1]:
        return Said(f"({fact.subject}, {fact.relation.label}, {name})", raw=True)
    return None


# --- False: polarity -----------------------------------------------------------------------------------


def negate(form: str) -> Make:
    """Return the maker of one form of negation."""

    def make(here: Scene, rng: random.Random) -> Said | None:
        fact = pick(here, rng, of_things)
        if fact is None:
            return None
        c = clause_of(fact, rng, entity_first=form in ("fails", "denies", "far", "neither", "without"))
        text = None
        match form:
            case "not":
                text = rng.choice((c.negated(), c.negated().replace(f"{c.finite} not", f"{c.finite}n't", 1)))
                text = text.replace("does not", rng.choice(("does not", "doesn't")), 1)
            case "never":
                text = c.with_adverb("never")
            case "false_that":
                text = f"it is {rng.choice(('false', 'untrue', 'a lie'))} that {c}"
            case "not_the_case":
                text = rng.choice(
                    (f"it is not the case that {c}", f"nobody says that {c}", f"it isn't true that {c}")
                )
            case "no_longer":
                text = rng.choice((c.with_adverb("no longer"), c.negated() + " any more"))
            case "hardly":
                text = c.with_adverb(rng.choice(("hardly", "scarcely", "barely", "rarely")))
            case "fails":
                text = f"{c.subject} {rng.choice(('fails to', 'refuses to', 'has yet to'))} {c.base} {c.rest}"
            case "denies":
                text = f"{rng.choice(sorted(fact.ends))} denies that {c}"
            case "wrong":
                text = rng.choice(
                    (f"it is wrong to say that {c}", f"it would be a mistake to think that {c}")
                )
            case "far":
                being = "being" if c.base == "be" else _gerund(c.base)
                text = f"{c.subject} is far from {being} {c.rest}"
            case "neither":
                other = stranger(here, fact, rng)
                text = f"neither {c.subject} nor {other} {c.finite} {c.rest}" if other else None
            case "without":
                kind = class_name(here, fact.s)
                if c.subject == fact.subject and kind:
                    being = "being" if c.base == "be" else _gerund(c.base)
                    text = f"{c.subject} is {a(kind)} without {being} {c.rest}"
        return Said(text) if text else None

    make.__name__ = f"negation_{form}"
    return make


def _gerund(base: str) -> str:
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


for _form in (
    "not", "never", "false_that", "not_the_case", "no_longer", "hardly", "fails", "denies", "wrong", "far",
    "neither", "without",
):  # fmt: skip
    false(negate(_form))


@false
def _flag_wrong(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape == "flag")
    if fact is None:
        return None
    return Said(str(english.flag(fact.subject, fact.relation, fact.value != "true")))


# --- False: modality, attribution, tense ---------------------------------------------------------------


@false
def _attribution(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    c = clause_of(fact, rng)
    who = rng.choice((*sorted(fact.ends), stranger(here, fact, rng) or "a rumour"))
    form = rng.choice(
        ("{who} claims that {c}", "{c}, says {who}", "allegedly, {c}", "reportedly, {c}", "{c}, according to {who}",
         "{who} believes that {c}", "some people say that {c}", "rumour has it that {c}", "{adv}", "{said}",
         "critics argue that {c}", "{who} dreams that {c}")
    )  # fmt: skip
    text = form.format(
        who=who, c=c, adv=c.with_adverb(rng.choice(("allegedly", "supposedly", "reportedly", "apparently"))),
        said=f"{c.subject} is {rng.choice(('said', 'believed', 'rumoured', 'thought'))} to {c.base} {c.rest}",
    )  # fmt: skip
    return Said(text)


@false
def _modality(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    c = clause_of(fact, rng, entity_first=True)
    bare = f"{c.base} {c.rest}"
    other = stranger(here, fact, rng) or "it"
    form = rng.choice((
        f"{c.subject} might {bare}", f"{c.subject} may {bare}", f"{c.subject} could {bare}", f"{c.subject} should {bare}",
        f"perhaps {c}", f"{c.subject} plans to {bare}", f"{c.subject} wanted to {bare}", f"{c.with_adverb('almost')}",
        f"if {c}, {other} is in trouble", f"{c.subject} would {bare}", f"{c.subject} was supposed to {bare}",
        f"it is possible that {c}", f"{c.subject} probably {bare if False else c.finite} {c.rest}",
        f"{c.subject} pretends to {bare}", f"{c.subject} tried to {bare}", f"{c.subject} hopes to {bare}",
    ))  # fmt: skip
    return Said(form)


@false
def _tense(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    c = clause_of(fact, rng, entity_first=True)
    bare = f"{c.base} {c.rest}"
    form = rng.choice((
        f"{c.subject} used to {bare}", f"{c.subject} will {bare}", f"{c.subject} will soon {bare}",
        f"{c.about(c.subject).subject} {'was once' if c.base == 'be' else 'once ' + c.past} {c.rest}",
        f"{c.subject} {'was' if c.base == 'be' else c.past} formerly {c.rest}", f"until recently, {c.subject} {c.past if c.base != 'be' else 'was'} {c.rest}",
        f"{c.subject} is going to {bare}", f"{c.subject} had {c.participle} {c.rest} before it stopped",
    ))  # fmt: skip
    return Said(form)


# --- False: what is added ------------------------------------------------------------------------------


def added(here: Scene, fact: Fact, rng: random.Random) -> str | None:
    """Return a predicate that is false of the subject of a fact and names something real, mostly."""
    if rng.random() < 0.15:
        return rng.choice((f"is {rng.choice(ADJECTIVES)}", rng.choice(VERBS_ALONE)))
    found = [f for f in here.facts if f.s == fact.s and of_things(f) and f.plain.subject == f.subject]
    if found and rng.random() < 0.4:
        other = rng.choice(found)
        for _, name in others(here, other, rng)[:1]:
            return other.relation.plain(other.subject, name).predicate
    name = stranger(here, fact, rng)
    return alien_predicate(here, fact, rng, name) if name else None


@false
def _conjunct_and(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if fact is None or (more := added(here, fact, rng)) is None:
        return None
    joint = rng.choice((" and ", " and ", ", but ", " and also "))
    if rng.random() < 0.3:
        return Said(f"{fact.subject} {more} and {fact.plain.predicate}")
    return Said(f"{fact.plain}{joint}{more}")


@false
def _conjunct_apposition(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if fact is None:
        return None
    other = stranger(here, fact, rng)
    nouns = [a(rng.choice(ALIEN_CLASSES)), f"the {rng.choice(SUPERLATIVES)} of its kind"]
    if other:
        nouns += [f"{a(rng.choice(ALIEN_NOUNS))} of {other}", f"the {rng.choice(ALIEN_NOUNS)} of {other}"]
    wrong = wrong_class(here, fact.s, rng)
    if wrong:
        nouns += [a(wrong), a(wrong)]
    return Said(f"{fact.subject}, {rng.choice(nouns)}, {fact.plain.predicate}")


@false
def _conjunct_relative(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if fact is None or (more := added(here, fact, rng)) is None:
        return None
    person = here.world.is_person(fact.s)
    kind = class_name(here, fact.s)
    if kind and rng.random() < 0.5:
        return Said(f"{fact.subject} is {a(kind)} {'who' if person else 'that'} {more}")
    return Said(
        f"{fact.subject}, {'who' if person else 'which'} {more}, {fact.plain.predicate}",
    )


@false
def _conjunct_at_end(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_entities(f) and f.plain.rest.endswith(f.value))
    if fact is None or (other := stranger(here, fact, rng)) is None:
        return None
    more = alien_predicate(here, fact, rng, other)
    who = "who" if here.world.is_person(str(fact.o)) else "which"
    return Said(f"{fact.plain}, {who} {more}")


@false
def _conjunct_participle(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and f.relation.shape != "flag")
    if fact is None or (other := stranger(here, fact, rng)) is None:
        return None
    kind = class_name(here, fact.s) or ""
    verbs = [r.head for r in here.world.relations.values() if r.shape == "participle" and r.rest == "by"]
    alien_verb = next(v for v, prep in (alien(here, rng, fact.relation.label) for _ in range(60)) if not prep)
    done = rng.choice(
        [*verbs[:2], english.past_of(alien_verb)[1], "created" if "crea" not in here.world.stems else "sued"]
    )
    if rng.random() < 0.5 or fact.plain.subject != fact.subject:
        return Said(f"{fact.subject} is {a(kind)} {done} by {other}")
    return Said(f"{fact.subject}, {done} by {other}, {fact.plain.predicate}")


@false
def _conjunct_parenthesis(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if fact is None or (other := stranger(here, fact, rng)) is None:
        return None
    verb = next(v for v, prep in (alien(here, rng, fact.relation.label) for _ in range(60)) if not prep)
    inside = rng.choice(
        (f"{english.past_of(verb)[1]} by {other}", f"{a(rng.choice(ALIEN_NOUNS))} of {other}", rng.choice(ADJECTIVES),
         f"together with {other}")
    )  # fmt: skip
    if rng.random() < 0.4:
        return Said(f"{fact.plain} ({inside})")
    return Said(f"{fact.subject} ({inside}) {fact.plain.predicate}")


@false
def _list_intruder(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None or not (wrong := others(here, facts[0], rng)):
        return None
    values = [Fact(f.s, f.o, f.relation, f.subject, f.value, f.line, f.single) for f in facts[:3]]
    bad = Fact(values[0].s, values[0].o, values[0].relation, values[0].subject, wrong[0][1], "", False)
    values.insert(rng.randint(0, len(values)), bad)
    said = list_clause(values, rng)
    return Said(str(said)) if said else None


@false
def _adjunct(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    c = clause_of(fact, rng)
    other = stranger(here, fact, rng)
    more = rng.choice((*ADJUNCTS, f"together with {other}", f"instead of {other}") if other else ADJUNCTS)
    if rng.random() < 0.2:
        return Said(f"{more}, {c}")
    return Said(f"{c} {more}")


@false
def _superlative(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    if fact is None:
        return None
    kind, best = class_name(here, fact.s) or "", rng.choice(SUPERLATIVES)
    if fact.relation.shape == "participle" and rng.random() < 0.6:
        return Said(f"{fact.subject} is the {best} {kind} {fact.plain.rest}")
    if fact.plain.subject == fact.subject and rng.random() < 0.5:
        return Said(f"{fact.subject}, the {best} {kind}, {fact.plain.predicate}")
    return Said(f"{fact.subject} is the {best} {kind}")


@false
def _adjective(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    if fact is None:
        return None
    kind = class_name(here, fact.s) or ""
    word = rng.choice(
        (
            "famous",
            "fake",
            "bankrupt",
            "legendary",
            "Paraguayan",
            "controversial",
            "cheap",
            "stolen",
            "former",
        )
    )
    return Said(f"{fact.subject} is {a(f'{word} {kind}')}")


@false
def _bare_predicate(here: Scene, rng: random.Random) -> Said | None:
    name = rng.choice((here.name, *(x for f in here.facts if of_things(f) for x in sorted(f.ends))))
    text = rng.choice((f"is {rng.choice(ADJECTIVES)}", rng.choice(VERBS_ALONE)))
    return Said(f"{name} {text}")


# --- False: quantity -----------------------------------------------------------------------------------


def other_number(value: str, rng: random.Random) -> str:
    """Return a number of the same form that is another."""
    number = float(value)
    digits = len(value.partition(".")[2])
    while True:
        step = max(1.0, abs(number) * rng.choice((0.1, 0.25, 0.5, 1.0)))
        changed = number + rng.choice((-1, 1)) * step
        text = f"{changed:.{digits}f}"
        if changed >= 0 and float(text) != number:
            return text


@false
def _number(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.kind in ("number", "year", "date") and f.single)
    if fact is None:
        return None
    r = fact.relation
    if r.kind == "date":
        parts = fact.value[:10].split("-")
        at = rng.randint(0, 2)
        parts[at] = (
            f"{int(parts[at]) % 27 + 1:02}"
            if at == 2
            else f"{int(parts[1]) % 12 + 1:02}"
            if at == 1
            else str(int(parts[0]) + 3)
        )
        if int(parts[2]) > 28:
            parts[2] = "28"
        value = rng.choice(("-".join(parts), english.date_words("-".join(parts), 0)))
    elif r.kind == "year":
        value = str(int(fact.value[:4]) + rng.choice((-9, -2, -1, 1, 2, 7)))
    else:
        value = other_number(fact.value, rng)
    c = rng.choice([r.plain(fact.subject, value), *(r.nouns(fact.subject, value)[:1])])
    return Said(str(c))


@false
def _count_wrong(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None or not of_entities(facts[0]):
        return None
    r, s = facts[0].relation, facts[0].subject
    if r.shape not in ("has", "noun", "plural"):
        return None
    n = len(here.world.values[facts[0].s, r.iri])
    if len(facts) > n or n < 2:
        return None
    wrong = rng.choice((n - 1, n + 1, n + 2, n + 5))
    many = r.head if r.head.endswith("s") else plural_of(r.head)
    if wrong < 2:
        wrong = n + 1
    shown = english.NUMBERS[wrong] if wrong < len(english.NUMBERS) and rng.random() < 0.5 else str(wrong)
    how = rng.choice(("", "", "exactly "))
    return Said(f"{s} has {how}{shown} {many}")


@false
def _unit(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: measured(f) and f.single)
    if fact is None:
        return None
    r = fact.relation
    wrong = OTHER_UNIT.get(r.unit) or rng.choice(WRONG_UNITS)
    bare = english.Relation(r.iri, r.label, r.shape, r.head, r.rest, r.kind)
    value = f"{fact.value} {wrong}"
    c = rng.choice((bare.plain(fact.subject, value), bare.having(fact.subject, value)))
    return Said(str(c))


@false
def _quantifier(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_entities(f) and f.s in here.types and f.plain.subject == f.subject)
    if fact is None:
        return None
    world, c, kind = here.world, fact.plain, class_name(here, fact.s) or ""
    members = world.instances[here.types[fact.s]]
    having = [m for m in members if world.holds(m, fact.relation.iri, fact.o)]
    many = plural_of(kind)
    if len(having) * 2 >= len(members) or len(members) < 3 or c.rest.startswith(("a ", "an ")):
        return None
    forms = [
        f"all {many} {c.plural} {c.rest}", f"every {kind} {c.finite} {c.rest}", f"most {many} {c.plural} {c.rest}",
        f"no {kind} {c.finite} {c.rest}", f"none of the {many} {c.plural} {c.rest}",
        f"at least {len(having) + 4} {many} {c.plural} {c.rest}", f"half of the {many} {c.plural} {c.rest}",
        f"exactly {len(having) + 2} {many} {c.plural} {c.rest}", f"nothing but {fact.value} matters to {fact.subject}",
    ]  # fmt: skip
    if len(having) > 1:
        forms += [
            f"only {fact.subject} {c.finite} {c.rest}",
            f"{fact.subject} is the only {kind} that {c.predicate}",
        ]
    wrong = [m for m in members if m not in having and m in world.entities]
    if wrong:
        other = world.entities[rng.choice(sorted(wrong))]
        forms += [
            f"both {fact.subject} and {other} {c.plural} {c.rest}",
            f"{other} and {fact.subject} {c.plural} {c.rest}",
        ]
    return Said(rng.choice(forms))


@false
def _only_one(here: Scene, rng: random.Random) -> Said | None:
    facts = group(here, rng)
    if facts is None:
        return None
    fact = rng.choice(facts)
    r = fact.relation
    forms = []
    if r.noun and r.shape in ("has", "noun", "plural"):
        one = r.noun[:-1] if r.noun.endswith("s") and r.shape == "plural" else r.noun
        forms = [
            f"the only {one} of {fact.subject} is {fact.value}",
            f"{fact.value} is the only {one} of {fact.subject}",
        ]
    if fact.plain.subject == fact.subject and fact.plain.rest.endswith(fact.value):
        start = fact.plain.rest.removesuffix(fact.value)
        forms.append(
            f"{fact.subject} {fact.plain.finite} {start}only {fact.value}".replace(
                "the feature only", "only the feature"
            )
        )
    return Said(rng.choice(forms)) if forms else None


@false
def _comparison(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: measured(f) and f.single)
    if fact is None:
        return None
    r = fact.relation
    peers = [
        f
        for f in here.world.of_relation[r.iri]
        if f.single and f.s != fact.s and float(f.value) != float(fact.value)
    ]
    value = r.value(fact.value)
    forms = [
        f"the {r.head} of {fact.subject} is {how} {value}"
        for how in ("more than", "less than", "higher than", "below")
    ]
    forms += [f"{fact.subject} has {a(r.head)} of {how} {value}" for how in ("over", "more than", "under")]
    if peers:
        inside = [f for f in peers if any(f.line == x.line for x in here.facts)] or peers
        other = rng.choice(inside)
        how = "lower" if float(fact.value) > float(other.value) else "higher"
        forms += [f"{fact.subject} has a {how} {r.head} than {other.subject}"] * 4
        forms += [f"the {r.head} of {fact.subject} is {how} than that of {other.subject}"] * 3
    return Said(rng.choice(forms))


# --- False: the ends -----------------------------------------------------------------------------------


@false
def _entity_object(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    found = others(here, fact, rng)
    if not found:
        return None
    name = (found[0] if rng.random() < 0.7 else rng.choice(found))[1]
    r = fact.relation
    c = rng.choice(
        [
            r.plain(fact.subject, name),
            *r.nouns(fact.subject, name, fact.single),
            *filter(None, [r.voice(fact.subject, name)]),
        ]
    )
    return Said(str(c))


@false
def _entity_subject(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    found = others(here, fact, rng, subject=True)
    if not found:
        return None
    name = (found[0] if rng.random() < 0.7 else rng.choice(found))[1]
    r = fact.relation
    c = rng.choice(
        [
            r.plain(name, fact.value),
            *r.nouns(name, fact.value, fact.single),
            *filter(None, [r.voice(name, fact.value)]),
        ]
    )
    return Said(str(c))


@false
def _alien_entity(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None:
        return None
    r, name = fact.relation, rng.choice(STRANGERS)
    c = r.plain(fact.subject, name) if rng.random() < 0.5 else r.plain(name, fact.value)
    return Said(str(c))


def wrong_class(here: Scene, iri: str, rng: random.Random) -> str | None:
    """Return a class of the graph that an entity is not said to have."""
    world = here.world
    mine = world.types(iri)
    names = {world.display.entity(c).casefold() for c in mine}
    words = {w for n in names for w in n.split()}
    found = [
        n for c, n in sorted(world.classes.items()) if c not in mine and not words & set(n.casefold().split())
    ]
    return rng.choice(found) if found and mine else None


@false
def _class_swap(here: Scene, rng: random.Random) -> Said | None:
    if not here.types:
        return None
    iri = here.entity if here.entity in here.types else rng.choice(sorted(here.types))
    wrong = wrong_class(here, iri, rng)
    if wrong is None:
        return None
    name = here.world.entities[iri]
    fact = pick(here, rng, lambda f: f.s == iri and f.relation.shape == "participle")
    if fact and rng.random() < 0.5:
        return Said(f"{name} is {a(wrong)} {fact.plain.rest}")
    return Said(f"{name} is {a(wrong)}")


@false
def _class_alien(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.relation.shape != "flag" and f.plain.subject == f.subject)
    if fact is None:
        return None
    kind = a(rng.choice(ALIEN_CLASSES))
    if fact.relation.shape == "participle" and rng.random() < 0.6:
        return Said(f"{fact.subject} is {kind} {fact.plain.rest}")
    return Said(f"{fact.subject} is {kind}")


@false
def _crossed(here: Scene, rng: random.Random) -> Said | None:
    world = here.world
    one = pick(here, rng, lambda f: of_things(f) and f.plain.subject == f.subject)
    if one is None:
        return None
    r = one.relation

    def fits(f: Fact) -> bool:
        if (
            not of_things(f)
            or f.plain.subject != f.subject
            or f.value in one.ends
            or f.subject in (one.value,)
        ):
            return False
        if f.relation != r and near(f.relation.label, r.label):
            return False
        if f.s == one.s and f.relation == r:
            return False
        return not world.holds(one.s, r.iri, f.o) and not world.holds(f.s, f.relation.iri, one.o)

    other = pick(here, rng, fits)
    if other is None:
        return None
    first, second = r.plain(one.subject, other.value), other.relation.plain(other.subject, one.value)
    same = other.s == one.s
    return Said(f"{first} and {second.predicate if same else second}")


@false
def _wrong_answer(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_things(f) and f.relation.ask("x"))
    if fact is None:
        return None
    found = others(here, fact, rng)
    if not found:
        return None
    name = (found[0] if rng.random() < 0.7 else rng.choice(found))[1]
    text = rng.choice((name, name, f"It is {name}", f"The answer is {name}"))
    return Said(text, question=fact.relation.ask(fact.subject))


@false
def _yes_wrong(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_things(f) and f.plain.subject == f.subject)
    if fact is None:
        return None
    if rng.random() < 0.4:
        text = rng.choice(("No", f"No, {fact.plain.negated()}"))
        return Said(text, question=yes_no(fact.plain))
    found = others(here, fact, rng)
    if not found:
        return None
    c = fact.relation.plain(fact.subject, found[0][1])
    return Said(rng.choice(("Yes", "Yes", f"Yes, {c}")), question=yes_no(c))


@false
def _follow_up_wrong(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: f.s in here.types and of_things(f))
    if fact is None or (who := pronoun(here, fact.s)) is None:
        return None
    lead = sentence(f"{fact.subject} is {a(class_name(here, fact.s) or '')}")
    if rng.random() < 0.4 and fact.plain.subject == fact.subject and (found := others(here, fact, rng)):
        return Said(f"{who[0]} {fact.relation.plain('x', found[0][1]).predicate}", lead=lead)
    more = added(here, fact, rng)
    return Said(f"{who[0]} {more}", lead=lead) if more else None


@false
def _card_wrong(here: Scene, rng: random.Random) -> Said | None:
    lines = card(here, rng, wrong=True)
    return Said("\n".join(lines), raw=True) if lines else None


@false
def _preamble_wrong(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, of_things)
    if fact is None or not (found := others(here, fact, rng)):
        return None
    c = fact.relation.plain(fact.subject, found[0][1], fact.single)
    return Said(rng.choice(PREAMBLES).format(c))


@false
def _other_relations_value(here: Scene, rng: random.Random) -> Said | None:
    fact = pick(here, rng, lambda f: of_things(f) and f.relation.ask("x"))
    if fact is None:
        return None
    found = [
        f
        for f in here.facts
        if f.s == fact.s and of_things(f) and f.relation != fact.relation
        and not here.world.holds(fact.s, fact.relation.iri, f.o) and not near(f.relation.label, fact.relation.label)
    ]  # fmt: skip
    if not found:
        return None
    name = rng.choice(found).value
    text = rng.choice((name, f"It is {name}", str(fact.relation.plain(fact.subject, name, fact.single))))
    return Said(text, question=fact.relation.ask(fact.subject))


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
        left, turn, failed = wanted, 0, dict.fromkeys(makers, 0)
        while left and any(tries < 150 for tries in failed.values()):
            kind = list(makers)[turn % len(makers)]
            turn += 1
            if failed[kind] >= 150:
                continue
            for _ in range(12):
                here = rng.choice(places)
                said = makers[kind](here, rng)
                found = here.case(kind, makers is TRUE, said) if said else None
                key = (found.question, found.lead, found.text, found.true) if found else None
                if found and key and key not in made:
                    made[key] = found
                    left -= 1
                    break
                failed[kind] += 1
    return list(made.values())
