"""The prompt as a template of LangChain, which makes its values fit before they are put in."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate

from mrag import untrusted


class ContextPrompt(ChatPromptTemplate):
    """A chat template whose `context` and `question` come from others."""

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Fill in the values, each as data: a question in one line, a context in its own lines."""
        values = {
            **kwargs,
            "context": untrusted.block(str(kwargs["context"])),
            "question": untrusted.one_line(str(kwargs["question"])),
        }
        return super().format_messages(**values)

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Fill in the values, each as data."""
        return self.format_messages(**kwargs)
