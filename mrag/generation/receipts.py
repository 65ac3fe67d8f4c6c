"""Receipts of answers: the envelope with its hash, the keys that sign it, and what it adds to a check."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag._tables import tables
from mrag.errors import ConfigError, ModelError
from mrag.generation.result import canonical, form_of, parse
from mrag.generation.verification import HOW, CheckedPart, VerifyReport, differences, verify

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ED25519 = b"\xed\x01"
"""What stands before the bytes of an Ed25519 key (multicodec)."""
_NAME = re.compile(r"[^\W_][\w .@+-]{0,79}\Z")
OWN = "this installation"
"""What its own key is called in reports."""


def base58(data: bytes) -> str:
    """Write bytes in base 58, led by a `z` (multibase)."""
    number, text = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return "z" + "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def unbase58(text: str) -> bytes:
    """Read what `base58` wrote."""
    body = text[1:]
    if text[:1] != "z" or len(text) > 200 or not set(body) <= set(_BASE58):
        raise ModelError("Not base 58 with a leading z.", term=text[:60])
    number = 0
    for sign in body:
        number = number * 58 + _BASE58.index(sign)
    zeros = len(body) - len(body.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def verifies(key: str, signature: bytes, data: bytes) -> bool:
    """Return whether data was signed by the holder of a public key."""
    raw = _raw(key)
    _need()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True)
class SigningKey:
    """The private key of an installation."""

    public: str  # The public key, `z6Mk…`
    _private: Ed25519PrivateKey

    def sign(self, data: bytes) -> bytes:
        """Sign data."""
        return bytes(self._private.sign(data))


class KeyStore:
    """The keys of an installation, in a folder of the user's data."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            from platformdirs import user_data_path

            folder = user_data_path("mrag") / "keys"
        self.folder = folder
        self.file = folder / "signing.pem"
        self._trusted = folder / "trusted.json"

    def create(self) -> SigningKey:
        """Make the key of this installation."""
        _need()
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.generate()
        text = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(text)
        except FileExistsError as error:
            raise ConfigError(
                "This installation has a key.", file=str(self.file), hint="Show it with `mrag keys show`."
            ) from error
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self.file)) from error
        return _signing(private)

    def own(self) -> SigningKey | None:
        """Return the key of this installation; None if it has none."""
        if not self.file.exists():
            return None
        _need()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if os.name == "posix" and stat.S_IMODE(self.file.stat().st_mode) & 0o077:
            hint = f"chmod 600 {self.file}"
            raise ConfigError("Others than you may read the private key.", file=str(self.file), hint=hint)
        try:
            private = form.load_pem_private_key(self.file.read_bytes(), None)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise ConfigError(f"The private key cannot be read: {error}.", file=str(self.file)) from error
        if not isinstance(private, Ed25519PrivateKey):
            raise ConfigError("The private key is no Ed25519 key.", file=str(self.file))
        return _signing(private)

    def trusted_keys(self) -> Mapping[str, str]:
        """Return the names of trusted keys by key, this installation's own among them."""
        own = self.own()
        return {**{key: name for name, key in self._read().items()}, **({own.public: OWN} if own else {})}

    def trust(self, name: str, key: str) -> None:
        """Trust another's key under a name."""
        if not _NAME.match(name) or name == OWN:
            raise ConfigError("A key needs a name of letters and digits.", term=name[:80])
        try:
            _raw(key)
        except ModelError as error:
            raise ConfigError(error.message, term=key[:80], hint="Ask for their `mrag keys show`.") from error
        every = self._read()
        if every.get(name, key) != key:
            raise ConfigError("Another key is trusted under this name.", term=name, hint="Forget it first.")
        self._write({**every, name: key})

    def forget(self, name: str) -> None:
        """Trust a key no more."""
        every = self._read()
        if name not in every:
            raise ConfigError("No key is trusted under this name.", term=name)
        self._write({one: key for one, key in every.items() if one != name})

    def _read(self) -> dict[str, str]:
        if not self._trusted.exists():
            return {}
        try:
            keys = parse(self._trusted.read_bytes())
            if not isinstance(keys, dict):
                raise ModelError("It is no object.")
            for key in keys.values():
                _raw(key)
            return keys
        except (OSError, ModelError) as error:
            raise ConfigError(
                f"The list of trusted keys cannot be read: {error}.", file=str(self._trusted)
            ) from error

    def _write(self, every: Mapping[str, str]) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._trusted.with_suffix(".new")
            new.write_text(json.dumps(every, indent=1, sort_keys=True), encoding="utf-8")
            new.replace(self._trusted)
        except OSError as error:
            raise ConfigError(f"The key cannot be kept: {error}.", file=str(self._trusted)) from error


def _signing(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(base58(_ED25519 + private.public_key().public_bytes_raw()), private)


def _raw(key: Any) -> bytes:
    data = unbase58(key) if isinstance(key, str) else b""
    if not data.startswith(_ED25519) or len(data) != 34:
        raise ModelError("Not a public Ed25519 key.", term=str(key)[:80], hint="It begins with z6Mk.")
    return bytes(data[2:])


def _need() -> None:
    try:
        import cryptography as _  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "Signatures need the package cryptography.", hint="pip install 'mrag[sign]'"
        ) from error


_CONTEXT: dict[str, Any] = tables("generation/receipt.toml")
"""The context of the JSON-LD of receipts."""
_KIND = "schema:Answer"
_FIELD_NAME = "urn:mrag:receipt:"


