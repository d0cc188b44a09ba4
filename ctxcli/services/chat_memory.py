"""What a chat remembers: a session that goes on by its name, or nothing beyond the process."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

from ctxcli.model.errors import NotFoundError
from ctxcli.model.message import Message
from ctxcli.model.ports import LanguageModel
from ctxcli.packing.history import Limits, MemoryState, Policy
from ctxcli.packing.turns import Conversation, converse
from ctxcli.services import summaries
from ctxcli.services.sessions import Sessions
from ctxcli.services.workspace import Workspace
from ctxcli.text.tokens import TokenCounter


class Memory(Protocol):
    """The messages of a chat. `notices` gathers what is to be said beside them."""

    notices: list[str]

    def turn(self) -> AbstractContextManager[None]:
        """Keep others from talking here until an answer is there."""

    def add(self, message: Message) -> None:
        """Keep a message."""

    def shown(self) -> Sequence[Message]:
        """What the model is shown of the conversation."""


class _Remembering:
    """Shows a conversation under a policy; the model that talks words the summaries too."""

    def __init__(self, policy: Policy, limits: Limits, model: LanguageModel) -> None:
        self.notices: list[str] = []
        self._policy, self._limits, self._model = policy, limits, model
        self._counter = TokenCounter(model.name)

    def _view(self, talk: Conversation, state: MemoryState) -> tuple[tuple[Message, ...], MemoryState]:
        found = summaries.view(
            talk,
            self._policy,
            self._limits,
            count=lambda messages: sum(map(self._counter.count_message, messages)),
            state=state,
            model=self._model,
        )
        if found.notice:
            self.notices.append(found.notice)
        return found.view.messages, found.view.state


class LooseMemory(_Remembering):
    """Messages of this process."""

    def __init__(self, policy: Policy, limits: Limits, model: LanguageModel) -> None:
        super().__init__(policy, limits, model)
        self._messages: list[Message] = []
        self._state = MemoryState()

    def turn(self) -> AbstractContextManager[None]:
        """Nobody else is here."""
        return nullcontext()

    def add(self, message: Message) -> None:
        """Keep a message."""
        self._messages.append(replace(message, id=message.id or f"m{len(self._messages) + 1}"))

    def shown(self) -> Sequence[Message]:
        """What the model is shown of the conversation."""
        messages, self._state = self._view(converse(self._messages), self._state)
        return messages


class SessionMemory(_Remembering):
    """A session of the workspace, made where there is none of that name; each message is on disk before the next."""

    def __init__(self, workspace: Workspace, name: str, policy: Policy, limits: Limits, model: LanguageModel) -> None:
        super().__init__(policy, limits, model)
        self._sessions = Sessions(workspace)
        try:
            self.name = self._sessions.find(name)
        except NotFoundError as error:
            if error.code != "session_not_found":
                raise
            self.name = self._sessions.new(name).name

    def turn(self) -> AbstractContextManager[None]:
        """Hold the session; BusyError where another conversation does not let go of it in time."""
        return self._sessions.turn(self.name)

    def add(self, message: Message) -> None:
        """Append a message to the session."""
        self._sessions.add(self.name, message)

    def shown(self) -> Sequence[Message]:
        """What the model is shown of the conversation."""
        state = self._sessions.remembered(self.name).state
        messages, new = self._view(self._sessions.conversation(self.name), state)
        if new != state:
            self._sessions.remember(self.name, new)
        self.notices += self._sessions.notices
        self._sessions.notices.clear()
        return messages
