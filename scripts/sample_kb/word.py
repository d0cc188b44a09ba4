"""A Word file from lines of plain text: headings with automatic numbers, paragraphs, list items and tables.

A line that begins with ``#`` is a heading (one ``#`` a level), with ``-`` a list item, with ``|`` a table row;
the first line is the title. Heading numbers stand in the styles alone, as Word itself keeps them.
"""

import zipfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def write_document(source: str, path: Path) -> None:
    """Write the Word file that `source` describes."""
    title, *lines = [line.strip() for line in source.splitlines() if line.strip()]
    body = "".join([paragraph(title, "Title"), *blocks(lines)])
    parts = {"document": f"<w:document {W}><w:body>{body}{PAGE}</w:body></w:document>", **STYLES}
    files = {
        "[Content_Types].xml": content_types(parts),
        "_rels/.rels": relations({"officeDocument": "word/document.xml"}),
        "word/_rels/document.xml.rels": relations({name: f"{name}.xml" for name in STYLES}),
        **{f"word/{name}.xml": part for name, part in parts.items()},
    }
    with zipfile.ZipFile(path, "w") as package:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, (2025, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{text}')


def blocks(lines: list[str]) -> Iterator[str]:
    """The XML of headings, items, tables and paragraphs."""
    for is_table, group in groupby(lines, key=lambda line: line.startswith("|")):
        if is_table:
            yield table([line.strip("|").split("|") for line in group])
            continue
        for line in group:
            depth = len(line) - len(line.lstrip("#"))
            if depth:
                yield paragraph(line[depth:].strip(), f"Heading{depth}")
            elif line.startswith("- "):
                yield paragraph(line[2:], "ListBullet")
            else:
                yield paragraph(line)


def paragraph(text: str, style: str = "Normal") -> str:
    """One paragraph in a style."""
    run = f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{run}</w:p>'


def table(rows: list[list[str]]) -> str:
    """A table with borders; its first row is the head."""
    edge = "".join(
        f'<w:{side} w:val="single" w:sz="4"/>' for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    head = "<w:trPr><w:tblHeader/></w:trPr>"
    cells = ("".join(f"<w:tc>{paragraph(cell.strip())}</w:tc>" for cell in row) for row in rows)
    body = "".join(f"<w:tr>{head if number == 0 else ''}{row}</w:tr>" for number, row in enumerate(cells))
    grid = f"<w:tblGrid>{'<w:gridCol/>' * len(rows[0])}</w:tblGrid>"
    return f"<w:tbl><w:tblPr><w:tblBorders>{edge}</w:tblBorders></w:tblPr>{grid}{body}</w:tbl>{paragraph('')}"


def relations(targets: dict[str, str]) -> str:
    """The part that names other parts."""
    links = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'


def content_types(parts: dict[str, str]) -> str:
    """The part that says what each part is."""
    forms = {name: f"{WORD}.{name}{'.main' if name == 'document' else ''}+xml" for name in parts}
    kinds = "".join(f'<Override PartName="/word/{name}.xml" ContentType="{form}"/>' for name, form in forms.items())
    relation = "application/vnd.openxmlformats-package.relationships+xml"
    default = "".join(
        f'<Default Extension="{ending}" ContentType="{form}"/>'
        for ending, form in (("rels", relation), ("xml", "application/xml"))
    )
    return f'<Types xmlns="{PACKAGE}/content-types">{default}{kinds}</Types>'


def heading_style(level: int, size: int) -> str:
    """A numbered heading style."""
    return (
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:pPr><w:keepNext/><w:numPr><w:ilvl w:val="{level - 1}"/>'
        f'<w:numId w:val="1"/></w:numPr><w:spacing w:before="240" w:after="120"/><w:outlineLvl w:val="{level - 1}"/>'
        f'</w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
    )


def number_level(depth: int) -> str:
    """One level of the heading numbers: ``1``, ``1.1``, ``1.1.1``."""
    pattern = ".".join(f"%{one}" for one in range(1, depth + 2))
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        f'<w:pStyle w:val="Heading{depth + 1}"/><w:lvlText w:val="{pattern}"/><w:lvlJc w:val="left"/></w:lvl>'
    )


PAGE = (
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440"/></w:sectPr>'
)
_BULLET = (
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/>'
    '<w:lvlText w:val="•"/><w:lvlJc w:val="left"/></w:lvl>'
)
STYLES = {
    "styles": f"<w:styles {W}>"
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/>'
    '<w:rPr><w:b/><w:sz w:val="40"/></w:rPr></w:style>'
    + "".join(heading_style(level, size) for level, size in ((1, 32), (2, 26), (3, 24)))
    + '<w:style w:type="paragraph" w:styleId="ListBullet"><w:name w:val="List Bullet"/><w:basedOn w:val="Normal"/>'
    '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr></w:style></w:styles>',
    "numbering": f"<w:numbering {W}>"
    f'<w:abstractNum w:abstractNumId="0">{"".join(map(number_level, range(3)))}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="1">{_BULLET}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    "</w:numbering>",
}
