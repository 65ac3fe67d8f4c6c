import gzip
import json
import os
import warnings
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import WordLlamaEmbedder

SHARED = Path(os.environ.get("MRAG_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))


@pytest.fixture(scope="session")
def wordllama() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture(scope="session")
def medquad() -> list[dict[str, Any]]:
    """3,878 medical questions with their answers."""
    path = SHARED / "medquad/share_3878.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is absent; set MRAG_SHARED_DATA to the folder of the shared data")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@dataclass(frozen=True)
class Cranfield:
    """1,400 abstracts on aerodynamics, and 225 queries with their relevant documents."""

    documents: list[tuple[str, str]]
    queries: list[tuple[str, set[str]]]


@pytest.fixture(scope="session")
def cranfield() -> Cranfield:
    folder = SHARED / "cranfield"
    if not folder.exists():
        pytest.skip(f"{folder} is absent; set MRAG_SHARED_DATA to the folder of the shared data")
    root = ET.fromstring(f"<all>{(folder / 'cran.all.1400.xml').read_text()}</all>")
    documents = [
        (f"{(d.findtext('docno') or '').strip():0>4}", f"{d.findtext('title')} {d.findtext('text')}")
        for d in root.iter("doc")
    ]
    relevant: defaultdict[int, set[str]] = defaultdict(set)
    for line in (folder / "cranqrel.trec.txt").read_text().splitlines():
        query, _, doc_id, grade = line.split()
        if int(grade) > 0:
            relevant[int(query)].add(f"{doc_id:0>4}")
    asked = [q.findtext("title") or "" for q in ET.parse(folder / "cran.qry.xml").iter("top")]
    return Cranfield(documents, [(text, relevant[number]) for number, text in enumerate(asked, 1)])


def content(index: DocumentIndex) -> dict[str, tuple[str, bytes]]:
    """Every document with its text and the bytes of its vector."""
    state = index._state
    found = {}
    for doc_id in index.doc_ids:
        row = state.rows.row_of(doc_id)
        assert row is not None
        segment, at = state.place(row)
        vector = b"" if segment.vectors is None else segment.vectors[at].tobytes()
        found[doc_id] = (segment.texts[at], vector)
    return found


@pytest.fixture(name="content", scope="session")
def _content() -> Any:
    return content


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL with pgvector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, of folders and processes
        import pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()
