"""Questions that name a section, an article, a model or a year; places that disagree; rows and second excerpts."""

import pytest

from ctxcli.answering.decision import UNKNOWN_IDENTIFIER
from ctxcli.answering.directed import NOT_FOUND
from ctxcli.model.answer import Answer
from ctxcli.model.documents import answer_document
from ctxcli.services.answering import ask
from ctxcli.text.question import named_sections
from tests.unit.retrieval.made import knowledge

MANUAL = """# Manual

## 4 Water

### 4.2 Nutrients

The nutrient tank holds six hundred litres.

## 5 Alarms

### 5.4 Leak

Leave the bay at once and close the door behind you.

### 5.40 Noise

Ear protection is worn in the pump room.

## Appendix B Contacts

Call the fire brigade under 110.
"""
LAW = """# 温室安全守则

## 第一章 总则

### 第七条 二氧化碳

温室空气中二氧化碳浓度的上限是 1200 ppm。

### 第八条 通道

通道上不得堆放物品。

## 第二章 附则

### 第二十五条 生效

本守则自 2025 年 1 月 1 日起施行。
"""


def shown(text: str, question: str) -> Answer:
    return ask(knowledge(text, "# Other\n\nA note on something else entirely.\n"), question)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("第七条规定了什么", "第七条"),
        ("第7条规定了什么", "第7条"),
        ("第 25 条", "第25条"),
        ("第二百零三条之一", "第二百零三条之一"),
        ("What does section 5.4 say?", "5.4"),
        ("what is in §4.2?", "4.2"),
        ("§ 4.2规定了什么", "4.2"),
        ("第5.2节讲什么", "5.2"),
        ("5.2节讲什么", "5.2"),
        ("Appendix B", "B"),
        ("appendix b, please", "B"),
        ("Annex A.2", "A.2"),
        ("附录 B 的内容", "附录B"),
        ("Article 5", "5"),
        ("Chapter 3 and more", "3"),
    ],
)
def test_a_section_that_is_named(text: str, first: str) -> None:
    assert (named_sections(text) or ("",))[0] == first


@pytest.mark.parametrize(
    "text",
    [
        "第5名是谁？", "第一次测试", "version 5.2", "How many sections are there?", "in appendix a reader finds",
        "article 5b", "3.5 mg", "", "What is the appendix?", "the 2nd chapter", "第三方", "条",
    ],
)  # fmt: skip
def test_what_names_no_section(text: str) -> None:
    assert named_sections(text) == ()


def test_articles_are_found_in_the_other_numerals_and_script() -> None:
    assert set(named_sections("第25条")) == {"第25条", "第二十五条", "第25條", "第二十五條"}
    assert "第25条" in named_sections("第二十五條")
    assert "第110条" in named_sections("第一百一十条")
    assert "第二〇三条" in named_sections("第二〇三条")
    assert "第203条" in named_sections("第二〇三条")


@pytest.mark.parametrize(
    ("text", "question", "words", "section"),
    [
        (MANUAL, "What does section 5.4 say?", "Leave the bay", "5.4"),
        (MANUAL, "§5.40?", "Ear protection", "5.40"),
        (MANUAL, "What does § 4.2 say about the tank?", "six hundred litres", "4.2"),
        (MANUAL, "What does chapter 4 say?", "six hundred litres", "4.2"),
        (MANUAL, "What stands in Appendix B?", "fire brigade", "Appendix B"),
        (LAW, "第七条规定了什么？", "1200 ppm", "第七条"),
        (LAW, "第8条规定了什么？", "不得堆放", "第八条"),
        (LAW, "第25条的内容是什么？", "2025 年 1 月 1 日", "第二十五条"),
        (LAW, "第七條規定了什麼？", "1200 ppm", "第七条"),
    ],
)
def test_a_question_that_names_a_section_is_answered_from_it(
    text: str, question: str, words: str, section: str
) -> None:
    answer = shown(text, question)
    assert not answer.declined
    assert words in (answer.text or "")
    assert {passage.section for passage in answer.citations} == {section}


