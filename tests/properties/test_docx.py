"""Whatever a Word file holds, it is read or refused with a reason."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import ParseError
from ctxcli.parsing.docx import parse
from ctxcli.parsing.docx_numbering import format_number
from ctxcli.parsing.pdf.numbers import han_value

NUMBERED = (Path(__file__).parents[1] / "fixtures" / "docx" / "numbered-en.docx").read_bytes()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(NUMBERED) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_flipped_bytes_give_a_document_or_a_parse_error(flips: list[tuple[int, int]]) -> None:
    data = bytearray(NUMBERED)
    for place, value in flips:
        data[place] = value
    try:
        document = parse(bytes(data), name="x.docx")
    except ParseError as error:
        assert error.code
        return
    assert all(one.end <= two.start for one, two in zip(document.blocks, document.blocks[1:], strict=False))


@given(st.integers(1, 9_999))
def test_chinese_numbers_are_read_as_they_are_written(value: int) -> None:
    assert han_value(format_number(value, "chineseCountingThousand")) == value
