"""Terms of text in many scripts."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.text.analyzer import LONGEST_TERM, Analyzer, is_unspaced
from ctxcli.text.question import read_question

ANALYZER = Analyzer()


def terms(text: str) -> list[str]:
    return ANALYZER.terms(text).split()


def asked(text: str) -> set[str]:
    """The terms that a question must find: single characters are beside the bigrams."""
    return {term for term, weight in read_question(text, ANALYZER).terms.items() if weight == 1.0}


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("今天讨论连接池超时", "连接池"),
        ("到价止损单的规则", "止损"),
        ("ACCT-99", "ＡＣＣＴ－９９"),
        ("ＡＣＣＴ－９９", "acct-99"),
        ("released 2026.4.10 at noon", "2026.4.10"),
        ('version = "1.0.21"', "1.0.21"),
        ("a real-time system", "real-time"),
        ("a real-time system", "real time"),
        ("call snake_case() now", "snake_case"),
        ("call snake_case() now", "snake case"),
        ("maxConnections: 5", "max connections"),
        ("HTTPServer", "http server"),
        ("Привет, мир!", "привет мир"),
        ("हिन्दी भाषा में", "भाषा"),
        ("ภาษาไทยสวยงาม", "ไทย"),
        ("한국어 문서", "국어"),
        ("カタカナの文書", "ｶﾀｶﾅ"),
        (unicodedata.normalize("NFD", "un café noir"), "café"),
        ("un café noir", unicodedata.normalize("NFD", "café")),
        ("ﬁne ofﬁce", "fine office"),
        ("C++ and C#", "c++"),
        ("C++ and C#", "C#"),
        ("upgrade to v2.1 of ADSL", "v2.1 adsl"),
        ("population 1,000,000", "1000000"),
        ("使用PostgreSQL数据库", "postgresql 数据库"),
        ("the runners were running", "run"),
        ("第 6.3.2 节", "6.3.2"),
        ("see path/to/file.md", "path/to/file.md"),
        ("𠮷野家的菜单", "𠮷野家"),
    ],
)
def test_what_is_asked_is_found(document: str, question: str) -> None:
    assert asked(question)
    assert asked(question) <= set(terms(document))


@pytest.mark.parametrize(
    ("text", "formed"),
    [("连接。池子", "接池"), ("连A接", "连接"), ("连 接", "连接"), ("连\n接", "连接"), ("连，接", "连接")],
)
def test_no_bigram_spans_what_parts_two_characters(text: str, formed: str) -> None:
    assert formed not in terms(text)


def test_a_version_is_not_found_by_a_part_of_it() -> None:
    assert terms("2026.4.10") == ["2026.4.10"]
    assert terms("1.0.21") == ["1.0.21"]


def test_stop_words_give_no_terms() -> None:
    assert terms("the is of don't it's THE") == []


def test_the_target_of_a_link_is_no_text() -> None:
    assert terms('[guide](https://example.org/secret_(1) "title") end') == terms("guide end")


def test_a_term_has_a_greatest_length() -> None:
    assert [len(term) for term in terms("x" * 500)] == [LONGEST_TERM]


def test_combining_marks_stay_with_their_letters() -> None:
    assert "हिन्दी" in terms("हिन्दी")
    assert all(not unicodedata.combining(term[0]) for term in terms("हिन्दी мой e\u0301t\u0301e"))


def test_words_by_jieba_are_an_analyzer_of_their_own() -> None:
    words = Analyzer("words")
    assert words.id != ANALYZER.id
    assert "连接池" not in ANALYZER.terms("数据库连接池").split()
    assert {"数据库", "连接池"} & set(words.terms("数据库连接池").split())
    assert words.terms("the Database") == "databas"


def test_each_text_has_its_line_whatever_is_in_it() -> None:
    texts = ["a word", "", "the", "one\x1etwo", "连接", "\x1e\x1e", "line\nbreak"]
    lines = ANALYZER.lines(texts).split("\n")
    assert lines == [ANALYZER.terms(text) for text in texts]
    assert "\n" not in "".join(lines)


PIECES = st.sampled_from(
    ["word", "Running", "字", "连接", "_", ".", "-", " ", "\n", "9", "1,000", "é", "e\u0301", "ш", "न्", "ท", "😀", "ﬀ",
     "Ａ", "\x1e", "](x)", '](x "', '")', "[", "#", "+", "C++", "İ", "ǅ", "㍿", "ﾊﾞ", "\u200d", "\ufeff"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=120).map("".join), st.text(max_size=120))


@given(texts=st.lists(TEXTS, max_size=6))
@settings(max_examples=300, deadline=None)
def test_lines_are_the_terms_of_each_text(texts: list[str]) -> None:
    fresh = Analyzer()
    assert fresh.lines(texts).split("\n") == [fresh.terms(text) for text in texts] or not texts


@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_terms_are_words_without_blanks_and_repeat(text: str) -> None:
    found = Analyzer().terms(text)
    assert found == Analyzer().terms(text)
    assert found == " ".join(found.split())
    assert all(0 < len(term) <= LONGEST_TERM for term in found.split())


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_composed_and_decomposed_text_has_the_same_terms(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert terms(composed) == terms(unicodedata.normalize("NFD", text))


@given(run=st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=40))
def test_every_word_of_a_chinese_run_can_be_found(run: str) -> None:
    found = set(terms(run))
    for start in range(len(run) - 1):
        assert {run[start], run[start : start + 2]} <= found
    assert all(map(is_unspaced, found))


@pytest.mark.parametrize("text", ["田径比赛-男子", "田径比赛－男子", "许可费/万元", "a - b / c", "——"])
def test_what_joins_words_is_no_term(text: str) -> None:
    assert not set(ANALYZER.terms(text).split()) & set("-/－—"), text


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\ufeff"])
def test_what_nobody_sees_parts_no_word(unseen: str) -> None:
    for shown in ("Donaudampfschiff", "连接池超时", "x" * 300 + " Donaudampfschiff"):
        middle = len(shown) - 3
        assert ANALYZER.terms(shown[:middle] + unseen + shown[middle:]) == ANALYZER.terms(shown)
