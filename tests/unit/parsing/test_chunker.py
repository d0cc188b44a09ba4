"""Chunks of documents as people write them."""

import pytest

from ctxcli.model.document import Chunk, Document
from ctxcli.parsing import code, markdown, plain
from ctxcli.parsing.chunker import chunk


def cut(text: str) -> tuple[Document, list[str]]:
    document = markdown.parse(text.encode(), name="a.md")
    return document, [document.text[one.start : one.end] for one in chunk(document)]


def holding(chunks: list[str], words: str) -> str:
    [found] = [one for one in chunks if words in one]
    return found


ENGLISH = "The controller opens the vent when the air is warmer than the limit for ten minutes. "
CHINESE = "当空气温度连续十分钟高于上限时，控制器打开天窗。"


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_small_sections_are_merged_below_one_top_section(sentence: str) -> None:
    text = "# 手册 Manual\n\n" + "".join(f"## {n}.1 Part\n\n{sentence}\n\n" for n in range(3))
    assert len(cut(text)[1]) == 1


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_top_level_sections_are_never_merged(sentence: str) -> None:
    text = "".join(f"# {n} Chapter\n\n{sentence}\n\n" for n in range(1, 4))
    assert len(cut(text)[1]) == 3


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_long_section_is_cut_between_sentences(sentence: str) -> None:
    _, chunks = cut("# One\n\n" + sentence * 60 + "\n")
    assert len(chunks) > 2
    assert all(one.rstrip().endswith(sentence.rstrip()[-1]) for one in chunks)


def test_paragraphs_are_kept_whole_where_they_fit() -> None:
    paragraphs = [f"Paragraph {n}. " + ENGLISH * 4 for n in range(12)]
    _, chunks = cut("# One\n\n" + "\n\n".join(paragraphs) + "\n")
    for paragraph in paragraphs:
        assert paragraph.strip() in holding(chunks, paragraph[:12])


def test_a_fence_is_kept_whole_with_what_looks_like_headings() -> None:
    fence = "```sh\n# not a heading\n" + "make all # build\n" * 20 + "```"
    _, chunks = cut(f"# One\n\n{ENGLISH * 8}\n\n{fence}\n\n{ENGLISH * 8}\n")
    assert fence in holding(chunks, "# not a heading")


def test_a_fence_in_a_fence_is_kept_whole() -> None:
    fence = "````md\n```\n# inner\n```\n````"
    tilde = "~~~ruby\n# x\n```\n~~~"
    document, chunks = cut(f"# One\n\n{fence}\n\n{tilde}\n")
    assert [section.title for section in document.sections] == ["One"]
    assert fence in chunks[0] and tilde in chunks[0]


def test_a_long_fence_is_cut_between_lines() -> None:
    lines = [f"value_{n} = compute({n})  # 第 {n} 行" for n in range(200)]
    _, chunks = cut("# One\n\n```py\n" + "\n".join(lines) + "\n```\n")
    assert len(chunks) > 3
    assert all(line in "\n".join(chunks) for line in lines)
    assert all(one.split("\n")[0] in {*lines, "# One"} for one in chunks)


