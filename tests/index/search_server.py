"""The part of the REST interface of OpenSearch that mrag uses, on loopback.

It answers and refuses as its documentation says: documents are found after a refresh, deleted ones
count in the statistics of BM25 until their segment is merged, lengths of documents are kept in a byte, and
what is not known in a body or in a URL is an error.
"""

import base64
import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers import Quiet, answering

WINDOW = 10_000
CLAUSES = 1024
VALUES = 65_536


class Refusal(Exception):
    def __init__(self, status: int, kind: str, reason: str) -> None:
        self.status, self.kind, self.reason = status, kind, reason

    @property
    def error(self) -> dict[str, Any]:
        return {"type": self.kind, "reason": self.reason}


def wrong(reason: str, kind: str = "parsing_exception") -> Refusal:
    return Refusal(400, kind, reason)


def only(given: dict[str, Any], *known: str) -> None:
    if more := given.keys() - {*known}:
        raise wrong(f"unknown field [{min(more)}]", "x_content_parse_exception")


def stored_length(length: int) -> int:
    """Lucene keeps four significant bits of a length above 40."""
    if length < 40:
        return length
    shift = (length - 24).bit_length() - 4
    return 24 + ((length - 24) >> shift << shift)


@dataclass
class Segment:
    documents: dict[str, dict[str, Any]]
    deleted: set[str] = field(default_factory=set)


