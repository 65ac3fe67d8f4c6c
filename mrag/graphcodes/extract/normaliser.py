"""One way of writing: codes of captions, of scene graphs and of questions made comparable.

What a person calls `two brown tennis balls`, one scene graph has as a node `tennis balls` with the attributes
`2` and `brown`, another as `balls` with the attribute `tennis`. Metrics compare ids, so both sides are
written alike first: nouns in the singular, a compound as its head with the rest as attributes, verbs without
the marks of voice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.graphcodes.extract import lexicon
from mrag.text.tokens import singular

_COPY: Final = re.compile(r"(.+):(\d+)")


@dataclass(frozen=True)
class CodeNormaliser:
    """Writes a code of English terms in one way. Ids that are IRIs stay as they are.

    Args:
        singular: Nouns in the singular; the number stays where an attribute says it.
        compounds: A compound is its last word, with the others as attributes: `tennis ball` is a `ball`
            that `is` `tennis`.
        relations: A relation of several words is one edge for each word: who lays on a bed is on it too.
        attribute: The relation of attributes.

    Example:
        >>> code = GraphCode.of([], [("tennis players", "v:sit", "bench"), ("bench", "is", "gray")])
        >>> [edge.key for edge in CodeNormaliser()(code).edges]
        [('bench', 'is', 'grey'), ('player', 'is', 'tennis'), ('player', 'sit', 'bench')]
    """

    singular: bool = True
    compounds: bool = True
    relations: bool = True
    attribute: str = "is"

    def __call__(self, code: GraphCode) -> GraphCode:
        """Return the code as it is written here."""
        attributes = {edge.target for edge in code.edges if edge.relation == self.attribute}
        things = {edge.source for edge in code.edges}
        things |= {edge.target for edge in code.edges if edge.relation != self.attribute}
        edges: list[Edge] = []
        names: dict[str, str] = {}
        for node in code.nodes:
            if node.id in attributes and node.id not in things:
                names[node.id] = ""
            else:
                names[node.id], described = self._thing(node.id)
                edges += [Edge(names[node.id], self.attribute, word) for word in described]
        nodes = [
            Node(names[n.id], "" if names[n.id] != n.id else n.label, n.types)
            for n in code.nodes
            if names[n.id]
        ]
        for edge in code.edges:
            if edge.relation == self.attribute:
                targets = self._qualities(edge.target)
            else:
                targets = [names[edge.target]]
            for relation in self._relations(edge.relation):
                edges += [Edge(names[edge.source], relation, target, edge.weight) for target in targets]
        return GraphCode.of(nodes, edges, code.parts)

    def _thing(self, name: str) -> tuple[str, list[str]]:
        if "/" in name or name.startswith(("urn:", "ex:")):
            return name, []
        copy = _COPY.fullmatch(name)
        stem, tail = (copy[1], f":{copy[2]}") if copy else (name, "")
        stem = stem.replace("-", " ")
        stem = lexicon.JOINED.get(stem, stem).replace("-", "")
        words = stem.split()
        if self.singular:
            words = [singular(word) for word in words]
        if not self.compounds or len(words) < 2:
            return " ".join(words) + tail, []
        # A hot dog is no dog.
        whole = 2 if f"{words[-2]} {singular(words[-1])}" in lexicon.NO_KIND_OF else 1
        return " ".join(words[-whole:]) + tail, words[:-whole]

    def _qualities(self, name: str) -> list[str]:
        if "/" in name:
            return [name]
        words = name.replace("-", " ").split()
        words = [lexicon.QUALITIES.get(word, word) for word in words if word != "of"]
        return words if self.compounds else [" ".join(words)]

    def _relations(self, relation: str) -> list[str]:
        if "/" in relation:
            return [relation]
        bare = relation.removeprefix("pv:").removeprefix("v:")
        return [w for w in bare.split() if w not in ("the", "of")] if self.relations else [bare]
