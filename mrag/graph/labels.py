"""The best label of entities, by language and by property."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pyoxigraph as ox
from rdflib import Literal

from mrag.rdf import queries
from mrag.stores.base import Dataset, TripleStore

_BATCH = 500
_Text = tuple[int, str, str]


def language_rank(tag: str, languages: Sequence[str]) -> int:
    """Return how far down the preferred languages a language tag stands; 0 is best.

    Args:
        tag: A language tag, "" for a literal without.
        languages: Preferred tags, best first.

    Example:
        >>> [language_rank(tag, ("de", "en")) for tag in ("de", "de-AT", "en", "fr")]
        [0, 1, 2, 4]
    """
    tag = tag.lower()
    for at, wanted in enumerate(languages):
        if tag == wanted or (wanted and tag.startswith(wanted + "-")):
            # en-GB is English, yet plain en comes before it.
            return 2 * at + (tag != wanted)
    return 2 * len(languages)


def fetch_labels(
    store: TripleStore,
    dataset: Dataset,
    entities: Sequence[str],
    naming: Sequence[Sequence[str]],
    languages: Sequence[str],
) -> dict[str, str | None]:
    """Read the best label of each entity, None where it has none.

    Language comes before property: an English `rdfs:label` beats a French `skos:prefLabel`. What a property
    of a later tier gives is taken only where the tiers before give nothing. Ties break by the text.

    Args:
        store: The store.
        dataset: The graphs to read.
        entities: IRIs.
        naming: Tiers of label properties, best first, as in `Profile.naming`.
        languages: Preferred language tags, best first.
    """
    tiers = {p: at for at, tier in reversed([*enumerate(naming)]) for p in tier}
    properties = list(dict.fromkeys(p for tier in naming for p in tier))
    read = _by_edges if store.capabilities.edges else _by_query
    found = read(store, dataset, entities, properties)

    def order(text: _Text) -> tuple[int, int, int, str, str]:
        at, language, label = text
        return tiers[properties[at]], language_rank(language, languages), at, language, label

    labels: dict[str, str | None] = dict.fromkeys(entities)
    labels.update((e, " ".join(min(texts, key=order)[2].split())) for e, texts in found.items())
    return labels


def _by_edges(
    store: TripleStore, dataset: Dataset, entities: Sequence[str], properties: Sequence[str]
) -> dict[str, list[_Text]]:
    found: defaultdict[str, list[_Text]] = defaultdict(list)
    for at, name in enumerate(properties):
        for graph in dataset.default:
            for entity in entities:
                for quad in store.edges(graph, s=entity, p=name):
                    if isinstance(label := quad.object, ox.Literal):
                        found[entity].append((at, label.language or "", label.value))
    return found


def _by_query(
    store: TripleStore, dataset: Dataset, entities: Sequence[str], properties: Sequence[str]
) -> dict[str, list[_Text]]:
    found: defaultdict[str, list[_Text]] = defaultdict(list)
    query = queries.get("label/labels")
    pairs = [(entity, name) for entity in entities for name in properties]
    for start in range(0, len(pairs), _BATCH):
        rows = store.select(query.bind(entity_property=pairs[start : start + _BATCH]), dataset)
        for entity_, name_, label in rows:
            if isinstance(label, Literal):
                at = properties.index(str(name_))
                found[str(entity_)].append((at, label.language or "", str(label)))
    return found
