"""A context never exceeds its budget, whatever goes in; tool results stay JSON and within their limit."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.model.context import ContextPacket
from ctxcli.model.errors import UsageError
from ctxcli.model.message import Message, ToolCall
from ctxcli.packing.builder import Builder, ContextConfig
from ctxcli.packing.history import POLICIES, SUMMARISING, Limits, MemoryState, Policy, view
from ctxcli.packing.tool_result import render_tool_result
from ctxcli.packing.turns import converse
from ctxcli.text.bpe import encoding, whole_characters
from ctxcli.text.pretokens import REFERENCE_PATTERNS
from ctxcli.text.tokens import TokenCounter

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
_WORDS = st.sampled_from(
    "连接池默认大小是 10。|The pool size is 10. |超时为 30 秒！\n|👨‍👩‍👧|e\u0301|[Output]\n|\n\n|- row\n".split("|")
    + "; a ; b ;\n|\u3000|Привет. |x=1;\n|。。。|\x00|<|endoftext|>|ABCDEF0123456789|| a | b |\n".split("|")
    + ["\ud83d", "\udc00 half "]
)
TEXTS = st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=30).map("".join)
PACKETS = st.builds(
    ContextPacket,
    content=TEXTS.filter(lambda text: bool(text.strip())),
    type=st.sampled_from(
        ["evidence", "fact", "note", "blocker", "action", "memory", "custom", "task", "output", "system"]
    ),
    timestamp=st.one_of(st.none(), st.integers(-5, 900).map(lambda days: NOW - timedelta(days=days))),
    relevance=st.one_of(st.none(), st.floats(0, 1)),
    source=st.sampled_from(["", "docs/a.md", "笔记/计划.md"]),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    found: list[Message] = []
    for at in range(draw(st.integers(0, 6))):
        found.append(Message("user", draw(TEXTS) or "?", id=f"u{at}"))
        if draw(st.booleans()):
            found.append(Message("assistant", "", (ToolCall(f"c{at}", "find", '{"q": "连接池"}'),), id=f"a{at}"))
            if draw(st.booleans()):
                found.append(Message("tool", draw(TEXTS), tool_call_id=f"c{at}", id=f"t{at}"))
        if draw(st.booleans()):
            found.append(Message("tool", "orphan", tool_call_id=f"x{at}", id=f"o{at}"))
        if draw(st.booleans()):
            found.append(Message("assistant", draw(TEXTS) or "ok", id=f"b{at}"))
    return found


@cache
def reference(name: Any) -> tiktoken.Encoding:
    ranks = dict(encoding(name)._ranks.all())
    return tiktoken.Encoding(name, pat_str=REFERENCE_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


@settings(max_examples=250, deadline=None)
@given(
    query=st.one_of(st.just("连接池的默认大小是多少？"), st.just("What is the pool size?"), TEXTS),
    packets=st.lists(PACKETS, max_size=12),
    history=conversations(),
    budget=st.integers(1, 600),
    model=st.sampled_from(["gpt-4o", "gpt-4"]),
    form=st.sampled_from(["text", "messages"]),
)
def test_a_context_never_exceeds_its_budget(
    query: str, packets: list[ContextPacket], history: list[Message], budget: int, model: str, form: Any
) -> None:
    builder = Builder(ContextConfig(budget=budget, model=model, format=form))
    try:
        context = builder.build(query, packets, history, now=NOW)
    except UsageError as error:
        assert error.code == "over_budget"
        return
    if form == "text":
        count = reference(context.encoding).encode_ordinary
        assert len(count(context.text)) == context.tokens <= budget
        assert len(count(context.text + "\n")) <= budget
    else:
        assert TokenCounter(model).count_messages(context.openai()) == context.tokens <= budget
        assert_valid(context.openai())
    json.dumps(context.document(), ensure_ascii=False).encode()
    others = [one for one in packets if one.section != "role"]
    assert len([one for one in context.packets if one.type not in ("system", "turn")]) == len(others) + (
        1 if any(one.section == "output" for one in others) else 2
    )  # every packet is told of, and the query, and what is asked for
    for packet in packets:
        if packet.section == "role":
            assert whole_characters(packet.content).strip() in context.text


def assert_valid(messages: list[dict[str, Any]]) -> None:
    """What the API demands: results right behind their calls, content of the right kind."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert isinstance(message["content"], str) or waiting
        assert set(message) <= {"role", "content", "name", "tool_calls", "tool_call_id"}
    assert not waiting


