"""Front matter found, read, changed and mended."""

import pytest

from ctxcli.parsing import front_matter, front_matter_mend
from ctxcli.parsing.front_matter_patch import CannotPatchError, patch


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("---\ntitle: t\n---\nx", "title: t\n"),
        ("---\r\ntitle: t\r\n---\r\nx\r\n", "title: t\r\n"),
        ("\ufeff---\ntitle: t\n---\n", "title: t\n"),
        ("---  \ntitle: t\n---\t\nx", "title: t\n"),
        ("---\ndesc: a --- b\n---", "desc: a --- b\n"),
        ("---\n---\nx", ""),
        ("---\ntitle: t\n...\nx", "title: t\n"),
        ("---\na: |\n  ---\n  b\n---\nx\n---\n", "a: |\n  ---\n  b\n"),
        ("---\n# only a comment\n---\n", "# only a comment\n"),
        ("---\n{a: 1}\n---\n", "{a: 1}\n"),
        ("---\n\nA rule, then text.\n\n---\n", None),
        ("----\na: b\n---\n", None),
        (" ---\na: b\n---\n", None),
        ("text\n---\na: b\n---\n", None),
        ("---", None),
        ("---\n", None),
        ("", None),
    ],
)
def test_the_block_is_found(text: str, block: str | None) -> None:
    span = front_matter.find(text)
    assert (text[span.block : span.block_end] if span.present else None) == block


@pytest.mark.parametrize(
    ("block", "changes", "wanted"),
    [
        ("title: a # why\n", {"title": "b"}, "title: b # why\n"),
        ("title: 'a'\nz: 1\n", {"title": "b: c"}, 'title: "b: c"\nz: 1\n'),
        ("title:\nz: 1\n", {"title": "b"}, "title: b\nz: 1\n"),
        ("title:   # none yet\n", {"title": "b"}, "title: b   # none yet\n"),
        ("title: >\n  folded\n  text\n\n# c\nz: 1\n", {"title": "b"}, "title: b\n\n# c\nz: 1\n"),
        ("title: two\n  lines\nz: 1\n", {"title": "b"}, "title: b\nz: 1\n"),
        ('"title": a\n', {"title": "b"}, '"title": b\n'),
        ("tags: [a, 'b' , c] # t\n", {"tags": ("a", "c", "d")}, "tags: [a , c, d] # t\n"),
        ("tags: [a, b]\n", {"tags": ("b",)}, "tags: [b]\n"),
        ("tags: [a, b]\n", {"tags": ("c",)}, "tags: [c]\n"),
        ("tags: [a,]\n", {"tags": ("a", "b")}, "tags: [a, b,]\n"),
        ("tags:\n- a # x\n# mid\n- b\nz: 1\n", {"tags": ("a", "b", "c")}, "tags:\n- a # x\n# mid\n- b\n- c\nz: 1\n"),
        ("tags:\n  - a\n  - b\n", {"tags": ("b",)}, "tags:\n  - b\n"),
        ("tags:\n  - a\n  - b\nz: 1\n", {"tags": ()}, "tags: []\nz: 1\n"),
        ("tags: a, b\n", {"tags": ("a", "b", "c")}, "tags: [a, b, c]\n"),
        ("tags: []\n", {"tags": ("yes",)}, 'tags: ["yes"]\n'),
        ("a: 1\n", {"title": "x"}, "a: 1\ntitle: x\n"),
        ("", {"title": "x"}, "title: x\n"),
        ("  a: 1\n", {"title": "x"}, "  a: 1\n  title: x\n"),
        ("a: |+\n  keep\n\n", {"title": "x"}, "a: |+\n  keep\n\ntitle: x\n"),
        ("t: 甲\u2028乙\n", {"title": "丙"}, "t: 甲\u2028乙\ntitle: 丙\n"),
        ("title: |\n  a\u2029\u0085b\nt: 'c\u2028'\n", {"title": "x"}, "title: x\nt: 'c\u2028'\n"),
        ("tags: [甲, ~, b, null]\n", {"tags": ("甲", "c")}, "tags: [甲, ~, null, c]\n"),
        ("tags:\n- a\n-\n- None\n- ''\n", {"tags": ("a", "乙")}, "tags:\n- a\n-\n- None\n- ''\n- 乙\n"),
        ("tags: [a, 'a', b]\n", {"tags": ("a", "b", "c")}, "tags: [a, 'a', b, c]\n"),
    ],
)
def test_a_change_touches_only_its_value(block: str, changes: dict[str, str | tuple[str, ...]], wanted: str) -> None:
    assert patch(block, changes) == wanted
    assert patch(block.replace("\n", "\r\n"), changes, newline="\r\n") == wanted.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "block", ["title: &a x\nb: *a\n", "{title: x}\n", "title: a\ntitle: b\n", "title: [\n", "- a\n"]
)
def test_what_cannot_be_changed_safely_is_refused(block: str) -> None:
    with pytest.raises(CannotPatchError):
        patch(block, {"title": "new", "other": "x"})


