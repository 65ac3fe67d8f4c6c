"""Learning problems made by chance: five kinds of graphs, whose concepts are known, with and without noise.

`made(seed)` gives graphs with problems to learn from and others of the same kind to judge on. Nothing in
`mrag` was chosen by the seeds below 1000; those from there on are for trying things.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cel import Split
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.cel.problem import LearningProblem
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple

BASE = "http://example.org/"
Rule = Callable[[str], bool]


@dataclass
class Facts:
    """A graph as it is made, and which things a rule asks about."""

    kinds: dict[str, set[str]] = field(default_factory=dict)
    links: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    triples: list[Triple] = field(default_factory=list)

    def kind(self, x: str, *names: str) -> None:
        """State the classes of a thing."""
        self.kinds.setdefault(x, set()).update(names)
        self.triples += [Triple(URIRef(BASE + x), RDF.type, URIRef(BASE + name)) for name in names]

    def link(self, x: str, p: str, y: str) -> None:
        """State what a thing is linked to."""
        self.links.setdefault((x, p), []).append(y)
        self.triples.append(Triple(URIRef(BASE + x), URIRef(BASE + p), URIRef(BASE + y)))

    def value(self, x: str, p: str, value: object) -> None:
        """State a number or a text."""
        self.triples.append(Triple(URIRef(BASE + x), URIRef(BASE + p), Literal(value)))

    def of(self, x: str, p: str) -> list[str]:
        """Return what a thing is linked to."""
        return self.links.get((x, p), [])

    def some(self, x: str, p: str, *names: str) -> int:
        """Count what a thing is linked to that is of all the classes."""
        return sum(self.kinds.get(y, set()).issuperset(names) for y in self.of(x, p))

    def texts(self, x: str, rng: random.Random) -> None:
        """Give a thing what tells it from all others and is of no use: a label, a caption, a file."""
        words = " ".join(rng.choices("red old big new low far wet dry".split(), k=5))
        self.triples.append(Triple(URIRef(BASE + x), RDFS.label, Literal(x)))
        self.value(x, "description", f"{words} {x}")
        self.value(x, "file", f"{x}.jpg")


Made = tuple[list[str], dict[str, Rule]]


def kin(f: Facts, rng: random.Random) -> Made:
    """Make families over four generations."""
    people: list[str] = []

    def person() -> str:
        x = f"person{len(people)}"
        people.append(x)
        f.kind(x, "Person", rng.choice(("Male", "Female")))
        f.texts(x, rng)
        return x

    couples = [(person(), person()) for _ in range(30)]
    for _ in range(3):
        children: list[str] = []
        for one, other in couples:
            f.link(one, "married", other)
            f.link(other, "married", one)
            brood = [person() for _ in range(rng.choice((0, 1, 2, 2, 3)))]
            for child in brood:
                for parent in (one, other):
                    f.link(parent, "hasChild", child)
                    f.link(child, "hasParent", parent)
                for sibling in brood:
                    if sibling != child:
                        f.link(child, "hasSibling", sibling)
            children += brood
        rng.shuffle(children)
        couples = [(c, person()) for c in children[: len(children) // 2]]
    male: Rule = lambda x: "Male" in f.kinds[x]  # noqa: E731
    parents: Rule = lambda x: bool(f.of(x, "hasChild"))  # noqa: E731
    return people, {
        "grandfather": lambda x: male(x) and any(map(parents, f.of(x, "hasChild"))),
        "uncle": lambda x: male(x) and any(map(parents, f.of(x, "hasSibling"))),
        "has two sons": lambda x: f.some(x, "hasChild", "Male") >= 2,
        "orphan or only child": lambda x: not f.of(x, "hasSibling"),
    }


def trains(f: Facts, rng: random.Random) -> Made:
    """Make trains of cars with shapes and loads, after Michalski."""
    names = [f"train{n}" for n in range(400)]
    for at, x in enumerate(names):
        f.kind(x, "Train")
        f.texts(x, rng)
        for n in range(rng.randint(2, 4)):
            car = f"car{at}_{n}"
            f.kind(car, "Car", rng.choice(("Long", "Short")), rng.choice(("Open", "Closed")))
            f.link(x, "hasCar", car)
            f.value(car, "wheels", rng.randint(2, 3))
            for m in range(rng.randint(0, 2)):
                load = f"load{at}_{n}_{m}"
                f.kind(load, rng.choice(("Circle", "Triangle", "Rectangle", "Hexagon")))
                f.link(car, "carries", load)

    def cars(x: str, *kinds: str) -> list[str]:
        return [c for c in f.of(x, "hasCar") if f.kinds[c].issuperset(kinds)]

    return names, {
        "short closed car": lambda x: bool(cars(x, "Short", "Closed")),
        "triangle in a long car": lambda x: any(f.some(c, "carries", "Triangle") for c in cars(x, "Long")),
        "two loaded open cars": lambda x: sum(bool(f.of(c, "carries")) for c in cars(x, "Open")) >= 2,
        "no circle": lambda x: not any(f.some(c, "carries", "Circle") for c in cars(x)),
    }


def hands(f: Facts, rng: random.Random) -> Made:
    """Make hands of five cards."""
    cards = [(rank, suit) for rank in range(2, 15) for suit in ("clubs", "diamonds", "hearts", "spades")]
    for rank, suit in cards:
        card = f"card_{rank}_{suit}"
        f.kind(card, "Card")
        f.value(card, "points", rank)
        for p, value, kind in (("suit", suit, "Suit"), ("rank", f"rank{rank}", "Rank")):
            f.kind(value, kind)
            f.link(card, p, value)
    held: dict[str, list[tuple[int, str]]] = {}
    for n in range(500):
        x = f"hand{n}"
        f.kind(x, "Hand")
        f.texts(x, rng)
        held[x] = rng.sample(cards, 5)
        for rank, suit in held[x]:
            f.link(x, "holds", f"card_{rank}_{suit}")
    return list(held), {
        "three hearts": lambda x: sum(suit == "hearts" for _, suit in held[x]) >= 3,
        "an ace or a king": lambda x: any(rank >= 13 for rank, _ in held[x]),
        "no spades": lambda x: all(suit != "spades" for _, suit in held[x]),
        "two high red cards": lambda x: (
            sum(r >= 10 and suit in ("hearts", "diamonds") for r, suit in held[x]) >= 2
        ),
    }


def molecules(f: Facts, rng: random.Random) -> Made:
    """Make molecules of bonded atoms with charges."""
    names = [f"molecule{n}" for n in range(300)]
    weights: dict[str, float] = {}
    for at, x in enumerate(names):
        f.kind(x, "Molecule")
        weights[x] = round(rng.uniform(-2, 2), 3)
        f.value(x, "energy", weights[x])
        f.value(x, "code", f"CAS-{at}")
        atoms = [f"atom{at}_{n}" for n in range(rng.randint(5, 9))]
        for n, atom in enumerate(atoms):
            f.kind(atom, "Atom", rng.choices(("Carbon", "Nitrogen", "Oxygen", "Chlorine"), (6, 2, 3, 1))[0])
            f.value(atom, "charge", round(rng.gauss(0, 0.3), 2))
            f.link(x, "hasAtom", atom)
            for other in {rng.choice(atoms[:n]) for _ in range(rng.choice((1, 1, 2)))} if n else ():
                f.link(atom, "bond", other)
                f.link(other, "bond", atom)

    def bonded(x: str, one: str, other: str) -> bool:
        return any(one in f.kinds[a] and f.some(a, "bond", other) for a in f.of(x, "hasAtom"))

    return names, {
        "nitrogen beside oxygen": lambda x: bonded(x, "Nitrogen", "Oxygen"),
        "no chlorine and low energy": lambda x: not f.some(x, "hasAtom", "Chlorine") and weights[x] <= 0.5,
        "two nitrogens": lambda x: f.some(x, "hasAtom", "Nitrogen") >= 2,
    }


def scenes(f: Facts, rng: random.Random) -> Made:
    """Make pictures of garments with captions."""
    names = [f"image{n}" for n in range(900)]
    looks: dict[str, list[tuple[str, str]]] = {}
    garments = "Shirt Skirt Jacket Hat Shoe Dress".split()
    attributes = "striped plain dotted red blue long".split()
    for value in attributes:
        f.kind(value, "Attribute")
    for at, x in enumerate(names):
        f.kind(x, "Image")
        f.texts(x, rng)
        looks[x] = []
        for n in range(rng.randint(1, 4)):
            garment, kind = f"garment{at}_{n}", rng.choice(garments)
            f.kind(garment, "Garment", kind)
            f.link(x, "shows", garment)
            for value in rng.sample(attributes, rng.randint(0, 2)):
                f.link(garment, "hasAttribute", value)
                looks[x].append((kind, value))
    return names, {
        "striped shirt": lambda x: ("Shirt", "striped") in looks[x],
        "something red, no hat": lambda x: (
            any(v == "red" for _, v in looks[x]) and not f.some(x, "shows", "Hat")
        ),
        "a jacket or a long skirt": lambda x: (
            bool(f.some(x, "shows", "Jacket")) or ("Skirt", "long") in looks[x]
        ),
    }


KINDS: dict[str, Callable[[Facts, random.Random], Made]] = {
    "kin": kin, "railway": trains, "hands": hands, "molecules": molecules, "scenes": scenes,
}  # fmt: skip


def made(
    seed: int, *, size: int = 20, test: int = 60, noise: float = 0.1
) -> Iterator[tuple[str, KnowledgeGraph, dict[str, Split]]]:
    """Yield graphs with problems, each as it is and with a share of its examples on the wrong side.

    Args:
        seed: Of everything.
        size: Most examples of each kind to learn from.
        test: Most of each kind to judge on; these are never on the wrong side.
        noise: The share.
    """
    for name, make in KINDS.items():
        rng = random.Random(f"{seed} {name}")
        facts = Facts()
        things, rules = make(facts, rng)
        splits: dict[str, Split] = {}
        for title, rule in rules.items():
            groups = [[x for x in things if rule(x) is wanted] for wanted in (True, False)]
            for group in groups:
                rng.shuffle(group)
            n = min(size, *(len(g) // 3 for g in groups))
            judged = LearningProblem(*([BASE + x for x in g[n : n + test]] for g in groups))
            plain = [[BASE + x for x in g[:n]] for g in groups]
            splits[title] = Split(LearningProblem(*plain), judged)
            few = max(1, round(noise * n))
            mixed = [plain[0][few:] + plain[1][:few], plain[1][few:] + plain[0][:few]]
            splits[f"{title}, noisy"] = Split(LearningProblem(*mixed), judged)
        with mrag.connect() as kg:
            kg.insert(facts.triples)
            yield name, kg, splits
