"""Where sentences end."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("你好。世界！“什么？”他说。", ["你好。", "世界！", "“什么？”", "他说。"]),
        ("第一；第二；第三。", ["第一；", "第二；", "第三。"]),
        ("等等……好吧。", ["等等……", "好吧。"]),
        ("中文。English. 中文", ["中文。", "English.", "中文"]),
        ("Dr. Smith met Mr. Jones. They left.", ["Dr. Smith met Mr. Jones.", "They left."]),
        ("See e.g. Fig. 3 in Sec. B.4. Then stop.", ["See e.g. Fig. 3 in Sec. B.4.", "Then stop."]),
        ("J. R. Tolkien wrote. He did.", ["J. R. Tolkien wrote.", "He did."]),
        ("1. Do this first", ["1. Do this first"]),
        ("Pi is 3.14 in v1.2.3 today. Next", ["Pi is 3.14 in v1.2.3 today.", "Next"]),
        ("He said “yes.” Then he left.", ["He said “yes.”", "Then he left."]),
        ("A paragraph\n\nanother one", ["A paragraph", "another one"]),
        ("A paragraph\n \t\nanother one", ["A paragraph", "another one"]),
        ("file.txt is here", ["file.txt is here"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_long_chinese_text_without_blank_lines_is_kept_whole() -> None:
    text = "连接池的大小由参数决定，" * 125 + "a.b" + "连接池的大小由参数决定。" * 375
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) > 300
    assert max(end - start for start, end in spans) <= 1_250


PIECES = st.sampled_from(
    ["字", "word ", "。", "！", "? ", ". ", "\n", "\n\n", "”", "Dr. ", "e.g. ", "，", "x" * 400, "长" * 700, "3.5", "…"]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=300))


@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_sentences_tile_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert all(one[1] == two[0] for one, two in pairwise(spans))


WHOLE = ["😀", "👨‍👩‍👧", "e\u0301", "❤\ufe0f", "👍🏽", "5\ufe0f\u20e3", "🇨🇳", "नि", "字"]


@given(
    pieces=st.lists(st.sampled_from(WHOLE), min_size=1, max_size=6),
    times=st.integers(300, 900),
    lead=st.integers(0, 9),
)
@settings(max_examples=80, deadline=None)
def test_what_is_drawn_as_one_is_never_cut(pieces: list[str], times: int, lead: int) -> None:
    text = "a" * lead + "".join(pieces) * times
    for start, _ in sentence_spans(text)[1:]:
        assert unicodedata.category(text[start])[0] != "M"
        assert text[start] not in "\u200d\ufe0f\u20e3"
        assert text[start - 1] != "\u200d"
        assert not "\U0001f3fb" <= text[start] <= "\U0001f3ff"
