"""Patterns that choose documents."""

import unicodedata

import pytest

from ctxcli.storage.doc_glob import doc_matcher


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.md", "docs/a.md", True),
        ("*.md", "docs/a.mdx", False),
        ("a.md", "docs/deep/a.md", True),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/deep/a.md", False),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/very/deep/a.md", True),
        ("**/deep/*", "docs/very/deep/a.md", True),
        ("docs", "docs/deep/a.md", True),
        ("docs/", "docs/deep/a.md", True),
        ("a.md/", "docs/a.md", False),
        ("docs/deep", "docs/deeper/a.md", False),
        ("./docs/a.md", "docs/a.md", True),
        ("/srv/x/*.pdf", "/srv/x/a.pdf", True),
        ("!*.pdf", "a.md", True),
        ("!*.pdf", "a.pdf", False),
        ("#1.md", "docs/#1.md", True),
        ("[draft] a.md", "[draft] a.md", True),
        ("制度/*.docx", "制度/考勤.docx", True),
        ("*勤*", "制度/考勤.docx", True),
        ("", "a.md", False),
    ],
)
def test_patterns_read_as_in_gitignore(glob: str, path: str, expected: bool) -> None:
    assert doc_matcher(glob)(path) is expected


def test_case_counts_only_where_the_pattern_has_capitals() -> None:
    assert doc_matcher("readme*")("README.md")
    assert doc_matcher("README*")("README.md")
    assert not doc_matcher("README*")("readme.md")


def test_composed_and_decomposed_letters_are_the_same() -> None:
    composed, decomposed = "docs/café.md", unicodedata.normalize("NFD", "docs/café.md")
    assert composed != decomposed
    assert doc_matcher(composed)(decomposed)
    assert doc_matcher(decomposed)(composed)
    assert doc_matcher("caf?.md")(decomposed)
