"""What a chat's answer points to, held against what the model was shown."""

import pytest

from ctxcli.answering.llm_references import unbacked

SHOWN = [
    "docs/operations-manual.pdf",
    "The irrigation pump starts at six in the morning and runs for 20 minutes.",
    "docs/灌溉规程.docx",
    "灌溉水泵每天早上六点启动，运行二十分钟。",
]


def told(answer: str, *, quotes: bool = True) -> list[str]:
    return list(unbacked(answer, SHOWN, {1, 2}, quotes=quotes))


@pytest.mark.parametrize(
    "answer",
    [
        "It starts at six [1][2] (docs/operations-manual.pdf, §6.4).",
        "See operations-manual.pdf: “The irrigation pump starts at six in the morning”.",
        "六点启动[1]，见灌溉规程.docx第 5 节：「灌溉水泵每天早上六点启动」。",
        'The manual says "the irrigation pump … runs for 20 minutes."',
        "Use `rows[99]` or\n```\nopen('new.txt')[7]\n```",
        'Version 3.5, e.g. pip.main, is a "term" of 14.7 metres.',
        "",
    ],
)
def test_what_was_shown_is_not_told(answer: str) -> None:
    assert told(answer) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It starts at six [1][99], as [3, 99] says.", ["[99]", "[3]"]),
        ("六点启动【7】。", ["[7]"]),
        ("See docs/none.md and https://x.example/none.pdf.", ["docs/none.md", "//x.example/none.pdf"]),
        ("详见维修手册.docx。", ["详见维修手册.docx"]),
        ("See my-operations-manual.pdf.", ["my-operations-manual.pdf"]),
        ("See other/operations-manual.pdf.", ["other/operations-manual.pdf"]),
        ("It says “the irrigation pump never starts in the morning”.",
         ["“the irrigation pump never starts in the morning”"]),
        ("手册说：「灌溉水泵每天晚上九点启动」。", ["“灌溉水泵每天晚上九点启动”"]),
    ],
)  # fmt: skip
def test_what_was_not_shown_is_told_once(answer: str, expected: list[str]) -> None:
    assert told(answer) == expected


def test_quotes_are_looked_for_only_where_asked() -> None:
    assert told("Write “Dear colleagues, the pump was repaired”.", quotes=False) == []


@pytest.mark.parametrize("answer", ["[" * 200_000, '"' * 200_000, "x.md/" * 40_000, "“" * 200_000, "`" * 200_001])
def test_an_answer_of_any_length_is_read_to_a_limit(answer: str) -> None:
    assert isinstance(told(answer), list)
