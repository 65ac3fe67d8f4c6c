"""Text that attacks a terminal, a graph and files full of it, and what may not come out raw."""

import re
import unicodedata
from collections.abc import Iterator

# A title and a bell, a colour that we never use, C1, backspace, a return that overwrites the line, a newline
# that forges one, bidi controls, separators, zero-width and tag characters, a surrogate as file names give,
# markup and names of emoji of rich, a field of a format string, and Hebrew that must stay readable.
STEERING = (
    "\x1b]0;PWN\x07\x1b[5;41mX\x9b31m\x85\x7f\x08\rFORGED\u202eabc\u2066\u200f\u061c\u2028\u200b\U000e0041"
)
TEXT = f"Evil{STEERING}[red]z[/red] :bomb: {{task.fields}} \u05e9\u05dc\u05d5\u05dd end"
NAME = f"f{STEERING}\nFORGED[red]{{task.total}}\u05e9\u05dc\u05d5\u05dd\udcff"
"""A name of a file; the surrogate stands for a byte that is no UTF-8."""

# What rich sends to a terminal of its own: styles, cursor, erasing; and the blink and ground of `STEERING`,
# which it never does.
_OURS = re.compile(r"\x1b\[(?:(?!5;41m)[0-9;]*m|\?25[hl]|[0-9]*[AKG])")
_FORGED = re.compile(r"(?:^|[\r\n])FORGED")
_ISOLATE = re.compile("\u2068[^\u2066-\u2069]*\u2069")
_HEBREW = re.compile(r"[\u0590-\u05ff]")
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Signs of Arabic, Syriac and Kaithi that are drawn, though Unicode counts them as format characters."""


def escapes(text: str) -> str:
    """Write a text as the inside of a literal of Turtle."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08X}" for c in text)


def turtle() -> str:
    """Write a small graph in which every label, comment and some IRIs are hostile, with things to infer."""
    text = escapes(TEXT)
    wide = escapes("\u202e\u200f")
    lines = [
        "@prefix : <urn:x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix e: <http://example.org/> .",
        f':Thing a owl:Class ; rdfs:label "Thing {text}" .',
        f':Gadget a owl:Class ; rdfs:subClassOf :Thing ; rdfs:label "Gadget {text}" .',
        f':made a owl:ObjectProperty ; rdfs:label "made by {text}" ; rdfs:range :Thing .',
        f':maker rdfs:label "Maker {text}" .',
        f'<urn:x:odd{wide}> a :Gadget ; rdfs:label "Odd {text}" .',
    ]
    for number in range(1, 5):
        lines.append(
            f':a{number} a :Gadget ; rdfs:label "Gizmo {number} {text}" ; :made :maker ;\n'
            f'  rdfs:comment "Long\\nFORGED {text}" .'
        )
        lines.append(f':c{number} a :Other ; rdfs:label "Other {number} {text}" .')
    lines.append(
        ':bornIn rdfs:label "born in" . :ada rdfs:label "Ada Hill" ; :bornIn :lund .\n'
        ':lund rdfs:label "Lund" .\n'
        ':bob rdfs:label "Bob Stone" . :visby rdfs:label "Visby" . :eve rdfs:label "Eve" ; :bornIn :visby .'
    )
    lines.append(
        f':image_1 a e:Image ; e:hasFileName "red.png" ; e:hasDescription "Contains coat {text}" ;\n'
        f'  rdfs:label "picture {text}" .'
    )
    return "\n".join(lines)


def faults(raw: bytes, *, tty: bool, isolated: bool = True) -> list[str]:
    """Return what in printed bytes could steer a terminal.

    On a terminal our own styles are; Hebrew must stand in isolates, as in all but data.
    """
    text = raw.decode("utf-8", "surrogateescape")
    if tty:
        text = _OURS.sub("", text)
        text = text.replace("\r\n", "\n")
    return sorted(set(_found(text, tty, isolated)))


def _found(text: str, tty: bool, isolated: bool) -> Iterator[str]:
    if _FORGED.search(text):
        yield "a forged line"
    if "\U0001f4a3" in text:
        yield "a name of an emoji was replaced"
    rest = _ISOLATE.sub("", text)
    if isolated and _HEBREW.search(rest):
        yield "Hebrew outside an isolate"
    for character in rest:
        kind = unicodedata.category(character)
        if character in "\n\t" or (tty and character == "\r"):  # rich returns to the start of its bars
            continue
        if kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(character) not in DRAWN:
            yield f"U+{ord(character):04X}"
