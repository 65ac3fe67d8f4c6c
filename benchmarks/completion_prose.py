"""How well the plain reader reads prose: clauses, coordination, pronouns, and what states nothing.

    python benchmarks/completion_prose.py            # all sets
    python benchmarks/completion_prose.py museum     # one
    python benchmarks/completion_prose.py museum --show

The sets of `completion_paraphrases.py` state one fact in each text. Here a text may state several: of two
subjects, of two objects, or of one subject in several relations. Between them stand texts that state nothing:
denied, planned, reported, supposed, or about something else; each is about a subject that another text states
something of, and names an object of the right kind. `museum` and `projects` are for development;
`conferences` was written before the reader was changed for them, and is only measured.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rdflib import RDF, RDFS, Literal, URIRef

sys.path.insert(0, str(Path(__file__).parent))

from completion_paraphrases import Made, iri, people, read

import mrag
from mrag.completion.chain import Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.planning.plan import Unknown
from mrag.rdf.terms import XSD, Term, Triple


@dataclass(frozen=True)
class Relation:
    """A relation, how texts state it, and how they do not.

    Attributes:
        label: What the graph calls it.
        subject: Kind of its subjects.
        object: Kind of its objects.
        wordings: How texts state it, with `{s}` and `{o}`; with `{s2}` of a second subject, `{o2}` object.
        traps: Texts with `{s}` and `{o}` that do not state it.
    """

    label: str
    subject: str
    object: str
    wordings: tuple[str, ...]
    traps: tuple[str, ...]


@dataclass(frozen=True)
class Prose:
    """A set: names by kind, relations, and paragraphs with `{s}` and labels of relations as fields."""

    names: dict[str, tuple[str, ...]]
    relations: tuple[Relation, ...]
    paragraphs: tuple[str, ...]


def _prose(value: dict[str, Any]) -> Prose:
    relations = (
        Relation(one["label"], one["subject"], one["object"], tuple(one["wordings"]), tuple(one["traps"]))
        for one in value["relations"]
    )
    names = {kind: tuple(names) for kind, names in value["names"].items()}
    return Prose(names, tuple(relations), tuple(value["paragraphs"]))


FILE = Path(__file__).with_suffix(".json")
SETS = {name: _prose(one) for name, one in json.loads(FILE.read_text(encoding="utf-8")).items()}


class Maker:
    """Makes a graph, and texts that state what it lacks."""

    def __init__(self, prose: Prose, seed: int) -> None:
        """Give everything in the set a name and a kind; nothing is stated yet."""
        self.dice = random.Random(seed)
        self.prose = prose
        self.names = {**prose.names, "person": tuple(self.dice.sample(people(), 60))}
        self.graph: dict[Triple, None] = {}
        self.missing: dict[tuple[URIRef, URIRef, Term], None] = {}
        self.texts: list[str] = []
        for kind, several in self.names.items():
            for name in several:
                self.graph[Triple(iri(name), RDFS.label, Literal(name))] = None
                self.graph[Triple(iri(name), RDF.type, iri(f"kind {kind}"))] = None
        for relation in prose.relations:
            self.graph[Triple(iri(relation.label), RDFS.label, Literal(relation.label))] = None

    def value(self, relation: Relation, other: str = "") -> str:
        """Return an object of a relation that differs from another."""
        if relation.object == "year":
            return str(1950 + self.dice.randrange(70))
        return self.dice.choice([name for name in self.names[relation.object] if name != other])

    def fact(self, subject: str, relation: Relation, name: str) -> tuple[URIRef, URIRef, Term]:
        """Return a fact."""
        value: Term = (
            Literal(name, datatype=URIRef(XSD + "integer")) if relation.object == "year" else iri(name)
        )
        return iri(subject), iri(relation.label), value

    def paragraphs(self) -> set[str]:
        """Write the paragraphs, each about a subject of its own; return their subjects."""
        by_label = {relation.label: relation for relation in self.prose.relations}
        kind = self.prose.relations[0].subject
        subjects = self.dice.sample(self.names[kind], len(self.prose.paragraphs))
        for subject, text in zip(subjects, self.prose.paragraphs, strict=True):
            labels = [label for label in by_label if f"{{{label}}}" in text]
            fields = {}
            for label in labels:
                fields[label] = self.value(by_label[label])
                while list(fields.values()).count(fields[label]) > 1:
                    fields[label] = self.value(by_label[label])
                self.missing[self.fact(subject, by_label[label], fields[label])] = None
            self.texts.append(text.format(s=subject, **fields))
        return set(subjects)

    def relation(self, relation: Relation, taken: set[str]) -> None:
        """Write what states a relation, and what does not; a third of its facts the graph knows."""
        subjects = [name for name in self.names[relation.subject] if name not in taken]
        self.dice.shuffle(subjects)
        known, told = subjects[: len(subjects) // 3], subjects[len(subjects) // 3 :]
        for subject in known:
            self.graph[Triple(*self.fact(subject, relation, self.value(relation)))] = None
        traps = list(relation.traps)
        self.dice.shuffle(traps)
        wordings = list(relation.wordings)
        self.dice.shuffle(wordings)
        for number in range(len(told)):
            if not told:
                break
            wording = wordings[number % len(wordings)]
            subject, object_ = told.pop(), self.value(relation)
            second = told.pop() if "{s2}" in wording and told else subject
            other = self.value(relation, object_)
            self.missing[self.fact(subject, relation, object_)] = None
            if "{s2}" in wording:
                self.missing[self.fact(second, relation, object_)] = None
            if "{o2}" in wording:
                self.missing[self.fact(subject, relation, other)] = None
            self.texts.append(wording.format(s=subject, o=object_, s2=second, o2=other))
            if number % 2:
                trap = traps[(number // 2) % len(traps)]
                self.texts.append(trap.format(s=subject, o=self.value(relation, object_)))


def make(prose: Prose, seed: int) -> Made:
    """Return a graph and texts."""
    maker = Maker(prose, seed)
    taken = maker.paragraphs()
    for relation in prose.relations:
        maker.relation(relation, taken)
    return Made(list(maker.graph), list(maker.missing), maker.texts)


def _shown(made: Made, fact: tuple[URIRef, URIRef, Term], bad: set[Term], lost: bool) -> str:
    s, p, o = (str(term).rsplit("/", 1)[-1].replace("_", " ") for term in fact)
    wrong = " ".join(str(term).rsplit("/", 1)[-1] for term in sorted(bad))
    about = [text for text in made.texts if s in text and (o in text or bad)]
    return f"{'lost' if lost else ''} {f'WRONG {wrong}' if bad else ''} {s} | {p} | {o}: {about}"


def measure(name: str, seeds: Sequence[int], show: bool = False) -> tuple[float, float, int, int]:
    """Return recall, precision, number of facts, and number of wrong triples of a set."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(SETS[name], seed)
        with mrag.connect() as kg:
            kg.insert(made.graph)
            said = {tuple(fact) for fact in made.missing}
            for fact, found in read(kg, made):
                total += 1
                right += fact[2] in found
                bad = {v for v in found if (*fact[:2], v) not in said}
                wrong += len(bad)
                if show and (fact[2] not in found or bad):
                    print(_shown(made, fact, bad, fact[2] not in found))
    return right / total, right / max(1, right + wrong), total, wrong


