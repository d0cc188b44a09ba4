import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import COMMAND, ctx, environment, write
from tests.llm_server import said, scripted, status

CALL = '[{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    place.mkdir()
    assert ctx(place, "init").code == 0
    assert ctx(place, "session", "new", "s").out == "s\n"
    return place


def file_of(folder: Path, name: str = "s") -> Path:
    return folder / ".ctx" / "sessions" / f"{name}.jsonl"


def rows(folder: Path, name: str = "s") -> list[dict[str, Any]]:
    return [json.loads(line) for line in file_of(folder, name).read_text("utf-8").splitlines()]


def imported(folder: Path, turns: int, name: str = "long") -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "你是助手。"}]
    for n in range(turns):
        messages.append({"role": "user", "content": f"第 {n} 号泵的压力是多少？"})
        messages.append({"role": "assistant", "content": f"第 {n} 号泵的压力是 {n}0 巴。"})
    write(folder, f"{name}.json", json.dumps(messages))
    done = ctx(folder, "session", "import", f"{name}.json")
    assert (done.code, done.out) == (0, f"{name}\n"), done.err


def test_a_line_holds_one_message_with_id_and_time(folder: Path) -> None:
    done = ctx(folder, "session", "add", "s", "你好", "--json")
    assert done.code == 0, done.err
    row = rows(folder)[0]
    assert list(row)[:2] == ["id", "at"]
    assert (row["role"], row["content"]) == ("user", "你好")
    assert done.json["id"] == row["id"]
    assert ctx(folder, "session", "add", "s", "-5 degrees", "--role", "assistant").code == 0
    assert ctx(folder, "session", "show", "s").out == "user: 你好\nassistant: -5 degrees\n"


def test_a_tool_call_and_its_result_are_kept(folder: Path) -> None:
    ctx(folder, "session", "add", "s", "find it")
    assert ctx(folder, "session", "add", "s", "--role", "assistant", "--tool-calls", CALL).code == 0
    assert ctx(folder, "session", "add", "s", "found", "--role", "tool", "--tool-call-id", "c1").code == 0
    assert [row["role"] for row in rows(folder)] == ["user", "assistant", "tool"]
    shown = json.loads(ctx(folder, "session", "context", "s", "--format", "messages").out)
    assert shown[1]["tool_calls"][0]["id"] == shown[2]["tool_call_id"] == "c1"
    assert set(shown[1]) == {"role", "content", "tool_calls"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--role", "robot", "hi"], "unknown_role"),
        (["--role", "user"], "no_content"),
        (["--role", "tool", "r"], "no_tool_call_id"),
        (["--role", "tool", "r", "--tool-call-id", "c9"], "no_such_call"),
        (["--role", "assistant", "--tool-calls", "[1]"], "bad_tool_calls"),
        (["--role", "user", "x", "--tool-calls", CALL], "bad_message"),
        (["--message", "{"], "bad_json"),
        (["--message", "[]"], "bad_message"),
    ],
)
def test_a_message_that_is_none_is_refused(folder: Path, arguments: list[str], code: str) -> None:
    done = ctx(folder, "session", "add", "s", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, code)
    assert file_of(folder).read_bytes() == b""


def test_a_torn_last_line_is_kept_aside_and_told(folder: Path) -> None:
    ctx(folder, "session", "add", "s", "first")
    path = file_of(folder)
    path.write_bytes(path.read_bytes() + b'{"id": "x", "role": "user", "content": "hal')
    done = ctx(folder, "session", "add", "s", "second")
    assert done.code == 0
    assert "torn" in done.err
    assert [row["content"] for row in rows(folder)] == ["first", "second"]
    aside = [place for place in path.parent.iterdir() if ".torn-" in place.name]
    assert [place.read_bytes() for place in aside] == [b'{"id": "x", "role": "user", "content": "hal']


def test_a_whole_last_line_without_its_end_is_kept(folder: Path) -> None:
    write(folder, ".ctx/sessions/s.jsonl", '{"role": "user", "content": "by hand"}')
    done = ctx(folder, "session", "add", "s", "second")
    assert (done.code, done.err) == (0, "")
    assert [row["content"] for row in rows(folder)] == ["by hand", "second"]


