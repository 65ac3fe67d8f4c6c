"""How well the plain reader reads paraphrases that nothing has taught it.

    python benchmarks/completion_paraphrases.py            # all sets
    python benchmarks/completion_paraphrases.py films      # one

Each set is a small graph of its own and texts that state what the graph lacks, in wordings from general
knowledge. The reader was tuned on `films`, `companies`, `books`, `ships`, `clinics` and `software`; `places`,
`science`, `clubs` and `farms` were written without looking at what the reader makes of them, and only
measured; of `music` only wrong readings were looked at. No text states a fact that the graph knows, so that
no wording can be learnt.
"beside others" is the same with a second relation between each pair that a text speaks of, known to the
graph: writers who also direct. Precision counts every triple that is read and that no text states.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.completion.chain import Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import XSD, Term, Triple

BASE = "http://example.org/paraphrases/"
FIRST = "Ada Bruno Clara Diego Elsa Farid Greta Hugo Ines Jonas Karin Liam Mona Nils Olga Pavel Rosa Sven"
LAST = "Abel Brandt Castle Duarte Ekman Fischer Grove Hansen Ivarsson Jung Keller Lindt Moreau Novak"


def sets_of(file: str) -> dict[str, Any]:
    """Read the sets beside a benchmark: names by kind, and relations with how texts say them."""
    text = Path(file).with_suffix(".json").read_text(encoding="utf-8")
    return vars(json.loads(text, object_hook=lambda one: SimpleNamespace(**one)))


DOMAINS = sets_of(__file__)
DENIALS = (
    "It is not true that {o} had anything to do with {s}.", "{o} was never involved in {s}.",
    "Some claim that {o} stood behind {s}.", "{o} and {s} are often named in one breath.",
    "{o} admired {s} from afar.",
)  # fmt: skip


def people() -> list[str]:
    """Return names of people."""
    return [f"{first} {last}" for last in LAST.split() for first in FIRST.split()]


def iri(name: str) -> URIRef:
    """Return the IRI of a name."""
    return URIRef(BASE + name.replace(" ", "_").replace("'", ""))


@dataclass
class Made:
    """A graph, what the texts state that it lacks, and the texts."""

    graph: list[Triple]
    missing: list[tuple[URIRef, URIRef, Term]]
    texts: list[str]


def make(domain: Any, seed: int, beside: bool) -> Made:
    """Return a graph and texts; a third of the facts are known, so that relations have kinds."""
    dice = random.Random(seed)
    names = {**vars(domain.names), "person": tuple(dice.sample(people(), 60))}
    graph: dict[Triple, None] = {}
    for kind, several in names.items():
        for name in several:
            graph[Triple(iri(name), RDFS.label, Literal(name))] = None
            graph[Triple(iri(name), RDF.type, iri(f"kind {kind}"))] = None
    missing: dict[tuple[URIRef, URIRef, Term], None] = {}
    texts: list[str] = []
    for at, relation in enumerate(domain.relations):
        p = iri(relation.label)
        graph[Triple(p, RDFS.label, Literal(relation.label))] = None
        subjects = list(names[relation.subject])
        dice.shuffle(subjects)
        others = [r for r in domain.relations if r is not relation and r.subject == relation.subject]
        others = [r for r in others if r.object == relation.object]
        for number, subject in enumerate(subjects):
            objects = names.get(relation.object, ())
            name = (
                dice.choice([o for o in objects if o != subject])
                if objects
                else str(1950 + dice.randrange(70))
            )
            value: Term = iri(name) if objects else Literal(name, datatype=URIRef(XSD + "integer"))
            fact = (iri(subject), p, value)
            if number % 3 == 0:
                graph[Triple(*fact)] = None
                continue
            missing[fact] = None
            texts.append(relation.wordings[(number + at) % len(relation.wordings)].format(s=subject, o=name))
            if beside and others:
                graph[Triple(iri(subject), iri(dice.choice(others).label), value)] = None
            if dice.random() < 0.4:
                other = dice.choice(names.get(relation.object, names["person"]))
                texts.append(dice.choice(DENIALS).format(s=subject, o=other))
    return Made(list(graph), [f for f in missing if Triple(*f) not in graph], texts)


def read(kg: KnowledgeGraph, made: Made) -> Iterator[tuple[tuple[URIRef, URIRef, Term], set[Term]]]:
    """Yield for each missing fact what was read in its place."""
    passages = [Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(made.texts)]
    evidence = Evidence(Passages(passages))
    for s, p, o in made.missing:
        found = evidence.complete(kg, IncompleteTriple(s, p, Unknown("x")), 8)
        yield (s, p, o), {t.object for t in found}


def shown(made: Made, fact: tuple[URIRef, URIRef, Term], bad: set[Term], lost: bool) -> str:
    """Return a fact that was missed or read wrong in words, with the texts about it."""
    s, p, o = (str(term).rsplit("/", 1)[-1].replace("_", " ") for term in fact)
    wrong = " ".join(str(term).rsplit("/", 1)[-1] for term in sorted(bad))
    about = [text for text in made.texts if s in text and (o in text or bad)]
    return f"{'lost' if lost else ''} {f'WRONG {wrong}' if bad else ''} {s} | {p} | {o}: {about}"


def measure(name: str, seeds: Sequence[int], beside: bool, show: bool = False) -> tuple[float, float, int]:
    """Return recall, precision and number of facts of a set."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(DOMAINS[name], seed, beside)
        with mrag.connect() as kg:
            kg.insert(made.graph)
            said = {tuple(f) for f in made.missing}
            for (s, p, o), found in read(kg, made):
                total += 1
                right += o in found
                bad = {v for v in found if (s, p, v) not in said}
                wrong += len(bad)
                if show and (o not in found or bad):
                    print(shown(made, (s, p, o), bad, o not in found))
    return right / total, right / max(1, right + wrong), total


def options_of(text: str | None) -> argparse.Namespace:
    """Return the options of a benchmark of sets."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help="which sets; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many graphs of each")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    return parser.parse_args()


def main() -> None:
    """Print the figures."""
    options = options_of(__doc__)
    for name in options.sets or DOMAINS:
        for beside in (False, True):
            recall, precision, count = measure(name, range(options.seeds), beside, options.show)
            what = "beside others" if beside else "alone"
            print(f"{name:10} {what:14} recall {recall:.3f}  precision {precision:.3f}  n={count}")


if __name__ == "__main__":
    main()
