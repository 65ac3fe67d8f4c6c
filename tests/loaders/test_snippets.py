"""Texts in folders cut into passages that can be found again to the letter."""

import random
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrag
from mrag.errors import ConfigError, LoadError
from mrag.language.tokens import sentence_spans
from mrag.loaders.snippets import Cutting, Document, Snippets, cut, title_of

TEXT = st.text(st.sampled_from(list('abZ .!?\n\r\t…。é🦊’"')), max_size=400)


@settings(max_examples=150)
@given(TEXT, st.integers(40, 90), st.booleans())
def test_no_word_is_lost_and_every_passage_is_its_text(said: str, most: int, overlap: bool) -> None:
    document = Document("a.txt", "a", said)
    covered = [False] * len(said)
    last = -1
    for snippet in cut(document, Cutting(most, overlap)):
        assert snippet.text == said[snippet.start : snippet.end] and snippet.text.strip() == snippet.text
        assert 0 < len(snippet.text) <= most
        assert snippet.start > last or (overlap and snippet.start >= 0)
        last = snippet.start
        for at in range(snippet.start, snippet.end):
            covered[at] = True
    assert all(done or said[at].isspace() for at, done in enumerate(covered))


def test_paragraphs_stay_whole_and_long_ones_are_cut_behind_sentences() -> None:
    said = "Short one.\n\n" + " ".join(f"This is sentence number {n}." for n in range(12)) + "\n\nThe end."
    found = [s.text for s in cut(Document("a", "a", said), Cutting(120, overlap=True))]
    assert found[0] == "Short one." and found[-1].endswith("The end.")
    assert all(text.endswith(".") for text in found)
    assert found[1].split(". ")[-1] in found[2], "the last sentence comes again"


def test_sentences() -> None:
    said = "Dr. J. R. Hill met St. Mary. They talked!\n\nNot much (she said). 「東京。大阪。」"
    assert [said[a:b] for a, b in sentence_spans(said)] == [
        "Dr. J. R. Hill met St. Mary.", "They talked!", "Not much (she said).", "「東京。", "大阪。」",
    ]  # fmt: skip


def test_titles() -> None:
    assert title_of("## A b c ##\ntext", "x") == "A b c"
    assert title_of("text", "the-old_mill") == "the old mill"


def folder(path: Path) -> Path:
    (path / "sub").mkdir(parents=True)
    (path / "b.txt").write_text("Bees fly.", encoding="utf-8")
    (path / "a.md").write_bytes("\ufeff# Ants\r\n\r\nAnts walk.".encode())
    (path / "sub" / "c.rst").write_text("Cats nap.", encoding="utf-8")
    (path / "picture.png").write_bytes(b"\x89PNG")
    (path / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    (path / "zero.txt").write_bytes(b"a\x00b")
    (path / "empty.txt").write_text("  \n", encoding="utf-8")
    (path / "large.txt").write_text("x" * 2000, encoding="utf-8")
    return path


def test_a_folder_is_read_in_order_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    root = folder(tmp_path / "texts")
    outside = tmp_path / "secret.txt"
    outside.write_text("Secret.", encoding="utf-8")
    (root / "link.txt").symlink_to(outside)
    seen: list[tuple[int, int | None]] = []
    snippets = Snippets(root, max_bytes=1000, on_progress=lambda done, total: seen.append((done, total)))
    documents = list(snippets.documents())
    assert [(d.source, d.title) for d in documents] == [
        ("a.md", "Ants"), ("b.txt", "b"), ("sub/c.rst", "c"),
    ]  # fmt: skip
    assert snippets.report.problems == {"link": 1, "encoding": 2, "empty": 1, "size": 1}
    assert seen[-1][0] == seen[-1][1]
    assert str(tmp_path) not in "".join(snippets.lines())
    with pytest.raises(LoadError, match="no such folder"):
        Snippets(tmp_path / "none")
    with pytest.raises(ConfigError, match="say nothing"):
        Cutting(10)


def test_as_triples_they_load_and_are_the_same_each_time(tmp_path: Path) -> None:
    root = folder(tmp_path / "texts")
    snippets = Snippets(root, max_bytes=1000)
    once, again = list(snippets.lines()), list(snippets.lines())
    assert once == again and len(once) == snippets.report.triples + 4 * 3
    list(ox.parse("".join(once), ox.RdfFormat.N_TRIPLES))
    (tmp_path / "passages.nt").write_text("".join(once), encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "passages.nt"])
        assert kg.query("ASK { ?p a mrag:Passage ; prov:value ?t . FILTER(STR(?t) = 'Bees fly.') }") is True


def test_another_text_under_the_same_name_is_another_document() -> None:
    one, two = Document("a.txt", "a", "One."), Document("a.txt", "a", "Two.")
    assert one.iri != two.iri and one.digest != two.digest
    assert next(cut(one)).iri != next(cut(two)).iri


def test_many_random_texts_are_cut_in_linear_time() -> None:
    dice = random.Random(1)
    said = " ".join(dice.choice(["word", "end.", "Name", "\n\n"]) for _ in range(60_000))
    assert sum(1 for _ in cut(Document("a", "a", said))) > 100
