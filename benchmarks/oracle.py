"""What the product answers today, kept in a file, and what of it a change makes different.

    python benchmarks/oracle.py freeze before.json.gz             # all rooms
    python benchmarks/oracle.py freeze before.json.gz --room cel  # this room anew, the others as they were
    python benchmarks/oracle.py compare before.json.gz            # exits with 1 if anything differs
    python benchmarks/oracle.py compare before.json.gz --room planning context --quick --full

It says nothing of right and wrong: it tells whether a move that should change no behaviour changed any. Every
run records the same: choices have seeds, limits of time are out of reach, and what has no order is sorted.
Rankings by vectors rest on the arithmetic of the processor, so compare them on the same kind of machine.
Without the shared data (`MRAG_SHARED_DATA`) there is only what the repository ships, and what needs a package
that is not installed is recorded as failed, with the reason.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]  # what is measured is what lies beside this file

import mrag  # noqa: E402

DATA = Path(os.environ.get("MRAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
BLIND, MADE, EXAMPLES = (ROOT / "benchmarks" / name for name in ("blind", "made", "examples"))
PATIENT = 600.0
"""Seconds that nothing here takes, in place of limits by which a busy machine would change an answer."""
MOST = {"made": 25, "films": 120, "structured": 20, "relational": 11}
"""Questions that are asked of a graph of each kind; 30 of others."""

Item = tuple[str, Any]
"""A name below its part, and a value of JSON, or a function that makes it and is called if it is wanted."""


def in_tenth(key: str) -> bool:
    """Return whether a quick run records the item of this key: its room, its part and its name."""
    unit = key.rpartition("|")[0] if key.partition("|")[0] in WHOLE else key
    return hashlib.blake2b(unit.encode(), digest_size=8).digest()[0] % 10 == 0


def sample(name: str, values: Iterable[Any], most: int) -> list[Any]:
    """Return some of the values, drawn by the name, in their order."""
    every = list(values)
    return [every[at] for at in sorted(random.Random(name).sample(range(len(every)), min(most, len(every))))]


def digest(lines: Iterable[str]) -> dict[str, Any]:
    """Return how many lines there are, and a digest of them in any order, whatever blank nodes are called."""
    told = sorted(re.sub(r"_:\w+|<[^>]*genid[^>]*>", "_:", line) for line in lines)
    text = "\n".join(told).encode()
    return {"count": len(told), "digest": hashlib.blake2b(text, digest_size=8).hexdigest()}


def shortened(rows: Sequence[Any], most: int = 12) -> dict[str, Any]:
    """Return rows as they are; of many the first ones, their number and a digest of all."""
    told = (f"{n} {json.dumps(row, ensure_ascii=False)}" for n, row in enumerate(rows))
    return {"rows": list(rows[:most]), **(digest(told) if len(rows) > most else {})}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines, gzipped or not."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def there(text: str) -> list[str]:
    """Return the parts of a list, such as `a, b @ folder`, whose folder of the shared data is there."""
    pairs = (one.partition(" @ ")[::2] for one in text.split(", "))
    return [part for part, folder in pairs if not folder or (DATA / folder).is_dir()]


@cache
def demo() -> mrag.KnowledgeGraph:
    """Open the demo graph with an index by words; it stays open."""
    return mrag.demo(model="none")


@contextmanager
def graph(name: str) -> Iterator[mrag.KnowledgeGraph]:
    """Open the graph of a part of `planning` in memory."""
    import metaqa

    kind, _, which = name.partition("/")
    if kind == "demo":
        yield demo()
        return
    with mrag.connect() as kg:
        if kind == "films":
            kg.insert(metaqa.triples(DATA / "metaqa" / "kb.txt"))
        elif kind == "made":
            kg.load([MADE / f"{which}.ttl.gz"])
        else:
            path = {"blind": BLIND / f"{which}.ttl.gz", "starwars": DATA / "starwars_kg"}.get(kind)
            kg.load([path or DATA / f"{kind}_qa" / which / "graph.ttl"])
        yield kg


def asked(name: str) -> list[tuple[str, str]]:
    """Return the questions of a part of `planning`: id and text."""
    import retrieval

    kind, _, which = name.partition("/")
    idle: list[dict[str, Any]] = []
    if kind == "made":
        rows = [{**row, "id": f"{n}"} for n, row in enumerate(lines_of(MADE / f"{which}.jsonl"))]
    elif kind == "starwars":
        rows = [{"id": f"{n}", "question": q} for n, q in enumerate(retrieval.QUESTIONS)]
    elif kind == "films":
        hops = {hop: lines_of(DATA / f"metaqa/dev_{hop}hop.jsonl") for hop in (1, 2, 3)}
        rows = [{**row, "id": f"{hop}-{n}"} for hop, of in hops.items() for n, row in enumerate(of)]
    elif kind in ("demo", "blind"):
        rows = lines_of(EXAMPLES / "demo.jsonl" if kind == "demo" else BLIND / f"{which}.jsonl")
    else:
        rows = lines_of(DATA / f"{kind}_qa" / which / "questions.jsonl")
        idle = [row for row in lines_of(DATA / f"{kind}_qa/unanswerable.jsonl") if row["db"] == which]
    return [(r["id"], r["question"]) for r in (*sample(name, rows, MOST.get(kind, 30)), *idle[:2])]


def planning_parts() -> Iterator[str]:
    """Yield the graphs over which questions are asked."""
    yield from ("demo/products", *(f"blind/{path.stem}" for path in sorted(BLIND.glob("*.jsonl"))))
    yield from (f"made/{path.stem}" for path in sorted(MADE.glob("*.jsonl")))
    for kind, most in (("structured", 7), ("relational", 30)):
        names = (path.parent.name for path in sorted((DATA / f"{kind}_qa").glob("*/graph.ttl")))
        yield from (f"{kind}/{name}" for name in sample(kind, names, most))
    yield from there("films/metaqa @ metaqa, starwars/swapi @ starwars_kg")


def planning(part: str) -> Iterator[Item]:
    """Yield how questions are read and computed."""
    from mrag.planning import compute

    with graph(part) as kg:
        compute(kg, "How many?")  # imports all that plans
        for module in [module for name, module in sys.modules.items() if name.startswith("mrag.planning")]:
            if hasattr(module, "OFFERED_SECONDS"):
                module.OFFERED_SECONDS = PATIENT
        yield from ((id_, partial(_planned, kg, text)) for id_, text in asked(part))


def _planned(kg: mrag.KnowledgeGraph, text: str) -> dict[str, Any]:
    from mrag.planning import compute

    attempt = compute(kg, text, seconds=PATIENT)
    value: dict[str, Any] = {"question": text, "sure": attempt.sure, "kind": _kind(attempt.why)}
    if attempt.answer is None or (computed := attempt.answer.computed) is None:
        return value
    rows = [["" if c.term is None else f"{c.label} {c.term.n3()}" for c in row] for row in computed.rows]
    return value | {
        "query": computed.query, "reading": computed.reading, "answer": attempt.answer.text[:300],
        "certainty": round(computed.confidence, 2), "ignored": list(computed.ignored),
        "columns": list(computed.columns), "others": [r.reading for r in computed.readings],
        **shortened(rows if computed.plan.get("order") else sorted(rows)),
    }  # fmt: skip


def _kind(why: str) -> str:
    """Return what kind of notice this is: without what it quotes, numbers, and what stands behind a colon."""
    return re.sub(r"[\d.]+", "#", re.sub(r"“[^”]*”|\"[^\"]*\"", "“”", why.partition(":")[0]))


def retrieval(part: str) -> Iterator[Item]:
    """Yield the ten best by words, by meaning and by both."""
    from mrag.evaluation import read_collection
    from mrag.index import DocumentIndex, embedder

    words, _, model = part.partition(" by ")
    if words == "demo":
        texts = [*(text for _, text in asked("demo/products")), *_descriptions()[:20]]
        with mrag.demo(model=model) as kg:
            for name in ("bm25", "dense", "hybrid", "hybrid+mmr"):
                ranker = mrag.ranker(name, kg)
                yield from ((f"{name} {n}", partial(_hits, ranker, text)) for n, text in enumerate(texts))
        return
    if words == "cranfield":
        found = read_collection(DATA / "cranfield")
        documents, queries = dict(found.documents), dict(found.queries)
    else:
        lines = (DATA / "metaqa" / "kb.txt").read_text(encoding="utf-8").splitlines()
        names = sample("names", sorted({name for line in lines for name in line.split("|")[::2]}), 3000)
        documents, queries = {n: n for n in names}, {n: n[:2] + n[3 : -len(n) // 4] for n in names}
    few = {"cranfield": 80, "names": 400}[words] if model else len(documents)
    index = DocumentIndex.create(None, embedder=embedder(model or "none"))
    index.sync(sample(words, sorted(documents.items()), few), extra={})
    for mode in ("dense", "hybrid") if model else ("bm25",):
        for id_ in sample(mode, sorted(queries), 60):
            yield f"{mode} {id_}", [match.doc_id for match in index.search(queries[id_], 10, mode=mode)]


def _hits(ranker: Any, question: str, reasons: int = 0) -> list[list[str]]:
    return [[hit.iri, *hit.reasons[:reasons]] for hit in ranker.rank(mrag.Question(question), 10)]


def _descriptions() -> list[str]:
    rows = demo().select("SELECT ?d { ?s <http://purl.org/dc/terms/description> ?d } ORDER BY ?d")
    return [str(text) for (text,) in rows if text.language == "en"]


def context(part: str) -> Iterator[Item]:
    """Yield the lines around entities, under three budgets."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = f"SELECT DISTINCT ?s {{ ?s {label} ?l ; ?p ?o FILTER(isIRI(?s) && isIRI(?o)) }} ORDER BY ?s"
    with graph(part) as kg:
        for iri in sample(part, (str(s) for (s,) in kg.select(text)), 25):
            for budget in (150, 1000, 4000):
                knobs = mrag.ContextSettings(token_budget=budget, hops=1 + (budget == 1000))
                found = mrag.expand(kg, [(iri, 1.0)], knobs)
                yield f"{iri} {budget}", [f"{line.id} {line.text}" for line in found.lines]


