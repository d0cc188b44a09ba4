"""Questions that ask two things are answered on both, or as one."""

import pytest

from ctxcli.answering.evidence import LIMIT
from ctxcli.services.answering import ask
from ctxcli.text.question import language_of
from ctxcli.text.question_parts import parts_of
from tests.unit.retrieval.made import knowledge

AUTOCLAVE = """# Autoclave

## 3 Cycle

Liquids are heated to the temperature of 121 degrees. Glassware is heated for 20 minutes.

## 4 Checks

An indicator is run every Monday.

## 5 Records

Records of all runs are kept for ten years.
"""
LEASE = """# 租赁合同

## 第三条 租金

月租金为人民币6800元，按季支付。

## 第四条 押金

押金于合同终止后十个工作日内无息退还。

## 第七条 维修

甲方应在接到通知后48小时内派人维修。
"""


@pytest.mark.parametrize(
    ("text", "question", "both"),
    [
        (AUTOCLAVE, "What is the temperature for liquids and how long are records kept?", ("121", "ten years")),
        (AUTOCLAVE, "How often is the indicator run, and how long are records kept?", ("Monday", "ten years")),
        (LEASE, "月租金是多少，押金什么时候退？", ("6800元", "十个工作日")),
        (LEASE, "押金多久退还？甲方多久派人维修？", ("十个工作日", "48小时")),
    ],
)
def test_both_parts_are_answered(text: str, question: str, both: tuple[str, str]) -> None:
    answer = ask(knowledge(text, "# Other\n\nThe canteen opens at noon. 食堂中午开门。\n"), question)
    assert not answer.declined
    assert all(words in (answer.text or "") for words in both)
    assert sum(len(citation.quote) for citation in answer.citations) <= LIMIT[answer.language]


@pytest.mark.parametrize(
    "question",
    ["How long are records kept and who is the mayor of the town?", "押金什么时候退，谁是本市的市长？"],
)
def test_what_is_said_of_one_part_alone_is_no_answer_to_both(question: str) -> None:
    base = knowledge(AUTOCLAVE, LEASE, "# Other\n\nThe canteen opens at noon. 食堂中午开门。\n")
    one = question.replace(" and who is the mayor of the town", "").replace("，谁是本市的市长", "")
    assert ask(base, question, threshold=0).score < ask(base, one, threshold=0).score


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("How high is it and when was the tower built?", ("How high is it", "when was the tower built")),
        ("When does it rain; what is closed?", ("When does it rain", "what is closed")),
        ("租金多少，什么时候付？", ("租金多少", "什么时候付")),
        ("房租多少和押金多少？", ("房租多少", "押金多少")),
        ("What is the deposit and when is it returned?", None),
        ("塔有多高，它是什么时候建的？", None),
        ("如果下雨，哪里关门？", None),
        ("When it rains, what is closed?", None),
        ("Where the sign is red, who may enter?", None),
        ("What is the port of the portal, which runs on Alder?", None),
        ("Who was Elizabeth, whose father was king?", None),
        ("What is the rent, and who pays the heating?", ("What is the rent", "who pays the heating")),
        ("押金多少，租金应该什么时候付？", ("押金多少", "租金应该什么时候付")),
        ("What are the rules for cats, dogs and birds?", None),
        ("What is the rent, what is the deposit and what is the fee?", None),
        ("rent and deposit", None),
        ("租金和押金是多少？", None),
        ("", None),
        ("和", None),
        (", ; and", None),
    ],
)
def test_what_asks_two_things(text: str, parts: tuple[str, str] | None) -> None:
    assert parts_of(text, language_of(text)) == parts