def asked_back(name: str, seeds: Sequence[int]) -> tuple[float, float, int]:
    """Return recall, precision and number of facts of which the subject is asked for."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(SETS[name], seed)
        passages = [Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(made.texts)]
        with mrag.connect() as kg:
            kg.insert(made.graph)
            evidence = Evidence(Passages(passages))
            for p, o in sorted({(p, o) for _, p, o in made.missing if isinstance(o, URIRef)}):
                found = evidence.complete(kg, IncompleteTriple(Unknown("x"), p, o), 20)
                subjects = {triple.subject for triple in found}
                said = {s for s, q, v in made.missing if (q, v) == (p, o)}
                total += len(said)
                right += len(subjects & said)
                wrong += len(subjects - said)
    return right / total, right / max(1, right + wrong), total


def lines(sets: Sequence[str], seeds: int, show: bool) -> Iterator[str]:
    """Yield the figures of sets."""
    for name in sets or SETS:
        recall, precision, count, wrong = measure(name, range(seeds), show)
        yield f"{name:12} objects   recall {recall:.3f}  precision {precision:.3f}  n={count}  wrong={wrong}"
        recall, precision, count = asked_back(name, range(seeds))
        yield f"{name:12} subjects  recall {recall:.3f}  precision {precision:.3f}  n={count}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", help="which sets; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many graphs of each")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args()
    for line in lines(options.sets, options.seeds, options.show):
        print(line, flush=True)


if __name__ == "__main__":
    main()
