import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ctxcli.text.tokens import TokenCounter
from tests.cli.run import ROOT, ctx, write

NOW = "2026-06-01T12:00:00+00:00"


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("station") / "w"
    shutil.copytree(ROOT / "sample_kb", folder / "sample_kb")
    assert ctx(folder, "kb", "index", "sample_kb", "-q").code == 0
    ctx(folder, "fact", "set", "station.bays", "6", "--source", "manual", "--step", "2")
    ctx(folder, "fact", "set", "发电机", "每月测试", "--source", "手册")
    for title, kind, text in (
        ("Generator does not start", "blocker", "The emergency generator failed its test. Waiting for a part."),
        ("Order disc filters", "action", "Ask Tomas."),
        ("Old blocker", "blocker", "Solved."),
        ("Generator notes", "reference", "The emergency generator is a diesel set by the north gate."),
    ):
        ctx(folder, "note", "create", title, "--type", kind, "--content", text)
    ctx(folder, "note", "create", "Closed one", "--type", "blocker", "--tag", "done", "--content", "x")
    ctx(folder, "session", "new", "s")
    ctx(folder, "session", "add", "s", "How large is the station?")
    ctx(folder, "session", "add", "s", "4,200 square metres.", "--role", "assistant")
    write(folder, "system.txt", "You are the assistant of the station.\n")
    return folder


def build(folder: Path, *arguments: str) -> Any:
    done = ctx(folder, "context", "build", *arguments, "--now", NOW, "--json")
    assert done.code == 0, done.err
    return done.json


QUESTION = "When is the emergency generator tested?"


def test_everything_is_gathered_in_its_section(station: Path) -> None:
    found = build(station, QUESTION, "--system", "system.txt", "--session", "s", "--notes")
    text = found["text"]
    heads = [line for line in text.split("\n") if line in
             ("[Role & Policies]", "[Task]", "[State]", "[Evidence]", "[Context]", "[Output]")]  # fmt: skip
    assert heads == ["[Role & Policies]", "[Task]", "[State]", "[Evidence]", "[Context]", "[Output]"]
    assert "- station.bays = 6 (manual, step 2)" in text
    assert "first Wednesday of each month" in text
    assert "User: How large is the station?" in text
    assert text.index("Generator does not start") < text.index("Order disc filters") < text.index("Generator notes")
    assert "Closed one" not in text
    assert found["tokens"] == TokenCounter().count(text) <= found["budget"] == 4_000


def test_evidence_is_numbered_and_cited_as_in_an_answer(station: Path) -> None:
    found = build(station, QUESTION)
    first = found["citations"][0]
    assert f"[1] {first['doc']} · §5.2 Power failure · p. 9 (printed 6)" in found["text"]
    assert (first["n"], first["section"], first["page"]) == (1, "5.2", 9)
    assert first["quote"] in found["text"]
    asked = ctx(station, "ask", QUESTION, "--json").json["citations"][0]
    assert asked["doc"] == first["doc"]


def test_a_chinese_question_gets_chinese_evidence(station: Path) -> None:
    found = build(station, "二氧化碳传感器用什么标准气体校准？", "--budget", "900")
    assert "400 ppm 的标准气体" in found["text"]
    assert "第 5 页" in found["text"]
    assert "请完成任务" in found["text"]
    assert found["tokens"] <= 900


def test_the_same_inputs_give_the_same_bytes(station: Path) -> None:
    runs = {ctx(station, "context", "build", QUESTION, "--notes", "--session", "s", "--now", NOW).out for _ in range(3)}
    assert len(runs) == 1


@pytest.mark.parametrize("budget", ["60", "120", "300", "1000"])
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_what_is_printed_is_within_the_budget(station: Path, budget: str, model: str) -> None:
    for question in (QUESTION, "二氧化碳传感器用什么标准气体校准？"):
        done = ctx(station, "context", "build", question, "--budget", budget, "--model", model, "--notes")
        if done.code:
            assert (done.code, "over the budget" in done.err) == (2, True)
        else:
            assert TokenCounter(model).count(done.out) <= int(budget)


def test_instructions_over_the_budget_are_an_error_with_the_number(station: Path) -> None:
    write(station, "long.txt", "Follow this policy. " * 300)
    done = ctx(station, "context", "build", QUESTION, "--system", "long.txt", "--budget", "500", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "over_budget")
    assert "tokens over the budget of 500" in done.json["error"]["message"]


def test_messages_are_a_list_that_the_api_takes(station: Path) -> None:
    done = ctx(
        station, "context", "build", QUESTION, "--system", "system.txt", "--session", "s", "--format", "messages"
    )
    messages = json.loads(done.out)
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "user"]
    assert all(set(one) == {"role", "content"} for one in messages)
    assert TokenCounter().count_messages(messages) <= 4_000


def test_packets_of_the_caller_compete(station: Path) -> None:
    write(station, "p.json", json.dumps([
        {"content": "The generator was replaced in May.", "type": "evidence", "relevance": 0.99, "source": "mail"},
        {"content": "Nothing to do with it.", "type": "memory", "relevance": 0.01, "source": "noise"},
        {"content": "Answer with one word.", "type": "output"},
    ]))  # fmt: skip
    found = build(station, QUESTION, "--packet", "p.json", "--no-kb")
    assert "[1] mail\nThe generator was replaced in May." in found["text"]
    assert found["text"].endswith("[Output]\nAnswer with one word.")
    state = {one["source"]: (one["state"], one["why"]) for one in found["packets"]}
    assert state["noise"] == ("dropped", "relevance 0.01 is below 0.1")
    assert state["mail"][0] == "kept"


