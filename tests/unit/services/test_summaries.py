"""Summaries of old turns in the words of a model."""

from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message, ToolCall
from ctxcli.packing.history import Limits, MemoryState
from ctxcli.packing.turns import Conversation, converse
from ctxcli.services.summaries import Summarised, view, worded
from ctxcli.text.tokens import TokenCounter
from tests.unit.services.fake_model import FakeModel

LIMITS = Limits(limit=600, keep=1, threshold=0.5)
SUMMARY = """CONFIRMED: The pool size is 10 (m2)
RULED OUT: A queue, it was too slow (m4)
OPEN: Is the timeout 30 seconds? (m5)"""


def talk(
    turns: int, *, filler: str = "The default pool size is 10, and a queue was too slow. Timeout 30? "
) -> Conversation:
    messages = []
    for at in range(turns):
        messages += [
            Message("user", f"Question {at}: {filler}" * 4),
            Message("assistant", f"Answer {at}: {filler}" * 4),
        ]
    return converse(Message(one.role, one.content, id=f"m{at}") for at, one in enumerate(messages, 1))


def shown(
    conversation: Conversation, model: FakeModel | None, state: MemoryState | None = None, **more: str
) -> Summarised:
    counter = TokenCounter()
    policy = "summary" if more.get("policy") == "summary" else "structured"
    return view(
        conversation, policy, LIMITS, count=lambda messages: sum(map(counter.count_message, messages)),
        state=state or MemoryState(), model=model,
    )  # fmt: skip


def test_a_model_words_the_summary_in_three_parts() -> None:
    found = shown(talk(4), FakeModel([SUMMARY]))
    text = found.view.messages[0].content
    assert text.startswith("[Summary of 6 earlier messages, written by a model]")
    assert "Confirmed:\n- The pool size is 10 (model, m2)" in text
    assert "Ruled out:\n- A queue, it was too slow (model, m4)" in text
    assert "Open questions:\n- Is the timeout 30 seconds? (model, m5)" in text
    assert found.notice == ""


def test_each_message_is_summarised_once_and_the_summary_grows() -> None:
    model = FakeModel([SUMMARY, SUMMARY])
    first = shown(talk(4), model)
    again = shown(talk(4), model, first.view.state)
    assert len(model.asked) == 1
    assert again.view.messages == first.view.messages
    later = shown(talk(8), model, first.view.state)
    assert len(model.asked) == 2
    prompt = model.asked[1][1].content
    assert "CONFIRMED: The pool size is 10 (model, m2)" in prompt
    assert "[m1]" not in prompt
    assert "[m7]" in prompt
    assert later.view.state.messages > first.view.state.messages


def test_where_the_service_fails_the_summary_is_extractive_and_said_to_be() -> None:
    failed = shown(talk(4), FakeModel([ServiceError("no connection", code="llm_unreachable", hint="x")]))
    plain = shown(talk(4), None)
    assert failed.view.messages == plain.view.messages
    assert failed.notice == "the summary is extractive: no connection"
    assert failed.view.messages[0].content.startswith("[Extractive summary of 6 earlier messages]")


def test_a_reply_that_is_no_summary_falls_back_too() -> None:
    found = shown(talk(4), FakeModel(["Sure, I can help with that!"]))
    assert "gave no summary that holds" in found.notice
    assert "Extractive" in found.view.messages[0].content


def test_many_turns_are_summarised_in_several_requests_and_what_was_done_stays() -> None:
    long = talk(30, filler="The default pool size is 10. " * 20)
    model = FakeModel(["CONFIRMED: The pool size is 10 (m2)", "CONFIRMED: The pool size is still 10 (m2)"])
    found = shown(long, model)
    assert len(model.asked) > 2
    assert max(len(asked[1].content) for asked in model.asked) < 60_000
    assert "CONFIRMED: The pool size is 10 (model, m2)" in model.asked[1][1].content
    assert found.notice == "the summary is in part extractive: no more"
    state = found.view.state
    assert (state.worded[0].text, 0 < state.worded_turns < state.turns) == ("The pool size is still 10", True)


def test_one_turn_of_any_length_is_one_request_of_bounded_length() -> None:
    results = [Message("tool", "水泵 10 " * 2_000, tool_call_id=f"c{at}", id=f"t{at}") for at in range(60)]
    calls = tuple(ToolCall(f"c{at}", "look_up", "{}") for at in range(60))
    first = (Message("user", "q" * 9_000, id="u1"), Message("assistant", tool_calls=calls, id="a1"), *results)
    model = FakeModel(["CONFIRMED: 水泵 10 (t1)"])
    worded(model, (), converse(first).turns)
    assert [len(asked[1].content) < 60_000 for asked in model.asked] == [True]


def test_a_reply_that_goes_on_and_on_is_read_to_a_limit() -> None:
    for line in (" " * 200_000, f"OPEN: a{' ' * 200_000}b", f"OPEN: {'(' * 200_000}"):
        assert len(shown(talk(4), FakeModel([f"{line}\n{SUMMARY}"])).view.state.worded) >= 3
    assert len(shown(talk(4), FakeModel(["OPEN: 还有 10 个\n" * 9_000])).view.state.worded) == 40


def test_numbers_that_nobody_named_are_left_out() -> None:
    found = shown(talk(4), FakeModel(["CONFIRMED: The pool size is 12 (m2)\nCONFIRMED: The pool size is 10 (m9999)"]))
    assert [(one.text, one.source) for one in found.view.state.worded] == [("The pool size is 10", "model")]


def test_after_a_failure_both_kinds_stand_together() -> None:
    first = shown(talk(4), FakeModel([SUMMARY]))
    later = shown(talk(8), FakeModel([]), first.view.state)
    text = later.view.messages[0].content
    assert "in part written by a model, in part extractive" in text
    assert "The pool size is 10 (model, m2)" in text


def test_a_plain_summary_and_chinese_have_their_own_words() -> None:
    filler = "默认连接池大小是 10，队列太慢。超时是 30 秒吗？"
    found = shown(talk(4, filler=filler), FakeModel(["CONFIRMED: 连接池大小是 10 (m2)"]), policy="summary")
    assert found.view.messages[0].content == "[前 6 条消息的摘要，由模型撰写]\n- 连接池大小是 10"


def test_the_summary_keeps_to_its_share() -> None:
    long = "\n".join(f"CONFIRMED: The pool size is 10, note {'word ' * 30}(m2)" for _ in range(40))
    found = shown(talk(4), FakeModel([long]))
    assert TokenCounter().count(found.view.messages[0].content) <= LIMITS.limit // 5


def test_what_is_whole_is_not_summarised() -> None:
    model = FakeModel([SUMMARY])
    assert shown(talk(1), model).view.messages == talk(1).messages
    assert model.asked == []
