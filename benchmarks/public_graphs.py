"""Questions over public graphs of others' making, each in a repository of its own.

    for source in benchmarks/public/*.json; do    # clone what is named there, once
        url=$(python -c "import json, sys; print(json.load(open(sys.argv[1]))['repository'])" $source)
        name=${url#https://github.com/}; git clone --bare $url MIRROR/${name/\\//+}
    done
    python benchmarks/public_graphs.py --mirror MIRROR                   # all
    python benchmarks/public_graphs.py --mirror MIRROR --half choosing   # whose failures may be looked at
    python benchmarks/public_graphs.py --mirror MIRROR --only music --wrong

`public/NAME.json` says where a graph is: the repository, a commit, the files with their SHA-256, the licence,
the kind of graph and the half. None of the files is kept here. `public/NAME.jsonl` has the questions, written
before any reader saw them, each with the SPARQL query whose rows are the gold answer; where a question can be
taken in two ways both answers are accepted. Designs are compared on the half for choosing; of the held-out
half only the figures are looked at. The later ones were asked once before anybody looked at their failures.

Answers are computed or refused (`how="plan"`), without a language model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from blind_questions import HEAD, counted, line

from mrag.evaluation import read_questions
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore

FOLDER = Path(__file__).parent / "public"
HALVES = ("choosing", "held-out", "later")


def git_folder(mirror: Path, repository: str) -> Path:
    """Return where git keeps a clone: in `owner+name`, or in a folder below it."""
    clone = mirror / "+".join(repository.split("/")[-2:])
    for head in sorted(clone.rglob("HEAD"), key=lambda path: len(path.parts)):
        if (head.parent / "objects").is_dir():
            return head.parent
    sys.exit(f"needs a clone of {repository} in {clone}: see --help")


@contextmanager
def opened(mirror: Path, source: Mapping[str, Any]) -> Iterator[KnowledgeGraph]:
    """Open a graph in memory that holds the files of a source."""
    git = ["git", "--git-dir", git_folder(mirror, source["repository"]), "show"]
    with KnowledgeGraph(OxigraphStore()) as kg, TemporaryDirectory() as folder:
        files = []
        for number, file in enumerate(source["paths"]):
            shown = subprocess.run(
                [*git, f"{source['commit']}:{file['path']}"], check=True, capture_output=True
            )
            if hashlib.sha256(shown.stdout).hexdigest() != file["sha256"]:
                sys.exit(
                    f"{file['path']} of {source['repository']} is not what the questions were written for"
                )
            files.append(Path(folder) / f"{number}-{Path(file['path']).name}")
            files[-1].write_bytes(shown.stdout)
        kg.load(files)
        yield kg


def main() -> None:
    """Print a table of the graphs, by half and kind."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--mirror", type=Path, required=True, help="folder of clones, `owner+name` each")
    options.add_argument("--half", choices=HALVES, help="only this half")
    options.add_argument("--only", nargs="+", help="names of graphs")
    options.add_argument("--wrong", action="store_true", help="print what was wrong of the half for choosing")
    args = options.parse_args()
    sources = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    print(HEAD)
    for half in [args.half] if args.half else HALVES:
        names = [n for n, s in sources.items() if s["half"] == half and n in (args.only or sources)]
        total = [0] * 7
        for name in sorted(names, key=lambda name: (sources[name]["kind"], name)):
            with opened(args.mirror, sources[name]) as kg:
                asked = read_questions(FOLDER / f"{name}.jsonl")
                counts = counted(kg, asked, wrong=args.wrong and half == HALVES[0])
            total = [a + b for a, b in zip(total, counts, strict=True)]
            print(line(f"{sources[name]['kind']}: {name}", counts), flush=True)
        if total[0]:
            print(line(f"*{half}*", total), flush=True)


if __name__ == "__main__":
    main()
