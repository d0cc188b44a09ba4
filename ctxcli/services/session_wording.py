"""The summary of what a session moves to its archive, in the words of a language model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcli.model.ports import LanguageModel
from ctxcli.packing.extract import Extract
from ctxcli.packing.history import MemoryState
from ctxcli.packing.turns import Turn
from ctxcli.services import session_memory
from ctxcli.services.sessions import Sessions
from ctxcli.services.summaries import worded


@dataclass(frozen=True, slots=True)
class Wording:
    """A summary by a model of the first `turns` of a session with its archive; `notice` says what did not go well."""

    lines: tuple[Extract, ...]
    turns: int
    notice: str = ""

    def of(self, state: MemoryState) -> MemoryState:
        """What is remembered, with this summary where it stands for more than the one that is there."""
        if not state.worded_turns < self.turns <= state.turns:
            return state
        return replace(state, worded=self.lines, worded_turns=self.turns)


def word(sessions: Sessions, name: str, model: LanguageModel, *, keep: int) -> Wording:
    """Let a model word what `Sessions.compact` is going to archive, and what is archived without its words.

    Nothing is written and no lock is held: it may take minutes.
    """
    name = sessions.find(name)
    remembered = sessions.remembered(name)
    moved = sessions.to_move(name, keep=keep)
    all_turns = remembered.archived + len(moved)
    state = remembered.state
    turns = (*session_memory.archived(sessions.folder, name, end=remembered.bytes), *moved)
    unworded: Sequence[Turn] = turns[state.worded_turns :] if state.worded else turns
    found = worded(model, state.worded, unworded)
    return Wording(found.lines, all_turns - found.left, found.notice)
