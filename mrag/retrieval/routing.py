"""Which way a question is answered: computed, with images, completed from texts, or read."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypedDict, Unpack, get_args
from typing import Literal as OneOf

from mrag import completion, images, reasoning
from mrag.config import Settings
from mrag.errors import ConfigError, MragError, QuestionTooLong, StoreError, check_choice
from mrag.generation.models import check_model
from mrag.generation.prompts import NAMES_APART, PENDING
from mrag.generation.result import Answer, OtherReading
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import twins_of
from mrag.language.english import positive
from mrag.language.grammar import wish_of
from mrag.language.tokens import words
from mrag.planning.answering import HELPED, Attempt, abstained, compute
from mrag.planning.following import LastAnswer
from mrag.planning.reader.units import cues_in, meanings
from mrag.planning.results import Planner
from mrag.retrieval.rankers import Question, Ranker
from mrag.retrieval.registry import check_ranker
from mrag.tracing import span

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.context import ContextSettings
    from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever

logger = logging.getLogger(__name__)

How: TypeAlias = OneOf["auto", "plan", "read", "complete", "images"]
Texts: TypeAlias = "str | Path | Iterable[str | Path] | completion.Completer"

MAX_TRIPLES = 20_000_000
"""Triples up to which a graph's names are indexed for a question without being asked to."""

MAX_QUESTION = 2_000  # Characters that a question may have

MAX_COMPUTED = 500  # Characters up to which a question is computed. The longest of the benchmarks' has 300

ASKED_FOR = "this way was asked for"
FOLDER_GIVEN = "the folder of the images is given"

_COMPUTING: Final = words(
    "sum avg max min most fewest common uncommon group not share ratio over under overis underis"
)
"""What cue words say that no single fact tells."""
_COUNTING: Final = _COMPUTING | words("count top part difference exists")


class Routed(NamedTuple):
    """What came of answering a question without reading."""

    given: Answer | None  # The answer; None where it has to be read
    why: str  # Why it was computed, or has to be read
    offered: tuple[OtherReading, ...] = ()  # Readings that can be chosen where none is certain enough

    @property
    def said(self) -> str:
        """Why nothing was computed, with what the readings that are offered would give."""
        return "; ".join([self.why, *(f"reading {one.number} would give {one}" for one in self.offered)])


class AskOptions(TypedDict, total=False):
    """What may be said beside a question; `mrag.ask` describes each."""

    model: str | BaseChatModel | None
    k: int | None
    index: str
    settings: ContextSettings | None
    retriever: TripleStoreRetriever | None
    how: How
    reading: int | None
    texts: Texts | None
    media: str | Path | None
    ranker: str | Ranker | None
    follows: Answer | Mapping[str, Any] | None
    planner: Planner


def fold(text: str) -> str:
    """Return the text of a question with single blanks for white space."""
    text = " ".join(text.split())
    if len(text) > MAX_QUESTION:
        raise QuestionTooLong(
            f"The question has {len(text):,} characters; the maximum is {MAX_QUESTION:,}.",
            hint="Ask in fewer words.",
        )
    return text


def route(kg: KnowledgeGraph, question: str | Question | Retrieval, **options: Unpack[AskOptions]) -> Routed:
    """Return the answer to a question that need not be read, or None where it has to be, and why."""
    how, planner, ranker = options.get("how", "auto"), options.get("planner", "parser"), options.get("ranker")
    model, media, texts = options.get("model"), options.get("media"), options.get("texts")
    check_choice("way", how, get_args(How))
    check_choice("planner", planner, get_args(Planner))
    if isinstance(ranker, str):
        check_ranker(ranker)
    if isinstance(question, str | Question):
        fold(question if isinstance(question, str) else question.text)
    check_model(model)
    asked = Question(question) if isinstance(question, str) and question.strip() else question
    if how == "read" or not isinstance(asked, Question):
        return Routed(None, ASKED_FOR if how == "read" else "")
    pictured = _picture(kg, asked, media) if how == "auto" else ""
    route = Routed(None, "")
    # What is asked of images may have to be computed: "Which images show no hat?"
    if how == "plan" or (how == "auto" and (not pictured or (media is None and _computes(asked.text)))):
        reading, follows = options.get("reading"), options.get("follows")
        route = compute_route(kg, asked, how, reading, follows, model=model, planner=planner)
        if (given := route.given) is not None:
            # What a graph has no value of, texts may tell.
            if texts is None or how == "plan" or given.computed is None or given.computed.rows:
                return route
            route = route._replace(why=f"nothing was found for {given.computed.reading}")
    if how == "images" or pictured:
        shown = _with_images(kg, asked, options)
        return Routed(replace(shown, why=pictured or ASKED_FOR), "")
    if how == "complete" or (texts is not None and asked.image is None):
        completion = _complete(kg, asked, route._replace(given=None), options)
        return completion if completion.given is not None or route.given is None else route._replace(why="")
    return route


