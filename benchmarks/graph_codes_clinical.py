"""A clinical set: MedQuAD by disease and kind of question, typed and related by the UMLS semantic network."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from common import shared_data
from graph_codes_common import Dense, by_bm25, by_codes, by_scores, shuffled, table, versus

from mrag.graphcodes.code import Edge, GraphCode, Node, term
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Ontology

SEMANTIC_TYPES = {
    "T019": "congenital_abnormality", "T020": "acquired_abnormality", "T033": "finding",
    "T037": "injury_or_poisoning", "T046": "pathologic_function", "T047": "disease_or_syndrome",
    "T048": "mental_or_behavioral_dysfunction", "T049": "cell_or_molecular_dysfunction",
    "T184": "sign_or_symptom", "T190": "anatomical_abnormality", "T191": "neoplastic_process",
}  # fmt: skip
"""Semantic types of MedQuAD by their names in the semantic network."""

ROLES = {
    "symptoms": ("sign_or_symptom", "manifestation_of"),
    "treatment": ("therapeutic_or_preventive_procedure", "treats"),
    "prevention": ("therapeutic_or_preventive_procedure", "prevents"),
    "exams and tests": ("diagnostic_procedure", "diagnoses"),
    "complications": ("pathologic_function", "complicates"),
    "causes": ("phenomenon_or_process", "causes"),
}
"""What an answer is about and how that is related to the disease, by kind of question."""

CUES = {
    "symptoms": ("symptom", "signs"), "treatment": ("treat", "therap"), "prevention": ("prevent", "avoid"),
    "exams and tests": ("diagnos", "tests", "exam"), "complications": ("complication",),
    "causes": ("cause", "why do"), "research": ("research", "clinical trial", "studies"),
    "susceptibility": ("at risk", "likely to get"), "outlook": ("outlook", "what happens", "prognosis"),
    "frequency": ("how many", "how common"), "considerations": ("what to do", "live with"),
    "information": ("what is", "what are", "tell me"),
}  # fmt: skip
"""Words by which the kind of a question is known, looked for in this order."""

REWORDED = {
    "symptoms": "Which signs point to {x}?", "treatment": "Which therapies help against {x}?",
    "prevention": "How can people avoid getting {x}?", "exams and tests": "Which tests show {x}?",
    "complications": "Which complications follow from {x}?", "causes": "Why do people get {x}?",
    "research": "Which studies are there on {x}?", "susceptibility": "Who is likely to get {x}?",
    "outlook": "What happens to people who have {x}?", "considerations": "How to live with {x}?",
}  # fmt: skip
"""The kinds of questions in words that MedQuAD does not use."""


@dataclass(frozen=True)
class Item:
    """One question of the set with its answer."""

    id: str
    focus: str
    concept: str
    types: frozenset[str]
    kind: str
    question: str
    answer: str


def read_items() -> list[Item]:
    """Read the set; a disease is its concept of UMLS, or its name; rows without a name are left out."""
    found = []
    with gzip.open(shared_data("medquad/share_3878.jsonl.gz"), "rt") as lines:
        for at, row in enumerate(map(json.loads, lines)):
            if not row["focus"].strip():
                continue
            focus = term(row["focus"])
            concept = f"umls:{row['cui'][0].strip()}" if row["cui"] and row["cui"][0].strip() else focus
            types = frozenset(SEMANTIC_TYPES[t] for t in row["semtypes"] if t in SEMANTIC_TYPES)
            found.append(
                Item(shuffled(f"{at}"), focus, concept, types, row["qtype"], row["question"], row["answer"])
            )
    return found


def network() -> Ontology:
    """Read the hierarchy of the semantic network, all splits."""
    folder = shared_data("kgc_small/umls")
    rows = [
        line.split("\t") for name in ("train", "valid", "test") for line in _lines(folder / f"{name}.txt")
    ]
    return Ontology.of((s, o) for s, r, o in rows if r == "isa")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def code_of(concept: Node, kind: str) -> GraphCode:
    """Make the code of an answer, or of a question, from its disease and kind."""
    what, relation = ROLES.get(kind, (kind, "is asked of"))
    return GraphCode.of([Node(term(what)), concept], [Edge(term(what), relation, concept.id)])


def asked_code(question: str, names: Mapping[str, str]) -> GraphCode:
    """Read a question: the longest name of a disease in it, and its kind by cue words."""
    text = f" {term(question.replace('?', ' '))} "
    kind = next((kind for kind, cues in CUES.items() if any(cue in text for cue in cues)), "information")
    words = text.split()
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            name = " ".join(words[start : start + length])
            if name in names:
                return code_of(Node(names[name]), kind)
    return GraphCode.of([term(ROLES.get(kind, (kind, ""))[0])])


def clinical(dense: Dense) -> None:
    """Find the answers about a disease of a kind; and answers about a class of diseases."""
    items = read_items()
    names = {item.focus: item.concept for item in sorted(items, key=lambda i: (i.focus, i.concept))}
    index = GraphCodeIndex()
    index.put({i.id: code_of(Node(i.concept, i.focus, i.types), i.kind) for i in items})
    texts = {item.id: f"{item.focus}: {item.kind}. {item.answer}" for item in items}
    starts = {doc: text[:300] for doc, text in texts.items()}
    places: dict[tuple[str, str], dict[str, int]] = {}
    for item in items:
        places.setdefault((item.concept, item.kind), {})[item.id] = 1
    print(
        f"\nclinical: {len(items):,} answers of MedQuAD; relevant are all of the same UMLS concept and kind"
    )
    print(
        "  codes: disease, its semantic types, and the UMLS relation of what the kind of question asks for;"
    )
    print("  BM25 reads name, kind and whole answer, dense the first 300 characters of it; codes know")
    print("  the kind of a question by cue words, and the disease by looking its name up")
    first = {(i.concept, i.kind): i for i in reversed(items)}
    sets = {
        "in MedQuAD's own words": {i.id: i.question for i in first.values()},
        "reworded": {i.id: REWORDED[i.kind].format(x=i.focus) for i in first.values() if i.kind in REWORDED},
    }
    for name, questions in sets.items():
        print(f"  questions {name}: {len(questions):,}")
        systems = {
            "codes, structural": by_codes(index, {q: asked_code(t, names) for q, t in questions.items()}),
            "codes, query-relative": by_codes(
                index,
                {q: asked_code(t, names) for q, t in questions.items()},
                CodeComparison("query-relative"),
            ),
            "BM25": by_bm25(texts, questions),
            "dense MiniLM": dense.rank(starts, questions),
        }
        systems["BM25 + dense"] = by_scores(systems["BM25"], systems["dense MiniLM"])
        systems["codes + BM25"] = by_scores(systems["codes, structural"], systems["BM25"])
        by_id = {i.id: i for i in items}
        relevant = {q: places[by_id[q].concept, by_id[q].kind] for q in questions}
        values = table(systems, relevant)
        versus(values, "codes, structural", "BM25", "dense MiniLM", "BM25 + dense")
        versus(values, "codes + BM25", "codes, structural")
    _classes(items, index, texts, starts, dense)


def _classes(
    items: list[Item], index: GraphCodeIndex, texts: dict[str, str], starts: dict[str, str], dense: Dense
) -> None:
    """Ask for a class of diseases: the role must be filled by something of that class."""
    kinds = network()
    classes = sorted(
        {above for item in items for t in item.types for above in {t, *kinds.broader.get(t, ())}}
    )
    codes: dict[str, GraphCode] = {}
    questions: dict[str, str] = {}
    relevant: dict[str, dict[str, int]] = {}
    for kind in sorted(ROLES):
        for above in classes:
            right = {
                item.id: 1 for item in items
                if item.kind == kind and any(kinds.fits(t, above) for t in item.types)
            }  # fmt: skip
            if 5 <= len(right) < sum(item.kind == kind for item in items):
                key = f"{kind} of {above}"
                codes[key], relevant[key] = code_of(Node(above), kind), right
                questions[key] = f"{kind} of a {above.replace('_', ' ')}"
    print(f"  {len(codes)} questions for a class of diseases, such as '{next(iter(questions.values()))}'")
    systems = {
        "codes, structural, with the ontology": by_codes(index, codes, CodeComparison(ontology=kinds)),
        "codes, structural, without": by_codes(index, codes),
        "BM25": by_bm25(texts, questions),
        "dense MiniLM": dense.rank(starts, questions),
    }
    table(systems, relevant, ("MRR", "P@5", "P@10"))
