"""TESTS.yml: what it may say, and errors that name line and key."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import DataError
from ctxcli.parsing.doc_tests import read_doc_tests


def test_a_test_says_question_and_what_is_expected() -> None:
    text = """tests:
  - question: "第七条规定了什么？"
    kb: [laws, default]
    expect: {doc: 手册.md, section: 第七条, page: 5, contains: [天窗, 关闭]}
  - question: When?
    kb: default
    expect: {contains: six, section: 6.30}
  - {question: "Who?", declined: true}
"""
    first, second, third = read_doc_tests(text, name="t.yml")
    assert (first.question, first.line, first.kb) == ("第七条规定了什么？", 2, ("laws", "default"))
    assert (first.doc, first.section, first.page, first.contains) == ("手册.md", "第七条", 5, ("天窗", "关闭"))
    assert (second.line, second.kb, second.contains, second.section) == (5, ("default",), ("six",), "6.30")
    assert (third.line, third.declined, third.doc, third.page) == (8, True, "", None)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("- a", 1, "mapping"),
        ("test: []", 1, "unknown key `test`"),
        ("tests: {}", 1, "`tests` must be a list"),
        ("tests:\n  []", 2, "`tests` is empty"),
        ("tests:\n  - question: A?\n    expect: {doc: a}\n  - word", 4, "mapping"),
        ("tests:\n  - question: A?", 2, "needs `question`"),
        ("tests:\n  - expect: {doc: a}", 2, "needs `question`"),
        ("tests:\n  - question: A?\n    declined: true\n    expect: {doc: a}", 2, "either"),
        ("tests:\n  - question: A?\n    declined: false", 3, "`declined`"),
        ("tests:\n  - question: A?\n    expect: {}", 3, "expects nothing"),
        ("tests:\n  - question: A?\n    expect:\n      dok: a", 4, "unknown key `dok`"),
        ("tests:\n  - question: A?\n    expects: {doc: a}", 3, "unknown key `expects`"),
        ("tests:\n  - question: A?\n    question: B?\n    declined: true", 3, "stands twice"),
        ("tests:\n  - question: A?\n    ? [x]\n    : 1", 3, "a key"),
        ("tests:\n  - question:\n    declined: true", 2, "`question` must be a text"),
        ("tests:\n  - question: ~\n    declined: true", 2, "`question` must be a text"),
        ("tests:\n  - question: [a]\n    declined: true", 2, "`question` must be a text"),
        ("tests:\n  - question: A?\n    expect:\n      doc: a\n      page: 0", 5, "`page`"),
        ("tests:\n  - question: A?\n    expect:\n      page: six", 4, "`page`"),
        ("tests:\n  - question: A?\n    expect: {page: null}", 3, "`page` must be a number"),
        ("tests:\n  - question: A?\n    expect:\n      contains: [a, [b]]", 4, "`contains`"),
        ("tests:\n  - question: A?\n    expect: {contains: []}", 3, "`contains` is empty"),
        ("tests:\n  - question: A?\n    kb: {a: b}\n    declined: true", 3, "`kb`"),
        ("tests:\n\t- a", 2, "not YAML"),
        ("tests:\n  - question: 'A?", 2, "not YAML"),
        ("tests: []\n---\ntests: []", 2, "not YAML"),
        ("tests:\n  - question: \x1b", 2, "U+001B"),
        ("tests: *a", 1, "not YAML"),
        ("[" * 100_000, 1, "not YAML"),
    ],
)
def test_an_error_names_file_line_and_key(text: str, line: int, words: str) -> None:
    with pytest.raises(DataError) as error:
        read_doc_tests(text, name="t.yml")
    assert error.value.code == "bad_tests"
    assert words in error.value.message
    assert int(error.value.message.split(":")[1]) in {line, line + 1}, error.value.message
    assert error.value.hint


def test_a_key_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(DataError) as error:
        read_doc_tests("tests:\n  - question: A?\n    expect: {contain: a}", name="t.yml")
    assert error.value.hint == "did you mean `contains`?"


@given(st.text(max_size=80) | st.lists(st.sampled_from("tests: |- |question: a|\n|  |expect: |{doc: a}|[".split("|")))
       .map("".join))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert read_doc_tests(text, name="t.yml")
    except DataError as error:
        assert error.message.startswith("t.yml:")
