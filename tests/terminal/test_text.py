"""Text for a terminal: what is shown, what is isolated, what stays, and that data keeps its value."""

import io
import json
import sys
import unicodedata

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.terminal import Guarded, escaped, guarded, inline, protocol, visible, write_data
from tests.cases import cases
from tests.terminal.hostile import DRAWN, TEXT, faults

ANY = st.text(st.characters(exclude_categories=()))
"""Any text, lone surrogates too."""
NASTY = st.text(
    st.sampled_from("a5 -,.|\t\n\x1b\x07\x9b\u05d0\u0627\u0660\u202e\u2066\u2068\u2069\u200d\u200e\ud800")
)


def test_every_control_and_format_character_is_shown() -> None:
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    hidden = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in kinds]
    raw = {ord(c) for c in hidden if c in visible(f"a{c}b")}
    assert raw == {0x09, 0x0A} | DRAWN


@given(ANY | NASTY)
def test_nothing_raw_is_left_and_once_is_enough(text: str) -> None:
    once = visible(text)
    assert not [f for f in faults(once.encode(), tty=False) if f != "a forged line"]
    assert visible(once) == once
    assert "\n" not in inline(text)


@given(ANY | NASTY)
def test_json_keeps_its_value(text: str) -> None:
    written = escaped(json.dumps([text], ensure_ascii=False), json=True)
    assert json.loads(written) == [text]
    assert not faults(written.encode(), tty=False, isolated=False)


@given(st.text() | NASTY.map(lambda t: t.replace("\ud800", "")))
def test_ntriples_keep_their_value(text: str) -> None:
    line = escaped(f"<urn:a> <urn:p> {ox.Literal(text)} .")
    (quad,) = ox.parse(line, ox.RdfFormat.N_TRIPLES)
    assert isinstance(quad.object, ox.Literal) and quad.object.value == text
    assert not faults(line.encode(), tty=False, isolated=False)


@pytest.mark.parametrize(
    "text", ["Ångström – “naïve” 東京 ½ 😀 👩‍💻 ❤️ 🏳️‍🌈", "क्‍ष नेपाल് മലയാളം", "e\u0301 \u00a0 tab\there"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "shown"), cases(__file__, "texts_from_right_to_left_stand_each_by_itself"))
def test_texts_from_right_to_left_stand_each_by_itself(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_joiners_stay_where_they_join_and_hide_nothing_elsewhere() -> None:
    assert visible("pay\u200dpal") == "pay\\u200dpal"
    assert visible("नि\u200d\u200dक") == "नि\\u200d\\u200dक"
    assert visible("क\u200d") == "क\\u200d"


def test_a_guard_guards_whatever_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with guarded(), guarded():
        print(TEXT)  # noqa: T201
        sys.stdout.writelines([TEXT, "\n"])
        sys.stderr.write(TEXT)
        with pytest.raises(AttributeError):
            sys.stdout.buffer  # noqa: B018
        write_data("שלום \x1b\n")
        with protocol():
            assert sys.stdout is out
    assert sys.stdout is out and sys.stderr is err
    assert out.getvalue() == f"{visible(TEXT)}\n" * 2 + "שלום ␛\n"
    assert err.getvalue() == visible(TEXT)


def test_what_an_encoding_lacks_is_written_as_escapes() -> None:
    raw = io.BytesIO()
    stream = Guarded(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    stream.write("naïve → \x1b 東")
    assert raw.getvalue() == b"na\\xefve \\u2192 \\u241b \\u6771"
