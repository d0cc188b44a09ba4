"""Lines and tables as they leave the command line."""

import io

import pytest

from ctxcli.cli.output import visible
from ctxcli.cli.screen import Screen


def table(rows: list[tuple[object, ...]]) -> list[str]:
    stream = io.StringIO()
    Screen(stream).table(("title", "tags"), rows)
    return stream.getvalue().splitlines()


def test_one_long_cell_does_not_push_the_columns_of_other_rows() -> None:
    long = "长" * 60
    assert table([("short", "a"), (long, "b"), ("中等", "c")]) == [
        "TITLE  TAGS",
        "short  a",
        f"{long}  b",
        "中等   c",
    ]


def test_cells_of_common_length_are_aligned() -> None:
    assert table([("a" * 40, "x"), ("b", "y")])[1:] == ["a" * 40 + "  x", "b" + " " * 41 + "y"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("周报\u2067x\u2069", "周报\\u2067x\\u2069"),
        ("a\u2028b\u2029\x85", "a\\u2028b\\u2029\\x85"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("👨‍👩‍👧 é שלום\u200f 中文\u3000", "👨‍👩‍👧 é שלום\u200f 中文\u3000"),
    ],
)
def test_what_could_deceive_is_shown_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
