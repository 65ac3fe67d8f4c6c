"""Checking an answer again, from what it recorded, and receipts of what a check said, with their signatures.

Nothing of the answer is trusted. Every cited triple is looked up, the words of every line are made again
from its triple, every citation is held against the line of its id, every sentence is supported again by the
lines that it cites and that were found, and the text must be what the sentences make. What is not made again
is named as not checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as OneOf

from rdflib import Literal

from mrag import untrusted
from mrag._tables import tables
from mrag.context.render import Context, Line
from mrag.errors import ConfigError, ModelError, MragError, TermError
from mrag.generation.result import (
    FORMAT,
    Answer,
    canonical,
    context_from_json,
    form_of,
    line_from_json,
    line_to_json,
    parse,
    same,
)
from mrag.generation.support.citations import Citer, FactSource, PictureCiter, judge, supports, verdict_of
from mrag.generation.support.sentences import with_ids
from mrag.generation.verbalise import unquote
from mrag.graph.record import status_of
from mrag.rdf.terms import Term, Triple, triple_from_json
from mrag.storage.fields import json_fields, read_fields
from mrag.terminal import inline

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_LISTED = 5
_STRUCK = frozenset(map(chr, [*range(0x334, 0x339), 0x20D2, 0x20D3, 0x20D8, 0x20E0, 0x20E5]))
"""Signs that strike out the letter before them."""
_ALIKE = frozenset(["LATIN", "CYRILLIC", "GREEK"])  # Scripts whose letters look alike


def read_form(value: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
    """Return an answer as answers are written, None if it is not read, and where it is not written so.

    A field that answers do not have, or a value of another type, would stand in it unread.
    """
    try:
        written = Answer.from_json(value).to_json()
        odd = list(dict.fromkeys(differences(_bare(value), written, lenient=True)))
    except (MragError, TypeError, ValueError, AttributeError, KeyError) as error:
        said = error.hint or error.message if isinstance(error, MragError) else str(error)
        return None, [f"it cannot be read back: {said}"]
    more = [f"{len(odd) - _LISTED} more fields are not as answers are written"] if odd[_LISTED:] else []
    wrong = [f"{where or 'the whole'} is not as answers are written" for where in odd[:_LISTED]]
    return (None if wrong else written), [*wrong, *more]


def odd_signs(text: str, known: str) -> bool:
    """Return whether a text has signs that cannot be seen, or that stand for words or other letters."""
    new = {sign for sign in text if ord(sign) > 127} - {*known}
    if any(unicodedata.category(s) in ("Cf", "So", "Co", "Cn") or s in _STRUCK for s in new):
        return True
    words = re.findall(r"[^\W\d_]+", text) if new else []
    scripts = ({unicodedata.name(s, "").partition(" ")[0] for s in word} & _ALIKE for word in words)
    return any(len(some) > 1 for some in scripts)


def differences(one: Any, other: Any, where: str = "", *, lenient: bool = False) -> Iterator[str]:
    """Yield where two JSON values differ, as `context.lines[3].text`.

    Where it is lenient, the first may lack what is empty in the second.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in dict.fromkeys([*one, *other]):
            place = f"{where}.{name}" if where else str(name)
            if name in one and name in other:
                yield from differences(one[name], other[name], place, lenient=lenient)
            elif name in one or not lenient or other[name]:
                yield place
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{at}]", lenient=lenient)
    else:
        try:
            alike = same(one, other)
        except ModelError:
            alike = False
        if not alike:
            yield where


