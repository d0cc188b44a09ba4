"""`ctx verify` as a process."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import ROOT, ctx, fed, write

QUESTIONS = ["When is the emergency generator tested?", "叠片过滤器多久清洗一次？", "Where can I park?"]
FORMS = {"json": ["--json"], "text": ["--cite"], "markdown": ["--cite", "--format", "md"]}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "w"
    folder.mkdir()
    (folder / "sample_kb").symlink_to(ROOT / "sample_kb")
    assert ctx(folder, "kb", "index", "sample_kb", "-q").code == 0
    return folder


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_just_given_verifies_in_every_form(shared: Path, question: str, form: str) -> None:
    answer = ctx(shared, "ask", question, *FORMS[form])
    assert answer.code == 0
    done = fed(shared, answer.out, "verify", "-", "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    assert {one["status"] for one in done.json["citations"]} == {"ok"}


def test_every_citation_of_the_sample_questions_verifies(shared: Path) -> None:
    questions = ROOT / "tests/golden/sample_kb_questions.jsonl"
    answers = ctx(shared, "ask", "--batch", str(questions), "--json", "--threshold", "0").out.splitlines()
    citations: list[Any] = [one for line in answers for one in json.loads(line)["citations"]]
    assert len(citations) > 60
    done = fed(shared, json.dumps({"citations": citations}), "verify", "-", "--json")
    assert [one for one in done.json["citations"] if one["status"] != "ok"] == []


def test_the_document_names_status_and_new_place(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    text = "# 6 Pumps\n\n## 6.1 Start\n\nThe irrigation pump starts at six.\n\n## 6.2 Stop\n\nIt stops at seven.\n"
    write(folder, "docs/pump.md", text)
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    answer = ctx(folder, "ask", "When does the irrigation pump start?", "--json").out
    write(folder, "answer.json", answer)
    assert ctx(folder, "verify", "answer.json").out == "[1] ok      docs/pump.md\n"
    write(folder, "docs/pump.md", text.replace("# 6 Pumps\n", "# 6 Pumps\n\nNew.\n"))
    moved = ctx(folder, "verify", "answer.json", "--json")
    assert moved.code == 4
    [row] = moved.json["citations"]
    assert moved.json["schema"] == "ctx/verification/1"
    assert (row["n"], row["doc"], row["status"]) == (1, "docs/pump.md", "moved")
    assert row["now"] == {"page": None, "line_start": 7, "section": "6.1", "heading": "Start"}
    assert "moved   docs/pump.md: now at §6.1 · line 7" in ctx(folder, "verify", "answer.json").out
    write(folder, "docs/pump.md", text.replace("at six", "at five"))
    assert ctx(folder, "verify", "answer.json", "--json").json["citations"][0]["status"] == "stale"
    (folder / "docs/pump.md").unlink()
    gone = ctx(folder, "verify", "answer.json")
    assert (gone.code, gone.out) == (4, "[1] missing docs/pump.md: the file is gone\n")
    assert ctx(folder, "verify", "answer.json", "-q").out == ""
    assert ctx(folder, "verify", "answer.json", "-q").code == 4


def test_a_citation_that_a_model_made_up_is_found_out(shared: Path) -> None:
    written = (
        "The generator is tested weekly [1] and the limit is 1,200 ppm [2].\n\n"
        "[1] sample_kb/operations-manual.pdf · §5.2 Power failure · p. 9\n    It is tested every week.\n"
        "[2] sample_kb/operations-manual.pdf · §3.4.2 · p. 5\n    The upper limit is 1,200 ppm.\n"
        "[3] sample_kb/handbook.pdf · p. 2\n    Anything.\n"
    )
    done = fed(shared, written, "verify", "-", "--json")
    assert done.code == 4
    assert [one["status"] for one in done.json["citations"]] == ["stale", "moved", "missing"]
    assert done.json["citations"][1]["now"]["page"] == 6


@pytest.mark.parametrize("more", [["--json"], []])
def test_a_refusal_has_nothing_to_verify_and_is_right(shared: Path, more: list[str]) -> None:
    refused = ctx(shared, "ask", "Who wrote Hamlet?", *more)
    assert refused.code == 4
    done = fed(shared, refused.out, "verify", "-", "--json")
    assert (done.code, done.json["citations"], done.json["ok"]) == (0, [], True)
    assert "nothing to check" in fed(shared, refused.out, "verify", "-").out


@pytest.mark.parametrize("doc", ["/etc/passwd", "../../../../../../etc/passwd", "sample_kb/../../../etc/passwd"])
def test_an_answer_from_elsewhere_opens_nothing_outside(shared: Path, doc: str) -> None:
    done = fed(shared, json.dumps({"citations": [{"doc": doc, "quote": "root"}]}), "verify", "-", "--json")
    assert (done.code, done.json["citations"][0]["status"]) == (4, "missing")


def test_without_a_workspace_documents_of_this_folder_are_checked(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "a.md", "# A\n\nThe irrigation pump starts at six.\n")
    write(tmp_path, "b.md", "# B\n\nThe irrigation pump starts at six.\n")
    answer = ctx(folder, "ask", "When does the irrigation pump start?", "--from", "a.md", "--json").out
    assert fed(folder, answer, "verify", "-").code == 0
    assert fed(folder, answer.replace("a.md", "../b.md"), "verify", "-").code == 4
    assert ctx(folder, "verify", "a.md", "-w", "nowhere").code == 3


@pytest.mark.parametrize(
    ("content", "code", "name"),
    [
        (b"", 5, "no_citations"),
        (b"just words", 5, "no_citations"),
        (b'{"citations": [', 5, "bad_answer"),
        (b'{"schema": "ctx/hits/1", "hits": []}', 5, "bad_answer"),
        (bytes(range(256)) * 100, 5, "bad_answer"),
        (b"\xff\xfe" + '{"citations": []}'.encode("utf-16-le"), 0, ""),
        (b"\xef\xbb\xbf" + b'{"citations": []}', 0, ""),
        (b"[1] a.md \xc2\xb7 p. 3\n    " + b"word " * 400_000, 4, ""),
        (b"x " * 2_000_000, 5, "no_citations"),
    ],
)
def test_what_is_no_answer_is_an_error_in_a_line(shared: Path, content: bytes, code: int, name: str) -> None:
    done = fed(shared, content, "verify", "-", "--json")
    assert done.code == code
    assert "Traceback" not in done.err
    if name:
        assert done.json["error"]["code"] == name
        assert done.err.count("\n") <= 2


def test_an_answer_that_is_not_there_is_told(shared: Path) -> None:
    assert ctx(shared, "verify", "nowhere.json", "--json").json["error"]["code"] == "file_not_found"
    assert ctx(shared, "verify", "sample_kb").code == 3
    assert ctx(shared, "verify").code == 2


def test_a_page_of_a_document_without_pages_is_not_as_cited(shared: Path) -> None:
    cited = {"n": 1, "doc": "none.md", "quote": "Nothing has pages.", "page": 4}
    write(shared, "none.md", "# 1 Pages\n\nNothing has pages.\n")
    done = fed(shared, json.dumps({"citations": [cited]}), "verify", "-")
    assert (done.code, done.out) == (4, "[1] moved   none.md: the document has no pages; it stands at §1 · line 3\n")