def generation(part: str) -> Iterator[Item]:
    """Yield answers that are read in the context without a model, and verdicts on made-up sentences."""
    if part == "support":
        from support_adversary import judged_cases

        cases = enumerate(judged_cases(("demo", "museum"), 60, seed=11))
        yield from ((f"{n}", [one.case.kind, one.case.text, one.accepted]) for n, one in cases)
        return
    with graph(part) as kg:
        if "main" not in (indexes := mrag.SimilarityIndexes.of(kg)).names():
            indexes.build("main", model="none")
        yield from ((id_, partial(_answered, kg, text)) for id_, text in asked(part)[:20])


def _answered(kg: mrag.KnowledgeGraph, text: str) -> dict[str, Any]:
    answer = mrag.ask(kg, text, how="read", model="none")
    said = [[s.text, s.verdict, [c.text for c in s.citations]] for s in answer.sentences]
    return {"question": text, "said": said, "notice": _kind(answer.notice or "")}


def graphcodes(part: str) -> Iterator[Item]:
    """Yield what is read in captions, and which captions have the nearest codes."""
    from mrag.graphcodes import GraphCodeIndex, TextExtractor, to_json

    pairs = DATA / "scenes_factual" / "share" / "pairs_caption_graph.jsonl.gz"
    texts = _descriptions() if part == "descriptions" else [row["caption"] for row in lines_of(pairs)]
    texts = sample(part, texts, 300)
    codes = dict(zip(map(str, range(300)), TextExtractor().extract_many(texts), strict=False))
    (index := GraphCodeIndex()).put(codes)
    for (id_, code), text in zip(codes.items(), texts, strict=True):
        yield id_, {"text": text, **to_json(code)}
    for id_ in sample("codes", codes, 30):
        yield f"near {id_}", [(match.id, round(match.score, 3)) for match in index.search(codes[id_], 10)]