def compute_route(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    how: How = "auto",
    reading: int | None = None,
    follows: Answer | Mapping[str, Any] | None = None,
    *,
    model: str | BaseChatModel | None = "none",
    planner: Planner = "parser",
) -> Routed:
    """Return the answer that `ask` computes, or None where it takes another way, and why it does which."""
    text = question.text if isinstance(question, Question) else question
    if how not in ("auto", "plan") or not isinstance(text, str) or not text.strip():
        return Routed(None, "")
    if isinstance(question, Question) and question.image is not None:
        return Routed(None, "the question has a picture")
    if len(text := fold(text)) > MAX_COMPUTED:
        why = f"the question has more than {MAX_COMPUTED} characters"
        return Routed(None if how == "auto" else abstained(text, why), why)
    if how == "auto" and kg.profile().triples > MAX_TRIPLES:
        why = "the graph is large, and its names are indexed only when asked: choose the way plan"
        return Routed(None, why)
    before = follows.to_json() if isinstance(follows, Answer) else follows
    last = LastAnswer.from_json(before) if before is not None and before.get("plan") is not None else None
    try:
        with span("mrag.plan") as note:
            attempt = compute(kg, text, reading=reading, follows=last, model=model, planner=planner)
            note({"mrag.computed": attempt.answer is not None, "mrag.sure": attempt.sure})
    except StoreError as error:
        if how == "plan":
            raise
        return Routed(None, error.message)
    except MragError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # A question that trips the planner up can still be read.
        logger.exception("The question could not be planned: %r", text)
        attempt = Attempt(None, False, "the question could not be made into a plan")
    if attempt.answer is not None and reading is not None:
        helped = HELPED if attempt.helped else ""
        return Routed(replace(attempt.answer, why=f"reading {reading} was asked for{helped}"), "")
    if attempt.answer is not None and attempt.sure:
        return Routed(replace(attempt.answer, why=attempt.why), attempt.why)
    if how == "auto" and attempt.alone:
        return Routed(None, attempt.why, attempt.offered)
    return Routed(abstained(text, attempt.why, attempt.offered), attempt.why)


def find_uncomputed(text: str) -> tuple[str, ...]:
    """Return the words of a question that ask to compute, which facts alone do not answer.

    These are superlatives, comparisons with a number or with "than", folds, shares, "per" and negations.

    Example:
        >>> find_uncomputed("Who develops the newest database that is not free?")
        ('newest', 'not')
        >>> find_uncomputed("Who trained under Obi-Wan?")
        ()
    """
    low = _words(text)
    left = [w for w in low if positive(w) not in (None, w) and (w.endswith("est") or w == "worst")]
    for cue in cues_in(low):
        said = low[cue.start : cue.end]
        meant = said == ["mean"] and not {"do", "does", "did"}.isdisjoint(low[: cue.start])
        if cue.cue in _COMPUTING and not meant and said not in (["by"], ["how", "much"]):
            left += said[-1:] if cue.cue == "group" else said
    left += (word for said in _comparisons(low) for word in said)
    small = words("the of in on for do does did have has is are what by")
    return tuple(dict.fromkeys(word for word in left if word not in small))