LEASE = """# Lease

## Article 3 Rent

3.1 The monthly rent is €1,150.

3.10 The rent is paid on the third day. It is paid in advance.

## Article 6 Repairs

6.3 Defects must be reported at once:

- water leaks by telephone,
- all others in writing.

6.4 The boiler is serviced every year.
"""
LETTING = """# 租赁合同

## 租金

3.1 月租金为6800元。

3.2 押金为13600元。合同终止后十日内退还。
"""


@pytest.mark.parametrize(
    ("text", "question", "words", "others"),
    [
        (LEASE, "What does clause 3.1 say?", "€1,150", "third day"),
        (LEASE, "§3.10", "third day. It is paid in advance", "€1,150"),
        (LEASE, "section 6.3", "all others in writing", "boiler"),
        (LETTING, "第3.2条规定了什么？", "十日内退还", "6800"),
        (LETTING, "§3.2", "十日内退还", "6800"),
    ],
)
def test_a_numbered_paragraph_is_a_section_where_no_heading_has_the_number(
    text: str, question: str, words: str, others: str
) -> None:
    answer = shown(text, question)
    assert words in (answer.text or "")
    assert others not in (answer.text or "")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (LEASE, "What does clause 3.2 say?"),
        (LETTING, "§3.3"),
        (MANUAL, "What does section 9.9 say?"),
        (MANUAL, "What does section 5.5 say about the nutrient tank?"),
        (MANUAL, "What stands in Appendix C?"),
        (LAW, "第九条规定了什么？"),
        (LAW, "第99条关于二氧化碳浓度的上限是多少？"),
    ],
)
def test_a_section_that_no_document_has_is_declined(text: str, question: str) -> None:
    answer = shown(text, question)
    assert answer.declined
    assert answer.score <= NOT_FOUND


@pytest.mark.parametrize(
    "question",
    [
        "What is the range of the sensor PAR-99?",
        "What does error E1599 mean?",
        "How long was the calibration interval of sensor PAR-9 in 1987?",
        "传感器 PAR-99 的量程是多少？",
        "传感器PAR-99的量程是多少？",
        "PAR-99的量程",
    ],
)
def test_a_model_code_or_year_that_no_document_has_is_declined(question: str) -> None:
    text = (
        "# Sensors\n\nThe range of the sensor PAR-9 is 0 to 2500. The calibration interval of sensor PAR-9 was "
        "90 days in 2024.\n\nError E1502 means that the sensor is dirty.\n\n传感器 PAR-9 的量程是 0 到 2500。\n"
    )
    assert shown(text, question).declined
    known = question.replace("PAR-99", "PAR-9").replace("E1599", "E1502").replace("1987", "2024")
    assert not shown(text, known).declined


