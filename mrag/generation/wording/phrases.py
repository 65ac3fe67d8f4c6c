"""Sentences in the language of the question; names, values and predicates stay as the graph has them.

A template agrees with its nouns in nothing, since a graph tells neither gender nor case: "Geschlecht von Ada:
…", not "Das Geschlecht …". English has a grammar of its own, in `mrag.generation.verbalise`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mrag.text.grammar import join


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences of one language.

    Attributes:
        nothing_found: Said where the context is empty.
        no_match: Said where nothing in it answers.
        sought: Names what was looked for, `{names}`.
        nearest: Heading of facts that do not answer.
        mentions: Names words of the question that no fact has, `{names}`.
        links: Says that no fact links `{s}` to `{names}`.
        also: Names further things, `{names}`.
        shown: How many values of `{p}` are shown, `{n}` of `{m}`.
        least: Says of `{m}` that it is the least.
        quotes: Marks before and behind a quotation.
        conjunction: What stands before the last of several.
        typed: Says that `{s}` is of the class `{o}`.
        kind: Says that the class `{s}` is a kind of `{o}`.
        same: Says that two are the same.
        apart: Says that nothing is of both classes.
        named: Says what `{s}` is also called.
        described: Quotes a text on `{s}`.
        condition: Says that what is a `{s}` meets a condition.
        noun: Gives the values `{o}` of a property `{p}` whose label is a noun.
        elides: Whether "de" loses its vowel before another.
    """

    nothing_found: str
    no_match: str
    sought: str
    nearest: str
    mentions: str
    links: str
    also: str
    shown: str
    least: str
    quotes: tuple[str, str]
    conjunction: str
    typed: str = ""
    kind: str = ""
    same: str = ""
    apart: str = ""
    named: str = ""
    described: str = ""
    condition: str = ""
    noun: str = ""
    elides: bool = False

    def join(self, parts: Sequence[str]) -> str:
        """Join parts as the language does.

        Example:
            >>> PHRASES["fr"].join(["a", "b", "c"])
            'a, b et c'
        """
        if self.conjunction == "and":
            return join(parts)
        return f" {self.conjunction} ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)

    def quoted(self, text: str) -> str:
        """Return a text in quotation marks."""
        return f"{self.quotes[0]}{text}{self.quotes[1]}"


PHRASES: dict[str, Phrases] = {
    "en": Phrases(
        nothing_found="Nothing was found in the graph for this question.",
        no_match="I don't know: nothing in the context answers this question.",
        sought="I looked for {names}.",
        nearest="Nearest facts, which do not answer the question:",
        mentions="Nothing in the context mentions {names}.",
        links="Nothing in the context links {s} to {names}.",
        also="Also {names}.",
        shown="{p}: {n} of {m} shown.",
        least="more than {m}",
        quotes=("“", "”"),
        conjunction="and",
    ),
    "de": Phrases(
        nothing_found="Zu dieser Frage wurde im Graphen nichts gefunden.",
        no_match="Das weiß ich nicht: Nichts im Kontext beantwortet diese Frage.",
        sought="Gesucht wurde nach {names}.",
        nearest="Die nächsten Tatsachen, die die Frage nicht beantworten:",
        mentions="Nichts im Kontext erwähnt {names}.",
        links="Nichts im Kontext verbindet {s} mit {names}.",
        also="Außerdem {names}.",
        shown="{p}: {n} von {m} gezeigt.",
        least="mehr als {m}",
        quotes=("„", "“"),
        conjunction="und",
        typed="{s} ist vom Typ {o}",
        kind="{s} ist eine Art von {o}",
        same="{s} ist dasselbe wie {o}",
        apart="Nichts ist zugleich {s} und {o}",
        named="{s} heißt auch {o}",
        described="Beschreibung von {s}: {o}",
        condition="Was {s} ist, erfüllt die Bedingung {o}",
        noun="{p} von {s}: {o}",
    ),
    "fr": Phrases(
        nothing_found="Rien n'a été trouvé dans le graphe pour cette question.",
        no_match="Je ne sais pas : rien dans le contexte ne répond à cette question.",
        sought="Recherche de {names}.",
        nearest="Les faits les plus proches, qui ne répondent pas à la question :",
        mentions="Rien dans le contexte ne mentionne {names}.",
        links="Rien dans le contexte ne relie {s} à {names}.",
        also="Et aussi {names}.",
        shown="{p} : {n} sur {m} affichés.",
        least="plus de {m}",
        quotes=("« ", " »"),
        conjunction="et",
        typed="{s} est de type {o}",
        kind="{s} est une sorte de {o}",
        same="{s} est la même chose que {o}",
        apart="Rien n'est à la fois {s} et {o}",
        named="{s} s'appelle aussi {o}",
        described="Description de {s} : {o}",
        condition="Ce qui est {s} remplit la condition {o}",
        noun="{p} de {s} : {o}",
        elides=True,
    ),
    "es": Phrases(
        nothing_found="No se encontró nada en el grafo para esta pregunta.",
        no_match="No lo sé: nada en el contexto responde a esta pregunta.",
        sought="Se buscó {names}.",
        nearest="Los hechos más cercanos, que no responden a la pregunta:",
        mentions="Nada en el contexto menciona {names}.",
        links="Nada en el contexto relaciona {s} con {names}.",
        also="Además {names}.",
        shown="{p}: se muestran {n} de {m}.",
        least="más de {m}",
        quotes=("«", "»"),
        conjunction="y",
        typed="{s} es de tipo {o}",
        kind="{s} es una especie de {o}",
        same="{s} es lo mismo que {o}",
        apart="Nada es a la vez {s} y {o}",
        named="{s} se llama también {o}",
        described="Descripción de {s}: {o}",
        condition="Lo que es {s} cumple la condición {o}",
        noun="{p} de {s}: {o}",
    ),
}
"""The languages of answers without a model; in others they list labels and values."""

_PLACEHOLDER = re.compile(r"\{(s|p|o|n|m|names)\}")


def filled(template: str, **values: object) -> str:
    """Fill in a template at once, so that no value is read as one.

    Example:
        >>> filled(PHRASES["es"].typed, s="{o}", o="Casa")
        '{o} es de tipo Casa'
    """
    return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), template)


def caveats() -> str:
    """Return a regular expression of what answers without a model say of themselves."""
    every = []
    for p in PHRASES.values():
        opening, closing = map(re.escape, p.quotes)
        words = rf"(?:(?:, | {p.conjunction} )?{opening}(?:(?!{closing}).)*{closing})+"
        linked = _pattern(p.links, s=".{1,200}", names=".{1,400}")
        every += [*map(re.escape, (p.nothing_found, p.no_match, p.nearest))]
        least = _pattern(p.least, m=r"\d+")
        shown = _pattern(p.shown, p=words, n=r"\d+", m=rf"(?:\d+|{least})")
        every += [*(_pattern(said, names=words) for said in (p.mentions, p.sought)), linked, shown]
    return "|".join(every)


def _pattern(template: str, **places: str) -> str:
    parts = _PLACEHOLDER.split(template)
    return "".join(places[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))
