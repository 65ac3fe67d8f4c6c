"""A receipt of an answer: what was asked, how it was found, from which state, and that it held, as JSON-LD.

The vocabulary is PROV-O, schema.org and RDF's own reification, so that any program that reads JSON-LD finds
the question, the query, the triples and the check. The answer itself is a JSON literal in it. All else is
made of the answer, the check, the graph and the time alone, so that it can be made again and compared; its
name is the SHA-256 of its canonical JSON. A signature is a proof of the suite `eddsa-jcs-2022` (W3C, VC Data
Integrity).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mrag.errors import ModelError
from mrag.generation.receipts.keys import base58, unbase58, verifies
from mrag.generation.result import canonical
from mrag.generation.verification import VerifyReport, differences

if TYPE_CHECKING:
    from mrag.generation.receipts.keys import SigningKey

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
_FIELD_NAME = "urn:mrag:receipt:"
_OLD = re.compile(r"urn:mrag:receipt:[0-9a-f]{32}\Z")
_NO_RECEIPT = "Not the receipt of an answer."


@dataclass(frozen=True)
class Receipt:
    """What a receipt says, and what of it is not so.

    Attributes:
        answer: The JSON form of the answer.
        report: What the check said when it was made; None in receipts that were made without a hash.
        source: IRI of the knowledge graph.
        revision: Number of its state.
        at: When it was checked.
        key: The public key that signed it; "" if none did.
        altered: What is not as it was made, in words.
    """

    answer: Mapping[str, Any]
    report: VerifyReport | None
    source: str
    revision: int
    at: str
    key: str = ""
    altered: tuple[str, ...] = ()


def receipt(
    answer: Mapping[str, Any],
    report: VerifyReport,
    *,
    source: str,
    revision: int,
    version: str,
    at: datetime,
    key: SigningKey | None = None,
) -> dict[str, Any]:
    """Return the receipt of an answer that was checked.

    Args:
        answer: The JSON form of the answer.
        report: What the check said.
        source: IRI of the knowledge graph.
        revision: Number of its state.
        version: Version of mrag.
        at: When it was checked.
        key: What signs it.

    Raises:
        ModelError: If the answer has no canonical form.

    Example:
        >>> from datetime import UTC
        >>> answer = {"question": "Who?", "text": "Ann [t1].", "citations": [], "query": "", "reading": ""}
        >>> made = receipt(answer, VerifyReport(), source="urn:g", revision=3, version="0.1",
        ...                at=datetime(2026, 1, 1, tzinfo=UTC))
        >>> made["schema:parentItem"]["text"], opened(made).answer == answer, opened(made).altered
        ('Who?', True, ())
        >>> opened({**made, "at": "2027-01-01T00:00:00+00:00"}).altered[0]
        'the receipt is not as it was made: @id, schema:review.at'
    """
    parts = (answer, report, source, revision, version, at.isoformat())
    made = _made(*parts, _FIELD_NAME)
    made = _made(*parts, _FIELD_NAME + hashlib.sha256(canonical(made)).hexdigest())
    if key is None:
        return made
    proof = {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-jcs-2022",
        "created": at.isoformat(),
        "verificationMethod": f"did:key:{key.public}#{key.public}",
        "proofPurpose": "assertionMethod",
    }
    return {**made, "proof": {**proof, "proofValue": base58(key.sign(_signed(made, proof)))}}


def opened(value: Mapping[str, Any]) -> Receipt | None:
    """Read a receipt, and make it again from what it says; None of what is no receipt.

    Raises:
        ModelError: If it is a receipt without an answer.
        ConfigError: If it is signed and `cryptography` is not installed.
    """
    if "@context" not in value:
        return None
    kinds, answer = value.get("@type"), value.get("json")
    if not isinstance(kinds, list) or _KIND not in kinds or not isinstance(answer, Mapping):
        raise ModelError(_NO_RECEIPT, hint="Download one from an answer, whole.")
    try:
        activity = value["prov:wasGeneratedBy"]
        used, agent = activity["prov:used"], activity["prov:qualifiedAssociation"]["prov:agent"]
        source, revision = used["@id"], used["schema:version"]
        if _OLD.match(str(value["@id"])):
            other = () if answer["text"] == value["text"] else ("it says another text than its answer",)
            return Receipt(answer, None, source, revision, str(value["at"]), "", other)
        at = datetime.fromisoformat(value["at"])
        report = VerifyReport.from_json(value["schema:review"]["json"])
        again = receipt(
            answer, report, source=source, revision=revision, version=agent["schema:softwareVersion"], at=at
        )
        if not isinstance(revision, int) or not all(isinstance(one, str) for one in (source, value["at"])):
            raise TypeError("the graph, its state and the time")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(_NO_RECEIPT, hint=f"Missing or malformed: {error}.") from error
    bare = {name: part for name, part in value.items() if name != "proof"}
    wrong = list(dict.fromkeys(where.partition("[")[0] for where in differences(bare, again)))
    altered = [f"the receipt is not as it was made: {', '.join(wrong[:5])}"] if wrong else []
    key = ""
    if "proof" in value:
        key, ill = _signer(bare, value["proof"])
        altered += ill
    return Receipt(answer, report, source, revision, value["at"], key, tuple(altered))


def _made(
    answer: Mapping[str, Any],
    report: VerifyReport,
    source: str,
    revision: int,
    version: str,
    when: str,
    name: str,
) -> dict[str, Any]:
    agent = {"@type": "prov:SoftwareAgent", "name": "mrag", "schema:softwareVersion": version}
    association: dict[str, Any] = {"@type": "prov:Association", "prov:agent": agent}
    if answer.get("query"):
        association["prov:hadPlan"] = {
            "@type": ["prov:Plan", "schema:SoftwareSourceCode"],
            "schema:programmingLanguage": "SPARQL",
            "text": answer["query"],
            "schema:description": answer["reading"],
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


def _signed(bare: Mapping[str, Any], proof: Mapping[str, Any]) -> bytes:
    """Return what a proof signs: the hashes of how it is signed and of what is."""
    how = canonical({"@context": bare["@context"], **proof})
    return hashlib.sha256(how).digest() + hashlib.sha256(canonical(bare)).digest()


def _signer(bare: Mapping[str, Any], proof: Any) -> tuple[str, list[str]]:
    """Return the key that signed a receipt, and what is wrong with the signature."""
    wrong = ["its signature is not that of all that it says"]
    if not isinstance(proof, Mapping) or proof.get("cryptosuite") != "eddsa-jcs-2022":
        return "", wrong
    how = {name: part for name, part in proof.items() if name != "proofValue"}
    key = str(proof.get("verificationMethod", "")).removeprefix("did:key:").partition("#")[0]
    known = {"type", "cryptosuite", "created", "verificationMethod", "proofPurpose"}
    if {*how} != known or how["created"] != bare["at"] or how["proofPurpose"] != "assertionMethod":
        return "", wrong
    try:
        right = how["verificationMethod"] == f"did:key:{key}#{key}"
        if right and verifies(key, unbase58(str(proof.get("proofValue"))), _signed(bare, how)):
            return key, []
    except ModelError:
        pass
    return "", wrong


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
