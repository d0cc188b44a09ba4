"""Summaries of old turns in the words of a model."""

from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message
from ctxcli.packing.history import Limits, MemoryState
from ctxcli.packing.turns import Conversation, converse
from ctxcli.services.summaries import Summarised, view
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
