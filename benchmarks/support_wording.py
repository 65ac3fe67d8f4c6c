"""English for the facts of a graph: how people put a relation into words, by the shape of its label.

A relation's label is a verb ("develops", "plays for"), a participle ("developed by", "founded"), a noun
("author", "height (m)"), "has feature", "is part of", "student of", or an adjective of a yes or no. From the
shape follow the clauses that say a fact, and what else is needed to negate, hedge or extend them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

PREPOSITIONS = frozenset("by in from at for to with on of under after into near since until".split())
IRREGULAR = {
    "write": ("wrote", "written"), "make": ("made", "made"), "teach": ("taught", "taught"),
    "speak": ("spoke", "spoken"), "hold": ("held", "held"), "win": ("won", "won"), "run": ("ran", "run"),
    "build": ("built", "built"), "lead": ("led", "led"), "know": ("knew", "known"), "sell": ("sold", "sold"),
    "buy": ("bought", "bought"), "sing": ("sang", "sung"), "wear": ("wore", "worn"), "fly": ("flew", "flown"),
    "steal": ("stole", "stolen"), "sink": ("sank", "sunk"), "show": ("showed", "shown"),
    "have": ("had", "had"), "be": ("was", "been"), "see": ("saw", "seen"), "feed": ("fed", "fed"),
    "keep": ("kept", "kept"), "set": ("set", "set"), "begin": ("began", "begun"), "split": ("split", "split"),
    "breed": ("bred", "bred"), "flee": ("fled", "fled"), "learn": ("learned", "learned"),
    "worship": ("worshipped", "worshipped"), "drive": ("drove", "driven"), "give": ("gave", "given"),
}  # fmt: skip
_OF_PARTICIPLE = {participle: base for base, (_, participle) in IRREGULAR.items() if base != "be"}
AGENTS = {
    "develop": "developer", "create": "creator", "direct": "director", "write": "writer", "curate": "curator",
    "donate": "donor", "operate": "operator", "publish": "publisher", "own": "owner", "found": "founder",
    "supervise": "supervisor", "insure": "insurer", "score": "scorer", "fund": "funder", "referee": "referee",
    "sponsor": "sponsor", "manage": "manager", "teach": "teacher", "produce": "producer",
    "design": "designer", "manufacture": "manufacturer", "coach": "coach", "compose": "composer",
    "conduct": "conductor", "build": "builder", "employ": "employer",
}  # fmt: skip
_OF_AGENT = {noun: base for base, noun in AGENTS.items()} | {"author": "write"}
STATES = frozenset("own head operate insure supervise manage lead sponsor run employ coach".split())
NO_PASSIVE = frozenset(
    "appeared starred occurred happened lived died worked participated belonged learned graduated".split()
)
PLURALS = frozenset(
    "actors members parts children awards genres languages tags seats beds days packages servings platforms"
    " runways bags stores features cities colours colors names ingredients keywords topics sports residents"
    " starships vehicles films planets species pilots consumables authors".split()
)
TRANSITIVE = frozenset(
    "contains uses involves includes offers owns sells teaches speaks supports needs requires makes holds"
    " covers serves plays treats shows wears provides".split()
)
PERSONS = frozenset(
    "person player referee doctor patient passenger agent artist curator researcher professor technician"
    " engineer teacher student actor director employee cook chef author human driver rider".split()
)
NOUN_HEADS = ("chef", "body", "author", "penalty", "member", "leader", "owner", "winner", "person", "player")
UNITS = {
    "min": "minutes", "mins": "minutes", "minutes": "minutes", "h": "hours", "hours": "hours", "days": "days",
    "km": "kilometres", "m": "metres", "cm": "centimetres", "mm": "millimetres", "meters": "metres",
    "metres": "metres", "kg": "kilograms", "g": "grams", "tons": "tons", "t": "tonnes", "eur": "euros",
    "usd": "dollars", "%": "percent", "percent": "percent", "credits": "credits", "kwh": "kilowatt hours",
    "mw": "megawatts", "l": "litres", "years": "years",
}  # fmt: skip
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
MONTHS = "January February March April May June July August September October November December".split()


def base_of(third: str) -> str:
    """Return the infinitive of a verb in the third person.

    Example:
        >>> [base_of(v) for v in ("develops", "carries", "teaches", "uses", "has")]
        ['develop', 'carry', 'teach', 'use', 'have']
    """
    if third == "has":
        return "have"
    if third.endswith("ies") and len(third) > 4:
        return third[:-3] + "y"
    if third.endswith(("sses", "xes", "ches", "shes", "zzes", "goes", "does")):
        return third[:-2]
    return third[:-1]


def third_of(base: str) -> str:
    """Return the third person of a verb."""
    if base == "have":
        return "has"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "ch", "sh", "z", "o")) else "s")


def past_of(base: str) -> tuple[str, str]:
    """Return the past and the participle of a verb."""
    if base in IRREGULAR:
        return IRREGULAR[base]
    if base.endswith("e"):
        return base + "d", base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied", base[:-1] + "ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", base):
        return base + base[-1] + "ed", base + base[-1] + "ed"
    return base + "ed", base + "ed"


def base_of_participle(word: str) -> str | None:
    """Return the infinitive of a participle, None if it is none.

    Example:
        >>> [base_of_participle(w) for w in ("developed", "created", "written", "refereed", "based", "coach")]
        ['develop', 'create', 'write', 'referee', 'base', None]
    """
    if word in _OF_PARTICIPLE:
        return _OF_PARTICIPLE[word]
    if not word.endswith("ed") or len(word) < 5:
        return None
    stem = word[:-2]
    if stem.endswith("e"):
        return stem + "e"
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if re.search(r"([bdgmnprt])\1$", stem):
        return stem[:-1]
    if re.search(r"(at|[aeiou]s|ur|or|ib|v|c|u|iz|ng|rg|dg|ag|ut|uc|ir|id)$", stem) and stem not in (
        "head", "direct", "author", "sponsor", "edit", "visit", "hang", "belong", "inherit", "elevat",
    ):  # fmt: skip
        return stem + "e"
    return stem


def plural_of(noun: str) -> str:
    """Return the plural of a noun phrase, whose head comes last or before "of"."""
    head, of, rest = noun.partition(" of ")
    if head.endswith("person"):
        head = head[:-6] + "people"
    elif re.search(r"[^aeiou]y$", head):
        head = head[:-1] + "ies"
    elif head.endswith(("s", "x", "ch", "sh", "z")):
        head += "es"
    elif head.endswith("man"):
        head = head[:-3] + "men"
    else:
        head += "s"
    return head + of + rest


def a(noun: str) -> str:
    """Put the indefinite article before a noun."""
    vowel = re.match(r"(?!uni|use|Eur|eur|one\b)[AEIOUaeiou]|hour|honest|[FHLMNRSX][A-Z]", noun)
    return f"{'an' if vowel else 'a'} {noun}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?" else ".")


def grouped(number: str) -> str:
    """Put separators between the thousands of a number."""
    whole, dot, rest = number.partition(".")
    return f"{int(whole):,}{dot}{rest}"


def date_words(iso: str, style: int) -> str:
    """Return a date as people write it."""
    year, month, day = (int(part) for part in iso[:10].split("-"))
    name = MONTHS[month - 1]
    return (f"{day} {name} {year}", f"{name} {day}, {year}")[style]


@dataclass(frozen=True)
class Clause:
    """A subject and what is said of it, in parts, so that it can be negated and hedged.

    Attributes:
        subject: The noun phrase it begins with.
        finite: Its verb, such as "is", "develops".
        base: The infinitive.
        rest: What follows the verb.
    """

    subject: str
    finite: str
    base: str
    rest: str

    @property
    def predicate(self) -> str:
        """The clause without its subject."""
        return f"{self.finite} {self.rest}"

    @property
    def participle(self) -> str:
        """The past participle of the verb."""
        return past_of(self.base)[1]

    @property
    def past(self) -> str:
        """The past of the verb."""
        return past_of(self.base)[0]

    @property
    def plural(self) -> str:
        """The verb with a plural subject."""
        return {"is": "are", "was": "were"}.get(
            self.finite, self.base if self.finite != self.past else self.past
        )

    def negated(self, word: str = "not") -> str:
        """The clause with a negation at its verb."""
        if self.base == "be":
            return f"{self.subject} {self.finite} {word} {self.rest}"
        do = "did" if self.finite == self.past else "do" if self.finite == self.base else "does"
        return f"{self.subject} {do} {word} {self.base} {self.rest}"

    def with_adverb(self, adverb: str) -> str:
        """The clause with an adverb at its verb."""
        if self.base == "be":
            return f"{self.subject} {self.finite} {adverb} {self.rest}"
        return f"{self.subject} {adverb} {self.finite} {self.rest}"

    def about(self, subject: str) -> Clause:
        """The same of another subject."""
        return replace(self, subject=subject)

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate}"


@dataclass(frozen=True)
class Relation:
    """A property and the shape of its label.

    Attributes:
        iri: The property.
        label: Its label as shown.
        shape: `participle`, `when` (a participle with a date), `verb`, `has`, `is`, `of`, `since`, `noun`,
            `plural`, `flag`.
        head: The verb in the third person, the participle or the noun.
        rest: What stands between it and the value: a preposition, "the product".
        kind: `entity`, `number`, `year`, `date`, `flag` or `text`: what its values are.
        unit: The unit that the label names.
        unit_label: How the label writes it.
    """

    iri: str
    label: str
    shape: str
    head: str
    rest: str
    kind: str
    unit: str = ""
    unit_label: str = ""

    @property
    def verb(self) -> str | None:
        """The infinitive of its verb or participle."""
        if self.shape == "verb":
            return base_of(self.head)
        return base_of_participle(self.head) if self.shape in ("participle", "when") else None

    @property
    def noun(self) -> str | None:
        """The noun that it names the value by ("developer" where a thing is developed by somebody)."""
        if self.shape in ("noun", "plural", "has"):
            return self.head
        if self.shape == "participle" and self.rest == "by" and self.verb:
            return AGENTS.get(self.verb)
        return None

    @property
    def agent_verb(self) -> str | None:
        """The verb of a noun that names who does something ("manufacture" of "manufacturer")."""
        return (
            _OF_AGENT.get(self.head.split()[-1]) if self.shape == "noun" and self.kind != "number" else None
        )

    def value(self, text: str) -> str:
        """Return a value with its unit."""
        if not self.unit or not re.fullmatch(r"-?[\d.,]+", text):
            return text
        unit = self.unit.removesuffix("s") if text == "1" else self.unit
        return f"{text}%" if self.unit_label == "%" else f"{text} {unit}"

    def plain(self, s: str, o: str, single: bool = True) -> Clause:
        """Return the clause that the label suggests.

        Args:
            s: Name of the subject.
            o: Name of the value.
            single: Whether it is the only one.
        """
        o = self.value(o)
        match self.shape:
            case "participle" if re.search("[A-Z]", o) and self.kind == "date":
                return Clause(s, "was", "be", f"{self.head} on {o}")
            case "participle":
                return Clause(
                    s, "was" if self.kind in ("date", "year") else "is", "be", f"{self.head} {self.rest} {o}"
                )
            case "when":
                return Clause(s, "was", "be", f"{self.head} {'in' if self.kind == 'year' else 'on'} {o}")
            case "verb":
                return Clause(s, self.head, base_of(self.head), f"{self.rest} {o}".strip())
            case "past":
                return Clause(s, self.head, base_of_participle(self.head) or self.head, f"{self.rest} {o}")
            case "has" if self.kind == "entity" and not self.head.endswith("s"):
                return Clause(s, "has", "have", f"the {self.head} {o}")
            case "has":
                return (
                    Clause(o, "is", "be", f"one of the {self.head} of {s}")
                    if self.kind == "entity"
                    else (Clause(s, "has", "have", f"{a(self.head)} of {o}"))
                )
            case "is":
                return Clause(s, "is", "be", f"{self.head} {o}")
            case "since":
                return Clause(s, "is", "be", f"{self.head} {o}")
            case "of":
                return Clause(s, "is", "be", f"{a(self.head)} of {o}")
            case "plural" if self.kind == "number":
                return Clause(
                    s, "has", "have", f"{o} {self.head}" if o != "1" else f"1 {self.head.removesuffix('s')}"
                )
            case "plural":
                return Clause(o, "is", "be", f"one of the {self.head} of {s}")
            case _ if single:
                return Clause(f"the {self.head} of {s}", "is", "be", o)
            case _:
                return Clause(o, "is", "be", f"{a(self.head)} of {s}")

    def voice(self, s: str, o: str) -> Clause | None:
        """Return the active for the passive, the passive for the active."""
        base = self.verb or self.agent_verb
        if base is None or self.shape == "flag" or self.kind not in ("entity", "text"):
            return None
        past, participle = past_of(base)
        if self.shape == "verb":
            return Clause(o, "is", "be", f"{participle} by {s}") if not self.rest else None
        if self.shape == "participle" and self.rest == "by":
            return Clause(o, third_of(base) if base in STATES else past, base, s)
        if self.agent_verb:
            return Clause(s, "was" if base not in STATES else "is", "be", f"{participle} by {o}")
        return None

    def nouns(self, s: str, o: str, single: bool = True) -> list[Clause]:
        """Return clauses that name the value by a noun: "the developer of X is Y", "Y is X's developer"."""
        o = self.value(o)
        if self.shape == "verb" and not self.rest and self.verb in AGENTS and self.kind == "entity":
            noun = AGENTS[self.verb]
            return [Clause(s, "is", "be", f"the {noun} of {o}"), Clause(f"the {noun} of {o}", "is", "be", s)]
        if self.shape == "of":
            return [Clause(s, "is", "be", f"{o}'s {self.head}")]
        noun = self.noun
        if noun is None or (self.shape == "plural" and self.kind != "entity"):
            return []
        if self.shape == "plural" or (noun.endswith("s") and self.shape == "has"):
            return [Clause(f"{s}'s {noun}", "include", "include", o)]
        if self.shape == "has" and self.kind == "number":
            return []
        found = [Clause(o, "is", "be", f"{a(noun)} of {s}")]
        if single:
            found = [
                Clause(f"the {noun} of {s}", "is", "be", o),
                Clause(f"{s}'s {noun}", "is", "be", o),
                Clause(o, "is", "be", f"{s}'s {noun}"),
                Clause(o, "is", "be", f"the {noun} of {s}"),
            ]
        if self.kind in ("number", "date", "year"):
            found = found[:2] if single else []
        return found

    def having(self, s: str, o: str, owner: str = "its") -> Clause | None:
        """Return "X has a height of 240", "X has Y as its author"."""
        if self.shape == "noun" and self.kind in ("number", "date", "year"):
            return Clause(s, "has", "have", f"{a(self.head)} of {self.value(o)}")
        if self.noun and self.shape in ("noun", "participle") and self.kind in ("entity", "text"):
            return Clause(s, "has", "have", f"{o} as {owner} {self.noun}")
        return None

    def ask(self, s: str) -> str | None:
        """Return a question for the value."""
        base = self.verb
        if self.shape == "participle" and self.rest == "by" and base:
            return f"Who {third_of(base) if base in STATES else past_of(base)[0]} {s}?"
        if self.shape in ("participle", "when"):
            asks = "When" if self.kind in ("date", "year") else "What"
            tail = "" if asks == "When" else f" {self.rest}"
            return f"{asks} {'was' if asks == 'When' else 'is'} {s} {self.head}{tail}?"
        if self.shape == "verb" and base:
            if self.rest.startswith("the "):
                return f"Which {self.rest[4:]} does {s} {base}?"
            return f"What does {s} {base} {self.rest}".rstrip() + "?"
        if self.shape in ("noun", "plural"):
            if self.shape == "plural" and self.kind == "number":
                return f"How many {self.head} does {s} have?"
            return f"What {'are' if self.shape == 'plural' else 'is'} the {self.head} of {s}?"
        if self.shape == "has":
            return f"Which {self.head if self.head.endswith('s') else plural_of(self.head)} does {s} have?"
        return None


def words_of(label: str) -> list[str]:
    """Split a label into words, lower-case unless they are abbreviations."""
    label = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", label.replace("_", " "))
    return [w if re.search(r"[A-Z].*[A-Z0-9]", w) else w.lower() for w in label.split()]


def relation(iri: str, label: str, kind: str) -> Relation | None:
    """Read the shape of a label; None where it is none that people put in a sentence.

    Example:
        >>> for label, kind in (("developed by", "entity"), ("plays for", "entity"), ("mass (kg)", "number")):
        ...     print(relation("urn:p", label, kind).plain("X", "7"))
        X is developed by 7
        X plays for 7
        the mass of X is 7 kilograms
    """
    shown, unit = _without_unit(label) if kind == "number" else (label, "")
    words = words_of(shown)
    if not 0 < len(words) < 5 or not all(_WORD.fullmatch(w) for w in words):
        return None
    shape = _flat(words, kind) or (_ending(words, kind) if words[-1] in PREPOSITIONS else _shape(words, kind))
    return None if shape is None else Relation(iri, label, *shape, kind, UNITS.get(unit.lower(), ""), unit)


_WORD = re.compile(r"(?=.*[aeiouyAEIOUY])[A-Za-z][A-Za-z'-]*")
_Shape: TypeAlias = tuple[str, str, str]


def _without_unit(label: str) -> tuple[str, str]:
    for pattern in (r"(.+?) \((\S+)\)", r"(.+) in (\S+)", r"(.{4,}) (km|kg|cm|mm)"):
        found = re.fullmatch(pattern, label)
        if found and found[2].lower() in UNITS:
            return found[1], found[2]
    return label, ""


def _flat(words: Sequence[str], kind: str) -> _Shape | None:
    text, rest = " ".join(words), " ".join(words[1:])
    counted = re.fullmatch(r"(?:total )?number of (.+)", text)
    if kind == "flag":
        return "flag", text, ""
    if counted and kind == "number":
        return "plural", counted[1], ""
    if words[0] in ("has", "is") and rest and (words[0] == "is" or words[-1] not in PREPOSITIONS):
        return words[0], rest, ""
    return None


def _ending(words: Sequence[str], kind: str) -> _Shape | None:
    """Read a label that ends in a preposition."""
    first, last, text = words[0], words[-1], " ".join(words)
    verb = base_of_participle(first) is not None
    if last in ("since", "until"):
        return ("since", text, "") if kind == "year" and not verb and len(words) == 2 else None
    if first in NO_PASSIVE:
        return "past", first, " ".join(words[1:])
    if last == "of" and not verb and len(words) > 1:
        return ("of", " ".join(words[:-1]), "") if kind == "entity" else None
    if len(words) != 2:
        return None
    if verb:
        return "participle", first, last
    if first.endswith("s"):
        return "verb", first, last
    return ("is", text, "") if kind == "entity" else None


def _shape(words: Sequence[str], kind: str) -> _Shape | None:
    """Read any other label."""
    first, last, text = words[0], words[-1], " ".join(words)
    if kind == "entity" and first.endswith("s") and not first.endswith(("ss", "us", "is")):
        if len(words) == 1 and first not in PLURALS:
            return "verb", first, ""
        if len(words) == 2 and first in TRANSITIVE:
            return "verb", first, f"the {last}"
    if len(words) == 1 and base_of_participle(first) is not None:
        return ("when", first, "") if kind in ("date", "year") else None
    if first in ("begins", "ends", "starts") and len(words) == 1:
        return ("verb", first, "on") if kind == "date" else None
    if set(words) & (PREPOSITIONS - {"of", "in"}) or first in ("would", "in"):
        return None
    if last in PLURALS or (last.endswith("s") and kind == "number" and not last.endswith(("ss", "us"))):
        return ("plural", text, "") if kind in ("entity", "number") else None
    return "noun", text, ""


def flag(name: str, said: Relation, value: bool) -> Clause:
    """Return the clause of a yes or no.

    Example:
        >>> str(flag("X", relation("urn:p", "chronic", "flag"), False))
        'X is not chronic'
    """
    words = said.head.split()
    if words[0] == "would":
        return Clause(name, "would" if value else "would not", "would", " ".join(words[1:]))
    if words[0].endswith("s") and not words[0].endswith("ss") and len(words) > 1 and words[-1].endswith("ly"):
        base = base_of(words[0])
        rest = " ".join(words[1:])
        return Clause(name, words[0], base, rest) if value else Clause(name, f"does not {base}", base, rest)
    head = said.head if not said.head.endswith(NOUN_HEADS) else a(said.head)
    return Clause(name, "is" if value else "is not", "be", head)
