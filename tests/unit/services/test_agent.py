"""A chat with a model that uses tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.model.chat import Reply, Usage
from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message
from ctxcli.packing.history import Limits
from ctxcli.services import workspace as workspaces
from ctxcli.services.agent import MAX_ITER, RESULT_LIMIT, Agent, Watcher
from ctxcli.services.chat_memory import LooseMemory, SessionMemory
from ctxcli.services.facts import Facts
from ctxcli.services.sessions import Sessions
from ctxcli.services.tools import Toolbox
from ctxcli.services.workspace import Workspace
from tests.unit.services.fake_model import FakeModel, calls


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    workspaces.make(tmp_path)
    return workspaces.find(tmp_path)


def agent(place: Workspace | None, model: FakeModel, *, session: str = "", **options: Any) -> Agent:
    limits = Limits(limit=2_000, keep=2)
    memory: Any = (
        SessionMemory(place, session, "structured", limits, model)
        if place and session
        else LooseMemory("structured", limits, model)
    )
    box = Toolbox(place.root if place else Path("/nowhere"), **{k: v for k, v in options.items() if k == "allow_write"})
    rest = {k: v for k, v in options.items() if k != "allow_write"}
    return Agent(model, box, memory, workspace=place, **rest)


def results(messages: list[Message]) -> list[dict[str, Any]]:
    return [json.loads(one.content) for one in messages if one.role == "tool"]


def test_tools_are_run_and_their_results_go_to_the_model(place: Workspace) -> None:
    Facts(place).set("n_rows", 254, source="describe(adsl)")
    model = FakeModel([calls(("facts", "{}"), ("note_list", "{}"), text="Let me look."), "It has 254 rows."])
    turn = agent(place, model).answer("How many rows?")
    assert (turn.answer, turn.rounds, turn.usage) == ("It has 254 rows.", 1, Usage(20, 4))
    facts, notes = results(model.asked[1])
    assert facts["facts"][0]["value"] == 254
    assert notes["notes"] == []
    assert [one.tool_call_id for one in model.asked[1] if one.role == "tool"] == ["c0", "c1"]
    assert "search" in model.offered[0]
    assert "note_create" not in model.offered[0]


def test_facts_and_open_work_stand_in_the_context(place: Workspace) -> None:
    Facts(place).set("n_rows", 254, source="describe(adsl)")
    Toolbox(place.root, allow_write=True).call("note_create", {"title": "Licence is missing", "note_type": "blocker"})
    model = FakeModel(["Hello."])
    agent(place, model).answer("你好")
    prompt = "\n".join(one.content for one in model.asked[0])
    assert "n_rows = 254" in prompt
    assert "Licence is missing" in prompt
    assert model.asked[0][0].role == "system"


def test_errors_of_tools_go_to_the_model(place: Workspace) -> None:
    model = FakeModel(
        [
            calls(("search", '{"query": "x", "sections": "6"}'), ("serch", "{}"), ("search", "{broken"),
                  ("search", "[]"), ("note_create", '{"title": "x"}')),
            "I could not look.",
        ]
    )  # fmt: skip
    turn = agent(place, model).answer("Look!")
    codes = [one["error"]["code"] for one in results(model.asked[1])]
    assert codes == ["unknown_parameter", "unknown_tool", "bad_json", "bad_arguments", "not_allowed"]
    assert [use.failed for use in turn.tools] == [True] * 5
    assert turn.answer == "I could not look."


def test_tools_that_write_need_leave(place: Workspace) -> None:
    model = FakeModel([calls(("note_create", '{"title": "计划", "tags": ["a"]}')), "Done."])
    agent(place, model, allow_write=True).answer("Keep it.")
    assert results(model.asked[1])[0]["title"] == "计划"


def test_rounds_of_tools_end(place: Workspace) -> None:
    model = FakeModel([*[calls(("status", "{}")) for _ in range(MAX_ITER)], "Enough."])
    turn = agent(place, model).answer("Go on for ever.")
    assert (turn.rounds, turn.answer) == (MAX_ITER, "Enough.")
    assert model.offered[-1] == []
    assert len(model.asked) == MAX_ITER + 1


def test_a_model_that_never_answers_is_told_on(place: Workspace) -> None:
    model = FakeModel([calls(("status", "{}")) for _ in range(9)])
    with pytest.raises(ServiceError) as caught:
        agent(place, model, max_iter=2).answer("Go on.")
    assert caught.value.code == "llm_no_answer"
    assert len(model.asked) == 3


def test_long_results_keep_to_the_limit_and_stay_json(place: Workspace) -> None:
    note = Toolbox(place.root, allow_write=True).call("note_create", {"title": "long", "content": "长" * 50_000})
    model = FakeModel([calls(("note_read", json.dumps({"note_id": note["id"]}))), "Long."])
    agent(place, model).answer("Read it.")
    (result,) = [one.content for one in model.asked[1] if one.role == "tool"]
    assert len(result) <= RESULT_LIMIT
    assert json.loads(result)["title"] == "long"


def test_many_calls_of_one_round_all_get_a_result(place: Workspace) -> None:
    model = FakeModel([calls(*[("status", "{}")] * 12), "Fine."])
    agent(place, model).answer("All at once.")
    found = results(model.asked[1])
    assert len(found) == 12
    assert found[-1]["error"]["code"] == "too_many_calls"


def test_thoughts_are_not_remembered(place: Workspace) -> None:
    model = FakeModel(["<think>secret plan</think>\nYes.", "No."])
    talk = agent(place, model)
    assert talk.answer("A?").answer == "Yes."
    talk.answer("B?")
    assert "secret plan" not in "\n".join(one.content for one in model.asked[1])
    assert "Yes." in [one.content for one in model.asked[1]]


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>Hm, <b>.</think>\n\nThe pool is 10.", "The pool is 10."),
        ("\n<Thinking>想一想</thinking>连接池是 10。", "连接池是 10。"),
        ("<think>One.</think>\n<think>Two.</think>\nThree.", "Three."),
        ("<thin ice", "<thin ice"),
        ("No <think>thoughts</think> later.", "No <think>thoughts</think> later."),
        ("<think>It never ends", ""),
    ],
)
def test_thoughts_are_not_shown(place: Workspace, said: str, shown: str, size: int) -> None:
    class Piecewise(FakeModel):
        def reply(self, messages: Any, *, on_text: Any = None, **more: Any) -> Reply:
            for at in range(0, len(said), size):
                on_text(said[at : at + size])
            return Reply(said, model="fake")

    heard: list[str] = []
    watcher = Watcher(on_text=heard.append)
    if shown:
        agent(place, Piecewise([])).answer("Size?", watcher)
    else:
        with pytest.raises(ServiceError):
            agent(place, Piecewise([])).answer("大小？", watcher)
    assert "".join(heard) == shown


def test_a_session_goes_on_by_its_name(place: Workspace) -> None:
    agent(place, FakeModel([calls(("status", "{}")), "Ten."]), session="talk").answer("What is the pool size?")
    model = FakeModel(["As I said: ten."])
    agent(place, model, session="talk").answer("Again?")
    shown = [(one.role, one.content) for one in model.asked[0]]
    assert ("user", "What is the pool size?") in shown
    assert ("assistant", "Ten.") in shown
    roles = [one.role for one in Sessions(place).read("talk").messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_an_interrupted_answer_leaves_a_session_that_goes_on(place: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt):
        agent(place, FakeModel([KeyboardInterrupt()]), session="talk").answer("First?")
    kept = Sessions(place).read("talk").messages
    assert [one.role for one in kept] == ["user", "assistant"]
    assert kept[1].content == "half a sen [interrupted]"
    assert agent(place, FakeModel(["Fine."]), session="talk").answer("Second?").answer == "Fine."


def test_a_tool_that_is_interrupted_has_a_result_all_the_same(place: Workspace) -> None:
    def interrupt(name: str, arguments: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agent(place, FakeModel([calls(("status", "{}"), ("facts", "{}"))]), session="talk").answer(
            "Go.", Watcher(on_call=interrupt)
        )
    roles = [one.role for one in Sessions(place).read("talk").messages]
    assert roles == ["user", "assistant", "tool", "tool"]
    assert Sessions(place).conversation("talk").problems == ()


def test_a_service_that_fails_loses_nothing_that_was_said(place: Workspace) -> None:
    failing = FakeModel([calls(("status", "{}")), ServiceError("down", code="llm_failed", hint="wait")])
    with pytest.raises(ServiceError):
        agent(place, failing, session="talk").answer("First?")
    assert [one.role for one in Sessions(place).read("talk").messages] == ["user", "assistant", "tool"]


def test_without_a_workspace_the_tools_say_what_is_missing() -> None:
    model = FakeModel([calls(("search", '{"query": "x"}')), "There is nothing."])
    agent(None, model).answer("Look.")
    assert results(model.asked[1])[0]["error"]["code"] == "no_workspace"


def test_text_and_calls_are_seen_as_they_come(place: Workspace) -> None:
    seen: list[str] = []
    watcher = Watcher(seen.append, lambda name, arguments: seen.append(f"call {name}"), lambda use: seen.append("done"))
    agent(place, FakeModel([calls(("status", "{}"), text="Wait. "), Reply("Ok.")])).answer("Go.", watcher)
    assert seen == ["Wait. ", "call status", "done", "Ok."]