def test_broken_lines_are_told_and_stay(folder: Path) -> None:
    text = '{"role": "user", "content": "one"}\nnot json\n{"role": "robot", "content": "x"}\n[1]\n\n{"role": "user"}\n'
    write(folder, ".ctx/sessions/s.jsonl", text + '{"role": "user", "content": "two"}\n\x00\x01\n')
    done = ctx(folder, "session", "show", "s", "--json")
    assert [row["content"] for row in done.json["messages"]] == ["one", "two"]
    assert len(done.json["problems"]) == 5
    assert "s.jsonl:2" in done.err
    assert ctx(folder, "session", "context", "s").out == "user: one\nuser: two\n"
    assert ctx(folder, "session", "compact", "s", "--keep", "1").code == 0
    everything = file_of(folder).read_text() + file_of(folder, "s.archive").read_text()
    assert sorted(filter(None, everything.split("\n"))) == sorted(
        filter(None, (text + '{"role": "user", "content": "two"}\n\x00\x01\n').split("\n"))
    )


def test_eight_writers_at_once_lose_nothing(folder: Path) -> None:
    def add(number: int) -> int:
        command = [*COMMAND, "session", "add", "s", f"message {number} " + "字" * 5_000]
        return subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, check=False).returncode

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(add, range(16))) == {0}
    found = rows(folder)
    assert sorted(int(row["content"].split()[1]) for row in found) == list(range(16))
    assert len({row["id"] for row in found}) == 16


def test_every_policy_shows_instructions_and_the_newest_turn(folder: Path) -> None:
    imported(folder, 30)
    limited = ["--limit", "400", "--keep", "2"]
    options = {"full": [], "window": ["--keep", "2"], "weighted": ["--weight", "3"]}
    for policy in ("full", "window", "weighted", "summary", "structured", "hierarchical"):
        given = options.get(policy, limited)
        done = ctx(folder, "session", "context", "long", "--policy", policy, *given, "--json")
        assert done.code == 0, done.err
        shown = done.json["messages"]
        assert shown[0] == {"role": "system", "content": "你是助手。"}
        assert shown[-1]["content"] == "第 29 号泵的压力是 290 巴。"
        assert done.json["tokens"] <= 400 or policy in options
    assert len(ctx(folder, "session", "context", "long", "-p", "full", "--json").json["messages"]) == 61
    assert ctx(folder, "session", "context", "long", "-p", "none").code == 2
    assert ctx(folder, "session", "context", "long", "--keep", "-1").code == 2


@pytest.mark.parametrize(
    ("policy", "option"),
    [("window", "--limit"), ("window", "--weight"), ("weighted", "--keep"), ("full", "--keep"), ("summary", "--weight"),
     ("hierarchical", "--keep-head"), ("full", "--threshold")],
)  # fmt: skip
def test_an_option_that_means_nothing_to_the_policy_is_refused(folder: Path, policy: str, option: str) -> None:
    done = ctx(folder, "session", "context", "s", "-p", policy, option, "1", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert option in done.json["error"]["message"]
    assert ctx(folder, "session", "context", "s", "--top-k", "2").code == 2


def test_showing_writes_nothing_and_leaves_nothing_for_later(folder: Path) -> None:
    imported(folder, 30)

    def state() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in file_of(folder).parent.iterdir()}

    before = state()
    wide = ctx(folder, "session", "context", "long", "-p", "summary", "--limit", "600", "--json").json
    for limit in ("60", "90", "300"):
        done = ctx(folder, "session", "context", "long", "-p", "summary", "--limit", limit, "--json")
        assert done.json["tokens"] <= int(limit)
        assert all(not one["content"].endswith("摘要]") for one in done.json["messages"])
    assert ctx(folder, "session", "context", "long", "-p", "summary", "--limit", "600", "--json").json == wide
    assert state() == before
    refused = ctx(folder, "session", "context", "long", "-p", "summary", "--limit", "5", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "over_budget")


def test_compacting_after_showing_counts_each_message_once(folder: Path) -> None:
    imported(folder, 30)
    ctx(folder, "session", "context", "long", "-p", "summary", "--limit", "300")
    assert ctx(folder, "session", "compact", "long", "--keep", "4").code == 0
    for policy in ("full", "window", "weighted"):
        shown = ctx(folder, "session", "context", "long", "-p", policy, "--json").json
        assert shown["messages_summarised"] == 52
        assert shown["messages"][1]["content"].startswith("[前 52 条消息的摘录式摘要]\n- ")
        assert "第 26 号泵" in shown["messages"][2]["content"]
    shown = ctx(folder, "session", "context", "long", "-p", "structured", "--limit", "2000", "--json").json
    assert shown["messages_summarised"] + sum(one["role"] != "system" for one in shown["messages"]) == 60


def test_keep_nothing_keeps_nothing(folder: Path) -> None:
    imported(folder, 30)
    for policy in ("summary", "structured", "hierarchical"):
        options = ["--keep", "0", "--threshold", "0", "--limit", "30"]
        shown = ctx(folder, "session", "context", "long", "-p", policy, *options, "--json").json
        assert [one["role"] for one in shown["messages"]] == ["system", "system"]
        assert shown["turns_left_out"] == 30


