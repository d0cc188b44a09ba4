import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ctxcli import FullHistory, HierarchicalMemory, SlidingWindow, StructuredMemory, SummaryMemory, WeightedMemory
from ctxcli.model.errors import ParseError, UsageError
from ctxcli.model.message import Message, ToolCall
from ctxcli.packing import history
from ctxcli.packing.extract import Extract, kind_of
from ctxcli.packing.history import Limits, MemoryState, view
from ctxcli.packing.turns import Conversation, converse
from ctxcli.text.tokens import TokenCounter

COUNTER = TokenCounter()


def count(messages: Sequence[Message]) -> int:
    return sum(map(COUNTER.count_message, messages))


def talk(turns: int, *, system: bool = True) -> Conversation:
    rows = [Message("system", "Be careful.", id="s")] if system else []
    for n in range(turns):
        rows.append(Message("user", f"What is the pressure of pump {n}?", id=f"u{n}"))
        rows.append(Message("assistant", f"The default pressure of pump {n} is {n}0 bar. It is not 5 bar.", id=f"a{n}"))
    return converse(rows)


def texts(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)


def test_the_window_says_how_many_turns_are_left_out() -> None:
    shown = view(talk(10), "window", Limits(keep=2, keep_head=1), count=count)
    assert [message.id for message in shown.messages] == ["s", "u0", "a0", "", "u8", "a8", "u9", "a9"]
    assert shown.messages[3].content == "[7 earlier turns left out]"
    assert len(shown.dropped) == 7


def test_a_window_that_holds_all_has_no_marker() -> None:
    shown = view(talk(3), "window", Limits(keep=2, keep_head=1), count=count)
    assert len(shown.messages) == 7


def test_weights_are_spent_from_the_newest_turn_on_and_instructions_weigh_nothing() -> None:
    shown = view(talk(10), "weighted", Limits(weight=1.6), count=count)  # 0.8 a turn
    assert [message.id for message in shown.messages] == ["s", "", "u8", "a8", "u9", "a9"]
    assert view(talk(2), "weighted", Limits(weight=0), count=count).messages[0].id == "s"


def test_tools_weigh_more() -> None:
    call = (ToolCall("c", "find", "{}"),)
    rows = [
        Message("user", "a", id="u0"),
        Message("user", "b", id="u1"),
        Message("assistant", "", call, id="a1"),
        Message("tool", "r", tool_call_id="c", id="t1"),
    ]
    shown = view(converse(rows), "weighted", Limits(weight=1.6), count=count)  # 0.5 + 0.3 + 0.8, and nothing for u0
    assert [message.id for message in shown.messages] == ["", "u1", "a1", "t1"]


def test_each_message_is_summarised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = history.extracts_of

    def counted(turn: history.Turn) -> object:
        seen.append(turn.id)
        return real(turn)

    monkeypatch.setattr(history, "extracts_of", counted)
    state = MemoryState()
    for turns in range(1, 30):
        state = view(talk(turns), "summary", Limits(limit=300, keep=2), count=count, state=state).state
    assert len(seen) == len(set(seen)) > 10


def test_a_summary_grows_and_says_that_it_is_extractive() -> None:
    first = view(talk(12), "summary", Limits(limit=400, keep=2), count=count)
    assert "[Extractive summary of" in texts(first.messages)
    later = view(talk(24), "summary", Limits(limit=400, keep=2), count=count, state=first.state)
    assert later.state.messages > first.state.messages
    assert count(later.messages) <= 400


def test_below_the_threshold_nothing_is_summarised() -> None:
    shown = view(talk(3), "summary", Limits(limit=4_000), count=count)
    assert shown.state == MemoryState()
    assert len(shown.messages) == 7


def test_a_structured_summary_has_three_parts_with_sources() -> None:
    rows = [
        Message("user", "We decided to use 10 connections.", id="u0"),
        Message("assistant", "SQLite was ruled out because of locks.", id="a0"),
        Message("user", "TODO: check the timeout.", id="u1"),
        Message("assistant", "Fine.", id="a1"),
        *(Message("user", "filler " * 40, id=f"f{n}") for n in range(6)),
    ]
    shown = view(converse(rows), "structured", Limits(limit=350, keep=1), count=count)
    text = texts(shown.messages)
    assert "Confirmed:\n- We decided to use 10 connections. (user u0)" in text
    assert "Ruled out:\n- SQLite was ruled out because of locks. (assistant a0)" in text
    assert "Open questions:\n- TODO: check the timeout. (user u1)" in text


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("连接池默认大小是 10。", "confirmed"),
        ("决定采用 PostgreSQL。", "confirmed"),
        ("MySQL 方案已排除。", "ruled_out"),
        ("超时时间待确认。", "open"),
        ("这样行吗？", "open"),
        ("The deadline is 3 May.", "confirmed"),
        ("That does not work.", "ruled_out"),
        ("Who owns it?", "open"),
        ("Nice weather.", "said"),
    ],
)
def test_sentences_are_told_apart_in_both_languages(sentence: str, kind: str) -> None:
    assert kind_of(sentence) == kind