def test_no_row_of_a_long_table_is_cut_and_each_chunk_knows_the_columns() -> None:
    from ctxcli.model.stored import StoredChunk
    from ctxcli.services.prepare import indexed_chunks
    from ctxcli.text.analyzer import Analyzer

    rows = [f"| sensor-{n} | 传感器 {n} | {n} °C |" for n in range(200)]
    document, chunks = cut(
        "# One\n\nTable 1: limits\n\n| Name | 名称 | Limit |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    assert all(row in "\n".join(chunks).split("\n") for row in rows)
    stored = [StoredChunk("x:0", c.text, c.terms, c.meta) for c in indexed_chunks(document, Analyzer())]
    assert len(stored) > 3
    assert stored[0].column_names == ""
    assert {one.column_names.split("\n")[0] for one in stored[1:]} == {"| Name | 名称 | Limit |"}
    assert all("limit" in one.terms.split() for one in stored)


def test_list_items_are_not_cut() -> None:
    items = [f"- Item {n}: {ENGLISH}\n  More of item {n}: {ENGLISH}" for n in range(30)]
    _, chunks = cut("# One\n\n" + "\n".join(items) + "\n")
    for n, item in enumerate(items):
        assert item.split("\n")[1] in holding(chunks, f"- Item {n}:")


def test_a_heading_stays_with_its_text_also_below_other_headings() -> None:
    text = f"# One\n\n{ENGLISH * 11}\n\n## Two\n\n### 2.1 Deep\n\n#### Deeper\n\n{ENGLISH * 9}\n"
    _, chunks = cut(text)
    assert "#### Deeper" in holding(chunks, "## Two\n")
    assert ENGLISH.strip() in holding(chunks, "## Two\n").split("Deeper")[1]


def test_blank_lines_at_the_start_are_no_chunk() -> None:
    _, chunks = cut("\n\n\n# One\n\ntext\n")
    assert len(chunks) == 1


@pytest.mark.parametrize(
    "text", ["😀" * 5000, "👨‍👩‍👧" * 1000, "e\u0301" * 5000, "字" * 6000, "🇨🇳" * 2000, "字" + "\u0302" * 9000]
)
def test_a_text_without_any_stop_is_cut_between_characters(text: str) -> None:
    _, chunks = cut(text)
    assert "".join(chunks) == text
    assert len(chunks) > 1
    assert all(one[0] not in "\u200d\u0301\U0001f1f3" for one in chunks)
    assert max(map(len, chunks)) < 1300


def test_one_dot_in_a_chinese_text_loses_nothing() -> None:
    text = "连接池的大小由参数决定" * 136 + "a.b" + "连接池的大小由参数决定" * 409
    _, chunks = cut(text)
    assert "".join(chunks) == text
    assert len(chunks) >= 5


@pytest.mark.parametrize("line", ["word and 字 ", "没有标点的一行", "x", "# "])
def test_a_line_of_20_megabytes_is_cut(line: str) -> None:
    document = plain.parse((line * (20_000_000 // len(line.encode()))).encode(), name="a.txt")
    chunks = chunk(document)
    assert max(one.end - one.start for one in chunks) <= 2_000
    assert chunks[-1].end == len(document.text)


def test_a_heading_of_any_length_is_cut() -> None:
    document = markdown.parse(("# " + "heading " * 100_000).encode(), name="a.md")
    assert max(one.end - one.start for one in chunk(document)) <= 2_000


def test_an_empty_document_has_no_chunk() -> None:
    assert chunk(Document("md", "x", "")) == ()


def test_a_document_without_blocks_is_prose() -> None:
    assert [unit.kind for one in chunk(Document("md", "x", "One. Two.")) for unit in one.units] == ["prose", "prose"]


def test_lines_are_those_of_the_file() -> None:
    text = "# One\n\n" + "\n\n".join(f"Line {n}. {ENGLISH * 3}" for n in range(60))
    document = markdown.parse(text.encode(), name="a.md")
    lines = text.split("\n")
    for one in chunk(document):
        assert one.line_start
        assert lines[one.line_start - 1].startswith(document.text[one.start :].split("\n")[0])


def test_a_chunk_over_pages_has_a_span_for_each() -> None:
    text = "First page. " * 5 + "Second page. " * 5
    second = text.index("Second")
    document = Document("pdf", "x", text, page_starts=(0, second), page_labels=("i", "1"))
    [one] = chunk(document)
    assert isinstance(one, Chunk)
    assert [(span.start, span.page) for span in one.spans] == [(0, 1), (second, 2)]
    assert one.line_start is None


def test_a_function_stays_whole() -> None:
    source = "".join(f"def f{n}(a, b):\n    '''Add.'''\n    return a + b + {n}\n\n\n" for n in range(60))
    document = code.parse(source.encode(), name="a.py")
    for one in chunk(document):
        assert document.text[one.start : one.end].startswith("def ")
