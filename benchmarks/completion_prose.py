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

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rdflib import RDF, RDFS, Literal, URIRef

sys.path.insert(0, str(Path(__file__).parent))

from completion_paraphrases import Made, iri, options_of, people, read, sets_of, shown

import mrag
from mrag.completion.chain import Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.planning.plan import Unknown
from mrag.rdf.terms import XSD, Term, Triple

SETS = sets_of(__file__)


class Maker:
    """Makes a graph, and texts that state what it lacks."""

    def __init__(self, prose: Any, seed: int) -> None:
        """Give everything in the set a name and a kind; nothing is stated yet."""
        self.dice = random.Random(seed)
        self.prose = prose
        self.names: dict[str, list[str]] = {**vars(prose.names), "person": self.dice.sample(people(), 60)}
        self.graph: dict[Triple, None] = {}
        self.missing: dict[tuple[URIRef, URIRef, Term], None] = {}
        self.texts: list[str] = []
        for kind, several in self.names.items():
            for name in several:
                self.graph[Triple(iri(name), RDFS.label, Literal(name))] = None
                self.graph[Triple(iri(name), RDF.type, iri(f"kind {kind}"))] = None
        for relation in prose.relations:
            self.graph[Triple(iri(relation.label), RDFS.label, Literal(relation.label))] = None

    def value(self, relation: Any, other: str = "") -> str:
        """Return an object of a relation that differs from another."""
        if relation.object == "year":
            return str(1950 + self.dice.randrange(70))
        return self.dice.choice([name for name in self.names[relation.object] if name != other])

    def fact(self, subject: str, relation: Any, name: str) -> tuple[URIRef, URIRef, Term]:
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

    def relation(self, relation: Any, taken: set[str]) -> None:
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


def make(prose: Any, seed: int) -> Made:
    """Return a graph and texts."""
    maker = Maker(prose, seed)
    taken = maker.paragraphs()
    for relation in prose.relations:
        maker.relation(relation, taken)
    return Made(list(maker.graph), list(maker.missing), maker.texts)


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
                    print(shown(made, fact, bad, fact[2] not in found))
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


def main() -> None:
    """Print the figures."""
    options = options_of(__doc__)
    for name in options.sets or SETS:
        seeds = range(options.seeds)
        recall, precision, count, wrong = measure(name, seeds, options.show)
        print(f"{name:12} objects   recall {recall:.3f}  precision {precision:.3f}  n={count}  wrong={wrong}")
        recall, precision, count = asked_back(name, seeds)
        print(f"{name:12} subjects  recall {recall:.3f}  precision {precision:.3f}  n={count}", flush=True)


if __name__ == "__main__":
    main()