def completion(part: str) -> Iterator[Item]:
    """Yield what is read in texts for triples that a graph lacks."""
    import completion_incomplete
    import completion_paraphrases as sets

    from mrag.completion import Evidence, IncompleteTriple, Passage, Passages, Unknown

    if part == "metaqa":
        found = completion_incomplete.run(DATA / "metaqa", sample=8)
        names = ("found", "closed", "proposed", "refused", "written", "right", "wrong", "again")
        yield from ((name, getattr(found, name)) for name in names)
        return
    made = sets.make(sets.DOMAINS[part], 7, beside=True)
    passages = [Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(made.texts)]
    with mrag.connect() as kg:
        kg.insert(made.graph)
        evidence = Evidence(Passages(passages))
        for s, p, _ in sample(part, made.missing, 25):
            read = evidence.complete(kg, IncompleteTriple(s, p, Unknown("x")), 8)
            yield f"{s} {p}", sorted([str(t.object), round(t.confidence, 2), t.status] for t in read)


def cel(part: str) -> Iterator[Item]:
    """Yield what is learnt from examples."""
    import cel as problems

    from mrag.cel import read_problems

    with mrag.connect() as kg, tempfile.TemporaryDirectory() as folder:
        if part == "images":
            places = problems.write_graph(file := Path(folder) / "images.nt", 0.005)
            kg.load([file])
            learnt = {f"{n}": split.train for n, split in enumerate(problems.splits(places, 6, 3))}
        else:
            ontology, file = next(pair for pair in problems.PUBLISHED if pair[0].split("/")[1] == part)
            problems.load(kg, DATA / "cel_kbs" / ontology)
            learnt = dict(sorted(read_problems(DATA / "cel_kbs" / file).items())[:4])
        for name in ("search", "celoe"):
            settings = {"max_tested": 1500} if name == "celoe" else {}
            for title, problem in learnt.items():
                yield f"{title} {name}", partial(_learnt, kg, name, problem, settings)