def _bare(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer without what the server adds to it for the page, where that says the same again."""
    lines = [_without_status(line) for line in value["context"]["lines"]]
    labels = {line["id"]: line["labels"] for line in value["context"]["lines"]}
    cited = [
        {k: v for k, v in _without_status(c).items() if k != "labels" or v != labels.get(c["id"])}
        for c in value["citations"]
    ]
    return {**value, "citations": cited, "context": {**value["context"], "lines": lines}}


def _without_status(line: Mapping[str, Any]) -> Mapping[str, Any]:
    graph, said = str(line["graph"]), line.get("status")
    right = said is not None and said == status_of(graph, inferred=line["inferred"] is True)
    return {name: part for name, part in line.items() if not (right and name == "status")}


_LINE_ID = re.compile(r"[A-Za-z]{1,3}[0-9]+")

Names = Callable[[Term], Collection[str]]
Said = Callable[[Sequence[str]], Sequence[str]]


def agrees(citation: Mapping[str, Any], line: Line) -> bool:
    """Return whether a citation says what its line says."""
    try:
        return (
            triple_from_json(citation["triple"]) == line.triple
            and citation["graph"] == line.graph
            and citation["inferred"] is line.inferred
            and citation["text"] == line.text
        )
    except (TermError, KeyError, TypeError):
        return False


def wrong_line(line: Line, labels: Names | None, said: Said | None) -> list[str]:
    """Return in what a line is not what its triple makes."""
    wrong = [] if _LINE_ID.fullmatch(line.id) else ["that is no id of a line"]
    for term, label in zip(line.triple, line.labels, strict=True):
        if isinstance(term, Literal):
            if not _shows(_space_out(term), label):
                wrong.append(f"“{label}” is not the value")
        elif labels is not None:
            names = labels(term)
            if names and _space_out(label) not in {_space_out(name) for name in names}:
                wrong.append(f"“{label}” is not a name of {term}")
    mark = untrusted.mark_of(line.text)
    if mark and mark != status_of(line.graph, inferred=line.inferred) and mark != "completed":
        wrong.append(f"its text is marked {mark}")
    bare = line.text.removesuffix(f" {mark}") if mark else line.text
    others = said(line.named) if said is not None else ()
    parts = (*line.labels, *others)
    whole = untrusted.fact(parts)
    # Lines that were not made here may be written as they stand, and are made fit as a whole.
    ways = (untrusted.show(whole), untrusted.show(f"({', '.join(parts)})"))
    if said is None and line.named:
        right = len(bare.splitlines()) == 1 and any(bare.startswith(way[:-1]) for way in ways)
    else:
        right = bare in ways
    return wrong if right else [*wrong, f"its text is not that of its triple, which is {whole}"]


def _shows(value: str, label: str) -> bool:
    """Return whether a label is a value, in quotation marks or not, and maybe cut as one sees."""
    for shown in (label, unquote(label), label[1:-1] if label[:1] == label[-1:] == '"' else label):
        shown = _space_out(shown)
        if shown == value or (len(shown) > 1 and shown[-1] == "…" and value.startswith(shown[:-1])):
            return True
    return False


def _space_out(text: str) -> str:
    return " ".join(text.split())


State: TypeAlias = OneOf["recomputed", "signed", "not checked"]

SENTENCES = "the sentences"
TRIPLES = "the cited triples"
READING = "that the query is a reading of the question"


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """One part of an answer or of its receipt, and what vouches for it."""

    part: str  # What it is, in words
    state: State  # `recomputed` from the graph or from other parts
    note: str = ""  # By whom it is signed, or why it is not checked


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What is wrong with an answer; nothing, when `ok`."""

    checked: int = 0  # How many cited triples were looked up
    missing: tuple[Line, ...] = ()  # Cited lines whose triples are no longer in their graphs
    unknown: tuple[str, ...] = ()  # Ids that are cited and that no line of the answer's context has
    altered: tuple[str, ...] = ()  # What does not agree with what is recorded or computed now, in words
    unsupported: tuple[str, ...] = ()  # Sentences marked as supported that the cited lines do not support
    parts: tuple[CheckedPart, ...] = ()  # What vouches for each part; the form was read whole
    flagged: tuple[str, ...] = ()  # Sentences that the answer itself marks as not supported, and that are not

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; of what is not checked `parts` tells."""
        return not (self.missing or self.unknown or self.altered or self.unsupported)

    @property
    def complete(self) -> bool:
        """Whether nothing is wrong and every part is recomputed or signed."""
        return self.ok and bool(self.parts) and not self.of("not checked")

    def of(self, state: State) -> tuple[CheckedPart, ...]:
        """Return the parts of one state."""
        return tuple(part for part in self.parts if part.state == state)

    def is_recomputed(self, name: str) -> bool:
        """Return whether a part was recomputed."""
        return any(one.part == name for one in self.of("recomputed"))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return json_fields(self) | {
            "ok": self.ok,
            "complete": self.complete,
            "missing": [line_to_json(line) for line in self.missing],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> VerifyReport:
        """Read what `to_json` wrote.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        with form_of("report of a check"):
            return read_fields(cls, value, missing=tuple(map(line_from_json, value["missing"])))

    def __str__(self) -> str:
        if self.ok:
            rows = [self._headline()]
            rows += [f"Marked as not supported, which is so: {text}" for text in self.flagged]
        else:
            rows = [f"No longer in the graph: [{line.id}] {line.text}" for line in self.missing]
            rows += [f"Cited but not in the context: {one}" for one in self.unknown]
            rows += [f"Altered: {what}" for what in self.altered]
            rows += [f"Not supported by what it cites: {text}" for text in self.unsupported]
        for state in ("not checked", "signed", "recomputed"):
            if said := _tell(self.of(state)):
                rows.append(f"{state.capitalize()}: {said}.")
        return "\n".join(map(inline, rows))

    def _headline(self) -> str:
        if not self.is_recomputed(TRIPLES):
            by = {part.note for part in self.of("signed")}
            signed = f", and it is signed {' and '.join(sorted(by))}" if by else ""
            return f"Nothing in it contradicts the rest{signed}; the graph was not asked."
        many = f"{self.checked} cited {'triple is' if self.checked == 1 else 'triples are'}"
        there = f"{many} in the graph"
        if self.complete:
            return (
                f"Verified: {there}, and every sentence holds{' that is not marked' if self.flagged else ''}."
            )
        follows = ", and what is not marked follows" if self.flagged else ", and the sentences follow"
        return f"Verified in part: {there}{f'{follows} from them' if self.is_recomputed(SENTENCES) else ''}."


def _tell(parts: Iterable[CheckedPart]) -> str:
    """Return parts in words, those of one note together."""
    notes: dict[str, list[str]] = {}
    for part in parts:
        notes.setdefault(part.note, []).append(part.part)
    return "; ".join(", ".join(names) + (f" ({note})" if note else "") for note, names in notes.items())


NAMES = "the words of the lines"
HOW = "how the question was answered"
OTHER_LINES = "the lines that no sentence cites"


@dataclass(frozen=True)
class Recomputed:
    """What answering again gives."""

    parts: tuple[CheckedPart, ...] = ()  # What vouches for the parts that it is about
    altered: tuple[str, ...] = ()  # What of the answer is not what is given now, in words
    sentences: frozenset[str] = frozenset()  # The sentences that are given now, if the answer was computed


def verify(
    answer: Answer | Mapping[str, Any],
    ask: Callable[[Triple, str], bool] | None = None,
    labels: Names | None = None,
    *,
    graphs: Callable[[Line], str] | None = None,
    said: Said | None = None,
    recompute: Callable[[Mapping[str, Any]], Recomputed] | None = None,
    facts: FactSource | None = None,
) -> VerifyReport:
    """Check an answer against the graph as it is now.

    Args:
        answer: The answer, or its JSON form.
        ask: Returns whether a triple is in the named graph of an IRI; without it only what the answer says
            itself is compared.
        labels: Returns every name that the graph has for a term; without it the recorded labels of
            entities are taken as they are.
        graphs: Returns what is wrong with the graph, the layer and the named graphs that a line says it is
            from, "" if nothing is; without it they are taken as they are.
        said: Returns what a line says of the named graphs of its triple.
        recompute: Answers again; without it how the question was read, rows and all else that does not follow
            from the lines are taken as they are.
        facts: What asks the graph about sentences that are marked as not supported.

    Raises:
        ModelError: If it is not the JSON form of an answer at all.
    """
    value = answer.to_json() if isinstance(answer, Answer) else answer
    context, sentences, citations = _parts(value)
    read_back, altered = read_form(value)
    altered += [
        f"words stand between the sentences: {s['before'].strip()[:80]}"
        for s in sentences
        if untrusted.layout(s["before"]) != s["before"]
    ]
    lines: dict[str, Line] = {}
    for line in context.lines:
        if line.id in lines:
            altered.append(f"two lines have the id {line.id}")
        lines[line.id] = line
    cited = list(dict.fromkeys(one for s in sentences for one in s["citations"]))
    recorded = [str(c["id"]) for c in citations]
    unknown = [one for one in dict.fromkeys([*cited, *recorded]) if one not in lines]
    if recorded != cited:
        altered += [f"the list of citations lacks {one}" for one in cited if one not in recorded]
        altered += [f"{one} is listed but no sentence cites it" for one in recorded if one not in cited]
        altered.append("the citations are not in the order of the text, once each")
    for citation in citations:
        one = citation["id"]
        if one in lines and not agrees(citation, lines[one]):
            altered.append(f"the citation {one} is not the line {one}")
    for line in context.lines:
        altered += [f"{line.id}: {what}" for what in wrong_line(line, labels, said)]
    evidence = set(value.get("evidence") or ()) if value.get("way") == "complete" else set[str]()
    there = {one: ask is None or ask(lines[one].triple, lines[one].graph) for one in cited if one in lines}
    read = [one for one, faults_of in there.items() if one in evidence and (ask is None or not faults_of)]
    present = {one for one, faults_of in there.items() if faults_of} | {*read}
    missing = [lines[one] for one in there if one not in present]
    gone = 0
    for line in context.lines:
        if line.id in cited and line.id in present and line.id not in read and graphs is not None:
            altered += [f"{line.id}: {what}" for what in [graphs(line)] if what]
        elif line.id not in cited and line.id not in evidence and graphs is not None:
            gone += bool(graphs(line)) or (ask is not None and not ask(line.triple, line.graph))
    # That nothing is computed is told by computing, too.
    computed = bool(value.get("plan")) or value.get("way") == "plan"
    # What was read is answered again only to vouch for more of it.
    idle = recompute is None or read_back is None or (altered and not computed)
    again = Recomputed() if idle or read_back is None or recompute is None else _again(read_back, recompute)
    altered += again.altered
    if computed:
        unsupported = [s["text"] for s in sentences if recompute and s["text"] not in again.sentences]
    else:
        unsupported = _unsupported_sentences(value, context, sentences, present, altered, facts)
    written = "".join(s["before"] + with_ids(s["text"], s["citations"]) for s in sentences)
    if written != value["text"]:
        altered.append("the text is not what its sentences make")
    if any(untrusted.writes_ids(s["before"] + s["text"]) for s in sentences):
        altered.append("a sentence has the id of a line written into its words")
    asked = "the graph was not asked"
    stands = ask is not None and (recompute is not None or not computed)
    texts = [f"{len(read)} were read in texts, which are not read again"] if read else []
    doubtful = _doubts(value, context, sentences, again)
    parts = [
        part_of(TRIPLES, ask is not None and not read, texts[0] if texts else asked),
        part_of(NAMES, labels is not None, asked),
        part_of(SENTENCES, stands and not (read or doubtful), [*texts, *doubtful, asked][0]),
    ]
    if len(lines) > len(cited):
        others = f"{gone} of them are not so in the graph" if gone else asked
        parts.append(part_of(OTHER_LINES, graphs is not None and not gone, others))
    if idle:
        parts.append(CheckedPart(HOW, "not checked"))
    flagged = tuple(s["text"] for s in sentences if not s["supported"] and not computed)
    faults = (tuple(missing), tuple(unknown), tuple(altered), tuple(unsupported))
    return VerifyReport(len(there), *faults, (*parts, *again.parts), flagged)


def _doubts(
    value: Mapping[str, Any], context: Context, sentences: Sequence[Mapping[str, Any]], again: Recomputed
) -> list[str]:
    """Return why sentences that follow from their lines may still not say what is so."""
    # What is computed answers the question only if it is a reading of it.
    notes = [p.note for p in again.parts if p.part == READING and p.state != "recomputed"]
    known = " ".join((value["question"], *(part for line in context.lines for part in line.labels)))
    odd = any(odd_signs(s["text"], known) for s in sentences)
    return [*notes, *(["they have signs that cannot be seen or that look like others"] if odd else [])]


def part_of(name: str, recomputed: bool, why: str) -> CheckedPart:
    """Return a part that was recomputed, or why it was not checked."""
    return CheckedPart(name, "recomputed") if recomputed else CheckedPart(name, "not checked", why)


def _again(value: Mapping[str, Any], recompute: Callable[[Mapping[str, Any]], Recomputed]) -> Recomputed:
    try:
        return recompute(value)
    except MragError as error:
        return Recomputed(altered=(f"it cannot be answered again: {error}",))


def _parts(value: Mapping[str, Any]) -> tuple[Context, list[dict[str, Any]], Sequence[Mapping[str, Any]]]:
    """Read the parts of an answer in JSON form that are to be checked."""
    with form_of("JSON form of an answer"):
        if value["format"] != FORMAT or value["format"] is True:
            hint = f"Only format {FORMAT} can be checked."
            raise ModelError(f"This answer has format {value['format']!r}.", hint=hint)
        context = context_from_json(value["context"])
        sentences = [
            {
                "text": str(s["text"]),
                "before": str(s["before"]),
                "supported": bool(s["supported"]),
                "citations": [*map(str, s["citations"])],
                "verdict": verdict_of(s),
                **{name: [*map(str, s.get(name, ()))] for name in ("left", "against", "rejected_ids")},
            }
            for s in value["sentences"]
        ]
        if not isinstance(value["text"], str) or not isinstance(value["question"], str):
            raise TypeError("text and question are strings")
        if not all(isinstance(citation["id"], str) for citation in value["citations"]):
            raise TypeError("ids are strings")
        return context, sentences, value["citations"]


def _unsupported_sentences(
    value: Mapping[str, Any],
    context: Context,
    sentences: Sequence[Mapping[str, Any]],
    present: set[str],
    altered: list[str],
    facts: FactSource | None,
) -> list[str]:
    citer = Citer(str(value["question"]), context)
    if value.get("way") == "images":
        with form_of("JSON form of an answer"):
            names = [str(image["name"]) for image in value.get("images") or ()]
        citer = PictureCiter(citer.question, context, names)
    failing = []
    pieces = [(s["before"], s["text"], [x for x in s["citations"] if x in present]) for s in sentences]
    limited = supports(citer, pieces, cited=True)
    for s, (support, before, under) in zip(sentences, limited, strict=True):
        text = s["text"]
        if s["supported"] and (s["left"] or s["against"]):
            altered.append(f"marked as supported, with words or lines held against it: {text[:80]}")
        # Texts of others that were cited say no reason; what was asked without a model rejects nothing.
        if value.get("model") is None and value.get("why") and s["rejected_ids"]:
            altered.append(f"ids are rejected that no model wrote: {text[:80]}")
        if s["supported"] and not support.supported:
            # What is marked as not supported says so itself.
            failing.append(text)
            if not s["citations"]:
                altered.append(f"marked as supported without a citation: {text[:80]}")
        stray = [one for one in s["citations"] if one in present and one not in {x.id for x in support.lines}]
        altered.extend(f"{one} has nothing to do with: {text[:80]}" for one in stray)
        if not s["supported"] or s["verdict"] not in ("read", "graph", "nothing"):
            altered.extend(_misjudge(citer, s, before, under, facts))
    return failing


def _misjudge(
    citer: Citer, sentence: Mapping[str, Any], before: frozenset[Term], under: str, facts: FactSource | None
) -> list[str]:
    """Return what is wrong with the verdict on a sentence that is marked as not supported."""
    text = sentence["text"]
    if sentence["supported"]:
        return [f"marked as supported and as {sentence['verdict']}: {text[:80]}"]
    # Beside all lines it may say less than beside those that it cites.
    again = judge(citer, text, citer.support(text, (), before, under=under), before, facts, under)
    if again.support.supported:
        return [f"marked as not supported, which it is: {text[:80]}"]
    if facts is None or sentence["verdict"] == "unread":
        return []
    against = {line.triple for line in again.against}
    known = {line.id: line.triple for line in citer.context.lines}
    wrong = []
    if sentence["verdict"] != again.verdict:
        wrong.append(f"judged as {sentence['verdict']}, which is {again.verdict}: {text[:80]}")
    elif (*sentence["left"],) != again.support.left or {*map(known.get, sentence["against"])} != against:
        wrong.append(f"other words or lines are held against it than speak against it: {text[:80]}")
    return wrong


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ED25519 = b"\xed\x01"  # What stands before the bytes of an Ed25519 key (multicodec)
_NAME = re.compile(r"[^\W_][\w .@+-]{0,79}\Z")
OWN = "this installation"  # What its own key is called in reports


def base58(data: bytes) -> str:
    """Write bytes in base 58, led by a `z` (multibase)."""
    number, text = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return "z" + "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def unbase58(text: str) -> bytes:
    """Read what `base58` wrote."""
    body = text[1:]
    if text[:1] != "z" or len(text) > 200 or not set(body) <= set(_BASE58):
        raise ModelError("Not base 58 with a leading z.", term=text[:60])
    number = 0
    for sign in body:
        number = number * 58 + _BASE58.index(sign)
    zeros = len(body) - len(body.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def verifies(key: str, signature: bytes, data: bytes) -> bool:
    """Return whether data was signed by the holder of a public key."""
    raw = _raw(key)
    _need()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True)
class SigningKey:
    """The private key of an installation."""

    public: str  # The public key, `z6Mk…`
    _private: Ed25519PrivateKey

    def sign(self, data: bytes) -> bytes:
        """Sign data."""
        return bytes(self._private.sign(data))


class KeyStore:
    """The keys of an installation, in a folder of the user's data."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            from platformdirs import user_data_path

            folder = user_data_path("mrag") / "keys"
        self.folder = folder
        self.file = folder / "signing.pem"
        self._trusted = folder / "trusted.json"

    def create(self) -> SigningKey:
        """Make the key of this installation."""
        _need()
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.generate()
        text = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(text)
        except FileExistsError as error:
            hint = "Show it with `mrag keys show`."
            raise ConfigError("This installation has a key.", file=str(self.file), hint=hint) from error
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self.file)) from error
        return _signing(private)

    def own(self) -> SigningKey | None:
        """Return the key of this installation; None if it has none."""
        if not self.file.exists():
            return None
        _need()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if os.name == "posix" and stat.S_IMODE(self.file.stat().st_mode) & 0o077:
            hint = f"chmod 600 {self.file}"
            raise ConfigError("Others than you may read the private key.", file=str(self.file), hint=hint)
        try:
            private = form.load_pem_private_key(self.file.read_bytes(), None)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise ConfigError(f"The private key cannot be read: {error}.", file=str(self.file)) from error
        if not isinstance(private, Ed25519PrivateKey):
            raise ConfigError("The private key is no Ed25519 key.", file=str(self.file))
        return _signing(private)

    def trusted_keys(self) -> Mapping[str, str]:
        """Return the names of trusted keys by key, this installation's own among them."""
        own = self.own()
        return {**{key: name for name, key in self._read().items()}, **({own.public: OWN} if own else {})}

    def trust(self, name: str, key: str) -> None:
        """Trust another's key under a name."""
        if not _NAME.match(name) or name == OWN:
            raise ConfigError("A key needs a name of letters and digits.", term=name[:80])
        try:
            _raw(key)
        except ModelError as error:
            raise ConfigError(error.message, term=key[:80], hint="Ask for their `mrag keys show`.") from error
        every = self._read()
        if every.get(name, key) != key:
            raise ConfigError("Another key is trusted under this name.", term=name, hint="Forget it first.")
        self._write({**every, name: key})

    def forget(self, name: str) -> None:
        """Trust a key no more."""
        every = self._read()
        if name not in every:
            raise ConfigError("No key is trusted under this name.", term=name)
        self._write({one: key for one, key in every.items() if one != name})

    def _read(self) -> dict[str, str]:
        if not self._trusted.exists():
            return {}
        try:
            keys = parse(self._trusted.read_bytes())
            if not isinstance(keys, dict):
                raise ModelError("It is no object.")
            for key in keys.values():
                _raw(key)
            return keys
        except (OSError, ModelError) as error:
            what = f"The list of trusted keys cannot be read: {error}."
            raise ConfigError(what, file=str(self._trusted)) from error

    def _write(self, every: Mapping[str, str]) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._trusted.with_suffix(".new")
            new.write_text(json.dumps(every, indent=1, sort_keys=True), encoding="utf-8")
            new.replace(self._trusted)
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self._trusted)) from error


