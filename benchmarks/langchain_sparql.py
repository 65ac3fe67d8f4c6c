"""Questions put to LangChain's own SPARQL chain, `GraphSparqlQAChain` of langchain-community.

It is the chain as it ships, with its own prompts, over the same graph (`mrag.community.rdf_graph`). What its
query finds is compared with the gold answers, so its last step, which puts that in words, is left out.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from langchain_core.language_models import BaseChatModel, FakeListChatModel
from rdflib import URIRef

from mrag.community import rdf_graph
from mrag.context.display import Display
from mrag.evaluation import GoldQuestion
from mrag.evaluation.answers import Prediction, named_in
from mrag.generation.models.calls import bounded
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.base import Limits

_TOKENS = 200


def chain_answer(kg: KnowledgeGraph, model: BaseChatModel, question: GoldQuestion) -> Prediction:
    """Return what the query finds that the chain has a model write for a question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_classic.chains.llm import LLMChain
        from langchain_community.chains.graph_qa.prompts import SPARQL_QA_PROMPT
        from langchain_community.chains.graph_qa.sparql import GraphSparqlQAChain

        graph = rdf_graph(kg, limits=Limits(10.0, 5_000))
        chain = GraphSparqlQAChain.from_llm(
            bounded(model, _TOKENS), graph=graph, allow_dangerous_requests=True, return_sparql_query=True
        )
        silent = FakeListChatModel(responses=["-"])
        chain.qa_chain = LLMChain(llm=silent, prompt=SPARQL_QA_PROMPT)
        started = time.perf_counter()
        rows, why = list[Any](), ""
        try:
            why = chain.invoke({"query": question.text})["sparql_query"]
            rows = list(graph.query(why))
        except Exception as error:  # the chain raises whatever its query does
            why = f"{why}\n{error}"[:500]
    display, named = Display(kg), named_in(question)

    def shown(term: Any) -> str | None:
        if not isinstance(term, URIRef):
            return None if term is None else str(term)
        return str(term) if str(term).casefold() in named else display.entity(str(term))

    table = tuple(tuple(shown(term) for term in row) for row in rows) or None
    seconds = time.perf_counter() - started
    return Prediction(question.id, table, "langchain", "", table is None, 1.0, why, seconds)
