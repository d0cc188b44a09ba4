"""Presentations made by hand: charts, diagrams, merged cells and raised figures."""

import io
import zipfile

from ctxcli.model.document import Document
from ctxcli.parsing.pptx import parse
from tests.unit.parsing.shown import blocks

PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MADE = "http://schemas.openxmlformats.org/drawingml/2006"
SPACES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{OFFICE}" xmlns:a="{MADE}/main" xmlns:c="{MADE}/chart" xmlns:dgm="{MADE}/diagram"'
)


def links(*relations: tuple[str, str, str]) -> str:
    found = (f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{to}"/>' for key, kind, to in relations)
    return f'<Relationships xmlns="{PACKAGE}">{"".join(found)}</Relationships>'


def read(shapes: str, *, chart: str = "", diagram: str = "") -> Document:
    """A presentation of one slide with these shapes; they point to a chart as rC and to a diagram as rD."""
    parts = {
        "_rels/.rels": links(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation {SPACES}><p:sldId r:id="r1"/></p:presentation>',
        "ppt/_rels/presentation.xml.rels": links(("r1", "slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": f"<p:sld {SPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
        "ppt/slides/_rels/slide1.xml.rels": links(
            ("rC", "chart", "../charts/chart1.xml"), ("rD", "diagramData", "../diagrams/data1.xml")
        ),
        "ppt/charts/chart1.xml": f"<c:chartSpace {SPACES}>{chart}</c:chartSpace>",
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {SPACES}>{diagram}</dgm:dataModel>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as box:
        for name, content in parts.items():
            box.writestr(name, content)
    return parse(buffer.getvalue(), name="a.pptx")


def words(text: str, properties: str = "") -> str:
    return f"<a:r><a:rPr {properties}/><a:t>{text}</a:t></a:r>"


def points(*values: str) -> str:
    return "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in enumerate(values))


def frame(content: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def test_a_chart_is_a_table_of_its_figures_on_the_page_of_its_slide() -> None:
    labels = f"<c:cat>{points('华东', '华西')}</c:cat>"
    series = "".join(
        f"<c:ser><c:tx>{points(name)}</c:tx>{labels}<c:val>{points(*values)}</c:val></c:ser>"
        for name, values in (("2023", ("3.0", "4")), ("2024", ("19.199999999999999", "21.4")))
    )
    title = f"<c:title><a:p>{words('Revenue')}</a:p></c:title>"
    document = read(frame('<c:chart r:id="rC"/>'), chart=f"<c:chart>{title}<c:barChart>{series}</c:barChart></c:chart>")
    assert blocks(document) == ["Revenue", "| 2023 | 2024", "华东 | 3 | 19.2", "华西 | 4 | 21.4"]
    assert blocks(document, "header_row") == ["| 2023 | 2024"]
    assert document.page_starts == (0,)


def test_the_texts_of_a_diagram_are_items() -> None:
    texts = "".join(f"<dgm:pt><dgm:t><a:p>{words(text)}</a:p></dgm:t></dgm:pt>" for text in ("申请", "审批"))
    document = read(frame('<dgm:relIds r:dm="rD"/>'), diagram=f"<dgm:ptLst>{texts}<dgm:pt/></dgm:ptLst>")
    assert blocks(document, "item") == ["申请", "审批"]


def test_a_graphic_whose_part_is_missing_is_passed_over() -> None:
    assert blocks(read(frame('<c:chart r:id="rX"/>'))) == []


def test_a_cell_merged_downwards_is_said_in_each_of_its_rows() -> None:
    def cell(text: str, merged: str = "") -> str:
        return f"<a:tc {merged}><a:txBody><a:p>{words(text)}</a:p></a:txBody></a:tc>"

    rows = cell("华东", 'rowSpan="2"') + cell("一月"), cell("", 'vMerge="1"') + cell("二月"), cell("") + cell("三月")
    document = read(frame(f"<a:tbl>{''.join(f'<a:tr>{row}</a:tr>' for row in rows)}</a:tbl>"))
    assert blocks(document, "row") == ["华东 | 一月", "华东 | 二月", "| 三月"]


def test_a_raised_figure_is_an_exponent() -> None:
    raised = 'baseline="30000"'
    shape = f"<p:sp><p:txBody><a:p>{words('10')}{words('9', raised)}{words('/L')}</a:p></p:txBody></p:sp>"
    assert blocks(read(shape)) == ["10^9/L"]
