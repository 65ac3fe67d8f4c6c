"""Cutting a model's answer into sentences without losing a character of its layout."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mrag.language.tokens import sentence_spans, tokens

_ITEM = re.compile(r"\s*(?:(?:[-*•–+]|\d{1,3}[.)]|#{1,6}|>)\s+)+")
_IDS = r"\[\s{0,2}[A-Za-z]{1,3}\d{1,9}(?:\s{0,2}(?:,|;|and)?\s{0,2}[A-Za-z]{1,3}\d{1,9})*+\s{0,2}\]"
_LATE_IDS = re.compile(rf"(?<![.!?…。！？])([.!?…。！？]++)([ \t]*+(?:{_IDS}[ \t]*+)++)")
_WRITTEN = re.compile(rf"(?<![ \t])[ \t]*+{_IDS}")
# Of some models the prompt opens the thought, so that only its end is written.
_THOUGHT = re.compile(r"\A(?:\s*<think>.*?(?:</think>|\Z)|(?:(?!<think>).)*</think>)", re.DOTALL)


def without_thoughts(text: str) -> str:
    """Return a text without the reasoning that some models write before their answer."""
    return _THOUGHT.sub("", text).strip()


class ThoughtFilter:
    """Filter for streams: leaves out the reasoning that a model writes before its answer."""

    def __init__(self) -> None:
        self._held: str | None = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what may be shown by now."""
        if self._held is None:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if start.startswith("<think>"):
            _, end, rest = start.partition("</think>")
            if not end:
                return ""
            start = rest.lstrip()
            self._held = start or ""
            if not start:
                return ""
        elif "<think>".startswith(start):
            return ""
        self._held = None
        return start


def take_ids(sentence: str) -> tuple[str, tuple[str, ...]]:
    """Take the ids of lines that a model wrote in square brackets out of a sentence."""
    ids = [
        id.casefold()
        for brackets in _WRITTEN.findall(sentence)
        for id in re.findall(r"[A-Za-z]{1,3}\d+", brackets)
    ]
    return _WRITTEN.sub("", sentence).strip(), tuple(dict.fromkeys(ids))


def split(text: str, protected: Sequence[str] = ()) -> list[tuple[str, str]]:
    r"""Cut a text into sentences, each with what stands between it and the one before.

    Lines end a sentence; bullets, numbers and quote marks of a list belong to what stands before. Parts
    that hold no word, such as a rule or a fence, are kept in what stands before the next sentence.
    """
    text = _LATE_IDS.sub(lambda m: " " + m[2].strip() + m[1] + (" " if m[2][-1:].isspace() else ""), text)
    parts: list[tuple[str, str]] = []
    before = ""
    for row in text.splitlines(keepends=True):
        item = _ITEM.match(row)
        start = item.end() if item else len(row) - len(row.lstrip())
        before += row[:start]
        body = row[start:].rstrip()
        at = 0
        for first, last in sentence_spans(body, names=protected):
            before += body[at:first]
            sentence, at = body[first:last], last
            if tokens(sentence):
                parts.append((before, sentence))
                before = ""
            else:
                before += sentence
        before += row[start + len(body) :]
    return parts


def with_ids(sentence: str, ids: Sequence[str]) -> str:
    """Return a sentence with ids behind it, before its full stop."""
    if not ids:
        return sentence
    marks = "".join(f"[{one}]" for one in ids)
    end = re.search(r"(?<![.!?…:;,。！？])[.!?…:;,。！？]++\Z", sentence)
    if end is None or end.start() == 0:
        return f"{sentence} {marks}"
    return f"{sentence[: end.start()]} {marks}{end.group()}"


def items_after(pieces: list[tuple[str, str]]) -> list[int]:
    r"""Count, for each sentence that leads in to a list, the items of the list."""
    counts = [0] * len(pieces)
    running = 0
    for i in range(len(pieces) - 1, -1, -1):
        counts[i] = running if pieces[i][1].endswith(":") else 0
        running = running + 1 if "\n" in pieces[i][0] or pieces[i][0].lstrip()[:1] in "-*•" else running
        running = 0 if pieces[i][1].endswith(":") else running
    return counts


def leads_of(pieces: list[tuple[str, str]]) -> list[str]:
    r"""Return, for each sentence that is an item of a list, the sentence that leads in to the list."""
    leads: list[str] = []
    lead = ""
    for before, sentence in pieces:
        item = "\n" in before and bool(_ITEM.match(before.rsplit("\n", 1)[-1] + " "))
        leads.append(lead if item else "")
        lead = sentence if sentence.endswith(":") else lead if item else ""
    return leads