def _signing(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(base58(_ED25519 + private.public_key().public_bytes_raw()), private)


def _raw(key: Any) -> bytes:
    data = unbase58(key) if isinstance(key, str) else b""
    if not data.startswith(_ED25519) or len(data) != 34:
        raise ModelError("Not a public Ed25519 key.", term=str(key)[:80], hint="It begins with z6Mk.")
    return bytes(data[2:])


def _need() -> None:
    try:
        import cryptography as _  # noqa: F401
    except ImportError as error:
        hint = "pip install 'mrag[sign]'"
        raise ConfigError("Signatures need the package cryptography.", hint=hint) from error


_CONTEXT: dict[str, Any] = tables("generation/receipt.toml")  # The context of the JSON-LD of receipts
_KIND = "schema:Answer"
_FIELD_NAME = "urn:mrag:receipt:"


@dataclass(frozen=True)
class Receipt:
    """What a receipt says, and what of it is not so."""

    answer: Mapping[str, Any]  # The JSON form of the answer
    report: VerifyReport  # What the check said when it was made
    source: str  # IRI of the knowledge graph
    revision: int  # Number of its state
    at: str  # When it was checked
    key: str = ""  # The public key that signed it; "" if none did
    altered: tuple[str, ...] = ()  # What is not as it was made, in words


def receipt(
    answer: Mapping[str, Any],
    report: VerifyReport,
    *,
    source: str,
    revision: int,
    version: str,
    at: datetime,
    key: SigningKey | None = None,
) -> dict[str, Any]:
    """Return the receipt of an answer that was checked."""
    when = at.isoformat()
    agent = {"@type": "prov:SoftwareAgent", "name": "mrag", "schema:softwareVersion": version}
    association: dict[str, Any] = {"@type": "prov:Association", "prov:agent": agent}
    if answer.get("query"):
        association["prov:hadPlan"] = {
            "@type": ["prov:Plan", "schema:SoftwareSourceCode"],
            "schema:programmingLanguage": "SPARQL",
            "text": answer["query"],
            "schema:description": answer["reading"],
        }

    def called(name: str) -> dict[str, Any]:
        return {
            "@context": _CONTEXT,
            "@id": name,
            "@type": ["prov:Entity", _KIND],
            "text": answer["text"],
            "schema:parentItem": {"@type": "schema:Question", "text": answer["question"]},
            "at": when,
            "prov:wasGeneratedBy": {
                "@type": "prov:Activity",
                "prov:used": {"@id": source, "@type": "prov:Entity", "schema:version": revision},
                "prov:qualifiedAssociation": association,
            },
            "prov:wasDerivedFrom": [_statement(name, citation) for citation in answer["citations"]],
            "schema:review": {
                "@type": ["prov:Entity", "schema:Review"],
                "schema:reviewBody": str(report),
                "at": when,
                "json": report.to_json(),
            },
            "json": dict(answer),
        }

    made = called(_FIELD_NAME + hashlib.sha256(canonical(called(_FIELD_NAME))).hexdigest())
    if key is None:
        return made
    proof = {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-jcs-2022",
        "created": at.isoformat(),
        "verificationMethod": f"did:key:{key.public}#{key.public}",
        "proofPurpose": "assertionMethod",
    }
    return {**made, "proof": {**proof, "proofValue": base58(key.sign(_sign(made, proof)))}}


def open_receipt(value: Mapping[str, Any]) -> Receipt | None:
    """Read a receipt, and make it again from what it says; None of what is no receipt."""
    if "@context" not in value:
        return None
    kinds, answer = value.get("@type"), value.get("json")
    if not isinstance(kinds, list) or _KIND not in kinds or not isinstance(answer, Mapping):
        raise ModelError("Not the receipt of an answer.", hint="Download one from an answer, whole.")
    with form_of("receipt of an answer"):
        activity = value["prov:wasGeneratedBy"]
        used, agent = activity["prov:used"], activity["prov:qualifiedAssociation"]["prov:agent"]
        source, revision, version = used["@id"], used["schema:version"], agent["schema:softwareVersion"]
        at = datetime.fromisoformat(value["at"])
        report = VerifyReport.from_json(value["schema:review"]["json"])
        again = receipt(answer, report, source=source, revision=revision, version=version, at=at)
        if not isinstance(revision, int) or not all(isinstance(one, str) for one in (source, value["at"])):
            raise TypeError("the graph, its state and the time")
    bare = {name: part for name, part in value.items() if name != "proof"}
    wrong = list(dict.fromkeys(where.partition("[")[0] for where in differences(bare, again)))
    altered = [f"the receipt is not as it was made: {', '.join(wrong[:5])}"] if wrong else []
    key = ""
    if "proof" in value:
        key, ill = _signer(bare, value["proof"])
        altered += ill
    return Receipt(answer, report, source, revision, value["at"], key, tuple(altered))


def _sign(bare: Mapping[str, Any], proof: Mapping[str, Any]) -> bytes:
    """Return what a proof signs: the hashes of how it is signed and of what is."""
    how = canonical({"@context": bare["@context"], **proof})
    return hashlib.sha256(how).digest() + hashlib.sha256(canonical(bare)).digest()


def _signer(bare: Mapping[str, Any], proof: Any) -> tuple[str, list[str]]:
    """Return the key that signed a receipt, and what is wrong with the signature."""
    wrong = ["its signature is not that of all that it says"]
    if not isinstance(proof, Mapping) or proof.get("cryptosuite") != "eddsa-jcs-2022":
        return "", wrong
    how = {name: part for name, part in proof.items() if name != "proofValue"}
    key = str(proof.get("verificationMethod", "")).removeprefix("did:key:").partition("#")[0]
    known = {"type", "cryptosuite", "created", "verificationMethod", "proofPurpose"}
    if {*how} != known or how["created"] != bare["at"] or how["proofPurpose"] != "assertionMethod":
        return "", wrong
    try:
        right = how["verificationMethod"] == f"did:key:{key}#{key}"
        if right and verifies(key, unbase58(str(proof.get("proofValue"))), _sign(bare, how)):
            return key, []
    except ModelError:
        pass
    return "", wrong


def _statement(receipt: str, citation: Mapping[str, Any]) -> dict[str, Any]:
    s, p, o = (citation["triple"][place] for place in "spo")
    return {
        "@id": f"{receipt}#{citation['id']}",
        "@type": ["rdf:Statement", "prov:Entity"],
        "rdf:subject": _term(s),
        "rdf:predicate": _term(p),
        "rdf:object": _term(o),
        "text": citation["text"],
        "schema:isPartOf": {"@id": citation["graph"]},
        "schema:additionalType": "inferred" if citation["inferred"] else "asserted",
    }


def _term(term: Mapping[str, str]) -> dict[str, str]:
    if term["type"] == "uri":
        return {"@id": term["value"]}
    if "xml:lang" in term:
        return {"@value": term["value"], "@language": term["xml:lang"]}
    kind = {"@type": term["datatype"]} if "datatype" in term else {}
    return {"@value": term["value"], **kind}


ENVELOPE = "the time, the state of the graph and the version of the check"
THEN = "what the check said then"


def with_receipt(
    report: VerifyReport, receipt: Receipt, trusted: Callable[[], Mapping[str, str]], source: str = ""
) -> VerifyReport:
    """Return the report of an answer with what its receipt adds.

    A signature of a trusted key vouches for what the receipt says of the check, and for those parts of the
    answer that were recomputed then. Nothing else does: whoever changes a receipt can make its hash anew.
    """
    altered = [*receipt.altered]
    if source and receipt.source != source:
        altered.append(f"it is of the graph {receipt.source}, not of {source}")
    name = trusted().get(receipt.key, "") if receipt.key else ""
    by = f"by {name}, {receipt.key}" if name else ""
    then = receipt.report
    if not by and not source:
        why = f"signed by a key that is not trusted, {receipt.key}" if receipt.key else "not signed"
        altered.append(f"it is {why}, so nothing of it can be checked without the graph")
    if not source and not then.ok:
        altered.append(f"it did not hold when it was checked: {str(then).splitlines()[0]}")
    vouched = {p.part for p in then.of("recomputed")} if by and then.ok else set()
    parts = [
        CheckedPart(p.part, "signed", by) if p.state == "not checked" and p.part in vouched else p
        for p in report.parts
    ]
    if not source:
        parts = [p for p in parts if p.part != HOW]
        known = {p.part for p in parts}
        parts += [
            CheckedPart(p.part, "signed", by) if p.part in vouched else replace(p, state="not checked")
            for p in then.parts
            if p.part not in known
        ]
    if by:
        parts += [CheckedPart(ENVELOPE, "signed", by), CheckedPart(THEN, "signed", by)]
    else:
        why = f"signed by {receipt.key}, which is not trusted" if receipt.key else "not signed"
        parts += [CheckedPart(ENVELOPE, "not checked", why), CheckedPart(THEN, "not checked", why)]
    checked = report.checked if source else then.checked
    return replace(report, checked=checked, altered=(*report.altered, *altered), parts=tuple(parts))


def check_alone(value: Mapping[str, Any], keys: KeyStore | None = None) -> VerifyReport:
    """Check a receipt without the graph: whether it contradicts itself, and whose signature it has."""
    receipt = open_receipt(value)
    if receipt is None:
        hint = "Make one with `mrag verify answer.json --receipt OUT`."
        raise ModelError("Without the graph only a receipt can be checked.", hint=hint)
    return with_receipt(verify(receipt.answer), receipt, lambda: (keys or KeyStore()).trusted_keys())