def disagreeing(first: str, second: str, question: str) -> Answer:
    filler = "# Filler\n\nThe canteen opens at noon and closes at two.\n\n食堂中午开门。\n"
    return ask(knowledge(f"# A\n\n{first}\n", f"# B\n\n{second}\n", filler), question, threshold=0.0)


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        (
            "The session timeout of the portal is 30 minutes.",
            "The session timeout of the portal is 45 minutes.",
            "What is the limit of the session timeout of the portal?",
        ),
        ("会话超时时间的上限是 30 分钟。", "会话超时时间的上限是 45 分钟。", "会话超时时间的上限是多少？"),
        (
            "The deposit is returned within six weeks.",
            "The deposit is returned within eight weeks.",
            "When is the deposit returned?",
        ),
        ("The open day is on Saturday 17 May.", "The open day is on Saturday 24 May.", "When is the open day?"),
        (
            "The open day is on 17 May 2025, 10:00 to 16:00.",
            "The open day is on May 24, 2025, 10:00 to 16:00.",
            "When is the open day?",
        ),
        ("The monthly rent is €1,150.", "The monthly rent is €1,200.", "What is the monthly rent?"),
        ("Quiet hours are from 22:00 to 7:00.", "Quiet hours are from 21:00 to 8:00.", "What are the quiet hours?"),
        ("开放日定于5月17日。", "开放日定于5月24日。", "开放日是哪一天？"),
        ("读者一次可以借阅图书十册。", "读者一次可以借阅图书十五册。", "读者一次可以借阅几册图书？"),
        ("图书馆上午9:00开门。", "图书馆上午8:30开门。", "图书馆上午什么时候开门？"),
        (
            "The noise limit of the pump is 30 decibels.",
            "The noise limit of the pump is 25 decibels.",
            "What is the noise limit of the pump?",
        ),
    ],
)
def test_places_that_disagree_are_both_shown_and_it_is_said(first: str, second: str, question: str) -> None:
    from ctxcli.cli.ask_view import as_text

    answer = disagreeing(first, second, question)
    assert [passage.conflict for passage in answer.citations] == [True, True]
    assert {passage.doc for passage in answer.citations} == {"docs/0.md", "docs/1.md"}
    document = answer_document(answer)
    assert [citation["conflict"] for citation in document["citations"]] == [True, True]
    assert ("These places disagree." in as_text(answer, cite=True)) == (answer.language == "en")
    assert ("这些出处互相矛盾。" in as_text(answer, cite=False)) == (answer.language == "zh")


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("The timeout is 30 minutes.", "The timeout is 30 minutes.", "What is the limit of the timeout?"),
        ("The timeout is 30 minutes.", "The timeout is 1,800 seconds.", "What is the limit of the timeout?"),
        (
            "The timeout of the portal is 30 minutes.",
            "The upload to the archive takes 45 minutes on most days.",
            "What is the limit of the timeout of the portal?",
        ),
        ("The timeout is 30 minutes.", "The timeout is 45 minutes.", "Why is there a timeout?"),
        ("Pump 3 gave 45 litres on 3 May.", "Pump 3 gave 50 litres on 4 May.", "How many litres did pump 3 give?"),
        ("5月3日水泵抽水45次。", "5月4日水泵抽水50次。", "水泵抽水多少次？"),
        ("The fair opens at 9:00 on 3 May.", "The fair opens at 9:00 on May 3.", "When does the fair open?"),
        ("The monthly rent is €1,150.", "The monthly rent is €1,150.00.", "What is the monthly rent?"),
        (
            "The pump weighs 8 kg when dry.",
            "The pump weighs 8.0 kg when dry.",
            "How much does the pump weigh when dry?",
        ),
        ("会话超时时间的上限是 30 分钟。", "会话超时时间的上限是三十分钟。", "会话超时时间的上限是多少？"),
        ("公司2023年的营业额为500万元。", "公司2024年的营业额为600万元。", "公司的营业额是多少？"),
        ("The rent in 2023 was €1,000.", "The rent in 2024 was €1,200.", "What was the rent?"),
        ("办公室周一9:00开门。", "办公室周六10:00开门。", "办公室什么时候开门？"),
    ],
)
def test_places_that_agree_or_speak_of_other_things_do_not_disagree(first: str, second: str, question: str) -> None:
    assert not any(passage.conflict for passage in disagreeing(first, second, question).citations)


def test_lines_of_a_log_do_not_contradict_each_other() -> None:
    log = "\n".join(f"2024-11-{day:02} 08:00 pump 3 started after {day + 10} seconds" for day in range(1, 25))
    answer = ask(knowledge(f"# Log\n\n```\n{log}\n```\n", "# Else\n\nElse.\n"), "How long did pump 3 take to start?")
    assert not any(passage.conflict for passage in answer.citations)


def test_a_second_excerpt_never_repeats_the_first() -> None:
    same = "The irrigation pump starts at six in the morning."
    texts = [f"# Pump {n}\n\n{same}\n\nNote {n} about irrigation.\n" for n in range(4)]
    answer = ask(knowledge(*texts), "When does the irrigation pump start?", threshold=0.0)
    quotes = ["".join(passage.quote.split()) for passage in answer.citations]
    assert not any(one in other for at, one in enumerate(quotes) for other in quotes[:at] + quotes[at + 1 :])
    assert (answer.text or "").count(same) == 1


