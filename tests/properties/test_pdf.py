"""Whatever the bytes are, a PDF is read or refused with a reason."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import ParseError
from ctxcli.parsing.pdf import parse
from ctxcli.parsing.pdf.lines import clean, joint

MANUAL = (Path(__file__).parents[1] / "fixtures" / "pdf" / "manual-en.pdf").read_bytes()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(MANUAL) - 1), st.integers(0, 255)), min_size=1, max_size=60))
def test_flipped_bytes_give_a_document_or_a_parse_error(flips: list[tuple[int, int]]) -> None:
    data = bytearray(MANUAL)
    for place, value in flips:
        data[place] = value
    try:
        document = parse(bytes(data), name="x.pdf")
    except ParseError as error:
        assert error.code
        return
    assert list(document.page_starts) == sorted(document.page_starts)
    assert all(one.end <= two.start for one, two in zip(document.blocks, document.blocks[1:], strict=False))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, len(MANUAL)))
def test_a_file_cut_anywhere_gives_a_document_or_a_parse_error(length: int) -> None:
    try:
        parse(MANUAL[:length], name="x.pdf")
    except ParseError as error:
        assert error.code in {"empty", "damaged", "not_a_pdf", "no_text_layer"}


@given(st.text())
def test_cleaning_is_stable_and_keeps_no_control_characters(text: str) -> None:
    once = clean(text)
    assert clean(once) == once or "  " in once
    assert not any(ord(character) < 32 for character in once)


@given(st.text(alphabet="ab-c 中文，。", max_size=8), st.text(alphabet="ab-c 中文，。", max_size=8), st.booleans())
def test_joining_loses_nothing_but_a_hyphen(before: str, after: str, hyphen: bool) -> None:
    left, between = joint(before, after, hyphen=hyphen, words=frozenset())
    assert left in {before, before.removesuffix("-")}
    assert between in {"", " ", "-"}
