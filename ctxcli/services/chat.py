"""The use case behind `ctx chat`: model, tools and memory put together."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ctxcli import settings as settings_
from ctxcli.model.chat import ChatTurn, ToolUse
from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.model.ports import LanguageModel
from ctxcli.packing.history import POLICIES, Limits, Policy
from ctxcli.services import workspace as workspaces
from ctxcli.services.agent import Agent, Watcher
from ctxcli.services.chat_memory import LooseMemory, Memory, SessionMemory
from ctxcli.services.models import language_model
from ctxcli.services.tools import Toolbox
from ctxcli.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation; `session` is the name it is kept under, None where it is not kept."""

    agent: Agent
    memory: Memory
    session: str | None

    @classmethod
    def of(
        cls,
        *,
        workspace: Path | None,
        session: str | None,
        model: str | None,
        policy: str,
        max_iter: int,
        allow_write: bool,
    ) -> "Chat":
        """Put a chat together. Nothing is sent yet. Without a workspace there is nothing to look into and to keep."""
        chosen = next((one for one in POLICIES if one == policy), None)
        if chosen is None:
            raise UsageError(f"there is no policy {policy!r}", hint=f"use one of: {', '.join(POLICIES)}")
        found = _found(workspace, needed=session is not None or workspace is not None)
        settings = found.settings if found else settings_.load(None)
        service = language_model(settings, model=model)
        budget = settings.integer("context.budget")
        memory = _memory(found, session, chosen, Limits(limit=max(budget // 2, 200), keep=2), service)
        agent = Agent(
            service,
            Toolbox(found.root if found else workspace, allow_write=allow_write),
            memory,
            workspace=found,
            budget=budget,
            max_iter=max_iter,
        )
        return cls(agent, memory, memory.name if isinstance(memory, SessionMemory) else None)

    def answer(
        self,
        text: str,
        *,
        on_text: Callable[[str], None],
        on_call: Callable[[str, str], None],
        on_result: Callable[[ToolUse], None],
    ) -> ChatTurn:
        """Answer a message; the callbacks look on."""
        return self.agent.answer(text, Watcher(on_text, on_call, on_result))

    def notices(self) -> list[str]:
        """What is to be said beside the answer, once."""
        found = list(dict.fromkeys(self.memory.notices))
        self.memory.notices.clear()
        return found


def _found(directory: Path | None, *, needed: bool) -> Workspace | None:
    try:
        return workspaces.find(directory)
    except NotFoundError:
        if needed:
            raise
        return None


def _memory(
    workspace: Workspace | None, session: str | None, policy: Policy, limits: Limits, model: LanguageModel
) -> Memory:
    if workspace is None or session is None:
        return LooseMemory(policy, limits, model)
    return SessionMemory(workspace, session, policy, limits, model)