def _learnt(kg: mrag.KnowledgeGraph, name: str, problem: Any, settings: Mapping[str, Any]) -> list[Any]:
    from mrag.cel import learner, sentence, to_dl

    found = learner(name, kg, seconds=PATIENT, seed=3, **settings).fit(problem)[:3]
    return [[to_dl(h.expression), round(h.quality, 4), sentence(kg, h)] for h in found]


def generative(part: str) -> Iterator[Item]:
    """Yield which documents hold a text, and which clues a small model writes for questions."""
    from mrag.generative import ByteTokeniser, DecodingSettings, GenerativeRanker, build_clues, language_model

    if part == "index":
        index = build_clues(demo(), tokeniser := ByteTokeniser())
        for text in ("GraphDB", "triple store", "Berlin", "vector", "open source", " is a ", "Java"):
            yield text, sorted(doc for docs in index.matches(tokeniser.encode(text)) for doc in docs)
        return
    from generative_quality import smollm2

    model, knobs = language_model(f"local:{smollm2()}"), DecodingSettings(beams=4, max_length=8)
    ranker = GenerativeRanker(demo(), build_clues(demo(), model.tokeniser), model, knobs)
    yield from ((id_, partial(_hits, ranker, text, 1)) for id_, text in asked("demo/products")[:8])


def reasoning(part: str) -> Iterator[Item]:
    """Yield what follows from a graph."""
    if part != "features":
        path = DATA / part if part == "starwars_kg" else ROOT / "ontology" / "products.ttl"
        yield "closure", partial(_loaded, path, "inferred")
        return
    from tests.reasoning.helpers import graph_of
    from tests.reasoning.test_closure import CLASHES, FOLLOWS

    with tempfile.TemporaryDirectory() as folder:
        for name, turtle in {**{name: case[0] for name, case in FOLLOWS.items()}, **CLASHES}.items():
            graph_of(turtle).serialize(file := Path(folder) / "case.ttl", format="turtle")
            yield name, partial(_loaded, file, "inferred")


def _loaded(path: Path, layer: Any) -> dict[str, Any]:
    with mrag.connect() as kg, tempfile.TemporaryFile() as out:
        kg.load([path])
        clashes = mrag.reason(kg).contradictions if layer == "inferred" else ()
        kg.dump(out, layer=layer)
        out.seek(0)
        return {"clashes": sorted(clash.axiom for clash in clashes), **digest(line.decode() for line in out)}


def loaders(part: str) -> Iterator[Item]:
    """Yield the triples that files of each kind become."""
    from rdflib import Graph

    from mrag.loaders import Snippets
    from mrag.loaders.importing import ImportSettings, records
    from tests.made import write_annotations

    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), sorted((ROOT / "ontology").glob("*.ttl"))
        for ending, kind in (("nt", "nt"), ("rdf", "xml"), ("jsonld", "json-ld")):
            files.append(folder / f"products.{ending}")
            Graph().parse(ROOT / "ontology/products.ttl").serialize(files[-1], format=kind, encoding="utf-8")
        files += [EXAMPLES / name for name in ("pizza.ofn", "parts.obo", "two.trig")]
        yield from ((path.name, partial(_loaded, path, "all")) for path in files)
        write_annotations(folder / "fashion.json", scale=0.001)
        mapped = ImportSettings(kind="table", mapping=EXAMPLES / "shops.ttl")
        imported = {EXAMPLES / f"shops.{ending}": mapped for ending in ("csv", "tsv", "jsonl")}
        imported |= {EXAMPLES / name: ImportSettings() for name in ("scenes.jsonl",)}
        imported |= {folder / "fashion.json": ImportSettings(boxes=True, masks=True)}
        for path, how in imported.items():
            yield path.name, digest(records(path, how).lines())
        yield "notes", digest(Snippets(EXAMPLES / "notes").lines())