def test_explain_tells_what_became_of_every_packet(station: Path) -> None:
    done = ctx(station, "context", "build", QUESTION, "--notes", "--budget", "500", "--explain", "--now", NOW)
    for word in ("STATE", "RELEVANCE", "WHY", "kept", "dropped", "never cut"):
        assert word in done.out
    done = ctx(station, "context", "build", QUESTION, "--format", "messages", "--explain")
    json.loads(done.out)
    assert "kept" in done.err


def test_a_history_file_is_shown_with_tool_calls_whole(station: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    write(station, "h.json", json.dumps([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Find the manual."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "tool", "tool_call_id": "c9", "content": "orphan"},
        {"role": "assistant", "content": "Here."},
    ]))  # fmt: skip
    done = ctx(station, "context", "build", QUESTION, "--history", "h.json", "--format", "messages", "--no-kb")
    messages = json.loads(done.out)
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert "orphan" not in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["--budget", "-5"], 2, "bad_budget"),
        (["--budget", "0"], 2, "bad_budget"),
        (["--budget", "many"], 2, "usage"),
        (["--format", "xml"], 2, "usage"),
        (["--now", "someday"], 2, "usage"),
        (["--kb", "nope"], 3, "kb_not_found"),
        (["--session", "nope"], 3, "session_not_found"),
        (["--system", "nope.txt"], 3, "file_not_found"),
        (["--packet", "packet.bin"], 5, "binary"),
        (["--packet", "bad.json"], 5, "bad_json"),
        (["--packet", "key.json"], 5, "bad_packet"),
        (["--packet", "nan.json"], 5, "bad_packet"),
        (["--history", "packet.bin"], 5, "not_text"),
        (["--history", "packet.bin", "--session", "s"], 2, "usage"),
        (["--min-relevance", "3"], 2, "usage"),
    ],
)
def test_mistakes_have_a_code_and_no_traceback(station: Path, arguments: list[str], code: int, name: str) -> None:
    write(station, "packet.bin", b"\xff\x00\xfe" * 50)
    write(station, "bad.json", '{"content": ')
    write(station, "key.json", '{"content": "x", "relevence": 1}')
    write(station, "nan.json", '{"content": "x", "relevance": NaN}')
    done = ctx(station, "context", "build", QUESTION, *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name), done.err
    assert "Traceback" not in done.err


def test_an_empty_query_is_a_mistake_and_odd_ones_are_none(station: Path) -> None:
    assert ctx(station, "context", "build", " ").code == 2
    for query in ("???", "的", "🙂", "-5 degrees"):
        assert ctx(station, "context", "build", "--notes", "--", query).code == 0


def test_an_unknown_model_is_told(station: Path) -> None:
    done = ctx(station, "context", "build", QUESTION, "--model", "qwen-max")
    assert (done.code, "qwen-max" in done.err) == (0, True)


def test_without_a_knowledge_base_there_is_no_evidence(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    assert ctx(folder, "context", "build", QUESTION).code == 3
    ctx(folder, "init")
    done = ctx(folder, "context", "build", QUESTION)
    assert (done.code, "[Evidence]" in done.out) == (0, False)


def test_evidence_is_found_by_words_of_like_meaning_as_an_answer_is(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "docs/a.md", "# Evening\n\nThe movie begins at nine.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    assert "The movie begins at nine." in ctx(folder, "context", "build", "When does the film start?").out


def test_damaged_facts_are_an_error_and_can_be_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    ctx(folder, "init")
    write(folder, ".ctx/facts.json", "{")
    assert ctx(folder, "context", "build", QUESTION).code == 5
    assert ctx(folder, "context", "build", QUESTION, "--no-facts").code == 0


def test_messages_stand_in_the_document_where_they_are_the_format(station: Path) -> None:
    plain = ["context", "build", QUESTION, "--session", "s", "--now", NOW, "--format", "messages"]
    found = ctx(station, *plain, "--json").json
    assert found["messages"] == json.loads(ctx(station, *plain).out)
    assert found["tokens"] == TokenCounter().count_messages(found["messages"])
    assert "messages" not in ctx(station, *plain[:-2], "--json").json


@pytest.mark.parametrize("command", [["tokens"], ["context", "build", "x"], ["session", "context", "s"]])
def test_an_empty_name_of_a_model_is_refused(station: Path, command: list[str]) -> None:
    for name in ("", " "):
        done = ctx(station, *command, "-m", name, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "usage")


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        ('{"content": 5}', "content must be a text, not a number"),
        ('{"content": ["甲"]}', "content must be a text, not a list"),
        ('{"content": " "}', "has no content"),
        ('{"content": "x", "relevance": true}', "not true"),
        ('{"content": "x", "relevance": 1e999}', "not Infinity"),
        ('{"content": "x", "timestamp": {"a": 1}}', 'not {"a": 1}'),
        ("[" * 100_000, "nested too deeply"),
        ('{"content": "甲",}', "line 1, column 17"),
    ],
)
def test_a_packet_that_is_none_is_told_in_plain_words(station: Path, packet: str, said: str) -> None:
    write(station, "odd.json", packet)
    done = ctx(station, "context", "build", QUESTION, "--packet", "odd.json", "--no-kb")
    assert (done.code, said in done.err) == (5, True), done.err


def test_half_of_a_character_is_counted_as_it_is_printed(station: Path) -> None:
    write(station, "half.json", json.dumps({"content": "generator \ud83d " * 60, "relevance": 1.0}))
    for budget in ("60", "150", "300"):
        done = ctx(station, "context", "build", QUESTION, "--packet", "half.json", "--no-kb", "--budget", budget)
        assert TokenCounter().count(done.out) <= int(budget)
        assert "\\ud83d" not in done.out
