"""What a question asks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.text.analyzer import Analyzer
from ctxcli.text.background import share
from ctxcli.text.question import CHARACTER_WEIGHT, Question, language_of, read_question
from ctxcli.text.variants import other_forms

ANALYZER = Analyzer()


def read(text: str) -> Question:
    return read_question(text, ANALYZER)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many users?", "en"),
        ("连接池有多大？", "zh"),
        ("PostgreSQL 的 max_connections 默认是多少？", "zh"),
        ("what does 你好 mean in English and French", "en"),
        ("", "en"),
        ("???", "en"),
        ("привет", "en"),
    ],
)
def test_the_language_is_that_of_the_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is tested on the first Wednesday at 08:00.", {"Wednesday", "08:00"}),
        ("Filters are changed every two weeks and rinsed daily.", {"every two weeks", "daily"}),
        ("The vent opens when it is warm.", set()),
    ],
)
def test_when_is_answered_by_days_and_times_too(text: str, found: set[str]) -> None:
    assert read("When is it done?").asked_things(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("每周三八点检查，每两个月更换。", {"每周三", "八点", "每两个月"}),
        ("星期五 08:30 排水。", {"星期五", "08:30"}),
        ("天窗打开。", set()),
    ],
)
def test_when_is_answered_by_days_and_times_too_in_chinese(text: str, found: set[str]) -> None:
    assert read("什么时候做？").asked_things(text) == found


def test_a_year_is_not_answered_by_a_day() -> None:
    assert read("哪一年开放？").asked_things("五月十四日开放。") == set()
    assert read("哪一年开放？").asked_things("二〇一六年五月开放。") == {"二〇一六"}
    assert read("In what year did it open?").asked_things("It opened on 14 May.") == set()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was it released?", "date"),
        ("In what year did it end?", "year"),
        ("哪一年发布？", "year"),
        ("How many retries are made?", "number"),
        ("What is the default port?", "number"),
        ("Who approved it?", "person"),
        ("Where is the office?", "place"),
        ("Why does it fail?", ""),
        ("什么时候发布？", "date"),
        ("何時發布？", "date"),
        ("重试多少次？", "number"),
        ("默认值是什么？", "number"),
        ("为什么失败？", ""),
    ],
)
def test_the_kind_of_thing_that_is_asked_for(text: str, kind: str) -> None:
    assert read(text).asked == kind


@pytest.mark.parametrize("text", ["the is", "是什么", "什么？", "what is it?", "", "？！…", "   "])
def test_words_that_only_ask_are_no_terms(text: str) -> None:
    assert read(text).terms == {}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("小说什么时候出版？", {"小说", "出版"}),
        ("小說哪些人物？", {"小說", "人物"}),
        ("传说什么地方有龙", {"传说", "有龙"}),
        ("演讲什么时候开始？", {"演讲", "开始"}),
        ("合同说了哪些内容？", {"合同", "内容"}),
        ("第三章讲了什么？", {"第三", "三章"}),
    ],
)
def test_what_asks_what_is_said_leaves_words_whole(text: str, terms: set[str]) -> None:
    assert {term for term in read_question(text, ANALYZER).terms if len(term) > 1} == terms


def test_single_characters_weigh_less_than_bigrams() -> None:
    weights = read("连接池").terms
    assert weights["连接"] == weights["接池"] == 1.0
    assert weights["连"] == CHARACTER_WEIGHT


def test_names_are_proper_names_numbers_identifiers_and_quotes() -> None:
    assert {"smith", "max_retries"} <= read("What did Smith set max_retries to in 2024?").names
    assert "红楼" in read("谁写了《红楼梦》？").names
    assert read("Which colour is used?").names == frozenset()


def test_things_asked_for_are_found_unless_the_question_has_them() -> None:
    assert read("How many of the 40 users are active?").asked_things("12 of 40 users") == {"12"}
    assert read("什么时候发布？").asked_things("于2024年发布") == {"2024年"}
    assert read("Why?").asked_things("12 of 40") == set()


@pytest.mark.parametrize(
    ("term", "other"),
    [("除濕", "除湿"), ("除湿", "除濕"), ("發現", "发现"), ("发现", "發現"), ("数据", "數據"), ("資料", "资料")],
)
def test_the_other_chinese_script_is_known_both_ways(term: str, other: str) -> None:
    assert other in other_forms(term)


def test_what_has_no_other_script_has_no_other_form() -> None:
    assert other_forms("人山") == ()
    assert other_forms("abc") == ()


@given(st.text(max_size=6))
def test_other_forms_are_few_differ_and_keep_the_length(term: str) -> None:
    forms = other_forms(term)
    assert len(forms) <= 8
    assert len(set(forms)) == len(forms)
    assert term not in forms
    assert all(len(form) == len(term) for form in forms)


def test_common_terms_have_larger_shares_of_general_text() -> None:
    assert 0 < share("zzzzqq") < share("连接") < share("我们") < 1
    assert share("zzzzqq") < share("year")


@given(st.text(max_size=8))
def test_a_share_is_a_share_of_anything(term: str) -> None:
    assert 0 < share(term) < 1


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_asked(text: str) -> None:
    question = read(text)
    assert question == read(text)
    assert question.names <= question.terms.keys()
    assert all(0 < weight <= 1 for weight in question.terms.values())


@pytest.mark.parametrize(
    "text", ["这是什么？", "那個是什麼", "它有什么用？", "你能做什么", "这里讲的是什么？", "他们是谁"]
)
def test_a_question_that_only_points_has_no_terms(text: str) -> None:
    assert read_question(text, ANALYZER).terms == {}


@pytest.mark.parametrize("text", ["这", "我们", "这个泵是什么？", "其他费用有哪些", "用户是谁？"])
def test_a_word_to_look_for_is_a_term(text: str) -> None:
    assert read_question(text, ANALYZER).terms
