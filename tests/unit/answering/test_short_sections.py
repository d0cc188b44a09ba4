"""Several short sections lie in one chunk: the sentence below the heading that is asked for answers."""

import pytest

from ctxcli.services.answering import ask
from tests.unit.retrieval.made import index, knowledge

LIBRARY = (
    "# Library: questions\n\n### When are you open?\n\nMonday to Friday 9:00 to 19:00. Closed on Sundays.\n\n"
    "### Who runs the reading club?\n\nPriya Nair. It meets on the first Thursday of the month in room B12.\n\n"
    "### Is there parking?\n\nThere are 24 spaces behind the building.\n"
)
WASHING = (
    "# WM-80 洗衣机说明书\n\n## 2 技术参数\n\n| 项目 | WM-80 |\n|---|---|\n| 额定容量 | 8 kg |\n| 净重 | 65 kg |\n\n"
    "## 3 安装步骤\n\n1. 拆除包装和运输螺栓。\n2. 用水平仪调平机身。\n3. 接通电源，运行一次空筒自洁。\n\n"
    "## 5 保养\n\n每月清洗一次过滤器，洗后保持门打开。\n\n"
    "## 6 故障代码\n\n| 代码 | 含义 |\n|---|---|\n| E21 | 排水超时 |\n| E30 | 门未关好 |\n\n"
    "## 7 教材\n\n周志华《机器学习》，2016年版。\n"
)


@pytest.mark.parametrize(
    ("text", "question", "first"),
    [
        (LIBRARY, "Who runs the reading club?", "Priya Nair."),
        (LIBRARY, "Is there parking?", "There are 24 spaces"),
        (WASHING, "安装步骤", "1. 拆除包装"),
        (WASHING, "怎么安装洗衣机？", "1. 拆除包装"),
        (WASHING, "有哪些故障代码？", "| 代码 | 含义 |"),
        (WASHING, "教材是什么？", "周志华"),
    ],
)
def test_what_stands_below_the_heading_asked_for_comes_first(text: str, question: str, first: str) -> None:
    [citation, *_] = ask(knowledge(text), question).citations
    assert citation.quote.startswith(first)


def test_a_heading_counts_for_its_own_sections_and_the_title_for_all() -> None:
    text = "# Water\n\n## Pumps\n\n### Valves\n\nOpen them slowly.\n\n## Tanks\n\nClean them in May.\n"
    [chunk] = index(text).all_chunks()
    heads = {chunk.place(start, end).heading: chunk.heads()[chunk.section_of(start)] for start, end, _ in chunk.units}
    assert heads["Valves"] == {"water", "pump", "valv"}
    assert heads["Tanks"] == {"water", "tank"}


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (
            "# 常见问答\n\n**问：年假没休完怎么办？**\n\n答：可以延到次年6月30日，过期作废。\n\n"
            "**问：食堂几点开饭？**\n\n答：午餐11:30至13:00。\n",
            "年假没休完怎么办？",
            "可以延到次年6月30日",
        ),
        (
            "# FAQ\n\nQ: What happens to leave that is left over?\n\nA: It may be taken until 30 June.\n\n"
            "Q: When does the canteen open?\n\nA: Lunch is served from 11:30.\n",
            "What happens to leave that is left over?",
            "until 30 June",
        ),
        (
            "# FAQ\n\nWhere do I park my car? Use the yard behind the barn.\n\nWho has the keys? Ask at the office.\n",
            "Where do I park my car?",
            "behind the barn",
        ),
    ],
)
def test_a_question_in_a_document_is_shown_with_what_answers_it(text: str, question: str, answer: str) -> None:
    [citation, *_] = ask(knowledge(text), question).citations
    assert answer in citation.quote
