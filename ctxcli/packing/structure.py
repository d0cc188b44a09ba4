"""The frame of a context: sections in their order, evidence numbered and ordered, as text and as messages."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxcli.model.context import ContextPacket, Section
from ctxcli.packing.places import place
from ctxcli.text.question import Language

if TYPE_CHECKING:
    from ctxcli.model.message import Message
    from ctxcli.packing.turns import Turn

HEADS: dict[Section, str] = {
    "role": "[Role & Policies]",
    "task": "[Task]",
    "state": "[State]",
    "evidence": "[Evidence]",
    "context": "[Context]",
    "output": "[Output]",
}
_HEAD = re.compile(r"^(\s*)(?=\[(?:Role & Policies|Task|State|Evidence|Context|Output)\]\s*$)", re.MULTILINE)
OUTPUT = {
    "en": "Answer the task. Cite the evidence by its number, such as [1]. Say so if the evidence does not tell.",
    "zh": "请完成任务，并用编号（如 [1]）注明所依据的证据。如果证据没有说明，请直说。",
}
"""What is asked of the model where the caller says nothing else and there is evidence."""
OUTPUT_BARE = {
    "en": "Answer the task. Say so if you do not know.",
    "zh": "请完成任务。如果不知道，请直说。",
}
_CONVERSATION = {"en": "Conversation so far:", "zh": "此前的对话："}
_LABELS = {
    "en": {"blocker": "Open blocker", "action": "Open action", "note": "Note", "memory": "Memory"},
    "zh": {"blocker": "未解决的阻碍", "action": "待办事项", "note": "笔记", "memory": "记忆"},
}
_FIRST = {"blocker": 0, "action": 1, "note": 2, "memory": 3}


class Chosen(NamedTuple):
    """What a context is made from, in the order of choice (best first); `turns` are in the order of time.

    Quicker to load than a dataclass.
    """

    language: Language
    role: tuple[ContextPacket, ...] = ()
    task: tuple[ContextPacket, ...] = ()
    state: tuple[ContextPacket, ...] = ()
    evidence: tuple[ContextPacket, ...] = ()
    context: tuple[ContextPacket, ...] = ()
    output: tuple[ContextPacket, ...] = ()
    turns: "tuple[Turn, ...]" = ()
    turns_left_out: int = 0


def against_the_middle(ranked: Sequence[ContextPacket]) -> tuple[ContextPacket, ...]:
    """Best first, second best last, third second …: models overlook what stands in the middle."""
    return (*ranked[::2], *reversed(ranked[1::2]))


def as_text(chosen: Chosen) -> str:
    """The context as one text; sections without content are left out."""
    parts = [(name, body) for name, body in _bodies(chosen) if body]
    return "\n\n".join(f"{HEADS[name]}\n{body}" for name, body in parts)


def as_messages(chosen: Chosen) -> "tuple[Message, ...]":
    """The context as messages: instructions, the turns of the conversation, and all the rest as the user's message."""
    from ctxcli.model.message import Message

    bodies = dict(_bodies(chosen, with_turns=False))
    rest = "\n\n".join(f"{HEADS[name]}\n{body}" for name, body in bodies.items() if body and name != "role")
    system = (Message("system", bodies["role"]),) if bodies["role"] else ()
    return (*system, *(one for turn in chosen.turns for one in turn.messages), Message("user", rest))


def _bodies(chosen: Chosen, *, with_turns: bool = True) -> list[tuple[Section, str]]:
    context = [shown(one, chosen.language) for one in sorted(chosen.context, key=lambda one: _FIRST.get(one.type, 9))]
    if with_turns and chosen.turns:
        context.append(_conversation(chosen))
    evidence = (f"[{n}] {shown(one, chosen.language)}" for n, one in enumerate(against_the_middle(chosen.evidence), 1))
    return [
        ("role", "\n\n".join(one.content.strip() for one in chosen.role)),
        ("task", "\n\n".join(guarded(one.content.strip()) for one in chosen.task)),
        ("state", "\n".join(shown(one, chosen.language) for one in chosen.state)),
        ("evidence", "\n\n".join(evidence)),
        ("context", "\n\n".join(context)),
        ("output", "\n\n".join(one.content.strip() for one in chosen.output)),
    ]


def _conversation(chosen: Chosen) -> str:
    lines = [_CONVERSATION[chosen.language]]
    if chosen.turns_left_out:
        from ctxcli.packing.turns import left_out  # on use: most contexts hold no conversation

        lines.append(left_out(chosen.turns_left_out, chosen.language))
    return "\n".join([*lines, *(guarded(turn.shown(chosen.language)) for turn in chosen.turns)])


def shown(packet: ContextPacket, language: Language) -> str:
    """A packet as it stands in the context: its place or source in a line, then its content."""
    content = guarded(packet.content.strip())
    if packet.section == "state":
        return content if content.startswith("- ") else f"- {content}"
    if packet.passage:
        return f"{place(packet.passage, language)}\n{content}"
    label = _LABELS[language].get(packet.type, "")
    head = " · ".join(filter(None, (label, packet.source)))
    return f"{head}\n{content}" if head else content


def guarded(text: str) -> str:
    """A text whose lines cannot be taken for the heads of sections: ``[Output]`` becomes ``\\[Output]``."""
    return _HEAD.sub(r"\1\\", text) if "[" in text else text