@pytest.mark.parametrize(
    ("block", "line"),
    [("tags: {甲: 乙}\n", 0), ("a: 1\ntags: [a, {b: c}]\n", 1), ("tags:\n- a: b\n", 1), ("tags:\n- [x]\n", 1)],
)
@pytest.mark.parametrize("wanted", [("x",), ()])
def test_a_value_that_is_no_list_of_tags_is_never_written_over(block: str, line: int, wanted: tuple[str, ...]) -> None:
    with pytest.raises(CannotPatchError) as caught:
        patch(block, {"tags": wanted})
    assert caught.value.line == line


@pytest.mark.parametrize("value", ["[x, y]", "{x: 标题}", "\n- x"])
def test_a_value_that_is_no_title_is_never_written_over(value: str) -> None:
    with pytest.raises(CannotPatchError):
        patch(f"title: {value}\n", {"title": "z"})


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085"])
@pytest.mark.parametrize("form", ["{}", "'{}'", '"{}"'])
def test_a_line_separator_ends_no_line(char: str, form: str) -> None:
    value = f"甲{char}b"
    text = f"---\ntitle: {form.format(value)}\nx: a\n---\nbody"
    found = front_matter.read(text, front_matter.find(text))
    assert (found.problem, found.texts) == (None, {"title": value, "x": "a"})
    broken = text.replace("x: a", "x: a: b")
    assert front_matter_mend.mend(broken) == text.replace("x: a", 'x: "a: b"')
    problem = front_matter.read(broken, front_matter.find(broken)).problem
    assert problem is not None and problem.line == 3


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("---\ntitle: a: b\n---\nx", '---\ntitle: "a: b"\n---\nx'),
        ("---\r\ntitle: a: b\r\nz: 1\r\n---\r\n", '---\r\ntitle: "a: b"\r\nz: 1\r\n---\r\n'),
        ("---\ntitle: [draft] x\n---\n", '---\ntitle: "[draft] x"\n---\n'),
        ("---\ntitle: 'it's'\n---\n", '---\ntitle: "it\'s"\n---\n'),
        ("---\ntitle: @x\ntags:\n- %y\n---\n", '---\ntitle: "@x"\ntags:\n- "%y"\n---\n'),
        ("---\ntitle: t\ntags:\n\t- a\n---\n", "---\ntitle: t\ntags:\n  - a\n---\n"),
        ("---\na: 1\na: 2\n---\n", "---\na: 1\n# a: 2\n---\n"),
        ("---\na: 1\n\ntext", "---\na: 1\n---\n\ntext"),
        ("---\ntitle: {{title}} x\n---\n", '---\ntitle: "{{title}} x"\n---\n'),
    ],
)
def test_a_mend_quotes_what_is_wrong_and_nothing_else(text: str, wanted: str) -> None:
    assert front_matter_mend.mend(text) == wanted


def test_no_mend_is_proposed_where_none_is_sure() -> None:
    assert front_matter_mend.mend("no front matter") is None
    assert front_matter_mend.mend("---\na: [1,\n  2\nb: 3\n---\n") is None


def test_a_problem_names_the_line_of_the_file() -> None:
    for text, line in (
        ("---\na: 1\nb: c: d\n---\n", 3),
        ("---\r\na: 1\r\nb: c: d\r\n---\r\n", 3),
        ("---\na: 1\n", 1),
        ("---\na: \x07\n---\n", 2),
    ):
        problem = front_matter.read(text, front_matter.find(text)).problem
        assert problem is not None and problem.line == line
