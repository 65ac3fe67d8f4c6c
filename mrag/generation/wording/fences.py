"""Marks of code that models put around an answer in words."""

from __future__ import annotations

import re

# In front of a mark may stand quote marks and the bullet of an item. Behind it stands what kind of code it
# is, in one word or in braces, with attributes; a line of other words is a part of what is said.
_BEFORE = r"(?P<before>[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?)"
_NAMED = r"[ \t]++[\w:-]++=(?:\"[^\"`]*+\"|[^\s\"`]++)"
_KIND = rf"[ \t]*+(?P<kind>[\w+#./:-]*+|\{{[^{{}}`]*+\}})(?:{_NAMED})*+[ \t]*+"
_MARK = re.compile(rf"{_BEFORE}(?P<mark>`{{3,}}|~{{3,}}){_KIND}")
_LINE = re.compile(rf"{_BEFORE}(?P<mark>`{{3,}}|~{{3,}})(?P<said>.*\S)")


def without_fences(text: str) -> str:
    r"""Return a text without the marks that open and close code; what stands between them stays as it is.

    A mark that is never closed goes, too. Within code, marks that could not close it are a part of it.

    Example:
        >>> without_fences("```markdown\nOntotext.\n```")
        'Ontotext.'
        >>> without_fences("Run:\n~~~sh\n  cat <<X\n  ```\n  X\n~~~\nThat is it.")
        'Run:\n  cat <<X\n  ```\n  X\nThat is it.'
        >>> without_fences("```Ontotext makes it.```")
        'Ontotext makes it.'
    """
    kept: list[str] = []
    marks: list[str] = []  # those that are open
    first = ""
    for row in text.splitlines(keepends=True):
        line = row.rstrip("\r\n")
        end = row[len(line) :]
        found = _MARK.fullmatch(line)
        if found is None:
            said = _LINE.fullmatch(line) if not marks else None
            kept.append(row if said is None else _bare(said) + end)
            continue
        mark, kind = found["mark"], found["kind"]
        first = first or kind
        if marks and not mark.startswith(marks[-1]):
            kept.append(row)
        elif marks and not kind:
            marks.pop()
        else:
            marks.append(mark)
            if before := found["before"].strip(" \t>"):
                kept.append(before + " ")
    # Of one word between two marks it looks as if it said what kind of code it is.
    return "".join(kept).strip("\r\n") or first


def _bare(line: re.Match[str]) -> str:
    """Return a line that begins with a mark, and may end with it, without it."""
    said = line["said"]
    return line["before"] + (said.removesuffix(line["mark"]) if said.endswith(line["mark"]) else said).strip()