def test_recalled_turns_keep_to_the_limit_too(folder: Path) -> None:
    imported(folder, 60)
    ctx(folder, "session", "add", "long", "泵 " * 40)
    for limit in range(30, 900, 70):
        options = ["-p", "hierarchical", "--limit", str(limit), "--query", "第 3 号泵的压力", "--top-k", "9"]
        done = ctx(folder, "session", "context", "long", *options, "--json")
        assert done.json["tokens"] <= limit
    assert done.json["recalled"]


def test_a_damaged_memory_is_made_anew_from_the_turns(folder: Path) -> None:
    imported(folder, 30)
    ctx(folder, "session", "compact", "long", "--keep", "4")
    first = ctx(folder, "session", "context", "long").out
    memory = folder / ".ctx" / "sessions" / "long.memory.json"
    memory.write_text("{")
    done = ctx(folder, "session", "context", "long")
    assert (done.code, done.out, "summarised anew" in done.err) == (0, first, True)
    assert "Expecting" not in done.err
    memory.unlink()
    assert ctx(folder, "session", "context", "long").out == first
    assert ctx(folder, "session", "compact", "long", "--keep", "2").code == 0
    assert "[前 56 条消息" in ctx(folder, "session", "context", "long").out


def test_a_call_that_waits_for_its_result_is_not_archived(folder: Path) -> None:
    ctx(folder, "session", "add", "s", "find it")
    ctx(folder, "session", "add", "s", "--role", "assistant", "--tool-calls", CALL)
    assert ctx(folder, "session", "compact", "s", "--keep", "0").code == 0
    assert ctx(folder, "session", "add", "s", "found", "--role", "tool", "--tool-call-id", "c1").code == 0
    assert len(json.loads(ctx(folder, "session", "context", "s", "--format", "messages").out)) == 3


def test_lines_that_hold_no_message_are_not_counted_as_messages(folder: Path) -> None:
    write(folder, ".ctx/sessions/s.jsonl", '{"role": "user", "content": "一"}\nnot json\n\n{"role": "robot"}\n')
    done = ctx(folder, "session", "list", "--json")
    row = done.json["sessions"][0]
    assert (row["messages"], row["problems"], row["archived"]) == (1, 2, 0)
    assert "session show s" in done.err


