"""Office packages that were made to harm, and the text that is built from good ones."""

import io
import zipfile

import pytest

from ctxcli.model.errors import ParseError
from ctxcli.parsing import docx, pptx
from ctxcli.parsing.ooxml import MAX_ENTRIES, Package, TextBuilder


def package(parts: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as out:
        for name, data in parts.items():
            out.writestr(name, data)
    return stream.getvalue()


def code_of(data: bytes, kind: str = "docx") -> str:
    with pytest.raises(ParseError) as caught:
        (docx if kind == "docx" else pptx).parse(data, name=f"x.{kind}")
    return caught.value.code


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    assert code_of(package({"word/document.xml": b"<a>" + b" " * 40_000_000 + b"</a>"})) == "too_large"


def test_too_many_entries_are_refused() -> None:
    assert code_of(package({f"{n}": b"" for n in range(MAX_ENTRIES + 1)}, method=zipfile.ZIP_STORED)) == "too_large"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_never_expanded(encoding: str) -> None:
    bomb = '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><w>&b;</w>'
    assert code_of(package({"word/document.xml": bomb.encode(encoding)})) == "unsafe_xml"


def test_an_external_entity_is_never_fetched() -> None:
    data = b'<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w>&x;</w>'
    assert code_of(package({"word/document.xml": data})) == "unsafe_xml"


def test_a_package_without_its_main_part_is_damaged() -> None:
    assert code_of(package({"hello.txt": b"x"})) == "damaged"
    assert code_of(package({"hello.txt": b"x"}), "pptx") == "damaged"


def test_broken_xml_and_a_wrong_checksum_are_damaged() -> None:
    assert code_of(package({"word/document.xml": b"<w:document"})) == "damaged"
    data = bytearray(package({"word/document.xml": b"<w/>" * 9}, method=zipfile.ZIP_STORED))
    data[data.index(b"<w/>") + 1] ^= 0xFF
    assert code_of(bytes(data)) == "damaged"


def test_elements_nested_without_end_do_not_break_the_reader() -> None:
    space = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    deep = b"<w:sdt><w:sdtContent>" * 20_000 + b"</w:sdtContent></w:sdt>" * 20_000
    body = b"<w:document " + space + b"><w:body>" + deep + b"</w:body></w:document>"
    assert docx.parse(package({"word/document.xml": body}), name="x.docx").text == ""


def test_targets_of_relations_are_resolved() -> None:
    rels = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="a" Type="t/slide" Target="../slides/s1.xml"/>'
        b'<Relationship Id="b" Type="t/notes" Target="/ppt/n.xml"/></Relationships>'
    )
    found = Package(package({"ppt/x/_rels/p.xml.rels": rels}), kind="pptx").relations("ppt/x/p.xml")
    assert found == {"a": ("slide", "ppt/slides/s1.xml"), "b": ("notes", "ppt/n.xml")}


def test_items_and_rows_stand_close_and_other_blocks_apart() -> None:
    builder = TextBuilder()
    for kind, text in (("prose", "a  b"), ("item", "1"), ("item", "2"), ("row", "x"), ("prose", "  "), ("prose", "e")):
        builder.add(kind, text)  # type: ignore[arg-type]
    assert builder.text == "a b\n\n1\n2\n\nx\n\ne"
    assert [builder.text[block.start : block.end] for block in builder.blocks] == ["a b", "1", "2", "x", "e"]
