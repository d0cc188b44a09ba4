"""File names for notes."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ctxcli.storage.note_names import candidates, file_stem


def test_names_are_readable() -> None:
    for title, wanted in (
        ("周报: 第3周", "周报 第3周"),
        ('a/b?<>:"\\|*.', "a b"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("Concept", "Concept"),
        ("...", "note"),
        ("  x  ", "x"),
        ("🎉", "🎉"),
        (".hidden", "hidden"),
        ("[[x]] #y ^z", "x y z"),
        ("a\nb", "a b"),
        ("", "note"),
        ("COM1", "_COM1"),
        ("com10", "com10"),
        ("nul note", "_nul note"),
    ):
        assert file_stem(title) == wanted


def test_long_names_are_cut_between_characters() -> None:
    assert file_stem("字" * 300) == "字" * 40
    assert file_stem("x" * 118 + "👨‍👩‍👧") == "x" * 118
    assert file_stem("word " * 60).endswith("word")
    assert not unicodedata.combining(file_stem("e\u0301" * 200)[-1])


@given(st.text(max_size=300))
def test_any_title_gives_a_name_that_every_platform_takes(title: str) -> None:
    stem = file_stem(title)
    assert 0 < len(stem.encode()) <= 121
    assert not set(stem) & set('/\\:*?"<>|#^[]\0\n\r\t')
    assert stem == stem.strip(". ") and not stem.startswith(".")
    assert file_stem(stem) == stem or stem.startswith("_")
    names = list(candidates(title, "01abcdefghijklmnop"))
    assert len(set(names)) == len(names) == 10
