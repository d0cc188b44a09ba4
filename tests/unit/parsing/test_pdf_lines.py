"""Printed lines and numbers of PDF documents."""

import pytest

from ctxcli.parsing.pdf.lines import clean, joint
from ctxcli.parsing.pdf.numbers import follows, han_value, read_number, roman_value


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x08for\x0cmula \x10x", "formula x"),
        ("of\ufb01ce of the \ufb02oor", "office of the floor"),
        ("第 三 方 软 件", "第三方软件"),
        ("超过 120 个字符", "超过 120 个字符"),
        ("a\u00a0\u00a0b", "a b"),
        ("800\u201163", "800-63"),
        ("⼀⽉", "一月"),
        ("第六条　为了 保护", "第六条 为了保护"),
        ("一\x1f二 三", "一  二三"),
        ("ｘ２（全角）", "ｘ２（全角）"),
    ],
)
def test_a_line_is_cleaned_of_what_is_no_text(raw: str, text: str) -> None:
    assert clean(raw) == text


@pytest.mark.parametrize(
    ("before", "after", "hyphen", "words", "joined"),
    [
        ("suc", "cessful", True, set(), "successful"),
        ("Drug", "X", True, set(), "Drug-X"),
        ("multi", "factor", True, {"multi-factor"}, "multi-factor"),
        ("con-", "sidered", False, set(), "considered"),
        ("NIST SP 800-", "63", False, set(), "NIST SP 800-63"),
        ("one line", "and the next", False, set(), "one line and the next"),
        ("中文一行", "接着下一行", False, set(), "中文一行接着下一行"),
        ("中文，", "Latin", False, set(), "中文，Latin"),
        ("使用", "explain", False, set(), "使用 explain"),
        ("see https://example.org/a/", "b.html", False, set(), "see https://example.org/a/b.html"),
        ("ranges a -", "b", False, set(), "ranges a - b"),
    ],
)
def test_lines_are_joined_as_a_reader_would(
    before: str, after: str, hyphen: bool, words: set[str], joined: str
) -> None:
    left, between = joint(before, after, hyphen=hyphen, words=words)
    assert left + between + after == joined


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("6.3.2 Primary analysis", (6, 3, 2)),
        ("4.1. World State", (4, 1)),
        ("7.1Title", (7, 1)),
        ("V6.2 Password Security", (6, 2)),
        ("A.2 Tables", (101, 2)),
        ("Appendix A", (101,)),
        ("附录 B 资料", (102,)),
        ("第二十一条 内容", (21,)),
        ("（三）代码", (3,)),
        ("二、总则", (2,)),
        ("Chapter IV", (4,)),
        ("IV. RESULTS", (4,)),
        ("I. INTRODUCTION", (1,)),
        ("3", (3,)),
    ],
)
def test_section_numbers_are_read(text: str, parts: tuple[int, ...]) -> None:
    number = read_number(text)
    assert number is not None
    assert number.parts == parts


@pytest.mark.parametrize("text", ["3.5 mg daily", "0133", "2024 in review", "plain words", "1.1, rex", "12 月", ""])
def test_quantities_years_and_codes_are_no_numbers(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("new", "current", "expected"),
    [
        ((1,), (), True),
        ((5,), (), False),
        ((2, 1), (2,), True),
        ((2, 4), (2,), False),
        ((2, 3), (2, 1), True),
        ((3,), (2, 3, 4), True),
        ((3, 1), (2, 3, 4), True),
        ((101,), (9, 4), True),
        ((2, 1), (2, 1), False),
        ((9, 9), (2, 1), False),
    ],
)
def test_a_number_follows_its_parent_its_sibling_or_an_ancestor(
    new: tuple[int, ...], current: tuple[int, ...], expected: bool
) -> None:
    assert follows(new, current) is expected


def test_chinese_and_roman_numerals_have_values() -> None:
    assert [han_value(text) for text in ("十", "二十一", "一百零五", "３", "12", "甲")] == [10, 21, 105, 3, 12, 0]
    assert [roman_value(text) for text in ("iv", "XII", "xc", "iix")] == [4, 12, 90, None]
