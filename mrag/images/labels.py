"""A describer without a language model: a classifier's labels, put in a sentence.

It speaks LangChain's protocol of chat models, so enrichment treats it like any model that sees. What it
says is poor and honest: the likeliest of the 1,000 classes of ImageNet, and how sure the classifier is.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from mrag.errors import ModelError
from mrag.images.embedding import class_names, likeliest
from mrag.images.files import Picture, sniff


class LabelModel(BaseChatModel):
    """Answers with the labels of the last picture that it is shown."""

    model: str = "labels:efficientnet-lite0"
    max_labels: int = 3
    min_probability: float = 0.05

    @property
    def _llm_type(self) -> str:
        return "labels"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        top = likeliest(_shown(messages), self.max_labels)
        by_name: defaultdict[str, float] = defaultdict(float)  # some classes share a name
        for number, share in [one for one in top if one[1] >= self.min_probability] or top[:1]:
            by_name[class_names()[number]] += share
        words = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in by_name.items())
        text = f"A classifier sees: {words}."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def _shown(messages: list[BaseMessage]) -> Picture:
    for message in reversed(messages):
        for block in reversed(message.content if isinstance(message.content, list) else []):
            if isinstance(block, dict) and block.get("type") == "image" and "base64" in block:
                try:
                    data = base64.b64decode(block["base64"], validate=True)
                except binascii.Error as error:
                    raise ModelError("The picture is not in base64.") from error
                return Picture(data, *sniff(data), "")
    raise ModelError("No picture is shown.", hint="Send a content block of type image with base64.")
