"""Lists and tables are answers as a whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.answering.evidence import BLOCK_FACTOR, LIMIT
from ctxcli.model.answer import Answer
from ctxcli.services.answering import ask
from tests.unit.retrieval.made import knowledge

STEPS = [f"Step {number}: turn the valve marked {name} a quarter and wait until the gauge of the boiler is still." for
         number, name in enumerate(("red", "blue", "green", "white", "black", "amber"), 1)]  # fmt: skip
STUFE = [f"第{number}步，打开{name}色阀门四分之一圈，等到锅炉压力表的指针完全停住之后再继续下一步操作。" for
         number, name in zip("一二三四五六", "红蓝绿白黑黄", strict=True)]  # fmt: skip


def asked(text: str, question: str) -> Answer:
    return ask(knowledge(text), question, threshold=0.0)


@pytest.mark.parametrize("mark", ["- ", "1. "])
def test_all_steps_are_shown_though_they_are_longer_than_a_sentence_may_be(mark: str) -> None:
    listed = "\n".join(mark + step for step in STEPS)
    text = f"# Boiler\n\nTo start the boiler, do this:\n\n{listed}\n\nThe boiler is then warm.\n"
    answer = asked(text, "How do I start the boiler with its valves?")
    assert len(listed) > LIMIT["en"]
    assert answer.citations[0].quote == f"To start the boiler, do this:\n\n{listed}"
    assert len(answer.citations) == 1


def test_a_chinese_list_is_shown_whole() -> None:
    listed = "\n".join(f"- {step}" for step in STUFE)
    answer = asked(f"# 锅炉\n\n启动锅炉的步骤如下：\n\n{listed}\n", "启动锅炉有哪些步骤？")
    assert len(listed) > LIMIT["zh"]
    assert answer.citations[0].quote == f"启动锅炉的步骤如下：\n\n{listed}"


@pytest.mark.parametrize(
    ("before", "led_in", "steps", "question"),
    [
        (
            "| 型号 | 口径 |\n|---|---|\n| V-1 | 20 mm |\n\n",
            "关闭阀门的步骤：",
            "先停水泵 关闭阀门V-1 记录时间",
            "关闭阀门的步骤",
        ),
        (
            "| Model | Bore |\n|---|---|\n| V-1 | 20 mm |\n\n",
            "To close the valves:",
            "Stop Close Note",
            "How to close the valves?",
        ),
    ],
)
def test_steps_are_shown_without_the_table_above_them(before: str, led_in: str, steps: str, question: str) -> None:
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps.split(), 1))
    answer = asked(f"# 阀门 valves\n\n{before}{led_in}\n\n{listed}\n", question)
    assert answer.citations[0].quote == f"{led_in}\n\n{listed}"


def test_a_table_is_shown_with_its_column_names() -> None:
    rows = [
        f"| Boiler room {number} of the works at the harbour | {number * 10} degrees at most |"
        for number in range(1, 9)
    ]
    table = "\n".join(["| Room of the boilers | Limit of the temperature |", "|---|---|", *rows])
    answer = asked(f"# Limits\n\n{table}\n", "Which temperature limits are there for the boiler rooms?")
    assert answer.citations[0].quote == table


def test_a_fact_in_one_item_is_shown_without_the_list() -> None:
    items = [
        f"- The {name} of the plant has a colour of its own and a number, which is {at}, and a keeper in the town."
        for at, name in enumerate("crane lathe mill furnace gate tower press".split(), 20)
    ]
    answer = asked("# Plant\n\n" + "\n".join(items) + "\n", "How many is the number of the furnace?")
    assert "furnace" in answer.citations[0].quote
    assert len(answer.citations[0].quote) <= LIMIT["en"]


def test_no_list_is_shown_longer_than_a_block_may_be() -> None:
    listed = "\n".join(f"- {step} {number}" for number, step in enumerate(STEPS * 4))
    answer = asked(f"# Boiler\n\nDo this:\n\n{listed}\n", "How do I start the boiler?")
    assert len(answer.citations[0].quote) <= BLOCK_FACTOR * LIMIT["en"]


def test_a_list_ends_where_its_section_ends() -> None:
    one, other = ("\n".join(f"- {step}" for step in half) for half in (STEPS[:3], STEPS[3:]))
    answer = asked(
        f"# Boiler\n\n## Start\n\n{one}\n\n## Stop\n\n{other}\n", "How do I start the boiler at the red valve?"
    )
    assert all("Stop" not in passage.quote for passage in answer.citations)


ITEM = st.text("ab 你好的。.:：|-*1", min_size=1, max_size=160)


@given(
    items=st.lists(ITEM, min_size=1, max_size=12),
    lead=ITEM,
    question=st.sampled_from(["which steps are there", "有哪些好的"]),
)
@settings(max_examples=60)
def test_no_answer_is_longer_than_a_block_and_each_quote_is_verbatim(
    items: list[str], lead: str, question: str
) -> None:
    text = f"steps 好的 {lead}:\n\n" + "\n".join(f"- {item}" for item in items)
    answer = asked(text, question)
    shown = sum(len(passage.quote) for passage in answer.citations)
    assert shown <= BLOCK_FACTOR * LIMIT["zh" if "哪" in question else "en"]
    assert all(passage.quote in passage.text for passage in answer.citations)
