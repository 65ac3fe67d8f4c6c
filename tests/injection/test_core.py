"""The one function for text of others: what it promises of any text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mrag import untrusted
from tests.injection.hostile import ID_FORMS, KINDS, ids_in, signs_in, tries, wrong_in

PIECES = st.sampled_from([piece for pieces in KINDS.values() for piece in pieces])
TEXTS = st.lists(
    st.one_of(PIECES, st.text(max_size=6), st.text("[]<>()|/\\t1 \u200b#{}", max_size=8)), max_size=6
)
HOSTILE = TEXTS.map("".join)
many = settings(max_examples=tries(200), deadline=None)


@many
@given(HOSTILE)
@example("\\".join(ID_FORMS))
@example("[" + "\u200b" * 3 + "t1]")
@example("[[t1]]<<<|x")
def test_one_line_is_one_line(text: str) -> None:
    made = untrusted.one_line(text)
    assert len(made.splitlines()) <= 1
    assert not ids_in(made) and not signs_in(made)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in made)
    assert untrusted.one_line(made) == made
    made.encode()


@many
@given(HOSTILE)
def test_lines_keep_line_feeds_alone(text: str) -> None:
    made = untrusted.lines(text)
    assert untrusted.lines(made) == made
    assert not signs_in(made)
    assert not set("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029") & set(made)


@settings(many, max_examples=tries(50))
@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=5), st.data())
def test_a_block_is_read_back_exactly(labels: list[tuple[str, str, str]], data: st.DataObject) -> None:
    marks = [data.draw(st.sampled_from(["", "inferred", "enriched", "completed"])) for _ in labels]
    texts = [untrusted.fact(parts) for parts in labels]
    shown = [
        untrusted.line(f"t{n}", text, mark) for n, (text, mark) in enumerate(zip(texts, marks, strict=True))
    ]
    block = "\n".join(shown)
    assert untrusted.block(block) == block
    assert wrong_in(block, [f"t{n}" for n in range(len(labels))]) is None
    for row, text, mark in zip(block.split("\n"), texts, marks, strict=True):
        read = re.fullmatch(r"\[t\d+\] (\(.*\))(?: (\w+))?", row)
        assert read is not None and (read[1], read[2] or "") == (text, mark)


@many
@given(HOSTILE)
def test_sentences_write_no_ids(text: str) -> None:
    made = untrusted.without_ids(text)
    assert not ids_in(made) and not untrusted.writes_ids(made)
    assert untrusted.without_ids(made) == made


@many
@given(
    st.text(
        st.characters(
            categories=["L", "N", "Zs", "P"], exclude_characters="[]()<>#【】〔〕「」『』［］（）＜＞⁅⁆"
        ),
        max_size=60,
    )
)
def test_plain_text_is_unchanged(text: str) -> None:
    plain = " ".join(text.split())
    if not re.search(untrusted._HIDDEN, plain):
        assert untrusted.one_line(plain) == plain
        assert untrusted.without_ids(plain) == plain


def test_ordinary_labels_are_unchanged() -> None:
    for text in (
        *("GraphDB (software)", "C++ [sic]", "x < 3 and y <= 4", "50 > 3", "[CO2 emissions]", "f{x}", "#1"),
        *(
            "<http://example.org/a>",
            "<urn:x:a>",
            "[p some (A and B)]",
            "a [b] c",
            "Road (built) completed 1990",
        ),
        *("“Café” – 東京", "می\u200cخواهم", "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f468"),
    ):
        assert untrusted.one_line(text) == text


def test_long_texts_take_no_long() -> None:
    for piece in ("[", "<", "(", "[t", "[\u200b", "<\u200b", "< ", ") ", "[t1\u200b", "#", ">"):
        assert untrusted.one_line(piece * 50_000)
