"""A receipt of an answer: what was asked, how it was found, from which state, and that it held, as JSON-LD.

The vocabulary is PROV-O, schema.org and RDF's own reification, so that any program that reads JSON-LD finds
the question, the query, the triples and the check. The answer itself is a JSON literal in it; whoever has the
receipt can check the answer again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mrag.errors import ModelError
from mrag.generation.verification import VerifyReport

_CONTEXT: dict[str, Any] = {
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "schema": "https://schema.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "at": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
    "text": "schema:text",
    "name": "schema:name",
    "json": {"@id": "rdf:value", "@type": "@json"},
}
_KIND = "schema:Answer"


def receipt(
    answer: Mapping[str, Any],
    report: VerifyReport,
    *,
    source: str,
    revision: int,
    version: str,
    at: datetime,
) -> dict[str, Any]:
    """Return the receipt of an answer that was checked.

    Args:
        answer: The JSON form of the answer.
        report: What the check said.
        source: IRI of the knowledge graph.
        revision: Number of its state.
        version: Version of mrag.
        at: When it was checked.

    Example:
        >>> from datetime import UTC
        >>> answer = {"question": "Who?", "text": "Ann [t1].", "citations": [], "query": "", "reading": ""}
        >>> made = receipt(answer, VerifyReport(), source="urn:g", revision=3, version="0.1",
        ...                at=datetime(2026, 1, 1, tzinfo=UTC))
        >>> made["schema:parentItem"]["text"], answer_of(made) == answer
        ('Who?', True)
    """
    canonical = json.dumps(answer, sort_keys=True, ensure_ascii=False).encode()
    name = f"urn:mrag:receipt:{hashlib.blake2b(canonical, digest_size=16).hexdigest()}"
    when = at.isoformat()
    agent = {"@type": "prov:SoftwareAgent", "name": "mrag", "schema:softwareVersion": version}
    association: dict[str, Any] = {"@type": "prov:Association", "prov:agent": agent}
    if answer.get("query"):
        association["prov:hadPlan"] = {
            "@type": "prov:Plan",
            "text": answer["query"],
            "schema:encodingFormat": "application/sparql-query",
            "schema:description": answer.get("reading", ""),
            **({"json": answer["plan"]} if answer.get("plan") else {}),
        }
    return {
        "@context": _CONTEXT,
        "@id": name,
        "@type": ["prov:Entity", _KIND],
        "text": answer["text"],
        "schema:parentItem": {"@type": "schema:Question", "text": answer["question"]},
        "at": when,
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:used": {"@id": source, "@type": "prov:Entity", "schema:version": revision},
            "prov:qualifiedAssociation": association,
        },
        "prov:wasDerivedFrom": [_statement(name, citation) for citation in answer["citations"]],
        "schema:review": {
            "@type": ["prov:Entity", "schema:Review"],
            "schema:reviewBody": str(report),
            "at": when,
            "json": report.to_json(),
        },
        "json": dict(answer),
    }


def answer_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer of a receipt; what is none is returned as it is.

    Raises:
        ModelError: If it is a receipt without an answer.
    """
    if "@context" not in value:
        return value
    kinds, answer = value.get("@type"), value.get("json")
    if not isinstance(kinds, list) or _KIND not in kinds or not isinstance(answer, Mapping):
        raise ModelError("Not the receipt of an answer.", hint="Download one from an answer, whole.")
    if answer.get("text") != value.get("text"):
        raise ModelError("The receipt says another text than its answer.", hint="It was altered.")
    return answer


def _statement(receipt: str, citation: Mapping[str, Any]) -> dict[str, Any]:
    s, p, o = (citation["triple"][place] for place in "spo")
    return {
        "@id": f"{receipt}#{citation['id']}",
        "@type": ["rdf:Statement", "prov:Entity"],
        "rdf:subject": _term(s),
        "rdf:predicate": _term(p),
        "rdf:object": _term(o),
        "text": citation["text"],
        "schema:isPartOf": {"@id": citation["graph"]},
        "schema:additionalType": "inferred" if citation["inferred"] else "asserted",
    }


def _term(term: Mapping[str, str]) -> dict[str, str]:
    if term["type"] == "uri":
        return {"@id": term["value"]}
    if "xml:lang" in term:
        return {"@value": term["value"], "@language": term["xml:lang"]}
    kind = {"@type": term["datatype"]} if "datatype" in term else {}
    return {"@value": term["value"], **kind}
