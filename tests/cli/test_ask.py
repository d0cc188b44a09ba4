"""`ctx ask` as a process."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import COMMAND, ctx, environment, fed, start, write

MANUAL = """# Greenhouse manual

## 6.3 Vents

The controller opens the roof vent when the air is warmer than 28 degrees for ten minutes.

### 6.3.2 Wind

Strong wind is above 14 metres a second. The vent closes then.

## 6.4 Pumps

The irrigation pump starts at six in the morning and runs for twenty minutes.
"""
CHINESE = "# 温室手册\n\n## 6.4 水泵\n\n灌溉水泵每天早上六点启动，运行二十分钟。\n"
PUMP = "When does the irrigation pump start?"
NOTES = [
    "A pump was bought in spring.", "The old pump leaks.", "Irrigation needs clean water.", "Nobody likes a loud pump.",
    "Paint for the pump house is green.", "Filters protect irrigation lines.", "Spare parts of a pump are in store.",
    "Irrigation water is tested by a laboratory.", "Ask Maria before a pump is opened.", "Hoses belong to the pump.",
    "Irrigation lines are flushed by hand.", "The supplier of the pump has moved.",
]  # fmt: skip
ANSWER_KEYS = [
    "schema", "question", "declined", "reason", "answer", "method", "score", "threshold", "citations", "nearest",
    "elapsed_ms",
]  # fmt: skip
CITATION_KEYS = [
    "n", "kb", "doc", "title", "section", "heading", "heading_path", "page", "page_end", "page_label", "line_start",
    "line_end", "quote", "chunk_id", "score", "doc_sha256",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that no test changes."""
    return made(tmp_path_factory.mktemp("shared") / "w")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return made(tmp_path / "w")


