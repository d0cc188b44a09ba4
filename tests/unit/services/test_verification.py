"""The citations of an answer against the files as they are now."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ctxcli.answering.citations import read_answer
from ctxcli.model.errors import DataError
from ctxcli.model.verification import CheckedCitation
from ctxcli.services import workspace
from ctxcli.services.ingest.pool import Limits
from ctxcli.services.verification import Shelf, verify
from tests.cli.run import ROOT, write

MANUAL = """# 6 Manual

## 6.3 Vents

The roof vent opens above 28 degrees.

### 6.3.2 Wind

Strong wind is above 14 metres a second.
The vent closes then.

## Parking

Use the north gate.
"""
CHINESE = (
    "# 第三章 温室\n\n## 第六条 水泵\n\n灌溉水泵每天早上六点启动，\n运行二十分钟。\n\n## 第七条 天窗\n\n大风时关闭。\n"
)
WIND = "Strong wind is above 14 metres a second."
PDF = "sample_kb/operations-manual.pdf"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "w/manual.md", MANUAL)
    write(tmp_path, "w/手册.md", CHINESE)
    return tmp_path / "w"


def one(folder: Path, **cited: Any) -> CheckedCitation:
    found = verify(json.dumps({"citations": [{"doc": "manual.md", **cited}]}), Shelf.of_folder(folder))
    return found.citations[0]


@pytest.mark.parametrize(
    ("cited", "status"),
    [
        ({"quote": WIND, "section": "6.3.2", "line_start": 9, "line_end": 9}, "ok"),
        ({"quote": WIND, "section": "6.3.2"}, "ok"),
        ({"quote": WIND, "section": "6.3"}, "ok"),
        ({"quote": WIND, "section": "6"}, "ok"),
        ({"quote": WIND, "section": "§ 6.3.2 Wind"}, "ok"),
        ({"quote": WIND, "section": "6.3.20"}, "moved"),
        ({"quote": WIND, "section": "6.4"}, "moved"),
        ({"quote": WIND, "line_start": 5, "line_end": 12}, "ok"),
        ({"quote": WIND, "line_start": 5, "line_end": 8}, "moved"),
        ({"quote": WIND, "line_start": 10}, "moved"),
        ({"quote": f"{WIND}\nThe vent closes then.", "line_start": 9, "line_end": 10}, "ok"),
        ({"quote": f"{WIND} The vent closes then.", "line_start": 10}, "ok"),
        ({"quote": "Use the north gate.", "heading": "Parking"}, "ok"),
        ({"quote": "Use the north gate.", "heading": "Wind"}, "moved"),
        ({"quote": WIND, "page": 3}, "moved"),
        ({"quote": "Strong wind is above 15 metres a second."}, "stale"),
        ({"quote": "Strong wind is above 14…"}, "ok"),
        ({"quote": "…above 14 metres a second."}, "ok"),
        ({"quote": "Strong wind … a second."}, "ok"),
        ({"quote": "Strong wind [...] The vent closes"}, "ok"),
        ({"quote": "a second … Strong wind"}, "stale"),
        ({"quote": "The roof vent opens … Use the north gate"}, "stale"),
        ({"quote": "“Strong wind is above 14 metres a second.”"}, "ok"),
        ({"quote": "…"}, "stale"),
        ({"quote": "。"}, "stale"),
        ({"quote": "##"}, "stale"),
        ({"quote": WIND, "doc": "手册.md"}, "stale"),
        ({"quote": WIND, "doc": "gone.md"}, "missing"),
        ({"quote": WIND, "doc": "."}, "missing"),
        ({"quote": WIND, "doc": "a\0b"}, "missing"),
        ({"quote": WIND, "doc": "\ud800.md"}, "missing"),
        ({"quote": WIND, "doc": "x" * 5000}, "missing"),
        ({"quote": "灌溉水泵每天早上六点启动，运行二十分钟。", "doc": "手册.md", "section": "第六条"}, "ok"),
        ({"quote": "灌溉水泵每天早上六点启动，运行二十分钟。", "doc": "手册.md", "section": "第三章"}, "ok"),
        ({"quote": "灌溉水泵每天早上六点启动", "doc": "手册.md", "section": "第七条"}, "moved"),
        ({"quote": "Strong wind is above 1"}, "stale"),
        ({"quote": "4 metres a second."}, "stale"),
        ({"quote": "Strong wind is above 14"}, "ok"),
        ({"quote": "十分钟。", "doc": "手册.md"}, "stale"),
        ({"quote": "运行二十", "doc": "手册.md"}, "ok"),
        ({"quote": "运行二", "doc": "手册.md"}, "stale"),
        ({"quote": "「大风时关闭。」", "doc": "手册.md", "section": "第七条 天窗", "line_start": 10}, "ok"),
    ],
)
def test_a_citation_stands_or_does_not(folder: Path, cited: dict[str, Any], status: str) -> None:
    assert one(folder, **cited).status == status


def test_the_new_place_is_the_one_nearest_to_the_old(folder: Path) -> None:
    repeated = "# A\n\nSame words.\n\n# B\n\nx\n\nSame words.\n\n# C\n\nSame words.\n"
    write(folder, "manual.md", repeated)
    moved = one(folder, quote="Same words.", line_start=8)
    assert moved.status == "moved"
    assert moved.now is not None
    assert (moved.now.line_start, moved.now.heading) == (9, "B")


def test_lines_that_were_put_before_move_a_quote_and_its_removal_makes_it_stale(folder: Path) -> None:
    cited = {"quote": WIND, "section": "6.3.2", "line_start": 9, "line_end": 9}
    write(folder, "manual.md", "New.\n\n" + MANUAL)
    moved = one(folder, **cited)
    assert (moved.status, moved.now and moved.now.line_start) == ("moved", 11)
    write(folder, "manual.md", MANUAL.replace("14 metres", "15 metres"))
    assert one(folder, **cited).status == "stale"
    (folder / "manual.md").unlink()
    assert (one(folder, **cited).status, one(folder, **cited).message) == ("missing", "the file is gone")


def test_lines_of_html_are_looked_up_too(folder: Path) -> None:
    page = "<p>Head.</p>\n<p>The lift holds 8 persons.</p>\n<p>电梯限载八人。</p>\n"
    write(folder, "lift.html", page)
    cited = {"doc": "lift.html", "quote": "电梯限载八人。", "line_start": 3, "line_end": 3}
    assert one(folder, **cited).status == "ok"
    write(folder, "lift.html", "<p>New.</p>\n\n" + page)
    moved = one(folder, **cited)
    assert (moved.status, moved.now and moved.now.line_start) == ("moved", 5)


def test_a_page_that_is_not_that_of_the_quote_is_told() -> None:
    def checked(page: int) -> CheckedCitation:
        cited = {"doc": PDF, "quote": "It is tested on the first Wednesday of each month at 08:00.", "page": page}
        return verify(json.dumps({"citations": [cited]}), Shelf.of_folder(ROOT)).citations[0]

    assert checked(9).status == "ok"
    wrong = checked(8)
    assert (wrong.status, wrong.now and wrong.now.page, wrong.now and wrong.now.section) == ("moved", 9, "5.2")


def test_a_chinese_pdf_is_looked_up_by_page_and_section() -> None:
    cited = {"doc": "sample_kb/传感器手册.pdf", "quote": "CQ-30 采用两点校准", "page": 5, "section": "3.2"}
    assert verify(json.dumps({"citations": [cited]}), Shelf.of_folder(ROOT)).ok
    assert not verify(json.dumps({"citations": [{**cited, "page": 6}]}), Shelf.of_folder(ROOT)).ok


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.md", "../../../../etc/passwd", "link.md", "link/secret.md"])
def test_what_is_outside_is_not_opened(folder: Path, name: str) -> None:
    write(folder.parent, "secret.md", "The secret is 42.\n")
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    (folder / "link").symlink_to(folder.parent)
    found = one(folder, doc=name, quote="The secret is 42.")
    assert found.status == "missing"
    assert found.message.startswith("not opened")


def test_a_root_of_a_knowledge_base_may_be_outside_the_workspace(folder: Path) -> None:
    from ctxcli.services.indexing import IndexRequest, index

    outside = write(folder.parent, "library/a.md", "The secret is 42.\n")
    write(folder.parent, "other/b.md", "The secret is 43.\n")
    found, _ = workspace.find_or_make(folder)
    index(found, IndexRequest(kb="lib", paths=(outside.parent,)))

    def status(doc: str, quote: str) -> str:
        return verify(json.dumps({"citations": [{"doc": doc, "quote": quote}]}), Shelf.of(found)).citations[0].status

    assert status(str(outside), "The secret is 42.") == "ok"
    assert status("../library/a.md", "The secret is 42.") == "ok"
    assert status(str(folder.parent / "other/b.md"), "The secret is 43.") == "missing"
    assert status("manual.md", WIND) == "ok"
    write(found.kb_folder("lib"), "kb.json", "{broken")
    assert status(str(outside), "The secret is 42.") == "missing"
    assert status("manual.md", WIND) == "ok"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    assert one(folder, doc="pipe.md", quote="x").status == "missing"


def test_a_file_over_the_limit_and_one_that_is_no_document_are_missing(folder: Path) -> None:
    write(folder, "noise.md", bytes(range(256)) * 40)
    write(folder, "cut.pdf", b"%PDF-1.7\n1 0 obj\n<<")
    assert one(folder, doc="noise.md", quote="x").status == "missing"
    assert one(folder, doc="cut.pdf", quote="x").message.startswith("the file cannot be read")
    shelf = Shelf(folder, (folder.resolve(),), limits=Limits(max_bytes=10))
    found = verify(json.dumps({"citations": [{"doc": "manual.md", "quote": WIND}]}), shelf).citations[0]
    assert "the limit is" in found.message


def test_what_blows_up_its_reader_is_missing_and_the_rest_is_checked(folder: Path) -> None:
    write(folder, "bomb.json", "[" + ",".join(["[{}]"] * 3_000_000) + "]")
    write(folder, "规程.md", "# 规程\n\n每天冲洗一次。\n")
    rows = [{"doc": "bomb.json", "quote": "x"}, {"doc": "规程.md", "quote": "每天冲洗一次。"}]
    shelf = Shelf(folder, (folder.resolve(),), limits=Limits(memory=300 << 20))
    bomb, rules = verify(json.dumps({"citations": rows}), shelf).citations
    assert (bomb.status, rules.status) == ("missing", "ok")
    assert "memory" in bomb.message


def test_thousands_of_quotes_and_of_pieces_do_not_take_long(folder: Path) -> None:
    write(folder, "manual.md", "a b 甲 乙\n" * 100_000)
    rows = [{"doc": "manual.md", "quote": "a … 乙 … " * 5_000}, *[{"doc": "manual.md", "quote": "甲"}] * 5_000]
    assert verify(json.dumps({"citations": rows}), Shelf.of_folder(folder)).ok


def test_a_quote_that_stands_very_often_does_not_take_long(folder: Path) -> None:
    write(folder, "manual.md", "a b\n" * 100_000)
    assert one(folder, quote="a", line_start=900).status == "ok"
    assert one(folder, quote="a", section="9").status == "moved"


TEXT = """The vent closes. [1] 大风时天窗关闭。 [2]

