"""Which quotes stand in a document: forms of marks apart, figures whole."""

from pathlib import Path

import pytest

from ctxcli.services.verification import Shelf, verify
from tests.unit.services.test_verification import one, write


@pytest.mark.parametrize(
    "quote",
    [
        'The "main" pump isn\'t loud - it hums.', "The “main” pump isn’t loud – it hums.", "The 'main' pump isn't loud",
        "水泵在「六点」启动，然后停止。", '水泵在"六点"启动,然后停止。', "The limit is -3 to ５ degrees.",
    ],
)  # fmt: skip
def test_marks_of_another_kind_and_width_are_no_other_words(tmp_path: Path, quote: str) -> None:
    english = "The “main” pump isn’t loud — it hums.\n\nThe limit is −3 to 5 degrees."
    write(tmp_path, "marks.md", f"# A\n\n{english}\n\n水泵在“六点”启动，然后停止。\n")
    assert one(tmp_path, quote=quote, doc="marks.md").status == "ok"
    assert one(tmp_path, quote=quote.replace("hums", "sings").replace("停止", "启动").replace("5", "6")
               .replace("５", "6").replace("main' pump", "other' pump"), doc="marks.md").status == "stale"  # fmt: skip


def test_a_quote_that_leaves_the_end_of_a_figure_out_is_none(tmp_path: Path) -> None:
    write(tmp_path, "dose.md", "# Dose\n\nThe dose is 3.5 mg, at most 1,200 a year.\n")
    for quote, status in {
        "The dose is 3.": "stale", "The dose is 3": "stale", "5 mg, at most": "stale", "at most 1,200": "ok",
        "at most 1": "stale", "200 a year": "stale", "dose is 3.5": "ok",
    }.items():  # fmt: skip
        assert one(tmp_path, quote=quote, doc="dose.md").status == status, quote


def test_a_day_of_the_week_is_no_part_of_the_figure_behind_it(tmp_path: Path) -> None:
    write(tmp_path, "例会.md", "# 例会\n\n例会星期一九点开始，周三十一点结束。\n")
    for quote, status in {
        "九点开始": "ok", "例会星期一": "ok", "十一点结束": "ok", "一点结束": "stale",
    }.items():  # fmt: skip
        assert one(tmp_path, quote=quote, doc="例会.md").status == status, quote


def test_a_source_may_have_wide_brackets(tmp_path: Path) -> None:
    write(tmp_path, "手册.md", "# 手册\n\n## 天窗\n\n大风时关闭。\n")
    text = "大风时关闭天窗【1】。\n\n【1】手册.md · 天窗\n    大风时关闭。\n"
    assert [one.status for one in verify(text, Shelf.of_folder(tmp_path)).citations] == ["ok"]


@pytest.mark.parametrize("section", ["第十条", "第10条", "第10條", "§第十条", "第十条 婚假"])
def test_an_article_may_be_cited_in_the_other_numerals(tmp_path: Path, section: str) -> None:
    write(tmp_path, "办法.md", "# 办法\n\n第十条 婚假为3天。\n\n第十一条 产假为158天。\n")
    assert one(tmp_path, quote="婚假为3天。", doc="办法.md", section=section).status == "ok"
    assert one(tmp_path, quote="产假为158天。", doc="办法.md", section=section).status == "moved"
