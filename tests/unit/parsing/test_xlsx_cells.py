"""Spreadsheets made by hand: formulas without values, merged cells, figures and durations."""

import io
import zipfile

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing.xlsx import parse
from tests.unit.parsing.shown import blocks

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
STYLES = (
    '<numFmts count="2"><numFmt numFmtId="170" formatCode="0.0%;[Red]-0.0%"/>'
    '<numFmt numFmtId="171" formatCode="0.0&quot; % of all&quot;"/></numFmts>'
    '<cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="46" applyNumberFormat="1"/><xf numFmtId="9"/>'
    '<xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>'
)
"""46 is [h]:mm:ss, 9 is 0%."""


def read(rows: str, after: str = "") -> Document:
    """A spreadsheet of one sheet with these rows, and what follows them."""
    pytest.importorskip("python_calamine")
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="表" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" '
        f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{OFFICE}/styles" '
        'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{STYLES}</styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{after}</worksheet>',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as box:
        for name, content in parts.items():
            box.writestr(name, content)
    return parse(buffer.getvalue(), name="a.xlsx")


def row(number: int, *cells: str) -> str:
    filled = (
        f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>' if not text.startswith("<") else text
        for column, text in zip("BCDE", cells, strict=False)
        if text
    )
    return f'<row r="{number}">{"".join(filled)}</row>'


def test_formulas_without_a_saved_value_are_a_warning() -> None:
    document = read(
        row(1, "a", '<c r="C1"><f>1+1</f></c>', '<c r="D1"><f>2+2</f><v></v></c>', '<c r="E1"><f>3</f><v>3</v></c>')
        + row(2, "b", '<c r="C2" t="str"><f>IF(1,"","x")</f><v></v></c>')
    )
    assert [warning.message for warning in document.warnings] == [
        "2 formulas have no saved value and are not read; open the file in Excel and save it"
    ]


def test_a_cell_merged_downwards_is_said_in_each_of_its_rows() -> None:
    merged = '<mergeCells count="1"><mergeCell ref="B4:B5"/></mergeCells>'
    document = read(row(3, "区域", "月", "额") + row(4, "华东", "一", "x") + row(5, "", "二", "y"), merged)
    assert blocks(document, "row") == ["区域: 华东 | 月: 一 | 额: x", "区域: 华东 | 月: 二 | 额: y"]


def test_years_that_follow_one_another_name_columns() -> None:
    document = read(
        row(1, "区域", '<c r="C1"><v>2022</v></c>', '<c r="D1"><v>2023</v></c>')
        + row(2, "华东", '<c r="C2"><v>1</v></c>', '<c r="D2"><v>0.30000000000000004</v></c>')
    )
    assert blocks(document, "row") == ["区域: 华东 | 2022: 1 | 2023: 0.3"]


def test_a_duration_is_hours_minutes_and_seconds() -> None:
    assert blocks(read(row(1, "t", '<c r="C1" s="1"><v>1.5</v></c>')), "row") == ["t | 36:00:00"]


def test_shares_are_shown_as_per_cent() -> None:
    styles = zip("BCDE", (2, 3, 4, 0), strict=True)
    cells = [f'<c r="{column}3" s="{style}"><v>0.153</v></c>' for column, style in styles]
    assert blocks(read(row(3, *cells)), "row") == ["15.3% | 15.3% | 0.153 | 0.153"]