def _comparisons(low: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield words that compare with what stands behind them: with a number, or with "than"."""
    for start, end in combinations(range(len(low) + 1), 2):
        op = meanings("comparisons.tsv").get(tuple(low[start:end]), ("=",))[0]
        number = any(c.isdigit() for c in "".join(low[end : end + 2]))
        if op in ("<", ">", "<=", ">=") and (low[end - 1] == "than" or number):
            yield low[start:end]


def _computes(text: str) -> bool:
    """Return whether a question asks to compute, by its words."""
    low = _words(text)
    return (
        bool(find_uncomputed(text)) or any(cue.cue in _COUNTING for cue in cues_in(low)) or "between" in low
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'’-]+", text.lower())


def _picture(kg: KnowledgeGraph, asked: Question, media: str | Path | None) -> str:
    """Return why images are the answer to a question, "" if they are not."""
    if media is not None:
        return FOLDER_GIVEN
    if asked.image is not None or wish_of(asked.text) is None:
        return ""
    has = {images.graph.FILE, images.graph.SENTENCE, images.graph.GENERATED} & kg.profile().predicates.keys()
    return "the question asks for images" if has else ""


def _with_images(kg: KnowledgeGraph, asked: Question, options: AskOptions) -> Answer:
    media, ranker, k = options.get("media"), options.get("ranker"), options.get("k")
    if asked.image is not None and media is None and (ranker is None or isinstance(ranker, str)):
        raise ConfigError(
            "The folder of the images is missing.",
            hint="Name it, to compare its pictures with that of the question.",
        )
    if ranker is None or isinstance(ranker, str):
        looks = "none" if asked.image is None else "conse"
        mode = images.answer.image_mode(ranker or "hybrid") if asked.text.strip() else "bm25"
        ranker = images.image_ranker(kg, media, mode=mode, text=Settings.from_env().embedder, looks=looks)
    model, k = options.get("model"), 5 if k is None else k
    return images.ask_pictures(kg, asked, ranker, folder=media, model=model, k=k)


def _complete(kg: KnowledgeGraph, asked: Question, before: Routed, options: AskOptions) -> Routed:
    """Return the answer from texts, or in `auto` None where they do not have what the graph lacks."""
    if not asked.text.strip():
        raise ConfigError("Words are needed to complete an answer.", hint="Ask a question in words.")
    why, how, texts = before.why, options.get("how", "auto"), options.get("texts")
    if how == "auto" and _computes(asked.text):
        return before._replace(why=f"{why}; nothing is computed from texts")
    if isinstance(texts, completion.Completer):
        completer = texts
    else:
        completer = completion.chain.reading_completer(
            kg, texts or (), options.get("model"), options.get("k") or 8
        )
    answer = completer.ask(asked.text).answer
    if how == "complete":
        return Routed(replace(answer, why=ASKED_FOR), "")
    # What the graph alone gives was no computed answer, for a reason.
    if answer.completed is None or not (answer.completed.answers and answer.completed.evidence):
        return before._replace(why=f"{why}; the texts do not tell it either")
    return Routed(replace(answer, why=f"{why}, but the texts tell it", offered=before.offered), "")


def rules_notice(kg: KnowledgeGraph, given: Answer) -> str | None:
    """Return which axioms that an answer depends on a server's own rules do not carry out."""
    if not (kg.store.capabilities.reasoning and given.computed is not None and kg.state):
        return None
    missing = kg.cached(
        "axioms left out", lambda: list(kg.kept("left_out", lambda: reasoning.run.list_left_out(kg)))
    )
    concerned = [one for one in missing if f"<{one[1]}>" in given.computed.query]
    if not concerned:
        return None
    words = list(dict.fromkeys(text for text, _ in concerned))
    more = f" and {len(words) - 3} more" if len(words) > 3 else ""
    return f"The server's rules do not carry out: {'; '.join(words[:3])}{more}. What follows is not counted."


def state_notice(kg: KnowledgeGraph) -> str | None:
    """Return what every answer says while the graph is in a state in which it may lack something."""
    if kg.pending:
        return PENDING
    twins = twins_of(kg)
    return NAMES_APART if twins is not None and not twins.closed else None