def stores(part: str) -> Iterator[Item]:
    """Yield what each query of the catalogue gives for its examples."""
    folder = ROOT / "sparql"
    for path in sorted(folder.rglob("*.rq")):
        yield path.relative_to(folder).as_posix(), partial(_queried, path.read_text(encoding="utf-8"))


def _queried(text: str) -> Any:
    kg, kind = demo(), re.search(r"^\s*(SELECT|ASK|CONSTRUCT)\b", text, re.M)
    if kind is None or kind[1] == "ASK":
        return kg.holds(text)
    found = kg.select(text) if kind[1] == "SELECT" else kg.store.construct(text, kg.dataset())
    return shortened(sorted(["" if cell is None else cell.n3() for cell in row] for row in found), 4)


def images(part: str) -> Iterator[Item]:
    """Yield which photos are found by words: in texts about them, and by what they look like."""
    import skimage

    from mrag.images import ImageLooksRanker, ImageTextRanker

    with mrag.connect() as kg:
        kg.load([EXAMPLES / "photos.ttl"])
        looks = ImageLooksRanker(kg, Path(skimage.__file__).parent / "data", "conse", keep=False)
        for text in ("cat", "a cup of coffee", "black horse", "night sky", "a woman", "vehicle"):
            yield f"words {text}", partial(_hits, ImageTextRanker(kg, "bm25"), text)
            yield f"looks {text}", partial(_hits, looks, text)


ROOMS: dict[str, tuple[Callable[[str], Iterator[Item]], str]] = {
    "planning": (planning, ""),
    "retrieval": (retrieval, "demo by minilm, cranfield @ cranfield, cranfield by minilm @ cranfield, "
                  "names @ metaqa, names by minilm @ metaqa, names by wordllama @ metaqa"),
    "context": (context, "demo/products, starwars/swapi @ starwars_kg"),
    "generation": (generation, "support, demo/products, blind/museum, starwars/swapi @ starwars_kg"),
    "graphcodes": (graphcodes, "descriptions, captions @ scenes_factual"),
    "completion": (completion, "films, companies, books, places, music, science, ships, clubs, clinics, "
                   "software, farms, metaqa @ metaqa"),
    "cel": (cel, "images, Family @ cel_kbs, animals @ cel_kbs, lymphography @ cel_kbs, father @ cel_kbs, "
            "trains @ cel_kbs, forte @ cel_kbs"),
    "generative": (generative, "index, model"),
    "reasoning": (reasoning, "features, demo, starwars_kg @ starwars_kg"),
    "loaders": (loaders, "files"), "stores": (stores, "catalogue"), "images": (images, "photos"),
}  # fmt: skip
"""What gives the items of a part of each room, and its parts, each with the shared data that it needs."""
WHOLE = ("planning", "completion")
"""Rooms of which a quick run leaves out whole parts, because their graphs take longest."""


def record_part(task: tuple[str, str], quick: bool = False) -> tuple[dict[str, Any], float]:
    """Return the items of a part of a room by their keys, and the seconds of processor that it took.

    What cannot be recorded is recorded as failed: that, too, may be what a change makes different.
    """
    items: dict[str, Any] = {}
    began, part = sum(os.times()[:4]), "|".join(task)
    try:
        for name, value in ROOMS[task[0]][0](task[1]):
            if not quick or in_tenth(f"{part}|{name}"):
                try:
                    items[f"{part}|{name}"] = value() if callable(value) else value
                except Exception as error:  # one item must not take the others with it
                    items[f"{part}|{name}"] = _failed(error)
    except (Exception, SystemExit) as error:
        items[f"{part}|(part)"] = _failed(error)
    return items, sum(os.times()[:4]) - began


def _failed(error: BaseException) -> dict[str, str]:
    return {"failed": re.sub(r"/\S*/", "", f"{type(error).__name__}: {error}")[:300]}


