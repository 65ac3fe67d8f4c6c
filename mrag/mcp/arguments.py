"""The arguments of the tools, from which their JSON schemas are made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Iri = Annotated[str, Field(min_length=1, max_length=2_000)]
Layer = Annotated[Literal["all", "asserted", "inferred"], Field(description="Which triples the query sees.")]
Most = Annotated[int, Field(ge=1, le=500, description="Maximum number of rows to show.")]


class Arguments(BaseModel):
    """Arguments of a tool; unknown ones are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


RankerName = Annotated[str, Field(min_length=1, max_length=100)]


class SearchArguments(Arguments):
    """Arguments of `search`."""

    text: Words = Field(description="What to search for, in words.")
    k: int = Field(default=10, ge=1, le=100, description="Maximum number of entities.")
    ranker: RankerName | None = Field(
        default=None,
        description="By words (bm25), by meaning (dense), both (hybrid) or structure (codes); behind it "
        "+mmr for variety or +cel for a learnt concept. The server's own if left out.",
    )


class ContextArguments(Arguments):
    """Arguments of `context`."""

    entities: list[Iri] = Field(min_length=1, max_length=20, description="IRIs or CURIEs of entities.")
    question: str = Field(
        default="", max_length=2_000, description="Triples that share words with it come first."
    )
    hops: int = Field(default=1, ge=1, le=2, description="Steps from each entity.")
    most: int = Field(default=60, ge=1, le=300, description="Maximum number of triples.")


class AskArguments(Arguments):
    """Arguments of `ask`."""

    question: Words = Field(description="The question, in words.")
    k: int = Field(
        default=10, ge=1, le=50, description="Maximum number of entities to start from, if it is read."
    )
    how: Literal["auto", "plan", "read"] = Field(
        default="auto",
        description="plan: compute the answer or say why that cannot be done. read: read it around the most "
        "similar entities. auto: compute where that is sure, else read.",
    )
    ranker: RankerName | None = Field(
        default=None, description="What finds the entities to start from, if it is read; as for `search`."
    )
    reading: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="Number of the reading to compute, of those that `ask` offers.",
    )
    most: Most = 50


class ExplainArguments(Arguments):
    """Arguments of `explain`."""

    subject: Iri = Field(description="IRI or CURIE of an entity.")
    predicate: Iri | None = Field(default=None, description="With `object`: the one triple to explain.")
    object: Any = Field(
        default=None,
        description='IRI or CURIE. A literal is {"type": "literal", "value": …} and its "xml:lang" or '
        '"datatype".',
    )
    most: int = Field(
        default=5, ge=1, le=50, description="Maximum number of inferred triples of the entity to explain."
    )


class SchemaArguments(Arguments):
    """Arguments of `schema`."""

    contains: str = Field(
        default="", max_length=200, description="Only classes and predicates whose label or IRI contains it."
    )
    most: Most = 50


class SparqlArguments(Arguments):
    """Arguments of `query`."""

    sparql: str = Field(
        min_length=1, max_length=50_000, description="A SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE query."
    )
    layer: Layer = "all"
    most: Most = 50


class RunQueryArguments(Arguments):
    """Arguments of `run_query`."""

    name: str = Field(max_length=200, description="Name of the query.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Its parameters.")
    layer: Layer = "all"
    most: Most = 50
