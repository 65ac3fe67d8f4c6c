"""Function words, and the words of a text without them."""

from __future__ import annotations

import re

from mrag.text.english import words
from mrag.text.folding import bare

STOP_WORDS = words(
    "a about all also an and any are as at be been but by can could did do does for from had has have "
    "he her his how i in into is it its me my of on or our she so some than that the their them there "
    "these they this those to us was we were what when where which while who whom whose why will with "
    "would you your"
)
"""English function words, which say nothing of what a question is about."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": STOP_WORDS
    | words(
        "am being both each every few find give having hers him if itself just kind know list many more most "
        "much name only other own please same should show such tell then too very"
    ),
    "de": words(
        "der die das den dem des ein eine einen einem einer eines und oder ist sind war waren hat "
        "haben wird werden von mit im zu zum zur auf für aus bei als auch wer was wo wann welche "
        "welcher welches welchen welchem wem wen wessen warum woher wohin deren dessen "
        "wie wieviele viele gibt es sie er ihr sein nicht alle"
    ),
    "fr": words(
        "le la les un une des du de et ou est sont était a ont par avec dans sur pour aux qui que "
        "quoi où quand quel quelle quels quelles comment combien il elle ils elles ce cette ces son "
        "sa ses y lequel laquelle pourquoi au leur leurs"
    ),
    "it": words(
        "il lo la i gli le un uno una di da del della dei degli delle dal dalla e o è sono ha hanno "
        "con su per in nel nella chi che cosa dove quando quale quali come quanti quante si al alla "
        "questo questa"
    ),
    "es": words(
        "el la los las un una unos unas de del y o es son fue ha han por con en para quién quien "
        "quiénes qué que dónde cuándo cuál cuáles cómo cuántos cuántas se al su sus este esta estos "
        "estas cuánto cuánta adónde está están tiene"
    ),
}
"""Function words by language: they show what language a text is in, and have no weight in ranking."""

_WORD = re.compile(r"\w+")


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, folded, cut to what their forms share.

    Example:
        >>> sorted(content_words("What are the Products?"))
        ['produc']
    """
    return frozenset(_stem(w) for w in _WORD.findall(bare(text)) if w not in STOP_WORDS)


def _stem(word: str) -> str:
    word = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    # Six letters bring directed and director together, and seldom anything else.
    return word[:6]
