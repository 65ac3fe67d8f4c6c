"""Facts that a graph lacks, found in texts and written back: MetaQA's incomplete questions.

    python benchmarks/completion_incomplete.py                # the reader without a language model
    python benchmarks/completion_incomplete.py --gguf FILE    # a model file, on a sample

The texts are made here, with a seed: each missing fact in one of several wordings, which are no rules of
the reader, among facts of other films in the same wordings, denials, hearsay, names that are alike, facts
that are wrong by their kind, and orders to whoever reads. Plans are those of the questions' types.

A question counts as found where all of its missing answers are among its answers, as closed where the graph
alone, after writing back, gives exactly the gold set. Precision counts the triples that were written, labels
of new entities apart: right are those that the questions name as missing.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from common import shared_data
from metaqa import gold_plan, load, questions, relation, scored
from rdflib import RDFS

from mrag.completion.chain import Evidence
from mrag.completion.checks import CheckSettings
from mrag.completion.passages import Passages, Reader, store_folder
from mrag.completion.patterns import GroundedPlan, complete, complete_from_graph
from mrag.completion.review import accept, propose
from mrag.completion.rule_reader import RuleReader
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.snippets import Snippets

Fact = tuple[str, str, str]

_SAID = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
WORDINGS: dict[str, list[str]] = _SAID["wordings"]  # How texts say each relation
DENIALS, ORDERS, FILLERS = _SAID["denials"], _SAID["orders"], _SAID["fillers"]
PEOPLE = ("starred_actors", "directed_by", "written_by")


@dataclass(frozen=True)
class Corpus:
    """Texts, and what they were made of."""

    texts: dict[str, str]  # Name of each file and what it says
    missing: frozenset[Fact]  # The missing facts that were said
    counts: dict[str, int]  # Sentences of each kind


def corpus(folder: Path, *, seed: int = 11, taught: int = 150) -> Corpus:
    """Make the texts.

    Args:
        folder: The shared data of MetaQA.
        seed: Makes them repeatable.
        taught: Known facts of other films that are said for each relation.
    """
    dice = random.Random(seed)
    rows = _rows(folder)
    missing = sorted({(s, p, o) for r in rows for s, p, o in r["missing_triples"]})
    lines = (folder / "kb.txt").read_text(encoding="utf-8").splitlines()
    known = [tuple(line.split("|")) for line in lines]
    by_relation: dict[str, list[Fact]] = {}
    for s, p, o in known:
        by_relation.setdefault(p, []).append((s, p, o))
    people = sorted({o for p in PEOPLE for _, _, o in by_relation[p]})
    films = sorted({s for s, _, _ in known})
    counts: Counter[str] = Counter()
    stories: list[list[str]] = []

    def say(fact: Fact, kind: str) -> None:
        s, p, o = fact
        counts[kind] += 1
        story = [dice.choice(WORDINGS[p]).format(s=s, o=o)]
        if dice.random() < 0.5:
            story.append(dice.choice(FILLERS))
        stories.append(story)

    for fact in missing:
        say(fact, "missing facts")
    for relation_name in sorted(WORDINGS):
        for fact in dice.sample(by_relation[relation_name], min(taught, len(by_relation[relation_name]))):
            say(fact, "known facts")
    for s, _, _ in missing:
        stories.append([dice.choice(DENIALS).format(s=s, o=dice.choice(people))])
        counts["denials"] += 1
        stories.append([dice.choice(ORDERS).format(s=s, o=dice.choice(people), n=len(stories))])
        counts["orders"] += 1
        # Names that are alike: a sequel, and someone of the same first name. What is said of them is not
        # said of the film.
        stories.append([dice.choice(WORDINGS["directed_by"]).format(s=f"{s} 2", o=dice.choice(people))])
        counts["names alike"] += 1
    for s, p, o in missing:
        if p in PEOPLE:
            other = f"{o.split()[0]} {dice.choice(people).split()[-1]}"
            stories.append([dice.choice(WORDINGS[p]).format(s=dice.choice(films), o=other)])
            counts["names alike"] += 1
        wrong = dice.choice(films) if p != "release_year" else dice.choice(people)
        if p != "has_tags":
            stories.append([dice.choice(WORDINGS[p]).format(s=s, o=wrong)])
            counts["wrong kinds"] += 1
    dice.shuffle(stories)
    texts: dict[str, str] = {}
    for at in range(0, len(stories), 8):
        said = "\n\n".join(" ".join(story) for story in stories[at : at + 8])
        texts[f"{at // 8:04d}.txt"] = said + "\n"
    return Corpus(texts, frozenset(missing), dict(counts))


@dataclass
class Result:
    """Figures of a run."""

    questions: int
    missing: int
    found: int = 0
    closed: int = 0
    proposed: int = 0
    refused: int = 0
    written: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    before: float = 0.0
    after: float = 0.0
    seconds: float = 0.0
    again: int = 0

    @property
    def precision(self) -> float:
        """Share of the written triples that are right."""
        return self.right / self.written if self.written else 1.0

    @property
    def recall(self) -> float:
        """Share of the missing triples that were written."""
        return self.right / self.missing if self.missing else 1.0


def run(
    folder: Path, reader: Reader | None = None, *, seed: int = 11, sample: int = 0, k: int = 10
) -> Result:
    """Ask, read, write back, and ask the graph alone.

    Args:
        folder: The shared data of MetaQA.
        reader: What reads; the reader without a language model by default.
        seed: Of the texts.
        sample: Questions; all when 0.
        k: Passages for each triple.
    """
    made = corpus(folder, seed=seed)
    asked = questions(folder / "dev_incomplete_1hop.jsonl")
    asked = random.Random(seed).sample(asked, sample) if sample else asked
    rows = _rows(folder)
    missing_of = {r["question"]: {tuple(t) for t in r["missing_triples"]} for r in rows}
    wanted = {t for a in asked for t in missing_of[a.text]}
    result = Result(len(asked), len(wanted))
    with load(folder) as kg, tempfile.TemporaryDirectory() as texts:
        for name, text in made.texts.items():
            (Path(texts) / name).write_text(text, encoding="utf-8")
        collection, _ = store_folder(kg, Snippets(Path(texts)))
        passages = Passages.of(kg, [collection])
        evidence = Evidence(passages, reader or RuleReader(passages.all))
        settings = CheckSettings(functional=(str(relation("release_year")),))
        before = {str(g): kg.store.count(g) for g in kg.record.asserted}
        started = time.perf_counter()
        runs = []
        for one in asked:
            plan = replace(gold_plan(one), excluded=())
            alone = complete_from_graph(kg, GroundedPlan(plan))
            result.before += scored(_names(kg, alone.answers), one.answers)[1]
            done = complete(kg, GroundedPlan(plan), evidence, k=k, always=True)
            lacking = {_object(t, one.entity) for t in missing_of[one.text]}
            result.found += lacking <= set(_names(kg, done.answers, evidence.names))
            read = [t for t in done.triples if t.status == "completed"]
            proposal = propose(
                kg, one.text, read, model=evidence.reader.name, names=evidence.names, settings=settings
            )
            if proposal is not None:
                runs.append(proposal)
                result.proposed += len(proposal.statements)
                result.refused += len(proposal.refused)
        result.seconds = time.perf_counter() - started
        assert {str(g): kg.store.count(g) for g in kg.record.asserted} == before, "nothing before acceptance"
        entered = [
            t for proposal in runs for t in accept(kg, proposal, settings=settings, update=False).entered
        ]
        for t in entered:
            if t.p == RDFS.label:
                continue
            fact = (_name(kg, t.s), str(t.p).removeprefix(str(relation(""))), _name(kg, t.o))
            result.written += 1
            if fact in wanted:
                result.right += 1
            else:
                result.wrong.append(" | ".join(fact))
        for one in asked:
            plan = replace(gold_plan(one), excluded=())
            alone = complete_from_graph(kg, GroundedPlan(plan))
            exact = scored(_names(kg, alone.answers), one.answers)[1]
            result.after += exact
            result.closed += exact == 1
        # The same questions again, once all is in the graph, find nothing new to write.
        fresh = Evidence(passages, reader or RuleReader(passages.all))
        for one in asked[:20]:
            plan = replace(gold_plan(one), excluded=())
            done = complete(kg, GroundedPlan(plan), fresh, k=k, always=True)
            read = [t for t in done.triples if t.status == "completed"]
            again = propose(kg, one.text, read, model=fresh.reader.name, names=fresh.names, settings=settings)
            result.again += len(again.fitting) if again is not None else 0
    return result


def _rows(folder: Path) -> list[dict]:  # type: ignore[type-arg]
    text = (folder / "dev_incomplete_1hop.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _object(fact: tuple[str, ...], entity: str) -> str:
    return fact[2] if fact[0] == entity else fact[0]


def _name(kg: KnowledgeGraph, term: object) -> str:
    return kg.labels([str(term)])[str(term)] or str(term)


def _names(kg: KnowledgeGraph, terms: list, new: dict[str, str] | None = None) -> list[str]:  # type: ignore[type-arg]
    return [(new or {}).get(str(t)) or _name(kg, t) for t in terms]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gguf", help="a model file that reads instead")
    parser.add_argument("--sample", type=int, default=0, help="questions; all by default")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--wrong", action="store_true", help="list what was written and is not asked for")
    args = parser.parse_args()
    folder = shared_data("metaqa")
    reader: Reader | None = None
    if args.gguf:
        from mrag.completion.passages import ModelReader
        from mrag.generation.models import serve

        reader = ModelReader(serve(args.gguf).chat_model())
    found = run(folder, reader, seed=args.seed, sample=args.sample)

    print("texts", corpus(folder, seed=args.seed).counts)
    each = found.questions
    for name, value in {
        "questions": each,
        "exact from the graph before": found.before / each,
        "missing answers found in the texts": found.found / each,
        "triples written": found.written,
        "precision of what was written": found.precision,
        "recall of the missing triples": found.recall,
        "refused by the checks": found.refused,
        "exact from the graph alone, after": found.after / each,
        "written when asked again": found.again,
        "seconds per question": found.seconds / each,
    }.items():
        print(f"{name:<40} {value if isinstance(value, int) else f'{value:.3f}'}")
    if args.wrong:
        for line in found.wrong:
            print("  wrong:", line)


if __name__ == "__main__":
    main()
