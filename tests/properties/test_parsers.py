"""What holds for every parser of text, whatever the file."""

import io
import zipfile
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import code, email_message, epub, html, json_data, markdown, notebook, plain, rst, tabular
from ctxcli.parsing.formats import detect, parse
from ctxcli.text.encoding import decode, unify_newlines

PARSERS = [
    (markdown, "a.md"),
    (html, "a.html"),
    (rst, "a.rst"),
    (plain, "a.txt"),
    (code, "a.py"),
    (code, "a.js"),
    (code, "a.rb"),
    (code, "a.yaml"),
    (code, "a.sql"),
    (notebook, "a.ipynb"),
    (email_message, "a.eml"),
    (tabular, "a.csv"),
    (json_data, "a.json"),
]
IDS = [f"{module.__name__.rsplit('.', 1)[-1]}-{name}" for module, name in PARSERS]

PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## 标题",
            "\n",
            "\n\n",
            "- ",
            "  - ",
            "1. ",
            "> ",
            "```",
            "~~~",
            "    ",
            "\t",
            "| a | b |",
            "|---|---|",
            "===",
            "---",
        ),
        *(
            "***",
            ":::",
            "::: tip",
            "<div>",
            "</div>",
            "<!--",
            "-->",
            "<a id='x'></a>",
            "<h1>T</h1>",
            "[a]: http://x",
            "[^1]: n",
            "{#a}",
        ),
        *(
            "第六条　",
            "**第七条**　文",
            "第二章 总则",
            "Article 5 The",
            "§ 4 A",
            "1.2 Title",
            "一、概述",
            "（一）款",
            "TITLE HERE",
            "正文。",
        ),
        *(
            ".. note::",
            ".. code-block:: py",
            "::",
            "+---+---+",
            "| 1 | 2 |",
            "=== ===",
            ".. _x:",
            ":field: v",
            ">>> x",
            "\r\n",
            "\r",
        ),
        *(
            "def f():",
            "class A:",
            "    pass",
            "function f() {",
            "}",
            "{",
            "end",
            "/*",
            "*/",
            '"',
            "'",
            "a: 1",
            "CREATE TABLE t",
            "\\",
        ),
        *(
            "<p>",
            "<table><tr><td>x<td>y",
            "<pre>",
            "<li>",
            "&amp;",
            "&#0;",
            "\x00",
            "\x0c",
            "\u2028",
            "😀",
            "👨‍👩‍👧",
            "e\u0301",
            "\ufeff",
        ),
        *(
            '{"a": [1,\n',
            "]}",
            '"cells": [',
            "From: x",
            "Subject: =?utf-8?b?5rWL6K+V?=",
            "word",
            "字",
            " ",
            "import x from 'y'",
            ",",
        ),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))
QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_well_formed(document: Document) -> None:
    text = document.text
    text.encode()
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(text)
        assert text[at : block.start].strip() == "", "what no block holds is blank"
        assert text[block.start : block.end].strip()
        at = block.end
    assert text[at:].strip() == ""
    starts = [section.start for section in document.sections]
    assert all(one <= two for one, two in pairwise(starts))
    assert all(0 <= start < len(text) for start in starts)
    for section in document.sections:
        assert section.path
        assert "\n" not in section.heading
        assert section.heading.strip()
    assert document.title.strip()
    assert document.page_starts == ()


@pytest.mark.parametrize(("module", "name"), PARSERS, ids=IDS)
@given(text=TEXTS)
@QUICK
def test_any_text_gives_a_well_formed_document_or_a_parse_error(module: object, name: str, text: str) -> None:
    data = text.encode()
    try:
        document = module.parse(data, name=name)  # type: ignore[attr-defined]
    except ParseError as error:
        assert error.code
        assert error.hint
        return
    assert_well_formed(document)
    if document.has_lines:
        assert document.text == unify_newlines(decode(data).text), "each line of the text is a line of the file"


@given(data=st.binary(max_size=400), name=st.sampled_from([name for _, name in PARSERS] + ["a", "README", "a.epub"]))
@QUICK
def test_any_bytes_give_a_document_or_a_parse_error(data: bytes, name: str) -> None:
    kind = detect(data, name)
    if kind in {"pdf", "docx", "pptx", "xlsx"}:
        return
    try:
        document = parse(data, name=name)
    except ParseError as error:
        assert error.code
        assert error.hint
    else:
        assert_well_formed(document)


@given(data=st.binary(max_size=300))
@QUICK
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    decoded = decode(data)
    decoded.text.encode()
    assert decoded.encoding
    assert decoded.replaced >= 0


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff\x00\ufffd"), max_size=200))
@QUICK
def test_utf8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode()).text == text
    assert decode(text.encode("utf-8-sig")).text == text
    assert decode(b"\xff\xfe" + text.encode("utf-16-le")).text == text or text.startswith("\x00")


@given(bodies=st.lists(TEXTS, min_size=1, max_size=3), chapter=st.text(max_size=10))
@settings(QUICK, max_examples=40)
def test_any_book_gives_a_document_or_a_parse_error(bodies: list[str], chapter: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as book:
        book.writestr("META-INF/container.xml", '<container><rootfile full-path="p.opf"/></container>')
        items = "".join(f'<item id="i{n}" href="{n}.html"/>' for n in range(len(bodies)))
        refs = "".join(f'<itemref idref="i{n}"/>' for n in range(len(bodies)))
        book.writestr("p.opf", f"<package><manifest>{items}</manifest><spine>{refs}</spine></package>")
        for n, body in enumerate(bodies):
            book.writestr(f"{n}.html", body)
    try:
        assert_well_formed(epub.parse(buffer.getvalue(), name=f"{chapter}.epub"))
    except ParseError as error:
        assert error.code