@dataclass(frozen=True)
class Receipt:
    """What a receipt says, and what of it is not so."""

    answer: Mapping[str, Any]  # The JSON form of the answer
    report: VerifyReport  # What the check said when it was made
    source: str  # IRI of the knowledge graph
    revision: int  # Number of its state
    at: str  # When it was checked
    key: str = ""  # The public key that signed it; "" if none did
    altered: tuple[str, ...] = ()  # What is not as it was made, in words


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
    """Return the receipt of an answer that was checked."""
    parts = (answer, report, source, revision, version, at.isoformat())
    made = _make(*parts, _FIELD_NAME)
    made = _make(*parts, _FIELD_NAME + hashlib.sha256(canonical(made)).hexdigest())
    if key is None:
        return made
    proof = {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-jcs-2022",
        "created": at.isoformat(),
        "verificationMethod": f"did:key:{key.public}#{key.public}",
        "proofPurpose": "assertionMethod",
    }
    return {**made, "proof": {**proof, "proofValue": base58(key.sign(_sign(made, proof)))}}


def open_receipt(value: Mapping[str, Any]) -> Receipt | None:
    """Read a receipt, and make it again from what it says; None of what is no receipt."""
    if "@context" not in value:
        return None
    kinds, answer = value.get("@type"), value.get("json")
    if not isinstance(kinds, list) or _KIND not in kinds or not isinstance(answer, Mapping):
        raise ModelError("Not the receipt of an answer.", hint="Download one from an answer, whole.")
    with form_of("receipt of an answer"):
        activity = value["prov:wasGeneratedBy"]
        used, agent = activity["prov:used"], activity["prov:qualifiedAssociation"]["prov:agent"]
        source, revision, version = used["@id"], used["schema:version"], agent["schema:softwareVersion"]
        at = datetime.fromisoformat(value["at"])
        report = VerifyReport.from_json(value["schema:review"]["json"])
        again = receipt(answer, report, source=source, revision=revision, version=version, at=at)
        if not isinstance(revision, int) or not all(isinstance(one, str) for one in (source, value["at"])):
            raise TypeError("the graph, its state and the time")
    bare = {name: part for name, part in value.items() if name != "proof"}
    wrong = list(dict.fromkeys(where.partition("[")[0] for where in differences(bare, again)))
    altered = [f"the receipt is not as it was made: {', '.join(wrong[:5])}"] if wrong else []
    key = ""
    if "proof" in value:
        key, ill = _signer(bare, value["proof"])
        altered += ill
    return Receipt(answer, report, source, revision, value["at"], key, tuple(altered))


def _make(
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


def _sign(bare: Mapping[str, Any], proof: Mapping[str, Any]) -> bytes:
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
        if right and verifies(key, unbase58(str(proof.get("proofValue"))), _sign(bare, how)):
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


ENVELOPE = "the time, the state of the graph and the version of the check"
THEN = "what the check said then"


def with_receipt(
    report: VerifyReport, receipt: Receipt, trusted: Callable[[], Mapping[str, str]], source: str = ""
) -> VerifyReport:
    """Return the report of an answer with what its receipt adds.

    A signature of a trusted key vouches for what the receipt says of the check, and for those parts of the
    answer that were recomputed then. Nothing else does: whoever changes a receipt can make its hash anew.
    """
    altered = [*receipt.altered]
    if source and receipt.source != source:
        altered.append(f"it is of the graph {receipt.source}, not of {source}")
    name = trusted().get(receipt.key, "") if receipt.key else ""
    by = f"by {name}, {receipt.key}" if name else ""
    then = receipt.report
    if not by and not source:
        why = f"signed by a key that is not trusted, {receipt.key}" if receipt.key else "not signed"
        altered.append(f"it is {why}, so nothing of it can be checked without the graph")
    if not source and not then.ok:
        altered.append(f"it did not hold when it was checked: {str(then).splitlines()[0]}")
    vouched = {p.part for p in then.of("recomputed")} if by and then.ok else set()
    parts = [
        CheckedPart(p.part, "signed", by) if p.state == "not checked" and p.part in vouched else p
        for p in report.parts
    ]
    if not source:
        parts = [p for p in parts if p.part != HOW]
        known = {p.part for p in parts}
        parts += [
            CheckedPart(p.part, "signed", by) if p.part in vouched else replace(p, state="not checked")
            for p in then.parts
            if p.part not in known
        ]
    if by:
        parts += [CheckedPart(ENVELOPE, "signed", by), CheckedPart(THEN, "signed", by)]
    else:
        why = f"signed by {receipt.key}, which is not trusted" if receipt.key else "not signed"
        parts += [CheckedPart(ENVELOPE, "not checked", why), CheckedPart(THEN, "not checked", why)]
    checked = report.checked if source else then.checked
    return replace(report, checked=checked, altered=(*report.altered, *altered), parts=tuple(parts))


def check_alone(value: Mapping[str, Any], keys: KeyStore | None = None) -> VerifyReport:
    """Check a receipt without the graph: whether it contradicts itself, and whose signature it has."""
    receipt = open_receipt(value)
    if receipt is None:
        raise ModelError(
            "Without the graph only a receipt can be checked.",
            hint="Make one with `mrag verify answer.json --receipt OUT`.",
        )
    return with_receipt(verify(receipt.answer), receipt, lambda: (keys or KeyStore()).trusted_keys())
