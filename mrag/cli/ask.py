"""`mrag ask`, `search`, `questions`, `verify` and `keys`: questions answered and saved, answers checked."""

from __future__ import annotations

import getpass
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Argument, Option

import mrag
from mrag import context as contexts
from mrag import generation, images, planning, rdf, retrieval
from mrag import index as indexes
from mrag.cli import options
from mrag.cli.commands import Commands
from mrag.cli.output import (
    flush,
    hit_json,
    print_stream,
    say,
    show,
    show_data,
    show_hit,
    show_json,
    show_lines,
)
from mrag.cli.serving import ask_server
from mrag.config import Settings
from mrag.errors import ConfigError, ModelError, MragError, check_choice

if TYPE_CHECKING:
    from mrag.images.graph import Allowed
    from mrag.planning.results import Planner
    from mrag.retrieval.routing import How

_AGAIN = re.compile(r"reading (\d{1,3})")
HOWS = ("auto", "plan", "read", "complete", "images")


def show_answer(
    given: generation.Answer, *, as_json: bool = False, more: bool = False, **shown: bool
) -> None:
    """Print an answer, as JSON or as `mrag.generation.lines_of` tells it."""
    if as_json:
        show_json(given.to_json(), indent=None if more else 2)
        return
    show_parts(generation.lines_of(given, more=more, **shown))


def show_parts(lines: Iterable[Sequence[str]]) -> None:
    """Print the lines of an answer: data on standard output, what is said about them on standard error."""
    for kind, text in lines:
        if kind == "data":
            show_data(text)
        elif kind == "text":
            show_lines(text)
        else:
            say(text, style=kind)


def follow_ups(talk: retrieval.Conversation, questions: Sequence[str]) -> Iterator[generation.Answer]:
    """Yield the answers to questions; without any, to the lines of standard input."""
    terminal = not questions and sys.stdin.isatty()
    for line in questions or lines(terminal):
        if not (question := line.strip()):
            continue
        again = _AGAIN.fullmatch(question)
        try:
            yield talk.again(int(again[1])) if again else print_stream(talk.stream(question))
        except MragError as error:
            if not terminal:
                raise
            say(str(error), style="yellow")


def lines(terminal: bool) -> Iterator[str]:
    """Yield the lines of standard input, each asked for by a prompt on a terminal."""
    while True:
        if terminal:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        yield line


PLANNERS = ("parser", "writer")


@dataclass(frozen=True)
class Pictures:
    """The images that a question is about."""

    image: Path | None = None
    media: Annotated[Path | None, Option(metavar="FOLDER")] = None
    looks: Annotated[str | None, Option(metavar="MODEL")] = None
    only: Annotated[str | None, Option(metavar="CLASS|FILE.rq")] = None

    @property
    def given(self) -> bool:
        """Return whether images are asked for."""
        return self.image is not None or self.media is not None

    def folder(self) -> Path:
        """Return the folder of the images, which must be there."""
        if self.media is None or not self.media.is_dir():
            raise ConfigError("The folder of the images is missing.", hint="Name it with --media.")
        return self.media

    def ranker(self, graph: mrag.KnowledgeGraph, text: str, ranker: str) -> mrag.Ranker:
        """Return what ranks the images of the graph for a question."""
        mode = images.answer.image_mode(ranker)
        return images.image_ranker(
            graph, self.media, mode=mode if text else "bm25", text=Settings.from_env().embedder,
            looks=self.looks or ("none" if self.image is None else "conse"), allowed=self._allow(graph),
        )  # fmt: skip

    def _allow(self, graph: mrag.KnowledgeGraph) -> Allowed | None:
        if self.only is None:
            return None
        if self.only.endswith((".rq", ".sparql")):
            return images.of_query(graph, options.read_query_file(self.only))
        return images.of_class(graph, str(rdf.iri(self.only, graph.prefixes)))


