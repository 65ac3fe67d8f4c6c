"""Questions that a language model puts in the words of a graph, for the reader to read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.language.tokens import tokens
from mrag.planning.accounting import account
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Plan
from mrag.planning.schema import PropertyInfo, Schema

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LONGEST: Final = 500  # Characters of a question that is read at most
_PROMPTS: Final[Mapping[str, str]] = tomllib.loads(
    (files("mrag") / "planning" / "rephrasing.toml").read_text(encoding="utf-8")
)
_LETTERS: Final = 2_000  # Letters of a schema that a model is shown at most
_TOKENS: Final = 120  # Tokens of what it writes at most
_KEPT: Final = frozenset("name asked number avg share part ratio not superlative".split())
"""Kinds of gaps that no other wording accounts for."""


def rephrased(model: str | BaseChatModel | None, lexicon: Lexicon, question: str) -> str | None:
    """Return a question as a model puts it in the words of a graph; "" if it writes none, None without one.

    Args:
        model: A chat model or its name, as for `mrag.ask`.
        lexicon: The names of the graph.
        question: The question, in any language.

    Raises:
        ModelError: If the model cannot be had, cannot be reached or fails.
    """
    from mrag.generation.models import bound, invoke, resolve

    if (chat := resolve(model)) is None:
        return None
    from langchain_core.messages import HumanMessage, SystemMessage

    from mrag.generation.support.sentences import without_thoughts

    asked = _PROMPTS["asked"].replace("{schema}", untrusted.lines(schema_text(lexicon, question)), 1)
    asked = asked.replace("{question}", untrusted.one_line(question), 1)
    said = invoke(bound(chat, _TOKENS), [SystemMessage(_PROMPTS["system"]), HumanMessage(asked)])
    lines = [line.strip() for line in without_thoughts(said).splitlines()]
    text = next((line for line in lines if line), "").removeprefix("Rewritten:").strip(" \"'`")
    return text if len(text) <= LONGEST else ""


def schema_text(lexicon: Lexicon, question: str) -> str:
    """Return the classes of a graph with what is said of their members, one a line.

    What words of the question may name comes first, then what has most members; 2,000 letters are kept.

    Example:
        >>> import mrag
        >>> from mrag.planning.lexicon import lexicon_of
        >>> with mrag.demo(model="none") as kg:
        ...     print(schema_text(lexicon_of(kg, None), "Where do vendors sit?").splitlines()[0])
        vendor: description, based in (place), homepage, develops (product), headquartered in (city)
    """
    schema, scores = lexicon.schema, dict[str, float]()
    for mention in lexicon.match(tokens(question), question):
        for c in mention.candidates:
            for term in (c.term, *c.classes, *c.properties):
                scores[term] = max(c.score, scores.get(term, 0.0))
    told = {cls: list(_properties(schema, cls)) for cls in schema.classes}

    def weight(cls: str) -> tuple[float, int]:
        touched = max((scores.get(p.iri, 0.0) for p in told[cls]), default=0.0)
        return -scores.get(cls, 0.0) - touched, -schema.classes[cls].count

    lines, left = list[str](), _LETTERS
    for cls in sorted(sorted(told), key=weight):
        said = sorted(told[cls], key=lambda p: (-scores.get(p.iri, 0.0), -p.triples, p.iri))
        line = f"{schema.classes[cls].names[0]}: {', '.join(_describe(schema, p) for p in said)}"
        lines.append(line[:left])
        left -= len(line) + 1
        if left <= 0:
            break
    return "\n".join(lines)


def _properties(schema: Schema, cls: str) -> Iterator[PropertyInfo]:
    return (info for info in schema.properties.values() if cls in info.domains)


def _describe(schema: Schema, info: PropertyInfo) -> str:
    """Return the name of a property with what its values are."""
    kind = next((schema.classes[c].names[0] for c in info.ranges if c and c in schema.classes), "")
    kind = info.kind if info.kind not in ("entity", "text") else kind
    return f"{info.names[0]} ({kind})" if kind else info.names[0]


def left_out(lexicon: Lexicon, question: str, plan: Plan) -> tuple[tuple[str, ...], int]:
    """Return what of a question a plan has to have and has not, and how much more differs.

    Names, numbers, operations and what is asked for have to be in the plan; other words a model may have put
    in its own way.
    """
    verdict = account(lexicon, question, plan, [c.name for c in plan.columns])
    gaps = (*verdict.gaps, *verdict.loose)
    missing = [g for g in gaps if g.kind in _KEPT]
    words = (word for g in missing for word in g.words.lower().split())
    return tuple(dict.fromkeys(words)), len(gaps) - len(missing)
