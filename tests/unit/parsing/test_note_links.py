"""Links in Markdown, as notes have them."""

import pytest

from ctxcli.parsing.note_links import links


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[[a]]", [("wiki", "a", "", "a")]),
        ("[[a#h|b]]", [("wiki", "a", "h", "b")]),
        ("| [[a\\|b]] |", [("wiki", "a", "", "b")]),
        ("![[a.png]]", [("embed", "a.png", "", "a.png")]),
        ("[[ 中文 笔记 ]]", [("wiki", "中文 笔记", "", "中文 笔记")]),
        ("[[#here]]", []),
        ("[t](a%20b.md#x)", [("markdown", "a b.md", "x", "t")]),
        ("[t](<a b.md>)", [("markdown", "a b.md", "", "t")]),
        ('[t](a.md "title")', [("markdown", "a.md", "", "t")]),
        ("[t](a(1).md)", [("markdown", "a(1).md", "", "t")]),
        ("![t](a.png)", [("embed", "a.png", "", "t")]),
        ("[t](https://x.org) [m](mailto:a@b) [s](//x) [h](#top)", []),
        ("[t][r]\n\n[r]: a.md", [("markdown", "a.md", "", "r")]),
        ("`[[a]]` ``[[b`]]``", []),
        ("```\n[[a]]\n```\n[[b]]", [("wiki", "b", "", "b")]),
        ("~~~\n[[a]]\n```\n[[c]]\n~~~\n[[b]]", [("wiki", "b", "", "b")]),
        ("```\n[[a]] never closed", []),
        ("<!-- [[a]] --> %%[[b]]%% [[c]]", [("wiki", "c", "", "c")]),
        ("[[a]] [[b]]", [("wiki", "a", "", "a"), ("wiki", "b", "", "b")]),
        ("[x] [ ] [[]] [[ ]]", []),
    ],
)
def test_links_are_found_and_what_is_none_is_not(text: str, wanted: list[tuple[str, str, str, str]]) -> None:
    assert [(one.kind, one.target, one.heading, one.text) for one in links(text)] == wanted


def test_links_know_their_line_and_place() -> None:
    text = "---\ntitle: x\n---\n\n[[a]]\n\n`x` [[b]]\n"
    found = links(text, text.index("\n\n"))
    assert [(one.line, text[one.start : one.end]) for one in found] == [(5, "[[a]]"), (7, "[[b]]")]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "![" * 20_000,
        "[[" * 20_000,
        "`" * 20_001,
        "[a](" * 10_000,
        "<!--" * 10_000,
        "` " * 20_000,
        "%%" * 9_999,
    ],
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    assert links(text) == ()


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_other_systems_end_code_and_count_lines(newline: str) -> None:
    lines = [
        "前",
        "```",
        "[[code]]",
        "```",
        "[[真]]",
        "",
        "~~~py",
        "[[no]]",
        "~~~",
        "[x](b%20c.md)",
        "",
        "[[last|别名]]",
    ]
    text = newline.join(lines)
    found = [(one.target, one.line, text[one.start : one.end]) for one in links(text)]
    assert found == [("真", 5, "[[真]]"), ("b c.md", 10, "[x](b%20c.md)"), ("last", 12, "[[last|别名]]")]