[1] docs/my file.md · §6.3.2 Wind · lines 9–10
    Strong wind is above 14 metres a second.

    The vent closes then.
[2] docs/手册.pdf · §第七条 天窗 · 第 6–7 页 (印作 iii) · (建立索引后已更改)
    大风时天窗关闭。
"""


def test_the_text_form_is_read() -> None:
    first, second = read_answer(TEXT).citations
    assert (first.n, first.doc, first.section) == (1, "docs/my file.md", "6.3.2 Wind")
    assert (first.line_start, first.line_end, first.page) == (9, 10, None)
    assert first.quote == "Strong wind is above 14 metres a second.\n\nThe vent closes then."
    assert (second.n, second.doc, second.section) == (2, "docs/手册.pdf", "第七条 天窗")
    assert (second.page, second.page_end, second.line_start) == (6, 7, None)


@pytest.mark.parametrize(
    ("line", "page", "page_end"),
    [
        ("a.pdf · §5.2 Power failure · p. 9 (printed 6)", 9, 9),
        ("a.pdf · §5.2 Power failure · pp. 6–7", 6, 7),
        ("a.pdf · pages 6-7", 6, 7),
        ("a.pdf · page 12", 12, 12),
        ("a.pdf · §5.2 · 第 5 页", 5, 5),
        ("a.pdf · §5.2 · 第 5–6 頁 (印作 2)", 5, 6),
        ("a.pdf · Page 5 of the plan · p. 3", 3, 3),
    ],
)
def test_pages_are_read_as_they_are_written(line: str, page: int, page_end: int) -> None:
    [cited] = read_answer(f"Words [1].\n\n[1] {line}\n    Words.\n").citations
    assert (cited.page, cited.page_end) == (page, page_end)


def test_the_markdown_form_and_footnotes_are_read() -> None:
    markdown = (
        "Words\n\n**Sources**\n\n1. a.md · Parking · line 3\n\n   > Use the\n   > north gate.\n\n2. b.md\n\n   > x\n"
    )
    first, second = read_answer(markdown).citations
    assert (first.doc, first.heading, first.line_start, first.quote) == ("a.md", "Parking", 3, "Use the\nnorth gate.")
    assert (second.n, second.doc, second.heading, second.quote) == (2, "b.md", None, "x")
    [note] = read_answer("As said.[^1]\n\n[^1]: a.md · line 3\n    > Use the north gate.\n").citations
    assert (note.n, note.doc, note.line_start) == (1, "a.md", 3)


def test_a_numbered_list_is_no_list_of_sources() -> None:
    with pytest.raises(DataError):
        read_answer("Steps:\n\n1. Open the valve of tank A.\n   Then wait.\n2. Close it.\n")


@pytest.mark.parametrize(
    "text", ["No answer: nothing in the documents matches.", "无法回答：没有。", "**No answer: x**\n"]
)
def test_a_refusal_cites_nothing(text: str) -> None:
    assert read_answer(text).citations == ()


@pytest.mark.parametrize(
    "text",
    [
        "", "words", "[1]", "null", '{"a": 1}', '{"citations": 3}', '{"citations": {}}', '{"citations": [1]}',
        '{"citations": [{"doc": "a.md"}]}', '{"citations": [{"doc": "a.md", "quote": " "}]}', '{"citations": [',
        '{"citations": ' + "[" * 100_000, '{"x": ' + "9" * 10_000 + "}",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told(text: str) -> None:
    with pytest.raises(DataError) as error:
        read_answer(text)
    assert error.value.hint


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ({"line_start": "9"}, "ok"),
        ({"line_start": " ９ ", "line_end": 9.0}, "ok"),
        ({"line_start": "8"}, "moved"),
        ({"page": "3"}, "moved"),
        ({"page": "", "section": "", "heading": None}, "ok"),
        ({"section": 6}, "ok"),
        ({"section": 1}, "moved"),
        ({"section": "6.3.2", "heading": "Wind"}, "ok"),
        ({"section": "6.3.2", "heading": "Rain"}, "moved"),
    ],
)
def test_what_is_claimed_in_another_form_is_checked_as_well(folder: Path, claim: dict[str, Any], status: str) -> None:
    assert one(folder, quote=WIND, **claim).status == status


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("page", {"page": 2.5}),
        ("page", {"page": "p. 3"}),
        ("page", {"page": True}),
        ("page", {"page": 0}),
        ("page_end", {"page_end": 3}),
        ("line_start", {"line_start": [9]}),
        ("line_start", {"line_start": "9" * 5000}),
        ("line_end", {"line_end": "nine"}),
        ("section", {"section": 6.3}),
        ("section", {"section": False}),
        ("heading", {"heading": ["a"]}),
        ("n", {"n": -1}),
    ],
)
def test_a_claim_that_cannot_be_checked_is_an_error_that_names_it(name: str, claim: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=f"`{name}`"):
        read_answer(json.dumps({"citations": [{"doc": "manual.md", "quote": WIND, **claim}]}))


def test_lines_of_a_document_without_lines_are_not_as_cited() -> None:
    cited = {"doc": PDF, "quote": "It is tested on the first Wednesday of each month at 08:00.", "line_start": 3}
    found = verify(json.dumps({"citations": [cited]}), Shelf.of_folder(ROOT)).citations[0]
    assert (found.status, found.message) == ("moved", "the document has no lines")


MARKED = [
    ("The vent opens [1]. It closes [7].", [7]),
    ("天窗会打开[1]。大风时关闭[7]。", [7]),
    ("天窗会打开【1】。大风时关闭【7】［8］。", [7, 8]),
    ("The vent opens [1][7] and [12] closes [1, 3].", [3, 7, 12]),
    ("[7] says so [1].", [7]),
    ("See the note[^7] [1].", []),
    ("The vent opens [1]; a footnote [^7].\n\n[^7]: Only by day.", []),
    ("The vent opens [1]. Call arr[7] or `x [7]` or <code>[7]</code>.", []),
    ("The vent opens [1].\n\n```c\nint a = [7];\n```\n\n    b = [7]\n", []),
    ("The vent opens [1]. [7](https://a.b) ![7](x.png) [7][ref] [9].\n\n[9]: https://a.b", []),
    ("The vent opens [1] at [20, 30] degrees in [2024].", []),
    ("开窗 [1]，见表 `[7]`。\n\n~~~\n[7]\n~~~", []),
]


@pytest.mark.parametrize(("text", "strays"), MARKED)
def test_a_mark_without_a_source_is_missing_and_what_only_looks_like_one_is_not(
    folder: Path, text: str, strays: list[int]
) -> None:
    quoted = [{"doc": "manual.md", "quote": WIND}]
    answers = [json.dumps({"answer": text, "citations": quoted}), f"{text}\n\n[1] manual.md · §6.3.2\n    {WIND}\n"]
    for answer in answers:
        found = verify(answer, Shelf.of_folder(folder))
        assert [(one.cited.n, one.status) for one in found.citations] == [(1, "ok"), *((n, "missing") for n in strays)]
        assert found.ok == (not strays)


def test_marks_in_a_quote_are_the_documents_own(folder: Path) -> None:
    write(folder, "paper.md", "# Paper\n\nIt was measured before [7].\n")
    quote = "It was measured before [7]."
    for answer in (
        json.dumps({"answer": f"{quote} [1]", "citations": [{"doc": "paper.md", "quote": quote}]}),
        f"{quote} [1]\n\n[1] paper.md · Paper\n    {quote}\n",
    ):
        assert verify(answer, Shelf.of_folder(folder)).ok
    other = f"{quote} [1] Others say no [8].\n\n[1] paper.md · Paper\n    {quote}\n[8] paper.md · Paper\n"
    assert [one.cited.n for one in verify(other, Shelf.of_folder(folder)).citations] == [1, 8]


def test_a_source_that_nothing_cites_is_in_order(folder: Path) -> None:
    answer = {"answer": "Yes [2].", "citations": [{"n": n, "doc": "manual.md", "quote": WIND} for n in ("1", 2)]}
    assert verify(json.dumps(answer), Shelf.of_folder(folder)).ok
    with pytest.raises(DataError, match="`answer`"):
        read_answer(json.dumps({"answer": ["Yes [2]."], "citations": []}))