def made(folder: Path) -> Path:
    write(folder, "docs/manual.md", MANUAL)
    write(folder, "docs/手册.md", CHINESE)
    for number, noted in enumerate(NOTES):
        write(folder, f"docs/more/{number}.md", f"# Note {number}\n\n{noted}\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def test_the_answer_document_has_its_fields_in_their_order(shared: Path) -> None:
    answer = ctx(shared, "ask", PUMP, "--json").json
    assert list(answer) == ANSWER_KEYS
    assert answer["schema"] == "ctx/answer/1"
    assert (answer["declined"], answer["reason"], answer["method"]) == (False, None, "extractive")
    assert answer["question"] == PUMP
    assert 0 <= answer["threshold"] <= answer["score"] <= 1
    assert answer["elapsed_ms"] >= 0
    for n, citation in enumerate(answer["citations"], 1):
        assert list(citation) == CITATION_KEYS
        assert citation["n"] == n
        assert re.fullmatch("[0-9a-f]{64}", citation["doc_sha256"])
    first = answer["citations"][0]
    assert (first["kb"], first["doc"], first["title"]) == ("default", "docs/manual.md", "Greenhouse manual")
    assert (first["section"], first["heading"]) == ("6.4", "Pumps")
    assert first["heading_path"] == ["Greenhouse manual", "6.4 Pumps"]
    assert (first["page"], first["page_end"], first["page_label"]) == (None, None, None)
    assert (first["line_start"], first["line_end"]) == (13, 13)
    assert first["quote"] in MANUAL


def test_the_refusal_document_has_the_same_fields(shared: Path) -> None:
    done = ctx(shared, "ask", "What colour is the pump?", "--threshold", "1", "--json")
    assert done.code == 4
    answer = done.json
    assert list(answer) == ANSWER_KEYS
    assert (answer["declined"], answer["reason"], answer["answer"]) == (True, "below_threshold", None)
    assert answer["citations"] == []
    assert 1 <= len(answer["nearest"]) <= 3
    for near in answer["nearest"]:
        assert {"doc", "section", "heading", "page", "score"} <= near.keys()


@pytest.mark.parametrize("more", [["--json"], ["--format", "json"], ["--format=json", "--cite"]])
def test_json_comes_by_either_option(shared: Path, more: list[str]) -> None:
    answer = ctx(shared, "ask", PUMP, *more).json
    assert answer["schema"] == "ctx/answer/1"


def test_evidence_holds_ten_ranked_chunks_and_the_candidate(shared: Path) -> None:
    answer = ctx(shared, "ask", PUMP, "--evidence", "--json").json
    assert list(answer) == [*ANSWER_KEYS, "candidate", "evidence"]
    assert answer["candidate"] == answer["answer"]
    assert len(answer["evidence"]) >= 10
    assert [one["rank"] for one in answer["evidence"]] == list(range(1, len(answer["evidence"]) + 1))
    for one in answer["evidence"]:
        assert one["quote"] in one["text"]
        assert set(CITATION_KEYS) - {"n"} | {"rank", "text"} == set(one)
    declined = ctx(shared, "ask", PUMP, "--evidence", "--threshold", "1", "--json").json
    assert declined["declined"]
    assert declined["candidate"] == answer["candidate"]
    assert len(ctx(shared, "ask", PUMP, "--evidence", "--top-k", "3", "--json").json["evidence"]) == 3
    assert "docs/more/" in ctx(shared, "ask", PUMP, "--evidence").out


def test_the_text_names_the_source_and_with_cite_its_quote(shared: Path) -> None:
    plain = ctx(shared, "ask", PUMP)
    assert plain.code == 0
    assert plain.err == ""
    assert "[1]" in plain.out
    assert "Sources: [1] docs/manual.md · §6.4 Pumps · line 13" in plain.out
    cited = ctx(shared, "ask", "--cite", PUMP).out
    assert "[1] docs/manual.md · §6.4 Pumps · line 13\n    The irrigation pump starts at six" in cited


def test_fixed_words_follow_the_language_of_the_question(shared: Path) -> None:
    done = ctx(shared, "ask", "灌溉水泵几点启动？")
    assert done.code == 0
    assert "来源：[1] docs/手册.md · §6.4 水泵 · 第 5 行" in done.out
    assert ctx(shared, "ask", "谁写了红楼梦？").out.startswith("无法回答：")
    assert ctx(shared, "ask", "Who wrote Hamlet?").out.startswith("No answer:")


def test_markdown_has_a_list_of_sources(shared: Path) -> None:
    done = ctx(shared, "ask", PUMP, "--format", "md", "--cite")
    assert "**Sources**\n\n1. docs/manual.md · §6.4 Pumps · line 13\n\n   > The irrigation pump" in done.out
    declined = ctx(shared, "ask", PUMP, "--format", "md", "--threshold", "1")
    assert declined.code == 4
    assert declined.out.startswith("**No answer:")


def test_the_threshold_decides(shared: Path) -> None:
    assert ctx(shared, "ask", PUMP, "--threshold", "0").code == 0
    assert ctx(shared, "ask", PUMP, "--threshold", "1").code == 4
    assert ctx(shared, "ask", PUMP, CTX_ASK_THRESHOLD="1").code == 4
    assert ctx(shared, "ask", PUMP, "--threshold", "0", CTX_ASK_THRESHOLD="1").code == 0
    assert ctx(shared, "ask", "What is music?", "--threshold", "0").code == 4, "there is nothing to show"


@pytest.mark.parametrize("question", ["音乐是什么", "这是什么", "the is", "What is music?"])
def test_what_the_documents_do_not_say_is_declined(shared: Path, question: str) -> None:
    done = ctx(shared, "ask", question, "--json")
    assert done.code == 4
    assert done.json["citations"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["ask", PUMP, "--kb", "nope"], 3, "kb_not_found"),
        (["ask"], 2, "usage"),
        (["ask", ""], 2, "usage"),
        (["ask", "  "], 2, "usage"),
        (["ask", PUMP, "--format", "xml"], 2, "usage"),
        (["ask", PUMP, "--threshold", "2"], 2, "usage"),
        (["ask", PUMP, "--threshold", "nan"], 2, "usage"),
        (["ask", PUMP, "--top-k", "0"], 2, "usage"),
        (["ask", PUMP, "--unknown"], 2, "usage"),
        (["ask", PUMP, "another"], 2, "usage"),
        (["ask", PUMP, "--batch", "x"], 2, "usage"),
        (["ask", "--batch", "nowhere.jsonl"], 2, "file_not_found"),
        (["ask", PUMP, "--from", "nowhere.md"], 3, "file_not_found"),
        (["ask", PUMP, "--from", "docs"], 5, "unreadable"),
        (["ask", PUMP, "-w", "docs"], 3, "no_workspace"),
    ],
)
def test_mistakes_are_told_in_a_line_with_a_code(shared: Path, arguments: list[str], code: int, name: str) -> None:
    done = ctx(shared, *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)
    assert done.json["schema"] == "ctx/error/1"
    plain = ctx(shared, *arguments)
    assert (plain.code, plain.out) == (code, "")
    assert plain.err.startswith("error: ")
    assert plain.err.count("\n") <= 2


def test_an_unknown_knowledge_base_is_told_with_those_there_are(shared: Path) -> None:
    done = ctx(shared, "ask", PUMP, "--kb", "nope")
    assert "nope" in done.err
    assert "default" in done.err


