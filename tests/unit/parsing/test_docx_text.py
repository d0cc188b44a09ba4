"""Word documents made by hand: what stands in cells, in symbol fonts, above the line and in the strict form."""

import io
import zipfile

from ctxcli.model.document import Document
from ctxcli.parsing.docx import parse
from tests.unit.parsing.shown import blocks

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
OTHERS = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
CHART = (
    f'<c:chartSpace xmlns:c="{DRAWING}/chart"><c:ser><c:cat><c:pt idx="0"><c:v>华东</c:v></c:pt></c:cat>'
    '<c:val><c:pt idx="0"><c:v>19.2</c:v></c:pt></c:val></c:ser></c:chartSpace>'
)
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def read(body: str, *, notes: str = "", names: str = W, relations: str = OFFICE) -> Document:
    """A document with this body and these footnotes."""
    spaces = f'xmlns:w="{names}" {OTHERS}'
    links = f'<Relationship Id="f" Type="{relations}/footnotes" Target="footnotes.xml"/>'
    links += f'<Relationship Id="c" Type="{relations}/chart" Target="charts/chart1.xml"/>'
    main = f'<Relationship Id="d" Type="{relations}/officeDocument" Target="word/document.xml"/>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as box:
        box.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}">{main}</Relationships>')
        box.writestr("word/_rels/document.xml.rels", f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>')
        box.writestr("word/document.xml", f"<w:document {spaces}><w:body>{body}</w:body></w:document>")
        box.writestr("word/charts/chart1.xml", CHART)
        box.writestr("word/footnotes.xml", f"<w:footnotes {spaces}>{notes}</w:footnotes>")
    return parse(buffer.getvalue(), name="a.docx")


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


RAISED = '<w:vertAlign w:val="superscript"/>'


def test_a_note_in_a_table_follows_the_table() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    document = read(
        table(cell(paragraph(run("Total"), mark)) + cell(paragraph(run("254"))), cell(paragraph(run("Rest")))),
        notes=f'<w:footnote w:id="2">{paragraph(run("As audited."))}</w:footnote>',
    )
    assert blocks(document) == ["Total | 254", "Rest", "As audited."]


def test_a_text_box_in_a_cell_is_read_once() -> None:
    inner = f"<w:txbxContent>{paragraph(run('Boxed.'))}</w:txbxContent>"
    forms = f"<mc:AlternateContent><mc:Choice>{inner}</mc:Choice><mc:Fallback>{inner}</mc:Fallback>"
    box = f"<w:r>{forms}</mc:AlternateContent></w:r>"
    document = read(table(cell(paragraph(run("A"))) + cell(paragraph(run("B "), box))))
    assert blocks(document) == ["A | B Boxed."]


def test_a_cell_merged_downwards_is_said_in_each_of_its_rows() -> None:
    begins, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    words = [paragraph(run(text)) for text in ("华东", "一月", "二月", "华西")]
    empty = "<w:p/>"
    document = read(
        table(
            cell(words[0], begins) + cell(words[1]),
            cell(empty, goes_on) + cell(words[2]),
            cell(words[3]) + cell(words[1]),
            cell(words[2]) + cell(empty),
        )
    )
    assert blocks(document) == ["华东 | 一月", "华东 | 二月", "华西 | 一月", "二月 |"]


def test_signs_of_symbol_fonts_are_the_signs_they_look_like() -> None:
    sign = '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>'
    ticked = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
    typed = run("\uf0b1", '<w:rFonts w:ascii="Symbol"/>')
    document = read(paragraph(run("age "), sign, run(" 18, "), typed, run(" 2 "), ticked, run(" yes")))
    assert blocks(document) == ["age ≥ 18, ± 2 ☑ yes"]


def test_a_raised_figure_is_an_exponent_not_a_digit_more() -> None:
    document = read(
        paragraph(run("10"), run("1", RAISED), run("2", RAISED), run("/L in m"), run("2", RAISED), run(" CO2"))
    )
    assert blocks(document) == ["10^12/L in m2 CO2"]


def test_a_formula_keeps_its_exponents_and_fractions() -> None:
    power = "<m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup>"
    share = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    assert blocks(read(paragraph(f"<m:oMath>{power}<m:r><m:t>+</m:t></m:r>{share}</m:oMath>"))) == ["10^3+1/2"]


def test_how_a_word_is_spoken_does_not_part_it() -> None:
    ruby = "<w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>"
    document = read(paragraph(ruby.format(run("hàn"), run("汉")), ruby.format(run("zì"), run("字"))))
    assert blocks(document) == ["汉字"]


def test_the_strict_form_of_the_standard_is_read() -> None:
    document = read(
        paragraph(run("Strict.")), names=STRICT, relations="http://purl.oclc.org/ooxml/officeDocument/relationships"
    )
    assert blocks(document) == ["Strict."]


def test_a_paragraph_whose_end_is_deleted_goes_on_in_the_next() -> None:
    ending = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"
    body = [
        paragraph(ending, run("第一半句，"), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        paragraph(run("第二半句。")),
        paragraph(ending, "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"),
        paragraph(run("Next.")),
        paragraph(ending, run("Open")),
        table(cell(paragraph(run("A"))) + cell(paragraph(run("B")))),
        paragraph(ending, run("End")),
    ]
    notes = f'<w:footnote w:id="2">{paragraph(run("Note."))}</w:footnote>'
    assert blocks(read("".join(body), notes=notes)) == [
        "第一半句，第二半句。",
        "Note.",
        "Next.",
        "Open",
        "A | B",
        "End",
    ]


def test_a_chart_is_a_table_behind_its_paragraph_or_table() -> None:
    pointer = f'<c:chart xmlns:c="{DRAWING}/chart" xmlns:r="{OFFICE}" r:id="c"/>'
    drawn = paragraph(run("Here:"), f"<w:r><w:drawing>{pointer}</w:drawing></w:r>")
    assert blocks(read(drawn)) == ["Here:", "华东 | 19.2"]
    assert blocks(read(table(cell(drawn) + cell(paragraph(run("B")))))) == ["Here: | B", "华东 | 19.2"]
