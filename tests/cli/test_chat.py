"""`ctx chat` as a process, against a scripted service on this machine."""

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, ctx, environment, write
from tests.llm_server import Scripted, called, delta, said, scripted, streamed
from tests.schemas import valid

MANUAL = "# Manual\n\n## 6.4 Pumps\n\nThe irrigation pump starts at six in the morning.\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat") / "w"
    write(folder, "docs/manual.md", MANUAL)
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def test_a_message_is_answered_with_tools(place: Path) -> None:
    script = [called(("ask", {"question": "When does the irrigation pump start?"}), text="Let me look."),
              said("At six (manual.md, §6.4).")]  # fmt: skip
    with scripted(*script) as service:
        done = ctx(place, "chat", "When does the pump start?", **service.environment)
    assert done.code == 0
    assert done.out == "Let me look.\nAt six (manual.md, §6.4).\n"
    assert '· ask {"question": "When does the irrigation pump start?"}' in done.err
    result = service.requests[1]["messages"][-1]
    assert result["role"] == "tool"
    assert "six in the morning" in result["content"]
    assert all(tool["function"]["parameters"]["additionalProperties"] is False for tool in service.requests[0]["tools"])


def test_json_tells_the_tools_and_the_tokens(place: Path) -> None:
    with scripted(called(("serch", {})), said("Nothing.")) as service:
        done = ctx(place, "chat", "Look!", "--json", **service.environment)
    found = valid(done.json)
    assert (found["answer"], found["rounds"], found["session"]) == ("Nothing.", 1, None)
    assert found["tools"] == [{"name": "serch", "arguments": "{}", "failed": True}]
    assert found["usage"]["total_tokens"] == 50


def test_what_an_answer_points_to_and_no_tool_returned_is_told(place: Path) -> None:
    look = called(("ask", {"question": "When does the irrigation pump start?"}))
    good = "At six [1] (manual.md §6.4): “The irrigation pump starts at six in the morning.”"
    bad = "九点启动[1][99]（见 docs/none.md）：「灌溉水泵每天晚上九点启动」。"
    with scripted(look, said(good), look, said(bad), look, said(bad)) as service:
        assert ctx(place, "chat", "When?", "--json", **service.environment).json["unbacked"] == []
        done = ctx(place, "chat", "何时？", **service.environment)
        found = valid(ctx(place, "chat", "何时？", "--json", **service.environment).json)
    told = ["[99]", "docs/none.md", "“灌溉水泵每天晚上九点启动”"]
    assert (done.code, done.out) == (0, f"{bad}\n")
    assert f"warning: in nothing that the model was shown: {', '.join(told)}\n" in done.err
    assert found["unbacked"] == told


def test_what_the_model_made_up_before_backs_nothing(place: Path) -> None:
    with scripted(said("See [7]."), said("As I said: [7].")) as service:
        for text in ("First?", "第二？"):
            found = ctx(place, "chat", "-s", "made-up", text, "--json", **service.environment).json
            assert found["unbacked"] == ["[7]"]


def test_a_session_goes_on_by_name_in_another_process(place: Path) -> None:
    with scripted(said("Ten."), said("As I said: ten.")) as service:
        assert ctx(place, "chat", "-s", "talk", "What is the pool size?", **service.environment).out == "Ten.\n"
        ctx(place, "chat", "--session", "talk", "Again?", **service.environment)
    assert "What is the pool size?" in service.prompt
    assert "Ten." in service.prompt
    shown = ctx(place, "session", "show", "talk", "--json").json
    assert [one["role"] for one in shown["messages"]] == ["user", "assistant", "user", "assistant"]


def test_two_chats_on_one_session_take_turns(place: Path) -> None:
    assert ctx(place, "session", "new", "shared").code == 0
    look = called(("ask", {"question": "When does the irrigation pump start?"}))
    with scripted(look, said("At six."), look, said("六点。")) as service:
        running = [
            subprocess.Popen([*COMMAND, "chat", "-s", "shared", text], cwd=place, stdin=subprocess.DEVNULL,
                             env=environment(place, CTX_INDEX_LOCK_SECONDS="60", **service.environment))
            for text in ("When?", "何时？")
        ]  # fmt: skip
        assert [one.wait(120) for one in running] == [0, 0]
    kept = ctx(place, "session", "show", "shared", "--json").json["messages"]
    assert [one["role"] for one in kept] == ["user", "assistant", "tool", "assistant"] * 2
    assert ctx(place, "session", "delete", "shared", "--yes").code == 0
    assert list((place / ".ctx/sessions").glob("shared*")) == []


def test_standard_input_is_one_message(place: Path) -> None:
    with scripted(said("好。")) as service:
        done = subprocess.run(
            [*COMMAND, "chat"],
            cwd=place,
            input="第一行\n第二行\n".encode(),
            capture_output=True,
            env=environment(place, **service.environment),
            timeout=60,
            check=False,
        )
    assert done.stdout.decode() == "好。\n"
    assert "第一行\n第二行" in service.prompt


def test_mistakes_are_told(place: Path, tmp_path: Path) -> None:
    assert ctx(place, "chat", "hi").code == 8
    assert ctx(place, "chat", "").code == 2
    assert ctx(place, "chat", "hi", "--policy", "nonsense").code == 2
    folder = tmp_path / "none"
    folder.mkdir()
    with scripted(said("Hello.")) as service:
        assert ctx(folder, "chat", "hi", "-s", "talk", **service.environment).code == 3
        assert ctx(folder, "chat", "hi", **service.environment).out == "Hello.\n"
    assert not (folder / ".ctx").exists()


def test_control_characters_of_a_model_do_not_reach_the_terminal(place: Path) -> None:
    with scripted(said("a\x1b[2Jb")) as service:
        assert ctx(place, "chat", "hi", **service.environment).out == "a\\x1b[2Jb\n"


class Terminal:
    """`ctx chat` on a terminal of its own."""

    def __init__(self, place: Path, **more: str) -> None:
        self._own, other = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, "chat", "-s", "live"],
            cwd=place,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(place, TERM="dumb", **more),
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""

    def until(self, text: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self._own], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._own, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        assert text in self.seen, self.seen

    def type(self, text: str) -> None:
        os.write(self._own, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._own)


def test_on_a_terminal_ctrl_c_stops_an_answer_and_ctrl_d_ends(place: Path) -> None:
    def slow(request: object) -> Scripted:
        return streamed(delta(content="A long story"), *[b": still thinking\n\n" * 200_000] * 40, cut=True)

    with scripted(slow, said("Second answer.")) as service:
        terminal = Terminal(place, **service.environment)
        try:
            terminal.until("> ")
            terminal.type("First?\n")
            terminal.until("A long story")
            os.kill(terminal.process.pid, signal.SIGINT)
            terminal.until("[interrupted]")
            terminal.type("Second?\n")
            terminal.until("Second answer.\r\n> ")
            terminal.type("\x04")
            assert terminal.process.wait(30) == 0
            assert "Traceback" not in terminal.seen
        finally:
            terminal.close()
    kept = ctx(place, "session", "show", "live", "--json").json["messages"]
    assert [one["role"] for one in kept] == ["user", "assistant", "user", "assistant"]
    assert kept[1]["content"] == "A long story [interrupted]"
