from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mrag.index.document_index import DocumentIndex
from mrag.index.embedders import WordLlamaEmbedder

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


@pytest.fixture(scope="session")
def cranfield() -> Path:
    path = SHARED / "cranfield"
    if not path.exists():
        pytest.skip(f"{path} is absent; set MRAG_SHARED_DATA to the folder of the shared data")
    return path


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