def test_without_a_workspace_or_a_knowledge_base_the_code_is_3(tmp_path: Path) -> None:
    done = ctx(tmp_path, "ask", PUMP)
    assert (done.code, done.out) == (3, "")
    assert "ctx kb index" in done.err
    (tmp_path / "w").mkdir()
    ctx(tmp_path / "w", "init")
    done = ctx(tmp_path / "w", "ask", PUMP, "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "no_kb")


def test_an_empty_knowledge_base_declines(tmp_path: Path) -> None:
    (tmp_path / "w/empty").mkdir(parents=True)
    assert ctx(tmp_path / "w", "kb", "index", "empty").code == 0
    done = ctx(tmp_path / "w", "ask", PUMP, "--json")
    assert (done.code, done.json["reason"]) == (4, "empty_kb")
    assert "holds no documents" in ctx(tmp_path / "w", "ask", PUMP).out


def test_several_knowledge_bases_are_asked_together_or_one_alone(place: Path) -> None:
    write(place, "other/heat.md", "# Heating\n\nThe boiler heats the pipes from five in the evening.\n")
    assert ctx(place, "kb", "index", "other", "--kb", "second", "-q").code == 0
    boiler = "When does the boiler heat the pipes?"
    [cited] = ctx(place, "ask", boiler, "--json").json["citations"]
    assert (cited["kb"], cited["doc"]) == ("second", "other/heat.md")
    assert ctx(place, "ask", boiler, "--kb", "default").code == 4
    assert ctx(place, "ask", PUMP, "--kb", "default", "--kb", "second").code == 0


def test_a_question_can_come_from_standard_input(shared: Path) -> None:
    assert fed(shared, f"{PUMP}\n", "ask", "-", "--json").json["question"] == PUMP
    assert fed(shared, "", "ask", "-").code == 2


def test_a_file_can_be_asked_without_a_workspace(tmp_path: Path) -> None:
    write(tmp_path, "manual.md", MANUAL)
    done = ctx(tmp_path, "ask", PUMP, "--from", "manual.md", "--json")
    assert done.code == 0
    assert done.json["citations"][0]["doc"] == "manual.md"
    piped = fed(tmp_path, MANUAL, "ask", PUMP, "--from", "-", "--json")
    assert piped.code == 0
    assert piped.json["citations"][0]["quote"] == done.json["citations"][0]["quote"]
    write(tmp_path, "b.md", CHINESE)
    both = ctx(tmp_path, "ask", "灌溉水泵几点启动？", "--from", "manual.md", "--from", "b.md", "--json").json
    assert both["citations"][0]["doc"] == "b.md"
    assert fed(tmp_path, "\n", "ask", PUMP, "--from", "-", "--json").json["error"]["code"] == "empty"
    assert not (tmp_path / ".ctx").exists()


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [("empty.md", b"", "empty"), ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<<", ""), ("noise.md", bytes(range(256)) * 40, "")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    write(tmp_path, "manual.md", MANUAL)
    write(tmp_path, name, content)
    done = ctx(tmp_path, "ask", PUMP, "--from", "manual.md", "--from", name, "--json")
    assert done.code == 5
    assert done.json["error"]["message"].startswith(f"{name}: ")
    assert code in done.json["error"]["code"]


def batch(folder: Path, lines: str | bytes, *more: str) -> tuple[int, list[Any], str]:
    done = fed(folder, lines, "ask", "--batch", "-", "--json", *more)
    return done.code, [json.loads(line) for line in done.out.splitlines()], done.err


def test_a_batch_answers_line_by_line(shared: Path) -> None:
    lines = [
        {"id": "a", "question": PUMP, "answers": ["six"], "page": 4},
        {"id": "乙", "question": "灌溉水泵几点启动？"},
        {"id": "c", "question": "Who wrote Hamlet?"},
    ]
    code, answers, _ = batch(shared, "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n")
    assert code == 0
    assert [answer["id"] for answer in answers] == ["a", "乙", "c"]
    assert [answer["declined"] for answer in answers] == [False, False, True]
    assert all(list(answer) == ["schema", "id", *ANSWER_KEYS[1:]] for answer in answers)
    alone = ctx(shared, "ask", PUMP, "--json").json
    assert {**answers[0], "elapsed_ms": 0} == {"id": "a", **alone, "elapsed_ms": 0}


def test_a_bad_line_gives_an_error_with_its_number_and_the_rest_goes_on(shared: Path) -> None:
    lines = [
        b'{"id": "1", "question": "When does the irrigation pump start?"}',
        b"not json",
        b'["a list"]',
        b'{"question": "no id"}',
        b'{"id": 7, "question": "id is no string"}',
        b'{"id": "6"}',
        b'{"id": "7", "question": ""}',
        b'{"id": "8", "question": ["x"]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": "11", "question": "pump \\u0000 \\ud800 \\" \xf0\x9f\x98\x80?"}',
    ]
    code, found, errors = batch(shared, b"\n".join(lines))
    assert code == 7
    assert "Traceback" not in errors
    assert len(found) == len(lines)
    bad = {one["error"]["line"]: one.get("id") for one in found if one["schema"] == "ctx/error/1"}
    assert bad == {2: None, 3: None, 4: None, 5: None, 6: "6", 7: "7", 8: "8", 9: None, 10: None}
    assert all(one["error"]["message"] and one["error"]["hint"] for one in found if "error" in one)
    assert [one["id"] for one in found if one["schema"] == "ctx/answer/1"] == ["1", "11"]


def test_a_batch_can_have_evidence_and_a_byte_order_mark(shared: Path) -> None:
    line = '\ufeff{"id": "x", "question": "When does the irrigation pump start?"}\r\n'
    code, [answer], _ = batch(shared, line, "--evidence")
    assert code == 0
    assert len(answer["evidence"]) >= 10


def test_a_changed_file_is_told_and_marked(place: Path) -> None:
    write(place, "docs/manual.md", MANUAL + "\nOne more line.\n")
    done = ctx(place, "ask", PUMP, "--json")
    assert done.code == 0
    assert [one.get("stale") for one in done.json["citations"] if one["doc"] == "docs/manual.md"] == [True]
    assert "docs/manual.md" in done.err
    assert "ctx kb index" in done.err
    text = ctx(place, "ask", PUMP)
    assert "changed since it was indexed" in text.out
    assert ctx(place, "ask", PUMP, "-q").err == ""
    assert ctx(place, "kb", "index", "-q").code == 0
    fresh = ctx(place, "ask", PUMP, "--json")
    assert fresh.err == ""
    assert "stale" not in fresh.json["citations"][0]


def test_a_touched_file_with_the_same_content_is_not_stale(place: Path) -> None:
    write(place, "docs/manual.md", MANUAL)
    assert "stale" not in ctx(place, "ask", PUMP, "--json").json["citations"][0]


def test_a_removed_file_is_told_and_then_gone(place: Path) -> None:
    (place / "docs/manual.md").unlink()
    done = ctx(place, "ask", PUMP, "--json")
    assert done.code == 0
    assert done.json["citations"][0]["stale"] is True
    assert "docs/manual.md" in done.err
    ctx(place, "kb", "index", "-q")
    again = ctx(place, "ask", PUMP, "--json").json
    assert all(one["doc"] != "docs/manual.md" for one in again["citations"])


def test_two_identical_files_show_the_passage_once(place: Path) -> None:
    write(place, "docs/copy.md", MANUAL)
    ctx(place, "kb", "index", "-q")
    answer = ctx(place, "ask", PUMP, "--json").json
    assert answer["answer"].count("starts at six") == 1


@pytest.mark.parametrize("more", [{"PYTHONIOENCODING": "gbk"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX"}])
def test_any_locale_asks_and_answers_in_utf8(place: Path, more: dict[str, str]) -> None:
    write(place, "docs/•©🙂.md", "# 标志 •©🙂\n\n标志的含义是一切正常 •©🙂。\n")
    ctx(place, "kb", "index", "-q", **more)
    done = ctx(place, "ask", "标志的含义是什么？", "--json", **more)
    assert done.code == 0, done.err
    assert done.json["question"] == "标志的含义是什么？"
    assert done.json["citations"][0]["doc"] == "docs/•©🙂.md"
    assert "•©🙂" in ctx(place, "ask", "标志的含义是什么？", "--cite", **more).out


def test_json_is_one_line_at_any_width_and_colour(shared: Path) -> None:
    answer = ctx(shared, "ask", PUMP, "--json", COLUMNS="20", FORCE_COLOR="1")
    assert "\x1b" not in answer.out
    assert answer.json["citations"]


def test_colour_is_for_those_who_want_it(shared: Path) -> None:
    assert "\x1b[1m" in ctx(shared, "ask", PUMP, "--cite", FORCE_COLOR="1").out
    assert "\x1b" not in ctx(shared, "ask", PUMP, "--cite", FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b" not in ctx(shared, "ask", PUMP, "--cite").out
    assert ctx(shared, "ask", PUMP, COLUMNS="20").out == ctx(shared, "ask", PUMP).out


@pytest.mark.parametrize("more", [{}, {"FORCE_COLOR": "1"}])
@pytest.mark.parametrize("form", [[], ["--cite"], ["--format", "md", "--cite"], ["--evidence"]])
def test_control_characters_of_a_document_never_reach_the_terminal(
    tmp_path: Path, form: list[str], more: dict[str, str]
) -> None:
    text = "# T\x1b]0;title\x07itle\n\n## The \x1b[31malarm\n\nThe alarm bell \x1b[2Jrings\x9b31m at \x08noon\x7f.\n"
    write(tmp_path, "bell.md", text)
    done = ctx(tmp_path, "ask", "When does the alarm bell ring?", "--from", "bell.md", *form, **more)
    assert done.code == 0
    ours = re.sub(r"\x1b\[[0-9]*m", "", done.out) if more else done.out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", ours)
    assert "\x1b[31m" not in done.out
    assert "\\x1b[2J" in done.out
    exact = ctx(tmp_path, "ask", "When does the alarm bell ring?", "--from", "bell.md", "--json").json
    assert "\x1b[2Jrings" in exact["citations"][0]["quote"]


@pytest.mark.parametrize(
    "question",
    [
        "\"quoted\" 'pump' `x` $HOME \\ ; | & irrigation start?",
        "pump 😀 👨‍👩‍👧 e\u0301?",
        "+pump -vent (start AND OR NOT) field:x ~2 ^3 [a TO b] *? {x}",
        "pump\nstart\tirrigation\r\n?",
        "ｐｕｍｐ",
        "x" * 5000,
    ],
)
def test_any_question_is_a_question(shared: Path, question: str) -> None:
    done = ctx(shared, "ask", question, "--json")
    assert done.code in (0, 4)
    assert done.json["question"] == question.strip()


def test_a_question_of_a_hundred_kilobytes_is_answered(shared: Path) -> None:
    question = f"{PUMP} " + " ".join(f"word{n}" for n in range(4000)) + " 很长的问题" * 4500
    done = fed(shared, question, "ask", "-", "--json")
    assert len(question.encode()) > 100_000
    assert done.code in (0, 4)
    assert done.json["question"] == question


def test_a_closed_pipe_ends_quietly(shared: Path) -> None:
    lines = "".join(f'{{"id": "{n}", "question": "{PUMP}"}}\n' for n in range(400))
    write(shared, "many.jsonl", lines)
    process = start(shared, "ask", "--batch", "many.jsonl", "--evidence", "--json")
    assert process.stdout and process.stderr
    assert process.stdout.readline().startswith(b'{"schema"')
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_an_interrupt_ends_with_a_line_and_its_code(shared: Path) -> None:
    import signal
    import time

    process = subprocess.Popen(
        [*COMMAND, "ask", "-"],
        cwd=shared,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(shared),
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, complaints = process.communicate()
    assert (process.returncode, out, complaints) == (130, b"", b"interrupted\n")


def test_a_damaged_index_is_told_and_mended(place: Path) -> None:
    [store] = (place / ".ctx/kb/default").rglob("*.store")
    content = bytearray(store.read_bytes())
    for at in range(0, len(content), 40):
        content[at] ^= 0x55
    store.write_bytes(content)
    done = ctx(place, "ask", PUMP, "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "index_unreadable")
    assert "ctx kb index --rebuild" in done.err
    assert "panicked" not in done.err
    mended = ctx(place, "kb", "index")
    assert mended.code == 0
    assert "built anew" in mended.err
    assert "damaged" in mended.err
    assert ctx(place, "ask", PUMP).code == 0


def test_random_bytes_in_every_file_of_the_index_are_told_and_mended(place: Path) -> None:
    import random

    chance = random.Random(1)
    for path in sorted((place / ".ctx/kb/default/index-1").rglob("*")):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(chance.randbytes(path.stat().st_size))
    done = ctx(place, "ask", PUMP)
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 2
    assert "built anew" in ctx(place, "kb", "index").err
    assert ctx(place, "ask", PUMP).code == 0


@pytest.mark.parametrize("piece", ["x", "A", "why ", "长", "一二", "1,", "_", "a-", "“", "第"])
def test_a_question_of_any_length_ends(shared: Path, piece: str) -> None:
    question = piece * (120_000 // len(piece))
    assert fed(shared, question, "ask", "-").code in (0, 4), "a pattern that backtracks would not end"