@settings(max_examples=100, deadline=None)
@given(packets=st.lists(PACKETS, max_size=10), history=conversations(), budget=st.integers(100, 500))
def test_the_same_inputs_give_the_same_context(
    packets: list[ContextPacket], history: list[Message], budget: int
) -> None:
    def built() -> object:
        try:
            return Builder(ContextConfig(budget=budget)).build("连接池?", packets, history, now=NOW)
        except UsageError as error:
            return error.message

    assert built() == built()


def count_with(counter: TokenCounter) -> Callable[[Sequence[Message]], int]:
    return lambda messages: sum(map(counter.count_message, messages))


@pytest.mark.parametrize("policy", sorted(SUMMARISING))
@pytest.mark.parametrize("model", ["o200k_base", "cl100k_base"])
@settings(max_examples=60, deadline=None)
@given(
    history=conversations(),
    keep=st.integers(0, 8),
    limit=st.integers(1, 700),
    threshold=st.floats(0, 1),
    earlier=st.integers(1, 700),
)
def test_no_policy_exceeds_its_limit_and_no_summary_is_empty(
    policy: Policy, model: str, history: list[Message], keep: int, limit: int, threshold: float, earlier: int
) -> None:
    counter = TokenCounter(model)
    count, talk = count_with(counter), converse(history)
    state = MemoryState()
    for size in (earlier, limit, limit):  # what is remembered under one limit serves under another
        try:
            limits = Limits(keep=keep, limit=size, threshold=threshold)
            shown = view(talk, policy, limits, count=count, state=state)
        except UsageError as error:
            assert error.code == "over_budget"
            continue
        assert counter.count_messages(shown.messages) <= size
        kept = [message for message in shown.messages if message.id]
        assert shown.state.messages + len(kept) == len(talk.messages)
        assert len(shown.state.events) == len({event.id for event in shown.state.events}) == len(shown.dropped)
        for message in shown.messages:
            assert message.id or not message.content.endswith(("messages]", "摘要]"))
        state = shown.state


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@given(history=conversations(), keep=st.integers(0, 4), limit=st.integers(20, 400), weight=st.floats(0, 5))
def test_turns_are_shown_whole_under_every_policy(
    policy: Policy, history: list[Message], keep: int, limit: int, weight: float
) -> None:
    counter = TokenCounter()
    talk = converse([Message("system", "Be careful."), *history])
    limits = Limits(keep=keep, keep_head=keep % 2, weight=weight, limit=limit)
    try:
        shown = view(talk, policy, limits, count=count_with(counter))
    except UsageError as error:
        needed = int(re.search("at least ([0-9,]+) tokens", error.hint)[1].replace(",", ""))  # type: ignore[index]
        assert needed > limit
        shown = view(talk, policy, replace(limits, limit=needed), count=count_with(counter))
    assert shown.messages[0].content == "Be careful."
    assert sum(message.content == "Be careful." for message in shown.messages) == 1
    assert_valid([message.openai() for message in shown.messages])
    ids = [message.id for message in shown.messages if message.id]
    for turn in talk.turns:
        held = [message.id in ids for message in turn.messages]
        assert all(held) or not any(held)


_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=80)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=12), st.dictionaries(st.text(max_size=8), inner, max_size=8)),
    max_leaves=60,
)


@settings(max_examples=300, deadline=None)
@given(value=_JSON, limit=st.integers(2, 400), by_tokens=st.booleans())
def test_json_in_is_json_out_within_the_limit(value: Any, limit: int, by_tokens: bool) -> None:
    count = TokenCounter().count if by_tokens else len
    text = json.dumps(value, ensure_ascii=False)
    found = render_tool_result(text, limit, count=count)
    assert count(found) <= limit
    back = json.loads(found)
    if isinstance(value, dict | list | str):
        assert type(back) is type(value)
    if count(text) <= limit:
        assert back == value


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, limit=st.integers(2, 200))
def test_a_text_stays_within_the_limit(text: str, limit: int) -> None:
    found = render_tool_result(text, limit)
    assert len(found) <= limit
    if len(text) <= limit:
        assert found == text