def test_a_header_row_never_answers_alone() -> None:
    table = (
        "# Set points\n\n| crop | day temperature | night temperature |\n|---|---|---|\n"
        "| cucumber | 24 degrees | 20 degrees |\n| tomato | 22 degrees | 17 degrees |\n"
    )
    for question in ("What is the day temperature of tomato?", "day temperature", "night temperature tomato"):
        answer = ask(knowledge(table), question, threshold=0.0)
        for passage in answer.citations:
            assert "degrees" in passage.quote, question


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of the KX-500?",
        "How much does the KX-500 blender cost?",
        "洗衣机多少钱？",
        "洗衣机的价格是多少？",
    ],
)
def test_a_price_is_declined_where_nothing_is_said_of_money(question: str) -> None:
    manual = "# KX-500 blender\n\n## Data\n\nThe KX-500 blender weighs 3.2 kg and is rated at 500 W. It has feet.\n"
    washing = "# 洗衣机说明书\n\n## 保养\n\n洗衣机由三个模块和单元组成，额定容量8公斤。\n"
    lights = "# Lamps\n\nThe price of a lamp is £12.\n\n台灯的价格是90元。\n"
    assert ask(knowledge(manual, washing, lights), question).declined
    priced = manual + "\nThe KX-500 blender is sold at £89.\n", washing + "\n洗衣机售1999元。\n"
    assert not ask(knowledge(*priced, lights), question).declined


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Staff must avoid an open valve at any time.", "What must staff avoid at all costs?"),
        ("Living in Lund is dear: a room takes half of what a nurse earns.", "How high is the cost of living in Lund?"),
        ("遥控器使用两节五号电池。", "遥控器使用几块电池？"),
        ("At the meeting on 17 May 2025 the board chose a new roof.", "Which roof did the board choose on 17.05.2025?"),
    ],
)
def test_a_word_for_prices_and_a_date_in_figures_alone_decline_nothing(text: str, question: str) -> None:
    assert ask(knowledge(f"# Notes\n\n{text}\n", "# Other\n\nElse. 其他。\n"), question).score > UNKNOWN_IDENTIFIER


@pytest.mark.parametrize("known", ["v2.10.0", "2.10.0", "V2.10.0", "v2.10"])
@pytest.mark.parametrize("asked", ["v2.10.0", "2.10.0", "v2.10"])
def test_a_version_is_found_with_and_without_its_letter(known: str, asked: str) -> None:
    notes = (
        f"# Release notes\n\n## {known}\n\nThe preview has a dark theme.\n\n## v2.9.3\n\nThe export keeps footnotes.\n"
    )
    answer = ask(knowledge(notes), f"What is new in {asked}?")
    assert answer.citations[0].quote == "The preview has a dark theme."


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("Which backups does PostgreSQL 15.4 make?", "Are backups made by PostgreSQL 14.2."),
        ("PostgreSQL 15.4 backups", "PostgreSQL 14.2 backups"),
        ("Falcon version 2.1 gain", "Falcon version 2.3 gain"),
    ],
)
def test_a_version_of_two_numbers_behind_a_name_is_known_or_declined(known: str, unknown: str) -> None:
    base = knowledge(
        "# Data\n\nPostgreSQL 15.4 makes nightly backups. Falcon v2.1 has a gain of 3.5.\n", "# B\n\nElse.\n"
    )
    assert not ask(base, known).declined
    assert ask(base, unknown).declined
    assert ask(base, "Is 4.5 enough of a gain for Falcon?", threshold=0).score > UNKNOWN_IDENTIFIER


@pytest.mark.parametrize("question", ["What is new in v2.11.0?", "What is new in 2.11.0?", "v2.11.0 的预览有什么？"])
def test_a_version_that_no_document_has_is_declined(question: str) -> None:
    notes = "# Release notes\n\n## v2.10.0\n\nNew: the preview is dark. 新增：预览为深色。\n\n## v2.9.3\n\nNotes.\n"
    assert ask(knowledge(notes), question).declined
    assert not ask(knowledge(notes), question.replace("11", "10")).declined


@pytest.mark.parametrize(
    ("text", "question", "date"),
    [
        ("# News\n\n## v2.9.3 (2024-10-02)\n\nExport keeps notes.\n\n## v2.9.2 (2024-09-01)\n\nLinks.\n",
         "When was v2.9.3 released?", "2024-10-02"),
        ("# 更新记录\n\n## v2.9.3（2024年10月2日）\n\n导出时保留脚注。\n\n## v2.9.2（2024年9月1日）\n\n链接。\n",
         "v2.9.3 是什么时候的更新？", "2024年10月2日"),
    ],
)  # fmt: skip
def test_a_date_that_stands_in_the_heading_is_shown(text: str, question: str, date: str) -> None:
    assert date in (ask(knowledge(text), question, threshold=0).text or "")
