"""What the graph says of what a sentence names: the store is asked, in a bounded number of queries.

A context holds what was read for a question. Whether the graph says what a sentence says is another question,
and is put to the store itself: which things are called so, what leads from one of them to another, and what
stands around them under the relations that the sentence speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rdflib import BNode, Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.expansion import ContextSettings, expand
from mrag.context.render import Context, Line
from mrag.generation.support.mentions import ContextNames
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, Term, Triple, to_ox
from mrag.stores.base import Dataset
from mrag.text.tokens import is_stopword, tokens

_THINGS: Final = 5
"""Things of one sentence that are asked about."""
_WORDS: Final = 5
"""Words of a name that is looked up."""
_MOST_FORMS: Final = 40
_PAIRS: Final = 400
_AROUND: Final = ContextSettings(hops=1, asked_hop=False, schema=False, max_triples=120, token_budget=12_000)


class StoreFacts:
    """Asks a knowledge graph about sentences.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> extended = StoreFacts(kg).about("Virtuoso is developed by OpenLink Software.", Context((), ()))
        >>> any(line.text == "(Virtuoso, developed by, OpenLink Software)" for line in extended.lines)
        True
        >>> kg.close()
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg

    def about(self, sentence: str, context: Context) -> Context:
        """Return a context with what the graph says of what a sentence names behind its own lines."""
        things = self._things(sentence, context)
        if not things:
            return context
        around = expand(self.kg, [(str(thing), 1.0) for thing in things], _AROUND, question=sentence)
        known = {line.triple for line in context.lines}
        found: dict[Triple, Line] = {}
        for line in (*self._between(things), *around.lines):
            if line.triple not in known and line.triple not in found:
                found[line.triple] = replace(line, id=f"g{len(found) + 1}")
        return replace(context, lines=(*context.lines, *found.values()), cut=(*context.cut, *around.cut))

    def is_single(self, prop: Term) -> bool:
        """Return whether a property has at most one value, by the ontology."""
        return self._is(prop, OWL + "FunctionalProperty")

    def is_one_way(self, prop: Term) -> bool:
        """Return whether a property never holds the other way round, too, by the ontology."""
        return self._is(prop, OWL + "AsymmetricProperty")

    def _is(self, prop: Term, kind: str) -> bool:
        if not isinstance(prop, URIRef):
            return False
        rows = self.kg.select(queries.get("completion/check-properties").bind(property=[prop]))
        return any(str(about) == RDF + "type" and str(value) == kind for _, about, value in rows)

    def are_disjoint(self, types: Sequence[Term], kind: Term) -> bool:
        """Return whether what is of some classes cannot be of another."""
        named = [one for one in (*types, kind) if isinstance(one, URIRef)]
        if len(named) < 2 or kind not in named:
            return False
        rows = self.kg.select(queries.get("completion/check-disjoint").bind(**{"class": named}))
        return any(
            (one == kind and other in types) or (other == kind and one in types) for one, other in rows
        )

    def _things(self, sentence: str, context: Context) -> list[URIRef]:
        names = ContextNames(context.lines)
        common = names.classes | names.properties
        told = tokens(sentence)
        mentions = names.find(sentence, told)
        named = {t for m in mentions for t in m.terms if isinstance(t, URIRef) and t not in common}
        inside = {i for m in mentions for i in range(max(m.first, 0), m.last) if not m.terms <= common}
        unknown = self._called(sentence, [i for i in range(len(told)) if i not in inside])
        return [*unknown, *sorted(named - set(unknown), key=str)][:_THINGS]

    def _called(self, sentence: str, free: Sequence[int]) -> list[URIRef]:
        """Return what is called as runs of words of a sentence are, the longest runs first."""
        told = tokens(sentence)
        runs: list[list[int]] = [[]]
        for before, i in pairwise([-2, *free]):
            if i != before + 1:
                runs.append([])
            runs[-1].append(i)
        forms: dict[str, None] = {}
        for size in range(_WORDS, 0, -1):
            for run in runs:
                for at in range(len(run) - size + 1):
                    first, last = told[run[at]], told[run[at + size - 1]]
                    if size == 1 and (is_stopword(first.key) or len(first.raw) < 2):
                        continue
                    text = sentence[first.start : last.end]
                    forms[text.removesuffix("'s").removesuffix("’s")] = None
                    forms[sentence[first.start : last.end + 1].strip(" ,;:!?")] = None  # "Acme Inc."
        wanted = [
            Literal(form, lang=tag or None)
            for form in list(forms)[:_MOST_FORMS]
            for tag in dict.fromkeys(["", *self.kg.languages])
        ]
        if not wanted:
            return []
        pairs = [(URIRef(name), text) for name in self.kg.profile().labels for text in wanted][:_PAIRS]
        rows = list(self.kg.select(queries.get("label/exact").bind(property_text=pairs)))
        order = {form: i for i, form in enumerate(forms)}
        rows.sort(key=lambda row: (order.get(str(row[0]), len(order)), str(row[1])))
        return list(dict.fromkeys(thing for _, thing in rows if isinstance(thing, URIRef)))[:_THINGS]

    def _between(self, things: Sequence[URIRef]) -> list[Line]:
        """Return the lines that lead from one of some things to another."""
        pairs = [(one, other) for one in things for other in things if one != other]
        if not pairs:
            return []
        display = Display(self.kg)
        found = []
        for s, p, o in self.kg.select(queries.get("context/between").bind(s_o=pairs)):
            if not (isinstance(s, URIRef | BNode) and isinstance(p, URIRef) and o is not None):
                continue
            graph = self._graph(s, p, o)
            shown = (display.entity(str(s)), display.predicate(str(p)), display.term(to_ox(o)))
            found.append(
                Line(
                    "",
                    untrusted.fact(shown),
                    Triple(s, p, o),
                    graph,
                    self.kg.is_inferred(graph),
                    shown,
                    str(s),
                )
            )
        return found

    def _graph(self, s: Term, p: Term, o: Term) -> str:
        """Return the graph of ours that holds a triple; of a store with graphs of its own, the one asked."""
        record = self.kg.record
        asks = queries.get("context/holds").bind(s_p_o=[(s, p, o)])
        graphs = [*record.asserted, *record.inferred]
        return next(
            (g for g in graphs if self.kg.store.ask(asks, Dataset((g,)))), graphs[0] if graphs else ""
        )
