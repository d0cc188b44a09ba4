"""Which parser reads a file, and which files are refused."""

import io
import zipfile

import pytest

from ctxcli.model.errors import ParseError
from ctxcli.parsing.formats import EXTENSIONS, detect, is_candidate, parse, parser_version


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as box:
        for name in names:
            box.writestr(name, "application/epub+zip" if name == "mimetype" else "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"%PDF-1.7\n...", "report.txt", "pdf"),
        (b"junk\n\x00\x01%PDF-1.7\n...", "report.pdf", "pdf"),
        (b"<!DOCTYPE html><p>x", "report.pdf", "html"),
        (b"\xef\xbb\xbf\n<html lang='zh'>", "a.md", "html"),
        (b"<?xml version='1.0'?><html>", "a", "html"),
        (archive("[Content_Types].xml", "word/document.xml"), "a.bin", "docx"),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), "a.zip", "pptx"),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "a", "xlsx"),
        (archive("mimetype", "META-INF/container.xml"), "a.zip", "epub"),
        (archive("a.txt"), "a.docx", "binary"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500, "a.docx", "legacy_office"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a.md", "binary"),
        (b"\x7fELF\x02\x01\x01\0", "run", "binary"),
        (b"{\\rtf1\\ansi x}", "a.doc", "rtf"),
        (b"", "a.md", "empty"),
        (b"# x\n", "a.md", "markdown"),
        (b"# x\n", "A.MD", "markdown"),
        (b"x\n", "README", "plain"),
        (b"x\n", "LICENSE", "plain"),
        (b"all:\n", "Makefile", "code"),
        (b"FROM x\n", "Dockerfile", "code"),
        (b"x = 1\n", "a.py", "code"),
        (b"a,b\n", "a.tsv", "tabular"),
        (b"{}\n", "a.json", "json"),
        (b"words\n", "unknown.xyz", "plain"),
        (b"text about things\n", "a.pdf", "plain"),
        ("正文".encode("utf-16"), "a.txt", "plain"),
        ("正文，今天讨论连接池。".encode("gbk"), "a.txt", "plain"),
    ],
)
def test_content_outweighs_the_name(data: bytes, name: str, kind: str) -> None:
    assert detect(data, name) == kind


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy_office"),
        (b"{\\rtf1 x}", "unsupported"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data, name="a.docx")
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    "name", ["a.md", "b.pdf", "README", "LICENSE", "Makefile", "Dockerfile", "notes", "a.unknown", "a.py", "a.C"]
)
def test_documents_are_candidates(name: str) -> None:
    assert is_candidate(name)


@pytest.mark.parametrize(
    "name",
    ["a.png", "a.zip", "a.mp4", "a.woff2", "a.o", "a.pyc", ".DS_Store", ".hidden", "~$a.docx", "a.min.js", "a.txt~"],
)
def test_images_archives_and_leftovers_are_no_candidates(name: str) -> None:
    assert not is_candidate(name)


def test_every_format_has_a_parser_with_a_version() -> None:
    for kind in set(EXTENSIONS.values()):
        assert parser_version(kind).startswith(kind), kind
    assert parser_version("binary") == ""


def test_the_right_parser_reads_a_file() -> None:
    assert parse(b"# T\n", name="a.md").format == "markdown"
    assert parse(b"<html><h1>T</h1>", name="a.pdf").format == "html"
    assert parse("标题\n\n正文\n".encode("utf-16"), name="a.txt").title == "标题"


def test_an_empty_source_file_is_no_mistake_and_an_empty_document_is() -> None:
    assert parse(b"", name="__init__.py").text == ""
    for name in ("notes.md", "读数.txt", "a.pdf"):
        with pytest.raises(ParseError) as caught:
            parse(b"", name=name)
        assert caught.value.code == "empty"


@pytest.mark.parametrize(
    ("data", "name"),
    [(b" \n\t\n", "a.md"), (" \u3000\n".encode(), "读数.txt"), (b"<html><body> </body></html>", "a.html"),
     (b'{"cells": []}', "a.ipynb"), ("\ufeff\n".encode(), "a.rst")],
)  # fmt: skip
def test_a_document_without_text_is_empty(data: bytes, name: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data, name=name)
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (b"<html><h1>T</h1>", "a.pdf", "named .pdf, but its content is HTML"),
        ("不是演示文稿".encode(), "a.pptx", "named .pptx, but its content is plain text"),
    ],
)
def test_a_name_that_says_something_else_is_a_warning(data: bytes, name: str, told: str) -> None:
    assert [warning.message for warning in parse(data, name=name).warnings] == [told]
    assert not parse(b"# T\n\ntext", name="a.unknown").warnings