@dataclass
class Collection:
    version: int
    settings: dict[str, Any]
    mappings: dict[str, Any]
    segments: list[Segment] = field(default_factory=list)
    waiting: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What was written since the last refresh."""
    going: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        only(self.mappings, "dynamic", "_source", "properties")
        self.fields = self.mappings.get("properties", {})
        for name, kind in self.fields.items():
            self._check(name, dict(kind))
        knobs = dict(self.settings.get("similarity", {}).get("default", {"type": "BM25"}))
        if knobs.pop("type") != "BM25":
            raise wrong("Unknown Similarity type", "illegal_argument_exception")
        self.k1, self.b = float(knobs.pop("k1", 1.2)), float(knobs.pop("b", 0.75))

    def _check(self, name: str, kind: dict[str, Any]) -> None:
        known = {
            "keyword": {"index", "doc_values"}, "long": set(), "binary": set(),
            "text": {"index", "analyzer", "index_options"}, "knn_vector": {"dimension", "method"},
        }  # fmt: skip
        what = kind.pop("type")
        if what not in known:
            raise wrong(f"No handler for type [{what}] of field [{name}]", "mapper_parsing_exception")
        if more := kind.keys() - known[what]:
            raise wrong(f"unknown parameter [{min(more)}] on mapper [{name}]", "mapper_parsing_exception")
        if what == "knn_vector":
            assert self.settings.get("knn") is True
            method = kind["method"]
            assert (method["name"], method["engine"], method["space_type"]) == (
                "hnsw", "lucene", "innerproduct",
            )  # fmt: skip

    @property
    def vectors(self) -> tuple[str, int]:
        [(name, kind)] = [(n, k) for n, k in self.fields.items() if k["type"] == "knn_vector"]
        return name, kind["dimension"]

    def write(self, number: str, document: dict[str, Any]) -> int:
        if len(number.encode()) > 512:
            raise wrong("id is too long, must be no longer than 512 bytes", "illegal_argument_exception")
        for name, value in document.items():
            kind = self.fields.get(name, {}).get("type", "")
            if kind == "knn_vector" and len(value) != self.vectors[1]:
                raise wrong(f"[{name}] has another number of dimensions", "document_parsing_exception")
            if kind == "binary":
                base64.b64decode(value, validate=True)
            if kind == "long" and not isinstance(value, int):
                raise wrong(f"failed to parse field [{name}] of type [long]", "document_parsing_exception")
        there = number in self.waiting or self.get(number) is not None
        self.going.discard(number)
        self.waiting[number] = document
        return 200 if there else 201

    def get(self, number: str) -> dict[str, Any] | None:
        """A document by ID is read as it was last written, refreshed or not."""
        if number in self.waiting:
            return self.waiting[number]
        return None if number in self.going else dict(self.live()).get(number)

    def delete(self, number: str) -> bool:
        there = self.get(number) is not None
        self.waiting.pop(number, None)
        self.going.add(number)
        return there

    def refresh(self) -> None:
        for segment in self.segments:
            segment.deleted |= segment.documents.keys() & (self.going | self.waiting.keys())
        if self.waiting:
            self.segments.append(Segment(self.waiting))
        self.waiting, self.going = {}, set()
        self.segments = [s for s in self.segments if len(s.deleted) < len(s.documents)]

    def expunge(self) -> None:
        old = [s for s in self.segments if 10 * len(s.deleted) > len(s.documents)]
        kept = {n: d for s in old for n, d in s.documents.items() if n not in s.deleted}
        self.segments = [s for s in self.segments if s not in old] + ([Segment(kept)] if kept else [])

    def live(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for segment in self.segments:
            for number, document in segment.documents.items():
                if number not in segment.deleted:
                    yield number, document

    def words(self, name: str, document: dict[str, Any]) -> list[str]:
        assert self.fields[name]["analyzer"] == "whitespace"
        return [word[at : at + 255] for word in document[name].split() for at in range(0, len(word), 255)]

    # -- queries -----------------------------------------------------------------------------------

    def scorer(self, query: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        """Return what gives the score of a document, None for one that does not match."""
        if len(query) != 1:
            raise wrong("[bool] malformed query, expected [END_OBJECT] but found [FIELD_NAME]")
        [(kind, body)] = query.items()
        kinds = {"bool": self._bool, "term": self._term, "terms": self._terms, "range": self._range}
        kinds["knn"] = self._knn
        if kind not in kinds:
            raise wrong(f"unknown query [{kind}]")
        return kinds[kind](body)

    def _bool(self, body: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        only(body, "should", "filter", "minimum_should_match")
        should = [self.scorer(one) for one in body.get("should", [])]
        filters = [self.scorer(one) for one in body.get("filter", [])]
        if len(should) + len(filters) > CLAUSES:
            raise wrong("maxClauseCount is set to 1024", "too_many_nested_clauses")
        least = body.get("minimum_should_match", 0 if filters or not should else 1)

        def score(document: dict[str, Any]) -> float | None:
            if any(one(document) is None for one in filters):
                return None
            found = [got for one in should if (got := one(document)) is not None]
            return None if len(found) < least else math.fsum(found)

        return score

    def _term(self, body: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        [(name, asked)] = body.items()
        asked = asked if isinstance(asked, dict) else {"value": asked}
        only(asked, "value", "boost")
        value, boost = asked["value"], asked.get("boost", 1)
        self._searchable(name)
        if self.fields[name]["type"] != "text":
            return lambda document: float(boost) if document.get(name) == value else None
        every = [self.words(name, d) for s in self.segments for d in s.documents.values() if name in d]
        count = sum(value in words for words in every)
        mean = sum(map(len, every)) / max(1, len(every))
        idf = math.log(1 + (len(every) - count + 0.5) / (count + 0.5))

        def score(document: dict[str, Any]) -> float | None:
            words = self.words(name, document)
            times = words.count(value)
            length = stored_length(len(words))
            norm = self.k1 * (1 - self.b + self.b * length / mean)
            part = boost * idf * times / (times + norm) * (1 if self.version >= 3 else self.k1 + 1)
            return part if times else None

        return score

    def _terms(self, body: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        [(name, values)] = body.items()
        self._searchable(name)
        if len(values) > VALUES:
            raise wrong(f"The number of terms [{len(values)}] is greater than the allowed maximum")
        some = set(values)
        return lambda document: 1.0 if document.get(name) in some else None

    def _range(self, body: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        [(name, ends)] = body.items()
        only(ends, "gt", "gte", "lt", "lte")
        self._searchable(name)
        tests = {
            "gt": lambda value, end: value > end, "gte": lambda value, end: value >= end,
            "lt": lambda value, end: value < end, "lte": lambda value, end: value <= end,
        }  # fmt: skip
        return lambda d: 1.0 if all(tests[by](d[name], end) for by, end in ends.items()) else None

    def _knn(self, body: dict[str, Any]) -> Callable[[dict[str, Any]], float | None]:
        [(name, asked)] = body.items()
        only(asked, "vector", "k", "filter")
        vector, k = asked["vector"], asked["k"]
        if name not in self.fields or name != self.vectors[0]:
            raise wrong(f"Field '{name}' is not knn_vector type.", "illegal_argument_exception")
        if len(vector) != self.vectors[1]:
            raise wrong("Query vector has invalid dimension", "illegal_argument_exception")
        if not 0 < k <= WINDOW:
            raise wrong("[k] cannot exceed [10000]")
        fits = self._bool({"filter": [asked["filter"]]})
        found = []
        for number, document in self.live():
            if name in document and fits(document) is not None:
                product = sum(a * b for a, b in zip(vector, document[name], strict=True))
                found.append((product + 1 if product > 0 else 1 / (1 - product), number, document))
        best = {id(d): score for score, _, d in sorted(found, key=lambda one: (-one[0], one[1]))[:k]}
        return lambda document: best.get(id(document))

    def _searchable(self, name: str) -> None:
        kind = self.fields.get(name)
        if kind is not None and kind.get("index") is False:
            raise wrong(f"Cannot search on field [{name}] since it is not indexed.", "query_shard_exception")
        if kind is None:
            raise AssertionError(f"{name} is searched and not mapped")

    def search(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        only(body, "size", "query", "sort", "search_after", "_source", "track_total_hits")
        size = body.get("size", 10)
        if size > WINDOW:
            raise wrong("Result window is too large, from + size must be less than or equal to: [10000]")
        score = self.scorer(body["query"])
        found = [(got, n, d) for n, d in self.live() if (got := score(d)) is not None]
        if sort := body.get("sort"):
            [[(name, order)]] = [one.items() for one in sort]
            assert order == "asc" and self.fields[name]["type"] == "keyword"
            found = sorted(found, key=lambda one: one[2][name])
            if "search_after" in body:
                [after] = body["search_after"]
                found = [one for one in found if one[2][name] > after]
        else:
            # Ties are in order of Lucene's own numbers, which no caller knows.
            found = sorted(found, key=lambda one: -one[0])
        hits = []
        for got, number, document in found[:size]:
            hit = {"_id": number, "_score": None if sort else got}
            hit["_source"] = self.source(document, body.get("_source"))
            hits.append({**hit, "sort": [document[name]]} if sort else hit)
        return hits

    def source(self, document: dict[str, Any], fields: list[str] | None = None) -> dict[str, Any]:
        left_out = self.mappings.get("_source", {}).get("excludes", [])
        kept = {name: value for name, value in document.items() if name not in left_out}
        return kept if fields is None else {name: kept[name] for name in fields if name in kept}


class SearchServer:
    """A server of one major version; `busy` documents in turn are refused as too many."""

    def __init__(self, version: int, login: str | None = None) -> None:
        self.version, self.login = version, login
        self.busy = 0
        self.collections: dict[str, Collection] = {}
        self.lock = threading.RLock()
        self.requests: list[str] = []

    def answer(self, method: str, path: str, query: dict[str, str], raw: bytes) -> tuple[int, Any]:
        parts = [unquote(part) for part in path.strip("/").split("/") if part]
        if not parts:
            return 200, {"version": {"number": f"{self.version}.1.0", "distribution": "opensearch"}}
        verb = next((part for part in parts[1:] if part.startswith("_")), "")
        name = parts[0]
        if verb == "_bulk":
            return self._bulk(self._of(name), raw, query)
        body = json.loads(raw) if raw else None
        match f"{method} {verb}".strip():
            case "GET _alias":
                return 200, {one: {"aliases": {}} for one in self.collections if fnmatchcase(one, name)}
            case "PUT":
                if not re.fullmatch(r"[a-z0-9][a-z0-9_.\-]{0,254}", name):
                    raise wrong(f"Invalid index name [{name}]", "invalid_index_name_exception")
                if name in self.collections:
                    raise wrong(f"index [{name}] already exists", "resource_already_exists_exception")
                only(body, "settings", "mappings")
                settings = body.get("settings", {}).get("index", {})
                only(settings, "refresh_interval", "similarity", "knn")
                self.collections[name] = Collection(self.version, settings, body["mappings"])
                return 200, {"acknowledged": True, "index": name}
            case "DELETE":
                self._of(name)
                del self.collections[name]
                return 200, {"acknowledged": True}
            case "POST _refresh":
                self._of(name).refresh()
                return 200, {"_shards": {"failed": 0}}
            case "POST _forcemerge":
                only(query, "only_expunge_deletes")
                self._of(name).expunge()
                return 200, {"_shards": {"failed": 0}}
            case "POST _search":
                only(query, "search_type", "allow_partial_search_results")
                hits = self._of(name).search(body)
                return 200, {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}}
            case "POST _delete_by_query":
                only(query, "conflicts", "refresh")
                only(body, "query")
                here = self._of(name)
                score = here.scorer(body["query"])
                found = [number for number, document in here.live() if score(document) is not None]
                for number in found:
                    here.delete(number)
                if query.get("refresh") == "true":
                    here.refresh()
                return 200, {"deleted": len(found), "version_conflicts": 0, "failures": []}
        raise Refusal(405, "method_not_allowed", f"Incorrect HTTP method for uri [{path}]")

    def _of(self, name: str) -> Collection:
        if name not in self.collections:
            raise Refusal(404, "index_not_found_exception", f"no such index [{name}]")
        return self.collections[name]

    def _bulk(self, here: Collection, raw: bytes, query: dict[str, str]) -> tuple[int, Any]:
        if not raw.endswith(b"\n"):
            raise wrong("The bulk request must be terminated by a newline", "illegal_argument_exception")
        lines = raw.decode().split("\n")[:-1]
        items = []
        for head, line in zip(lines[::2], lines[1::2], strict=True):
            [(action, about)] = json.loads(head).items()
            assert action == "index"
            item: dict[str, Any] = {"_id": about["_id"]}
            try:
                if self.busy:
                    self.busy -= 1
                    raise Refusal(429, "es_rejected_execution_exception", "rejected execution")
                item["status"] = here.write(about["_id"], json.loads(line))
            except Refusal as refusal:
                item |= {"status": refusal.status, "error": refusal.error}
            items.append({"index": item})
        return 200, {"errors": any("error" in item["index"] for item in items), "items": items}


@contextmanager
def serving(server: SearchServer) -> Iterator[str]:
    """Run it for a while, and give its address."""

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            raw = self.body()
            address = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            wanted = "application/x-ndjson" if address.path.endswith("/_bulk") else "application/json"
            with server.lock:
                server.requests.append(f"{self.command} {address.path}")
                try:
                    if server.login is not None and self.headers.get("Authorization") != server.login:
                        raise Refusal(401, "security_exception", "missing authentication credentials")
                    if raw and self.headers.get("Content-Type") != wanted:
                        raise Refusal(406, "media_type_header_exception", "Content-Type is not supported")
                    status, told = server.answer(self.command, address.path, query, raw)
                except Refusal as refusal:
                    status, told = refusal.status, {"error": refusal.error, "status": refusal.status}
                except Exception as error:  # what the real one would not do either
                    failed = {"type": type(error).__name__, "reason": str(error)}
                    status, told = 400, {"error": failed, "status": 400}
            self.answer(status, json.dumps(told).encode(), "application/json")

        do_GET = do_PUT = do_POST = do_DELETE = _handle

    with answering(Handler) as at:
        yield f"http://{at}"
