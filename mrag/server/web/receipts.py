"""Receipts of answers for the page: made from an answer, and checked when one is uploaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError, ModelError
from mrag.server.web.validation import PageView, guarded, json_body, reply

if TYPE_CHECKING:
    from mrag.generation.verification import VerifyReport
    from mrag.server.web.routes import Api

_MOST = 4 << 20
"""Maximum number of bytes of an answer, where the settings allow more."""
_CITATIONS = 2_000
_CHECKERS = 2


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes `/api/receipt` and `/api/verify`."""
    receipts = Receipts(api)
    return [
        Route("/api/receipt", guarded(receipts.make, api.settings.token), methods=["POST"]),
        Route("/api/verify", guarded(receipts.verify, api.settings.token), methods=["POST"]),
    ]


class Receipts(PageView):
    """Answers the requests about receipts.

    Args:
        api: The API that these requests belong to.
    """

    most = _MOST

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.slots = api.slots(_CHECKERS, "checks")

    async def make(self, request: Request) -> Response:
        """Check an answer and return its receipt."""
        values = await self.body(request, "answer")
        answer = values.get("answer")
        if not isinstance(answer, Mapping):
            raise ConfigError("answer must be an object.")

        def work() -> dict[str, Any]:
            from mrag.retrieval.verifying import receipt_of

            return receipt_of(self.kg, answer, self._checked(answer))

        return reply(await self.api.run(self.slots, work))

    async def verify(self, request: Request) -> Response:
        """Check a receipt, or an answer as `mrag ask --json` prints it, against the graph as it is now."""
        values = await json_body(request, min(2 * _MOST, self.api.settings.max_body))

        def work() -> dict[str, Any]:
            report = self._checked(values)
            answer = values if "@context" not in values else values["json"]
            used = values.get("prov:wasGeneratedBy")
            then = used.get("prov:used") if isinstance(used, Mapping) else None
            return {
                **report.to_json(),
                "said": str(report),
                "question": str(answer["question"]),
                "text": str(answer["text"]),
                "at": str(values.get("at", "")),
                "revision": then.get("schema:version") if isinstance(then, Mapping) else None,
                "now": self.kg.revision,
            }

        return reply(await self.api.run(self.slots, work))

    def _checked(self, given: Mapping[str, Any]) -> VerifyReport:
        from mrag.retrieval.answering import verify

        answer = given.get("json") if "@context" in given else given
        citations = answer.get("citations") if isinstance(answer, Mapping) else None
        if isinstance(citations, list) and len(citations) > _CITATIONS:
            raise ConfigError(f"An answer with more than {_CITATIONS} citations is not checked here.")
        try:
            return verify(self.kg, given)
        except ModelError as error:
            raise ConfigError(error.message, hint=error.hint) from error
