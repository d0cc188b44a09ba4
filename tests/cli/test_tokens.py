import json
import subprocess
from pathlib import Path

from tests.cli.run import COMMAND, Done, ctx, environment, write


def piped(folder: Path, text: str | bytes, *arguments: str) -> Done:
    data = text.encode() if isinstance(text, str) else text
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        input=data,
        capture_output=True,
        env=environment(folder),
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_pipe_is_counted_without_a_workspace(tmp_path: Path) -> None:
    assert piped(tmp_path, "tiktoken is great!", "tokens").out == "6\n"
    assert piped(tmp_path, "tiktoken is great!", "tokens", "-").out == "6\n"


def test_the_document_names_encoding_and_model(tmp_path: Path) -> None:
    found = piped(tmp_path, "连接池", "tokens", "--model", "gpt-4", "--json").json
    assert found["schema"] == "ctx/tokens/1"
    assert (found["encoding"], found["model"], found["exact"]) == ("cl100k_base", "gpt-4", True)


def test_an_unknown_model_is_told_on_stderr(tmp_path: Path) -> None:
    done = piped(tmp_path, "hello", "tokens", "--model", "qwen-max", "--json")
    assert done.code == 0
    assert "qwen-max" in done.err
    assert "cl100k_base" in done.err
    assert done.json["exact"] is False
    assert piped(tmp_path, "hello", "tokens", "--model", "qwen-max", "-q").err == ""


def test_several_files_have_a_line_each_and_a_total(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "hello world")
    write(tmp_path, "b.md", "世界")
    assert ctx(tmp_path, "tokens", "a.txt", "b.md").out.splitlines() == ["2  a.txt", "1  b.md", "3  total"]
    assert ctx(tmp_path, "tokens", "a.txt", "b.md", "--json").json["files"][1] == {"path": "b.md", "tokens": 1}


def test_messages_are_counted_with_their_frame(tmp_path: Path) -> None:
    write(tmp_path, "m.json", json.dumps([{"role": "user", "content": "hello"}]))
    assert ctx(tmp_path, "tokens", "--messages", "m.json").out == "8\n"
    write(tmp_path, "m.jsonl", '{"role": "user", "content": "hello"}\n{"role": "assistant", "content": "hello"}\n')
    assert ctx(tmp_path, "tokens", "--messages", "m.jsonl").out == "13\n"


def test_an_estimate_says_that_it_is_one(tmp_path: Path) -> None:
    done = piped(tmp_path, "你好吗" * 10, "tokens", "--estimate", "--json")
    assert done.json["tokens"] == 24
    assert done.json["exact"] is False
    assert "estimate" in done.err


def test_bad_input_is_one_line_and_a_code(tmp_path: Path) -> None:
    assert ctx(tmp_path, "tokens", "none.txt").code == 3
    write(tmp_path, "x.bin", bytes(range(256)) * 20)
    done = ctx(tmp_path, "tokens", "x.bin", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "binary")
    write(tmp_path, "m.json", '[{"role": "robot", "content": "x"}]')
    done = ctx(tmp_path, "tokens", "--messages", "m.json", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "unknown_role")
    assert "message 1" in done.err
    assert ctx(tmp_path, "tokens", "--nope").code == 2
    assert "Traceback" not in done.err


def test_line_ends_and_legacy_encodings_are_counted_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, "crlf.txt", b"a\r\nb")
    write(tmp_path, "lf.txt", b"a\nb")
    write(tmp_path, "gbk.txt", "连接池的默认大小是十，最大连接数是一百。".encode("gbk"))
    write(tmp_path, "utf8.txt", "\ufeff连接池的默认大小是十，最大连接数是一百。")
    assert ctx(tmp_path, "tokens", "crlf.txt").out == ctx(tmp_path, "tokens", "lf.txt").out
    assert ctx(tmp_path, "tokens", "gbk.txt").out == ctx(tmp_path, "tokens", "utf8.txt").out
