"""Every regular expression of the package, and the texts that would make one of them slow.

`python -m tests.pumping` prints those whose time grows faster than the text.
"""

import ast
import builtins
import importlib
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import mrag
from mrag._patterns import LatePattern
from mrag.retrieval.routing import MAX_COMPUTED

ROOT = Path(mrag.__file__).parent
_FUNCTIONS = frozenset({"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
_ALPHABET = " a0A_-.,;:'\"/\\()[]{}<>=#@%&*+?!|~^$`\n\té\u00a0’…\u3000"
_SLOW = 0.004
"""Seconds that a linear expression does not take for the larger size: a microsecond for each character."""
_ALLOWED = 0.1  # Seconds that an expression of the planner may take for the longest question
QUESTIONS = ("mrag/planning/", "mrag/retrieval/", "mrag/generation/support/citations.py")
_GROWTH = 8.0  # Between the growth of linear time, which is 4, and of quadratic time, which is 16


class _Anything(dict[str, Any]):
    """The names of a module; what only a call knows is a word."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return "word"


def modules() -> Iterator[tuple[Path, ModuleType | None]]:
    """Yield each file of the package with its module; None where what it needs is not installed."""
    for file in _files(ROOT):
        if file.name == "__main__.py":
            continue
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        try:
            yield file, importlib.import_module(name)
        except ImportError:
            yield file, None


def _files(folder: Path) -> Iterator[Path]:
    # Some folders of the package are links.
    for one in sorted(folder.iterdir()):
        if one.is_dir():
            yield from _files(one)
        elif one.suffix == ".py":
            yield one


@dataclass(frozen=True)
class Expression:
    """A regular expression, its place and what is done with it: all there is where that cannot be seen."""

    pattern: str
    flags: int
    methods: frozenset[str]
    place: str


@cache
def expressions() -> list[Expression]:
    """Return every regular expression of the package: those of modules, and those that calls compile."""
    files = [(file, module, ast.parse(file.read_text("utf-8"))) for file, module in modules()]
    shared = _uses([tree for _, _, tree in files])
    found: dict[tuple[str, int], Expression] = {}

    def add(pattern: str, flags: int, methods: set[str], place: str) -> None:
        before = found.get((pattern, flags))
        known = frozenset(methods) & _FUNCTIONS or _FUNCTIONS
        found[pattern, flags] = Expression(
            pattern, flags, known | (before.methods if before else known), before.place if before else place
        )

    for file, module, tree in files:
        where = str(file.relative_to(ROOT.parent))
        own, uses_of_keys = _uses([tree]), _uses_of_keys(tree)
        for name, value in vars(module).items() if module is not None else ():
            uses = (own if name.startswith("_") else shared).get(name, {""})
            if isinstance(value, dict) and "" not in own.get(name, set()):  # each is asked for by its key
                for key, one in value.items():
                    # Another module may ask for it by the same key.
                    if (
                        isinstance(one, re.Pattern | LatePattern)
                        and isinstance(one.pattern, str)
                        and key in uses_of_keys
                    ):
                        add(one.pattern, one.flags, uses_of_keys[key], f"{where}: {name}[{key}]")
                continue
            alone = isinstance(value, re.Pattern | LatePattern) and "" not in uses
            for one in _held(value, 3):
                if isinstance(one.pattern, str):
                    add(one.pattern, one.flags, uses if alone else set(), f"{where}: {name}")
        at_import = {
            id(node)
            for top in tree.body
            if isinstance(top, ast.Assign | ast.AnnAssign)
            for node in ast.walk(top)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in ("re", "regex")
                and node.func.attr in {*_FUNCTIONS, "compile"}
                and node.args
                and not (module is not None and id(node) in at_import)
            ):
                text = _evaluated(node.args[0], module)
                if not isinstance(text, str):
                    continue
                given = [_evaluated(k.value, module) for k in node.keywords if k.arg == "flags"]
                if node.func.attr in ("compile", "match", "search", "fullmatch", "findall", "finditer"):
                    place_of_flags = 1 if node.func.attr == "compile" else 2
                    given += [_evaluated(a, module) for a in node.args[place_of_flags : place_of_flags + 1]]
                flags = next((int(one) for one in given if isinstance(one, int)), 0)
                try:
                    flags = re.compile(text, flags).flags
                except re.error:
                    continue
                methods = {node.func.attr} if node.func.attr != "compile" else set()
                add(text, flags, methods, f"{where}:{node.lineno}")
    return list(found.values())


def _uses(trees: Sequence[ast.Module]) -> dict[str, set[str]]:
    """Return which attributes of each name are used; with an empty one where it is passed on."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        asked = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                found.setdefault(name, set()).add(node.attr)
                asked.add(id(node.value))
        for node in ast.walk(tree):
            # Where it is passed on, anything may be done with it.
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                asked.add(id(node.value))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in asked:
                found.setdefault(node.id, set()).add("")
    return found


def _uses_of_keys(tree: ast.Module) -> dict[str, set[str]]:
    """Return which attributes of what stands in a table are used, by its key."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Subscript):
            key = node.value.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                found.setdefault(key.value, set()).add(node.attr)
    return found


def _held(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, LatePattern):
        value = re.compile(value.pattern, value.flags)
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for one in [*value.keys(), *value.values()]:
            yield from _held(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _held(one, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from _held(getattr(value, name, None), depth - 1)


def _evaluated(node: ast.expr, module: ModuleType | None) -> Any:
    code: CodeType = compile(ast.Expression(node), "<pattern>", "eval")
    try:
        return eval(code, _Anything(vars(module) if module is not None else {"re": re}))
    except Exception:
        return None


def _sample(items: Any, flags: int) -> str:
    """Return a short text that a part of an expression matches, about."""
    return "".join(_samples(op, value, flags)[0] for op, value in items)


def _samples(op: Any, value: Any, flags: int) -> list[str]:
    """Return some short texts that one node matches."""
    if op is codes.LITERAL:
        return [chr(value)]
    if op in (codes.ANY, codes.NOT_LITERAL, codes.IN):
        node = parser.SubPattern(parser.State(), [(op, value)])
        one = _compiled(node, flags)
        fits = [c for c in _ALPHABET if one(c)]
        if not fits and op is codes.IN:
            fits = [
                chr(v if kind is codes.LITERAL else v[0])
                for kind, v in value
                if kind in (codes.LITERAL, codes.RANGE)
            ]
        return (fits[:1] + fits[-1:] + fits[1:2]) if fits else ["a"]
    if op is codes.BRANCH:
        return [_sample(branch, flags) for branch in value[1]] or [""]
    if op is codes.SUBPATTERN:
        return [_sample(value[3], flags)]
    if op is codes.ATOMIC_GROUP:
        return [_sample(value, flags)]
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, _, body = value
        return [_sample(body, flags) * low if low < 50 else ""]
    return [""]


def _compiled(node: Any, flags: int) -> Callable[[str], Any]:
    import re._compiler as compiler  # type: ignore[import-not-found]

    node.state.flags = flags & ~re.DEBUG
    return compiler.compile(node, flags & ~re.DEBUG).fullmatch  # type: ignore[no-any-return]


def attacks(pattern: str, flags: int) -> list[tuple[str, str, str]]:
    """Return what may be slow for an expression: what comes before, what is repeated, what comes behind."""
    try:
        tree = parser.parse(pattern, flags & ~re.UNICODE | (flags & re.UNICODE))
    except re.error:
        return []
    found: dict[tuple[str, str, str], None] = {}

    def add(before: str, pump: str) -> None:
        if not pump:
            return
        found[before, pump, ""] = found[before, pump, "\x00"] = None
        found["", before + pump, ""] = None

    def walk(items: Any, before: str) -> None:
        for at, (op, value) in enumerate(items):
            if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                _, high, body = value
                if high > 30:
                    pumps = {_sample(body, flags)}
                    if len(body) == 1:
                        pumps.update(_samples(body[0][0], body[0][1], flags))
                        inner = body[0]
                        if inner[0] is codes.SUBPATTERN:
                            for o, v in inner[1][3]:
                                pumps.update(_samples(o, v, flags))
                    # What this and the next node both match is what is tried in two ways.
                    for o, v in items[at + 1 : at + 3]:
                        pumps.update(_samples(o, v, flags))
                    for pump in sorted(pumps):
                        add(before, pump)
                walk(body, before)
            elif op is codes.BRANCH:
                for branch in value[1]:
                    walk(branch, before)
            elif op is codes.SUBPATTERN:
                walk(value[3], before)
            elif op is codes.ATOMIC_GROUP:
                walk(value, before)
            elif op in (codes.ASSERT, codes.ASSERT_NOT):
                walk(value[1], before)
            if op is not codes.ASSERT_NOT:
                before += _samples(op, value, flags)[0]

    walk(tree, "")
    whole = _sample(tree, flags)
    for pump in (" ", "a", "0", "a ", "\n", "A a ", "- ", ", ", "a, ", "(", whole, whole[:-1], whole + " "):
        if pump:
            found["", pump, ""] = None
            found["", pump, "\x00"] = None
    return list(found)


def _seconds(run: Callable[[str], Any], text: str, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.thread_time()
        run(text)
        best = min(best, time.thread_time() - began)
        if best < _SLOW:
            break
    return best


def _pumped(before: str, pump: str, after: str, folded: bool, size: int) -> str:
    made = before + pump * max(1, size // len(pump)) + after
    return " ".join(made.split()) if folded else made


def slowness(one: Expression, longest: int = 4_000, folded: bool = False) -> tuple[float, float, str] | None:
    """Return how an expression is slow, or None if its time grows as the text does.

    That is by how much the longest text that was tried takes longer than a quarter of it, its seconds, and
    the text. `folded` says that white space has been folded into single blanks before it sees a text.
    """
    compiled = re.compile(one.pattern, one.flags)

    def everywhere(text: str) -> None:
        for _ in compiled.finditer(text):
            pass

    runs: list[Callable[[str], Any]] = []
    if one.methods - {"match", "fullmatch"}:
        runs.append(everywhere)
    elif "match" in one.methods:
        runs.append(compiled.match)
    if "fullmatch" in one.methods:
        runs.append(compiled.fullmatch)
    worst: tuple[float, float, str] | None = None
    for before, pump, after in attacks(one.pattern, one.flags):
        for run in runs:
            size = 16

            text = partial(_pumped, before, pump, after, folded)

            while size < longest and _seconds(run, text(size), 1) < _SLOW:
                # Exponential time shows early, and would not end later.
                size = size + 4 if size < 40 else size * 2
            size = min(size, longest)
            seconds = _seconds(run, text(size), 3)
            if seconds < _SLOW:
                continue
            growth = seconds / max(_seconds(run, text(size // 4), 5), 1e-7)
            if growth > _GROWTH and (worst is None or seconds > worst[1]):
                worst = growth, seconds * (longest / size) ** 2, repr((before, pump, after))
                if seconds > 0.05:
                    return worst
    return worst


def slow_ones(room: str = "") -> list[str]:
    """Return the expressions below a folder that are too slow, each with a text that shows it.

    What the planner reads is a question: it has at most `MAX_COMPUTED` characters and single blanks, so that
    of expressions there only their time for such a text counts.
    """
    found = []
    for one in expressions():
        if not one.place.startswith(room):
            continue
        planner = one.place.startswith(QUESTIONS)
        slow = slowness(one, MAX_COMPUTED if planner else 4_000, planner)
        if slow is not None and (not planner or slow[1] > _ALLOWED):
            found.append(f"{one.place}: {slow[1]:.3f} s for {slow[2]}, {slow[0]:.0f} times a quarter of it")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(slow_ones()) + "\n")
