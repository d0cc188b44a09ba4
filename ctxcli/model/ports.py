"""Ports: what services need of the world. `ctxcli.services` chooses the class behind each.

Those of the index stand in `ctxcli.model.index`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from ctxcli.model.chat import Reply, ToolSpec
from ctxcli.model.message import Message


def _nobody(text: str) -> None:
    """Nobody listens."""


class LanguageModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """The name of the model, as asked for."""

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] = _nobody,
        temperature: float | None = None,
    ) -> Reply:
        """Ask for the next message; `on_text` gets the text piece by piece. ServiceError where there is none."""
