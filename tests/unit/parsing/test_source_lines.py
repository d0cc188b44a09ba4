"""HTML is cited by the lines of the file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.model.stored import StoredChunk
from ctxcli.parsing import html
from ctxcli.services.prepare import indexed_chunks
from tests.unit.retrieval.made import ANALYZER

ROOT = Path(__file__).parents[3]
PAGE = """<!DOCTYPE html>
<html><head><title>Pump</title><style>p { color: red }</style>
<script>
if (a < b) document.write("<p>The pump</p>")
</script></head>
<body><nav><a href="x">The pump starts</a></nav>
<!-- The pump
stops -->
<h1
  id="pump">The pump</h1>
<p>The pump starts
at <b>six</b> &amp; stops
at nine.</p>
<ol><li>Open the <a title="a > b"
href="v">valve</a>.</li>
<li>Wait.</li></ol>
<table><tr><th>Name</th><th>Limit</th></tr>

<tr><td>压力</td>
<td>4 巴</td></tr></table>
<pre>
first = 1

second = 2
</pre>
<p>The pump</p></body></html>
"""


def lines(source: str) -> list[tuple[str, int]]:
    """The text from mark to mark, and its line."""
    document = html.parse(source.encode(), name="a.html")
    ends = [offset for offset, _ in document.line_marks[1:]] + [len(document.text)]
    return [
        (document.text[start:end].strip(), line) for (start, line), end in zip(document.line_marks, ends, strict=True)
    ]


def test_each_piece_of_text_has_its_line() -> None:
    assert lines(PAGE) == [
        ("The pump", 10), ("The pump starts", 11), ("at six & stops", 12), ("at nine.", 13), ("1. Open the", 14),
        ("valve.", 15), ("2. Wait.", 16), ("Name | Limit", 17), ("压力 |", 19), ("4 巴", 20), ("first = 1", 22),
        ("second = 2", 24), ("The pump", 26),
    ]  # fmt: skip


def test_a_quote_is_cited_by_its_lines() -> None:
    document = html.parse(PAGE.encode(), name="a.html")
    [stored] = indexed_chunks(document, ANALYZER)
    chunk = StoredChunk("d:0", stored.text, stored.terms, stored.meta)
    for quote, first, last in (("at six & stops", 12, 12), ("The pump starts at six & stops at nine.", 11, 13),
                               ("first = 1\n\nsecond = 2", 22, 24), ("压力 | 4 巴", 19, 20)):  # fmt: skip
        at = chunk.text.index(quote)
        place = chunk.place(at, at + len(quote))
        assert (place.line_start, place.line_end) == (first, last), quote


def test_text_that_is_not_found_has_no_line() -> None:
    document = html.parse(b"<p>one</p><p>t&#x77;o</p><p>a<sup>2</sup>3 x<sup>2</sup></p>", name="a.html")
    assert {line for _, line in document.line_marks} <= {0, 1}


WORD = st.sampled_from(["pump", "水泵", "a<b", "x & y", "5|6", "^", "-", "end.", "1."])
BLOCK = st.lists(WORD, min_size=1, max_size=6)


@given(blocks=st.lists(BLOCK, min_size=1, max_size=8), breaks=st.lists(st.integers(0, 3), min_size=60, max_size=60),
       tag=st.sampled_from(["p", "div", "li", "h2", "pre"]))  # fmt: skip
@settings(max_examples=80)
def test_the_line_of_a_block_is_where_its_first_word_stands(
    blocks: list[list[str]], breaks: list[int], tag: str
) -> None:
    gaps = iter(breaks)
    source, expected = "", []
    for number, words in enumerate(blocks):
        marked = [f"w{number}x", *words]
        source += "\n" * next(gaps) + f"<{tag}>"
        expected.append((marked[0], source.count("\n") + 1))
        written = [word.replace("&", "&amp;").replace("<", "&lt;") for word in marked]
        source += (
            written[0] + "".join(("\n" * next(gaps) or " ") + f"<i>{word}</i>" for word in written[1:]) + f"</{tag}>"
        )
    document = html.parse(f"<body>{source}</body>".encode(), name="a.html")
    marks = dict(document.line_marks)
    for word, line in expected:
        block = next(block for block in document.blocks if word in document.text[block.start : block.end])
        assert marks[block.start] == line


@pytest.mark.parametrize("path", sorted((ROOT / "sample_kb").rglob("*.html")), ids=lambda path: path.name)
def test_real_pages_have_a_line_for_every_block(path: Path) -> None:
    document = html.parse(path.read_bytes(), name=path.name)
    source = path.read_text("utf-8").split("\n")
    assert document.line_marks
    assert all(0 < line <= len(source) for _, line in document.line_marks)
    assert [offset for offset, _ in document.line_marks] == sorted({offset for offset, _ in document.line_marks})