def test_results_without_calls_and_calls_without_results_are_left_out_and_told() -> None:
    call = (ToolCall("c1", "find", "{}"), ToolCall("c2", "find", "{}"))
    rows = [
        Message("tool", "lost", tool_call_id="c0", id="t0"),
        Message("user", "q", id="u"),
        Message("assistant", "", call, id="a"),
        Message("tool", "found", tool_call_id="c1", id="t1"),
        Message("assistant", "done", id="b"),
    ]
    found = converse(rows)
    assert [message.id for message in found.messages] == ["u", "a", "t1", "b"]
    assert [one.id for message in found.messages for one in message.tool_calls] == ["c1"]
    assert len(found.problems) == 2


def test_an_archive_is_recalled_by_relevance_in_both_languages() -> None:
    memory = HierarchicalMemory(limit=200, keep=1)
    memory.add("user", "泵的密封圈上周换过，型号是 FKM-75。")
    memory.add("assistant", "记下了。")
    memory.add("user", "The spare key hangs in the boiler room.")
    memory.add("assistant", "Noted.")
    for n in range(20):
        memory.add("user", f"今天第 {n} 次检查，一切正常，没有异常情况。")
        memory.add("assistant", "好的。")
    shown = "\n".join(message["content"] for message in memory.messages())
    assert "FKM-75" not in shown
    assert "归档" in shown
    assert "FKM-75" in memory.recall("密封圈是什么型号？", k=1)[0].text
    assert "boiler room" in memory.recall("where is the spare key?", k=1)[0].text
    assert memory.recall("quantum entanglement") == ()
    assert memory.tokens <= 200


def test_memories_show_messages_as_the_api_takes_them() -> None:
    for memory in (FullHistory(), SlidingWindow(2), WeightedMemory(3), SummaryMemory(500), StructuredMemory(500)):
        memory.add("system", "Be careful.")
        memory.add("user", "hi")
        memory.add("assistant", tool_calls=[{"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}])
        memory.add("tool", "ok", tool_call_id="c")
        assert [message["role"] for message in memory.messages()] == ["system", "user", "assistant", "tool"]
        assert memory.tokens > 10
        with pytest.raises(ParseError):
            memory.add("robot", "x")


def test_turns_remembered_together_count_and_are_summarised_as_before() -> None:
    state = history.absorb(MemoryState(), talk(30).turns)
    folded = state.fold(20)
    assert (folded.turns, folded.messages, len(folded.events)) == (30, 60, 10)
    assert folded.fold(30).turns == 30
    for policy in ("summary", "structured", "hierarchical"):
        shown = [history.remembered(one, policy, room=300, most=300, count=count) for one in (state, folded)]
        assert shown[0] == shown[1]


def test_what_a_model_has_worded_stands_until_turns_it_has_not_seen_are_folded() -> None:
    state = history.absorb(MemoryState(), talk(10).turns)
    lines = (Extract("Pumps run.", "confirmed", "model, a3", 3.0),)
    worded = replace(state, worded=lines, worded_turns=4)
    for one in (worded, worded.fold(4), worded.fold(8)):
        text = history.remembered(one, "summary", room=400, most=400, count=count)[0].content
        assert "in part written by a model" in text
        assert text.count("pump 5 ") >= 1 > text.count("pump 2 ")


@pytest.mark.parametrize(
    "wrong", [{"keep": -1}, {"keep_head": -1}, {"weight": -0.5}, {"limit": 0}, {"threshold": 1.5}, {"weight": math.nan}]
)
def test_limits_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Limits(**wrong).checked()  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        SlidingWindow(-1)
    with pytest.raises(UsageError):
        SummaryMemory(0)


@pytest.mark.parametrize("said", ["pump {}?", "第 {} 号泵？"])
def test_a_memory_never_exceeds_its_limit(said: str) -> None:
    for memory in (SummaryMemory(90, keep=0), StructuredMemory(90), HierarchicalMemory(90)):
        for n in range(30):
            memory.add("user", said.format(n))
            memory.add("assistant", said.format(n))
            assert memory.tokens <= 90
        assert memory.messages()[-1]["content"] == said.format(29)
    with pytest.raises(UsageError) as caught:
        memory = SummaryMemory(20)
        memory.add("system", "Be careful. " * 20)
        memory.messages()
    assert caught.value.code == "over_budget"