def record(rooms: Sequence[str], quick: bool, jobs: int) -> dict[str, Any]:
    """Return the items of rooms, with values as JSON has them, and tell on stderr how far it is."""
    parts = {room: there(ROOMS[room][1]) if ROOMS[room][1] else planning_parts() for room in rooms}
    tasks = [(room, part) for room, names in parts.items() for part in names]
    tasks = [t for t in tasks if not (quick and t[0] in WHOLE) or in_tenth(f"{t[0]}|{t[1]}|")]
    print(
        f"{len(tasks)} parts of {len(rooms)} rooms, mrag from {Path(mrag.__file__).parent}", file=sys.stderr
    )
    items: dict[str, Any] = {}
    spent, began, work = Counter[str](), time.perf_counter(), partial(record_part, quick=quick)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for n, (found, used) in enumerate(pool.map(work, tasks) if jobs > 1 else map(work, tasks), 1):
            items |= found
            spent[tasks[n - 1][0]] += used
            print(f"\r{n} of {len(tasks)} parts, {len(items)} items", end="", file=sys.stderr, flush=True)
    shares = ", ".join(f"{room} {seconds:.0f}" for room, seconds in spent.items())
    took, used = time.perf_counter() - began, sum(spent.values())
    print(f"; {took:.0f} s, of processor {used:.0f} s ({shares})", file=sys.stderr)
    return json.loads(json.dumps(items))


def shown(before: Any, after: Any, width: int = 240) -> Iterator[str]:
    """Yield what differs between two values: of mappings the fields, of texts from a little before on."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(n for n in after if n not in before)]:
            if before.get(name) != after.get(name):
                yield from (f"{name} {line}" for line in shown(before.get(name), after.get(name), width))
        return
    texts = [v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in (before, after)]
    same = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    at = max(0, same - 40) if max(map(len, texts)) > width else 0
    yield from (f"{sign} {'…' * bool(at)}{t[at : at + width]}" for sign, t in zip("-+", texts, strict=True))


def compare(before: Mapping[str, Any], after: Mapping[str, Any], most: int | None) -> bool:
    """Print a table of what differs, then the first items that do; return whether nothing does."""
    counts: dict[str, Counter[str]] = {}
    differing = []
    for key in sorted({*before, *after}):
        kind = "new" if key not in before else "missing" if key not in after else "changed"
        kind = "same" if kind == "changed" and before[key] == after[key] else kind
        counts.setdefault(key.partition("|")[0], Counter())[kind] += 1
        differing += [key] if kind != "same" else []
    print(f"{'room':<12}{'same':>9}{'changed':>9}{'missing':>9}{'new':>9}")
    for room, of in counts.items():
        print(f"{room:<12}{of['same']:>9}{of['changed']:>9}{of['missing']:>9}{of['new']:>9}")
    for key in differing[:most]:
        pair = before.get(key, "(nothing)"), after.get(key, "(nothing)")
        question = next((v["question"] for v in pair if isinstance(v, dict) and "question" in v), "")
        print(f"\n{key}  {question}".rstrip(), *(f"  {line}" for line in shown(*pair)), sep="\n")
    if most is not None and len(differing) > most:
        print(f"\n… and {len(differing) - most} more: --full shows all")
    return not differing


def main(arguments: Sequence[str] | None = None) -> int:
    """Freeze or compare; return 1 if something differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("freeze", "compare"), help="write the file, or compare with it")
    parser.add_argument("file", type=Path, help="gzipped JSON")
    parser.add_argument("--room", nargs="+", choices=ROOMS, default=list(ROOMS), help="only these rooms")
    parser.add_argument("--quick", action="store_true", help="a tenth, always the same")
    parser.add_argument("--full", action="store_true", help="all that differs, not only the first ten items")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    given = parser.parse_args(arguments)
    kept = given.what == "compare" or (given.file.exists() and set(given.room) < set(ROOMS))
    before = json.loads(gzip.decompress(given.file.read_bytes())) if kept else {}
    after = record(given.room, given.quick, given.jobs)
    if given.what == "freeze":
        after |= {key: value for key, value in before.items() if key.partition("|")[0] not in given.room}
        text = json.dumps(after, ensure_ascii=False, indent=0, sort_keys=True)
        given.file.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{len(after)} items, {given.file.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
        return 0
    before = {key: value for key, value in before.items() if key.partition("|")[0] in given.room}
    before = {key: value for key, value in before.items() if not given.quick or in_tenth(key)}
    return 0 if compare(before, after, None if given.full else 10) else 1


if __name__ == "__main__":
    sys.exit(main())