def ask(
    place: options.Place,
    pictures: Pictures,
    question: Annotated[list[str] | None, Argument(metavar="QUESTION")] = None,
    model: Annotated[str | None, Option("--model", "-m")] = None,
    k: Annotated[int, Option("-k", min=1)] = 10,
    ranker: options.RankerOption = "hybrid",
    hops: Annotated[int, Option(min=1, max=2)] = 1,
    budget: Annotated[int, Option(min=1)] = 4000,
    index: str = "main",
    lang: options.KeptLanguageOption = None,
    context: bool = False,
    how: Annotated[str, Option(metavar="auto|plan|read|complete|images")] = "auto",
    reading: Annotated[int | None, Option(min=1)] = None,
    planner: Annotated[str | None, Option(metavar="parser|writer")] = None,
    sparql: bool = False,
    explain_reading: bool = False,
    texts: Annotated[list[Path] | None, Option(metavar="FOLDER|FILE")] = None,
    follow: bool = False,
    teach: bool = False,
    graph: options.GraphOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Answer a question, with the triples that support it.

    The answer is computed if that is sure to be right; it has images if the question asks for them; it is
    completed from texts if they have what the graph lacks; else it is read in the context of similar
    entities.
    """
    asked = question or []
    text = " ".join(asked)
    if not follow and len(asked) > 1:
        what = "Put the question in quotes; --follow asks several."
        raise typer.BadParameter(what, param_hint="'QUESTION'")
    if pictures.image is None and not follow:
        _require(text, "QUESTION")
    check_choice("way", how, HOWS)
    check_choice("planner", planner or "parser", PLANNERS)
    parts = {"sparql": sparql, "context": context, "way": how == "auto", "words": explain_reading}
    more = (pictures.given, follow, teach, model, planner, lang, graph, texts, hops - 1, budget - 4000)
    if not any(more) and (how, ranker, index) in [(way, "hybrid", "main") for way in HOWS[:3]]:
        which = {} if reading is None else {"reading": reading}
        reply = ask_server(place.store, place.kg, {"question": text, "k": k, "how": how, **which}, parts)
        if reply is not None:
            show_json(reply["answer"]) if as_json else show_parts(reply["lines"])
            return
    pictured = how == "images" or (how == "auto" and pictures.given)
    if pictures.given:
        pictures.folder()
    with place.open(lang, graph=graph, index=index, later=True) as seen:
        if teach:
            saved = save_reading(seen, text, reading, replacing=True)
            say(f"Saved as {saved.name}.")
            reading = 1
        chosen = Settings.from_env(model=model)
        ranks = pictures.ranker(seen, text, ranker) if pictured else ranker
        talk = seen.conversation(
            model=chosen.model, planner=cast("Planner", planner or chosen.planner),
            k=k, index=index, how=cast("How", how),
            settings=contexts.ContextSettings(hops=hops, token_budget=budget),
            texts=texts or None, media=pictures.media if pictured else None, ranker=ranks,
        )  # fmt: skip
        if follow:
            for number, given in enumerate(follow_ups(talk, asked)):
                if number and not as_json:
                    show("")
                show_answer(given, as_json=as_json, more=True, **{**parts, "way": False})
                flush()
            return
        query = text if pictures.image is None else mrag.Question(text, pictures.image)
        show_answer(print_stream(talk.stream(query, reading=reading)), as_json=as_json, **parts)


def search(
    place: options.Place,
    pictures: Pictures,
    text: Annotated[str, Argument(metavar="TEXT")] = "",
    k: Annotated[int, Option("-k", min=1)] = 10,
    ranker: options.RankerOption = "hybrid",
    index: str = "main",
    lang: options.KeptLanguageOption = None,
    graph: options.GraphOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the entities most similar to a text."""
    if pictures.given:
        pictures.folder()
    else:
        _require(text, "TEXT")
    with place.open(lang, graph=None if pictures.given else graph, index=index) as seen:
        if pictures.given:
            hits, labels, paths = _images_like(seen, text, pictures, k, ranker)
            rows = [{**hit_json(hit, labels[hit.iri]), "path": paths.get(hit.iri)} for hit in hits]
            names = labels | paths
        else:
            if (old := indexes.similarity.freshen(seen, index)) is not None:
                say(old, style="yellow")
            if (chosen := retrieval.registry.without_index(ranker, seen, index)) != ranker:
                say(retrieval.registry.NAMES_ALONE, style="dim")
                ranker = chosen
            hits = mrag.ranker(ranker, seen, index=index).rank(mrag.Question(text), k)
            display = contexts.Display(seen)
            display.prepare([hit.iri for hit in hits])
            names = {hit.iri: display.entity(hit.iri) for hit in hits}
            rows = [hit_json(hit, names[hit.iri]) for hit in hits]
    if as_json:
        show_json(rows)
        return
    for hit in hits:
        show_hit(hit, names[hit.iri])
    if not hits:
        say("Nothing was found.")


def _images_like(
    graph: mrag.KnowledgeGraph, text: str, pictures: Pictures, k: int, ranker: str
) -> tuple[Sequence[mrag.Hit], dict[str, str], dict[str, str]]:
    """Return images of the graph, with their names and the paths of their files by IRI."""
    hits = pictures.ranker(graph, text, ranker).rank(mrag.Question(text, pictures.image), k)
    iris = [hit.iri for hit in hits]
    files, _ = images.graph.files_of(graph, pictures.folder(), images=iris)
    names = images.graph.names_of(graph, iris, images.graph.file_names(graph, images=iris))
    return hits, names, {iri: str(path) for iri, path in files.items()}


def _require(words: str, name: str) -> None:
    """Refuse a command without words, as one that lacks an argument."""
    if not words.strip():
        raise typer.BadParameter("Give words, or a picture with --image.", param_hint=f"'{name}'")


questions_app = Commands(
    help="Save questions with their plans, and run them again.",
    epilog='Example: mrag questions save "Who develops GraphDB?" && mrag questions list',
)


@questions_app.command()
def save(
    question: str,
    place: options.LabelledPlace,
    name: str = "",
    reading: Annotated[int, Option(min=1)] = 1,
    by: str | None = None,
    replace: bool = False,
    as_json: options.JsonOption = False,
) -> None:
    """Save a question with the plan that answers it; later questions of the same words are read like it."""
    with place.open() as graph:
        saved = save_reading(graph, question, reading, name=name, by=by, replacing=replace)
    if as_json:
        show_json(saved.to_json())
    else:
        _show_saved(saved)


@questions_app.command("list")
def list_(place: options.LabelledPlace, as_json: options.JsonOption = False) -> None:
    """List the saved questions: name, words, reading, who saved them and when."""
    with place.open() as graph:
        every = planning.list_questions(graph)
    if as_json:
        show_json([saved.to_json() for saved in every])
        return
    for saved in every:
        _show_saved(saved)
    if not every:
        say("No question is saved.")


@questions_app.command()
def run(
    name: str, place: options.LabelledPlace, sparql: bool = False, as_json: options.JsonOption = False
) -> None:
    """Answer a saved question; with other names, ask it in the same words."""
    with place.open() as graph:
        answer = planning.run_question(graph, name)
    show_answer(answer, sparql=sparql, context=False, as_json=as_json)


@questions_app.command()
def remove(name: str, place: options.LabelledPlace) -> None:
    """Remove a saved question."""
    with place.open() as graph:
        planning.remove_question(graph, name)
    say(f"Removed: {name}")


def save_reading(
    graph: mrag.KnowledgeGraph,
    question: str,
    reading: int | None,
    *,
    name: str = "",
    by: str | None = None,
    replacing: bool = False,
) -> planning.SavedQuestion:
    """Save a question in one of its readings."""
    # What was taught before must not hide what else may be right.
    attempt = planning.compute(graph, question, reading=reading or 1, learnt=False)
    unread = attempt.reading is not None and attempt.reading.ignored
    if attempt.answer is None or attempt.answer.computed is None or unread:
        raise ConfigError(f"There is no plan to save: {attempt.why}.")
    answer, computed = attempt.answer, attempt.answer.computed
    if reading is None:
        numbered = {1: computed.reading, **{other.number: other.reading for other in computed.readings}}
        for number, words in numbered.items():
            show(f"{number}: {words}")
        sys.stderr.write(f"Which reading is right ({', '.join(map(str, numbered))}; nothing for none)? ")
        sys.stderr.flush()
        chosen = sys.stdin.readline().strip()
        if chosen not in map(str, numbered):
            raise ConfigError("No reading was chosen, so nothing is saved.")
        if chosen != "1":
            answer = planning.compute(graph, question, reading=int(chosen), learnt=False).answer or answer
    if by is None:
        by = ""
        with suppress(OSError, KeyError, ImportError):  # a container may have no such user
            by = getpass.getuser()
    return planning.save_question(graph, answer, name, author=by, replacing=replacing)


def _show_saved(saved: planning.SavedQuestion) -> None:
    show(f"{saved.name}: {saved.question}")
    show(f"  read as: {saved.reading}")
    show(f"  saved {saved.saved}{f' by {saved.author}' if saved.author else ''}")


def verify(
    file: Path,
    place: options.Place,
    no_store: bool = False,
    strict: bool = False,
    receipt: Annotated[Path | None, Option(metavar="OUT")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Check a saved answer, or the receipt of one.

    Its triples must be there, and all that it says is made again from them and compared. What cannot be made
    again is named as not checked, unless a key that you trust vouches for it.
    """
    given = _read(file)
    if no_store:
        if receipt is not None:
            raise typer.BadParameter("A receipt is of a check against the graph.", param_hint="--receipt")
        report = generation.verification.check_alone(given)
    else:
        with place.open() as graph:
            report = mrag.verify(graph, given)
            if receipt is not None:
                made = retrieval.verifying.receipt_of(graph, given, report)
                receipt.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")
                say(f"The receipt is {'signed' if 'proof' in made else 'not signed'}: {receipt}")
    show_json(report.to_json()) if as_json else show_lines(str(report))
    if not report.ok or (strict and not report.complete):
        raise typer.Exit(1)


def _read(file: Path) -> dict[str, Any]:
    hint = "Save the output of `mrag ask --json`."
    try:
        given = generation.result.parse(file.read_bytes())
    except (OSError, ModelError) as error:
        said = error.message if isinstance(error, ModelError) else f"Not JSON: {error}."
        raise ConfigError(said, file=str(file), hint=hint) from error
    if not isinstance(given, dict):
        raise ConfigError("Not the JSON form of an answer.", file=str(file), hint=hint)
    return given


keys_app = Commands(
    help="Keep the key that signs receipts, and say whose keys are trusted.",
    epilog="Example: mrag keys create && mrag verify answer.json --receipt receipt.jsonld",
)


@keys_app.command("create")
def create_key() -> None:
    """Make the key of this installation; its private part stays in a file that you alone may read."""
    keys = generation.verification.KeyStore()
    made = keys.create()
    say(f"The private key is in {keys.file}. Others trust the public one:")
    show_lines(made.public)


@keys_app.command("show")
def show_key() -> None:
    """Print the public key of this installation, for others to trust, and say where the private one is."""
    keys = generation.verification.KeyStore()
    own = keys.own()
    if own is None:
        raise ConfigError("This installation has no key.", hint="Make one with `mrag keys create`.")
    show_lines(own.public)
    say(f"The private key is in {keys.file}.", style="dim")


@keys_app.command()
def trust(name: str, key: str) -> None:
    """Trust what a key has signed; ask its holder for the key in a way that nobody else can write to."""
    generation.verification.KeyStore().trust(name, key)


@keys_app.command("forget")
def forget_key(name: str) -> None:
    """Trust a key no more."""
    generation.verification.KeyStore().forget(name)


@keys_app.command("list")
def list_keys(as_json: options.JsonOption = False) -> None:
    """List the keys that are trusted, this installation's own among them."""
    every = generation.verification.KeyStore().trusted_keys()
    rows = "\n".join(f"{key}\t{name}" for key, name in every.items())
    show_json(dict(every)) if as_json else show_lines(rows or "No key is trusted.")
