"""Learning problems: in files, drawn from a graph, and published ones, run by any learner.

Files are JSON, folders of `pos.txt` and `neg.txt`, and configurations of DL-Learner in the three forms that
its versions had (`conf.jj` of 1.5 and before 1.0): components, signed examples, and statements as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from mrag.cel.evaluate import hierarchy
from mrag.cel.expressions import Named, Top
from mrag.cel.learners.base import Learner, LearnerSettings, learner
from mrag.cel.notation import to_dl
from mrag.cel.problem import ExampleCounts, LearningProblem, instances, instances_among, quality
from mrag.errors import ConfigError, LearningProblemError, LoadError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.ontologies import NAMESPACE, KnowledgeBase, SourceTokens, Token, internal_iri
from mrag.rdf import queries
from mrag.rdf.namespaces import OWL
from mrag.reasoning.run import reason
from mrag.storage.files import Scratch, saved_text
from mrag.stores.oxigraph import OxigraphStore

_FEWEST = 20  # so many negative examples are drawn at least, where there are as many individuals


def sampled_negatives(kg: KnowledgeGraph, positives: Iterable[str], *, seed: int = 0) -> list[str]:
    """Return individuals drawn from those that are no positive examples, as many as these, but at least 20.

    They are no more than individuals of which nothing is said, so that some may be what is looked for.

    Returns:
        Their IRIs in order; all others where there are fewer.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     len(sampled_negatives(kg, [kg.prefixes["ex"] + "Virtuoso"]))
        20
    """
    wanted = {*map(str, positives)}
    others = [x for x in instances(kg, Top()) if x not in wanted]
    chance = random.Random(seed)
    return sorted(chance.sample(others, min(len(others), max(len(wanted), _FEWEST))))


def class_problem(kg: KnowledgeGraph, name: str, *, seed: int = 0, most: int = 500) -> LearningProblem:
    """Return the problem of defining a class: its members against others, without the class itself.

    Classes that are told or inferred to be equivalent are not used either. Of many members, and of many
    others, `most` are drawn by the seed.

    Raises:
        LearningProblemError: If the class has no members, or all individuals are its members.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     problem = class_problem(kg, kg.prefixes["ex"] + "Vendor")
        >>> len(problem.positives), len(problem.negatives), problem.ignored
        (53, 53, ('https://w3id.org/mrag/demo/products#Vendor',))
    """
    members = _members(kg, name)
    others = sampled_negatives(kg, members, seed=seed)
    if not others:
        raise LearningProblemError("All individuals are members of this class.", term=name)
    chance = random.Random(seed)
    drawn = (chance.sample(some, min(len(some), most)) for some in (members, others))
    return LearningProblem(*drawn, ignored=_alike(kg, name))


def described_class(kg: KnowledgeGraph, name: str) -> LearningProblem:
    """Return the problem of describing a class: its members against all others of its superclasses.

    Raises:
        LearningProblemError: If the class has no members, or its superclasses have no others.

    Source:
        The class learning problem of DL-Learner.
    """
    members = {*_members(kg, name)}
    alike = _alike(kg, name)
    others = {*instances(kg, Top())} - members
    for below, above in hierarchy(kg)[0]:
        if below == name and above not in alike and above != OWL + "Thing":
            others &= {*instances(kg, Named(above))}
    if not others:
        raise LearningProblemError("Its superclasses have no other members than this class.", term=name)
    return LearningProblem(members, others, ignored=alike)


def _members(kg: KnowledgeGraph, name: str) -> list[str]:
    members = instances(kg, Named(name))
    if not members:
        raise LearningProblemError(
            "This class has no members.", term=name, hint="Reason over the graph first, or check the IRI."
        )
    return members


def _alike(kg: KnowledgeGraph, name: str) -> list[str]:
    """Return a class and all that are equivalent to it, in order of IRI."""
    pairs = [(str(a), str(b)) for a, b in kg.select(queries.get("cel/equivalents").text)]
    below = {*hierarchy(kg)[0]}
    pairs += [(a, b) for a, b in below if (b, a) in below]
    found, fresh = {name}, {name}
    while fresh:
        fresh = {y for a, b in pairs for x, y in ((a, b), (b, a)) if x in fresh} - found
        found |= fresh
    return sorted(found)


_EXAMPLES: Final = ("positiveExamples", "negativeExamples", "classToDescribe")
_HARMLESS: Final = frozenset(
    "type reasoner accuracyMethod accuracy noise noisePercentage useApproximations useMultiInstanceChecks"
    " approxDelta betaSC betaEq equivalence checkConsistency useInstanceChecks maxExecutionTimeInSeconds"
    " percentPerLengthUnit operator".split()
)
"""What a learning problem may say besides its examples: how DL-Learner measures and reasons."""
_PROBLEMS: Final = {
    **dict.fromkeys(("posneg", "posnegstandard", "posneglpstandard", "posnegstrict", "posneglpstrict"), ""),
    **dict.fromkeys(("posonly", "posonlylp", "positiveonlylearningproblem"), "only"),
    **dict.fromkeys(("clp", "classlearningproblem", "classlearning"), "class"),
}
_SOURCES: Final = frozenset(("owlfile", "kbfile", "owl", "kb", "nt"))
_PLACES: Final = ("fileName", "filename", "url")


@dataclass(frozen=True)
class ConfiguredProblem:
    """Examples as a configuration has them."""

    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    defined: str | None = None
    only: bool = False

    def resolved(self, kg: KnowledgeGraph | None = None) -> LearningProblem:
        """Return the learning problem."""
        if self.defined is None and not self.only:
            return LearningProblem(self.positives, self.negatives)
        if kg is None:
            raise LearningProblemError(
                "This problem takes examples from its knowledge base.",
                term=self.defined,
                hint="Give the graph as well, or use find_problems.",
            )
        if self.defined is not None:
            return described_class(kg, self.defined)
        return LearningProblem(self.positives, {*instances(kg, Top())} - {*self.positives})


@dataclass(frozen=True)
class LearningConfiguration:
    """A configuration of DL-Learner.

    Attributes:
        sources: Files of its knowledge bases; the configuration itself where it has statements.
        ignored: Components and options that say nothing here, such as those of an algorithm.
    """

    file: Path
    sources: tuple[Path, ...]
    statements: bytes
    problems: Mapping[str, ConfiguredProblem]
    ignored: tuple[str, ...]


def read_configuration(path: str | Path) -> LearningConfiguration:
    """Read a `.conf` file of DL-Learner.

    Raises:
        LoadError: If it cannot be read, at the first thing that is not of its grammar or not supported, with
            its line, or if it has no examples.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "a.conf"
        ...     _ = file.write_text('import("father.owl");\\n+stefan\\n-"http://example.com/anna"')
        ...     found = read_configuration(file)
        >>> found.sources[0].name, found.problems["a"].positives
        ('father.owl', ('http://localhost/foo#stefan',))
    """
    path = Path(path)
    return _Reader(path, SourceTokens(_text(path), str(path))).read()


@dataclass(frozen=True)
class _Setting:
    """An option of a component, or of none, with the words of its value."""

    component: str
    name: str
    words: tuple[Token, ...]
    line: int

    @property
    def text(self) -> str:
        return self.words[0].text if self.words else ""


@dataclass
class _Reader:
    path: Path
    tokens: SourceTokens
    settings: list[_Setting] = field(default_factory=list)
    imports: list[tuple[Token, ...]] = field(default_factory=list)
    signed: list[tuple[str, str, Token]] = field(default_factory=list)
    stated: bool = False

    def read(self) -> LearningConfiguration:
        base = KnowledgeBase(self.tokens)
        while self.tokens.peek().kind != "end":
            self._statement(base)
        problems = self._problems()
        if not problems:
            raise LoadError("No examples are in this configuration.", file=str(self.path))
        sources = [*map(self._import, self.imports), *self._components()]
        if self.stated:
            sources.append(self.path)
        return LearningConfiguration(
            self.path, tuple(dict.fromkeys(sources)), base.ntriples(), problems, self._ignored()
        )

    # -- grammar -----------------------------------------------------------------------------------

    def _statement(self, base: KnowledgeBase) -> None:
        tokens = self.tokens
        if tokens.sees("+", "-"):
            self._example()
        elif tokens.peek().kind == "name" and tokens.sees("(", ahead=1) and tokens.peek(2).kind == "string":
            self._call()
        elif self._is_setting():
            self.settings.append(self._setting())
        else:
            base.statement()
            self.stated = True

    def _is_setting(self) -> bool:
        """Return whether an option comes, and not an equivalence of concepts."""
        tokens = self.tokens
        if tokens.peek().kind != "name":
            return False
        if tokens.sees(".", ahead=1) and tokens.sees("=", ahead=3):
            return True
        value = tokens.peek(2)
        if not tokens.sees("=", ahead=1) or tokens.sees("(", ">=", "<=", ahead=2):
            return False
        followed = value.kind in ("name", "string") and not tokens.sees("-", ahead=2)
        if value.kind == "name" and value.text.isupper():
            return False
        return not (followed and tokens.sees(".", "AND", "OR", ahead=3))

    def _setting(self) -> _Setting:
        tokens = self.tokens
        first = tokens.take()
        component, name = "", first.text
        if tokens.accepts("."):
            component, name = name, tokens.expect_kind("name", words="the name of an option").text
        tokens.expect("=")
        words = self._value()
        tokens.accepts(";")
        return _Setting(component, name, words, first.line)

    def _value(self) -> tuple[Token, ...]:
        tokens = self.tokens
        if tokens.accepts("-"):
            return (tokens.take(),) if tokens.peek().kind == "number" else ()
        for opening, closing in ("{}", "[]"):
            if tokens.accepts(opening):
                return tuple(self._items(closing))
        return (tokens.expect_kind("name", "string", "number", words="a value"),)

    def _items(self, closing: str) -> list[Token]:
        tokens, found = self.tokens, list[Token]()
        while not tokens.accepts(closing):
            if tokens.accepts("("):
                found += self._items(")")
            else:
                found.append(tokens.expect_kind("name", "string", "number", words=f'a value or "{closing}"'))
            if not tokens.sees(closing):
                tokens.expect(",")
        return found

    def _call(self) -> None:
        tokens, name = self.tokens, self.tokens.take()
        tokens.expect("(")
        words = tuple(self._items(")"))
        tokens.expect(";")
        if name.text == "import":
            self.imports.append(words)
        else:
            self.settings.append(_Setting("", name.text, words, name.line))

    def _example(self) -> None:
        tokens = self.tokens
        sign = tokens.take().text
        name = tokens.expect_kind("name", "string", words="an example")
        target = ""
        if tokens.accepts("("):
            target = name.text
            name = tokens.expect_kind("name", "string", words="an example")
            tokens.expect(")")
            tokens.expect(".")
        self.signed.append((target, sign, name))

    # -- what it means -----------------------------------------------------------------------------

    def _refused(self, message: str, line: int, hint: str | None = None) -> LoadError:
        return LoadError(message, file=str(self.path), line=line, hint=hint)

    def _check_source(self, kind: Token | _Setting) -> None:
        if _plain(kind.text) not in _SOURCES:
            raise self._refused(f"Knowledge sources of type {kind.text!r} are not read.", kind.line)

    def _named(self, words: Sequence[Token]) -> tuple[str, ...]:
        prefixes: dict[str, str] = {}
        base = NAMESPACE
        for setting in self.settings:
            if setting.component == "" and setting.name == "prefixes":
                texts = [word.text for word in setting.words]
                prefixes.update(zip(texts[::2], texts[1::2], strict=False))
            elif setting.component == "" and setting.name == "baseURI":
                base = setting.text
        return tuple(internal_iri(word.text, prefixes, base) for word in words)

    def _problems(self) -> dict[str, ConfiguredProblem]:
        components = dict.fromkeys(s.component for s in self.settings if s.name in _EXAMPLES)
        found = {name or self.path.stem: self._problem(name) for name in components}
        kinds = [_plain(s.text) for s in self.settings if not s.component and s.name == "problem"]
        only = any("posonly" in kind for kind in kinds)
        for target in dict.fromkeys(target for target, _, _ in self.signed):
            signs = {sign: [t for to, s, t in self.signed if (to, s) == (target, sign)] for sign in "+-"}
            name = target or self.path.stem
            found[name] = ConfiguredProblem(self._named(signs["+"]), self._named(signs["-"]), only=only)
        return found if len(found) != 1 else {self.path.stem: next(iter(found.values()))}

    def _problem(self, component: str) -> ConfiguredProblem:
        given: dict[str, tuple[Token, ...]] = {}
        kind = None
        for setting in (s for s in self.settings if s.component == component):
            if setting.name in _EXAMPLES:
                given[setting.name] = given.get(setting.name, ()) + setting.words
            elif setting.name == "type":
                kind = _PROBLEMS.get(_plain(setting.text))
                if kind is None:
                    raise self._refused(
                        f"Learning problems of type {setting.text!r} are not supported.",
                        setting.line,
                        "There are those with positive and negative examples, with positive ones only"
                        " (posonlylp), and of a class (clp).",
                    )
            elif component and setting.name not in _HARMLESS:
                raise self._refused(f"{component}.{setting.name} is not supported.", setting.line)
        positives, negatives, defined = (self._named(given.get(name, ())) for name in _EXAMPLES)
        if kind == "class" or (kind is None and defined):
            return ConfiguredProblem(defined=defined[0] if defined else None)
        return ConfiguredProblem(positives, () if kind == "only" else negatives, only=kind == "only")

    def _components(self) -> list[Path]:
        """Return the files of the knowledge sources that reasoners name, or of all if none does."""
        types = {s.component: s for s in self.settings if s.component and s.name == "type"}
        placed = {s.component for s in self.settings if s.component and s.name in _PLACES}
        named = [(w.text, s.line) for s in self.settings if s.name == "sources" for w in s.words]
        if not named:
            named = [(c, 0) for c in dict.fromkeys(s.component for s in self.settings) if c in placed]
            named = [(c, 0) for c, _ in named if c not in types or _plain(types[c].text) in _SOURCES]
        found = []
        for component, line in dict(reversed(named)).items():
            if component in types:
                self._check_source(types[component])
            if component not in placed:
                raise self._refused(f"{component} names no file of a knowledge base.", line)
            found.append(self._file(component))
        return found[::-1]

    def _file(self, component: str) -> Path:
        own = {s.name: s for s in self.settings if s.component == component}
        folder = own["baseDir"].text if "baseDir" in own else ""
        place = next(own[name] for name in _PLACES if name in own)
        return self._local(folder, place.text, place.line)

    def _import(self, words: tuple[Token, ...]) -> Path:
        for kind in words[1:2]:
            self._check_source(kind)
        return self._local("", words[0].text, words[0].line)

    def _local(self, folder: str, place: str, line: int) -> Path:
        if re.match(r"(?!file:)[a-z][a-z+]+:", place):
            raise self._refused("Only files are read, no addresses.", line, "Download it and name the file.")
        return self.path.parent / folder / re.sub("^file:(//)?", "", place)

    def _ignored(self) -> tuple[str, ...]:
        """Return components and options, in order, that neither examples nor knowledge bases come from."""
        used = {s.component for s in self.settings if s.component and s.name in (*_EXAMPLES, *_PLACES)}
        options = ("prefixes", "baseURI", *_EXAMPLES)
        names = [s.component or s.name for s in self.settings if s.component or s.name not in options]
        return tuple(name for name in dict.fromkeys(names) if name not in used)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def read_problems(path: str | Path, kg: KnowledgeGraph | None = None) -> dict[str, LearningProblem]:
    """Read the learning problems of a file or folder.

    From a `.json` or `.conf` file, or a folder with `pos.txt` and `neg.txt`, or of such folders.
    Configurations need the graph for a problem with positive examples only, or of describing a class.

    Returns:
        The problems by name, in the order of the file. Problems of a JSON file that have no positive or no
        negative examples are left out.

    Raises:
        LoadError: If the file is missing or not in one of these formats.
        LearningProblemError: If the examples overlap, or the knowledge base is needed and not given.
    """
    path = Path(path)
    if path.is_dir():
        folders = [path] if (path / "pos.txt").is_file() else sorted(p.parent for p in path.glob("*/pos.txt"))
        if not folders:
            raise LoadError("No pos.txt is in this folder or one below.", file=str(path))
        return {f.name: LearningProblem(_lines(f / "pos.txt"), _lines(f / "neg.txt")) for f in folders}
    if path.suffix == ".json":
        return _from_json(path)
    try:
        return {name: given.resolved(kg) for name, given in read_configuration(path).problems.items()}
    except LearningProblemError as error:
        raise LearningProblemError(error.message, term=error.term or str(path), hint=error.hint) from error


def _from_json(path: Path) -> dict[str, LearningProblem]:
    text = _text(path)
    try:
        problems = json.loads(text)["problems"]
        found = {str(name): (p["positive_examples"], p["negative_examples"]) for name, p in problems.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(
            "These are no learning problems.",
            file=str(path),
            hint='Expected {"problems": {name: {"positive_examples": […], "negative_examples": […]}}}.',
        ) from error
    return {name: LearningProblem(*sets) for name, sets in found.items() if all(sets)}


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in _text(path).splitlines() if line.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error


_ONTOLOGIES = (".owl", ".rdf", ".ttl", ".nt", ".kb", ".ofn", ".fss", ".owx")
_ROOT = re.compile(
    rb"\A\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|\s+)*<([\w:]+)", re.DOTALL
)


@dataclass(frozen=True)
class ProblemSet:
    """Learning problems over one knowledge base.

    Attributes:
        name: Folder and file of the problems.
        ignored: Settings of a configuration that say nothing here, by component or name.
    """

    name: str
    ontologies: tuple[Path, ...]
    problems: Mapping[str, LearningProblem]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadFile:
    """A file of a benchmark that cannot be used, and why."""

    path: Path
    reason: str


def find_problems(path: str | Path, folder: str | Path = ".") -> tuple[list[ProblemSet], list[UnreadFile]]:
    """Find the learning problems of a benchmark.

    Args:
        path: A folder, a `.json` or `.conf` file, or the name of a folder somewhere below `folder`, in any
            case, such as `family`.
        folder: Where names are looked up.

    Returns:
        The problem sets in order of path, and the files that cannot be used.

    Raises:
        LoadError: If there is nothing of that name.
    """
    given = Path(path)
    if given.is_file():
        files = [given]
    else:
        roots = [given] if given.is_dir() else _named(str(path), Path(folder))
        if not roots:
            raise LoadError(
                "There is no such folder, nor one of that name below.",
                file=str(path),
                hint="Say with --data where the benchmarks are.",
            )
        files = [f for root in roots for f in _sources(root)]
    sets: list[ProblemSet] = []
    unread: list[UnreadFile] = []
    for file in files:
        try:
            sets.append(_configure(file) if file.suffix == ".conf" else _list(file))
        except MragError as error:
            unread.append(UnreadFile(file, error.message))
    return sets, unread


def open_knowledge_base(*paths: Path) -> KnowledgeGraph:
    """Load the files of a knowledge base into memory and reason over it; contradictions in it are let be.

    Args:
        *paths: RDF/XML, Turtle or N-Triples, other notations of OWL, knowledge bases of DL-Learner, and
            configurations of it that have statements of their own. RDF/XML that only a full XML parser
            understands (other encodings than UTF-8, entities in single quotes) is read by rdflib's.

    Raises:
        LoadError: If one cannot be read, such as OWL/XML where the extra `owl` is not installed.
    """
    kg = KnowledgeGraph(OxigraphStore())
    try:
        for path in paths:
            _load(kg, path)
        reason(kg, on_inconsistency="report")
    except BaseException:
        kg.close()
        raise
    return kg


def _load(kg: KnowledgeGraph, path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
    if path.suffix == ".conf":
        statements = read_configuration(path).statements
    else:
        root = _ROOT.match(content)
        try:
            kg.load([path])
            return
        except LoadError:
            if not root or root[1].rpartition(b":")[2] != b"RDF":
                raise
        from xml.sax import SAXException

        from rdflib import Graph

        try:
            statements = Graph().parse(path, format="xml").serialize(format="nt", encoding="utf-8")
        except (SAXException, ValueError, LookupError) as error:
            raise LoadError(f"Not valid RDF/XML: {error}.", file=str(path)) from error
    with Scratch("ontology") as made:
        file = made / "statements.nt"
        file.write_bytes(statements)
        kg.load([file])


def _named(name: str, folder: Path) -> list[Path]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_dir() and p.name.casefold() == name.casefold()]
    return [p for p in found if not any(q in p.parents for q in found)]


def _sources(root: Path) -> list[Path]:
    files = [p for p in root.rglob("*") if p.suffix in (".json", ".conf") and p.is_file()]
    folders = {p.parent.parent for p in root.rglob("pos.txt")}
    return sorted({*files, *folders})


def _title(file: Path) -> str:
    if file.is_dir():
        # SML-Bench: base/lp/problem/pos.txt beside base/data.
        return file.resolve().parent.name
    return f"{file.resolve().parent.name}/{file.stem}"


def _list(file: Path) -> ProblemSet:
    folder = file.parent / "data" if file.is_dir() else file.parent
    ontologies = [p for p in folder.glob("*") if p.suffix in _ONTOLOGIES]
    if len(ontologies) != 1:
        raise LoadError(f"There are {len(ontologies)} knowledge bases beside it, not one.")
    problems = read_problems(file)
    if not problems:
        raise LoadError("No problem has both positive and negative examples.")
    return ProblemSet(_title(file), tuple(ontologies), problems)


def _configure(file: Path) -> ProblemSet:
    found = read_configuration(file)
    if not found.sources:
        raise LoadError("It names no knowledge base.")
    for source in found.sources:
        if source.suffix not in (*_ONTOLOGIES, ".conf"):
            kind = source.suffix or "this"
            raise LoadError(f"Knowledge bases in {kind} format are not read ({source.name}).")
        if not source.is_file():
            raise LoadError(f"Its knowledge base {source.name} is not there.")
    if any(p.only or p.defined for p in found.problems.values()):
        with open_knowledge_base(*found.sources) as kg:
            return ProblemSet(_title(file), found.sources, read_problems(file, kg), found.ignored)
    return ProblemSet(_title(file), found.sources, read_problems(file), found.ignored)


@dataclass(frozen=True)
class BenchmarkSetup:
    """How a benchmark is run.

    Attributes:
        folds: Folds of the cross-validation; 0 for none.
        steps: How many properties may follow one another; None for the learner's own limit.
        max_length: Longest concept; None for the learner's own limit.
    """

    learner: str = "search"
    seconds: float = 5.0
    folds: int = 10
    seed: int = 0
    measure: str = "f1"
    steps: int | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.folds < 0 or self.folds == 1:
            raise ConfigError("Two folds or more, or 0 for none.")


@dataclass(frozen=True)
class BenchmarkResult:
    """What a learner did with one problem.

    Attributes:
        concept: The best concept, as description logic; empty if none was learnt.
        f1: On the examples that it was learnt from.
        folds: Folds that were held out; fewer than asked for where examples are few, 0 for none.
        held_out_f1: Mean over the folds, None without folds.
        error: Why there is no result; empty if there is one.
    """

    set: str
    problem: str
    learner: str
    positives: int
    negatives: int
    concept: str = ""
    length: int = 0
    f1: float = 0.0
    accuracy: float = 0.0
    seconds: float = 0.0
    tested: int = 0
    stopped: str = ""
    folds: int = 0
    held_out_f1: float | None = None
    held_out_f1_sd: float | None = None
    held_out_accuracy: float | None = None
    error: str = ""


def run_benchmark(
    sets: Sequence[ProblemSet],
    setups: Sequence[BenchmarkSetup],
    *,
    results: str | Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[BenchmarkResult]:
    """Run learners over problem sets.

    Results are added to a file of JSON lines; those that are in it already, of the same problem, knowledge
    base and setup, are taken from it. `on_progress` is called with the problems done and all of them.

    Yields:
        One outcome for each problem and setup, in order.
    """
    done = _read_results(results)
    total = sum(len(s.problems) for s in sets) * len(setups)
    count = 0
    for problem_set in sets:
        kg: KnowledgeGraph | None = None
        fault = ""
        try:
            for name, problem in problem_set.problems.items():
                for setup in setups:
                    key = _key(problem_set, name, problem, setup)
                    outcome = done.get(key)
                    if outcome is None:
                        if kg is None and not fault:
                            try:
                                kg = open_knowledge_base(*problem_set.ontologies)
                            except MragError as error:
                                fault = str(error)
                        sizes = len(problem.positives), len(problem.negatives)
                        blank = BenchmarkResult(problem_set.name, name, setup.learner, *sizes)
                        outcome = _one(kg, fault, blank, problem, setup)
                        if not outcome.error:
                            _write_result(results, key, outcome)
                    count += 1
                    if on_progress is not None:
                        on_progress(count, total)
                    yield outcome
        finally:
            if kg is not None:
                kg.close()


def folds(problem: LearningProblem, number: int, seed: int) -> list[tuple[LearningProblem, LearningProblem]]:
    """Divide a problem into pairs of what to learn from and what to hold out, both kinds in each.

    There are no more folds than positive or negative examples, and none if there are fewer than two.
    """
    number = min(number, len(problem.positives), len(problem.negatives))
    if number < 2:
        return []
    chance = random.Random(seed)
    parts: list[list[list[str]]] = []
    for examples in (problem.positives, problem.negatives):
        mixed = chance.sample(examples, len(examples))
        parts.append([mixed[at::number] for at in range(number)])
    return [
        (
            LearningProblem(*([x for n, part in enumerate(kind) if n != at for x in part] for kind in parts)),
            LearningProblem(*(kind[at] for kind in parts)),
        )
        for at in range(number)
    ]


def means(outcomes: Iterable[BenchmarkResult]) -> dict[str, float | int | None]:
    """Return the means over outcomes without errors, and how many there are."""

    def mean(name: str) -> float | None:
        values = [value for o in good if (value := getattr(o, name)) is not None]
        return statistics.fmean(values) if values else None

    good = [o for o in outcomes if not o.error]
    names = ("f1", "accuracy", "length", "seconds", "held_out_f1")
    return {"problems": len(good), "solved": sum(o.f1 == 1.0 for o in good), **{n: mean(n) for n in names}}


def _one(
    kg: KnowledgeGraph | None,
    fault: str,
    blank: BenchmarkResult,
    problem: LearningProblem,
    setup: BenchmarkSetup,
) -> BenchmarkResult:
    if kg is None:
        return replace(blank, error=fault)
    try:
        made = _learner(kg, setup)
        started = time.perf_counter()
        learnt = made.fit(problem)
        seconds = time.perf_counter() - started
        counts = learnt[0].counts if learnt else problem.counts(())
        found = replace(
            blank,
            concept=to_dl(learnt[0].expression, kg.prefixes) if learnt else "",
            length=learnt[0].length if learnt else 0,
            f1=quality(counts),
            accuracy=quality(counts, "accuracy"),
            seconds=seconds,
            tested=made.report.tested if made.report else 0,
            stopped=made.report.stopped if made.report else "",
        )
        scores: list[ExampleCounts] = []
        for train, test in folds(problem, setup.folds, setup.seed):
            best = _learner(kg, setup).fit(train)[:1]
            held = [x for h in best for x in instances_among(kg, h.expression, test.examples)]
            scores.append(test.counts(held))
    except MragError as error:
        return replace(blank, error=str(error))
    if not scores:
        return found
    f1 = [quality(c) for c in scores]
    return replace(
        found,
        folds=len(scores),
        held_out_f1=statistics.fmean(f1),
        held_out_f1_sd=statistics.stdev(f1),
        held_out_accuracy=statistics.fmean(quality(c, "accuracy") for c in scores),
    )


def _learner(kg: KnowledgeGraph, setup: BenchmarkSetup) -> Learner:
    LearnerSettings(measure=setup.measure)  # type: ignore[arg-type]  # refuses an unknown measure
    limits = {"steps": setup.steps, "max_length": setup.max_length}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return learner(setup.learner, kg, seconds=setup.seconds, seed=setup.seed, measure=setup.measure, **given)


def _key(problem_set: ProblemSet, name: str, problem: LearningProblem, setup: BenchmarkSetup) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in (problem_set.name, name, *problem.positives, "|", *problem.negatives):
        digest.update(part.encode() + b"\0")
    for ontology in problem_set.ontologies:
        digest.update(ontology.read_bytes())
    given = {name: value for name, value in asdict(setup).items() if value is not None}
    digest.update(json.dumps(given, sort_keys=True).encode())
    return digest.hexdigest()


def _read_results(path: str | Path | None) -> dict[str, BenchmarkResult]:
    if path is None or not Path(path).is_file():
        return {}
    found: dict[str, BenchmarkResult] = {}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            key = str(row.pop("key"))
            found[key] = BenchmarkResult(**row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if number == len(lines) and (number > 1 or line.startswith('{"key"')):
                # It was being written when a run was broken off; what follows must not be joined to it.
                saved_text(path, "".join(line + "\n" for line in lines[:-1]))
                continue
            raise LoadError(
                "These are no results of a benchmark.", file=str(path), line=number, hint="Name another file."
            ) from error
    return found


def _write_result(path: str | Path | None, key: str, outcome: BenchmarkResult) -> None:
    if path is None:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, **asdict(outcome)}, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigError(f"Results cannot be written: {error.strerror}.", file=str(path)) from error