@pytest.mark.parametrize("option", [["--role", "assistant"], ["--name", "bob"], ["--content", "x"], ["text"]])
def test_a_whole_message_goes_with_nothing_else(folder: Path, option: list[str]) -> None:
    done = ctx(folder, "session", "add", "s", "--message", '{"role": "user", "content": "x"}', *option, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert file_of(folder).read_bytes() == b""


@pytest.mark.parametrize("text", [" ", "\n\t", "\u3000"])
def test_a_blank_message_is_refused(folder: Path, text: str) -> None:
    for role in ("user", "assistant", "system"):
        done = ctx(folder, "session", "add", "s", text, "--role", role, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "no_content")
    assert file_of(folder).read_bytes() == b""


def test_lines_written_by_hand_with_the_same_ids_are_all_kept_apart(folder: Path) -> None:
    line = '{"id": "x", "role": "user", "content": "泵坏了"}\n'
    write(folder, ".ctx/sessions/s.jsonl", line * 10)
    assert ctx(folder, "session", "compact", "s", "--keep", "4", "--json").json["kept_messages"] == 4
    assert len(ctx(folder, "session", "recall", "s", "泵", "-k", "50", "--json").json["events"]) == 10
    assert "[前 6 条消息" in ctx(folder, "session", "context", "s").out


def test_compacting_says_what_it_would_drop_and_loses_nothing(folder: Path) -> None:
    imported(folder, 10)
    before = file_of(folder, "long").read_bytes()
    dry = ctx(folder, "session", "compact", "long", "--keep", "3", "--dry-run", "--json").json
    assert file_of(folder, "long").read_bytes() == before
    assert len(dry["dropped"]) == 7
    done = ctx(folder, "session", "compact", "long", "--keep", "3", "--json").json
    assert done["dropped"] == dry["dropped"]
    archive = file_of(folder, "long.archive").read_bytes()
    assert sorted((archive + file_of(folder, "long").read_bytes()).splitlines()) == sorted(before.splitlines())
    shown = ctx(folder, "session", "context", "long").out
    assert "摘录式摘要" in shown
    assert shown.startswith("system: 你是助手。")
    assert ctx(folder, "session", "list", "--json").json["sessions"][0]["archived"] == 14


WORDED = "CONFIRMED: 第 1 号泵的压力是 10 巴\nOPEN: 压力多久检查一次？"


def test_a_model_words_the_summary_of_what_is_moved(folder: Path) -> None:
    imported(folder, 8)
    before = file_of(folder, "long").read_bytes()
    with scripted(said(WORDED), said(WORDED)) as service:
        named = {"OPENAI_BASE_URL": service.url}
        dry = ctx(folder, "session", "compact", "long", "--keep", "3", "--llm", "--model", "m", "--dry-run", **named)
        assert (dry.code, file_of(folder, "long").read_bytes()) == (0, before)
        done = ctx(folder, "session", "compact", "long", "--keep", "3", "--llm", "-m", "m", "--json", **named)
    assert (done.code, service.requests[1]["model"]) == (0, "m")
    assert "第 4 号泵的压力是 40 巴" in service.prompt
    assert "第 5 号泵" not in service.prompt
    assert done.json["summary"].startswith("[前 10 条消息的摘要，由模型撰写]\n- 第 1 号泵的压力是 10 巴")
    archive = file_of(folder, "long.archive").read_bytes()
    assert sorted((archive + file_of(folder, "long").read_bytes()).splitlines()) == sorted(before.splitlines())
    memory = file_of(folder, "long").with_name("long.memory.json").read_bytes()
    with scripted() as service:
        shown = ctx(folder, "session", "context", "long", "--policy", "structured", **service.environment).out
        assert "压力多久检查一次？" in shown
        assert ctx(folder, "session", "compact", "long", "--keep", "3", "--llm", **service.environment).code == 0
        assert service.requests == []
    assert file_of(folder, "long").with_name("long.memory.json").read_bytes() == memory


def test_where_the_model_fails_the_summary_is_extractive_and_worded_the_next_time(folder: Path) -> None:
    for text, role in (("The pool size is 10.", "user"), ("Noted: the pool size is 10.", "assistant")) * 4:
        ctx(folder, "session", "add", "s", text, "--role", role)
    before = file_of(folder).read_bytes()
    with scripted(status(401, {"error": {"message": "no"}})) as service:
        done = ctx(folder, "session", "compact", "s", "--keep", "1", "--llm", "--json", **service.environment)
    assert (done.code, len(done.json["dropped"])) == (7, 3)
    assert "warning: the summary is extractive: " in done.err
    assert done.json["summary"].startswith("[Extractive summary of 6 earlier messages]")
    assert file_of(folder, "s.archive").read_bytes() + file_of(folder).read_bytes() == before
    with scripted(said("CONFIRMED: The pool size is 10")) as service:
        done = ctx(folder, "session", "compact", "s", "--keep", "1", "--llm", "--json", **service.environment)
    assert (done.code, done.json["dropped"]) == (0, [])
    expected = "[Summary of 6 earlier messages, written by a model]\n- The pool size is 10"
    assert done.json["summary"] == expected
    assert expected in ctx(folder, "session", "context", "s").out


def test_a_model_that_is_not_configured_is_told_before_anything_is_done(folder: Path) -> None:
    imported(folder, 4)
    before = file_of(folder, "long").read_bytes()
    assert ctx(folder, "session", "compact", "long", "--keep", "1", "--llm").code == 8
    assert ctx(folder, "session", "compact", "long", "--keep", "1", "--model", "m").code == 2
    assert file_of(folder, "long").read_bytes() == before
    with scripted() as service:
        done = ctx(folder, "session", "compact", "long", "--keep", "1", "--no-llm", **service.environment)
    assert (done.code, service.requests) == (0, [])


def test_archived_turns_are_recalled_by_relevance(folder: Path) -> None:
    imported(folder, 10)
    ctx(folder, "session", "add", "long", "The spare key hangs in the boiler room.")
    ctx(folder, "session", "compact", "long", "--keep", "0", "-q")
    found = ctx(folder, "session", "recall", "long", "where is the spare key", "--json").json["events"]
    assert "boiler room" in found[0]["text"]
    assert found[0]["archived"] is True
    found = ctx(folder, "session", "recall", "long", "第 4 号泵", "-k", "1", "--json").json["events"]
    assert "第 4 号泵" in found[0]["text"]
    assert ctx(folder, "session", "recall", "long", "量子纠缠", "--json").json["events"] == []
    shown = ctx(folder, "session", "context", "long", "--query", "spare key").out
    assert "boiler room" in shown


def test_an_import_takes_all_or_nothing(folder: Path) -> None:
    for name, text, code in (
        ("a", '[{"role": "user", "content": "x"}, {"role": "user"}]', "no_content"),
        ("b", '[{"role": "tool", "content": "x", "tool_call_id": "c"}]', "no_such_call"),
        ("c", "\x00\x01\x02", "bad_json"),
        ("d", '{"messages": 5}', "bad_messages"),
        ("e", '[{"role": "wizard", "content": "x"}]', "unknown_role"),
    ):
        write(folder, f"{name}.json", text)
        done = ctx(folder, "session", "import", f"{name}.json", "--json")
        assert (done.code, done.json["error"]["code"]) == (5, code), done.err
        assert not file_of(folder, name).exists()
    write(folder, "f.bin", b"\xff\xfe\x00\x80")
    assert ctx(folder, "session", "import", "f.bin").code == 5


def test_an_import_keeps_parts_that_are_no_text(folder: Path) -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    write(folder, "m.json", json.dumps({"messages": [{"role": "user", "content": parts}]}))
    assert ctx(folder, "session", "import", "m.json").code == 0
    assert rows(folder, "m")[0]["content"] == parts
    assert ctx(folder, "session", "import", "m.json").code == 2
    assert ctx(folder, "session", "import", "m.json", "--append").code == 0
    assert len(rows(folder, "m")) == 2


def test_deleting_needs_yes_and_the_whole_name(folder: Path) -> None:
    ctx(folder, "session", "new", "session-a")
    assert ctx(folder, "session", "show", "session").code == 0
    assert ctx(folder, "session", "delete", "session-a").code == 2
    assert ctx(folder, "session", "delete", "session", "--yes").code == 3
    done = ctx(folder, "session", "delete", "session-a", "--yes", "--json")
    assert done.code == 0
    assert (folder / done.json["path"] / "session-a.jsonl").exists()
    assert ctx(folder, "note", "list", "--trash", "--json").code == 0


def test_names_are_checked(folder: Path) -> None:
    for name in ("../x", "a/b", ".hidden", "x.archive", "a" * 80, "con"):
        assert ctx(folder, "session", "new", name).code == 2, name
    assert ctx(folder, "session", "new", "会话").code == 0
    assert ctx(folder, "session", "new", "s").code == 2
    done = ctx(folder, "session", "show", "nope", "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "session_not_found")
    assert ctx(folder, "session", "add", "nope", "x").code == 3


def test_a_long_session_is_appended_to_and_shown(folder: Path) -> None:
    line = json.dumps({"role": "user", "content": "填充 " * 300}, ensure_ascii=False) + "\n"
    reply = json.dumps({"role": "assistant", "content": "ok " * 300}) + "\n"
    file_of(folder).write_text((line + reply) * 10_000, "utf-8")  # about 28 MB
    assert ctx(folder, "session", "add", "s", "the end").code == 0
    done = ctx(folder, "session", "context", "s", "--json")
    assert done.code == 0
    assert done.json["turns_left_out"] == 9_994
    done = ctx(folder, "context", "build", "the end?", "--session", "s", "--budget", "500", "--json")
    assert (done.code, done.json["tokens"] <= 500) == (0, True), done.err


def test_half_of_a_character_is_kept_but_not_sent(folder: Path) -> None:
    whole = '{"role": "user", "content": "\\ud83d 泵"}'
    assert ctx(folder, "session", "add", "s", "--message", whole).code == 0
    assert rows(folder)[0]["content"] == "\ud83d 泵"
    for command in (["session", "context", "s"], ["context", "build", "泵", "--session", "s"]):
        messages = json.loads(ctx(folder, *command, "--format", "messages").out)
        assert "\ufffd 泵" in messages[0]["content"]
        json.dumps(messages, ensure_ascii=False).encode()


def test_doctor_names_what_is_wrong_with_sessions(folder: Path) -> None:
    ctx(folder, "session", "add", "s", "泵")
    assert {"sessions": "ok", "kept aside": "ok"}.items() <= checks(folder).items()
    path = file_of(folder)
    path.write_bytes(path.read_bytes() + b"no json\n" + b'{"role": "us')
    write(folder, ".ctx/sessions/s.memory.json", "{")
    found = ctx(folder, "doctor", "--json").json["checks"]
    said = [one["message"] for one in found if one["name"] == "session s"]
    assert said[0] == "2 lines hold no message"
    assert "s.memory.json is damaged" in said[1]
    ctx(folder, "session", "add", "s", "pump")
    assert checks(folder)["kept aside"] == "warning"


def checks(folder: Path) -> dict[str, str]:
    return {one["name"]: one["status"] for one in ctx(folder, "doctor", "--json").json["checks"]}
