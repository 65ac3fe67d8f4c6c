"""The journal of descriptions by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from mrag.errors import LoadError
from mrag.images.enrichment import EnrichmentJournal, JournalEntry


def entry(number: int) -> JournalEntry:
    return JournalEntry(
        f"urn:i{number}", "", "A\r\ncoat \u2028 \\ ü.", "m", "p", "{}", "2026-01-01T00:00:00Z", "mrag", "0"
    )


def test_a_journal_cut_off_anywhere_keeps_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "j" / "descriptions.jsonl"
    with (journal := EnrichmentJournal(path)).opened():
        for number in range(3):
            journal.append(entry(number))
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for cut in (0, 1, 9, ends[0] - 1, ends[0], ends[0] + 1, ends[1] - 1, ends[2] - 1, ends[2]):
        path.write_bytes(data[:cut])
        with (journal := EnrichmentJournal(path)).opened():
            whole = sum(end <= cut for end in ends)
            assert journal.entries == [entry(n) for n in range(whole)] and journal.damaged == 0
            journal.append(entry(9))
        with (journal := EnrichmentJournal(path)).opened():
            assert journal.entries[-1] == entry(9) and len(journal.entries) == whole + 1


def test_a_damaged_line_is_counted_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "descriptions.jsonl"
    with (journal := EnrichmentJournal(path)).opened():
        journal.append(entry(1))
        journal.append(entry(2))
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(b"rubbish\n" + data)
    with (journal := EnrichmentJournal(path)).opened():
        assert journal.entries == [entry(2)] and journal.damaged == 2


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "descriptions.jsonl").mkdir()
    with (
        pytest.raises(LoadError, match="journal"),
        EnrichmentJournal(tmp_path / "descriptions.jsonl").opened(),
    ):
        pass
