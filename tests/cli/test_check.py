"""`ctx check` as a process."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.run import ROOT, ctx, write

TESTS = """tests:
  - question: When does the irrigation pump start?
    expect: {doc: manual.md, section: "6.4", contains: [SIX in the morning]}
  - question: 大风时天窗怎样？
    kb: laws
    expect: {section: 第七条, contains: 天窗关闭}
  - question: Who wrote Hamlet?
    declined: true
"""
WRONG = """tests:
  - question: When does the irrigation pump start?
    expect: {doc: manual.md, section: "6.3"}
  - question: When does the irrigation pump start?
    expect: {doc: manual.md, contains: [seven]}
  - question: When does the irrigation pump start?
    expect: {doc: nowhere.md}
  - question: When does the irrigation pump start?
    declined: true
  - question: "Who wrote Hamlet \\x1b[31m \\x07 & <b>?"
    expect: {contains: [Shakespeare]}
  - question: When does the irrigation pump start?
    expect: {doc: manual.md, page: 3}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check") / "w"
    manual = "# Manual\n\n## 6.3 Vents\n\nVents open when it is warm.\n\n## 6.4 Pumps\n\n"
    write(folder, "docs/manual.md", manual + "The irrigation pump starts at six\nin the morning.\n")
    write(folder, "laws/规程.md", "# 第三章 规程\n\n## 第七条 大风\n\n大风时天窗关闭。\n\n## 第八条 小风\n\n照常。\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    assert ctx(folder, "kb", "index", "laws", "--kb", "laws", "-q").code == 0
    write(folder, "tests.yml", TESTS)
    write(folder, "wrong.yml", WRONG)
    return folder


def test_what_is_as_expected_passes(place: Path) -> None:
    done = ctx(place, "check", "tests.yml")
    assert done.code == 0, done.out
    assert done.out.splitlines()[-1] == "3 passed, 0 failed"
    assert ctx(place, "check", "tests.yml", "-q").out == "3 passed, 0 failed\n"
    document = ctx(place, "check", "tests.yml", "--json").json
    assert (document["schema"], document["passed"], document["failed"]) == ("ctx/check/1", 3, 0)
    assert [one["line"] for one in document["tests"]] == [2, 4, 7]
    assert document["tests"][0]["got"]["citations"][0]["section"] == "6.4"
    assert all("problems" not in one for one in document["tests"])


def test_emphasis_and_the_form_of_marks_are_no_words(tmp_path: Path) -> None:
    write(tmp_path, "w/docs/a.md", "# Pump\n\nThe “main” pump isn’t **loud** — it hums.\n\n“主”泵在**六点**启动。\n")
    assert ctx(tmp_path / "w", "kb", "index", "docs", "-q").code == 0
    write(
        tmp_path, "w/t.yml",
        "tests:\n  - question: Is the main pump loud?\n    expect: {contains: ['\"main\" pump isn''t loud - it']}\n"
        "  - question: 主泵几点启动？\n    expect: {contains: ['「主」泵在六点启动']}\n",
    )  # fmt: skip
    done = ctx(tmp_path / "w", "check", "t.yml")
    assert done.code == 0, done.out


def test_what_is_not_as_expected_fails_with_problem_and_stage(place: Path) -> None:
    done = ctx(place, "check", "wrong.yml", "--json")
    assert (done.code, done.json["failed"]) == (4, 6)
    problems = ["; ".join(one["problems"]) for one in done.json["tests"]]
    assert "not cited as expected, but: docs/manual.md §6.4" in problems[0]
    assert "does not hold 'seven'" in problems[1]
    assert "not cited as expected" in problems[2]
    assert "a refusal was expected" in problems[3]
    assert "declined" in problems[4]
    assert "not cited as expected" in problems[5]
    stages = [one.get("stage") for one in done.json["tests"]]
    assert stages == ["not_matched", None, "not_indexed", None, None, None]
    text = ctx(place, "check", "wrong.yml", "-q").out
    assert "FAILED When does the irrigation pump start?" in text
    assert "not matched: it shares no term with the question" in text
    assert "\x1b" not in text


def test_junit_is_well_formed_whatever_the_question_holds(place: Path) -> None:
    done = ctx(place, "check", "wrong.yml", "--junit", "out.xml", "-q")
    assert done.code == 4
    suite = ElementTree.parse(place / "out.xml").getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("testsuite", "6", "6", "0")
    cases = suite.findall("testcase")
    assert len(cases) == 6
    assert cases[4].get("name") == "Who wrote Hamlet \\x1b[31m \\x07 & <b>?"
    assert cases[0].get("line") == "2"
    failure = cases[0].find("failure")
    assert failure is not None
    assert "not_matched: it shares no term" in (failure.text or "")
    assert ctx(place, "check", "tests.yml", "--junit", "good.xml").code == 0
    assert ElementTree.parse(place / "good.xml").getroot().findall(".//failure") == []


@pytest.mark.parametrize(
    ("content", "code", "name"),
    [
        ("tests: [", 5, "bad_tests"),
        ("tests: []", 5, "bad_tests"),
        (b"tests: \xff\xfe", 5, "bad_tests"),
        ("tests:\n  - {question: 'A?', kb: nope, declined: true}", 3, "kb_not_found"),
        ("tests:\n  - {question: 'A?', kb: ../x, declined: true}", 2, "bad_kb_name"),
    ],
)
def test_a_file_that_cannot_be_run_is_told(place: Path, content: str | bytes, code: int, name: str) -> None:
    write(place, "bad.yml", content)
    done = ctx(place, "check", "bad.yml", "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)


def test_paths_that_are_wrong_are_told(place: Path) -> None:
    assert ctx(place, "check", "nowhere.yml").code == 3
    done = ctx(place, "check", "tests.yml", "--junit", "no/such/folder/out.xml", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "unwritable")


def test_the_documentation_tests_of_the_samples_pass(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "sample_kb").symlink_to(ROOT / "sample_kb")
    assert ctx(folder, "kb", "index", "sample_kb", "-q").code == 0
    done = ctx(folder, "check", str(ROOT / "sample_kb/tests.yml"), "-q")
    assert done.code == 0, done.out
